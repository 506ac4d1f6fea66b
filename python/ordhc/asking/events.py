"""The events of a session: their kinds, their checksums, and their rows in the file."""

import struct
import zlib
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError

#: The learner asked `who` a question. The number of the event is also that of the question. If several
#: questions were requested together, `ref` of the first event is the number of these questions. An event
#: without leaves means that the learner had no question.
ASKED = 1
#: The answer to question `ref`. Without `ref` the learner uses the answer when it asks about these leaves.
ANSWER = 2
#: An answer that was given outside of the session.
IMPORT = 3
#: The answer in event number `ref` is taken back.
UNDO = 4
#: The learner asks questions and gets the answers from the log, until the log has no answer to a question.
USE = 5
#: An event that could not be salvaged from a damaged file.
LOST = 6
#: A question to `who` that the learner did not ask: held out, repeated from another person, drawn at random,
#: or with a known answer.
HELDOUT, REPEAT, RANDOM, GOLD = 7, 8, 9, 10
#: Question `ref` is reassigned to `who`.
PASSED = 11
#: The right answer to a question of the sampler "gold".
KNOWN = 12
#: From this event on, the learner places several leaves in the tree in parallel: `ref` is their number.
PARALLEL = 13
#: An empty event. It replaces an event of a person whose data were deleted, or skips an event number.
GONE = 14
#: An item is added. `ref` is the number of its leaf plus 1, and `who` is the name of the item.
ADDED = 15
#: An item is retired. `ref` is the number of its leaf plus 1, and `who` is the name of the item.
RETIRED = 16

#: The kinds of question events by the names of their samplers, which are the ways to choose a question.
SAMPLERS = {"learner": ASKED, "heldout": HELDOUT, "repeat": REPEAT, "random": RANDOM, "gold": GOLD}
QUESTIONS = frozenset(SAMPLERS.values())


class Event(NamedTuple):
    """An event of a session.

    The meaning of `ref` depends on `kind`: the number of another event, a count of leaves or questions, or a
    leaf plus 1. An event without `ref` has -1, and an event without `leaves` has ().
    """

    kind: int
    ref: int = -1
    leaves: tuple[int, ...] = ()
    answer: int | None = None
    #: The person, or the name of the item that is added or retired.
    who: str | None = None
    #: The duration of the answer in seconds; None if the caller did not report it.
    seconds: float | None = None
    #: The probability that the answer is right; None if the `p` of the learner applies.
    p: float | None = None


#: The value in a checksum for a missing answer.
NO_ANSWER = -2
#: The value in a checksum for a missing leaf, `Event.ref` or person.
NONE = -1
#: `packed` joins numbers to one integer: two leaves of 31 bits each; or `Event.ref` of 50 bits, the answer
#: and the kind.
LEAF, REF = 31, 50
_START, _FACTOR, _SHIFT = 0x243F6A8885A308D3, 0x9E3779B97F4A7C15, 29
_MASK = (1 << 64) - 1
#: A mask for the bits of `p` in a checksum. Without the mask, moving a value from `seconds` to `p` would not
#: change the checksum.
_MARK = 0x5851F42D4C957F2D


class BrokenError(ValueError):
    """The error for the damaged event with the number `seq`."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(f"event {seq} {why}")


def checksums(
    columns: Sequence[NDArray[np.int64]], seconds: NDArray[np.float64], p: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the (m,) checksums of the rows of (m,) columns.

    A change in one column of a row always changes the row's checksum. NaN in `seconds` and `p` means that the
    row has no such value; a missing value does not enter the checksum.
    """
    state = np.full(len(columns[0]), _START, dtype=np.uint64)
    factor, shift = np.uint64(_FACTOR), np.uint64(_SHIFT)
    for column in columns:
        # Each step is a bijection of the state and of the value, so that a changed value changes the
        # checksum.
        state = (state ^ column.view(np.uint64)) * factor
        state ^= state >> shift
    for mark, numbers in ((0, seconds), (_MARK, p)):
        some = ~np.isnan(numbers)
        if some.any():
            more = (state[some] ^ np.uint64(mark) ^ numbers[some].view(np.uint64)) * factor
            state[some] = more ^ (more >> shift)
    return state.view(np.int64)


