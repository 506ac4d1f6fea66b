"""`ordhc judge`: estimates, audits and labels with a language model."""

from typing import Any

import click

from ordhc.commands import (
    Command,
    Group,
    emit_json,
    json_option,
    parameters_of,
    progress_bar,
    quiet_option,
    say,
    section,
)
from ordhc.errors import InputError

__all__ = ["judge"]

_ITEMS = "The texts: a line each, or csv with `name` and `text`, or one of them."
_PARAM = "A setting of the judge, as url=https://... and model=NAME. Repeatable."


@click.group(cls=Group)
def judge() -> None:
    """Ask a language model, and find out how far to trust it.

    Settings are those of `ordhc_judge.Judge`, as --param KEY=VALUE: url, model, criterion, orders,
    temperature, concurrency, rpm, budget, cache, template, agree, prices, logprobs, max_tokens, timeout,
    retries, headers, extra. The key is best kept in the environment variable ORDHC_JUDGE_KEY.

    \b
    Examples:
      ordhc judge estimate 5000 --items intents.csv --param url=http://localhost:11434/v1 --param model=qwen3
      ordhc judge audit gold.csv --param url=http://localhost:11434/v1 --param model=qwen3
      ordhc learn intents.ordhc --items intents.csv --oracle judge --param url=... --param model=...
    """


@judge.command(cls=Command, no_args_is_help=True)
@click.argument("gold")
@section("The judge")
@click.option("--items", metavar="FILE", help=f"{_ITEMS} By default the names in GOLD.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help=_PARAM)
@section("What is asked")
@click.option(
    "--questions", type=int, metavar="N", help="Ask so many; by default all answers, 300 of a tree."
)
@click.option("--seed", type=int, default=0, help="Of the questions that are drawn.")
@section("Options")
@json_option
@quiet_option
def audit(
    gold: str,
    items: str | None,
    params: tuple[str, ...],
    questions: int | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Ask what is known already, and count what is right.

    GOLD holds what is right: triplets (csv with anchor, near, far), or a tree (Newick), from which questions
    are drawn.

    \b
    Example:
      ordhc judge audit gold.csv --param url=http://localhost:11434/v1 --param model=qwen3
    """
    known = _read_gold(gold)
    with _judge(known.names if items is None else items, params) as asked:
        with progress_bar("auditing", quiet=quiet) as progress:
            found = asked.audit(known, questions, seed=seed, progress=progress)
        if as_json:
            emit_json({**found.to_dict(), "report": asked.report().to_dict()})
            return
        say(found)
        say("")
        say(asked.report())


@judge.command(cls=Command, no_args_is_help=True)
@click.argument("questions", type=int, required=False)
@click.option("--items", metavar="FILE", required=True, help=_ITEMS)
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help=_PARAM)
@json_option
def estimate(questions: int | None, items: str, params: tuple[str, ...], as_json: bool) -> None:
    """Print calls, tokens, minutes and cost of QUESTIONS, before anything is sent.

    Without QUESTIONS it is as many as learning a tree takes, about n log2 n.

    \b
    Example:
      ordhc judge estimate 5000 --items intents.csv --param url=... \\
          --param 'prices={"input": 0.1, "output": 0.4}'
    """
    from dataclasses import asdict

    with _judge(items, params) as asked:
        found = asked.estimate(questions)
    if as_json:
        emit_json({**asdict(found), "tokens": found.tokens})
    else:
        say(found)


@judge.command(cls=Command, no_args_is_help=True)
@click.argument("tree")
@section("The judge")
@click.option("--items", metavar="FILE", help=f"{_ITEMS} By default the names of the leaves.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help=_PARAM)
@section("Names")
@click.option("--levels", type=int, metavar="N", help="Name so many levels from the root only.")
@click.option("--min-size", type=int, default=2, help="Smaller clusters get no name.")
@section("Results")
@click.option("-o", "--output", "outputs", multiple=True, metavar="TREE", help="Write the tree. Repeatable.")
@click.option(
    "--plot", "plots", multiple=True, metavar="PICTURE", help="Draw it: svg, png or pdf. Repeatable."
)
@click.option("--html", metavar="FILE", help="Write a page to explore it with.")
def label(
    tree: str,
    items: str | None,
    params: tuple[str, ...],
    levels: int | None,
    min_size: int,
    outputs: tuple[str, ...],
    plots: tuple[str, ...],
    html: str | None,
) -> None:
    """Name the clusters of TREE from the top down.

    \b
    Example:
      ordhc judge label tree.nwk --items intents.csv --param url=... --param model=... -o named.nwk --html
      named.html
    """
    import ordhc
    from ordhc_judge.labels import label as named

    known = ordhc.read_tree(tree)
    with _judge(known.names if items is None else items, params) as asked:
        found = named(known, asked, levels=levels, min_size=min_size)
    for path in outputs:
        ordhc.write_tree(found, path)
    for path in plots:
        found.savefig(path)
    if html is not None:
        found.savefig(html)
    if not (outputs or plots or html):
        say(found.to_newick())


def _read_gold(path: str) -> Any:
    """The gold: a tree, or triplets."""
    import ordhc

    endings = (".nwk", ".newick", ".tree", ".tre", ".nex", ".nexus", ".json")
    return ordhc.read_tree(path) if path.lower().endswith(endings) else ordhc.read_answers(path)


def _judge(items: Any, params: tuple[str, ...]) -> Any:
    """The judge of the command line."""
    from ordhc_judge.making import judge_of

    if items is None:
        raise InputError("the leaves have no names: give their texts as --items FILE")
    return judge_of(items, parameters_of(params))
