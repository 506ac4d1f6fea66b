"""People of a session: how reliable they are, and that they can be forgotten."""

import contextlib
import sqlite3
import threading

import numpy as np
import pytest

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from support.learners import by_settings
from support.random_data import random_tree
from support.sessions import NAMES, ORACLE, TRUTH, answer, answers_of, finish, state
from support.trees import same

WHO = "Zsófia-Quixotic"


def traces(path, name):
    """The files of a session that have a name in them."""
    found = []
    for end in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + end)
        if file.exists() and name.encode() in file.read_bytes():
            found.append(end)
    return found


@pytest.mark.parametrize(
    "kind", [{}, {"p": 0.9}, {"schedule": "rounds"}, {"repeat": 3, "distinct": False}], ids=str
)
def test_nothing_is_left_of_somebody(tmp_path, kind):
    path = tmp_path / "a"
    with ordhc.Session(path, NAMES, **by_settings(**kind)) as session, ordhc.Session(path) as other:
        for _ in range(4):
            answer(session, 2, who=WHO)
            answer(other, 1, who="bob")
        session.add_answers([[0, 1, 2]], [2], who=WHO)
        session.undo(WHO)
        held = other.ask(2, who="bob")
        session.ask(2, who=WHO)
        assert traces(path, WHO)
        kept = [who for who in answers_of(other)[2] if who != WHO]
        assert session.forget(WHO) >= 5
        assert traces(path, WHO) == []
        for one in (session, other):
            assert answers_of(one)[2] == kept
            assert WHO not in one.people()
            assert not one._contents.leases.of_person(WHO)
        assert state(session) == state(other)
        # What others have open stays open; the person may come back as a new one.
        states = other.tell(held.ids, ORACLE(held.rows), who="bob")
        assert set(states) <= {"taken", "late"}
        assert session.forget("nobody") == 0
        answer(session, 1, who=WHO)
        assert session.people()[WHO].n_answers == 1
        session.forget(WHO)
        now = state(session)
        with pytest.raises(InputError, match="who = None is not a person"):
            session.forget(None)
    assert traces(path, WHO) == []
    file = sqlite3.connect(path)
    assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    file.close()
    with ordhc.Session(path) as again:
        assert state(again) == now
        finish(again)
        if "p" not in kind:
            assert same(again.tree(), TRUTH)


def test_readers_keep_the_log_for_a_while(tmp_path, monkeypatch):
    path = tmp_path / "a"
    with ordhc.Session(path, NAMES) as session:
        answer(session, 1, who=WHO)
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM events").fetchall()
        session._contents.store.db.execute("PRAGMA busy_timeout=50")
        with pytest.raises(OSError, match=r"another process is reading|locked"):
            session.forget(WHO)
        assert session.status.n_answered == 0
        reader.close()
        session.forget(WHO)
        assert traces(path, WHO) == []


def crowd(session, accuracies, truth, rounds, seed=0):
    """People who are right so often, and otherwise say anything else."""
    chance = np.random.default_rng(seed)
    oracle = oracles.from_tree(truth)
    for _ in range(rounds):
        for who, p in accuracies.items():
            questions = session.ask(2, who=who)
            right = oracle(questions.rows)
            wrong = (right + 1 + chance.integers(0, 2, len(right))) % 3
            session.tell(questions.ids, np.where(chance.random(len(right)) < p, right, wrong), who=who)


def test_people_differ(tmp_path):
    truth = random_tree(40, 1)
    accuracies = {"good": 0.95, "fair": 0.8, "poor": 0.55, "chance": 1 / 3} | {
        f"x{k}": 0.85 for k in range(6)
    }
    fill = {"repeat": 0.8, "heldout": 0.2}
    with ordhc.Session(
        tmp_path / "a", n_leaves=40, method=ordhc.learners.Robust(p=0.8), limit=3, fill=fill
    ) as session:
        crowd(session, accuracies, truth, 60)
        people = session.people()
        assert list(people) == list(accuracies)
        for one in people.values():
            assert one.n_answers == 120
            assert one.low < one.reliability < one.high
            assert one.reliability == pytest.approx(one.alpha / (one.alpha + one.beta))
            assert one.n_repeats > 8
            assert (one.n_gold, one.gold) == (0, None)
        inside = [people[who].low < p < people[who].high for who, p in accuracies.items()]
        assert sum(inside) >= 7
        by = sorted(people, key=lambda who: people[who].reliability)
        assert by[:2] == ["chance", "poor"]
        assert people["chance"].n_tree > 0 < people["good"].n_tree
        assert people["chance"].repeats < people["good"].repeats
        plain, weighed = session.comparisons(), session.comparisons(weights="reliability")
        assert np.array_equal(plain.rows, weighed.rows)
        assert plain.weights is None
        means = {
            name: weighed.weights[weighed.groups == k].mean() for k, name in enumerate(weighed.group_names)
        }
        assert means["chance"] < 0.2 < 1 < means["good"]
        with pytest.raises(InputError, match="weights is 'x', not one of"):
            session.comparisons(weights="x")


