"""Check every request, and add security headers to every response."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Maximum size of a form in bytes.
LARGEST = 65_536
#: The number of seconds within which a form must arrive.
SLOWEST = 15.0

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: The policy of media files: an SVG can contain scripts, which must not run if it is opened by itself.
_MEDIA_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; sandbox"
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), interest-cohort=()"),
)


class Guard:
    """A middleware that refuses forms that are large, slow or from other sites, and adds security headers."""

    def __init__(self, app: App, prefix: str = "", origins: tuple[str, ...] | None = None) -> None:
        self._app, self._prefix, self._origins = app, prefix, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        # Some proxies remove the prefix, others do not.
        if self._prefix and path.startswith(f"{self._prefix}/"):
            path = path[len(self._prefix) :]
            scope = {**scope, "path": path}
        policy = _MEDIA_POLICY if path.startswith("/media/") else _POLICY
        headers = [*_HEADERS, (b"content-security-policy", policy.encode())]
        is_of_api = self._origins is not None and path.startswith("/api/")
        if self._origins and path.startswith("/media/"):
            # Let the pages of other experiments, which use the API, load the media of items.
            headers = [each for each in headers if each[0] != b"cross-origin-resource-policy"]
            headers.append((b"cross-origin-resource-policy", b"cross-origin"))
        is_kept = path.startswith(("/media/", "/static/", "/size.css"))
        if not is_kept:
            headers.append((b"cache-control", b"no-store"))

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) > 1 or (not hosts and scope["http_version"] != "1.0"):
            await _refuse(sending, 400, "a request needs exactly one header Host")
            return
        if scope["method"] in ("GET", "HEAD") or (is_of_api and scope["method"] == "OPTIONS"):
            if any(
                name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
                for name, value in scope["headers"]
            ):
                # The application does not read this body, so a slow body would keep the connection open.
                await _refuse(sending, 413, "this request must not have a body")
                return
            await self._app(scope, receive, sending)
            return
        if scope["method"] != "POST":
            await _refuse(sending, 405, "only GET, HEAD and POST are allowed")
            return
        given = dict(scope["headers"])
        is_known = is_of_api and given.get(b"origin", b"").decode("latin-1") in (self._origins or ())
        if not is_known and not _is_same_site(given):
            await _refuse(sending, 403, "this form was sent from another site")
            return
        try:
            body = await asyncio.wait_for(_body(given, receive), SLOWEST)
        except TimeoutError:
            await _refuse(sending, 408, f"the form took more than {SLOWEST:g} seconds to arrive")
            return
        if body is None:
            await _refuse(sending, 413, f"the form has more than {LARGEST:,} bytes")
            return
        is_read = False

        async def receiving() -> Message:
            nonlocal is_read
            if is_read:
                return await receive()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receiving, sending)


def _is_same_site(headers: dict[bytes, bytes]) -> bool:
    """Return False if the headers show that a page of another site sent the form."""
    if headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
        return False
    origin = headers.get(b"origin")
    if origin is None:
        return True
    host = headers.get(b"host", b"").decode("latin-1").lower()
    try:
        return urlsplit(origin.decode("latin-1")).netloc.lower() == host
    except ValueError:
        return False


async def _body(headers: dict[bytes, bytes], receive: Receive) -> bytes | None:
    try:
        if int(headers.get(b"content-length", b"0")) > LARGEST:
            return None
    except ValueError:
        return None
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


async def _refuse(send: Send, status: int, why: str) -> None:
    text = why.encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", str(len(text)).encode()),
                (b"connection", b"close"),
            ],
        }
    )
    await send({"type": "http.response.body", "body": text})
