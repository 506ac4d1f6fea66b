"""The estimator: scikit-learn's conventions, and the same trees as `cluster`."""

import pickle
import sys
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_clusterer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ordhc
from ordhc import Triplets
from ordhc.errors import InputError, MissingExtraError
from ordhc.estimator import OrdinalClustering
from ordhc.tree.dendrogram import lca_size
from support.few_rounds import with_few_sweeps
from support.processes import printed
from support.responses import questions, tensor

KFOLD = KFold(3, shuffle=True, random_state=0)

# The default method draws trees; how well it does is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore:the chains have not mixed")


@pytest.fixture(autouse=True, scope="module")
def few_sweeps():
    with pytest.MonkeyPatch.context() as patch:
        with_few_sweeps(patch)
        yield


def test_attributes_are_those_of_the_tree():
    t, _ = ordhc.datasets.planted(1500, levels=2, leaves_per_cluster=4, seed=3)
    tree = ordhc.cluster(t)
    model = OrdinalClustering(n_clusters=4)
    assert model.fit(t) is model
    assert model.dendrogram_ == tree
    assert (model.n_leaves_, model.n_features_in_) == (16, 3)
    assert model.children_.tolist() == tree.merges.tolist()
    assert model.distances_.tolist() == tree.to_linkage_matrix()[:, 2].tolist()
    assert (np.diff(model.distances_) >= 0).all()
    assert model.labels_.tolist() == tree.cut(n_clusters=4).tolist()
    assert model.fit_predict(t).tolist() == model.labels_.tolist()
    assert is_clusterer(model)


@pytest.mark.filterwarnings("ignore:.*no answers")
def test_parameters_are_those_of_cluster():
    t, _ = ordhc.datasets.planted(500, levels=2, leaves_per_cluster=4, seed=3)
    q = t.to_quadruplets()
    by_linkage = {"linkage": "complete", "tie_seed": 5}
    assert OrdinalClustering(**by_linkage).fit(t).dendrogram_ == ordhc.cluster(t, **by_linkage)
    by_similarity = OrdinalClustering(similarity="adds4").fit(t)
    assert by_similarity.dendrogram_ == ordhc.cluster(t, similarity="adds4")
    assert OrdinalClustering().fit(q).dendrogram_ == ordhc.cluster(q)
    assert OrdinalClustering("adds4-al").fit(q).n_features_in_ == 4
    assert OrdinalClustering(n_leaves=20).fit(t).n_leaves_ == 20
    model = OrdinalClustering(linkage=("single", {"beta": 1}))
    with pytest.raises(InputError, match="'single' has no parameter 'beta'"):
        model.fit(t)


def test_without_n_clusters_there_are_no_labels():
    t = Triplets([(0, 1, 2), (1, 0, 2)])
    model = OrdinalClustering(n_clusters=2).fit(t)
    assert model.labels_.tolist() == [0, 0, 1]
    model.set_params(n_clusters=None).fit(t)
    assert not hasattr(model, "labels_")
    with pytest.raises(InputError, match="n_clusters is None"):
        model.fit_predict(t)


