"""Files of an earlier format are upgraded when they are opened; a file of today's is kept as it is."""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc.asking import store
from ordhc.asking.salvage import salvage
from ordhc.errors import InputError
from support.sessions import NAMES, ORACLE, answer, answers_of, finish, make_read_only, state

DATA = Path(__file__).parents[1] / "data"
#: What the file of format 1 holds, as it was told to the version that has written it.
ROWS = [[4, 6, 1], [4, 6, 0], [6, 4, 0], [2, 6, 0], [6, 2, 0], [6, 4, 0], [6, 4, 1], [0, 3, 5]]
ANSWERS = [2, 2, 2, 1, 0, 2, 2, 0]
WHO = ["ann", "ann", "zoë", "zoë", "ann", "bob", "bob", "old"]
SAMPLERS = ["learner", "learner", "learner", "random", "repeat", "learner", "learner", "import"]


def format_of(path):
    with sqlite3.connect(path) as db:
        return int(db.execute("SELECT value FROM settings WHERE key = 'format'").fetchone()[0])


def rewritten(db, number, **changed):
    """Write the settings of a file anew, with the number of a format."""
    kept = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM settings")}
    del kept["copy"]
    db.execute("DELETE FROM settings")
    rows = store.setting_rows({**kept, "format": number, **changed})
    db.executemany("INSERT INTO settings VALUES (?, ?, ?)", rows)


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A session in format 0, which this test invents: it has no table `state`, and calls `seed` `start`."""

    def tables(width):
        return {name: text for name, text in store.schema(width).items() if name != "state"}

    def step(db, kept):
        db.execute(store.schema(3)["state"])
        kept["learner"] = {"seed": kept["learner"]["start"]}

    monkeypatch.setitem(store.EARLIER, 0, store.Earlier(tables, step))
    path = tmp_path / "old.ordhc"
    with ordhc.Session(path, NAMES, seed=4) as session:
        for who in ("ann", "bob", "ann"):
            answer(session, 2, who=who)
        expected = state(session)
    with sqlite3.connect(path) as db:
        rewritten(db, 0, learner={"start": 4})
        db.execute("DROP TABLE state")
    db.close()
    return path, expected


def test_an_earlier_format_is_upgraded_as_it_is_opened(old):
    path, expected = old
    assert format_of(path) == 0
    for _ in range(2):
        with ordhc.Session(path) as session:
            assert state(session) == expected
            assert session.settings == {"seed": 4}
        assert format_of(path) == store.FORMAT
    with ordhc.Session(path) as session:
        finish(session)


def test_nothing_changes_where_an_upgrade_fails(old, monkeypatch):
    path, _ = old
    before = list(sqlite3.connect(path).iterdump())
    step = store.EARLIER[0].upgrade

    def broken(db, kept):
        step(db, kept)
        raise OSError("no room")

    monkeypatch.setitem(store.EARLIER, 0, store.EARLIER[0]._replace(upgrade=broken))
    with pytest.raises(OSError, match="no room"):
        ordhc.Session(path)
    assert list(sqlite3.connect(path).iterdump()) == before
    # Damaged settings are noticed before anything is rewritten.
    monkeypatch.setitem(store.EARLIER, 0, store.EARLIER[0]._replace(upgrade=step))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE settings SET value = '8' WHERE key = 'n_leaves'")
    with pytest.raises(InputError, match="the settings have a wrong checksum"):
        ordhc.Session(path)
    assert format_of(path) == 0


def test_a_format_that_another_process_has_upgraded_meanwhile_is_left(old):
    path, expected = old
    with sqlite3.connect(path, isolation_level=None) as db:
        store.upgrade(db)
        before = list(db.iterdump())
        store.upgrade(db)
        assert list(db.iterdump()) == before
    with ordhc.Session(path) as session:
        assert state(session) == expected


def test_an_earlier_format_is_read_where_nothing_can_be_written(old, monkeypatch):
    path, expected = old
    before = path.read_bytes()
    make_read_only(monkeypatch, path.parent)
    with ordhc.Session(path) as session:
        assert state(session) == expected
    assert path.read_bytes() == before


def test_a_file_of_every_format_is_kept():
    """Who raises FORMAT first makes a file by the version before, and keeps it here."""
    for number in range(1, store.FORMAT + 1):
        assert format_of(DATA / f"session-{number}.ordhc") == number


def test_what_the_first_format_holds(tmp_path):
    path = tmp_path / "a.ordhc"
    shutil.copyfile(DATA / "session-1.ordhc", path)
    damaged = bytearray((DATA / "session-1.ordhc").read_bytes())
    damaged[re.search(rb"(?<!g)old", damaged).start()] ^= 1
    (tmp_path / "b.ordhc").write_bytes(damaged)
    with pytest.raises(InputError, match="ordhc session salvage"):
        ordhc.Session(tmp_path / "b.ordhc")
    (tmp_path / "b.ordhc").write_bytes(damaged)
    assert salvage(tmp_path / "b.ordhc", tmp_path / "c.ordhc").n_answers == 7
    for name, n in (("a", 8), ("c", 7)):
        with ordhc.Session(tmp_path / f"{name}.ordhc") as session:
            rows, answers, who = answers_of(session)
            assert (rows.tolist(), answers.tolist(), who) == (ROWS[:n], ANSWERS[:n], WHO[:n])
            table = session.table()
            assert table["sampler"].tolist() == SAMPLERS[:n]
            assert table["question"].tolist() == [4, 5, 8, 10, 14, 19, 20, 0][:n]
            np.testing.assert_array_equal(table["seconds"], [*[1.25] * 7, np.nan][:n])
            np.testing.assert_array_equal(table["p"], [np.nan, np.nan, 0.75, 0.75, *[np.nan] * 4][:n])
            assert {key: session.settings[key] for key in ("p", "seed")} == {"p": 0.9, "seed": 4}
            assert set(session.settings["fill"]) == {"random", "repeat", "gold"}
    with ordhc.Session(path) as session:
        # Two questions were open when the file was closed; who has them may still answer.
        assert session.tell([27, 28], ORACLE([[2, 4, 6], [4, 6, 5]]), who="bob") == ["taken", "taken"]
        assert session.status.n_answered == 10
        assert session.undo("bob") is not None


def test_what_the_second_format_holds(tmp_path):
    path = tmp_path / "a.ordhc"
    shutil.copyfile(DATA / "session-2.ordhc", path)
    with ordhc.Session(path) as session:
        assert session.names == ("ant", "bee", "cat", "dog", "eel", "fox", "gnu")
        assert session.retired == ("bee",)
        assert [item.added for item in session.items()] == [*[None] * 4, 1.7e9 + 11, 1.7e9 + 11, 1.7e9 + 24]
        assert [item.retired for item in session.items() if item.retired] == [1.7e9 + 17]
        rows, answers, who = answers_of(session)
        assert rows[:3].tolist() == [[3, 2, 1], [3, 2, 0], [2, 3, 0]]
        assert answers.tolist() == [0, 0, 1, 2, 2, 2, 1, 1, 0]
        assert who == ["ann", "ann", "zoë", "zoë", "ann", "ann", "bob", "zoë", "zoë"]
        assert session.status.n_placed == 2
        assert session.tree().to_newick(branch_lengths=False) == "(ant,eel,fox,gnu,(cat,dog));"
        assert session.tell([32, 34], ORACLE([[2, 3, 0], [3, 5, 4]]), who="bob") == ["taken", "taken"]


def test_a_missing_last_event_is_still_noticed_after_an_upgrade(tmp_path):
    path = tmp_path / "a.ordhc"
    shutil.copyfile(DATA / "session-1.ordhc", path)
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)")
    db.close()
    with pytest.raises(InputError, match="the last event is"):
        ordhc.Session(path)
