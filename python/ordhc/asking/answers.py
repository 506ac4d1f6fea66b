"""Convert answers to comparisons, and estimate how often answers are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import warn


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
    """Return answers as triplets or quadruplets.

    An answer that c is the odd one out of a, b and c gives two triplets, (a, b, c) and (b, a, c). Both have
    the same number in `Triplets.answers`. An answer about two pairs gives one quadruplet. "None" answers give
    no comparison.

    The people `who` become the groups of the comparisons; an unknown person is "". `adaptive` is True if the
    questions depended on earlier answers.
    """
    groups = None
    if who is not None and any(name is not None for name in who):
        groups = np.array([name or "" for name in who], dtype=object)
    kind: type[Triplets | Quadruplets]
    numbers: dict[str, Any] = {}
    if rows.shape[1] == 4:
        kind, n_each, decided = Quadruplets, 1, answers != 0
        table = np.where((answers > 0)[:, None], rows, rows[:, [2, 3, 0, 1]])[decided]
    else:
        kind, n_each, decided = Triplets, 2, answers >= 0
        rows, odd = rows[decided], answers[decided].astype(np.int64)
        at = np.arange(len(rows))
        a, b, c = rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3], rows[at, odd]
        table = np.stack([a, b, c, b, a, c], axis=1).reshape(-1, 3)
        numbers = {"answers": np.repeat(np.flatnonzero(decided), 2)}
    return kind(
        table,
        n_leaves,
        names,
        None if weights is None else np.repeat(weights[decided], n_each),
        groups=None if groups is None else np.repeat(groups[decided], n_each),
        adaptive=adaptive,
        **numbers,
    )


def estimate_p(answers: Sequence[ArrayLike], delta: float = 0.05) -> tuple[float, float]:
    """Estimate the probability that an answer is right from repeated questions.

    The right answers need not be known.

    Parameters
    ----------
    answers
        For each question all its answers: 0, 1 or 2 for the odd one out, or -1 for none. A few questions
        with many answers each give the best estimate.
    delta
        The probability that the lower bound is too high; 0.05 by default.

    Returns
    -------
    estimate, lower
        The share of answers that equal the most frequent answer to their question, and a lower bound of the
        probability. Use the lower bound as the `p` of a learner.

    Warns
    -----
    OrdhcWarning
        The same question always gets the same answer, as from a language model. Repeats then do not
        show how often answers are right.

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
            f"all {len(repeated):,} questions got the same answer each time. If a repeated question"
            " always gets the same answer, as from a language model, repeats do not show how often answers"
            " are right: use questions with known answers"
        )
    return found
