"""The man page: it is the commands' own help, up to date, and no reader of man pages complains."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from ordhc.cli import group
from support.processes import run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "wheel/data/share/man/man1/ordhc.1"


def read_by(*command):
    done = subprocess.run([*command, str(PAGE)], capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr


def text():
    """The page without its escapes, as a line."""
    plain = re.sub(r"\\f[BIR]|\\&", "", PAGE.read_text())
    for escape, letter in (
        (r"\-", "-"),
        (r"\(aq", "'"),
        (r"\(ga", "`"),
        (r"\(ti", "~"),
        (r"\(ha", "^"),
        (r"\e", "\\"),
    ):
        plain = plain.replace(escape, letter)
    return " ".join(plain.split())


def test_it_is_up_to_date():
    done = subprocess.run([sys.executable, str(ROOT / ".ci/man_page.py")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), "make man"


def commands(of=group, path="ordhc"):
    for name, command in of.commands.items():
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


def test_it_has_every_command_and_option():
    page = text()
    assert page.startswith('.\\" Made by')
    for path, command in commands():
        _, _, part = page.partition(f'.SS "{path} ')
        part = part.partition(".SS ")[0]
        assert part, path
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.name != "help_all":
                assert parameter.opts[-1] in part
                assert " ".join(parameter.help.split())[:30] in part
    assert "ORDHC_DEBUG=1" in page
    assert ".SH NAME ordhc - hierarchies" in page


def test_wheels_bring_it():
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    assert PAGE.relative_to(ROOT / maturin["data"] / "data") == Path("share/man/man1/ordhc.1")
    # Wheels are made of source distributions, too.
    assert {"path": f"{maturin['data']}/**/*", "format": "sdist"} in maturin["include"]


READERS = {
    "groff": (["groff", "-man", "-ww", "-z", "-Tutf8"], r"$"),
    # It would like a date, which would differ from day to day.
    "mandoc": (["mandoc", "-Tlint", "-Wwarning"], r"[^\n]*missing date[^\n]*\n$"),
}


@pytest.mark.parametrize("reader", [name for name in READERS if shutil.which(name)])
def test_readers_have_nothing_to_say(reader):
    command, said = READERS[reader]
    assert re.match(said, "".join(read_by(*command)))


@pytest.mark.parametrize("reader", [name for name in ("groff", "mandoc") if shutil.which(name)])
def test_it_can_be_read_at_80_columns(reader):
    command = ["groff", "-man", "-Tascii", "-P-cbou"] if reader == "groff" else ["mandoc", "-Tascii"]
    out, _ = read_by(*command)
    plain = re.sub(r".\x08", "", out)
    assert max(map(len, plain.splitlines())) <= 80
    assert "ordhc cluster answers.csv -o tree.nwk --plot tree.svg --n-clusters 5" in plain


def test_examples_go_on_where_a_shell_does(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run(capsys, "cluster", "--help")
    example = re.search(r"ordhc cluster study.csv --kind odd-one-out .*?--na skip", out, re.S)[0]
    assert "\\\n" in example
    assert re.sub(r" \\\n +", " ", example) in text().replace(" \\ ", " ")
