"""Better trees by moving subtrees."""

import itertools
import json
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import cli
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.errors import InputError, OrdhcWarning
from ordhc.plugins import registry
from ordhc.testing.strategies import triplets
from ordhc.tree.dendrogram import engine_tree, lca_size
from support.random_data import planted
from support.trees import clusters


def moved(tree):
    """All trees that one move away, by taking sets apart and putting them together again."""

    def nested(node):
        if node < tree.n_leaves:
            return int(node)
        return tuple(nested(part) for part in tree.merges[node - tree.n_leaves])

    def without(part, gone):
        if part == gone:
            return None
        if isinstance(part, int):
            return part
        left, right = (without(child, gone) for child in part)
        return right if left is None else left if right is None else (left, right)

    def placed(part, subtree):
        yield (part, subtree)
        if isinstance(part, tuple):
            yield from ((left, part[1]) for left in placed(part[0], subtree))
            yield from ((part[0], right) for right in placed(part[1], subtree))

    def parts(part):
        yield part
        if isinstance(part, tuple):
            yield from itertools.chain(*map(parts, part))

    whole = nested(2 * tree.n_leaves - 2)
    for subtree in parts(whole):
        rest = without(whole, subtree)
        if rest is not None:
            for other in placed(rest, subtree):
                yield str(other).replace(" ", "") + ";"


# --- refine ----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(triplets(max_leaves=8), st.sampled_from(["revenue", "satisfied"]), st.integers(0, 2))
def test_no_single_move_is_better(t, objective, restarts):
    start = ordhc.linkage(ordhc.similarity(t), "single", dissimilarity=False)
    score = (
        (lambda tree: ordhc.score(tree, t))
        if objective == "revenue"
        else lambda tree: float(ordhc._ordhc.satisfied(engine_tree(tree), t.rows, t.weights)[0])
    )
    better = ordhc.refine(start, t, objective, restarts=restarts)
    best = score(better)
    assert best >= score(start)
    assert better.names == t.names
    assert better.is_monotone
    for other in moved(better):
        found = ordhc.Dendrogram.from_newick(other)
        if found.names is not None:
            found = found.relabel([int(name) for name in found.names]).replace(names=None)
        assert score(found.replace(names=t.names)) <= best + 1e-9 * abs(best)


def test_revenue_is_dasguptas_cost_of_adds():
    t, _ = planted(4)
    start = ordhc.cluster(t, method="adds3-al+spr")
    S = ordhc.similarity(t, dtype="int64")
    for heights in ("sizes", "average"):
        assert ordhc.refine(start, t, heights=heights) == ordhc.refine(
            start, S, dissimilarity=False, heights=heights
        )
    q = t.to_quadruplets()
    assert ordhc.refine(start, q) == ordhc.refine(start, t)
    sizes = [
        ordhc.refine(start, values, dissimilarity=False, heights="sizes")
        for values in (S.astype(float) + 7, S)
    ]
    assert sizes[0] == sizes[1]


def test_methods_that_refine():
    t, labels = planted(8, seed=3, sigma=0.15)
    plain = ordhc.cluster(t, method="adds3-al")
    by_name = ordhc.cluster(t, method="adds3-al+spr")
    order = canonical_order(t)
    u = in_order(t, order)
    assert by_name == ordhc.refine(ordhc.cluster(u, method="adds3-al"), u).relabel(order)
    assert ordhc.score(by_name, t) > ordhc.score(plain, t)
    assert ordhc.metrics.aari(by_name, labels) > ordhc.metrics.aari(plain, labels)
    q, _ = planted(4, quadruplets=True)
    refined = ordhc.cluster(q, method="adds4-al+spr")
    assert ordhc.score(refined, q) > ordhc.score(ordhc.cluster(q, method="adds4-al"), q)


@pytest.mark.parametrize("method", ["mulk3-al", "3-al", "ordhc:4-al", "4k-al", "consistency"])
def test_any_method_can_be_refined(method):
    t, _ = planted(4, seed=3, sigma=0.3)
    data = in_order(t, canonical_order(t))
    start, found = ordhc.cluster(data, method=method), ordhc.cluster(data, method=f"{method}+spr")
    assert found.settings["method"] == f"{method}+spr"
    if found.settings["similarity"] is None:
        assert found.settings["refine"] == "revenue"
        assert ordhc.score(found, data) > ordhc.score(start, data)
        return
    assert found.settings["refine"] == "dasgupta"
    S = ordhc.similarity(data, found.settings["similarity"])
    cost = ordhc.metrics.dasgupta_cost
    assert cost(found, S) < cost(start, S)
    assert found == ordhc.refine(start, S, dissimilarity=False).replace(settings=found.settings)


