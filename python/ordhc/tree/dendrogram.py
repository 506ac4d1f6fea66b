"""The dendrogram: what we believe the hierarchy to be."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError, warn
from ordhc.tree import newick, orders, rooting, tables
from ordhc.tree.annotations import Annotations, shown
from ordhc.tree.node import Node
from ordhc.tree.settings import in_words
from ordhc.tree.shape import Shape

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

__all__ = ["Dendrogram"]

Leaves = int | str | Sequence[int | str] | NDArray[Any]

_ORDERS = ("preorder", "postorder")

#: Distances from the root below this limit can be added up to paths.
_LONGEST = np.finfo(np.float64).max / 8


class Dendrogram:
    """A rooted tree of `n_leaves` leaves: what agglomeration makes, and any other hierarchy.

    Nodes are numbered: leaves 0 to n - 1, then inner nodes, children before parents, the root last. A tree
    has *heights* (an agglomeration), or *lengths* of its edges (a phylogeny, an additive tree), or *shape*
    alone; see `scale`. The constructor makes the binary tree of merges with heights, in which node n + k is
    merge k, as SciPy labels clusters. `from_parents` makes any tree.

    Heights are in the units that the tree was made from: similarities (they fall towards the root) or
    dissimilarities (they rise), see `kind`. An agglomeration is binary, also where heights are equal, until
    `join_ties`. Trees that were read, learnt, contracted or made of labels have nodes of many children where
    they say so.

    Parameters
    ----------
    merges
        (n - 1, 2) the two clusters of each merge.
    heights
        (n - 1,) finite, the height of each merge.
    kind
        "similarity" or "dissimilarity": what heights are.
    names
        (n,) the names of the leaves.
    node_names
        (n - 1,) for each merge the name of its node, or None.
    support
        (n - 1,) how sure each merge is, from 0 to 1, as `bootstrap` returns it; NaN where it is not known.
    leaf_heights
        (n,) the heights at which the leaves are, as `cluster` returns them for dot products; by default 0
        with dissimilarities and the height of the closest merge with similarities.
    settings
        What made the tree, see `Dendrogram.settings`.

    Notes
    -----
    Members by what they are for:

    * shape: `n_leaves`, `n_nodes`, `parents`, `merges`, `sizes`, `lca_size`, `leaf_order`
    * heights and lengths: `scale`, `kind`, `heights`, `leaf_heights`, `lengths`, `is_monotone`, `cophenetic`,
      `patristic`
    * names, support, settings: `names`, `node_names`, `labels`, `support`, `settings`, `with_names`,
      `with_node_names`, `with_support`, `with_settings`
    * walks: `root`, `node`, `nodes`, `ancestor`, which give a `Node`
    * flat clusters: `cut`
    * changes, which return a new tree: `subtree`, `keep`, `prune`, `collapse`, `contract`, `join_ties`,
      `reroot`, `ladderize`, `rotate`, `with_leaf_order`, `relabel`
    * files and pictures: `to_newick`, `to_linkage_matrix`, `to_dict`, `to_frame`, `to_networkx`, `to_d3`,
      `plot`, `savefig`, `to_html`; `from_newick`, `from_linkage_matrix`, `from_dict`

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

    # How a tree is made.

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
    ) -> "Dendrogram":
        """Make a tree of any shape from the parent of each node.

        Inner nodes are put in the order of their heights or, with lengths, of the longest path below them; of
        equals the smaller cluster comes first, then the one with the smaller leaf. So the tree does not
        depend on how its nodes were numbered.

        Parameters
        ----------
        parents
            (n_nodes,) the parent of each node, leaves first, children before parents; -1 for the root, which
            is last.
        heights
            (n_nodes - n,) the height of each inner node.
        lengths
            (n_nodes,) the length of the edge above each node; NaN where it is not known, as above the root.
            At most one of `heights` and `lengths` can be given; a tree without either is shape alone.
        kind, names, settings, leaf_heights
            As the constructor takes them.
        node_names, support
            (n_nodes - n,) the names of the inner nodes, and how sure each is.

        Raises
        ------
        InputError
            Parents that make no tree: a node with one child, a parent that does not come after its child.

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
            raise InputError("give heights or lengths, not both")
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
        return cls._made(tree, annotations.of_nodes(order, n, n))

    def _set(self, tree: _ordhc.Tree, annotations: Annotations) -> None:
        self._tree = tree
        self._annotations = annotations
        self._cache: dict[str, Any] = {}

    @classmethod
    def _made(cls, tree: _ordhc.Tree, annotations: Annotations) -> "Dendrogram":
        self = cls.__new__(cls)
        self._set(tree, annotations)
        return self

    @classmethod
    def _of(
        cls,
        tree: _ordhc.Tree,
        names: Sequence[str] | None,
        support: ArrayLike | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> "Dendrogram":
        return cls._made(tree, Annotations.of(tree, names=names, support=support, settings=settings))

    def _with(self, tree: Any = None, **changes: Any) -> "Dendrogram":
        tree = self._tree if tree is None else tree
        mine = {field.name: getattr(self._annotations, field.name) for field in fields(Annotations)}
        return Dendrogram._made(tree, Annotations.of(tree, **{**mine, **changes}))

    def _derived(self, found: tuple[_ordhc.Tree, NDArray[np.int64]]) -> "Dendrogram":
        """The tree of some of the nodes, given the present number of each."""
        tree, kept = found
        return Dendrogram._made(tree, self._annotations.of_nodes(kept, self.n_leaves, tree.n_leaves))

    def _cached(self, name: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return an array that is made once; it is read-only, because all callers share it."""
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
            found = self._cache["shape"] = Shape.of(self._tree, self._annotations.standing)
        return found

    @property
    def _all_heights(self) -> NDArray[np.float64]:
        return self._cached("all heights", self._tree.all_heights)

    @property
    def _heights_if_any(self) -> NDArray[np.float64] | None:
        """The heights of all nodes, or None; kept, because finding out that there are none takes O(n)."""
        if "heights if any" not in self._cache:
            try:
                self._cache["heights if any"] = self._all_heights
            except InputError:
                self._cache["heights if any"] = None
        found: NDArray[np.float64] | None = self._cache["heights if any"]
        return found

    # Shape: which nodes are below which.

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._tree.n_leaves

    @property
    def n_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return self._tree.n_nodes

    @property
    def parents(self) -> NDArray[np.int64]:
        """The parent of each node, (n_nodes,), -1 for the root; `from_parents` takes them."""
        return self._cached("parents", self._parents)

    def _parents(self) -> NDArray[np.int64]:
        parents = self._tree.parents()
        parents[-1] = -1
        return parents

    @property
    def merges(self) -> NDArray[np.int64]:
        """The tree as merges of two clusters, (n - 1, 2), numbered as SciPy does, the smaller number first.

        In a binary tree merge k is node n + k. A node of k children is k - 1 merges.
        """
        return self._cached("merges", self._tree.merges)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of leaves below each inner node, (n_nodes - n,)."""
        return self._cached("sizes", self._tree.sizes)

    # Heights and lengths.

    @property
    def scale(self) -> str:
        """What the tree has besides its shape: "heights", "lengths", or "shape" for neither."""
        return self._tree.scale

    @property
    def kind(self) -> str:
        """What heights are: "similarity" or "dissimilarity". Paths along edges are dissimilarities."""
        return "dissimilarity" if self._tree.dissimilarity else "similarity"

    @property
    def heights(self) -> NDArray[np.float64]:
        """The height of each inner node, (n_nodes - n,).

        A tree with lengths has heights if all leaves are equally far from the root (but for 1e-4 of that):
        two leaves join at the length of the path between them.

        Raises
        ------
        InputError
            The tree has lengths, and leaves are not equally far from the root; or it is shape alone.
        """
        return self._cached("heights", self._tree.heights)

    @property
    def leaf_heights(self) -> NDArray[np.float64] | None:
        """The heights at which the leaves are, (n,), or None.

        With dot products a leaf is at its own squared length (over p), but no further from the others
        than its merge: max(h(parent), s_ii) (Gray et al. 2024, Algorithm 1).
        """
        if "leaf_heights" not in self._cache:
            own = self._tree.leaf_heights()
            if own is not None:
                own.flags.writeable = False
            self._cache["leaf_heights"] = own
        found: NDArray[np.float64] | None = self._cache["leaf_heights"]
        return found

    @property
    def lengths(self) -> NDArray[np.float64]:
        """The length of the edge above each node, (n_nodes,), NaN where it is not known, as above the root.

        In a tree with heights it is half the difference of the heights, so that the path between two leaves
        of a tree of dissimilarities is as long as the height at which they join.

        Raises
        ------
        InputError
            The tree is shape alone.
        """
        return self._cached("lengths", self._tree.lengths)

    @property
    def is_monotone(self) -> bool:
        """Whether there are no inversions: no merge is closer than a merge within it.

        Raises
        ------
        InputError
            The tree has no `heights`.
        """
        return self._tree.is_monotone()

    def cophenetic(self, *, square: bool = False) -> NDArray[np.float64]:
        """Return the height at which each pair of leaves joins; with lengths, their `patristic` distance.

        SciPy's `cophenet` gives the first, ape's `cophenetic` the second.

        Parameters
        ----------
        square
            Return an (n, n) matrix, in which a leaf with itself has the height at which it is; by default the
            n(n-1)/2 pairs in SciPy's order.

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
            Return an (n, n) matrix with 0 on its diagonal; by default the n(n-1)/2 pairs in SciPy's order.

        Raises
        ------
        InputError
            The tree is shape alone; an edge has no length.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram.from_newick("((a:1,b:2):0.5,c:3);").patristic()
        array([3. , 4.5, 5.5])
        """
        square = _checks.flag("square", square)
        n = self.n_leaves
        # Depths grow towards the leaves, as similarities do.
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
            raise InputError(f"the edge above {what!r} has no length, so that paths have none")
        found, parents = np.zeros(self.n_nodes), self._shape.parents
        with np.errstate(over="ignore"):
            for node in range(self.n_nodes - 2, -1, -1):
                found[node] = found[parents[node]] + lengths[node]
        if not np.abs(found).max() < _LONGEST:
            raise InputError(f"the leaves are too far from the root: paths are longer than {_LONGEST:.1e}")
        return found

    # Names, support and settings.

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._annotations.names

    @property
    def node_names(self) -> tuple[str | None, ...] | None:
        """The name of each inner node or None, (n_nodes - n,), or None if no node has one."""
        return self._annotations.node_names

    @property
    def support(self) -> NDArray[np.float64] | None:
        """How sure each inner node is, (n_nodes - n,) from 0 to 1 (NaN where it is not known), or None."""
        return self._annotations.support

    @property
    def settings(self) -> Mapping[str, Any] | None:
        """What made the tree, read-only, or None where it is not known.

        `cluster`, `linkage`, `refine` and `bootstrap` set "similarity", "linkage", "refine" (the objective by
        which subtrees were moved), each a name or None, and "similarity_parameters", "linkage_parameters",
        "refine_parameters". Numbers, texts and short lists stay as they are, all else becomes text. Trees are
        equal whatever made them.
        """
        return self._annotations.settings

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the leaves, their numbers where they have none."""
        if self.names is not None:
            return self.names
        if "labels" not in self._cache:
            self._cache["labels"] = tuple(map(str, range(self.n_leaves)))
        numbers: tuple[str, ...] = self._cache["labels"]
        return numbers

    def with_names(self, names: Sequence[str] | None) -> "Dendrogram":
        """Return the same tree with other names of the leaves."""
        return self._with(names=names)

    def with_node_names(self, node_names: Sequence[str | None] | None) -> "Dendrogram":
        """Return the same tree with other names of its inner nodes.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).with_node_names(["pets", None]).to_newick()
        '(2:1,(0:0.5,1:0.5)pets:0.5);'
        """
        return self._with(node_names=node_names)

    def with_support(self, support: ArrayLike | None) -> "Dendrogram":
        """Return the same tree with other support.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).with_support([0.93, 1.0]).to_newick()
        '(2:1,(0:0.5,1:0.5)93:0.5)100;'
        """
        return self._with(support=support)

    def with_settings(self, settings: Mapping[str, Any] | None) -> "Dendrogram":
        """Return the same tree with other settings.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1)], [2.0]).with_settings({"linkage": "by hand"})
        >>> d.settings["linkage"], d.relabel([1, 0])
        ('by hand', <Dendrogram: 2 leaves, dissimilarity 2 .. 2, by hand linkage>)
        """
        return self._with(settings=settings)

    # Walks.

    @property
    def root(self) -> Node:
        """The node of all leaves.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> [child.leaf_names for child in d.root.children]
        [('car',), ('cat', 'dog')]
        """
        return Node(self, self.n_nodes - 1)

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
        shape, root = self._shape, self.n_nodes - 1
        labels = shape.preorder(root) if order == "preorder" else shape.postorder(root)
        return (Node(self, label) for label in labels)

    def node(self, which: int | str) -> Node:
        """Return a node by its number or its name.

        Parameters
        ----------
        which
            The number of a node, or the name of a leaf or an inner node.

        Raises
        ------
        InputError
            There is no such node, or more than one has this name.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("((cat,dog)pets,car);")
        >>> d.node("pets") == d.node(3), d.node("dog").parent.name
        (True, 'pets')
        """
        if isinstance(which, str):
            return Node(self, self._label_named(which))
        label = _checks.whole("which", which, at_least=0)
        if label >= self.n_nodes:
            raise InputError(f"there is no node {label}; nodes are 0 to {self.n_nodes - 1}")
        return Node(self, label)

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
            raise InputError(
                f"{_checks.unknown_name(name, list(places))}"
                if places
                else f"{shown(name)}: no node has a name"
            )
        if len(found) > 1:
            listed = ", ".join(map(str, found[:5])) + ("..." if len(found) > 5 else "")
            raise InputError(f"{len(found)} nodes have the name {shown(name)}: give a number, of {listed}")
        return found[0]

    def ancestor(self, leaves: Leaves) -> Node:
        """Return the most recent common ancestor: the node of the smallest cluster with all of some leaves.

        Parameters
        ----------
        leaves
            Numbers or names of leaves; of a single one the node is the leaf.

        Raises
        ------
        InputError
            There is no such leaf, or none is given.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)pets:1,cow:2)animals:1,car:3);")
        >>> d.ancestor(["cat", "cow"]).name, d.ancestor([0, 1]).height
        ('animals', 2.0)
        """
        shape, numbers = self._shape, self._some_leaves_of(leaves)
        places = np.array(shape.starts)[numbers]
        last, label = int(places.max()), int(numbers[places.argmin()])
        while shape.starts[label] + shape.sizes[label] <= last:
            label = shape.parents[label]
        return Node(self, label)

    @overload
    def lca_size(self, i: int, j: int) -> int: ...
    @overload
    def lca_size(self, i: ArrayLike, j: ArrayLike) -> "int | NDArray[np.int64]": ...
    def lca_size(self, i: ArrayLike, j: ArrayLike) -> "int | NDArray[np.int64]":
        """Return the number of leaves of the smallest cluster with both leaves; arrays are broadcast.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0])
        >>> d.lca_size(0, 1), d.lca_size([0, 0], [1, 2])
        (2, array([2, 3]))
        """
        first, second = _checks.whole_numbers("labels", i), _checks.whole_numbers("labels", j)
        try:
            a, b = np.broadcast_arrays(first, second)
        except ValueError:
            raise InputError(
                f"leaves of shapes {first.shape} and {second.shape} can't be broadcast to pairs"
            ) from None
        sizes = self._tree.lca_sizes(
            np.ascontiguousarray(a.ravel(), dtype=np.int64),
            np.ascontiguousarray(b.ravel(), dtype=np.int64),
        )
        return int(sizes[0]) if a.ndim == 0 else sizes.reshape(a.shape)

    @shows_progress("ordering")
    def leaf_order(
        self,
        S: ArrayLike | None = None,
        *,
        dissimilarity: bool | None = None,
        progress: Progress | bool | None = None,
    ) -> NDArray[np.int64]:
        """Return the leaves from left to right, as `to_newick` writes them, or so that neighbours are close.

        Trees that were read keep the order of the text; in others the child with the smaller number is on the
        left.

        Parameters
        ----------
        S
            (n, n), or the n(n-1)/2 pairs as SciPy orders them: of all orders in which the tree can be drawn
            without crossings the one of which neighbouring leaves are closest in sum (optimal leaf ordering,
            Bar-Joseph, Gifford & Jaakkola 2001). A node of more than two children is taken as `merges`, so
            that not all orders of its children are tried. O(n^3) steps for balanced trees, memory for two
            matrices.
        dissimilarity
            Whether smaller is closer in `S`; by default as the tree's heights.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Raises
        ------
        InputError
            A matrix of other leaves, or one that is not symmetric or not finite.

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
        told = _checks.callback("progress", progress)
        return _ordhc.optimal_leaf_order(self._tree, _checks.matrix(S), less, told)

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
        """Return flat clusters: the label of each leaf, (n,), counted from 0 by first leaf.

        Parameters
        ----------
        n_clusters
            Undo nodes in the order of merging, the last one first, as long as there are at most this many
            clusters (in a tree with lengths: that of the longest path first). Of L numbers, nested labels,
            (n, L). A node of more than two children comes apart as a whole, so that there may be fewer
            clusters; a warning says so.
        height
            Keep the merges at least this close: dissimilarities up to it, similarities from it up.
            Under an inversion a merge is kept only if all merges within it are. Of L heights (n, L) labels.
        depth
            Cut at this many edges from the root: 0 is one cluster, 1 a cluster for each child of the root. Of
            L depths (n, L) labels. Trees of shape alone can be cut only so.
        path
            Make the largest clusters in which the path between any two leaves is at most this long.
        min_size
            Leaves of clusters that have fewer leaves are labelled -1, as noise is in scikit-learn; the
            other clusters are counted from 0.

        Warns
        -----
        OrdhcWarning
            The tree has no cut into `n_clusters` clusters.

        Raises
        ------
        InputError
            None or several of the first four are given; the tree has no heights or lengths to cut by.

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
                    f"{there} cluster{'s' * (there > 1)}"
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
        depths, top = [0] * self.n_nodes, list(range(self.n_nodes))
        for node in range(self.n_nodes - 2, -1, -1):
            above = shape.parents[node]
            depths[node] = depths[above] + 1
            if depths[node] > depth:
                top[node] = top[above]
        number: dict[int, int] = {}
        return np.array([number.setdefault(top[leaf], len(number)) for leaf in range(n)], dtype=np.int64)

    # Changes: each returns a new tree.

    def subtree(self, node: Node | int | str) -> "Dendrogram":
        """Return the tree of the leaves below a node, with everything that this tree has of them.

        Leaves are numbered from 0 in the order of their numbers here (`node.leaves`, sorted), nodes in their
        order. Leaves stay at the heights at which they are here.

        Parameters
        ----------
        node
            A `Node` of this tree, or its number or name.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(car:3,((cat:1,dog:1)90:1,cow:2)95:1);")
        >>> d.subtree(d.root.children[1]).to_newick()
        '((cat:1,dog:1)90:1,cow:2)95;'
        """
        return self._derived(self._tree.restricted(np.sort(self._own(node).leaves)))

    def keep(self, leaves: Leaves) -> "Dendrogram":
        """Return the tree of some leaves, without nodes that are left with one child.

        Leaves are numbered from 0 in the order of their numbers here. Heights, support and names of the nodes
        that stay are what they were; lengths of edges one after the other add up.

        Parameters
        ----------
        leaves
            Numbers or names, in any order.

        Raises
        ------
        InputError
            There is no such leaf, one is given twice, or none is given.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)pets:1,cow:2)animals:1,car:3);")
        >>> d.keep(["cat", "cow", "car"]).to_newick()
        '((cat:2,cow:2)animals:1,car:3);'
        """
        numbers = self._some_leaves_of(leaves)
        times = np.bincount(numbers)
        if times.max() > 1:
            raise InputError(f"leaf {shown(self.labels[times.argmax()])} is given {times.max()} times")
        return self._derived(self._tree.restricted(np.sort(numbers)))

    def prune(self, leaves: Leaves) -> "Dendrogram":
        """Return the tree without some leaves, as `keep` returns it for all others.

        Raises
        ------
        InputError
            There is no such leaf, or none would be left.

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
            raise InputError(f"a tree must have a leaf, but all {self.n_leaves} would go")
        return self._derived(self._tree.restricted(np.flatnonzero(stays)))

    def collapse(
        self,
        n_clusters: int | None = None,
        *,
        height: float | None = None,
        depth: int | None = None,
        path: float | None = None,
    ) -> "Dendrogram":
        """Return the top of the tree: its leaves are the clusters that `cut` gives.

        Leaf i of the result is cluster i of ``cut(n_clusters)``, at the height of its cluster. Its name is
        the leaf's if it is only one, else the node's if it has one, else its first leaf's and how many more
        there are, as in "cat +4"; a name that occurs twice is followed by the number of the node.

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
            raise InputError("the top of a tree is one cut: give a number, not a list of them")
        firsts = np.unique(labels, return_index=True)[1]
        # The node of each cluster: the smallest one with all of its leaves.
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

    def contract(self, min_support: float) -> "Dendrogram":
        """Return the tree without the nodes of less support: their children become those of the node above.

        Leaves, the root, and nodes whose support is not known (NaN) stay. In a tree with lengths the length
        above a node that goes is added to its children's.

        Parameters
        ----------
        min_support
            From 0 to 1. With 0.5 a tree of `ordhc.posterior` keeps what is more likely than not.

        Raises
        ------
        InputError
            The tree has no `support`.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)90:1,cow:2)40:1,car:3);")
        >>> d.contract(0.5).to_newick()
        '((cat:1,dog:1)90:2,cow:3,car:3);'
        """
        min_support = _checks.number("min_support", min_support, at_least=0, at_most=1)
        if self.support is None:
            if self.n_nodes - self.n_leaves > 1:
                raise InputError(
                    "the tree has no support: ordhc.bootstrap, ordhc.posterior and ordhc.consensus give it, "
                    "or labels of nodes in Newick"
                )
            return self
        weak = self.support < min_support
        weak[-1:] = False
        return self._derived(self._tree.without(weak)) if weak.any() else self

    def join_ties(self) -> "Dendrogram":
        """Return the tree in which a node at the same height as the node above it is part of that node.

        Support and names of nodes that become a part of another node are left out. In a tree with lengths
        these are inner nodes with an edge of length 0 above; a tree of shape alone stays as it is.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 1.0])
        >>> d.to_newick(branch_lengths=False), d.join_ties().to_newick(branch_lengths=False)
        ('(2,(0,1));', '(0,1,2);')
        """
        if self.scale == "shape":
            return self
        inner = self._tree.parents()[self.n_leaves :] - self.n_leaves
        if self.scale == "heights":
            ties = self.heights == self.heights[inner]
        else:
            ties = self.lengths[self.n_leaves :] == 0
        ties[-1:] = False
        return self._derived(self._tree.without(ties)) if ties.any() else self

    def reroot(
        self,
        outgroup: Leaves | None = None,
        *,
        edge: Node | int | str | None = None,
        midpoint: bool = False,
        share: float = 0.5,
    ) -> "Dendrogram":
        """Return the tree with another root, on an edge.

        Paths between leaves stay as long as they were. Support moves with the edges, because it is about the
        two sides of an edge; names stay with their nodes. The former root goes if it is left with one child.
        A tree with heights becomes one with lengths.

        Parameters
        ----------
        outgroup
            Leaves by number or name: the root is put on the edge between them and all others.
        edge
            A node: the root is put on the edge above it.
        midpoint
            Put the root at the middle of the longest path between two leaves.
        share
            Where on the edge of `outgroup` or `edge` the root is: the share of the edge's length that is on
            the side of the outgroup or node, from 0 to 1.

        Raises
        ------
        InputError
            None or several of the first three are given; no edge separates the outgroup; the edge is above
            the root.

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
        lengths = np.zeros(self.n_nodes) if is_shape else self.lengths
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
        found = rooting.rerooted(shape, lengths, node, below)
        tree, order = _ordhc.Tree.of_nodes(
            n, found.parents, None, None if is_shape else found.lengths, dissimilarity=True, sort=True
        )
        nodes, edges = found.nodes[order][n:], found.edges[order][n:]
        support, names = self.support, self.node_names
        if support is not None:
            known = np.append(support, np.nan)
            sides = [child - n for child in shape.children_of(shape.root) if child >= n]
            if len(sides) == len(shape.children_of(shape.root)) == 2:
                # Both edges at the root are one split, and often only one of them has its support.
                first, second = known[sides]
                known[sides] = np.where(np.isnan([first, second]), [second, first], [first, second])
            support = known[np.where(edges >= n, edges - n, len(support))]
            support[-1] = np.nan
        if names is not None:
            names = tuple([names[at - n] if at >= n else None for at in nodes.tolist()])
        return self._with(tree, support=support, node_names=names, standing=None)

    def ladderize(self, *, largest_first: bool = False) -> "Dendrogram":
        """Return the tree with the children of each node in the order of their sizes, the smallest first.

        Children of equal size stay in order. Only the order in which leaves are written and drawn changes.

        Parameters
        ----------
        largest_first
            Put the largest child first.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat,dog),cow),car);")
        >>> d.ladderize().to_newick()
        '(car,(cow,(cat,dog)));'
        """
        largest_first = _checks.flag("largest_first", largest_first)
        return self._with(standing=orders.by_size(self._shape, largest_first=largest_first))

    def rotate(self, node: Node | int | str) -> "Dendrogram":
        """Return the tree with the children of a node in the opposite order, as it is written and drawn.

        Parameters
        ----------
        node
            A `Node` of this tree, or its number or name.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("((cat,dog)pets,car);")
        >>> d.rotate(d.root).to_newick()
        '(car,(cat,dog)pets);'
        """
        return self._with(standing=orders.turned(self._shape, self._own(node).label))

    def with_leaf_order(self, leaves: "Sequence[int | str] | NDArray[Any]") -> "Dendrogram":
        """Return the tree with its leaves in this order, as it is written and drawn.

        Parameters
        ----------
        leaves
            The numbers or names of all leaves.

        Raises
        ------
        InputError
            A leaf is missing or given twice, or branches would cross: leaves of a cluster are apart.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("((cat,dog)pets,car);")
        >>> d.with_leaf_order(["car", "dog", "cat"]).to_newick()
        '(car,(dog,cat)pets);'
        """
        return self._with(standing=orders.checked(self._shape, self.labels, self._leaves_of(leaves)))

    def relabel(self, leaves: ArrayLike) -> "Dendrogram":
        """Return the tree over renumbered leaves: leaf i becomes `leaves[i]`, with its name.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0]).relabel([2, 1, 0]).merges.tolist()
        [[1, 2], [0, 3]]
        """
        order = _checks.whole_numbers("leaves", leaves, (self.n_leaves,))
        return Dendrogram._made(self._tree.relabel(order), self._annotations.relabelled(order))

    def _leaves_of(self, leaves: Any) -> NDArray[np.int64]:
        """The numbers of leaves that are given by number or name."""
        given = [leaves] if isinstance(leaves, int | str | np.integer) else _checks.listed("leaves", leaves)
        if "leaves" not in self._cache:
            self._cache["leaves"] = {name: leaf for leaf, name in enumerate(self.names or ())}
        known: dict[str, int] = self._cache["leaves"]
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
        """Return SciPy's linkage matrix Z, (n - 1, 4): the two clusters, the height, the size.

        SciPy wants non-negative, growing heights. Dissimilarities stay as they are; similarities h
        become max(h) - h, so that the closest merge is at 0. A node of k children is k - 1 merges, and
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

    @classmethod
    def from_linkage_matrix(cls, Z: ArrayLike, names: Sequence[str] | None = None) -> "Dendrogram":
        """Read SciPy's linkage matrix Z, (n - 1, 4); heights are dissimilarities.

        Examples
        --------
        >>> Dendrogram.from_linkage_matrix([[0, 1, 0.5, 2], [2, 3, 1.0, 3]])
        <Dendrogram: 3 leaves, dissimilarity 0.5 .. 1>
        """
        table = _checks.numbers_of("Z", Z)
        if table.ndim != 2 or table.shape[1] != 4:
            raise InputError(f"Z has shape {table.shape}, not (n - 1, 4)")
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

        Branch lengths are `lengths`: the path between two leaves of a tree of dissimilarities is as long as
        the height at which they join. A tree of shape alone has none. Support is written as the label of a
        node, in percent (as shares where it was read so). Where a node has a name too, the name is its label,
        and support a comment. Names that hold blanks, ``_``, brackets, quotes and the like are quoted, those
        of nodes also where they are numbers.

        Parameters
        ----------
        branch_lengths
            Write them.
        heights
            Add the exact heights as comments, and the numbers of leaves and nodes where the text alone
            would give others: `from_newick` restores the tree as it is.
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
        return newick.write(self._tree, self._annotations, lengths=lengths, heights=exact, progress=progress)

    @classmethod
    @shows_progress("reading")
    def from_newick(
        cls,
        text: str,
        names: Sequence[str] | None = None,
        *,
        preserve_underscores: bool = False,
        progress: Progress | bool | None = None,
    ) -> "Dendrogram":
        """Read Newick text; `to_newick` writes the same tree again.

        Parameters
        ----------
        text
            One tree. Comments in brackets are skipped, but for those of `to_newick`.
        names
            Number the leaves in this order. By default they are numbered as they are written; if all of them
            are the numbers 0..n-1 (outside of quotes), by these; and as comments of `to_newick` say.
        preserve_underscores
            Keep ``_`` in names without quotes, where it means a blank.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Returns
        -------
        Dendrogram
            The tree has the branch lengths of the text as `lengths`, to the bit; without lengths it is shape
            alone; with comments of ``to_newick(heights=True)`` it has heights. Nodes of one child are passed
            over, lengths added up.

            Labels of inner nodes are `support` if they are numbers from 0 to 100 outside of quotes, in
            percent unless none of the tree's is above 1; of several numbers such as ``95.2/98`` (IQ-TREE)
            the last counts. All else is `node_names`, and all numbers where one is not from 0 to 100.

        Warns
        -----
        OrdhcWarning
            Some branches have no length; labels of nodes that are passed over.

        Raises
        ------
        InputError
            What can't be read, with its line; names that occur twice or aren't among `names`.

        Examples
        --------
        >>> d = Dendrogram.from_newick("((cat:1,my_dog:1)95:2,car:3)things;")
        >>> d.names, d.node_names, d.support
        (('cat', 'my dog', 'car'), (None, 'things'), array([0.95,  nan]))
        >>> d.to_newick()
        "((cat:1,'my dog':1)95:2,car:3)things;"
        """
        return cls._made(
            *newick.read(text, names, preserve_underscores=preserve_underscores, progress=progress)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict that JSON can hold; `from_dict` restores the tree unchanged."""
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

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Dendrogram":
        """Make the tree of which `to_dict` returned everything."""
        if not isinstance(data, Mapping) or not {"n_leaves", "parents"} <= data.keys():
            raise InputError(
                "a tree is a dict that has the keys n_leaves and parents, and heights or lengths"
            )
        n = _checks.whole("n_leaves", data["n_leaves"], at_least=1)
        parents, there = _checked_parents(data["parents"])
        if there != n:
            raise InputError(f"n_leaves is {n}, but the parents of {len(parents)} nodes have {there} leaves")
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
        return cls._made(tree, Annotations.from_dict(tree, data))

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row for each node, leaves first.

        Parameters
        ----------
        backend
            "pandas", "polars", "pyarrow", whichever is installed; or "dict", lists by column.

        Returns
        -------
        data frame
            Columns label, parent (none for the root), height, size, support, name, branch_length, is_leaf, as
            `ordhc.Node` has them.

        Raises
        ------
        MissingExtraError
            The package isn't installed.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> table = d.to_frame("dict")
        >>> table["label"], table["parent"], table["name"]
        ([0, 1, 2, 3, 4], [3, 3, 4, 4, None], ['cat', 'dog', 'car', None, None])
        """
        return tables.as_frame(map(self.node, range(self.n_nodes)), backend)

    def to_networkx(self) -> "networkx.DiGraph[int]":
        """Return the tree as a graph of NetworkX (the extra `trees`), with edges from parents to children.

        Nodes are labels, with height, size, support, name and is_leaf as far as there are any; edges have
        their length.

        Examples
        --------
        >>> graph = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"]).to_networkx()
        >>> sorted(graph.edges(data="length")), graph.nodes[0]["name"]
        ([(3, 0, 0.25), (3, 1, 0.25), (4, 2, 1.0), (4, 3, 0.75)], 'cat')
        """
        nodes = map(self.node, range(self.n_nodes))
        return tables.as_graph(
            nodes, scale=self.scale, kind=self.kind, leaf_heights=self.leaf_heights is not None
        )

    def to_d3(self) -> str:
        """Return the tree as nested JSON, as D3's ``hierarchy(JSON.parse(text))`` takes it.

        Each node has height, size and label, name, support and branch_length as far as there are any, and but
        for leaves children. Leaves without names are called by their numbers.

        Examples
        --------
        >>> Dendrogram([(0, 1)], [0.5], names=["cat", "dog"]).to_d3()[:70]
        '{"height": 0.5, "size": 2, "label": 2, "children": [{"name": "cat", "h'
        """
        return tables.as_nested_json(self.root)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the tree with Matplotlib (the extra `plot`).

        A tree with heights is drawn as a dendrogram, one with lengths as a phylogram with an axis of
        distances from the root, one of shape alone as a cladogram.

        Options are those of `ordhc.plotting.plot_dendrogram`: layout, orientation, truncate, n_clusters,
        color_by, colors, columns, palette, marked, labels, node_names, support, support_threshold, scale,
        width, height, font, font_size, line_width, theme, title, pyplot.

        Without `ax` into pyplot's current axes if these are empty, else into a new figure of pyplot, so
        that ``plt.savefig`` and notebooks show it. With `ax` nothing of pyplot is touched.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> ax = d.plot(layout="circular", n_clusters=2)
        """
        from ordhc.plotting.drawing import checked_options, plot_dendrogram

        return plot_dendrogram(self, ax, **{"pyplot": ax is None, **checked_options(options)})

    def savefig(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Draw the tree into an svg, png or pdf file (the extra `plot`), the same file every time.

        Text stays text: it can be edited in SVG, and PDF has fonts of Type 42.

        Parameters
        ----------
        path
            The file; its ending decides the format.
        **options
            `dpi` of a png (150), and as `ordhc.plotting.plot_dendrogram` takes them: ``width=85`` is a
            column of a journal, in millimetres.
        """
        from ordhc.plotting.drawing import save_plot

        save_plot(self, path, **options)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        n_clusters: int | None = None,
        support_threshold: float = 0.0,
        texts: Mapping[Any, Any] | None = None,
        pictures: Mapping[Any, Any] | None = None,
        title: str | None = None,
    ) -> str | None:
        """Return or write a page that shows the tree: zoom, collapse, search, cut, copy clusters, export SVG.

        The tree is drawn as `plot` draws it: with lengths as a phylogram, of shape alone as a cladogram. The
        page is one file that needs no network, for mouse, touch, keys and screen readers. Texts are escaped.

        Parameters
        ----------
        path
            The file; without one the page is returned.
        n_clusters
            Clusters to begin with, at most, as `cut` makes them.
        support_threshold
            Support from which it is shown, from 0 to 1; branches below it are dashed.
        texts, pictures
            By the names of leaves what is shown under the pointer: texts, and pictures as bytes or as paths
            of files (png, jpeg, gif, webp, svg), which are put into the page.
        title
            Of the page.

        Raises
        ------
        InputError
            Names that no leaf has, files that are no pictures.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> d.to_html(n_clusters=2, texts={"cat": "purrs"})[:15]
        '<!doctype html>'
        """
        from ordhc.plotting.pages import page, write_page

        options: dict[str, Any] = {
            "n_clusters": n_clusters,
            "support_threshold": support_threshold,
            "texts": texts,
            "pictures": pictures,
            "title": title,
        }
        if path is None:
            return page(self, **options)
        write_page(self, path, **options)
        return None

    def __eq__(self, other: object) -> bool:
        """Whether nodes, heights or lengths, names and support are the same."""
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
        """Return the page of `to_html`, in a notebook; of more than 5,000 leaves only the text."""
        from ordhc.plotting.pages import inline

        return inline(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dendrogram.from_dict, (self.to_dict(),)


def _checked_parents(given: Any) -> tuple[NDArray[np.int64], int]:
    """Return the parents of nodes with the root as its own parent, and the number of leaves."""
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
