"""Sessions survive kills, at any moment: what was acknowledged is kept, and nothing else is."""

import json
import os
import sqlite3
from contextlib import closing

import pytest

from support.processes import printed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# Forks happen in a process of their own: this one may have threads.
ALL_CALLS = """
import json, random, sys
import ordhc
from ordhc import oracles
from support.learners import by_settings
from support.sessions import answers_of, answer, told_until_killed
from support.random_data import random_tree

n, kills, seconds, wrong, *kinds = json.loads(sys.argv[2])
truth = random_tree(n, 1)
oracle = oracles.from_tree(truth)
chance = random.Random(1)
paths = [f"{sys.argv[1]}-{k}" for k in range(len(kinds))]
counts = [0] * len(kinds)
for path, kind in zip(paths, kinds):
    ordhc.Session(path, n_leaves=n, **by_settings(**kind)).close()

def working(seed):
    mine = random.Random(seed)

    def work(session, tell):
        while True:
            what = mine.random()
            if what < .15:
                tell(b"u")
                session.undo()
                tell(b"U")
            elif what < .25:
                leaves = [mine.sample(range(n), 3) for _ in range(2)]
                tell(b"i")
                session.add_answers(leaves, oracle(leaves), who="old")
                tell(b"I")
            else:
                questions = session.ask(3)
                tell(b"0123"[len(questions):][:1])
                session.tell(questions.ids, oracle(questions.rows))
                tell(b"T")

    return work

for number in range(kills):
    at = number % len(paths)
    path, low = paths[at], counts[at]
    told = told_until_killed(path, working(chance.random()), chance.random() * seconds)
    # What was said to be done, and what may have been: of the last call nobody knows.
    worth = {b"i": 2, b"0": 0, b"1": 1, b"2": 2, b"3": 3}
    calls = [told[k:k + 1] for k in range(0, len(told), 2)]
    sure = calls if len(told) % 2 == 0 else calls[:-1]
    undos = sure.count(b"u")
    gain = sum(worth.get(call, 0) for call in sure)
    with ordhc.Session(path) as session:
        kept = session.status.n_answered
        last = 0 if len(sure) == len(calls) else worth.get(calls[-1], -1)
        # An undo of nothing takes nothing back.
        assert low + gain - undos + min(last, 0) <= kept <= low + gain + max(last, 0), (told, low, kept)
        if low > undos:
            assert kept in (low + gain - undos, low + gain - undos + last), (told, low, kept)
        counts[at] = kept
        rows, answers, _ = answers_of(session)
        assert (oracle(rows) == answers).all()
for path in paths:
    with ordhc.Session(path) as session:
        while not session.done:
            answer(session, None, oracle=oracle)
        assert ordhc.metrics.triplet_distance(session.tree(), truth) <= wrong
print(sum(counts))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "kills", "seconds", "wrong", "kinds"),
    [
        (
            400,
            200,
            0.03,
            0,
            [
                {"parallel": 20},
                {"repeat": 3, "parallel": 4},
                {"p": 0.9, "parallel": 8},
                {"schedule": "rounds"},
            ],
        ),
        # Trees are drawn.
        (
            24,
            60,
            0.3,
            0.05,
            [{"method": "uncertain", "budget": 400}, {"method": "uncertain", "budget": 500, "repeat": 2}],
        ),
    ],
)
def test_kills_during_any_call(memory_path, n, kills, seconds, wrong, kinds):
    how = json.dumps([n, kills, seconds, wrong, *kinds])
    assert int(printed(ALL_CALLS, memory_path / "a", how, timeout=600)) > kills
    for number in range(len(kinds)):
        with closing(sqlite3.connect(memory_path / f"a-{number}")) as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
