"""A small HTTP client with one connection, forms and cookies, as a browser without scripts."""

import asyncio
import re
from html import unescape
from urllib.parse import urlencode, urljoin, urlsplit


class Response:
    """The response to a request: status, headers, text, and duration in seconds."""

    def __init__(self, status: int, headers: dict[str, str], text: str, seconds: float) -> None:
        self.status, self.headers, self.text, self.seconds = status, headers, text, seconds


class Browser:
    """A connection to a server, with the cookies that the server has set."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.cookies: dict[str, str] = {}

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def get(self, path: str, **headers: str) -> Response:
        found = await self.request("GET", path, None, headers)
        while found.status == 303:
            path = urljoin(path, found.headers["location"])
            found = await self.request("GET", path, None, headers)
        return found

    async def post(self, path: str, fields: dict[str, object], **headers: str) -> Response:
        return await self.request("POST", path, urlencode(fields), headers)

    async def request(
        self, method: str, path: str, body: str | None, headers: dict[str, str] | None = None
    ) -> Response:
        clock = asyncio.get_running_loop().time
        start = clock()
        for is_last in (False, True):
            is_new = self._streams is None
            if self._streams is None:
                self._streams = await asyncio.open_connection(self._host, self._port)
            try:
                status, found, text = await self._exchange(method, path, body, headers or {})
                return Response(status, found, text, clock() - start)
            except (ConnectionError, asyncio.IncompleteReadError):
                await self.close()
                if is_last or is_new:
                    raise
        raise AssertionError

    async def _exchange(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], str]:
        assert self._streams is not None
        reader, writer = self._streams
        lines = [f"{method} {path} HTTP/1.1", f"host: {self._host}:{self._port}"]
        if self.cookies:
            lines.append("cookie: " + "; ".join(f"{key}={value}" for key, value in self.cookies.items()))
        lines.extend(f"{key.replace('_', '-')}: {value}" for key, value in headers.items())
        data = (body or "").encode()
        if body is not None:
            lines.append(f"origin: {self._origin}")
            lines.append("content-type: application/x-www-form-urlencoded")
            lines.append(f"content-length: {len(data)}")
        writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split(" ", 2)[1])
        found: dict[str, str] = {}
        for line in head[1:]:
            key, _, value = line.partition(":")
            key, value = key.strip().lower(), value.strip()
            if key == "set-cookie":
                name, _, kept = value.partition(";")[0].partition("=")
                self.cookies[name] = kept
            elif key:
                found[key] = value
        text = await self._text(reader, found)
        if found.get("connection", "").lower() == "close":
            await self.close()
        return status, found, text.decode()

    async def _text(self, reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await reader.readexactly(int(headers.get("content-length", "0")))
        parts = []
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(parts)


_FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


def fields_of(html: str) -> dict[str, object]:
    """Return the hidden fields of the first form of a page."""
    start = html.find("<form")
    return {name: unescape(value) for name, value in _FIELD.findall(html[start : html.find("</form", start)])}
