"""The learner "uncertain" with many leaves or many answers, where one tree follows the answers."""

import os
import signal
import threading

import numpy as np
import pytest

import ordhc
from ordhc import oracles

N = 300


def random_rows(n, m, seed):
    """Return (m, 3) different leaves."""
    rows = np.random.default_rng(seed).integers(0, n, (2 * m + 50, 3))
    return rows[(rows != np.roll(rows, 1, axis=1)).all(axis=1)][:m]


def noisy(n, p=0.9):
    return oracles.noisy(ordhc.datasets.random_tree(n, shape="yule", seed=1), p, seed=2)


def test_answers_that_are_right_give_the_tree():
    truth = ordhc.datasets.random_tree(N, shape="uniform", seed=1)
    learner, oracle = ordhc.Learner(N, "uncertain", budget=12 * N, seed=4), oracles.from_tree(truth)
    while not learner.done:
        questions = learner.ask(20)
        learner.tell(questions.ids, oracle(questions.rows))
    assert ordhc.metrics.triplet_distance(learner.tree(), truth) < 0.01


@pytest.fixture
def no_posterior(monkeypatch):
    """Sessions give the tree of their learner, as they do where a posterior takes too long."""
    monkeypatch.setattr("ordhc.asking.session.best_tree", lambda *_: None)


@pytest.mark.usefixtures("no_posterior")
def test_a_session_goes_on_as_if_it_had_stayed_open(tmp_path):
    """One session stays open. The other one is opened anew before each third of the answers."""
    first, second = tmp_path / "a", tmp_path / "b"
    rows = random_rows(N, 1500, 3)
    settings = {"n_leaves": N, "method": "uncertain", "fill": {}, "seed": 5, "durable": False}
    told = oracles.from_tree(ordhc.datasets.random_tree(N, shape="yule", seed=1))
    asked = {first: [], second: []}
    for path, listed in asked.items():
        session = ordhc.Session(path, **settings)
        for round_ in range(6):
            if path == second:
                session.close()
                session = ordhc.Session(path)
            if round_ == 3:
                session.add_answers(rows, told(rows), who="zoe")
            if round_ == 4:
                assert session.undo("p1") is not None
            for k in range(20):
                who = f"p{k % 3}"
                questions = session.ask(who=who)
                listed.append(questions.rows.tolist())
                session.tell(questions.ids, told(questions.rows), who=who)
        listed.append(session.tree())
        session.close()
    assert asked[first] == asked[second]


def test_as_many_threads_as_there_are_give_the_same_questions(monkeypatch):
    found = []
    for threads in ("1", "4"):
        monkeypatch.setenv("ORDHC_NUM_THREADS", threads)
        learner, oracle = ordhc.Learner(N, "uncertain", seed=1), noisy(N)
        rows = []
        for _ in range(150):
            questions = learner.ask(2)
            rows.append(questions.rows.tolist())
            learner.tell(questions.ids, oracle(questions.rows))
        found.append((rows, learner.tree()))
    assert found[0] == found[1]


@pytest.mark.usefixtures("no_posterior")
@pytest.mark.parametrize("question", ["odd", "triplet", "pairs"])
def test_answers_that_were_imported_are_used(tmp_path, question):
    n, m = 12, 9000
    places = np.random.default_rng(0).random(n)
    rows = random_rows(n, m, 1)
    if question != "odd":
        rows = rows[:, [0, 1, 0, 2]]

    def answers(rows):
        near = [np.abs(places[rows[:, i]] - places[rows[:, j]]) for i, j in ((1, 2), (0, 2), (0, 1))]
        if question == "odd":
            return np.argmin(near, axis=0)
        first, second = (np.abs(places[rows[:, i]] - places[rows[:, i + 1]]) for i in (0, 2))
        return np.where(first < second, 1, -1)

    method = ordhc.learners.Uncertain(question=question)
    with ordhc.Session(tmp_path / "a", n_leaves=n, method=method, fill={}, budget=10**6) as session:
        session.add_answers(rows, answers(rows))
        for _ in range(5):
            questions = session.ask(who="ann")
            assert len(questions) == 1
            session.tell(questions.ids, answers(questions.rows), who="ann")
        assert session.tree().n_leaves == n


def test_progress_is_told_and_an_exception_in_it_ends_the_call(tmp_path):
    rows = random_rows(N, 20_000, 1)
    oracle = noisy(N)

    class StopError(Exception):
        pass

    def stop(_):
        raise StopError

    with ordhc.Session(tmp_path / "a", n_leaves=N, method="uncertain", fill={}) as session:
        session.add_answers(rows, oracle(rows))
        with pytest.raises(StopError):
            session.ask(who="ann", progress=stop)
        told = []
        questions = session.ask(who="ann", progress=told.append)
        assert len(questions) == 1
        assert told[-1] == 1.0
    learner = ordhc.Learner(N, "uncertain")
    with pytest.raises(StopError):
        learner.tree(progress=stop)
    assert learner.tree(progress=told.append).n_leaves == N
    with pytest.raises(StopError):
        learner.ask(3, progress=stop)
    with pytest.raises(ordhc.errors.InputError):
        learner.ask(3, progress=3)
    with pytest.raises(ordhc.errors.InputError):
        learner.tree(progress="x")


@pytest.mark.parametrize("call", ["ask", "tree"])
def test_ctrl_c_ends_a_call(call):
    n = 2000
    learner = ordhc.Learner(n, "uncertain", budget=10**7)
    oracle = noisy(n)
    for _ in range(10):
        questions = learner.ask(200)
        learner.tell(questions.ids, oracle(questions.rows))

    def work():
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            learner.ask(n) if call == "ask" else learner.tree()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert learner.tree().n_leaves == n
