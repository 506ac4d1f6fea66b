"""List the items of a session, with the times when items were added and retired."""

from dataclasses import dataclass
from typing import Any

from ordhc import _checks
from ordhc.asking.contents import Contents
from ordhc.asking.events import ADDED, RETIRED
from ordhc.errors import InputError


@dataclass(frozen=True)
class Item:
    """An item of a session.

    Attributes
    ----------
    leaf
        The number of the item's leaf.
    name
        The item's name, or the number of the leaf as text if the session has no names.
    added, retired
        The times when the item was added and retired, in seconds since 1970. `added` is None for an item with
        which the session began, and `retired` is None for an item that is not retired.
    """

    leaf: int
    name: str
    added: float | None
    retired: float | None


def checked_items(items: Any) -> list[str]:
    found = _checks.names([items] if isinstance(items, str) else _checks.listed("items", items)) or ()
    if not found:
        raise InputError("items is empty: give the name of an item, or several")
    for name in found:
        if not name.strip():
            raise InputError(f"items contains the name {_checks.quoted(name)}, which is empty")
    return list(found)


def items_of(contents: Contents) -> list[Item]:
    log = contents.log
    names = contents.names or tuple(map(str, range(log.n_leaves)))
    at = {(change.kind, change.leaf): float(log.at[change.row]) for change in log.changes}
    return [
        Item(leaf, name, at.get((ADDED, leaf)), at.get((RETIRED, leaf))) for leaf, name in enumerate(names)
    ]
