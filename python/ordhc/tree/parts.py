"""What a `Dendrogram` is made of, for the other rooms of ordhc.

Users do not need these functions, so they are not methods of the class.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _ordhc
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
