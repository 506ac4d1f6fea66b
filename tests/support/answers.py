"""Answers of several people, of several kinds."""

import numpy as np
from hypothesis import strategies as st

import ordhc
from ordhc import Triplets


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


def persons(t):
    """Whose answer each row is, or None."""
    if t.groups is None:
        return [None] * len(t)
    return t.groups.tolist() if t.group_names is None else [t.group_names[code] for code in t.groups]


def of_people(n_people=8, m=60, n=8, careless=1, seed=0):
    """Answers to questions of which many are repeated; the last people answer by chance."""
    rng = np.random.default_rng(seed)
    truth = ordhc.Dendrogram.from_newick("(((0,1),(2,3)),((4,5),(6,7)));")
    pool = [rng.choice(n, 3, replace=False) for _ in range(40)]
    rows, who = [], []
    for person in range(n_people):
        for k in rng.integers(0, len(pool), m).tolist():
            a, b, c = pool[k].tolist()
            odd = min(
                (c, a, b), key=lambda leaf: -min(truth.lca_size(leaf, x) for x in (a, b, c) if x != leaf)
            )
            if person >= n_people - careless or rng.random() < 0.1:
                odd = int(rng.choice([a, b, c]))
            rows.append((odd, *(leaf for leaf in (a, b, c) if leaf != odd)))
            who.append(f"person {person}")
    return Triplets.from_odd_one_out(rows, names=[f"item {i}" for i in range(n)], groups=who)
