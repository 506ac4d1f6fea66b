"""The web application: the addresses and their handlers."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ordhc_collect.people.desk import Desk
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.media import MEDIA
from ordhc_collect.study.model import Study
from ordhc_collect.web.api import Api
from ordhc_collect.web.dashboard import Dashboard
from ordhc_collect.web.guard import App, Guard, Receive, Scope, Send
from ordhc_collect.web.live import Live
from ordhc_collect.web.pages import STATIC, Pages
from ordhc_collect.web.participants import Participants
from ordhc_collect.web.tokens import Signer

__all__ = ["application"]

log = logging.getLogger("ordhc_collect")
#: The MIME type of each file ending; no ending belongs to two kinds of files.
_TYPES = {ending: name for endings in MEDIA.values() for ending, name in endings.items()}


def application(study: Study, desk: Desk, writer: Writer, signer: Signer, token: str) -> App:
    """Return the web application of a study."""
    pages = Pages(study, signer)
    people = Participants(study, desk, writer, pages, signer)
    live = Live(study, desk, writer)
    dashboard = Dashboard(study, desk, writer, live, signer, token)

    async def media(request: Request) -> Response:
        path = _file(study, request.path_params["leaf"], request.path_params["kind"])
        # A file may have become a link since the study was read, or may be gone.
        if path is None or not (path.is_file() and path.resolve().is_relative_to(study.root.resolve())):
            return PlainTextResponse("there is no such file", 404)
        return FileResponse(
            path,
            media_type=_TYPES[path.suffix.lower()],
            headers={"cache-control": "private, max-age=86400"},
        )

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    # Browsers request this icon for responses that name none, such as media files.
    async def icon(_: Request) -> Response:
        return FileResponse(STATIC / "icon.svg", headers={"cache-control": "public, max-age=86400"})

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy(writer))
        try:
            yield
        finally:
            tidying.cancel()
            live.close()

    routes = [
        Route("/", people.welcome),
        Route("/join", people.join, methods=["POST"]),
        Route("/study", people.study),
        Route("/next", people.step, methods=["POST"]),
        Route("/media/{leaf}/{kind}", media),
        Route("/health", health),
        Route("/favicon.ico", icon),
        Mount("/static", StaticFiles(directory=STATIC)),
        *Api(study, desk, writer, pages, people, signer).routes(),
        *dashboard.routes,
    ]

    async def failed(request: Request, error: Exception) -> Response:
        # Do not log the contents of the request: they may be secret.
        log.error("%s %s failed: %s", request.method, request.url.path, type(error).__name__, exc_info=error)
        return PlainTextResponse("Something is wrong on our side. Please try again.\n", 500)

    async def refused(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return PlainTextResponse(f"{getattr(error, 'detail', 'error')}\n", status)

    inner = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={Exception: failed, HTTPException: refused},
    )
    # Starlette's redirects would lead to the host that the request names, which may be forged.
    inner.router.redirect_slashes = False

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/answer" and scope["method"] == "POST":
            # Skip the router for the most frequent request.
            request = Request(scope, receive)
            try:
                answer = await people.answer(request)
            except Exception as error:
                answer = await failed(request, error)
            await answer(scope, receive, send)
            return
        await inner(scope, receive, send)

    return Guard(app, study.origins)


def _file(study: Study, leaf: str, kind: str) -> Path | None:
    """Return the file at /media/LEAF/KIND (of an item) or /media/page/NUMBER (of a text), or None."""
    if leaf == "page":
        return dict(enumerate(study.pictures)).get(_number(kind))
    item = dict(enumerate(study.items)).get(_number(leaf))
    return None if item is None else item.files.get(kind)


def _number(text: str) -> int:
    """Return the number in a text; -1 for other texts, and for long ones, which `int` refuses to convert."""
    return int(text) if text.isdecimal() and len(text) < 10 else -1


async def _tidy(writer: Writer) -> None:
    """Call `Desk.tidy` every second, as long as the server runs."""
    while True:
        await asyncio.sleep(1)
        try:
            if await writer.alone(Desk.is_untidy):
                await writer.do(Desk.tidy)
        except OSError as error:
            log.error("answers wait to be written: %s", error)
        except Exception:
            log.exception("looking after answers failed")
