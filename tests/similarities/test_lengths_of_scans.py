"""Lengths of leaves from answers in files: the bits of everything in memory, whoever counts."""

import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import _ordhc
from ordhc._workers import limited_threads
from ordhc.comparison.rows import changed
from ordhc.errors import InputError
from ordhc.io import blocks
from ordhc.similarities import lengths as of_lengths
from ordhc.similarities import triangles
from support.executors import EXECUTORS, Backwards
from support.lengths_twin import plain_adds, plain_lengths, random_answers
from support.processes import run
from support.scans import same_bits, same_similarity, same_tree

pytest.importorskip("scipy")

#: The last leaf has no answers on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*no answers and (is|are) merged last")

KINDS = (None, "whole", "tenths", "fractions")


def answers(width, n, m, kind, seed=0, sd=1.5):
    data, _ = random_answers(width, n, m, seed, sd)
    random = np.random.default_rng(seed)
    weights = {
        None: lambda: None,
        "whole": lambda: random.integers(0, 5, m).astype(float),
        "tenths": lambda: random.integers(0, 5, m) * 0.1,
        "fractions": lambda: random.random(m) * 10.0 ** random.integers(-3, 3, m),
    }[kind]()
    return changed(data, weights=weights)


def files(folder, data, cuts, people=None, **means):
    """A scan of files of the answers, cut at some rows."""
    folder.mkdir()
    columns = ["anchor", "near", "far"] if data.rows.shape[1] == 3 else list("ijkl")
    weights = np.ones(len(data)) if data.weights is None else data.weights
    for at, (start, end) in enumerate(pairwise(np.unique([0, *cuts, len(data)]).tolist())):
        head = columns + ["count"] * (data.weights is not None) + ["person"] * (people is not None)
        lines = [",".join(head)]
        for row in range(start, end):
            cells = [*map(str, data.rows[row].tolist())]
            cells += [repr(float(weights[row]))] * (data.weights is not None)
            lines.append(",".join(cells + ([people[row]] if people is not None else [])))
        (folder / f"{at:03}.csv").write_text("\n".join(lines) + "\n")
    return ordhc.scan(
        folder, "pairs" if data.rows.shape[1] == 4 else "triplet", n_leaves=data.n_leaves, **means
    )


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from([3, 4]),
    st.integers(5, 12),
    st.integers(1, 120),
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.7, 2.0]),
    st.lists(st.floats(0, 1), max_size=4),
    st.integers(20, 400),
)
def test_as_of_everything_in_memory(tmp_path_factory, width, n, m, kind, seed, sd, cuts, size):
    data = answers(width, n, m, kind, seed, sd)
    if not (data.weights is None or data.weights.any()):
        data = changed(data, weights=None)
    scan = files(tmp_path_factory.mktemp("any") / "some", data, sorted(int(cut * m) for cut in cuts))
    name = f"adds{width}"
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(blocks, "BYTES", size)
        patch.setattr(blocks, "ROWS", 7)
        patch.setattr(triangles, "GATHERED", 22)
        for lengths in (True, None):
            same_similarity(scan, data, name, lengths=lengths)
        twin = plain_adds(data, plain_lengths(data))
        found = ordhc.similarity(scan, name, lengths=True)
        assert np.allclose(found, twin, atol=1e-3 * max(1, np.abs(twin).max()))
        for lengths in (True, None, False):
            same_tree(scan, data, method=f"{name}-al", lengths=lengths)
        same_tree(scan, data, method=f"{name}-al", lengths=True, initial_clusters=np.arange(n + 1) // 2)
        if width == 3:
            same_tree(scan, data, method="adds4-al", lengths=True)
        if kind != "fractions":
            # In memory fractions are sorted before trees are refined, which rounds sums otherwise.
            same_tree(scan, data, method=f"{name}-al+lengths+spr")
            same_tree(scan, data, method=f"{name}-al+lengths+spr", tie_seed=3)
            same_tree(scan, data, method=f"{name}-al", lengths=True, tie_seed=seed)


@pytest.mark.parametrize(
    ("width", "made", "kind"),
    [
        (3, "threads", None),
        (4, "threads", "whole"),
        (3, "threads", "tenths"),
        (4, "threads", "fractions"),
        (3, "backwards", "whole"),
        (4, "backwards", "fractions"),
        (3, "twice", "tenths"),
        (4, "losing", None),
        (3, "losing", "fractions"),
        (4, "processes", "whole"),
    ],
)
def test_whoever_counts(tmp_path, width, made, kind):
    data = answers(width, 12, 600, kind)
    spill = tmp_path / "spill"
    spill.mkdir()
    told = []
    with EXECUTORS[made]() as executor:
        cuts = [1, 200, 201, 400]
        scan = files(tmp_path / "some", data, cuts, executor=executor, spill=spill)
        same_similarity(scan, data, f"adds{width}", lengths=True)
        method = f"adds{width}-al"
        tree = same_tree(scan, data, method=method, lengths=True, progress=told.append)
        if kind != "fractions":
            same_tree(scan, data, method=f"{method}+lengths+spr")
    assert tree.settings["similarity_parameters"]["lengths"] is True
    assert told == sorted(told)
    assert told[-1] == 1
    assert list(spill.iterdir()) == []


def test_workers_count_whole_weights_only(tmp_path, monkeypatch):
    counted = []
    plain = of_lengths._Counts.make
    told = lambda *args, **how: counted.append(1) or plain(*args, **how)  # noqa: E731
    monkeypatch.setattr(of_lengths._Counts, "make", told)
    for kind, expected in (("whole", True), ("tenths", False), ("fractions", False)):
        data = answers(3, 10, 100, kind)
        counted.clear()
        with Backwards() as executor:
            ordhc.similarity(files(tmp_path / kind, data, [50], executor=executor), lengths=True)
        assert bool(counted) == expected


@pytest.mark.parametrize("n", [30, 400])
def test_any_number_of_threads(tmp_path, n):
    data = answers(3, n, 40_000, "whole")
    scan = files(tmp_path / "some", data, [30_000])
    with limited_threads(1):
        one = ordhc.cluster(scan, method="adds3-al", lengths=True)
    assert one == same_tree(scan, data, method="adds3-al", lengths=True)


def test_more_pairs_than_memory(tmp_path, monkeypatch):
    from ordhc.similarities import spilled

    monkeypatch.setattr(spilled, "PER_ROW", 160_000)
    monkeypatch.setattr(spilled, "PER_WEIGHTED_ROW", 160_000)
    for kind in ("whole", "fractions"):
        data = answers(3, 100, 5000, kind)
        spill = tmp_path / f"spill {kind}"
        spill.mkdir()
        same_similarity(files(tmp_path / kind, data, [1234], memory="16MB", spill=spill), data, lengths=True)
        assert list(spill.iterdir()) == []


@pytest.mark.parametrize(("unit", "method"), [("group", "adds3-al+lengths+spr"), ("file", "adds3-al")])
def test_resamples_and_folds(tmp_path, unit, method):
    data = answers(3, 13, 600, None, sd=1)
    people = np.random.default_rng(1).choice(["ann", "bob", "cy", "di", "ed"], 600)
    scan = files(tmp_path / "some", data, [100, 250, 260, 400], people)
    twin = scan.read()
    of = np.repeat(np.arange(5), np.diff([0, 100, 250, 260, 400, 600]))
    by = {"unit": "group"} if unit == "group" else {"group": of}
    found = ordhc.bootstrap(scan, method=method, lengths=True, n_resamples=3, unit=unit, seed=2)
    expected = ordhc.bootstrap(twin, method=method, lengths=True, n_resamples=3, seed=2, **by)
    # In memory people are numbered in order of first appearance, as in files.
    for a, b in zip((found.tree, *found.trees), (expected.tree, *expected.trees), strict=True):
        same_bits(a, b)
    for name, scores in expected.scores.items():
        np.testing.assert_array_equal(found.scores[name], scores)
    units = twin.groups if unit == "group" else of
    number = np.unique(units, return_inverse=True)[1]
    times = _ordhc.draw_times(5, None, 2, 0)[number]
    sample = changed(data, weights=times.astype(float))
    plain = ordhc.linkage(plain_adds(sample, plain_lengths(sample))[:13, :13], dissimilarity=False)
    if method == "adds3-al":
        assert np.allclose(np.sort(found.trees[0].heights)[1:], np.sort(plain.heights), atol=0.02)
    with ThreadPoolExecutor(2) as executor:
        again = ordhc.bootstrap(
            scan, method=method, lengths=True, n_resamples=3, unit=unit, seed=2, executor=executor
        )
    assert [tree.heights.tolist() for tree in again.trees] == [tree.heights.tolist() for tree in found.trees]
    methods = ["adds3-al+spr", "adds3-al+lengths+spr"]
    some, all_ = ordhc.select(scan, methods, folds=3, unit=unit), ordhc.select(twin, methods, folds=3, **by)
    for a, b in zip(some.candidates, all_.candidates, strict=True):
        assert (a.method, a.revenue, a.satisfied) == (b.method, b.revenue, b.satisfied)
    assert "adds3-al+lengths+spr" in {each.method for each in ordhc.select(scan, folds=3).candidates}


def test_whole_numbers_are_refused(tmp_path):
    scan = files(tmp_path / "some", answers(3, 12, 900, None), [])
    for layout in ("condensed", "sparse"):
        with pytest.raises(InputError, match="dtype is int64, but these similarities are no whole numbers"):
            ordhc.similarity(scan, lengths=True, layout=layout, dtype="int64")
    with pytest.raises(InputError, match="lengths is 'yes'; it must be True, False, or None"):
        ordhc.cluster(scan, method="adds3-al", lengths="yes")


def test_counts_that_do_not_fit_say_what_to_do(tmp_path, monkeypatch):
    scan = files(tmp_path / "some", answers(4, 12, 900, None), [])

    def full(*_):
        raise MemoryError("the counts of near and far leaves needs 99 bytes")

    monkeypatch.setattr(of_lengths, "_counted_blocks", full)
    with pytest.raises(MemoryError, match=r"99 bytes.* turn lengths off \(lengths=False\)"):
        ordhc.cluster(scan, method="adds4-al+lengths+spr")


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = answers(3, 13, 600, None)
    files(tmp_path / "some", data, [100, 300, 400])
    files(tmp_path / "whole", data, [])
    for method in ("adds3-al+lengths+spr", "adds3-al+spr"):
        found = []
        for source in ("some", "whole/000.csv"):
            code, out, _ = run(capsys, "cluster", source, "--method", method, "--json")
            assert code == 0
            found.append(json.loads(out))
        assert found[0]["newick"] == found[1]["newick"]
        used = found[0]["tree"]["settings"]["similarity_parameters"]["lengths"]
        assert used is ("lengths" in method)
    code, out, _ = run(capsys, "compare", "some", "--folds", "2")
    assert code == 0
    assert "adds3-al+lengths+spr" in out
