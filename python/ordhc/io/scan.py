"""Scans: comparisons that stay in their files, and are read block by block."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._checks import quoted
from ordhc._progress import Progress, part, shows_progress
from ordhc._workers import as_executor
from ordhc.comparison.asked import Asked, FileOptions
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.frames import ANSWERS, SAMPLERS
from ordhc.errors import InputError
from ordhc.io.blocks import Piece, adjacent_merged, columns_of_file, is_parquet, read_piece, row_groups
from ordhc.io.comparisons import checked
from ordhc.io.files import state_of
from ordhc.io.joined import Growing
from ordhc.io.parsed import Parsed, first_of, persons_in, wrong_rows
from ordhc.io.parts import fingerprint, resume_folder
from ordhc.io.paths import PACKED, checked_path, is_remote, name_of, without_query
from ordhc.io.remote import Remote, is_group, remote_files, storage
from ordhc.io.spill import Spill, bytes_of
from ordhc.io.survey import Survey, surveyed, warn_of
from ordhc.io.texts import check_characters

#: The share of the first pass over the files in the reported progress.
_SURVEYING = 0.4
#: Commands read single files of at least this number of bytes block by block, as a scan.
LARGE = 1 << 25
SUFFIXES = (
    *(f"{text}{packed}" for text in (".csv", ".tsv", ".txt") for packed in ("", *PACKED)),
    ".parquet",
)
#: The number of URLs whose size and version are requested at the same time.
_AT_ONCE = 16
#: Fields of `Asked` that apply to single files only.
_OF_ONE_FILE = (
    "chosen", "chosen_as", "ranks", "n_ranked", "exclude", "format", "participants", "wide", "questions",
    "answer",
)  # fmt: skip


@dataclass(frozen=True)
class Block:
    """Consecutive comparisons of a file."""

    data: Triplets | Quadruplets
    #: The index of the file in `Scan.files`.
    file: int
    #: (m,) indices into `Scan.group_names`, or None if people are unknown.
    persons: NDArray[np.int64] | None

    def units(self, unit: str) -> NDArray[np.uint32]:
        """Return for each row the index of its file or, if `unit` is "group", of its person."""
        if unit == "file" or self.persons is None:
            return np.full(len(self.data), self.file, dtype=np.uint32)
        return self.persons.astype(np.uint32)


class Scan:
    """Comparisons that stay in their files, as `ordhc.scan` returns them.

    Files are read when their content is needed. The names, the number of leaves and the people are found in
    one pass over all files, when one of them is used for the first time.

    Attributes
    ----------
    files
        The paths of the files, in order.
    memory
        The maximum number of bytes in memory for sums over comparisons, such as similarities of all pairs.
        Larger sums are written to files.
    spill
        The folder for files of sums, or None for a temporary folder.
    executor
        The executor that reads the files and adds up comparisons, or None for this process. A pickled copy
        has no executor.
    resume
        The folder for finished parts of the work, or None.
    resumed
        A dict with the number of parts that were `"found"` in `resume`, and the number that were `"made"`.

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
        self,
        files: Sequence[str],
        asked: Asked,
        *,
        memory: Any = None,
        spill: Any = None,
        executor: Any = None,
        resume: Any = None,
    ) -> None:
        self.files = tuple(files)
        self.asked = asked
        self.memory, self.spill, self.executor = bytes_of(memory), Spill(spill).parent, as_executor(executor)
        self.resume = resume_folder(resume)
        self.resumed = {"found": 0, "made": 0}
        self.state: tuple[tuple[Any, ...], ...] = _states(self.files)
        #: The number of row groups of each Parquet file that was opened, by the index of the file.
        self._groups: dict[int, int] = {}
        self._survey: Survey | None = None
        self._has_warned = False
        #: A hash of the reading options `asked`, for `key`; None until it is needed.
        self._asked: str | None = None
        #: A hash of the reading options and of how names and ids map to leaves, for `key`; None until needed.
        self._leaves: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Workers receive copies. A worker must not warn again of skipped rows, and has no executor itself.
        return {**self.__dict__, "_has_warned": True, "executor": None}

    @property
    def kind(self) -> type[Triplets] | type[Quadruplets]:
        """The class of the comparisons, `Triplets` or `Quadruplets`."""
        return Quadruplets if self.asked.kind == "pairs" else Triplets

    @property
    def pieces(self) -> list[Piece]:
        """The parts that can be read separately: row groups of Parquet files, and whole other files."""
        found = []
        for at, path in enumerate(self.files):
            if is_parquet(path):
                self._check(at)
                if at not in self._groups:
                    self._groups[at] = row_groups(path)
                found += [Piece(path, at, (group, group + 1)) for group in range(self._groups[at])]
            else:
                found.append(Piece(path, at))
        return found

    @property
    def survey(self) -> Survey:
        """The leaves, names, people and weights of all rows, found in one pass over the files."""
        if self._survey is None:
            self._survey = surveyed(self)
        if not self._has_warned:
            self._has_warned = True
            warn_of(self._survey)
        return self._survey

    def surveying(self, whole: Progress | None) -> Progress | None:
        """Read all files to compute `survey`; return the callable for the progress of the caller's next work.

        `whole` receives the progress of both: first of the reading, then of the caller's work. If the survey
        is known, `whole` itself is returned. If `whole` is None, the result is None, and no file is read now.
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
        """The names of the leaves, as given or in order of first appearance; None if the files have ids."""
        return self.survey.names

    @property
    def weighted(self) -> bool:
        """True if a file has weights."""
        return self.survey.weighted

    @property
    def group_names(self) -> tuple[str, ...] | None:
        """The people in order of first appearance, or None if unknown."""
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

    @shows_progress("reading")
    @_checks.remedied("give the scan itself to cluster, score, bootstrap or select")
    def read(self, *, progress: Progress | bool | None = None) -> Triplets | Quadruplets:
        """Read all comparisons into memory, in the order of the files.

        Parameters
        ----------
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Returns
        -------
        Triplets or Quadruplets

        Raises
        ------
        MemoryError
            There is not enough memory.
        """
        after = self.surveying(_checks.callback("progress", progress))
        survey, width = self.survey, 3 if self.kind is Triplets else 4
        rows, weights, groups = Growing(np.int32, width), Growing(np.float64), Growing(np.int32)
        _ordhc.check_memory("scan.read()", len(self) * (4 * width + (8 if survey.weighted else 0)))
        adaptive, group_names = False, None
        for block in self.blocks(progress=after):
            data = block.data
            rows.add(data.rows)
            if survey.weighted:
                weights.add(np.ones(len(data)) if data.weights is None else data.weights)
            if data.groups is not None:
                groups.add(data.groups)
                group_names = data.group_names
            adaptive = adaptive or data.adaptive
        made: Triplets | Quadruplets = self.kind(
            rows.array(),
            n_leaves=self.n_leaves,
            names=self.names,
            weights=weights.array() if survey.weighted else None,
            groups=groups.array() if survey.persons is not None else None,
            group_names=group_names,
            adaptive=adaptive,
            copy=False,
        )
        return made

    def without_rows(self) -> Triplets | Quadruplets:
        """Return an empty set of comparisons of the same leaves."""
        none: Any = np.zeros((0, 3 if self.kind is Triplets else 4), dtype=np.int32)
        found: Triplets | Quadruplets = self.kind(none, n_leaves=self.n_leaves, names=self.names)
        return found

    def without_executor(self, *, resume: bool = True) -> Scan:
        """Return a copy of the scan that works in this process, without its executor.

        If `resume` is False, the copy also does not use the folder `Scan.resume` for finished parts of the
        work.
        """
        found = copy(self)
        found.executor = None
        found.resume = self.resume if resume else None
        return found

    @property
    def in_parts(self) -> bool:
        """True if the work is divided into parts, for an executor or for `resume`."""
        return self.executor is not None or self.resume is not None

    def key(self, pieces: Sequence[Piece], *, with_survey: bool = True) -> tuple[Any, ...]:
        """Return a tuple that determines the rows in `pieces`; its hash identifies stored results."""
        about: tuple[Any, ...]
        if not with_survey:
            if self._asked is None:
                self._asked = fingerprint(self.asked)
            about = (self._asked,)
        else:
            # The leaf of a name or id depends on all rows of the files, so `survey` reads them first.
            found = self.survey
            if self._leaves is None:
                codes = None if found.codes is None else (found.codes[0].tolist(), found.codes[1])
                self._leaves = fingerprint(self.asked, found.n_leaves, found.names, codes, found.persons)
            about = (self._leaves, found.weighted, found.whole)
        of: list[Any] = []
        for piece in pieces:
            path = piece.path
            which = path.identity if isinstance(path, Remote) else os.path.realpath(path)
            of.append(
                (hashlib.sha256(which.encode("utf-8", "surrogatepass")).hexdigest(), self.state[piece.file])
            )
            of.append(piece.groups)
        return (self.kind.__name__, about, *of)

    @shows_progress("reading")
    def blocks(
        self, pieces: Sequence[Piece] | None = None, *, progress: Progress | bool | None = None
    ) -> Iterator[Block]:
        """Yield the comparisons block by block, in the order of the files.

        Parameters
        ----------
        pieces
            The pieces to read; by default all.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Yields
        ------
        Block
        """
        progress = _checks.callback("progress", progress)
        survey = self.survey
        code = None if survey.names is None else _checks.LeafNumbers(survey.names)
        number = None if survey.persons is None else {who: at for at, who in enumerate(survey.persons)}
        checked: set[int] = set()
        done, total = 0, max(1, survey.n_rows)

        @lru_cache(maxsize=2)
        def leaves_of(names: tuple[str, ...]) -> NDArray[np.int32]:
            known: Mapping[str, int] = code or {}
            return np.array([known.get(name, -1 - at) for at, name in enumerate(names)], dtype=np.int32)

        for piece in adjacent_merged(self.pieces if pieces is None else pieces):
            if piece.file not in checked:
                checked.add(piece.file)
                self._check(piece.file)
            for parsed in read_piece(piece, self.asked):
                yield self._block(parsed, piece.file, None if code is None else leaves_of, number)
                done += len(parsed.rows)
                if progress is not None:
                    progress(min(1.0, done / total))

    def _block(self, parsed: Parsed, file: int, leaves_of: Any, number: Any) -> Block:
        survey = self.survey
        if survey.codes is not None:
            if self.asked.skip_bad:
                parsed.skip(wrong_rows(parsed, None, None, self.asked.kind == "pairs"))
            parsed.take_as_names(*survey.codes)
        rows: Any = parsed.rows
        if parsed.names is not None:
            if leaves_of is None:
                raise InputError("has names, but other files have ids", path=parsed.source)
            table: Any = leaves_of(tuple(parsed.names))
            rows = parsed.rows = table[parsed.rows] if len(parsed.rows) else parsed.rows
        if len(rows) and (parsed.names is not None or rows.dtype != np.int32):
            rows = _narrow(rows)
        options: dict[str, Any] = {"n_leaves": survey.n_leaves, "names": survey.names, "copy": False}
        try:
            persons, options["weights"] = self._persons_and_weights(parsed, number, options)
            made = self.kind(rows, **options)
        except InputError as error:
            wrong = wrong_rows(parsed, survey.names, survey.n_leaves, self.asked.kind == "pairs")
            if not len(wrong[0]):
                place = {} if error.row is None else parsed.place(error.row)
                raise InputError(error.reason, path=parsed.source, leaves=error.leaves, **place) from None
            if not self.asked.skip_bad:
                raise first_of(parsed, wrong) from None
            parsed.skip(wrong)
            persons, options["weights"] = self._persons_and_weights(parsed, number, options)
            made = self.kind(_narrow(parsed.rows), **options)
        return Block(made, file, persons)

    def _persons_and_weights(self, parsed: Parsed, number: Any, options: dict[str, Any]) -> tuple[Any, Any]:
        persons = None
        if number is not None:
            if parsed.groups is None:
                raise InputError("has no column of persons, but other files have one", path=parsed.source)
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
        if state_of(path) != self.state[file]:
            raise InputError("the file has changed since it was scanned; scan it again", path=name_of(path))


def kind_of(data: Any) -> type[Triplets] | type[Quadruplets] | None:
    if isinstance(data, Scan):
        return data.kind
    if isinstance(data, Triplets):
        return Triplets
    return Quadruplets if isinstance(data, Quadruplets) else None


def _narrow(rows: NDArray[Any]) -> NDArray[Any]:
    """Return ids as int32 if all fit; otherwise unchanged, so that the error shows the id."""
    fits = not len(rows) or (rows.min() >= 0 and rows.max() < 2**31)
    return np.ascontiguousarray(rows, dtype=np.int32) if fits else rows


def _states(files: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    if not any(isinstance(path, Remote) for path in files):
        return tuple(state_of(path) for path in files)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return tuple(threads.map(state_of, files))


@_checks.shows_options(FileOptions)
def scan(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    kind: str = "triplet",
    items: Sequence[str] | Sequence[int] | None = None,
    *,
    memory: str | int | None = None,
    spill: str | os.PathLike[str] | None = None,
    executor: Any = None,
    resume: str | os.PathLike[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[FileOptions],
) -> Scan:
    """Return comparisons that stay in their files, for data that are larger than memory.

    The files are csv, tsv or txt (also as .gz, .bz2, .xz or .zst), or Parquet. `ordhc.similarity`, `cluster`,
    `score`, `bootstrap` and `select` accept a scan in place of comparisons if the method or metric is a sum
    over answers: the similarities AddS3 and AddS4, the revenue of a tree, the share of satisfied answers.
    The result is the same, bit for bit, as for comparisons in memory.

    Parameters
    ----------
    paths
        A file, a pattern (``answers/*.parquet``), a folder (all files in it and below, sorted by name), or a
        list of these. Rows are in the order of the files. URLs (``s3://bucket/answers/*.parquet``, ``gs://``,
        ``https://``, any that fsspec knows) need the extra `remote`.
    kind
        "triplet" (the default) for rows anchor,near,far; or "pairs" for rows i,j,k,l: i and j are closer than
        k and l.
    items
        The columns in this order, by name or position; by default the columns with usual names.
    memory
        The maximum number of bytes in memory for sums over comparisons, as a number or as text such as "2GB".
        Larger sums are written to files. By default 1 GiB.
    spill
        The folder for files of sums. It is made if it is missing, and the files are removed after each call.
        By default a temporary folder.
    executor
        The workers that read the files and add up comparisons: a `concurrent.futures.Executor` (threads,
        processes, loky, MPI), a Dask client, a `joblib.Parallel`, or a pool of multiprocessing or Ray. All
        workers must be able to read the files and `spill`. By default this process does the work. Results are
        the same, bit for bit.
    resume
        A folder for finished parts of the work, made if it is missing. If a call was killed, repeat it with
        this folder: it reads only what is not finished, and the result is the same, bit for bit. A part is
        used again only if the files (path, size and time), the options, the method and the version of ordhc
        are unchanged. Delete the folder when you have the result. By default nothing is kept.
    storage_options
        Options of the URLs' file system, as in pandas: ``{"key": ..., "secret": ...}`` for s3, or
        ``{"anon": True}``. By default the store's own settings (environment, configuration files). The values
        never appear in a message or a file.
    **options
        As in `ordhc.read_answers`: person, weights, na, names, n_leaves, ids_from, delimiter, header,
        comment, skip_bad. A column with the number of each answer is not read.

    Returns
    -------
    Scan
        The comparisons. The scan has `n_leaves`, `names` and a length (the number of rows). Iteration yields
        `Triplets` or `Quadruplets`, block by block.

    Raises
    ------
    InputError
        There are no files, a file has another ending, or a file is given twice. Later, when files are read:
        a row is invalid (with file and row), a file has changed, or a store cannot be read.
    FileNotFoundError, PermissionError
        A file is missing; a store denies access.
    MissingExtraError
        A package for URLs is missing.

    Examples
    --------
    >>> import ordhc, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = path.write_text("anchor,near,far,count\\n0,1,2,3\\n1,0,2,1\\n")
    >>> ordhc.similarity(ordhc.scan(path), "adds3", layout="condensed")
    array([ 4., -3., -1.])
    """
    asked = Asked.of("scan", FileOptions, kind, items, None, options)
    return scan_of(
        paths,
        asked,
        storage_options=storage_options,
        memory=memory,
        spill=spill,
        executor=executor,
        resume=resume,
    )


def scan_of(paths: Any, asked: Asked, *, storage_options: Any = None, **how: Any) -> Scan:
    """Return the scan of files whose columns of items are in the order anchor, near, far or i, j, k, l.

    `how` has the keyword arguments of `Scan`.
    """
    given = [name for name in _OF_ONE_FILE if getattr(asked, name) is not None]
    if given or asked.kind not in ("triplet", "pairs"):
        wrong = given[0] if given else f"kind={asked.kind!r}"
        raise InputError(
            f"{wrong} is for one file that is read into memory; files that are read block by block (a scan) "
            "need the columns anchor,near,far, or i,j,k,l with kind='pairs'"
        )
    asked = checked(asked)
    if asked.n_leaves is not None and asked.names is not None and len(asked.names) != asked.n_leaves:
        raise InputError(f"{len(asked.names)} names, but n_leaves = {asked.n_leaves}: leave out n_leaves")
    for what, text in (("weights", asked.weights), ("person", asked.person)):
        if text is not None and not isinstance(text, str):
            raise InputError(f"{what} is {quoted(text)}; give the name of a column")
    check_characters(asked)
    header = None if asked.header is None else _checks.flag("header", asked.header)
    skip_bad = _checks.flag("skip_bad", asked.skip_bad)
    files = files_of(paths, storage(storage_options))
    if storage_options is not None and not any(isinstance(path, Remote) for path in files):
        raise InputError("storage_options is for URLs: leave it out")
    return Scan(files, replace(asked, header=header, skip_bad=skip_bad), **how)


def is_large(path: str, asked: Asked) -> bool:
    """Return True if commands should read a file block by block: it is large, and `ordhc.scan` can read it.

    Examples
    --------
    >>> is_large("no_such_file.csv", Asked())
    False
    """
    if not Path(path).is_file() or Path(path).stat().st_size < LARGE:
        return False
    options = any(getattr(asked, name) is not None for name in _OF_ONE_FILE)
    if options or asked.kind not in ("triplet", "pairs") or not _has_suffix(path):
        return False
    known = {name.strip().lower() for name in columns_of_file(path, asked)}
    return not known & {*ANSWERS, *SAMPLERS}


def is_several(path: Any) -> bool:
    if not isinstance(path, str) or path == "-":
        return False
    try:
        if Path(path).exists():
            return Path(path).is_dir()
    except OSError:
        return False
    return is_group(path) if is_remote(path) else glob.has_magic(path)


def files_of(paths: Any, options: Mapping[str, Any] | None = None) -> list[str]:
    several = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not several:
        raise InputError("paths is empty; at least one file is needed")
    found: list[str] = []
    for given in several:
        path = checked_path(given, "paths")
        if is_remote(path):
            found += remote_files(path, options or {}, SUFFIXES)
        elif Path(path).is_dir():
            inside = sorted(
                str(file)
                for file in Path(path).rglob("*")
                if file.is_file() and _has_suffix(file.name) and not file.name.startswith((".", "_"))
            )
            if not inside:
                raise InputError(
                    f"there is no file with the ending {', '.join(SUFFIXES)} in the folder",
                    path=name_of(path),
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
            reason = f"a scan reads {', '.join(SUFFIXES)}; use ordhc.read_answers for other files"
            raise InputError(reason, path=name_of(path))
        which = path.identity if isinstance(path, Remote) else os.path.realpath(path)
        if first.setdefault(which, path) is not path:
            raise InputError("is given twice, so its rows would count twice", path=name_of(path))
    return found


def _has_suffix(name: str) -> bool:
    return without_query(name).lower().endswith(SUFFIXES)
