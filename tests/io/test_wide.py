"""Files with a column for each question (Qualtrics), and rows of Gorilla and PsychoPy."""

import csv
import io
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ordhc
from ordhc import Triplets, read_answers
from ordhc.errors import InputError, SkippedRowsWarning
from support.reply_twins import named

ITEMS = ("cat", "dog", "car", "bus", "fig tree")


def written(header, *rows):
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return io.StringIO(text.getvalue())


def qualtrics(questions, people, *, meta=()):
    """Return a file as Qualtrics exports one: names, texts and ids of columns, then a row for each person."""
    ids = ["StartDate", "Status", "ResponseId", *questions]
    texts = ["Start Date", "Response Type", "Response ID", *questions.values()]
    imports = [json.dumps({"ImportId": f"QID{at}", "timeZone": "Z"}) for at in range(len(ids))]
    rows = [["2026-01-02 10:00", status, who, *cells] for who, status, cells in people]
    return written(ids, texts, imports, *rows)


TRIPLETS = {
    "Q1": "Is a cat more like\na dog, or a car?",
    "Q2": "Is a bus more like\na car, or a dog?",
    "Q3": "How old are you?",
}
PEOPLE = [
    ("R_2", "IP Address", ["dog", "car", "31"]),
    ("R_1", "IP Address", ["car", "", "28"]),
    ("R_0", "Survey Preview", ["dog", "dog", "99"]),
]
TEXT = r"Is a (?P<anchor>\w+) more like a (?P<one>\w+), or a (?P<two>\w+)\?"


def test_qualtrics_by_the_texts_of_its_questions():
    with pytest.warns(SkippedRowsWarning, match=r"2 of 5 rows .* with Status = Survey Preview \(line"):
        t = read_answers(qualtrics(TRIPLETS, PEOPLE), format="qualtrics", wide=TEXT)
    assert named(t) == [("cat", "dog", "car"), ("bus", "car", "dog"), ("cat", "car", "dog")]
    assert t.group_names == ("R_2", "R_1")
    assert t.groups.tolist() == [0, 0, 1]


def test_qualtrics_by_the_names_of_its_columns_and_by_a_table_of_questions():
    asked = {"Q_cat_dog_car": "odd?", "Q_bus_dog_car": "odd?"}
    people = [("R_1", "IP Address", ["car", "dog"]), ("R_2", "IP Address", ["", "bus"])]
    t = read_answers(
        qualtrics(asked, people), "odd-one-out", wide=r"Q_(?P<a>.+)_(?P<b>.+)_(?P<c>.+)", format="qualtrics"
    )
    expected = [("cat", "dog", "car"), ("dog", "cat", "car"), ("bus", "car", "dog"), ("car", "bus", "dog")]
    assert sorted(named(t)[:4]) == sorted(expected)
    assert t.answers.tolist() == [0, 0, 1, 1, 2, 2]
    # The same by a table, with numbers of the choices instead of their texts.
    table = written(
        ["question", "left", "mid", "right"], ["Q1", "cat", "dog", "car"], ["Q2", "bus", "dog", "car"]
    )
    people = [("R_1", "IP Address", ["3", "2"]), ("R_2", "IP Address", ["", "1"])]
    same = read_answers(
        qualtrics(
            {"Q1": "odd?", "Q2": "odd?", "Q2_time": "timing"}, [(w, s, [*c, "8.1"]) for w, s, c in people]
        ),
        "odd-one-out",
        ["left", "mid", "right"],
        wide=r"Q\d",
        questions=table,
        chosen_as="place",
    )
    assert named(same) == named(t)
    assert same.group_names == t.group_names


@given(st.data())
def test_a_wide_table_is_its_long_one(data):
    rng = random.Random(data.draw(st.integers(0, 10**6)))
    questions = [rng.sample(ITEMS, 3) for _ in range(data.draw(st.integers(1, 6)))]
    names = [f"{at}: {'/'.join(three)}" for at, three in enumerate(questions)]
    answers = [
        [rng.choice([None, *three[1:]]) for three in questions] for _ in range(data.draw(st.integers(1, 5)))
    ]
    if not any(cell for row in answers for cell in row):
        answers[0][0] = questions[0][1]
    persons = [rng.choice("uvw") for _ in answers]
    rows = [[who, "x", *row] for who, row in zip(persons, answers, strict=True)]
    wide = r"\d: (?P<i>.+)/(?P<a>.+)/(?P<b>.+)"
    file = read_answers(written(["subj", "note", *names], *rows), wide=wide)
    frame = Triplets.from_frame(
        {name: [row[at] for row in rows] for at, name in enumerate(["subj", "note", *names])}, wide=wide
    )
    long = [
        (who, *three, cell)
        for who, row in zip(persons, answers, strict=True)
        for three, cell in zip(questions, row, strict=True)
        if cell
    ]
    columns = zip(*long, strict=True)
    plain = Triplets.from_frame(
        dict(zip(["subj", "anchor", "a", "b", "y"], map(list, columns), strict=True)),
        items=["anchor", "a", "b"],
        chosen="y",
    )
    for t in (file, frame):
        assert named(t) == named(plain)
        assert t.groups.tolist() == plain.groups.tolist()
        assert t.group_names == plain.group_names


