"""One study, one analysis: the dashboard, the commands and the exports say the same of it."""

import csv
import io
import itertools
import json
import sqlite3
import types

import numpy as np
import ordhc_collect
import pytest
from ordhc_collect.analysis.export import as_csv, people_rows, rows_of
from ordhc_collect.analysis.summary import summarise
from ordhc_collect.people import study_state
from ordhc_collect.people.state import INSTRUCTIONS, TRIALS, Measured
from ordhc_collect.people.study_state import Clock, StudyState
from ordhc_collect.people.tables import reading
from ordhc_collect.simulate.crowd import SimulatedPerson
from ordhc_collect.study.reading import read_study
from ordhc_collect.web.server import opened
from studies import make_study

import ordhc
from ordhc.errors import SkippedRowsWarning
from support.journeys import Journey
from support.processes import command_here

RULES = "[exclude]\nseconds = 0.5\nsame_side = 0.9\nbelow_chance = true\n"


#: This test does not compare the parts of reports that describe anything else than the tree.
QUICK = ("--folds", "2", "--no-structure")
#: How many people of the study answer by the tree, and how many questions everybody answers.
PEOPLE, QUESTIONS = 8, 20
METHODS = ("--method", "adds3-al+spr", "--method", "posterior-al")


def truth():
    """Four groups of three, items in the order of their names."""
    groups = [f"({3 * g},{3 * g + 1},{3 * g + 2})" for g in range(4)]
    return ordhc.as_dendrogram(f"(({groups[0]},{groups[1]}),({groups[2]},{groups[3]}));")


def take_part(state, name, answer, per_person, seconds):
    with state.session.transaction():
        who = state.join("puid", name, "en").id
    with state.session.transaction():
        person = state.step(who, INSTRUCTIONS, {})
    for _ in range(per_person):
        assert person.stage == TRIALS
        with state.session.transaction():
            trial = person.trial
            choice = answer(list(trial.shown))
            person = state.answer(who, trial.number, trial.attempt, choice, Measured(seconds))
    with state.session.transaction():
        state.step(who, person.stage, {})


def test_an_answer_on_the_web_does_not_jump_between_many_files(tmp_path):
    found, data = read_study(make_study(tmp_path, 12, per_person=10)), tmp_path / "study.ordhc"
    with opened(found, data) as (_, session):
        state = StudyState(found, session, data, Clock())
        with session.transaction():
            who = state.join("puid", "ann", "en").id
            person = state.step(who, INSTRUCTIONS, {})
        for _ in range(3):
            number, attempt = person.trial.number, person.trial.attempt
            with Journey(ordhc, ordhc_collect) as journey, session.transaction():
                person = state.answer(who, number, attempt, 1, Measured(2.0))
            assert 0 < journey.changes <= 53


@pytest.fixture(scope="module")
def same_ids():
    """People whose ids, and with them their questions, are the same in each run."""
    numbers = itertools.count()
    with pytest.MonkeyPatch.context() as patch:
        counted = types.SimpleNamespace(token_hex=lambda n: f"{next(numbers):0{2 * n}x}")
        patch.setattr(study_state, "secrets", counted)
        yield


@pytest.fixture(scope="module")
def study(same_ids, tmp_path_factory):
    """A finished study: people who answer by the tree, one too fast, one always at the same place."""
    folder = tmp_path_factory.mktemp("study")
    path = make_study(folder, 12, per_person=QUESTIONS, more=RULES)
    found, data = read_study(path), folder / "study.ordhc"
    tree = truth()
    with opened(found, data) as (_, session):
        state = StudyState(found, session, data, Clock())
        for k in range(PEOPLE):
            take_part(state, f"bot{k}", SimulatedPerson(tree, "odd", 0.85, f"{k}"), QUESTIONS, 2.0)
        take_part(state, "fast", SimulatedPerson(tree, "odd", None, "fast"), QUESTIONS, 0.1)
        take_part(state, "same", lambda shown: 2, QUESTIONS, 2.0)
    return path, found, data


@pytest.fixture(scope="module")
def dashboard(study):
    _, found, data = study
    with ordhc.Session(data) as session:
        return summarise(found, session, 0.0)


