"""Read files in object stores and on web servers, with fsspec.

A URL can have a password or a token. So the text of a `Remote` is the URL without these secrets: code that
prints, sorts or stores it sees `https://***@host/answers.csv?***`. Only its methods use the whole URL.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any, Self, cast
from urllib.parse import quote, unquote

from ordhc._workers import Secret
from ordhc.errors import InputError, MissingExtraError
from ordhc.io.paths import checked_path, is_remote, masked, secrets_of, without_query

#: The number of bytes that are fetched at a time from text (_AHEAD) and from Parquet (_BLOCK).
_AHEAD, _BLOCK = 1 << 23, 1 << 22
#: The number of blocks of a Parquet file in memory. There are several, because columns are read alternately.
_BLOCKS = 16
#: The maximum number of attempts to fetch bytes if the connection breaks, and the first pause in seconds.
_TRIES, _PAUSE = 3, 0.2
#: Names of facts that stores report about a file, and that change if the file changes.
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
#: Signs of a server without byte ranges: words of fsspec's message, and the name of fsspec's class of files.
_NO_RANGES, _IN_ORDER = "range requests", "HTTPStreamFile"


def storage(options: Any) -> dict[str, Any]:
    """Return the argument `storage_options` of a public function, or raise an `InputError`.

    The message does not show the values of the options, because they can be secret.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(key, str) for key in options):
        raise InputError(
            f"storage_options is of type {type(options).__name__}; give a dict of options of the store's "
            "file system in fsspec, such as {'anon': True}"
        )
    return dict(options)


