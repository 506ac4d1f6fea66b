"""Whether dissent is told from answers at random."""

from collections import Counter

import numpy as np
import pytest

from ordhc import Quadruplets, Triplets
from ordhc.clustering.plan import Plan
from ordhc.comparison.rows import changed
from ordhc.comparison.units import answers_of, questions_of
from ordhc.evaluate.held_out import Answers, held_out
from ordhc.evaluate.people import standings
from ordhc.evaluate.views import _at_random, answers_needed, has_own_tree

N = 12


def answers_by(order, m, rng, right=0.85):
    """Odd ones out by a caterpillar: the leaf that comes last in an order, or a random one."""
    rank = np.argsort(order)
    rows = np.array([rng.permutation(N)[:3] for _ in range(m)])
    odd = rank[rows].argmax(axis=1)
    odd = np.where(rng.random(m) < right, odd, rng.integers(3, size=m))
    places = np.argsort(np.arange(3) != odd[:, None], axis=1, kind="stable")
    return np.take_along_axis(rows, places, axis=1)


def verdicts_of(others, m, seed):
    """What is said of eight people who share a tree, and of three others: "own", "shared" or "random"."""
    rng = np.random.default_rng(seed)
    most, second = rng.permutation(N), rng.permutation(N)
    orders = [most] * 8 + [second if others == "shared" else rng.permutation(N) for _ in range(3)]
    rows = [
        answers_by(order, m, rng, 0.85 if at < 8 or others != "random" else 0.0)
        for at, order in enumerate(orders)
    ]
    t = Triplets.from_odd_one_out(np.concatenate(rows), n_leaves=N, groups=np.repeat(np.arange(11), m))
    answers = Answers.of(t)
    apart = held_out(t, Plan.of(t, method="adds3-al"), answers, folds=5, seed=0, unit="group")
    said = {each.who: each.verdict for each in standings(t, answers, apart, seed=0)}
    return [said[str(person)] for person in range(8)], [said[str(person)] for person in range(8, 11)]


def counted(others, m, seeds=4):
    most, rest = Counter(), Counter()
    for seed in range(seeds):
        for counts, said in zip((most, rest), verdicts_of(others, m, seed), strict=True):
            counts.update(said)
    return most, rest


def test_who_answers_by_another_tree_does_not_look_random():
    for others in ("own", "shared"):
        most, rest = counted(others, 60, 6)
        assert most["as others"] >= 0.95 * most.total()
        assert rest["looks random"] + rest["unlike others"] <= 1
        # Another caterpillar may be like the first one.
        assert rest["another view"] > max(count for name, count in rest.items() if name != "another view")


def test_who_answers_at_random_is_still_found():
    most, rest = counted("random", 60)
    assert most["as others"] >= 0.95 * most.total()
    assert rest["looks random"] >= 0.7 * rest.total()


def test_few_answers_do_not_look_random():
    _, rest = counted("random", 24, 2)
    assert rest["looks random"] == 0
    assert rest["unlike others"] > 0


def test_answers_at_random_are_to_the_same_questions():
    rng = np.random.default_rng(0)
    rows = [rng.choice(8, 4, replace=False) for _ in range(12)]
    for data in (
        Triplets([row[:3] for row in rows], n_leaves=8),
        Triplets.from_odd_one_out([row[:3] for row in rows], n_leaves=8),
        Triplets.from_most_central([row[:3] for row in rows], n_leaves=8),
        Triplets.from_ranking(rows, n_leaves=8),
        Quadruplets(rows, n_leaves=8),
    ):
        made = _at_random(data, rng)
        both = changed(
            data,
            rows=np.concatenate([data.rows, made.rows]),
            answers=np.concatenate([answers_of(data), answers_of(data) + 1000]),
        )
        question, content = questions_of(both)
        m = len(data)
        assert (question[:m] == question[m:]).all()
        assert 0.1 < (content[:m] != content[m:]).mean() <= 1
        drawn = np.stack([_at_random(data, rng).rows for _ in range(300)])
        # Every way to answer comes up alike.
        ways, counts = np.unique(drawn[:, answers_of(data) == 0].reshape(300, -1), axis=0, return_counts=True)
        assert counts.min() > 0.6 * 300 / len(ways)


@pytest.mark.parametrize("is_odd", [False, True])
def test_random_answers_seldom_have_a_tree_of_their_own(is_odd):
    rng = np.random.default_rng(1)
    found = 0
    for seed in range(24):
        rows = [rng.choice(N, 3, replace=False) for _ in range(40)]
        t = Triplets.from_odd_one_out(rows, n_leaves=N) if is_odd else Triplets(rows, n_leaves=N)
        found += has_own_tree(t, seed)
    # One in twenty, and three standard deviations.
    assert found <= 1.2 + 3 * 1.07
    assert answers_needed(t) == N * (3 if is_odd else 8)
    assert not has_own_tree(Triplets([(0, 1, 2)]), 0)


def test_the_same_seed_gives_the_same_verdicts():
    assert verdicts_of("own", 30, 2) == verdicts_of("own", 30, 2)
