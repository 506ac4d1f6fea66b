"""Comparisons in files, block by block, beside everything read at once."""

import gzip
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.io import blocks
from ordhc.plugins import registry
from ordhc.similarities import blockwise, triangles
from support.random_data import random_comparisons
from support.scans import same_bits, same_similarity, same_tree

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
    monkeypatch.setattr(triangles, "GATHERED", 3 * n_rows + 1)


def same(scan, twin):
    """Whether a scan and everything at once give the same, bit for bit."""
    assert scan.n_leaves == twin.n_leaves
    assert scan.names == twin.names
    assert len(scan) == len(twin)
    assert scan.read() == twin
    same_similarity(scan, twin, f"adds{twin.rows.shape[1]}")


#: Each ending with each kind of weights; with these, and with each other, names and quadruplets in turn.
FORMS = [
    (ending, (e + w) % 2 == 1, weighted, (e // 2 + w) % 2 == 1)
    for e, ending in enumerate(["csv", "tsv", "csv.gz", "parquet"])
    for w, weighted in enumerate([None, "whole", "fractions"])
]


@pytest.mark.parametrize(("ending", "named", "weighted", "quadruplets"), FORMS)
def test_as_everything_at_once(tmp_path, monkeypatch, ending, named, weighted, quadruplets):
    small_blocks(monkeypatch, 64, 7)
    data = random_comparisons(13, 160, seed=1, quadruplets=quadruplets)
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
    cuts = [0, 1, 40, len(rows)]
    for at, (start, end) in enumerate(pairwise(cuts)):
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
    asked = "pairs" if quadruplets else "triplet"
    twin = ordhc.read_answers(whole, asked)
    whole.unlink()
    assert isinstance(twin, kind)
    scan = ordhc.scan(tmp_path, "pairs" if quadruplets else "triplet")
    assert len(list(scan)) > 8
    same(scan, twin)
    tree = same_tree(scan, twin, method=f"adds{twin.rows.shape[1]}-al")
    for linkage in ("single", "ward"):
        same_tree(scan, twin, linkage=linkage)
    same_tree(scan, twin, method="adds4-al", initial_clusters=np.arange(13) // 2)
    if weighted != "fractions":
        # With fractions in memory rows are sorted by what they say first, which rounds sums otherwise.
        same_tree(scan, twin, method=f"adds{twin.rows.shape[1]}-al+spr")
        same_tree(scan, twin, method="adds4-al", tie_seed=3)
        same_tree(scan, twin, method="adds4-al+spr")
    for metric in (None, "satisfied"):
        assert ordhc.score(tree, scan, metric) == ordhc.score(tree, twin, metric)
    metric = ordhc.metrics.quadruplet_revenue
    assert metric(tree, scan, normalize=True) == metric(tree, twin, normalize=True)
    same(pickle.loads(pickle.dumps(scan)), twin)


def people(tmp_path, *, weights=None, quadruplets=False, parts=3, n=13, m=200, seed=1):
    """Files of answers of five people, and the same in memory with the file of each row."""
    data = random_comparisons(n, m, seed=seed, quadruplets=quadruplets)
    rows = [[NAMES[leaf] for leaf in row] for row in data]
    persons = np.random.default_rng(seed).choice(["ann", "bob", "cy", "di", "ed"], len(rows))
    columns = ["i", "j", "k", "l"] if quadruplets else ["anchor", "near", "far"]
    columns = [f"{name}_name" for name in columns]
    bounds = np.linspace(0, len(rows), parts + 1).astype(int)
    for at, (start, end) in enumerate(pairwise(bounds)):
        part = slice(start, end)
        write(
            tmp_path / f"{at}.parquet",
            rows[part],
            columns,
            weights=None if weights is None else weights[part],
            persons=persons[part],
            row_group=30,
        )
    scan = ordhc.scan(tmp_path, "pairs" if quadruplets else "triplet")
    return scan, scan.read(), np.repeat(np.arange(parts), np.diff(bounds))


def same_bootstrap(found, expected):
    for a, b in zip((found.tree, *found.trees), (expected.tree, *expected.trees), strict=True):
        same_bits(a, b)
    for name, scores in expected.scores.items():
        np.testing.assert_array_equal(found.scores[name], scores)
    # Scans have no score of whole answers.
    assert found.intervals == {name: each for name, each in expected.intervals.items() if name != "answers"}
    assert (found.chance, found.consensus) == (expected.chance, expected.consensus)


@pytest.mark.parametrize(
    ("quadruplets", "unit", "options"),
    [
        (False, "group", {"method": "adds4-al"}),
        (False, "file", {}),
        (True, "group", {}),
        (True, "file", {"linkage": "ward"}),
        (False, "group", {"method": "adds4-al+spr"}),
        (True, "file", {"method": "adds4-al+spr"}),
    ],
)
def test_resamples_of_people_and_files(tmp_path, quadruplets, unit, options):
    scan, twin, files = people(tmp_path, quadruplets=quadruplets)
    by = {"unit": "group"} if unit == "group" else {"group": files}
    expected = ordhc.bootstrap(twin, n_resamples=3, **by, **options)
    found = ordhc.bootstrap(scan, n_resamples=3, unit=unit, **options)
    same_bootstrap(found, expected)
    assert found.unit == unit


@pytest.mark.parametrize("unit", ["group", "file"])
def test_folds_of_people_and_files(tmp_path, unit):
    scan, twin, files = people(tmp_path, parts=4)
    methods = ["adds3-al+spr", "adds4-al", "mulk3-al"]
    found = ordhc.select(scan, methods, folds=3, unit=unit)
    by = {"unit": "group"} if unit == "group" else {"group": files}
    expected = ordhc.select(twin, methods, folds=3, **by)
    for a, b in zip(found.candidates, expected.candidates, strict=True):
        assert (a.method, a.revenue, a.satisfied, a.chance) == (b.method, b.revenue, b.satisfied, b.chance)


def test_which_methods_are_compared_of_a_scan(tmp_path):
    scan, _, _ = people(tmp_path, m=100)
    found = ordhc.select(scan, folds=2)
    assert found.unit == "group"
    assert {c.method for c in found.candidates} == {
        "adds3-al",
        "adds3-al+spr",
        "adds3-al+lengths+spr",
        "mulk3-al",
    }


def test_rows_that_cannot_be_used(tmp_path, monkeypatch):
    small_blocks(monkeypatch, 200, 7)
    good = [[leaf % 9, (leaf + 1) % 9, (leaf + 3) % 9] for leaf in range(300)]
    for ending in ("csv", "csv.gz", "parquet"):
        folder = tmp_path / ending
        folder.mkdir()
        write(folder / f"a.{ending}", good, ["anchor", "near", "far"], row_group=50)
        bad = [list(row) for row in good]
        bad[200] = [4, 5, 4]
        path = write(folder / f"b.{ending}", bad, ["anchor", "near", "far"], row_group=50)
        place = f"{path}: row 200: " if ending == "parquet" else f"{path}:202: "
        with pytest.raises(InputError, match="leaf 4 occurs twice in") as found:
            ordhc.similarity(ordhc.scan(folder))
        assert str(found.value).startswith(place)
        with pytest.raises(InputError, match="leaf 6 is outside 0..=5") as found:
            ordhc.similarity(ordhc.scan(folder, n_leaves=6))
        scan = ordhc.scan(folder, skip_bad=True)
        with pytest.warns(OrdhcWarning, match="1 of 600 rows are bad and are skipped: .*leaf 4 occurs twice"):
            assert len(scan) == 599
        assert len(scan.read()) == 599


def test_missing_leaves_are_counted_once(tmp_path, monkeypatch):
    small_blocks(monkeypatch, 200, 7)
    rows = [["cat", "dog", "cow" if at % 10 else "NA"] for at in range(100)]
    write(tmp_path / "a.csv", rows, ["anchor", "near", "far"])
    write(tmp_path / "b.parquet", rows, ["anchor", "near", "far"])
    scan = ordhc.scan(tmp_path)
    with pytest.warns(OrdhcWarning, match="20 of 200 rows have a missing leaf \\(20 `NA`\\)") as found:
        assert len(scan) == 180
    ordhc.similarity(scan)
    assert len(found) == 1
    assert found[0].message.counts == {"with `NA` for an item": 20}
    assert ordhc.scan(tmp_path, na=[]).names == ("cat", "dog", "NA", "cow")


def test_files_that_do_not_fit_together(tmp_path):
    write(tmp_path / "a.csv", [["cat", "dog", "cow"]], ["anchor", "near", "far"])
    write(tmp_path / "b.csv", [[0, 1, 2]], ["anchor", "near", "far"])
    with pytest.raises(InputError, match="b.csv: has ids, but .*a.csv has names"):
        len(ordhc.scan(tmp_path))
    write(tmp_path / "b.csv", [["cat", "dog", "cow"]], ["anchor", "near", "far"], persons=["ann"])
    with pytest.raises(InputError, match="a.csv has no column of persons, but .*b.csv has one"):
        len(ordhc.scan(tmp_path))
    write(tmp_path / "b.csv", [["cat", "dog", "cow"]], ["anchor", "near", "far"], weights=[2.5])
    assert ordhc.scan(tmp_path).read().weights.tolist() == [1, 2.5]
    scan = ordhc.scan(tmp_path)
    assert len(scan) == 2
    write(tmp_path / "b.csv", [["cat", "dog", "cow"]] * 3, ["anchor", "near", "far"])
    with pytest.raises(InputError, match="b.csv: the file has changed since it was scanned"):
        scan.read()


def test_paths(tmp_path):
    for name in ("b.csv", "a.tsv", ".hidden.csv", "_log.csv", "notes.md"):
        write(tmp_path / name, [[0, 1, 2]], ["anchor", "near", "far"])
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "c.csv", [[0, 1, 2]], ["anchor", "near", "far"])
    names = lambda scan: [path.removeprefix(f"{tmp_path}/") for path in scan.files]  # noqa: E731
    assert names(ordhc.scan(tmp_path)) == ["a.tsv", "b.csv", "deep/c.csv"]
    assert names(ordhc.scan(tmp_path / "*.csv")) == ["_log.csv", "b.csv"]
    assert names(ordhc.scan([tmp_path / "b.csv", tmp_path / "deep"])) == ["b.csv", "deep/c.csv"]
    for paths, told in [
        ([], "paths is empty"),
        (tmp_path / "*.parquet", "no file matches the pattern"),
        (tmp_path / "notes.md", "a scan reads .csv"),
        ([tmp_path, tmp_path / "b.csv"], "is given twice"),
        (3, "paths"),
    ]:
        with pytest.raises(InputError, match=told):
            ordhc.scan(paths)
    with pytest.raises(FileNotFoundError, match="nowhere.csv: there is no such file"):
        ordhc.scan(tmp_path / "nowhere.csv")


def test_methods_that_need_all_answers_say_so(tmp_path, monkeypatch):
    scan = ordhc.scan(write(tmp_path / "a.csv", [[0, 1, 2], [1, 0, 3]], ["anchor", "near", "far"]))
    for method in ("mulk4-al", "3-al", "build", "posterior-al"):
        with pytest.raises(InputError, match="needs? all answers in memory, scan.read\\(\\)"):
            ordhc.cluster(scan, method=method)
        with pytest.raises(InputError, match="needs? all answers in memory, scan.read\\(\\)"):
            ordhc.bootstrap(scan, method=method)
    spec = ordhc.specs.MethodSpec(
        name="s", summary="s", similarity="adds3", linkage="average", refine="satisfied"
    )
    monkeypatch.setitem(registry._load().known, ("method", "s"), spec)
    with pytest.raises(InputError, match="by 'satisfied' read answers many times"):
        ordhc.cluster(scan, method="s")
    with pytest.raises(InputError, match="for a scan, give .group. .rows of a person. or .file."):
        ordhc.bootstrap(scan, unit="answer")
    with pytest.raises(
        InputError, match=r"takes no scan \(only triplet_revenue, quadruplet_revenue, satisfied do\)"
    ):
        ordhc.score("((0,1),(2,3));", scan, "aari")
    with pytest.raises(InputError, match="memory is '1B'; it must be at least 16MB"):
        ordhc.scan(tmp_path, memory="1B")


cells = st.sampled_from(["0", "1", "2", "cat", "a,b", 'q"q', "x\ny", " z ", "NA", ""])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.tuples(cells, cells, cells), min_size=40, max_size=90), st.integers(30, 300), st.booleans()
)
def test_any_text_in_any_blocks(tmp_path_factory, rows, size, quoted):
    folder = tmp_path_factory.mktemp("any")
    text = "anchor_name,near_name,far_name\n" if quoted else "anchor,near,far\n"
    quote = lambda cell: '"' + cell.replace('"', '""') + '"'  # noqa: E731
    text += "".join(",".join(map(quote, row)) + "\n" for row in rows)
    (folder / "a.csv").write_text(text)

    def told(make):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return make()
            except InputError as error:
                return error.reason.split(";")[0].split("(")[0], error.line

    expected = told(lambda: ordhc.read_answers(folder / "a.csv"))
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch, size, 7)
        found = told(lambda: ordhc.scan(folder / "a.csv").read())
    if isinstance(expected, ordhc.Triplets) or isinstance(found, ordhc.Triplets):
        assert found == expected


@pytest.mark.parametrize(("weighted", "per_row"), [(False, 2_000_000), (True, 120), (True, 2_000_000)])
def test_mulk3_by_blocks(tmp_path, monkeypatch, weighted, per_row):
    monkeypatch.setattr(blockwise, "PER_ROW", per_row)
    weights = None if not weighted else np.random.default_rng(0).integers(0, 5, 200)
    scan, twin, _ = people(tmp_path, weights=weights)
    few = ordhc.scan(tmp_path, memory="16MB")
    for options in ({}, {"normalize": False}):
        for layout in ("condensed", "square"):
            found = ordhc.similarity(few, "mulk3", layout=layout, **options)
            np.testing.assert_array_equal(found, ordhc.similarity(twin, "mulk3", layout=layout, **options))
    same_tree(scan, twin, method="mulk3-al")
    same_tree(scan, twin, method="mulk3-al+spr")
    same_bootstrap(
        ordhc.bootstrap(scan, method="mulk3-al", n_resamples=3),
        ordhc.bootstrap(twin, method="mulk3-al", n_resamples=3, unit="group"),
    )
