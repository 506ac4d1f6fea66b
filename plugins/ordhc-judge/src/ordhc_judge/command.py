"""The command `ordhc judge`: audit a language model, estimate its cost, embed items and label clusters."""

from inspect import signature
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

_ITEMS = "The texts: one on each line, or csv with the columns `name` and `text`, or one of them."
_PARAM = "A setting of the judge, such as url=https://... or model=NAME. Repeatable."


@click.group(cls=Group)
def judge() -> None:
    """Ask a language model, and measure how often it is right.

    Give settings of `ordhc_judge.Judge` as --param KEY=VALUE: url, model, criterion, orders, temperature,
    concurrency, rpm, budget, cache, template, agree, prices, logprobs, max_tokens, timeout, retries, headers,
    extra. Put the key of the server into the environment variable ORDHC_JUDGE_KEY.

    \b
    Examples:
      ordhc judge estimate 5000 --items intents.csv --param url=http://localhost:11434/v1 --param model=qwen3
      ordhc judge audit gold.csv --param url=http://localhost:11434/v1 --param model=qwen3
      ordhc judge embed intents.csv --param url=http://localhost:11434/v1 --param model=nomic-embed-text \\
          -o prior.nwk
      ordhc learn intents.ordhc --items intents.csv --oracle judge --param url=... --param model=...
    """


@judge.command(cls=Command, no_args_is_help=True)
@click.argument("gold")
@section("The judge")
@click.option("--items", metavar="FILE", help=f"{_ITEMS} By default the names in GOLD.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help=_PARAM)
@section("What is asked")
@click.option(
    "--questions",
    type=int,
    metavar="N",
    help="Ask N questions; by default all questions if GOLD has answers, and 300 if GOLD is a tree.",
)
@click.option("--seed", type=int, default=0, help="The seed of the random draw of questions.")
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
    """Ask questions with known answers, and show how often the model is right.

    GOLD contains the right answers: triplets (csv with anchor, near, far), or a tree (Newick) from which
    questions are drawn.

    \b
    Example:
      ordhc judge audit gold.csv --param url=http://localhost:11434/v1 --param model=qwen3
    """
    from ordhc_judge.auditing import read_gold

    known = read_gold(gold)
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
    """Estimate calls, tokens, minutes and cost of QUESTIONS, without sending a request.

    QUESTIONS is the number of questions; by default n log2 n, about the number to learn a tree of n items.

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
@click.argument("items")
@section("The server")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of `ordhc_judge.embed`: url, model, key, cache, batch, concurrency, rpm, budget, "
    "timeout, retries, headers, extra. Repeatable.",
)
@section("Results")
@click.option("-o", "--output", "outputs", multiple=True, metavar="TREE", help="Write the tree. Repeatable.")
@click.option("--vectors", metavar="NPY", help="Write the vectors, one row for each item.")
def embed(items: str, params: tuple[str, ...], outputs: tuple[str, ...], vectors: str | None) -> None:
    """Make a tree of ITEMS from embedding vectors, from which a learner can begin (--prior).

    ITEMS are texts: one on each line, or csv with the columns `name` and `text`. The tree is made by average
    linkage of cosine similarities. A learner that begins with this tree needs far fewer questions.

    \b
    Example:
      ordhc judge embed intents.csv --param url=... --param model=... -o prior.nwk
      ordhc learn intents.ordhc --items intents.csv --oracle judge --param url=... --prior prior.nwk
    """
    import numpy as np

    import ordhc
    from ordhc_judge.embedding import embed as embedded
    from ordhc_judge.items import Items

    given = {"cache": "judge.sqlite", "model": None, **parameters_of(params)}
    known = signature(embedded).parameters
    for name in given:
        if name not in known or name == "items":
            raise InputError(f"embed has no parameter {name!r}; its parameters: {', '.join([*known][1:])}")
    if "url" not in given:
        raise InputError("embed needs the address of a server: --param url=https://...")
    texts = Items.of(items)
    rows = embedded(texts, given.pop("url"), given.pop("model"), **given)
    if vectors is not None:
        np.save(vectors, rows)
    tree = ordhc.cluster(rows, similarity="cosine", linkage="average").replace(names=texts.names)
    for path in outputs:
        ordhc.write_tree(tree, path)
    if not (outputs or vectors):
        say(tree.to_newick())


@judge.command(cls=Command, no_args_is_help=True)
@click.argument("tree")
@section("The judge")
@click.option("--items", metavar="FILE", help=f"{_ITEMS} By default the names of the leaves.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help=_PARAM)
@section("Names")
@click.option(
    "--levels", type=int, metavar="N", help="Name only the first N levels of clusters from the root."
)
@click.option("--min-size", type=int, default=2, help="The smallest size of a cluster that gets a name.")
@section("Results")
@click.option("-o", "--output", "outputs", multiple=True, metavar="TREE", help="Write the tree. Repeatable.")
@click.option(
    "--plot", "plots", multiple=True, metavar="PICTURE", help="Draw the tree: svg, png or pdf. Repeatable."
)
@click.option("--html", metavar="FILE", help="Write an interactive page of the tree.")
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
    """Name the clusters of TREE with a language model, from the root down.

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


def _judge(items: Any, params: tuple[str, ...]) -> Any:
    from ordhc_judge.making import judge_of

    if items is None:
        raise InputError("the leaves have no names; give their texts with --items FILE")
    return judge_of(items, parameters_of(params))
