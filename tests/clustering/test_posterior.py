"""`ordhc.posterior`: trees drawn by how likely they are, given noisy answers."""

import json
import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from support.answers import noisy
from support.random_data import random_tree
from support.trees import clusters_of


@pytest.mark.parametrize("quadruplets", [False, True])
def test_parts_of_a_posterior_agree(quadruplets):
    t, truth = noisy(quadruplets=quadruplets)
    p = ordhc.posterior(t, chains=2, sweeps=40, seed=3)
    n = t.n_leaves
    assert p.tree.names == truth.names
    assert p.dendrogram.is_monotone
    assert len(p.trees) == 54
    assert ordhc.score(p.tree, truth, metric="triplet_distance") < 0.3
    # Clusters are those of the trees.
    sets = [{frozenset(cluster) for cluster in clusters(d)} for d in p.trees]
    shares = [np.mean([frozenset(cluster) in found for found in sets]) for cluster in clusters(p.tree)]
    np.testing.assert_allclose(p.support, shares)
    common = {c for found in sets for c in found if np.mean([c in other for other in sets]) > 0.5}
    assert {frozenset(cluster) for cluster in clusters(p.consensus)} == common
    # The similarity is the mean of what the trees say of pairs.
    S = p.similarity
    assert S.shape == (n, n)
    np.testing.assert_array_equal(S, S.T)
    mean = np.zeros((n, n))
    for d in p.trees:
        heights = np.zeros((n, n))
        for cluster, height in zip(reversed(clusters(d)), d.heights[::-1], strict=True):
            heights[np.ix_(cluster, cluster)] = height
        mean += heights / len(p.trees)
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(S[off], mean[off], atol=1e-9)
    d = p.diagnostics
    assert d.log_likelihood.shape == d.noise.shape == d.n_nodes.shape == (2, 27)
    assert 0.9 < d.r_hat < 3
    assert 1 < d.effective_size < 200
    assert d.r_hats["log-likelihood"] == d.r_hat
    assert d.effective_sizes["log-likelihood"] == d.effective_size
    assert {"noise", "nodes", "lengths"} < set(d.r_hats) == set(d.effective_sizes)
    # The first cluster is the one whose support is nearest to one half; chains are made of halves.
    unsure = np.argsort(np.abs(p.support - 0.5), kind="stable")[0]
    cluster = frozenset(clusters(p.tree)[unsure])
    has = np.array([cluster in found for found in sets], dtype=float).reshape(2, 27)
    halves = np.concatenate([has[:, :13], has[:, -13:]])
    within = halves.var(axis=1, ddof=1).mean()
    expected = np.sqrt(12 / 13 + halves.mean(axis=1).var(ddof=1) / within)
    assert d.r_hats["cluster 1"] == pytest.approx(expected)


def clusters(tree):
    return [sorted(cluster) for cluster in clusters_of(tree)]


def test_predictions_are_of_answers_or_of_the_tree():
    t, _ = noisy(m=1500)
    p = ordhc.posterior(t, chains=2, sweeps=60)
    fresh, _ = noisy(m=1500, wrong=0.0, seed=0)
    answer, tree = p.predict(fresh), p.predict(fresh, of="tree")
    assert ((answer > 0) & (answer < 1)).all()
    assert np.mean(tree > 0.5) > 0.95
    # A fifth of the answers is wrong, and that is known.
    assert 0.7 < answer[tree > 0.95].mean() < 0.9
    assert 0.1 < p.diagnostics.noise.mean() < 0.3
    against = p.predict(fresh.rows[:, [0, 2, 1]].astype(int))
    np.testing.assert_allclose(answer + against, 1)
    # By name, in any order, some leaves only.
    few = ordhc.Triplets([("leaf 5", "leaf 2", "leaf 9")])
    np.testing.assert_array_equal(p.predict(few), p.predict([[5, 2, 9]]))
    assert p.predict(np.zeros((0, 3), dtype=int)).shape == (0,)
    with pytest.raises(InputError, match="no leaf 'cat'"):
        p.predict(ordhc.Triplets([("leaf 5", "leaf 2", "cat")]))
    with pytest.raises(InputError, match="shape"):
        p.predict([1, 2, 3])
    with pytest.raises(InputError, match="leaf 16"):
        p.predict([[1, 2, 16]])
    with pytest.raises(InputError, match="of"):
        p.predict(few, of="question")


def test_noise_is_averaged_out():
    better = 0
    for seed in range(3):
        t, truth = noisy(n=16, m=400, seed=seed)
        scores = [
            ordhc.score(ordhc.cluster(t, method=method), truth, metric="triplet_distance")
            for method in ("posterior-al", "adds3-al+spr")
        ]
        better += scores[1] - scores[0]
    assert better > 0


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.booleans())
def test_numbers_of_leaves_and_order_of_rows_do_not_matter(seed, weighted):
    t, _ = noisy(n=8, m=60, seed=seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, size=len(t)) if weighted else None
    order, rows = rng.permutation(8), rng.permutation(len(t))
    plain = ordhc.Triplets(t.rows.astype(int), n_leaves=8, weights=weights)
    moved = ordhc.Triplets(
        order[t.rows.astype(int)][rows], n_leaves=8, weights=None if weights is None else weights[rows]
    )
    one, other = (ordhc.posterior(data, chains=1, sweeps=6) for data in (plain, moved))
    np.testing.assert_allclose(other.similarity[np.ix_(order, order)], one.similarity)


