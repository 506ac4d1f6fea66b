"""A local server of chat completions and embeddings, with a switch for each fault."""

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ordhc_judge.testing.model import Model

#: The faults that can be switched on, each with its effect.
FAULTS = {
    "timeout": "the server sends no answer",
    "429": "the server answers with status 429 (too many requests), with Retry-After",
    "500": "the server answers with status 500 (server error)",
    "garbage": "the answer is not JSON",
    "malformed": "the model answers without a number",
    "refusal": "the model refuses",
    "truncated": "the connection ends in the middle of the answer",
    "reset": "the connection ends without an answer",
}


class Server:
    """A server that behaves like an OpenAI-compatible server; made by `serve`.

    Attributes
    ----------
    url
        The address with the version: ``http://127.0.0.1:40000/v1``.
    model
        The simulated model.
    faults
        The probability of each fault, see `FAULTS`; can be changed at any time.
    rejects
        Names of fields. The server answers a request that has one of these fields with status 400.
    requests, answered
        The numbers of requests, and of requests that were answered without a fault.
    prompts
        A `Counter`: its keys are the texts of three items, its values the number of answers to prompts about
        these items.
    bodies
        The last requests, at most 100.
    largest
        The largest number of requests that were open at the same time.
    """

    def __init__(
        self,
        model: Model,
        *,
        key: str | None = None,
        faults: Mapping[str, float] | None = None,
        rejects: Sequence[str] = (),
        logprobs: bool = True,
        usage: bool = True,
        delay: float = 0.0,
        retry_after: float = 0.05,
        models: Sequence[str] = ("model",),
        seed: int = 0,
    ) -> None:
        unknown = set(faults or {}) - set(FAULTS)
        if unknown:
            raise ValueError(f"there is no fault {unknown}; known are {', '.join(FAULTS)}")
        self.model, self.key, self.models = model, key, list(models)
        self.faults, self.rejects = dict(faults or {}), list(rejects)
        self.logprobs, self.usage, self.delay, self.retry_after = logprobs, usage, delay, retry_after
        self.requests = self.answered = self.open = self.largest = 0
        self.prompts: Counter[tuple[str, ...]] = Counter()
        self.bodies: list[Any] = []
        self.connections: set[Any] = set()
        self.url = ""
        self._random = random.Random(seed)

    def respond(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes, str]:
        """Return the status, the headers and the body of the response, and how to send it.

        The last value is "whole", "cut", "not" or "never". "whole" sends the response. "cut" sends half of
        the body, then closes the connection. "not" closes the connection. "never" keeps the connection open
        without a response.
        """
        self.requests += 1
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            given = headers.get("authorization", "").removeprefix("Bearer ")
            return self._error(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if path.endswith("/models") and method == "GET":
            return self._json({"data": [{"id": name} for name in self.models]})
        if not path.endswith(("/v1/chat/completions", "/v1/embeddings")) or method != "POST":
            return self._error(404, f"there is no {path}", "not_found")
        try:
            request = json.loads(body)
        except ValueError:
            return self._error(400, "the request is not JSON", "invalid_json")
        self.bodies = [*self.bodies[-99:], request]
        if request.get("model") not in self.models:
            return self._error(404, f"there is no model {request.get('model')}", "model_not_found")
        for name in self.rejects:
            if name in request:
                return self._error(400, f"Unsupported parameter: '{name}'", "unsupported_parameter", name)
        fault = self._fault()
        if fault == "timeout":
            return 200, {}, b"", "never"
        if fault == "reset":
            return 200, {}, b"", "not"
        if fault == "429":
            status, sent, text, how = self._error(429, "Too many requests", "rate_limit_exceeded")
            return status, {**sent, "Retry-After": f"{self.retry_after:g}"}, text, how
        if fault == "500":
            return self._error(500, "the server is at a loss", "server_error")
        if fault == "garbage":
            return 200, {}, b"<html>at a loss</html>", "whole"
        found = (
            self._embeddings(request) if path.endswith("/embeddings") else self._completion(request, fault)
        )
        return (*found[:3], "cut" if fault == "truncated" else "whole")

    def _fault(self) -> str:
        drawn = self._random.random()
        for name, share in self.faults.items():
            if drawn < share:
                return name
            drawn -= share
        return ""

    def _completion(self, request: Any, fault: str) -> tuple[int, dict[str, str], bytes, str]:
        prompt = "\n".join(message["content"] for message in request["messages"])
        texts = self.model.shown_in(prompt)
        message: dict[str, Any] = {"role": "assistant"}
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "message": message}
        if fault == "refusal":
            message |= {"content": None, "refusal": "I'm sorry, I can't help with that."}
        elif fault == "malformed":
            message["content"] = "All three of them have something to say for themselves."
        elif texts is None:
            message["content"] = self.model.name(prompt)
        else:
            said, shares = self.model.answer(texts)
            message["content"] = str(said)
            if fault != "truncated":
                self.prompts[tuple(texts)] += 1
                self.answered += 1
            if self.logprobs and request.get("logprobs"):
                tops = [
                    {"token": str(at), "logprob": float(np.log(share))} for at, share in enumerate(shares)
                ]
                top = tops[said] if said < 4 else tops[0]
                choice["logprobs"] = {"content": [{**top, "top_logprobs": tops}]}
        document: dict[str, Any] = {
            "object": "chat.completion",
            "model": request["model"],
            "choices": [choice],
        }
        if self.usage:
            asked = len(prompt.encode()) // 4
            document["usage"] = {"prompt_tokens": asked, "completion_tokens": 1, "total_tokens": asked + 1}
        return self._json(document)

    def _embeddings(self, request: Any) -> tuple[int, dict[str, str], bytes, str]:
        given = request["input"]
        vectors = self.model.vectors([given] if isinstance(given, str) else given)
        data = [
            {"object": "embedding", "index": at, "embedding": [round(value, 6) for value in vector]}
            for at, vector in enumerate(vectors.tolist())
        ]
        self.answered += 1
        return self._json(
            {"data": data[::-1], "model": request["model"], "usage": {"prompt_tokens": 5 * len(data)}}
        )

    def _error(
        self, status: int, message: str, code: str, param: str | None = None
    ) -> tuple[int, dict[str, str], bytes, str]:
        text = {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": param}}
        return status, {}, json.dumps(text).encode(), "whole"

    def _json(self, document: Any) -> tuple[int, dict[str, str], bytes, str]:
        return 200, {}, json.dumps(document).encode(), "whole"


class _Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self._server = server
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._server.connections.add(transport)

    def connection_lost(self, _error: Exception | None) -> None:
        self._server.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            length = int(headers.get("content-length", 0))
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            method, path, _ = first.split(" ")
            self._server.open += 1
            self._server.largest = max(self._server.largest, self._server.open)
            if self._server.delay:
                loop = asyncio.get_running_loop()
                loop.call_later(self._server.delay, self._reply, method, path, headers, body)
            else:
                self._reply(method, path, headers, body)

    def _reply(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        status, sent, content, how = self._server.respond(method, path, headers, body)
        self._server.open -= 1
        if how == "never" or self._transport.is_closing():
            return
        if how == "not":
            self._transport.close()
            return
        lines = [f"{name}: {value}" for name, value in sent.items()]
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        head = "\r\n".join([f"HTTP/1.1 {status} OK", *lines, "", ""]).encode()
        if how == "cut":
            self._transport.write(head + content[: len(content) // 2])
            self._transport.close()
        else:
            self._transport.write(head + content)


@contextmanager
def serve(
    truth: Any,
    items: Sequence[str],
    *,
    accuracy: float = 1.0,
    bias: float = 0.0,
    obeys: bool = False,
    seed: int = 0,
    port: int = 0,
    **switches: Any,
) -> Iterator[Server]:
    """Serve a simulated model on this machine, until the `with` block ends.

    Parameters
    ----------
    truth, items, accuracy, bias, obeys, seed
        As in `Model`.
    port
        The port; by default any free port.
    **switches
        Further settings of the server:

        * `key`: the only key that is accepted;
        * `faults`: the probability of each fault in `FAULTS`;
        * `rejects`: fields of requests that are answered with status 400;
        * `logprobs`, `usage`: True to return log-probabilities and counts of tokens;
        * `delay`: the duration of an answer in seconds;
        * `retry_after`: the seconds in the header `Retry-After` of status 429;
        * `models`: the names of the models.

    Examples
    --------
    >>> import ordhc_judge
    >>> with serve("((0,1),2);", ["cat", "dog", "bus"], faults={"500": 0.3}) as server:
    ...     with ordhc_judge.Judge(server.url, "model", ["cat", "dog", "bus"], rpm=None) as judge:
    ...         judge([[0, 1, 2]])
    array([2], dtype=int8)
    """
    model = Model(truth, items, accuracy=accuracy, bias=bias, obeys=obeys, seed=seed)
    server = Server(model, seed=seed, **switches)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="ordhc-judge-server", daemon=True)
    thread.start()

    async def begin() -> asyncio.Server:
        return await loop.create_server(lambda: _Connection(server), "127.0.0.1", port, backlog=1024)

    async def end(listening: asyncio.Server) -> None:
        listening.close()
        for transport in list(server.connections):
            transport.abort()

    listening = asyncio.run_coroutine_threadsafe(begin(), loop).result()
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        # If the program ends within the `with` block, the thread has stopped already, so do not wait long.
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(end(listening), loop).result(1)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(1)
        if not loop.is_running():
            loop.close()
