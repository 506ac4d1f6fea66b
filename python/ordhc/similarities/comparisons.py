"""Similarities from comparisons: AddS3, AddS4, MulK3, MulK4 and 4K; `ordhc.similarity` has the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.similarities.lengths import less_lengths
from ordhc.similarities.vectors import shaped


def adds(
    data: Triplets | Quadruplets,
    *,
    lengths: bool | None = False,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Return AddS3 of triplets, or AddS4 of quadruplets, for each pair of leaves.

    Each comparison adds its weight to the closer pair, and subtracts its weight from the farther pair.
    """
    if lengths is not False:
        data, has_lengths = less_lengths(data, lengths)
        if has_lengths:
            float_type(dtype)
    return _ordhc.adds(data.rows, data.weights, data.n_leaves, layout, dtype, progress)


def mulk3(
    data: Triplets,
    *,
    normalize: bool = True,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Return MulK3, Kendall's kernel of two leaves i and j.

    MulK3 is how often i and j agree on which of two other leaves is closer, minus how often they disagree.
    """
    kernel = _ordhc.mulk3(data.rows, data.weights, data.n_leaves, bool(normalize), progress)
    return shaped_by(*kernel, layout, dtype, whole=data.weights is None and not normalize)


def mulk4(
    data: Quadruplets,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Return MulK4, a kernel of two leaves i and j, from quadruplets.

    For another leaf r, the pairs (i, r) and (j, r) agree if both are closer than a third pair, or both are
    farther. MulK4 is the number of agreements minus the number of disagreements, over all r and third pairs.
    """
    kernel = _ordhc.mulk4(data.rows, data.weights, data.n_leaves, progress)
    return shaped_by(*kernel, layout, dtype, whole=data.weights is None)


def four_k(
    data: Quadruplets,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Progress | None = None,
) -> NDArray[Any]:
    """Return 4K as in its publication: MulK4 + 2 AddS4.

    The publication treats each leaf as infinitely similar to itself, which adds 2 AddS4 to MulK4.
    """
    pairs, diagonal = _ordhc.mulk4(data.rows, data.weights, data.n_leaves, progress)
    pairs += 2 * adds(data, layout="condensed")
    return shaped_by(pairs, diagonal, layout, dtype, whole=data.weights is None)


def shaped_by(
    pairs: NDArray[np.float64], diagonal: NDArray[np.float64], layout: str, dtype: str, *, whole: bool
) -> NDArray[Any]:
    return shaped(pairs, diagonal, layout, dtype if whole else float_type(dtype))


def float_type(dtype: str) -> str:
    if not dtype.startswith("float"):
        raise InputError(
            f"dtype is {dtype}, but these similarities are no whole numbers: use float64 or float32"
        )
    return dtype
