"""Dendrograms as tables, graphs and nested JSON."""

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ordhc import _checks
from ordhc.errors import MissingExtraError
from ordhc.tree.merges import Merges

if TYPE_CHECKING:
    import networkx

__all__ = ["BACKENDS", "as_frame", "as_graph", "as_nested_json"]

BACKENDS = ("pandas", "polars", "pyarrow", "dict")


def columns_of(tree: Merges) -> dict[str, list[Any]]:
    """A row for each node by its label, leaves first; None is what there isn't."""
    n, shape = len(tree), tree._shape
    labels = [label for label, above in enumerate(shape.parents) if above >= 0 or label == 2 * n - 2]
    rows = np.array(labels)
    names: list[str | None] = [*(tree.names or [None] * n), *(tree.node_names or [None] * (n - 1))]
    support = np.full(2 * n - 1, np.nan)
    if tree.support is not None:
        support[n:] = tree.support
    return {
        "label": labels,
        "parent": [None if above < 0 else above for above in (shape.parents[label] for label in labels)],
        "height": tree._all_heights[rows].tolist(),
        "size": [shape.sizes[label] for label in labels],
        "support": _known(support[rows].tolist()),
        "name": [names[label] for label in labels],
        "branch_length": _known(tree._lengths[rows].tolist()),
        "is_leaf": [label < n for label in labels],
    }


def _known(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def as_frame(tree: Merges, backend: str) -> Any:
    """See `Dendrogram.to_frame`."""
    backend = _checks.choice("backend", backend, BACKENDS)
    columns = columns_of(tree)
    if backend == "dict":
        return columns
    try:
        if backend == "pandas":
            import pandas

            types = {"parent": "Int64", "support": "float64", "name": object, "branch_length": "float64"}
            series = {name: pandas.Series(cells, dtype=types.get(name)) for name, cells in columns.items()}
            return pandas.DataFrame(series)
        if backend == "polars":
            import polars

            wanted = {"parent": polars.Int64, "support": polars.Float64, "name": polars.String}
            return polars.DataFrame(columns, schema_overrides={**wanted, "branch_length": polars.Float64})
        import pyarrow
    except ImportError:
        raise MissingExtraError(
            f'to_frame(backend="{backend}") needs {backend}: pip install {backend}; "dict" needs nothing',
            name=backend,
        ) from None
    types = {"parent": pyarrow.int64(), "support": pyarrow.float64(), "name": pyarrow.string()}
    types["branch_length"] = pyarrow.float64()
    return pyarrow.table({name: pyarrow.array(cells, types.get(name)) for name, cells in columns.items()})


def as_graph(tree: Merges) -> "networkx.DiGraph[int]":
    """See `Dendrogram.to_networkx`."""
    try:
        import networkx
    except ImportError:
        raise MissingExtraError.of("to_networkx", "networkx", "trees") from None
    graph: networkx.DiGraph[int] = networkx.DiGraph(
        kind=tree.kind, leaf_heights=tree.leaf_heights is not None
    )
    columns = columns_of(tree)
    for row in zip(*columns.values(), strict=True):
        about = dict(zip(columns, row, strict=True))
        label, above, length = about.pop("label"), about.pop("parent"), about.pop("branch_length")
        graph.add_node(label, **{name: value for name, value in about.items() if value is not None})
        if above is not None:
            graph.add_edge(above, label, **({} if length is None else {"length": length}))
    return graph


def as_nested_json(tree: Merges) -> str:
    """See `Dendrogram.to_d3`; deep trees are no deep recursion."""
    shape, n, names = tree._shape, len(tree), tree.labels
    columns = columns_of(tree)
    about = {}
    for label, _, height, size, support, name, length, is_leaf in zip(*columns.values(), strict=True):
        name = names[label] if is_leaf else name
        facts = [] if name is None else [f'"name": {json.dumps(name, ensure_ascii=False)}']
        facts.append(f'"height": {height!r}, "size": {size}')
        facts += [] if support is None else [f'"support": {support!r}']
        facts += [] if length is None else [f'"branch_length": {length!r}']
        about[label] = f'{{{", ".join(facts)}, "label": {label}}}'
    text: list[str] = []
    waiting: list[int | str] = [2 * n - 2]
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
