"""Session files of earlier formats are brought up to date as they are opened."""

import json
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.asking.events import ANSWER, ASKED, IMPORT, UNDO, USE, Event, are_questions, as_rows
from ordhc.asking.schema import FORMAT, checked_settings, fill, width_of

__all__ = ["converted", "upgrade"]

#: seq, kind, question, answer, who, a, b, c, d.
Old = tuple[Any, ...]
Row = tuple[int, ...]


def upgrade(db: sqlite3.Connection) -> None:
    """Bring a file of format 1 up to date, in one transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        rows = db.execute("SELECT key, value FROM settings").fetchall()
        kept = {key: json.loads(value) for key, value in rows}
        if kept["format"] == 1:
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
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


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
    # How many events the learner knows; and of the others those that are taken back later.
    known = 0
    skipped: set[int] = set()
    is_open: dict[Row, list[int]] = {}
    seqs: dict[int, int] = {}
    for at, (seq, kind, question, answer, who, *leaves) in enumerate(rows):
        row = tuple(leaves[:width])
        if kind == "asked":
            _tell(desk, events, known, skipped, width)
            desk.want(question)
            asked = [tuple(found) for found in desk.waiting(question).tolist()]
            known = len(events)
            for k, found in enumerate(asked or [()]):
                events.append((ASKED, question if k == 0 else -1, found, None, None))
                if found:
                    is_open.setdefault(found, []).append(len(events))
            _tell(desk, events, known, skipped, width, applied=known)
            known = len(events)
        elif kind == "answer":
            numbers = is_open.get(row)
            events.append((ANSWER, numbers.pop(0) if numbers else -1, row, answer, who))
            seqs[seq] = len(events)
            if seq in undone:
                skipped.add(len(events))
        elif kind == "import":
            events.append((IMPORT, -1, row, answer, who))
        elif question in seqs:
            events.append((UNDO, seqs.pop(question), (), None, who))
        follows = rows[at + 1][1] if at + 1 < len(rows) else None
        if kind == "undo" or (kind == "import" and follows != "import"):
            events.append((USE, -1, (), None, None))
    return events


def _tell(
    desk: _ordhc.Desk,
    events: Sequence[Event],
    known: int,
    skipped: set[int],
    width: int,
    *,
    applied: int = -1,
) -> None:
    """Tell a desk the events that it doesn't know; the questions of event `applied` it has asked already."""
    new = events[known:]
    if not new:
        return
    desk.replay(
        known + 1,
        np.array([kind for kind, *_ in new], dtype=np.int8),
        np.array([-1 if k == applied else ref for k, (_, ref, *_) in enumerate(new, known)], dtype=np.int64),
        np.array([leaves or (-1,) * width for _, _, leaves, *_ in new], dtype=np.int32),
        np.array([answer or 0 for *_, answer, _ in new], dtype=np.int8),
        np.array([k in skipped for k in range(known + 1, known + 1 + len(new))], dtype=np.bool_),
    )
