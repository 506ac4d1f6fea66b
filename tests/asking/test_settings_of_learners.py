"""Learners use every parameter that they are given, or refuse it; oracles that err say so to learners."""

import numpy as np
import pytest

import ordhc
from ordhc import learners
from ordhc.asking.oracle import advised
from ordhc.asking.settings import METHODS, from_settings
from ordhc.errors import InputError, OrdhcWarning
from support.learners import by_settings
from support.processes import run

TREE = "((((0,1),2),3),(4,5));"
#: What a method needs before anything else is said, and values that change something.
NEEDED = {name: {"p": 0.8} for name in ("robust", "robust-paper", "majority")} | {"revise": {"prior": TREE}}
VALUES = {
    "p": 0.7,
    "delta": 0.01,
    "assume": "uniform",
    "noise": "persistent",
    "schedule": "rounds",
    "parallel": 3,
    "exact": True,
    "n_landmarks": 2,
    "q": 0.5,
    "n_references": 2,
    "prior": TREE,
    "prior_strength": 3.0,
    "among": [[0, 1, 2]],
    "question": "pairs",
}
#: The settings of each method, beside those of all learners (repeat, budget, limit, seed).
TAKEN = {
    "insertion": {"schedule", "parallel", "exact"},
    "quick": set(),
    "robust": {"p", "delta", "assume", "noise", "schedule", "parallel"},
    "robust-paper": {"p", "delta"},
    "majority": {"p", "delta"},
    "revise": {"p", "delta", "schedule", "parallel", "prior", "prior_strength"},
    "uncertain": {"among", "question"},
    "single": set(),
    "complete": set(),
    "4k-active": {"n_landmarks", "q", "n_references"},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", VALUES)
def test_no_setting_is_ignored(method, name):
    given = {**NEEDED.get(method, {}), name: VALUES[name]}
    if name in TAKEN[method]:
        made = learners.named(method, **given)
        ordhc.Learner(6, made)
        assert np.array_equal(made.to_settings()[name], VALUES[name])
        return
    with pytest.raises(InputError, match=name):
        learners.named(method, **given)


def test_every_method_has_a_class_and_a_name():
    assert set(TAKEN) == set(METHODS)
    for name in METHODS:
        made = learners.named(name, **NEEDED.get(name, {}))
        assert (made.name, type(made).__name__ in learners.__all__) == (name, True)
    assert learners.Robust(p=0.9) == learners.named("robust", p=np.float64(0.9))
    with pytest.raises(InputError, match="method is 'x', not one of insertion"):
        ordhc.Learner(6, "x")
    with pytest.raises(InputError, match="neither a name of a method nor"):
        ordhc.Learner(6, 7)
    with pytest.raises(InputError, match="no method has a setting 'schdule'"):
        learners.named("insertion", schdule="rounds")


@pytest.mark.parametrize("name", METHODS)
def test_a_session_keeps_all_settings_of_a_method(tmp_path, name):
    made = learners.named(name, **NEEDED.get(name, {}))
    with ordhc.Session(tmp_path / "a", n_leaves=6, method=made) as session:
        kept = session.settings
    again = learners.named(kept.pop("method"), **kept)
    prior = {"prior"}
    assert again.to_settings().keys() == made.to_settings().keys()
    for key, value in made.to_settings().items():
        assert key in prior or again.to_settings()[key] == value
    ordhc.Session(tmp_path / "a", method=made).close()
    with pytest.raises(InputError, match="method is|p is"):
        ordhc.Session(tmp_path / "a", method=learners.RobustPaper(p=0.6))


@pytest.mark.parametrize(
    ("flat", "name"),
    [
        ({}, "insertion"),
        ({"p": 0.8}, "robust"),
        ({"p": 1}, "robust"),
        ({"prior": TREE, "p": 0.8}, "revise"),
        ({"p": None, "noise": None}, "insertion"),
    ],
)
def test_flat_settings_without_a_name(flat, name):
    assert from_settings(flat).name == name


def questions_of(n, seed, **given):
    """All questions that a learner asks of a tree, round by round."""
    learner, oracle = (
        ordhc.Learner(n, seed=seed, **by_settings(**given)),
        ordhc.oracles.from_tree(tree_of_points(n, seed)),
    )
    rounds = []
    while len((asked := learner.ask()).ids):
        rounds.append(asked.rows.tolist())
        learner.tell(asked.ids, oracle(asked.rows))
    return rounds


@pytest.mark.parametrize("schedule", ["questions", "balanced", "rounds"])
def test_schedules_of_right_answers_are_those_of_insertion(schedule):
    robust = questions_of(40, 1, method="robust", p=1, schedule=schedule)
    assert robust == questions_of(40, 1, method="insertion", schedule=schedule)
    # A prior that answers contradict is left aside for such a learner.
    wrong = tree_of_points(40, 9)
    rounds = questions_of(40, 1, prior=wrong, schedule=schedule)
    assert (len(rounds) < 40) is (schedule != "questions")


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "quick", "--p", "0.7"],
        ["--method", "quick", "--delta", "0.01"],
        ["--noise", "persistent"],
    ],
)
def test_the_command_line_refuses_them_too(tmp_path, capsys, options):
    (tmp_path / "tree.nwk").write_text(TREE)
    code, _, err = run(capsys, "learn", "--oracle", "tree", "--source", tmp_path / "tree.nwk", *options)
    assert code != 0
    assert options[-2].removeprefix("--") in err or "robust needs p" in err


