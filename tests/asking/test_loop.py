"""The loop: oracles by name, sessions and learners, with and without an event loop."""

import asyncio
import sqlite3
import threading

import numpy as np
import pytest

import ordhc
from ordhc import Learner, oracles
from ordhc.asking.oracle import Answering
from ordhc.errors import InputError
from ordhc.plugins import registry
from ordhc.specs import OracleSpec
from support.learners import by_settings
from support.sessions import answers_of

TRUTH = ordhc.as_dendrogram("((cat,dog),((car,bus),(tree,(rose,tulip))));")
POINTS = np.random.default_rng(0).normal(size=(12, 2))


def same(one, other):
    return ordhc.metrics.robinson_foulds(one, other) == 0


# --- by name ---------------------------------------------------------------------------------


def test_every_built_in_oracle_is_found_by_its_name():
    assert same(ordhc.learn(oracles.named("tree", TRUTH)), TRUTH)
    distances = ((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2)
    near = ordhc.learn(oracles.named("similarity", -distances), method="single")
    assert same(near, ordhc.cluster(POINTS, similarity="euclidean", linkage="single"))
    assert same(ordhc.learn(oracles.named("vectors", POINTS), method="single"), near)
    keeper = oracles.Recording(TRUTH)
    ordhc.learn(keeper, seed=3)
    answers = keeper.comparisons(names=TRUTH.names)
    assert same(ordhc.learn(oracles.named("recorded", answers), seed=3), TRUTH)


def test_a_person_is_found_by_name(monkeypatch):
    told = iter(["x", "3"])
    monkeypatch.setattr("builtins.input", lambda _: next(told))
    tree = ordhc.learn(oracles.named("person", ["cat", "dog", "car"]), seed=5)
    assert tree.n_leaves == 3
    assert set(tree.names) == {"cat", "dog", "car"}


def test_parameters_go_to_whom_they_belong():
    points = np.abs(POINTS)
    cosine = ordhc.learn(oracles.named("vectors", points, similarity="cosine"), method="single")
    assert same(cosine, ordhc.cluster(points, similarity="cosine", linkage="single"))
    assert not same(cosine, ordhc.learn(oracles.named("vectors", points), method="single"))
    with pytest.raises(InputError, match="oracle 'vectors' has no parameter 'simlarity'|simlarity"):
        oracles.named("vectors", POINTS, simlarity="cosine")


def registered(monkeypatch, spec):
    """A spec as if a plugin had brought it."""
    found = registry.get
    monkeypatch.setattr(
        registry,
        "get",
        lambda kind, name: spec if (kind, name) == ("oracle", spec.name) else found(kind, name),
    )


def test_an_oracle_and_a_learner_have_seeds_of_their_own(monkeypatch):
    seeds = []

    def make(source, seed):
        seeds.append(seed)
        return oracles.from_tree(source)

    spec = OracleSpec(name="mine", summary="x", make=make, parameters={"seed": 0}, takes=("tree",))
    registered(monkeypatch, spec)
    assert same(ordhc.learn(oracles.named("mine", TRUTH, seed=7), seed=3), TRUTH)
    assert seeds == [7]


OF_THREE = Answering(lambda rows: np.zeros(len(rows), dtype=np.int8), 7, None, (3,))


def test_names_of_oracles_are_checked():
    for name, source, why in (
        ("tre", TRUTH, "did you mean tree"),
        ("tree", None, "answers from tree: give it as source"),
    ):
        with pytest.raises(InputError, match=why):
            oracles.named(name, source)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"oracle": "tree"}, r"'tree' is a name: use ordhc.oracles.named\('tree', source\)"),
        ({"oracle": OF_THREE, "method": "single"}, "questions about three leaves, but the method"),
        ({"oracle": TRUTH, "n_leaves": 9}, "the oracle has 7 leaves, fewer than the 9"),
        ({"oracle": TRUTH, "n_leaves": ["cat", "dgo"]}, "'dgo' is unknown"),
        ({"oracle": lambda rows: rows}, "give n_leaves"),
        (
            {"oracle": TRUTH, "learner": Learner(7), "seed": 3},
            "has its number of leaves and settings already",
        ),
        ({"oracle": TRUTH, "learner": 7}, "is not a Learner"),
        ({"oracle": TRUTH, "session": "x.ordhc"}, "is not a Session"),
    ],
)
def test_what_does_not_fit_is_explained(given, why):
    with pytest.raises(InputError, match=why):
        ordhc.learn(**by_settings(**given))
    with pytest.raises(InputError, match=why):
        asyncio.run(ordhc.learn_async(**by_settings(**given)))


