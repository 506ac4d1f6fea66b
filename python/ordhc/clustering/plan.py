"""What is to be done: a similarity, a linkage, their settings, an objective."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc.clustering.refine import refining
from ordhc.clustering.sampling import seconds_of
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.io.scan import Scan, kind_of
from ordhc.plugins import registry
from ordhc.plugins.specs import OBJECTIVES, LinkageSpec, SimilaritySpec
from ordhc.tree.settings import made_by

__all__ = ["MOVES_UP_TO", "Plan", "best_method", "biased_text", "fast_method", "method_of_many"]

#: The most leaves whose subtrees are moved unless something else is said: one or two seconds.
MOVES_UP_TO = 2_000
#: Trees of a posterior are the default up to this processor time, in seconds: about 10 seconds on two cores.
#: If a learner chose the questions, which biases other methods, they are up to the second number.
DRAWN_UP_TO, DRAWN_UP_TO_IF_ADAPTIVE = 20.0, 120.0
_POSTERIOR = "posterior-al"
#: Linkages that do not depend on how often a question was asked.
_UNBIASED = ("posterior-al", "consistency", "build")


@dataclass(frozen=True)
class Plan:
    """A similarity (or none) and a linkage, with their settings. It is data: `fit` follows it."""

    similarity: SimilaritySpec | None
    linkage: LinkageSpec
    similarity_settings: Mapping[str, Any]
    linkage_settings: Mapping[str, Any]
    #: The objective by which subtrees are moved afterwards.
    refine: str | None = None
    #: The name of the method that they are, if they were taken by it or by default.
    method: str | None = None

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        method: str | None = None,
        similarity: str | None = None,
        linkage: str | None = None,
        similarity_parameters: Mapping[str, Any] | None = None,
        linkage_parameters: Mapping[str, Any] | None = None,
        refine: bool | str | None = None,
        **parameters: Any,
    ) -> "Plan":
        """What `cluster` does with these arguments."""
        defaults: Mapping[str, Any] = {}
        own = None
        if method is None and similarity is None and linkage is None:
            # Settings of AddS and moves of subtrees are not for trees of a posterior.
            of_linkage, of_similarity = (
                given if isinstance(given, Mapping) else {}
                for given in (linkage_parameters, similarity_parameters)
            )
            is_plain = refine is None and not of_similarity
            is_plain = is_plain and {*parameters, *of_linkage} <= {
                *registry.get("linkage", _POSTERIOR).parameters
            }
            method = (best_method(data) if is_plain else None) or fast_method(data, refine)
        if method is None:
            names = _parts(data, similarity, linkage)
        elif similarity is not None or linkage is not None:
            raise InputError("give a method, or a similarity and a linkage, not both")
        else:
            named = registry.get("method", method)
            names, defaults = (named.similarity, named.linkage), named.parameters
            own, refine = named.refine, named.refine if refine is None else refine
        build = None if names[0] is None else registry.get("similarity", names[0])
        merge = registry.get("linkage", names[1])
        given: list[dict[str, Any]] = []
        by_part = [
            ("similarity_parameters", similarity_parameters),
            ("linkage_parameters", linkage_parameters),
        ]
        for argument, theirs in by_part:
            if theirs is not None and not isinstance(theirs, Mapping):
                raise InputError(f"{argument} is {_checks.quoted(theirs)}, not a dict")
            given.append(dict(theirs or {}))
        known = [{} if build is None else build.parameters, merge.parameters]
        for name, value in {**defaults, **parameters}.items():
            takers = [at for at in (0, 1) if name in known[at]]
            if not takers:
                there = ", ".join([*known[0], *known[1]]) or "none"
                hint = "; flat clusters are what cut(n_clusters) of the tree gives" * (name in _FLAT)
                raise InputError(
                    f"there is no parameter {_checks.quoted(name)} of this method; there are: {there}{hint}"
                )
            if len(takers) == 2:
                raise InputError(
                    f"the similarity and the linkage both have {name!r}: "
                    "say which in similarity_parameters or linkage_parameters"
                )
            given[takers[0]][name] = value
        what = (f"similarity {names[0]!r}", f"linkage {names[1]!r}")
        settings = [_checks.settings(what[at], given[at], known[at]) for at in (0, 1)]
        refine = bool(refine) if isinstance(refine, np.bool_) else refine
        if refine is True:
            refine = "revenue" if build is None else "dasgupta"
        objective = None if refine is None or refine is False else refine
        if objective is not None and not (isinstance(objective, str) and objective in OBJECTIVES):
            words = ", ".join(OBJECTIVES)
            raise InputError(f"refine is {_checks.quoted(refine)}, not True, False or one of {words}")
        if objective == "dasgupta" and build is None:
            raise InputError(f"linkage {merge.name!r} has no similarities to refine by: say refine='revenue'")
        whole = method if method is not None and objective == own else None
        return cls(build, merge, settings[0], settings[1], objective, whole)

    def with_lengths(self, lengths: bool) -> "Plan":
        """The plan with the choice whether leaves have lengths, if its similarity has that choice."""
        if "lengths" not in self.similarity_settings:
            return self
        return replace(self, similarity_settings={**self.similarity_settings, "lengths": lengths})

    @property
    def may_have_lengths(self) -> bool:
        """True if answers are weighted by lengths of leaves, or if the answers decide whether they are."""
        return self.similarity_settings.get("lengths", False) is not False

    @property
    def accepts(self) -> tuple[str, ...]:
        """What data it takes."""
        return self.linkage.data if self.similarity is None else self.similarity.data

    @property
    def settings(self) -> dict[str, Any]:
        """The parts and their parameters, as `Dendrogram.settings` has them."""
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
        """The power of a common factor of all weights by which heights grow; None if there is none."""
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
        """The similarity and the linkage in words."""
        if self.similarity is None:
            return f"linkage {self.linkage.name!r}"
        return f"similarity {self.similarity.name!r} with linkage {self.linkage.name!r}"

    @property
    def measure(self) -> str | None:
        """The measure of vectors with which this linkage needs no matrix of pairs, or None."""
        if self.similarity is None:
            return None
        if self.similarity.factor is not None:
            return "dot" if self.linkage.native in ("average", "single") else None
        name = self.similarity.name
        distances = name in ("euclidean", "sqeuclidean", "manhattan") and registry.is_builtin(self.similarity)
        free = (("ward", "euclidean"), ("average", "sqeuclidean"))
        fits = self.linkage.native == "single" or (self.linkage.native, name) in free
        return name if distances and fits else None


#: Linkages whose heights are similarities or means of them.
_AVERAGES = ("single", "complete", "average", "weighted")
#: How heights grow with all weights, by similarity or linkage of comparisons. The 4K kernel adds products of
#: weights to weights, and the posterior counts answers: their trees depend on the scale.
_DEGREES = {
    "adds3": 1,
    "adds4": 1,
    "mulk3": 2,
    "mulk4": 2,
    "3-al": 1,
    "4-al": 1,
    "build": 0,
    "consistency": 0,
}
#: Heights of trees that are refined by these are mean AddS similarities, and numbers of leaves.
_DEGREE_OF_OBJECTIVE = {"revenue": 1, "satisfied": 0}

#: What other packages call the number of flat clusters.
_FLAT = ("n_clusters", "k", "n_cluster", "num_clusters", "t", "distance_threshold")


def best_method(data: Any) -> str | None:
    """Return the method that is the best one beforehand, "posterior-al"; None where it would take too long.

    People err, and trees of a posterior have the fewest wrong triples, whatever chose the questions
    (benches/bench_methods.py). It is the default of `cluster`, the command line, reports and dashboards.
    """
    if isinstance(data, Scan) or kind_of(data) is None or data.n_leaves < 3 or not len(data):
        return None
    limit = DRAWN_UP_TO_IF_ADAPTIVE if data.adaptive else DRAWN_UP_TO
    return _POSTERIOR if seconds_of(data) <= limit else None


def fast_method(data: Any, refine: bool | str | None = None) -> str | None:
    """Return the best method for comparisons that takes some milliseconds; None for other data."""
    if kind_of(data) is None:
        return None
    name = "adds3-al" if kind_of(data) is Triplets else "adds4-al"
    return f"{name}+spr" if refine is None and data.n_leaves <= MOVES_UP_TO else name


def method_of_many(data: Any, refine: bool | str | None = None) -> str | None:
    """Return the default where many trees are made: the fast method, unless its questions would bias it."""
    is_biased = refine is None and not isinstance(data, Scan) and getattr(data, "adaptive", False)
    return (best_method(data) if is_biased else None) or fast_method(data, refine)


def biased_text(plan: Plan, data: Any) -> str | None:
    """Return a warning if a learner chose the questions and that biases the method, else None."""
    if not isinstance(data, Triplets | Quadruplets) or not data.adaptive or plan.linkage.name in _UNBIASED:
        return None
    return (
        f"a learner chose questions by earlier answers, mostly about close leaves, and {plan.title} takes "
        "them for questions at random: its tree may be wrong; use method='posterior-al' "
        "(--method posterior-al)"
    )


def _parts(data: Any, similarity: str | None, linkage: str | None) -> tuple[str | None, str]:
    """The names of the similarity, if any, and of the linkage."""
    if linkage is not None and registry.get("linkage", linkage).from_comparisons is not None:
        if similarity is not None:
            raise InputError(f"linkage {linkage!r} takes comparisons as they are: leave out the similarity")
        return None, linkage
    if similarity is None:
        if kind_of(data) is Quadruplets:
            similarity = "adds4"
        elif kind_of(data) is Triplets:
            similarity = "adds3"
        elif hasattr(data, "analysed"):
            raise InputError(
                f"a {type(data).__name__} is open for answers: "
                "give those it has, session.analysed().comparisons"
            )
        else:
            raise InputError(
                f"{type(data).__name__} is neither Triplets nor Quadruplets: make ordhc.Triplets(rows) of "
                "comparisons. For vectors add similarity='euclidean', linkage='ward'; (n, n) similarities "
                "are for ordhc.linkage(S, dissimilarity=False), distances for "
                "ordhc.linkage(D, dissimilarity=True)"
            )
    return similarity, linkage or "average"
