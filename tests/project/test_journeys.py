"""Common calls do not jump between many files, so that a reader can follow them."""

from functools import partial

import numpy as np
import pytest

import ordhc
from ordhc.cli import group
from support.journeys import Journey

NAMES = [f"item{leaf}" for leaf in range(20)]


def answers():
    random = np.random.default_rng(0)
    place = random.normal(size=(20, 2))
    rows = np.array([random.permutation(20)[:3] for _ in range(600)])
    near, far = (np.linalg.norm(place[rows[:, 0]] - place[rows[:, at]], axis=1) for at in (1, 2))
    turned = (near > far) != (random.random(600) < 0.2)
    rows[turned] = rows[turned][:, [0, 2, 1]]
    return ordhc.Triplets(rows, names=NAMES)


def in_command(folder):
    file, tree = folder / "answers.csv", folder / "tree.nwk"
    ordhc.write_comparisons(answers(), file)
    command = ["cluster", str(file), "-o", str(tree), "-q"]
    return lambda: group(command, standalone_mode=False)


def clustering(_):
    data = answers()
    return lambda: ordhc.cluster(data)


def drawing(_):
    data = answers()
    return lambda: ordhc.posterior(data)


def session(folder):
    found = ordhc.Session(folder / "answers.ordhc", NAMES)
    for at in range(30):
        found.tell(found.ask(who=f"p{at % 3}").ids, [0], who=f"p{at % 3}")
    return found


def asking(folder):
    return partial(session(folder).ask, who="p1")


def telling(folder):
    found = session(folder)
    questions = iter([found.ask(who=who).ids for who in ("p1", "p2")])
    return lambda: found.tell(next(questions), [0], who="p1")


@pytest.mark.parametrize(
    ("prepared", "most"),
    [
        (in_command, 118),
        (clustering, 57),
        (drawing, 42),
        (asking, 16),
        (telling, 15),
    ],
    ids=["ordhc cluster", "cluster", "posterior", "ask", "tell"],
)
def test_calls_stay_in_few_files(tmp_path, prepared, most):
    call = prepared(tmp_path)
    call()
    with Journey(ordhc) as journey:
        call()
    assert 0 < journey.changes <= most
