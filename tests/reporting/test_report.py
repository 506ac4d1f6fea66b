"""What a report finds out, and what it says where there is little to find."""

import functools
import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.clustering.cluster import fit
from ordhc.clustering.plan import Plan
from ordhc.comparison.rows import changed
from ordhc.errors import InputError, OrdhcWarning
from ordhc.evaluate.held_out import Answers, held_out, verdicts
from ordhc.evaluate.intervals import of_units, student, wilson
from ordhc.evaluate.people import agreement_of, standings
from ordhc.evaluate.structure.misfits import incidences
from ordhc.evaluate.trials import parts_of
from ordhc.reporting import findings
from ordhc.reporting.counts import forms_of
from ordhc.reporting.groups import groups_section
from ordhc.reporting.words import methods, summary
from support import metric_twins as naive
from support.answers import answered, of_people, persons
from support.few_rounds import with_few_rounds, with_few_sweeps

FAST = {"methods": ["adds3-al", "mulk3-al"], "n_resamples": 10, "structure": False}
ONE = {"methods": ["adds3-al"], "structure": False}
LEAST = {**ONE, "n_resamples": 0, "folds": 2}


@pytest.fixture(scope="module")
def usual_page():
    return ordhc.report(of_people(), **FAST).to_html()


# --- beside slow and plain twins -------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(st.integers(4, 9), st.integers(0, 10_000), st.booleans())
def test_verdicts_are_those_of_walking_up_the_tree(n, seed, is_four):
    rng = np.random.default_rng(seed)
    tree = ordhc.linkage(
        rng.integers(1, 6, n * (n - 1) // 2).astype(float), "average", dissimilarity=bool(seed % 2)
    )
    rows = [rng.choice(n, 4 if is_four else 3, replace=False) for _ in range(20)]
    data = (Quadruplets if is_four else Triplets)(rows, n_leaves=n)
    assert verdicts(tree, data).tolist() == naive.verdicts(tree, data.rows.tolist())
    total = ordhc.metrics.satisfied(tree, data)
    assert (verdicts(tree, data) == 1).mean() == pytest.approx(total.agreed)


@settings(deadline=None, max_examples=30)
@given(answered(max_size=40), st.integers(0, 50))
def test_held_out_answers_are_told_by_trees_without_them(t, seed):
    answers = Answers.of(t)
    if len(set(answers.question.tolist())) < 3:
        return
    plan = Plan.of(t, method="adds3-al")
    found = held_out(t, plan, answers, folds=3, seed=seed, unit="answer")
    parts, _ = parts_of(t, 3, seed, None, "answer")
    numbers = {}
    for row, number in enumerate(answers.of_row.tolist()):
        numbers.setdefault(number, []).append(row)
    assert len(answers) == len(numbers)
    for number, rows in numbers.items():
        (fold,) = set(parts[rows].tolist())
        tree, _ = fit(plan, t[parts != fold])
        hits = np.equal(naive.verdicts(tree, t.rows[rows].tolist()), 1)
        assert found.satisfied[number] == pytest.approx(hits.mean())
    assert found.accuracy == pytest.approx(np.average(found.satisfied, weights=answers.weights))


@settings(deadline=None, max_examples=40)
@given(answered(kinds=("odd_one_out",), max_size=30))
def test_agreement_is_that_of_all_pairs(t):
    answers = Answers.of(t)
    who = [persons(t)[row] for row in answers.first.tolist()]
    asked = [frozenset(t.rows[row].tolist()) for row in answers.first.tolist()]
    odd = [int(t.rows[row][2]) for row in answers.first.tolist()]
    between, within = [], []
    for k in range(len(asked)):
        others = [j for j in range(len(asked)) if j != k and asked[j] == asked[k]]
        for kept, found in ((True, within), (False, between)):
            same = [odd[j] == odd[k] for j in others if (who[j] is not None and who[j] == who[k]) is kept]
            if same:
                found.append(np.mean(same))
    found = agreement_of(answers, np.bincount(incidences(t)[0]))
    assert found.chance == 1 / 3
    assert (found.n_between, found.n_within) == (len(between), len(within))
    for value, expected in ((found.between, between), (found.within, within)):
        assert value == (pytest.approx(np.mean(expected)) if expected else None)


def test_forms_are_told_from_rows():
    kinds = [("odd one out", Triplets.from_odd_one_out), ("most central", Triplets.from_most_central)]
    for form, make in kinds:
        t = make([(0, 1, 2), (3, 4, 1), (2, 0, 4)])
        assert set(forms_of(t, Answers.of(t)).tolist()) == {form}
    t = Triplets.from_ranking([(0, 1, 2, 3)], n_ranked=2)
    assert forms_of(t, Answers.of(t)).tolist() == ["ranking"]
    t = Triplets([(0, 1, 2), (1, 2, 0)])
    assert forms_of(t, Answers.of(t)).tolist() == ["triplet"] * 2
    q = Quadruplets([(0, 1, 2, 3)])
    assert forms_of(q, Answers.of(q)).tolist() == ["quadruplet"]


def test_intervals_cover_as_often_as_they_say():
    stats = pytest.importorskip("scipy.stats")
    for freedom in (4, 7, 30, 500):
        assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.004)
    assert wilson(0.3, 50).tolist() == pytest.approx(
        list(stats.binomtest(15, 50).proportion_ci(method="wilson")), abs=1e-6
    )
    rng = np.random.default_rng(0)
    # Twelve people of different skill, 40 answers each.
    covered = 0
    for _ in range(600):
        skill = rng.beta(7, 3, 12)
        hits = (rng.random((12, 40)) < skill[:, None]).astype(float).ravel()
        _, low, high = of_units(np.repeat(np.arange(12), 40), hits, np.ones(480))
        covered += low <= 0.7 <= high
    assert 0.92 <= covered / 600 <= 0.98
    share, low, high = of_units(np.arange(4), np.ones(4), np.ones(4))
    assert (share, np.isnan(low), np.isnan(high)) == (1.0, True, True)
    assert of_units(np.arange(9), np.ones(9), np.ones(9))[1] < 0.8


