"""The progress of people through a study: joining, pages, answers, undo and leaving."""

import hashlib
import math
import random
import secrets
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

from ordhc import Session
from ordhc_collect.people.asking import Asker, sides_of
from ordhc_collect.people.clock import Clock
from ordhc_collect.people.state import (
    CHECK,
    DEBRIEFING,
    END,
    INSTRUCTIONS,
    SCREENING,
    TRIALS,
    Answer,
    Person,
    RefusedError,
    Trial,
)
from ordhc_collect.people.tables import Tables
from ordhc_collect.study.model import Study

__all__ = ["CLOSED", "PAUSED", "RUNNING", "Desk"]

RUNNING, PAUSED, CLOSED = "running", "paused", "closed"
#: Longer response times, in seconds, are cut to this value.
_LONGEST = 86_400.0
#: The seconds between two searches for ids that are to be deleted.
_LOOK_AT_IDS = 600.0


class Desk:
    """All people of a study, in memory and in the study's file.

    Methods that write must be called within a transaction, and by one thread. `load` reads the file into
    memory.
    """

    def __init__(self, study: Study, session: Session, path: Path, clock: Clock) -> None:
        self.study, self.session, self.path, self.clock = study, session, path, clock
        self.people: dict[str, Person] = {}
        #: The time when each person was last seen.
        self.seen: dict[str, float] = {}
        #: People who left, so that others may take their places; and those whose questions were released.
        self._gone: set[str] = set()
        self._released: set[str] = set()
        self.status = RUNNING
        #: True if the people of this file are simulated; real people cannot take part then.
        self.is_simulated = False
        #: The number of visits by links whose placeholder for an id was not replaced, by parameter.
        self.unfilled: Counter[str | None] = Counter()
        #: The seconds after a person's last visit when the id on the platform is deleted; None for never.
        self.delete_after: float | None = None
        self._deleted_at = -math.inf
        #: The person whom the session must still forget.
        self.unfinished: str | None = None
        self._tables: Tables
        self.load()

    def load(self) -> None:
        """Read all people from the file; make missing tables."""
        with self.session.transaction() as db:
            Tables.create(db)
            self._tables = tables = Tables(db)
            if self.study.gold.rows and tables.get("gold") != [*map(list, self.study.gold.rows)]:
                self.session.add_answers(self.study.gold.rows, self.study.gold.answers, gold=True)
                tables.set("gold", self.study.gold.rows)
            self.status = tables.get("status") or RUNNING
            self.session.set_rules(**asdict(self.study.exclude))
            self.session.set_question(self.study.words)
            tables.keep_version(self.clock.now(), self.study.text, self.study.pages)
            self.is_simulated = bool(tables.get("simulated"))
            self._finish_forgetting(tables)
            now = self.clock.now()
            self.people, seen = {}, {}
            for person, at in tables.people():
                self.people[person.id] = person
                seen[person.id] = min(at, now)
            self.seen = {**seen, **{who: at for who, at in self.seen.items() if who in seen}}
            self._asker = Asker(self.study, self.session, tables.counts())
            self._n_done = sum(person.outcome == "done" for person in self.people.values())
            self._active = {person.id for person in self.people.values() if not person.has_ended}

    # Presence.

    def touch(self, who: str) -> Person:
        """Note that a person was seen now; return the person."""
        person = self.people.get(who)
        if person is None:
            raise RefusedError("unknown", 403)
        if who in self._active and not self.is_here(who):
            self._gone.add(who)
        self.seen[who] = self.clock.now()
        return person

    def is_here(self, who: str) -> bool:
        """Return True if a person takes part at the moment."""
        if who not in self._active or who in self._gone:
            return False
        return self.seen[who] > self.clock.now() - self.study.leave_after

    def here(self) -> int:
        """Return the number of people who take part at the moment."""
        return sum(map(self.is_here, self._active))

    def is_full(self) -> bool:
        """Return True if all places are taken, by people who have finished and people who take part now."""
        return self.study.total is not None and self._n_done + self.here() >= self.study.total

    def has_place(self, who: str) -> bool:
        """Return True if a person may continue; the places of people who leave are given to others."""
        return who not in self._gone or not self.is_full()

    @property
    def is_closed(self) -> bool:
        """True if no new person may take part."""
        return self.status == CLOSED

    # Methods that write.

    def _keep(self, person: Person) -> Person:
        before = self.people.get(person.id)
        self.people[person.id] = person
        if before is None or before.stage != person.stage:
            if person.has_ended:
                self._active.discard(person.id)
                self._n_done += person.outcome == "done"
            else:
                self._active.add(person.id)
        now = self.clock.now()
        self.seen[person.id] = now
        self._gone.discard(person.id)
        self._released.discard(person.id)
        if before is not None:
            self._tables.update_person(person, now)
        return person

    def join(self, parameter: str | None, platform: str | None, language: str) -> Person:
        """Return a new person who takes part, or the person who has this id on the platform already."""
        if self.is_simulated:
            raise RefusedError("simulated", 403)
        if platform is not None:
            known = self._tables.person_of(platform)
            if known is not None and known in self.people:
                return self._keep(self.people[known])
        if self.status == CLOSED:
            raise RefusedError("closed", 403)
        if self.is_full():
            raise RefusedError("full", 403)
        stage = SCREENING if self.study.screening else INSTRUCTIONS
        person = Person(secrets.token_hex(10), stage, language)
        self._tables.add_person(person, self.clock.now(), parameter, platform)
        return self._keep(person)

    def step(self, who: str, stage: str, choices: list[int]) -> Person:
        """Move a person on from the page `stage`; do nothing if the person is on another page already."""
        person = self.touch(who)
        if person.stage != stage:
            return person
        if not self.has_place(who):
            raise RefusedError("full", 403)
        if stage == SCREENING:
            if not self._passes(self.study.screening, choices):
                return self._end(person, "screened_out")
            return self._keep(replace(person, stage=INSTRUCTIONS))
        if stage == INSTRUCTIONS:
            if self.study.checks:
                return self._keep(replace(person, stage=CHECK))
            return self._begin(person)
        if stage == CHECK:
            if self._passes(self.study.checks, choices):
                return self._begin(person)
            tries = person.tries + 1
            if tries >= self.study.tries:
                return self._end(replace(person, tries=tries), "failed_checks")
            return self._keep(replace(person, stage=INSTRUCTIONS, tries=tries))
        if stage == DEBRIEFING:
            return self._end(self._told(person), "done")
        return person

    @staticmethod
    def _passes(polls: tuple[object, ...], choices: list[int]) -> bool:
        if len(choices) != len(polls):
            raise RefusedError("incomplete")
        return all(choice in poll.right for poll, choice in zip(polls, choices, strict=True))  # type: ignore[attr-defined]

    def _end(self, person: Person, outcome: str) -> Person:
        return self._keep(replace(person, stage=END, outcome=outcome, trial=None, later=None))

    def _begin(self, person: Person) -> Person:
        return self._keep(self._asked(replace(person, stage=TRIALS)))

    def _asked(self, person: Person) -> Person:
        """Return the person with the next question, or at the debriefing if there is no question."""
        if person.later is not None:
            return replace(person, trial=person.later, later=None)
        if person.n_done >= self.study.per_person:
            return replace(person, stage=DEBRIEFING, trial=None)
        held = None if person.held is None else person.held.trial.question
        number = person.n_done + 1
        found = self._asker.next(person.id, number, held, lambda: self._tables.known(person.id))
        if found is None:
            return replace(person, stage=DEBRIEFING, trial=None)
        question, leaves, sampler = found
        draw = random.Random(f"{self.study.seed} {person.id} {number}")
        trial = Trial(
            number, question, sampler, leaves, sides_of(leaves, self.study.question, draw), self.clock.now()
        )
        self._tables.add_trial(person.id, trial)
        return replace(person, trial=trial)

    def onward(self, who: str) -> Person:
        """Move a person whom another program shows all pages on to the next question, or to the end."""
        person = self.touch(who)
        if person.has_ended or person.trial is not None:
            return person
        if not self.has_place(who):
            raise RefusedError("full", 403)
        person = self._asked(replace(person, stage=TRIALS))
        return self._keep(person) if person.trial is not None else self._end(self._told(person), "done")

    def answer(self, who: str, number: int, attempt: int, choice: int, page: float | None) -> Person:
        """Record an answer; an answer that is sent twice counts once. Return the person."""
        person = self.touch(who)
        trial = person.trial
        if number <= person.n_done or (
            trial is not None and number == trial.number and attempt != trial.attempt
        ):
            # The answer came from another tab, was sent twice, or was taken back in the meantime.
            return person
        if trial is None or number != trial.number:
            raise RefusedError("not asked", 403)
        if not (0 if self.study.allow_none else 1) <= choice <= trial.n_choices:
            raise RefusedError("no choice")
        if not self.has_place(who):
            raise RefusedError("full", 403)
        now = self.clock.now()
        server = max(now - trial.asked, 0.0)
        if server < self.study.min_seconds:
            # A double click answers a question that the person has not seen yet. Show the question again.
            return person
        person = self._told(person)
        page = page if page is not None and 0 <= page <= _LONGEST else None
        answer = Answer(trial, choice, min(server if page is None else page, _LONGEST), now)
        self._tables.hold(who, answer, page, server)
        person = replace(person, trial=None, n_done=person.n_done + 1, held=answer)
        if not self.study.can_undo or not self.study.undo_seconds:
            person = self._told(person)
        return self._keep(self._asked(person))

    def _told(self, person: Person) -> Person:
        """Pass the answer that was held back to the session; return the person."""
        if person.held is None:
            return person
        trial = person.held.trial
        (status,) = self.session.tell(
            [trial.question],
            [trial.answer(person.held.choice)],
            who=person.id,
            seconds=[person.held.seconds],
            places=[person.held.choice],
        )
        self._tables.settle(person.id, trial.number, status)
        return replace(person, held=None)

    def undo(self, who: str, number: int) -> Person:
        """Take back the answer to question `number`, if it is the last answer and is still held back."""
        person = self.touch(who)
        if (
            person.held is None
            or person.held.trial.number != number
            or person.stage not in (TRIALS, DEBRIEFING)
        ):
            return person
        trial = replace(person.held.trial, attempt=person.held.trial.attempt + 1)
        self._tables.take_back(who, trial)
        return self._keep(
            replace(
                person,
                stage=TRIALS,
                trial=trial,
                later=person.trial,
                held=None,
                n_done=person.n_done - 1,
            )
        )

    def tidy(self) -> None:
        """Pass final answers to the session, and release the questions of people who left.

        An answer is final when it can no longer be taken back.
        """
        self.settle(self.clock.now() - self.study.undo_seconds)
        if self._has_old_ids() and self.delete_after is not None:
            self._deleted_at = self.clock.now()
            self._tables.delete_ids_before(self._deleted_at - self.delete_after)
        for who in self._active - self._released:
            if not self.is_here(who):
                self._gone.add(who)
                self._released.add(who)
                for trial in (self.people[who].trial, self.people[who].later):
                    if trial is not None:
                        self.session.release([trial.question])
                        if trial.sampler == "list":
                            self._asker.returned.append(trial.leaves)

    def settle(self, before: float = math.inf) -> None:
        """Pass answers that were given before a time to the session."""
        for person in list(self.people.values()):
            if person.held is not None and person.held.at <= before:
                self.people[person.id] = self._told(person)

    def _has_old_ids(self) -> bool:
        """Return True if ids may be old enough to be deleted; they are looked at every ten minutes."""
        return self.delete_after is not None and self.clock.now() > self._deleted_at + _LOOK_AT_IDS

    def is_untidy(self) -> bool:
        """Return True if `tidy` has work to do."""
        if self._has_old_ids():
            return True
        before = self.clock.now() - self.study.undo_seconds
        return any(
            person.held is not None and person.held.at <= before for person in self.people.values()
        ) or any(not self.is_here(who) for who in self._active - self._released)

    # Values for the dashboard.

    def asked(self) -> dict[str, int]:
        """Return the number of questions that each sampler has chosen."""
        return dict(self._asker.counts)

    def n_ids(self) -> int:
        """Return the number of people whose id on the platform is known."""
        return len(self._tables.platform_ids())

    def history(self) -> list[tuple[float, float, float, float]]:
        """Return the held-out accuracy over time: number of answers, accuracy, lower and upper bounds."""
        return [tuple(point) for point in self._tables.get("history") or ()]

    def keep_history(self, points: list[tuple[float, float, float, float]]) -> None:
        """Store the held-out accuracy over time."""
        self._tables.set("history", points)

    def set_status(self, status: str) -> None:
        """Set the status of the study: `RUNNING`, `PAUSED` or `CLOSED`."""
        self._tables.set("status", status)
        self.status = status

    def delete_ids(self) -> int:
        """Delete the ids of all people on the platform; return their number."""
        return self._tables.delete_ids()

    def person_named(self, platform: str) -> str | None:
        """Return the person with this id on the platform, or None."""
        return self._tables.person_of(platform)

    def platform_of(self, who: str) -> str | None:
        """Return the id of a person on the platform, or None."""
        return self._tables.platform_of(who)

    def find(self, name: str) -> str:
        """Return the person with this id in the study or on the platform; raise `RefusedError` if unknown."""
        if name in self.people:
            return name
        found = self._tables.person_of(name)
        if found is None or found not in self.people:
            raise RefusedError("unknown", 404)
        return found

    def n_answers(self, who: str) -> int:
        """Return the number of recorded answers of a person."""
        return self._tables.n_answers(who)

    def drop(self, who: str) -> None:
        """Delete all rows of a person outside of the session.

        The person is marked, so that the session forgets them next, even if the process is killed.
        """
        self._tables.set("forgetting", _fingerprint(who))
        self._tables.forget(who)

    def dropped(self) -> None:
        """Note that the session has forgotten the marked person."""
        self._tables.unset("forgetting")
        self.unfinished = None

    def _finish_forgetting(self, tables: Tables) -> None:
        """Find the person whom the session had still to forget when the server was killed."""
        found = tables.get("forgetting")
        self.unfinished = None
        if found is not None:
            known = (who for who in self.session.people() if who is not None)
            self.unfinished = next((who for who in known if _fingerprint(who) == found), None)


def _fingerprint(who: str) -> str:
    """Return a hash of an id, from which the id cannot be recovered."""
    return hashlib.sha256(who.encode()).hexdigest()
