"""How sure a tree is: bootstrap, support, consensus, intervals, satisfied comparisons."""

import json
import math
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import _ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.testing import strategies
from support.answers import of_people
from support.processes import run
from support.trees import clusters_of

PLANTED, LABELS = ordhc.datasets.planted(900, levels=2, leaves_per_cluster=4, sigma=0.03, seed=1)


def test_support_is_the_share_of_resamples_with_the_cluster():
    b = ordhc.bootstrap(PLANTED, n_resamples=40, seed=3)
    assert b.tree.replace(support=None) == ordhc.cluster(PLANTED, method="adds3-al+spr")
    having = [set(clusters_of(tree)) for tree in b.trees]
    for cluster, share in zip(clusters_of(b.tree), b.support, strict=True):
        assert share == sum(cluster in clusters for clusters in having) / 40
    assert b.support[-1] == 1.0
    assert 0 < b.support.min() < 1
    assert "40 resamples" in repr(b)


def test_the_consensus_has_the_clusters_of_more_than_half():
    b = ordhc.bootstrap(PLANTED, n_resamples=31, seed=4)
    having = [set(clusters_of(tree)) for tree in b.trees]
    common = {cluster for clusters in having for cluster in clusters}
    common = {cluster for cluster in common if sum(cluster in clusters for clusters in having) > 15.5}
    nodes = zip(clusters_of(b.consensus), b.consensus.support, strict=True)
    assert {cluster for cluster, share in nodes if not math.isnan(share)} == common
    # The planted clusters are sure, what is within them isn't.
    truth = [frozenset(np.flatnonzero(LABELS[:, -1] == c).tolist()) for c in range(4)]
    assert set(truth) <= common


@pytest.mark.parametrize("quadruplets", [False, True])
def test_counting_in_the_engine_equals_one_by_one(quadruplets, monkeypatch):
    data = PLANTED.to_quadruplets() if quadruplets else PLANTED
    for group in (None, np.arange(len(data)) % 7):
        for options in ({}, {"linkage": "single"}):
            fast = ordhc.bootstrap(data, n_resamples=10, seed=5, group=group, **options)
            with monkeypatch.context() as patch:
                patch.setattr("ordhc.evaluate.resampling.Resampling.is_additive", False)
                slow = ordhc.bootstrap(data, n_resamples=10, seed=5, group=group, **options)
            assert fast.trees == slow.trees
            assert np.array_equal(fast.support, slow.support)
            for name in ("revenue", "satisfied", "held_out"):
                assert np.allclose(fast.scores[name], slow.scores[name], equal_nan=True)


@settings(max_examples=30, deadline=None)
@given(strategies.triplets(weighted=True), st.integers(0, 99))
def test_any_answers_can_be_resampled(data, seed):
    if not len(data):
        with pytest.raises(InputError, match="no answers to resample"):
            ordhc.bootstrap(data)
        return
    b = ordhc.bootstrap(data, n_resamples=5, seed=seed)
    assert len(b.trees) == 5
    assert all(tree.n_leaves == data.n_leaves for tree in b.trees)
    assert b.consensus.n_leaves == data.n_leaves
    assert ((b.support >= 0) & (b.support <= 1)).all()


@pytest.mark.parametrize("method", ["mulk3-al", "3-al", "4k-al", "4-al"])
def test_other_methods(method):
    b = ordhc.bootstrap(PLANTED, method=method, n_resamples=4, seed=1)
    again = ordhc.bootstrap(PLANTED, method=method, n_resamples=4, seed=1)
    assert b.trees == again.trees
    assert b.tree.replace(support=None) == ordhc.cluster(PLANTED, method=method)


def test_settings_and_initial_clusters():
    start = LABELS[:, -1]
    b = ordhc.bootstrap(PLANTED, method="mulk3-al", normalize=False, initial_clusters=start, n_resamples=4)
    assert np.array_equal(b.tree.cut(4), ordhc.Dendrogram.cut(b.trees[0], 4))
    tree = ordhc.cluster(PLANTED, linkage="single")
    assert ordhc.bootstrap(PLANTED, n_resamples=3, tree=tree).tree.replace(support=None) == tree


