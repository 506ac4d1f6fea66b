"""What becomes of people in a study: they come, go from page to page, answer, take back, leave."""

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
#: Response times above this are no response times.
_LONGEST = 86_400.0


class Desk:
    """All people of a study, in memory as in its file.

    What writes is called within a transaction, by one thread; `load` makes memory what the file says.
    """

    def __init__(self, study: Study, session: Session, path: Path, clock: Clock) -> None:
        self.study, self.session, self.path, self.clock = study, session, path, clock
        self.people: dict[str, Person] = {}
        #: When everybody was seen last.
        self.seen: dict[str, float] = {}
        #: People who left, whose places are given to others; of these, whose questions were given back.
        self._gone: set[str] = set()
        self._released: set[str] = set()
        self.status = RUNNING
        #: Whether the people of this file are simulated: nobody else may take part.
        self.is_simulated = False
        #: How many people came by links whose parameter for an id is not filled in, by parameter.
        self.unfilled: Counter[str | None] = Counter()
        #: Whom the session has yet to forget.
        self.unfinished: str | None = None
        self._tables: Tables
        self.load()

    def load(self) -> None:
        """Read everything from the file; what isn't there yet is made."""
        with self.session.transaction() as db:
            Tables.create(db)
            self._tables = tables = Tables(db)
            if self.study.gold.rows and tables.get("gold") != [*map(list, self.study.gold.rows)]:
                self.session.add_answers(self.study.gold.rows, self.study.gold.answers, gold=True)
                tables.set("gold", self.study.gold.rows)
            self.status = tables.get("status") or RUNNING
            self.session.set_rules(**asdict(self.study.exclude))
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

    # Who is there.

    def touch(self, who: str) -> Person:
        """Somebody is there."""
        person = self.people.get(who)
        if person is None:
            raise RefusedError("unknown", 403)
        if who in self._active and not self.is_here(who):
            self._gone.add(who)
        self.seen[who] = self.clock.now()
        return person

    def is_here(self, who: str) -> bool:
        """Whether somebody takes part at the moment."""
        if who not in self._active or who in self._gone:
            return False
        return self.seen[who] > self.clock.now() - self.study.leave_after

    def here(self) -> int:
        """How many people take part at the moment."""
        return sum(map(self.is_here, self._active))

    def is_full(self) -> bool:
        """Whether all places are taken: by people who are done, and by those who are there."""
        return self.study.total is not None and self._n_done + self.here() >= self.study.total

    def has_place(self, who: str) -> bool:
        """Whether somebody may go on; the places of people who leave are given to others."""
        return who not in self._gone or not self.is_full()

    @property
    def is_closed(self) -> bool:
        """Whether nobody new may take part."""
        return self.status == CLOSED

    # What writes.

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
        """Somebody takes part; whoever has been there with this id goes on."""
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
        """Go on from a page; from one where somebody is no more nothing happens."""
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
        """With the next question; at the debriefing if there is none."""
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

    def answer(self, who: str, number: int, attempt: int, choice: int, page: float | None) -> Person:
        """Keep an answer; one that is there already is there once."""
        person = self.touch(who)
        trial = person.trial
        if number <= person.n_done or (
            trial is not None and number == trial.number and attempt != trial.attempt
        ):
            # From another tab, sent twice, or taken back meanwhile.
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
            # The second click of two: nobody has seen this question yet. It is shown again.
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
        """Tell the session an answer that was held back."""
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
        """Take the last answer back, if it is this one and it isn't too late."""
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
        """Tell the session answers that can't be taken back any more; give back what those who left had."""
        self.settle(self.clock.now() - self.study.undo_seconds)
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
        """Tell the session answers that were held back since before a time."""
        for person in list(self.people.values()):
            if person.held is not None and person.held.at <= before:
                self.people[person.id] = self._told(person)

    def is_untidy(self) -> bool:
        """Whether there is something for `tidy` to do."""
        before = self.clock.now() - self.study.undo_seconds
        return any(
            person.held is not None and person.held.at <= before for person in self.people.values()
        ) or any(not self.is_here(who) for who in self._active - self._released)

    # What the dashboard keeps and shows.

    def asked(self) -> dict[str, int]:
        """How many questions each sampler has chosen."""
        return dict(self._asker.counts)

    def n_ids(self) -> int:
        """How many ids of the platform are known."""
        return len(self._tables.platform_ids())

    def history(self) -> list[tuple[float, float, float, float]]:
        """Held-out accuracy over time: how many answers there were, the share, its interval."""
        return [tuple(point) for point in self._tables.get("history") or ()]

    def keep_history(self, points: list[tuple[float, float, float, float]]) -> None:
        """Keep held-out accuracy over time."""
        self._tables.set("history", points)

    def set_status(self, status: str) -> None:
        """Pause the study, let it go on, or close it."""
        self._tables.set("status", status)
        self.status = status

    def delete_ids(self) -> int:
        """Delete which person is whom on the platform."""
        return self._tables.delete_ids()

    def person_named(self, platform: str) -> str | None:
        """Who has this id on the platform."""
        return self._tables.person_of(platform)

    def platform_of(self, who: str) -> str | None:
        """The id of somebody on the platform, if it is known."""
        return self._tables.platform_of(who)

    def find(self, name: str) -> str:
        """The id of somebody who is named by it, or by their id on the platform."""
        if name in self.people:
            return name
        found = self._tables.person_of(name)
        if found is None or found not in self.people:
            raise RefusedError("unknown", 404)
        return found

    def n_answers(self, who: str) -> int:
        """How many answers of somebody are kept."""
        return self._tables.n_answers(who)

    def drop(self, who: str) -> None:
        """Delete what is kept of somebody beside the session, which forgets them next, whatever happens."""
        self._tables.set("forgetting", _fingerprint(who))
        self._tables.forget(who)

    def dropped(self) -> None:
        """The session has forgotten whom it was to forget."""
        self._tables.unset("forgetting")
        self.unfinished = None

    def _finish_forgetting(self, tables: Tables) -> None:
        """Whom the session was to forget when the server was killed."""
        found = tables.get("forgetting")
        self.unfinished = None
        if found is not None:
            known = (who for who in self.session.people() if who is not None)
            self.unfinished = next((who for who in known if _fingerprint(who) == found), None)


def _fingerprint(who: str) -> str:
    """Tells who somebody is to those who know it already."""
    return hashlib.sha256(who.encode()).hexdigest()
