"""Items of a session that are added and retired while people answer."""

import sqlite3

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import learners, oracles
from ordhc.asking.salvage import salvage
from ordhc.asking.settings import METHODS
from ordhc.errors import InputError
from support.learners import by_settings
from support.random_data import random_tree
from support.sessions import state


def named(tree):
    return tree.replace(names=[f"item {leaf}" for leaf in range(tree.n_leaves)])


TRUTH = named(random_tree(24, 3, "yule"))
NAMES = TRUTH.names
PLACING = [
    {"method": "insertion"},
    {"method": "insertion", "parallel": 3},
    {"method": "insertion", "exact": True},
    {"method": "insertion", "schedule": "rounds"},
    {"method": "insertion", "schedule": "balanced"},
    {"method": "robust", "p": 0.9},
    {"method": "robust", "p": 0.9, "noise": "persistent"},
    {"method": "robust", "p": 0.9, "schedule": "balanced"},
    {"method": "majority", "p": 0.9},
]


def answers_to(session, rows):
    """The right answers to questions of a session."""
    number = {name: leaf for leaf, name in enumerate(NAMES)}
    leaves = np.array([number[name] for name in session.names])
    return oracles.from_tree(TRUTH)(leaves[np.asarray(rows)])


def answer(session, limit=1, who=None):
    questions = session.ask(limit, who=who)
    return session.tell(questions.ids, answers_to(session, questions.rows), who=who)


def finish(session, people=(None,)):
    """Answer all questions; people answer the questions that are leased to them."""
    for _ in range(2000):
        if session.done:
            return
        for who in people:
            questions = session.ask(20, who=who, fill={})
            session.tell(questions.ids, answers_to(session, questions.rows), who=who)
    raise AssertionError("the session asks for ever")


def of_names(names):
    """The true tree of some items."""
    return TRUTH.prune([name for name in NAMES if name not in names])


def assert_right(session):
    left = [name for name in session.names if name not in session.retired]
    tree = session.tree()
    assert sorted(tree.names) == sorted(left)
    assert session.status.n_placed == len(left)
    assert session.status.remaining == 0
    if len(left) > 2:
        assert ordhc.metrics.robinson_foulds(tree, of_names(left)) == 0


