"""The dashboard: pages for the researchers, who have its token or password."""

import asyncio
import hashlib
import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ordhc.reporting.typical import extremes_of, lengths_in_words, span_of
from ordhc_collect.analysis.drawing import line_svg, trees_html
from ordhc_collect.analysis.summary import Summary
from ordhc_collect.people.state import RefusedError
from ordhc_collect.people.study_state import CLOSED, PAUSED, RUNNING, StudyState
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.languages import catalogue, preferred
from ordhc_collect.study.model import Study
from ordhc_collect.web.downloads import DOWNLOADS, download
from ordhc_collect.web.forgetting import forget
from ordhc_collect.web.limits import Limit
from ordhc_collect.web.live import Live, Snapshot
from ordhc_collect.web.pages import static_version
from ordhc_collect.web.rendering import speaking
from ordhc_collect.web.tokens import Signer

log = logging.getLogger("ordhc_collect")
_STATES = {"pause": PAUSED, "resume": RUNNING, "close": CLOSED}
_LANGUAGE = "ordhc_dashboard_language"
#: Maximum number of people in the page's table; the downloads contain all people.
_ROWS = 200


class Dashboard:
    """The handlers of the dashboard's requests."""

    def __init__(
        self, study: Study, state: StudyState, writer: Writer, live: Live, signer: Signer, token: str
    ) -> None:
        self._study, self._state, self._writer = study, state, writer
        self._live, self._signer, self._token = live, signer, token
        # Signed cookies can be read, so they contain a hash of the token and not the token.
        self._proof = hashlib.sha256(b"dashboard" + token.encode()).hexdigest()
        self._tries = Limit(10, 10)
        self._cookie = f"ordhc_admin_{signer.name}"
        spoken = ("en", *study.languages)
        self._words = {language: catalogue(language, study.root, "dashboard") for language in spoken}
        common = {"study": study, "version": static_version(), "up": ""}
        self._environments = {name: speaking(name, words, **common) for name, words in self._words.items()}
        self.routes = [
            Route("/dashboard", self.page),
            Route("/dashboard/", lambda _: RedirectResponse("../dashboard")),
            Route("/dashboard/enter", self.enter, methods=["POST"]),
            Route("/dashboard/leave", self.leave, methods=["POST"]),
            Route("/dashboard/events", self.events),
            Route("/dashboard/state", self.change, methods=["POST"]),
            Route("/dashboard/forget", self.forget, methods=["POST"]),
            Route("/dashboard/ids", self.delete_ids, methods=["POST"]),
            Route("/dashboard/download/{name}", self.download),
        ]

    def _language(self, request: Request) -> str:
        for chosen in (request.query_params.get("lang"), request.cookies.get(_LANGUAGE)):
            if chosen in self._study.languages:
                return str(chosen)
        return preferred(request.headers.get("accept-language", ""), self._study.languages)

    # Access.

    def _is_admin(self, request: Request) -> bool:
        return self._signer.is_admin(request.cookies.get(self._cookie), self._proof)

    def _is_password(self, secret: str) -> bool:
        if self._study.password is None:
            return False
        try:
            return PasswordHasher().verify(self._study.password, secret)
        except (Argon2Error, InvalidHashError):
            return False

    def _say(self, request: Request) -> Callable[[str], str]:
        return self._words[self._language(request)].gettext

    def _login(self, request: Request, status: int = 403, what: str = "") -> Response:
        has_password = self._study.password is not None
        values = {"what": what, "has_password": has_password, "up": _up(request)}
        return HTMLResponse(self._render("enter.html", self._language(request), **values), status)

    async def _enter(self, request: Request, secret: str) -> Response:
        # Check the token before the rate limit. A token of 192 bits cannot be guessed, so it needs no limit,
        # and failed attempts from the same address must not lock its owner out.
        say = self._say(request)
        if not secrets.compare_digest(secret.encode(), self._token.encode()):
            address = request.client.host if request.client else ""
            if not self._tries.allows(address):
                log.warning("too many attempts to open the dashboard")
                return self._login(request, 429, say("Too many tries. Wait a minute."))
            # Checking a password is slow by design, so do not block the event loop.
            if not await asyncio.to_thread(self._is_password, secret[:1000]):
                log.warning("a wrong token or password for the dashboard")
                return self._login(request, 403, say("Wrong token or password."))
        response = RedirectResponse(f"{_up(request)}dashboard", 303)
        response.set_cookie(
            self._cookie,
            self._signer.admin(self._proof),
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    async def enter(self, request: Request) -> Response:
        """Check the token or password in a form; give access to the dashboard."""
        form = await request.form()
        return await self._enter(request, str(form.get("secret", "")))

    async def leave(self, request: Request) -> Response:
        response = RedirectResponse(f"{_up(request)}dashboard", 303)
        response.delete_cookie(self._cookie)
        return response

    # Pages.

    async def page(self, request: Request) -> Response:
        """Return the dashboard; a token in the address is removed by a redirect."""
        if (given := request.query_params.get("token")) is not None:
            return await self._enter(request, given)
        if not self._is_admin(request):
            return self._login(request)
        language = self._language(request)
        parts = self._parts(await self._live.now(), language)
        response = HTMLResponse(
            self._render(
                "dashboard.html",
                language,
                parts={name: Markup(html) for name, html in parts.items()},
                form=self._signer.form("dashboard", self._proof),
                downloads=DOWNLOADS,
            )
        )
        if "lang" in request.query_params:
            # The address of the stream of events has no `lang`, so `events` reads the language from a cookie.
            response.set_cookie(_LANGUAGE, language, httponly=True, samesite="lax")
        return response

    async def events(self, request: Request) -> Response:
        """Return a stream of server-sent events with the parts of the page that change."""
        if not self._is_admin(request):
            return self._login(request)

        language = self._language(request)

        async def stream() -> AsyncIterator[bytes]:
            yield b"retry: 3000\n\n"
            async for snapshot in self._live.snapshots():
                yield f"data: {json.dumps(self._parts(snapshot, language))}\n\n".encode()

        return StreamingResponse(
            stream(), media_type="text/event-stream", headers={"x-accel-buffering": "no"}
        )

    def _parts(self, snapshot: Snapshot, language: str) -> dict[str, str]:
        def part(name: str, **values: Any) -> str:
            return self._render(f"part_{name}.html", language, **values)

        say = self._words[language].gettext
        summary = snapshot.summary
        chance = 1 / 3 if self._study.width == 3 else 1 / 2
        tree = trees_html(summary.tree, self._study.items) if summary.tree is not None else ""
        people = sorted(summary.people.values(), key=lambda person: person.reliability)
        return {
            "status": part("status", status=self._state.status),
            "notes": part("notes", state=self._state),
            "shares": part("shares", asked=snapshot.asked),
            "numbers": part("numbers", snapshot=snapshot, summary=summary),
            "tree": tree or f"<p class='empty'>{say('The tree appears with the first answers.')}</p>",
            "line": line_svg(snapshot.history, chance, (say("chance"), say("answers")))
            if snapshot.history
            else f"<p class='empty'>{say('Appears with the first held-out answers.')}</p>",
            "structure": part("compared", compared=snapshot.structure),
            "groups": part("compared", compared=snapshot.groups),
            "people": part("people", people=people[:_ROWS], n=len(people)),
            "items": part("items", items=summary.confusing),
            "lengths": self._lengths(summary, language),
        }

    def _lengths(self, summary: Summary, language: str) -> str:
        if (found := summary.lengths) is None:
            say = self._words[language].gettext
            text = say("Appears with the first answers.")
            if summary.tree is not None:
                text = say(
                    "Unknown: for this number of answers, a faster method without lengths makes the tree."
                )
            return self._render("part_lengths.html", language, items=(), text=text, span=(0.0, 1.0))
        text = lengths_in_words(found["deviation"])
        return self._render(
            "part_lengths.html", language, items=extremes_of(found), text=text, span=span_of(found)
        )

    def _render(self, name: str, language: str, **values: Any) -> str:
        return self._environments[language].get_template(name).render(**values)

    # Actions.

    async def _allowed(self, request: Request) -> dict[str, str] | None:
        """Return the fields of a form; None if its token is not from this researcher's dashboard."""
        if not self._is_admin(request):
            return None
        form = {key: str(value) for key, value in (await request.form()).items()}
        return form if self._signer.read_form(form.get("token", "")) == ["dashboard", self._proof] else None

    async def change(self, request: Request) -> Response:
        """Pause, resume or close the study."""
        form = await self._allowed(request)
        if form is None or form.get("do") not in _STATES:
            return self._login(request)
        status = _STATES[form["do"]]
        await self._writer.do(lambda state: state.set_status(status))
        log.info("the study is %s", status)
        return RedirectResponse(f"{_up(request)}dashboard", 303)

    async def forget(self, request: Request) -> Response:
        form = await self._allowed(request)
        if form is None:
            return self._login(request)
        name = form.get("person", "").strip()
        say = self._say(request)
        try:
            if form.get("confirmed") != "yes":
                who, count = await self._writer.do(lambda state: _known(state, name))
                return self._ask(request, "forget", person=name, who=who, count=count)
            count = await self._writer.alone(lambda state: forget(state, name))
        except RefusedError:
            return self._result(request, say("No person has this id."), 404)
        except OSError as error:
            text = say("Not everything could be erased: %(error)s") % {"error": error}
            return self._result(request, text, 503)
        text = say("This person is erased from the file. Number of erased answers: %(count)s")
        return self._result(request, text % {"count": f"{count:,}"})

    async def delete_ids(self, request: Request) -> Response:
        form = await self._allowed(request)
        if form is None:
            return self._login(request)
        if form.get("confirmed") != "yes":
            count = await self._writer.do(lambda state: len(state.tables.platform_ids()))
            return self._ask(request, "ids", count=count)
        count = await self._writer.do(StudyState.delete_ids)
        say = self._say(request)
        text = say("The ids of the platform are deleted: %(count)s. Answers stay, under random ids.")
        return self._result(request, text % {"count": f"{count:,}"})

    def _result(self, request: Request, text: str, status: int = 200) -> Response:
        page = self._render("result.html", self._language(request), up="../", text=text)
        return HTMLResponse(page, status)

    def _ask(self, request: Request, what: str, **values: Any) -> Response:
        form = self._signer.form("dashboard", self._proof)
        values |= {"up": "../", "what": what, "form": form}
        return HTMLResponse(self._render("confirm.html", self._language(request), **values))

    async def download(self, request: Request) -> Response:
        if not self._is_admin(request):
            return self._login(request)
        return await download(request.path_params["name"], self._study, self._live)


def _up(request: Request) -> str:
    """Return the relative path from the address of a request to the root of all pages: "", "../" and so on.

    Links are relative, because a proxy may serve the study under a prefix.
    """
    return "../" * (request.url.path.count("/") - 1)


def _known(state: StudyState, name: str) -> tuple[str, int]:
    who = state.find(name)
    return who, state.tables.n_answers(who)
