"""Learners, oracles, and the loop over both."""

import asyncio
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import _ordhc, oracles

KINDS = [
    {"method": "insertion"},
    {"method": "insertion", "exact": True},
    {"method": "insertion", "parallel": 4},
    {"schedule": "balanced"},
    {"schedule": "rounds"},
    {"method": "quick"},
    {"repeat": 3},
]
SHAPES = ["uniform", "yule", "balanced", "caterpillar"]


def random_tree(shape, n, seed=0):
    return ordhc.Dendrogram._of(_ordhc.random_tree(shape, n, seed), None)


def same(a, b):
    return ordhc.metrics.robinson_foulds(a, b, normalize=False) == 0


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=25)
@given(
    n=st.integers(1, 40), shape=st.sampled_from(SHAPES), seed=st.integers(0, 1000), batch=st.integers(1, 9)
)
def test_the_true_tree_is_found(kind, n, shape, seed, batch):
    truth = random_tree(shape, n, seed)
    oracle = oracles.counting(oracles.from_tree(truth))
    tree = ordhc.learn(oracle, n, batch=batch, seed=seed, **kind)
    assert same(tree, truth)
    if n > 2 and kind.get("exact"):
        assert oracle.n_questions <= n * math.log2(n)


@pytest.mark.parametrize("kind", KINDS)
def test_nodes_of_many_children(kind):
    for newick in ("(0,1,2,3,4);", "((0,1,2),(3,4),5,6);", "((0,1,2,3),4);"):
        truth = ordhc.as_dendrogram(newick)
        assert same(ordhc.learn(truth, truth.n_leaves, **kind), truth)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(3, 25), seed=st.integers(0, 100), data=st.data())
def test_answers_in_any_order_and_any_part(n, seed, data):
    truth = random_tree("uniform", n, seed)
    oracle = oracles.from_tree(truth)
    kind = data.draw(st.sampled_from(KINDS))
    learner = ordhc.Learner(n, seed=seed, **kind)
    open_questions = {}
    while not learner.done:
        asked = learner.ask(data.draw(st.integers(1, 8)))
        open_questions.update(dict(asked))
        assert learner.n_open == len(open_questions) == len(learner.open)
        assert dict(learner.open) == open_questions
        chosen = data.draw(st.permutations(sorted(open_questions)))[: data.draw(st.integers(1, 4))]
        rows = np.array([open_questions.pop(number) for number in chosen])
        learner.tell(chosen, oracle(rows))
        tree = learner.tree()
        assert tree.n_leaves == n
        assert learner.remaining_estimate >= 0
    assert same(learner.tree(), truth)
    assert learner.remaining_estimate == 0
    assert learner.n_answered == learner.n_asked >= learner.n_rounds > 0
    assert learner.n_placed == n


def test_contradictions_end():
    for kind, seed in itertools.product(KINDS, range(3)):
        random = np.random.default_rng(seed)
        tree = ordhc.learn(
            lambda rows, random=random: random.integers(-1, 3, len(rows)), 30, seed=seed, **kind
        )
        assert tree.n_leaves == 30


def test_budgets_and_limits():
    truth = random_tree("balanced", 50, 1)
    oracle = oracles.counting(oracles.from_tree(truth))
    tree = ordhc.learn(oracle, 50, budget=40)
    assert (oracle.n_questions, tree.n_leaves) == (40, 50)
    learner = ordhc.Learner(50, schedule="rounds", limit=7, budget=20)
    assert len(learner.ask()) == 7
    assert len(learner.ask()) == 0
    ordhc.learn(oracle, learner=learner)
    assert (learner.n_answered, learner.done, learner.remaining_estimate) == (20, True, 0)
    learner = ordhc.Learner(50, seed=3)
    ordhc.learn(oracle, learner=learner, budget=30)
    assert learner.n_answered == 30
    ordhc.learn(oracle, learner=learner)
    assert same(learner.tree(), truth)
    assert learner.n_answered == ordhc_questions(truth, seed=3)
    few, many = (ordhc.Learner(50, parallel=k, seed=0) for k in (1, 16))
    for one in (few, many):
        ordhc.learn(truth, learner=one)
    assert many.n_rounds < few.n_rounds / 3


