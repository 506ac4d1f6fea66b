"""Questions that the same person answered several times."""

import numpy as np
import pytest

import ordhc
from ordhc.clustering.answering import chances_of
from ordhc.clustering.repeats import repeats_of
from ordhc.errors import InputError, OrdhcWarning
from ordhc.tree.dendrogram import lca_size
from support.answers import noisy


def thrice(t, groups=None):
    """Each answer three times alike."""
    rows = np.repeat(t.rows.astype(int), 3, axis=0)
    return ordhc.Triplets(rows, n_leaves=t.n_leaves, groups=None if groups is None else np.repeat(groups, 3))


def test_repeats_are_counted_by_person_and_question():
    rows = [(0, 1, 2), (0, 2, 1), (0, 1, 2), (1, 0, 2), (0, 1, 2)]
    found = repeats_of(ordhc.Triplets(rows, groups=["ann", "ann", "ann", "ann", "bob"]))
    assert found.repeats.tolist() == [1, 2]
    assert found.n_changed == 1
    np.testing.assert_allclose(found.shares, [1 / 3, 1 / 3, 1 / 3, 1, 1])
    unknown = repeats_of(ordhc.Triplets(rows))
    assert unknown.repeats.tolist() == [1, 2, 4]
    odd = ordhc.Triplets.from_odd_one_out([(2, 0, 1), (2, 1, 0), (0, 1, 2)])
    found = repeats_of(odd)
    assert (len(found.repeats), found.n_changed) == (2, 1)
    np.testing.assert_allclose(found.shares, 1 / 3)
    weighted = repeats_of(ordhc.Triplets(rows, weights=[1, 0, 1, 1, 0]))
    assert weighted.repeats.tolist() == [2]
    assert repeats_of(ordhc.Triplets(np.zeros((0, 3), dtype=int), n_leaves=3)).n_changed == 0


@pytest.mark.parametrize("known", [False, True])
def test_answers_that_never_change_count_once(known):
    t, _ = noisy(n=16, m=300, wrong=0.25, seed=2)
    groups = np.arange(len(t)) % 2 if known else None
    again = thrice(t, groups)
    with pytest.warns(OrdhcWarning, match="repeats"):
        p = ordhc.posterior(again, sweeps=60)
    assert "answers repeat a question" in p.notes[0]
    assert p.tree.settings["linkage_parameters"]["repeats"] == "same"
    once = ordhc.posterior(again[::3], sweeps=60)
    told = ordhc.posterior(again, sweeps=60, repeats="same")
    assert told.notes == ()
    np.testing.assert_array_equal(told.similarity, p.similarity)
    every = ordhc.posterior(again, sweeps=60, repeats="new")
    assert every.notes == ()
    assert p.expected.accuracy == pytest.approx(once.expected.accuracy, abs=0.06)
    assert every.expected.accuracy > p.expected.accuracy + 0.03
    with pytest.raises(InputError, match="repeats"):
        ordhc.posterior(t, repeats="twice")


def test_answers_that_are_given_anew_all_count():
    """The same questions again, answered by the same tree with new noise; and answers without noise."""
    t, truth = noisy(n=12, m=200, wrong=0.2, seed=3)
    rng = np.random.default_rng(0)
    rows = np.repeat(t.rows.astype(int), 3, axis=0)
    near, far = (np.asarray(lca_size(truth, rows[:, 0], rows[:, at])) for at in (1, 2))
    swap = (near > far) ^ (rng.random(len(rows)) < 0.2)
    rows[swap] = rows[swap][:, [0, 2, 1]]
    p = ordhc.posterior(ordhc.Triplets(rows, n_leaves=12), sweeps=20)
    assert p.notes == ()
    assert "repeats" not in p.tree.settings["linkage_parameters"]
    # Who makes no mistakes answers alike, too: that is what is to be expected.
    right, _ = noisy(n=8, m=400, wrong=0.0, seed=1)
    p = ordhc.posterior(thrice(right), sweeps=60)
    assert p.notes == ()
    new = ordhc.posterior(thrice(right), sweeps=60, repeats="new")
    np.testing.assert_array_equal(p.similarity, new.similarity)


def test_forecasts_count_repeats_as_the_posterior_does():
    t, _ = noisy(n=10, m=100, wrong=0.25, seed=2)
    again = thrice(t)
    p = ordhc.posterior(again, repeats="same", sweeps=40)
    new = ordhc.posterior(again, repeats="new", sweeps=40)
    assert p.forecast(again, 2, repeats=2).accuracy < new.forecast(again, 2, repeats=2).accuracy + 0.05


@pytest.mark.parametrize("odd", [False, True])
def test_careful_people_beside_careless_ones_may_answer_alike(odd):
    """Each person's own noise counts: who makes no mistakes never changes an answer."""
    _, truth = noisy(n=8, m=400, wrong=0.0, seed=1)
    rng = np.random.default_rng(1)
    rows = np.array([rng.permutation(8)[:3] for _ in range(500)])
    sizes = np.stack([lca_size(truth, rows[:, i], rows[:, j]) for i, j in ((1, 2), (0, 2), (0, 1))], axis=1)
    rows = rows[np.arange(len(rows))[:, None], (sizes.argmin(axis=1)[:, None] + [0, 1, 2]) % 3]
    who = np.where(np.arange(len(rows)) % 4 == 0, "coin", "ann")
    guessed = rng.permuted(rows, axis=1)
    rows = np.where((who == "coin")[:, None], guessed, rows)
    if odd:
        data = ordhc.Triplets.from_odd_one_out(rows, n_leaves=8, groups=who)
    else:
        data = ordhc.Triplets(rows[:, [1, 2, 0]], n_leaves=8, groups=who)
    found = repeats_of(data)
    assert len(found.repeats) > 100
    p = ordhc.posterior(data, sweeps=60)
    assert p.noise_by_group["coin"] > 0.25 > 0.1 > p.noise_by_group["ann"]
    assert p.notes == ()
    assert "repeats" not in p.tree.settings["linkage_parameters"]


def test_chances_of_answers():
    odd = ordhc.Triplets.from_odd_one_out([(2, 0, 1), (2, 1, 0)])
    ranked = ordhc.Triplets.from_ranking([(0, 1, 2, 3)], n_ranked=2)
    for data, chance in ((odd, 1 / 3), (ranked, 1 / 6)):
        found = chances_of(data, data.answers, np.arange(len(data)))
        np.testing.assert_allclose(found, chance)
