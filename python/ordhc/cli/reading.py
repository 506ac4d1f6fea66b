"""The options with which commands read comparisons, sessions and settings."""

import json
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ordhc.cli.help import section
from ordhc.cli.output import HELD_OUT, LEFT_OUT, SESSION, emit_json, print_session, say
from ordhc.comparison.asked import FORMATS, KINDS, Asked
from ordhc.errors import InputError, SkippedRowsWarning
from ordhc.io.answers import answers_of_file
from ordhc.io.files import read_bytes, standard_input
from ordhc.io.names import names_file
from ordhc.io.paths import is_remote, masked
from ordhc.io.references import label_table
from ordhc.io.scan import files_of as files_in
from ordhc.io.scan import is_large, is_several, scan_of

#: Options about the answers in a file.
_ANSWERS = (
    click.option(
        "--kind", type=click.Choice(list(KINDS)), help="The kind of question. Each row is one answer."
    ),
    click.option(
        "--names",
        metavar="FILE[:COLUMN]",
        help="Names of the leaves: one on each line, or a column of csv.",
    ),
    click.option(
        "--items",
        multiple=True,
        metavar="A,B,C",
        help="The columns of the items: --items left,middle,right; without --chosen in order, "
        "--items anchor,near,far. Repeatable, for names with commas.",
    ),
    click.option("--chosen", metavar="COLUMN", help="The column of the chosen item: --chosen odd."),
    click.option(
        "--person",
        metavar="COLUMN",
        help="The column of the person who answered; by default person, participant, subject...",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Leave out rows with this value: --exclude attention_check=failed. Repeatable. For a session: "
        "person=NAME; or nobody, to include people whom its rules exclude.",
    ),
    click.option(
        "--format",
        "format",
        type=click.Choice(FORMATS),
        help="The tool that wrote the file, which determines its columns: --format salmon.",
    ),
)
#: Options about the format of the file.
_READING = (
    click.option(
        "--chosen-as",
        metavar="HOW",
        help="How --chosen is written: name, column, place (from 1), place0, sign, or a mapping such as "
        "f=left,j=right.",
    ),
    click.option(
        "--ranks",
        metavar="A,B",
        help="For --kind ranking: the columns of the items' ranks; rank 1 is the nearest.",
    ),
    click.option(
        "--n-ranked",
        type=int,
        metavar="N",
        help="For --kind ranking: the number of items that are ranked. Default: 2.",
    ),
    click.option(
        "--na",
        metavar="A,B",
        help="Words for a missing item, in addition to blanks, NA, NaN and null. '' turns this off.",
    ),
    click.option(
        "--participants",
        metavar="FILE",
        help="A table with one row for each person, for --exclude; with --format prolific Prolific's export.",
    ),
    click.option(
        "--wide",
        metavar="PATTERN",
        help="FILE has a column for each question, and a row for each person: a regular expression for the "
        "names of these columns, or for their texts (Qualtrics). Named groups are the items: "
        "--wide 'Q_(?P<a>.+)_(?P<b>.+)_(?P<c>.+)'.",
    ),
    click.option(
        "--questions",
        metavar="FILE",
        help="A table with one row for each question. The first column names the question; --items can name "
        "the others.",
    ),
    click.option(
        "--n-leaves", type=int, metavar="N", help="The number of leaves; by default the largest id plus 1."
    ),
    click.option(
        "--ids-from",
        type=int,
        metavar="N",
        help="The id of the first leaf: 1 for ids of R or MATLAB. Default: 0. If most ids up to the largest "
        "never occur, ids are read as names.",
    ),
    click.option(
        "--header/--no-header", default=None, help="Whether a text file has a header; by default detected."
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="The character between columns of a text file; by default detected.",
    ),
    click.option(
        "--weights",
        metavar="COLUMN",
        help="The column of weights; by default weight or count. For a session: reliability or equal.",
    ),
    click.option(
        "--answer",
        metavar="COLUMN",
        help="The column of the answer's number: rows with the same number are one answer.",
    ),
    click.option("--comment", metavar="CHAR", help="Skip lines of text that begin with this character."),
    click.option("--skip-bad", is_flag=True, help="Skip rows that cannot be used, and list them."),
)
#: The options for reading FILE that are repeated in suggested commands and in reports.
_QUOTED_OPTIONS = (
    "kind",
    "items",
    "chosen",
    "chosen_as",
    "ranks",
    "n_ranked",
    "exclude",
    "format",
    "participants",
    "wide",
    "questions",
    "names",
    "n_leaves",
    "ids_from",
    "delimiter",
    "weights",
    "answer",
    "person",
    "na",
    "comment",
)

by_option = click.option(
    "--by",
    type=click.Choice(["revenue", "satisfied", "answers"]),
    default="revenue",
    show_default=True,
    help="The score that decides. satisfied: the share of comparisons that the tree agrees with. answers: "
    "the share of answers that the tree predicts.",
)

