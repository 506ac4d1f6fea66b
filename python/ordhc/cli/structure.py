"""`ordhc structure`: test if a tree describes the answers at all."""

from typing import Any

import click

from ordhc.cli.executors import executor_of, executor_option
from ordhc.cli.help import Command, section
from ordhc.cli.output import emit_json, json_option, print_session, progress_bar, quiet_option, say
from ordhc.cli.reading import folds_option, read_comparisons, reading_options, say_next, unit_option


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
    folds: int,
    seed: int,
    unit: str | None,
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

    with progress_bar("reading", quiet=quiet) as progress:
        data = read_comparisons(file, progress=progress, **reading)
    with progress_bar("comparing structures", quiet=quiet) as progress, executor_of(executor) as workers:
        found = compute(data, folds=folds, seed=seed, unit=unit, executor=workers, progress=progress)
    if as_json:
        emit_json(found.to_dict())
        return
    print_session()
    say(str(found))
    say_next("cluster", file, reading)