def test_who_answers_by_chance_is_found():
    verdicts = []
    for seed in range(3):
        t = of_people(m=80, careless=2, seed=seed)
        answers = Answers.of(t)
        plan = Plan.of(t, method="adds3-al")
        apart = held_out(t, plan, answers, folds=4, seed=0, unit="group")
        found = {each.who: each for each in standings(t, answers, apart)}
        verdicts += [found[f"person {k}"].verdict for k in (6, 7)]
        assert all(found[f"person {k}"].verdict == "as others" for k in range(6))
        assert min(found[f"person {k}"].agreement for k in range(6)) > 0.55
        assert max(found[f"person {k}"].agreement for k in (6, 7)) < 0.45
    # One in ten random people has answers that agree with each other by chance.
    assert verdicts.count("looks random") >= 5
    assert set(verdicts) <= {"looks random", "another view"}
    # The same answers the other way round.
    rows = t.rows.copy()
    flipped = answers.person[answers.of_row] == 0
    rows[flipped] = rows[flipped][:, [0, 2, 1]]
    turned = changed(t, rows=rows)
    apart = held_out(turned, plan, Answers.of(turned), folds=4, seed=0, unit="group")
    worst = standings(turned, Answers.of(turned), apart)[0]
    assert (worst.who, worst.verdict) == ("person 0", "below chance")


# --- the report ------------------------------------------------------------------------------


