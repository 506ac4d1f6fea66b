"""Requests that are sent again where that may help; each fault is counted, a wrong key ends everything."""

import asyncio
import json
import random
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from ordhc_judge.endpoint import Endpoint
from ordhc_judge.errors import JudgeError, KeyRefusedError
from ordhc_judge.replies import brief, message_of, retry_after
from ordhc_judge.secret import scrubbed
from ordhc_judge.spending import Budget, Pace

__all__ = ["LARGEST_REPLY", "Client", "Received", "Tuning"]

#: Statuses after which the same request may go well.
_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529)
#: Seconds before the second attempt, doubled for each further one; the wait is drawn from 0 to this.
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
#: A server that asks to wait longer is not waited for.
_PATIENCE = 300.0
#: Refused for coming too fast so often, a request counts as failed.
_TURNED_AWAY = 50
#: Bytes that a reply may take once it is unpacked: chat completions take some thousands.
LARGEST_REPLY = 1 << 20
#: Characters of a reply that are handed on as text.
_KEPT = 1 << 16
_OUT_OF_MONEY = ("insufficient_quota", "billing", "payment")
_POLICY = ("content_filter", "content_policy", "safety", "moderation", "responsibleai")


@dataclass(frozen=True)
class Tuning:
    """How patient a client is.

    Attributes
    ----------
    concurrency
        How many requests are open at a time.
    timeout
        Seconds that an attempt may take.
    retries
        How often a request is sent again after a fault.
    """

    concurrency: int
    timeout: float
    retries: int


@dataclass(frozen=True)
class Received:
    """What came back in the end.

    Attributes
    ----------
    document
        The JSON; None where there is none.
    raw
        The beginning of its text, without keys.
    fault
        Why there is no document: "timeout", "http 500", "connection", "truncated", "malformed", "rejected",
        "refusal", "rate limit". Empty if there is one.
    message
        What the server says of it.
    code, param
        Of a rejected request what the server names.
    seconds, attempts
        How long the last attempt took, and how many there were.
    """

    document: Any
    raw: str
    fault: str
    message: str = ""
    code: str = ""
    param: str = ""
    seconds: float = 0.0
    attempts: int = 1


