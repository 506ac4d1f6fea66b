"""Send requests to a server, with retries, counts of faults, and limits on rate and size."""

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
from ordhc_judge.spending import Budget, Pace, Tokens

#: HTTP statuses after which the same request can succeed later.
_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529)
#: Upper bound in seconds of the random wait before the second attempt; doubled for each further attempt.
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
_PATIENCE = 300.0
#: Maximum number of times that a request is sent again after status 429 (rate limit).
_TURNED_AWAY = 50
#: Maximum size in bytes of an unpacked reply; a chat completion has a few thousand bytes.
LARGEST_REPLY = 1 << 20
_KEPT = 1 << 16
_OUT_OF_MONEY = ("insufficient_quota", "billing", "payment")
_POLICY = ("content_filter", "content_policy", "safety", "moderation", "responsibleai")


@dataclass(frozen=True)
class Limits:
    """The limits of a client; `timeout` is the largest number of seconds that one attempt may take."""

    concurrency: int
    timeout: float
    retries: int


@dataclass(frozen=True)
class Received:
    """The final result of a request.

    Attributes
    ----------
    document
        The JSON document; None if there is none.
    raw
        The beginning of the reply's text, without secrets such as API keys.
    fault
        The reason why there is no document: "timeout", "http 500", "connection", "truncated", "malformed",
        "rejected", "refusal" or "rate limit". Empty if there is a document.
    message
        The server's message about the fault.
    code, param
        The error code and the parameter that the server names if it rejects the request.
    seconds, attempts
        The duration of the last attempt, and the number of attempts.
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
    """A client that sends requests to one endpoint; used within one event loop.

    Attributes
    ----------
    faults
        The number of times that each fault occurred, including faults after which a later attempt succeeded.
    """

    def __init__(self, endpoint: Endpoint, limits: Limits, pace: Pace, budget: Budget) -> None:
        self.endpoint, self.limits, self.pace, self.budget = endpoint, limits, pace, budget
        self.faults: Counter[str] = Counter()
        self.attempts = 0
        self._random = random.Random()
        self._version = ""
        pool = httpx2.Limits(max_connections=limits.concurrency, max_keepalive_connections=limits.concurrency)
        timeout = httpx2.Timeout(limits.timeout)
        # Accept only gzip, and unpack it here up to a limit, because a few kilobytes can unpack to gigabytes.
        self._http = httpx2.AsyncClient(
            auth=endpoint.signed, headers={"Accept-Encoding": "gzip"}, limits=pool, timeout=timeout
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def send(
        self,
        path: str,
        body: dict[str, Any] | None,
        tokens: Tokens,
        used: Callable[[Any], Tokens | None],
        before: Callable[[], Any],
        most: int = LARGEST_REPLY,
    ) -> Received:
        """Send a request, with retries, until there is a document or the retries are used up.

        Parameters
        ----------
        path
            The path at the server, such as "/chat/completions".
        body
            The JSON body; None for a request without a body.
        tokens
            The numbers of tokens of the prompt and of the answer that the budget reserves for each attempt.
        used
            A function that returns the numbers of tokens that a document took; None for an unexpected
            document.
        before
            Called before each attempt, for example to renew a claim in the cache.
        most
            Maximum size of an unpacked reply in bytes.

        Raises
        ------
        KeyRefusedError, BudgetError, JudgeError
            An error after which no request can succeed.
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
            taken, version = (0, 0), self._version
            status, raw, wait, fault, document = 0, "", None, "", None
            try:
                status, document, raw, wait = await self._exchange(path, body, most)
                counted = used(document) if status == 200 and isinstance(document, dict) else None
                is_asked, taken = counted is not None, counted or (0, 0)
            except (TimeoutError, httpx2.TimeoutException):
                fault = "timeout"
            except (httpx2.ConnectError, httpx2.ProxyError) as error:
                fault, raw = "connection", brief(self._clean(str(error)))
            except (httpx2.TransportError, httpx2.DecodingError, OSError) as error:
                # The connection broke while the reply was being sent.
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
                    # The address may lack the version "/v1", which most servers have in their path.
                    self._version = "/v1"
                    continue
                message, code, param = message_of(document, raw)
                self._raise_if_final(status, message, code, wait)
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
            if failed > self.limits.retries or turned_away > _TURNED_AWAY:
                if fault == "connection":
                    raise JudgeError(
                        f"{self.endpoint.base} cannot be reached, after {attempts} attempts: {raw}. All"
                        " answers so far are in the cache: repeat the call to continue"
                    )
                return Received(None, raw, fault, message, code, param, seconds, attempts)
            await self._back_off(failed + turned_away, wait)

    async def _exchange(
        self, path: str, body: dict[str, Any] | None, most: int
    ) -> tuple[int, Any, str, float | None]:
        """Make one attempt; return the status, the JSON document, its text, and `Retry-After` in seconds."""
        address = self.endpoint.address(path, self._version)
        content = None if body is None else json.dumps(body, ensure_ascii=True).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        method = "GET" if content is None else "POST"
        async with asyncio.timeout(self.limits.timeout):
            async with self._http.stream(method, address, content=content, headers=headers) as response:
                encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
                if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
                    raise httpx2.DecodingError(
                        f"the reply has Content-Encoding {encoding!r}; only gzip is accepted"
                    )
                unpacker = None if encoding in ("", "identity") else zlib.decompressobj(47)
                text = bytearray()
                async for part in response.aiter_raw():
                    left = most + 1 - len(text)
                    try:
                        text += part[:left] if unpacker is None else unpacker.decompress(part, left)
                    except zlib.error as error:
                        raise httpx2.DecodingError(str(error)) from None
                    if len(text) > most:
                        raise JudgeError(
                            f"{self.endpoint.base}: the reply has more than {most:,} bytes; check the url"
                        )
                if unpacker is not None and text and not unpacker.eof:
                    raise httpx2.DecodingError("the reply is cut off")
                return (
                    response.status_code,
                    *self._read(text.decode("utf-8", "replace")),
                    retry_after(response.headers.get("Retry-After")),
                )

    def _read(self, text: str) -> tuple[Any, str]:
        try:
            # Search for secrets in the parsed document, because JSON may contain them with escapes.
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

    def _raise_if_final(self, status: int, message: str, code: str, wait: float | None) -> None:
        base = self.endpoint.base
        advice = "all answers so far are in the cache: repeat the call to continue"
        if status in (401, 403, 407):
            given = (
                "the key"
                if self.endpoint.secrets
                else "requests without a key (give key=, or ORDHC_JUDGE_KEY)"
            )
            raise KeyRefusedError(f"{base} rejects {given} with status {status}: {message}")
        if status == 402 or any(word in code.lower() for word in _OUT_OF_MONEY):
            raise JudgeError(f"{base} demands payment (status {status}): {message}; {advice}")
        if status == 404:
            raise JudgeError(f"{base} does not have this model or address (status 404): {message}")
        if 300 <= status < 400:
            raise JudgeError(
                f"{base} redirects to another address (status {status}); give that address as url"
            )
        if wait is not None and wait > _PATIENCE:
            raise JudgeError(f"{base} asks to wait {wait:,.0f} seconds: {message}; {advice}")

    async def _back_off(self, times: int, wait: float | None) -> None:
        """Wait before the next attempt.

        The wait is random (full jitter). If the server asks for a wait, all requests wait that long, and this
        request waits a random time longer, so that not all requests are sent again at the same moment.
        """
        jitter = self._random.uniform(0, min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(times - 1, 10)))
        if wait is not None:
            self.pace.pause(wait)
            jitter = self._random.uniform(0, max(wait / 4, 0.05)) + wait
        await asyncio.sleep(jitter)

    def _clean(self, text: str) -> str:
        return scrubbed(text, self.endpoint.secrets)
