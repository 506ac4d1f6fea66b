"""What studies ask for: bootstrap, selection of methods, people, structure, plans. Numbers are rounded."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import ordhc
from digests.answers import odd, quadruplets, rows
from digests.listing import Listing, Rough, on_one_thread, outcome, roughly
from ordhc import datasets


def run(listing: Listing) -> None:
    """Add all lines about studies."""
    people = of_people()
    of_bootstraps(listing, people)
    of_selections(listing, people)
    of_structures(listing, people)
    of_plans(listing)
    of_datasets(listing)


def of_people() -> ordhc.Triplets:
    """Answers of eight people, two of whom answer at random."""
    who = np.arange(480) % 8
    answers = np.where(who[:, None] >= 6, rows(12, 480, 3, 9), odd(12, 480))
    return ordhc.Triplets.from_odd_one_out(answers, n_leaves=12, groups=who)


def of_bootstraps(listing: Listing, people: ordhc.Triplets) -> None:
    """Support, by answers and by people, with several methods and on an executor."""
    cases: dict[str, tuple[Any, dict[str, Any]]] = {
        "adds3": (people, {}),
        "of people": (people, {"unit": "group"}),
        "of answers": (people, {"unit": "answer", "confidence": 0.8}),
        "mulk3": (people, {"method": "mulk3-al"}),
        "preferences": (people, {"method": "3-al"}),
        "quadruplets": (quadruplets(12, 400), {}),
    }
    for name, (data, settings) in cases.items():
        call = lambda c=data, s=settings: boots(ordhc.bootstrap(c, n_resamples=20, seed=1, **s))
        found = outcome(call)
        listing.add(f"bootstrap {name}", Rough(found))
        listing.expect_equal(f"bootstrap {name} on one thread", found, outcome(on_one_thread(call)))


def boots(found: ordhc.results.Bootstrap) -> list[Any]:
    """What a bootstrap says."""
    scores = {key: found.scores[key] for key in sorted(found.scores)}
    return [
        found.tree,
        found.consensus,
        list(found.trees),
        scores,
        found.unanswered,
        found.unit,
        found.chance,
    ]


def of_selections(listing: Listing, people: ordhc.Triplets) -> None:
    """Methods that are compared on answers held out; not how long they take."""
    methods = ["adds3-al", "mulk3-al", "3-al", "adds3-al+spr"]
    for settings in ({}, {"by": "satisfied"}, {"unit": "group", "folds": 4}):
        call = lambda s=settings: selected(ordhc.select(people, methods, **{"folds": 3, **s}))
        found = outcome(call)
        listing.add(f"select {settings}", Rough(found))
        with ThreadPoolExecutor(2) as executor:
            other = outcome(
                lambda s=settings, e=executor: selected(
                    ordhc.select(people, methods, executor=e, **{"folds": 3, **s})
                )
            )
        listing.expect_equal(f"select {settings} by an executor", found, other)


def selected(found: ordhc.results.Selection) -> list[Any]:
    """What a selection says, but for seconds."""
    fields = [
        {key: value for key, value in vars_of(each).items() if key != "seconds"} for each in found.candidates
    ]
    return [fields, found.unit, found.by]


def vars_of(record: Any) -> dict[str, Any]:
    """The fields of a record."""
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


def of_structures(listing: Listing, people: ordhc.Triplets) -> None:
    """Is it a tree, and do people agree on one."""
    for name, data in (("answers", people), ("quadruplets", quadruplets(12, 300))):
        listing.add(f"structure {name}", roughly(lambda c=data: said(ordhc.structure(c, folds=2))))
    listing.add("groups of people", roughly(lambda: said(ordhc.people_groups(people, max_trees=2, folds=2))))
    listing.add("lengths of leaves", roughly(lambda: ordhc.similarities.leaf_lengths(people)))


def said(found: Any) -> str:
    """What is said in words; the numbers behind it depend on where an optimizer stops."""
    return str(found.verdict)


def of_plans(listing: Listing) -> None:
    """How many answers a study needs."""
    for n, accuracy, settings in (
        (20, 0.85, {}),
        (100, 0.7, {"noise": "constant"}),
        (40, 0.9, {"score": "heldout", "target": 0.8}),
        (12, 0.95, {"seconds": 8.0, "per_person": 40}),
    ):
        listing.add(
            f"plan {n} {accuracy} {settings}",
            roughly(lambda n=n, a=accuracy, s=settings: ordhc.plan(n, a, **s)),
        )


def of_datasets(listing: Listing) -> None:
    """The answers that come with the package, and planted ones."""
    for name, dataset in (("food", datasets.load_food()), ("car", datasets.load_car())):
        listing.add(f"dataset {name}", dataset.triplets)
        call = lambda c=dataset.triplets: ordhc.cluster(c, method="adds3-al+spr")
        listing.same(f"dataset {name} tree", call, on_one_thread(call))
    for settings in ({"quadruplets": True}, {"flip": 0.2}, {"permute": False, "sigma": 0.3}):
        made = lambda s=settings: ordhc.datasets.planted(500, leaves_per_cluster=5, seed=2, **s)
        listing.add(f"planted {settings}", roughly(made))
