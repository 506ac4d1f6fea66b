"""Ghoshdastidar, Perrot & von Luxburg: Foundations of comparison-based hierarchical clustering, on the
planted model: Figure 2 of NeurIPS 2019, and Figures 2 and 4 of the first version, which differ in methods.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

import ordhc
from reproduce import complete, curves, methods, report
from reproduce.framework import Cell, Experiment, Line, Result, Results

SNRS = tuple(round(0.2 * step, 1) for step in range(1, 11))
FINE = tuple(round(0.1 * step, 1) for step in (*range(1, 11), *range(12, 21, 2)))
SHARES = (0.01, 0.1, 1.0)
SIZES = (1, 2, 3, 5, 10)
ACTIVE, ALL_LANDMARKS = "4K-AL-act", "4K-AL-act, q = 1"
LEARNERS = {"SL": "single", "CL": "complete", ACTIVE: "4k-active", ALL_LANDMARKS: "4k-active"}
INITIAL = {"4-AL-I3": 3, "4-AL-I5": 5}
METHODS = ("SL", "CL", "4K-AL", ALL_LANDMARKS, ACTIVE, "4-AL", *INITIAL)
FIRST = ("SL", "CL", "4-AL", "3-AL", "3K-AL")
_QUICK = 10


def initial_clusters(labels: np.ndarray, size: int, seed: int) -> np.ndarray | None:
    """Labels of a random partition of each pure cluster into parts of `size` leaves, the last up to twice."""
    if size == 1:
        return None
    rng = np.random.default_rng([seed, size])
    found = np.empty(len(labels), dtype=np.int64)
    for pure in np.unique(labels[:, -1]):
        leaves = rng.permutation(np.flatnonzero(labels[:, -1] == pure))
        parts = max(len(leaves) // size, 1)
        found[leaves] = len(labels) * pure + np.minimum(np.arange(len(leaves)) // size, parts - 1)
    return found


def learnt(method: str, S: np.ndarray, p: float, seed: int) -> tuple[ordhc.Dendrogram, int]:
    """What a learner finds who asks for the order of pairs, and how many questions it asks.

    The active kernel may ask as many as there are quadruplets in a share p.
    """
    n = len(S)
    chosen: Any = LEARNERS[method]
    budget = None
    if method in (ACTIVE, ALL_LANDMARKS):
        pairs = n * (n - 1) // 2
        q = math.log(n) / n if method == ACTIVE else 1.0
        chosen, budget = ordhc.learners.FourKActive(q=q), int(p * pairs * (pairs - 1) / 2)
    learner = ordhc.Learner(n, chosen, seed=seed, budget=budget)
    return ordhc.learn(ordhc.oracles.from_similarity(S), learner=learner), learner.status.n_answered


@lru_cache(maxsize=1)
def planted(snr: float, n_pure: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return similarities and nested labels of the planted model with three levels."""
    return ordhc.datasets.planted_similarities(leaves_per_cluster=n_pure, delta=0.1 * snr, seed=seed)


@lru_cache(maxsize=1)
def _quadruplets(snr: float, p: float, n_pure: int, seed: int) -> ordhc.Quadruplets:
    S, _ = planted(snr, n_pure, seed)
    return ordhc.datasets.comparisons_of(S, share=p, quadruplets=True, seed=seed)


@lru_cache(maxsize=1)
def _triplets(snr: float, n_pure: int, seed: int) -> ordhc.Triplets:
    return ordhc.datasets.comparisons_of(planted(snr, n_pure, seed)[0])


