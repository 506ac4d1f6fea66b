"""Large files read block by block, beside the same files read at once."""

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.io import blocks, joined

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

CELLS = {
    "names": ["cat", "dog", "car", "bus", "cow"],
    "quoted": ["cat", 'a "b"', "x, y", "line\nbreak", "éàü"],
    "ids": ["0", "1", "2", "3", "4"],
    "codes": ["101", "7", "300", "44", "5"],
    "missing": ["cat", "dog", "car", "NA", ""],
    "header": ["cat", "dog", "car", "near", "far"],
    "ids and names": ["0", "1", "2", "3", "x"],
    "beyond": ["0", "1", "2", "3", "3000000000"],
}
LABELS = {"count": ["1", "2", "0.5"], "person": ["ann", "bob", "7"], "answer": ["1", "2", "b"]}


@st.composite
def tables(draw):
    """Columns of cells as text."""
    cells = CELLS[draw(st.sampled_from(sorted(CELLS)))]
    m = draw(st.integers(1, 60))
    some = st.permutations(cells).map(lambda row: row[:3])
    rows = draw(st.lists(some, min_size=m, max_size=m))
    if draw(st.booleans()):
        rows[draw(st.integers(0, m - 1))] = draw(
            st.sampled_from([["anchor", "near", "far"], [cells[0]] * 3, [cells[0], cells[1], "9"]])
        )
    table = {name: [row[at] for row in rows] for at, name in enumerate(("anchor", "near", "far"))}
    for name, words in LABELS.items():
        if draw(st.booleans()):
            kept = words[: draw(st.integers(1, 3))]
            table[name] = draw(st.lists(st.sampled_from(kept), min_size=m, max_size=m))
    return table


def written(table, path):
    if path.suffix == ".parquet":
        as_numbers = all(cell.isdigit() for name in ("anchor", "near", "far") for cell in table[name])
        columns = {
            name: [float(cell) for cell in cells]
            if name == "count"
            else [int(cell) for cell in cells]
            if as_numbers and name in ("anchor", "near", "far")
            else [cell or None for cell in cells]
            for name, cells in table.items()
        }
        pq.write_table(pa.table(columns), path, row_group_size=13)
        return
    lines = [list(table), *zip(*table.values(), strict=True)]
    text = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def outcome(path, **options):
    """The comparisons, or the error, and all warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = ordhc.read_answers(path, **options)
        except InputError as error:
            found = str(error)
    return found, [str(warning.message) for warning in told if issubclass(warning.category, OrdhcWarning)]


@settings(deadline=None)
@given(tables(), st.sampled_from(["a.csv", "a.csv.gz", "a.parquet"]), st.booleans(), st.booleans())
def test_blocks_give_what_the_whole_file_gives(tmp_path_factory, table, name, skip_bad, is_named):
    path = tmp_path_factory.mktemp("joined") / name
    written(table, path)
    options = {"skip_bad": skip_bad}
    if is_named:
        options["names"] = ["dog", "cat", "car", "bus", "cow", "near", "far", "9", "x"]
    expected = outcome(path, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joined, "LARGE", 0)
        patch.setattr(blocks, "BYTES", 90)
        patch.setattr(blocks, "BEGINNING", 2)
        patch.setattr(blocks, "ROWS", 5)
        found = outcome(path, **options)
    assert found == expected
    if not isinstance(found[0], str):
        assert found[0].rows.dtype == np.int32
        assert found[0].group_names == expected[0].group_names


def test_blocks_are_joined(tmp_path, monkeypatch):
    """The comparison above would say nothing if all files were read at once."""
    path = tmp_path / "a.csv"
    path.write_text("anchor,near,far,person\n" + "a,b,c,ann\nb,a,c,bob\nc,b,a,ann\n" * 40)
    monkeypatch.setattr(joined, "LARGE", 0)
    monkeypatch.setattr(blocks, "BYTES", 90)
    monkeypatch.setattr(ordhc.io.comparisons, "read_content", None)
    found = ordhc.read_answers(path)
    assert (len(found), found.names, found.group_names) == (120, ("a", "b", "c"), ("ann", "bob"))


def test_unpacked_bytes_are_limited(tmp_path, monkeypatch):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"anchor,near,far\n" + b"a,b,c\n" * 10_000))
    monkeypatch.setattr(joined, "LARGE", 0)
    monkeypatch.setenv("ORDHC_MAX_UNPACKED", "20K")
    with pytest.raises(InputError, match="unpacks to more than 20,480 bytes"):
        ordhc.read_answers(path)


def test_a_growing_array_has_all_rows():
    random = np.random.default_rng(0)
    parts = [random.integers(0, 9, (size, 3)) for size in random.integers(0, 50, 40)]
    grown = joined.Growing(np.int32, 3)
    for part in parts:
        grown.add(part)
    np.testing.assert_array_equal(grown.array(), np.concatenate(parts))
