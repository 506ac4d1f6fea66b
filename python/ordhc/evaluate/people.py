"""Measure how well people agree with each other, and with trees made from other people's answers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Comparisons
from ordhc.comparison.units import numbered
from ordhc.evaluate.held_out import Answers, HeldOut
from ordhc.evaluate.intervals import wilson
from ordhc.evaluate.views import answers_needed, has_own_tree, shares_tree

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """How often two answers to the same question are equal.

    `between` is a mean over the `n_between` answers to questions that other people answered, too: the share
    of these people who give the same answer. If people are unknown, all other answers to the question count.
    `within` and `n_within` compare a person's answer with the person's own other answers. `chance` is the
    expected `between` of random answers; None if questions differ in the number of possible answers. Means
    without answers are None.
    """

    between: float | None
    n_between: int
    within: float | None
    n_within: int
    chance: float | None


@dataclass(frozen=True)
class Standing:
    """How the answers of one person compare with those of other people.

    Attributes
    ----------
    who
        The person's name, or number.
    n_answers
        The number of the person's answers that are used.
    accuracy, low, high
        The share of these answers that trees made without them satisfy, and its 95% interval (Wilson). There
        is no correction for the number of people: of 100 people with the same tree, about five are outside of
        their intervals.
    at_random
        The expected accuracy if the person had answered at random.
    agreement, n_shared
        The mean share of other people who gave the same answer to the same question, and the number of the
        person's answers to questions that others answered, too. `agreement` is None if `n_shared` is 0.
    verdict
        * "as others": the trees of others predict this person's answers as well as other people's;
        * "below others": better than chance, but worse than other people's;
        * "another view": no better than chance by the trees of others, but the answers agree with each other,
          or with other people of this verdict, more than random answers do. `ordhc.people_groups` finds such
          groups and their trees;
        * "unlike others": no better than chance by the trees of others, and too few answers to distinguish
          another view from random answers;
        * "looks random": enough answers, but they follow no tree;
        * "below chance": worse than chance by the trees of others;
        * "too few answers": the interval contains both chance and the accuracy of other people.
    """

    who: str
    n_answers: int
    accuracy: float
    low: float
    high: float
    at_random: float
    agreement: float | None
    n_shared: int
    verdict: str


def agreement_of(answers: Answers, n_leaves_asked: NDArray[np.int64]) -> Agreement:
    """Return the agreement over all pairs of answers to the same question.

    `n_leaves_asked` is (a,), the number of different leaves of each answer.
    """
    question, content, person = answers.question, answers.content, answers.person
    # People are unknown: treat every answer as by a different person.
    codes = np.arange(len(answers)) if person is None else numbered(person)[0]
    total, same = _counted(question) - 1, _counted(question, content) - 1
    own, own_same = _counted(question, codes) - 1, _counted(question, content, codes) - 1
    single = answers.sizes == 1
    chance = None
    if single.all():
        chance = 1 / 2
    elif ((answers.sizes == 2) & (n_leaves_asked == 3)).all():
        chance = 1 / 3
    between, n_between = _mean(same - own_same, total - own)
    within, n_within = _mean(own_same, own)
    return Agreement(between, n_between, within, n_within, chance)


def _mean(same: Floats, others: Floats) -> tuple[float | None, int]:
    some = others > 0
    return (float((same[some] / others[some]).mean()) if some.any() else None), int(some.sum())


def standings(data: Comparisons, answers: Answers, found: HeldOut, *, seed: int = 0) -> list[Standing]:
    """Return a `Standing` for each person, the least accurate first.

    A person is unlike others if three conditions hold. The accuracy is nearer to that of random answers than
    to that of the others. The interval contains the accuracy of random answers. The interval is below the
    lower limit of the others' accuracy. Then `ordhc.evaluate.views` tests whether this person follows another
    tree.

    An answer of several rows is satisfied in part if the tree satisfies some of its rows. A tree satisfies
    at most one of the two rows of "B is the most central of A, B and C", so answers of this kind are never
    satisfied fully. Therefore accuracies are divided by the largest satisfied share of a single
    answer before intervals are computed.

    `found` has the predictions of `answers` by trees made without them. `seed` is for the random answers with
    which the answers of people unlike others are compared.
    """
    person, names = answers.person, data.group_names
    if person is None:
        return []
    codes, distinct = numbered(person)
    count = np.bincount(codes).astype(np.float64)
    hits = np.bincount(codes, found.satisfied)
    accuracy, at_random = hits / count, np.bincount(codes, found.at_random) / count
    most = float(found.satisfied.max()) or 1.0
    low, high = most * wilson(accuracy / most, count)
    rest = np.maximum(count.sum() - count, 1)
    # Use the lower limit, because the accuracy of the other people is only an estimate.
    others = most * wilson((hits.sum() - hits) / rest / most, rest)[0]
    shares, n_shared = _agreements(answers, codes)
    apart = high < others
    is_near = (low <= at_random) & (accuracy - at_random < others - accuracy)
    verdicts = np.select(
        [high < at_random, is_near & apart, apart, low <= at_random],
        ["below chance", "unlike others", "below others", "too few answers"],
        "as others",
    ).tolist()
    unlike = [k for k, verdict in enumerate(verdicts) if verdict == "unlike others"]
    of_rows = codes[answers.of_row]
    shared = shares_tree(data, of_rows, unlike, at_random[unlike])
    for k in unlike:
        own = data[of_rows == k]
        if shared[k] or has_own_tree(own, seed + k):
            verdicts[k] = "another view"
        elif count[k] >= answers_needed(own):
            verdicts[k] = "looks random"
    ranked = []
    for k in np.lexsort((-count, accuracy)).tolist():
        number = int(distinct[k])
        ranked.append(
            Standing(
                str(number) if names is None else names[number],
                int(count[k]),
                float(accuracy[k]),
                float(low[k]),
                float(high[k]),
                float(at_random[k]),
                float(shares[k]) if n_shared[k] else None,
                int(n_shared[k]),
                verdicts[k],
            )
        )
    return ranked


def _agreements(answers: Answers, codes: Numbers) -> tuple[Floats, Numbers]:
    """Return, for each person, the mean share of others with the same answer, and the number of answers.

    Only answers to questions that other people answered, too, are counted.
    """
    question, content = answers.question, answers.content
    others = _counted(question) - _counted(question, codes)
    same = _counted(question, content) - _counted(question, content, codes)
    some = others > 0
    share = np.divide(same, others, out=np.zeros(len(codes)), where=some)
    size = int(codes.max()) + 1
    shared = np.bincount(codes, some, size)
    return np.bincount(codes, share, size) / np.maximum(shared, 1), shared.astype(np.int64)


def _counted(*keys: Numbers) -> Floats:
    _, inverse, counts = np.unique(np.column_stack(keys), axis=0, return_inverse=True, return_counts=True)
    return counts[inverse.ravel()].astype(np.float64)
