"""Trees revised by two questions a leaf: python benches/bench_prior.py [--large | --additive] [n ...].

Answers are right with probability .85, and the same question gets the same answer. A prior of triplet
distance .1 comes from the right tree by moved leaves, moved subtrees (of any size, or large ones), many
exchanges of neighbours; or it is average linkage of noisy vectors or noisy similarities; or AddS3-AL of a few
answers. The table shows the triplet distance of the revised tree as a share of the prior's: the median of the
seeds, and the worst.

With --additive leaves have lengths of a standard deviation of 0, 1 or 2. Answers go by the lengths of paths,
and there are three questions a leaf.
"""

import sys
import time

import numpy as np

import ordhc
from bench_lengths import yule
from bench_uncertain import by_paths
from measure import table
from ordhc import oracles
from ordhc.metrics import triplet_distance
from ordhc.tree.dendrogram import lca_size

LARGE = "--large" in sys.argv
SIZES = [int(word) for word in sys.argv[1:] if word.isdigit()] or [1000]
SEEDS = range(5 if LARGE else 2)
SHAPES = ("yule", "uniform", "balanced", "caterpillar")
DISTANCE, P = 0.1, 0.85


def repeating(oracle):
    """The same answer to the same question."""
    known = {}

    def answer(rows):
        found = []
        for row, place in zip(rows.tolist(), oracle(rows).tolist(), strict=True):
            odd = known.setdefault(tuple(sorted(row)), row[place])
            found.append(row.index(odd))
        return np.array(found, dtype=np.int8)

    return answer


def persistent(truth, seed):
    """Right with probability P, the same answer to the same question."""
    return oracles.noisy(truth, P, noise="persistent", seed=seed)


class Moving:
    """A binary tree whose subtrees move."""

    def __init__(self, tree):
        self.n = tree.n_leaves
        self.children = {self.n + k: pair for k, pair in enumerate(tree.merges.tolist())}
        self.parent = {child: node for node, pair in self.children.items() for child in pair}

    def below(self, node):
        found, todo = [], [node]
        while todo:
            found.append(todo.pop())
            todo += self.children.get(found[-1], [])
        return found

    def replace(self, above, old, new):
        self.parent.pop(old, None)
        if above is None:
            self.parent.pop(new, None)
        else:
            self.children[above][self.children[above].index(old)] = new
            self.parent[new] = above

    def move(self, node, beside):
        parent = self.parent[node]
        sibling = next(child for child in self.children[parent] if child != node)
        self.replace(self.parent.get(parent), parent, sibling)
        beside = sibling if beside == parent else beside
        self.replace(self.parent.get(beside), beside, parent)
        self.children[parent] = [beside, node]
        self.parent[node] = self.parent[beside] = parent

    def tree(self):
        root = next(node for node in self.children if node not in self.parent)
        label, merges = {leaf: leaf for leaf in range(self.n)}, []
        for node in reversed(self.below(root)):
            if node >= self.n:
                label[node] = self.n + len(merges)
                merges.append([label[child] for child in self.children[node]])
        return ordhc.Dendrogram(merges, np.arange(1.0, self.n))


def moved(truth, kind, random):
    """Subtrees go elsewhere, one after the other; a move that goes too far is taken back."""
    work, n, tries = Moving(truth), truth.n_leaves, 0
    while True:
        before = ({node: list(pair) for node, pair in work.children.items()}, dict(work.parent))
        for _ in range(20 if kind == "neighbours" else 1):
            nodes = range(n) if kind == "leaves" else list(work.parent)
            node = int(random.choice(nodes))
            if kind == "large" and not n / 50 <= len(work.below(node)) <= n / 12:
                continue
            if kind == "neighbours":
                above = work.parent.get(work.parent[node])
                if above is not None:
                    work.move(node, next(x for x in work.children[above] if x != work.parent[node]))
                continue
            own = set(work.below(node))
            work.move(node, int(random.choice([x for x in work.parent if x not in own])))
        distance = triplet_distance(work.tree(), truth)
        if distance > 1.2 * DISTANCE and tries < 40:
            work.children, work.parent = before
            tries += 1
        elif distance >= DISTANCE or tries >= 40:
            return work.tree()


def noisy(make, truth):
    """Of more and less noise, the tree whose distance is closest."""
    low, high, best = 0.0, 40.0, None
    for _ in range(12):
        middle = (low + high) / 2
        tree = make(middle)
        distance = triplet_distance(tree, truth)
        if best is None or abs(distance - DISTANCE) < abs(best[1] - DISTANCE):
            best = (tree, distance)
        low, high = (middle, high) if distance < DISTANCE else (low, middle)
    return best[0]


def from_vectors(truth, random):
    """Positions drift from the root down, so that leaves are as far apart as their clusters are large."""
    n, work = truth.n_leaves, Moving(truth)
    sizes = dict(enumerate([1] * n + truth.sizes.tolist()))
    at = {2 * n - 2: np.zeros(64)}
    for node in work.below(2 * n - 2):
        for child in work.children.get(node, []):
            at[child] = at[node] + random.normal(size=64) * np.sqrt(np.log2(sizes[node] / sizes[child]))
    vectors = np.array([at[leaf] for leaf in range(n)])
    noise = random.normal(size=vectors.shape)

    def make(scale):
        points = vectors + scale * noise
        squares = (points**2).sum(axis=1)
        between = np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))
        np.fill_diagonal(between, 0)
        return ordhc.linkage((between + between.T) / 2, "average", dissimilarity=True)

    return noisy(make, truth)


