"""Oracles: who answers the questions.

An oracle is a callable on whole batches: (m, 3) leaves give (m,) places of the odd one out (0, 1 or 2; -1 if
no two are closer); those that know similarities also take (m, 4), "are i and j more similar than k and l?",
and give 1 or -1.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc.comparisons import Quadruplets, Triplets
from ordhc.dendrogram import Dendrogram
from ordhc.errors import InputError

__all__ = [
    "counting",
    "from_similarity",
    "from_tree",
    "from_vectors",
    "majority",
    "noisy",
    "person",
    "recorded",
    "recording",
    "workers",
]

Oracle = Callable[[NDArray[Any]], NDArray[Any]]


def _questions(rows: ArrayLike, n_leaves: int | None, widths: tuple[int, ...] = (3,)) -> NDArray[np.int32]:
    table = _checks.whole_numbers("questions", rows)
    if table.size == 0:
        width = table.shape[-1] if table.ndim == 2 and table.shape[1] in widths else widths[0]
        return np.zeros((0, width), dtype=np.int32)
    if table.ndim != 2 or table.shape[1] not in widths:
        wanted = " or ".join(f"(m, {width})" for width in widths)
        raise InputError(f"questions are {wanted} leaf ids, not of shape {table.shape}")
    if n_leaves is not None:
        outside = np.flatnonzero(((table < 0) | (table >= n_leaves)).any(axis=1))
        if outside.size:
            row = table[outside[0]].tolist()
            reason = f"a leaf of {row} is outside 0..={n_leaves - 1}"
            raise InputError(reason, row=outside[0], leaves=[row])
    return np.ascontiguousarray(table, dtype=np.int32)


def odd_one_out(together: NDArray[np.float64]) -> NDArray[np.int8]:
    """The leaf that isn't in the closest pair; -1 if no pair is closest.

    Column c of `together` is the similarity of the two leaves other than c.
    """
    best = together.max(axis=1, keepdims=True, initial=-np.inf)
    tied = (together == best).sum(axis=1) > 1
    return np.where(tied, -1, together.argmax(axis=1) if len(together) else 0).astype(np.int8)


# --- those that know ------------------------------------------------------------------------


def from_tree(tree: Any) -> Oracle:
    """Answers as a tree has it: the odd one out is the leaf that joins last.

    Leaves that part at the same node (merges of equal height, one in the other) give -1.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.oracles.from_tree("((0,1),(2,3));")([[0, 2, 1], [3, 1, 2]])
    array([1, 1], dtype=int8)
    """
    from ordhc.trees import as_dendrogram

    found = as_dendrogram(tree)
    knows = _ordhc.TreeOracle(found._tree)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        return knows.answer(_questions(rows, found.n_leaves))

    return answer


def from_similarity(S: ArrayLike) -> Oracle:
    """Answers as an (n, n) similarity matrix has it: the most similar pair stays together.

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.from_similarity([[0, 5, 1], [5, 0, 2], [1, 2, 0]])
    >>> oracle([[0, 1, 2]]), oracle([[0, 1, 1, 2]])
    (array([2], dtype=int8), array([1], dtype=int8))
    """
    matrix = _checks.numbers_of("similarities", S)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"similarities have shape {matrix.shape}, not (n, n)")
    return _by_pairs(lambda i, j: matrix[i, j], len(matrix))


def from_vectors(X: ArrayLike, similarity: str = "euclidean") -> Oracle:
    """Answers as vectors have it, without a matrix of pairs.

    Parameters
    ----------
    X
        (n, p) numbers.
    similarity
        "euclidean" (the closest pair stays together), "dot" or "cosine".

    Examples
    --------
    >>> import ordhc
    >>> ordhc.oracles.from_vectors([[0.0], [1.0], [5.0]])([[2, 0, 1]])
    array([0], dtype=int8)
    """
    from ordhc.vectors import as_vectors, normalized

    rows = as_vectors(X)
    if not isinstance(rows, np.ndarray):
        rows = rows.toarray()
    similarity = _checks.choice("similarity", similarity, ("euclidean", "dot", "cosine"))
    if similarity == "cosine":
        rows = normalized(rows)

    def pairs(i: NDArray[Any], j: NDArray[Any]) -> NDArray[Any]:
        if similarity == "euclidean":
            return -((rows[i] - rows[j]) ** 2).sum(axis=1)  # type: ignore[no-any-return]
        return (rows[i] * rows[j]).sum(axis=1)  # type: ignore[no-any-return]

    return _by_pairs(pairs, len(rows))


def _by_pairs(similarity: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]], n: int) -> Oracle:
    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        table = _questions(rows, n, (3, 4))
        if table.shape[1] == 4:
            first, second = similarity(*table.T[:2]), similarity(*table.T[2:])
            return np.where(first > second, 1, np.where(first < second, -1, 0)).astype(np.int8)
        a, b, c = table.T
        return odd_one_out(np.stack([similarity(b, c), similarity(a, c), similarity(a, b)], axis=1))

    return answer


def recorded(data: Triplets | Quadruplets, *, missing: str = "error") -> Oracle:
    """Answers from comparisons that were collected before.

    A leaf is the odd one out if both others were said to be closer to each other than to it (by the
    larger weight); one such triplet is enough where nothing speaks against it.

    Parameters
    ----------
    data
        Triplets for questions of three leaves, quadruplets for those of four.
    missing
        What to do with a question that the data don't answer: "error", or "none" to answer -1 (0 for
        quadruplets).

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.recorded(ordhc.Triplets([(0, 1, 2), (1, 0, 2)]))
    >>> oracle([[2, 0, 1]])
    array([0], dtype=int8)
    """
    if not isinstance(data, Triplets | Quadruplets):
        raise InputError(f"recorded answers are Triplets or Quadruplets, not {_checks.quoted(data)}")
    missing = _checks.choice("missing", missing, ("error", "none"))
    weights = np.ones(len(data)) if data.weights is None else data.weights
    known: dict[tuple[int, ...], float] = {}
    for row, weight in zip(data.rows.tolist(), weights.tolist(), strict=True):
        if len(row) == 3:
            key: tuple[int, ...] = (row[0], *sorted(row[1:]))
            sign = 1 if row[1] < row[2] else -1
        else:
            near, far = sorted(row[:2]), sorted(row[2:])
            sign = 1 if near < far else -1
            key = (*near, *far) if sign == 1 else (*far, *near)
        known[key] = known.get(key, 0.0) + sign * weight

    def unknown(row: list[int]) -> InputError:
        names = [data.names[leaf] if data.names else str(leaf) for leaf in row]
        return InputError(f"the recorded answers don't tell about {', '.join(names)}")

    def farther(a: int, b: int, c: int) -> float:
        """How much says that c is farther from a than b is."""
        value = known.get((a, *sorted((b, c))), 0.0)
        return value if b < c else -value

    def one(row: list[int]) -> int:
        if len(row) == 4:
            near, far = sorted(row[:2]), sorted(row[2:])
            value = known.get((*near, *far), 0.0) - known.get((*far, *near), 0.0)
            if value == 0 and missing == "error":
                raise unknown(row)
            return int(np.sign(value))
        a, b, c = row
        # Votes for each leaf as the odd one out: by either of the two others.
        votes = [farther(b, c, a) + farther(c, b, a), farther(a, c, b) + farther(c, a, b)]
        votes.append(farther(a, b, c) + farther(b, a, c))
        best = max(votes)
        if best <= 0 or votes.count(best) > 1:
            if missing == "error":
                raise unknown(row)
            return -1
        return votes.index(best)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        width = 3 if isinstance(data, Triplets) else 4
        return np.array(
            [one(row) for row in _questions(rows, data.n_leaves, (width,)).tolist()], dtype=np.int8
        )

    return answer


def _checked_answers(given: Any, questions: NDArray[Any]) -> NDArray[np.int8]:
    """Answers of an oracle, one for each question; an error names the first that is none."""
    answers = _checks.array("the oracle's answers", given)
    if answers.shape != (len(questions),):
        raise InputError(f"the oracle gave answers of shape {answers.shape} to {len(questions)} questions")
    if not answers.size:
        return np.zeros(0, np.int8)
    known = "1, -1 or 0" if questions.ndim == 2 and questions.shape[1] == 4 else "0, 1, 2 or -1"
    if answers.dtype.kind not in "iuf":
        raise InputError(f"the oracle's answers of type {answers.dtype} are not {known}")
    largest = 1 if known.startswith("1") else 2
    fine = (answers >= -1) & (answers <= largest) & (answers == np.floor(answers))
    if not fine.all():
        row = int(np.flatnonzero(~fine)[0])
        raise InputError(
            f"question {row}, {questions[row].tolist()}: the oracle's answer {answers[row]} is not {known}",
            leaves=[questions[row]],
        )
    return answers.astype(np.int8)


# --- wrappers --------------------------------------------------------------------------------


def noisy(oracle: Any, p: float, *, wrong: str = "random", seed: int = 0) -> Oracle:
    """Right with probability `p` only, each time anew.

    Parameters
    ----------
    oracle
        The one that is right.
    p
        The probability that its answer is kept.
    wrong
        "random": one of the other two leaves (of all three where "none" is right); "adversarial": always
        the same one of them; "none": -1, or always the same leaf where that is right. About pairs a
        wrong answer is the opposite.

    Examples
    --------
    >>> import ordhc
    >>> liar = ordhc.oracles.noisy(ordhc.oracles.from_tree("((0,1),2);"), p=0.0, seed=1)
    >>> liar([[0, 1, 2]])[0] in (0, 1)
    True
    """
    p = _checks.number("p", p, at_least=0, at_most=1)
    wrong = _checks.choice("wrong", wrong, ("random", "adversarial", "none"))
    right = as_oracle(oracle)
    random = np.random.default_rng(_checks.seed(seed))

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        table = _questions(rows, None, (3, 4))
        answers = _checked_answers(right(table), table)
        if table.ndim == 2 and table.shape[1] == 4:
            return np.where(random.random(len(answers)) < p, answers, -answers).astype(np.int8)
        if not len(answers):
            return answers
        # The others in the order of their leaves, so that the place in the question does not matter.
        order = np.argsort(table, axis=1)
        places = order[np.arange(len(table))[:, None], [[0, 1, 2]]]
        others = places[places != answers[:, None]].reshape(-1, 2) if (answers >= 0).all() else None
        lies = np.empty(len(answers), dtype=np.int8)
        which = (
            random.integers(0, 2, len(answers)) if wrong == "random" else np.zeros(len(answers), dtype=int)
        )
        if others is not None:
            lies[:] = others[np.arange(len(answers)), which]
        else:
            if wrong == "random":
                which = np.where(answers < 0, random.integers(0, 3, len(answers)), which)
            for row, truth in enumerate(answers.tolist()):
                rest = [place for place in places[row].tolist() if place != truth]
                lies[row] = rest[which[row] % len(rest)]
        if wrong == "none":
            lies[answers >= 0] = -1
        return np.where(random.random(len(answers)) < p, answers, lies).astype(np.int8)

    return answer


def majority(oracle: Any, k: int) -> Oracle:
    """Asks every question `k` times and takes the most frequent answer; a tie is -1 (0 for quadruplets).

    Examples
    --------
    >>> import ordhc
    >>> truth = ordhc.oracles.from_tree("((0,1),2);")
    >>> ordhc.oracles.majority(ordhc.oracles.noisy(truth, 0.8), 31)([[0, 1, 2]])
    array([2], dtype=int8)
    """
    k = _checks.whole("k", k, at_least=1)
    one = as_oracle(oracle)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        table = _questions(rows, None, (3, 4))
        given = np.stack([_checked_answers(one(table), table) for _ in range(k)])
        choices = np.array([0, 1, 2, -1] if table.ndim == 2 and table.shape[1] == 3 else [1, -1, 0])
        counts = (given[None] == choices[:, None, None]).sum(axis=1)
        best = counts.max(axis=0, initial=0)
        undecided = -1 if len(choices) == 4 else 0
        tied = (counts == best).sum(axis=0) > 1
        return np.where(tied, undecided, choices[counts.argmax(axis=0)]).astype(np.int8)

    return answer


class counting:  # noqa: N801
    """Counts questions and batches: `n_questions`, `n_batches`.

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.counting(ordhc.oracles.from_tree("((0,1),(2,3));"))
    >>> _ = ordhc.learn(oracle, 4)
    >>> oracle.n_questions == oracle.n_batches <= 4
    True
    """

    def __init__(self, oracle: Any) -> None:
        self._oracle = as_oracle(oracle)
        self.n_questions = 0
        self.n_batches = 0

    def __call__(self, rows: ArrayLike) -> NDArray[Any]:
        """Answer a batch."""
        table = _questions(rows, None, (3, 4))
        answers = _checked_answers(self._oracle(table), table)
        self.n_questions += len(answers)
        self.n_batches += 1
        return answers


class recording(counting):  # noqa: N801
    """Counts, and keeps all questions and answers: `rows`, `answers`, `comparisons()`.

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.recording(ordhc.oracles.from_tree("((0,1),2);"))
    >>> _ = ordhc.learn(oracle, 3)
    >>> sorted(oracle.comparisons())
    [(0, 1, 2), (1, 0, 2)]
    """

    def __init__(self, oracle: Any) -> None:
        super().__init__(oracle)
        self._kept: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def __call__(self, rows: ArrayLike) -> NDArray[Any]:
        """Answer a batch."""
        table = _questions(rows, None, (3, 4)).copy()
        answers = super().__call__(table)
        self._kept.append((table, np.array(answers)))
        return answers

    @property
    def rows(self) -> NDArray[Any]:
        """All questions, (m, 3) or (m, 4)."""
        return np.concatenate([rows for rows, _ in self._kept]) if self._kept else np.zeros((0, 3), np.int32)

    @property
    def answers(self) -> NDArray[Any]:
        """The answers, (m,)."""
        return np.concatenate([answers for _, answers in self._kept]) if self._kept else np.zeros(0, np.int8)

    def comparisons(
        self, n_leaves: int | None = None, names: Sequence[str] | None = None
    ) -> Triplets | Quadruplets:
        """The answers as triplets, two for each odd one out, or as quadruplets."""
        from ordhc.learning import comparisons_of

        rows = self.rows
        names = _checks.names(names)
        if n_leaves is None:
            n_leaves = len(names) if names is not None else int(rows.max(initial=-1)) + 1
        return comparisons_of(rows, self.answers, n_leaves, names)


def workers(oracles: Sequence[Any]) -> Oracle:
    """Several oracles that answer side by side, each its part of a batch.

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
        raise InputError(f"{_checks.quoted(oracles)} is no list of oracles") from None
    if not each:
        raise InputError("there are no oracles")

    def answer(rows: ArrayLike) -> NDArray[Any]:
        table = _questions(rows, None, (3, 4))
        parts = np.array_split(table, min(len(each), max(len(table), 1)))
        with ThreadPoolExecutor(len(each)) as pool:
            given = list(
                pool.map(
                    lambda pair: _checked_answers(pair[0](pair[1]), pair[1]), zip(each, parts, strict=False)
                )
            )
        return np.concatenate(given)

    return answer


