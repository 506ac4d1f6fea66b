"""Choose the next question of a person."""

import logging
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from ordhc import Session
from ordhc_collect.study.model import Study

log = logging.getLogger("ordhc_collect")
#: The number of seconds for which a question is reserved for a person, unless the person leaves earlier.
LEASE = 7 * 86_400.0
#: Maximum number of attempts to draw a question that is new to a person, before all questions are listed.
_DRAWS = 200

Row = tuple[int, ...]
#: A question: its number in the session, its leaves, its sampler.
Asked = tuple[int, Row, str]


class Asker:
    """Chooses questions, each from the sampler that is furthest behind its planned share.

    A sampler is a way to choose questions, such as "learner" or "random".
    """

    def __init__(self, study: Study, session: Session, counts: Counter[str]) -> None:
        self._study, self._session = study, session
        self.counts = counts
        self._n_leaves = len(study.items)
        self._listed = counts["list"]
        self._gold = {key_of(row) for row in study.gold.rows}
        #: Questions of the study's list that people left unanswered. They are asked again.
        self.returned: deque[Row] = deque()
        #: The leaves that cannot be shown, see `find_withdrawn`.
        self.withdrawn: frozenset[int] = frozenset()
        self.find_withdrawn()

    def next(self, who: str, number: int, held: int | None, known: Callable[[], list[Row]]) -> Asked | None:
        """Return question `number` (from 1) of a person; None if the person was asked all questions already.

        `held` is the session's question whose answer can still be taken back. The learner does not ask this
        question again. `known` returns the leaves of all questions that the person was asked.
        """
        found = self._gold_question(who, number, known) or self._by_shares(who, held, known)
        if found is not None:
            self.counts[found[2]] += 1
        return found

    def find_withdrawn(self) -> None:
        """Find the leaves that cannot be shown: retired items, and items that the study does not have.

        An item that is added to the session while the study runs is shown only after a restart of the server.
        """
        n, shown = self._session.n_leaves, len(self._study.items)
        if n > shown and n != self._n_leaves:
            names = ", ".join((self._session.names or ())[shown:])
            log.warning("the study shows these new items only after a restart of its server: %s", names)
        self._n_leaves = n
        retired = set(self._session.retired)
        gone = (
            [leaf for leaf, item in enumerate(self._study.items) if item.name in retired] if retired else []
        )
        self.withdrawn = frozenset((*gone, *range(shown, n)))

    def _gold_question(self, who: str, number: int, known: Callable[[], list[Row]]) -> Asked | None:
        """Return a question with a known answer ("gold") if one is due for this person, else None.

        The questions of a person are divided into consecutive groups of equal size, one for each gold
        question. Each group has one gold question, at a random position.
        """
        each, total = self._study.gold.per_person, self._study.per_person
        if not each:
            return None
        draw = random.Random(f"{self._study.seed} {who} gold")
        blocks = [range(total * block // each, total * (block + 1) // each) for block in range(each)]
        due = sum(draw.choice(block) < number for block in blocks)
        mine = {key_of(row) for row in known()}
        if len(mine & self._gold) >= due:
            return None
        left = [
            row for row in self._study.gold.rows if key_of(row) not in mine and self.withdrawn.isdisjoint(row)
        ]
        return self._question_about("gold", "gold", draw.choice(left), who) if left else None

    def _by_shares(self, who: str, held: int | None, known: Callable[[], list[Row]]) -> Asked | None:
        """Return a question of the sampler that is furthest behind its share, or None.

        If a sampler has no question for this person (for example because the learner has ended), its share
        is added to the share of random questions.
        """
        shares, counts = dict(self._study.sampler), self.counts.copy()
        has_random = True
        while shares:
            name = min(shares, key=lambda name: (counts[name] + 1) / shares[name])
            found = self._from_sampler(name, who, held, known)
            if found is not None:
                return found
            share = shares.pop(name)
            has_random = has_random and name != "random"
            if has_random:
                shares["random"] = shares.get("random", 0.0) + share
                counts["random"] += counts[name]
        return None

    def _from_sampler(
        self, name: str, who: str, held: int | None, known: Callable[[], list[Row]]
    ) -> Asked | None:
        if name == "learner":
            return self._from_learner(who, held)
        if name == "list":
            return self._from_list(who, known)
        is_random = name in ("random", "heldout")
        if is_random and (self._study.question == "triplet" or self._n_leaves > len(self._study.items)):
            return self._random_question(name, who, known)
        questions = self._session.ask(who=who, lease=LEASE, sampler=name)
        for number, row in questions:
            if self.withdrawn.isdisjoint(row):
                return number, row, name
            self._session.release([number])
        return None

    def _from_learner(self, who: str, held: int | None) -> Asked | None:
        questions = self._session.ask(1 if held is None else 2, who=who, lease=LEASE)
        found: Asked | None = None
        others = []
        for number, row, sampler in zip(
            questions.ids.tolist(), questions.rows.tolist(), questions.samplers, strict=True
        ):
            if number == held or sampler != "learner":
                continue
            if found is None and self.withdrawn.isdisjoint(row):
                found = (number, tuple(row), sampler)
            else:
                others.append(number)
        if others:
            self._session.release(others)
        return found

    def _question_about(self, name: str, kind: str, row: Row, who: str) -> Asked:
        questions = self._session.ask(who=who, lease=LEASE, sampler=kind, rows=[row])
        return int(questions.ids[0]), row, name

    def _from_list(self, who: str, known: Callable[[], list[Row]]) -> Asked | None:
        listed = self._study.listed
        mine = set(known())
        for row in list(self.returned):
            if row not in mine and self.withdrawn.isdisjoint(row):
                self.returned.remove(row)
                return self._question_about("list", "random", row, who)
        for _ in range(len(listed)):
            row = listed[self._listed % len(listed)]
            self._listed += 1
            if row not in mine and self.withdrawn.isdisjoint(row):
                return self._question_about("list", "random", row, who)
        return None

    def _random_question(self, name: str, who: str, known: Callable[[], list[Row]]) -> Asked | None:
        shown = [leaf for leaf in range(len(self._study.items)) if leaf not in self.withdrawn]
        mine = {key_of(row) for row in known()}
        draw = random.Random(f"{self._study.seed} {who} {len(mine)}")
        for _ in range(_DRAWS if len(shown) > 2 else 0):
            row = self._draw(shown, draw)
            if row is not None and key_of(row) not in mine:
                return self._question_about(name, name, row, who)
        left = [row for row in self._all_questions(shown) if key_of(row) not in mine]
        return self._question_about(name, name, draw.choice(left), who) if left else None

    def _draw(self, shown: list[int], draw: random.Random) -> Row | None:
        if self._study.question == "pairs":
            row = (*draw.sample(shown, 2), *draw.sample(shown, 2))
            return None if set(row[:2]) == set(row[2:]) else row
        a, b, c = draw.sample(shown, 3)
        return (a, b, a, c) if self._study.question == "triplet" else (a, b, c)

    def _all_questions(self, shown: list[int]) -> Iterator[Row]:
        if self._study.question == "pairs":
            yield from (first + second for first, second in combinations(combinations(shown, 2), 2))
            return
        for three in combinations(shown, 3):
            if self._study.question == "odd":
                yield three
                continue
            for a in three:
                b, c = (leaf for leaf in three if leaf != a)
                yield a, b, a, c


def key_of(row: Sequence[int]) -> frozenset[Any]:
    """Return a key for the leaves of a question; equal keys mean the same question."""
    return frozenset(row) if len(row) == 3 else frozenset((frozenset(row[:2]), frozenset(row[2:])))
