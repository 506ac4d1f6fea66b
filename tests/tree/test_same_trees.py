"""Every function of a tree says the same of one tree, however its nodes and their children are numbered."""

import inspect
import random
import warnings

import numpy as np
import pytest

import ordhc
from ordhc import metrics
from ordhc.errors import InputError
from support.newick import SCALES
from support.random_data import comparisons_of
from support.trees import clusters_of, members, random_nest, renumbered, tree_of

#: What takes trees, but not one whose nodes could be numbered otherwise, and why.
APART = {
    "Bootstrap": "is what bootstrap gives",
    "Entanglement": "is what entanglement gives",
    "Silhouette": "is what silhouette gives",
    "silhouette": "takes the clusters of cut; its own tests compare it with scikit-learn",
    "entanglement": "searches for few crossings from the order in which the leaves are",
    "Posterior": "starts a chain of random moves there; its own tests compare it with exact numbers",
    "Report": "is what report gives",
    "Structure": "is what structure gives",
    "structure": "looks at the clusters of a tree; its own tests name them",
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
    "from_linkage_matrix": "makes a tree",
    "from_newick": "makes a tree",
    "from_parents": "makes a tree",
    # What says how the tree is numbered.
    "merges": "numbers",
    "parents": "numbers",
    "to_dict": "numbers",
    "to_linkage_matrix": "numbers",
    "leaf_order": "shows children as they are numbered",
    "rotate": "shows children as they are numbered",
    "settings": "says what made the tree",
}


def shape(tree):
    """The clusters with all that is known of them."""
    found = []
    for node in tree.nodes():
        numbers = [node.height, node.branch_length, node.support]
        rounded = [None if number is None else round(number, 9) + 0.0 for number in numbers]
        found.append((sorted(node.leaves.tolist()), *rounded, node.name))
    return tree.scale, sorted(found, key=lambda row: row[0])


def inserted(tree):
    """Insert a leaf that belongs beside leaf 0."""
    n, right = tree.n_leaves, ordhc.oracles.from_tree(tree)

    def odd_one_out(row):
        if 0 in row:
            return next(at for at, leaf in enumerate(row) if leaf not in (0, n))
        return int(right([[0 if leaf == n else leaf for leaf in row]])[0])

    def answers(rows):
        return [odd_one_out(row) for row in rows.tolist()]

    return ordhc.insert(tree.replace(names=None), n, answers)


def by_size(rows):
    """Rows in an order that does not depend on numbers of nodes; what is missing comes first."""
    return sorted(rows, key=lambda row: [(cell is not None, cell) for cell in row])


def frame(tree):
    table = tree.to_frame("dict")
    columns = ("height", "branch_length", "support", "size", "is_leaf")
    return by_size(zip(*(table[name] for name in columns), strict=True))


def graph(tree):
    found = tree.to_networkx()
    size = found.nodes(data="size")
    return by_size((size[a], size[b], length) for a, b, length in found.edges(data="length"))


def partition(labels):
    return sorted(np.flatnonzero(labels == label).tolist() for label in np.unique(labels))


def of_measured(function):
    """The value of a function for trees with heights or lengths; with a shape alone its error."""

    def called(tree, asked):
        if tree.scale != "shape":
            return function(tree, asked)
        with pytest.raises(InputError, match="neither heights nor lengths"):
            function(tree, asked)
        return None

    return called


def of_heights(function):
    """The value of a function for trees with heights; of others nothing is asked."""
    return lambda tree, asked: function(tree, asked) if tree.scale == "heights" else None


def levels_of(tree, cut):
    """Clusters at all numbers of clusters, if no two nodes are as high: in other trees numbers decide."""
    if tree.scale == "heights":
        values = tree.heights.tolist()
    else:
        # The longest path below a node decides.
        values = [tree.patristic(square=True)[np.ix_(m, m)].max() for m in map(sorted, clusters_of(tree))]
    if len(set(values)) < len(values):
        return None
    return [cut(k) for k in range(1, tree.n_leaves + 1)]


def numbers(value):
    return np.round(np.asarray(value, dtype=float), 12).tolist()


def placed(tree, asked):
    """The tree with two new leaves, or why there is none."""
    try:
        found = ordhc.place(tree.replace(names=None), asked.S[:2], linkage="average")
    except ordhc.errors.InputError as error:
        return str(error)
    return shape(found.extended())