def aari(method: str, snr: float, p: float, size: int, n_pure: int, seed: int) -> Result:
    """The AARI of a method that has a share p of comparisons, and initial clusters of a size."""
    S, labels = planted(snr, n_pure, seed)
    size = INITIAL.get(method, size)
    initial = initial_clusters(labels, size, seed)
    plain = method.partition("-I")[0]
    if method == ALL_LANDMARKS and p == 1:
        tree = complete.four_k(S, with_adds=False)
    elif method in LEARNERS and initial is None:
        tree, asked = learnt(method, S, p, seed)
        return {**_scores(tree, labels), "questions": float(asked)}
    elif method in LEARNERS:
        # A learner takes no initial clusters; the linkage of similarities does, and gives the same tree.
        tree = ordhc.linkage(S, LEARNERS[method], dissimilarity=False, initial_clusters=initial)
    elif plain in ("3-AL", "3K-AL"):
        tree = methods.fit(plain, _triplets(snr, n_pure, seed), seed, initial_clusters=initial)
    elif p == 1:
        tree = {"4-AL": complete.four_al, "4K-AL": complete.four_k}[plain](S, initial)
    else:
        drawn = _quadruplets(snr, p, n_pure, seed)
        tree = methods.fit(plain, drawn, seed, initial_clusters=initial)
    return _scores(tree, labels)


def _scores(tree: ordhc.Dendrogram, labels: np.ndarray) -> Result:
    by_depth = ordhc.metrics.aari(tree, labels, levels="depth")
    return {"aari": ordhc.metrics.aari(tree, labels), "by depth": by_depth}


def _cell(labels: tuple[str, ...], method: str, snr: float, p: float, size: int, quick: bool) -> Cell:
    n_pure = _QUICK if quick else 30
    if p == 0.1 and method == ACTIVE and not quick:
        # All reference pairs are asked about already.
        p = 1.0
    # Without a share of comparisons to look at, it is the same run.
    share = "" if method in ("SL", "CL", "3-AL", "3K-AL") else f"/{p}"
    return Cell(
        key=f"foundations/planted/{method}{share}/{size}/{snr}".replace(", ", "-").replace(" ", ""),
        labels=labels,
        run=partial(aari, method, snr, p, size, n_pure),
        number="aari",
        seeds=2 if quick else 10,
        simulated=True,
        settings={"n": 8 * n_pure},
    )


def _share(p: float) -> str:
    return f"p = {p:g}"


def _size(m: int) -> str:
    return f"m = {m}"


def figure2(quick: bool) -> list[Cell]:
    """AARI by share of comparisons, method and signal-to-noise ratio."""
    return [
        _cell((_share(p), method, str(snr)), method, snr, p, 1, quick)
        # The cheap ones first.
        for p in (1.0, 0.01, 0.1)
        for snr in (SNRS[4::5] if quick else SNRS[1::2] if p == 0.1 else SNRS)
        for method in METHODS
    ]


def figure4(quick: bool) -> list[Cell]:
    """AARI by size of initial clusters, method and signal-to-noise ratio, from all comparisons."""
    return [
        _cell((_size(m), method, str(snr)), method, snr, 1.0, m, quick)
        # So that the comparisons are drawn once for all sizes.
        for snr in ((0.3, 1.0, 2.0) if quick else FINE)
        for m in ((1, 3, 10) if quick else SIZES)
        for method in FIRST
    ]


# --- claims ----------------------------------------------------------------------------------

_EXACT = 0.99


def _recovers(points: dict[float, list[Result]], number: str = "aari") -> float:
    """The smallest ratio from which on trees are right at all levels; infinite if there is none."""
    found = math.inf
    for snr in sorted(points, reverse=True):
        if curves.mean(points[snr], number) < _EXACT:
            break
        found = snr
    return found


def _from(points: dict[float, list[Result]], number: str = "aari") -> str:
    found = _recovers(points, number)
    return f"right from {found:g}" if found < math.inf else "nowhere right"


def _area(points: dict[float, list[Result]], number: str = "aari") -> float:
    """The mean AARI over all ratios."""
    return sum(curves.mean(results, number) for results in points.values()) / len(points)


def _text(means: Mapping[str, float], sign: str = "") -> str:
    return "mean AARI " + ", ".join(f"{name} {mean:{sign}.3f}" for name, mean in means.items())


