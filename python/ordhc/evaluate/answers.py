"""Estimate bounds on the accuracy and log loss of any predictor of answers, from repeated questions."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.choices import Choices, Kind
from ordhc.comparison.comparisons import Comparisons
from ordhc.comparison.units import numbered_rows

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Candidate pseudo-counts for predictions of an answer from the other answers to its question.
_PRIORS = (0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class AnswerCeiling:
    """Bounds on the accuracy and log loss of the best predictor.

    The best predictor knows the probability of each answer to each question. Agreement between people is not
    a bound. If answers have probabilities .7, .2 and .1, two people agree in 54% of the cases, and the best
    predictor is right in 70%.

    Attributes
    ----------
    kind
        The name of the kind of answer, or "all".
    accuracy_low
        Lower bound on the best predictor's accuracy: the share of answers that equal the most common one of
        the other answers to their question.
    accuracy_high
        Upper bound on the best predictor's accuracy; see Notes.
    log_loss_low, log_loss_high
        Bounds on the best predictor's log loss, in nats.
    agreement
        The probability that two answers to the same question are the same.
    n_answers, n_questions
        The number of answers to repeated questions, and the number of repeated questions.

    Notes
    -----
    All four bounds are estimates whose expected values are bounds. With few answers they vary widely. Let p
    be the probabilities of the K answers to a question, and A = sum p^2 its agreement, whose estimate from
    pairs of answers is unbiased. Then max p >= A. Predict an answer by the most common one of the other
    answers. This is right on average at least as often as a single other answer (with probability A), and at
    most as often as the likeliest answer. Given A, max p is largest if all other answers are equally likely:
    (1 + sqrt((K - 1) (K A - 1))) / K. This is concave in A, so by Jensen's inequality the mean over questions
    is at most its value at the mean of A. Another upper bound is the share of answers that equal the most
    common answer to their question, themselves included, because the maximum is convex. The smaller of the
    two upper bounds is `accuracy_high`.

    The best log loss is the entropy H(p). Predictions from the other answers, with pseudo-counts, have at
    least this log loss. Two lower bounds are -log A (Renyi 1961: H(p) >= -log A, and -log is convex) and the
    entropy of observed shares, which is too small on average. The larger of them is `log_loss_low`.
    """

    kind: str
    accuracy_low: float
    accuracy_high: float
    log_loss_low: float
    log_loss_high: float
    agreement: float
    n_answers: int
    n_questions: int

    def __str__(self) -> str:
        return (
            f"{self.kind}: the best predictor has an accuracy of {self.accuracy_low:.3f} to "
            f"{self.accuracy_high:.3f} and a log loss of {self.log_loss_low:.3f} to {self.log_loss_high:.3f} "
            f"({self.n_answers:,} answers to {self.n_questions:,} repeated questions)"
        )


def answer_ceilings(data: Comparisons) -> tuple[AnswerCeiling, ...]:
    """Return an `AnswerCeiling` for each kind of answer with repeated questions.

    If there are several kinds, the last `AnswerCeiling` is for all kinds together. If all weights are whole
    numbers, they are used as numbers of equal answers; otherwise they are ignored. A kind is left out if
    answers to the same question agree clearly less than random answers do. This happens if equal answers to a
    question were merged into one row, so that only different answers remain.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2)] * 9 + [(0, 2, 1)])
    >>> (one,) = answer_ceilings(t)
    >>> one.accuracy_low, one.accuracy_high, one.agreement
    (0.9, 0.9, 0.8)
    """
    found = []
    choices = Choices.of(data)
    for name in dict.fromkeys(kind.name for kind in choices.kinds):
        each = [_of_kind(kind, choices.n_leaves) for kind in choices.kinds if kind.name == name]
        known = [one for one in each if one is not None]
        if known:
            found.append(_mean(name, known))
    return (*found, _mean("all", found)) if len(found) > 1 else tuple(found)


def _mean(name: str, several: "list[AnswerCeiling]") -> AnswerCeiling:
    columns: Any = {key: [vars(one)[key] for one in several] for key in vars(several[0])}
    counts = columns["n_answers"]
    names = ("accuracy_low", "accuracy_high", "log_loss_low", "log_loss_high", "agreement")
    means = {key: float(np.average(columns[key], weights=counts)) for key in names}
    return AnswerCeiling(name, n_answers=sum(counts), n_questions=sum(columns["n_questions"]), **means)


def _of_kind(kind: Kind, n_leaves: int) -> AnswerCeiling | None:
    question, said = kind.question(n_leaves)
    are_counts = bool((kind.weights == np.floor(kind.weights)).all())
    times = kind.weights if are_counts else np.ones(len(kind))
    # `n`: how often each distinct answer was given. `asked`: its question. `total`: answers to each question.
    inverse = numbered_rows(np.column_stack([question, said]))
    n = np.bincount(inverse, times).astype(np.float64)
    asked = np.zeros(len(n), dtype=np.int64)
    asked[inverse] = question
    total = np.bincount(asked, n).astype(np.float64)
    again = total[asked] > 1
    if not again.any():
        return None
    asked, n = np.unique(asked[again], return_inverse=True)[1].ravel(), n[again]
    total = np.bincount(asked, n).astype(np.float64)
    whole = float(total.sum())
    agreement = float((total * np.bincount(asked, n * (n - 1)) / (total * (total - 1))).sum()) / whole
    possible = float(kind.n_possible)
    if agreement < 1 / possible - 2 * math.sqrt((1 - 1 / possible) / possible / len(total)):
        # People who answer independently agree at least as often as random answers do. Less agreement means
        # that equal answers to a question were merged into one row, so that only different answers remain.
        return None
    most = np.zeros(len(total))
    np.maximum.at(most, asked, n)
    spread = max((possible - 1) * (possible * agreement - 1), 0.0)
    share = n / total[asked]
    entropy = float(-(n * np.log(share)).sum()) / whole
    losses = []
    for prior in _PRIORS:
        # Predict each answer from the others: subtract the answer itself from both counts.
        p = (n - 1 + prior / possible) / (total[asked] - 1 + prior)
        losses.append(float(-(n * np.log(p)).sum()) / whole)
    accuracy_low = _from_others(asked, n, most) / whole
    accuracy_high = min(float(most.sum()) / whole, (1 + math.sqrt(spread)) / possible)
    log_loss_low = max(entropy, -math.log(agreement) if agreement > 0 else 0.0)
    # With few answers, the estimate of an upper bound can be below that of the lower bound.
    return AnswerCeiling(
        kind.name,
        accuracy_low,
        max(accuracy_low, accuracy_high),
        log_loss_low,
        max(log_loss_low, min(*losses, math.log(possible))),
        agreement,
        round(whole),
        len(total),
    )


def _from_others(asked: Numbers, n: Floats, most: Floats) -> float:
    """Return the number of answers that equal the most common one of the other answers to the same question.

    If t answers tie for the most common, an answer that equals one of them counts 1/t.
    """
    # Without one answer, its kind can only be the most common if no other kind was given as often.
    is_top = n == most[asked]
    is_only = np.bincount(asked, is_top)[asked] == 1
    ties = 1 + np.bincount(asked, n == most[asked] - 1)[asked]
    wins = is_top & is_only & (n > 1)
    right = np.zeros(len(most))
    right[asked[wins]] = (n / ties)[wins]
    return float(np.cumsum(right)[-1])
