"""Categories of leaves (clusters, given colours, columns of a table), and their colours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.plotting.palette import palette
from ordhc.plotting.pictures import of_leaves
from ordhc.tree.dendrogram import Dendrogram, shape_of


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """Categories of leaves, with a name and a colour for each category.

    `codes` is the (n,) number of the category of each leaf; -1 means that the leaf has no category.
    """

    codes: NDArray[np.int64]
    names: tuple[str, ...]
    colours: tuple[str, ...]
    title: str | None = None


def of_cut(tree: Dendrogram, n_clusters: int) -> Categories:
    """Return the clusters of a cut as categories, in the order of the tree's leaves.

    The name of a category is the name of the cluster's node, or "cluster 0", "cluster 1" and so on.
    """
    flat = tree.cut(n_clusters)
    placed = flat[tree.leaf_order()]
    starts = np.flatnonzero(np.diff(placed, prepend=-1))
    sizes = np.diff(starts, append=len(placed))
    seen = {label: at for at, label in enumerate(placed[starts].tolist())}
    codes = np.array([seen[label] for label in flat.tolist()], dtype=np.int64)
    called = names_by_place(tree)
    names = [
        called.get(where, f"cluster {at}")
        for at, where in enumerate(zip(starts.tolist(), sizes.tolist(), strict=True))
    ]
    return Categories(codes, tuple(names), palette(len(seen)))


def names_by_place(tree: Dendrogram) -> dict[tuple[int, int], str]:
    """Return a dict of node names. The key of a node is the pair (position of its first leaf, its size).

    Positions are in the drawing order. The size is the number of leaves below the node.
    """
    if tree.node_names is None:
        return {}
    shape, n = shape_of(tree), tree.n_leaves
    return {
        (shape.starts[n + at], shape.sizes[n + at]): name
        for at, name in enumerate(tree.node_names)
        if name is not None
    }


def of_mapping(tree: Dendrogram, colours: Any) -> Categories:
    """Return one category for each different colour. Leaves without a colour have no category.

    `colours` is a mapping from names of leaves to colours, or a list in the order of leaf numbers.
    """
    given = _by_leaf(tree, "colors", colours)
    different: dict[str, int] = {}
    codes = np.full(tree.n_leaves, -1)
    for leaf, colour in enumerate(given):
        if colour is not None:
            codes[leaf] = different.setdefault(check_colour("colors", colour), len(different))
    return Categories(codes, tuple(different), tuple(different))


def columns_of(
    tree: Dendrogram, what: str, given: Any, chosen: Mapping[Any, Any] | None, *, after: int = 0
) -> list[Categories]:
    """Return columns of categories, each category with a colour of its own.

    `given` is one column, by name or in the order of the leaves' numbers; or a data frame, or a mapping from
    titles to such columns. `what` is the name of this argument, for messages.

    `chosen` maps categories to colours. Other categories have colours of the palette, of which the first
    `after` are already in use.
    """
    tables: list[tuple[str | None, Any]]
    if hasattr(given, "columns") and not isinstance(given, Mapping):
        tables = [(str(title), given[title]) for title in given.columns]
    elif isinstance(given, Mapping) and any(_is_column(value) for value in given.values()):
        tables = [(str(title), column) for title, column in given.items()]
    else:
        title = getattr(given, "name", None)
        tables = [(None if title is None else str(title), given)]
    values = [(title, _by_leaf(tree, what, column)) for title, column in tables]
    order = tree.leaf_order().tolist()
    seen: list[dict[Any, int]] = []
    for _, column in values:
        present = {value for value in column if value is not None}
        try:
            ranked = sorted(present)
        except TypeError:
            ranked = [value for value in dict.fromkeys(column[leaf] for leaf in order) if value is not None]
        seen.append({value: at for at, value in enumerate(ranked)})
    chosen = {} if chosen is None else dict(chosen)
    free = list(palette(after + sum(map(len, seen)) + len(chosen)))[after:]
    taken = {check_colour("palette", colour).lower() for colour in chosen.values()}
    unused = iter([colour for colour in free if colour.lower() not in taken])
    found = []
    for (title, column), numbers in zip(values, seen, strict=True):
        codes = np.array([-1 if value is None else numbers[value] for value in column], dtype=np.int64)
        colours = [
            check_colour("palette", chosen[value]) if value in chosen else next(unused) for value in numbers
        ]
        found.append(Categories(codes, tuple(map(str, numbers)), tuple(colours), title))
    return found


def check_colour(what: str, colour: Any) -> str:
    """Return a Matplotlib colour as text such as "#0072b2"; raise `InputError` for other values."""
    from matplotlib.colors import is_color_like, to_hex

    if not is_color_like(colour):
        raise InputError(
            f"{what}: {_checks.quoted(colour)} is no colour; give one as 'tab:blue' or '#0072B2'"
        )
    return to_hex(colour, keep_alpha=False)


def _is_column(value: Any) -> bool:
    return isinstance(value, Mapping) or (hasattr(value, "__len__") and not isinstance(value, str | tuple))


def _by_leaf(tree: Dendrogram, what: str, given: Any) -> list[Any]:
    if hasattr(given, "index") and hasattr(given, "to_dict"):
        # A series is matched by its index, unless the index only counts the rows.
        counts = tree.names is not None and list(given.index) == list(range(len(given.index)))
        given = list(given) if counts else given.to_dict()
    if isinstance(given, Mapping):
        by_leaf = of_leaves(tree, what, given)
        return [_value(what, by_leaf.get(leaf)) for leaf in range(tree.n_leaves)]
    if isinstance(given, str) or not (isinstance(given, Sequence) or hasattr(given, "__len__")):
        raise InputError(f"{what} is {_checks.quoted(given)}; give a value of each leaf, by name or in order")
    values = [_value(what, value) for value in given]
    if len(values) != tree.n_leaves:
        raise InputError(f"{what} has {len(values)} values for {tree.n_leaves} leaves")
    return values


def _value(what: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:
        return None
    try:
        hash(value)
    except TypeError:
        raise InputError(f"{what}: {_checks.quoted(value)} is no category") from None
    return value