folds_option = click.option(
    "--folds",
    type=int,
    default=5,
    show_default=True,
    help="The number of parts into which the answers are split.",
)

underscores_option = click.option(
    "--preserve-underscores",
    is_flag=True,
    help="Keep underscores in unquoted names of Newick; by default they become spaces. Either way "
    "Homo_sapiens and Homo sapiens are the same leaf.",
)

unit_option = click.option(
    "--unit",
    type=click.Choice(["answer", "group", "file"]),
    help="Keep the answers of a person (group) or a file together.",
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    sections = (("How FILE is read", _READING, True), ("What the answers in FILE are", _ANSWERS, False))
    for title, options, rare in sections:
        for option in reversed(options):
            command = option(command)
        command = section(title, rare=rare)(command)
    return command


def read_comparisons(
    path: str,
    *,
    takes: Callable[[Any], bool] | None = None,
    scanned: Mapping[str, Any] | None = None,
    progress: Any = None,
    **reading: Any,
) -> Any:
    """Return the comparisons in a file, a session, a folder or a pattern of files.

    The result is a `Scan`, which reads the files block by block, in these cases: `path` is a folder or a
    pattern; `scanned` has a value of `memory`, `spill`, `executor` or `resume`; or the file is large and
    `takes` returns True for its scan. `reading` has the values of the reading options. The number of rows
    that were left out, by reason, is stored for the command's JSON.
    """
    is_asked_for = any(value is not None for value in (scanned or {}).values())
    if is_session(path):
        if is_asked_for:
            raise click.UsageError(
                "--memory, --spill, --executor and --resume are for files of answers, not for a session"
            )
        reading.pop("by_name", None)
        return _of_session(path, reading.pop("exclude"), reading, progress)
    asked = _asked(reading)
    if is_several(path):
        return _scanned(path, asked, scanned or {}, progress)
    source = _spooled() if path == "-" else path
    if isinstance(source, str) and (
        is_asked_for or (takes is not None and is_large(source, asked) and takes(scan_of(source, asked)))
    ):
        return _scanned(source, asked, scanned or {}, progress)
    with _left_out():
        return answers_of_file(source, asked, progress=progress)


def _spooled() -> Any:
    """Return standard input as a stream, or as the path of a temporary file if it is large."""
    from ordhc.io.scan import LARGE

    context = click.get_current_context()
    return standard_input(lambda: Path(context.with_resource(TemporaryDirectory(prefix="ordhc-"))), LARGE)


def _asked(reading: dict[str, Any]) -> Any:
    items, chosen, ranks = reading["items"], reading["chosen"], reading["ranks"]
    how, delimiter, na = reading["chosen_as"], reading["delimiter"], reading["na"]
    by_words = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " "}
    columns = [] if chosen is None else listed(chosen)
    return Asked(
        **reading
        | {
            "kind": reading["kind"] or "triplet",
            "items": (listed(items[0]) if len(items) == 1 else _positions(items)) or None,
            "chosen": columns[0] if len(columns) == 1 else columns or None,
            "chosen_as": _pairs_of(how) if how is not None and "=" in how else how,
            "ranks": None if ranks is None else listed(ranks),
            "exclude": _exclude_of(reading["exclude"]),
            "na": None if na is None else [word.strip() for word in na.split(",") if word.strip()],
            "delimiter": None if delimiter is None else by_words.get(delimiter, delimiter),
        }
    )


def _scanned(path: str, asked: Any, means: Mapping[str, Any], progress: Any) -> Any:
    with _left_out():
        found = scan_of(path, replace(asked, by_name=False), **means)
        if (report := found.surveying(progress)) is not None:
            report(1.0)
        survey = found.survey
    if asked.by_name and not survey.has_names:
        raise InputError(
            "has ids, but the tree's leaves have names; give --names FILE with the name of each id",
            path=masked(path),
        )
    return found


