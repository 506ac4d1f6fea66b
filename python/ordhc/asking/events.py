"""The events of a session: what they are, their checksums, and how they stand in the file."""

import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ANSWER",
    "ASKED",
    "GOLD",
    "GONE",
    "HELDOUT",
    "IMPORT",
    "KNOWN",
    "LOST",
    "PARALLEL",
    "PASSED",
    "QUESTIONS",
    "RANDOM",
    "REPEAT",
    "SAMPLERS",
    "UNDO",
    "USE",
    "BrokenError",
    "Event",
    "are_questions",
    "as_rows",
    "key_of",
    "pack",
    "packed",
    "sums_of",
]

#: A question was asked, of `who`; the seq of the event is its number. The first of several that were asked
#: for together has as `ref` how many were asked for. Without leaves the learner had nothing to ask.
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
#: Questions that the learner did not ask, of `who`: held out, asked before of others, drawn at random, of
#: gold.
HELDOUT, REPEAT, RANDOM, GOLD = 7, 8, 9, 10
#: Question `ref` passes to `who`.
PASSED = 11
#: The right answer to a question of gold.
KNOWN = 12
#: From now on the learner searches `ref` leaves side by side.
PARALLEL = 13
#: What was of somebody who is forgotten, or a number that is left out.
GONE = 14

#: Kinds of questions by the names of their samplers.
SAMPLERS = {"learner": ASKED, "heldout": HELDOUT, "repeat": REPEAT, "random": RANDOM, "gold": GOLD}
QUESTIONS = frozenset(SAMPLERS.values())


class Event(NamedTuple):
    """What happened; -1 where there is no ref, () where there are no leaves."""

    kind: int
    ref: int = -1
    leaves: tuple[int, ...] = ()
    answer: int | None = None
    who: str | None = None
    #: How long the answer took, if whoever asked has told.
    seconds: float | None = None
    #: How likely the answer is right, if it counts otherwise than the learner's settings say.
    p: float | None = None


#: What stands in a checksum for no answer, and for no leaf, ref or person.
NO_ANSWER = -2
NONE = -1
#: In a packed row a leaf takes so many bits, a ref these many.
LEAF, REF = 31, 50
_START, _FACTOR, _SHIFT = 0x243F6A8885A308D3, 0x9E3779B97F4A7C15, 29
_MASK = (1 << 64) - 1
#: Tells a probability from a time.
_MARK = 0x5851F42D4C957F2D


class BrokenError(ValueError):
    """An event that is not what was written; `seq` is its number."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"event {seq} {why}")
        self.seq = seq


def key_of(leaves: Sequence[int]) -> tuple[int, ...]:
    """The same for the same question, however it is put."""
    if len(leaves) == 3:
        return tuple(sorted(leaves))
    a, b, c, d = leaves
    first, second = sorted([(a, b) if a < b else (b, a), (c, d) if c < d else (d, c)])
    return (*first, *second)


def checksums(
    columns: Sequence[NDArray[np.int64]], seconds: NDArray[np.float64], p: NDArray[np.float64]
) -> NDArray[np.int64]:
    """(m,) of (m,) columns. Whatever changes in one column of a row changes the row's checksum.

    `seconds` and `p` (NaN for none) come in where there are some.
    """
    state = np.full(len(columns[0]), _START, dtype=np.uint64)
    factor, shift = np.uint64(_FACTOR), np.uint64(_SHIFT)
    for column in columns:
        # Each step is one to one, both in the state and in the value.
        state = (state ^ column.view(np.uint64)) * factor
        state ^= state >> shift
    for mark, numbers in ((0, seconds), (_MARK, p)):
        some = ~np.isnan(numbers)
        if some.any():
            more = (state[some] ^ np.uint64(mark) ^ numbers[some].view(np.uint64)) * factor
            state[some] = more ^ (more >> shift)
    return state.view(np.int64)


def _checksum(values: Iterable[int], at: float, seconds: float | None, p: float | None) -> int:
    """The checksum of one row."""
    state = _START
    timed = () if seconds is None else (_bits(seconds),)
    trusted = () if p is None else (_bits(p) ^ _MARK,)
    for value in (*values, _bits(at), *timed, *trusted):
        state = ((state ^ (value & _MASK)) * _FACTOR) & _MASK
        state ^= state >> _SHIFT
    return state - (1 << 64) if state >> 63 else state


def _bits(number: float) -> int:
    (found,) = struct.unpack("<q", struct.pack("<d", number))
    return int(found)


def checksum_of_text(text: str | None) -> int:
    """Of somebody's name, as a column."""
    return NONE if text is None else zlib.crc32(text.encode("utf-8", "surrogatepass"))


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
    """Columns of the table of events as SQL, few: a and b, c and d, all small ones, who, at, ..., sum."""

    def leaf(name: str) -> str:
        return f"ifnull({name} + 1, 0)"

    far = f"{leaf('c')} | ({leaf('d')} << {LEAF})" if width == 4 else leaf("c")
    more = "ifnull(seconds, -1.0), ifnull(p, -1.0)"
    small = f"ifnull(ref + 1, 0) | (ifnull(answer - {NO_ANSWER}, 0) << {REF}) | (kind << {REF + 3})"
    return f"{leaf('a')} | ({leaf('b')} << {LEAF}), {far}, {small}, who, at, {more}, sum"


