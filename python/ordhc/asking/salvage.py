"""Make a new session from the readable parts of a damaged session file."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._progress import Progress, part, shows_progress
from ordhc.asking.events import ANSWER, LOST, PASSED, UNDO, USE, BrokenError, Event, pack, sums_of
from ordhc.asking.log import Log
from ordhc.asking.records import records
from ordhc.asking.rules import from_json
from ordhc.asking.settings import from_settings
from ordhc.asking.store import (
    EARLIER,
    FORMAT,
    KEYS,
    Store,
    checked_settings,
    copied,
    create,
    foreign_schema,
    sum_of,
)
from ordhc.asking.watch import Watch
from ordhc.errors import InputError

Row = tuple[Any, ...]

_CHUNK = 4096
#: The errors of SQLite for damaged files, and of Python for values that cannot be decoded.
_UNREADABLE = (sqlite3.Error, ValueError, OverflowError)


@dataclass(frozen=True)
class Salvaged:
    """The result of `salvage`.

    Attributes
    ----------
    n_answers
        The number of answers in the new session, without answers that were taken back.
    n_events
        The number of events that were kept.
    lost
        The numbers of the events that were lost.
    notes
        Other differences from the damaged session, in sentences.
    """

    n_answers: int
    n_events: int
    lost: tuple[int, ...]
    notes: tuple[str, ...]


@shows_progress("saving")
def salvage(
    path: str | os.PathLike[str], new: str | os.PathLike[str], *, progress: Progress | bool | None = None
) -> Salvaged:
    """Make a new session from all readable events of a damaged session; return what was kept.

    The damaged file is not changed. Every event has a checksum, and events with a wrong checksum are not
    kept.

    Parameters
    ----------
    path
        The damaged file.
    new
        The file of the new session, which must not exist.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Raises
    ------
    InputError
        The file contains no part of a session, or `new` exists.

    Examples
    --------
    >>> import ordhc, os, tempfile
    >>> from ordhc.asking.salvage import salvage
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "answers.ordhc")
    >>> with ordhc.Session(path, n_leaves=3) as session:
    ...     states = session.tell(session.ask().ids, [0])
    >>> salvage(path, os.path.join(folder, "new.ordhc")).n_answers
    1
    """
    report = _checks.callback("progress", progress) or (lambda _: None)
    path, new = os.fspath(path), os.fspath(new)
    if not Path(path).is_file():
        raise InputError("there is no such file", path=path)
    if Path(new).exists():
        raise InputError(f"{new}: this file exists already; give the name of a new file")
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(path, folder)
        # SQLite also reads commits that are only in the write-ahead log, so use SQLite first. Then search the
        # bytes of the file for rows.
        settings, events, others = _by_sqlite(copy)
        for end in ("-wal", "-journal", "-shm"):
            with suppress(FileNotFoundError):
                Path(copy + end).unlink()
        report(0.1)
        raw = list(records(Path(copy).read_bytes(), part(report, 0.1, 0.4)))
    found = _settings([*settings, *(row for _, row in raw)])
    numbered = [(seq, *row[1:]) if row[:1] == (None,) else row for seq, row in raw]
    state, places = _state_and_places([*numbered, *others])
    rows = [*events, *((seq, row[1:]) for seq, row in raw if seq is not None and len(row) in (12, 13))]
    notes: list[str] = []
    if found is None:
        found = _guessed(rows)
        if found is None:
            raise InputError("contains no part of a session", path=path)
        notes.append(
            f"The settings are lost: names are numbers, there are at least {found['n_leaves']} leaves, "
            f"and the method is {from_settings(found['learner']).name}."
        )
    width = from_settings(found["learner"]).width
    log = Log(found["n_leaves"], width)
    kept, times, lost = _checked(rows, log, part(report, 0.4, 0.85))
    n_kept = len(kept) - len(lost)
    if lost:
        kept.append(Event(USE))
        times.append(times[-1])
        notes.append("If a lost event had taken an answer back, this answer counts again.")
    create(new, found, width, kept, at=times)
    _add_state_and_places(new, state, {seq: place for seq, place in places.items() if seq <= len(kept)})
    report(1.0)
    return Salvaged(log.n_answered, n_kept, lost, tuple(notes))


def _state_and_places(rows: list[Row]) -> tuple[dict[str, str], dict[int, int]]:
    """Return the latest texts of the session's settings, and the positions of chosen items on the page.

    The settings are a dict with the keys "rules" and "question" (the wording of the question) of the table
    `state`. The positions are a dict from the event number of an answer to the position of the chosen item.
    Damaged rows and rows of other tables are skipped.
    """
    state: dict[str, str] = {}
    places: dict[int, int] = {}
    for key, value, total in (row for row in rows if len(row) == 3):
        if key in ("rules", "question") and isinstance(value, str) and total == sum_of(key, value):
            if key == "question":
                # Keep the last wording of the question in `rows`. The last rows are those that SQLite can
                # read, so their wording is current. The raw bytes of the file can contain older wordings.
                state[key] = value
                continue
            with suppress(ValueError, TypeError):
                from_json(value)
                # Each version of the rules contains all earlier ones, so the longest text is the latest.
                state[key] = max(state.get(key, ""), value, key=len)
        elif isinstance(key, int) and isinstance(value, int) and total == sum_of(key, value):
            places[key] = value
    return state, places


def _add_state_and_places(new: str, state: dict[str, str], places: dict[int, int]) -> None:
    if not state and not places:
        return
    store = Store(new)
    try:
        store.begin()
        for key, value in state.items():
            store.set_state(key, value)
        if places:
            store.add_places(places)
        store.commit()
    finally:
        store.close()


def _by_sqlite(copy: str) -> tuple[list[Row], list[tuple[int, Row]], list[Row]]:
    settings: list[Row] = []
    events: list[tuple[int, Row]] = []
    others: list[Row] = []
    with suppress(*_UNREADABLE):
        db = sqlite3.connect(copy, isolation_level=None)
        watch = Watch(db, sum(file.stat().st_size for file in Path(copy).parent.iterdir()))
        try:
            with suppress(*_UNREADABLE):
                # Copy the write-ahead log into the main file, because `records` later searches the main file
                # only.
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.execute("PRAGMA trusted_schema=OFF")
            if foreign_schema(db) is not None:
                # A foreign schema may make SQLite run arbitrary expressions; `records` reads the bytes
                # instead.
                return settings, events, others
            with suppress(*_UNREADABLE):
                settings = list(_each(db, "SELECT * FROM settings"))
            for order in ("", " ORDER BY seq DESC"):
                events.extend((row[0], row[1:]) for row in _each(db, f"SELECT * FROM events{order}"))
            for table in ("state", "places"):
                others.extend(_each(db, f"SELECT * FROM {table}"))
        finally:
            reason = watch.reason()
            db.close()
            if reason is not None and not isinstance(reason, ValueError):
                raise reason
    return settings, events, others


def _each(db: sqlite3.Connection, query: str) -> Iterator[Row]:
    """Yield the rows of a query up to the first row that cannot be read."""
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    with suppress(*_UNREADABLE):
        found = db.execute(query)
        while (row := found.fetchone()) is not None:
            yield row


def _settings(rows: list[Row]) -> dict[str, Any] | None:
    texts: dict[str, str] = {}
    for key, value, total in (row for row in rows if len(row) == 3):
        if key in KEYS and isinstance(value, str) and total == sum_of(key, value):
            texts[key] = value
    try:
        if "copy" in texts:
            texts = {**json.loads(texts["copy"]), **texts}
        kept = {key: json.loads(texts[key]) for key in KEYS[:-1]}
        is_known = kept["format"] == FORMAT or kept["format"] in EARLIER
        return checked_settings({**kept, "format": FORMAT}) if is_known else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _guessed(rows: list[tuple[int, Row]]) -> dict[str, Any] | None:
    """Return settings inferred from the events, for a file without readable settings; None without events."""
    for learner, width in (({}, 3), ({"method": "single"}, 4)):
        leaves = [leaf for event, _ in _events(rows, width).values() for leaf in event[2]]
        if leaves:
            return {"format": FORMAT, "n_leaves": max(leaves) + 1, "names": None, "learner": learner}
    return None


def _events(
    rows: list[tuple[int, Row]], width: int, progress: Progress | None = None
) -> dict[int, tuple[Event, float]]:
    """Return the event and the time of each row whose checksum matches, by event number."""
    seqs, events, times, totals = [], [], [], []
    for at, (seq, row) in enumerate(rows):
        if progress is not None and at % _CHUNK == 0:
            progress(at / len(rows))
        event = _event(row, width) if 1 <= seq < 1 << 48 else None
        if event is not None:
            seqs.append(seq)
            events.append(event)
            times.append(float(row[width + 4]))
            totals.append(row[-1])
    fits = sums_of(seqs, events, times, width) == np.array(totals, dtype=np.int64)
    found: dict[int, tuple[Event, float]] = {}
    for at in np.flatnonzero(fits).tolist():
        found.setdefault(seqs[at], (events[at], times[at]))
    return found


def _event(row: Row, width: int) -> Event | None:
    if len(row) != width + 8:
        return None
    kind, ref, *leaves = row[: 2 + width]
    answer, who, at, seconds, p, total = row[2 + width :]
    for number, least in ((seconds, 0), (p, 0.5)):
        if number is not None and not (isinstance(number, int | float) and number >= least):
            return None
    whole = [kind, total, *(x for x in (ref, *leaves, answer) if x is not None)]
    if not all(isinstance(x, int) and -(1 << 63) <= x < 1 << 63 for x in whole) or not isinstance(
        at, int | float
    ):
        return None
    if (who is not None and not isinstance(who, str)) or len({leaf is None for leaf in leaves}) != 1:
        return None
    duration, right = (None if number is None else float(number) for number in (seconds, p))
    place = -1 if ref is None else ref
    return Event(kind, place, () if leaves[0] is None else tuple(leaves), answer, who, duration, right)


def _checked(
    rows: list[tuple[int, Row]], log: Log, progress: Progress | None
) -> tuple[list[Event], list[float], tuple[int, ...]]:
    """Append the readable events to `log`; return all events, their times, and the numbers of lost events."""
    width = log.width
    found = _events(rows, width, part(progress, 0, 0.8))
    kept: list[Event] = []
    times: list[float] = []
    lost: dict[int, None] = {}
    last = max(found, default=0)
    for first in range(1, last + 1, _CHUNK):
        if progress is not None:
            progress(0.8 + 0.2 * first / last)
        seqs = range(first, min(first + _CHUNK, last + 1))
        events = [_detached(found.get(seq), seq, lost) for seq in seqs]
        try:
            log.extend(pack(events, first, width))
        except BrokenError:
            for k, seq in enumerate(seqs):
                try:
                    # The event may refer to an earlier event of this chunk that this loop has just marked
                    # as lost, so check the reference again.
                    events[k] = _detached((events[k], 0.0), seq, lost)
                    log.extend(pack([events[k]], seq, width))
                except BrokenError:
                    lost[seq] = None
                    events[k] = Event(LOST)
                    log.extend(pack([events[k]], seq, width))
        kept.extend(events)
        times.extend(found[seq][1] if seq in found else 0.0 for seq in seqs)
    return kept, times, tuple(sorted(lost))


def _detached(found: tuple[Event, float] | None, seq: int, lost: dict[int, None]) -> Event:
    """Return the event without a reference to a lost event.

    If an answer refers to a lost question, only its `ref` is removed. Any other event that refers to a lost
    event becomes `LOST`, and so does a missing event (None).
    """
    if found is not None:
        event = found[0]
        if event.kind == ANSWER and event.ref in lost:
            # The learner uses an answer without a question number when it asks about the same leaves.
            return event._replace(ref=-1)
        if event.kind not in (UNDO, PASSED) or event.ref not in lost:
            return event
    lost[seq] = None
    return Event(LOST)
