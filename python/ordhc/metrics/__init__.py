"""Scores that measure a tree against comparisons, similarities, labels or another tree.

Each function takes a tree in any form that `ordhc.as_dendrogram` accepts. Leaves are matched by name if both
arguments have names, otherwise by number. `ordhc.score(tree, reference, metric=...)` calls these functions by
name.
"""

from ordhc.metrics.answers import answer_accuracy
from ordhc.metrics.comparisons import Satisfied, quadruplet_revenue, satisfied, triplet_revenue
from ordhc.metrics.labels import aari, ari, dendrogram_purity
from ordhc.metrics.predictions import log_loss
from ordhc.metrics.silhouettes import Silhouette, silhouette
from ordhc.metrics.similarities import cophenetic_correlation, dasgupta_cost, dasgupta_revenue
from ordhc.metrics.trees import (
    Entanglement,
    KendallTau,
    entanglement,
    kendall_tau_b,
    merge_distortion,
    robinson_foulds,
    tree_distances,
    triplet_distance,
)

__all__ = [
    "Entanglement",
    "KendallTau",
    "Satisfied",
    "Silhouette",
    "aari",
    "answer_accuracy",
    "ari",
    "cophenetic_correlation",
    "dasgupta_cost",
    "dasgupta_revenue",
    "dendrogram_purity",
    "entanglement",
    "kendall_tau_b",
    "log_loss",
    "merge_distortion",
    "quadruplet_revenue",
    "robinson_foulds",
    "satisfied",
    "silhouette",
    "tree_distances",
    "triplet_distance",
    "triplet_revenue",
]
__dir__ = __all__.copy
