"""The plan of a clustering (a similarity, a linkage, their settings, an objective), and default methods."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ordhc import _checks
from ordhc.clustering.cost import seconds_of_moves, seconds_of_pairs
from ordhc.clustering.refine import refining
from ordhc.clustering.sampling import CHAINS, seconds_of
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.io.scan import Scan, kind_of
from ordhc.plugins import registry
from ordhc.plugins.registry import Named
from ordhc.plugins.specs import LinkageSpec, SimilaritySpec
from ordhc.similarities.similarity import is_adds
from ordhc.tree.settings import made_by

#: Default methods move subtrees up to this number of leaves, which takes one or two seconds.
MOVES_UP_TO = 2_000
#: The posterior is the default method up to this estimated processor time in seconds (two cores need half of
#: this time). The second limit applies if a learner chose the questions: other methods are then biased.
DRAWN_UP_TO, DRAWN_UP_TO_IF_ADAPTIVE = 20.0, 120.0
_POSTERIOR = "posterior-al"
#: Linkages that do not depend on how often a question was asked.
_UNBIASED = ("posterior-al", "consistency", "build")


@dataclass(frozen=True)
class Plan:
    """The similarity (or None), the linkage and their settings, by which `fit` makes a tree."""

    similarity: SimilaritySpec | None
    linkage: LinkageSpec
    similarity_settings: Mapping[str, Any]
    linkage_settings: Mapping[str, Any]
    #: The objective by which subtrees are moved after the linkage; None for no moves.
    refine: str | None = None
    #: The name of the method; None if the caller chose the similarity or the linkage.
    method: str | None = None

    @classmethod
    def of(
        cls,
        data: Any,
        method: Named | None = None,
        *,
        similarity: Named | None = None,
        linkage: Named | None = None,
        **parameters: Any,
    ) -> "Plan":
        if method is None and similarity is None and linkage is None:
            # The posterior can be the default only if it has all of these settings.
            is_plain = (
                not parameters or parameters.keys() <= registry.get("linkage", _POSTERIOR).parameters.keys()
            )
            method = (best_method(data) if is_plain else None) or fast_method(data)
        name = refine = None
        if method is None:
            similarity, linkage = _parts(data, similarity, linkage)
        elif similarity is not None or linkage is not None:
            raise InputError("give a method, or a similarity and a linkage, not both")
        else:
            name, own = registry.named("method", method)
            spec = registry.get("method", name)
            similarity, linkage, refine = spec.similarity, spec.linkage, spec.refine
            parameters = {**spec.parameters, **own, **parameters}
        build, of_build = (None, {}) if similarity is None else registry.chosen("similarity", similarity)
        merge, of_merge = registry.chosen("linkage", linkage)
        for setting, value in parameters.items():
            takers = [settings for settings in (of_build, of_merge) if setting in settings]
            if not takers:
                there = ", ".join([*of_build, *of_merge]) or "none"
                hint = f"; {_ELSEWHERE[setting]}" if setting in _ELSEWHERE else ""
                raise InputError(
                    f"there is no parameter {_checks.quoted(setting)} of this method; there are: "
                    f"{there}{hint}"
                )
            if build is not None and len(takers) == 2:
                raise InputError(
                    f"the similarity and the linkage both have {setting!r}: say "
                    f"similarity=({build.name!r}, {{{setting!r}: ...}}) or "
                    f"linkage=({merge.name!r}, {{{setting!r}: ...}})"
                )
            takers[0][setting] = value
        return cls(build, merge, of_build, of_merge, refine, name)

    def with_lengths(self, lengths: bool) -> "Plan":
        if "lengths" not in self.similarity_settings:
            return self
        return replace(self, similarity_settings={**self.similarity_settings, "lengths": lengths})

    @property
    def may_have_lengths(self) -> bool:
        """True if the similarity may estimate how untypical each leaf is (`lengths` is not False)."""
        return self.similarity_settings.get("lengths", False) is not False

    def seconds(self, data: Any) -> float:
        """Return the estimated processor time of a tree of comparisons, in seconds.

        The time of a linkage that takes comparisons instead of similarities is unknown, and counts as 0. Only
        for the posterior is the time estimated.

        Examples
        --------
        >>> import ordhc
        >>> t, _ = ordhc.datasets.planted(14_400, levels=3, leaves_per_cluster=30)
        >>> Plan.of(t, "adds3-al").seconds(t) < 0.1 < 1 < Plan.of(t, "posterior-al").seconds(t)
        True
        """
        n, m = data.n_leaves, len(data)
        found = 0.0
        if self.similarity is not None:
            found = seconds_of_pairs(n, m, are_sums=is_adds(self.similarity))
        elif self.linkage.name == _POSTERIOR:
            settings = self.linkage_settings
            found = seconds_of(data, settings.get("chains", CHAINS), settings.get("sweeps"))
        return found + (seconds_of_moves(self.refine, n, m) if self.refine else 0)

    def remedy(self, *, of_vectors: bool) -> str:
        """Return a hint for errors about memory: how to make a tree with less memory."""
        if of_vectors:
            free = "Ward's linkage, single linkage and the average of cosines need no matrix"
            return f"give Vectors(X, neighbors=20); {free}" if self.can_use_neighbors else free
        if self.similarity is not None and is_adds(self.similarity):
            return "ordhc.scan(files, memory='2GB') keeps sums of few pairs on disk"
        return "the methods 'adds3-al' and 'adds4-al' need 8 bytes for each pair of leaves"

    @property
    def accepts(self) -> tuple[str, ...]:
        return self.linkage.data if self.similarity is None else self.similarity.data

    @property
    def settings(self) -> Mapping[str, Any]:
        """The method, similarity, linkage, objective and their parameters, as in `Dendrogram.settings`."""
        return made_by(
            method=self.method,
            similarity=None if self.similarity is None else self.similarity.name,
            similarity_parameters=self.similarity_settings,
            linkage=self.linkage.name,
            linkage_parameters=self.linkage_settings,
            refine=self.refine,
            refine_parameters=None if self.refine is None else refining(self.refine),
        )

    @property
    def degree(self) -> int | None:
        """The exponent d: if weights are multiplied by f, heights are multiplied by f**d; None if unknown."""
        parts = self.linkage if self.similarity is None else self.similarity
        if not registry.is_builtin(parts) or not registry.is_builtin(self.linkage):
            return None
        if self.refine in _DEGREE_OF_OBJECTIVE:
            return _DEGREE_OF_OBJECTIVE[self.refine]
        if self.similarity is not None and self.linkage.native not in _AVERAGES:
            return None
        return _DEGREES.get(parts.name)

    @property
    def title(self) -> str:
        if self.similarity is None:
            return f"linkage {self.linkage.name!r}"
        return f"similarity {self.similarity.name!r} with linkage {self.linkage.name!r}"

    @property
    def can_use_neighbors(self) -> bool:
        """True if the tree can be computed from the nearest neighbours of vectors instead of all pairs."""
        if self.similarity is None or self.similarity.name not in NEIGHBOR_MEASURES or self.refine:
            return False
        native = self.linkage.native
        return native in NEIGHBOR_LINKAGES and (native != "ward" or self.similarity.name == "euclidean")

    @property
    def measure(self) -> str | None:
        """The distance (or "dot") with which the linkage needs no matrix of pairs; otherwise None."""
        if self.similarity is None:
            return None
        if self.similarity.factor is not None:
            return "dot" if self.linkage.native in ("average", "single") else None
        name = self.similarity.name
        distances = name in ("euclidean", "sqeuclidean", "manhattan") and registry.is_builtin(self.similarity)
        free = (("ward", "euclidean"), ("average", "sqeuclidean"))
        fits = self.linkage.native == "single" or (self.linkage.native, name) in free
        return name if distances and fits else None


#: For each similarity that can use nearest neighbours: the dot products or distances by which neighbours are
#: searched. For cosines, the vectors are normalized first.
NEIGHBOR_MEASURES = {"cosine": "dot", "euclidean": "euclidean", "sqeuclidean": "sqeuclidean"}
NEIGHBOR_LINKAGES = ("single", "average", "weighted", "complete", "ward")
#: Linkages whose heights are similarities or means of them.
_AVERAGES = ("single", "complete", "average", "weighted")
#: The exponent d of each similarity, and of each linkage that takes comparisons: if weights are multiplied by
#: f, heights are multiplied by f**d. "4k" and "posterior-al" are missing, because their trees depend on the
#: scale of weights. The 4K kernel adds products of weights to weights. For the posterior, larger weights are
#: more evidence.
_DEGREES = {
    **dict.fromkeys(("adds3", "adds4", "3-al", "4-al"), 1),
    **dict.fromkeys(("mulk3", "mulk4"), 2),
    **dict.fromkeys(("build", "consistency"), 0),
}
#: The exponent d of trees whose subtrees were moved, by the objective of the moves; see `_DEGREES`. For
#: "revenue", heights are means of AddS similarities, which are sums of weights. For "satisfied", heights are
#: numbers of leaves, which do not depend on weights.
_DEGREE_OF_OBJECTIVE = {"revenue": 1, "satisfied": 0}

#: Options that users give to `cluster` but that belong to other functions, with a hint for each.
_ELSEWHERE = {
    **dict.fromkeys(
        ("n_clusters", "k", "n_cluster", "num_clusters", "t", "distance_threshold"),
        "cut(n_clusters) of the tree returns flat clusters",
    ),
    **dict.fromkeys(("names", "neighbors", "storage"), "ordhc.Vectors has it, for vectors"),
    **dict.fromkeys(("memory", "spill", "executor"), "ordhc.scan has it, for answers in files"),
    "refine": "'+spr' after the name of a method moves subtrees, and so does ordhc.refine",
}


def best_method(data: Any) -> str | None:
    """Return the most accurate method, "posterior-al"; None if it would take too long or is not possible.

    If answers contain errors, the trees of "posterior-al" have the fewest wrong triples of leaves. This holds
    for random questions, and for questions that a learner chose (benches/bench_methods.py). The result is the
    default of `cluster`, the command line, reports and dashboards. The result is None for answers in files (a
    scan), for vectors, for fewer than three leaves, and if there are no answers.
    """
    if not isinstance(data, Triplets | Quadruplets) or data.n_leaves < 3 or not len(data.rows):
        return None
    limit = DRAWN_UP_TO_IF_ADAPTIVE if data.adaptive else DRAWN_UP_TO
    return _POSTERIOR if seconds_of(data) <= limit else None


def fast_method(data: Any) -> str | None:
    """Return the default fast method for comparisons, which takes seconds at most; None for other data."""
    if not isinstance(data, Triplets | Quadruplets | Scan):
        return None
    is_triplets = data.kind is Triplets if isinstance(data, Scan) else isinstance(data, Triplets)
    name = "adds3-al" if is_triplets else "adds4-al"
    return f"{name}{registry.MOVES}" if data.n_leaves <= MOVES_UP_TO else name


def method_of_many(data: Any) -> str | None:
    """Return the default method for many trees, such as those of resamples.

    This is the fast method. If a learner chose the questions by earlier answers, the fast method is biased,
    and the most accurate method is returned instead.
    """
    is_biased = not isinstance(data, Scan) and getattr(data, "adaptive", False)
    return (best_method(data) if is_biased else None) or fast_method(data)


def biased_text(plan: Plan, data: Any) -> str | None:
    """Return a warning if the method is biased because a learner chose the questions, otherwise None."""
    if not isinstance(data, Triplets | Quadruplets) or not data.adaptive or plan.linkage.name in _UNBIASED:
        return None
    return (
        f"a learner chose questions by earlier answers, mostly about close leaves, and {plan.title} takes "
        "them for questions at random: its tree may be wrong; use method='posterior-al' "
        "(--method posterior-al)"
    )


def _parts(data: Any, similarity: Named | None, linkage: Named | None) -> tuple[Named | None, Named]:
    linkage = "average" if linkage is None else linkage
    merge, _ = registry.chosen("linkage", linkage)
    if merge.from_comparisons is not None:
        if similarity is not None:
            raise InputError(
                f"linkage {merge.name!r} takes comparisons as they are: leave out the similarity"
            )
        return None, linkage
    if similarity is None:
        if (kind := kind_of(data)) is not None:
            similarity = "adds4" if kind is Quadruplets else "adds3"
        elif hasattr(data, "analysed"):
            raise InputError(
                f"a {type(data).__name__} cannot be clustered: "
                "give its answers, session.analysed().comparisons"
            )
        else:
            raise InputError(
                f"{type(data).__name__} is neither Triplets nor Quadruplets: make ordhc.Triplets(rows) of "
                "comparisons. For vectors add similarity='euclidean', linkage='ward'; (n, n) similarities "
                "are for ordhc.linkage(S, dissimilarity=False), distances for "
                "ordhc.linkage(D, dissimilarity=True)"
            )
    return similarity, linkage
