"""The estimator's score is the share of whole answers that are predicted."""

import numpy as np
import pytest

import ordhc
from ordhc import Quadruplets, Triplets

pytest.importorskip("sklearn")

from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

N = 14


def answers(seed, m, weighted=False, several=False, quadruplets=False):
    rng = np.random.default_rng(seed)
    width = 4 if quadruplets else 3
    rows = np.array([rng.permutation(N)[:width] for _ in range(m)])
    weights = rng.integers(0, 3, m) + rng.random(m) if weighted else None
    kind = Quadruplets if quadruplets else Triplets
    numbers = np.arange(m) // 2 if several else None
    return kind(rows, N, weights=weights, answers=numbers)


@pytest.mark.parametrize("quadruplets", [False, True])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_score_is_answer_accuracy(seed, weighted, several, quadruplets):
    given = {"several": several, "quadruplets": quadruplets}
    train, test = answers(seed, 60, **given), answers(seed + 100, 300, weighted, **given)
    model = ordhc.OrdinalClustering("adds4-al" if quadruplets else "adds3-al").fit(train)
    found = ordhc.metrics.answer_accuracy(model.dendrogram_, test)
    assert ordhc.metrics.satisfied(model.dendrogram_, test).unresolved > 0
    assert model.score(test) == found
    own = np.random.default_rng(seed).random(300)
    both = own if test.weights is None else own * test.weights
    again = type(test)(test.rows, N, weights=both, answers=test.answers)
    assert model.score(test, sample_weight=own) == ordhc.metrics.answer_accuracy(model.dendrogram_, again)


def test_ties_of_heights_are_scored_as_the_metric_scores_them():
    # Three pairs merge at the same height in different places.
    tree = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5), (8, 6), (9, 7), (11, 10)], [1, 1, 1, 2, 3, 4])
    model = ordhc.OrdinalClustering("adds4-al").fit(answers(0, 60, quadruplets=True))
    model.dendrogram_ = tree
    for row in ((0, 1, 2, 3), (4, 5, 0, 1), (2, 3, 4, 6), (4, 6, 0, 1), (0, 2, 1, 3)):
        test = Quadruplets([row], tree.n_leaves)
        assert model.score(test) == ordhc.metrics.answer_accuracy(tree, test)


def test_names_in_another_order_are_scored_by_name():
    names = [f"leaf {k}" for k in range(N)]
    train, test = answers(1, 60), answers(2, 100)
    model = ordhc.OrdinalClustering("adds3-al").fit(Triplets(train.rows, names=names))
    order = np.random.default_rng(0).permutation(N)
    moved = Triplets(np.argsort(order)[test.rows], names=[names[leaf] for leaf in order])
    expected = ordhc.metrics.answer_accuracy(model.dendrogram_, moved)
    assert model.score(moved) == pytest.approx(model.score(test))
    assert model.score(moved) == expected
    likely = ordhc.OrdinalClustering("posterior-al").fit(Triplets(train.rows, names=names))
    assert likely.score(moved) == pytest.approx(likely.posterior_.accuracy(test))


def test_cross_validation_and_grids_score_by_it():
    data, folds = answers(3, 240), KFold(3, shuffle=True, random_state=0)
    expected = []
    for seen, unseen in folds.split(np.zeros(len(data))):
        tree = ordhc.cluster(data[seen], method="adds3-al")
        expected.append(ordhc.metrics.answer_accuracy(tree, data[unseen]))
    assert cross_val_score(ordhc.OrdinalClustering("adds3-al"), data, cv=folds).tolist() == expected
    grid = GridSearchCV(ordhc.OrdinalClustering(), {"method": ["adds3-al", "mulk3-al"]}, cv=folds).fit(data)
    assert grid.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(expected))


def test_fit_tells_progress():
    told = []
    labels = ordhc.OrdinalClustering(n_clusters=2).fit_predict(answers(3, 240), progress=told.append)
    assert len(labels) == N
    assert told[-1] == 1
