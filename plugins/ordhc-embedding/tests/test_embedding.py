"""Losses beside NumPy, solvers beside what was published, progress, and what goes wrong."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ordhc_embedding import Embedding, choose_n_components, embed, expected_similarities
from ordhc_embedding.models import MODELS
from scipy.spatial.distance import pdist, squareform

import ordhc
from ordhc._ordhc import EmbeddingLoss
from ordhc.errors import InputError

PARAMETERS = {"tste": 1.5, "ste": None, "forte": None, "ckl": 0.05, "gnmds": None, "soe": 0.7}


def squared(points):
    return squareform(pdist(points, "sqeuclidean"))


def naive_loss(model, rows, weights, points):
    """The loss as the papers have it, from all distances."""
    near, far = squared(points)[rows[:, 0], rows[:, 1]], squared(points)[rows[:, 0], rows[:, 2]]
    parameter = PARAMETERS[model]
    if model == "tste":
        near, far = ((1 + d / parameter) ** (-(parameter + 1) / 2) for d in (near, far))
        losses = -np.log(near / (near + far))
    elif model == "ckl":
        losses = -np.log((far + parameter) / (near + far + 2 * parameter))
    elif model == "gnmds":
        losses = np.maximum(near + 1 - far, 0)
    elif model == "soe":
        losses = np.maximum(np.sqrt(near) + parameter - np.sqrt(far), 0) ** 2
    else:
        losses = -np.log(np.exp(-near) / (np.exp(-near) + np.exp(-far)))
    return float((weights * losses).sum())


def engine_loss(model, rows, weights, n):
    return EmbeddingLoss(rows, weights, n, MODELS[model].loss, PARAMETERS[model])


@st.composite
def answers(draw):
    n, d = draw(st.integers(3, 8)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    m = draw(st.integers(1, 60))
    rows = np.array([rng.choice(n, 3, replace=False) for _ in range(m)], dtype=np.int32)
    weights = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0], m)
    return rows, weights, rng.normal(size=(n, d))


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=40, deadline=None)
@given(answers())
def test_the_loss_is_the_papers_and_the_gradient_its_slope(model, case):
    rows, weights, points = case
    loss = engine_loss(model, rows, weights, len(points))
    value, gradient = loss.evaluate(points)
    assert value == pytest.approx(naive_loss(model, rows, weights, points), rel=1e-9, abs=1e-12)
    assert loss.total_weight == pytest.approx(weights.sum())
    pair_value, pairs = loss.evaluate_pairs(points)
    assert pair_value == value
    laplacian = np.diag(squareform(pairs).sum(axis=1)) - squareform(pairs)
    np.testing.assert_allclose(gradient, 2 * laplacian @ points, rtol=1e-8, atol=1e-8)
    # Along one direction; where a hinge begins, two step sizes disagree and there is no slope to compare.
    direction = np.random.default_rng(1).normal(size=points.shape)

    def slope(step):
        values = [naive_loss(model, rows, weights, points + by * direction) for by in (step, -step)]
        return (values[0] - values[1]) / (2 * step)

    fine, coarse = slope(1e-6), slope(1e-4)
    if abs(fine - coarse) <= 1e-4 * (1 + abs(fine)):
        assert np.vdot(gradient, direction) == pytest.approx(fine, rel=1e-3, abs=1e-3)
    else:
        assert model in ("gnmds", "soe", "ckl")


def published_descent(rows, n, start, alpha, iterations):
    """The published loop, in NumPy."""
    points, best_points = start, start
    cost = best = np.inf
    eta, failures, done = 2.0, 0, 0
    i, j, k = rows.T
    while done < iterations and failures < 5:
        old = cost
        base = 1 + squared(points) / alpha
        kernel = base ** (-(alpha + 1) / 2)
        p = kernel[i, j] / (kernel[i, j] + kernel[i, k])
        cost = -np.log(p).sum()
        gradient = np.zeros_like(points)
        near = ((1 - p) / base[i, j])[:, None] * (points[i] - points[j])
        far = ((1 - p) / base[i, k])[:, None] * (points[i] - points[k])
        np.add.at(gradient, i, near - far)
        np.add.at(gradient, j, -near)
        np.add.at(gradient, k, far)
        if cost < best:
            best, best_points = cost, points
        points = points - eta / len(rows) * n * (alpha + 1) / alpha * gradient
        if old > cost + 1e-7:
            failures, eta = 0, eta * 1.01
        else:
            failures, eta = failures + 1, eta * 0.5
        done += 1
    return best_points, best, done


@pytest.mark.parametrize("n_components", [2, 3])
def test_the_papers_solver_is_the_published_descent(n_components):
    triplets, _ = ordhc.datasets.planted(3000, levels=2, leaves_per_cluster=8, seed=3)
    rows, n = triplets.rows.astype(int), triplets.n_leaves
    # Steps that grow until they fail magnify rounding in the end.
    for iterations, rtol in ((60, 1e-9), (400, 1e-3)):
        found = embed(
            triplets, "tste", solver="paper", n_components=n_components, seed=5, max_iterations=iterations
        )
        start = np.random.default_rng([5, 0]).normal(size=(n, n_components)) * 1e-4
        points, loss, done = published_descent(rows, n, start, n_components - 1.0, iterations)
        assert found.n_iterations == done
        assert found.loss == pytest.approx(loss, rel=rtol)
        if iterations == 60:
            np.testing.assert_allclose(found.points, points, rtol=1e-5, atol=1e-7)


@pytest.fixture(scope="module")
def planted():
    return ordhc.datasets.planted(6000, levels=2, leaves_per_cluster=10, delta=0.15, seed=2)


@pytest.mark.parametrize("model", MODELS)
def test_embeddings_are_at_rest_and_agree_with_answers(model, planted):
    triplets, _ = planted
    found = embed(triplets, model, n_components=2, seed=1)
    assert found.points.shape == (40, 2)
    assert not found.points.flags.writeable
    loss = EmbeddingLoss(triplets.rows, None, 40, MODELS[model].loss, found.parameter)
    value, gradient = loss.evaluate(found.points)
    assert found.loss == pytest.approx(value)
    assert found.score(triplets) == pytest.approx(value / len(triplets))
    if model != "gnmds":  # whose hinge has a kink where it rests
        assert found.converged
        assert np.abs(gradient).max() / len(triplets) < 1e-3
    near, far = (squared(found.points)[triplets.rows[:, 0], triplets.rows[:, at]] for at in (1, 2))
    assert (near < far).mean() > 0.75
    again = embed(triplets, model, n_components=2, seed=1)
    np.testing.assert_array_equal(found.points, again.points)


def test_forte_s_two_solvers_find_the_same(planted):
    triplets, _ = planted
    start = np.random.default_rng(0).normal(size=(40, 2))
    by_matrix = embed(triplets, "forte", initial=start, solver="projected", tolerance=1e-12)
    by_points = embed(triplets, "forte", initial=start, tolerance=1e-12)
    assert by_matrix.converged
    assert by_matrix.loss == pytest.approx(by_points.loss, rel=1e-4)
    np.testing.assert_allclose(squared(by_matrix.points), squared(by_points.points), rtol=0.05, atol=0.05)
    ste = embed(triplets, "ste", initial=start, tolerance=1e-12)
    np.testing.assert_array_equal(ste.points, by_points.points)


def test_the_best_restart_wins():
    triplets, _ = ordhc.datasets.planted(600, levels=3, leaves_per_cluster=3, seed=4)
    losses = []
    for at in range(4):
        start = np.random.default_rng([9, at]).normal(size=(24, 2))
        losses.append(embed(triplets, initial=start).loss)
    assert max(losses) > min(losses)
    assert embed(triplets, seed=9, restarts=4).loss == min(losses)


def test_a_warm_start_stays_where_nothing_is_left_to_do(planted):
    triplets, _ = planted
    first = embed(triplets, "ckl", tolerance=1e-12)
    again = embed(triplets, "ckl", initial=first.points)
    assert again.n_iterations < first.n_iterations / 3
    np.testing.assert_allclose(again.points, first.points, atol=0.05)


def test_weights_are_repeats(planted):
    triplets, _ = planted
    some = triplets[:500]
    repeats = np.random.default_rng(0).integers(0, 3, 500)
    weighted = ordhc.Triplets(some.rows, 40, weights=repeats.astype(float))
    repeated = ordhc.Triplets(np.repeat(some.rows, repeats, axis=0), 40)
    for solver in ("lbfgs", "paper"):
        a, b = (embed(data, solver=solver, max_iterations=30) for data in (weighted, repeated))
        np.testing.assert_allclose(a.points, b.points, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_leaves_and_no_answers(model, n):
    for solver in MODELS[model].solvers:
        start = np.arange(float(n))[:, None]
        found = embed(ordhc.Triplets([], n_leaves=n), model, n_components=1, initial=start, solver=solver)
        assert (found.loss, found.n_iterations, found.converged) == (0.0, 0, True)
        np.testing.assert_array_equal(found.points, start)


def test_leaves_without_answers_stay():
    start = np.random.default_rng(0).normal(size=(6, 2))
    found = embed(ordhc.Triplets([(0, 1, 2), (1, 0, 3)], n_leaves=6), initial=start)
    np.testing.assert_array_equal(found.points[4:], start[4:])
    assert np.abs(found.points[:4] - start[:4]).max() > 0.1


def test_names_and_text():
    found = embed(ordhc.Triplets([("a", "b", "c")]), n_components=1)
    assert found.names == ("a", "b", "c")
    assert repr(found).startswith("<Embedding: 3 leaves in 1 dimensions by tste, loss ")
    assert isinstance(found, Embedding)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.loss = 0.0


def test_progress_rises_to_one_and_may_stop(planted):
    triplets, _ = planted
    told = []
    embed(triplets, restarts=2, max_iterations=20, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 20
    assert told[-1] == 1.0

    def stop(done):
        raise KeyboardInterrupt

    for model, solver in (("tste", "lbfgs"), ("tste", "paper"), ("forte", "projected")):
        with pytest.raises(KeyboardInterrupt):
            embed(triplets, model, solver=solver, progress=stop)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"model": "tsne"}, "model is 'tsne'; it must be one of tste, ste"),
        ({"solver": "projected"}, "solver is 'projected'; 'tste' has lbfgs, paper"),
        ({"n_components": 0}, "n_components is 0; it must be a whole number of at least 1"),
        ({"n_components": 2.0}, "n_components is 2.0"),
        ({"restarts": True}, "restarts is True"),
        ({"seed": -1}, "seed is -1"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"mu": 0.1}, "'tste' has no parameter 'mu'"),
        ({"alpha": 0}, "alpha is 0; it must be above 0 and finite"),
        ({"alpha": float("inf")}, "alpha is inf"),
        ({"model": "soe", "margin": "wide"}, "margin is 'wide'"),
        ({"initial": np.zeros((3, 3))}, r"initial has shape \(3, 3\); it must have shape \(3, 2\)"),
        ({"initial": [[0, 0], [0, np.nan], [1, 1]]}, r"initial\[1, 1\] is nan; it must be finite"),
        ({"initial": "zeros"}, "initial is str"),
        ({"initial": np.zeros((3, 2)), "restarts": 2}, "restarts is 2; with initial points it must be 1"),
        ({"model": "soe", "initial": [[0, 0], [1e200, 0], [1, 1]]}, "the loss is inf"),
    ],
)
def test_bad_settings_are_named(settings, text):
    with pytest.raises(InputError, match=text):
        embed([(0, 1, 2)], **settings)


def test_scores_need_fitting_answers(planted):
    found = embed(planted[0])
    with pytest.raises(InputError, match="triplets have 3 leaves; the embedding has 40 points"):
        found.score(ordhc.Triplets([(0, 1, 2)]))
    with pytest.raises(InputError, match="no triplets"):
        found.score(ordhc.Triplets([], n_leaves=40))


def test_the_engine_checks_its_arguments():
    rows = np.array([[0, 1, 2]], np.int32)
    with pytest.raises(InputError, match="2 points for 3 leaves"):
        EmbeddingLoss(rows, None, 3, "ste", None).evaluate(np.zeros((2, 3)))
    with pytest.raises(InputError, match="ste has no parameter, but 1 is given"):
        EmbeddingLoss(rows, None, 3, "ste", 1.0)
    with pytest.raises(InputError, match="alpha = NaN is outside"):
        EmbeddingLoss(rows, None, 3, "tste", float("nan"))
    with pytest.raises(InputError, match=r"point at \[0, 1\] is NaN"):
        EmbeddingLoss(rows, None, 3, "ste", None).evaluate(np.array([[0, np.nan], [0, 0], [1, 1]]))
    with pytest.raises(InputError, match="rows of 3 leaves"):
        EmbeddingLoss(np.array([[0, 1, 0, 2]], np.int32), None, 3, "ste", None)


def test_starts_by_an_executor():
    triplets, _ = ordhc.datasets.planted(1500, levels=2, leaves_per_cluster=4, seed=1)
    expected = embed(triplets, "ckl", restarts=4, seed=2)
    with ThreadPoolExecutor(3) as executor:
        found = embed(triplets, "ckl", restarts=4, seed=2, executor=executor)
    np.testing.assert_array_equal(found.points, expected.points)
    assert (found.loss, found.n_iterations) == (expected.loss, expected.n_iterations)


# --- progress --------------------------------------------------------------------------------

T, _ = ordhc.datasets.planted(1500, levels=2, leaves_per_cluster=6, seed=1)
FEW = {"max_iterations": 60}
CALLS = {
    "embed": (lambda p: embed(T, progress=p), 10),
    "embed, restarts": (lambda p: embed(T, restarts=3, progress=p, **FEW), 30),
    "embed, paper": (lambda p: embed(T, solver="paper", progress=p, **FEW), 30),
    "embed, projected": (lambda p: embed(T, "forte", solver="projected", progress=p, **FEW), 5),
    "choose_n_components": (lambda p: choose_n_components(T, progress=p, **FEW), 60),
    "expected_similarities": (lambda p: expected_similarities(embed(T), progress=p), 1),
    "similarity": (lambda p: ordhc.similarity(T, "tste", progress=p), 10),
    "completion": (lambda p: ordhc.similarity(T, "completion", progress=p, **FEW), 60),
    "method completion": (lambda p: ordhc.cluster(T, method="completion", progress=p, **FEW), 60),
    "select": (lambda p: ordhc.select(T, ["completion-al"], folds=2, progress=p), 100),
}


@pytest.mark.parametrize("name", CALLS)
def test_progress_moves(name):
    work, least = CALLS[name]
    told = []
    work(told.append)
    assert all(0 <= share <= 1 for share in told)
    assert all(a <= b for a, b in pairwise(told))
    assert told[-1] == 1
    assert len(set(told)) >= least
