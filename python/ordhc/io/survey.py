"""What all files of a scan tell together: leaves, names, people, weights, rows that are passed over."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ordhc.comparison.comparisons import Quadruplets
from ordhc.comparison.ids import check_reach
from ordhc.comparison.suspects import alike, suspect_ids, suspect_names
from ordhc.errors import InputError, SkippedRowsWarning, warn
from ordhc.io.blocks import Form, is_parquet, read_piece, whole_ids
from ordhc.io.parsed import Parsed, persons_in, wrong_rows

__all__ = ["Survey", "surveyed", "warn_of"]

#: Rows that were passed over are listed up to so many.
LISTED = 1000


@dataclass
class Survey:
    """What is known of all rows.

    Attributes
    ----------
    n_leaves, names, n_rows
        Of all files.
    weighted, whole
        Whether there are weights, and whether all of them are whole numbers (their sum below 2^53).
    persons, numbered
        The people in order of first appearance, and whether they are whole numbers.
    missing, n_missing, reasons, bad, n_bad
        Rows without all leaves, by word, and rows that can't be used: the first of them, and how many.
    suspect
        What looks like a slip.
    has_names
        Whether rows hold names.
    """

    n_leaves: int
    names: tuple[str, ...] | None
    n_rows: int
    weighted: bool = False
    whole: bool = True
    persons: tuple[str, ...] | None = None
    numbered: bool = False
    missing: list[tuple[str, int, str]] = field(default_factory=list)
    n_missing: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[str, int, str]] = field(default_factory=list)
    n_bad: int = 0
    suspect: str | None = None
    has_names: bool = False


def surveyed(scan: Any, names: tuple[str, ...] | None, n_leaves: int | None) -> Survey:
    """One pass over all files, or a look at what Parquet says of its columns where that is enough."""
    quick = _by_statistics(scan.files, scan.form, names, n_leaves)
    if quick is not None:
        return quick
    merged = _Merged(scan, names, n_leaves)
    for piece in scan.pieces:
        for parsed in read_piece(piece, scan.form):
            merged.add(parsed)
    return merged.survey()


def _by_statistics(
    files: Sequence[str], form: Form, names: tuple[str, ...] | None, n_leaves: int | None
) -> Survey | None:
    """Files of ids whose columns tell all that is needed."""
    if form.skip_bad or not all(is_parquet(path) for path in files):
        return None
    n_rows, largest = 0, -1
    for path in files:
        found = whole_ids(path, form)
        if found is None:
            return None
        n_rows, largest = n_rows + found[0], max(largest, found[1])
    n = len(names) if names is not None else n_leaves if n_leaves is not None else largest + 1
    if n_leaves is None and names is None and n > 10_000 and n > 3 * 100 * n_rows:
        # Far more leaves than rows could name: said in the words of a pass over all rows.
        return None
    return Survey(n, names, n_rows) if n_rows else None


class _Merged:
    """What blocks tell, one after the other."""

    def __init__(self, scan: Any, names: tuple[str, ...] | None, n_leaves: int | None) -> None:
        self.given, self.n_leaves = names, n_leaves
        self.skip_bad, self.quadruplets = scan.form.skip_bad, scan.kind is Quadruplets
        self.code: dict[str, int] = {}
        self.persons: dict[str, int] = {}
        self.seen = np.zeros(0, dtype=bool)
        self.found = Survey(0, None, 0, numbered=True)
        self.total = 0.0
        #: The first file of ids, of names, with people, without.
        self.first: dict[str, str] = {}

    def add(self, parsed: Parsed) -> None:
        found = self.found
        if self.skip_bad:
            parsed = self._without_bad(parsed)
        found.n_rows += len(parsed.rows)
        for row, word in parsed.missing:
            if len(found.missing) < LISTED:
                found.missing.append((parsed.source, row, word))
            found.reasons[word] += 1
        found.n_missing += len(parsed.missing)
        found.n_bad += len(parsed.bad)
        found.bad += [(parsed.source, row, told) for row, told in parsed.bad[: LISTED - len(found.bad)]]
        if not len(parsed.rows):
            return
        self._leaves(parsed)
        if parsed.weights is not None:
            weights = np.asarray(parsed.weights, dtype=np.float64)
            found.weighted = True
            self.total += float(weights.sum())
            found.whole = found.whole and bool((weights == np.floor(weights)).all())
        self._persons(parsed)

    def _without_bad(self, parsed: Parsed) -> Parsed:
        """The rows that can be used; the others are listed."""
        for name in parsed.names or ():
            self.code.setdefault(name, len(self.code))
        looked = replace(parsed)
        names, n = None, self.n_leaves
        if self.given is not None:
            names, n = self.given, len(self.given)
            if parsed.names is not None and len(parsed.rows):
                at = {name: leaf for leaf, name in enumerate(names)}
                places = [at.get(name, -1 - place) for place, name in enumerate(parsed.names)]
                looked.rows = np.array(places, dtype=np.int64)[parsed.rows]
        wrong = wrong_rows(looked, names, n, self.quadruplets)
        if not wrong:
            return parsed
        parsed = replace(parsed, bad=[*parsed.bad, *((parsed.number(row), told) for row, told in wrong)])
        kept = np.ones(len(parsed.rows), dtype=bool)
        kept[[row for row, _ in wrong]] = False
        parsed.keep(kept)
        return parsed

    def _leaves(self, parsed: Parsed) -> None:
        kind, other = ("names", "ids") if parsed.names is not None else ("ids", "names")
        self.first.setdefault(kind, parsed.source)
        if other in self.first:
            told = f"has {kind}, but {self.first[other]} has {other}"
            raise InputError(told, path=parsed.source)
        if parsed.names is not None:
            for name in parsed.names:
                self.code.setdefault(name, len(self.code))
        elif self.given is None and self.n_leaves is None:
            rows = np.asarray(parsed.rows)
            if rows.min() < 0 or rows.max() >= 2**31:
                # The pass that makes comparisons says what is wrong.
                rows = rows[((rows >= 0) & (rows < 2**31)).all(axis=1)]
            largest = int(rows.max()) + 1 if len(rows) else 0
            if largest > len(self.seen):
                grown = np.zeros(max(largest, 2 * len(self.seen)), dtype=bool)
                grown[: len(self.seen)] = self.seen
                self.seen = grown
            self.seen[rows.ravel()] = True

    def _persons(self, parsed: Parsed) -> None:
        self.first.setdefault("people" if parsed.groups is not None else "no people", parsed.source)
        if "people" in self.first and "no people" in self.first:
            told = f"{self.first['no people']} says of no row whose answer it is, {self.first['people']} does"
            raise InputError(told)
        if parsed.groups is None:
            return
        texts, _ = persons_in(parsed)
        self.found.numbered = self.found.numbered and parsed.group_names is None
        for text in texts:
            self.persons.setdefault(text, len(self.persons))

    def survey(self) -> Survey:
        found = self.found
        total = found.n_rows + found.n_missing + found.n_bad
        if found.n_missing and 2 * found.n_missing > total:
            source, row, _ = found.missing[0]
            told = (
                f"{found.n_missing:,} of {total:,} rows have a missing leaf ({_words(found)}), the first in "
            )
            raise InputError(f"{told}row or line {row}; are these the right columns?", path=source)
        if not found.n_rows:
            raise InputError("there are no rows that can be used" + (f"; {_bad(found)}" if found.bad else ""))
        found.whole = found.whole and self.total < 2**53
        found.persons = tuple(self.persons) if self.persons else None
        if self.code:
            self._by_name()
        else:
            self._by_id()
        if found.persons is not None and not found.numbered and (odd := alike(found.persons, "persons")):
            found.suspect = found.suspect or odd[0]
        return found

    def _by_name(self) -> None:
        found, own = self.found, tuple(self.code)
        found.has_names = True
        if self.given is not None:
            found.names = self.given
        elif self.n_leaves is not None and self.n_leaves != len(own):
            raise InputError(f"{len(own)} different names, but n_leaves = {self.n_leaves}; give all names")
        else:
            found.names = own
            odd = suspect_names(own)
            found.suspect = None if odd is None else odd[0]
        found.n_leaves = len(found.names)

    def _by_id(self) -> None:
        found = self.found
        found.names = self.given
        if self.given is not None:
            found.n_leaves = len(self.given)
        elif self.n_leaves is not None:
            found.n_leaves = self.n_leaves
        else:
            there = np.flatnonzero(self.seen).astype(np.int64)
            found.n_leaves = int(there[-1]) + 1 if len(there) else 1
            check_reach(there[:, None], found.n_leaves)
            found.suspect = suspect_ids(there, found.n_leaves) if len(there) > 1 else None


def _words(found: Survey) -> str:
    parts = [f"{n:,} {f'`{word}`' if word else 'blank'}" for word, n in found.reasons.most_common(8)]
    return ", ".join(parts)


def _bad(found: Survey) -> str:
    return "; ".join(f"{source}:{row}: {told}" for source, row, told in found.bad[:20])


def warn_of(found: Survey) -> None:
    """Warn once of rows that are passed over, and of what looks like a slip."""
    if found.suspect is not None:
        warn(found.suspect)
    total = found.n_rows + found.n_missing + found.n_bad
    if found.n_missing:
        where = ", ".join(f"{source}:{row}" for source, row, _ in found.missing[:10])
        more = f" and {found.n_missing - 10:,} more" if found.n_missing > 10 else ""
        text = (
            f"{found.n_missing:,} of {total:,} rows have a missing leaf ({_words(found)}) and are passed over"
        )
        counts = {
            f"with `{word}` for an item" if word else "without an item": n
            for word, n in found.reasons.items()
        }
        rows = [(row, word) for _, row, word in found.missing]
        warn(SkippedRowsWarning(f"{text}: {where}{more}", rows, counts))
    if found.n_bad:
        text = f"{found.n_bad:,} of {total:,} rows are bad and passed over: {_bad(found)}"
        rows = [(row, told) for _, row, told in found.bad]
        warn(SkippedRowsWarning(text, rows, {"that cannot be used": found.n_bad}))
