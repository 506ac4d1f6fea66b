"""The estimator takes comparisons in any form: rows, responses, tensors, sparse matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.estimator import OrdinalClustering
from support.responses import questions, sorted_questions, tensor


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_formats_agree(seed):
    n = 8
    X, y = questions(seed, n)
    expected = ordhc.cluster(Triplets.from_responses(X, y, n_leaves=n), method="adds3-al")
    ordered = np.where((y == 1)[:, None], X, X[:, [0, 2, 1]])
    M = tensor(*sorted_questions(X, y), n)
    cells = np.argwhere(M)
    flat = M.reshape(n, n * n)
    for given_ in [
        (Triplets(ordered, n),),
        (ordered,),
        (ordered.tolist(),),
        (ordered.astype(np.float32),),
        (X, y),
        (X, y == 1),
        (X.astype(np.uint32), y.tolist()),
        sorted_questions(X, y),
        (cells, M[tuple(cells.T)]),
        (M,),
        (M.tolist(),),
        (M.astype(np.int8),),
        (M - M.transpose(0, 2, 1),),
        (sparse.csr_matrix(flat),),
        (sparse.csc_array(flat),),
        (sparse.coo_array(flat - M.transpose(0, 2, 1).reshape(n, n * n)),),
        (tensor(X, y, n),),
        (sparse.coo_array((y, (X[:, 0], X[:, 1] * n + X[:, 2])), shape=(n, n * n)),),
    ]:
        assert OrdinalClustering("adds3-al", n_leaves=n).fit(*given_).dendrogram_ == expected


@pytest.mark.filterwarnings("ignore:.*no answers")
def test_counts_are_weights_and_zero_is_no_answer():
    X = [(0, 1, 2), (1, 3, 2), (2, 0, 4)]
    model = OrdinalClustering()
    expected = ordhc.cluster(Triplets([(0, 1, 2), (1, 2, 3), (1, 2, 3), (1, 2, 3)], n_leaves=5))
    assert model.fit(X, [1, -3, 0]).dendrogram_ == expected
    M = np.zeros((5, 5, 5), dtype=int)
    M[0, 1, 2], M[1, 3, 2] = 1, -3
    assert model.fit(M).dendrogram_ == expected
    M[1, 2, 3] = 3
    M[0, 2, 1] = -1
    assert model.fit(M).dendrogram_ == expected
    M[0, 2, 1] = 0
    three_more = Triplets([(0, 1, 2)] + [(1, 2, 3)] * 6, n_leaves=5)
    assert model.fit(M).dendrogram_ == ordhc.cluster(three_more)
    assert model.fit(np.zeros((3, 3, 3))).n_leaves_ == 3


def test_entries_are_read_as_cblearn_reads_them():
    # check_query_response([[0, 1, 2], [0, 2, 1], [3, 2, 1]], [1, -1, 1], "tensor-count", standard=False)
    cells, counts = np.array([(0, 1, 2), (0, 2, 1), (3, 2, 1)]), [1, -1, 1]
    M = tensor(cells, counts, 4)
    expected = ordhc.cluster(Triplets([(0, 1, 2), (0, 1, 2), (3, 2, 1)]))
    assert OrdinalClustering().fit(M).dendrogram_ == expected
    # the same with standard=True
    assert (
        OrdinalClustering().fit(tensor(np.array([(0, 1, 2), (3, 1, 2)]), [2, -1], 4)).dendrogram_ == expected
    )


def test_three_dimensional_sparse_arrays():
    class COO:
        """What is used of `sparse.COO`."""

        def __init__(self, M):
            self.shape, self.coords = M.shape, np.array(np.nonzero(M))
            self.data, self.nnz = M[tuple(self.coords)], np.count_nonzero(M)

        def asformat(self, kind):
            assert kind == "coo"
            return self

    X, y = questions(1)
    M = tensor(X, y, 8)
    expected = OrdinalClustering().fit(M).dendrogram_
    assert OrdinalClustering().fit(COO(M)).dendrogram_ == expected


def test_quadruplets_with_responses():
    rows = np.array([(0, 1, 2, 3), (2, 3, 0, 2), (1, 3, 0, 1)])
    expected = ordhc.cluster(Quadruplets([(0, 1, 2, 3), (2, 3, 0, 2), (0, 1, 1, 3), (0, 1, 1, 3)]))
    assert OrdinalClustering().fit(rows, [1, 1, -2]).dendrogram_ == expected


def test_names_are_kept():
    rows = [("cat", "dog", "car"), ("dog", "cat", "bus"), ("car", "bus", "cat")]
    model = OrdinalClustering(n_clusters=2).fit(rows)
    assert model.dendrogram_ == ordhc.cluster(Triplets(rows))
    turned = OrdinalClustering().fit([(a, c, b) for a, b, c in rows], [False] * 3)
    assert turned.dendrogram_.names == ("cat", "car", "dog", "bus")
    assert model.score(rows) == 1
    assert model.score([("bus", "car", "dog"), ("bus", "dog", "car")]) == 0.5
    with pytest.raises(InputError, match="the name 'cow' is unknown"):
        model.score([("cow", "cat", "dog")])