def test_whole_groups_are_drawn():
    who = ["ann", "bob", "cid"]
    t = ordhc.Triplets([(0, 1, 2)] * 4 + [(0, 2, 1)] * 3 + [(1, 2, 0)] * 2)
    group = np.repeat(who, [4, 3, 2])
    times = [_ordhc.draw_times(9, np.repeat([0, 1, 2], [4, 3, 2]), 0, index) for index in range(50)]
    for drawn in times:
        assert len(set(drawn[:4])) == len(set(drawn[4:7])) == len(set(drawn[7:])) == 1
        assert drawn[0] + drawn[4] + drawn[7] == 3
    assert len({tuple(drawn) for drawn in times}) > 5
    b = ordhc.bootstrap(t, group=group, n_resamples=50, seed=0)
    revenue = [
        ordhc.score(b.tree.replace(support=None), t[np.repeat(np.arange(9), drawn)]) for drawn in times
    ]
    assert b.scores["revenue"].tolist() == revenue


def test_whole_answers_have_an_interval():
    t = of_people(n_people=12, m=40, careless=2)
    b = ordhc.bootstrap(t, method="adds3-al", n_resamples=20, seed=4)
    units = t.groups
    shares, satisfied = [], []
    for at, tree in enumerate(b.trees):
        left = ordhc._ordhc.draw_times(len(t), units.astype(np.int64), 4, at) == 0
        shares.append(ordhc.metrics.answer_accuracy(tree, t[left]))
        satisfied.append(ordhc.metrics.satisfied(tree, t[left]).agreed)
    found = b.intervals["answers"]
    assert found.estimate == pytest.approx(np.mean(shares))
    assert found.low < found.estimate < found.high
    assert b.answers_chance == pytest.approx(1 / 3)
    # Trees of two children at each node leave no odd one open: both shares are the same.
    assert found.estimate == pytest.approx(np.mean(satisfied))
    assert found.low == pytest.approx(b.intervals["held_out"].low)
    # A tree leaves a third of the triplets open. Each of these counts one half.
    plain = ordhc.bootstrap(PLANTED, n_resamples=20).intervals
    assert plain["answers"].estimate > plain["held_out"].estimate + 0.1


def test_only_held_out_scores_have_intervals():
    b = ordhc.bootstrap(PLANTED, n_resamples=60, seed=0)
    assert set(b.intervals) == {"held_out", "answers"}
    found = b.intervals["held_out"]
    assert found.estimate == pytest.approx(b.scores["held_out"].mean())
    assert found.low < found.estimate < found.high
    assert (
        ordhc.bootstrap(PLANTED, n_resamples=60, seed=0, confidence=0.5).intervals["held_out"].low > found.low
    )
    train, test = PLANTED.split(0.63, seed=2)
    held_out = float(ordhc.score(ordhc.cluster(train, method="adds3-al+spr"), test, "satisfied"))
    assert abs(found.estimate - held_out) < 0.05
    # Too few resamples, or people, tell nothing.
    assert np.isnan(ordhc.bootstrap(PLANTED, n_resamples=9).intervals["held_out"].low)
    four = np.arange(len(PLANTED)) % 4
    assert np.isnan(ordhc.bootstrap(PLANTED, n_resamples=20, group=four).intervals["held_out"].low)


def test_the_interval_of_people_is_wider_than_that_of_answers():
    t = of_people(n_people=12, m=40, careless=5)
    people, answers = (
        ordhc.bootstrap(t, method="adds3-al", n_resamples=60, unit=unit).intervals["held_out"]
        for unit in ("group", "answer")
    )
    assert people.high - people.low > 1.5 * (answers.high - answers.low)


