"""Parquet files of some kilobytes whose text would take gigabytes."""

import subprocess
import sys

import numpy as np
import pytest

import ordhc
from ordhc.errors import OrdhcWarning

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
resource = pytest.importorskip("resource")

ROWS = 20_000
#: What reading may take: the engine, pyarrow and its threads map much more than they use.
LIMIT = 6_000_000_000
READ = """
import resource, sys, warnings
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
warnings.simplefilter("ignore")
import ordhc
readers = dict(whole=ordhc.read_answers, scan=lambda path: ordhc.scan(path).read(),
               table=lambda path: ordhc.read_answers(path, exclude=dict(near="none")))
for name in ("whole", "scan", "table"):
    try:
        print(name, readers[name](sys.argv[1]).n_leaves, flush=True)
    except ordhc.errors.InputError as error:
        print(name, error, flush=True)
"""


def columns(**others):
    return {name: pyarrow.array([name[0]] * ROWS) for name in ("anchor", "near", "far")} | others


@pytest.mark.parametrize("bomb", ["dictionary", "groups", "plain schema", "person", "delta"])
def test_text_that_is_stored_once_is_kept_once(tmp_path, bomb):
    size = 60_000 if bomb == "delta" else 1_000_000
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(ROWS, np.int32)), ["x" * size])
    how = {"groups": {"row_group_size": 1000}, "plain schema": {"store_schema": False}}.get(bomb, {})
    table = columns(**{"person" if bomb == "person" else "anchor": text})
    if bomb == "delta":
        # In memory the text is there a hundred times, in the file once.
        part = pyarrow.array(["x" * size] * 100, pyarrow.large_string())
        table["anchor"] = pyarrow.chunked_array([part] * (ROWS // 100))
        how = {"use_dictionary": ["near", "far"], "column_encoding": {"anchor": "DELTA_BYTE_ARRAY"}}
    path = tmp_path / "bomb.parquet"
    parquet.write_table(pyarrow.table(table), path, **how)
    assert path.stat().st_size < 2_000_000
    del table, text
    command = [sys.executable, "-c", READ.format(limit=LIMIT), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = done.stdout.splitlines()
    assert [line.split()[0] for line in told] == ["whole", "scan", "table"], done.stderr
    for line in told:
        if bomb == "delta" and not line.startswith("scan "):
            assert "unpacks to more than 1,073,741,824 bytes" in line
        else:
            assert line.split()[1:] == ["3"]


@pytest.mark.parametrize("store_schema", [True, False])
def test_coded_text_is_read_as_text(tmp_path, store_schema):
    rng = np.random.default_rng(0)
    words = ["cat", "dog", "é", "x" * 50, "cow", "bee", "ant", "fly", "", None]
    # Most rows have all leaves, some have a blank or none.
    rows = [[words[at] for at in rng.choice(8, 3, replace=False)] for _ in range(500)]
    for row in rows[::9]:
        row[1] = words[8]
    for row in rows[::11]:
        row[2] = None
    names = ("anchor", "near", "far")
    person = [words[at] for at in rng.choice(10, 500)]
    parts = [pyarrow.array(list(part)) for part in (*zip(*rows, strict=True), person)]
    table = pyarrow.table(dict(zip((*names, "person"), parts, strict=True)))
    plain, coded = tmp_path / "plain.parquet", tmp_path / "coded.parquet"
    parquet.write_table(table, plain, use_dictionary=False, row_group_size=70)
    for name in (*names, "person"):
        at = table.column_names.index(name)
        table = table.set_column(at, name, table[name].dictionary_encode())
    parquet.write_table(table, coded, row_group_size=50, store_schema=store_schema)
    readers = {
        "whole": ordhc.read_answers,
        "scan": lambda path: ordhc.scan(path).read(),
        "table": lambda path: ordhc.read_answers(path, exclude={"person": "cat"}),
    }
    for name, read in readers.items():
        with pytest.warns(OrdhcWarning, match="missing leaf|left out"):
            found = [read(plain), read(coded)]
        assert found[0] == found[1], name
        assert set(found[0].names) == set(words[:8])
