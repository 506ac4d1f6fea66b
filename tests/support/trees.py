"""What is in a tree, and trees of any degree as nested lists."""

import itertools

from hypothesis import strategies as st

import ordhc

#: Trees with nodes of many children.
DEGREES = ["((0,1,2),(3,4,5),(6,7,8));", "(0,1,2,3,4,5,6,7);", "(((0,1,2,3),4),(5,6),7,(8,9,10));"]


def members(tree):
    """The leaves of each node, by its number."""
    n = tree.n_leaves
    found = [{leaf} if leaf < n else set() for leaf in range(len(tree.parents))]
    for node, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            found[parent] |= found[node]
    return [frozenset(leaves) for leaves in found]


def clusters_of(tree):
    """The leaves of each inner node, in the order of nodes."""
    return members(tree)[tree.n_leaves :]


def same(a, b):
    """Whether two trees have the same clusters, whatever the names of the leaves."""
    return ordhc.metrics.robinson_foulds(a.replace(names=None), b.replace(names=None), normalize=False) == 0


def clusters(tree):
    """The sets of leaves of a tree, single leaves included."""
    return set(members(tree))


# --- nested lists ------------------------------------------------------------------------------


@st.composite
def nests(draw, min_leaves=2, max_leaves=9):
    """A tree as nested lists of leaves."""
    parts = list(range(draw(st.integers(min_leaves, max_leaves))))
    while len(parts) > 1:
        degree = draw(st.integers(2, len(parts)))
        chosen = draw(st.permutations(parts))[:degree]
        parts = [part for part in parts if part not in chosen] + [chosen]
    return parts[0]


def random_nest(n, source, *, star=True):
    """A random tree of n leaves as nested lists; without `star` it has more than one node."""
    parts = list(range(n))
    while len(parts) > 1:
        chosen = source.sample(parts, source.randint(2, len(parts) - (not star and len(parts) == n > 2)))
        parts = [part for part in parts if part not in chosen] + [chosen]
    return parts[0]


def leaves_in(nest):
    """The leaves of nested lists."""
    return [nest] if isinstance(nest, int) else [leaf for child in nest for leaf in leaves_in(child)]


def clusters_in(nest):
    """The leaves of each inner node of nested lists."""
    if isinstance(nest, int):
        return []
    return [frozenset(leaves_in(nest)), *itertools.chain.from_iterable(map(clusters_in, nest))]


def written(nest, source):
    """Newick text with children in a random order."""
    if isinstance(nest, int):
        return str(nest)
    children = [written(child, source) for child in nest]
    source.shuffle(children)
    return f"({','.join(children)})"


def tree_of(nest, source):
    """The tree of nested lists, read from text with children in a random order."""
    tree = ordhc.Dendrogram.from_newick(written(nest, source) + ";")
    assert tree.names is None
    return tree


def renumbered(tree, source):
    """The same tree with its inner nodes in another order, children before parents; with all it has."""
    n, data = tree.n_leaves, tree.to_dict()
    parents = data["parents"]
    order = list(range(n))
    while len(order) < len(parents):
        ready = [
            node
            for node in range(n, len(parents))
            if node not in order
            and all(child in order for child, parent in enumerate(parents) if parent == node)
        ]
        order.append(source.choice(ready))
    number = {node: at for at, node in enumerate(order)}
    data["parents"] = [number.get(parents[node], -1) for node in order]
    for name in ("heights", "support", "node_names"):
        if name in data:
            data[name] = [data[name][node - n] for node in order[n:]]
    if "lengths" in data:
        data["lengths"] = [data["lengths"][node] for node in order]
    return ordhc.as_dendrogram(data)
