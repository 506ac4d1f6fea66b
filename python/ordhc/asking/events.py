"""The events of a session: what they are, their checksums, and the log of them in memory."""

import zlib
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc._ordhc import Desk

__all__ = ["ANSWER", "ASKED", "IMPORT", "LOST", "UNDO", "USE", "BrokenError", "Event", "Log", "checksums"]

#: A question was asked; the seq of the event is its number. The first of several that were asked for together
#: has as `ref` how many were asked for. Without leaves the learner had nothing to ask.
ASKED = 1
#: The answer to question `ref`, or without `ref` an answer for whenever the learner asks about these leaves.
ANSWER = 2
#: An answer that was given elsewhere.
IMPORT = 3
#: The answer with the seq `ref` is taken back.
UNDO = 4
#: Answers that are there already are used as far as they go.
USE = 5
#: An event that could not be salvaged from a damaged file.
LOST = 6

#: (kind, ref, leaves, answer, who); -1 where there is no ref, () where there are no leaves.
Event = tuple[int, int, tuple[int, ...], int | None, str | None]

#: What stands in a checksum for no answer, and for no leaf, ref or person.
NO_ANSWER = -2
_NONE = -1
#: In a packed row a leaf takes so many bits, a ref these many.
_LEAF, _REF = 31, 50
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class BrokenError(ValueError):
    """An event that is not what was written; `seq` is its number."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"event {seq} {why}")
        self.seq = seq


def checksums(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """(m,) of (m,) columns. Whatever changes in one column of a row changes the row's checksum."""
    state = np.full(len(columns[0]), 0x243F6A8885A308D3, dtype=np.uint64)
    for column in columns:
        # Each step is one to one, both in the state and in the value.
        state = (state ^ column.view(np.uint64)) * _FACTOR
        state ^= state >> _SHIFT
    return state.view(np.int64)


def checksum_of_text(text: str | None) -> int:
    """Of somebody's name, as a column."""
    return _NONE if text is None else zlib.crc32(text.encode("utf-8", "surrogatepass"))


