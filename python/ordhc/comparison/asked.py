"""What is asked of a table of answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

__all__ = ["FORMATS", "KINDS", "AnswerOptions", "Asked"]

#: Questions, and how many items one is about.
KINDS = {"odd-one-out": 3, "most-central": 3, "ranking": None, "triplet": 3, "pairs": 4}
#: What tools call their columns.
FORMATS = ("salmon", "jspsych", "cblearn", "prolific", "collect")


class AnswerOptions(TypedDict, total=False):
    """The options of `ordhc.read_answers` that frames take too; they are described there."""

    chosen_as: str | Mapping[Any, Any] | None
    ranks: Sequence[Any] | None
    n_ranked: int | None
    person: Any
    weights: Any
    exclude: Any
    na: Iterable[str] | None
    format: str | None
    participants: Any
    names: Sequence[str] | None
    n_leaves: int | None
    ids_from: int | None
    skip_bad: bool


@dataclass(frozen=True)
class Asked:
    """What the columns of a table mean."""

    kind: str = "triplet"
    items: Any = None
    chosen: Any = None
    chosen_as: str | Mapping[Any, Any] | None = None
    ranks: Sequence[Any] | None = None
    n_ranked: int | None = None
    person: Any = None
    weights: Any = None
    #: The column of the number of the answer that a row is part of.
    answer: Any = None
    exclude: Any = None
    na: Iterable[str] | None = None
    names: tuple[str, ...] | None = None
    n_leaves: int | None = None
    ids_from: int | None = None
    skip_bad: bool = False
    #: Rows without any items are trials of other kinds.
    other_trials: bool = False
    #: Leaves have names: ids would be taken for places in them, which is rarely what was meant.
    by_name: bool = False
