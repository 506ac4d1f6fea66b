"""The class `Dendrogram`: a rooted tree, with its methods for cutting, changing, writing and drawing."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError, warn
from ordhc.tree import newick, orders, rooting, tables
from ordhc.tree.annotations import Annotations, shown
from ordhc.tree.node import Node
from ordhc.tree.pictures import PictureOptions, SavedOptions
from ordhc.tree.settings import in_words
from ordhc.tree.shape import Shape

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

Leaves = int | str | Sequence[int | str] | NDArray[Any]
_Made = TypeVar("_Made")

_ORDERS = ("preorder", "postorder")

#: The largest allowed distance from the root. Sums of such distances, as in `patristic`, do not overflow.
_LONGEST = np.finfo(np.float64).max / 8


class _Kept:
    def __repr__(self) -> str:
        return "..."


#: The default of each argument of `Dendrogram.replace`: the tree keeps its value. None removes the value.
_KEPT: Any = _Kept()


class Dendrogram:
    """A rooted tree of `n_leaves` leaves: the result of an agglomeration, or any other hierarchy.

    Leaves have the numbers 0 to n - 1. Inner nodes follow, children before parents, and the root is last.

    A tree has *heights* (an agglomeration), or *lengths* of its edges (a phylogeny, an additive tree), or
    only a *shape*. `scale` names which of the three. The constructor makes a binary tree from merges and
    their heights. In a binary tree node n + k is merge k, as in SciPy. `from_parents` makes a tree of any
    shape.

    Heights have the unit of the data: similarities, which fall towards the root, or dissimilarities, which
    rise towards the root (`kind`). An agglomeration is binary, even if heights are equal;
    ``contract(ties=True)`` joins nodes of equal height. Trees from files, learners, labels and `contract` can
    have nodes with more than two children.

    In shapes of arrays, n is the number of leaves and n_nodes the number of all nodes, ``len(tree.parents)``.

    Parameters
    ----------
    merges
        (n - 1, 2), the two clusters of each merge.
    heights
        (n - 1,), finite: the height of each merge.
    kind
        "similarity" or "dissimilarity": the unit of the heights.
    names
        (n,), the names of the leaves.
    node_names
        (n - 1,), for each merge the name of its node, or None.
    support
        (n - 1,), from 0 to 1: how certain each merge is, for example as `bootstrap` estimates. NaN means
        unknown support.
    leaf_heights
        (n,), the heights of the leaves. `cluster` sets leaf heights for dot products. By default leaves have
        height 0 with dissimilarities, and the height of the closest merge with similarities.
    settings
        The method that made the tree, and its parameters; see `Dendrogram.settings`.

    Notes
    -----
    Members, in groups:

    * Shape: `n_leaves`, `parents`, `merges`, `sizes`, `leaf_order`, `from_parents`
    * Heights and lengths: `scale`, `kind`, `heights`, `leaf_heights`, `lengths`, `is_monotone`, `cophenetic`,
      `patristic`
    * Names, support, settings: `names`, `labels`, `node_names`, `support`, `settings`, `replace`
    * Nodes: `root`, `node`, `nodes`
    * Flat clusters: `cut`
    * Changes (each returns a new tree): `keep`, `prune`, `collapse`, `contract`, `reroot`, `rotate`,
      `relabel`
    * Files and pictures: `to_newick`, `from_newick`, `to_linkage_matrix`, `from_linkage_matrix`, `to_dict`,
      `to_frame`, `to_networkx`, `plot`, `savefig`

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
    >>> d.to_newick()
    '(car:1,(cat:0.25,dog:0.25):0.75);'
    >>> d.cut(n_clusters=2)
    array([0, 0, 1])
    """

    __slots__ = ("_annotations", "_cache", "_tree")

    # Constructors.

    def __init__(
        self,
        merges: ArrayLike,
        heights: ArrayLike,
        *,
        kind: str = "dissimilarity",
        names: Sequence[str] | None = None,
        node_names: Sequence[str | None] | None = None,
        support: ArrayLike | None = None,
        leaf_heights: ArrayLike | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        kind = _checks.choice("kind", kind, ("similarity", "dissimilarity"))
        pairs = _checks.array("merges", merges)
        if pairs.size == 0:
            pairs = np.zeros((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"merges have shape {pairs.shape}; (n - 1, 2) is needed")
        values = _checks.numbers_of("heights", heights)
        if values.ndim != 1:
            raise InputError(f"heights have shape {values.shape}; one per merge is needed")
        tree = _ordhc.Tree(_checks.whole_numbers("labels", pairs), values, kind == "dissimilarity")
        if leaf_heights is not None:
            tree = tree.with_leaf_heights(_checks.numbers_of("leaf_heights", leaf_heights, (tree.n_leaves,)))
        annotations = Annotations.of(
            tree, names=names, node_names=node_names, support=support, settings=settings
        )
        self._set(tree, annotations)

    @classmethod
    def from_parents(
        cls,
        parents: ArrayLike,
        *,
        heights: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
        kind: str = "dissimilarity",
        names: Sequence[str] | None = None,
        node_names: Sequence[str | None] | None = None,
        support: ArrayLike | None = None,
        leaf_heights: ArrayLike | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Dendrogram:
        """Make a tree of any shape from the parent of each node.

        The method renumbers inner nodes by height or, in a tree with lengths, by the longest path below them.
        Among equal nodes the smaller cluster comes first, then the cluster with the smaller leaf. So the tree
        does not depend on how its nodes were numbered.

        Parameters
        ----------
        parents
            (n_nodes,), the parent of each node: leaves first, children before parents. The root is last and
            has the parent -1.
        heights
            (n_nodes - n,), the height of each inner node.
        lengths
            (n_nodes,), the length of the edge above each node. NaN means an unknown length, as above the
            root. At most one of `heights` and `lengths` can be given. A tree without both is shape alone.
        kind, names, settings, leaf_heights
            As in the constructor.
        node_names
            (n_nodes - n,), the name of each inner node, or None.
        support
            (n_nodes - n,), from 0 to 1: how certain each inner node is. NaN means unknown support.

        Raises
        ------
        InputError
            `parents` is not a tree: a node has one child, or a parent does not come after its child.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram.from_parents([3, 3, 3, -1], heights=[2.0]).to_newick()
        '(0:1,1:1,2:1);'
        >>> ordhc.Dendrogram.from_parents([3, 3, 4, 4, -1], lengths=[1, 2, 3, 1, np.nan]).cophenetic()
        array([3., 5., 6.])
        """
        above, n = _checked_parents(parents)
        kind = _checks.choice("kind", kind, ("similarity", "dissimilarity"))
        if heights is not None and lengths is not None:
            raise InputError("give heights= or lengths=, not both")
        tree, order = _ordhc.Tree.of_nodes(
            n,
            above,
            None if heights is None else _checks.numbers_of("heights", heights, (len(above) - n,)),
            None if lengths is None else _checks.numbers_of("lengths", lengths, (len(above),)),
            dissimilarity=kind == "dissimilarity",
            sort=True,
        )
        if leaf_heights is not None:
            tree = tree.with_leaf_heights(_checks.numbers_of("leaf_heights", leaf_heights, (n,)))
        annotations = Annotations.of(
            tree, names=names, node_names=node_names, support=support, settings=settings
        )
        return with_annotations(tree, annotations.of_nodes(order, n, n))

    def _set(self, tree: _ordhc.Tree, annotations: Annotations) -> None:
        self._tree = tree
        self._annotations = annotations
        self._cache: dict[str, Any] = {}

    def _with(self, tree: Any = None, **changes: Any) -> Dendrogram:
        tree = self._tree if tree is None else tree
        return with_annotations(tree, self._annotations.changed(tree, **changes))

    def _derived(self, found: tuple[_ordhc.Tree, NDArray[np.int64]]) -> Dendrogram:
        """Return the dendrogram of a compiled tree that was made from `self`, with annotations of `self`.

        `found` is an `_ordhc.Tree` and, for each of its nodes, the number of the node in `self`.
        """
        tree, kept = found
        return with_annotations(tree, self._annotations.of_nodes(kept, self.n_leaves, tree.n_leaves))

    def _cached(self, name: str, make: Callable[[], _Made]) -> _Made:
        if name not in self._cache:
            made = self._cache[name] = make()
            if isinstance(made, np.ndarray):
                made.flags.writeable = False  # because all callers share the array
        found: _Made = self._cache[name]
        return found

    @property
    def _shape(self) -> Shape:
        return self._cached("shape", lambda: Shape.of(self._tree, self._annotations.written_order))

    @property
    def _all_heights(self) -> NDArray[np.float64]:
        return self._cached("all heights", self._tree.all_heights)

    @property
    def _heights_if_any(self) -> NDArray[np.float64] | None:
        def find() -> NDArray[np.float64] | None:
            try:
                return self._all_heights
            except InputError:
                return None

        # Cached, because finding out whether a tree with lengths has heights takes O(n).
        return self._cached("heights if any", find)

    # Shape: parents and children of nodes.

    n_leaves: int = _checks.read_only("_tree.n_leaves", "The number of leaves.")

    @property
    def parents(self) -> NDArray[np.int64]:
        """The parent of each node, leaves first, (n_nodes,); -1 for the root.

        The length of this array is the number of nodes. `from_parents` makes a tree from such an array.
        """
        return self._cached("parents", self._parents)

    def _parents(self) -> NDArray[np.int64]:
        parents = self._tree.parents()
        parents[-1] = -1
        return parents

    @property
    def merges(self) -> NDArray[np.int64]:
        """The two clusters of each merge, (n - 1, 2), numbered as in SciPy, the smaller number first.

        In a binary tree, merge i makes node n + i. A node with c children is written as c - 1 merges.
        """
        return self._cached("merges", self._tree.merges)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of leaves below each inner node, (n_nodes - n,)."""
        return self._cached("sizes", self._tree.sizes)

    # Heights and lengths.

    @property
    def scale(self) -> str:
        """The numbers that a tree has: "heights", "lengths", or "shape" if the tree has neither of them."""
        return self._tree.scale

    @property
    def kind(self) -> str:
        """The unit of the heights: "similarity" or "dissimilarity". Without heights, "dissimilarity"."""
        return "dissimilarity" if self._tree.dissimilarity else "similarity"

    @property
    def heights(self) -> NDArray[np.float64]:
        """The height of each inner node, (n_nodes - n,).

        A tree with lengths has heights if all leaves are equally far from the root, up to a relative
        difference of 1e-4. Then two leaves join at the length of the path between them.

        Raises
        ------
        InputError
            The tree has lengths, and leaves are not equally far from the root; or the tree is shape alone.
        """
        return self._cached("heights", self._tree.heights)

    @property
    def leaf_heights(self) -> NDArray[np.float64] | None:
        """The height of each leaf, (n,), or None if the tree has no heights of its own for leaves.

        With dot products, leaf i has the height max(h(parent), s_ii), where s_ii is the leaf's squared
        length, divided by the number p of dimensions (Gray et al. 2024, Algorithm 1).
        """
        return self._cached("leaf_heights", self._tree.leaf_heights)

    @property
    def lengths(self) -> NDArray[np.float64]:
        """The length of the edge above each node, (n_nodes,); NaN if unknown, as above the root.

        In a tree with heights an edge is half as long as the difference of the heights of its ends. So with
        dissimilarities the path between two leaves is as long as the height at which the leaves join.

        Raises
        ------
        InputError
            The tree is shape alone.
        """
        return self._cached("lengths", self._tree.lengths)

    @property
    def is_monotone(self) -> bool:
        """True if the tree has no inversions: no merge is closer than a merge below it.

        Raises
        ------
        InputError
            The tree has no `heights`.
        """
        return self._tree.is_monotone()

    def cophenetic(self, *, square: bool = False) -> NDArray[np.float64]:
        """Return the height at which each pair of leaves joins.

        In a tree with lengths, return the length of the path between each pair instead, as `patristic` does.

        SciPy's `cophenet` returns heights. The function `cophenetic` of the R package ape returns lengths of
        paths.

        Parameters
        ----------
        square
            True returns an (n, n) matrix with the heights of the leaves on its diagonal. False, the default,
            returns the n(n-1)/2 pairs in SciPy's order.

        Raises
        ------
        InputError
            The tree is shape alone.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0]).cophenetic()
        array([0.5, 2. , 2. ])
        """
        square = _checks.flag("square", square)
        if self.scale == "lengths":
            return self.patristic(square=square)
        return self._shape.of_pairs(self._all_heights, square=square)

    def patristic(self, *, square: bool = False) -> NDArray[np.float64]:
        """Return the length of the path between each pair of leaves.

        Parameters
        ----------
        square
            True returns an (n, n) matrix with 0 on its diagonal. False, the default, returns the n(n-1)/2
            pairs in SciPy's order.

        Raises
        ------
        InputError
            The tree is shape alone, or the length of an edge is unknown.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram.from_newick("((a:1,b:2):0.5,c:3);").patristic()
        array([3. , 4.5, 5.5])
        """
        square = _checks.flag("square", square)
        n = self.n_leaves
        # The formula below needs values that grow towards the leaves, so dissimilarities change their sign.
        if self.scale == "heights":
            values = self._all_heights if self.kind == "similarity" else -self._all_heights
            share = 0.5
        else:
            values, share = self._root_distances(), 1.0
        joint, own = self._shape.of_pairs(values, square=True), values[:n]
        paths: NDArray[np.float64] = share * ((own[:, None] - joint) + (own[None, :] - joint))
        np.fill_diagonal(paths, 0.0)
        return paths if square else paths[np.triu_indices(n, 1)]

    def _root_distances(self) -> NDArray[np.float64]:
        return self._cached("root distances", self._from_root)

    def _from_root(self) -> NDArray[np.float64]:
        lengths = self.lengths
        unknown = np.flatnonzero(np.isnan(lengths[:-1]))
        if unknown.size:
            what = Node(self, int(unknown[0]))
            raise InputError(f"the edge above {what!r} has no length, so the lengths of paths are unknown")
        found, parents = np.zeros(self._tree.n_nodes), self._shape.parents
        with np.errstate(over="ignore"):
            for node in range(self._tree.n_nodes - 2, -1, -1):
                found[node] = found[parents[node]] + lengths[node]
        if not np.abs(found).max() < _LONGEST:
            raise InputError(f"the leaves are too far from the root: paths are longer than {_LONGEST:.1e}")
        return found

    # Names, support and settings.

    names: tuple[str, ...] | None = _checks.read_only(
        "_annotations.names", "The names of the leaves, or None."
    )

    node_names: tuple[str | None, ...] | None = _checks.read_only(
        "_annotations.node_names",
        "The name of each inner node or None, (n_nodes - n,); None if no inner node has a name.",
    )

    support: NDArray[np.float64] | None = _checks.read_only(
        "_annotations.support",
        "How certain each inner node is, (n_nodes - n,), from 0 to 1, NaN if unknown; or None.",
    )

    settings: Mapping[str, Any] | None = _checks.read_only(
        "_annotations.settings",
        """The method that made the tree and its parameters, a read-only mapping; None if unknown.

        `cluster`, `linkage`, `refine` and `bootstrap` set the keys "similarity", "linkage" and "refine" (the
        objective by which subtrees were moved). Each value is a name or None. The keys
        "similarity_parameters", "linkage_parameters" and "refine_parameters" have the parameters. Numbers,
        texts and short lists keep their values; other values become text. ``==`` ignores settings.
        """,
    )

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the leaves; if the tree has no names, the numbers of the leaves as text."""
        if self.names is not None:
            return self.names
        return self._cached("labels", lambda: tuple(map(str, range(self.n_leaves))))

    def replace(
        self,
        *,
        names: Sequence[str] | None = _KEPT,
        node_names: Sequence[str | None] | None = _KEPT,
        support: ArrayLike | None = _KEPT,
        settings: Mapping[str, Any] | None = _KEPT,
    ) -> Dendrogram:
        """Return the tree with other names, support or settings; arguments that are left out change nothing.

        Parameters
        ----------
        names
            (n,), the names of the leaves; None removes names.
        node_names
            (n_nodes - n,), the name of each inner node, or None. None instead of a list removes all names.
        support
            (n_nodes - n,), from 0 to 1: how certain each inner node is. NaN means unknown support. None
            instead of an array removes support.
        settings
            The method that made the tree, and its parameters; see `settings`. None removes settings.

        Raises
        ------
        InputError
            A list has the wrong length, a name occurs twice, or support is outside of 0 to 1.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0], names=["cat", "dog", "car"])
        >>> d.replace(node_names=["pets", None]).to_newick()
        '(car:1,(cat:0.5,dog:0.5)pets:0.5);'
        >>> d.replace(names=None, support=[0.93, 1.0]).to_newick()
        '(2:1,(0:0.5,1:0.5)93:0.5)100;'
        >>> d.replace(settings={"linkage": "by hand"}).settings["linkage"]
        'by hand'
        """
        given = {"names": names, "node_names": node_names, "support": support, "settings": settings}
        return self._with(**{what: value for what, value in given.items() if value is not _KEPT})

    # Nodes.

    @property
    def root(self) -> Node:
        """The node that contains all leaves.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> [child.leaf_names for child in d.root.children]
        [('car',), ('cat', 'dog')]
        """
        return Node(self, self._tree.n_nodes - 1)

    def nodes(self, order: str = "preorder") -> Iterator[Node]:
        """Iterate over all nodes, leaves included.

        Parameters
        ----------
        order
            "preorder", parents before their children, or "postorder", children before their parents.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0])
        >>> [node.label for node in d.nodes()], [node.label for node in d.nodes("postorder")]
        ([4, 2, 3, 0, 1], [2, 0, 1, 3, 4])
        """
        order = _checks.choice("order", order, _ORDERS)
        shape, root = self._shape, self._tree.n_nodes - 1
        labels = shape.preorder(root) if order == "preorder" else shape.postorder(root)
        return (Node(self, label) for label in labels)

    def node(self, which: Leaves) -> Node:
        """Return a node by its number or name, or the smallest cluster that contains the listed leaves.

        Parameters
        ----------
        which
            The number of a node; or the name of a leaf or an inner node; or a list of numbers or names of
            leaves. For a list the result is the most recent common ancestor of these leaves. For a list of
            one leaf the result is the leaf.

        Raises
        ------
        InputError
            There is no such node or leaf, several nodes have this name, or the list is empty.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)pets:1,cow:2)animals:1,car:3);")
        >>> d.node("pets") == d.node(4), d.node("dog").parent.name
        (True, 'pets')
        >>> d.node(["cat", "cow"]).name, d.node([0, 1]).height, d.node([0, 3]).size
        ('animals', 2.0, 4)
        """
        if isinstance(which, str):
            return Node(self, self._label_named(which))
        if isinstance(which, Iterable) and getattr(which, "ndim", None) != 0:
            return Node(self, self._common_ancestor(self._some_leaves_of(which).tolist()))
        label, root = _checks.whole("which", which, at_least=0), self._tree.n_nodes - 1
        if label > root:
            raise InputError(f"there is no node {label}; nodes are 0 to {root}")
        return Node(self, label)

    def _common_ancestor(self, leaves: list[int]) -> int:
        starts, sizes, parents = self._shape.starts, self._shape.sizes, self._shape.parents
        label, last = min(leaves, key=starts.__getitem__), max(starts[leaf] for leaf in leaves)
        while starts[label] + sizes[label] <= last:
            label = parents[label]
        return label

    def _label_named(self, name: str) -> int:
        places: dict[str, list[int]] | None = self._cache.get("places")
        if places is None:
            places = self._cache["places"] = {}
            leaves, nodes = self.names or (), self.node_names or ()
            for label, known in [*enumerate(leaves), *enumerate(nodes, start=self.n_leaves)]:
                if known is not None:
                    places.setdefault(known, []).append(label)
        found = places.get(name, [])
        if not found:
            unknown = _checks.unknown_name(name, list(places))
            raise InputError(unknown if places else f"{shown(name)}: no node has a name")
        if len(found) > 1:
            listed = ", ".join(map(str, found[:5])) + ("..." if len(found) > 5 else "")
            raise InputError(
                f"{len(found)} nodes have the name {shown(name)}: pass one of their numbers, {listed}"
            )
        return found[0]

    @shows_progress("ordering")
    def leaf_order(
        self,
        S: ArrayLike | None = None,
        *,
        dissimilarity: bool | None = None,
        progress: Progress | bool | None = None,
    ) -> NDArray[np.int64]:
        """Return the leaves from left to right, as `to_newick` writes them, or in the optimal order for `S`.

        A tree that was read keeps the order of the text. In other trees the child with the smaller number is
        on the left.

        Parameters
        ----------
        S
            (n, n), or the n(n-1)/2 pairs in SciPy's order: similarities or dissimilarities of the leaves.
            With `S` the result is the order in which neighbouring leaves are closest in sum, among all
            orders without crossing branches (optimal leaf ordering, Bar-Joseph, Gifford & Jaakkola 2001).
            The method splits a node of more than two children as in `merges`, so not all orders of its
            children are tried. Time is O(n^3) for balanced trees; memory is two matrices.
        dissimilarity
            True if smaller values in `S` mean closer leaves. By default `kind` of the tree decides.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Raises
        ------
        InputError
            `S` has another number of leaves, is not symmetric, or is not finite.

        Examples
        --------
        >>> import ordhc
        >>> D = [[0, 1, 5, 2], [1, 0, 5, 5], [5, 5, 0, 1], [2, 5, 1, 0]]
        >>> d = ordhc.linkage(D, "single", dissimilarity=True)
        >>> d.leaf_order(), d.leaf_order(D)
        (array([0, 1, 2, 3]), array([1, 0, 3, 2]))
        """
        if S is None:
            return self._shape.order.copy()
        less = self.kind == "dissimilarity" if dissimilarity is None else dissimilarity
        less = _checks.flag("dissimilarity", less)
        progress = _checks.callback("progress", progress)
        return _ordhc.optimal_leaf_order(self._tree, _checks.matrix(S), less, progress)

    # Flat clusters.

    def cut(
        self,
        n_clusters: int | Sequence[int] | None = None,
        *,
        height: float | Sequence[float] | None = None,
        depth: int | Sequence[int] | None = None,
        path: float | Sequence[float] | None = None,
        min_size: int | None = None,
    ) -> NDArray[np.int64]:
        """Return flat clusters: the cluster label of each leaf, (n,).

        Clusters are numbered from 0 in the order of their smallest leaves. Give one of the first four
        arguments. A list of L values instead of one value returns L columns of labels, (n, L).

        Parameters
        ----------
        n_clusters
            The number of clusters. The last merges are undone first. In a tree with lengths, the node with
            the longest path below it is undone first. A node of more than two children splits into all
            children at once, so there may be fewer clusters; then a warning reports their number.
        height
            The limit of the heights of merges. Merges up to this dissimilarity, or from this similarity
            upwards, are kept. Under an inversion a merge is kept only if all merges below it are kept.
        depth
            The number of edges between the root and the cut: 0 makes one cluster, 1 makes a cluster for each
            child of the root. For trees of shape alone, `depth` is the only way to cut.
        path
            The longest path between two leaves of one cluster. The clusters are as large as this limit
            allows.
        min_size
            The smallest size of a cluster. Leaves of smaller clusters have the label -1, as noise has in
            scikit-learn; the other clusters are numbered from 0.

        Warns
        -----
        OrdhcWarning
            The tree has no cut into `n_clusters` clusters.

        Raises
        ------
        InputError
            None or several of the first four arguments are given; or the tree has no heights or lengths to
            cut by.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [5.0, 2.0], kind="similarity")
        >>> d.cut(n_clusters=2), d.cut(height=2.0), d.cut(2, min_size=2)
        (array([0, 0, 1]), array([0, 0, 0]), array([ 0,  0, -1]))
        >>> d.cut([1, 2, 3]).tolist()
        [[0, 0, 0], [0, 0, 1], [0, 1, 2]]
        """
        least = 1 if min_size is None else _checks.whole("min_size", min_size, at_least=1)
        choices = {"n_clusters": n_clusters, "height": height, "depth": depth, "path": path}
        given = [what for what, value in choices.items() if value is not None]
        if len(given) != 1:
            raise InputError(
                f"give one of n_clusters, height, depth and path, not {' and '.join(given) or 'none'}"
            )
        what, value = given[0], choices[given[0]]
        levels = _checks.array(what, value)
        if levels.ndim > 1:
            raise InputError(f"{what} has shape {levels.shape}; a number or a list of numbers is needed")
        found = []
        for level in levels.tolist() if levels.ndim else [value]:
            labels = self._flat(what, level)
            found.append(labels if least == 1 else _without_small(labels, least))
        if not levels.ndim:
            return found[0]
        return np.column_stack(found) if found else np.zeros((self.n_leaves, 0), dtype=np.int64)

    def _flat(self, what: str, level: Any) -> NDArray[np.int64]:
        if what == "n_clusters":
            wanted = _checks.whole("n_clusters", level, at_least=1)
            if self.scale == "shape":
                if wanted > self.n_leaves:
                    raise InputError(f"n_clusters = {wanted} is outside 1..={self.n_leaves}")
                if 1 < wanted < self.n_leaves:
                    raise InputError(
                        "the tree has neither heights nor lengths, and so no order of merges: cut it by depth"
                    )
                return np.arange(self.n_leaves) if wanted > 1 else np.zeros(self.n_leaves, dtype=np.int64)
            labels = self._tree.cut_clusters(wanted)
            if (there := int(labels.max()) + 1) < wanted:
                warn(
                    f"the tree has no cut into {wanted} clusters, because a node has many children: "
                    f"the result has {there} cluster{'s' * (there > 1)}"
                )
            return labels
        if what == "depth":
            return self._at_depth(_checks.whole("depth", level, at_least=0))
        number = float(_checks.numbers_of(what, level, ()))
        if number != number:
            raise InputError(f"{what} is NaN")
        return self._tree.cut_height(number) if what == "height" else self._tree.cut_path(number)

    def _at_depth(self, depth: int) -> NDArray[np.int64]:
        shape, n = self._shape, self.n_leaves
        depths, top = [0] * self._tree.n_nodes, list(range(self._tree.n_nodes))
        for node in range(self._tree.n_nodes - 2, -1, -1):
            above = shape.parents[node]
            depths[node] = depths[above] + 1
            if depths[node] > depth:
                top[node] = top[above]
        number: dict[int, int] = {}
        return np.array([number.setdefault(top[leaf], len(number)) for leaf in range(n)], dtype=np.int64)

    # Changes: each returns a new tree.

    def keep(self, leaves: Leaves | Node) -> Dendrogram:
        """Return the tree of the given leaves only, or the subtree below a node.

        Inner nodes that are left with one child are removed. The other inner nodes keep their heights,
        support and names. When edges become one edge, their lengths are added. Leaves keep their heights, and
        are numbered from 0 in the order of their old numbers.

        Parameters
        ----------
        leaves
            Numbers or names of leaves, in any order; or a `Node` of this tree, for all leaves below it.

        Raises
        ------
        InputError
            A leaf does not exist or is given twice, no leaf is given, or the node is of another tree.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)pets:1,cow:2)animals:1,car:3);")
        >>> d.keep(["cat", "cow", "car"]).to_newick()
        '((cat:2,cow:2)animals:1,car:3);'
        >>> d.keep(d.node("animals")).to_newick()
        '((cat:1,dog:1)pets:1,cow:2)animals;'
        """
        if isinstance(leaves, Node):
            numbers = self._own(leaves).leaves
        else:
            numbers = self._some_leaves_of(leaves)
            times = np.bincount(numbers)
            if times.max() > 1:
                raise InputError(f"leaf {shown(self.labels[times.argmax()])} is given {times.max()} times")
        return self._derived(self._tree.restricted(np.sort(numbers)))

    def prune(self, leaves: Leaves) -> Dendrogram:
        """Return the tree without the given leaves.

        Inner nodes that are left with one child are removed too. See the method `keep` for the heights, the
        lengths and the numbers of the remaining nodes.

        Parameters
        ----------
        leaves
            Numbers or names of the leaves to remove.

        Raises
        ------
        InputError
            A leaf does not exist, or no leaf would be left.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)pets:1,cow:2)animals:1,car:3);")
        >>> d.prune("cow").to_newick()
        '((cat:1,dog:1)pets:2,car:3);'
        """
        stays = np.ones(self.n_leaves, dtype=bool)
        stays[self._leaves_of(leaves)] = False
        if stays.all():
            return self
        if not stays.any():
            raise InputError(f"a tree must have a leaf, but all {self.n_leaves} leaves would be removed")
        return self._derived(self._tree.restricted(np.flatnonzero(stays)))

    def collapse(
        self,
        n_clusters: int | None = None,
        *,
        height: float | None = None,
        depth: int | None = None,
        path: float | None = None,
    ) -> Dendrogram:
        """Return the top of the tree, whose leaves are the clusters that `cut` returns.

        Leaf i of the result is cluster i of ``cut(n_clusters)``, at the height of this cluster. A cluster of
        one leaf keeps the name of the leaf. Another cluster has the name of its node. Without a name of the
        node, the name is the first leaf and the number of further leaves, as in "cat +4". If a name occurs
        twice, the number of the node is added.

        Parameters
        ----------
        n_clusters, height, depth, path
            As in `cut`.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)pets:1,cow:2):1,(car:1,bus:1):2);")
        >>> d.collapse(3).to_newick()
        "((pets:1,cow:2):1,'car +1':2);"
        """
        labels = self.cut(n_clusters, height=height, depth=depth, path=path)
        if labels.ndim > 1:
            raise InputError("collapse needs one cut: pass a number, not a list of numbers")
        firsts = np.unique(labels, return_index=True)[1]
        # `tops` has the node of each cluster: the smallest node that contains all leaves of the cluster.
        sizes, shape = np.bincount(labels), self._shape
        tops = []
        for leaf, size in zip(firsts.tolist(), sizes.tolist(), strict=True):
            node = leaf
            while shape.sizes[node] < size:
                node = shape.parents[node]
            tops.append(node)
        tree, kept = self._tree.restricted(firsts)
        found = self._derived((tree, kept))._with(names=self._names_of(tops))
        if self.scale == "shape":
            return found
        if self.scale == "heights":
            own = self._all_heights[tops]
            stays = np.array_equal(own, tree.all_heights()[: tree.n_leaves])
            return found if stays else found._with(tree.with_leaf_heights(own))
        lengths, here = found.lengths.copy(), found._shape
        for at, node in enumerate(tops):
            lengths[at] = self.lengths[node]
            while here.parents[at] >= 0 and (node := shape.parents[node]) != kept[here.parents[at]]:
                lengths[at] += self.lengths[node]
        changed, _ = _ordhc.Tree.of_nodes(
            tree.n_leaves, tree.parents(), None, lengths, dissimilarity=True, sort=False
        )
        return found._with(changed)

    def _names_of(self, nodes: Sequence[int]) -> list[str]:
        shape, n, labels = self._shape, self.n_leaves, self.labels
        found = []
        for node in nodes:
            name = labels[node] if node < n else None
            if node >= n and self.node_names is not None:
                name = self.node_names[node - n]
            if name is None:
                name = f"{labels[shape.leaves_of(node).min()]} +{shape.sizes[node] - 1:,}"
            found.append(name)
        while len(set(found)) < len(found):
            times = Counter(found)
            found = [
                f"{name} ({node})" if times[name] > 1 and node >= n else name
                for name, node in zip(found, nodes, strict=True)
            ]
        return found

    def contract(self, min_support: float | None = None, *, ties: bool = False) -> Dendrogram:
        """Return the tree without weak or tied inner nodes: their children move up to the node above.

        Leaves and the root always stay. In a tree with lengths, the length of the edge above a removed node
        is added to the edges of its children. Support and names of removed nodes are dropped. With both
        arguments, ties are contracted first.

        Parameters
        ----------
        min_support
            From 0 to 1. Remove nodes whose support is below this limit. Nodes of unknown support (NaN) stay.
            With 0.5 a tree of `ordhc.posterior` keeps the clusters that are more likely than not.
        ties
            Remove nodes that have the same height as the node above. In a tree with lengths, these are the
            inner nodes below an edge of length 0. A tree of shape alone has no ties.

        Raises
        ------
        InputError
            Neither `min_support` nor `ties` is given, or the tree has no `support` to compare with the limit.

        See Also
        --------
        ordhc.supported : Remove nodes that too few questions support.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)90:1,cow:2)40:1,car:3);")
        >>> d.contract(min_support=0.5).to_newick()
        '((cat:1,dog:1)90:2,cow:3,car:3);'
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 1.0])
        >>> d.to_newick(branch_lengths=False), d.contract(ties=True).to_newick(branch_lengths=False)
        ('(2,(0,1));', '(0,1,2);')
        """
        removed = np.zeros(self._tree.n_nodes - self.n_leaves, dtype=bool)
        if _checks.flag("ties", ties):
            removed |= self._tied()
        elif min_support is None:
            raise InputError("contract needs min_support=, for example 0.5, or ties=True, or both")
        if min_support is not None:
            removed |= self._weak(_checks.number("min_support", min_support, at_least=0, at_most=1))
        removed[-1:] = False
        return self._derived(self._tree.without(removed)) if removed.any() else self

    def _tied(self) -> NDArray[np.bool_]:
        """Return a mask of inner nodes as high as their parents; the value of the root has no meaning."""
        n = self.n_leaves
        ties: NDArray[np.bool_] = np.zeros(self._tree.n_nodes - n, dtype=bool)
        if self.scale == "heights":
            ties = self.heights == self.heights[self._tree.parents()[n:] - n]
        elif self.scale == "lengths":
            ties = self.lengths[n:] == 0
        return ties

    def _weak(self, min_support: float) -> NDArray[np.bool_]:
        n_inner = self._tree.n_nodes - self.n_leaves
        if self.support is not None:
            return self.support < min_support
        if n_inner > 1:
            raise InputError(
                "the tree has no support: make a tree with support by ordhc.bootstrap, ordhc.posterior or "
                "ordhc.consensus, or read support as labels of nodes in Newick"
            )
        return np.zeros(n_inner, dtype=bool)

    def reroot(
        self,
        outgroup: Leaves | None = None,
        *,
        edge: Node | int | str | None = None,
        midpoint: bool = False,
        share: float = 0.5,
    ) -> Dendrogram:
        """Return the tree with its root on another edge.

        The lengths of the paths between leaves do not change. Support belongs to the split that an edge
        makes, so support moves with the edges. Names stay with their nodes. The former root is removed if it
        is left with one child. A tree with heights becomes a tree with lengths. Give one of the first three
        arguments.

        Parameters
        ----------
        outgroup
            Numbers or names of leaves: the new root is on the edge between these leaves and all other leaves.
        edge
            A `Node` of this tree, or its number or name: the new root is on the edge above this node.
        midpoint
            True puts the root at the middle of the longest path between two leaves.
        share
            The position of the root on the edge of `outgroup` or `edge`: the fraction of the edge's length
            that is on the side of the outgroup or node, from 0 to 1.

        Raises
        ------
        InputError
            None or several of the first three arguments are given; no edge separates the outgroup from the
            other leaves; or `edge` is the root.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(cat:1,(dog:1,(cow:2,fly:6)95:1)90:1);")
        >>> d.reroot("fly").to_newick()
        '(fly:3,(cow:2,(cat:2,dog:1)95:1):3);'
        >>> d.reroot(midpoint=True).to_newick()
        '(fly:4.5,(cow:2,(cat:2,dog:1)95:1):1.5);'
        """
        midpoint = _checks.flag("midpoint", midpoint)
        if (outgroup is not None) + (edge is not None) + midpoint != 1:
            raise InputError("give one of outgroup, edge and midpoint")
        share = _checks.number("share", share, at_least=0, at_most=1)
        shape, n = self._shape, self.n_leaves
        is_shape = self.scale == "shape"
        if n < 2:
            return self
        lengths = np.zeros(self._tree.n_nodes) if is_shape else self.lengths
        if midpoint:
            if is_shape:
                raise InputError("the tree has neither heights nor lengths, and so no midpoint")
            self._root_distances()
            node, below = rooting.midpoint(shape, lengths)
        else:
            if edge is not None:
                node = self._own(edge).label
            else:
                node = rooting.edge_of_outgroup(shape, self.labels, self._some_leaves_of(outgroup))
            if node == shape.root:
                raise InputError("there is no edge above the root")
            below = share * float(lengths[node])
        parents, lengths, old, edges = rooting.rerooted(shape, lengths, node, below)
        tree, order = _ordhc.Tree.of_nodes(
            n, parents, None, None if is_shape else lengths, dissimilarity=True, sort=True
        )
        nodes, edges = old[order][n:], edges[order][n:]
        support, names = self.support, self.node_names
        if support is not None:
            known = np.append(support, np.nan)
            sides = [child - n for child in shape.children_of(shape.root) if child >= n]
            if len(sides) == len(shape.children_of(shape.root)) == 2:
                # Both edges at the root make the same split, but often only one of the two has support.
                first, second = known[sides]
                known[sides] = np.where(np.isnan([first, second]), [second, first], [first, second])
            support = known[np.where(edges >= n, edges - n, len(support))]
            support[-1] = np.nan
        if names is not None:
            names = tuple([names[at - n] if at >= n else None for at in nodes.tolist()])
        return self._with(tree, support=support, node_names=names, written_order=None)

    def rotate(
        self,
        node: Node | int | str | None = None,
        *,
        order: Sequence[int | str] | NDArray[Any] | None = None,
        by_size: str | None = None,
    ) -> Dendrogram:
        """Return the tree with its leaves written and drawn in another order; clusters stay the same.

        Give one of the three arguments.

        Parameters
        ----------
        node
            A `Node` of this tree, or its number or name: reverse the order of the children of this node.
        order
            (n,), the numbers or names of all leaves in the new order.
        by_size
            "ascending" or "descending": sort the children of every node by their number of leaves. Children
            of equal size keep their order. Other packages call this operation ladderize.

        Raises
        ------
        InputError
            None or several of the arguments are given; the node does not exist; in `order` a leaf is missing
            or occurs twice; or branches would cross, because leaves of one cluster are not together.

        See Also
        --------
        leaf_order : Return the present order, or the order in which neighbouring leaves are closest.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("((cat,dog)pets,car);")
        >>> d.rotate(d.root).to_newick(), d.rotate("pets").to_newick()
        ('(car,(cat,dog)pets);', '((dog,cat)pets,car);')
        >>> d.rotate(order=["car", "dog", "cat"]).to_newick()
        '(car,(dog,cat)pets);'
        >>> d.rotate(by_size="ascending").to_newick()
        '(car,(cat,dog)pets);'
        """
        choices = {"node": node, "order": order, "by_size": by_size}
        given = [what for what, value in choices.items() if value is not None]
        if len(given) != 1:
            raise InputError(f"give one of node=, order= and by_size=, not {' and '.join(given) or 'none'}")
        if node is not None:
            written_order = orders.turned(self._shape, self._own(node).label)
        elif order is not None:
            written_order = orders.checked(self._shape, self.labels, self._leaves_of(order))
        else:
            by_size = _checks.choice("by_size", by_size, ("ascending", "descending"))
            written_order = orders.by_size(self._shape, largest_first=by_size == "descending")
        return self._with(written_order=written_order)

    def relabel(self, leaves: ArrayLike) -> Dendrogram:
        """Return the tree with renumbered leaves: leaf i becomes leaf `leaves[i]`, and keeps its name.

        Parameters
        ----------
        leaves
            (n,), the new number of each leaf, a permutation of 0 to n - 1.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).relabel([2, 1, 0]).merges.tolist()
        [[1, 2], [0, 3]]
        """
        order = _checks.whole_numbers("leaves", leaves, (self.n_leaves,))
        return with_annotations(self._tree.relabel(order), self._annotations.relabelled(order))

    def _leaves_of(self, leaves: Any) -> NDArray[np.int64]:
        given = [leaves] if isinstance(leaves, int | str | np.integer) else _checks.listed("leaves", leaves)
        known = self._cached("leaves", lambda: _checks.LeafNumbers(self.names or ()))
        numbers = []
        for at, leaf in enumerate(given):
            if not isinstance(leaf, str):
                number = _checks.whole(f"leaves[{at}]", leaf, at_least=0, at_most=self.n_leaves - 1)
            elif (number := known.get(leaf, -1)) < 0:
                if leaf in (self.node_names or ()):
                    raise InputError(f"{shown(leaf)} is a node, not a leaf")
                raise InputError(_checks.unknown_name(leaf, list(known)))
            numbers.append(number)
        return np.array(numbers, dtype=np.int64)

    def _some_leaves_of(self, leaves: Any) -> NDArray[np.int64]:
        numbers = self._leaves_of(leaves)
        if not numbers.size:
            raise InputError("no leaf is given")
        return numbers

    def _own(self, node: Node | int | str) -> Node:
        if not isinstance(node, Node):
            return self.node(node)
        if node.tree is not self:
            raise InputError(f"{node!r} is a node of another tree")
        return node

    # Files and pictures.

    def to_linkage_matrix(self) -> NDArray[np.float64]:
        """Return SciPy's linkage matrix Z, (n - 1, 4): two clusters, height and size of each merge.

        SciPy needs heights that grow and are not negative. Dissimilarities do not change. A similarity h
        becomes max(h) - h, so that the closest merge is at 0. A node with c children becomes c - 1 merges.
        `leaf_heights` are left out.

        Raises
        ------
        InputError
            The tree has no heights.

        Examples
        --------
        >>> Dendrogram([(0, 1), (2, 3)], [5.0, 2.0], kind="similarity").to_linkage_matrix()
        array([[0., 1., 0., 2.],
               [2., 3., 3., 3.]])
        """
        heights = self._tree.merge_heights()
        if self.kind == "similarity" and len(heights):
            heights = heights.max() - heights
        sizes = [1] * self.n_leaves
        for a, b in self.merges.tolist():
            sizes.append(sizes[a] + sizes[b])
        return np.column_stack(
            [self.merges.astype(np.float64), heights, np.array(sizes[self.n_leaves :], float)]
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return SciPy's linkage matrix, so that functions of SciPy take a tree; see `to_linkage_matrix`."""
        if copy is False:
            raise ValueError("a tree does not store an array, so copy=False is impossible: leave out copy")
        return np.asarray(self.to_linkage_matrix(), dtype=dtype)

    @classmethod
    def from_linkage_matrix(cls, Z: ArrayLike, names: Sequence[str] | None = None) -> Dendrogram:
        """Return the tree of SciPy's linkage matrix `Z`, (n - 1, 4); heights are dissimilarities.

        Examples
        --------
        >>> Dendrogram.from_linkage_matrix([[0, 1, 0.5, 2], [2, 3, 1.0, 3]])
        <Dendrogram: 3 leaves, dissimilarity 0.5 .. 1>
        """
        table = _checks.numbers_of("Z", Z)
        if table.ndim != 2 or table.shape[1] != 4:
            raise InputError(f"Z has shape {table.shape}; it must be (n - 1, 4)")
        tree = cls(table[:, :2], table[:, 2], names=names)
        wrong = np.flatnonzero(table[:, 3] != tree.sizes)
        if wrong.size:
            at = wrong[0]
            raise InputError(f"Z[{at}, 3] is {table[at, 3]:g}, but merge {at} makes {tree.sizes[at]} leaves")
        return tree

    @shows_progress("writing")
    def to_newick(
        self, *, branch_lengths: bool = True, heights: bool = False, progress: Progress | bool | None = None
    ) -> str:
        """Return the tree as Newick text.

        Branch lengths are `lengths`. A tree of shape alone has no branch lengths. Support is the label of a
        node, in percent. If the tree was read with support as fractions, support is written as fractions. If
        a node has a name too, the name is the label and support is a comment. Names that contain blanks,
        ``_``, brackets or quotes are quoted; names of nodes that are numbers are quoted too.

        Parameters
        ----------
        branch_lengths
            True, the default, writes branch lengths.
        heights
            True adds the exact heights as comments. If the text alone would number leaves or nodes
            differently, the numbers are added too. So `from_newick` restores exactly this tree.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.25, 0.5], names=["my cat", "dog", "1"], support=[0.9, 1])
        >>> d.to_newick()
        "(1:0.25,('my cat':0.125,dog:0.125)90:0.125)100;"
        >>> Dendrogram.from_newick(d.to_newick(heights=True)) == d
        True
        """
        lengths, exact = _checks.flag("branch_lengths", branch_lengths), _checks.flag("heights", heights)
        progress = _checks.callback("progress", progress)
        return self._tree.to_newick(
            None if self.names is None else list(self.names),
            None if self.node_names is None else list(self.node_names),
            self.support,
            self._annotations.shares,
            self._annotations.written_order,
            lengths=lengths,
            heights=exact,
            progress=progress,
        )

    @classmethod
    @shows_progress("reading")
    def from_newick(
        cls,
        text: str,
        names: Sequence[str] | None = None,
        *,
        preserve_underscores: bool = False,
        progress: Progress | bool | None = None,
    ) -> Dendrogram:
        """Return the tree of Newick text; `to_newick` writes the same tree again.

        Parameters
        ----------
        text
            One tree. Comments in brackets are skipped, except comments that `to_newick` wrote.
        names
            (n,), the names of the leaves in the order of their numbers. By default leaves are numbered in the
            order of the text. If the names of all leaves are the numbers 0 to n - 1 without quotes, these are
            the numbers of the leaves. Comments of `to_newick` can set the numbers too.
        preserve_underscores
            True keeps ``_`` in names without quotes. False, the default, reads ``_`` there as a blank.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Returns
        -------
        Dendrogram
            The branch lengths of the text are `lengths`, exactly. A text without lengths makes a tree of
            shape alone. A text with comments of ``to_newick(heights=True)`` makes a tree with heights. Nodes
            with one child are removed, and the lengths of their two edges are added.

            Labels of inner nodes that are numbers outside of quotes are `support`, if all are from 0 to 100.
            Support is in percent if any number of the tree is above 1. From a label such as ``95.2/98``
            (IQ-TREE) the last number is used. Other labels are `node_names`. If a number is outside 0 to 100,
            all numbers are `node_names`.

        Warns
        -----
        OrdhcWarning
            Some branches have no length, or a removed node with one child has a label.

        Raises
        ------
        InputError
            The text is not valid Newick (the message has the line); or a name of a leaf occurs twice, or is
            not in `names`.

        Examples
        --------
        >>> d = Dendrogram.from_newick("((cat:1,my_dog:1)95:2,car:3)things;")
        >>> d.names, d.node_names, d.support
        (('cat', 'my dog', 'car'), (None, 'things'), array([0.95,  nan]))
        >>> d.to_newick()
        "((cat:1,'my dog':1)95:2,car:3)things;"
        """
        return with_annotations(
            *newick.read(text, names, preserve_underscores=preserve_underscores, progress=progress)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the whole tree as a dict that JSON can store; `ordhc.as_dendrogram` restores the tree.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1)], [0.5], names=["cat", "dog"])
        >>> d.to_dict()["parents"], ordhc.as_dendrogram(d.to_dict()) == d
        ([2, 2, -1], True)
        """
        found: dict[str, Any] = {
            "n_leaves": self.n_leaves,
            "names": None if self.names is None else list(self.names),
            "parents": self.parents.tolist(),
        }
        if self.scale == "heights":
            found |= {"kind": self.kind, "heights": self.heights.tolist()}
            if self.leaf_heights is not None:
                found["leaf_heights"] = self.leaf_heights.tolist()
        elif self.scale == "lengths":
            found["lengths"] = [None if x != x else x for x in self.lengths.tolist()]
        return {**found, **self._annotations.to_dict()}

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row for each node, leaves first.

        Parameters
        ----------
        backend
            "pandas" (the default), "polars" or "pyarrow": the package of the data frame, which must be
            installed. "dict" returns a dict of lists, one list for each column, and needs no package.

        Returns
        -------
        data frame
            The columns label, parent (missing for the root), height, size, support, name, branch_length and
            is_leaf, which are described in `ordhc.tree.node.Node`.

        Raises
        ------
        MissingExtraError
            The package is not installed.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> table = d.to_frame("dict")
        >>> table["label"], table["parent"], table["name"]
        ([0, 1, 2, 3, 4], [3, 3, 4, 4, None], ['cat', 'dog', 'car', None, None])
        """
        return tables.as_frame(map(self.node, range(self._tree.n_nodes)), backend)

    def to_networkx(self) -> networkx.DiGraph[int]:
        """Return the tree as a NetworkX graph with edges from parents to children; needs the extra `trees`.

        Nodes are the numbers of the nodes. Attributes of nodes are height, size, support, name and is_leaf.
        The attribute of edges is length. Unknown values are left out.

        Examples
        --------
        >>> graph = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"]).to_networkx()
        >>> sorted(graph.edges(data="length")), graph.nodes[0]["name"]
        ([(3, 0, 0.25), (3, 1, 0.25), (4, 2, 1.0), (4, 3, 0.75)], 'cat')
        """
        nodes = map(self.node, range(self._tree.n_nodes))
        return tables.as_graph(
            nodes, scale=self.scale, kind=self.kind, leaf_heights=self.leaf_heights is not None
        )

    @_checks.shows_options(PictureOptions)
    def plot(self, ax: Axes | None = None, **options: Unpack[PictureOptions]) -> Axes:
        """Draw the tree with Matplotlib (the extra `plot`).

        A tree with heights is drawn as a dendrogram. A tree with lengths is drawn as a phylogram with an axis
        of distances from the root. A tree of shape alone is drawn as a cladogram.

        `ordhc.plotting.plot_dendrogram` describes the options.

        Without `ax` the tree is drawn into pyplot's current axes if they are empty, else into a new pyplot
        figure. So ``plt.savefig`` and notebooks show the tree. With `ax` the state of pyplot does not change.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> ax = d.plot(layout="circular", n_clusters=2)
        """
        from ordhc.plotting.drawing import checked_options, plot_dendrogram

        return plot_dendrogram(self, ax, **{"pyplot": ax is None, **checked_options(options)})

    @_checks.shows_options(SavedOptions)
    def savefig(self, path: str | os.PathLike[str], **options: Unpack[SavedOptions]) -> None:
        """Draw the tree into an svg, png or pdf file, or write an html page to explore the tree.

        The same tree and options give the same file. Text in svg and pdf files can be edited. Pictures need
        Matplotlib (the extra `plot`); the page does not.

        The page is one file that needs no network. Its reader can zoom, search and collapse the tree, cut the
        tree into clusters, copy the clusters, and export svg. Mouse, touch, keyboard and screen readers work.

        Parameters
        ----------
        path
            The file. The ending decides the format: .svg, .png, .pdf, or .html (.htm).
        **options
            For all formats: `n_clusters` (color clusters as `cut` makes them), `support_threshold` (0 to 1),
            `title`.

            For pictures: the other options of `ordhc.plotting.plot_dendrogram`; ``width=85``, in millimetres,
            fits a column of a journal. For png also `dpi` (150).

            For all formats also `pictures`: a mapping from names of leaves to bytes or paths of png, jpeg,
            gif or webp files (pages also show svg). Figures show pictures between leaves and names; pages
            show them, and `texts`, when the pointer is on the leaf. Large pictures are scaled down.

        Raises
        ------
        InputError
            The ending or an option is unknown, an option belongs to another format, a leaf does not exist,
            or a file is not a picture.
        MissingExtraError
            Matplotlib is not installed.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> d.savefig("tree.pdf", width=85, n_clusters=2)                     # doctest: +SKIP
        >>> d.savefig("tree.html", n_clusters=2, texts={"cat": "purrs"})      # doctest: +SKIP
        """
        from ordhc.plotting.saving import save_plot

        save_plot(self, path, **options)

    def __eq__(self, other: object) -> bool:
        """Return True if nodes, heights or lengths, names and support are equal."""
        if not isinstance(other, Dendrogram):
            return NotImplemented
        return self is other or (
            self._annotations.equals(other._annotations) and self._tree.equals(other._tree)
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.n_leaves

    def __repr__(self) -> str:
        span = f", {self.scale}" if self.scale != "heights" else ""
        if not span and len(self.heights):
            span = f", {self.kind} {self.heights[0]:.6g} .. {self.heights[-1]:.6g}"
        made = "" if self.settings is None else in_words(self.settings)
        made = f", {made}" if 0 < len(made) <= 80 else ""
        leaves = "1 leaf" if self.n_leaves == 1 else f"{self.n_leaves:,} leaves"
        return f"<Dendrogram: {leaves}{span}{made}>"

    def _repr_html_(self) -> str:
        from ordhc.plotting.pages import inline

        return inline(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return from_dict, (self.to_dict(),)


def _checked_parents(given: Any) -> tuple[NDArray[np.int64], int]:
    """Return the checked parents, in which the root is its own parent, and the number of leaves."""
    above = _checks.whole_numbers("parents", given)
    if above.ndim != 1 or not above.size:
        raise InputError(f"parents have shape {above.shape}; one for each node, (n_nodes,), is needed")
    last = len(above) - 1
    if above[last] != -1:
        raise InputError(f"parents[{last}] is {above[last]}, but the last node is the root: -1")
    outside = np.flatnonzero((above[:last] < 0) | (above[:last] > last))
    if outside.size:
        at = outside[0]
        only = "only the last node is the root" if above[at] == -1 else f"nodes are 0 to {last}"
        raise InputError(f"parents[{at}] is {above[at]}, but {only}")
    n_children = np.bincount(above[:last], minlength=len(above))
    if (n_children == 1).any():
        raise InputError(f"node {n_children.tolist().index(1)} has one child; inner nodes have 2 or more")
    above = above.copy()
    above[last] = last
    return above, int((n_children == 0).sum())


def _without_small(labels: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    stays = np.bincount(labels) >= least
    return np.where(stays, np.cumsum(stays) - 1, -1)[labels]


# Access for the rest of ordhc to parts of a tree that users do not need.


engine_tree: Callable[[Dendrogram], _ordhc.Tree] = attrgetter("_tree")
shape_of: Callable[[Dendrogram], Shape] = attrgetter("_shape")
#: Return the heights of all nodes, leaves first.
node_heights: Callable[[Dendrogram], NDArray[np.float64]] = attrgetter("_all_heights")


def root_distances(tree: Dendrogram) -> NDArray[np.float64]:
    return tree._root_distances()


def lca_nodes(tree: Dendrogram, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the node at which the two leaves of each pair join; for a leaf and itself, the leaf.

    `i` and `j` are (m,), the leaves of the pairs.

    Examples
    --------
    >>> tree = Dendrogram([(0, 1), (2, 3)], [1.0, 2.0])
    >>> lca_nodes(tree, np.array([0, 0, 2]), np.array([1, 2, 2])).tolist()
    [3, 4, 2]
    """
    return tree._tree.lca_nodes(np.ascontiguousarray(i), np.ascontiguousarray(j))


def lca_size(tree: Dendrogram, i: ArrayLike, j: ArrayLike) -> Any:
    """Return the number of leaves of the smallest cluster that contains leaf `i` and leaf `j`.

    Arrays `i` and `j` are broadcast, and the result is an array. Two numbers give an int, the same as
    ``tree.node([i, j]).size``.

    Raises
    ------
    InputError
        A leaf does not exist, or the shapes cannot be broadcast.

    Examples
    --------
    >>> tree = Dendrogram([(0, 1), (2, 3)], [1.0, 2.0])
    >>> lca_size(tree, 0, 1), lca_size(tree, [0, 0], [1, 2])
    (2, array([2, 3]))
    """
    first, second = _checks.whole_numbers("labels", i), _checks.whole_numbers("labels", j)
    try:
        a, b = np.broadcast_arrays(first, second)
    except ValueError:
        raise InputError(
            f"leaves of shapes {first.shape} and {second.shape} can't be broadcast to pairs"
        ) from None
    nodes = lca_nodes(tree, a.ravel().astype(np.int64), b.ravel().astype(np.int64))
    sizes = np.append(np.ones(tree.n_leaves, dtype=np.int64), tree.sizes)[nodes]
    return int(sizes[0]) if a.ndim == 0 else sizes.reshape(a.shape)


def from_dict(data: Any) -> Dendrogram:
    """Return the dendrogram of a dict that `Dendrogram.to_dict` returned; raise for all other values.

    `ordhc.as_dendrogram` accepts other forms of trees too. Use this function for values from a JSON file.
    """
    if not isinstance(data, Mapping) or not {"n_leaves", "parents"} <= data.keys():
        raise InputError("a tree is a dict that has the keys n_leaves and parents, and heights or lengths")
    n = _checks.whole("n_leaves", data["n_leaves"], at_least=1)
    parents, there = _checked_parents(data["parents"])
    if there != n:
        raise InputError(f"n_leaves is {n}, but parents has {len(parents)} nodes, {there} of them leaves")
    heights, lengths, own = data.get("heights"), data.get("lengths"), data.get("leaf_heights")
    if heights is not None:
        heights = _checks.numbers_of("heights", heights, (len(parents) - n,))
    if lengths is not None:
        known = [np.nan if length is None else length for length in _checks.listed("lengths", lengths)]
        lengths = _checks.numbers_of("lengths", known, (len(parents),))
    kind = _checks.choice("kind", data.get("kind", "dissimilarity"), ("similarity", "dissimilarity"))
    tree, _ = _ordhc.Tree.of_nodes(
        n, parents, heights, lengths, dissimilarity=kind == "dissimilarity", sort=False
    )
    if own is not None:
        tree = tree.with_leaf_heights(_checks.numbers_of("leaf_heights", own, (n,)))
    return with_annotations(tree, Annotations.from_dict(tree, data))


def from_engine(
    tree: _ordhc.Tree,
    names: Sequence[str] | None = None,
    support: NDArray[np.float64] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Dendrogram:
    """Return the dendrogram of an `_ordhc.Tree`; names, support and settings are not checked."""
    if support is not None:
        support.flags.writeable = False  # because all callers share the array
    known = None if names is None else tuple(names)
    return with_annotations(tree, Annotations(known, None, support, settings=settings))


def with_annotations(tree: _ordhc.Tree, annotations: Annotations) -> Dendrogram:
    """Return the dendrogram of an `_ordhc.Tree`; the annotations are not checked."""
    found = Dendrogram.__new__(Dendrogram)
    found._set(tree, annotations)
    return found


def replaced(tree: Dendrogram, engine: _ordhc.Tree | None = None, **changes: Any) -> Dendrogram:
    """Return `tree` with another `_ordhc.Tree`, or other annotations, which are not checked.

    The names of `changes` are fields of `Annotations`; `settings` are those of `made_by` or of another tree.
    """
    engine = tree._tree if engine is None else engine
    return with_annotations(engine, replace(tree._annotations, **changes))


def without_nodes(tree: Dendrogram, removed: NDArray[np.bool_]) -> Dendrogram:
    """Return `tree` without the inner nodes where `removed` is True.

    Their children become children of the node above.
    """
    return tree._derived(tree._tree.without(removed))
