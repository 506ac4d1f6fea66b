"""Convert tables of answers (one answer per row) to rows of leaves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc._checks import quoted
from ordhc.comparison.asked import KINDS, Asked
from ordhc.comparison.cells import arranged, is_literal, leaves_of
from ordhc.comparison.frames import (
    ANSWERS,
    CENTRAL,
    GROUPS,
    LESS_SURE,
    ODD,
    PAIRS,
    PERSONS,
    RESPONSES,
    ROLES,
    SAMPLERS,
    WEIGHTS,
    are_adaptive,
)
from ordhc.comparison.tables import LeftOut, Table, missing_words, text_of
from ordhc.errors import InputError, SkippedRowsWarning, warn

#: Usual names of the columns of three items from which people choose one.
_THREES = (
    ("a", "b", "c"),
    ("left", "middle", "right"),
    ("left", "center", "right"),
    ("first", "second", "third"),
)
_ANCHORS = ("anchor", "head", "reference", "probe", "standard")


@dataclass
class Replies:
    """The rows of leaves that a table of answers gives."""

    #: (m, w) ids or names. The chosen item or the reference comes first, then the other items. In a row of
    #: two pairs (w = 4), the closer pair comes first.
    rows: NDArray[Any]
    #: The names of all leaves; None if `rows` holds names, or if leaves have no names.
    names: tuple[str, ...] | None
    #: (m, w - 1) for rankings, else None: the level of each item besides the reference; smaller is nearer.
    levels: NDArray[np.int64] | None
    #: (m,) the weight, the person and the answer of each row; None if unknown.
    weights: NDArray[np.float64] | None
    groups: Any
    answers: Any
    #: True if a learner chose any of the questions.
    adaptive: bool
    left_out: SkippedRowsWarning | None


def replies_of(table: Table, asked: Asked) -> Replies:
    table, items, chosen = _columns(table, asked)
    person = person_of(table, asked.person, [*items, *chosen])
    out = LeftOut(table)
    if asked.other_trials:
        blank = np.all([table.coded(name).places < 0 for name in items], axis=0)
        out.add(np.flatnonzero(blank), "of other trials")
    _exclude(table, asked.exclude, person, out)
    _leave_missing(table, items, chosen, asked, out)
    out.check_some()
    bad: dict[int, str] = {}
    kept = out.rows
    different, cells, levels = arranged(table, items, chosen, asked, kept, bad)
    rows, names, warning = leaves_of(table, items, different, cells, asked, kept, bad)
    if bad:
        first = min(bad)
        if not asked.skip_bad:
            raise table.error(bad[first] + _count_of_bad(table, bad, len(kept)), first)
        out.add_bad(bad)
        out.check_some()
        fine = out.kept[kept]
        kept, rows = kept[fine], rows[fine]
        levels = None if levels is None else levels[fine]
    if warning is not None:
        warn(str(table.error(warning)))
    answer = asked.answer
    if answer is None and asked.kind in ("triplet", "pairs") and not chosen:
        answer = table.first_of(name for name in ANSWERS if table.find(name) not in items)
    sampler = table.first_of(name for name in SAMPLERS if table.find(name) not in [*items, *chosen])
    return Replies(
        rows=rows,
        names=names,
        levels=levels,
        weights=_weights(table, asked.weights, kept, [*items, *chosen]),
        groups=None if person is None else _labels(table, person, kept),
        answers=None if answer is None else _labels(table, answer, kept),
        adaptive=sampler is not None and are_adaptive(table.coded(sampler)[kept].used()),
        left_out=out.warning(),
    )


def _count_of_bad(table: Table, bad: dict[int, str], total: int) -> str:
    if len(bad) == 1:
        return ""
    shown = ", ".join(str(table.number(row)) for row in sorted(bad)[:10])
    more = f" and {len(bad) - 10:,} more" if len(bad) > 10 else ""
    unit = "lines" if table.lines is not None else "rows"
    found = f"; {len(bad):,} of {total:,} rows cannot be used: {unit} {shown}{more}"
    return f"{found}; skip_bad (--skip-bad) skips and lists them"


def _columns(table: Table, asked: Asked) -> tuple[Table, list[Any], list[Any]]:
    chosen = asked.chosen
    if chosen is None:
        columns = []
    elif isinstance(chosen, str | int):
        columns = [chosen]
    else:
        columns = _checks.listed("chosen", chosen)
    if len(columns) > 1 and asked.kind != "ranking":
        raise InputError(f"chosen is {quoted(chosen)}; {asked.kind} needs exactly one column of choices")
    columns = [table.column(name, "chosen") for name in columns]
    if asked.items is None:
        items, columns = _known(table, asked, columns)
    else:
        items = [asked.items] if isinstance(asked.items, str | int) else _checks.listed("items", asked.items)
    items = [table.column(name, "items") for name in items]
    columns = [table.column(name, "chosen") for name in columns]
    if asked.kind in ("odd-one-out", "most-central"):
        # With columns named by role (odd, a, b), the chosen item's column may be listed as an item.
        items = [name for name in items if name not in columns]
    for at, name in enumerate([*items, *columns]):
        if name in [*items, *columns][:at]:
            raise InputError(
                f"column {quoted(name)} is used twice: each item and choice needs its own column"
            )
    table, items = _spread(table, items, KINDS[asked.kind])
    _check_count(asked, items, columns)
    return table, items, columns


def _check_count(asked: Asked, items: list[Any], chosen: list[Any]) -> None:
    kind, count = asked.kind, len(items)
    shown = ", ".join(map(str, items))
    if kind in ("odd-one-out", "most-central"):
        if not chosen:
            raise InputError(
                f"the items are {quoted(shown)}, but the choice is missing; pass the column that holds the "
                "choice: chosen=... (--chosen)"
            )
        if count not in (2, 3):
            raise InputError(f"items are {quoted(shown)}; {kind} needs three items")
    elif kind == "ranking":
        if count < 3:
            raise InputError(f"items are {quoted(shown)}; a ranking needs a reference and two or more others")
    elif count != KINDS[kind]:
        needed = "an anchor and two others" if kind == "triplet" else "the four items of two pairs"
        raise InputError(f"items are {quoted(shown)}; {kind} needs {needed}")


def _known(table: Table, asked: Asked, chosen: list[Any]) -> tuple[list[Any], list[Any]]:
    kind = asked.kind
    candidates: list[tuple[list[Any], list[Any]]] = []
    if kind in ("odd-one-out", "most-central"):
        if chosen:
            candidates = [(list(names), chosen) for names in _THREES]
        else:
            roles = ODD if kind == "odd-one-out" else CENTRAL
            candidates = [(list(pair), [role]) for role in roles for pair in PAIRS]
    elif kind == "triplet" and chosen:
        candidates = [([anchor, *pair], chosen) for anchor in _ANCHORS for pair in PAIRS]
    elif kind == "triplet":
        candidates = [(list(names), []) for names in ROLES["triplets"]]
        candidates += [(["anchor", "a", "b"], [name]) for name in RESPONSES]
    elif kind == "pairs":
        candidates = [(list(names), chosen) for names in ROLES["quadruplets"]]
    else:
        taken = {
            table.find(name)
            for name in [*WEIGHTS, *ANSWERS, *GROUPS, *LESS_SURE, *chosen, *(asked.ranks or [])]
        }
        taken |= {asked.person, asked.weights, *(asked.exclude if isinstance(asked.exclude, Mapping) else ())}
        reference = table.find("reference")
        if reference is not None:
            others = [name for name in table.names if name not in taken and name != reference]
            return [reference, *others], chosen
    for items, column in candidates:
        if all(table.find(name) is not None for name in [*items, *column]):
            return items, column
    names = ", ".join(str(name) for name in table.names[:10])
    needed = "items=[...] (--items)" + ("" if chosen or kind == "ranking" else " and chosen=... (--chosen)")
    raise table.error(f"the columns are {quoted(names, 160)}; name the columns of {kind} answers: {needed}")


def _spread(table: Table, items: list[Any], count: int | None) -> tuple[Table, list[Any]]:
    if len(items) >= (count or 3):
        return table, items
    found: list[Any] = []
    for name in items:
        lists = [list_of(cell) for cell in table.raw(name)]
        widths = sorted({len(each) for each in lists if each is not None})
        if not widths:
            found.append(name)
            continue
        width = widths[-1] if count is None else count - len(items) + 1
        columns: dict[Any, list[Any]] = {}
        for at in range(width):
            columns[f"{name}[{at}]"] = [None if c is None or len(c) != width else c[at] for c in lists]
        table = table.with_columns(columns)
        found += columns
    return table, found


def list_of(cell: Any) -> list[Any] | None:
    """Return the cell's list, given as a sequence or as JSON text; None if the cell is not a list."""
    if isinstance(cell, str) and cell.strip()[:1] == "[":
        try:
            cell = json.loads(cell)
        except ValueError:
            return None
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    return list(cell) if isinstance(cell, list | tuple) else None


