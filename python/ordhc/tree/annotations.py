"""The class `Annotations`: names, support and settings of a tree.

The compiled `_ordhc.Tree` has none of these. Operations on an `_ordhc.Tree` return the old number of each new
node, so that annotations can follow their nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.errors import InputError
from ordhc.tree.settings import as_json, settings_of


@dataclass(frozen=True, slots=True, eq=False)
class Annotations:
    """All data of a tree besides its nodes, heights and lengths. A field is None if the tree lacks the data.

    `shares` and `written_order` control how Newick text is written. `shares` is True if support is written as
    fractions instead of percent. `written_order` has the leaves in the order in which they are written; None
    means that the children of each node are in the order of their numbers.
    """

    names: tuple[str, ...] | None = None
    node_names: tuple[str | None, ...] | None = None
    support: NDArray[np.float64] | None = None
    shares: bool = False
    written_order: NDArray[np.int64] | None = None
    settings: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, tree: _ordhc.Tree, **given: Any) -> Annotations:
        """Return annotations of a tree, each checked; raise `InputError` if one does not fit the tree."""
        return cls().changed(tree, **given)

    def changed(self, tree: _ordhc.Tree, **given: Any) -> Annotations:
        """Return these annotations with other values of some fields; only the new values are checked."""
        if given.get("names") is not None:
            given["names"] = _checks.names(given["names"], tree.n_leaves)
        if given.get("node_names") is not None:
            given["node_names"] = _node_names(given["node_names"], tree)
        if given.get("support") is not None:
            given["support"] = _support(given["support"], tree)
        if given.get("settings") is not None:
            given["settings"] = settings_of(given["settings"])
        return replace(self, **given)

    def relabelled(self, leaves: NDArray[np.int64]) -> Annotations:
        """Return the annotations of the tree after leaf i became leaf `leaves[i]`."""
        before = np.argsort(leaves).tolist()
        names = None if self.names is None else tuple(self.names[leaf] for leaf in before)
        written_order = None if self.written_order is None else leaves[self.written_order]
        return replace(self, names=names, written_order=written_order)

    def of_nodes(self, kept: NDArray[np.int64], n_before: int, n_leaves: int) -> Annotations:
        """Return the annotations of a new tree, whose node i was node `kept[i]` of the old tree.

        The old tree has `n_before` leaves, the new tree has `n_leaves` leaves.
        """
        leaves, inner = kept[:n_leaves], kept[n_leaves:] - n_before
        names, node_names = self.names, self.node_names
        support, written_order = self.support, self.written_order
        if names is not None:
            names = tuple(names[leaf] for leaf in leaves.tolist())
        if node_names is not None:
            node_names = tuple(node_names[at] for at in inner.tolist())
            node_names = node_names if any(name is not None for name in node_names) else None
        if support is not None:
            support = support[inner]
            support = None if np.isnan(support).all() else _frozen(support)
        if written_order is not None:
            number = np.full(n_before, -1)
            number[leaves] = np.arange(n_leaves)
            written_order = number[written_order]
            written_order = written_order[written_order >= 0]
        return replace(self, names=names, node_names=node_names, support=support, written_order=written_order)

    def equals(self, other: Annotations) -> bool:
        """Return True if names and support are equal; all other annotations are ignored."""
        return (
            self.names == other.names
            and self.node_names == other.node_names
            and same(self.support, other.support)
        )

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.node_names is not None:
            found["node_names"] = list(self.node_names)
        if self.support is not None:
            found["support"] = [None if value != value else value for value in self.support.tolist()]
        if self.shares:
            found["support_as_shares"] = True
        if self.written_order is not None:
            found["leaves_as_written"] = self.written_order.tolist()
        if self.settings is not None:
            found["settings"] = as_json(self.settings)
        return found

    @classmethod
    def from_dict(cls, tree: _ordhc.Tree, data: Mapping[str, Any]) -> Annotations:
        support, shares = data.get("support"), data.get("support_as_shares")
        if isinstance(support, list):
            support = [np.nan if value is None else value for value in support]
        written_order = data.get("leaves_as_written")
        if written_order is not None:
            written_order = _checks.whole_numbers("leaves_as_written", written_order, (tree.n_leaves,))
            if not np.array_equal(np.sort(written_order), np.arange(tree.n_leaves)):
                raise InputError(
                    f"leaves_as_written must contain each of the {tree.n_leaves} leaves exactly once"
                )
        return cls.of(
            tree,
            names=data.get("names"),
            node_names=data.get("node_names"),
            support=support,
            shares=shares is not None and _checks.flag("support_as_shares", shares),
            written_order=written_order,
            settings=data.get("settings"),
        )


def _support(given: ArrayLike, tree: _ordhc.Tree) -> NDArray[np.float64] | None:
    n_inner = tree.n_nodes - tree.n_leaves
    values = np.array(_checks.numbers_of("support", given))
    if values.shape != (n_inner,):
        raise InputError(
            f"support has shape {values.shape}; ({n_inner},) is needed for {n_inner} inner nodes of "
            f"{tree.n_leaves} leaves"
        )
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if wrong.size:
        raise InputError(f"support[{wrong[0]}] is {values[wrong[0]]}; support must be from 0 to 1")
    return None if np.isnan(values).all() else _frozen(values)


def _node_names(given: Sequence[str | None], tree: _ordhc.Tree) -> tuple[str | None, ...] | None:
    names, n_inner = _checks.listed("node_names", given), tree.n_nodes - tree.n_leaves
    if len(names) != n_inner:
        raise InputError(
            f"node_names has {len(names)} entries; one for each of the {n_inner} inner nodes is needed, "
            "a str or None"
        )
    for at, name in enumerate(names):
        if name is not None and not isinstance(name, str):
            raise InputError(
                f"node_names[{at}] is {_checks.quoted(name)} of type {type(name).__name__}, not str or None"
            )
    labels = tuple(
        None if name is None else _checks.text(f"node_names[{at}]", name) for at, name in enumerate(names)
    )
    return labels if any(label is not None for label in labels) else None


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.flags.writeable = False
    return values


def same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    """Return True if both are None, or if both arrays are equal; NaN equals NaN."""
    if a is None or b is None:
        return a is b
    return a is b or np.array_equal(a, b, equal_nan=True)


def shown(name: Any) -> str:
    text = str(name)
    return repr(text if len(text) <= 60 else text[:60] + "…")
