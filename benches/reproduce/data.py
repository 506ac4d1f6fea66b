"""Data sets: those of this repository, and those of the folder that ORDHC_DATA names."""

import csv
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import ordhc

#: The files of each data set in ORDHC_DATA, and what they hold. `python -m reproduce.fetch` makes them.
FILES = {
    "20 Newsgroups": {
        "newsgroups_train_counts.npz": "how often each of 23,251 terms is in each of the 11,314 documents of "
        "scikit-learn's `fetch_20newsgroups()`, in its order, as a CSR matrix (data, indices, indptr, shape)",
        "newsgroups_docs.csv": "for each document the columns target_name, its topic, and sample5000, its "
        "place in the authors' sample (-1: not in it)",
    },
    "MNIST": {"mnist_test_pixels.npz": "images (10000, 784) and labels of the test set, from OpenML"},
    "MNIST, t-SNE": {
        "mnist_tsne.csv.gz": "columns x, y and label of the 10,000 test images: the embedding in "
        "`resources` of github.com/jitaishik/Revenue_ComparisonHC"
    },
}
HERE = Path(__file__).parents[2] / "docs" / "data"
#: Topics of the authors' true ranking that belong together though their names begin differently.
_RELIGION = ("alt.atheism", "soc.religion.christian", "talk.religion.misc")
N_DOCUMENTS = 5000


def why_missing(name: str) -> str:
    """Say why a data set can't be used, with its name; empty if it is there."""
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
def newsgroups(draw: int = 0) -> tuple[Any, np.ndarray]:
    """Return TF-IDF of 5,000 documents and labels of two levels: draw 0 has the authors' sample, others new
    ones.

    As scikit-learn's TfidfVectorizer(min_df=5, max_df=4000) has it: terms in 5 to 4,000 of these documents,
    smoothed inverse document frequency, rows of length 1.
    """
    X = _newsgroups_counts()
    with _paths("20 Newsgroups")[1].open(newline="") as file:
        rows = list(csv.DictReader(file))
    chosen = np.random.default_rng([draw, 20]).choice(len(rows), N_DOCUMENTS, replace=False)
    if draw == 0:
        at = np.array([int(row["sample5000"]) for row in rows])
        chosen = np.flatnonzero(at >= 0)
        chosen = chosen[np.argsort(at[chosen])]
    names = [rows[row]["target_name"].split(".", 1) for row in chosen]
    return _tfidf(X[chosen]), np.array(names)


def _tfidf(X: Any) -> Any:
    from scipy import sparse

    n = X.shape[0]
    frequency = np.asarray((X > 0).sum(axis=0)).ravel()
    kept = (frequency >= 5) & (frequency <= n - 1000)
    X = X[:, kept] @ sparse.diags(np.log((1 + n) / (1 + frequency[kept])) + 1)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return (sparse.diags(1 / np.where(lengths == 0, 1, lengths)) @ X).tocsr()


def newsgroups_ranking(labels: np.ndarray) -> np.ndarray:
    """Return the authors' true ranking: row i ranks document j by how many groups of j's topic lack i's
    topic.

    Their matrix of 20 x 20 topics has up to three levels: pairs such as comp.sys.*, classes such as comp.*,
    all others. It counts levels from the topic in the row, and their code takes it transposed. Thereby
    misc.forsale, a class of its own, is as near to every topic as the nearest other one."""
    topics, at = np.unique([".".join(row) for row in labels.tolist()], return_inverse=True)
    steps = np.array(
        [[_steps(topic, other) for other in topics] for topic in topics.tolist()], dtype=np.float64
    )
    return steps[np.ix_(at, at)].T


def groups_of(topic: str) -> list[str]:
    """Return the groups of a topic in the authors' true ranking, the finest first."""
    if topic in _RELIGION:
        return ["religion"]
    parts = topic.split(".")
    pairs = {
        "comp.sys": "comp.sys",
        "rec.sport": "rec.sport",
        "rec.autos": "rec.a",
        "rec.motorcycles": "rec.a",
    }
    fine = pairs.get(".".join(parts[:2]))
    coarse = "talk.politics" if parts[:2] == ["talk", "politics"] else parts[0]
    return [] if topic == "misc.forsale" else [group for group in (fine, coarse) if group]


def _steps(topic: str, other: str) -> int:
    """How many levels above a topic another one is."""
    if topic == other:
        return 0
    return 1 + sum(group not in groups_of(other) for group in groups_of(topic))


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


def _table(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(newline="") as file:
        return list(csv.DictReader(file))


def _numbers(rows: Sequence[dict[str, str]], names: Sequence[str]) -> np.ndarray:
    return np.array([[float(row[name]) for name in names] for row in rows])


@lru_cache(maxsize=1)
def zoo() -> tuple[np.ndarray, np.ndarray]:
    """Return the 16 features of 100 animals, and their classes."""
    rows = _table("zoo.csv")
    features = [name for name in rows[0] if name not in ("name", "class_type", "class")]
    return _numbers(rows, features), np.array([[row["class"]] for row in rows])


def zoo_with_class() -> np.ndarray:
    """Return the features and the number of the class, which the authors' notebook takes too."""
    return np.column_stack([zoo()[0], _numbers(_table("zoo.csv"), ["class_type"])])


@lru_cache(maxsize=1)
def mnist(per_digit: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Pixels between 0 and 1 of the first images of each digit of the test set, and the digits."""
    with np.load(_paths("MNIST")[0]) as stored:
        images, digits = stored["images"], stored["labels"]
    rows = np.concatenate([np.flatnonzero(digits == digit)[:per_digit] for digit in range(10)])
    return images[rows].reshape(len(rows), -1) / 255.0, digits[rows][:, None].astype(np.int64)


@lru_cache(maxsize=1)
def glass() -> np.ndarray:
    """Return the 9 features of 214 pieces of glass."""
    rows = _table("glass.csv")
    return _numbers(rows, [name for name in rows[0] if name != "Type"])


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


def cars(*, reduced: bool = False) -> ordhc.Triplets:
    """Return the 14,194 triplets over 60 cars that ordhc brings, or the 12,112 of the reduced answers."""
    return ordhc.datasets.load_car(reduced=reduced).triplets


def food() -> ordhc.Triplets:
    """The 190,376 triplets over 100 dishes that ordhc brings."""
    return ordhc.datasets.load_food().triplets
