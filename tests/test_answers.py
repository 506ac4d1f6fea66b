"""Answers of several rows, and who gave them: what carries them along, and keeps them together."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import InputError, Quadruplets, Triplets
from ordhc.cli import main
from ordhc.comparison.canonical import in_order
from ordhc.comparison.units import shares_of
from ordhc.evaluate import bootstrap, select
from ordhc.evaluate.ceiling import chance_of, noise_ceiling, satisfied_share


@st.composite
def answered(draw, kinds=("odd_one_out", "most_central", "ranking"), max_size=25):
    """Answers of several rows each, with or without people, names and weights."""
    n = draw(st.integers(4, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(1, max_size))
    kind = draw(st.sampled_from(kinds))
    rows = [rng.choice(n, 4 if kind == "ranking" else 3, replace=False).tolist() for _ in range(m)]
    who = draw(st.sampled_from([None, ["ann", "bob", "cid"], [3, 17, 2**20], [7]]))
    return getattr(Triplets, f"from_{kind}")(
        rows,
        n_leaves=n,
        names=[f"leaf {i}" for i in range(n)] if draw(st.booleans()) else None,
        weights=rng.random(m) if draw(st.booleans()) else None,
        groups=None if who is None else [who[at] for at in rng.integers(0, len(who), m)],
    )


def persons(t):
    if t.groups is None:
        return [None] * len(t)
    return t.groups.tolist() if t.group_names is None else [t.group_names[code] for code in t.groups]


def bags(t):
    """Each answer's rows, weights and person, in any order."""
    found = {}
    weights = [1.0] * len(t) if t.weights is None else t.weights.tolist()
    answers = range(len(t)) if t.answers is None else t.answers.tolist()
    for row, weight, answer, who in zip(t, weights, answers, persons(t), strict=True):
        found.setdefault((answer, who), []).append((row, weight))
    return found


def test_answers_are_numbered_and_people_kept():
    t = Triplets.from_odd_one_out([(2, 0, 1), (0, 1, 2)], groups=["ann", "bob"])
    assert t.answers.tolist() == [0, 0, 1, 1]
    assert t.groups.tolist() == [0, 0, 1, 1]
    assert t.group_names == ("ann", "bob")
    assert t.answers.dtype == t.groups.dtype == np.int32
    assert repr(t) == "<Triplets: 4 of 3 leaves, 2 answers, 2 groups>"
    t = Triplets.from_most_central([(2, 0, 1), (0, 1, 2)], groups=[41, 17])
    assert (t.groups.tolist(), t.group_names) == ([41, 41, 17, 17], None)
    assert Triplets.from_ranking([(0, 1, 2, 3)] * 2).answers.tolist() == [0] * 3 + [1] * 3
    assert Triplets.from_ranking([(0, 1, 2)] * 2).answers is None
    assert Triplets([(0, 1, 2)]).answers is Triplets([(0, 1, 2)]).groups is None
    huge = Triplets([(0, 1, 2)] * 2, groups=[2**40, -1], answers=["x", "y"])
    assert (huge.groups.tolist(), huge.group_names) == ([0, 1], (str(2**40), "-1"))
    assert huge.answers.tolist() == [0, 1]
    for array in (t.answers, t.groups):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_the_caller_keeps_the_arrays():
    answers, groups = np.array([0, 0], dtype=np.int32), np.array([4, 4], dtype=np.int32)
    t = Triplets([(0, 1, 2), (1, 0, 2)], answers=answers, groups=groups)
    answers[:], groups[:] = 9, 9
    assert (t.answers.tolist(), t.groups.tolist()) == ([0, 0], [4, 4])


