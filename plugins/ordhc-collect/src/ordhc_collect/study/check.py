"""Describe a study in a few lines (`ordhc collect --check`)."""

import math
from collections import Counter
from dataclasses import asdict

import ordhc
from ordhc.asking.rules import Rules
from ordhc_collect.study.model import Study

__all__ = ["report"]

_QUESTIONS = {
    "odd": "which of three is the odd one out",
    "triplet": "is A more like B or C",
    "pairs": "which of two pairs is more alike",
}


#: The estimated seconds that a person spends on pages without questions.
_PAGES = 60


def _minutes(seconds: float) -> str:
    count = round(seconds / 60)
    return f"{count} minute{'' if count == 1 else 's'}"


def _end(study: Study) -> list[str]:
    """Return a line about when the learner ends, if the learner ends before the study; otherwise no line."""
    learner = ordhc.Learner(len(study.items), **study.learner_of_session)
    most, planned = learner.status.remaining, study.n_planned
    if math.isinf(most) or (planned is not None and planned <= most):
        return []
    of = "" if planned is None else f" of {planned:,.0f} planned"
    return [f"             ends after about {most:,.0f} questions{of}; the others are drawn at random"]


def report(study: Study) -> str:
    """Return a description of a study: items, questions, samplers, time, people and cost."""
    n = len(study.items)
    kinds = Counter(kind for item in study.items for kind in (*item.files, *(["text"] if item.html else [])))
    seconds = study.per_person * study.seconds_per_answer + _PAGES
    lines = [
        f"{study.title}",
        f"  items      {n}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
        f"  question   {_QUESTIONS[study.question]}; {study.n_possible:,} are possible",
        "  sampler    " + ", ".join(f"{name} {share:.0%}" for name, share in study.planned.items()),
    ]
    if "learner" in study.sampler:
        lines.append("  learner    " + ", ".join(f"{key} = {value}" for key, value in study.learner.items()))
        lines += _end(study)
    lines.append(f"  a person   {study.per_person} questions, about {_minutes(seconds)}")
    total = f"{study.total:,}" if study.total is not None else "any number"
    lines.append(f"  people     {total}")
    if study.total is not None:
        lines.append(f"  in all     {study.total * study.per_person:,} answers")
        if study.pay.per_person:
            cost = study.total * study.pay.per_person * (1 + study.pay.fee)
            lines.append(f"  cost       {cost:,.2f} {study.pay.currency}")
    if study.captions and any(item.files.keys() & {"picture", "video"} for item in study.items):
        lines.append("  captions   people see names of items, and may compare words (captions = false)")
    for rule in Rules(**asdict(study.exclude)).in_words():
        lines.append(f"  exclude    {rule}")
    lines.append("Nothing is wrong. `--simulate 50` shows how good the tree will be.")
    return "\n".join(lines)
