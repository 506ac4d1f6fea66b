"""Read rows of comparisons from npz, npy and Parquet files."""

import io as bytes_io
import math
import zipfile
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import array as checked_array
from ordhc._checks import quoted
from ordhc._checks import text as checked_text
from ordhc._signals import interrupts_later
from ordhc.comparison.asked import ITEMS, KINDS, Asked
from ordhc.comparison.coded import Column
from ordhc.comparison.frames import ANSWERS, PEOPLE, SAMPLERS, WEIGHTS, are_adaptive
from ordhc.comparison.ids import as_ids
from ordhc.errors import InputError, MissingExtraError
from ordhc.io.coded import KnownNames, is_text, numbered_texts, of_arrow
from ordhc.io.files import check_unpacked, max_unpacked
from ordhc.io.footer import row_groups_of
from ordhc.io.guard import looks_like
from ordhc.io.parsed import LITERAL, Parsed
from ordhc.io.sheet import Sheet, listed, located, refuse_quadruplets, unknown_column

#: Encodings of Parquet in which pyarrow can read text as dictionary arrays (each distinct text once).
_CODED = {"PLAIN", "RLE", "BIT_PACKED", "RLE_DICTIONARY", "PLAIN_DICTIONARY"}
_ROWS = ("rows", "triplets", "quadruplets", "data", "X", "arr_0")


def load_array(data: bytes, source: str) -> NDArray[Any]:
    """Return the array in an npy file; refuse a header that claims more data than the file has."""
    if not data.startswith(b"\x93NUMPY"):
        raise _other_format(source, ".npy", data)
    stream = bytes_io.BytesIO(data)
    try:
        major, _ = np.lib.format.read_magic(stream)
        if major not in (1, 2, 3):
            raise ValueError(f"version {major} is unknown")
        read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    except Exception as error:
        raise InputError(f"the file is cut or damaged: {quoted(str(error))}", path=source) from error
    if dtype.hasobject:
        raise InputError("has Python objects, which are not read; write numbers or text", path=source)
    size = math.prod(map(int, shape), start=dtype.itemsize)
    if size < 0 or size > len(data) - stream.tell():
        reason = f"the file is cut or damaged: its array of shape {quoted(shape)} needs {size:,} bytes"
        raise InputError(reason, path=source)
    stream.seek(0)
    found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return found


def load_arrays(data: bytes, source: str) -> dict[str, NDArray[Any]]:
    if not data.startswith(b"PK"):
        raise _other_format(source, ".npz", data)
    try:
        with zipfile.ZipFile(bytes_io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            if not members:
                raise _other_format(source, ".npz", data)
            check_unpacked(sum(member.file_size for member in members), source)
            arrays = {}
            for member in members:
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as stream:
                    content = stream.read(member.file_size + 1)
                arrays[name] = load_array(content, f"{source}: {quoted(name)}")
            return arrays
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"the file is cut or damaged: {quoted(str(error))}", path=source) from error


def _other_format(source: str, suffix: str, data: bytes) -> InputError:
    found = looks_like(data)
    like = f"; it looks like {found[0]}: {found[1]}" if found else ""
    return InputError(f"is not a {suffix} file{like}", path=source)


def from_arrays(data: bytes, source: str, suffix: str, asked: Asked) -> tuple[Parsed, NDArray[Any] | None]:
    for option, given in (("answer", asked.answer), ("person", asked.person), ("weights", asked.weights)):
        if given is not None:
            reason = f"{suffix} has no named columns; use csv, Parquet, or an array `{option}s` in npz"
            raise InputError(reason, path=source)
    if suffix == ".npy":
        return _rows(load_array(data, source), source, asked, {}), None
    arrays = load_arrays(data, source)
    key = next((key for key in _ROWS if key in arrays), None)
    if key is None and len(arrays) == 1 and next(iter(arrays.values())).ndim == 2:
        key = next(iter(arrays))
    if key is None:
        raise InputError(
            f"the arrays are {listed(list(arrays))}; one of them must have the name {' or '.join(_ROWS)}",
            path=source,
        )
    parsed = _rows(arrays[key], source, asked, arrays)
    responses = next((arrays[key] for key in ("y", "target", "response") if key in arrays), None)
    return parsed, responses


