"""Arrange the cells of answers by role (for example anchor, near, far), and convert them to leaves."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._checks import quoted, unknown_name
from ordhc.comparison.asked import Asked
from ordhc.comparison.chosen import chosen_places, not_an_option
from ordhc.comparison.coded import Column, together
from ordhc.comparison.ids import check_ids_from, distinct_ids, has_repeats, names_of_ids
from ordhc.comparison.suspects import names_warning, outside_advice, outside_message
from ordhc.comparison.tables import Table, missing_words, text_of
from ordhc.errors import InputError


def is_literal(items: Sequence[Any]) -> bool:
    """Return True if the columns of items end in "_name": then their cells are names, never ids."""
    return all(str(name).lower().endswith("_name") for name in items)


def arranged(
    table: Table,
    items: list[Any],
    chosen: list[Any],
    asked: Asked,
    rows: NDArray[np.intp],
    bad: dict[int, str],
) -> tuple[list[Any], NDArray[np.int32], NDArray[np.int64] | None]:
    columns = [table.coded(name)[rows] for name in items]
    if asked.kind in ("odd-one-out", "most-central") and chosen and len(items) == 2:
        return *together([table.coded(chosen[0])[rows], *columns]), None
    different, cells = together(columns)
    if asked.kind == "ranking":
        return different, cells, _levels(table, items, chosen, asked, rows, bad)
    if not chosen:
        return different, cells, None
    # For each option that people can choose: the order of the columns that gives rows (odd, a, b),
    # (central, a, b), (anchor, near, far), or (the closer pair, the other pair).
    orders = {
        "odd-one-out": [[0, 1, 2], [1, 0, 2], [2, 0, 1]],
        "most-central": [[0, 1, 2], [1, 0, 2], [2, 0, 1]],
        "triplet": [[0, 1, 2], [0, 2, 1]],
        "pairs": [[0, 1, 2, 3], [2, 3, 0, 1]],
    }[asked.kind]
    if asked.kind == "pairs":
        options = [items[:2], items[2:]]
    else:
        options = [[name] for name in (items[1:] if asked.kind == "triplet" else items)]
    places, reading = chosen_places(table, chosen[0], options, rows, asked.chosen_as)
    for at in np.flatnonzero(places < 0).tolist():
        row = int(rows[at])
        bad[row] = not_an_option(table, chosen[0], options, row, reading)
    return different, np.take_along_axis(cells, np.array(orders)[places], axis=1), None


def _levels(
    table: Table,
    items: list[Any],
    chosen: list[Any],
    asked: Asked,
    rows: NDArray[np.intp],
    bad: dict[int, str],
) -> NDArray[np.int64]:
    others = len(items) - 1
    if asked.ranks is not None:
        columns = [table.column(name, "ranks") for name in _checks.listed("ranks", asked.ranks)]
        if chosen or len(columns) != others:
            raise InputError(
                f"ranks= has {len(columns)} columns; it needs one for each of the {others} items besides the "
                "reference, and cannot be combined with chosen="
            )
        levels = np.full((len(rows), others), np.iinfo(np.int64).max)
        words = missing_words("na", asked.na)
        for at, name in enumerate(columns):
            ranks = table.coded(name)[rows]
            levels[:, at] = ranks.each(lambda cell: _level_of(text_of(cell), words), np.int64)
            for place in np.flatnonzero(levels[:, at] < 0).tolist():
                rank = quoted(text_of(table.cell(name, rows[place])))
                bad.setdefault(
                    int(rows[place]), f"the rank {rank} in column {quoted(name)} is not a whole number"
                )
        for place in np.flatnonzero((levels == levels[:, :1]).all(axis=1)).tolist():
            bad.setdefault(int(rows[place]), "all items have the same rank")
        return levels
    if chosen:
        levels = np.full((len(rows), others), len(chosen))
        options = [[name] for name in items[1:]]
        for at, name in enumerate(chosen):
            places, reading = chosen_places(table, name, options, rows, asked.chosen_as)
            for place in np.flatnonzero(places < 0).tolist():
                row = int(rows[place])
                bad.setdefault(row, not_an_option(table, name, options, row, reading))
            fine = np.flatnonzero(places >= 0)
            for place in fine[levels[fine, places[fine]] < len(chosen)].tolist():
                bad.setdefault(
                    int(rows[place]), f"column {quoted(name)} repeats an item of an earlier column of choices"
                )
            levels[fine, places[fine]] = at
        return levels
    ranked = checked_ranked(asked.n_ranked, others)
    return np.tile(np.minimum(np.arange(others), ranked), (len(rows), 1))


def _level_of(rank: str, words: list[str]) -> int:
    if rank.removesuffix(".0").isdecimal() and len(rank) < 12:
        return int(rank.removesuffix(".0"))
    return int(np.iinfo(np.int64).max) if not rank or rank in words else -1


def checked_ranked(given: int | None, others: int) -> int:
    if given is None:
        return min(2, others)
    ranked = _checks.whole("n_ranked", given, at_least=1)
    if ranked > others:
        raise InputError(f"n_ranked = {ranked} is above the number of items besides the reference, {others}")
    return ranked


def leaves_of(
    table: Table,
    items: list[Any],
    different: list[Any],
    cells: NDArray[np.int32],
    asked: Asked,
    rows: NDArray[np.intp],
    bad: dict[int, str],
) -> tuple[NDArray[Any], tuple[str, ...] | None, str | None]:
    """Convert cells to leaf ids or names; add rows that cannot be converted to `bad`, with the reason."""
    names = asked.names
    ids = [_id_of(cell, table.text) for cell in different]
    if not is_literal(items) and all(ids[place] is not None for place in cells[0].tolist()):
        found = _ids(different, ids, cells, asked, rows, bad)
        first = asked.ids_from or 0
        _refuse_twice(asked.kind, found, rows, bad, lambda row: (row + first).tolist())
        fine = ~_is_in(rows, bad)
        there = distinct_ids(found[fine])
        try:
            texts = names_of_ids(there, asked)
        except InputError as error:
            if error.row is None:
                raise table.error(error.reason) from None
            at = rows[fine][int((found[fine] == there[-1]).any(axis=1).argmax())]
            raise table.error(error.reason, int(at)) from None
        if texts is None:
            limit = len(names) if names is not None else asked.n_leaves
            for place in np.flatnonzero((found >= limit).any(axis=1)).tolist() if limit is not None else ():
                leaf = next(leaf for leaf in found[place].tolist() if leaf >= limit)
                hint = outside_advice(found, limit) if not asked.ids_from else ""
                bad.setdefault(int(rows[place]), outside_message(leaf, limit, asked.ids_from) + hint)
            return found, names, None
        different, cells = [*texts, ""], np.searchsorted(there, found).astype(np.int32)
        if names is None:
            return Column(different, cells).objects(), texts, names_warning(there)
    elif asked.ids_from is not None:
        raise table.error("ids_from is for ids, but the leaves have names")
    else:
        _refuse_twice(asked.kind, cells, rows, bad, lambda row: [different[place] for place in row])
    known = None if names is None else set(names)
    is_wrong = np.array(
        [not isinstance(cell, str) or (known is not None and cell not in known) for cell in different]
    )
    wrong = is_wrong[cells]
    is_first = True
    for place in np.flatnonzero(wrong.any(axis=1) & ~_is_in(rows, bad)).tolist():
        cell = different[cells[place, wrong[place].argmax()]]
        if not isinstance(cell, str):
            reason = f"{quoted(cell)} is not a name; the first row has names, give ids or names, not both"
        else:
            # Close spellings are suggested for the first row only, because the search is slow.
            reason = unknown_name(cell, names or ()) if is_first else f"the name {quoted(cell)} is unknown"
            is_first = False
        bad[int(rows[place])] = reason
    return Column(different, cells).objects(), names, None


def _is_in(rows: NDArray[np.intp], bad: dict[int, str]) -> NDArray[np.bool_]:
    return np.isin(rows, np.fromiter(bad, dtype=np.intp, count=len(bad)))


def _ids(
    different: list[Any],
    ids: list[int | None],
    cells: NDArray[np.int32],
    asked: Asked,
    rows: NDArray[np.intp],
    bad: dict[int, str],
) -> NDArray[np.int64]:
    first = check_ids_from(asked.ids_from) or 0
    found = np.array([0 if leaf is None else leaf - first for leaf in ids], dtype=np.int64)[cells]
    wrong = np.array([leaf is None or leaf < first for leaf in ids])[cells]
    for place in np.flatnonzero(wrong.any(axis=1) & ~_is_in(rows, bad)).tolist():
        cell = cells[place, wrong[place].argmax()]
        leaf = ids[cell]
        if leaf is None:
            reason = (
                f"{quoted(different[cell])} is not an id; the first row has ids, give ids or names, not both"
            )
        else:
            reason = outside_message(leaf - first, None, first)
            reason += outside_advice(np.array([leaf]), None) if leaf < 0 else ""
        bad[int(rows[place])] = reason
    found[_is_in(rows, bad)] = 0
    return found


def _refuse_twice(
    kind: str,
    leaves: NDArray[Any],
    rows: NDArray[np.intp],
    bad: dict[int, str],
    shown: Callable[[NDArray[Any]], list[Any]],
) -> None:
    twice = has_repeats(leaves, kind == "pairs")
    for place in np.flatnonzero(twice & ~_is_in(rows, bad)).tolist():
        bad[int(rows[place])] = _twice(kind, shown(leaves[place]))


def _twice(kind: str, leaves: list[Any]) -> str:
    if kind == "pairs":
        for pair in (leaves[:2], leaves[2:]):
            if pair[0] == pair[1]:
                return f"leaf {quoted(pair[0])} occurs twice in a pair of {leaves}"
        return f"the two pairs are the same in {leaves}"
    leaf = next(leaf for leaf in leaves if leaves.count(leaf) > 1)
    return f"leaf {quoted(leaf)} occurs twice in {quoted(leaves)}"


def _id_of(cell: Any, text: bool) -> int | None:
    if isinstance(cell, int):
        return cell if abs(cell) < 2**62 else None
    if not text or not isinstance(cell, str):
        return None
    plain = cell.removesuffix(".0")
    digits = plain.removeprefix("-").removeprefix("+")
    return int(plain) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def ranked_triplets(rows: NDArray[Any], levels: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Convert rankings to t triplets; return the index of the ranking, (t,), and the leaves, (t, 3), of each.

    In each triplet the reference is the anchor, and the item of the lower level is near. Items of one level
    are not compared.
    """
    others = levels.shape[1]
    pairs = [(one, other) for one in range(others) for other in range(others) if one != other]
    near, far = (np.array(part, dtype=np.intp) for part in zip(*pairs, strict=True))
    beats = levels[:, near] < levels[:, far]
    which = np.argwhere(beats)
    # Sort by level; keep the order of columns within a level.
    order = np.lexsort(
        (levels[which[:, 0], far[which[:, 1]]], levels[which[:, 0], near[which[:, 1]]], which[:, 0])
    )
    at, pair = which[order].T
    return at, np.stack([rows[at, 0], rows[at, near[pair] + 1], rows[at, far[pair] + 1]], axis=1)
