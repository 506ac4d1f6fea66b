"""`ordhc plugins new`: what is written is installed and passes its own tests; what cannot be is refused."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ordhc.cli.scaffold import PLUGIN_KINDS, new_plugin
from support.processes import run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def install(package):
    """Into the folder "site", with what is there already."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--target", "site", f"./{package}"]
    subprocess.run(command, check=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLUGIN_KINDS)
def test_it_is_installed_and_passes_its_own_tests(kind, folder, capsys):
    code, out, err = run(capsys, "plugins", "new", f"ordhc-my-{kind}", "--kind", kind)
    assert (code, err) == (0, "")
    assert f"wrote    ordhc-my-{kind}/pyproject.toml\n" in out
    install(f"ordhc-my-{kind}")
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "ORDHC_STRICT": "1"}
    environment["ORDHC_PLUGINS"] = f"ordhc-my-{kind}"
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(test, cwd=f"ordhc-my-{kind}", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    listed = [sys.executable, "-m", "ordhc", "plugins", "--json"]
    rows = json.loads(subprocess.run(listed, env=environment, capture_output=True, check=True).stdout)
    (row,) = [row for row in rows["plugins"] if row["plugin"] == f"ordhc-my-{kind}"]
    assert (row["kind"], row["name"], row["status"]) == (kind, f"my-{kind}", "ok")


def test_its_tests_notice_what_is_broken(folder):
    new_plugin("ordhc-broken", "metric")
    module = Path("ordhc-broken/src/ordhc_broken/__init__.py")
    text = module.read_text(encoding="utf-8")
    module.write_text(text.replace("(odd == 2)", "(odd == 1)"), encoding="utf-8")
    install("ordhc-broken")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd="ordhc-broken",
        env={**os.environ, "PYTHONPATH": str(folder / "site")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout
    assert "fails the check 'direction'" in done.stdout


@pytest.mark.parametrize("licence", ["MIT", "BSD-3-Clause", "Apache-2.0", "none"])
def test_licences_and_authors(licence, capsys):
    author = 'Zoë "Z" Łęcka \\ $name'
    code, out, _ = run(
        capsys,
        *("plugins", "new", "two.Words", "deep/er", "--kind", "metric", "--license", licence),
        *("--author", author, "--json"),
    )
    assert code == 0
    made = json.loads(out)
    assert (made["module"], made["spec"], made["folder"]) == ("two_words", "two.Words", "deep/er")
    assert all(Path("deep/er", path).is_file() for path in made["files"])
    project = tomllib.loads(Path("deep/er/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["authors"] == [{"name": author}]
    assert project.get("license") == (None if licence == "none" else licence)
    assert ("LICENSE" in made["files"]) == (licence != "none")
    if licence in ("MIT", "BSD-3-Clause"):
        assert author in Path("deep/er/LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "'' is not a name of a package"),
        ("-x", "'-x' is not a name of a package"),
        ("a b", "'a b' is not a name of a package"),
        ("../up", "'../up' is not a name of a package"),
        ("ordhc-ä", "is not a name of a package"),
        ("3d", "Python does not allow the module name 3d; use a name such as ordhc-3d"),
        ("class", "Python does not allow the module name class"),
        ("json", "there is a Python module json already; use a name such as ordhc-json"),
        ("numpy", "there is a Python module numpy already"),
        ("ordhc", "there is a Python module ordhc already"),
        ("ordhc-average", "there is a linkage 'average' already"),
    ],
)
def test_names_that_cannot_be(name, message, capsys, folder):
    code, _, err = run(capsys, "plugins", "new", "--kind", "linkage", "--", name)
    assert code == 2
    assert message in err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_nothing_is_overwritten(there, capsys):
    if there == "folder":
        Path("ordhc-mine").mkdir()
    elif there == "file":
        Path("ordhc-mine").write_text("mine")
    else:
        Path("ordhc-mine").symlink_to("nowhere")
    code, _, err = run(capsys, "plugins", "new", "ordhc-mine", "--kind", "oracle")
    assert (code, "ordhc-mine exists already" in err) == (2, True)
    assert [path.name for path in Path().iterdir()] == ["ordhc-mine"]


def test_what_else_is_refused(capsys, folder):
    assert run(capsys, "plugins", "new", "ordhc-mine")[0] == 2
    assert "'colour'" in run(capsys, "plugins", "new", "ordhc-mine", "--kind", "colour")[2]
    assert run(capsys, "plugins", "--json", "new", "ordhc-mine", "--kind", "metric")[0] == 2
    Path("file").write_text("")
    code, _, err = run(capsys, "plugins", "new", "ordhc-mine", "file/x", "--kind", "metric")
    assert (code, "file" in err) == (2, True)
    code, _, err = run(capsys, "plugins", "new", "ordhc-mine", "--kind", "metric", "--author", "a\nb")
    assert (code, "author = " in err) == (2, True)
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_nothing(monkeypatch, folder):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        new_plugin("ordhc-mine", "metric")
    assert list(folder.iterdir()) == []
