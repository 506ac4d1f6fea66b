"""What is read from footers of Parquet files, beside what pyarrow reads, and footers with a bit turned."""

import io
import random

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.io.footer import row_groups_of

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from fuzz_readers import odd_parquet  # noqa: E402


def written(table, **options):
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


def of_ids(**options):
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(9)[:3] for _ in range(40)], dtype=np.int32)
    return written(pyarrow.table(dict(zip(("anchor", "near", "far"), rows.T, strict=True))), **options)


def same_as_pyarrow(data):
    told = parquet.ParquetFile(io.BytesIO(data)).metadata
    found = row_groups_of(pyarrow.BufferReader(data))
    assert [group.n_rows for group in found] == [
        told.row_group(at).num_rows for at in range(told.num_row_groups)
    ]
    for at, group in enumerate(found):
        assert len(group.columns) == told.num_columns
        for place, column in enumerate(group.columns):
            theirs = told.row_group(at).column(place)
            assert column.name == theirs.path_in_schema
            assert column.encodings == set(theirs.encodings)
            assert column.size == theirs.total_uncompressed_size
            if theirs.statistics is not None and theirs.statistics.has_null_count:
                assert column.n_missing == theirs.statistics.null_count
            if theirs.physical_type in ("INT32", "INT64") and theirs.statistics is not None:
                numbers = [
                    int.from_bytes(part, "little", signed=True) for part in (column.smallest, column.largest)
                ]
                assert numbers == [theirs.statistics.min_raw, theirs.statistics.max_raw]


@pytest.mark.parametrize("seed", range(60))
def test_the_same_as_pyarrow(seed):
    same_as_pyarrow(odd_parquet(random.Random(seed)))


def test_many_row_groups_columns_and_notes():
    table = pyarrow.table({f"c{at}": np.arange(50) for at in range(40)})
    table = table.replace_schema_metadata({f"k{at}": "v" * 300 for at in range(20)})
    same_as_pyarrow(written(table, row_group_size=3))
    same_as_pyarrow(written(table, use_dictionary=False, column_encoding="DELTA_BINARY_PACKED"))
    same_as_pyarrow(written(table.slice(0, 0)))
    same_as_pyarrow(written(table, write_statistics=False))


def outcome(read):
    """What comes out, or None if ordhc refuses it."""
    try:
        return read()
    except InputError:
        return None


@pytest.mark.parametrize("kind", ["names", "two row groups"])
def test_a_bit_of_the_footer_turned(kind, memory_path):
    # pyarrow's own look at a column's metadata ends the process at some of these.
    names = pyarrow.table({"anchor": ["a", "b", "c"], "near": ["b", "a", "a"], "far": ["c", "c", "b"]})
    data = {"names": written(names), "two row groups": of_ids(row_group_size=20)}[kind]
    length = int.from_bytes(data[-8:-4], "little")
    rng = random.Random(1)
    path = memory_path / "answers.parquet"
    results = errors = 0
    for place in range(len(data) - 8 - length, len(data) - 4):
        # The schema in full (as Arrow writes it into the footer's notes) is long: fewer bits.
        is_schema = place >= len(data) - 8 - length + 900
        if is_schema and place % 2:
            continue
        bit = rng.randrange(8)
        bad = bytearray(data)
        bad[place] ^= 1 << bit
        stream = io.BytesIO(bytes(bad))
        stream.name = "answers.parquet"
        found = outcome(lambda stream=stream: len(ordhc.read_answers(stream)))
        results, errors = results + (found is not None), errors + (found is None)
        if bit % 2:
            path.write_bytes(bad)
            outcome(lambda: len(ordhc.scan(path)))
    assert results > 100
    assert errors > 100


def test_a_footer_cut_short():
    for data, length in ((b"\x15" * 40, 30), (b"\x1c" * 400, 390)):
        with pytest.raises(pyarrow.ArrowInvalid, match="its footer is damaged"):
            row_groups_of(pyarrow.BufferReader(data + length.to_bytes(4, "little") + b"PAR1"))


@pytest.mark.parametrize("kind", ["int32", "int64", "uint32", "uint64", "int16", "uint8"])
@pytest.mark.parametrize("low", [0, 1])
def test_ids_of_every_type_are_surveyed_alike(kind, low, tmp_path):
    rows = np.array([[low, 2, 9], [3, 4, 5], [6, 7, 8], [9, 8, 1]])
    table = pyarrow.table(
        {name: pyarrow.array(rows[:, at], kind) for at, name in enumerate(("anchor", "near", "far"))}
    )
    path = tmp_path / "answers.parquet"
    path.write_bytes(written(table, row_group_size=2))
    scan = ordhc.scan(path)
    assert (len(scan), scan.n_leaves) == (4, 10)