def ordhc_questions(truth, **settings):
    oracle = oracles.counting(truth)
    ordhc.learn(oracle, truth.n_leaves, **settings)
    return oracle.n_questions


def test_errors_keep_all_answers():
    truth = random_tree("yule", 40, 2)
    right = oracles.from_tree(truth)
    calls = 0

    def fails(rows):
        nonlocal calls
        calls += 1
        if calls % 20 == 0:
            raise ConnectionError("lost")
        return right(rows)

    learner = ordhc.Learner(40)
    errors = []
    while not learner.done:
        try:
            ordhc.learn(fails, learner=learner)
        except ConnectionError as error:
            errors.append(error)
    assert errors
    assert all(error.learner is learner for error in errors)
    assert "answers are kept" in errors[0].__notes__[0]
    tree = learner.tree()
    assert same(tree, truth)
    assert learner.n_answered == ordhc_questions(truth)
    with pytest.raises(ordhc.InputError, match="answers to 1 questions") as told:
        ordhc.learn(lambda rows: [0, 1, 2], 5)
    assert told.value.learner.n_answered == 0
    with pytest.raises(ordhc.InputError, match=r"answer 0 is 5, outside -1..2"):
        ordhc.learn(lambda rows: np.full(len(rows), 5), 5)


@pytest.mark.parametrize("repeat", [1, 3])
def test_bad_tells(repeat):
    learner = ordhc.Learner(6, schedule="rounds", repeat=repeat)
    questions = learner.ask(4)
    for ids, answers, text in [
        ([99], [0], "answer 0: question 99|99"),
        ([questions.ids[0]], [3], "answer 0 is 3, outside -1..2"),
        ([0, 1], [0], r"shape \(1,\) for ids of shape \(2,\)"),
        ([0.5], [0], r"ids\[0\] = 0.5 is no whole number"),
        ([0], [0.5], r"answers\[0\] = 0.5 is no whole number"),
    ]:
        with pytest.raises(ordhc.InputError, match=text):
            learner.tell(ids, answers)
    learner.tell(questions.ids[:1], [0])
    with pytest.raises(ordhc.InputError, match="answer 1"):
        learner.tell([questions.ids[1], questions.ids[0]], [1, 1])
    assert learner.n_answered == 2
    learner.tell([], [])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n_leaves": 0}, "n_leaves = 0"),
        ({"method": "fast"}, "method is 'fast', not one of insertion, quick, robust"),
        ({"schedule": "x"}, "schedule is 'x', not one of questions, balanced, rounds"),
        ({"method": "quick", "schedule": "rounds"}, "is one of insertion and robust, not of quick"),
        ({"parallel": 0}, "parallel = 0"),
        ({"exact": True, "parallel": 2}, "exact is for insertion without wrong answers"),
        ({"repeat": 2}, "repeat = 2 is even"),
        ({"budget": -1}, "budget = -1"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_bad_settings(options, text):
    with pytest.raises(ordhc.InputError, match=text):
        ordhc.Learner(**{"n_leaves": 5, **options})
    with pytest.raises(ordhc.InputError, match="give n_leaves"):
        ordhc.learn(lambda rows: rows)
    with pytest.raises(ordhc.InputError, match="an oracle is a callable"):
        ordhc.learn(5, 3)


# --- oracles ---------------------------------------------------------------------------------


def all_questions(n):
    return np.array(list(itertools.permutations(range(n), 3)), dtype=np.int64).reshape(-1, 3)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(3, 9), seed=st.integers(0, 500))
