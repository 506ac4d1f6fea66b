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
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ordhc_collect.analysis.summary import people_of
from ordhc_collect.people.study_state import StudyState
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.copies import Copies
from ordhc_collect.study.media import MEDIA
from ordhc_collect.study.model import Study
from ordhc_collect.web.api import Api
from ordhc_collect.web.dashboard import Dashboard
from ordhc_collect.web.guard import App, Guard, Receive, Scope, Send
from ordhc_collect.web.live import Live
from ordhc_collect.web.pages import STATIC, Pages
from ordhc_collect.web.participants import Participants
from ordhc_collect.web.tokens import Signer

log = logging.getLogger("ordhc_collect")
#: The MIME type of each file ending; no ending belongs to two kinds of files.
_TYPES = {ending: name for endings in MEDIA.values() for ending, name in endings.items()}


def application(
    study: Study, state: StudyState, writer: Writer, signer: Signer, copies: Copies, prefix: str = ""
) -> App:
    """Return the web application of a study; all addresses begin with `prefix`, for example "/alike"."""
    pages = Pages(study, signer)
    participants = Participants(study, state, writer, pages, signer)
    live = Live(study, state, writer)
    dashboard = Dashboard(study, state, writer, live, signer, signer.token)

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(_tidy(writer)), asyncio.create_task(_apply_rules(state, writer, live))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            live.close()

    routes = [
        Route("/", participants.welcome),
        Route("/join", participants.join, methods=["POST"]),
        Route("/study", participants.study),
        Route("/leave", participants.leave, methods=["POST"]),
        Route("/next", participants.step, methods=["POST"]),
        Route("/health", _health),
        Route("/favicon.ico", _icon),
        Mount("/static", StaticFiles(directory=STATIC)),
        *Api(study, state, writer, pages, participants, signer, prefix).routes(),
        *dashboard.routes,
        *_media(study, pages, copies, prefix),
    ]

    async def failed(request: Request, error: Exception) -> Response:
        # Do not log the body of the request: it may be secret.
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
    # Starlette would redirect to the host in the header Host, which may be forged.
    inner.router.redirect_slashes = False

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/answer" and scope["method"] == "POST":
            # Skip the router for the most frequent request, to save time.
            request = Request(scope, receive)
            try:
                answer = await participants.answer(request)
            except Exception as error:
                answer = await failed(request, error)
            await answer(scope, receive, send)
            return
        await inner(scope, receive, send)

    return Guard(app, prefix, study.origins)


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok\n")


# Browsers request this address for responses that name no icon, such as media files.
async def _icon(_: Request) -> Response:
    return FileResponse(STATIC / "icon.svg", headers={"cache-control": "public, max-age=86400"})


def _media(study: Study, pages: Pages, copies: Copies, prefix: str) -> list[Route]:
    async def media(request: Request) -> Response:
        path = _file(study, request.path_params["leaf"], request.path_params["kind"])
        # Check again, because since the start a file may have become a link to elsewhere, or may be deleted.
        if path is None or not (path.is_file() and path.resolve().is_relative_to(study.root.resolve())):
            return PlainTextResponse("there is no such file", 404)
        if (width := _number(request.query_params.get("w", ""))) > 0:
            path = await asyncio.to_thread(copies.get, path, width)
        return FileResponse(
            path,
            media_type=_TYPES[path.suffix.lower()],
            headers={"cache-control": "private, max-age=86400"},
        )

    # The media that the script loads before the first question.
    async def preloaded(_: Request) -> Response:
        return JSONResponse(pages.preloaded())

    # The security policy forbids styles within pages, so the size of pictures needs its own file.
    async def size(_: Request) -> Response:
        width = f"min(100%, {study.picture_size or 384}px)"
        rules = f"width: {width}; max-width: none; height: auto; aspect-ratio: 1;"
        text = f".trial .choices .picture, .trial .head .picture {{ {rules} }}\n"
        return Response(text, media_type="text/css", headers={"cache-control": "private, max-age=86400"})

    async def bare(_: Request) -> Response:
        return RedirectResponse(f"{prefix}/", 308)

    found = [
        Route("/media/{leaf}/{kind}", media),
        Route("/preload.json", preloaded),
        Route("/size.css", size),
    ]
    return [*found, Route(prefix, bare)] if prefix else found


def _file(study: Study, leaf: str, kind: str) -> Path | None:
    """Return the file at /media/LEAF/KIND (of an item) or /media/page/NUMBER (of a text), or None."""
    if leaf == "page":
        return dict(enumerate(study.pictures)).get(_number(kind))
    item = dict(enumerate(study.items)).get(_number(leaf))
    return None if item is None else item.files.get(kind) or item.others.get(kind)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else -1


async def _tidy(writer: Writer) -> None:
    while True:
        await asyncio.sleep(1)
        try:
            if await writer.alone(StudyState.is_untidy):
                await writer.do(StudyState.tidy)
        except OSError as error:
            log.error("answers could not be written, and will be tried again: %s", error)
        except Exception:
            log.exception("answers could not be passed to the session, and will be tried again")


async def _apply_rules(state: StudyState, writer: Writer, live: Live) -> None:
    while True:
        await asyncio.sleep(1)
        if not state.must_apply_rules():
            continue
        n_done = state.n_done
        try:
            # On the dashboard's thread, because the estimate can take seconds.
            people = await live.work(lambda: people_of(live.session()))
            excluded = {who for who, person in people.items() if person.excluded}
            await writer.do(lambda state: state.exclude(excluded, n_done))  # noqa: B023
        except Exception:
            log.exception("the rules of exclusion could not be applied")
