"""Scans that go on where a killed process has ended: the same bits, and nothing is read twice."""

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.io import parts
from support.random_data import random_comparisons
from support.scans import same_bits

pytest.importorskip("scipy")

N = 14


def write(folder, m=600, count=12, weights=None, seed=0):
    folder.mkdir(exist_ok=True)
    data = random_comparisons(N, m, seed=seed)
    people = np.arange(len(data)) % 5
    if weights is not None:
        random = np.random.default_rng(seed)
        whole = random.integers(0, 5, len(data)).astype(float)
        own = (
            whole
            if weights == "whole"
            else random.random(len(data)) * 10.0 ** random.integers(-6, 7, len(data))
        )
        data = ordhc.Triplets(data.rows, n_leaves=N, weights=own)
    data = ordhc.Triplets(
        data.rows, names=[f"leaf {at}" for at in range(N)], weights=data.weights, groups=people
    )
    bounds = np.linspace(0, len(data), count + 1).astype(int).tolist()
    for at, (start, end) in enumerate(pairwise(bounds)):
        ordhc.write_comparisons(data[start:end], folder / f"{at:03}.csv")
    return folder


def arrays(found):
    if isinstance(found, tuple | list):
        return [each for some in found for each in arrays(some)]
    if isinstance(found, ordhc.Dendrogram):
        return [found.merges, found.heights]
    return [found.indptr, found.indices, found.data] if hasattr(found, "indptr") else [np.asarray(found)]


def bootstrapped(method):
    def verb(scan, progress=None):
        found = ordhc.bootstrap(scan, method, n_resamples=3, unit="group", progress=progress)
        return [found.tree, *found.trees, found.support, *found.scores.values()]

    return verb


def selected(scan, progress=None):
    found = ordhc.select(scan, ["adds3-al", "mulk3-al"], folds=3, progress=progress)
    return [(each.revenue, each.satisfied, each.chance) for each in found.candidates]


VERBS = {
    "dense": lambda scan, progress=None: ordhc.similarity(scan, layout="condensed", progress=progress),
    "sparse": lambda scan, progress=None: ordhc.similarity(scan, layout="sparse", progress=progress),
    "mulk3": lambda scan, progress=None: ordhc.similarity(scan, "mulk3", progress=progress),
    "moves": lambda scan, progress=None: ordhc.cluster(scan, method="adds3-al+spr", progress=progress),
    "lengths": lambda scan, progress=None: ordhc.cluster(
        scan, method="adds3-al+lengths+spr", progress=progress
    ),
    "bootstrap": bootstrapped("adds3-al"),
    "bootstrap moves": bootstrapped("adds3-al+spr"),
    "select": selected,
}


class StopError(Exception):
    pass


def stop_at(share):
    def stop(done):
        if done > share:
            raise StopError

    return stop


@pytest.fixture
def reads(monkeypatch):
    """The files that are read, in order."""
    found = []
    for module in (sys.modules["ordhc.io.scan"], sys.modules["ordhc.io.survey"]):
        original = module.read_piece

        def counted(piece, asked, original=original, **how):
            found.append(Path(piece.path).name)
            return original(piece, asked, **how)

        monkeypatch.setattr(module, "read_piece", counted)
    return found


#: Each verb with two kinds of weights.
WEIGHTED = [
    (verb, weights)
    for at, verb in enumerate(VERBS)
    for weights in ([None, "fractions"] if at % 2 else ["whole", "fractions"])
]


