"""AddS similarities of many pairs of leaves, in parts: tasks sort additions by bucket, other tasks make them.

An addition changes the similarity of one pair of leaves by the weight of a comparison. A bucket is a range of
pairs whose similarities fit into a processor's cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc._progress import Progress, part
from ordhc._workers import cut, run_tasks
from ordhc.io.blocks import Piece
from ordhc.io.parts import fingerprint, parts_of, pieces_in_parts
from ordhc.io.scan import Scan
from ordhc.io.spill import Spill, mapped
from ordhc.similarities.triangles import add_answered, gathered, save_answered

_PAIRS = _ordhc.PAIRS_PER_BUCKET
#: The number of buckets that are filled at a time.
_STEP = 8
#: The share of the progress bar for sorting the additions to similarities; the rest is for summing them.
_SORTING = 0.75

#: The result of `_ordhc.sorted_additions`: the start of each bucket in the other arrays; for each addition,
#: its sign and the index of the pair within the bucket; and the weights, or an empty array if all are 1.
_Additions = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]


@dataclass(frozen=True)
class _Sorting:
    """A task that sorts by bucket (a range of pairs) how some files change the similarities of pairs."""

    scan: Scan

    def name(self, pieces: tuple[Piece, ...]) -> str:
        return fingerprint("additions", self.scan.key(pieces))

    def make(self, folder: Path, pieces: tuple[Piece, ...], *, progress: Progress | None = None) -> None:
        n = self.scan.n_leaves
        answered = np.zeros(n, dtype=bool)
        blocks = (block.data for block in self.scan.blocks(pieces, progress=progress))
        with (folder / "codes").open("wb") as codes, (folder / "weights").open("wb") as weights:
            starts: list[NDArray[np.uint64]] = []
            for rows, own in gathered(self.scan, blocks, n * (n - 1) // 2, answered):
                of_buckets, own_codes, own_weights = _ordhc.sorted_additions(rows, own, n)
                starts.append(of_buckets)
                own_codes.tofile(codes)
                own_weights.tofile(weights)
        np.save(folder / "starts.npy", np.array(starts, dtype=np.uint64))
        save_answered(answered, folder)


@dataclass(frozen=True)
class _Summing:
    """Adds to the similarities the changes that tasks of `_Sorting` wrote to `folders`."""

    folders: tuple[str, ...]
    n_pairs: int

    def additions(self) -> list[_Additions]:
        return [each for folder in self.folders for each in _in_folder(Path(folder))]

    def add(self, parts: list[_Additions], buckets: range, out: NDArray[Any]) -> None:
        own = []
        for starts, codes, weights in parts:
            within = starts[buckets.start : buckets.stop + 1]
            some = slice(int(within[0]), int(within[-1]))
            own.append((within, codes[some], weights[some]))
        _ordhc.add_sorted(out, own)

    def bounds(self, buckets: range) -> tuple[int, int]:
        return buckets.start * _PAIRS, min(buckets.stop * _PAIRS, self.n_pairs)

    def write(self, path: str, dtype: str, buckets: range) -> None:
        parts = self.additions()
        with Path(path).open("r+b") as stream:
            stream.seek(self.bounds(buckets)[0] * np.dtype(dtype).itemsize)
            for some in _steps(buckets):
                start, end = self.bounds(some)
                out = np.zeros(end - start, dtype=dtype)
                self.add(parts, some, out)
                out.tofile(stream)


def bucketed_sums(
    scan: Scan, spill: Spill, pairs: NDArray[Any], answered: NDArray[np.bool_], progress: Progress | None
) -> NDArray[Any]:
    """Return the AddS similarities of all pairs of leaves; set `answered` to True for leaves in comparisons.

    The result is `pairs`, an array of zeros, or an array of the same type that is mapped to a file. Weights
    are added in the order of the comparisons, so that the bits of a sum do not depend on the division into
    tasks.
    """
    tasks = [(some,) for some in pieces_in_parts(scan)]
    folders = parts_of(scan, _Sorting(scan), tasks, spill, part(progress, 0, _SORTING))
    add_answered(answered, folders)
    summing, buckets = _Summing(tuple(folders), len(pairs)), range(-(-len(pairs) // _PAIRS))
    progress = part(progress, _SORTING, 1)
    if scan.executor is not None:
        path = spill.path("sums")
        with path.open("wb") as stream:
            stream.truncate(pairs.nbytes)
        ranges = cut(len(buckets), scan.executor)
        to_write = [(str(path), pairs.dtype.str, some) for some in ranges]
        run_tasks(scan.executor, summing.write, to_write, progress=progress)
        # A mapped file can be removed with `spill`, except on Windows.
        read = np.fromfile if os.name == "nt" else mapped
        return read(path, pairs.dtype)
    parts = summing.additions()
    for some in _steps(buckets):
        start, end = summing.bounds(some)
        summing.add(parts, some, pairs[start:end])
        if progress is not None:
            progress(some.stop / len(buckets))
    return pairs


def _steps(buckets: range) -> Iterator[range]:
    for start in range(buckets.start, buckets.stop, _STEP):
        yield range(start, min(start + _STEP, buckets.stop))


def _in_folder(folder: Path) -> Iterator[_Additions]:
    codes, weights = mapped(folder / "codes", np.uint32), mapped(folder / "weights", np.float64)
    first = 0
    for starts in np.load(folder / "starts.npy"):
        some = slice(first, first + int(starts[-1]))
        yield starts, codes[some], weights[some]
        first = some.stop
