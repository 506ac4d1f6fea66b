"""Answers of several people, of several kinds."""

import io

import numpy as np
from hypothesis import strategies as st

import ordhc
from ordhc import Triplets
from ordhc.tree.dendrogram import from_engine, lca_size


@st.composite
def answered(draw, kinds=("odd_one_out", "most_central", "ranking"), max_size=25):
    """Answers of several rows each, with or without people, names and weights."""
    n = draw(st.integers(4, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(1, max_size))
    kind = draw(st.sampled_from(kinds))
    rows = [rng.choice(n, 4 if kind == "ranking" else 3, replace=False).tolist() for _ in range(m)]
    who = draw(st.sampled_from([None, ["ann", "bob", "cid"], [3, 17, 2**20], [7]]))
    return getattr(Triplets, f"from_{kind}")(
        rows,
        n_leaves=n,
        names=[f"leaf {i}" for i in range(n)] if draw(st.booleans()) else None,
        weights=rng.random(m) if draw(st.booleans()) else None,
        groups=None if who is None else [who[at] for at in rng.integers(0, len(who), m)],
    )


def as_file(text, name="d.csv"):
    """A stream of text with the name of a file."""
    stream = io.StringIO(text)
    stream.name = name
    return stream


def persons(t):
    """Whose answer each row is, or None."""
    if t.groups is None:
        return [None] * len(t)
    return t.groups.tolist() if t.group_names is None else [t.group_names[code] for code in t.groups]


def of_people(n_people=8, m=60, n=8, careless=1, seed=0):
    """Answers to questions of which many are repeated; the last people answer by chance."""
    rng = np.random.default_rng(seed)
    truth = ordhc.Dendrogram.from_newick("(((0,1),(2,3)),((4,5),(6,7)));")
    pool = [rng.choice(n, 3, replace=False).tolist() for _ in range(40)]
    # The smallest cluster that has the leaf and another one is largest for the odd one out.
    right = [
        min((c, a, b), key=lambda leaf: -min(lca_size(truth, leaf, x) for x in (a, b, c) if x != leaf))
        for a, b, c in pool
    ]
    rows, who = [], []
    for person in range(n_people):
        for k in rng.integers(0, len(pool), m).tolist():
            odd = right[k]
            if person >= n_people - careless or rng.random() < 0.1:
                odd = int(rng.choice(pool[k]))
            rows.append((odd, *(leaf for leaf in pool[k] if leaf != odd)))
            who.append(f"person {person}")
    return Triplets.from_odd_one_out(rows, names=[f"item {i}" for i in range(n)], groups=who)


def levels(n_levels=3, size=5, seed=0):
    """(n, levels) labels of clusters within clusters, in any order."""
    cluster = np.arange(size * 2**n_levels) // size
    labels = np.stack([cluster >> (n_levels - level) for level in range(1, n_levels + 1)], 1)
    return labels[np.random.default_rng(seed).permutation(len(labels))]


def people(labels, spread=1.5, seed=0):
    """Whoever compares pairs by their level and a normal deviate, new for each answer."""
    level = (labels[:, None] == labels[None]).cumprod(axis=2).sum(axis=2)
    rng = np.random.default_rng(seed)

    def oracle(rows):
        a, b, c = np.asarray(rows).T
        close = np.stack([level[b, c], level[a, c], level[a, b]], 1) * spread
        return (close + rng.normal(size=close.shape)).argmax(axis=1).astype(np.int8)

    return oracle


def noisy(n=16, m=400, wrong=0.2, seed=0, quadruplets=False):
    """Answers about a random tree, some of them wrong, with names; and the tree."""
    rng = np.random.default_rng(seed)
    names = [f"leaf {i}" for i in range(n)]
    truth = from_engine(ordhc._ordhc.random_tree("yule", n, seed), names)
    width = 4 if quadruplets else 3
    rows = np.array([rng.permutation(n)[:width] for _ in range(3 * m)])
    near, far = (rows[:, :2], rows[:, 2:]) if quadruplets else (rows[:, [0, 1]], rows[:, [0, 2]])
    sizes = [np.asarray(lca_size(truth, *pair.T)) for pair in (near, far)]
    clear = sizes[0] != sizes[1]
    swap = (sizes[0] > sizes[1]) ^ (rng.random(len(rows)) < wrong)
    rows[swap] = rows[swap][:, [2, 3, 0, 1] if quadruplets else [0, 2, 1]]
    kind = ordhc.Quadruplets if quadruplets else ordhc.Triplets
    return kind(rows[clear][:m], n_leaves=n, names=names), truth


def chosen(rng, S, m, kind="triplet", noise=None):
    """Rows of answers to random questions: a pair is chosen in proportion to exp(its closeness in S).

    `kind` is "triplet", "odd" (one out) or "pairs". A share 2 * noise of the answers is by chance.
    """
    a, b, c, d = np.argsort(rng.random((m, len(S))), axis=1)[:, :4].T
    pairs = {
        "triplet": [(a, b, c), (a, c, b)],
        "odd": [(a, b, c), (a, c, b), (b, c, a)],
        "pairs": [(a, b, c, d), (c, d, a, b)],
    }[kind]
    U = np.stack([S[pair[0], pair[1]] for pair in pairs], axis=1)
    if noise is not None:
        U = np.where(rng.random(m)[:, None] < 2 * noise, 0.0, U)
    U = U + rng.gumbel(size=U.shape)
    return np.stack([np.stack(pair, axis=1) for pair in pairs], axis=1)[np.arange(m), U.argmax(axis=1)]


def comparisons_of(rows, kind, **more):
    if kind == "odd":
        return Triplets.from_odd_one_out(rows[:, [2, 0, 1]], **more)
    return (ordhc.Quadruplets if kind == "pairs" else Triplets)(rows, **more)