def test_numbers_are_those_of_the_verbs():
    t = of_people(m=60)
    r = ordhc.report(t, folds=4, seed=3, **FAST)
    numbers = r.numbers
    chosen = ordhc.select(t, FAST["methods"], folds=4, seed=3)
    table = numbers["method"]["selection"]
    assert (table["best"], table["unit"]) == (chosen.best, "group")
    for score in ("satisfied", "answers", "answers_chance"):
        assert [c[score] for c in table["candidates"]] == [getattr(c, score) for c in chosen.candidates]
    b = ordhc.bootstrap(t, method=chosen.best, n_resamples=10, seed=3)
    assert r.tree == b.tree
    known = {node["label"]: node["support"] for node in numbers["clusters"]["nodes"]}
    assert known == {8 + k: pytest.approx(float(b.support[k])) for k in range(6)}
    assert ordhc.as_dendrogram(numbers["tree"]) == b.tree
    data = numbers["data"]
    assert (data["n_items"], data["n_answers"], data["n_comparisons"], data["n_people"]) == (8, 480, 960, 8)
    assert data["forms"] == {"odd one out": 480}
    assert data["answers_per_person"] == {"min": 60, "median": 60, "max": 60}
    ceiling = chosen.ceiling
    assert numbers["accuracy"]["ceiling"]["upper"] == ceiling.upper
    assert numbers["accuracy"]["held_out"]["unit"] == "group"
    # The least accurate comes first.
    assert numbers["people"][0]["who"] == "person 7"
    assert [row["method"] for row in numbers["sensitivity"]] == [c.method for c in chosen.candidates[1:]]
    distance = ordhc.metrics.triplet_distance(r.tree, r.others[numbers["sensitivity"][0]["method"]])
    assert numbers["sensitivity"][0]["triplet_distance"] == distance
    assert numbers["notes"] == {}
    assert json.loads(r.to_json()) == json.loads(json.dumps(numbers))


def test_the_same_seed_gives_the_same_report():
    t = of_people(n_people=6, m=25)
    one, same, other = (ordhc.report(t, seed=seed, **FAST) for seed in (1, 1, 2))
    assert one.to_json() == same.to_json()
    assert one.to_html() == same.to_html()
    assert one.to_json() != other.to_json()
    # Other data is told apart by its sum.
    less = ordhc.report(t[: len(t) - 2], seed=1, **LEAST)
    assert one.numbers["data"]["sha256"] != less.numbers["data"]["sha256"]


