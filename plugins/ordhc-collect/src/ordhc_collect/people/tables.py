"""The tables of a study in the session file; they are written in the session's transactions."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ordhc_collect.people.state import Answer, Measured, Person, Trial
from ordhc_collect.study.forms import PRACTISED

_SCHEMA = """
CREATE TABLE IF NOT EXISTS collect_study (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS collect_versions (at REAL NOT NULL, text TEXT NOT NULL, pages TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS collect_people (
  person TEXT PRIMARY KEY, stage TEXT NOT NULL, language TEXT NOT NULL, tries INTEGER NOT NULL,
  n_done INTEGER NOT NULL, outcome TEXT, joined REAL NOT NULL, seen REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS collect_ids (
  platform TEXT PRIMARY KEY, parameter TEXT NOT NULL, person TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS collect_details (
  person TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (person, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS collect_trials (
  person TEXT NOT NULL, trial INTEGER NOT NULL, question INTEGER NOT NULL, sampler TEXT NOT NULL,
  leaves TEXT NOT NULL, sides TEXT NOT NULL, asked REAL NOT NULL, attempt INTEGER NOT NULL,
  choice INTEGER, answered REAL, page_seconds REAL, server_seconds REAL, status TEXT,
  PRIMARY KEY (person, trial)
) WITHOUT ROWID
"""
#: Columns that are missing in older files, by table.
_NEWER = {"collect_trials": "measured TEXT"}
#: The status of an answer that the session has not received yet.
HELD = "held"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


class Tables:
    """The tables of a study; call the methods within a transaction of the session."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @staticmethod
    def create(db: sqlite3.Connection) -> None:
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        for table, column in _NEWER.items():
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            if column.split()[0] not in names:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")

    def are_there(self) -> bool:
        return self._has("collect_trials")

    def _has(self, table: str) -> bool:
        return self._first("SELECT 1 FROM sqlite_master WHERE name = ?", table) is not None

    def _first(self, query: str, value: str) -> Any:
        """Return the first column of the first row, or None if there is no row."""
        return next((row[0] for row in self._db.execute(query, (value,))), None)

    # The study.

    def get(self, key: str) -> Any:
        text = self._first("SELECT value FROM collect_study WHERE key = ?", key)
        return None if text is None else json.loads(text)

    def set(self, key: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO collect_study VALUES (?, ?)", (key, json.dumps(value)))

    def unset(self, key: str) -> None:
        self._db.execute("DELETE FROM collect_study WHERE key = ?", (key,))

    def keep_version(self, at: float, text: str, pages: dict[str, dict[str, str]]) -> None:
        """Store the study file and the pages with the time `at`, if they differ from the last stored ones."""
        new = (text, json.dumps(pages, sort_keys=True))
        query = "SELECT text, pages FROM collect_versions ORDER BY rowid DESC LIMIT 1"
        if self._db.execute(query).fetchone() != new:
            self._db.execute("INSERT INTO collect_versions VALUES (?, ?, ?)", (at, *new))

    # People.

    def add_person(self, person: Person, now: float, parameter: str | None, platform: str | None) -> None:
        self._db.execute(
            "INSERT INTO collect_people VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (person.id, person.stage, person.language, person.tries, person.n_done, person.outcome, now, now),
        )
        if platform is not None:
            self._db.execute("INSERT INTO collect_ids VALUES (?, ?, ?)", (platform, parameter, person.id))

    def update_person(self, person: Person, now: float, asked: Trial | None = None) -> None:
        """Store the state of a person, and the question `asked` if the person has just got it."""
        self._db.execute(
            "UPDATE collect_people SET stage = ?, language = ?, tries = ?, n_done = ?, outcome = ?, seen = ?"
            " WHERE person = ?",
            (person.stage, person.language, person.tries, person.n_done, person.outcome, now, person.id),
        )
        if asked is not None:
            self._add_trial(person.id, asked)

    def person_of(self, platform: str) -> str | None:
        found: str | None = self._first("SELECT person FROM collect_ids WHERE platform = ?", platform)
        return found

    def platform_of(self, person: str) -> str | None:
        found: str | None = self._first("SELECT platform FROM collect_ids WHERE person = ?", person)
        return found

    def note(self, person: str, details: dict[str, str]) -> None:
        """Store details of a person: answers in forms, the device, and URL parameters."""
        self._db.executemany(
            "INSERT OR REPLACE INTO collect_details VALUES (?, ?, ?)",
            [(person, key, value) for key, value in details.items()],
        )

    def details_of(self, person: str) -> dict[str, str]:
        rows = self._db.execute("SELECT key, value FROM collect_details WHERE person = ?", (person,))
        return dict(rows.fetchall())

    def details(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        if self._has("collect_details"):
            for person, key, value in self._db.execute("SELECT person, key, value FROM collect_details"):
                found.setdefault(person, {})[key] = value
        return found

    def platform_ids(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT person, platform FROM collect_ids").fetchall())

    def delete_ids(self, parameters: tuple[str, ...]) -> int:
        """Delete all ids, and the values of the URL parameters `parameters`; return the number of ids."""
        self._db.executemany("DELETE FROM collect_details WHERE key = ?", [(key,) for key in parameters])
        return self._db.execute("DELETE FROM collect_ids").rowcount

    def delete_ids_before(self, at: float, parameters: tuple[str, ...]) -> int:
        """Delete the ids of people who were last seen before the time `at`; see `delete_ids`."""
        gone = "SELECT person FROM collect_people WHERE seen < ?"
        self._db.executemany(
            f"DELETE FROM collect_details WHERE key = ? AND person IN ({gone})",
            [(key, at) for key in parameters],
        )
        return self._db.execute(f"DELETE FROM collect_ids WHERE person IN ({gone})", (at,)).rowcount

    def forget(self, person: str) -> None:
        for table in ("people", "ids", "trials", "details"):
            self._db.execute(f"DELETE FROM collect_{table} WHERE person = ?", (person,))

    def people(self) -> Iterator[tuple[Person, float]]:
        """Yield each person, and the time when the person was last seen."""
        trials: dict[str, list[tuple[Trial, Any]]] = {}
        for who, trial, answer in self.trials(f"WHERE choice IS NULL OR status = '{HELD}'", "person, trial"):
            trials.setdefault(who, []).append((trial, answer))
        rows = self._db.execute(
            "SELECT person, stage, language, tries, n_done, outcome, seen FROM collect_people"
        )
        practised = dict(
            self._db.execute(
                "SELECT person, value FROM collect_details WHERE key = ?", (PRACTISED,)
            ).fetchall()
        )
        for name, stage, language, tries, n_done, outcome, seen in rows:
            practice = int(practised.get(name, 0))
            person = Person(name, stage, language, tries, n_done, outcome=outcome, practice=practice)
            open_ = []
            for trial, (choice, at, page, server, _) in trials.get(name, ()):
                if choice is None:
                    open_.append(trial)
                else:
                    person = replace(person, held=Answer(trial, choice, server if page is None else page, at))
            first, second = (*open_, None, None)[:2]
            yield replace(person, trial=first, later=second), seen

    # Trials.

    def _add_trial(self, person: str, trial: Trial) -> None:
        self._db.execute(
            "INSERT INTO collect_trials (person, trial, question, sampler, leaves, sides, asked, attempt)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                person,
                trial.number,
                trial.question,
                trial.sampler,
                " ".join(map(str, trial.leaves)),
                " ".join(map(str, trial.sides)),
                trial.asked,
                trial.attempt,
            ),
        )

    def hold(self, person: str, answer: Answer, measured: Measured, server: float) -> None:
        """Store an answer that is held back; the session receives it later."""
        more = {
            "hidden": measured.hidden,
            "plays": measured.plays,
            "enlarged": measured.enlarged,
            "late": measured.is_late or None,
        }
        text = json.dumps({key: value for key, value in more.items() if value is not None})
        self._db.execute(
            "UPDATE collect_trials SET choice = ?, answered = ?, page_seconds = ?, server_seconds = ?,"
            " measured = ?, status = ? WHERE person = ? AND trial = ?",
            (answer.choice, answer.at, measured.seconds, server, text, HELD, person, answer.trial.number),
        )

    def settle(self, person: str, number: int, status: str) -> None:
        """Store the status of an answer: what `Session.tell` returned, such as "taken"."""
        self._db.execute(
            "UPDATE collect_trials SET status = ? WHERE person = ? AND trial = ?", (status, person, number)
        )

    def take_back(self, person: str, trial: Trial) -> None:
        self._db.execute(
            "UPDATE collect_trials SET choice = NULL, answered = NULL, page_seconds = NULL,"
            " server_seconds = NULL, measured = NULL, status = NULL, attempt = ?"
            " WHERE person = ? AND trial = ?",
            (trial.attempt, person, trial.number),
        )

    def drop_trial(self, person: str, number: int) -> None:
        self._db.execute("DELETE FROM collect_trials WHERE person = ? AND trial = ?", (person, number))

    def known(self, person: str) -> list[tuple[int, ...]]:
        """Return the leaves of all questions that a person was asked."""
        rows = self._db.execute("SELECT leaves FROM collect_trials WHERE person = ?", (person,))
        return [_numbers(leaves) for (leaves,) in rows]

    def n_answers(self, person: str) -> int:
        query = "SELECT count(*) FROM collect_trials WHERE person = ? AND choice NOT NULL"
        return int(self._first(query, person))

    def counts(self) -> Counter[str]:
        """Return the number of questions that each sampler has chosen."""
        return Counter(
            dict(self._db.execute("SELECT sampler, count(*) FROM collect_trials GROUP BY sampler").fetchall())
        )

    def trials(
        self, where: str = "", order: str = "asked, person, trial"
    ) -> Iterator[tuple[str, Trial, tuple[Any, ...]]]:
        """Yield the person and the question of each trial, and a tuple about the answer.

        The tuple has the choice, its time, the response times of page and server in seconds, and the status.
        """
        for person, number, question, sampler, leaves, sides, asked, attempt, *answer in self._db.execute(
            "SELECT person, trial, question, sampler, leaves, sides, asked, attempt, choice, answered,"
            f" page_seconds, server_seconds, status FROM collect_trials {where} ORDER BY {order}"
        ):
            trial = Trial(number, question, sampler, _numbers(leaves), _numbers(sides), asked, attempt)
            yield person, trial, tuple(answer)

    def measured(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the measurements that `hold` stored as JSON, by person and number of the question."""
        names = [row[1] for row in self._db.execute("PRAGMA table_info(collect_trials)")]
        if "measured" not in names:
            return {}
        rows = self._db.execute("SELECT person, trial, measured FROM collect_trials WHERE measured NOT NULL")
        return {(person, trial): json.loads(text) for person, trial, text in rows}

    def all_people(self) -> Iterator[tuple[Any, ...]]:
        """Yield the row of each person.

        A row has the person, stage, language, tries, number of answers, outcome, and the times of joining
        and of the last visit.
        """
        return iter(self._db.execute("SELECT * FROM collect_people ORDER BY joined, person"))


def copy_session(source: Path, target: Path) -> None:
    """Copy a session, which may be in use, into a file; the copy is a consistent snapshot."""
    uri = f"{source.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=30)) as db, closing(sqlite3.connect(target)) as copy:
        db.backup(copy)


@contextmanager
def reading(path: Path) -> Iterator[Tables]:
    """Open the tables of a file for reading; all reads see the same snapshot."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)) as db:
        db.execute("BEGIN")
        yield Tables(db)
