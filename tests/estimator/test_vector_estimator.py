"""The estimator of vectors: scikit-learn's own checks, and what AgglomerativeClustering finds."""

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError

sklearn = pytest.importorskip("sklearn")
from sklearn.cluster import AgglomerativeClustering  # noqa: E402
from sklearn.datasets import load_iris, make_blobs  # noqa: E402
from sklearn.metrics import adjusted_rand_score, make_scorer  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

X, Y = make_blobs(60, 4, centers=3, random_state=0)


@parametrize_with_checks(
    [ordhc.VectorClustering(), ordhc.VectorClustering(3, similarity="manhattan", linkage="average")]
)
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_clusters_are_those_of_scikit_learn(linkage):
    X = load_iris().data + np.random.default_rng(1).normal(0, 1e-3, (150, 4))
    ours = ordhc.VectorClustering(5, linkage=linkage).fit(X)
    theirs = AgglomerativeClustering(5, linkage=linkage, compute_distances=True).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    assert ours.distances_ == pytest.approx(theirs.distances_)
    assert ours.fit_predict(X).tolist() == ours.labels_.tolist()


def test_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), ordhc.VectorClustering(3))
    assert adjusted_rand_score(pipeline.fit_predict(X), Y) == 1
    grid = {"n_clusters": [2, 3, 4], "linkage": ["ward", "average"]}
    found = GridSearchCV(ordhc.VectorClustering(), grid, scoring=make_scorer(adjusted_rand_score), cv=3).fit(
        X, Y
    )
    assert found.best_params_["n_clusters"] == 3
    assert found.best_score_ == 1


def test_output_as_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = ordhc.VectorClustering(3).set_output(transform="pandas").fit(frame)
    found = model.transform(frame)
    assert list(found.columns) == [f"vectorclustering{k}" for k in range(3)]
    assert model.feature_names_in_.tolist() == list("abcd")
    assert (found.to_numpy().argmin(axis=1) == model.predict(frame)).all()


def test_new_rows_go_to_the_nearest_mean():
    model = ordhc.VectorClustering(2, linkage="average").fit([[0.0], [1.0], [10.0], [12.0]])
    assert model.cluster_centers_.ravel().tolist() == [0.5, 11]
    assert model.predict([[-3.0], [5.7], [5.8], [99.0]]).tolist() == [0, 0, 1, 1]


@pytest.mark.filterwarnings("ignore:.*negative pca-cosine")
def test_settings_of_parts():
    model = ordhc.VectorClustering(2, similarity=("pca-cosine", {"n_components": 2}), linkage="average").fit(
        X
    )
    assert model.dendrogram_.settings["similarity_parameters"]["n_components"] == 2


@pytest.mark.parametrize(
    ("X", "settings", "said"),
    [
        (ordhc.Triplets([(0, 1, 2)]), {}, "Triplets are comparisons, not vectors: use OrdinalClustering"),
        ([[0.0], [1.0]], {"n_clusters": 3}, "n_clusters = 3 is above the number of rows, 2"),
        ([[0.0], [1.0]], {"n_clusters": 0}, "n_clusters"),
        ([[0.0], [1.0]], {"similarity": "nope"}, "unknown similarity 'nope'"),
        ([[0.0], [1.0]], {"linkage": "nope"}, "unknown linkage 'nope'"),
        ([[0.0], [1.0]], {"linkage": "3-al"}, "comparisons"),
        ([[0.0], [np.nan]], {}, "NaN"),
        ([[0.0]], {}, "minimum of 2"),
    ],
)
def test_bad_input(X, settings, said):
    with pytest.raises(ValueError, match=said):
        ordhc.VectorClustering(**settings).fit(X)


@pytest.mark.parametrize("X", [X, np.abs(X), X[:, :2], np.hstack([X, X])])
def test_vectors_are_refused_by_the_estimator_of_comparisons(X):
    with pytest.raises(InputError, match="for vectors use ordhc.VectorClustering"):
        ordhc.OrdinalClustering().fit(X)
