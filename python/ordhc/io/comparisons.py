"""Comparisons from files, and to files."""

import io as bytes_io
import os
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparisons import Quadruplets, Triplets, unknown_name
from ordhc.errors import InputError, MissingExtraError
from ordhc.io.files import Source, name_of, read_bytes, suffix_of, write_bytes
from ordhc.io.names import as_names

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".npz", ".npy")
WEIGHTS = ("weight", "weights", "count", "counts", "votes", "n")
KNOWN: dict[type, list[list[str]]] = {
    Triplets: [
        ["anchor", "near", "far"],
        ["head", "winner", "loser"],
        ["anchor", "positive", "negative"],
        ["i", "j", "k"],
    ],
    Quadruplets: [["i", "j", "k", "l"], ["near_a", "near_b", "far_a", "far_b"]],
}

Kind = TypeVar("Kind", Triplets, Quadruplets)


def read_triplets(
    path: Source,
    columns: Sequence[str] | Sequence[int] | None = None,
    *,
    n_leaves: int | None = None,
    names: Sequence[str] | Source | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Triplets:
    """Read triplets from csv, tsv, text with blanks, Parquet, npz or npy.

    Parameters
    ----------
    path
        The file (csv and tsv also as .gz), "-" for standard input, or an open stream.
    columns
        The columns of anchor, near and far, by name or by position. By default `anchor,near,far`,
        `head,winner,loser` (Salmon), `anchor,positive,negative` or `i,j,k` in the header, or the three
        columns of a file without one.
    n_leaves
        The number of leaves; by default the number of names, or the largest id plus one.
    names
        The names of the leaves, or a file with them (see `ordhc.io.read_names`). Files may hold ids
        or names; names are numbered in order of first appearance unless given here.
    weights
        The column of weights; by default `weight`, `count` and the like if there is one.
    delimiter, header
        Whether text has a header, and what separates columns, where it isn't found out rightly.

    Raises
    ------
    InputError
        What cannot be read, with file, line and value.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_triplets(io.StringIO("head,winner,loser\\ncat,dog,car\\ndog,cat,car\\n")).names
    ('cat', 'dog', 'car')
    """
    return _read(Triplets, path, columns, n_leaves, names, weights, delimiter, header)


def read_quadruplets(
    path: Source,
    columns: Sequence[str] | Sequence[int] | None = None,
    *,
    n_leaves: int | None = None,
    names: Sequence[str] | Source | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Quadruplets:
    """Read quadruplets; as `read_triplets`, with the columns `i,j,k,l`.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_quadruplets(io.StringIO("0,1,2,3\\n"))
    <Quadruplets: 1 of 4 leaves>
    """
    return _read(Quadruplets, path, columns, n_leaves, names, weights, delimiter, header)


def _read(
    kind: type[Kind],
    path: Source,
    columns: Sequence[str] | Sequence[int] | None,
    n_leaves: int | None,
    names: Sequence[str] | Source | None,
    weights: str | None,
    delimiter: str | None,
    header: bool | None,
) -> Kind:
    given = as_names(names)
    source = name_of(path)
    suffix = suffix_of(path, SUFFIXES)
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        raise InputError(f"delimiter {delimiter!r} is not one ASCII character")
    chosen = _columns(columns, kind)
    data = read_bytes(path)
    if not data:
        raise InputError(f"{source}: the file is empty")
    try:
        if suffix in (".npz", ".npy"):
            return _from_arrays(kind, data, source, suffix, n_leaves, given)
        if suffix == ".parquet":
            return _from_parquet(kind, data, source, chosen, n_leaves, given, weights)
        if suffix == ".tsv" and delimiter is None:
            delimiter = "\t"
        wanted = [weights] if weights is not None else list(WEIGHTS)
        rows, found, values, lines = _ordhc.parse_table(data, chosen, wanted, delimiter, header)
    except InputError as error:
        raise _located(error, source) from None
    if weights is not None and values is None:
        raise InputError(f"{source}: there is no column {weights!r} of weights")

    def place(row: int) -> str:
        return f"{source}:{lines[row]}"

    return _assemble(kind, rows, found, values, n_leaves, given, source, place)


def _columns(columns: Sequence[str] | Sequence[int] | None, kind: type[Triplets] | type[Quadruplets]) -> Any:
    width = kind._width
    if columns is None:
        return KNOWN[kind]
    chosen = list(columns)
    if len(chosen) != width:
        raise InputError(f"columns are {chosen}; {width} are needed: {', '.join(kind._columns)}")
    if not (all(isinstance(c, str) for c in chosen) or all(isinstance(c, int) for c in chosen)):
        raise InputError(f"columns are {chosen}; give names or positions")
    return chosen


def _located(error: InputError, source: str) -> InputError:
    text = str(error)
    if text.startswith("line "):
        line, _, rest = text[5:].partition(": ")
        return InputError(f"{source}:{line}: {rest}")
    return error if text.startswith(source) else InputError(f"{source}: {text}")


def _assemble(
    kind: type[Kind],
    rows: NDArray[np.int64],
    found: list[str] | None,
    weights: NDArray[np.float64] | None,
    n_leaves: int | None,
    names: tuple[str, ...] | None,
    source: str,
    place: Any,
) -> Kind:
    """Comparisons of parsed rows; errors of a row name its line."""
    if found is not None and names is not None:
        code = {name: leaf for leaf, name in enumerate(names)}
        for at, name in enumerate(found):
            if name not in code:
                row = int(np.flatnonzero((rows == at).any(axis=1))[0])
                raise InputError(f"{place(row)}: {unknown_name(name, names)}")
        rows = np.array([code[name] for name in found], dtype=np.int64)[rows]
    elif found is not None:
        names = tuple(found)
        if n_leaves is not None and n_leaves != len(names):
            raise InputError(
                f"{source}: {len(names)} different names, but n_leaves = {n_leaves}; give all names"
            )
    try:
        return kind(rows, n_leaves, names, weights)
    except InputError as error:
        text = str(error)
        if text.startswith("row "):
            number, _, rest = text[4:].partition(": ")
            raise InputError(f"{place(int(number))}: {rest}") from None
        raise InputError(f"{source}: {text}") from None


def _from_arrays(
    kind: type[Kind],
    data: bytes,
    source: str,
    suffix: str,
    n_leaves: int | None,
    names: tuple[str, ...] | None,
) -> Kind:
    import zipfile

    magic = b"PK" if suffix == ".npz" else b"\x93NUMPY"
    if not data.startswith(magic):
        raise InputError(f"{source}: is no {suffix} file")
    responses = weights = None
    try:
        loaded = np.load(bytes_io.BytesIO(data), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            rows = loaded
        else:
            keys = ("rows", "triplets", "quadruplets", "data", "X", "arr_0")
            key = next((key for key in keys if key in loaded), None)
            if key is None and len(loaded.files) == 1 and loaded[loaded.files[0]].ndim == 2:
                key = loaded.files[0]
            if key is None:
                raise InputError(f"{source}: none of {', '.join(keys)} among {', '.join(loaded)}")
            rows = loaded[key]
            weights = loaded["weights"] if "weights" in loaded else None
            responses = next((loaded[k] for k in ("y", "target", "response") if k in loaded), None)
            if names is None and "names" in loaded:
                names = tuple(str(name) for name in loaded["names"].tolist())
            if n_leaves is None and "n_leaves" in loaded:
                n_leaves = int(loaded["n_leaves"])
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{source}: the file is cut or damaged: {error}") from None
    if responses is not None and issubclass(kind, Triplets):
        return kind.from_responses(rows, responses, n_leaves, names, weights)
    return kind(rows, n_leaves, names, weights)


def _from_parquet(
    kind: type[Kind],
    data: bytes,
    source: str,
    chosen: Any,
    n_leaves: int | None,
    names: tuple[str, ...] | None,
    weights: str | None,
) -> Kind:
    parquet = _pyarrow_parquet()
    import pyarrow

    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
    except (pyarrow.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise InputError(f"{source}: the Parquet file cannot be read: {first}") from None
    there = table.column_names
    if isinstance(chosen[0], int):
        wanted = [there[at] for at in chosen if at < len(there)]
    elif isinstance(chosen[0], str):
        wanted = [name for name in chosen if name in there]
    else:
        lower = {column.lower(): column for column in there}
        sets = [[lower.get(name) for name in known] for known in chosen]
        wanted = next((found for found in sets if None not in found), [])
    if len(wanted) != kind._width:
        raise InputError(f"{source}: the columns {chosen} are not among {', '.join(there)}")
    rows = [table.column(column).to_numpy() for column in wanted]
    weighted = weights or next((name for name in WEIGHTS if name in there), None)
    if weighted is not None and weighted not in there:
        raise InputError(f"{source}: there is no column {weighted!r} of weights")
    values = None if weighted is None else table.column(weighted).to_numpy()
    text = any(part.dtype == object for part in rows)
    cells = np.stack([part.astype(object) if text else part for part in rows], axis=1)
    return kind(cells, n_leaves, names, values)


def _pyarrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError.of("Parquet", "pyarrow", "parquet") from None
    return pyarrow.parquet


def write_comparisons(data: Triplets | Quadruplets, path: str | os.PathLike[str]) -> None:
    """Write comparisons as csv, tsv (also .gz), Parquet, npz or npy, by the file's ending.

    Text and Parquet hold names where there are any, and a column `weight`; npz keeps everything;
    npy only the rows (weights or names in it would be lost, and are an error). "-" is csv on
    standard output.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.write_comparisons(ordhc.Triplets([(0, 1, 2)]), "-")  # doctest: +SKIP
    anchor,near,far
    0,1,2
    """
    suffix = suffix_of(path, SUFFIXES) or (".csv" if os.fspath(path) == "-" else "")
    columns = list(KNOWN[type(data)][0])
    buffer = bytes_io.BytesIO()
    if suffix in (".csv", ".tsv"):
        write_bytes(path, _text(data, columns, "," if suffix == ".csv" else "\t"))
        return
    if suffix == ".npz":
        arrays: dict[str, Any] = {"rows": data.rows, "n_leaves": data.n_leaves}
        if data.weights is not None:
            arrays["weights"] = data.weights
        if data.names is not None:
            arrays["names"] = np.array(data.names, dtype=np.str_)
        np.savez_compressed(buffer, **arrays)
    elif suffix == ".npy":
        if data.weights is not None or data.names is not None:
            raise InputError(f"{path}: npy holds neither weights nor names; write .npz")
        np.save(buffer, data.rows)
    elif suffix == ".parquet":
        parquet = _pyarrow_parquet()
        import pyarrow

        cells = _cells(data)
        table = {column: cells[:, at] for at, column in enumerate(columns)}
        if data.weights is not None:
            table["weight"] = data.weights
        parquet.write_table(pyarrow.table(table), buffer)
    else:
        raise InputError(f"{path}: the ending is none of .csv, .tsv, .csv.gz, .parquet, .npz, .npy")
    write_bytes(path, buffer.getvalue())


def _cells(data: Triplets | Quadruplets, part: slice = slice(None)) -> NDArray[Any]:
    rows = data.rows[part]
    return rows if data.names is None else np.array(data.names, dtype=object)[rows]


# Rows that are written at a time: some ten milliseconds in which no signal arrives.
_BLOCK = 1 << 14


def _text(data: Triplets | Quadruplets, columns: list[str], delimiter: str) -> bytes:
    import csv

    text = bytes_io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    weights = data.weights
    writer.writerow(columns if weights is None else [*columns, "weight"])
    for start in range(0, len(data), _BLOCK):
        part = slice(start, start + _BLOCK)
        rows = _cells(data, part).tolist()
        if weights is not None:
            rows = [[*row, weight] for row, weight in zip(rows, weights[part].tolist(), strict=True)]
        writer.writerows(rows)
    return text.getvalue().encode()
