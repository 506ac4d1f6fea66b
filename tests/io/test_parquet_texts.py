"""Names and persons in Parquet: however text is stored, the same comparisons as cell by cell."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.comparison.units import first_rows, numbered
from ordhc.errors import InputError, SkippedRowsWarning
from support.reply_twins import named

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

LEAVES = ("anchor", "near", "far")
WORDS = ["cat", "Dog", " cow ", "é", "e\u0301", "漢字", "x" * 40, "a\0b", "0"]
GONE = [None, "", "  ", "NA", " null"]
KINDS = (
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string()),
)
STORED = (
    {},
    {"use_dictionary": False},
    {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
)


def column(cells, kind, unused):
    """A column of some type; dictionaries have another order, and texts without rows."""
    if not pyarrow.types.is_dictionary(kind):
        return pyarrow.array(cells, kind)
    texts = [*unused, *sorted({cell for cell in cells if cell is not None}, key=lambda text: text[::-1])]
    places = [None if cell is None else texts.index(cell) for cell in cells]
    return pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(places, kind.index_type), pyarrow.array(texts, kind.value_type)
    )


def naive(rows, persons):
    """What should come out: names, rows, persons by row, and which rows are passed over."""
    lost = [at for at, row in enumerate(rows) if any(cell in GONE for cell in row)]
    kept = [at for at in range(len(rows)) if at not in lost]
    names = list(dict.fromkeys(cell for at in kept for cell in rows[at]))
    who = [persons[at] or "" for at in kept]
    return names, [tuple(rows[at]) for at in kept], list(dict.fromkeys(who)), who, lost


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_same_as_cell_by_cell(tmp_path_factory, data):
    rows = data.draw(st.lists(st.permutations(WORDS).map(lambda order: list(order[:3])), min_size=3))
    for at in data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=(len(rows) - 1) // 2)):
        rows[at][data.draw(st.integers(0, 2))] = data.draw(st.sampled_from(GONE))
    some = st.sampled_from([*WORDS, *GONE])
    persons = data.draw(st.lists(some, min_size=len(rows), max_size=len(rows)))
    how = data.draw(st.sampled_from(STORED))
    # pyarrow reads no dictionaries that are stored as differences.
    kinds = KINDS[:2] if "column_encoding" in how else KINDS
    parts = {}
    for name, cells in zip((*LEAVES, "person"), (*map(list, zip(*rows, strict=True)), persons), strict=True):
        kind = data.draw(st.sampled_from(kinds))
        parts[name] = column(cells, kind, data.draw(st.lists(st.sampled_from(["lion", "cat\n"]))))
    path = tmp_path_factory.mktemp("texts") / "answers.parquet"
    store_schema = data.draw(st.booleans())
    groups = data.draw(st.integers(1, len(rows)))
    parquet.write_table(pyarrow.table(parts), path, row_group_size=groups, store_schema=store_schema, **how)
    names, expected, people, who, lost = naive(rows, persons)
    for read in (ordhc.read_answers, lambda path: ordhc.scan(path).read()):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = read(path)
        assert found.names == tuple(names)
        assert named(found) == expected
        assert found.group_names == tuple(people)
        assert [found.group_names[group] for group in found.groups] == who
        skipped = [each.message for each in told if isinstance(each.message, SkippedRowsWarning)]
        assert [row for row, _ in skipped[0].rows] == lost if lost else not skipped
        for at, word in skipped[0].rows if lost else []:
            first = next(cell for cell in rows[at] if cell in GONE)
            assert word == (first or "").strip()


def test_dictionaries_differ_between_row_groups(tmp_path):
    path = tmp_path / "answers.parquet"
    parts = [("cat", "dog", "cow"), ("dog", "cat", "bee"), ("bee", "ant", "cow")] * 2
    schema = pyarrow.schema(
        [(name, pyarrow.dictionary(pyarrow.int32(), pyarrow.string())) for name in LEAVES]
    )
    with parquet.ParquetWriter(path, schema) as writer:
        for row in parts:
            writer.write_table(
                pyarrow.table([column([cell], KINDS[3], []) for cell in row], LEAVES).cast(schema)
            )
    for read in (ordhc.read_answers, lambda path: ordhc.scan(path).read()):
        found = read(path)
        assert found.names == ("cat", "dog", "cow", "bee", "ant")
        assert named(found) == parts


@pytest.mark.filterwarnings("ignore::ordhc.errors.SkippedRowsWarning")
def test_errors_name_the_row(tmp_path):
    path = tmp_path / "answers.parquet"
    table = {"anchor": ["a", None, "b"], "near": ["b", "a", "b"], "far": ["c", "c", "c"]}
    parquet.write_table(pyarrow.table(table), path, row_group_size=2)
    for read in (ordhc.read_answers, lambda path, **how: ordhc.scan(path, **how).read()):
        with pytest.raises(InputError, match="leaf 'b' occurs twice") as refused:
            read(path)
        assert refused.value.row == 2
        with pytest.raises(InputError, match="the name 'c' is unknown") as refused:
            read(path, names=["a", "b"])
        assert refused.value.row == 0
    parquet.write_table(pyarrow.table({**table, "far": [None, 7, 8]}), path)
    for read in (ordhc.read_answers, lambda path: ordhc.scan(path).read()):
        with pytest.raises(InputError, match="far is 8, but the first cell is 'b': give ids") as refused:
            read(path)
        assert refused.value.row == 2


@given(st.lists(st.integers(-2, 12)), st.sampled_from([np.int32, np.int64, np.uint8]))
@settings(deadline=None)
def test_numbers_are_in_order_of_first_appearance(values, dtype):
    values = [abs(value) for value in values] if dtype is np.uint8 else values
    codes, found = numbered(np.array(values, dtype=dtype))
    assert (found.tolist(), found.dtype) == (list(dict.fromkeys(values)), dtype)
    assert [found[code] for code in codes] == values


def test_first_rows_far_down():
    places = np.zeros(100_000, dtype=np.int32)
    places[[4095, 4096, 70_000, 99_999]] = 1, 2, 3, 2
    assert first_rows(places, 5).tolist() == [0, 4095, 4096, 70_000, 100_000]
    assert first_rows(places[:0], 2).tolist() == [0, 0]
