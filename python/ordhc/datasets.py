"""Data sets: answers of people that come with ordhc, and simulated data whose tree is known.

`load_car` and `load_food` return a `Dataset`, which is a dict whose items are also attributes, as
scikit-learn's data sets are. `planted` returns comparisons and labels, `planted_similarities` the
similarities that are compared. `random_tree` draws trees; `comparisons_of` draws comparisons of a tree or of
similarities, `vectors_of` draws vectors of a tree.

>>> from ordhc import datasets
>>> car = datasets.load_car()
>>> car
<Dataset car: 14,194 triplets of 60 leaves>
>>> car.licence
'MIT'
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.asking.planted import planted
from ordhc.asking.simulated import comparisons_of, planted_similarities, random_tree, vectors_of
from ordhc.comparison.comparisons import Triplets
from ordhc.io.answers import read_answers
from ordhc.io.columns import read_column
from ordhc.io.names import read_names

__all__ = [
    "Dataset",
    "comparisons_of",
    "load_car",
    "load_food",
    "planted",
    "planted_similarities",
    "random_tree",
    "vectors_of",
]


class Dataset(dict[str, Any]):
    """A data set: a dict whose items are attributes as well.

    Attributes
    ----------
    name
        What it is called.
    triplets
        The comparisons.
    names
        The names of the leaves, or None.
    description, DESCR
        What was asked, of whom, and where it comes from.
    citation
        What to cite who uses it.
    licence, license
        Under which licence the data are.
    url
        Where they come from.

    Notes
    -----
    What else a data set has is described where it is loaded; `dir()` and `keys()` list it.
    """

    def __getattr__(self, name: str) -> Any:
        aliases = {"DESCR": "description", "license": "licence"}
        try:
            return self[aliases.get(name, name)]
        except KeyError:
            raise AttributeError(f"the data set has no {name!r}; it has {', '.join(self)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self, "DESCR", "license"})

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (dict(self),)

    def __repr__(self) -> str:
        kind = "triplets" if "triplets" in self else "quadruplets"
        data = self[kind]
        return f"<Dataset {self['name']}: {len(data):,} {kind} of {data.n_leaves:,} leaves>"


def _shipped(name: str) -> AbstractContextManager[Path]:
    """A file of data as a path, wherever the package is."""
    from importlib.resources import as_file, files

    return as_file(files("ordhc") / "data" / name)


def _text(name: str) -> str:
    with _shipped(name) as path:
        return path.read_text(encoding="utf-8")


def load_food(*, repeats: bool = False) -> Dataset:
    """Which of 100 dishes are similar: 190,376 triplets (Wilber, Kwak & Belongie 2014).

    Parameters
    ----------
    repeats
        Count each triplet as often as it was said, 250,320 times in all, as its weight.

    Returns
    -------
    Dataset
        Its `triplets` are distinct, and each row is an answer.

    Examples
    --------
    >>> import ordhc
    >>> food = ordhc.datasets.load_food()
    >>> food
    <Dataset food: 190,376 triplets of 100 leaves>
    >>> food.names[2]
    'Chocolate Hazelnut Biscotti'
    """
    repeats = _checks.flag("repeats", repeats)
    with _shipped("food_names.csv") as path:
        names = read_names(path)
    with _shipped("food_triplets.csv.gz") as path:
        triplets = read_answers(path, names=names)
    assert isinstance(triplets, Triplets)
    if repeats:
        with _shipped("food_counts.csv.gz") as path:
            triplets = Triplets(triplets, weights=read_column(path, "count").astype(np.float64))
    return Dataset(
        name="food",
        triplets=triplets,
        names=names,
        description=_text("food.md"),
        citation="Michael J. Wilber, Iljung S. Kwak and Serge J. Belongie. Cost-effective HITs for relative "
        "similarity comparisons. HCOMP 2014.",
        licence="MIT",
        url="https://github.com/mperrot/AddS-Clustering",
    )


def load_car(*, reduced: bool = False) -> Dataset:
    """Which of three cars is the most central: 7,097 answers about 60 (Kleindessner & von Luxburg 2017).

    Parameters
    ----------
    reduced
        True for the 6,056 answers of the authors' file T_ALL_REDUCED.csv: without the persons who were wrong
        about the three cars that everybody was asked about, and with one answer for each three cars. This is
        the most frequent one; of equally frequent ones the car with the smallest number.

    Returns
    -------
    Dataset
        Its `triplets` carry the number of the answer and the round of the survey that each is from, which is
        one person's (`groups`). `labels` has what kind of car each is, (60,); `kind` is what was asked, as
        `ordhc.read_answers` calls it. Of the answers, (7097,), `answers` has columns: the `round`, the
        `central` car, those on the `left`, in the `middle` and on the `right`, and the `seconds` it took.

    Examples
    --------
    >>> import ordhc
    >>> car = ordhc.datasets.load_car()
    >>> car.triplets
    <Triplets: 14,194 of 60 leaves, 7097 answers, 146 groups>
    >>> car.labels[1], car.answers["seconds"].shape
    ('ORDINARY CARS', (7097,))
    >>> ordhc.datasets.load_car(reduced=True).triplets
    <Triplets: 12,112 of 60 leaves, 6056 answers>
    """
    with _shipped("car_names.csv") as path:
        names = read_names(path)
        labels = read_column(path, "class")
    columns = {
        "round": np.int64,
        "central": np.int64,
        "left": np.int64,
        "middle": np.int64,
        "right": np.int64,
    }
    with _shipped("car_answers.csv.gz") as path:
        triplets = read_answers(
            path,
            "most-central",
            ["left", "middle", "right"],
            "central",
            chosen_as="name",
            person="round",
            names=names,
        )
        answers = {
            name: read_column(path, name).astype(kind)
            for name, kind in {**columns, "seconds": np.float64}.items()
        }
    if reduced:
        triplets = Triplets.from_most_central(_reduced(answers), names=names)
    return Dataset(
        name="car",
        triplets=triplets,
        names=names,
        labels=labels.astype(object),
        kind="most-central",
        answers=answers,
        description=_text("car.md"),
        citation="Matthäus Kleindessner and Ulrike von Luxburg. Lens depth function and k-relative "
        "neighborhood graph: versatile tools for ordinal data analysis. Journal of Machine Learning Research "
        "18(58), 2017.",
        licence="MIT",
        url="https://github.com/mperrot/ComparisonHC",
    )


#: The three cars that everybody was asked about, of which the middle one is central.
_CONTROL = (14, 17, 52)


def _reduced(answers: dict[str, Any]) -> NDArray[np.int64]:
    """Return one answer for each three cars, (central, another, another), without persons who failed."""
    shown = np.sort(np.stack([answers[side] for side in ("left", "middle", "right")], axis=1), axis=1)
    failed = (shown == _CONTROL).all(axis=1) & (answers["central"] != _CONTROL[1])
    kept = ~np.isin(answers["round"], answers["round"][failed])
    triples, which = np.unique(shown[kept], axis=0, return_inverse=True)
    votes = np.zeros((len(triples), 3), dtype=np.int64)
    place = (shown[kept] == answers["central"][kept][:, None]).argmax(axis=1)
    np.add.at(votes, (which.ravel(), place), 1)
    # The first of equal counts is the car with the smallest number.
    order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[votes.argmax(axis=1)]
    return np.take_along_axis(triples, order, axis=1)


def __dir__() -> list[str]:
    return sorted(__all__)
