"""Ghoshdastidar, Perrot & von Luxburg: Foundations of comparison-based hierarchical clustering, NeurIPS 2019:
Proposition 1 and Theorems 1 to 4 as figures.
"""

import math
from functools import partial

import numpy as np

import ordhc
from reproduce import curves, methods, report
from reproduce.foundations_planted import initial_clusters
from reproduce.framework import Cell, Experiment, Line, Result, Results

SIZES = (32, 64, 128, 256)
MORE = (100, 200, 400, 800)
#: Signal-to-noise ratios in multiples of sqrt(ln N).
MULTIPLES = (0.5, 1.0, 1.5, 2.0, 3.0)
ETA = 0.05
SNR = 2.0
PROPOSITION1, THEOREM1, SUFFICIENT = "Proposition 1", "Theorem 1", "Theorem 1, sufficient"
THEOREM2, THEOREM3, THEOREM4 = "Theorem 2", "Theorem 3", "Theorem 4"
LINKAGES = {"SL": "single", "CL": "complete"}
#: Leaves in an initial cluster, and the constants of the shares of quadruplets.
M, C3, C4 = 8, 0.1, 0.02


def _planted(n: int, snr: float, seed: int, levels: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return ordhc.datasets.planted_similarities(
        levels=levels, leaves_per_cluster=n // 2**levels, delta=0.1 * snr, seed=seed
    )


def _is_right(tree: ordhc.Dendrogram, labels: np.ndarray) -> float:
    return float(ordhc.metrics.aari(tree, labels) == 1)


def active_linkage(linkage: str, n: int, seed: int) -> Result:
    """Return the questions of active single or complete linkage, and whether the tree is the linkage's."""
    S, _ = _planted(n, 1.0, seed)
    learner = ordhc.Learner(n, LINKAGES[linkage], seed=seed)
    tree = ordhc.learn(ordhc.oracles.from_similarity(S), learner=learner)
    wrong = ordhc.metrics.robinson_foulds(tree, ordhc.linkage(S, LINKAGES[linkage], dissimilarity=False)) > 0
    return {"ratio": learner.status.n_answered / n**2, "wrong": float(wrong)}


def recovered(linkage: str, snr: float, n: int, seed: int) -> Result:
    """Return whether single or complete linkage of all comparisons finds the hierarchy of two levels."""
    S, labels = _planted(n, snr, seed, levels=2)
    return {"right": _is_right(ordhc.linkage(S, LINKAGES[linkage], dissimilarity=False), labels)}


def active_kernel(n_references: int, n: int, seed: int) -> Result:
    """Return whether active 4K-AL with q = 8 ln N / N finds two clusters, and how many questions it asks."""
    S, labels = _planted(n, SNR, seed)
    method = ordhc.learners.FourKActive(q=8 * math.log(n) / n, n_references=n_references)
    learner = ordhc.Learner(n, method, seed=seed)
    tree = ordhc.learn(ordhc.oracles.from_similarity(S), learner=learner)
    return {"right": _is_right(tree, labels), "ratio": learner.status.n_answered / (n * math.log(n))}


def passive_share(theorem: str, n: int) -> float:
    """Return the share of quadruplets: O(N^(7/2) ln N) of them for 4K-AL, O(N^4 ln N / m) for 4-AL."""
    return C3 * math.log(n) / math.sqrt(n) if theorem == THEOREM3 else C4 * math.log(n) / M


def passive(theorem: str, n: int, seed: int) -> Result:
    """Return whether 4K-AL, or 4-AL with initial clusters, finds two clusters from a share of quadruplets."""
    S, labels = _planted(n, SNR, seed)
    share = min(passive_share(theorem, n), 1.0)
    drawn = ordhc.datasets.comparisons_of(S, share=share, quadruplets=True, seed=seed)
    if theorem == THEOREM3:
        tree = methods.fit("4K-AL", drawn, seed)
    else:
        tree = methods.fit("4-AL", drawn, seed, initial_clusters=initial_clusters(labels, M, seed))
    return {"right": _is_right(tree, labels), "share": share}


def _cell(labels: tuple[str, ...], run: partial[Result], number: str, quick: bool) -> Cell:
    key = "/".join(("foundations", "theorems", *labels)).replace(", ", "-").replace(" ", "-")
    return Cell(key, labels, run, number, 2 if quick else 10, simulated=True)


def cells(quick: bool) -> list[Cell]:
    """By theorem, method and N or ratio."""
    sizes, more = (SIZES[:2], MORE[:1]) if quick else (SIZES, MORE)
    found = [
        _cell((PROPOSITION1, name, str(n)), partial(active_linkage, name, n), "ratio", quick)
        for n in sizes
        for name in LINKAGES
    ]
    for n in sizes if quick else (*sizes, 1024):
        root = math.sqrt(math.log(n))
        found += [
            _cell(
                (f"{THEOREM1}, N = {n}", name, str(k)), partial(recovered, name, k * root, n), "right", quick
            )
            for name in LINKAGES
            for k in MULTIPLES
        ]
        enough = 4 * math.sqrt(math.log(n / ETA))
        found += [
            _cell((SUFFICIENT, name, str(n)), partial(recovered, name, enough, n), "right", quick)
            for name in LINKAGES
        ]
    found += [
        _cell(
            (THEOREM2, f"{references} references", str(n)),
            partial(active_kernel, references, n),
            "right",
            quick,
        )
        for n in more
        for references in (1, 4)
    ]
    return found + [
        _cell((theorem, method, str(n)), partial(passive, theorem, n), "right", quick)
        for theorem, method in ((THEOREM3, "4K-AL"), (THEOREM4, f"4-AL, m = {M}"))
        for n in sizes
    ]


def claims(results: Results) -> list[Line]:
    """What each theorem says."""

    def of(panel: str, number: str = "right") -> dict[str, dict[float, float]]:
        return {
            name: {x: curves.mean(runs, number) for x, runs in sorted(points.items())}
            for name, points in curves.lines(results, panel).items()
        }

    def proposition1() -> tuple[str, bool]:
        ratios, wrong = of(PROPOSITION1, "ratio"), of(PROPOSITION1, "wrong")
        ends = {name: (next(iter(at.items())), list(at.items())[-1]) for name, at in ratios.items()}
        text = "; ".join(
            f"{name} {a:.2f} N^2 at {n:.0f}, {b:.2f} at {m:.0f}" for name, ((n, a), (m, b)) in ends.items()
        )
        slow = all(0.3 < b <= a * math.log(m) / math.log(n) for (n, a), (m, b) in ends.values())
        return text, slow and not any(max(at.values()) for at in wrong.values())

    def sufficient() -> tuple[str, bool]:
        shares = [share for at in of(SUFFICIENT).values() for share in at.values()]
        return f"{np.mean(shares):.0%} of the trees right", float(np.mean(shares)) >= 1 - ETA

    def converse() -> tuple[str, bool]:
        low = [at[MULTIPLES[0]] for panel in panels1 for name, at in of(panel).items() if name == "SL"]
        return f"at {MULTIPLES[0]} sqrt(ln N) SL finds {np.mean(low):.0%} of the trees", max(low) == 0

    def theorem2() -> tuple[str, bool]:
        right, ratio = of(THEOREM2), of(THEOREM2, "ratio")
        text = "; ".join(
            f"{name} {np.mean(list(at.values())):.0%} right, at most {max(ratio[name].values()):.0f} N ln N"
            for name, at in right.items()
        )
        # Each of q N landmarks is compared with all N leaves, for each of 4 references.
        bounded = max(ratio["4 references"].values()) <= 1.25 * 4 * 8
        return text, float(np.mean(list(right["4 references"].values()))) > 0.9 and bounded

    def of_shares(theorem: str) -> tuple[str, bool]:
        ((_, right),), ((_, shares),) = of(theorem).items(), of(theorem, "share").items()
        text = ", ".join(f"{right[n]:.0%} right from {shares[n]:.1%} at {n:.0f}" for n in right)
        return text, list(right.values())[-1] >= 0.9 and list(right.values())[-1] >= next(
            iter(right.values())
        )

    panels1 = [
        name
        for name in dict.fromkeys(cell.labels[0] for cell in results)
        if name.startswith(f"{THEOREM1}, N")
    ]
    judged = (
        ((PROPOSITION1,), "SL and CL ask between Omega(N^2) and O(N^2 ln N) questions", proposition1),
        (
            (SUFFICIENT,),
            f"SL and CL are right with probability {1 - ETA} at 4 sqrt(ln (N / eta))",
            sufficient,
        ),
        (tuple(panels1), "SL needs a ratio that grows as sqrt(ln N)", converse),
        ((THEOREM2,), "active 4K-AL is right at a constant ratio from O(N ln N) questions", theorem2),
        (
            (THEOREM3,),
            "passive 4K-AL is right from O(N^(7/2) ln N) quadruplets",
            partial(of_shares, THEOREM3),
        ),
        (
            (THEOREM4,),
            "4-AL with initial clusters is right from O(N^4 ln N / m) quadruplets",
            partial(of_shares, THEOREM4),
        ),
    )
    lines = []
    for panels, said, judge in judged:
        chosen = {cell: seeds for cell, seeds in results.items() if cell.labels[0] in panels}
        label = panels[0] if len(panels) == 1 else f"{THEOREM1}, converse"
        lines.append(report.claim((label,), said, chosen, judge))
    return lines


EXPERIMENTS = (
    Experiment(
        name="foundations/theorems",
        title="Foundations, Proposition 1 and Theorems 1 to 4: how much data methods need for the right tree",
        columns=("what",),
        cells=cells,
        lines=claims,
        draw=curves.figure(
            [
                [
                    curves.Panel(PROPOSITION1, "ratio", "questions / N^2"),
                    curves.Panel(f"{THEOREM1}, N = 256", "right", "trees right"),
                    curves.Panel(THEOREM2, "ratio", "questions / (N ln N)"),
                    curves.Panel(THEOREM3, "right", "trees right"),
                    curves.Panel(THEOREM4, "right", "trees right"),
                ]
            ],
            "N; in Theorem 1 delta / sigma / sqrt(ln N)",
        ),
        remarks=f"""The planted model with two clusters; in Theorem 1 with four. *Right* means an AARI of 1.
Theorems 2 to 4 are at a constant ratio of {SNR:g}: Theorem 2 with q = 8 ln N / N, and one or four reference
pairs; Theorem 3 with a share {C3} ln N / sqrt(N) of the quadruplets; Theorem 4 with a share {C4} ln N / m
and initial clusters of m = {M} leaves.""",
    ),
)
