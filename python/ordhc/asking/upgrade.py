"""Session files of earlier formats are brought up to date as they are opened."""

import json
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.asking.events import ANSWER, ASKED, IMPORT, UNDO, USE, Event, are_questions, as_rows
from ordhc.asking.learner import width_of
from ordhc.asking.log import Log
from ordhc.asking.schema import (
    FORMAT,
    checked_settings,
    fill,
    schema,
    setting_rows,
    sum_of,
)

__all__ = ["converted", "is_fine", "upgrade"]

#: seq, kind, question, answer, who, a, b, c, d.
Old = tuple[Any, ...]
Row = tuple[int, ...]


def upgrade(db: sqlite3.Connection) -> None:
    """Bring a file of an earlier format up to date, in one transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        rows = db.execute("SELECT * FROM settings").fetchall()
        kept = {row[0]: json.loads(row[1]) for row in rows if row[0] != "copy"}
        # Somebody else may have done it meanwhile.
        if kept["format"] == 1:
            _from_1(db, kept)
        elif kept["format"] in (2, 3):
            _widened(db, kept, rows)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _widened(db: sqlite3.Connection, kept: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
    """Events of formats 2 and 3 are the same in this one, which has more kinds of them, and more columns."""
    if any(total != sum_of(key, value) for key, value, total in rows):
        raise ValueError("the settings are not what was written")
    checked_settings(kept)
    width = width_of(kept["learner"])
    tables = schema(width)
    db.execute("ALTER TABLE events RENAME TO old")
    db.execute(tables["events"])
    columns = f"seq, kind, ref, {', '.join('abcd'[:width])}, answer, who, at"
    columns += ", seconds" * (kept["format"] == 3)
    db.execute(f"INSERT INTO events ({columns}, sum) SELECT {columns}, sum FROM old ORDER BY seq")
    # The last number was kept apart: it stays what it was, so that events that are missing are noticed.
    db.execute(
        "UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'old')"
        " WHERE name = 'events'"
    )
    db.execute("DROP TABLE old")
    if kept["format"] == 2:
        db.execute(tables["state"])
    db.execute("DELETE FROM settings")
    db.executemany("INSERT INTO settings VALUES (?, ?, ?)", setting_rows({**kept, "format": FORMAT}))


def _from_1(db: sqlite3.Connection, kept: dict[str, Any]) -> None:
    checked_settings(kept)
    width = width_of(kept["learner"])
    query = "SELECT seq, kind, question, answer, who, a, b, c, d FROM events ORDER BY seq"
    old = db.execute(query).fetchall()
    wrong = np.flatnonzero(~is_fine(old, kept["n_leaves"], width))
    if wrong.size:
        raise ValueError(f"event {old[wrong[0]][0]} says what cannot be")
    events = converted(old, kept, width)
    for table in ("events", "settings", "leases"):
        db.execute(f"DROP TABLE {table}")
    fill(db, {**kept, "format": FORMAT}, width, as_rows(events, 1, width, time.time()))


def is_fine(rows: Sequence[Old], n_leaves: int, width: int) -> NDArray[np.bool_]:
    """Which events of format 1 can be some."""
    largest = 2 if width == 3 else 1

    def is_whole(*values: object) -> bool:
        return all(isinstance(value, int) and abs(value) < 2**62 for value in values)

    fine = np.zeros(len(rows), dtype=np.bool_)
    told: list[int] = []
    for at, (_, kind, question, answer, who, *leaves) in enumerate(rows):
        if who is not None and not isinstance(who, str):
            continue
        if kind in ("asked", "undo"):
            fine[at] = is_whole(question) and question >= 1
        elif kind in ("answer", "import") and is_whole(answer, *leaves[:width]) and -1 <= answer <= largest:
            told.append(at)
    table = np.array([rows[at][5 : 5 + width] for at in told], dtype=np.int64).reshape(-1, width)
    fine[told] = are_questions(table, n_leaves)
    return fine


def converted(rows: Sequence[Old], kept: dict[str, Any], width: int) -> list[Event]:
    """The events of format 1 as events of the current format.

    Format 1 kept how many questions were asked for, and not which: a learner is asked again. Answers find
    their questions by their leaves, so what was answered twice or in another order is no trouble. Leases
    are gone.
    """
    from ordhc.asking.desk import new_desk

    desk = new_desk(kept["names"], kept["n_leaves"], kept["learner"])
    undone = {row[2] for row in rows if row[1] == "undo"}
    events: list[Event] = []
    log = Log(kept["n_leaves"], width)

    def happen(*new: Event, is_asked: bool = False, is_skipped: bool = False) -> None:
        first = log.n
        events.extend(new)
        log.append(new, 0.0)
        # An answer that is taken back later is never told.
        log.undone[first : log.n] |= is_skipped
        log.replay(desk, first, log.n, is_asked=is_asked)

    is_open: dict[Row, list[int]] = {}
    seqs: dict[int, int] = {}
    for at, (seq, kind, question, answer, who, *leaves) in enumerate(rows):
        row = tuple(leaves[:width])
        if kind == "asked":
            desk.want(question)
            asked = [tuple(found) for found in desk.waiting(question).tolist()]
            for k, found in enumerate(asked or [()]):
                happen(Event(ASKED, question if k == 0 else -1, found), is_asked=True)
                if found:
                    is_open.setdefault(found, []).append(len(events))
        elif kind == "answer":
            numbers = is_open.get(row)
            happen(
                Event(ANSWER, numbers.pop(0) if numbers else -1, row, answer, who), is_skipped=seq in undone
            )
            seqs[seq] = len(events)
        elif kind == "import":
            happen(Event(IMPORT, -1, row, answer, who))
        elif question in seqs:
            happen(Event(UNDO, seqs.pop(question), (), None, who))
        follows = rows[at + 1][1] if at + 1 < len(rows) else None
        if kind == "undo" or (kind == "import" and follows != "import"):
            happen(Event(USE))
    return events
