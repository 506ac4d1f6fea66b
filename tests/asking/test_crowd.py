"""Many people at one session: everybody gets a question, nobody the same one twice, no answer is lost."""

import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from support.learners import by_settings
from support.random_data import random_tree
from support.sessions import NAMES, ORACLE, TRUTH, answer, answers_of, state
from support.trees import same

CROWD = [f"person {k}" for k in range(200)]


def leaves_of(questions):
    return [tuple(sorted(row)) for row in questions.rows.tolist()]


def test_everybody_gets_a_question(tmp_path):
    truth = random_tree(100, 1)
    oracle = oracles.from_tree(truth)
    with ordhc.Session(tmp_path / "a", n_leaves=100) as session:
        for _ in range(3):
            asked = {who: session.ask(who=who) for who in CROWD}
            assert [len(questions) for questions in asked.values()] == [1] * 200
            assert len({int(questions.ids[0]) for questions in asked.values()}) == 200
            # Of 98 leaves that have no place yet all are searched side by side.
            samplers = Counter(questions.samplers[0] for questions in asked.values())
            assert samplers["learner"] >= 90
            for who, questions in asked.items():
                assert dict(session.ask(who=who)) == dict(questions)
            for who, questions in asked.items():
                assert session.tell(questions.ids, oracle(questions.rows), who=who) == ["taken"]
        n = Counter(session.table()["sampler"].tolist())
        assert n["heldout"] == pytest.approx(0.5 * (600 - n["learner"]), abs=60)
        assert n["repeat"] > 0 < n["random"]
        while not session.done:
            for who in CROWD:
                questions = session.ask(2, who=who)
                assert len(questions) == 2 or session.done
                session.tell(questions.ids, oracle(questions.rows), who=who)
        assert same(session.tree(), truth)


def test_searches_follow_the_people(tmp_path):
    now = [1000.0]
    with ordhc.Session(tmp_path / "a", n_leaves=100) as session:
        session._contents.now = lambda: now[0]

        def learners(crowd, k=1):
            samplers = [session.ask(k, who=who, lease=1).samplers for who in crowd]
            now[0] += 2
            return sum(names.count("learner") for names in samplers)

        assert learners(["ann"]) == 1
        assert learners(CROWD[:20]) == 20
        assert learners(["ann"], 30) == 30
        # After a while without the others, as many as Ann wants.
        now[0] += 1000
        oracle = oracles.from_tree(random_tree(100, 1))
        while session.status.n_placed < 40:
            questions = session.ask(1, who="ann")
            session.tell(questions.ids, oracle(questions.rows), who="ann")
        with ordhc.Session(tmp_path / "a") as again:
            again._contents.now = session._contents.now
            assert state(again) == state(session)
            assert again._contents.log.parallel == session._contents.log.parallel < 10
    with ordhc.Session(tmp_path / "b", n_leaves=100, method=ordhc.learners.Insertion(parallel=3)) as session:
        samplers = [session.ask(who=who).samplers[0] for who in CROWD]
        assert samplers.count("learner") == 3


def test_shares_of_what_fills(tmp_path):
    with ordhc.Session(
        tmp_path / "a",
        n_leaves=50,
        method=ordhc.learners.Insertion(parallel=1),
        fill={"random": 3, "heldout": 1},
    ) as session:
        assert session.settings["fill"] == {"random": 0.75, "heldout": 0.25}
        assert Counter(session.ask(41, who="ann").samplers) == {"learner": 1, "random": 30, "heldout": 10}
        assert Counter(session.ask(9, who="bob", fill="random").samplers) == {"random": 9}
        assert Counter(session.ask(8, who="cat", fill=["random", "heldout"]).samplers)["heldout"] >= 4
        assert len(session.ask(5, who="dan", fill={})) == 0
        # Nobody in particular gets what the learner asks.
        assert len(session.ask(5)) == 0
        assert session.ask(5, fill="random").samplers == ("random",) * 5
        for fill, text in [
            ({"repeats": 1}, "fill is 'repeats', not one of"),
            ({"random": -1}, r"fill\['random'\] = -1"),
            ({"random": 0}, "one must be above 0"),
            (3, "fill = 3 must be a sampler"),
        ]:
            with pytest.raises(InputError, match=text):
                session.ask(fill=fill)
    with pytest.raises(InputError, match="fill is .*, not"):
        ordhc.Session(tmp_path / "a", fill="random")
    ordhc.Session(tmp_path / "a", fill={"random": 6, "heldout": 2}).close()
    # Nothing can be repeated before somebody has answered.
    with ordhc.Session(tmp_path / "b", n_leaves=50, fill="repeat") as session:
        first = session.ask(who="ann")
        assert len(session.ask(2, who="ann")) == 2
        assert len(session.ask(who="bob")) == 1
        session.tell(first.ids, [0], who="ann")
        session.tell(session.ask(3, who="bob").ids[:1], [0], who="bob")


