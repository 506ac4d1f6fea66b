"""Fit structures to the answers outside a fold, and predict the answers inside."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc._progress import Progress
from ordhc.clustering.cluster import cluster
from ordhc.clustering.posterior import Posterior, posterior
from ordhc.clustering.sampling import CHAINS, seconds_of, sweeps_for
from ordhc.comparison.choices import Choices, Kind
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of
from ordhc.errors import InputError, OrdhcWarning
from ordhc.evaluate.structure.spaces import (
    Fitted,
    chosen_clusters,
    chosen_effects,
    chosen_points,
    with_signs,
)
from ordhc.evaluate.trials import split
from ordhc.similarities.similarity import similarity
from ordhc.tree.dendrogram import Dendrogram

Floats = NDArray[np.float64]
Tables = list[Floats]

EFFECTS, FLAT, POINTS = "lengths alone", "flat clusters", "points"
ULTRAMETRIC, ADDITIVE = "ultrametric tree", "additive tree"
DIMENSIONS = (1, 2, 3, 5)
#: The tasks of a fold; `POINTS` fits all structures that are not trees.
PARTS = (ULTRAMETRIC, ADDITIVE, POINTS)
#: Number of chains of each tree model. The number of sweeps of a chain (a sweep moves every leaf once) is
#: `_SWEEPS` for at most `_MANY` comparisons, and `_SWEEPS_OF_MANY` for more.
_CHAINS, _SWEEPS, _SWEEPS_OF_MANY, _MANY = 2, 60, 30, 10_000
#: Seconds that the fit of points takes for each row, and for each pair of leaves.
_OF_ROWS, _OF_PAIRS = 2.5e-5, 3e-5
#: Share of the training answers that is set aside to choose priors.
_APART = 0.15


#: Predictions of a task: for each structure, tables of probabilities, one for each kind of answer.
Found = dict[str, Tables]


@dataclass(frozen=True)
class Trial:
    """Answers with their folds; all answers of a unit (a person or a question) are in one fold.

    `units` (m,) has the unit of each row, `parts` (u,) the fold of each unit.
    """

    data: Triplets | Quadruplets
    units: NDArray[np.int64]
    parts: NDArray[np.int64]
    seed: int

    def parted(self, fold: int) -> tuple[Triplets | Quadruplets, Triplets | Quadruplets]:
        """Return the answers outside a fold, and the answers inside."""
        held = self.parts[self.units] == fold
        return self.data[~held], self.data[held]

    def units_of_answers(self) -> NDArray[np.int64]:
        numbers = answers_of(self.data)
        found = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
        found[numbers] = self.units
        return found

    def numbers_of_answers(self, fold: int) -> NDArray[np.int64]:
        """Return the numbers of the answers inside a fold, in order of first appearance in the data."""
        numbers = answers_of(self.data)[self.parts[self.units] == fold]
        found: NDArray[np.int64] = numbers[np.sort(np.unique(numbers, return_index=True)[1])]
        return found

    def predicted(self, fold: int, what: str, progress: Progress | None) -> Found:
        """Fit the structures `what` (one of `PARTS`) outside a fold, and predict the answers inside."""
        train, test = self.parted(fold)
        kinds = Choices.of(test).kinds
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrdhcWarning)
            if what == POINTS:
                found = self._spaces(train, kinds)
            else:
                trees = _trees(train, what == ADDITIVE, self.seed + fold)
                found = {what: list(map(trees.answer_tables(test), kinds))}
        if progress is not None:
            progress(1.0)
        return found

    def tree(self) -> Dendrogram:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrdhcWarning)
            return _trees(self.data, True, self.seed).dendrogram

    def _spaces(self, train: Triplets | Quadruplets, kinds: tuple[Kind, ...]) -> Found:
        inner, apart = _split(train, self.seed)
        some, rest, whole = Choices.of(inner), Choices.of(apart), Choices.of(train)
        effects, deviation = chosen_effects(some, rest, whole)
        flat = chosen_clusters(some, rest, whole, deviation, (_cuts(inner), _cuts(train)))
        dimensions = tuple(d for d in DIMENSIONS if d < train.n_leaves)
        models, weights = chosen_points(some, rest, whole, deviation, dimensions, _spectral(inner))
        by_name: dict[str, Fitted] = {EFFECTS: effects, FLAT: flat}
        by_name |= {named(d): models[d] for d in sorted(models)}
        found = {name: list(map(model, kinds)) for name, model in by_name.items()}
        found[POINTS] = [
            np.average([found[named(d)][at] for d in weights], axis=0, weights=list(weights.values()))
            for at in range(len(kinds))
        ]
        return found


def seconds_needed(data: Triplets | Quadruplets, folds: int) -> float:
    """Return an estimate of the processor time of `structure`, in seconds.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=8)
    >>> 1 < seconds_needed(t, 5) < 10
    True
    """
    share = _CHAINS * _sweeps(data) / (CHAINS * sweeps_for(len(data)))
    of_points = _OF_ROWS * len(data) + _OF_PAIRS * data.n_leaves**2
    return (2 * folds + 1) * share * seconds_of(data) + folds * of_points


def _sweeps(data: Triplets | Quadruplets) -> int:
    return _SWEEPS if len(data) <= _MANY else _SWEEPS_OF_MANY


def _trees(data: Triplets | Quadruplets, lengths: bool, seed: int) -> Posterior:
    return posterior(data, lengths=lengths, chains=_CHAINS, sweeps=_sweeps(data), seed=seed, repeats="new")


def named(dimensions: int) -> str:
    return "points in 1 dimension" if dimensions == 1 else f"points in {dimensions} dimensions"


def _split(data: Triplets | Quadruplets, seed: int) -> tuple[Triplets | Quadruplets, Triplets | Quadruplets]:
    """Split answers at random: about 6/7 to fit models, and the rest to choose the priors of the models.

    All answers of a person are in the same part. If people are unknown, all answers to a question are in the
    same part. If there are too few people (or questions) for this, each part has half of the questions.
    """
    count = round(1 / _APART)
    try:
        units, parts, _ = split(data, count, seed)
    except InputError:
        units, parts, _ = split(data, 2, seed, unit="answer")
    is_apart = parts[units] == 0
    return data[~is_apart], data[is_apart]


def _cuts(data: Triplets | Quadruplets) -> Callable[[int], NDArray[np.int64]]:
    # Do not use the default method of `cluster`, because it would take most of the time.
    tree: Dendrogram = cluster(data, method="adds3-al" if isinstance(data, Triplets) else "adds4-al")
    return lambda number: np.asarray(tree.cut(n_clusters=number))


def _spectral(data: Triplets | Quadruplets) -> Floats:
    """Return (n, d) points at which a fit begins: leading eigenvectors of the centred similarities."""
    S = np.array(similarity(data, "adds3" if isinstance(data, Triplets) else "adds4"), dtype=np.float64)
    np.fill_diagonal(S, 0.0)
    S -= S.mean(axis=0)
    S -= S.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    count = min(max(DIMENSIONS), len(S))
    return with_signs(vectors[:, -count:][:, ::-1] * np.sqrt(np.maximum(values[-count:][::-1], 1e-12)))