@settings(deadline=None)
@given(answered(), st.integers(0, 99), st.data())
def test_answers_go_with_their_rows(t, seed, data):
    assert pickle.loads(pickle.dumps(t)) == t == Triplets(t)
    q = t.to_quadruplets()
    assert isinstance(q, Quadruplets)
    assert (q.answers.tolist(), persons(q)) == (t.answers.tolist(), persons(t))
    assert q.group_names == t.group_names
    at = data.draw(st.lists(st.integers(0, len(t) - 1), max_size=12))
    for index in (np.array(at, dtype=int), slice(1, None, 2), np.arange(len(t)) % 3 == 0):
        part = t[index]
        assert part.answers.tolist() == t.answers[index].tolist()
        assert persons(part) == np.array(persons(t), dtype=object)[index].tolist()
    order = np.random.default_rng(seed).permutation(t.n_leaves)
    moved = in_order(t, order)
    rows = order[moved.rows]
    assert sorted(
        zip(rows.tolist(), moved.answers.tolist(), map(str, persons(moved)), strict=True)
    ) == sorted(zip(t.rows.tolist(), t.answers.tolist(), map(str, persons(t)), strict=True))
    whole = bags(t)
    for unit in ("answer", None):
        parts = t.split(0.5, seed=seed, unit=unit)
        assert parts == t.split(0.5, seed=seed, unit=unit)
        assert {**bags(parts[0]), **bags(parts[1])} == whole
        assert not set(bags(parts[0])) & set(bags(parts[1]))
        if unit is None and len(set(persons(t))) > 1:
            assert not set(persons(parts[0])) & set(persons(parts[1]))
            assert len(set(persons(parts[0]))) == round(0.5 * len(set(persons(t))))
        else:
            assert len(bags(parts[0])) == round(0.5 * len(whole))
    m = len(whole) // 2
    drawn = bags(t.sample(m, seed=seed))
    assert len(drawn) == m
    assert drawn.items() <= whole.items()


def test_people_may_number_their_answers_alike():
    t = Triplets(
        [(0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1)],
        answers=[0, 0, 0, 0],
        groups=["ann", "ann", "bob", "bob"],
    )
    for part in t.split(0.5, unit="answer"):
        assert len(part) == 2
        assert len(set(part.groups.tolist())) == 1
    assert len(t.sample(1)) == 2
    assert t.deduplicate().answers.tolist() == [0, 0, 1, 1]


def test_groups_can_be_drawn_as_a_whole():
    t = Triplets.from_odd_one_out([(2, 0, 1)] * 6, groups=list("aabbcc"))
    part = t.sample(1, unit="group", seed=3)
    assert len(part) == 4
    assert len(set(persons(part))) == 1
    # One person only says nothing about who belongs together.
    alone = Triplets.from_odd_one_out([(2, 0, 1)] * 6, groups=["ann"] * 6)
    assert [len(part) for part in alone.split(0.5)] == [6, 6]


def test_distinct_rows_are_nobodys():
    t = Triplets.from_odd_one_out([(2, 0, 1), (0, 1, 2), (2, 1, 0)], groups=["ann", "bob", "cid"])
    distinct = t.deduplicate(counts=True)
    assert distinct.rows.tolist() == [[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0]]
    assert distinct.weights.tolist() == [2, 2, 1, 1]
    assert distinct.answers.tolist() == [0, 0, 1, 1]
    assert (distinct.groups, distinct.group_names) == (None, None)


