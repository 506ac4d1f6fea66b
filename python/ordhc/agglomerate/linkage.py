"""The function `linkage`: make a dendrogram from similarities or dissimilarities."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.agglomerate import spanning, sparse
from ordhc.agglomerate.constraints import Constraints, merged_under
from ordhc.agglomerate.engine import engine_linkage, similarities_of
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.frames import without_names
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.plugins.names import Linkage
from ordhc.plugins.specs import LinkageSpec
from ordhc.tree.annotations import Annotations
from ordhc.tree.dendrogram import Dendrogram, from_engine, replaced, with_annotations
from ordhc.tree.settings import made_by


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
    """Merge the most similar pair of clusters repeatedly, and return the tree of all merges.

    Parameters
    ----------
    S
        The similarities or dissimilarities, finite numbers, in one of these forms:

        * a symmetric (n, n) array, whose diagonal is ignored, or the n(n-1)/2 pairs in SciPy's order; of
          float64, float32 or integers
        * for "single", "complete" and "average": a SciPy sparse (n, n) matrix or array. A pair may be stored
          as (i, j), as (j, i), or as both with equal values. Duplicates are summed, as in SciPy. S is not
          changed, and no full matrix is made.
        * for "single": a function. ``S(i, others)`` returns the values of leaf i with the k leaves `others`,
          (k,). The function is called once for each leaf except one. This needs O(n) memory. Heights equal
          those of a matrix; clusters that tie may be joined in another order.
    name
        "single", "complete", "average", "weighted", "ward", "centroid", "median", or the name of a plugin's
        linkage. Or a pair of a name and its settings, such as ``("flexible-beta", {"beta": -0.5})``.
    dissimilarity
        Required: True if larger numbers mean farther apart, False if larger numbers mean more alike.
        For dissimilarities, "ward", "centroid" and "median" compute with squares, and heights are square
        roots, as in SciPy. For similarities, these linkages treat s as a negative squared dissimilarity, and
        heights are similarities. A constant added to all similarities does not change the tree of "ward",
        but changes the trees of "centroid" and "median".
    names
        (n,) the names of the leaves. By default, names are taken from a data frame: the index as text, or
        else a first column of text, or else the columns. Rows and columns must have the same names.
    n_leaves
        The number of leaves, if S is a function.
    initial_clusters
        (n,) labels. Leaves with the same label merge first, one initial cluster after the other, the nearest
        pair first. Heights of these merges are at least as close as the closest later merge.
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
        rows of a table. "ward" takes sizes only with dissimilarities between leaves of size 1. R's `hclust`
        differs: with `members`, dissimilarities for Ward's method must already contain the sizes.
    tie_seed
        Break ties in a random order of the leaves with this seed, instead of by number.
    overwrite
        True computes in the memory of S, which must be a writable C-contiguous array of float64. The content
        of S is undefined afterwards. Further memory is O(n). Two kinds of linkage still make a copy: plugins'
        linkages with `update_row` and, if values repeat, linkages that round. False, the default, makes a
        copy of up to n(n-1)/2 numbers of float64 ("centroid" and "median": twice as many, "single": none).
    missing
        The meaning of pairs that a sparse S does not store. "zero", the default: their similarity is 0, so
        the tree is that of ``S.toarray()``. "ignore": they are unknown; dissimilarities need this value.

        With "ignore", the similarity of two clusters is computed from their known pairs only: "average"
        takes the mean, "complete" the smallest and "single" the largest similarity. Clusters without a known
        pair merge last, in the order of their smallest leaves, at the height of the last merge before (0 if
        there is none). Initial clusters without a known pair inside merge at the height of the closest later
        merge.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the linkage, for example ``beta`` of a plugin's "flexible-beta".

    Returns
    -------
    Dendrogram
        The tree. The height of each node is the similarity (or dissimilarity) at which its clusters merged.

    Warns
    -----
    OrdhcWarning
        Dissimilarities are below 0, or the diagonal has the largest value of each row. With
        ``missing="ignore"``: the known pairs do not connect all leaves; the message has the number of
        separate trees. Or values cancel, so that rounding errors decide which clusters are nearest.

    Raises
    ------
    InputError
        `dissimilarity` is missing; S has NaN or infinity, is not symmetric, or has a wrong shape (messages
        have values and positions); the linkage squares dissimilarities, and some are below 0; or `name` is
        unknown (the message has similar names).
    MemoryError
        The matrix does not fit into memory; the message has its size in bytes.

    Notes
    -----
    Among tied pairs of clusters, the pair with the lexicographically smallest (smallest leaf of one cluster,
    smallest leaf of the other) merges first, for any number of threads.

    "single" and "complete" compare values exactly. "average" sums whole numbers exactly, so equal means of
    counts are ties. "average" of other numbers and all other linkages round: values are ties if they are
    equal after rounding to 36 significant bits, a relative difference of about 2e-11. With
    ``missing="ignore"``, "average" and "complete" first merge the tied pair of which a larger share is known;
    then the smallest leaves decide.

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
    # Many callers make thousands of small trees, so skip the checks of arguments that have their defaults.
    if (
        plain
        and not parameters
        and (names is None and n_leaves is None and initial_clusters is None and tie_seed is None)
        and (must_link is None and cannot_link is None and sizes is None)
        and (progress is None and overwrite is False and isinstance(missing, str) and missing == "zero")
    ):
        few = _small_tree(S, name, dissimilarity)
        if few is not None:
            return few
    constraints = {
        "initial_clusters": initial_clusters,
        "must_link": must_link,
        "cannot_link": cannot_link,
        "sizes": sizes,
    }
    given = _Given(names, n_leaves, constraints, tie_seed, overwrite, missing)
    return _linked(S, name, parameters, given, dissimilarity=dissimilarity, progress=progress)


