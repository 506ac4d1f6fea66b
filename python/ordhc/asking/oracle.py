"""What an oracle is: questions in, answers out, at once or awaited."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.asking.methods import NOISES, Majority, Method, Robust, RobustPaper
from ordhc.errors import InputError

__all__ = [
    "Answering",
    "Oracle",
    "advised",
    "checked_answers",
    "checked_questions",
    "errors_of",
    "known_to",
    "settled",
    "then",
]


Oracle = Callable[[NDArray[Any]], Any]

#: The `p` of an oracle that errs and does not know how often. If fewer answers are wrong, a learner asks more
#: questions than needed.
ASSUMED_P = 0.75


class Answering:
    """A callable on batches of questions that may know how many leaves there are, and their names.

    `questions` says how many leaves a question may have: 3, 4 or both; `known`, (m, 3) or (m, 4), which
    ones it can answer, where these are some only. An oracle that errs has a `noise`: "independent", or
    "persistent" if it repeats its answers; and as `p` the probability that an answer is right, None if it
    does not know.
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
        #: Gives the oracle's leaves of names, where that is more than looking them up.
        self.leaves_of: Callable[[Any], Any] | None = None
        self.known: NDArray[np.int32] | None = None
        self.p: float | None = None
        self.noise: str | None = None
        #: Reports what the oracle has done, such as the cost of a language model.
        self.report: Callable[[], Any] | None = None

    @classmethod
    def around(cls, oracle: Any, answer: Callable[[Any], Any]) -> "Answering":
        """What answers with the help of another oracle, about the same leaves."""
        known = (getattr(oracle, "n_leaves", None), getattr(oracle, "names", None))
        made = cls(answer, *known, getattr(oracle, "questions", (3, 4)))
        made.leaves_of = getattr(oracle, "leaves_of", None)
        made.known = getattr(oracle, "known", None)
        made.p, made.noise = errors_of(oracle)
        made.report = getattr(oracle, "report", None)
        return made

    def __call__(self, rows: ArrayLike) -> Any:
        """Answer a batch."""
        return self._answer(rows)

    def __repr__(self) -> str:
        return f"<oracle{'' if self.n_leaves is None else f' about {self.n_leaves:,} leaves'}>"


def errors_of(oracle: Any) -> tuple[float | None, str | None]:
    """Return how likely an oracle's answers are right, and its noise.

    The probability is None if nobody knows it; the noise is None if the oracle never errs.
    """
    noise, p = getattr(oracle, "noise", None), getattr(oracle, "p", None)
    if noise is None:
        return None, None
    p = None if p is None else _checks.number("p of the oracle", p, at_least=0.5, at_most=1, open_ends=True)
    return p, _checks.choice("noise of the oracle", noise, NOISES)


def advised(oracle: Any, method: Method | None, repeat: int) -> tuple[Method | None, str]:
    """Return a method with what the oracle knows about its errors, and a sentence that says so.

    Values of the caller stay. The method is None if the caller gave none; then the oracle's errors make it
    robust. Nothing changes (and the sentence is empty) if the oracle never errs, if the method has no use for
    `p`, or with `repeat`. Nor for "revise", which expects errors whatever its `p` is: with a `p` it stopped
    earlier, at trees three times as wrong (150 texts, a model that is right with probability .92).
    """
    p, noise = errors_of(oracle)
    made = Robust() if method is None else method
    if noise is None or repeat != 1 or not isinstance(made, Robust | RobustPaper | Majority) or made.p == 1:
        return method, ""
    known = f"is right with probability {p:g}" if p is not None else "errs, it does not know how often"
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
    remedy = "; give p if you know it" if p is None and "p" in advice else ""
    return replace(made, **advice), f"{reason}: the learner has {chosen}{remedy}"


def known_to(oracle: Any, leaves: int | Sequence[str]) -> NDArray[np.int32] | None:
    """The questions about these leaves that an oracle can answer, by their numbers; None for any."""
    known: NDArray[np.int32] | None = getattr(oracle, "known", None)
    names = getattr(oracle, "names", None)
    if known is None or names is None or isinstance(leaves, int) or tuple(names) == tuple(leaves):
        return known
    place = {name: leaf for leaf, name in enumerate(leaves)}
    numbers = np.array([place.get(name, -1) for name in names], dtype=np.int32)[known]
    return np.ascontiguousarray(numbers[(numbers >= 0).all(axis=1)])


def then(given: Any, work: Callable[[Any], Any]) -> Any:
    """What work makes of something given, or of what it turns out to be once it is awaited."""
    if not inspect.isawaitable(given):
        return work(given)

    async def awaited() -> Any:
        return work(await given)

    return awaited()


async def settled(given: Any) -> Any:
    """Something given, or what it turns out to be once it is awaited."""
    return await given if inspect.isawaitable(given) else given


def checked_questions(
    rows: ArrayLike, n_leaves: int | None, widths: tuple[int, ...] = (3,)
) -> NDArray[np.int32]:
    """(m, 3) or (m, 4) leaves, different ones in each row of three."""
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


def checked_answers(given: Any, questions: NDArray[Any]) -> NDArray[np.int8]:
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
