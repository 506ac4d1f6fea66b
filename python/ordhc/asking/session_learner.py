"""Make the learner of a session: an `_ordhc.SessionLearner`, which replays the session's events."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ordhc import _ordhc
from ordhc.asking.given import DOES_NOT_WEIGH
from ordhc.asking.learner import Learner
from ordhc.asking.methods import Majority, Method, Robust, RobustPaper, Uncertain
from ordhc.asking.people import PRIOR
from ordhc.asking.settings import OF_LEARNERS, from_settings
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram


def uses_any_answer(method: Method) -> bool:
    """Return True if the learner can use answers to questions that it has not asked.

    `Robust`, `RobustPaper`, `Majority`, and all methods with p below 1 cannot: guarantees for wrong answers
    hold only if the learner itself asked the questions.
    """
    return not isinstance(method, Robust | RobustPaper | Majority) and method.right == 1


def new_learner(
    names: Sequence[str] | None, n_leaves: int, settings: Mapping[str, Any]
) -> tuple[_ordhc.SessionLearner, Dendrogram | None]:
    """Return a learner that has asked no question yet, and the tree of its setting `start`, or None."""
    # A leaf takes at least 100 bytes in the learner and its snapshots.
    _ordhc.check_memory(f"a session of {n_leaves:,} leaves", 100 * n_leaves)
    method = from_settings(settings)
    if isinstance(method, Uncertain) and method.among is not None:
        raise InputError("a session does not support among=, a list of questions: use a Learner")
    if method.is_by_person:
        assert isinstance(method, Robust)
        if settings.get("repeat", 1) != 1:
            raise InputError(DOES_NOT_WEIGH)
        # The prior mean of the reliability, for people without answers.
        method = replace(method, p=PRIOR[0] / sum(PRIOR))
    own = {key: settings[key] for key in OF_LEARNERS if key in settings}
    learner = Learner(n_leaves if names is None else names, method, **own)
    bounds = [None if bound == np.inf else int(bound) for bound in (learner._limit, learner._budget)]
    return _ordhc.SessionLearner(learner._learner, *bounds), learner._start