@dataclass(frozen=True)
class _Given:
    names: Sequence[str] | None
    n_leaves: int | None
    constraints: Mapping[str, Any]
    tie_seed: int | None
    overwrite: bool
    missing: str


@shows_progress("clustering")
@_checks.remedied(
    "overwrite=True computes in the memory of S; a sparse S or ordhc.cluster(vectors) needs no full matrix"
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
    plain = type(S) is np.ndarray
    progress = _checks.callback("progress", progress)
    spec, settings = registry.chosen("linkage", name, **parameters)
    overwrite = _checks.flag("overwrite", given.overwrite)
    missing = _checks.choice("missing", given.missing, ("zero", "ignore"))
    tie_seed = None if given.tie_seed is None else _checks.seed(given.tie_seed, "tie_seed")
    names, n_leaves = given.names, given.n_leaves
    made = made_by(linkage=spec.name, linkage_parameters=settings)
    if not plain:
        from ordhc.tree.convert import square_names

        S, in_column = without_names(S)
        if names is None:
            names = square_names(S, in_column)
    if callable(S):
        if spec.native != "single":
            raise InputError(f"linkage {spec.name!r} takes no function, only 'single' does: pass a matrix")
        if overwrite or missing != "zero" or any(value is not None for value in given.constraints.values()):
            raise InputError(
                "S is a function: leave out overwrite, missing, initial_clusters, must_link, cannot_link "
                "and sizes"
            )
        if n_leaves is None:
            raise InputError("S is a function, so the number of leaves is unknown: pass n_leaves")
        n = _checks.whole("n_leaves", n_leaves, at_least=1)
        names = _checks.names(names, n)
        turn = np.arange(n) if tie_seed is None else np.random.default_rng(tie_seed).permutation(n)
        tree = spanning.single_linkage(S, turn, dissimilarity=dissimilarity, progress=progress)
        return replaced(tree.relabel(turn), names=names, settings=made)
    if n_leaves is not None:
        raise InputError(f"n_leaves is only for functions, but S is {type(S).__name__}: leave out n_leaves")
    if not plain and sparse.is_sparse(S):
        if overwrite:
            raise InputError("a sparse matrix takes no overwrite=True, because it is never changed")
        pairs = sparse.as_pairs(S)
        names = _checks.names(names, pairs.shape[0])
        constraints = Constraints.of(pairs.shape[0], names, **given.constraints)
        if constraints.has_sizes_or_apart:
            raise InputError("a sparse matrix takes neither sizes nor cannot_link: give S.toarray()")
        order = None
        if tie_seed is not None:
            order = np.random.default_rng(tie_seed).permutation(pairs.shape[0])
            pairs = sparse.as_pairs(pairs[order][:, order])
            constraints = constraints.in_order(order)
        tree = sparse.merged(
            pairs,
            spec.name,
            spec.native,
            constraints.initial,
            progress,
            dissimilarity=dissimilarity,
            missing=missing,
        )
        return replaced(tree if order is None else tree.relabel(order), names=names, settings=made)
    if missing != "zero":
        raise InputError(
            f"missing={_checks.quoted(missing)} is only for sparse matrices; {type(S).__name__} has all pairs"
        )
    checked = replace(given, names=names, tie_seed=tie_seed, overwrite=overwrite)
    return _of_matrix(S, spec, settings, checked, made, dissimilarity=dissimilarity, progress=progress)


def _of_matrix(
    S: Any,
    spec: LinkageSpec,
    settings: Mapping[str, Any],
    given: _Given,
    made: Mapping[str, Any],
    *,
    dissimilarity: bool,
    progress: Progress | None,
) -> Dendrogram:
    values = _checks.overwritable(S) if given.overwrite else _checks.matrix(S)
    n = len(values) if values.ndim == 2 else _checks.leaves_of_condensed(len(values))
    given_names, look = _checks.names(given.names, n), None
    if dissimilarity and not given.overwrite and given.tie_seed is None:
        # The engine reads all values anyway, so it also finds negative values. The engine calls `look`
        # only if a value is below 0 or the matrix is square, because `look` checks the diagonal too.
        look = partial(_checks.check_dissimilarities, values, squared=spec.squares)
    elif dissimilarity:
        _checks.check_dissimilarities(values, squared=spec.squares)
    constraints = Constraints.of(n, given_names, **given.constraints)
    if constraints.has_sizes_or_apart and given.overwrite:
        raise InputError("overwrite=True takes neither sizes nor cannot_link; both need a copy of the matrix")
    order, names, overwrite = None, given_names, given.overwrite
    if given.tie_seed is not None:
        order = np.random.default_rng(given.tie_seed).permutation(n)
        values = np.ascontiguousarray(_checks.square(values)[np.ix_(order, order)])
        constraints, names, overwrite = constraints.in_order(order), None, values.dtype == np.float64
    if constraints.has_sizes_or_apart:
        tree = merged_under(
            constraints, spec, values, settings, progress, dissimilarity=dissimilarity, names=names, made=made
        )
    else:
        tree = merged_by(
            spec,
            values,
            settings,
            constraints.initial,
            progress,
            dissimilarity=dissimilarity,
            overwrite=bool(overwrite),
            names=names,
            made=made,
            look=look,
        )
    if order is None:
        return tree
    return replaced(tree.relabel(order), names=given_names)


def _small_tree(S: Any, name: registry.Named, dissimilarity: bool) -> Dendrogram | None:
    """Return the tree of a small, valid matrix; None for all other input."""
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
    return _ordhc.Linkage.native(native), _annotations(name)


def _refuse_others(S: Any, parameters: Mapping[str, Any]) -> None:
    if isinstance(S, Triplets | Quadruplets):
        raise InputError(
            f"S is {type(S).__name__}, not a matrix: make a tree of comparisons by ordhc.cluster"
        )
    if isinstance(S, Dendrogram):
        raise InputError(
            "S is a Dendrogram, not a matrix: it is a tree already; its to_linkage_matrix() is SciPy's Z"
        )
    if isinstance(S, str | os.PathLike):
        raise InputError(
            f"S is {_checks.quoted(S)}, not a matrix: read files by numpy.load (.npy) or ordhc.read_answers"
        )
    if "method" in parameters:
        raise InputError(
            f"linkage has no parameter 'method': use name={_checks.quoted(parameters['method'])}"
        )
    if "metric" in parameters:
        raise InputError(
            "linkage has no parameter 'metric', because S has similarities or distances; for vectors "
            f"call ordhc.cluster(X, similarity={_checks.quoted(parameters['metric'])}, linkage=...)"
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
    names: tuple[str, ...] | None = None,
    made: Mapping[str, Any] | None = None,
    look: Callable[[bool], None] | None = None,
) -> Dendrogram:
    """Return the tree of a linkage on the matrix `values`; with `overwrite`, `values` is overwritten.

    If the matrix is square or has a number below 0, `look` is called before the merges. `look` warns if the
    dissimilarities seem to be similarities. Its argument is True if a number is below 0.
    """
    rule = engine_linkage(spec, settings, partial(similarities_of, values, dissimilarity))
    tree = _ordhc.agglomerate(values, rule, dissimilarity, "auto", initial, progress, overwrite, look)
    if names is None and made is not None and not settings:
        return with_annotations(tree, _annotations(spec.name))
    return from_engine(tree, names, settings=made)


@lru_cache(maxsize=64)
def _annotations(name: str) -> Annotations:
    return Annotations(settings=made_by(linkage=name))
