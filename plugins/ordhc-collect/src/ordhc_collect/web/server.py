"""Running the server."""

import asyncio
import contextlib
import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ordhc import Session
from ordhc.errors import InputError
from ordhc_collect.people.clock import Clock
from ordhc_collect.people.desk import Desk
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.model import Study
from ordhc_collect.web.app import application
from ordhc_collect.web.forgetting import finish_forgetting
from ordhc_collect.web.tokens import Signer, key_beside

__all__ = ["Served", "listening", "locked", "opened", "serve"]

#: Seconds in which a request's head must be here, and for which an idle connection stays open.
_HEAD, _IDLE = 15.0, 20
#: Connections at once.
_MOST = 4096


class _Protocol(HttpToolsProtocol):
    """Hangs up on clients that take too long to say what they want."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        self._stop()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop()
        self._timer = self.loop.call_later(_HEAD, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process works on a session file.

    Raises
    ------
    InputError
        Another one does.
    """
    place = path.with_name(f"{path.name}.lock")
    with place.open("a+b") as file:
        try:
            if os.name == "nt":  # pragma: no cover
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError("a server of this study is running; end it first", path=str(path)) from None
        yield


@contextlib.contextmanager
def opened(study: Study, path: Path) -> Iterator[Session]:
    """The session of a study, made if it isn't there.

    Raises
    ------
    InputError
        It is one of another study.
    """
    settings: dict[str, Any] = {**study.learner, "fill": {}}
    with Session(path, names=study.names, durable=True, **settings) as session:
        yield session


@dataclass
class Served:
    """A study that is being served: where, and the token of its dashboard."""

    address: str
    token: str
    desk: Desk
    writer: Writer
    #: Ends the server from any thread.
    stop: Callable[[], None]


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises
    ------
    InputError
        The address can't be used, for example as another program does.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small answers at once only where it knows that this is TCP.
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
    is_behind_proxy: bool = False,
    on_start: Callable[[Served], None],
) -> None:
    """Serve a study until somebody stops it; without `data` answers are lost at the end."""
    _many_files()
    with contextlib.ExitStack() as stack:
        if data is None:
            data = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "study.ordhc"
        stack.enter_context(locked(data))
        session = stack.enter_context(opened(study, data))
        with session.transaction() as db:
            # What is deleted is overwritten.
            db.execute("PRAGMA secure_delete=ON")
        desk = Desk(study, session, data, Clock())
        finish_forgetting(desk)
        place = stack.enter_context(contextlib.closing(listening(host, port)))
        writer = Writer(desk)
        stack.callback(writer.close)
        token = secrets.token_urlsafe(24)
        app = application(study, desk, writer, Signer(key_beside(data)), token)
        config = uvicorn.Config(
            app,
            http=_Protocol,
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=5,
            limit_concurrency=_MOST,
            proxy_headers=is_behind_proxy,
            forwarded_allow_ips="127.0.0.1,::1" if is_behind_proxy else None,
        )
        server = uvicorn.Server(config)

        def stop() -> None:
            server.should_exit = True

        shown = f"[{host}]" if ":" in host else host
        on_start(Served(f"http://{shown}:{place.getsockname()[1]}", token, desk, writer, stop))
        try:
            server.run(sockets=[place])
        finally:
            # Ctrl-C is raised again once all requests are answered. Nobody can take anything back any more.
            writer.close()
            with contextlib.suppress(OSError), session.transaction():
                desk.settle()


def _many_files() -> None:
    """As many connections as the system allows."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
