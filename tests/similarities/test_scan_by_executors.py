"""Scans by executors, and more pairs than memory: the same bits, and folders left as they were."""

import contextlib
import errno
import functools
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
import pytest

import ordhc
from ordhc import _workers
from ordhc.errors import InputError, OrdhcWarning
from ordhc.similarities import bucketed, spilled, streamed, triangles
from support.executors import EXECUTORS, POOLS, Refusing, dask_cluster
from support.random_data import random_comparisons
from support.scans import same_bits, same_similarity, same_tree

pytest.importorskip("scipy")


def files(folder, data, cuts, row_group=250, **options):
    for at, (start, end) in enumerate(pairwise([0, *cuts, len(data)])):
        ordhc.write_comparisons(data[start:end], folder / f"{at:03}.parquet")
        table = pq.read_table(folder / f"{at:03}.parquet")
        pq.write_table(table, folder / f"{at:03}.parquet", row_group_size=row_group)
    return ordhc.scan(folder, n_leaves=data.n_leaves, **options)


def weighted_data(n, m, how, seed=0):
    data = random_comparisons(n, m, seed=seed)
    if how is None:
        return data
    generator = np.random.default_rng(seed)
    weights = generator.integers(0, 9, len(data)).astype(float)
    if how == "fractions":
        weights = generator.random(len(data)) * 10.0 ** generator.integers(-6, 7, len(data))
    return ordhc.Triplets(data.rows, n_leaves=n, weights=weights)


MADE = {**EXECUTORS, **POOLS}

#: Kinds of executor and of weights. Additions with fractions are sorted, others are counted.
CASES = [(kind, "fractions") for kind in MADE]
CASES += [("threads", None), ("threads", "whole"), ("processes", "whole"), ("losing", "whole")]


@pytest.fixture(scope="module")
def executor_of():
    """Return an executor of a kind: processes take a second to start, so that tests share them."""
    with contextlib.ExitStack() as stack:
        yield functools.cache(lambda kind: stack.enter_context(MADE[kind]()))


@pytest.mark.parametrize(("kind", "how"), CASES)
def test_sums_by_executors(tmp_path, executor_of, how, kind):
    data = weighted_data(20, 1000, how)
    spill = tmp_path / "spill"
    spill.mkdir()
    scan = files(tmp_path, data, [17, 400, 401], executor=executor_of(kind), spill=spill)
    same_similarity(scan, data)
    same_tree(scan, data, method="adds3-al")
    assert list(spill.iterdir()) == []


