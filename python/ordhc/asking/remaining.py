"""How many answers are still needed."""

import math

__all__ = ["UNLIMITED", "remaining", "remaining_in_words"]

#: A budget of so many questions is no limit.
UNLIMITED = 2**53


def remaining(estimate: float) -> float:
    """Return an estimate of 0 or more; infinity for what is left of a budget that is no limit."""
    return math.inf if estimate > UNLIMITED / 2 else max(0.0, estimate)


def remaining_in_words(estimate: float) -> str:
    """Return what is left to ask, for people."""
    return "no limit" if math.isinf(estimate) else f"about {estimate:,.0f} to go"