def test_the_order_of_a_pair_does_not_matter():
    """ "a and b" is the pair "b and a": exports write a pair as it was shown, sessions as it was asked."""
    t, _ = noisy(m=150, wrong=0.3, quadruplets=True)
    rows, rng = t.rows.copy(), np.random.default_rng(1)
    for pair in (slice(0, 2), slice(2, 4)):
        swap = rng.random(len(rows)) < 0.5
        rows[swap, pair] = rows[swap, pair][:, ::-1]
    other = ordhc.Quadruplets(rows, n_leaves=t.n_leaves, names=t.names)
    trees = [ordhc.posterior(some, chains=2, sweeps=30).tree for some in (t, other)]
    assert trees[0].to_newick() == trees[1].to_newick()


def test_repeats_are_weights():
    t, _ = noisy(n=8, m=50)
    twice = ordhc.Triplets(np.repeat(t.rows.astype(int), 2, axis=0), n_leaves=8)
    weighted = ordhc.Triplets(t.rows.astype(int), n_leaves=8, weights=np.full(len(t), 2.0))
    np.testing.assert_allclose(
        *(
            ordhc.posterior(data, chains=1, sweeps=200, repeats="new").similarity.mean()
            for data in (twice, weighted)
        ),
        rtol=0.25,
    )


def test_threads_change_nothing():
    code = """if True:
        import json, sys
        import ordhc
        t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=5, seed=2)
        p = ordhc.posterior(t, chains=3, sweeps=8)
        json.dump([p.similarity.tolist(), p.diagnostics.log_likelihood.tolist()], sys.stdout)
    """
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "ORDHC_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert json.loads(found[0]) == json.loads(found[1])


def by_people(wrong, n=16, m=1200, seed=1):
    """Answers of people who are wrong this often, by name, and the tree."""
    t, truth = noisy(n=n, m=m, wrong=0.0, seed=seed)
    rng = np.random.default_rng(seed)
    who = rng.integers(len(wrong), size=m)
    rows = t.rows.astype(int)
    swap = rng.random(m) < np.array(wrong)[who]
    rows[swap] = rows[swap][:, [0, 2, 1]]
    groups = [f"p{person}" for person in who]
    return ordhc.Triplets(rows, n_leaves=n, names=t.names, groups=groups), truth


def test_people_have_a_noise_of_their_own():
    wrong = [0.03] * 3 + [0.5] * 6
    t, _ = by_people(wrong)
    p = ordhc.posterior(t, sweeps=100)
    assert sorted(p.noise_by_group) == [f"p{person}" for person in range(9)]
    assert all(0 < p.noise_by_group[f"p{person}"] < 0.12 for person in range(3))
    assert all(p.noise_by_group[f"p{person}"] > 0.3 for person in range(3, 9))
    np.testing.assert_allclose(p.diagnostics.noise.mean(), np.mean(list(p.noise_by_group.values())))
    alike = ordhc.posterior(t, sweeps=100, unit="answer")
    assert alike.noise_by_group == {}
    fresh, _ = noisy(n=16, m=1500, wrong=0.0, seed=1)
    said, by_all = (np.log(q.predict(fresh, of="tree")).mean() for q in (p, alike))
    assert said > by_all
    # One person only is nobody in particular.
    assert ordhc.posterior(t[t.groups == 0], sweeps=4).noise_by_group == {}


def test_people_are_given_as_groups_are():
    t, _ = by_people([0.1, 0.3], n=8, m=60)
    plain = ordhc.Triplets(t.rows, n_leaves=8)
    names = [t.group_names[group] for group in t.groups]
    p = ordhc.posterior(t, chains=1, sweeps=6)
    given = ordhc.posterior(plain, chains=1, sweeps=6, group=names)
    assert given.noise_by_group == p.noise_by_group
    np.testing.assert_array_equal(given.similarity, p.similarity)
    numbers = ordhc.posterior(plain, chains=1, sweeps=6, group=7 + 2 * np.asarray(t.groups))
    assert sorted(numbers.noise_by_group) == [7, 9]
    assert sorted(numbers.noise_by_group.values()) == sorted(p.noise_by_group.values())
    with pytest.raises(InputError, match="group"):
        ordhc.posterior(plain, group=[0, 1])
    with pytest.raises(InputError, match="no groups"):
        ordhc.posterior(plain, unit="group")
    with pytest.raises(InputError, match="not both"):
        ordhc.posterior(plain, group=names, unit="group")
    with pytest.raises(InputError, match="unit"):
        ordhc.posterior(plain, unit="person")


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000))
def test_names_of_people_and_order_of_rows_do_not_matter(seed):
    t, _ = by_people([0.0, 0.2, 0.5], n=8, m=60, seed=seed)
    rng = np.random.default_rng(seed)
    rows, order = rng.permutation(60), rng.permutation(3)
    names = np.array(["x", "y", "z"])[order[np.asarray(t.groups)]]
    moved = ordhc.Triplets(t.rows[rows], n_leaves=8, groups=names[rows])
    one, other = (ordhc.posterior(data, chains=1, sweeps=6) for data in (t, moved))
    np.testing.assert_array_equal(one.similarity, other.similarity)
    assert sorted(one.noise_by_group.values()) == sorted(other.noise_by_group.values())


