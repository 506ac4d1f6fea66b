"""What a `Dendrogram` is made of, for the other rooms of ordhc.

Users do not need these functions, so they are not methods of the class.
"""

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
    """Return the tree of the engine, without names and supports."""
    return tree._tree


def shape_of(tree: Dendrogram) -> Shape:
    """Return parents and the order in which nodes are drawn, computed once for each tree."""
    return tree._shape


def node_heights(tree: Dendrogram) -> NDArray[np.float64]:
    """Return the heights of all nodes, leaves first."""
    return tree._all_heights


def root_distances(tree: Dendrogram) -> NDArray[np.float64]:
    """Return the length of the path from the root to each node."""
    return tree._root_distances()


def lca_size(tree: Dendrogram, i: ArrayLike, j: ArrayLike) -> Any:
    """Return the number of leaves of the smallest cluster that contains two leaves.

    Arrays of leaves are broadcast and give an array; two numbers give an int. For single pairs,
    ``tree.node([i, j]).size`` is the same number.

    Raises
    ------
    InputError
        There is no such leaf, or the shapes cannot be broadcast.

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
    sizes = tree._tree.lca_sizes(
        np.ascontiguousarray(a.ravel(), dtype=np.int64),
        np.ascontiguousarray(b.ravel(), dtype=np.int64),
    )
    return int(sizes[0]) if a.ndim == 0 else sizes.reshape(a.shape)


def from_dict(data: Any) -> Dendrogram:
    """Restore a dendrogram from what `Dendrogram.to_dict` returned, and nothing else.

    `ordhc.as_dendrogram` accepts other forms of trees too. A value from a JSON file must be this dict.
    """
    return Dendrogram._from_dict(data)


def from_engine(
    tree: _ordhc.Tree,
    names: Sequence[str] | None = None,
    support: ArrayLike | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Dendrogram:
    """Make a dendrogram from a tree of the engine."""
    return Dendrogram._of(tree, names, support, settings)


def with_annotations(tree: _ordhc.Tree, annotations: Annotations) -> Dendrogram:
    """Make a dendrogram from a tree of the engine and what is known about its nodes."""
    return Dendrogram._made(tree, annotations)


def replaced(tree: Dendrogram, engine: _ordhc.Tree | None = None, **changes: Any) -> Dendrogram:
    """Return `tree` with another tree of the engine, or other annotations.

    `changes` are named as the fields of `Annotations`.
    """
    return tree._with(engine, **changes)


def without_nodes(tree: Dendrogram, goes: NDArray[np.bool_]) -> Dendrogram:
    """Return `tree` without the inner nodes where `goes` is True.

    Their children become children of the node above.
    """
    return tree._derived(tree._tree.without(goes))
