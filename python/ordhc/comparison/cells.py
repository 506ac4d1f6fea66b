"""Cells of answers in the order of their roles, and as leaves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._checks import quoted, unknown_name
from ordhc.comparison.asked import Asked
from ordhc.comparison.chosen import Options, chosen_places, not_an_option
from ordhc.comparison.ids import check_ids_from, distinct_ids, names_of_ids
from ordhc.comparison.suspects import of_outside, told_as_names, told_outside
from ordhc.comparison.tables import Table, missing_words, text_of
from ordhc.errors import InputError

__all__ = ["arranged", "checked_ranked", "is_literal", "leaves_of", "ranked_triplets"]


def is_literal(items: Sequence[Any]) -> bool:
    """Whether columns say that their cells are names, whatever they look like."""
    return all(str(name).lower().endswith("_name") for name in items)


def arranged(
    table: Table,
    items: list[Any],
    chosen: list[Any],
    asked: Asked,
    rows: NDArray[np.intp],
    bad: dict[int, str],
) -> tuple[NDArray[np.object_], NDArray[np.int64] | None]:
    """Cells in the order of their roles, and the levels of a ranking."""
    cells = _cells(table, items, rows)
    if asked.kind == "ranking":
        return cells, _levels(table, items, chosen, asked, rows, bad)
    if not chosen:
        return cells, None
    if asked.kind in ("odd-one-out", "most-central") and len(items) == 2:
        return np.hstack([_cells(table, chosen[:1], rows), cells]), None
    # For each option: which columns of the row come first, and which follow.
    orders = {
        "odd-one-out": [[0, 1, 2], [1, 0, 2], [2, 0, 1]],
        "most-central": [[0, 1, 2], [1, 0, 2], [2, 0, 1]],
        "triplet": [[0, 1, 2], [0, 2, 1]],
        "pairs": [[0, 1, 2, 3], [2, 3, 0, 1]],
    }[asked.kind]
    if asked.kind == "pairs":
        options = Options([items[:2], items[2:]])
    else:
        options = Options([[name] for name in (items[1:] if asked.kind == "triplet" else items)])
    places, reading = chosen_places(table, chosen[0], options, rows, asked.chosen_as)
    for at in np.flatnonzero(places < 0).tolist():
        row = int(rows[at])
        bad[row] = not_an_option(table, chosen[0], options, row, reading)
    return np.take_along_axis(cells, np.array(orders)[places], axis=1), None


def _cells(table: Table, names: list[Any], rows: NDArray[np.intp]) -> NDArray[np.object_]:
    """Some columns of some rows, as they stand."""
    cells = np.empty((len(rows), len(names)), dtype=object)
    for at, name in enumerate(names):
        column = table.cells(name)
        cells[:, at] = [column[row] for row in rows.tolist()]
    return cells


def _levels(
    table: Table,
    items: list[Any],
    chosen: list[Any],
    asked: Asked,
    rows: NDArray[np.intp],
    bad: dict[int, str],
) -> NDArray[np.int64]:
    """How near each of the others is to the reference: by ranks, by choices, or by the order of columns."""
    others = len(items) - 1
    if asked.ranks is not None:
        columns = [table.column(name, "ranks") for name in _checks.listed("ranks", asked.ranks)]
        if chosen or len(columns) != others:
            raise InputError(f"{len(columns)} columns of ranks for {others} items besides the reference")
        levels = np.full((len(rows), others), np.iinfo(np.int64).max)
        for at, name in enumerate(columns):
            cells = table.cells(name)
            for place, row in enumerate(rows.tolist()):
                rank = text_of(cells[row])
                if rank.removesuffix(".0").isdigit() and len(rank) < 12:
                    levels[place, at] = int(rank.removesuffix(".0"))
                elif rank and rank not in missing_words("na", asked.na):
                    bad.setdefault(
                        row, f"the rank {quoted(rank)} in column {quoted(name)} is no whole number"
                    )
        for place in np.flatnonzero((levels == levels[:, :1]).all(axis=1)).tolist():
            bad.setdefault(int(rows[place]), "all items have the same rank")
        return levels
    if chosen:
        levels = np.full((len(rows), others), len(chosen))
        options = Options([[name] for name in items[1:]])
        for at, name in enumerate(chosen):
            places, reading = chosen_places(table, name, options, rows, asked.chosen_as)
            for place in np.flatnonzero(places < 0).tolist():
                row = int(rows[place])
                bad.setdefault(row, not_an_option(table, name, options, row, reading))
            fine = np.flatnonzero(places >= 0)
            for place in fine[levels[fine, places[fine]] < len(chosen)].tolist():
                bad.setdefault(int(rows[place]), f"column {quoted(name)} says an item that was chosen before")
            levels[fine, places[fine]] = at
        return levels
    ranked = checked_ranked(asked.n_ranked, others)
    return np.tile(np.minimum(np.arange(others), ranked), (len(rows), 1))


def checked_ranked(given: int | None, others: int) -> int:
    """How many of the others are ranked, by default two."""
    if given is None:
        return min(2, others)
    ranked = _checks.whole("n_ranked", given, at_least=1)
    if ranked > others:
        raise InputError(f"n_ranked = {ranked} is above the {others} others of a row")
    return ranked


def leaves_of(
    table: Table,
    items: list[Any],
    cells: NDArray[np.object_],
    asked: Asked,
    rows: NDArray[np.intp],
    bad: dict[int, str],
) -> tuple[NDArray[Any], tuple[str, ...] | None, str | None]:
    """Return rows of ids or names, the names of all leaves if known, and a warning if ids became names."""
    names, told = asked.names, None
    found: NDArray[Any] = cells
    if not is_literal(items) and all(_id_of(cell, table.text) is not None for cell in cells[0]):
        found = _ids(table, cells, asked, rows, bad)
    elif asked.ids_from is not None:
        raise table.error("ids_from is for ids, but the leaves have names")
    for place, row in enumerate(rows.tolist()):
        leaves = found[place] if found is cells else found[place] + (asked.ids_from or 0)
        twice = None if row in bad else _twice(asked.kind, leaves.tolist())
        if twice is not None:
            bad[row] = twice
    if found is not cells:
        fine = np.array([row not in bad for row in rows.tolist()], dtype=bool)
        ids = distinct_ids(found[fine])
        try:
            texts = names_of_ids(ids, asked)
        except InputError as error:
            if error.row is None:
                raise table.error(error.reason) from None
            at = rows[fine][int((found[fine] == ids[-1]).any(axis=1).argmax())]
            raise table.error(error.reason, int(at)) from None
        if texts is None:
            _check_ids(found, asked, rows, bad)
            return found, names, None
        found = np.array([*texts, ""], dtype=object)[np.searchsorted(ids, found)]
        if names is None:
            return found, texts, told_as_names(ids)
    known = None if names is None else set(names)
    told_near = False
    for place, row in enumerate(rows.tolist()):
        for cell in () if row in bad else found[place].tolist():
            if not isinstance(cell, str):
                bad[row] = f"{quoted(cell)} is no name; the first row has names, give ids or names, not both"
            elif known is not None and cell not in known:
                # The nearest names are looked up for the first row only.
                bad[row] = (
                    f"the name {quoted(cell)} is unknown" if told_near else unknown_name(cell, names or ())
                )
                told_near = True
            if row in bad:
                break
    return found, names, told


def _ids(
    table: Table, cells: NDArray[np.object_], asked: Asked, rows: NDArray[np.intp], bad: dict[int, str]
) -> NDArray[np.int64]:
    """Cells as ids from 0."""
    first = check_ids_from(asked.ids_from) or 0
    ids = np.zeros(cells.shape, dtype=np.int64)
    for place, row in enumerate(rows.tolist()):
        for at, cell in enumerate(() if row in bad else cells[place].tolist()):
            leaf = _id_of(cell, table.text)
            if leaf is None:
                bad[row] = f"{quoted(cell)} is no id; the first row has ids, give ids or names, not both"
                break
            if leaf < first:
                least = of_outside(np.array([leaf]), None) if leaf < 0 else ""
                bad[row] = told_outside(leaf - first, None, first) + least
                break
            ids[place, at] = leaf - first
    return ids


def _check_ids(ids: NDArray[np.int64], asked: Asked, rows: NDArray[np.intp], bad: dict[int, str]) -> None:
    """Find rows whose ids are beyond the last leaf."""
    limit = len(asked.names) if asked.names is not None else asked.n_leaves
    for place in np.flatnonzero((ids >= limit).any(axis=1)).tolist() if limit is not None else ():
        leaf = next(leaf for leaf in ids[place].tolist() if leaf >= limit)
        hint = of_outside(ids, limit) if not asked.ids_from else ""
        bad.setdefault(int(rows[place]), told_outside(leaf, limit, asked.ids_from) + hint)


def _twice(kind: str, leaves: list[Any]) -> str | None:
    """What is wrong with the leaves of an answer that are not different."""
    if kind == "pairs":
        first, second = frozenset(leaves[:2]), frozenset(leaves[2:])
        if len(first) == 1 or len(second) == 1:
            twice = quoted(leaves[0] if len(first) == 1 else leaves[2])
            return f"leaf {twice} occurs twice in a pair of {leaves}"
        return f"the pairs are the same in {leaves}" if first == second else None
    if len(set(leaves)) == len(leaves):
        return None
    shown = next(quoted(leaf) for leaf in leaves if leaves.count(leaf) > 1)
    return f"leaf {shown} occurs twice in {quoted(leaves)}"


def _id_of(cell: Any, text: bool) -> int | None:
    """A cell as an id; text is one in files of text only."""
    if isinstance(cell, int):
        return cell if abs(cell) < 2**62 else None
    if not text or not isinstance(cell, str):
        return None
    plain = cell.removesuffix(".0")
    digits = plain.removeprefix("-").removeprefix("+")
    return int(plain) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def ranked_triplets(rows: NDArray[Any], levels: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The row that each triplet of rankings comes from, and the triplets, in the order of rows.

    A nearer one of two others beats the farther one; of two at the same level neither does.
    """
    others = levels.shape[1]
    pairs = [(one, other) for one in range(others) for other in range(others) if one != other]
    near, far = (np.array(part, dtype=np.intp) for part in zip(*pairs, strict=True))
    beats = levels[:, near] < levels[:, far]
    which = np.argwhere(beats)
    # The nearest first, and of these the others in order.
    order = np.lexsort(
        (levels[which[:, 0], far[which[:, 1]]], levels[which[:, 0], near[which[:, 1]]], which[:, 0])
    )
    at, pair = which[order].T
    return at, np.stack([rows[at, 0], rows[at, near[pair] + 1], rows[at, far[pair] + 1]], axis=1)
