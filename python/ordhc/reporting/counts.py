"""Make the section `data` of a report: numbers of answers by form, person and item, and missing answers."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Comparisons, Triplets
from ordhc.evaluate.held_out import Answers
from ordhc.evaluate.people import agreement_of
from ordhc.evaluate.structure.misfits import incidences

FORMS = {
    "triplet": ("triplet", "triplets"),
    "quadruplet": ("comparison of two pairs", "comparisons of two pairs"),
    "odd one out": ("choice of the odd one out", "choices of the odd one out"),
    "most central": ("choice of the most central item", "choices of the most central item"),
    "ranking": ("ranking", "rankings"),
}


def in_numbers(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def weighed(data: Comparisons) -> Comparisons:
    """Return the comparisons of positive weight."""
    return data if data.weights is None else data[data.weights > 0]


def forms_of(data: Comparisons, answers: Answers) -> NDArray[np.str_]:
    """Return the form of each answer, a key of `FORMS`.

    The form is inferred from the rows of the answer. For example, two triplets (a, b, c) and (b, a, c) are
    the choice of c as the odd one out.
    """
    single = "triplet" if isinstance(data, Triplets) else "quadruplet"
    found = np.where(answers.sizes == 1, single, "ranking").astype("<U12")
    if isinstance(data, Triplets):
        two = np.flatnonzero((answers.sizes == 2) & (np.bincount(incidences(data)[0]) == 3))
        order = np.argsort(answers.of_row, kind="stable")
        ends = np.cumsum(answers.sizes)
        first, second = (data.rows[order[ends[two] - back]] for back in (2, 1))
        swapped = (first[:, 0] == second[:, 1]) & (first[:, 1] == second[:, 0])
        found[two[swapped & (first[:, 2] == second[:, 2])]] = "odd one out"
        central = (first[:, 1] == second[:, 1]) & (first[:, 0] == second[:, 2])
        found[two[central & (first[:, 2] == second[:, 0])]] = "most central"
    return found


def spread(values: NDArray[Any]) -> dict[str, float] | None:
    if not len(values):
        return None
    return {"min": float(values.min()), "median": float(np.median(values)), "max": float(values.max())}


def counts_of(
    data: Comparisons, given: Comparisons, answers: Answers, left_out: Mapping[str, int]
) -> dict[str, Any]:
    """Return the section `data` of a report.

    `data` has the comparisons of positive weight, `given` all comparisons. `left_out` has, by reason, the
    number of rows that were left out on reading.
    """
    forms, counts = np.unique(forms_of(data, answers), return_counts=True)
    numbers, leaves = incidences(data)
    per_item = np.bincount(leaves, minlength=data.n_leaves)
    times = np.bincount(answers.question)
    people = answers.person
    per_person = None if people is None else np.unique(people, return_counts=True)[1]
    return {
        "n_items": data.n_leaves,
        "n_answers": len(answers),
        "n_comparisons": len(data),
        "kind": type(data).__name__.lower(),
        "forms": dict(zip(forms.tolist(), counts.tolist(), strict=True)),
        "weighted": data.weights is not None,
        "adaptive": data.adaptive,
        "n_without_weight": len(given) - len(data),
        "left_out": dict(left_out),
        "n_questions": len(times),
        "n_repeated_questions": int((times > 1).sum()),
        "n_answers_to_repeated": int(times[times > 1].sum()),
        "n_people": None if per_person is None else len(per_person),
        "answers_per_person": None if per_person is None else spread(per_person),
        "answers_per_item": spread(per_item),
        "items_without_answers": np.flatnonzero(per_item == 0).tolist(),
        "agreement": asdict(agreement_of(answers, np.bincount(numbers))),
        "sha256": fingerprint(given),
    }


def fingerprint(data: Comparisons) -> str:
    found = hashlib.sha256()
    for values, kind in (
        (np.array([data.n_leaves, data.rows.shape[1]]), "<i8"),
        (data.rows, "<i4"),
        (data.weights, "<f8"),
        (data.answers, "<i4"),
        (data.groups, "<i4"),
    ):
        found.update(b"\0none" if values is None else np.ascontiguousarray(values).astype(kind).tobytes())
    for names in (data.names, data.group_names):
        for name in () if names is None else names:
            found.update(b"\0" + name.encode("utf-8", "surrogatepass"))
        found.update(b"\0end")
    return found.hexdigest()
