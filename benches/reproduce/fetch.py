"""Make the files of ORDHC_DATA from their public sources: `python -m reproduce.fetch FOLDER [NAME ...]`."""

import csv
import gzip
import io
import re
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import click
import numpy as np

from reproduce.data import N_DOCUMENTS

_AUTHORS = "https://raw.githubusercontent.com/jitaishik/Revenue_ComparisonHC/d820deb6e0cd485233b0f86103c1461d2f4da69e"
_REVIEWS = "https://raw.githubusercontent.com/anniegray52/dot_product_hierarchical/main/reviews/sample_df.csv"


def newsgroups(folder: Path) -> None:
    """Write counts of terms in the documents of scikit-learn's `fetch_20newsgroups()`, and their topics."""
    from sklearn.datasets import fetch_20newsgroups

    given = fetch_20newsgroups()
    counts = counted(given.data)
    np.savez_compressed(
        folder / "newsgroups_train_counts.npz",
        data=counts.data.astype(np.int32),
        indices=counts.indices,
        indptr=counts.indptr,
        shape=np.array(counts.shape),
        target=given.target,
    )
    topics = [given.target_names[target] for target in given.target]
    with (folder / "newsgroups_docs.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["row", "target_name", "sample5000"])
        rows.writerows(zip(range(len(topics)), topics, places_in_sample(len(topics)).tolist(), strict=True))


def counted(documents: list[str], bounds: tuple[int, float] = (5, 0.8)) -> Any:
    """Return how often each term is in each document, as a CSR matrix.

    E-mail addresses are removed, and English stop words; terms are in at least 5 and at most 80 % of the
    documents."""
    from sklearn.feature_extraction.text import CountVectorizer

    # The authors' pattern.
    texts = [re.sub(r"\S*@\S*\s?", "", document) for document in documents]
    least, most = bounds
    return CountVectorizer(stop_words="english", min_df=least, max_df=most).fit_transform(texts)


def places_in_sample(n: int) -> np.ndarray:
    """Return each document's place in pandas' `sample(n=5000, random_state=22)`, -1 if outside."""
    chosen = np.random.RandomState(22).choice(n, N_DOCUMENTS, replace=False)
    places = np.full(n, -1)
    places[chosen] = np.arange(N_DOCUMENTS)
    return places


def mnist(folder: Path) -> None:
    """Write the 10,000 test images, the last ones of OpenML's mnist_784."""
    from sklearn.datasets import fetch_openml

    given = fetch_openml("mnist_784", version=1, as_frame=False)
    images, labels = given.data[-10_000:].astype(np.uint8), given.target[-10_000:].astype(np.int64)
    np.savez_compressed(folder / "mnist_test_pixels.npz", images=images, labels=labels)


def tsne(folder: Path) -> None:
    """Write the embedding of the test images that the authors of the revenue paper publish."""
    points, labels = (
        np.loadtxt(io.StringIO(_read(f"{_AUTHORS}/resources/{name}")), delimiter=",", ndmin=2)
        for name in ("reduced_test_X.csv", "test_labels.csv")
    )
    with gzip.open(folder / "mnist_tsne.csv.gz", "wt") as file:
        np.savetxt(
            file,
            np.column_stack([points, labels.ravel()]),
            fmt="%.9g",
            delimiter=",",
            header="x,y,label",
            comments="",
        )


def amazon(folder: Path) -> None:
    """Write the authors' 5,000 reviews, for `--data amazon=FOLDER/amazon_reviews.csv`."""
    text = _read(_REVIEWS)
    assert Counter(next(csv.reader(io.StringIO(text)))) >= Counter(["Text", "Cat1", "Cat2", "Cat3"])
    (folder / "amazon_reviews.csv").write_text(text)


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


RECIPES = {"newsgroups": newsgroups, "mnist": mnist, "tsne": tsne, "amazon": amazon}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("names", nargs=-1, type=click.Choice(list(RECIPES)))
def main(folder: Path, names: tuple[str, ...]) -> None:
    """Make the files of data sets, by default all, in FOLDER: then set ORDHC_DATA to it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or RECIPES:
        click.echo(name)
        RECIPES[name](folder)


if __name__ == "__main__":
    main()