def test_gold_tells_of_a_single_person(tmp_path):
    truth = random_tree(30, 2)
    oracle = oracles.from_tree(truth)
    chance = np.random.default_rng(1)
    rows = np.array([chance.permutation(30)[:3] for _ in range(60)])
    with ordhc.Session(tmp_path / "a", n_leaves=30, fill={"gold": 1}) as session:
        assert len(session.people()) == 0
        session.add_answers(rows, oracle(rows), gold=True)
        crowd(session, {"ann": 0.9}, truth, 15)
        before = session.people()["ann"]
        session.ask(60, who="ann", fill="gold")
        crowd(session, {"ann": 0.9, "bob": 0.4}, truth, 30)
        ann, bob = session.people()["ann"], session.people()["bob"]
        assert ann.n_gold >= before.n_gold
        questions = session.ask(40, who="ann", fill="gold")
        n = questions.samplers.count("gold")
        told = oracle(questions.rows)
        session.tell(questions.ids, told, who="ann")
        after = session.people()["ann"]
        assert after.n_gold == ann.n_gold + n
        assert after.gold >= (ann.gold or 0)
        assert after.reliability > bob.reliability
        for bad, text in [(([[0, 1, 1]], [0]), "row 0: .* are not three"), (([[0, 1, 2]], [7]), "row 0")]:
            with pytest.raises(InputError, match=text):
                session.add_answers(*bad, gold=True)


def test_agreements_are_counted(tmp_path):
    with ordhc.Session(tmp_path / "a", n_leaves=4) as session:
        rows = [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 1, 3]]
        for who, told in {"ann": [2, 0, 0, -1], "bob": [2, 0, 2, 0]}.items():
            session.add_answers(rows, told, who=who)
        session.add_answers([[2, 0, 1]], [0], gold=True)
        ann, bob = session.people()["ann"], session.people()["bob"]
        # About {0, 1, 2}: Ann says 2, 2, 1, Bob 2, 2, 2; about {0, 1, 3} nobody and 0.
        assert (ann.n_answers, ann.n_gold, ann.gold) == (4, 3, pytest.approx(2 / 3))
        assert (bob.n_gold, bob.gold) == (3, 1)
        assert ann.n_repeats == bob.n_repeats == 4
        assert ann.repeats == pytest.approx((4 / 5 * 2 + 0 + 0) / 4)
        assert bob.repeats == pytest.approx((4 / 5 * 3 + 0) / 4)
        assert bob.reliability > ann.reliability
    with ordhc.Session(tmp_path / "pairs", n_leaves=4, method="single") as session:
        rows = [[0, 1, 2, 3], [3, 2, 0, 1], [0, 1, 2, 3]]
        session.add_answers(rows[:2], [1, -1], who="ann")
        session.add_answers(rows, [1, 1, 0], who="bob")
        ann, bob = session.people()["ann"], session.people()["bob"]
        assert ann.repeats == pytest.approx(2 / 4)
        assert bob.repeats == pytest.approx((2 / 4 + 0 + 0) / 3)


def test_forgetting_while_others_answer(tmp_path):
    """Threads of one session and another session of the same file go on."""
    path, stop, troubles = tmp_path / "a", threading.Event(), []
    oracle = oracles.from_tree(random_tree(60, 1))
    with ordhc.Session(path, n_leaves=60) as session, ordhc.Session(path) as other:

        def live(who, one):
            try:
                while not stop.is_set() and not one.done:
                    answer(one, 1, who=who, oracle=oracle)
            except BaseException as error:
                troubles.append(error)

        threads = [
            threading.Thread(target=live, args=(f"person {k}", (session, other)[k % 2])) for k in range(4)
        ]
        for thread in threads:
            thread.start()
        for _ in range(5):
            answer(session, 1, who=WHO, oracle=oracle)
            with contextlib.suppress(OSError):
                session.forget(WHO)
        stop.set()
        for thread in threads:
            thread.join()
        session.forget(WHO)
        assert troubles == []
        assert traces(path, WHO) == []
        assert state(session) == state(other)