def test_the_command_line_tells_what_the_oracle_says(tmp_path, capsys):
    ordhc.write_tree(tree_of_points(40, 1), tmp_path / "tree.nwk")
    known = ("learn", "--oracle", "tree", "--source", tmp_path / "tree.nwk", "--accuracy", "0.8")
    code, out, err = run(capsys, *known)
    assert (code, "is right with probability 0.8: the learner has p=0.8" in err) == (0, True)
    assert float(out.split("oracle's tree")[1]) <= 0.02
    code, again, err = run(capsys, *known, "--p", "0.8")
    assert (code, again, "the oracle" in err) == (0, out, False)
    code, _, err = run(capsys, *known, "--noise", "persistent")
    assert (code, "p=0.8" in err) == (0, True)


def test_progress_without_a_terminal(capsys):
    from ordhc.cli.learn import line_by_line

    now = iter([0, 1, 59, 61, 61, 100, 130, 130])
    tell = line_by_line("asking", lambda: next(now))
    for done in (0.1, 0.2, 0.3, 0.4, 0.5):
        tell(done)
    assert capsys.readouterr().err == "asking 30%\nasking 50%\n"


class Repeating:
    """Answers as a tree has it, but wrong for a part of all questions, and always the same."""

    noise = "persistent"
    questions = (3,)

    def __init__(self, tree, share, p=None):
        self.right, self.share, self.p = ordhc.oracles.from_tree(tree), share, p
        self.n_leaves = self.right.n_leaves

    def __call__(self, rows):
        answers = []
        for row, right in zip(np.asarray(rows).tolist(), self.right(rows).tolist(), strict=True):
            random = np.random.default_rng([7, *sorted(row)])
            leaves = sorted(leaf for leaf in row if right < 0 or leaf != row[right])
            wrong = row.index(leaves[int(random.integers(len(leaves)))])
            answers.append(wrong if random.random() < self.share else right)
        return answers


def tree_of_points(n, seed):
    """Clusters of clusters, as topics are."""
    random = np.random.default_rng(seed)
    points = np.zeros((1, 5))
    while len(points) < n:
        points = np.repeat(points, 2, axis=0) / 0.5 + random.normal(size=(2 * len(points), 5))
    picked = random.permutation(len(points))[:n]
    return ordhc.cluster(points[picked], similarity="euclidean", linkage="average")


@pytest.mark.parametrize(("n", "p"), [(120, None), (200, 0.9)])
@pytest.mark.filterwarnings("ignore:the oracle says that it errs:ordhc.errors.OrdhcWarning")
def test_learners_know_of_persistent_errors(n, p):
    truth = tree_of_points(n, 0)
    tree = ordhc.learn(Repeating(truth, 0.1, p), seed=1)
    assert ordhc.metrics.triplet_distance(tree, truth) <= 0.02


def test_learners_know_of_noise():
    truth = tree_of_points(40, 1)
    asked = ordhc.oracles.Counting(ordhc.oracles.noisy(truth, 0.8, seed=1))
    tree = ordhc.learn(asked)
    assert ordhc.metrics.triplet_distance(tree, truth) <= 0.02
    same = ordhc.oracles.Counting(ordhc.oracles.noisy(truth, 0.8, seed=1))
    assert ordhc.metrics.robinson_foulds(ordhc.learn(same, method=ordhc.learners.Robust(p=0.8)), tree) == 0
    assert asked.n_questions == same.n_questions


def test_assumptions_are_told():
    truth = tree_of_points(10, 1)
    with pytest.warns(OrdhcWarning, match="but not how often.*p=0.75, noise='persistent'; if you know p"):
        ordhc.learn(Repeating(truth, 0.1))
    for given in ({"learner": ordhc.Learner(10)}, {"learner": ordhc.Learner(10, "quick")}):
        with pytest.warns(OrdhcWarning, match="treats all answers as right"):
            ordhc.learn(Repeating(truth, 0.1), **by_settings(**given))
    # With p = 1 the caller says that all answers are right.
    for p in (0.8, 1):
        ordhc.learn(Repeating(truth, 0.1), learner=ordhc.Learner(10, ordhc.learners.Robust(p=p)))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"method": "quick"}, "treats all answers as right: use the method robust with noise='persistent'"),
        ({"method": "majority", "p": 0.8}, "asks the same questions again, and the oracle repeats"),
        ({"method": "robust-paper", "p": 0.95}, "asks the same questions again"),
        ({"repeat": 3}, "asks the same questions again"),
        ({"method": "quick", "repeat": 3}, "asks the same questions again"),
    ],
)
def test_asking_an_oracle_again_that_repeats_its_answers_is_told(tmp_path, given, told):
    oracle = Repeating(TREE, 0.1)
    with pytest.warns(OrdhcWarning, match=told):
        ordhc.learn(oracle, **by_settings(**given))
    warned = pytest.warns(OrdhcWarning, match=f"the session {told}")
    with ordhc.Session(tmp_path / "a", n_leaves=6, **by_settings(**given)) as session, warned:
        ordhc.learn(oracle, session=session)


