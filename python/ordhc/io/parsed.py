"""Rows as they are in a file of any format, and comparisons made from these rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc._checks import LeafNumbers, quoted, unknown_name
from ordhc.comparison.asked import Asked
from ordhc.comparison.ids import check_reach, distinct_ids, has_repeats, names_of_ids, shifted
from ordhc.comparison.suspects import (
    alike,
    names_warning,
    outside_advice,
    outside_message,
    suspect_ids,
    suspect_names,
)
from ordhc.comparison.units import numbered
from ordhc.errors import InputError, SkippedRowsWarning, warn
from ordhc.io.paths import brief

#: The ending of the name of a column if its cells are names exactly as written.
LITERAL = "_name"

Made = TypeVar("Made")
#: The number of rows that are checked at a time.
_AT_ONCE = 1 << 18
#: The indices of rows that cannot be used, ascending, and the reason for each.
Wrong = tuple[NDArray[np.intp], Iterator[str]]


@dataclass
class Parsed:
    """The rows of a file, or of a part of a file; other facts as in `Triplets`, None if they are missing."""

    #: The name of the file, for messages.
    source: str
    #: (m, w) ids, or indices into `names`, the names of leaves.
    rows: NDArray[np.int64]
    names: Sequence[str] | None = None
    weights: ArrayLike | None = None
    answers: ArrayLike | None = None
    groups: ArrayLike | None = None
    group_names: Sequence[str] | None = None
    adaptive: bool | None = None
    n_leaves: int | None = None
    #: The line or the row number of each row, minus `first`; None if they are 0, 1, ...
    numbers: NDArray[Any] | Sequence[int] | None = None
    #: "line" or "row": what `numbers` count, for messages.
    unit: str = "row"
    #: The names of leaves, if a file of ids has them.
    own_names: tuple[str, ...] | None = None
    #: Skipped rows, by line or row: with the word for a missing leaf, or with the reason why they are bad.
    missing: list[tuple[int, str]] = field(default_factory=list)
    bad: list[tuple[int, str]] = field(default_factory=list)
    #: The number of lines or rows of the file before this part.
    first: int = 0
    #: The id of the first leaf in the file, if the user gave it; `rows` count from 0 in any case.
    ids_from: int | None = None
    delimiter: str | None = None
    has_header: bool = False

    def number(self, row: int) -> int:
        return self.first + (row if self.numbers is None else int(self.numbers[row]))

    def place(self, row: int) -> dict[str, int]:
        return {self.unit: self.number(row)}

    def skip(self, wrong: Wrong) -> None:
        rows, reasons = wrong
        if len(rows):
            self.bad = [*self.bad, *zip(map(self.number, rows.tolist()), reasons, strict=True)]
            kept = np.ones(len(self.rows), dtype=bool)
            kept[rows] = False
            self.keep(kept)

    def take_as_names(self, ids: NDArray[np.int64], names: Sequence[str]) -> None:
        if self.names is None and len(self.rows):
            self.rows, self.names = np.searchsorted(ids, self.rows).astype(np.int32), names

    def shift(self, ids_from: int | None) -> None:
        if ids_from is not None and self.names is not None and len(self.rows):
            raise InputError("ids_from is for ids, but the leaves have names", path=self.source)
        if self.names is None:
            self.rows, self.ids_from = shifted(self.rows, ids_from), ids_from

    def forget_unused(self) -> None:
        used = np.zeros(len(self.names or ()), dtype=bool)
        used[self.rows.ravel()] = True
        self.names = [name for name, there in zip(self.names or (), used.tolist(), strict=True) if there]
        self.rows = (np.cumsum(used) - 1)[self.rows]

    def keep(self, kept: NDArray[np.bool_]) -> None:
        numbers: Any = np.arange(len(self.rows)) if self.numbers is None else self.numbers
        self.numbers = numbers[kept]
        self.rows = self.rows[kept]
        for name in ("weights", "answers", "groups"):
            values = getattr(self, name)
            if values is not None:
                setattr(self, name, np.asarray(values)[kept])


def settle(parsed: Parsed, asked: Asked) -> None:
    """Decide whether the ids in a file are leaf numbers or names, and change `parsed` accordingly.

    Ids below 0 are no error here; `assemble` refuses them, with their row.
    """
    parsed.shift(asked.ids_from)
    if parsed.names is None and asked.skip_bad:
        parsed.skip(wrong_rows(parsed, None, None, asked.kind == "pairs"))
    if parsed.names is not None or not len(parsed.rows):
        return
    ids = distinct_ids(parsed.rows)
    try:
        found = names_of_ids(ids, asked)
    except InputError as error:
        place = {} if error.row is None else parsed.place(int((parsed.rows == ids[-1]).any(axis=1).argmax()))
        raise InputError(error.reason, path=parsed.source, leaves=error.leaves, **place) from None
    if found is not None:
        parsed.take_as_names(ids, found)
        if asked.names is None:
            warn(f"{parsed.source}: {names_warning(ids)}")


def assemble(parsed: Parsed, make: Callable[..., Made], asked: Asked) -> Made:
    """Return the comparisons of parsed rows; an error has a row's line; a warning lists skipped rows."""
    names, n_leaves = asked.names, asked.n_leaves
    total = len(parsed.rows) + len(parsed.missing) + len(parsed.bad)
    if parsed.missing and (not len(parsed.rows) or 2 * len(parsed.missing) > total):
        raise InputError(_of_missing(parsed, total, kept=False), path=parsed.source)
    if parsed.names is not None:
        names = _look_up(parsed, names, n_leaves)
    wrong = wrong_rows(parsed, names, len(names) if names is not None else n_leaves, asked.kind == "pairs")
    if len(wrong[0]) and not asked.skip_bad:
        raise first_of(parsed, wrong)
    parsed.skip(wrong)
    if parsed.bad and not len(parsed.rows):
        raise InputError(f"all {total:,} rows are bad; {_of_bad(parsed)}", path=parsed.source)
    made = _made(parsed, make, names, n_leaves)
    if parsed.missing:
        counts = reasons_of(Counter(word for _, word in parsed.missing))
        warn(SkippedRowsWarning(_of_missing(parsed, total), parsed.missing, counts))
    if parsed.bad:
        counts = {"that cannot be used": len(parsed.bad)}
        warn(SkippedRowsWarning(_of_bad(parsed, total), parsed.bad, counts))
    return made


