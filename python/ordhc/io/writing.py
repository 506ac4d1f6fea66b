"""Write comparisons to files."""

from __future__ import annotations

import io as bytes_io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._checks import quoted
from ordhc._progress import Progress, part, shows_progress
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.frames import ROLES
from ordhc.comparison.rows import persons_of
from ordhc.comparison.tables import MISSING
from ordhc.errors import InputError
from ordhc.io.arrays import pyarrow_parquet, texts_to
from ordhc.io.comparisons import SUFFIXES
from ordhc.io.files import write_bytes
from ordhc.io.parsed import LITERAL
from ordhc.io.paths import PACKED, checked_path, name_of, suffix_of
from ordhc.io.sheet import is_number


def ending_of(path: str) -> str:
    """Return the ending of a file for comparisons; raise `InputError` if it is unknown; "-" is csv."""
    suffix = ".csv" if path == "-" else suffix_of(path, SUFFIXES)
    is_packed = path.lower().endswith(tuple(PACKED))
    if suffix in ("", ".txt") or (is_packed and suffix not in (".csv", ".tsv")):
        endings = ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .npz, .npy"
        raise InputError(f"the ending is none of {endings}", path=name_of(path))
    return suffix


@shows_progress("writing")
def write_comparisons(
    data: Triplets | Quadruplets, path: str | os.PathLike[str], *, progress: Progress | bool | None = None
) -> None:
    """Write comparisons to a file, in the format of the file's ending.

    Parameters
    ----------
    data
        The comparisons.
    path
        The file; "-" is csv on standard output. The endings are:

        * .csv, .tsv (also with .gz, .bz2, .xz or .zst) and .parquet: one row per comparison, with names if
          there are any, and with columns `weight`, `answer` and `person` if known. If the comparisons are
          `adaptive`, a column `sampler` has the value "learner". If a name looks like an id or a missing
          value, or begins or ends with a blank, the columns are called `anchor_name` and so on, and
          `ordhc.read_answers` reads their cells exactly as written.
        * .npz: everything.
        * .npy: only the rows. Weights, names, answers or persons are an error, because they would be lost.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Raises
    ------
    InputError
        The ending is unknown, npy cannot store the comparisons, or the file cannot be written.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.write_comparisons(ordhc.Triplets([(0, 1, 2)]), "-")  # doctest: +SKIP
    anchor,near,far
    0,1,2
    """
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"comparisons must be Triplets or Quadruplets, not {quoted(data)}")
    path = checked_path(path)
    suffix = ending_of(path)
    progress = _checks.callback("progress", progress)
    buffer = _Counting(data.rows.nbytes, part(progress, 0, 0.9))
    if suffix in (".csv", ".tsv"):
        write_bytes(path, _text(data, "," if suffix == ".csv" else "\t", part(progress, 0, 0.9)))
        if progress is not None:
            progress(1.0)
        return
    if suffix == ".npz":
        arrays: dict[str, Any] = {"rows": data.rows, "n_leaves": data.n_leaves}
        for name in ("weights", "answers", "groups", "names", "group_names"):
            if (known := getattr(data, name)) is not None:
                arrays |= texts_to(known, name) if isinstance(known, tuple) else {name: known}
        if data.adaptive:
            arrays["adaptive"] = True
        np.savez_compressed(buffer, **arrays)
    elif suffix == ".npy":
        lost = [name for name in ("weights", "names", "answers", "groups") if getattr(data, name) is not None]
        if lost:
            raise InputError(f"npy cannot store {' and '.join(lost)}; write .npz", path=name_of(path))
        np.save(buffer, data.rows)
    else:
        parquet = pyarrow_parquet()
        import pyarrow

        parquet.write_table(pyarrow.table(_columns(data)), buffer)
    write_bytes(path, buffer.getvalue())
    if progress is not None:
        progress(1.0)


class _Counting(bytes_io.BytesIO):
    """A buffer that reports progress by the bytes that it receives, as a fraction of `expected` bytes.

    Compressed data has fewer bytes than expected, so the reported progress may end below 1.
    """

    def __init__(self, expected: int, progress: Progress | None) -> None:
        super().__init__()
        self.expected, self.progress, self.reported = max(expected, 1), progress, 0.0

    def write(self, data: Any) -> int:
        count = super().write(data)
        share = min(1.0, self.tell() / self.expected)
        if self.progress is not None and share > self.reported + 0.001:
            self.reported = share
            self.progress(share)
        return count


def _is_plain(text: str) -> bool:
    """Return True if readers keep this name as written, and do not take it for an id or a missing value."""
    bare = text.strip()
    return bare == text != "" and text not in MISSING and not is_number(text) and text.isprintable()


def _leaf_columns(data: Triplets | Quadruplets) -> list[str]:
    ending = "" if data.names is None or all(map(_is_plain, data.names)) else LITERAL
    known = ROLES["triplets" if isinstance(data, Triplets) else "quadruplets"][0]
    return [column + ending for column in known]


def _columns(data: Triplets | Quadruplets) -> dict[str, Any]:
    cells: NDArray[Any] = data.rows
    if data.names is not None:
        cells = np.array(data.names, dtype=object)[data.rows]
    found = {column: cells[:, at] for at, column in enumerate(_leaf_columns(data))}
    further = {"weight": data.weights, "answer": data.answers, "person": persons_of(data)}
    found |= {column: values for column, values in further.items() if values is not None}
    if data.adaptive:
        found["sampler"] = np.full(len(data), "learner", dtype=object)
    return found


#: Rows to write at a time: some ten milliseconds, during which Ctrl-C has no effect.
_BLOCK = 1 << 14


def _text(data: Triplets | Quadruplets, delimiter: str, progress: Progress | None) -> bytes:
    columns = _columns(data)
    if data.group_names is not None and not all(map(_is_plain, data.group_names)):
        columns = {name + LITERAL * (name == "person"): values for name, values in columns.items()}
    texts: dict[str, dict[str, str]] = {}
    for name, values in columns.items():
        if values.dtype == object:
            literal = name.endswith(LITERAL)
            texts[name] = {text: _quoted(text, delimiter, literal) for text in set(values.tolist())}
    rows = [delimiter.join(columns)]
    for start in range(0, len(data), _BLOCK):
        part = slice(start, start + _BLOCK)
        written = [
            map(texts[name].__getitem__ if name in texts else repr, values[part].tolist())
            for name, values in columns.items()
        ]
        rows.extend(map(delimiter.join, zip(*written, strict=True)))
        if progress is not None:
            progress(min(1.0, (start + _BLOCK) / len(data)))
    return ("\n".join(rows) + "\n").encode()


def _quoted(text: str, delimiter: str, literal: bool) -> str:
    special = literal or text != text.strip() or any(char in text for char in (delimiter, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if special else text
