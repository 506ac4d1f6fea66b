"""The cache: nothing is asked twice, be it by another process or after one was killed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import ordhc_judge
import pytest
from helpers import all_questions, judged
from ordhc_judge import JudgeError
from ordhc_judge.cache import Cache, key_of

import ordhc
from conftest import ITEMS, TREE

#: What `CLIENT` asks.
SOME = all_questions()[::3]
CLIENT = textwrap.dedent(
    """
    import json, sys
    from itertools import combinations
    import ordhc_judge
    url, cache, items, part = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4])
    questions = list(combinations(range(len(items)), 3))[::3]
    questions = questions[part:] + questions[:part]
    with ordhc_judge.Judge(url, "model", items, rpm=None, cache=cache, concurrency=8) as judge:
        print("begins", flush=True)
        answers = judge(questions).tolist()
    print(json.dumps(answers[len(questions) - part:] + answers[:len(questions) - part]))
    """
)


def client(server, cache, part=0):
    line = [sys.executable, "-c", CLIENT, server.url, str(cache), json.dumps(ITEMS), str(part)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def rows_of(path, columns="*"):
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT {columns} FROM replies")]


def test_what_is_kept(served, tmp_path):
    server = served(faults={"refusal": 0.3})
    path = tmp_path / "c.sqlite"
    with judged(server, cache=path, criterion="kind") as judge:
        judge(all_questions()[:30])
        report = judge.report()
    rows = rows_of(path)
    assert len(rows) == 90
    assert {row["status"] for row in rows} == {"ok", "refusal"}
    assert sum(row["status"] == "refusal" for row in rows) == report.unanswered["refusal"]
    for row in rows:
        request, raw = json.loads(row["request"]), json.loads(row["raw"])
        assert request["temperature"] == 0
        assert "by kind?" in request["messages"][0]["content"]
        assert raw["usage"]["prompt_tokens"] == row["prompt_tokens"]
        assert (row["model"], row["endpoint"]) == ("model", server.url)
        assert row["seconds"] > 0
        assert (row["said"] is not None) == (row["status"] == "ok")
        assert bytes(row["key"]) == key_of(server.url, "chat", request)
    assert sum(row["prompt_tokens"] for row in rows) == report.prompt_tokens


DIFFERENT = [
    {"criterion": "size"},
    {"temperature": 0.5},
    {"temperature": None},
    {"max_tokens": 5},
    {"logprobs": False},
    {"template": "1. {1}\n2. {2}\n3. {3}"},
    {"extra": {"seed": 1}},
]
SAME = [
    {"concurrency": 2},
    {"rpm": 60_000},
    {"key": "k"},
    {"timeout": 5},
    {"retries": 1},
    {"budget": {"calls": 9}},
]


@pytest.mark.parametrize("settings", [*DIFFERENT, *SAME], ids=str)
def test_what_determines_an_answer_is_in_the_key(served, tmp_path, settings):
    server = served()
    for times in (1, 2):
        with judged(server, cache=tmp_path / "c.sqlite") as judge:
            judge([[0, 1, 5]])
        assert server.requests == 3
        assert judge.report().cached == (0 if times == 1 else 3)
    with judged(server, cache=tmp_path / "c.sqlite", **settings) as judge:
        judge([[0, 1, 5]])
    assert server.requests == (6 if settings in DIFFERENT else 3)


def test_another_server_or_model_is_another_key(served, tmp_path):
    one, other = served(models=["model", "large"]), served(TREE, ITEMS[::-1])
    with judged(one, cache=tmp_path / "c.sqlite") as judge:
        judge([[0, 1, 5]])
    with judged(other, cache=tmp_path / "c.sqlite") as judge:
        judge([[0, 1, 5]])
    with ordhc_judge.Judge(one.url, "large", ITEMS, cache=tmp_path / "c.sqlite") as judge:
        judge([[0, 1, 5]])
    assert (one.requests, other.requests) == (6, 3)


def test_two_processes_share_it(served, tmp_path, truth):
    server = served(delay=0.002)
    clients = [client(server, tmp_path / "c.sqlite", part) for part in (0, 0, 60)]
    expected = truth(SOME).tolist()
    assert [said(process) for process in clients] == [expected] * 3
    assert max(server.prompts.values()) == 1
    assert server.requests == 3 * len(expected)


def test_two_judges_in_a_process_share_it(served, tmp_path, truth):
    server = served(delay=0.002)
    questions = all_questions()[:100]
    with (
        judged(server, cache=tmp_path / "c.sqlite") as one,
        judged(server, cache=tmp_path / "c.sqlite") as two,
    ):
        oracle = ordhc.oracles.workers([one, two])
        both = np.concatenate([questions, questions])
        assert (oracle(both) == truth(both)).all()
    assert max(server.prompts.values()) == 1


def test_many_make_the_file_at_once(tmp_path):
    with ThreadPoolExecutor(8) as executor:
        for at in range(20):
            path, ready = tmp_path / f"{at}.sqlite", Barrier(8)

            def made(path=path, ready=ready):
                ready.wait()
                Cache(path).close()

            for found in [executor.submit(made) for _ in range(8)]:
                found.result()


def test_a_run_that_was_killed_asks_nothing_twice(served, tmp_path, truth):
    server = served(delay=0.005)
    random = np.random.default_rng(0)
    lost = 0
    while server.requests < 100:
        enough = server.requests + random.integers(1, 60)
        process = client(server, tmp_path / "c.sqlite")
        assert process.stdout.readline() == "begins\n"
        while server.requests < enough:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process.stderr.close()
        lost += 8
    begin = time.perf_counter()
    assert said(client(server, tmp_path / "c.sqlite")) == truth(SOME).tolist()
    # Claims of the dead are not waited for.
    assert time.perf_counter() - begin < 60
    # Only what was under way when the process died is asked once more.
    asked_again = sum(server.prompts.values()) - 3 * len(SOME)
    assert 0 <= asked_again <= lost


def test_claims(tmp_path):
    one, two = Cache(tmp_path / "c.sqlite"), Cache(tmp_path / "c.sqlite")
    key = b"k" * 32
    assert one.claim(key, 60)
    assert one.claim(key, 60)
    assert not two.claim(key, 60)
    one.release_claims()
    assert two.claim(key, 0.01)
    time.sleep(0.02)
    # Nobody who is stuck keeps others from asking.
    assert one.claim(key, 60)
    one.close()
    two.owner = f"{two.owner.split('/')[0]}/999999999/x"
    assert two.claim(key, 1000)
    three = Cache(tmp_path / "c.sqlite")
    if os.name == "posix":
        assert three.claim(key, 60)
    three.close()
    two.close()


def test_files_that_are_no_cache(tmp_path):
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t(x)")
    connection.close()
    before = other.read_bytes()
    text = tmp_path / "text.sqlite"
    text.write_text("this is no database " * 100)
    for path, message in (
        (other, "not a cache of ordhc-judge"),
        (text, "not a database"),
        (tmp_path, "unable to open"),
        (tmp_path / "not" / "there.sqlite", "unable to open"),
    ):
        with (
            ordhc_judge.Judge("http://127.0.0.1:9/v1", "model", ITEMS, cache=path) as judge,
            pytest.raises(JudgeError, match=message) as caught,
        ):
            judge([[0, 1, 2]])
        assert str(path) in str(caught.value)
    assert other.read_bytes() == before
    new = tmp_path / "new.sqlite"
    cache = Cache(new)
    cache._connection.execute("PRAGMA user_version=99")
    cache.close()
    with pytest.raises(JudgeError, match="a cache of version 99"):
        Cache(new)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_has_connections_of_its_own(served, tmp_path, truth):
    server = served()
    code = textwrap.dedent(
        """
        import json, os, sys, ordhc_judge
        url, cache, items = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
        judge = ordhc_judge.Judge(url, "model", items, rpm=None, cache=cache)
        first = judge([[0, 1, 5]]).tolist()
        child = os.fork()
        if not child:
            os._exit(0 if judge([[0, 1, 5], [2, 3, 9]]).tolist() == [2, 2] else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert judge([[4, 5, 6]]).tolist() == [0]
        judge.close()
        print(first)
        """
    )
    line = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        code,
        server.url,
        str(tmp_path / "c.sqlite"),
        json.dumps(ITEMS),
    ]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[2]\n"), done.stderr
    assert max(server.prompts.values()) == 1


def test_without_a_file_nothing_is_left(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server = served()
    with judged(server) as judge:
        judge([[0, 1, 5]])
        judge([[0, 1, 5]])
    assert server.requests == 3
    assert not list(Path().iterdir())


def test_vectors_are_kept(served, tmp_path):
    server = served()
    path = tmp_path / "c.sqlite"
    first = ordhc_judge.embed(ITEMS, server.url, "model", cache=path, batch=4, rpm=None)
    assert server.requests == 4
    again = ordhc_judge.embed([*ITEMS[::-1], ITEMS[0]], server.url, "model", cache=path, rpm=None)
    assert server.requests == 4
    assert first.dtype == np.float32
    assert (again[:-1] == first[::-1]).all()
    assert (again[-1] == first[0]).all()
    tree = ordhc.cluster(first, similarity="cosine")
    assert ordhc.metrics.triplet_distance(tree, ordhc.as_dendrogram(TREE)) < 0.3
