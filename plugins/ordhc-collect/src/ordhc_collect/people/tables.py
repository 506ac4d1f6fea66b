"""What a study keeps beside the session, in the same file and the same transactions."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ordhc_collect.people.state import Answer, Person, Trial

__all__ = ["Tables", "reading"]

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
CREATE TABLE IF NOT EXISTS collect_trials (
  person TEXT NOT NULL, trial INTEGER NOT NULL, question INTEGER NOT NULL, sampler TEXT NOT NULL,
  leaves TEXT NOT NULL, sides TEXT NOT NULL, asked REAL NOT NULL, attempt INTEGER NOT NULL,
  choice INTEGER, answered REAL, page_seconds REAL, server_seconds REAL, status TEXT,
  PRIMARY KEY (person, trial)
) WITHOUT ROWID
"""
#: The status of an answer that the session has not been told.
HELD = "held"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


class Tables:
    """The tables of a study; all calls belong into a transaction of the session."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @staticmethod
    def create(db: sqlite3.Connection) -> None:
        """Make the tables where they are not."""
        for statement in _SCHEMA.split(";"):
            db.execute(statement)

    def are_there(self) -> bool:
        """Whether the file is one of a study."""
        query = "SELECT count(*) FROM sqlite_master WHERE name = 'collect_trials'"
        return bool(self._db.execute(query).fetchone()[0])

    # The study.

    def get(self, key: str) -> Any:
        """A value that was set, or None."""
        row = self._db.execute("SELECT value FROM collect_study WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def set(self, key: str, value: Any) -> None:
        """Set a value."""
        self._db.execute("INSERT OR REPLACE INTO collect_study VALUES (?, ?)", (key, json.dumps(value)))

    def unset(self, key: str) -> None:
        """Forget a value."""
        self._db.execute("DELETE FROM collect_study WHERE key = ?", (key,))

    def keep_version(self, at: float, text: str, pages: dict[str, dict[str, str]]) -> None:
        """Keep the file and pages of a study and when they were first used, unless they are the last ones."""
        new = (text, json.dumps(pages, sort_keys=True))
        query = "SELECT text, pages FROM collect_versions ORDER BY rowid DESC LIMIT 1"
        if self._db.execute(query).fetchone() != new:
            self._db.execute("INSERT INTO collect_versions VALUES (?, ?, ?)", (at, *new))

    # People.

    def add_person(self, person: Person, now: float, parameter: str | None, platform: str | None) -> None:
        """Somebody new, with their id on the platform if they have one."""
        self._db.execute(
            "INSERT INTO collect_people VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (person.id, person.stage, person.language, person.tries, person.n_done, person.outcome, now, now),
        )
        if platform is not None:
            self._db.execute("INSERT INTO collect_ids VALUES (?, ?, ?)", (platform, parameter, person.id))

    def update_person(self, person: Person, now: float) -> None:
        """Keep where somebody is now."""
        self._db.execute(
            "UPDATE collect_people SET stage = ?, language = ?, tries = ?, n_done = ?, outcome = ?, seen = ?"
            " WHERE person = ?",
            (person.stage, person.language, person.tries, person.n_done, person.outcome, now, person.id),
        )

    def person_of(self, platform: str) -> str | None:
        """Who has this id on the platform."""
        row = self._db.execute("SELECT person FROM collect_ids WHERE platform = ?", (platform,)).fetchone()
        return None if row is None else str(row[0])

    def platform_of(self, person: str) -> str | None:
        """The id of somebody on the platform."""
        row = self._db.execute("SELECT platform FROM collect_ids WHERE person = ?", (person,)).fetchone()
        return None if row is None else str(row[0])

    def platform_ids(self) -> dict[str, str]:
        """The ids of people on the platform."""
        return dict(self._db.execute("SELECT person, platform FROM collect_ids").fetchall())

    def delete_ids(self) -> int:
        """Delete which person is whom on the platform; how many were known."""
        return self._db.execute("DELETE FROM collect_ids").rowcount

    def forget(self, person: str) -> None:
        """Delete all that is kept of somebody."""
        for table in ("people", "ids", "trials"):
            self._db.execute(f"DELETE FROM collect_{table} WHERE person = ?", (person,))

    def people(self) -> Iterator[tuple[Person, float]]:
        """Everybody, with when they were seen last."""
        trials: dict[str, list[tuple[Any, ...]]] = {}
        for row in self._db.execute(
            "SELECT person, trial, question, sampler, leaves, sides, asked, attempt, choice, answered,"
            " page_seconds, server_seconds FROM collect_trials WHERE choice IS NULL OR status = ?"
            " ORDER BY person, trial",
            (HELD,),
        ):
            trials.setdefault(row[0], []).append(row[1:])
        rows = self._db.execute(
            "SELECT person, stage, language, tries, n_done, outcome, seen FROM collect_people"
        )
        for name, stage, language, tries, n_done, outcome, seen in rows:
            person = Person(name, stage, language, tries, n_done, outcome=outcome)
            open_ = []
            for number, question, sampler, leaves, sides, asked, attempt, choice, *told in trials.get(
                name, ()
            ):
                trial = Trial(number, question, sampler, _numbers(leaves), _numbers(sides), asked, attempt)
                if choice is None:
                    open_.append(trial)
                else:
                    at, page, server = told
                    person = replace(person, held=Answer(trial, choice, server if page is None else page, at))
            first, second = (*open_, None, None)[:2]
            yield replace(person, trial=first, later=second), seen

    # Trials.

    def add_trial(self, person: str, trial: Trial) -> None:
        """A question that somebody is asked."""
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

    def hold(self, person: str, answer: Answer, page: float | None, server: float) -> None:
        """Keep an answer, which the session is told later."""
        self._db.execute(
            "UPDATE collect_trials SET choice = ?, answered = ?, page_seconds = ?, server_seconds = ?,"
            " status = ? WHERE person = ? AND trial = ?",
            (answer.choice, answer.at, page, server, HELD, person, answer.trial.number),
        )

    def settle(self, person: str, number: int, status: str) -> None:
        """Keep what became of an answer."""
        self._db.execute(
            "UPDATE collect_trials SET status = ? WHERE person = ? AND trial = ?", (status, person, number)
        )

    def take_back(self, person: str, trial: Trial) -> None:
        """A question is open again."""
        self._db.execute(
            "UPDATE collect_trials SET choice = NULL, answered = NULL, page_seconds = NULL,"
            " server_seconds = NULL, status = NULL, attempt = ? WHERE person = ? AND trial = ?",
            (trial.attempt, person, trial.number),
        )

    def known(self, person: str) -> list[tuple[int, ...]]:
        """The leaves of all questions that somebody was asked."""
        rows = self._db.execute("SELECT leaves FROM collect_trials WHERE person = ?", (person,))
        return [_numbers(leaves) for (leaves,) in rows]

    def n_answers(self, person: str) -> int:
        """How many answers of somebody are kept."""
        query = "SELECT count(*) FROM collect_trials WHERE person = ? AND choice NOT NULL"
        return int(self._db.execute(query, (person,)).fetchone()[0])

    def counts(self) -> Counter[str]:
        """How many questions each sampler has chosen."""
        return Counter(
            dict(self._db.execute("SELECT sampler, count(*) FROM collect_trials GROUP BY sampler").fetchall())
        )

    def trials(self) -> Iterator[tuple[Any, ...]]:
        """Everything about every question that anybody was asked, in the order of asking."""
        return iter(
            self._db.execute(
                "SELECT person, trial, question, sampler, leaves, sides, asked, attempt, choice, answered,"
                " page_seconds, server_seconds, status FROM collect_trials ORDER BY asked, person, trial"
            )
        )

    def all_people(self) -> Iterator[tuple[Any, ...]]:
        """Person, stage, language, tries, number of answers, outcome, when they came and were seen last."""
        return iter(self._db.execute("SELECT * FROM collect_people ORDER BY joined, person"))


@contextmanager
def reading(path: Path) -> Iterator[Tables]:
    """The tables of a file, for reading only, at one moment."""
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)) as db:
        db.execute("BEGIN")
        yield Tables(db)
