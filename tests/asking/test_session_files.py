"""Files of sessions: sharing them, what is refused, what is salvaged."""

import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ordhc
from ordhc.asking import store
from ordhc.cli import group
from ordhc.errors import InputError
from support.learners import by_settings
from support.sessions import NAMES, ORACLE, TRUTH, answer, answers_of, finish
from support.trees import same

DATA = Path(__file__).parents[1] / "data"


def finished(session):
    finish(session)
    return same(session.tree(), TRUTH)


# --- several people --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [{}, {"schedule": "rounds"}, {"parallel": 3}, {"p": 0.9}, {"repeat": 3}], ids=str
)
def test_open_questions_outlive_undo_and_import(tmp_path, kind):
    with (
        ordhc.Session(tmp_path / "a", NAMES, **by_settings(**kind)) as ann,
        ordhc.Session(tmp_path / "a") as bob,
    ):
        for _ in range(3):
            answer(ann, who="ann")
        theirs = bob.ask(2, who="bob")
        assert len(theirs)
        assert ann.undo("ann") is not None
        ann.add_answers([[0, 3, 5]], ORACLE([[0, 3, 5]]), who="old")
        mine = ann.ask(3, who="ann")
        assert not set(mine.ids.tolist()) & set(theirs.ids.tolist())
        before = bob.status.n_answered
        bob.tell(theirs.ids, ORACLE(theirs.rows), who="bob")
        assert bob.status.n_answered == before + len(theirs)
        rows, _, who = answers_of(bob)
        kept = [tuple(row) for row, name in zip(rows.tolist(), who, strict=True) if name == "bob"]
        assert kept == [row for _, row in theirs]
        ann.tell(mine.ids, ORACLE(mine.rows), who="ann")
        assert finished(ann)
        assert finished(bob)


def test_late_and_repeated_answers_are_kept(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES, method=ordhc.learners.Insertion(schedule="rounds")) as session:
        questions = session.ask(2)
        session.tell(questions.ids, ORACLE(questions.rows), who="ann")
        tree = session.tree()
        wrong = (ORACLE(questions.rows) + 1) % 3
        session.tell(questions.ids, wrong, who="bob")
        session.tell(questions.ids, wrong, who="bob")
        assert session.status.n_answered == 4
        assert len(session.comparisons()) == 8
        # The learner goes by the first answer, as long as it stands.
        assert session.tree() == tree
        session.undo("ann")
        session.undo("ann")
        assert answers_of(session)[2] == ["bob", "bob"]
        with ordhc.Session(
            tmp_path / "b", NAMES, method=ordhc.learners.Insertion(schedule="rounds")
        ) as other:
            again = other.ask(2)
            other.tell(again.ids, wrong)
            assert other.tree() == session.tree()
        assert session.tell([questions.ids[0], 99], [0, 0]) == ["late", "foreign"]
        assert session.status.n_answered == 3


def test_imports_are_used_when_they_are_asked_for(tmp_path):
    """Also those that the learner asks for only later."""
    with ordhc.Session(tmp_path / "full", NAMES) as full:
        assert finished(full)
        rows, answers, _ = answers_of(full)
    with ordhc.Session(tmp_path / "a", NAMES) as session:
        session.add_answers(rows[1:], answers[1:])
        assert not session.done
        answer(session)
        session.ask()
        assert session.done
        assert session.status.n_answered == len(rows)


# --- what is given ---------------------------------------------------------------------------


def test_what_is_no_answer_is_refused(tmp_path):
    with ordhc.Session(tmp_path / "a", NAMES) as session:
        for rows, answers, text in [
            ([[0, 1, 2], [0.5, 1, 2]], [0, 0], r"rows\[1, 0\] = 0.5 is not a whole number"),
            ([[np.nan, 1, 2]], [0], r"rows\[0, 0\] = nan is no"),
            ([[0, 1, 2]], [0.5], r"answers\[0\] = 0.5 is not a whole"),
            ([[0, 1, 1e300]], [0], r"rows\[0, 2\] = 1e.300 is beyond 64 bits"),
            ([["0", "1", "2"]], [0], "rows of type <U1 are not whole numbers"),
            ([[0, 1, 2**40]], [0], "row 0: .* are not three"),
        ]:
            with pytest.raises(InputError, match=text):
                session.add_answers(rows, answers)
        session.add_answers(np.array([[0.0, 1.0, 2.0]]), [2])
        session.add_answers([], [])
        assert session.status.n_answered == 1
        for call in (session.ask, session.undo, lambda who: session.tell([1], [0], who=who)):
            for who, text in [(5, "who = 5 is not a name"), ("\ud800", "cannot be written")]:
                with pytest.raises(InputError, match=text):
                    call(who=who)
    with pytest.raises(InputError, match="the session is closed"):
        session.ask()