@pytest.fixture(scope="module")
def report(study):
    """The numbers of `ordhc report`, and its page."""
    folder = study[0].parent
    command("report", str(study[2]), "-o", str(folder / "report.html"), *QUICK, "-q")
    return json.loads((folder / "report.json").read_text()), (folder / "report.html").read_text()


def exported(study, how):
    _, found, data = study
    with ordhc.Session(data) as session, reading(data) as tables:
        people = {who: person for who, person in session.people().items() if who is not None}
        rows = (
            people_rows(found, tables, people)
            if how == "people"
            else rows_of(how, found, session, tables, people)
        )
        return "".join(as_csv(rows))


def command(*arguments):
    found = command_here(*arguments)
    assert found.returncode == 0, found.stderr
    return found


def same_groups(tree):
    """The clusters of a cut into four groups, by the names of their leaves."""
    labels = tree.cut(4)
    return {frozenset(tree.labels[leaf] for leaf in np.flatnonzero(labels == k)) for k in range(4)}


def test_the_truth_is_found_by_everything_that_is_documented(study, dashboard, report, tmp_path):
    _, _, data = study
    assert len(dashboard.excluded) == 2
    right = {frozenset(f"item{k:02}" for k in range(3 * g, 3 * g + 3)) for g in range(4)}
    assert same_groups(dashboard.tree) == right
    triplets = tmp_path / "triplets.csv"
    triplets.write_text(exported(study, "triplets"))
    clusters = [
        json.loads(command("cluster", file, "--json", "-q").stdout) for file in (str(data), str(triplets))
    ]
    trees = [ordhc.as_dendrogram(each["tree"]) for each in clusters]
    assert [each["method"] for each in clusters] == ["posterior-al"] * 2
    numbers, _ = report
    assert numbers["method"]["name"] == "posterior-al"
    trees.append(ordhc.as_dendrogram(numbers["tree"]))
    with ordhc.Session(data) as session:
        assert session.settings["method"] == "uncertain"
        trees.append(session.tree())
    assert trees[-1] == trees[-2] == dashboard.tree
    for tree in (trees[0], *trees[2:]):
        np.testing.assert_array_equal(tree.parents, dashboard.tree.parents)
        np.testing.assert_array_equal(tree.heights, dashboard.tree.heights)
    # The rows of the table stand in another order, and its weights are rounded.
    assert ordhc.metrics.robinson_foulds(trees[1], dashboard.tree) == 0
    compared = json.loads(command("compare", str(data), *METHODS, "--folds", "2", "--json", "-q").stdout)
    assert compared["best"] == "posterior-al"
    assert compared["on_random"] is True


