"""Read rows from delimited text."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ordhc import _ordhc
from ordhc._checks import quoted
from ordhc._progress import Progress
from ordhc.comparison.asked import ITEMS, Asked
from ordhc.comparison.frames import ANSWERS, PEOPLE, SAMPLERS, WEIGHTS, are_adaptive
from ordhc.errors import InputError
from ordhc.io.files import SAVE_AS_UTF8
from ordhc.io.guard import refuse_others
from ordhc.io.parsed import LITERAL, Parsed, persons_of
from ordhc.io.sheet import check_header, located, refuse_quadruplets, unknown_column


def from_text(
    data: bytes,
    source: str,
    asked: Asked,
    *,
    ids: bool | None = None,
    progress: Progress | None = None,
) -> Parsed:
    """Return the rows of delimited text, a whole file or a part of it.

    `asked` describes what to read. `ids` is True if leaves are ids, False if they are names; by default the
    cells decide. The first part of a file decides for its later parts.
    """
    check_characters(asked)
    delimiter, comment, answer, person = asked.delimiter, asked.comment, asked.answer, asked.person
    refuse_others(data, source, "comparisons")
    labels = [
        [answer] if answer is not None else list(ANSWERS),
        [person] if person is not None else [name for base in PEOPLE for name in (base, f"{base}_name")],
        list(SAMPLERS),
    ]
    wanted = [asked.weights] if asked.weights is not None else list(WEIGHTS)
    try:
        found = _ordhc.parse_table(
            data, asked.items, ITEMS[asked.kind], wanted, labels, delimiter, comment, asked.header, ids,
            list(asked.na or ()), asked.skip_bad, progress,
        )  # fmt: skip
    except InputError as error:
        if "give a header with" in error.reason:
            # The file may have answers as another tool saved them, one per row.
            more = (
                "or describe the columns: ordhc.read_answers (--kind, --items, --chosen; Qualtrics: --wide)"
            )
            error = InputError(f"{error.reason}; {more}", row=error.row, line=error.line)
        if error.reason.startswith("not UTF-8"):
            error = InputError(error.reason + SAVE_AS_UTF8, line=error.line)
        raise located(error, source) from None
    for given, values in (
        (asked.weights, found["weights"]),
        (answer, found["labels"][0]),
        (person, found["labels"][1]),
    ):
        if given is not None and values is None:
            raise unknown_column(source, given, first_cells(data, delimiter, comment), 1)
    if asked.items is None and asked.kind == "triplet" and asked.header is not False:
        refuse_quadruplets(first_cells(data, delimiter, comment), source)
    chosen = asked.items
    if asked.header is None and found["names"] is not None and chosen and not isinstance(chosen[0], str):
        first = first_cells(data, delimiter, comment)
        check_header(source, 1, [first[at].strip() for at in chosen], set(found["names"]))
    parsed = Parsed(source, found["rows"], found["names"], found["weights"], unit="line")
    parsed.delimiter, parsed.has_header = found["delimiter"], found["has_header"]
    parsed.numbers, parsed.missing, parsed.bad = found["lines"], found["missing"], found["bad"]
    if found["labels"][0] is not None:
        _, codes, texts = found["labels"][0]
        values, names = persons_of(texts, codes, literal=False)
        parsed.answers = values if names is None else np.array(names, dtype=object)[values]
    if found["labels"][1] is not None:
        column, codes, texts = found["labels"][1]
        parsed.groups, parsed.group_names = persons_of(texts, codes, column.lower().endswith("_name"))
    if found["labels"][2] is not None:
        parsed.adaptive = are_adaptive(found["labels"][2][2])
    return parsed


def first_cells(data: bytes, delimiter: str | None, comment: str | None) -> list[str]:
    lines = data.removeprefix(b"\xef\xbb\xbf").lstrip()[: 1 << 20].decode(errors="replace").splitlines()
    first = next((line for line in lines if comment is None or not line.startswith(comment)), "")
    return _ordhc.split_table(first, delimiter, None)[0][0] if first.strip() else []


def check_characters(asked: Asked) -> None:
    for what, given in (("delimiter", asked.delimiter), ("comment", asked.comment)):
        if given is not None and (not isinstance(given, str) or len(given) != 1 or not given.isascii()):
            raise InputError(f"{what} {quoted(given)} is not one ASCII character")


@lru_cache(maxsize=4)
def _lowered(names: tuple[str, ...]) -> dict[str, int]:
    # Cached, because blocks repeat the names.
    return {name.strip().lower(): leaf for leaf, name in enumerate(names)}


def drop_headers(parsed: Parsed, asked: Asked) -> None:
    """Skip rows that repeat the header, as in concatenated files."""
    code = _lowered(tuple(parsed.names or ()))
    for header in [*ITEMS[asked.kind], *([asked.items] if asked.items else [])]:
        for ending in ("", LITERAL):
            leaves = [code.get(f"{name}{ending}".lower(), -1) for name in header]
            if min(leaves) < 0 or len(leaves) != parsed.rows.shape[1]:
                continue
            repeats = (parsed.rows == leaves).all(axis=1)
            if repeats.any():
                parsed.bad += [
                    (parsed.number(row), "repeats the header") for row in np.flatnonzero(repeats).tolist()
                ]
                parsed.keep(~repeats)
                parsed.forget_unused()
