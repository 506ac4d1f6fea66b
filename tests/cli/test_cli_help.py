"""The help of the command line: sections, choices, summaries that aren't cut, at any width."""

import re

import click
import pytest

import ordhc
from ordhc.cli import group
from ordhc.cli.help import OPTIONS, Command, File, Group, Registered, Settings, paragraphs_of, sections_of
from ordhc.errors import PluginError
from ordhc.plugins import registry
from support.processes import run


def commands(of=group, path=()):
    for name, command in of.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = dict(commands())


@pytest.fixture(params=[60, 80, 120])
def width(request, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


def whole(command):
    """The option that shows all of a command's help."""
    words = [word for option in command.params for word in option.opts]
    return "--help-all" if "--help-all" in words else "--help"


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_fits_two_screens(path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run(capsys, *path, "--help")
    assert len(out.splitlines()) <= 100


@pytest.mark.parametrize("command", ["cluster", "compare", "report", "score", "structure"])
def test_rare_options_are_named_in_the_help_and_shown_in_the_whole(command, capsys):
    _, brief, _ = run(capsys, command, "--help")
    _, out, _ = run(capsys, command, "--help-all")
    assert "--delimiter" not in brief
    assert "--delimiter" in out
    assert re.search(r"--help-all: .*How FILE is read\.", " ".join(brief.split()))
    assert "shown by --help-all" not in out
    # Who completes with Tab gets them, too.
    assert {"--delimiter", "--help-all"} <= {
        word for option in ALL[(command,)].params for word in option.opts
    }


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_fits_and_has_an_example(path, width, capsys):
    assert isinstance(ALL[path], Command | Group)
    code, out, err = run(capsys, *path, whole(ALL[path]))
    assert (code, err) == (0, "")
    assert f"Usage: ordhc {' '.join(path)} " in out
    assert re.search(r"\n  Examples?:\n    .*ordhc ", out)
    # A word may be longer than its column.
    long = [line for line in out.splitlines() if len(line) > width and " " in line.strip()]
    assert not long
    assert "..." not in out.partition("Commands:")[2]
    for parameter in ALL[path].params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in out
            assert parameter.help


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_options_stand_in_sections(path):
    command = ALL[path]
    ctx = click.Context(command, info_name="x", parent=click.Context(group))
    sections = dict(sections_of(command, ctx))
    assert list(sections)[-1] == OPTIONS
    n = sum(len(rows) for rows in sections.values())
    assert n == len([p for p in command.get_params(ctx) if isinstance(p, click.Option)])
    if n > 9:
        assert len(sections) >= 2


@pytest.mark.parametrize("command", ["cluster", "compare", "score"])
def test_how_a_file_is_read_is_a_section_of_its_own(command, capsys):
    _, out, _ = run(capsys, command, whole(ALL[(command,)]))
    reading = out.partition("How FILE is read:")[2].partition("\n\n")[0]
    assert {"delimiter", "n-leaves", "weights"} < set(re.findall(r"^  --([a-z-]+)", reading, re.M))
    assert "--skip-bad" in reading
    assert "--method" not in reading


@pytest.mark.parametrize(
    ("command", "option", "kind"),
    [
        ("cluster", "--method", "method"),
        ("cluster", "--similarity", "similarity"),
        ("cluster", "--linkage", "linkage"),
        ("compare", "--method", "method"),
        ("score", "--metric", "metric"),
        ("learn", "--oracle", "oracle"),
    ],
)
def test_choices_are_listed_with_those_of_plugins(command, option, kind, capsys):
    _, out, _ = run(capsys, command, "--help")
    about = re.split(r"\n  -|\n\n", out.partition(f"\n  {option} ")[2])[0]
    listed = " ".join(about.partition("One of ")[2].split()).rstrip(".").split(", ")
    assert listed == registry.names(kind)
    assert len(listed) > 4


@pytest.mark.parametrize(
    ("command", "option", "kind"),
    [
        ("cluster", "--param", "linkage"),
        ("cluster", "--param", "similarity"),
        ("score", "--param", "metric"),
        ("learn", "--param", "oracle"),
    ],
)
def test_settings_are_named(command, option, kind, capsys):
    _, out, _ = run(capsys, command, whole(ALL[(command,)]))
    about = " ".join(re.split(r"\n  -|\n\n", out.partition(f"\n  {option} ")[2])[0].split())
    for name in registry.names(kind):
        for key, default in registry.get(kind, name).parameters.items():
            if key != "progress":
                assert name in about
                assert key if default is None else f"{key}=" in about
    assert "progress" not in about
    if kind == "similarity":
        assert "normalize=true" in about


def test_broken_plugins_break_no_help(capsys, monkeypatch):
    def broken(_):
        raise PluginError("no")

    monkeypatch.setattr(registry, "names", broken)
    code, out, _ = run(capsys, "cluster", "--help")
    assert code == 0
    assert "One of" not in out
    assert Registered("method").choices() == {}
    assert Settings("linkage", "linkage").text() == ""


def test_settings_of_any_type_are_shown(monkeypatch):
    odd = ordhc.specs.LinkageSpec(
        name="odd", summary="odd", native="single", parameters={"f": len, "t": (1, 2), "s": "x", "n": None}
    )
    monkeypatch.setattr(registry, "names", lambda _: ["odd"])
    monkeypatch.setattr(registry, "get", lambda *_: odd)
    assert Settings("linkage", "linkage").text() == 'odd: f="<built-in function len>", t=[1, 2], s=x, n'


def test_what_takes_a_file_is_completed_as_one():
    for path, command in ALL.items():
        for parameter in command.params:
            named = {"FILE", "CSV", "TREE", "PICTURE", "NEW"} & {(parameter.metavar or "").partition("[")[0]}
            if named or (isinstance(parameter, click.Argument) and path[0] != "completion"):
                assert isinstance(parameter.type, File), (path, parameter.name)


def test_the_first_help_says_it_all(capsys):
    _, out, _ = run(capsys, "--help")
    for command in group.commands.values():
        first = paragraphs_of(command.help)[0][0]
        assert re.split(r"\.(?:\s|$)", first)[0] in " ".join(out.split())
    assert out.index("  cluster ") < out.index("  demo ") < out.index("--version")


def test_help_has_colours_on_terminals_unless_nobody_wants_them(monkeypatch):
    ctx = click.Context(group, info_name="ordhc")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in group.get_help(ctx)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in group.get_help(ctx)
