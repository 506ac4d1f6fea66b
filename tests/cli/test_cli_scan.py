"""The command line on folders and patterns: as of one file with the same answers."""

import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc.cli import reading
from support.processes import from_standard_input, run
from support.random_data import random_comparisons

NAMES = [f"thing {leaf}" for leaf in range(12)]


def lines(rows, people, counts, separator):
    yield separator.join(["anchor", "near", "far", "participant", "count"])
    for row, who, count in zip(rows, people, counts, strict=True):
        yield separator.join([*(NAMES[leaf] for leaf in row), who, str(count)])


KINDS = ["csv", "tsv.gz", "parquet"]


@pytest.fixture(params=KINDS)
def answers(request, tmp_path, monkeypatch):
    """The same answers in one file and in four; the pattern of the four."""
    monkeypatch.chdir(tmp_path)
    data = random_comparisons(12, 600, seed=3)[:300]
    random = np.random.default_rng(3)
    people, counts = random.choice(["ann", "bob", "cy", "di", "ed"], 300), random.integers(0, 4, 300)
    (tmp_path / "one.csv").write_text("\n".join(lines(data.rows, people, counts, ",")))
    (tmp_path / "some").mkdir()
    for at, part in enumerate(np.split(np.arange(300), [1, 120, 121])):
        path = tmp_path / "some" / f"{at}.{request.param}"
        if request.param == "parquet":
            pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
            columns = {
                name: [NAMES[leaf] for leaf in data.rows[part, column]]
                for column, name in enumerate(("anchor", "near", "far"))
            }
            table = pa.table({**columns, "participant": people[part], "count": counts[part]})
            parquet.write_table(table, path, row_group_size=50)
            continue
        separator = "," if request.param == "csv" else "\t"
        text = "\n".join(lines(data.rows[part], people[part], counts[part], separator))
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return f"some/*.{request.param}"


def printed(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    found = json.loads(out)
    # Repeated questions are looked for among answers in memory only.
    found.get("bootstrap", {}).pop("ceiling", None)
    # Nor has it a score of whole answers.
    if "bootstrap" in found:
        del found["bootstrap"]["answers_chance"]
        found["bootstrap"]["scores"].pop("answers", None)
    return found


# Results do not depend on the format of files, so each set of options is tried with one format only, and one
# set with all formats.
OPTIONS = [
    ["--method", "adds3-al"],
    ["--method", "adds3-al+spr", "--n-clusters", "3"],
    ["--method", "mulk3-al", "--executor", "threads:2"],
    ["--similarity", "adds3", "--linkage", "single", "--seed", "4"],
    ["--bootstrap", "7", "--unit", "group"],
    ["--method", "adds3-al+spr", "--memory", "20MB", "--spill", "."],
]


@pytest.mark.parametrize(
    ("answers", "options"),
    [
        *((kind, OPTIONS[0]) for kind in KINDS),
        *((KINDS[at % 3], options) for at, options in enumerate(OPTIONS[1:])),
    ],
    indirect=["answers"],
)
def test_trees(answers, capsys, options):
    of_scans = {"--executor", "--memory", "--spill"} & set(options)
    alone = options[:2] if of_scans else options
    expected = printed(capsys, "cluster", "one.csv", *alone, "--json", "-q")
    for path in (answers, "some"):
        found = printed(capsys, "cluster", path, *options, "--json", "-q")
        # A scan does not read which rows are one answer.
        assert found.pop("n_answers") in (None, 300)
        assert found == {name: value for name, value in expected.items() if name != "n_answers"}


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["threads", "threads:3", "processes:2", "loky:2"])
def test_executors(answers, capsys, workers):
    if workers.startswith("loky"):
        pytest.importorskip("loky")
    for options in (["--bootstrap", "3"], ["--method", "adds3-al"]):
        expected = printed(capsys, "cluster", "one.csv", *options, "--json", "-q")
        found = printed(capsys, "cluster", answers, *options, "--executor", workers, "--json", "-q")
        assert found == expected
    assert printed(
        capsys, "cluster", "one.csv", "--bootstrap", "3", "--executor", workers, "--json", "-q"
    ) == printed(capsys, "cluster", "one.csv", "--bootstrap", "3", "--json", "-q")


