"""`ordhc learn`: learn a tree by asking a person, an oracle or a simulation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ordhc._progress import Progress
from ordhc.asking.methods import ASSUMPTIONS, NOISES, QUESTIONS, SCHEDULES, Method, Uncertain
from ordhc.asking.oracle import Answering, advised, errors_of, known_to
from ordhc.asking.remaining import remaining_in_words
from ordhc.asking.settings import METHODS, from_settings
from ordhc.asking.wrappers import noisy
from ordhc.cli.help import Command, Name, Registered, Settings, section
from ordhc.cli.output import check_outputs, emit_json, json_option, progress_bar, quiet_option, say
from ordhc.cli.reading import parameters_of
from ordhc.errors import InputError, StoppedError
from ordhc.io import read_tree, write_tree
from ordhc.io.files import check_outputs_apart, check_writable
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from ordhc.asking.learner import Learner
    from ordhc.asking.session import Session

_A_MINUTE = 60


@click.command(cls=Command, no_args_is_help=True)
@click.argument("session", required=False)
@section("Who answers")
@click.option(
    "--items",
    metavar="FILE",
    help="Names of the leaves: one on each line, csv with `name` (and `picture`), or a folder of pictures.",
)
@click.option("--oracle", type=Registered("oracle"), help="An oracle that answers instead of a person.")
@click.option(
    "--source",
    metavar="FILE",
    help="The data from which the oracle answers: a tree, vectors, answers, ...",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    type=Settings("oracle", "oracle"),
    help="A setting of the oracle. Repeatable.",
)
@click.option(
    "--who",
    metavar="NAME",
    help="The person who answers, which is kept with the answers. No person gets a question twice.",
)
@click.option(
    "--accuracy",
    type=float,
    metavar="P",
    help="With --oracle: make its answers wrong at random, so that they are right with probability P.",
)
@section("What is asked")
@click.option("--method", type=Name(METHODS), help="How questions are chosen; by default insertion.")
@click.option(
    "--question",
    type=Name(QUESTIONS),
    help="What --method uncertain asks: which of three is the odd one out (odd, the default), whether A is "
    "more like B or C (triplet), or which of two pairs is more alike (pairs).",
)
@click.option(
    "--p",
    type=float,
    help="The probability that an answer is right; below 1 the method is robust. By default the p of "
    "the oracle, if the oracle states it.",
)
@click.option(
    "--noise",
    type=Name(NOISES),
    help="With --p: whether a repeated question gets an independent answer, or always the same (persistent). "
    "By default the noise of the oracle, if the oracle states it.",
)
@click.option(
    "--delta",
    type=float,
    help="With --p: the largest probability of a wrong tree, if repeated questions get independent answers.",
)
@click.option(
    "--schedule",
    type=Name(SCHEDULES),
    help="What is kept small: questions (the default), rounds, or a balance of both.",
)
@click.option("--parallel", type=int, metavar="N", help="Search N leaves at the same time.")
@click.option("--repeat", type=int, metavar="N", help="Ask every question N times, and take the majority.")
@click.option("--budget", type=int, metavar="N", help="Ask at most N questions.")
@click.option(
    "--supported-by",
    type=int,
    metavar="N",
    help="With --oracle: remove nodes that fewer than N distinct questions support.",
)
@click.option(
    "--prior",
    metavar="TREE",
    help="Begin with this tree, and ask about its most uncertain and most important parts.",
)
@click.option(
    "--prior-strength",
    type=float,
    metavar="S",
    help="The prior odds that a subtree has its right place in --prior; by default 20.",
)
@click.option(
    "--start",
    metavar="TREE",
    help="Place the --items that are not in this tree; the tree itself is not changed.",
)
@click.option(
    "--exact",
    is_flag=True,
    default=None,
    help="For insertion: choose pivots as the paper does; leaf i takes at most log2(2i - 3) questions.",
)
@click.option(
    "--assume",
    type=Name(ASSUMPTIONS),
    help="For robust: which wrong answers are expected. uniform asks fewer questions, without a guarantee.",
)
@click.option("--q", type=float, help="For 4k-active: the probability that a leaf is a landmark.")
@click.option("--n-landmarks", type=int, metavar="N", help="For 4k-active: the number of landmarks.")
@click.option("--n-references", type=int, metavar="N", help="For 4k-active: the number of reference pairs.")
@section("Results")
@click.option("-o", "--output", "outputs", multiple=True, metavar="TREE", help="Write the tree. Repeatable.")
@click.option(
    "--export",
    metavar="CSV",
    help="Write all answers: triplets, person, time, duration, sampler, position.",
)
@section("Options")
@click.option("--seed", type=int, help="The seed of the order of leaves, and of wrong answers.")
@json_option
@quiet_option
def learn(
    session: str | None,
    items: str | None,
    oracle: str | None,
    source: str | None,
    params: tuple[str, ...],
    accuracy: float | None,
    repeat: int | None,
    budget: int | None,
    supported_by: int | None,
    prior: str | None,
    start: str | None,
    who: str | None,
    outputs: tuple[str, ...],
    export: str | None,
    seed: int | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn a tree by asking which of three is the odd one out.

    SESSION is a file that keeps all answers: quit at any time, and continue with the same command. Several
    terminals can use one SESSION at the same time. Terminals with graphics (kitty, or Sixels) show the
    pictures of --items. With --oracle no person is needed, and SESSION is optional.

    \b
    Examples:
      ordhc learn animals.ordhc --items animals.txt
      ordhc learn animals.ordhc --items pictures/ --who ann
      ordhc learn animals.ordhc -o tree.nwk --export answers.csv
      ordhc learn --oracle tree --source tree.nwk --accuracy 0.8
      ordhc learn points.ordhc --oracle vectors --source points.csv --param similarity=cosine
      ordhc learn words.ordhc --items words.txt --prior tree.nwk --budget 500
      ordhc learn tools.ordhc --items tools.txt --method uncertain --question triplet
      ordhc learn --oracle judge --param url=... --start tree.nwk --items more.txt -o larger.nwk
    """
    from ordhc.cli.exporting import export_answers
    from ordhc.cli.interview import QUIT_MESSAGE, interview

    inputs = (session, items, source, prior, start)
    check_outputs(outputs, (), None, n_clusters=None, as_json=as_json, inputs=inputs)
    if export is not None:
        check_outputs_apart([export, *outputs], inputs)
        check_writable(export)
    if session is None and oracle is None:
        raise click.UsageError("give a SESSION file, or --oracle NAME --source FILE for a simulation")
    if oracle is None:
        of_oracle = {"--accuracy": accuracy, "--source": source, "--param": params or None}
        _refuse({**of_oracle, "--supported-by": supported_by}, "--oracle")
    method = _method(settings, prior, "insertion")
    begun = None if start is None else read_tree(start)
    names, pictures = _items(items, begun)
    common = {"repeat": repeat, "budget": budget, "seed": seed, "start": begun}
    given: dict[str, Any] = {key: value for key, value in common.items() if value is not None}
    answering = truth = None
    if oracle is not None:
        width = 3 if method is None else method.width
        leaves = _names(session, names)
        answering, truth = _answering(oracle, source, params, accuracy, seed or 0, width, leaves)
        if not _exists(session):
            errs = errors_of(answering)[1] is not None and repeat is None
            method = _method(settings, prior, "robust" if errs else "insertion")
            method, reason = advised(answering, method, repeat or 1)
            if reason and not quiet:
                click.echo(reason, err=True)
    given["method"] = method
    if session is None:
        assert answering is not None
        _refuse({"--export": export, "--who": who}, "a SESSION, which keeps the answers")
        found = _simulated(answering, truth, names, given, supported_by, quiet)
    else:
        with _opened(session, names, answering, given) as kept:
            if answering is None:
                try:
                    interview(kept, who, pictures)
                except KeyboardInterrupt:
                    say(f"\n{QUIT_MESSAGE}", err=True)
                tree = kept.tree()
            else:
                asked = {"session": kept, "supported_by": supported_by, "who": who or oracle}
                tree = _learnt(answering, quiet, kept, **asked)
            if export is not None:
                export_answers(kept, export)
            found = {
                "tree": tree,
                "n_answers": kept.status.n_answered,
                "n_placed": kept.status.n_placed,
                "done": kept.done,
                "remaining": kept.status.remaining,
            }
    tree = found.pop("tree")
    report = None if answering is None or answering.report is None else answering.report()
    for path in outputs:
        write_tree(tree, path)
    if as_json:
        reported = {"report": report.to_dict()} if report is not None and hasattr(report, "to_dict") else {}
        emit_json(
            {**found, **reported, "tree": tree.to_dict(), "newick": tree.to_newick(branch_lengths=False)}
        )
    elif not quiet and "-" not in outputs:
        _say_found(found, tree.n_leaves, report)
        for path in outputs:
            say(f"wrote    {path}")


