"""The built-in similarities."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc, vectors
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.hooks import hookimpl
from ordhc.specs import SimilaritySpec

Progress = Callable[[float], None]
_PCA = {"n_components": "wasserstein", "max_components": 50, "candidates": None, "seed": None}
_SOURCE = "Mandal, Perrot & Ghoshdastidar 2023, Theorem 1"
_SOURCE_K = "Ghoshdastidar, Perrot & von Luxburg 2019"


def adds(
    data: Triplets | Quadruplets,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """AddS3 or AddS4: each comparison adds its weight to the closer pair and takes it from the other."""
    return _ordhc.adds(data.rows, data.weights, data.n_leaves, layout, dtype, progress)


def mulk3(
    data: Triplets,
    *,
    normalize: bool = True,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """MulK3, Kendall's kernel: how often two anchors agree on which of two leaves is closer."""
    kernel = _ordhc.mulk3(data.rows, data.weights, data.n_leaves, bool(normalize), progress)
    return _shaped(*kernel, layout, dtype, whole=data.weights is None and not normalize)


def mulk4(
    data: Quadruplets,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """MulK4: how often pairs with a third leaf agree on being closer than another pair."""
    kernel = _ordhc.mulk4(data.rows, data.weights, data.n_leaves, progress)
    return _shaped(*kernel, layout, dtype, whole=data.weights is None)


def four_k(
    data: Quadruplets,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """4K as published, in which a leaf is infinitely similar to itself: MulK4 + 2 AddS4."""
    pairs, diagonal = _ordhc.mulk4(data.rows, data.weights, data.n_leaves, progress)
    pairs += 2 * adds(data, layout="condensed")
    return _shaped(pairs, diagonal, layout, dtype, whole=data.weights is None)


def dot(data: Any, *, progress: Progress | None) -> tuple[Any, float]:  # noqa: ARG001
    """The dot product of vectors, divided by their length p."""
    return data, 1 / max(1, data.shape[1])


def cosine(data: Any, *, progress: Progress | None) -> tuple[Any, float]:  # noqa: ARG001
    """The cosine of the angle between vectors; 0 with a vector of zeros."""
    return vectors.normalized(data), 1.0


def pca_dot(data: Any, *, progress: Progress | None, **settings: Any) -> tuple[Any, float]:
    """The dot product of scores of principal components, divided by the length p of the vectors."""
    return vectors.pca(data, progress=progress, **settings), 1 / max(1, data.shape[1])


def pca_cosine(data: Any, *, progress: Progress | None, **settings: Any) -> tuple[Any, float]:
    """The cosine of the angle between scores of principal components."""
    return vectors.normalized(vectors.pca(data, progress=progress, **settings)), 1.0


def euclidean(
    data: Any,
    *,
    squared: bool = False,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Euclidean distances, or their squares."""
    return vectors.distances(data, layout, _float(dtype), progress, squared=squared)


def manhattan(
    data: Any,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,  # noqa: ARG001
) -> NDArray[Any]:
    """Sums of absolute differences."""
    return vectors.manhattan(data, layout, _float(dtype))


def _shaped(
    pairs: NDArray[np.float64], diagonal: NDArray[np.float64], layout: str, dtype: str, *, whole: bool
) -> NDArray[Any]:
    """A kernel in the layout and the type that is asked for."""
    return vectors.shaped(pairs, diagonal, layout, dtype if whole else _float(dtype))


def _float(dtype: str) -> str:
    if not dtype.startswith("float"):
        raise InputError(f"dtype is {dtype}, but these similarities are no whole numbers: float64 or float32")
    return dtype


@hookimpl
def ordhc_similarities() -> list[SimilaritySpec]:
    """Register AddS3 and AddS4, the kernels, and those of vectors."""
    return [
        SimilaritySpec(
            name="adds3",
            summary="each triplet adds to (anchor, near) and takes from (anchor, far)",
            build=adds,
            data=("triplets",),
            source=_SOURCE,
        ),
        SimilaritySpec(
            name="adds4",
            summary="each quadruplet adds to (i, j) and takes from (k, l)",
            build=adds,
            data=("quadruplets",),
            source=_SOURCE,
        ),
        SimilaritySpec(
            name="mulk3",
            summary="Kendall's kernel: anchors agree on which of two leaves is closer",
            build=mulk3,
            data=("triplets",),
            parameters={"normalize": True},
            source="Kleindessner & von Luxburg 2017; " + _SOURCE_K + ", equation 8",
        ),
        SimilaritySpec(
            name="mulk4",
            summary="pairs with a third leaf agree on being closer than another pair",
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
                ("pca-dot", "the dot product of principal components, divided by p", pca_dot, _PCA),
                ("pca-cosine", "the cosine between principal components", pca_cosine, _PCA),
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
            summary="its square",
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
    ]
