"""Errors of ordhc itself: how they end, and what they and missing packages tell people to do."""

import ast
import platform
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc._version import ISSUES
from ordhc.errors import InternalError, MissingExtraError
from support.processes import run

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PLUGINS = [tomllib.loads(path.read_text())["project"] for path in ROOT.glob("plugins/*/pyproject.toml")]
SOURCES = [path for folder in ("python/ordhc", "plugins") for path in sorted((ROOT / folder).rglob("*.py"))]
SOURCES = [path for path in SOURCES if "tests" not in path.parts]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a b.csv").write_text("anchor,near,far\ncat,dog,car\ndog,cat,bus\ncar,bus,cat\n")
    Path("t.nwk").write_text("((cat,dog),(car,bus));\n")


FAULTS = {
    "reading": ("ordhc.io.answers.read_in_order", ["cluster", "a b.csv"]),
    "planning": ("ordhc.clustering.plan.Plan.of", ["cluster", "a b.csv"]),
    "summing up": ("ordhc.metrics.streamed.revenue_of", ["cluster", "a b.csv"]),
    "selecting": ("ordhc.evaluate.trials.fit", ["compare", "a b.csv", "--folds", "2"]),
    "scoring": ("ordhc._ordhc.revenue", ["score", "t.nwk", "a b.csv"]),
    "simulating": ("ordhc._ordhc.planted", ["simulate", "new.csv"]),
    "converting": ("ordhc.io.trees.tree_bytes", ["convert", "t.nwk", "t.json"]),
    "listing": ("ordhc.plugins.registry.list_plugins", ["plugins", "--json"]),
    "learning": ("ordhc.asking.loop._steps", ["learn", "--oracle", "tree", "--source", "t.nwk"]),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "error", [TypeError("a\nbug"), ValueError("a bug"), KeyError("bug"), AssertionError()]
)
@pytest.mark.parametrize("fault", FAULTS)
def test_two_lines_and_exit_code_3(fault, error, capsys, monkeypatch):
    where, arguments = FAULTS[fault]

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(where, broken)
    monkeypatch.delenv("ORDHC_DEBUG", raising=False)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (3, "")
    what, how = err.splitlines()
    assert re.match(rf"ordhc: internal error: {type(error).__name__}\b.* \(in ordhc[\w.]*, line \d+\)$", what)
    assert how.startswith(f"ordhc: please report it at {ISSUES} with the command `ordhc {arguments[0]} ")
    if "a b.csv" in arguments:
        assert "'a b.csv'" in how
    for part in (ordhc.__version__, platform.python_version(), np.__version__, "ORDHC_DEBUG=1"):
        assert part in how
    monkeypatch.setenv("ORDHC_DEBUG", "1")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (3, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith(f"\n{what}\n{how}\n")


@pytest.mark.usefixtures("files")
def test_a_panic_is_an_internal_error(capsys, monkeypatch):
    def broken(*_, **__):
        raise InternalError("index out of bounds")

    monkeypatch.setattr("ordhc.clustering.plan.Plan.of", broken)
    code, _, err = run(capsys, "cluster", "a b.csv")
    assert code == 3
    # How to report it is said once.
    assert err.startswith("ordhc: internal error: InternalError: index out of bounds (in ")
    assert err.count(ISSUES) == 1


@pytest.mark.usefixtures("files")
def test_imports_that_fail_are_told_apart(capsys, monkeypatch):
    for error, code in (
        (ImportError("cannot import name 'x' from 'ordhc.tree'", name="ordhc.tree"), 3),
        (ImportError("libblas.so: cannot open shared object file", name="scipy"), 2),
        (MissingExtraError.of("a picture", "matplotlib", "plot"), 2),
    ):

        def broken(*_, error=error, **__):
            raise error

        monkeypatch.setattr("ordhc.clustering.plan.Plan.of", broken)
        assert run(capsys, "cluster", "a b.csv")[0] == code


@pytest.mark.usefixtures("files")
def test_bad_input_is_one_line_and_a_traceback_only_if_asked_for(capsys, monkeypatch):
    Path("bad.csv").write_text("anchor,near,far\n0,1,1\n")
    code, _, plain = run(capsys, "cluster", "bad.csv")
    assert (code, plain.count("\n")) == (2, 1)
    monkeypatch.setenv("ORDHC_DEBUG", "1")
    code, _, err = run(capsys, "cluster", "bad.csv")
    assert code == 2
    assert err.startswith("Traceback")
    assert err.endswith(plain)


def test_bugs_are_reported_where_the_project_says():
    assert PROJECT["urls"]["Issues"] == ISSUES
    text = (ROOT / "docs" / "command-line.md").read_text()
    assert "exit code 3" in " ".join(text.split())
    assert "`ORDHC_DEBUG=1`" in text


def packages(requirements):
    return {re.match(r"[\w-]+", requirement)[0].lower() for requirement in requirements}


EXTRAS = {extra: packages(needs) for extra, needs in PROJECT["optional-dependencies"].items()}


def test_missing_packages_are_in_the_extra_that_is_named():
    found = []
    for path in SOURCES:
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "MissingExtraError.of" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("MissingExtraError.of"):
                _, package, extra = node.args
                assert isinstance(extra, ast.Constant), path
                assert isinstance(package, ast.Constant), path
                assert package.value.lower() in EXTRAS[extra.value], path
                found.append(package.value)
    assert {"matplotlib", "pyarrow", "scikit-learn"} <= set(found)


def test_only_what_can_be_installed_is_recommended():
    ours = {PROJECT["name"], *(plugin["name"] for plugin in PLUGINS)}
    known = set().union(*EXTRAS.values(), {"hypothesis"}, ours)
    known |= packages(tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["test"])
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *ROOT.glob("plugins/*/README.md")]
    # A folder may be that of a package which `ordhc plugins new` has written.
    template = (ROOT / "python/ordhc/cli/template/pyproject.toml.txt").read_text()
    written = set(
        re.findall(r"^(\w+) = \[", template.split("[project.optional-dependencies]")[1], re.MULTILINE)
    )
    n = 0
    for path in [*SOURCES, *documents]:
        for text in re.findall(r"pip install(?: -\S+)* [\"'`]*([^\s\"'`;)]+)", path.read_text()):
            name, _, extras = text.rstrip(".,").partition("[")
            # A folder is there, and what variables hold is looked at above.
            assert name.lower() in known or name in ("", ".") or name.startswith(("{", "./")), (path, text)
            if extras and "{" not in extras:
                there = set(EXTRAS) | (written if name == "." else set())
                assert set(extras.rstrip("]").split(",")) <= there, (path, text)
            n += 1
    assert n >= 8
