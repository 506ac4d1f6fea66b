"""Strategies for few comparisons, with all that can be odd about them."""

import numpy as np
from hypothesis import strategies as st

import ordhc
from support import twins

WEIGHTS = [0.0, 0.25, 0.5, 1.0, 2.0, 3.0]
WHOLE = [0.0, 1.0, 2.0, 3.0]


@st.composite
def comparisons(draw, width, min_leaves=2, max_leaves=8, min_size=0, max_size=30, answered=False):
    """Repeats, contradictions and rows of no weight included; `answered` mentions every leaf."""
    n = draw(st.integers(min_leaves, max_leaves))
    rows = []
    if n > 2:
        if width == 3:
            row = st.lists(st.integers(0, n - 1), min_size=3, max_size=3, unique=True)
        else:
            pairs = st.sampled_from(twins.pairs_of(n))
            row = st.lists(pairs, min_size=2, max_size=2, unique=True).map(lambda row: [*row[0], *row[1]])
        rows = draw(st.lists(row, min_size=min_size, max_size=max_size))
        again = st.lists(st.sampled_from(rows), max_size=3) if rows else st.just([])
        rows = rows + draw(again) + [opposite(row) for row in draw(again)]
    values = draw(st.sampled_from([None, WEIGHTS, WHOLE]))
    weights = None
    if values is not None:
        weights = draw(st.lists(st.sampled_from(values), min_size=len(rows), max_size=len(rows)))
    if answered:
        for leaf in set(range(n)) - set(twins.mentioned(rows, weights)):
            near, far = (leaf + 1) % n, (leaf + 2) % n
            rows.append([leaf, near, far] if width == 3 else [leaf, near, leaf, far])
            if weights is not None:
                weights.append(1.0)
    return data_of(rows, n, weights, width)


def opposite(row):
    """The answer that contradicts one."""
    return [row[0], row[2], row[1]] if len(row) == 3 else [*row[2:], *row[:2]]


def data_of(rows, n, weights=None, width=None):
    """Triplets or quadruplets, as the rows are; none are of the given width."""
    width = width or (len(rows[0]) if len(rows) else 3)
    kind = ordhc.Triplets if width == 3 else ordhc.Quadruplets
    return kind(np.array(rows, dtype=int).reshape(-1, width), n, None, weights)


@st.composite
def with_labels(draw, data):
    """Data (or a matrix) and initial clusters: any whole numbers as labels."""
    made = draw(data)
    n = len(made) if isinstance(made, np.ndarray) else made.n_leaves
    labels = draw(st.lists(st.sampled_from([-7, 0, 1, 5]), min_size=n, max_size=n))
    return made, labels
