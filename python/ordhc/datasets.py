"""Data sets: real answers of people, and simulated data with a known tree.

`load_car` and `load_food` return a `Dataset`, a dict whose items are also attributes, as in scikit-learn.
`planted` returns simulated comparisons and the true labels, and `planted_similarities` returns the
similarities that `planted` compares. `random_tree` draws a tree. `comparisons_of` draws comparisons from a
tree or from similarities, and `vectors_of` draws vectors from a tree.

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
from ordhc.asking.simulated import comparisons_of, planted, planted_similarities, random_tree, vectors_of
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
__dir__ = __all__.copy


class Dataset(dict[str, Any]):
    """A data set: a dict whose items are also attributes.

    Attributes
    ----------
    name
        The name of the data set.
    triplets
        The comparisons.
    names
        The names of the leaves, or None.
    description, DESCR
        A description: the question, the people, and the source.
    citation
        The publication to cite.
    licence, license
        The licence of the data.
    url
        The web address of the source.

    Notes
    -----
    Further items are described in the function that loads the data set; `dir()` and `keys()` list them.
    """

    def __getattr__(self, name: str) -> Any:
        aliases = {"DESCR": "description", "license": "licence"}
        try:
            return self[aliases.get(name, name)]
        except KeyError:
            raise AttributeError(f"the data set has no item {name!r}; it has {', '.join(self)}") from None

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
    from importlib.resources import as_file, files

    return as_file(files("ordhc") / "data" / name)


def _text(name: str) -> str:
    with _shipped(name) as path:
        return path.read_text(encoding="utf-8")


def load_food(*, repeats: bool = False) -> Dataset:
    """Return 190,376 triplets about the similarity of 100 dishes (Wilber, Kwak & Belongie 2014).

    Parameters
    ----------
    repeats
        `True` gives each triplet a weight, the number of times that it was answered; the weights sum to
        250,320. By default the triplets have no weights.

    Returns
    -------
    Dataset
        The data set. Its `triplets` are distinct. Without `repeats` each row counts as one answer.

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
    """Return 7,097 answers to "which of three cars is the most central?" (Kleindessner & von Luxburg 2017).

    There are 60 cars.

    Parameters
    ----------
    reduced
        True returns the 6,056 answers of the authors' file T_ALL_REDUCED.csv, by default False. The file
        leaves out people who were wrong about the three cars that every person was asked about. For each
        three cars the file has the most frequent answer. Ties go to the car with the smallest number.

    Returns
    -------
    Dataset
        The data set, with these items besides those of every `Dataset`:

        * `triplets`: two for each answer, with the number of the answer. The `groups` are the rounds of the
          survey; one person answered each round.
        * `labels`: (60,) the class of each car, such as "ORDINARY CARS".
        * `kind`: the kind of question, as in the argument `kind` of `ordhc.read_answers`.
        * `answers`: columns of length 7,097: the `round`, the `central` car, the cars on the `left`, in the
          `middle` and on the `right`, and the duration in `seconds`.

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
            name: read_column(path, name).astype(np.float64 if name == "seconds" else np.int64)
            for name in ("round", "central", "left", "middle", "right", "seconds")
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


#: The three cars of the control question, which every person was asked. The second car is the right answer.
_CONTROL = (14, 17, 52)


def _reduced(answers: dict[str, Any]) -> NDArray[np.int64]:
    """Return the most frequent answer for each three cars: (m, 3), the central car first.

    Rounds with a wrong answer to the control question are left out.
    """
    shown = np.sort(np.stack([answers[side] for side in ("left", "middle", "right")], axis=1), axis=1)
    failed = (shown == _CONTROL).all(axis=1) & (answers["central"] != _CONTROL[1])
    kept = ~np.isin(answers["round"], answers["round"][failed])
    triples, which = np.unique(shown[kept], axis=0, return_inverse=True)
    votes = np.zeros((len(triples), 3), dtype=np.int64)
    place = (shown[kept] == answers["central"][kept][:, None]).argmax(axis=1)
    np.add.at(votes, (which.ravel(), place), 1)
    # If counts are equal, argmax returns the first, the car with the smallest number.
    order = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]])[votes.argmax(axis=1)]
    return np.take_along_axis(triples, order, axis=1)
