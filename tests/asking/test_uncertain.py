"""The learner that asks what is least certain: `Learner(method="uncertain")`, alone and in sessions."""

import math
import signal
import threading
import time
from collections import Counter

import numpy as np
import pytest

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from support.answers import levels, people
from support.random_data import random_tree
from support.sessions import NAMES, ORACLE, TRUTH, answer, answers_of, state


@pytest.mark.slow
def test_fewer_questions_than_random_ones():
    uncertain, random = [], []
    # Of one tree a single leaf may be astray, by chance.
    for seed in range(3):
        labels = levels(seed=seed)
        n = len(labels)
        learner = ordhc.Learner(n, "uncertain", budget=20 * n, seed=seed)
        ordhc.learn(people(labels, seed=seed), learner=learner)
        uncertain.append(ordhc.metrics.aari(learner.tree(), labels))
        rng = np.random.default_rng(seed + 1)
        rows = np.array([rng.permutation(n)[:3] for _ in range(20 * n)])
        t = oracles.Recording(people(labels, seed=seed))
        t(rows)
        random.append(ordhc.metrics.aari(ordhc.posterior(t.comparisons(n)).tree, labels))
        assert learner.done
        assert learner.status.n_answered == 20 * n
    assert np.mean(uncertain) > 0.95
    assert np.mean(uncertain) > np.mean(random) + 0.02, (uncertain, random)


def test_it_depends_on_settings_answers_and_seed_only():
    labels = levels(2, 4)

    def run(seed):
        learner = ordhc.Learner(len(labels), "uncertain", budget=35, seed=seed)
        oracle, asked = people(labels), []
        while not learner.done:
            questions = learner.ask(7)
            order = np.random.default_rng(len(asked)).permutation(len(questions))
            told = oracle(questions.rows)
            learner.tell(questions.ids[order], told[order])
            asked += questions.rows.tolist()
        return asked, learner.tree()

    assert run(0) == run(0)
    assert run(0)[0] != run(1)[0]


def crowd_learns(seed, is_known):
    """AARI of what people are asked one after the other, two of three of whom answer by chance."""
    labels = levels(2, 3, seed)
    rng, knows = np.random.default_rng(seed), people(labels, 3.0, seed)
    learner = ordhc.Learner(len(labels), "uncertain", budget=8 * len(labels), seed=seed)
    while not learner.done:
        person = int(rng.integers(6))
        questions = learner.ask(6)
        answers = knows(questions.rows) if person < 2 else rng.integers(3, size=len(questions))
        who = [f"person {person}"] * len(questions) if is_known else None
        learner.tell(questions.ids, answers, who=who)
    return ordhc.metrics.aari(learner.tree(), labels)


def test_who_answers_by_chance_is_learnt():
    known, unknown = ([crowd_learns(seed, is_known) for seed in range(2)] for is_known in (True, False))
    assert np.mean(known) > np.mean(unknown) + 0.1, (known, unknown)


def test_people_are_checked():
    learner = ordhc.Learner(12, "uncertain")
    ids = learner.ask(3).ids
    for who, text in (
        (["ann"], "who= has 1 names for"),
        (["ann", None, 3], "who = 3 is not a name"),
        ("\ud800", "UTF-8"),
        (5, "who"),
    ):
        with pytest.raises(InputError, match=text):
            learner.tell(ids, [0, 1, 2], who=who)
    assert learner.status.n_answered == 0
    learner.tell(ids, [0, 1, 2], who=["ann", None, "bob"])
    quick = ordhc.Learner(12, "quick")
    with pytest.raises(InputError, match="does not use the argument `who`"):
        quick.tell(quick.ask(1).ids, [0], who="ann")


def test_sessions_learn_how_reliable_people_are(tmp_path, monkeypatch):
    monkeypatch.setattr("ordhc.clustering.sampling._SWEEPS", (60, 60))
    labels = levels(2, 3)
    n, rng, knows = len(labels), np.random.default_rng(1), people(labels, 4.0)
    rows = np.array([rng.permutation(n)[:3] for _ in range(6 * n)])
    told = {"ann": knows(rows), **{who: rng.integers(3, size=len(rows)) for who in ("bob", "carl", "dora")}}
    trees = []
    for at, names in enumerate((dict(zip(told, told, strict=True)), {who: who[::-1] for who in told}, {})):
        with ordhc.Session(tmp_path / f"{at}", n_leaves=n, method="uncertain", budget=10**4) as session:
            # Whatever people are called, and in whatever order their answers come.
            for who in sorted(told, key=lambda who: names.get(who, who)):
                session.add_answers(rows, told[who], who=names.get(who))
            trees.append(session.tree())
            if at == 0:
                with ordhc.Session(tmp_path / f"{at}") as again:
                    assert again.tree() == trees[-1]
                session.forget("bob")
                session.add_answers(rows, told["bob"], who="bob")
                assert session.tree() == trees[-1]
    aari = [ordhc.metrics.aari(tree, labels) for tree in trees]
    assert trees[0].to_newick() == trees[1].to_newick()
    assert aari[0] > aari[2] + 0.1, aari


