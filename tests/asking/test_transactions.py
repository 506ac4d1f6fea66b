"""Several calls of a session as one, and questions that its learner doesn't choose."""

import sqlite3

import pytest

import ordhc
from ordhc import InputError


@pytest.fixture
def session(memory_path):
    with ordhc.Session(memory_path / "a.ordhc", n_leaves=6) as opened:
        yield opened


def answer(session, who):
    questions = session.ask(who=who)
    return session.tell(questions.ids, [0], who=who)


def test_calls_happen_together(session, memory_path):
    with session.transaction():
        for who in ("ann", "bob", "cleo"):
            assert answer(session, who) == ["taken"]
        # Nobody else sees anything of it yet.
        with ordhc.Session(memory_path / "a.ordhc") as other:
            assert other.n_answered == 0
        assert session.n_answered == 3
    with ordhc.Session(memory_path / "a.ordhc") as other:
        assert other.n_answered == 3
        assert other.tree().to_newick() == session.tree().to_newick()


def test_nothing_of_it_happens_when_it_fails(session, memory_path):
    answer(session, "ann")
    before = session.tree().to_newick()
    with pytest.raises(KeyError), session.transaction() as db:  # noqa: PT012
        db.execute("CREATE TABLE mine (x)")
        answer(session, "bob")
        session.undo("ann")
        raise KeyError
    assert session.n_answered == 1
    assert session.tree().to_newick() == before
    assert list(session.people()) == ["ann"]
    with session.transaction() as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'mine'").fetchone() == (0,)


def test_the_same_as_one_by_one(memory_path):
    sessions = [
        ordhc.Session(memory_path / name, n_leaves=9, p=0.8, seed=3) for name in ("together", "alone")
    ]
    together, alone = sessions
    for _ in range(5):
        with together.transaction():
            for who in ("ann", "bob"):
                answer(together, who)
        for who in ("ann", "bob"):
            answer(alone, who)
    together.undo("ann")
    with alone.transaction():
        alone.undo("ann")
    for mine, other in zip(together.answers(), alone.answers(), strict=True):
        assert list(map(str, mine)) == list(map(str, other))
    assert together.tree().to_newick() == alone.tree().to_newick()
    for each in sessions:
        each.close()


def test_a_call_that_fails_halfway_spoils_all(session, monkeypatch):
    def fail(*_):
        raise OSError("no room")

    with pytest.raises(InputError, match="has failed"), session.transaction():  # noqa: PT012
        answer(session, "ann")
        with monkeypatch.context() as patch:
            patch.setattr(session._mirror.store, "append", fail)
            with pytest.raises(OSError, match="no room"):
                session.pose("random", who="bob")
    assert session.n_answered == 0
    # What is refused before anything is written spoils nothing.
    with session.transaction():
        answer(session, "ann")
        with pytest.raises(InputError, match="three different leaves"):
            session.pose("random", [[0, 0, 1]], who="bob")
    assert session.n_answered == 1


def test_transactions_are_not_within_each_other(session):
    with pytest.raises(InputError, match="within another"), session.transaction(), session.transaction():
        pass
    with session.transaction():
        answer(session, "ann")
    assert session.n_answered == 1


def test_errors_of_own_statements_are_ones_own(session):
    with pytest.raises(sqlite3.OperationalError, match="no such table"), session.transaction() as db:  # noqa: PT012
        answer(session, "ann")
        db.execute("SELECT * FROM nowhere")
    assert session.n_answered == 0


def test_a_full_file_is_an_error_of_the_system(session):
    with pytest.raises(OSError, match="full; nothing of this call is kept"), session.transaction() as db:  # noqa: PT012
        answer(session, "ann")
        (size,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {size}")
        db.execute("CREATE TABLE mine (x)")
        db.execute("INSERT INTO mine VALUES (zeroblob(100000))")
    assert session.n_answered == 0


def test_other_tables_are_left_alone(session, memory_path):
    with session.transaction() as db:
        db.execute("CREATE TABLE mine (who TEXT PRIMARY KEY, at REAL) WITHOUT ROWID")
        db.execute("CREATE INDEX of_mine ON mine (at)")
        db.execute("INSERT INTO mine VALUES ('ann', 1.5)")
        answer(session, "ann")
    with ordhc.Session(memory_path / "a.ordhc") as again:
        assert again.n_answered == 1
        again.forget("ann")
    with sqlite3.connect(memory_path / "a.ordhc") as db:
        assert db.execute("SELECT * FROM mine").fetchall() == [("ann", 1.5)]


@pytest.mark.parametrize("sampler", ["heldout", "random"])
def test_questions_are_drawn_that_are_new(session, sampler):
    seen = set()
    for _ in range(20):
        questions = session.pose(sampler, who="ann")
        assert questions.samplers == (sampler,)
        seen.add(tuple(sorted(questions.rows[0].tolist())))
        session.tell(questions.ids, [1], who="ann")
    # All there are of six leaves; then there is none.
    assert len(seen) == 20
    assert len(session.pose(sampler, who="ann")) == 0
    assert len(session.pose(sampler, who="bob")) == 1


def test_own_questions(session):
    questions = session.pose("heldout", [[2, 0, 5], [1, 3, 4]], who="ann")
    assert questions.rows.tolist() == [[2, 0, 5], [1, 3, 4]]
    assert session.tell(questions.ids, [0, -1], who="ann") == ["taken", "taken"]
    assert len(session.comparisons()) == 0
    assert len(session.comparisons(heldout=True)) == 2
    assert len(session.pose("random", [], who="ann")) == 0


@pytest.mark.parametrize(
    ("sampler", "rows", "told"),
    [
        ("learner", None, "learner"),
        ("random", [[0, 1]], "not \\(m, 3\\)"),
        ("random", [[0, 1, 6]], "0..=5"),
        ("random", [[0, 1, 1]], "three different"),
    ],
)
def test_what_cannot_be_asked(session, sampler, rows, told):
    with pytest.raises(InputError, match=told):
        session.pose(sampler, rows, who="ann")
