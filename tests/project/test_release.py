"""What a release needs, as far as it is quick to say; `make release-check` says the rest."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def check(*arguments):
    command = [sys.executable, str(ROOT / ".ci" / "release_check.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_one_version_everywhere():
    done = check("versions")
    assert done.returncode == 0, done.stdout
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    wrong = check("versions", "--tag", f"v{version}.1")
    assert wrong.returncode == 1
    assert f"the tag is v{version}.1, the version {version}" in wrong.stdout


def test_a_step_that_there_is_none_of():
    assert check("celebrate").returncode == 2


def test_what_is_missing_is_named(tmp_path):
    """Without any tool nothing is passed over in silence."""
    command = [sys.executable, str(ROOT / ".ci" / "release_check.py"), "syntax", "recipe"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={"PATH": str(tmp_path)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not checked  syntax: there is no actionlint" in done.stdout
    assert "not checked  recipe: there is no rattler-build" in done.stdout
    assert "0 failed; 2 not checked here" in done.stdout


def test_the_baseline_of_the_crate_is_the_last_release_or_break(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("release_check", ROOT / ".ci" / "release_check.py")
    release_check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(release_check)
    monkeypatch.setattr(release_check, "ROOT", tmp_path)

    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "tag.gpgsign=false"]
        command = ["git", *who, "-c", "commit.gpgsign=false", *arguments]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.strip()

    git("init", "--quiet")
    git("commit", "--quiet", "--allow-empty", "--message", "empty")
    with pytest.raises(release_check.MissingError, match="has no history"):
        release_check.baseline()
    breaks = tmp_path / release_check.BREAKS
    breaks.parent.mkdir(parents=True)
    breaks.write_text("a break\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "break")
    broken = git("rev-parse", "HEAD")
    git("commit", "--quiet", "--allow-empty", "--message", "later")
    assert release_check.baseline() == broken
    git("tag", "v0.1.0")
    git("commit", "--quiet", "--allow-empty", "--message", "after the release")
    assert release_check.baseline() == "v0.1.0"


def test_the_licences_are_those_of_the_lock_file(tmp_path):
    texts = (ROOT / "THIRD-PARTY-LICENSES").read_text(encoding="utf-8")
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    known = {f"{package['name']} {package['version']}" for package in lock}
    named = re.findall(r"(?m)^(\S.*) \([\w.-]+\)$", texts)
    crates = {crate for line in named for crate in line.split(", ")}
    assert crates <= known
    assert {crate.split()[0] for crate in crates} > {"pyo3", "numpy", "rand", "thiserror"}


def test_the_oldest_versions_are_the_lower_bounds():
    command = [sys.executable, str(ROOT / ".ci" / "oldest.py"), "plot", "sklearn"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert {line.split("==")[0] for line in told} == {
        *("click", "matplotlib", "numpy", "pluggy", "rich", "scikit-learn")
    }
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{line.replace("==", ">=")}' in text for line in told)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_stand_on_what_cannot_be_changed(path):
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"(?m)^\s*-? *uses: (\S+)", text)
    assert used
    for name in used:
        assert name.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name), name
    # Nobody's rights by default, and no password.
    assert re.search(r"(?m)^permissions: \{\}$", text)
    assert "secrets." not in text
    for command in re.findall(r"bash (\.ci/\w+)|python3 (\.ci/\w+\.py)|make ([\w-]+)", text):
        name = next(filter(None, command))
        if name.startswith(".ci"):
            assert (ROOT / name).is_file()
        else:
            assert f"\n{name}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_extension_needs_no_global_lock():
    text = (ROOT / "rust" / "ordhc-python" / "src" / "lib.rs").read_text(encoding="utf-8")
    assert "#[pyo3::pymodule(gil_used = false)]" in text
    for path in (ROOT / "rust" / "ordhc-python" / "src").glob("*.rs"):
        for declared in re.findall(r"#\[pyclass\(?(.*?)\)?\]", path.read_text(encoding="utf-8")):
            # What Python cannot change needs no borrow that a second thread could break.
            assert "frozen" in declared, f"{path.name}: {declared}"
            assert "unsendable" not in declared
