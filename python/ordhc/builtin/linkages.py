"""The built-in linkages."""

from ordhc.hooks import hookimpl
from ordhc.specs import LinkageSpec

_SUMMARIES = {
    "single": "the most similar pair of members",
    "complete": "the least similar pair of members",
    "average": "the mean over all pairs of members (UPGMA)",
    "weighted": "the mean of the two merged clusters (WPGMA)",
    "ward": "minimum increase of variance; squares dissimilarities",
    "centroid": "distance of centroids (UPGMC); squares dissimilarities",
    "median": "distance of midpoints (WPGMC); squares dissimilarities",
}


@hookimpl
def ordhc_linkages() -> list[LinkageSpec]:
    """Register the seven Lance-Williams linkages of the engine."""
    source = "Lance & Williams 1967"
    return [
        LinkageSpec(name=name, summary=summary, native=name, source=source)
        for name, summary in _SUMMARIES.items()
    ]