class Asked:
    """What functions are asked together with the tree."""

    def __init__(self, tree, seed):
        rng = np.random.default_rng(seed)
        n = tree.n_leaves
        self.triplets, self.quadruplets = comparisons_of(n, 3, rng), comparisons_of(n, 4, rng)
        self.other = tree_of([[0, 1], *range(2, n)], random.Random(seed))
        heights = [1.0, 2.0] if n > 2 else [1.0]
        kind = tree.kind
        self.measured = ordhc.Dendrogram.from_parents(self.other.parents, heights=heights, kind=kind)
        S = rng.integers(0, 9, (n, n))
        self.S = np.triu(S, 1) + np.triu(S, 1).T
        self.labels = rng.integers(0, 2, n)
        self.labels[1] = self.labels[0]
        self.words = rng.integers(0, 3, (n, 3))
        self.height = None if tree.scale != "heights" else float(np.median(tree.heights))
        self.some = rng.permutation(n)[: max(2, n // 2)]

    def nested(self, k):
        """Two columns of labels, the second one of k labels or fewer."""
        fine = (self.words[:, 0] + 3 * self.words[:, 1]) % k
        return np.column_stack([fine // 2, fine])


FUNCTIONS = {
    "as_dendrogram": lambda d, _: shape(ordhc.as_dendrogram(d.to_networkx())),
    "consensus": lambda d, asked: shape(ordhc.consensus([d, d, asked.other])),
    "describe": lambda d, asked: shape(ordhc.describe(d, asked.words, ["big", "red", "wet"])),
    "insert": lambda d, asked: shape(inserted(d)),
    "place": lambda d, asked: placed(d, asked),
    "supported": lambda d, asked: shape(ordhc.supported(d, asked.triplets, at_least=2)),
    "score": lambda d, asked: ordhc.score(d, asked.triplets),
    "aari": lambda d, asked: [
        numbers(metrics.aari(d, asked.other, levels="depth")),
        of_measured(lambda d, _: levels_of(d, lambda k: numbers(metrics.aari(d, asked.nested(k)))))(d, asked),
    ],
    "answer_accuracy": lambda d, asked: numbers(metrics.answer_accuracy(d, asked.triplets)),
    "cophenetic_correlation": of_measured(
        lambda d, asked: numbers(metrics.cophenetic_correlation(d, asked.measured))
    ),
    "dasgupta_cost": lambda d, asked: metrics.dasgupta_cost(d, asked.S),
    "dasgupta_revenue": lambda d, asked: metrics.dasgupta_revenue(d, asked.S),
    "dendrogram_purity": lambda d, asked: numbers(metrics.dendrogram_purity(d, asked.labels)),
    "kendall_tau_b": of_heights(lambda d, asked: numbers(metrics.kendall_tau_b(d, asked.measured).values)),
    "merge_distortion": of_heights(lambda d, asked: numbers(metrics.merge_distortion(d, asked.measured))),
    "quadruplet_revenue": lambda d, asked: metrics.quadruplet_revenue(d, asked.quadruplets),
    "robinson_foulds": lambda d, asked: metrics.robinson_foulds(d, asked.other),
    "satisfied": lambda d, asked: metrics.satisfied(d, asked.triplets),
    "tree_distances": lambda d, asked: numbers(metrics.tree_distances([d, asked.other, d])),
    "triplet_distance": lambda d, asked: metrics.triplet_distance(d, asked.other),
    "triplet_revenue": lambda d, asked: metrics.triplet_revenue(d, asked.triplets),
}


def with_support(tree):
    """With support that the sizes of clusters tell."""
    return tree.replace(support=[node_support(size) for size in tree.sizes.tolist()])


def node_support(size):
    return (7 * size % 10) / 10


METHODS = {
    "collapse": of_heights(lambda d, asked: shape(d.collapse(height=asked.height))[1:]),
    "contract": lambda d, _: [
        shape(with_support(d).contract(min_support=0.5)),
        shape(d.contract(ties=True)),
        shape(with_support(d).contract(min_support=0.5, ties=True)),
    ],
    "cophenetic": of_measured(lambda d, _: numbers(d.cophenetic())),
    "cut": lambda d, asked: [
        [partition(d.cut(depth=depth)) for depth in range(4)],
        of_measured(lambda d, _: levels_of(d, lambda k: partition(d.cut(k))))(d, asked),
        of_measured(lambda d, _: [partition(d.cut(path=path)) for path in range(0, 20, 2)])(d, asked),
        of_heights(lambda d, _: partition(d.cut(height=asked.height)))(d, asked),
    ],
    "heights": of_heights(lambda d, _: sorted(d.heights.tolist())),
    "is_monotone": of_heights(lambda d, _: d.is_monotone),
    "keep": lambda d, asked: [shape(d.keep(asked.some)), shape(d.keep(d.node(asked.some)))],
    "kind": lambda d, _: d.kind,
    "labels": lambda d, _: d.labels,
    "leaf_heights": lambda d, _: None if d.leaf_heights is None else d.leaf_heights.tolist(),
    "lengths": of_measured(lambda d, _: by_size(zip(map(len, members(d)), numbers(d.lengths), strict=True))),
    "n_leaves": lambda d, _: d.n_leaves,
    "names": lambda d, _: d.names,
    "node": lambda d, asked: [d.node(0).depth, sorted(d.node(asked.some).leaves.tolist())],
    "node_names": lambda d, _: None if d.node_names is None else sorted(d.node_names),
    "nodes": lambda d, _: shape(d),
    "patristic": of_measured(lambda d, _: numbers(d.patristic())),
    "prune": lambda d, asked: shape(d.prune(asked.some[:1])),
    "relabel": lambda d, _: shape(d.relabel(np.arange(d.n_leaves)[::-1])),
    "replace": lambda d, _: shape(
        d.replace(names=[f"leaf {leaf}" for leaf in range(d.n_leaves)], support=None)
    ),
    "reroot": lambda d, asked: [
        shape(d.reroot(asked.some[:1])),
        shape(d.reroot(d.root.children[0].leaves if len(d) == 2 else [0], share=0.25)),
        of_measured(lambda d, _: numbers(d.reroot(midpoint=True).patristic()))(d, asked),
    ],
    "root": lambda d, _: sorted(child.size for child in d.root.children),
    "scale": lambda d, _: d.scale,
    "sizes": lambda d, _: sorted(d.sizes.tolist()),
    "support": lambda d, _: shape(with_support(d)),
    "to_frame": lambda d, _: frame(d),
    "to_networkx": lambda d, _: graph(d),
    "to_newick": lambda d, _: shape(ordhc.Dendrogram.from_newick(d.to_newick(heights=True))),
}


def measured(tree, seed, scale):
    """A tree with heights or lengths that its clusters tell, in every third tree with equal ones."""
    data, source = tree.to_dict(), random.Random(seed)
    if scale == "shape":
        return tree
    kind = source.choice(["similarity", "dissimilarity"])
    sets, has_ties = list(map(sorted, members(tree))), seed % 9 < 3
    # Of any cluster a number of its own, whatever its node is.
    own = [0.0 if has_ties else random.Random(f"{seed} {leaves}").random() for leaves in sets]
    if scale == "lengths":
        lengths = [1 + len(leaves) % 2 + part for leaves, part in zip(sets, own, strict=True)]
        data["lengths"] = [*lengths[:-1], None]
    else:
        rises = 1 if kind == "dissimilarity" else -1
        inner = slice(tree.n_leaves, None)
        step = 2 if has_ties else 1
        heights = [
            rises * (len(leaves) // step + part) for leaves, part in zip(sets[inner], own[inner], strict=True)
        ]
        data |= {"kind": kind, "heights": heights}
        if source.randrange(2):
            data["leaf_heights"] = [-rises * (leaf % 3) / 4 for leaf in range(tree.n_leaves)]
    return ordhc.as_dendrogram(data)


def alike(seed):
    """One tree in four writings, not a star, of which scores with levels would say that it has none."""
    source, scale = random.Random(seed), SCALES[seed % 3]
    nest = random_nest(source.randint(3, 9), source, star=False)
    first, second = (measured(tree_of(nest, source), seed, scale) for _ in range(2))
    shuffled = renumbered(first, source)
    own = {} if scale == "shape" else {scale: getattr(shuffled, scale)}
    if shuffled.leaf_heights is not None:
        own["leaf_heights"] = shuffled.leaf_heights
    return [
        first,
        second,
        shuffled,
        ordhc.Dendrogram.from_parents(shuffled.parents, kind=shuffled.kind, **own),
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
    for seed in range(27):
        trees = alike(seed)
        asked = Asked(trees[0], seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [repr(function(tree, asked)) for tree in trees]
        assert found == [found[0]] * 4, f"seed {seed}"
