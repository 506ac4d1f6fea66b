"""Files as newcomers bring them: encodings, HTML of jsPsych, columns of people, an option given twice."""

import io
import json

import pytest

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from support.processes import run

TEXT = "anchor,near,far{}\na,b,c{}\nb,a,c{}\n"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_other_encodings_say_a_way_out(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("anchor,near,far\nKäse,Brot,Öl\n".encode(encoding))
    for read in (
        ordhc.read_answers,
        lambda file: ordhc.read_answers(file, exclude=["x"]),
        ordhc.io.read_names,
    ):
        with pytest.raises(InputError, match="iconv -f WINDOWS-1252 -t UTF-8"):
            read(path)


@pytest.mark.parametrize("tag", ['<img src="img/{}.jpg" width="200">', "<p style='x'>{}.jpg</p>"])
def test_html_of_jspsych_becomes_names(tag):
    def trial(*names, chosen):
        choices = [tag.format(name) for name in names]
        return {"trial_type": "html-button-response", "choices": choices, "response": chosen, "run_id": 7}

    trials = [trial("cat", "car", "dog", chosen=1), trial("bus", "cat", "car", chosen=1)]
    found = ordhc.read_answers(io.StringIO(json.dumps(trials)), "odd-one-out", format="jspsych")
    assert set(found.names) == {"cat.jpg", "car.jpg", "dog.jpg", "bus.jpg"}
    # The item itself as what was chosen.
    trials = [each | {"trial_type": "other", "response": each["choices"][1]} for each in trials]
    again = ordhc.read_answers(
        io.StringIO(json.dumps(trials)), "odd-one-out", format="jspsych", chosen="response", chosen_as="name"
    )
    assert again == found


def test_html_that_shows_the_same_stays():
    choices = ['<img src="a/x.jpg">', '<img src="b/x.jpg">', "<b>y</b>"]
    text = json.dumps([{"trial_type": "html-button-response", "choices": choices, "response": 0}])
    found = ordhc.read_answers(io.StringIO(text), "odd-one-out", format="jspsych")
    assert set(found.names) == set(choices)


@pytest.mark.parametrize("column", ["ResponseId", "response_id", "run_id", "pid", "subj", "sub", "subj_id"])
def test_columns_of_people(tmp_path, column):
    pandas = pytest.importorskip("pandas")
    text = TEXT.format(f",{column}", ",R_1", ",R_2")
    frame = pandas.read_csv(io.StringIO(text))
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text(text)
    with pytest.warns(OrdhcWarning, match="no row has 'R_9'"):
        excluded = ordhc.read_answers(tmp_path / "a.csv", exclude=["R_9"])
    for found in (
        ordhc.read_answers(tmp_path / "a.csv"),
        ordhc.read_answers(tmp_path / "a.parquet"),
        excluded,
        ordhc.scan(tmp_path / "a.csv").read(),
        ordhc.scan(tmp_path / "a.parquet").read(),
        ordhc.Triplets.from_frame(frame),
        ordhc.Triplets(frame),
    ):
        assert found.group_names == ("R_1", "R_2")
    # A surer name is taken, and nobody is asked which is meant.
    text = TEXT.format(f",{column},participant", ",R_1,ann", ",R_2,bob")
    (tmp_path / "a.csv").write_text(text)
    frame = pandas.read_csv(io.StringIO(text))
    for found in (
        ordhc.read_answers(tmp_path / "a.csv"),
        ordhc.Triplets.from_frame(frame),
        ordhc.Triplets(frame),
    ):
        assert found.group_names == ("ann", "bob")


def test_from_frame_takes_kind_items_and_chosen_as_read_answers_does():
    text = "x,y,z,odd\na,b,c,c\nb,d,a,b\n"
    frame = [
        dict(zip("xyz", row[:3], strict=True), odd=row[3])
        for row in (line.split(",") for line in text.split()[1:])
    ]
    asked = ("odd-one-out", ["x", "y", "z"], "odd")
    assert ordhc.Triplets.from_frame(frame, *asked) == ordhc.read_answers(io.StringIO(text), *asked)
    pairs = {"a": ["p"], "b": ["q"], "c": ["r"], "d": ["s"]}
    assert len(ordhc.Quadruplets.from_frame(pairs, "pairs", list("abcd"))) == 1


def test_items_given_three_times(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text('"x, left",y,z,odd\na,b,c,c\nb,d,a,b\nc,d,a,d\n')
    how = ["--kind", "odd-one-out", "--chosen", "odd", "-o", str(tmp_path / "t.nwk")]
    for one, two, three in (("x, left", "y", "z"), "012"):
        items = ["--items", one, "--items", two, "--items", three]
        code, _, err = run(capsys, "cluster", str(path), *items, *how)
        assert code == 0, err


def test_cluster_says_whose_answers_are_resampled(tmp_path, capsys):
    rows = "".join(f"{a},{b},{c},{who}\n" for who in "pqr" for a, b, c in ("abc", "bac", "cab", "dab", "dca"))
    (tmp_path / "people.csv").write_text("anchor,near,far,ResponseId\n" + rows)
    (tmp_path / "nobody.csv").write_text("anchor,near,far,what\n" + rows)
    tree = str(tmp_path / "t.nwk")
    told = {
        "people": ("15 answers of 3 people", "people", 3),
        "nobody": ("15 answers; no column names the person", "answers", None),
    }
    for name, (whose, unit, n_people) in told.items():
        path = str(tmp_path / f"{name}.csv")
        code, out, err = run(capsys, "cluster", path, "-o", tree, "--bootstrap", "5")
        assert code == 0, err
        assert whose in out
        assert f"of 5 resamples of {unit}" in out or f"in at least half of 5 resamples of {unit}" in out
        found = json.loads(run(capsys, "cluster", path, "-o", tree, "--bootstrap", "5", "--json")[1])
        assert (found["n_answers"], found["n_people"]) == (15, n_people)
        assert found["bootstrap"]["unit"] == ("group" if n_people else "answer")
