"""How reliable people are, from questions that several of them answered and from questions of gold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PRIOR",
    "Person",
    "agreements",
    "as_questions",
    "dawid_skene",
    "interval",
    "numbered",
    "weights_of",
]

#: What is assumed of somebody before they answer: right as often as `PRIOR[0]` of `sum(PRIOR)` answers.
PRIOR = (2.0, 1.0)
_ROUNDS, _CLOSE = 200, 1e-6

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Person:
    """What is known of somebody who answered.

    Attributes
    ----------
    who
        Their name; None for answers of nobody in particular.
    n_answers
        How many of their answers stand, imported ones included.
    n_gold, gold
        To how many questions of gold, and the share of right ones (None without any).
    n_repeats, repeats
        How many of their answers are to questions that others answered too, and the mean share of these
        others who say the same (None without any).
    n_tree, tree
        About how many the tree so far says something, and the share of those that agree with it (None without
        any).
    reliability
        How likely an answer of theirs is right: the mean of a Beta distribution.
    low, high
        It lies between these with a probability of 0.9.
    alpha, beta
        The parameters of the distribution.
    seconds
        The median of their response times in seconds, NaN if none is known.
    same_side
        The share of their answers at the place on the page that they chose most, NaN if no place is known.
    weight
        The weight of their answers in `Session.comparisons`; 1 on average over the answers that count.
    excluded
        The rules of the session that leave them out, in words; empty for those who count.
    """

    who: str | None
    n_answers: int
    n_gold: int
    gold: float | None
    n_repeats: int
    repeats: float | None
    n_tree: int
    tree: float | None
    reliability: float
    low: float
    high: float
    alpha: float
    beta: float
    seconds: float
    same_side: float
    weight: float
    excluded: tuple[str, ...]


def as_questions(rows: NDArray[np.int32], answers: NDArray[np.int8]) -> tuple[Ints, NDArray[np.int8]]:
    """(m, 3) sorted leaves, or (m, 4) sorted pairs, and (m,) answers about them.

    The answers are places from 0 on; "none" comes after the last place.
    """
    table = rows.astype(np.int64)
    if table.shape[1] == 3:
        order = np.argsort(table, axis=1)
        place = np.argsort(order, axis=1)
        at = np.arange(len(table))
        told = np.where(answers >= 0, place[at, np.maximum(answers, 0)], 3)
        return np.sort(table, axis=1), told.astype(np.int8)
    pairs = np.sort(table.reshape(-1, 2, 2), axis=2)
    first, second = pairs[:, 0], pairs[:, 1]
    swap = (first[:, 0] > second[:, 0]) | ((first[:, 0] == second[:, 0]) & (first[:, 1] > second[:, 1]))
    pairs[swap] = pairs[swap][:, ::-1]
    won = np.where(swap, -answers, answers)
    return pairs.reshape(-1, 4), np.where(won == 0, 2, won < 0).astype(np.int8)


def numbered(table: Ints) -> tuple[Ints, int]:
    """(m,) the number of each row, the same for the same row, and how many numbers there are."""
    if not len(table):
        return np.zeros(0, dtype=np.int64), 0
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    starts = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    found = np.empty(len(table), dtype=np.int64)
    found[order] = np.cumsum(starts) - 1
    return found, int(starts.sum())


def counts_of(questions: Ints, answers: NDArray[np.int8], n_questions: int) -> Floats:
    """(n_questions, 4) how often each answer was given."""
    flat = np.bincount(questions * 4 + answers, minlength=n_questions * 4)
    return flat.reshape(-1, 4).astype(np.float64)


def agreements(questions: Ints, answers: NDArray[np.int8], n_questions: int) -> tuple[Floats, Floats]:
    """(m,) how many others answered the same question, and the share of them that agree (NaN for nobody)."""
    counts = counts_of(questions, answers, n_questions)
    others = counts.sum(axis=1)[questions] - 1
    same = counts[questions, answers] - 1
    with np.errstate(invalid="ignore"):
        return others, np.where(others > 0, same / others, np.nan)


def dawid_skene(
    questions: Ints,
    answers: NDArray[np.int8],
    people: Ints,
    n_people: int,
    known: NDArray[np.int8],
    n_options: int,
) -> tuple[Floats, Floats]:
    """How often each person is right: the parameters of Beta distributions.

    Dawid & Skene's model (1979) with one coin: a person's answer is right with one probability, whatever
    the question, and otherwise any of the others. Right answers and these probabilities are estimated in
    turns (variational Bayes) from questions that several people answered, or whose answers are known; answers
    that nobody else has given an answer beside say nothing.

    Parameters
    ----------
    questions, answers, people
        (m,) numbers of questions, answers as places from 0 on, and people.
    n_people
        How many people there are.
    known
        (n_questions,) right answers, -1 where they are not known.
    n_options
        How many answers a question has.

    Returns
    -------
    alpha, beta
        (n_people,) each.
    """
    several = counts_of(questions, answers, len(known)).sum(axis=1) > 1
    use = several[questions] | (known[questions] >= 0)
    questions, answers, people = questions[use], answers[use], people[use]
    total = np.bincount(people, minlength=n_people).astype(np.float64)
    places = questions * 4 + answers
    truth = np.zeros((len(known), 4))
    truth[known >= 0, known[known >= 0]] = 1
    # First the share of those who gave each answer.
    counts = counts_of(questions, answers, len(known))
    open_ = (known < 0) & (counts.sum(axis=1) > 0)
    truth[open_] = counts[open_] / counts[open_].sum(axis=1, keepdims=True)
    alpha: Floats = np.zeros(n_people)
    beta: Floats = alpha
    for _ in range(_ROUNDS):
        right = np.bincount(people, truth.ravel()[places], minlength=n_people).astype(np.float64)
        before, alpha = alpha, PRIOR[0] + right
        beta = PRIOR[1] + np.maximum(total - right, 0)
        if np.abs(alpha - before).max(initial=0) < _CLOSE * max(1, total.max(initial=0)):
            break
        # How much an answer speaks for itself: the mean of ln p, less that of ln (1 - p) / (options - 1).
        speaks = digamma(alpha) - digamma(beta) + np.log(n_options - 1)
        votes = np.bincount(places, speaks[people], minlength=4 * len(known)).reshape(-1, 4)
        votes = votes[open_][:, :n_options]
        shares = np.exp(votes - votes.max(axis=1, keepdims=True))
        truth[open_, :n_options] = shares / shares.sum(axis=1, keepdims=True)
    return alpha, beta


def digamma(x: Floats) -> Floats:
    """The derivative of ln gamma, for x > 0."""
    x, low = x.astype(np.float64), np.zeros_like(x)
    for _ in range(8):
        small = x < 8
        low = np.where(small, low - 1 / x, low)
        x = np.where(small, x + 1, x)
    y = 1 / (x * x)
    return low + np.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y / 240)))


def interval(alpha: Floats, beta: Floats, mass: float = 0.9) -> tuple[Floats, Floats]:
    """The middle interval of Beta distributions that has this probability."""
    ends = np.array([(1 - mass) / 2, (1 + mass) / 2])
    # In the logarithm of the odds the density is smooth and has one top.
    middle, width = np.log(alpha / beta), np.sqrt(1 / alpha + 1 / beta)
    steps = np.linspace(-12, 12, 2001)
    found = np.empty((len(alpha), 2))
    for k in range(len(alpha)):
        odds = middle[k] + steps * width[k]
        p = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        log = alpha[k] * np.log(np.maximum(p, 1e-300)) + beta[k] * np.log(np.maximum(1 - p, 1e-300))
        mass_below = np.cumsum(np.exp(log - log.max()))
        found[k] = np.interp(ends, mass_below / mass_below[-1], p)
    return found[:, 0], found[:, 1]


def weights_of(reliability: Floats, n_options: int) -> Floats:
    """What answers weigh that are right so often: the logarithm of the odds against chance, not below 0."""
    p = np.clip(reliability, 1e-6, 1 - 1e-6)
    return np.maximum(np.log(p / (1 - p) * (n_options - 1)), 0)
