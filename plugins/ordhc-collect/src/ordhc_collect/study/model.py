"""The data classes of a study."""

from dataclasses import dataclass, field
from math import comb
from pathlib import Path
from typing import Any

from ordhc.asking.remaining import UNLIMITED
from ordhc.learners import arguments
from ordhc_collect.study.items import Item

__all__ = ["OUTCOMES", "Exclusion", "Gold", "Outcome", "Pay", "Poll", "Study"]

#: The outcomes at the end of a person's part; each can have a code.
OUTCOMES = ("done", "screened_out", "failed_checks")

#: The standard text of each question, as in the template `prompt.html`.
_PROMPTS = {
    "odd": "Which one is the odd one out?",
    "triplet": "Which one is more like this one?",
    "pairs": "Which pair is more alike?",
}


@dataclass(frozen=True)
class Poll:
    """A multiple-choice question before the trials, for the comprehension check or for screening.

    Attributes
    ----------
    text
        The question by language.
    options
        The options by language.
    right
        The positions of the options that pass, from 0.
    """

    text: dict[str, str]
    options: dict[str, tuple[str, ...]]
    right: frozenset[int]


@dataclass(frozen=True)
class Outcome:
    """The code and the return address that people get at the end, if any."""

    code: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Pay:
    """The cost of a person: the pay, its currency, and the platform's fee as a share of the pay."""

    per_person: float = 0.0
    currency: str = ""
    fee: float = 0.0


@dataclass(frozen=True)
class Exclusion:
    """The rules that exclude people from the analysis, see `ordhc.Session.set_rules`; None is no rule."""

    seconds: float | None = None
    same_side: float | None = None
    below_chance: bool = False
    failed_gold: float | None = None

    @property
    def is_empty(self) -> bool:
        """True if there are no rules."""
        return self == Exclusion()


@dataclass(frozen=True)
class Gold:
    """The questions with known answers: their leaves, their answers, and the number for each person.

    Leaves and answers are those of `ordhc.Session`.
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
        Clean HTML by page ("consent", "instructions", "debriefing") and language. For a missing page the
        package's own text is shown.
    pictures
        The picture files in texts, in the order of their addresses (/media/page/0 and so on).
    min_seconds
        Answers within this number of seconds after a question is shown do not count, because they are double
        clicks.
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
    checks: tuple[Poll, ...]
    tries: int
    screening: tuple[Poll, ...]
    per_person: int
    can_undo: bool
    undo_seconds: float
    min_seconds: float
    seconds_per_answer: float
    sampler: dict[str, float]
    learner: dict[str, object]
    listed: tuple[tuple[int, ...], ...]
    gold: Gold
    id_parameters: tuple[str, ...]
    anonymous: bool
    total: int | None
    leave_after: float
    outcomes: dict[str, Outcome]
    pay: Pay
    exclude: Exclusion
    password: str | None
    joins_per_minute: int
    origins: tuple[str, ...] | None

    @property
    def names(self) -> list[str]:
        """The names of the items."""
        return [item.name for item in self.items]

    @property
    def words(self) -> str:
        """The question in the study's first language, or the pages' standard text in English."""
        return self.prompt.get(self.languages[0]) or _PROMPTS[self.question]

    @property
    def planned(self) -> dict[str, float]:
        """The share of each sampler, and of checks ("gold"), among all questions."""
        checks = self.gold.per_person / self.per_person
        shares = {name: share * (1 - checks) for name, share in self.sampler.items()}
        return {**shares, "gold": checks} if checks else shares

    @property
    def n_planned(self) -> float | None:
        """The planned number of questions of the learner; None for any number of people."""
        if self.total is None:
            return None
        return self.total * self.per_person * self.planned.get("learner", 0.0)

    @property
    def learner_of_session(self) -> dict[str, Any]:
        """The arguments of a new session's learner, with a budget for the planned number of questions.

        "uncertain" gets no limit, because the shares of samplers limit its questions. "4k-active" gets the
        number of all planned questions, because it takes more reference pairs with a larger budget. The
        budget of a session counts the questions of all samplers.
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
        """The number of different questions that the items make."""
        n = len(self.items)
        return {"odd": comb(n, 3), "triplet": 3 * comb(n, 3), "pairs": comb(comb(n, 2), 2)}[self.question]

    @property
    def width(self) -> int:
        """The number of leaves in a question of the session: 3, or 4 for two pairs."""
        return 3 if self.question == "odd" else 4
