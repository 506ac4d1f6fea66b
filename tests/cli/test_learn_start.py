"""`ordhc learn --start` places new items in a tree, and takes the settings of learners."""

import pytest

import ordhc
from support.processes import run

TRUTH = "(((cat,(dog,wolf)),owl),((car,bus),bike));"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "truth.nwk").write_text(TRUTH)
    ordhc.write_tree(ordhc.as_dendrogram(TRUTH).prune(["wolf", "bike"]), tmp_path / "start.nwk")
    (tmp_path / "more.txt").write_text("wolf\nbike\ncat\n")
    return tmp_path


def started(files, *more):
    oracle = ("--oracle", "tree", "--source", files / "truth.nwk")
    return ("learn", *oracle, "--start", files / "start.nwk", "--items", files / "more.txt", *more)


def test_new_items_are_placed(files, capsys):
    code, out, _ = run(capsys, *started(files, "-o", files / "tree.nwk"))
    assert (code, "7 of 7 leaves, done" in out) == (0, True)
    assert ordhc.metrics.robinson_foulds(ordhc.read_tree(files / "tree.nwk"), TRUTH) == 0
    answers = int(out.split(" answers")[0].split()[-1])
    assert answers <= 8


def test_a_session_goes_on_with_the_same_command(files, capsys):
    command = started(files, files / "a.ordhc", "--exact", "-o", files / "tree.nwk")
    assert run(capsys, *command)[0] == 0
    assert run(capsys, *command)[0] == 0
    with ordhc.Session(files / "a.ordhc") as session:
        assert (session.n_leaves, session.settings["exact"]) == (7, True)
        assert ordhc.metrics.robinson_foulds(session.tree(), TRUTH) == 0


def test_start_needs_names(files, capsys):
    code, _, err = run(
        capsys, *(part for part in started(files) if part not in ("--items", files / "more.txt"))
    )
    assert (code, "--start needs" in err) == (2, True)


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "4k-active", "--q", "0.9", "--n-references", "20"],
        ["--method", "4k-active", "--n-landmarks", "3"],
        ["--p", "0.9", "--assume", "uniform"],
        ["--exact"],
    ],
)
def test_settings_of_learners(tmp_path, capsys, options):
    (tmp_path / "points.csv").write_text("name,x\n" + "".join(f"i{at},{at * at}\n" for at in range(9)))
    known = ("learn", "--oracle", "vectors", "--source", tmp_path / "points.csv")
    code, out, err = run(capsys, *known, *options)
    assert (code, "9 of 9 leaves" in out, err) == (0, True, "")
