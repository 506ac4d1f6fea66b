"""The state of a person in a study, with the questions and answers."""

from dataclasses import dataclass

SCREENING, BEFORE, INSTRUCTIONS, CHECK = "screening", "before", "instructions", "check"
PRACTICE, TRIALS, BREAK = "practice", "trials", "break"
AFTER, DEBRIEFING, END = "after", "debriefing", "end"


class RefusedError(Exception):
    """A request that is refused; `reason` selects the message on the page, `status` is the HTTP status."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


@dataclass(frozen=True, slots=True)
class Trial:
    """A question as one person sees it.

    Attributes
    ----------
    number
        The number of the question for this person, from 1.
    question
        The number of the question in the session.
    leaves
        The leaves in the order in which the session stores them.
    sides
        Positions in `leaves`, in the order in which the leaves are shown. For "odd" there are three
        positions; for "triplet" the positions of the head, the left and the right leaf; for "pairs" four.
    asked
        The time when the question was first asked, in seconds since 1970.
    attempt
        The number of times that the answer was taken back.
    """

    number: int
    question: int
    sampler: str
    leaves: tuple[int, ...]
    sides: tuple[int, ...]
    asked: float
    attempt: int = 0

    @property
    def shown(self) -> tuple[int, ...]:
        return tuple(self.leaves[position] for position in self.sides)

    @property
    def head(self) -> int | None:
        """The item to which the other two are compared; None for other kinds of questions."""
        return self.shown[0] if len(self.sides) < len(self.leaves) else None

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """The items of each choice, without "none"."""
        shown = self.shown
        if len(shown) == 4:
            return [shown[:2], shown[2:]]
        return [(leaf,) for leaf in shown if leaf != self.head]

    def answer(self, choice: int) -> int:
        """Return the answer in the coding of `ordhc.Session`.

        `choice` is 1, 2, ... in the order shown, or 0 for "none".
        """
        if len(self.leaves) == 3:
            return self.sides[choice - 1] if choice else -1
        if not choice:
            return 0
        # The position of one leaf of the chosen pair identifies the pair: positions 0 and 1 are the first
        # pair.
        position = self.sides[choice] if len(self.sides) == 3 else self.sides[2 * (choice - 1)]
        return 1 if position < 2 else -1


@dataclass(frozen=True, slots=True)
class Measured:
    """The page's measurements of one question; a value is None if the browser runs no scripts.

    `seconds` is the response time. `hidden` is the number of seconds for which the page was in a hidden tab.
    `plays` has the number of times that each sound or clip was played to the end, in the order shown.
    `is_late` is True if the person did not answer within the time limit.
    """

    seconds: float | None = None
    hidden: float | None = None
    plays: tuple[int, ...] | None = None
    enlarged: int | None = None
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that the person can still take back; the session has not received this answer.

    `choice` is the number of the choice, from 1, or 0 for "none". `at` is the time in seconds since 1970.
    """

    trial: Trial
    choice: int
    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class Person:
    """The state of a person in the study.

    Attributes
    ----------
    stage
        The current page.
    tries
        The number of failed comprehension checks.
    later
        The question that was open when the person took an answer back; it is asked next.
    held
        The last answer, as long as the person can take it back.
    outcome
        The outcome at the end: "done", "screened_out", "failed_checks" or "full"; None before the end.
    practice
        The number of answered practice questions.
    tried
        The choice in the current practice question, while its feedback is shown; otherwise None.
    """

    id: str
    stage: str
    language: str
    tries: int = 0
    n_done: int = 0
    trial: Trial | None = None
    later: Trial | None = None
    held: Answer | None = None
    outcome: str | None = None
    practice: int = 0
    tried: int | None = None

    @property
    def has_ended(self) -> bool:
        return self.stage == END
