"""Functions that give other packages of ordhc access to the parts of a `Dendrogram`.

Users do not need these functions, so the functions are not methods of the class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.errors import InputError
from ordhc.tree.annotations import Annotations
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.shape import Shape


def engine_tree(tree: Dendrogram) -> _ordhc.Tree:
    return tree._tree


def shape_of(tree: Dendrogram) -> Shape:
    return tree._shape


def node_heights(tree: Dendrogram) -> NDArray[np.float64]:
    """Return the heights of all nodes, leaves first."""
    return tree._all_heights


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
    return Dendrogram._from_dict(data)


def from_engine(
    tree: _ordhc.Tree,
    names: Sequence[str] | None = None,
    support: ArrayLike | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Dendrogram:
    return with_annotations(tree, Annotations.of(tree, names=names, support=support, settings=settings))


def with_annotations(tree: _ordhc.Tree, annotations: Annotations) -> Dendrogram:
    return Dendrogram._made(tree, annotations)


def replaced(tree: Dendrogram, engine: _ordhc.Tree | None = None, **changes: Any) -> Dendrogram:
    """Return `tree` with another `_ordhc.Tree`, or other annotations (names, support, settings).

    The names of `changes` are fields of `Annotations`.
    """
    return tree._with(engine, **changes)


def without_nodes(tree: Dendrogram, removed: NDArray[np.bool_]) -> Dendrogram:
    """Return `tree` without the inner nodes where `removed` is True.

    Their children become children of the node above.
    """
    return tree._derived(tree._tree.without(removed))
