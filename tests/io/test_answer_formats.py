"""Answers as tools write them, from the command line, and the names of their leaves."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc import Triplets, read_answers
from ordhc.errors import InputError, SkippedRowsWarning
from ordhc.io import read_names
from support.answers import persons
from support.processes import run
from support.reply_twins import STUDY, THREE, counting, named

FILES = Path(__file__).parents[1] / "data" / "answers"


def test_salmon():
    t, counts = counting(read_answers, FILES / "salmon.csv", format="salmon")
    assert counts == {"without an item": 1}
    assert t.names == ("Bode Miller", "Lindsey Kildow", "shiffrin.jpg", "Ted Ligety", "Paula, Moltzan")
    assert list(t) == [(0, 1, 2), (3, 0, 1), (4, 2, 3)]
    assert persons(t) == ["a8f3k2", "a8f3k2", "z01qq9"]
    older = read_answers(FILES / "next.csv", format="salmon")
    assert named(older)[0] == ("i0464", "i0532", "i0546")
    assert older.groups.tolist() == [1099, 1099, 1100]


def test_jspsych():
    t, counts = counting(read_answers, FILES / "jspsych.csv", "odd-one-out", format="jspsych")
    assert counts == {"that repeat the header": 1, "of other trials": 3, "with `null` for an answer": 1}
    assert named(t)[::2] == [
        ("cat", "dog", "car"),
        ("dog", "cat", "bus"),
        ("bus", "car", "cow"),
        ("dog", "cat", "car"),
    ]
    assert persons(t) == ["p01"] * 6 + ["p02"] * 2
    same, counts = counting(read_answers, FILES / "jspsych.json", "odd-one-out", format="jspsych")
    assert counts == {"of other trials": 2, "without an answer": 1}
    assert named(same)[::2] == [named(t)[0], named(t)[2], named(t)[6]]
    trials = json.loads((FILES / "jspsych.json").read_text())
    framed, _ = counting(Triplets.from_frame, trials, kind="odd-one-out", format="jspsych")
    assert framed == same
    # Three choices are no anchor and two others, unless that is said.
    with pytest.raises(InputError, match="jsPsych's files do not contain the kind of question"):
        read_answers(FILES / "jspsych.csv", format="jspsych")


def test_cblearn(tmp_path):
    expected = [(0, 1, 2), (0, 2, 1), (3, 2, 1), (2, 3, 0)]
    assert list(read_answers(FILES / "cblearn.csv", format="cblearn")) == expected
    queries, responses = np.array([(0, 1, 2), (0, 1, 2), (3, 2, 1), (2, 0, 3)]), np.array([1, -1, 1, -1])
    for name, y in [("response", responses), ("y", responses > 0), ("target", responses)]:
        np.savez(tmp_path / "a.npz", data=queries, **{name: y})
        assert list(read_answers(tmp_path / "a.npz", format="cblearn")) == expected
    np.savez(tmp_path / "a.npz", X=queries, y=responses * [2, 1, 1, 3])
    counted = read_answers(tmp_path / "a.npz", format="cblearn")
    assert (list(counted), counted.weights.tolist()) == (expected, [2, 1, 1, 3])
    np.savez(tmp_path / "a.npz", X=queries, y=(responses > 0).astype(int))
    with pytest.raises(InputError, match="only 0 and 1"):
        read_answers(tmp_path / "a.npz", format="cblearn")
    np.savetxt(tmp_path / "a.txt", np.array(expected), fmt="%d")
    assert list(read_answers(tmp_path / "a.txt", format="cblearn", header=False)) == expected
    with pytest.raises(InputError, match="not 'odd-one-out'"):
        read_answers(FILES / "cblearn.csv", "odd-one-out", format="cblearn")


def test_prolific():
    asked = {**THREE, "format": "prolific"}
    t = read_answers(FILES / "prolific_answers.csv", **asked)
    assert len(set(persons(t))) == 5
    t, counts = counting(
        read_answers, FILES / "prolific_answers.csv", **asked, participants=FILES / "prolific_export.csv"
    )
    assert counts == {
        "with Status = REJECTED": 1,
        "with Status = RETURNED": 1,
        "with Status = not among the participants": 1,
    }
    assert set(persons(t)) == {"5e9088a8a4b6ed018b45ba7b", "61aaae3c42faef0001283e34"}
    # Any column of the export can be a reason.
    women, counts = counting(
        read_answers, FILES / "prolific_answers.csv", **THREE, participants=FILES / "prolific_export.csv",
        person="PROLIFIC_PID", exclude={"Sex": ["Male", "CONSENT_REVOKED"]},
    )  # fmt: skip
    assert counts == {"with Sex = Male": 2, "with Sex = CONSENT_REVOKED": 1}
    assert len(women) == 6
    with pytest.raises(InputError, match="this is Prolific's export of participants"):
        read_answers(FILES / "prolific_export.csv", **asked)
    people = {"person": ["x", "y"], "age": [3, 4]}
    with pytest.raises(InputError, match="no person in column"):
        read_answers(FILES / "prolific_answers.csv", **asked, participants=people)


def test_commands_take_the_same_options(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.csv").write_text(STUDY)
    asked = ["--kind", "odd-one-out", "--items", "left,middle,right", "--chosen", "odd"]
    asked += ["--na", "skip", "--exclude", "check=failed"]
    gone = {
        "with check = failed": 1,
        "with `NA` for an item": 1,
        "without an item": 1,
        "with `skip` for an answer": 1,
    }
    code, out, err = run(capsys, "cluster", "study.csv", *asked, "--json")
    assert (code, json.loads(out)["left_out"]) == (0, gone)
    assert "4 of 6 rows are left out" in err
    code, out, _ = run(
        capsys, "compare", "study.csv", *asked, "--folds", "2", "--method", "adds3-al", "--json"
    )
    assert (code, json.loads(out)["left_out"]) == (0, gone)
    following = run(capsys, "compare", "study.csv", *asked, "--folds", "2", "--method", "adds3-al")[1]
    line = following.splitlines()[-1].removeprefix("next: ordhc ")
    assert line.startswith("cluster study.csv --kind odd-one-out --items left,middle,right --chosen odd")
    assert run(capsys, "convert", "study.csv", "t.csv", *asked)[0] == 0
    assert Path("t.csv").read_text().splitlines()[:2] == [
        "anchor,near,far,answer,person",
        "cat,dog,car,0,ann",
    ]
    assert run(capsys, "cluster", "t.csv", "-o", "t.nwk", "-q")[0] == 0
    code, out, _ = run(capsys, "score", "t.nwk", "study.csv", *asked, "--metric", "satisfied", "--json")
    assert (json.loads(out)["chance"], json.loads(out)["left_out"]) == (pytest.approx(1 / 3), gone)
    code, out, err = run(capsys, "score", "t.nwk", "study.csv", *asked, "--metric", "satisfied")
    assert (out.splitlines()[0][:9], "of satisfied: chance 0.3333" in err) == ("satisfied", True)
    assert run(capsys, "convert", str(FILES / "salmon.csv"), "s.npz", "--format", "salmon")[0] == 0
    assert len(ordhc.read_answers("s.npz")) == 3
    keys = ["--kind", "triplet", "--items", "ref,l,r", "--chosen", "key", "--chosen-as", "f=l,j=r"]
    Path("keys.csv").write_text("ref,l,r,key\ncat,car,dog,j\nbus,cow,car,f\n")
    assert run(capsys, "convert", "keys.csv", "k.csv", *keys)[0] == 0
    assert Path("k.csv").read_text().splitlines()[1] == "cat,dog,car"
    code, _, err = run(capsys, "cluster", "study.csv", "--exclude", "check")
    assert (code, "must be COLUMN=VALUE" in err) == (2, True)


def test_names_come_from_a_column_that_is_said(tmp_path):
    (tmp_path / "items.csv").write_text("code,label,item\nx,cat,1\ny,dog,2\nz,cow,3\n")
    assert read_names(f"{tmp_path}/items.csv:label") == ("cat", "dog", "cow")
    assert read_names(tmp_path / "items.csv", "item") == ("1", "2", "3")
    with pytest.raises(
        InputError, match=r"the names may be in label, item; give the column .*'items.csv:item'"
    ):
        read_names(tmp_path / "items.csv")
    with pytest.raises(InputError, match="no column 'lable'; .*nearest: 'label'"):
        read_names(f"{tmp_path}/items.csv:lable")
    for name, text, line, first in [
        ("n.csv", "name\ncat\ndog\ncat\n", 4, 2),
        ("n.txt", "cat\n\ndog\ncat\n", 4, 1),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(
            InputError, match=f"{name}:{line}: the name 'cat' occurs twice, first in line {first}"
        ):
            read_names(tmp_path / name)
    t = ordhc.read_answers(io.StringIO("0,1,2\n"), names=f"{tmp_path}/items.csv:label")
    assert named(t) == [("cat", "dog", "cow")]


def test_a_column_that_answers_and_participants_have_is_told_by_its_case(tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("person,anchor,near,far,status\nann,a,b,c,taken\nbob,a,c,b,taken\nbob,b,a,c,late\n")
    people = tmp_path / "people.csv"
    people.write_text("Participant id,Status\nann,APPROVED\nbob,REJECTED\n")
    with pytest.warns(SkippedRowsWarning, match="with participants:Status = REJECTED"):
        found = read_answers(answers, participants=people, exclude={"Status": "REJECTED"})
    assert found.group_names == ("ann",)
    with pytest.warns(SkippedRowsWarning, match="with status = late"):
        assert len(read_answers(answers, participants=people, exclude={"status": "late"})) == 2
    people.write_text("Participant id,status\nann,APPROVED\nbob,REJECTED\n")
    with pytest.raises(InputError, match="both have a column 'status'; use 'participants:status'"):
        read_answers(answers, participants=people, exclude={"status": "REJECTED"})
    with pytest.warns(SkippedRowsWarning):
        found = read_answers(answers, participants=people, exclude={"participants:status": "REJECTED"})
    assert found.group_names == ("ann",)


_PAIRS = """person,shown_1,shown_2,shown_3,shown_4,position
p,a,b,c,d,1
p,a,c,b,d,0
q,a,d,b,c,2
q,b,d,a,c,1
"""


@pytest.mark.parametrize(
    ("exclude", "n_left"),
    [
        (None, 3),
        (["p"], 2),
        ("p", 2),
        ({"person": "q"}, 1),
        ({"position": ["1"]}, 1),
        ({"Position": 2}, 2),
        ({"Position": [2], "position": ["0"]}, 2),
    ],
)
def test_answers_of_a_study_without_a_choice_are_left_out_beside_other_rows(tmp_path, exclude, n_left):
    (tmp_path / "trials.csv").write_text(_PAIRS)
    with pytest.warns(SkippedRowsWarning, match="rows are left out"):
        read = read_answers(tmp_path / "trials.csv", format="collect", kind="pairs", exclude=exclude)
    assert len(read) == n_left
