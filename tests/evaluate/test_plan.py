"""How many answers a study needs: the shipped table, what is read off it, and fresh studies beside it."""

import csv
import itertools
import json
import math
from importlib.resources import files

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.evaluate.measured import crossing, not_falling
from support.processes import run

ROWS = list(csv.DictReader((files("ordhc") / "plans" / "answers.csv").read_text("utf-8").splitlines()))
ITEMS, ACCURACIES = (sorted({float(row[key]) for row in ROWS}) for key in ("items", "accuracy"))
METHODS = sorted({row["method"] for row in ROWS})
NOISES = ("close", "constant", "lengths")


def test_the_table_has_no_holes():
    assert {"uncertain", "posterior-al"} < set(METHODS)
    assert (ITEMS[0], ACCURACIES[0], ACCURACIES[-1]) == (12, 0.6, 1)
    for method in METHODS:
        checks = {row["answers_per_item"] for row in ROWS if row["method"] == method}
        found = [
            (row["items"], row["accuracy"], row["noise"], row["answers_per_item"])
            for row in ROWS
            if row["method"] == method
        ]
        assert len(found) == len(set(found)) == len(ITEMS) * len(ACCURACIES) * len(NOISES) * len(checks)
    for row in ROWS:
        assert int(row["runs"]) >= 2
        for score in ("aari", "heldout"):
            low, mean, high = (float(row[score + end]) for end in ("_low", "", "_high"))
            assert -0.5 <= low <= mean + 1e-4 <= high + 2e-4 <= 1.001
        # Nobody tells more than a few answers beyond what chance allows than those who answer do.
        assert float(row["heldout"]) <= float(row["accuracy"]) + 0.05


def measured(method, noise, n, accuracy, column):
    rows = [
        row
        for row in ROWS
        if (row["method"], row["noise"]) == (method, noise)
        and (float(row["items"]), float(row["accuracy"])) == (n, accuracy)
    ]
    rows.sort(key=lambda row: float(row["answers_per_item"]))
    return [(float(row["answers_per_item"]), float(row[column])) for row in rows]


@pytest.mark.parametrize("noise", NOISES)
def test_where_it_was_measured_it_says_what_was_measured(noise):
    for n, accuracy in itertools.product(ITEMS, ACCURACIES):
        found = ordhc.plan(int(n), accuracy, 0.8, noise=noise)
        for way in found.ways:
            curve = measured(way.method, noise, n, accuracy, "aari")
            values = [value for _, value in curve]
            if values != sorted(values):
                continue
            above = [at for at, (_, value) in enumerate(curve) if value >= 0.8]
            if not above:
                assert way.answers is None
                assert way.best == pytest.approx(values[-1], abs=1e-4)
            elif above[0] == 0:
                assert way.answers_per_leaf == curve[0][0]
            else:
                (a, low), (b, high) = curve[above[0] - 1], curve[above[0]]
                expected = a * (b / a) ** ((0.8 - low) / (high - low))
                assert way.answers_per_leaf == pytest.approx(expected, abs=1e-3)
                assert way.answers == pytest.approx(expected * n, abs=1)


def by_least_squares(values):
    """The twin of `not_falling`: the largest of smallest means (Robertson, Wright & Dykstra 1988)."""
    n = len(values)
    return [
        max(min(np.mean(values[a : b + 1]) for b in range(at, n)) for a in range(at + 1)) for at in range(n)
    ]


def test_curves_are_made_not_to_fall():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 8):
        for _ in range(20):
            values = rng.integers(0, 5, n).astype(float)
            np.testing.assert_allclose(not_falling(values), by_least_squares(values))
    assert crossing(np.array([2.0, 8.0]), np.array([0.2, 0.6]), 0.7) is None
    assert crossing(np.array([2.0, 8.0]), np.array([0.2, 0.6]), 0.1) == 2
    assert crossing(np.array([2.0, 8.0]), np.array([0.2, 0.6]), 0.6) == 8
    assert crossing(np.array([2.0, 4.0, 8.0]), np.array([0.2, 0.2, 0.6]), 0.4) == pytest.approx(4 * 2**0.5)


