"""Answers as comparisons, and how often they are right."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import warn

__all__ = ["comparisons_of", "estimate_p"]


def comparisons_of(
    rows: NDArray[Any],
    answers: NDArray[Any],
    n_leaves: int,
    names: Sequence[str] | None,
    who: Sequence[str | None] | None = None,
    *,
    weights: NDArray[np.float64] | None = None,
    adaptive: bool = False,
) -> Triplets | Quadruplets:
    """Answers as comparisons.

    An odd one out is the farther one for both others: two triplets with the number of the answer; "none"
    says nothing. A pair that is more similar than another is a quadruplet. Groups are those who answered, if
    anybody is known ("" where nobody is).
    """
    groups = None
    if who is not None and any(name is not None for name in who):
        groups = np.array([name or "" for name in who], dtype=object)
    if rows.shape[1] == 4:
        told = answers != 0
        table = np.where((answers > 0)[:, None], rows, rows[:, [2, 3, 0, 1]])[told]
        return Quadruplets(
            table,
            n_leaves,
            names,
            None if weights is None else weights[told],
            groups=None if groups is None else groups[told],
            adaptive=adaptive,
        )
    told = answers >= 0
    rows, odd = rows[told], answers[told].astype(np.int64)
    at = np.arange(len(rows))
    a, b, c = rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3], rows[at, odd]
    table = np.stack([np.stack([a, b, c], axis=1), np.stack([b, a, c], axis=1)], axis=1).reshape(-1, 3)
    return Triplets(
        table,
        n_leaves,
        names,
        None if weights is None else np.repeat(weights[told], 2),
        answers=np.repeat(np.flatnonzero(told), 2),
        groups=None if groups is None else np.repeat(groups[told], 2),
        adaptive=adaptive,
    )


def estimate_p(answers: Sequence[ArrayLike], delta: float = 0.05) -> tuple[float, float]:
    """How often answers are right, from questions that were asked several times.

    Nobody needs to know the right answers.

    Parameters
    ----------
    answers
        For each question all answers it got: 0, 1, 2 or -1. Few questions, each asked often, tell most.
    delta
        How likely the lower bound may be too high.

    Returns
    -------
    estimate, lower
        The share of answers that agree with most others to the same question, and a lower bound of p,
        which is what to give to a `Learner`.

    Warns
    -----
    OrdhcWarning
        The same question always gets the same answer, as from a language model: that says how consistent
        answers are, and nothing of how often they are right.

    Examples
    --------
    >>> import ordhc
    >>> estimate, lower = ordhc.oracles.estimate_p([[0, 0, 2, 0, 0] * 8, [1, 1, 1, 1, 0] * 8])
    >>> estimate, 0.6 < lower < 0.8
    (0.8, True)
    """
    lists = [
        _checks.whole_numbers(f"answers[{at}]", given).ravel().tolist()
        for at, given in enumerate(_checks.listed("answers", answers))
    ]
    found = _ordhc.estimate_p(lists, _checks.number("delta", delta))
    repeated = [given for given in lists if len(given) > 1]
    if repeated and all(len(set(given)) == 1 for given in repeated):
        warn(
            f"all {len(repeated):,} questions got the same answer each time they were asked: where answers"
            " never change, as those of a language model, repeats say nothing of how often they are right;"
            " questions whose answer is known do"
        )
    return found
