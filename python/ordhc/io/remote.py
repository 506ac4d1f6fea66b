"""Files in object stores and on web servers, by fsspec.

A URL may hold a password or a token. So `Remote` is text without these secrets: whatever prints, sorts or
stores it sees `https://***@host/answers.csv?***`. Only its methods use the whole URL.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any, Self
from urllib.parse import quote, unquote

from ordhc import _checks
from ordhc._workers import Secret
from ordhc.errors import InputError, MissingExtraError

__all__ = ["Remote", "is_group", "is_remote", "masked", "remote_files", "storage", "without_query"]

#: A protocol, or several in a row: s3://, simplecache::s3://.
_PROTOCOL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*(::[a-zA-Z][a-zA-Z0-9+.-]*)*://")
#: In these URLs the part before @ is the name of a container.
_CONTAINER = ("abfs://", "abfss://")
#: The number of bytes that are fetched at a time: of text in order, and of Parquet anywhere.
_AHEAD, _BLOCK = 1 << 23, 1 << 22
#: The number of blocks of a Parquet file in memory: its columns are read in turn.
_BLOCKS = 16
#: How often a range is fetched if the connection breaks, and the seconds before the second time.
_TRIES, _PAUSE = 3, 0.2
#: The names that stores give to the fields that change with a file.
_VERSION = (
    *("etag", "content-md5", "generation", "version_id", "md5hash"),
    *("lastmodified", "last-modified", "last_modified", "updated", "mtime", "modified", "created"),
)
#: Parts of the names of exceptions of broken connections, in aiohttp, botocore and others.
_BROKEN = ("Timeout", "Disconnected", "ConnectionReset", "PayloadError", "IncompleteRead", "ConnectionClosed")
#: The packages of the extra `remote`, by protocol.
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "http": "aiohttp",
    "https": "aiohttp",
}
#: Words of fsspec's error about a server without byte ranges, and its file of such a server.
_NO_RANGES, _IN_ORDER = "range requests", "HTTPStreamFile"


def is_remote(path: Any) -> bool:
    """Return whether a path is a URL."""
    return isinstance(path, str) and _PROTOCOL.match(path) is not None


def masked(text: str) -> str:
    """Return a URL without its user, password and values of the query; other text as it is."""
    if isinstance(text, Remote) or not is_remote(text):
        return str(text)
    return "::".join(_masked(part) for part in text.split("::"))


def _masked(url: str) -> str:
    protocol, mark, rest = url.partition("://")
    if not mark:
        return url
    host, slash, path = rest.partition("/")
    if "@" in host and f"{protocol.lower()}://" not in _CONTAINER:
        host = f"***@{host.rpartition('@')[2]}"
    path, query = _parts(f"{protocol}://", f"{host}{slash}{path}")
    return f"{protocol}://{path}" + ("?***" if query else "")


def _parts(protocol: str, rest: str) -> tuple[str, str]:
    """Return a URL's path and its query: in patterns of object stores ? is any character."""
    path, mark, query = rest.partition("?")
    is_query = protocol.lower().startswith("http") or "=" in query
    return (path, mark + query) if mark and is_query else (rest, "")


def without_query(path: str) -> str:
    """Return a path without the query of a URL: with the ending of the file's name."""
    return _parts(path[:4], path)[0] if is_remote(path) else path


