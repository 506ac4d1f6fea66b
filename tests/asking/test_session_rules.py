"""Rules that leave people out of a session's analysis, and comparisons whose questions a learner chose."""

import functools
import statistics
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.asking.rules import FEWEST, medians, same_sides
from ordhc.asking.salvage import salvage
from ordhc.cli import group
from ordhc.comparison.rows import changed
from ordhc.errors import InputError, OrdhcWarning, SkippedRowsWarning
from support.few_rounds import with_few_sweeps
from support.processes import run

NAMES = [f"thing {k}" for k in range(9)]


def answered(session, who, n, *, seconds=2.0, place=None):
    """Somebody answers n random questions; `place` is the place on the page, by turns if it is None."""
    for k in range(n):
        asked = session.ask(sampler="random", who=who)
        session.tell(asked.ids, [k % 3], who=who, seconds=[seconds], places=[place or 1 + k % 3])


@pytest.fixture
def session(tmp_path):
    with ordhc.Session(tmp_path / "a.ordhc", NAMES, method="uncertain", budget=100) as made:
        answered(made, "fine", 12)
        answered(made, "fast", 12, seconds=0.2)
        answered(made, "same", 12, place=2)
        answered(made, "few", FEWEST - 1, seconds=0.2, place=2)
        yield made


def test_rules_leave_people_out_everywhere(session):
    assert session.analysed().rules == ()
    assert session.analysed().excluded == {}
    assert session.comparisons().weights is None
    session.set_rules(seconds=0.5, same_side=0.9)
    assert session.analysed().excluded == {"fast": ("too fast: 0.20 s",), "same": ("same place: 100%",)}
    kept = session.comparisons()
    assert set(kept.group_names) == {"fine", "few"}
    assert len(kept) == 2 * (12 + FEWEST - 1)
    assert kept.weights is not None
    assert session.comparisons(weights="equal").weights is None
    assert len(session.comparisons(exclude=())) == 2 * (36 + FEWEST - 1)
    assert set(session.comparisons(exclude=["few"]).group_names) == {"fine", "fast", "same"}
    people = session.people()
    assert people["fast"].seconds == pytest.approx(0.2)
    assert people["same"].same_side == 1
    assert people["fine"].excluded == ()
    by_name = dict(zip(np.array(kept.group_names)[kept.groups], kept.weights, strict=True))
    assert {who: people[who].weight for who in by_name} == pytest.approx(by_name)
    about = session.analysed().about
    assert about["n_people"] == 2
    assert about["n_excluded_answers"] == 24
    assert about["rules"] == [
        "a median response time below 0.5 s",
        "the same place in 90% of the answers or more",
    ]
    with pytest.raises(InputError, match="no person called .* has answered"):
        session.analysed(exclude=["bob"])


def test_rules_are_read_anew_by_others_and_salvaged(session, tmp_path):
    session.set_rules(seconds=0.5, same_side=0.9)
    session.set_rules(same_side=0.9)
    session.set_rules(same_side=0.9)
    path = tmp_path / "a.ordhc"
    with ordhc.Session(path) as other:
        assert list(other.analysed().excluded) == ["same"]
        assert [rules.seconds for rules in other.analysed().rules] == [0.5, None]
    salvage(path, tmp_path / "b.ordhc")
    with ordhc.Session(tmp_path / "b.ordhc") as saved:
        assert saved.analysed().rules == session.analysed().rules
        assert saved.analysed().excluded == session.analysed().excluded


def test_session_info_says_whom_the_rules_leave_out(session, tmp_path, capsys):
    session.set_rules(seconds=0.5)
    code, out, _ = run(capsys, "session", "info", str(tmp_path / "a.ordhc"))
    assert code == 0
    assert "leaves out a median response time below 0.5 s: 1 person" in out


@pytest.mark.parametrize(
    ("wrong", "told"),
    [({"seconds": -1}, "seconds"), ({"same_side": 1.5}, "same_side"), ({"failed_gold": "x"}, "failed_gold")],
)
def test_rules_that_cannot_be(session, wrong, told):
    with pytest.raises(InputError, match=told):
        session.set_rules(**wrong)


def test_places_that_cannot_be(session):
    asked = session.ask(sampler="random", who="new")
    for places in ([-1], [1, 2], [0.5]):
        with pytest.raises(InputError, match="places"):
            session.tell(asked.ids, [0], who="new", places=places)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.floats(0, 9) | st.just(float("nan")), st.integers(0, 3)), max_size=40
    )
)
def test_medians_and_places_are_those_written_out(rows):
    who = np.array([row[0] for row in rows], dtype=np.int64)
    seconds, n_timed = medians(who, np.array([row[1] for row in rows]), 4)
    shares, n_placed = same_sides(who, np.array([row[2] for row in rows], dtype=np.int64), 4)
    for person in range(4):
        times = [row[1] for row in rows if row[0] == person and row[1] == row[1]]
        places = [row[2] for row in rows if row[0] == person and row[2]]
        assert n_timed[person] == len(times)
        assert n_placed[person] == len(places)
        if times:
            assert seconds[person] == pytest.approx(statistics.median(times))
        if places:
            assert shares[person] == pytest.approx(max(Counter(places).values()) / len(places))


