"""Make hierarchies from comparisons.

People and models can reliably answer questions such as "Is A more like B or C?". ordhc turns such answers
into a dendrogram, and estimates how good this tree is.

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
    from ordhc.agglomerate.placing import place
    from ordhc.asking.insert import insert
    from ordhc.asking.learner import Learner
    from ordhc.asking.loop import learn, learn_async
    from ordhc.asking.session import Session
    from ordhc.asking.supported import supported
    from ordhc.clustering.cluster import cluster
    from ordhc.clustering.describe import describe
    from ordhc.clustering.posterior import posterior
    from ordhc.clustering.refine import refine
    from ordhc.comparison.comparisons import Quadruplets, Triplets
    from ordhc.estimator import OrdinalClustering as OrdinalClustering
    from ordhc.estimator import VectorClustering as VectorClustering
    from ordhc.evaluate.bootstrap import bootstrap
    from ordhc.evaluate.needed import plan
    from ordhc.evaluate.people_groups import people_groups
    from ordhc.evaluate.select import select
    from ordhc.evaluate.structure import structure
    from ordhc.io import read_answers, read_tree, read_trees, write_comparisons, write_tree, write_trees
    from ordhc.io.scan import scan
    from ordhc.metrics.score import score
    from ordhc.reporting.report import report
    from ordhc.similarities.similarity import similarity
    from ordhc.similarities.vectors import Vectors
    from ordhc.tree.consensus import consensus
    from ordhc.tree.convert import as_dendrogram
    from ordhc.tree.dendrogram import Dendrogram

# The estimators are missing in this list, so that `from ordhc import *` works without scikit-learn.
__all__ = [
    "Dendrogram",
    "Learner",
    "Quadruplets",
    "Session",
    "Triplets",
    "Vectors",
    "__version__",
    "as_dendrogram",
    "bootstrap",
    "cluster",
    "consensus",
    "datasets",
    "describe",
    "insert",
    "learn",
    "learn_async",
    "linkage",
    "metrics",
    "oracles",
    "people_groups",
    "place",
    "plan",
    "plots",
    "posterior",
    "read_answers",
    "read_tree",
    "read_trees",
    "refine",
    "report",
    "scan",
    "score",
    "select",
    "similarity",
    "structure",
    "supported",
    "write_comparisons",
    "write_tree",
    "write_trees",
]

#: For each module, its public names. A module is imported when one of its names is used for the first time,
#: to keep `import ordhc` fast.
_IMPORTED_LATER = {
    "ordhc.agglomerate.linkage": "linkage",
    "ordhc.agglomerate.placing": "place",
    "ordhc.asking.insert": "insert",
    "ordhc.asking.learner": "Learner",
    "ordhc.asking.loop": "learn learn_async",
    "ordhc.asking.session": "Session",
    "ordhc.asking.supported": "supported",
    "ordhc.clustering.cluster": "cluster",
    "ordhc.clustering.describe": "describe",
    "ordhc.clustering.posterior": "posterior",
    "ordhc.clustering.refine": "refine",
    "ordhc.comparison.comparisons": "Quadruplets Triplets",
    "ordhc.estimator": "OrdinalClustering VectorClustering",
    "ordhc.evaluate.bootstrap": "bootstrap",
    "ordhc.evaluate.needed": "plan",
    "ordhc.evaluate.people_groups": "people_groups",
    "ordhc.evaluate.select": "select",
    "ordhc.evaluate.structure": "structure",
    "ordhc.io": "read_answers read_tree read_trees write_comparisons write_tree write_trees",
    "ordhc.io.scan": "scan",
    "ordhc.metrics.score": "score",
    "ordhc.reporting.report": "report",
    "ordhc.similarities.similarity": "similarity",
    "ordhc.similarities.vectors": "Vectors",
    "ordhc.tree.consensus": "consensus",
    "ordhc.tree.convert": "as_dendrogram",
    "ordhc.tree.dendrogram": "Dendrogram",
}
_MODULE_OF = {name: module for module, names in _IMPORTED_LATER.items() for name in names.split()}
_MODULES = [
    "commands",
    "datasets",
    "errors",
    "executors",
    "hooks",
    "io",
    "learners",
    "metrics",
    "oracles",
    "plots",
]
_MODULES += ["plotting", "plugins", "progress", "results", "similarities", "specs", "testing"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"ordhc.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # `help(ordhc)` imports all listed names, so the estimators are listed only with scikit-learn.
    known = {*__all__, *_MODULES}
    return sorted({*known, "OrdinalClustering", "VectorClustering"} if find_spec("sklearn") else known)
