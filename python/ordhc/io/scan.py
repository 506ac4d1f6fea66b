"""Comparisons that stay in their files, and are read some at a time."""

import glob
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._checks import quoted
from ordhc._progress import Progress, part
from ordhc._workers import as_executor
from ordhc.comparison.asked import Asked, FileOptions
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.io.blocks import Piece, is_parquet, read_piece, row_groups
from ordhc.io.comparisons import checked
from ordhc.io.files import name_of
from ordhc.io.packed import ENDINGS
from ordhc.io.parsed import Parsed, first_of, persons_in, wrong_rows
from ordhc.io.spill import Spill, bytes_of
from ordhc.io.survey import Survey, surveyed, warn_of
from ordhc.io.texts import check_characters

__all__ = ["Block", "Scan", "is_several", "kind_of", "scan", "scan_of"]

#: The share of progress of the first pass over the files.
_SURVEYING = 0.4
SUFFIXES = (
    *(f"{text}{packed}" for text in (".csv", ".tsv", ".txt") for packed in ("", *ENDINGS)),
    ".parquet",
)
UNITS = ("file", "group")
#: What `Asked` says of single files only.
_OF_ONE_FILE = (
    "chosen", "chosen_as", "ranks", "n_ranked", "exclude", "format", "participants", "wide", "questions",
    "answer",
)  # fmt: skip


@dataclass(frozen=True)
class Block:
    """Comparisons that stand together in a file, and what each belongs to."""

    data: Triplets | Quadruplets
    file: int
    persons: NDArray[np.int64] | None

    def units(self, unit: str) -> NDArray[np.uint32]:
        """The file or the person of each row, numbered from 0."""
        if unit == "file" or self.persons is None:
            return np.full(len(self.data), self.file, dtype=np.uint32)
        return self.persons.astype(np.uint32)