def test_unexplained_answers_are_counted_one_by_one():
    t = of_people(m=50, seed=2)
    r = ordhc.report(t, **FAST)
    found = r.numbers["unexplained"]
    rows = t.rows.tolist()
    told = naive.verdicts(r.tree, rows)
    bad = [k for k in range(0, len(rows), 2) if -1 in told[k : k + 2] or 1 not in told[k : k + 2]]
    assert found["n_unexplained"] == len(bad)
    assert found["share"] == pytest.approx(len(bad) / (len(rows) // 2))
    said = [(frozenset(row), row[2]) for row in rows[::2]]
    for each in found["listed"]:
        odd, beside = each["said"].split(" is the odd one out beside ")
        leaves = frozenset(int(name.split()[1]) for name in [odd, *beside.split(" and ")])
        key = (leaves, int(odd.split()[1]))
        assert each["n_said"] == said.count(key)
        assert each["n_asked"] == sum(asked == leaves for asked, _ in said)
    margins = [each["n_said"] - each["n_as_tree"] for each in found["listed"]]
    assert margins == sorted(margins, reverse=True)
    for each in found["items"]:
        leaf = int(each["item"].split()[1])
        about = [k for k in range(0, len(rows), 2) if leaf in rows[k]]
        assert each["n_answers"] == len(about)
        assert each["unexplained"] == pytest.approx(len(set(about) & set(bad)) / len(about))


@pytest.mark.filterwarnings("ignore:.*answers repeat a question")
@pytest.mark.parametrize(
    ("data", "notes"),
    [
        (Triplets([("a", "b", "c")]), {"methods"}),
        (Triplets([("a", "b", "c"), ("b", "a", "c"), ("c", "d", "a")]), {"folds"}),
        (Triplets([(0, 1, 2)] * 30), {"methods"}),
        (Triplets([(0, 1, 2), (1, 2, 0)] * 5, groups=["ann"] * 10), {"folds", "structure"}),
        (Triplets([(0, 1, 2), (1, 0, 2), (3, 2, 0), (2, 3, 1)], groups=[0, 0, 1, 1]), {"folds", "unit"}),
        (Quadruplets([(0, 1, 2, 3), (0, 1, 0, 2), (2, 3, 1, 2)]), {"folds"}),
        (Triplets([(0, 1, 2), (3, 4, 0)], n_leaves=9, weights=[1.0, 0.0]), {"methods"}),
    ],
)
def test_small_data_is_said_to_be_small(data, notes, monkeypatch):
    with_few_sweeps(monkeypatch)
    r = ordhc.report(data, n_resamples=3)
    assert set(r.numbers["notes"]) == notes
    page = r.to_html()
    for note in r.numbers["notes"].values():
        assert note.split(":")[0].replace("'", "&#x27;") in page
    assert "nan" not in page.lower().replace("dominant", "")
    if r.numbers["data"]["n_people"] is None:
        assert "Who answered is not known" in page
    if not r.numbers["data"]["n_repeated_questions"]:
        assert "No question was asked twice" in page


def test_nothing_to_report_is_an_error():
    with pytest.raises(InputError, match="there are no answers"):
        ordhc.report(Triplets([(0, 1, 2)], weights=[0.0]))
    with pytest.raises(InputError, match="report takes Triplets, Quadruplets or a Session, not str"):
        ordhc.report("answers.csv")
    with pytest.raises(InputError, match="unknown method 'adds5'|'adds5'"):
        ordhc.report(Triplets([(0, 1, 2)]), method="adds5")
    with pytest.raises(InputError, match=r"report.txt: the ending is none of .html, .pdf, .json"):
        ordhc.report(Triplets([(0, 1, 2)]), "report.txt")
    with pytest.raises(InputError, match="a vocabulary needs X"):
        ordhc.report(Triplets([(0, 1, 2)]), vocabulary=["a"])


def test_whether_it_is_a_tree(monkeypatch):
    with_few_sweeps(monkeypatch)
    X = np.random.default_rng(1).normal(size=(16, 2))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    rng = np.random.default_rng(2)
    rows = np.argsort(rng.random((800, 16)), axis=1)[:, :3]
    is_far = D[rows[:, 0], rows[:, 1]] > D[rows[:, 0], rows[:, 2]]
    rows[is_far] = rows[is_far][:, [0, 2, 1]]
    t = Triplets(rows, names=[f"<{leaf}>" for leaf in range(16)])
    r = ordhc.report(t, **{**FAST, "folds": 2, "structure": None})
    found = r.numbers["structure"]
    assert found["verdict"]["kind"] == "map"
    assert found["verdict"]["headline"] in " ".join(summary(r.numbers))
    assert len(found["scores"]) == 11
    # Misfits are leaves and clusters of the report's own tree.
    assert len(found["misfits"]) > 3
    for each in found["misfits"]:
        node = r.tree.node(each["label"])
        assert (node.size, node.is_leaf) == (each["n_items"], each["n_items"] == 1)
    assert "tree" not in found
    page = r.to_html()
    assert '<a href="#structure">Is it a tree?</a>' in page
    assert found["coins"]["text"].replace("<", "&lt;") in page
    assert "Where the tree fails" in page
    assert page.count('id="misfits-') > 3
    assert "<15>" not in page
    json.loads(r.to_json())
    without = ordhc.report(t, **LEAST)
    assert without.numbers["structure"] is None
    assert "Is it a tree?" not in without.to_html()
    monkeypatch.setattr(findings, "STRUCTURE_SECONDS", 0.0)
    slow = ordhc.report(t, **{**LEAST, "structure": None})
    assert slow.numbers["structure"] is None
    assert "ordhc structure" in slow.numbers["notes"]["structure"]
    assert slow.numbers["notes"]["structure"] in slow.to_html()
    assert ordhc.report(t, **{**FAST, "folds": 2, "structure": True}).numbers["structure"] == found


def test_whether_people_agree(monkeypatch):
    with_few_rounds(monkeypatch)
    two = functools.partial(findings.people_groups, max_trees=2)
    monkeypatch.setattr(findings, "people_groups", two)
    t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=3, seed=1)
    other = np.random.default_rng(1).permutation(12)
    rows = np.concatenate([t.rows[:300], other[t.rows[300:]]])
    names = [f"<{leaf}>" for leaf in range(12)]
    people = [f"<p{number}>" for number in np.repeat(np.arange(12), 50)]
    t = Triplets(rows, names=names, n_leaves=12, groups=people)
    r = ordhc.report(t, people_groups=True, folds=3, **FAST)
    found = r.numbers["people_groups"]
    assert found["n_trees"] == 2
    assert found["verdict"]["headline"] in " ".join(summary(r.numbers))
    assert sorted(group["people"] for group in found["groups"]) == [
        [f"<p{number}>" for number in range(start, start + 6)] for start in (0, 6)
    ]
    trees = [ordhc.as_dendrogram(group["dendrogram"]) for group in found["groups"]]
    assert found["groups"][0]["triplet_distance"] == 0
    assert found["groups"][1]["triplet_distance"] == ordhc.metrics.triplet_distance(trees[1], trees[0])
    page = r.to_html()
    assert '<a href="#people-groups">Do people agree?</a>' in page
    assert "&lt;p0&gt;, &lt;p1&gt;, &lt;p2&gt;" in page
    assert found["verdict"]["text"] in page
    assert 'id="people-groups-' in page
    assert "<p0>" not in page
    json.loads(r.to_json())
    # Of people whom the models put nowhere, and of more people than are named.
    many = [f"q{number:02}" for number in range(50)]
    large = {**found, "groups": [{**found["groups"][0], "people": many}, found["groups"][1]]}
    large["memberships"] = [{"person": "nobody's", "probabilities": [0.45, 0.55]}]
    page = groups_section({**r.numbers, "people_groups": large})
    assert "q39 and 10 more" in page
    assert "not clear" in page
    assert "nobody&#x27;s (55%)" in page
    without = ordhc.report(t, **LEAST)
    assert without.numbers["people_groups"] is None
    assert "Do people agree" not in without.to_html()
    unknown = ordhc.report(Triplets(rows, n_leaves=12), people_groups=True, **LEAST)
    assert unknown.numbers["people_groups"] is None
    assert "needs to know who gave each answer" in unknown.numbers["notes"]["people_groups"]
    assert unknown.numbers["notes"]["people_groups"].split(":")[0] in unknown.to_html()


def test_methods_that_need_all_answers_have_no_support():
    q = Quadruplets(
        [(*a, *b) for a, b in itertools.combinations([(0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3)], 2)]
    )
    r = ordhc.report(q, method="4-sl", methods=["4-sl"], structure=False, n_resamples=3)
    assert r.numbers["method"]["was_given"]
    assert "support" in r.numbers["notes"]
    assert r.tree.support is None
    assert "The tree has no support" in r.to_html()


def test_what_is_no_better_than_chance_is_said_to_be(usual_page):
    rng = np.random.default_rng(1)
    noise = Triplets([rng.choice(10, 3, replace=False) for _ in range(300)], n_leaves=10)
    r = ordhc.report(noise, **ONE, n_resamples=0)
    assert "not clearly better than chance" in r.to_html()
    assert "not clearly better than chance" not in usual_page


def test_the_table_has_the_number_of_the_headline():
    t = of_people(n_people=9, m=30)
    r = ordhc.report(t, **FAST)
    numbers, page = r.numbers, r.to_html()
    first = numbers["method"]["selection"]["candidates"][0]
    held = numbers["accuracy"]["held_out"]
    assert first["method"] == numbers["method"]["name"]
    for end in ("", "_low", "_high"):
        assert held[end[1:] or "estimate"] == pytest.approx(first[f"satisfied{end}"])
    shown = f"{100 * held['estimate']:.1f}% ({100 * held['low']:.1f}% to {100 * held['high']:.1f}%)"
    # Once in the summary, once in the table.
    assert page.count(shown) >= 2
    assert "without the answers that they are scored on, satisfy" in page
    given = ordhc.report(t, method="adds3-al", **LEAST).to_html()
    assert "without the answers that they are scored on, satisfy" not in given
    assert "What the numbers assume" in page


def test_an_interval_is_made_for_a_method_that_was_not_compared():
    t = of_people(n_people=9, m=30)
    answers = Answers.of(t)
    plan = Plan.of(t, method="adds3-al")
    (known,) = ordhc.select(t, ["adds3-al"], by="satisfied").candidates
    made = held_out(t, plan, answers, folds=5, seed=0, unit=None)
    taken = held_out(t, plan, answers, folds=5, seed=0, unit=None, known=known)
    assert (made.accuracy, made.low, made.high) == (taken.accuracy, taken.low, taken.high)
    assert made.low < made.accuracy < made.high


def test_the_page_says_what_a_perfect_tree_would_reach(usual_page):
    t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=4, sigma=0.2, seed=1)
    r = ordhc.report(t, **LEAST)
    decided = r.numbers["accuracy"]["held_out"]["decided"]
    # Of three leaves of a binary tree one is apart; a third of the questions is about that one.
    assert decided == pytest.approx(2 / 3, abs=0.06)
    assert f"a perfect tree would satisfy about {100 * decided:.1f}% of answers" in r.to_html()
    assert "a perfect tree" not in usual_page


