"""Data sets, from the folder that the environment variable ORDHC_DATA names."""

import csv
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import ordhc

#: The files of each data set.
FILES = {
    "20 Newsgroups": ("newsgroups_train_counts.npz", "newsgroups_docs.csv"),
    "Zoo": ("zoo100.csv",),
    "Glass": ("glass.csv",),
    "MNIST": ("mnist_test_pixels.npz",),
    "MNIST, t-SNE": ("mnist_tsne.csv.gz",),
}


def why_missing(name: str) -> str:
    """Why a data set can't be used, with its name; empty if it is there."""
    folder = os.environ.get("ORDHC_DATA")
    if not folder:
        return f"data set {name!r} is missing: ORDHC_DATA is not set."
    lost = [file for file in FILES[name] if not (Path(folder) / file).is_file()]
    return f"data set {name!r} is missing: no {', '.join(lost)} in ORDHC_DATA." if lost else ""


def _paths(name: str) -> list[Path]:
    if reason := why_missing(name):
        raise FileNotFoundError(reason)
    return [Path(os.environ["ORDHC_DATA"]) / file for file in FILES[name]]


@lru_cache(maxsize=1)
def newsgroups() -> tuple[Any, np.ndarray]:
    """TF-IDF of the 5,000 documents that the paper sampled, and labels of two levels.

    As scikit-learn's TfidfVectorizer(min_df=5, max_df=4000) has it: terms in 5 to 4,000 of these documents,
    smoothed inverse document frequency, rows of length 1.
    """
    from scipy import sparse

    X = _newsgroups_counts()
    with _paths("20 Newsgroups")[1].open(newline="") as file:
        rows = list(csv.DictReader(file))
    at = np.array([int(row["sample5000"]) for row in rows])
    chosen = np.flatnonzero(at >= 0)
    chosen = chosen[np.argsort(at[chosen])]
    X = X[chosen]
    n = X.shape[0]
    frequency = np.asarray((X > 0).sum(axis=0)).ravel()
    kept = (frequency >= 5) & (frequency <= n - 1000)
    X = X[:, kept] @ sparse.diags(np.log((1 + n) / (1 + frequency[kept])) + 1)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.diags(1 / np.where(lengths == 0, 1, lengths)) @ X
    names = [rows[row]["target_name"].split(".", 1) for row in chosen]
    return X.tocsr(), np.array(names)


def _newsgroups_counts() -> Any:
    """Occurrences of terms (columns) in all documents (rows)."""
    from scipy import sparse

    with np.load(_paths("20 Newsgroups")[0]) as stored:
        parts = (stored["data"], stored["indices"], stored["indptr"])
        return sparse.csr_matrix(parts, shape=tuple(stored["shape"]), dtype=np.float64)


@lru_cache(maxsize=1)
def newsgroups_pca(n_components: int = 100) -> np.ndarray:
    """Scores of the first principal components of the words' counts in all documents, centred."""
    from scipy.sparse.linalg import LinearOperator, svds

    X = _newsgroups_counts()
    means = np.asarray(X.mean(axis=0)).ravel()
    centred = LinearOperator(
        X.shape,
        matvec=lambda v: X @ v.ravel() - means @ v.ravel(),
        rmatvec=lambda u: X.T @ u.ravel() - means * u.sum(),
        dtype=np.float64,
    )
    u, s, _ = svds(centred, n_components, v0=np.ones(min(X.shape)))
    return (u * s)[:, ::-1]


@lru_cache(maxsize=1)
def zoo() -> tuple[np.ndarray, np.ndarray]:
    """The 16 features of 100 animals, and their classes."""
    rows = _zoo_rows()
    features = [name for name in rows[0] if name not in ("name", "class_type", "class")]
    X = np.array([[float(row[name]) for name in features] for row in rows])
    return X, np.array([[row["class"]] for row in rows])


def zoo_with_class() -> np.ndarray:
    """The features of the animals and the number of their class, which the authors' notebook takes too."""
    return np.column_stack([zoo()[0], [float(row["class_type"]) for row in _zoo_rows()]])


def _zoo_rows() -> list[dict[str, str]]:
    with _paths("Zoo")[0].open(newline="") as file:
        return list(csv.DictReader(file))


@lru_cache(maxsize=1)
def mnist(per_digit: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Pixels between 0 and 1 of the first images of each digit of the test set, and the digits."""
    with np.load(_paths("MNIST")[0]) as stored:
        images, digits = stored["images"], stored["labels"]
    rows = np.concatenate([np.flatnonzero(digits == digit)[:per_digit] for digit in range(10)])
    return images[rows].reshape(len(rows), -1) / 255.0, digits[rows][:, None].astype(np.int64)


@lru_cache(maxsize=1)
def glass() -> np.ndarray:
    """The 9 features of 214 pieces of glass."""
    with _paths("Glass")[0].open(newline="") as file:
        return np.array([[float(value) for value in row[:9]] for row in list(csv.reader(file))[1:]])


@lru_cache(maxsize=1)
def mnist_tsne(seed: int = 0) -> np.ndarray:
    """200 images of each digit in the plane; with seed 0 those of the authors' notebook."""
    table = np.loadtxt(_paths("MNIST, t-SNE")[0], delimiter=",", skiprows=1)
    rows = []
    for digit in range(10):
        there = np.flatnonzero(table[:, 2] == digit)
        # As pandas draws in DataFrame.sample(n=200, random_state=seed).
        rows.append(there[np.random.RandomState(seed).choice(len(there), 200, replace=False)])
    return table[np.concatenate(rows), :2]


def scaled(X: np.ndarray) -> np.ndarray:
    """Each column from -1 to 1; constant ones are -1."""
    low, high = X.min(axis=0), X.max(axis=0)
    return 2 * (X - low) / np.where(high > low, high - low, 1) - 1


def cars() -> ordhc.Triplets:
    """The 14,194 triplets over 60 cars that ordhc brings."""
    return ordhc.datasets.load_car().triplets


def food() -> ordhc.Triplets:
    """The 190,376 triplets over 100 dishes that ordhc brings."""
    return ordhc.datasets.load_food().triplets
