"""Budgets, limits of the request rate, prices, and estimates of cost."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ordhc.errors import InputError
from ordhc_judge.errors import BudgetError

#: The numbers of tokens of a prompt and of an answer.
Tokens = tuple[int, int]


def whole(what: str, value: Any, at_least: int) -> int:
    try:
        number = int(value)
        fine = not isinstance(value, bool | str) and number == value and number >= at_least
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise InputError(f"{what} = {value!r} must be a whole number of at least {at_least}")
    return number


def number(what: str, value: Any, *, is_positive: bool = False) -> float:
    """Return a finite number of at least 0, or above 0 if `is_positive`."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(value, bool | str) or not 0 <= found < math.inf or (is_positive and not found):
        raise InputError(f"{what} = {value!r} must be a number {'above' if is_positive else 'of at least'} 0")
    return found


def money(cost: float) -> str:
    return f"{cost:,.2f}" if cost >= 1 or cost == 0 else f"{cost:.2g}"


class Budget:
    """Limits of calls, tokens and money, and the amounts that were spent.

    A call is a request that is sent, with or without an answer. Tokens are counted by the server, or
    estimated if the server counts none. While a request is open, an estimate of its tokens is reserved.
    """

    def __init__(self, given: Mapping[str, Any] | None, prices: "Prices | None" = None) -> None:
        self.prices = prices
        self.calls = 0
        self.used = self.held = (0, 0)
        self.limit(given)

    def limit(self, given: Mapping[str, Any] | None) -> None:
        """Set the limits; calls and tokens that were spent before count towards them."""
        given = {} if given is None else given
        if not isinstance(given, Mapping) or set(given) - {"calls", "tokens", "cost"}:
            raise InputError(f"budget = {given!r} must be a dict with the keys calls, tokens and cost")
        limits = {
            name: math.inf if given.get(name) is None else whole(f"budget[{name!r}]", given[name], 0)
            for name in ("calls", "tokens")
        }
        cost = given.get("cost")
        if cost is not None and self.prices is None:
            raise InputError(f"budget['cost'] = {cost!r} needs prices=dict(input=..., output=...)")
        self.most_calls, self.most_tokens = limits["calls"], limits["tokens"]
        self.most_cost = math.inf if cost is None else number("budget['cost']", cost)

    @property
    def tokens(self) -> int:
        return sum(self.used)

    @property
    def cost(self) -> float:
        return 0.0 if self.prices is None else self.prices.cost(*self.used)

    def hold(self, tokens: Tokens) -> None:
        """Spend one call and reserve tokens for it; raise `BudgetError` if the budget does not suffice."""
        after = _added(_added(self.used, self.held), tokens)
        if self.calls >= self.most_calls:
            raise BudgetError(self._spent(f"{self.most_calls:,.0f} calls"), self.calls, self.tokens)
        if sum(after) > self.most_tokens:
            raise BudgetError(self._spent(f"{self.most_tokens:,.0f} tokens"), self.calls, self.tokens)
        if self.prices is not None and self.prices.cost(*after) > self.most_cost:
            raise BudgetError(self._spent(f"cost {self.most_cost:,.6g}"), self.calls, self.tokens)
        self.calls += 1
        self.held = _added(self.held, tokens)

    def settle(self, held: Tokens, used: Tokens) -> None:
        self.held = (self.held[0] - held[0], self.held[1] - held[1])
        self.used = _added(self.used, used)

    def _spent(self, what: str) -> str:
        cost = "" if self.prices is None else f", cost {self.cost:,.6g}"
        return (
            f"the budget of {what} is spent ({self.calls:,} calls and {self.tokens:,} tokens{cost}); "
            "all answers so far are in the cache and cost nothing again: repeat the call with a larger "
            "budget to continue"
        )


def _added(one: Tokens, other: Tokens) -> Tokens:
    return one[0] + other[0], one[1] + other[1]


class Pace:
    """Spreads calls evenly over each minute up to a limit, and pauses when the server asks for a pause.

    Attributes
    ----------
    waited
        The total number of seconds that calls have waited because of the limit.
    """

    def __init__(self, rpm: float | None) -> None:
        self._interval = 0.0 if rpm is None else 60.0 / rpm
        self.waited = 0.0
        self._next = self._resume = 0.0

    async def turn(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            if now >= self._resume and now >= self._next:
                self._next = max(now, self._next) + self._interval
                return
            at = max(self._next, self._resume)
            if now >= self._resume:
                # Reserve the time slot before sleeping, so that other tasks take later slots.
                self._next += self._interval
                self.waited += at - now
                await asyncio.sleep(at - now)
                if loop.time() >= self._resume:
                    return
            else:
                await asyncio.sleep(at - now)

    def pause(self, seconds: float) -> None:
        self._resume = max(self._resume, asyncio.get_running_loop().time() + seconds)


@dataclass(frozen=True)
class Prices:
    """The prices of a million tokens of prompts (`input`) and of answers (`output`)."""

    input: float
    output: float

    @classmethod
    def of(cls, given: Any) -> "Prices | None":
        """Return the prices from a dict with the keys input and output, or from a pair; None for None."""
        if given is None:
            return None
        if isinstance(given, Mapping) and set(given) == {"input", "output"}:
            given = (given["input"], given["output"])
        try:
            prices = cls(*(float(value) for value in given))
        except (TypeError, ValueError):
            prices = cls(-1, -1)
        if not all(0 <= price < math.inf for price in (prices.input, prices.output)):
            raise InputError(
                f"prices = {given!r} must be a dict of input and output, the prices of a million tokens"
            )
        return prices

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


@dataclass(frozen=True)
class Estimate:
    """An estimate of the calls, tokens, time and cost of questions.

    Attributes
    ----------
    questions, calls
        The numbers of questions and calls; a question takes one call for each order of its items.
    prompt_tokens, completion_tokens, tokens
        Estimated numbers of tokens, and their sum.
    minutes
        The estimated time, limited by the calls per minute or by the duration of calls.
    cost
        The cost in the currency of `prices`; None without prices.
    basis
        The source of the estimates of tokens and minutes, in words.
    over
        The parts of the budget that the estimate exceeds, in words.
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
        """The number of tokens of prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens

    def __str__(self) -> str:
        cost = "unknown: give prices=dict(input=..., output=...)" if self.cost is None else money(self.cost)
        asked, written = f"{self.prompt_tokens:,}", f"{self.completion_tokens:,}"
        lines = [
            f"questions  {self.questions:,}",
            f"calls      {self.calls:,}",
            f"tokens     about {self.tokens:,} ({asked} in prompts, {written} in answers)",
            f"minutes    about {self.minutes:,.1f}",
            f"cost       {cost}",
            f"from       {self.basis}",
        ]
        if self.over:
            lines.append(f"exceeds the budget of {' and '.join(self.over)}")
        return "\n".join(lines)
