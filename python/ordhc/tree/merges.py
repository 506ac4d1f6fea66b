"""What a dendrogram is made of; `ordhc.Dendrogram` is the class to use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.errors import InputError
from ordhc.tree.beside import Beside
from ordhc.tree.shape import Shape


class Merges:
    """Merges, heights and what stands beside them, checked, kept and changed; see `ordhc.Dendrogram`."""

    __slots__ = ("_beside", "_cache", "_tree")

    def __init__(
        self,
        merges: ArrayLike,
        heights: ArrayLike,
        *,
        kind: str = "dissimilarity",
        names: Sequence[str] | None = None,
        node_names: Sequence[str | None] | None = None,
        support: ArrayLike | None = None,
        branch_lengths: ArrayLike | None = None,
        joined: ArrayLike | None = None,
        leaf_heights: ArrayLike | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        kind = _checks.choice("kind", kind, ("similarity", "dissimilarity"))
        pairs = _checks.array("merges", merges)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"merges have shape {pairs.shape}; (n - 1, 2) is needed")
        whole = whole_labels(pairs)
        values = _checks.numbers_of("heights", heights)
        if values.ndim != 1:
            raise InputError(f"heights have shape {values.shape}; one per merge is needed")
        tree = _ordhc.Dendrogram(whole, values, kind == "dissimilarity", marks_of(joined))
        self._set(
            tree,
            Beside.of(
                tree,
                names=names,
                node_names=node_names,
                support=support,
                branch_lengths=branch_lengths,
                leaf_heights=leaf_heights,
                settings=settings,
            ),
        )

    def _set(self, tree: _ordhc.Dendrogram, beside: Beside) -> None:
        self._tree = tree
        self._beside = beside
        self._cache: dict[str, Any] = {}

    @classmethod
    def _made(cls, tree: _ordhc.Dendrogram, beside: Beside) -> Self:
        self = cls.__new__(cls)
        self._set(tree, beside)
        return self

    @classmethod
    def _of(
        cls,
        tree: _ordhc.Dendrogram,
        names: Sequence[str] | None,
        support: ArrayLike | None = None,
        leaf_heights: ArrayLike | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Self:
        beside = Beside.of(tree, names=names, support=support, leaf_heights=leaf_heights, settings=settings)
        return cls._made(tree, beside)

    def _with(self, tree: Any = None, **changes: Any) -> Self:
        tree = self._tree if tree is None else tree
        mine = {field.name: getattr(self._beside, field.name) for field in fields(Beside)}
        return type(self)._made(tree, Beside.of(tree, **{**mine, **changes}))

    def _cached(self, name: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """An array that is made once; it is read-only, as all share it."""
        found: NDArray[Any] | None = self._cache.get(name)
        if found is None:
            found = make()
            found.flags.writeable = False
            self._cache[name] = found
        return found

    @property
    def _shape(self) -> Shape:
        found: Shape | None = self._cache.get("shape")
        if found is None:
            found = self._cache["shape"] = Shape.of(self._tree, self._beside)
        return found

    @property
    def _all_heights(self) -> NDArray[np.float64]:
        return self._cached("all heights", lambda: self._beside.all_heights(self._tree))

    @property
    def _lengths(self) -> NDArray[np.float64]:
        return self._cached("lengths", lambda: self._beside.lengths(self._tree))

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
        return self._cached("merges", self._tree.merges)

    @property
    def heights(self) -> NDArray[np.float64]:
        """The height of each merge, (n - 1,)."""
        return self._cached("heights", self._tree.heights)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of leaves of the cluster that each merge makes, (n - 1,)."""
        return self._cached("sizes", self._tree.sizes)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._beside.names

    @property
    def node_names(self) -> tuple[str | None, ...] | None:
        """The name of each merge's node or None, (n - 1,), or None if no node has one."""
        return self._beside.node_names

    @property
    def support(self) -> NDArray[np.float64] | None:
        """How sure each merge is, (n - 1,) from 0 to 1 (NaN where that isn't known), or None."""
        return self._beside.support

    @property
    def branch_lengths(self) -> NDArray[np.float64] | None:
        """The length of the branch above each cluster, (2n - 1,), or None: then heights tell them.

        Leaves come first, the root last. NaN is no length. `from_newick` keeps lengths here where
        differences of heights aren't the same.
        """
        return self._beside.branch_lengths

    @property
    def joined(self) -> NDArray[np.bool_] | None:
        """Whether each merge is only part of the node of the merge above it, (n - 1,), or None if none is.

        A node of k children is k - 1 merges at its height, all but the last of them joined. Trees that were
        read, learnt, contracted or made of labels have such nodes; an agglomeration has none, also where
        heights are equal, until `join_ties` makes them.
        """
        if "joined" not in self._cache:
            marks = self._tree.joined()
            if marks is not None:
                marks.flags.writeable = False
            self._cache["joined"] = marks
        found: NDArray[np.bool_] | None = self._cache["joined"]
        return found

    @property
    def leaf_heights(self) -> NDArray[np.float64] | None:
        """The heights at which leaves themselves stand, (n,), or None.

        For dot products a leaf stands at its own squared length (over p), but no further from the others
        than its merge: max(h(parent), s_ii) (Gray et al. 2024, Algorithm 1).
        """
        return self._beside.leaf_heights

    @property
    def settings(self) -> Mapping[str, Any] | None:
        """What made the tree, read-only, or None where nobody knows.

        `cluster`, `linkage`, `refine` and `bootstrap` set "similarity", "linkage", "refine" (the objective by
        which subtrees were moved), each a name or None, and "similarity_parameters", "linkage_parameters",
        "refine_parameters". Numbers, texts and short lists stay as they are, all else is its text. Trees are
        equal whatever made them.
        """
        return self._beside.settings

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the leaves, their numbers where they have none."""
        if self.names is not None:
            return self.names
        if "labels" not in self._cache:
            self._cache["labels"] = tuple(map(str, range(self.n_leaves)))
        numbers: tuple[str, ...] = self._cache["labels"]
        return numbers

    @property
    def is_monotone(self) -> bool:
        """Whether there are no inversions: no merge is closer than a merge within it."""
        return self._tree.is_monotone()

    def with_names(self, names: Sequence[str] | None) -> Self:
        """The same tree with other names."""
        return self._with(names=names)

    def with_support(self, support: ArrayLike | None) -> Self:
        """The same tree with other support.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).with_support([0.93, 1.0]).to_newick()
        '(2:2,(0:1,1:1)93:1)100;'
        """
        return self._with(support=support)

    def with_leaf_heights(self, leaf_heights: ArrayLike | None) -> Self:
        """The same tree with leaves at other heights.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1)], [2.0], kind="similarity")
        >>> d.with_leaf_heights([5.0, 3.0]).to_newick()
        '(0:3,1:1);'
        """
        return self._with(leaf_heights=leaf_heights)

    def with_settings(self, settings: Mapping[str, Any] | None) -> Self:
        """The same tree, made by something else.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1)], [2.0]).with_settings({"linkage": "by hand"})
        >>> d.settings["linkage"], d.relabel([1, 0])
        ('by hand', <Dendrogram: 2 leaves, dissimilarity 2 .. 2, by hand linkage>)
        """
        return self._with(settings=settings)

    def with_node_names(self, node_names: Sequence[str | None] | None) -> Self:
        """The same tree with other names of its nodes.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).with_node_names(["pets", None]).to_newick()
        '(2:2,(0:1,1:1)pets:1);'
        """
        return self._with(node_names=node_names)

    def with_branch_lengths(self, branch_lengths: ArrayLike | None) -> Self:
        """The same tree with other lengths of branches; with None heights tell them.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1)], [2.0])
        >>> d.with_branch_lengths([0.5, 3.5, float("nan")]).to_newick()
        '(0:0.5,1:3.5);'
        """
        return self._with(branch_lengths=branch_lengths)

    def relabel(self, leaves: ArrayLike) -> Self:
        """The same tree over renumbered leaves: leaf i becomes `leaves[i]`, with its name.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).relabel([2, 1, 0]).merges.tolist()
        [[1, 2], [0, 3]]
        """
        order = _checks.whole_numbers("leaves", leaves, (self.n_leaves,))
        return type(self)._made(self._tree.relabel(order), self._beside.relabelled(order))

    def join_ties(self) -> Self:
        """The same tree in which merges right within each other at the same height are one node.

        Support and names of merges that become a part of another node are left out.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 1.0])
        >>> d.to_newick(branch_lengths=False), d.join_ties().to_newick(branch_lengths=False)
        ('(2,(0,1));', '(2,0,1);')
        """
        tree, mine = self._tree.join_ties(), self._beside
        marks = tree.joined()
        names = mine.node_names
        if names is not None and marks is not None:
            names = tuple(None if part else name for name, part in zip(names, marks.tolist(), strict=True))
        return self._with(tree, node_names=names)

    def __len__(self) -> int:
        return self.n_leaves


def marks_of(joined: ArrayLike | None) -> NDArray[np.bool_] | None:
    """Marks of joined merges as an array of bool, or an error that says what they are."""
    if joined is None:
        return None
    marks = _checks.array("joined", joined)
    if marks.size == 0:
        marks = marks.astype(bool)
    if marks.dtype != np.bool_ or marks.ndim != 1:
        raise InputError(f"joined has type {marks.dtype} and shape {marks.shape}; a bool per merge is needed")
    return np.ascontiguousarray(marks)


def whole_labels(labels: Any) -> NDArray[np.int64]:
    """Labels of leaves or clusters as whole numbers, or an error that names the first that is none."""
    return _checks.whole_numbers("labels", labels)
