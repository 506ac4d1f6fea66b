"""Sessions lose nothing."""

import json
import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import oracles
from ordhc.cli import group
from ordhc.errors import InputError
from support.learners import by_settings
from support.processes import TESTS
from support.random_data import random_tree
from support.sessions import NAMES, ORACLE, TRUTH, answer, answers_of
from support.trees import same


def test_a_session_is_reopened_at_any_moment(tmp_path):
    for kind in ({}, {"schedule": "rounds"}, {"parallel": 3}, {"method": "quick"}, {"repeat": 3}):
        path = tmp_path / f"{'-'.join(kind)}.ordhc"
        steps = 0
        while True:
            with ordhc.Session(path, NAMES, **by_settings(**kind)) as session:
                if session.done:
                    break
                before = session.status.n_answered
                steps += answer(session, 1 + steps % 3)
                assert session.status.n_answered > before
        with ordhc.Session(path) as session:
            assert same(session.tree(), TRUTH)
            assert session.tree().names == tuple(NAMES)
            assert session.status.n_answered == steps
            assert {**session.settings, **kind} == session.settings
            rows, answers, who = answers_of(session)
            assert np.array_equal(ORACLE(rows), answers)
            assert who == [None] * steps
            assert ordhc.metrics.satisfied(TRUTH.replace(names=NAMES), session.comparisons()).agreed == 1