class Scan:
    """Comparisons that stay in their files: what `ordhc.scan` gives.

    Nothing is read before it is needed. What is needed of all rows (names, the number of leaves, people) is
    found out in one pass, the first time that somebody asks for it.

    Attributes
    ----------
    files
        The paths of the files, in order.
    memory
        How many bytes sums of the scan may take before they go to files.
    spill
        The folder for these files, or None for one for temporary files.
    executor
        Who reads and adds up the files, or None for this process. A pickled copy has none.

    Examples
    --------
    >>> import ordhc, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("anchor,near,far\\ncat,dog,car\\n")
    >>> _ = (folder / "b.csv").write_text("anchor,near,far\\ndog,cat,bus\\n")
    >>> scan = ordhc.scan(folder)
    >>> scan.names, len(scan), [len(block) for block in scan]
    (('cat', 'dog', 'car', 'bus'), 2, [1, 1])
    """

    def __init__(
        self, files: Sequence[str], asked: Asked, memory: Any = None, spill: Any = None, executor: Any = None
    ) -> None:
        self.files = tuple(files)
        self.asked = asked
        self.memory, self.spill, self.executor = bytes_of(memory), Spill(spill).parent, as_executor(executor)
        self.state: tuple[tuple[float, ...], ...] = tuple(_state(path) for path in files)
        self._survey: Survey | None = None
        self._told = False

    def __getstate__(self) -> dict[str, Any]:
        # Workers get copies. The rows that are left out were reported before, and workers have no workers.
        return {**self.__dict__, "_told": True, "executor": None}

    @property
    def kind(self) -> type[Triplets] | type[Quadruplets]:
        """What the rows are."""
        return Quadruplets if self.asked.of_pairs else Triplets

    @property
    def pieces(self) -> list[Piece]:
        """Files, and of Parquet files the row groups."""
        found = []
        for at, path in enumerate(self.files):
            if is_parquet(path):
                self._check(at)
                found += [Piece(path, at, (group, group + 1)) for group in range(row_groups(path))]
            else:
                found.append(Piece(path, at))
        return found

    @property
    def survey(self) -> Survey:
        """What one pass over all rows tells."""
        if self._survey is None:
            self._survey = surveyed(self)
        if not self._told:
            self._told = True
            warn_of(self._survey)
        return self._survey

    def surveying(self, whole: Progress | None) -> Progress | None:
        """Make the survey if it is missing, and return the progress of the work that follows.

        `whole` receives the completed fraction of the survey and of that work together.
        """
        if whole is None or self._survey is not None:
            return whole
        self._survey = surveyed(self, part(whole, 0, _SURVEYING))
        return part(whole, _SURVEYING, 1)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self.survey.n_leaves

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, in order of first appearance unless they were given; None of ids."""
        return self.survey.names

    @property
    def weighted(self) -> bool:
        """Whether any file has weights."""
        return self.survey.weighted

    @property
    def group_names(self) -> tuple[str, ...] | None:
        """The people in order of first appearance, or None."""
        return self.survey.persons

    def __len__(self) -> int:
        return self.survey.n_rows

    def __iter__(self) -> Iterator[Triplets | Quadruplets]:
        return (block.data for block in self.blocks())

    def __repr__(self) -> str:
        count = f"{len(self.files):,} file{'s' if len(self.files) != 1 else ''}"
        if self._survey is None:
            return f"<Scan: {self.kind.__name__} in {count}, not read yet>"
        return f"<Scan: {len(self):,} {self.kind.__name__} of {self.n_leaves:,} leaves in {count}>"

    def read(self) -> Triplets | Quadruplets:
        """Everything at once, in the order of the files.

        Raises
        ------
        MemoryError
            Not enough memory.
        """
        blocks = list(self.blocks())
        first = blocks[0].data
        weights = None
        if self.weighted:
            weights = np.concatenate(
                [np.ones(len(b.data)) if b.data.weights is None else b.data.weights for b in blocks]
            )
        groups = None
        if first.groups is not None:
            groups = np.concatenate([b.data.groups for b in blocks])
        made: Triplets | Quadruplets = self.kind(
            np.concatenate([b.data.rows for b in blocks]),
            n_leaves=self.n_leaves,
            names=self.names,
            weights=weights,
            groups=groups,
            group_names=first.group_names,
            adaptive=any(b.data.adaptive for b in blocks),
            copy=False,
        )
        return made

    def without_rows(self) -> Triplets | Quadruplets:
        """No comparisons, of the same leaves."""
        none: Any = np.zeros((0, 3 if self.kind is Triplets else 4), dtype=np.int32)
        found: Triplets | Quadruplets = self.kind(none, n_leaves=self.n_leaves, names=self.names)
        return found

    def without_executor(self) -> "Scan":
        """Return the same scan, read and added up by who asks."""
        found = copy(self)
        found.executor = None
        return found

    def blocks(self, pieces: Sequence[Piece] | None = None) -> Iterator[Block]:
        """The comparisons block by block, in the order of the files."""
        survey = self.survey
        code = None if survey.names is None else {name: leaf for leaf, name in enumerate(survey.names)}
        number = None if survey.persons is None else {who: at for at, who in enumerate(survey.persons)}
        checked: set[int] = set()
        for piece in self.pieces if pieces is None else pieces:
            if piece.file not in checked:
                checked.add(piece.file)
                self._check(piece.file)
            for parsed in read_piece(piece, self.asked):
                yield self._block(parsed, piece.file, code, number)

    def _block(self, parsed: Parsed, file: int, code: Any, number: Any) -> Block:
        survey = self.survey
        if survey.codes is not None:
            if self.asked.skip_bad:
                parsed.pass_over(wrong_rows(parsed, None, None, self.asked.of_pairs))
            parsed.take_as_names(*survey.codes)
        rows: Any = parsed.rows
        if parsed.names is not None:
            if code is None:
                raise InputError("has names, but other files have ids", path=parsed.source)
            table: Any = np.array(
                [code.get(name, -1 - at) for at, name in enumerate(parsed.names)], dtype=np.int32
            )
            rows = parsed.rows = table[parsed.rows] if len(parsed.rows) else parsed.rows
        if len(rows) and (parsed.names is not None or rows.dtype != np.int32):
            rows = _narrow(rows)
        options: dict[str, Any] = {"n_leaves": survey.n_leaves, "names": survey.names, "copy": False}
        try:
            persons, options["weights"] = self._beside(parsed, number, options)
            made = self.kind(rows, **options)
        except InputError as error:
            wrong = wrong_rows(parsed, survey.names, survey.n_leaves, self.asked.of_pairs)
            if not len(wrong[0]):
                place = {} if error.row is None else parsed.place(error.row)
                raise InputError(error.reason, path=parsed.source, leaves=error.leaves, **place) from None
            if not self.asked.skip_bad:
                raise first_of(parsed, wrong) from None
            parsed.pass_over(wrong)
            persons, options["weights"] = self._beside(parsed, number, options)
            made = self.kind(_narrow(parsed.rows), **options)
        return Block(made, file, persons)

    def _beside(self, parsed: Parsed, number: Any, options: dict[str, Any]) -> tuple[Any, Any]:
        """The person of each row, and its weight."""
        persons = None
        if number is not None:
            if parsed.groups is None:
                raise InputError("says of no row whose answer it is, but other files do", path=parsed.source)
            texts, codes = persons_in(parsed)
            persons = np.array([number[text] for text in texts], dtype=np.int64)[codes]
            if self.survey.numbered:
                options["groups"] = np.array([int(text) for text in texts], dtype=np.int64)[codes]
            else:
                options["groups"], options["group_names"] = persons, self.survey.persons
        weights = parsed.weights
        if weights is None and self.weighted:
            weights = np.ones(len(parsed.rows))
        return persons, weights

    def _check(self, file: int) -> None:
        path = self.files[file]
        if _state(path) != self.state[file]:
            raise InputError("the file has changed since it was scanned", path=name_of(path))


def kind_of(data: Any) -> type[Triplets] | type[Quadruplets] | None:
    """`Triplets` or `Quadruplets`, in memory or in files; None for other data."""
    if isinstance(data, Scan):
        return data.kind
    if isinstance(data, Triplets):
        return Triplets
    return Quadruplets if isinstance(data, Quadruplets) else None


def _narrow(rows: NDArray[Any]) -> NDArray[Any]:
    """Ids as int32 where they fit; others stay, for the error that names them."""
    fits = not len(rows) or (rows.min() >= 0 and rows.max() < 2**31)
    return np.ascontiguousarray(rows, dtype=np.int32) if fits else rows


def _state(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        raise FileNotFoundError(f"{name_of(path)}: there is no such file") from None
    return found.st_size, found.st_mtime_ns


def scan(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    kind: str = "triplet",
    items: Sequence[str] | Sequence[int] | None = None,
    *,
    memory: str | int | None = None,
    spill: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    **options: Unpack[FileOptions],
) -> Scan:
    """Comparisons that stay in their files: csv, tsv (also packed: .gz, .bz2, .xz, .zst), Parquet.

    `ordhc.similarity`, `cluster`, `score`, `bootstrap` and `select` take a scan instead of comparisons if the
    method is a sum over answers: AddS3, AddS4, the revenue, the share that is satisfied. The result is that
    of everything read at once, bit for bit.

    Parameters
    ----------
    paths
        A file, a pattern (``answers/*.parquet``), a folder (all files in it and below, by name), or several
        of these. Rows stand in the order of the files.
    kind
        "triplet" (the default), rows anchor,near,far; or "pairs", rows i,j,k,l: i and j are closer than k
        and l.
    items
        The columns in this order, by name or position; by default those with usual names.
    memory
        How many bytes sums of the scan may take, as "2GB", before they go to files. By default 1 GiB.
    spill
        The folder for these files, by default one for temporary files. Afterwards it is as it was.
    executor
        Who reads and adds up the files: any `concurrent.futures.Executor`, as of processes, loky or Dask
        (`client.get_executor()`), whose workers see the files and `spill`. By default this process. The
        results are the same, bit for bit.
    **options
        As in `ordhc.read_answers`: person, weights, na, names, n_leaves, ids_from, delimiter, header,
        comment, skip_bad. Columns that say which answer a row belongs to are not read.

    Returns
    -------
    Scan
        With `n_leaves`, `names`, `len`; iterating gives `Triplets` or `Quadruplets` block by block.

    Raises
    ------
    InputError
        No files, other endings than csv, tsv, txt and parquet, a file twice; when rows are read, what is
        wrong with them, with file and row.

    Examples
    --------
    >>> import ordhc, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("anchor,near,far,count\\n0,1,2,3\\n1,0,2,1\\n")
    >>> ordhc.similarity(ordhc.scan(path), "adds3", layout="condensed")
    array([ 4., -3., -1.])
    """
    asked = Asked.of("scan", FileOptions, kind, items, None, options)
    return scan_of(paths, asked, memory=memory, spill=spill, executor=executor)


def scan_of(paths: Any, asked: Asked, *, memory: Any = None, spill: Any = None, executor: Any = None) -> Scan:
    """The scan of some files, whose columns `asked.items` are in the order of their roles."""
    given = [name for name in _OF_ONE_FILE if getattr(asked, name) is not None]
    if given or asked.kind not in ("triplet", "pairs"):
        wrong = given[0] if given else f"kind={asked.kind!r}"
        raise InputError(
            f"{wrong} is for one file: a scan reads triplets and pairs, whose columns (items) are in order"
        )
    asked = checked(asked)
    if asked.n_leaves is not None and asked.names is not None and len(asked.names) != asked.n_leaves:
        raise InputError(f"{len(asked.names)} names for n_leaves = {asked.n_leaves}")
    for what, text in (("weights", asked.weights), ("person", asked.person)):
        if text is not None and not isinstance(text, str):
            raise InputError(f"{what} is {quoted(text)}; the name of a column is needed")
    check_characters(asked)
    header = None if asked.header is None else _checks.flag("header", asked.header)
    skip_bad = _checks.flag("skip_bad", asked.skip_bad)
    return Scan(files_of(paths), replace(asked, header=header, skip_bad=skip_bad), memory, spill, executor)


def is_several(path: Any) -> bool:
    """Whether a path is a folder, or a pattern for files."""
    if not isinstance(path, str) or path == "-":
        return False
    try:
        return Path(path).is_dir() or (glob.has_magic(path) and not Path(path).exists())
    except OSError:
        return False


def files_of(paths: Any) -> list[str]:
    """The files that paths, patterns and folders stand for, in order."""
    several = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not several:
        raise InputError("paths is empty; at least one file is needed")
    found: list[str] = []
    for given in several:
        path = _checks.path(given, "paths")
        if Path(path).is_dir():
            inside = sorted(
                str(file)
                for file in Path(path).rglob("*")
                if file.is_file() and _has_suffix(file.name) and not file.name.startswith((".", "_"))
            )
            if not inside:
                raise InputError(
                    f"there is no file of {', '.join(SUFFIXES)} in the folder", path=name_of(path)
                )
            found += inside
        elif glob.has_magic(path) and not Path(path).exists():
            names = glob.glob(path, recursive=True)  # noqa: PTH207 (a path may be absolute)
            matching = sorted(name for name in names if Path(name).is_file())
            if not matching:
                raise InputError("no file matches the pattern", path=name_of(path))
            found += matching
        else:
            found.append(path)
    first: dict[str, str] = {}
    for path in found:
        if not _has_suffix(path):
            told = f"a scan reads {', '.join(SUFFIXES)}; ordhc.read_answers reads others"
            raise InputError(told, path=name_of(path))
        if first.setdefault(os.path.realpath(path), path) is not path:
            raise InputError("is there twice; its rows would count twice", path=name_of(path))
    return found


def _has_suffix(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)
