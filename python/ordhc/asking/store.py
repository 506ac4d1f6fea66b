"""Read and write the file of a session: an SQLite database that is checked when it is read.

Settings are written once, and events are appended. Only leases, state values and the events of forgotten
people change. Every row has a checksum. Events are numbered without gaps, and SQLite stores the last number
in a separate table. Missing or changed rows are therefore detected.
"""

import json
import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ordhc.asking.disk import synchronise_folder
from ordhc.asking.events import BrokenError, Event, as_rows, packed
from ordhc.asking.methods import Method
from ordhc.asking.settings import from_settings
from ordhc.asking.watch import Watch
from ordhc.errors import InputError
from ordhc.io.paths import brief

FORMAT = 2
_COLUMNS = ("a", "b", "c", "d")
Kept = dict[str, Any]


class Earlier(NamedTuple):
    """An earlier format of session files.

    `schema` returns the SQL statements that made its tables, for questions of `width` leaves. `upgrade`
    converts the tables of an open file, except `settings`, to the next format. The function is called inside
    a transaction with the file and its settings, which it changes in place if the next format has other
    settings.
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
    """Convert a file of an earlier format to `FORMAT`, in one transaction."""
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


#: Error codes that do not mean a damaged file: the file cannot be opened or written now, or the disk is full.
_NOT_DAMAGED = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
)
_PAGES = 4000
_CHUNK = 1 << 15


def create(
    path: str,
    kept: dict[str, Any],
    width: int,
    events: Sequence[Event] = (),
    *,
    at: float | Sequence[float] = 0.0,
) -> None:
    """Make the file of a new session, as a whole or not at all.

    If another process makes the file in the meantime, that file is kept. `kept` has the settings. `at` has
    one time for all events, or one for each, in seconds since 1970. `OSError` means that the folder or the
    disk cannot be written.
    """
    new = f"{path}.new-{os.getpid()}"
    try:
        with suppress(FileNotFoundError):
            Path(new).unlink()
        db = sqlite3.connect(new, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous=FULL")
            db.execute("BEGIN")
            make_tables(db, kept, width, as_rows(events, 1, width, at))
            db.execute("COMMIT")
        finally:
            db.close()
        if Path(path).exists() and not Path(path).stat().st_size:
            # Keep the permissions of an existing empty file.
            shutil.copymode(path, new)
            Path(new).replace(path)
        else:
            with suppress(FileExistsError):
                _link(new, path)
    except sqlite3.Error as error:
        raise OSError(f"{brief(path, 200)}: {error}") from None
    finally:
        for end in ("", "-journal"):
            with suppress(FileNotFoundError):
                Path(new + end).unlink()
    synchronise_folder(path)


def _files(path: str) -> list[Path]:
    return [file for end in ("", "-wal", "-journal") if (file := Path(path + end)).is_file()]


def copied(path: str, folder: str) -> str:
    """Copy a session into a folder, with its write-ahead log and journal; return the new path."""
    for file in _files(path):
        shutil.copyfile(file, Path(folder) / ("copy" + file.name[len(Path(path).name) :]))
    return str(Path(folder) / "copy")


def _link(new: str, path: str) -> None:
    try:
        Path(path).hardlink_to(new)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links.
        if not Path(path).exists():
            Path(new).replace(path)


class Store:
    """An open session file.

    Commits are handed to the operating system, so that they survive the end of this process. `Disk`
    synchronises them with the disk. The constructor raises `InputError` for a file that is no session, has a
    newer format, or is damaged, and `OSError` for a file that cannot be opened or is locked for more than 30
    seconds.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.width = 3
        self._is_closed = False
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        try:
            self._connect(path)
        except OSError:
            if self._is_writable() or not Path(path).is_file():
                raise
            # SQLite needs to make files in the same folder, which is read-only here. Read a copy instead.
            self._connect_copy()

    def _connect(self, path: str) -> None:
        with self._errors():
            uri = f"{Path(path).absolute().as_uri()}?mode=rw"
            self.db = sqlite3.connect(
                uri, isolation_level=None, timeout=30, check_same_thread=False, uri=True
            )
        try:
            with self._errors():
                self._watch = Watch(self.db, sum(file.stat().st_size for file in _files(path)))
                self._open()
                self._watch.allow_all()
        except BaseException:
            self.db.close()
            raise

    def _connect_copy(self) -> None:
        self._copy = tempfile.TemporaryDirectory(prefix="ordhc-")
        try:
            self._connect(copied(self.path, self._copy.name))
            self.db.execute("PRAGMA query_only=ON")
        except BaseException:
            self._copy.cleanup()
            raise

    def _is_writable(self) -> bool:
        return all(os.access(place, os.W_OK) for place in (self.path, Path(self.path).absolute().parent))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except InputError:
            raise
        except (sqlite3.Error, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            self.explain(error)

    def explain(self, error: BaseException) -> NoReturn:
        """Raise the `InputError` or `OSError` that explains an error in reading or writing the file.

        `error` is an error of SQLite, or of Python if a value in the file cannot be decoded.
        """
        if isinstance(error, sqlite3.Error):
            if self._is_closed:
                raise InputError("the session is closed", path=brief(self.path, 200)) from None
            # The lowest byte of an extended result code is the primary result code.
            kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if kind == sqlite3.SQLITE_CANTOPEN and not Path(self.path).is_file():
                raise InputError(str(error), path=brief(self.path, 200)) from None
            if kind == sqlite3.SQLITE_NOTADB:
                raise InputError(
                    f"is not a session ({error}); {self._hint()}", path=brief(self.path, 200)
                ) from None
            if kind == sqlite3.SQLITE_INTERRUPT and (reason := self._watch.reason()) is not None:
                if not isinstance(reason, ValueError):
                    raise reason from None
                error = reason
            if kind == sqlite3.SQLITE_READONLY:
                if self._is_writable():
                    raise damaged(self.path, error) from None
                raise OSError(
                    f"{brief(self.path, 200)}: the file or its folder cannot be written, so this call has no"
                    " effect; the session can be read, or copied to a folder that can be written"
                ) from None
            if kind in _NOT_DAMAGED:
                raise OSError(f"{brief(self.path, 200)}: {error}; this call has no effect") from None
        raise damaged(self.path, error) from None

    def refuse(self, error: sqlite3.Error) -> None:
        """Raise the error that `explain` raises, if SQLite cannot write the file or was interrupted."""
        kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if kind in (*_NOT_DAMAGED, sqlite3.SQLITE_INTERRUPT):
            self.explain(error)

    def _hint(self) -> str:
        name = brief(self.path, 100)
        if Path(self.path).suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".npz", ".npy"):
            return f"`ordhc cluster {name}` makes a tree from a file of answers"
        return f"if it was a session, `ordhc session salvage {name} -o NEW` rescues the readable part"

    def _open(self) -> None:
        # Read no table before the schema is checked: a foreign schema can run arbitrary expressions.
        self.db.execute("PRAGMA trusted_schema=OFF")
        self.db.execute("PRAGMA synchronous=FULL")
        tables = self._tables()
        if "events" not in tables or "settings" not in tables:
            salvage = f"`ordhc session salvage {brief(self.path, 100)} -o NEW`"
            remedy = f"if it was a session, {salvage} rescues the readable part"
            raise InputError(f"is an SQLite file, but not a session; {remedy}", path=brief(self.path, 200))
        if (why := foreign_schema(self.db)) is not None:
            raise damaged(self.path, why)
        if self._format() < FORMAT:
            upgrade(self.db)
        # With a write-ahead log, readers and a writer do not block each other. NORMAL does not wait for the
        # disk at each commit; `Disk` waits where needed.
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=NORMAL")
        self.db.execute(f"PRAGMA wal_autocheckpoint={_PAGES}")
        # Tables of other programs may have CHECK constraints, which are untrusted expressions.
        self.db.execute("PRAGMA ignore_check_constraints=ON")
        (result,) = self.db.execute("PRAGMA quick_check(1)").fetchone()
        if result != "ok":
            raise damaged(self.path, result)
        self.db.execute("PRAGMA ignore_check_constraints=OFF")
        self._read_settings()
        tables = self._tables()
        own = schema(self.width)
        # Other programs may keep their own tables in the file.
        if {name: tables.get(name) for name in own} != own:
            raise damaged(self.path, "its tables differ from those of a session")
        self._insert = insert_statement(self.width)

    def _tables(self) -> dict[str, str]:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        return dict(self.db.execute(query).fetchall())

    def _format(self) -> int:
        found = self.db.execute("SELECT value, sum FROM settings WHERE key = 'format'").fetchone()
        if found is None:
            raise ValueError("the settings have no format")
        number = json.loads(found[0])
        if not isinstance(number, int) or (number < FORMAT and number not in EARLIER):
            raise ValueError(f"its format is {number!r}")
        if number > FORMAT:
            if found[1] != sum_of("format", found[0]):
                raise damaged(self.path, f"or newer: its format is {number}, this version reads {FORMAT}")
            text = f"has format {number}, newer than format {FORMAT}, the latest that this version reads"
            raise InputError(f"{text}; install a newer version of ordhc", path=brief(self.path, 200))
        return number

    def _read_settings(self) -> None:
        rows = self.db.execute("SELECT key, value, sum FROM settings").fetchall()
        found = {key: value for key, value, total in rows if total == sum_of(key, value)}
        if len(found) != len(rows) or set(found) != set(KEYS):
            raise ValueError("the settings have a wrong checksum")
        self.settings = checked_settings({key: json.loads(found[key]) for key in KEYS[:-1]})
        self.method: Method = from_settings(self.settings["learner"])
        self.width = self.method.width

    def begin(self) -> int:
        """Roll back an interrupted transaction, and begin a new one; return the file's `version`."""
        self.rollback()
        with self._errors():
            self.db.execute("BEGIN IMMEDIATE")
        return self.version()

    def commit(self) -> None:
        with self._errors():
            self.db.execute("COMMIT")

    def rollback(self) -> None:
        with suppress(sqlite3.Error):
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    def close(self) -> None:
        self._is_closed = True
        self.db.close()
        if self._copy is not None:
            self._copy.cleanup()

    def events(self, after: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield lists of rows for `Log.extend`: the events after event number `after`."""
        with self._errors():
            of_sqlite = "SELECT seq FROM sqlite_sequence WHERE name = 'events'"
            query = f"SELECT (SELECT max(seq) FROM events), ({of_sqlite})"
            last, expected = self.db.execute(query).fetchone()
            count = 0 if last is None else last
            if last != expected or not isinstance(count, int) or count < after:
                raise ValueError(f"the last event is {last}, but should be {expected}")
            if count == after:
                return
            found = self.db.execute(
                f"SELECT {packed(self.width)} FROM events WHERE seq > ? ORDER BY seq", (after,)
            )
            while rows := found.fetchmany(_CHUNK):
                after += len(rows)
                yield rows
            if after < count:
                raise BrokenError(after + 1, "or a later one is missing")

    def item_names(self, kind: int) -> list[str]:
        with self._errors():
            rows = self.db.execute("SELECT who FROM events WHERE kind = ? ORDER BY seq", (kind,)).fetchall()
            return [str(name) for (name,) in rows]

    def n_events(self) -> int:
        with self._errors():
            (last,) = self.db.execute("SELECT max(seq) FROM events").fetchone()
            return last if isinstance(last, int) else 0

    def append(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append events, which are rows that `events.as_rows` made."""
        with self._errors():
            self.db.executemany(self._insert, rows)

    def version(self) -> int:
        """Return a number that changes whenever another connection changes the file."""
        with self._errors():
            (found,) = self.db.execute("PRAGMA data_version").fetchone()
            return int(found)

    def overwrite(self, numbers: Sequence[int], events: Sequence[Event], moments: Sequence[float]) -> None:
        """Replace the events with these numbers; overwrite the old contents with zeros."""
        found = []
        for number, event, at in zip(numbers, events, moments, strict=True):
            (_, *row), *_ = as_rows([event], number, self.width, at)
            found.append((*row, number))
        names = ["kind", "ref", *"abcd"[: self.width], "answer", "who", "at", "seconds", "p", "sum"]
        with self._errors():
            # With this pragma SQLite overwrites deleted and changed contents with zeros.
            self.db.execute("PRAGMA secure_delete=ON")
            self.db.executemany(
                f"UPDATE events SET {', '.join(f'{name} = ?' for name in names)} WHERE seq = ?", found
            )

    def erase(self) -> None:
        """Rebuild the file and empty the write-ahead log, so that no deleted content remains."""
        with self._errors():
            self.db.execute("PRAGMA secure_delete=ON")
            self.db.execute("VACUUM")
            (is_busy, *_) = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise OSError(
                f"{brief(self.path, 200)}: another process is reading the session, so its log still has"
                " deleted answers; repeat this call when the process has ended"
            )

    def _rows(self, what: str, query: str, *values: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query; their last column is a checksum, which is checked and left out."""
        rows = self.db.execute(query, values).fetchall()
        for *row, total in rows:
            if total != sum_of(*row):
                raise ValueError(f"the {what} {row[0]} has a wrong checksum")
        return [row[:-1] for row in rows]

    def state(self, key: str) -> str | None:
        with self._errors():
            rows = self._rows("value of", "SELECT key, value, sum FROM state WHERE key = ?", key)
            return str(rows[0][1]) if rows else None

    def set_state(self, key: str, value: str) -> None:
        with self._errors():
            self.db.execute("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", (key, value, sum_of(key, value)))

    # Positions on the page, which only sessions of web pages have.

    def add_places(self, places: Mapping[int, int]) -> None:
        """Record where chosen items were shown on the page: `places` maps event numbers to positions."""
        rows = [(seq, place, sum_of(seq, place)) for seq, place in places.items()]
        with self._errors():
            if not self._has_places():
                self.db.execute(PLACES)
            self.db.executemany("INSERT OR REPLACE INTO places VALUES (?, ?, ?)", rows)

    def places(self) -> dict[int, int]:
        """Return where chosen items were shown on the page: the position by event number of the answer."""
        with self._errors():
            if not self._has_places():
                return {}
            what = "position on the web page of the item that was chosen in answer"
            return dict(self._rows(what, "SELECT seq, place, sum FROM places"))

    def forget_places(self, numbers: Iterable[int]) -> None:
        with self._errors():
            if self._has_places():
                self.db.executemany("DELETE FROM places WHERE seq = ?", [(number,) for number in numbers])

    def _has_places(self) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE name = 'places'"
        return bool(self.db.execute(query).fetchone()[0])

    def leases(self) -> dict[int, tuple[str, float]]:
        """Return the leases by question number: the person, and the end of the lease in seconds since 1970.

        A lease reserves a question for the person to whom it was given, until the person answers or the
        lease ends.
        """
        with self._errors():
            query = "SELECT question, who, until, sum FROM leases ORDER BY question"
            rows = self._rows("reservation of question", query)
            return {question: (who, float(until)) for question, who, until in rows}

    def lease(self, numbers: Iterable[int], who: str, until: float) -> None:
        rows = [(number, who, until, sum_of(number, who, until)) for number in numbers]
        with self._errors():
            self.db.executemany("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", rows)

    def release(self, numbers: Iterable[int]) -> None:
        with self._errors():
            self.db.executemany("DELETE FROM leases WHERE question = ?", [(number,) for number in numbers])