def test_answers_people_and_held_out_accuracy_are_the_same_everywhere(study, dashboard, report):
    _, _, data = study
    numbers, told = report
    with ordhc.Session(data) as session:
        about = session.analysed().about
        table = session.table()
    mine = ~np.isin(table["who"].astype(str), dashboard.excluded)
    held = table["sampler"] == "heldout"
    assert about["n_people"] == numbers["data"]["n_people"] == PEOPLE
    assert about["n_answers"] == numbers["data"]["n_answers"] == (mine & ~held).sum()
    assert numbers["session"]["analysis"] == json.loads(json.dumps(about))
    assert set(about["excluded"]) == set(dashboard.excluded)
    apart = numbers["accuracy"]["held_out_questions"]
    assert dashboard.heldout == pytest.approx(
        tuple(apart[key] for key in ("n_answers", "estimate", "low", "high"))
    )
    # Written out: the share of held-out answers of those who count whose odd one is the likeliest, without
    # questions that the tree was made from, too. Likeliest answers that are equally likely share the point.
    with ordhc.Session(data) as session:
        drawn = session.analysed().posterior()
    leaves = np.sort([table[f"leaf_{k}"] for k in (1, 2, 3)], axis=0).T
    seen = {tuple(row) for row in leaves[mine & ~held].tolist()}
    agreed = []
    for row in np.flatnonzero(mine & held).tolist():
        if tuple(leaves[row].tolist()) in seen:
            continue
        a, b, c = (int(table[f"leaf_{k}"][row]) for k in (1, 2, 3))
        odd_first = [(a, b, c), (b, a, c), (c, a, b)]
        losses = [drawn.log_loss(ordhc.Triplets.from_odd_one_out([each], n_leaves=12)) for each in odd_first]
        likeliest = np.isclose(losses, min(losses), rtol=0, atol=1e-9)
        agreed.append(likeliest[table["answer"][row]] / likeliest.sum())
    assert apart["n_answers"] == about["n_scored"] == len(agreed)
    assert about["n_held_out"] == (mine & held).sum()
    left_out = numbers["data"]["left_out"]
    assert left_out["held-out answers, on which the tree is scored"] == len(agreed)
    assert sum(count for why, count in left_out.items() if "held-out" in why) == about["n_held_out"]
    assert apart["estimate"] == pytest.approx(np.mean(agreed))
    assert apart["by"] == "posterior"
    assert dashboard.lengths == numbers["lengths"]
    assert f"We left out 2 people with {2 * QUESTIONS} answers." in told
    assert "a median response time below 0.5 s" in told
    assert "random questions, which were held out for this" in told
    # Support is that of trees drawn from the posterior, so nothing was resampled.
    assert "of the drawn trees" in told
    assert "resampled" not in told
    printed = command("cluster", str(data)).stdout
    assert f"session  {about['n_answers']:,} answers of {PEOPLE} people" in printed
    assert f"{about['n_scored']} of {about['n_held_out']} held-out answers are for scores" in printed
    assert f"left out 2 people with {2 * QUESTIONS} answers" in printed
    everybody = json.loads(command("cluster", str(data), "--exclude", "nobody", "--json", "-q").stdout)
    assert everybody["session"]["n_people"] == PEOPLE + 2
    assert everybody["session"]["weights"] == "reliability"
    people = list(csv.DictReader(io.StringIO(exported(study, "people"))))
    assert sum(not row["excluded"] for row in people) == PEOPLE
    assert {row["person"] for row in people if row["excluded"]} == set(dashboard.excluded)


def test_exported_triplets_say_what_the_session_says(study, tmp_path):
    _, _, data = study
    path = tmp_path / "triplets.csv"
    path.write_text(exported(study, "triplets"))
    read = ordhc.read_answers(path)
    with ordhc.Session(data) as session:
        kept = session.comparisons()
    assert read.adaptive
    assert set(read.group_names) == set(np.array(kept.group_names)[kept.groups])
    assert len(np.unique(read.answers)) == len(np.unique(kept.answers)) == len(kept) // 2
    assert read.weights == pytest.approx(kept.weights)


def test_a_method_that_counts_warns_about_chosen_questions(study):
    _, _, data = study
    found = command("cluster", str(data), "--method", "adds3-al", "-q")
    assert "use method='posterior-al' (--method posterior-al)" in found.stderr
    assert "a learner chose" not in command("cluster", str(data), "-q").stderr


def test_changes_of_the_study_are_kept_with_their_time(study, tmp_path):
    path, found, _ = study
    data = tmp_path / "study.ordhc"
    password = '[dashboard]\npassword = "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$aGFzaA"\n'
    text = path.read_text()
    for changed in (text, text, text.replace(f"per_person = {QUESTIONS}", "per_person = 10") + password):
        path.write_text(changed)
        found = read_study(path)
        with opened(found, data) as (_, session):
            StudyState(found, session, data, Clock())
    path.write_text(text)
    with sqlite3.connect(data) as db:
        versions = db.execute("SELECT at, text FROM collect_versions").fetchall()
    assert [(f"per_person = {QUESTIONS}" in kept, "per_person = 10" in kept) for _, kept in versions] == [
        (True, False),
        (False, True),
    ]
    assert versions[0][0] < versions[1][0]
    assert "argon2" not in versions[1][1]
    with ordhc.Session(data) as session:
        assert [rules.seconds for rules in session.analysed().rules] == [0.5]
        session.set_rules(seconds=0.8)
        assert [rules.seconds for rules in session.analysed().rules] == [0.5, 0.8]
        assert session.analysed().rules[0].at < session.analysed().rules[1].at


