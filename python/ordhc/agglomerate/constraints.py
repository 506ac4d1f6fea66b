"""Sizes of leaves, and pairs of leaves that must or must not be in one cluster."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc.agglomerate.engine import engine_linkage, similarities_of
from ordhc.errors import InputError
from ordhc.plugins.specs import LinkageSpec
from ordhc.tree.dendrogram import Dendrogram, from_engine


@dataclass(frozen=True)
class Constraints:
    """Sizes of leaves, and constraints on merges, which `Constraints.of` has checked."""

    #: (n,) positive numbers; None if all are 1.
    sizes: NDArray[np.float64] | None
    #: (n,) labels of clusters to start from; None if there are none.
    initial: NDArray[np.int64] | None
    #: (k, 2) ids of the pairs of leaves to keep apart; None if not given.
    apart: NDArray[np.int64] | None

    @classmethod
    def of(
        cls,
        n: int,
        names: Sequence[str] | None,
        *,
        initial_clusters: ArrayLike | None,
        must_link: Any,
        cannot_link: Any,
        sizes: ArrayLike | None,
    ) -> Constraints:
        """Check the arguments of `linkage`, and return them as `Constraints`."""
        initial = _checks.labels("initial_clusters", initial_clusters, n)
        if must_link is not None:
            initial = _joined(_pairs("must_link", must_link, n, names), n, initial)
        apart = None if cannot_link is None else _pairs("cannot_link", cannot_link, n, names)
        if apart is not None and initial is not None:
            for row in np.flatnonzero(initial[apart[:, 0]] == initial[apart[:, 1]])[:1]:
                a, b = (_shown(leaf, names) for leaf in apart[row])
                raise InputError(
                    f"cannot_link has the pair {a}, {b}, which must be in one cluster", row=int(row)
                )
        return cls(None if sizes is None else _sizes(sizes, n, names), initial, apart)

    @property
    def has_sizes_or_apart(self) -> bool:
        return self.sizes is not None or self.apart is not None

    def in_order(self, order: NDArray[np.int64]) -> Constraints:
        """Return the constraints with leaf `order[i]` as leaf i."""
        place = np.argsort(order)
        return Constraints(
            None if self.sizes is None else self.sizes[order],
            None if self.initial is None else self.initial[order],
            None if self.apart is None else place[self.apart],
        )


def _sizes(given: ArrayLike, n: int, names: Sequence[str] | None) -> NDArray[np.float64]:
    table = _checks.array("sizes", given)
    if table.shape != (n,) or table.dtype.kind not in "iufb":
        raise InputError(f"sizes has shape {table.shape}; a positive number for each of {n} leaves is needed")
    found = table.astype(np.float64)
    for leaf in np.flatnonzero(~(np.isfinite(found) & (found > 0)))[:1]:
        raise InputError(f"size {found[leaf]:g} of leaf {_shown(leaf, names)} is not a positive number")
    return found


def _pairs(what: str, given: Any, n: int, names: Sequence[str] | None) -> NDArray[np.int64]:
    try:
        rows = None if isinstance(given, str | bytes) else list(given)
    except Exception:
        rows = None
    if rows is None:
        raise InputError(f"{what} is {_checks.quoted(given)}, which is not a list of pairs of leaves")
    number = _checks.LeafNumbers(names or ())
    found = np.zeros((len(rows), 2), dtype=np.int64)
    for row, pair in enumerate(rows):
        is_list = isinstance(pair, tuple | list) or (isinstance(pair, np.ndarray) and pair.ndim == 1)
        if not is_list or len(pair) != 2:
            raise InputError(f"{what} has {_checks.quoted(pair)}, which is not a pair of leaves", row=row)
        for at, leaf in enumerate(pair):
            if isinstance(leaf, str):
                if leaf not in number:
                    raise InputError(f"{what}: " + _checks.unknown_name(leaf, tuple(names or ())), row=row)
                found[row, at] = number[leaf]
                continue
            found[row, at] = _checks.whole(what, leaf, at_least=0)
            if found[row, at] >= n:
                raise InputError(f"{what} has leaf {leaf}; the ids of the leaves are 0 to {n - 1}", row=row)
        if found[row, 0] == found[row, 1]:
            raise InputError(f"{what} has leaf {_shown(found[row, 0], names)} twice in a pair", row=row)
    return found


def _joined(pairs: NDArray[np.int64], n: int, initial: NDArray[np.int64] | None) -> NDArray[np.int64]:
    labels = np.arange(n) if initial is None else np.unique(initial, return_inverse=True)[1].reshape(n)
    for a, b in pairs:
        labels[labels == labels[b]] = labels[a]
    return labels


def _shown(leaf: Any, names: Sequence[str] | None) -> str:
    return str(leaf) if names is None else _checks.quoted(names[leaf])


def merged_under(
    constraints: Constraints,
    spec: LinkageSpec,
    values: NDArray[Any],
    settings: Mapping[str, Any],
    progress: Progress | None,
    *,
    dissimilarity: bool,
    names: tuple[str, ...] | None,
    made: Mapping[str, Any],
) -> Dendrogram:
    if spec.update_row is not None or spec.make_update is not None:
        raise InputError(
            f"sizes= and cannot_link= do not work with linkage {spec.name!r}, which is a Python function: "
            "leave them out"
        )
    if constraints.sizes is not None and spec.native == "ward" and not dissimilarity:
        raise InputError("linkage 'ward' takes sizes with dissimilarities only: give dissimilarity=True")

    rule = engine_linkage(spec, settings, partial(similarities_of, values, dissimilarity))
    apart = np.zeros((0, 2), dtype=np.int64) if constraints.apart is None else constraints.apart
    tree = from_engine(
        _ordhc.agglomerate_constrained(
            values, rule, dissimilarity, "auto", constraints.initial, constraints.sizes, apart, progress
        ),
        names,
        settings=made,
    )
    if not len(apart):
        return tree
    return tree.replace(settings={**made, "n_apart": _n_apart(tree, apart)})


def _n_apart(tree: Dendrogram, apart: NDArray[np.int64]) -> int:
    """Return the smallest number of clusters in a cut of the tree that separates each pair in `apart`."""

    def separates_all(n_clusters: int) -> bool:
        labels = tree.cut(n_clusters=n_clusters)
        return bool((labels[apart[:, 0]] != labels[apart[:, 1]]).all())

    return 1 + bisect_left(range(1, tree.n_leaves), True, key=separates_all)