def test_oracles_are_asked_about_leaves_by_name():
    some = ["tulip", "cat", "bus", "rose", "dog"]
    tree = ordhc.learn(TRUTH, some)
    assert tree.names == tuple(some)
    expected = ordhc.as_dendrogram("((cat,dog),(bus,(rose,tulip)));")
    assert same(tree, expected)


# --- sessions --------------------------------------------------------------------------------


def test_a_session_is_driven_and_goes_on(tmp_path):
    file = tmp_path / "study.ordhc"
    asked = oracles.Counting(TRUTH)

    def breaks(rows):
        if asked.n_questions > 5:
            raise RuntimeError("the network is down")
        return asked(rows)

    with ordhc.Session(file, TRUTH.names) as session:
        with pytest.raises(RuntimeError, match="down") as failed:
            ordhc.learn(breaks, session=session, batch=1)
        assert "kept in the session" in failed.value.__notes__[0]
        assert session.status.n_answered == asked.n_questions == 6
    with ordhc.Session(file) as session:
        tree = ordhc.learn(asked, session=session, who="model")
        assert same(tree, TRUTH)
        assert session.done
        assert asked.n_questions == session.status.n_answered
        assert answers_of(session)[2] == ["oracle"] * 6 + ["model"] * (asked.n_questions - 6)


def test_a_session_learns_what_a_learner_learns(tmp_path):
    settings = {"method": "robust", "p": 0.8, "seed": 4}
    with ordhc.Session(tmp_path / "a.ordhc", TRUTH.names, **by_settings(**settings)) as session:
        kept = ordhc.learn(oracles.noisy(TRUTH, 0.8, seed=1), session=session, batch=1)
    plain = ordhc.learn(oracles.noisy(TRUTH, 0.8, seed=1), batch=1, **by_settings(**settings))
    assert kept == plain


def test_the_budget_is_of_this_call(tmp_path):
    with ordhc.Session(tmp_path / "a.ordhc", TRUTH.names) as session:
        ordhc.learn(TRUTH, session=session, budget=3)
        assert session.status.n_answered == 3
        ordhc.learn(TRUTH, session=session, budget=2)
        assert session.status.n_answered == 5
        ordhc.learn(TRUTH, session=session)
        assert session.done


def test_questions_that_are_with_others_are_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("ordhc.asking.loop._POLL", 0.01)
    file = tmp_path / "a.ordhc"
    with ordhc.Session(file, TRUTH.names) as session, ordhc.Session(file) as other:
        taken = other.ask(1, who="ann")

        def answer():
            other.tell(taken.ids, oracles.from_tree(TRUTH)(taken.rows), who="ann")

        timer = threading.Timer(0.2, answer)
        timer.start()
        assert same(ordhc.learn(TRUTH, session=session), TRUTH)
        timer.join()
        assert "ann" in answers_of(session)[2]


def test_leases_are_given_back_by_a_call_that_stops(tmp_path):
    def broken(rows):
        raise KeyboardInterrupt

    file = tmp_path / "a.ordhc"
    with ordhc.Session(file, TRUTH.names, method=ordhc.learners.Insertion(schedule="rounds")) as session:
        with pytest.raises(KeyboardInterrupt):
            ordhc.learn(broken, session=session)
        assert len(session.ask(1, who="ann")) == 1
    with sqlite3.connect(file) as db:
        assert {who for (who,) in db.execute("SELECT who FROM leases")} == {"ann"}


# --- asynchronous oracles --------------------------------------------------------------------


