"""Scores of trees on answers that they were not made from: their intervals, differences, and choices."""

import itertools

import numpy as np
import pytest

import ordhc
from ordhc.evaluate.folds import Sums, chosen_within, difference, left_out, score
from ordhc.evaluate.trials import Folds, _revenues, split
from support.answers import of_people
from support.random_data import planted

METHODS = ["adds3-al", "mulk3-al"]


def linear(rng, n_units, n_folds, of_units, of_trees):
    """Units that score by chance, and by trees that are worth the mean of what their folds are worth."""
    part = rng.permutation(n_units) % n_folds
    own = rng.normal(0, of_units, n_units)
    worth = rng.normal(0, of_trees, n_folds)
    without = np.full((n_folds, n_units), np.nan)
    mean = {left: np.delete(worth, list(left)).mean() for left in left_out(n_folds)}
    got = own + np.array([mean[fold,] for fold in part])
    for pair in (left for left in left_out(n_folds) if len(left) == 2):
        for fold, other in (pair, pair[::-1]):
            without[other, part == fold] = own[part == fold] + mean[pair]
    return Sums(part, np.ones(n_units), got, without)


@pytest.mark.parametrize(
    ("n_folds", "of_units", "of_trees"),
    [(3, 0.2, 1.0), (3, 1.0, 0.4), (4, 1.0, 0.4), (5, 1.0, 0.0), (5, 0.2, 1.0), (8, 1.0, 0.4)],
)
def test_intervals_hold_what_trees_of_other_data_reach(n_folds, of_units, of_trees):
    rng = np.random.default_rng(0)
    found = [score(linear(rng, 40, n_folds, of_units, of_trees), is_share=False) for _ in range(800)]
    covered = np.mean([each.low <= 0 <= each.high for each in found])
    # Three standard errors; Student's t is rather too wide where the degrees of freedom are estimated.
    assert 0.927 <= covered <= 0.985
    # The variance is right on average.
    assert np.mean([each.error**2 for each in found]) == pytest.approx(
        of_units**2 / 40 + of_trees**2 / n_folds, rel=0.1
    )


def test_units_cancel_out_of_differences():
    rng = np.random.default_rng(1)
    one = linear(rng, 60, 5, 1.0, 0.1)
    shift = rng.normal(0.05, 0.01, 60)
    other = Sums(one.part, one.most, one.got - shift, one.without - shift)
    found = difference(one, other)
    assert found.value == pytest.approx(shift.mean())
    assert 0 < found.low < found.value < found.high
    assert found.error < 0.1 * score(one, is_share=False).error
    same = difference(one, one)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_few_units_or_two_folds_have_no_interval():
    few = Sums(np.arange(4), np.ones(4), np.ones(4), np.full((4, 4), np.nan))
    assert (score(few, is_share=True).value, np.isnan(score(few, is_share=True).low)) == (1.0, True)
    rng = np.random.default_rng(2)
    assert np.isnan(score(linear(rng, 40, 2, 1.0, 1.0), is_share=False).low)
    assert left_out(2) == [(0,), (1,)]
    assert len(left_out(5)) == 5 + 10
    assert len(left_out(10)) == 10 + 20


@pytest.mark.parametrize("quadruplets", [False, True])
def test_revenues_of_rows_add_up(quadruplets):
    t, _ = planted(2, seed=1, quadruplets=quadruplets)
    tree = ordhc.cluster(t, method=f"adds{t.rows.shape[1]}-al+spr")
    stars = [tree, tree.contract(2.0) if tree.support is not None else tree.contract(ties=True)]
    for each in stars:
        whole = ordhc.score(each, t)
        assert _revenues(each, t).sum() * (t.n_leaves - 2) == pytest.approx(whole)


def plainly(t, method, folds, seed):
    """Hits of each answer by trees without its fold, and by trees without another fold, too."""
    units, parts, _ = split(t, folds, seed)
    part = parts[units]
    trees = {
        left: ordhc.cluster(t[~np.isin(part, left)], method=method)
        for left in [
            *itertools.combinations(range(folds), 1),
            *itertools.combinations(range(folds), 2),
        ]
    }
    hits = {}
    for left, tree in trees.items():
        for row in np.flatnonzero(np.isin(part, left)):
            hits[left, row] = float(ordhc.metrics.satisfied(tree, t[[row]]).agreed)
    return part, hits


def test_sums_are_those_of_all_trees_one_by_one():
    t = of_people(n_people=6, m=12)
    part, hits = plainly(t, "adds3-al", 3, 4)
    units, parts, kept = split(t, 3, 4)
    assert kept == "group"
    work = Folds(t, units, parts, 3)
    found = work.result(work.left_out(), [work.scores(left, "adds3-al") for left in work.left_out()])
    for unit in range(6):
        rows = np.flatnonzero(units == unit)
        fold = parts[unit]
        assert found.satisfied.got[unit] == pytest.approx(sum(hits[(fold,), row] for row in rows))
        assert found.satisfied.most[unit] == len(rows)
        for other in range(3):
            value = found.satisfied.without[other, unit]
            if other == fold:
                assert np.isnan(value)
            else:
                pair = tuple(sorted((fold, other)))
                assert value == pytest.approx(sum(hits[pair, row] for row in rows))
    assert (part == parts[units]).all()


def test_a_method_is_chosen_without_the_answers_it_is_scored_on():
    t = of_people(n_people=8, m=15, careless=3, seed=3)
    folds, seed = 4, 1
    found = ordhc.select(t, METHODS, folds=folds, seed=seed, by="satisfied")
    trials = {method: plainly(t, method, folds, seed) for method in METHODS}
    total = 0.0
    for fold in range(folds):
        inner = {}
        for method, (part, hits) in trials.items():
            others = np.flatnonzero(part != fold)
            inner[method] = sum(hits[tuple(sorted((fold, part[row]))), row] for row in others)
        taken = max(METHODS, key=lambda method: inner[method])
        part, hits = trials[taken]
        total += sum(hits[(fold,), row] for row in np.flatnonzero(part == fold))
    assert found.nested.value == pytest.approx(total / len(t))
    assert found.nested.low < found.nested.value < found.nested.high
    assert found.to_dict()["nested"]["value"] == found.nested.value
    assert "nested cross-validation" in str(found)
    assert ordhc.select(t, METHODS[:1], folds=folds).nested is None


def test_nothing_is_chosen_within_folds_that_have_no_pairs():
    rng = np.random.default_rng(0)
    two = linear(rng, 20, 2, 1.0, 1.0)
    assert chosen_within([two, two], lambda _: 0, [two, two]) is None


def test_behind_is_paired_by_person():
    t = of_people(n_people=20, m=30, careless=8, seed=1)
    found = ordhc.select(t, ["adds3-al", "adds3-al+spr", "mulk3-al"], by="satisfied")
    first, *others = found.candidates
    assert (first.behind, first.behind_low, first.behind_high) == (0, 0, 0)
    for other in others:
        assert other.behind == pytest.approx(first.satisfied - other.satisfied)
        assert (other.method in found.clearly_worse) == (other.behind_low > 0)
