"""Answers count by how likely they are right: what is promised still holds, and is kept in sessions."""

import numpy as np
import pytest

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from support.learners import by_settings
from support.random_data import random_tree
from support.sessions import answers_of, state
from support.trees import same


def wronged(oracle, rows, right, chance):
    """Answers of an oracle; where one is not to be right, any of the others."""
    told = np.asarray(oracle(rows), dtype=np.int64)
    return np.where(right, told, (told + 1 + chance.integers(1, 4, len(told))) % 4 - 1)


def lied(oracle, rows, right):
    """Answers of an oracle; where one is not to be right, all who are wrong say the same."""
    told, least = np.asarray(oracle(rows), dtype=np.int64), rows.argmin(axis=1)
    return np.where(right, told, np.where(told == least, -1, least))


def learned(n, seed, accuracies, claims, delta=0.05, base=0.7):
    """How many questions a crowd is asked that claims to be right so often, and whether the tree is right."""
    chance = np.random.default_rng(seed)
    truth = random_tree(n, seed)
    oracle = oracles.from_tree(truth)
    learner = ordhc.Learner(n, ordhc.learners.Robust(p=base, delta=delta, parallel=5), seed=seed)
    while not learner.done:
        questions = learner.ask(10)
        who = chance.integers(0, len(accuracies), len(questions))
        right = chance.random(len(who)) < accuracies[who]
        learner.tell(questions.ids, lied(oracle, questions.rows, right), p=claims[who])
    return learner.status.n_answered, same(learner.tree(), truth)


@pytest.mark.parametrize(
    "kind", [{}, {"schedule": "rounds"}, {"assume": "uniform"}, {"noise": "persistent"}], ids=str
)
@pytest.mark.parametrize("p", [0.7, 0.9])
def test_the_same_p_for_all_changes_nothing(kind, p):
    chance = np.random.default_rng(1)
    oracle = oracles.from_tree(random_tree(20, 1))
    learners = [ordhc.Learner(20, **by_settings(method="robust", p=p, **kind)) for _ in range(3)]
    ways = [{}, {"p": p}, {"p": None}]
    while not learners[0].done:
        asked = [learner.ask(7) for learner in learners]
        told = wronged(oracle, asked[0].rows, chance.random(len(asked[0])) < p, chance)
        ways[2]["p"] = np.where(chance.random(len(told)) < 0.5, p, np.nan)
        for learner, questions, way in zip(learners, asked, ways, strict=True):
            assert dict(questions) == dict(asked[0])
            learner.tell(questions.ids, told, **way)
    assert all(learner.done and learner.tree() == learners[0].tree() for learner in learners)


def test_mixed_crowds_keep_the_promise():
    accuracies = np.array([0.6] * 5 + [0.95] * 3 + [0.25] * 2)
    claims = np.maximum(accuracies, 0.5)
    found = [learned(12, seed, accuracies, claims, delta=0.2) for seed in range(50)]
    # 10 of 50 are allowed; much less is what happens, as what is assumed is the worst.
    assert sum(not is_right for _, is_right in found) <= 4
    # Those who are trusted too much break it: the test can fail.
    lies = [learned(12, seed, accuracies, np.full(10, 0.95), delta=0.2) for seed in range(50)]
    assert sum(not is_right for _, is_right in lies) > 20
    # To know who is right how often saves questions.
    mean = [learned(12, seed, accuracies, np.full(10, accuracies.mean()), delta=0.2) for seed in range(50)]
    assert sum(n for n, _ in found) < 0.7 * sum(n for n, _ in mean)


def test_answers_that_say_nothing_and_everything():
    oracle = oracles.from_tree(random_tree(10, 1))
    learner = ordhc.Learner(10, ordhc.learners.Robust(p=0.8))
    for _ in range(60):
        questions = learner.ask()
        learner.tell(questions.ids, (oracle(questions.rows) + 1) % 3, p=0.5)
    # Only the first two leaves have places, as at the beginning.
    assert learner.status.n_placed == 2
    n = 0
    while not learner.done:
        questions = learner.ask()
        learner.tell(questions.ids, oracle(questions.rows), p=1)
        n += len(questions)
    assert same(learner.tree(), random_tree(10, 1))
    # With certain answers a test or two of one answer each.
    assert n < 60


