"""Oracles that wrap other oracles: they add errors, repeat, count, record or distribute questions.

A wrapper of an asynchronous oracle is asynchronous too.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.asking.answers import comparisons_of
from ordhc.asking.methods import NOISES
from ordhc.asking.oracle import (
    Answering,
    Oracle,
    checked_answers,
    checked_questions,
    errors_of,
    settled,
    then,
)
from ordhc.asking.people import as_questions
from ordhc.asking.sources import from_tree, recorded
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram


def noisy(
    oracle: Any, p: float, *, wrong: str = "random", noise: str = "independent", seed: int = 0
) -> Oracle:
    """Return an oracle whose answers are right with probability `p`.

    If `p` is between 1/2 and 1, the oracle's attributes `p` and `noise` inform learners about the errors.

    Parameters
    ----------
    oracle
        The oracle that gives the right answers.
    p
        The probability that a right answer is kept, from 0 to 1.
    wrong
        The kind of wrong answers to questions about three leaves. The wrong answer to a question about two
        pairs is always the opposite.

        * "random" (the default): a random leaf of the other two, or of all three if the right answer is -1.
        * "adversarial": the same leaf each time.
        * "none": -1, or always the same leaf if the right answer is -1.
    noise
        "independent" (the default): each answer is drawn independently. "persistent": the same question, in
        any order of its leaves, always gets the same answer.
    seed
        The seed of the random numbers; the same seed gives the same errors.

    Examples
    --------
    >>> import ordhc
    >>> always_wrong = ordhc.oracles.noisy(ordhc.oracles.from_tree("((0,1),2);"), p=0.0, seed=1)
    >>> always_wrong([[0, 1, 2]])[0] in (0, 1)
    True
    """
    p = _checks.number("p", p, at_least=0, at_most=1)
    wrong = _checks.choice("wrong", wrong, ("random", "adversarial", "none"))
    noise = _checks.choice("noise", noise, NOISES)
    right = as_oracle(oracle)
    seed = _checks.seed(seed)
    generator = np.random.default_rng(seed)

    def answer(rows: ArrayLike) -> Any:
        table = checked_questions(rows, None, (3, 4))
        return then(right(table), lambda given: with_errors(table, checked_answers(given, table)))

    def with_errors(table: NDArray[Any], answers: NDArray[np.int8]) -> NDArray[np.int8]:
        random = generator if noise == "independent" else _Repeated(table, seed)
        if table.ndim == 2 and table.shape[1] == 4:
            return np.where(random.random(len(answers)) < p, answers, -answers).astype(np.int8)
        if not len(answers):
            return answers
        # Sort by leaf, so that the wrong answer does not depend on the order of the leaves in the question.
        places = np.argsort(table, axis=1)
        # The wrong answers of each question, then the right answer unless it is -1.
        right_is_last = np.argsort(places == answers[:, None], axis=1, kind="stable")
        wrong_first = np.take_along_axis(places, right_is_last, axis=1)
        which = np.zeros(len(answers), dtype=int)
        if wrong == "random":
            which = random.integers(0, 2, len(answers))
            if (answers < 0).any():
                which = np.where(answers < 0, random.integers(0, 3, len(answers)), which)
        mistakes = wrong_first[np.arange(len(answers)), which]
        if wrong == "none":
            mistakes[answers >= 0] = -1
        return np.where(random.random(len(answers)) < p, answers, mistakes).astype(np.int8)

    made = Answering.around(right, answer)
    before, own = errors_of(right)
    both = p if own is None else None if before is None else p * before
    if own is not None or 0.5 < p < 1:
        # If the given oracle or the added errors have persistent noise, `noise` is "persistent", because
        # persistent errors are harder to correct. No learner can correct errors if p is 1/2 or less.
        made.p = both if both is not None and both > 0.5 else None
        made.noise = "persistent" if "persistent" in (own, noise if p < 1 else None) else "independent"
    return made


class _Repeated:
    """A random generator whose numbers depend only on the seed and on the leaves of each question."""

    def __init__(self, table: NDArray[Any], seed: int) -> None:
        questions, _ = as_questions(table, np.zeros(len(table), dtype=np.int8))
        self._key = questions.astype(np.uint64)
        self._seed = seed

    def random(self, size: int) -> NDArray[np.float64]:
        return self._uniform(1, size)

    def integers(self, low: int, high: int, size: int) -> NDArray[np.int64]:
        return low + ((high - low) * self._uniform(high, size)).astype(np.int64)

    def _uniform(self, stream: int, size: int) -> NDArray[np.float64]:
        # SplitMix64 over the leaves of a question.
        state = np.full(size, (self._seed + stream * 0xD1342543DE82EF95) % 2**64, dtype=np.uint64)
        for column in self._key.T:
            state = (state + column + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state ^= state >> np.uint64(31)
        return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def majority(oracle: Any, k: int) -> Oracle:
    """Return an oracle that asks `oracle` every question `k` times and gives the most frequent answer.

    A tie gives -1 (0 for two pairs).

    Examples
    --------
    >>> import ordhc
    >>> truth = ordhc.oracles.from_tree("((0,1),2);")
    >>> ordhc.oracles.majority(ordhc.oracles.noisy(truth, 0.8), 31)([[0, 1, 2]])
    array([2], dtype=int8)
    """
    k = _checks.whole("k", k, at_least=1)
    one = as_oracle(oracle)

    def answer(rows: ArrayLike) -> Any:
        table = checked_questions(rows, None, (3, 4))
        return then(_all([one(table) for _ in range(k)]), lambda each: decided(table, each))

    def decided(table: NDArray[Any], each: list[Any]) -> NDArray[np.int8]:
        given = np.stack([checked_answers(answers, table) for answers in each])
        choices = np.array([0, 1, 2, -1] if table.ndim == 2 and table.shape[1] == 3 else [1, -1, 0])
        counts = (given[None] == choices[:, None, None]).sum(axis=1)
        best = counts.max(axis=0, initial=0)
        undecided = -1 if len(choices) == 4 else 0
        tied = (counts == best).sum(axis=0) > 1
        return np.where(tied, undecided, choices[counts.argmax(axis=0)]).astype(np.int8)

    made = Answering.around(one, answer)
    if made.noise == "independent" and made.p is not None and k > 1:
        # The probability that a majority is right if all wrong answers are the same.
        p, most = made.p, range(k // 2 + 1, k + 1)
        made.p = min(sum(math.comb(k, right) * p**right * (1 - p) ** (k - right) for right in most), 1 - 1e-9)
    return made


class Counting:
    """An oracle that passes questions to another oracle and counts them.

    Parameters
    ----------
    oracle
        The oracle that answers.

    Attributes
    ----------
    n_questions, n_batches
        The number of questions and the number of calls so far.

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.Counting(ordhc.oracles.from_tree("((0,1),(2,3));"))
    >>> _ = ordhc.learn(oracle, 4)
    >>> oracle.n_questions == oracle.n_batches <= 4
    True
    """

    def __init__(self, oracle: Any) -> None:
        self._oracle = as_oracle(oracle)
        self.n_leaves = getattr(self._oracle, "n_leaves", None)
        self.names = getattr(self._oracle, "names", None)
        self.questions = getattr(self._oracle, "questions", (3, 4))
        self.known = getattr(self._oracle, "known", None)
        self.p, self.noise = errors_of(self._oracle)
        self.n_questions = 0
        self.n_batches = 0

    def __call__(self, rows: ArrayLike) -> Any:
        """Return the (m,) answers to (m, 3) or (m, 4) questions."""
        table = checked_questions(rows, None, (3, 4)).copy()
        return then(self._oracle(table), lambda given: self._counted(table, checked_answers(given, table)))

    def _counted(self, _table: NDArray[Any], answers: NDArray[np.int8]) -> NDArray[np.int8]:
        self.n_questions += len(answers)
        self.n_batches += 1
        return answers


class Recording(Counting):
    """An oracle that passes questions to another oracle, and counts and records questions and answers.

    Parameters
    ----------
    oracle
        The oracle that answers.

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.Recording(ordhc.oracles.from_tree("((0,1),2);"))
    >>> _ = ordhc.learn(oracle, 3)
    >>> sorted(oracle.comparisons())
    [(0, 1, 2), (1, 0, 2)]
    """

    def __init__(self, oracle: Any) -> None:
        super().__init__(oracle)
        self._kept: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def _counted(self, table: NDArray[Any], answers: NDArray[np.int8]) -> NDArray[np.int8]:
        self._kept.append((table, answers.copy()))
        return super()._counted(table, answers)

    @property
    def rows(self) -> NDArray[Any]:
        """All recorded questions, as (m, 3) or (m, 4) leaves."""
        return np.concatenate([rows for rows, _ in self._kept]) if self._kept else np.zeros((0, 3), np.int32)

    @property
    def answers(self) -> NDArray[Any]:
        """The (m,) recorded answers."""
        return np.concatenate([answers for _, answers in self._kept]) if self._kept else np.zeros(0, np.int8)

    def comparisons(
        self,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        *,
        adaptive: bool = False,
    ) -> Triplets | Quadruplets:
        """Return the recorded answers as triplets or quadruplets.

        An answer that names the odd one out gives two triplets; an answer about two pairs gives one
        quadruplet.

        Parameters
        ----------
        n_leaves
            The number of leaves; by default the largest leaf plus 1.
        names
            The names of the leaves.
        adaptive
            True marks the answers as answers to questions that a learner chose, as `ordhc.learn` does.
        """
        rows = self.rows
        names = _checks.names(names)
        if n_leaves is None:
            n_leaves = len(names) if names is not None else int(rows.max(initial=-1)) + 1
        adaptive = _checks.flag("adaptive", adaptive)
        return comparisons_of(rows, self.answers, n_leaves, names, adaptive=adaptive)


def workers(oracles: Sequence[Any]) -> Oracle:
    """Return an oracle that splits each batch among several oracles, which answer at the same time.

    Examples
    --------
    >>> import ordhc
    >>> truth = ordhc.oracles.from_tree("((0,1),2);")
    >>> ordhc.oracles.workers([truth, truth])([[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    array([2, 0, 1], dtype=int8)
    """
    try:
        each = [as_oracle(oracle) for oracle in oracles]
    except InputError:
        raise
    except Exception:
        raise InputError(f"{_checks.quoted(oracles)} is not a list of oracles") from None
    if not each:
        raise InputError("the list of oracles is empty")

    def answer(rows: ArrayLike) -> Any:
        table = checked_questions(rows, None, (3, 4))
        parts = np.array_split(table, min(len(each), max(len(table), 1)))
        with ThreadPoolExecutor(len(each)) as pool:
            given = list(pool.map(lambda pair: pair[0](pair[1]), zip(each, parts, strict=False)))
        return then(_all(given), lambda answers: joined(parts, answers))

    def joined(parts: list[NDArray[Any]], answers: list[Any]) -> NDArray[np.int8]:
        return np.concatenate([checked_answers(*pair) for pair in zip(answers, parts, strict=True)])

    made = Answering.around(each[0], answer)
    errors = [(p, noise) for p, noise in map(errors_of, each) if noise is not None]
    if errors:
        known = [p for p, _ in errors]
        made.p = None if None in known else min(p for p in known if p is not None)
        made.noise = "persistent" if any(noise == "persistent" for _, noise in errors) else "independent"
    return made


def as_oracle(oracle: Any) -> Oracle:
    """Return an oracle; a tree, comparisons, or a list of oracles is converted to an oracle."""
    if isinstance(oracle, str):
        name = _checks.quoted(oracle)
        raise InputError(f"{name} is a name: use ordhc.oracles.named({name}, source), which is an oracle")
    if isinstance(oracle, Dendrogram):
        return from_tree(oracle)
    if isinstance(oracle, Triplets | Quadruplets):
        return recorded(oracle)
    if isinstance(oracle, list | tuple):
        return workers(oracle)
    if not callable(oracle):
        raise InputError(
            f"an oracle must be a callable on (m, 3) leaves, not {type(oracle).__name__}; see ordhc.oracles"
        )
    return oracle  # type: ignore[no-any-return]


def _all(given: list[Any]) -> Any:
    """Return the list `given`, or an awaitable of its results if any entry is awaitable."""
    if not any(map(inspect.isawaitable, given)):
        return given

    async def gathered() -> list[Any]:
        return await asyncio.gather(*map(settled, given))

    return gathered()
