"""The judge: an oracle that asks a language model which of three items is the odd one out."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ordhc
from ordhc.errors import InputError, warn
from ordhc.progress import Progress, shows_progress
from ordhc_judge.asker import rough_tokens
from ordhc_judge.engine import Engine, Setup
from ordhc_judge.inquiry import Inquiry
from ordhc_judge.items import Items
from ordhc_judge.prompt import Template
from ordhc_judge.questions import Replies, n_orders
from ordhc_judge.report import Report, Share
from ordhc_judge.spending import Budget, Estimate, Prices, number, whole

if TYPE_CHECKING:
    from ordhc_judge.auditing import Audit

_LONG_WAIT = 60.0


class Judge:
    """An oracle for `ordhc.learn` that asks a language model which of three items is the odd one out.

    Parameters
    ----------
    url
        The address of an OpenAI-compatible server, such as ``https://api.example.com/v1`` or
        ``http://localhost:11434/v1``.
    model
        The name of the model; None for a server with only one model.
    items
        The texts that are compared, one for each leaf; or a dict of names and texts; or a file of texts.
    key
        The key that is sent as ``Authorization: Bearer``; by default the value of the environment variable
        ORDHC_JUDGE_KEY. The key is never shown, logged or stored.
    criterion
        The criterion by which the model compares items, such as "customer intent"; by default "meaning".
    orders
        The number of orders in which each question is asked. "cyclic" (the default): three cyclic orders, so
        that each item is shown once at each position. "two" or "one": only two or one of these orders.
    temperature
        The temperature of the model, by default 0; None for the server's default.
    concurrency
        The largest number of requests that are open at the same time.
    rpm
        The largest number of requests per minute, evenly spread. None (on the command line `none` or 0) means
        no limit. By default "auto": no limit for a server on this machine, 500 for others.
    budget
        A dict of the `calls` (requests that are sent), `tokens` and `cost` (money, in the currency of
        `prices`) that this judge may spend. A missing key means no limit.
    cache
        An SQLite file for all replies, which other processes can use at the same time. None (the default)
        keeps replies only as long as the judge exists.
    template
        The prompt, see `ordhc_judge.Template`; by default `ordhc_judge.DEFAULT_TEMPLATE`.
    agree
        How the replies to the orders are combined. "all" (the default): the common answer, -1 if the orders
        disagree. "majority": the answer of more than half of the orders, otherwise -1.
    prices
        The price of a million tokens, as ``dict(input=..., output=...)``, for the `budget`, `estimate` and
        `report`.
    logprobs
        `True` (the default) asks for log-probabilities, for the weights of `answer`.
    max_tokens
        The largest number of tokens of an answer, by default 16. An answer that is cut off is asked again
        with a larger limit.
    timeout
        The largest number of seconds that one attempt to send a request may take.
    retries
        The largest number of times that a request is sent again after a fault. A random wait precedes each
        further attempt.
    headers
        Further HTTP headers, which are kept secret like the key.
    extra
        Further fields of each request, such as ``dict(seed=1)`` or ``dict(reasoning_effort="low")``.

    Raises
    ------
    InputError
        A parameter has an invalid value.

    Examples
    --------
    >>> import ordhc, ordhc_judge
    >>> from ordhc_judge.testing import serve
    >>> items = ["cat", "dog", "bus", "car"]
    >>> with serve("((0,1),(2,3));", items) as server:
    ...     with ordhc_judge.Judge(server.url, "model", items, criterion="kind", rpm=None) as judge:
    ...         tree = ordhc.learn(judge, method=ordhc.learners.Robust(p=0.9))
    ...         print(judge([[0, 2, 1]]), tree.to_newick(branch_lengths=False))
    [1] ((cat,dog),(bus,car));
    """

    questions = (3,)
    #: Errors are persistent: the model gives the same wrong answer each time a question is asked.
    noise = "persistent"

    def __init__(
        self,
        url: str,
        model: str | None,
        items: Any,
        *,
        key: str | None = None,
        criterion: str = "meaning",
        orders: str | int = "cyclic",
        temperature: float | None = 0,
        concurrency: int = 8,
        rpm: float | str | None = "auto",
        budget: Mapping[str, float] | None = None,
        cache: str | os.PathLike[str] | None = None,
        template: str | Mapping[str, str] | None = None,
        agree: str = "all",
        prices: Mapping[str, float] | None = None,
        logprobs: bool = True,
        max_tokens: int | None = 16,
        timeout: float = 60,
        retries: int = 5,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self._has_warned = False
        #: The probability that an answer is right, which learners use; None before the first audit.
        self.p: float | None = None
        self._items = Items.of(items)
        if len(self._items) < 1:
            raise InputError("items is empty; give at least one text")
        self._template = Template(template, criterion)
        self._times = n_orders(orders)
        if agree not in ("all", "majority"):
            raise InputError(f"agree = {agree!r} must be 'all' or 'majority'")
        self._prices = Prices.of(prices)
        optional: dict[str, Any] = {}
        if temperature is not None:
            warmth = number("temperature", temperature)
            optional["temperature"] = int(warmth) if warmth.is_integer() else warmth
        if max_tokens is not None:
            optional["max_tokens"] = whole("max_tokens", max_tokens, 1)
        if logprobs:
            optional |= {"logprobs": True, "top_logprobs": 5}
        self._setup = Setup.of(
            url,
            model,
            key=key,
            headers=headers,
            concurrency=concurrency,
            rpm=rpm,
            timeout=timeout,
            retries=retries,
            cache=cache,
            optional=optional,
            extra=extra,
        )
        self._budget = Budget(budget, self._prices)
        self._engine = Engine(self._setup, self._budget)
        self._inquiry = Inquiry(self._items, self._template, self._times, agree, self._engine)
        # Close the connections when the judge is garbage collected.
        self._finalizer = weakref.finalize(self, self._engine.close)
        # Do not run the finalizer at exit: all replies are written by then, and the event loop may be closed.
        self._finalizer.atexit = False

    @property
    def n_leaves(self) -> int:
        """The number of items."""
        return len(self._items)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the items: the keys of the dict, or the texts; None if two texts are equal."""
        return self._items.names

    def leaves_of(self, names: Sequence[str]) -> list[int]:
        """Return the item number (0, 1, ...) for each name; see `Items.leaves_of`."""
        return self._items.leaves_of(names)

    def __call__(self, rows: ArrayLike) -> NDArray[np.int8]:
        """Return the (m,) positions of the odd one out in (m, 3) leaves: 0, 1 or 2, or -1 for none.

        Raises
        ------
        BudgetError, KeyRefusedError, JudgeError
            The judge cannot continue; all replies so far are in the cache.
        """
        answers = self._inquiry.ask(self._checked(rows), None)[0]
        waited = self._engine.waited()
        if waited > _LONG_WAIT and not self._has_warned:
            self._has_warned = True
            warn(
                f"requests have waited {waited:,.0f} seconds in total for rpm = {self._setup.rpm:g}; "
                "if the server allows it, remove the limit with rpm=None (--param rpm=none)"
            )
        return answers

    @shows_progress("asking")
    def answer(self, questions: ArrayLike, *, progress: Progress | bool | None = None) -> ordhc.Triplets:
        """Ask the model questions, and return the answers as triplets.

        Parameters
        ----------
        questions
            (m, 3) items, given by number or by name.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Returns
        -------
        Triplets
            Two triplets for each question with an odd one out. The weight is the probability that the model
            gives to its answer, averaged over the orders in which the items are shown. The weight is 1 if the
            server returns no log-probabilities for the answer. If there are no log-probabilities for any
            answer, the triplets have no weights.

        Examples
        --------
        >>> import ordhc_judge
        >>> from ordhc_judge.testing import serve
        >>> with serve("((0,1),2);", ["cat", "dog", "bus"]) as server:
        ...     with ordhc_judge.Judge(server.url, "model", ["cat", "dog", "bus"], rpm=None) as judge:
        ...         triplets = judge.answer([["cat", "bus", "dog"]])
        >>> [[triplets.names[leaf] for leaf in row] for row in triplets.rows], triplets.weights
        ([['dog', 'cat', 'bus'], ['cat', 'dog', 'bus']], array([0.9..., 0.9...]))
        """
        callback = progress if callable(progress) else None
        rows = self._checked(questions)
        answers, weights, _ = self._inquiry.ask(rows, callback)
        decided = answers >= 0
        odd, at = answers[decided].astype(np.int64), np.flatnonzero(decided)
        turned = np.stack([rows[at, odd], rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3]], axis=1)
        known = weights[decided]
        shares = None if np.isnan(known).all() else np.where(np.isnan(known), 1.0, known)
        return ordhc.Triplets.from_odd_one_out(turned.reshape(-1, 3), self.n_leaves, self.names, shares)

    def replies(
        self, questions: ArrayLike, progress: Progress | None = None
    ) -> tuple[NDArray[np.int8], Replies]:
        """Ask the model questions; return the (m,) answers, and the replies to all prompts.

        A question has one prompt for each order in which its items are shown. Parameters are as in `answer`.
        """
        answers, _, replies = self._inquiry.ask(self._checked(questions), progress)
        return answers, replies

    @property
    def budget(self) -> dict[str, float | None]:
        """The limits of calls, tokens and cost; assign a larger budget to continue after `BudgetError`.

        Calls, tokens and money that were spent before count towards the new budget.
        """
        spent = self._budget
        limits = {"calls": spent.most_calls, "tokens": spent.most_tokens, "cost": spent.most_cost}
        return {name: None if limit == math.inf else limit for name, limit in limits.items()}

    @budget.setter
    def budget(self, given: Mapping[str, float] | None) -> None:
        self._budget.limit(given)

    def estimate(self, n_questions: int | None = None) -> Estimate:
        """Return an estimate of calls, tokens, minutes and cost; no request is sent.

        Parameters
        ----------
        n_questions
            The number of questions; by default n log2(n), which is about the number of questions to learn a
            tree of n items without a prior.

        Returns
        -------
        Estimate
            The estimate. It is based on earlier calls of the same model in the cache. Without such calls it
            is based on the length of the prompts (three bytes for a token) and one second for each call.
            Answers that are in the cache already are not subtracted.
        """
        n = self.n_leaves
        count = (
            round(n * math.log2(max(n, 2))) if n_questions is None else whole("n_questions", n_questions, 0)
        )
        calls = count * self._times
        known, asked, written, seconds = self._engine.usage()
        basis = (
            f"{known:,} earlier calls" if known else "the length of the prompts, and one second for each call"
        )
        if not known:
            asked, written, seconds = self._rough_tokens(), 2.0, 1.0
        limits = self._setup.limits
        slots = calls * seconds / limits.concurrency
        at_pace = 0.0 if self._setup.rpm is None else 60.0 * calls / self._setup.rpm
        prompt, completion = round(calls * asked), round(calls * written)
        left = self._budget.most_calls - self._budget.calls, self._budget.most_tokens - self._budget.tokens
        over = [
            f"{limit:,.0f} {what}"
            for what, need, room, limit in (
                ("calls", calls, left[0], self._budget.most_calls),
                ("tokens", prompt + completion, left[1], self._budget.most_tokens),
            )
            if need > room
        ]
        cost = None if self._prices is None else self._prices.cost(prompt, completion)
        if cost is not None and cost > self._budget.most_cost - self._budget.cost:
            over.append(f"cost {self._budget.most_cost:,.6g}")
        return Estimate(count, calls, prompt, completion, max(slots, at_pace) / 60, cost, basis, tuple(over))

    def audit(
        self,
        gold: Any,
        n_questions: int | None = None,
        *,
        seed: int = 0,
        progress: Progress | bool | None = None,
    ) -> Audit:
        """Measure how often the judge is right, and set `p` for `ordhc.learn`; see `ordhc_judge.audit`."""
        from ordhc_judge.auditing import audit

        return audit(self, gold, n_questions, seed=seed, progress=progress)

    def report(self) -> Report:
        """Return a report of the work so far: answers, consistency, calls, tokens, cost and faults."""
        counts, totals = self._inquiry.counts, self._engine.counts()
        cost = None
        if self._prices is not None:
            cost = self._prices.cost(totals.prompt_tokens, totals.completion_tokens)
        return Report(
            questions=counts["questions"],
            answered=counts["answered"],
            none=counts["none"],
            disagreed=counts["disagreed"],
            failed=counts["failed"],
            consistency=Share(counts["agreed"], counts["complete"]),
            places=tuple(self._inquiry.named[[1, 2, 3, 0]].tolist()),
            calls=self._budget.calls,
            cached=totals.cached,
            prompt_tokens=totals.prompt_tokens,
            completion_tokens=totals.completion_tokens,
            cost=cost,
            faults=totals.faults,
            unanswered=totals.unanswered,
            rejected=totals.rejected,
        )

    @property
    def items(self) -> Items:
        """The items that are compared."""
        return self._items

    @property
    def criterion(self) -> str:
        """The criterion by which the model compares the items, such as "customer intent"."""
        return self._template.criterion

    def writer(self, optional: Mapping[str, Any]) -> Engine:
        """Return an engine for free texts, with the server, the cache and the budget of this judge.

        `optional` has fields of requests. A field that the server rejects is left out of later requests.
        """
        return Engine(replace(self._setup, optional=dict(optional)), self._budget)

    def _checked(self, rows: ArrayLike) -> NDArray[np.int64]:
        table = np.asarray(rows)
        if table.dtype.kind in "UO" and table.size:
            known = {name: leaf for leaf, name in enumerate(self.names or ())}
            names = [str(name) for name in table.ravel().tolist()]
            if unknown := sorted(set(names) - known.keys()):
                raise InputError(f"the judge has no item {unknown[0][:200]!r}")
            table = np.array([known[name] for name in names], dtype=np.int64).reshape(table.shape)
        if table.size == 0:
            return np.zeros((0, 3), dtype=np.int64)
        if table.ndim != 2 or table.shape[1] != 3 or table.dtype.kind not in "iu":
            raise InputError(
                f"questions have shape {table.shape} and type {table.dtype}; they must be (m, 3) numbers "
                "or names of items"
            )
        table = table.astype(np.int64)
        wrong = np.flatnonzero(((table < 0) | (table >= self.n_leaves)).any(axis=1))
        if wrong.size:
            row = table[wrong[0]].tolist()
            raise InputError(
                f"question {row} has an item outside 0..={self.n_leaves - 1}", row=wrong[0], leaves=[row]
            )
        twice = np.flatnonzero((np.diff(np.sort(table, axis=1), axis=1) == 0).any(axis=1))
        if twice.size:
            row = table[twice[0]].tolist()
            raise InputError(f"question {row} has the same item twice", row=twice[0], leaves=[row])
        return table

    def _rough_tokens(self) -> float:
        length = sum(len(text.encode()) for text in self._items.texts) / self.n_leaves
        return rough_tokens(self._template.messages(["", "", ""])) + length

    def close(self) -> None:
        """Close connections and the cache; the next question opens them again."""
        self._engine.close()

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        asked = f"{self._inquiry.counts['questions']:,} questions, {self._budget.calls:,} calls"
        where = f"{self._setup.model or 'a model'} at {self._setup.endpoint.base}"
        return f"<Judge: {where}, {self.n_leaves:,} items, {asked}>"
