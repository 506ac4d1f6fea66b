"""What is in a tree."""

import ordhc


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
