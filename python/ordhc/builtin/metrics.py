"""Define the built-in metrics."""

from ordhc import metrics
from ordhc.plugins.hooks import hookimpl
from ordhc.plugins.specs import MetricSpec

_REVENUE = "Mandal, Perrot & Ghoshdastidar 2023, equations 3 and 4"
_GRAY = "Gray et al. 2024"


_METRICS = (
    MetricSpec(
        name="triplet_revenue",
        summary="leaves in the smallest cluster of anchor and far minus of anchor and near, summed",
        score=metrics.triplet_revenue,
        reference=("triplets",),
        parameters={"normalize": False, "progress": None},
        source=_REVENUE,
    ),
    MetricSpec(
        name="quadruplet_revenue",
        summary="leaves in the smallest cluster of k and l minus of i and j, summed",
        score=metrics.quadruplet_revenue,
        reference=("quadruplets",),
        parameters={"normalize": False, "progress": None},
        source=_REVENUE,
    ),
    MetricSpec(
        name="satisfied",
        summary="the share of comparisons with which the tree agrees",
        score=metrics.satisfied,
        reference=("triplets", "quadruplets"),
        parameters={"progress": None},
    ),
    MetricSpec(
        name="answer_accuracy",
        summary="the share of answers whose choice is the likeliest one by the tree",
        score=metrics.answer_accuracy,
        reference=("triplets", "quadruplets"),
        source="Luce 1959",
    ),
    MetricSpec(
        name="dasgupta_cost",
        summary="similarity times number of leaves below the common ancestor, summed over pairs",
        score=metrics.dasgupta_cost,
        reference=("similarity",),
        parameters={"progress": None},
        larger_is_better=False,
        source="Dasgupta 2016",
    ),
    MetricSpec(
        name="dasgupta_revenue",
        summary="similarity times number of leaves not below the common ancestor, summed over pairs",
        score=metrics.dasgupta_revenue,
        reference=("similarity",),
        parameters={"progress": None},
        source="Mandal, Perrot & Ghoshdastidar 2023, Theorem 1",
    ),
    MetricSpec(
        name="cophenetic_correlation",
        summary="the correlation of merge heights with similarities or another tree's heights",
        score=metrics.cophenetic_correlation,
        reference=("similarity", "tree"),
        parameters={"dissimilarity": None, "progress": None},
        source="Sokal & Rohlf 1962",
    ),
    MetricSpec(
        name="silhouette",
        summary="how compact and separate clusters are, at the best number of clusters",
        score=metrics.silhouette,
        reference=("similarity",),
        parameters={"n_clusters": None, "dissimilarity": None},
        source="Rousseeuw 1987",
    ),
    MetricSpec(
        name="ari",
        summary="the adjusted Rand index of labels and a cut of the tree",
        score=metrics.ari,
        reference=("labels",),
        parameters={"n_clusters": None},
        source="Hubert & Arabie 1985",
    ),
    MetricSpec(
        name="aari",
        summary="the adjusted Rand index, averaged over levels of nested labels or of a tree",
        score=metrics.aari,
        reference=("labels", "tree"),
        parameters={"levels": None, "progress": None},
        source="Ghoshdastidar, Perrot & von Luxburg 2019, section 4.1",
    ),
    MetricSpec(
        name="dendrogram_purity",
        summary="the share of a pair's label below its common ancestor, averaged over such pairs",
        score=metrics.dendrogram_purity,
        reference=("labels",),
        parameters={"join_ties": False},
        source="Heller & Ghahramani 2005",
    ),
    MetricSpec(
        name="kendall_tau_b",
        summary="the rank correlation of a tree with another tree or ranking, averaged over leaves",
        score=metrics.kendall_tau_b,
        reference=("tree", "ranking"),
        parameters={"include_self": True, "tie_self": False, "dissimilarity": None, "progress": None},
        source=f"{_GRAY}, section 4.1",
    ),
    MetricSpec(
        name="merge_distortion",
        summary="the largest difference of merge heights over pairs of leaves",
        score=metrics.merge_distortion,
        reference=("tree",),
        parameters={"progress": None},
        larger_is_better=False,
        source=f"{_GRAY}, section 3.1",
    ),
    MetricSpec(
        name="triplet_distance",
        summary="the share of sets of three leaves on which two trees differ",
        score=metrics.triplet_distance,
        reference=("tree",),
        parameters={"normalize": True, "join_ties": False, "progress": None},
        larger_is_better=False,
        source="Dobson 1975",
    ),
    MetricSpec(
        name="robinson_foulds",
        summary="the share of clusters that only one of two trees has",
        score=metrics.robinson_foulds,
        reference=("tree",),
        parameters={"normalize": True, "join_ties": False},
        larger_is_better=False,
        source="Robinson & Foulds 1981",
    ),
    MetricSpec(
        name="entanglement",
        summary="how much the orders of leaves differ when two trees are drawn face to face",
        score=metrics.entanglement,
        reference=("tree",),
        larger_is_better=False,
        source="Galili 2015",
    ),
)


@hookimpl
def ordhc_metrics() -> list[MetricSpec]:
    return list(_METRICS)
