"""Get the replies to many prompts at the same time, from the cache or from the server."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from ordhc_judge.cache import Cache, key_of
from ordhc_judge.client import Client, Limits, Received
from ordhc_judge.endpoint import Endpoint
from ordhc_judge.errors import BudgetError, JudgeError
from ordhc_judge.replies import Reply, brief, read_chat, read_text, usage_of
from ordhc_judge.spending import Budget, Pace, Tokens

S = TypeVar("S")
T = TypeVar("T")
Messages = list[dict[str, str]]
#: The name of a prompt, by which its reply is reported, and its messages.
Prompt = tuple[Any, Messages]
#: The same, and the key of the reply in the cache.
Waiting = tuple[Any, Messages, bytes]

_GIVE_UP = 100
#: The asker stops after this number of rejected prompts in a row if no prompt has succeeded before.
_GIVE_UP_REJECTED = 8
#: Fields that are dropped, one by one in this order, if the server rejects a request without naming a field.
_OPTIONAL = ("top_logprobs", "logprobs", "max_tokens", "max_completion_tokens", "temperature")
_LONGEST_ANSWER = 4096


class Chat:
    """The fields of a chat request besides the messages.

    A field in `optional` that the server rejects is left out of all later requests. Fields in `extra` are
    always sent.
    """

    def __init__(self, model: str, optional: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        self.model = model
        self._wanted, self._extra = dict(optional), dict(extra)
        self._now = dict(optional)
        self.rejected: list[str] = []

    def request(self, messages: Messages) -> dict[str, Any]:
        """Return the request for the cache key, including the fields that the server has rejected."""
        return {"model": self.model, "messages": messages, **self._wanted, **self._extra}

    def body(self, messages: Messages) -> dict[str, Any]:
        """Return the request to send, without the fields that the server has rejected."""
        return {"model": self.model, "messages": messages, **self._now, **self._extra}

    def without_rejected(self, sent: Mapping[str, Any], received: Received, has_worked: bool) -> bool:
        """Leave a field out of later requests, because the server rejected the request `sent`.

        The field is the one that the server names. If the server names no field, and no request has succeeded
        before, optional fields are left out one by one. Return True if the request can be sent again.
        """
        if any(name in sent and name not in self._now for name in _OPTIONAL):
            # Another request was rejected in the meantime, so a field of `sent` is left out already.
            return True
        if received.param in self._now:
            return self._leave_out(received.param)
        text = f"{received.param} {received.message}".lower()
        named = [name for name in _OPTIONAL if name in self._now and name in text]
        if not named and has_worked:
            return False
        left = named or [name for name in _OPTIONAL if name in self._now]
        return bool(left) and self._leave_out(left[0])

    def _leave_out(self, name: str) -> bool:
        self.rejected.append(name)
        value = self._now.pop(name)
        if name == "max_tokens":
            self._now["max_completion_tokens"] = value
        elif name in ("logprobs", "top_logprobs"):
            self._now.pop("logprobs", None)
            self._now.pop("top_logprobs", None)
        return True

    def longer(self, sent: Mapping[str, Any]) -> bool:
        """Allow longer answers after an answer was cut off; return False if the limit cannot be raised."""
        for name in ("max_tokens", "max_completion_tokens"):
            if name in sent and name in self._now and sent[name] < _LONGEST_ANSWER:
                self._now[name] = max(self._now[name], min(16 * sent[name], _LONGEST_ANSWER))
                return True
        return False


class Asker:
    """Sends prompts to a server and caches the replies; for use within one event loop."""

    def __init__(
        self, endpoint: Endpoint, chat: Chat, limits: Limits, pace: Pace, budget: Budget, cache: Cache
    ) -> None:
        self.chat, self.cache, self.budget = chat, cache, budget
        self.client = Client(endpoint, limits, pace, budget)
        self._lease = limits.timeout + 90
        self.replies: Counter[str] = Counter()
        self.n_cached = 0
        self.prompt_tokens = self.completion_tokens = 0
        self._n_measured, self._measured = 0, (0, 0)
        self._in_a_row = 0
        self._has_worked = False
        self._one_at_a_time = asyncio.Lock()

    def key(self, messages: Messages) -> bytes:
        return key_of(self.client.endpoint.base, "chat", self.chat.request(messages))

    async def ask_all(self, prompts: Iterable[Prompt], done: Callable[[Any, Reply], None]) -> None:
        """Send many prompts at the same time; call `done` with the name and the reply of each prompt.

        Prompts with a reply in the cache are not sent. If another process has sent the same prompt already,
        this method waits for the reply of that process.

        Raises
        ------
        JudgeError
            An error that stops all requests. If the budget is spent, open requests are answered first. Other
            errors cancel open requests.
        """
        waiting: list[Waiting] = []
        queue = self._missing(prompts, done)
        stop: list[JudgeError] = []

        async def work() -> None:
            for name, messages, key in queue:
                if stop:
                    return
                try:
                    if self.cache.claim(key, self._lease):
                        done(name, await self._ask(messages, key))
                    else:
                        waiting.append((name, messages, key))
                except JudgeError as error:
                    stop.append(error)
                    return

        async with self._one_at_a_time:
            tasks = [asyncio.ensure_future(work()) for _ in range(self.client.limits.concurrency)]
            await self._finished(tasks, stop)
            await self._wait_for_others(waiting, done)

    async def at_the_same_time(
        self, work: Callable[[S], Coroutine[Any, Any, T]], arguments: Iterable[S]
    ) -> list[T]:
        """Return the result of `work` for each argument; raise an exception only after all work has ended."""
        slots = asyncio.Semaphore(self.client.limits.concurrency)

        async def one(argument: S) -> T:
            async with slots:
                return await work(argument)

        found = await asyncio.gather(*map(one, arguments), return_exceptions=True)
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return found  # type: ignore[return-value]

    async def _finished(self, tasks: list["asyncio.Task[None]"], stop: list[JudgeError]) -> None:
        try:
            open_tasks = set(tasks)
            while open_tasks:
                ended, open_tasks = await asyncio.wait(open_tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()
                # The budget has paid for open requests, so await their replies if the budget is spent.
                if stop and not isinstance(stop[0], BudgetError):
                    break
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.cache.release_claims()
        if stop:
            raise stop[0]

    def _missing(self, prompts: Iterable[Prompt], done: Callable[[Any, Reply], None]) -> Iterator[Waiting]:
        """Yield the prompts without a reply in the cache; call `done` for the others."""
        rest = iter(prompts)
        while part := [(name, messages, self.key(messages)) for name, messages in islice(rest, 500)]:
            found = self.cache.find([key for _, _, key in part])
            for name, messages, key in part:
                if key in found:
                    self.n_cached += 1
                    done(name, found[key])
                else:
                    yield name, messages, key

    async def _wait_for_others(self, waiting: list[Waiting], done: Callable[[Any, Reply], None]) -> None:
        while waiting:
            found = self.cache.find([key for _, _, key in waiting])
            left = []
            for name, messages, key in waiting:
                if key in found:
                    self.n_cached += 1
                    done(name, found[key])
                elif self.cache.claim(key, self._lease):
                    try:
                        done(name, await self._ask(messages, key))
                    except BaseException:
                        self.cache.release_claims()
                        raise
                else:
                    left.append((name, messages, key))
            waiting = left
            if waiting:
                await asyncio.sleep(0.05)

    async def _ask(
        self, messages: Messages, key: bytes, read: Callable[[Any], Reply | None] = read_chat
    ) -> Reply:
        asked_again, reply = False, None
        held = self._expected(messages)
        while True:
            body = self.chat.body(messages)
            received = await self.client.send(
                "/chat/completions",
                body,
                held,
                lambda document: self._used(document, messages),
                lambda: self.cache.claim(key, self._lease),
            )
            reply = None if received.fault else read(received.document)
            if received.fault == "rejected" and self.chat.without_rejected(body, received, self._has_worked):
                continue
            if reply is not None and reply.status == "truncated" and self.chat.longer(body):
                self.client.faults["answer cut off"] += 1
                continue
            if reply is not None and reply.status == "malformed" and not asked_again:
                self.client.faults["no number"] += 1
                asked_again = True
                continue
            break
        if reply is None:
            reply = Reply(received.fault or "malformed", text=received.message)
        self.cache.keep(key, self.client.endpoint.base, self.chat.request(messages), reply, received)
        self._count(reply)
        return reply

    async def write(self, messages: Messages) -> str | None:
        key = self.key(messages)
        reply = self.cache.find([key]).get(key)
        if reply is None:
            reply = await self._ask(messages, key, read_text)
        else:
            self.n_cached += 1
        return reply.text if reply.status == "ok" else None

    def _count(self, reply: Reply) -> None:
        self.replies[reply.status] += 1
        if reply.status in ("ok", "refusal", "malformed", "truncated"):
            self._in_a_row, self._has_worked = 0, True
            return
        self._in_a_row += 1
        few = reply.status == "rejected" and not self._has_worked
        if self._in_a_row >= (_GIVE_UP_REJECTED if few else _GIVE_UP):
            raise JudgeError(
                f"{self.client.endpoint.base} answered none of the last {self._in_a_row} prompts. Last fault"
                f" ({reply.status}): {brief(reply.text)}. All answers so far are in the cache: repeat the"
                " call to continue"
            )

    def _expected(self, messages: Messages) -> Tokens:
        if self._n_measured >= 5:
            share = 1.25 / self._n_measured
            return int(share * self._measured[0]) + 1, int(share * self._measured[1]) + 1
        return rough_tokens(messages), 16

    def _used(self, document: Any, messages: Messages) -> Tokens | None:
        if read_chat(document) is None:
            return None
        asked, written = usage_of(document)
        asked = rough_tokens(messages) if asked is None else asked
        written = 4 if written is None else written
        self.prompt_tokens += asked
        self.completion_tokens += written
        self._measured = (self._measured[0] + asked, self._measured[1] + written)
        self._n_measured += 1
        return asked, written


def rough_tokens(messages: Messages) -> int:
    return sum(len(message["content"].encode()) // 3 + 8 for message in messages)