@pytest.mark.parametrize("kind", [{}, {"p": 0.8}, {"schedule": "rounds"}, {"method": "single"}], ids=str)
@pytest.mark.parametrize("repeat", [1, 3])
def test_nobody_is_asked_twice(tmp_path, kind, repeat):
    truth = random_tree(12, 3)
    of_pairs = oracles.from_similarity(np.random.default_rng(0).random((12, 12)))
    oracle = of_pairs if "method" in kind else oracles.from_tree(truth)
    known = {who: Counter() for who in CROWD[:5]}
    with ordhc.Session(tmp_path / "a", n_leaves=12, repeat=repeat, **by_settings(**kind)) as session:
        for turn in range(300 if "p" in kind else 3000):
            if session.done:
                break
            who = CROWD[turn % 5]
            questions = session.ask(1 + turn % 3, who=who)
            if session.width == 3:
                known[who].update(leaves_of(questions))
            else:
                known[who].update(
                    tuple(sorted([tuple(sorted(row[:2])), tuple(sorted(row[2:]))]))
                    for row in questions.rows.tolist()
                )
            states = session.tell(questions.ids, oracle(questions.rows), who=who)
            assert states == ["taken"] * len(questions)
        assert all(set(counts.values()) <= {1} for counts in known.values())
        # Of few questions people may know all that is left.
        if "p" not in kind and (repeat == 1 or "method" not in kind):
            assert session.done
    if repeat == 3 and not kind:
        with ordhc.Session(tmp_path / "b", n_leaves=12, repeat=3, distinct=False, fill={}) as session:
            assert len({tuple(sorted(row)) for row in session.ask(3, who="ann").rows.tolist()}) == 1


def test_what_becomes_of_answers(tmp_path):
    now = [1000.0]
    with ordhc.Session(tmp_path / "a", NAMES, method=ordhc.learners.Insertion(schedule="rounds")) as session:
        session._contents.now = lambda: now[0]
        mine = session.ask(2, who="ann", lease=60)
        now[0] += 100
        theirs = session.ask(2, who="bob", lease=60)
        assert dict(mine) == dict(theirs)
        told = ORACLE(mine.rows)
        assert session.tell([*theirs.ids, 999, 0, -5], [*told, 0, 0, 0], who="bob") == [
            "taken", "taken", "foreign", "foreign", "foreign",
        ]  # fmt: skip
        tree = session.tree()
        wrong = (told + 1) % 3
        assert session.tell(mine.ids, wrong, who="ann") == ["late", "late"]
        assert session.tell(mine.ids, wrong, who="ann") == ["already answered"] * 2
        assert session.status.n_answered == 4
        assert session.tell(mine.ids, told, who="ann") == ["already answered"] * 2
        assert session.status.n_answered == 6
        assert session.tell([mine.ids[0]] * 2, [0, 0], who="eve") == ["late", "already answered"]
        assert session.tree() == tree
        assert session.tell([], []) == []
        # What was taken back may be answered by those who have it, and by others.
        assert session.undo("bob") is not None
        assert session.tell(mine.ids[1:], told[1:], who="zoe") == ["late"]
        with pytest.raises(InputError, match="the answer to question 2 is 3, outside -1..2"):
            session.tell([1, 2], [0, 3], who="ann")
        with pytest.raises(InputError, match=r"seconds\[0\] = -1 is not a time"):
            session.tell([1], [0], seconds=[-1])
        with pytest.raises(InputError, match="seconds have shape"):
            session.tell([1], [0], seconds=[1, 2])


