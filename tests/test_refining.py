"""Moving subtrees, and choosing methods by held-out answers."""

import itertools
import json
import signal
import threading
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import cli
from ordhc.comparison.canonical import canonical_order, in_order
from ordhc.testing.strategies import triplets
from support.trees import members


def planted(times, seed=0, **model):
    settings = {"levels": 2, "leaves_per_cluster": 8, "delta": 0.15, "seed": seed, **model}
    n = 2 ** settings["levels"] * settings["leaves_per_cluster"]
    return ordhc.simulate_planted(int(times * n**2), **settings)


def clusters(tree):
    return set(members(tree))


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
    start = ordhc.linkage(ordhc.similarity(t), "single")
    score = (
        (lambda tree: ordhc.score(tree, t))
        if objective == "revenue"
        else lambda tree: float(ordhc._ordhc.satisfied(tree._tree, t.rows, t.weights)[0])
    )
    better = ordhc.refine(start, t, objective, restarts=restarts)
    best = score(better)
    assert best >= score(start)
    assert better.names == t.names
    assert better.is_monotone
    for other in moved(better):
        found = ordhc.Dendrogram.from_newick(other)
        if found.names is not None:
            found = found.relabel([int(name) for name in found.names]).with_names(None)
        assert score(found.with_names(t.names)) <= best + 1e-9 * abs(best)


def test_revenue_is_dasguptas_cost_of_adds():
    t, _ = planted(4)
    start = ordhc.cluster(t)
    S = ordhc.similarity(t, dtype="int64")
    for heights in ("sizes", "average"):
        assert ordhc.refine(start, t, heights=heights) == ordhc.refine(start, S, heights=heights)
    q = t.to_quadruplets()
    assert ordhc.refine(start, q) == ordhc.refine(start, t)
    assert ordhc.refine(start, S.astype(float) + 7) == ordhc.refine(start, S)


def test_methods_that_refine():
    t, labels = planted(8, seed=3, sigma=0.15)
    plain = ordhc.cluster(t, method="adds3-al")
    by_name = ordhc.cluster(t, method="adds3-al+spr")
    assert by_name == ordhc.cluster(t, method="adds3-al", refine=True)
    assert by_name == ordhc.cluster(t, method="adds3-al", refine="revenue")
    order = canonical_order(t)
    u = in_order(t, order)
    assert by_name == ordhc.refine(ordhc.cluster(u), u).relabel(order)
    assert plain == ordhc.cluster(t, method="adds3-al+spr", refine=False)
    assert ordhc.score(by_name, t) > ordhc.score(plain, t)
    assert ordhc.metrics.aari(by_name, labels) > ordhc.metrics.aari(plain, labels)
    satisfied = ordhc.cluster(t, method="3-al", refine="satisfied")
    before = ordhc.score(ordhc.cluster(t, method="3-al"), t, "satisfied")
    assert float(ordhc.score(satisfied, t, "satisfied")) > float(before)
    q, _ = planted(4, quadruplets=True)
    refined = ordhc.cluster(q, method="adds4-al+spr")
    assert ordhc.score(refined, q) > ordhc.score(ordhc.cluster(q, method="adds4-al"), q)


def test_trees_of_resamples_are_refined():
    t, _ = planted(4, seed=1)
    b = ordhc.bootstrap(t, method="adds3-al+spr", n_resamples=5)
    times = ordhc._ordhc.draw_times(len(t), None, 0, 2)
    drawn = t[np.repeat(np.arange(len(t)), times)]
    assert b.trees[2] == ordhc.cluster(drawn, method="adds3-al+spr")
    assert b.tree == ordhc.cluster(t, method="adds3-al+spr").with_support(b.tree.support)


def test_cluster_command_refines(tmp_path, capsys):
    t, _ = planted(1)
    ordhc.write_comparisons(t, tmp_path / "t.csv")
    revenue = []
    for refine in ([], ["--refine", "revenue"], ["--method", "adds3-al+spr"]):
        with pytest.raises(SystemExit):
            cli.main(["cluster", str(tmp_path / "t.csv"), "--json", *refine])
        revenue.append(json.loads(capsys.readouterr().out)["revenue"])
    assert revenue[0] < revenue[1] == revenue[2]