@pytest.mark.parametrize("noise", NOISES)
def test_more_is_needed_for_more(noise):
    for method in METHODS:
        answers = []
        for target in (0.3, 0.5, 0.7, 0.8, 0.9):
            way = ordhc.plan(25, 0.85, target, noise=noise)[method]
            answers.append(math.inf if way.answers is None else way.answers)
            if way.answers is not None:
                assert way.answers_low <= way.answers <= way.answers_high
                assert way.is_measured == (way.high <= way.most)
        assert answers == sorted(answers)
    found = ordhc.plan(25, 0.85, 0.8, noise=noise)
    needs = [way.answers_per_leaf or math.inf for way in found.ways]
    assert needs == sorted(needs)
    assert found["uncertain"].answers < found["posterior-al"].answers
    with pytest.raises(KeyError):
        found["nobody"]


@pytest.mark.parametrize("n", [30, 100])
def test_a_method_that_takes_all_leaves_for_typical_needs_more_if_some_are_not(n):
    close, lengths = (ordhc.plan(n, 0.8, 0.9, noise=noise) for noise in ("close", "lengths"))
    assert lengths["uncertain"].answers < lengths["posterior-al"].answers
    assert (lengths["adds3-al+spr"].answers or math.inf) > 1.2 * close["adds3-al+spr"].answers
    # The methods that learn lengths don't need many more.
    for method in ("uncertain", "posterior-al"):
        assert lengths[method].answers < 1.2 * close[method].answers


def test_the_text_says_which_noise_was_taken():
    for noise, kind in (
        ("close", "(close leaves confused more often), "),
        ("constant", "(all questions equally hard), "),
        ("lengths", "(close leaves confused more often, some leaves untypical), "),
    ):
        found = ordhc.plan(30, 0.8, noise=noise)
        assert kind in str(found).splitlines()[0]
        assert found.to_dict()["noise"] == noise
    with pytest.raises(InputError, match="noise is 'luce', not one of close, constant, lengths"):
        ordhc.plan(30, 0.8, noise="luce")


def test_a_score_just_below_the_target_does_not_look_like_the_target():
    way = ordhc.plan(100, 0.8, 0.9, noise="lengths")["adds3-al+spr"]
    assert way.answers is None
    assert 0.895 < way.best < 0.9
    assert "AARI 0.89 with these" in str(ordhc.plan(100, 0.8, 0.9, noise="lengths"))


def test_between_two_numbers_of_leaves_and_accuracies():
    """In between, nothing is beyond both ends by more than rounding."""
    for method in METHODS:
        one, middle, other = (
            ordhc.plan(n, accuracy, 0.7)[method].answers_per_leaf
            for n, accuracy in ((12, 0.8), (19, 0.85), (30, 0.9))
        )
        ends = [
            ordhc.plan(n, accuracy, 0.7)[method].answers_per_leaf for n in (12, 30) for accuracy in (0.8, 0.9)
        ]
        assert min(ends) - 1e-6 <= middle <= max(ends) + 1e-6
        assert {one, other} <= set(ends)


def test_every_number_has_an_upper_one():
    for n, accuracy, noise, method in itertools.product((12, 20, 30, 70), (0.6, 0.75, 0.9), NOISES, METHODS):
        way = ordhc.plan(n, accuracy, noise=noise)[method]
        assert (way.high is None) == (way.answers is None)
        if way.high is not None:
            assert way.answers_per_leaf < way.high <= 4 * way.most
    beyond = ordhc.plan(12, 0.8)["posterior-al"]
    assert not beyond.is_measured
    assert f"to about {beyond.high:.3g})" in str(ordhc.plan(12, 0.8))
    # A curve that doesn't rise enough: only a lower bound is known.
    never = ordhc.plan(12, 1.0)["adds3-al+spr"]
    assert never.high == 4 * never.most
    assert f"to more than {never.high:.3g})" in str(ordhc.plan(12, 1.0))


def test_items_between_others_need_as_many_answers_or_a_little_more():
    """No number of items stands out: groups of three or four are the hardest to tell, by a third at most."""
    for accuracy in (0.7, 0.8, 0.9):
        needs = [ordhc.plan(n, accuracy)["posterior-al"].answers_per_leaf for n in (20, 30, 50)]
        assert needs[1] < 1.35 * max(needs[0], needs[2])


