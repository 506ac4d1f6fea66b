"""Check the arguments of a session's methods."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.asking.events import check_questions
from ordhc.asking.methods import BY_PERSON, Method
from ordhc.errors import InputError

DOES_NOT_WEIGH = (
    "p= of answers needs a learner that weighs answers: the method 'robust' with its own p below 1, and "
    "without repeat="
)


def checked_people(given: Any) -> list[str]:
    found = _checks.listed("exclude", given)
    return _checks.words("exclude", found) if found else []


#: The longest allowed duration of an answer in seconds, about thirty years.
LONGEST = 1e9


def checked_answers(
    rows: ArrayLike, answers: ArrayLike, width: int, n_leaves: int
) -> list[tuple[tuple[int, ...], int]]:
    table, given = _checks.array("rows", rows), _checks.array("answers", answers)
    largest = 2 if width == 3 else 1
    if table.size == 0 and given.size == 0:
        return []
    if table.ndim != 2 or table.shape[1] != width or given.shape != (len(table),):
        raise InputError(
            f"answers have shape {given.shape} and questions {table.shape}, not (m,) and (m, {width})"
        )
    rows_of = checked_rows(table, width, n_leaves)
    verdicts = _checks.whole_numbers("answers", given)
    for at in np.flatnonzero((verdicts < -1) | (verdicts > largest))[:1].tolist():
        raise InputError(f"the answer is {verdicts[at]}, outside -1..{largest}", row=at)
    return list(zip(rows_of, verdicts.tolist(), strict=True))


def checked_ids(ids: ArrayLike, answers: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the (m,) numbers of questions, and the (m,) answers, which are not checked further."""
    numbers = np.atleast_1d(_checks.whole_numbers("ids", ids))
    given = np.atleast_1d(_checks.whole_numbers("answers", answers))
    if numbers.shape != given.shape or numbers.ndim != 1:
        raise InputError(f"answers have shape {given.shape} for ids of shape {numbers.shape}")
    return numbers, given


def checked_rows(rows: ArrayLike, width: int, n_leaves: int) -> list[tuple[int, ...]]:
    table = _checks.array("rows", rows)
    if table.size == 0:
        return []
    if table.ndim != 2 or table.shape[1] != width:
        raise InputError(f"rows have shape {table.shape}, not (m, {width})")
    leaves = _checks.whole_numbers("rows", table)
    check_questions(leaves, n_leaves)
    return list(map(tuple, leaves.tolist()))


def checked_who(who: object) -> None:
    if who is not None and not isinstance(who, str):
        raise InputError(f"who = {_checks.quoted(who)} is not a name")
    try:
        (who or "").encode()
    except UnicodeEncodeError:
        raise InputError(f"who = {_checks.quoted(who)} cannot be written as UTF-8") from None


def numbers_of_people(who: object, m: int, known: dict[str | None, int]) -> NDArray[np.int32]:
    """Return the (m,) numbers of the people who gave m answers; new names are added to `known`."""
    if who is None or isinstance(who, str):
        checked_who(who)
        return np.full(m, known.setdefault(who, len(known)) if m else 0, dtype=np.int32)
    names: list[Any] = _checks.listed("who", who)
    if len(names) != m:
        raise InputError(
            f"who= has {len(names)} names for {m} answers: give one name, or one for each answer"
        )
    for name in names:
        checked_who(name)
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int32)


def checked_p(p: ArrayLike, m: int) -> NDArray[np.float64]:
    """Return the (m,) probabilities that answers are right; NaN if the `p` of the learner applies."""
    found = _checks.numbers_of("p", p)
    if found.shape not in ((), (m,)):
        raise InputError(f"p has shape {found.shape} for ids of shape {(m,)}")
    found = np.array(np.broadcast_to(found, (m,)))
    for at in np.flatnonzero(~(np.isnan(found) | ((found >= 0.5) & (found <= 1))))[:1].tolist():
        raise InputError(f"p[{at}] = {found[at]:g} is outside 0.5..1", row=at)
    return found


def checked_probabilities(p: Any, m: int, method: Method, repeat: int) -> list[float | None] | None:
    """Return the probability that each of m answers is right.

    An entry is None if the `p` of the learner applies. The result is None if the reliability of the person
    applies to all answers.
    """
    if not method.weighs or repeat != 1:
        raise InputError(DOES_NOT_WEIGH)
    if isinstance(p, str):
        _checks.choice("p", p, (BY_PERSON,))
        return None
    return [None if np.isnan(x) else x for x in checked_p(p, m).tolist()]


class Told(NamedTuple):
    """Answers that were given to `Session.tell`, after checks. Each list has one entry for each answer.

    If a time or a place is unknown, the entry of `seconds` or `places` is None. A place is the position on
    the page (from 1) of the item that was chosen, or 0 if no item was chosen.
    """

    numbers: list[int]
    answers: list[int]
    seconds: list[float | None]
    places: list[int | None]


def checked_told(
    ids: ArrayLike, answers: ArrayLike, seconds: ArrayLike | None, places: ArrayLike | None, width: int
) -> Told:
    """Check the answers that were given to `Session.tell`, and return them as lists."""
    numbers, given = checked_ids(ids, answers)
    asked, verdicts, m, largest = numbers.tolist(), given.tolist(), len(numbers), 2 if width == 3 else 1
    times = None if seconds is None else np.atleast_1d(_checks.numbers_of("seconds", seconds))
    chosen = None if places is None else np.atleast_1d(_checks.whole_numbers("places", places))
    for at, answer in enumerate(verdicts):
        if not -1 <= answer <= largest:
            limit = f"-1..{largest}"
            raise InputError(f"the answer to question {asked[at]} is {answer}, outside {limit}", row=at)
    if times is not None:
        if times.shape != (m,):
            raise InputError(f"seconds have shape {times.shape} for ids of shape {(m,)}")
        for at in np.flatnonzero(~(np.isnan(times) | ((times >= 0) & (times <= LONGEST))))[:1].tolist():
            limit = f"0 to {LONGEST:g} seconds"
            raise InputError(f"seconds[{at}] = {times[at]:g} is not a time from {limit}", row=at)
    if chosen is not None and (chosen.shape != (m,) or (chosen < 0).any()):
        raise InputError(
            f"places= is {_checks.quoted(chosen.tolist())}; give {m} whole numbers: the positions of chosen "
            "items on the page (1, 2, ...), or 0 if no item was chosen"
        )
    return Told(
        asked,
        verdicts,
        [None] * m if times is None else np.where(np.isnan(times), np.array(None), times).tolist(),
        [None] * m if chosen is None else chosen.tolist(),
    )
