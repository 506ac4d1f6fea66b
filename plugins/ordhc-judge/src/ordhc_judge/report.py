"""What happened: how many questions were answered, how consistently, at what cost, with which faults."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Report", "Share"]

#: The normal quantile of a 95 % interval.
_Z = 1.959963984540054


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval of Wilson (1927).

    Examples
    --------
    >>> print(Share(45, 50))
    90.0 % [78.6, 95.7] of 50
    >>> print(Share(0, 0))
    none of 0
    """

    count: int
    total: int

    @property
    def value(self) -> float:
        """The share; NaN of nothing."""
        return self.count / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper bound."""
        n = self.total
        if n == 0:
            return 0.0, 1.0
        p, z2 = self.value, _Z**2
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        low = 0.0 if self.count == 0 else middle - half
        return low, 1.0 if self.count == n else middle + half

    def to_dict(self) -> dict[str, float | int]:
        """Share, bounds and counts."""
        low, high = self.interval
        return {"share": self.value, "low": low, "high": high, "count": self.count, "total": self.total}

    def __str__(self) -> str:
        if not self.total:
            return "none of 0"
        low, high = self.interval
        return f"{100 * self.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {self.total:,}"


@dataclass(frozen=True)
class Report:
    """What a judge has done so far.

    Attributes
    ----------
    questions
        How many it was asked; the same question in one batch counts once.
    answered, none, disagreed, failed
        Those with an odd one out; those where all orders say none; where orders disagree; where an order has
        no reply. The last three are answered -1.
    consistency
        The share of questions whose orders agree, of those that have a reply to each.
    places
        How often the model named the first, the second and the third place, and none.
    calls, cached
        Requests that were sent, and prompts that the cache had.
    prompt_tokens, completion_tokens, cost
        As the server counts them; in the currency of `prices`, or None.
    faults
        What went wrong on the way, those made good by another attempt included, each with its count.
    unanswered
        Prompts without an answer in the end, by reason.
    rejected
        Parameters that the server does not take and that were left out.
    """

    questions: int
    answered: int
    none: int
    disagreed: int
    failed: int
    consistency: Share
    places: tuple[int, int, int, int]
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    faults: Mapping[str, int] = field(default_factory=dict)
    unanswered: Mapping[str, int] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {**asdict(self), "consistency": self.consistency.to_dict()}

    def __str__(self) -> str:
        lost = f"{self.none:,} none, {self.disagreed:,} disagreements, {self.failed:,} without a reply"
        lines = [
            ("questions", f"{self.questions:,}: {self.answered:,} answered, {lost}"),
            ("consistency", f"{self.consistency} questions have the same answer in all orders"),
            ("places", "1: {:,}, 2: {:,}, 3: {:,}, none: {:,}".format(*self.places)),
            ("calls", f"{self.calls:,}, and {self.cached:,} from the cache"),
            ("tokens", f"{self.prompt_tokens:,} asked, {self.completion_tokens:,} written"),
        ]
        if self.cost is not None:
            lines.append(("cost", f"{self.cost:,.2f}"))
        for title, counts in (("faults", self.faults), ("unanswered", self.unanswered)):
            if counts:
                lines.append((title, ", ".join(f"{name}: {count:,}" for name, count in counts.items())))
        if self.rejected:
            lines.append(("left out", f"{', '.join(self.rejected)}, which the server rejects"))
        return "\n".join(f"{title:<12} {text}" for title, text in lines)
