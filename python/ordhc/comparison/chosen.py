"""Find out which item of a question was chosen: by its name, its column's name or its position."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc._checks import choice, quoted
from ordhc.comparison.tables import Table, text_of
from ordhc.errors import InputError

#: The ways to read a cell that says which item was chosen.
READINGS = {
    "name": "the item itself",
    "column": "the name of the item's column",
    "place": "the item's position, counted from 1",
    "place0": "the item's position, counted from 0",
    "sign": "1 for the first of two, -1 for the second",
}

_Places = NDArray[np.int64]


#: The options that people choose from, items or pairs of items: for each option, the columns of its items.
Options = Sequence[Sequence[Any]]


def chosen_places(
    table: Table,
    column: Any,
    options: Options,
    rows: NDArray[np.intp],
    chosen_as: str | Mapping[Any, Any] | None,
) -> tuple[_Places, str]:
    """Return the option chosen in each row (-1 if the cell names none), and how the cells were read."""
    cells = table.coded(column)[rows].mapped(text_of)
    codes, texts = cells.places, cells.different
    if isinstance(chosen_as, Mapping):
        meaning = {text_of(cell): _option(table, options, name) for cell, name in chosen_as.items()}
        return _looked_up(codes, [meaning.get(text, -1) for text in texts]), "given"
    if chosen_as is not None:
        choice("chosen_as", chosen_as, READINGS)
        found = _read(chosen_as, table, options, rows, codes, texts, said=True)
        if found is None:
            raise InputError(f"chosen_as is {chosen_as!r}, which needs two options; there are {len(options)}")
        return found, chosen_as
    readings = {
        name: found
        for name in READINGS
        if (found := _read(name, table, options, rows, codes, texts, said=False)) is not None
    }
    whole = [name for name, found in readings.items() if (found >= 0).all()]
    for other in whole[1:]:
        different = np.flatnonzero(readings[whole[0]] != readings[other])
        if len(different):
            row = int(rows[different[0]])
            raise table.error(
                f"{quoted(texts[codes[different[0]]])} in column {quoted(column)} can be read as "
                f"{READINGS[whole[0]]} and as {READINGS[other]}: pass chosen_as={whole[0]!r} or "
                f"chosen_as={other!r} (--chosen-as)",
                row,
            )
    best = max(readings, key=lambda name: int((readings[name] >= 0).sum()))
    return readings[best], best


def not_an_option(table: Table, column: Any, options: Options, row: int, reading: str) -> str:
    found = f"column {quoted(column)} has {quoted(table.cell(column, row))}"
    if reading == "given":
        return f"{found}, which chosen_as does not list"
    items = [text_of(table.cell(name, row)) for names in options for name in names]
    return (
        f"{found}, which is no item ({quoted(items)}), no column ({_shown(options)}) and no position; "
        "state its meaning by chosen_as (--chosen-as)"
    )


def _shown(options: Options) -> str:
    return ", ".join(" and ".join(map(str, names)) for names in options)


def _option(table: Table, options: Options, name: Any) -> int:
    for at, names in enumerate(options):
        if any(str(there).strip().casefold() == str(name).strip().casefold() for there in names):
            return at
    raise table.error(f"chosen_as gives {quoted(name)}, which is none of the columns {_shown(options)}")


def _looked_up(codes: NDArray[np.int32], meaning: list[int]) -> _Places:
    # The code -1 (no cell) is the index of the last element, -1.
    return np.array([*meaning, -1], dtype=np.int64)[codes]


def _read(
    reading: str,
    table: Table,
    options: Options,
    rows: NDArray[np.intp],
    codes: NDArray[np.int32],
    texts: list[str],
    *,
    said: bool,
) -> _Places | None:
    count = len(options)
    if reading == "name":
        return _by_name(table, options, rows, codes, texts)
    if reading == "column":
        names: dict[str, int] = {}
        for at, columns in enumerate(options):
            names |= {str(name).strip().casefold(): at for name in columns}
        return _looked_up(codes, [names.get(text.casefold(), -1) for text in texts])
    if reading == "sign":
        if count != 2:
            return None
        signs = {"1": 0, "-1": 1} | ({"True": 0, "False": 1, "true": 0, "false": 1} if said else {})
        return _looked_up(codes, [signs.get(_plain(text), -1) for text in texts])
    first = 0 if reading == "place0" else 1
    meaning = []
    for text in texts:
        plain = _plain(text)
        number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 10 else -1
        meaning.append(number - first if first <= number < first + count else -1)
    return _looked_up(codes, meaning)


def _plain(text: str) -> str:
    return text[:-2] if text.endswith(".0") else text


def _by_name(
    table: Table, options: Options, rows: NDArray[np.intp], codes: NDArray[np.int32], texts: list[str]
) -> _Places:
    number = {text: at for at, text in enumerate(texts)}
    places = np.full(len(rows), -1, dtype=np.int64)
    times = np.zeros(len(rows), dtype=np.int64)
    for at, columns in enumerate(options):
        here = np.zeros(len(rows), dtype=bool)
        for name in columns:
            here |= codes == table.coded(name)[rows].each(
                lambda cell: number.get(text_of(cell), -1), np.int64
            )
        places[here] = at
        times += here
    return np.where(times == 1, places, -1)
