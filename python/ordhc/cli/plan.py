"""`ordhc plan`: estimate the number of answers that a study needs."""

from typing import Any

import click

from ordhc.cli.help import Command, section
from ordhc.cli.output import emit_json, json_option, say


@click.command(cls=Command, no_args_is_help=True)
@section("The study")
@click.option("--items", type=int, required=True, metavar="N", help="The number of items to compare.")
@click.option(
    "--accuracy",
    type=float,
    required=True,
    metavar="SHARE",
    help="The share of answers that are right, .6 to 1; people often have .7 to .9.",
)
@click.option(
    "--noise",
    type=click.Choice(["close", "constant", "lengths"]),
    default="close",
    show_default=True,
    help="Which answers are wrong. close: people confuse close items more often. constant: all questions are "
    "equally hard. lengths: like close, but some items are untypical.",
)
@section("The aim")
@click.option("--target", type=float, default=0.9, show_default=True, help="The score to be reached.")
@click.option(
    "--score",
    type=click.Choice(["aari", "heldout"]),
    default="aari",
    show_default=True,
    help="aari: how well the groups are found (1 is perfect, 0 is chance). heldout: the share of new answers "
    "that the tree predicts.",
)
@section("What it takes")
@click.option("--seconds", type=float, default=5.0, show_default=True, help="The time for one answer.")
@click.option(
    "--per-person", type=int, default=150, show_default=True, help="The number of answers of one person."
)
@section("Options")
@json_option
def plan(items: int, accuracy: float, as_json: bool, **options: Any) -> None:
    """Estimate how many answers, hours and people a study needs.

    In the study people say which of three items is the odd one out. The numbers come from simulated studies:
    8 of 10 studies need a number of answers in the range in parentheses. `ordhc learn` asks the questions.

    \b
    Examples:
      ordhc plan --items 100 --accuracy 0.85 --target 0.9
      ordhc plan --items 40 --accuracy 0.75 --seconds 8 --per-person 100 --json
    """
    from ordhc.evaluate.needed import plan as compute

    found = compute(items, accuracy, **options)
    if as_json:
        emit_json(found.to_dict())
    else:
        say(found)