def test_vectors_are_refined_by_dasguptas_cost():
    X = np.random.default_rng(0).random(size=(40, 3))
    for similarity, S in (("dot", X @ X.T), ("euclidean", np.sqrt(((X[:, None] - X) ** 2).sum(2)))):
        plain = ordhc.cluster(X, similarity=similarity, linkage="average")
        better = ordhc.cluster(X, similarity=similarity, linkage="average", refine=True)
        assert better.kind == plain.kind
        gain = ordhc.metrics.dasgupta_cost(plain, S) - ordhc.metrics.dasgupta_cost(better, S)
        assert (gain if plain.kind == "similarity" else -gain) > 0
    with pytest.raises(ordhc.InputError, match="refine='revenue' needs comparisons"):
        ordhc.cluster(X, similarity="dot", linkage="average", refine="revenue")
    with pytest.raises(ordhc.InputError, match="needs a matrix"):
        ordhc.cluster(X, similarity="dot", linkage="average", refine=True, memory="vectors")


def test_heights():
    S = np.array([[0, 9, 2, 1], [9, 0, 2, 1], [2, 2, 0, 7], [1, 1, 7, 0]])
    tree = ordhc.refine("((0,2),(1,3));", S, dissimilarity=False, heights="average")
    assert tree.heights.tolist() == [9, 7, 1.5]
    tree = ordhc.refine("((0,2),(1,3));", S, dissimilarity=False)
    assert (tree.kind, tree.heights.tolist()) == ("similarity", [2, 2, 0])
    tree = ordhc.refine("((0,2),(1,3));", 9 - S, heights="average")
    assert (tree.kind, tree.heights.tolist()) == ("dissimilarity", [0, 2, 7.5])
    assert clusters(tree) == {frozenset(s) for s in ([0], [1], [2], [3], [0, 1], [2, 3], range(4))}


def test_initial_clusters_stay():
    t, labels = planted(1, seed=5)
    rng = np.random.default_rng(1)
    groups = labels[:, -1] * 10 + rng.integers(0, 2, t.n_leaves)
    tree = ordhc.cluster(t, method="adds3-al+spr", initial_clusters=groups)
    for group in np.unique(groups):
        assert frozenset(np.flatnonzero(groups == group).tolist()) in clusters(tree)
    with pytest.raises(ordhc.InputError, match="are to stay in one cluster"):
        ordhc.refine(ordhc.cluster(t), t, initial_clusters=rng.integers(0, 3, t.n_leaves))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_leaves(n):
    S = np.arange(n * n).reshape(n, n)
    tree = ordhc.Dendrogram([(0, 1), (2, 3)][: n - 1], [2.0, 1.0][: n - 1], kind="similarity")
    assert ordhc.refine(tree, S + S.T).n_leaves == n


def test_leaves_without_answers_stay_last():
    t, _ = planted(4)
    more = ordhc.Triplets(t.rows, n_leaves=t.n_leaves + 2)
    with pytest.warns(ordhc.OrdhcWarning, match="2 leaves have no answers"):
        tree = ordhc.cluster(more, method="adds3-al+spr")
    assert tree.merges[-2:].tolist() == [[32, 64], [33, 65]]


