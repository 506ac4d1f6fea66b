"""What is in the file of a session: its tables, its settings, their checksums."""

import json
import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any

from ordhc.asking.learner import OF_PAIRS
from ordhc.errors import InputError
from ordhc.io.guard import brief

__all__ = [
    "FORMAT",
    "KEYS",
    "checked_settings",
    "damaged",
    "fill",
    "insertion",
    "schema",
    "setting_rows",
    "sum_of",
    "width_of",
]

FORMAT = 4
_COLUMNS = ("a", "b", "c", "d")
#: Values of settings in this order; "copy" has them all once more, for salvaging.
KEYS = ("format", "n_leaves", "names", "learner", "copy")


def schema(width: int) -> dict[str, str]:
    """The statements that make the tables, for questions of so many leaves."""
    leaves = " ".join(f"{x} INTEGER CHECK ({x} >= 0)," for x in _COLUMNS[:width])
    return {
        "settings": "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)",
        "events": (
            "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
            " kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 14),"
            f" ref INTEGER CHECK (ref > 0), {leaves}"
            f" answer INTEGER CHECK (answer BETWEEN -1 AND {2 if width == 3 else 1}),"
            " who TEXT, at REAL NOT NULL, seconds REAL CHECK (seconds >= 0),"
            " p REAL CHECK (p BETWEEN 0.5 AND 1), sum INTEGER NOT NULL,"
            " CHECK (kind NOT IN (2, 3, 12) OR (a NOT NULL AND answer NOT NULL)))"
        ),
        "leases": (
            "CREATE TABLE leases (question INTEGER PRIMARY KEY, who TEXT NOT NULL, until REAL NOT NULL,"
            " sum INTEGER NOT NULL)"
        ),
        # What isn't history: how often somebody was forgotten, which start of the machine wrote last.
        "state": "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)",
    }


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


def width_of(settings: dict[str, Any]) -> int:
    """How many leaves a question of a learner has."""
    return 4 if settings.get("method") in OF_PAIRS else 3


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
