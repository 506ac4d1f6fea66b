"""What is in a tree."""

import ordhc

#: Trees with nodes of many children.
DEGREES = ["((0,1,2),(3,4,5),(6,7,8));", "(0,1,2,3,4,5,6,7);", "(((0,1,2,3),4),(5,6),7,(8,9,10));"]


def members(tree):
    """The leaves of every cluster, by its label."""
    found = [frozenset([leaf]) for leaf in range(tree.n_leaves)]
    for a, b in tree.merges.tolist():
        found.append(found[a] | found[b])
    return found


def clusters_of(tree):
    """The leaves of each merge's cluster, in order of the merges."""
    return members(tree)[tree.n_leaves :]


def same(a, b):
    """Whether two trees have the same clusters, whatever the names of the leaves."""
    return ordhc.metrics.robinson_foulds(a.with_names(None), b.with_names(None), normalize=False) == 0


def clusters(tree):
    """The sets of leaves of a tree, single leaves included."""
    return set(members(tree))
