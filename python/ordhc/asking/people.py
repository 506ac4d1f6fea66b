"""Estimate the reliability of people, from questions with several answers or with known answers ("gold")."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The parameters of the Beta prior of a person's reliability; its mean is 2/3.
PRIOR = (2.0, 1.0)
_ROUNDS, _CLOSE = 200, 1e-6

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Person:
    """A summary of one person's answers.

    Attributes
    ----------
    who
        The name of the person; None for answers without a person.
    n_answers
        The number of answers, imported ones included, without those that were taken back.
    n_gold, gold
        The number of answers to questions with known answers, and the share of right answers among them (None
        if there are none).
    n_repeats, repeats
        The number of answers to questions that have other answers too, and the mean share of these other
        answers that agree with the person (None if there are none).
    n_tree, tree
        The number of answers to questions that the current tree decides, and the share of them that agree
        with the tree (None if there are none).
    reliability
        The probability that an answer of the person is right: the mean of the posterior, a Beta distribution.
    low, high
        The 90% credible interval of the reliability.
    alpha, beta
        The parameters of the Beta distribution.
    seconds
        The median response time in seconds; NaN if no time is known.
    same_side
        The share of answers at the position on the page that the person chose most; NaN if no position is
        known.
    weight
        The weight of the person's answers in `Session.comparisons`. The mean weight of all answers that count
        is 1.
    excluded
        The reasons for which the session's rules exclude the person, in words; empty if no rule does.
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
    """Return questions with sorted leaves, and the answers that fit the new order of the leaves.

    The questions are (m, 3) leaves in ascending order, or (m, 4) two sorted pairs, each with its leaves in
    ascending order. The answers (m,) are the chosen positions in the new order, from 0. "None" is 3 for three
    leaves and 2 for two pairs.
    """
    table = rows.astype(np.int64)
    if table.shape[1] == 3:
        order = np.argsort(table, axis=1)
        place = np.argsort(order, axis=1)
        at = np.arange(len(table))
        chosen = np.where(answers >= 0, place[at, np.maximum(answers, 0)], 3)
        return np.sort(table, axis=1), chosen.astype(np.int8)
    pairs = np.sort(table.reshape(-1, 2, 2), axis=2)
    first, second = pairs[:, 0], pairs[:, 1]
    swap = (first[:, 0] > second[:, 0]) | ((first[:, 0] == second[:, 0]) & (first[:, 1] > second[:, 1]))
    pairs[swap] = pairs[swap][:, ::-1]
    won = np.where(swap, -answers, answers)
    return pairs.reshape(-1, 4), np.where(won == 0, 2, won < 0).astype(np.int8)


def numbered(table: Ints) -> tuple[Ints, int]:
    """Return a number for each row, equal for equal rows, and the number of distinct rows."""
    if not len(table):
        return np.zeros(0, dtype=np.int64), 0
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    starts = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    found = np.empty(len(table), dtype=np.int64)
    found[order] = np.cumsum(starts) - 1
    return found, int(starts.sum())


def counts_of(questions: Ints, answers: NDArray[np.int8], n_questions: int) -> Floats:
    """Return the (n_questions, 4) counts of each question's answers, coded as in `as_questions`."""
    flat = np.bincount(questions * 4 + answers, minlength=n_questions * 4)
    return flat.reshape(-1, 4).astype(np.float64)


def agreements(questions: Ints, answers: NDArray[np.int8], n_questions: int) -> tuple[Floats, Floats]:
    """Return for each answer the number of other answers to its question, and the share that agrees.

    Both have shape (m,). The share is NaN if there are no other answers.
    """
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
    """Estimate the reliability of each person; return the parameters of Beta distributions, (n_people,).

    This is the "one-coin" model of Dawid & Skene (1979). A person answers each question rightly with the same
    probability, and all wrong answers are equally likely. Variational Bayes estimates the right answers and
    the reliabilities in turn. The data are the questions with several answers or with a known answer; other
    questions contain no information about reliability.

    `questions`, `answers` and `people` (m,) are the number of the question, the chosen position (from 0), and
    the number of the person. `known` (n_questions,) are the right answers, -1 if unknown. `n_options` is the
    number of possible answers to a question.
    """
    several = counts_of(questions, answers, len(known)).sum(axis=1) > 1
    use = several[questions] | (known[questions] >= 0)
    questions, answers, people = questions[use], answers[use], people[use]
    total = np.bincount(people, minlength=n_people).astype(np.float64)
    places = questions * 4 + answers
    truth = np.zeros((len(known), 4))
    truth[known >= 0, known[known >= 0]] = 1
    # Start with the share of people who gave each answer.
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
        # The weight of each person's answers as evidence: E[ln p] - E[ln((1 - p) / (n_options - 1))].
        evidence = digamma(alpha) - digamma(beta) + np.log(n_options - 1)
        votes = np.bincount(places, evidence[people], minlength=4 * len(known)).reshape(-1, 4)
        votes = votes[open_][:, :n_options]
        shares = np.exp(votes - votes.max(axis=1, keepdims=True))
        truth[open_, :n_options] = shares / shares.sum(axis=1, keepdims=True)
    return alpha, beta


def digamma(x: Floats) -> Floats:
    """Return the digamma function, the derivative of ln Γ(x), for x > 0."""
    x, low = x.astype(np.float64), np.zeros_like(x)
    for _ in range(8):
        small = x < 8
        low = np.where(small, low - 1 / x, low)
        x = np.where(small, x + 1, x)
    y = 1 / (x * x)
    return low + np.log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y / 240)))


def interval(alpha: Floats, beta: Floats, mass: float = 0.9) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the central credible intervals of Beta distributions.

    `mass` is the probability of an interval.
    """
    ends = np.array([(1 - mass) / 2, (1 + mass) / 2])
    # On the log-odds scale the density is smooth and unimodal, so that a regular grid is accurate.
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
    """Return the weights of answers that are right with the probabilities `reliability`.

    A weight is the log-odds of a right answer relative to guessing among `n_options`, and at least 0.
    """
    p = np.clip(reliability, 1e-6, 1 - 1e-6)
    return np.maximum(np.log(p / (1 - p) * (n_options - 1)), 0)