@pytest.mark.slow
def test_the_held_out_interval_holds_what_resamples_reach():
    """Nine in ten studies of the same tree have the mean over studies in their intervals."""
    everything, _ = ordhc.datasets.planted(14_000, levels=2, leaves_per_cluster=8, sigma=0.3, seed=1)
    found = []
    for seed in range(150):
        rows = np.random.default_rng(seed).integers(0, len(everything), 300)
        b = ordhc.bootstrap(
            everything[rows], method="adds3-al", n_resamples=50, seed=seed, confidence=0.9, unit="answer"
        )
        found.append(b.intervals["held_out"])
    truth = np.mean([each.estimate for each in found])
    held = sum(each.low <= truth <= each.high for each in found)
    # Three standard deviations of 150 draws, and the intervals are rather too wide.
    assert 135 - 12 <= held < 150


def test_leaves_without_answers_in_a_resample_are_last():
    t = ordhc.Triplets([(0, 1, 2), (0, 1, 2), (3, 1, 2)], n_leaves=5)
    b = ordhc.bootstrap(t, n_resamples=30, seed=1)
    assert b.unanswered.tolist() == [4]
    assert all(4 in tree.merges[-1] for tree in b.trees)
    without_3 = [tree for tree in b.trees if 3 in tree.merges[-2]]
    assert without_3


def test_progress_and_its_errors():
    told = []
    ordhc.bootstrap(PLANTED, method="mulk3-al", n_resamples=5, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
    assert len({share for share in told if share < 1}) >= 2
    told.clear()
    ordhc.bootstrap(PLANTED, n_resamples=5, progress=told.append)
    assert told[-1] == 1.0

    def stop(_):
        raise KeyboardInterrupt

    for method in ("mulk3-al", "adds3-al"):
        with pytest.raises(KeyboardInterrupt):
            ordhc.bootstrap(PLANTED, method=method, n_resamples=50, progress=stop)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_resamples": 0}, "n_resamples = 0 is below 1"),
        ({"n_resamples": 2.5}, "not a whole number"),
        ({"seed": -1}, "seed = -1 is below 0"),
        ({"confidence": 1.0}, "confidence = 1.0 is outside"),
        ({"group": [1, 2]}, r"group has shape \(2,\)"),
        ({"method": "adds"}, "unknown method"),
        ({"sigma": 3}, "no parameter 'sigma'"),
        ({"tree": ordhc.Dendrogram([(0, 1)], [1.0])}, "the tree has 2 leaves"),
    ],
)
def test_bad_input(options, text):
    with pytest.raises(InputError, match=text):
        ordhc.bootstrap(PLANTED, **options)


def test_not_comparisons():
    with pytest.raises(InputError, match="list is neither Triplets nor Quadruplets"):
        ordhc.bootstrap([(0, 1, 2)])
    nan = np.zeros(len(PLANTED))
    nan[5] = np.nan
    with pytest.raises(InputError, match=r"group\[5\] = nan is not a whole number"):
        ordhc.bootstrap(PLANTED, group=nan)


# --- support of a dendrogram -----------------------------------------------------------------


def test_support_is_kept_and_written():
    d = ordhc.Dendrogram.from_parents(
        [4, 4, 5, 5, 5, -1], heights=[1.0, 2.0], names=list("abcd"), support=[0.905, 1]
    )
    assert d.to_newick() == "(c:1,d:1,(a:0.5,b:0.5)90.5:0.5)100;"
    assert ordhc.Dendrogram.from_newick(d.to_newick()).heights.tolist() == [1.0, 2.0]
    for copy in (
        ordhc.as_dendrogram(json.loads(json.dumps(d.to_dict()))),
        pickle.loads(pickle.dumps(d)),
    ):
        assert copy == d
    assert d.relabel([3, 2, 1, 0]).support[0] == 0.905
    assert d.replace(names=None).support[0] == 0.905
    assert d != d.replace(support=None)
    assert d.replace(support=None).support is None
    with pytest.raises(ValueError, match="read-only"):
        d.support[0] = 0
    with pytest.raises(InputError, match=r"support\[1\] is 1.5"):
        d.replace(support=[0, 1.5])
    with pytest.raises(InputError, match="shape"):
        d.replace(support=[0, 1, 1])


