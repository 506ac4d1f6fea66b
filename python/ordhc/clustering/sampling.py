"""Prepare the settings and inputs of Markov chains (sweeps, people, answers), and average their trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _ordhc
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.comparison.units import answers_of, coded, groups_of
from ordhc.errors import InputError

#: The default number of chains. The default number of sweeps is between the two limits `_SWEEPS`; the lower
#: limit is used for `_MANY` comparisons or more.
CHAINS = 4
_SWEEPS, _MANY = (80, 300), 14_400
#: Processor time in seconds. A sweep takes `_OF_PAIRS` for each pair of leaves, `_OF_COMPARISONS` for each
#: comparison and level of the tree, and `_OF_CHOICES` for each row of an answer of several rows. The work
#: before and after the sweeps takes `_OF_THREES` times n^3 for n leaves.
_OF_PAIRS, _OF_COMPARISONS, _OF_CHOICES, _OF_THREES = 1e-7, 7e-8, 1.1e-6, 4e-9


def sweeps_for(m: int) -> int:
    return int(np.clip(_SWEEPS[0] * _MANY / max(m, 1), *_SWEEPS))


def seconds_of(data: Triplets | Quadruplets, chains: int = CHAINS, sweeps: int | None = None) -> float:
    """Return the estimated processor time of a posterior, in seconds; `sweeps` is None for the default.

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(14_400, levels=3, leaves_per_cluster=30)
    >>> 2 < seconds_of(t) < 6
    True
    """
    n, m = data.n_leaves, len(data.rows)
    numbers = numbers_of_answers(data)
    of_several = 0 if numbers is None else int((np.bincount(numbers)[numbers] > 1).sum())
    sweep = _OF_PAIRS * n**2 + _OF_COMPARISONS * m * np.log2(max(n, 2)) + _OF_CHOICES * of_several
    return float(chains * (sweeps_for(m) if sweeps is None else sweeps) * sweep + _OF_THREES * n**3)


def drawn_by(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the linkage "posterior-al" that are also arguments of `posterior`."""
    return {name: value for name, value in settings.items() if name != "scale"}


def with_groups(
    data: Triplets | Quadruplets, group: ArrayLike | None, unit: str | None
) -> Triplets | Quadruplets:
    """Return the data with the groups (people) that the arguments `group` and `unit` of `posterior` set.

    If `group` is given, its values become the groups. If `unit` is "answer", the result has no groups, so
    people are not distinguished. Otherwise the data are unchanged.
    """
    if group is not None and unit is not None:
        raise InputError("give group= or unit=, not both")
    if unit == "group" and data.groups is None:
        raise InputError("unit is 'group', but the comparisons have no groups")
    if group is None and unit != "answer":
        return data
    # Answer numbers can be the same for two people. Renumber the answers before the groups change, so that
    # answers of two people are not joined.
    answers = None if data.answers is None or data.groups is None else answers_of(data)
    data = data if answers is None else changed(data, answers=answers)
    if group is None:
        return changed(data, groups=None, group_names=None)
    codes, names = coded("group", group, len(data))
    return changed(data, groups=codes, group_names=names)


def people_of(
    data: Triplets | Quadruplets,
) -> tuple[NDArray[np.int64], NDArray[np.uint32], list[str | int]] | None:
    """Return the numbers of the rows in sorted order, the person of each sorted row, and names of people.

    The result is None if there are fewer than two people. The order of the rows and the numbers of people are
    computed from the answers only, so names of people and the order of rows in `data` do not matter. If
    people have no names, their numbers in `data.groups` are the names.
    """
    codes = groups_of(data)
    if codes is None:
        return None
    values = data.rows.astype(np.float64)
    if data.weights is not None:
        values = np.column_stack([values, data.weights])
    content = np.unique(values, axis=0, return_inverse=True)[1].ravel()
    by_person = np.split(content[np.lexsort((content, codes))], np.cumsum(np.bincount(codes))[:-1])
    order = sorted(range(len(by_person)), key=lambda person: tuple(by_person[person].tolist()))
    rank = np.argsort(order)
    groups = np.asarray(data.groups)
    first = np.unique(codes, return_index=True)[1]
    known = data.group_names
    who = [int(groups[first[person]]) for person in order]
    people = rank[codes].astype(np.uint32)
    rows = np.lexsort((people, content))
    return rows, people[rows], [number if known is None else known[number] for number in who]


def numbers_of_answers(data: Triplets | Quadruplets) -> NDArray[np.uint32] | None:
    """Return the number of the answer of each row; None if every row is a separate answer."""
    if data.answers is None or not len(data.rows):
        return None
    numbers = answers_of(data)
    return numbers.astype(np.uint32) if np.bincount(numbers).max() > 1 else None


def square(samples: _ordhc.Samples, n: int) -> NDArray[np.float64]:
    """Return the mean height at which each pair of leaves merges in the drawn trees, (n, n).

    Each diagonal value is the largest other value of its row.
    """
    _ordhc.check_memory("the similarities", 8 * n * n)
    S = _ordhc.square(samples.similarity(None), np.full(n, -np.inf))
    np.fill_diagonal(S, S.max(axis=1) if n > 1 else 0.0)
    return S