def test_moves_keep_what_the_method_says():
    t, _ = planted(1)
    for wrong, told in (("no+spr", "'no'"), ("adds3-al+spr+spr", r"'adds3-al\+spr\+spr'"), ("+spr", "''")):
        with pytest.raises(InputError, match=f"unknown method {told}"):
            ordhc.cluster(t, method=wrong)
    lengths = ordhc.cluster(t, method=("adds3-al+spr", {"lengths": True}))
    assert lengths == ordhc.cluster(t, method="adds3-al+lengths+spr").replace(settings=lengths.settings)


def test_trees_of_resamples_are_refined():
    t, _ = planted(4, seed=1)
    b = ordhc.bootstrap(t, method="adds3-al+spr", n_resamples=5)
    times = ordhc._ordhc.draw_times(len(t), None, 0, 2)
    drawn = t[np.repeat(np.arange(len(t)), times)]
    assert b.trees[2] == ordhc.cluster(drawn, method="adds3-al+spr")
    assert b.tree == ordhc.cluster(t, method="adds3-al+spr").replace(support=b.tree.support)


def test_cluster_command_refines(tmp_path, capsys):
    t, _ = planted(1)
    ordhc.write_comparisons(t, tmp_path / "t.csv")
    revenue = []
    for method in ("3-al", "3-al+spr"):
        with pytest.raises(SystemExit):
            cli.main(["cluster", str(tmp_path / "t.csv"), "--json", "--method", method])
        revenue.append(json.loads(capsys.readouterr().out)["revenue"])
    assert revenue[0] < revenue[1]


def test_vectors_are_refined_by_dasguptas_cost():
    X = np.random.default_rng(0).random(size=(40, 3))
    plain, better = ordhc.cluster(X, method="dot-al"), ordhc.cluster(X, method="dot-al+spr")
    assert better.kind == plain.kind
    S = X @ X.T
    assert ordhc.metrics.dasgupta_cost(better, S) < ordhc.metrics.dasgupta_cost(plain, S)
    with pytest.raises(InputError, match="need a matrix: leave out storage"):
        ordhc.cluster(ordhc.Vectors(X, storage="vectors"), method="dot-al+spr")
    with pytest.raises(InputError, match="without moves of subtrees"):
        ordhc.cluster(ordhc.Vectors(X, neighbors=3), method="cosine-al+spr")


def test_methods_of_plugins_refine_by_what_they_say(monkeypatch):
    of_dot = ordhc.specs.MethodSpec(
        name="d", summary="d", similarity="dot", linkage="average", refine="revenue"
    )
    monkeypatch.setitem(registry._load().known, ("method", "d"), of_dot)
    with pytest.raises(InputError, match="by 'revenue' need comparisons"):
        ordhc.cluster(np.eye(4) + 1, method="d")
    of_euclidean = replace(of_dot, similarity="euclidean", refine="dasgupta")
    monkeypatch.setitem(registry._load().known, ("method", "d"), of_euclidean)
    X = np.random.default_rng(0).random(size=(40, 3))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(2))
    plain, better = ordhc.cluster(X, similarity="euclidean"), ordhc.cluster(X, method="d")
    assert better.kind == plain.kind == "dissimilarity"
    assert ordhc.metrics.dasgupta_cost(better, D) > ordhc.metrics.dasgupta_cost(plain, D)


def test_heights():
    S = np.array([[0, 9, 2, 1], [9, 0, 2, 1], [2, 2, 0, 7], [1, 1, 7, 0]])
    tree = ordhc.refine("((0,2),(1,3));", S, dissimilarity=False)
    assert tree.heights.tolist() == [9, 7, 1.5]
    tree = ordhc.refine("((0,2),(1,3));", S, dissimilarity=False, heights="sizes")
    assert (tree.kind, tree.heights.tolist()) == ("similarity", [2, 2, 0])
    tree = ordhc.refine("((0,2),(1,3));", 9 - S, dissimilarity=True)
    assert (tree.kind, tree.heights.tolist()) == ("dissimilarity", [0, 2, 7.5])
    assert clusters(tree) == {frozenset(s) for s in ([0], [1], [2], [3], [0, 1], [2, 3], range(4))}


def test_initial_clusters_stay():
    t, labels = planted(1, seed=5)
    rng = np.random.default_rng(1)
    groups = labels[:, -1] * 10 + rng.integers(0, 2, t.n_leaves)
    tree = ordhc.cluster(t, method="adds3-al+spr", initial_clusters=groups)
    for group in np.unique(groups):
        assert frozenset(np.flatnonzero(groups == group).tolist()) in clusters(tree)
    with pytest.raises(InputError, match="stay in one cluster"):
        ordhc.refine(
            ordhc.cluster(t, method="adds3-al+spr"), t, initial_clusters=rng.integers(0, 3, t.n_leaves)
        )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_leaves(n):
    S = np.arange(n * n).reshape(n, n)
    tree = ordhc.Dendrogram([(0, 1), (2, 3)][: n - 1], [2.0, 1.0][: n - 1], kind="similarity")
    assert ordhc.refine(tree, S + S.T, dissimilarity=False).n_leaves == n


