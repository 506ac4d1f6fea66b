"""Check the arguments of a session's methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.asking.events import check_questions
from ordhc.errors import InputError

__all__ = [
    "checked_answers",
    "checked_ids",
    "checked_p",
    "checked_people",
    "checked_places",
    "checked_rows",
    "checked_seconds",
    "checked_who",
    "numbers_of_people",
]


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
    is_one = who is None or isinstance(who, str)
    names: list[Any] = [who] * m if is_one else _checks.listed("who", who)
    if len(names) != m:
        raise InputError(
            f"who= has {len(names)} names for {m} answers: give one name, or one for each answer"
        )
    for name in names:
        checked_who(name)
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int32)


def checked_seconds(seconds: ArrayLike | None, m: int) -> list[float | None]:
    if seconds is None:
        return [None] * m
    found = np.atleast_1d(_checks.numbers_of("seconds", seconds))
    if found.shape != (m,):
        raise InputError(f"seconds have shape {found.shape} for ids of shape {(m,)}")
    for at in np.flatnonzero(~(np.isnan(found) | ((found >= 0) & (found <= LONGEST))))[:1].tolist():
        raise InputError(f"seconds[{at}] = {found[at]:g} is not a time from 0 to {LONGEST:g} seconds", row=at)
    return [None if np.isnan(x) else x for x in found.tolist()]


def checked_p(p: ArrayLike, m: int) -> NDArray[np.float64]:
    """Return the (m,) probabilities that answers are right; NaN if the `p` of the learner applies."""
    found = _checks.numbers_of("p", p)
    if found.shape not in ((), (m,)):
        raise InputError(f"p has shape {found.shape} for ids of shape {(m,)}")
    found = np.array(np.broadcast_to(found, (m,)))
    for at in np.flatnonzero(~(np.isnan(found) | ((found >= 0.5) & (found <= 1))))[:1].tolist():
        raise InputError(f"p[{at}] = {found[at]:g} is outside 0.5..1", row=at)
    return found


def checked_places(places: ArrayLike | None, m: int) -> list[int | None]:
    """Return the position on the page (from 1) of the item chosen in each of m answers.

    A position is 0 if no item was chosen, and None if unknown.
    """
    if places is None:
        return [None] * m
    found = np.atleast_1d(_checks.whole_numbers("places", places))
    if found.shape != (m,) or (found < 0).any():
        raise InputError(
            f"places= is {_checks.quoted(found.tolist())}; give {m} whole numbers: the positions of chosen "
            "items on the page (1, 2, ...), or 0 if no item was chosen"
        )
    kept: list[int | None] = found.tolist()
    return kept
