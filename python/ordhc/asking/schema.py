"""Define the tables of a session's file, its settings, and their checksums."""

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ordhc.errors import InputError
from ordhc.io.paths import brief

__all__ = [
    "EARLIER",
    "FORMAT",
    "KEYS",
    "PLACES",
    "Earlier",
    "checked_settings",
    "damaged",
    "foreign_schema",
    "insert_statement",
    "make_tables",
    "schema",
    "setting_rows",
    "sum_of",
    "upgrade",
]

FORMAT = 2
_COLUMNS = ("a", "b", "c", "d")
Kept = dict[str, Any]


class Earlier(NamedTuple):
    """An earlier format of session files.

    Attributes
    ----------
    schema
        Returns the SQL statements that made its tables, for questions of `width` leaves.
    upgrade
        Converts the tables of an open file, except `settings`, to the next format. The function is
        called inside a transaction with the file and its settings. If the next format has other settings, the
        function changes the settings in place.
    """

    schema: Callable[[int], dict[str, str]]
    upgrade: Callable[[sqlite3.Connection, Kept], None]


#: The keys of settings, in the order of their rows; "copy" repeats all settings, for `salvage`.
KEYS = ("format", "n_leaves", "names", "learner", "copy")

#: The statement that makes the table of page positions: where on the web page the chosen item was shown.
#: Only sessions with known positions have this table.
PLACES = "CREATE TABLE places (seq INTEGER PRIMARY KEY, place INTEGER NOT NULL, sum INTEGER NOT NULL)"


def schema(width: int) -> dict[str, str]:
    """Return the statements that make the tables of a session, for questions of `width` leaves."""
    leaves = " ".join(f"{x} INTEGER CHECK ({x} >= 0)," for x in _COLUMNS[:width])
    return {
        "settings": "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)",
        "events": (
            "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT,"
            " kind INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 16),"
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
        # Values that change: the number of times that people were forgotten, the boot id of the last writer,
        # the rules, and the words of the question.
        "state": "CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL)",
    }


def _schema_1(width: int) -> dict[str, str]:
    """Return the statements of format 1, in which items could not be added or retired."""
    tables = schema(width)
    return {**tables, "events": tables["events"].replace("BETWEEN 1 AND 16", "BETWEEN 1 AND 14")}


def _upgrade_1(db: sqlite3.Connection, _: Kept) -> None:
    """Upgrade format 1: recreate the table of events, because SQLite cannot change its CHECK constraints."""
    rows = db.execute("SELECT * FROM events ORDER BY seq").fetchall()
    (statement,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'events'").fetchone()
    width = 4 if statement == _schema_1(4)["events"] else 3
    last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchall()
    db.execute("DROP TABLE events")
    db.execute(schema(width)["events"])
    db.executemany(insert_statement(width), rows)
    # Keep the number of the last event in `sqlite_sequence`, because it detects a missing event at the end.
    db.execute("DELETE FROM sqlite_sequence WHERE name = 'events'")
    db.executemany("INSERT INTO sqlite_sequence VALUES ('events', ?)", last)


#: Every earlier format by its number. To raise `FORMAT`, add the previous format here and keep a file of it
#: in `tests/data`. Also make `salvage` read such files.
EARLIER: dict[int, Earlier] = {1: Earlier(_schema_1, _upgrade_1)}


def foreign_schema(db: sqlite3.Connection) -> str | None:
    """Return the reason why a file must not be read, or None if reading it is safe.

    Views, triggers and expressions in a foreign schema can make SQLite run for ever. Call this function
    before any table is read; reading the schema itself evaluates nothing. The session's tables must be
    exactly the tables of this format or of an earlier format. Other tables are allowed if they have plain
    columns only.
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
            # Only virtual tables have no root page.
            hidden = "SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden"
            if kind == "table" and (not root or db.execute(hidden, (name,)).fetchone()):
                return f"its table {brief(name, 60)} has computed columns"
        elif statement is not None and (kind == "index" or statement not in known):
            return "its tables differ from those of a session"
    return None


def damaged(path: str, why: object) -> InputError:
    return InputError(
        f"the session is damaged ({why}); "
        f"`ordhc session salvage {brief(path, 100)} -o NEW` rescues the readable part",
        path=brief(path, 200),
    )


def setting_rows(kept: dict[str, Any]) -> list[tuple[str, str, int]]:
    texts = {key: json.dumps(kept[key]) for key in KEYS[:-1]}
    texts["copy"] = json.dumps(texts)
    return [(key, text, sum_of(key, text)) for key, text in texts.items()]


def sum_of(*values: object) -> int:
    return zlib.crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))


def make_tables(
    db: sqlite3.Connection, kept: dict[str, Any], width: int, rows: Iterable[tuple[Any, ...]]
) -> None:
    for statement in schema(width).values():
        db.execute(statement)
    db.executemany("INSERT INTO settings VALUES (?, ?, ?)", setting_rows(kept))
    db.executemany(insert_statement(width), rows)


def insert_statement(width: int) -> str:
    return f"INSERT INTO events VALUES ({', '.join('?' * (width + 9))})"


def checked_settings(kept: dict[str, Any]) -> dict[str, Any]:
    n, names, learner = kept["n_leaves"], kept["names"], kept["learner"]
    if not isinstance(n, int) or isinstance(n, bool) or n < 1 or not isinstance(learner, dict):
        raise ValueError("the settings are invalid")
    if names is not None and not (
        isinstance(names, list) and len(names) == n and all(isinstance(name, str) for name in names)
    ):
        raise ValueError("the names of the leaves are invalid")
    return kept


def upgrade(db: sqlite3.Connection) -> None:
    """Convert a file of an earlier format to `FORMAT`, in one transaction.

    Raises
    ------
    ValueError
        The settings are damaged.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        rows = db.execute("SELECT key, value, sum FROM settings").fetchall()
        if any(total != sum_of(key, value) for key, value, total in rows):
            raise ValueError("the settings have a wrong checksum")
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
