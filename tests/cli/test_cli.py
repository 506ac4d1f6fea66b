"""The command line, as a person and as a script would use it."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc.cli import group
from support.processes import command_line, from_standard_input, run

COMMANDS = [
    "cluster",
    "compare",
    "structure",
    "people-groups",
    "score",
    "report",
    "plot",
    "learn",
    "session",
    "consensus",
    "convert",
    "simulate",
    "plan",
    "plugins",
    "demo",
    "completion",
]


def test_every_command_is_there_with_an_example(capsys):
    assert sorted(group.commands) == sorted(COMMANDS)
    for command in COMMANDS:
        code, out, _ = run(capsys, command, "--help")
        assert code == 0
        assert "Example" in out
        assert f"ordhc {command}" in out
    assert run(capsys, "--version")[1] == f"ordhc, version {ordhc.__version__}\n"


def test_cluster_writes_what_is_asked_for(answers, capsys):
    outputs = ["t.nwk", "t.json", "t.csv", "t.npy"]
    plots = ["t.svg", "t.png", "t.pdf"]
    options = [x for path in outputs for x in ("-o", path)] + [x for path in plots for x in ("--plot", path)]
    code, out, err = run(capsys, "cluster", "a.csv", *options, "--n-clusters", "2", "--labels", "labels.csv")
    assert (code, err) == (0, "")
    assert "3 triplets of 4 leaves" in out
    assert "revenue  6" in out
    expected = ordhc.cluster(ordhc.read_answers("a.csv"))
    assert ordhc.read_tree("t.json") == expected
    assert ordhc.score(ordhc.read_tree("t.nwk"), ordhc.read_answers("a.csv")) == 6
    assert (answers / "labels.csv").read_text() == "leaf,name,cluster\n0,cat,0\n1,dog,0\n2,car,1\n3,bus,1\n"
    first = (answers / "t.svg").read_bytes()
    assert b"<svg" in first
    assert (answers / "t.png").read_bytes().startswith(b"\x89PNG")
    assert (answers / "t.pdf").read_bytes().startswith(b"%PDF")
    run(capsys, "cluster", "a.csv", "--plot", "t.svg", "--n-clusters", "2")
    assert (answers / "t.svg").read_bytes() == first


def test_json_is_one_document(answers, capsys):
    code, out, _ = run(capsys, "cluster", "a.csv", "--json", "--n-clusters", "2", "--linkage", "single")
    found = json.loads(out)
    assert code == 0
    assert found["labels"] == [0, 0, 1, 1]
    assert (found["n_leaves"], found["revenue"], found["linkage"]) == (4, 6, "single")
    assert ordhc.as_dendrogram(found["tree"]).names == ("cat", "dog", "car", "bus")
    (answers / "out.json").write_text(out)
    code, out, _ = run(capsys, "score", "out.json", "a.csv", "--json")
    assert json.loads(out)["score"] == 6
    code, out, _ = run(capsys, "plugins", "--json")
    assert {"linkage", "similarity", "method", "oracle", "metric"} <= {
        row["kind"] for row in json.loads(out)["plugins"]
    }


def test_leaves_without_answers_are_reported(answers, capsys):
    (answers / "i.csv").write_text("0,1,2\n")
    _, out, _ = run(capsys, "cluster", "i.csv", "--n-leaves", "5")
    assert "2 leaves have no answers and are merged last: 3, 4" in out


def test_score_goes_by_name(answers, capsys):
    (answers / "t.nwk").write_text("((bus,car),(dog,cat));")
    assert run(capsys, "score", "t.nwk", "a.csv")[1] == "triplet_revenue  6\n"
    (answers / "ids.csv").write_text("0,1,2\n")
    code, _, err = run(capsys, "score", "t.nwk", "ids.csv")
    assert code == 2
    assert "give --names" in err
    assert run(capsys, "score", "t.nwk", "ids.csv", "--names", "n.txt")[0] == 2
    (answers / "n.txt").write_text("cat\ndog\ncar\nbus\n")
    assert run(capsys, "score", "t.nwk", "ids.csv", "--names", "n.txt")[1] == "triplet_revenue  2\n"


def test_convert(answers, capsys):
    assert run(capsys, "convert", "a.csv", "a.npz")[0] == 0
    assert run(capsys, "convert", "a.npz", "b.parquet")[0] == 0
    assert ordhc.read_answers("b.parquet") == ordhc.read_answers("a.csv")
    run(capsys, "cluster", "a.csv", "-o", "t.json", "-q")
    assert run(capsys, "convert", "t.json", "t.nwk")[0] == 0
    assert run(capsys, "convert", "t.nwk", "z.npy")[0] == 0
    assert np.load("z.npy").shape == (3, 4)
    (answers / "odd.csv").write_text("odd,a,b\ncar,cat,dog\n")
    assert run(capsys, "convert", "--header", "--kind", "odd-one-out", "odd.csv", "o.csv")[0] == 0
    assert (answers / "o.csv").read_text() == "anchor,near,far,answer\ncat,dog,car,0\ndog,cat,car,0\n"
    (answers / "rank.csv").write_text("0,1,2,3,4,5,6,7\n")
    run(capsys, "convert", "--kind", "ranking", "rank.csv", "r.csv")
    assert len(ordhc.read_answers("r.csv")) == 11
    code, _, err = run(capsys, "convert", "a.csv", "a.doc")
    assert (code, err.count("\n")) == (2, 1)


def test_simulate_is_reproducible(answers, capsys):
    options = ["--levels", "2", "--leaves-per-cluster", "4", "-m", "300", "--seed", "5"]
    assert run(capsys, "simulate", "p.csv", *options, "--labels", "truth.csv")[0] == 0
    assert run(capsys, "simulate", "q.csv", *options)[0] == 0
    assert (answers / "p.csv").read_bytes() == (answers / "q.csv").read_bytes()
    assert len(ordhc.read_answers("p.csv")) == 300
    assert (answers / "truth.csv").read_text().startswith("leaf,level_1,level_2\n0,")
    assert run(capsys, "simulate", "p4.npz", *options, "--quadruplets", "--json")[0] == 0
    assert len(ordhc.read_answers("p4.npz", "pairs")) == 300


BAD = [
    (["cluster", "a.csv", "--names", "two.txt"], "a.csv:2: the name 'cat' is unknown"),
    (["cluster", "cut.csv"], "cut.csv:2: 2 columns instead of 3"),
    (["cluster", "none.csv"], "none.csv: there is no such file"),
    (["cluster", "a.csv", "-o", "no/t.nwk"], "there is no folder no"),
    (["cluster", "a.csv", "-o", "t.xyz"], "the ending is none of"),
    (["cluster", "a.csv", "--plot", "t.gif"], "a picture is one of"),
    (["cluster", "a.csv", "--labels", "l.csv"], "--labels needs --n-clusters"),
    (["cluster", "a.csv", "-o", "t.nwk", "-o", "t.nwk"], "given for two outputs"),
    (["cluster", "a.csv", "--linkage", "averag"], "did you mean average"),
    (["cluster", "a.csv", "--method", "adds3-la"], "did you mean adds3-al"),
    (["cluster", "a.csv", "--method", "adds3-al", "--linkage", "single"], "not both"),
    (["cluster", "a.csv", "--n-clusters", "9"], "outside 1..4"),
    (["cluster", "a.csv", "--param", "x=1"], "no parameter 'x'"),
    (["cluster", "a.csv", "--items", "a,b"], "3 are needed"),
    (["score", "-", "-"], "only one"),
    (["score", "bad.nwk", "a.csv"], "bad.nwk:1:"),
    (["simulate", "p.csv", "--flip", "2"], "flip = 2"),
    (["simulate", "p.doc"], "the ending is none of"),
    (["nonsense"], "No such command"),
    (["cluster", "a.csv", "--bogus"], "No such option"),
]


@pytest.mark.parametrize(("arguments", "part"), BAD, ids=[part for _, part in BAD])
def test_bad_input_is_one_line_and_code_2(answers, capsys, arguments, part):
    (answers / "two.txt").write_text("dog\ncar\n")
    (answers / "cut.csv").write_text("0,1,2\n0,1\n")
    (answers / "bad.nwk").write_text("((a,b)")
    before = sorted(path.name for path in answers.iterdir())
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("ordhc: ")
    assert part in err
    assert sorted(path.name for path in answers.iterdir()) == before


def test_outputs_are_checked_before_the_input_is_read(answers, capsys):
    code, _, err = run(capsys, "cluster", "none.csv", "-o", "no/t.nwk")
    assert (code, "no folder" in err) == (2, True)


def test_a_missing_extra_is_said_before_the_work(answers, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, err = run(capsys, "cluster", "a.csv", "--plot", "t.svg")
    assert (code, err) == (2, 'ordhc: a picture needs matplotlib: pip install "ordhc[plot]"\n')


def test_pipes(answers, monkeypatch, capsys):
    done = command_line("cluster", "-", "-o", "-", "--method", "adds3-al", input="0,1,2\n1,0,2\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "(2:1.5,(0:0,1:0):1.5);\n"
    from_standard_input(monkeypatch, "((bus,car),(dog,cat));")
    assert run(capsys, "score", "-", "a.csv")[1] == "triplet_revenue  6\n"
    out = run(capsys, "simulate", "-", "--levels", "1", "--leaves-per-cluster", "3", "-m", "5")[1]
    assert len(ordhc.read_answers(io.StringIO(out), n_leaves=6)) == 5


def test_demo(tmp_path, capsys):
    code, out, err = run(capsys, "demo", "--output-dir", tmp_path / "demo")
    assert code == 0, err
    assert "190,376 triplets of 100 leaves" in out
    assert "revenue  6,137,273" in out
    assert ordhc.read_tree(tmp_path / "demo" / "food.nwk").n_leaves == 100
    assert (tmp_path / "demo" / "food.svg").stat().st_size > 10_000


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_long_work():
    code = (
        "import sys, numpy as np, ordhc, ordhc.cli\nfrom ordhc import _ordhc\n"
        "how = (_ordhc.Linkage.native('average'), False, 'naive', None, None)\n"
        "y = np.random.default_rng(0).random(2500 * 2499 // 2)\n"
        "ordhc.linkage = lambda: (print('ready', flush=True), _ordhc.agglomerate(y, *how))\n"
        "import click\n"
        "ordhc.cli.group.add_command(click.command('long')(lambda: ordhc.linkage()))\n"
        "ordhc.cli.main(['long'])\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err.strip()) == (130, "ordhc: stopped")


@pytest.fixture
def references(answers):
    t, labels = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=3, seed=1)
    tree, other = (ordhc.cluster(t, method=method) for method in ("adds3-al+spr", "3-al"))
    ordhc.write_comparisons(t, "t.csv")
    ordhc.write_tree(tree, "tree.json")
    ordhc.write_tree(other, "other.nwk")
    ordhc.write_tree(other, "other.csv")
    rows = [f"{leaf},{a},{b}" for leaf, (a, b) in enumerate(labels.tolist())]
    (answers / "labels.csv").write_text("\n".join(["leaf,coarse,fine", *rows[::-1]]))
    S = ordhc.similarity(t, dtype="int64")
    np.save("S.npy", S)
    np.savetxt("S.csv", S, delimiter=",", fmt="%d")
    return t, labels, tree, S


def test_score_by_what_a_metric_takes(references, capsys):
    t, labels, tree, _ = references
    other = ordhc.cluster(t, method="3-al")

    def value(*arguments):
        code, out, err = run(capsys, "score", "tree.json", *arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)["score"]

    assert value("S.npy", "--metric", "dasgupta_cost") == -ordhc.score(tree, t)
    assert value("S.csv", "--metric", "dasgupta_revenue") == ordhc.score(tree, t)
    assert value("labels.csv", "--metric", "aari") == ordhc.metrics.aari(tree, labels)
    fine = value("labels.csv", "--metric", "ari", "--labels", "fine")
    assert fine == ordhc.metrics.ari(tree, labels[:, 1])
    for file in ("other.nwk", "other.csv"):
        assert value(file, "--metric", "triplet_distance") == ordhc.metrics.triplet_distance(tree, other)
    count = value("labels.csv", "--metric", "triplet_distance", "--param", "normalize=false")
    assert count == ordhc.metrics.triplet_distance(tree, labels, normalize=False)
    agreed = ordhc.metrics.satisfied(tree, t)
    assert value("t.csv", "--metric", "satisfied") == vars(agreed)
    both = ("--metric", "satisfied", "--metric", "triplet_revenue")
    out = run(capsys, "score", "tree.json", "t.csv", *both)[1]
    assert out.splitlines() == [f"satisfied  {agreed}", f"triplet_revenue  {ordhc.score(tree, t):,}"]
    tau = ordhc.metrics.kendall_tau_b(tree, other)
    out = run(capsys, "score", "tree.json", "other.nwk", "--metric", "kendall_tau_b")[1]
    assert out == f"kendall_tau_b  {tau.mean:.6g} (standard error {tau.standard_error:.3g})\n"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["labels.csv", "--metric", "ari"], "not 2 columns"),
        (["labels.csv", "--metric", "ari", "--labels", "x"], "labels.csv:1: there is no column 'x'"),
        (["t.csv", "--metric", "ari"], "t.csv:1: a column named 'leaf' or 'name' is needed"),
        (["S.npy", "--metric", "robinson_foulds"], "ordhc.linkage(S, dissimilarity=False) from similarities"),
        (["few.csv", "--metric", "aari"], "few.csv: there is no label for leaf '1'"),
        (["twice.csv", "--metric", "aari"], "twice.csv:3: leaf '0' occurs twice"),
        (["S.csv", "--metric", "dasgupta_cost", "--param", "x=1"], "no parameter 'x'"),
        (["t.csv", "--metric", "satisfied", "--metric", "ari"], "don't take the same FILE"),
        (["ragged.csv", "--metric", "dasgupta_cost"], "ragged.csv:2: 1 columns instead of 2"),
    ],
)
def test_wrong_references(references, capsys, arguments, part):
    for name, text in {
        "few.csv": "leaf,a\n0,x\n",
        "twice.csv": "leaf,a\n0,x\n0,y\n",
        "ragged.csv": "0,1\n1\n",
    }.items():
        Path(name).write_text(text)
    code, out, err = run(capsys, "score", "tree.json", *arguments)
    assert (code, out) == (2, "")
    assert part in err