class Client:
    """Sends requests to one endpoint. Lives in one event loop.

    Attributes
    ----------
    faults
        How often each fault came up, those that a later attempt made good included.
    """

    def __init__(self, endpoint: Endpoint, tuning: Tuning, pace: Pace, budget: Budget) -> None:
        self.endpoint, self.tuning, self.pace, self.budget = endpoint, tuning, pace, budget
        self.faults: Counter[str] = Counter()
        self.attempts = 0
        self._random = random.Random()
        self._reached = False
        self._version = ""
        limits = httpx2.Limits(
            max_connections=tuning.concurrency, max_keepalive_connections=tuning.concurrency
        )
        timeout = httpx2.Timeout(tuning.timeout)
        # What is packed is unpacked here, as far as the limit: brotli makes gigabytes of some kilobytes.
        self._http = httpx2.AsyncClient(
            auth=endpoint.auth(), headers={"Accept-Encoding": "gzip"}, limits=limits, timeout=timeout
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def send(
        self,
        path: str,
        body: dict[str, Any] | None,
        tokens: int,
        used: Callable[[Any], int | None],
        before: Callable[[], Any],
        most: int = LARGEST_REPLY,
    ) -> Received:
        """Send a request until there is a document, or it is clear that there will be none.

        Parameters
        ----------
        path
            What of the server.
        body
            What is sent; None for a request without a body.
        tokens
            How many are held back for each attempt.
        used
            How many tokens a document took; None if it isn't what was asked for.
        before
            Called before each attempt: the request takes long.
        most
            Maximum size of a reply in bytes, unpacked.

        Raises
        ------
        KeyRefusedError, BudgetError, JudgeError
            What ends everything.
        """
        failed = turned_away = 0
        attempts = 0
        while True:
            await self.pace.turn()
            before()
            self.budget.hold(tokens)
            attempts += 1
            self.attempts += 1
            begin = time.perf_counter()
            taken, version = 0, self._version
            status, raw, wait, fault, document = 0, "", None, "", None
            try:
                status, document, raw, wait = await self._exchange(path, body, most)
                self._reached = True
                told = used(document) if status == 200 and isinstance(document, dict) else None
                is_asked, taken = told is not None, told or 0
            except (TimeoutError, httpx2.TimeoutException):
                fault = "timeout"
            except (httpx2.ConnectError, httpx2.ProxyError) as error:
                fault, raw = "connection", brief(self._clean(str(error)))
            except (httpx2.TransportError, httpx2.DecodingError, OSError) as error:
                # The connection broke while the answer was on its way.
                fault, raw = "truncated", brief(self._clean(str(error)) or type(error).__name__)
            except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
                raise JudgeError(f"{self.endpoint.base}: {brief(self._clean(str(error)))}") from None
            finally:
                self.budget.settle(tokens, taken)
            seconds = time.perf_counter() - begin
            if not fault:
                if is_asked:
                    return Received(document, raw, "", seconds=seconds, attempts=attempts)
                if status == 404 and not self.endpoint.has_path and not version:
                    # Given without the version that most servers have.
                    self._version = "/v1"
                    continue
                message, code, param = message_of(document, raw)
                self._end_all(status, message, code, wait)
                fault = "malformed" if status == 200 else "rate limit" if status == 429 else f"http {status}"
                if status not in (200, *_AGAIN):
                    about = f"{code} {message}".lower()
                    kind = "refusal" if any(word in about for word in _POLICY) else "rejected"
                    self.faults[kind] += 1
                    return Received(None, raw, kind, message, code, param, seconds, attempts)
            else:
                message, code, param = raw or fault, "", ""
            self.faults[fault] += 1
            failed, turned_away = failed + (fault != "rate limit"), turned_away + (fault == "rate limit")
            if failed > self.tuning.retries or turned_away > _TURNED_AWAY:
                if fault == "connection":
                    raise JudgeError(
                        f"{self.endpoint.base} cannot be reached, {attempts} times: {raw}; every"
                        " answer so far is in the cache: the same again goes on where this stopped"
                    )
                return Received(None, raw, fault, message, code, param, seconds, attempts)
            await self._back_off(failed + turned_away, wait)

    async def _exchange(
        self, path: str, body: dict[str, Any] | None, most: int
    ) -> tuple[int, Any, str, float | None]:
        """One attempt: the status, what `_read` gives of the text, and how long the server asks to wait."""
        address = self.endpoint.address(path, self._version)
        content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        method = "GET" if content is None else "POST"
        async with asyncio.timeout(self.tuning.timeout):
            async with self._http.stream(method, address, content=content, headers=headers) as response:
                encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
                if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
                    raise httpx2.DecodingError(f"Content-Encoding {encoding!r}, which was not asked for")
                unpacker = None if encoding in ("", "identity") else zlib.decompressobj(47)
                text = bytearray()
                async for part in response.aiter_raw():
                    left = most + 1 - len(text)
                    try:
                        text += part[:left] if unpacker is None else unpacker.decompress(part, left)
                    except zlib.error as error:
                        raise httpx2.DecodingError(str(error)) from None
                    if len(text) > most:
                        raise JudgeError(f"{self.endpoint.base}: a reply of more than {most:,} bytes")
                if unpacker is not None and text and not unpacker.eof:
                    raise httpx2.DecodingError("the reply is cut off")
                return (
                    response.status_code,
                    *self._read(text.decode("utf-8", "replace")),
                    retry_after(response.headers.get("Retry-After")),
                )

    def _read(self, text: str) -> tuple[Any, str]:
        """The JSON and its text, both without keys; None and the text where it is no JSON."""
        try:
            # Keys are looked for in what JSON means: it may write them with escapes.
            document = self._cleaned(json.loads(text))
            text = json.dumps(document, ensure_ascii=False) if len(text) <= LARGEST_REPLY else ""
        except (ValueError, RecursionError):
            document = None
        return document, self._clean(text)[:_KEPT]

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, list):
            return [self._cleaned(each) for each in value]
        if isinstance(value, dict):
            return {self._clean(key): self._cleaned(each) for key, each in value.items()}
        return value

    def _end_all(self, status: int, message: str, code: str, wait: float | None) -> None:
        """Raise what makes all further requests pointless."""
        base, go_on = self.endpoint.base, "every answer so far is in the cache: the same again goes on"
        if status in (401, 403, 407):
            given = (
                "the key"
                if self.endpoint.secrets
                else "requests without a key (give key=, or ORDHC_JUDGE_KEY)"
            )
            raise KeyRefusedError(f"{base} refuses {given} with status {status}: {message}")
        if status == 402 or any(word in code.lower() for word in _OUT_OF_MONEY):
            raise JudgeError(f"{base} wants to be paid (status {status}): {message}; {go_on}")
        if status == 404:
            raise JudgeError(f"{base} knows no such model or address (status 404): {message}")
        if 300 <= status < 400:
            raise JudgeError(f"{base} is elsewhere (status {status}): give the address that it leads to")
        if wait is not None and wait > _PATIENCE:
            raise JudgeError(f"{base} asks to come back in {wait:,.0f} seconds: {message}; {go_on}")

    async def _back_off(self, times: int, wait: float | None) -> None:
        """Full jitter; where the server says how long to wait, everybody waits as long, and then a little."""
        jitter = self._random.uniform(0, min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(times - 1, 10)))
        if wait is not None:
            self.pace.pause(wait)
            jitter = self._random.uniform(0, max(wait / 4, 0.05)) + wait
        await asyncio.sleep(jitter)

    def _clean(self, text: str) -> str:
        return scrubbed(text, self.endpoint.secrets)
