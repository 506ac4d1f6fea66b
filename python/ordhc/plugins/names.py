"""Define the types of arguments that name a method, a similarity, a linkage or a metric.

Editors complete the names that ordhc itself registers. Any other text is also allowed, for the names that
plugins register.
"""

from collections.abc import Mapping
from typing import Any, Literal

#: A name, or a pair of a name and its settings.
Method = (
    Literal[
        "posterior-al",
        "adds3-al+spr",
        "adds4-al+spr",
        "adds3-al+lengths+spr",
        "adds4-al+lengths+spr",
        "adds3-al",
        "adds4-al",
        "mulk3-al",
        "mulk4-al",
        "4k-al",
        "3-al",
        "4-al",
        "4-sl",
        "4-cl",
        "cosine-al",
        "dot-al",
        "consistency",
        "build",
    ]
    | str
    | tuple[str, Mapping[str, Any]]
)
Similarity = (
    Literal[
        "adds3",
        "adds4",
        "mulk3",
        "mulk4",
        "4k",
        "dot",
        "cosine",
        "pca-dot",
        "pca-cosine",
        "euclidean",
        "sqeuclidean",
        "manhattan",
        "pdist",
    ]
    | str
    | tuple[str, Mapping[str, Any]]
)
Linkage = (
    Literal[
        "average",
        "single",
        "complete",
        "weighted",
        "ward",
        "centroid",
        "median",
        "3-al",
        "4-al",
        "4-sl",
        "4-cl",
        "build",
        "consistency",
        "posterior-al",
    ]
    | str
    | tuple[str, Mapping[str, Any]]
)
Metric = (
    Literal[
        "triplet_revenue",
        "quadruplet_revenue",
        "satisfied",
        "answer_accuracy",
        "dasgupta_cost",
        "dasgupta_revenue",
        "cophenetic_correlation",
        "ari",
        "silhouette",
        "entanglement",
        "aari",
        "dendrogram_purity",
        "kendall_tau_b",
        "merge_distortion",
        "triplet_distance",
        "robinson_foulds",
    ]
    | str
)
