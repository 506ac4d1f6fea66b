"""Read the data from which an oracle answers."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from ordhc.comparison.ids import CodedNames
from ordhc.errors import InputError, warn
from ordhc.io import read_answers, read_names, read_reference, read_tree, read_vectors


def read_source(
    takes: tuple[str, ...], path: str, width: int, items: tuple[str, ...] | None
) -> tuple[Any, tuple[str, ...] | None]:
    """Return the data in a file for an oracle, and the names of the leaves if the data do not contain them.

    `takes` has the kinds of data that the oracle takes. The file is read as the first kind. But if the oracle
    takes triplets and quadruplets, and a question has `width` = 4 leaves, the file is read as quadruplets.
    Ids in comparisons refer to `items`, the names of the leaves.
    """
    kind = takes[0]
    if kind == "triplets" and "quadruplets" in takes and width == 4:
        kind = "quadruplets"
    if kind == "nothing":
        raise InputError("this oracle takes no --source")
    if kind == "vectors":
        return read_vectors(path)
    readers: dict[str, Any] = {
        "tree": read_tree,
        "similarity": lambda file: read_reference(file, ()),
        "triplets": read_answers,
        "quadruplets": partial(read_answers, kind="pairs"),
        "names": read_names,
        "path": str,
    }
    if items is not None and kind in ("triplets", "quadruplets"):
        return _about_items(readers[kind], path, items), None
    return readers[kind](path), None


def _about_items(read: Callable[..., Any], path: str, items: tuple[str, ...]) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read(path)
    # Show the warnings of this reading only if its result is used: the file may be read again with `names`.
    has_ids = found.names is None or isinstance(items, CodedNames)
    if has_ids and not set(found.names or (None,)) <= set(items):
        return read(path, names=items)
    for each in caught:
        warn(str(each.message))
    return found
