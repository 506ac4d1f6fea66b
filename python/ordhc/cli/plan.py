"""`ordhc plan`: how many answers a study needs."""

import click

from ordhc.cli.help import Command, section
from ordhc.cli.output import emit_json, json_option, say


@click.command(cls=Command, no_args_is_help=True)
@section("The study")
@click.option("--items", type=int, required=True, metavar="N", help="How many things are compared.")
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
    "equally hard. lengths: as close, and some items are untypical.",
)
@section("The aim")
@click.option("--target", type=float, default=0.9, show_default=True, help="The score to be reached.")
@click.option(
    "--score",
    type=click.Choice(["aari", "heldout"]),
    default="aari",
    show_default=True,
    help="How much of the groups is found (1 is all, 0 chance), or the share of new answers that is right.",
)
@section("What it takes")
@click.option("--seconds", type=float, default=5.0, show_default=True, help="Time of an answer.")
@click.option("--per-person", type=int, default=150, show_default=True, help="Answers of one person.")
@section("Options")
@json_option
def plan(
    items: int,
    accuracy: float,
    noise: str,
    target: float,
    score: str,
    seconds: float,
    per_person: int,
    as_json: bool,
) -> None:
    """Say how many answers a study needs: for each item and in all, hours and people.

    People say which of three items is the odd one out. The numbers are those of simulated studies, with the
    interval in which 8 of 10 studies reach the target. `ordhc learn` asks the questions.

    \b
    Examples:
      ordhc plan --items 100 --accuracy 0.85 --target 0.9
      ordhc plan --items 40 --accuracy 0.75 --seconds 8 --per-person 100 --json
    """
    from ordhc.evaluate.needed import plan as verb

    found = verb(items, accuracy, target, score=score, noise=noise, seconds=seconds, per_person=per_person)
    if as_json:
        emit_json(found.to_dict())
        return
    say(str(found))
