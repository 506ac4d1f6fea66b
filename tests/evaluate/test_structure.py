"""Is it a tree: the verdict, what it depends on, and the solver below."""

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ordhc
from ordhc.comparison.choices import Choices
from ordhc.errors import InputError
from ordhc.evaluate.structure.coins import columns_of, upper_tail
from ordhc.evaluate.structure.fitting import answer_loss, minimised
from ordhc.evaluate.structure.misfits import common_clusters, incidences
from ordhc.evaluate.structure.words import Estimate, Evidence, verdict_of
from support.answers import chosen, comparisons_of
from support.few_rounds import with_few_sweeps
from support.processes import run


def answers_from(S, m, seed, kind="triplet", **more):
    return comparisons_of(chosen(np.random.default_rng(seed), S, m, kind), kind, n_leaves=len(S), **more)


def clusters(n=16):
    labels = np.arange(n) * 8 // n
    return 2.0 * sum((labels[:, None] // step == labels // step).astype(float) for step in (1, 2, 4))


def spread(n, dimensions, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, dimensions))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    return -6 * D / np.median(D)


@pytest.fixture
def few_sweeps(monkeypatch):
    with_few_sweeps(monkeypatch)


@pytest.mark.usefixtures("few_sweeps")
@pytest.mark.parametrize(("kind", "m"), [("triplet", 800), ("odd", 800), ("pairs", 1500)])
def test_a_tree_is_told_from_a_map(kind, m):
    # An answer of three items says more than one of two pairs.
    tree = ordhc.structure(answers_from(clusters(), m // 2, 1, kind), folds=2)
    assert tree.verdict.kind == "tree"
    assert tree["ultrametric tree"].log_loss.value < tree["lengths alone"].log_loss.value
    plane = ordhc.structure(answers_from(spread(24, 2), m, 1, kind), folds=2)
    assert plane.verdict.kind == "map"
    assert plane.dimensions == 2
    assert plane.tree_share.value < 0.9 < plane.points_share.value
    assert plane["points in 2 dimensions"].log_loss.value < plane["points in 1 dimension"].log_loss.value


@pytest.mark.usefixtures("few_sweeps")
def test_an_additive_tree_a_line_a_star_and_noise():
    rng = np.random.default_rng(2)
    lengths = 1.5 * rng.normal(size=16)
    additive = ordhc.structure(answers_from(clusters() - lengths - lengths[:, None], 1200, 3), folds=2)
    assert additive.verdict.kind == "tree"
    assert additive["ultrametric tree"].behind.low > 0
    assert ordhc.structure(answers_from(spread(16, 1), 800, 3), folds=2).verdict.kind == "line"
    star = ordhc.structure(answers_from(-lengths - lengths[:, None], 1200, 3), folds=2)
    assert star.verdict.kind == "effects"
    noise = ordhc.structure(answers_from(np.zeros((16, 16)), 1500, 3), folds=2)
    assert noise.verdict.kind == "nothing"
    assert noise["chance"].accuracy.value == 0.5
    few = ordhc.structure(answers_from(np.zeros((16, 16)), 60, 3), folds=2)
    assert few.verdict.kind in ("few", "nothing")


@pytest.mark.usefixtures("few_sweeps")
def test_executors_and_runs_give_the_same_result():
    data = answers_from(clusters(), 200, 4)
    told = []
    expected = ordhc.structure(data, folds=2, seed=3, progress=told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)
    with ThreadPoolExecutor(2) as executor:
        found = ordhc.structure(data, folds=2, seed=3, executor=executor)
    assert found == expected == ordhc.structure(data, folds=2, seed=3)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.verdict.text in str(found)
    assert found.verdict.text.split(":")[0] in found._repr_html_()


@pytest.mark.usefixtures("few_sweeps")
def test_people_are_kept_together_and_names_and_weights_do_not_matter():
    people = np.arange(200) % 12
    few = answers_from(clusters(), 200, 5, groups=people)
    found = ordhc.structure(few, folds=2)
    assert found.unit == "group"
    assert found.n_answers == 200
    assert ordhc.structure(few, folds=2, unit="answer").unit == "answer"
    plain = answers_from(clusters(), 200, 5)
    extra = ordhc.Triplets(
        np.concatenate([plain.rows, plain.rows[:50]]), n_leaves=16, weights=np.repeat([1.0, 0.0], [200, 50])
    )
    one, other = ordhc.structure(plain, folds=2), ordhc.structure(extra, folds=2)
    assert one["additive tree"].log_loss.value == pytest.approx(
        other["additive tree"].log_loss.value, rel=1e-9
    )


def test_what_cannot_be_compared():
    with pytest.raises(InputError, match=r"Quadruplets, ordhc.scan\(\.\.\.\) or a Session, not list"):
        ordhc.structure([(0, 1, 2)])
    with pytest.raises(InputError, match="there are 3 leaves; 4 to 5,000 are needed"):
        ordhc.structure(ordhc.Triplets([(0, 1, 2)]))
    with pytest.raises(InputError, match="positive weight"):
        ordhc.structure(ordhc.Triplets([(0, 1, 2)], n_leaves=5, weights=[0]))
    with pytest.raises(InputError, match="1 different questions for 5 folds"):
        ordhc.structure(ordhc.Triplets([(0, 1, 2)], n_leaves=5))
    with pytest.raises(InputError, match="the tree has 3 leaves, the comparisons have 16"):
        ordhc.structure(answers_from(clusters(), 100, 1), tree=ordhc.Dendrogram.from_newick("((a,b),c);"))
    with pytest.raises(KeyError):
        ordhc.structure(answers_from(clusters(), 100, 1), folds=2)["cube"]


def estimate(value, half=0.01):
    return Estimate(value, value - half, value + half)


EVIDENCE = Evidence(
    by_effects=estimate(0.1),
    beyond_effects=estimate(0.2),
    tree=estimate(0.97),
    points=estimate(0.6),
    dimensions=2,
    chance=0.69,
)


@pytest.mark.parametrize(
    ("changes", "kind", "sure", "words"),
    [
        ({}, "tree", True, "A hierarchy describes these answers nearly as well as the best model"),
        ({"points": estimate(0.96)}, "tree", True, "do not decide between the two"),
        ({"tree": estimate(0.91, 0.05)}, "tree", False, "best estimate"),
        ({"tree": estimate(0.5), "points": estimate(1.0)}, "map", True, "n_components=2"),
        ({"tree": estimate(0.85, 0.1), "points": estimate(1.0)}, "map", False, "best estimate"),
        ({"tree": estimate(0.7), "points": estimate(0.7)}, "mixed", True, "Show both"),
        ({"dimensions": 1, "points": estimate(1.0)}, "line", True, "A line is a special tree"),
        ({"dimensions": 1, "points": estimate(0.965)}, "line", True, "sections of the scale"),
        (
            {"dimensions": 1, "points": estimate(0.94)},
            "tree",
            True,
            "whether one scale explains the clusters",
        ),
        (
            {"dimensions": 1, "tree": estimate(0.7), "points": estimate(0.95)},
            "line",
            True,
            "omits part of the structure",
        ),
        ({"beyond_effects": estimate(0.001)}, "effects", True, "how typical they are"),
        (
            {"beyond_effects": estimate(0.001), "by_effects": estimate(0.0)},
            "nothing",
            True,
            "better than chance",
        ),
        ({"beyond_effects": estimate(0.05, 0.06)}, "few", False, "too few answers"),
        ({"beyond_effects": Estimate(0.05, np.nan, np.nan)}, "few", False, "too few answers"),
    ],
)
def test_what_is_said(changes, kind, sure, words):
    found = verdict_of(dataclasses.replace(EVIDENCE, **changes))
    assert (found.kind, found.sure) == (kind, sure)
    assert words in found.text
    assert found.text.startswith(found.headline)


def test_answers_that_a_tree_ties():
    odd = Choices.of(ordhc.Triplets.from_odd_one_out([(0, 1, 2)] * 3)).kinds[0]
    tree = np.array([[0.2, 0.6, 0.2], [0.6, 0.2, 0.2], [0.34, 0.33, 0.33]])
    points = np.array([[0.3, 0.6, 0.1], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    found = columns_of(odd, tree, points)
    # The closest pair is no coin flip; which of the others is the odd one is.
    assert found[0].tolist() == [1, 0, 1]
    np.testing.assert_allclose(found[1], [1 / 2, 0, 1 / 3])
    np.testing.assert_allclose(found[2], [1, 0, 0])
    np.testing.assert_allclose(found[3], [0.75 / 0.5 - 1, 0, 0.2 / 0.34 - 1])


def test_the_gain_of_coin_flips_is_0_on_average_if_the_tree_is_right():
    odd = Choices.of(ordhc.Triplets.from_odd_one_out([(0, 1, 2)])).kinds[0]
    p, q = np.array([0.37, 0.33, 0.3]), np.array([0.1, 0.2, 0.7])
    orders = [np.roll(np.arange(3), -given) for given in range(3)]
    gains = [columns_of(odd, p[None, order], q[None, order])[3, 0] for order in orders]
    assert p @ gains == pytest.approx(0, abs=1e-12)


def test_the_tail_of_students_t():
    # R: pt(q, df, lower.tail = FALSE)
    for t, freedom, tail in [(0, 9, 0.5), (2.776, 4, 0.025), (1.725, 20, 0.05), (-3, 50, 0.9979)]:
        assert upper_tail(t, freedom) == pytest.approx(tail, abs=1e-3)


def test_points_predict_coin_flips_of_a_plane_and_not_of_a_tree():
    plane = ordhc.structure(answers_from(spread(24, 2), 2500, 1), folds=3)
    assert plane.coins.p_value < 0.01
    assert plane.coins.share.value > 0.55
    assert plane.coins.chance == 0.5
    assert "does not describe the answers fully" in str(plane)
    tree = ordhc.structure(answers_from(clusters(), 1500, 1), folds=2)
    assert tree.coins.n_answers > 150
    assert tree.coins.p_value > 0.05
    assert "no evidence that a tree leaves anything out" in str(tree)
    few = ordhc.structure(answers_from(clusters(), 19, 1), folds=2)
    assert few.coins.n_answers < 20
    assert "too few to test" in few.coins.text


@pytest.mark.usefixtures("few_sweeps")
def test_where_a_tree_fails():
    # Two clusters of which one is a plane, and the other a tree.
    S = np.full((24, 24), -9.0)
    S[:12, :12] = spread(12, 2)
    S[12:, 12:] = clusters(24)[12:, 12:] - 4
    data = answers_from(S, 6_000, 1)
    found = ordhc.structure(data, folds=2)
    items = [each.label for each in found.misfits if each.n_items == 1]
    assert len(items) > 3
    assert max(items[:4]) < 12
    members = [set(found.tree.node(each.label).leaves.tolist()) for each in found.misfits]
    assert any(len(each) >= 6 and max(each) < 12 for each in members)
    assert not any(len(each) > 1 and min(each) >= 12 for each in members)
    assert "of 24 items and" in str(found)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["misfits"][0]["behind"]["low"] > 0
    assert ordhc.as_dendrogram(document["tree"]) == found.tree
    own = ordhc.Dendrogram.from_parents([24] * 24 + [-1])
    other = ordhc.structure(data[:600], folds=2, tree=own)
    assert other.tree is own
    assert other.n_looked_at == (24, 1)
    pytest.importorskip("matplotlib")
    marked = {
        mark.get_gid(): len(mark.get_offsets())
        for mark in found.plot().collections
        if str(mark.get_gid()).startswith("ordhc-marked")
    }
    n_clusters = len(found.misfits) - len(items)
    assert marked == {"ordhc-marked-leaves": len(items), "ordhc-marked-nodes": n_clusters}


def test_smallest_common_clusters():
    tree = ordhc.Dendrogram.from_parents([6, 5, 5, 7, 7, 6, 8, 8, -1])
    data = ordhc.Triplets([(1, 2, 0), (3, 4, 0), (0, 1, 2), (4, 3, 1)])
    answers, leaves = incidences(data)
    assert np.bincount(answers).tolist() == [3] * 4
    common = common_clusters(tree, answers, leaves, 4).tolist()
    assert [sorted(tree.node(node).leaves.tolist()) for node in common] == [
        [0, 1, 2],
        [0, 1, 2, 3, 4],
        [0, 1, 2],
        [0, 1, 2, 3, 4],
    ]


@pytest.mark.parametrize("kind", ["central", "ranking", "few of many"])
@pytest.mark.usefixtures("few_sweeps")
def test_other_kinds_of_answers(kind):
    rng = np.random.default_rng(8)
    S, n = clusters(), 16
    if kind == "central":
        rows = []
        for _ in range(400):
            a, b, c = rng.choice(n, 3, replace=False)
            sums = np.array([S[a, b] + S[a, c], S[a, b] + S[b, c], S[a, c] + S[b, c]]) + rng.gumbel(size=3)
            middle = int(np.argmax(sums))
            three = [a, b, c]
            rows.append((three.pop(middle), *three))
        data = ordhc.Triplets.from_most_central(rows, n_leaves=n)
    else:
        size, ranked = (3, 3) if kind == "ranking" else (5, 2)
        rows = []
        for _ in range(400):
            a, *others = rng.choice(n, size + 1, replace=False).tolist()
            noisy = S[a, others] + rng.gumbel(size=size)
            rows.append((a, *np.array(others)[np.argsort(-noisy)].tolist()))
        data = ordhc.Triplets.from_ranking(rows, n_ranked=ranked, n_leaves=n)
    found = ordhc.structure(data, folds=2)
    assert found.n_answers == 400
    assert found.verdict.kind == "tree"
    assert found.coins.n_answers > 20
    assert found["additive tree"].log_loss.value < found["chance"].log_loss.value - 0.1


@pytest.mark.usefixtures("few_sweeps")
def test_sessions_and_scans(tmp_path):
    data = answers_from(clusters(), 200, 9)
    ordhc.write_comparisons(data, tmp_path / "a.csv")
    scanned = ordhc.structure(ordhc.scan(tmp_path / "a.csv"), folds=2)
    assert scanned.n_answers == 200
    rng = np.random.default_rng(1)
    with ordhc.Session(tmp_path / "s.ordhc", n_leaves=12, seed=1) as session:
        while session.status.n_answered < 60 and not session.done:
            questions = session.ask(4)
            session.tell(questions.ids, rng.integers(0, 3, len(questions.ids)))
        n = session.status.n_answered
        found = ordhc.structure(session, folds=2)
    assert found.n_answers == n
    assert found.caution is not None
    assert found.caution in str(found)


@pytest.mark.parametrize("kind", ["triplet", "odd", "pairs"])
def test_derivatives_of_the_loss(kind):
    rng = np.random.default_rng(6)
    S = rng.normal(size=(8, 8))
    S += S.T
    choices = Choices.of(answers_from(S, 60, 6, kind))
    _, G, by_noise = answer_loss(choices, S, 0.1)
    for i, j in [(0, 1), (3, 5), (2, 7)]:
        step = np.zeros_like(S)
        step[i, j] = step[j, i] = 1e-6
        slope = (answer_loss(choices, S + step, 0.1)[0] - answer_loss(choices, S - step, 0.1)[0]) / 2e-6
        assert G[i, j] == pytest.approx(slope, abs=1e-5)
    slope = (answer_loss(choices, S, 0.1 + 1e-6)[0] - answer_loss(choices, S, 0.1 - 1e-6)[0]) / 2e-6
    assert by_noise == pytest.approx(slope, rel=1e-5)


def test_the_solver_finds_the_bottom_of_a_valley():
    def valley(x):
        a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
        gradient = np.zeros_like(x)
        gradient[1:] += 200 * a
        gradient[:-1] += -400 * a * x[:-1] - 2 * b
        return float((100 * a**2 + b**2).sum()), gradient

    x, value = minimised(valley, np.full(6, -1.0), iterations=500, tolerance=0.0)
    np.testing.assert_allclose(x, 1.0, atol=1e-5)
    assert value < 1e-10
    assert minimised(valley, np.ones(6), iterations=5, tolerance=0.0)[1] == 0.0


@pytest.mark.usefixtures("few_sweeps")
def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ordhc.write_comparisons(answers_from(clusters(), 400, 7), "answers.csv")
    found = run(capsys, "structure", "answers.csv", "--folds", "2", "-q")
    assert found[0] == 0
    assert "A hierarchy describes these answers" in found[1]
    assert "next: ordhc cluster answers.csv" in found[1]
    document = json.loads(run(capsys, "structure", "answers.csv", "--folds", "2", "--json", "-q")[1])
    assert document["verdict"]["kind"] == "tree"
    assert document["scores"][0]["name"] == "chance"
