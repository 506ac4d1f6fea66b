"""Which method for vectors: ARI with the known classes, cut at their true number.

python benches/bench_vector_methods.py

Iris, Wine and Digits are scikit-learn's, Zoo and Glass those of `docs/data`. "blobs" are 5 Gaussian clusters
around random centres. "tree" is the model of Gray et al. 2024: 8 clusters of equal probability, whose means
follow a binary tree in 1,000 dimensions, with noise of standard deviation 6, the same for all vectors, or of
2 to 10, different for each vector.
"""

import csv
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine

import ordhc
from measure import table
from ordhc.errors import OrdhcWarning

DATA = Path(__file__).parents[1] / "docs" / "data"
#: Data sets that are drawn are drawn so many times; the table has means.
DRAWS = 5
PREPARED = {
    "as given": lambda X: X,
    "centred": lambda X: X - X.mean(axis=0),
    "standardised": lambda X: (X - X.mean(axis=0)) / np.where(X.std(axis=0) == 0, 1, X.std(axis=0)),
}
METHODS = {
    "ward": {"similarity": "euclidean", "linkage": "ward"},
    "euclidean, average": {"similarity": "euclidean", "linkage": "average"},
    "cosine-al": {"method": "cosine-al"},
    "dot-al": {"method": "dot-al"},
    "pca-dot": {"similarity": "pca-dot"},
}


def of_csv(name, skipped, label):
    """The columns of numbers, and the classes."""
    with (DATA / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = [column for column in rows[0] if column not in (label, *skipped)]
    X = np.array([[float(row[column]) for column in columns] for row in rows])
    return X, [row[label] for row in rows]


def blobs(p, spread, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, 500)
    return rng.normal(scale=spread, size=(5, p))[labels] + rng.normal(size=(500, p)), labels


def tree(seed, least, most, p=1000):
    rng = np.random.default_rng(seed)
    means = np.zeros((1, p)) + rng.normal(size=p)
    for _ in range(3):
        means = np.repeat(means, 2, axis=0)
        means = means + rng.normal(size=means.shape)
    labels = rng.integers(0, 8, 400)
    noise = rng.uniform(least, most, size=(400, 1))
    return means[labels] + noise * rng.normal(size=(400, p)), labels


def data_sets():
    """By name the draws of a data set."""
    found = {
        "Iris": [load_iris(return_X_y=True)],
        "Wine": [load_wine(return_X_y=True)],
        "Digits": [load_digits(return_X_y=True)],
        "Zoo": [of_csv("zoo", ("name", "class_type"), "class")],
        "Glass": [of_csv("glass", (), "Type")],
    }
    for name, draw in {
        "blobs, p = 2": lambda seed: blobs(2, 6.0, seed),
        "blobs, p = 50": lambda seed: blobs(50, 1.0, seed),
        "tree, equal noise": lambda seed: tree(seed, 6, 6),
        "tree, unequal noise": lambda seed: tree(seed, 2, 10),
    }.items():
        found[name] = [draw(seed) for seed in range(DRAWS)]
    return found


def aris(draws, prepare, keywords):
    found = []
    for X, labels in draws:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrdhcWarning)
            vectors = prepare(np.asarray(X, dtype=float))
            if "pca-dot" in keywords.values():
                keywords = keywords | {"n_components": min(10, vectors.shape[1])}
            d = ordhc.cluster(vectors, **keywords)
        found.append(ordhc.metrics.ari(d, labels))
    return np.mean(found)


def main():
    sets = data_sets()
    rows = [
        (name, preparation, *(f"{aris(draws, prepare, keywords):.2f}" for draws in sets.values()))
        for name, keywords in METHODS.items()
        for preparation, prepare in PREPARED.items()
        # Distances are the same once vectors are centred.
        if preparation != "centred" or "euclidean" not in keywords.values()
    ]
    table(("method", "vectors", *sets), rows)


if __name__ == "__main__":
    main()
