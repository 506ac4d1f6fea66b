"""Hierarchies from comparisons.

"A is more like B than C" is what people and models can say reliably. ordhc turns such answers into a
dendrogram and says how good the tree is.

>>> import ordhc
>>> t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "bus"), ("car", "bus", "cat")])
>>> ordhc.cluster(t).to_newick(branch_lengths=False)
'((cat,dog),(car,bus));'
"""

from typing import TYPE_CHECKING, Any

import ordhc._start as _start  # noqa: F401
from ordhc import metrics, oracles
from ordhc._version import __version__
from ordhc.clustering import cluster
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError, InternalError, MissingExtraError, OrdhcWarning, PluginError
from ordhc.io import read_quadruplets, read_tree, read_triplets, write_comparisons, write_tree
from ordhc.learning import Learner, Questions, estimate_p, learn
from ordhc.refining import refine
from ordhc.registry import list_plugins
from ordhc.resampling import Bootstrap, bootstrap
from ordhc.selection import Candidate, Selection, select
from ordhc.trees import as_dendrogram
from ordhc.vectors import pca
from ordhc.verbs import linkage, score, similarity, simulate_planted

if TYPE_CHECKING:
    from ordhc.estimator import OrdinalClustering as OrdinalClustering
    from ordhc.session import Session

# Without OrdinalClustering: `from ordhc import *` must not need scikit-learn.
__all__ = [
    "Bootstrap",
    "Candidate",
    "Dendrogram",
    "InputError",
    "InternalError",
    "Learner",
    "MissingExtraError",
    "OrdhcWarning",
    "PluginError",
    "Quadruplets",
    "Questions",
    "Selection",
    "Session",
    "Triplets",
    "__version__",
    "as_dendrogram",
    "bootstrap",
    "cluster",
    "estimate_p",
    "learn",
    "linkage",
    "list_plugins",
    "metrics",
    "oracles",
    "pca",
    "read_quadruplets",
    "read_tree",
    "read_triplets",
    "refine",
    "score",
    "select",
    "similarity",
    "simulate_planted",
    "write_comparisons",
    "write_tree",
]


def __getattr__(name: str) -> Any:
    if name == "OrdinalClustering":
        from ordhc.estimator import OrdinalClustering

        return OrdinalClustering
    if name == "Session":
        from ordhc.session import Session

        return Session
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # Only if it can be had: `help(ordhc)` looks at all that is listed.
    return sorted([*globals(), "Session", *(["OrdinalClustering"] if find_spec("sklearn") else [])])