def test_what_helps_is_what_the_method_takes():
    oracle = ordhc.oracles.noisy(ordhc.oracles.from_tree(TREE), 0.9)
    pairs = ordhc.oracles.noisy(ordhc.oracles.from_vectors([[0.0], [1.0], [3.0]]), 0.9)
    with pytest.warns(OrdhcWarning, match="as right: give repeat$"):
        ordhc.learn(pairs, method="single")
    for method in ("quick", "insertion"):
        with pytest.warns(OrdhcWarning, match="as right: use the method robust, or give repeat$"):
            ordhc.learn(oracle, method=method)
    for given in ({"repeat": 3}, {"method": "majority", "p": 0.8}, {"method": "quick", "repeat": 3}, {}):
        ordhc.learn(oracle, **by_settings(**given))


def test_who_answers_is_kept_by_sessions_only(tmp_path, capsys):
    oracle = ordhc.oracles.from_tree(TREE)
    for subject in ({}, {"learner": ordhc.Learner(6)}):
        with pytest.raises(InputError, match="who = 'ann' needs a session"):
            ordhc.learn(oracle, who="ann", **subject)
    (tmp_path / "tree.nwk").write_text(TREE)
    known = ("learn", "--oracle", "tree", "--source", tmp_path / "tree.nwk", "--who", "ann")
    code, _, err = run(capsys, *known)
    assert (code, "--who needs a SESSION" in err) == (2, True)
    assert run(capsys, *known, tmp_path / "a.ordhc")[0] == 0
    with ordhc.Session(tmp_path / "a.ordhc") as session:
        assert set(session.people()) == {"ann"}


def test_a_session_that_expects_persistent_errors_is_not_warned_of(tmp_path):
    method = ordhc.learners.Robust(p=0.8, noise="persistent")
    with ordhc.Session(tmp_path / "b", n_leaves=10, method=method) as session:
        ordhc.learn(Repeating(tree_of_points(10, 1), 0.1), session=session)


@pytest.mark.parametrize(
    ("method", "repeat", "chosen"),
    [
        (None, 1, learners.Robust(p=0.8, noise="persistent")),
        (learners.Robust(p=0.9), 1, learners.Robust(p=0.9, noise="persistent")),
        (learners.Robust(noise="independent"), 1, learners.Robust(p=0.8, noise="independent")),
        (learners.Robust(assume="uniform"), 1, learners.Robust(p=0.8, assume="uniform")),
        (learners.Majority(), 1, learners.Majority(p=0.8)),
        (learners.Insertion(), 1, learners.Insertion()),
        (learners.Single(), 1, learners.Single()),
        (None, 3, None),
    ],
)
def test_explicit_settings_win(method, repeat, chosen):
    made, reason = advised(Repeating(TREE, 0.1, 0.8), method, repeat)
    assert made == chosen
    assert bool(reason) is (made != method)


def test_wrapped_oracles_err_as_well():
    from ordhc.oracles import Counting, from_tree, majority, noisy, workers

    one = noisy(from_tree(TREE), 0.8)
    assert (from_tree(TREE).p, from_tree(TREE).noise) == (None, None)
    assert (one.p, one.noise) == (0.8, "independent")
    assert (Counting(one).p, Counting(one).noise) == (0.8, "independent")
    assert (noisy(one, 0.9).p, noisy(one, 0.9).noise) == (pytest.approx(0.72), "independent")
    assert noisy(from_tree(TREE), 0.3).noise is None
    # Three answers: all right, or two of them.
    assert majority(one, 3).p == pytest.approx(0.8**3 + 3 * 0.8**2 * 0.2)
    repeating = Repeating(TREE, 0.1, 0.9)
    assert (majority(repeating, 3).p, majority(repeating, 3).noise) == (0.9, "persistent")
    both = workers([one, repeating, from_tree(TREE)])
    assert (both.p, both.noise) == (0.8, "persistent")
    assert workers([one, Repeating(TREE, 0.1)]).p is None
    for p, noise in ((0.3, "persistent"), (0.8, "often")):
        wrong = Repeating(TREE, 0.1, p)
        wrong.noise = noise
        with pytest.raises(InputError, match="of the oracle"):
            ordhc.learn(wrong)


@pytest.mark.parametrize("n_resamples", [2**40, 2**63 - 1])
def test_trees_of_resamples_must_fit(n_resamples):
    data = ordhc.Triplets([(0, 1, 2), (1, 0, 2)])
    with pytest.raises(MemoryError, match=r"n_resamples = .* need about .* bytes.*give fewer"):
        ordhc.bootstrap(data, n_resamples=n_resamples)
