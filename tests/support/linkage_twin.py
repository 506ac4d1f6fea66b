"""Linkages straight from their formulas in fractions, with the rule for ties, for few leaves.

Nothing is rounded but where ties are looked at, and nothing is shared with the crate.
"""

import functools
import re
from fractions import Fraction
from typing import NamedTuple

BITS = 36


def key(x):
    """The number of `BITS` significant bits nearest to x; of two equally near ones the larger one."""
    if x == 0:
        return Fraction(0)
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    unit = Fraction(2) ** (exponent - BITS + 1)
    return (1 if x > 0 else -1) * unit * ((2 * size / unit + 1) // 2)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def by_members(fold):
    """A linkage that looks at all pairs of members."""

    def similarity(S, p, q, _):
        return fold(S[i][j] for i in p for j in q)

    return similarity


def by_update(coefficients):
    """A linkage of Lance-Williams coefficients: alpha_i, alpha_j, beta, gamma of sizes n_i, n_j, n_k."""

    def similarity(S, p, q, parts):
        if parts[p] is None and parts[q] is None:
            return S[p[0]][q[0]]
        if parts[p] is None or (parts[q] is not None and parts[q][2] > parts[p][2]):
            # The younger cluster is taken apart: the other one was there when it merged.
            p, q = q, p
        i, j, _ = parts[p]
        alpha_i, alpha_j, beta, gamma = coefficients(len(i), len(j), len(q))
        with_i, with_j = similarity(S, i, q, parts), similarity(S, j, q, parts)
        between = similarity(S, i, j, parts)
        return alpha_i * with_i + alpha_j * with_j + beta * between - gamma * abs(with_i - with_j)

    return similarity


def ward(n_i, n_j, n_k):
    n = n_i + n_j + n_k
    return Fraction(n_i + n_k, n), Fraction(n_j + n_k, n), Fraction(-n_k, n), 0


def centroid(n_i, n_j, _):
    n = n_i + n_j
    return Fraction(n_i, n), Fraction(n_j, n), Fraction(-n_i * n_j, n * n), 0


class Formulas(NamedTuple):
    """Coefficients as texts of the sizes n_i, n_j and n_k, as plugins give them; numbers are dyadic."""

    alpha: str
    beta: str
    gamma: str
    reducible: bool = False
    squared: bool = False

    def __call__(self, n_i, n_j, n_k):
        alpha_i, beta, gamma = (valued(formula, n_i, n_j, n_k) for formula in self[:3])
        return alpha_i, valued(self.alpha, n_j, n_i, n_k), beta, gamma


@functools.cache
def valued(formula, n_i, n_j, n_k):
    """What a formula of Python's arithmetic gives in fractions."""
    in_fractions = re.sub(r"[0-9.]+", r"Fraction('\g<0>')", formula)
    sizes = {"n_i": Fraction(n_i), "n_j": Fraction(n_j), "n_k": Fraction(n_k)}
    return eval(in_fractions, {"Fraction": Fraction, **sizes})


FORMULAS = {
    "flexible": Formulas("0.625", "-1 / 4", "0"),
    "halves": Formulas("1 / 2", "0", "0", reducible=True),
    "lesser": Formulas("0.5", "0", "-0.5", reducible=True),
    "variance": Formulas(
        "(n_i + n_k) / (n_i + n_j + n_k)", "-n_k / (n_i + n_j + n_k)", "0", reducible=True, squared=True
    ),
    "sizes": Formulas("n_i / (n_i + n_j)", "0.25 / n_k", "0.125 / (n_i + n_j)"),
}
HALF = Fraction(1, 2)
LINKAGES = {
    "single": by_members(max),
    "complete": by_members(min),
    "average": by_members(mean),
    "weighted": by_update(lambda *_: (HALF, HALF, 0, 0)),
    "ward": by_update(ward),
    "centroid": by_update(centroid),
    "median": by_update(lambda *_: (HALF, HALF, -HALF / 2, 0)),
    **{name: by_update(formulas) for name, formulas in FORMULAS.items()},
}
SQUARED = ("ward", "centroid", "median", "variance")
REDUCIBLE = ("single", "complete", "average", "weighted", "ward", "halves", "lesser", "variance")


def is_exact(name, values, n):
    """Whether similarities are compared as they are: never rounded, or from exact sums."""
    whole = all(x.denominator == 1 for x in values)
    return name in ("single", "complete") or (
        name == "average" and whole and max(map(abs, values)) * Fraction(n * n, 4) < 2**53
    )


def agglomerate(S, name, dissimilarity, labels=None):
    """Merges as pairs of labels, and heights as fractions (squares for dissimilarities that are squared).

    Leaves of the same of some `labels` merge first, the nearest pair of them first (of linkages that aren't
    reducible one initial cluster after the other), at least as close as the closest merge after.
    """
    n = len(S)
    S = [[Fraction(x) for x in row] for row in S]
    exact = is_exact(name, [S[i][j] for i in range(n) for j in range(i)], n)
    if dissimilarity:
        S = [[-x * x if name in SQUARED else -x for x in row] for row in S]
    value = LINKAGES[name]
    clusters = [(leaf,) for leaf in range(n)]
    parts = dict.fromkeys(clusters)
    number = {cluster: leaf for leaf, cluster in enumerate(clusters)}
    merges, heights = [], []

    @functools.cache
    def valued_and_ranked(p, q):
        found = value(S, p, q, parts)
        return found, found if exact else key(found)

    def merge_all(label_of):
        """Merge the nearest pair of clusters of one label, other than None, as long as there is one."""
        while True:
            pairs = [(p, q) for at, p in enumerate(clusters) for q in clusters[at + 1 :]]
            pairs = [(p, q) for p, q in pairs if label_of(p[0]) == label_of(q[0]) is not None]
            if not pairs:
                return
            # Pairs are in the order of smallest leaves, so that the first one wins.
            p, q = best = max(pairs, key=lambda pair: valued_and_ranked(*pair)[1])
            merges.append(sorted((number[p], number[q])))
            heights.append(valued_and_ranked(p, q)[0])
            whole = tuple(sorted(p + q))
            parts[whole] = (p, q, len(merges))
            number[whole] = n + len(merges) - 1
            clusters[:] = sorted([cluster for cluster in clusters if cluster not in best] + [whole])

    if labels is not None and name in REDUCIBLE:
        merge_all(lambda leaf: labels[leaf])
    elif labels is not None:
        for one in dict.fromkeys(labels):
            merge_all(lambda leaf, one=one: one if labels[leaf] == one else None)
    n_within = len(merges)
    merge_all(lambda leaf: "all")
    if merges[n_within:]:
        closest = max(heights[n_within:])
        heights[:n_within] = [max(height, closest) for height in heights[:n_within]]
    return merges, heights
