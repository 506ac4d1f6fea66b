"""A learner at work: what a session keeps in memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ordhc import _ordhc
from ordhc.asking.learner import Learner

__all__ = ["new_desk"]


def new_desk(names: Sequence[str] | None, n_leaves: int, settings: dict[str, Any]) -> _ordhc.Desk:
    """A desk whose learner has asked nothing."""
    # What a leaf takes at least, in the learner and the copies that are kept of it.
    _ordhc.check_memory(f"a session of {n_leaves:,} leaves", 100 * n_leaves)
    learner = Learner(n_leaves if names is None else names, **settings)
    bounds = [None if bound == np.inf else int(bound) for bound in (learner._limit, learner._budget)]
    return _ordhc.Desk(learner._learner, *bounds)
