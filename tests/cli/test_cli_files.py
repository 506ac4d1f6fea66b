"""The command line and files: what is refused, what is printed where, how it ends."""

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc.cli import group
from ordhc.cli.output import emit_json
from support.processes import command_line, from_standard_input, run

TEXT = "anchor,near,far\ncat,dog,car\ndog,cat,bus\ncar,bus,cat\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["cluster", "IN", "-o", "OUT"],
        ["cluster", "IN", "--n-clusters", "2", "--labels", "OUT"],
        ["cluster", "IN", "--bootstrap", "2", "--consensus", "OUT"],
        ["cluster", "b.csv", "--names", "IN", "-o", "OUT"],
        ["cluster", "b.csv", "--initial", "IN", "-o", "OUT"],
        ["convert", "IN", "OUT"],
        ["convert", "b.csv", "OUT", "--names", "IN"],
        ["learn", "s.ordhc", "--items", "IN", "--export", "OUT"],
        ["learn", "--oracle", "tree", "--source", "IN", "-o", "OUT"],
    ],
)
def test_an_output_is_no_input(answers, capsys, arguments):
    (answers / "b.csv").write_text(TEXT)
    (answers / "folder").mkdir()
    Path("soft.csv").symlink_to("a.csv")
    os.link("a.csv", "hard.csv")
    for out in ("a.csv", "./a.csv", "folder/../a.csv", str(answers / "a.csv"), "soft.csv", "hard.csv"):
        code, _, err = run(capsys, *["a.csv" if x == "IN" else out if x == "OUT" else x for x in arguments])
        assert (code, err.count("\n")) == (2, 1)
        assert "is an input" in err
        assert (answers / "a.csv").read_text() == TEXT


def test_an_output_is_no_other_output(answers, capsys):
    for twice in (
        ["-o", "t.nwk", "-o", "./t.nwk"],
        ["-o", "t.nwk", "--consensus", "t.nwk", "--bootstrap", "2"],
    ):
        code, _, err = run(capsys, "cluster", "a.csv", *twice)
        assert (code, "given for two outputs" in err) == (2, True)
    assert run(capsys, "simulate", "p.csv", "--labels", "./p.csv")[0] == 2
    with Path("a.csv").open() as stdin:
        done = command_line("cluster", "-", "-o", "a.csv", stdin=stdin)
    assert (done.returncode, "is an input (standard input)" in done.stderr) == (2, True)
    assert Path("a.csv").read_text() == TEXT


def test_what_compare_says_next_works(answers, capsys):
    rows = ["w h o,c,b,a,x"] + [f"p{i % 4},{i % 5},{(i + 1) % 5},{(i + 2 + i // 5) % 5},1" for i in range(40)]
    rows = [row for row in rows if len(set(row.split(",")[1:4])) == 3]
    (answers / "my answers.csv").write_text("\n".join(rows) + "\n")
    options = ["--items", "a,b,c", "--person", "w h o", "--weights", "x", "--header", "--n-leaves", "5"]
    found = run(capsys, "compare", "my answers.csv", *options, "--folds", "2", "--method", "adds3-al")
    assert found[0] == 0, found[2]
    command = shlex.split(found[1].splitlines()[-1].removeprefix("next: "))
    assert command[:3] == ["ordhc", "cluster", "my answers.csv"]
    assert set(options) <= set(command)
    assert run(capsys, *command[1:])[0] == 0
    (answers / "q.csv").write_text("0,1,2,3\n0,2,1,3\n1,2,0,3\n0,3,1,2\n")
    found = run(capsys, "compare", "q.csv", "--kind", "pairs", "--folds", "2", "--method", "adds4-al")
    assert "--kind pairs" in found[1]
    assert run(capsys, *shlex.split(found[1].splitlines()[-1].removeprefix("next: "))[1:])[0] == 0