_Claim = tuple[str, str, Callable[[], tuple[str, bool]]]


def _judged(results: Results, claims: Sequence[_Claim]) -> list[Line]:
    """Claims of some panels, or of all together."""
    found = []
    for names, said, judge in claims:
        chosen = {
            c: seeds for c, seeds in results.items() if names == "all" or c.labels[0] in names.split(", ")
        }
        found.append(report.claim((names,), said, chosen, judge))
    return found


def claims2(results: Results) -> list[Line]:
    """What the text of NeurIPS 2019 says."""

    def at(p: float) -> dict[str, dict[float, list[Result]]]:
        return curves.lines(results, _share(p))

    passive = ("4K-AL", ALL_LANDMARKS, "4-AL")

    def single() -> tuple[str, bool]:
        top = curves.mean(at(1)["SL"][max(at(1)["SL"])], "aari")
        return f"{_from(at(1)['SL'])}; AARI {top:.2f} at {max(at(1)['SL']):g}", top < _EXACT

    def complete() -> tuple[str, bool]:
        means = {method: _area(at(1)[method]) for method in ("CL", "SL")}
        return _text(means), means["CL"] > means["SL"]

    def exact(p: float) -> tuple[str, bool]:
        means = {method: _area(at(p)[method]) for method in (*passive, "CL")}
        text = ", ".join(f"{method} {_from(at(p)[method])}" for method in passive)
        return f"{text}; {_text(means)}", means.pop("CL") < min(means.values())

    def best(p: float) -> tuple[str, bool]:
        means = {method: _area(at(p)[method]) for method in METHODS}
        leading = dict(sorted(means.items(), key=lambda entry: -entry[1])[:3])
        return f"{_text(leading)}; {_from(at(p)['4-AL-I5'])}", means["4-AL-I5"] == max(means.values())

    def landmarks(p: float) -> tuple[str, bool]:
        means = {method: _area(at(p)[method]) for method in (ACTIVE, "4K-AL")}
        return _text(means), means[ACTIVE] > means["4K-AL"] - 0.1

    def degrade() -> tuple[str, bool]:
        falls = {m: _area(at(0.01)[m]) - _area(at(1)[m]) for m in (*passive, ACTIVE)}
        return f"p = 0.01 instead of 1: {_text(falls, '+')}", min(falls.values()) > -0.1

    found: list[_Claim] = [
        (_share(1), "SL hardly recovers the hierarchy, even for large ratios", single),
        (_share(1), "CL performs better than SL", complete),
    ]
    for p in SHARES:
        found += [
            (_share(p), "4K-AL, 4K-AL-act and 4-AL need smaller ratios than CL", partial(exact, p)),
            (_share(p), "so does 4K-AL-act with q = ln n / n, like 4K-AL", partial(landmarks, p)),
            (_share(p), "4-AL-I5 is the best, right even for very small ratios", partial(best, p)),
        ]
    said = "performances do not degrade much with fewer comparisons"
    found.append((f"{_share(0.01)}, {_share(1)}", said, degrade))
    return _judged(results, found)


