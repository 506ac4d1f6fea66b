"""Progress of embeddings: it never falls, ends at 1, and moves with the iterations."""

from itertools import pairwise

import pytest
from ordhc_embedding import choose_n_components, embed, expected_similarities

import ordhc

T, _ = ordhc.simulate_planted(1500, levels=2, leaves_per_cluster=6, seed=1)
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
