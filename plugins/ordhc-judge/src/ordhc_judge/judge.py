"""The judge: a language model that says which of three items is the odd one out."""

import math
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import ordhc
from ordhc.errors import InputError
from ordhc.progress import Progress, shows_progress
from ordhc_judge.engine import Engine, Setup
from ordhc_judge.inquiry import Inquiry
from ordhc_judge.items import Items
from ordhc_judge.prompt import Template
from ordhc_judge.questions import Replies, n_orders
from ordhc_judge.report import Report, Share
from ordhc_judge.spending import Budget, Estimate, Prices, whole

if TYPE_CHECKING:
    from ordhc_judge.auditing import Audit

__all__ = ["Judge"]


class Judge:
    """Answers questions about items by asking a language model; an oracle for `ordhc.learn`.

    Parameters
    ----------
    url
        The address of an OpenAI-compatible server: ``https://api.example.com/v1``,
        ``http://localhost:11434/v1``.
    model
        The model's name; None for the only one that the server has.
    items
        The texts that are compared, one for each leaf; or a dict of names and texts; or a file of them.
    key
        Sent as ``Authorization: Bearer``; by default what the environment variable ORDHC_JUDGE_KEY holds. It
        is shown, logged and stored nowhere.
    criterion
        What the items are compared by, in the prompt: "customer intent".
    orders
        "cyclic": each question is asked in its three cyclic orders, so that each item stands once at each
        place; "two" of them, or "one".
    temperature
        Of the model; None for the server's own.
    concurrency
        How many requests are open at a time.
    rpm
        The most requests a minute, evenly spread; None (on the command line `none` or 0) is no limit. By
        default "auto": no limit for a server on this machine, 500 for others.
    budget
        A dict of `calls` (requests that are sent) and `tokens` that this judge may spend; what isn't there
        has no limit.
    cache
        A SQLite file for all replies, which other processes may use at the same time; None keeps them for as
        long as the judge lives.
    template
        The prompt, see `ordhc_judge.Template`; by default `ordhc_judge.DEFAULT_TEMPLATE`.
    agree
        "all": orders that disagree are -1. "majority": what more than half of the orders say.
    prices
        What a million tokens cost, as ``dict(input=..., output=...)``, for `estimate` and `report`.
    logprobs
        Whether to ask for log-probabilities, for the weights of `answer`.
    max_tokens
        How long an answer may be; one that is cut off is asked for with a larger limit.
    timeout
        Seconds that a request may take.
    retries
        How often a request is sent again after a fault, with full jitter.
    headers
        More headers, which are secrets as well.
    extra
        More fields of each request: ``dict(seed=1)``, ``dict(reasoning_effort="low")``.

    Raises
    ------
    InputError
        What isn't as said above.

    Examples
    --------
    >>> import ordhc, ordhc_judge
    >>> from ordhc_judge.testing import serve
    >>> items = ["cat", "dog", "bus", "car"]
    >>> with serve("((0,1),(2,3));", items) as server:
    ...     with ordhc_judge.Judge(server.url, "model", items, criterion="kind", rpm=None) as judge:
    ...         print(judge([[0, 2, 1]]), ordhc.learn(judge).to_newick(branch_lengths=False))
    [1] ((cat,dog),(bus,car));
    """

    questions = (3,)
    #: Tells a learner that wrong answers stay wrong however often a question is asked.
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
        budget: Mapping[str, int] | None = None,
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
        #: Tells a learner how likely an answer is right; None until there was an audit.
        self.p: float | None = None
        self._items = Items.of(items)
        if len(self._items) < 1:
            raise InputError("there are no items")
        self._template = Template(template, criterion)
        self._times = n_orders(orders)
        if agree not in ("all", "majority"):
            raise InputError(f"agree = {agree!r} is neither 'all' nor 'majority'")
        self._prices = Prices.of(prices)
        optional: dict[str, Any] = {}
        if temperature is not None:
            optional["temperature"] = _number("temperature", temperature, 0)
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
        self._budget = Budget(budget)
        self._engine = Engine(self._setup, self._budget)
        self._inquiry = Inquiry(self._items, self._template, self._times, agree, self._engine)
        # A judge that nobody needs any more closes its connections.
        self._finalizer = weakref.finalize(self, self._engine.close)
        # When the program ends nothing is left to write: the loop may be gone, and is not waited for.
        self._finalizer.atexit = False

    # As an oracle.

    @property
    def n_leaves(self) -> int:
        """How many items there are."""
        return len(self._items)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Their names: those of the dict, or the texts; None where two are the same."""
        return self._items.names

    def leaves_of(self, names: Sequence[str]) -> list[int]:
        """The items of the leaves of these names: by name; in order, where no name is the text of an item."""
        return self._items.leaves_of(names)

    def __call__(self, rows: ArrayLike) -> NDArray[np.int8]:
        """Answer (m, 3) leaves with the place of the odd one out: 0, 1 or 2, or -1 for none.

        Raises
        ------
        BudgetError, KeyRefusedError, JudgeError
            What stops the judge; all answers so far are kept.
        """
        return self._inquiry.ask(self._checked(rows), None)[0]

    # Passive.

    @shows_progress("asking")
    def answer(self, questions: ArrayLike, *, progress: Progress | bool | None = None) -> "ordhc.Triplets":
        """Ask questions and give the answers as triplets.

        Parameters
        ----------
        questions
            (m, 3) items by number, or by name.
        progress
            True for a bar; what can be called is, with the share that is done.

        Returns
        -------
        Triplets
            Two for each question that has an odd one out. The weight is the probability that the model gives
            to its answer, the mean over the orders; 1 where the server tells no log-probabilities, and none
            at all where it never does.

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
        told = answers >= 0
        odd, at = answers[told].astype(np.int64), np.flatnonzero(told)
        turned = np.stack([rows[at, odd], rows[at, (odd + 1) % 3], rows[at, (odd + 2) % 3]], axis=1)
        known = weights[told]
        shares = None if np.isnan(known).all() else np.where(np.isnan(known), 1.0, known)
        return ordhc.Triplets.from_odd_one_out(turned.reshape(-1, 3), self.n_leaves, self.names, shares)

    def replies(
        self, questions: ArrayLike, progress: Progress | None = None
    ) -> "tuple[NDArray[np.int8], Replies]":
        """The answers to questions, as the judge gives them itself, and what each single order says."""
        answers, _, replies = self._inquiry.ask(self._checked(questions), progress)
        return answers, replies

    # What it costs, and how far to trust it.

    @property
    def budget(self) -> dict[str, int | None]:
        """What may be spent; give a larger one to go on. What was spent stays spent."""
        limits = {"calls": self._budget.most_calls, "tokens": self._budget.most_tokens}
        return {name: None if limit == math.inf else int(limit) for name, limit in limits.items()}

    @budget.setter
    def budget(self, given: Mapping[str, int] | None) -> None:
        new = Budget(given)
        self._budget.most_calls, self._budget.most_tokens = new.most_calls, new.most_tokens

    def estimate(self, n_questions: int | None = None) -> Estimate:
        """What questions will take, before anything is sent.

        Parameters
        ----------
        n_questions
            How many; by default n log2(n), about what learning a tree of n items takes without a prior.

        Returns
        -------
        Estimate
            Calls, tokens, minutes and cost: from what earlier calls to the same model took, as the cache has
            them, or else from the length of prompts (a token for three bytes) and a second for a call.
            Answers that are in the cache cost nothing.
        """
        n = self.n_leaves
        count = (
            round(n * math.log2(max(n, 2))) if n_questions is None else whole("n_questions", n_questions, 0)
        )
        calls = count * self._times
        known, asked, written, seconds = self._engine.usage()
        basis = f"{known:,} earlier calls" if known else "the length of the prompts, and a second a call"
        if not known:
            asked, written, seconds = self._rough_tokens(), 2.0, 1.0
        tuning = self._setup.tuning
        slots = calls * seconds / tuning.concurrency
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
        return Estimate(count, calls, prompt, completion, max(slots, at_pace) / 60, cost, basis, tuple(over))

    def audit(
        self,
        gold: Any,
        n_questions: int | None = None,
        *,
        seed: int = 0,
        progress: Progress | bool | None = None,
    ) -> "Audit":
        """How often the judge is right, see `ordhc_judge.audit`. It sets `p`, which learners then use."""
        from ordhc_judge.auditing import audit

        return audit(self, gold, n_questions, seed=seed, progress=progress)

    def report(self) -> Report:
        """What happened so far: answers, consistency, calls, tokens, cost and faults."""
        counts, told = self._inquiry.counts, self._engine.told()
        agreed = counts["agreed"]
        cost = None
        if self._prices is not None:
            cost = self._prices.cost(told.prompt_tokens, told.completion_tokens)
        return Report(
            questions=counts["questions"],
            answered=counts["answered"],
            none=counts["none"],
            disagreed=counts["disagreed"],
            failed=counts["failed"],
            consistency=Share(agreed, counts["questions"] - counts["failed"]),
            places=tuple(self._inquiry.named[[1, 2, 3, 0]].tolist()),
            calls=self._budget.calls,
            cached=told.cached,
            prompt_tokens=told.prompt_tokens,
            completion_tokens=told.completion_tokens,
            cost=cost,
            faults=told.faults,
            unanswered=told.unanswered,
            rejected=told.rejected,
        )

    @property
    def items(self) -> Items:
        """What is compared."""
        return self._items

    @property
    def criterion(self) -> str:
        """What it is compared by."""
        return self._template.criterion

    def writer(self, optional: Mapping[str, Any]) -> Engine:
        """What writes texts, with the server, the cache and the budget of this judge."""
        return Engine(replace(self._setup, optional=dict(optional)), self._budget)

    # Within.

    def _checked(self, rows: ArrayLike) -> NDArray[np.int64]:
        table = np.asarray(rows)
        if table.dtype.kind in "UO" and table.size:
            names = [str(name) for name in table.ravel().tolist()]
            different = sorted(set(names))
            places = dict(zip(different, self._places_of(different), strict=True))
            table = np.array([places[name] for name in names], dtype=np.int64).reshape(table.shape)
        if table.size == 0:
            return np.zeros((0, 3), dtype=np.int64)
        if table.ndim != 2 or table.shape[1] != 3 or table.dtype.kind not in "iu":
            raise InputError(f"questions are (m, 3) items, not of shape {table.shape} and type {table.dtype}")
        table = table.astype(np.int64)
        wrong = np.flatnonzero(((table < 0) | (table >= self.n_leaves)).any(axis=1))
        if wrong.size:
            row = table[wrong[0]].tolist()
            raise InputError(
                f"an item of {row} is outside 0..={self.n_leaves - 1}", row=wrong[0], leaves=[row]
            )
        twice = np.flatnonzero((np.diff(np.sort(table, axis=1), axis=1) == 0).any(axis=1))
        if twice.size:
            row = table[twice[0]].tolist()
            raise InputError(f"an item of {row} occurs twice", row=twice[0], leaves=[row])
        return table

    def _places_of(self, names: list[str]) -> list[int]:
        known = {} if self.names is None else {name: leaf for leaf, name in enumerate(self.names)}
        for name in names:
            if name not in known:
                raise InputError(f"the judge has no item {name[:200]!r}")
        return [known[name] for name in names]

    def _rough_tokens(self) -> float:
        """About how many tokens a prompt has: one for three bytes."""
        length = sum(len(text.encode()) for text in self._items.texts) / self.n_leaves
        empty = sum(len(part["content"].encode()) for part in self._template.messages(["", "", ""]))
        return (empty + 3 * length) / 3 + 8

    def close(self) -> None:
        """Close connections and the cache; asking again opens them again."""
        self._engine.close()

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        asked = f"{self._inquiry.counts['questions']:,} questions, {self._budget.calls:,} calls"
        where = f"{self._setup.model or 'a model'} at {self._setup.endpoint.base}"
        return f"<Judge: {where}, {self.n_leaves:,} items, {asked}>"


def _number(what: str, value: Any, at_least: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool | str) or not at_least <= number < math.inf:
        raise InputError(f"{what} = {value!r} is no number from {at_least:g}")
    return int(number) if number.is_integer() else number
