"""Detect leaves that are likely mistakes: ids from 1, codes for missing answers, names that look alike."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.comparison.ids import distinct_ids
from ordhc.errors import warn

__all__ = [
    "alike",
    "TIMELY",
    "of_outside",
    "suspect_ids",
    "suspect_names",
    "told_as_names",
    "told_outside",
    "warn_of_suspects",
]

#: Ids that tables often use for a missing answer.
CODES = (88, 98, 99, 777, 888, 998, 999, 8888, 9998, 9999, 99999, 999999)
#: Up to this number of leaves, unused ids are not reported for arrays: they are common in tests and examples.
FEW = 50
#: If more ids of 1..n are missing than this share, 0 may also be missing by chance.
CHANCE = 0.05
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
TIMELY = re.compile(
    rf"\d{{4}}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{{4}}|\d\d?-(?:{MONTHS})|(?:{MONTHS})-\d\d?", re.I
)
_SUBTRACT = "subtract 1, so that they are 0..{} (of files: ids_from=1, --ids-from 1)"
_ERRORS = ("#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!")


def warn_of_suspects(
    rows: NDArray[Any], n_leaves: int, found: Sequence[str] | None, *, said: bool, named: bool
) -> None:
    """Warn of odd ids, unless the number of leaves is given, and of odd names, unless names are given."""
    if found is None:
        told = None if said else suspect_ids(distinct_ids(rows), n_leaves)
    else:
        odd = None if named else suspect_names(found) or _numbered(found)
        told = None if odd is None else odd[0]
    if told is not None:
        warn(told)


def suspect_ids(there: NDArray[np.int64], n_leaves: int) -> str | None:
    """Return the problem with the distinct, sorted ids `there`, or None, if no number of leaves is given."""
    if n_leaves < 3 or len(there) < 3:
        return None
    last = n_leaves - 1
    if there[0] > 0 and last - len(there) <= CHANCE * last:
        return (
            f"the ids are {there[0]}..{last} and 0 never occurs: they look as if counted from 1, and leaf 0 "
            f"is one without answers; {_SUBTRACT.format(last - 1)}, or say n_leaves={n_leaves} if that is so"
        )
    if last in CODES and (told := _far_above(there)):
        return f"{told}; if not, say n_leaves={n_leaves}"
    if 2 * len(there) < n_leaves and n_leaves > FEW:
        return (
            f"only {len(there)} of the ids 0..{last} occur, the others are leaves without answers; "
            f"if ids are codes of items, give them as text; if not, say n_leaves={n_leaves}"
        )
    return None


def told_as_names(there: NDArray[np.int64]) -> str:
    """Return the message that the distinct, sorted ids `there` are taken as names."""
    last = int(there[-1])
    far = _far_above(there)
    return (f"{far}; " if far else "") + (
        f"only {len(there)} of the ids 0..{last} occur, so they are taken as names, as {str(there[0])!r}; "
        "if they are ids, say ids_from=0 (--ids-from 0), or 1 if they are counted from 1"
    )


def _far_above(there: NDArray[np.int64]) -> str | None:
    if len(there) < 2 or there[-1] <= 2 * there[-2]:
        return None
    last, below = int(there[-1]), int(there[-2])
    return (
        f"leaf {last} is far above all others, which end at {below}: if it means no answer, leave such "
        f"rows out (of files by na=['{last}'], --na {last})"
    )


def told_outside(leaf: int, n_leaves: int | None, ids_from: int | None) -> str:
    """Return the message that leaf `leaf` (from 0) is not among `n_leaves`; it counts from `ids_from`."""
    first = ids_from or 0
    if n_leaves is None:
        return f"leaf {leaf + first} is below {first}"
    told = f", ids_from = {first}" if first else ""
    return f"leaf {leaf + first} is outside {first}..={n_leaves - 1 + first} (n_leaves = {n_leaves}{told})"


def of_outside(rows: NDArray[Any], n_leaves: int | None) -> str:
    """Return the advice for ids that are negative or beyond the last leaf; empty if there is none."""
    least, last = int(rows.min()), int(rows.max())
    if least < 0:
        return f"; if {least} means no answer, leave such rows out (of files by na=['{least}'], --na={least})"
    if least == 1 and last == n_leaves:
        return f"; ids 1..{last} look as if counted from 1: {_SUBTRACT.format(last - 1)}"
    return ""


def suspect_names(names: Sequence[str]) -> tuple[str, int] | None:
    """Return the problem with names that were found in answers, and the index of the suspect name."""
    if found := alike(names, "leaves"):
        return found
    for at, name in enumerate(names):
        if name.upper() in _ERRORS:
            return f"the leaf {_checks.quoted(name)} is an error of a spreadsheet: mend its formula", at
    dated = [at for at, name in enumerate(names) if TIMELY.fullmatch(name.strip())]
    if dated and (len(dated) == len(names) or not names[dated[0]].strip()[:4].isdigit()):
        all_of = "the leaves are dates" if len(dated) == len(names) else "a leaf is a date"
        return (
            f"{all_of}, as {_checks.quoted(names[dated[0]])}: are these the right columns? "
            "Spreadsheets make dates of names such as 1-2 and MARCH1, unless cells are formatted as text",
            dated[0],
        )
    return None


def _numbered(names: Sequence[str]) -> tuple[str, int] | None:
    """Return the problem with ids that are given as text and therefore become names."""
    if len(names) > 2 and all(name.isascii() and name.isdigit() and len(name) < 10 for name in names):
        numbers = sorted(int(name) for name in names)
        if numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(names))):
            return (
                f"the leaves are numbers given as text, as {_checks.quoted(names[0])}: they are names, and "
                "numbered as they appear; give whole numbers for ids, or names=... in their order",
                0,
            )
    return None


def alike(names: Sequence[str], what: str) -> tuple[str, int] | None:
    """Return the problem with two names that look alike, and the position of the later one; None without."""
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        other = first.setdefault(plain, at) if (plain := _plain(name)) else at
        if other != at and (told := _difference(names[other], name)):
            one, two = _shown(names[other], name)
            return f"the {what} {one} and {two} differ only in {told}: are they one? they count as two", at
    return None


def _plain(name: str) -> str:
    """Return a name without differences of case, blanks, invisible characters and Unicode forms."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = "".join(char for char in name if unicodedata.category(char) not in ("Cf", "Cc", "Mn"))
    return " ".join(name.replace("_", " ").casefold().split())


