"""Define the built-in linkages."""

from functools import partial

from ordhc.clustering.preferences import build, by_rank, consistency, posterior_linkage, preferences
from ordhc.clustering.sampling import CHAINS
from ordhc.plugins.hooks import hookimpl
from ordhc.plugins.specs import LinkageSpec

__all__ = ["ordhc_linkages"]


_SUMMARIES = {
    "single": "the most similar pair of members",
    "complete": "the least similar pair of members",
    "average": "the mean over all pairs of members (UPGMA)",
    "weighted": "the mean of the two merged clusters (WPGMA)",
    "ward": "minimum increase of variance; squares dissimilarities",
    "centroid": "distance of centroids (UPGMC); squares dissimilarities",
    "median": "distance of midpoints (WPGMC); squares dissimilarities",
}


_SOURCE = "Ghoshdastidar, Perrot & von Luxburg 2019"


@hookimpl
def ordhc_linkages() -> list[LinkageSpec]:
    source = "Lance & Williams 1967"
    lance_williams = [
        LinkageSpec(name=name, summary=summary, native=name, source=source)
        for name, summary in _SUMMARIES.items()
    ]
    return [
        *lance_williams,
        LinkageSpec(
            name="3-al",
            summary="the mean preference over other clusters, from triplets alone",
            from_comparisons=preferences,
            data=("triplets",),
            source=f"{_SOURCE}, equations 6 and 7",
        ),
        LinkageSpec(
            name="4-al",
            summary="the mean preference over other pairs of clusters, from quadruplets alone",
            from_comparisons=preferences,
            data=("quadruplets",),
            source=f"{_SOURCE}, equations 4 and 5",
        ),
        LinkageSpec(
            name="4-sl",
            summary="single linkage from a complete set of quadruplets",
            from_comparisons=partial(by_rank, "single"),
            data=("quadruplets",),
            source=f"{_SOURCE}, section 3.1",
        ),
        LinkageSpec(
            name="4-cl",
            summary="complete linkage from a complete set of quadruplets",
            from_comparisons=partial(by_rank, "complete"),
            data=("quadruplets",),
            source=f"{_SOURCE}, section 3.1",
        ),
        LinkageSpec(
            name="build",
            summary="the tree that satisfies all triplets, or a proof that there is none",
            from_comparisons=build,
            data=("triplets",),
            source="Aho, Sagiv, Szymanski & Ullman 1981",
        ),
        LinkageSpec(
            name="consistency",
            summary="a tree that satisfies all triplets if possible, otherwise as many as a search finds",
            from_comparisons=consistency,
            data=("triplets",),
        ),
        LinkageSpec(
            name="posterior-al",
            summary="average linkage of trees drawn by their posterior probability, given noisy answers",
            from_comparisons=posterior_linkage,
            data=("triplets", "quadruplets"),
            parameters={"chains": CHAINS, "sweeps": None, "seed": 0, "lengths": True, "scale": "heights"},
        ),
    ]