def test_who_has_no_p(tmp_path):
    for settings in ({}, {"p": 0.8, "repeat": 3}, {"method": "majority", "p": 0.8}, {"method": "quick"}):
        learner = ordhc.Learner(5, **by_settings(**settings))
        with pytest.raises(InputError, match="needs a learner that weighs answers"):
            learner.tell(learner.ask(1).ids, [0], p=0.9)
        with ordhc.Session(
            tmp_path / "-".join(["a", *settings]), n_leaves=5, **by_settings(**settings)
        ) as session:
            for p in (0.9, "by person"):
                with pytest.raises(InputError, match="needs a learner that weighs answers"):
                    session.tell(session.ask().ids, [0], p=p)
            assert session.status.n_answered == 0
    with pytest.raises(InputError, match="needs a learner that weighs answers"):
        ordhc.Session(tmp_path / "c", n_leaves=5, method=ordhc.learners.Robust(p="by person"), repeat=3)
    learner = ordhc.Learner(5, method=ordhc.learners.Robust(p=0.8))
    with ordhc.Session(tmp_path / "b", n_leaves=5, method=ordhc.learners.Robust(p=0.8)) as session:
        for one in (learner, session):
            ids = one.ask(1).ids
            for p, text in [
                (0.4, r"p\[0\] = 0.4 is outside 0.5..1"),
                ([1.5], r"p\[0\] = 1.5 is outside"),
                ([0.9, 0.9], r"p has shape \(2,\) for ids of shape \(1,\)"),
                ([None], r"p\[0\] is None"),
            ]:
                with pytest.raises(InputError, match=text):
                    one.tell(ids, [0], p=p)
            assert one.status.n_answered == 0
        with pytest.raises(InputError, match="p is 'by mood', not"):
            session.tell(ids, [0], p="by mood")


def test_p_is_kept_with_the_answers(tmp_path):
    path = tmp_path / "a"
    truth = random_tree(12, 1)
    oracle = oracles.from_tree(truth)
    chance = np.random.default_rng(1)
    given = []
    settings = {"n_leaves": 12, "p": 0.8, "fill": {}, "distinct": False}
    with ordhc.Session(path, **by_settings(**settings)) as session, ordhc.Session(path) as other:
        for turn in range(60):
            if session.done:
                break
            who = f"person {turn % 3}"
            questions = session.ask(2, who=who)
            p = chance.choice([0.6, 0.9, np.nan], len(questions))
            told = wronged(oracle, questions.rows, chance.random(len(p)) < np.nan_to_num(p, nan=0.8), chance)
            session.tell(questions.ids, told, who=who, p=p)
            given.extend((who, x) for x in p.tolist())
            if turn % 10 == 9:
                assert session.undo(who) is not None
                del given[max(at for at, (whose, _) in enumerate(given) if whose == who)]
                assert state(other) == state(session)
        given = [p for _, p in given]
        assert len(given) > 30
        assert np.array_equal(session.table()["p"], given, equal_nan=True)
        with ordhc.Session(path) as again:
            assert state(again) == state(session)
            assert np.array_equal(again.table()["p"], given, equal_nan=True)
            assert dict(again.ask(3, who="eve", fill={})) == dict(other.ask(3, who="eve", fill={}))
        # It matters: the same answers without are another state.
        with ordhc.Session(tmp_path / "b", **by_settings(**settings)) as plain:
            rows, answers, who = answers_of(session)
            n = 0
            for leaves, told, name in zip(rows.tolist(), answers.tolist(), who, strict=True):
                questions = plain.ask(1, who=name)
                if questions.rows[0].tolist() != leaves:
                    break
                plain.tell(questions.ids, [told], who=name)
                n += 1
            assert n < len(rows)


def test_people_count_by_what_is_known_of_them(tmp_path):
    truth = random_tree(16, 2)
    oracle = oracles.from_tree(truth)
    chance = np.random.default_rng(2)
    accuracies = {"ann": 0.95, "bob": 0.85, "cat": 0.9, "dan": 0.25}
    gold = np.array([sorted(chance.choice(16, 3, replace=False)) for _ in range(30)])
    gold = np.unique(gold, axis=0)
    settings = {"p": "by person", "parallel": 4, "fill": {"gold": 1, "repeat": 1}, "distinct": False}
    with ordhc.Session(tmp_path / "a", n_leaves=16, **by_settings(**settings)) as session:
        assert session.settings["p"] == "by person"
        session.add_answers(gold, oracle(gold), gold=True)
        for _ in range(1000):
            if session.done:
                break
            for who, accuracy in accuracies.items():
                questions = session.ask(3, who=who)
                right = chance.random(len(questions)) < accuracy
                known = session._analysis.reliability(who)
                states = session.tell(questions.ids, wronged(oracle, questions.rows, right, chance), who=who)
                # What was known before these answers.
                assert session.table()["p"][-1] == known or not states
        p, who = session.table()["p"], session.table()["who"]
        assert (p >= 0.5).all()
        assert p[who == "ann"][0] == 2 / 3
        assert p[who == "dan"][-1] == 0.5 < 0.8 < p[who == "ann"][-1]
        assert same(session.tree(), truth)
        with ordhc.Session(tmp_path / "a") as again:
            assert state(again) == state(session)
        with pytest.raises(InputError, match="p is 'by person', not 0.8"):
            ordhc.Session(tmp_path / "a", method=ordhc.learners.Robust(p=0.8))
    # Also one answer at a time, in a session that says something else.
    with ordhc.Session(tmp_path / "b", n_leaves=5, method=ordhc.learners.Robust(p=0.8)) as session:
        for p in (None, "by person", 0.75):
            session.tell(session.ask(who="ann").ids, [0], who="ann", p=p)
        assert session.table()["p"].tolist()[1:] == [2 / 3, 0.75]
