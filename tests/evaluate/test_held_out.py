"""Scores by answers held out: questions, chance, the noise ceiling."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.comparison.rows import changed
from ordhc.comparison.units import questions_of, shares_of
from ordhc.errors import InputError
from ordhc.evaluate import resampling, trials
from ordhc.evaluate.ceiling import chance_of, noise_ceiling, satisfied_share
from ordhc.tree.dendrogram import lca_size
from support import metric_twins as naive
from support.answers import answered, persons
from support.few_rounds import with_few_sweeps
from support.processes import run


def at_random(seed, n=20, m=300):
    """Odd ones out that nobody thought about."""
    rng = np.random.default_rng(seed)
    return Triplets.from_odd_one_out([rng.choice(n, 3, replace=False) for _ in range(m)], n_leaves=n)


def test_random_answers_score_by_chance():
    scores = {"split": [], "select": [], "bootstrap": [], "one by one": []}
    for seed in range(12):
        t = at_random(seed)
        train, test = t.split(seed=seed)
        tree = ordhc.cluster(train, method="adds3-al")
        scores["split"].append(float(ordhc.score(tree, test, "satisfied")))
        chosen = ordhc.select(t, ["adds3-al"], seed=seed)
        scores["select"].append(chosen.candidates[0].satisfied)
        assert (chosen.unit, chosen.candidates[0].chance) == ("answer", 1 / 3)
        for name, method in [("bootstrap", "adds3-al"), ("one by one", "adds3-al+spr")]:
            found = ordhc.bootstrap(t, method=method, n_resamples=8, seed=seed)
            scores[name].append(found.intervals["held_out"].estimate)
            assert (found.unit, found.chance) == ("answer", 1 / 3)
    # 720 to 3,600 answers were held out: three standard errors are .053 at most.
    for name, found in scores.items():
        assert abs(np.mean(found) - 1 / 3) < 0.025 + 0.03 * (name == "split"), name


def questions_naively(t):
    """For each row the question of its answer, and what was said, as keys."""
    form = {}
    answers = (
        list(range(len(t))) if t.answers is None else list(zip(t.answers.tolist(), persons(t), strict=True))
    )
    for row, answer in zip(t, answers, strict=True):
        form.setdefault(answer, []).append(row)
    keys = {}
    for answer, rows in form.items():
        columns = list(zip(*rows, strict=True))
        if len(rows) > 1:
            alike = tuple(len(set(column)) == 1 for column in columns)
            asked = (len(rows), alike, columns[0][0] if alike[0] else None, frozenset(sum(rows, ())))
        elif len(columns) == 3:
            asked = (rows[0][0], frozenset(rows[0][1:]))
        else:
            asked = frozenset([frozenset(rows[0][:2]), frozenset(rows[0][2:])])
        said = frozenset((frozenset(row[:2]), row[0] if len(row) == 3 else 0, row[-1]) for row in rows)
        keys[answer] = (asked, (asked, said))
    return [keys[answer] for answer in answers]


def same_partition(numbers, keys):
    return len(set(zip(numbers, keys, strict=True))) == len(set(numbers)) == len(set(keys))


@settings(deadline=None)
@given(answered(max_size=60), st.data())
def test_questions_are_those_of_the_naive_twin(t, data):
    if data.draw(st.booleans()):
        t = Triplets(t.rows, t.n_leaves)
    keys = questions_naively(t)
    question, content = questions_of(t)
    assert same_partition(question.tolist(), [asked for asked, _ in keys])
    assert same_partition(content.tolist(), [said for _, said in keys])
    if len(set(question.tolist())) >= 3:
        parts, kept = trials.parts_of(t, 3, 0, unit="answer")
        assert kept == "answer"
        assert len(set(zip(parts.tolist(), question.tolist(), strict=True))) == len(set(question.tolist()))


def test_the_order_of_the_three_is_no_question():
    t = Triplets.from_odd_one_out([(2, 0, 1), (2, 1, 0), (0, 1, 2), (3, 1, 2)])
    question, content = questions_of(t)
    assert question.tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert content.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    central = Triplets.from_most_central([(2, 0, 1)])
    both = Triplets(np.concatenate([t.rows, central.rows]), answers=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    assert len(set(questions_of(both)[0].tolist())) == 3


@settings(deadline=None)
@given(answered(), st.integers(0, 99))
def test_an_answer_counts_once(t, seed):
    # Answers of another number of rows among them, and rows that don't count.
    rng = np.random.default_rng(seed)
    more = Triplets.from_ranking([rng.permutation(4).tolist() for _ in range(3)], n_leaves=t.n_leaves)
    weights = np.concatenate(
        [np.ones(len(t)) if t.weights is None else t.weights, rng.integers(0, 3, len(more))]
    )
    both = Triplets(
        np.concatenate([t.rows, more.rows]),
        t.n_leaves,
        weights=weights,
        answers=np.concatenate(
            [t.answers if t.answers is not None else np.arange(len(t)), more.answers + 1000]
        ),
    )
    merges = [(0, 1), *((i, t.n_leaves + i - 2) for i in range(2, t.n_leaves))]
    tree = ordhc.Dendrogram(merges, np.arange(t.n_leaves - 1.0), kind="dissimilarity")
    good = total = 0.0
    answers = {}
    told = naive.verdicts(tree, both.rows.tolist())
    for verdict, weight, answer in zip(told, weights.tolist(), both.answers.tolist(), strict=True):
        if weight > 0:
            answers.setdefault(answer, []).append((weight, verdict == 1))
    for rows in answers.values():
        good += sum(weight for weight, fine in rows if fine) / len(rows)
        total += sum(weight for weight, _ in rows) / len(rows)
    found = satisfied_share(tree, both, shares_of(both))
    assert found == pytest.approx(good / total)


def ceiling_naively(t, weights=None):
    """The noise ceiling by lists and loops; weights are no numbers of answers."""
    asked, rows = {}, {}
    weights = [1.0] * len(t) if weights is None else weights
    answers = range(len(t)) if t.answers is None else zip(t.answers.tolist(), persons(t), strict=True)
    for row, answer, (question, _), weight in zip(t, answers, questions_naively(t), weights, strict=True):
        rows.setdefault(answer, []).append((row, weight))
        asked[answer] = question
    lower = upper = whole = 0.0
    count = 0
    for question in set(asked.values()):
        told = [answer for answer in asked if asked[answer] == question]
        if len(told) < 2:
            continue
        count += len(told)
        whole += sum(weight / len(rows[answer]) for answer in told for _, weight in rows[answer])
        triples = {frozenset(row) for answer in told for row, _ in rows[answer]}
        for triple in triples:
            pairs = [frozenset(pair) for pair in itertools.combinations(sorted(triple), 2)]

            def votes(pair, among, triple=triple):
                return sum(
                    (frozenset(row[:2]) == pair) * weight / len(rows[answer])
                    for answer in among
                    for row, weight in rows[answer]
                    if frozenset(row) == triple
                )

            upper += max(votes(pair, told) for pair in pairs)
            for answer in told:
                others = [other for other in told if other != answer]
                support = [votes(pair, others) for pair in pairs]
                best = [
                    pair for pair, found in zip(pairs, support, strict=True) if found > max(support) - 1e-9
                ]
                lower += np.mean([votes(pair, [answer]) for pair in best])
    return (lower / whole, upper / whole, count) if count else None


@settings(deadline=None)
@given(answered(max_size=40), st.booleans())
def test_the_noise_ceiling_is_that_of_the_naive_twin(t, single):
    t = Triplets(t.rows, t.n_leaves) if single else changed(t, weights=None)
    found, expected = noise_ceiling(t), ceiling_naively(t)
    if expected is None:
        assert found is None
        return
    assert (found.lower, found.upper, found.n_answers) == pytest.approx(expected)
    # Weights that are whole numbers are as good as repeats.
    if single:
        counted = noise_ceiling(t.deduplicate(counts=True))
        assert (counted.lower, counted.upper, counted.n_answers) == pytest.approx(expected)
    quadruplets = noise_ceiling(t.to_quadruplets())
    assert (quadruplets.lower, quadruplets.upper, quadruplets.n_answers) == pytest.approx(expected)


@settings(deadline=None)
@given(answered(max_size=40), st.integers(0, 2**32 - 1))
def test_the_noise_ceiling_of_weights(t, seed):
    # The weight 0.5 makes clear that weights are no numbers of answers.
    weights = np.append(np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.5], len(t)), 0.5)[-len(t) :]
    t = changed(t, weights=weights if len(t) else None)
    kept = t if t.weights is None else t[t.weights > 0]
    found, expected = noise_ceiling(t), ceiling_naively(kept, kept.weights)
    assert (found is None) == (expected is None)
    if found is not None:
        assert (found.lower, found.upper, found.n_answers) == pytest.approx(expected)


def test_a_thread_more_changes_no_bit_of_the_noise_ceiling():
    random = np.random.default_rng(0)
    rows = random.random((200_000, 12)).argsort(axis=1)[:, :3]
    t = Triplets(rows, weights=random.random(len(rows)), answers=np.arange(len(rows)) // 2)
    told = []
    found = noise_ceiling(t, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
    before = ordhc._ordhc.limit_threads(1)
    try:
        assert noise_ceiling(t) == found
    finally:
        ordhc._ordhc.limit_threads(before)


def test_no_tree_is_above_the_noise_ceiling():
    rng = np.random.default_rng(5)
    t = Triplets.from_odd_one_out([rng.permutation(4)[:3] for _ in range(60)], n_leaves=4)
    ceiling = noise_ceiling(t)
    shares = [
        satisfied_share(ordhc.as_dendrogram(text.format(*order)), t)
        for order in itertools.permutations(range(4))
        for text in ("((({},{}),{}),{});", "(({},{}),({},{}));")
    ]
    assert 1 / 3 < max(shares) <= ceiling.upper < 1
    assert ceiling.lower < ceiling.upper


def test_the_chance_of_quadruplets_depends_on_the_tree():
    rng = np.random.default_rng(2)
    q = Quadruplets([rng.choice(16, 4, replace=False) for _ in range(4000)])
    comb = "0"
    for leaf in range(1, 16):
        comb = f"({comb},{leaf})"
    # Of four leaves of a comb the farther pair has one that the nearer pair doesn't reach: no ties.
    assert chance_of(ordhc.as_dendrogram(comb + ";"), q) == pytest.approx(1 / 2, abs=0.01)
    assert chance_of(ordhc.as_dendrogram("(" + ",".join(map(str, range(16))) + ");"), q) < 0.5
    assert chance_of(ordhc.as_dendrogram(comb + ";"), Triplets([(0, 1, 2)], 16)) == 1 / 3


def test_people_are_kept_together_where_they_are_known():
    rng = np.random.default_rng(0)
    who = rng.integers(0, 9, 300)
    t = Triplets(at_random(0).rows, groups=np.repeat(who, 2), answers=np.repeat(np.arange(300), 2))
    parts, kept = trials.parts_of(t, 4, 1)
    assert kept == "group"
    assert all(len(set(parts[t.groups == person])) == 1 for person in range(9))
    assert trials.parts_of(t, 4, 1, unit="answer")[1] == "answer"
    found = ordhc.select(t, ["adds3-al"], folds=3)
    assert found.unit == found.to_dict()["unit"] == "group"
    own = ordhc.bootstrap(t, n_resamples=4)
    assert own.unit == "group"
    bare = Triplets(t.rows, t.n_leaves)
    assert own.trees == ordhc.bootstrap(bare, n_resamples=4, group=np.repeat(who, 2)).trees
    assert own.trees != ordhc.bootstrap(t, n_resamples=4, unit="answer").trees
    with pytest.raises(
        InputError, match="there are 9 groups for 10 folds: give fewer folds or unit='answer'"
    ):
        ordhc.select(t, folds=10)
    for function in (ordhc.select, ordhc.bootstrap):
        with pytest.raises(InputError, match="give group= or unit=, not both"):
            function(t, group=np.repeat(who, 2), unit="answer")
    # A single person's answers are answers.
    alone = changed(t, groups=np.zeros(600, dtype=int))
    assert (
        ordhc.select(alone, ["adds3-al"], folds=2).unit
        == ordhc.bootstrap(alone, n_resamples=2).unit
        == "answer"
    )


def test_the_fast_bootstrap_counts_answers_as_the_slow_one(monkeypatch):
    rows = [(3, 0, 1, 2), (0, 1, 2, 3), (4, 2, 1, 0)]
    few, many = Triplets.from_ranking(rows, 1, n_leaves=6), Triplets.from_ranking(rows, 3, n_leaves=6)
    t = Triplets(
        np.concatenate([few.rows, many.rows]), 6, answers=np.concatenate([few.answers, many.answers + 3])
    )
    fast = ordhc.bootstrap(t, n_resamples=20)
    monkeypatch.setattr(resampling.Resampling, "is_additive", property(lambda _: False))
    slow = ordhc.bootstrap(t, n_resamples=20)
    assert fast.trees == slow.trees
    for name in fast.scores:
        np.testing.assert_allclose(fast.scores[name], slow.scores[name])
    plain = ordhc.bootstrap(Triplets(t.rows, 6), n_resamples=20)
    assert plain.scores["satisfied"].mean() != fast.scores["satisfied"].mean()


def test_what_is_tried_depends_on_the_score(monkeypatch):
    with_few_sweeps(monkeypatch)
    t = ordhc.datasets.planted(300, levels=2, leaves_per_cluster=3, sigma=0.3)[0]
    tried = {
        by: {c.method for c in ordhc.select(t, by=by, folds=2).candidates} for by in ("revenue", "satisfied")
    }
    assert tried["satisfied"] - tried["revenue"] == {"consistency"}


def test_the_report_says_what_chance_and_noise_are(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [rng.choice(6, 3, replace=False).tolist() for _ in range(120)]
    t = Triplets.from_odd_one_out(rows, n_leaves=6)
    found = ordhc.select(t, ["adds3-al"])
    text = str(found).splitlines()
    assert text[2].split() == ["chance", "0", "0.3333", "0.3333"]
    assert text[-2].startswith(f"noise ceiling of held-out satisfied: {found.ceiling.lower:.4f} to")
    best = found.answer_ceiling
    assert text[-1].startswith(f"answers predicted by the best predictor: {best.accuracy_low:.4f} to")
    told = found.to_dict()
    assert told["ceiling"]["n_answers"] == found.ceiling.n_answers > 100
    assert told["candidates"][0]["chance"] == 1 / 3
    few = ordhc.select(t[:120], ["adds3-al"])
    assert 0 < few.ceiling.n_answers < 100
    assert f"{few.ceiling.n_answers} answers to repeated questions are too few (100 are needed)" in str(few)
    once = Triplets([(i, (i + 1) % 7, (i + 3) % 7) for i in range(7)])
    assert ordhc.select(once, ["adds3-al"]).ceiling is None
    path = tmp_path / "answers.csv"
    ordhc.write_comparisons(t, path)
    output = run(capsys, "compare", path, "--method", "adds3-al")[1]
    assert "\nchance" in output
    assert "\nnoise ceiling" in output
    output = run(capsys, "cluster", path, "--bootstrap", "3")[1]
    assert "chance 0.3333" in output
    assert "noise ceiling" in output


@pytest.mark.filterwarnings("ignore:the chains have not mixed")
def test_whole_answers_are_predicted_by_trees_that_have_not_seen_them(monkeypatch):
    with_few_sweeps(monkeypatch)
    rng = np.random.default_rng(4)
    closeness = rng.normal(size=(8, 8))
    closeness += closeness.T
    rows = np.array([rng.permutation(8)[:3] for _ in range(150)])
    pairs = np.stack([closeness[rows[:, a], rows[:, b]] for a, b in ((1, 2), (0, 2), (0, 1))])
    pairs += rng.normal(size=pairs.shape)
    central = rows[np.arange(150)[:, None], (pairs.argmin(axis=0)[:, None] + [0, 1, 2]) % 3]
    t = ordhc.Triplets.from_most_central(central, n_leaves=8)
    found = ordhc.select(t, ["adds3-al", "posterior-al"], folds=3, seed=2, by="answers")
    fold, _ = trials.parts_of(t, 3, 2)
    right = {"adds3-al": 0.0, "posterior-al": 0.0}
    for out in range(3):
        seen, unseen = t[fold != out], t[fold == out]
        tree = ordhc.cluster(seen, method="adds3-al")
        p = ordhc.posterior(seen)
        for answer in np.unique(unseen.answers):
            mine = unseen.rows[unseen.answers == answer]
            (leaf,) = (leaf for leaf in np.unique(mine) if (mine[:, 1] == leaf).all())
            leaves = [leaf, *(each for each in np.unique(mine) if each != leaf)]
            far = [lca_size(tree, *(leaves[:at] + leaves[at + 1 :])) for at in range(3)]
            right["adds3-al"] += (far[0] == max(far)) / far.count(max(far))
            chances = [
                p.log_loss(ordhc.Triplets.from_most_central([leaves[at:] + leaves[:at]], n_leaves=8))
                for at in range(3)
            ]
            right["posterior-al"] += chances[0] == min(chances)
    for candidate in found.candidates:
        assert candidate.answers == pytest.approx(right[candidate.method] / 150)
        assert candidate.answers_chance == pytest.approx(1 / 3)
        assert candidate.answers_low < candidate.answers < candidate.answers_high
