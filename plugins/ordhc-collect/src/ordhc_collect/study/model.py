"""The data classes of a study."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import comb
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ordhc import Session
from ordhc.asking.remaining import UNLIMITED
from ordhc.errors import InputError
from ordhc.learners import arguments
from ordhc_collect.study.forms import Field, columns_of
from ordhc_collect.study.items import Item

#: The ways in which a person's participation ends; each can have a completion code and a return URL. "full":
#: the study has its largest number of people. "over": the study was closed. "too_late": the person was away,
#: and another person took part instead.
OUTCOMES = ("done", "screened_out", "failed_checks", "declined", "full", "over", "too_late")

#: The standard text of each question, as in the template `prompt.html`.
_PROMPTS = {
    "odd": "Which one is the odd one out?",
    "triplet": "Which one is more like this one?",
    "pairs": "Which pair is more alike?",
}


@dataclass(frozen=True)
class Outcome:
    """The completion code and the return URL that people get at the end; each is None if the study has none.

    Placeholders are replaced: {person} is different for each person. A URL can also have {id}, the id on the
    recruiting platform, and {code}.
    """

    code: str | None = None
    url: str | None = None

    def code_for(self, who: str) -> str | None:
        return None if self.code is None else self.code.replace("{person}", _own(who))

    def url_for(self, who: str, platform: str | None) -> str | None:
        if self.url is None:
            return None
        found = {"code": self.code_for(who), "id": platform, "person": _own(who)}
        # One pass, because an id may itself look like a placeholder.
        return re.sub(r"\{(code|id|person)\}", lambda at: quote(found[at[1]] or "", safe=""), self.url)


def _own(who: str) -> str:
    """Return eight characters of a hash of a person's id, from which the id cannot be recovered."""
    return hashlib.sha256(b"code" + who.encode()).hexdigest()[:8].upper()


@dataclass(frozen=True)
class Pay:
    """The cost of a person: the pay, its currency, and the platform's fee as a share of the pay."""

    per_person: float = 0.0
    currency: str = ""
    fee: float = 0.0


@dataclass(frozen=True)
class Exclusion:
    """The rules that exclude people from the analysis, see `ordhc.Session.set_rules`; None for no rule."""

    seconds: float | None = None
    same_side: float | None = None
    below_chance: bool = False
    failed_gold: float | None = None

    @property
    def is_empty(self) -> bool:
        return self == Exclusion()


