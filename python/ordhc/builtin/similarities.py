"""The built-in similarities."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.hooks import hookimpl
from ordhc.specs import SimilaritySpec

_SOURCE = "Mandal, Perrot & Ghoshdastidar 2023, Theorem 1"


def adds(
    data: Triplets | Quadruplets,
    *,
    layout: str = "square",
    dtype: str = "float64",
    progress: Callable[[float], None] | None = None,
) -> NDArray[Any]:
    """AddS3 or AddS4: each comparison adds its weight to the closer pair and takes it from the other."""
    return _ordhc.adds(data.rows, data.weights, data.n_leaves, layout, dtype, progress)


@hookimpl
def ordhc_similarities() -> list[SimilaritySpec]:
    """Register AddS3 and AddS4."""
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
    ]
