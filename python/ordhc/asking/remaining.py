"""The progress of a learner or a session, and the number of answers that are still needed."""

import math
from dataclasses import dataclass

#: The budget that means "no limit".
UNLIMITED = 2**53


@dataclass(frozen=True)
class Status:
    """The progress of a learner or a session.

    Attributes
    ----------
    n_placed
        The number of leaves that have a place in the tree.
    n_answered
        The number of answers that count, imported ones included.
    remaining
        An estimate of the number of answers that are still needed; infinity if there is no limit.
    """

    n_placed: int
    n_answered: int
    remaining: float


def remaining(estimate: float) -> float:
    """Return the number of answers that are still needed, at least 0; infinity if there is no limit."""
    return math.inf if estimate > UNLIMITED / 2 else max(0.0, estimate)


def remaining_in_words(estimate: float) -> str:
    return "no limit" if math.isinf(estimate) else f"about {estimate:,.0f} to go"