def _method(settings: Mapping[str, Any], prior: str | None, default: str) -> Method | None:
    given = {**settings, "prior": None if prior is None else read_tree(prior)}
    is_given = any(value is not None for value in given.values())
    return from_settings(given, default=default) if is_given else None


def _refuse(options: dict[str, Any], needed: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise click.UsageError(f"{option} needs {needed}")


def _say_found(found: dict[str, Any], n_leaves: int, report: Any) -> None:
    state = "done" if found["done"] else remaining_in_words(found["remaining"])
    say(f"{found['n_answers']:,} answers, {found['n_placed']:,} of {n_leaves:,} leaves, {state}")
    if "n_rounds" in found:
        say(f"questions / (n log2 n)  {found['per_n_log_n']:.3f}")
        say(f"rounds  {found['n_rounds']:,}")
    if "triplet_distance" in found:
        say(f"triplet distance to the oracle's tree  {found['triplet_distance']:.6g}")
    if report is not None:
        say(report)


def _answering(
    name: str,
    path: str | None,
    params: tuple[str, ...],
    accuracy: float | None,
    seed: int,
    width: int,
    leaves: tuple[str, ...] | None,
) -> tuple[Answering, Dendrogram | None]:
    """Return a registered oracle, and the tree from which it answers (None if it answers from other data)."""
    from ordhc.asking.registered import named
    from ordhc.cli.sources import read_source
    from ordhc.plugins import registry

    if name not in registry.names("oracle") and path is None and Path(name).exists():
        raise InputError(
            f"--oracle takes a name, not a file: to answer from {name}, use --oracle tree --source {name}"
        )
    spec = registry.get("oracle", name)
    source = names = None
    if path is not None:
        source, names = read_source(spec.takes, path, width, leaves)
    elif "names" in spec.takes:
        source = leaves
    answer = named(name, source, **parameters_of(params))
    if accuracy is not None:
        answer = noisy(answer, accuracy, seed=seed)
    asked = Answering.around(answer, answer)
    asked.names = asked.names or names
    return asked, source if spec.takes == ("tree",) else None


def _learnt(oracle: Answering, quiet: bool, kept: Learner | Session, **options: Any) -> Dendrogram:
    from ordhc.asking.loop import learn

    with progress_bar("asking", quiet=quiet) as bar:
        # An oracle may take hours, so without a terminal a line is printed each minute.
        progress = bar if quiet or bar is not None else line_by_line("asking")
        try:
            return learn(oracle, progress=progress, **options)
        except StoppedError as stop:
            click.echo(f"ordhc: {stop}", err=True)
            return kept.tree()


def line_by_line(what: str, clock: Callable[[], float] = time.monotonic) -> Progress:
    """Return a function that prints the completed fraction to standard error, at most once a minute."""
    last = clock()

    def tell(done: float) -> None:
        nonlocal last
        if clock() - last >= _A_MINUTE:
            last = clock()
            click.echo(f"{what} {done:.0%}", err=True)

    return tell


def _exists(session: str | None) -> bool:
    return session is not None and Path(session).exists()


def _items(items: str | None, start: Dendrogram | None) -> tuple[tuple[str, ...] | None, Mapping[str, Path]]:
    from ordhc.io.items import read_items

    names, pictures = (None, {}) if items is None else read_items(items)
    if start is None:
        return names, pictures
    if start.names is None or names is None:
        raise InputError("--start needs a tree whose leaves have names, and --items, the names of new leaves")
    known = set(start.names)
    return (*start.names, *(name for name in names if name not in known)), pictures


def _names(session: str | None, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if names is not None:
        return names
    if session is None or not _exists(session):
        return None
    from ordhc.asking.session import Session

    with Session(session) as kept:
        return kept.names


def _opened(
    session: str, names: tuple[str, ...] | None, oracle: Answering | None, given: dict[str, Any]
) -> Session:
    from ordhc.asking.session import Session

    n_leaves = None
    is_new = not _exists(session)
    if is_new and oracle is not None and names is None:
        names, n_leaves = oracle.names, oracle.n_leaves
    if is_new and names is None and n_leaves is None:
        raise InputError(f"{session}: there is no such session; a new one needs --items FILE")
    return Session(session, names, n_leaves=None if names else n_leaves, **given)


def _simulated(
    oracle: Answering,
    truth: Dendrogram | None,
    names: tuple[str, ...] | None,
    given: dict[str, Any],
    supported_by: int | None,
    quiet: bool,
) -> dict[str, Any]:
    from ordhc import metrics
    from ordhc.asking.learner import Learner

    leaves = names or oracle.names or oracle.n_leaves
    if leaves is None:
        raise InputError("the oracle does not know how many leaves there are: give --items FILE")
    if isinstance(given["method"], Uncertain):
        given = {**given, "method": replace(given["method"], among=known_to(oracle, leaves))}
    learner = Learner(leaves, **given)
    tree = _learnt(oracle, quiet, learner, learner=learner, supported_by=supported_by)
    n = tree.n_leaves
    found = {
        "tree": tree,
        "n_answers": learner.status.n_answered,
        "n_placed": learner.status.n_placed,
        "n_rounds": learner.n_rounds,
        "done": learner.done,
        "remaining": learner.status.remaining,
        "per_n_log_n": learner.status.n_answered / (n * math.log2(n)) if n > 1 else 0.0,
    }
    if truth is not None and truth.n_leaves == n:
        found["triplet_distance"] = metrics.triplet_distance(tree, truth)
    return found
