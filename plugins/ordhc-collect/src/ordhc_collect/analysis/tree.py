"""Make the tree from a study's answers, and compare it with the answers."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordhc
from ordhc import Dendrogram, Quadruplets, Triplets
from ordhc.clustering.default import default_posterior
from ordhc.clustering.posterior import Posterior
from ordhc.errors import InputError, OrdhcWarning
from ordhc.evaluate.intervals import FEWEST_UNITS

RESAMPLES = 60
#: Faster settings of the posterior, for trees whose support is not shown.
_QUICK = {"chains": 2, "sweeps": 30}


def people_of(comparisons: Triplets | Quadruplets) -> NDArray[Any]:
    """Return the (m,) names of the people who gave the comparisons; "" if unknown."""
    if comparisons.groups is None or comparisons.group_names is None:
        return np.full(len(comparisons), "", dtype=object)
    return np.array(comparisons.group_names, dtype=object)[comparisons.groups]


def unit_of(comparisons: Triplets | Quadruplets) -> str:
    """Return the unit of resampling: "group" (people) if enough people are known, else "answer"."""
    return "group" if len(set(people_of(comparisons))) >= FEWEST_UNITS else "answer"


def model_of(
    comparisons: Triplets | Quadruplets, *, support: bool = True, seed: int = 0
) -> Posterior | Dendrogram | None:
    """Return the posterior or the tree of a study's comparisons; None without comparisons.

    The posterior is the same as in `ordhc cluster`; the support of a cluster is the share of sampled trees
    that contain the cluster. If sampling would take too long, the result is the tree of the fast default
    method, with support by resampling people (or answers, see `unit_of`). `support=False` is faster, for
    trees whose support is not shown.
    """
    if not len(comparisons):
        return None
    with warnings.catch_warnings():
        # At the beginning of a study many items have no answers; ignore the warnings about these items.
        warnings.simplefilter("ignore", OrdhcWarning)
        try:
            drawn = default_posterior(comparisons, **({} if support else _QUICK))
            if drawn is not None:
                return drawn
            if not support:
                return ordhc.cluster(comparisons)
            unit = unit_of(comparisons)
            return ordhc.bootstrap(comparisons, n_resamples=RESAMPLES, seed=seed, unit=unit).tree
        except InputError:
            return None


def tree_of(model: Posterior | Dendrogram | None) -> Dendrogram | None:
    return model.dendrogram if isinstance(model, Posterior) else model


def agreeing(tree: Dendrogram, table: dict[str, NDArray[Any]], width: int) -> NDArray[np.float64]:
    """Return for each answer 1 if the tree agrees with it, 0 if not, and NaN if the question is undecided.

    A question is undecided if the tree has no answer to it, or if the person answered "none". `table` has the
    answers of a session. `width` is the number of leaves in a question: 3, or 4 for two pairs.
    """
    rows = np.column_stack([table[f"leaf_{position}"].astype(np.int64) for position in range(1, width + 1)])
    answers = table["answer"].astype(np.int64)
    right = ordhc.oracles.from_tree(tree)(rows)
    none = 0 if width == 4 else -1
    return np.where((right == none) | (answers == none), np.nan, (right == answers).astype(float))
