"""The verbs: build a similarity, agglomerate it into a dendrogram, score the dendrogram."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc, registry, spanning, sparse
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError, PluginError
from ordhc.linkages import engine_linkage
from ordhc.specs import LinkageSpec, SimilaritySpec
from ordhc.vectors import as_vectors, products

__all__ = ["linkage", "score", "similarity", "simulate_planted"]

Progress = Callable[[float], None]

#: How the nearest pair is found.
ENGINES = ("auto", "chain", "nearest-pair", "naive")
_DTYPES = ("float64", "float32", "int64", "int32")


def similarity(
    data: Triplets | Quadruplets | ArrayLike,
    name: str = "adds3",
    *,
    layout: str = "square",
    dtype: Any = "float64",
    progress: Progress | None = None,
    **parameters: Any,
) -> Any:
    """Similarities of all pairs of leaves, from comparisons or vectors.

    Parameters
    ----------
    data
        `Triplets` or `Quadruplets` (triplets serve as quadruplets where these are needed), or an
        (n, p) array of vectors.
    name
        "adds3", "mulk3" for triplets; "adds4", "mulk4", "4k" for quadruplets; "dot", "cosine" for
        vectors; or what a plugin brings.
    layout
        "square" gives (n, n), symmetric, with zeros on the diagonal for AddS and a leaf's similarity
        with itself for the others; "condensed" the n(n-1)/2 pairs as SciPy orders them, in half the
        memory; "sparse", for AddS, SciPy's CSR of the pairs that aren't zero, symmetric, which needs
        `pip install "ordhc[vectors]"`.
    dtype
        float64, float32, int64 or int32; counts are whole numbers, others need floats.
    progress
        Called now and then with the share that is done, from 0 to 1.
    **parameters
        Settings of the builder: ``normalize`` of "mulk3" (by default true).

    Returns
    -------
    ndarray or csr_array
        Similarities: larger is closer, in units of comparisons for "adds3" and "adds4", of agreeing
        comparisons for the kernels ("mulk3" from -1 to 1 if normalised).

    Raises
    ------
    InputError
        An unknown name (with the nearest ones), data it does not take.
    MemoryError
        A matrix that does not fit, with the bytes.

    Notes
    -----
    AddS3 is s_ij = sum_k x(i;j,k) + x(j;i,k), with x the weight of "i is closer to j than to k" minus
    that of the opposite (Mandal, Perrot & Ghoshdastidar 2023, Theorem 1). MulK3, Kendall's kernel, is
    K_ij = sum_{k<l} x(i;k,l) x(j;k,l) / sqrt(c_i c_j), with c_i the number of pairs that were answered
    for anchor i (Ghoshdastidar, Perrot & von Luxburg 2019, equation 8). MulK4 is the sum of
    x(ir;kl) x(jr;kl) over pairs {k, l} and leaves r other than i and j; 4K, as published, is MulK4 +
    2 AddS4. The result does not depend on the number of threads.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.similarity(ordhc.Triplets([(0, 1, 2), (1, 0, 2)]), "adds3")
    array([[ 0.,  2., -1.],
           [ 2.,  0., -1.],
           [-1., -1.,  0.]])
    """
    progress = _checks.callback("progress", progress)
    spec = registry.get("similarity", name)
    layout = _checks.choice("layout", layout, ("square", "condensed", "sparse"))
    try:
        type_name = np.dtype(dtype).name
    except Exception:
        type_name = ""
    if type_name not in _DTYPES or dtype is None:
        raise InputError(f"dtype is {_checks.quoted(dtype)}, not one of {', '.join(_DTYPES)}")
    fitting = _fitting(data, spec.data, f"similarity {name!r}")
    settings = _settings(spec.parameters, parameters, f"similarity {name!r}")
    if layout == "sparse":
        if not is_adds(spec):
            raise InputError(f"similarity {name!r} has no sparse layout, only 'adds3' and 'adds4' have")
        if fitting.weights is not None and not type_name.startswith("float"):
            raise InputError(f"dtype is {type_name}, but weighted answers need float64 or float32")
        parts = _ordhc.adds_csr(fitting.rows, fitting.weights, fitting.n_leaves, progress)
        return sparse.matrix(parts, fitting.n_leaves, type_name, "layout='sparse'")
    return _built(spec, fitting, layout, type_name, progress, settings)


def linkage(
    S: ArrayLike | Callable[[int, NDArray[np.int64]], ArrayLike],
    name: str = "average",
    *,
    dissimilarity: bool = False,
    names: Sequence[str] | None = None,
    n_leaves: int | None = None,
    engine: str = "auto",
    initial_clusters: ArrayLike | None = None,
    tie_seed: int | None = None,
    overwrite: bool = False,
    missing: str = "zero",
    progress: Progress | None = None,
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
        brings.
    dissimilarity
        Smaller is closer. "ward", "centroid" and "median" then work on squares and heights are
        square roots, as in SciPy. On similarities they take s as a negative squared dissimilarity,
        and heights stay similarities; a constant added to all of them changes nothing for "ward", but
        matters for "centroid" and "median".
    names
        The names of the leaves; by default those of the rows and columns of a square data frame, as text.
    n_leaves
        The number of leaves, where S is a function.
    engine
        "auto", "chain" (reducible linkages), "nearest-pair" or "naive"; the tree is the same.
    initial_clusters
        (n,) labels: leaves of the same label are merged first, the nearest pair among them first, at
        least as close as the closest merge after.
    tie_seed
        Break ties in a random order of the leaves with this seed, instead of by number.
    overwrite
        S, a writable C-contiguous array of float64, is handed over: it is worked in, and its content is
        undefined afterwards. Beside it O(n) memory is needed (linkages given as row updates, the naive
        engine, and linkages that round, where values repeat, still make a copy). Without, a working copy of
        up to S's pairs is made, for "single" none. It is float64 whatever the type of S: for float32 up to
        twice the memory of its pairs.
    missing
        What pairs are that a sparse S doesn't store. "zero": their similarity is 0, and the result that of
        ``S.toarray()``. "ignore": they are unknown. "average" is the mean of the known pairs of two clusters,
        "complete" the least and "single" the largest of these; clusters without a known pair merge when no
        others are left, one by one in the order of their smallest leaves, at the height of the last merge (0
        if there is none). Initial clusters without a known pair inside are merged at the height of the
        closest merge after. Dissimilarities need "ignore".
    progress
        Called now and then with the share that is done, from 0 to 1.
    **parameters
        Settings of the linkage, for example ``beta`` of a plugin's "flexible-beta".

    Returns
    -------
    Dendrogram
        Heights are the similarity (or dissimilarity) at each merge.

    Warns
    -----
    OrdhcWarning
        With ``missing="ignore"``, known pairs that leave more than one tree, with their number. Values that
        cancel out so far that the rounding of what they are sums of decides which clusters are nearest.

    Raises
    ------
    InputError
        NaN or infinity (with their place), an asymmetric matrix (a sparse one: the two values), shapes
        that are none, unknown names (with the nearest ones).
    MemoryError
        A matrix that does not fit, with the bytes.

    Notes
    -----
    Ties take the pair with the lexicographically smallest (smallest leaf of one cluster, smallest leaf
    of the other), whatever the engine and number of threads. "average" sums whole numbers exactly, so
    that equal means of counts stay equal. "single" and "complete" compare values as they are. Where
    similarities are rounded ("average" of other numbers, all other linkages) those count as equal that are
    the same number when rounded to 36 significant bits, which is to about 2e-11 of themselves. With
    ``missing="ignore"`` "average" and "complete" take, of equally similar pairs, that of which the larger
    share is known, and then go by the leaves.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.linkage([[0, 3, 1], [3, 0, 2], [1, 2, 0]], "average")
    >>> d.merges.tolist(), d.heights.tolist()
    ([[0, 1], [2, 3]], [3.0, 1.5])
    """
    progress = _checks.callback("progress", progress)
    from ordhc.trees import square_names

    spec = registry.get("linkage", name)
    settings = _settings(spec.parameters, parameters, f"linkage {name!r}")
    dissimilarity = _checks.flag("dissimilarity", dissimilarity)
    overwrite = _checks.flag("overwrite", overwrite)
    engine = _checks.choice("engine", engine, ENGINES)
    missing = _checks.choice("missing", missing, ("zero", "ignore"))
    tie_seed = None if tie_seed is None else _checks.seed(tie_seed, "tie_seed")
    if names is None:
        names = square_names(S)
    if callable(S):
        if spec.native != "single":
            raise InputError(f"linkage {name!r} takes no function, only 'single' does: give a matrix")
        if overwrite or engine != "auto" or missing != "zero" or initial_clusters is not None:
            raise InputError("a function takes no overwrite, engine, missing and initial_clusters")
        if n_leaves is None:
            raise InputError("a function does not tell the number of leaves: give n_leaves")
        n = _checks.whole("n_leaves", n_leaves, at_least=1)
        turn = np.arange(n) if tie_seed is None else np.random.default_rng(tie_seed).permutation(n)
        tree = spanning.single_linkage(S, turn, dissimilarity=bool(dissimilarity), progress=progress)
        return tree.relabel(turn).with_names(names)
    if n_leaves is not None:
        raise InputError(f"n_leaves is for functions; {type(S).__name__} tells the number of leaves")
    if sparse.is_sparse(S):
        if overwrite or engine != "auto":
            raise InputError("a sparse matrix takes neither overwrite=True nor another engine than 'auto'")
        pairs = sparse.as_pairs(S)
        initial = _labels(initial_clusters, pairs.shape[0])
        order = None
        if tie_seed is not None:
            order = np.random.default_rng(tie_seed).permutation(pairs.shape[0])
            pairs = sparse.as_pairs(pairs[order][:, order])
            initial = None if initial is None else initial[order]
        tree = sparse.merged(
            pairs, name, spec.native, initial, progress, dissimilarity=bool(dissimilarity), missing=missing
        )
        return (tree if order is None else tree.relabel(order)).with_names(names)
    if missing != "zero":
        raise InputError(
            f"missing={_checks.quoted(missing)} is for sparse matrices; {type(S).__name__} has all pairs"
        )
    values = _handed_over(S) if overwrite else _matrix(S)
    n = len(values) if values.ndim == 2 else _leaves_of_condensed(len(values))
    initial = _labels(initial_clusters, n)
    if tie_seed is None:
        tree = _merged(
            spec,
            values,
            settings,
            initial,
            progress,
            dissimilarity=dissimilarity,
            engine=engine,
            overwrite=overwrite,
        )
        return tree.with_names(names)
    order = np.random.default_rng(tie_seed).permutation(n)
    values = np.ascontiguousarray(_square(values)[np.ix_(order, order)])
    initial = None if initial is None else initial[order]
    own = bool(values.dtype == np.float64)
    tree = _merged(
        spec, values, settings, initial, progress, dissimilarity=dissimilarity, engine=engine, overwrite=own
    )
    return tree.relabel(order).with_names(names)


