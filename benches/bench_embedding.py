"""Ordinal embeddings beside cblearn: python benches/bench_embedding.py [--cblearn PYTHON] [--quality].

Triplets of the planted model (240 leaves, delta/sigma = 1.5), embeddings of two dimensions. cblearn pins
NumPy 1.26 and needs an environment of its own, FORTE also torch; both start from the same normal
coordinates, in turn:

    python -m venv bench && bench/bin/pip install cblearn==0.4.0 torch
    python benches/bench_embedding.py --cblearn bench/bin/python

--quality gives the AARI of average linkage instead, over 10 seeds. `ordhc-embedding` must be there.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N, D, SEED = 240, 2, 0
MODELS = ("tste", "ste", "ckl", "gnmds", "soe", "forte")


def start(seed):
    return np.random.default_rng(seed).normal(size=(N, D))


def timed(work):
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - processor


def ours(path, model, solver):
    from ordhc_embedding import embed

    import ordhc

    triplets = ordhc.Triplets(np.load(path), N)
    options = {"initial": start(SEED)} if solver != "paper" else {}
    embed(triplets[:100], model, max_iterations=2)
    found, wall, processor = timed(lambda: embed(triplets, model, n_components=D, solver=solver, **options))
    return found.points.tolist(), wall, processor


def theirs(path, model):
    from cblearn import embedding

    rows = np.load(path)
    settings = {"device": "cpu"} if model == "forte" else {"mu": 0.05} if model == "ckl" else {}
    estimator = getattr(embedding, model.upper())(D, random_state=SEED, **settings)
    estimator.set_params(max_iter=3).fit(rows[:1000], init=start(SEED), n_objects=N)
    estimator.set_params(max_iter=2000 if model == "forte" else 1000)
    _, wall, processor = timed(lambda: estimator.fit(rows, init=start(SEED), n_objects=N))
    return estimator.embedding_.tolist(), wall, processor


def run(python, *arguments):
    """One measurement in a process of its own."""
    done = subprocess.run([python, __file__, "--run", *arguments], capture_output=True, text=True, check=True)
    points, wall, processor = json.loads(done.stdout.splitlines()[-1])
    return np.array(points), wall, processor


def speed(cblearn, multiples, models, repeats):
    from ordhc_embedding.models import MODELS as KINDS

    import ordhc
    from measure import table
    from ordhc._ordhc import EmbeddingLoss

    for multiple in multiples:
        triplets, _ = ordhc.datasets.planted(int(multiple * N * N), delta=0.15, seed=SEED)
        rows = []
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "triplets.npy")
            np.save(path, triplets.rows.astype(np.int64))
            for model in models:
                kind = KINDS[model]
                loss = EmbeddingLoss(triplets.rows, None, N, kind.loss, kind.value(None, D))
                runs = [
                    (f"{model} {solver}", sys.executable, (path, model, solver)) for solver in kind.solvers
                ]
                if cblearn is not None:
                    runs.append((f"{model} cblearn", cblearn, (path, model, "cblearn")))
                found = {name: [] for name, *_ in runs}
                for _ in range(repeats):
                    for name, python, arguments in runs:
                        points, wall, processor = run(python, *arguments)
                        found[name].append((wall, processor, loss.evaluate(points)[0] / len(triplets)))
                first = np.median(found[runs[0][0]], axis=0)
                for name, values in found.items():
                    wall, processor, mean_loss = np.median(values, axis=0)
                    ratios = (f"{wall / first[0]:.1f}", f"{processor / first[1]:.1f}")
                    rows.append((name, f"{wall:.2f}", f"{processor:.2f}", *ratios, f"{mean_loss:.5f}"))
        print(f"{multiple:g} n^2 = {len(triplets):,} triplets, medians of {repeats}")
        table(["", "seconds", "processor", "ratio", "processor ratio", "mean loss"], rows)


def quality(multiples, n_seeds):
    import ordhc
    from measure import table

    methods = {
        "AddS3-AL": {"method": "adds3-al"},
        "tSTE-AL": {"method": "tste-al"},
        "tSTE-AL, paper's descent": {"method": "tste-al", "solver": "paper"},
        "tSTE-AL, d = 3": {"method": "tste-al", "n_components": 3},
        "FORTE-AL": {"method": "forte-al"},
        "completion-AL": {"method": "completion-al"},
    }
    rows = []
    for multiple in multiples:
        scores = {name: [] for name in methods}
        for seed in range(n_seeds):
            triplets, labels = ordhc.datasets.planted(int(multiple * N * N), delta=0.15, seed=seed)
            for name, settings in methods.items():
                tree = ordhc.cluster(triplets, **settings)
                aari = float(ordhc.score(tree, labels, metric="aari"))
                scores[name].append((aari, ordhc.score(tree, triplets)))
        cells = []
        for values in scores.values():
            aari, revenue = np.array(values).T
            cells.append(f"{aari.mean():.3f} ± {aari.std():.3f}, {revenue.mean():.4g}")
        rows.append((f"{multiple:g} n^2", *cells))
    print(f"AARI and revenue, {n_seeds} seeds")
    table(["triplets", *methods], rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cblearn", help="a python that has cblearn")
    parser.add_argument("--quality", action="store_true")
    parser.add_argument("--multiples", type=float, nargs="+", default=[1, 16])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        path, model, solver = given.run
        print(json.dumps(theirs(path, model) if solver == "cblearn" else ours(path, model, solver)))
    elif given.quality:
        quality(given.multiples, given.seeds)
    else:
        speed(given.cblearn, given.multiples, given.models, given.repeats)


if __name__ == "__main__":
    main()