def test_oracles_agree(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    rows = all_questions(n)
    of_vectors = oracles.from_vectors(X)(rows)
    assert np.array_equal(of_vectors, oracles.from_similarity(-D)(rows))
    assert np.array_equal(oracles.from_vectors(X, "dot")(rows), oracles.from_similarity(X @ X.T)(rows))
    triplets = oracles.recording(oracles.from_similarity(-D))
    triplets(rows)
    assert np.array_equal(oracles.recorded(triplets.comparisons())(rows), of_vectors)
    tree = ordhc.linkage(-D)
    heights = -np.array([[tree.lca_size(i, j) if i != j else 0 for j in range(n)] for i in range(n)])
    assert np.array_equal(oracles.from_tree(tree)(rows), oracles.from_similarity(heights)(rows))


def test_quadruplets():
    S = np.array([[0, 5, 1, 2], [5, 0, 3, 4], [1, 3, 0, 4], [2, 4, 4, 0]])
    oracle = oracles.from_similarity(S)
    assert oracle([[0, 1, 2, 3], [2, 3, 0, 1], [1, 3, 2, 3]]).tolist() == [1, -1, 0]
    kept = oracles.recorded(ordhc.Quadruplets([(0, 1, 2, 3)], n_leaves=4))
    assert kept([[1, 0, 3, 2], [2, 3, 0, 1]]).tolist() == [1, -1]
    with pytest.raises(ordhc.InputError, match="don't tell about 0, 2, 1, 3"):
        kept([[0, 2, 1, 3]])


def test_recorded_answers():
    t = ordhc.Triplets([("a", "b", "c"), ("a", "c", "b"), ("a", "c", "b")])
    assert oracles.recorded(t)([[0, 1, 2]]).tolist() == [1]
    with pytest.raises(ordhc.InputError, match="don't tell about a, b, c"):
        oracles.recorded(ordhc.Triplets([], names=["a", "b", "c"]))([[0, 1, 2]])
    assert oracles.recorded(ordhc.Triplets([], n_leaves=3), missing="none")([[0, 1, 2]]).tolist() == [-1]
    with pytest.raises(ordhc.InputError, match="missing is 'x'"):
        oracles.recorded(t, missing="x")


@pytest.mark.parametrize("wrong", ["random", "adversarial"])
def test_noise(wrong):
    truth = random_tree("uniform", 12, 0)
    right = oracles.from_tree(truth)
    rows = np.tile(all_questions(12), (8, 1))
    answers = oracles.noisy(right, 0.8, wrong=wrong, seed=1)(rows)
    share = (answers == right(rows)).mean()
    assert abs(share - 0.8) < 0.01
    assert set(answers.tolist()) == {0, 1, 2}
    assert np.array_equal(oracles.noisy(right, 1.0)(rows), right(rows))
    assert not (oracles.noisy(right, 0.0, wrong=wrong)(rows) == right(rows)).any()
    again = oracles.noisy(right, 0.8, wrong=wrong, seed=1)(rows)
    assert np.array_equal(again, answers)
    voted = oracles.majority(oracles.noisy(right, 0.8, wrong=wrong, seed=2), 41)(rows)
    assert (voted == right(rows)).mean() > 0.995
    star = oracles.noisy(ordhc.as_dendrogram("(0,1,2);"), 0.0)([[0, 1, 2]])
    assert star[0] in (0, 1, 2)
    assert len(oracles.noisy(right, 0.5)(np.zeros((0, 3), dtype=int))) == 0


def test_wrappers():
    truth = random_tree("balanced", 16, 0)
    kept = oracles.recording(truth)
    tree = ordhc.learn(kept, 16, schedule="balanced")
    assert same(tree, truth)
    assert kept.n_questions == len(kept.rows) == len(kept.answers) > kept.n_batches
    assert ordhc.metrics.satisfied(tree, kept.comparisons(16)).agreed == 1
    helpers = [oracles.counting(truth) for _ in range(3)]
    assert same(ordhc.learn(helpers, 16, schedule="rounds"), truth)
    assert all(helper.n_questions > 0 for helper in helpers)

    async def slow(rows):
        await asyncio.sleep(0)
        return oracles.from_tree(truth)(rows)

    assert same(ordhc.learn(slow, 16), truth)
    assert same(ordhc.learn([slow, slow], 16), truth)
    for bad in ([], [3]):
        with pytest.raises(ordhc.InputError):
            ordhc.learn(bad, 16)


def test_a_person(monkeypatch, capsys):
    given = iter(["x", "3", "0"])
    monkeypatch.setattr("builtins.input", lambda text: next(given))
    assert oracles.person(["cat", "dog", "car"])([[0, 1, 2], [2, 1, 0]]).tolist() == [2, -1]
    assert "Please answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "text"),
    [([[0, 1, 9]], "row 0: a leaf of"), ([[0, 1]], r"questions are \(m, 3\)"), ([[0, 1, 1]], "row 0")],
)
def test_bad_questions(rows, text):
    with pytest.raises(ordhc.InputError, match=text):
        oracles.from_tree("((0,1),2);")(rows)


