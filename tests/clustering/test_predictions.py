"""What a posterior predicts: answers, how right its tree is, and how right it would be after more answers."""

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from support.answers import noisy
from support.random_data import random_tree


def test_log_loss():
    t = ordhc.Triplets([[0, 1, 2], [1, 2, 0]], weights=[1.0, 3.0])
    loss = ordhc.metrics.log_loss
    assert loss([0.5, 0.25], t) == pytest.approx((np.log(2) + 3 * np.log(4)) / 4)
    assert loss([1, 0], t) == np.inf
    assert loss([0, 1], ordhc.Triplets([[0, 1, 2], [1, 2, 0]], weights=[0.0, 1.0])) == 0
    assert loss([0.5], [[0, 1, 2, 3]]) == pytest.approx(np.log(2))
    for predicted, text in (([0.5], "shape"), ([0.5, 1.5], r"predicted\[1\] is 1.5"), ([np.nan, 0], "nan")):
        with pytest.raises(InputError, match=text):
            loss(predicted, t)
    with pytest.raises(InputError, match="no comparisons"):
        loss([], ordhc.Triplets(np.zeros((0, 3), dtype=int), n_leaves=3))
    with pytest.raises(InputError, match="shape"):
        loss([0.5], [[0, 1]])


def test_predictions_are_better_than_chance_and_than_certainty():
    t, _ = noisy(m=900, wrong=0.25)
    seen, unseen = t[:600], t[600:]
    p = ordhc.posterior(seen)
    loss = ordhc.metrics.log_loss(p, unseen)
    # Knowing the tree and how often answers are right.
    best = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert best - 0.06 < loss < np.log(2) - 0.03


def test_the_estimator_predicts():
    pytest.importorskip("sklearn")
    t, _ = noisy(m=300)
    rows = t.rows.astype(int)
    model = ordhc.OrdinalClustering("posterior-al").fit(rows)
    p = model.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(p[:, 1], ordhc.posterior(ordhc.Triplets(rows)).predict(rows))
    tree = ordhc.cluster(ordhc.Triplets(rows), method="posterior-al")
    np.testing.assert_array_equal(model.children_, tree.merges)
    short = ordhc.OrdinalClustering(linkage=("posterior-al", {"sweeps": 6})).fit(rows)
    assert short.predict_proba(rows[:2]).shape == (2, 2)
    assert not hasattr(ordhc.OrdinalClustering("adds3-al").fit(rows), "predict_proba")
    with pytest.raises(InputError, match="fit it again"):
        ordhc.OrdinalClustering("adds3-al").fit(rows).set_params(method="posterior-al").predict_proba(rows)


@pytest.mark.parametrize("quadruplets", [False, True])
def test_the_tree_is_about_as_right_as_expected(quadruplets):
    told, right = [], []
    for seed in range(4):
        t, truth = noisy(n=16, m=16 * 25, seed=seed, quadruplets=quadruplets)
        p = ordhc.posterior(t, seed=seed)
        expected = p.expected
        assert expected.low <= expected.accuracy <= expected.high
        assert str(expected).startswith("accuracy 0.")
        told.append(expected.accuracy)
        right.append(1 - ordhc.metrics.triplet_distance(p.tree, truth))
    assert np.mean(told) == pytest.approx(np.mean(right), abs=0.07), (told, right)


@pytest.mark.slow
def test_more_answers_bring_what_was_forecast():
    whole, truth = noisy(n=20, m=20 * 48)
    few = whole[: 20 * 8]
    p = ordhc.posterior(few)
    forecast = p.forecast(few, 40)
    assert forecast.accuracy > p.expected.accuracy
    later = 1 - ordhc.metrics.triplet_distance(ordhc.posterior(whole).tree, truth)
    assert forecast.accuracy == pytest.approx(later, abs=0.1)
    for other, text in ((whole.rows, "takes Triplets"), (ordhc.Triplets([[0, 1, 2]]), "20 leaves")):
        with pytest.raises(InputError, match=text):
            p.forecast(other, 1)
    with pytest.raises(InputError, match="more"):
        p.forecast(few, 0)