def person(names: Sequence[str] | None = None) -> Oracle:
    """Asks the person at the terminal, one question after the other: 1, 2 or 3 is the odd one out, 0 none.

    `ordhc learn` is the comfortable way, with undo, pauses and a file that keeps all answers.
    """
    names = _checks.names(names)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        answers = []
        for row in _questions(rows, None if names is None else len(names)).tolist():
            texts = [names[leaf] if names is not None else f"leaf {leaf}" for leaf in row]
            shown = ", ".join(f"{at} {text}" for at, text in enumerate(texts, 1))
            while True:
                given = input(f"Which is the odd one out? {shown} (0: none) ").strip()
                if given in ("0", "1", "2", "3"):
                    answers.append(int(given) - 1)
                    break
                print("Please answer 0, 1, 2 or 3.")
        return np.array(answers, dtype=np.int8)

    return answer


def as_oracle(oracle: Any) -> Oracle:
    """What can be called on a batch; trees, comparisons and lists of oracles become one."""
    if isinstance(oracle, Dendrogram):
        return from_tree(oracle)
    if isinstance(oracle, Triplets | Quadruplets):
        return recorded(oracle)
    if isinstance(oracle, list | tuple):
        return workers(oracle)
    if not callable(oracle):
        raise InputError(
            f"an oracle is a callable on (m, 3) leaves, not {type(oracle).__name__}; ordhc.oracles has some"
        )

    def answer(rows: NDArray[Any]) -> Any:
        given = oracle(rows)
        return asyncio.run(_awaited(given)) if inspect.isawaitable(given) else given

    return answer


async def _awaited(given: Any) -> Any:
    return await given
