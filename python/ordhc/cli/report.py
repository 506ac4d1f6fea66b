"""`ordhc report`: write a report about the answers, the tree and its certainty."""

import shlex
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from ordhc._checks import on_one_line, quoted
from ordhc.cli.help import Command, Registered, section
from ordhc.cli.output import LEFT_OUT, emit_json, json_option, progress_bar, quiet_option, say
from ordhc.cli.reading import (
    analysed_session,
    by_option,
    files_of,
    folds_option,
    is_session,
    read_comparisons,
    reading_arguments,
    reading_options,
    session_options,
    unit_option,
)
from ordhc.errors import InputError
from ordhc.io.files import check_outputs_apart
from ordhc.io.numbers import read_numbers
from ordhc.io.scan import Scan

if TYPE_CHECKING:
    from ordhc.reporting.report import Report


@click.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@section("Results")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="REPORT",
    help="Write the report: .html (with its numbers in a .json of the same name), .pdf, .json. Repeatable. "
    "Default: report.html.",
)
@click.option("--title", metavar="TEXT", help="The heading of the report.")
@click.option("--n-clusters", type=int, metavar="K", help="Colour K clusters of the tree.")
@section("The method")
@click.option(
    "--method", type=Registered("method"), help="The method; by default the best of those compared."
)
@click.option(
    "--compare",
    "methods",
    multiple=True,
    type=Registered("method"),
    help="A method to compare. Repeatable.",
)
@by_option
@section("How sure it is")
@folds_option
@click.option(
    "--resamples",
    "n_resamples",
    type=int,
    metavar="N",
    help="Resample the answers N times; 0 for no resamples. Default: up to 200.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="The seed of the split and the resamples."
)
@unit_option
@click.option(
    "--structure/--no-structure",
    default=None,
    help="Test if a tree describes the answers at all. By default only if the test takes at most 2 minutes "
    "of processor time.",
)
@click.option(
    "--people-groups",
    is_flag=True,
    help="Test if people agree on one tree; takes 25 seconds of processor time or more.",
)
@section("Names of clusters")
@click.option(
    "--words",
    metavar="CSV",
    help="One row for each leaf: its name, and the count of the word in each column's header.",
)
@section("Options")
@json_option
@quiet_option
@reading_options
def report(
    file: str,
    outputs: tuple[str, ...],
    methods: tuple[str, ...],
    words: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Report how good and how certain the tree of the answers in FILE is.

    FILE has answers as for `ordhc cluster`, or is a session of `ordhc learn`. The report describes the
    answers, and which method predicts unseen answers best. It shows how far people agree and who may answer
    at random, what the tree cannot explain, how certain each cluster is, and how much another method would
    change. The methods are described in words, with references.

    \b
    Examples:
      ordhc report answers.csv -o report.html
      ordhc report answers.csv -o report.pdf -o report.json --person participant
      ordhc report answers.csv --person participant --people-groups
      ordhc report study.csv --kind odd-one-out --items left,middle,right --chosen odd
      ordhc report animals.ordhc --title "Animals"
    """
    from ordhc.reporting.report import beside, check_report
    from ordhc.reporting.report import report as compute

    targets = outputs or ("report.html",)
    for path in targets:
        check_report(path)
    both = [str(each) for path in targets for each in (path, *beside(path))]
    # The .json of an .html report may also be given as an output, so the same path may occur twice.
    check_outputs_apart(dict.fromkeys(both), (words, *files_of(file, reading)))
    asked: dict[str, Any] = {name: reading.pop(name) for name in _PASSED_ON}
    asked["methods"] = list(methods) or None
    command = ["ordhc", "report", *([file] if file != "-" else ["FILE"]), *_given()]
    with _opened(file, reading, quiet) as data:
        if is_session(file):
            options = session_options(file, reading.pop("exclude"), reading)
            about = analysed_session(data, **options).about
            asked |= {"weights": about["weights"], "exclude": list(about["excluded"])}
        counted = click.get_current_context().meta.get(LEFT_OUT)
        if words is not None:
            asked["X"], asked["vocabulary"] = _words(words, data)
        with progress_bar("reporting", quiet=quiet) as progress:
            found = compute(data, left_out=counted, command=shlex.join(command), progress=progress, **asked)
    for path in targets:
        found.save(path)
    if as_json:
        emit_json(dict(found.numbers))
    elif not quiet:
        _print_findings(found, both)


def _given() -> list[str]:
    """Return the options of this command as command-line arguments, because the report quotes the command."""
    context = click.get_current_context()
    words = reading_arguments(context.params)
    for parameter in context.command.params:
        name = parameter.name or ""
        own = parameter.section if hasattr(parameter, "section") else ""
        source = context.get_parameter_source(name)
        if own not in _REPEATED_SECTIONS or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        if isinstance(value, bool):
            words.append(max(parameter.opts if value else parameter.secondary_opts, key=len))
            continue
        for each in value if isinstance(value, tuple) else (value,):
            words += [max(parameter.opts, key=len), str(each)]
    return words


#: Options that are arguments of `ordhc.report`.
_PASSED_ON = (
    *("title", "n_clusters", "method", "by", "folds", "n_resamples", "seed", "unit", "structure"),
    "people_groups",
)
#: The sections of options that the command in the report repeats.
_REPEATED_SECTIONS = ("The method", "How sure it is", "Names of clusters")


def _opened(file: str, reading: dict[str, Any], quiet: bool) -> Any:
    with progress_bar("reading", quiet=quiet) as progress:
        if is_session(file):
            from ordhc.asking.session import Session

            return Session(file, progress=progress)
        found = read_comparisons(file, progress=progress, **reading)
        return nullcontext(found.read(progress=progress) if isinstance(found, Scan) else found)


def _words(path: str, data: Any) -> tuple[Any, list[str]]:
    """Return the (n_leaves, n_words) counts of words for each leaf in the file `path`, and the words."""
    found = read_numbers(path, "counts of words")
    # Leaves without names are 0, 1, ..., which `read_numbers` does not return as names.
    names = tuple(map(str, range(len(found.values)))) if data.names is None else None
    names = names if found.rows is None else found.rows
    if names is None or found.columns is None:
        raise InputError(
            "--words needs a header with the words, and a column of leaf names: the first column, or one "
            "with the header `name`, `leaf`, `item` or `id`",
            path=path,
        )
    found.check_finite()
    labels = data.names or tuple(map(str, range(data.n_leaves)))
    rows = {name: at for at, name in enumerate(names)}
    missing = [label for label in labels if label not in rows]
    if missing:
        raise InputError(
            f"has no row for {quoted(missing[0])}; {len(missing)} of {len(labels)} leaves have no row",
            path=path,
        )
    return found.values[[rows[label] for label in labels]], list(found.columns)


def _print_findings(found: "Report", paths: list[str]) -> None:
    from ordhc.reporting.words import summary

    for sentence in summary(found.numbers):
        say(on_one_line(sentence))
    for note in found.numbers["notes"].values():
        say(on_one_line(note))
    say(f"method   {found.numbers['method']['name']}")
    for path in dict.fromkeys(paths):
        say(f"wrote    {path}")