def test_simulated_answers_are_those_of_the_model():
    """Odd ones out, triplets and quadruplets of one tree, beside their probabilities."""
    from ordhc.clustering.answering import Crowd, simulated
    from ordhc.clustering.expected import heights_of_pairs

    truth = random_tree(6, 3)
    H = heights_of_pairs(truth)
    heights = -H if truth.kind == "dissimilarity" else H
    tree = ordhc.Dendrogram(truth.merges, -truth.heights, kind="similarity")
    np.testing.assert_array_equal(heights_of_pairs(tree), heights)
    for like in (ordhc.Triplets([[0, 1, 2]], n_leaves=6), ordhc.Quadruplets([[0, 1, 2, 3]], n_leaves=6)):
        found = simulated(heights, Crowd.of(like, 0.05, {}), 30_000, like, 1)
        assert found.rows[: len(like)].tolist() == like.rows.tolist()
        rows = found.rows[len(like) :].astype(int)
        near = heights[rows[:, 0], rows[:, 1]]
        far = heights[rows[:, 0], rows[:, 2]] if found.rows.shape[1] == 3 else heights[rows[:, 2], rows[:, 3]]
        d = np.abs(near - far)
        for step in np.unique(np.round(d[d > 0], 6)):
            some = np.isclose(d, step)
            right = np.mean(near[some] > far[some])
            p = 0.05 + 0.9 / (1 + np.exp(-step))
            assert right == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / some.sum()) + 0.01)


def test_simulated_answers_where_heights_are_far_apart_are_right():
    from ordhc.clustering.answering import Crowd, simulated
    from ordhc.clustering.expected import heights_of_pairs

    truth = random_tree(6, 3)
    tree = ordhc.Dendrogram(truth.merges, 5_000.0 * -truth.heights, kind="similarity")
    heights = heights_of_pairs(tree)
    for like in (
        ordhc.Triplets.from_odd_one_out([[0, 1, 2]], n_leaves=6),
        ordhc.Triplets([[0, 1, 2]], n_leaves=6),
        ordhc.Quadruplets([[0, 1, 2, 3]], n_leaves=6),
    ):
        rows = simulated(heights, Crowd.of(like, 0.0, {}), 500, like, 1).rows[len(like) :].astype(int)
        near = heights[rows[:, 0], rows[:, 1]]
        far = heights[rows[:, 0], rows[:, 2]] if rows.shape[1] == 3 else heights[rows[:, 2], rows[:, 3]]
        assert (near >= far).all()
        assert (near > far).any()


def test_a_session_says_how_good_its_tree_is(tmp_path):
    truth = random_tree(10, 1)
    oracle = ordhc.oracles.from_tree(truth)
    noisy = ordhc.oracles.noisy(oracle, 0.85)
    with ordhc.Session(tmp_path / "a", n_leaves=10, method="uncertain", budget=100) as session:
        tree = ordhc.learn(noisy, session=session)
        p = session.analysed().posterior(sweeps=100)
        assert p.expected.accuracy == pytest.approx(1 - ordhc.metrics.triplet_distance(tree, truth), abs=0.1)
        assert p.forecast(session.comparisons(), 10, repeats=2).accuracy > 0.98
        assert p.heldout is None
    with ordhc.Session(tmp_path / "b", n_leaves=10, method="uncertain", budget=150, limit=1) as session:
        # What the learner asks is with ann, so all others get questions whose answers are held out.
        taken = session.ask(who="ann")
        for who in map(str, range(60)):
            questions = session.ask(who=who, fill="heldout")
            session.tell(questions.ids, oracle(questions.rows), who=who)
        session.release(taken.ids)
        ordhc.learn(noisy, session=session)
        p = session.analysed().posterior(sweeps=100)
        heldout = session.comparisons(heldout=True)
        assert p.heldout.n_answers == len(heldout) // 2 > 30
        assert p.heldout.accuracy == pytest.approx(p.accuracy(heldout))
        assert p.heldout == session.analysed().accuracy(p)
        assert p.heldout.chance == pytest.approx(1 / 3)
        assert 0.7 < p.heldout.low < p.heldout.accuracy <= p.heldout.high <= 1
