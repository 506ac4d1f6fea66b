"""Store the log of a session's events in memory, as columns, and the questions of each person."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordhc._ordhc import SessionLearner
from ordhc.asking.events import (
    ADDED,
    ANSWER,
    ASKED,
    GOLD,
    HELDOUT,
    IMPORT,
    KNOWN,
    NO_ANSWER,
    NONE,
    PARALLEL,
    PASSED,
    QUESTIONS,
    RANDOM,
    REPEAT,
    RETIRED,
    UNDO,
    USE,
    BrokenError,
    Columns,
    Event,
    are_questions,
    checksum_of_text,
    checksums,
    from_rows,
)

Key = tuple[int, ...]

_IS_QUESTION = np.zeros(RETIRED + 1, dtype=np.bool_)
_IS_QUESTION[sorted(QUESTIONS)] = True
#: The kinds of events after which the learner may have new questions.
_AFFECTS_LEARNER = np.zeros(RETIRED + 1, dtype=np.bool_)
_AFFECTS_LEARNER[[ASKED, ANSWER, IMPORT, UNDO, USE, PARALLEL, ADDED, RETIRED]] = True

_COLUMNS: dict[str, Any] = {
    "kinds": np.int8,
    "refs": np.int64,
    "leaves": np.int32,
    "answers": np.int8,
    "who": np.int32,
    "undone": np.bool_,
    "at": np.float64,
    "seconds": np.float32,
    "p": np.float64,
    "n_answers": np.int32,
}


def key_of(leaves: Sequence[int]) -> Key:
    """Return a key that is equal for equal questions, in whatever order the leaves or pairs are shown."""
    if len(leaves) == 3:
        return tuple(sorted(leaves))
    a, b, c, d = leaves
    first, second = sorted([(a, b) if a < b else (b, a), (c, d) if c < d else (d, c)])
    return (*first, *second)


class History:
    """The questions that one person was given or has answered.

    `given` maps the key (`key_of`) of each question that the person was given to its number. `answered` maps
    the key of each question to the number of answers that the person gave.
    """

    def __init__(self) -> None:
        self.given: dict[Key, int] = {}
        self.answered: Counter[Key] = Counter()

    def may_get(self, number: int, key: Key) -> bool:
        """Return True if the person may get an open question.

        Either the question is new to the person, or the person was given exactly this question and did not
        answer.
        """
        return key not in self.answered and self.given.get(key, number) == number

    def knows(self, key: Key) -> bool:
        return key in self.answered or key in self.given


class Change(NamedTuple):
    """An item that was added or retired: row and kind of the event, leaf and name of the item."""

    row: int
    kind: int
    leaf: int
    name: str


class Log:
    """All events of a session as columns; the event in row k has the number (seq) k + 1.

    Rows from the file are checked. A call of `extend` appends all its rows or none, even if it is
    interrupted.
    """

    kinds: NDArray[np.int8]
    refs: NDArray[np.int64]
    leaves: NDArray[np.int32]
    answers: NDArray[np.int8]
    who: NDArray[np.int32]
    undone: NDArray[np.bool_]
    at: NDArray[np.float64]
    seconds: NDArray[np.float32]
    #: The probability that an answer is right; NaN if the `p` of the learner applies.
    p: NDArray[np.float64]
    #: For a question: the number of its answers that were not taken back.
    n_answers: NDArray[np.int32]

    def __init__(self, n_leaves: int, width: int) -> None:
        self.width = width
        self._n_at_start = n_leaves
        self.changes: list[Change] = []
        #: True if the learner uses answers to "repeat" and "random" questions.
        self.is_shared = False
        self.n = 0
        self.people: list[str | None] = [None]
        self.ids: dict[str | None, int] = {None: 0}
        self.reserve(64)
        self._reset_counts()

    def reserve(self, size: int) -> None:
        columns = {}
        for name, kind in _COLUMNS.items():
            shape = (size, self.width) if name == "leaves" else (size,)
            columns[name] = new = np.zeros(shape, dtype=kind)
            if self.n:
                new[: self.n] = getattr(self, name)[: self.n]
        # Replace all columns in one call, so that an interrupt leaves either the old or the new columns.
        vars(self).update(columns)

    def _reset_counts(self) -> None:
        #: The number of answers that were taken back.
        self.total_undone = 0
        self.counts: Counter[int] = Counter()
        #: The number of leaves that the learner places in parallel, from the last `PARALLEL` event.
        self.parallel = 1
        self._histories: dict[int, History] = {}
        # The result of `is_idle` for the first `_is_idle_at` events.
        self._is_idle, self._is_idle_at = False, 0
        self._update_leaves()

    def _update_leaves(self) -> None:
        #: The number of leaves, retired ones included.
        self.n_leaves = self._n_at_start + sum(change.kind == ADDED for change in self.changes)
        self.is_retired = np.zeros(self.n_leaves, dtype=np.bool_)
        self.is_retired[[change.leaf for change in self.changes if change.kind == RETIRED]] = True

    def _add_people(self, names: set[Any]) -> None:
        for name in names - self.ids.keys():
            if not isinstance(name, str):
                raise TypeError(f"who is {name!r}")
            self.ids[name] = len(self.people)
            self.people.append(name)

    def extend(self, rows: Sequence[Sequence[Any]]) -> None:
        """Append rows that were selected with `events.packed`; raise `BrokenError` for an invalid row."""
        if not rows:
            return
        try:
            self.take(from_rows(rows, self.width))
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, BrokenError):
                raise
            raise BrokenError(self.n + 1, f"or a later one is damaged ({error})") from None

    def take(self, found: Columns) -> None:
        """Append events that are given as columns; check them as `extend` does."""
        kinds, refs, table, answers, names, who, at, seconds, p, totals = found
        first, m = self.n + 1, len(kinds)
        # Events that add or retire an item store the name of the item where other events store a person.
        of_items = np.flatnonzero((kinds == ADDED) | (kinds == RETIRED))
        is_person = np.ones(m, dtype=np.bool_)
        is_person[of_items] = False
        people = {names[k] for k in np.unique(who[is_person]).tolist()}
        self._add_people(people)
        ids = np.array([self.ids.get(name, 0) for name in names], dtype=np.int32)[who] * is_person
        moments = np.ascontiguousarray(at).view(np.int64)
        sums_of_names = np.array([checksum_of_text(name) for name in names], dtype=np.int64)[who]
        seqs = np.arange(first, first + m)
        columns = [
            np.ascontiguousarray(column)
            for column in (seqs, kinds, refs, *table.T, answers, sums_of_names, moments)
        ]
        for wrong in np.flatnonzero(checksums(columns, seconds, p) != totals)[:1].tolist():
            raise BrokenError(first + wrong, "has a wrong checksum")
        of_changes = [
            (row, int(kinds[row]), int(refs[row]) - 1, names[who[row]]) for row in of_items.tolist()
        ]
        changes = self._checked_changes(of_changes)
        n_leaves = self.n_leaves + np.cumsum(kinds == ADDED) if changes else self.n_leaves
        self._check(first, kinds, refs, table, answers, p, n_leaves)

        n, end = self.n, self.n + m
        if end > len(self.kinds):
            self.reserve(max(end, 2 * len(self.kinds)))
        self.refs[n:end], self.kinds[n:end], self.leaves[n:end] = refs, kinds, table
        self.answers[n:end], self.who[n:end], self.undone[n:end] = answers, ids, False
        self.at[n:end], self.seconds[n:end], self.n_answers[n:end] = moments.view(np.float64), seconds, 0
        self.p[n:end] = p
        self._check_refs(n, end)
        if changes:
            self.changes = [*self.changes, *changes]
            self._update_leaves()
        self._count(n, end)
        self.n = end

    def _checked_changes(self, rows: Sequence[tuple[int, int, int, Any]]) -> list[Change]:
        changes: list[Change] = []
        n, gone = self.n_leaves, set(np.flatnonzero(self.is_retired).tolist()) if rows else set()
        for row, kind, leaf, name in rows:
            is_added = kind == ADDED
            if not isinstance(name, str) or (leaf != n if is_added else not 0 <= leaf < n or leaf in gone):
                raise BrokenError(self.n + 1 + row, "has impossible values")
            n += is_added
            if not is_added:
                gone.add(leaf)
            changes.append(Change(self.n + row, kind, leaf, name))
        return changes

    def _check(
        self, first: int, kinds: Any, refs: Any, table: Any, answers: Any, p: Any, n_leaves: Any
    ) -> None:
        known = (kinds >= ASKED) & (kinds <= RETIRED)
        has_answer = (kinds == ANSWER) | (kinds == IMPORT) | (kinds == KNOWN)
        rows = (
            has_answer | ((kinds >= HELDOUT) & (kinds <= GOLD)) | ((kinds == ASKED) & (table[:, 0] != NONE))
        )
        fine = known & (~rows | are_questions(table, n_leaves))
        fine &= rows | (table == NONE).all(axis=1)
        largest = 2 if self.width == 3 else 1
        fine &= ~has_answer | ((answers >= -1) & (answers <= largest))
        fine &= ((kinds != ASKED) | (refs == NONE) | (refs >= 1)) & ((kinds != PARALLEL) | (refs >= 1))
        fine &= np.isnan(p) | ((kinds == ANSWER) & (p >= 0.5) & (p <= 1))
        for wrong in np.flatnonzero(~fine)[:1].tolist():
            raise BrokenError(first + wrong, "has impossible values")

    def _check_refs(self, n: int, end: int) -> None:
        """Raise `BrokenError` if an event refers to a wrong event.

        An answer must refer to an earlier question with the same leaves, `PASSED` to an earlier question, and
        `UNDO` to an earlier answer.
        """
        kinds, refs = self.kinds[n:end], self.refs[n:end]
        here = np.arange(n + 1, end + 1)
        answers = (kinds == ANSWER) & (refs != -1)
        pointing = answers | (kinds == UNDO) | (kinds == PASSED)
        fine = ~pointing | ((refs >= 1) & (refs < here))
        if fine.all():
            to = np.where(pointing, refs, 1) - 1
            found = self.kinds[to]
            fine = ~pointing | np.where(kinds == UNDO, found == ANSWER, _IS_QUESTION[found])
            fine &= ~answers | (self.leaves[to] == self.leaves[n:end]).all(axis=1)
        for wrong in np.flatnonzero(~fine)[:1].tolist():
            raise BrokenError(n + 1 + wrong, "refers to an impossible event")

    def _count(self, n: int, end: int) -> None:
        kinds, refs = self.kinds[n:end], self.refs[n:end]
        answered = refs[(kinds == ANSWER) & (refs != -1)] - 1
        np.add.at(self.n_answers, answered, 1)
        undone = refs[kinds == UNDO] - 1
        undone = undone[~self.undone[undone]]
        self.undone[undone] = True
        asked = self.refs[undone]
        np.add.at(self.n_answers, asked[asked != -1] - 1, -1)
        self.total_undone += len(undone)
        found, many = np.unique(kinds, return_counts=True)
        self.counts.update(dict(zip(found.tolist(), many.tolist(), strict=True)))
        changed = refs[kinds == PARALLEL]
        if changed.size:
            self.parallel = int(changed[-1])
        self._histories.clear()

    def append(self, events: Sequence[Event], at: float) -> None:
        """Append events with the time `at` (seconds since 1970); the events are not checked."""
        n = self.n
        if n + len(events) > len(self.kinds):
            self.reserve(max(n + len(events), 2 * len(self.kinds)))
        for row, (kind, ref, leaves, answer, who, seconds, p) in enumerate(events, n):
            if kind in (ADDED, RETIRED):
                self.changes.append(Change(row, kind, ref - 1, str(who)))
                who = None
            self._add_people({who})
            person = self.ids[who]
            self.kinds[row], self.refs[row], self.leaves[row] = kind, ref, leaves or NONE
            self.answers[row], self.who[row] = NO_ANSWER if answer is None else answer, person
            self.at[row], self.seconds[row] = at, np.nan if seconds is None else seconds
            self.p[row] = np.nan if p is None else p
            self.undone[row], self.n_answers[row] = False, 0
            if kind == ANSWER and ref != -1:
                self.n_answers[ref - 1] += 1
            elif kind == UNDO and not self.undone[ref - 1]:
                self.undone[ref - 1] = True
                self.total_undone += 1
                self._histories.pop(int(self.who[ref - 1]), None)
                if self.refs[ref - 1] != -1:
                    self.n_answers[self.refs[ref - 1] - 1] -= 1
            elif kind == PARALLEL:
                self.parallel = ref
            self.counts[kind] += 1
            self._note(row + 1, kind, ref, leaves, person)
        if any(event.kind in (ADDED, RETIRED) for event in events):
            self._update_leaves()
        self.n = n + len(events)

    def _note(self, seq: int, kind: int, ref: int, leaves: Key, person: int) -> None:
        history = self._histories.get(person)
        if history is None:
            return
        if kind in (ANSWER, IMPORT):
            history.answered[key_of(leaves)] += 1
        elif kind in QUESTIONS and leaves:
            history.given[key_of(leaves)] = seq
        elif kind == PASSED:
            history.given[key_of(self.leaves[ref - 1].tolist())] = ref

    def cut(self, n: int) -> None:
        self.n = n
        self.changes = [change for change in self.changes if change.row < n]
        self._reset_counts()
        self.undone[:] = False
        self.n_answers[:] = 0
        self._count(0, n)

    def replay(self, learner: SessionLearner, start: int, stop: int, *, is_asked: bool = False) -> None:
        """Replay the events of rows `start` to `stop` on a learner, without answers that were taken back.

        `is_asked` is True if the learner has already chosen the questions of these events. Then the learner
        is not asked for questions again.
        """
        refs, kinds = self.refs[start:stop], self.kinds[start:stop]
        if is_asked:
            refs = np.where(kinds == ASKED, -1, refs)
        if self.is_shared:
            # Remove the question numbers (`refs`) from answers to "repeat" and "random" questions. The
            # learner uses an answer without a question number when it asks about the same leaves.
            answers = (kinds == ANSWER) & (refs > 0)
            of = self.kinds[np.where(answers, refs, 1) - 1]
            refs = np.where(answers & ((of == REPEAT) | (of == RANDOM)), -1, refs)
        learner.replay(
            start + 1,
            self.kinds[start:stop],
            refs,
            self.leaves[start:stop],
            self.answers[start:stop],
            self.p[start:stop],
            self.who[start:stop],
            self.undone[start:stop],
        )

    def apply(self, learner: SessionLearner, events: Sequence[Event], *, is_asked: bool = False) -> None:
        """Replay the events that were appended last, `events`, on a learner; see `replay`."""
        if len(events) > 1:
            self.replay(learner, self.n - len(events), self.n, is_asked=is_asked)
            return
        # A single event, which is the most frequent case, needs no arrays.
        ((kind, ref, leaves, answer, who, _, p),) = events
        if kind == ASKED:
            ref = -1 if is_asked else ref
        elif kind == ANSWER and ref > 0 and self.is_shared and self.kinds[ref - 1] in (REPEAT, RANDOM):
            ref = -1
        verdict = NO_ANSWER if answer is None else answer
        person = 0 if kind in (ADDED, RETIRED) else self.ids[who]
        learner.happen(self.n, kind, ref, leaves, verdict, np.nan if p is None else p, person)

    def are_retired(self, leaves: NDArray[np.int32]) -> NDArray[np.bool_]:
        return np.asarray(self.is_retired[leaves].any(axis=1))

    @property
    def active(self) -> NDArray[np.intp]:
        return np.flatnonzero(~self.is_retired)

    def n_undone(self, stop: int) -> int:
        return self.total_undone if stop == self.n else int(np.count_nonzero(self.undone[:stop]))

    @property
    def n_answered(self) -> int:
        """The number of answers that were not taken back, including imported answers."""
        return self.counts[ANSWER] + self.counts[IMPORT] - self.total_undone

    def answer_rows(self) -> NDArray[np.intp]:
        """Return the rows of answers that were not taken back, including imported answers."""
        kinds = self.kinds[: self.n]
        return np.flatnonzero(((kinds == ANSWER) | (kinds == IMPORT)) & ~self.undone[: self.n])

    def rows_of(self, *kinds: int) -> NDArray[np.intp]:
        return np.flatnonzero(np.isin(self.kinds[: self.n], kinds))

    def last_answer(self, who: str | None) -> int | None:
        """Return the event number of the last answer that was neither taken back nor imported, or None.

        With `who` only the answers of this person count.
        """
        kinds = self.kinds[: self.n]
        mine = (kinds == ANSWER) & ~self.undone[: self.n]
        if who is not None:
            mine &= self.who[: self.n] == self.ids.get(who, -1)
        at = np.flatnonzero(mine)
        return int(at[-1]) + 1 if at.size else None

    def question(self, number: int) -> Key | None:
        if not 1 <= number <= self.n or self.kinds[number - 1] not in QUESTIONS:
            return None
        leaves = tuple(self.leaves[number - 1].tolist())
        return None if leaves[0] < 0 else leaves

    def answers_by(self, number: int, who: str | None) -> list[int]:
        if not self.n_answers[number - 1]:
            return []
        rows = np.flatnonzero(self.refs[number : self.n] == number) + number
        mine = (self.kinds[rows] == ANSWER) & ~self.undone[rows] & (self.who[rows] == self.ids.get(who, -1))
        return self.answers[rows[mine]].tolist()  # type: ignore[no-any-return]

    def history(self, who: str) -> History:
        """Return the questions that a person was given or has answered; the result is cached and updated."""
        self._add_people({who})
        person = self.ids[who]
        found = self._histories.get(person)
        if found is not None:
            return found
        found = History()
        kinds, here = self.kinds[: self.n], np.flatnonzero(self.who[: self.n] == person)
        of = kinds[here]
        for row in here[(of == ANSWER) | (of == IMPORT)].tolist():
            if not self.undone[row]:
                found.answered[key_of(self.leaves[row].tolist())] += 1
        for row in here[_IS_QUESTION[of] | (of == PASSED)].tolist():
            number = int(self.refs[row]) if kinds[row] == PASSED else row + 1
            leaves = self.leaves[number - 1].tolist()
            if leaves[0] >= 0:
                found.given[key_of(leaves)] = number
        self._histories[person] = found
        return found

    def is_idle(self) -> bool:
        """Return True if the learner had no question at the last request and has learned nothing since."""
        kinds = self.kinds
        for row in range(self.n - 1, self._is_idle_at - 1, -1):
            kind = kinds[row]
            of = ASKED if kind != ANSWER or self.refs[row] == -1 else kinds[self.refs[row] - 1]
            is_for_learner = of == ASKED or (self.is_shared and of in (REPEAT, RANDOM))
            if not (_AFFECTS_LEARNER[kind] and is_for_learner):
                continue
            self._is_idle = bool(kind == ASKED and self.leaves[row, 0] < 0)
            break
        self._is_idle_at = self.n
        return self._is_idle
