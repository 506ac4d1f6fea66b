"""Linkage in single precision, and trees of few leaves, beside SciPy."""

import numpy as np
import pytest
import scipy.cluster.hierarchy as sch
from click.testing import CliRunner
from scipy.sparse import csr_matrix

import ordhc
from ordhc.cli import group
from ordhc.errors import InputError

LINKAGES = ("complete", "average", "weighted", "ward")


def pairs(n, seed=0):
    """Distances of points in five dimensions: no ties."""
    X = np.random.default_rng(seed).normal(size=(n, 5))
    i, j = np.triu_indices(n, 1)
    return np.sqrt(((X[i] - X[j]) ** 2).sum(axis=1))


@pytest.mark.parametrize("name", [*LINKAGES, "single"])
@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_single_precision_has_the_heights_of_double(name, scale):
    y = scale * pairs(1700)
    tree = ordhc.linkage(y, name, dissimilarity=True, precision="single")
    expected = sch.linkage(y, name)[:, 2]
    np.testing.assert_allclose(tree.heights, expected, rtol=1e-6)
    assert ordhc.linkage(y.astype(np.float32), name, dissimilarity=True, precision="single").n_leaves == 1700


def test_single_precision_rounds_and_works_on_squares_and_similarities():
    n, y = 1600, pairs(1600)
    S = np.zeros((n, n))
    S[np.triu_indices(n, 1)] = y
    S += S.T
    given = S.copy()
    single = ordhc.linkage(S, dissimilarity=True, precision="single")
    np.testing.assert_array_equal(S, given)
    double = ordhc.linkage(y, dissimilarity=True)
    np.testing.assert_allclose(single.heights, double.heights, rtol=1e-6)
    assert (single.heights != double.heights).any(), "nothing is rounded"
    similar = ordhc.linkage(-y, dissimilarity=False, precision="single")
    np.testing.assert_allclose(similar.heights, -single.heights, rtol=1e-12)


def test_ties_of_whole_numbers_stay_in_single_precision():
    y = np.random.default_rng(1).integers(0, 50, 1700 * 1699 // 2).astype(np.float64)
    single = ordhc.linkage(y, "complete", dissimilarity=True, precision="single")
    assert single == ordhc.linkage(y, "complete", dissimilarity=True)


@pytest.mark.parametrize(
    ("S", "settings", "text"),
    [
        (pairs(5), {"name": "centroid"}, "precision `single` is for single, complete"),
        (pairs(5), {"name": "median"}, "precision `single` is for single, complete"),
        (pairs(5), {"engine": "naive"}, "engine `auto` or `chain`"),
        (pairs(5), {"initial_clusters": [0, 0, 1, 1, 1]}, "no initial clusters"),
        (1e35 * pairs(5), {}, "the largest value"),
        (1e-35 * pairs(5), {}, "the largest value"),
        (csr_matrix((5, 5)), {"missing": "ignore"}, "a sparse matrix takes neither"),
        (lambda i, others: -others, {"name": "single", "n_leaves": 4}, "a function takes no"),
    ],
)
def test_what_single_precision_is_not_for_is_said(S, settings, text):
    with pytest.raises(InputError, match=text):
        ordhc.linkage(S, dissimilarity=True, precision="single", **settings)


def test_precisions_have_names():
    with pytest.raises(InputError, match="precision is 'half', not one of double, single"):
        ordhc.linkage(pairs(3), dissimilarity=True, precision="half")


@pytest.fixture(scope="module")
def planted():
    """Answers about more leaves than are always clustered in double precision."""
    return ordhc.simulate_planted(60_000, levels=4, leaves_per_cluster=100, seed=1)[0]


@pytest.mark.parametrize(
    "settings", [{"similarity": "euclidean", "linkage": "ward"}, {"method": "cosine-al"}]
)
def test_clusters_of_vectors_in_single_precision(settings):
    X = 2 + np.random.default_rng(2).normal(size=(1700, 30))
    double = ordhc.cluster(X, memory="matrix", **settings)
    single = ordhc.cluster(X, memory="matrix", precision="single", **settings)
    largest = np.abs(double.heights).max()
    np.testing.assert_allclose(np.sort(single.heights), np.sort(double.heights), atol=2e-6 * largest)
    assert not np.array_equal(single.heights, double.heights)
    assert single.settings == double.settings
    few = [ordhc.cluster(X[:300], precision=precision, **settings) for precision in ("double", "single")]
    assert few[0] == few[1]


def test_clusters_of_answers_in_single_precision(planted):
    weights = np.random.default_rng(0).random(len(planted))
    weighted = ordhc.Triplets(planted.rows, n_leaves=planted.n_leaves, weights=weights)
    double = ordhc.cluster(weighted, method="adds3-al")
    single = ordhc.cluster(weighted, method="adds3-al", precision="single")
    np.testing.assert_allclose(single.heights, double.heights, atol=1e-5)
    assert not np.array_equal(single.heights, double.heights)
    # Counts are not rounded, and neither is the least of them.
    how = {"similarity": "adds3", "linkage": "complete"}
    assert ordhc.cluster(planted, **how) == ordhc.cluster(planted, **how, precision="single")


def test_moves_of_subtrees_in_single_precision(planted):
    tree = ordhc.cluster(planted, precision="single")
    assert tree.settings["refine"] == "dasgupta"
    plain = ordhc.cluster(planted, method="adds3-al", precision="single")
    assert ordhc.score(tree, planted) > ordhc.score(plain, planted)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"precision": "half"}, "precision is 'half', not one of double, single"),
        ({"precision": None}, "precision is None, not one of"),
        ({"linkage": "centroid"}, "precision `single` is for single, complete"),
        ({"initial_clusters": [0, 0, 1, 1]}, "precision `single` takes no initial clusters"),
        ({"linkage": "3-al"}, "precision='single' is what similarities are kept in; linkage '3-al' has none"),
    ],
)
def test_what_clusters_in_single_precision_are_not_for_is_said(settings, text):
    t = ordhc.Triplets([(0, 1, 2), (2, 3, 0), (1, 0, 3), (3, 2, 1)])
    with pytest.raises(InputError, match=text):
        ordhc.cluster(t, **{"precision": "single", "refine": False, **settings})


