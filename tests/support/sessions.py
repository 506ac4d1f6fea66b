"""Sessions of seven animals, and processes that are killed while they work on one."""

import os
import signal
import sqlite3
import time

import ordhc
from ordhc import oracles
from ordhc.asking.analysis import rows_and_answers

NAMES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu"]
TRUTH = ordhc.as_dendrogram("(((0,1),2),((3,4),(5,6)));")
ORACLE = oracles.from_tree(TRUTH)


def answers_of(session):
    """All answers of a session: (m, 3) or (m, 4) leaves, (m,) answers, and who answered."""
    table = session.table()
    return *rows_and_answers(table), table["who"].tolist()


def answer(session, limit=1, who=None, oracle=ORACLE):
    """Answer some questions; how many there were."""
    questions = session.ask(limit, who=who)
    session.tell(questions.ids, oracle(questions.rows), who=who)
    return len(questions)


def finish(session, oracle=ORACLE):
    """Answer all that is asked."""
    while not session.done:
        assert answer(session, 5, oracle=oracle)


def state(session):
    """What two sessions of the same file have in common."""
    rows, answers, who = answers_of(session)
    return (
        rows.tolist(),
        answers.tolist(),
        who,
        session.tree(),
        session.status.n_placed,
        session.status.remaining,
    )


def make_read_only(patch, folder):
    """Let SQLite make no files in a folder, as on a file system that is mounted read-only."""
    connect, access = sqlite3.connect, os.access

    def refused(path, *arguments, **options):
        if str(folder) in str(path):
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error
        return connect(path, *arguments, **options)

    patch.setattr(sqlite3, "connect", refused)
    patch.setattr(os, "access", lambda path, mode: str(folder) not in str(path) and access(path, mode))


def told_until_killed(path, work, seconds):
    """Open a session in a child, kill it after some seconds of work; the bytes that it has told until then.

    `work(session, tell)` goes on for good; what it tells is kept though it is killed.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            session = ordhc.Session(path)
            os.write(write, b".")
            work(session, lambda what: os.write(write, what))
        finally:
            os._exit(1)
    os.close(write)
    assert os.read(read, 1) == b"."
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, "the child ended by itself"
    told = b""
    while part := os.read(read, 1 << 16):
        told += part
    os.close(read)
    return told