def test_few_answers_make_no_percentage():
    t = Triplets(
        [(0, 1, 2), (0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1), (4, 3, 0)], groups=[0, 0, 1, 2, 1, 2]
    )
    page = ordhc.report(t, **LEAST).to_html()
    assert "Only 2 answers are to questions that the same person answered again: too few" in page
    assert "(2 answers)" not in page


def test_intervals_of_people_are_called_what_they_are():
    page = ordhc.report(of_people(n_people=40, m=20), **LEAST).to_html()
    assert "not adjusted for their number: about 2 of 40" in page


def test_chains_that_have_not_mixed_are_told(monkeypatch):
    t = of_people(n_people=6, m=10)
    how = {"method": "posterior-al", "methods": ["adds3-al"], "folds": 2, "structure": False}
    r = ordhc.report(t, **how)
    mixing = r.numbers["clusters"]["mixing"]
    assert f"R-hat is {mixing['r_hat']:.2f}" in r.to_html()
    assert "mixing" not in r.numbers["notes"]
    monkeypatch.setattr("ordhc.clustering.mixing.MIXED", 0.5)
    r = ordhc.report(t, **how)
    assert r.numbers["notes"]["mixing"].startswith(
        f"The chains have not mixed (R-hat above 0.5: log-likelihood {mixing['r_hat']:.2f}, noise "
    )
    assert "sweeps=600" in r.to_html()
    with pytest.warns(OrdhcWarning, match="the chains have not mixed"):
        ordhc.posterior(t, sweeps=20)
    with pytest.warns(OrdhcWarning, match="the chains have not mixed"):
        ordhc.cluster(t, method="posterior-al", sweeps=20)


