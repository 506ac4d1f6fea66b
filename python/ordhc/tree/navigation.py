"""Ways through a dendrogram: nodes, parts of it, flat clusters; `ordhc.Dendrogram` is the class to use."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError
from ordhc.tree.beside import Beside, shown
from ordhc.tree.contract import contracted
from ordhc.tree.merges import Merges, whole_labels
from ordhc.tree.node import Node
from ordhc.tree.order import by_size, checked, turned
from ordhc.tree.restrict import restricted
from ordhc.tree.shape import first_places, some_leaves

__all__ = ["Navigation"]

ORDERS = ("preorder", "postorder")


class Navigation(Merges):
    """A dendrogram to walk on and to cut; see `ordhc.Dendrogram`."""

    __slots__ = ()

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
        return Node(self, 2 * self.n_leaves - 2)

    def nodes(self, order: str = "preorder") -> Iterator[Node]:
        """All nodes, leaves among them, each once.

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
        order = _checks.choice("order", order, ORDERS)
        shape, root = self._shape, 2 * self.n_leaves - 2
        labels = shape.preorder(root) if order == "preorder" else shape.postorder(root)
        return (Node(self, label) for label in labels)

    def node(self, which: int | str) -> Node:
        """A node by its label or its name.

        Parameters
        ----------
        which
            The label of a leaf or a merge, as in `merges`, or the name of a leaf or a node.

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
        if label > 2 * self.n_leaves - 2:
            raise InputError(f"there is no node {label}; labels are 0 to {2 * self.n_leaves - 2}")
        if self.joined is not None and label >= self.n_leaves and self.joined[label - self.n_leaves]:
            whole = self._shape.nodes[label - self.n_leaves]
            raise InputError(f"{label} is a merge that is joined with others to node {whole}")
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
            raise InputError(f"{len(found)} nodes have the name {shown(name)}: give a label, of {listed}")
        return found[0]

    def subtree(self, node: Node | int | str) -> Self:
        """The dendrogram of the leaves below a node, with all that this one has of them.

        Leaves are numbered from 0 in the order of their numbers here (`node.leaves`, sorted), merges as they
        follow each other. Similarities without `leaf_heights` get them where the closest merge is elsewhere,
        so that leaves stand where they did.

        Parameters
        ----------
        node
            A `Node` of this tree, or its label or name.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(car:3,((cat:1,dog:1)90:1,cow:2)95:1);")
        >>> d.subtree(d.root.children[1]).to_newick()
        '((cat:1,dog:1)90:1,cow:2)95;'
        """
        node = self._own(node)
        inside = np.zeros(2 * self.n_leaves - 1, dtype=bool)
        inside[list(self._shape.preorder(node.label))] = True
        leaves = np.sort(node.leaves)
        found = self._part(leaves, np.flatnonzero(inside[self._shape.nodes]))
        if self.names is None:
            return found
        return found._with(names=[self.names[leaf] for leaf in leaves.tolist()])

    def collapse(self, n_clusters: int | None = None, *, height: float | None = None) -> Self:
        """The top of the tree: its leaves are the clusters that `cut` gives, everything below is left out.

        Leaf i of the result is cluster i of ``cut(n_clusters)``. It stands at the height of its cluster
        (`leaf_heights`). Its name is the leaf's if it is only one, else the node's if it has one, else its
        first leaf's and how many more there are, as in "cat +4"; a name that occurs twice is followed by the
        label of the node.

        Parameters
        ----------
        n_clusters, height
            As in `cut`.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat:1,dog:1)pets:1,cow:2):1,(car:1,bus:1):2);")
        >>> d.collapse(3).to_newick()
        "((pets:1,cow:2):1,'car +1':2);"
        """
        labels = self._flat(n_clusters, height)
        some = some_leaves(self.merges)
        of = labels[some]
        sides = of[self.merges]
        kept = np.flatnonzero(sides[:, 0] != sides[:, 1])
        # The largest cluster of each label comes last.
        is_within = np.ones(len(of), dtype=bool)
        is_within[self.n_leaves + kept] = False
        tops = np.zeros(labels.max() + 1, dtype=np.int64)
        np.maximum.at(tops, of[is_within], np.flatnonzero(is_within))
        return self._part(tops, kept)._with(names=self._names_of(tops))

    def contract(self, min_support: float) -> Self:
        """The tree without the nodes of less support: their children become those of the node above.

        Nodes of more than two children are joined merges (`joined`), at the height of the node. Leaves, the
        root, and nodes whose support isn't known (NaN) stay. Where the tree has `branch_lengths`, that of a
        node that goes is added to its children's.

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
        return type(self)._made(*contracted(self, min_support))

    def ancestor(self, leaves: "int | str | Sequence[int | str] | NDArray[Any]") -> Node:
        """The node of the smallest cluster that has all of some leaves (the most recent common ancestor).

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
        ('animals', 1.0)
        """
        shape, numbers = self._shape, self._some_leaves_of(leaves)
        places = np.array(shape.starts)[numbers]
        last, label = int(places.max()), int(numbers[places.argmin()])
        while shape.starts[label] + shape.sizes[label] <= last:
            label = shape.parents[label]
        return Node(self, label)

    def cophenetic(self, *, square: bool = False) -> NDArray[np.float64]:
        """The height of the smallest cluster of each pair of leaves, as SciPy's `cophenet` gives it.

        Parameters
        ----------
        square
            An (n, n) matrix, in which a leaf with itself has the height at which it stands (0 with
            dissimilarities, unless there are `leaf_heights`); by default the n(n-1)/2 pairs in SciPy's order.

        Examples
        --------
        >>> import ordhc
        >>> ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0]).cophenetic()
        array([0.5, 2. , 2. ])
        """
        square = _checks.flag("square", square)
        return self._shape.of_pairs(self._all_heights, square=square)

    def keep(self, leaves: "int | str | Sequence[int | str] | NDArray[Any]") -> Self:
        """The tree of some of the leaves; nodes with one child are passed over.

        Leaves are numbered from 0 in the order of their numbers here. Heights, support and names of the nodes
        that stay are what they were, `branch_lengths` of nodes that go are added to those below them.

        Parameters
        ----------
        leaves
            Numbers or names, in any order.

        Raises
        ------
        InputError
            There is no such leaf, one comes twice, or none is given.

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
            raise InputError(f"leaf {shown(self.labels[times.argmax()])} comes {times.max()} times")
        return type(self)._made(*restricted(self, np.sort(numbers)))

    def prune(self, leaves: "int | str | Sequence[int | str] | NDArray[Any]") -> Self:
        """The tree without some leaves, as `keep` gives it of all others.

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
            raise InputError(f"a tree has a leaf, but all {self.n_leaves} are to go")
        return type(self)._made(*restricted(self, np.flatnonzero(stays)))

    def ladderize(self, *, largest_first: bool = False) -> Self:
        """The same tree with the children of each node in the order of their sizes, the smallest first.

        What is as large stays in order. Only the order in which leaves are written and drawn changes.

        Parameters
        ----------
        largest_first
            The largest child comes first.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("(((cat,dog),cow),car);")
        >>> d.ladderize().to_newick(branch_lengths=False)
        '(car,(cow,(cat,dog)));'
        """
        largest_first = _checks.flag("largest_first", largest_first)
        return self._with(standing=by_size(self._shape, largest_first=largest_first))

    def rotate(self, node: Node | int | str) -> Self:
        """The same tree with the children of a node in the opposite order, as it is written and drawn.

        Parameters
        ----------
        node
            A `Node` of this tree, or its label or name.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("((cat,dog)pets,car);")
        >>> d.rotate(d.root).to_newick(branch_lengths=False)
        '(car,(cat,dog)pets);'
        """
        return self._with(standing=turned(self._shape, self._own(node).label))

    def with_leaf_order(self, leaves: "Sequence[int | str] | NDArray[Any]") -> Self:
        """The same tree with its leaves in this order, as it is written and drawn.

        Parameters
        ----------
        leaves
            The numbers or names of all leaves.

        Raises
        ------
        InputError
            A leaf is missing or comes twice, or branches would cross: leaves of a cluster are apart.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram.from_newick("((cat,dog)pets,car);")
        >>> d.with_leaf_order(["car", "dog", "cat"]).to_newick(branch_lengths=False)
        '(car,(dog,cat)pets);'
        """
        return self._with(standing=checked(self, self._leaves_of(leaves)))

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

    def _names_of(self, clusters: NDArray[np.int64]) -> list[str]:
        shape, n, labels = self._shape, self.n_leaves, self.labels
        firsts = first_places(np.arange(n), self.merges)
        found = []
        for label in clusters.tolist():
            name = labels[label] if label < n else None
            if label >= n:
                is_node = shape.nodes[label - n] == label
                name = self.node_names[label - n] if self.node_names is not None and is_node else None
            if name is None:
                name = f"{labels[firsts[label]]} +{self.sizes[label - n] - 1:,}"
            found.append(name)
        while len(set(found)) < len(found):
            times = Counter(found)
            found = [
                f"{name} ({label})" if times[name] > 1 and label >= n else name
                for name, label in zip(found, clusters.tolist(), strict=True)
            ]
        return found

    def _part(self, leaves: NDArray[np.int64], kept: NDArray[np.int64]) -> Self:
        """The tree of some merges, in which some clusters are the leaves; leaves have no names."""
        n, mine = self.n_leaves, self._beside
        number = np.full(2 * n - 1, -1)
        number[leaves] = np.arange(len(leaves))
        number[n + kept] = len(leaves) + np.arange(len(kept))
        merges = np.ascontiguousarray(number[self.merges[kept]]).reshape(-1, 2)
        joined = None if self.joined is None else self.joined[kept]
        heights = np.ascontiguousarray(self.heights[kept])
        tree = _ordhc.Dendrogram(merges, heights, self._tree.dissimilarity, joined)
        lengths = mine.branch_lengths
        if lengths is not None:
            lengths = np.concatenate([lengths[leaves], lengths[n + kept]])
            lengths[-1] = np.nan
        own = self._all_heights[leaves]
        is_told = mine.leaf_heights is None and np.array_equal(own, Beside().all_heights(tree)[: len(leaves)])
        standing = None
        if mine.standing is not None:
            standing = np.argsort(first_places(mine.standing, self.merges)[leaves])
        beside = Beside.of(
            tree,
            node_names=None if mine.node_names is None else [mine.node_names[at] for at in kept.tolist()],
            support=None if mine.support is None else mine.support[kept],
            branch_lengths=lengths,
            leaf_heights=None if is_told else own,
            shares=mine.shares,
            standing=standing,
            settings=mine.settings,
        )
        return type(self)._made(tree, beside)

    @overload
    def cut(
        self, n_clusters: int, *, height: None = None, min_size: int | None = None
    ) -> NDArray[np.int64]: ...
    @overload
    def cut(
        self,
        n_clusters: int | Sequence[int] | None = None,
        *,
        height: float | Sequence[float] | None = None,
        min_size: int | None = None,
    ) -> NDArray[np.int64]: ...
    def cut(
        self,
        n_clusters: int | Sequence[int] | None = None,
        *,
        height: float | Sequence[float] | None = None,
        min_size: int | None = None,
    ) -> NDArray[np.int64]:
        """Flat clusters: the label of each leaf, (n,), counted from 0 by first leaf.

        Parameters
        ----------
        n_clusters
            Undo the last `n_clusters` - 1 merges, in merge order. Of L numbers, nested labels, (n, L).
        height
            Keep the merges at least this close: dissimilarities up to it, similarities from it up.
            Under an inversion a merge is kept only if all merges within it are. Of L heights (n, L) labels.
        min_size
            Leaves of clusters that have fewer leaves are labelled -1, as noise is in scikit-learn; the
            other clusters are counted from 0.

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
        if (n_clusters is None) == (height is None):
            raise InputError("give either n_clusters or height")
        what, given = ("n_clusters", n_clusters) if height is None else ("height", height)
        levels = _checks.array(what, given)
        if levels.ndim > 1:
            raise InputError(f"{what} has shape {levels.shape}; a number or a list of numbers is needed")
        found = []
        for level in levels.tolist() if levels.ndim else [given]:
            labels = self._flat(*((level, None) if height is None else (None, level)))
            found.append(labels if least == 1 else _without_small(labels, least))
        if not levels.ndim:
            return found[0]
        return np.column_stack(found) if found else np.zeros((self.n_leaves, 0), dtype=np.int64)

    def _flat(self, n_clusters: Any, height: Any) -> NDArray[np.int64]:
        if (n_clusters is None) == (height is None):
            raise InputError("give either n_clusters or height")
        if n_clusters is not None:
            return self._tree.cut_clusters(_checks.whole("n_clusters", n_clusters, at_least=1))
        return self._tree.cut_height(float(_checks.numbers_of("height", height, ())))

    @overload
    def lca_size(self, i: int, j: int) -> int: ...
    @overload
    def lca_size(self, i: ArrayLike, j: ArrayLike) -> "int | NDArray[np.int64]": ...
    def lca_size(self, i: ArrayLike, j: ArrayLike) -> "int | NDArray[np.int64]":
        """How many leaves the smallest cluster with both leaves has; arrays are broadcast.

        Examples
        --------
        >>> import ordhc
        >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0])
        >>> d.lca_size(0, 1), d.lca_size([0, 0], [1, 2])
        (2, array([2, 3]))
        """
        first, second = whole_labels(i), whole_labels(j)
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
        """The leaves from left to right, as `to_newick` writes them, or so that neighbours are close.

        Trees that were read keep the order of the text; else the cluster with the smaller label is on the
        left.

        Parameters
        ----------
        S
            (n, n), or the n(n-1)/2 pairs as SciPy orders them: of all orders in which the tree can be drawn
            without crossings the one of which neighbouring leaves are closest in sum (optimal leaf ordering,
            Bar-Joseph, Gifford & Jaakkola 2001). O(n^3) steps for balanced trees, memory for two matrices.
        dissimilarity
            Whether smaller is closer in `S`; by default as the tree's heights.
        progress
            Called now and then with the share that is done, from 0 to 1; True shows a bar.

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


def _without_small(labels: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    stays = np.bincount(labels) >= least
    return np.where(stays, np.cumsum(stays) - 1, -1)[labels]
