"""Ids in files that are codes of items, or are counted from another number than 0."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from support.few_rounds import with_few_sweeps
from support.processes import run
from support.reply_twins import named

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COLUMNS = ("anchor", "near", "far")


def doors(folder, rows):
    """Every way in which three columns of whole numbers come from a file or a frame."""
    text = ",".join(COLUMNS) + "\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    (folder / "codes.csv").write_text(text)
    (folder / "codes.tsv").write_text(text.replace(",", "\t"))
    table = dict(zip(COLUMNS, np.array(rows, dtype=np.int64).T, strict=True))
    parquet.write_table(pyarrow.table(table), folder / "codes.parquet", row_group_size=2)
    np.savez(folder / "codes.npz", rows=np.array(rows, dtype=np.int64))
    odd = "a,b,c,odd\n" + "".join(f"{a},{b},{c},{c}\n" for a, b, c in rows)
    (folder / "odd.csv").write_text(odd)
    (folder / "rows.json").write_text(json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in rows]))
    for suffix in ("csv", "tsv", "parquet", "npz"):
        yield suffix, lambda path=folder / f"codes.{suffix}", **how: ordhc.read_answers(path, **how)
    # Every second triplet of an odd one out is (b, a, c).
    yield (
        "odd",
        lambda **how: ordhc.read_answers(
            folder / "odd.csv", "odd-one-out", ["a", "b", "c"], "odd", chosen_as="name", **how
        )[::2],
    )
    yield "json", lambda **how: ordhc.read_answers(folder / "rows.json", **how)
    yield "frame", lambda **how: ordhc.Triplets.from_frame(table, **how)
    yield (
        "records",
        lambda **how: ordhc.Triplets.from_frame(
            [dict(zip(COLUMNS, row, strict=True)) for row in rows], **how
        ),
    )
    yield "scan csv", lambda **how: ordhc.scan(folder / "codes.csv", **how).read()
    yield "scan parquet", lambda **how: ordhc.scan(folder / "codes.parquet", **how).read()


def rows_of(ids, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.choice(ids, 3, replace=False).tolist() for _ in range(6)]
    return [sorted(ids)[-3:], *rows, ids[:3]]


@given(
    ids=st.one_of(
        st.lists(st.integers(0, 3000), min_size=3, max_size=9, unique=True),
        st.integers(20, 10**9).map(lambda first: list(range(first, first + 6))),
        st.integers(3, 12).map(lambda n: list(range(n))),
        st.integers(3, 12).map(lambda n: list(range(1, n + 1))),
    ),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_codes_are_names_and_ids_stay_ids(tmp_path_factory, ids, seed):
    folder = tmp_path_factory.mktemp("codes")
    rows = rows_of(ids, seed)
    used = sorted({leaf for row in rows for leaf in row})
    as_names = 2 * len(used) < used[-1] + 1
    for door, read in doors(folder, rows):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = read()
        texts = [str(each.message) for each in told]
        if as_names:
            assert found.names == tuple(map(str, used)), door
            assert named(found) == [tuple(map(str, row)) for row in rows], door
            assert any(f"only {len(used)} of the ids 0..{used[-1]} occur" in text for text in texts), door
        else:
            assert found.names is None, door
            assert [tuple(row) for row in found] == [tuple(row) for row in rows], door
            assert not any("taken as names" in text for text in texts), door
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert [tuple(row) for row in read(n_leaves=used[-1] + 1)] == [tuple(row) for row in rows], door
            first = used[0]
            if used[-1] < 10_000:
                shifted = read(ids_from=first)
                assert shifted.n_leaves == used[-1] - first + 1
                assert [tuple(leaf + first for leaf in row) for row in shifted] == list(map(tuple, rows)), (
                    door
                )
            names = [str(leaf) for leaf in reversed(used)]
            assert named(read(names=names)) == [tuple(map(str, row)) for row in rows], door


def test_names_that_are_words_are_positions(tmp_path):
    for door, read in doors(tmp_path, [(1, 2, 3), (3, 2, 1)]):
        assert named(read(names=["x", "a", "b", "c"])) == [("a", "b", "c"), ("c", "b", "a")], door
        assert named(read(names=["a", "b", "c"], ids_from=1)) == [("a", "b", "c"), ("c", "b", "a")], door
        # Whole numbers as names, and ids among them that would be other leaves by position.
        assert named(read(names=["3", "2", "1", "0"])) == [("1", "2", "3"), ("3", "2", "1")], door
        assert named(read(names=["3", "2", "1", "0"], ids_from=0)) == [("2", "1", "0"), ("0", "1", "2")], door
        assert named(read(names=["003", "002", "001"])) == [("001", "002", "003"), ("003", "002", "001")], (
            door
        )


def test_what_is_refused(tmp_path):
    for door, read in doors(tmp_path, [(1, 2, 0), (0, 2, 1)]):
        with pytest.raises(InputError, match="id 1 is one of the names, but 0 is not; .*ids_from=0"):
            read(names=["1", "2", "3", "4"])
        with pytest.raises(InputError, match="leaf 0 is (below 1|outside 1..=2)"):
            read(ids_from=1)
        for wrong in (-1, 1.5, "1"):
            with pytest.raises(InputError, match="ids_from"):
                read(ids_from=wrong)
        assert len(read(ids_from=0)) == 2, door
    for _, read in doors(tmp_path, [(101, 102, 103), (102, 101, 104)]):
        with pytest.raises(InputError, match="the name '104' is unknown"):
            read(names=["101", "102", "103"])
        with pytest.raises(
            InputError, match=r"leaf 104 is outside 101..=103 \(n_leaves = 3, ids_from = 101\)"
        ):
            read(n_leaves=3, ids_from=101)
    words = tmp_path / "words.csv"
    words.write_text("anchor,near,far\na,b,c\n")
    for read in (ordhc.read_answers, lambda *a, **k: ordhc.scan(*a, **k).read()):
        with pytest.raises(InputError, match="ids_from is for ids, but the leaves have names"):
            read(words, ids_from=1)
    with pytest.raises(InputError, match="ids_from is for ids, but the leaves have names"):
        ordhc.Triplets.from_frame({"anchor": ["a"], "near": ["b"], "far": ["c"]}, ids_from=1)


def test_bad_rows_do_not_make_leaves(tmp_path):
    (tmp_path / "bad.csv").write_text("anchor,near,far\n101,102,103\n101,101,555\n-1,102,103\n103,102,101\n")
    for read in (
        lambda **how: ordhc.read_answers(tmp_path / "bad.csv", **how),
        lambda **how: ordhc.read_answers(tmp_path / "bad.csv", exclude={"anchor": "-1"}, **how),
        lambda **how: ordhc.scan(tmp_path / "bad.csv", **how).read(),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for how in ({}, {"names": ["103", "102", "101"]}):
                found = read(skip_bad=True, **how)
                assert named(found) == [("101", "102", "103"), ("103", "102", "101")]
                assert found.n_leaves == 3
        with pytest.raises(InputError, match="occurs twice|below 0"):
            read()


def test_a_code_for_no_answer_is_told(tmp_path):
    for door, read in doors(tmp_path, [(0, 1, 2), (2, 3, 99), (1, 3, 0)]):
        with pytest.warns(OrdhcWarning, match="leaf 99 is far above all others, which end at 3: .*--na 99"):
            assert read().n_leaves == 5, door
    for _, read in doors(tmp_path, [(0, 1, 2), (2, 3, 20_000_000), (1, 3, 0)]):
        with pytest.raises(InputError, match="leaf 20000000 is far above the 5 different ids"):
            read()


def test_several_files_tell_together(tmp_path):
    """A file whose ids look like codes is read as ids if other files hold most of the others."""
    (tmp_path / "a.csv").write_text("anchor,near,far\n7,8,9\n")
    (tmp_path / "b.csv").write_text("anchor,near,far\n0,1,2\n3,4,5\n")
    scan = ordhc.scan(tmp_path)
    assert (scan.names, scan.n_leaves) == (None, 10)
    (tmp_path / "b.csv").write_text("anchor,near,far\n0,1,2\n")
    (tmp_path / "a.csv").write_text("anchor,near,far\n7,8,15\n")
    scan = ordhc.scan(tmp_path)
    with pytest.warns(OrdhcWarning, match="only 6 of the ids 0..15"):
        assert scan.names == ("0", "1", "2", "7", "8", "15")
    assert named(scan.read()) == [("7", "8", "15"), ("0", "1", "2")]


def test_arrays_stay_ids_and_are_told():
    rows = [(101, 102, 103), (102, 101, 104)]
    for make in (ordhc.Triplets, ordhc.Triplets.from_odd_one_out, ordhc.Triplets.from_most_central):
        with pytest.warns(OrdhcWarning, match="only 4 of the ids 0..104 occur; .*give them as text"):
            assert make(rows).n_leaves == 105
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert make(rows, n_leaves=105).n_leaves == 105
    with pytest.warns(OrdhcWarning, match="only 4 of the ids 0..104 occur"):
        ordhc.Triplets(np.array(rows))
    with pytest.warns(OrdhcWarning, match="101 leaves have no answers"):
        model = ordhc.OrdinalClustering(n_leaves=105).fit(np.array(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.score(np.array(rows))


def test_recorded_answers_have_the_ids_of_the_items(tmp_path, capsys, monkeypatch):
    with_few_sweeps(monkeypatch)
    truth = ordhc.as_dendrogram("((a,b),(c,(d,e)));")
    leaf = {name: at for at, name in enumerate("abcde", start=1)}
    answers = ("abc", "bac", "abd", "dea", "dec", "eda", "edc", "cda", "ceb")
    rows = [[leaf[name] for name in answer] for answer in answers]
    for first in (0, 1, 101):
        text = "".join("{},{},{}\n".format(*(leaf - 1 + first for leaf in row)) for row in rows)
        (tmp_path / "answers.csv").write_text("anchor,near,far\n" + text)
        items = "id,name\n" + "".join(f"{leaf - 1 + first},{name}\n" for name, leaf in leaf.items())
        (tmp_path / "items.csv").write_text(items)
        known = ("learn", tmp_path / f"{first}.ordhc", "--oracle", "recorded", "--source")
        known = (*known, tmp_path / "answers.csv", "--method", "uncertain", "-o", tmp_path / "tree.nwk")
        code, _, err = run(capsys, *known, "--items", tmp_path / "items.csv", "--param", "missing=none")
        assert (code, "warning" in err) == (0, False), err
        tree = ordhc.read_tree(tmp_path / "tree.nwk")
        given = ordhc.read_answers(tmp_path / "answers.csv", names=tmp_path / "items.csv")
        assert ordhc.metrics.satisfied(tree, given).agreed == 1
        assert ordhc.metrics.robinson_foulds(tree, truth) == 0
    (tmp_path / "plain.txt").write_text("a\nb\nc\nd\ne\n")
    (tmp_path / "answers.csv").write_text("anchor,near,far\n1,2,3\n4,5,1\n")
    known = ("learn", "--oracle", "recorded", "--source", tmp_path / "answers.csv")
    code, _, err = run(capsys, *known, "--items", tmp_path / "plain.txt")
    assert (code, "counted from 1" in err) == (2, True), err


def doors_of_files(folder, rows):
    return [(door, read) for door, read in doors(folder, rows) if door not in ("frame", "records")]


@pytest.mark.parametrize("first", [1, 101])
def test_names_may_have_ids(tmp_path, first):
    rows = [(first, first + 1, first + 3), (first + 3, first + 2, first), (first + 1, first, first + 2)]
    path = tmp_path / "names.csv"
    path.write_text("label,id\n" + "".join(f"leaf{first + k},{first + k}\n" for k in (3, 0, 2, 1, 4)))
    labels = [f"leaf{first + k}" for k in range(5)]
    expected = [tuple(f"leaf{leaf}" for leaf in row) for row in rows]
    assert ordhc.io.read_names(path) == tuple(labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for door, read in doors_of_files(tmp_path, rows):
            data = read(names=path)
            assert (named(data), sorted(data.names)) == (expected, labels), door
            assert named(read(names=path, ids_from=first)) == expected, door
            with pytest.raises(InputError, match="the table of names has a column of ids: leave out"):
                read(names=path, ids_from=first + 1)
    for door, read in doors_of_files(tmp_path, [*rows, (first, first + 1, first + 9)]):
        with pytest.raises(InputError, match=f"the name 'id {first + 9}' is unknown"):
            read(names=path)
        if door in ("csv", "tsv"):
            with pytest.warns(OrdhcWarning):
                assert named(read(names=path, skip_bad=True)) == expected, door


def test_the_command_line_reads_codes_alike(tmp_path, capsys):
    rows = [(101, 102, 104), (102, 101, 104), (104, 103, 101), (103, 104, 102)]
    text = "anchor,near,far\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    codes, names, tree = (str(tmp_path / name) for name in ("codes.csv", "names.txt", "tree.nwk"))
    (tmp_path / "codes.csv").write_text(text)
    (tmp_path / "names.txt").write_text("104\n103\n102\n101\n")
    for how in ([], ["--names", names], ["--kind", "triplet", "--items", "anchor,near,far"]):
        code, _, err = run(capsys, "cluster", codes, "-o", tree, *how)
        assert code == 0, err
        assert sorted(ordhc.read_tree(tree).names) == ["101", "102", "103", "104"]
        assert ("taken as names" in err) is ("--names" not in how)
        code, out, err = run(capsys, "score", tree, codes, "--metric", "satisfied", "--json")
        assert (code, json.loads(out)["score"]["agreed"]) == (0, 1.0), err
    (tmp_path / "names.txt").unlink()
    for how in (["--ids-from", "101"], ["--ids-from", "101", "--items", "0,1,2"]):
        code, _, err = run(capsys, "cluster", codes, "-o", tree, *how)
        assert (code, err, ordhc.read_tree(tree).n_leaves) == (0, "", 4)
    code, _, err = run(capsys, "cluster", str(tmp_path / "*.csv"), "-o", tree)
    assert (code, ordhc.read_tree(tree).n_leaves) == (0, 4), err
