"""Keep, copy and share the data of a study: Psych-DS, backups, and ids that are deleted."""

import csv
import json
import shutil
import sqlite3
import stat

import pytest
from click.testing import CliRunner
from ordhc_collect.command import collect
from ordhc_collect.people.study_state import Clock, StudyState
from ordhc_collect.simulate.client import fields_of
from ordhc_collect.study.reading import read_study
from ordhc_collect.web.server import opened
from studies import Client, make_study, number_of

import ordhc
from ordhc.errors import InputError, SkippedRowsWarning


def run(*arguments):
    return CliRunner().invoke(collect, [str(each) for each in arguments], catch_exceptions=False)


def take_part(server, name, n=6):
    client = Client(server)
    page = client.begin(f"?PROLIFIC_PID={name}")
    for _ in range(n):
        page = client.answer(page)
    return client, page


@pytest.mark.parametrize("kind", ["odd", "triplet", "pairs"])
def test_psych_ds_describes_every_column_and_has_no_ids(serve, tmp_path, kind):
    server = serve(study=f'question = "{kind}"')
    take_part(server, "secret-1")
    take_part(server, "secret-2", n=2)
    folder = tmp_path / "shared"
    told = run(server.study, "--data", server.data, "--export", folder, "--as", "psych-ds")
    assert told.exit_code == 0, told.output
    described = json.loads((folder / "dataset_description.json").read_text())
    assert described["@type"] == "Dataset"
    assert {"name", "description", "variableMeasured"} <= described.keys()
    known = {each["name"] for each in described["variableMeasured"]}
    assert all(each["description"] for each in described["variableMeasured"])
    tables = sorted((folder / "data").iterdir())
    names = ["study-things_table-people_data.csv", "study-things_table-trials_data.csv"]
    assert [path.name for path in tables] == names
    for path in tables:
        with path.open(newline="") as file:
            rows = [*csv.DictReader(file)]
        assert set(rows[0]) <= known
        assert len(rows) == (2 if "people" in path.name else 9)
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"secret" not in everything
    # What is shared makes the same comparisons as the session.
    server.stop()
    with ordhc.Session(server.data) as session:
        expected = session.analysed().comparisons
    with pytest.warns(SkippedRowsWarning):
        shared = ordhc.read_answers(tables[1], format="collect", names=expected.names)
    assert len(shared) == len(expected)
    if kind == "odd":
        assert sorted(map(tuple, shared.rows.tolist())) == sorted(map(tuple, expected.rows.tolist()))
    with pytest.raises(InputError, match="is not empty"):
        run(server.study, "--data", server.data, "--export", folder, "--as", "psych-ds")


def test_psych_ds_shares_forms_but_no_free_text(serve, tmp_path):
    more = (
        '[[questionnaire.before]]\nname = "age"\nquestion = "How old are you?"\ntype = "number"\n'
        # These two have the names of columns of trials.
        '[[questionnaire.before]]\nname = "position"\nquestion = "Where?"\ntype = "text"\n'
        '[[questionnaire.before]]\nname = "trial"\nquestion = "Which one?"\ntype = "number"\n'
    )
    server = serve(more=more, per_person=1)
    client = Client(server)
    page = client.join("?PROLIFIC_PID=secret-1&STUDY_ID=secret-2")
    given = {"choice-0": "31", "choice-1": "secret-3", "choice-2": "5"}
    client.submit("/next", {**fields_of(page.text), **given})
    client.answer(client.submit("/next", fields_of(client.get("/study").text)))
    folder = tmp_path / "shared"
    told = run(server.study, "--data", server.data, "--export", folder, "--as", "psych-ds")
    assert told.exit_code == 0, told.output
    described = json.loads((folder / "dataset_description.json").read_text())
    meanings = {each["name"]: each["description"] for each in described["variableMeasured"]}
    assert meanings["age"] == "number: How old are you?"
    assert meanings["trial"] == "Number of the question for this person, from 1; number: Which one?"
    people, trials = (
        [*csv.DictReader(path.read_text().splitlines())] for path in sorted((folder / "data").iterdir())
    )
    assert (people[0]["age"], people[0]["trial"]) == ("31", "5")
    assert not people[0].keys() & {"position", "user_agent", "PROLIFIC_PID", "STUDY_ID", "code", "puid"}
    assert (trials[0]["trial"], trials[0]["position"]) == ("1", "1")
    assert {"hidden_seconds", "plays", "enlarged"} <= trials[0].keys() & meanings.keys()
    assert people[0].keys() | trials[0].keys() == meanings.keys()
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"secret" not in everything


def test_a_running_study_is_copied_whole(serve, tmp_path):
    server = serve()
    take_part(server, "a", n=3)
    copy = tmp_path / "copies" / "study.ordhc"
    copy.parent.mkdir()
    for _ in range(2):
        told = run(server.study, "--data", server.data, "--backup", copy)
        assert told.exit_code == 0, told.output
    key = copy.with_name("study.ordhc.key")
    assert key.read_bytes() == server.data.with_name("study.ordhc.key").read_bytes()
    assert {stat.S_IMODE(path.stat().st_mode) for path in (copy, key)} == {0o600}
    assert sorted(path.name for path in copy.parent.iterdir()) == ["study.ordhc", "study.ordhc.key"]
    take_part(server, "b", n=1)
    with sqlite3.connect(copy) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM collect_people").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM collect_trials WHERE choice NOT NULL").fetchone() == (3,)
    server.stop()
    # The study goes on from the copy.
    for path in (copy, key):
        shutil.copy(path, server.data.with_name(path.name))
    for ending in ("-wal", "-shm"):
        server.data.with_name(f"study.ordhc{ending}").unlink(missing_ok=True)
    again = serve()
    page = Client(again).join("?PROLIFIC_PID=a")
    assert number_of(page) == 4
    with pytest.raises(InputError, match="is the session itself; give another file to --backup"):
        run(server.study, "--data", server.data, "--backup", server.data)


class Hand(Clock):
    """A clock that is set by hand."""

    at = 1_000_000.0

    def now(self):
        return self.at


def test_ids_are_deleted_some_days_after_the_last_visit(tmp_path):
    study = read_study(make_study(tmp_path))
    clock = Hand()
    with opened(study, tmp_path / "s.ordhc") as (study, session):
        state = StudyState(study, session, tmp_path / "s.ordhc", clock)
        state.delete_after = 30 * 86_400.0
        with session.transaction():
            kept = {"STUDY_ID": "s1", "device": "phone"}
            first = state.join("PROLIFIC_PID", "p1", "en", kept)
        clock.at += 20 * 86_400
        with session.transaction():
            second = state.join("PROLIFIC_PID", "p2", "en", kept)
            state.tidy()
            assert {state.tables.platform_of(person.id) for person in (first, second)} == {"p1", "p2"}
        clock.at += 10 * 86_400 + 1
        assert state.is_untidy()
        with session.transaction() as db:
            state.tidy()
            assert [state.tables.platform_of(person.id) for person in (first, second)] == [None, "p2"]
            assert first.id in state.people
            rows = db.execute("SELECT person, key FROM collect_details").fetchall()
            assert {*rows} == {(first.id, "device"), (second.id, "device"), (second.id, "STUDY_ID")}
        state.delete_after = None
        clock.at += 1e9
        with session.transaction():
            state.tidy()
            assert state.tables.platform_of(second.id) == "p2"


def test_days_are_above_zero(tmp_path):
    told = run(make_study(tmp_path), "--delete-after", "0")
    assert told.exit_code == 2
    assert "0" in told.output
