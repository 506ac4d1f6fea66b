"""Simulate a study: let bots take part over HTTP, and report the quality of the tree and the cost."""

import asyncio
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordhc
from ordhc import Dendrogram, Session, metrics
from ordhc.errors import InputError
from ordhc_collect.analysis.summary import Summary, summarise
from ordhc_collect.analysis.tree import model_of, tree_of
from ordhc_collect.people.tables import Tables, copy_session, reading
from ordhc_collect.simulate.bots import Run, take_part
from ordhc_collect.simulate.crowd import Kind, SimulatedPerson, crowd_of, drawn_tree
from ordhc_collect.study.model import Study
from ordhc_collect.web.server import Served, serve

#: The report shows the number of answers after which the tree has this averaged adjusted Rand index (AARI).
GOAL = 0.9
#: The estimated seconds that a person spends on pages without questions.
_PAGES = 60.0
#: The number of bots that take part at the same time.
_AT_ONCE = 200


@dataclass(frozen=True)
class Point:
    """The quality of the tree that is made from the first `n_answers` answers.

    The quality is the averaged adjusted Rand index (AARI): 1 for the true tree, about 0 for a random tree.
    For `plain`, all answers have equal weights. For `weighted`, answers of reliable people weigh more.
    """

    n_answers: int
    plain: float
    weighted: float


@dataclass(frozen=True)
class _Results:
    run: Run
    took: float
    summary: Summary
    asked: Counter[str]
    points: Sequence[Point]


def simulated(
    study: Study,
    n: int,
    *,
    accuracy: float = 0.85,
    crowd: str | None = None,
    truth: str | None = None,
    seed: int = 0,
    data: Path | None = None,
) -> str:
    """Let `n` bots take part in a study, and return a report.

    `accuracy` is the probability that a bot's answer is right. `crowd` describes several kinds of bots
    instead, see `crowd_of`. `truth` is the file with the true tree, by default a random tree. `data` is a new
    session file for the answers, which by default are not stored.
    """
    if data is not None and data.exists():
        raise InputError(
            "exists already; answers of bots need a new file, so give another --data FILE", path=str(data)
        )
    kinds = [Kind(1.0, accuracy)] if crowd is None else crowd_of(crowd)
    tree = _truth(study, truth, seed)
    places = n if study.total is None else min(n, study.total)
    # Bots answer without delay, so accept answers at any time.
    open_study = replace(study, total=places, joins_per_minute=1_000_000, min_seconds=0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.ordhc"
        run, took = _run(open_study, path, n, kinds, tree, seed)
        with reading(path) as tables:
            asked = tables.counts()
        with Session(path) as session:
            summary = summarise(study, session, time.time())
            points = curve(session, tree, excluded=summary.excluded)
            with session.transaction() as db:
                Tables(db).set("simulated", True)
        if data is not None:
            copy_session(path, data)
    results = _Results(run, took, summary, asked, points)
    found = _report(study, places, kinds, results, is_drawn=truth is None)
    if data is not None:
        found += ["", f"The answers are in {data}. Real people cannot take part in it."]
    return "\n".join(found)


def _truth(study: Study, path: str | None, seed: int) -> Dendrogram:
    n = len(study.items)
    if path is None:
        return drawn_tree(n, seed)
    found = ordhc.read_tree(path)
    if found.names is None or set(found.names) != set(study.names):
        odd = sorted(set(study.names) ^ set(found.names or ()))[:3]
        raise InputError(
            f"the leaves of the tree differ from the items of the study: {', '.join(odd)}", path=path
        )
    order = {name: leaf for leaf, name in enumerate(study.names)}
    numbers = {leaf: order[name] for leaf, name in enumerate(found.names)}

    def text(node: Any) -> str:
        if node.is_leaf:
            return str(numbers[node.label])
        return f"({','.join(map(text, node.children))})"

    return ordhc.as_dendrogram(f"{text(found.root)};")


def _run(
    study: Study, path: Path, n: int, kinds: Sequence[Kind], tree: Dendrogram, seed: int
) -> tuple[Run, float]:
    ready = threading.Event()
    found: list[Served] = []
    failed: list[BaseException] = []

    def started(served: Served) -> None:
        found.append(served)
        ready.set()

    def work() -> None:
        try:
            serve(study, path, port=0, on_start=started)
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=work, name="ordhc-collect server", daemon=True)
    thread.start()
    ready.wait()
    if failed:
        raise failed[0]
    run = Run()
    counts = np.floor(np.cumsum([kind.share for kind in kinds]) * n + 0.5).astype(int)

    async def everybody() -> None:
        turns = asyncio.Semaphore(_AT_ONCE)

        async def one(k: int) -> None:
            kind = kinds[int(np.searchsorted(counts, k, side="right"))]
            answering = SimulatedPerson(tree, study.question, kind.accuracy, f"{seed} {k}", study.gold)
            async with turns:
                await take_part(study, found[0].address, f"bot-{k}", answering, run, seed=seed)

        order = np.random.default_rng(seed).permutation(n)
        await asyncio.gather(*(one(int(k)) for k in order))

    start = time.perf_counter()
    try:
        asyncio.run(everybody())
    finally:
        found[0].stop()
        thread.join()
    return run, time.perf_counter() - start


