"""What is spent: budgets, pace, and estimates."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ordhc.errors import InputError
from ordhc_judge.errors import BudgetError

__all__ = ["Budget", "Estimate", "Pace", "Prices", "whole"]


def whole(what: str, value: Any, at_least: int) -> int:
    """A whole number, or an error that names it."""
    try:
        number = int(value)
        fine = not isinstance(value, bool | str) and number == value and number >= at_least
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise InputError(f"{what} = {value!r} is no whole number from {at_least}")
    return number


class Budget:
    """Calls and tokens that may be spent, and those that are.

    A call is a request that is sent, be it answered or not. Tokens are those that the server counts; before
    an answer is there, as many as the last ones took are held back for it.
    """

    def __init__(self, given: Mapping[str, Any] | None) -> None:
        if given is None:
            given = {}
        if not isinstance(given, Mapping) or set(given) - {"calls", "tokens"}:
            raise InputError(f"budget = {given!r} is no dict of calls and tokens")
        limits = {
            name: math.inf if given.get(name) is None else whole(f"budget[{name!r}]", given[name], 0)
            for name in ("calls", "tokens")
        }
        self.most_calls, self.most_tokens = limits["calls"], limits["tokens"]
        self.calls = self.tokens = self.held = 0

    def hold(self, tokens: int) -> None:
        """Take a call, and hold tokens back for it."""
        if self.calls >= self.most_calls:
            raise BudgetError(self._spent(f"{self.most_calls:,.0f} calls"), self.calls, self.tokens)
        if self.tokens + self.held + tokens > self.most_tokens:
            raise BudgetError(self._spent(f"{self.most_tokens:,.0f} tokens"), self.calls, self.tokens)
        self.calls += 1
        self.held += tokens

    def settle(self, held: int, used: int) -> None:
        """What a call really took."""
        self.held -= held
        self.tokens += used

    def _spent(self, what: str) -> str:
        return (
            f"the budget of {what} is spent ({self.calls:,} calls and {self.tokens:,} tokens); every answer"
            " so far is in the cache and costs nothing again: the same with a larger budget goes on where"
            " this stopped"
        )


class Pace:
    """So many calls a minute, evenly; and pauses that a server asks for."""

    def __init__(self, rpm: float | None) -> None:
        self._interval = 0.0 if rpm is None else 60.0 / rpm
        self._next = self._resume = 0.0

    async def turn(self) -> None:
        """Wait for one's turn."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            if now >= self._resume and now >= self._next:
                self._next = max(now, self._next) + self._interval
                return
            at = max(self._next, self._resume)
            if now >= self._resume:
                # The place in the queue is taken before one waits for it.
                self._next += self._interval
                await asyncio.sleep(at - now)
                if loop.time() >= self._resume:
                    return
            else:
                await asyncio.sleep(at - now)

    def pause(self, seconds: float) -> None:
        """Send nothing for a while."""
        self._resume = max(self._resume, asyncio.get_running_loop().time() + seconds)


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost: of the prompt, and of the answer."""

    input: float
    output: float

    @classmethod
    def of(cls, given: Any) -> "Prices | None":
        """From a dict of input and output, or a pair."""
        if given is None:
            return None
        if isinstance(given, Mapping) and set(given) == {"input", "output"}:
            given = (given["input"], given["output"])
        try:
            prices = cls(*(float(value) for value in given))
        except (TypeError, ValueError):
            prices = cls(-1, -1)
        if not all(0 <= price < math.inf for price in (prices.input, prices.output)):
            raise InputError(f"prices = {given!r} are no dict of input and output, each for a million tokens")
        return prices

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


@dataclass(frozen=True)
class Estimate:
    """What questions will take, before anything is sent.

    Attributes
    ----------
    questions, calls
        How many there are; each question takes as many calls as it has orders.
    prompt_tokens, completion_tokens, tokens
        About how many, and their sum.
    minutes
        About how long: by the calls a minute that are allowed, or by the time a call takes.
    cost
        In the currency of `prices`; None without them.
    basis
        What tokens and minutes are told from.
    over
        Which parts of the budget this is more than.
    """

    questions: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    minutes: float
    cost: float | None
    basis: str
    over: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Of prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens

    def __str__(self) -> str:
        cost = (
            "unknown: give prices=dict(input=..., output=...)" if self.cost is None else f"{self.cost:,.2f}"
        )
        asked, written = f"{self.prompt_tokens:,}", f"{self.completion_tokens:,}"
        lines = [
            f"questions  {self.questions:,}",
            f"calls      {self.calls:,}",
            f"tokens     about {self.tokens:,} ({asked} asked, {written} written)",
            f"minutes    about {self.minutes:,.1f}",
            f"cost       {cost}",
            f"from       {self.basis}",
        ]
        if self.over:
            lines.append(f"more than the budget of {' and '.join(self.over)}")
        return "\n".join(lines)
