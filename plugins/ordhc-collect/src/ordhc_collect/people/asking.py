"""Which question somebody gets next."""

import random
from collections import Counter, deque
from collections.abc import Callable, Sequence

from ordhc import Session
from ordhc_collect.study.model import Study

__all__ = ["Asker", "sides_of"]

#: Questions belong to whoever has them until they answer or leave.
LEASE = 7 * 86_400.0
#: What is asked where all samplers of the study have nothing for a person.
_FALLBACK = ("repeat", "heldout", "random")
_DRAWS = 200

Row = tuple[int, ...]
#: The number of a question in the session, its leaves, its sampler.
Asked = tuple[int, Row, str]


class Asker:
    """Chooses questions by the shares of a study's samplers, the one that is furthest behind first."""

    def __init__(self, study: Study, session: Session, counts: Counter[str]) -> None:
        self._study, self._session = study, session
        self.counts = counts
        self._listed = counts["list"]
        #: Questions of the list that people left without an answer.
        self.returned: deque[Row] = deque()

    def next(self, who: str, held: int | None, known: Callable[[], list[Row]]) -> Asked | None:
        """A question for somebody; None if there is none that they don't know.

        `held` is the number of the question whose answer is held back, `known` gives what they were asked.
        """
        shares = self._study.sampler
        order = sorted(shares, key=lambda name: (self.counts[name] + 1) / shares[name])
        for name in (*order, *(name for name in _FALLBACK if name not in shares)):
            found = self._of(name, who, held, known)
            if found is not None:
                self.counts[name] += 1
                return found
        return None

    def _of(self, name: str, who: str, held: int | None, known: Callable[[], list[Row]]) -> Asked | None:
        if name == "learner":
            return self._learner(who, held)
        if name == "list":
            return self._of_list(who, known)
        if self._study.question == "triplet" and name in ("random", "heldout"):
            return self._triplet(name, who, known)
        questions = self._session.pose(name, who=who, lease=LEASE)
        for number, row in questions:
            return number, row, name
        return None

    def _learner(self, who: str, held: int | None) -> Asked | None:
        """A question of the learner; one whose answer is held back comes again, as it is still open."""
        questions = self._session.ask(1 if held is None else 2, who=who, lease=LEASE, fill={})
        found = [
            (number, row)
            for (number, row), sampler in zip(questions, questions.samplers, strict=True)
            if number != held and sampler == "learner"
        ]
        if len(found) > 1:
            self._session.release([number for number, _ in found[1:]])
        return (*found[0], "learner") if found else None

    def _posed(self, name: str, kind: str, row: Row, who: str) -> Asked:
        questions = self._session.pose(kind, [row], who=who, lease=LEASE)
        return int(questions.ids[0]), row, name

    def _of_list(self, who: str, known: Callable[[], list[Row]]) -> Asked | None:
        listed = self._study.listed
        mine = set(known())
        for row in list(self.returned):
            if row not in mine:
                self.returned.remove(row)
                return self._posed("list", "random", row, who)
        for _ in range(len(listed)):
            row = listed[self._listed % len(listed)]
            self._listed += 1
            if row not in mine:
                return self._posed("list", "random", row, who)
        return None

    def _triplet(self, name: str, who: str, known: Callable[[], list[Row]]) -> Asked | None:
        """Whether a is more like b or c, for any three."""
        n = len(self._study.items)
        mine = {_key(row) for row in known()}
        draw = random.Random(f"{self._study.seed} {who} {len(mine)}")
        for _ in range(_DRAWS):
            a, b, c = draw.sample(range(n), 3)
            if _key((a, b, a, c)) not in mine:
                return self._posed(name, name, (a, b, a, c), who)
        left = [
            (a, b, a, c)
            for a in range(n)
            for b in range(n)
            for c in range(b + 1, n)
            if len({a, b, c}) == 3 and _key((a, b, a, c)) not in mine
        ]
        return self._posed(name, name, draw.choice(left), who) if left else None


def _key(row: Sequence[int]) -> frozenset[frozenset[int]]:
    return frozenset((frozenset(row[:2]), frozenset(row[2:])))


def sides_of(row: Row, question: str, draw: random.Random) -> Row:
    """The places of a question's leaves in the order in which they are shown."""
    if question == "odd":
        return tuple(draw.sample(range(3), 3))
    first, second = draw.sample([[0, 1], [2, 3]], 2)
    if question == "pairs":
        draw.shuffle(first)
        draw.shuffle(second)
        return (*first, *second)
    (head,) = set(row[:2]) & set(row[2:])
    (left,), (right,) = ([place for place in pair if row[place] != head] for pair in (first, second))
    return (first[0] + first[1] - left, left, right)
