"""The JSON API: other experiments (jsPsych, lab.js, PsychoPy, oTree) get questions and send answers.

The API uses the same session, samplers, checks and limits as the pages. A person is identified by a token in
the header `Authorization` and never by a cookie, because browsers also send cookies for requests from other
sites.
"""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeGuard

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, Router

from ordhc_collect.people.state import Measured, Person, RefusedError, Trial
from ordhc_collect.people.study_state import PAUSED, StudyState
from ordhc_collect.people.writer import Writer
from ordhc_collect.study.model import Study
from ordhc_collect.web.pages import Pages
from ordhc_collect.web.participants import Participants
from ordhc_collect.web.tokens import Signer

_REMEDIES = {
    "body": "send a JSON object, with Content-Type: application/json",
    "choice": "choice is the number of a choice, from 1; the name of its item; or 0 for neither, if allowed",
    "closed": "the study takes no more people",
    "full": "the study has its maximum number of people; try again later",
    "language": "language is one of the study's languages, see GET /api/study",
    "no id": "id is the person's id on the platform, filled in, of at most 200 characters",
    "not asked": "number must be the number of the question that GET /api/next returns",
    "not kept": "the answer could not be written; send it again",
    "not played": "play every sound and clip to its end; plays has the number of times for each",
    "number": "number is the number of the question; ms is the response time in milliseconds, 0 or more",
    "plays": "plays is a list of whole numbers from 0, one for each sound and clip of the question",
    "parameter": "parameter is one of the study's id_parameters",
    "simulated": "the people in the session file are simulated; serve the study with another --data FILE",
    "too many": "too many people join from this address; try again in a minute",
    "unknown": "send the token of POST /api/people as the header Authorization: Bearer TOKEN",
}
#: The beginning of the address of a picture in the HTML of an item.
_PICTURE = re.compile(r'(<img\b[^>]*?\bsrc=")media/')


