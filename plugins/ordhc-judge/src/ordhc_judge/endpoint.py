"""The address of a server, with its key and headers."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from ordhc.errors import InputError
from ordhc_judge.secret import Secret

if TYPE_CHECKING:
    import httpx2

KEY_VARIABLE = "ORDHC_JUDGE_KEY"
_PATHS = ("/chat/completions", "/embeddings", "/models")
_SECRET_QUERIES = ("key", "api_key", "apikey", "api-key", "token", "access_token", "code", "sig", "signature")


@dataclass(frozen=True, eq=False)
class Endpoint:
    """The address of an OpenAI-compatible server, with the key.

    Attributes
    ----------
    base
        The address up to the version: `http://localhost:11434/v1`. The keys of the cache depend on
        this address.
    query
        The part of the address after a question mark.
    key, headers
        The key that is sent as `Authorization: Bearer ...`, and further headers; both are secrets.
    """

    base: str
    query: str = ""
    key: Secret | None = field(default=None, repr=False)
    headers: tuple[tuple[str, Secret], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, url: Any, key: Any = None, headers: Mapping[str, str] | None = None) -> "Endpoint":
        """Return the endpoint; the default key is in the environment variable `ORDHC_JUDGE_KEY`.

        Raises
        ------
        InputError
            `url` is not an HTTP address or contains a key; a header is not a text.
        """
        if not isinstance(url, str) or not url.strip():
            raise InputError(
                f"url is a {type(url).__name__}; it must be an address such as https://api.example.com/v1"
            )
        try:
            parts = urlsplit(url.strip())
            fine = parts.scheme in ("http", "https") and bool(parts.hostname)
            inside = parts.username is not None or parts.password is not None
            _ = parts.port
        except ValueError:
            fine = inside = False
        if inside:
            raise InputError(
                "the url contains a name or a password; give the key as key=, which is never shown"
            )
        if not fine:
            raise InputError(f"url = {url[:200]!r} must be an address such as https://api.example.com/v1")
        for name, _ in parse_qsl(parts.query):
            if name.lower() in _SECRET_QUERIES:
                raise InputError(f"the url's {name!r} looks like a key: give it as key= or in headers=")
        path = parts.path.rstrip("/")
        for ending in _PATHS:
            path = path.removesuffix(ending)
        if key is None:
            key = os.environ.get(KEY_VARIABLE) or None
        if not isinstance(headers, Mapping | None):
            raise InputError(f"headers is a {type(headers).__name__}; it must be a dict")
        return cls(
            f"{parts.scheme}://{parts.netloc}{path}",
            urlencode(parse_qsl(parts.query, keep_blank_values=True)),
            key if isinstance(key, Secret | None) else Secret(key),
            tuple((str(name), Secret(value, f"header {name}")) for name, value in (headers or {}).items()),
        )

    @property
    def secrets(self) -> tuple[Secret, ...]:
        return (*([] if self.key is None else [self.key]), *(value for _, value in self.headers))

    @property
    def is_local(self) -> bool:
        host = urlsplit(self.base).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or host == "::1" or host.startswith("127.")

    @property
    def has_path(self) -> bool:
        return bool(urlsplit(self.base).path)

    def address(self, path: str, version: str = "") -> str:
        return f"{self.base}{version}{path}{f'?{self.query}' if self.query else ''}"

    def signed(self, request: "httpx2.Request") -> "httpx2.Request":
        """Add the key and the headers to a request; a client does this when it sends the request."""
        if self.key is not None:
            request.headers["Authorization"] = f"Bearer {self.key.reveal()}"
        for name, value in self.headers:
            request.headers[name] = value.reveal()
        return request

    def __repr__(self) -> str:
        return f"<Endpoint {self.base}{', with a key' if self.secrets else ''}>"
