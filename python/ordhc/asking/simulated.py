"""Simulated trees, similarities, vectors and comparisons whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.asking.sources import from_similarity, from_tree
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram, from_engine

_SHAPES = ("uniform", "yule", "balanced", "caterpillar", "degree", "joined", "star")
_CHUNK = 1 << 22


def random_tree(n_leaves: int, *, shape: str = "uniform", seed: int = 0) -> Dendrogram:
    """Return a random tree; the height of a node is the number of levels below it.

    Parameters
    ----------
    n_leaves
        The number of leaves, which are numbered in random order.
    shape
        The shape of the tree:

        * "uniform" (the default): all binary trees are equally likely;
        * "yule": each new leaf is placed beside a random leaf;
        * "balanced": every cluster is divided into halves;
        * "caterpillar": every cluster is divided into one leaf and the others;
        * "degree": nodes have two or three children;
        * "joined": nodes have three children;
        * "star": all leaves are children of the root.
    seed
        The seed of the random numbers; the same seed gives the same tree.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.datasets.random_tree(4, shape="caterpillar", seed=1).heights
    array([1., 2., 3.])
    """
    n_leaves = _checks.whole("n_leaves", n_leaves, at_least=1, at_most=2**31 - 1)
    shape = _checks.choice("shape", shape, _SHAPES)
    return from_engine(_ordhc.random_tree(shape, n_leaves, _checks.seed(seed)))


@shows_progress("simulating")
def planted(
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
    progress: Progress | bool | None = None,
) -> tuple[Triplets | Quadruplets, NDArray[np.int64]]:
    """Return comparisons simulated from the planted hierarchical model, and the true labels.

    The true tree is a complete binary tree with `levels` levels above 2^levels pure clusters. The similarity
    of two leaves is normally distributed with standard deviation `sigma`. If their clusters separate at
    level l, its mean is mu - (levels - l) delta (Ghoshdastidar, Perrot & von Luxburg 2019, section 4.1).

    Parameters
    ----------
    n_comparisons
        The number of distinct comparisons, drawn uniformly from all comparisons; by default the square of the
        number of leaves.
    levels, leaves_per_cluster
        The number of levels of the true tree, and the number of leaves in each of its 2^levels pure clusters.
    mu, delta, sigma
        The mean similarity within a pure cluster, its decrease for each level, and the standard deviation.
        The signal-to-noise ratio is delta / sigma.
    flip
        The probability that an answer is flipped.
    quadruplets
        `True` returns quadruplets (comparisons of two pairs), `False` triplets.
    permute
        `True` numbers the leaves in random order, `False` cluster by cluster.
    seed
        The seed of the random numbers; the same seed gives the same comparisons.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    comparisons, labels
        The `Triplets` or `Quadruplets`, and an (n, levels) array with each leaf's cluster at levels 1, 2, ...

    Examples
    --------
    >>> import ordhc
    >>> t, labels = ordhc.datasets.planted(500, levels=2, leaves_per_cluster=5, seed=1)
    >>> t, labels.shape
    (<Triplets: 500 of 20 leaves>, (20, 2))
    """
    progress = _checks.callback("progress", progress)
    model = checked_model(levels, leaves_per_cluster, mu, delta, sigma)
    n = model[1] * 2 ** model[0]
    m = n * n if n_comparisons is None else _checks.whole("n_comparisons", n_comparisons, at_least=0)
    seed = _checks.seed(seed)
    flip = _checks.number("flip", flip, at_least=0, at_most=1)
    quadruplets, permute = _checks.flag("quadruplets", quadruplets), _checks.flag("permute", permute)
    rows, labels = _ordhc.planted(*model, m, flip, quadruplets, permute, seed, progress)
    kind = Quadruplets if quadruplets else Triplets
    return kind(rows, n_leaves=n), labels


def checked_model(
    levels: Any, leaves_per_cluster: Any, mu: Any, delta: Any, sigma: Any
) -> tuple[int, int, float, float, float]:
    levels = _checks.whole("levels", levels, at_least=0)
    leaves_per_cluster = _checks.whole("leaves_per_cluster", leaves_per_cluster, at_least=1)
    n = leaves_per_cluster * 2 ** min(levels, 40)
    if levels > 20 or n > 100_000:
        raise InputError(
            f"levels = {levels} and leaves_per_cluster = {leaves_per_cluster} make {n} leaves; "
            "at most 20 levels and 100,000 leaves are possible"
        )
    numbers = (("mu", mu), ("delta", delta), ("sigma", sigma))
    mu, delta, sigma = (_checks.number(what, value) for what, value in numbers)
    return levels, leaves_per_cluster, mu, delta, sigma


def planted_similarities(
    *,
    levels: int = 3,
    leaves_per_cluster: int = 30,
    mu: float = 0.8,
    delta: float = 0.1,
    sigma: float = 0.1,
    permute: bool = True,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return similarities drawn from the planted hierarchical model, and the true labels.

    `planted` with the same parameters compares these similarities. Use `comparisons_of` to draw other
    comparisons of these similarities, or `ordhc.oracles.from_similarity` to let a learner ask about them.

    Parameters
    ----------
    levels, leaves_per_cluster, mu, delta, sigma, permute, seed
        As in `planted`.

    Returns
    -------
    similarities, labels
        A symmetric (n, n) array with 0 on the diagonal, and an (n, levels) array with each leaf's cluster at
        levels 1, 2, ...

    Examples
    --------
    >>> import ordhc
    >>> S, labels = ordhc.datasets.planted_similarities(levels=2, leaves_per_cluster=5, seed=1)
    >>> S.shape, labels.shape
    ((20, 20), (20, 2))
    """
    model = checked_model(levels, leaves_per_cluster, mu, delta, sigma)
    return _ordhc.planted_similarities(*model, _checks.flag("permute", permute), _checks.seed(seed))


