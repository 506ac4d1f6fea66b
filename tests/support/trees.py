"""What is in a tree."""

import ordhc

#: Trees with nodes of many children.
DEGREES = ["((0,1,2),(3,4,5),(6,7,8));", "(0,1,2,3,4,5,6,7);", "(((0,1,2,3),4),(5,6),7,(8,9,10));"]


def nodes_of(tree):
    """The leaves below every node, by its number."""
    found = [frozenset([leaf]) for leaf in range(tree.n_leaves)]
    found += [frozenset()] * (tree.n_nodes - tree.n_leaves)
    for node, above in enumerate(tree.parents[:-1].tolist()):
        found[above] |= found[node]
    return found


def members(tree):
    """The leaves of every cluster of SciPy's merges, by its label."""
    found = [frozenset([leaf]) for leaf in range(tree.n_leaves)]
    for a, b in tree.merges.tolist():
        found.append(found[a] | found[b])
    return found


def clusters_of(tree):
    """The leaves of each inner node, in their order."""
    return nodes_of(tree)[tree.n_leaves :]


def same(a, b):
    """Whether two trees have the same clusters, whatever the names of the leaves."""
    return ordhc.metrics.robinson_foulds(a.with_names(None), b.with_names(None), normalize=False) == 0


def clusters(tree):
    """The sets of leaves of a tree, single leaves included."""
    return set(nodes_of(tree))