def test_a_ceiling_of_few_answers_is_not_told(usual_page):
    t = Triplets([(0, 1, 2), (0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1), (4, 3, 0)])
    r = ordhc.report(t, **LEAST)
    assert r.numbers["accuracy"]["ceiling"]["n_answers"] == 2
    page = r.to_html()
    assert "2 answers are to repeated questions: too few for a noise ceiling." in page
    assert "the most to be expected" not in page
    assert "the most to be expected" in usual_page


def test_more_leaves_get_fewer_resamples():
    t = of_people(n_people=5, m=10)
    assert ordhc.report(t, **ONE).numbers["settings"]["n_resamples"] == 200
    large = Triplets([(0, 1, 2), (2, 3, 0), (4, 5, 1)] * 3, n_leaves=601)
    assert ordhc.report(large, **ONE).numbers["settings"]["n_resamples"] == 99


def test_large_trees_are_reported_in_part():
    rng = np.random.default_rng(0)
    t = Triplets([rng.choice(150, 3, replace=False) for _ in range(2500)], n_leaves=150)
    r = ordhc.report(t, **LEAST)
    nodes = r.numbers["clusters"]["nodes"]
    assert len(nodes) == 148
    for node in nodes:
        leaves = sorted(r.tree.node(node["label"]).leaves.tolist())
        assert node["size"] == len(leaves)
        assert node["leaves"] == (leaves if len(leaves) <= 100 else None)
    page = r.to_html()
    assert "The 150 items are drawn as the top of the tree" in page
    assert "No other method was tried" in page
    assert "The 40 largest are shown; the JSON has all." in page