@pytest.mark.parametrize(
    ("settings", "text"), [({"memory": "vectors"}, "needs a matrix"), ({"neighbors": 2}, "neighbors")]
)
def test_vectors_without_a_matrix_have_no_single_precision(settings, text):
    with pytest.raises(InputError, match=f"precision='single' .*{text}"):
        ordhc.cluster(pairs(12).reshape(-1, 3), method="cosine-al", precision="single", **settings)


def test_the_command_takes_a_precision(tmp_path, planted):
    ordhc.write_comparisons(planted, tmp_path / "answers.csv")
    args = ["cluster", str(tmp_path / "answers.csv"), "--method", "adds3-al", "--precision", "single", "-q"]
    done = CliRunner().invoke(group, [*args, "-o", str(tmp_path / "tree.json")])
    assert done.exit_code == 0, done.output
    found = ordhc.read_tree(tmp_path / "tree.json")
    np.testing.assert_array_equal(
        np.sort(found.heights), np.sort(ordhc.cluster(planted, method="adds3-al", precision="single").heights)
    )
    done = CliRunner().invoke(group, [*args[:-3], "--precision", "half"])
    assert done.exit_code == 2
    assert "'half' is not one of" in done.output


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("n", [2, 3, 31, 64, 65, 100, 200, 511, 512, 513])
def test_few_leaves_as_scipy(name, n):
    y = pairs(n, seed=n)
    y.flags.writeable = False
    Z = ordhc.linkage(y, name, dissimilarity=True).to_linkage_matrix()
    expected = sch.linkage(y, name)
    np.testing.assert_allclose(Z[:, 2], expected[:, 2], rtol=1e-12)
    np.testing.assert_array_equal(Z[:, :2], np.sort(expected[:, :2], axis=1))


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("kind", ["whole", "tenths", "equal", "bits"])
def test_ties_of_few_leaves_as_one_pair_after_the_other(name, kind):
    random = np.random.default_rng(3)
    for n in (12, 40, 90):
        m = n * (n - 1) // 2
        y = {
            "whole": random.integers(0, 9, m) * 1.0,
            "tenths": random.integers(1, 9, m) * 0.1,
            "equal": np.full(m, 0.3),
            "bits": random.integers(0, 2, m) * 1.0,
        }[kind]
        tree = ordhc.linkage(y, name, dissimilarity=True)
        assert (
            tree.merges.tolist() == ordhc.linkage(y, name, dissimilarity=True, engine="naive").merges.tolist()
        )


def test_negative_dissimilarities_are_told_whatever_the_layout():
    square = np.array([[0.0, -2.0, 1.0], [-2.0, 0.0, 3.0], [1.0, 3.0, 0.0]])
    for S in (square, square[np.triu_indices(3, 1)], square.astype(np.float32), square.astype(int)):
        with pytest.warns(ordhc.OrdhcWarning, match="leaves 0 and 1 is negative, -2") as told:
            ordhc.linkage(S, dissimilarity=True)
        assert told[0].filename == __file__
        with pytest.raises(InputError, match="leaves 0 and 1 is negative, -2, and squares lose"):
            ordhc.linkage(S, "ward", dissimilarity=True)
    np.fill_diagonal(square, 9.0)
    with pytest.warns(ordhc.OrdhcWarning, match="the diagonal is the largest of each row"):
        ordhc.linkage(np.abs(square), dissimilarity=True)


@pytest.mark.parametrize("p", [1, 2, 3, 12])
@pytest.mark.parametrize("kind", ["uniform", "clusters", "twice"])
def test_wards_linkage_of_few_coordinates_as_scipy(p, kind):
    random = np.random.default_rng(p)
    X = random.random((700, p))
    if kind == "clusters":
        X += 9 * random.integers(0, 5, (700, 1))
    if kind == "twice":
        X[350:] = X[:350]
    tree = ordhc.cluster(X, similarity="euclidean", linkage="ward", memory="vectors")
    expected = sch.linkage(X, "ward")
    np.testing.assert_allclose(tree.heights, expected[:, 2], rtol=1e-9, atol=1e-12)
    if kind != "twice":
        np.testing.assert_array_equal(tree.merges, np.sort(expected[:, :2], axis=1))


def test_wards_linkage_of_a_grid_as_from_a_matrix():
    X = np.stack(np.meshgrid(np.arange(20.0), np.arange(17.0)), axis=-1).reshape(-1, 2)
    free = ordhc.cluster(X, similarity="euclidean", linkage="ward", memory="vectors")
    assert (
        free.merges.tolist()
        == ordhc.cluster(X, similarity="euclidean", linkage="ward", memory="matrix").merges.tolist()
    )
