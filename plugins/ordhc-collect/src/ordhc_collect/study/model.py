"""What a study is."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ordhc.asking.remaining import UNLIMITED
from ordhc.learners import arguments
from ordhc_collect.study.items import Item

__all__ = ["OUTCOMES", "Exclusion", "Gold", "Outcome", "Pay", "Poll", "Study"]

#: How a person's part ends: by what they get a code for.
OUTCOMES = ("done", "screened_out", "failed_checks")


@dataclass(frozen=True)
class Poll:
    """A question with options before the trials: of a comprehension check, or to screen people.

    `right` are the places of the options that pass, from 0 on. Texts are by language.
    """

    text: dict[str, str]
    options: dict[str, tuple[str, ...]]
    right: frozenset[int]


@dataclass(frozen=True)
class Outcome:
    """What people get at the end: a code and an address to go back to, if any."""

    code: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Pay:
    """What a person costs: their pay, and the share of it that the platform takes."""

    per_person: float = 0.0
    currency: str = ""
    fee: float = 0.0


@dataclass(frozen=True)
class Exclusion:
    """Whose answers are left out of the analysis; None for a rule that isn't applied."""

    seconds: float | None = None
    same_side: float | None = None
    below_chance: bool = False
    failed_gold: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nobody is ever left out."""
        return self == Exclusion()


@dataclass(frozen=True)
class Gold:
    """Questions with known answers: leaves as sessions have them, answers, and how many a person gets."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    per_person: int = 0


@dataclass(frozen=True)
class Study:
    """A study, as its file says it.

    Attributes
    ----------
    root
        The folder of the file, in which everything lies that the study shows.
    text
        The file as it was read, without the hash of the password.
    question
        "odd": which of three is the odd one out; "triplet": is A more like B or C; "pairs": which of two
        pairs is more alike.
    pages
        Clean HTML by page ("consent", "instructions", "debriefing") and language; what is missing is a text
        of the package.
    pictures
        Files that texts show, in the order of their addresses (/media/page/0 and so on).
    min_seconds
        Answers that come sooner after a question is shown don't count: they are second clicks.
    sampler
        Shares of "learner", "random", "heldout", "repeat" and "list" among the questions that are no checks.
    learner
        The settings of the session's learner that the file gives.
    total
        How many people may take part in all; None for any number.
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

    @property
    def names(self) -> list[str]:
        """The names of the items."""
        return [item.name for item in self.items]

    @property
    def planned(self) -> dict[str, float]:
        """The share of each sampler, and of checks ("gold"), among all questions."""
        checks = self.gold.per_person / self.per_person
        shares = {name: share * (1 - checks) for name, share in self.sampler.items()}
        return {**shares, "gold": checks} if checks else shares

    @property
    def n_planned(self) -> float | None:
        """How many questions the learner has by the plan; None for any number of people."""
        if self.total is None:
            return None
        return self.total * self.per_person * self.planned.get("learner", 0.0)

    @property
    def learner_of_session(self) -> dict[str, Any]:
        """Return the arguments of a new session's learner, which asks as many questions as the study plans.

        Shares, not a limit of its own, say how many "uncertain" asks. "4k-active" takes the more reference
        pairs, the larger its budget. The budget of a session counts the questions of all samplers.
        """
        settings: dict[str, object] = dict(self.learner)
        if "budget" not in settings:
            if settings.get("method") == "uncertain":
                settings["budget"] = UNLIMITED
            elif settings.get("method") == "4k-active" and self.total is not None:
                settings["budget"] = self.total * self.per_person
        return arguments(settings)

    @property
    def width(self) -> int:
        """How many leaves a question of the session has."""
        return 3 if self.question == "odd" else 4