def test_a_reopened_session_goes_on_where_it_was(tmp_path):
    with ordhc.Session(
        tmp_path / "a", n_leaves=30, seed=5, method=ordhc.learners.Insertion(parallel=4)
    ) as session:
        truth = random_tree(30)
        for limit in (3, 1, 8, 2, 5):
            questions = session.ask(limit)
            session.tell(questions.ids[1:], oracles.from_tree(truth)(questions.rows[1:]))
        left = session.ask(100)
        with ordhc.Session(tmp_path / "a") as again:
            found = again.ask(100)
            assert dict(found) == dict(left)
            assert again.tree() == session.tree()
            assert again.status.remaining == session.status.remaining
            assert repr(again) == repr(session)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_taking_back_and_importing(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("s") / "a.ordhc"
    kind = data.draw(st.sampled_from([{}, {"schedule": "balanced"}, {"parallel": 2}]))
    session = ordhc.Session(path, NAMES, **by_settings(**kind))
    count = 0
    for _ in range(data.draw(st.integers(1, 25))):
        what = data.draw(st.sampled_from(["answer", "answer", "wrong", "undo", "import", "reopen"]))
        if what in ("answer", "wrong") and not session.done:
            questions = session.ask(data.draw(st.integers(1, 3)))
            given_answers = ORACLE(questions.rows)
            session.tell(questions.ids, (given_answers + 1) % 3 if what == "wrong" else given_answers)
            count += len(questions)
        elif what == "undo":
            count -= session.undo() is not None
        elif what == "import":
            rows = np.array([data.draw(st.permutations(range(7)))[:3]])
            session.add_answers(rows, ORACLE(rows), who="old")
            count += 1
        elif what == "reopen":
            state = (dict(session.ask(None)), session.tree(), session.status.n_placed)
            session.close()
            session = ordhc.Session(path)
            assert (dict(session.ask(None)), session.tree(), session.status.n_placed) == state
        assert session.status.n_answered == count
    while session.undo() is not None:
        pass
    while not session.done:
        answer(session, 2)
    assert same(session.tree(), TRUTH)
    session.close()


def test_import_is_a_warm_start(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES) as session:
        while not session.done:
            answer(session)
        rows, answers, _ = answers_of(session)
    with ordhc.Session(tmp_path / "b", NAMES) as warm:
        turned = rows[:, [2, 0, 1]]
        warm.add_answers(turned, ORACLE(turned), who="ann")
        assert warm.done
        assert same(warm.tree(), TRUTH)
        assert answers_of(warm)[2] == ["ann"] * len(answers)
        for bad, text in [
            (([[0, 1, 1]], [0]), "row 0: .* are not three"),
            (([[0, 1, 9]], [0]), "row 0"),
            (([[0, 1, 2]], [7]), "row 0: the answer is 7"),
            (([[0, 1]], [0]), r"not \(m,\) and \(m, 3\)"),
        ]:
            with pytest.raises(InputError, match=text):
                warm.add_answers(*bad)
        assert warm.status.n_answered == len(answers)


def test_undo_of_a_person(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES, method=ordhc.learners.Insertion(schedule="rounds")) as session:
        assert session.undo() is None
        answer(session, 2, who="ann")
        answer(session, 1, who="bob")
        assert session.undo("eve") is None
        taken = session.undo("ann")
        assert taken is not None
        assert answers_of(session)[2] == ["ann", "bob"]


def test_leases_keep_questions_until_they_expire(tmp_path):
    with (
        ordhc.Session(tmp_path / "a", NAMES, method=ordhc.learners.Insertion(schedule="rounds")) as one,
        ordhc.Session(tmp_path / "a") as two,
    ):
        now = [1000.0]
        one._contents.now = two._contents.now = lambda: now[0]
        mine = one.ask(2, who="ann", lease=60)
        theirs = two.ask(2, who="bob", lease=60)
        assert len(mine) == len(theirs) == 2
        assert not set(mine.ids) & set(theirs.ids)
        assert dict(one.ask(2, who="ann", lease=60)) == dict(mine)
        now[0] = 1059.9
        assert not set(mine.ids) & set(two.ask(50, who="bob", lease=60).ids)
        now[0] = 1060.0
        assert set(mine.ids) <= set(two.ask(50, who="bob", lease=60).ids)
        # Now they are Bob's, until he gives them back.
        assert not set(mine.ids) & set(one.ask(50, who="ann", lease=60).ids)
        two.release(mine.ids)
        assert set(mine.ids) <= set(one.ask(50, who="ann", lease=60).ids)


def test_what_cannot_be_told_is_explained(tmp_path):
    with (
        ordhc.Session(tmp_path / "a", NAMES, method=ordhc.learners.Insertion(schedule="rounds")) as one,
        ordhc.Session(tmp_path / "a") as two,
    ):
        mine = one.ask(2, who="ann", lease=60)
        one.tell(mine.ids[:1], ORACLE(mine.rows[:1]), who="ann")
        assert two.tell([1000], [0]) == ["foreign"]
        with pytest.raises(InputError, match="outside -1..2"):
            two.tell(mine.ids[1:], [5])
        with pytest.raises(InputError, match="lease = -1"):
            two.ask(1, lease=-1)
        assert two.status.n_answered == one.status.n_answered == 1


WORKER = """
import json, sys
import ordhc
from ordhc import oracles
from support.random_data import random_tree

path, name = sys.argv[1:]
oracle = oracles.from_tree(random_tree(60, 3))
with ordhc.Session(path) as session:
    questions = session.ask(5, who=name, lease=300)
    print(json.dumps(questions.ids.tolist()), flush=True)
    sys.stdin.readline()
    told = 0
    while True:
        session.tell(questions.ids, oracle(questions.rows), who=name)
        told += len(questions)
        if session.done:
            break
        questions = session.ask(5, who=name, lease=300)
    print(told)
"""


@pytest.mark.slow
def test_several_processes_at_once(tmp_path):
    path = tmp_path / "a"
    ordhc.Session(path, n_leaves=60, method=ordhc.learners.Insertion(schedule="rounds")).close()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), f"worker {k}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
        )
        for k in range(4)
    ]
    # All hold questions before the first one answers: nobody has another's.
    held = [number for worker in workers for number in json.loads(worker.stdout.readline())]
    assert len(set(held)) == len(held) == 20
    for worker in workers:
        worker.stdin.write("go on\n")
        worker.stdin.flush()
    told = [int(worker.communicate(timeout=300)[0]) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4
    assert min(told) >= 5
    with ordhc.Session(path) as session:
        assert session.status.n_answered == sum(told)
        _, _, who = answers_of(session)
        assert [who.count(f"worker {k}") for k in range(4)] == told
        assert same(session.tree(), random_tree(60, 3))


def test_bad_files_and_settings(tmp_path):
    (tmp_path / "text").write_text("this is no database, but a text of some length\n" * 100)
    with pytest.raises(InputError, match="is not a session"):
        ordhc.Session(tmp_path / "text")
    file = sqlite3.connect(tmp_path / "other")
    file.execute("CREATE TABLE x (y)")
    file.close()
    with pytest.raises(InputError, match="but not a session"):
        ordhc.Session(tmp_path / "other")
    with pytest.raises(InputError, match="a new session needs names or n_leaves"):
        ordhc.Session(tmp_path / "new")
    with pytest.raises(InputError, match="unable to open"):
        ordhc.Session(tmp_path / "no" / "such" / "folder", n_leaves=3)
    with pytest.raises(InputError, match="method is 'x', not one of"):
        ordhc.Session(tmp_path / "b", n_leaves=3, method="x")
    with ordhc.Session(tmp_path / "c", NAMES, seed=1):
        pass
    for bad, text in [
        ({"names": NAMES[:3]}, "differ from the given names"),
        ({"n_leaves": 3}, "has 7 leaves, not 3"),
        ({"seed": 2}, "seed is 1, not 2"),
        ({"method": "quick"}, "method is 'insertion', not 'quick'"),
    ]:
        with pytest.raises(InputError, match=text):
            ordhc.Session(tmp_path / "c", **bad)
    ordhc.Session(tmp_path / "c", NAMES, method="insertion", seed=1).close()


# --- the command -----------------------------------------------------------------------------


def interview(*arguments, input):
    return CliRunner().invoke(group, ["learn", *arguments], input=input, catch_exceptions=False)


def test_an_interview(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.txt").write_text("cat\ndog\ncar\n")
    done = interview("a.ordhc", "--items", "items.txt", input="s\nx\nq\n")
    assert done.exit_code == 0
    assert done.output.splitlines()[-1] == "0 answers, 2 of 3 leaves, about 1 to go"
    with ordhc.Session("a.ordhc") as session:
        (_, row) = next(iter(session.ask()))
        odd = [session.names[leaf] for leaf in row].index("car") + 1
    done = interview("a.ordhc", "--who", "ann", "-o", "t.nwk", "--export", "t.csv", input=f"{odd}\n")
    assert "No questions are left" in done.output
    assert ordhc.read_tree("t.nwk").to_newick(branch_lengths=False) == "(car,(cat,dog));"
    assert len(ordhc.read_answers("t.csv")) == 2
    with ordhc.Session("a.ordhc") as session:
        assert answers_of(session)[2] == ["ann"]
    done = interview("b.ordhc", "--items", "items.txt", input="u\n")
    assert "nothing to undo" in done.output


def test_simulations(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = random_tree(40).replace(names=[f"x{i}" for i in range(40)])
    ordhc.write_tree(truth, "t.nwk")
    done = interview(
        "--oracle", "tree", "--source", "t.nwk", "--schedule", "rounds", "--json", "-o", "u.json", input=""
    )
    found = json.loads(done.output)
    assert (found["done"], found["triplet_distance"], found["n_placed"]) == (True, 0, 40)
    assert ordhc.metrics.robinson_foulds(ordhc.read_tree("u.json"), truth) == 0
    noisy = interview(
        "--oracle",
        "tree",
        "--source",
        "t.nwk",
        "--accuracy",
        "0.7",
        "--repeat",
        "15",
        "--seed",
        "1",
        input="",
    )
    assert "triplet distance" in noisy.output
    kept = interview("s.ordhc", "--oracle", "tree", "--source", "t.nwk", "--budget", "50", input="")
    assert "50 answers" in kept.output
    for arguments, text in [
        (["--who", "ann"], "give a SESSION file"),
        (["x.ordhc"], "a new one needs --items"),
        (["x.ordhc", "--accuracy", "0.5"], "--accuracy needs --oracle"),
        (["--oracle", "tree", "--source", "t.nwk", "--items", "t.nwk"], "not names"),
    ]:
        done = CliRunner().invoke(group, ["learn", *arguments])
        assert done.exit_code != 0
        assert text in done.output or text in str(done.exception)


def test_pairs(tmp_path, monkeypatch):
    S = np.random.default_rng(0).random((7, 7))
    S = S + S.T
    oracle = oracles.from_similarity(S)
    with ordhc.Session(tmp_path / "a", NAMES, method="complete") as session:
        while not session.done:
            questions = session.ask(3)
            session.tell(questions.ids, oracle(questions.rows))
            if session.status.n_answered == 6:
                assert len(session.undo()) == 4
        want = ordhc.linkage(S, "complete", dissimilarity=False)
        assert same(session.tree(), want)
        rows, answers, _ = answers_of(session)
        assert isinstance(session.comparisons(), ordhc.Quadruplets)
    with ordhc.Session(tmp_path / "a") as session:
        assert same(session.tree(), want)
    with ordhc.Session(tmp_path / "b", NAMES, method="complete") as warm:
        warm.add_answers(rows[:, [3, 2, 1, 0]], -answers)
        assert warm.done
        assert same(warm.tree(), want)
        with pytest.raises(InputError, match="two different pairs"):
            warm.add_answers([[0, 1, 1, 0]], [1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.txt").write_text("cat\ndog\ncar\n")
    done = interview("p.ordhc", "--items", "items.txt", "--method", "single", input="1\n2\n1\n1\n")
    assert "Which pair is more similar?" in done.output
    assert "No questions are left" in done.output