@pytest.mark.parametrize("answers", ["tsv.gz"], indirect=True)
def test_scores(answers, capsys):
    run(capsys, "cluster", "one.csv", "-o", "t.nwk", "-q")
    options = ["--metric", "satisfied", "--metric", "triplet_revenue", "--json", "-q"]
    found, expected = (printed(capsys, "score", "t.nwk", path, *options) for path in (answers, "one.csv"))
    assert found["scores"] == expected["scores"]
    assert found["chance"] == expected["chance"]
    assert found["n_comparisons"] == 300


@pytest.mark.parametrize("answers", ["parquet"], indirect=True)
def test_comparisons_of_methods(answers, capsys):
    options = ["--method", "adds3-al", "--method", "mulk3-al", "--folds", "3", "--json", "-q"]
    expected = printed(capsys, "compare", "one.csv", "--unit", "group", *options)
    for workers in ([], ["--executor", "threads:2"]):
        found = printed(capsys, "compare", answers, *options, *workers)
        assert found["unit"] == "group"
        for one, other in zip(found["candidates"], expected["candidates"], strict=True):
            # A scan is not cut by people, so that intervals over people are not known.
            known = {name: value for name, value in one.items() if value is not None and name != "seconds"}
            assert {"method", "satisfied", "revenue", "chance"} <= known.keys()
            assert known == {name: other[name] for name in known}
    assert printed(capsys, "compare", answers, "--unit", "file", *options)["unit"] == "file"


def test_one_file_of_many(answers, capsys):
    assert run(capsys, "convert", answers, "all.csv")[0] == 0
    assert ordhc.read_answers("all.csv") == ordhc.read_answers("one.csv")


def test_answers_are_never_written_over(answers, capsys, tmp_path):
    inside = sorted((tmp_path / "some").iterdir())
    before = [path.read_bytes() for path in inside]
    for path in map(str, inside):
        for source in (answers, "some"):
            for arguments in (
                ["cluster", source, "--n-clusters", "2", "--labels", path],
                ["convert", source, path],
            ):
                code, _, err = run(capsys, *arguments)
                assert code == 2
                assert "is an input" in err
    assert [path.read_bytes() for path in inside] == before


@pytest.mark.parametrize("answers", ["csv"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["cluster", "none/*.csv"], "none/*.csv: no file matches the pattern"),
        (["cluster", "SOME", "--method", "3-al"], "(ordhc convert FOLDER FILE)"),
        (["cluster", "SOME", "--items", "a,b"], "3 are needed: anchor, near, far"),
        (["cluster", "SOME", "--kind", "odd-one-out"], "kind='odd-one-out' is for one file"),
        (["cluster", "SOME", "--executor", "people:2"], "threads, processes or loky"),
        (["cluster", "SOME", "--executor", "threads:0"], "threads, processes or loky"),
        (["cluster", "SOME", "--memory", "much"], "memory is 'much'"),
        (["cluster", "SOME", "--spill", "one.csv"], "one.csv: spill is not a folder: it is a file"),
        (["cluster", "SOME", "--resume", "one.csv"], "one.csv: resume is not a folder: it is a file"),
        (["cluster", "one.csv", "--memory", "1GB", "--bootstrap", "2"], "are for a folder or a pattern"),
        (["cluster", "one.csv", "--memory", "much"], "memory is 'much'"),
        (["cluster", "one.csv", "--memory", "1GB", "--method", "3-al"], "needs all answers in memory"),
        (
            ["cluster", "one.csv", "--memory", "1GB", "--exclude", "participant=ann"],
            "exclude is for one file",
        ),
        (["cluster", "one.csv", "--bootstrap", "2", "--unit", "file"], "file"),
        (["compare", "SOME", "--folds", "7"], "there are 5 people for 7 folds"),
        (["compare", "SOME", "--folds", "7", "--unit", "file"], "there are 4 files for 7 folds"),
    ],
)
def test_what_does_not_go(answers, capsys, arguments, told):
    code, out, err = run(capsys, *[answers if word == "SOME" else word for word in arguments], "-q")
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def without_times(found):
    return found[0], re.sub(r'"seconds": [^,}]*', "", found[1])


