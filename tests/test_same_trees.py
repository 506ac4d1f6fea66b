"""Every function of a tree says the same of one tree, however its nodes and their children are numbered."""

import inspect
import random
import warnings

import numpy as np
import pytest

import ordhc
from ordhc import metrics
from test_nodes import comparisons_of, cut_otherwise, tree_of

#: What takes trees, but not one whose nodes could be numbered otherwise, and why.
APART = {
    "Bootstrap": "is what bootstrap gives",
    "Posterior": "starts a chain of random moves there; its own tests compare it with exact numbers",
    "Report": "is what report gives",
    "bootstrap": "its tree only gets support, that of consensus",
    "refine": "moves subtrees in an order of its own",
    "write_tree": "writes what to_dict and to_newick give",
    "write_trees": "writes what to_dict and to_newick give",
    "ari": "takes labels",
    "agreement": "draws a picture",
    "heatmap": "draws a picture",
    "support_calibration": "draws a picture",
    "plot": "draws a picture",
    "savefig": "draws a picture",
    "to_html": "is a page, on which children stand as they are numbered",
    "from_dict": "makes a tree",
    "from_linkage_matrix": "makes a tree",
    "from_newick": "makes a tree",
    # What says how the tree is numbered.
    "merges": "numbers",
    "joined": "numbers",
    "to_dict": "numbers",
    "to_linkage_matrix": "numbers",
    "to_d3": "writes children as they are numbered",
    "leaf_order": "shows children as they are numbered",
    "rotate": "shows children as they are numbered",
    "ladderize": "shows children as they are numbered where sizes are the same",
    "with_leaf_order": "changes nothing but the order of leaves",
    "settings": "says what made the tree",
    "with_settings": "says what made the tree",
}


def shape(tree):
    """The clusters with all that is known of them."""
    return sorted(
        (sorted(node.leaves.tolist()), node.height, node.branch_length, node.support, node.name or "")
        for node in tree.nodes()
    )


def frame(tree):
    table = tree.to_frame("dict")
    return sorted(zip(table["height"], table["size"], table["is_leaf"], strict=True))


def graph(tree):
    found = tree.to_networkx()
    return sorted((found.nodes[a]["size"], found.nodes[b]["size"]) for a, b in found.edges)


def partition(labels):
    return sorted(np.flatnonzero(labels == label).tolist() for label in np.unique(labels))


def numbers(value):
    return np.round(np.asarray(value, dtype=float), 12).tolist()


