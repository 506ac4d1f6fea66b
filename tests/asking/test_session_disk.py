"""What of a session is on the disk, and what becomes of it when the power fails."""

import errno
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

import ordhc
from ordhc.asking import contents, disk
from ordhc.asking.disk import GAP, PAUSE
from support.sessions import NAMES, ORACLE, finish


@pytest.fixture
def synchronised(monkeypatch):
    """The files that were synchronised, by the ends of their names, with the size that they had."""
    found = []
    fsync = os.fsync

    def told(file):
        found.append(os.fstat(file).st_size)
        fsync(file)

    monkeypatch.setattr(disk.os, "fsync", told)
    return found


def size_of_log(path):
    return Path(f"{path}-wal").stat().st_size


def tell(session, row=(0, 1, 2)):
    session.add_answers([row], [0], gold=True)


def test_an_answer_that_comes_alone_is_on_the_disk(tmp_path, synchronised):
    with ordhc.Session(tmp_path / "a", NAMES) as session:
        questions = session.ask(who="ann")
        for _ in range(3):
            time.sleep(2 * PAUSE)
            before = len(synchronised)
            tell(session)
            # All of the log as it is when the call returns.
            assert len(synchronised) == before + 1
            assert synchronised[-1] == size_of_log(tmp_path / "a")
        before = len(synchronised)
        assert dict(session.ask(who="ann")) == dict(questions)
        session.release(questions.ids)
        time.sleep(2 * PAUSE)
        assert len(synchronised) == before


@pytest.mark.parametrize("durable", [None, True, False])
def test_many_answers_at_once(tmp_path, synchronised, durable):
    with ordhc.Session(tmp_path / "a", NAMES, durable=durable) as session:
        tell(session)
        start, before = time.monotonic(), len(synchronised)
        for _ in range(100):
            tell(session)
        took, count = time.monotonic() - start, len(synchronised) - before
        if durable:
            assert count == 100
        elif durable is None:
            assert count <= 2 + took / PAUSE
            # The last ones get there without another call.
            wait_until(lambda: synchronised[-1] == size_of_log(tmp_path / "a"))
        else:
            time.sleep(2 * PAUSE)
            assert len(synchronised) == before
    assert threading.active_count() < 3


def test_numbers_never_run_far_ahead_of_the_disk(tmp_path, synchronised):
    with ordhc.Session(tmp_path / "a", n_leaves=2000, durable=False, fill="random") as session:
        for _ in range(60):
            session.ask(100, who="ann", distinct=False, lease=0)
            session.ask(100, who="bob", distinct=False)
            assert session._contents.log.n - session._contents.disk._synchronised[1] <= GAP
        assert 1 < len(synchronised) < 20


def wait_until(is_so):
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_threads_wait_for_the_same_write(tmp_path, monkeypatch):
    """While one waits for the disk the others write, and wait together for the next time."""
    count = [0]

    def slow(_):
        count[0] += 1
        time.sleep(0.2)

    with ordhc.Session(tmp_path / "a", NAMES, durable=True) as session:
        tell(session)
        monkeypatch.setattr(disk.os, "fsync", slow)
        threads = [threading.Thread(target=tell, args=(session,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 1 <= count[0] <= 10


def test_a_disk_that_takes_nothing(tmp_path, monkeypatch):
    def broken(_):
        raise OSError(errno.EIO, "Input/output error")

    with ordhc.Session(tmp_path / "a", NAMES) as session:
        questions = session.ask(who="ann")
        tell(session)
        fsync = os.fsync
        monkeypatch.setattr(disk.os, "fsync", broken)
        # This one need not wait; the next answer raises the error.
        tell(session)
        wait_until(lambda: session._contents.disk._error is not None)
        with pytest.raises(OSError, match="a: Input/output error; the last answers may be lost"):
            session.tell(questions.ids, ORACLE(questions.rows), who="ann")
        time.sleep(2 * PAUSE)
        with pytest.raises(OSError, match="may be lost"):
            tell(session)
        monkeypatch.setattr(disk.os, "fsync", fsync)
        assert session.status.n_answered == 1
        finish(session)
    with ordhc.Session(tmp_path / "a") as session:
        assert session.done


def test_where_no_thread_can_be_had(tmp_path, monkeypatch, synchronised):
    def start(_):
        raise RuntimeError("can't start new thread")

    with ordhc.Session(tmp_path / "a", NAMES) as session:
        monkeypatch.setattr(threading.Thread, "start", start)
        before = len(synchronised)
        for _ in range(5):
            tell(session)
        assert len(synchronised) == before + 5


def test_after_a_power_cut_no_question_has_the_number_of_another(tmp_path, monkeypatch):
    path, copy = tmp_path / "a", tmp_path / "b"
    with ordhc.Session(path, n_leaves=30, seed=1) as session:
        session.tell(session.ask(who="ann").ids, [0], who="ann")
        # What is on the disk for sure.
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
        lost = session.ask(3, who="ann")
        assert len(lost) == 3
        n = session._contents.log.n
    monkeypatch.setattr(contents, "start_of_machine", lambda: "another")
    with ordhc.Session(copy) as session:
        # Nothing is written by reading.
        assert session._contents.log.n < n
        assert session.status.n_answered == 1
        assert session.tell(lost.ids, [0, 0, 0], who="ann") == ["foreign"] * 3
        questions = session.ask(3, who="bob")
        assert min(questions.ids) > max(lost.ids)
        assert session._contents.log.n <= n + GAP + 10
        assert session.tell(lost.ids, [0, 0, 0], who="ann") == ["foreign"] * 3
        n = session._contents.log.n
    with ordhc.Session(copy) as session:
        assert session.tell(session.ask(who="ann").ids, [0], who="ann") == ["taken"]
        assert session._contents.log.n < n + GAP


def test_the_machine_says_when_it_was_started(monkeypatch, tmp_path):
    here = disk.start_of_machine()
    assert here == disk.start_of_machine()
    monkeypatch.setattr(disk, "_BOOT", tmp_path / "none")
    now = [1e9]
    monkeypatch.setattr(disk.time, "time", lambda: now[0])
    monkeypatch.setattr(disk.time, "monotonic", lambda: now[0] - 1e9 + 5)
    first = disk.start_of_machine()
    now[0] += 1e5
    assert disk.start_of_machine() == first
    monkeypatch.setattr(disk.time, "monotonic", lambda: 20.0)
    assert disk.start_of_machine() != first