class Slow:
    """Answers after a moment, in one event loop; counts how many batches are under way at a time."""

    def __init__(self, tree):
        self.known = oracles.from_tree(tree)
        self.loops, self.now, self.most = set(), 0, 0

    async def __call__(self, rows):
        self.loops.add(asyncio.get_running_loop())
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        return self.known(rows)


def test_one_event_loop_serves_all_batches():
    slow = Slow(TRUTH)
    assert same(ordhc.learn(slow, TRUTH.names), TRUTH)
    assert len(slow.loops) == 1


def test_in_a_running_event_loop_it_is_awaited():
    async def notebook():
        with pytest.raises(InputError, match="await ordhc.learn_async"):
            ordhc.learn(Slow(TRUTH), TRUTH.names)
        # What answers at once may stay as it is.
        assert same(ordhc.learn(TRUTH), TRUTH)
        slow = Slow(TRUTH)
        assert same(await ordhc.learn_async(slow, TRUTH.names), TRUTH)
        assert slow.loops == {asyncio.get_running_loop()}

    asyncio.run(notebook())


def test_the_event_loop_goes_on_meanwhile():
    ticks = []

    def blocking(rows):
        threading.Event().wait(0.02)
        return oracles.from_tree(TRUTH)(rows)

    async def server():
        async def clock():
            while True:
                ticks.append(len(ticks))
                await asyncio.sleep(0.005)

        task = asyncio.create_task(clock())
        tree = await ordhc.learn_async(blocking, TRUTH.names)
        task.cancel()
        return tree

    assert same(asyncio.run(server()), TRUTH)
    assert len(ticks) > 10


def test_wrappers_of_asynchronous_oracles():
    slow = Slow(TRUTH)
    everything = oracles.Recording(oracles.majority(oracles.noisy(slow, 0.9, seed=2), 15))
    assert same(ordhc.learn(everything, TRUTH.names, method=ordhc.learners.Robust(schedule="rounds")), TRUTH)
    assert everything.n_questions == len(everything.answers)
    assert slow.most > 1
    pair = [Slow(TRUTH), Slow(TRUTH)]
    assert same(
        asyncio.run(ordhc.learn_async(pair, TRUTH.names, method=ordhc.learners.Insertion(schedule="rounds"))),
        TRUTH,
    )
    assert all(each.loops for each in pair)


def test_both_loops_ask_the_same():
    for settings in (
        {},
        {"method": "robust", "schedule": "rounds"},
        {"p": 0.8},
        {"repeat": 3},
        {"budget": 4},
    ):
        one, other = (oracles.Recording(oracles.noisy(TRUTH, 0.9, seed=1)) for _ in range(2))
        tree = ordhc.learn(one, **by_settings(**settings))
        assert asyncio.run(ordhc.learn_async(other, **by_settings(**settings))) == tree
        assert np.array_equal(one.rows, other.rows)
        assert np.array_equal(one.answers, other.answers)


@pytest.mark.parametrize("kept", ["learner", "session"])
def test_cancelling_keeps_all_answers(tmp_path, kept):
    async def run():
        answered = asyncio.Event()
        known, n = oracles.from_tree(TRUTH), 0

        async def answer(rows):
            nonlocal n
            n += 1
            if n > 4:
                answered.set()
                await asyncio.sleep(60)
            return known(rows)

        learner = Learner(TRUTH.names)
        session = ordhc.Session(tmp_path / "a.ordhc", TRUTH.names)
        subject = {"learner": learner} if kept == "learner" else {"session": session}
        task = asyncio.create_task(ordhc.learn_async(answer, **subject, batch=1))
        await answered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        done = subject[kept]
        assert done.status.n_answered == 4
        assert same(await ordhc.learn_async(known, **subject), TRUTH)
        session.close()

    asyncio.run(run())


def test_progress_goes_up_to_all():
    for run in (ordhc.learn, lambda *args, **given: asyncio.run(ordhc.learn_async(*args, **given))):
        told = []
        run(TRUTH, progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 1.0
        assert len(told) > 3