def test_taking_back_leaves_others_alone(tmp_path):
    truth = random_tree(40, 1)
    oracle = oracles.from_tree(truth)
    for kind in ({}, {"p": 0.9}, {"schedule": "balanced"}):
        with ordhc.Session(tmp_path / "-".join(["a", *kind]), n_leaves=40, **by_settings(**kind)) as session:
            for _ in range(6):
                for who in CROWD[:10]:
                    answer(session, 2, who=who, oracle=oracle)
            held = {who: session.ask(2, who=who) for who in CROWD[1:10]}
            before, placed = session.status.n_answered, session.status.n_placed
            assert session.undo(CROWD[0]) is not None
            assert session.status.n_placed >= placed - 2
            for who, questions in held.items():
                if "schedule" not in kind:
                    assert dict(session.ask(2, who=who)).keys() & dict(questions).keys()
                states = session.tell(questions.ids, oracle(questions.rows), who=who)
                assert set(states) <= {"taken", "late"}
            assert session.status.n_answered == before - 1 + 18
            rows, answers, _ = answers_of(session)
            assert (oracle(rows) == answers).all()


def test_what_is_held_out_stays_apart(tmp_path):
    oracle = oracles.from_tree(random_tree(30, 1))
    with ordhc.Session(
        tmp_path / "a", n_leaves=30, method=ordhc.learners.Insertion(parallel=1), fill="heldout"
    ) as session:
        for who in CROWD[:20]:
            questions = session.ask(4, who=who)
            # All that is held out is answered wrongly.
            right = oracle(questions.rows)
            told = [
                r if name == "learner" else (r + 1) % 3
                for r, name in zip(right.tolist(), questions.samplers, strict=True)
            ]
            session.tell(questions.ids, told, who=who)
        n = Counter(session.table()["sampler"].tolist())
        assert n["heldout"] == 60
        kept, apart = session.comparisons(), session.comparisons(heldout=True)
        assert len(kept) == 2 * n["learner"]
        assert len(apart) <= 2 * n["heldout"]
        assert len(session.comparisons(heldout=None)) == 2 * session.status.n_answered
        assert ordhc.metrics.satisfied(random_tree(30, 1), kept).agreed == 1
        assert ordhc.metrics.satisfied(random_tree(30, 1), apart).agreed == 0
        # What is asked otherwise too is not held out any more.
        rows = session.comparisons(heldout=True).rows[:1]
        session.add_answers(rows, [0])
        assert len(session.comparisons(heldout=True)) == len(apart) - 2


def test_the_budget_holds_for_all_questions(tmp_path):
    with ordhc.Session(
        tmp_path / "a", n_leaves=30, method=ordhc.learners.Insertion(parallel=1), budget=20
    ) as session:
        total = sum(answer(session, 5, who=who, oracle=lambda rows: [0] * len(rows)) for who in CROWD[:10])
        assert total == 20
        assert session.done
        with ordhc.Session(tmp_path / "a") as again:
            assert again.done
            assert len(again.ask(who="eve")) == 0


