"""The verb `linkage`: from similarities to a dendrogram."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.agglomerate import spanning, sparse
from ordhc.agglomerate.constraints import Constraints, merged_under
from ordhc.agglomerate.engine import engine_linkage
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.frames import without_names
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.plugins.names import Linkage
from ordhc.plugins.specs import LinkageSpec
from ordhc.tree.annotations import Annotations
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import from_engine, replaced, with_annotations
from ordhc.tree.settings import made_by, settings_of

__all__ = ["linkage", "merged_by"]


#: The meaning of pairs that a sparse matrix does not store.
MISSING = ("zero", "ignore")


def linkage(
    S: ArrayLike | Callable[[int, NDArray[np.int64]], ArrayLike],
    name: Linkage = "average",
    *,
    dissimilarity: bool | None = None,
    names: Sequence[str] | None = None,
    n_leaves: int | None = None,
    initial_clusters: ArrayLike | None = None,
    must_link: Sequence[tuple[Any, Any]] | None = None,
    cannot_link: Sequence[tuple[Any, Any]] | None = None,
    sizes: ArrayLike | None = None,
    tie_seed: int | None = None,
    overwrite: bool = False,
    missing: str = "zero",
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Dendrogram:
    """Merge the most similar pair of clusters until one is left.

    Parameters
    ----------
    S
        (n, n) symmetric (the diagonal is ignored) or the n(n-1)/2 pairs as SciPy orders them;
        float64, float32 or integers. Finite. Or, for "single", "complete" and "average", a SciPy sparse
        (n, n) matrix or array: a pair may be stored in either triangle, or in both with equal values;
        duplicates are summed, as SciPy does. It stays as it is, and no full matrix is made. Or, for
        "single", a function: ``S(i, others)`` gives the similarities of leaf i with the k others, (k,)
        finite; it is called once for every leaf but one, in O(n) memory. Heights are those of a matrix;
        within a tie clusters may be joined in another order.
    name
        "single", "complete", "average", "weighted", "ward", "centroid", "median", or what a plugin
        brings. A pair of a name and its settings, too: ``("flexible-beta", {"beta": -0.5})``.
    dissimilarity
        Required: True if larger numbers mean farther apart, False if larger numbers mean more alike.
        "ward", "centroid" and "median" work on squares of dissimilarities, and heights are square roots, as
        in SciPy. On similarities they take s as a negative squared dissimilarity, and heights stay
        similarities. A constant added to all similarities changes nothing for "ward", but matters for
        "centroid" and "median".
    names
        The names of the leaves; by default those of a data frame: its index (as text), or else a first column
        of text, or its columns, which must be the same in the same order where there are both.
    n_leaves
        The number of leaves, where S is a function.
    initial_clusters
        (n,) labels: leaves of the same label are merged first, one cluster after the other, in each the
        nearest pair as long as there is one; at least as close as the closest merge after.
    must_link
        Pairs of leaves, by number or name, that are in one cluster: the leaves of a pair, and of pairs that
        share leaves, are merged first, as `initial_clusters` are.
    cannot_link
        Pairs of leaves, by number or name, that are kept apart: two clusters merge only if no pair has a leaf
        in each. When no such clusters are left, the rest merges by the linkage alone, at heights at least as
        far as all merges before. The tree's ``settings["n_apart"]`` is the smallest number of clusters into
        which it can be cut so that all pairs are apart.
    sizes
        (n,) positive numbers: a leaf of size 3 counts as three leaves at the same place, such as three equal
        rows of a table. "ward" takes sizes with dissimilarities only, between leaves of size 1; R's `hclust`
        takes `members` with dissimilarities of Ward's kind, in which the sizes are contained already.
    tie_seed
        Break ties in a random order of the leaves with this seed, instead of by number.
    overwrite
        S, a writable C-contiguous array of float64, is handed over: it is worked in, and its content is
        undefined afterwards. Beside it O(n) memory is needed (linkages given as row updates, and linkages
        that round, where values repeat, still make a copy). Without, a working copy of up to S's pairs is
        made, for "centroid" and "median" of twice as much, for "single" none. It is float64 whatever the type
        of S: for float32 up to twice the memory of its pairs.
    missing
        What pairs are that a sparse S doesn't store. "zero": their similarity is 0, and the result that of
        ``S.toarray()``. "ignore": they are unknown. "average" is the mean of the known pairs of two clusters,
        "complete" the least and "single" the largest of these; clusters without a known pair merge when no
        others are left, one by one in the order of their smallest leaves, at the height of the last merge (0
        if there is none). Initial clusters without a known pair inside are merged at the height of the
        closest merge after. Dissimilarities need "ignore".
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the linkage, for example ``beta`` of a plugin's "flexible-beta".

    Returns
    -------
    Dendrogram
        Heights are the similarity (or dissimilarity) at each merge.

    Warns
    -----
    OrdhcWarning
        Dissimilarities below 0, or with a diagonal that is the largest of each row. With
        ``missing="ignore"``, known pairs that leave more than one tree, with their number. Values that cancel
        out so far that the rounding of what they are sums of decides which clusters are nearest.

    Raises
    ------
    InputError
        No `dissimilarity`; NaN or infinity (with their place), dissimilarities below 0 of linkages that
        square them, an asymmetric matrix (a sparse one: the two values), shapes that are none, unknown names
        (with the nearest ones).
    MemoryError
        A matrix that does not fit, with the bytes.

    Notes
    -----
    Ties take the pair with the lexicographically smallest (smallest leaf of one cluster, smallest leaf
    of the other), whatever the number of threads. "average" sums whole numbers exactly, so
    that equal means of counts stay equal. "single" and "complete" compare values as they are. Where
    similarities are rounded ("average" of other numbers, all other linkages) those count as equal that are
    the same number when rounded to 36 significant bits, which is to about 2e-11 of themselves. With
    ``missing="ignore"`` "average" and "complete" take, of equally similar pairs, that of which the larger
    share is known, and then go by the leaves.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.linkage([[0, 3, 1], [3, 0, 2], [1, 2, 0]], "average", dissimilarity=False)
    >>> d.merges.tolist(), d.heights.tolist()
    ([[0, 1], [2, 3]], [3.0, 1.5])
    >>> apart = ordhc.linkage([3, 1, 2], "average", dissimilarity=False, cannot_link=[(0, 1)])
    >>> apart.to_newick(branch_lengths=False), apart.settings["n_apart"]
    ('(0,(1,2));', 2)
    """
    plain = type(S) is np.ndarray
    if parameters or not plain:
        _refuse_others(S, parameters)
    if dissimilarity is not True and dissimilarity is not False:
        call = f"linkage(S, {_checks.quoted(name)})"
        dissimilarity = _checks.is_dissimilarity(dissimilarity, call)
    # Trees of few leaves are made by the thousand, so arguments at their defaults are not checked.
    if (
        plain
        and not parameters
        and (names is None and n_leaves is None and initial_clusters is None and tie_seed is None)
        and (must_link is None and cannot_link is None and sizes is None)
        and (progress is None and overwrite is False and isinstance(missing, str) and missing == "zero")
    ):
        few = _of_few(S, name, dissimilarity)
        if few is not None:
            return few
    linked = {"must_link": must_link, "cannot_link": cannot_link, "sizes": sizes}
    linked["initial_clusters"] = initial_clusters
    given = _Given(names, n_leaves, linked, tie_seed, overwrite, missing)
    return _linked(S, name, parameters, given, dissimilarity=dissimilarity, progress=progress)


@dataclass(frozen=True)
class _Given:
    """The optional arguments of `linkage` of these names, not checked yet."""

    names: Sequence[str] | None
    n_leaves: int | None
    #: The arguments from which `Constraints.of` makes constraints.
    constraints: Mapping[str, Any]
    tie_seed: int | None
    overwrite: bool
    missing: str


@shows_progress("clustering")
@_checks.remedied(
    "overwrite=True works in S itself, a sparse S or ordhc.cluster(vectors) needs no matrix of pairs"
)
def _linked(
    S: Any,
    name: registry.Named,
    parameters: Mapping[str, Any],
    given: _Given,
    *,
    dissimilarity: bool,
    progress: Progress | bool | None = None,
) -> Dendrogram:
    """Return the tree that `linkage` returns, from checked arguments."""
    plain = type(S) is np.ndarray
    progress = _checks.callback("progress", progress)
    spec, settings = registry.chosen("linkage", name, **parameters)
    overwrite = _checks.flag("overwrite", given.overwrite)
    missing = _checks.choice("missing", given.missing, MISSING)
    tie_seed = None if given.tie_seed is None else _checks.seed(given.tie_seed, "tie_seed")
    names, n_leaves = given.names, given.n_leaves
    unconstrained = all(value is None for value in given.constraints.values())
    made = made_by(linkage=spec.name, linkage_parameters=settings)
    if not plain:
        from ordhc.tree.convert import square_names

        S, in_column = without_names(S)
        if names is None:
            names = square_names(S, in_column)
    if callable(S):
        if spec.native != "single":
            raise InputError(f"linkage {spec.name!r} takes no function, only 'single' does: give a matrix")
        if overwrite or missing != "zero" or not unconstrained:
            raise InputError("a function takes no overwrite, missing, initial_clusters, sizes and pairs")
        if n_leaves is None:
            raise InputError("a function does not tell the number of leaves: give n_leaves")
        n = _checks.whole("n_leaves", n_leaves, at_least=1)
        turn = np.arange(n) if tie_seed is None else np.random.default_rng(tie_seed).permutation(n)
        tree = spanning.single_linkage(S, turn, dissimilarity=dissimilarity, progress=progress)
        return replaced(tree.relabel(turn), names=names, settings=made)
    if n_leaves is not None:
        raise InputError(f"n_leaves is for functions; {type(S).__name__} has a number of leaves")
    if not plain and sparse.is_sparse(S):
        if overwrite:
            raise InputError("a sparse matrix takes no overwrite=True: it stays as it is")
        pairs = sparse.as_pairs(S)
        constraints = Constraints.of(pairs.shape[0], names, **given.constraints)
        if constraints.needs_its_own_engine:
            raise InputError("a sparse matrix takes no sizes and cannot_link: give S.toarray()")
        initial = constraints.initial
        order = None
        if tie_seed is not None:
            order = np.random.default_rng(tie_seed).permutation(pairs.shape[0])
            pairs = sparse.as_pairs(pairs[order][:, order])
            initial = None if initial is None else initial[order]
        tree = sparse.merged(
            pairs, spec.name, spec.native, initial, progress, dissimilarity=dissimilarity, missing=missing
        )
        return replaced(tree if order is None else tree.relabel(order), names=names, settings=made)
    if missing != "zero":
        raise InputError(
            f"missing={_checks.quoted(missing)} is for sparse matrices; {type(S).__name__} has all pairs"
        )
    values = _checks.overwritable(S) if overwrite else _checks.matrix(S)
    n = len(values) if values.ndim == 2 else _checks.leaves_of_condensed(len(values))
    look = None
    if dissimilarity and not overwrite and tie_seed is None:
        # The engine reads all values anyway, and calls `look` only if there are suspect values.
        look = partial(_checks.check_dissimilarities, values, squared=spec.squares)
    elif dissimilarity:
        _checks.check_dissimilarities(values, squared=spec.squares)
    constraints = Constraints.of(n, names, **given.constraints)
    if constraints.needs_its_own_engine and overwrite:
        raise InputError("overwrite=True takes no sizes and cannot_link, which need a copy of the matrix")
    if tie_seed is None and constraints.needs_its_own_engine:
        return merged_under(
            constraints,
            spec,
            values,
            settings,
            progress,
            dissimilarity=dissimilarity,
            names=names,
            made=made,
        )
    if tie_seed is None:
        return merged_by(
            spec,
            values,
            settings,
            constraints.initial,
            progress,
            dissimilarity=dissimilarity,
            overwrite=overwrite,
            names=names,
            made=made,
            look=look,
        )
    order = np.random.default_rng(tie_seed).permutation(n)
    values = np.ascontiguousarray(_checks.square(values)[np.ix_(order, order)])
    constraints = constraints.in_order(order)
    if constraints.needs_its_own_engine:
        tree = merged_under(
            constraints, spec, values, settings, progress, dissimilarity=dissimilarity, names=None, made=made
        )
        return replaced(tree.relabel(order), names=names, settings=tree.settings)
    own = bool(values.dtype == np.float64)
    tree = merged_by(
        spec, values, settings, constraints.initial, progress, dissimilarity=dissimilarity, overwrite=own
    )
    return replaced(tree.relabel(order), names=names, settings=made)


def _of_few(S: Any, name: registry.Named, dissimilarity: bool) -> Dendrogram | None:
    """Return the tree of few leaves, or None if an argument needs a closer look."""
    if not isinstance(name, str):
        return None
    spec = registry.get("linkage", name)
    if spec.native is None or spec.parameters:
        return None
    rule, annotations = _native(spec.name, spec.native)
    tree = _ordhc.agglomerate_few(S, rule, dissimilarity)
    return None if tree is None else with_annotations(tree, annotations)


@lru_cache(maxsize=64)
def _native(name: str, native: str) -> tuple[_ordhc.Linkage, Annotations]:
    """Return a linkage of the engine, and the annotations of its trees."""
    return _ordhc.Linkage.native(native), _annotations(name)


def _refuse_others(S: Any, parameters: Mapping[str, Any]) -> None:
    """Raise if what should be a matrix is something else, or arguments are those of SciPy."""
    if isinstance(S, Triplets | Quadruplets):
        raise InputError(f"{type(S).__name__} are no matrix: ordhc.cluster makes a tree of them")
    if isinstance(S, Dendrogram):
        raise InputError(
            "a Dendrogram is no matrix: it is a tree already, whose to_linkage_matrix() is SciPy's Z"
        )
    if isinstance(S, str | os.PathLike):
        raise InputError(
            f"{_checks.quoted(S)} is no matrix: numpy.load reads .npy, ordhc.read_answers answers"
        )
    if "method" in parameters:
        raise InputError(
            f"linkage has no parameter 'method', name={_checks.quoted(parameters['method'])} it is"
        )
    if "metric" in parameters:
        raise InputError(
            "linkage has no parameter 'metric': S holds similarities or distances; of vectors "
            f"ordhc.cluster(X, similarity={_checks.quoted(parameters['metric'])}, linkage=...) makes a tree"
        )


def merged_by(
    spec: LinkageSpec,
    values: NDArray[Any],
    settings: Mapping[str, Any],
    initial: NDArray[np.int64] | None,
    progress: Progress | None,
    *,
    dissimilarity: bool = False,
    overwrite: bool = False,
    names: Sequence[str] | None = None,
    made: Mapping[str, Any] | None = None,
    look: Callable[[bool], None] | None = None,
) -> Dendrogram:
    """Return the merges of a linkage on a matrix that the engine reads or overwrites.

    `look` is called first with whether there are numbers below 0, if there are any or there is a diagonal.
    """

    def similarities() -> NDArray[np.float64]:
        square = _checks.square(values).astype(np.float64)
        return -square if dissimilarity else square

    rule = engine_linkage(spec, settings, similarities)
    tree = _ordhc.agglomerate(values, rule, dissimilarity, "auto", initial, progress, overwrite, look)
    if names is None and made is not None and not settings:
        return with_annotations(tree, _annotations(spec.name))
    return from_engine(tree, names, settings=made)


@lru_cache(maxsize=64)
def _annotations(name: str) -> Annotations:
    """Return the annotations of a tree of a linkage without parameters, of leaves without names."""
    return Annotations(settings=settings_of(made_by(linkage=name)))
