"""Define the built-in similarities."""

from functools import partial

from ordhc.plugins.hooks import hookimpl
from ordhc.plugins.specs import SimilaritySpec
from ordhc.similarities.comparisons import adds, four_k, mulk3, mulk4
from ordhc.similarities.measures import cosine, dot, euclidean, manhattan, pca_cosine, pca_dot, pdist

__all__ = ["ordhc_similarities"]

PCA_SETTINGS = {"n_components": "wasserstein", "max_components": 50, "candidates": None, "seed": None}
_SOURCE = "Mandal, Perrot & Ghoshdastidar 2023, Theorem 1"
_SOURCE_K = "Ghoshdastidar, Perrot & von Luxburg 2019"


_SIMILARITIES = (
    SimilaritySpec(
        name="adds3",
        summary="each triplet adds 1 to (anchor, near) and subtracts 1 from (anchor, far)",
        build=adds,
        data=("triplets",),
        parameters={"lengths": False},
        source=_SOURCE,
    ),
    SimilaritySpec(
        name="adds4",
        summary="each quadruplet adds 1 to (i, j) and subtracts 1 from (k, l)",
        build=adds,
        data=("quadruplets",),
        parameters={"lengths": False},
        source=_SOURCE,
    ),
    SimilaritySpec(
        name="mulk3",
        summary="Kendall's kernel: two leaves, as anchors, agree on which of two other leaves is closer",
        build=mulk3,
        data=("triplets",),
        parameters={"normalize": True},
        source="Kleindessner & von Luxburg 2017; " + _SOURCE_K + ", equation 8",
    ),
    SimilaritySpec(
        name="mulk4",
        summary="two leaves, paired with a third, agree on being closer than another pair",
        build=mulk4,
        data=("quadruplets",),
        source=_SOURCE_K,
    ),
    SimilaritySpec(
        name="4k",
        summary="the published kernel of quadruplets: mulk4 + 2 adds4",
        build=four_k,
        data=("quadruplets",),
        source=_SOURCE_K + ", NeurIPS version, equation 3",
    ),
    *(
        SimilaritySpec(
            name=name,
            summary=summary,
            factor=factor,
            data=("vectors",),
            parameters=parameters,
            source="Gray et al. 2024",
        )
        for name, summary, factor, parameters in [
            ("dot", "the dot product of vectors, divided by their length p", dot, {}),
            ("cosine", "the cosine of the angle between vectors", cosine, {}),
            ("pca-dot", "the dot product of principal components, divided by p", pca_dot, PCA_SETTINGS),
            ("pca-cosine", "the cosine between principal components", pca_cosine, PCA_SETTINGS),
        ]
    ),
    SimilaritySpec(
        name="euclidean",
        summary="the Euclidean distance of vectors, a dissimilarity",
        build=euclidean,
        dissimilarity=True,
        data=("vectors",),
    ),
    SimilaritySpec(
        name="sqeuclidean",
        summary="the squared Euclidean distance of vectors, a dissimilarity",
        build=partial(euclidean, squared=True),
        dissimilarity=True,
        data=("vectors",),
    ),
    SimilaritySpec(
        name="manhattan",
        summary="the sum of absolute differences of vectors, a dissimilarity",
        build=manhattan,
        dissimilarity=True,
        data=("vectors",),
    ),
    SimilaritySpec(
        name="pdist",
        summary="a distance of SciPy by name, such as metric=correlation, or a callable",
        build=pdist,
        dissimilarity=True,
        data=("vectors",),
        parameters={"metric": "euclidean"},
    ),
)


@hookimpl
def ordhc_similarities() -> list[SimilaritySpec]:
    return list(_SIMILARITIES)
