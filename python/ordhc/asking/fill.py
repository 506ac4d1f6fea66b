"""Draw questions for people when the learner has no question for them."""

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from ordhc import _checks
from ordhc._ordhc import SessionLearner
from ordhc.asking.events import ANSWER, GOLD, HELDOUT, KNOWN, RANDOM, REPEAT, SAMPLERS
from ordhc.asking.log import History, Key, Log, key_of
from ordhc.errors import InputError

#: The default share of the questions from each sampler, which is a way to choose a question.
DEFAULT_FILL = {"heldout": 0.5, "repeat": 0.3, "random": 0.2}

#: The samplers besides the learner.
FILLERS = tuple(name for name in SAMPLERS if name != "learner")
#: `_DRAWS` is the number of random draws for a question that is new to the person. If all draws fail, the
#: question is chosen from a list. For "repeat" the list has the questions of the last `_FEW` answers. For
#: "random" and "heldout" it has all questions, if there are at most about `_FEW`.
_DRAWS, _FEW = 50, 20_000


def checked_fill(fill: Any) -> dict[str, float]:
    """Return the share of each sampler of questions, from a mapping, a list of names or one name.

    The shares add up to 1; an empty `fill` gives an empty dict.
    """
    shares: Mapping[Any, Any]
    if isinstance(fill, str):
        shares = {fill: 1}
    elif isinstance(fill, Mapping):
        shares = fill
    elif isinstance(fill, Sequence):
        shares = {_checks.choice("fill", name, FILLERS): 1 for name in fill}
    else:
        raise InputError(
            f"fill = {_checks.quoted(fill)} must be a sampler, a list of samplers, or a mapping of samplers "
            "to shares, such as {'heldout': 0.5, 'random': 0.5}"
        )
    found = {}
    for name, share in shares.items():
        name = _checks.choice("fill", name, FILLERS)
        found[name] = _checks.number(f"fill[{name!r}]", share, at_least=0)
    total = sum(found.values())
    if found and not 0 < total < float("inf"):
        raise InputError(f"the shares of fill are {', '.join(map(str, found.values()))}: one must be above 0")
    return {name: share / total for name, share in found.items() if share}


class Filler:
    """A source of questions for one person, drawn by samplers in the given shares.

    The sampler that is furthest behind its share is tried first. If it has no question that is new to this
    person, the next sampler is tried.
    """

    def __init__(
        self, log: Log, learner: SessionLearner, shares: Mapping[str, float], history: History, seed: str
    ) -> None:
        self._log, self._learner, self._shares, self._history = log, learner, shares, history
        self._random = random.Random(seed)
        self._counts = {name: log.counts[SAMPLERS[name]] for name in shares}
        self._new: set[Key] = set()
        self._candidates: dict[str, list[Key]] = {}

    def draw(self) -> tuple[int, Key] | None:
        for name in sorted(self._shares, key=lambda name: (self._counts[name] + 1) / self._shares[name]):
            kind = SAMPLERS[name]
            leaves = self._drawn() if kind in (HELDOUT, RANDOM) else self._recorded(name, kind)
            if leaves is None:
                continue
            self._counts[name] += 1
            self._new.add(key_of(leaves))
            shown = list(leaves)
            self._random.shuffle(shown)
            return kind, tuple(shown) if len(shown) == 3 else self._shuffled(leaves)
        return None

    def _shuffled(self, leaves: Key) -> Key:
        pairs = [list(leaves[:2]), list(leaves[2:])]
        for pair in pairs:
            self._random.shuffle(pair)
        self._random.shuffle(pairs)
        return tuple(pairs[0] + pairs[1])

    def _is_new(self, leaves: Key) -> bool:
        key = key_of(leaves)
        if self._log.is_retired[list(leaves)].any():
            return False
        return key not in self._new and not self._history.knows(key) and not self._learner.asks(leaves)

    def _drawn(self) -> Key | None:
        log, width = self._log, self._log.width
        active = log.active.tolist() if log.is_retired.any() else range(log.n_leaves)
        n = len(active)
        if n < 3:
            return None
        for _ in range(_DRAWS):
            if width == 3:
                leaves = tuple(self._random.sample(active, 3))
            else:
                leaves = (*self._random.sample(active, 2), *self._random.sample(active, 2))
                if set(leaves[:2]) == set(leaves[2:]):
                    continue
            if self._is_new(leaves):
                return leaves
        if n**width > _FEW * 6:
            return None
        if width == 3:
            every: list[Key] = list(combinations(active, 3))
        else:
            every = [first + second for first, second in combinations(combinations(active, 2), 2)]
        left = [leaves for leaves in every if self._is_new(leaves)]
        return self._random.choice(left) if left else None

    def _recorded(self, name: str, kind: int) -> Key | None:
        log = self._log
        if log.n == 0 or (kind == GOLD and not log.counts[KNOWN]):
            return None
        for _ in range(_DRAWS if kind == REPEAT else 0):
            row = self._random.randrange(log.n)
            if self._fits(row, kind) and self._is_new(leaves := tuple(log.leaves[row].tolist())):
                return leaves
        if name not in self._candidates:
            # Keep the list, because several questions may be drawn.
            rows = log.rows_of(KNOWN) if kind == GOLD else log.rows_of(ANSWER)[-_FEW:]
            self._candidates[name] = [
                leaves
                for row in rows.tolist()
                if self._fits(row, kind) and self._is_new(leaves := tuple(log.leaves[row].tolist()))
            ]
        left = [leaves for leaves in self._candidates[name] if self._is_new(leaves)]
        return self._random.choice(left) if left else None

    def _fits(self, row: int, kind: int) -> bool:
        log = self._log
        if kind == GOLD:
            return bool(log.kinds[row] == KNOWN)
        if log.kinds[row] != ANSWER or log.undone[row]:
            return False
        # Held-out and gold questions are not repeated.
        number = log.refs[row]
        return number == -1 or log.kinds[number - 1] not in (HELDOUT, GOLD)
