"""Session files made to hang whoever opens them, and sessions where nothing can be written."""

import shutil
import signal
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

import ordhc
from support.processes import command_line, printed
from support.sessions import NAMES, answer, make_read_only, state

SLOW = "length(hex(zeroblob(200000000 + a))) > 0"


def answered(path):
    with ordhc.Session(path, NAMES) as session:
        session.set_rules(seconds=0.5)
        session.set_question("Which one differs?")
        for _ in range(4):
            answer(session, 2, who="ann")
        asked = session.ask(1, who="ann")
        session.tell(asked.ids, [1], who="ann", places=[2])
        return state(session)


def beside(path):
    """What a file keeps beside its events."""
    with closing(sqlite3.connect(path)) as db:
        return (
            db.execute("SELECT * FROM state WHERE key IN ('rules', 'question') ORDER BY key").fetchall(),
            db.execute("SELECT * FROM places").fetchall(),
        )


def view_of_settings(path):
    """SQLite evaluates a view when it is read."""
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE events (a)")
        db.execute(
            "CREATE VIEW settings AS WITH RECURSIVE c(key) AS (SELECT 'a' UNION ALL SELECT key FROM c)"
            " SELECT key, key AS value, 1 AS sum FROM c"
        )


def added(*statements, becomes=("", "")):
    """More in the file; then the text of the schema is changed, which evaluates nothing."""

    def add(path):
        with closing(sqlite3.connect(path)) as db, db:
            for statement in statements:
                db.execute(statement)
            db.execute("PRAGMA writable_schema=ON")
            db.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", becomes)

    return add


def parent(child, size, start):
    """A page of a table that has the same child again and again; before `start` is something else."""
    n = (size - start - 12) // 7
    page = bytearray(size)
    page[start : start + 12] = struct.pack(">BHHHBI", 5, 0, n, size - 5 * n, 0, child)
    for k in range(n):
        at = size - 5 * (k + 1)
        page[at : at + 5] = struct.pack(">IB", child, 1)
        page[start + 12 + 2 * k : start + 14 + 2 * k] = struct.pack(">H", at)
    return page


def branching_schema(path):
    """A tree of the schema's pages 18 levels deep, which has some 500 ** 18 rows to read."""
    data = bytearray(path.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    leaf = bytearray(size)
    n_cells, first = struct.unpack(">HH", data[103:107])
    leaf[: 8 + 2 * n_cells] = data[100 : 108 + 2 * n_cells]
    leaf[first:] = data[first:size]
    data += leaf
    for _ in range(18):
        data += parent(len(data) // size, size, 0)
    data[100:size] = parent(len(data) // size, size, 100)[100:]
    data[28:32] = struct.pack(">I", len(data) // size)
    path.write_bytes(data)


ROWS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000) SELECT x, x FROM c"
OTHER = ("CREATE TABLE other (a, b)", f"INSERT INTO other {ROWS}")
HOSTILE = {
    "is an SQLite file, but not a session": view_of_settings,
    "it has the view other": added("CREATE VIEW other AS SELECT 1"),
    "its table other has computed columns": added(*OTHER, becomes=(", b)", f", b NOT NULL AS ({SLOW}))")),
    "it has the trigger other": added("CREATE TRIGGER other AFTER INSERT ON leases BEGIN SELECT 1; END"),
    "its tables differ from those of a session": added("CREATE INDEX other ON events (a) WHERE a > 1"),
    "its tables differ from those of a session ": added(becomes=("p BETWEEN 0.5 AND 1", SLOW)),
    "reading the file takes more steps than": branching_schema,
}


OPENED = """
import sys
import ordhc
from ordhc.asking.salvage import salvage

for path in sys.argv[1:]:
    print(path, flush=True)
    try:
        ordhc.Session(path)
    except ordhc.errors.InputError as error:
        print(error)
    try:
        print(salvage(path, path + ".new").n_answers)
    except ordhc.errors.InputError as error:
        print(error)
"""


def test_files_that_would_hang_are_refused_and_salvaged(tmp_path):
    expected = answered(tmp_path / "fine.ordhc")
    values, places = beside(tmp_path / "fine.ordhc")
    assert len(values) == 2
    assert len(places) == 1
    paths = []
    for number, damage in enumerate(HOSTILE.values()):
        paths.append(tmp_path / f"{number}.ordhc")
        shutil.copyfile(tmp_path / "fine.ordhc", paths[-1])
        damage(paths[-1])
    # One process, as a call of SQLite may never come back to Python.
    told = printed(OPENED, *paths, timeout=120).splitlines()
    assert len(told) == 3 * len(paths)
    assert told[::3] == [str(path) for path in paths]
    for path, reason, refused, kept in zip(paths, HOSTILE, told[1::3], told[2::3], strict=True):
        assert reason.strip() in refused
        if "not a session" in reason:
            assert "contains no part of a session" in kept
        else:
            assert int(kept) == len(expected[0])
            assert beside(f"{path}.new") == (values, places)


def test_checks_in_tables_of_others_are_not_evaluated(tmp_path):
    path = tmp_path / "a.ordhc"
    expected = answered(path)
    added(*OTHER, becomes=(", b)", f", b CHECK ({SLOW}))"))(path)
    done = command_line("session", "info", path)
    assert done.returncode == 0, done.stderr
    with ordhc.Session(path) as session:
        assert state(session) == expected


def test_statements_are_interrupted(tmp_path):
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    with ordhc.Session(tmp_path / "a.ordhc", NAMES) as session:
        answer(session, 2)
        before = state(session)

        class AlarmError(Exception):
            pass

        def ring(*_):
            raise AlarmError

        def call():
            with session.transaction() as db:
                answer(session, 1)
                db.execute(endless)

        for handler, error in ((signal.default_int_handler, KeyboardInterrupt), (ring, AlarmError)):
            old = signal.signal(signal.SIGALRM, handler)
            try:
                for _ in range(3):
                    signal.setitimer(signal.ITIMER_REAL, 0.1)
                    with pytest.raises(error):
                        call()
            finally:
                signal.signal(signal.SIGALRM, old)
        assert state(session) == before
        assert answer(session, 1)


@pytest.mark.parametrize("has_log", [False, True])
def test_sessions_are_read_where_nothing_can_be_written(tmp_path, monkeypatch, has_log):
    folder = tmp_path / "archive"
    folder.mkdir()
    path = folder / "a.ordhc"
    with ordhc.Session(tmp_path / "a.ordhc", NAMES) as session:
        answer(session, 2, who="ann")
        expected = state(session)
        if has_log:
            shutil.copyfile(tmp_path / "a.ordhc-wal", folder / "a.ordhc-wal")
            shutil.copyfile(tmp_path / "a.ordhc", path)
    if not has_log:
        shutil.copyfile(tmp_path / "a.ordhc", path)
    files = sorted(folder.iterdir())
    make_read_only(monkeypatch, folder)
    with ordhc.Session(path) as session:
        assert state(session) == expected
        with pytest.raises(OSError, match="cannot be written, so this call has no effect"):
            session.ask()
        assert state(session) == expected
        copy = Path(session._contents.store._copy.name)
        assert copy.is_dir()
    assert not copy.exists()
    assert sorted(folder.iterdir()) == files