def test_leaves_without_answers_stay_last():
    t, _ = planted(4)
    more = ordhc.Triplets(t.rows, n_leaves=t.n_leaves + 2)
    with pytest.warns(OrdhcWarning, match="2 leaves have no answers"):
        tree = ordhc.cluster(more, method="adds3-al+spr")
    assert tree.merges[-2:].tolist() == [[32, 64], [33, 65]]


def test_bad_arguments():
    t, _ = planted(1)
    tree = ordhc.cluster(t, method="adds3-al+spr")
    for arguments, message in [
        ({"objective": "profit"}, "objective is 'profit', not one of dasgupta, revenue, satisfied"),
        ({"heights": "tall"}, "heights is 'tall'"),
        ({"objective": "satisfied", "heights": "average"}, "use heights='sizes'"),
        ({"restarts": -1}, "restarts = -1 is below 0"),
        ({"max_moves": 1.5}, "max_moves = 1.5 is not a whole number"),
    ]:
        with pytest.raises(InputError, match=message):
            ordhc.refine(tree, t, **arguments)
    with pytest.raises(InputError, match="the tree has 32 leaves, the comparisons have 33"):
        ordhc.refine(tree, ordhc.Triplets([(0, 1, 32)]))
    nan = np.full((32, 32), np.nan)
    with pytest.raises(InputError, match="NaN"):
        ordhc.refine(tree, nan, dissimilarity=False)


def test_a_matrix_needs_its_direction_and_comparisons_have_none():
    t, _ = planted(1)
    # A tree without heights does not say what the numbers of a matrix mean.
    for tree in (ordhc.cluster(t, method="adds3-al"), ordhc.cluster(t, method="adds3-al").to_newick()):
        for dissimilarity in ({}, {"dissimilarity": None}):
            with pytest.raises(
                InputError, match=r"refine\(tree, S, dissimilarity=True\) if .* dissimilarity=False if"
            ):
                ordhc.refine(tree, ordhc.similarity(t), **dissimilarity)
        with pytest.raises(InputError, match="'yes' is neither True nor False"):
            ordhc.refine(tree, ordhc.similarity(t), dissimilarity="yes")
        for dissimilarity in (True, False):
            with pytest.raises(InputError, match="dissimilarity is only for matrices, not for Triplets"):
                ordhc.refine(tree, t, dissimilarity=dissimilarity)


def test_progress_and_the_seed():
    t, _ = planted(1, seed=2)
    tree = ordhc.cluster(t, similarity="adds3", linkage="single")
    seen = []
    first = ordhc.refine(tree, t, restarts=3, seed=4, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] <= 1
    assert first == ordhc.refine(tree, t, restarts=3, seed=4)
    assert clusters(ordhc.refine(tree, t, max_moves=0)) == clusters(tree)
    few, many = (ordhc.score(ordhc.refine(tree, t, max_moves=k), t) for k in (2, 20))
    assert ordhc.score(tree, t) < few < many


# --- progress and interrupts ------------------------------------------------------------------


def test_progress_moves_while_subtrees_do():
    for method, size in (("adds3-al+spr", 120), ("consistency", 40)):
        t, _ = ordhc.datasets.planted(30_000, levels=3, leaves_per_cluster=size, seed=2)
        seen = []
        ordhc.cluster(t, method=method, progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1
        assert sum(0.2 < share < 1 for share in seen) >= 2, (method, seen)


def test_ctrl_c_stops_refinement():
    t, _ = planted(1, seed=2)
    tree = ordhc.cluster(t, method="adds3-al+spr")
    for objective in ("revenue", "satisfied"):
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            ordhc.refine(tree, t, objective, restarts=10**9)
        timer.join()


# --- consistency -----------------------------------------------------------------------------


def test_consistent_triplets_give_the_tree_of_build():
    tree = ordhc.Dendrogram.from_newick("(((0,1),2),((3,4),(5,6)));")
    rows = [
        (i, j, k)
        for i, j, k in itertools.permutations(range(7), 3)
        if lca_size(tree, i, j) < lca_size(tree, i, k)
    ]
    t = ordhc.Triplets(rows)
    assert ordhc.cluster(t, method="consistency") == ordhc.cluster(t, method="build")


def test_inconsistent_triplets_are_satisfied_as_far_as_moves_help():
    t, _ = planted(1, seed=7, levels=2, leaves_per_cluster=5, sigma=0.3)
    with pytest.raises(InputError, match="no tree satisfies"):
        ordhc.cluster(t, method="build")
    shares = {
        name: float(ordhc.score(ordhc.cluster(t, method=name), t, "satisfied"))
        for name in ("adds3-al", "adds3-al+spr", "consistency")
    }
    assert shares["adds3-al"] < shares["adds3-al+spr"] <= shares["consistency"]
    groups = np.arange(20) // 2
    tree = ordhc.cluster(t, method="consistency", initial_clusters=groups)
    assert all(frozenset({leaf, leaf + 1}) in clusters(tree) for leaf in range(0, 20, 2))
