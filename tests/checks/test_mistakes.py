"""Mistakes that people make: none passes silently, none shows a traceback."""

import pytest

from support.mistakes import calls, commands, harness
from support.processes import command_line

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    before = harness.write_files(folder)
    yield folder
    # Nothing was written, and no input is changed.
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("what", commands.REFUSED)
def test_commands_that_are_refused(here, capsys, what):
    harness.refused(capsys, *commands.REFUSED[what])


@pytest.mark.parametrize("what", commands.WARNED)
def test_commands_with_a_warning(here, capsys, what):
    harness.warned(capsys, *commands.WARNED[what])


@pytest.mark.parametrize("what", calls.REFUSED)
def test_calls_that_are_refused(here, what):
    harness.called_wrongly(*calls.REFUSED[what])


@pytest.mark.parametrize("what", calls.WARNED)
def test_calls_with_a_warning(here, what):
    harness.called_oddly(*calls.WARNED[what])


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("score x.nwk y.nwk", 2, "--metric triplet_distance"),
        ("cluster one.csv --json", 0, "warning: one.csv: the ids are 1..4"),
    ],
)
def test_processes_of_their_own(folder, line, code, says):
    done = command_line(*line.split(), cwd=folder)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_there_are_many_mistakes():
    tables = (commands.REFUSED, commands.WARNED, calls.REFUSED, calls.WARNED)
    assert sum(map(len, tables)) >= 250
    said = [says for table in tables for _, says in table.values()]
    assert all(said)
