"""Completion in bash, zsh and fish: what click's protocol gives, and what the shells make of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ordhc.cli.completion import SHELLS
from ordhc.plugins import registry
from support.completion import completed, names
from support.processes import run


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_names_and_files(shell):
    # A plugin has the command `collect`.
    own = [name for name in names(shell, "co") if name != "collect"]
    assert own == ["compare", "convert", "consensus", "completion"]
    assert names(shell, "session", "s") == ["salvage"]
    assert "--similarity" in names(shell, "cluster", "--si")
    assert names(shell, "cluster", "a.csv", "--method", "adds3") == [
        "adds3-al",
        "adds3-al+lengths+spr",
        "adds3-al+spr",
    ]
    assert completed(shell, "cluster", "an")[0] == ("file", "an")
    assert completed(shell, "cluster", "a.csv", "-o", "t")[0] == ("file", "t")
    assert completed(shell, "demo", "--output-dir", "d")[0] == ("dir", "d")
    assert names(shell, "completion", "z") == ["zsh"]


def test_all_that_is_registered_is_completed():
    for words, kind in (
        (["cluster", "--method", ""], "method"),
        (["cluster", "--similarity", ""], "similarity"),
        (["cluster", "--linkage", ""], "linkage"),
        (["compare", "--method", ""], "method"),
        (["score", "--metric", ""], "metric"),
        (["learn", "--oracle", ""], "oracle"),
    ):
        assert names("bash", *words) == registry.names(kind)
    assert names("bash", "learn", "--method", "rob") == ["robust", "robust-paper"]


def test_settings_are_completed_by_what_was_named():
    assert names("bash", "cluster", "--similarity", "mulk3", "--param", "") == ["normalize="]
    assert "n_components=" in names("bash", "cluster", "--param", "n")
    assert "sweeps=" in names("bash", "cluster", "--param", "s")
    assert "progress=" not in names("bash", "score", "--param", "")


def test_a_broken_plugin_does_not_disturb(install, monkeypatch):
    install("broken", "import nowhere_to_be_found")
    for strict in ("", "1"):
        monkeypatch.setenv("ORDHC_STRICT", strict)
        registry.reset()
        completed("bash", "cluster", "--method", "a")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_the_one_of_click(shell, capsys):
    code, out, err = run(capsys, "completion", shell)
    assert (code, err) == (0, "")
    assert f"_ORDHC_COMPLETE={shell}_complete" in out
    assert "ordhc" in out


def test_other_shells_are_an_error(capsys):
    code, out, err = run(capsys, "completion", "tcsh")
    assert (code, out) == (2, "")
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in err


@pytest.fixture
def workplace(tmp_path, monkeypatch, capsys):
    """The scripts, some files, and `ordhc` on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "ordhc"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ordhc "$@"\n')
    program.chmod(0o755)
    for shell in SHELLS:
        (tmp_path / shell).write_text(run(capsys, "completion", shell)[1])
    (tmp_path / "answers.csv").touch()
    (tmp_path / "answered").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def shell_says(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


BASH = """
source ./bash
complete -p ordhc
compopt() {{ echo "compopt $*"; }}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_ordhc_completion ordhc
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def bash():
    def answers(words):
        first, *rest = shell_says("bash", "--norc", "-c", BASH.format(words=words)).split()
        text = " ".join([first, *rest])
        registered = "complete -o nosort -F _ordhc_completion ordhc"
        assert text.startswith(registered)
        return text.removeprefix(registered).split()

    assert answers("ordhc cluster answers.csv --method 3-") == ["3-al"]
    assert answers("ordhc cluster ans")[:3] == ["compopt", "-o", "default"]


def zsh():
    shell_says("zsh", "-n", "./zsh")
    out = shell_says(
        "zsh",
        "-f",
        "-c",
        """
        compdef() { echo "compdef $*" }
        compadd() { echo "compadd $@"; for key in $completions; echo "key $key" }
        _describe() { for key in $completions_with_descriptions; echo "key $key" }
        _path_files() { echo "files $*" }
        source ./zsh
        words=(ordhc cluster answers.csv --method adds3); CURRENT=5; _ordhc_completion
        words=(ordhc cluster ans); CURRENT=3; _ordhc_completion
        """,
    )
    assert "compdef _ordhc_completion ordhc" in out
    assert "key adds3-al:similarity adds3, linkage average" in out
    assert "files -f" in out


def fish():
    shell_says("fish", "--no-execute", "./fish")

    def answers(line):
        out = shell_says("fish", "--no-config", "-c", f"source ./fish; complete -C '{line}'")
        return [entry.split("\t")[0] for entry in out.splitlines()]

    assert answers("ordhc cluster answers.csv --method adds3") == [
        "adds3-al",
        "adds3-al+lengths+spr",
        "adds3-al+spr",
    ]
    assert {"answers.csv", "answered/"} <= set(answers("ordhc cluster ans"))


# What shells that aren't installed would be told is tested above for all of them.
@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("ask", [shell for shell in (bash, zsh, fish) if shutil.which(shell.__name__)])
def test_the_shell_itself(ask):
    ask()


def test_the_documentation_says_where_scripts_go():
    text = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    for shell in SHELLS:
        assert f"ordhc completion {shell} > " in text
