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
from ordhc import datasets, metrics, oracles, plots
from ordhc._version import __version__
from ordhc.agglomerate.linkage import linkage
from ordhc.asking.answers import estimate_p
from ordhc.asking.learner import Learner, Questions
from ordhc.asking.loop import learn, learn_async
from ordhc.asking.planted import simulate_planted
from ordhc.clustering.cluster import cluster
from ordhc.clustering.posterior import Posterior, posterior
from ordhc.clustering.refine import refine
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError, InternalError, MissingExtraError, OrdhcWarning, PluginError
from ordhc.evaluate.bootstrap import Bootstrap, bootstrap
from ordhc.evaluate.select import Candidate, Selection, select
from ordhc.io import (
    read_answers,
    read_quadruplets,
    read_tree,
    read_trees,
    read_triplets,
    scan,
    write_comparisons,
    write_tree,
    write_trees,
)
from ordhc.metrics.score import score
from ordhc.plugins.registry import list_plugins
from ordhc.similarities.pca import pca
from ordhc.similarities.similarity import similarity
from ordhc.tree.consensus import consensus
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from ordhc.asking.session import Session
    from ordhc.estimator import OrdinalClustering as OrdinalClustering

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
    "Posterior",
    "Quadruplets",
    "Questions",
    "Selection",
    "Session",
    "Triplets",
    "__version__",
    "as_dendrogram",
    "bootstrap",
    "cluster",
    "datasets",
    "consensus",
    "estimate_p",
    "learn",
    "learn_async",
    "linkage",
    "list_plugins",
    "metrics",
    "oracles",
    "pca",
    "plots",
    "posterior",
    "read_answers",
    "read_quadruplets",
    "read_tree",
    "read_trees",
    "read_triplets",
    "refine",
    "scan",
    "score",
    "select",
    "similarity",
    "simulate_planted",
    "write_comparisons",
    "write_tree",
    "write_trees",
]

#: Public modules that are imported when they are used, besides `metrics` and `oracles`.
_MODULES = ("commands", "errors", "executors", "hooks", "io", "progress", "specs", "testing")


def __getattr__(name: str) -> Any:
    if name == "OrdinalClustering":
        from ordhc.estimator import OrdinalClustering

        return OrdinalClustering
    if name == "Session":
        from ordhc.asking.session import Session

        return Session
    if name in _MODULES:
        from importlib import import_module

        return import_module(f"ordhc.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # `help(ordhc)` looks up all that is listed: the estimator only where scikit-learn is installed.
    return sorted([*__all__, *_MODULES, *(["OrdinalClustering"] if find_spec("sklearn") else [])])
