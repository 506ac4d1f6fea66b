"""Run the server of a study."""

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ordhc import Session
from ordhc.errors import InputError
from ordhc.learners import arguments
from ordhc_collect.people.study_state import Clock, StudyState
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.copies import Copies
from ordhc_collect.study.model import Study
from ordhc_collect.web.app import application
from ordhc_collect.web.forgetting import finish_forgetting
from ordhc_collect.web.tokens import Signer, key_beside

#: The number of seconds within which a request's head must arrive.
_HEAD = 15.0
#: The number of seconds within which a request's body must arrive. The limit of `Guard` is shorter, so that
#: `Guard` can send a message before the connection is closed.
_BODY = 20.0
#: The number of seconds for which an idle connection stays open.
_IDLE = 20
#: Maximum size in bytes of a request's head.
_LARGEST_HEAD = 65_536
#: Maximum number of connections at the same time.
_MOST = 4096
#: The number of seconds for which running requests may continue when the server stops.
_LAST = 2


class _Server(uvicorn.Server):
    on_stop: Callable[[], None] | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        if self.on_stop is not None:
            self.on_stop()


class _Protocol(HttpToolsProtocol):
    """An HTTP protocol that disconnects slow clients, and refuses large heads (request line and headers)."""

    _timer: asyncio.TimerHandle | None = None
    _is_in_head = _is_refused = False
    #: The number of bytes in the parsed headers, and of all bytes received for the request.
    _n_parsed = _n_received = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait(_HEAD)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        if self._timer is None:
            # `on_message_begin` is not called for empty lines before a request, so start the timer here.
            self._wait(_HEAD)
        super().data_received(data)
        self._n_received += len(data)
        if self._is_in_head and self._n_received > _LARGEST_HEAD:
            self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head, self._n_parsed, self._n_received = True, 0, 0
        self._wait(_HEAD)

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._wait(_BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        if self._n_parsed > _LARGEST_HEAD:
            self._refuse_head()
        elif not self._is_refused:
            super().send_400_response(msg)

    def _count(self, n_bytes: int) -> None:
        self._n_parsed += n_bytes
        if self._n_parsed > _LARGEST_HEAD:
            # The exception stops the parser, which then calls `send_400_response`.
            raise ValueError("the head is too large")

    def _refuse_head(self) -> None:
        """Send status 431, and ignore further data; closing at once could lose the response."""
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        text = f"more than {_LARGEST_HEAD:,} bytes of head\n"
        self.transport.write(
            "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
            f"content-length: {len(text)}\r\nconnection: close\r\n\r\n{text}".encode()
        )
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _wait(self, seconds: float) -> None:
        self._stop()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a session file, so that only one process works on it."""
    place = path.with_name(f"{path.name}.lock")
    with place.open("a+b") as file:
        try:
            if sys.platform == "win32":  # pragma: no cover
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("a server of this study is running; stop it first", path=str(path)) from None
        yield


@contextlib.contextmanager
def opened(study: Study, path: Path) -> Iterator[tuple[Study, Session]]:
    """Open the session of a study, or create it; yield the study with the session's items, and the session.

    Raises
    ------
    InputError
        The session belongs to another study, or has other items; see `Study.of_session`.
    """
    is_new = not path.exists() or not path.stat().st_size
    settings: dict[str, Any] = {
        **(study.learner_of_session if is_new else arguments(study.learner)),
        "fill": {},
    }
    # Create an empty file that only its owner may read, because it will contain ids and answers. The new
    # session keeps the permissions of the file.
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    names = study.names if is_new else None
    with Session(path, names=names, durable=True, **settings) as session:
        yield study.of_session(session, path), session


@dataclass
class Served:
    """A running server: its address, the token of its dashboard, and its state."""

    address: str
    token: str
    state: StudyState
    writer: Writer
    #: Stops the server; can be called from any thread.
    stop: Callable[[], None]


def listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name TCP explicitly: asyncio then sets TCP_NODELAY, which sends small responses without delay.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(2048)
    except (OSError, OverflowError) as error:
        found.close()
        raise InputError(f"can't open {host}:{port}: {getattr(error, 'strerror', None) or error}") from None
    return found


def serve(
    study: Study,
    data: Path | None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    proxies: str | None = None,
    prefix: str = "",
    on_start: Callable[[Served], None],
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Serve a study until the server is stopped.

    If `data` is None, answers are stored in a temporary file, which is deleted at the end. Port 0 is any free
    port. `proxies` are addresses and networks of trusted proxies, separated by commas. The server uses the
    clients' addresses that these proxies report. All addresses begin with `prefix`, such as "/alike". When a
    signal ends the server, `on_stop` is called before requests and other work have ended.
    """
    _many_files()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if data is None:
            data = folder / "study.ordhc"
        stack.enter_context(locked(data))
        study, session = stack.enter_context(opened(study, data))
        with session.transaction() as db:
            # With this pragma SQLite overwrites deleted data.
            db.execute("PRAGMA secure_delete=ON")
        state = StudyState(study, session, data, Clock())
        finish_forgetting(state)
        place = stack.enter_context(contextlib.closing(listening(host, port)))
        writer = Writer(state)
        stack.callback(writer.close)
        signer = Signer(key_beside(data))
        app = application(study, state, writer, signer, Copies(folder), prefix)
        config = uvicorn.Config(
            app,
            http=_Protocol,
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_LAST,
            limit_concurrency=_MOST,
            proxy_headers=proxies is not None,
            forwarded_allow_ips=proxies,
        )
        server = _Server(config)
        server.on_stop = on_stop

        def stop() -> None:
            server.should_exit = True

        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{place.getsockname()[1]}{prefix}"
        on_start(Served(address, signer.token, state, writer, stop))
        try:
            server.run(sockets=[place])
        finally:
            # After the stop, people cannot take back answers, so pass all answers to the session.
            writer.close()
            with contextlib.suppress(OSError), session.transaction():
                state.settle()


def _many_files() -> None:
    """Raise the process's limit of open files, because each connection needs one."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
