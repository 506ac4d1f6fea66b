"""Convert trees of networkx, ETE, DendroPy, Biopython and SciPy (`ClusterNode`) to Newick text."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ordhc.errors import InputError


@dataclass(frozen=True)
class _Node:
    name: str | None = None
    length: float | None = None
    support: float | None = None
    #: "dissimilarity" or "similarity", and the height of the node.
    height: tuple[str, float] | None = None
    number: int | None = None
    #: Further text for the node's comment in the Newick text.
    comment: str | None = None
    #: True if `name` is always a name. False if a `name` of digits is the number of the leaf.
    is_named: bool = False


#: The root, a function that returns the children of a node, and a function that returns its `_Node`.
_Walk = tuple[Any, Callable[[Any], list[Any]], Callable[[Any], _Node]]


def newick_of(tree: Any) -> str | None:
    """Return Newick text with all data of another package's tree; None if `tree` is no such tree."""
    for walk_of in (_of_networkx, _of_dendropy, _of_biopython, _of_scipy, _of_ete):
        walk = walk_of(tree)
        if walk is not None:
            return "".join(_written(*walk))
    return None


def _of_networkx(tree: Any) -> _Walk | None:
    if not all(hasattr(tree, name) for name in ("adj", "nodes", "edges", "is_directed")):
        return None
    if not tree.is_directed():
        raise InputError(
            "an undirected networkx graph has no root; pass a DiGraph with edges from parents to children"
        )
    roots = [node for node, count in tree.in_degree() if count == 0]
    if (
        len(roots) != 1
        or tree.number_of_edges() != tree.number_of_nodes() - 1
        or max(dict(tree.in_degree()).values()) > 1
    ):
        raise InputError(
            f"the networkx graph is not a rooted tree: {len(roots)} nodes have no parent, and there are "
            f"{tree.number_of_edges():,} edges for {tree.number_of_nodes():,} nodes"
        )
    kind = tree.graph.get("kind", "dissimilarity")
    own = tree.graph.get("leaf_heights", False)
    by_height = tree.graph.get("scale", "heights") == "heights"
    inner = [node for node in tree.nodes if tree.adj[node]]
    # `to_networkx` numbers the nodes, and its graphs have the attribute "scale".
    is_own = "scale" in tree.graph and all(isinstance(node, int) for node in inner)

    def about(node: Any) -> _Node:
        known, above = tree.nodes[node], next(iter(tree.pred[node]), None)
        edge = {"length": tree.graph.get("root_length")} if above is None else tree.edges[above, node]
        is_leaf = not tree.adj[node]
        height = known.get("height") if by_height and (not is_leaf or own) else None
        number = f"node={node}" if is_own and not is_leaf else None
        return _Node(
            known.get("name", str(node) if is_leaf else None),
            edge.get("length", edge.get("weight")),
            known.get("support"),
            None if height is None else (kind, float(height)),
            node if is_leaf and "name" in known and isinstance(node, int) else None,
            kind if is_leaf and above is None else number,
            is_named="name" in known,
        )

    return roots[0], lambda node: list(tree.adj[node]), about


def _of_dendropy(tree: Any) -> _Walk | None:
    if not hasattr(tree, "seed_node"):
        return None

    return (
        tree.seed_node,
        lambda node: node.child_nodes(),
        lambda node: _Node((node if node.taxon is None else node.taxon).label, node.edge_length),
    )


def _of_biopython(tree: Any) -> _Walk | None:
    # A data frame of labels can have a column "clades", so the attribute `clades` is not enough as a test.
    if not all(hasattr(tree, name) for name in ("find_clades", "get_terminals")):
        return None
    return (
        getattr(tree, "root", tree),
        lambda node: node.clades,
        lambda node: _Node(node.name, node.branch_length, getattr(node, "confidence", None)),
    )


def _of_scipy(tree: Any) -> _Walk | None:
    if not all(hasattr(tree, name) for name in ("get_left", "get_right", "pre_order", "dist")):
        return None

    def about(node: Any) -> _Node:
        if node.left is None:
            return _Node(str(node.id), number=node.id)
        return _Node(height=("dissimilarity", float(node.dist)))

    return tree, lambda node: [] if node.left is None else [node.left, node.right], about


def _of_ete(tree: Any) -> _Walk | None:
    if not all(hasattr(tree, name) for name in ("children", "dist", "support", "name")):
        return None
    waiting, supports = [tree], []
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        supports += [node.support] if node.children else []
    # ETE 3 sets the support of all nodes to 1 if a tree has no support.
    has_support = any(support not in (None, 1.0) for support in supports)

    def about(node: Any) -> _Node:
        is_root = node is tree
        support = node.support if has_support and node.children and not is_root else None
        return _Node(node.name or None, None if is_root else node.dist, support)

    return tree, lambda node: list(node.children), about


def _written(
    root: Any, children_of: Callable[[Any], list[Any]], about: Callable[[Any], _Node]
) -> Iterator[str]:
    """Yield the pieces of the Newick text; no recursion, so that deep trees do not overflow the stack."""
    waiting: list[tuple[Any, bool] | str] = [";", (root, False)]
    while waiting:
        step = waiting.pop()
        if isinstance(step, str):
            yield step
            continue
        node, closes = step
        children = children_of(node)
        if children and not closes:
            yield "("
            waiting.append((node, True))
            for at, child in enumerate(reversed(children)):
                waiting += [",", (child, False)] if at else [(child, False)]
            continue
        known = about(node)
        yield (")" if closes else "") + _labelled(known, is_leaf=not children)


def _labelled(node: _Node, is_leaf: bool) -> str:
    items = [] if node.height is None else [f"{node.height[0]}={node.height[1]!r}"]
    if node.number is not None:
        items.append(f"leaf={node.number}")
    if node.support is not None:
        items.append(f"support={float(node.support)!r}")
    if node.comment is not None:
        items.append(node.comment)
    name = "" if node.name is None else str(node.name)
    # `from_newick` reads a number without quotes as the number of the leaf, so names are quoted.
    is_number = is_leaf and name.isdecimal() and not node.is_named
    label = name if node.name is None or is_number else "'" + name.replace("'", "''") + "'"
    comment = f"[&{','.join(items)}]" if items else ""
    return label + comment + ("" if node.length is None else f":{float(node.length)!r}")