@pytest.mark.parametrize("how", [None, "whole", "fractions"])
@pytest.mark.parametrize(("n", "m"), [(3, 20), (30, 1500), (800, 2000)])
def test_workers_count_in_triangles_or_sort(tmp_path, monkeypatch, n, m, how):
    """Both ways give the same bits, also for pairs in several buckets, and with `resume`."""
    data, spill = weighted_data(n, m, how), tmp_path / "spill"
    monkeypatch.setattr(bucketed, "_STEP", 2)
    monkeypatch.setattr(triangles, "GATHERED", 700)
    (tmp_path / "data").mkdir()
    with ThreadPoolExecutor(2) as executor:
        scan = files(tmp_path / "data", data, [m // 3], executor=executor, spill=spill)
        assert triangles.prefers_triangles(scan) == (how != "fractions")
        same_similarity(scan, data)
        monkeypatch.setattr(streamed, "prefers_triangles", lambda _: False)
        told = []
        found = ordhc.similarity(scan, layout="condensed", progress=told.append)
        same_similarity(scan, data)
    assert told == sorted(told)
    assert told[-1] == 1
    assert list(spill.iterdir()) == []
    found += 1  # The array is the caller's, although its file is gone.
    kept = ordhc.scan(tmp_path / "data", n_leaves=n, resume=tmp_path / "resume")
    same_similarity(kept, data)
    np.testing.assert_array_equal(found, ordhc.similarity(kept, layout="condensed") + 1)


def test_many_pairs_are_sorted(tmp_path, monkeypatch):
    data = weighted_data(50, 300, None)
    with ThreadPoolExecutor(2) as executor:
        scan = files(tmp_path, data, [100], executor=executor)
        assert triangles.prefers_triangles(scan)
        monkeypatch.setattr(triangles, "_CACHED", 4000)
        assert not triangles.prefers_triangles(scan)
        monkeypatch.setattr(triangles, "_ROWS", 0.2)
        assert triangles.prefers_triangles(scan)


def test_what_workers_would_not_speed_up_stays_at_home(monkeypatch):
    monkeypatch.setattr(_workers, "MIN_SECONDS", 0.3)
    with Refusing() as executor:
        assert _workers.worth(executor, 2.0, 0.5) is executor
        for beside in (0.9, 2.0):
            with pytest.warns(OrdhcWarning, match="takes about 2 s, less than with workers"):
                assert _workers.worth(executor, 2.0, beside) is None
    assert _workers.worth(None, 0.0) is None


def test_little_work_stays_at_home(tmp_path, monkeypatch):
    """An executor gets no work of less than a third of a second, and a warning says so."""
    monkeypatch.setattr(_workers, "MIN_SECONDS", 0.3)
    data = weighted_data(10, 300, None)
    with Refusing() as executor:
        scan = files(tmp_path, data, [100], executor=executor)
        calls = [
            lambda: ordhc.similarity(scan, layout="condensed").tolist(),
            lambda: ordhc.bootstrap(data, "adds3-al", n_resamples=3, executor=executor).support.tolist(),
            lambda: ordhc.select(data, ["adds3-al"], executor=executor).candidates[0].revenue,
        ]
        found = []
        for call in calls:
            with pytest.warns(
                OrdhcWarning, match=r"takes about .* s, less than .*: it is done in this process"
            ):
                found.append(call())
    plain = [
        ordhc.similarity(data, layout="condensed").tolist(),
        ordhc.bootstrap(data, "adds3-al", n_resamples=3).support.tolist(),
        ordhc.select(data, ["adds3-al"]).candidates[0].revenue,
    ]
    assert found == plain


@pytest.mark.parametrize(("kind", "how"), CASES)
def test_mulk3_by_executors(tmp_path, executor_of, how, kind):
    data = weighted_data(15, 1000, how)
    spill = tmp_path / "spill"
    spill.mkdir()
    scan = files(tmp_path, data, [17, 400, 401], executor=executor_of(kind), spill=spill)
    for options in ({"layout": "condensed"}, {"normalize": False}):
        found = ordhc.similarity(scan, "mulk3", **options)
        np.testing.assert_array_equal(found, ordhc.similarity(data, "mulk3", **options), strict=True)
    told = []
    tree = ordhc.cluster(scan, method="mulk3-al", progress=told.append)
    assert tree == ordhc.cluster(data, method="mulk3-al")
    assert told == sorted(told)
    assert told[-1] == 1
    assert list(spill.iterdir()) == []


@pytest.mark.parametrize("how", [None, "whole", "fractions"])
def test_more_pairs_than_memory(tmp_path, monkeypatch, how):
    monkeypatch.setattr(spilled, "PER_ROW", 160_000)
    monkeypatch.setattr(spilled, "PER_WEIGHTED_ROW", 160_000)
    monkeypatch.setattr(spilled, "PER_ENTRY", 20_000)
    made = []
    plain = spilled.written_run
    monkeypatch.setattr(spilled, "written_run", lambda *args: made.append(1) or plain(*args))
    monkeypatch.setattr(spilled.Growing, "most", property(lambda _: 1000, lambda *_: None), raising=False)
    data = weighted_data(300, 20_000, how)
    spill = tmp_path / "spill"
    spill.mkdir()
    same_similarity(files(tmp_path, data, [5000, 5001], row_group=999, memory="160MB", spill=spill), data)
    assert len(made) > 5
    assert list(spill.iterdir()) == []


def test_sparse_trees(tmp_path):
    data = weighted_data(2000, 2500, None)
    scan = files(tmp_path, data, [100, 1000], row_group=500)
    for linkage in ("average", "single", "complete"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = ordhc.cluster(data, similarity="adds3", linkage=linkage)
            found = [ordhc.cluster(scan, similarity="adds3", linkage=linkage)]
            with ThreadPoolExecutor(2) as executor:
                shared = ordhc.scan(tmp_path, n_leaves=data.n_leaves, executor=executor)
                found.append(ordhc.cluster(shared, similarity="adds3", linkage=linkage))
            found.append(ordhc.cluster(scan, similarity="adds3", linkage=linkage, tie_seed=1))
            seeded = ordhc.cluster(data, similarity="adds3", linkage=linkage, tie_seed=1)
        for tree, other in zip(found, [expected, expected, seeded], strict=True):
            same_bits(tree, other)


def test_a_spill_is_left_clean_after_errors(tmp_path, monkeypatch):
    spill = tmp_path / "spill"
    spill.mkdir()
    scan = files(tmp_path, weighted_data(40, 3000, None), [10], memory="16MB", spill=spill)
    monkeypatch.setattr(spilled, "PER_ROW", 16_000)

    class StopError(Exception):
        pass

    def stop(done):
        # The first pass over the files, the survey, is a part of the progress.
        if done > 0.9:
            assert list(spill.iterdir()) != []
            raise StopError

    with pytest.raises(StopError):
        ordhc.similarity(scan, layout="sparse", progress=stop)
    assert list(spill.iterdir()) == []
    with pytest.raises(InputError, match="spill is not a folder: it is a file"):
        ordhc.scan(tmp_path, spill=tmp_path / "000.parquet")
    scan = files(tmp_path, weighted_data(40, 300, None), [10], spill=tmp_path / "new" / "spill")
    ordhc.similarity(scan, layout="sparse")
    assert list((tmp_path / "new" / "spill").iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError("100 requested and 7 written"),
        OSError("Not enough free space to write 100 bytes after offset 0"),
    ],
)
@pytest.mark.parametrize("layout", ["condensed", "sparse"])
def test_a_full_disk_is_named(tmp_path, monkeypatch, layout, error):
    def full(*_):
        raise error

    (tmp_path / "data").mkdir()
    for name in ("sorted_additions", "pair_run"):
        monkeypatch.setattr(ordhc._ordhc, name, full)
    with ThreadPoolExecutor(2) as executor:
        scan = files(
            tmp_path / "data",
            weighted_data(40, 3000, "fractions"),
            [10],
            spill=tmp_path / "spill",
            executor=executor,
        )
        with pytest.raises(
            InputError, match=r"spill: the disk is full, .* give spill= .* a folder .* more space"
        ):
            ordhc.similarity(scan, layout=layout)
    assert list((tmp_path / "spill").iterdir()) == []


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGKILL])
def test_a_spill_after_signals(tmp_path, signum):
    spill = tmp_path / "spill"
    spill.mkdir()
    scan = files(tmp_path, weighted_data(40, 3000, None), [10], spill=spill)
    script = f"""
        import time, ordhc
        from ordhc.similarities import bucketed, spilled
        spilled.PER_ROW = 16_000
        scan = ordhc.scan({str(tmp_path)!r}, n_leaves=40, memory="16MB", spill={str(spill)!r})
        def tell(done):
            if done > 0.9:
                print("there", flush=True)
                time.sleep(60)
        ordhc.similarity(scan, layout="sparse", progress=tell)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout.readline() == b"there\n"
    assert list(spill.iterdir()) != []
    process.send_signal(signum)
    process.wait()
    process.stdout.close()
    if signum == signal.SIGINT:
        assert list(spill.iterdir()) == []
        return
    assert list(spill.iterdir()) != []
    with pytest.warns(OrdhcWarning, match="removed temporary folders of interrupted calls: ordhc-spill-"):
        ordhc.similarity(scan, layout="sparse")
    assert list(spill.iterdir()) == []


@pytest.mark.slow
def test_dask_whose_workers_are_killed(tmp_path):
    data = weighted_data(40, 20_000, "fractions")
    expected = ordhc.bootstrap(data, method="mulk3-al", n_resamples=24)
    with dask_cluster(2) as client, client.get_executor() as executor, ThreadPoolExecutor(1) as aside:
        same_similarity(files(tmp_path, data, [10], row_group=97, executor=executor), data)
        for _ in range(3):
            # One that was killed may not be missed yet.
            while not (pids := list(client.run(os.getpid, on_error="ignore").values())):
                time.sleep(0.1)
            pid = pids[0]
            working = aside.submit(
                ordhc.bootstrap, data, method="mulk3-al", n_resamples=24, executor=executor
            )
            time.sleep(0.2)
            os.kill(pid, signal.SIGKILL)
            found = working.result()
            for name, scores in expected.scores.items():
                np.testing.assert_array_equal(found.scores[name], scores)
            for tree, other in zip(found.trees, expected.trees, strict=True):
                np.testing.assert_array_equal(tree.merges, other.merges)


def test_a_scan_has_its_own_executor_for_all_that_is_made_of_it(tmp_path):
    data = weighted_data(12, 600, None)
    with ThreadPoolExecutor(1) as executor:
        # A task that waits for a task of the same executor would wait for ever.
        scan = files(tmp_path, data, [100, 300], executor=executor, memory="16MB", spill=tmp_path)
        assert (scan.memory, scan.spill, scan.executor) == (16_000_000, str(tmp_path), executor)
        plain = ordhc.scan(tmp_path, n_leaves=12)
        for method in ("adds3-al", "mulk3-al", "adds3-al+lengths+spr"):
            found = ordhc.bootstrap(scan, method, n_resamples=2, unit="file")
            assert found.trees == ordhc.bootstrap(plain, method, n_resamples=2, unit="file").trees
        selected = ordhc.select(scan, ["adds3-al", "mulk3-al"], folds=2, unit="file")
        expected = ordhc.select(plain, ["adds3-al", "mulk3-al"], folds=2, unit="file")
        assert [c.satisfied for c in selected.candidates] == [c.satisfied for c in expected.candidates]
        copy = pickle.loads(pickle.dumps(scan))
        assert (copy.memory, copy.spill, copy.executor) == (16_000_000, str(tmp_path), None)
        for verb in (ordhc.bootstrap, ordhc.select):
            with pytest.raises(InputError, match="takes no spill= with ordhc.scan"):
                verb(scan, unit="file", spill=tmp_path)
    with pytest.raises(InputError, match="executor is 3; it must be a concurrent.futures.Executor"):
        ordhc.scan(tmp_path, executor=3)
