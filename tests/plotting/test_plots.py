"""Figures about trees and answers."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import plots
from ordhc.errors import InputError
from ordhc.tree.untangling import crossings, fitted, untangled

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def no_figures_after():
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure(layout="constrained").add_subplot()


def tree(n, seed=0, **options):
    y = np.random.default_rng(seed).random(n * (n - 1) // 2)
    return ordhc.linkage(y, dissimilarity=True, **options)


def named(n):
    return [f"item {at}" for at in range(n)]


# --- heatmap ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 12])
@pytest.mark.parametrize("form", ["square", "condensed"])
def test_rows_of_a_heatmap_are_those_of_the_tree(n, form, ax):
    S = np.random.default_rng(n).random((n, n))
    S = S + S.T
    d = (
        ordhc.linkage(S, dissimilarity=False, names=named(n))
        if n > 1
        else ordhc.Dendrogram([], [], kind="similarity", names=["item 0"])
    )
    given = S if form == "square" else S[np.triu_indices(n, 1)]
    assert plots.heatmap(d, given, ax=ax, n_clusters=min(n, 2)) is ax
    order = d.leaf_order()
    expected = S[np.ix_(order, order)]
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_allclose(np.asarray(ax.images[0].get_array().filled(np.nan)), expected)
    assert [text.get_text() for text in ax.get_yticklabels()] == [d.labels[leaf] for leaf in order]
    beside = ax.figure.axes[1]
    # Leaves of the tree are at the middles of the rows.
    assert beside.get_ylim() == ax.get_ylim()
    ax.figure.canvas.draw()


def test_heatmaps_in_optimal_order_and_of_dissimilarities(ax):
    D = np.array([[0, 1, 5, 2], [1, 0, 5, 5], [5, 5, 0, 1], [2, 5, 1, 0.0]])
    d = ordhc.linkage(D, "single", dissimilarity=True, names=list("abcd"))
    plots.heatmap(d, D, ax=ax, order="optimal")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b", "a", "d", "c"]
    assert ax.images[0].get_cmap().name == "cividis_r"
    with pytest.raises(InputError, match="order is 'best', not one of tree, optimal"):
        plots.heatmap(d, D, order="best")
    with pytest.raises(InputError, match="the matrix has 2"):
        plots.heatmap(d, D[:2, :2])


def test_data_frames_are_matched_by_name_and_large_matrices_averaged(ax, monkeypatch):
    pandas = pytest.importorskip("pandas")
    S = np.random.default_rng(0).random((6, 6))
    S = S + S.T
    d = ordhc.linkage(S, dissimilarity=False, names=named(6))
    turned = pandas.DataFrame(S, named(6), named(6)).iloc[::-1, ::-1]
    plots.heatmap(d, turned, ax=ax)
    order = d.leaf_order()
    shown = np.asarray(ax.images[0].get_array().filled(0))
    assert shown[0, 1] == S[order[0], order[1]]
    from ordhc.plots import matrices

    monkeypatch.setattr(matrices, "MOST_CELLS", 3)
    small = matrices._ordered(S, order)
    assert small.shape == (3, 3)
    assert small[0, 1] == pytest.approx(S[np.ix_(order[:2], order[2:4])].mean())
    assert small[0, 0] == pytest.approx(S[order[0], order[1]])


def check_that_all_is_seen(figure):
    """Everything that is drawn is on the canvas, and no axes clip what is drawn in them."""
    from matplotlib.text import Text

    figure.canvas.draw()
    whole = figure.bbox.padded(1.0)
    lines = 0
    for axes in figure.axes:
        drawn = [text for text in axes.findobj(Text) if text.get_visible() and text.get_text()]
        drawn += [axes, *axes.images]
        for branches in axes.collections:
            if branches.get_gid() == "ordhc-branches":
                lines += 1
                ends = np.concatenate([path.vertices for path in branches.get_paths()])
                pixels = axes.transData.transform(ends)
                inside = axes.bbox.padded(1.0)
                assert all(inside.contains(x, y) for x, y in pixels.tolist())
        for artist in drawn:
            box = artist.get_window_extent()
            assert whole.contains(box.x0, box.y0), artist
            assert whole.contains(box.x1, box.y1), artist
    assert lines == 1


def plain_figure():
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(9, 7))[1]


def own_figure():
    return None


def half_a_figure():
    from matplotlib import pyplot

    return pyplot.subplots(1, 2, figsize=(11, 5), layout="constrained")[1][0]


def free_axes():
    from matplotlib import pyplot

    return pyplot.figure(figsize=(8, 6)).add_axes((0.05, 0.05, 0.9, 0.9))


@pytest.mark.parametrize(
    ("place", "n", "name", "wide"),
    [
        (plain_figure, 15, "thing {}", True),
        (plain_figure, 60, "a long name of a thing {}", False),
        (own_figure, 15, "thing {}", False),
        (own_figure, 60, "a long name of a thing {}", True),
        (own_figure, 200, "名前 {}", True),
        (half_a_figure, 60, "a long name of a thing {}", True),
        (half_a_figure, 200, "名前 {}", False),
        (free_axes, 60, "a long name of a thing {}", True),
        (free_axes, 200, "名前 {}", False),
    ],
)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_nothing_of_a_heatmap_is_cut_off(place, n, name, wide):
    D = np.random.default_rng(n).random(n * (n - 1) // 2)
    d = ordhc.linkage(D, dissimilarity=True, names=[name.format(leaf) for leaf in range(n)])
    columns = {"kind": ["ab"[i % 2] for i in range(n)], "part": ["xyz"[i % 3] for i in range(n)]}
    more = {"order": "optimal", "n_clusters": 3, "columns": columns} if wide else {}
    ax = plots.heatmap(d, D, ax=place(), **more)
    check_that_all_is_seen(ax.figure)
    names = [text.get_text() for text in ax.get_yticklabels()]
    # Names of less than 3 points are left out.
    assert bool(names) == (n < 60 or (n == 60 and place is not half_a_figure))
    if wide:
        texts = [text.get_text() for text in ax.figure.axes[-2].get_legend().get_texts()]
        assert texts == ["kind:", "a", "b", "part:", "x", "y", "z"]


def test_colours_of_a_heatmap_are_those_asked_for(ax):
    S = np.random.default_rng(0).normal(size=2016)
    d = ordhc.linkage(S, dissimilarity=False)

    def limits(values=S, **settings):
        from matplotlib import pyplot

        drawn = plots.heatmap(d, values, ax=pyplot.figure().add_subplot(), **settings)
        shown, image = drawn.figure.axes[-1], drawn.images[0]
        return (*image.get_clim(), image.cmap), shown

    assert limits()[0][:2] == (S.min(), S.max())
    two = np.percentile(np.concatenate([S, S]), [2, 98])
    assert limits(robust=True)[0][:2] == pytest.approx(two)
    assert limits(vmin=-1, vmax=2)[0][:2] == (-1, 2)
    assert limits(robust=True, vmax=9)[0][:2] == pytest.approx((two[0], 9))
    # A single value does not make all others one colour, unless that is asked for.
    odd = S.copy()
    odd[5] = -289
    low, high = limits(odd)[0][:2]
    assert -3 < low < high < 3
    assert limits(odd, robust=False)[0][:2] == (-289, S.max())
    # The middle of the map is the value in the middle, and one end of the map is used as a whole.
    low, high, cmap = limits(vmin=-1, vmax=3, center=0)[0]
    import matplotlib

    whole = matplotlib.colormaps["RdBu_r"]
    assert cmap(0.25) == pytest.approx(whole(0.5), abs=0.03)
    assert cmap(1.0) == pytest.approx(whole(1.0))
    assert cmap(0.0) == pytest.approx(whole(0.5 - 1 / 6), abs=0.03)
    for wrong, said in [
        ({"vmin": 3, "vmax": 1}, "begin at 3 .* end at 1"),
        ({"cmap": "viridiss"}, "'viridiss', not a colour map"),
        ({"center": "x"}, "center"),
        ({"robust": 2}, "robust"),
    ]:
        with pytest.raises(InputError, match=said):
            limits(**wrong)


def test_the_shipped_cars_show_something(ax):
    cars = ordhc.datasets.load_car().triplets
    plots.heatmap(ordhc.cluster(cars, method="adds3-al"), ordhc.similarity(cars), ax=ax)
    shares = ax.images[0].norm(ax.images[0].get_array()).compressed().clip(0, 1)
    assert np.std(shares) > 0.2


# --- tanglegram ------------------------------------------------------------------------------


def crossings_twin(first, second):
    place = {leaf: at for at, leaf in enumerate(second.tolist())}
    return sum(place[a] > place[b] for a, b in itertools.combinations(first.tolist(), 2))


def orders(node):
    """All orders in which a tree can be drawn."""
    if node.is_leaf:
        return [[node.label]]
    found = []
    for turned in itertools.permutations(node.children):
        for parts in itertools.product(*map(orders, turned)):
            found.append([leaf for some in parts for leaf in some])
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10**6))
def test_crossings_are_counted(n, seed):
    random = np.random.default_rng(seed)
    first, second = random.permutation(n), random.permutation(n)
    assert crossings(first, second) == crossings_twin(first, second)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_a_tree_is_turned_to_fit_an_order_best(n, seed):
    order = np.random.default_rng(seed).permutation(n)
    d = tree(n, seed)
    least = min(crossings_twin(np.array(each), order) for each in orders(d.root))
    assert crossings(fitted(d, order), order) == least


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 5), st.integers(0, 10**6))
def test_two_trees_cross_least(n, seed):
    a, b = tree(n, seed), tree(n, seed + 1)
    first, second = untangled(a, b)
    assert first.tolist() in orders(a.root)
    assert second.tolist() in orders(b.root)
    least = min(
        crossings_twin(np.array(x), np.array(y)) for x, y in itertools.product(orders(a.root), orders(b.root))
    )
    assert crossings(first, second) == least


def test_the_same_tree_has_no_crossings_however_it_is_turned(ax):
    d = tree(60, names=named(60))
    order = np.random.default_rng(1).permutation(60)
    other = d.relabel(order)
    assert plots.tanglegram(d, other, ax=ax, n_clusters=4, titles=("a", "b")) is ax
    assert ax.get_xlabel() == "0 crossings, entanglement 0"
    (ties,) = [part for part in ax.collections if part.get_gid() == "ordhc-ties"]
    assert all(start[1] == end[1] for start, end in ties.get_segments())
    assert len({tuple(colour) for colour in ties.get_colors()}) == 4
    ax.figure.canvas.draw()
    with pytest.raises(InputError, match="leaves with different names: 'c'"):
        plots.tanglegram("((a,b),c);", "((a,b),z);")


def test_lines_lead_from_each_leaf_to_itself(ax):
    plots.tanglegram("(((a,b),c),(d,e));", "(((a,e),c),(d,b));", ax=ax)
    names = [text.get_text() for text in ax.texts]
    left, right = names[:5], names[5:]
    (ties,) = [part for part in ax.collections if part.get_gid() == "ordhc-ties"]
    for start, end in ties.get_segments():
        assert left[int(start[1])] == right[int(end[1])]
    count = crossings_twin(np.array([left.index(name) for name in right]), np.arange(5))
    assert ax.get_xlabel().split()[0] == str(count)


# --- answers ---------------------------------------------------------------------------------


def test_agreement_by_level(ax):
    d = ordhc.Dendrogram.from_newick("((0,1),(2,3));")
    # Decided at the root, both ways round; and within no smaller cluster.
    t = ordhc.Triplets([(0, 1, 2), (0, 1, 3), (0, 2, 1), (2, 3, 0)], n_leaves=4)
    plots.agreement(d, t, ax=ax)
    assert ax.lines[0].get_xdata().tolist() == pytest.approx([4])
    assert ax.lines[0].get_ydata().tolist() == [0.75]
    t, _ = ordhc.datasets.planted(3000, levels=3, leaves_per_cluster=4, seed=1)
    found = ordhc.cluster(t, method="adds3-al")
    other = plots.agreement(found, t)
    shares = other.lines[0].get_ydata()
    total = ordhc.metrics.satisfied(found, t).agreed
    assert shares.min() <= total <= shares.max()
    assert plots.agreement(found, t, n_bins=1).lines[0].get_ydata()[0] == pytest.approx(total)
    with pytest.raises(InputError, match="no comparisons"):
        plots.agreement(found, t[:0])


def test_agreement_of_quadruplets(ax):
    q = ordhc.Quadruplets([(0, 1, 2, 3), (0, 1, 0, 2), (0, 2, 0, 1)], n_leaves=4)
    d = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0])
    plots.agreement(d, q, ax=ax, n_bins=2)
    assert ax.lines[0].get_ydata().tolist() == [1.0, 0.5]


def test_learning_curves_rise(ax):
    t, _ = ordhc.datasets.planted(4000, levels=2, leaves_per_cluster=6, seed=1)
    plots.learning_curve(t, ["adds3-al", "mulk3-al"], ax=ax, folds=3, sizes=[30, 300, 2000])
    first = ax.lines[0]
    assert first.get_xdata().tolist() == [30, 300, 2000]
    assert first.get_ydata()[0] < first.get_ydata()[-1]
    again = plots.learning_curve(t, "adds3-al", folds=3, sizes=[300], seed=0)
    assert again.lines[0].get_ydata()[0] == first.get_ydata()[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["adds3-al", "mulk3-al"]
    with pytest.raises(InputError, match="sizes = 4000 is above"):
        plots.learning_curve(t, sizes=[4000])
    with pytest.raises(InputError, match="takes Triplets or Quadruplets"):
        plots.learning_curve([[0, 1, 2]])


# --- scores ----------------------------------------------------------------------------------


def test_support_that_is_calibrated_is_on_the_diagonal(ax):
    random = np.random.default_rng(0)
    true = tree(40, names=named(40))
    wrong = tree(40, seed=5, names=named(40))
    sure, unsure = true.replace(support=np.full(39, 1.0)), wrong.replace(support=random.random(39) * 0.1)
    plots.support_calibration([sure, unsure], true, ax=ax)
    x, y = ax.lines[0].get_data()
    assert (x[-1], y[-1]) == (1.0, 1.0)
    assert y[0] < 0.2
    with pytest.raises(InputError, match="has no support"):
        plots.support_calibration(true, true)
    with pytest.raises(InputError, match="2 references for 1 trees"):
        plots.support_calibration(sure, [true, true])


def test_clusters_are_the_same_whatever_their_leaves_are_numbered(ax):
    true = ordhc.Dendrogram.from_newick("((a,b,c),(d,e));")
    found = ordhc.Dendrogram.from_newick("((e,d)80,(c,b,a)80);")
    plots.support_calibration(found, true, ax=ax)
    assert ax.lines[0].get_ydata().tolist() == [1.0]


def test_methods_are_compared(ax):
    given = {"b": (0.5, 0.4, 0.7), "a": ordhc.evaluate.bootstrap.Interval(0.8, 0.75, 0.9)}
    plots.compare(given, ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    segments = [line.get_segments()[0][:, 0].tolist() for line in ax.collections[:1]]
    assert segments[0] == pytest.approx([0.75, 0.9])
    t, _ = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=6, seed=1)
    chosen = ordhc.select(t, ["adds3-al", "mulk3-al"], folds=2)
    drawn = plots.compare(chosen, by="satisfied")
    assert drawn.get_xlabel() == "held-out satisfied"
    assert drawn.lines[0].get_xdata().tolist() == pytest.approx(
        sorted((each.satisfied for each in chosen.candidates), reverse=True)
    )
    for wrong, said in (
        ({"a": 1.0}, "scores['a'] is 1.0; give (value, low, high)"),
        ({"a": (1, 2, 3)}, "1 is not between 2 and 3"),
        ({}, "pass the result of ordhc.select"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            plots.compare(wrong)


def of_data(n=12, p=5, seed=0):
    pandas = pytest.importorskip("pandas")
    values = np.random.default_rng(seed).normal(size=(n, p)) + np.arange(n)[:, None] % 3
    names = [f"row_{at}" for at in range(n)]
    return pandas.DataFrame(values, index=names, columns=[f"column {at}" for at in range(p)])


@pytest.mark.parametrize("has_tree", [False, True])
def test_rows_and_columns_of_data_are_in_the_order_of_their_trees(has_tree, ax):
    X = of_data()
    d = ordhc.cluster(X, similarity="euclidean", linkage="ward")
    c = ordhc.cluster(X.T, similarity="euclidean", linkage="average") if has_tree else None
    kinds = {name: "ab"[at % 2] for at, name in enumerate(X.index)}
    # Rows and columns are matched by name, whatever their order.
    moved = X.iloc[::-1, [3, 1, 4, 0, 2]]
    assert plots.heatmap(d, moved, ax=ax, columns={"kind": kinds}, column_tree=c, n_clusters=3) is ax
    rows = [d.labels[leaf] for leaf in d.leaf_order()]
    columns = [c.labels[leaf] for leaf in c.leaf_order()] if has_tree else list(moved.columns)
    assert np.array_equal(ax.images[0].get_array(), X.loc[rows, columns].to_numpy())
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == rows
    assert [label.get_text() for label in ax.get_xticklabels()] == columns
    others = [each for each in ax.figure.axes if each is not ax]
    # The tree of the rows, the colour bar, and the tree of the columns.
    assert len(others) == 2 + has_tree
    assert any(each.get_xlabel() == "value" for each in others)


@pytest.mark.parametrize(("n", "p"), [(1, 2), (2, 1), (3, 40), (40, 3), (1600, 4), (3, 1600)])
def test_data_of_any_shape_with_missing_numbers(n, p, ax):
    X = np.random.default_rng(1).normal(size=(n, p))
    X[0, 0] = np.nan
    d = ordhc.cluster(np.nan_to_num(X), similarity="euclidean", linkage="single")
    plots.heatmap(d, X, ax=ax)
    image = ax.images[0].get_array()
    assert image.shape == (min(n, 1500), min(p, 1500))
    if max(n, p) <= 1500:
        assert np.array_equal(np.ma.filled(image, np.nan), X[d.leaf_order()], equal_nan=True)
    assert np.nanmean(np.ma.filled(image, np.nan)) == pytest.approx(np.nanmean(X), abs=0.02)


def test_square_data_need_a_tree_of_the_columns(ax):
    X = of_data(6, 6)
    d = ordhc.cluster(X, similarity="euclidean", linkage="ward")
    c = ordhc.cluster(X.T, similarity="euclidean", linkage="ward")
    plots.heatmap(d, X, ax=ax, column_tree=c)
    rows, columns = (d.leaf_order(), c.leaf_order())
    assert np.array_equal(ax.images[0].get_array(), X.to_numpy()[rows][:, columns])


def test_what_is_no_data_of_a_tree():
    X = of_data()
    d = ordhc.cluster(X, similarity="euclidean", linkage="ward")
    for table, options, message in [
        (X.iloc[1:], {}, r"the table has shape \(11, 5\); one row for each of the tree's 12 leaves"),
        (X, {"order": "optimal"}, r"order='optimal' and dissimilarity are for \(n, n\) similarities"),
        (X.rename(index={"row_3": "other"}), {}, "leaves with different names: 'row_3' is only in the tree"),
        (X, {"column_tree": "((a,b),c);"}, "the tree has 3 leaves, not 5"),
        (X.astype(str), {}, "."),
    ]:
        with pytest.raises(InputError, match=message):
            plots.heatmap(d, table, **options)