def curve(
    session: Session, truth: Dendrogram, n_points: int = 10, *, excluded: Collection[str] = ()
) -> list[Point]:
    """Return the quality of the tree at up to `n_points` numbers of answers.

    Answers of the people `excluded` are not used.
    """
    every = [session.comparisons(weights=how, exclude=excluded) for how in ("equal", "reliability")]
    m = len(every[0])
    if not m:
        return []
    # An answer can give several rows of comparisons, which are consecutive.
    answer = every[0].answers if every[0].answers is not None else np.arange(m)
    starts = np.flatnonzero(np.diff(answer, prepend=-1))
    total = len(starts)
    found = []
    for count in np.unique(
        np.geomspace(min(total, max(20, total // 30)), total, n_points).astype(int)
    ).tolist():
        stop = m if count == total else int(starts[count])
        found.append(Point(count, *(_quality(some[:stop], truth) for some in every)))
    return found


def levels_of(n: int) -> list[int]:
    """Return the numbers of clusters at which trees of `n` items are compared: 2, 4, 8, ...

    At the largest number, clusters have at least three items on average.

    Examples
    --------
    >>> levels_of(60)
    [2, 4, 8, 16]
    """
    return [2**k for k in range(1, 20) if 2**k <= max(2, n // 3)]


def _quality(comparisons: Any, truth: Dendrogram) -> float:
    tree = tree_of(model_of(comparisons, support=False))
    return 0.0 if tree is None else float(metrics.aari(tree, truth, levels=levels_of(truth.n_leaves)))


def needed(points: Sequence[Point], name: str, goal: float = GOAL) -> float | None:
    """Return the number of answers at which the quality reaches `goal`, interpolated; None if never.

    `name` is the field of `Point` with the quality: "plain" or "weighted".
    """
    values: NDArray[np.float64] = np.array([getattr(point, name) for point in points])
    reached = np.flatnonzero(values >= goal)
    if not len(reached):
        return None
    at = int(reached[0])
    if at == 0:
        return float(points[0].n_answers)
    low, high = values[at - 1], values[at]
    share = (goal - low) / (high - low)
    return float(points[at - 1].n_answers + share * (points[at].n_answers - points[at - 1].n_answers))


def _report(
    study: Study,
    places: int,
    kinds: Sequence[Kind],
    results: _Results,
    *,
    is_drawn: bool,
) -> list[str]:
    run = results.run
    how = [
        "at random" if kind.accuracy is None else f"right {kind.accuracy:.0%} of the time" for kind in kinds
    ]
    crowd = ", ".join(f"{kind.share:.0%} {word}" for kind, word in zip(kinds, how, strict=True))
    of = "a tree drawn at random" if is_drawn else "the tree given"
    each = study.per_person * study.seconds_per_answer + _PAGES
    lines = [
        f"{run.n_done:,} bots finished, with {run.n_answers:,} answers about {len(study.items)} items,",
        f"from {of}: {crowd}.",
        "",
        "How long",
        f"  a person   {each / 60:.1f} minutes: {study.per_person} questions of "
        f"{study.seconds_per_answer:g} s, and pages",
        f"  in all     {places * each / 3600:.1f} hours of people's time",
        "",
        "Samplers",
        *_share_lines(study, results.asked),
        "",
        "Excluded people",
        f"  left out   {_left_out(study, results.summary)}",
        "",
        "How good",
        *_quality_lines(results.summary, results.points),
        "",
        "What it costs",
    ]
    if study.pay.per_person:
        cost = run.n_done * study.pay.per_person
        with_fee = f", {cost * (1 + study.pay.fee):,.2f} with the platform's fee" if study.pay.fee else ""
        lines.append(f"  {cost:,.2f} {study.pay.currency}{with_fee}")
    else:
        lines.append("  unknown: the study has no [pay] per_person")
    seconds = np.sort(run.seconds) if run.seconds else np.zeros(1)
    slow = np.quantile(seconds, [0.5, 0.99]) * 1000
    lines += [
        "",
        "The server",
        f"  {run.n_answers / max(results.took, 1e-9):,.0f} answers a second; a page took {slow[0]:.0f} ms, "
        f"99% less than {slow[1]:.0f} ms",
        f"  {len(run.errors)} errors" + (f": {run.errors[0]}" if run.errors else ""),
    ]
    return lines


def _share_lines(study: Study, asked: Counter[str]) -> list[str]:
    total = max(asked.total(), 1)
    return [
        f"  {name:<9}  {study.planned.get(name, 0):.0%} planned, {asked[name] / total:.0%} asked"
        for name in dict.fromkeys([*study.planned, *asked])
    ]


def _left_out(study: Study, summary: Summary) -> str:
    if study.exclude.is_empty:
        return "nobody: there are no rules in [exclude]"
    count, total = len(summary.excluded), len(summary.people)
    rules = Counter(why.partition(":")[0] for each in summary.people.values() for why in each.excluded)
    text = ", ".join(f"{rule} ({number})" for rule, number in rules.most_common())
    return f"{count:,} of {total:,} people" + (f": {text}" if text else "")


def _quality_lines(summary: Summary, points: Sequence[Point]) -> list[str]:
    lines = []
    if summary.heldout is not None:
        n, share, low, high = summary.heldout
        text = f"{share:.0%} of {n:,} held-out answers are predicted ({low:.0%} to {high:.0%})"
        lines.append(f"  held out   {text}")
    if not points:
        return [*lines, "  no tree, because there are no answers"]
    last = points[-1]
    best = f"{last.weighted:.2f} weighted by reliability, {last.plain:.2f} without"
    lines.append(f"  AARI       {best}: 1 is the truth, 0 is chance")
    for name, word in (("weighted", "with reliabilities"), ("plain", "without")):
        found = needed(points, name)
        what = "more answers than these" if found is None else f"about {found:,.0f} answers"
        lines.append(f"  AARI {GOAL:g}   {what}, {word}")
    lines.append("  answers    " + "  ".join(f"{point.n_answers:>5,}" for point in points))
    lines.append("  AARI       " + "  ".join(f"{point.weighted:5.2f}" for point in points))
    return lines