class Asked:
    """What functions are asked together with the tree."""

    def __init__(self, tree, seed):
        rng = np.random.default_rng(seed)
        n = tree.n_leaves
        self.triplets, self.quadruplets = comparisons_of(n, 3, rng), comparisons_of(n, 4, rng)
        self.other = tree_of([[0, 1], *range(2, n)], random.Random(seed))
        S = rng.integers(0, 9, (n, n))
        self.S = np.triu(S, 1) + np.triu(S, 1).T
        self.labels = rng.integers(0, 2, n)
        self.labels[1] = self.labels[0]
        self.words = rng.integers(0, 3, (n, 3))
        self.height = float(np.median(tree.heights))
        self.some = rng.permutation(n)[: max(2, n // 2)]


FUNCTIONS = {
    "as_dendrogram": lambda d, _: shape(ordhc.as_dendrogram(d.to_networkx())),
    "consensus": lambda d, asked: shape(ordhc.consensus([d, d, asked.other])),
    "contract": lambda d, asked: shape(ordhc.contract(d, asked.triplets, 2)),
    "describe": lambda d, asked: shape(ordhc.describe(d, asked.words, ["big", "red", "wet"])),
    "score": lambda d, asked: ordhc.score(d, asked.triplets),
    "aari": lambda d, asked: numbers(metrics.aari(d, asked.other, levels="depth")),
    "cophenetic_correlation": lambda d, asked: numbers(metrics.cophenetic_correlation(d, asked.other)),
    "dasgupta_cost": lambda d, asked: metrics.dasgupta_cost(d, asked.S),
    "dasgupta_revenue": lambda d, asked: metrics.dasgupta_revenue(d, asked.S),
    "dendrogram_purity": lambda d, asked: numbers(metrics.dendrogram_purity(d, asked.labels)),
    "kendall_tau_b": lambda d, asked: numbers(metrics.kendall_tau_b(d, asked.other)),
    "merge_distortion": lambda d, asked: metrics.merge_distortion(d, asked.other),
    "quadruplet_revenue": lambda d, asked: metrics.quadruplet_revenue(d, asked.quadruplets),
    "robinson_foulds": lambda d, asked: metrics.robinson_foulds(d, asked.other),
    "satisfied": lambda d, asked: metrics.satisfied(d, asked.triplets),
    "tree_distances": lambda d, asked: numbers(metrics.tree_distances([d, asked.other, d])),
    "triplet_distance": lambda d, asked: metrics.triplet_distance(d, asked.other),
    "triplet_revenue": lambda d, asked: metrics.triplet_revenue(d, asked.triplets),
}


def with_support(tree):
    """With support that the sizes of clusters tell."""
    return tree.with_support([node_support(size) for size in tree.sizes.tolist()])


def node_support(size):
    return (7 * size % 10) / 10


METHODS = {
    "ancestor": lambda d, asked: sorted(d.ancestor(asked.some).leaves.tolist()),
    "branch_lengths": lambda d, _: d.branch_lengths is None,
    "collapse": lambda d, asked: d.collapse(height=asked.height).n_leaves,
    "contract": lambda d, _: shape(with_support(d).contract(0.5)),
    "cophenetic": lambda d, _: d.cophenetic().tolist(),
    "cut": lambda d, asked: partition(d.cut(height=asked.height)),
    "heights": lambda d, _: sorted(d.heights.tolist()),
    "is_monotone": lambda d, _: d.is_monotone,
    "join_ties": lambda d, _: shape(d.join_ties()),
    "keep": lambda d, asked: shape(d.keep(asked.some)),
    "kind": lambda d, _: d.kind,
    "labels": lambda d, _: d.labels,
    "lca_size": lambda d, _: d.lca_size(*np.triu_indices(d.n_leaves, 1)).tolist(),
    "leaf_heights": lambda d, _: d.leaf_heights,
    "n_leaves": lambda d, _: d.n_leaves,
    "names": lambda d, _: d.names,
    "node": lambda d, _: d.node(0).depth,
    "node_names": lambda d, _: d.node_names,
    "nodes": lambda d, _: shape(d),
    "prune": lambda d, asked: shape(d.prune(asked.some[:1])),
    "relabel": lambda d, _: shape(d.relabel(np.arange(d.n_leaves)[::-1])),
    "root": lambda d, _: sorted(child.size for child in d.root.children),
    "sizes": lambda d, _: sorted(node.size for node in d.nodes()),
    "subtree": lambda d, asked: shape(d.subtree(d.ancestor(asked.some))),
    "support": lambda d, _: shape(with_support(d)),
    "to_frame": lambda d, _: frame(d),
    "to_networkx": lambda d, _: graph(d),
    "to_newick": lambda d, _: shape(ordhc.Dendrogram.from_newick(d.to_newick(heights=True))),
    "with_branch_lengths": lambda d, _: shape(d.with_branch_lengths(None)),
    "with_leaf_heights": lambda d, _: shape(d.with_leaf_heights(np.zeros(d.n_leaves))),
    "with_names": lambda d, _: shape(d.with_names([f"leaf {leaf}" for leaf in range(d.n_leaves)])),
    "with_node_names": lambda d, _: shape(d.with_node_names(None)),
    "with_support": lambda d, _: shape(with_support(d)),
}


def renumbered(tree, source):
    """The same nodes in another order of merges, parts before wholes, as far as heights leave one."""
    n, merges = tree.n_leaves, tree.merges.tolist()
    joined = [False] * (n - 1) if tree.joined is None else tree.joined.tolist()
    done, order = set(range(n)), []
    while len(order) < n - 1:
        ready = [at for at in range(n - 1) if n + at not in done and done.issuperset(merges[at])]
        least = min(tree.heights[at] for at in ready)
        at = source.choice([at for at in ready if tree.heights[at] == least])
        done.add(n + at)
        order.append(at)
    number = {leaf: leaf for leaf in range(n)} | {n + at: n + new for new, at in enumerate(order)}
    pairs = [[number[part] for part in merges[at]] for at in order]
    marks = [joined[at] for at in order]
    return ordhc.Dendrogram(pairs, tree.heights[order], kind=tree.kind, joined=marks)


def alike(seed):
    """One tree in four writings, not a star, of which scores with levels would say that it has none."""
    source = random.Random(seed)
    nest = list(range(source.randint(3, 9)))
    n = len(nest)
    while len(nest) > 1:
        chosen = source.sample(nest, source.randint(2, len(nest) - (len(nest) == n)))
        nest = [part for part in nest if part not in chosen] + [chosen]
    first, second = tree_of(nest[0], source), tree_of(nest[0], source)
    return [tree.with_branch_lengths(None) for tree in (first, second, cut_otherwise(first, source))] + [
        renumbered(first, source)
    ]


def taking_trees():
    found = set()
    for module in (ordhc, ordhc.metrics, ordhc.plots):
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value):
                continue
            try:
                parameters = inspect.signature(value).parameters.values()
            except (TypeError, ValueError):
                continue
            if any("Dendrogram" in str(p.annotation) or p.name in ("tree", "trees") for p in parameters):
                found.add(name)
    return found


def test_the_tables_have_all_functions_of_trees():
    assert taking_trees() == (set(FUNCTIONS) | set(APART)) & taking_trees()
    members = {name for name in dir(ordhc.Dendrogram) if not name.startswith("_")}
    assert members == (set(METHODS) | set(APART)) & members
    assert set(FUNCTIONS) <= taking_trees()
    assert set(METHODS) <= members


@pytest.mark.parametrize("name", [*FUNCTIONS, *(f"Dendrogram.{name}" for name in METHODS)])
def test_one_tree_has_one_value(name):
    function = METHODS[name.removeprefix("Dendrogram.")] if "." in name else FUNCTIONS[name]
    for seed in range(60):
        trees = alike(seed)
        asked = Asked(trees[0], seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [repr(function(tree, asked)) for tree in trees]
        assert found == [found[0]] * 4, f"seed {seed}"