def storage(options: Any) -> dict[str, Any]:
    """Return the argument `storage_options` of a public function.

    Raises
    ------
    InputError
        `options` is neither None nor a mapping with texts as keys. The message has no value of it.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        raise InputError(
            f"storage_options is of type {type(options).__name__}; it is a dict of what the store's file "
            "system of fsspec takes, such as {'anon': True}"
        )
    return dict(options)


class Remote(str, Secret):
    """The URL of a file in a store: as text without its secrets.

    Parameters
    ----------
    url
        The whole URL.
    options
        What the store's file system takes.
    path
        The path in that file system, if it is not the one of the URL.
    """

    __slots__ = ("_options", "_path", "_url")
    _options: dict[str, Any]
    _path: str | None
    _url: str

    def __new__(cls, url: str, options: Mapping[str, Any], path: str | None = None) -> Self:
        """Make the text that has no secrets."""
        shown = url if path is None else path if is_remote(path) else f"{url.partition('://')[0]}://{path}"
        found = super().__new__(cls, masked(shown))
        found._url, found._options, found._path = str.__str__(url), dict(options), path
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Remote, (self._url, self._options, self._path)

    @property
    def identity(self) -> str:
        """The whole address, with secrets: for hashes and comparisons only."""
        return f"{self._url} {self._path or ''}"

    def store(self) -> tuple[Any, str]:
        """Return the file system, and the path in it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtraError.of(str(self), "fsspec", "remote") from None
        options = dict(self._options)
        if _is_web(self._url):
            # A server that packs what it sends counts other bytes than ranges do.
            options["headers"] = {"Accept-Encoding": "identity", **options.get("headers", {})}
        with self._failing():
            store, path = url_to_fs(self._url, **options)
        return store, path if self._path is None else self._path

    def state(self) -> tuple[int, str]:
        """Return the size in bytes, 0 if unknown, and what the store says of the version."""
        store, path = self.store()
        with self._failing():
            store.invalidate_cache(path)
            info = store.info(path)
        if info.get("type") == "directory":
            raise InputError("is a folder, not a file", path=self)
        known = {str(key).lower(): value for key, value in info.items()}
        version = [f"{key}={known[key]}" for key in _VERSION if known.get(key) is not None]
        return int(info.get("size") or 0), " ".join(version)

    def open(self, *, anywhere: bool = False) -> IO[bytes]:
        """Open the file to read it in order, or `anywhere`, which needs a server of byte ranges."""
        found: Any = _Stream(self, anywhere)
        return found  # type: ignore[no-any-return]

    def _opened(self, anywhere: bool, *, in_order: bool = False) -> Any:
        store, path = self.store()
        options: dict[str, Any] = {"block_size": _AHEAD, "cache_type": "readahead"}
        if anywhere:
            options = {
                "block_size": _BLOCK,
                "cache_type": "blockcache",
                "cache_options": {"maxblocks": _BLOCKS},
            }
        if in_order:
            options = {"block_size": 0}
        with self._failing():
            return store.open(path, "rb", **options)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Raise errors of the store without secrets, and with a remedy."""
        try:
            yield
        except (InputError, MissingExtraError, MemoryError):
            raise
        except Exception as error:
            # Without the cause: its text has the whole URL.
            raise self._told(error) from None

    def _told(self, error: Exception) -> Exception:
        chain: list[BaseException] = []
        cause: BaseException | None = error
        while cause is not None and len(chain) < 8:
            chain.append(cause)
            cause = cause.__cause__ or cause.__context__
        status = next(
            (found for each in chain if isinstance(found := getattr(each, "status", None), int)), None
        )
        missing = next((each for each in chain if isinstance(each, ImportError)), None)
        if missing is not None:
            if (package := _PACKAGES.get(self._url.partition("://")[0].lower())) is not None:
                return MissingExtraError(f'{self} needs {package}: pip install "ordhc[remote]"', name=package)
            return MissingExtraError(f"{self}: {self._scrubbed(missing)}")
        if status in (401, 403) or any(isinstance(each, PermissionError) for each in chain):
            return PermissionError(f"{self}: access is denied; storage_options gives credentials")
        if any(type(each).__name__ == "NoCredentialsError" for each in chain):
            return PermissionError(f"{self}: there are no credentials; storage_options gives them")
        if _NO_RANGES in str(error):
            return InputError(
                "the server sends no byte ranges, which a Parquet file of this size needs: download the file",
                path=self,
            )
        if any(_is_broken(each) for each in chain):
            return InputError(f"the connection failed: {self._scrubbed(chain[-1])}", path=self)
        # fsspec calls a web page missing whatever went wrong: the cause says what did.
        others = [
            each for each in chain if isinstance(each, OSError) and not isinstance(each, FileNotFoundError)
        ]
        if status in (404, 410) or (isinstance(error, FileNotFoundError) and status is None and not others):
            return FileNotFoundError(f"{self}: there is no such file")
        if status is not None:
            return InputError(f"the server answers with status {status}", path=self)
        last = others[-1] if others else error
        return InputError(f"the store cannot be read: {self._scrubbed(last)}", path=self)

    def _scrubbed(self, error: BaseException) -> str:
        """Return the message of an error without what the URL and the options may hold secret."""
        text = str(error) or type(error).__name__
        for part in [self._url, self._path or "", *self._secrets()]:
            for form in (part, unquote(part), quote(part), quote(part, safe="")):
                if form:
                    text = text.replace(form, str(self) if part == self._url else "***")
        return text

    def _secrets(self) -> Iterator[str]:
        for url in self._url.split("::"):
            protocol, _, rest = url.partition("://")
            host = rest.partition("/")[0]
            if "@" in host and f"{protocol.lower()}://" not in _CONTAINER:
                user = host.rpartition("@")[0]
                yield from (user, *user.partition(":")[2:], user.partition(":")[0])
            query = _parts(f"{protocol}://", rest)[1][1:]
            yield query
            yield from (pair.partition("=")[2] for pair in query.split("&"))
        waiting: list[Any] = [self._options]
        while waiting:
            found = waiting.pop()
            if isinstance(found, Mapping):
                waiting += found.values()
            elif isinstance(found, list | tuple):
                waiting += found
            elif isinstance(found, str) and len(found) > 2:
                yield found


def _is_broken(error: BaseException) -> bool:
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    return isinstance(error, ConnectionError | TimeoutError) or any(name in names for name in _BROKEN)


class _Stream:
    """The bytes of a remote file; a range is fetched again if the connection breaks."""

    def __init__(self, remote: Remote, anywhere: bool) -> None:
        self._remote, self._anywhere = remote, anywhere
        self._file = remote._opened(anywhere)
        #: The position; and the size, None if the store does not say it.
        self._at = 0
        self._size = getattr(self._file, "size", None)
        self._size = self._size if isinstance(self._size, int) and self._size > 0 else None
        self.closed = False

    def read(self, count: int = -1) -> bytes:
        """Return `count` bytes, fewer at the end only."""
        parts: list[bytes] = []
        wanted = count
        while wanted:
            more = self._some(wanted)
            if not more:
                break
            parts.append(more)
            self._at += len(more)
            wanted -= len(more) if wanted > 0 else 0
        if wanted and not self._anywhere and self._size is not None and self._at < self._size:
            told = f"the connection failed: {self._at:,} of {self._size:,} bytes arrived"
            raise InputError(told, path=self._remote)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _some(self, count: int) -> bytes:
        count = count if count > 0 else _AHEAD
        tries = 0
        while True:
            tries += 1
            try:
                return bytes(self._file.read(count))
            except Exception as error:
                if _NO_RANGES in str(error) and not self._anywhere:
                    self._from_the_start()
                elif not _is_broken(error) or tries >= _TRIES or type(self._file).__name__ == _IN_ORDER:
                    raise self._remote._told(error) from None
                else:
                    time.sleep(_PAUSE * tries)

    def _from_the_start(self) -> None:
        """Read in one request what the server does not send in ranges, up to the position."""
        self._file.close()
        self._file = self._remote._opened(False, in_order=True)
        left = self._at
        while left:
            with self._remote._failing():
                skipped = len(self._file.read(min(left, _BLOCK)))
            if not skipped:
                raise InputError("the file has changed while it was read", path=self._remote)
            left -= skipped

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a position; a stream without ranges begins anew."""
        if whence == 0 and offset == self._at:
            return offset
        try:
            with self._remote._failing():
                self._at = int(self._file.seek(offset, whence))
        except InputError:
            if offset or whence or self._anywhere:
                raise
            self._at = 0
            self._file.close()
            self._file = self._remote._opened(False)
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether any byte can be read."""
        return self._anywhere

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self.closed = True
            with suppress(Exception):
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def remote_files(url: str, options: Mapping[str, Any], endings: tuple[str, ...]) -> list[Remote]:
    """Return the files that a URL stands for: a file, those of a pattern, or those in a folder and below.

    Raises
    ------
    InputError
        There is no such file.
    """
    given = Remote(_checks.path(url, "paths"), options)
    is_web, is_pattern = _is_web(url), _is_pattern(url)
    is_file = without_query(url).lower().endswith(endings)
    if is_file and not is_pattern and is_web:
        # The listing of a web server is a page; a name with an ending needs none.
        return [given]
    store, path = given.store()
    with given._failing():
        if is_pattern and (is_web or not store.exists(path)):
            names = [name for name, info in store.glob(path, detail=True).items() if info["type"] == "file"]
            what = "no file matches the pattern"
        elif is_file and not store.isdir(path):
            return [given]
        else:
            names = [name for name in store.find(path) if _is_answers(name, endings)]
            what = f"there is no file of {', '.join(endings)} in the folder"
    if not names:
        raise InputError(what, path=given)
    return [Remote(url, options, name) for name in sorted(names)]


def is_group(url: str) -> bool:
    """Return whether a URL is a folder or a pattern, as far as that can be known without credentials."""
    if _is_pattern(url) or without_query(url).endswith("/"):
        return True
    if _is_web(url) and "." in without_query(url).rpartition("/")[2]:
        return False
    given = Remote(url, {})
    store, path = given.store()
    with given._failing():
        return bool(store.isdir(path))


def _is_web(url: str) -> bool:
    return url.lower().startswith("http")


def _is_pattern(url: str) -> bool:
    return any(mark in without_query(url) for mark in ("*[" if _is_web(url) else "*[?"))


def _is_answers(path: str, endings: tuple[str, ...]) -> bool:
    name = without_query(path).rstrip("/").rpartition("/")[2].lower()
    return name.endswith(endings) and not name.startswith((".", "_"))
