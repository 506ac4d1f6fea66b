"""Handle the requests of participants."""

import difflib
import logging
import re
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ordhc_collect.people.state import PRACTICE, TRIALS, Measured, Person, RefusedError
from ordhc_collect.people.study_state import CLOSED, PAUSED, StudyState
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.languages import preferred
from ordhc_collect.study.model import Study
from ordhc_collect.web.limits import Limit
from ordhc_collect.web.pages import Pages
from ordhc_collect.web.tokens import Signer

log = logging.getLogger("ordhc_collect")
_LONGEST_ID = 200
#: The size of a window and its screen pixels per CSS pixel, as the script sends them: 390x844 @3.
_VIEWPORT = re.compile(r"\d{1,5}x\d{1,5} @\d{1,2}(\.\d{1,3})?")
#: Parts of a placeholder that the platform should have replaced with an id.
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\$\{|%")


class Participants:
    """The handlers of participants' requests.

    All pages have one address, /study, which shows the person's current page. Reloading, the back button and
    other tabs therefore show the same page. Each action is a form with a token, which contains the person and
    the page for which the form was made.
    """

    def __init__(self, study: Study, state: StudyState, writer: Writer, pages: Pages, signer: Signer) -> None:
        self._study, self._state, self._writer, self._pages, self._signer = (
            study,
            state,
            writer,
            pages,
            signer,
        )
        self._joins = Limit(study.joins_per_minute, 10 * study.joins_per_minute)
        self.cookie = f"ordhc_{signer.name}"

    # Identification.

    def may_join(self, request: Request) -> bool:
        """Return True, and count the request, if its IP address is within the limit for joining."""
        return self._joins.allows(request.client.host if request.client else "")

    @staticmethod
    def is_id(given: object) -> bool:
        """Return True if `given` can be an id on a recruiting platform; False for a placeholder."""
        return isinstance(given, str) and 0 < len(given) <= _LONGEST_ID and not _PLACEHOLDER.search(given)

    def _who(self, request: Request) -> str | None:
        who = self._signer.who(request.cookies.get(self.cookie))
        return who if who in self._state.people else None

    def _platform(self, values: Any) -> tuple[str | None, str | None]:
        """Return the name and value of the URL parameter with a person's platform id; or (None, None).

        Names of parameters are compared without regard to case.
        """
        given = {key.casefold(): value for key, value in values.items()}
        for parameter in self._study.id_parameters:
            found = given.get(parameter.casefold())
            if found:
                return parameter, str(found)[:_LONGEST_ID]
        return None, None

    def _language(self, request: Request) -> str:
        chosen = request.query_params.get("lang")
        if chosen in self._study.languages:
            return str(chosen)
        return preferred(request.headers.get("accept-language", ""), self._study.languages)

    def _misspelt(self, values: Any) -> tuple[str, str] | None:
        """Return a URL parameter that is a misspelt id parameter, and the correct name; or None.

        Without this check, a person with a link such as `?prolific_id=` would take part without an id.
        """
        known = {name.casefold(): name for name in self._study.id_parameters}
        kept = {name.casefold() for name in (*self._study.parameters, "lang")}
        for given in values:
            if given.casefold() in kept:
                continue
            for found in difflib.get_close_matches(given.casefold(), known, n=1, cutoff=0.75):
                return given[:60], known[found]
        return None

    def _details(self, request: Request, platform: str | None) -> dict[str, str]:
        given = {key.casefold(): value for key, value in request.query_params.items()}
        kept = (*self._study.id_parameters, *self._study.parameters)
        found = {name: given[name.casefold()][:_LONGEST_ID] for name in kept if given.get(name.casefold())}
        found = {name: value for name, value in found.items() if value != platform}
        agent = request.headers.get("user-agent", "")[:300]
        language = request.headers.get("accept-language", "").partition(",")[0].partition(";")[0][:20]
        return found | {"user_agent": agent, "device": _device(agent), "browser_language": language}

    # Pages.

    async def welcome(self, request: Request) -> Response:
        """Return the page that asks for consent; redirect people who have consented."""
        parameter, platform = self._platform(request.query_params)
        if platform is not None and _PLACEHOLDER.search(platform):
            # The platform did not replace the placeholder, so all visitors of this link would have one id.
            if not self._state.unfilled[parameter]:
                log.warning("a link's %s is not filled in: it is %r", parameter, platform)
            self._state.unfilled[parameter] += 1
            return self._message("no id", self._language(request), 400)
        if platform is None and (misspelt := self._misspelt(request.query_params)) is not None:
            if not self._state.misspelt[misspelt]:
                log.warning("a link has the parameter %s instead of %s", *misspelt)
            self._state.misspelt[misspelt] += 1
            return self._message("no id", self._language(request), 400)
        who = None if self._study.is_kiosk else self._who(request)
        if who is not None and "lang" not in request.query_params:
            known = (
                None
                if platform is None
                else await self._writer.do(lambda state: state.tables.person_of(platform))
            )
            if platform is None or known == who:
                return RedirectResponse("study", 303)
        language = self._language(request)
        if platform is None and not self._study.anonymous:
            return self._message("no id", language, 403)
        if self._state.is_simulated:
            return self._message("simulated", language, 403)
        if self._state.status == CLOSED:
            return self._ending("over", language, platform)
        details = self._details(request, platform)
        token = self._signer.form("join", parameter, platform, language, details)
        query = [(key, value) for key, value in request.query_params.items() if key != "lang"]
        return HTMLResponse(
            self._pages.render(
                "consent.html", language, text=self._pages.page("consent", language), token=token, query=query
            )
        )

    async def join(self, request: Request) -> Response:
        """Handle the form of consent: add the person, or show a message if they decline."""
        if not self.may_join(request):
            return self._message("too many", self._language(request), 429)
        form = await request.form()
        signed = self._signer.read_form(str(form.get("token", "")))
        if signed is None or len(signed) != 5 or signed[0] != "join":
            return self._message("expired", self._language(request), 403)
        _, parameter, platform, language, details = signed
        if form.get("consent") != "yes":
            return self._ending("declined", str(language), platform)
        if _VIEWPORT.fullmatch(viewport := str(form.get("viewport", ""))[:40]):
            details = {**details, "viewport": viewport}  # type: ignore[dict-item]
        who = None if self._study.is_kiosk else self._who(request)
        if who is not None and platform is None:
            # The form was sent twice, or from another tab.
            return RedirectResponse("study", 303)
        try:
            person = await self._writer.do(
                lambda state: state.join(parameter, platform, str(language), details)  # type: ignore[arg-type]
            )
        except RefusedError as error:
            if error.reason in self._study.outcomes:
                return self._ending(error.reason, str(language), platform, error.status)
            return self._message(error.reason, str(language), error.status)
        except OSError as error:
            return self._failed(error, str(language), is_live=False)
        response = RedirectResponse("study", 303)
        response.set_cookie(
            self.cookie,
            self._signer.person(person.id),
            max_age=30 * 86_400,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    async def study(self, request: Request) -> Response:
        who = self._who(request)
        if who is None:
            return self._message("unknown", self._language(request), 403)
        person = self._state.touch(who)
        try:
            if person.trial is not None and await self._writer.alone(lambda state: state.is_withdrawn(who)):
                person = await self._writer.do(lambda state: state.renewed(state.touch(who)))
        except OSError as error:
            return self._failed(error, person.language, is_live=False)
        return await self._page(person)

    async def _page(self, person: Person, *, is_live: bool = False) -> Response:
        may_continue, platform = self._state.may_continue(person.id), None
        if person.has_ended or not may_continue:
            platform = await self._writer.do(lambda state: state.tables.platform_of(person.id))
        html = self._pages.of(
            person,
            is_paused=self._state.status == PAUSED,
            may_continue=may_continue,
            practice=self._state.practice(person) if person.stage == PRACTICE else None,
            platform=platform,
            layout="live.html" if is_live else "base.html",
        )
        return HTMLResponse(html)

    # Forms.

    async def step(self, request: Request) -> Response:
        """Handle the form of any page except a question's page, and return the next page."""
        form = await request.form()
        who = self._who(request)
        signed = self._signer.read_form(str(form.get("token", "")))
        if who is None or signed is None or len(signed) != 2 or signed[0] != who:
            return self._message("expired", self._language(request), 403)
        given = {key[7:]: str(value) for key, value in form.items() if key.startswith("choice-")}
        if "choice" in form:
            # The choice of a practice question counts as the answer to the only question on the page.
            given["0"] = str(form["choice"])
        is_live = _is_live(request)
        try:
            person = await self._writer.do(lambda state: state.step(who, str(signed[1]), given))
        except RefusedError as error:
            return await self._refused(error, who, is_live)
        except OSError as error:
            return self._failed(error, self._state.people[who].language, is_live)
        return await self._page(person, is_live=True) if is_live else RedirectResponse("study", 303)

    async def answer(self, request: Request) -> Response:
        """Record an answer, or take an answer back, and return the next page."""
        form = await _fields(request)
        who = self._who(request)
        signed = self._signer.read_form(form.get("token", ""))
        is_live = _is_live(request)
        if who is None or signed is None or signed[:2] != [who, TRIALS] or len(signed) != 4:
            if who is not None and signed is not None and signed[0] == who and "undo" in form:
                signed = [who, TRIALS, 0, 0]
            else:
                return self._message("expired", self._language(request), 403, is_live)
        _, _, number, attempt = signed
        try:
            if "undo" in form:
                back = int(form["undo"][:9]) if form["undo"].isdecimal() else 0
                person = await self._writer.do(lambda state: state.undo(who, back))
            else:
                choice = int(form["choice"]) if form.get("choice", "") in ("0", "1", "2", "3") else -1
                measured = _measured(form)
                person = await self._writer.do(
                    lambda state: state.answer(who, int(number), int(attempt), choice, measured)  # type: ignore[call-overload]
                )
        except RefusedError as error:
            return await self._refused(error, who, is_live)
        except OSError as error:
            return self._failed(error, self._state.people[who].language, is_live)
        return await self._page(person, is_live=True) if is_live else RedirectResponse("study", 303)

    async def leave(self, _: Request) -> Response:
        """Let the next person begin on the same computer, by deleting the cookie of the last person."""
        response = RedirectResponse("./", 303)
        if self._study.is_kiosk:
            response.delete_cookie(self.cookie)
        return response

    # Errors.

    def _ending(self, outcome: str, language: str, platform: object, status: int = 200) -> Response:
        return HTMLResponse(
            self._pages.ending(outcome, language, "", None if platform is None else str(platform)), status
        )

    def _message(self, what: str, language: str, status: int = 200, is_live: bool = False) -> Response:
        layout = "live.html" if is_live else "base.html"
        return HTMLResponse(self._pages.render("message.html", language, what=what, layout=layout), status)

    async def _refused(self, error: RefusedError, who: str, is_live: bool) -> Response:
        person = self._state.people.get(who)
        language = self._study.languages[0] if person is None else person.language
        if error.reason in self._study.outcomes:
            layout = "live.html" if is_live else "base.html"
            platform = await self._writer.do(lambda state: state.tables.platform_of(who))
            return HTMLResponse(self._pages.ending(error.reason, language, who, platform, layout=layout), 403)
        return self._message(error.reason, language, error.status, is_live)

    def _failed(self, error: OSError, language: str, is_live: bool) -> Response:
        log.error("an answer could not be written: %s", error)
        return self._message("not kept", language, 503, is_live)


def _is_live(request: Request) -> bool:
    """Return True if the page's script sent the request; the script then shows the next page itself."""
    return request.headers.get("x-live") == "1"


async def _fields(request: Request) -> dict[str, str]:
    try:
        return dict(parse_qsl((await request.body()).decode("latin-1"), max_num_fields=20))
    except ValueError:
        return {}


def _measured(form: dict[str, str]) -> Measured:
    plays = form.get("plays", "").split()
    return Measured(
        _seconds(form.get("ms", "")),
        _seconds(form.get("away", "")),
        tuple(map(int, plays))
        if plays and all(part.isdecimal() and len(part) < 5 for part in plays)
        else None,
        int(form["enlarged"]) if re.fullmatch(r"[0-9]{1,4}", form.get("enlarged", "")) else None,
        form.get("late") == "1",
    )


def _device(agent: str) -> str:
    if re.search(r"iPad|Tablet|Android(?!.*Mobile)", agent):
        return "tablet"
    return "phone" if re.search(r"Mobi|iPhone", agent) else "computer"


def _seconds(text: str) -> float | None:
    """Convert a text with milliseconds to seconds; return None if the text is not a number."""
    return int(text) / 1000 if text.isdecimal() and len(text) < 9 else None
