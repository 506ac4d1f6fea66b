"""The built-in metrics."""

from ordhc import _ordhc
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError
from ordhc.hooks import hookimpl
from ordhc.specs import MetricSpec

_SOURCE = "Mandal, Perrot & Ghoshdastidar 2023, equations 3 and 4"


def revenue(tree: Dendrogram, data: Triplets | Quadruplets) -> int | float:
    """Sum over comparisons of w (leaves under the farther pair's LCA - under the closer pair's)."""
    if data.n_leaves != tree.n_leaves:
        raise InputError(f"the tree has {tree.n_leaves} leaves, the comparisons have {data.n_leaves}")
    return _ordhc.revenue(tree._tree, data.rows, data.weights)


@hookimpl
def ordhc_metrics() -> list[MetricSpec]:
    """Register the revenues."""
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
    ]