@pytest.fixture(scope="module")
def random_study(same_ids, tmp_path_factory):
    """A small study whose questions were all drawn at random."""
    folder = tmp_path_factory.mktemp("random")
    path = make_study(folder, 12, per_person=12, top='sampler = "random"', more=RULES)
    found, data = read_study(path), folder / "study.ordhc"
    tree = truth()
    with opened(found, data) as (_, session):
        state = StudyState(found, session, data, Clock())
        for k in range(9):
            take_part(state, f"bot{k}", SimulatedPerson(tree, "odd", 0.85, f"{k}"), 12, 2.0)
        take_part(state, "same", lambda shown: 2, 12, 2.0)
    return path, found, data


def test_a_study_of_random_questions_has_one_tree_too(random_study, tmp_path):
    """A file's default is another method: sessions, the dashboard and what exports name are the same."""
    path, found, data = random_study
    with ordhc.Session(data) as session:
        board = summarise(found, session, 0.0)
    told = json.loads(command("cluster", str(data), "--json", "-q").stdout)
    trees = [board.tree, ordhc.as_dendrogram(told["tree"])]
    assert told["method"] == "posterior-al"
    assert told["session"]["n_people"] == len(board.people) - len(board.excluded) == 9
    command("report", str(data), "-o", str(tmp_path / "r.json"), *QUICK, "-q")
    numbers = json.loads((tmp_path / "r.json").read_text())
    assert numbers["method"]["selection"]["preferred"] == numbers["method"]["name"] == "posterior-al"
    trees.append(ordhc.as_dendrogram(numbers["tree"]))
    compared = json.loads(command("compare", str(data), *METHODS, "--folds", "2", "--json", "-q").stdout)
    assert compared["best"] == compared["preferred"] == "posterior-al"
    assert compared["adaptive"] is False
    for how in ("triplets", "salmon", "trials"):
        out = tmp_path / f"{how}.csv"
        printed = command("collect", str(path), "--data", str(data), "--export", str(out), "--as", how).stdout
        following = printed.partition("next     ordhc ")[2].split()
        read = json.loads(command(*following, "--json", "-q").stdout)
        assert (read["n_answers"], read["n_people"]) == (108, 9)
        trees.append(ordhc.as_dendrogram(read["tree"]))
    for tree in trees[1:]:
        assert ordhc.metrics.robinson_foulds(tree, trees[0]) == 0


def test_the_budget_of_a_study_is_no_number(study):
    told = command("session", "info", str(study[2])).stdout
    assert ", no limit\n" in told
    assert "budget = no limit" in told
    assert "9007199254740992" not in told.replace(",", "")
    assert "no better than chance: 2 people" in told


def test_forgetting_somebody_takes_their_places_along(study, tmp_path):
    _, _, data = study
    copy = tmp_path / "copy.ordhc"
    copy.write_bytes(data.read_bytes())
    with ordhc.Session(copy) as session:
        (who,) = [who for who, why in session.analysed().excluded.items() if "same place" in why[0]]
        session.forget(who)
        assert who not in session.analysed().excluded
    with sqlite3.connect(copy) as db:
        places = db.execute("SELECT count(*) FROM places").fetchone()[0]
        answers = db.execute("SELECT count(*) FROM events WHERE kind = 2").fetchone()[0]
    assert places == answers


@pytest.mark.parametrize(("how", "format"), [("salmon", "salmon"), ("trials", "collect")])
def test_every_export_gives_the_same_answers(study, tmp_path, how, format):
    _, _, data = study
    path = tmp_path / f"{how}.csv"
    path.write_text(exported(study, how))
    with pytest.warns(SkippedRowsWarning, match="heldout"):
        read = ordhc.read_answers(path, format=format)
    with ordhc.Session(data) as session:
        kept = session.comparisons()

    def said(comparisons):
        leaves = np.array(comparisons.names)[comparisons.rows]
        order = np.lexsort(leaves.T)
        return leaves[order].tolist(), comparisons.weights[order]

    assert said(read)[0] == said(kept)[0]
    assert sorted(read.weights) == pytest.approx(sorted(kept.weights))
    assert len(np.unique(read.groups)) == PEOPLE
    assert len(np.unique(read.answers)) == len(kept) // 2
    assert read.adaptive
