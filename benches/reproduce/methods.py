"""The papers' methods by the names in their tables."""

import warnings
from typing import Any

import numpy as np

import ordhc
from ordhc.errors import OrdhcWarning
from ordhc.plugins import registry

COMPARISONS = {
    "AddS3-AL": "adds3-al",
    "MulK3-AL": "mulk3-al",
    "3K-AL": "mulk3-al",
    "3-AL": "3-al",
    "AddS4-AL": "adds4-al",
    "4K-AL": "4k-al",
    "4-AL": "4-al",
}
#: Ordinal embeddings, then average linkage of cosines: the similarity and the solver, the papers' own.
EMBEDDINGS = {"tSTE-AL": ("tste", "paper"), "FORTE-AL": ("forte", "projected")}


def lacks(method: str) -> str:
    """Why a method can't be run here; empty if it can."""
    missing = method in EMBEDDINGS and EMBEDDINGS[method][0] not in registry.names("similarity")
    return f"{method} needs the plugin ordhc-embedding" if missing else ""


def fit(
    method: str,
    comparisons: ordhc.Triplets | ordhc.Quadruplets,
    seed: int | None,
    *,
    initial_clusters: np.ndarray | None = None,
    n_components: int = 2,
    start: np.ndarray | None = None,
) -> ordhc.Dendrogram:
    """Return the tree of a method.

    The seed is that of ties and of random starts; with None the smallest leaves merge first, as in the
    authors' code, and embeddings begin at `start`."""
    settings: dict[str, Any] = {"initial_clusters": initial_clusters, "tie_seed": seed}
    if method in EMBEDDINGS:
        similarity, solver = EMBEDDINGS[method]
        settings |= {"similarity": similarity, "linkage": "average"}
        settings |= {"solver": solver, "n_components": n_components}
        if seed is None and start is not None:
            # Leaves without answers are left out.
            settings |= {"initial": start[np.unique(comparisons.rows)]}
        else:
            settings |= {"seed": seed}
    else:
        settings |= {"method": COMPARISONS[method]}
    with warnings.catch_warnings():
        # Of leaves without answers.
        warnings.simplefilter("ignore", OrdhcWarning)
        return ordhc.cluster(comparisons, **settings)