def test_weights_multiply():
    X, y = questions(2)
    w = np.random.default_rng(0).integers(0, 4, len(X))
    t = Triplets.from_responses(X, y, weights=w)
    expected = ordhc.cluster(t, method="adds3-al+spr")
    assert OrdinalClustering("adds3-al+spr").fit(X, y, sample_weight=w).dendrogram_ == expected
    assert OrdinalClustering("adds3-al+spr").fit(X, y * w).dendrogram_ == expected
    assert OrdinalClustering("adds3-al+spr").fit(t).dendrogram_ == expected
    assert (
        OrdinalClustering("adds3-al+spr").fit(np.repeat(X, w, axis=0), np.repeat(y, w)).dendrogram_
        == expected
    )
    doubled = Triplets(t, weights=w * w)
    assert OrdinalClustering("adds3-al+spr").fit(t, sample_weight=w).dendrogram_ == ordhc.cluster(
        doubled, method="adds3-al+spr"
    )
    assert OrdinalClustering("adds3-al+spr").fit(X, y * w, sample_weight=w).dendrogram_ == ordhc.cluster(
        doubled, method="adds3-al+spr"
    )
    labels = OrdinalClustering("adds3-al+spr", n_clusters=3).fit_predict(X, y, sample_weight=w)
    assert labels.tolist() == expected.cut(n_clusters=3).tolist()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_score_is_the_share_of_answers_that_are_right(seed):
    X, y = questions(seed)
    model = OrdinalClustering("adds3-al+spr", n_leaves=8).fit(X[:40], y[:40])
    size = partial(lca_size, model.dendrogram_)
    t = Triplets.from_responses(X, y, n_leaves=8)
    # An answer that the tree leaves open counts one half.
    right = [0.5 * float(1 + np.sign(size(i, k) - size(i, j))) for i, j, k in t]
    assert model.score(X, y) == model.score(t) == model.score(t.to_quadruplets()) == np.mean(right)
    w = np.random.default_rng(seed).random(len(X))
    assert model.score(X, y, sample_weight=w) == pytest.approx(np.average(right, weights=w))
    assert model.score(Triplets(t, weights=w)) == pytest.approx(np.average(right, weights=w))
    majority = tensor(X, y, 8).clip(-1, 1)
    cells = np.argwhere(majority)
    assert model.score(majority) == model.score(cells, majority[tuple(cells.T)])


def test_score_counts_whole_answers_by_the_model():
    car = ordhc.Triplets.from_most_central([(0, 1, 2), (0, 3, 4), (3, 1, 2), (3, 0, 4), (1, 2, 4)] * 3)
    tree = OrdinalClustering("adds3-al").fit(car)
    assert tree.score(car) == ordhc.metrics.answer_accuracy(tree.dendrogram_, car)
    drawn = OrdinalClustering(("posterior-al", {"sweeps": 60})).fit(car)
    assert drawn.score(car) == drawn.posterior_.accuracy(car)
    # A tree without lengths satisfies one of the two rows of a most central answer at most.
    assert drawn.score(car) > ordhc.metrics.satisfied(drawn.dendrogram_, car).agreed


def test_a_perfect_hierarchy_is_recovered_and_scores_one():
    def distance(i, j):
        return 1 if i // 2 == j // 2 else 2 if max(i, j) < 4 else 3

    rows = [(i, j, k) for i, j, k in permutations(range(6), 3) if distance(i, j) < distance(i, k)]
    model = OrdinalClustering(n_clusters=3).fit(rows)
    assert model.labels_.tolist() == [0, 0, 1, 1, 2, 2]
    assert model.score(rows) == 1
    assert model.score([(i, k, j) for i, j, k in rows]) == 0


def test_clone_and_parameters():
    model = OrdinalClustering(("adds4-al", {"lengths": True}), 3, tie_seed=1)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert set(model.get_params()) == {
        "method",
        "n_clusters",
        "similarity",
        "linkage",
        "n_leaves",
        "initial_clusters",
        "tie_seed",
    }
    assert copy.set_params(n_clusters=2).n_clusters == 2
    assert "n_clusters=3" in repr(model)


def test_pickling():
    X, y = questions(4)
    model = OrdinalClustering(n_clusters=2).fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    assert back.dendrogram_ == model.dendrogram_
    assert back.labels_.tolist() == model.labels_.tolist()
    assert back.score(X, y) == model.score(X, y)


