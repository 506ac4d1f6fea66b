"""Read files of comparisons block by block: batches of Parquet rows, or pieces of text with whole rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from ordhc import _ordhc
from ordhc._progress import Progress
from ordhc.comparison.asked import Asked
from ordhc.comparison.frames import ANSWERS, PEOPLE, SAMPLERS, WEIGHTS
from ordhc.errors import InputError
from ordhc.io.arrays import Table, further_column, leaf_columns, pyarrow_parquet, rows_of
from ordhc.io.coded import KnownNames
from ordhc.io.files import check_unpacked, opened, state_of
from ordhc.io.guard import looks_like, reading
from ordhc.io.packed import HEAD, damage_of, format_of, unpacking
from ordhc.io.parsed import Parsed
from ordhc.io.paths import delimiter_of, name_of, without_query
from ordhc.io.remote import Remote
from ordhc.io.texts import drop_headers, first_cells, from_text

#: Parquet rows to read at a time: few enough that the memory allocator reuses the memory of their arrays.
ROWS = 1 << 17
#: The number of bytes of text to read at a time, and the maximum length of a row in bytes.
BYTES, LONGEST_ROW = 1 << 22, 1 << 28
#: The first piece of a text has at least this number of lines, which show the delimiter and the header.
BEGINNING = 30


@dataclass(frozen=True)
class Piece:
    """A file, or some row groups of a Parquet file."""

    path: str
    #: The index of the file in `Scan.files`.
    file: int
    #: The first row group, and the end of the row groups (excluded); None for the whole file.
    groups: tuple[int, int] | None = None


def adjacent_merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Merge pieces with adjacent row groups of one URL, so that the file is opened once."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1].groups if found and found[-1].file == piece.file else None
        if isinstance(piece.path, Remote) and last and piece.groups and last[1] == piece.groups[0]:
            found[-1] = replace(piece, groups=(last[0], piece.groups[1]))
        else:
            found.append(piece)
    return found


def is_parquet(path: str) -> bool:
    return without_query(path).lower().endswith(".parquet")


def read_piece(
    piece: Piece, asked: Asked, *, whole: bool = False, progress: Progress | None = None
) -> Iterator[Parsed]:
    """Read the rows of a piece, block by block.

    `whole` is True if the caller keeps all rows in memory. Then the number of each row's answer is also read,
    and the size of unpacked files is limited.
    """
    read = _of_parquet if is_parquet(piece.path) else _of_text
    for parsed in read(piece, asked, whole, progress or _silent):
        parsed.shift(asked.ids_from)
        yield parsed


def _silent(done: float) -> None: ...


#: Types of ids whose minimum and maximum are plain integers in the footer of a Parquet file.
_IDS = {"int32", "int64", "uint32", "uint64"}


class _Batches(Table):
    def __init__(self, path: str, *, whole: bool = False) -> None:
        pyarrow_parquet()
        import pyarrow

        self._whole = whole
        source = name_of(path)
        try:
            # Without these options, pyarrow would keep whole row groups in memory.
            where = (
                pyarrow.PythonFile(path.open(anywhere=True), mode="r") if isinstance(path, Remote) else path
            )
            # Each read from a remote store has a delay, so these reads are larger.
            self._open(source, where, pre_buffer=False, buffer_size=1 << 20 if where is path else 1 << 22)
        except (pyarrow.ArrowException, OSError) as error:
            if isinstance(error, FileNotFoundError | PermissionError):
                raise
            with opened(path) as stream:
                found = looks_like(stream.read(1 << 16))
            like = f"; it looks like {found[0]}" if found else ""
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"the Parquet file cannot be read: {reason}{like}", path=source) from error
        if whole:
            check_unpacked(self.n_rows * 8, source)
        self._batch: Any = None

    def find(self, names: Sequence[str]) -> str | None:
        return None if tuple(names) == ANSWERS and not self._whole else super().find(names)

    def column(self, name: str) -> Any:
        import pyarrow

        return pyarrow.chunked_array([self._batch.column(name)])

    def batches(self, groups: tuple[int, int] | None, columns: Sequence[str]) -> Iterator[int]:
        """Read the batches one after the other; yield the number of the first row of each."""
        for name in columns:
            check_unpacked(self._longest.get(name, 0), self.source)
        at_once = self._rows_at_once(columns, ROWS)
        first, end = groups or (0, len(self.groups))
        row = sum(group.n_rows for group in self.groups[:first])
        for group in range(first, end):
            for batch in self._file.iter_batches(
                at_once, row_groups=[group], columns=columns, use_threads=False
            ):
                self._batch = batch
                yield row
                row += batch.num_rows


def _of_parquet(piece: Piece, asked: Asked, whole: bool, progress: Progress) -> Iterator[Parsed]:
    source = name_of(piece.path)
    with reading(source, "comparisons"):
        table = _Batches(piece.path, whole=whole)
        groups = range(*(piece.groups or (0, len(table.groups))))
        before = sum(group.n_rows for group in table.groups[: groups.start])
        n_rows = max(1, sum(table.groups[group].n_rows for group in groups))
        wanted, _ = leaf_columns(table, asked)
        further = _further(table, asked, wanted, whole)
        known = KnownNames()
        batches = table.batches(piece.groups, list(dict.fromkeys([*wanted, *further])))
    while True:
        # `progress` is called outside of `reading`, because its errors are not errors of the file.
        with reading(source, "comparisons"):
            first = next(batches, None)
            if first is None:
                return
            try:
                parsed = rows_of(table, asked, known)
            except InputError as error:
                raise _moved(error, first) from None
            parsed.first = first
            parsed.missing = [(row + first, word) for row, word in parsed.missing]
            drop_headers(parsed, asked)
            known.add(parsed.names or ())
        progress((first - before) / n_rows)
        yield parsed


def _further(table: Table, asked: Asked, wanted: list[str], whole: bool = False) -> list[str]:
    roles = [(asked.weights, WEIGHTS), (asked.person, PEOPLE)]
    if whole:
        roles += [(asked.answer, ANSWERS), (None, SAMPLERS)]
    found = [further_column(table, given, known, wanted) for given, known in roles]
    return [column for column in found if column is not None]


def _of_text(piece: Piece, asked: Asked, whole: bool, progress: Progress) -> Iterator[Parsed]:
    path, ids = piece.path, None
    source = name_of(path)
    asked = replace(asked, delimiter=delimiter_of(path, asked.delimiter))
    beginning, known_lines = b"", 0
    for block, lines in _text_blocks(path, asked, whole, progress):
        # Nearly all pieces end with a line break, and so are not copied.
        lined = block if block.endswith(b"\n") else block + b"\n"
        if (
            asked.delimiter is not None
            and _ordhc.end_of_first_row(lined, asked.delimiter, asked.comment) is None
        ):
            continue
        with reading(source, "comparisons", block):
            try:
                parsed = from_text(beginning + block, source, asked, ids=ids)
            except InputError as error:
                raise _moved(error, lines - known_lines) from None
        parsed.first = lines - known_lines
        parsed.missing = [(line + parsed.first, word) for line, word in parsed.missing]
        parsed.bad = [(line + parsed.first, reason) for line, reason in parsed.bad]
        if not whole:
            parsed.answers = None
        if (not beginning and asked.header is None) or asked.delimiter is None:
            asked = replace(asked, delimiter=parsed.delimiter, header=parsed.has_header)
        if asked.header and not beginning:
            assert asked.delimiter is not None
            ended = _ordhc.end_of_first_row(lined, asked.delimiter, asked.comment)
            assert ended is not None
            beginning, known_lines = lined[: ended[0]], ended[1]
        if ids is None and len(parsed.rows):
            ids = parsed.names is None
        drop_headers(parsed, asked)
        yield parsed


def _text_blocks(path: str, asked: Asked, whole: bool, progress: Progress) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of text with whole rows, and the number of lines before each piece."""
    source, size, unpacked = name_of(path), max(1, state_of(path)[0]), 0
    rest, lines, start = b"", 0, True
    with ExitStack() as stack:
        with reading(source, "a file"):
            file = stack.enter_context(opened(path))
            packed = format_of(file.read(HEAD))
            file.seek(0)
            with damage_of(packed, source):
                stream = unpacking(file, packed)
        while True:
            with reading(source, "a file"), damage_of(packed, source):
                more = stream.read(BYTES)
            unpacked += len(more)
            if whole and packed is not None:
                check_unpacked(unpacked, source)
            # The position in a compressed file counts compressed bytes.
            progress(min(1.0, file.tell() / size))
            data = rest + more
            if start:
                data = data.removeprefix(b"\xef\xbb\xbf")
                if not data.strip() and not more:
                    raise InputError("the file is empty", path=source)
            if not more:
                if data.strip():
                    yield data, lines
                return
            at, count = _cut(data, asked.delimiter, asked.comment)
            if at == 0 or (start and count < BEGINNING):
                if len(data) > LONGEST_ROW:
                    reason = f"a row is longer than {LONGEST_ROW:,} bytes; a quote may be missing"
                    raise InputError(reason, path=source, line=lines + 1)
                rest = data
                continue
            start = False
            yield data[:at], lines
            rest, lines = data[at:], lines + count