def person_of(table: Table, given: Any, taken: list[Any]) -> Any:
    """Return the column that names the person of each row, or None; columns in `taken` are not considered."""
    if given is not None:
        return table.column(given, "person")
    found: list[Any] = []
    for known in (PERSONS, LESS_SURE):
        for base in () if found else known:
            for name in (base, f"{base}_name", base.replace("_", "."), base.replace("_", " ")):
                there = table.find(name)
                if there is not None and there not in found and there not in taken:
                    found.append(there)
    for other in found[1:]:
        one, two = table.coded(found[0]), table.coded(other)
        both = len(np.unique((len(two.different) + 1) * (one.places + np.int64(1)) + two.places + 1))
        if not len(one.used()) == len(two.used()) == both:
            raise table.error(
                f"columns {quoted(found[0])} and {quoted(other)} may both name the person of each answer: "
                "pass one of them as person=... (--person)"
            )
    return found[0] if found else None


def excluded_values(given: Any) -> list[Any]:
    alone = given is None or isinstance(given, str | bool | int | float)
    return [given] if alone else _checks.listed("exclude", given)


def _exclude(table: Table, exclude: Any, person: Any, out: LeftOut) -> None:
    if exclude is None:
        return
    if not isinstance(exclude, Mapping):
        if isinstance(exclude, str) and table.find(exclude) is not None:
            raise InputError(
                f"exclude is the column {quoted(exclude)}: add the values to exclude, as {{{exclude!r}: ...}}"
            )
        if person is None:
            raise InputError(
                "exclude is a list of persons, but no column names the person of each answer: pass person=..."
            )
        exclude = {person: exclude}
    for name, given in exclude.items():
        column = table.column(name, "exclude")
        words = {text_of(value) for value in excluded_values(given)}
        found = table.coded(column).mapped(text_of)
        number = {text: at for at, text in enumerate(found.different)}
        for word in sorted(words):
            out.add(np.flatnonzero(found.places == number.get(word, -1)), f"with {name} = {word or 'blank'}")
        there = sorted(found.used())
        if not words & set(there):
            shown = ", ".join(map(quoted, there[:8])) + (", ..." if len(there) > 8 else "")
            said = quoted(", ".join(sorted(words)))
            text = f"exclude: no row has {said} in column {quoted(name)}, only {shown}"
            warn(str(table.error(text)))


