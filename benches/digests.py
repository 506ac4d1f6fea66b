"""Digests of trees, scores and learned sessions: what a change that is not about results must not change.

python benches/digests.py > before.txt
python benches/digests.py | diff before.txt -
"""

import hashlib
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ordhc
from ordhc import metrics, oracles

METHODS = ["adds3-al", "adds4-al", "mulk3-al", "mulk4-al", "3-al", "4-al", "4-sl", "4-cl", "build"]
METHODS += ["adds3-al+spr", "adds4-al+spr", "consistency"]
LINKAGES = ["single", "complete", "average", "weighted", "ward", "centroid", "median"]
LEARNERS = ["insertion", "quick", "robust", "majority", "single", "complete", "4k-active"]


def digest(*parts: object) -> str:
    """The first digits of the SHA-256 of arrays and texts."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return total.hexdigest()[:16]


def of_tree(tree: ordhc.Dendrogram) -> str:
    """The merges and heights of a tree."""
    return digest(np.asarray(tree.merges), np.asarray(tree.heights))


def show(name: str, found: object) -> None:
    """A line of the listing; what fails is listed by its error."""
    try:
        value = found() if callable(found) else found
        text = of_tree(value) if isinstance(value, ordhc.Dendrogram) else digest(value)
    except (ordhc.InputError, ordhc.PluginError, TypeError) as error:
        text = f"{type(error).__name__}: {str(error)[:60]}"
    print(f"{name:60} {text}", flush=True)


def answers() -> dict[str, ordhc.Triplets | ordhc.Quadruplets]:
    """Comparisons: planted, random, and with weights."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 14, (700, 3))
    rows = rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 0] != rows[:, 2]) & (rows[:, 1] != rows[:, 2])]
    points = rng.normal(size=(24, 2))
    asked = rng.permuted(np.tile(np.arange(24), (3000, 1)), axis=1).astype(np.int32)
    odd, closer = (np.asarray(oracles.from_vectors(points)(asked[:, :width])) for width in (3, 4))
    by_odd = np.take_along_axis(asked[:, :3], np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[odd], axis=1)
    pairs = np.where((closer == 1)[:, None], asked[:, :4], asked[:, [2, 3, 0, 1]])
    return {
        "random": ordhc.Triplets(rows, n_leaves=14),
        "weighted": ordhc.Triplets(rows, n_leaves=15, weights=rng.integers(1, 9, len(rows)) / 4),
        "triplets": ordhc.Triplets.from_odd_one_out(by_odd, n_leaves=24),
        "quadruplets": ordhc.Quadruplets(pairs, n_leaves=24),
    }


def of_methods() -> None:
    """Trees of all methods, their scores and refinements."""
    for kind, comparisons in answers().items():
        for method in METHODS:
            show(f"cluster {kind} {method}", lambda c=comparisons, m=method: ordhc.cluster(c, method=m))
        tree = ordhc.cluster(comparisons, method="adds3-al+spr")
        show(f"refine {kind}", lambda t=tree, c=comparisons: ordhc.refine(t, c))
        show(f"scores {kind}", lambda t=tree, c=comparisons: repr(metrics.satisfied(t, c)))
        if isinstance(comparisons, ordhc.Triplets):
            show(f"revenue {kind}", lambda t=tree, c=comparisons: repr(metrics.triplet_revenue(t, c)))
        show(
            f"bootstrap {kind}",
            lambda c=comparisons: np.asarray(ordhc.bootstrap(c, n_resamples=20, seed=1).tree.support),
        )


def of_linkages() -> None:
    """Trees of all linkages of similarities with and without ties, and of vectors."""
    rng = np.random.default_rng(5)
    for kind in ("uniform", "tenths", "whole"):
        upper = rng.random((70, 70)) if kind == "uniform" else rng.integers(0, 9, (70, 70)).astype(float)
        upper = np.triu(upper * 0.1 if kind == "tenths" else upper, 1)
        for linkage in LINKAGES:
            for dissimilarity in (False, True):
                name = f"linkage {kind} {linkage} {'dissimilarity' if dissimilarity else 'similarity'}"
                show(
                    name,
                    lambda u=upper, x=linkage, d=dissimilarity: ordhc.linkage(u + u.T, x, dissimilarity=d),
                )
    vectors = rng.integers(0, 9, (120, 3)).astype(float)
    for measure in ("dot", "cosine", "pca-dot", "euclidean", "sqeuclidean", "manhattan"):
        for linkage in ("average", "single", "ward"):
            show(
                f"vectors {measure} {linkage}",
                lambda m=measure, x=linkage: ordhc.cluster(vectors, similarity=m, linkage=x),
            )
    tree, other = (ordhc.cluster(x, similarity="euclidean") for x in (vectors, rng.normal(size=(120, 3))))
    for metric in (
        "triplet_distance",
        "robinson_foulds",
        "kendall_tau_b",
        "merge_distortion",
        "cophenetic_correlation",
    ):
        show(f"metric {metric}", lambda m=metric: repr(getattr(metrics, m)(tree, other)))


def of_learners() -> None:
    """Trees and questions of learners, with and without errors, and of a session that is reopened."""
    points = np.random.default_rng(7).normal(size=(24, 2))
    truth = ordhc.cluster(points, similarity="euclidean")
    cases: list[tuple[dict[str, Any], float]] = [({"method": method}, 1.0) for method in LEARNERS]
    cases += [({"schedule": schedule}, 1.0) for schedule in ("balanced", "rounds")]
    cases += [({"method": method, "p": 0.9}, 0.9) for method in ("robust", "majority")]
    cases += [
        ({"method": "robust", "p": 0.8, "schedule": "rounds"}, 0.8),
        ({"repeat": 5}, 0.9),
        ({"exact": True}, 1.0),
    ]
    cases += [({"method": "single", "repeat": 3, "budget": 900}, 1.0), ({"parallel": 4, "limit": 6}, 1.0)]
    for settings, accuracy in cases:
        right = oracles.from_tree(truth)
        if settings.get("method") in ("single", "complete", "4k-active"):
            right = oracles.from_vectors(points)
        asked = right if accuracy == 1 else oracles.noisy(right, accuracy, seed=4)
        show(f"learn {settings}", lambda s=settings, o=asked: of_loop(ordhc.Learner(24, **s, seed=2), o))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.ordhc"
        for settings in ({"repeat": 3}, {"method": "robust", "p": 0.9}, {}):
            asked = (
                oracles.noisy(oracles.from_tree(truth), 0.9, seed=1) if settings else oracles.from_tree(truth)
            )
            file.unlink(missing_ok=True)
            with ordhc.Session(file, n_leaves=24, seed=3, **settings) as session:
                of_loop(session, asked, most=60)
                session.undo()
            with ordhc.Session(file) as session:
                show(f"session {settings}", lambda s=session, o=asked: of_loop(s, o))
                show(f"session answers {settings}", digest(*session.answers()[:2]))


def of_loop(learner: Any, oracle: Any, most: int = 10**9) -> str:
    """The tree that is learned, and all questions on the way."""
    asked = []
    while len(asked) < most and len(questions := learner.ask(7)):
        asked.append((questions.ids, questions.rows))
        learner.tell(questions.ids, oracle(questions.rows))
    return digest(*[array for pair in asked for array in pair]) + of_tree(learner.tree())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    of_methods()
    of_linkages()
    of_learners()
