"""`ordhc people-groups`: find out if people agree on one tree."""

from typing import Any

import click

from ordhc.cli.executors import executor_of, executor_option
from ordhc.cli.help import Command, section
from ordhc.cli.output import json_option, progress_bar, quiet_option
from ordhc.cli.reading import read_comparisons, reading_options, say_found


@click.command("people-groups", cls=Command, no_args_is_help=True)
@click.argument("file")
@section("What is compared")
@click.option("--max-trees", type=int, default=3, show_default=True, help="The largest number of trees.")
@click.option(
    "--folds",
    type=int,
    default=5,
    show_default=True,
    help="The number of parts into which each person's answers are split.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the split and the models.")
@section("Options")
@executor_option
@json_option
@quiet_option
@reading_options
def people_groups(
    file: str,
    executor: str | None,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Test if the people in FILE agree on one tree, or which groups of people have different trees.

    Models with 1 to --max-trees trees are fitted to some of each person's answers, and predict the others.
    --json also prints each group's tree, and each person's probability of belonging to each group.

    \b
    Examples:
      ordhc people-groups answers.csv --person participant
      ordhc people-groups answers.csv --person participant --max-trees 2 --json
    """
    from ordhc.evaluate.people_groups import people_groups as compute

    options = {name: reading.pop(name) for name in ("max_trees", "folds", "seed")}
    with progress_bar("reading", quiet=quiet) as progress:
        data = read_comparisons(file, progress=progress, **reading)
    with progress_bar("looking for groups", quiet=quiet) as progress, executor_of(executor) as workers:
        found = compute(data, **options, executor=workers, progress=progress)
    say_found(found, as_json, "structure", file, reading)
