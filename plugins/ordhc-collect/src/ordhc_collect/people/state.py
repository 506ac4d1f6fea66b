"""What is known of a person, and of what they were asked."""

from dataclasses import dataclass

__all__ = [
    "CHECK",
    "DEBRIEFING",
    "END",
    "INSTRUCTIONS",
    "SCREENING",
    "TRIALS",
    "Answer",
    "Person",
    "RefusedError",
    "Trial",
]

SCREENING, INSTRUCTIONS, CHECK = "screening", "instructions", "check"
TRIALS, DEBRIEFING, END = "trials", "debriefing", "end"


class RefusedError(Exception):
    """Something that a participant may not do; `reason` is a word for the page, `status` the HTTP status."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status


@dataclass(frozen=True, slots=True)
class Trial:
    """A question as one person sees it.

    Attributes
    ----------
    number
        From 1 on, of this person.
    question
        Its number in the session.
    leaves
        As the session has them.
    sides
        The places of `leaves` in the order in which they are shown: of odd ones out all three; of triplets
        the one that is compared, the left and the right one; of pairs all four.
    asked
        When it was asked first.
    attempt
        How often its answer was taken back.
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
        """The leaves in the order in which they are shown."""
        return tuple(self.leaves[place] for place in self.sides)

    @property
    def n_choices(self) -> int:
        """How many things can be chosen."""
        return 3 if len(self.leaves) == 3 else 2

    def answer(self, choice: int) -> int:
        """What a choice (from 1 on as shown, 0 for none) means to the session."""
        if len(self.leaves) == 3:
            return self.sides[choice - 1] if choice else -1
        if not choice:
            return 0
        # The first leaf of a pair that is shown tells which pair it is.
        place = self.sides[choice] if len(self.sides) == 3 else self.sides[2 * (choice - 1)]
        return 1 if place < 2 else -1


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is kept, and not yet told to the session."""

    trial: Trial
    choice: int
    seconds: float
    at: float


@dataclass(frozen=True, slots=True)
class Person:
    """Where somebody is in the study.

    Attributes
    ----------
    stage
        The page that they are at.
    tries
        How often they have failed the comprehension check.
    n_done
        How many questions they have answered.
    trial
        The question that they are asked.
    later
        The one that they were asked when they took an answer back.
    held
        Their last answer, as long as they can take it back.
    outcome
        How their part has ended: "done", "screened_out", "failed_checks".
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

    @property
    def has_ended(self) -> bool:
        """Whether their part is over."""
        return self.stage == END
