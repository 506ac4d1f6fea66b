"""The built-in metrics."""

from dataclasses import dataclass

from ordhc import _ordhc
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError
from ordhc.hooks import hookimpl
from ordhc.specs import MetricSpec

_SOURCE = "Mandal, Perrot & Ghoshdastidar 2023, equations 3 and 4"


def revenue(tree: Dendrogram, data: Triplets | Quadruplets) -> int | float:
    """Sum over comparisons of w (leaves under the farther pair's LCA - under the closer pair's)."""
    _same_leaves(tree, data)
    return _ordhc.revenue(tree._tree, data.rows, data.weights)


@dataclass(frozen=True)
class Satisfied:
    """Shares of the comparisons (of their weight) that a tree agrees with, disagrees with, leaves open.

    As a number (`float(...)`) it is the share agreed.
    """

    agreed: float
    disagreed: float
    unresolved: float

    def __float__(self) -> float:
        return self.agreed


def satisfied(tree: Dendrogram, data: Triplets | Quadruplets) -> Satisfied:
    """The share of comparisons that a tree satisfies.

    It agrees with a triplet (i, j, k) when i and j join before k joins them, and leaves it open when
    j and k join first. It agrees with a quadruplet (i, j, k, l) when i and j join below where k and l
    do, or elsewhere at a closer height.
    """
    _same_leaves(tree, data)
    if not len(data) or (data.weights is not None and not data.weights.any()):
        raise InputError("there are no comparisons (of positive weight) to satisfy")
    weights = _ordhc.satisfied(tree._tree, data.rows, data.weights)
    return Satisfied(*(weight / sum(weights) for weight in weights))


def _same_leaves(tree: Dendrogram, data: Triplets | Quadruplets) -> None:
    if data.n_leaves != tree.n_leaves:
        raise InputError(f"the tree has {tree.n_leaves} leaves, the comparisons have {data.n_leaves}")


@hookimpl
def ordhc_metrics() -> list[MetricSpec]:
    """Register the revenues and the share satisfied."""
    return [
        MetricSpec(
            name="triplet_revenue",
            summary="how much deeper near stands than far, in leaves, summed over triplets",
            score=revenue,
            reference=("triplets",),
            source=_SOURCE,
        ),
        MetricSpec(
            name="quadruplet_revenue",
            summary="how much deeper (i, j) stands than (k, l), in leaves, summed over quadruplets",
            score=revenue,
            reference=("quadruplets",),
            source=_SOURCE,
        ),
        MetricSpec(
            name="satisfied",
            summary="the share of comparisons that the tree agrees with",
            score=satisfied,
            reference=("triplets", "quadruplets"),
        ),
    ]
