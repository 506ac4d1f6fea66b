"""Comparisons in files, block by block, beside everything read at once."""

import gzip
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import InputError
from ordhc.io import blocks
from support.random_data import planted, random_comparisons

pa = pytest.importorskip("pyarrow")
pytest.importorskip("scipy")
import pyarrow.parquet as pq  # noqa: E402

NAMES = [*"abcdefgh", "1", "2", 'quo"ted', "with, comma", "line\nbreak", "éàü", " blank "]


def write(path, rows, columns, *, weights=None, persons=None, row_group=None, header=True):
    """A csv, tsv, packed or Parquet file of rows of cells."""
    table = {name: [row[at] for row in rows] for at, name in enumerate(columns)}
    if weights is not None:
        table["count"] = list(weights)
    if persons is not None:
        table["person"] = list(persons)
    if path.name.endswith(".parquet"):
        pq.write_table(pa.table(table), path, row_group_size=row_group or max(1, len(rows)))
        return path
    separator = "\t" if ".tsv" in path.name else ","
    quoted = [
        ['"' + str(cell).replace('"', '""') + '"' for cell in row]
        for row in zip(*table.values(), strict=True)
    ]
    lines = [separator.join(row) for row in ([list(table), *quoted] if header else quoted)]
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if path.name.endswith(".gz") else text)
    return path


def small_blocks(monkeypatch, n_bytes, n_rows):
    monkeypatch.setattr(blocks, "BYTES", n_bytes)
    monkeypatch.setattr(blocks, "ROWS", n_rows)


def same(scan, twin):
    """Whether a scan and everything at once give the same, bit for bit."""
    assert scan.n_leaves == twin.n_leaves
    assert scan.names == twin.names
    assert len(scan) == len(twin)
    assert scan.read() == twin
    name = "adds3" if isinstance(twin, ordhc.Triplets) else "adds4"
    for layout in ("condensed", "square"):
        np.testing.assert_array_equal(
            ordhc.similarity(scan, name, layout=layout),
            ordhc.similarity(twin, name, layout=layout),
            strict=True,
        )
    found, expected = (ordhc.similarity(data, name, layout="sparse") for data in (scan, twin))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def same_tree(scan, twin, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = ordhc.cluster(scan, **options), ordhc.cluster(twin, **options)
    np.testing.assert_array_equal(found.merges, expected.merges)
    np.testing.assert_array_equal(found.heights, expected.heights)
    assert found.names == expected.names
    assert found.settings == expected.settings
    return found


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet"])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("weighted", [None, "whole", "fractions"])
@pytest.mark.parametrize("quadruplets", [False, True])
def test_as_everything_at_once(tmp_path, monkeypatch, ending, named, weighted, quadruplets):
    small_blocks(monkeypatch, 64, 7)
    data = random_comparisons(13, 200, seed=1, quadruplets=quadruplets)
    rows = [[NAMES[leaf] if named else leaf for leaf in row] for row in data]
    generator = np.random.default_rng(2)
    weights = {
        None: None,
        "whole": generator.integers(0, 5, len(rows)),
        "fractions": generator.random(len(rows)) * 10.0 ** generator.integers(-3, 4, len(rows)),
    }[weighted]
    persons = generator.choice(["ann", "bob", "cy"], len(rows))
    columns = ["i", "j", "k", "l"] if quadruplets else ["anchor", "near", "far"]
    if named:
        columns = [f"{name}_name" for name in columns]
    cuts = [0, 1, 90, len(rows)]
    for at, (start, end) in enumerate(zip(cuts, cuts[1:])):
        part = slice(start, end)
        write(
            tmp_path / f"part{at}.{ending}",
            rows[part],
            columns,
            weights=None if weights is None else weights[part],
            persons=persons[part],
            row_group=20,
        )
    kind = ordhc.Quadruplets if quadruplets else ordhc.Triplets
    whole = write(tmp_path / "all.csv", rows, columns, weights=weights, persons=persons)
    twin = (ordhc.read_quadruplets if quadruplets else ordhc.read_triplets)(whole)
    whole.unlink()
    assert isinstance(twin, kind)
    scan = ordhc.scan(tmp_path, quadruplets=quadruplets)
    assert len(list(scan)) > 10
    same(scan, twin)
    tree = same_tree(scan, twin, refine=False)
    for linkage in ("single", "complete", "ward", "weighted"):
        same_tree(scan, twin, linkage=linkage)
    same_tree(scan, twin, initial_clusters=np.arange(13) // 2, refine=False)
    if weighted != "fractions":
        # With fractions in memory rows are sorted by what they say first, which rounds sums otherwise.
        same_tree(scan, twin)
        same_tree(scan, twin, tie_seed=3, refine=False)
        same_tree(scan, twin, method="adds4-al", refine="revenue")
    for metric in (None, "satisfied"):
        assert ordhc.score(tree, scan, metric) == ordhc.score(tree, twin, metric)
    metric = ordhc.metrics.quadruplet_revenue
    assert metric(tree, scan, normalize=True) == metric(tree, twin, normalize=True)
    same(pickle.loads(pickle.dumps(scan)), twin)
