"""Options that say how to read answers from files and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ordhc import _checks
from ordhc._checks import nearest
from ordhc.comparison.frames import CENTRAL, ODD, PAIRS, ROLES

#: The number of items that a question of each kind is about; None if the number varies.
KINDS = {"odd-one-out": 3, "most-central": 3, "ranking": None, "triplet": 3, "pairs": 4}
#: Tools whose column names are known.
FORMATS = ("salmon", "jspsych", "qualtrics", "gorilla", "psychopy", "cblearn", "prolific", "collect")
ITEMS: dict[str, list[list[str]]] = {
    "triplet": [list(known) for known in ROLES["triplets"]],
    "pairs": [list(known) for known in ROLES["quadruplets"]],
    "odd-one-out": [[odd, *pair] for pair in PAIRS for odd in ODD],
    "most-central": [[central, *pair] for pair in PAIRS for central in CENTRAL],
    "ranking": [],
}


class AnswerOptions(TypedDict, total=False):
    """Options for reading a data frame; `ordhc.read_answers` describes them."""

    chosen_as: str | Mapping[Any, Any] | None
    ranks: Sequence[Any] | None
    n_ranked: int | None
    person: Any
    weights: Any
    exclude: Any
    na: Iterable[str] | None
    format: str | None
    participants: Any
    wide: str | None
    questions: Any
    names: Sequence[str] | None
    n_leaves: int | None
    ids_from: int | None
    skip_bad: bool


class FileOptions(AnswerOptions, total=False):
    """Options for reading a file; `ordhc.read_answers` describes them."""

    answer: str | None
    delimiter: str | None
    header: bool | None
    comment: str | None


@dataclass(frozen=True)
class Asked:
    """Options that say how to read answers; `ordhc.read_answers` describes all but the last two fields."""

    kind: str = "triplet"
    items: Any = None
    chosen: Any = None
    chosen_as: str | Mapping[Any, Any] | None = None
    ranks: Sequence[Any] | None = None
    n_ranked: int | None = None
    person: Any = None
    weights: Any = None
    exclude: Any = None
    na: Iterable[str] | None = None
    format: str | None = None
    participants: Any = None
    wide: str | None = None
    questions: Any = None
    #: The names of the leaves, or a file of names; always a `tuple[str, ...]` once reading begins.
    names: Any = None
    n_leaves: int | None = None
    ids_from: int | None = None
    delimiter: str | None = None
    header: bool | None = None
    comment: str | None = None
    skip_bad: bool = False
    answer: Any = None
    #: True leaves out rows without any item, because they are trials of other kinds.
    other_trials: bool = False
    #: True raises an error for ids that are positions in `names`. It is set if `names` are the names of a
    #: tree's leaves, because users rarely mean such positions.
    by_name: bool = False

    @classmethod
    def of(
        cls, function: str, known: type[AnswerOptions], kind: str, items: Any, chosen: Any, options: Any
    ) -> Asked:
        for name in options:
            if name not in known.__annotations__:
                near = nearest(name, [*known.__annotations__])
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{near}")
        return cls(_checks.choice("kind", kind, KINDS), items, chosen, **options)
