"""What a dendrogram has beside its merges and heights: names, support, branch lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.errors import InputError
from ordhc.tree.settings import as_json, settings_of

Floats = NDArray[np.float64]

#: What a file may hold beside names, merges and heights.
KEYS = ("joined", "node_names", "support", "branch_lengths", "leaf_heights", "settings")


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """All of a dendrogram but its nodes and heights; see `Dendrogram`. None is what it hasn't.

    `shares` and `standing` tell how Newick text is written, as it was read: support as shares instead of
    percent, leaves in this order instead of children by their labels.
    """

    names: tuple[str, ...] | None = None
    node_names: tuple[str | None, ...] | None = None
    support: Floats | None = None
    branch_lengths: Floats | None = None
    leaf_heights: Floats | None = None
    shares: bool = False
    standing: NDArray[np.int64] | None = None
    settings: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        tree: _ordhc.Dendrogram,
        *,
        names: Sequence[str] | None = None,
        node_names: Sequence[str | None] | None = None,
        support: ArrayLike | None = None,
        branch_lengths: ArrayLike | None = None,
        leaf_heights: ArrayLike | None = None,
        shares: bool = False,
        standing: NDArray[np.int64] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> "Beside":
        """Checked, for a tree."""
        n = tree.n_leaves
        known = _checks.names(names)
        if known is not None and len(known) != n:
            raise InputError(f"{len(known)} names for {n} leaves")
        marks = tree.joined()
        sure = _values("support", support, n, n - 1, 0, 1)
        lengths = _values("branch_lengths", branch_lengths, n, 2 * n - 1, -np.inf, np.inf)
        own = _values("leaf_heights", leaf_heights, n, n, -np.inf, np.inf)
        labels = _labels(node_names, n)
        if marks is not None:
            for at in np.flatnonzero(marks).tolist():
                if labels is not None and labels[at] is not None:
                    raise InputError(
                        f"node_names[{at}] is {shown(labels[at])}, but merge {at} is part of another node"
                    )
            # Merges that are only part of a node have neither support nor a length.
            if sure is not None:
                sure[marks] = np.nan
            if lengths is not None:
                lengths[n:][marks] = np.nan
        if sure is not None and np.isnan(sure).all():
            sure = None
        for array in (sure, lengths, own):
            if array is not None:
                array.flags.writeable = False
        return cls(known, labels, sure, lengths, own, bool(shares), standing, settings_of(settings))

    def relabelled(self, leaves: NDArray[np.int64]) -> "Beside":
        """With leaf i as leaf `leaves[i]`."""
        before = np.argsort(leaves)
        names = None if self.names is None else tuple(self.names[leaf] for leaf in before.tolist())
        own = None if self.leaf_heights is None else self.leaf_heights[before]
        lengths = self.branch_lengths
        if lengths is not None:
            lengths = np.concatenate([lengths[before], lengths[len(before) :]])
        for array in (own, lengths):
            if array is not None:
                array.flags.writeable = False
        standing = None if self.standing is None else leaves[self.standing]
        return replace(self, names=names, leaf_heights=own, branch_lengths=lengths, standing=standing)

    def equals(self, other: "Beside") -> bool:
        """Whether all but branch lengths is the same; nor do settings matter, and how text is written."""
        arrays = ("support", "leaf_heights")
        return (
            self.names == other.names
            and self.node_names == other.node_names
            and all(same(getattr(self, name), getattr(other, name)) for name in arrays)
        )

    def all_heights(self, tree: _ordhc.Dendrogram) -> Floats:
        """Where leaves and merges stand, (2n - 1,): leaves at heights of their own, or else at the bottom."""
        heights, own = tree.heights(), self.leaf_heights
        if own is None:
            own = np.full(tree.n_leaves, heights.max() if len(heights) and not tree.dissimilarity else 0.0)
        return np.concatenate([own, heights])

    def lengths(self, tree: _ordhc.Dendrogram) -> Floats:
        """The branch lengths, (2n - 1,): those that are kept, or else differences of heights."""
        if self.branch_lengths is not None:
            return self.branch_lengths
        n, heights, merges = tree.n_leaves, tree.heights(), tree.merges()
        lengths = np.full(2 * n - 1, np.nan)
        lengths[merges] = heights[:, None] - self.all_heights(tree)[merges]
        if (joined := tree.joined()) is not None:
            lengths[n:][joined] = np.nan
        return lengths if tree.dissimilarity else -lengths

    def to_dict(self) -> dict[str, Any]:
        """What there is, but the names of leaves, as JSON can hold it."""
        found: dict[str, Any] = {}
        if self.node_names is not None:
            found["node_names"] = list(self.node_names)
        for name in ("support", "branch_lengths", "leaf_heights"):
            values = getattr(self, name)
            if values is not None:
                found[name] = [None if value != value else value for value in values.tolist()]
        if self.shares:
            found["support_as_shares"] = True
        if self.standing is not None:
            found["leaves_as_written"] = self.standing.tolist()
        if self.settings is not None:
            found["settings"] = as_json(self.settings)
        return found


def from_dict(data: dict[str, Any]) -> dict[str, Any]:
    """What `Beside.to_dict` gave, as arguments of a dendrogram."""
    given = {key: data.get(key) for key in KEYS}
    for key in ("support", "branch_lengths", "leaf_heights"):
        values = given[key]
        if isinstance(values, list):
            given[key] = [np.nan if value is None else value for value in values]
    return given


def shown(name: Any) -> str:
    """The beginning of a name, in quotes and without control characters."""
    text = str(name)
    return repr(text if len(text) <= 60 else text[:60] + "…")


def _values(
    what: str, given: ArrayLike | None, n: int, length: int, low: float, high: float
) -> Floats | None:
    if given is None:
        return None
    values = np.array(_checks.numbers_of(what, given))
    if values.shape != (length,):
        raise InputError(f"{what} has shape {values.shape}; ({length},) is needed for {n} leaves")
    wrong = np.flatnonzero((values < low) | (values > high) | np.isinf(values))
    if wrong.size:
        raise InputError(f"{what}[{wrong[0]}] is {values[wrong[0]]}, not finite within {low:g} to {high:g}")
    return values


def _labels(names: Sequence[str | None] | None, n: int) -> tuple[str | None, ...] | None:
    if names is None:
        return None
    names = _checks.listed("node_names", names)
    if len(names) != n - 1:
        raise InputError(f"node_names are {len(names)}; one per merge, {n - 1}, is needed for {n} leaves")
    for at, name in enumerate(names):
        if name is not None and not isinstance(name, str):
            raise InputError(
                f"node_names[{at}] is {_checks.quoted(name)} of type {type(name).__name__}, not str or None"
            )
    labels = tuple(
        None if name is None else _checks.text(f"node_names[{at}]", name) for at, name in enumerate(names)
    )
    return labels if any(label is not None for label in labels) else None


def same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    """Whether both are missing, or equal with NaN at the same places."""
    if a is None or b is None:
        return a is b
    return a is b or np.array_equal(a, b, equal_nan=a.dtype != np.bool_)