def test_bad_arguments():
    t, _ = planted(1)
    tree = ordhc.cluster(t)
    for arguments, message in [
        ({"objective": "profit"}, "objective is 'profit', not one of dasgupta, revenue, satisfied"),
        ({"heights": "tall"}, "heights is 'tall'"),
        ({"objective": "satisfied", "heights": "average"}, "'satisfied' has none"),
        ({"restarts": -1}, "restarts = -1 is below 0"),
        ({"max_moves": 1.5}, "max_moves = 1.5 is not a whole number"),
    ]:
        with pytest.raises(ordhc.InputError, match=message):
            ordhc.refine(tree, t, **arguments)
    with pytest.raises(ordhc.InputError, match="the tree has 32 leaves, the comparisons have 33"):
        ordhc.refine(tree, ordhc.Triplets([(0, 1, 32)]))
    with pytest.raises(ordhc.InputError, match="refine is 'spr'"):
        ordhc.cluster(t, refine="spr")
    with pytest.raises(ordhc.InputError, match="has no similarities to refine by"):
        ordhc.cluster(t, method="3-al", refine="dasgupta")
    nan = np.full((32, 32), np.nan)
    with pytest.raises(ordhc.InputError, match="NaN"):
        ordhc.refine(tree, nan)


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


# --- numbers of leaves -----------------------------------------------------------------------


def renumbered(data, number, rng):
    """Leaf i is leaf `number[i]`, rows stand in another order."""
    rows = rng.permutation(len(data))
    weights = None if data.weights is None else data.weights[rows]
    return type(data)(number[data.rows[rows]], data.n_leaves, weights=weights)


def told_apart(data, number, moved):
    """Whether the order that the data give is the same for both numberings: no leaves can be exchanged."""
    order, other = canonical_order(data), canonical_order(moved)
    return np.array_equal(number[order], other)


@given(st.integers(0, 2**32), st.sampled_from([None, "whole", "thirds"]), st.booleans())
@settings(deadline=None, max_examples=25)
def test_searches_do_not_depend_on_numbers_and_rows(seed, weighted, four):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    m = int(rng.integers(1, 60))
    # Few answers, so that many similarities are equal; contradictions; leaves without answers.
    rows = np.array([rng.permutation(n)[: 4 if four else 3] for _ in range(m)])
    weights = {None: None, "whole": rng.integers(0, 4, m) * 1.0, "thirds": rng.integers(1, 4, m) / 3}[
        weighted
    ]
    kind = ordhc.Quadruplets if four else ordhc.Triplets
    data = kind(rows, n, weights=weights)
    number = rng.permutation(n)
    moved = renumbered(data, number, rng)
    assume(told_apart(data, number, moved))
    back = np.argsort(number)
    calls = [
        partial(ordhc.cluster, method="adds4-al+spr"),
        partial(ordhc.cluster, method="4k-al", refine=True),
    ]
    if not four:
        calls += [
            partial(ordhc.cluster, method="adds3-al+spr"),
            partial(ordhc.cluster, method="adds3-al+spr", tie_seed=seed),
            partial(ordhc.cluster, method="consistency"),
            partial(ordhc.cluster, method="mulk3-al", refine="satisfied"),
            partial(ordhc.cluster, method="3-al", refine="revenue"),
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ordhc.OrdhcWarning)
        for call in calls:
            assert call(moved).relabel(back) == call(data), call
        start = ordhc.cluster(data)
    for objective in ("revenue",) if four else ("revenue", "satisfied"):
        refined = ordhc.refine(start, data, objective, seed=seed)
        assert ordhc.refine(start.relabel(number), moved, objective, seed=seed).relabel(back) == refined


@pytest.mark.parametrize("method", ["adds3-al", "mulk3-al", "3-al", "adds4-al", "mulk4-al", "4k-al", "4-al"])
@given(seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=15)
def test_without_ties_no_method_depends_on_numbers(method, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    triplets = [(i, *rest) for i in range(n) for rest in itertools.permutations(set(range(n)) - {i}, 2)]
    data = ordhc.Triplets(triplets, n, weights=rng.random(len(triplets)))
    number = rng.permutation(n)
    moved = renumbered(data, number, rng)
    tree, other = ordhc.cluster(data, method=method), ordhc.cluster(moved, method=method)
    other = other.relabel(np.argsort(number))
    assert clusters(other) == clusters(tree)
    assert np.allclose(other.heights, tree.heights, rtol=1e-9, atol=1e-9)


def test_equal_vectors_and_numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (25, 4)).astype(float)
    number = rng.permutation(25)
    X[3] = X[7]
    Y = X[np.argsort(number)]
    X, Y = np.unique(X, axis=0), np.unique(Y, axis=0)[rng.permutation(len(np.unique(Y, axis=0)))]
    tree, other = (ordhc.cluster(data, method="dot-al", refine=True) for data in (X, Y))
    number = [int(np.flatnonzero(np.all(row == X, axis=1))[0]) for row in Y]
    assert other.relabel(number) == tree


