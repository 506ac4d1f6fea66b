"""Do people agree on one tree: groups, their number, memberships, and what cannot be told."""

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.evaluate import people_groups as module
from ordhc.evaluate.structure.words import Estimate
from support.answers import chosen, comparisons_of
from support.few_rounds import with_few_rounds
from support.processes import run

N, PEOPLE = 12, 12
LABELS = np.arange(N)
TREE = 3.0 * sum((LABELS[:, None] // step == LABELS // step).astype(float) for step in (2, 4, 8))
SHUFFLED = np.random.default_rng(0).permutation(N)
OTHER = TREE[np.ix_(SHUFFLED, SHUFFLED)]
QUICK = {"max_trees": 2, "folds": 2}
# Short chains may not mix, and find groups nevertheless.
pytestmark = pytest.mark.filterwarnings("ignore:the chains have not mixed")


def answers_of_people(trees, each=40, seed=1, noise=0.0, kind="triplet"):
    """Answers to random questions by people who each follow a tree."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([chosen(rng, S, each, kind, noise) for S in trees])
    return comparisons_of(rows, kind, n_leaves=N, groups=np.repeat(np.arange(len(trees)), each))


def two_groups(**how):
    return answers_of_people([TREE, OTHER] * (PEOPLE // 2), **how)


@pytest.fixture(scope="module")
def both():
    """Two groups, found with as many starts and rounds as everybody gets."""
    return ordhc.people_groups(two_groups(), **QUICK)


@pytest.fixture
def few_rounds(monkeypatch):
    with_few_rounds(monkeypatch)


@pytest.fixture(scope="module")
def both_of_few():
    with pytest.MonkeyPatch.context() as patch:
        with_few_rounds(patch)
        return ordhc.people_groups(two_groups(), **QUICK)


def test_people_are_put_right(both):
    assert both.verdict.kind == "several"
    assert both.n_trees == 2
    found = sorted(group.people for group in both.groups)
    assert found == [tuple(range(0, PEOPLE, 2)), tuple(range(1, PEOPLE, 2))]
    assert both.scores[1].gain.low > 0
    assert both.verdict.sure
    for group in both.groups:
        assert group.gain.low > 0
        own = TREE if 0 in group.people else OTHER
        truth = ordhc.linkage(own, dissimilarity=False)
        distances = [ordhc.metrics.triplet_distance(g.dendrogram, truth, join_ties=True) for g in both.groups]
        assert distances[both.groups.index(group)] == min(distances)
        assert group.tree.scale == "lengths"
    np.testing.assert_allclose([sum(each) for each in both.memberships.values()], 1.0)


@pytest.mark.usefixtures("few_rounds")
def test_one_tree_is_one():
    data = answers_of_people([TREE] * PEOPLE, noise=0.2)
    found = ordhc.people_groups(data, **QUICK)
    assert (found.verdict.kind, found.n_trees) == ("one", 1)
    assert found.groups[0].people == tuple(range(PEOPLE))
    assert found.groups[0].size == pytest.approx(PEOPLE)
    assert "One tree is enough for all people" in str(found)
    # The same tree as without looking for groups.
    assert found.groups[0].tree.to_newick() == ordhc.posterior(data).tree.to_newick()


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize("kind", ["odd", "pairs"])
def test_whole_answers_of_all_kinds(kind):
    each = 25 if kind == "odd" else 40
    found = ordhc.people_groups(two_groups(kind=kind, each=each), **QUICK)
    assert found.n_answers == each * PEOPLE
    assert sorted(group.people[0] for group in found.groups) == [0, 1]
    assert [len(group.people) for group in found.groups] == [PEOPLE // 2] * 2


def test_careless_people_make_no_group():
    data = two_groups()
    rng = np.random.default_rng(2)
    rows = data.rows.copy()
    careless = np.isin(data.groups, [0, 1, 2]) & (rng.random(len(rows)) < 0.5)
    rows[careless] = rows[careless][:, [0, 2, 1]]
    found = ordhc.people_groups(ordhc.Triplets(rows, n_leaves=N, groups=data.groups), **QUICK)
    careful = [{who for who in group.people if who > 2} for group in found.groups]
    assert sorted(careful, key=min) == [set(range(3, PEOPLE, 2)), set(range(4, PEOPLE, 2))]
    # Random answers may fit one of the trees by chance, but not those of everybody.
    assert np.mean([max(found.memberships[who]) for who in range(3)]) < 0.9
    assert min(max(found.memberships[who]) for who in range(3, PEOPLE)) > 0.9


@pytest.mark.parametrize(
    ("gains", "sure", "told"),
    [
        ([(0.1, 0.05, 0.15), (0.1, 0.02, 0.18)], True, None),
        ([(0.1, 0.05, 0.15), (0.01, -0.02, 0.04)], False, "group 2 are not clearly predicted better"),
        ([(0.0, np.nan, np.nan), (0.1, 0.02, 0.18)], False, "group 1 are not clearly predicted better"),
    ],
)
def test_people_who_may_have_answered_at_random_are_told(both, gains, sure, told):
    groups = [
        dataclasses.replace(group, gain=Estimate(*gain))
        for group, gain in zip(both.groups, gains, strict=True)
    ]
    found = module._verdict(groups, both.memberships, both.scores, 0.69)
    assert (found.kind, found.sure) == ("several", sure)
    assert ("at random" in found.text) == (told is not None)
    assert told is None or told in found.text


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize(("more", "n_trees"), [(0.008, 2), (0.004, 1), (-0.1, 1)])
def test_several_trees_predict_together_with_one(monkeypatch, more, n_trees):
    likely = {1: 0.6, 2: 0.6 * (1 + 2 * more)}
    monkeypatch.setattr(
        module, "answer_probabilities", lambda _, test, k, *__: np.full(len(test.data), likely[k])
    )
    found = ordhc.people_groups(answers_of_people([TREE] * 6, each=10), **QUICK)
    # The mean of both is larger by half of what two trees alone would gain.
    assert found.scores[0].log_loss.value == pytest.approx(-np.log(0.6))
    assert found.scores[1].gain.value == pytest.approx(np.log1p(more))
    # The smallest gain that counts is 0.0069 nats, where chance has a log loss of 0.693.
    assert found.n_trees == n_trees


def test_the_gain_of_a_group_is_over_chance(both):
    # Of people who all belong to one group the mean over groups is that of everybody.
    sizes = [len(group.people) for group in both.groups]
    gain = np.average([group.gain.value for group in both.groups], weights=sizes)
    assert gain == pytest.approx(np.log(2) - both.scores[1].log_loss.value)


@pytest.mark.usefixtures("few_rounds")
def test_numbers_of_people_and_leaves_and_the_order_of_rows_do_not_matter(both_of_few):
    data = two_groups()
    rng = np.random.default_rng(3)
    people, leaves, rows = (rng.permutation(size) for size in (PEOPLE, N, len(data)))
    names = [f"p{number}" for number in range(PEOPLE)]
    other = ordhc.Triplets(
        leaves[data.rows][rows], n_leaves=N, groups=[names[people[g]] for g in np.asarray(data.groups)[rows]]
    )
    found = ordhc.people_groups(other, **QUICK)
    assert found.scores[1].gain.value == pytest.approx(both_of_few.scores[1].gain.value, abs=1e-12)
    for person, each in both_of_few.memberships.items():
        assert sorted(found.memberships[names[people[person]]]) == pytest.approx(sorted(each), abs=1e-9)


@pytest.mark.usefixtures("few_rounds")
def test_executors_and_runs_give_the_same_result(both_of_few):
    told = []
    with ThreadPoolExecutor(2) as executor:
        found = ordhc.people_groups(two_groups(), executor=executor, progress=told.append, **QUICK)
    assert found.to_dict() == both_of_few.to_dict()
    assert told[-1] == 1.0
    assert told == sorted(told)
    document = json.loads(json.dumps(both_of_few.to_dict(), allow_nan=False))
    assert document["n_trees"] == 2
    assert len(document["memberships"]) == PEOPLE
    assert "2 trees" in repr(both_of_few)
    assert both_of_few.verdict.text.split(":")[0] in both_of_few._repr_html_()


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize("count", [1, 4])
def test_a_few_people(count):
    found = ordhc.people_groups(answers_of_people([TREE, OTHER, TREE, OTHER][:count], each=20), **QUICK)
    assert (found.verdict.kind, found.n_trees, len(found.memberships)) == ("few", 1, count)
    assert "at least 5 people are needed" in found.verdict.text
    assert "null" in json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.usefixtures("few_rounds")
def test_repeated_questions_stay_together_and_contradictions_are_too_few():
    # Everybody answers two questions, both ways: where one half predicts the other, nothing can be learnt.
    rows = np.tile([(0, 1, 2), (0, 2, 1), (3, 1, 2), (3, 2, 1)], (PEOPLE, 1))
    data = ordhc.Triplets(rows, n_leaves=4, groups=np.repeat(np.arange(PEOPLE), 4))
    found = ordhc.people_groups(data, max_trees=2, folds=2)
    assert found.verdict.kind == "few"
    assert found.scores[0].log_loss.value > 0.69
    # One question that is repeated is in one part: nobody's answers to it are predicted by their own.
    mixed = np.where(np.arange(PEOPLE) % 2, 1, 2)[:, None] * np.array([0, 1, -1]) + [0, 0, 3]
    again = ordhc.Triplets(np.repeat(mixed, 6, axis=0), n_leaves=3, groups=np.repeat(np.arange(PEOPLE), 6))
    assert ordhc.people_groups(again, max_trees=2, folds=2).n_trees == 1


@pytest.mark.usefixtures("few_rounds")
def test_people_without_answers_and_rows_without_weight():
    data = answers_of_people([TREE] * 6, each=20)
    names = [f"p{number}" for number in range(6)]
    weights = np.where(data.groups == 5, 0.0, 1.0)
    light = ordhc.Triplets(
        data.rows, n_leaves=N, groups=[names[group] for group in data.groups], weights=weights
    )
    found = ordhc.people_groups(light, max_trees=1, folds=2)
    assert list(found.memberships) == names[:5]
    assert found.n_answers == 100


def test_what_cannot_be_grouped():
    with pytest.raises(InputError, match=r"Quadruplets, ordhc.scan\(\.\.\.\) or a Session, not list"):
        ordhc.people_groups([(0, 1, 2)])
    with pytest.raises(InputError, match="needs to know who gave each answer"):
        ordhc.people_groups(ordhc.Triplets([(0, 1, 2)]))
    with pytest.raises(InputError, match="positive weight"):
        ordhc.people_groups(ordhc.Triplets([(0, 1, 2)], groups=[0], weights=[0]))
    with pytest.raises(InputError, match="max_trees"):
        ordhc.people_groups(two_groups(), max_trees=0)
    with pytest.raises(InputError, match="folds"):
        ordhc.people_groups(two_groups(), folds=1)


@pytest.mark.usefixtures("few_rounds")
def test_scans_and_sessions(tmp_path, both_of_few):
    data = two_groups()
    names = [f"p{number}" for number in range(PEOPLE)]
    named = ordhc.Triplets(data.rows, n_leaves=N, groups=[names[group] for group in data.groups])
    ordhc.write_comparisons(named, tmp_path / "a.csv")
    scanned = ordhc.people_groups(ordhc.scan(tmp_path / "a.csv"), **QUICK)
    assert scanned.scores == both_of_few.scores
    assert sorted(group.people for group in scanned.groups) == [tuple(names[::2]), tuple(names[1::2])]
    assert scanned.caution is None
    with ordhc.Session(tmp_path / "s.ordhc", n_leaves=N, seed=1) as session:
        rng = np.random.default_rng(5)
        for name in names:
            rows = np.argsort(rng.random((20, N)), axis=1)[:, :3]
            session.add_answers(rows, rng.integers(0, 3, 20), who=name)
        # The rules of the session leave out who answers within half a second, and weigh answers.
        questions = session.ask(10, who="hasty")
        session.tell(questions.ids, np.zeros(10, dtype=int), who="hasty")
        session.set_rules(seconds=0.5)
        kept = session.analysed().comparisons
        ruled = ordhc.people_groups(session, max_trees=1, folds=2)
    weighty = np.unique(kept.groups[kept.weights > 0]).tolist()
    assert list(ruled.memberships) == [kept.group_names[number] for number in weighty]
    assert "hasty" not in ruled.memberships
    learnt = ordhc.Triplets(data.rows[:120], n_leaves=N, groups=data.groups[:120], adaptive=True)
    found = ordhc.people_groups(learnt, max_trees=1, folds=2)
    assert found.caution in str(found)
    assert found.to_dict()["caution"].startswith("A learner chose the questions")


@pytest.mark.usefixtures("few_rounds")
def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = two_groups()
    lines = [
        "who,anchor,near,far",
        *(f"s{g},{a},{b},{c}" for g, (a, b, c) in zip(data.groups, data.rows, strict=True)),
    ]
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    how = ("people-groups", "answers.csv", "--person", "who", "--max-trees", "2", "--folds", "2", "-q")
    code, out, _ = run(capsys, *how)
    assert code == 0
    assert "People do not agree on one tree: 2 trees" in out
    assert "next: ordhc structure answers.csv --person who" in out
    document = json.loads(run(capsys, *how, "--json")[1])
    assert document["verdict"]["kind"] == "several"
    assert {each["person"] for each in document["memberships"]} == {f"s{number}" for number in range(PEOPLE)}