def score(
    tree: Any,
    reference: Any,
    metric: str | None = None,
    **parameters: Any,
) -> Any:
    """How good a tree is.

    Parameters
    ----------
    tree
        A `Dendrogram`, or any form that `as_dendrogram` takes.
    reference
        What to compare with: the `Triplets` or `Quadruplets` it was made from or, better, ones held
        out; another tree; labels or nested labels; similarities. Leaves are matched by name where both
        sides have names.
    metric
        One of those of `ordhc.metrics`, or a plugin's. By default "triplet_revenue" for triplets and
        "quadruplet_revenue" for quadruplets.
    **parameters
        Settings of the metric, for example ``normalize=True``.

    Returns
    -------
    int or float
        Exact (an int) for the revenue of unweighted comparisons; some metrics give an object that
        `float()` turns into its main number.

    Raises
    ------
    InputError
        An unknown metric (with the nearest ones), what it does not take, other leaves.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)])
    >>> tree = ordhc.cluster(t)
    >>> ordhc.score(tree, t)
    2
    >>> ordhc.score(tree, "((1,2),0);", metric="triplet_distance")
    1.0
    """
    from ordhc.matching import prepared

    if metric is None:
        if not isinstance(reference, Triplets | Quadruplets):
            known = ", ".join(sorted(registry.names("metric")))
            raise InputError(f"give a metric for {type(reference).__name__}: {known}")
        metric = "quadruplet_revenue" if isinstance(reference, Quadruplets) else "triplet_revenue"
    spec = registry.get("metric", metric)
    settings = _settings(spec.parameters, parameters, f"metric {metric!r}")
    found, other = prepared(tree, reference, spec.reference, metric)
    return spec.score(found, other, **settings)


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
    levels = _checks.whole("levels", levels, at_least=0)
    leaves_per_cluster = _checks.whole("leaves_per_cluster", leaves_per_cluster, at_least=1)
    n = leaves_per_cluster * 2 ** min(levels, 40)
    m = n * n if n_comparisons is None else _checks.whole("n_comparisons", n_comparisons, at_least=0)
    seed = _checks.seed(seed)
    mu, delta, sigma = (
        _checks.number(what, value) for what, value in (("mu", mu), ("delta", delta), ("sigma", sigma))
    )
    flip = _checks.number("flip", flip, at_least=0, at_most=1)
    quadruplets, permute = _checks.flag("quadruplets", quadruplets), _checks.flag("permute", permute)
    if levels > 20 or n > 100_000:
        raise InputError(f"levels = {levels} and leaves_per_cluster = {leaves_per_cluster}: {n} leaves")
    rows, labels = _ordhc.planted(
        levels, leaves_per_cluster, mu, delta, sigma, m, flip, quadruplets, permute, seed
    )
    kind = Quadruplets if quadruplets else Triplets
    return kind(rows, n_leaves=n), labels


