"""Data sets that come with ordhc, and planted models."""

import pickle

import numpy as np
import pytest

import ordhc
from ordhc import datasets
from ordhc.errors import InputError
from ordhc.evaluate.ceiling import noise_ceiling

LOADED = {
    "food": datasets.load_food,
    "car": datasets.load_car,
}


@pytest.mark.parametrize("name", LOADED)
def test_each_says_what_it_is(name):
    found = LOADED[name]()
    assert found.name == name
    assert found.triplets is found["triplets"]
    assert found.description == found.DESCR
    assert found.license == found.licence
    for what in ("description", "citation", "licence", "url"):
        assert len(found[what]) > 2, what
    assert found.url.startswith("https://")
    assert {"triplets", "names", "DESCR", "citation"} <= set(dir(found))
    assert pickle.loads(pickle.dumps(found)).triplets == found.triplets
    with pytest.raises(AttributeError, match="the data set has no item 'target'; it has name, triplets"):
        _ = found.target


def test_car_keeps_answers_and_people():
    car = datasets.load_car()
    t = car.triplets
    assert (len(t), t.n_leaves, len(set(t.answers.tolist())), len(set(t.groups.tolist()))) == (
        14_194,
        60,
        7_097,
        146,
    )
    # Row by row from the columns: the central one and the two others, in the order of the screen.
    columns = [car.answers[name].tolist() for name in ("central", "left", "middle", "right", "round")]
    expected = []
    for central, *shown, who in zip(*columns, strict=True):
        one, other = [car for car in shown if car != central]
        expected += [((one, central, other), who), ((other, central, one), who)]
    assert list(zip(t, t.groups.tolist(), strict=True)) == expected
    assert car.answers["seconds"].min() > 0
    assert dict(zip(*np.unique(car.labels.astype(str), return_counts=True), strict=True)) == {
        "OFF-ROAD/SPORT UTILITY VEHICLES": 17,
        "ORDINARY CARS": 24,
        "OUTLIERS": 4,
        "SPORTS CARS": 15,
    }
    assert t.names == car.names
    assert noise_ceiling(t).n_answers > 1000


def test_food_counts_how_often_a_triplet_was_said():
    food, repeats = datasets.load_food(), datasets.load_food(repeats=True)
    assert food.triplets.weights is None
    assert repeats.triplets.weights.sum() == 250_320
    assert list(repeats.triplets[:1000]) == list(food.triplets[:1000])
    assert noise_ceiling(food.triplets).upper < noise_ceiling(repeats.triplets).upper < 1
    with pytest.raises(InputError, match="repeats = 'x'"):
        datasets.load_food(repeats="x")


def test_planted_models_have_comparisons_and_labels():
    given = {"levels": 2, "leaves_per_cluster": 4, "seed": 3}
    triplets, labels = datasets.planted(200, **given)
    assert (len(triplets), triplets.n_leaves, labels.shape) == (200, 16, (16, 2))
    pairs, again = datasets.planted(200, quadruplets=True, **given)
    assert isinstance(pairs, ordhc.Quadruplets)
    assert np.array_equal(labels, again)


def test_the_module_shows_what_is_public():
    assert dir(datasets) == [
        "Dataset",
        "comparisons_of",
        "load_car",
        "load_food",
        "planted",
        "planted_similarities",
        "random_tree",
        "vectors_of",
    ]
    assert ordhc.datasets is datasets
