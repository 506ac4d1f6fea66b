"""What goes wrong with machines: servers that are killed, disks that are full, clocks that jump."""

import asyncio
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from ordhc_collect.people.study_state import Clock
from ordhc_collect.simulate.client import Browser, fields_of
from studies import Client, Server, ServerHere, make_study, number_of, title_of

import ordhc
from support.folders import in_memory

#: How often servers are killed in all, with one sampler and another.
KILLS = int(os.environ.get("ORDHC_KILLS", "200"))
PEOPLE = 12


@pytest.fixture
def memory_path(tmp_path):
    """A folder in memory where the system has such."""
    with in_memory(tmp_path) as folder:
        yield folder


#: Serves a study and kills itself, again and again, as fast as processes can be forked: the study is
#: imported once.
KILLER = """
import os, random, signal, sys, threading, time
from pathlib import Path
from ordhc_collect.study.reading import read_study
from ordhc_collect.web import server

study, data, port, kills = read_study(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
chance = random.Random(7)
for _ in range(kills):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        server.serve(study, data, port=port, on_start=lambda served: os.write(write, b"x"))
        os._exit(0)
    # Now and then before it serves.
    if chance.random() > 0.1:
        os.read(read, 1)
    os.close(read)
    os.close(write)
    time.sleep(chance.uniform(0, 0.3))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("over", flush=True)
server.serve(study, data, port=port, on_start=lambda served: print(served.address, flush=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["learner = 0.5\nrandom = 0.5\n[learner]\np = 0.8", "uncertain = 1"])
def test_kills_lose_and_double_nothing(memory_path, sampler):
    """SIGKILL at random moments, as people answer."""
    import socket

    sampler = f"[sampler]\n{sampler}"
    path = make_study(memory_path, 30, per_person=100_000, more=sampler)
    data = memory_path / "study.ordhc"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", KILLER, str(path), str(data), str(port), str(KILLS // 2)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    over = threading.Event()
    threading.Thread(target=lambda: [over.set() for line in process.stdout if line == "over\n"]).start()
    acknowledged = {}

    async def person(name):
        chance = random.Random(name)
        browser = Browser(f"http://127.0.0.1:{port}")
        mine = acknowledged.setdefault(name, {})

        async def patiently(work):
            while True:
                try:
                    return await work()
                except (OSError, asyncio.IncompleteReadError, ValueError, IndexError):
                    await browser.close()
                    await asyncio.sleep(0.02)

        async def join():
            page = await browser.get(f"/?puid={name}")
            await browser.post("/join", {**fields_of(page.text), "consent": "yes"})
            page = await browser.get("/study")
            assert page.status == 200, page.text
            if 'action="next"' in page.text:
                page = await browser.post("/next", fields_of(page.text), x_live="1")
            assert "data-trial" in page.text
            return page

        page = await patiently(join)
        after = 0
        while not over.is_set() or after < 3:
            after += over.is_set()
            number, choice = number_of(page), chance.randint(1, 3)
            fields = {**fields_of(page.text), "choice": choice}
            # The same form until the server has it, as the page's script does.
            page = await patiently(lambda: browser.post("/answer", fields, x_live="1"))  # noqa: B023
            assert page.status == 200, page.text
            assert number_of(page) == number + 1
            mine[number] = choice
        await browser.close()

    async def everybody():
        await asyncio.gather(*(person(f"p{k}") for k in range(PEOPLE)))

    try:
        asyncio.run(asyncio.wait_for(everybody(), 1200))
    finally:
        # All of the group, because a server that goes on would keep the pipes open.
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate()
    total = sum(map(len, acknowledged.values()))
    assert total > KILLS // 2
    with sqlite3.connect(data) as db:
        rows = db.execute(
            "SELECT platform, trial, choice, status FROM collect_trials JOIN collect_ids USING (person)"
        ).fetchall()
        held = sum(status == "held" for *_, status in rows)
    kept = {}
    for name, trial, choice, _ in rows:
        assert (name, trial) not in kept
        if choice is not None:
            kept[name, trial] = choice
    assert kept == {
        (name, trial): choice for name, mine in acknowledged.items() for trial, choice in mine.items()
    }
    with ordhc.Session(data) as session:
        assert session.status.n_answered == total - held
        table = session.table()
    # No question was told twice for anybody.
    assert len(set(zip(table["who"], table["question"], strict=True))) == len(table["who"])


def test_a_full_disk_is_told_and_breaks_nothing(tmp_path):
    """Files can't grow over a limit, as on a disk that is full."""
    path = make_study(tmp_path, 30, per_person=100_000)
    data = tmp_path / "study.ordhc"
    with Server(path, data=data) as server:
        client = Client(server)
        page = client.begin("?puid=ann")
        for _ in range(5):
            page = client.answer(page, 1)
        size = data.with_name("study.ordhc-wal").stat().st_size
        limit = (size + 60_000, resource.RLIM_INFINITY)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limit)
        n = 5
        for _ in range(400):
            found = client.post("/answer", {**fields_of(page.text), "choice": 2}, headers={"X-Live": "1"})
            if found.status != 200:
                break
            page, n = found, n + 1
        assert found.status == 503
        assert "could not be saved" in found.text
        # Whoever was asked something still sees it.
        assert number_of(client.get("/study")) == n + 1
        assert server.process.poll() is None
        # There is room again: the same form is taken.
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        page = client.answer(page, 3)
        assert number_of(page) == n + 2
        told = server.stop()
        assert "could not be written" in told
    with sqlite3.connect(data) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        choices = [choice for (choice,) in db.execute("SELECT choice FROM collect_trials ORDER BY trial")]
    assert choices == [1] * 5 + [2] * (n - 5) + [3, None]
    with ordhc.Session(data) as session:
        assert session.status.n_answered == n + 1