@functools.cache
def chosen(seed=0, n=24, budget=250):
    """Answers to questions that a learner chose, of people who are right 85 % of the time."""
    groups = [
        ",".join(f"({6 * g + 3 * h},{6 * g + 3 * h + 1},{6 * g + 3 * h + 2})" for h in range(2))
        for g in range(4)
    ]
    truth = ordhc.as_dendrogram(f"((({groups[0]}),({groups[1]})),(({groups[2]}),({groups[3]})));")
    oracle = ordhc.oracles.noisy(ordhc.oracles.from_tree(truth), p=0.85, seed=seed)
    recorded = ordhc.oracles.Recording(oracle)
    ordhc.learn(recorded, learner=ordhc.Learner(n, "uncertain", seed=seed, budget=budget))
    return recorded.comparisons(n, adaptive=True)


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "npz"])
@pytest.mark.parametrize("adaptive", [True, False])
def test_files_say_that_a_learner_chose(tmp_path, ending, adaptive):
    made = ordhc.Triplets([(0, 1, 2), (1, 0, 2)], answers=[0, 0], groups=["ann", "ann"], adaptive=adaptive)
    ordhc.write_comparisons(made, tmp_path / f"a.{ending}")
    assert ordhc.read_answers(tmp_path / f"a.{ending}") == made
    assert made[:1].adaptive is made.to_quadruplets().adaptive is adaptive


@pytest.mark.parametrize(("word", "adaptive"), [("learner", True), ("Uncertain", True), ("random", False)])
def test_the_column_of_samplers_is_read_by_every_way(tmp_path, word, adaptive):
    path = tmp_path / "a.csv"
    path.write_text(f"anchor,near,far,sampler\na,b,c,{word}\nb,a,c,heldout\n")
    assert ordhc.read_answers(path).adaptive is adaptive
    with pytest.warns(SkippedRowsWarning, match="sampler = heldout"):
        assert ordhc.read_answers(path, exclude={"sampler": "heldout"}).adaptive is adaptive
    columns = {"anchor": ["a"], "near": ["b"], "far": ["c"], "sampler": [word]}
    assert ordhc.Triplets(columns).adaptive is adaptive
    assert ordhc.Triplets.from_frame(columns).adaptive is adaptive
    path.write_text(f"odd,a,b,sampler\nx,y,z,{word}\ny,x,z,gold\n")
    assert ordhc.read_answers(path, "odd-one-out").adaptive is adaptive


@pytest.mark.filterwarnings("ignore:the chains have not mixed")
def test_the_default_is_right_where_a_learner_chose_and_others_warn(monkeypatch):
    data = chosen()
    tree = ordhc.cluster(data)
    assert tree.settings["method"] == "posterior-al"
    assert ordhc.metrics.ari(tree.cut(4), np.repeat(np.arange(4), 6)) == 1
    with pytest.warns(OrdhcWarning, match="posterior-al"):
        ordhc.cluster(data, method="adds3-al")
    with_few_sweeps(monkeypatch)
    # AddS is as biased if nobody says that a learner chose the questions, but is not the default.
    assert ordhc.cluster(changed(data, adaptive=False)).settings["method"] == "posterior-al"


@pytest.mark.filterwarnings("ignore:the chains have not mixed")
def test_select_scores_on_what_is_held_out_and_prefers_the_posterior(monkeypatch):
    with_few_sweeps(monkeypatch)
    data = chosen()
    apart, _ = ordhc.datasets.planted(200, levels=2, leaves_per_cluster=6, seed=1)
    methods = ["adds3-al", "posterior-al"]
    plain = ordhc.select(data, methods, folds=2)
    assert plain.best == "posterior-al"
    assert not plain.on_random
    found = ordhc.select(data, methods, folds=2, heldout=apart)
    assert found.on_random
    assert "scored on the held-out answers to random questions" in str(found)
    # Held-out answers that contradict the data: their own scores count, whatever the folds of the data say.
    tree = ordhc.cluster(data, method="posterior-al")
    agreed = ordhc.metrics.satisfied(tree, apart).agreed
    by_name = {each.method: each for each in found.candidates}
    assert by_name["posterior-al"].satisfied == pytest.approx(agreed, abs=0.15)
    with pytest.raises(InputError, match="must have the same leaves"):
        ordhc.select(data, methods, heldout=ordhc.Triplets([(0, 1, 2)], n_leaves=30))


@pytest.mark.parametrize(
    ("method", "width", "none", "reason"),
    [
        ("uncertain", 3, -1, "answers that no item is the odd one out"),
        ("single", 4, 0, "answers that neither pair is closer"),
    ],
)
def test_answers_that_name_none_are_told(tmp_path, method, width, none, reason):
    path = tmp_path / "a.ordhc"
    rows = np.array([np.random.default_rng(seed).permutation(6)[:width] for seed in range(40)])
    answers = np.where(np.arange(40) % 5 == 0, none, 1)
    with ordhc.Session(path, list("abcdef"), method=method) as session:
        session.add_answers(rows, answers, who="ann")
        about = session.analysed().about
        assert (about["n_answers"], about["n_none"]) == (40, 8)
        only = ["adds3-al" if width == 3 else "4-sl"]
        report = ordhc.report(session, methods=only, n_resamples=0, structure=False)
        with pytest.raises(InputError, match=r"session\.analysed\(\)\.comparisons"):
            ordhc.cluster(session)
    assert report.numbers["data"]["left_out"] == {reason: 8}
    found = CliRunner().invoke(group, ["cluster", str(path), "-o", str(tmp_path / "tree.nwk")])
    assert "40 answers of 1 person, 8 of which name none" in found.output
