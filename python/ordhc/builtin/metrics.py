"""Define the built-in metrics."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from ordhc import metrics
from ordhc.plugins.hooks import hookimpl
from ordhc.plugins.specs import MetricSpec

_REVENUE = "Mandal, Perrot & Ghoshdastidar 2023, equations 3 and 4"
_GRAY = "Gray et al. 2024"


def _metric(score: Callable[..., Any], reference: tuple[str, ...], summary: str, **more: Any) -> MetricSpec:
    """Return the spec of a function of `ordhc.metrics`, with the name and the parameters of the function."""
    parameters = [*signature(score).parameters.values()][2:]
    return MetricSpec(
        name=score.__name__,
        summary=summary,
        score=score,
        reference=reference,
        parameters={each.name: each.default for each in parameters},
        **more,
    )


_METRICS = (
    _metric(
        metrics.triplet_revenue,
        ("triplets",),
        "leaves in the smallest cluster of anchor and far minus of anchor and near, summed",
        source=_REVENUE,
    ),
    _metric(
        metrics.quadruplet_revenue,
        ("quadruplets",),
        "leaves in the smallest cluster of k and l minus of i and j, summed",
        source=_REVENUE,
    ),
    _metric(
        metrics.satisfied, ("triplets", "quadruplets"), "the share of comparisons with which the tree agrees"
    ),
    _metric(
        metrics.answer_accuracy,
        ("triplets", "quadruplets"),
        "the share of answers whose choice is the likeliest one by the tree",
        source="Luce 1959",
    ),
    _metric(
        metrics.dasgupta_cost,
        ("similarity",),
        "similarity times number of leaves below the common ancestor, summed over pairs",
        larger_is_better=False,
        source="Dasgupta 2016",
    ),
    _metric(
        metrics.dasgupta_revenue,
        ("similarity",),
        "similarity times number of leaves not below the common ancestor, summed over pairs",
        source="Mandal, Perrot & Ghoshdastidar 2023, Theorem 1",
    ),
    _metric(
        metrics.cophenetic_correlation,
        ("similarity", "tree"),
        "the correlation of merge heights with similarities or another tree's heights",
        source="Sokal & Rohlf 1962",
    ),
    _metric(
        metrics.silhouette,
        ("similarity",),
        "how compact and separate clusters are, at the best number of clusters",
        source="Rousseeuw 1987",
    ),
    _metric(
        metrics.ari,
        ("labels",),
        "the adjusted Rand index of labels and a cut of the tree",
        source="Hubert & Arabie 1985",
    ),
    _metric(
        metrics.aari,
        ("labels", "tree"),
        "the adjusted Rand index, averaged over levels of nested labels or of a tree",
        source="Ghoshdastidar, Perrot & von Luxburg 2019, section 4.1",
    ),
    _metric(
        metrics.dendrogram_purity,
        ("labels",),
        "the share of a pair's label below its common ancestor, averaged over such pairs",
        source="Heller & Ghahramani 2005",
    ),
    _metric(
        metrics.kendall_tau_b,
        ("tree", "ranking"),
        "the rank correlation of a tree with another tree or ranking, averaged over leaves",
        source=f"{_GRAY}, section 4.1",
    ),
    _metric(
        metrics.merge_distortion,
        ("tree",),
        "the largest difference of merge heights over pairs of leaves",
        larger_is_better=False,
        source=f"{_GRAY}, section 3.1",
    ),
    _metric(
        metrics.triplet_distance,
        ("tree",),
        "the share of sets of three leaves on which two trees differ",
        larger_is_better=False,
        source="Dobson 1975",
    ),
    _metric(
        metrics.robinson_foulds,
        ("tree",),
        "the share of clusters that only one of two trees has",
        larger_is_better=False,
        source="Robinson & Foulds 1981",
    ),
    _metric(
        metrics.entanglement,
        ("tree",),
        "how much the orders of leaves differ when two trees are drawn face to face",
        larger_is_better=False,
        source="Galili 2015",
    ),
)


@hookimpl
def ordhc_metrics() -> list[MetricSpec]:
    return list(_METRICS)