def test_limits():
    learner = ordhc.Learner(12, "uncertain", budget=20, limit=8)
    assert len(learner.ask()) == 8
    assert len(learner.ask()) == 0
    learner.tell(learner.open.ids[:3], [0, -1, 2])
    assert len(learner.ask(2)) == 2
    assert learner.status.remaining == 17
    assert len(ordhc.Learner(12, "uncertain").ask()) == 12
    assert ordhc.Learner(12, "uncertain").status.remaining == 240
    endless = ordhc.Learner(12, "uncertain", budget=2**53)
    assert endless.status.remaining == math.inf
    assert "no limit" in repr(endless)
    assert ordhc.Learner(2, "uncertain").done
    with pytest.raises(InputError, match="uncertain takes no p; .*estimates how often"):
        ordhc.learners.named("uncertain", p=0.8)
    three = ordhc.Learner(12, "uncertain", repeat=2)
    first, second = three.ask(1), three.ask(1)
    assert first.rows.tolist() == second.rows.tolist() != three.ask(1).rows.tolist()


@pytest.mark.parametrize("settings", [{}, {"repeat": 3}, {"limit": 4}], ids=str)
def test_sessions_go_on_where_they_were(tmp_path, settings):
    path = tmp_path / "a"
    # Those who know what the learner asks get something else, whose answers the learner takes, too.
    settings = {"fill": {"random": 1}, **settings}
    with ordhc.Session(path, NAMES, method="uncertain", budget=42, **settings) as session:
        for round_ in range(6):
            answer(session, 3, who="ann")
            with ordhc.Session(path) as again:
                assert state(again) == state(session)
                other = again.ask(2, who="bob")
            questions = session.ask(2, who="bob")
            assert questions.rows.tolist() == other.rows.tolist()
            # Bob's answers come in another order; one of them is taken back.
            session.tell(questions.ids[::-1], ORACLE(questions.rows)[::-1], who="bob")
            if round_ % 2:
                session.undo("bob")
    # What is known follows from the answers, in whatever order they came.
    with ordhc.Session(path) as one, ordhc.Session(tmp_path / "b", NAMES, method="uncertain") as two:
        rows, answers, who = answers_of(one)
        for name in ("bob", "ann"):
            theirs = np.flatnonzero([other == name for other in who])[::-1]
            two.add_answers(rows[theirs], answers[theirs], who=name)
        assert two.tree().to_newick() == one.tree().to_newick()
        while not one.done:
            assert answer(one, 4, who="carl") + answer(one, 4, who="dora")
        assert ordhc.metrics.robinson_foulds(one.tree(), TRUTH) == 0


def test_many_people_get_different_questions(tmp_path):
    oracle = oracles.from_tree(random_tree(14, 1))
    crowd = [f"person {k}" for k in range(60)]
    with ordhc.Session(tmp_path / "a", n_leaves=14, method="uncertain", budget=180, repeat=2) as session:
        asked = {who: session.ask(who=who) for who in crowd}
        assert [len(questions) for questions in asked.values()] == [1] * 60
        keys = Counter(tuple(sorted(q.rows[0].tolist())) for q in asked.values())
        assert set(keys.values()) == {2}
        for who, questions in asked.items():
            assert dict(session.ask(who=who)) == dict(questions)
            assert session.tell(questions.ids, oracle(questions.rows), who=who) == ["taken"]
        # Somebody else's answer to the same question is of use, too.
        assert session.tell(asked["person 0"].ids, [0], who="eve") == ["late"]
        before = session.tree()
        session.add_answers([[0, 1, 2]] * 30, [2] * 30, who="old")
        assert session.tree() != before
        while not session.done:
            for who in crowd:
                answer(session, 2, who=who, oracle=oracle)
        known = Counter()
        rows, _, who = answers_of(session)
        known.update((name, *sorted(row)) for name, row in zip(who, rows.tolist(), strict=True))
        del known["old", 0, 1, 2]
        assert set(known.values()) == {1}


def test_what_the_learner_may_not_ask_is_filled(tmp_path):
    with ordhc.Session(
        tmp_path / "a", n_leaves=30, method="uncertain", limit=2, fill={"heldout": 1}
    ) as session:
        samplers = [session.ask(who=who).samplers[0] for who in ("ann", "bob", "carl")]
        assert samplers == ["learner", "learner", "heldout"]
        # Answers that are held out are not for the tree.
        held_out = session.ask(who="carl")
        session.tell(held_out.ids, [0], who="carl")
        assert session.status.n_placed == 0
        assert len(session.comparisons(heldout=True)) == 2
        session.tell(session.ask(who="ann").ids, [0], who="ann")
        assert session.status.n_placed == 3
    with ordhc.Session(tmp_path / "a") as session:
        assert session.status.n_placed == 3


