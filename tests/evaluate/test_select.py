"""Choosing methods by answers held out."""

import itertools
import json

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.estimator import OrdinalClustering
from ordhc.evaluate.trials import parts_of
from support.few_rounds import with_few_sweeps
from support.processes import run
from support.random_data import planted


def test_the_better_method_is_chosen(monkeypatch):
    with_few_sweeps(monkeypatch)
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
    assert [c.method for c in ordhc.select(t[:300], by="satisfied", folds=2).candidates]
    assert found.to_dict()["best"] in str(found).splitlines()[1]


@pytest.mark.parametrize(("seconds", "is_drawn"), [(19.0, True), (21.0, False)])
@pytest.mark.filterwarnings("ignore:the chains have not mixed")
def test_one_rule_says_where_trees_are_drawn(monkeypatch, seconds, is_drawn):
    with_few_sweeps(monkeypatch)
    t, _ = planted(2, seed=1, leaves_per_cluster=4)
    monkeypatch.setattr("ordhc.clustering.plan.seconds_of", lambda data, *_: seconds)
    monkeypatch.setattr("ordhc.evaluate.select.DEFAULT_METHODS", {(ordhc.Triplets, "revenue"): ("adds3-al",)})
    compared = {candidate.method for candidate in ordhc.select(t, folds=2).candidates}
    assert ("posterior-al" in compared) == is_drawn
    expected = "posterior-al" if is_drawn else "adds3-al+spr"
    assert ordhc.cluster(t).settings["method"] == expected
    assert OrdinalClustering().fit(t).dendrogram_ == ordhc.cluster(t)
    # Where many trees are made, where nothing fits a posterior, and with its own settings.
    assert ordhc.bootstrap(t, n_resamples=2).tree.settings["method"] == "adds3-al+spr"
    begun = ordhc.cluster(t, initial_clusters=np.arange(t.n_leaves))
    assert begun.settings["method"] == "adds3-al+spr"
    if is_drawn:
        made = ordhc.cluster(t, sweeps=5).settings
        assert (made["method"], made["linkage_parameters"]["sweeps"]) == ("posterior-al", 5)


@pytest.mark.filterwarnings("ignore:the chains have not mixed")
def test_every_part_takes_the_same_method(tmp_path, capsys, monkeypatch):
    with_few_sweeps(monkeypatch)
    t, _ = planted(2, seed=3, leaves_per_cluster=6)
    path = tmp_path / "answers.csv"
    ordhc.write_comparisons(t, path)
    written = tmp_path / "tree.json"
    assert run(capsys, "cluster", path, "-o", written, "-q")[0] == 0
    tree = ordhc.read_tree(written)
    assert tree.settings["method"] == "posterior-al"
    clustered = ordhc.cluster(t)
    np.testing.assert_array_equal(tree.merges, clustered.merges)
    methods = ["adds3-al+spr", "posterior-al"]
    assert ordhc.select(t, methods, folds=2).best == "posterior-al"
    report = ordhc.report(t, methods=methods, folds=2, structure=False)
    assert report.numbers["method"]["name"] == "posterior-al"
    assert report.tree.replace(support=None) == clustered


def test_time_grows_with_leaves_and_answers():
    from ordhc.clustering.sampling import seconds_of

    def of(n, m, rows=1):
        data = np.random.default_rng(0).random((m, n)).argsort(axis=1)[:, :3]
        answers = np.arange(m) // rows
        return seconds_of(ordhc.Triplets(data, n_leaves=n, answers=answers))

    assert of(20, 500) < of(20, 20_000) < of(200, 20_000)
    # Choices take longer than triplets, and many leaves take long even with few answers.
    assert of(60, 5000, 2) > 2 * of(60, 5000)
    assert of(1000, 4000) > 30 > 5 > of(100, 4000)


def test_scores_are_of_answers_not_seen():
    t, _ = planted(2, seed=1)
    (one,) = ordhc.select(t, ["adds3-al"], folds=2, seed=3).candidates
    part, _ = parts_of(t, 2, 3)
    revenue, agreed = 0, 0
    for fold in range(2):
        tree = ordhc.cluster(t[part != fold], method="adds3-al")
        unseen = t[part == fold]
        revenue += ordhc.score(tree, unseen)
        agreed += round(float(ordhc.score(tree, unseen, "satisfied")) * len(unseen))
    assert one.revenue == pytest.approx(revenue / (len(t) * (t.n_leaves - 2)))
    assert one.satisfied == pytest.approx(agreed / len(t))
    # Two folds have no pairs to tell how trees vary.
    assert np.isnan([one.revenue_low, one.satisfied_high]).all()


@pytest.mark.parametrize(("make", "width"), [(ordhc.Triplets, 3), (ordhc.Quadruplets, 4)])
def test_answers_to_one_question_stay_together(make, width):
    rng = np.random.default_rng(0)
    rows = np.array(list(itertools.permutations(range(9 - width), width)))[rng.integers(0, 120, 400)]
    part, _ = parts_of(make(rows), 3, 0)
    fold_of = {}
    for row, fold in zip(rows.tolist(), part.tolist(), strict=True):
        pairs = (row[:2], (row[0], row[2])) if width == 3 else (row[:2], row[2:])
        assert fold_of.setdefault(frozenset(map(frozenset, pairs)), fold) == fold
    assert set(fold_of.values()) == {0, 1, 2}


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
        with pytest.raises(InputError, match=message):
            ordhc.select(t, **arguments)
    with pytest.raises(InputError, match="not list"):
        ordhc.select([[0, 1, 2]])


def test_compare_command(tmp_path, capsys):
    t, _ = planted(2, sigma=0.3)
    path = tmp_path / "answers.csv"
    np.savetxt(
        path, np.column_stack([t.rows, np.arange(len(t)) % 9]), "%d", ",", header="a,b,c,who", comments=""
    )
    arguments = ["compare", str(path), "--items", "a,b,c", "--method", "adds3-al", "--method", "mulk3-al"]
    code, out, _ = run(capsys, *arguments, "--person", "who", "--folds", "3")
    assert code == 0
    assert "held-out revenue" in out
    assert f"next: ordhc cluster {path} --items a,b,c --person who --method " in out
    assert json.loads(run(capsys, *arguments, "--json")[1])["best"] in ("adds3-al", "mulk3-al")


def test_a_preferred_method_is_the_best_unless_it_is_clearly_worse():
    t, _ = ordhc.datasets.planted(2_000, levels=2, leaves_per_cluster=6, sigma=0.3, seed=1)
    methods = ["adds3-al", "adds3-al+spr", "mulk3-al"]
    found = ordhc.select(t, methods)
    assert (found.best, found.clearly_worse, found.preferred) == ("adds3-al", ("mulk3-al",), None)
    preferred = ordhc.select(t, methods, prefer="adds3-al+spr")
    assert preferred.best == preferred.to_dict()["preferred"] == "adds3-al+spr"
    assert "adds3-al+spr is preferred unless it is clearly worse" in str(preferred)
    assert ordhc.select(t, methods, prefer="mulk3-al").best == "adds3-al"
    with pytest.raises(InputError, match="nope"):
        ordhc.select(t, methods, prefer="nope")
