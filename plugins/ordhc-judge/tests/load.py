"""Many questions to a server on loopback: questions a second, what the judge takes for one, memory.

python plugins/ordhc-judge/tests/load.py [QUESTIONS] [CONCURRENCY]

The server runs in a process of its own, so that its processor time is not the judge's.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import ordhc_judge

SERVER = """
import sys
from ordhc_judge.testing import serve

n = int(sys.argv[1])
parts = [str(leaf) for leaf in range(n)]
while len(parts) > 1:
    parts = [",".join(parts[at:at + 2]).join("()") for at in range(0, len(parts), 2)]
tree = parts[0] + ";"
with serve(tree, [f"item {leaf}" for leaf in range(n)]) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
N_LEAVES = 300


def measure(n_questions: int, concurrency: int, *, orders: str = "one") -> dict[str, float]:
    """Ask so many questions, first of the server, then of the cache."""
    serving = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(N_LEAVES)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    url = serving.stdout.readline().strip()
    random = np.random.default_rng(0)
    questions = np.array([random.choice(N_LEAVES, 3, replace=False) for _ in range(n_questions)])
    questions = np.unique(np.sort(questions, axis=1), axis=0)
    items = [f"item {leaf}" for leaf in range(N_LEAVES)]
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "judge.sqlite"
        settings = {"rpm": None, "cache": cache, "concurrency": concurrency, "orders": orders}
        with ordhc_judge.Judge(url, "model", items, **settings) as judge:
            judge(questions[:100])
            before = resource.getrusage(resource.RUSAGE_SELF)
            begin = time.perf_counter()
            answers = judge(questions[100:])
            seconds = time.perf_counter() - begin
            after = resource.getrusage(resource.RUSAGE_SELF)
            report = judge.report()
            begin = time.perf_counter()
            assert (judge(questions[100:]) == answers).all()
            again = time.perf_counter() - begin
        size = cache.stat().st_size
    assert report.failed == 0
    serving.stdin.close()
    serving.stdout.close()
    serving.wait()
    spent = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
    n_calls = report.calls - 100 * (3 if orders == "cyclic" else 1)
    n = len(questions) - 100
    return {
        "questions": n,
        "calls": n_calls,
        "questions a second": round(n / seconds, 1),
        "calls a second": round(n_calls / seconds, 1),
        "processor ms a call": round(1000 * spent / n_calls, 3),
        "cached questions a second": round(n / again, 1),
        "memory grew by MB": round((after.ru_maxrss - before.ru_maxrss) / 1024, 1),
        "cache bytes a call": round(size / n_calls),
    }


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    found = measure(*(given or [20_000, 64]))
    print(json.dumps(found, indent=2))
