"""From data to a dendrogram: methods by the papers' names, or by their parts."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc, registry, sparse, vectors, verbs
from ordhc.canonical import canonical_order, in_order
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError, OrdhcWarning, PluginError
from ordhc.refining import refined
from ordhc.specs import OBJECTIVES, LinkageSpec, SimilaritySpec
from ordhc.trees import index_names

__all__ = ["Plan", "cluster"]

Progress = Callable[[float], None]

#: Ways to linkages of vectors.
ENGINES = ("auto", "matrix", "matrix-free")

#: The share of progress that is told before subtrees move.
_REFINING = 0.2

#: From so many leaves on answers are taken as sparse, if they change less than one of `_FEW` pairs.
_MANY, _FEW = 2000, 20


def part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """What tells the progress of a part of the work that goes from one share to another."""
    if progress is None:
        return None
    return lambda done: progress(start + (end - start) * done)


@dataclass(frozen=True)
class Plan:
    """A similarity (or none) and a linkage, with their settings."""

    similarity: SimilaritySpec | None
    linkage: LinkageSpec
    similarity_settings: Mapping[str, Any]
    linkage_settings: Mapping[str, Any]
    #: The objective by which subtrees are moved afterwards.
    refine: str | None = None

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
        if method is None:
            names = _parts(data, similarity, linkage)
        elif similarity is not None or linkage is not None:
            raise InputError("give a method, or a similarity and a linkage, not both")
        else:
            named = registry.get("method", method)
            names, defaults = (named.similarity, named.linkage), named.parameters
            refine = named.refine if refine is None else refine
        build = None if names[0] is None else registry.get("similarity", names[0])
        merge = registry.get("linkage", names[1])
        given: list[dict[str, Any]] = []
        by_part = [
            ("similarity_parameters", similarity_parameters),
            ("linkage_parameters", linkage_parameters),
        ]
        for argument, own in by_part:
            if own is not None and not isinstance(own, Mapping):
                raise InputError(f"{argument} is {_checks.quoted(own)}, not a dict")
            given.append(dict(own or {}))
        known = [{} if build is None else build.parameters, merge.parameters]
        for name, value in {**defaults, **parameters}.items():
            takers = [at for at in (0, 1) if name in known[at]]
            if not takers:
                settings = ", ".join([*known[0], *known[1]]) or "none"
                raise InputError(
                    f"there is no parameter {_checks.quoted(name)} of this method; there are: {settings}"
                )
            if len(takers) == 2:
                raise InputError(
                    f"the similarity and the linkage both have {name!r}: "
                    "say which in similarity_parameters or linkage_parameters"
                )
            given[takers[0]][name] = value
        what = (f"similarity {names[0]!r}", f"linkage {names[1]!r}")
        settings_of = [verbs._settings(known[at], given[at], what[at]) for at in (0, 1)]
        refine = bool(refine) if isinstance(refine, np.bool_) else refine
        if refine is True:
            refine = "revenue" if build is None else "dasgupta"
        objective = None if refine is None or refine is False else refine
        if objective is not None and not (isinstance(objective, str) and objective in OBJECTIVES):
            words = ", ".join(OBJECTIVES)
            raise InputError(f"refine is {_checks.quoted(refine)}, not True, False or one of {words}")
        if objective == "dasgupta" and build is None:
            raise InputError(f"linkage {merge.name!r} has no similarities to refine by: say refine='revenue'")
        return cls(build, merge, settings_of[0], settings_of[1], objective)

    def fit(
        self,
        data: Any,
        *,
        initial_clusters: ArrayLike | None = None,
        tie_seed: int | None = None,
        engine: str = "auto",
        progress: Progress | None = None,
    ) -> tuple[Dendrogram, NDArray[np.int64]]:
        """The tree, and the leaves without answers, which are merged last."""
        names = data.names if isinstance(data, Triplets | Quadruplets) else index_names(data)
        data = verbs._fitting(data, self.accepts, self.title)
        n = data.n_leaves if isinstance(data, Triplets | Quadruplets) else data.shape[0]
        initial = verbs._labels(initial_clusters, n)
        tie_seed = None if tie_seed is None else _checks.seed(tie_seed, "tie_seed")
        # Moves depend on ties of the tree they start from.
        order = canonical_order(data) if self.refine else np.arange(n)
        if tie_seed is not None:
            order = order[np.random.default_rng(tie_seed).permutation(n)]
        renumbered = bool(self.refine) or tie_seed is not None
        if renumbered:
            data = in_order(data, order)
            initial = None if initial is None else initial[order]
        engine = _checks.choice("engine", engine, ENGINES)
        if self.refine in ("revenue", "satisfied") and not isinstance(data, Triplets | Quadruplets):
            raise InputError(f"refine={self.refine!r} needs comparisons; for vectors there is 'dasgupta'")
        if engine == "matrix-free" and self.refine:
            raise InputError("refining needs a matrix: leave out engine='matrix-free'")
        if engine == "matrix-free" and self._measure is None:
            raise InputError(
                f"{self.title} needs a matrix; matrix-free are average linkage of dot, cosine and their "
                "like, single linkage of these and of distances, and ward of euclidean"
            )
        if engine == "matrix-free" and initial is not None and self.linkage.native != "average":
            raise InputError(f"{self.title} needs a matrix to start from initial_clusters")
        if isinstance(data, Triplets | Quadruplets):
            tree, unanswered = self._fit_comparisons(data, initial, progress)
        else:
            tree, unanswered = self._merge(data, initial, progress, engine), np.zeros(0, dtype=np.int64)
        if renumbered:
            tree = tree.relabel(order)
            unanswered = np.sort(order[unanswered])
        return tree.with_names(names), unanswered

    @property
    def accepts(self) -> tuple[str, ...]:
        """What data it takes."""
        return self.linkage.data if self.similarity is None else self.similarity.data

    @property
    def title(self) -> str:
        """The similarity and the linkage in words."""
        if self.similarity is None:
            return f"linkage {self.linkage.name!r}"
        return f"similarity {self.similarity.name!r} with linkage {self.linkage.name!r}"

    def _fit_comparisons(
        self, data: Triplets | Quadruplets, initial: NDArray[np.int64] | None, progress: Progress | None
    ) -> tuple[Dendrogram, NDArray[np.int64]]:
        n = data.n_leaves
        counts = slice(None) if data.weights is None else data.weights > 0
        answered = np.zeros(n, dtype=bool)
        answered[data.rows[counts].ravel()] = True
        unanswered = np.flatnonzero(~answered)
        labels = np.arange(n) if initial is None else initial
        # What is in an initial cluster with answers goes where the cluster goes.
        kept = np.isin(labels, labels[answered])
        if kept.all():
            return self._merge(data, initial, progress), unanswered
        leaves = np.flatnonzero(kept)
        if not len(leaves):
            return _completed(None, leaves, labels), unanswered
        names = None if data.names is None else [data.names[leaf] for leaf in leaves]
        few = data[counts]
        few = few._changed(rows=(np.cumsum(kept) - 1)[few.rows], n_leaves=len(leaves), names=names)
        tree = self._merge(few, None if initial is None else initial[leaves], progress)
        return _completed(tree, leaves, labels), unanswered

    def _refined(
        self, tree: Dendrogram, data: Any, initial: NDArray[np.int64] | None, progress: Progress | None
    ) -> Dendrogram:
        if self.refine is None or tree.n_leaves < 3:
            return tree
        less_is_closer = self.refine == "dasgupta" and tree.kind == "dissimilarity"
        progress = part(progress, _REFINING, 1)
        return refined(
            tree, data, self.refine, dissimilarity=less_is_closer, initial=initial, progress=progress
        )

    @property
    def _measure(self) -> str | None:
        """What an engine that needs no matrix would compute from vectors as it goes, if there is one."""
        if self.similarity is None:
            return None
        if self.similarity.factor is not None:
            return "dot" if self.linkage.native in ("average", "single") else None
        name = self.similarity.name
        distances = name in ("euclidean", "sqeuclidean", "manhattan") and registry.is_builtin(self.similarity)
        fits = self.linkage.native == "single" or (self.linkage.native == "ward" and name == "euclidean")
        return name if distances and fits else None

    def _prefers_no_matrix(self, rows: Any, initial: NDArray[np.int64] | None, engine: str) -> bool:
        native = self.linkage.native
        needs_one = bool(self.refine) or (initial is not None and native != "average")
        if self._measure is None or native is None or needs_one:
            return False
        return engine == "matrix-free" or (engine == "auto" and vectors.prefers_no_matrix(rows, native))

    def _is_sparse(self, data: Any) -> bool:
        """Whether answers are so few that most pairs have AddS similarity 0: no matrix is made."""
        if self.similarity is None or self.refine or not verbs.is_adds(self.similarity):
            return False
        n = data.n_leaves
        few = n >= _MANY and 2 * len(data) * _FEW < n * (n - 1) // 2
        return few and self.linkage.native in sparse.LINKAGES

    def _merge(
        self,
        data: Any,
        initial: NDArray[np.int64] | None,
        progress: Progress | None,
        engine: str = "auto",
    ) -> Dendrogram:
        if self.similarity is None:
            merge = self.linkage.from_comparisons
            if merge is None:
                raise InputError(f"linkage {self.linkage.name!r} needs a similarity")
            upto = _REFINING if self.refine else 1.0
            progress_of = part(progress, 0, upto)
            tree = merge(data, initial_clusters=initial, progress=progress_of, **self.linkage_settings)
            if not isinstance(tree, Dendrogram) or tree.n_leaves != data.n_leaves:
                raise PluginError(f"{self.title} gave {tree!r}, not a Dendrogram of {data.n_leaves} leaves")
            return self._refined(tree, data, initial, progress)

        def half(offset: float) -> Progress | None:
            upto = _REFINING if self.refine else 1.0
            return part(progress, upto * offset, upto * (offset + 0.5))

        if self._is_sparse(data):
            rule = _ordhc.Linkage.native(str(self.linkage.native))
            tree = _ordhc.adds_linkage(data.rows, data.weights, data.n_leaves, rule, initial, progress)
            return Dendrogram._of(tree, None)
        settings = dict(self.similarity_settings)
        own, rows, scale = None, data, 1.0
        if self.similarity.factor is not None:
            rows, scale = verbs.factored(self.similarity, data, half(0), settings)
            own = scale * vectors.squared_norms(rows)
        what, measure, native = self.similarity.name, self._measure, self.linkage.native
        if measure is not None and native is not None and self._prefers_no_matrix(rows, initial, engine):
            tree = vectors.matrix_free_linkage(rows, native, measure, scale, initial, half(0.5), what=what)
            return tree if own is None else tree.with_leaf_heights(_ordhc.leaf_heights(tree._tree, own))
        if own is None:
            pairs = verbs._built(self.similarity, data, "condensed", "float64", half(0), settings)
        else:
            # What the engine works in, so that there is one matrix only.
            pairs = vectors.products(rows, scale, "condensed", "float64", half(0), what=what)
        less_is_closer = self.similarity.dissimilarity
        if not len(pairs):
            tree = Dendrogram([], [], kind="dissimilarity" if less_is_closer else "similarity")
        else:
            linkage = dict(self.linkage_settings)
            # A plugin might keep what it gives.
            fresh = own is not None or registry.is_builtin(self.similarity)
            tree = verbs._merged(
                self.linkage,
                pairs,
                linkage,
                initial,
                half(0.5),
                dissimilarity=less_is_closer,
                overwrite=fresh and pairs.dtype == np.float64 and self.refine != "dasgupta",
            )
        tree = self._refined(tree, pairs if self.refine == "dasgupta" else data, initial, progress)
        return tree if own is None else tree.with_leaf_heights(_ordhc.leaf_heights(tree._tree, own))


def cluster(
    data: Triplets | Quadruplets | ArrayLike,
    *,
    method: str | None = None,
    similarity: str | None = None,
    linkage: str | None = None,
    similarity_parameters: Mapping[str, Any] | None = None,
    linkage_parameters: Mapping[str, Any] | None = None,
    initial_clusters: ArrayLike | None = None,
    tie_seed: int | None = None,
    engine: str = "auto",
    refine: bool | str | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Dendrogram:
    """From data to a dendrogram.

    Parameters
    ----------
    data
        `Triplets`, `Quadruplets`, or for methods of vectors an (n, p) array (float32 and float64 are used
        as they are), a SciPy sparse matrix, or a data frame, whose index gives names (as text, unless it
        only numbers the rows).
    method
        A paper's name: "adds3-al" (the default for triplets), "mulk3-al" = "3k-al", "3-al", "build"
        for triplets; "adds4-al" (the default for quadruplets), "4k-al", "mulk4-al", "4-al" for
        quadruplets, or triplets as quadruplets; "4-sl", "4-cl" for complete sets of quadruplets;
        "cosine-al", "dot-al" for vectors.
    similarity, linkage
        The two parts by name, instead of a method. Linkages of comparisons ("3-al", "4-al", "4-sl",
        "4-cl", "build") take no similarity.
    similarity_parameters, linkage_parameters
        Their settings, where keywords would not say which of the two is meant.
    initial_clusters
        (n,) labels: leaves of the same label are merged first (4-AL-I3 and 4-AL-I5 of the papers),
        at least as close as the closest merge after. Average linkage and its like merge the nearest
        pair within an initial cluster as long as there is one; "3-al" and "4-al" leaf by leaf.
    tie_seed
        As in `linkage`. Methods that refine break ties in an order that comes from the data, of which this
        takes a random permutation.
    engine
        For vectors: "matrix" computes all pairs first, "matrix-free" none, in O(n p) memory. Without a
        matrix go average linkage of dot products and cosines (the average of two clusters is the dot
        product of their means), single linkage of these and of distances (a spanning tree that grows), and
        "ward" of "euclidean" (centroids and sizes). Where no two similarities are closer than rounding the
        tree is the same, heights differ by rounding. "auto" takes the faster one, and the one that fits into
        memory. Single linkage and Ward start from `initial_clusters` only with a matrix.
    refine
        Move subtrees afterwards as long as that improves the tree (see `ordhc.refine`): True goes by
        Dasgupta's cost under the similarities of the method, or by the revenue where it has none; or
        "dasgupta", "revenue", "satisfied". Methods named "...+spr" do that by themselves.
    progress
        Called now and then with the share that is done, from 0 to 1.
    **parameters
        Settings of the similarity or the linkage, for example ``normalize=False`` of "mulk3".

    Returns
    -------
    Dendrogram
        With the data's names. Repeated answers count as often as they occur, weights multiply.
        Contradictions cancel in "adds3-al", "adds4-al", "3-al", "4-al", "mulk4-al" and "4k-al"; for
        "mulk3-al" their question counts as answered, for "consistency" each of them counts. Twice the
        weight of all answers matters only to "4k-al", which adds products of weights to weights.

    Warns
    -----
    OrdhcWarning
        Leaves without answers (of positive weight): they are kept and merged last, one by one, at the
        height of the last merge.

    Raises
    ------
    InputError
        Unknown names (with the nearest ones), data that a method does not take, initial clusters of
        another length, quadruplets that aren't complete for "4-sl" and "4-cl" (with what is missing),
        triplets that no tree satisfies for "build" (with a small set of them).

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "car"), ("car", "dog", "cat")])
    >>> ordhc.cluster(t, method="adds3-al").to_newick(branch_lengths=False)
    '(car,(cat,dog));'
    >>> ordhc.cluster(t, method="3-al").heights
    array([1., 0.])
    >>> ordhc.cluster([[1, 0], [2, 0], [0, 1]], method="cosine-al").heights
    array([1., 0.])
    """
    progress = _checks.callback("progress", progress)
    plan = Plan.of(
        data,
        method=method,
        similarity=similarity,
        linkage=linkage,
        similarity_parameters=similarity_parameters,
        linkage_parameters=linkage_parameters,
        refine=refine,
        **parameters,
    )
    tree, unanswered = plan.fit(
        data, initial_clusters=initial_clusters, tie_seed=tie_seed, engine=engine, progress=progress
    )
    if len(unanswered):
        warnings.warn(unanswered_text(tree, unanswered), OrdhcWarning, stacklevel=2)
    return tree


def unanswered_text(tree: Dendrogram, unanswered: NDArray[np.int64]) -> str:
    """Which leaves have no answers."""
    some = ", ".join(tree.labels[leaf] for leaf in unanswered[:5])
    more = f" and {len(unanswered) - 5} more" if len(unanswered) > 5 else ""
    have = "leaf has" if len(unanswered) == 1 else "leaves have"
    merged = "is" if len(unanswered) == 1 else "are"
    return f"{len(unanswered)} {have} no answers and {merged} merged last: {some}{more}"


def _parts(data: Any, similarity: str | None, linkage: str | None) -> tuple[str | None, str]:
    if linkage is not None and registry.get("linkage", linkage).from_comparisons is not None:
        if similarity is not None:
            raise InputError(f"linkage {linkage!r} takes comparisons as they are: leave out the similarity")
        return None, linkage
    if similarity is None:
        if isinstance(data, Quadruplets):
            similarity = "adds4"
        elif isinstance(data, Triplets):
            similarity = "adds3"
        else:
            raise InputError(
                f"{type(data).__name__} is neither Triplets nor Quadruplets: make ordhc.Triplets(rows) of "
                "comparisons, or give a method or similarity for vectors"
            )
    return similarity, linkage or "average"


def _completed(tree: Dendrogram | None, leaves: NDArray[np.int64], labels: NDArray[np.int64]) -> Dendrogram:
    """The tree over all leaves from one over `leaves`; the clusters of the others are merged last."""
    n = len(labels)
    rest: dict[int, list[int]] = {}
    for leaf in np.setdiff1d(np.arange(n), leaves).tolist():
        rest.setdefault(int(labels[leaf]), []).append(leaf)
    merges: list[tuple[int, int]] = []
    top: list[int] = []
    for members in rest.values():
        whole = members[0]
        for leaf in members[1:]:
            merges.append((whole, leaf))
            whole = n + len(merges) - 1
        top.append(whole)
    heights = np.zeros(0) if tree is None else tree.heights
    falling = tree is None or tree.kind == "similarity"
    closest = (heights.max() if falling else heights.min()) if len(heights) else 0.0
    before = len(merges)
    if tree is not None:
        few = len(leaves)
        shift = n + before - few
        whole = int(leaves[0]) if few == 1 else 2 * few - 2 + shift
        own = np.where(tree.merges < few, leaves[np.minimum(tree.merges, few - 1)], tree.merges + shift)
        merges.extend(map(tuple, own.tolist()))
        top.insert(0, whole)
    last = heights[-1] if len(heights) else 0.0
    whole = top[0]
    for other in top[1:]:
        merges.append((whole, other))
        whole = n + len(merges) - 1
    after = len(merges) - before - len(heights)
    all_heights = np.concatenate([np.full(before, closest), heights, np.full(after, last)])
    kind = "similarity" if falling else "dissimilarity"
    return Dendrogram(merges, all_heights, kind=kind)