def test_settings_of_numpy(tmp_path):
    given = {"seed": np.int64(3), "p": np.float64(0.9), "parallel": np.int32(2)}
    with ordhc.Session(tmp_path / "a", np.array(NAMES), **by_settings(**given)) as session:
        kept = {"method": "robust", "p": 0.9, "parallel": 2, "delta": 0.05, "seed": 3}
        assert session.settings == {**kept, "assume": "adversarial", "schedule": "questions"}
    ordhc.Session(tmp_path / "a", NAMES, **by_settings(**given)).close()


def test_nothing_is_left_of_a_session_that_cannot_be_made(tmp_path):
    with pytest.raises((MemoryError, InputError), match="2,147,483,647|2147483647"):
        ordhc.Session(tmp_path / "huge", n_leaves=2**31 - 1)
    for settings, text in [
        ({"n_leaves": 2**40}, "n_leaves = 1099511627776 is above"),
        ({"n_leaves": 5, "method": "x"}, "method is 'x', not one of"),
        ({"n_leaves": 5, "seed": "x"}, "seed = 'x' is not a whole number"),
        ({}, "needs names or n_leaves"),
    ]:
        with pytest.raises(InputError, match=text):
            ordhc.Session(tmp_path / "b", **by_settings(**settings))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty").touch()
    with ordhc.Session(tmp_path / "empty", n_leaves=3) as session:
        assert not session.done


# --- files -----------------------------------------------------------------------------------


def test_files_read_in_parts_of_any_size_say_the_same(tmp_path, monkeypatch):
    """A session that reads the file says what the session says that has written it."""
    names = ["ann", None, "zoë", "Ωmega" * 30, ""]
    rounds = 12
    for path, kind in ((tmp_path / "a", {"p": 0.8}), (tmp_path / "b", {"method": "single"})):
        with ordhc.Session(
            path, n_leaves=60, distinct=False, fill={"random": 1, "heldout": 1}, **by_settings(**kind)
        ) as session:
            for turn in range(rounds):
                who = names[turn % len(names)]
                questions = session.ask(40, who=who, fill="random")
                p = 0.5 + 0.04 * turn if "p" in kind and turn % 3 else None
                told = [turn % 3 - 1] * len(questions)
                seconds = np.arange(len(questions)) * 0.5
                session.tell(questions.ids, told, who=who, seconds=seconds, p=p)
                session.undo(who)
            session.add_answers([[0, 1, 2, 3][: session.width]], [1], gold=True)
            session.forget("ann")
            expected = state_of(session)
            # Also what is in the write-ahead log alone.
            questions = session.ask(3, who="ann")
            assert state_of(session) != expected
            expected = state_of(session)
            for most in (1, 7, 1000):
                monkeypatch.setattr(store, "_CHUNK", most)
                with ordhc.Session(path) as again:
                    assert again._contents.log.n == session._contents.log.n > 500
                    assert state_of(again) == expected
            # A name that goes on in other pages.
            session.tell(questions.ids[:1], [0], who="x" * 5000)
            expected = state_of(session)
            with ordhc.Session(path) as again:
                assert state_of(again) == expected


def state_of(session):
    log, n = session._contents.log, session._contents.log.n
    names = [log.people[person] for person in log.who[:n]]
    columns = [
        getattr(log, name)[:n].tolist() for name in ("kinds", "refs", "leaves", "answers", "undone", "at")
    ]
    more = [np.nan_to_num(getattr(log, name)[:n], nan=-1).tolist() for name in ("seconds", "p")]
    return names, columns, more, session.tree(), session.status.remaining


