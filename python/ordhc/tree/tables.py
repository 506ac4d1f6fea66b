"""Convert dendrograms to data frames, NetworkX graphs and nested JSON."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ordhc import _checks
from ordhc.errors import MissingExtraError
from ordhc.tree.node import Node

if TYPE_CHECKING:
    import networkx

_COLUMNS = ("label", "parent", "height", "size", "support", "name", "branch_length", "is_leaf")
BACKENDS = ("pandas", "polars", "pyarrow", "dict")


def columns_of(nodes: Iterable[Node]) -> dict[str, list[Any]]:
    nodes = list(nodes)
    columns = {name: [getattr(node, name) for node in nodes] for name in _COLUMNS}
    columns["parent"] = [None if above is None else above.label for above in columns["parent"]]
    return columns


def as_frame(nodes: Iterable[Node], backend: str) -> Any:
    backend = _checks.choice("backend", backend, BACKENDS)
    columns = columns_of(nodes)
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
            f'to_frame(backend="{backend}") needs {backend}: pip install {backend}; or use backend="dict"',
            name=backend,
        ) from None
    types = {"parent": pyarrow.int64(), "name": pyarrow.string()}
    types |= dict.fromkeys(["support", "branch_length", "height"], pyarrow.float64())
    return pyarrow.table({name: pyarrow.array(cells, types.get(name)) for name, cells in columns.items()})


def as_graph(nodes: Iterable[Node], **about: Any) -> "networkx.DiGraph[int]":
    try:
        import networkx
    except ImportError:
        raise MissingExtraError.of("to_networkx", "networkx", "trees") from None
    graph: networkx.DiGraph[int] = networkx.DiGraph(**about)
    columns = columns_of(nodes)
    for row in zip(*columns.values(), strict=True):
        known = dict(zip(columns, row, strict=True))
        label, above, length = known.pop("label"), known.pop("parent"), known.pop("branch_length")
        graph.add_node(label, **{name: value for name, value in known.items() if value is not None})
        if above is not None:
            graph.add_edge(above, label, **({} if length is None else {"length": length}))
        elif length is not None:
            graph.graph["root_length"] = length
    return graph


def as_nested_json(root: Node) -> str:
    """Return a node and all nodes below it as nested JSON, which D3's ``hierarchy(JSON.parse(text))`` reads.

    Each node has size and label. Height, name, support and branch_length are included if known. Inner nodes
    have children. A leaf without a name has its number as name. The function does not recurse, so that deep
    trees do not overflow the stack.

    Examples
    --------
    >>> from ordhc.tree.dendrogram import Dendrogram
    >>> as_nested_json(Dendrogram([(0, 1)], [0.5], names=["cat", "dog"]).root)[:70]
    '{"height": 0.5, "size": 2, "label": 2, "children": [{"name": "cat", "h'
    """
    text: list[str] = []
    waiting: list[Node | str] = [root]
    while waiting:
        step = waiting.pop()
        if isinstance(step, str):
            text.append(step)
            continue
        known = {"name": step.leaf_names[0] if step.is_leaf else step.name}
        known |= {key: getattr(step, key) for key in ("height", "size", "support", "branch_length", "label")}
        facts = {key: value for key, value in known.items() if value is not None}
        text.append(json.dumps(facts, ensure_ascii=False)[:-1])
        if step.is_leaf:
            text.append("}")
            continue
        text.append(', "children": [')
        waiting.append("]}")
        for at, child in enumerate(step.children[::-1]):
            waiting += [", ", child] if at else [child]
    return "".join(text)
