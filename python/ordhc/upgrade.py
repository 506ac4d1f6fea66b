"""Session files of earlier formats are brought up to date as they are opened."""

import json
import sqlite3
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ordhc import _ordhc
from ordhc.events import ANSWER, ASKED, IMPORT, UNDO, USE, Event, are_questions, as_rows
from ordhc.store import FORMAT, checked_settings, fill, width_of

__all__ = ["converted", "upgrade"]

#: seq, kind, question, answer, who, a, b, c, d.
Old = tuple[Any, ...]


def upgrade(db: sqlite3.Connection, path: str) -> None:
    """Bring a file of format 1 up to date, in one transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        rows = db.execute("SELECT key, value FROM settings").fetchall()
        kept = {key: json.loads(value) for key, value in rows}
        if kept["format"] == 1:
            checked_settings(kept)
            width = width_of(kept["learner"])
            query = "SELECT seq, kind, question, answer, who, a, b, c, d FROM events ORDER BY seq"
            events = converted(db.execute(query).fetchall(), kept, width)
            for table in ("events", "settings", "leases"):
                db.execute(f"DROP TABLE {table}")
            fill(db, {**kept, "format": FORMAT}, width, as_rows(events, 1, width, time.time()))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def is_fine(row: Old, n_leaves: int, width: int) -> bool:
    """Whether an event of format 1 can be one."""
    _, kind, question, answer, who, *leaves = row
    if who is not None and not isinstance(who, str):
        return False
    if kind in ("asked", "undo"):
        return isinstance(question, int) and question >= 1
    if kind not in ("answer", "import") or not all(isinstance(leaf, int) for leaf in leaves[:width]):
        return False
    largest = 2 if width == 3 else 1
    table = np.array([leaves[:width]], dtype=object)
    return isinstance(answer, int) and -1 <= answer <= largest and bool(are_questions(table, n_leaves)[0])


def converted(rows: Sequence[Old], kept: dict[str, Any], width: int) -> list[Event]:
    """The events of format 1 as those of today.

    Format 1 kept how many questions were asked for, and not which: a learner is asked again. Answers find their
    questions by their leaves, so what was answered twice or in another order is no trouble. Leases are gone.
    """
    from ordhc.session import new_desk

    wrong = next((row for row in rows if not is_fine(row, kept["n_leaves"], width)), None)
    if wrong is not None:
        raise ValueError(f"event {wrong[0]} says what cannot be")
    desk = new_desk(kept["names"], kept["n_leaves"], kept["learner"])
    undone = {row[2] for row in rows if row[1] == "undo"}
    events: list[Event] = []
    is_open: dict[tuple[int, ...], list[int]] = {}
    seqs: dict[int, int] = {}
    for at, (seq, kind, question, answer, who, *leaves) in enumerate(rows):
        row = tuple(leaves[:width])
        if kind == "asked":
            desk.want(question)
            asked = [tuple(found) for found in desk.waiting(question).tolist()]
            for k, found in enumerate(asked or [()]):
                events.append((ASKED, question if k == 0 else -1, found, None, None))
                if found:
                    _tell(desk, len(events), ASKED, -1, found)
                    is_open.setdefault(_key(found), []).append(len(events))
        elif kind == "answer":
            numbers = is_open.get(_key(row))
            ref = numbers.pop(0) if numbers and events[numbers[0] - 1][2] == row else -1
            events.append((ANSWER, ref, row, answer, who))
            seqs[seq] = len(events)
            if seq not in undone:
                _tell(desk, len(events), ANSWER, ref, row, answer)
        elif kind == "import":
            events.append((IMPORT, -1, row, answer, who))
            _tell(desk, len(events), IMPORT, -1, row, answer)
        elif question in seqs:
            events.append((UNDO, seqs.pop(question), (), None, who))
        follows = rows[at + 1][1] if at + 1 < len(rows) else None
        if kind == "undo" or (kind == "import" and follows != "import"):
            events.append((USE, -1, (), None, None))
            _tell(desk, len(events), USE, -1, (-1,) * width)
    return events


def _tell(desk: _ordhc.Desk, seq: int, kind: int, ref: int, leaves: Sequence[int], answer: int = 0) -> None:
    desk.replay(
        seq,
        np.array([kind], dtype=np.int8),
        np.array([ref], dtype=np.int64),
        np.array([leaves], dtype=np.int32),
        np.array([answer], dtype=np.int8),
        np.zeros(1, dtype=np.bool_),
    )


def _key(row: Sequence[int]) -> tuple[int, ...]:
    """The same for the same question, however it is put."""
    if len(row) == 3:
        return tuple(sorted(row))
    first, second = sorted(row[:2]), sorted(row[2:])
    return (*min(first, second), *max(first, second))
