"""Data sets that are given by hand, `--data NAME=PATH`, in the formats in which they are published."""

import csv
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import numpy as np

#: By data set: its name on the command line, and what PATH must be.
FORMATS = {
    "S&P 500": (
        "sp500",
        "a folder with all_stocks_5yr.csv (columns date, open, close, Name; one row a stock and day, as "
        "kaggle.com/datasets/camnugent/sandp500 has it) and labels.csv (columns Symbol, GICS Sector, "
        "GICS Sub-Industry, as Wikipedia's list of S&P 500 companies has it)",
    ),
    "Amazon reviews": (
        "amazon",
        "a CSV file with columns Text, Cat1, Cat2, Cat3, one row a review, such as train_40k.csv of "
        "kaggle.com/datasets/kashnitsky/hierarchical-text-classification",
    ),
}
#: By data set: where it is.
PATHS: dict[str, Path] = {}
#: Reviews that are drawn, as in the paper.
N_REVIEWS = 5000


def give(text: str) -> None:
    """Take NAME=PATH; ValueError if there is no such data set or no such file."""
    short, mark, path = text.partition("=")
    named = {own: name for name, (own, _) in FORMATS.items()}
    if not mark or short not in named:
        raise ValueError(f"{text!r} is not NAME=PATH with one of the names {', '.join(named)}")
    name = named[short]
    for file in _files(name, Path(path)):
        if not file.is_file():
            raise ValueError(f"{short}: there is no file {file}; PATH is {FORMATS[name][1]}")
    PATHS[name] = Path(path)


def _files(name: str, path: Path) -> list[Path]:
    return [path / "all_stocks_5yr.csv", path / "labels.csv"] if name == "S&P 500" else [path]


def why_missing(name: str) -> str:
    """Why a data set can't be used; empty if it is there."""
    if name in PATHS:
        return ""
    short, _ = FORMATS[name]
    return f"data set {name!r} is missing: give --data {short}=PATH (--list says which format)."


def fingerprint(name: str) -> list[int]:
    """The sizes of the files, so that results of other ones are not taken for theirs."""
    return [file.stat().st_size for file in _files(name, PATHS[name])] if name in PATHS else []


def load(name: str) -> tuple[Any, np.ndarray]:
    """Rows, and their nested labels."""
    return (sp500 if name == "S&P 500" else amazon)(PATHS[name])


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
    """TF-IDF of 5,000 reviews that are drawn with seed 0, and labels of three levels.

    Reviews of two words or less, and those whose third label is "unknown", are left out. English stop words
    are removed, and terms in fewer than 5 of the reviews or in more than all but 1,000.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    with _rows(path, ("Text", "Cat1", "Cat2", "Cat3")) as rows:
        kept = [row for row in rows if row["Cat3"] != "unknown" and len(row["Text"].split()) > 2]
    if len(kept) > N_REVIEWS:
        chosen = np.random.default_rng(0).choice(len(kept), N_REVIEWS, replace=False)
        kept = [kept[row] for row in chosen.tolist()]
    # Of small files, as tests have them, every word counts.
    bounds = {"min_df": 5, "max_df": len(kept) - 1000} if len(kept) > 2000 else {}
    X = TfidfVectorizer(stop_words="english", **bounds).fit_transform([row["Text"] for row in kept])
    return X.tocsr(), np.array([[row[f"Cat{level}"] for level in (1, 2, 3)] for row in kept])
