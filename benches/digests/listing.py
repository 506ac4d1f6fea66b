"""The listing: a line for each result, and results that must equal each other."""

import dataclasses
import hashlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ordhc
from ordhc import _ordhc, _workers
from ordhc.errors import InputError, OrdhcWarning, PluginError

#: Numbers are rounded to this many significant bits, about nine decimal digits. The engines give the same
#: bits on every processor, but a redesign may add numbers in another order.
BITS = 30
#: Results of logarithms, exponentials or BLAS are rounded to so many bits: libraries differ in the last
#: digits, and it must be rare that these decide how a number is rounded.
ROUGH_BITS = 14
#: Hexadecimal digits of a digest.
DIGITS = 10


@dataclasses.dataclass
class Rough:
    """A result whose numbers differ a little between processors and libraries of mathematics."""

    value: Any


class Listing:
    """Lines `name digest`, in the order in which they were added."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}
        self.unequal: list[str] = []

    def add(self, name: str, result: Any) -> None:
        """Add a line: the digest of a result, or of what a function without arguments returns."""
        self._add(name, digest(outcome(result)))

    def add_columns(self, name: str, columns: Mapping[str, Any]) -> None:
        """Add a line with a digest for each column."""
        self._add(name, " ".join(f"{key}={digest(value)}" for key, value in columns.items()))

    def same(self, name: str, first: Any, *others: Any) -> None:
        """Add a line for the first result; the others must equal it to the bit."""
        results = [outcome(result) for result in (first, *others)]
        self.add(name, results[0])
        for at, other in enumerate(results[1:], start=1):
            self.expect_equal(f"{name}, result {at}", results[0], other)

    def expect_equal(self, name: str, first: Any, other: Any) -> None:
        """Check without a line that two results are equal to the bit."""
        if encoded(first, None) != encoded(other, None):
            self.unequal.append(name)

    def expect_alike(self, name: str, first: Any, other: Any) -> None:
        """Check that two trees have the same merges at heights that differ by rounding at most.

        A warning says that rounding has decided about the tree; then only heights must agree.
        """
        (first, _), (other, told) = (
            each if isinstance(each, tuple) else (each, 0) for each in (first, other)
        )
        if not isinstance(first, ordhc.Dendrogram) or not isinstance(other, ordhc.Dendrogram):
            self.expect_equal(name, first, other)
            return
        same = told or np.array_equal(first.merges, other.merges)
        if not same or not np.allclose(first.heights, other.heights, rtol=1e-9, atol=0):
            self.unequal.append(name)

    def _add(self, name: str, text: str) -> None:
        if name in self.lines:
            raise ValueError(f"two lines are named {name!r}")
        self.lines[name] = text

    def text(self) -> str:
        """Return the lines as text."""
        return "".join(f"{name}: {line}\n" for name, line in self.lines.items())


def outcome(result: Any) -> Any:
    """What a function returns, with the number of its warnings, or the type of its error."""
    if not callable(result):
        return result
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", OrdhcWarning)
        try:
            value = result()
        except (InputError, PluginError) as error:
            return type(error).__name__
    return (value, len(told)) if told else value


def roughly(call: Callable[[], Any]) -> Callable[[], Any]:
    """The same call, whose numbers differ a little between processors."""
    return lambda: Rough(call())


def digest(value: Any) -> str:
    """The first digits of the SHA-256 of a value; an error's name stays readable."""
    plain = value.value if isinstance(value, Rough) else value
    if isinstance(plain, str) and plain.endswith("Error"):
        return plain
    return hashlib.sha256(encoded(value, BITS)).hexdigest()[:DIGITS]


def encoded(value: Any, bits: int | None) -> bytes:
    """A value as bytes, its floats rounded to so many significant bits or, with None, as they are."""
    if isinstance(value, Rough):
        return encoded(value.value, bits and ROUGH_BITS)
    if isinstance(value, ordhc.Dendrogram):
        return encoded(parts_of_tree(value), bits)
    if isinstance(value, ordhc.Triplets | ordhc.Quadruplets):
        return encoded(parts_of_comparisons(value), bits)
    if hasattr(value, "tocsr"):
        rows = value.tocsr()
        rows.sort_indices()
        return encoded((rows.shape, rows.indptr, rows.indices, rows.data), bits)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        numbers = value.astype(np.float64) + 0.0
        return repr(value.shape).encode() + (numbers if bits is None else rounded(numbers, bits)).tobytes()
    if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
        return repr(value.shape).encode() + value.astype(np.int64).tobytes()
    if isinstance(value, np.ndarray):
        return encoded(value.tolist(), bits)
    if isinstance(value, np.generic):
        return encoded(value.item(), bits)
    if isinstance(value, float):
        return encoded(np.array(value), bits)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return encoded({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, bits)
    if isinstance(value, Mapping):
        return b"{" + b";".join(encoded(pair, bits) for pair in value.items()) + b"}"
    if isinstance(value, list | tuple | set | frozenset):
        values = sorted(value) if isinstance(value, set | frozenset) else value
        return b"(" + b",".join(encoded(each, bits) for each in values) + b")"
    if value is None or isinstance(value, str | bytes | int | bool):
        return repr(value).encode()
    raise TypeError(f"{type(value).__name__} has no digest: give its parts")


def parts_of_tree(tree: ordhc.Dendrogram) -> tuple[Any, ...]:
    """Everything that a tree says, but for the settings that made it."""
    heights = tree.heights if tree.scale == "heights" else None
    lengths = tree.lengths if tree.scale == "lengths" else None
    parents = np.asarray(tree.parents)
    return tree.scale, tree.kind, parents, heights, lengths, tree.names, tree.support, tree.node_names


def shape_of(tree: ordhc.Dendrogram) -> NDArray[np.int64]:
    """The tree without its heights, for heights that differ between libraries of linear algebra."""
    return np.asarray(tree.parents)


def parts_of_comparisons(data: ordhc.Triplets | ordhc.Quadruplets) -> tuple[Any, ...]:
    """Everything that comparisons say."""
    about = (type(data).__name__, data.n_leaves, data.names, data.adaptive, data.group_names)
    return (*about, np.asarray(data.rows), data.weights, data.answers, data.groups)


def rounded(numbers: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """Numbers at so many significant bits; steps that every processor makes alike."""
    fractions, exponents = np.frexp(numbers)
    return np.ldexp(np.rint(fractions * 2.0**bits), exponents - bits) + 0.0


def prepare_process(n_threads: int) -> None:
    """Use so many threads, whatever the machine has, and no plugins that happen to be installed.

    Must be called before the first result.
    """
    # Executors get work, although it is little.
    _workers.MIN_SECONDS = float("-inf")
    for name in ("ORDHC_STRICT", "ORDHC_DEBUG", "ORDHC_MAX_UNPACKED"):
        os.environ.pop(name, None)
    os.environ |= {"ORDHC_NUM_THREADS": str(n_threads), "ORDHC_PLUGINS": ""}


@contextmanager
def one_thread() -> Iterator[None]:
    """Results on one thread."""
    before = _ordhc.limit_threads(1)
    try:
        yield
    finally:
        _ordhc.limit_threads(before)


def on_one_thread(call: Callable[[], Any]) -> Callable[[], Any]:
    """The same call on one thread."""

    def limited() -> Any:
        with one_thread():
            return call()

    return limited