def test_score_says_what_files_look_like(answers, capsys):
    (answers / "ids.csv").write_text("0,1,2\n1,0,2\n")
    (answers / "t.nwk").write_text("((cat,dog),(car,bus));")
    (answers / "labels.csv").write_text("name,kind\ncat,a\ndog,a\ncar,v\nbus,v\n")
    for arguments, parts in [
        (["a.csv", "a.csv"], ["looks like comparisons", "make a tree with `ordhc cluster`"]),
        (["ids.csv", "ids.csv"], ["3 columns instead of 4", "make a tree with `ordhc cluster`"]),
        (["t.nwk", "t.nwk"], ["looks like a Newick tree, not comparisons", "--metric triplet_distance"]),
        (["t.nwk", "labels.csv"], ["labels take --metric aari"]),
    ]:
        code, out, err = run(capsys, "score", *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert all(part in err for part in parts)
    assert run(capsys, "score", "t.nwk", "t.nwk", "--metric", "triplet_distance")[0] == 0


def test_convert_carries_answers_and_people(answers, capsys):
    (answers / "odd.csv").write_text(
        "Participant,b,a,odd\nann,dog,cat,car\nbob,bus,car,dog\nann,cat,dog,bus\n"
    )
    steps = ["t.csv", "u.tsv", "v.parquet", "w.npz", "x.csv"]
    assert run(capsys, "convert", "--kind", "odd-one-out", "odd.csv", steps[0])[0] == 0
    for source, target in itertools.pairwise(steps):
        assert run(capsys, "convert", source, target)[0] == 0
    assert Path("x.csv").read_text() == Path("t.csv").read_text()
    assert Path("t.csv").read_text().splitlines()[:2] == [
        "anchor,near,far,answer,person",
        "cat,dog,car,0,ann",
    ]
    by_place = ["--items", "2,1", "--chosen", "3", "--header"]
    assert run(capsys, "convert", "--kind", "odd-one-out", "odd.csv", "y.csv", *by_place)[0] == 0
    assert Path("y.csv").read_text() == Path("t.csv").read_text()
    wrong = ["--items", "2,3", "--chosen", "1"]
    code, _, err = run(capsys, "convert", "--kind", "odd-one-out", "odd.csv", "z.csv", *wrong)
    assert (code, "is named `b`, but used as `odd`" in err) == (2, True)
    code, out, _ = run(capsys, "cluster", "x.csv", "--person", "person", "--bootstrap", "3", "--json")
    assert (code, json.loads(out)["bootstrap"]["n_resamples"]) == (0, 3)


def test_bad_rows_are_listed(answers, capsys):
    (answers / "b.csv").write_text(TEXT + "cat,cat,dog\nNA,cat,dog\n")
    code, _, err = run(capsys, "cluster", "b.csv")
    assert (code, "b.csv:5: leaf 'cat' occurs twice" in err) == (2, True)
    code, out, err = run(capsys, "cluster", "b.csv", "--skip-bad", "--json")
    assert code == 0
    assert json.loads(out)["n_comparisons"] == 3
    assert "line 5: leaf 'cat' occurs twice" in err
    assert "1 of 5 rows have a missing leaf (1 `NA`)" in err
    code, out, _ = run(capsys, "cluster", "b.csv", "--skip-bad", "--na", "", "--json")
    assert json.loads(out)["tree"]["names"] == ["cat", "dog", "car", "bus", "NA"]


def test_json_has_no_nan(capsys):
    emit_json({"a": float("nan"), "b": [1.5, float("-inf"), (float("inf"),)], "c": {"d": "NaN"}})
    assert capsys.readouterr().out == '{"a": null, "b": [1.5, null, [null]], "c": {"d": "NaN"}}\n'


def test_plugins_that_print_leave_the_output_alone(answers):
    (answers / "noisy.py").write_text("print('hello from a plugin')\nclass Hooks: pass\n")
    package = answers / "noisy-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[ordhc]\nnoisy = noisy\n")
    done = command_line("plugins", "--json", env={**os.environ, "PYTHONPATH": str(answers)})
    assert "plugins" in json.loads(done.stdout)
    assert "hello from a plugin" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors and signals")
def test_closed_standard_streams(answers):
    command = f"{shlex.quote(sys.executable)} -m ordhc"
    done = subprocess.run(f"{command} cluster - <&-", shell=True, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "ordhc: standard input is closed\n")
    done = subprocess.run(
        f"{command} convert a.csv - >&-", shell=True, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (2, "ordhc: standard output is closed\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_while_importing(answers):
    # The package is imported slowly, so that the signal comes in the middle.
    slow = answers / "slow"
    slow.mkdir()
    (slow / "numpy.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(30)\n")
    environment = {**os.environ, "PYTHONPATH": str(slow)}
    script = Path(sys.executable).with_name("ordhc")
    for command in ([sys.executable, "-m", "ordhc"], *([[str(script)]] if script.exists() else [])):
        child = subprocess.Popen(
            [*command, "plugins"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert child.stdout.readline() == "importing\n"
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        assert (child.returncode, out, err) == (130, "", "ordhc: stopped\n")


def test_every_command_that_reads_comparisons_takes_the_same_options():
    options = {"--items", "--person", "--answer", "--na", "--skip-bad", "--delimiter", "--comment"}
    for name in ("cluster", "compare", "score", "convert"):
        there = {option for parameter in group.commands[name].params for option in parameter.opts}
        assert options <= there


def test_ids_of_a_tree_with_names(answers, monkeypatch, capsys):
    (answers / "t.nwk").write_text("((cat,dog),(car,bus));")
    np.save("ids.npy", [(0, 1, 2)])
    for file in ("ids.npy", "ids.csv"):
        (answers / "ids.csv").write_text("0,1,2\n")
        code, _, err = run(capsys, "score", "t.nwk", file)
        assert (code, "has ids, but the tree's leaves have names" in err) == (2, True)
    from_standard_input(monkeypatch, "0,1,2\n")
    code, _, err = run(capsys, "score", "t.nwk", "-")
    assert (code, "give --names FILE" in err) == (2, True)
    assert ordhc.read_tree("t.nwk").n_leaves == 4