def test_files_that_are_refused(tmp_path):
    path = tmp_path / "a"
    with ordhc.Session(path, NAMES) as session:
        answer(session)

    def edited(*statements):
        shutil.copyfile(path, tmp_path / "b")
        with sqlite3.connect(tmp_path / "b") as file:
            for statement in statements:
                file.execute(statement)
        file.close()
        with pytest.raises(InputError) as caught:
            ordhc.Session(tmp_path / "b")
        return str(caught.value)

    from ordhc.asking.store import FORMAT, setting_rows

    kept = {"format": FORMAT + 1, "n_leaves": 7, "names": NAMES, "learner": {}}
    total = setting_rows(kept)[0][2]
    newer = edited(f"UPDATE settings SET value = '{FORMAT + 1}', sum = {total} WHERE key = 'format'")
    assert f"has format {FORMAT + 1}, newer than format {FORMAT}" in newer
    assert "install a newer version of ordhc" in newer
    for statement in (
        "UPDATE settings SET value = '99' WHERE key = 'format'",
        "UPDATE settings SET value = '0' WHERE key = 'format'",
        "UPDATE settings SET value = 'x' WHERE key = 'format'",
        "DELETE FROM settings WHERE key = 'format'",
        "UPDATE settings SET value = '{}' WHERE key = 'names'",
        "DELETE FROM settings WHERE key = 'names'",
        "UPDATE events SET answer = -1 WHERE kind = 2",
        "UPDATE events SET a = b, b = a WHERE kind = 2",
        "UPDATE events SET who = 'eve' WHERE kind = 2",
        "UPDATE events SET at = at + 1 WHERE kind = 2",
        "DELETE FROM events WHERE kind = 2",
        "DELETE FROM events WHERE kind = 1",
        "INSERT INTO events SELECT 3, kind, ref, a, b, c, answer, who, at, NULL, NULL, sum FROM events"
        " WHERE kind = 2",
        "UPDATE events SET seconds = 1 WHERE kind = 2",
        "UPDATE events SET p = 0.75 WHERE kind = 2",
        "INSERT INTO state VALUES ('forgotten', '1', 5)",
        "INSERT INTO leases VALUES (1, 'eve', 1e12, 5)",
        "DROP TABLE leases",
        "ALTER TABLE events ADD COLUMN x",
    ):
        assert "ordhc session salvage" in edited(statement), statement
    with pytest.raises(sqlite3.IntegrityError):
        edited("UPDATE events SET answer = 7 WHERE kind = 2")
    with ordhc.Session(path) as session:
        assert session.status.n_answered == 1


def test_salvaging_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ordhc.Session("a", NAMES, method=ordhc.learners.Insertion(schedule="rounds")) as session:
        for _ in range(4):
            answer(session, 2, who="ann")
        n = session.status.n_answered
    run = CliRunner()
    done = run.invoke(group, ["session", "info", "a"])
    assert f"{n} answers" in done.output
    assert f"ann: {n}" in done.output
    assert f'"n_answers": {n}' in run.invoke(group, ["session", "info", "a", "--json"]).output
    data = bytearray(Path("a").read_bytes())
    # The last answer comes first in its page; the one before it is damaged.
    at = data.index(b"ann", data.index(b"ann") + 1)
    data[at] ^= 1
    data[0] ^= 1
    Path("b").write_bytes(data)
    done = run.invoke(group, ["session", "salvage", "b", "-o", "c"], catch_exceptions=False)
    assert f"{n - 1} answers are kept" in done.output
    assert "1 events could not be read" in done.output
    with ordhc.Session("c") as session:
        assert session.status.n_answered == n - 1
        assert finished(session)
    for arguments, text in [
        (["b", "-o", "c"], "this file exists already"),
        (["nothing", "-o", "d"], "there is no such file"),
    ]:
        assert text in str(run.invoke(group, ["session", "salvage", *arguments]).exception)
    Path("junk").write_bytes(os.urandom(20000))
    assert "contains no part of a session" in str(
        run.invoke(group, ["session", "salvage", "junk", "-o", "d"]).exception
    )
    assert not Path("d").exists()
    Path("d").write_bytes(Path("a").read_bytes().replace(b"format", b"FORMAT").replace(b"copy", b"COPY"))
    done = run.invoke(group, ["session", "salvage", "d", "-o", "e"], catch_exceptions=False)
    assert "The settings are lost" in done.output
    assert f"{n} answers are kept" in done.output