def caption_and_names(found):
    """The caption of the tree, and the names in its picture."""
    page = found.to_html()
    caption = re.search(r"<figcaption>(.*?)</figcaption>", page)[1]
    return caption, re.findall(r">(item[^<]*)</text>", page[: page.index("<figcaption>")])


@pytest.mark.parametrize("n_unanswered", [0, 1, 160])
def test_items_without_answers_are_left_out_of_the_picture(n_unanswered):
    t, _ = ordhc.datasets.planted(4000, levels=2, leaves_per_cluster=10, seed=0)
    names = [f"item {leaf}" for leaf in range(40 + n_unanswered)]
    data = ordhc.Triplets(t.rows, n_leaves=len(names), names=names)
    caption, drawn = caption_and_names(ordhc.report(data, **LEAST))
    assert sorted(drawn) == sorted(names[:40])
    assert ("without answers" in caption) == (n_unanswered > 0)
    assert "Colours are 2 clusters." in caption


@pytest.mark.parametrize(("n_clusters", "n_tips"), [(61, 61), (110, 110), (111, 110)])
def test_as_many_clusters_are_coloured_as_are_asked_for(n_clusters, n_tips):
    t, _ = ordhc.datasets.planted(1500, levels=3, leaves_per_cluster=20, seed=0)
    data = ordhc.Triplets(t.rows, n_leaves=160, names=[f"item {leaf}" for leaf in range(160)])
    found = ordhc.report(data, n_clusters=n_clusters, **LEAST)
    caption, drawn = caption_and_names(found)
    assert len(drawn) == n_tips
    said = "Colours are {}." if n_clusters <= 110 else "{} are too many to colour."
    assert said.format(f"{n_clusters} clusters") in caption


def test_a_pilot_with_all_names_is_reported():
    t, _ = ordhc.datasets.planted(100, levels=2, leaves_per_cluster=50, seed=0)
    data = ordhc.Triplets(t.rows, n_leaves=200, names=[f"item {leaf}" for leaf in range(200)])
    caption, drawn = caption_and_names(ordhc.report(data, n_resamples=5, **ONE))
    assert len(drawn) == 60
    assert f"The {len(np.unique(t.rows))} items" in caption


def test_the_paragraph_explains_the_posterior_and_the_study(tmp_path):
    names = ["cat", "dog", "car", "bus", "owl"]
    with ordhc.Session(tmp_path / "s.ordhc", names=names, method="uncertain", budget=40) as session:
        session.set_question("Which one is the odd one out?")
        session.set_rules(seconds=0.5)
        for number in range(20):
            who = f"person {number % 4}"
            questions = session.ask(who=who)
            if len(questions):
                seconds = 0.1 if who == "person 3" else 2.0 + number / 10
                session.tell([questions.ids[0]], [0], who=who, seconds=[seconds])
        found = session.analysed().about
        assert found["question"] == "Which one is the odd one out?"
        known = session.table()["seconds"]
        assert found["seconds"]["median"] == pytest.approx(np.median(known))
        r = ordhc.report(session, methods=["posterior-al"], n_resamples=None, folds=2, structure=False)
    said = methods(r.numbers)[0]
    assert "People were asked: “Which one is the odd one out?”" in said
    assert "The learner was “uncertain”" in said
    assert "The median response time was " in said
    assert "e + (1 - 2e) / (1 + exp(s(q) - s(p)))" in said
    assert "Priors: error rates are Beta(1, 4)" in said
    assert "4 Markov chains made 300 sweeps each" in said
    page = r.to_html()
    for reference in ("Luce, R. D. (1959)", "Sattath, S.", f"Version {ordhc.__version__}", "Gelman, A."):
        assert reference in page
    # Other methods have no such model.
    other = ordhc.report(Triplets([(0, 1, 2), (1, 0, 2)]), **LEAST)
    assert "Priors" not in methods(other.numbers)[0]