def test_several_numberings_give_one_tree_of_few_answers():
    """As with people's answers on hundreds of leaves: few answers a leaf, many contradictions, many ties."""
    rng = np.random.default_rng(5)
    place = rng.random(80)
    rows = np.array([rng.permutation(80)[:3] for _ in range(1500)])
    noisy = np.abs(place[rows[:, :1]] - place[rows[:, 1:]]) + rng.normal(0, 0.3, (1500, 2))
    rows[noisy[:, 0] > noisy[:, 1], 1:] = rows[noisy[:, 0] > noisy[:, 1]][:, [2, 1]]
    t = ordhc.Triplets(rows, 80)
    for method in ("consistency", "adds3-al+spr", "adds4-al+spr"):
        tree = ordhc.cluster(t, method=method)
        for _ in range(2):
            number = rng.permutation(80)
            moved = renumbered(t, number, rng)
            assert ordhc.cluster(moved, method=method).relabel(np.argsort(number)) == tree


def test_progress_moves_while_subtrees_do():
    t, _ = ordhc.simulate_planted(60_000, levels=3, leaves_per_cluster=80, seed=2)
    for method in ("adds3-al+spr", "consistency"):
        seen = []
        ordhc.cluster(t, method=method, progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1
        assert sum(0.2 < share < 1 for share in seen) >= 2, (method, seen)


def test_ctrl_c_stops_refinement():
    t, _ = planted(1, seed=2)
    tree = ordhc.cluster(t)
    for objective in ("revenue", "satisfied"):
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            ordhc.refine(tree, t, objective, restarts=10**9)
        timer.join()


# --- select ----------------------------------------------------------------------------------


def test_the_better_method_is_chosen():
    t, labels = planted(2, seed=1, sigma=0.3)
    methods = ["mulk3-al", "adds3-al+spr", "adds3-al"]
    found = ordhc.select(t, methods)
    assert found.best == max(
        methods, key=lambda name: ordhc.metrics.aari(ordhc.cluster(t, method=name), labels)
    )
    scores = [c.revenue for c in found.candidates]
    assert scores == sorted(scores, reverse=True)
    again = ordhc.select(t, methods)
    assert [c.revenue for c in again.candidates] == scores
    assert [c.method for c in ordhc.select(t, by="satisfied", folds=2).candidates]
    assert found.to_dict()["best"] in str(found).splitlines()[1]


def test_scores_are_of_answers_not_seen():
    t, _ = planted(2, seed=1)
    (one,) = ordhc.select(t, ["adds3-al"], folds=2, seed=3).candidates
    from ordhc.evaluate.select import parts_of

    part, _ = parts_of(t, 2, 3)
    expected = []
    for fold in range(2):
        tree = ordhc.cluster(t[part != fold])
        unseen = t[part == fold]
        share = float(ordhc.score(tree, unseen, "satisfied"))
        expected.append((ordhc.score(tree, unseen, normalize=True), share))
    assert (one.revenue, one.satisfied) == tuple(np.mean(expected, axis=0))
    assert one.revenue_error == pytest.approx(np.std(expected, axis=0, ddof=1)[0] / np.sqrt(2))


def test_answers_to_one_question_stay_together():
    from ordhc.evaluate.select import parts_of

    rng = np.random.default_rng(0)
    rows = np.array(list(itertools.permutations(range(6), 3)))[rng.integers(0, 120, 400)]
    part, _ = parts_of(ordhc.Triplets(rows), 3, 0)
    question = {}
    for row, of in zip(rows.tolist(), part.tolist(), strict=True):
        assert question.setdefault((row[0], *sorted(row[1:])), of) == of
    assert set(question.values()) == {0, 1, 2}
    rows = np.array(list(itertools.permutations(range(5), 4)))[rng.integers(0, 120, 400)]
    part, _ = parts_of(ordhc.Quadruplets(rows), 3, 0)
    question = {}
    for row, of in zip(rows.tolist(), part.tolist(), strict=True):
        key = frozenset([frozenset(row[:2]), frozenset(row[2:])])
        assert question.setdefault(key, of) == of
    assert set(question.values()) == {0, 1, 2}
    people = rng.integers(0, 7, 400)
    part, _ = parts_of(ordhc.Quadruplets(rows), 3, 0, people)
    assert all(len(set(part[people == person])) == 1 for person in range(7))


def test_what_select_refuses():
    t = ordhc.Triplets([(0, 1, 2), (1, 0, 2), (0, 2, 1)])
    for arguments, message in [
        ({}, "there are 2 different questions for 5 folds"),
        ({"folds": 1}, "folds = 1 is below 2"),
        ({"methods": []}, "give a list of names"),
        ({"methods": ["adds3-al", "adds3-al"]}, "given twice"),
        ({"methods": ["adds"]}, "unknown method 'adds'"),
        ({"by": "aari"}, "by is 'aari'"),
        ({"group": [1, 1, 1]}, "there are 1 groups for 5 folds"),
    ]:
        with pytest.raises(ordhc.InputError, match=message):
            ordhc.select(t, **arguments)
    with pytest.raises(ordhc.InputError, match="not list"):
        ordhc.select([[0, 1, 2]])


def test_compare_command(tmp_path, capsys):
    t, _ = planted(2, sigma=0.3)
    path = tmp_path / "answers.csv"
    np.savetxt(
        path, np.column_stack([t.rows, np.arange(len(t)) % 9]), "%d", ",", header="a,b,c,who", comments=""
    )
    arguments = ["compare", str(path), "--columns", "a,b,c", "--method", "adds3-al", "--method", "mulk3-al"]
    with pytest.raises(SystemExit) as stop:
        cli.main([*arguments, "--group", "who", "--folds", "3"])
    out = capsys.readouterr().out
    assert stop.value.code == 0
    assert "held-out revenue" in out
    assert f"next: ordhc cluster {path} --columns a,b,c --group who --method " in out
    with pytest.raises(SystemExit):
        cli.main([*arguments, "--json"])
    assert json.loads(capsys.readouterr().out)["best"] in ("adds3-al", "mulk3-al")


# --- consistency -----------------------------------------------------------------------------


def test_consistent_triplets_give_the_tree_of_build():
    tree = ordhc.Dendrogram.from_newick("(((0,1),2),((3,4),(5,6)));")
    rows = [
        (i, j, k)
        for i, j, k in itertools.permutations(range(7), 3)
        if tree.lca_size(i, j) < tree.lca_size(i, k)
    ]
    t = ordhc.Triplets(rows)
    assert ordhc.cluster(t, method="consistency") == ordhc.cluster(t, method="build")


def test_inconsistent_triplets_are_satisfied_as_far_as_moves_help():
    t, _ = planted(1, seed=7, levels=2, leaves_per_cluster=5, sigma=0.3)
    with pytest.raises(ordhc.InputError, match="no tree satisfies"):
        ordhc.cluster(t, method="build")
    shares = {
        name: float(ordhc.score(ordhc.cluster(t, method=name), t, "satisfied"))
        for name in ("adds3-al", "adds3-al+spr", "consistency")
    }
    assert shares["adds3-al"] < shares["adds3-al+spr"] <= shares["consistency"]
    groups = np.arange(20) // 2
    tree = ordhc.cluster(t, method="consistency", initial_clusters=groups)
    assert all(frozenset({leaf, leaf + 1}) in clusters(tree) for leaf in range(0, 20, 2))
