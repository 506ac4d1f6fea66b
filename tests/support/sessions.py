"""Sessions of seven animals, and processes that are killed while they work on one."""

import os
import signal
import time

import ordhc
from ordhc import oracles

NAMES = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu"]
TRUTH = ordhc.as_dendrogram("(((0,1),2),((3,4),(5,6)));")
ORACLE = oracles.from_tree(TRUTH)


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
    rows, answers, who = session.answers()
    return (
        rows.tolist(),
        answers.tolist(),
        who,
        session.tree(),
        session.n_placed,
        session.remaining_estimate,
    )


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
