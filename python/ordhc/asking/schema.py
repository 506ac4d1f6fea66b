"""What is in the file of a session: its tables, its settings, their checksums."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ordhc.errors import InputError
from ordhc.io.guard import brief

__all__ = [
    "EARLIER",
    "FORMAT",
    "KEYS",
    "PLACES",
    "Earlier",
    "checked_settings",
    "damaged",
    "fill",
    "foreign_schema",
    "insertion",
    "schema",
    "setting_rows",
    "sum_of",
    "upgrade",
]

FORMAT = 1
_COLUMNS = ("a", "b", "c", "d")
#: Settings by their key in `KEYS`.
Kept = dict[str, Any]


class Earlier(NamedTuple):
    """An earlier format of session files.

    Attributes
    ----------
    schema
        Returns the statements that made its tables, for questions of `width` leaves.
    upgrade
        Rewrites the tables of an open file, except `settings`, as those of the next format. It is called
        inside a transaction with the file and its settings, which it changes in place where the next format
        has others.
    """

    schema: Callable[[int], dict[str, str]]
    upgrade: Callable[[sqlite3.Connection, Kept], None]


#: Every earlier format by its number: none yet. To raise `FORMAT`, add the format before it here, keep a file
#: of it in `tests/data`, and see that `salvage`, which reads `FORMAT` only, reads its files.
EARLIER: dict[int, Earlier] = {}
#: Values of settings in this order; "copy" has them all once more, for salvaging.
KEYS = ("format", "n_leaves", "names", "learner", "copy")

#: Makes the table of places on the page, which a session has once one is told.
PLACES = "CREATE TABLE places (seq INTEGER PRIMARY KEY, place INTEGER NOT NULL, sum INTEGER NOT NULL)"


def schema(width: int) -> dict[str, str]:
    """Return the statements that make the tables of a session, for questions of `width` leaves."""
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


def foreign_schema(db: sqlite3.Connection) -> str | None:
    """Return why a file must not be read, or None: whatever it would make SQLite evaluate is named.

    The session's tables must be those of this format or of an earlier one, to the letter. Tables of others
    may be beside them, with plain columns only. Views, triggers and expressions of strangers may run for
    ever, so this is asked before any table is read; SQLite evaluates nothing for the schema itself.
    """
    own: dict[str, set[str]] = {"sqlite_sequence": {"CREATE TABLE sqlite_sequence(name,seq)"}}
    for tables in (schema, *(earlier.schema for earlier in EARLIER.values())):
        for width in (3, 4):
            for name, statement in tables(width).items():
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


def upgrade(db: sqlite3.Connection) -> None:
    """Rewrite a file of an earlier format as one of `FORMAT`, in one transaction.

    Raises
    ------
    ValueError
        The settings are damaged.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        rows = db.execute("SELECT key, value, sum FROM settings").fetchall()
        if any(total != sum_of(key, value) for key, value, total in rows):
            raise ValueError("the settings are not what was written")
        kept = {key: json.loads(value) for key, value, _ in rows if key != "copy"}
        # Another process may have upgraded the file since its number was read.
        if (first := kept["format"]) < FORMAT:
            for number in range(first, FORMAT):
                EARLIER[number].upgrade(db, kept)
            db.execute("DELETE FROM settings")
            db.executemany("INSERT INTO settings VALUES (?, ?, ?)", setting_rows({**kept, "format": FORMAT}))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
