"""Reports of sessions, and the command that writes them."""

import json

import numpy as np
import pytest

import ordhc
from support.answers import of_people
from support.few_rounds import with_few_rounds
from support.processes import run
from support.sessions import NAMES, answer, finish

pytest.importorskip("matplotlib")


def test_sessions_bring_people_and_what_was_held_out(tmp_path):
    truth = ordhc.linkage(np.random.default_rng(0).random(190), dissimilarity=True)
    oracle = ordhc.oracles.from_tree(truth)
    with ordhc.Session(
        tmp_path / "a", n_leaves=20, method=ordhc.learners.Insertion(parallel=1), fill="heldout"
    ) as session:
        for _ in range(12):
            for who in ("ann", "bob", "cid"):
                answer(session, 5, who, oracle)
        r = ordhc.report(session, methods=["adds3-al"], n_resamples=5, folds=2, structure=False)
        found = r.numbers["session"]
        assert found["n_answers"] == session.status.n_answered
        known = session.people()
        told = {person["who"]: person for person in r.numbers["people"]}
        assert "ann" in told
        for who in told:
            assert told[who]["reliability"] == known[who].reliability
        apart = session.comparisons(heldout=True)
        of_tree = r.numbers["accuracy"]["held_out_questions"]
        assert of_tree["n_answers"] == len(apart) // 2
        assert of_tree["by"] == "tree"
        assert of_tree["estimate"] == pytest.approx(ordhc.metrics.answer_accuracy(r.tree, apart))
        assert of_tree["chance"] == pytest.approx(1 / 3)
        assert session.analysed().accuracy(r.tree).accuracy == of_tree["estimate"]


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with_few_rounds(monkeypatch)
    t = of_people(n_people=6, m=30)
    ordhc.write_comparisons(t, "answers.csv")
    fast = ("--compare", "adds3-al", "--compare", "mulk3-al", "--folds", "2", "--resamples", "5")
    fast = (*fast, "--no-structure")
    code, out, err = run(capsys, "report", "answers.csv", "-o", "report.html", *fast)
    assert code == 0, err
    assert out.splitlines()[0] == "8 items were compared in 180 answers of 6 people."
    assert out.splitlines()[-2:] == ["wrote    report.html", "wrote    report.json"]
    numbers = json.loads((tmp_path / "report.json").read_text())
    assert numbers["command"] == (
        "ordhc report answers.csv --compare adds3-al --compare mulk3-al --folds 2 --resamples 5 "
        "--no-structure"
    )
    assert numbers["structure"] is None
    assert numbers["people_groups"] is None
    code, out, err = run(capsys, "report", "answers.csv", "-o", "groups.html", "--people-groups", *fast)
    assert code == 0, err
    grouped = json.loads((tmp_path / "groups.json").read_text())
    assert grouped["command"].split()[-2:] == ["--no-structure", "--people-groups"]
    assert grouped["people_groups"]["verdict"]["headline"] in out
    code, out, err = run(capsys, "report", "answers.csv", "-o", "other.json", "--json", "-q", *fast)
    assert code == 0, err
    again = json.loads((tmp_path / "other.json").read_text())
    assert {**json.loads(out)} == {**again, "left_out": {}}
    assert {**again, "command": ""} == {**numbers, "command": ""}
    assert not (tmp_path / "other.html").exists()
    code, _, err = run(capsys, "report", "answers.csv", "-o", "answers.csv")
    assert code == 2
    assert "the ending is none of" in err
    (tmp_path / "x.json").write_text("[]")
    code, _, err = run(capsys, "report", "x.json", "-o", "x.html")
    assert (code, (tmp_path / "x.json").read_text()) == (2, "[]")
    assert "is an input" in err
    code, _, err = run(capsys, "report", "nowhere.csv")
    assert (code, err.count("\n")) == (2, 1)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("ORDHC_BROWSER", "/nowhere/chromium")
    code, _, err = run(capsys, "report", "answers.csv", "-o", "report.pdf")
    assert code == 2
    assert "a PDF is printed by Chromium or Chrome" in err
    assert "print it from a browser" in err


def test_sessions_are_reported_by_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with ordhc.Session("animals.ordhc", NAMES) as session:
        finish(session)
    fast = ("--resamples", "3", "--folds", "2", "--compare", "adds3-al", "--no-structure")
    code, out, err = run(capsys, "report", "animals.ordhc", *fast, "--title", "Seven <animals>")
    assert code == 0, err
    assert "7 items" in out
    assert "<h1>Seven &lt;animals&gt;</h1>" in (tmp_path / "report.html").read_text()
    code, _, err = run(capsys, "report", "animals.ordhc", "--kind", "odd-one-out")
    assert code == 2
    assert "--kind is for tables of answers, but animals.ordhc is a session" in err