def from_similarities(truth, random):
    leaves = np.arange(truth.n_leaves)
    right = -np.log(lca_size(truth, leaves[:, None], leaves[None, :]).astype(float))
    noise = random.normal(size=right.shape)
    noise += noise.T

    def make(scale):
        table = right + scale * noise
        np.fill_diagonal(table, table.max() + 1)
        return ordhc.linkage(table, "average", dissimilarity=False)

    return noisy(make, truth)


def from_answers(truth, random):
    n = truth.n_leaves
    rows = np.array([random.choice(n, 3, replace=False) for _ in range(150 * n)])
    odd = persistent(truth, 1)(rows)
    each = np.arange(len(rows))
    a, b, c = rows[each, (odd + 1) % 3], rows[each, (odd + 2) % 3], rows[each, odd]
    triplets = np.stack([np.stack([a, b, c], 1), np.stack([b, a, c], 1)], 1).reshape(-1, 3)

    def make(noise):
        count = int(2 * n * 150 / (1 + noise))
        return ordhc.cluster(ordhc.Triplets(triplets[:count], n_leaves=n), method="adds3-al")

    return noisy(make, truth)


KINDS = {
    "moved leaves": lambda truth, random: moved(truth, "leaves", random),
    "moved subtrees": lambda truth, random: moved(truth, "subtrees", random),
    "large subtrees": lambda truth, random: moved(truth, "large", random),
    "neighbours": lambda truth, random: moved(truth, "neighbours", random),
    "noisy vectors": from_vectors,
    "noisy similarities": from_similarities,
    "few answers": from_answers,
}


def revising(n):
    rows = []
    for shape in SHAPES:
        truth = ordhc.datasets.random_tree(n, shape=shape, seed=1)
        for kind, make in KINDS.items():
            prior = make(truth, np.random.default_rng(1))
            distance = triplet_distance(prior, truth)
            start = time.process_time()
            shares = []
            for seed in SEEDS:
                tree = ordhc.learn(
                    persistent(truth, seed),
                    n,
                    method=ordhc.learners.Revise(p=P, noise="persistent", prior=prior),
                    budget=2 * n,
                    seed=seed,
                )
                shares.append(triplet_distance(tree, truth) / distance)
            seconds = (time.process_time() - start) / len(SEEDS)
            row = (shape, kind, f"{distance:.3f}", f"{np.median(shares):.2f}", f"{max(shares):.2f}")
            rows.append((*row, f"{seconds:.1f}"))
    print(f"\n{n:,} leaves, {2 * n:,} questions: what is left of the prior's triplet distance\n")
    table(("tree", "prior", "distance", "left", "worst", "seconds"), rows)


def useless(n):
    """A tree that has nothing to do with the right one, and none: questions to the end."""
    rows = []
    for shape in SHAPES:
        truth, other = (ordhc.datasets.random_tree(n, shape=shape, seed=seed) for seed in (1, 2))
        asked = []
        common = {"p": P, "noise": "persistent", "schedule": "balanced"}
        for method in (ordhc.learners.Robust(**common), ordhc.learners.Revise(other, **common)):
            learner = ordhc.Learner(n, method)
            ordhc.learn(persistent(truth, 0), learner=learner)
            asked.append(learner.status.n_answered)
        rows.append((shape, f"{asked[0]:,}", f"{asked[1]:,}", f"{asked[1] / asked[0]:.3f}"))
    print(f"\n{n:,} leaves: questions without a prior, with a useless one\n")
    table(("tree", "without", "useless", "ratio"), rows)


def additive(n):
    """Random trees of leaves that have lengths."""
    rows = []
    for kind in ("moved leaves", "moved subtrees", "noisy similarities"):
        for deviation in (0, 1, 2):
            shares = []
            for seed in range(5):
                rng = np.random.default_rng(seed)
                near = yule(n, rng)
                truth = ordhc.linkage(
                    near + np.diag(np.full(n, near.max() + 1)), "single", dissimilarity=False
                )
                near *= 2 / near.std()
                prior = KINDS[kind](truth, np.random.default_rng(seed))
                oracle = repeating(by_paths(near, deviation * rng.normal(size=n), "odd", seed))
                tree = ordhc.learn(
                    oracle,
                    n,
                    method=ordhc.learners.Revise(p=P, noise="persistent", prior=prior),
                    budget=3 * n,
                    seed=seed,
                )
                shares.append(triplet_distance(tree, truth) / triplet_distance(prior, truth))
            rows.append((kind, deviation, f"{np.median(shares):.2f}", f"{max(shares):.2f}"))
    print(f"\n{n:,} leaves, {3 * n:,} questions: what is left of the prior's triplet distance\n")
    table(("prior", "sd of lengths", "left", "worst"), rows)


if __name__ == "__main__":
    for size in SIZES:
        if "--additive" in sys.argv:
            additive(size)
            continue
        useless(size)
        revising(size)
