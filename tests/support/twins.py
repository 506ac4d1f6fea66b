"""The methods straight from their formulas: slow, obvious, exact in fractions where they can be."""

import itertools
from collections import defaultdict
from fractions import Fraction
from math import sqrt


def exact(value):
    """An int where it is whole, a Fraction otherwise; floats are taken as what they are."""
    fraction = Fraction(value)
    return fraction.numerator if fraction.denominator == 1 else fraction


def weighted(rows, weights):
    rows = [tuple(int(leaf) for leaf in row) for row in rows]
    values = [1] * len(rows) if weights is None else [exact(weight) for weight in weights]
    return list(zip(rows, values, strict=True))


def mentioned(rows, weights):
    """The leaves in rows of positive weight, in order."""
    return sorted({leaf for row, weight in weighted(rows, weights) if weight > 0 for leaf in row})


def as_quadruplets(rows):
    return [(i, j, i, k) for i, j, k in rows]


def pairs_of(n):
    return list(itertools.combinations(range(n), 2))


def x3(rows, weights, n):
    """x[i, j, k]: the weight of "i is closer to j than to k" minus that of the opposite."""
    x = {(i, j, k): 0 for i in range(n) for j in range(n) for k in range(n)}
    for (i, j, k), weight in weighted(rows, weights):
        x[i, j, k] += weight
        x[i, k, j] -= weight
    return x


def x4(rows, weights):
    """x[i, j, k, l]: the weight of "i, j are closer than k, l" minus that of the opposite."""
    x = defaultdict(int)
    for (i, j, k, m), weight in weighted(rows, weights):
        for a, b in ((i, j), (j, i)):
            for c, d in ((k, m), (m, k)):
                x[a, b, c, d] += weight
                x[c, d, a, b] -= weight
    return dict(x)


def adds3(rows, weights, n):
    x = x3(rows, weights, n)
    S = [[0] * n for _ in range(n)]
    for i, j in itertools.permutations(range(n), 2):
        S[i][j] = sum(x[i, j, k] + x[j, i, k] for k in range(n))
    return S


def adds4(rows, weights, n):
    x = x4(rows, weights)
    S = [[0] * n for _ in range(n)]
    for i, j in itertools.permutations(range(n), 2):
        S[i][j] = sum(x.get((i, j, k, m), 0) for k, m in pairs_of(n))
    return S


def mulk3(rows, weights, n, normalize):
    """All of K, the diagonal too; in floats if normalised."""
    x = x3(rows, weights, n)
    answered = [set() for _ in range(n)]
    for (i, j, k), weight in weighted(rows, weights):
        if weight > 0:
            answered[i].add(frozenset((j, k)))
    K = [[0] * n for _ in range(n)]
    for i, j in itertools.product(range(n), repeat=2):
        K[i][j] = sum(x[i, k, m] * x[j, k, m] for k, m in pairs_of(n))
        if normalize:
            c = len(answered[i]) * len(answered[j])
            K[i][j] = float(K[i][j]) / sqrt(c) if c else 0.0
    return K


def mulk4(rows, weights, n):
    x = x4(rows, weights)
    K = [[0] * n for _ in range(n)]
    for i, j in itertools.product(range(n), repeat=2):
        for r in range(n):
            if r in (i, j):
                continue
            for k, m in pairs_of(n):
                K[i][j] += x.get((i, r, k, m), 0) * x.get((j, r, k, m), 0)
    return K


def four_k(rows, weights, n):
    """MulK4 + 2 AddS4; the diagonal is MulK4's."""
    K, S = mulk4(rows, weights, n), adds4(rows, weights, n)
    return [[K[i][j] + (2 * S[i][j] if i != j else 0) for j in range(n)] for i in range(n)]


def order_of(pair):
    """What ties go by: the smallest leaf of one cluster, then the smallest leaf of the other."""
    a, b = pair
    return tuple(sorted((min(a), min(b))))