@pytest.mark.parametrize("kind", PLACING, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_methods_that_place_items_take_new_ones(tmp_path, kind, n):
    with ordhc.Session(tmp_path / "a", NAMES[:n], **by_settings(**kind)) as session:
        answer(session, 3)
        session.add_items(NAMES[n])
        answer(session, 2)
        session.add_items(NAMES[n + 1 : n + 4])
        assert session.status.n_placed <= n + 4 == session.n_leaves
        assert not session.done
        finish(session)
        assert_right(session)
        before = session.tree()
        session.retire(NAMES[0])
        assert session.done
        assert ordhc.metrics.robinson_foulds(session.tree(), before.prune(NAMES[0])) == 0
        session.add_items([NAMES[20]])
        assert not session.done
        finish(session)
        assert_right(session)
        expected = state(session)
    with ordhc.Session(tmp_path / "a") as again:
        assert state(again) == expected
        assert [item.name for item in again.items() if item.retired] == [NAMES[0]]
        assert [item.name for item in again.items() if item.added] == [*NAMES[n : n + 4], NAMES[20]]


def test_robust_paper_takes_new_items(tmp_path):
    method = learners.RobustPaper(p=0.99, delta=0.4)
    with ordhc.Session(tmp_path / "a", NAMES[:1], method=method, durable=False) as session:
        for name in NAMES[1:4]:
            session.add_items(name)
            answer(session, 3)
        finish(session)
        assert_right(session)
        session.retire(NAMES[1])
        session.add_items(NAMES[4])
        finish(session)
        assert_right(session)


@pytest.mark.parametrize("question", ["odd", "triplet", "pairs"])
def test_uncertain_takes_new_items(tmp_path, question):
    method = learners.Uncertain(question=question)
    with ordhc.Session(tmp_path / "a", NAMES[:6], method=method) as session:
        answer(session, 50)
        before = session.status.remaining
        session.add_items(NAMES[6:8])
        assert session.status.remaining == before + 40
        held = session.ask(30, who="ann")
        session.retire(NAMES[0])
        gone = (held.rows == 0).any(axis=1)
        assert gone.any()
        told = session.tell(held.ids, answers_to(session, held.rows), who="ann")
        assert [result == "late" for result in told] == gone.tolist()
        finish(session)
        rows = np.stack([session.table()[f"leaf_{k + 1}"] for k in range(session.width)], axis=1)
        useful = (rows != 0).all(axis=1) & (session.table()["sampler"] == "learner")
        # 20 questions for each of the seven items that are left.
        assert useful.sum() == 140
        assert session.tree().names == NAMES[1:8]
        assert ordhc.metrics.robinson_foulds(session.tree(), of_names(NAMES[1:8])) <= 0.4
        expected = state(session)
    with ordhc.Session(tmp_path / "a") as again:
        assert state(again) == expected


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_items_or_says_why_not(tmp_path, name):
    prior = of_names(NAMES[:5])
    given = {
        "revise": {"prior": prior},
        "robust": {"p": 0.9},
        "robust-paper": {"p": 0.9},
        "majority": {"p": 0.9},
    }
    method = by_settings(method=name, **given.get(name, {}))["method"]
    with ordhc.Session(tmp_path / "a", NAMES[:5], method=method) as session:
        if method.needs_all is None:
            session.add_items(NAMES[5])
            session.retire(NAMES[0])
            assert session.tree().names == NAMES[1:6]
            return
        before = state(session)
        for change in (session.add_items, session.retire):
            with pytest.raises(
                InputError, match="items of this session cannot change: .*make a session with"
            ):
                change(NAMES[5])
        assert (state(session), session.names) == (before, NAMES[:5])


def test_names_are_checked(tmp_path):
    with ordhc.Session(tmp_path / "a", ["a", "b", "c"]) as session:
        for given, why in [
            ("a", "has an item 'a' already"),
            (["d", "d"], "the name 'd' occurs twice"),
            ([], "items is empty"),
            ("", "which is empty"),
            (["d", " "], "which is empty"),
            ([3], "is 3, not a string"),
            ("\udcff", "Unicode|UTF-8"),
        ]:
            with pytest.raises(InputError, match=why):
                session.add_items(given)
        session.retire("b")
        for change, given, why in [
            (session.add_items, "b", "'b' was retired; give another name, such as 'b 2'"),
            (session.retire, "b", "'b' is retired already"),
            (session.retire, "x", "'x'"),
            (session.retire, ["a", "c"], "before all are retired"),
            (session.retire, [], "items is empty"),
        ]:
            with pytest.raises(InputError, match=why):
                change(given)
        assert (session.names, session.retired, session.n_leaves) == (("a", "b", "c"), ("b",), 3)
        session.add_items("b 2")
        with pytest.raises(InputError, match="'b' is retired and cannot be asked about"):
            session.ask(who="ann", sampler="random", rows=[[0, 1, 2]])
    with ordhc.Session(tmp_path / "b", n_leaves=3) as session:
        for change in (session.add_items, session.retire):
            with pytest.raises(InputError, match="have no names"):
                change("a")


def test_a_session_is_opened_by_its_first_or_its_present_names(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES[:4]) as session:
        session.add_items(NAMES[4])
        session.retire(NAMES[0])
    assert session.names == NAMES[:5], "a closed session still has its names"
    for names in (NAMES[:4], NAMES[:5], NAMES[1:5]):
        ordhc.Session(tmp_path / "a", names).close()
    for n in (4, 5):
        ordhc.Session(tmp_path / "a", n_leaves=n).close()
    for names in (NAMES[:6], NAMES[:3], NAMES[2:5]):
        with pytest.raises(InputError, match="differ from the given names; .*ordhc session add"):
            ordhc.Session(tmp_path / "a", names)


def test_questions_about_a_retired_item_are_withdrawn_and_their_answers_kept(tmp_path):
    fill = {"random": 1, "heldout": 1, "repeat": 1}
    with ordhc.Session(tmp_path / "a", NAMES[:6], fill=fill, distinct=False) as session:
        held = {who: session.ask(4, who=who) for who in ("ann", "bob", "eve")}
        gone = int(held["ann"].rows[0, 0])
        session.retire(NAMES[gone])
        for who, questions in held.items():
            is_gone = (questions.rows == gone).any(axis=1)
            now = session.ask(4, who=who)
            assert not (now.rows == gone).any()
            # Questions of other samplers that have no retired item stay with their people.
            stay = [
                number
                for number, sampler, out in zip(questions.ids, questions.samplers, is_gone, strict=True)
                if sampler != "learner" and not out
            ]
            assert set(stay) <= set(now.ids.tolist())
        before = len(session.comparisons(heldout=None))
        ann = held["ann"]
        told = session.tell(ann.ids, answers_to(session, ann.rows), who="ann")
        is_gone = (ann.rows == gone).any(axis=1)
        assert all(result == "late" for result, out in zip(told, is_gone, strict=True) if out)
        assert len(session.table()["answer"]) == len(ann)
        kept = session.comparisons(heldout=None)
        assert len(kept) == before + 2 * (~is_gone).sum()
        assert kept.names == tuple(name for name in NAMES[:6] if name != NAMES[gone])
        about = session.analysed().about
        assert about["n_retired_answers"] == is_gone.sum()
        assert about["n_answers"] + about["n_held_out"] == (~is_gone).sum()
        assert session.people()["ann"].n_answers == len(ann)
        # Answers about retired items can still be imported and taken back.
        session.add_answers([[gone, (gone + 1) % 6, (gone + 2) % 6]], [0], who="old")
        assert session.undo("ann") is not None
        for _ in range(100):
            asked = session.ask(3, who="bob")
            assert not (asked.rows == gone).any()
            session.tell(asked.ids, answers_to(session, asked.rows), who="bob")
        finish(session, (None, "ann", "bob", "eve"))
        assert_right(session)


def test_an_open_question_survives_an_added_item(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES[:8]) as session:
        held = session.ask(who="ann")
        session.add_items(NAMES[8])
        assert session.ask(who="ann").ids.tolist() == held.ids.tolist()
        assert session.tell(held.ids, answers_to(session, held.rows), who="ann") == ["taken"]


def test_an_item_is_no_person(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES[:4]) as session:
        answer(session, who=NAMES[4])
        session.add_items(NAMES[4])
        session.retire(NAMES[0])
        assert list(session.people()) == [NAMES[4]]
        assert session.forget(NAMES[4]) == 1
        assert (session.names, session.retired) == (NAMES[:5], NAMES[:1])
        finish(session)
        assert_right(session)
    with ordhc.Session(tmp_path / "a") as again:
        assert (again.names, again.retired) == (NAMES[:5], NAMES[:1])
        assert NAMES[4] not in again._contents.seen


def test_the_budget_is_kept(tmp_path):
    for kind in (
        {"method": "insertion", "parallel": 4},
        {"method": "robust", "p": 0.8},
        {"method": "uncertain"},
    ):
        path = tmp_path / kind["method"]
        with ordhc.Session(path, NAMES[:12], budget=60, fill={}, **by_settings(**kind)) as session:
            for at in range(200):
                if at % 7 == 6 and session.n_leaves - len(session.retired) > 3:
                    session.retire(next(name for name in session.names if name not in session.retired))
                if at % 10 == 9 and session.n_leaves < 24:
                    session.add_items(NAMES[session.n_leaves])
                answer(session, 2)
            n_asked = (session._contents.log.kinds[: session._contents.log.n] == 1).sum()
            assert n_asked <= 61
            assert session.done


def test_the_start_keeps_its_heights(tmp_path):
    start = of_names(NAMES[:10])
    with ordhc.Session(tmp_path / "a", NAMES[:10], start=start) as session:
        assert session.done
        session.add_items(NAMES[10])
        session.retire([NAMES[3], NAMES[7]])
        finish(session)
        assert_right(session)
        tree = session.tree()
        old = tree.prune(NAMES[10])
        np.testing.assert_allclose(np.sort(old.heights), np.sort(start.prune([NAMES[3], NAMES[7]]).heights))
        session.retire([name for name in NAMES[:10] if name not in (NAMES[3], NAMES[7])])
        assert session.tree().names == (NAMES[10],)


def test_twenty_items_join_fifty_one_by_one_although_answers_are_wrong(tmp_path):
    truth = named(random_tree(70, 5, "yule"))
    right = 0
    for seed in range(4):
        noisy = oracles.noisy(oracles.from_tree(truth), 0.8, seed=seed)
        start = truth.prune(list(truth.names[50:]))
        path, method = tmp_path / f"{seed}", learners.Robust(p=0.8)
        with ordhc.Session(path, truth.names[:50], start=start, method=method, durable=False) as session:
            for name in truth.names[50:]:
                session.add_items(name)
                ordhc.learn(noisy, session=session)
            right += ordhc.metrics.robinson_foulds(session.tree(), truth) == 0
    assert right >= 3


def test_the_places_of_an_item_are_known(tmp_path):
    method = learners.Robust(p=0.8)
    options = {"start": of_names(NAMES[:8]), "method": method, "distinct": False}
    with ordhc.Session(tmp_path / "a", NAMES[:8], **options) as session:
        assert session.places(NAMES[0]) == []
        session.add_items(NAMES[8])
        before = session.places(NAMES[8])
        for who in ("ann", "bob", "eve"):
            answer(session, 2, who=who)
        during = session.places(8)
        assert during[0].probability > before[0].probability
        finish(session, ("ann", "bob", "eve"))
        after = session.places(NAMES[8])
        assert after[0].probability > during[0].probability
        tree = of_names(NAMES[:9])
        (parent,) = [node for node in tree.nodes() if NAMES[8] in [child.name for child in node.children]]
        beside = {tree.names[leaf] for leaf in parent.leaves} - {NAMES[8]}
        assert (set(after[0].leaves), after[0].where) == (beside, "beside")
    with ordhc.Session(tmp_path / "a") as again:
        assert again.places(8) == after
        again.retire(NAMES[8])
        assert again.places(8) == []
        with pytest.raises(InputError):
            again.places("no such item")


@pytest.fixture(scope="module")
def learners_trees():
    """Sessions give the tree of their learner, which follows from its state."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordhc.asking.session.best_tree", lambda *_: None)
        yield


acts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), max_size=25)


@pytest.mark.parametrize("kind", [*PLACING, {"method": "uncertain", "budget": 20}], ids=str)
@given(n=st.integers(1, 6), acts=acts)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_a_replay_has_the_same_state(tmp_path_factory, learners_trees, kind, n, acts):
    path = tmp_path_factory.mktemp("s") / "a"
    options = {"fill": {"random": 1, "heldout": 1, "repeat": 1}, "distinct": False, "durable": False}
    sessions = [ordhc.Session(path, NAMES[:n], **options, **by_settings(**kind)), ordhc.Session(path)]
    try:
        held = []
        names, retired, n_answers = list(NAMES[:n]), [], 0
        for act, at in acts:
            session, who = sessions[at % 2], [None, "ann", "bob"][at % 3]
            left = [name for name in names if name not in retired]
            if act == 0 and len(names) < 20:
                names.append(NAMES[len(names)])
                session.add_items(names[-1])
            elif act == 1 and len(left) > 1:
                retired.append(left[at % len(left)])
                session.retire(retired[-1])
            elif act == 2:
                n_answers -= session.undo(who) is not None
            elif act < 6:
                questions = session.ask(1 + at % 3, who=who)
                gone = [names.index(name) for name in retired]
                assert not np.isin(questions.rows, gone).any()
                held += [(number, row, who) for number, row in questions]
            elif act == 6:
                session.close()
                sessions[at % 2] = ordhc.Session(path)
            elif held:
                number, row, who = held.pop(at % len(held))
                (told,) = session.tell([number], answers_to(session, [row]), who=who)
                # An unknown person may answer a question twice.
                n_answers += told != "already answered" or who is None
            with ordhc.Session(path) as fresh:
                for session in sessions:
                    assert (session.names, set(session.retired)) == (tuple(names), set(retired))
                    assert len(session.table()["answer"]) == n_answers
                    assert state(session) == state(fresh)
                    assert (session.done, session.items()) == (fresh.done, fresh.items())
        finish(sessions[0], (None, "ann", "bob"))
        if kind["method"] != "uncertain":
            assert_right(sessions[1])
        assert state(sessions[0]) == state(sessions[1])
    finally:
        for session in sessions:
            session.close()


def test_damaged_events_of_items_are_noticed(tmp_path):
    def rewritten(name, statement):
        path = tmp_path / name
        with ordhc.Session(path, NAMES[:4]) as session:
            answer(session)
            session.add_items(NAMES[4])
            session.retire(NAMES[1])
            finish(session)
            n_answers = session.status.n_answered
        db = sqlite3.connect(path)
        with db:
            db.execute(statement)
        db.close()
        return path, n_answers

    for name, statement in [
        ("a", f"UPDATE events SET who = 'x' WHERE who = '{NAMES[4]}'"),
        ("b", "UPDATE events SET ref = 4 WHERE kind = 15"),
        ("c", "UPDATE events SET kind = 16 WHERE kind = 15"),
    ]:
        path, _ = rewritten(name, statement)
        with pytest.raises(InputError, match="damaged"):
            ordhc.Session(path)
    path, n_answers = rewritten("d", "UPDATE events SET at = at + 1 WHERE kind = 1")
    found = salvage(path, tmp_path / "e")
    assert found.n_answers == n_answers
    with ordhc.Session(tmp_path / "e") as session:
        assert (session.names, session.retired) == (NAMES[:5], (NAMES[1],))
        finish(session)
        assert_right(session)


def test_only_well_supported_nodes_without_retired_items(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES[:8]) as session:
        finish(session)
        session.retire(NAMES[0])
        found = ordhc.learn(lambda rows: answers_to(session, rows), session=session, supported_by=1)
        assert found.names == NAMES[1:8]


def test_an_oracle_need_not_know_retired_items_and_learns_of_new_ones(tmp_path):
    with ordhc.Session(tmp_path / "a", ["old", *NAMES[:5]]) as session:
        session.retire("old")
        truth = oracles.from_tree(TRUTH)

        class Adding:
            names, n_leaves, calls = TRUTH.names, TRUTH.n_leaves, 0

            def __call__(self, rows):
                self.calls += 1
                if self.calls == 3:
                    session.add_items(NAMES[5])
                return truth(rows)

        ordhc.learn(Adding(), session=session)
        assert_right(session)
        session.add_items("nobody knows this")
        with pytest.raises(InputError, match="nobody knows this"):
            ordhc.learn(truth, session=session)


def test_items_join_and_leave_a_session_of_many_items(tmp_path):
    """Above 250 items one tree follows the answers: it forgets items that left, and knows new ones."""
    names, gone = [f"item {leaf}" for leaf in range(260)], []
    with ordhc.Session(tmp_path / "s.ordhc", names, method="uncertain", seed=1) as session:
        for turn in range(40):
            asked = session.ask(60)
            assert not np.isin(asked.rows, gone).any()
            # Items are alike if their numbers are near.
            apart = np.abs(asked.rows[:, [1, 0, 0]] - asked.rows[:, [2, 2, 1]])
            session.tell(asked.ids, apart.argmin(axis=1))
            if turn == 10:
                gone = np.unique(asked.rows)[:3].tolist()
                session.retire([names[leaf] for leaf in gone])
            if turn == 15:
                session.add_items(["new 1", "new 2"])
        assert session.status.n_placed == 259
        waiting = session.ask(20)
        assert not np.isin(waiting.rows, gone).any()
    with ordhc.Session(tmp_path / "s.ordhc") as session:
        np.testing.assert_array_equal(session.ask(20).rows, waiting.rows)
