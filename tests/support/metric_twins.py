"""The scores straight from their definitions: slow, obvious, exact where they can be."""

import itertools
from fractions import Fraction
from math import comb, inf, sqrt

import numpy as np
from hypothesis import strategies as st

import ordhc
from support import twins
from support.trees import members


def joins(tree):
    """By pair of leaves, both ways round, the inner node that joins them: its place in `heights`."""
    n, found, at = tree.n_leaves, members(tree), {}
    for node in range(n, len(found)):
        children = [found[child] for child, parent in enumerate(tree.parents.tolist()) if parent == node]
        for a, b in itertools.permutations(children, 2):
            at.update(dict.fromkeys(itertools.product(a, b), node - n))
    return at


def sizes(tree):
    """|H(i v j)| by pair of leaves, both ways round."""
    clusters = nodes(tree, join_ties=False)
    return {pair: len(least(clusters, pair)) for pair in joins(tree)}


def heights(tree):
    """The height at which two leaves join, by pair of leaves, both ways round."""
    values = tree.heights.tolist()
    return {pair: values[node] for pair, node in joins(tree).items()}


def nodes(tree, join_ties):
    """The clusters of more than one leaf; with `join_ties` none whose parent is as high."""
    found, n = members(tree), tree.n_leaves
    kept = set(found[n:])
    if join_ties and tree.scale != "shape":
        values, parents = tree.heights.tolist(), tree.parents.tolist()
        for node in range(n, len(found) - 1):
            if values[node - n] == values[parents[node] - n]:
                kept.discard(found[node])
    return kept


def least(clusters, leaves):
    """The smallest cluster with these leaves."""
    return min((cluster for cluster in clusters if set(leaves) <= cluster), key=len)


# --- by comparisons --------------------------------------------------------------------------


def pairs_in(row):
    return ((row[0], row[1]), (row[0], row[2])) if len(row) == 3 else (row[:2], row[2:])


def revenue(tree, data):
    size = sizes(tree)
    terms = ((pairs_in(row), weight) for row, weight in twins.weighted(data.rows, data.weights))
    return sum(weight * (size[far] - size[near]) for (near, far), weight in terms)


def verdicts(tree, rows):
    """For each comparison: 1 if the tree agrees, -1 if it disagrees, 0 if it leaves it open."""
    found, at = members(tree)[tree.n_leaves :], joins(tree)
    high = None if tree.scale == "shape" else heights(tree)
    sign = 1 if tree.kind == "dissimilarity" else -1
    told = []
    for row in rows:
        near, far = pairs_in(tuple(row))
        a, b = found[at[near]], found[at[far]]
        if a < b or b < a:
            told.append(1 if a < b else -1)
        elif a == b or high is None or high[near] == high[far]:
            told.append(0)
        else:
            told.append(1 if sign * high[near] < sign * high[far] else -1)
    return told


def satisfied(tree, data):
    """The shares agreed, disagreed, open."""
    sums = {1: 0, -1: 0, 0: 0}
    weighted = list(twins.weighted(data.rows, data.weights))
    for verdict, (_, weight) in zip(verdicts(tree, [row for row, _ in weighted]), weighted, strict=True):
        sums[verdict] += weight
    return [Fraction(part) / sum(sums.values()) for part in sums.values()]


# --- by similarities -------------------------------------------------------------------------


def dasgupta_cost(tree, S):
    size = sizes(tree)
    return sum(S[i][j] * size[i, j] for i, j in twins.pairs_of(tree.n_leaves))


def dasgupta_revenue(tree, S):
    n = tree.n_leaves
    return n * sum(S[i][j] for i, j in twins.pairs_of(n)) - dasgupta_cost(tree, S)


def correlation(x, y):
    """Pearson's, of exact numbers; None if one side is all the same."""
    x, y = [Fraction(value) for value in x], [Fraction(value) for value in y]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    squares = sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y)
    return float(both) / sqrt(squares)


def cophenetic(tree, values, dissimilarity):
    """`values` by pair of leaves."""
    high = heights(tree)
    pairs = twins.pairs_of(tree.n_leaves)
    sign = 1 if dissimilarity == (tree.kind == "dissimilarity") else -1
    found = correlation([high[pair] for pair in pairs], [values[pair] for pair in pairs])
    return None if found is None else sign * found


