"""Checks of oracles, which answer questions. Each check raises AssertionError if an oracle fails."""

import asyncio
import inspect
from collections.abc import Collection
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.asking.oracle import settled
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.plugins.specs import OracleSpec
from ordhc.testing.running import Subject, by_name, need, run


class _Oracle(Subject[OracleSpec]):
    source: Any
    n_leaves: int
    width: int

    def ask(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        made = self.spec.make(self.source, **self.settings)
        given = made(rows)
        answers = np.asarray(asyncio.run(settled(given)) if inspect.isawaitable(given) else given)
        need(answers.shape == (len(rows),), f"{len(rows)} questions give answers of shape {answers.shape}")
        need(answers.dtype.kind in "iu", f"answers are {answers.dtype}, not integers")
        known = [-1, 0, 1, 2] if self.width == 3 else [-1, 0, 1]
        wrong = answers[~np.isin(answers, known)]
        need(not wrong.size, f"an answer is {wrong[:1]}, not one of {known}")
        return answers.astype(np.int64)

    def questions(self, m: int = 50) -> NDArray[np.int64]:
        random = np.random.default_rng(0)
        if self.width == 3:
            return np.array([random.choice(self.n_leaves, 3, replace=False) for _ in range(m)])
        pairs = list(combinations(range(self.n_leaves), 2))
        chosen = [random.choice(len(pairs), 2, replace=False) for _ in range(m)]
        return np.array([[*pairs[first], *pairs[second]] for first, second in chosen])


def _answers(oracle: _Oracle) -> None:
    rows = oracle.questions()
    before = rows.copy()
    oracle.ask(rows)
    need(np.array_equal(rows, before), "the oracle changed the array of questions")
    oracle.ask(rows[:1])


def _no_questions(oracle: _Oracle) -> None:
    oracle.ask(np.zeros((0, oracle.width), dtype=np.int64))


def _deterministic(oracle: _Oracle) -> None:
    rows = oracle.questions()
    need(np.array_equal(oracle.ask(rows), oracle.ask(rows)), "the same questions give different answers")


def _order(oracle: _Oracle) -> None:
    rows = oracle.questions()
    orders = ([1, 2, 0], [1, 0, 2]) if oracle.width == 3 else ([1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1])
    meant = _meant(rows, oracle.ask(rows))
    for order in orders:
        shown = np.ascontiguousarray(rows[:, order])
        differ = np.flatnonzero((_meant(shown, oracle.ask(shown)) != meant).any(axis=1))
        for row in rows[differ[:1]].tolist():
            raise AssertionError(f"the answer about {row} depends on the order of the leaves")


def _meant(rows: NDArray[np.int64], answers: NDArray[np.int64]) -> NDArray[np.int64]:
    if rows.shape[1] == 3:
        return np.where(answers < 0, -1, rows[np.arange(len(rows)), np.maximum(answers, 0)])[:, None]
    pairs = np.sort(np.where((answers > 0)[:, None], rows[:, :2], rows[:, 2:]), axis=1)
    return np.where((answers == 0)[:, None], -1, pairs)


#: The checks of `check_oracle`, by name.
ORACLE_CHECKS = by_name(_answers, _no_questions, _deterministic, _order)


def check_oracle(
    oracle: str | OracleSpec,
    /,
    source: Any,
    *,
    n_leaves: int | None = None,
    width: int | None = None,
    skip: Collection[str] = (),
    **parameters: Any,
) -> None:
    """Check an oracle, by its registered name or as an `OracleSpec`.

    Parameters
    ----------
    oracle
        The name of a registered oracle, or the `OracleSpec` of an oracle that is not registered.
    source
        The data from which the oracle answers, of at least three leaves.
    n_leaves
        The number of leaves. Needed only if the oracle and `source` have no attribute `n_leaves`, and
        `source` has no length.
    width
        The number of leaves per question, 3 or 4. By default both numbers are checked if the oracle accepts
        both.
    skip
        The names of checks to skip: keys of `ORACLE_CHECKS`. For noisy oracles skip "deterministic" and
        "order".
    **parameters
        Settings of the oracle that differ from the defaults.

    Raises
    ------
    AssertionError
        If a check fails. The message has the name of the check and the reason.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([0.0, 1.0, 3.0, 7.0])
    >>> check_oracle("similarity", -abs(points[:, None] - points))
    """
    spec = registry.get("oracle", oracle) if isinstance(oracle, str) else oracle
    for each in spec.questions if width is None else (width,):
        if each not in spec.questions:
            raise InputError(
                f"width = {each}, but oracle {spec.name!r} answers questions of {spec.questions} leaves"
            )
        subject = _Oracle(spec, parameters)
        subject.source, subject.width = source, each
        made = spec.make(source, **subject.settings)
        n = next((n for n in (n_leaves, *(getattr(x, "n_leaves", None) for x in (made, source))) if n), None)
        subject.n_leaves = len(source) if n is None else n
        if subject.n_leaves < 3:
            raise InputError(
                f"n_leaves = {subject.n_leaves}; check_oracle needs an oracle of 3 or more leaves"
            )
        run(subject, ORACLE_CHECKS, skip)
