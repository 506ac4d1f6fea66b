"""More than fits: python benches/bench_scale.py [--share 0.01] [--folder FOLDER] [part ...].

Parts are dense, scan, sparse, dask, kills and neighbors; every line is a process of its own. `--share`
is that of the full size: 1 for the sizes of the bars below. Data are planted hierarchies, made by
`datasets.planted`, and random triplets; as Parquet they stay in FOLDER (by default a new one, which goes).

Bars, on two cores: dense, 1,000,000,000 triplets of 20,000 leaves at 20 million a second or more, in at most
1.5 times the condensed matrix and 300 MB; scan, 100,000,000 answers add under 100 MB; sparse, 200,000,000
triplets of 1,000,000 leaves with memory="2GB" peak below 3 GB; dask, 2 workers are 1.6 times as fast as one
at 200 resamples of 1,000 leaves; kills, a worker killed 20 times, the same bits; neighbors, 1,000,000 vectors
of 50 coordinates in 10 minutes and 8 GB.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import ordhc
from measure import PEAK, table

PARTS = ("dense", "scan", "sparse", "dask", "kills")
#: Triplets of a file, and those that are made at once: each time a matrix is drawn.
FILE, AT_ONCE = 2_000_000, 50_000_000


def made(folder, n_triplets, levels, leaves_per_cluster):
    """A folder of Parquet files of planted triplets, and the number of leaves."""

    def rows(first, count):
        found, _ = ordhc.datasets.planted(
            count, levels=levels, leaves_per_cluster=leaves_per_cluster, delta=0.15, seed=first
        )
        return found.rows

    n = 2**levels * leaves_per_cluster
    return written(Path(folder) / f"planted-{n}-{n_triplets}", n_triplets, rows), n


def scattered(folder, n_triplets, n):
    """A folder of Parquet files of random triplets of more leaves than have a matrix."""

    def rows(first, count):
        random = np.random.default_rng(first)
        found = random.integers(0, n, (count + count // 100 + 100, 3), dtype=np.int32)
        i, j, k = found.T
        return found[(i != j) & (i != k) & (j != k)][:count]

    return written(Path(folder) / f"random-{n}-{n_triplets}", n_triplets, rows), n


def written(target, n_triplets, rows):
    """Files of rows, unless they are there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    done = target / "done"
    target.mkdir(exist_ok=True)
    for first in range(0, 0 if done.exists() else n_triplets, AT_ONCE):
        found = rows(first, min(AT_ONCE, n_triplets - first))
        for at in range(0, len(found), FILE):
            columns = dict(zip(("anchor", "near", "far"), found[at : at + FILE].T, strict=True))
            table = pa.table({name: np.ascontiguousarray(column) for name, column in columns.items()})
            pq.write_table(table, target / f"{(first + at) // FILE:04}.parquet", row_group_size=1 << 20)
    done.touch()
    return target


def alone(code):
    """What a fresh Python prints as JSON, with its peak memory in megabytes."""
    begin = "import json, time, ordhc, numpy as np\nstart = time.perf_counter()\n"
    end = "print(json.dumps([time.perf_counter() - start, time.process_time(), found]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}{code}\n{end}\n{PEAK}"], capture_output=True, text=True, check=True
    )
    first, last = done.stdout.splitlines()[-2:]
    return *json.loads(first), int(last) / 1024


BASE = "import pyarrow.parquet, scipy.sparse\nfound = 0"


def dense(folder, share):
    files, n = made(folder, int(1e9 * share), 5, 625)
    bar = 1.5 * 8 * n * (n - 1) / 2 / 1e6 + 300
    rows = []
    for verb in ("similarity(s, 'adds3', layout='condensed')", "cluster(s, method='adds3-al')"):
        code = f"s = ordhc.scan({str(files)!r}, n_leaves={n})\nx = ordhc.{verb}\nfound = len(s)"
        seconds, processor, m, peak = alone(code)
        rows.append(
            (verb, f"{m:,}", f"{seconds:.1f}", f"{m / seconds / 1e6:.1f}", f"{processor:.1f}", f"{peak:,.0f}")
        )
    table(("dense", "triplets", "s", "million/s", "processor s", f"peak MB (bar {bar:,.0f})"), rows)


