"""Scores of predicted answers: accuracy and log loss, for each kind of answer."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.comparison.choices import Choices, Closeness, Kind, right_of
from ordhc.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AnswerScore:
    """The scores of predictions for answers of one kind, or of all kinds.

    Attributes
    ----------
    kind
        The kind of answer, such as "odd one out"; or "all".
    n_answers
        The number of answers.
    accuracy
        The share of questions for which the given answer has the largest predicted probability of all
        possible answers. If t answers have this probability, the given answer counts 1/t.
    log_loss
        The mean negative logarithm of the predicted probability of the given answer, in nats.
    chance, chance_log_loss
        The accuracy and log loss if all possible answers are equally likely: one divided by the number of
        possible answers, and the logarithm of this number, averaged over the answers.
    """

    kind: str
    n_answers: int
    accuracy: float
    log_loss: float
    chance: float
    chance_log_loss: float

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.accuracy:.3f} right (chance {self.chance:.3f}), "
            f"log loss {self.log_loss:.3f} (chance {self.chance_log_loss:.3f}), {self.n_answers:,} answers"
        )


@dataclass(frozen=True)
class AnswerScores:
    """Answers, and how well they were predicted.

    Attributes
    ----------
    choices
        The answers.
    right, losses
        For each kind of answer (such as odd one out) an (a,) array. `right` is 1 if the given answer is
        predicted as the most likely, 1/t if it is one of t equally likely answers, and 0 otherwise. `losses`
        is the negative logarithm of the predicted probability of the given answer.
    """

    choices: Choices
    right: tuple[Floats, ...]
    losses: tuple[Floats, ...]

    @property
    def accuracy(self) -> float:
        """The share of answers that were predicted as the most likely; all kinds count together."""
        return self.total.accuracy

    @property
    def log_loss(self) -> float:
        """The mean log loss of an answer in nats; all kinds of answers count together."""
        return self.total.log_loss

    @property
    def total(self) -> AnswerScore:
        """The score of all answers together, whatever their kind."""
        return self._score("all", list(range(len(self.choices.kinds))))

    @property
    def by_kind(self) -> tuple[AnswerScore, ...]:
        """The score for each kind of answer."""
        kinds = self.choices.kinds
        names = list(dict.fromkeys(kind.name for kind in kinds))
        return tuple(
            self._score(name, [at for at, kind in enumerate(kinds) if kind.name == name]) for name in names
        )

    def by_answer(self) -> tuple[Floats, Floats, Floats]:
        """Return three arrays with a value for each answer: `right`, the log loss and the weight.

        `right` is 1 if the given answer is predicted as the most likely, 1/t if it is one of t equally likely
        answers, and 0 otherwise. Answers are in the order in which they first occur in the data.
        """
        right, weight = self.choices.gathered(self.right)
        return right, self.choices.gathered(self.losses)[0], weight

    def _score(self, name: str, at: list[int]) -> AnswerScore:
        kinds = [self.choices.kinds[each] for each in at]
        weight = np.concatenate([kind.weights for kind in kinds])
        possible = np.concatenate([np.full(len(kind), float(kind.n_possible)) for kind in kinds])

        def mean(values: Floats) -> float:
            return float((values * weight).sum() / weight.sum())

        return AnswerScore(
            name,
            len(np.unique(np.concatenate([kind.answer for kind in kinds]))),
            mean(np.concatenate([self.right[each] for each in at])),
            mean(np.concatenate([self.losses[each] for each in at])),
            mean(1 / possible),
            mean(np.log(possible)),
        )

    def __str__(self) -> str:
        kinds = self.by_kind
        return "\n".join(map(str, kinds if len(kinds) == 1 else (*kinds, self.total)))


def answer_scores(choices: Choices, table: Callable[[Kind], Floats]) -> AnswerScores:
    """Return the scores of predicted answers.

    `table` takes the answers of one kind (a `Kind`) and returns an (a, K) array: for each of the a answers,
    the probabilities of the K possible answers in `Kind.orders`, with the given answer first.
    `Kind.probabilities` computes such an array, and `tables_of` averages the arrays of several models.

    Raises
    ------
    InputError
        No answers of positive weight.

    Examples
    --------
    >>> import numpy as np, ordhc
    >>> from ordhc.comparison.choices import Choices
    >>> t = ordhc.Triplets.from_odd_one_out([(2, 0, 1), (3, 0, 1)])
    >>> closeness = np.zeros((4, 4)); closeness[0, 1] = closeness[1, 0] = 2.0
    >>> found = answer_scores(Choices.of(t), lambda kind: kind.probabilities(closeness))
    >>> found.accuracy, round(found.log_loss, 3), round(found.total.chance, 3)
    (1.0, 0.24, 0.333)
    """
    if not choices.kinds:
        raise InputError("there are no answers (of positive weight) to predict")
    right, losses = [], []
    for kind in choices.kinds:
        found = table(kind)
        right.append(right_of(found))
        with np.errstate(divide="ignore"):
            losses.append(-np.log(found[:, 0]))
    return AnswerScores(choices, tuple(right), tuple(losses))


def tables_of(samples: list[Closeness], noises: list[float]) -> Callable[[Kind], Floats]:
    """Return an argument `table` of `answer_scores` that averages the probabilities of several models.

    `samples` has the closeness of pairs of leaves for each model: an (n, n) array or a function; larger is
    closer. `noises` has half of the share of random answers for each model.

    If a question has more than 720 possible answers (a long ranking), the table has only the given answer
    and the answers in which two pairs of leaves of adjacent ranks are exchanged.
    """
    pairs = list(zip(samples, noises, strict=True))
    return lambda kind: np.mean([kind.probabilities(one, noise) for one, noise in pairs], axis=0)


def tables_of_chains(samples: _ordhc.Samples, place: NDArray[np.int32]) -> Callable[[Kind], Floats]:
    """Return an argument `table` of `answer_scores` that averages over the trees of a posterior.

    Leaf i of the answers has the number `place[i]` in the trees.
    """

    def table(kind: Kind) -> Floats:
        found = np.empty((len(kind), len(kind.orders)))
        for at, order in enumerate(kind.orders):
            rows = place[kind.rows(order)]
            numbers = np.repeat(np.arange(len(kind), dtype=np.uint32), rows.shape[1])
            each = samples.predict_answers(np.ascontiguousarray(rows.reshape(-1, 4)), numbers)
            found[:, at] = each[:: rows.shape[1]]
        return found

    return table