# --- wrong answers ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["robust", "robust-paper", "majority"])
@pytest.mark.parametrize("wrong", ["random", "adversarial"])
def test_wrong_answers(method, wrong):
    n = 12 if method == "robust-paper" else 30
    good = 0
    for seed in range(10):
        truth = random_tree("uniform", n, seed)
        oracle = oracles.noisy(truth, 0.85, wrong=wrong, seed=seed)
        tree = ordhc.learn(oracle, n, method=method, p=0.85, delta=0.05, seed=seed)
        good += same(tree, truth)
    # Ten wrong ones are expected in 200: four in ten are as good as impossible.
    assert good >= 7


@pytest.mark.parametrize("options", [{"parallel": 8}, {"schedule": "balanced"}, {"schedule": "rounds"}])
def test_wrong_answers_side_by_side(options):
    truth = random_tree("yule", 60, 1)
    learner = ordhc.Learner(60, p=0.9, seed=2, **options)
    one = ordhc.Learner(60, p=0.9, seed=2)
    for each in (learner, one):
        ordhc.learn(oracles.noisy(truth, 0.9, seed=3), learner=each)
    assert learner.n_rounds < one.n_rounds / 2
    assert ordhc.metrics.triplet_distance(learner.tree(), truth) < 0.1
    assert "done" in repr(learner)


def test_persistent_and_uniform_noise():
    truth = random_tree("uniform", 40, 1)
    asked = {}

    def stubborn(rows):
        fresh = oracles.noisy(truth, 0.9, seed=len(asked))(rows)
        answers = []
        for row, answer in zip(rows.tolist(), fresh.tolist(), strict=True):
            odd = asked.setdefault(tuple(sorted(row)), row[answer])
            answers.append(row.index(odd))
        return np.array(answers)

    learner = ordhc.Learner(40, p=0.9, noise="persistent", seed=0)
    ordhc.learn(stubborn, learner=learner)
    assert len(asked) == learner.n_asked
    assert ordhc.metrics.triplet_distance(learner.tree(), truth) < 0.2
    few, many = (ordhc.Learner(40, p=0.8, assume=kind, seed=0) for kind in ("uniform", "adversarial"))
    for each in (few, many):
        ordhc.learn(oracles.noisy(truth, 0.8, seed=3), learner=each)
    assert few.n_asked < many.n_asked


