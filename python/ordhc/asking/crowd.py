"""Decide which person gets which question."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ordhc._progress import Progress
from ordhc.asking.contents import Contents
from ordhc.asking.events import (
    ADDED,
    ANSWER,
    ASKED,
    GONE,
    IMPORT,
    PARALLEL,
    PASSED,
    QUESTIONS,
    RETIRED,
    SAMPLERS,
    UNDO,
    USE,
    Event,
)
from ordhc.asking.fill import Filler
from ordhc.asking.given import Told
from ordhc.asking.log import History, Key, Log, key_of
from ordhc.asking.methods import Uncertain
from ordhc.asking.questions import Questions

Row = tuple[int, ...]
#: For each question its number, its leaves, and how it was chosen (a value of `SAMPLERS`).
Found = list[tuple[int, Row, int]]
#: The numbers of the questions that are leased to a person, and of those that are leased to anyone.
Held = tuple[list[int], NDArray[np.int64]]

_NAMES = {kind: name for name, kind in SAMPLERS.items()}


class Crowd:
    """The assignment of questions to people.

    A question that a person gets is leased: no other person gets it until the lease ends. Callers must call
    the methods within `Contents.writing`.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents, self._log, self._store = contents, contents.log, contents.store
        method = contents.store.method
        self._follows_people, self._can_ask_more = method.follows_people, isinstance(method, Uncertain)
        self._progress: Progress | None = None
        self._seed: int = contents.store.settings["learner"].get("seed", 0)

    def ask(self, kind: int, rows: Sequence[Row] | None, who: str, lease: float) -> Questions:
        """Ask `who` the questions `rows`: record and return them, leased to `who` for `lease` seconds.

        `kind` says how the questions were chosen, a value of `SAMPLERS`. If `rows` is None, one question of
        this kind that is new to `who` is drawn; the result is empty if there is none.
        """
        if rows is None:
            drawn = self._filler({_NAMES[kind]: 1.0}, who, self._log.history(who)).draw()
            rows = [] if drawn is None else [drawn[1]]
        found = [(number, row, kind) for number, row in enumerate(rows, self._log.n + 1)]
        self._contents.append([Event(kind, -1, row, None, who) for row in rows])
        self._contents.note_seen(who, self._contents.now())
        return self._leased(found, who, self._contents.now() + lease)

    def _filler(self, fill: Mapping[str, float], who: str | None, history: History) -> Filler:
        seed = f"{self._seed} {self._log.n} {who}"
        return Filler(self._log, self._contents.learner, fill, history, seed)

    def _leased(self, found: Found, who: str | None, until: float) -> Questions:
        ids = np.array([number for number, _, _ in found], dtype=np.int64)
        rows = np.array([row for _, row, _ in found], dtype=np.int32).reshape(-1, self._log.width)
        questions = Questions(ids, rows, tuple(_NAMES[kind] for _, _, kind in found))
        if who is not None and found:
            self._contents.lease(ids.tolist(), who, until)
        return questions

    def hand_out(
        self,
        limit: int | None,
        who: str | None,
        lease: float,
        fill: Mapping[str, float],
        is_distinct: bool,
        progress: Progress | None = None,
    ) -> Questions:
        """Return at most `limit` questions, leased to `who`; see `Session.ask`.

        Without `limit` all questions of the learner are returned. With `is_distinct` a person gets no
        two questions about the same leaves.
        """
        self._progress = progress
        now = self._contents.now()
        most = 2**31 if limit is None else limit
        self._contents.expire(now)
        leases = self._contents.leases
        mine, leased = held = leases.of_person(who), leases.numbers()
        if who is not None:
            self._contents.note_seen(who, now)
        history = self._log.history(who) if who is not None and is_distinct else None
        found = self._open(most, who, history, held)
        found += self._kept(most - len(found), mine)
        if len(found) < most and not self._contents.learner.done:
            self._adapt_parallel(who, len(leased) - len(mine) + (limit or 1))
            found = self._asked(most, who, history, held, found)
        missing = (not found) if limit is None else limit - len(found)
        if missing and fill and not self._contents.learner.done:
            found += self._filled(missing, who, fill)
        return self._leased(found, who, now + lease)

    def _kept(self, most: int, mine: list[int]) -> Found:
        log = self._log
        filling = [k for k in mine if log.kinds[k - 1] != ASKED and not log.n_answers[k - 1]]
        filling = [k for k in filling if not log.is_retired[log.leaves[k - 1]].any()][: max(most, 0)]
        return [(k, tuple(log.leaves[k - 1].tolist()), int(log.kinds[k - 1])) for k in filling]

    def _open(self, most: int, who: str | None, history: History | None, held: Held) -> Found:
        """Return open questions of the learner: first those leased to `who`, then those leased to no one."""
        if most <= 0:
            return []
        log, (mine, leased) = self._log, held
        found: Found = []
        for number in mine:
            if self._contents.learner.is_asked(number):
                row: Row = tuple(log.leaves[number - 1].tolist())
                if history is None or history.may_get(number, key_of(row)):
                    found.append((number, row, ASKED))
        if len(found) >= most:
            return found[:most]
        passed: list[Event] = []
        ids, rows = self._contents.learner.open(most if history is None else 2**31, leased)
        for number, row in zip(ids.tolist(), map(tuple, rows.tolist()), strict=True):
            if history is not None and not history.may_get(number, key_of(row)):
                continue
            found.append((number, row, ASKED))
            if who is not None and (history or self._log.history(who)).given.get(key_of(row)) != number:
                passed.append(Event(PASSED, number, (), None, who))
            if len(found) == most:
                break
        if passed:
            self._contents.append(passed)
        return found

    def _adapt_parallel(self, who: str | None, n_wanted: int) -> None:
        """Set the number of leaves that the learner places in the tree at the same time.

        This is the number of people seen recently, but at least `n_wanted`. A smaller number than before is
        set only if it is less than half of the number before.
        """
        if self._follows_people and who is not None:
            people = min(max(len(self._contents.seen), n_wanted), self._log.n_leaves)
            if people > self._log.parallel or people < self._log.parallel // 2:
                self._contents.append([Event(PARALLEL, people)])

    def _asked(self, most: int, who: str | None, history: History | None, held: Held, found: Found) -> Found:
        found += self._new(self._waiting(most - len(found), history), who)
        while (count := most - len(found)) > 0 and not self._log.is_idle():
            skipped = len(self._drafts(2**31)) if history is not None else 0
            wanted = skipped + count
            self._contents.learner.want(wanted)
            is_all = len(self._drafts(wanted)) < wanted
            # The learner may ask a question again that it had dropped. Such a question keeps its number.
            known = {number for number, _, _ in found}
            again = self._open(most, who, history, held)
            found += [question for question in again if question[0] not in known][:count]
            rows = self._waiting(most - len(found), history)
            if not rows and not is_all and self._can_ask_more:
                # `who` has had all questions that the learner proposed, so ask the learner for more. A
                # proposed question becomes an event only when a person gets it.
                continue
            found += self._new(rows, who, wanted)
            if is_all or not rows:
                break
        return found

    def _drafts(self, most: int) -> NDArray[np.int32]:
        # A draft is a question that no person was given yet.
        return self._contents.learner.waiting(most, self._progress)

    def _waiting(self, most: int, history: History | None) -> list[Row]:
        if most <= 0:
            return []
        if history is None:
            return [tuple(row) for row in self._drafts(most).tolist()]
        found: dict[Key, Row] = {}
        for row in self._drafts(2**31).tolist():
            key = key_of(row)
            if key not in found and not history.knows(key):
                found[key] = tuple(row)
                if len(found) == most:
                    break
        return list(found.values())

    def _new(self, rows: Sequence[Row], who: str | None, wanted: int = -1) -> Found:
        if not rows and wanted == -1:
            return []
        events = [Event(ASKED, -1, row, None, who) for row in rows] or [Event(ASKED, -1, (), None, None)]
        events[0] = events[0]._replace(ref=wanted)
        first = self._log.n + 1
        self._contents.append(events, is_asked=True)
        return [(number, row, ASKED) for number, row in enumerate(rows, first)]

    def _filled(self, most: int, who: str | None, fill: Mapping[str, float]) -> Found:
        most = min(most, self._contents.learner.left)
        if most <= 0:
            return []
        history = History() if who is None else self._log.history(who)
        filler = self._filler(fill, who, history)
        found: Found = []
        first = self._log.n + 1
        while len(found) < most and (drawn := filler.draw()) is not None:
            found.append((first + len(found), drawn[1], drawn[0]))
        self._contents.append([Event(kind, -1, row, None, who) for _, row, kind in found])
        return found

    def record(self, told: Told, probabilities: Sequence[float | None], who: str | None) -> list[str]:
        """Record answers; return the result for each answer, as `Session.tell` does."""
        log = self._log
        states: list[str] = []
        events: list[Event] = []
        here: dict[int, list[int]] = {}
        placed: dict[int, int] = {}
        is_asked = self._contents.learner.is_asked
        for number, answer, duration, place, p in zip(*told, probabilities, strict=True):
            leaves = log.question(number)
            if leaves is None:
                states.append("foreign")
                continue
            mine = log.answers_by(number, who) + here.get(number, [])
            if mine:
                states.append("already answered")
            elif (
                log.n_answers[number - 1]
                or (log.kinds[number - 1] == ASKED and not is_asked(number))
                or log.is_retired[list(leaves)].any()
            ):
                states.append("late")
            else:
                states.append("taken")
            if who is None or answer not in mine:
                here.setdefault(number, []).append(answer)
                events.append(Event(ANSWER, number, leaves, answer, who, duration, p))
                if place is not None:
                    placed[log.n + len(events)] = place
        if events:
            self._contents.append(events)
        if who is not None:
            self._contents.note_seen(who, self._contents.now())
        self._contents.release(told.numbers)
        if placed:
            self._store.add_places(placed)
        return states

    def take_back(self, who: str | None) -> Row | None:
        last = self._log.last_answer(who)
        if last is None:
            return None
        self._contents.append([Event(UNDO, last, (), None, who), Event(USE)])
        return tuple(self._log.leaves[last - 1].tolist())

    def add_items(self, names: Sequence[str]) -> None:
        first = self._log.n_leaves + 1
        self._contents.append([Event(ADDED, k, (), None, name) for k, name in enumerate(names, first)])

    def retire(self, leaves: Mapping[int, str]) -> None:
        self._contents.append([Event(RETIRED, leaf + 1, (), None, name) for leaf, name in leaves.items()])
        leased = self._contents.leases.numbers()
        rows = self._log.leaves[leased - 1]
        self._contents.release(leased[self._log.are_retired(rows)].tolist())

    def forget(self, who: str) -> int:
        """Delete a person from all events; return the number of answers that the person gave."""
        log = self._log
        theirs = log.who[: log.n] == log.ids.get(who, -1)
        is_answer = theirs & ((log.kinds[: log.n] == ANSWER) | (log.kinds[: log.n] == IMPORT))
        # Also `UNDO` events of other people, if they took back an answer of this person.
        undos = np.flatnonzero(log.kinds[: log.n] == UNDO)
        back = undos[is_answer[log.refs[undos] - 1]]
        rows = np.union1d(np.flatnonzero(theirs), back)
        events = [_without_person(log, row) for row in rows.tolist()]
        if len(rows):
            self._contents.replace((rows + 1).tolist(), events)
            self._store.forget_places((rows + 1).tolist())
        self._contents.release(self._contents.leases.of_person(who))
        self._contents.seen.pop(who, None)
        return int(np.count_nonzero(is_answer))


def _without_person(log: Log, row: int) -> Event:
    """Return an event without its person.

    A question keeps its leaves, because other people may have answered it.
    """
    kind, ref = int(log.kinds[row]), int(log.refs[row])
    if kind not in QUESTIONS:
        return Event(GONE)
    leaves = tuple(log.leaves[row].tolist())
    return Event(kind, ref, () if leaves[0] < 0 else leaves)
