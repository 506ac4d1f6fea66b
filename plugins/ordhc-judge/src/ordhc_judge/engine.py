"""The engine of a judge: runs an `Asker` in its own event loop, which starts with the first request."""

import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ordhc.errors import InputError, warn
from ordhc_judge.asker import Asker, Chat
from ordhc_judge.cache import Cache
from ordhc_judge.client import Client, Limits
from ordhc_judge.endpoint import Endpoint
from ordhc_judge.errors import JudgeError
from ordhc_judge.replies import Reply, brief
from ordhc_judge.runner import Runner
from ordhc_judge.spending import Budget, Pace, number, whole

_RPM = 500

T = TypeVar("T")

#: Maximum size in bytes of the list of a server's models; some services have thousands.
_LARGEST_LIST = 1 << 24


@dataclass(frozen=True)
class Setup:
    """The checked settings of an engine: the server, the model, the limits and the cache."""

    endpoint: Endpoint
    model: str | None
    limits: Limits
    rpm: float | None
    cache: str | os.PathLike[str] | None
    optional: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        url: Any,
        model: Any,
        *,
        key: Any,
        headers: Any,
        concurrency: Any,
        rpm: Any,
        timeout: Any,
        retries: Any,
        cache: Any,
        optional: Mapping[str, Any],
        extra: Any,
    ) -> "Setup":
        """Return the settings from the arguments of `Judge`; raise `InputError` for an invalid value."""
        if model is not None and (not isinstance(model, str) or not model.strip()):
            raise InputError(f"model = {model!r} must be the name of a model, or None")
        endpoint = Endpoint.of(url, key, headers)
        word = rpm.lower() if isinstance(rpm, str) else None
        if word == "auto":
            rpm = None if endpoint.is_local else _RPM
        elif word == "none" or (rpm == 0 and not isinstance(rpm, bool)):
            rpm = None
        if rpm is not None:
            rpm = number("rpm", rpm, is_positive=True)
        if cache is not None and (not isinstance(cache, str | os.PathLike) or not os.fspath(cache)):
            raise InputError(f"cache = {cache!r} must be the name of a file, or None")
        if not isinstance(extra, Mapping | None) or {"model", "messages", "stream"} & set(extra or {}):
            raise InputError(
                f"extra = {extra!r} must be a dict of fields other than model, messages and stream"
            )
        limits = Limits(
            whole("concurrency", concurrency, 1),
            number("timeout", timeout, is_positive=True),
            whole("retries", retries, 0),
        )
        return cls(endpoint, model, limits, rpm, cache, optional, dict(extra or {}))


@dataclass(frozen=True)
class Counts:
    """The counts of an engine; the attributes of `Report` with the same names describe them."""

    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    faults: Mapping[str, int] = field(default_factory=dict)
    unanswered: Mapping[str, int] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()


class Engine:
    """A sender of prompts to a language model; any thread can use it, also after a fork."""

    def __init__(self, setup: Setup, budget: Budget) -> None:
        self._setup, self._budget = setup, budget
        self._runner = Runner()
        self._asker: Asker | None = None
        self._earlier = Counts()

    def run(
        self, work: Callable[[Asker], Coroutine[Any, Any, T]], on_tick: Callable[[], None] | None = None
    ) -> T:
        """Return the result of `work`, a coroutine function that gets the `Asker` of this engine.

        `on_tick` is called ten times a second.
        """

        async def opened() -> T:
            return await work(await self._open())

        if self._asker is not None and not self._runner.is_in_this_process:
            # After a fork, do not touch the connections and files of the parent process.
            self._runner, self._asker = Runner(), None
        return self._runner.run(opened(), on_tick)

    def ask_all(
        self,
        prompts: Iterable[tuple[Any, list[dict[str, str]]]],
        done: Callable[[Any, Reply], None],
        on_tick: Callable[[], None] | None = None,
    ) -> None:
        """Send prompts, and call `done` with each reply; see `Asker.ask_all`."""
        self.run(lambda asker: asker.ask_all(prompts, done), on_tick)

    def usage(self) -> tuple[int, float, float, float]:
        """Return how many replies of the model are cached, and their mean tokens and seconds.

        The numbers are: replies (at most 2,000), mean prompt tokens, mean completion tokens, mean seconds.
        """
        model, base = self._setup.model, self._setup.endpoint.base
        cache = self._setup.cache
        if model is None or (self._asker is None and (cache is None or not os.path.exists(cache))):  # noqa: PTH110
            return 0, 0.0, 0.0, 0.0

        async def found(asker: Asker) -> tuple[int, float, float, float]:
            return asker.cache.usage(base, model)

        return self.run(found)

    def counts(self) -> Counts:
        """Return the counts of cached replies, tokens, faults, unanswered prompts and rejected fields."""
        asker, before = self._asker, self._earlier
        if asker is None:
            return before
        bad = Counter({reason: count for reason, count in asker.replies.items() if reason != "ok"})
        return Counts(
            before.cached + asker.n_cached,
            before.prompt_tokens + asker.prompt_tokens,
            before.completion_tokens + asker.completion_tokens,
            Counter(before.faults) + asker.client.faults,
            Counter(before.unanswered) + bad,
            tuple(dict.fromkeys((*before.rejected, *asker.chat.rejected))),
        )

    def waited(self) -> float:
        """Return the seconds that requests have waited for the limit of requests per minute."""
        return 0.0 if self._asker is None else self._asker.client.pace.waited

    def close(self) -> None:
        """Close connections and the cache."""
        asker, self._earlier, self._asker = self._asker, self.counts(), None
        if asker is None or not self._runner.is_in_this_process:
            return

        async def closed() -> None:
            await asker.client.close()
            asker.cache.close()

        try:
            self._runner.run(closed())
        finally:
            self._runner.close()

    async def _open(self) -> Asker:
        if self._asker is None:
            setup = self._setup
            pace = Pace(setup.rpm)
            model = setup.model
            if model is None:
                model = await _only_model(Client(setup.endpoint, setup.limits, pace, self._budget))
            chat = Chat(model, setup.optional, setup.extra)
            self._asker = Asker(setup.endpoint, chat, setup.limits, pace, self._budget, Cache(setup.cache))
        return self._asker


async def _only_model(client: Client) -> str:
    try:
        received = await client.send("/models", None, (0, 0), lambda _: (0, 0), lambda: None, _LARGEST_LIST)
        listed = received.document.get("data") if received.document else None
    except JudgeError as error:
        if "status 404" not in str(error):
            raise
        listed = None
    finally:
        await client.close()
    names = [
        entry["id"] for entry in listed or [] if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    ]
    if len(names) > 1:
        listed = brief(", ".join(names[:20]), 1000)
        raise InputError(f"{client.endpoint.base} has several models; give one of them as model=: {listed}")
    if not names:
        warn(
            f"{client.endpoint.base} does not list its models, so requests have model='default'; "
            "to use another name, give model=NAME"
        )
    return names[0] if names else "default"
