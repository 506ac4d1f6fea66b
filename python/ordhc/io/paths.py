"""Paths of files: local or remote, their endings, and their names in messages."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ordhc import _checks
from ordhc.errors import InputError

Source = str | os.PathLike[str] | IO[Any]

STDIO = "-"
#: The name of the temporary file for a large standard input.
SPOOLED = "standard input.csv"
#: The maximum number of characters of a message.
MESSAGE = 480
#: The endings of compressed files, and the names of their formats.
PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
#: One or more protocols at the beginning of a URL: s3://, simplecache::s3://.
_PROTOCOL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*(::[a-zA-Z][a-zA-Z0-9+.-]*)*://")
#: In URLs of these protocols the part before @ is the name of a container, not a user.
_CONTAINER = ("abfs://", "abfss://")


def checked_path(value: Any, what: str = "path") -> str:
    try:
        found = os.fspath(value)
    except Exception:
        found = None
    if not isinstance(found, str):
        raise InputError(f"{what} = {_checks.quoted(value)} is not a path of a file")
    try:
        os.fsencode(found)
    except UnicodeEncodeError:
        found = ""
    if "\0" in found or not found:
        raise InputError(f"{what} = {_checks.quoted(value)} is not a path of a file")
    return found


def is_remote(path: Any) -> bool:
    return isinstance(path, str) and _PROTOCOL.match(path) is not None


def masked(text: str) -> str:
    """Return a URL with its user, password and query replaced by ***; other text unchanged."""
    return "::".join(map(_masked, text.split("::"))) if is_remote(text) else str(text)


def _masked(url: str) -> str:
    protocol, mark, rest = url.partition("://")
    if not mark:
        return url
    host, slash, path = rest.partition("/")
    if "@" in host and f"{protocol.lower()}://" not in _CONTAINER:
        host = f"***@{host.rpartition('@')[2]}"
    path, query = _parts(f"{protocol}://", f"{host}{slash}{path}")
    return f"{protocol}://{path}" + ("?***" if query else "")


def secrets_of(text: str) -> Iterator[str]:
    """Return the user, the password and the values of the query of a URL, alone and together."""
    for url in text.split("::"):
        protocol, _, rest = url.partition("://")
        host = rest.partition("/")[0]
        if "@" in host and f"{protocol.lower()}://" not in _CONTAINER:
            user = host.rpartition("@")[0]
            yield from (user, *user.partition(":")[2:], user.partition(":")[0])
        query = _parts(f"{protocol}://", rest)[1][1:]
        yield query
        yield from (pair.partition("=")[2] for pair in query.split("&"))


def _parts(protocol: str, rest: str) -> tuple[str, str]:
    path, mark, query = rest.partition("?")
    is_query = protocol.lower().startswith("http") or "=" in query
    return (path, mark + query) if mark and is_query else (rest, "")


def without_query(path: str) -> str:
    """Return a path or URL without the query, so that it ends with the ending of the file's name."""
    return _parts(path[:4], path)[0] if is_remote(path) else path


def without_ending(name: str) -> str:
    """Return a name in lower case, without the ending of a compressed file."""
    name = name.lower()
    return next((name.removesuffix(ending) for ending in PACKED if name.endswith(ending)), name)


def suffix_of(source: Source, known: tuple[str, ...]) -> str:
    """Return which of the endings `known` a file's name has, ignoring .gz and the like; "" if none."""
    name = str(getattr(source, "name", "")) if hasattr(source, "read") else checked_path(source, "source")
    name = without_ending(without_query(name))
    return next((suffix for suffix in known if name.endswith(suffix)), "")


def delimiter_of(source: Source, given: str | None = None) -> str | None:
    return "\t" if given is None and suffix_of(source, (".tsv",)) else given


def name_of(source: Source) -> str:
    """Return the name of a file or stream for messages, without secrets."""
    if hasattr(source, "read"):
        return brief(str(getattr(source, "name", "the stream")), 200)
    path = masked(checked_path(source, "source"))
    return "standard input" if path == STDIO or Path(path).name == SPOOLED else brief(path, 200)


def brief(text: str, limit: int = MESSAGE) -> str:
    """Return a message on one line, without control characters, cut to `limit` characters."""
    text = " ".join(text.split())
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text[: 2 * limit])
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