def test_rows_are_people_unless_a_column_says_so_and_ids_are_ids():
    text = "Q_1_2_3,Q_2_1_3\n2,3\n3,\n"
    t = read_answers(io.StringIO(text), wide=r"Q_(?P<a>\d)_(?P<b>\d)_(?P<c>\d)", ids_from=1, chosen_as="name")
    assert t.rows.tolist() == [[0, 1, 2], [1, 2, 0], [0, 2, 1]]
    assert t.groups.tolist() == [0, 0, 1]
    # A column for each person, a row for each question.
    text = "anchor,a,b,ann,bob\ncat,dog,car,dog,car\nbus,car,dog,car,\n"
    t = read_answers(io.StringIO(text), wide="(?P<person>ann|bob)")
    assert sorted(named(t)) == sorted([("cat", "dog", "car"), ("bus", "car", "dog"), ("cat", "car", "dog")])
    assert set(t.group_names) == {"ann", "bob"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wide": "Q(?P<a>"}, "not a regular expression"),
        ({"wide": b"Q(?P<a>.)"}, "wide is .*, not a string"),
        ({"wide": "Q(?P<a>.){9999999999}"}, "not a regular expression"),
        ({"wide": "Q.*"}, r"add named groups for the items.*--questions"),
        ({"wide": "(?P<a>Z.)"}, r"no column matches '\(\?P<a>Z\.\)'; there are .*Q3 \(How old are you\?\)"),
        ({"format": "qualtrics"}, r"select them by wide=... \(--wide PATTERN\).*Q3 \(How old are you\?\)"),
        ({"wide": TEXT, "chosen": "Q1"}, "chosen cannot be used with wide"),
        ({"wide": TEXT.replace("anchor", "Status")}, "already has a column 'Status'"),
        ({"wide": TEXT, "kind": "ranking"}, "kind 'ranking' cannot be used with wide"),
    ],
)
def test_patterns_that_say_nothing(options, message):
    with pytest.raises(InputError, match=message):
        read_answers(qualtrics(TRIPLETS, PEOPLE), **options)


def test_mistakes_name_the_line_and_the_column():
    people = [*PEOPLE[:2], ("R_3", "IP Address", ["dog", "cow", "31"])]
    with pytest.raises(InputError, match=r"(?s):\d+: column 'Q2': .*'cow'"):
        read_answers(qualtrics(TRIPLETS, people), wide=TEXT)
    with pytest.raises(InputError, match=r"column 'Q2': question 'Q2' is not in the table"):
        read_answers(
            qualtrics(TRIPLETS, people[:2]),
            wide="Q[12]",
            items=["a", "b", "c"],
            questions={"q": ["Q1"], "a": ["cat"], "b": ["dog"], "c": ["car"]},
        )
    with pytest.raises(InputError, match="'Q1' occurs twice"):
        read_answers(
            qualtrics(TRIPLETS, people[:2]), wide="Q[12]", questions={"q": ["Q1", "Q1"], "a": ["x", "y"]}
        )
    with pytest.raises(InputError, match="export from Qualtrics as CSV"):
        read_answers(written(["Q1"], ["x"]), wide="(?P<a>Q)1", format="qualtrics")
    with pytest.raises(InputError, match="wide is for one file"):
        ordhc.scan("a.csv", wide="Q(?P<a>.)")


GORILLA = ["Event Index", "Participant Private ID", "Response Type", "Response"]
GORILLA += ["Spreadsheet: L", "Spreadsheet: M", "Spreadsheet: R"]


def test_gorilla():
    shown = ["cat.jpg", "dog.jpg", "car.jpg"]
    rows = [
        ["1", "7001", "info", "cross.jpg", *shown],
        ["2", "7001", "response", "car.jpg", *shown],
        ["3", "7001", "action", "Continue", *shown],
        ["4", "7002", "response", "dog.jpg", *shown],
        ["END OF FILE", "", "", "", "", "", ""],
    ]
    for prefix in ("", "Spreadsheet: "):
        with pytest.warns(SkippedRowsWarning, match="3 of other trials"):
            t = read_answers(
                written(GORILLA, *rows),
                "odd-one-out",
                [f"{prefix}{side}" for side in "LMR"],
                format="gorilla",
            )
        assert named(t)[::2] == [("cat.jpg", "dog.jpg", "car.jpg"), ("cat.jpg", "car.jpg", "dog.jpg")]
        assert t.groups.tolist() == [7001, 7001, 7002, 7002]


@pytest.mark.parametrize("cells", [("['left']", "['x', 'right']"), ("left", "right")])
def test_psychopy(cells):
    names = ["head", "left", "right", "trials.thisN", "mouse.clicked_name", "participant", "expName"]
    rows = [
        ["", "", "", "", "", "s1", "e"],
        ["cat", "dog", "car", "0", cells[0], "s1", "e"],
        ["bus", "dog", "car", "1", cells[1], "s1", "e"],
    ]
    with pytest.warns(SkippedRowsWarning, match="1 of other trials"):
        t = read_answers(written(names, *rows), "triplet", ["head", "left", "right"], format="psychopy")
    assert named(t) == [("cat", "dog", "car"), ("bus", "car", "dog")]
    assert t.group_names == ("s1",)
    with pytest.raises(InputError, match=r"'mouse.clicked_name, key_resp.keys' are possible"):
        read_answers(
            written([*names, "key_resp.keys"], [*rows[1], "a"]), "triplet", names[:3], format="psychopy"
        )
