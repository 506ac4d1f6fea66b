"""Trees of a posterior whose leaves have lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import ordhc
from ordhc.clustering.expected import heights_of_pairs


def yule(n, rng):
    """Heights at which pairs of leaves join, as similarities: clusters join two by two, at random."""
    H = np.zeros((n, n))
    parts = [[leaf] for leaf in range(n)]
    while len(parts) > 1:
        i, j = sorted(rng.choice(len(parts), 2, replace=False))
        H[np.ix_(parts[i], parts[j])] = H[np.ix_(parts[j], parts[i])] = len(parts)
        parts[i] = parts[i] + parts.pop(j)
    H = np.log2(H + np.eye(n))
    return 2.0 * (H - H.min()) / H.std()


def additive(n, m, deviation, seed):
    """Answers about an additive tree, its heights and its lengths."""
    rng = np.random.default_rng(seed)
    H, lengths = yule(n, rng), deviation * rng.normal(size=n)
    rows = np.argsort(rng.random((m, n)), axis=1)[:, :3]
    a, b, c = rows.T
    difference = H[a, b] - H[a, c] + lengths[c] - lengths[b]
    wrong = rng.random(m) > 0.02 + 0.96 / (1 + np.exp(-difference))
    rows[wrong] = rows[wrong][:, [0, 2, 1]]
    return ordhc.Triplets(rows, n_leaves=n), H, lengths


def joined(tree):
    """Yield each inner node with the pairs of leaves that it joins."""
    below = {leaf: [leaf] for leaf in range(tree.n_leaves)}
    children = {}
    for node, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            children.setdefault(parent, []).append(node)
    for node in range(tree.n_leaves, len(tree.parents)):
        first, second = (below[child] for child in children[node])
        below[node] = first + second
        yield node, [(i, j) for i in first for j in second]


@pytest.mark.parametrize("deviation", [0.0, 2.0])
def test_the_tree_and_its_lengths_are_found(deviation):
    t, H, lengths = additive(30, 2000, deviation, 3)
    p = ordhc.posterior(t)
    assert ordhc.metrics.satisfied(p.tree, ordhc.datasets.comparisons_of(H)).agreed > 0.93
    assert p.lengths.sum() == pytest.approx(0, abs=1e-9)
    low, high = p.lengths_interval.T
    assert (low <= p.lengths).all()
    assert (p.lengths <= high).all()
    if deviation:
        assert np.corrcoef(p.lengths, lengths)[0, 1] > 0.9
        without = ordhc.posterior(t, lengths=False)
        assert p.predict(t).mean() > without.predict(t).mean() + 0.02


def test_paths_are_those_of_the_trees_that_were_drawn():
    t, _, _ = additive(12, 400, 1.0, 1)
    p = ordhc.posterior(t, sweeps=40, chains=2)
    tree, paths = p.tree, p.tree.cophenetic(square=True)
    assert tree.scale == "lengths"
    assert p.dendrogram.scale == "heights"
    np.testing.assert_array_equal(tree.parents, p.dendrogram.parents)
    assert tree.lengths[: tree.n_leaves].min() == pytest.approx(0, abs=1e-12)
    assert np.nanmin(tree.lengths) >= -1e-12
    # Paths, less the lengths of both leaves, are heights: means over the pairs that a node joins.
    rest = {
        node: np.mean([paths[i, j] - p.lengths[i] - p.lengths[j] for i, j in pairs])
        for node, pairs in joined(tree)
    }
    heights = {node: np.mean([p.similarity[pair] for pair in pairs]) for node, pairs in joined(tree)}
    root = len(tree.parents) - 1
    for node in range(root - 1, tree.n_leaves - 1, -1):
        heights[node] = max(heights[node], heights[tree.parents[node]])
    for node, height in heights.items():
        assert rest[root] - rest[node] == pytest.approx(height - heights[root], abs=1e-9)


@pytest.mark.parametrize("ending", ["nwk", "nex", "json"])
def test_files_keep_paths_clusters_and_support(ending, tmp_path):
    t, _, _ = additive(10, 300, 1.5, 2)
    names = [f"item {leaf}" for leaf in range(10)]
    tree = ordhc.posterior(ordhc.Triplets(t.rows, names=names), sweeps=30).tree
    ordhc.write_tree(tree, tmp_path / f"tree.{ending}")
    again = ordhc.read_tree(tmp_path / f"tree.{ending}")
    assert again.scale == "lengths"
    order = [again.labels.index(name) for name in names]
    paths = again.cophenetic(square=True)[np.ix_(order, order)]
    np.testing.assert_array_equal(paths, tree.cophenetic(square=True))
    assert ordhc.metrics.robinson_foulds(again, tree) == 0
    assert sorted(again.support) == pytest.approx(sorted(tree.support), abs=1e-9)
    # No edge is negative, and one leaf has none.
    assert np.nanmin(again.lengths) == again.lengths[: again.n_leaves].min() == 0


@pytest.mark.filterwarnings("ignore::ordhc.errors.OrdhcWarning")
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 30))
@settings(max_examples=15)
def test_small_and_contradictory_answers(seed, n, m):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(n)[:3] for _ in range(m if n > 2 else 0)]).reshape(-1, 3)
    t = ordhc.Triplets(np.concatenate([rows, rows[:, [0, 2, 1]]]), n_leaves=n)
    p = ordhc.posterior(t, sweeps=10, chains=2)
    assert p.lengths.shape == (n,)
    assert p.lengths_interval.shape == (n, 2)
    assert np.isfinite(p.lengths).all()
    assert p.tree.n_leaves == p.dendrogram.n_leaves == n


def test_predictions_know_lengths():
    t, _, _ = additive(16, 1000, 1.5, 0)
    train, test = t.split(0.8, seed=1)
    p = ordhc.posterior(train, sweeps=60, chains=2)
    plain = ordhc.posterior(train, sweeps=60, chains=2, lengths=False)
    assert plain.lengths is None
    assert plain.lengths_interval is None
    said, less = (np.log(each.predict(test)).mean() for each in (p, plain))
    assert said > less + 0.02
    turned = ordhc.Triplets(test.rows[:, [0, 2, 1]], n_leaves=16)
    np.testing.assert_allclose(p.predict(test) + p.predict(turned), 1)


def test_predictions_are_the_mean_over_trees():
    t, _, _ = additive(8, 100, 1.0, 0)
    p = ordhc.posterior(t, chains=1, sweeps=6, burn_in=5)
    (tree,), noise = p.trees, p.diagnostics.noise[0, -1]
    C = heights_of_pairs(tree) - p.lengths - p.lengths[:, None]
    a, b, c = t.rows.T.astype(int)
    np.testing.assert_allclose(p.predict(t), noise + (1 - 2 * noise) * expit(C[a, b] - C[a, c]), rtol=1e-6)
    i, j, k, last = np.array([(0, 1, 2, 3), (0, 4, 2, 5), (6, 1, 7, 3)]).T
    said = p.predict(np.stack([i, j, k, last], axis=1))
    np.testing.assert_allclose(said, noise + (1 - 2 * noise) * expit(C[i, j] - C[k, last]), rtol=1e-6)


def test_forecasts_simulate_lengths():
    t, _, _ = additive(12, 150, 1.5, 0)
    p = ordhc.posterior(t, sweeps=40)
    later = p.forecast(t, 30, repeats=3)
    assert later.accuracy > p.expected.accuracy