def _look_up(parsed: Parsed, names: tuple[str, ...] | None, n_leaves: int | None) -> tuple[str, ...]:
    """Return the names of the leaves, and change the rows to indices into these names.

    An unknown name is replaced by -1 minus its index in `parsed.names`.
    """
    found = parsed.names or ()
    if names is None:
        if n_leaves is not None and n_leaves != len(found):
            raise InputError(
                f"there are {len(found)} different names, but n_leaves = {n_leaves}; give all names",
                path=parsed.source,
            )
        if odd := suspect_names(found):
            row = int((parsed.rows == odd[1]).any(axis=1).argmax()) if len(parsed.rows) else 0
            warn(f"{parsed.source}: {parsed.unit} {parsed.number(row)}: {odd[0]}")
        return tuple(found)
    code = LeafNumbers(names)
    table = np.array([code.get(name, -1 - at) for at, name in enumerate(found)], dtype=parsed.rows.dtype)
    for start in range(0, len(parsed.rows), _AT_ONCE):
        # Replace in place, because a second array of all rows may not fit into memory.
        some = parsed.rows[start : start + _AT_ONCE]
        some[:] = table[some]
    return names


def wrong_rows(parsed: Parsed, names: tuple[str, ...] | None, n: int | None, quadruplets: bool) -> Wrong:
    """Return the rows with an unknown leaf, or with a repeated leaf or pair, and the reason for each."""
    rows = parsed.rows
    if not len(rows):
        return np.zeros(0, dtype=np.intp), iter(())
    starts = range(0, len(rows), _AT_ONCE)
    # Masks for all rows at once could take too much memory.
    wrong = np.concatenate(
        [start + _wrong_among(rows[start : start + _AT_ONCE], n, quadruplets) for start in starts]
    )

    def reason(row: int) -> str:
        leaves = rows[row].tolist()
        is_first = row == wrong[0]
        outside = [leaf for leaf in leaves if leaf < 0 or (n is not None and leaf >= n)]
        if outside:
            leaf = outside[0]
            if parsed.names is not None and leaf < 0:
                name = parsed.names[-1 - leaf]
                # The search for similar names is slow, so only the first message has them.
                return unknown_name(name, names or ()) if is_first else f"the name {quoted(name)} is unknown"
            hint = outside_advice(rows, n) if is_first and not parsed.ids_from else ""
            return outside_message(leaf, n, parsed.ids_from) + hint
        first = parsed.ids_from or 0
        shown = [leaf + first for leaf in leaves] if names is None else [names[leaf] for leaf in leaves]
        row_shown = brief(str(shown), 80)
        pairs = (leaves[:2], leaves[2:]) if quadruplets else (leaves,)
        if any(len(set(some)) < len(some) for some in pairs):
            leaf = next(leaf for leaf in shown if shown.count(leaf) > 1)
            return f"leaf {quoted(leaf)} occurs twice in {row_shown}"
        return f"the pairs are the same in {row_shown}"

    return wrong, map(reason, wrong.tolist())