def _checksum(seq: int, event: Event, at: float, width: int) -> int:
    """Return the checksum of one row, as `checksums` computes it."""
    state = _START
    timed = () if event.seconds is None else (_bits(event.seconds),)
    trusted = () if event.p is None else (_bits(event.p) ^ _MARK,)
    for value in (seq, *_numbers(event, width), _bits(at), *timed, *trusted):
        state = ((state ^ (value & _MASK)) * _FACTOR) & _MASK
        state ^= state >> _SHIFT
    return state - (1 << 64) if state >> 63 else state


def _bits(number: float) -> int:
    (found,) = struct.unpack("<q", struct.pack("<d", number))
    return int(found)


def checksum_of_text(text: str | None) -> int:
    """Return a CRC-32 of a name, which `checksums` uses as the name's value; `NONE` if there is no name."""
    return NONE if text is None else zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _numbers(event: Event, width: int) -> tuple[int, ...]:
    kind, ref, leaves, answer, who, *_ = event
    verdict = NO_ANSWER if answer is None else answer
    return (kind, ref, *(leaves or (NONE,) * width), verdict, checksum_of_text(who))


def are_questions(table: NDArray[Any], n_leaves: int | NDArray[Any]) -> NDArray[np.bool_]:
    """Return the (m,) mask of valid questions: three different leaves, or two different pairs of leaves.

    `n_leaves` is the number of leaves, or (m,) numbers, one for each question.
    """
    inside = ((table >= 0) & (table < np.reshape(n_leaves, (-1, 1)))).all(axis=1)
    if table.shape[1] == 3:
        a, b, c = table.T
        return np.asarray(inside & (a != b) & (b != c) & (a != c))
    a, b, c, d = table.T
    same = ((a == c) & (b == d)) | ((a == d) & (b == c))
    return np.asarray(inside & (a != b) & (c != d) & ~same)


def check_questions(table: NDArray[Any], n_leaves: int, what: str = "") -> None:
    """Raise `InputError` for the first row that is not a question; its message begins with `what`."""
    for at in np.flatnonzero(~are_questions(table, n_leaves))[:1].tolist():
        wanted = "three different leaves" if table.shape[1] == 3 else "two different pairs of leaves"
        row = table[at].tolist()
        raise InputError(f"{what}{row} are not {wanted} from 0 to {n_leaves - 1}", row=at, leaves=[row])


def packed(width: int) -> str:
    """Return the SQL columns that read an event as a few packed values.

    The values are: leaves a and b, leaves c and d, then ref, answer and kind packed into one number, and then
    who, at, seconds, p and sum. Fewer values make reading faster. `from_rows` unpacks the rows.
    """

    def leaf(name: str) -> str:
        return f"ifnull({name} + 1, 0)"

    far = f"{leaf('c')} | ({leaf('d')} << {LEAF})" if width == 4 else leaf("c")
    more = "ifnull(seconds, -1.0), ifnull(p, -1.0)"
    small = f"ifnull(ref + 1, 0) | (ifnull(answer - {NO_ANSWER}, 0) << {REF}) | (kind << {REF + 3})"
    return f"{leaf('a')} | ({leaf('b')} << {LEAF}), {far}, {small}, who, at, {more}, sum"


