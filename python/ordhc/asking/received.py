"""Record the answers that learners receive, so that nodes with little support can be removed."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.asking.analysis import rows_and_answers
from ordhc.asking.learner import Learner
from ordhc.asking.questions import Questions
from ordhc.asking.supported import contracted
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram

#: The questions and answers that each learner received from `tell_and_record`, batch by batch.
_received: "WeakKeyDictionary[Learner, list[tuple[NDArray[Any], NDArray[Any]]]]" = WeakKeyDictionary()


def tell_and_record(learner: Learner, questions: Questions, answers: NDArray[Any]) -> None:
    before = learner.status.n_answered
    try:
        learner.tell(questions.ids, answers)
    finally:
        done = learner.status.n_answered - before
        _received.setdefault(learner, []).append((questions.rows[:done], answers[:done]))


def check_supported(supported_by: int | None, subject: Any) -> None:
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


def tree_of(subject: Any, supported_by: int | None) -> Dendrogram:
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
