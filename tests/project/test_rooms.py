"""`make test ROOM=...`: what it runs, and what it says of rooms that do not exist."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests").glob("**/test_*.py"))
ROOMS = sorted({file.parent.name for file in FILES})


def made(*arguments):
    """Return the commands that `make` would run."""
    if shutil.which("make") is None:
        pytest.skip("no make")
    line = ["make", "--dry-run", "--no-print-directory", *arguments]
    # The `make` that runs this test has variables of its own.
    names = ("ROOM", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env=environment)


def pytest_lines(done):
    return [
        line for line in done.stdout.splitlines() if "-m pytest" in line and "for plugin in ; do" not in line
    ]


def test_one_room_is_tested():
    done = made("test", "ROOM=io")
    assert done.returncode == 0, done.stderr
    (line,) = pytest_lines(done)
    assert line.endswith("-m 'not slow' tests/io python/ordhc/io")
    # No module of the crate is named io.
    assert "cargo test" not in done.stdout


@pytest.mark.parametrize(
    ("room", "modules"),
    [("tree", "tree::"), ("metrics", "metric::"), ("agglomerate", "agglomerate:: linkage::")],
)
def test_the_modules_of_the_crate_are_tested_with_their_room(room, modules):
    tested = [line for line in made("test", f"ROOM={room}").stdout.splitlines() if line.startswith("cargo")]
    assert tested == [f"cargo test --quiet --locked --package ordhc --lib -- {modules}"]
    for module in modules.replace("::", "").split():
        assert (ROOT / "rust/ordhc/src" / module).is_dir()


def test_an_unknown_room_is_refused_and_all_are_listed():
    done = made("test", "ROOM=cellar")
    assert done.returncode != 0
    assert "there is no room cellar; ROOM must be one of: " in done.stderr
    assert done.stderr.split("one of: ")[1].split(".  Stop")[0].split() == ROOMS
    assert made("help").returncode == 0


def test_without_a_room_everything_is_tested():
    lines = pytest_lines(made("test"))
    assert len(lines) == 2
    assert lines[0].rstrip().endswith("-m 'not slow'")
    assert "plugins/ordhc-judge" in lines[1]


def test_every_file_is_in_a_room():
    # Rooms of the package, but for `_checks` and what crosses rooms.
    package = {path.stem for path in (ROOT / "python" / "ordhc").iterdir()}
    assert set(ROOMS) <= package | {"checks", "project"}
    assert {file.parent.parent for file in FILES} == {ROOT / "tests"}
    count = Counter(file.name for file in FILES)
    assert max(count.values()) == 1, count.most_common(3)