def test_pipeline():
    answers = [(2, 0, 1), (3, 0, 1), (0, 2, 3), (1, 2, 3)]
    model = make_pipeline(FunctionTransformer(Triplets.from_odd_one_out), OrdinalClustering(n_clusters=2))
    assert model.fit_predict(answers).tolist() == [0, 0, 1, 1]
    assert model.score(answers) == 1
    X, y = questions(5)
    plain = make_pipeline(OrdinalClustering()).fit(X, y)
    assert plain[-1].dendrogram_ == OrdinalClustering().fit(X, y).dendrogram_


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_cross_validation(named, weighted):
    t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=3, seed=3)
    names = [f"leaf {i}" for i in range(12)] if named else None
    weights = np.random.default_rng(0).random(600) if weighted else None
    t = Triplets(t, names=names, weights=weights)
    expected = [
        OrdinalClustering("adds3-al").fit(t[train]).score(t[test])
        for train, test in KFOLD.split(np.zeros(600))
    ]
    assert cross_val_score(OrdinalClustering("adds3-al"), t, cv=KFOLD).tolist() == expected
    if not weighted:
        rows = cross_val_score(OrdinalClustering("adds3-al", n_leaves=12), t.rows, cv=KFOLD)
        y = cross_val_score(OrdinalClustering("adds3-al", n_leaves=12), t.rows, np.ones(600), cv=KFOLD)
        assert rows.tolist() == y.tolist() == expected
    assert np.mean(expected) > 0.5


def test_grid_search():
    t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=3, seed=3)
    grid = {"linkage": ["average", "single"], "tie_seed": [None, 0]}
    search = GridSearchCV(OrdinalClustering(n_leaves=12), grid, cv=KFOLD).fit(t.rows)
    assert search.best_params_["linkage"] == "average"
    assert search.best_estimator_.dendrogram_ == ordhc.cluster(t, **search.best_params_)
    assert GridSearchCV(OrdinalClustering(), grid, cv=KFOLD).fit(t).best_score_ == search.best_score_


GOOD = [(0, 1, 2), (1, 0, 2)]


def put(value, *cell):
    M = np.zeros((3, 3, 3))
    M[cell] = value
    return M


