"""Questions that a person answered several times: check whether repeated answers are new evidence."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of, questions_of

#: The values of the option `repeats`: count all repeated answers, or count them as one.
REPEATS = ("new", "same")
#: The minimum number of repeats for a conclusion. Answers hardly ever change if at most the share `_CHANGED`
#: of repeats differs.
_FEWEST, _CHANGED = 10, 0.1
#: Repeated answers are not new evidence if fewer of them changed than the noise in the answers explains: the
#: probability of so few changes is below `_CHANCE`, and the expected share of changed answers is more than
#: `_MORE` above the observed share.
_CHANCE, _MORE = 0.01, 0.05


@dataclass(frozen=True)
class Repeats:
    """The answers to repeated questions.

    Attributes
    ----------
    repeats
        (k,) for each repeated answer, the number of one of its rows. An answer is repeated if the same person
        answered the same question before; people who are unknown count as one person.
    n_changed
        The number of answers that differ from the most frequent answer of their person to the question.
    look_the_same
        True if answers hardly ever change when questions are repeated.
    shares
        (m,) the weight of each row if all answers of a person to a question count as one.
    """

    repeats: NDArray[np.int64]
    n_changed: int
    look_the_same: bool
    shares: NDArray[np.float64]

    def note(self, likely: NDArray[np.float64]) -> str | None:
        """Return a note that repeated answers of a person count once, or None.

        The result is None if independent answers would change as rarely as these answers did. `likely` has
        the probability of each repeated answer if it were independent of the earlier answers, (k,).
        """
        expected = float((1 - likely).sum())
        if expected <= self.n_changed + _MORE * len(self.repeats):
            return None
        log = math.log(expected)
        terms = [math.exp(k * log - expected - math.lgamma(k + 1)) for k in range(self.n_changed + 1)]
        if sum(terms) >= _CHANCE:
            return None
        differ = f"only {self.n_changed:,} differ" if self.n_changed else "none differs"
        return (
            f"{len(self.repeats):,} answers repeat a question that their person had answered, and {differ}; "
            f"independent answers would differ about {expected:,.0f} times. So each question counts once a "
            'person: repeats="new" counts every answer'
        )


def repeats_of(data: Triplets | Quadruplets) -> Repeats:
    question, content = questions_of(data)
    m = len(data.rows)
    counted = np.ones(m, dtype=bool) if data.weights is None else data.weights > 0
    person = np.zeros(m, dtype=np.int64) if data.groups is None else data.groups.astype(np.int64)
    numbers = answers_of(data)
    _, first = np.unique(np.where(counted, numbers, -1), return_index=True)
    first = np.sort(first[counted[first]])
    asked = np.unique(np.column_stack([person, question])[first], axis=0, return_inverse=True)[1].ravel()
    times = np.bincount(asked)
    said = np.unique(np.column_stack([asked, content[first]]), axis=0, return_counts=True)
    commonest = np.zeros(len(times), dtype=np.int64)
    np.maximum.at(commonest, said[0][:, 0], said[1])
    is_first = np.zeros(len(first), dtype=bool)
    is_first[np.unique(asked, return_index=True)[1]] = True
    shares_of_answers = np.ones(int(numbers.max(initial=-1)) + 1)
    shares_of_answers[numbers[first]] = 1 / times[asked]
    repeats, n_changed = first[~is_first], int((times - commonest).sum())
    look_the_same = len(repeats) >= _FEWEST and n_changed <= _CHANGED * len(repeats)
    return Repeats(repeats, n_changed, look_the_same, shares_of_answers[numbers])