def test_time_and_people():
    found = ordhc.plan(30, 0.8, 0.8, seconds=9, per_person=40)
    way = found.ways[0]
    assert way.hours == pytest.approx(way.answers * 9 / 3600)
    assert way.people == math.ceil(way.answers / 40)
    text = str(found)
    assert "An answer takes 9 s, a person gives 40." in text
    assert f"{way.answers:,} (" in text
    assert found.n_questions == 30 * 29 * 28 // 6


def test_beyond_what_was_measured():
    most = int(ITEMS[-1])
    with pytest.warns(OrdhcWarning, match=f"{most + 1} leaves are more than the {most}"):
        beyond = ordhc.plan(most + 1, 0.8, 0.8)
    within = ordhc.plan(most, 0.8, 0.8)
    assert [way.answers_per_leaf for way in beyond.ways] == [way.answers_per_leaf for way in within.ways]
    for n, accuracy, message in (
        (11, 0.8, "n_leaves = 11 is below 12, .* the 165 questions"),
        (10 * most + 1, 0.8, "times the largest number of leaves"),
        (20, 0.59, "accuracy = 0.59 is outside 0.6..1"),
        (20, 85, "give a share, such as 0.85"),
    ):
        with pytest.raises(InputError, match=message):
            ordhc.plan(n, accuracy)
    never = ordhc.plan(30, 0.6, 1.0, score="heldout")
    assert {way.answers for way in never.ways} == {None}
    assert "more than" in str(never)
    # Where there are fewer questions than answers people answer the same.
    assert "There are 220 different questions" in str(ordhc.plan(12, 0.6, 0.95))


def studied(n, answers, accuracy, seed):
    """The AARI of a fresh study: eight groups, `uncertain`, answers that are wrong by chance."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) * 8 // n)
    labels = np.stack([group // 4, group // 2, group], 1)
    level = (labels[:, None] == labels[None]).sum(axis=2)
    learner = ordhc.Learner(n, "uncertain", budget=answers, seed=seed)
    while not learner.done:
        asked = learner.ask(20)
        a, b, c = asked.rows.T
        near = np.stack([level[b, c], level[a, c], level[a, b]], 1) + rng.random((len(a), 3)) / 2
        odd = near.argmax(axis=1)
        wrong = rng.random(len(a)) > accuracy
        odd[wrong] = (odd[wrong] + rng.integers(1, 3, wrong.sum())) % 3
        learner.tell(asked.ids, odd)
    return ordhc.metrics.aari(learner.tree(), labels)


@pytest.mark.slow
def test_fresh_studies_reach_the_target():
    way = ordhc.plan(16, 0.85, 0.85, noise="constant")["uncertain"]
    enough = [studied(16, way.answers_high, 0.85, seed) for seed in range(4)]
    expected = [studied(16, way.answers, 0.85, seed) for seed in range(4)]
    few = [studied(16, max(3, way.answers_low // 2), 0.85, seed) for seed in range(4)]
    assert sum(score >= 0.85 for score in enough) >= 3
    assert np.mean(expected) > 0.75
    assert np.mean(few) < 0.8


def test_the_command(capsys):
    code, out, err = run(capsys, "plan", "--items", "25", "--accuracy", "0.85", "--target", "0.9")
    assert (code, err) == (0, "")
    assert out == f"{ordhc.plan(25, 0.85, 0.9)}\n"
    code, out, _ = run(capsys, "plan", "--items", "25", "--accuracy", "0.85", "--noise", "lengths")
    assert (code, out) == (0, f"{ordhc.plan(25, 0.85, noise='lengths')}\n")
    options = ["--noise", "constant", "--score", "heldout", "--seconds", "2", "--per-person", "9", "--json"]
    code, out, _ = run(capsys, "plan", "--items", "25", "--accuracy", "0.85", "--target", "0.8", *options)
    found = ordhc.plan(25, 0.85, 0.8, noise="constant", score="heldout", seconds=2, per_person=9)
    assert (code, json.loads(out)) == (0, json.loads(json.dumps(found.to_dict())))
    code, out, err = run(capsys, "plan", "--items", str(int(ITEMS[-1]) + 50), "--accuracy", "0.9")
    assert code == 0
    assert "warning" in err
    for options in (
        ["--items", "5", "--accuracy", ".8"],
        ["--items", "50"],
        ["--accuracy", ".8"],
        ["--items", "50", "--accuracy", ".8", "--noise", "luce"],
    ):
        assert run(capsys, "plan", *options)[0] == 2
