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
from ordhc._version import __version__

if TYPE_CHECKING:
    from ordhc import datasets, metrics, oracles, plots
    from ordhc.agglomerate.linkage import linkage
    from ordhc.asking.answers import estimate_p
    from ordhc.asking.learner import Learner
    from ordhc.asking.loop import learn, learn_async
    from ordhc.asking.planted import simulate_planted
    from ordhc.asking.questions import Questions
    from ordhc.asking.session import Session
    from ordhc.asking.supported import supported
    from ordhc.clustering.cluster import cluster
    from ordhc.clustering.describe import describe
    from ordhc.clustering.posterior import Posterior, posterior
    from ordhc.clustering.refine import refine
    from ordhc.comparison.comparisons import Quadruplets, Triplets
    from ordhc.errors import InputError, InternalError, MissingExtraError, OrdhcWarning, PluginError
    from ordhc.estimator import OrdinalClustering as OrdinalClustering
    from ordhc.evaluate.bootstrap import Bootstrap, bootstrap
    from ordhc.evaluate.needed import StudyPlan, plan
    from ordhc.evaluate.people_groups import PeopleGroups, people_groups
    from ordhc.evaluate.select import Candidate, Selection, select
    from ordhc.evaluate.structure import Structure, structure
    from ordhc.io import (
        read_answers,
        read_quadruplets,
        read_tree,
        read_trees,
        read_triplets,
        write_comparisons,
        write_tree,
        write_trees,
    )
    from ordhc.io.scan import scan
    from ordhc.metrics.score import score
    from ordhc.plugins.registry import list_plugins
    from ordhc.reporting.report import Report, report
    from ordhc.similarities.lengths import leaf_lengths
    from ordhc.similarities.pca import pca
    from ordhc.similarities.similarity import similarity
    from ordhc.tree.consensus import consensus
    from ordhc.tree.convert import as_dendrogram
    from ordhc.tree.dendrogram import Dendrogram

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
    "PeopleGroups",
    "PluginError",
    "Posterior",
    "Quadruplets",
    "Questions",
    "Report",
    "Selection",
    "Session",
    "Structure",
    "StudyPlan",
    "Triplets",
    "__version__",
    "as_dendrogram",
    "bootstrap",
    "cluster",
    "datasets",
    "consensus",
    "describe",
    "estimate_p",
    "leaf_lengths",
    "learn",
    "learn_async",
    "linkage",
    "list_plugins",
    "metrics",
    "oracles",
    "pca",
    "people_groups",
    "plan",
    "plots",
    "posterior",
    "read_answers",
    "read_quadruplets",
    "read_tree",
    "read_trees",
    "read_triplets",
    "refine",
    "report",
    "scan",
    "score",
    "select",
    "similarity",
    "simulate_planted",
    "structure",
    "supported",
    "write_comparisons",
    "write_tree",
    "write_trees",
]

#: What is imported when it is used, which keeps `import ordhc` short, by the modules that have it.
_LATER = {
    "ordhc.agglomerate.linkage": "linkage",
    "ordhc.asking.answers": "estimate_p",
    "ordhc.asking.learner": "Learner",
    "ordhc.asking.questions": "Questions",
    "ordhc.asking.loop": "learn learn_async",
    "ordhc.asking.planted": "simulate_planted",
    "ordhc.asking.session": "Session",
    "ordhc.asking.supported": "supported",
    "ordhc.clustering.cluster": "cluster",
    "ordhc.clustering.describe": "describe",
    "ordhc.clustering.posterior": "Posterior posterior",
    "ordhc.clustering.refine": "refine",
    "ordhc.comparison.comparisons": "Quadruplets Triplets",
    "ordhc.errors": "InputError InternalError MissingExtraError OrdhcWarning PluginError",
    "ordhc.estimator": "OrdinalClustering",
    "ordhc.evaluate.bootstrap": "Bootstrap bootstrap",
    "ordhc.evaluate.needed": "StudyPlan plan",
    "ordhc.evaluate.people_groups": "PeopleGroups people_groups",
    "ordhc.evaluate.select": "Candidate Selection select",
    "ordhc.evaluate.structure": "Structure structure",
    "ordhc.io": "read_answers read_quadruplets read_tree read_trees read_triplets "
    "write_comparisons write_tree write_trees",
    "ordhc.io.scan": "scan",
    "ordhc.metrics.score": "score",
    "ordhc.plugins.registry": "list_plugins",
    "ordhc.reporting.report": "Report report",
    "ordhc.similarities.pca": "pca",
    "ordhc.similarities.lengths": "leaf_lengths",
    "ordhc.similarities.similarity": "similarity",
    "ordhc.tree.consensus": "consensus",
    "ordhc.tree.convert": "as_dendrogram",
    "ordhc.tree.dendrogram": "Dendrogram",
}
_HOME = {name: module for module, names in _LATER.items() for name in names.split()}
#: Public modules that are imported when they are used.
_MODULES = ["commands", "datasets", "errors", "executors", "hooks", "io", "metrics"]
_MODULES += ["oracles", "plots", "plotting", "progress", "specs", "testing"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"ordhc.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # `help(ordhc)` looks up all that is listed: the estimator only where scikit-learn is installed.
    there = {*__all__, *_MODULES}
    return sorted({*there, "OrdinalClustering"} if find_spec("sklearn") else there)
