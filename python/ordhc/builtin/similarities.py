"""The built-in similarities."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.hooks import hookimpl
from ordhc.specs import SimilaritySpec

Progress = Callable[[float], None]
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


def dot(
    data: NDArray[np.float64],
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,  # noqa: ARG001
) -> NDArray[Any]:
    """The dot product of vectors, divided by their length p."""
    return _products(data / max(1, data.shape[1]), data, layout, dtype)


def cosine(
    data: NDArray[np.float64],
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,  # noqa: ARG001
) -> NDArray[Any]:
    """The cosine of the angle between vectors; 0 with a vector of zeros."""
    largest = np.abs(data).max(axis=1, keepdims=True, initial=0)
    scaled = data / np.where(largest == 0, 1, largest)
    lengths = np.sqrt((scaled**2).sum(axis=1, keepdims=True))
    directions = scaled / np.where(lengths == 0, 1, lengths)
    return _products(directions, directions, layout, dtype)


def _products(left: NDArray[np.float64], right: NDArray[np.float64], layout: str, dtype: str) -> NDArray[Any]:
    n = len(left)
    _ordhc.check_memory("the similarity matrix", 8 * n * n)
    square = left @ right.T
    # The two halves may differ in the last bit.
    square = np.triu(square) + np.triu(square, 1).T
    if layout == "condensed":
        return square[np.triu_indices(n, 1)].astype(_float(dtype), copy=False)
    return square.astype(_float(dtype), copy=False)


def _shaped(
    pairs: NDArray[np.float64], diagonal: NDArray[np.float64], layout: str, dtype: str, *, whole: bool
) -> NDArray[Any]:
    """A kernel in the layout and the type that is asked for."""
    result = pairs if layout == "condensed" else _ordhc.square(pairs, diagonal)
    return result.astype(dtype if whole else _float(dtype), copy=False)


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
        SimilaritySpec(
            name="dot",
            summary="the dot product of vectors, divided by their length",
            build=dot,
            data=("vectors",),
            source="Gray et al. 2024",
        ),
        SimilaritySpec(
            name="cosine",
            summary="the cosine of the angle between vectors",
            build=cosine,
            data=("vectors",),
        ),
    ]