def test_clocks_that_jump(monkeypatch):
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    clock = Clock()
    before = clock.now()
    now[0] += 86_400
    assert 0 <= clock.now() - before < 60
    now[0] -= 3 * 86_400
    assert 0 <= clock.now() - before < 60


def test_a_file_from_the_future(tmp_path):
    """The clock was wrong when people came: once it is right, they neither stay for ever nor are lost."""
    path = make_study(tmp_path, per_person=4, more="[people]\ntotal = 1\nleave_after = 5")
    data = tmp_path / "study.ordhc"
    with ServerHere(path, data=data) as server:
        client = Client(server)
        client.answer(client.begin("?puid=ann"), 1)
        server.stop()
    with sqlite3.connect(data) as db:
        db.execute("UPDATE collect_people SET seen = seen + 1e7, joined = joined + 1e7")
        db.execute("UPDATE collect_trials SET asked = asked + 1e7, answered = answered + 1e7")
    with ServerHere(path, data=data) as server:
        client.port = server.port
        page = client.get("/study")
        assert number_of(page) == 2
        assert number_of(client.answer(page, 2)) == 3
        other = Client(server)
        server.later(6)
        deadline = time.monotonic() + 20
        while title_of(other.join("?puid=bob")) == "All places are taken":
            assert time.monotonic() < deadline
            time.sleep(0.1)
    with sqlite3.connect(data) as db:
        seconds = db.execute("SELECT server_seconds FROM collect_trials WHERE choice NOT NULL").fetchall()
    assert all(0 <= took < 1000 for (took,) in seconds)


def test_one_server_for_each_file(tmp_path):
    path = make_study(tmp_path)
    data = tmp_path / "study.ordhc"
    with Server(path, data=data):
        second = Server(path, data=data, wait=False)
        _, told = second.process.communicate(timeout=60)
        assert second.process.returncode == 2
        assert re.search("a server of this study is running", told)


#: Serves a study whose writing thread computes for ever, from the first time that it tidies up.
STUCK = """
import sys
from pathlib import Path
import numpy as np
import ordhc
from ordhc_collect import actions
from ordhc_collect.people.study_state import StudyState

def tidy(*_):
    matrix = np.random.default_rng(0).random(2000 * 1999 // 2)
    print("stuck", flush=True)
    while True:
        ordhc.linkage(matrix, "average")

StudyState.tidy, StudyState.is_untidy = tidy, lambda _: True
study, data = actions.read_study(Path(sys.argv[1])), Path(sys.argv[2])
actions.run(study, data, host="127.0.0.1", port=0, proxies=None)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_server_that_is_at_work(tmp_path, number):
    command = [sys.executable, "-c", STUCK, make_study(tmp_path), tmp_path / "a.ordhc"]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as process:
        try:
            while process.stdout.readline() != "stuck\n":
                assert process.poll() is None
            process.send_signal(number)
            # Without a limit the computation never ends.
            assert process.wait(60) == 0
        finally:
            process.kill()
    with ordhc.Session(tmp_path / "a.ordhc") as session:
        assert session.n_leaves == 8


def test_sigterm_closes_the_file(tmp_path):
    data = tmp_path / "a.ordhc"
    with Server(make_study(tmp_path), data=data) as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
    assert not data.with_name("a.ordhc-wal").exists()