# --- beside labels ---------------------------------------------------------------------------


def ari(a, b):
    """By the four kinds of pairs of leaves; 1 where no pair is together on one side only."""
    both = one = other = neither = 0
    for i, j in itertools.combinations(range(len(a)), 2):
        x, y = a[i] == a[j], b[i] == b[j]
        both += x and y
        one += x and not y
        other += y and not x
        neither += not x and not y
    if one == other == 0:
        return 1.0
    below = (both + one) * (one + neither) + (both + other) * (other + neither)
    return float(Fraction(2 * (both * neither - one * other), below))


def cut(tree, n_clusters):
    """Labels after undoing the last nodes, as long as there are at most `n_clusters` clusters."""
    n, kept = tree.n_leaves, members(tree)
    tops = kept[-1:]
    while len(kept) >= n:
        less = [cluster for cluster in kept if not any(cluster < other for other in kept)]
        if len(less) > n_clusters:
            break
        tops = less
        kept.pop()
    return [next(at for at, top in enumerate(tops) if leaf in top) for leaf in range(n)]


def aari(tree, columns):
    scores = [ari(column, cut(tree, len(set(column)))) for column in columns]
    return sum(scores) / len(scores)


def at_depth(tree, depth):
    """For each leaf its largest cluster (or itself) that is in as many others; or else the smallest."""
    clusters = nodes(tree, join_ties=False) | {frozenset([leaf]) for leaf in range(tree.n_leaves)}
    deep = {cluster: sum(cluster < other for other in clusters) for cluster in clusters}
    return [
        max((deep[c], sorted(c)) for c in clusters if leaf in c and deep[c] <= depth)[1]
        for leaf in range(tree.n_leaves)
    ]


def aari_by_depth(tree, columns):
    scores = [ari(column, at_depth(tree, level + 1)) for level, column in enumerate(columns)]
    return sum(scores) / len(scores)


def purity(tree, labels, join_ties):
    """None without a pair of leaves of the same label."""
    clusters = nodes(tree, join_ties)
    shares = []
    for i, j in twins.pairs_of(tree.n_leaves):
        if labels[i] == labels[j]:
            under = least(clusters, [i, j])
            shares.append(Fraction(sum(labels[leaf] == labels[i] for leaf in under), len(under)))
    return float(sum(shares) / len(shares)) if shares else None


# --- beside another tree ---------------------------------------------------------------------


def closeness(tree, leaf, include_self):
    """By leaf, how close it merges; the leaf itself is the closest."""
    sign = -1 if tree.kind == "dissimilarity" else 1
    high = heights(tree)
    others = [other for other in range(tree.n_leaves) if other != leaf or include_self]
    return [inf if other == leaf else sign * high[leaf, other] for other in others]


def tau_b(x, y):
    """None where one side is all ties."""
    score = x_apart = y_apart = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        side_x = (x[i] > x[j]) - (x[i] < x[j])
        side_y = (y[i] > y[j]) - (y[i] < y[j])
        score += side_x * side_y
        x_apart += side_x != 0
        y_apart += side_y != 0
    return score / sqrt(x_apart * y_apart) if x_apart and y_apart else None


def kendall(a, b, include_self):
    return [
        tau_b(closeness(a, leaf, include_self), closeness(b, leaf, include_self))
        for leaf in range(a.n_leaves)
    ]


def kendall_by_labels(tree, labels):
    """As the authors do: by a matrix of the labels that leaves share, with oneself as with the class."""
    n = tree.n_leaves
    shared = [
        [next((at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), len(a)) for b in labels]
        for a in labels
    ]
    return [tau_b(shared[leaf], closeness(tree, leaf, True)) for leaf in range(n)]


def merge_distortion(a, b):
    x, y = heights(a), heights(b)
    return max((abs(x[pair] - y[pair]) for pair in x), default=0.0)


def triples(tree, join_ties):
    """What a tree says of each set of three leaves: the odd one out, or None."""
    clusters = nodes(tree, join_ties)
    said = {}
    for three in itertools.combinations(range(tree.n_leaves), 3):
        whole = least(clusters, three)
        odd = [leaf for leaf in three if least(clusters, set(three) - {leaf}) != whole]
        said[three] = odd[0] if odd else None
    return said


