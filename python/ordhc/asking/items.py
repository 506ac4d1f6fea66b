"""The items of a session, of which some were added or retired while people answered."""

from dataclasses import dataclass
from typing import Any

from ordhc import _checks
from ordhc.asking.events import ADDED, RETIRED
from ordhc.asking.mirror import Mirror
from ordhc.errors import InputError

__all__ = ["Item", "checked_items", "items_of", "retired_names"]


@dataclass(frozen=True)
class Item:
    """An item of a session.

    Attributes
    ----------
    leaf
        The number of its leaf.
    name
        The name, or the number of its leaf if the session has no names.
    added, retired
        The times when the item was added and retired, in seconds since 1970. `added` is None for an item of
        the start, and `retired` is None for an item that is not retired.
    """

    leaf: int
    name: str
    added: float | None
    retired: float | None


def checked_items(items: Any) -> list[str]:
    """Return the argument `items` as a list of names; raise `InputError` for empty or equal names."""
    found = _checks.names([items] if isinstance(items, str) else _checks.listed("items", items)) or ()
    if not found:
        raise InputError("items is empty: give the name of an item, or several")
    for name in found:
        if not name.strip():
            raise InputError(f"items has the name {_checks.quoted(name)}, which is empty")
    return list(found)


def items_of(mirror: Mirror) -> list[Item]:
    """Return all items, in the order of their numbers."""
    log = mirror.log
    names = mirror.names or tuple(map(str, range(log.n_leaves)))
    at = {(change.kind, change.leaf): float(log.at[change.row]) for change in log.changes}
    return [
        Item(leaf, name, at.get((ADDED, leaf)), at.get((RETIRED, leaf))) for leaf, name in enumerate(names)
    ]


def retired_names(mirror: Mirror) -> tuple[str, ...]:
    """Return the names of the retired items, in the order of their numbers."""
    names = mirror.names or ()
    return tuple(names[leaf] for leaf in sorted(c.leaf for c in mirror.log.changes if c.kind == RETIRED))
