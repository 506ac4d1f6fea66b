"""Sixteen threads at once: what they share stays whole, and everything is as one thread has it.

It needs NumPy and pytest alone, so that wheels are tested by it: also where there is no global lock, and the
extension must not switch it on.
"""

import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest

import ordhc
from ordhc import oracles
from ordhc.testing import check_linkage
from support.sessions import answers_of

THREADS = 16
FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def at_once(work, threads=THREADS):
    """What `work(number)` gives in so many threads that begin together; the first exception is raised."""
    barrier = threading.Barrier(threads)
    found, errors = [None] * threads, []

    def run(at):
        try:
            barrier.wait(60)
            found[at] = work(at)
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=run, args=(at,)) for at in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(300)
        assert not thread.is_alive()
    if errors:
        raise errors[0]
    return found


@pytest.fixture(scope="module")
def shared():
    answers, labels = ordhc.datasets.planted(3_000, levels=2, leaves_per_cluster=6, seed=1)
    tree = ordhc.cluster(answers, method="adds3-al+spr")
    S = ordhc.similarity(answers, "adds3")
    return answers, labels, tree, S, ordhc.posterior(answers, chains=1, sweeps=4)


def works(shared):
    """Calls that share what they are given; what they give can be compared."""
    answers, labels, tree, S, posterior = shared
    X = np.random.default_rng(0).random((40, 3))
    return {
        "cluster": lambda: ordhc.cluster(answers, method="adds3-al+spr").to_newick(),
        "cluster 3-al": lambda: ordhc.cluster(answers, method="3-al").to_newick(),
        "vectors": lambda: ordhc.cluster(X, method="cosine-al").to_newick(),
        "linkage": lambda: ordhc.linkage(S, "complete", dissimilarity=False).to_newick(),
        "similarity": lambda: ordhc.similarity(answers, "mulk3").tobytes(),
        "refine": lambda: ordhc.refine(tree, answers).to_newick(),
        "bootstrap": lambda: ordhc.bootstrap(answers, n_resamples=3, method="adds3-al").support.tobytes(),
        "posterior": lambda: ordhc.posterior(answers, chains=2, sweeps=4).tree.to_newick(),
        "predict": lambda: posterior.predict(answers[:200]).tobytes(),
        "trees": lambda: len({tree.to_newick() for tree in posterior.trees}),
        "aari": lambda: ordhc.metrics.aari(tree, labels),
        "score": lambda: ordhc.score(tree, answers),
        "distance": lambda: ordhc.metrics.triplet_distance(tree, posterior.tree),
        "cut": lambda: tree.cut(4).tobytes(),
        "split": lambda: [part.rows.tobytes() for part in answers.split(seed=3)],
        "newick": lambda: ordhc.as_dendrogram(tree.to_newick()).to_newick(),
        "plugins": lambda: len(ordhc.plugins.list_plugins()),
        "plan": lambda: str(ordhc.plan(30, 0.8)),
        "learn": lambda: ordhc.learn(oracles.from_tree(tree)).to_newick(),
        "check": lambda: check_linkage("average"),
    }


def test_everything_at_once_is_as_one_after_the_other(shared):
    calls = list(works(shared).items())
    expected = {name: call() for name, call in calls}

    def work(at):
        # Each begins elsewhere, so that all kinds of calls meet.
        turned = calls[at % len(calls) :] + calls[: at % len(calls)]
        return {name: call() for name, call in turned}

    for found in at_once(work):
        assert found == expected


@pytest.mark.parametrize("name", ["cluster", "predict", "cut", "plugins"])
def test_all_call_the_same(shared, name):
    call = works(shared)[name]
    expected = call()
    for found in at_once(lambda _: [call() for _ in range(5)]):
        assert found == [expected] * 5


@pytest.mark.slow
@pytest.mark.parametrize("method", ["insertion", "robust", "uncertain", "single"])
def test_a_learner_that_all_ask_and_tell(method):
    """No question is given twice, none is lost, and every answer counts once."""
    points = np.random.default_rng(1).random((24, 2))
    n, oracle = len(points), oracles.from_vectors(points)
    settings = {"p": 0.9} if method == "robust" else {}
    settings |= {"schedule": "rounds"} if method in ("insertion", "robust") else {}
    learner = ordhc.Learner(n, ordhc.learners.named(method, **settings), budget=200, seed=2)

    def work(_):
        mine = []
        for _ in range(12):
            asked = learner.ask(3)
            mine += asked.ids.tolist()
            learner.tell(asked.ids, oracle(asked.rows))
            assert learner.tree().n_leaves == n
        return mine

    given = [number for mine in at_once(work) for number in mine]
    assert len(given) == len(set(given)) == learner.n_asked
    assert learner.status.n_answered == learner.n_asked
    assert not len(learner.open)


def test_a_session_file_that_all_share(tmp_path):
    """Each thread has opened the file itself; no answer is lost."""
    path, n = tmp_path / "a.ordhc", 16
    ordhc.Session(path, n_leaves=n, method=ordhc.learners.Insertion(schedule="rounds")).close()
    oracle = oracles.from_similarity(-np.abs(np.subtract.outer(np.arange(n) ** 2, np.arange(n) ** 2)))

    def work(at):
        given = 0
        with ordhc.Session(path) as session:
            for _ in range(4):
                asked = session.ask(2, who=f"p{at}")
                told = session.tell(asked.ids, oracle(asked.rows), who=f"p{at}")
                given += told.count("taken")
        return given

    given = sum(at_once(work))
    with ordhc.Session(path) as session:
        assert session.status.n_answered == given > 0
        people = answers_of(session)[2]
    assert len(people) == given


FIRST = """
import threading
barrier, found = threading.Barrier(16), []

def work():
    barrier.wait(60)
    import ordhc
    found.append(ordhc.cluster(ordhc.Triplets([(0, 1, 2), (1, 0, 2)])).to_newick(branch_lengths=False))

running = [threading.Thread(target=work) for _ in range(16)]
[thread.start() for thread in running]
[thread.join() for thread in running]
import sys
print(set(found), len(found), getattr(sys, "_is_gil_enabled", lambda: None)())
"""


def test_the_first_import_in_all_threads():
    done = subprocess.run([sys.executable, "-W", "error", "-c", FIRST], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lock = None if sys.version_info < (3, 13) else not FREE
    assert done.stdout == f"{{'(2,(0,1));'}} 16 {lock}\n" or done.stdout.startswith("{'((0,1),2);'}")


@pytest.mark.skipif(not FREE, reason="this interpreter has a global lock")
def test_the_extension_leaves_the_global_lock_off():
    assert not sys._is_gil_enabled()
