"""The loop: a learner asks, an oracle answers."""

import math
from collections.abc import Sequence
from typing import Any

from ordhc import _checks
from ordhc._progress import Progress
from ordhc.asking.learner import Learner, Questions
from ordhc.asking.oracle import Oracle
from ordhc.asking.wrappers import as_oracle
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["learn"]


def learn(
    oracle: Any,
    n_leaves: int | Sequence[str] | None = None,
    method: str = "insertion",
    *,
    budget: int | None = None,
    batch: int | None = None,
    learner: Learner | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Dendrogram:
    """Learn a tree from an oracle.

    Parameters
    ----------
    oracle
        A callable on (m, 3) leaves that gives (m,) places of the odd one out (0, 1, 2; -1 for none), or on
        (m, 4) that gives 1 or -1, for whole batches; it may be asynchronous. Ready-made ones are in
        `ordhc.oracles`. Several in a list answer side by side.
    n_leaves, method, **settings
        As in `Learner`: p, delta, schedule, parallel, exact, repeat, limit, seed, ...
    budget
        Ask so many questions at most and give the best tree so far.
    batch
        At most so many questions at a time; by default all that can be asked.
    learner
        One to go on with, instead of a new one.
    progress
        Called with the share of leaves that have their place, from 0 to 1.

    Returns
    -------
    Dendrogram
        Heights are levels; nodes of more than two children are merges of equal height.

    Raises
    ------
    Exception
        What the oracle raises. All answers so far are kept: ``error.learner`` goes on with them,
        ``learn(oracle, learner=error.learner)``.

    Examples
    --------
    >>> import ordhc
    >>> truth = ordhc.as_dendrogram("((0,(1,2)),((3,4),5));")
    >>> tree = ordhc.learn(ordhc.oracles.from_tree(truth), 6)
    >>> ordhc.metrics.robinson_foulds(tree, truth)
    0.0
    """
    progress = _checks.callback("progress", progress)
    if learner is None:
        if n_leaves is None:
            raise InputError("give n_leaves, or a learner to go on with")
        learner = Learner(n_leaves, method, budget=budget, **settings)
    elif n_leaves is not None or settings:
        raise InputError("a learner has its number of leaves and settings already")
    elif not isinstance(learner, Learner):
        raise InputError(f"learner = {_checks.quoted(learner)} is no Learner")
    answer: Oracle = as_oracle(oracle)
    spent = learner.n_asked
    most = math.inf if budget is None else spent + _checks.whole("budget", budget, at_least=0)
    size = None if batch is None else _checks.whole("batch", batch, at_least=1)
    questions = learner.open
    try:
        while not learner.done:
            if not len(questions):
                room = most - learner.n_asked
                if room <= 0:
                    break
                questions = learner.ask(size if size is not None and size < room else _as_limit(room))
            part = questions
            if size is not None and len(questions) > size:
                part = Questions(questions.ids[:size], questions.rows[:size])
            if not len(part):
                break
            answers = _checks.array("the oracle's answers", answer(part.rows))
            if answers.shape != (len(part),):
                raise InputError(f"the oracle gave {answers.shape} answers to {len(part)} questions")
            learner.tell(part.ids, answers)
            questions = Questions(questions.ids[len(part) :], questions.rows[len(part) :])
            if progress is not None:
                progress(learner.n_placed / learner.n_leaves)
    except BaseException as error:
        _keep(error, learner)
        raise
    return learner.tree()


def _as_limit(room: float) -> int | None:
    return None if room == math.inf else int(room)


def _keep(error: BaseException, learner: Learner) -> None:
    """The learner goes with the error."""
    try:
        error.learner = learner  # type: ignore[attr-defined]
        error.add_note(f"{learner.n_answered} answers are kept in the learner of this error (error.learner)")
    except (AttributeError, TypeError):
        pass
