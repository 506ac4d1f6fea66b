"""Columns as codes: the same cells, rows and mistakes as cell by cell."""

import io

import numpy as np
import pytest

from ordhc.comparison.coded import Column, together
from ordhc.comparison.tables import table_of, tidy
from ordhc.errors import SkippedRowsWarning
from ordhc.io import read_answers


@pytest.mark.parametrize(
    "cells",
    [
        ["cat", " cat", "", None, "dog", "cat "],
        [1, 1.0, 2.5, float("nan"), None, 1],
        [True, 1, "True", False, 0.0, "1"],
        [[1, 2], "[1, 2]", None, (1, 2)],
        [],
    ],
)
def test_coded_cells_are_the_cells_tidied_one_by_one(cells):
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    found = table_of({"x": column}).cells("x")
    expected = [tidy(cell) for cell in cells]
    assert found == expected
    assert [type(cell) for cell in found] == [type(cell) for cell in expected]


def test_cells_without_a_row_are_not_used():
    column = Column(["cat", "dog", "bus"], np.array([2, -1, 0, 2], dtype=np.int32))
    assert column.used() == ["cat", "bus", None]
    assert column[np.array([0, 3])].used() == ["bus"]
    assert column.mapped(lambda cell: None if cell == "bus" else "same").tolist() == [
        None,
        "same",
        "same",
        None,
    ]
    different, places = together([column, Column(["bus"], np.array([0, 0, 0, -1], dtype=np.int32))])
    assert [[different[at] for at in row] for row in places[[0, 2]]] == [["bus", "bus"], ["cat", "bus"]]


@pytest.mark.parametrize("how", ["name", "column", "place", "place0"])
@pytest.mark.parametrize("names", [[f"item {at}" for at in range(9)], [str(at) for at in range(9)]])
def test_answers_that_are_chosen_are_those_in_order(how, names):
    random = np.random.default_rng(7)
    rows = np.array([random.permutation(9)[:3] for _ in range(200)])
    chosen, columns = random.integers(0, 3, 200), ("left", "middle", "right")
    told = {
        "name": lambda row, at: names[row[at]],
        "column": lambda row, at: columns[at],
        "place": lambda row, at: at + 1,
        "place0": lambda row, at: at,
    }[how]
    lines, in_order = ["left,middle,right,key,who"], ["odd,a,b,who"]
    for at, (row, place) in enumerate(zip(rows.tolist(), chosen.tolist(), strict=True)):
        items = [names[leaf] for leaf in row]
        lines.append(",".join([*items, str(told(row, place)), f"p{at % 7}"]))
        rest = [item for other, item in enumerate(items) if other != place]
        in_order.append(",".join([items[place], *rest, f"p{at % 7}"]))
    found = read_answers(
        io.StringIO("\n".join(lines)), "odd-one-out", items=columns, chosen="key", chosen_as=how, person="who"
    )
    expected = read_answers(io.StringIO("\n".join(in_order)), "odd-one-out", person="who")
    assert found == expected


def test_text_with_short_rows_and_repeated_headers_is_cut_as_it_stands():
    text = 'a,b,c,"key"\n"x, 1",y,z,y\na,b,"c",key\ny,z\nz,y,"x, 1",z\n'
    with pytest.warns(
        SkippedRowsWarning, match=r"2 of 4 rows are left out: 1 that repeat the header \(line 3\)"
    ):
        found = read_answers(io.StringIO(text), "odd-one-out", ["a", "b", "c"], "key", skip_bad=True)
    assert set(found.names) == {"x, 1", "y", "z"}
    assert len(found) == 4
