"""Oracles that answer from a tree, similarities, vectors, recorded answers, or a person at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import without_bars
from ordhc.asking.oracle import Answering, checked_questions
from ordhc.asking.people import as_questions
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.similarities.vectors import as_vectors, normalized
from ordhc.tree.convert import as_dendrogram, index_names
from ordhc.tree.dendrogram import engine_tree


def odd_one_out(together: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return for each question the position of the leaf that is not in the closest pair; -1 for ties.

    Column c of the (m, 3) array `together` is the similarity of the two leaves other than leaf c.
    """
    best = together.max(axis=1, keepdims=True, initial=-np.inf)
    tied = (together == best).sum(axis=1) > 1
    return np.where(tied, -1, together.argmax(axis=1) if len(together) else 0).astype(np.int8)


def from_tree(tree: Any) -> Answering:
    """Return an oracle that answers from a tree: the odd one out is the leaf that merges last.

    Three leaves that merge at the same node give -1. For two pairs, the closer pair is the one whose lowest
    common ancestor is below that of the other pair. Pairs in different subtrees are compared by heights;
    without heights the answer is 0.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.

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
    """Return an oracle that answers from a similarity matrix.

    The odd one out is the leaf that is not in the most similar pair.

    Parameters
    ----------
    S
        (n, n) similarities; larger numbers mean more similar. For distances D pass ``D.max() - D``.

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
    """Return an oracle that answers from vectors, without a matrix of all pairs.

    The odd one out is the leaf that is not in the most similar pair.

    Parameters
    ----------
    X
        (n, p) one vector for each leaf.
    similarity
        "euclidean" (the default: a smaller distance is more similar), "dot" or "cosine".

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
    """Return an oracle that answers from comparisons that were collected before.

    A triplet (a, b, c) says that a is closer to b than to c. It is a vote for c as the odd one out, and
    against b. The odd one out is the leaf with the largest sum of weighted votes (for minus against), if the
    sum is positive. One triplet is enough if no triplet contradicts it. The question whether a is closer to b
    than to c is the question (a, b, a, c) about two pairs.

    ``oracle.known`` is the array of questions that the oracle can answer. Its shape is (m, 3) if all triplets
    come in pairs (a, b, c) and (b, a, c) that name c as the odd one out, otherwise (m, 4).
    ``ordhc.learn(oracle, method="uncertain")`` asks only these questions.

    Parameters
    ----------
    data
        Triplets, or quadruplets for questions about two pairs.
    missing
        "error" (the default) raises `InputError` for a question that the data do not answer. "none" answers
        -1 (0 for two pairs).

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
    width = 3 if isinstance(data, Triplets) else 4
    # For two pairs, the weight of "the first pair is closer" minus the weight of "the second pair is closer".
    known: dict[tuple[int, ...], float] = {}
    pairs = data.rows if width == 4 else data.rows[:, [0, 1, 0, 2]]
    keys, closer_pair = as_questions(pairs, np.ones(len(pairs), dtype=np.int8))
    signed = np.where(closer_pair == 0, weights, -weights)
    for key, weight in zip(map(tuple, keys.tolist()), signed.tolist(), strict=True):
        known[key] = known.get(key, 0.0) + weight

    def unknown(row: list[int]) -> InputError:
        names = [data.names[leaf] if data.names else str(leaf) for leaf in row]
        return InputError(f"the recorded answers do not decide the question about {', '.join(names)}")

    def closer(i: int, j: int, k: int, m: int) -> float:
        first = (i, j) if i < j else (j, i)
        second = (k, m) if k < m else (m, k)
        return known.get(first + second, 0.0) if first < second else -known.get(second + first, 0.0)

    def farther(a: int, b: int, c: int) -> float:
        return closer(a, b, a, c)

    def one(row: list[int]) -> int:
        if len(row) == 4:
            value = closer(*row)
            if value == 0 and missing == "error":
                raise unknown(row)
            return int(np.sign(value))
        a, b, c = row
        # For each leaf the weight of the triplets that name it as the odd one out, minus the weight of the
        # triplets that contradict this.
        votes = [farther(b, c, a) + farther(c, b, a), farther(a, c, b) + farther(c, a, b)]
        votes.append(farther(a, b, c) + farther(b, a, c))
        best = max(votes)
        if best <= 0 or votes.count(best) > 1:
            if missing == "error":
                raise unknown(row)
            return -1
        return votes.index(best)

    widths = (3, 4) if width == 3 else (4,)

    def answer(rows: ArrayLike) -> NDArray[np.int8]:
        return np.array(
            [one(row) for row in checked_questions(rows, data.n_leaves, widths).tolist()], dtype=np.int8
        )

    made = Answering(answer, data.n_leaves, data.names, widths)
    clear = [key for key, value in known.items() if value != 0]
    if width == 3:
        clear = [_anchored(*key) for key in clear]
        # Do the triplets (b, a, c) and (a, b, c) both name the odd one out?
        if all(
            farther(b, a, c) > 0 if farther(a, b, c) > 0 else farther(c, a, b) > 0 for a, b, _, c in clear
        ):
            clear = sorted({tuple(sorted((a, b, c))) for a, b, _, c in clear})
        else:
            width = 4
    made.known = np.array(clear, dtype=np.int32).reshape(-1, width)
    return made


def _anchored(i: int, j: int, k: int, m: int) -> tuple[int, ...]:
    """Return two pairs as (a, b, a, c), where `a` is the leaf that both have."""
    a = i if i in (k, m) else j
    return a, i + j - a, a, k + m - a


def person(names: Sequence[str] | None = None) -> Answering:
    """Return an oracle that asks the person at the terminal, one question after the other.

    The person types 1, 2 or 3, or 0 for none. The command `ordhc learn` also has undo, pauses, and a file
    that keeps all answers.

    Parameters
    ----------
    names
        The names of the leaves; by default "leaf 0" and so on.
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
