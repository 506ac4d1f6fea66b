"""The summary of a study's answers for the dashboard."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import Dendrogram, Quadruplets, Session, Triplets
from ordhc.asking.people import Person
from ordhc.evaluate.intervals import wilson
from ordhc.reporting.typical import typical_items
from ordhc.results import Posterior
from ordhc_collect.analysis.tree import agreeing, model_of, tree_of
from ordhc_collect.study.model import Study

#: Minimum number of answers about an item before it is listed as confusing.
_FEW = 5


@dataclass(frozen=True)
class Confusing:
    """An item about which answers contradict the tree more often than usual.

    `n` is the number of answers about the item, `share` the share that contradicts the tree.
    """

    name: str
    n: int
    share: float


@dataclass(frozen=True)
class Summary:
    """The summary of a study's answers so far; a value is None if it is unknown.

    Attributes
    ----------
    per_minute
        The number of answers per minute in the last five minutes.
    seconds
        The median response time in seconds.
    agreement, n_agreement
        The share of answers to repeated questions that agree with other people, and the number of these
        answers.
    heldout
        The number of held-out answers, the share that the model predicts correctly, and the ends of the
        share's interval.
    people
        The summary of each person, by id.
    confusing
        The items about which answers contradict the tree most often.
    comparisons
        The comparisons from which the tree is made.
    lengths
        The result of `typical_items`: an estimate of how typical each item is, as in `ordhc report`.
    samplers
        The number of answers by sampler, which is a way to choose questions.
    """

    n_answers: int
    per_minute: float
    seconds: float | None
    agreement: float | None
    n_agreement: int
    tree: Dendrogram | None
    heldout: tuple[int, float, float, float] | None
    people: dict[str, Person]
    confusing: tuple[Confusing, ...]
    comparisons: Triplets | Quadruplets
    lengths: dict[str, Any] | None = None
    samplers: dict[str, int] = field(default_factory=dict)

    @property
    def excluded(self) -> list[str]:
        return [who for who, person in self.people.items() if person.excluded]


def people_of(session: Session) -> dict[str, Person]:
    return {who: person for who, person in session.people().items() if who is not None}


def summarise(study: Study, session: Session, now: float, *, support: bool = True) -> Summary:
    """Return the summary of all answers, analysed as `ordhc cluster` and `ordhc report` do.

    `now` is the time in seconds since 1970. If `support` is False, the support of clusters is not computed.
    """
    table = session.table()
    people = people_of(session)
    found = session.analysed()
    excluded = list(found.about["excluded"])
    model = model_of(found.comparisons, support=support, seed=study.seed)
    tree = tree_of(model)
    heldout = None if model is None else found.accuracy(model)
    took = table["seconds"][~np.isnan(table["seconds"])]
    lately = float((table["at"] > now - 300).sum())
    began = float(table["at"].min()) if len(table["at"]) else now
    minutes = min(max((now - began) / 60, 1 / 6), 5)
    compared = [person for person in people.values() if person.n_repeats]
    n_agreement = sum(person.n_repeats for person in compared)
    agreement = (
        sum((person.repeats or 0) * person.n_repeats for person in compared) / n_agreement
        if n_agreement
        else None
    )
    names, counts = np.unique(table["sampler"].astype(str), return_counts=True)
    return Summary(
        n_answers=len(table["at"]),
        per_minute=lately / minutes,
        seconds=float(np.median(took)) if len(took) else None,
        agreement=agreement,
        n_agreement=n_agreement,
        tree=tree,
        heldout=None if heldout is None else (heldout.n_answers, heldout.accuracy, heldout.low, heldout.high),
        people=people,
        confusing=() if tree is None else _confusing(study, tree, table, session.width, excluded),
        comparisons=found.comparisons,
        lengths=typical_items(model) if isinstance(model, Posterior) else None,
        samplers=dict(zip(names.tolist(), counts.tolist(), strict=True)),
    )


def _confusing(
    study: Study, tree: Dendrogram, table: dict[str, NDArray[Any]], width: int, excluded: list[str]
) -> tuple[Confusing, ...]:
    """Return up to six items about which answers contradict the tree more often than usual.

    The first item has the largest lower end of Wilson's interval of the share of contradicting answers.
    """
    agrees = agreeing(tree, table, width)
    use = ~np.isnan(agrees) & ~np.isin(table["who"].astype(str), excluded)
    n = np.zeros(len(study.items))
    wrong = np.zeros(len(study.items))
    for place in range(1, width + 1):
        leaves = table[f"leaf_{place}"][use].astype(np.int64)
        n += np.bincount(leaves, minlength=len(n))
        wrong += np.bincount(leaves, 1 - agrees[use], minlength=len(n))
    if not n.sum():
        return ()
    usual = wrong.sum() / n.sum()
    found = []
    for leaf in np.flatnonzero(n >= _FEW).tolist():
        share = float(wrong[leaf] / n[leaf])
        if share > usual:
            low = float(wilson(share, n[leaf])[0])
            found.append((low, Confusing(study.items[leaf].name, int(n[leaf]), share)))
    return tuple(item for _, item in sorted(found, key=lambda pair: -pair[0])[:6])