def _difference(one: str, other: str) -> str | None:
    """Return in what two names with the same plain form differ."""
    forms = [unicodedata.normalize("NFC", name) for name in (one, other)]
    if forms[0] == forms[1]:
        return "how Unicode writes them (normalise to NFC)"
    if forms[0].casefold() == forms[1].casefold():
        # Single letters that differ by case are often two items: a and A.
        return "case" if len(one) > 2 else None
    visible = ["".join(char for char in form if unicodedata.category(char) != "Cf") for form in forms]
    if visible[0].casefold() == visible[1].casefold():
        return "invisible characters"
    without = ["".join(form.replace("_", " ").split()).casefold() for form in visible]
    if without[0] == without[1]:
        return "blanks" if "_" not in one + other else "blanks and underscores"
    folded = [unicodedata.normalize("NFKC", form).casefold() for form in forms]
    return "how wide characters are (normalise to NFKC)" if folded[0] == folded[1] else None


def _shown(one: str, other: str) -> tuple[str, str]:
    """Format two names for a message, in ASCII if they would look the same."""
    shown = _checks.quoted(one, 40), _checks.quoted(other, 40)
    looks = [" ".join(unicodedata.normalize("NFKC", text).split()) for text in shown]
    if looks[0] != looks[1]:
        return shown
    told = [re.sub("  +", lambda run: "\\x20" * len(run[0]), ascii(name)[:80]) for name in (one, other)]
    return told[0], told[1]
