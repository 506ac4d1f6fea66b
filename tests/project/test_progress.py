"""Progress: it never falls, ends at 1, and moves while the slowest part of the work is done."""

from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest

import ordhc
from ordhc import Dendrogram
from ordhc.asking.salvage import salvage
from ordhc.io import read_answers

T, LABELS = ordhc.datasets.planted(1500, levels=2, leaves_per_cluster=8, seed=1)
Q, _ = ordhc.datasets.planted(1000, levels=2, leaves_per_cluster=5, quadruplets=True, seed=1)
TREE = ordhc.cluster(T, method="adds3-al+spr")
S = ordhc.similarity(T)
X = np.random.default_rng(0).normal(size=(40, 5)) + 3


def told_by(work):
    told = []
    work(told.append)
    assert told, "nothing was told"
    assert all(0 <= share <= 1 for share in told)
    assert all(a <= b for a, b in pairwise(told))
    assert told[-1] == 1
    return told


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for ending in ("csv", "npz", "npy"):
        ordhc.write_comparisons(T, f"t.{ending}")
    ordhc.write_comparisons(Q, "q.csv")
    for ending in ("nwk", "json", "csv", "npy"):
        ordhc.write_tree(TREE, f"tree.{ending}")
    (tmp_path / "odd.csv").write_text("odd,a,b\n0,1,2\n3,1,2\n")


def answers_in_a_session(progress):
    with ordhc.Session("s.ordhc", n_leaves=32) as session:
        session.add_answers(T.rows, np.zeros(len(T), dtype=int), progress=progress)


def opened_session(progress):
    answers_in_a_session(None)
    ordhc.Session("s.ordhc", progress=progress).close()


def salvaged(progress):
    answers_in_a_session(None)
    salvage("s.ordhc", "saved.ordhc", progress=progress)


