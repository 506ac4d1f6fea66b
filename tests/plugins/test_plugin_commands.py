"""Commands that plugins bring: listed, run, made only then; broken ones get in nobody's way."""

import json
import os
import re
import sys

import pytest

import ordhc
from ordhc.cli import group
from ordhc.errors import PluginError
from support.completion import names
from support.plugins import the_row
from support.processes import command_line, printed, run

PLUGIN = """
from ordhc.hooks import hookimpl
from ordhc.specs import CommandSpec

def make():
    import click
    {heavy}
    from ordhc.commands import Command, Group, emit_json

    @click.group(cls=Group)
    def greet():
        \"\"\"Greetings.

        \b
        Example:
          ordhc greet people Ann
        \"\"\"

    @greet.command(cls=Command)
    @click.argument("name")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    def people(name, as_json):
        \"\"\"Greet somebody.\"\"\"
        if as_json:
            emit_json({{"name": name}})
        else:
            click.echo(f"Hello {{name}}")

    return greet

@hookimpl
def ordhc_commands():
    return [CommandSpec(name="{name}", summary="says hello", make=make)]
"""


def plugin(name="greet", heavy=""):
    return PLUGIN.format(name=name, heavy=heavy)


def test_it_is_listed_and_run(install, capsys):
    install("greeter", plugin())
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    assert re.search(r"  greet +Says hello\.", out.partition("Commands of plugins:")[2].partition("\n\n")[0])
    assert run(capsys, "greet", "people", "Ann") == (0, "Hello Ann\n", "")
    code, out, _ = run(capsys, "greet", "people", "Ann", "--json")
    assert json.loads(out) == {"name": "Ann"}
    _, out, _ = run(capsys, "greet", "--help")
    assert "Usage: ordhc greet" in out
    assert "Greet somebody." in out
    assert run(capsys, "greeter:greet", "people", "Bo")[1] == "Hello Bo\n"
    row = the_row("greeter")
    assert (row.kind, row.name, row.status) == ("command", "greet", "ok")
    assert "command:\n  greet" in run(capsys, "plugins")[1]


def test_without_plugins_nothing_is_said_of_them(capsys, monkeypatch):
    monkeypatch.setenv("ORDHC_PLUGINS", "")
    ordhc.plugins.registry.reset()
    assert "Commands of plugins" not in run(capsys, "--help")[1]
    assert "command:" not in run(capsys, "plugins")[1]
    code, out, err = run(capsys, "greet")
    assert (code, out) == (2, "")
    assert "No such command 'greet'" in err


def test_it_is_made_when_it_is_run(install, capsys):
    install("greeter", plugin(heavy="import no_such_module_at_all"))
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    assert "Says hello." in out
    code, out, err = run(capsys, "greet", "people", "Ann")
    assert (code, out) == (2, "")
    assert err == (
        "ordhc: the command 'greet' of a plugin cannot be made: "
        "ModuleNotFoundError: No module named 'no_such_module_at_all'\n"
    )
    assert run(capsys, "plugins")[0] == 0


def test_a_broken_plugin_is_named_and_the_rest_works(install, capsys, monkeypatch):
    install("bad-one", "import no_such_module_at_all\n")
    install("greeter", plugin())
    code, out, err = run(capsys, "--help")
    assert code == 0
    assert "Says hello." in out
    assert "plugin bad-one (main) is skipped: ModuleNotFoundError" in err
    assert run(capsys, "greet", "people", "Ann")[1] == "Hello Ann\n"
    ordhc.plugins.registry.reset()
    code, _, err = run(capsys, "bad")
    assert code == 2
    assert "plugin bad-one (main) is skipped" in err
    assert "No such command 'bad'" in err
    monkeypatch.setenv("ORDHC_STRICT", "1")
    ordhc.plugins.registry.reset()
    assert run(capsys, "--help")[0] == 0
    code, _, err = run(capsys, "greet", "people", "Ann")
    assert code == 2
    assert "plugin bad-one (main) failed" in err


def test_what_is_no_command(install, capsys):
    source = """
    from ordhc.hooks import hookimpl
    from ordhc.specs import CommandSpec

    @hookimpl
    def ordhc_commands():
        return [CommandSpec(name="odd", summary="odd", make=lambda: 7)]
    """
    install("odd-one", source)
    error = "ordhc: the command 'odd': make returned 7, which is not a click command\n"
    assert run(capsys, "odd") == (2, "", error)
    with pytest.raises(PluginError, match="defines its own options"):
        ordhc.specs.CommandSpec(name="odd", summary="odd", make=print, parameters={"a": 1})


def test_names_that_are_taken(install, capsys):
    install("one", plugin())
    install("two", plugin())
    install("thief", plugin("score"))
    _, out, _ = run(capsys, "--help")
    brought = out.partition("Commands of plugins:")[2].partition("\n\n")[0].split("\n")
    assert [line.split()[0] for line in brought if line.strip()] == ["one:greet", "thief:score", "two:greet"]
    code, _, err = run(capsys, "greet", "people", "Ann")
    assert code == 2
    assert "registered by several plugins; give one:greet or two:greet" in err
    assert run(capsys, "two:greet", "people", "Ann")[1] == "Hello Ann\n"
    assert run(capsys, "thief:score", "people", "Ann")[1] == "Hello Ann\n"
    assert "dendrogram" in run(capsys, "score", "--help")[1]
    rows = json.loads(run(capsys, "plugins", "--json")[1])["plugins"]
    (row,) = [row for row in rows if row["plugin"] == "thief"]
    assert (row["status"], row["error"]) == ("clash", "also in ordhc: use thief:score")


def test_its_name_is_completed_without_making_it(install):
    install("greeter", plugin(heavy="1 / 0"))
    for shell in ("bash", "zsh", "fish"):
        assert names(shell, "gre") == ["greet"]
    assert "greet" in names("bash", "")


def test_own_commands_load_no_plugin(tmp_path):
    (tmp_path / "loud.py").write_text("print('loaded')\n")
    info = tmp_path / "loud-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ordhc]\nloud = loud\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = command_line("completion", "bash", env={**os.environ, "PYTHONPATH": path})
    assert (done.returncode, done.stderr) == (0, "")
    assert "loaded" in command_line("--help", env={**os.environ, "PYTHONPATH": path}).stderr


def test_help_imports_nothing_heavy_of_our_own_plugins():
    code = """
import sys
from click.testing import CliRunner
from ordhc.cli import group
assert CliRunner().invoke(group, ["--help"]).exit_code == 0
print([name for name in ("scipy", "httpx2", "sqlite3", "matplotlib", "starlette") if name in sys.modules])
"""
    assert printed(code) == "[]\n"


def test_commands_are_those_of_the_group():
    assert list(group.commands) == group.list_commands(None)
