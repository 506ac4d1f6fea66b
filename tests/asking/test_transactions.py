"""Several calls of a session as one, and questions that its learner doesn't choose."""

import sqlite3

import pytest

import ordhc
from ordhc.errors import InputError
from support.sessions import answers_of


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
            assert other.status.n_answered == 0
        assert session.status.n_answered == 3
    with ordhc.Session(memory_path / "a.ordhc") as other:
        assert other.status.n_answered == 3
        assert other.tree().to_newick() == session.tree().to_newick()


def test_nothing_of_it_happens_when_it_fails(session, memory_path):
    answer(session, "ann")
    before = session.tree().to_newick()
    with pytest.raises(KeyError), session.transaction() as db:  # noqa: PT012
        db.execute("CREATE TABLE mine (x)")
        answer(session, "bob")
        session.undo("ann")
        raise KeyError
    assert session.status.n_answered == 1
    assert session.tree().to_newick() == before
    assert list(session.people()) == ["ann"]
    with session.transaction() as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'mine'").fetchone() == (0,)


def test_the_same_as_one_by_one(memory_path):
    sessions = [
        ordhc.Session(memory_path / name, n_leaves=9, method=ordhc.learners.Robust(p=0.8), seed=3)
        for name in ("together", "alone")
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
    for mine, other in zip(answers_of(together), answers_of(alone), strict=True):
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
            patch.setattr(session._contents.store, "append", fail)
            with pytest.raises(OSError, match="no room"):
                session.ask(sampler="random", who="bob")
    assert session.status.n_answered == 0
    # What is refused before anything is written spoils nothing.
    with session.transaction():
        answer(session, "ann")
        with pytest.raises(InputError, match="three different leaves"):
            session.ask(sampler="random", rows=[[0, 0, 1]], who="bob")
        with pytest.raises(InputError, match="have no names"):
            session.add_items("x")
    assert session.status.n_answered == 1


def test_transactions_are_not_within_each_other(session):
    with pytest.raises(InputError, match="cannot be nested"), session.transaction(), session.transaction():
        pass
    with session.transaction():
        answer(session, "ann")
    assert session.status.n_answered == 1


def test_errors_of_own_statements_are_ones_own(session):
    with pytest.raises(sqlite3.OperationalError, match="no such table"), session.transaction() as db:  # noqa: PT012
        answer(session, "ann")
        db.execute("SELECT * FROM nowhere")
    assert session.status.n_answered == 0


def test_a_full_file_is_an_error_of_the_system(session):
    with pytest.raises(OSError, match="full; this call has no effect"), session.transaction() as db:  # noqa: PT012
        answer(session, "ann")
        (size,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {size}")
        db.execute("CREATE TABLE mine (x)")
        db.execute("INSERT INTO mine VALUES (zeroblob(100000))")
    assert session.status.n_answered == 0


def test_other_tables_are_left_alone(session, memory_path):
    with session.transaction() as db:
        db.execute("CREATE TABLE mine (who TEXT PRIMARY KEY, at REAL) WITHOUT ROWID")
        db.execute("CREATE INDEX of_mine ON mine (at)")
        db.execute("INSERT INTO mine VALUES ('ann', 1.5)")
        answer(session, "ann")
    with ordhc.Session(memory_path / "a.ordhc") as again:
        assert again.status.n_answered == 1
        again.forget("ann")
    with sqlite3.connect(memory_path / "a.ordhc") as db:
        assert db.execute("SELECT * FROM mine").fetchall() == [("ann", 1.5)]


@pytest.mark.parametrize("sampler", ["heldout", "random"])
def test_questions_are_drawn_that_are_new(session, sampler):
    seen = set()
    for _ in range(20):
        questions = session.ask(sampler=sampler, who="ann")
        assert questions.samplers == (sampler,)
        seen.add(tuple(sorted(questions.rows[0].tolist())))
        session.tell(questions.ids, [1], who="ann")
    # All there are of six leaves; then there is none.
    assert len(seen) == 20
    assert len(session.ask(sampler=sampler, who="ann")) == 0
    assert len(session.ask(sampler=sampler, who="bob")) == 1


def test_own_questions(session):
    questions = session.ask(sampler="heldout", rows=[[2, 0, 5], [1, 3, 4]], who="ann")
    assert questions.rows.tolist() == [[2, 0, 5], [1, 3, 4]]
    assert session.tell(questions.ids, [0, -1], who="ann") == ["taken", "taken"]
    assert len(session.comparisons()) == 0
    assert len(session.comparisons(heldout=True)) == 2
    assert len(session.ask(sampler="random", rows=[], who="ann")) == 0


@pytest.mark.parametrize(
    ("sampler", "rows", "told"),
    [
        ("learner", None, "learner"),
        ("random", [[0, 1]], "not \\(m, 3\\)"),
        ("random", [[0, 1, 6]], "from 0 to 5"),
        ("random", [[0, 1, 1]], "three different"),
    ],
)
def test_what_cannot_be_asked(session, sampler, rows, told):
    with pytest.raises(InputError, match=told):
        session.ask(sampler=sampler, rows=rows, who="ann")


def test_asking_in_the_name_of_a_sampler_needs_a_person(tmp_path):
    with ordhc.Session(tmp_path / "s.ordhc", n_leaves=4) as session:
        with pytest.raises(InputError, match="sampler='random' needs the argument `who`"):
            session.ask(sampler="random")
        with pytest.raises(InputError, match="rows= needs the sampler"):
            session.ask(rows=[[0, 1, 2]], who="ann")
        with pytest.raises(InputError, match="gold answers are right, whoever gave them"):
            session.add_answers([[0, 1, 2]], [0], who="ann", gold=True)


def test_a_session_has_few_members():
    assert len([name for name in dir(ordhc.Session) if not name.startswith("_")]) <= 26
