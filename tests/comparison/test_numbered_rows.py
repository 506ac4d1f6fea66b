"""Rows of a table, numbered."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ordhc.comparison.units import numbered_rows


@given(st.integers(0, 12), st.integers(1, 5), st.sampled_from((2, 5, 2**20, 2**62)), st.integers(0, 2**32))
def test_rows_have_the_numbers_of_numpy(m, k, most, seed):
    rng = np.random.default_rng(seed)
    # Few different rows among many, of small and of huge numbers, below 0, too.
    table = rng.integers(-most, most, size=(max(m // 2, 1), k))[rng.integers(0, max(m // 2, 1), size=m)]
    expected = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    assert numbered_rows(table).tolist() == expected.tolist()
