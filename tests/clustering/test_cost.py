"""Estimates of time and errors of memory come before work begins and name a way out."""

import time

import numpy as np
import pytest

import ordhc
from ordhc import _ordhc
from ordhc._checks import remedied
from ordhc.clustering import cost
from ordhc.clustering.plan import Plan
from ordhc.errors import OrdhcWarning
from ordhc.similarities.vectors import Vectors


@pytest.fixture
def answers():
    return ordhc.datasets.planted(400, levels=2, leaves_per_cluster=3, seed=1)[0]


CALLS = {
    "cluster": lambda t: ordhc.cluster(t, "posterior-al"),
    "posterior": lambda t: ordhc.posterior(t, sweeps=3, chains=1),
    "refine": lambda t: ordhc.refine(ordhc.cluster(t, "adds3-al"), t, "satisfied"),
    "bootstrap": lambda t: ordhc.bootstrap(t, "adds3-al", n_resamples=2),
    "select": lambda t: ordhc.select(t, ["adds3-al", "mulk3-al"]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call", CALLS)
def test_long_calls_warn_before_they_begin(answers, monkeypatch, call):
    """The warning names leaves, comparisons and time; as an error it stops the call."""
    monkeypatch.setattr(cost, "LONG", 0.0)
    with pytest.raises(
        OrdhcWarning, match=r"of 12 leaves and 400 comparisons takes about .* seconds of proc.*; "
    ):
        CALLS[call](answers)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(31, "30 seconds"), (100, "2 minutes"), (2400, "40 minutes"), (7200, "2 hours"), (1e6, "10 days")],
)
def test_durations_have_about_one_digit(answers, seconds, told):
    with pytest.warns(OrdhcWarning, match=f"takes about {told} of"):
        cost.warn_of_cost("it", answers, seconds, "give less")


def test_longer_work_has_larger_estimates():
    plans = {}
    for m in (1_000, 20_000):
        t, _ = ordhc.datasets.planted(m, levels=2, leaves_per_cluster=10, seed=1)
        for method in ("adds3-al", "adds3-al+spr", "posterior-al"):
            plans[method, m] = Plan.of(t, method).seconds(t)
    for m in (1_000, 20_000):
        assert 0 < plans["adds3-al", m] < plans["adds3-al+spr", m] < plans["posterior-al", m]
    assert plans["adds3-al", 1_000] < plans["adds3-al", 20_000]


MANY = 400_000


def comb(n):
    """A tree that adds one leaf at a time."""
    merges = np.column_stack([np.r_[0, np.arange(n, 2 * n - 2)], np.arange(1, n)])
    return ordhc.Dendrogram(merges, np.arange(1.0, n), kind="dissimilarity")


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda t: ordhc.similarity(t, layout="condensed"), "layout='sparse'"),
        (lambda t: ordhc.similarity(t), "layout='condensed'"),
        (lambda t: ordhc.refine(comb(MANY), t), "objective='satisfied'"),
        (
            lambda _: ordhc.cluster(
                Vectors(np.ones((MANY, 2), dtype=np.float32)), similarity="euclidean", linkage="complete"
            ),
            "neighbors=20",
        ),
    ],
)
def test_errors_of_memory_name_a_way_out_at_once(call, remedy):
    started = time.process_time()
    with pytest.raises(MemoryError, match=rf"bytes.*more than can be allocated: .*{remedy}"):
        call(ordhc.Triplets([(0, 1, 2)], n_leaves=MANY))
    assert time.process_time() - started < 20


def test_a_remedy_is_named_once():
    @remedied("outer")
    @remedied("inner")
    def check():
        _ordhc.check_memory("the matrix", 1 << 60)

    @remedied("outer")
    def fail():
        raise MemoryError

    with pytest.raises(MemoryError, match="^the matrix .* allocated: inner$"):
        check()
    with pytest.raises(MemoryError, match="^there is not enough memory: outer$"):
        fail()


def test_warnings_point_at_the_caller_of_what_has_a_remedy():
    with pytest.warns(OrdhcWarning) as told:
        ordhc.linkage(-np.ones((3, 3)), "average", dissimilarity=True)
    assert told[0].filename == __file__
