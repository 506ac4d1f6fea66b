"""`ordhc structure`: test if a tree describes the answers at all."""

from typing import Any

import click

from ordhc.cli.executors import executor_of, executor_option
from ordhc.cli.help import Command, section
from ordhc.cli.output import json_option, progress_bar, quiet_option
from ordhc.cli.reading import folds_option, read_comparisons, reading_options, say_found, unit_option


@click.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@section("What is compared")
@folds_option
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the split and the models.")
@unit_option
@section("Options")
@executor_option
@json_option
@quiet_option
@reading_options
def structure(
    file: str,
    executor: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Test whether a tree describes the answers in FILE best, or points in space, or neither.

    Trees, flat clusters, points in 1, 2, 3 and 5 dimensions, and "lengths alone" are fitted to some of the
    answers, and predict the others. "Lengths alone" is a model in which items differ only in how typical they
    are. The last lines of the output state the conclusion.

    \b
    Examples:
      ordhc structure answers.csv
      ordhc structure answers.csv --person participant --json
      ordhc structure study.csv --kind odd-one-out --items left,middle,right --chosen odd
    """
    from ordhc.evaluate.structure import structure as compute

    options = {name: reading.pop(name) for name in ("folds", "seed", "unit")}
    with progress_bar("reading", quiet=quiet) as progress:
        data = read_comparisons(file, progress=progress, **reading)
    with progress_bar("comparing structures", quiet=quiet) as progress, executor_of(executor) as workers:
        found = compute(data, **options, executor=workers, progress=progress)
    say_found(found, as_json, "cluster", file, reading)