def vectors_of(
    tree: Dendrogram, n_vectors: int, n_features: int, *, noise: float = 1.0, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return random vectors at the leaves of a tree; their dot products estimate the heights of the tree.

    The expected dot product of two vectors, divided by `n_features`, is the height at which their leaves
    merge.

    A vector is the vector of a random leaf, plus normal noise. The vector of a node is the vector of its
    parent plus normal numbers; their variance is the difference of the two heights (Gray et al. 2024,
    sections 2 and D.1).

    Parameters
    ----------
    tree
        A `Dendrogram` of kind "similarity" with `leaf_heights`. No height may be less than the
        height of the parent.
    n_vectors, n_features
        The number of vectors, and the number of their coordinates.
    noise
        The standard deviation of the noise in each coordinate.
    seed
        The seed of the random numbers; the same seed gives the same vectors.

    Returns
    -------
    vectors, leaves
        The (n_vectors, n_features) vectors, and the (n_vectors,) leaf of each vector.

    Raises
    ------
    InputError
        The tree has dissimilarities or no leaf heights, or a node has a height below 0 or below its parent's.

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.Dendrogram([[0, 1], [2, 3]], [2, 1], kind="similarity", leaf_heights=[4, 3, 2])
    >>> X, leaves = ordhc.datasets.vectors_of(tree, 50, 10_000)
    >>> bool(abs(X[leaves == 0][0] @ X[leaves == 1][0] / 10_000 - 2) < 0.2)
    True
    """
    n_vectors = _checks.whole("n_vectors", n_vectors, at_least=1)
    n_features = _checks.whole("n_features", n_features, at_least=1)
    noise = _checks.number("noise", noise, at_least=0)
    random = np.random.default_rng(_checks.seed(seed))
    if not isinstance(tree, Dendrogram) or tree.kind != "similarity" or tree.leaf_heights is None:
        raise InputError('the tree must be a Dendrogram of kind "similarity" with leaf_heights')
    n, merges = tree.n_leaves, tree.merges
    heights = np.concatenate([tree.leaf_heights, tree.heights])
    above = np.zeros(2 * n - 1)
    above[merges.ravel()] = np.repeat(tree.heights, 2)
    for node in np.flatnonzero(heights < above)[:1].tolist():
        raise InputError(
            f"node {node} has height {heights[node]:g}, less than the height {above[node]:g} of its parent; "
            'heights of kind "similarity" must not fall from the root to the leaves: correct the heights'
        )
    steps = random.normal(size=(2 * n - 1, n_features)) * np.sqrt(heights - above)[:, None]
    for merge in range(n - 2, -1, -1):
        steps[merges[merge]] += steps[n + merge]
    leaves = random.integers(n, size=n_vectors)
    return steps[leaves] + noise * random.normal(size=(n_vectors, n_features)), leaves


def comparisons_of(
    source: Any,
    number: int | None = None,
    *,
    share: float | None = None,
    quadruplets: bool = False,
    flip: float = 0.0,
    seed: int = 0,
) -> Triplets | Quadruplets:
    """Return distinct random comparisons that are answered by a tree, similarities or an oracle.

    Comparisons whose answer is a tie are left out.

    Parameters
    ----------
    source
        A tree or its Newick text, (n, n) similarities, or an oracle that answers questions about two pairs. A
        tree decides all pairs of leaves only if it has heights.
    number
        The number of comparisons that are drawn uniformly from all comparisons; fewer remain if there are
        ties. By default all comparisons are used.
    share
        The probability with which each comparison is drawn, instead of `number`.
    quadruplets
        `True` returns quadruplets (comparisons of two pairs), `False` triplets.
    flip
        The probability that an answer is flipped.
    seed
        The seed of the random numbers; the same seed gives the same comparisons.

    Examples
    --------
    All triplets that a tree implies:

    >>> import ordhc
    >>> ordhc.datasets.comparisons_of("((0,1),2);").rows.tolist()
    [[0, 1, 2], [1, 0, 2]]
    """
    is_tree = isinstance(source, Dendrogram | str)
    oracle = source if callable(source) else from_tree(source) if is_tree else from_similarity(source)
    n = getattr(oracle, "n_leaves", None)
    if n is None:
        raise InputError("the oracle has no attribute n_leaves: set it to the number of leaves")
    flip = _checks.number("flip", flip, at_least=0, at_most=1)
    quadruplets = _checks.flag("quadruplets", quadruplets)
    random = np.random.default_rng(_checks.seed(seed))
    total = _total(n, quadruplets)
    if number is not None and share is not None:
        raise InputError("give number or share, not both")
    number = total if number is None else _checks.whole("number", number, at_least=0, at_most=total)
    share = None if share is None else _checks.number("share", share, at_least=0, at_most=1)
    parts = []
    for at in _drawn(total, number, share, random):
        rows = _rows(at, n, quadruplets)
        answers = oracle(rows if quadruplets else rows[:, [0, 1, 0, 2]])
        rows, answers = rows[answers != 0], answers[answers != 0]
        turned = (answers < 0) ^ (random.random(len(rows)) < flip) if flip else answers < 0
        rows[turned] = rows[turned][:, [2, 3, 0, 1] if quadruplets else [0, 2, 1]]
        parts.append(rows.astype(np.uint8 if n <= 256 else np.uint16 if n <= 1 << 16 else np.int32))
    kind = Quadruplets if quadruplets else Triplets
    names = getattr(oracle, "names", None)
    return kind(np.concatenate(parts), n_leaves=None if names else n, names=names, copy=False)


def _total(n: int, quadruplets: bool) -> int:
    pairs = n * (n - 1) // 2
    return pairs * (pairs - 1) // 2 if quadruplets else n * max(n - 1, 0) * max(n - 2, 0) // 2


def _drawn(total: int, number: int, share: float | None, random: np.random.Generator) -> Any:
    """Draw distinct whole numbers from 0 to `total` - 1, and yield them in arrays."""
    if share is None and number < total:
        chosen = random.choice(total, number, replace=False, shuffle=False)
        yield from np.array_split(chosen, number // _CHUNK + 1)
        return
    if share is None or share == 1:
        yield from (np.arange(start, min(start + _CHUNK, total)) for start in range(0, max(total, 1), _CHUNK))
        return
    last = -1
    while share and last < total:
        # The gaps between the numbers that are drawn have a geometric distribution.
        at = last + np.cumsum(random.geometric(share, min(_CHUNK, int(1.1 * share * total) + 10)))
        last = int(at[-1])
        yield at[at < total]
    yield np.zeros(0, dtype=np.int64)


def _pair(k: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pair number k as (i, j) with i < j, in the order (0, 1), (0, 2), (1, 2), (0, 3), ..."""
    j = ((1 + np.sqrt(1 + 8.0 * k)) // 2).astype(np.int64)
    # Correct j by one if the square root was rounded.
    j -= j * (j - 1) // 2 > k
    j += j * (j + 1) // 2 <= k
    return k - j * (j - 1) // 2, j


def _rows(at: NDArray[np.int64], n: int, quadruplets: bool) -> NDArray[np.int64]:
    """Return the questions with the numbers `at` (from 0): (anchor, j, k), or two pairs (i, j, k, l)."""
    if quadruplets:
        first, second = _pair(at)
        return np.stack([*_pair(first), *_pair(second)], axis=1)
    anchor, rest = np.divmod(at, max((n - 1) * (n - 2) // 2, 1))
    j, k = _pair(rest)
    return np.stack([anchor, j + (j >= anchor), k + (k >= anchor)], axis=1)
