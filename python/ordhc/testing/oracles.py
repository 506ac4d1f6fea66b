"""Checks of oracles, small and named: each takes one subject and raises AssertionError."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.plugins.specs import OracleSpec
from ordhc.testing.running import (
    Subject,
    need,
    run,
)

__all__ = ["ORACLE_CHECKS", "check_oracle"]


class _Oracle(Subject[OracleSpec]):
    source: Any
    n_leaves: int

    def ask(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        answers = np.asarray(self.spec.make(self.source, **self.settings)(rows))
        need(answers.shape == (len(rows),), f"{len(rows)} questions give answers of {answers.shape}")
        need(answers.dtype.kind in "iu", f"answers are {answers.dtype}, not integers")
        wrong = answers[(answers < -1) | (answers > 2)]
        need(not wrong.size, f"an answer is {wrong[:1]}, not -1, 0, 1 or 2")
        return answers.astype(np.int64)

    def questions(self, m: int = 50) -> NDArray[np.int64]:
        random = np.random.default_rng(0)
        return np.array([random.choice(self.n_leaves, 3, replace=False) for _ in range(m)])


def _oracle_answers(oracle: _Oracle) -> None:
    """One answer per question, -1, 0, 1 or 2, and the questions stay as they are."""
    rows = oracle.questions()
    before = rows.copy()
    oracle.ask(rows)
    need(np.array_equal(rows, before), "the questions were changed")
    oracle.ask(rows[:1])


def _oracle_no_questions(oracle: _Oracle) -> None:
    """No questions give no answers."""
    oracle.ask(np.zeros((0, 3), dtype=np.int64))


def _oracle_deterministic(oracle: _Oracle) -> None:
    """The same questions give the same answers."""
    rows = oracle.questions()
    need(np.array_equal(oracle.ask(rows), oracle.ask(rows)), "the same questions give other answers")


def _oracle_order(oracle: _Oracle) -> None:
    """The odd one out is the same leaf in whichever order the three are shown."""
    rows = oracle.questions()
    odd = _leaf(rows, oracle.ask(rows))
    for order in ([1, 2, 0], [1, 0, 2]):
        shown = np.ascontiguousarray(rows[:, order])
        differ = np.flatnonzero(_leaf(shown, oracle.ask(shown)) != odd)
        if differ.size:
            raise AssertionError(f"the answer about {rows[differ[0]].tolist()} depends on the order shown")


def _leaf(rows: NDArray[np.int64], answers: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(answers < 0, -1, rows[np.arange(len(rows)), np.maximum(answers, 0)])


#: The checks of `check_oracle`, by name.
ORACLE_CHECKS: Mapping[str, Callable[[Any], None]] = {
    "answers": _oracle_answers,
    "no_questions": _oracle_no_questions,
    "deterministic": _oracle_deterministic,
    "order": _oracle_order,
}


def check_oracle(
    oracle: str | OracleSpec,
    /,
    source: Any,
    *,
    n_leaves: int | None = None,
    skip: Collection[str] = (),
    **parameters: Any,
) -> None:
    """Check an oracle, by its registered name or as a spec.

    Parameters
    ----------
    oracle
        The name, or the spec.
    source
        What it answers from, of three leaves at least.
    n_leaves
        The number of leaves, if `source` has neither `n_leaves` nor a length.
    skip
        Names of checks (see `ORACLE_CHECKS`) to leave out; noisy oracles leave out "deterministic"
        and "order".
    **parameters
        Settings other than the defaults.

    Raises
    ------
    AssertionError
        The check that failed, and how.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([0.0, 1.0, 3.0, 7.0])
    >>> check_oracle("similarity", -abs(points[:, None] - points))
    """
    spec = registry.get("oracle", oracle) if isinstance(oracle, str) else oracle
    subject = _Oracle(spec, parameters)
    subject.source = source
    n = n_leaves if n_leaves is not None else getattr(source, "n_leaves", None)
    subject.n_leaves = len(source) if n is None else n
    if subject.n_leaves < 3:
        raise InputError(f"n_leaves = {subject.n_leaves}; an oracle is checked with 3 or more")
    run(subject, ORACLE_CHECKS, skip)
