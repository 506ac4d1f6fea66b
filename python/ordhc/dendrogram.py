"""The dendrogram: what we believe the hierarchy to be."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.comparisons import _checked_names, _whole
from ordhc.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Dendrogram"]


class Dendrogram:
    """Merges of `n_leaves` leaves into one cluster, in order, with their heights.

    Clusters are labelled as SciPy labels them: leaves are 0..n-1, merge k makes cluster n + k.
    Heights are in the units that the tree was made from: similarities (they fall towards the root) or
    dissimilarities (they rise), see `kind`.

    Parameters
    ----------
    merges
        (n - 1, 2) cluster labels.
    heights
        (n - 1,) finite.
    kind
        "similarity" or "dissimilarity".
    names
        The names of the leaves.
    support
        (n - 1,) for each merge how sure it is, from 0 to 1, as `bootstrap` gives it; NaN for merges
        that are only part of a node of more than two children.
    leaf_heights
        (n,) the heights at which leaves themselves stand, as `cluster` gives them for dot products.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
    >>> d.to_newick()
    '(car:2,(cat:0.5,dog:0.5):1.5);'
    >>> d.cut(n_clusters=2)
    array([0, 0, 1])
    """

    __slots__ = ("_leaf_heights", "_names", "_support", "_tree")

    def __init__(
        self,
        merges: ArrayLike,
        heights: ArrayLike,
        *,
        kind: str = "dissimilarity",
        names: Sequence[str] | None = None,
        support: ArrayLike | None = None,
        leaf_heights: ArrayLike | None = None,
    ) -> None:
        kind = _checks.choice("kind", kind, ("similarity", "dissimilarity"))
        pairs = _checks.array("merges", merges)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"merges have shape {pairs.shape}; (n - 1, 2) is needed")
        whole = _whole_labels(pairs)
        values = _checks.numbers_of("heights", heights)
        if values.ndim != 1:
            raise InputError(f"heights have shape {values.shape}; one per merge is needed")
        self._tree = _ordhc.Dendrogram(whole, values, kind == "dissimilarity")
        self._names = self._fitting(names)
        self._support = self._checked("support", support, self.n_leaves - 1, 0, 1)
        self._leaf_heights = self._checked("leaf_heights", leaf_heights, self.n_leaves, -np.inf, np.inf)

    @classmethod
    def _of(
        cls,
        tree: _ordhc.Dendrogram,
        names: Sequence[str] | None,
        support: ArrayLike | None = None,
        leaf_heights: ArrayLike | None = None,
    ) -> Self:
        self = cls.__new__(cls)
        self._tree = tree
        self._names = self._fitting(names)
        self._support = self._checked("support", support, self.n_leaves - 1, 0, 1)
        self._leaf_heights = self._checked("leaf_heights", leaf_heights, self.n_leaves, -np.inf, np.inf)
        return self

    def _checked(
        self, what: str, given: ArrayLike | None, length: int, low: float, high: float
    ) -> NDArray[np.float64] | None:
        if given is None:
            return None
        values = np.array(_checks.numbers_of(what, given))
        if values.shape != (length,):
            raise InputError(
                f"{what} has shape {values.shape}; ({length},) is needed for {self.n_leaves} leaves"
            )
        wrong = np.flatnonzero((values < low) | (values > high) | np.isinf(values))
        if wrong.size:
            raise InputError(
                f"{what}[{wrong[0]}] is {values[wrong[0]]}, not finite within {low:g} to {high:g}"
            )
        values.flags.writeable = False
        return values

    def _fitting(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        checked = _checked_names(names)
        if checked is not None and len(checked) != self._tree.n_leaves:
            raise InputError(f"{len(checked)} names for {self._tree.n_leaves} leaves")
        return checked

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._tree.n_leaves

    @property
    def kind(self) -> str:
        """What heights are: "similarity" or "dissimilarity"."""
        return "dissimilarity" if self._tree.dissimilarity else "similarity"

    @property
    def merges(self) -> NDArray[np.int64]:
        """The two clusters of each merge, (n - 1, 2), the smaller label first."""
        return self._tree.merges()

    @property
    def heights(self) -> NDArray[np.float64]:
        """The height of each merge, (n - 1,)."""
        return self._tree.heights()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of leaves of the cluster that each merge makes, (n - 1,)."""
        return self._tree.sizes()

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def support(self) -> NDArray[np.float64] | None:
        """How sure each merge is, (n - 1,) from 0 to 1 (NaN within a node), or None."""
        return self._support

    @property
    def leaf_heights(self) -> NDArray[np.float64] | None:
        """The heights at which leaves themselves stand, (n,), or None.

        For dot products a leaf stands at its own squared length (over p), but no further from the others
        than its merge: max(h(parent), s_ii) (Gray et al. 2024, Algorithm 1).
        """
        return self._leaf_heights

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the leaves, their numbers where they have none."""
        return self._names or tuple(str(leaf) for leaf in range(self.n_leaves))

    @property
    def is_monotone(self) -> bool:
        """Whether there are no inversions: no merge is closer than a merge within it."""
        return self._tree.is_monotone()

    def with_names(self, names: Sequence[str] | None) -> "Dendrogram":
        """The same tree with other names."""
        return Dendrogram._of(self._tree, names, self._support, self._leaf_heights)

    def with_support(self, support: ArrayLike | None) -> "Dendrogram":
        """The same tree with other support.

        Examples
        --------
        >>> Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).with_support([0.93, 1.0]).to_newick()
        '(2:2,(0:1,1:1)93:1)100;'
        """
        return Dendrogram._of(self._tree, self._names, support, self._leaf_heights)

    def with_leaf_heights(self, leaf_heights: ArrayLike | None) -> "Dendrogram":
        """The same tree with leaves at other heights.

        Examples
        --------
        >>> d = Dendrogram([(0, 1)], [2.0], kind="similarity")
        >>> d.with_leaf_heights([5.0, 3.0]).to_newick()
        '(0:3,1:1);'
        """
        return Dendrogram._of(self._tree, self._names, self._support, leaf_heights)

    def relabel(self, leaves: ArrayLike) -> "Dendrogram":
        """The same tree over renumbered leaves: leaf i becomes `leaves[i]`, with its name.

        Examples
        --------
        >>> Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).relabel([2, 1, 0]).merges.tolist()
        [[1, 2], [0, 3]]
        """
        order = _checks.whole_numbers("leaves", leaves, (self.n_leaves,))
        tree = self._tree.relabel(order)
        names = None
        if self._names is not None:
            names = [self._names[leaf] for leaf in np.argsort(order)]
        own = None if self._leaf_heights is None else self._leaf_heights[np.argsort(order)]
        return Dendrogram._of(tree, names, self._support, own)

    def to_scipy(self) -> NDArray[np.float64]:
        """SciPy's linkage matrix Z, (n - 1, 4): the two clusters, the height, the size.

        SciPy wants non-negative, growing heights. Dissimilarities stay as they are; similarities h
        become max(h) - h, so that the closest merge stands at 0 (`leaf_heights` have no place there).

        Examples
        --------
        >>> Dendrogram([(0, 1), (2, 3)], [5.0, 2.0], kind="similarity").to_scipy()
        array([[0., 1., 0., 2.],
               [2., 3., 3., 3.]])
        """
        heights = self.heights
        if self.kind == "similarity" and len(heights):
            heights = heights.max() - heights
        return np.column_stack([self.merges.astype(np.float64), heights, self.sizes.astype(np.float64)])

    @classmethod
    def from_scipy(cls, Z: ArrayLike, names: Sequence[str] | None = None) -> "Dendrogram":
        """From SciPy's linkage matrix Z, (n - 1, 4); heights are dissimilarities.

        Examples
        --------
        >>> Dendrogram.from_scipy([[0, 1, 0.5, 2], [2, 3, 1.0, 3]])
        <Dendrogram: 3 leaves, dissimilarity 0.5 .. 1>
        """
        table = _checks.numbers_of("Z", Z)
        if table.size == 0:
            table = np.zeros((0, 4))
        if table.ndim != 2 or table.shape[1] != 4:
            raise InputError(f"Z has shape {table.shape}, not (n - 1, 4)")
        tree = cls(table[:, :2], table[:, 2], names=names)
        wrong = np.flatnonzero(table[:, 3] != tree.sizes)
        if wrong.size:
            at = wrong[0]
            raise InputError(f"Z[{at}, 3] is {table[at, 3]:g}, but merge {at} makes {tree.sizes[at]} leaves")
        return tree

    def to_newick(self, *, branch_lengths: bool = True, heights: bool = False) -> str:
        """The tree as Newick text.

        Branch lengths are differences of heights: leaves stand at `leaf_heights` or, without these, at
        0 with dissimilarities, at the closest merge with similarities. `heights` adds the exact heights
        as comments, from which `from_newick` restores the tree. Support is written as the label of a
        node, in percent.
        """
        names = None if self._names is None else list(self._names)
        labels: list[str | None] | None = None
        if self._support is not None:
            labels = [None if share != share else f"{100 * share:.4g}" for share in self._support.tolist()]
        own = None if self._leaf_heights is None else self._leaf_heights.tolist()
        return self._tree.to_newick(names, labels, own, branch_lengths, heights)

    @classmethod
    def from_newick(cls, text: str, names: Sequence[str] | None = None) -> "Dendrogram":
        """Read Newick text.

        Leaves are numbered in the order in which they stand; with `names` in that order instead; if
        all of them are the numbers 0..n-1, by these numbers. Heights come from `to_newick`'s
        comments, else from branch lengths, else from the depth. Nodes of more than two children
        become merges of equal height.

        Examples
        --------
        >>> Dendrogram.from_newick("((cat:1,dog:1):2,car:3);").names
        ('cat', 'dog', 'car')
        """
        tree, found = _ordhc.Dendrogram.from_newick(text)
        n = len(found)
        if names is not None:
            wanted = _checked_names(names) or ()
            place = {name: leaf for leaf, name in enumerate(wanted)}
            for name in found:
                if name not in place:
                    raise InputError(f"the tree's leaf {name!r} is not among the names")
            if len(wanted) != n:
                lost = next(name for name in wanted if name not in set(found))
                raise InputError(f"the name {lost!r} is not in the tree")
            order = np.array([place[name] for name in found], dtype=np.int64)
            return cls._of(tree.relabel(order), wanted)
        if all(name.isascii() and name.isdigit() for name in found):
            numbers = [int(name) for name in found]
            if sorted(numbers) == list(range(n)):
                return cls._of(tree.relabel(np.array(numbers, dtype=np.int64)), None)
        return cls._of(tree, found)

    def to_dict(self) -> dict[str, Any]:
        """Everything as a dict that JSON can hold; `from_dict` restores it unchanged."""
        everything: dict[str, Any] = {
            "n_leaves": self.n_leaves,
            "kind": self.kind,
            "merges": self.merges.tolist(),
            "heights": self.heights.tolist(),
            "names": None if self._names is None else list(self._names),
        }
        if self._support is not None:
            shares = self._support.tolist()
            everything["support"] = [None if share != share else share for share in shares]
        if self._leaf_heights is not None:
            everything["leaf_heights"] = self._leaf_heights.tolist()
        return everything

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Dendrogram":
        """From what `to_dict` gives."""
        try:
            merges, heights, kind = data["merges"], data["heights"], data["kind"]
        except (KeyError, TypeError):
            raise InputError("a tree needs the keys merges, heights and kind") from None
        support = data.get("support")
        if support is not None:
            support = [np.nan if share is None else share for share in support]
        own = data.get("leaf_heights")
        return cls(merges, heights, kind=kind, names=data.get("names"), support=support, leaf_heights=own)

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> NDArray[np.int64]:
        """Flat clusters: the label of each leaf, (n,), counted from 0 by first leaf.

        Parameters
        ----------
        n_clusters
            Undo the last `n_clusters` - 1 merges, in merge order.
        height
            Keep the merges at least this close: dissimilarities up to it, similarities from it up.
            Under an inversion a merge is kept only if all merges within it are.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [5.0, 2.0], kind="similarity")
        >>> d.cut(n_clusters=2), d.cut(height=2.0)
        (array([0, 0, 1]), array([0, 0, 0]))
        """
        if (n_clusters is None) == (height is None):
            raise InputError("give either n_clusters or height")
        if n_clusters is not None:
            return self._tree.cut_clusters(_whole("n_clusters", n_clusters, at_least=1))
        return self._tree.cut_height(float(_checks.numbers_of("height", height, ())))

    @overload
    def lca_size(self, i: int, j: int) -> int: ...
    @overload
    def lca_size(self, i: ArrayLike, j: ArrayLike) -> "int | NDArray[np.int64]": ...
    def lca_size(self, i: ArrayLike, j: ArrayLike) -> "int | NDArray[np.int64]":
        """How many leaves the smallest cluster with both leaves has; arrays are broadcast.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [1.0, 2.0])
        >>> d.lca_size(0, 1), d.lca_size([0, 0], [1, 2])
        (2, array([2, 3]))
        """
        a, b = np.broadcast_arrays(_whole_labels(i), _whole_labels(j))
        sizes = self._tree.lca_sizes(
            np.ascontiguousarray(a.ravel(), dtype=np.int64),
            np.ascontiguousarray(b.ravel(), dtype=np.int64),
        )
        return int(sizes[0]) if a.ndim == 0 else sizes.reshape(a.shape)

    def leaf_order(self) -> NDArray[np.int64]:
        """The leaves from left to right, the cluster with the smaller label on the left."""
        return self._tree.leaf_order()

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the tree with Matplotlib (the extra `plot`); see `ordhc.plotting.plot_dendrogram`."""
        from ordhc.plotting import plot_dendrogram

        return plot_dendrogram(self, ax, **options)

    def __len__(self) -> int:
        return self.n_leaves

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dendrogram):
            return NotImplemented
        extras = [(self._support, other._support), (self._leaf_heights, other._leaf_heights)]
        return (
            self.kind == other.kind
            and self._names == other._names
            and all(_same(mine, theirs) for mine, theirs in extras)
            and np.array_equal(self.merges, other.merges)
            and np.array_equal(self.heights, other.heights)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        heights = self.heights
        span = f", {self.kind} {heights[0]:.6g} .. {heights[-1]:.6g}" if len(heights) else ""
        return f"<Dendrogram: {self.n_leaves:,} leaves{span}>"

    def _repr_html_(self) -> str:
        """The picture, in a notebook; the text where Matplotlib is missing."""
        from html import escape

        from ordhc.errors import MissingExtraError

        text = f"<code>{escape(repr(self))}</code>"
        if self.n_leaves > 500:
            return text
        try:
            from ordhc.plotting import svg
        except MissingExtraError:
            return text
        try:
            return f"<div>{text}{svg(self)}</div>"
        except MissingExtraError:
            return text

    def __reduce__(self) -> tuple[Any, ...]:
        return Dendrogram.from_dict, (self.to_dict(),)


def _same(a: NDArray[np.float64] | None, b: NDArray[np.float64] | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b, equal_nan=True))


def _whole_labels(labels: Any) -> NDArray[np.int64]:
    return _checks.whole_numbers("labels", labels)
