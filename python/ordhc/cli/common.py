"""What commands share."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from ordhc.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError

Comparisons = Triplets | Quadruplets

_READING = (
    click.option("--columns", metavar="A,B,C", help="The columns of the leaves, by name or position."),
    click.option("--names", metavar="FILE", help="Names of the leaves: a line each, or csv with `name`."),
    click.option("--n-leaves", type=int, metavar="N", help="The number of leaves, if ids don't tell."),
    click.option("--quadruplets", is_flag=True, help="Rows are i,j,k,l: i and j closer than k and l."),
    click.option("--header/--no-header", default=None, help="Whether text has a header."),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read comparisons."""
    for option in reversed(_READING):
        command = option(command)
    return command


def read_comparisons(
    path: str,
    *,
    columns: str | None,
    names: str | Sequence[str] | None,
    n_leaves: int | None,
    quadruplets: bool,
    header: bool | None,
) -> Comparisons:
    """Read comparisons as the options say."""
    from ordhc.io import read_quadruplets, read_triplets

    chosen: Any = None
    if columns is not None:
        chosen = [column.strip() for column in columns.split(",")]
        if all(column.isdigit() for column in chosen):
            chosen = [int(column) for column in chosen]
    read = read_quadruplets if quadruplets else read_triplets
    return read(path, chosen, names=names, n_leaves=n_leaves, header=header)


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


def emit_json(data: dict[str, Any]) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(data, ensure_ascii=False))


@contextmanager
def progress_bar(what: str, *, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on standard error, for work that takes longer than a moment, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda done: bar.update(task, completed=done)
