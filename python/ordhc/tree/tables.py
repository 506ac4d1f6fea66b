"""Dendrograms as tables, graphs and nested JSON."""

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ordhc import _checks
from ordhc.errors import MissingExtraError

if TYPE_CHECKING:
    import networkx

    from ordhc.tree.dendrogram import Dendrogram

__all__ = ["BACKENDS", "as_frame", "as_graph", "as_nested_json"]

BACKENDS = ("pandas", "polars", "pyarrow", "dict")


def columns_of(tree: "Dendrogram") -> dict[str, list[Any]]:
    """Return a row for each node, leaves first; None is what there is not."""
    n, shape, n_nodes = len(tree), tree._shape, tree.n_nodes
    n_inner = n_nodes - n
    names: list[str | None] = [*(tree.names or [None] * n), *(tree.node_names or [None] * n_inner)]
    support = np.full(n_nodes, np.nan)
    if tree.support is not None:
        support[n:] = tree.support
    heights = [node.height for node in map(tree.node, range(n_nodes))]
    lengths = [None] * n_nodes if tree.scale == "shape" else _known(tree.lengths.tolist())
    return {
        "label": list(range(n_nodes)),
        "parent": [None if above < 0 else above for above in shape.parents],
        "height": heights,
        "size": list(shape.sizes),
        "support": _known(support.tolist()),
        "name": names,
        "branch_length": lengths,
        "is_leaf": [node < n for node in range(n_nodes)],
    }


def _known(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def as_frame(tree: "Dendrogram", backend: str) -> Any:
    """See `Dendrogram.to_frame`."""
    backend = _checks.choice("backend", backend, BACKENDS)
    columns = columns_of(tree)
    if backend == "dict":
        return columns
    try:
        if backend == "pandas":
            import pandas

            types = {"parent": "Int64", "name": object}
            types |= dict.fromkeys(["support", "branch_length", "height"], "float64")
            series = {name: pandas.Series(cells, dtype=types.get(name)) for name, cells in columns.items()}
            return pandas.DataFrame(series)
        if backend == "polars":
            import polars

            wanted = {"parent": polars.Int64, "name": polars.String}
            wanted |= dict.fromkeys(["support", "branch_length", "height"], polars.Float64)
            return polars.DataFrame(columns, schema_overrides=wanted)
        import pyarrow
    except ImportError:
        raise MissingExtraError(
            f'to_frame(backend="{backend}") needs {backend}: pip install {backend}; "dict" needs nothing',
            name=backend,
        ) from None
    types = {"parent": pyarrow.int64(), "name": pyarrow.string()}
    types |= dict.fromkeys(["support", "branch_length", "height"], pyarrow.float64())
    return pyarrow.table({name: pyarrow.array(cells, types.get(name)) for name, cells in columns.items()})


def as_graph(tree: "Dendrogram") -> "networkx.DiGraph[int]":
    """See `Dendrogram.to_networkx`."""
    try:
        import networkx
    except ImportError:
        raise MissingExtraError.of("to_networkx", "networkx", "trees") from None
    graph: networkx.DiGraph[int] = networkx.DiGraph(
        scale=tree.scale, kind=tree.kind, leaf_heights=tree.leaf_heights is not None
    )
    columns = columns_of(tree)
    for row in zip(*columns.values(), strict=True):
        about = dict(zip(columns, row, strict=True))
        label, above, length = about.pop("label"), about.pop("parent"), about.pop("branch_length")
        graph.add_node(label, **{name: value for name, value in about.items() if value is not None})
        if above is not None:
            graph.add_edge(above, label, **({} if length is None else {"length": length}))
    return graph


def as_nested_json(tree: "Dendrogram") -> str:
    """See `Dendrogram.to_d3`; deep trees are no deep recursion."""
    shape, n, names = tree._shape, len(tree), tree.labels
    columns = columns_of(tree)
    about = {}
    for label, _, height, size, support, name, length, is_leaf in zip(*columns.values(), strict=True):
        name = names[label] if is_leaf else name
        facts = [] if name is None else [f'"name": {json.dumps(name, ensure_ascii=False)}']
        facts += [] if height is None else [f'"height": {height!r}']
        facts.append(f'"size": {size}')
        facts += [] if support is None else [f'"support": {support!r}']
        facts += [] if length is None else [f'"branch_length": {length!r}']
        about[label] = f'{{{", ".join(facts)}, "label": {label}}}'
    text: list[str] = []
    waiting: list[int | str] = [shape.root]
    while waiting:
        step = waiting.pop()
        if isinstance(step, str):
            text.append(step)
        elif step < n:
            text.append(about[step])
        else:
            text.append(about[step][:-1] + ', "children": [')
            waiting.append("]}")
            for at, child in enumerate(shape.children_of(step)[::-1]):
                waiting += [", ", child] if at else [child]
    return "".join(text)
