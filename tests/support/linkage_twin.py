"""Linkages straight from their formulas in fractions, with the rule for ties, for few leaves.

Nothing is rounded but where ties are looked at, and nothing is shared with the engine.
"""

from fractions import Fraction

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


HALF = Fraction(1, 2)
LINKAGES = {
    "single": by_members(max),
    "complete": by_members(min),
    "average": by_members(mean),
    "weighted": by_update(lambda *_: (HALF, HALF, 0, 0)),
    "ward": by_update(ward),
    "centroid": by_update(centroid),
    "median": by_update(lambda *_: (HALF, HALF, -HALF / 2, 0)),
    "flexible": by_update(lambda *_: (Fraction(5, 8), Fraction(5, 8), -2 * HALF / 4, 0)),
}
SQUARED = ("ward", "centroid", "median")


def is_exact(name, values, n):
    """Whether similarities are compared as they are: never rounded, or from exact sums."""
    whole = all(x.denominator == 1 for x in values)
    return name in ("single", "complete") or (
        name == "average" and whole and max(map(abs, values)) * Fraction(n * n, 4) < 2**53
    )


def agglomerate(S, name, dissimilarity):
    """Merges as pairs of labels, and heights as fractions (squares for dissimilarities that are squared)."""
    n = len(S)
    S = [[Fraction(x) for x in row] for row in S]
    exact = is_exact(name, [S[i][j] for i in range(n) for j in range(i)], n)
    if dissimilarity:
        S = [[-x * x if name in SQUARED else -x for x in row] for row in S]
    value = LINKAGES[name]
    clusters = [(leaf,) for leaf in range(n)]
    parts = dict.fromkeys(clusters)
    labels = {cluster: leaf for leaf, cluster in enumerate(clusters)}
    merges, heights = [], []
    while len(clusters) > 1:
        pairs = [(p, q) for at, p in enumerate(clusters) for q in clusters[at + 1 :]]
        found = {pair: value(S, *pair, parts) for pair in pairs}
        rank = {pair: x if exact else key(x) for pair, x in found.items()}
        # Pairs are in the order of smallest leaves, so that the first one wins.
        p, q = best = max(pairs, key=lambda pair: rank[pair])
        merges.append(sorted((labels[p], labels[q])))
        heights.append(found[best])
        whole = tuple(sorted(p + q))
        parts[whole] = (p, q, len(merges))
        labels[whole] = n + len(merges) - 1
        clusters = sorted([cluster for cluster in clusters if cluster not in best] + [whole])
    return merges, heights
