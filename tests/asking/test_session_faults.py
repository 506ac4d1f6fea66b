"""Sessions survive interrupts, full disks, kills and bits that flip."""

import os
import random
import shutil
import signal

import pytest

import ordhc
from ordhc.asking.salvage import salvage
from ordhc.errors import InputError
from support.learners import by_settings
from support.processes import printed
from support.sessions import NAMES, ORACLE, TRUTH, answers_of, finish, state

KINDS = [
    {},
    {"schedule": "rounds"},
    {"parallel": 3},
    {"method": "quick"},
    {"repeat": 3},
    {"p": 0.9},
    {"method": "majority", "p": 0.9},
    {"method": "robust", "p": 0.8, "schedule": "balanced"},
    {"limit": 2, "parallel": 4},
    {"method": "uncertain", "budget": 40},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_undo_and_import_with_every_learner(memory_path, kind):
    """Learners of every kind, those that repeat questions too, open again after an undo or an import."""
    path = memory_path / "a"
    with ordhc.Session(path, NAMES, **by_settings(**kind)) as session:
        for _ in range(4):
            questions = session.ask(3)
            session.tell(questions.ids, ORACLE(questions.rows))
        rows, answers, _ = answers_of(session)
        before = session.status.n_answered
        assert session.undo() is not None
        session.add_answers(rows[:2], answers[:2], who="old")
        assert session.status.n_answered == before + 1
        now = state(session)
        with ordhc.Session(path) as again:
            assert state(again) == now
            assert dict(again.ask(4)) == dict(session.ask(4))
        while session.undo() is not None:
            pass
        assert session.status.n_answered == 2
        finish(session)
        assert ordhc.metrics.robinson_foulds(session.tree(), TRUTH.replace(names=NAMES)) == 0
        now = state(session)
    with ordhc.Session(path) as again:
        assert state(again) == now


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", ["ask", "tell", "undo", "add_answers"])
def test_an_interrupt_around_the_commit(memory_path, monkeypatch, moment, call):
    path = memory_path / "a"
    with ordhc.Session(path, NAMES, repeat=3) as session:
        questions = session.ask(2)
        session.tell(questions.ids, ORACLE(questions.rows))
        questions = session.ask(1)
        rows, answers, _ = answers_of(session)
        commit = session._contents.store.commit

        def interrupted():
            if moment == "after":
                commit()
            raise KeyboardInterrupt

        calls = {
            "ask": lambda: session.ask(3),
            "tell": lambda: session.tell(questions.ids, ORACLE(questions.rows), who="ann"),
            "undo": lambda: session.undo(),
            "add_answers": lambda: session.add_answers(rows, answers),
        }
        monkeypatch.setattr(session._contents.store, "commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            calls[call]()
        monkeypatch.undo()
        more = {"ask": 0, "tell": 1, "undo": -1, "add_answers": 2}[call]
        assert session.status.n_answered == 2 + more * (moment == "after")
        if call == "tell":
            # They cannot know whether it was kept, and say it again.
            calls[call]()
            assert session.status.n_answered == 3
        with ordhc.Session(path) as again:
            assert state(again) == state(session)
            assert dict(again.ask(4)) == dict(session.ask(4))
        finish(session)
    with ordhc.Session(path) as again:
        assert again.done
        assert ordhc.metrics.robinson_foulds(again.tree(), TRUTH.replace(names=NAMES)) == 0


INTERRUPTS = """
import os, random, signal, sys
import ordhc
from ordhc import oracles
from support.learners import by_settings
from support.random_data import random_tree

truth = random_tree(200, 1)
oracle = oracles.from_tree(truth)
kinds = [{"parallel": 8}, {"repeat": 3, "parallel": 4}, {"p": .9, "parallel": 8}, {"schedule": "rounds"}]
signal.signal(signal.SIGALRM, signal.default_int_handler)
chance = random.Random(5)
n_interrupts = 0
for number in range(40):
    path = os.path.join(sys.argv[1], f"s{number}")
    session = ordhc.Session(path, n_leaves=200, **by_settings(**kinds[number % 4]))
    acknowledged, tried = 0, 0
    for _ in range(6):
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.expovariate(1 / .02) + 1e-6)
            while True:
                what = chance.random()
                if what < .1:
                    undone = acknowledged > 0
                    acknowledged -= undone
                    session.undo()
                elif what < .15:
                    tried += 1
                    session.add_answers([[0, 1, 2]], oracle([[0, 1, 2]]), who="old")
                    acknowledged += 1
                else:
                    questions = session.ask(2)
                    answers = oracle(questions.rows)
                    tried += len(questions)
                    session.tell(questions.ids, answers, who="ann")
                    acknowledged += len(questions)
        except KeyboardInterrupt:
            n_interrupts += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    kept = session.status.n_answered
    assert acknowledged <= kept <= tried, (acknowledged, kept, tried)
    with ordhc.Session(path) as again:
        assert again.status.n_answered == session.status.n_answered
        assert again.tree() == session.tree()
        assert again.status.n_placed == session.status.n_placed
        assert dict(again.ask(4)) == dict(session.ask(4))
    session.close()
print(n_interrupts)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_interrupts_at_random_moments(memory_path):
    assert printed(INTERRUPTS, memory_path, timeout=600) == "240\n"


FULL = """
import os, resource, sys
import ordhc
from ordhc import oracles
from support.random_data import random_tree

truth = random_tree(80, 1)
oracle = oracles.from_tree(truth)
path = sys.argv[1]
session = ordhc.Session(path, n_leaves=80, method=ordhc.learners.Insertion(parallel=5))
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
n_failed = acknowledged = 0
for round in range(24):
    # So many more bytes fit than the larger of the two files has.
    size = max(os.path.getsize(path + end) for end in ("", "-wal"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1500 * round, most))
    for _ in range(4):
        before = acknowledged
        try:
            questions = session.ask(3, who="ann")
            session.tell(questions.ids, oracle(questions.rows), who="ann")
            acknowledged += len(questions)
            if round % 3 == 2:
                acknowledged -= 1
                session.undo()
        except OSError as error:
            n_failed += 1
            assert "this call has no effect" in str(error), error
            acknowledged = session.status.n_answered
            assert before <= acknowledged <= before + 3
        assert session.status.n_answered == acknowledged, (session.status.n_answered, acknowledged)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    with ordhc.Session(path) as again:
        assert again.status.n_answered == acknowledged
        assert again.tree() == session.tree()
        assert dict(again.ask(4)) == dict(session.ask(4))
while not session.done:
    questions = session.ask(None, who="ann")
    assert len(questions)
    session.tell(questions.ids, oracle(questions.rows), who="ann")
assert ordhc.metrics.robinson_foulds(session.tree(), truth) == 0
print(n_failed)
"""


def test_a_full_disk(memory_path):
    pytest.importorskip("resource")
    assert int(printed(FULL, memory_path / "a", timeout=600)) > 20


def made(path):
    """A session with something of everything in it."""
    with ordhc.Session(path, NAMES, method=ordhc.learners.Insertion(schedule="rounds"), seed=3) as session:
        session._contents.now = lambda: 1000.0
        for who in ("ann", "bob", None, "ann"):
            questions = session.ask(2, who=who)
            session.tell(questions.ids, ORACLE(questions.rows), who=who)
        session.undo("bob")
        session.add_answers([[0, 3, 5]], ORACLE([[0, 3, 5]]), who="old")
        session.ask(2, who="eve", lease=1e9)


def seen(path):
    with ordhc.Session(path) as session:
        session._contents.now = lambda: 2000.0
        return (*state(session), session.names, session.settings, dict(session.ask(3, who="zoe")))


def test_flipped_bits(memory_path):
    """250 files with a bit flipped: equal, or an error that says what to do; what is salvaged was there."""
    made(memory_path / "a")
    assert not (memory_path / "a-wal").exists()
    data = (memory_path / "a").read_bytes()
    shutil.copyfile(memory_path / "a", memory_path / "same")
    want = seen(memory_path / "same")
    given = {(*row, answer, who) for row, answer, who in zip(want[0], want[1], want[2], strict=True)}
    chance = random.Random(1)
    used = [at for at in range(len(data)) if data[at] or at % 64 == 0]
    n_errors = n_salvaged = 0
    for number in range(int(os.environ.get("ORDHC_FLIPS", "250"))):
        at = chance.choice(used) if number % 3 else chance.randrange(len(data))
        flipped = bytearray(data)
        flipped[at] ^= 1 << chance.randrange(8)
        path = memory_path / "flipped"
        for end in ("-wal", "-shm", "-journal"):
            (memory_path / f"flipped{end}").unlink(missing_ok=True)
        path.write_bytes(flipped)
        found, said = None, ""
        try:
            found = seen(path)
        except InputError as error:
            said = str(error)
        if found is None:
            assert "ordhc session salvage" in said, (at, said)
            n_errors += 1
            if n_errors % 8 == 0:
                path.write_bytes(flipped)
                new = memory_path / "new"
                new.unlink(missing_ok=True)
                done = salvage(path, new)
                with ordhc.Session(new) as session:
                    rows, answers, who = answers_of(session)
                    kept = {
                        (*row, a, w) for row, a, w in zip(rows.tolist(), answers.tolist(), who, strict=True)
                    }
                    # One that was taken back may stand again.
                    assert len(kept - given) <= 1
                    assert len(given & kept) >= len(given) - 1, (at, done)
                    assert done.n_answers == session.status.n_answered
                    if not any("settings" in note for note in done.notes):
                        finish(session)
                        assert session.names == tuple(NAMES)
                n_salvaged += 1
        else:
            assert found == want, at
    assert n_errors > 50
    assert n_salvaged > 5