class Api:
    """The handlers of the JSON API."""

    def __init__(
        self,
        study: Study,
        state: StudyState,
        writer: Writer,
        pages: Pages,
        people: Participants,
        signer: Signer,
        prefix: str = "",
    ) -> None:
        self._study, self._state, self._writer = study, state, writer
        self._pages, self._people, self._signer, self._prefix = pages, people, signer, prefix

    def routes(self) -> list[Mount]:
        if self._study.origins is None:
            return []
        router = Router(
            [
                Route("/study", _as_json(self.study)),
                Route("/people", _as_json(self.join), methods=["POST"]),
                Route("/next", _as_json(self.next)),
                Route("/answers", _as_json(self.answer), methods=["POST"]),
            ],
            redirect_slashes=False,
        )
        shared = CORSMiddleware(
            router,
            allow_origins=self._study.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
        return [Mount("/api", shared)]

    async def study(self, _: Request) -> dict[str, Any]:
        """Return the kind of question, the items, and whether people can join."""
        study = self._study
        return {
            "title": study.title,
            "kind": study.question,
            "languages": study.languages,
            "per_person": study.per_person,
            "none": study.allow_none,
            "status": "full" if self._state.is_full() else self._state.status,
            "items": [self._item(leaf) for leaf in range(len(study.items))],
        }

    async def join(self, request: Request) -> dict[str, Any]:
        """Add a person, or find the person with this id; return the token and the first question."""
        body = await _body(request)
        if not self._people.may_join(request):
            raise RefusedError("too many", 429)
        parameter, platform = body.get("parameter", self._study.id_parameters[0]), body.get("id")
        language = body.get("language", self._study.languages[0])
        if language not in self._study.languages:
            raise RefusedError("language")
        if platform is None and not self._study.anonymous:
            raise RefusedError("no id", 403)
        if platform is not None and not self._people.is_id(platform):
            raise RefusedError("no id")
        if parameter not in self._study.id_parameters:
            raise RefusedError("parameter")

        def joined(state: StudyState) -> Person:
            person = state.join(None if platform is None else parameter, platform, language)
            return state.advance(person.id)

        person = await self._writer.do(joined)
        return {"person": person.id, "token": self._signer.person(person.id), **self._progress(person)}

    async def next(self, request: Request) -> dict[str, Any]:
        """Return the current question of a person, or the outcome."""
        who = self._who(request)
        return self._progress(await self._writer.do(lambda state: state.advance(who)))

    async def answer(self, request: Request) -> dict[str, Any]:
        """Record an answer; return the next question, or the outcome."""
        who, body = self._who(request), await _body(request)
        number, ms = body.get("number"), body.get("ms")
        if not _is_whole(number) or (ms is not None and not (_is_number(ms) and 0 <= ms < 1e8)):
            raise RefusedError("number")
        measured = Measured(None if ms is None else ms / 1000, plays=_plays(body))
        trial = self._state.people[who].trial
        choice = self._choice(trial, body.get("choice"))
        attempt = 0 if trial is None else trial.attempt

        def answered(state: StudyState) -> Person:
            state.answer(who, number, attempt, choice, measured)
            return state.advance(who)

        return self._progress(await self._writer.do(answered))

    def _who(self, request: Request) -> str:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        who = self._signer.who(token.strip()) if scheme.lower() == "bearer" else None
        if who is None or who not in self._state.people:
            raise RefusedError("unknown", 401)
        return who

    def _choice(self, trial: Trial | None, given: Any) -> int:
        if _is_whole(given):
            return int(given)
        places = {} if trial is None else {name: at for at, (name, *_) in enumerate(self._choices(trial), 1)}
        if not isinstance(given, str) or (trial is not None and given not in places):
            raise RefusedError("choice")
        # Without a current question the name cannot be checked. Return any choice: the answer was sent twice
        # and is ignored, or it is refused as "not asked".
        return places.get(given, 1)

    def _choices(self, trial: Trial) -> list[list[str]]:
        return [[self._study.items[leaf].name for leaf in choice] for choice in trial.choices]

    def _item(self, leaf: int) -> dict[str, Any]:
        item, folder = self._study.items[leaf], f"{self._prefix}/media/"
        # In the pages, addresses of pictures are relative. Clients of the API are at other addresses, so make
        # the paths absolute.
        html = None if item.html is None else _PICTURE.sub(rf"\g<1>{folder}", item.html)
        files = {kind: f"{folder}{leaf}/{kind}" for kind in item.files}
        return {"name": item.name, "label": item.label, "html": html, **files}

    def _progress(self, person: Person) -> dict[str, Any]:
        study = self._study
        found: dict[str, Any] = {"done": person.n_done, "of": study.per_person, "question": None}
        if person.has_ended:
            outcome = study.outcomes[person.outcome or "done"]
            return found | {"stage": "end", "outcome": person.outcome, "code": outcome.code_for(person.id)}
        if not self._state.may_continue(person.id):
            return found | {"stage": "full"}
        if self._state.status == PAUSED or person.trial is None:
            return found | {"stage": "paused"}
        trial = person.trial
        question = {
            "number": trial.number,
            "kind": study.question,
            "prompt": self._pages.prompt(person.language),
            "head": None if trial.head is None else self._item(trial.head),
            "items": [self._item(leaf) for choice in trial.choices for leaf in choice],
            "choices": self._choices(trial),
        }
        return found | {"stage": "question", "question": question}


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


def _plays(body: dict[str, Any]) -> tuple[int, ...] | None:
    plays = body.get("plays")
    if plays is None:
        return None
    if not isinstance(plays, list) or not all(_is_whole(each) and 0 <= each < 10_000 for each in plays):
        raise RefusedError("plays")
    return tuple(plays)


async def _body(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        found = None
    # Require JSON: browsers let other sites send forms and plain text without a CORS check.
    is_json = request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
    if not isinstance(found, dict) or not is_json:
        raise RefusedError("body")
    return found


def _as_json(
    handle: Callable[[Request], Awaitable[dict[str, Any]]],
) -> Callable[[Request], Awaitable[Response]]:
    async def handled(request: Request) -> Response:
        try:
            return JSONResponse(await handle(request))
        except RefusedError as error:
            reason = {"no choice": "choice", "over": "closed", "too_late": "full"}.get(
                error.reason, error.reason
            )
            return JSONResponse({"error": reason, "remedy": _REMEDIES.get(reason)}, error.status)
        except OSError:
            return JSONResponse({"error": "not kept", "remedy": _REMEDIES["not kept"]}, 503)

    return handled
