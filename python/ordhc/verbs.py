"""The verbs: build a similarity, agglomerate it into a dendrogram, score the dendrogram."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _ordhc, registry
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError, PluginError
from ordhc.linkages import engine_linkage

__all__ = ["METHODS", "cluster", "linkage", "score", "similarity", "simulate_planted"]

Progress = Callable[[float], None]

#: The papers' names of methods: similarity and linkage.
METHODS: Mapping[str, tuple[str, str]] = {
    "adds3-al": ("adds3", "average"),
    "adds4-al": ("adds4", "average"),
}
_DTYPES = ("float64", "float32", "int64", "int32")


def similarity(
    data: Triplets | Quadruplets,
    name: str = "adds3",
    *,
    layout: str = "square",
    dtype: Any = "float64",
    progress: Progress | None = None,
    **parameters: Any,
) -> NDArray[Any]:
    """Similarities of all pairs of leaves, from comparisons.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`; triplets serve as quadruplets where these are needed.
    name
        "adds3" for triplets, "adds4" for quadruplets, or what a plugin brings.
    layout
        "square" gives (n, n), symmetric with zeros on the diagonal; "condensed" the n(n-1)/2 pairs as
        SciPy orders them, in half the memory.
    dtype
        float64, float32, int64 or int32; counts are whole numbers, weighted ones need floats.
    progress
        Called now and then with the share that is done, from 0 to 1.
    **parameters
        Settings of the builder.

    Returns
    -------
    ndarray
        Similarities: larger is closer, in units of comparisons for "adds3" and "adds4".

    Raises
    ------
    InputError
        An unknown name (with the nearest ones), data it does not take.
    MemoryError
        A matrix that does not fit, with the bytes.

    Notes
    -----
    AddS3 is s_ij = sum_k x(i;j,k) + x(j;i,k), with x the weight of "i is closer to j than to k" minus
    that of the opposite (Mandal, Perrot & Ghoshdastidar 2023, Theorem 1). The result does not depend
    on the number of threads.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.similarity(ordhc.Triplets([(0, 1, 2), (1, 0, 2)]), "adds3")
    array([[ 0.,  2., -1.],
           [ 2.,  0., -1.],
           [-1., -1.,  0.]])
    """
    spec = registry.get("similarity", name)
    if layout not in ("square", "condensed"):
        raise InputError(f"layout is {layout!r}, not 'square' or 'condensed'")
    try:
        type_name = np.dtype(dtype).name
    except TypeError:
        type_name = str(dtype)
    if type_name not in _DTYPES:
        raise InputError(f"dtype is {dtype!r}, not one of {', '.join(_DTYPES)}")
    data = _fitting(data, spec.data, f"similarity {name!r}")
    settings = _settings(spec.parameters, parameters, f"similarity {name!r}")
    result = spec.build(data, layout=layout, dtype=type_name, progress=progress, **settings)
    n = data.n_leaves
    shape = (n, n) if layout == "square" else (n * (n - 1) // 2,)
    if not isinstance(result, np.ndarray) or result.shape != shape:
        found = getattr(result, "shape", type(result).__name__)
        raise PluginError(f"similarity {name!r} gave {found}, not an array of shape {shape}")
    return result


def linkage(
    S: ArrayLike,
    name: str = "average",
    *,
    dissimilarity: bool = False,
    names: Sequence[str] | None = None,
    engine: str = "auto",
    tie_seed: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Dendrogram:
    """Merge the most similar pair of clusters until one is left.

    Parameters
    ----------
    S
        (n, n) symmetric (the diagonal is ignored) or the n(n-1)/2 pairs as SciPy orders them;
        float64, float32 or integers. Finite.
    name
        "single", "complete", "average", "weighted", "ward", "centroid", "median", or what a plugin
        brings.
    dissimilarity
        Smaller is closer. "ward", "centroid" and "median" then work on squares and heights are
        square roots, as in SciPy. On similarities they take s as a negative squared dissimilarity,
        and heights stay similarities; a constant added to all of them changes nothing for "ward", but
        matters for "centroid" and "median".
    names
        The names of the leaves.
    engine
        "auto", "chain" (reducible linkages), "nearest-pair" or "naive"; the tree is the same.
    tie_seed
        Break ties in a random order of the leaves with this seed, instead of by number.
    progress
        Called now and then with the share that is done, from 0 to 1.
    **parameters
        Settings of the linkage, for example ``beta`` of a plugin's "flexible-beta".

    Returns
    -------
    Dendrogram
        Heights are the similarity (or dissimilarity) at each merge.

    Raises
    ------
    InputError
        NaN or infinity (with their place), an asymmetric matrix, shapes that are none, unknown
        names (with the nearest ones).
    MemoryError
        A matrix that does not fit, with the bytes.

    Notes
    -----
    Ties take the pair with the lexicographically smallest (smallest leaf of one cluster, smallest leaf
    of the other), whatever the engine and number of threads. "average" sums whole numbers exactly, so
    that equal means of counts stay equal.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.linkage([[0, 3, 1], [3, 0, 2], [1, 2, 0]], "average")
    >>> d.merges.tolist(), d.heights.tolist()
    ([[0, 1], [2, 3]], [3.0, 1.5])
    """
    spec = registry.get("linkage", name)
    settings = _settings(spec.parameters, parameters, f"linkage {name!r}")
    values = _matrix(S)
    order = None
    if tie_seed is not None:
        values = _square(values)
        order = np.random.default_rng(tie_seed).permutation(len(values))
        values = np.ascontiguousarray(values[np.ix_(order, order)])

    def similarities() -> NDArray[np.float64]:
        square = _square(values).astype(np.float64)
        return -square if dissimilarity else square

    rule = engine_linkage(spec, settings, similarities)
    tree = _ordhc.agglomerate(values, rule, bool(dissimilarity), engine, progress)
    if order is not None:
        tree = tree.relabel(order.astype(np.int64))
    return Dendrogram._of(tree, names)


def cluster(
    data: Triplets | Quadruplets,
    *,
    method: str | None = None,
    similarity: str | None = None,
    linkage: str | None = None,
    similarity_parameters: Mapping[str, Any] | None = None,
    linkage_parameters: Mapping[str, Any] | None = None,
    tie_seed: int | None = None,
    progress: Progress | None = None,
) -> Dendrogram:
    """From comparisons to a dendrogram.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets`.
    method
        A paper's name for a similarity and a linkage: "adds3-al" (the default for triplets),
        "adds4-al" (for quadruplets).
    similarity, linkage
        The two parts by name, instead of a method.
    similarity_parameters, linkage_parameters
        Their settings.
    tie_seed
        As in `linkage`.
    progress
        Called now and then with the share that is done, from 0 to 1.

    Returns
    -------
    Dendrogram
        With the data's names; leaves that no comparison mentions are kept.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "car")])
    >>> ordhc.cluster(t, method="adds3-al").to_newick(branch_lengths=False)
    '(car,(cat,dog));'
    """
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"cluster needs Triplets or Quadruplets, not {type(data).__name__}")
    build, merge = parts(data, method=method, similarity=similarity, linkage=linkage)

    def half(offset: float) -> Progress | None:
        if progress is None:
            return None
        return lambda done: progress(offset + done / 2)

    counts = _verb_similarity(
        data, build, layout="condensed", progress=half(0), **(similarity_parameters or {})
    )
    return _verb_linkage(
        counts,
        merge,
        names=data.names,
        tie_seed=tie_seed,
        progress=half(0.5),
        **(linkage_parameters or {}),
    )


def parts(
    data: Triplets | Quadruplets,
    *,
    method: str | None = None,
    similarity: str | None = None,
    linkage: str | None = None,
) -> tuple[str, str]:
    """The similarity and the linkage that `cluster` takes for these arguments."""
    if method is not None:
        if similarity is not None or linkage is not None:
            raise InputError("give a method, or a similarity and a linkage, not both")
        if method not in METHODS:
            import difflib

            near = difflib.get_close_matches(str(method).lower(), METHODS, n=2)
            hint = f" (did you mean {' or '.join(near)}?)" if near else ""
            raise InputError(f"unknown method {method!r}{hint}; there are {', '.join(METHODS)}")
        return METHODS[method]
    default = "adds3" if isinstance(data, Triplets) else "adds4"
    return similarity or default, linkage or "average"


def score(
    tree: Dendrogram,
    reference: Any,
    metric: str | None = None,
    **parameters: Any,
) -> Any:
    """How good a dendrogram is.

    Parameters
    ----------
    tree
        The dendrogram.
    reference
        What to compare with, for example the `Triplets` or `Quadruplets` it was made from, or
        better, ones held out.
    metric
        By default "triplet_revenue" for triplets and "quadruplet_revenue" for quadruplets.

    Returns
    -------
    int or float
        Exact (an int) for the revenue of unweighted comparisons.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)])
    >>> ordhc.score(ordhc.cluster(t), t)
    2
    """
    if not isinstance(tree, Dendrogram):
        raise InputError(f"score needs a Dendrogram, not {type(tree).__name__}")
    if metric is None:
        quadruplets = isinstance(reference, Quadruplets)
        metric = "quadruplet_revenue" if quadruplets else "triplet_revenue"
    spec = registry.get("metric", metric)
    if set(spec.reference) <= {"triplets", "quadruplets"}:
        reference = _fitting(reference, spec.reference, f"metric {metric!r}")
        if tree.names and reference.names and tree.names != reference.names:
            if set(tree.names) != set(reference.names):
                raise InputError("the tree and the comparisons have leaves of different names")
            place = {name: leaf for leaf, name in enumerate(reference.names)}
            tree = tree.relabel([place[name] for name in tree.names])
    settings = _settings(spec.parameters, parameters, f"metric {metric!r}")
    return spec.score(tree, reference, **settings)


def simulate_planted(
    n_comparisons: int | None = None,
    *,
    levels: int = 3,
    leaves_per_cluster: int = 30,
    mu: float = 0.8,
    delta: float = 0.1,
    sigma: float = 0.1,
    flip: float = 0.0,
    quadruplets: bool = False,
    permute: bool = True,
    seed: int = 0,
) -> tuple[Triplets | Quadruplets, NDArray[np.int64]]:
    """Comparisons from the planted hierarchical model, and the truth.

    A complete binary tree of `levels` levels over 2^levels pure clusters; the similarity of leaves
    whose clusters part at level l is normal with mean mu - (levels - l) delta and deviation sigma
    (Ghoshdastidar, Perrot & von Luxburg 2019, section 4.1).

    Parameters
    ----------
    n_comparisons
        Distinct comparisons drawn uniformly from all; by default the square of the number of leaves.
    flip
        The probability that an answer is flipped.
    permute
        Number the leaves in random order, not cluster by cluster.

    Returns
    -------
    comparisons, labels
        Labels are (n, levels): each leaf's cluster at levels 1, 2, ...

    Examples
    --------
    >>> import ordhc
    >>> t, labels = ordhc.simulate_planted(500, levels=2, leaves_per_cluster=5, seed=1)
    >>> t, labels.shape
    (<Triplets: 500 of 20 leaves>, (20, 2))
    """
    from ordhc.comparisons import _whole

    levels = _whole("levels", levels, at_least=0)
    leaves_per_cluster = _whole("leaves_per_cluster", leaves_per_cluster, at_least=1)
    n = leaves_per_cluster * 2 ** min(levels, 40)
    m = n * n if n_comparisons is None else _whole("n_comparisons", n_comparisons, at_least=0)
    seed = _whole("seed", seed, at_least=0)
    if levels > 20 or n > 100_000:
        raise InputError(f"levels = {levels} and leaves_per_cluster = {leaves_per_cluster}: {n} leaves")
    rows, labels = _ordhc.planted(
        levels, leaves_per_cluster, mu, delta, sigma, m, flip, quadruplets, permute, seed
    )
    kind = Quadruplets if quadruplets else Triplets
    return kind(rows, n_leaves=n), labels


# `cluster` has arguments named like these two.
_verb_similarity = similarity
_verb_linkage = linkage


def _settings(defaults: Mapping[str, Any], given: Mapping[str, Any], what: str) -> dict[str, Any]:
    unknown = [name for name in given if name not in defaults]
    if unknown:
        known = ", ".join(defaults) or "none"
        raise InputError(f"{what} has no parameter {unknown[0]!r}; its parameters: {known}")
    return {**defaults, **given}


def _fitting(data: Any, accepted: tuple[str, ...], what: str) -> Any:
    """The data in a form that is accepted: triplets serve as quadruplets."""
    if isinstance(data, Triplets):
        if "triplets" in accepted:
            return data
        if "quadruplets" in accepted:
            return data.to_quadruplets()
    if isinstance(data, Quadruplets) and "quadruplets" in accepted:
        return data
    raise InputError(f"{what} takes {' or '.join(accepted)}, not {type(data).__name__}")


def _matrix(S: ArrayLike) -> NDArray[Any]:
    """A C-contiguous array of a type that the engine reads, with a shape that it can be."""
    values = np.asarray(S)
    if values.ndim == 2 and values.shape[0] != values.shape[1]:
        raise InputError(f"the matrix has shape {values.shape}; (n, n) or a condensed vector is needed")
    if values.ndim not in (1, 2):
        raise InputError(f"shape {values.shape}: (n, n) or a condensed vector is needed")
    if values.dtype.kind in "iu":
        small = values.dtype.itemsize < 4 or values.dtype == np.int32
        values = values.astype(np.int32 if small else np.int64, copy=False)
    elif values.dtype.kind == "b":
        values = values.astype(np.int32)
    elif values.dtype != np.float32:
        try:
            values = values.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise InputError(f"a matrix of {values.dtype} holds no similarities") from None
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return np.ascontiguousarray(values)


def _square(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 2:
        return values
    n = round((1 + (1 + 8 * len(values)) ** 0.5) / 2)
    if n * (n - 1) // 2 != len(values):
        raise InputError(f"a condensed vector has n(n-1)/2 values; {len(values)} is no such number")
    square = np.zeros((n, n), dtype=values.dtype)
    upper = np.triu_indices(n, 1)
    square[upper] = values
    square.T[upper] = values
    return square