class Log:
    """All events in columns, as they were read from the file; an event's seq is its row plus 1.

    Rows are appended whole or not at all, at whatever moment an interrupt comes.
    """

    def __init__(self, n_leaves: int, width: int) -> None:
        self.n_leaves, self.width = n_leaves, width
        self.n = 0
        # Names of people and their checksums.
        self._people: list[tuple[str | None, int]] = [(None, _NONE)]
        self._ids: dict[str | None, int] = {None: 0}
        self._reserve(64)

    def _reserve(self, size: int) -> None:
        n = self.n

        def grown(old: NDArray[Any] | None, *shape: int, of: Any) -> NDArray[Any]:
            new = np.zeros(shape, dtype=of)
            if old is not None:
                new[:n] = old[:n]
            return new

        get = self.__dict__.get
        columns = {
            "_kinds": grown(get("_kinds"), size, of=np.int8),
            "_refs": grown(get("_refs"), size, of=np.int64),
            "_leaves": grown(get("_leaves"), size, self.width, of=np.int32),
            "_answers": grown(get("_answers"), size, of=np.int8),
            "_who": grown(get("_who"), size, of=np.int32),
            "_undone": grown(get("_undone"), size, of=np.bool_),
        }
        self.__dict__.update(columns)

    _kinds: NDArray[np.int8]
    _refs: NDArray[np.int64]
    _leaves: NDArray[np.int32]
    _answers: NDArray[np.int8]
    _who: NDArray[np.int32]
    _undone: NDArray[np.bool_]

    def _meet(self, names: set[object]) -> None:
        for name in names - self._ids.keys():
            if not isinstance(name, str):
                raise TypeError(f"who is {name!r}")
            self._people.append((name, checksum_of_text(name)))
            self._ids[name] = len(self._people) - 1

    def extend(self, rows: Sequence[Sequence[Any]]) -> None:
        """Append rows as `packed` has them.

        Raises
        ------
        BrokenError
            A row that is missing, that its checksum is not of, or that says something impossible.
        """
        if not rows:
            return
        first, m = self.n + 1, len(rows)
        try:
            *whole, names, at, sums = zip(*rows, strict=True)
            self._meet(set(names))
            ids = np.array([self._ids[name] for name in names], dtype=np.int32)
            moments = np.frombuffer(array("d", at), dtype=np.int64)
            totals = np.frombuffer(array("q", sums), dtype=np.int64)
            near, far, rest = (np.frombuffer(array("q", column), dtype=np.int64) for column in whole)
        except (TypeError, ValueError, OverflowError) as error:
            raise BrokenError(first, f"or a later one is damaged ({error})") from None
        kinds, refs = rest >> (_REF + 3), (rest & ((1 << _REF) - 1)) - 1
        answers = ((rest >> _REF) & 7) + NO_ANSWER
        mask = (1 << _LEAF) - 1
        leaves = [near & mask, near >> _LEAF, far & mask, far >> _LEAF]
        table = np.stack(leaves[: self.width], axis=1) - 1
        people = np.array([total for _, total in self._people], dtype=np.int64)[ids]
        seqs = np.arange(first, first + m)
        columns = [
            np.ascontiguousarray(column) for column in (seqs, kinds, refs, *table.T, answers, people, moments)
        ]
        wrong = np.flatnonzero(checksums(columns) != totals)
        if wrong.size:
            raise BrokenError(first + int(wrong[0]), "is not what was written")
        self._check(first, kinds, refs, table, answers)

        n, end = self.n, self.n + m
        if end > len(self._kinds):
            self._reserve(max(end, 2 * len(self._kinds)))
        self._refs[n:end], self._kinds[n:end], self._leaves[n:end] = refs, kinds, table
        self._answers[n:end], self._who[n:end], self._undone[n:end] = answers, ids, False
        self._check_refs(n, end)
        self._undone[refs[kinds == UNDO] - 1] = True
        self.n = end

    def _check(self, first: int, kinds: Any, refs: Any, table: Any, answers: Any) -> None:
        known = (kinds >= ASKED) & (kinds <= LOST)
        told = (kinds == ANSWER) | (kinds == IMPORT)
        rows = told | ((kinds == ASKED) & (table[:, 0] != _NONE))
        fine = known & (~rows | are_questions(table, self.n_leaves))
        fine &= rows | (table == _NONE).all(axis=1)
        largest = 2 if self.width == 3 else 1
        fine &= ~told | ((answers >= -1) & (answers <= largest))
        fine &= (kinds != ASKED) | (refs == _NONE) | (refs >= 1)
        wrong = np.flatnonzero(~fine)
        if wrong.size:
            raise BrokenError(first + int(wrong[0]), "says what cannot be")

    def _check_refs(self, n: int, end: int) -> None:
        """Answers are of questions with the same leaves, and what is taken back is an answer."""
        kinds, refs = self._kinds[n:end], self._refs[n:end]
        here = np.arange(n + 1, end + 1)
        pointing = ((kinds == ANSWER) & (refs != -1)) | (kinds == UNDO)
        fine = ~pointing | ((refs >= 1) & (refs < here))
        if fine.all():
            to = np.where(pointing, refs, 1) - 1
            want = np.where(kinds == ANSWER, ASKED, ANSWER)
            fine = ~pointing | (self._kinds[to] == want)
            same = (self._leaves[to] == self._leaves[n:end]).all(axis=1)
            fine &= (kinds != ANSWER) | ~pointing | same
        wrong = np.flatnonzero(~fine)
        if wrong.size:
            raise BrokenError(n + 1 + int(wrong[0]), "belongs to no other")

    # What it says.

    def replay(self, desk: Desk, start: int, stop: int, *, applied: int | None = None) -> None:
        """Tell a desk the events of rows `start` to `stop`, but what was taken back.

        The learner has been asked already for what the event of seq `applied` wanted.
        """
        refs = self._refs[start:stop]
        if applied is not None and start < applied <= stop and self._kinds[applied - 1] == ASKED:
            refs = refs.copy()
            refs[applied - 1 - start] = -1
        desk.replay(
            start + 1,
            self._kinds[start:stop],
            refs,
            self._leaves[start:stop],
            self._answers[start:stop],
            self._undone[start:stop],
        )

    def n_undone(self, stop: int) -> int:
        """How many answers of the first `stop` events are taken back."""
        return int(np.count_nonzero(self._undone[:stop]))

    def standing(self) -> NDArray[np.intp]:
        """The rows of answers that stand."""
        kinds = self._kinds[: self.n]
        return np.flatnonzero(((kinds == ANSWER) | (kinds == IMPORT)) & ~self._undone[: self.n])

    def answers(self) -> tuple[NDArray[np.int32], NDArray[np.int8], list[str | None]]:
        """Leaves, answers and people of answers that stand."""
        at = self.standing()
        return self._leaves[at], self._answers[at], [self._people[who][0] for who in self._who[at].tolist()]

    def last_answer(self, who: str | None) -> int | None:
        """The seq of the last answer that stands and was not imported; of `who`, if given."""
        kinds = self._kinds[: self.n]
        mine = (kinds == ANSWER) & ~self._undone[: self.n]
        if who is not None:
            mine &= self._who[: self.n] == self._ids.get(who, -1)
        at = np.flatnonzero(mine)
        return int(at[-1]) + 1 if at.size else None

    def leaves(self, seq: int) -> tuple[int, ...] | None:
        """The leaves of an event; None if there is no such event, or it has none."""
        if not 1 <= seq <= self.n or self._leaves[seq - 1, 0] < 0:
            return None
        return tuple(self._leaves[seq - 1].tolist())

    def kind(self, seq: int) -> int:
        """The kind of an event."""
        return int(self._kinds[seq - 1])

    def has_answer(self, number: int, answer: int, who: str | None) -> bool:
        """Whether somebody's answer to a question is there, and stands."""
        at = np.flatnonzero(self._refs[: self.n] == number)
        same = (self._kinds[at] == ANSWER) & ~self._undone[at] & (self._answers[at] == answer)
        return bool((same & (self._who[at] == self._ids.get(who, -1))).any())

    def is_idle(self, wanted: int) -> bool:
        """Whether the last event says that so many questions were asked for and there were none."""
        last = self.n - 1
        if last < 0 or self._kinds[last] != ASKED or self._leaves[last, 0] >= 0:
            return False
        return bool(self._refs[last] == wanted)