BAD = [
    (lambda m: m.fit([(0, 1, 1)]), "row 0: leaf 1 occurs twice"),
    (lambda m: m.fit([(0, 1, 2.5)]), "row 0: far is 2.5"),
    (lambda m: m.fit([(0, np.nan, 2)]), "row 0: near is nan"),
    (lambda m: m.fit([(0, 1, 2), (0, 1)]), "row 1: 2 columns instead of 3"),
    (lambda m: m.fit([(0, 1, 2), (0, -1, 2)]), "Negative values in data: X[1, 1] is -1"),
    (lambda m: m.fit([(0, 1)]), "X has 2 feature(s) (shape=(1, 2)) while a minimum of 3"),
    (lambda m: m.fit([0, 1, 2]), "shape (3,)"),
    (lambda m: m.fit(None), "shape ()"),
    (lambda m: m.fit("abc"), "shape ()"),
    (lambda m: m.fit(np.zeros((2, 3), dtype=complex)), "Complex data not supported"),
    (lambda m: m.fit([]), "the number of leaves is unknown"),
    (lambda m: m.fit(GOOD, [1]), "y has shape (1,) for 2 questions"),
    (lambda m: m.fit(GOOD, [1, np.nan]), "row 1: y is nan; counts must be finite"),
    (lambda m: m.fit(GOOD, [1, np.inf]), "row 1: y is inf; counts must be finite"),
    (lambda m: m.fit(GOOD, ["a", "b"]), "y must be numbers"),
    (lambda m: m.fit(GOOD, [1, 0]), "row 1: y is 0, and y holds only 0 and 1"),
    (lambda m: m.fit(GOOD, [0, 0]), "row 0: y is 0, and y holds only 0 and 1"),
    (lambda m: m.fit(GOOD, sample_weight=[1]), "weights have shape (1,) for 2"),
    (lambda m: m.fit(GOOD, sample_weight=[1, -1]), "row 1: weight is -1.0"),
    (lambda m: m.fit(Triplets(GOOD), [1, 1]), "X is Triplets and holds the answers already"),
    (lambda m: m.fit(Triplets(GOOD), sample_weight=[1]), "weights have shape (1,) for 2"),
    (lambda m: m.fit([Triplets(GOOD), Triplets(GOOD, 4)]), "X[1] is <Triplets: 2 of 4 leaves"),
    (lambda m: m.fit(put(1, 0, 1, 2), [1]), "X is a tensor of counts and holds"),
    (lambda m: m.fit(put(1, 0, 1, 2), sample_weight=[1]), "sample_weight must be None"),
    (lambda m: m.fit(put(np.nan, 0, 1, 2)), "X[0, 1, 2] is nan; counts must be finite"),
    (lambda m: m.fit(put(2, 0, 1, 1)), "X[0, 1, 1] is 2, but a triplet has three different leaves"),
    (lambda m: m.fit(put(2, 1, 1, 0)), "X[1, 1, 0] is 2, but"),
    (lambda m: m.fit(put(2, 1, 0, 1)), "X[1, 0, 1] is 2, but"),
    (
        lambda m: m.fit(np.zeros((2, 2, 3))),
        "X has shape (2, 2, 3); a tensor of counts must have shape (n, n, n)",
    ),
    (lambda m: m.fit(sparse.csr_matrix((3, 3))), "X is sparse with shape (3, 3)"),
    (lambda m: m.fit(sparse.csr_matrix(put(np.inf, 2, 0, 1).reshape(3, 9))), "X[2, 0, 1] is inf"),
    (lambda m: m.set_params(n_clusters=4).fit(GOOD), "n_clusters = 4 is above the number of leaves, 3"),
    (lambda m: m.set_params(n_clusters=0).fit(GOOD), "n_clusters = 0 is below 1"),
    (lambda m: m.set_params(n_clusters=1.5).fit(GOOD), "n_clusters = 1.5 is not a whole number"),
    (lambda m: m.set_params(n_leaves=2).fit(GOOD), "leaf 2 is outside"),
    (lambda m: m.set_params(n_leaves=2).fit(Triplets(GOOD)), "leaf 2 is outside"),
    (lambda m: m.set_params(method="adds3").fit(GOOD), "unknown method 'adds3' (did you mean adds3-al"),
    (
        lambda m: m.set_params(method="adds3-al").fit([(0, 1, 2, 3)]),
        "similarity 'adds3' with linkage 'average' takes triplets, not",
    ),
    (lambda m: m.fit(GOOD).score([(0, 1, 3)]), "row 0: leaf 3 is not in the tree of 3 leaves"),
    (lambda m: m.fit(GOOD).score(Triplets([], 3)), "no answers (of positive weight)"),
    (lambda m: m.fit(GOOD).score(GOOD, sample_weight=[0, 0]), "no answers (of positive weight)"),
]


@pytest.mark.parametrize(("act", "part"), BAD, ids=[part for _, part in BAD])
def test_bad_input_is_explained(act, part):
    with pytest.raises(InputError) as error:
        act(OrdinalClustering())
    assert part in str(error.value)


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = OrdinalClustering(n_clusters=2).fit(GOOD)
    before = dict(vars(model))
    with pytest.raises(InputError, match="n_clusters"):
        model.set_params(n_clusters=9).fit([(2, 0, 1), (0, 2, 1), (3, 0, 1)])
    assert vars(model) == {**before, "n_clusters": 9}


def test_score_needs_fit():
    with pytest.raises(NotFittedError):
        OrdinalClustering().score(GOOD)


def test_ordhc_does_not_import_scikit_learn():
    code = "import sys, ordhc; from ordhc import *; print('sklearn' in sys.modules, {} in dir(ordhc))"
    assert printed(code.format("'OrdinalClustering'")) == "False True\n"
    assert "OrdinalClustering" not in ordhc.__all__
    assert ordhc.OrdinalClustering is OrdinalClustering
    with pytest.raises(AttributeError, match="no attribute 'OrdinalClusterin'"):
        _ = ordhc.OrdinalClusterin


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "ordhc.estimator")
    monkeypatch.delitem(vars(ordhc), "OrdinalClustering", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(MissingExtraError, match=r'scikit-learn: pip install "ordhc\[sklearn\]"'):
        _ = ordhc.OrdinalClustering
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "OrdinalClustering" not in dir(ordhc)