def test_support_is_drawn():
    d = ordhc.Dendrogram([(0, 1), (2, 4), (3, 5)], [1.0, 2.0, 2.0], support=[0.905, np.nan, 1])
    for orientation in ("right", "top"):
        texts = [text.get_text() for text in d.plot(orientation=orientation).texts]
        assert texts == ["90"]
    assert not d.plot(support=False).texts


# --- the command line ------------------------------------------------------------------------


@pytest.fixture
def answers(tmp_path):
    rows = ["anchor,near,far,who"]
    for at, (i, j, k) in enumerate(PLANTED.rows[:400].tolist()):
        rows.append(f"leaf{i},leaf{j},leaf{k},person{at % 5}")
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_cluster_with_bootstrap(answers, tmp_path, capsys):
    tree, consensus = tmp_path / "t.nwk", tmp_path / "c.nwk"
    code, out, err = run(
        capsys, "cluster", answers, "--bootstrap", 20, "--seed", 1, "-o", tree, "--consensus", consensus
    )
    assert (code, err) == (0, "")
    assert "14 clusters in at least half of 20 resamples" in out
    assert "share of held-out answers satisfied: 0." in out
    assert "share of held-out answers predicted: 0." in out
    assert tree.read_text().endswith(")100;\n")
    assert consensus.read_text().count("(") < tree.read_text().count("(")
    code, out, _ = run(capsys, "cluster", answers, "--bootstrap", 20, "--person", "who", "--json")
    found = json.loads(out)
    assert len(found["tree"]["support"]) == 15
    assert found["bootstrap"]["n_resamples"] == 20
    assert set(found["bootstrap"]["scores"]) == {"held_out", "answers"}


def test_cluster_from_initial_clusters(answers, tmp_path, capsys):
    labels, again = tmp_path / "l.csv", tmp_path / "again.csv"
    assert run(capsys, "cluster", answers, "--n-clusters", 4, "--labels", labels)[0] == 0
    for method in ("mulk3-al", "3-al"):
        arguments = ("--initial", labels, "--n-clusters", 4, "--labels", again, "--method", method)
        assert run(capsys, "cluster", answers, *arguments)[0] == 0
        assert again.read_text() == labels.read_text()
    labels.write_text("leaf,cluster\n0,a\nnobody,b\n")
    code, _, err = run(capsys, "cluster", answers, "--initial", labels)
    assert code == 2
    assert "l.csv:3: there is no leaf 'nobody'" in err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--unit", "group"], "need --bootstrap"),
        (["--bootstrap", "0"], "below 1"),
        (["--bootstrap", "5", "--person", "whom"], "no column 'whom'; there are anchor, near, far, who"),
        (["--method", "4-sl"], "not complete"),
        (["--method", "build"], "no tree satisfies these"),
    ],
)
def test_bad_options(answers, capsys, arguments, text):
    code, _, err = run(capsys, "cluster", answers, *arguments)
    assert code == 2
    assert text in err
    assert err.count("\n") <= 3


@pytest.mark.parametrize("executor", [None, "threads"])
def test_only_the_tree_of_all_answers_warns_of_its_chains(monkeypatch, executor):
    monkeypatch.setattr("ordhc.clustering.mixing.MIXED", 0.5)
    t, _ = ordhc.datasets.planted(60, levels=1, leaves_per_cluster=3, seed=1)
    method = ("posterior-al", {"sweeps": 30})
    with ThreadPoolExecutor(2) as pool, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ordhc.bootstrap(t, method=method, n_resamples=8, executor=pool if executor else None)
    assert sum("the chains have not mixed" in str(each.message) for each in seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ordhc.select(t, [method, "adds3-al"], folds=3)
    with pytest.warns(OrdhcWarning, match="the chains have not mixed"):
        ordhc.cluster(t, method=method)