def test_sessions_and_learners_tell_whose_answers_they_are(tmp_path):
    with ordhc.Session(tmp_path / "s.ordhc", n_leaves=5) as session:
        for who in ("ann", "bob", "ann", None):
            asked = session.ask(1)
            session.tell(asked.ids, [2], who=who)
        t = session.comparisons()
    assert t.answers.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert persons(t) == ["ann"] * 2 + ["bob"] * 2 + ["ann"] * 2 + [""] * 2
    oracle = ordhc.oracles.recording(ordhc.oracles.from_tree("((0,1),(2,3));"))
    ordhc.learn(oracle, 4)
    kept = oracle.comparisons()
    assert kept.answers.tolist() == np.repeat(np.arange(len(kept) // 2), 2).tolist()
    assert kept.groups is None


# --- held-out scores -------------------------------------------------------------------------


def at_random(seed, n=20, m=300):
    """Odd ones out that nobody thought about."""
    rng = np.random.default_rng(seed)
    return Triplets.from_odd_one_out([rng.choice(n, 3, replace=False) for _ in range(m)], n_leaves=n)


def test_random_answers_score_by_chance():
    scores = {"split": [], "select": [], "bootstrap": [], "one by one": []}
    for seed in range(12):
        t = at_random(seed)
        train, test = t.split(seed=seed)
        scores["split"].append(float(ordhc.score(ordhc.cluster(train), test, "satisfied")))
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
    from ordhc.comparison.units import questions_of

    if data.draw(st.booleans()):
        t = Triplets(t.rows, t.n_leaves)
    keys = questions_naively(t)
    question, content = questions_of(t)
    assert same_partition(question.tolist(), [asked for asked, _ in keys])
    assert same_partition(content.tolist(), [said for _, said in keys])
    if len(set(question.tolist())) >= 3:
        parts, kept = select.parts_of(t, 3, 0, unit="answer")
        assert kept == "answer"
        assert len(set(zip(parts.tolist(), question.tolist(), strict=True))) == len(set(question.tolist()))


def test_the_order_of_the_three_is_no_question():
    from ordhc.comparison.units import questions_of

    t = Triplets.from_odd_one_out([(2, 0, 1), (2, 1, 0), (0, 1, 2), (3, 1, 2)])
    question, content = questions_of(t)
    assert question.tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert content.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    central = Triplets.from_most_central([(2, 0, 1)])
    both = Triplets(np.concatenate([t.rows, central.rows]), answers=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    assert len(set(questions_of(both)[0].tolist())) == 3


def pair_first(tree, row):
    """Which of three leaves join first."""
    pairs = [(row[0], row[1]), (row[0], row[2]), (row[1], row[2])]
    return frozenset(min(pairs, key=lambda pair: tree.lca_size(*pair)))


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
    for row, weight, answer in zip(both, weights.tolist(), both.answers.tolist(), strict=True):
        if weight > 0:
            answers.setdefault(answer, []).append((weight, pair_first(tree, row) == {row[0], row[1]}))
    for rows in answers.values():
        good += sum(weight for weight, fine in rows if fine) / len(rows)
        total += sum(weight for weight, _ in rows) / len(rows)
    found = satisfied_share(tree, both, shares_of(both))
    assert found == pytest.approx(good / total)


def ceiling_naively(t):
    """The noise ceiling by lists and loops, for answers without weights."""
    asked, rows = {}, {}
    answers = range(len(t)) if t.answers is None else zip(t.answers.tolist(), persons(t), strict=True)
    for row, answer, (question, _) in zip(t, answers, questions_naively(t), strict=True):
        rows.setdefault(answer, []).append(row)
        asked[answer] = question
    lower = upper = whole = 0.0
    count = 0
    for question in set(asked.values()):
        told = [answer for answer in asked if asked[answer] == question]
        if len(told) < 2:
            continue
        count += len(told)
        whole += len(told)
        triples = {frozenset(row) for answer in told for row in rows[answer]}
        for triple in triples:
            pairs = [frozenset(pair) for pair in itertools.combinations(sorted(triple), 2)]

            def votes(pair, among, triple=triple):
                return sum(
                    (frozenset(row[:2]) == pair) / len(rows[answer])
                    for answer in among
                    for row in rows[answer]
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
    t = Triplets(t.rows, t.n_leaves) if single else t._changed(weights=None)
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
    parts, kept = select.parts_of(t, 4, 1)
    assert kept == "group"
    assert all(len(set(parts[t.groups == person])) == 1 for person in range(9))
    assert select.parts_of(t, 4, 1, unit="answer")[1] == "answer"
    found = ordhc.select(t, ["adds3-al"], folds=3)
    assert found.unit == found.to_dict()["unit"] == "group"
    own = ordhc.bootstrap(t, n_resamples=4)
    assert own.unit == "group"
    bare = Triplets(t.rows, t.n_leaves)
    assert own.trees == ordhc.bootstrap(bare, n_resamples=4, group=np.repeat(who, 2)).trees
    assert own.trees != ordhc.bootstrap(t, n_resamples=4, unit="answer").trees
    with pytest.raises(InputError, match="there are 9 groups for 10 folds; or say unit='answer'"):
        ordhc.select(t, folds=10)
    for function in (ordhc.select, ordhc.bootstrap):
        with pytest.raises(InputError, match="give group or unit, not both"):
            function(t, group=np.repeat(who, 2), unit="answer")
    # A single person's answers are answers.
    alone = t._changed(groups=np.zeros(600, dtype=int))
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
    monkeypatch.setattr(bootstrap._Work, "is_additive", property(lambda _: False))
    slow = ordhc.bootstrap(t, n_resamples=20)
    assert fast.trees == slow.trees
    for name in fast.scores:
        np.testing.assert_allclose(fast.scores[name], slow.scores[name])
    plain = ordhc.bootstrap(Triplets(t.rows, 6), n_resamples=20)
    assert plain.intervals["satisfied"].estimate != fast.intervals["satisfied"].estimate


def test_what_is_tried_depends_on_the_score():
    t = ordhc.simulate_planted(600, levels=2, leaves_per_cluster=4, sigma=0.3)[0]
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
    assert text[2].split() == ["chance", "0", "0.3333"]
    assert text[3].startswith(f"noise ceiling of held-out satisfied: {found.ceiling.lower:.4f} to")
    told = found.to_dict()
    assert told["ceiling"]["n_answers"] == found.ceiling.n_answers > 100
    assert told["candidates"][0]["chance"] == 1 / 3
    once = Triplets([(i, (i + 1) % 7, (i + 3) % 7) for i in range(7)])
    assert ordhc.select(once, ["adds3-al"]).ceiling is None
    path = str(tmp_path / "answers.csv")
    ordhc.write_comparisons(t, path)
    with pytest.raises(SystemExit):
        main(["compare", path, "--method", "adds3-al"])
    output = capsys.readouterr().out
    assert "\nchance" in output
    assert "\nnoise ceiling" in output
    with pytest.raises(SystemExit):
        main(["cluster", path, "--bootstrap", "3"])
    output = capsys.readouterr().out
    assert "chance 0.3333" in output
    assert "noise ceiling" in output


BAD = [
    (lambda: Triplets([(0, 1, 2)], answers=[0, 1]), "answers has shape (2,); one for each of 1"),
    (lambda: Triplets([(0, 1, 2)], answers=[0.5]), "answers[0] = 0.5 is no whole number"),
    (lambda: Triplets([(0, 1, 2)], groups=[None]), "groups[0] is None"),
    (lambda: Triplets([(0, 1, 2)], groups=[np.nan]), "groups[0] = nan"),
    (lambda: Triplets([(0, 1, 2)] * 2, groups=np.array(["a", 1], dtype=object)), "groups[1] is 1"),
    (lambda: Triplets([(0, 1, 2)], group_names=["a"]), "without groups"),
    (lambda: Triplets([(0, 1, 2)], groups=[1], group_names=["a"]), "groups[0] is 1; there are 1"),
    (lambda: Triplets([(0, 1, 2)], groups=["b"], group_names=["a"]), "groups are names already"),
    (lambda: Triplets.from_odd_one_out([(0, 1, 2)], groups=["a", "b"]), "groups has shape (2,); one for"),
    (lambda: Triplets.from_odd_one_out([(0, 1, 2)]).sample(2), "m = 2 is more than the 1 answers"),
    (lambda: Triplets([(0, 1, 2)]).sample(1, unit="group"), "have no groups"),
    (lambda: Triplets([(0, 1, 2)]).split(unit="row"), "unit is 'row', not one of answer, group"),
]


@pytest.mark.parametrize(("make", "part"), BAD, ids=[part for _, part in BAD])
def test_bad_input_is_explained(make, part):
    with pytest.raises(InputError) as error:
        make()
    assert part in str(error.value)