def scan(folder, share):
    files, _ = made(folder, int(1e8 * share), 5, 625)
    *_, before = alone(BASE)
    code = f"s = ordhc.scan({str(files)!r})\nfound = sum(len(block) for block in s)"
    seconds, processor, m, peak = alone(f"import pyarrow.parquet, scipy.sparse\n{code}")
    table(
        ("scan", "s", "processor s", "MB added (bar 100)"),
        [(f"{m:,}", f"{seconds:.1f}", f"{processor:.1f}", f"{peak - before:.0f}")],
    )


def sparse(folder, share):
    files, n = scattered(folder, int(2e8 * share), 1_000_000)
    with tempfile.TemporaryDirectory(dir=folder) as spill:
        code = (
            f"s = ordhc.scan({str(files)!r}, n_leaves={n}, memory='2GB', spill={spill!r})\n"
            "x = ordhc.similarity(s, 'adds3', layout='sparse')\nfound = x.nnz"
        )
        seconds, processor, nnz, peak = alone(code)
        left = len(list(Path(spill).iterdir()))
    table(
        ("sparse", "stored", "s", "processor s", "peak MB (bar 3,000)", "files left"),
        [(f"{int(2e8 * share):,}", f"{nnz:,}", f"{seconds:.1f}", f"{processor:.1f}", f"{peak:,.0f}", left)],
    )


def cluster_of(n_workers):
    from distributed import Client, LocalCluster

    made = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    return made, Client(made)


def dask(_, share):
    data, _ = ordhc.datasets.planted(int(1e6), levels=3, leaves_per_cluster=125, seed=1)
    count = max(8, int(200 * share))
    seconds = []
    for n_workers in (1, 2):
        cluster, client = cluster_of(n_workers)
        with cluster, client, client.get_executor() as executor:
            ordhc.bootstrap(data, method="adds3-al", n_resamples=4, executor=executor)
            start = time.perf_counter()
            ordhc.bootstrap(data, method="adds3-al", n_resamples=count, executor=executor)
            seconds.append(time.perf_counter() - start)
    ratio = seconds[0] / seconds[1]
    rows = [(count, f"{seconds[0]:.1f}", f"{seconds[1]:.1f}", f"{ratio:.2f}")]
    table(("resamples", "1 worker, s", "2 workers, s", "ratio (bar 1.6)"), rows)


def kills(_, share):
    data, _ = ordhc.datasets.planted(40_000, levels=3, leaves_per_cluster=25, seed=1)
    expected = ordhc.bootstrap(data, method="mulk3-al", n_resamples=40)
    times, same = max(2, int(20 * share)), 0
    cluster, client = cluster_of(2)
    with cluster, client, client.get_executor() as executor:
        for at in range(times):
            pids = list(client.run(os.getpid, on_error="ignore").values())
            timer = threading.Timer(0.1 + 0.05 * at, os.kill, (pids[at % len(pids)], signal.SIGKILL))
            timer.start()
            found = ordhc.bootstrap(data, method="mulk3-al", n_resamples=40, executor=executor)
            timer.join()
            same += all(
                np.array_equal(a.merges, b.merges) and np.array_equal(a.heights, b.heights)
                for a, b in zip(found.trees, expected.trees, strict=True)
            ) and all(np.array_equal(found.scores[name], expected.scores[name]) for name in found.scores)
            client.wait_for_workers(2)
    table(("killed", "the same bits"), [(times, same)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, choices=[*PARTS, []])
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for part in given.parts:
            globals()[part](given.folder or temporary, given.share)


if __name__ == "__main__":
    main()