def _built(
    spec: SimilaritySpec,
    data: Any,
    layout: str,
    dtype: str,
    progress: Progress | None,
    settings: Mapping[str, Any],
) -> NDArray[Any]:
    """What a similarity gives for data that fit it, checked."""
    if spec.build is None:
        if not dtype.startswith("float"):
            raise InputError(f"dtype is {dtype}, but {spec.name} similarities are no whole numbers")
        rows, scale = factored(spec, data, None, settings)
        return products(rows, scale, layout, dtype, progress)
    result = spec.build(data, layout=layout, dtype=dtype, progress=progress, **settings)
    n = data.n_leaves if isinstance(data, Triplets | Quadruplets) else data.shape[0]
    shape = (n, n) if layout == "square" else (n * (n - 1) // 2,)
    if not isinstance(result, np.ndarray) or result.shape != shape:
        found = getattr(result, "shape", type(result).__name__)
        raise PluginError(f"similarity {spec.name!r} gave {found}, not an array of shape {shape}")
    return result


def is_adds(spec: SimilaritySpec) -> bool:
    """Whether a similarity is built-in AddS, which sparse answers make sparse."""
    return spec.name in ("adds3", "adds4") and registry.is_builtin(spec)


def factored(
    spec: SimilaritySpec, data: Any, progress: Progress | None, settings: Mapping[str, Any]
) -> tuple[Any, float]:
    """The rows and the scale whose products are a similarity, checked."""
    assert spec.factor is not None
    n = data.n_leaves if isinstance(data, Triplets | Quadruplets) else data.shape[0]
    result: Any = spec.factor(data, progress=progress, **settings)
    try:
        rows, scale = result
        rows, scale = as_vectors(rows), float(scale)
    except (TypeError, ValueError) as error:
        raise PluginError(f"similarity {spec.name!r} gave no rows and scale: {error}") from error
    if rows.shape[0] != n or not 0 < scale < math.inf:
        raise PluginError(f"similarity {spec.name!r} gave {rows.shape[0]} rows for {n} leaves, scale {scale}")
    return rows, scale


def _merged(
    spec: LinkageSpec,
    values: NDArray[Any],
    settings: Mapping[str, Any],
    initial: NDArray[np.int64] | None,
    progress: Progress | None,
    *,
    dissimilarity: bool = False,
    engine: str = "auto",
    overwrite: bool = False,
) -> Dendrogram:
    """What a linkage gives for a matrix that the engine reads, or works in."""

    def similarities() -> NDArray[np.float64]:
        square = _square(values).astype(np.float64)
        return -square if dissimilarity else square

    rule = engine_linkage(spec, settings, similarities)
    tree = _ordhc.agglomerate(values, rule, bool(dissimilarity), engine, initial, progress, overwrite)
    return Dendrogram._of(tree, None)


def _labels(labels: ArrayLike | None, n: int) -> NDArray[np.int64] | None:
    """Initial clusters as (n,) whole numbers."""
    return _checks.labels("initial_clusters", labels, n)


def _settings(defaults: Mapping[str, Any], given: Mapping[str, Any], what: str) -> dict[str, Any]:
    return _checks.settings(what, given, defaults)


def _fitting(data: Any, accepted: tuple[str, ...], what: str) -> Any:
    """The data in a form that is accepted: triplets serve as quadruplets."""
    if isinstance(data, Triplets):
        if "triplets" in accepted:
            return data
        if "quadruplets" in accepted:
            return data.to_quadruplets()
    elif isinstance(data, Quadruplets):
        if "quadruplets" in accepted:
            return data
    elif "vectors" in accepted:
        return as_vectors(data)
    raise InputError(f"{what} takes {' or '.join(accepted)}, not {type(data).__name__}")


def _matrix(S: ArrayLike) -> NDArray[Any]:
    """A C-contiguous array of a type that the engine reads, with a shape that it can be."""
    values = _checks.array("the matrix", S)
    if values.ndim == 2 and values.shape[0] != values.shape[1]:
        raise InputError(f"the matrix has shape {values.shape}; (n, n) or a condensed vector is needed")
    if values.ndim not in (1, 2):
        raise InputError(f"shape {values.shape}: (n, n) or a condensed vector is needed")
    if values.dtype.kind in "iu":
        if values.dtype.kind == "u" and values.dtype.itemsize == 8:
            _check_unsigned(values)
        small = values.dtype.itemsize < 4 or values.dtype == np.int32
        values = values.astype(np.int32 if small else np.int64, copy=False)
    elif values.dtype.kind == "b":
        values = values.astype(np.int32)
    elif values.dtype.kind in "UT":
        raise InputError(f"a matrix of text, {values.dtype}, holds no similarities")
    elif values.dtype not in (np.float32, np.float64):
        values = _checks.numbers_of("the matrix", values)
    return np.ascontiguousarray(values)


def _check_unsigned(values: NDArray[Any]) -> None:
    """Refuses what 64-bit integers with a sign do not hold, except on the diagonal."""
    limit = np.iinfo(np.int64).max
    if not values.size or values.max() <= limit:
        return
    above = values > limit
    if values.ndim == 2:
        np.fill_diagonal(above, False)
    places = np.argwhere(above)
    if len(places):
        place = tuple(places[0].tolist())
        reason = f"the value at {list(place)} is {values[place]}; whole numbers end at 2^63 - 1"
        raise InputError(reason, leaves=[place] if len(place) == 2 else None)


def _handed_over(S: ArrayLike) -> NDArray[np.float64]:
    """S itself, if it can be worked in."""
    fine = isinstance(S, np.ndarray) and S.dtype == np.float64 and S.dtype.isnative
    if not (fine and S.flags.c_contiguous and S.flags.writeable and S.flags.aligned):  # type: ignore[union-attr]
        found = f"{type(S).__name__} of {S.dtype}" if isinstance(S, np.ndarray) else type(S).__name__
        raise InputError(
            f"overwrite=True needs a writable, C-contiguous array of float64, not this {found}: "
            "np.array(S, dtype=np.float64) makes one"
        )
    return _matrix(S)


def _leaves_of_condensed(length: int) -> int:
    n = (1 + math.isqrt(1 + 8 * length)) // 2
    if n * (n - 1) // 2 != length:
        raise InputError(f"a condensed vector has n(n-1)/2 values; {length} is no such number")
    return n


def _square(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 2:
        return values
    n = _leaves_of_condensed(len(values))
    square = np.zeros((n, n), dtype=values.dtype)
    upper = np.triu_indices(n, 1)
    square[upper] = values
    square.T[upper] = values
    return square
