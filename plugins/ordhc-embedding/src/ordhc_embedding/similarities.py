"""Compute similarities of leaves from embeddings."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordhc
from ordhc import Triplets
from ordhc.errors import InputError
from ordhc.progress import Progress, part
from ordhc.specs import SimilaritySpec
from ordhc_embedding.completion import completed
from ordhc_embedding.embedding import embed
from ordhc_embedding.models import MODELS

MEASURES = ("cosine", "dot", "sqeuclidean")
_BITS = 30
_SETTINGS = {"seed": 0, "restarts": 1, "initial": None, "max_iterations": 1000, "tolerance": 1e-9}


def specs() -> list[SimilaritySpec]:
    found = [
        SimilaritySpec(
            name=name,
            summary=f"cosines of points: {model.summary}",
            data=("triplets",),
            build=partial(embedded, name),
            parameters={
                "n_components": 2,
                **_SETTINGS,
                "solver": model.solvers[0],
                "measure": "cosine",
                **({} if model.parameter is None else {model.parameter: model.default}),
            },
            source=model.source,
        )
        for name, model in MODELS.items()
    ]
    completion = SimilaritySpec(
        name="completion",
        summary="the AddS3 similarities of all triplets, as predicted by a t-STE embedding",
        data=("triplets",),
        build=build_completed,
        parameters={"n_components": "auto", **_SETTINGS, "alpha": 1.0},
    )
    return [*found, completion]


def embedded(
    name: str,
    data: Triplets,
    *,
    layout: str,
    dtype: str,
    progress: Progress | None,
    measure: str,
    **settings: Any,
) -> NDArray[Any]:
    """Return the similarities of an embedding's points; the points are neither centred nor scaled."""
    if measure not in MEASURES:
        raise InputError(f"measure is {measure!r}; it must be one of {', '.join(MEASURES)}")
    _check(dtype, name)
    points = embed(without_scale(data), name, progress=part(progress, 0.0, 0.9), **settings).points
    found: NDArray[Any] = ordhc.similarity(
        points, measure, layout=layout, dtype=dtype, progress=part(progress, 0.9, 1.0)
    )
    return -found if measure == "sqeuclidean" else found


def build_completed(
    data: Triplets, *, layout: str, dtype: str, progress: Progress | None, **settings: Any
) -> NDArray[Any]:
    from scipy.spatial.distance import squareform

    _check(dtype, "completion")
    pairs = completed(without_scale(data), progress=progress, **settings).astype(dtype, copy=False)
    if layout == "condensed":
        return pairs
    return squareform(pairs) if data.n_leaves > 1 else np.zeros((1, 1), dtype=dtype)


def without_scale(data: Triplets) -> Triplets:
    """Return each distinct comparison once; weights are divided by the largest weight and rounded to 30 bits.

    Minimising a loss amplifies rounding errors. Without this step, repeating all answers or tripling all
    weights would change the points, and sometimes the tree.
    """
    if not len(data):
        return data
    data = data.deduplicate(counts=True)
    assert data.weights is not None
    largest = data.weights.max()
    if not largest > 0:
        return data
    mantissas, exponents = np.frexp(data.weights / largest)
    weights = np.ldexp(np.rint(np.ldexp(mantissas, _BITS)), exponents - _BITS)
    return Triplets(data.rows, data.n_leaves, data.names, weights)


def _check(dtype: str, name: str) -> None:
    if not dtype.startswith("float"):
        raise InputError(f"dtype is {dtype}, but {name} similarities are not whole numbers; use a float type")