def _cut(data: bytes, delimiter: str | None, comment: str | None) -> tuple[int, int]:
    if b'"' not in data and b"\n" in data:
        at = data.rfind(b"\n") + 1
        return at, data.count(b"\n", 0, at)
    if delimiter is not None:
        return _ordhc.start_of_last_row(data, delimiter, comment)
    # The delimiter is unknown in the first piece. An even number of quotes means that no quote is open.
    at = len(data)
    while (at := data.rfind(b"\n", 0, at) + 1) and data.count(b'"', 0, at) % 2:
        at -= 1
    return at, data.count(b"\n", 0, at)


def _moved(error: InputError, by: int) -> InputError:
    """Return an error with its row and line counted from the start of the file, not of the piece."""
    row = None if error.row is None else error.row + by
    line = None if error.line is None else error.line + by
    return InputError(error.reason, path=error.path, row=row, line=line, leaves=error.leaves)


def columns_of_file(path: str, asked: Asked) -> list[str]:
    """Return the names of a file's columns; without a header, the cells of the first row."""
    source = name_of(path)
    with reading(source, "comparisons"):
        if is_parquet(path):
            return _Batches(path).column_names
        blocks = _text_blocks(path, asked, False, _silent)
        return first_cells(next(blocks)[0], delimiter_of(path, asked.delimiter), asked.comment)


def row_groups(path: str) -> int:
    return len(_Batches(path).groups)


def whole_ids(path: str, asked: Asked) -> tuple[int, int] | None:
    """Return the number of rows and the largest id of a Parquet file from its statistics, or None.

    The statistics are sufficient if ids are integers of 32 or 64 bits and begin with 0, if no id is missing,
    and if there are no weights or people.
    """
    with reading(name_of(path), "comparisons"):
        table = _Batches(path)
        wanted, _ = leaf_columns(table, asked)
        kinds = {name: str(table.schema.field(name).type) for name in wanted}
        if not set(kinds.values()) <= _IDS or _further(table, asked, wanted):
            return None
        ids = set()
        for facts in table.groups:
            columns = {column.name: column for column in facts.columns}
            for name, kind in kinds.items():
                column = columns.get(name)
                if column is None or column.n_missing != 0:
                    return None
                for value in (column.smallest, column.largest):
                    if value is None or 8 * len(value) != int(kind[-2:]):
                        return None
                    ids.add(int.from_bytes(value, "little", signed=kind.startswith("int")))
        return (table.n_rows, max(ids)) if ids and min(ids) == 0 else None
