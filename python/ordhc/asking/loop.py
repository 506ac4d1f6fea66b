"""Run the loop in which a learner or a session asks and an oracle answers."""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc.asking.analysis import rows_and_answers
from ordhc.asking.learner import Learner, mistake_about
from ordhc.asking.methods import Method, Revise, Uncertain
from ordhc.asking.oracle import Oracle, advised, errors_of, known_to, one_for_each, settled
from ordhc.asking.prior import read_prior
from ordhc.asking.questions import Questions
from ordhc.asking.settings import as_method
from ordhc.asking.supported import contracted
from ordhc.asking.wrappers import as_oracle
from ordhc.errors import InputError, warn
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from ordhc.asking.session import Session

#: Seconds between two checks of a session while other people have all of its questions.
_POLL = 0.5

Steps = Generator[NDArray[np.int32] | None, Any, None]


@shows_progress("asking")
def learn(
    oracle: Any,
    n_leaves: int | Sequence[str] | None = None,
    method: Method | str | None = None,
    *,
    learner: Learner | None = None,
    session: Session | None = None,
    who: str | None = None,
    budget: int | None = None,
    batch: int | None = None,
    supported_by: int | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Dendrogram:
    """Learn a tree from an oracle.

    Parameters
    ----------
    oracle
        A callable that answers a batch of questions. For (m, 3) leaves it returns the (m,) positions of the
        odd one out: 0, 1, 2, or -1 for none. For (m, 4) leaves, two pairs, it returns 1 if the first pair is
        closer, -1 if the second pair is, or 0. The callable may be asynchronous. `ordhc.oracles` has
        ready-made oracles; `ordhc.oracles.named` returns oracles of plugins. Several oracles in a list
        answer at the same time.
    n_leaves
        The number of leaves, or their names; by default the leaves of the oracle, or of the prior of
        `ordhc.learners.Revise`. Leaves are matched by name if the oracle has names too.
    method
        As in `Learner`. An oracle that errs has the attributes `p` and `noise`, as `ordhc.oracles.noisy` and
        the judge do. For such an oracle the default is `ordhc.learners.Robust`. `Robust`, `RobustPaper` and
        `Majority` use the oracle's `p` and `noise` if theirs are not given; `p` is 0.75 if the oracle does
        not know it.
    learner
        An existing learner, which is continued.
    session
        An existing `Session`, which is continued. Every answer is in the session's file before the next
        question is asked. Other processes can answer at the same time. After an interruption the same call
        continues.
    who
        The person who answers, for a session; by default "oracle".
    budget
        The largest number of questions. With `ordhc.learners.Revise` the most useful questions are asked.
    batch
        The largest number of questions in a batch; by default all questions that can be asked at the time.
    supported_by
        Minimum number of distinct questions that must support a node; other nodes are removed, as
        `ordhc.supported` describes. By default all nodes stay. With a language model use 2: the model repeats
        its answers, so that asking again cannot correct the one wrong answer that a node may depend on.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1]. The fraction is the
        smaller of two shares: of leaves that have a place in the tree, and of answers that were given.
    **settings
        `repeat`, `limit`, `seed` and `start` of a new `Learner`.

    Returns
    -------
    Dendrogram
        The tree; its heights are levels.

    Warns
    -----
    OrdhcWarning
        In one of these cases:

        * The oracle errs and does not know how often, so that `p` = 0.75 is assumed.
        * The oracle errs, and the learner or session assumes that all answers are right.
        * The oracle errs and repeats its answers, and the learner or session repeats questions.

    Raises
    ------
    InputError
        The oracle does not have all leaves; or the oracle is asynchronous while an event loop is running, as
        in notebooks. Use `await ordhc.learn_async(...)` there.
    Exception
        An exception of the oracle. All answers so far are kept: ``learn(oracle, learner=error.learner)``
        continues with them, and a session has them in its file.

    Examples
    --------
    >>> import ordhc
    >>> truth = ordhc.as_dendrogram("((0,(1,2)),((3,4),5));")
    >>> tree = ordhc.learn(ordhc.oracles.from_tree(truth))
    >>> ordhc.metrics.robinson_foulds(tree, truth)
    0.0
    >>> ordhc.learn(ordhc.oracles.from_vectors([[0.0], [1.0], [5.0], [7.0]]), method="quick").n_leaves
    4
    """
    arguments = (oracle, n_leaves, method, learner, session, who, {**settings, "budget": budget})
    subject, answer = _prepared(*arguments)
    _check_supported(supported_by, subject)
    steps = _steps(subject, budget, batch, who, _checks.callback("progress", progress))
    # The runner makes one event loop, at its first use, for all batches.
    runner = asyncio.Runner()
    try:
        rows = next(steps, _DONE)
        while rows is not _DONE:
            given = None
            if rows is None:
                time.sleep(_POLL)
            else:
                given = answer(rows)
                if inspect.isawaitable(given):
                    _check_no_loop(given)
                    given = runner.run(settled(given))
            rows = _sent(steps, given)
    except BaseException as error:
        _stopped(steps, subject, error)
        raise
    finally:
        runner.close()
    return _tree_of(subject, supported_by)


@shows_progress("asking")
async def learn_async(
    oracle: Any,
    n_leaves: int | Sequence[str] | None = None,
    method: Method | str | None = None,
    *,
    learner: Learner | None = None,
    session: Session | None = None,
    who: str | None = None,
    budget: int | None = None,
    batch: int | None = None,
    supported_by: int | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Dendrogram:
    """Learn a tree from an oracle in a running event loop: in a notebook or a web server.

    The parameters are as in `learn`. Asynchronous oracles are awaited. Other oracles and the learner work
    in threads, so that the event loop is not blocked. Cancelling takes effect between two batches; all
    answers so far are kept.

    Examples
    --------
    >>> import asyncio, ordhc
    >>> async def answer(rows):
    ...     return ordhc.oracles.from_tree("((0,1),(2,3));")(rows)
    >>> asyncio.run(ordhc.learn_async(answer, 4)).to_newick(branch_lengths=False)
    '((0,1),(2,3));'
    """
    arguments = (oracle, n_leaves, method, learner, session, who, {**settings, "budget": budget})
    subject, answer = await asyncio.to_thread(_prepared, *arguments)
    _check_supported(supported_by, subject)
    steps = _steps(subject, budget, batch, who, _checks.callback("progress", progress))
    at_once = inspect.iscoroutinefunction(answer) or inspect.iscoroutinefunction(
        getattr(answer, "__call__", None)  # noqa: B004
    )
    try:
        rows = await _on_thread(next, steps, _DONE)
        while rows is not _DONE:
            given = None
            if rows is None:
                await asyncio.sleep(_POLL)
            else:
                given = answer(rows) if at_once else await asyncio.to_thread(answer, rows)
                given = await settled(given)
            rows = await _on_thread(_sent, steps, given)
    except BaseException as error:
        await _on_thread(_stopped, steps, subject, error)
        raise
    return await asyncio.to_thread(_tree_of, subject, supported_by)


_DONE: Any = object()


def _sent(steps: Steps, given: Any) -> Any:
    try:
        return steps.send(given)
    except StopIteration:
        return _DONE


async def _on_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of `work`, run on a thread to its end even if the caller is cancelled."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _check_no_loop(given: Any) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    if inspect.iscoroutine(given):
        given.close()
    raise InputError(
        "the oracle is asynchronous, and an event loop is running already: use `await ordhc.learn_async(...)`"
    )


def _prepared(
    oracle: Any,
    n_leaves: int | Sequence[str] | None,
    method: Method | str | None,
    learner: Learner | None,
    session: Session | None,
    who: str | None,
    settings: dict[str, Any],
) -> tuple[Any, Oracle]:
    """Return a learner or session, and the oracle with its leaves numbered as in the learner or session."""
    answer = as_oracle(oracle)
    if learner is not None and session is not None:
        raise InputError("give a learner or a session, not both")
    if who is not None and session is None:
        raise InputError(f"who = {_checks.quoted(who)} needs a session, which records who has answered")
    what = "learner" if session is None else "session"
    subject: Any = learner if session is None else session
    if subject is None:
        subject = learner_for(answer, n_leaves, method, settings)
    else:
        _check_subject(subject, session is not None)
        if n_leaves is not None or method is not None or settings.keys() - {"budget"}:
            raise InputError(
                f"the {what} has its number of leaves and settings already: leave out n_leaves, method and "
                "settings"
            )
    mistake = mistake_about(errors_of(answer)[1], subject._method, subject._repeat)
    if mistake is not None:
        warn(f"the oracle errs, but the {what} {mistake}")
    widths = getattr(answer, "questions", (3, 4))
    if subject.width not in widths:
        asked, known = (_KINDS[width] for width in (subject.width, widths[0]))
        raise InputError(
            f"the oracle answers questions about {known}, but the method asks about {asked}: "
            "use another method"
        )
    return subject, _by_name(answer, subject)


def learner_for(
    answer: Oracle,
    leaves: int | Sequence[str] | None,
    method: Method | str | None,
    settings: dict[str, Any],
) -> Learner:
    """Return a learner for an oracle, with the oracle's leaves, `p` and `noise` if the caller gives none."""
    given = None if method is None else as_method(method)
    if leaves is None:
        leaves = getattr(answer, "names", None) or getattr(answer, "n_leaves", None)
    if leaves is None and isinstance(given, Revise):
        prior = read_prior(given.prior)
        leaves = prior.names or prior.n_leaves
    if leaves is None:
        raise InputError("give n_leaves, or a learner or a session to continue")
    chosen, reason = advised(answer, given, settings.get("repeat", 1))
    if reason and errors_of(answer)[0] is None and getattr(given, "p", None) is None:
        warn(reason)
    if isinstance(chosen, Uncertain) and chosen.among is None:
        chosen = replace(chosen, among=known_to(answer, leaves))
    return Learner(leaves, chosen, **settings)


_KINDS = {3: "three leaves", 4: "two pairs"}


def _check_subject(subject: Any, is_session: bool) -> None:
    if not is_session:
        if not isinstance(subject, Learner):
            raise InputError(f"learner = {_checks.quoted(subject)} is not a Learner")
        return
    from ordhc.asking.session import Session

    if not isinstance(subject, Session):
        raise InputError(
            f"session = {_checks.quoted(subject)} is not a Session: use ordhc.Session(path, names)"
        )


def _by_name(answer: Oracle, subject: Any) -> Oracle:
    known, own = getattr(answer, "names", None), subject.names
    if known is not None and own is not None:
        if tuple(known) == tuple(own):
            return answer
        own_way = getattr(answer, "leaves_of", None)
        if own_way is not None:
            leaves = np.asarray(own_way(own), dtype=np.int32)
            return lambda rows: answer(leaves[rows])
        numbers = _numbers(known, subject)

        def of_names(rows: NDArray[Any]) -> Any:
            nonlocal numbers
            if rows.size and rows.max() >= len(numbers):
                # Another process has added items to the session.
                numbers = _numbers(known, subject)
            return answer(numbers[rows])

        return of_names
    n = getattr(answer, "n_leaves", None)
    if n is not None and n < subject.n_leaves:
        raise InputError(f"the oracle has {n:,} leaves, fewer than the {subject.n_leaves:,} leaves to place")
    return answer


def _numbers(known: Sequence[str], subject: Any) -> NDArray[np.int32]:
    """Return the oracle's number of each leaf of `subject`, a learner or session.

    The number is -1 for a retired item that the oracle does not have.
    """
    place = {name: leaf for leaf, name in enumerate(known)}
    retired = set(getattr(subject, "retired", ()))
    for name in subject.names:
        if name not in place and name not in retired:
            raise InputError(f"leaves of the oracle: {_checks.unknown_name(name, known)}")
    return np.array([place.get(name, -1) for name in subject.names], dtype=np.int32)


def _steps(
    subject: Any, budget: int | None, batch: int | None, who: str | None, progress: Progress | None
) -> Steps:
    """Yield questions and receive answers until a learner or session is done or the budget is spent.

    The generator yields None when it must wait for other people. After an exception the unanswered questions
    of a session are released.
    """
    most = math.inf if budget is None else _checks.whole("budget", budget, at_least=0)
    size = math.inf if batch is None else _checks.whole("batch", batch, at_least=1)
    is_learner = isinstance(subject, Learner)
    who = "oracle" if who is None else who
    # Begin with a learner's open questions, which do not count towards the budget.
    left = subject.open if is_learner else Questions(np.zeros(0, np.int64), np.zeros((0, 3), np.int32))
    spent, reported = 0, 0.0
    while not subject.done:
        if not len(left):
            room = min(most - spent, size)
            if room <= 0:
                return
            limit = None if room == math.inf else int(room)
            # Ask only questions of the learner (`fill={}`). The oracle may get a question repeatedly.
            left = subject.ask(limit) if is_learner else subject.ask(limit, who=who, fill={}, distinct=False)
            spent += len(left)
            if not len(left):
                if is_learner:
                    return
                yield None
                continue
        part = left if size >= len(left) else Questions(left.ids[: int(size)], left.rows[: int(size)])
        try:
            given = yield part.rows
            answers = one_for_each(given, len(part))
        except BaseException:
            if not is_learner:
                subject.release(left.ids)
            raise
        if is_learner:
            _tell_and_record(subject, part, answers)
        else:
            subject.tell(part.ids, answers, who=who)
        left = Questions(left.ids[len(part) :], left.rows[len(part) :])
        if progress is not None:
            known = subject.status.n_answered
            share = known / (known + subject.status.remaining) if known else 0.0
            # The estimate of remaining answers can grow, so report the largest share so far.
            n_leaves = subject.n_leaves - len(getattr(subject, "retired", ()))
            reported = max(reported, min(subject.status.n_placed / n_leaves, share))
            progress(reported)


def _stopped(steps: Steps, subject: Any, error: BaseException) -> None:
    try:
        steps.close()
        if isinstance(subject, Learner):
            error.learner = subject  # type: ignore[attr-defined]
            error.add_note(
                f"{subject.status.n_answered} answers are kept in the learner of this error (error.learner)"
            )
        else:
            error.add_note("all answers are kept in the session; the same call continues")
    except (AttributeError, TypeError):
        pass


#: The questions and answers that each learner received from `_tell_and_record`, batch by batch.
_received: WeakKeyDictionary[Learner, list[tuple[NDArray[Any], NDArray[Any]]]] = WeakKeyDictionary()


def _tell_and_record(learner: Learner, questions: Questions, answers: NDArray[Any]) -> None:
    before = learner.status.n_answered
    try:
        learner.tell(questions.ids, answers)
    finally:
        done = learner.status.n_answered - before
        _received.setdefault(learner, []).append((questions.rows[:done], answers[:done]))


def _check_supported(supported_by: int | None, subject: Any) -> None:
    """Raise `InputError` if `supported_by` is given and the support of nodes cannot be counted."""
    if supported_by is None:
        return
    _checks.whole("supported_by", supported_by, at_least=0)
    if subject.width != 3:
        raise InputError("supported_by is for questions about three leaves")
    if not isinstance(subject, Learner):
        return
    n_recorded = sum(len(answers) for _, answers in _received.get(subject, ()))
    if elsewhere := subject.status.n_answered - n_recorded:
        raise InputError(
            f"supported_by counts only answers from ordhc.learn, but {elsewhere:,} of the learner's answers "
            "were given outside of it: give all answers to ordhc.supported(tree, triplets, at_least)"
        )


def _tree_of(subject: Any, supported_by: int | None) -> Dendrogram:
    """Return the tree, without nodes that fewer than `supported_by` distinct questions support."""
    tree: Dendrogram = subject.tree()
    if supported_by is None:
        return tree
    if not isinstance(subject, Learner):
        return contracted(tree, *_about(tree, subject), supported_by)
    parts = _received.get(subject) or [(np.zeros((0, 3), np.int32), np.zeros(0, np.int8))]
    rows, answers = (np.concatenate(each) for each in zip(*parts, strict=True))
    return contracted(tree, rows, answers, supported_by)


def _about(tree: Dendrogram, session: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the questions and answers of a session about the leaves of its tree, numbered as in the tree."""
    rows, answers = rows_and_answers(session.table())
    if not session.retired or tree.names is None:
        return rows, answers
    number = {name: leaf for leaf, name in enumerate(tree.names)}
    rows = np.array([number.get(name, -1) for name in session.names])[rows]
    known = (rows >= 0).all(axis=1)
    return rows[known], answers[known]
