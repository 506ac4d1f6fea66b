"""The progress of people through a study: joining, pages, answers, undo and leaving."""

import hashlib
import math
import random
import secrets
import time
from collections import Counter
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from ordhc import Session
from ordhc_collect.people.asking import Asker, Row
from ordhc_collect.people.state import (
    AFTER,
    BEFORE,
    BREAK,
    CHECK,
    DEBRIEFING,
    END,
    INSTRUCTIONS,
    PRACTICE,
    SCREENING,
    TRIALS,
    Answer,
    Measured,
    Person,
    RefusedError,
    Trial,
)
from ordhc_collect.people.tables import Tables
from ordhc_collect.study.forms import PRACTISED, Field
from ordhc_collect.study.model import Study

RUNNING, PAUSED, CLOSED = "running", "paused", "closed"
#: Maximum response time in seconds; longer times are stored as this value.
_LONGEST = 86_400.0
#: The number of seconds between two deletions of old ids.
_DELETE_EVERY = 600.0


class Clock:
    """A clock in seconds since 1970 that never jumps, even if the system's clock is changed."""

    def __init__(self) -> None:
        self._start = time.time() - time.monotonic()

    def now(self) -> float:
        return self._start + time.monotonic()


class StudyState:
    """The state of a study: its people, in memory and in the session file.

    The methods that write must be called within a transaction, and by one thread only. `load` reads the file
    into memory.
    """

    def __init__(self, study: Study, session: Session, path: Path, clock: Clock) -> None:
        self.study, self.session, self.path, self.clock = study, session, path, clock
        self.people: dict[str, Person] = {}
        self.seen: dict[str, float] = {}
        #: People who left, so that other people may take part instead.
        self._gone: set[str] = set()
        #: People who left and whose open questions were released to other people.
        self._released: set[str] = set()
        self.status = RUNNING
        #: True if the people of this file are simulated; real people cannot take part then.
        self.is_simulated = False
        #: The number of visits by links that have a placeholder instead of an id, by parameter.
        self.unfilled: Counter[str | None] = Counter()
        #: The number of visits by links with a misspelt parameter, by (misspelt name, correct name).
        self.misspelt: Counter[tuple[str, str]] = Counter()
        #: The people who chose each option with a quota, by the name of the question and the option.
        self._cells: dict[tuple[str, str], set[str]] = {}
        #: The finished people whom the rules exclude.
        self._excluded: set[str] = set()
        #: The value of `n_done` when the rules were last applied; -1 for never.
        self._n_at_rules = -1
        #: Seconds from a person's last visit until the person's id on the recruiting platform, such as
        #: Prolific, is deleted; None to keep the ids.
        self.delete_after: float | None = None
        self._deleted_at = -math.inf
        #: The number of choices in a question, without "none".
        self._n_choices = 3 if study.question == "odd" else 2
        #: The person whom the session must still forget.
        self.to_forget: str | None = None
        self.tables: Tables
        self.load()

    def load(self) -> None:
        with self.session.transaction() as db:
            Tables.create(db)
            self.tables = tables = Tables(db)
            if self.study.gold.rows and tables.get("gold") != [*map(list, self.study.gold.rows)]:
                self.session.add_answers(self.study.gold.rows, self.study.gold.answers, gold=True)
                tables.set("gold", self.study.gold.rows)
            self.status = tables.get("status") or RUNNING
            self.session.set_rules(**asdict(self.study.exclude))
            self.session.set_question(self.study.words)
            tables.keep_version(self.clock.now(), self.study.text, self.study.pages)
            self.is_simulated = bool(tables.get("simulated"))
            self._find_marked(tables)
            now = self.clock.now()
            self.people, seen = {}, {}
            for person, at in tables.people():
                self.people[person.id] = person
                seen[person.id] = min(at, now)
            self.seen = {**seen, **{who: at for who, at in self.seen.items() if who in seen}}
            self.asker = Asker(self.study, self.session, tables.counts())
            self.n_done = sum(person.outcome == "done" for person in self.people.values())
            self._active = {person.id for person in self.people.values() if not person.has_ended}
            self._excluded &= self.people.keys()
            self._n_at_rules = -1
            self._cells = {}
            for who, details in tables.details().items():
                self._count(who, details)

    # Presence.

    def touch(self, who: str) -> Person:
        """Record in `seen` that a person was seen now; return the person."""
        person = self.people.get(who)
        if person is None:
            raise RefusedError("unknown", 403)
        now = self.clock.now()
        if who in self._active and not self.is_here(who, now):
            self._gone.add(who)
        self.seen[who] = now
        return person

    def is_here(self, who: str, now: float) -> bool:
        """Return True if a person takes part: not at the end, and seen in the last `leave_after` seconds."""
        if who not in self._active or who in self._gone:
            return False
        return self.seen[who] > now - self.study.leave_after

    def here(self) -> int:
        now = self.clock.now()
        return sum(self.is_here(who, now) for who in self._active)

    def is_full(self) -> bool:
        """Return True if the study has its largest number of people: finished, or taking part now."""
        total = self.study.total
        return total is not None and self.n_done - len(self._excluded) + self.here() >= total

    def _count(self, who: str, details: dict[str, str]) -> None:
        for each in self.study.screening:
            if each.quota and each.name in details:
                self._cells.setdefault((each.name, details[each.name]), set()).add(who)

    def _has_room(self, who: str, given: dict[str, str]) -> bool:
        for position, each in enumerate(self.study.screening):
            chosen = each.position(given.get(str(position), ""))
            most = each.quota[chosen] if each.quota and chosen is not None else None
            if most is None:
                continue
            others = self._cells.get((each.name, each.value(str(chosen)) or ""), set()) - {who}
            now = self.clock.now()
            if sum(self._counts(other, now) for other in others) >= most:
                return False
        return True

    def _counts(self, who: str, now: float) -> bool:
        """Return True if a person counts for quotas: finished and not excluded, or taking part now."""
        person = self.people.get(who)
        is_valid = person is not None and person.outcome == "done" and who not in self._excluded
        return is_valid or self.is_here(who, now)

    def may_continue(self, who: str) -> bool:
        """Return True if a person may continue; False for a person who left, if the study is now full."""
        return who not in self._gone or not self.is_full()

    # Methods that write.

    def _keep(self, person: Person, asked: Trial | None = None) -> Person:
        """Store a person, and the question `asked` if the person has just got it; return the person."""
        before = self.people.get(person.id)
        self.people[person.id] = person
        if before is None or before.stage != person.stage:
            if person.has_ended:
                self._active.discard(person.id)
                self.n_done += person.outcome == "done"
            else:
                self._active.add(person.id)
        self._gone.discard(person.id)
        self._released.discard(person.id)
        if before is not None:
            self.tables.update_person(person, self.seen[person.id], asked)
        return person

    def join(
        self,
        parameter: str | None,
        platform: str | None,
        language: str,
        details: dict[str, str] | None = None,
    ) -> Person:
        """Add a person, or find the person with the id `platform`; return the person.

        `platform` is the person's id on the recruiting platform, such as Prolific. `parameter` is the URL
        parameter that contained this id. `details` are stored for a new person, see `Tables.note`.

        Raises
        ------
        RefusedError
            The study is simulated, closed or full.
        """
        if self.is_simulated:
            raise RefusedError("simulated", 403)
        if platform is not None:
            known = self.tables.person_of(platform)
            if known is not None and known in self.people:
                self.seen[known] = self.clock.now()
                return self._keep(self.people[known])
        if self.status == CLOSED:
            raise RefusedError("over", 403)
        if self.is_full():
            raise RefusedError("full", 403)
        stage = SCREENING if self.study.screening else self._after_screening
        person = Person(secrets.token_hex(10), stage, language)
        now = self.seen[person.id] = self.clock.now()
        self.tables.add_person(person, now, parameter, platform)
        self.tables.note(person.id, details or {})
        return self._keep(person)

    @property
    def _after_screening(self) -> str:
        return BEFORE if self.study.before else INSTRUCTIONS

    def step(self, who: str, stage: str, given: dict[str, str]) -> Person:
        """Move a person from the page `stage` to the next page; do nothing if the person is on another page.

        `given` maps the position of each question on the page, as text, to the answer.
        """
        person = self.touch(who)
        if person.stage != stage:
            return person
        if not self.may_continue(who):
            raise RefusedError("too_late", 403)
        if stage == SCREENING:
            has_room = self._has_room(who, given)
            if not self._passes(who, self.study.screening, given):
                return self._end(person, "screened_out")
            if not has_room:
                return self._end(person, "full")
            return self._keep(replace(person, stage=self._after_screening))
        if stage == BEFORE:
            self._passes(who, self.study.before, given)
            return self._keep(replace(person, stage=INSTRUCTIONS))
        if stage == INSTRUCTIONS:
            return self._keep(replace(person, stage=CHECK)) if self.study.checks else self._begin(person)
        if stage == CHECK:
            if self._passes(who, self.study.checks, given):
                return self._begin(person)
            tries = person.tries + 1
            if tries >= self.study.tries:
                return self._end(replace(person, tries=tries), "failed_checks")
            return self._keep(replace(person, stage=INSTRUCTIONS, tries=tries))
        if stage == PRACTICE:
            return self._practise(person, given.get("0", ""))
        if stage == BREAK:
            return self._asked(replace(person, stage=TRIALS), is_rested=True)
        if stage == AFTER:
            self._passes(who, self.study.after, given)
            return self._keep(replace(self._settled(person), stage=DEBRIEFING))
        if stage == DEBRIEFING:
            return self._end(self._settled(person), "done")
        return person

    def _passes(self, who: str, fields: tuple[Field, ...], given: dict[str, str]) -> bool:
        """Store the answers to the questions of a form; return True if all answers let the person pass."""
        found: dict[str, str] = {}
        passes = True
        for position, each in enumerate(fields):
            answer = given.get(str(position), "")
            value = each.value(answer)
            if value is None:
                raise RefusedError("incomplete")
            found[each.name] = value
            passes = passes and (not each.right or each.position(answer) in each.right)
        self.tables.note(who, found)
        self._count(who, found)
        return passes

    def _practise(self, person: Person, given: str) -> Person:
        number = person.practice
        if person.tried is None:
            choice = int(given) if given in ("1", "2", "3") else 0
            trial = self.practice(person)
            if trial is None or not 1 <= choice <= self._n_choices:
                raise RefusedError("no choice")
            if trial.answer(choice) == self.study.practice.answers[number]:
                right = int(self.tables.details_of(person.id).get("practice_right", 0)) + 1
                self.tables.note(person.id, {"practice_right": str(right)})
            if self.study.has_feedback:
                return self._keep(replace(person, tried=choice))
        person = replace(person, practice=number + 1, tried=None)
        self.tables.note(person.id, {PRACTISED: str(person.practice)})
        return self._begin(person)

    def practice(self, person: Person) -> Trial | None:
        rows = self.study.practice.rows
        if person.practice >= len(rows):
            return None
        draw = random.Random(f"{self.study.seed} {person.id} practice {person.practice}")
        row = rows[person.practice]
        sides = _sides_of(row, self.study.question, draw)
        return Trial(person.practice + 1, 0, PRACTICE, row, sides, 0.0)

    def _end(self, person: Person, outcome: str) -> Person:
        return self._keep(replace(person, stage=END, outcome=outcome, trial=None, later=None))

    def _begin(self, person: Person) -> Person:
        if self.practice(person) is not None:
            return self._keep(replace(person, stage=PRACTICE))
        return self._asked(replace(person, stage=TRIALS))

    def _asked(self, person: Person, *, is_rested: bool = False) -> Person:
        """Give a person the next question, or the page after the last question; return the person."""
        if person.later is not None:
            return self.renewed(self._keep(replace(person, trial=person.later, later=None)))
        after = AFTER if self.study.after else DEBRIEFING
        if person.n_done >= self.study.per_person:
            return self._keep(replace(person, stage=after, trial=None))
        every = self.study.break_every
        if every is not None and not is_rested and person.n_done and person.n_done % every == 0:
            return self._keep(replace(person, stage=BREAK, trial=None))
        held = None if person.held is None else person.held.trial.question
        number = person.n_done + 1
        found = self.asker.next(person.id, number, held, partial(self.tables.known, person.id))
        if found is None:
            return self._keep(replace(person, stage=after, trial=None))
        question, leaves, sampler = found
        draw = random.Random(f"{self.study.seed} {person.id} {number}")
        trial = Trial(
            number, question, sampler, leaves, _sides_of(leaves, self.study.question, draw), self.clock.now()
        )
        return self._keep(replace(person, trial=trial), asked=trial)

    def is_withdrawn(self, who: str) -> bool:
        self.asker.find_withdrawn()
        trial = self.people[who].trial
        return trial is not None and not self.asker.withdrawn.isdisjoint(trial.leaves)

    def renewed(self, person: Person) -> Person:
        """Return the person; replace the current question if one of its items was retired."""
        old = person.trial
        if old is None or self.asker.withdrawn.isdisjoint(old.leaves):
            return person
        self.tables.drop_trial(person.id, old.number)
        self.session.release([old.question])
        person = replace(self._asked(replace(person, trial=None, later=None)), later=person.later)
        if person.trial is not None:
            # A form that was made for the old question must not answer the new one.
            trial = replace(person.trial, attempt=old.attempt + 1)
            person = replace(person, trial=trial)
            self.tables.take_back(person.id, trial)
        return self._keep(person)

    def advance(self, who: str) -> Person:
        """Move a person of the JSON API to the next question, or to the end; the API has no other pages."""
        person = self.renewed(self.touch(who))
        if person.has_ended or person.trial is not None:
            return person
        if not self.may_continue(who):
            raise RefusedError("too_late", 403)
        person = self._asked(replace(person, stage=TRIALS), is_rested=True)
        return person if person.trial is not None else self._end(self._settled(person), "done")

    def answer(self, who: str, number: int, attempt: int, choice: int, measured: Measured) -> Person:
        """Record an answer, and return the person; an answer that is sent twice counts once."""
        person = self.touch(who)
        trial = person.trial
        if number <= person.n_done or (
            trial is not None and number == trial.number and attempt != trial.attempt
        ):
            # The answer came from another tab, was sent twice, or was taken back in the meantime.
            return self.renewed(person)
        if trial is None or number != trial.number:
            raise RefusedError("not asked", 403)
        is_late = measured.is_late and self.study.max_seconds is not None
        if not (0 if self.study.allow_none or is_late else 1) <= choice <= self._n_choices:
            raise RefusedError("no choice")
        if self.study.must_play and not is_late and self._is_unheard(trial, measured):
            raise RefusedError("not played")
        if not self.may_continue(who):
            raise RefusedError("too_late", 403)
        now = self.seen[who]
        server = max(now - trial.asked, 0.0)
        if server < self.study.min_seconds:
            # A double click answers a question that the person has not seen yet. Show the question again.
            return self.renewed(person)
        person = self._settled(person)
        page = measured.seconds
        answer = Answer(trial, choice, min(server if page is None else page, _LONGEST), now)
        self.tables.hold(who, answer, measured, server)
        person = replace(person, trial=None, n_done=person.n_done + 1, held=answer)
        if not self.study.can_undo or not self.study.undo_seconds:
            person = self._settled(person)
        return self._asked(person)

    def _is_unheard(self, trial: Trial, measured: Measured) -> bool:
        items = [self.study.items[leaf] for leaf in trial.shown]
        n = sum(kind in item.files for item in items for kind in ("sound", "video"))
        plays = measured.plays or ()
        return len(plays) < n or not all(plays)

    def _settled(self, person: Person) -> Person:
        """Pass a person's last answer to the session if the answer is still held back; return the person."""
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
        self.tables.settle(person.id, trial.number, status)
        return replace(person, held=None)

    def undo(self, who: str, number: int) -> Person:
        """Take back the answer to question `number`, if this is the last answer and is still held back."""
        person = self.touch(who)
        if (
            person.held is None
            or person.held.trial.number != number
            or person.stage not in (TRIALS, BREAK, AFTER, DEBRIEFING)
        ):
            return self.renewed(person)
        trial = replace(person.held.trial, attempt=person.held.trial.attempt + 1)
        self.tables.take_back(who, trial)
        n_done = person.n_done - 1
        person = replace(person, stage=TRIALS, trial=trial, later=person.trial, held=None, n_done=n_done)
        return self.renewed(self._keep(person))

    def tidy(self) -> None:
        """Pass final answers to the session, and release the questions of people who left.

        An answer is final when it can no longer be taken back.
        """
        now = self.clock.now()
        self.settle(now - self.study.undo_seconds)
        if self._has_old_ids(now) and self.delete_after is not None:
            self._deleted_at = now
            self.tables.delete_ids_before(now - self.delete_after, self._id_parameters)
        for who in self._active - self._released:
            if not self.is_here(who, now):
                self._gone.add(who)
                self._released.add(who)
                for trial in (self.people[who].trial, self.people[who].later):
                    if trial is not None:
                        self.session.release([trial.question])
                        if trial.sampler == "list":
                            self.asker.returned.append(trial.leaves)

    def exclude(self, people: set[str], n_done: int) -> None:
        """Record the people whom the rules exclude, so that other people can take part instead.

        `n_done` is the number of finished people when the rules were applied.
        """
        self._n_at_rules = n_done
        self._excluded = {who for who in people & self.people.keys() if self.people[who].outcome == "done"}

    def must_apply_rules(self) -> bool:
        if not self.study.replace_excluded or self.n_done == self._n_at_rules:
            return False
        has_quotas = any(each.quota for each in self.study.screening)
        return has_quotas or self.is_full()

    def settle(self, before: float = math.inf) -> None:
        """Pass to the session all held-back answers that were given up to the time `before`."""
        for person in list(self.people.values()):
            if person.held is not None and person.held.at <= before:
                self.people[person.id] = self._settled(person)

    def _has_old_ids(self, now: float) -> bool:
        return self.delete_after is not None and now > self._deleted_at + _DELETE_EVERY

    def is_untidy(self) -> bool:
        now = self.clock.now()
        if self._has_old_ids(now):
            return True
        before = now - self.study.undo_seconds
        return any(
            person.held is not None and person.held.at <= before for person in self.people.values()
        ) or any(not self.is_here(who, now) for who in self._active - self._released)

    # Values for the dashboard.

    def asked(self) -> dict[str, int]:
        """Return the number of questions that each sampler has chosen."""
        return dict(self.asker.counts)

    def history(self) -> list[tuple[float, float, float, float]]:
        """Return the held-out accuracy over time: number of answers, accuracy, lower and upper bounds."""
        return [tuple(point) for point in self.tables.get("history") or ()]

    def keep_history(self, points: list[tuple[float, float, float, float]]) -> None:
        self.tables.set("history", points)

    def set_status(self, status: str) -> None:
        self.tables.set("status", status)
        self.status = status

    @property
    def _id_parameters(self) -> tuple[str, ...]:
        return (*self.study.id_parameters, *self.study.parameters)

    def delete_ids(self) -> int:
        return self.tables.delete_ids(self._id_parameters)

    def find(self, name: str) -> str:
        """Return the person with this id in the study or on the platform; raise `RefusedError` if unknown."""
        if name in self.people:
            return name
        found = self.tables.person_of(name)
        if found is None or found not in self.people:
            raise RefusedError("unknown", 404)
        return found

    def drop(self, who: str) -> None:
        """Delete all rows of a person in the tables of the study, and store a hash of the person's id.

        If the server is killed before the session has forgotten the person, the next server finds the person
        by this hash.
        """
        self.tables.set("forgetting", _fingerprint(who))
        self.tables.forget(who)

    def dropped(self) -> None:
        """Delete the hash that `drop` stored, after the session has forgotten the person."""
        self.tables.unset("forgetting")
        self.to_forget = None

    def _find_marked(self, tables: Tables) -> None:
        """Set `to_forget` to the person whose hash `drop` stored before the server was killed, or to None."""
        found = tables.get("forgetting")
        self.to_forget = None
        if found is not None:
            known = (who for who in self.session.people() if who is not None)
            self.to_forget = next((who for who in known if _fingerprint(who) == found), None)


def _sides_of(row: Row, question: str, draw: random.Random) -> Row:
    """Return a random order in which to show a question's leaves: positions in `row`, see `Trial.sides`."""
    if question == "odd":
        return tuple(draw.sample(range(3), 3))
    first, second = draw.sample([[0, 1], [2, 3]], 2)
    if question == "pairs":
        draw.shuffle(first)
        draw.shuffle(second)
        return (*first, *second)
    (head,) = set(row[:2]) & set(row[2:])
    (left,), (right,) = ([position for position in pair if row[position] != head] for pair in (first, second))
    return (first[0] + first[1] - left, left, right)


def _fingerprint(who: str) -> str:
    return hashlib.sha256(who.encode()).hexdigest()
