"""Tables of answers, and how they are read by the csv module and plain loops."""

import csv
import io
import warnings
from collections import Counter

from hypothesis import strategies as st

from ordhc.errors import SkippedRowsWarning

NAMES = ["cat", "dog", "car", "bus", "big, red", 'said "x"', "Ünï", "#1", "a b", "x;y"]
MISSING = ["NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "skip"]
COLUMNS = {
    "odd-one-out": ["left", "middle", "right"],
    "most-central": ["left", "middle", "right"],
    "triplet": ["probe", "left", "right"],
    "pairs": ["p1", "p2", "q1", "q2"],
    "ranking": ["probe", "x", "y", "z"],
}


@st.composite
def tables(draw, kind):
    """Rows of text with their header, and how the chosen item is told."""
    items = COLUMNS[kind]
    told = draw(st.sampled_from(["name", "column", "place", "place0"]))
    if kind == "pairs":
        told = draw(st.sampled_from(["column", "place", "place0"]))
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        row = dict(zip(items, draw(st.permutations(NAMES)), strict=False))
        options = items[1:] if kind in ("triplet", "ranking") else items
        at = draw(st.integers(0, len(options) - 1))
        if kind == "pairs":
            place = at // 2
        else:
            place = at
        row["chosen"] = {
            "name": row[options[at]],
            "column": options[at],
            "place": str(place + 1),
            "place0": str(place),
        }[told]
        row["subject"] = draw(st.sampled_from(["ann", "bob", "cid"]))
        row["check"] = draw(st.sampled_from(["passed", "passed", "failed"]))
        row["rt"] = str(draw(st.integers(100, 999)))
        if draw(st.integers(0, 9)) == 0:
            row[draw(st.sampled_from([*items, "chosen"]))] = draw(st.sampled_from(["", "  ", *MISSING]))
        rows.append(row)
    order = draw(st.permutations([*items, "chosen", "subject", "check", "rt"]))
    return [{name: row[name] for name in order} for row in rows], told


def written(rows, delimiter=","):
    """The table as text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def naively(text, kind, told, delimiter=","):
    """Rows of names with the person and the answer's number, and how many rows are left out by reason."""
    items = COLUMNS[kind]
    found, gone, number = [], Counter(), 0
    for row in csv.DictReader(io.StringIO(text), delimiter=delimiter):
        cells = [row[name].strip() for name in items]
        said = row["chosen"].strip()
        if row["check"] == "failed":
            gone["with check = failed"] += 1
            continue
        if (word := next((cell for cell in cells if cell == "" or cell in MISSING), None)) is not None:
            gone[f"with `{word}` for an item" if word else "without an item"] += 1
            continue
        if said == "" or said in MISSING:
            gone[f"with `{said}` for an answer" if said else "without an answer"] += 1
            continue
        options = cells[1:] if kind in ("triplet", "ranking") else cells
        named = items[1:] if kind in ("triplet", "ranking") else items
        if told == "name":
            at = options.index(said)
        elif told == "column":
            at = named.index(said)
        else:
            at = (int(said) - (told == "place")) * (2 if kind == "pairs" else 1)
        for rows in comparisons(kind, cells, options, at):
            found.append((rows, row["subject"], number))
        number += 1
    return found, gone


def comparisons(kind, cells, options, at):
    """What an answer says."""
    others = [option for place, option in enumerate(options) if place != at]
    if kind == "odd-one-out":
        return [(*others, options[at]), (*others[::-1], options[at])]
    if kind == "most-central":
        return [(others[0], options[at], others[1]), (others[1], options[at], others[0])]
    if kind == "pairs":
        pairs = [tuple(cells[:2]), tuple(cells[2:])]
        return [pairs[at // 2] + pairs[1 - at // 2]]
    if kind == "triplet":
        return [(cells[0], options[at], others[0])]
    return [(cells[0], options[at], other) for other in others]


def told_by(data):
    """The comparisons by name, with the person and the number of the answer."""
    answers = range(len(data)) if data.answers is None else data.answers.tolist()
    first = {answer: at for at, answer in enumerate(dict.fromkeys(answers))}
    return [
        (tuple(data.names[leaf] for leaf in row), data.group_names[who], first[answer])
        for row, who, answer in zip(data, data.groups.tolist(), answers, strict=True)
    ]


def frames(rows):
    """The table in all forms that have columns by name."""
    import pandas
    import polars
    import pyarrow

    columns = {name: [row[name] for row in rows] for name in rows[0]}
    yield "dict", columns
    yield "dicts", rows
    yield "pandas", pandas.DataFrame(columns)
    yield "polars", polars.DataFrame(columns)
    yield "lazy", polars.LazyFrame(columns)
    yield "arrow", pyarrow.table(columns)


THREE = {"kind": "odd-one-out", "items": ["left", "middle", "right"], "chosen": "odd"}
STUDY = (
    "subject,left,middle,right,odd,check\n"
    "ann,cat,car,dog,car,ok\n"
    "bob,bus,cow,car,cow,failed\n"
    "ann,NA,cow,dog,cow,ok\n"
    "bob,cat,,dog,cat,ok\n"
    "ann,cat,cow,bus,skip,ok\n"
    "ann,dog,#1,cat,#1,ok\n"
)


def named(t):
    return [tuple(t.names[leaf] for leaf in row) for row in t]


def counting(read, *args, **options):
    """What is read, and how many rows were left out by reason."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        found = read(*args, **options)
    counts = {}
    for warning in given:
        if isinstance(warning.message, SkippedRowsWarning):
            counts |= warning.message.counts
    return found, counts
