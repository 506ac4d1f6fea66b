"""What is made of embeddings: similarities, completion, methods."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from ordhc_embedding import choose_n_components, embed, expected_similarities
from ordhc_embedding.models import MODELS

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.testing import check_similarity

NAMES = [*MODELS, "completion"]


@pytest.fixture(scope="module")
def planted():
    return ordhc.datasets.planted(6000, levels=2, leaves_per_cluster=10, delta=0.15, seed=2)


@pytest.mark.parametrize("name", NAMES)
def test_conforms(name):
    # The start is drawn leaf by leaf, so numbering matters to which of several minima is found.
    check_similarity(name, skip=["numbering"], max_iterations=100)


@pytest.mark.parametrize("measure", ["dot", "sqeuclidean"])
def test_other_measures_conform(measure):
    # Where two groups lie opposite each other dot products say so, too.
    check_similarity("tste", skip=["numbering"], measure=measure, max_iterations=100)


def test_measures_are_of_the_points_as_they_are(planted):
    triplets, _ = planted
    points = embed(triplets, "ckl", n_components=3, seed=4).points
    lengths = np.linalg.norm(points, axis=1)
    expected = {
        "cosine": points @ points.T / np.outer(lengths, lengths),
        "dot": points @ points.T / 3,
        "sqeuclidean": -((points[:, None] - points[None]) ** 2).sum(axis=2),
    }
    for measure, S in expected.items():
        found = ordhc.similarity(triplets, "ckl", n_components=3, seed=4, measure=measure)
        np.testing.assert_allclose(found, S, rtol=1e-9, atol=1e-9)
    with pytest.raises(InputError, match="measure is 'angle'; it must be one of cosine, dot, sqeuclidean"):
        ordhc.similarity(triplets, "ckl", measure="angle")
    with pytest.raises(InputError, match="not whole numbers"):
        ordhc.similarity(triplets, "ckl", dtype="int64")


def test_methods_are_their_parts(planted):
    triplets, labels = planted
    for method, similarity in (("tste-al", "tste"), ("forte-al", "forte"), ("completion-al", "completion")):
        tree = ordhc.cluster(triplets, method=method, seed=3)
        S = ordhc.similarity(triplets, similarity, seed=3)
        assert tree.merges.tolist() == ordhc.linkage(S, "average", dissimilarity=False).merges.tolist()
        assert ordhc.score(tree, labels, metric="aari") > 0.6


def test_settings_of_the_paper(planted):
    triplets, _ = planted
    S = ordhc.similarity(triplets, "tste", solver="paper", seed=1)
    points = embed(triplets, "tste", solver="paper", seed=1).points
    np.testing.assert_array_equal(S, ordhc.similarity(points, "cosine"))


def test_leaves_without_answers_are_merged_last():
    with pytest.warns(OrdhcWarning, match="1 leaf has no answers"):
        tree = ordhc.cluster(ordhc.Triplets([(0, 1, 2), (1, 0, 2)], n_leaves=4), similarity="tste")
    assert 3 in tree.merges[-1]


def test_expected_similarities_are_sums_over_all_triplets():
    triplets, _ = ordhc.datasets.planted(150, levels=1, leaves_per_cluster=4, seed=1)
    for model in ("tste", "ste", "forte", "ckl"):
        found = embed(triplets, model, max_iterations=20)
        squared = ((found.points[:, None] - found.points[None]) ** 2).sum(axis=2)
        if model == "tste":
            kernel = (1 + squared / found.parameter) ** (-(found.parameter + 1) / 2)
        elif model == "ckl":
            kernel = 1 / (squared + found.parameter)
        else:
            kernel = np.exp(-squared)
        expected = []
        for i, j in itertools.combinations(range(8), 2):
            ks = [k for k in range(8) if k not in (i, j)]
            p = sum(
                2 * kernel[a, b] / (kernel[a, b] + kernel[a, k]) - 1 for a, b in ((i, j), (j, i)) for k in ks
            )
            expected.append(p)
        np.testing.assert_allclose(expected_similarities(found), expected, rtol=1e-9, atol=1e-9)
    with pytest.raises(InputError, match="gives no probabilities"):
        expected_similarities(embed(triplets, "soe"))


def test_completion_finds_what_few_answers_hide():
    triplets, labels = ordhc.datasets.planted(1600, levels=2, leaves_per_cluster=10, delta=0.15, seed=0)
    aari = {
        name: ordhc.score(ordhc.cluster(triplets, similarity=name), labels, metric="aari")
        for name in ("adds3", "completion")
    }
    assert aari["completion"] > aari["adds3"] + 0.1


def test_the_dimension_is_chosen_by_held_out_answers():
    rng = np.random.default_rng(0)
    for d in (1, 3):
        points = rng.normal(size=(25, d)) * 1.5
        rows = np.array([rng.choice(25, 3, replace=False) for _ in range(6000)])
        near, far = (((points[rows[:, 0]] - points[rows[:, at]]) ** 2).sum(axis=1) for at in (1, 2))
        flipped = rng.random(6000) > 1 / (1 + np.exp(near - far))
        rows[flipped] = rows[flipped][:, [0, 2, 1]]
        assert choose_n_components(ordhc.Triplets(rows, 25), model="ste", max_iterations=100) == d


def test_auto_is_the_dimension_that_is_chosen(planted):
    triplets = planted[0][:1500]
    told = []
    settings = {"seed": 1, "max_iterations": 30, "alpha": 1.0}
    found = ordhc.similarity(triplets, "completion", n_components="auto", progress=told.append, **settings)
    d = choose_n_components(triplets, **settings)
    np.testing.assert_array_equal(found, ordhc.similarity(triplets, "completion", n_components=d, **settings))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    with pytest.raises(
        InputError, match="n_components is 'many'; it must be a whole number of at least 1, or 'auto'"
    ):
        ordhc.similarity(triplets, "completion", n_components="many")
    assert choose_n_components(ordhc.Triplets([(0, 1, 2), (0, 2, 1), (0, 1, 2)])) == 1


def test_answers_to_the_same_question_are_held_out_together(planted):
    triplets = planted[0][:200]
    thrice = ordhc.Triplets(np.repeat(triplets.rows, 3, axis=0), 40)
    weightless = ordhc.Triplets(
        np.vstack([triplets.rows, triplets.rows[:, [1, 0, 2]]]), 40, weights=np.repeat([1.0, 0.0], 200)
    )
    chosen = {choose_n_components(data, max_iterations=10) for data in (triplets, thrice, weightless)}
    assert len(chosen) == 1


def test_the_number_of_threads_does_not_matter():
    code = (
        "import ordhc, hashlib; from ordhc_embedding import *;"
        "t, _ = ordhc.datasets.planted(60000, levels=2, leaves_per_cluster=25, seed=1);"
        "e = embed(t, n_components=3, max_iterations=10);"
        "print(hashlib.sha256(e.points.tobytes() + expected_similarities(e).tobytes()).hexdigest())"
    )
    found = set()
    for threads in ("1", "2", "5"):
        env = {**os.environ, "ORDHC_NUM_THREADS": threads}
        run = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        found.add(run.stdout)
    assert len(found) == 1


def test_is_discovered():
    rows = [row for row in ordhc.plugins.list_plugins() if row.plugin == "ordhc-embedding"]
    assert [row.name for row in rows if row.kind == "similarity"] == NAMES
    assert [row.name for row in rows if row.kind == "method"] == [
        "tste-al",
        "forte-al",
        "completion-al",
        "completion",
    ]
    assert {(row.status, row.entry_point) for row in rows} == {("ok", "embedding")}


@pytest.mark.parametrize("name", ["tste", "completion"])
def test_scale_of_weights_and_repeats_of_all_answers_change_nothing(name):
    random = np.random.default_rng(3)
    for n, m in ((7, 8), (13, 11), (11, 24), (13, 27)):
        rows = np.array([random.permutation(n)[:3] for _ in range(m)])
        for weights in (np.ones(m), random.integers(1, 5, m).astype(float), random.random(m)):

            def similarity(rows, weights, n=n):
                data = ordhc.Triplets(rows, n_leaves=n, weights=weights)
                return ordhc.similarity(data, name, max_iterations=200)

            expected = similarity(rows, weights)
            for factor in (3, 0.1, np.pi):
                np.testing.assert_array_equal(similarity(rows, factor * weights), expected)
            twice = np.concatenate([rows, rows])
            np.testing.assert_array_equal(similarity(twice, np.concatenate([weights, weights])), expected)