def sums_of(
    seqs: Sequence[int], events: Sequence[Event], at: Sequence[float], width: int
) -> NDArray[np.int64]:
    table = np.array([_numbers(event, width) for event in events], dtype=np.int64).reshape(-1, width + 4)
    moments, numbers = np.array(at, dtype=np.float64).view(np.int64), np.array(seqs, dtype=np.int64)
    # An array of floats has NaN for None.
    seconds = np.array([event.seconds for event in events], dtype=np.float64)
    p = np.array([event.p for event in events], dtype=np.float64)
    columns = [np.ascontiguousarray(column) for column in (numbers, *table.T, moments)]
    return checksums(columns, seconds, p)


#: Up to this number of events a Python loop is faster than arrays.
_FEW = 8


def as_rows(
    events: Iterable[Event], first: int, width: int, at: float | Sequence[float]
) -> list[tuple[Any, ...]]:
    """Return events as rows of the table, with checksums; a missing value is None.

    `first` is the number of the first event. `at` has one time for all events, or one for each, in seconds
    since 1970.
    """
    events = list(events)
    empty: tuple[Any, ...] = (None,) * width
    moments = at if isinstance(at, Sequence) else [float(at)] * len(events)
    seqs = range(first, first + len(events))
    if len(events) <= _FEW:
        sums = [_checksum(*each, width) for each in zip(seqs, events, moments, strict=True)]
    else:
        sums = sums_of(seqs, events, moments, width).tolist()
    return [
        (seq, kind, None if ref < 0 else ref, *(leaves or empty), answer, who, moment, seconds, p, total)
        for seq, (kind, ref, leaves, answer, who, seconds, p), moment, total in zip(
            seqs, events, moments, sums, strict=True
        )
    ]


def pack(events: Iterable[Event], first: int, width: int) -> list[tuple[Any, ...]]:
    """Return events in the packed form in which a query of the columns `packed` returns events."""
    found = []
    for _, kind, ref, *leaves, answer, who, at, seconds, p, total in as_rows(events, first, width, 0.0):
        a, b, c, d = [0 if leaf is None else leaf + 1 for leaf in (*leaves, None)][:4]
        small = 0 if ref is None else ref + 1
        small |= (0 if answer is None else answer - NO_ANSWER) << REF | kind << (REF + 3)
        more = [-1.0 if x is None else x for x in (seconds, p)]
        found.append((a | b << LEAF, c | d << LEAF, small, who, at, *more, total))
    return found


class Columns(NamedTuple):
    """Consecutive events as columns: `names` lists people, and `who` has each event's index in `names`."""

    kinds: NDArray[np.int64]
    refs: NDArray[np.int64]
    leaves: NDArray[np.int64]
    answers: NDArray[np.int64]
    names: Sequence[Any]
    who: NDArray[np.int32]
    at: NDArray[np.float64]
    seconds: NDArray[np.float64]
    p: NDArray[np.float64]
    sums: NDArray[np.int64]


def from_rows(rows: Sequence[Sequence[Any]], width: int) -> Columns:
    """Return events as columns, from one or more rows that were read with the SQL of `packed`.

    Raise `TypeError`, `ValueError` or `OverflowError` if a value of a damaged row has an impossible type or
    size.
    """
    *whole, names, at, durations, probabilities, sums = zip(*rows, strict=True)
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    near, far, rest = (np.frombuffer(array("q", column), dtype=np.int64) for column in whole)
    mask = (1 << LEAF) - 1
    leaves = [near & mask, near >> LEAF, far & mask, far >> LEAF]
    seconds, p = np.array(durations, dtype=np.float64), np.array(probabilities, dtype=np.float64)
    seconds[seconds < 0] = np.nan
    p[p < 0] = np.nan
    return Columns(
        rest >> (REF + 3),
        (rest & ((1 << REF) - 1)) - 1,
        np.stack(leaves[:width], axis=1) - 1,
        ((rest >> REF) & 7) + NO_ANSWER,
        tuple(numbers),
        np.array([numbers[name] for name in names], dtype=np.int32),
        np.frombuffer(array("d", at), dtype=np.float64),
        seconds,
        p,
        np.frombuffer(array("q", sums), dtype=np.int64),
    )