def _rows(table: NDArray[Any], source: str, asked: Asked, arrays: dict[str, Any]) -> Parsed:
    width = KINDS[asked.kind] or (table.shape[1] if table.ndim == 2 else 0)
    columns = tuple(ITEMS[asked.kind][0] if ITEMS[asked.kind] else (f"column {at}" for at in range(width)))
    try:
        rows, names = as_ids(table, width, columns, None)
    except InputError as error:
        raise located(error, source) from None
    given = texts_of(arrays, "names", source)
    n_leaves = None
    if "n_leaves" in arrays:
        if arrays["n_leaves"].size != 1 or arrays["n_leaves"].dtype.kind not in "iu":
            raise InputError(f"n_leaves is {quoted(arrays['n_leaves'])}, not a whole number", path=source)
        n_leaves = int(arrays["n_leaves"].ravel()[0])
    parsed = Parsed(source, rows.astype(np.int64), names, n_leaves=n_leaves, own_names=given)
    for name in ("weights", "answers", "groups"):
        values = arrays.get(name)
        if values is not None and values.shape != (len(rows),):
            reason = f"{name} have shape {values.shape}; one value for each of {len(rows):,} rows is needed"
            raise InputError(reason, path=source)
        setattr(parsed, name, values)
    parsed.group_names = texts_of(arrays, "group_names", source)
    parsed.adaptive = bool(np.any(arrays["adaptive"])) if "adaptive" in arrays else None
    if parsed.group_names is not None and parsed.groups is None:
        raise InputError("the file has group_names, but no groups: write both", path=source)
    return parsed


def texts_of(arrays: dict[str, Any], name: str, source: str) -> tuple[str, ...] | None:
    """Return the texts that `texts_to` stored in an npz file under `name`; None if there are none."""
    if name in arrays:
        if arrays[name].dtype.kind not in "UT" or arrays[name].ndim != 1:
            raise InputError(
                f"{name} has type {arrays[name].dtype} and shape {arrays[name].shape}; text is needed, (n,)",
                path=source,
            )
        try:
            return tuple(checked_text(name, text) for text in checked_array(name, arrays[name]).tolist())
        except InputError as error:
            raise located(error, source) from None
    if f"{name}_utf8" not in arrays or f"{name}_ends" not in arrays:
        return None
    data = arrays[f"{name}_utf8"].astype(np.uint8).tobytes()
    ends = [0, *arrays[f"{name}_ends"].ravel().astype(np.int64).tolist()]
    if any(start > end for start, end in pairwise(ends)) or ends[-1] != len(data):
        raise InputError(f"{name}_ends must ascend to {len(data)}, the length of {name}_utf8", path=source)
    try:
        return tuple(data[start:end].decode() for start, end in pairwise(ends))
    except UnicodeDecodeError:
        raise InputError(f"{name}_utf8 is not UTF-8 text", path=source) from None