def are_questions(table: NDArray[Any], n_leaves: int) -> NDArray[np.bool_]:
    """Which rows are three different leaves, or two different pairs of different leaves."""
    inside = ((table >= 0) & (table < n_leaves)).all(axis=1)
    if table.shape[1] == 3:
        a, b, c = table.T
        return np.asarray(inside & (a != b) & (b != c) & (a != c))
    a, b, c, d = table.T
    same = ((a == c) & (b == d)) | ((a == d) & (b == c))
    return np.asarray(inside & (a != b) & (c != d) & ~same)


def packed(width: int) -> str:
    """Columns of the table of events as SQL, few of them: a and b, c and d, all small ones, who, at, sum."""

    def leaf(name: str) -> str:
        return f"ifnull({name} + 1, 0)"

    far = f"{leaf('c')} | ({leaf('d')} << {_LEAF})" if width == 4 else leaf("c")
    small = f"ifnull(ref + 1, 0) | (ifnull(answer - {NO_ANSWER}, 0) << {_REF}) | (kind << {_REF + 3})"
    return f"{leaf('a')} | ({leaf('b')} << {_LEAF}), {far}, {small}, who, at, sum"


def sums_of(seqs: Sequence[int], events: Sequence[Event], at: ArrayLike, width: int) -> NDArray[np.int64]:
    """Checksums of events with these numbers, at these times."""
    blank = (_NONE,) * width
    filled = [
        (kind, ref, *(leaves or blank), NO_ANSWER if answer is None else answer, checksum_of_text(who))
        for kind, ref, leaves, answer, who in events
    ]
    table = np.array(filled, dtype=np.int64).reshape(-1, width + 4)
    moments = np.broadcast_to(np.asarray(at, dtype=np.float64), (len(table),)).copy().view(np.int64)
    numbers = np.array(seqs, dtype=np.int64)
    return checksums([np.ascontiguousarray(column) for column in (numbers, *table.T, moments)])


def as_rows(events: Iterable[Event], first: int, width: int, at: ArrayLike) -> list[tuple[Any, ...]]:
    """Events as rows of the table, with checksums and None where there is nothing; `at`: one time or many."""
    events = list(events)
    seqs = range(first, first + len(events))
    sums = sums_of(seqs, events, at, width).tolist()
    moments = np.broadcast_to(np.asarray(at, dtype=np.float64), (len(events),)).tolist()
    empty = (None,) * width
    return [
        (seq, kind, None if ref < 0 else ref, *(leaves or empty), answer, who, moment, total)
        for seq, (kind, ref, leaves, answer, who), moment, total in zip(
            seqs, events, moments, sums, strict=True
        )
    ]


def pack(events: Iterable[Event], first: int, width: int) -> list[tuple[Any, ...]]:
    """Events as `packed` rows, without a file."""
    found = []
    for _, kind, ref, *leaves, answer, who, at, total in as_rows(events, first, width, 0.0):
        a, b, c, d = [0 if leaf is None else leaf + 1 for leaf in (*leaves, None)][:4]
        small = 0 if ref is None else ref + 1
        small |= (0 if answer is None else answer - NO_ANSWER) << _REF | kind << (_REF + 3)
        found.append((a | b << _LEAF, c | d << _LEAF, small, who, at, total))
    return found
