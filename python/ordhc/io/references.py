"""What trees are compared with: other trees, labels of leaves, similarities."""

import csv
import io as bytes_io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError
from ordhc.io.files import Source, name_of, read_bytes, suffix_of, text_of
from ordhc.io.trees import FORMATS, read_tree

_TREES = tuple(suffix for suffix, kind in FORMATS.items() if kind in ("newick", "json"))


def read_reference(path: Source, leaves: Sequence[str], columns: Sequence[str] | None = None) -> "Any":
    """A tree, labels of leaves, or an array, for `ordhc.score`.

    Parameters
    ----------
    path
        A tree as `read_tree` takes it; labels as csv or tsv with a header, a column leaf or name, and
        columns of labels from coarse to fine; similarities as npy, or csv of numbers without a header.
    leaves
        The names of the tree's leaves, or their numbers as text.
    columns
        The columns of labels to take; by default all but leaf and name.

    Examples
    --------
    >>> import io
    >>> from ordhc.io import read_reference
    >>> read_reference(io.StringIO("leaf,class\\n1,b\\n0,a\\n"), ["0", "1"]).tolist()
    [['a'], ['b']]
    """
    name = name_of(path)
    data = read_bytes(path)
    if not data.strip():
        raise InputError(f"{name}: the file is empty")
    if suffix_of(path, _TREES) or data.lstrip()[:1] in (b"(", b"{"):
        return read_tree(bytes_io.BytesIO(data), "json" if data.lstrip().startswith(b"{") else "newick")
    if data.startswith(b"\x93NUMPY"):
        return np.load(bytes_io.BytesIO(data), allow_pickle=False)
    text = text_of(data, name)
    first = text.split("\n", 1)[0].strip()
    if first.startswith("cluster_a"):
        return read_tree(bytes_io.BytesIO(data), "scipy")
    if all(_is_number(cell) for cell in first.replace("\t", ",").split(",")):
        return _matrix(text, name)
    table = label_table(path, data, leaves, columns)
    lost = [leaf for leaf, row in zip(leaves, table, strict=True) if row[0] is None]
    if lost:
        raise InputError(f"{name}: there is no label of leaf {lost[0]!r}")
    return table


def label_table(
    path: Source, data: bytes, leaves: Sequence[str], columns: Sequence[str] | None = None
) -> NDArray[np.object_]:
    """Labels, (n, L) text, from csv with a column leaf or name; None for leaves that aren't there."""
    source = name_of(path)
    text = text_of(data, source)
    delimiter = max(",\t;", key=text.split("\n", 1)[0].count)
    rows = list(csv.reader(bytes_io.StringIO(text), delimiter=delimiter, skipinitialspace=True))
    header = [cell.strip() for cell in rows[0]] if rows else []
    lower = [cell.lower() for cell in header]
    ids = [lower.index(kind) for kind in ("name", "leaf") if kind in lower]
    if not ids:
        raise InputError(f"{source}:1: a column leaf or name is needed, not {','.join(header)}")
    wanted = [at for at in range(len(header)) if at not in ids]
    if columns is not None:
        unknown = [column for column in columns if column not in header]
        if unknown:
            raise InputError(f"{source}:1: there is no column {unknown[0]!r}; there are {', '.join(header)}")
        wanted = [header.index(column) for column in columns]
    if not wanted:
        raise InputError(f"{source}:1: there are no columns of labels, only {','.join(header)}")
    place = {leaf: at for at, leaf in enumerate(leaves)}
    number = {str(at): at for at in range(len(leaves))}
    seen: set[int] = set()
    table = np.full((len(leaves), len(wanted)), None, dtype=object)
    for line, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < len(header):
            raise InputError(f"{source}:{line}: {len(row)} columns instead of {len(header)}")
        texts = [row[at].strip() for at in ids]
        found = [at for text in texts if (at := place.get(text)) is not None]
        found += [at for text in texts if (at := number.get(text)) is not None]
        if not found:
            raise InputError(f"{source}:{line}: there is no leaf {texts[0]!r}")
        if found[0] in seen:
            raise InputError(f"{source}:{line}: leaf {texts[0]!r} occurs twice")
        seen.add(found[0])
        table[found[0]] = [row[at].strip() or None for at in wanted]
    return table


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _matrix(text: str, name: str) -> NDArray[Any]:
    rows = [line.replace("\t", ",").split(",") for line in text.splitlines() if line.strip()]
    for line, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise InputError(f"{name}:{line}: {len(row)} columns instead of {len(rows[0])}")
        for cell in row:
            if not _is_number(cell):
                raise InputError(f"{name}:{line}: {cell.strip()!r} is no number")
    whole = all(cell.strip().lstrip("+-").isdigit() and len(cell) < 19 for row in rows for cell in row)
    values = (
        np.array(rows, dtype=np.str_).astype(np.float64) if not whole else np.array(rows).astype(np.int64)
    )
    return values.ravel() if 1 in values.shape else values