class Remote(str, Secret):
    """The URL of a file in a store, as text without secrets.

    `path` is the path in the store's file system, if it differs from the path in the URL.
    """

    __slots__ = ("_options", "_path", "_url")
    _options: dict[str, Any]
    _path: str | None
    _url: str

    def __new__(cls, url: str, options: Mapping[str, Any], path: str | None = None) -> Self:
        shown = url if path is None else path if is_remote(path) else f"{url.partition('://')[0]}://{path}"
        found = super().__new__(cls, masked(shown))
        found._url, found._options, found._path = str.__str__(url), dict(options), path
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Remote, (self._url, self._options, self._path)

    @property
    def identity(self) -> str:
        """The whole address, with secrets; use it only for hashes and comparisons."""
        return f"{self._url} {self._path or ''}"

    def store(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtraError.of(str(self), "fsspec", "remote") from None
        options = dict(self._options)
        if _is_web(self._url):
            # If a server compresses the response, byte ranges do not match the bytes that are sent.
            options["headers"] = {"Accept-Encoding": "identity", **options.get("headers", {})}
        with self._described_errors():
            store, path = url_to_fs(self._url, **options)
        return store, path if self._path is None else self._path

    def state(self) -> tuple[int, str]:
        """Return the size in bytes (0 if unknown), and text that changes with the version of the file."""
        store, path = self.store()
        with self._described_errors():
            store.invalidate_cache(path)
            info = store.info(path)
        if info.get("type") == "directory":
            raise InputError("is a folder, not a file", path=self)
        known = {str(key).lower(): value for key, value in info.items()}
        version = [f"{key}={known[key]}" for key in _VERSION if known.get(key) is not None]
        return int(info.get("size") or 0), " ".join(version)

    def open(self, *, anywhere: bool = False) -> IO[bytes]:
        """Open the file for reading in order, or at any position if `anywhere` is True.

        With `anywhere`, the server must support byte ranges.
        """
        return cast(IO[bytes], _Stream(self, anywhere))

    def _opened(self, anywhere: bool, *, in_order: bool = False) -> Any:
        store, path = self.store()
        options: dict[str, Any] = {"block_size": _AHEAD, "cache_type": "readahead"}
        if anywhere:
            options = {"block_size": _BLOCK, "cache_type": "blockcache"}
            options["cache_options"] = {"maxblocks": _BLOCKS}
        if in_order:
            options = {"block_size": 0}
        with self._described_errors():
            return store.open(path, "rb", **options)

    @contextmanager
    def _described_errors(self) -> Iterator[None]:
        try:
            yield
        except (InputError, MissingExtraError, MemoryError):
            raise
        except Exception as error:
            # Drop the cause, because its message has the whole URL.
            raise self._described(error) from None

    def _described(self, error: Exception) -> Exception:
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
            return PermissionError(f"{self}: access is denied; give credentials with storage_options")
        if any(type(each).__name__ == "NoCredentialsError" for each in chain):
            return PermissionError(f"{self}: there are no credentials; give them with storage_options")
        if _NO_RANGES in str(error):
            return InputError(
                "this Parquet file needs byte ranges, which the server does not send: download the file",
                path=self,
            )
        if any(_is_broken(each) for each in chain):
            return InputError(f"the connection failed: {self._scrubbed(chain[-1])}", path=self)
        # For web servers, fsspec raises FileNotFoundError for every failure. The cause has the real reason.
        others = [
            each for each in chain if isinstance(each, OSError) and not isinstance(each, FileNotFoundError)
        ]
        if status in (404, 410) or (isinstance(error, FileNotFoundError) and status is None and not others):
            return FileNotFoundError(f"{self}: there is no such file")
        if status is not None:
            return InputError(f"the server answered with status {status}", path=self)
        last = others[-1] if others else error
        return InputError(f"the store cannot be read: {self._scrubbed(last)}", path=self)

    def _scrubbed(self, error: BaseException) -> str:
        text = str(error) or type(error).__name__
        for part in [self._url, self._path or "", *self._secrets()]:
            for form in (part, unquote(part), quote(part), quote(part, safe="")):
                if form:
                    text = text.replace(form, str(self) if part == self._url else "***")
        return text

    def _secrets(self) -> Iterator[str]:
        yield from secrets_of(self._url)
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
    """A stream of the bytes of a remote file, which fetches a range again if the connection breaks."""

    def __init__(self, remote: Remote, anywhere: bool) -> None:
        self._remote, self._anywhere = remote, anywhere
        self._file = remote._opened(anywhere)
        self._at = 0
        size = getattr(self._file, "size", None)
        self._size = size if isinstance(size, int) and size > 0 else None
        self.closed = False

    def read(self, count: int = -1) -> bytes:
        """Return the next `count` bytes; fewer only at the end of the file."""
        parts: list[bytes] = []
        wanted = count
        while wanted:
            more = self._read_some(wanted)
            if not more:
                break
            parts.append(more)
            self._at += len(more)
            wanted -= len(more) if wanted > 0 else 0
        if wanted and not self._anywhere and self._size is not None and self._at < self._size:
            reason = f"the connection failed: {self._at:,} of {self._size:,} bytes arrived"
            raise InputError(reason, path=self._remote)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, count: int) -> bytes:
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
                    raise self._remote._described(error) from None
                else:
                    time.sleep(_PAUSE * tries)

    def _from_the_start(self) -> None:
        self._file.close()
        self._file = self._remote._opened(False, in_order=True)
        left = self._at
        while left:
            with self._remote._described_errors():
                skipped = len(self._file.read(min(left, _BLOCK)))
            if not skipped:
                raise InputError("the file has changed while it was read", path=self._remote)
            left -= skipped

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a position; without byte ranges only 0 is possible, which opens the file again."""
        if whence == 0 and offset == self._at:
            return offset
        try:
            with self._remote._described_errors():
                self._at = int(self._file.seek(offset, whence))
        except InputError:
            if offset or whence or self._anywhere:
                raise
            self._at = 0
            self._file.close()
            self._file = self._remote._opened(False)
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._anywhere

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            with suppress(Exception):
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def remote_files(url: str, options: Mapping[str, Any], endings: tuple[str, ...]) -> list[Remote]:
    """Return the files for a URL: the file itself, all that match a pattern, or all in a folder and below."""
    given = Remote(checked_path(url, "paths"), options)
    is_web, is_pattern = _is_web(url), _is_pattern(url)
    is_file = without_query(url).lower().endswith(endings)
    if is_file and not is_pattern and is_web:
        # Do not ask a web server for a list of files if the URL has the ending of a file.
        return [given]
    store, path = given.store()
    with given._described_errors():
        if is_pattern and (is_web or not store.exists(path)):
            names = [name for name, info in store.glob(path, detail=True).items() if info["type"] == "file"]
            what = "no file matches the pattern"
        elif is_file and not store.isdir(path):
            return [given]
        else:
            names = [name for name in store.find(path) if _is_answers(name, endings)]
            what = f"there is no file with the ending {', '.join(endings)} in the folder"
    if not names:
        raise InputError(what, path=given)
    return [Remote(url, options, name) for name in sorted(names)]


def is_group(url: str) -> bool:
    """Return True if a URL is a pattern, or a folder that can be seen without `storage_options`."""
    if _is_pattern(url) or without_query(url).endswith("/"):
        return True
    if _is_web(url) and "." in without_query(url).rpartition("/")[2]:
        return False
    given = Remote(url, {})
    store, path = given.store()
    with given._described_errors():
        return bool(store.isdir(path))


def _is_web(url: str) -> bool:
    return url.lower().startswith("http")


def _is_pattern(url: str) -> bool:
    return any(mark in without_query(url) for mark in ("*[" if _is_web(url) else "*[?"))


def _is_answers(path: str, endings: tuple[str, ...]) -> bool:
    name = without_query(path).rstrip("/").rpartition("/")[2].lower()
    return name.endswith(endings) and not name.startswith((".", "_"))
