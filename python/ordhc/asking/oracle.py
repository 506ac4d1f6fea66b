"""Define oracles: callables that answer batches of questions, synchronously or asynchronously."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.asking.methods import NOISES, Majority, Method, Robust, RobustPaper
from ordhc.errors import InputError

Oracle = Callable[[NDArray[Any]], Any]

#: The assumed `p` of an oracle that errs and does not know how often. If the oracle errs less often, the
#: learner asks more questions than it needs.
ASSUMED_P = 0.75


class Answering:
    """An oracle: a callable that answers batches of questions.

    Attributes
    ----------
    n_leaves, names
        The number of leaves and their names; None if the oracle does not know them.
    questions
        The numbers of leaves that a question may have: 3, 4 or both.
    known
        (m, 3) or (m, 4) the questions that the oracle can answer; None if it can answer all questions.
    noise
        None if the oracle never errs. "independent" if a repeated question gets an independent answer,
        "persistent" if it gets the same answer.
    p
        The probability that an answer is right; None if it is unknown or the oracle never errs.
    """

    def __init__(
        self,
        answer: Callable[[Any], Any],
        n_leaves: int | None = None,
        names: tuple[str, ...] | None = None,
        questions: tuple[int, ...] = (3, 4),
    ) -> None:
        self._answer = answer
        self.n_leaves = n_leaves
        self.names = names
        self.questions = questions
        #: Returns the oracle's leaves for names, if a look-up in `names` is not enough.
        self.leaves_of: Callable[[Any], Any] | None = None
        self.known: NDArray[np.int32] | None = None
        self.p: float | None = None
        self.noise: str | None = None
        #: Returns a report of the oracle's work, such as the cost of a language model.
        self.report: Callable[[], Any] | None = None

    @classmethod
    def around(cls, oracle: Any, answer: Callable[[Any], Any]) -> Answering:
        """Return an oracle that calls `answer` and has the attributes of `oracle`.

        `answer` uses `oracle` and answers about the same leaves.
        """
        known = (getattr(oracle, "n_leaves", None), getattr(oracle, "names", None))
        made = cls(answer, *known, getattr(oracle, "questions", (3, 4)))
        made.leaves_of = getattr(oracle, "leaves_of", None)
        made.known = getattr(oracle, "known", None)
        made.p, made.noise = errors_of(oracle)
        made.report = getattr(oracle, "report", None)
        return made

    def __call__(self, rows: ArrayLike) -> Any:
        """Return the (m,) answers to (m, 3) or (m, 4) questions."""
        return self._answer(rows)

    def __repr__(self) -> str:
        return f"<oracle{'' if self.n_leaves is None else f' about {self.n_leaves:,} leaves'}>"


def errors_of(oracle: Any) -> tuple[float | None, str | None]:
    """Return the probability that an oracle's answers are right, and the oracle's noise.

    The probability is None if it is unknown. The noise is None if the oracle never errs, otherwise
    "independent" or "persistent"; see `Answering`.
    """
    noise, p = getattr(oracle, "noise", None), getattr(oracle, "p", None)
    if noise is None:
        return None, None
    p = None if p is None else _checks.number("p of the oracle", p, at_least=0.5, at_most=1, open_ends=True)
    return p, _checks.choice("noise of the oracle", noise, NOISES)


def advised(oracle: Any, method: Method | None, repeat: int) -> tuple[Method | None, str]:
    """Return the method with the oracle's `p` and `noise` filled in, and a sentence that explains the change.

    Settings that the caller gave are kept. If the caller gave no method (None) and the oracle errs, the
    method becomes `Robust`. The method stays as it is, and the sentence is empty, in these cases:

    * the oracle never errs;
    * the method does not use `p`;
    * `repeat` is not 1;
    * the method is `Revise`, which expects errors even if `p` is not given. With the oracle's `p`, its trees
      had three times as many errors as without (150 texts, a model that is right with probability 0.92).
    """
    p, noise = errors_of(oracle)
    made = Robust() if method is None else method
    if noise is None or repeat != 1 or not isinstance(made, Robust | RobustPaper | Majority) or made.p == 1:
        return method, ""
    known = f"is right with probability {p:g}" if p is not None else "errs, but not how often"
    reason = f"the oracle says that it {known}"
    advice: dict[str, Any] = {}
    if made.p is None:
        advice["p"] = ASSUMED_P if p is None else p
    if noise == "persistent":
        reason += ", and that it repeats its answers"
        if isinstance(made, Robust) and made.noise is None and made.assume == "adversarial":
            advice["noise"] = noise
    if not advice:
        return made, ""
    chosen = ", ".join(f"{name}={value!r}" for name, value in advice.items())
    remedy = "; if you know p, give it as a setting of the method" if p is None and "p" in advice else ""
    return replace(made, **advice), f"{reason}: the learner has {chosen}{remedy}"


def known_to(oracle: Any, leaves: int | Sequence[str]) -> NDArray[np.int32] | None:
    """Return the questions that an oracle can answer; None if it can answer all questions.

    If `leaves` are names, leaf i of the result is `leaves[i]`.
    """
    known: NDArray[np.int32] | None = getattr(oracle, "known", None)
    names = getattr(oracle, "names", None)
    if known is None or names is None or isinstance(leaves, int) or tuple(names) == tuple(leaves):
        return known
    place = _checks.LeafNumbers(leaves)
    numbers = np.array([place.get(name, -1) for name in names], dtype=np.int32)[known]
    return np.ascontiguousarray(numbers[(numbers >= 0).all(axis=1)])


def then(given: Any, work: Callable[[Any], Any]) -> Any:
    """Return `work(given)`; if `given` is awaitable, return an awaitable of `work(await given)`."""
    if not inspect.isawaitable(given):
        return work(given)

    async def awaited() -> Any:
        return work(await given)

    return awaited()


async def settled(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


def checked_questions(
    rows: ArrayLike, n_leaves: int | None, widths: tuple[int, ...] = (3,)
) -> NDArray[np.int32]:
    table = _checks.whole_numbers("questions", rows)
    if table.size == 0:
        width = table.shape[-1] if table.ndim == 2 and table.shape[1] in widths else widths[0]
        return np.zeros((0, width), dtype=np.int32)
    if table.ndim != 2 or table.shape[1] not in widths:
        wanted = " or ".join(f"(m, {width})" for width in widths)
        raise InputError(f"questions must be {wanted} leaf ids, but have shape {table.shape}")
    if n_leaves is not None:
        for at in np.flatnonzero(((table < 0) | (table >= n_leaves)).any(axis=1))[:1].tolist():
            row = table[at].tolist()
            raise InputError(f"a leaf of {row} is outside 0..={n_leaves - 1}", row=at, leaves=[row])
    return np.ascontiguousarray(table, dtype=np.int32)


def one_for_each(given: Any, m: int) -> NDArray[Any]:
    answers = _checks.array("the oracle's answers", given)
    if answers.shape != (m,):
        raise InputError(f"the oracle gave answers of shape {answers.shape} to {m} questions, not {(m,)}")
    return answers


def checked_answers(given: Any, questions: NDArray[Any]) -> NDArray[np.int8]:
    answers = one_for_each(given, len(questions))
    if not answers.size:
        return np.zeros(0, np.int8)
    known = "1, -1 or 0" if questions.ndim == 2 and questions.shape[1] == 4 else "0, 1, 2 or -1"
    if answers.dtype.kind not in "iuf":
        raise InputError(f"the oracle's answers of type {answers.dtype} are not {known}")
    largest = 1 if known.startswith("1") else 2
    fine = (answers >= -1) & (answers <= largest) & (answers == np.floor(answers))
    for row in np.flatnonzero(~fine)[:1].tolist():
        raise InputError(
            f"question {row}, {questions[row].tolist()}: the oracle's answer {answers[row]} is not {known}",
            leaves=[questions[row]],
        )
    return answers.astype(np.int8)