@dataclass(frozen=True)
class Gold:
    """Questions with known answers: their leaves, their answers, and the number for each person.

    Leaves and answers have the coding of `ordhc.Session`.
    """

    rows: list[tuple[int, ...]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    per_person: int = 0


@dataclass(frozen=True)
class Study:
    """A study, as its file describes it.

    Attributes
    ----------
    root
        The folder of the file, which contains all files that the study shows.
    text
        The contents of the file, without the hash of the password.
    question
        "odd": which of three is the odd one out; "triplet": is A more like B or C; "pairs": which of two
        pairs is more alike.
    pages
        The text of each page ("consent", "instructions", "debriefing") in each language, as clean HTML. For a
        missing page the package's own text is shown.
    pictures
        The picture files in texts, in the order of their addresses (/media/page/0 and so on).
    parameters
        The URL parameters, besides the id, that are stored for each person.
    before, after
        The questionnaires before the instructions and after the trials.
    practice
        The practice questions and their answers; `has_feedback` is True if the page shows the right answer.
    picture_size
        The width and height of a picture in CSS pixels; None to fit the page.
    preload
        True if the pages load all pictures, sounds and clips before the first question.
    keys
        The keys of the choices, in the order shown; empty if people cannot answer by keys.
    break_every
        The number of questions before each break; None for no breaks.
    must_play
        True if a question can be answered only after all its sounds and clips were played to the end.
    replace_excluded
        True if other people can take part instead of people whom the rules exclude.
    is_kiosk
        True if several people take part on one computer.
    max_seconds
        The seconds after which a question counts as not answered; None for no limit.
    min_seconds
        Answers within this number of seconds after a question is shown are ignored, because they are second
        clicks of double clicks.
    sampler
        The shares of "learner", "random", "heldout", "repeat" and "list" among the questions without known
        answers.
    learner
        The settings of the session's learner.
    total
        The largest number of people who may take part; None for any number.
    origins
        The sites whose pages may use the JSON API, see `web.api`; None switches the API off.
    """

    root: Path
    text: str
    title: str
    question: str
    prompt: dict[str, str]
    languages: tuple[str, ...]
    allow_none: bool
    captions: bool
    seed: int
    items: tuple[Item, ...]
    pages: dict[str, dict[str, str]]
    pictures: tuple[Path, ...]
    checks: tuple[Field, ...]
    tries: int
    screening: tuple[Field, ...]
    before: tuple[Field, ...]
    after: tuple[Field, ...]
    practice: Gold
    has_feedback: bool
    picture_size: int | None
    preload: bool
    keys: tuple[str, ...]
    per_person: int
    break_every: int | None
    must_play: bool
    max_seconds: float | None
    can_undo: bool
    undo_seconds: float
    min_seconds: float
    seconds_per_answer: float
    sampler: dict[str, float]
    learner: dict[str, object]
    listed: tuple[tuple[int, ...], ...]
    gold: Gold
    id_parameters: tuple[str, ...]
    parameters: tuple[str, ...]
    anonymous: bool
    is_kiosk: bool
    replace_excluded: bool
    total: int | None
    leave_after: float
    outcomes: dict[str, Outcome]
    pay: Pay
    exclude: Exclusion
    password: str | None
    joins_per_minute: int
    origins: tuple[str, ...] | None

    def of_session(self, session: Session, path: Path) -> "Study":
        """Return the study with its items in the order of a session whose items may have changed.

        A retired item that the study does not have any more gets no text and no files. It is never shown.

        Raises
        ------
        InputError
            The session belongs to another study; the study cannot show an item of the session; or the session
            does not have an item of the study.
        """
        names, retired = session.names or (), set(session.retired)
        if names == tuple(self.names):
            return self
        known = {item.name: item for item in self.items}
        if not known.keys() & set(names):
            raise InputError(
                "the session has none of this study's items: give the study's own session, or a new file, as "
                "--data FILE",
                path=str(path),
            )
        for name in names:
            if name not in known and name not in retired:
                raise InputError(
                    f"the session has the item {name!r}, which the study does not have: add it to [items] of "
                    f"the study, or retire it with `ordhc session retire {path} {name!r}`",
                    path=str(path),
                )
        for name in known:
            if name not in names:
                raise InputError(
                    f"the session does not have the item {name!r} of the study: add it with "
                    f"`ordhc session add {path} {name!r}`, or remove it from [items] of the study",
                    path=str(path),
                )
        number = {name: leaf for leaf, name in enumerate(names)}
        leaves = [number[name] for name in self.names]

        def renumbered(rows: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
            return [tuple(leaves[leaf] for leaf in row) for row in rows]

        return replace(
            self,
            items=tuple(known.get(name) or Item(name, None, {}, "") for name in names),
            listed=tuple(renumbered(self.listed)),
            gold=replace(self.gold, rows=renumbered(self.gold.rows)),
            practice=replace(self.practice, rows=renumbered(self.practice.rows)),
        )

    @property
    def names(self) -> list[str]:
        return [item.name for item in self.items]

    @property
    def columns(self) -> dict[str, str]:
        return columns_of(self.fields, (*self.id_parameters, *self.parameters))

    @property
    def forms(self) -> dict[str, tuple[Field, ...]]:
        """The questions of each form, by the stage in which people fill it in."""
        return {"screening": self.screening, "before": self.before, "check": self.checks, "after": self.after}

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(each for fields in self.forms.values() for each in fields)

    @property
    def words(self) -> str:
        """The question in the study's first language, or the pages' standard text in English."""
        return self.prompt.get(self.languages[0]) or _PROMPTS[self.question]

    @property
    def planned(self) -> dict[str, float]:
        """The planned share of each sampler among the questions; "gold" asks questions with known answers."""
        checks = self.gold.per_person / self.per_person
        shares = {name: share * (1 - checks) for name, share in self.sampler.items()}
        return {**shares, "gold": checks} if checks else shares

    @property
    def n_planned(self) -> float | None:
        """The planned number of questions of the learner; None if the number of people is not limited."""
        if self.total is None:
            return None
        return self.total * self.per_person * self.planned.get("learner", 0.0)

    @property
    def learner_of_session(self) -> dict[str, Any]:
        """The settings of a new session's learner, with a budget (maximum number of questions) if needed.

        If the study sets no budget, the learner "uncertain" gets no limit, because the shares of samplers
        limit its questions. The learner "4k-active" gets the planned number of questions of all samplers,
        because a session counts all questions against the budget.
        """
        settings: dict[str, object] = dict(self.learner)
        if "budget" not in settings:
            if settings.get("method") == "uncertain":
                settings["budget"] = UNLIMITED
            elif settings.get("method") == "4k-active" and self.total is not None:
                settings["budget"] = self.total * self.per_person
        return arguments(settings)

    @property
    def n_possible(self) -> int:
        """The number of different questions about the items."""
        n = len(self.items)
        return {"odd": comb(n, 3), "triplet": 3 * comb(n, 3), "pairs": comb(comb(n, 2), 2)}[self.question]

    @property
    def width(self) -> int:
        """The number of leaves of a question in the session: 3 for "odd", else 4 (two pairs)."""
        return 3 if self.question == "odd" else 4
