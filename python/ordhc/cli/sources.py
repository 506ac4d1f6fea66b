"""Reading of the data from which an oracle answers."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from ordhc.comparison.ids import CodedNames
from ordhc.errors import warn
from ordhc.io import read_answers, read_names, read_reference, read_tree, read_vectors

__all__ = ["read_source"]


def read_source(
    takes: tuple[str, ...], path: str, width: int, items: tuple[str, ...] | None
) -> tuple[Any, tuple[str, ...] | None]:
    """Read a file as an oracle takes it, and the names of the leaves where the file has some beside it.

    The file is read as the first of what the oracle takes; comparisons as quadruplets if questions are about
    two pairs (`width` = 4). Ids in comparisons are those of the `items` that are asked about, if there are
    some.
    """
    from ordhc.errors import InputError

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
    """Comparisons from a file: by the names in it, or if it has ids by those of the items."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = read(path)
    has_ids = found.names is None or isinstance(items, CodedNames)
    if has_ids and not set(found.names or (None,)) <= set(items):
        return read(path, names=items)
    for each in told:
        warn(str(each.message))
    return found