def steps(n, W, labels=None):
    """All pairs with their values and the pair to merge, merge by merge.

    `n` is the number of leaves or the leaves themselves; `labels` tell the initial clusters.
    """
    leaves = list(range(n)) if isinstance(n, int) else sorted(n)
    labels = leaves if labels is None else list(labels)
    classes = defaultdict(list)
    for leaf, label in zip(leaves, labels, strict=True):
        classes[label].append(leaf)
    clusters = sorted(tuple(members) for members in classes.values())
    while len(clusters) > 1:
        values = {(p, q): W(p, q, clusters) for p, q in itertools.combinations(clusters, 2)}
        best = min(values, key=lambda pair: (-values[pair], order_of(pair)))
        yield values, best
        merged = tuple(sorted(best[0] + best[1]))
        clusters = sorted([cluster for cluster in clusters if cluster not in best] + [merged])


def agglomerate(n, W, labels=None):
    """The merges as (leaves of one, leaves of the other, value), the one with the smaller leaf first."""
    return [(frozenset(p), frozenset(q), values[p, q]) for values, (p, q) in steps(n, W, labels)]


def smallest_gap(n, W, labels=None):
    """How far the largest value is ahead of the next, over all merges."""
    gap = float("inf")
    for values, _ in steps(n, W, labels):
        ranked = sorted(values.values(), reverse=True)
        if len(ranked) > 1:
            gap = min(gap, ranked[0] - ranked[1])
    return gap


def average(S):
    def value(p, q, clusters):
        total = sum(S[i][j] for i in p for j in q)
        if isinstance(total, float):
            return total / (len(p) * len(q))
        return Fraction(total) / (len(p) * len(q))

    return value


def single(S):
    return lambda p, q, clusters: max(S[i][j] for i in p for j in q)


def complete(S):
    return lambda p, q, clusters: min(S[i][j] for i in p for j in q)


def three_al(rows, weights):
    leaves = max((leaf for row in rows for leaf in row), default=-1) + 1
    x = x3(rows, weights, int(leaves))

    def preference(a, b, c):
        """How much cluster a is closer to b than to c."""
        total = sum(x.get((i, k, m), 0) for i in a for k in b for m in c)
        return Fraction(total) / (len(a) * len(b) * len(c))

    def value(p, q, clusters):
        if len(clusters) == 2:
            return Fraction(0)
        others = [r for r in clusters if r not in (p, q)]
        total = sum(preference(p, q, r) + preference(q, p, r) for r in others)
        return total / (2 * (len(clusters) - 2))

    return value


def four_al(rows, weights):
    x = x4(rows, weights)

    def preference(a, b, c, d):
        """How much clusters a, b are closer than c, d."""
        total = sum(x.get((i, j, k, m), 0) for i in a for j in b for k in c for m in d)
        return Fraction(total) / (len(a) * len(b) * len(c) * len(d))

    def value(p, q, clusters):
        total = sum(preference(p, q, r, s) for r, s in itertools.permutations(clusters, 2))
        return Fraction(total) / (len(clusters) * (len(clusters) - 1))

    return value


def pairs_beaten(rows, weights):
    """For a complete set without contradictions: how many pairs each pair beats, both ways round."""
    beaten = defaultdict(set)
    for (i, j, k, m), weight in weighted(rows, weights):
        if weight > 0:
            beaten[frozenset((i, j))].add(frozenset((k, m)))
            beaten[frozenset((k, m))] |= set()
    S = defaultdict(dict)
    for pair, others in beaten.items():
        i, j = pair
        S[i][j] = S[j][i] = len(others)
    return S


def four_sl(rows, weights):
    return single(pairs_beaten(rows, weights))


def four_cl(rows, weights):
    return complete(pairs_beaten(rows, weights))


def build(triples, n):
    """BUILD of Aho, Sagiv, Szymanski & Ullman: the clusters of the tree, or None if there is none.

    A triple (i, j, k) says that i and j are closer to each other than to k.
    """

    def of(leaves):
        clusters = {frozenset(leaves)}
        if len(leaves) == 1:
            return clusters
        parts = [{leaf} for leaf in leaves]
        for i, j, k in triples:
            if {i, j, k} <= leaves:
                touched = [part for part in parts if i in part or j in part]
                parts = [part for part in parts if part not in touched] + [set().union(*touched)]
        if len(parts) == 1:
            return None
        for part in parts:
            below = of(part)
            if below is None:
                return None
            clusters |= below
        return clusters

    return of(set(range(n)))
