"""Checks of the names of leaves."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ordhc._checks.arrays import array, unmasked
from ordhc._checks.quoting import quoted, unknown_name
from ordhc._checks.scalars import text, whole
from ordhc.errors import InputError


def names(given: Any, n: int | None = None) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        kind = "string" if isinstance(given, str) else type(given).__name__
        raise InputError(f"names must be a sequence of strings, not the {kind} {quoted(given)}")
    if isinstance(given, np.ma.MaskedArray):
        given = unmasked("names", given)
    if isinstance(given, np.ndarray) and given.dtype.kind == "U":
        given = array("names", given)
    try:
        checked = tuple(given)
    except Exception as error:
        raise InputError(f"names cannot be read: {quoted(str(error))}") from None
    # Subclasses of str are equal to str, so the cache would return results for another type.
    found = _distinct(checked) if {*map(type, checked)} == {str} else _distinct.__wrapped__(checked)
    if n is not None and len(checked) != n:
        raise InputError(f"names has {len(checked)} entries for {n} leaves")
    return found


@lru_cache(maxsize=4)
def _distinct(given: tuple[Any, ...]) -> tuple[str, ...]:
    # Cached, because a file is read in blocks with the same names.
    seen: dict[str, int] = {}
    for at, name in enumerate(given):
        name = text(f"names[{at}]", name)
        if name in seen:
            raise InputError(f"the name {quoted(name)} occurs twice, at {seen[name]} and {at}")
        seen[name] = at
    return tuple(seen)


class LeafNumbers(dict[str, int]):
    """A dict from the name of each leaf to its number, in which underscores and blanks are the same.

    Newick files write blanks as underscores, so ``Homo_sapiens`` and ``Homo sapiens`` name the same leaf.
    An exact match has priority. If two names differ only in underscores and blanks, both need an exact match.

    Examples
    --------
    >>> numbers = LeafNumbers(["Homo sapiens", "a b", "a_b"])
    >>> numbers["Homo_sapiens"], numbers["a_b"], "b_a" in numbers
    (0, 2, False)
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__({name: leaf for leaf, name in enumerate(names)})
        self._plain: dict[str, int] | None = None

    def __missing__(self, name: str) -> int:
        if self._plain is None:
            self._plain = {}
            for known, leaf in self.items():
                key = known.replace("_", " ")
                self._plain[key] = -1 if key in self._plain else leaf
        found = self._plain.get(name.replace("_", " "), -1)
        if found < 0:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self.get(name) is not None)

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


def leaf_number(leaf: Any, known: Sequence[str] | None, n_leaves: int) -> int:
    if isinstance(leaf, str):
        found: int | None = LeafNumbers(known or ()).get(leaf)
        if found is None:
            raise InputError(unknown_name(leaf, known or ()))
        return found
    return whole("leaf", leaf, at_least=0, at_most=n_leaves - 1)
