"""Names with escape sequences, line breaks and overrides of the direction are shown escaped."""

import csv
import os
import subprocess
import sys
import warnings

import pytest
from click.testing import CliRunner

import ordhc
from ordhc.cli import group
from support.few_rounds import with_few_priors, with_few_rounds, with_few_sweeps
from support.processes import command_here

EVIL = ("a\x1b[2J\x1b]0;pwn\x07", "b\nroot: 1", "c\u202ed", "e\x9b2J", "f\u2028root: 2")
RAW = ("\x1b[2J", "\x1b]0;", "\x07", "\nroot:", "\u202e", "\x9b", "\u2028")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_few_rounds(monkeypatch)
    with_few_sweeps(monkeypatch)
    with_few_priors(monkeypatch)
    rows = [(a, b, c) for a in range(4) for b in range(4) for c in range(4) if len({a, b, c}) == 3 and b < c]
    t = ordhc.Triplets(rows, names=EVIL, groups=[EVIL[row[0]] for row in rows])
    with open("e.csv", "w", newline="") as file:  # noqa: PTH123
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["anchor_name", "near_name", "far_name", "person_name"])
        writer.writerows([*(EVIL[leaf] for leaf in row), EVIL[row[0]]] for row in rows)
    with open("names.csv", "w", newline="") as file:  # noqa: PTH123
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["name"], *([name] for name in EVIL)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ordhc.write_tree(ordhc.cluster(t), "e.json")
    with ordhc.Session("w.ordhc", EVIL) as session:
        for who in EVIL:
            asked = session.ask(1, who=who)
            session.tell(asked.ids, [0] * len(asked), who=who)
    return tmp_path


COMMANDS = {
    "clusters": "cluster e.csv --names names.csv -o o.nwk --n-clusters 2 --bootstrap 5",
    "json": "cluster e.csv --names names.csv -o o.nwk --n-clusters 2 --json",
    "compare": "compare e.csv --names names.csv --folds 2",
    "score": "score e.json e.csv --metric satisfied",
    "report": "report e.csv --names names.csv -o r.html --resamples 5 --folds 2 "
    "--method adds3-al --compare mulk3-al",
    "convert": "convert e.json o.nwk",
    "info": "session info w.ordhc",
    "salvage": "session salvage w.ordhc -o s.ordhc",
    "interview": "learn i.ordhc --items names.csv",
    "oracle": "learn n.ordhc --items names.csv --oracle tree --source e.json -o o.nwk",
    "unknown column": "cluster e.csv --items x,y,\x1b[2J",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_commands_show_what_would_control_the_terminal(files, command):
    done = CliRunner().invoke(group, command.split(" "), input="q\n", color=True)
    assert done.exit_code == 0 or "unknown" in str(done.exception) or "--items" in command, done.output
    for raw in RAW:
        assert raw not in done.output
    if command.startswith(
        ("cluster e.csv --names names.csv -o o.nwk --n-clusters 2 --b", "session info", "learn i")
    ):
        assert "\\x1b[2J" in done.output


@pytest.mark.parametrize(
    "command", ["convert e.json -", "cluster e.csv --names names.csv --method adds3-al -o - -q"]
)
def test_results_are_escaped_at_terminals_and_nowhere_else(files, command):
    pty = pytest.importorskip("pty")
    assert "\x1b[2J" in command_here(*command.split()).stdout
    reader, terminal = pty.openpty()
    line = [sys.executable, "-m", "ordhc", *command.split()]
    done = subprocess.Popen(line, stdout=terminal, stderr=subprocess.DEVNULL)
    os.close(terminal)
    shown = b""
    while True:
        try:
            more = os.read(reader, 1 << 16)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(reader)
    assert done.wait() == 0
    # A line break moves the cursor only, and the file has it, too.
    for raw in set(RAW) - {"\nroot:"}:
        assert raw.encode() not in shown
    assert b"\\x1b[2J" in shown


def test_text_that_is_plain_stays(files):
    names = ["Käse", "苹果", "👩‍👩‍👧", "می‌خواهم", "a b"]
    with ordhc.Session("p.ordhc", names[:3]) as session:
        session.tell(session.ask(1, who=names[2]).ids, [0], who=names[2])
    done = CliRunner().invoke(group, ["session", "info", "p.ordhc"], color=True)
    assert f"  {names[2]}: 1" in done.output
    from ordhc._checks import on_one_line

    assert [on_one_line(name) for name in names] == names


def test_the_oracle_that_asks_a_person(monkeypatch):
    asked = []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or "1")
    ordhc.oracles.person(EVIL)([(0, 1, 2)])
    assert not any(raw in asked[0] for raw in RAW)