def is_session(path: str) -> bool:
    if path == "-":
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def session_options(path: str, exclude: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Return the reading options that apply to a session, as arguments of `analysed_session`.

    `--exclude nobody` keeps people whom the session's rules leave out; `--exclude person=NAME` leaves out
    more people.
    """
    weights = given.pop("weights", None)
    for name, value in given.items():
        if value not in (None, False, ()):
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for tables of answers, but {path} is a session")
    if weights not in (None, "reliability", "equal"):
        raise click.UsageError(f"--weights {weights}: for a session use --weights reliability or equal")
    named = [pair for pair in exclude if pair != "nobody"]
    out = _exclude_of(tuple(named)) or {}
    if out.keys() - {"person"}:
        raise click.UsageError("for a session use --exclude person=NAME or --exclude nobody")
    return {"weights": weights, "also": out.get("person", []), "all_people": "nobody" in exclude}


def analysed_session(session: Any, *, weights: str | None, also: list[str], all_people: bool) -> Any:
    """Return the analysed answers of a session, and store them for the summary and for JSON."""
    exclude = [*([] if all_people else session.analysed().excluded), *also] if all_people or also else None
    found = session.analysed(weights=weights, exclude=exclude)
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[SESSION] = found.about
        context.meta[HELD_OUT] = found.heldout
    return found


def _of_session(path: str, exclude: tuple[str, ...], given: dict[str, Any], progress: Any) -> Any:
    """Return the answers of a session for making trees: without held-out answers and excluded people."""
    from ordhc.asking.session import Session

    options = session_options(path, exclude, given)
    with Session(path, progress=progress) as session:
        return analysed_session(session, **options).comparisons


def listed(columns: str) -> list[Any]:
    """Return comma-separated columns as positions if all are numbers, otherwise as names."""
    return _positions([column.strip() for column in columns.split(",")])


def _positions(found: Sequence[str]) -> list[Any]:
    if all(column.isascii() and column.isdigit() and len(column) < 10 for column in found):
        return [int(column) for column in found]
    return list(found)


def _pairs_of(text: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.split(","))
    return {cell.strip(): meaning.strip() for cell, _, meaning in pairs}


def _exclude_of(given: tuple[str, ...]) -> dict[str, list[str]] | None:
    found: dict[str, list[str]] = {}
    for pair in given:
        column, equals, value = pair.partition("=")
        if not equals or not column.strip():
            raise click.UsageError(f"--exclude {pair} must be COLUMN=VALUE")
        found.setdefault(column.strip(), []).append(value.strip())
    return found or None


@contextmanager
def _left_out() -> Iterator[None]:
    """Record, for the command's JSON, how many rows the `with` block leaves out for each reason."""
    counts: dict[str, int] = {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        for warning in caught:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
            if isinstance(warning.message, SkippedRowsWarning):
                for reason, count in warning.message.counts.items():
                    counts[reason] = counts.get(reason, 0) + count
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[LEFT_OUT] = counts


def files_of(path: str, reading: dict[str, Any]) -> tuple[str | None, ...]:
    """Return the files that a command reads: those of `path`, then three files of options.

    A remote folder or pattern has no entries, because no output can be one of its files.

    The options are `names`, `participants` and `questions`. The entry of an option that is not given is None.
    """
    names = reading["names"]
    inside = [path] if not is_several(path) else [] if is_remote(path) else files_in(path)
    return (
        *inside,
        None if names is None else str(names_file(names)[0]),
        reading["participants"],
        reading["questions"],
    )


def reading_arguments(reading: dict[str, Any]) -> list[str]:
    """Return the given reading options as command-line arguments, to repeat them in another command."""
    arguments: list[str] = []
    for name in _QUOTED_OPTIONS:
        given = reading.get(name)
        for value in given if isinstance(given, tuple) else [given]:
            if value is not None:
                arguments += ["--" + name.replace("_", "-"), str(value)]
    if reading.get("skip_bad"):
        arguments.append("--skip-bad")
    if reading.get("header") is not None:
        arguments.append("--header" if reading["header"] else "--no-header")
    return arguments


def say_found(found: Any, as_json: bool, command: str, file: str, reading: dict[str, Any]) -> None:
    """Print a result, as JSON or as text with a suggestion for the next command."""
    if as_json:
        emit_json(found.to_dict())
        return
    print_session()
    say(found)
    say_next(command, file, reading)


def say_next(command: str, file: str, reading: dict[str, Any], *more: str) -> None:
    """Print a suggestion for the next command: `command` with the same answers and reading options."""
    source = "FILE" if file == "-" else masked(file)
    say(f"next: {shlex.join(['ordhc', command, source, *reading_arguments(reading), *more])}")


def parameters_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Return `key=value` options as a dict; values are parsed as JSON if possible."""
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


def parts_of(similarity: str | None, linkage: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the similarity and the linkage of a method: each a name, or a pair of the name and its settings.

    Settings that begin with "similarity." or "linkage.", such as linkage.beta, are removed from `settings`.
    """
    found: dict[str, Any] = {}
    for part, name in (("similarity", similarity), ("linkage", linkage)):
        prefix = f"{part}."
        own = {key.removeprefix(prefix): settings.pop(key) for key in [*settings] if key.startswith(prefix)}
        if own and name is None:
            raise click.UsageError(f"--param {prefix}{next(iter(own))} needs --{part}")
        found[part] = (name, own) if own else name
    return found


def read_labels(path: str, names: Sequence[str] | None, n_leaves: int) -> NDArray[np.int64]:
    """Return the (n_leaves,) initial clusters from a csv file, as --labels writes it.

    A leaf that is not in the file starts as a cluster of its own.
    """
    leaves = names or tuple(str(leaf) for leaf in range(n_leaves))
    number: dict[str, int] = {}
    labels = np.arange(n_leaves, 2 * n_leaves)
    for leaf, (cluster,) in enumerate(label_table(path, read_bytes(path), leaves, ["cluster"])):
        if cluster is not None:
            labels[leaf] = number.setdefault(cluster, len(number))
    return labels