def test_estimates_of_p():
    estimate, lower = ordhc.estimate_p([[0, 0, 2, 0, 0] * 8, [1, 1, 1, 1, 0] * 8])
    assert estimate == 0.8
    assert 0.6 < lower < 0.8
    for bad, text in [([[5]], "the answer 5"), ([], "no answers|answers")]:
        with pytest.raises(ordhc.InputError, match=text):
            ordhc.estimate_p(bad)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"p": 0.5}, "p = 0.5 must be more than 1/2"),
        ({"p": float("nan")}, "p = nan"),
        ({"delta": 0}, "delta = 0 must be between 0 and 1"),
        ({"assume": "x"}, "assume is 'x', not one of adversarial, uniform"),
        ({"noise": "x"}, "noise is 'x'"),
        ({"method": "single", "p": 0.9}, "single has no p"),
        ({"method": "4k-active", "n_landmarks": 2, "q": 0.5}, "not both"),
    ],
)
def test_bad_noise(options, text):
    with pytest.raises(ordhc.InputError, match=text):
        ordhc.Learner(**{"n_leaves": 5, **options})


# --- pairs -----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(n=st.integers(1, 20), seed=st.integers(0, 1000), batch=st.integers(1, 7))
def test_linkages_from_pairs(n, seed, batch):
    S = np.random.default_rng(seed).random((n, n))
    S = S + S.T
    for method in ("single", "complete"):
        want = ordhc.linkage(S, method)
        learner = ordhc.Learner(n, method)
        tree = ordhc.learn(oracles.from_similarity(S), learner=learner, batch=batch)
        assert tree.merges.tolist() == want.merges.tolist()
        assert learner.width == 4
        assert learner.n_asked <= 2.5 * n * n + n * max(math.log2(max(n, 2)), 1)
        assert ordhc.learn(oracles.from_similarity(S), n, method, repeat=3).n_leaves == n


def test_active_kernels():
    truth = random_tree("balanced", 32, 0)
    S = -np.array(
        [[truth.lca_size(i, j) if i != j else 0 for j in range(32)] for i in range(32)], dtype=float
    )
    S += np.random.default_rng(0).normal(size=S.shape, scale=0.01)
    S = S + S.T
    learner = ordhc.Learner(32, "4k-active", n_landmarks=8, n_references=20, seed=1)
    tree = ordhc.learn(oracles.from_similarity(S), learner=learner)
    assert learner.n_rounds == 1
    assert learner.n_asked <= 32 * 8 * 20
    assert tree.kind == "similarity"
    assert ordhc.metrics.aari(tree, truth, levels=[2, 4]) > 0.5
    half = ordhc.Learner(32, "4k-active", budget=500)
    ordhc.learn(oracles.from_similarity(S), learner=half)
    assert half.n_asked <= 500


DEGREES = ["((0,1,2),(3,4,5),(6,7,8));", "(0,1,2,3,4,5,6,7);", "(((0,1,2,3),4),(5,6),7,(8,9,10));"]


@pytest.mark.parametrize("method", ["robust", "majority"])
@pytest.mark.parametrize("wrong", ["random", "adversarial", "none"])
@pytest.mark.parametrize("options", [{}, {"schedule": "rounds"}, {"parallel": 3}])
def test_wrong_answers_about_trees_of_any_degree(method, wrong, options):
    if method == "majority" and options:
        pytest.skip("asks one leaf after the other")
    failures = 0
    for seed in range(30):
        truth = ordhc.as_dendrogram(DEGREES[seed % 3])
        oracle = oracles.noisy(truth, 0.75, wrong=wrong, seed=seed)
        found = ordhc.learn(oracle, truth.n_leaves, method, p=0.75, delta=0.1, seed=seed, **options)
        failures += not same(found, truth)
    # At most 3 are expected; more than 8 have a probability below 0.002.
    assert failures <= 8


def test_the_paper_knows_binary_trees_only():
    truth = ordhc.as_dendrogram(DEGREES[0])
    learner = ordhc.Learner(9, "robust-paper", p=0.9)
    with pytest.raises(ordhc.InputError, match="binary trees only"):
        ordhc.learn(oracles.noisy(truth, 0.9, seed=3), learner=learner)
    assert not learner.done
    assert learner.n_answered > 0
    assert learner.tree().n_leaves == 9
    with pytest.raises(ordhc.InputError, match="binary trees only"):
        learner.ask(1)


