"""Data sets, from the folder that the environment variable ORDHC_DATA names."""

import csv
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

#: The files of each data set.
FILES = {
    "20 Newsgroups": ("newsgroups_train_counts.npz", "newsgroups_docs.csv"),
    "Zoo": ("zoo100.csv",),
    "MNIST": ("mnist_test_pixels.npz",),
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

    counts, documents = _paths("20 Newsgroups")
    with np.load(counts) as stored:
        parts = (stored["data"], stored["indices"], stored["indptr"])
        X = sparse.csr_matrix(parts, shape=tuple(stored["shape"]), dtype=np.float64)
    with documents.open(newline="") as file:
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


@lru_cache(maxsize=1)
def zoo() -> tuple[np.ndarray, np.ndarray]:
    """The 16 features of 100 animals, and their classes."""
    with _paths("Zoo")[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    features = [name for name in rows[0] if name not in ("name", "class_type", "class")]
    X = np.array([[float(row[name]) for name in features] for row in rows])
    return X, np.array([[row["class"]] for row in rows])


@lru_cache(maxsize=1)
def mnist(per_digit: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Pixels between 0 and 1 of the first images of each digit of the test set, and the digits."""
    with np.load(_paths("MNIST")[0]) as stored:
        images, digits = stored["images"], stored["labels"]
    rows = np.concatenate([np.flatnonzero(digits == digit)[:per_digit] for digit in range(10)])
    return images[rows].reshape(len(rows), -1) / 255.0, digits[rows][:, None].astype(np.int64)