@pytest.mark.parametrize("answers", ["csv"], indirect=True)
def test_resume(tmp_path, capsys, answers):
    """The same command finds what is finished, and prints the same tree."""
    pattern = answers
    for command in (
        ("cluster", pattern, "--method", "adds3-al+spr", "-o", "-"),
        ("compare", pattern, "--method", "adds3-al", "--folds", "2", "--json"),
    ):
        plain = run(capsys, *command)
        first = run(capsys, *command, "--resume", tmp_path / command[0])
        second = run(capsys, *command, "--resume", tmp_path / command[0])
        assert without_times(plain) == without_times(first) == without_times(second)
        assert "resumed" not in first[2]
        assert "parts of the work were finished before, 0 are new" in second[2]
        assert "resumed" not in run(capsys, *command, "--resume", tmp_path / command[0], "-q")[2]
    one = ("cluster", "one.csv", "--method", "adds3-al", "-o", "-")
    assert run(capsys, *one)[:2] == run(capsys, *one, "--resume", tmp_path / "one")[:2]
    assert "0 are new" in run(capsys, *one, "--resume", tmp_path / "one")[2]


@pytest.mark.parametrize("method", ["adds3-al", "adds3-al+spr", "mulk3-al", "3-al", None])
def test_a_large_file_gives_the_tree_of_all_answers_in_memory(answers, capsys, monkeypatch, method):
    how = ["-q", "-o", "-", *([] if method is None else ["--method", method])]
    if method is None:
        # Few answers have another default.
        expected = run(capsys, "cluster", "one.csv", "-q", "-o", "-", "--method", "adds3-al+spr")
    else:
        expected = run(capsys, "cluster", "one.csv", *how)
    scans = []
    monkeypatch.setattr(reading, "_scanned", spy(reading._scanned, scans))
    monkeypatch.setattr(sys.modules["ordhc.io.scan"], "LARGE", 1)
    assert run(capsys, "cluster", "one.csv", *how) == expected
    assert len(scans) == (method != "3-al")
    from_standard_input(monkeypatch, Path("one.csv").read_text())
    assert run(capsys, "cluster", "-", *how) == expected
    # Columns that a scan does not read, and options of single files, keep the file in memory.
    Path("numbered.csv").write_text("answer,anchor,near,far\n1,a,b,c\n1,b,a,c\n2,c,a,b\n")
    scans.clear()
    assert run(capsys, "cluster", "numbered.csv", *how)[0] == 0
    assert run(capsys, "cluster", "one.csv", *how, "--exclude", "participant=ann")[0] == 0
    assert not scans


def spy(function, calls):
    def called(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return called


def test_memory_scans_a_single_file(answers, capsys):
    expected = printed(capsys, "cluster", "one.csv", "--json", "-q", "--method", "adds3-al")
    for how in (["--memory", "20MB"], ["--spill", "."], ["--executor", "threads:2"]):
        found = run(capsys, "cluster", "one.csv", "--json", "-q", "--method", "adds3-al", *how)
        assert json.loads(found[1]) == expected


def test_mistakes_in_a_large_standard_input_name_it(answers, capsys, monkeypatch):
    monkeypatch.setattr(sys.modules["ordhc.io.scan"], "LARGE", 1)
    from_standard_input(monkeypatch, "anchor,near,far\na,b,c\na,b\n")
    code, _, err = run(capsys, "cluster", "-", "--method", "adds3-al", "-q")
    assert (code, err) == (2, "ordhc: standard input:3: 2 columns instead of 3; the row may be cut short\n")
