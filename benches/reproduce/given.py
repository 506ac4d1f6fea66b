"""Data sets that are given by hand, `--data NAME=PATH`, in the formats in which they are published."""

import csv
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

import ordhc


class Format(NamedTuple):
    """How a data set is called on the command line, what PATH must be, and its files if PATH is a folder."""

    name: str
    what: str
    files: tuple[str, ...] = ()


_ANSWERS = "a CSV file without header, a row for each answer: "
_ODD = _ANSWERS + "the item that is the odd one out, then the two others, numbered from 0"
FORMATS = {
    "S&P 500": Format(
        "sp500",
        "a folder with all_stocks_5yr.csv (columns date, open, close, Name; one row a stock and day, as "
        "kaggle.com/datasets/camnugent/sandp500 has it) and labels.csv (columns Symbol, GICS Sector, "
        "GICS Sub-Industry, as Wikipedia's list of S&P 500 companies has it)",
        ("all_stocks_5yr.csv", "labels.csv"),
    ),
    "Amazon reviews": Format(
        "amazon",
        "reviews/sample_df.csv of github.com/anniegray52/dot_product_hierarchical, the authors' 5,000 "
        "reviews, lemmatised and without stop words (columns Text, Cat1, Cat2, Cat3)",
    ),
    "Zebrafish": Format(
        "zebrafish",
        "a .npz file with X, (n, p) gene counts processed as in the paper, and labels, (n, levels), the "
        "coarsest first",
    ),
    "Vogue": Format("vogue", _ODD),
    "Nature": Format("nature", _ODD),
    "Imagenet": Format(
        "imagenet",
        _ANSWERS + "the reference, the most similar item, the second most similar, then the six others",
    ),
}
#: By data set: where it is.
PATHS: dict[str, Path] = {}


def give(text: str) -> None:
    """Take NAME=PATH; ValueError if there is no such data set or no such file."""
    short, mark, path = text.partition("=")
    named = {form.name: name for name, form in FORMATS.items()}
    if not mark or short not in named:
        raise ValueError(f"{text!r} is not NAME=PATH with one of the names {', '.join(named)}")
    name = named[short]
    for file in _files(name, Path(path)):
        if not file.is_file():
            raise ValueError(f"{short}: there is no file {file}; PATH is {FORMATS[name].what}")
    PATHS[name] = Path(path)


def _files(name: str, path: Path) -> list[Path]:
    return [path / file for file in FORMATS[name].files] or [path]


def why_missing(name: str) -> str:
    """Why a data set can't be used; empty if it is there."""
    if name in PATHS:
        return ""
    return f"data set {name!r} is missing: give --data {FORMATS[name].name}=PATH (--list says which format)."


def fingerprint(name: str) -> list[int]:
    """The sizes of the files, so that results of other ones are not taken for theirs."""
    return [file.stat().st_size for file in _files(name, PATHS[name])] if name in PATHS else []


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return rows, and their nested labels."""
    return {"S&P 500": sp500, "Amazon reviews": amazon, "Zebrafish": zebrafish}[name](PATHS[name])


@lru_cache(maxsize=1)
def answers(name: str) -> ordhc.Triplets:
    """Return the triplets of people's answers."""
    rows = np.loadtxt(PATHS[name], delimiter=",", dtype=np.int64, ndmin=2)
    if name == "Imagenet":
        return ordhc.Triplets.from_ranking(rows, n_ranked=2)
    return ordhc.Triplets.from_odd_one_out(rows)


@contextmanager
def _rows(path: Path, columns: tuple[str, ...]) -> "Iterator[csv.DictReader[str]]":
    """The rows of a table that must have some columns."""
    file: TextIO
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        rows = csv.DictReader(file)
        lost = [name for name in columns if name not in (rows.fieldnames or ())]
        if lost:
            raise ValueError(f"{path}: there is no column {lost[0]!r}; there are {rows.fieldnames}")
        yield rows


@lru_cache(maxsize=1)
def sp500(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Daily returns (close - open) / open, and sector and sub-industry.

    Stocks that lack a price on one of the days, or labels, are left out.
    """
    columns = ("Symbol", "GICS Sector", "GICS Sub-Industry")
    with _rows(folder / "labels.csv", columns) as rows:
        labels = {row["Symbol"]: (row["GICS Sector"], row["GICS Sub-Industry"]) for row in rows}
    returns: dict[str, dict[str, float]] = {}
    days: dict[str, None] = {}
    with _rows(folder / "all_stocks_5yr.csv", ("date", "open", "close", "Name")) as rows:
        for row in rows:
            days[row["date"]] = None
            if row["open"] and row["close"]:
                opening = float(row["open"])
                returns.setdefault(row["Name"], {})[row["date"]] = (float(row["close"]) - opening) / opening
    names = [name for name, found in returns.items() if len(found) == len(days) and name in labels]
    if len(names) < 3:
        raise ValueError(f"{folder}: {len(names)} stocks have prices on all {len(days)} days and labels")
    order = sorted(days)
    X = np.array([[returns[name][day] for day in order] for name in names])
    return X, np.array([labels[name] for name in names])


@lru_cache(maxsize=1)
def amazon(path: Path) -> tuple[Any, np.ndarray]:
    """Return TF-IDF of the reviews, of terms in 3 to all but 500 of them, and labels of three levels."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    with _rows(path, ("Text", "Cat1", "Cat2", "Cat3")) as table:
        rows = list(table)
    # Of small files, as tests have them, every word counts.
    bounds = {"min_df": 3, "max_df": len(rows) - 500} if len(rows) > 1000 else {}
    X = TfidfVectorizer(**bounds).fit_transform([row["Text"] for row in rows])
    return X.tocsr(), np.array([[row[f"Cat{level}"] for level in (1, 2, 3)] for row in rows])


def amazon_ranking(labels: np.ndarray) -> np.ndarray:
    """Return the authors' true distances: 3 less the labels that two reviews share, at whatever level."""
    names, at = np.unique(labels, return_inverse=True)
    has = np.zeros((len(labels), len(names)), dtype=np.float32)
    has[np.arange(len(labels))[:, None], at.reshape(labels.shape)] = 1
    return 3.0 - (has @ has.T).astype(np.float64)


def zebrafish(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return cells by genes, and labels."""
    with np.load(path) as stored:
        return stored["X"].astype(np.float64), stored["labels"]
