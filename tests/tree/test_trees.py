"""Trees in all forms, names of leaves, and scores by name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering

import ordhc
from ordhc import metrics
from ordhc.errors import InputError
from ordhc.plugins import registry
from support import metric_twins as naive

QUICK = settings(deadline=None, max_examples=60)
N = 9
TREE = naive.random_tree(N, 1)
OTHER = naive.random_tree(N, 2)
NAMES = [f"leaf {letter}" for letter in "hgfabcied"]
SQUARE = np.random.default_rng(0).integers(-9, 9, (N, N))
SQUARE += SQUARE.T
TRIPLETS = ordhc.Triplets([np.random.default_rng(seed).permutation(N)[:3] for seed in range(50)], N)
QUADRUPLETS = ordhc.Quadruplets([np.random.default_rng(seed).permutation(N)[:4] for seed in range(50)], N)
LABELS = np.array([0, 1, 0, 2, 1, 1, 2, 0, 0])

# By metric, references and settings to score with.
SCORES = {
    "triplet_revenue": ([TRIPLETS], [{}, {"normalize": True}]),
    "quadruplet_revenue": ([QUADRUPLETS, TRIPLETS], [{}, {"normalize": True}]),
    "satisfied": ([TRIPLETS, QUADRUPLETS], [{}]),
    "answer_accuracy": ([TRIPLETS, QUADRUPLETS], [{}]),
    "dasgupta_cost": ([SQUARE, SQUARE[np.triu_indices(N, 1)] / 4], [{}]),
    "dasgupta_revenue": ([SQUARE, SQUARE[np.triu_indices(N, 1)] / 4], [{}]),
    "cophenetic_correlation": ([SQUARE, OTHER], [{}]),
    "silhouette": ([SQUARE], [{"dissimilarity": False}, {"n_clusters": 3, "dissimilarity": False}]),
    "ari": ([LABELS, [f"class {label}" for label in LABELS]], [{}, {"n_clusters": 4}]),
    "aari": ([np.column_stack([LABELS > 0, LABELS]), OTHER], [{}, {"levels": [1, 1]}]),
    "dendrogram_purity": ([LABELS], [{}, {"join_ties": True}]),
    "kendall_tau_b": ([OTHER], [{}, {"include_self": False}, {"tie_self": True}]),
    "entanglement": ([OTHER], [{}]),
    "merge_distortion": ([OTHER], [{}]),
    "triplet_distance": ([OTHER], [{}, {"normalize": False}, {"join_ties": True}]),
    "robinson_foulds": ([OTHER], [{}, {"normalize": False}, {"join_ties": True}]),
}
NO_SCORES = {"Entanglement", "KendallTau", "Satisfied", "Silhouette", "tree_distances", "log_loss"}
OF_HEIGHTS = ("cophenetic_correlation", "merge_distortion")


class Fitted:
    def __init__(self, children, distances=None):
        self.children_ = children
        if distances is not None:
            self.distances_ = distances


def all_levels(tree):
    """Nested labels, every number of clusters a column."""
    return np.column_stack([tree.cut(k) for k in range(2, tree.n_leaves)])


def forms_with_heights(tree):
    Z = tree.to_linkage_matrix()
    return [tree, Z, Z.tolist(), tree.to_newick(heights=True), Fitted(tree.merges, tree.heights)]


def forms_without_heights(tree):
    labels = all_levels(tree)
    return [
        tree.merges,
        tree.merges.tolist(),
        tree.merges.astype(float),
        Fitted(tree.merges),
        labels,
        labels.tolist(),
        labels.astype(str),
        [tuple(f"{label}" for label in row) for row in labels],
    ]


def same(a, b):
    if isinstance(a, metrics.KendallTau):
        return a == b and np.array_equal(a.values, b.values)
    return a == b


EACH = pytest.mark.parametrize(
    ("name", "reference", "options"),
    [
        pytest.param(name, reference, options, id=f"{name}-{at}-{options}")
        for name, (references, settings_of) in SCORES.items()
        for at, reference in enumerate(references)
        for options in settings_of
    ],
)


# Scores by name.


def test_all_metrics_are_here():
    assert set(SCORES) == {
        row.name for row in ordhc.plugins.list_plugins() if (row.plugin, row.kind) == ("ordhc", "metric")
    }
    # Scores of predictions are no scores of trees.
    assert set(SCORES) == set(metrics.__all__) - NO_SCORES


@EACH
def test_score_is_the_function(name, reference, options):
    assert same(
        ordhc.score(TREE, reference, name, **options), getattr(metrics, name)(TREE, reference, **options)
    )
    with pytest.raises(InputError, match=f"metric '{name}' has no parameter 'depth'; its parameters: "):
        ordhc.score(TREE, reference, metric=name, depth=3)
    default = registry.get("metric", name).parameters
    assert all(default[key] != value for key, value in options.items())


def test_scores_by_default():
    assert ordhc.score(TREE, TRIPLETS) == metrics.triplet_revenue(TREE, TRIPLETS)
    assert ordhc.score(TREE, QUADRUPLETS) == metrics.quadruplet_revenue(TREE, QUADRUPLETS)
    with pytest.raises(InputError, match="give a metric for ndarray: aari, answer_accuracy, ari"):
        ordhc.score(TREE, LABELS)
    with pytest.raises(InputError, match=r"unknown metric 'arii' \(did you mean ari or aari\?\)"):
        ordhc.score(TREE, LABELS, metric="arii")


@pytest.mark.parametrize(
    "name", [name for name in SCORES if "progress" in registry.get("metric", name).parameters]
)
def test_progress_is_told(name):
    for reference in SCORES[name][0]:
        shares = []
        options = {"levels": [2, 3]} if name == "aari" and reference is OTHER else {}
        ordhc.score(TREE, reference, name, progress=shares.append, **options)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


# Forms.


@EACH
def test_every_form_scores_the_same(name, reference, options):
    score = getattr(metrics, name)
    expected = score(TREE, reference, **options)
    forms = forms_with_heights(TREE) + ([] if name in OF_HEIGHTS else forms_without_heights(TREE))
    for form in forms:
        assert same(score(form, reference, **options), expected), type(form)
    if reference is OTHER:
        forms = forms_with_heights(OTHER) + ([] if name in OF_HEIGHTS else forms_without_heights(OTHER))
        # Labels are labels to aari, with levels of their own.
        for form in forms if name != "aari" else forms[:9]:
            assert same(score(TREE, form, **options), expected), type(form)


def test_labels_as_a_reference_are_levels_to_aari():
    levels = range(2, N)
    assert metrics.aari(TREE, all_levels(OTHER)) == metrics.aari(TREE, OTHER, levels=levels)


@pytest.mark.parametrize("full", [False, True])
def test_fitted_estimators(full):
    points = np.random.default_rng(5).normal(size=(30, 3))
    model = AgglomerativeClustering(linkage="average", compute_distances=full).fit(points)
    tree = ordhc.as_dendrogram(model)
    np.testing.assert_array_equal(tree.merges, np.sort(model.children_, axis=1))
    heights = model.distances_ if full else np.arange(1, 30)
    np.testing.assert_array_equal(tree.heights, heights)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    expected = ordhc.linkage(distances, dissimilarity=True)
    assert metrics.robinson_foulds(model, expected) == metrics.triplet_distance(expected, model) == 0
    assert metrics.kendall_tau_b(model, expected).mean == 1.0
    if full:
        assert metrics.merge_distortion(model, expected) == pytest.approx(0, abs=1e-12)


def test_estimators_of_ordhc():
    from ordhc import OrdinalClustering

    model = OrdinalClustering(n_clusters=3).fit(TRIPLETS.rows)
    assert ordhc.as_dendrogram(model) is model.dendrogram_
    assert metrics.triplet_revenue(model, TRIPLETS) == metrics.triplet_revenue(model.dendrogram_, TRIPLETS)
    assert metrics.robinson_foulds(TREE, model) == metrics.robinson_foulds(TREE, model.dendrogram_)


@st.composite
def label_tables(draw):
    """Rows of nested labels, some missing; no column is coarser than the one before."""
    n, n_columns = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    label = st.sampled_from(["a", "b", "c", None])
    rows = [[draw(label) for _ in range(n_columns)] for _ in range(n)]
    for column in range(1, n_columns):
        if draw(st.booleans()):
            for row in rows:
                row[column] = f"{row[column - 1]} {row[column]}" if row[column] else None
        else:
            # Every label in the column, below every label before, makes it no coarser.
            for leaf, row in enumerate(rows):
                row[column] = f"{row[column - 1]} {leaf % 3}"
    return rows


def label_height(first, second):
    for column, labels in enumerate(zip(first, second, strict=True)):
        if labels[0] != labels[1] or None in labels:
            return len(first) + 1 - column
    return 1


@QUICK
@given(label_tables())
def test_nested_labels(rows):
    tree = ordhc.as_dendrogram(np.array(rows, dtype=object))
    assert (tree.n_leaves, tree.names, tree.kind) == (len(rows), None, "dissimilarity")
    for (i, j), height in naive.heights(tree).items():
        assert height == label_height(rows[i], rows[j])
    assert tree.is_monotone
    if len(rows[0]) == 1:
        flat = ordhc.as_dendrogram([row[0] for row in rows])
        assert naive.heights(flat) == naive.heights(tree)


def test_missing_labels_stand_under_the_coarser_cluster():
    rows = [
        ("skin", "a"),
        ("skin", None),
        ("skin", "a"),
        ("bone", "a"),
        ("skin", None),
        (None, "a"),
        (None, "a"),
    ]
    tree = ordhc.as_dendrogram(rows)
    assert naive.nodes(tree, True) == {
        frozenset({0, 2}),
        frozenset({0, 1, 2, 4}),
        frozenset(range(7)),
    }
    numbers = np.array([[0, 0], [0, np.nan], [0, 0], [1, 0], [0, np.nan], [np.nan, 0], [np.nan, 0]])
    assert ordhc.as_dendrogram(numbers) == tree
    # Coarse clusters without any finer label.
    tree = ordhc.as_dendrogram([("skin", None), ("skin", None), ("bone", "a"), ("lung", "a")])
    assert naive.nodes(tree, True) == {frozenset({0, 1}), frozenset(range(4))}


def test_labels_and_merges_are_told_apart():
    merges = [[0, 1], [2, 3], [4, 5]]
    assert ordhc.as_dendrogram(merges).merges.tolist() == merges
    assert ordhc.as_dendrogram(merges, n_leaves=3).n_leaves == 3
    assert ordhc.as_dendrogram([[0, 1], [0, 1], [1, 2]]).n_leaves == 3
    assert ordhc.as_dendrogram(np.zeros((0, 4))).n_leaves == 1
    for n in (1, 2, 3, 6):
        tree = naive.random_tree(n, n)
        for form in (tree.to_linkage_matrix(), tree.merges):
            found = ordhc.as_dendrogram(form, n_leaves=n)
            np.testing.assert_array_equal(found.merges, tree.merges)


# Names.


def test_leaves_match_by_name():
    order = np.random.default_rng(1).permutation(N)
    named, other = TREE.replace(names=NAMES), OTHER.replace(names=NAMES)
    moved = other.relabel(order)
    assert moved.names != other.names
    assert same(metrics.kendall_tau_b(named.relabel(order), other), metrics.kendall_tau_b(TREE, OTHER)), (
        "leaves count as in the reference"
    )
    for name in ("triplet_distance", "robinson_foulds", "merge_distortion", "cophenetic_correlation"):
        expected = ordhc.score(TREE, OTHER, name)
        for reference in (moved, moved.to_newick(heights=True)):
            assert ordhc.score(named, reference, name) == pytest.approx(expected, rel=1e-14)
            assert ordhc.score(named.to_newick(heights=True), reference, name) == pytest.approx(
                expected, rel=1e-14
            )
        # By number if one side has no names.
        assert ordhc.score(named, OTHER, name) == ordhc.score(TREE, other, name) == expected
    assert metrics.aari(named.relabel(order), other) == metrics.aari(TREE, OTHER)


def test_labels_match_by_name():
    order = np.random.default_rng(2).permutation(N)
    index = [NAMES[leaf] for leaf in order]
    named = TREE.replace(names=NAMES)
    columns = np.column_stack([LABELS > 0, LABELS])
    for tree in (named, named.to_newick(heights=True)):
        for name in ("ari", "dendrogram_purity"):
            expected = ordhc.score(TREE, LABELS, name)
            assert ordhc.score(tree, naive.Series(LABELS[order], index), name) == pytest.approx(expected)
        assert metrics.aari(tree, naive.Series(columns[order], index)) == metrics.aari(TREE, columns)
        square = naive.Series(SQUARE[np.ix_(order, order)], index)
        for name in ("dasgupta_cost", "dasgupta_revenue", "cophenetic_correlation"):
            assert ordhc.score(tree, square, name) == pytest.approx(ordhc.score(TREE, SQUARE, name))
    # Row numbers are no names.
    assert metrics.ari(named, naive.Series(LABELS, range(N))) == metrics.ari(TREE, LABELS)
    assert ordhc.as_dendrogram(naive.Series(LABELS, NAMES)).names == tuple(NAMES)
    assert ordhc.as_dendrogram(naive.Series(LABELS, list(range(N)))).names is None


def test_comparisons_match_by_name():
    named = TREE.replace(names=NAMES)
    order = np.random.default_rng(3).permutation(N)
    expected = metrics.triplet_revenue(TREE, TRIPLETS)
    t = ordhc.Triplets(TRIPLETS.rows, N, NAMES)
    for tree in (named.relabel(order), named.relabel(order).to_newick(), TREE, named):
        assert metrics.triplet_revenue(tree, t) == expected
        assert metrics.quadruplet_revenue(tree, t) == expected
        assert metrics.satisfied(tree, t) == metrics.satisfied(TREE, TRIPLETS)
    rows = [[NAMES[leaf] for leaf in row] for row in TRIPLETS.rows]
    for tree in (named, named.relabel(order), named.relabel(order).to_newick()):
        assert metrics.triplet_revenue(tree, rows) == expected
    assert metrics.triplet_revenue(named, TRIPLETS.rows) == expected


def test_names_of_as_dendrogram():
    tree = ordhc.as_dendrogram("((b,a),c);", names=["a", "b", "c"])
    assert tree.names == ("a", "b", "c")
    assert tree.merges.tolist() == [[0, 1], [2, 3]]
    for form in (TREE, *forms_with_heights(TREE)[1:3], *forms_without_heights(TREE)):
        assert ordhc.as_dendrogram(form, names=NAMES).names == tuple(NAMES)


# Names of data frames.


class Frame:
    """Looks like pandas.DataFrame."""

    def __init__(self, values, index, columns):
        self.values, self.index, self.columns = np.asarray(values), index, columns
        self.shape = self.values.shape

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self):
        return len(self.values)


@pytest.mark.parametrize(
    ("index", "columns", "names"),
    [
        (NAMES, NAMES, NAMES),
        (NAMES, range(N), NAMES),
        (range(N), NAMES, NAMES),
        (range(N), range(N), None),
        (range(5, 5 + N), range(5, 5 + N), [str(5 + leaf) for leaf in range(N)]),
    ],
)
def test_square_data_frames_name_leaves(index, columns, names):
    frame = Frame(SQUARE, index, columns)
    tree = ordhc.linkage(frame, dissimilarity=False)
    assert tree.names == (None if names is None else tuple(names))
    assert tree.replace(names=None) == ordhc.linkage(SQUARE, dissimilarity=False)
    own = [f"own {leaf}" for leaf in range(N)]
    assert ordhc.linkage(frame, dissimilarity=False, names=own).names == tuple(own)
    assert ordhc.linkage(frame, "single", dissimilarity=False, tie_seed=1).names == tree.names


def test_rows_and_columns_of_other_names():
    for columns, part in [(NAMES[::-1], "are in another order"), ([*NAMES[:-1], "x"], "have other names")]:
        with pytest.raises(InputError, match=f"the columns of the data frame {part} than the rows: row"):
            ordhc.linkage(Frame(SQUARE, NAMES, columns), dissimilarity=False)
    # A table that is not square has its own error.
    with pytest.raises(InputError, match=r"shape \(3, 2\)"):
        ordhc.linkage(Frame(np.zeros((3, 2)), ["a", "b", "c"], ["x", "y"]), dissimilarity=False)


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (NAMES, NAMES),
        (range(N), None),
        (list(range(1, N + 1)), [str(leaf + 1) for leaf in range(N)]),
        (np.arange(N) + 0.5, [f"{leaf}.5" for leaf in range(N)]),
    ],
)
def test_data_frames_of_vectors_name_leaves(index, names):
    X = np.random.default_rng(4).random((N, 3))
    tree = ordhc.cluster(Frame(X, index, ["x", "y", "z"]), method="dot-al")
    assert tree.names == (None if names is None else tuple(names))
    if names is not None:
        # Labels in another order are matched by the same index, numbers too.
        order = np.random.default_rng(5).permutation(N)
        moved = naive.Series(LABELS[order], [list(index)[leaf] for leaf in order])
        assert metrics.ari(tree, moved, 3) == metrics.ari(tree.replace(names=None), LABELS, 3)
        # Other numbers number rows.
        assert metrics.ari(tree, naive.Series(LABELS, range(70, 70 + N)), 3) == metrics.ari(tree, LABELS, 3)


def test_functions_of_scipy_take_a_tree():
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    points = np.random.default_rng(0).normal(size=(9, 2))
    tree = ordhc.cluster(points, similarity="euclidean", linkage="average")
    Z = tree.to_linkage_matrix()
    assert np.array_equal(np.asarray(tree), Z)
    assert np.array_equal(hierarchy.cophenet(tree), hierarchy.cophenet(Z))
    assert hierarchy.fcluster(tree, 3, "maxclust").tolist() == hierarchy.fcluster(Z, 3, "maxclust").tolist()
    assert hierarchy.dendrogram(tree, no_plot=True)["ivl"] == hierarchy.dendrogram(Z, no_plot=True)["ivl"]
    assert np.asarray(tree, dtype="float32").dtype == np.float32
    with pytest.raises(ValueError, match="does not store an array"):
        tree.__array__(copy=False)
