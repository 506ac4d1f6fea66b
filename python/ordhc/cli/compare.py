"""`ordhc compare`: compare methods on held-out answers."""

from typing import Any

import click

from ordhc.cli.executors import executor_of, executor_option, resume_option, say_resumed
from ordhc.cli.help import Command, Registered, section
from ordhc.cli.output import HELD_OUT, emit_json, json_option, print_session, progress_bar, quiet_option, say
from ordhc.cli.reading import (
    by_option,
    folds_option,
    read_comparisons,
    reading_options,
    say_next,
    unit_option,
)
from ordhc.io.scan import Scan


@click.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@section("What is compared")
@click.option("--method", "methods", multiple=True, type=Registered("method"), help="A method. Repeatable.")
@folds_option
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the split.")
@by_option
@unit_option
@section("Options")
@executor_option
@resume_option
@json_option
@quiet_option
@reading_options
def compare(
    file: str,
    methods: tuple[str, ...],
    executor: str | None,
    resume: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Compare methods on the answers in FILE, and recommend a method; FILE is as for `ordhc cluster`.

    Every method makes trees from some of the answers. The trees are scored on the other answers. A higher
    score means a better prediction of unseen answers.

    \b
    Examples:
      ordhc compare answers.csv
      ordhc compare answers.csv --method adds3-al --method adds3-al+spr --person participant
      ordhc compare 'answers/*.parquet' --executor processes:8
      ordhc compare study.csv --kind odd-one-out --items left,middle,right --chosen odd
    """
    from ordhc.evaluate.select import select

    options = {name: reading.pop(name) for name in ("folds", "seed", "by", "unit")}
    with progress_bar("reading", quiet=quiet) as progress:
        data = read_comparisons(file, progress=progress, scanned={"resume": resume}, **reading)
    if resume and not isinstance(data, Scan):
        raise click.UsageError("--resume is for a folder or a pattern of files")
    meta = click.get_current_context().meta
    with progress_bar("comparing", quiet=quiet) as progress, executor_of(executor) as workers:
        options |= {"heldout": meta.get(HELD_OUT), "executor": workers, "progress": progress}
        found = select(data, list(methods) or None, **options)
    if not quiet:
        say_resumed(data)
    if as_json:
        emit_json(found.to_dict())
        return
    print_session()
    say(str(found))
    close = [c.method for c in found.candidates[1:] if c.method not in found.clearly_worse]
    note = f" (no clear difference: {', '.join(close)})" if close else ""
    say(f"best: {found.best}{note}")
    say_next("cluster", file, reading, "--method", found.best)
