"""Oracles that answer from what they know."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import without_bars
from ordhc.asking.oracle import Answering, checked_questions
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.similarities.vectors import as_vectors, normalized
from ordhc.tree.convert import as_dendrogram, index_names
from ordhc.tree.parts import engine_tree

__all__ = ["from_similarity", "from_tree", "from_vectors", "odd_one_out", "person", "recorded"]


def odd_one_out(together: NDArray[np.float64]) -> NDArray[np.int8]:
    """The leaf that isn't in the closest pair; -1 if no pair is closest.

    Column c of `together` is the similarity of the two leaves other than c.
    """
    best = together.max(axis=1, keepdims=True, initial=-np.inf)
    tied = (together == best).sum(axis=1) > 1
    return np.where(tied, -1, together.argmax(axis=1) if len(together) else 0).astype(np.int8)


def from_tree(tree: Any) -> Answering:
    """Answers as a tree has it: the odd one out is the leaf that joins last.

    Three leaves that join at the same node give -1. Of two pairs the closer one is the pair that joins below
    the other. Pairs that join in different parts of the tree are compared by heights; without heights the
    answer is 0.

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.from_tree("((0,1),(2,3));")
    >>> oracle([[0, 2, 1], [3, 1, 2]])
    array([1, 1], dtype=int8)
    >>> oracle([[0, 1, 0, 2], [0, 3, 3, 2], [0, 1, 2, 3]])
    array([ 1, -1,  0], dtype=int8)
    """
    found = as_dendrogram(tree)
    engine = engine_tree(found)
    knows = _ordhc.TreeOracle(engine)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        table = checked_questions(rows, found.n_leaves, (3, 4))
        return knows.answer(table) if table.shape[1] == 3 else _ordhc.verdicts(engine, table, None)

    return Answering(answer, found.n_leaves, found.names)


def from_similarity(S: ArrayLike) -> Answering:
    """Answers as an (n, n) similarity matrix has it: the most similar pair stays together.

    Larger numbers mean more alike. For distances D give ``D.max() - D``.

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.from_similarity([[0, 5, 1], [5, 0, 2], [1, 2, 0]])
    >>> oracle([[0, 1, 2]]), oracle([[0, 1, 1, 2]])
    (array([2], dtype=int8), array([1], dtype=int8))
    """
    names = _checks.names(index_names(S))
    matrix = _checks.numbers_of("similarities", S)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"similarities have shape {matrix.shape}, not (n, n)")
    return Answering(_by_pairs(lambda i, j: matrix[i, j], len(matrix)), len(matrix), names)


def from_vectors(X: ArrayLike, similarity: str = "euclidean") -> Answering:
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
    names = _checks.names(index_names(X))
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

    return Answering(_by_pairs(pairs, len(rows)), len(rows), names)


def _by_pairs(
    similarity: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]], n: int
) -> Callable[[ArrayLike], NDArray[np.int8]]:
    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        table = checked_questions(rows, n, (3, 4))
        if table.shape[1] == 4:
            first, second = similarity(*table.T[:2]), similarity(*table.T[2:])
            return np.where(first > second, 1, np.where(first < second, -1, 0)).astype(np.int8)
        a, b, c = table.T
        return odd_one_out(np.stack([similarity(b, c), similarity(a, c), similarity(a, b)], axis=1))

    return answer


def recorded(data: Triplets | Quadruplets, *, missing: str = "error") -> Answering:
    """Answers from comparisons that were collected before.

    A leaf is the odd one out if both others were said to be closer to each other than to it (by the
    larger weight); one such triplet is enough where nothing speaks against it. Whether a is closer to b than
    to c is the question (a, b, a, c) of two pairs.

    ``oracle.known`` has the questions that it can answer, (m, 3) for triplets each of which is half of an odd
    one out, else (m, 4). ``ordhc.learn(oracle, method="uncertain")`` asks no others.

    Parameters
    ----------
    data
        Triplets, or quadruplets for questions of two pairs.
    missing
        What to do with a question that the data don't answer: "error", or "none" to answer -1 (0 for
        quadruplets).

    Examples
    --------
    >>> import ordhc
    >>> oracle = ordhc.oracles.recorded(ordhc.Triplets([(0, 1, 2), (1, 0, 2)]))
    >>> oracle([[2, 0, 1]])
    array([0], dtype=int8)
    >>> oracle.known
    array([[0, 1, 2]], dtype=int32)
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

    def of_pairs(row: list[int]) -> float:
        near, far = sorted(row[:2]), sorted(row[2:])
        return known.get((*near, *far), 0.0) - known.get((*far, *near), 0.0)

    def of_anchor(i: int, j: int, k: int, m: int) -> float:
        """How much says that i and j are closer than k and m, one of which is one of them."""
        if len({i, j, k, m}) != 3:
            return 0.0
        anchor = i if i in (k, m) else j
        return farther(anchor, i + j - anchor, k + m - anchor)

    def one(row: list[int]) -> int:
        if len(row) == 4:
            value = of_anchor(*row) if width == 3 else of_pairs(row)
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

    width = 3 if isinstance(data, Triplets) else 4
    widths = (3, 4) if width == 3 else (4,)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        return np.array(
            [one(row) for row in checked_questions(rows, data.n_leaves, widths).tolist()], dtype=np.int8
        )

    made = Answering(answer, data.n_leaves, data.names, widths)
    clear = [key for key, value in known.items() if value != 0]
    if width == 3 and _are_odd_ones_out(clear, farther):
        rows = sorted({tuple(sorted(key)) for key in clear})
        made.known = np.array(rows, dtype=np.int32).reshape(-1, 3)
    elif width == 3:
        made.known = np.array([(a, b, a, c) for a, b, c in clear], dtype=np.int32).reshape(-1, 4)
    else:
        made.known = np.array(clear, dtype=np.int32).reshape(-1, 4)
    return made


def _are_odd_ones_out(clear: list[tuple[int, ...]], farther: Callable[[int, int, int], float]) -> bool:
    """Whether of each triplet (a, b, odd) the other half is there, too."""
    for a, b, c in clear:
        near, odd = (b, c) if farther(a, b, c) > 0 else (c, b)
        if farther(near, a, odd) <= 0:
            return False
    return True


def person(names: Sequence[str] | None = None) -> Answering:
    """Asks the person at the terminal, one question after the other: 1, 2 or 3, and 0 for none.

    `ordhc learn` is the comfortable way, with undo, pauses and a file that keeps all answers.
    """
    names = _checks.names(names)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        table = checked_questions(rows, None if names is None else len(names), (3, 4))
        pairs = table.shape[1] == 4
        question = "Which pair is more similar?" if pairs else "Which is the odd one out?"
        meaning = {"0": 0, "1": 1, "2": -1} if pairs else {"0": -1, "1": 0, "2": 1, "3": 2}
        answers = []
        for row in table.tolist():
            texts = [
                _checks.on_one_line(names[leaf]) if names is not None else f"leaf {leaf}" for leaf in row
            ]
            if pairs:
                texts = [" and ".join(texts[:2]), " and ".join(texts[2:])]
            shown = ", ".join(f"{at} {text}" for at, text in enumerate(texts, 1))
            with without_bars():
                while (given := input(f"{question} {shown} (0: none) ").strip()) not in meaning:
                    print(f"Please answer {', '.join(meaning)}.")
            answers.append(meaning[given])
        return np.array(answers, dtype=np.int8)

    return Answering(answer, None if names is None else len(names), names)
