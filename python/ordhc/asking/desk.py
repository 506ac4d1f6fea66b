"""A learner at work: what a session keeps in memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ordhc import _checks, _ordhc
from ordhc.asking.given import checked_p
from ordhc.asking.learner import DOES_NOT_WEIGH, NOISY, Learner, method_of
from ordhc.asking.people import PRIOR
from ordhc.errors import InputError

__all__ = [
    "BY_PERSON",
    "checked_trusts",
    "draws_anew",
    "follows_people",
    "new_desk",
    "uses_any_answer",
    "weighs_answers",
]

#: Answers are right as often as is known of who gives them.
BY_PERSON = "by person"
#: Settings of a session that are not the learner's.
_OF_SESSIONS = ("fill", "distinct")


def follows_people(settings: dict[str, Any]) -> bool:
    """Whether a learner searches as many leaves side by side as people are there."""
    found = method_of(settings) in ("insertion", "robust", "revise")
    found &= settings.get("schedule", "questions") == "questions"
    return found and "parallel" not in settings and not settings.get("exact", False)


def draws_anew(settings: dict[str, Any]) -> bool:
    """Whether a learner draws its next questions anew after each event, until somebody gets one."""
    return method_of(settings) == "uncertain"


def uses_any_answer(settings: dict[str, Any]) -> bool:
    """Whether an answer is as good as another one, whenever it was given and whoever chose the question.

    What learners promise where answers may be wrong rests on answers to questions that they have asked
    themselves.
    """
    return method_of(settings) not in NOISY and settings.get("p", 1.0) == 1.0


def weighs_answers(settings: dict[str, Any]) -> bool:
    """Whether it matters to a learner how likely an answer is right."""
    found = method_of(settings) in ("insertion", "robust")
    return found and settings.get("p", 1.0) != 1.0 and settings.get("repeat", 1) == 1


def new_desk(names: Sequence[str] | None, n_leaves: int, settings: dict[str, Any]) -> _ordhc.Desk:
    """A desk whose learner has asked nothing."""
    # What a leaf takes at least, in the learner and the copies that are kept of it.
    _ordhc.check_memory(f"a session of {n_leaves:,} leaves", 100 * n_leaves)
    own = {key: value for key, value in settings.items() if key not in _OF_SESSIONS}
    if own.get("among") is not None:
        raise InputError("a session keeps no list of questions (among); a Learner takes one")
    if own.get("p") == BY_PERSON:
        # What is assumed of somebody of whom nothing is known.
        own["p"] = PRIOR[0] / sum(PRIOR)
        if not weighs_answers(own):
            raise InputError(DOES_NOT_WEIGH)
    learner = Learner(n_leaves if names is None else names, **own)
    bounds = [None if bound == np.inf else int(bound) for bound in (learner._limit, learner._budget)]
    return _ordhc.Desk(learner._learner, *bounds)


def checked_trusts(p: Any, m: int, settings: dict[str, Any]) -> list[float | None] | None:
    """How likely each of m answers is right; None by person."""
    if p is None:
        return None if settings.get("p") == BY_PERSON else [None] * m
    if not weighs_answers(settings):
        raise InputError(DOES_NOT_WEIGH)
    if isinstance(p, str):
        _checks.choice("p", p, (BY_PERSON,))
        return None
    return [None if np.isnan(x) else x for x in checked_p(p, m).tolist()]
