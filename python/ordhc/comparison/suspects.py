"""Detect leaves that are probably mistakes: ids from 1, codes for missing answers, names that look alike."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.comparison.ids import distinct_ids
from ordhc.errors import warn

#: Ids that tables often use for a missing answer.
CODES = (88, 98, 99, 777, 888, 998, 999, 8888, 9998, 9999, 99999, 999999)
#: Unused ids in arrays are reported only above this number of leaves, as they are usual in small examples.
FEW = 50
#: Ids without 0 are reported as counted from 1 if at most this share of the ids 1..n is missing. If more ids
#: are missing, id 0 may be missing by chance.
CHANCE = 0.05
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
DATE_LIKE = re.compile(
    rf"\d{{4}}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{{4}}|\d\d?-(?:{MONTHS})|(?:{MONTHS})-\d\d?", re.I
)
_SUBTRACT = "subtract 1, so that they are 0..{} (for files: ids_from=1, --ids-from 1)"
_ERRORS = ("#REF!", "#NAME?", "#VALUE!", "#DIV/0!", "#NUM!", "#NULL!")


def warn_of_suspects(
    rows: NDArray[Any], n_leaves: int, found: Sequence[str] | None, *, said: bool, named: bool
) -> None:
    """Warn of ids or names of leaves that are probably mistakes ("suspect").

    `found` has the names of the leaves; None if `rows` were given as ids. `said` is True if the caller gave
    the number of leaves: then ids are not suspect. `named` is True if the caller gave the names: then names
    are not suspect.
    """
    if found is None:
        problem = None if said else suspect_ids(distinct_ids(rows), n_leaves)
    else:
        suspect = None if named else suspect_names(found) or _numbered(found)
        problem = None if suspect is None else suspect[0]
    if problem is not None:
        warn(problem)


def suspect_ids(there: NDArray[np.int64], n_leaves: int) -> str | None:
    """Return a warning if some of the distinct, sorted ids `there` are probably mistakes, else None."""
    if n_leaves < 3 or len(there) < 3:
        return None
    last = n_leaves - 1
    if there[0] > 0 and last - len(there) <= CHANCE * last:
        return (
            f"the ids are {there[0]}..{last} and 0 never occurs: they look as if counted from 1; "
            f"{_SUBTRACT.format(last - 1)}, or pass n_leaves={n_leaves} if leaf 0 exists without answers"
        )
    if last in CODES and (problem := _far_above(there)):
        return f"{problem}; if it is a leaf, pass n_leaves={n_leaves}"
    if 2 * len(there) < n_leaves and n_leaves > FEW:
        return (
            f"only {len(there)} of the ids 0..{last} occur; the other ids are leaves without answers; "
            f"if ids are codes of items, give them as text; otherwise pass n_leaves={n_leaves}"
        )
    return None


def names_warning(there: NDArray[np.int64]) -> str:
    last = int(there[-1])
    far = _far_above(there)
    return (f"{far}; " if far else "") + (
        f"only {len(there)} of the ids 0..{last} occur, so they are taken as names, such as "
        f"{str(there[0])!r}; if they are positions, pass ids_from=0 (--ids-from 0), or 1 if they count from 1"
    )


def _far_above(there: NDArray[np.int64]) -> str | None:
    if len(there) < 2 or there[-1] <= 2 * there[-2]:
        return None
    last, below = int(there[-1]), int(there[-2])
    return (
        f"leaf {last} is far above all others, which end at {below}: if {last} means no answer, remove these "
        f"rows (for files: na=['{last}'], --na {last})"
    )


def outside_message(leaf: int, n_leaves: int | None, ids_from: int | None) -> str:
    first = ids_from or 0
    if n_leaves is None:
        return f"leaf {leaf + first} is below {first}"
    given = f", ids_from = {first}" if first else ""
    return f"leaf {leaf + first} is outside {first}..={n_leaves - 1 + first} (n_leaves = {n_leaves}{given})"


def outside_advice(rows: NDArray[Any], n_leaves: int | None) -> str:
    least, last = int(rows.min()), int(rows.max())
    if least < 0:
        return f"; if {least} means no answer, remove these rows (for files: na=['{least}'], --na={least})"
    if least == 1 and last == n_leaves:
        return f"; ids 1..{last} look as if counted from 1: {_SUBTRACT.format(last - 1)}"
    return ""


def suspect_names(names: Sequence[str]) -> tuple[str, int] | None:
    """Return a warning about a leaf's name that is probably a mistake, and the index of the name, or None."""
    if found := alike(names, "leaves"):
        return found
    for at, name in enumerate(names):
        if name.upper() in _ERRORS:
            return f"the leaf {_checks.quoted(name)} is an error of a spreadsheet: correct its formula", at
    dated = [at for at, name in enumerate(names) if DATE_LIKE.fullmatch(name.strip())]
    if dated and (len(dated) == len(names) or not names[dated[0]].strip()[:4].isdigit()):
        all_of = "the leaves are dates" if len(dated) == len(names) else "a leaf is a date"
        return (
            f"{all_of}, such as {_checks.quoted(names[dated[0]])}: are these the right columns? "
            "Spreadsheets change names such as 1-2 and MARCH1 to dates, unless cells are formatted as text",
            dated[0],
        )
    return None


def _numbered(names: Sequence[str]) -> tuple[str, int] | None:
    """Return a warning (and index 0) if the names are 0..n-1 or 1..n: probably ids, given as text."""
    if len(names) > 2 and all(name.isascii() and name.isdigit() and len(name) < 10 for name in names):
        numbers = sorted(int(name) for name in names)
        if numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(names))):
            return (
                f"the leaves are numbers given as text, as {_checks.quoted(names[0])}: they are read as "
                "names, numbered by first appearance; give whole numbers for ids, or names=... in order",
                0,
            )
    return None


def alike(names: Sequence[str], what: str) -> tuple[str, int] | None:
    """Return a warning about two names that look alike, and the index of the later name, or None."""
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        other = first.setdefault(plain, at) if (plain := _plain(name)) else at
        if other != at and (difference := _difference(names[other], name)):
            one, two = _shown(names[other], name)
            return (
                f"the {what} {one} and {two} differ only in {difference}: are they the same? "
                "They count as two until they are spelled alike",
                at,
            )
    return None


def _plain(name: str) -> str:
    """Return a name without differences of case, blanks, invisible characters and Unicode forms."""
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = "".join(char for char in name if unicodedata.category(char) not in ("Cf", "Cc", "Mn"))
    return " ".join(name.replace("_", " ").casefold().split())


def _difference(one: str, other: str) -> str | None:
    forms = [unicodedata.normalize("NFC", name) for name in (one, other)]
    if forms[0] == forms[1]:
        return "their Unicode form (normalise to NFC)"
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
    return "the width of characters (normalise to NFKC)" if folded[0] == folded[1] else None


def _shown(one: str, other: str) -> tuple[str, str]:
    """Format two names for a message; in ASCII with escapes if they would look the same."""
    shown = _checks.quoted(one, 40), _checks.quoted(other, 40)
    looks = [" ".join(unicodedata.normalize("NFKC", text).split()) for text in shown]
    if looks[0] != looks[1]:
        return shown
    plain = [re.sub("  +", lambda run: "\\x20" * len(run[0]), ascii(name)[:80]) for name in (one, other)]
    return plain[0], plain[1]