def sums_of(
    seqs: Sequence[int], events: Sequence[Event], at: float | Sequence[float], width: int
) -> NDArray[np.int64]:
    """Checksums of events with these numbers, at these times."""
    blank = (NONE,) * width
    filled = [
        (kind, ref, *(leaves or blank), NO_ANSWER if answer is None else answer, checksum_of_text(who))
        for kind, ref, leaves, answer, who, *_ in events
    ]
    table = np.array(filled, dtype=np.int64).reshape(-1, width + 4)
    moments = np.broadcast_to(np.asarray(at, dtype=np.float64), (len(table),)).copy().view(np.int64)
    numbers = np.array(seqs, dtype=np.int64)
    seconds, p = (
        np.array([math.nan if x is None else x for x in column], dtype=np.float64)
        for column in ([event.seconds for event in events], [event.p for event in events])
    )
    columns = [np.ascontiguousarray(column) for column in (numbers, *table.T, moments)]
    return checksums(columns, seconds, p)


#: So few events are faster one by one.
_FEW = 8


def as_rows(
    events: Iterable[Event], first: int, width: int, at: float | Sequence[float]
) -> list[tuple[Any, ...]]:
    """Events as rows of the table, with checksums and None where there is nothing; `at`: one time or many."""
    events = list(events)
    empty: tuple[Any, ...] = (None,) * width
    blank = (NONE,) * width
    if len(events) <= _FEW and isinstance(at, float):
        rows: list[tuple[Any, ...]] = []
        for seq, (kind, ref, leaves, answer, who, seconds, p) in enumerate(events, first):
            told = NO_ANSWER if answer is None else answer
            whole = (seq, kind, ref, *(leaves or blank), told, checksum_of_text(who))
            total = _checksum(whole, at, seconds, p)
            place = None if ref < 0 else ref
            rows.append((seq, kind, place, *(leaves or empty), answer, who, at, seconds, p, total))
        return rows
    seqs = range(first, first + len(events))
    sums = sums_of(seqs, events, at, width).tolist()
    moments = np.broadcast_to(np.asarray(at, dtype=np.float64), (len(events),)).tolist()
    return [
        (seq, kind, None if ref < 0 else ref, *(leaves or empty), answer, who, moment, seconds, p, total)
        for seq, (kind, ref, leaves, answer, who, seconds, p), moment, total in zip(
            seqs, events, moments, sums, strict=True
        )
    ]


def pack(events: Iterable[Event], first: int, width: int) -> list[tuple[Any, ...]]:
    """Events as `packed` rows, without a file."""
    found = []
    for _, kind, ref, *leaves, answer, who, at, seconds, p, total in as_rows(events, first, width, 0.0):
        a, b, c, d = [0 if leaf is None else leaf + 1 for leaf in (*leaves, None)][:4]
        small = 0 if ref is None else ref + 1
        small |= (0 if answer is None else answer - NO_ANSWER) << REF | kind << (REF + 3)
        more = [-1.0 if x is None else x for x in (seconds, p)]
        found.append((a | b << LEAF, c | d << LEAF, small, who, at, *more, total))
    return found