def triplet_distance(a, b, join_ties):
    x, y = triples(a, join_ties), triples(b, join_ties)
    assert len(x) == comb(a.n_leaves, 3)
    return sum(x[three] != y[three] for three in x)


def odd_ones_out(tree, join_ties):
    """`triples` of all ordered triples at once, (n, n, n); -1 for None."""
    n = tree.n_leaves
    node = np.full((n, n), -1)
    # The smallest cluster with a pair is written last.
    for at, cluster in enumerate(sorted(nodes(tree, join_ties), key=len, reverse=True)):
        node[np.ix_(list(cluster), list(cluster))] = at
    first, second, third = node[:, :, None], node[:, None, :], node[None, :, :]
    i, j, k = np.indices((n, n, n), sparse=True)
    alike = (first == second) & (first == third)
    return np.where(alike, -1, np.where(first == second, i, np.where(first == third, j, k)))


def clusters_differ(a, b, join_ties):
    """The clusters that one tree has alone, and all of both, without the root."""
    whole = frozenset(range(a.n_leaves))
    x, y = nodes(a, join_ties) - {whole}, nodes(b, join_ties) - {whole}
    return len(x ^ y), len(x) + len(y)


class Series:
    """What there is to a pandas Series or DataFrame here."""

    def __init__(self, values, index):
        self.values, self.index = np.asarray(values), index

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


# --- trees -----------------------------------------------------------------------------------


def topologies(n):
    """All rooted binary trees over n leaves, as nested pairs: 1, 1, 3, 15, 105, 945 of them."""

    def with_leaf(tree, leaf):
        yield (tree, leaf)
        if isinstance(tree, tuple):
            yield from ((part, tree[1]) for part in with_leaf(tree[0], leaf))
            yield from ((tree[0], part) for part in with_leaf(tree[1], leaf))

    trees = [0]
    for leaf in range(1, n):
        trees = [more for tree in trees for more in with_leaf(tree, leaf)]
    return trees


def binary_trees(n):
    """All rooted binary trees over n leaves, as dendrograms."""
    return [ordhc.as_dendrogram(f"{tree};") for tree in topologies(n)]


def random_tree(n, seed, *, n_heights=1 << 40, kind="dissimilarity", monotone=True, chain=False):
    """Random merges (`chain`: mostly of one leaf each), of heights in eighths that may tie."""
    rng = np.random.default_rng(seed)
    high = np.sort(rng.integers(0, n_heights, n - 1) / 8)
    if kind == "similarity":
        high = high[::-1]
    if not monotone:
        high = rng.permutation(high)
    there, merges = list(range(n)), []
    for merge in range(n - 1):
        a = there.pop() if chain and merge % 5 else there.pop(rng.integers(len(there)))
        merges.append((a, there.pop(rng.integers(len(there)))))
        there.append(n + merge)
    return ordhc.Dendrogram(merges, high, kind=kind)


# Pairs of trees that are too large for hypothesis: ties, inversions, chains.
LARGE = [
    (random_tree(60, 0), random_tree(60, 1)),
    (random_tree(90, 2, n_heights=5), random_tree(90, 3, n_heights=7, chain=True)),
    (random_tree(75, 4, monotone=False, n_heights=20), random_tree(75, 5, chain=True)),
    (random_tree(60, 6, monotone=False, chain=True), random_tree(60, 7, monotone=False)),
]
LARGER = (random_tree(200, 8, n_heights=40), random_tree(200, 9, n_heights=40))


@st.composite
def trees(draw, n=None, min_leaves=1, max_leaves=12, kind=None, monotone=None):
    """Ties, inversions and both kinds included."""
    return random_tree(
        draw(st.integers(min_leaves, max_leaves)) if n is None else n,
        draw(st.integers(0, 2**32 - 1)),
        n_heights=draw(st.sampled_from([1, 2, 4, 1000])),
        kind=kind or draw(st.sampled_from(["similarity", "dissimilarity"])),
        monotone=draw(st.booleans()) if monotone is None else monotone,
        chain=draw(st.booleans()),
    )


@st.composite
def two_trees(draw, kind=None, **options):
    """Over the same leaves."""
    first = draw(trees(kind=kind, **options))
    return first, draw(trees(n=first.n_leaves, kind=kind))
