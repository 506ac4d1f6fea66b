"""`dissimilarity` is required, and matrices that contradict it are reported."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import pdist, squareform

import ordhc
from ordhc.errors import InputError, OrdhcWarning

pytestmark = pytest.mark.filterwarnings("error")

D = squareform(pdist(np.random.default_rng(0).normal(size=(20, 3))))
FORMS = {
    "square": D,
    "condensed": squareform(D),
    "float32": D.astype(np.float32),
    "whole": (1000 * D).astype(int),
    "list": D.tolist(),
    "sparse": scipy.sparse.csr_array(D),
    "function": lambda i, others: D[i, others],
}


def settings_of(form):
    return {"function": {"n_leaves": 20}, "sparse": {"missing": "ignore"}}.get(form, {})


@pytest.mark.parametrize("form", FORMS)
def test_the_caller_says_what_numbers_mean(form):
    settings = settings_of(form)
    remedy = (
        r"^say what numbers mean: linkage\(S, 'single', dissimilarity=True\) if larger numbers mean farther "
        r"apart, dissimilarity=False if larger numbers mean more alike$"
    )
    for nothing in ({}, {"dissimilarity": None}):
        with pytest.raises(InputError, match=remedy):
            ordhc.linkage(FORMS[form], "single", **nothing, **settings)
    with pytest.raises(InputError, match="dissimilarity = 'similarity' is neither True nor False"):
        ordhc.linkage(FORMS[form], "single", dissimilarity="similarity", **settings)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("said", "kind"), [(True, "dissimilarity"), (False, "similarity")])
def test_what_is_said_holds_whatever_numbers_look_like(form, said, kind):
    settings = settings_of(form)
    tree = ordhc.linkage(FORMS[form], "single", dissimilarity=said, **settings)
    assert tree.kind == kind
    numbers = FORMS["whole"] if form == "whole" else D
    largest = numbers[~np.eye(20, dtype=bool)].max()
    lowest = numbers[~np.eye(20, dtype=bool)].min()
    assert tree.heights[0] == pytest.approx(lowest if said else largest)
    for same in (np.bool_(said), int(said)):
        assert ordhc.linkage(FORMS[form], "single", dissimilarity=same, **settings) == tree


def test_dissimilarities_below_zero():
    y = np.array([1.0, 2.0, -3.5, 1.0, 2.0, 4.0])
    for given in (y, squareform(y)):
        with pytest.warns(
            OrdhcWarning, match=r"leaves 0 and 3 is negative, -3\.5: .* give dissimilarity=False"
        ):
            ordhc.linkage(given, dissimilarity=True)
        for name in ("ward", "centroid", "median"):
            with pytest.raises(InputError, match=r"leaves 0 and 3 is negative, -3\.5, but this") as caught:
                ordhc.linkage(given, name, dissimilarity=True)
            assert caught.value.leaves == ((0, 3),)
            assert ordhc.linkage(given, name, dissimilarity=False).n_leaves == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rounded = np.array([1.0, -1e-15, 1.0])
        ordhc.linkage(rounded, dissimilarity=True)
        ordhc.linkage(squareform(np.abs(y)) - np.eye(4), dissimilarity=True)


def test_a_diagonal_of_similarities_given_as_dissimilarities():
    X = np.abs(np.random.default_rng(5).normal(size=(12, 8)))
    for S in (np.corrcoef(X) ** 2, np.exp(-squareform(pdist(X))), X @ X.T + 1e4 * np.eye(12)):
        with pytest.warns(
            OrdhcWarning, match=r"diagonal is the largest of each row .* looks like similarities"
        ):
            ordhc.linkage(S, dissimilarity=True)
    D = squareform(pdist(X))
    np.fill_diagonal(D, np.inf)
    ordhc.linkage(D, dissimilarity=True)


@pytest.mark.parametrize("metric", ["dasgupta_cost", "dasgupta_revenue", "cophenetic_correlation"])
def test_metrics_do_not_judge_what_numbers_look_like(metric):
    tree = ordhc.linkage(D.max() - D, dissimilarity=False)
    score = getattr(ordhc.metrics, metric)
    assert score(tree, D) == ordhc.score(tree, D, metric=metric)


def test_a_correlation_turns_its_sign_with_what_the_matrix_holds():
    tree = ordhc.linkage(D.max() - D, dissimilarity=False)
    score = ordhc.metrics.cophenetic_correlation
    assert score(tree, D) == score(tree, D, dissimilarity=False) == -score(tree, D, dissimilarity=True)
    assert score(tree, D, dissimilarity=True) > 0.5
    with pytest.raises(InputError, match="dissimilarity"):
        score(tree, D, dissimilarity="yes")