def _leave_missing(table: Table, items: list[Any], chosen: list[Any], asked: Asked, out: LeftOut) -> None:
    words = set(missing_words("na", asked.na, asked.names))
    literal = is_literal(items)
    before = int(out.kept.sum())
    gone = 0
    for name in items:
        gone += _leave_words(table, name, set() if literal else words, "an item", out)
    if before and 2 * gone > before:
        raise table.error(
            f"{gone:,} of {before:,} rows lack an item: {out.summary()}; are these the right columns?"
        )
    for name in chosen[:1]:
        _leave_words(table, name, words, "an answer", out)


def _leave_words(table: Table, name: Any, words: set[str], what: str, out: LeftOut) -> int:
    column = table.coded(name)
    number = {cell: at for at, cell in enumerate(column.different) if cell in words}
    gone = 0
    for word, at in sorted({"": -1, **number}.items()):
        reason = f"with `{word}` for {what}" if word else f"without {what}"
        gone += out.add(np.flatnonzero(column.places == at), reason)
    return gone


def _weights(
    table: Table, given: Any, rows: NDArray[np.intp], taken: list[Any]
) -> NDArray[np.float64] | None:
    if given is not None:
        column = table.column(given, "weights")
    else:
        found = [there for name in WEIGHTS if (there := table.find(name)) is not None and there not in taken]
        if len(found) > 1:
            raise table.error(
                f"columns {quoted(found[0])} and {quoted(found[1])} may both be the weights: "
                "pass one of them as weights=... (--weights)"
            )
        if not found:
            return None
        column = found[0]
    weights = table.coded(column)[rows].each(_weight_of, np.float64)
    for at in np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[:1].tolist():
        row, weight = int(rows[at]), table.cell(column, int(rows[at]))
        try:
            raise table.error(f"weight is {float(weight)}; weights must be finite and not negative", row)
        except (TypeError, ValueError, OverflowError):
            found_cell = "a blank cell" if weight is None else quoted(weight)
            raise table.error(
                f"column {quoted(column)} has {found_cell}; weights must be finite and not negative", row
            ) from None
    return weights


def _weight_of(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _labels(table: Table, column: Any, rows: NDArray[np.intp]) -> Any:
    texts = table.coded(column)[rows].mapped(text_of)
    if all(text.isascii() and text.isdigit() and str(int(text[:12])) == text for text in texts.used()):
        number = {text: int(text) for text in texts.used()}
        return texts.each(lambda text: number.get(text, 0), np.int64)
    return texts.objects()