@pytest.mark.parametrize(("verb", "weights"), WEIGHTED)
def test_the_same_bits(tmp_path, verb, weights):
    folder, resume = write(tmp_path / "answers", m=200, count=6, weights=weights), tmp_path / "resume"
    make = VERBS[verb]
    expected = arrays(make(ordhc.scan(folder)))
    for share in (0.3, 0.8):
        with pytest.raises(StopError):
            make(ordhc.scan(folder, resume=resume), stop_at(share))
    told = []
    for scan in (ordhc.scan(folder, resume=resume), ordhc.scan(folder, resume=resume)):
        for a, b in zip(arrays(make(scan, told.append)), expected, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
        assert scan.resumed["found"] > 0
    assert scan.resumed["made"] == 0 or weights == "fractions"
    with ThreadPoolExecutor(3) as executor:
        scan = ordhc.scan(folder, resume=resume, executor=executor)
        for a, b in zip(arrays(make(scan)), expected, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    assert not [path for path in resume.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("verb", ["dense", "sparse", "mulk3"])
def test_finished_parts_are_not_read_again(tmp_path, verb, reads):
    folder, resume = write(tmp_path / "answers"), tmp_path / "resume"
    make = VERBS[verb]
    with pytest.raises(StopError):
        make(ordhc.scan(folder, resume=resume), stop_at(0.6))
    first = reads.copy()
    reads.clear()
    told = []
    make(ordhc.scan(folder, resume=resume), told.append)
    # Each file is read for names and once more for sums; only the interrupted part is read again.
    again = Counter(first + reads) - Counter(2 * [path.name for path in folder.iterdir()])
    assert set(first + reads) == {path.name for path in folder.iterdir()}
    assert again.total() <= 1
    assert len(first) > 12
    assert told[0] >= 0.03
    reads.clear()
    make(ordhc.scan(folder, resume=resume))
    assert reads == []


KILLED = """
    import os, pathlib, signal, sys
    import ordhc
    import ordhc.io.survey
    scans, survey = sys.modules["ordhc.io.scan"], sys.modules["ordhc.io.survey"]

    folder, resume, log, share = sys.argv[1:]

    def counted(module):
        original = module.read_piece
        def read_piece(piece, asked, **how):
            with open(log, "a") as stream:
                print(pathlib.Path(piece.path).name, file=stream)
            return original(piece, asked, **how)
        module.read_piece = read_piece

    counted(scans)
    counted(survey)

    def kill(done):
        if done > float(share):
            os.kill(os.getpid(), signal.SIGKILL)

    tree = ordhc.cluster(ordhc.scan(folder, resume=resume), method="adds3-al", progress=kill)
    ordhc.write_tree(tree, pathlib.Path(resume).with_name("tree.json"))
"""


def test_a_process_that_is_killed(tmp_path):
    folder, resume, log = write(tmp_path / "answers"), tmp_path / "resume", tmp_path / "log"
    log.touch()
    counts = []
    for share in (0.15, 0.5, 2):
        script = [sys.executable, "-c", textwrap.dedent(KILLED), folder, resume, log, str(share)]
        ended = subprocess.run(script, capture_output=True, text=True, timeout=300)
        assert ended.returncode == (0 if share == 2 else -signal.SIGKILL), ended.stderr
        counts.append(len(log.read_text().split()))
    assert 0 < counts[0] < counts[1] < counts[2]
    # Each file is read for names and once more for sums. A kill costs the file that is being read.
    read = Counter(log.read_text().split())
    assert set(read) == {path.name for path in folder.iterdir()}
    assert min(read.values()) == 2
    assert read.total() <= 24 + 2
    found = ordhc.read_tree(tmp_path / "tree.json")
    expected = ordhc.cluster(ordhc.scan(folder), method="adds3-al")
    same_bits(found, expected)


def files_in(resume):
    return sorted(
        path for path in resume.rglob("*") if path.is_file() and path.name not in ("README", "lock")
    )


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_damaged_parts_are_computed_again(tmp_path_factory, data):
    tmp_path = tmp_path_factory.mktemp("damaged")
    folder, resume = write(tmp_path / "answers", m=60, count=3), tmp_path / "resume"
    verb = VERBS[data.draw(st.sampled_from(["dense", "sparse", "mulk3"]))]
    expected = arrays(verb(ordhc.scan(folder, resume=resume)))
    path = data.draw(st.sampled_from(files_in(resume)))
    content = path.read_bytes()
    how = data.draw(st.sampled_from(["cut", "flip", "gone", "longer"]))
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(content[: data.draw(st.integers(0, max(0, len(content) - 1)))])
    elif how == "longer":
        path.write_bytes(content + b"x")
    else:
        at = data.draw(st.integers(0, len(content) - 1))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    scan = ordhc.scan(folder, resume=resume)
    with pytest.warns(OrdhcWarning, match="the finished part .*is damaged, so it is computed again"):
        found = arrays(verb(scan))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    again = ordhc.scan(folder, resume=resume)
    verb(again)
    assert again.resumed["made"] == 0


def test_what_parts_depend_on(tmp_path, reads):
    folder, resume = write(tmp_path / "answers"), tmp_path / "resume"
    names = [f"leaf {at}" for at in range(N)]
    plain = VERBS["dense"](ordhc.scan(folder, resume=resume))
    changed = ordhc.similarity(ordhc.scan(folder, names=names[::-1], resume=resume), layout="condensed")
    np.testing.assert_array_equal(
        changed, ordhc.similarity(ordhc.scan(folder, names=names[::-1]), layout="condensed")
    )
    assert not np.array_equal(plain, changed)
    # A file that was written anew is read anew, even if it is as long as before; the others are not.
    path = folder / "003.csv"
    text = path.read_text().splitlines()
    path.write_text("\n".join([text[0], *text[:0:-1]]) + "\n")
    os.utime(path, (0, 0))
    reads.clear()
    scan = ordhc.scan(folder, names=names, resume=resume)
    scan.read()
    reads.clear()
    found = VERBS["dense"](scan)
    np.testing.assert_array_equal(found, VERBS["dense"](ordhc.scan(folder, names=names)))


def test_an_added_file(tmp_path, reads):
    folder, resume = write(tmp_path / "answers"), tmp_path / "resume"
    names = [f"leaf {at}" for at in range(N)]
    options = {"names": names, "person": None, "resume": resume}
    VERBS["dense"](ordhc.scan(folder, **options))
    (folder / "999.csv").write_text((folder / "000.csv").read_text())
    scan = ordhc.scan(folder, **options)
    assert len(scan) > 0
    reads.clear()
    found = VERBS["dense"](scan)
    assert reads == ["999.csv"]
    np.testing.assert_array_equal(found, VERBS["dense"](ordhc.scan(folder, names=names)))


def test_two_processes_on_one_folder(tmp_path):
    """Threads of two scans do as two processes do: each finds what the other has finished."""
    folder, resume = write(tmp_path / "answers", m=300, count=15), tmp_path / "resume"
    expected = arrays(VERBS["moves"](ordhc.scan(folder)))

    def work(_):
        return arrays(VERBS["moves"](ordhc.scan(folder, resume=resume)))

    with ThreadPoolExecutor(4) as executor:
        for found in executor.map(work, range(5)):
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a, b)
    assert [path.name for path in resume.iterdir() if path.name.startswith("part-")] == []


def test_what_killed_calls_leave_is_removed(tmp_path, monkeypatch):
    folder, resume = write(tmp_path / "answers", count=2), tmp_path / "deep" / "resume"
    ordhc.scan(folder, resume=resume)
    left = resume / "part-left"
    left.mkdir()
    (left / "lock").touch()
    ordhc.scan(folder, resume=resume)
    assert left.exists(), "a folder of this minute may be of a process that begins"
    monkeypatch.setattr(parts, "_GRACE", 0.0)
    ordhc.scan(folder, resume=resume)
    assert not left.exists()
    about = (resume / "README").read_text()
    assert "ordhc.scan(..., resume=THIS FOLDER)" in about
    assert "delete it" in about
    with pytest.raises(InputError, match="resume is not a folder: it is a file"):
        ordhc.scan(folder, resume=folder / "000.csv")
    for name in ("resume", "spill"):
        with pytest.raises(InputError, match=rf"^s3://b/parts: {name} is a URL; give a local folder$"):
            ordhc.scan(folder, **{name: "s3://b/parts"})
        with pytest.raises(InputError, match=rf"{name} is not a folder: it cannot be made"):
            ordhc.scan(folder, **{name: "a" * 5000})
