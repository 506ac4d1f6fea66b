"""Collect facts about comparisons in files: leaves, names, people, weights, skipped rows."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import LeafNumbers
from ordhc._progress import Progress, part
from ordhc._workers import MIN_SECONDS
from ordhc.comparison.asked import Asked
from ordhc.comparison.ids import check_reach, distinct_ids, names_of_ids, numbers_of
from ordhc.comparison.scale import MOST_WEIGHTS
from ordhc.comparison.suspects import alike, names_warning, suspect_ids, suspect_names
from ordhc.comparison.units import distinct
from ordhc.errors import InputError, SkippedRowsWarning, warn
from ordhc.io.blocks import Piece, adjacent_merged, is_parquet, read_piece, whole_ids
from ordhc.io.parsed import Parsed, persons_in, reasons_of, shown_words, wrong_rows
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts
from ordhc.io.spill import Spill

#: The maximum number of skipped rows that are listed.
LISTED = 1000
#: Estimated seconds to read a byte of a file.
_SECONDS = 1e-8
#: The completed fraction when all files are read, before the facts about their parts are merged.
_READ = 0.95
#: Ids that are read as names: the distinct ids, sorted, and the name of each.
Codes = tuple[NDArray[np.int64], tuple[str, ...]]
_F = TypeVar("_F", "_IdCollector", "_FactCollector")


@dataclass
class Survey:
    """Facts about all rows of the files: their leaves, names, people, weights and skipped rows."""

    n_leaves: int
    names: tuple[str, ...] | None
    n_rows: int
    weighted: bool = False
    #: True if all weights are whole numbers, and their sum is below 2^53.
    whole: bool = True
    #: The distinct positive weights, with 1 for rows without a weight; None if more than `MOST_WEIGHTS`.
    weights: frozenset[float] | None = frozenset()
    largest_weight: float = 1.0
    #: The people in order of first appearance, or None.
    persons: tuple[str, ...] | None = None
    #: True if the names of all people are whole numbers.
    numbered: bool = False
    #: Skipped rows with a missing leaf: the first of them (file, row, word), and the number for each word.
    missing: list[tuple[str, int, str]] = field(default_factory=list)
    n_missing: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    #: Skipped rows that cannot be used: the first of them (file, row, reason).
    bad: list[tuple[str, int, str]] = field(default_factory=list)
    n_bad: int = 0
    #: A warning about names, ids or people that look wrong, or None.
    suspect: str | None = None
    #: The ids and their names, if ids are read as names.
    codes: Codes | None = None
    #: True if leaves have names in the files, or ids are read as names.
    has_names: bool = False


def surveyed(scan: Any, progress: Progress | None = None) -> Survey:
    """Return the `Survey` of the files of `scan`, from the statistics of Parquet files if these suffice.

    Otherwise all rows are read. All rows are read twice if the given names are whole numbers or have ids of
    their own: the first time, only the distinct ids are collected.
    """
    names = scan.asked.names
    if (quick := _by_statistics(scan)) is not None:
        return quick
    codes = None
    if names is not None and numbers_of(names):
        before, progress = part(progress, 0, 0.5), part(progress, 0.5, 1)
        ids = _collected(scan, _IdCollector, None, before).ids
        texts = names_of_ids(ids, scan.asked)
        codes = None if texts is None else (ids, texts)
    found = _collected(scan, partial(_FactCollector, scan.asked), codes, progress).survey()
    found.codes = found.codes if codes is None else codes
    return found


class _IdCollector:
    def __init__(self) -> None:
        self.ids = np.zeros(0, dtype=np.int64)

    def add(self, parsed: Parsed) -> None:
        if parsed.names is None:
            self.ids = np.union1d(self.ids, distinct_ids(np.asarray(parsed.rows)))

    def merge(self, later: _IdCollector) -> None:
        self.ids = np.union1d(self.ids, later.ids)


def _collected(scan: Any, new: Callable[[], _F], codes: Codes | None, progress: Progress | None) -> _F:
    size = sum(size for size, _ in scan.state)
    if scan.resume is not None or (scan.executor is not None and _SECONDS * size >= MIN_SECONDS):
        job = _Part(scan, new, codes)
        tasks = [(some,) for some in pieces_in_parts(scan)]
        found = new()
        with Spill(scan.spill) as spill:
            folders = parts_of(scan, job, tasks, spill, part(progress, 0, _READ))
            try:
                for folder in folders:
                    if not (facts := (Path(folder) / "facts").read_bytes()):
                        raise InputError("a part of the files has a mistake")
                    found.merge(pickle.loads(facts))
                return found
            except InputError:
                # Several parts can have mistakes. Reading in order raises the error of the first.
                progress = part(progress, _READ, 1)
    in_order: _F = _Part(scan, new, codes).read(scan.pieces, progress)
    return in_order


@dataclass(frozen=True)
class _Part:
    scan: Any
    new: Callable[[], Any]
    codes: Codes | None

    def name(self, pieces: tuple[Piece, ...]) -> str:
        return fingerprint(self._about, self.scan.key(pieces, with_survey=False))

    @cached_property
    def _about(self) -> str:
        ids, names = (None, None) if self.codes is None else self.codes
        return fingerprint(type(self.new()).__name__, ids, names)

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        """Write the facts about the rows of `pieces` to a file in `folder`, an empty file after an error."""
        try:
            facts = pickle.dumps(self.read(pieces, progress), protocol=5)
        except InputError:
            facts = b""
        (folder / "facts").write_bytes(facts)

    def read(self, pieces: Sequence[Piece], progress: Progress | None) -> Any:
        scan, found = self.scan, self.new()
        pieces = adjacent_merged(pieces)
        of_file = Counter(piece.file for piece in pieces)
        sizes = [scan.state[piece.file][0] / of_file[piece.file] for piece in pieces]
        total, done = max(1, sum(sizes)), 0.0
        for piece, size in zip(pieces, sizes, strict=True):
            further = part(progress, done / total, min(1.0, (done + size) / total))
            for parsed in read_piece(piece, scan.asked, progress=further):
                if scan.asked.skip_bad and parsed.names is None:
                    # Ids in unusable rows must not count as leaves.
                    parsed.skip(wrong_rows(parsed, None, None, scan.asked.kind == "pairs"))
                if self.codes is not None:
                    parsed.take_as_names(*self.codes)
                found.add(parsed)
            done += size
        return found


def _by_statistics(scan: Any) -> Survey | None:
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
    if n > 1 << 31:
        return False
    seen = np.zeros(n, dtype=bool)
    for piece in scan.pieces:
        for parsed in read_piece(piece, scan.asked):
            seen[np.asarray(parsed.rows).ravel()] = True
            if 2 * np.count_nonzero(seen) >= n:
                return True
    return False


class _FactCollector:
    """Collects the content of a `Survey` (leaves, names, people, weights), block by block."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.given, self.n_leaves = asked, asked.names, asked.n_leaves
        self.code: dict[str, int] = {}
        self.persons: dict[str, int] = {}
        self.ids = np.zeros(0, dtype=np.int64)
        self.found = Survey(0, None, 0, numbered=True)
        self.total = 0.0
        #: The first file with each of "ids", "names", "people", "no people".
        self.first: dict[str, str] = {}

    def __getstate__(self) -> dict[str, Any]:
        # `merge` uses neither the options nor the given names, which can take much memory.
        return {**self.__dict__, "asked": None, "given": None}

    def merge(self, later: _FactCollector) -> None:
        """Add the content of `later`, a collector of rows that follow the rows of this collector.

        Raise an `InputError` without file names if only some files have names or only some have people.
        """
        self.first = {**later.first, **self.first}
        if {"ids", "names"} <= self.first.keys() or {"people", "no people"} <= self.first.keys():
            raise InputError("the files are not alike")
        found, other = self.found, later.found
        for name in ("n_rows", "n_missing", "n_bad", "reasons"):
            setattr(found, name, getattr(found, name) + getattr(other, name))
        found.missing += other.missing[: LISTED - len(found.missing)]
        found.bad += other.bad[: LISTED - len(found.bad)]
        found.weighted = found.weighted or other.weighted
        found.whole = found.whole and other.whole
        found.largest_weight = max(found.largest_weight, other.largest_weight)
        found.numbered = found.numbered and other.numbered
        found.weights = None if other.weights is None else self._with_weights(other.weights)
        self.total += later.total
        self.ids = np.union1d(self.ids, later.ids)
        for known, further in ((self.code, later.code), (self.persons, later.persons)):
            for text in further:
                known.setdefault(text, len(known))

    def add(self, parsed: Parsed) -> None:
        found = self.found
        if self.asked.skip_bad:
            parsed = self._without_bad(parsed)
        found.n_rows += len(parsed.rows)
        found.reasons.update(word for _, word in parsed.missing)
        found.n_missing += len(parsed.missing)
        found.n_bad += len(parsed.bad)
        for listed, rows in ((found.missing, parsed.missing), (found.bad, parsed.bad)):
            listed += [(parsed.source, row, reason) for row, reason in rows[: LISTED - len(listed)]]
        if not len(parsed.rows):
            return
        self._leaves(parsed)
        if parsed.weights is not None:
            weights = np.asarray(parsed.weights, dtype=np.float64)
            found.weighted = True
            self.total += float(weights.sum())
            found.whole = found.whole and bool((weights == np.floor(weights)).all())
            found.largest_weight = max(found.largest_weight, float(weights.max()))
            found.weights = self._with_weights(distinct(weights[weights > 0]).tolist())
        else:
            found.weights = self._with_weights([1.0])
        self._persons(parsed)

    def _without_bad(self, parsed: Parsed) -> Parsed:
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
        parsed.skip(wrong_rows(looked, names, n, self.asked.kind == "pairs"))
        return parsed

    def _with_weights(self, further: Iterable[float]) -> frozenset[float] | None:
        if self.found.weights is None:
            return None
        different = self.found.weights.union(further)
        return different if len(different) <= MOST_WEIGHTS else None

    def _leaves(self, parsed: Parsed) -> None:
        kind, other = ("names", "ids") if parsed.names is not None else ("ids", "names")
        self.first.setdefault(kind, parsed.source)
        if other in self.first:
            reason = f"has {kind}, but {self.first[other]} has {other}"
            raise InputError(reason, path=parsed.source)
        if parsed.names is not None:
            for name in parsed.names:
                self.code.setdefault(name, len(self.code))
        elif self.given is None and self.n_leaves is None:
            self.ids = np.union1d(self.ids, distinct_ids(np.asarray(parsed.rows)))

    def _persons(self, parsed: Parsed) -> None:
        self.first.setdefault("people" if parsed.groups is not None else "no people", parsed.source)
        if "people" in self.first and "no people" in self.first:
            without, other = self.first["no people"], self.first["people"]
            raise InputError(f"{without} has no column of persons, but {other} has one")
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
            count = f"{found.n_missing:,} of {total:,} rows"
            reason = f"{count} have a missing leaf ({_words(found)}), the first in row or line {row}"
            raise InputError(f"{reason}; are these the right columns?", path=source)
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
            count = f"there are {len(own)} different names"
            raise InputError(f"{count}, but n_leaves = {self.n_leaves}; give all names")
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
            # Ignore ids that do not fit into int32. The pass that makes comparisons raises an error for them.
            valid = self.ids[(self.ids >= 0) & (self.ids < 2**31)]
            found.n_leaves = int(valid[-1]) + 1 if len(valid) else 1
            check_reach(valid[:, None], found.n_leaves)
            if self.asked.ids_from is None and len(valid) == len(self.ids):
                found.suspect = suspect_ids(valid, found.n_leaves)


def _words(found: Survey) -> str:
    return shown_words(found.reasons.most_common(8))


def _bad(found: Survey) -> str:
    return "; ".join(f"{source}:{row}: {reason}" for source, row, reason in found.bad[:20])


def warn_of(found: Survey) -> None:
    if found.suspect is not None:
        warn(found.suspect)
    total = found.n_rows + found.n_missing + found.n_bad
    if found.n_missing:
        where = ", ".join(f"{source}:{row}" for source, row, _ in found.missing[:10])
        more = f" and {found.n_missing - 10:,} more" if found.n_missing > 10 else ""
        text = f"{found.n_missing:,} of {total:,} rows have a missing leaf ({_words(found)}) and are skipped"
        rows = [(row, word) for _, row, word in found.missing]
        warn(SkippedRowsWarning(f"{text}: {where}{more}", rows, reasons_of(found.reasons)))
    if found.n_bad:
        text = f"{found.n_bad:,} of {total:,} rows are bad and are skipped: {_bad(found)}"
        rows = [(row, reason) for _, row, reason in found.bad]
        warn(SkippedRowsWarning(text, rows, {"that cannot be used": found.n_bad}))
