"""Facts about all files of a scan: leaves, names, people, weights, skipped rows."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import LeafNumbers
from ordhc._progress import Progress, part
from ordhc.comparison.asked import Asked
from ordhc.comparison.ids import check_reach, distinct_ids, names_of_ids, numbers_of
from ordhc.comparison.scale import MOST_WEIGHTS
from ordhc.comparison.suspects import alike, names_warning, suspect_ids, suspect_names
from ordhc.comparison.units import distinct
from ordhc.errors import InputError, SkippedRowsWarning, warn
from ordhc.io.blocks import is_parquet, joined, read_piece, whole_ids
from ordhc.io.parsed import Parsed, persons_in, wrong_rows
from ordhc.io.parts import Checkpoint

__all__ = ["Survey", "surveyed", "warn_of"]

#: The maximum number of skipped rows that are listed.
LISTED = 1000
#: Ids that are names: the different ids, sorted, and the name that each means.
Codes = tuple[NDArray[np.int64], tuple[str, ...]]
#: The collectors that rows are added to.
_F = TypeVar("_F", "_Ids", "_Merged")


@dataclass
class Survey:
    """The facts about all rows.

    Attributes
    ----------
    n_leaves, names, n_rows
        Of all files.
    weighted, whole
        Whether there are weights, and whether all of them are whole numbers (their sum below 2^53).
    weights, largest_weight
        The different positive weights (with the 1 of rows without one), None if there are too many to have a
        common unit; and the largest.
    persons, numbered
        The people in order of first appearance, and whether they are whole numbers.
    missing, n_missing, reasons, bad, n_bad
        Rows without all leaves, by word, and rows that can't be used: the first of them, and how many.
    suspect
        What looks like a slip.
    codes
        What ids mean if they are names.
    has_names
        Whether rows hold names.
    """

    n_leaves: int
    names: tuple[str, ...] | None
    n_rows: int
    weighted: bool = False
    whole: bool = True
    weights: frozenset[float] | None = frozenset()
    largest_weight: float = 1.0
    persons: tuple[str, ...] | None = None
    numbered: bool = False
    missing: list[tuple[str, int, str]] = field(default_factory=list)
    n_missing: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[str, int, str]] = field(default_factory=list)
    n_bad: int = 0
    suspect: str | None = None
    codes: Codes | None = None
    has_names: bool = False


def surveyed(scan: Any, progress: Progress | None = None) -> Survey:
    """Return what one pass over all files finds, or what Parquet statistics say where they are enough."""
    names = scan.asked.names
    quick = _by_statistics(scan)
    if quick is not None:
        return quick
    codes = None
    if names is not None and numbers_of(names):
        before, progress = part(progress, 0, 0.5), part(progress, 0.5, 1)
        ids = _folded(scan, _Ids(), None, before).ids
        texts = names_of_ids(ids, scan.asked)
        codes = None if texts is None else (ids, texts)
    return _folded(scan, _Merged(scan.asked, codes), codes, progress).survey()


class _Ids:
    """The different ids of rows."""

    def __init__(self) -> None:
        self.ids = np.zeros(0, dtype=np.int64)

    def add(self, parsed: Parsed) -> None:
        if parsed.names is None:
            self.ids = np.union1d(self.ids, distinct_ids(np.asarray(parsed.rows)))


def _folded(scan: Any, found: _F, codes: Codes | None, progress: Progress | None) -> _F:
    """Add all rows, but for those of the pieces that an earlier call has added."""
    pieces = list(joined(scan.pieces))
    of_file = Counter(piece.file for piece in pieces)
    total, done = max(1, sum(size for size, _ in scan.state)), 0.0
    kept = Checkpoint(scan, f"survey {type(found).__name__}", len(pieces))
    start, found = kept.load(found)
    scan.resumed["found"] += start
    for at, piece in enumerate(pieces):
        size = scan.state[piece.file][0] / of_file[piece.file]
        if at < start:
            done += size
            if progress is not None:
                progress(min(1.0, done / total))
            continue
        told = part(progress, done / total, min(1.0, (done + size) / total))
        for parsed in read_piece(piece, scan.asked, progress=told):
            if scan.asked.skip_bad and parsed.names is None:
                # Ids of rows that cannot be used say nothing about the leaves.
                parsed.pass_over(wrong_rows(parsed, None, None, scan.asked.of_pairs))
            if codes is not None:
                parsed.take_as_names(*codes)
            found.add(parsed)
        done += size
        kept.save(at + 1, found)
    return found


def _by_statistics(scan: Any) -> Survey | None:
    """Return what Parquet files of ids say of their columns, None if that is not enough."""
    files, asked = scan.files, scan.asked
    names, n_leaves = asked.names, asked.n_leaves
    alone = not (asked.skip_bad or asked.ids_from or numbers_of(names or ()))
    if not (alone and all(is_parquet(path) for path in files)):
        return None
    n_rows, largest = 0, -1
    for path in files:
        found = whole_ids(path, asked)
        if found is None:
            return None
        n_rows, largest = n_rows + found[0], max(largest, found[1])
    n = len(names) if names is not None else n_leaves if n_leaves is not None else largest + 1
    if not n_rows or (n_leaves is None and names is None and not _mostly_used(scan, n)):
        return None
    return Survey(n, names, n_rows)


def _mostly_used(scan: Any, n: int) -> bool:
    """Return whether at least half of n ids occur: as a rule the first rows tell."""
    if n > 1 << 31:
        return False
    seen = np.zeros(n, dtype=bool)
    for piece in scan.pieces:
        for parsed in read_piece(piece, scan.asked):
            seen[np.asarray(parsed.rows).ravel()] = True
            if 2 * np.count_nonzero(seen) >= n:
                return True
    return False


class _Merged:
    """The facts about blocks, collected one after the other."""

    def __init__(self, asked: Asked, codes: Codes | None) -> None:
        self.asked, self.given, self.n_leaves = asked, asked.names, asked.n_leaves
        self.code: dict[str, int] = {}
        self.persons: dict[str, int] = {}
        self.ids = np.zeros(0, dtype=np.int64)
        self.found = Survey(0, None, 0, numbered=True, codes=codes)
        self.total = 0.0
        #: The first file of ids, of names, with people, without.
        self.first: dict[str, str] = {}

    def add(self, parsed: Parsed) -> None:
        found = self.found
        if self.asked.skip_bad:
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
            found.largest_weight = max(found.largest_weight, float(weights.max()))
            if found.weights is not None:
                different = found.weights.union(distinct(weights[weights > 0]).tolist())
                found.weights = different if len(different) <= MOST_WEIGHTS else None
        elif found.weights is not None:
            found.weights |= {1.0}
        self._persons(parsed)

    def _without_bad(self, parsed: Parsed) -> Parsed:
        """Return the usable rows; list the others."""
        for name in parsed.names or ():
            self.code.setdefault(name, len(self.code))
        looked = replace(parsed)
        names, n = None, self.n_leaves
        if self.given is not None:
            names, n = self.given, len(self.given)
            if parsed.names is not None and len(parsed.rows):
                at = LeafNumbers(names)
                places = [at.get(name, -1 - place) for place, name in enumerate(parsed.names)]
                looked.rows = np.array(places, dtype=np.int64)[parsed.rows]
        parsed = replace(parsed)
        parsed.pass_over(wrong_rows(looked, names, n, self.asked.of_pairs))
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
            self.ids = np.union1d(self.ids, distinct_ids(np.asarray(parsed.rows)))

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
        if self.given is None and (texts := names_of_ids(self.ids, self.asked)):
            found.codes, found.has_names = (self.ids, texts), True
            found.names, found.suspect = texts, names_warning(self.ids)
        if found.names is not None:
            found.n_leaves = len(found.names)
        elif self.n_leaves is not None:
            found.n_leaves = self.n_leaves
        else:
            # The pass that makes comparisons says what is wrong with ids that are no int32.
            there = self.ids[(self.ids >= 0) & (self.ids < 2**31)]
            found.n_leaves = int(there[-1]) + 1 if len(there) else 1
            check_reach(there[:, None], found.n_leaves)
            if self.asked.ids_from is None and len(there) == len(self.ids):
                found.suspect = suspect_ids(there, found.n_leaves)


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
