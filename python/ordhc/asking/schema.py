"""What is in the file of a session: its tables, its settings, their checksums."""

import json
import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any

from ordhc.errors import InputError
from ordhc.io.guard import brief

__all__ = [
    "FORMAT",
    "KEYS",
    "PLACES",
    "checked_settings",
    "damaged",
    "fill",
    "foreign_schema",
    "insertion",
    "schema",
    "setting_rows",
    "sum_of",
]

FORMAT = 4
_COLUMNS = ("a", "b", "c", "d")
#: Values of settings in this order; "copy" has them all once more, for salvaging.
KEYS = ("format", "n_leaves", "names", "learner", "copy")

#: Makes the table of places on the page, which a session has once one is told.
PLACES = "CREATE TABLE places (seq INTEGER PRIMARY KEY, place INTEGER NOT NULL, sum INTEGER NOT NULL)"


#: The tables of format 1, for questions of any number of leaves.
_FORMAT_1 = {
    "settings": "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "events": (
        "CREATE TABLE events (\n    seq INTEGER PRIMARY KEY AUTOINCREMENT,\n    kind TEXT NOT NULL,\n"
        "    question INTEGER,\n    a INTEGER, b INTEGER, c INTEGER, d INTEGER,\n    answer INTEGER,\n"
        "    who TEXT,\n    at REAL NOT NULL\n)"
    ),
    "leases": "CREATE TABLE leases (question INTEGER PRIMARY KEY, who TEXT, until REAL NOT NULL)",
}


def schema(width: int, number: int = FORMAT) -> dict[str, str]:
    """Return the statements that make the tables of a format, for questions of `width` leaves."""
    if number == 1:
        return _FORMAT_1
    leaves = " ".join(f"{x} INTEGER CHECK ({x} >= 0)," for x in _COLUMNS[:width])
    last, answers = (6, "(2, 3)") if number == 2 else (14, "(2, 3, 12)")
    seconds = "" if number == 2 else " seconds REAL CHECK (seconds >= 0),"
    p = " p REAL CHECK (p BETWEEN 0.5 AND 1)," if number == 4 else ""
    tables = {
        "settings": "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)",
        "events": (
            "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
            f" kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND {last}),"
            f" ref INTEGER CHECK (ref > 0), {leaves}"
            f" answer INTEGER CHECK (answer BETWEEN -1 AND {2 if width == 3 else 1}),"
            f" who TEXT, at REAL NOT NULL,{seconds}{p} sum INTEGER NOT NULL,"
            f" CHECK (kind NOT IN {answers} OR (a NOT NULL AND answer NOT NULL)))"
        ),
        "leases": (
            "CREATE TABLE leases (question INTEGER PRIMARY KEY, who TEXT NOT NULL, until REAL NOT NULL,"
            " sum INTEGER NOT NULL)"
        ),
        # What isn't history: how often somebody was forgotten, which start of the machine wrote last.
        "state": "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)",
    }
    if number == 2:
        del tables["state"]
    return tables


def foreign_schema(db: sqlite3.Connection) -> str | None:
    """Return why a file must not be read, or None: whatever it would make SQLite evaluate is named.

    The session's tables must be those of one of the formats, to the letter. Tables of others may be beside
    them, with plain columns only. Views, triggers and expressions of strangers may run for ever, so this
    is asked before any table is read; SQLite evaluates nothing for the schema itself.
    """
    own: dict[str, set[str]] = {"sqlite_sequence": {"CREATE TABLE sqlite_sequence(name,seq)"}}
    for number in range(1, FORMAT + 1):
        for width in (3, 4):
            for name, statement in schema(width, number).items():
                own.setdefault(name, set()).add(statement)
    query = "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master"
    for kind, name, table, statement, root in db.execute(query).fetchall():
        if kind not in ("table", "index"):
            return f"it has the {kind} {brief(name, 60)}"
        known = own.get(str(table).lower())
        if known is None:
            # Only virtual tables have no page.
            hidden = "SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden"
            if kind == "table" and (not root or db.execute(hidden, (name,)).fetchone()):
                return f"the columns of its table {brief(name, 60)} are computed"
        elif statement is not None and (kind == "index" or statement not in known):
            return "its tables are others"
    return None


def damaged(path: str, why: object) -> InputError:
    """The error of a session that isn't what was written."""
    return InputError(
        f"the session is damaged ({why}); "
        f"`ordhc session salvage {brief(path, 100)} -o NEW` keeps what it can",
        path=brief(path, 200),
    )


def setting_rows(kept: dict[str, Any]) -> list[tuple[str, str, int]]:
    """Settings as rows of their table."""
    texts = {key: json.dumps(kept[key]) for key in KEYS[:-1]}
    texts["copy"] = json.dumps(texts)
    return [(key, text, sum_of(key, text)) for key, text in texts.items()]


def sum_of(*values: object) -> int:
    """The checksum of the values of a row."""
    return zlib.crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))


def fill(db: sqlite3.Connection, kept: dict[str, Any], width: int, rows: Iterable[tuple[Any, ...]]) -> None:
    """Make the tables and what is in them."""
    for statement in schema(width).values():
        db.execute(statement)
    db.executemany("INSERT INTO settings VALUES (?, ?, ?)", setting_rows(kept))
    db.executemany(insertion(width), rows)


def insertion(width: int) -> str:
    """The statement that appends an event."""
    return f"INSERT INTO events VALUES ({', '.join('?' * (width + 9))})"


def checked_settings(kept: dict[str, Any]) -> dict[str, Any]:
    """Settings as they were read, if they can be some."""
    n, names, learner = kept["n_leaves"], kept["names"], kept["learner"]
    if not isinstance(n, int) or isinstance(n, bool) or n < 1 or not isinstance(learner, dict):
        raise ValueError("the settings are none")
    if names is not None and not (
        isinstance(names, list) and len(names) == n and all(isinstance(name, str) for name in names)
    ):
        raise ValueError("the names of the leaves are none")
    return kept