def test_people_answer_quadruplets_and_odd_ones_out():
    t, _ = noisy(n=8, m=90, quadruplets=True)
    p = ordhc.posterior(t, sweeps=10, group=np.arange(90) % 3)
    assert sorted(p.noise_by_group) == [0, 1, 2]
    rng = np.random.default_rng(0)
    odd = ordhc.Triplets.from_odd_one_out(
        [rng.permutation(8)[:3] for _ in range(60)], groups=np.arange(60) % 2
    )
    p = ordhc.posterior(odd, sweeps=10)
    assert sorted(p.noise_by_group) == [0, 1]
    assert 0 < p.predict([[0, 1, 2]])[0] < 1


def test_few_leaves():
    for n in (1, 2):
        with pytest.warns(OrdhcWarning, match="no answers"):
            p = ordhc.posterior(ordhc.Triplets(np.zeros((0, 3), dtype=int), n_leaves=n), sweeps=2)
        assert (p.tree.n_leaves, len(p.trees), p.similarity.shape) == (n, 0, (n, n))
        assert p.support.tolist() == [1.0] * (n - 1)
        assert p.consensus == p.tree
        assert np.isnan(p.diagnostics.r_hat)
    p = ordhc.posterior(ordhc.Triplets([[0, 1, 2]]))
    assert p.support[-1] == 1
    with pytest.warns(OrdhcWarning, match="1 leaf has no answers and is at random positions: 3"):
        ordhc.posterior(ordhc.Triplets([[0, 1, 2]], n_leaves=4), sweeps=4)


def test_bad_arguments_are_named():
    t, _ = noisy(n=6, m=20)
    with pytest.raises(InputError, match="chains"):
        ordhc.posterior(t, chains=0)
    with pytest.raises(InputError, match="burn_in = 5 must be less than sweeps = 5"):
        ordhc.posterior(t, sweeps=5, burn_in=5)
    with pytest.raises(InputError, match="takes Triplets or Quadruplets, not ndarray"):
        ordhc.posterior(np.eye(3))
    with pytest.raises(InputError, match="initial_clusters"):
        ordhc.cluster(t, method="posterior-al", initial_clusters=[0, 0, 1, 1, 2, 2])


def test_the_method_is_one_like_others():
    t, _ = noisy(n=8, m=200)
    tree = ordhc.cluster(t, method="posterior-al", sweeps=10)
    assert tree.settings["linkage_parameters"] == {
        "chains": 4,
        "sweeps": 10,
        "seed": 0,
        "lengths": True,
        "scale": "heights",
    }
    p = ordhc.posterior(t, sweeps=10)
    assert tree == p.dendrogram.replace(support=None)
    assert ordhc.cluster(t, method="posterior-al", sweeps=10, scale="lengths") == p.tree.replace(support=None)
    without = ordhc.posterior(t, sweeps=10, lengths=False)
    assert ordhc.cluster(t, method="posterior-al", sweeps=10, lengths=False) == without.tree.replace(
        support=None
    )
    assert without.tree is without.dendrogram
    found = ordhc.select(t, ["adds3-al", "posterior-al"], folds=2)
    assert {candidate.method for candidate in found.candidates} == {"adds3-al", "posterior-al"}
    b = ordhc.bootstrap(t, method="posterior-al", n_resamples=2, sweeps=6)
    assert len(b.trees) == 2


def test_progress_goes_from_nothing_to_all_and_may_stop():
    t, _ = noisy()
    seen = []
    ordhc.posterior(t, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0

    def stop(done):
        if done > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ordhc.posterior(t, sweeps=100_000, progress=stop)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_trees_agree_about_is_told_apart(seed):
    """A merge and what holds it do not stand at one height; of a pair of leaves only one answer may tell."""
    truth = random_tree(16, seed)
    rows = np.array(list(combinations(range(16), 3)))
    odd = ordhc.oracles.from_tree(truth)(rows)
    at = np.arange(len(rows))
    near = [rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3], rows[at, odd]]
    found = ordhc.posterior(ordhc.Triplets(np.stack(near, axis=1), n_leaves=16), seed=seed)
    assert ordhc.metrics.triplet_distance(found.tree, truth) <= 3 / len(rows)