def test_the_table(tmp_path):
    now = [1000.0]
    with ordhc.Session(
        tmp_path / "a", NAMES, method=ordhc.learners.Insertion(parallel=1), fill="random"
    ) as session:
        session._contents.now = lambda: now[0]
        mine = session.ask(who="ann", lease=10)
        theirs = session.ask(who="bob", lease=100)
        now[0] += 11
        passed = session.ask(2, who="cat", lease=10)
        assert passed.ids[0] == mine.ids[0]
        now[0] += 4
        session.tell(mine.ids, [0], who="ann")
        session.tell(passed.ids[:1], [-1], who="cat")
        session.tell(theirs.ids, [2], who="bob", seconds=[3.25])
        session.tell(passed.ids[1:], [1], who="cat", seconds=[np.nan])
        session.add_answers([[0, 1, 2]], [2], who="old")
        for _ in range(2):
            table = session.table()
            assert table["who"].tolist() == ["ann", "cat", "bob", "cat", "old"]
            assert table["trial"].tolist() == [0, 0, 0, 1, 0]
            assert table["sampler"].tolist() == ["learner", "learner", "random", "random", "import"]
            assert table["position"].tolist() == [1, 0, 3, 2, 3]
            assert table["answer"].tolist() == [0, -1, 2, 1, 2]
            assert table["seconds"][:4].tolist() == [15, 4, 3.25, 4]
            assert np.isnan(table["seconds"][4])
            assert table["at"].tolist()[:4] == [1015.0] * 4
            assert [table[f"leaf_{k}"][0] for k in (1, 2, 3)] == mine.rows[0].tolist()
            session._contents._is_stale = True
            session._contents._n_committed = 0


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_people_do_the_file_says_the_same(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("s") / "a.ordhc"
    kind = data.draw(
        st.sampled_from([{}, {"p": 0.9}, {"schedule": "balanced"}, {"repeat": 3}, {"method": "quick"}])
    )
    sessions = [ordhc.Session(path, NAMES, **by_settings(**kind)), ordhc.Session(path)]
    for session in sessions:
        session._contents.now = lambda: now[0]
    now, held = [1000.0], {}
    for _ in range(data.draw(st.integers(1, 30))):
        session = sessions[data.draw(st.integers(0, 1))]
        who = data.draw(st.sampled_from(["ann", "bob", None]))
        what = data.draw(st.sampled_from(["ask", "tell", "tell", "undo", "wait", "gold"]))
        if what == "ask":
            questions = session.ask(data.draw(st.integers(1, 3)), who=who, lease=30)
            held[who] = questions
        elif what == "tell" and who in held:
            questions = held[who]
            before = session.status.n_answered
            states = session.tell(questions.ids, ORACLE(questions.rows), who=who)
            again = [] if who is None else [state for state in states if state == "already answered"]
            assert session.status.n_answered == before + len(states) - len(again)
        elif what == "undo":
            session.undo(who)
        elif what == "wait":
            now[0] += 40
        elif what == "gold":
            session.add_answers([[0, 1, 2]], [2], gold=True)
        assert state(sessions[0]) == state(sessions[1])
    with ordhc.Session(path) as again:
        assert state(again) == state(session)
        log, kept = again._contents.log, session._contents.log
        assert (log.parallel, log.counts) == (kept.parallel, kept.counts)
        n = log.n
        assert np.array_equal(log.n_answers[:n], kept.n_answers[:n])
        for who in ("ann", "bob"):
            for one in sessions:
                assert vars(one._contents.log.history(who)) == vars(log.history(who))
        while not again.done:
            answer(again, 3)
        if "p" not in kind:
            assert same(again.tree(), TRUTH)
    for session in sessions:
        session.close()


def test_two_hundred_people_on_threads(tmp_path):
    """Everybody answers at once through a few sessions of one file."""
    truth = random_tree(100, 2)
    oracle = oracles.from_tree(truth)
    ordhc.Session(tmp_path / "a", n_leaves=100).close()
    sessions = [ordhc.Session(tmp_path / "a") for _ in range(3)]
    told, troubles = Counter(), []

    def live(who, session):
        try:
            for _ in range(4):
                questions = session.ask(who=who)
                if not len(questions):
                    assert session.done
                    return
                told.update(session.tell(questions.ids, oracle(questions.rows), who=who))
        except BaseException as error:
            troubles.append(error)

    threads = [threading.Thread(target=live, args=(who, sessions[k % 3])) for k, who in enumerate(CROWD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    assert set(told) <= {"taken", "late"}
    for session in sessions:
        assert session.status.n_answered == sum(told.values())
        assert state(session) == state(sessions[0])
    for session in sessions:
        session.close()
    with ordhc.Session(tmp_path / "a") as session:
        while not session.done:
            answer(session, None, oracle=oracle)
        assert same(session.tree(), truth)


def test_uncertain_has_a_question_for_somebody_who_knows_its_best_ones(tmp_path):
    """Its best question now may be one that this person has answered: then it is the next one."""
    oracle = oracles.from_tree(random_tree(8, 1))
    path, seen = tmp_path / "a", set()
    session = ordhc.Session(path, n_leaves=8, method="uncertain", budget=1000, fill={})
    for number in range(30):
        if number % 10 == 5:
            session.close()
            session = ordhc.Session(path)
        questions = session.ask(who="ann")
        assert questions.samplers == ("learner",)
        seen.update(leaves_of(questions))
        session.tell(questions.ids, oracle(questions.rows), who="ann")
    session.close()
    assert len(seen) == 30