def texts_to(texts: Sequence[str], name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that store texts in an npz file under `name`.

    The array is `NAME`, an array of text, if possible. But such an array loses NULs at the end of a text, and
    every element takes the memory of the longest text. In these cases there are two arrays: `NAME_utf8`, the
    bytes of all texts, and `NAME_ends`, the end of each text.
    """
    longest = max(map(len, texts), default=0)
    if longest <= 1000 and not any(text.endswith("\0") for text in texts):
        return {name: np.array(texts, dtype=np.str_)}
    parts = [text.encode() for text in texts]
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return {f"{name}_utf8": np.frombuffer(b"".join(parts), dtype=np.uint8), f"{name}_ends": ends}


def pyarrow_parquet() -> Any:
    try:
        with interrupts_later():
            import pyarrow.parquet
    except ImportError:
        raise MissingExtraError.of("Parquet", "pyarrow", "parquet") from None
    return pyarrow.parquet


class Table:
    """The columns of a Parquet file, each read when it is used."""

    def __init__(self, data: bytes, source: str) -> None:
        pyarrow_parquet()
        import pyarrow

        try:
            self._open(source, pyarrow.BufferReader(data))
        except (pyarrow.ArrowException, OSError) as error:
            found = looks_like(data)
            like = f"; it looks like {found[0]}" if found and not data.startswith(b"PAR1") else ""
            reason = quoted(str(error).splitlines()[0] if str(error) else "")
            raise InputError(f"the Parquet file cannot be read: {reason}{like}", path=source) from error
        check_unpacked(self.n_rows * 8, source)

    def _open(self, source: str, where: Any, **options: Any) -> None:
        """Open the file so that pyarrow reads text as dictionary arrays: each distinct text is stored once.

        Otherwise a small file of repeated texts could fill the memory.
        """
        import pyarrow

        parquet = pyarrow_parquet()
        file = parquet.ParquetFile(where, **options)
        self.groups = row_groups_of(pyarrow.OSFile(where) if isinstance(where, str) else where)
        encodings: dict[str, set[str]] = {}
        #: For each column, an upper limit of the bytes of its longest text.
        self._longest: dict[str, int] = {}
        self._unpacked: dict[str, int] = {}
        for column in (column for group in self.groups for column in group.columns):
            name = column.name
            encodings.setdefault(name, set()).update(column.encodings)
            self._longest[name] = max(self._longest.get(name, 0), column.size)
            self._unpacked[name] = self._unpacked.get(name, 0) + column.size
        stored = file.metadata.schema
        types = {stored.column(at).path: stored.column(at).physical_type for at in range(len(stored))}
        coded = [
            name for name, used in encodings.items() if types.get(name) == "BYTE_ARRAY" and used <= _CODED
        ]
        # In other encodings texts can share their beginnings, so a few bytes can unpack to gigabytes.
        self._without_codes = [name for name in encodings if not encodings[name] <= _CODED]
        self._file = parquet.ParquetFile(where, read_dictionary=coded, **options) if coded else file
        self.source, self.schema = source, self._file.schema_arrow
        self.column_names = list(self.schema.names)
        self.n_rows = sum(group.n_rows for group in self.groups)
        self._sheet = Sheet(source, [self.column_names], [1])

    def _rows_at_once(self, columns: Sequence[str], most: int) -> int:
        """Return the number of rows to read at once: `most`, or fewer if columns have long texts.

        The texts of a column must not exceed `max_unpacked()` / 16 bytes.
        """
        size = max((self._longest[name] for name in columns if name in self._without_codes), default=1)
        return max(1, min(most, max_unpacked() // (16 * max(size, 1))))

    def find(self, names: Sequence[str]) -> str | None:
        at = self._sheet.find(names)
        return None if at is None else self.column_names[at]

    def named(self, column: str) -> str:
        """Return a column's name as the file spells it; the column must exist."""
        found = self.find([column])
        if found is None:
            raise unknown_column(self.source, column, self.column_names)
        return found

    def index(self) -> str | None:
        """Return the column that pandas wrote for the index of a data frame, or None."""
        try:
            index_columns = (self.schema.pandas_metadata or {}).get("index_columns", [])
        except ValueError:
            return None
        return next(
            (column for column in index_columns if isinstance(column, str) and column in self.column_names),
            None,
        )

    def cells(self, column: str) -> Column | list[Any]:
        found = self.column(column)
        return of_arrow(found, self.source) if is_text(found.type) else list(found.to_pylist())

    def column(self, name: str) -> Any:
        import pyarrow

        check_unpacked(self._unpacked.get(name, 0), self.source)
        at_once = self._rows_at_once([name], 1 << 16)
        if name not in self._without_codes or at_once >= self.n_rows:
            return self._file.read(columns=[name], use_threads=False).column(0)
        chunks, size = [], 0
        for batch in self._file.iter_batches(at_once, columns=[name], use_threads=False):
            chunks.append(batch.column(0))
            size += chunks[-1].nbytes
            check_unpacked(size, self.source)
        return pyarrow.chunked_array(chunks)

    def values(self, column: str) -> tuple[NDArray[Any] | Column, NDArray[np.bool_]]:
        import pyarrow
        import pyarrow.compute

        if self.column_names.count(column) > 1:
            raise InputError(f"two columns are called {quoted(column)}; rename one", path=self.source)
        try:
            found = self.column(column)
            kind = found.type
            if is_text(kind):
                texts = of_arrow(found, self.source)
                return texts, texts.places < 0
            if pyarrow.types.is_dictionary(kind):
                found = found.cast(kind.value_type)
                kind = found.type
            if pyarrow.types.is_integer(kind) and not found.null_count:
                return found.to_numpy(), np.zeros(len(found), dtype=bool)
            missing = np.asarray(found.is_null(nan_is_null=True))
            if pyarrow.types.is_decimal(kind):
                found = found.cast(pyarrow.float64())
                kind = found.type
            if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind):
                return np.asarray(found.fill_null(0).to_numpy()), missing
        except pyarrow.ArrowException as error:
            raise InputError(
                f"the column {quoted(column)} cannot be read: {quoted(str(error))}", path=self.source
            ) from error
        raise InputError(
            f"the column {quoted(column)} is {quoted(str(kind))}, neither numbers nor text", path=self.source
        )


