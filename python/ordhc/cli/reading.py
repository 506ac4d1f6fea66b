"""How commands read comparisons and settings."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from ordhc.cli.help import section
from ordhc.comparison.comparisons import Comparisons, Quadruplets, Triplets
from ordhc.errors import InputError

__all__ = ["parameters_of", "read_comparisons", "reading_arguments", "reading_options"]


_READING = (
    click.option("--columns", metavar="A,B,C", help="The columns of the leaves, by name or position."),
    click.option("--names", metavar="FILE", help="Names of the leaves: a line each, or csv with `name`."),
    click.option("--n-leaves", type=int, metavar="N", help="The number of leaves, if ids don't tell."),
    click.option("--quadruplets", is_flag=True, help="Rows are i,j,k,l: i and j closer than k and l."),
    click.option("--header/--no-header", default=None, help="Whether text has a header."),
    click.option("--delimiter", metavar="CHAR", help="What separates columns of text, if not found out."),
    click.option("--weights", metavar="COLUMN", help="The column of weights; by default weight or count."),
    click.option("--answer", metavar="COLUMN", help="Rows with the same number here are one answer."),
    click.option(
        "--group", metavar="COLUMN", help="Whose answer a row is; by default person, participant..."
    ),
    click.option(
        "--missing", metavar="A,B", help="Words for no leaf, besides blanks; '' for none. Default: NA..."
    ),
    click.option("--comment", metavar="CHAR", help="Pass over lines of text that begin with this."),
    click.option("--skip-bad", is_flag=True, help="Pass over rows that cannot be used, and list them."),
)
#: What decides how a file is read, without what each command says itself.
_QUOTED_OPTIONS = (
    "columns",
    "names",
    "n_leaves",
    "delimiter",
    "weights",
    "answer",
    "group",
    "missing",
    "comment",
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read comparisons."""
    for option in reversed(_READING):
        command = option(command)
    return section("How FILE is read")(command)  # type: ignore[no-any-return]


def read_comparisons(
    path: str,
    *,
    columns: str | None,
    names: str | Sequence[str] | None,
    quadruplets: bool,
    missing: str | None,
    expand: str | None = None,
    **options: Any,
) -> Comparisons:
    """Read comparisons as the options say."""
    from ordhc.io.comparisons import read_answers
    from ordhc.io.comparisons import read_comparisons as read

    chosen: Any = None
    if columns is not None:
        chosen = [column.strip() for column in columns.split(",")]
        if all(column.isascii() and column.isdigit() and len(column) < 10 for column in chosen):
            chosen = [int(column) for column in chosen]
    options["names"] = names
    if missing is not None:
        options["missing"] = [word.strip() for word in missing.split(",") if word.strip()]
    if (delimiter := options.get("delimiter")) is not None:
        options["delimiter"] = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " "}.get(
            delimiter, delimiter
        )
    if expand is None:
        if quadruplets:
            return read(Quadruplets, path, chosen, **options)
        return read(Triplets, path, chosen, **options)
    if quadruplets:
        raise click.UsageError("--expand makes triplets; leave out --quadruplets")
    return read_answers(path, expand, chosen, **options)


def reading_arguments(reading: dict[str, Any]) -> list[str]:
    """The reading options that were given, as another command takes them."""
    arguments: list[str] = []
    for name in _QUOTED_OPTIONS:
        if reading.get(name) is not None:
            arguments += ["--" + name.replace("_", "-"), str(reading[name])]
    for name in ("quadruplets", "skip_bad"):
        if reading.get(name):
            arguments.append("--" + name.replace("_", "-"))
    if reading.get("header") is not None:
        arguments.append("--header" if reading["header"] else "--no-header")
    return arguments


def parameters_of(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` options as a dict; values are JSON where they can be."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"the parameter {pair!r} is not key=value")
        try:
            found[key.strip()] = json.loads(value)
        except json.JSONDecodeError:
            found[key.strip()] = value
    return found
