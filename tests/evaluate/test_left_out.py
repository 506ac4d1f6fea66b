"""Scores of trees of resamples on answers that were not drawn, beside a plain twin."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import _workers
from ordhc.comparison.rows import changed
from ordhc.evaluate import left_out
from ordhc.evaluate.intervals import share_about
from ordhc.evaluate.left_out import SMOOTHED, LeftOut, Parts, bits_left_out, interval_left_out, sums_of_part

Z = 1.96


def twin(out, hits, most):
    """The estimate and interval from the scores of all trees on all units."""
    held = out @ most
    shares = [hits[at].sum() / held[at] for at in range(len(out)) if held[at] > 0]
    estimate = sum(shares) / len(shares) if shares else math.nan
    if len(most) < 5 or len(out) < 10 or math.isnan(estimate):
        return estimate, (math.nan, math.nan)
    units = [unit for unit in range(len(most)) if out[:, unit].any() and most[unit] > 0]
    if len(units) < 5 or not held.all():
        return estimate, (math.nan, math.nan)
    mean = {u: np.mean([hits[t, u] for t in range(len(out)) if out[t, u]]) for u in units}
    whole = sum(most[u] for u in units)
    over = sum(mean.values()) / whole
    of_units = sum(((mean[u] - over * most[u]) / whole) ** 2 for u in units) * len(units) / (len(units) - 1)
    apart, chances = [], []
    for t in range(len(out)):
        mine = [u for u in units if out[t, u]]
        apart.append(sum(hits[t, u] - mean[u] for u in mine) / held[t])
        rest = [hits[t, u] - mean[u] - apart[-1] * most[u] for u in mine]
        chances.append(sum(value**2 for value in rest) / held[t] ** 2)
    of_trees = SMOOTHED * max(np.var(apart, ddof=1) - np.mean(chances), 0.0)
    count = len(units)
    return estimate, share_about(estimate, math.sqrt(of_units + of_trees), count - 1, count, Z)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 14), st.booleans(), st.booleans(), st.data()
)
def test_blocks_give_the_estimate_and_the_interval_of_all_units_at_once(
    seed, n_units, n_trees, is_sorted, is_weighted, data
):
    random = np.random.default_rng(seed)
    units = np.concatenate([np.arange(n_units), random.integers(0, n_units, 2 * n_units)])
    units = np.sort(units) if is_sorted else random.permutation(units)
    m = len(units)
    weights = random.integers(0, 3, m) / 2 if is_weighted else None
    agree = random.random((n_trees, m)) < 0.7
    drawn = random.poisson(1.0, (n_trees, n_units))
    rows = np.arange(3 * m, dtype=np.int32).reshape(m, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(left_out, "_UNITS", data.draw(st.integers(1, 50)))
        patch.setattr(left_out, "_PARTS", data.draw(st.integers(1, 20)))
        patch.setattr(left_out, "_ROWS_OF_PART", data.draw(st.integers(1, 50)))
        patch.setattr(left_out, "_ROWS", data.draw(st.integers(1, 50)))
        parts = Parts(rows, weights, units, n_units, data.draw(st.sampled_from([None, units])))
        slices = [parts.units_of(number) for number in range(len(parts))]
        assert [some.start for some in slices] == [0, *(some.stop for some in slices)][:-1]
        assert slices[-1].stop == n_units
        bits = bits_left_out(n_trees, drawn.__getitem__, n_units)

        def scores_of(block):
            return lambda at, some: agree[at, block.rows[some, 0] // 3]

        sums = LeftOut.joined(
            [
                sums_of_part(some, parts.blocks(number), n_trees, bits[:, some], scores_of)
                for number, some in enumerate(slices)
            ]
        )
        found = sums.estimate, interval_left_out(sums.estimate, sums, Z)
    each = np.ones(m) if weights is None else weights
    out = drawn == 0
    hits = np.zeros((n_trees, n_units))
    most = np.zeros(n_units)
    for row, unit in enumerate(units.tolist()):
        most[unit] += each[row]
        hits[:, unit] += each[row] * (agree[:, row] & out[:, unit])
    expected = twin(out, hits, most)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["answers", "odd", "mixed up", "persons", "persons by row"])
def test_bootstrap_does_not_depend_on_the_blocks(kind, monkeypatch):
    random = np.random.default_rng(3)
    if kind == "answers":
        data, _ = ordhc.datasets.planted(150, levels=2, leaves_per_cluster=3, seed=1)
    else:
        cells = [random.permutation(8)[:3] for _ in range(60)]
        groups = random.integers(0, 9, 60) if kind == "persons" else None
        data = ordhc.Triplets.from_odd_one_out(cells, 8, groups=groups)
        if kind == "persons by row":
            # The rows of an answer belong to several persons.
            data = changed(data, groups=random.integers(0, 9, len(data)))
        if kind == "mixed up":
            data = data[random.permutation(len(data))]
    whole = ordhc.bootstrap(data, method="adds3-al", n_resamples=12)
    monkeypatch.setattr(left_out, "_UNITS", 7)
    monkeypatch.setattr(left_out, "_ROWS", 11)
    monkeypatch.setattr(left_out, "_ROWS_OF_PART", 5)
    cut = ordhc.bootstrap(data, method="adds3-al", n_resamples=12)
    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(_workers, "MIN_SECONDS", 0.0)
        by_workers = ordhc.bootstrap(data, method="adds3-al", n_resamples=12, executor=pool)
    assert by_workers.intervals == cut.intervals
    assert by_workers.answers_chance == cut.answers_chance
    for name in ("held_out", "answers"):
        one, other = whole.intervals[name], cut.intervals[name]
        np.testing.assert_allclose(
            [one.estimate, one.low, one.high], [other.estimate, other.low, other.high], rtol=1e-9
        )
    assert cut.answers_chance == pytest.approx(whole.answers_chance)
    assert cut.trees == whole.trees