def test_many_repeats_take_no_memory():
    learner = ordhc.Learner(5, repeat=2**31 - 1)
    first, then = learner.ask(1), learner.ask(3)
    assert first.ids.tolist() == [0]
    assert then.ids.tolist() == [1, 2, 3]
    assert (then.rows == first.rows[0]).all()
    learner.tell([2, 0], [1, -1])
    assert learner.open.ids.tolist() == [1, 3]
    assert learner.n_open == 2
    for number, text in ((0, "is answered already"), (4, "was never asked"), (2**31, "was never asked")):
        with pytest.raises(ordhc.InputError, match=f"question {number} {text}"):
            learner.tell([number], [0])
    with pytest.raises(ordhc.InputError, match="repeat = 2147483649 is above 2147483647"):
        ordhc.Learner(5, repeat=2**31 + 1)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int32, np.float64])
def test_whole_numbers_of_any_type(kind):
    truth = ordhc.as_dendrogram("((0,1),(2,3));")
    tree = ordhc.learn(truth, kind(4), seed=kind(3), parallel=kind(2), budget=kind(9), repeat=kind(1))
    assert tree == ordhc.learn(truth, 4, seed=3, parallel=2, budget=9)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"seed": 2**64}, "seed = 18446744073709551616 is above"),
        ({"n_leaves": 2**70}, "n_leaves = 1180591620717411303424 is above 2147483647"),
        ({"n_leaves": 2.5}, "n_leaves = 2.5 is not a whole number"),
        ({"parallel": 2**70}, "parallel = "),
        ({"p": "often"}, "p = 'often' is not a finite number"),
        ({"p": None}, "p = None is not a finite number"),
    ],
)
def test_settings_out_of_range(options, text):
    with pytest.raises(ordhc.InputError, match=text.replace(".", "[.]")):
        ordhc.Learner(**{"n_leaves": 5, **options})


@pytest.mark.parametrize("n", [2**31 - 1, 2**30])
@pytest.mark.parametrize("kind", [*KINDS[:6], {"p": 0.9}, {"method": "majority", "p": 0.9}])
def test_too_many_leaves_are_an_error_with_the_bytes(kind, n):
    with pytest.raises(MemoryError, match=r"a learner .* needs \d+ bytes"):
        ordhc.Learner(n, **kind)


@pytest.mark.parametrize(
    "wrap", [lambda oracle: oracles.noisy(oracle, 0.9), lambda oracle: oracles.majority(oracle, 3)]
)
@pytest.mark.parametrize("answer", [np.nan, 7, 258, -2, 0.5, 2**40, np.inf])
def test_answers_that_are_none_are_named(wrap, answer):
    def oracle(rows):
        return np.array([0] * (len(rows) - 1) + [answer])

    with pytest.raises(
        ordhc.InputError, match=r"question 1, \[4, 2, 3\]: the oracle's answer .* is not 0, 1, 2 or -1"
    ):
        wrap(oracle)([[0, 1, 2], [4, 2, 3]])
    with pytest.raises(ordhc.InputError, match=r"shape \(1,\) to 2 questions"):
        wrap(lambda rows: [0])([[0, 1, 2], [4, 2, 3]])
    with pytest.raises(ordhc.InputError, match="is not 1, -1 or 0"):
        wrap(lambda rows: np.full(len(rows), 2))([[0, 1, 2, 3]])


def test_noise_that_says_none():
    rows = [[2, 0, 1]] * 1000
    truth = oracles.from_tree("((0,1),2,3);")
    assert (oracles.noisy(truth, 0.0, wrong="none")(rows) == -1).all()
    assert (oracles.noisy(truth, 0.0, wrong="none")([[3, 2, 0]]) == [2]).all()
    assert set(oracles.noisy(truth, 0.0)([[3, 2, 0]] * 100).tolist()) == {0, 1, 2}