def rows_of(table: Table, asked: Asked, known: KnownNames | None = None) -> Parsed:
    """Return the rows of a Parquet table.

    If the table is read in batches, these are the rows of the current batch, and `known` has the names of
    leaves in earlier batches. Words that mean a missing leaf, such as NA, are not among these names.
    """
    source, missing = table.source, set(asked.na or ())
    wanted, literal = leaf_columns(table, asked)
    if known is not None and known.names:
        coded = known.rows({column: table.column(column) for column in wanted})
        if coded is not None:
            parsed = Parsed(source, coded, known.names)  # type: ignore[arg-type]
            _add_further(parsed, table, np.arange(len(coded)), wanted, asked)
            return parsed
    parts = [table.values(column) for column in wanted]
    absent = np.zeros(len(parts[0][0]), dtype=bool)
    words: dict[int, str] = {}
    for values, mask in parts:
        absent |= mask
        if isinstance(values, Column) and not literal:
            # Rows without text have the index -1, so the last word must be the empty text.
            said = [*(text.strip() for text in values.different), ""]
            blank = np.array([not word or word in missing for word in said])[values.places]
            absent |= blank
            for row in np.flatnonzero(blank).tolist():
                words.setdefault(row, said[values.places[row]])
    kept = np.flatnonzero(~absent)
    columns = [values[kept] if absent.any() else values for values, _ in parts]
    texts = [values for values in columns if isinstance(values, Column)]
    rows: NDArray[Any]
    names: Sequence[str] | None
    try:
        if len(kept) and len(texts) == len(columns):
            rows, names = numbered_texts(texts)
        else:
            # `as_ids` raises an error for a mixture of names and ids. The error has the number of the row.
            plain = [values.objects() if isinstance(values, Column) else values for values in columns]
            cells = np.stack([values.astype(object) if texts else values for values in plain], axis=1)
            rows, names = as_ids(cells, len(wanted), tuple(wanted), None)
    except InputError as error:
        if error.row is not None:
            error = InputError(error.reason, row=int(kept[error.row]), leaves=error.leaves)
        raise located(error, source) from None
    ids: Any = rows if rows.dtype == np.int32 else rows.astype(np.int64, copy=False)
    parsed = Parsed(source, ids, names)
    if absent.any():
        parsed.numbers = kept
        parsed.missing = [(row, words.get(row, "")) for row in np.flatnonzero(absent).tolist()]
    _add_further(parsed, table, kept, wanted, asked)
    return parsed


def leaf_columns(table: Table, asked: Asked) -> tuple[list[str], bool]:
    known = ITEMS[asked.kind]
    if asked.items is not None:
        wanted = []
        for column in asked.items:
            if isinstance(column, int):
                count = len(table.column_names)
                if not 0 <= column < count:
                    raise InputError(
                        f"there is no column {column}; the file has {count}, counted from 0",
                        path=table.source,
                    )
                wanted.append(table.column_names[column])
            else:
                wanted.append(table.named(column))
        return wanted, all(column.lower().endswith(LITERAL) for column in wanted)
    for ending in ("", LITERAL):
        for names in known:
            candidates = [table.find([name + ending]) for name in names]
            if None not in candidates:
                if names == ["i", "j", "k"]:
                    refuse_quadruplets(table.column_names, table.source)
                return [name for name in candidates if name is not None], bool(ending)
    if known:
        sets = " or ".join(",".join(names) for names in known[:4])
        raise InputError(
            f"the columns are {listed(table.column_names)}; {sets} are needed", path=table.source
        )
    further_names = ((asked.weights, asked.answer, asked.person), WEIGHTS, ANSWERS, PEOPLE, SAMPLERS)
    other = {table.find([name for name in names if name]) for names in further_names}
    return [column for column in table.column_names if column not in other], False


def further_column(table: Table, given: str | None, known: Sequence[str], wanted: list[str]) -> str | None:
    found = table.named(given) if given else table.find(known)
    return None if found in wanted else found


def _add_further(
    parsed: Parsed, table: Table, kept: NDArray[np.intp], wanted: list[str], asked: Asked
) -> None:
    weighted = [name for name in WEIGHTS if table.find([name]) not in (None, *wanted)]
    if asked.weights is None and len(weighted) > 1:
        raise InputError(
            f"both `{weighted[0]}` and `{weighted[1]}` may be the weights; say which", path=parsed.source
        )
    if (column := further_column(table, asked.weights, WEIGHTS, wanted)) is not None:
        values, absent = table.values(column)
        if absent[kept].any():
            row = int(kept[absent[kept].argmax()])
            raise InputError(f"the weight in column {quoted(column)} is missing", path=parsed.source, row=row)
        parsed.weights = (values.objects() if isinstance(values, Column) else values)[kept]
    if (column := further_column(table, asked.answer, ANSWERS, wanted)) is not None:
        answers = _whole_or_text(table, column)[kept]
        parsed.answers = answers.objects() if isinstance(answers, Column) else answers
    if (column := further_column(table, asked.person, PEOPLE, wanted)) is not None:
        values = _whole_or_text(table, column)[kept]
        if isinstance(values, Column):
            codes, texts = numbered_texts([values])
            parsed.groups, parsed.group_names = codes[:, 0], tuple(texts)
        else:
            parsed.groups = values
    if (column := table.find(list(SAMPLERS))) is not None and column not in wanted:
        parsed.adaptive = are_adaptive(_whole_or_text(table, column)[kept].tolist())


def _whole_or_text(table: Table, column: str) -> NDArray[Any] | Column:
    values, absent = table.values(column)
    if isinstance(values, Column):
        return values.mapped(lambda text: text or "")
    if not absent.any() and values.dtype.kind in "iu":
        return values
    return Column.of(
        ["" if gone else str(value) for value, gone in zip(values.tolist(), absent.tolist(), strict=True)]
    )