def _wrong_among(rows: NDArray[Any], n: int | None, quadruplets: bool) -> NDArray[np.intp]:
    outside: Any = rows < 0
    if n is not None:
        outside |= rows >= n
    # `any(axis=1)` is slow for rows of three cells, and usually no leaf is outside.
    wrong = outside.any(axis=1) if outside.any() else np.zeros(len(rows), dtype=bool)
    return np.flatnonzero(wrong | has_repeats(rows, quadruplets))


def first_of(parsed: Parsed, wrong: Wrong) -> InputError:
    rows, reasons = wrong
    row, text = int(rows[0]), next(reasons)
    if len(rows) > 1:
        some = ", ".join(str(parsed.number(at)) for at in rows[:10].tolist())
        more = f" and {len(rows) - 10:,} more" if len(rows) > 10 else ""
        text += f"; {len(rows):,} of {len(parsed.rows):,} rows are bad: {parsed.unit}s {some}{more}; "
        text += "skip_bad=True (--skip-bad) skips and lists all of them"
    # Unknown names have negative indices, which are not ids of leaves.
    leaves = (parsed.rows[row] + (parsed.ids_from or 0)).tolist()
    about = [leaves] if parsed.names is None or min(leaves) >= 0 else None
    return InputError(text, path=parsed.source, leaves=about, **parsed.place(row))


def reasons_of(words: Counter[str]) -> dict[str, int]:
    """Return `SkippedRowsWarning.counts` for rows with a missing leaf; `words` has the words for it."""
    return {f"with `{word}` for an item" if word else "without an item": n for word, n in words.items()}


def shown_words(words: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count:,} {f'`{word}`' if word else 'blank'}" for word, count in words)


def _of_missing(parsed: Parsed, total: int, *, kept: bool = True) -> str:
    words = Counter(word for _, word in parsed.missing)
    numbers, most = [number for number, _ in parsed.missing], 1000 if kept else 10
    shown = ", ".join(map(str, numbers[:most]))
    more = f" and {len(numbers) - most:,} more" if len(numbers) > most else ""
    where = f"{parsed.unit}{'s' if len(numbers) > 1 else ''} {shown}{more}"
    text = f"{len(numbers):,} of {total:,} rows have a missing leaf ({shown_words([*words.items()][:8])})"
    if not kept:
        return f"{text}: {where}; are these the right columns?"
    hint = "; na=[] (--na '') reads these words as names" if any(words) else ""
    return f"{parsed.source}: {text} and are skipped: {where}{hint}"


def _of_bad(parsed: Parsed, total: int | None = None) -> str:
    rows = sorted(parsed.bad)
    parts = [f"{parsed.unit} {number}: {reason}" for number, reason in rows[:1000]]
    more = [f"{len(rows) - 1000:,} more"] if len(rows) > 1000 else []
    text = "; ".join([*parts, *more])
    if total is None:
        return brief(text, 300)
    return f"{parsed.source}: {len(rows):,} of {total:,} rows are bad and are skipped: {text}"


def _made(
    parsed: Parsed, make: Callable[..., Made], names: tuple[str, ...] | None, n_leaves: int | None
) -> Made:
    if parsed.group_names is not None and (odd := alike(parsed.group_names, "persons")):
        warn(f"{parsed.source}: {odd[0]}")
    known = {
        name: getattr(parsed, name)
        for name in ("answers", "groups", "group_names", "adaptive")
        if getattr(parsed, name) is not None
    }
    try:
        if n_leaves is None and names is None and len(parsed.rows):
            n_leaves = int(parsed.rows.max()) + 1
            check_reach(parsed.rows, n_leaves)
            if parsed.ids_from is None and (told := suspect_ids(distinct_ids(parsed.rows), n_leaves)):
                warn(f"{parsed.source}: {told}")
        return make(parsed.rows, n_leaves=n_leaves, names=names, weights=parsed.weights, copy=False, **known)
    except InputError as error:
        place = {"row": error.row, "line": error.line} if error.row is None else parsed.place(error.row)
        raise InputError(error.reason, path=parsed.source, leaves=error.leaves, **place) from None


def persons_of(texts: Sequence[str], codes: NDArray[Any], literal: bool) -> tuple[Any, Any]:
    """Return the number of the person of each row, and the names of people by number.

    If all names are whole numbers from 0, these are used as the numbers, and None replaces the names.
    """
    whole = not literal and all(
        text.isascii() and text.isdigit() and text == str(int(text[:12])) and int(text) < 2**31
        for text in texts
    )
    if whole and texts:
        return np.array([int(text) for text in texts], dtype=np.int64)[codes], None
    return codes, tuple(texts)


def persons_in(parsed: Parsed) -> tuple[list[str], NDArray[Any]]:
    codes, values = numbered(np.asarray(parsed.groups))
    names = parsed.group_names
    return [str(value) if names is None else names[value] for value in values.tolist()], codes
