"""The report of a judge's work: answers, consistency, costs and faults."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ordhc.evaluate.intervals import wilson
from ordhc_judge.spending import money


@dataclass(frozen=True)
class Share:
    """A share with its 95 % score interval (Wilson 1927).

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
        """The share `count` / `total`; NaN if `total` is 0."""
        return self.count / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and upper bounds of the 95% interval."""
        if not self.total:
            return 0.0, 1.0
        low, high = wilson(self.value, self.total).tolist()
        return low, high

    def to_dict(self) -> dict[str, float | int]:
        """Return the share, its bounds and its counts."""
        low, high = self.interval
        return {"share": self.value, "low": low, "high": high, "count": self.count, "total": self.total}

    def __str__(self) -> str:
        if not self.total:
            return "none of 0"
        low, high = self.interval
        return f"{100 * self.value:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {self.total:,}"


@dataclass(frozen=True)
class Report:
    """A report of a judge's work so far.

    Attributes
    ----------
    questions
        The number of questions. A question that is repeated in one batch counts once.
    answered
        The number of questions with an odd one out. The other questions have the answer -1.
    none
        The number of questions with the reply "none" in all orders.
    disagreed
        The number of questions without an odd one out because the replies to the orders of the items differ.
    failed
        The number of questions without an odd one out because an order has no reply.
    consistency
        The share of questions whose prompts, one for each order of the items, all get the same reply.
        Questions with a missing reply are left out.
    places
        The number of replies that name the first, the second, the third position, and no position.
    calls, cached
        The number of requests that were sent, and of prompts with a reply in the cache.
    prompt_tokens, completion_tokens
        The numbers of tokens that the server counted; estimates if the server counts none.
    cost
        The cost in the currency of `prices`; None without prices.
    faults
        The number of times that each fault occurred, including faults after which a later attempt succeeded.
    unanswered
        The number of prompts that got no answer, by reason.
    rejected
        The fields that were left out because the server rejects them.
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
        """Return the report as a dict for JSON."""
        return {**asdict(self), "consistency": self.consistency.to_dict()}

    def __str__(self) -> str:
        lost = f"{self.none:,} none, {self.disagreed:,} disagreements, {self.failed:,} without a reply"
        lines = [
            ("questions", f"{self.questions:,}: {self.answered:,} answered, {lost}"),
            ("consistency", f"{self.consistency} questions have the same answer in all orders"),
            ("places", "1: {:,}, 2: {:,}, 3: {:,}, none: {:,}".format(*self.places)),
            ("calls", f"{self.calls:,}, and {self.cached:,} from the cache"),
            ("tokens", f"{self.prompt_tokens:,} in prompts, {self.completion_tokens:,} in answers"),
        ]
        if self.cost is not None:
            lines.append(("cost", money(self.cost)))
        for title, counts in (("faults", self.faults), ("unanswered", self.unanswered)):
            if counts:
                lines.append((title, ", ".join(f"{name}: {count:,}" for name, count in counts.items())))
        if self.rejected:
            lines.append(("left out", f"{', '.join(self.rejected)}, which the server rejects"))
        return "\n".join(f"{title:<12} {text}" for title, text in lines)