def test_only_what_was_recorded_is_asked():
    truth = random_tree(14, 3)
    t = ordhc.datasets.comparisons_of(truth, 600)
    oracle = oracles.recorded(t)
    known = set(map(tuple, oracle.known.tolist()))
    assert oracle.known.shape[1] == 4
    asked = oracles.Recording(oracle)
    # No question is one that nobody has answered: that would be an error.
    tree = ordhc.learn(asked, method="uncertain", budget=150)
    rows = list(map(tuple, asked.rows.tolist()))
    assert len(rows) == len(set(rows)) == 150
    assert known.issuperset(rows)
    assert 1 - ordhc.metrics.triplet_distance(tree, truth) > 0.9
    # Without a budget all of it is asked, by name, too.
    names = [f"leaf {k}" for k in range(14)]
    some = ordhc.Triplets(t.rows[:60], names=names)
    asked = oracles.Recording(oracles.recorded(some))
    ordhc.learn(asked, names[::-1], "uncertain")
    assert asked.n_questions == len(oracles.recorded(some).known)


def test_recorded_odd_ones_out_are_asked_as_such():
    truth = oracles.from_tree(random_tree(10, 1))
    kept = oracles.Recording(truth)
    rows = np.array([[a, b, c] for a in range(10) for b in range(a) for c in range(b)])[::2]
    kept(rows)
    oracle = oracles.recorded(kept.comparisons(10))
    clear = rows[truth(rows) >= 0]
    assert sorted(map(sorted, oracle.known.tolist())) == sorted(map(sorted, clear.tolist()))
    learner = ordhc.Learner(10, ordhc.learners.Uncertain(among=oracle.known), limit=4, budget=30)
    assert (learner.width, len(learner.ask())) == (3, 4)
    # Triplets answer questions of two pairs with a leaf in common.
    anchored = oracles.recorded(ordhc.Triplets([(0, 2, 1)]))
    assert anchored.known.tolist() == [[0, 1, 0, 2]]
    assert anchored([[0, 1, 0, 2], [2, 0, 1, 0], [1, 0, 0, 2]]).tolist() == [-1, 1, -1]
    with pytest.raises(InputError, match="do not decide the question about 0, 1, 1, 2"):
        anchored([[0, 1, 1, 2]])
    assert oracles.recorded(ordhc.Quadruplets([(3, 2, 0, 1)])).known.tolist() == [[0, 1, 2, 3]]


def test_lists_of_questions_are_checked(tmp_path):
    for wrong, text in (
        ([[0, 1]], "not \\(m, 3\\) or"),
        ([[0, 1, 1]], "three different leaves"),
        ([[0, 1, 2], [0, 1, 12]], "from 0 to 11"),
        ([[0, 1, 1, 0]], "two different pairs"),
    ):
        with pytest.raises(InputError, match=text):
            ordhc.Learner(12, ordhc.learners.Uncertain(among=wrong))
    with pytest.raises(InputError, match="quick takes no among; uncertain does"):
        ordhc.Learner(12, ordhc.learners.named("quick", among=[[0, 1, 2]]))
    with pytest.raises(InputError, match="a session does not support among"):
        ordhc.Session(tmp_path / "a", n_leaves=12, method=ordhc.learners.Uncertain(among=[[0, 1, 2]]))
    assert ordhc.Learner(12, ordhc.learners.Uncertain(among=np.zeros((0, 3), int))).done


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_drawing_stops_when_interrupted():
    # Trees are drawn for up to 250 leaves.
    n = 240
    rows = np.random.default_rng(1).random((4 * n, n)).argsort(axis=1)[:, :3]
    learner = ordhc.Learner(n, ordhc.learners.Uncertain(among=rows))
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while not learner.done:
            # Answers are by chance, so that trees take long.
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            start = time.process_time()
            questions = learner.ask(n)
            signal.setitimer(signal.ITIMER_REAL, 0)
            learner.tell(questions.ids, questions.ids % 3)
        interrupted = False
    except KeyboardInterrupt:
        interrupted, took = True, time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert interrupted
    assert took < 2
    # Nothing is lost, and the same questions come.
    before = learner.status.n_answered
    other = ordhc.Learner(n, ordhc.learners.Uncertain(among=rows))
    while other.status.n_answered < before:
        questions = other.ask(n)
        other.tell(questions.ids, questions.ids % 3)
    assert learner.ask(n).rows.tolist() == other.ask(n).rows.tolist()


def test_other_threads_may_look_while_trees_are_drawn():
    n = 100
    learner, seen = ordhc.Learner(n, "uncertain", budget=5 * n), []
    over = threading.Event()

    def look():
        while not over.is_set():
            seen.append((learner.status.n_answered, learner.done, len(learner.open)))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        while not learner.done:
            questions = learner.ask(n)
            learner.tell(questions.ids, questions.ids % 3)
    finally:
        over.set()
        watcher.join(60)
    assert not watcher.is_alive()
    assert seen[-1][0] <= 5 * n
    assert len(seen) > 5