CALLS = {
    "cluster": lambda p: ordhc.cluster(T[:200], progress=p),
    "cluster 3-al": lambda p: ordhc.cluster(T, method="3-al", progress=p),
    "cluster refined": lambda p: ordhc.cluster(T, method="adds3-al+spr", progress=p),
    "cluster consistency": lambda p: ordhc.cluster(T, method="consistency", progress=p),
    "cluster of pairs": lambda p: ordhc.cluster(Q, method="adds4-al+spr", progress=p),
    "cluster of vectors": lambda p: ordhc.cluster(X, method="cosine-al", progress=p),
    "cluster of components": lambda p: ordhc.cluster(
        ordhc.Vectors(X, storage="matrix"), similarity="pca-dot", progress=p
    ),
    "similarity of components": lambda p: ordhc.similarity(
        X, "pca-cosine", n_components=2, layout="condensed", progress=p
    ),
    "linkage": lambda p: ordhc.linkage(S, dissimilarity=False, progress=p),
    "linkage of a function": lambda p: ordhc.linkage(
        lambda i, others: S[i, others], "single", dissimilarity=False, n_leaves=len(S), progress=p
    ),
    "similarity of vectors": lambda p: ordhc.similarity(X, "cosine", progress=p),
    "similarity": lambda p: ordhc.similarity(T, "mulk3", progress=p),
    "refine": lambda p: ordhc.refine(TREE, T, progress=p),
    "refine satisfied": lambda p: ordhc.refine(TREE, T, "satisfied", progress=p),
    "bootstrap": lambda p: ordhc.bootstrap(T, n_resamples=5, progress=p),
    "bootstrap one by one": lambda p: ordhc.bootstrap(T, method="mulk3-al", n_resamples=5, progress=p),
    "bootstrap refined": lambda p: ordhc.bootstrap(T, "adds3-al+spr", n_resamples=2, progress=p),
    "select": lambda p: ordhc.select(T, ["adds3-al", "adds3-al+spr"], folds=2, progress=p),
    "learn": lambda p: ordhc.learn(ordhc.oracles.from_tree(TREE), 32, progress=p),
    "pca": lambda p: ordhc.similarities.pca(X, 2, progress=p),
    "planted": lambda p: ordhc.datasets.planted(1000, progress=p),
    "score revenue": lambda p: ordhc.score(TREE, T, progress=p),
    "score satisfied": lambda p: ordhc.score(TREE, T, "satisfied", progress=p),
    "score ari": lambda p: ordhc.score(TREE, LABELS[:, 0], "ari", progress=p),
    "score aari": lambda p: ordhc.score(TREE, LABELS, "aari", progress=p),
    "score kendall": lambda p: ordhc.score(TREE, LABELS, "kendall_tau_b", progress=p),
    "score robinson_foulds": lambda p: ordhc.score(TREE, TREE, "robinson_foulds", progress=p),
    "quadruplet_revenue": lambda p: ordhc.metrics.quadruplet_revenue(
        ordhc.cluster(Q, method="adds4-al+spr"), Q, normalize=True, progress=p
    ),
    "to_newick": lambda p: TREE.to_newick(progress=p),
    "from_newick": lambda p: Dendrogram.from_newick(TREE.to_newick(), progress=p),
    "as_dendrogram": lambda p: ordhc.as_dendrogram(TREE.to_linkage_matrix(), progress=p),
    "as_dendrogram of text": lambda p: ordhc.as_dendrogram(TREE.to_newick(), progress=p),
    "read_answers csv": lambda p: ordhc.read_answers("t.csv", progress=p),
    "read_answers npz": lambda p: ordhc.read_answers("t.npz", progress=p),
    "read_answers npy": lambda p: ordhc.read_answers("t.npy", progress=p),
    "read_answers of pairs": lambda p: ordhc.read_answers("q.csv", "pairs", progress=p),
    "read_answers": lambda p: read_answers("odd.csv", "odd-one-out", progress=p),
    "write_comparisons csv": lambda p: ordhc.write_comparisons(T, "new.csv.gz", progress=p),
    "write_comparisons npz": lambda p: ordhc.write_comparisons(T, "new.npz", progress=p),
    "write_comparisons npy": lambda p: ordhc.write_comparisons(T, "new.npy", progress=p),
    "read_tree nwk": lambda p: ordhc.read_tree("tree.nwk", progress=p),
    "read_tree json": lambda p: ordhc.read_tree("tree.json", progress=p),
    "read_tree csv": lambda p: ordhc.read_tree("tree.csv", progress=p),
    "read_tree npy": lambda p: ordhc.read_tree("tree.npy", progress=p),
    "write_tree nwk": lambda p: ordhc.write_tree(TREE, "new.nwk", progress=p),
    "write_tree json": lambda p: ordhc.write_tree(TREE, "new.json", progress=p),
    "Session": opened_session,
    "Session.add_answers": answers_in_a_session,
    "salvage": salvaged,
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", CALLS)
def test_progress_never_falls_and_ends_at_one(name):
    told_by(CALLS[name])


@pytest.fixture(scope="module")
def many():
    return ordhc.datasets.planted(400_000, levels=3, leaves_per_cluster=220, seed=1)[0]


def test_progress_moves_while_subtrees_do(many):
    told = told_by(lambda p: ordhc.cluster(many, "adds3-al+spr", progress=p))
    assert len({share for share in told if 0.2 < share < 1}) >= 5


def test_progress_moves_within_folds():
    """With two fits in all there is more to tell than when they end."""
    t, _ = ordhc.datasets.planted(60_000, levels=3, leaves_per_cluster=50, seed=1)
    told = told_by(lambda p: ordhc.select(t, ["consistency"], folds=2, progress=p))
    for low, high in ((0.01, 0.49), (0.5, 0.98)):
        assert len({share for share in told if low < share < high}) >= 2


def test_progress_moves_within_resamples():
    t, _ = ordhc.datasets.planted(60_000, levels=3, leaves_per_cluster=50, seed=1)
    told = told_by(lambda p: ordhc.bootstrap(t, method="consistency", n_resamples=1, progress=p))
    for low, high in ((0.01, 0.48), (0.5, 0.97)):
        assert len({share for share in told if low < share < high}) >= 2


def test_the_bar_of_the_command_line_moves_while_subtrees_do(many, tmp_path, monkeypatch):
    from ordhc.cli import main

    told = {}

    @contextmanager
    def recording(what, *, quiet):
        assert not quiet
        yield told.setdefault(what, []).append

    monkeypatch.setattr(import_module("ordhc.cli.cluster"), "progress_bar", recording)
    ordhc.write_comparisons(many, tmp_path / "t.npz")
    with pytest.raises(SystemExit) as stop:
        main(["cluster", str(tmp_path / "t.npz"), "--method", "adds3-al+spr", "-o", str(tmp_path / "t.nwk")])
    assert stop.value.code == 0
    assert told["reading"][-1] == told["clustering"][-1] == 1
    assert len({share for share in told["clustering"] if 0.2 < share < 1}) >= 5


def test_an_error_in_progress_stops_the_work():
    def stop(_):
        raise KeyboardInterrupt

    for work in (
        lambda: ordhc.metrics.satisfied(TREE, T, progress=stop),
        lambda: ordhc.datasets.planted(1000, progress=stop),
        lambda: ordhc.score(TREE, LABELS[:, 0], "ari", progress=stop),
    ):
        with pytest.raises(KeyboardInterrupt):
            work()
