"""Read comparisons from files whose columns are in a fixed order, such as anchor, near, far."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._checks import quoted
from ordhc._progress import Progress, part
from ordhc.comparison.asked import ITEMS, KINDS, Asked
from ordhc.comparison.cells import checked_ranked
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.ids import check_ids_from
from ordhc.comparison.rows import changed
from ordhc.comparison.tables import missing_words
from ordhc.errors import InputError
from ordhc.io.arrays import Table, from_arrays, rows_of
from ordhc.io.files import read_content
from ordhc.io.guard import reading
from ordhc.io.joined import is_read_in_blocks, joined
from ordhc.io.names import as_names
from ordhc.io.parsed import Parsed, assemble, settle
from ordhc.io.paths import Source, name_of, suffix_of
from ordhc.io.texts import drop_headers, from_text

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".npz", ".npy")


def read_in_order(path: Source, asked: Asked, progress: Progress | None) -> Any:
    """Read comparisons from a file whose columns of items are in a fixed order, such as anchor, near, far.

    The first of the columns `asked.items` has the anchor, the chosen item or the reference. By default,
    columns are found by name. All columns of a ranking are items, except those of weights, answers and
    persons.
    """
    asked, make = checked(asked), _maker(asked)
    source, suffix = name_of(path), suffix_of(path, SUFFIXES)
    if is_read_in_blocks(path, suffix):
        parsed = joined(os.fspath(path), asked, part(progress, 0, 0.8))  # type: ignore[arg-type]
        if parsed is not None:
            with reading(source, "comparisons"):
                return _assembled(parsed, make, asked, progress)
    data = read_content(path)
    with reading(source, "comparisons", data):
        responses = None
        if suffix in (".npz", ".npy"):
            parsed, responses = from_arrays(data, source, suffix, asked)
        elif suffix == ".parquet":
            parsed = rows_of(Table(data, source), asked)
        else:
            parsed = from_text(data, source, asked, progress=part(progress, 0, 0.8))
        drop_headers(parsed, asked)
        if asked.n_leaves is None:
            asked = replace(asked, n_leaves=parsed.n_leaves)
        if asked.names is None and parsed.names is None and parsed.own_names is not None:
            asked = replace(asked, names=parsed.own_names, ids_from=asked.ids_from or 0)
        if responses is None or make is not Triplets:
            return _assembled(parsed, make, asked, progress)
        settle(parsed, asked)
        rows: Any = parsed.rows
        names = asked.names
        if parsed.names is not None:
            rows = np.array(parsed.names, dtype=object)[parsed.rows]
            names = tuple(parsed.names) if names is None else names
        made = Triplets.from_responses(rows, responses, asked.n_leaves, names, parsed.weights)
    if progress is not None:
        progress(1.0)
    return made


def _assembled(parsed: Parsed, make: Callable[..., Any], asked: Asked, progress: Progress | None) -> Any:
    settle(parsed, asked)
    if progress is not None:
        progress(0.9)
    made = assemble(parsed, make, asked)
    if progress is not None:
        progress(1.0)
    return made


def _maker(asked: Asked) -> Callable[..., Any]:
    if asked.kind in ("triplet", "pairs"):
        return Quadruplets if asked.kind == "pairs" else Triplets

    def make(rows: Any, **known: Any) -> Triplets:
        # Each row is one answer, so a column with the number of each answer is not needed.
        known.pop("answers", None)
        known.pop("copy", None)
        adaptive = known.pop("adaptive", None)
        if (group_names := known.pop("group_names", None)) is not None:
            known["groups"] = np.array(group_names, dtype=object)[known["groups"]]
        if asked.kind == "ranking":
            made = Triplets.from_ranking(rows, checked_ranked(asked.n_ranked, rows.shape[1] - 1), **known)
        elif asked.kind == "odd-one-out":
            made = Triplets.from_odd_one_out(rows, **known)
        else:
            made = Triplets.from_most_central(rows, **known)
        return changed(made, adaptive=bool(adaptive))

    return make


def checked(asked: Asked) -> Asked:
    """Return `asked`, the description of what to read, after checks of its values.

    If `names` is a file, the names in the file replace it. `na` becomes a tuple of all words that mean a
    missing item.
    """
    names, n_leaves = None if asked.names is None else as_names(asked.names), asked.n_leaves
    return replace(
        asked,
        items=_columns(asked),
        names=names,
        n_leaves=None if n_leaves is None else _checks.whole("n_leaves", n_leaves, at_least=1),
        ids_from=check_ids_from(asked.ids_from),
        na=tuple(missing_words("na", asked.na, names)),
    )


def _columns(asked: Asked) -> Any:
    columns, width = asked.items, KINDS[asked.kind]
    if columns is None:
        return None
    if isinstance(columns, str):
        raise InputError(f"items is {quoted(columns)}; give a list of names or positions")
    chosen = _checks.listed("items", columns)
    if (width is None and len(chosen) < 3) or (width is not None and len(chosen) != width):
        needed = "3 or more" if width is None else f"{width} are needed: {', '.join(ITEMS[asked.kind][0])}"
        raise InputError(f"items are {quoted(chosen)}; {needed}")
    if all(isinstance(column, str) for column in chosen):
        wanted = [column.lower() for column in chosen]
    elif all(
        isinstance(column, int | np.integer) and not isinstance(column, bool | np.timedelta64)
        for column in chosen
    ):
        wanted = chosen = [int(column) for column in chosen]
        if min(chosen) < 0:
            raise InputError(f"items has {min(chosen)}; positions of columns are 0, 1, 2, ...")
    else:
        raise InputError(f"items are {quoted(chosen)}; give names or positions")
    if len(set(wanted)) < len(wanted):
        raise InputError(f"items are {quoted(chosen)}; each column can occur only once")
    for roles in ITEMS[asked.kind] if asked.kind in ("triplet", "pairs") else []:
        # The order within each pair of a quadruplet does not matter. If the first pair has the right columns,
        # the second has them, too.
        near = [frozenset(names[:2]) if len(names) == 4 else names for names in (wanted, roles)]
        if set(wanted) == set(roles) and near[0] != near[1]:
            wrong, role = next(pair for pair in zip(wanted, roles, strict=True) if pair[0] != pair[1])
            raise InputError(
                f"items are {quoted(chosen)}, but the order must be {', '.join(roles)}: {quoted(wrong)} "
                f"would be read as {quoted(role)}; give items in this order, or leave items out"
            )
    return chosen
