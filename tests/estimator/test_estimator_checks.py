"""The checks of scikit-learn, and which of them cannot apply."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

from ordhc import Triplets
from ordhc.estimator import OrdinalClustering

ROOT = Path(__file__).parents[2]


NO_COMPARISONS = "fits random features, which are no comparisons of leaves"
NO_ROW_PER_LABEL = "expects a label per row; rows are comparisons, labels belong to leaves"


#: The checks of scikit-learn that cannot apply, and why. docs/coming-from.md lists the same.
INAPPLICABLE = dict.fromkeys(
    [
        "check_all_zero_sample_weights_error",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_nan_inf",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_readonly_memmap_input",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_pandas_series",
        "check_sample_weights_shape",
    ],
    NO_COMPARISONS,
) | {"check_clustering": NO_ROW_PER_LABEL}


def triplets_of(points):
    D = ((points[:, None] - points) ** 2).sum(axis=2)
    i, j, k = np.nonzero(D[:, :, None] < D[:, None, :])
    rows = np.column_stack([i, j, k])
    return Triplets(rows[i != j], n_leaves=len(points))


class OfPoints(OrdinalClustering):
    """The estimator over all triplets of points, with which more of scikit-learn's checks can run."""

    def fit(self, X, y=None):
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        super().fit(triplets_of(X))
        self.n_features_in_ = X.shape[1]
        return self

    def fit_predict(self, X, y=None):
        return self.fit(X).labels_

    def score(self, X, y=None):
        return super().score(triplets_of(validate_data(self, X, dtype=np.float64, reset=False)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        tags.input_tags.three_d_array = False
        tags.input_tags.string = False
        return tags


def outcomes(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)


@pytest.mark.parametrize("estimator", [OrdinalClustering(), OrdinalClustering(n_clusters=2)])
def test_checks_of_scikit_learn(estimator):
    results = outcomes(estimator, INAPPLICABLE)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not failed
    assert {r["check_name"] for r in results if r["status"] == "passed"}.isdisjoint(INAPPLICABLE)
    assert sum(r["status"] == "passed" for r in results) >= 20


def test_checks_of_scikit_learn_over_points():
    results = outcomes(OfPoints("adds3-al+spr", n_clusters=2), {})
    assert not [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    passed = {r["check_name"] for r in results if r["status"] == "passed"}
    of_weights = {name for name in INAPPLICABLE if "sample_weight" in name}
    assert passed >= set(INAPPLICABLE) - of_weights


def test_the_document_lists_the_checks_that_cannot_apply():
    text = (ROOT / "docs/coming-from.md").read_text()
    listed = re.findall(r"^\| `(check_\w+)` \| (.+) \|$", text, re.MULTILINE)
    assert dict(listed) == INAPPLICABLE
    assert len(listed) == len(INAPPLICABLE)


def test_all_triplets_of_points_group_the_points():
    points = np.array([[0.0], [0.1], [5.0], [5.2], [5.3]])
    assert OfPoints(n_clusters=2).fit_predict(points).tolist() == [0, 0, 1, 1, 1]
