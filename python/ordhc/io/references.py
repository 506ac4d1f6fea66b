"""Read references for scores of trees: other trees, labels of leaves, or similarities."""

from __future__ import annotations

import io as bytes_io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import LeafNumbers, quoted
from ordhc.comparison.suspects import alike
from ordhc.errors import InputError, warn
from ordhc.io.arrays import load_array
from ordhc.io.files import read_content
from ordhc.io.guard import reading
from ordhc.io.matrices import read_matrix
from ordhc.io.paths import Source, name_of, suffix_of
from ordhc.io.sheet import Sheet, is_number, listed, read_sheet
from ordhc.io.trees import ONLY_TREES, read_tree


def read_reference(path: Source, leaves: Sequence[str], columns: Sequence[str] | None = None) -> Any:
    """Read a tree, labels of leaves, or an array as the reference of `ordhc.score`.

    Parameters
    ----------
    path
        One of these files:

        * a tree in a format of `read_tree`;
        * labels: csv or tsv with a header, a column `leaf` or `name`, and columns of labels from coarse to
          fine;
        * a matrix of similarities or dissimilarities in a format of `read_matrix`. Its names are matched to
          the leaves.
    leaves
        The names of the tree's leaves, or their numbers as text.
    columns
        The columns of labels to read; by default all except `leaf` and `name`.

    Returns
    -------
    Dendrogram or ndarray
        The tree; the (n, L) labels; or the (n, n) or (n(n-1)/2,) matrix.

    Raises
    ------
    InputError
        The file is empty, is none of these, or has no label or row for a leaf.

    Examples
    --------
    >>> import io
    >>> from ordhc.io import read_reference
    >>> read_reference(io.StringIO("leaf,class\\n1,b\\n0,a\\n"), ["0", "1"]).tolist()
    [['a'], ['b']]
    """
    name = name_of(path)
    data = read_content(path)
    if (
        suffix_of(path, ONLY_TREES)
        or data.lstrip()[:1] in (b"(", b"{")
        or data.lstrip()[:6].upper() == b"#NEXUS"
    ):
        return read_tree(_named(data, path))
    with reading(name, "a reference", data):
        if data.startswith(b"\x93NUMPY"):
            return load_array(data, name)
        if data.startswith(b"PAR1"):
            return _matrix(data, path, leaves)
        first = data.split(b"\n", 1)[0].strip()
        if first.removeprefix(b"\xef\xbb\xbf").startswith(b"cluster_a"):
            return read_tree(_named(data, path), "scipy")
        sheet = read_sheet(data, name, "labels or similarities")
        in_header = LeafNumbers(sheet.header)
        if all(is_number(cell) for cell in sheet.rows[0]):
            return _without_names(sheet)
        if len(leaves) > 2 and all(leaf in in_header for leaf in leaves):
            return _matrix(data, path, leaves)
        table = label_table(path, data, leaves, columns)
    lost = [leaf for leaf, row in zip(leaves, table, strict=True) if row[0] is None]
    if lost:
        raise InputError(f"there is no label for leaf {quoted(lost[0])}", path=name)
    return table


def _named(data: bytes, path: Source) -> Any:
    stream = bytes_io.BytesIO(data)
    stream.name = name_of(path)
    return stream


def label_table(
    path: Source, data: bytes, leaves: Sequence[str], columns: Sequence[str] | None = None
) -> NDArray[np.object_]:
    source = name_of(path)
    sheet = read_sheet(data, source, "labels")
    header = sheet.header
    ids = [at for kind in ("name", "leaf") if (at := sheet.find([kind])) is not None]
    if not ids:
        hint = ""
        if sum(sheet.find([word]) is not None for word in ("anchor", "near", "far", "head", "winner")) > 1:
            hint = "; these look like comparisons; other metrics use them (triplet_revenue, satisfied)"
        raise InputError(
            f"a column named 'leaf' or 'name' is needed; the columns are: {listed(header)}{hint}",
            path=source,
            line=sheet.lines[0],
        )
    wanted = [at for at in range(len(header)) if at not in ids]
    if columns is not None:
        wanted = [sheet.column(column) for column in columns]
    if not wanted:
        raise InputError(
            f"there are no columns of labels, only {listed(header)}", path=source, line=sheet.lines[0]
        )
    place = LeafNumbers(leaves)
    number = {str(at): at for at in range(len(leaves))}
    seen: set[int] = set()
    table = np.full((len(leaves), len(wanted)), None, dtype=object)
    for below in range(1, len(sheet.rows)):
        row, line = sheet.rows[below], sheet.lines[below]
        if not any(cell.strip() for cell in row):
            continue
        sheet.check_width(below)
        texts = [row[at].strip() for at in ids]
        found = [at for text in texts if (at := place.get(text)) is not None]
        found += [at for text in texts if (at := number.get(text)) is not None]
        if not found:
            raise InputError(f"there is no leaf {quoted(texts[0])}", path=source, line=line)
        if found[0] in seen:
            raise InputError(f"leaf {quoted(texts[0])} occurs twice", path=source, line=line)
        seen.add(found[0])
        table[found[0]] = [row[at].strip() or None for at in wanted]
    for column in table.T:
        if odd := alike([label for label in dict.fromkeys(column.tolist()) if label is not None], "labels"):
            warn(f"{source}: {odd[0]}")
    return table


def _without_names(sheet: Sheet) -> NDArray[Any]:
    for at, row in enumerate(sheet.rows):
        sheet.check_width(at)
        for cell in row:
            if not is_number(cell):
                raise InputError(f"{quoted(cell)} is not a number", path=sheet.source, line=sheet.lines[at])
    rows = sheet.rows
    whole = all(cell.lstrip("+-").isdigit() and len(cell) < 19 for row in rows for cell in row)
    values = np.array(rows, dtype=np.str_).astype(np.int64 if whole else np.float64)
    return values.ravel() if 1 in values.shape else values


def _matrix(data: bytes, path: Source, leaves: Sequence[str]) -> NDArray[Any]:
    values, names = read_matrix(_named(data, path), dissimilarity=False)
    if names is None or len(names) != len(leaves):
        return values
    place = LeafNumbers(names)
    lost = [leaf for leaf in leaves if leaf not in place]
    if lost:
        raise InputError(f"there is no row for leaf {quoted(lost[0])}", path=name_of(path))
    order = [place[leaf] for leaf in leaves]
    return values[np.ix_(order, order)]