def claims4(results: Results) -> list[Line]:
    """What the text of the first version says."""

    def at(m: int) -> dict[str, dict[float, list[Result]]]:
        return curves.lines(results, _size(m))

    def number(method: str) -> str:
        # 3-AL's heights do not say in which order the levels were merged.
        return "by depth" if method == "3-AL" else "aari"

    def low(m: int, method: str) -> float:
        return _area({snr: found for snr, found in at(m)[method].items() if snr <= 0.6}, number(method))

    def small() -> tuple[str, bool]:
        means = {method: low(1, method) for method in FIRST}
        return f"up to 0.6: {_text(means)}", max(means, key=lambda method: means[method]) == "3K-AL"

    def later() -> tuple[str, bool]:
        high = {
            method: _area({snr: found for snr, found in at(1)[method].items() if snr > 1}, number(method))
            for method in ("4-AL", "3-AL", "3K-AL")
        }
        return f"above 1: {_text(high)}", max(high["4-AL"], high["3-AL"]) > high["3K-AL"]

    def below_one() -> tuple[str, bool]:
        ours = {method: _recovers(at(3)[method], number(method)) for method in ("4-AL", "3-AL")}
        text = ", ".join(f"{method} {_from(at(3)[method], number(method))}" for method in ours)
        return text, max(ours.values()) < 1

    def ten() -> tuple[str, bool]:
        return f"4-AL {_from(at(10)['4-AL'])}", _recovers(at(10)["4-AL"]) <= 0.3

    def alike() -> tuple[str, bool]:
        gaps = {_size(m): _area(at(m)["4-AL"]) - _area(at(m)["3-AL"], number("3-AL")) for m in SIZES if at(m)}
        return f"4-AL minus 3-AL: {_text(gaps, '+')}", max(map(abs, gaps.values())) < 0.1

    def little() -> tuple[str, bool]:
        gains = {m: _area(at(10)[m]) - _area(at(1)[m]) for m in ("SL", "CL", "3K-AL", "4-AL")}
        return f"m = 10 instead of 1: {_text(gains, '+')}", max(list(gains.values())[:3]) < 0.1

    return _judged(
        results,
        [
            (_size(1), "3K-AL is the best for very small ratios", small),
            (_size(1), "as the ratio increases 4-AL or 3-AL are the better choice", later),
            (_size(3), "4-AL and 3-AL are right even for ratios below 1", below_one),
            (_size(10), "4-AL is right for ratios as low as 0.3", ten),
            ("all", "4-AL and 3-AL perform very similarly", alike),
            ("all", "initial clusters have little effect on 4-SL, 4-CL and 3K-AL", little),
        ],
    )


_CLOSED = """All 411 million quadruplets of 240 leaves are not listed: 4-AL and 4K-AL are computed from the
order of similarities, with the same result (`complete.py`)."""
EXPERIMENTS = (
    Experiment(
        name="foundations/figure2",
        title="Foundations, Figure 2: AARI by signal-to-noise ratio and share p of known quadruplets",
        columns=("panel",),
        cells=figure2,
        lines=claims2,
        draw=curves.figure([[curves.Panel(_share(p), "aari", "AARI") for p in SHARES]], "delta / sigma"),
        remarks=f"""The planted model with n = 240, as in NeurIPS 2019; the paper prints no numbers, and
*published* is what its text says. *Right* means a mean AARI of 0.99 there and from there on; *mean AARI* is
over all ratios. With p = 0.1 a run of 4K-AL takes up to a minute, so there are five ratios. SL, CL and
4K-AL-act are learners that ask for as many reference pairs as p allows. The text has q = ln n / n, 5 or 6
landmarks, with which p = 0.1 is enough for all reference pairs; the authors' code takes all leaves as
landmarks, which is *q = 1*. {_CLOSED}""",
    ),
    Experiment(
        name="foundations/figure4",
        title="Foundations (first version), Figures 2 and 4: AARI if methods start from groups of m leaves "
        "of the same true cluster",
        columns=("panel",),
        cells=figure4,
        lines=claims4,
        draw=curves.figure([[curves.Panel(_size(m), "aari", "AARI") for m in SIZES]], "delta / sigma"),
        remarks=f"""All comparisons of the planted model with n = 240, and m leaves of each pure cluster
merged before. *Right* means a mean AARI of 0.99 there and from there on; *mean AARI* is over all ratios. SL
and CL are called 4-SL and 4-CL there; with initial clusters they are the linkages of the similarities, which
are the same. Levels of 3-AL's trees are taken by depth, `aari(..., levels="depth")`, of all others by cuts
into 2, 4 and 8 clusters: 3-AL's heights do not say in which order different branches merge. {_CLOSED}""",
    ),
)
