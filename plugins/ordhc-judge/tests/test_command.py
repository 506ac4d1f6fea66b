"""The judge on the command line."""

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import ordhc_judge
import pytest
from ordhc_judge.examples import taxonomy

import ordhc
from conftest import ITEMS, TREE
from ordhc.plugins import registry
from support import processes


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in a folder of its own: its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("ORDHC_PLUGINS", "ordhc-judge")
    registry.reset()

    yield partial(processes.run, capsys)
    registry.reset()


def items_csv(texts=ITEMS):
    Path("intents.csv").write_text("name\n" + "".join(f"{text}\n" for text in texts))
    return "intents.csv"


def params(server, **more):
    given = {"url": server.url, "model": "model", "rpm": "null", **more}
    return [part for name, value in given.items() for part in ("--param", f"{name}={value}")]


def test_learning(run, served):
    server = served()
    items = items_csv()
    learn = ["learn", "intents.ordhc", "--oracle", "judge", *params(server)]
    code, out, err = run(*learn, "--items", items, "--budget", 2000, "-o", "tree.nwk")
    assert (code, err.count("\n")) == (0, 1)
    assert "errs, but not how often, and that it repeats its answers" in err
    assert "p=0.75, noise='persistent'; if you know p, give it as a setting of the method" in err
    assert "14 of 14 leaves, done" in out
    assert "consistency  100.0 %" in out
    tree = ordhc.read_tree("tree.nwk")
    assert ordhc.metrics.robinson_foulds(tree, ordhc.as_dendrogram(TREE).replace(names=ITEMS)) == 0
    # The names are in the session from then on.
    code, out, _ = run(*learn, "--json")
    assert code == 0
    assert json.loads(out)["report"]["calls"] == 0
    assert max(server.prompts.values()) == 1


def test_wrong_answers_are_reckoned_with(run, served):
    """The command of the guide, for a fifth of its items and a model that is wrong in one of ten answers."""
    items, truth = ordhc_judge.example_items()[::5], ordhc.as_dendrogram(taxonomy()).keep(range(0, 150, 5))
    server = served(truth, items, accuracy=0.9)
    learn = ["learn", "intents.ordhc", "--items", items_csv([f'"{item}"' for item in items])]
    code, _, _ = run(
        *learn, "--oracle", "judge", *params(server, rpm="none"), "--budget", 400, "-o", "tree.json"
    )
    assert code == 0
    assert ordhc.metrics.triplet_distance(ordhc.read_tree("tree.json"), truth) <= 0.02


def test_a_budget_that_is_spent_and_a_key_that_is_wrong(run, served):
    server = served(key="sk-right")
    learn = ["learn", "intents.ordhc", "--oracle", "judge", "--items", items_csv()]
    code, out, err = run(*learn, *params(server, key="sk-wrong-secret"))
    assert (code, out) == (2, "")
    assert "\nordhc: http://127.0.0.1:" in err
    assert "rejects the key with status 401" in err
    assert "secret" not in err
    code, out, err = run(*learn, *params(server, key="sk-right", budget='{"calls": 30}'), "-o", "part.nwk")
    assert code == 0
    assert "the budget of 30 calls is spent" in err
    assert "to continue" in err
    assert "to go" in out
    assert sorted(ordhc.read_tree("part.nwk").names) == sorted(ITEMS)
    code, out, err = run(*learn, *params(server, key="sk-right"))
    assert code == 0
    assert max(server.prompts.values()) == 1
    for file in Path().iterdir():
        assert b"sk-right" not in file.read_bytes()


def test_a_budget_that_is_spent_without_a_session(run, served):
    learn = ["learn", "--oracle", "judge", "--items", items_csv()]
    given = params(served(), budget='{"cost": 0.0001}', prices='{"input": 1, "output": 1}')
    code, out, err = run(*learn, *given, "-o", "part.nwk", "--json")
    assert code == 0
    assert "the budget of cost 0.0001 is spent" in err
    assert json.loads(out)["done"] is False
    assert sorted(ordhc.read_tree("part.nwk").names) == sorted(ITEMS)


def test_embeddings_give_a_prior(run, served):
    server = served()
    given = params(server)
    code, out, err = run("judge", "embed", items_csv(), *given, "-o", "prior.nwk", "--vectors", "x.npy")
    assert (code, out, err) == (0, "", "")
    prior = ordhc.read_tree("prior.nwk")
    assert sorted(prior.names) == sorted(ITEMS)
    X = np.load("x.npy")
    assert len(X) == len(ITEMS)
    again = ordhc.cluster(X, similarity="cosine", linkage="average").replace(names=ITEMS)
    assert ordhc.metrics.robinson_foulds(prior, again) == 0
    learn = [
        "learn",
        "--oracle",
        "judge",
        "--items",
        "intents.csv",
        *given,
        "--prior",
        "prior.nwk",
        "--p",
        "0.9",
    ]
    assert run(*learn, "-o", "tree.nwk")[0] == 0
    truth = ordhc.as_dendrogram(TREE).replace(names=ITEMS)
    assert ordhc.metrics.triplet_distance(ordhc.read_tree("tree.nwk"), truth) <= 0.05
    for arguments, message in (
        (["--param", "model=m"], "needs the address of a server"),
        ([*given, "--param", "batchs=3"], "no parameter 'batchs'; its parameters: url"),
        ([*given, "--param", 'budget={"cost": 1}'], "needs prices"),
    ):
        code, _, err = run("judge", "embed", "intents.csv", *arguments)
        assert code == 2
        assert message in err


def test_a_bug_does_not_show_the_key(run, served, monkeypatch):
    server = served()
    monkeypatch.setattr("ordhc_judge.judge.Judge.__call__", lambda *_: 1 / 0)
    learn = ["learn", "intents.ordhc", "--oracle", "judge", "--items", items_csv()]
    code, _, err = run(*learn, *params(server, key="sk-very-secret", headers='{"api-key": "also secret"}'))
    assert code == 3
    assert "--param key=... --param headers=..." in err
    assert "secret" not in err


def test_texts_under_names(run, served):
    server = served()
    Path("texts.csv").write_text("name,text\n" + "".join(f"n{at},{text}\n" for at, text in enumerate(ITEMS)))
    learn = ["learn", "--oracle", "judge", *params(server), "--source", "texts.csv", "-o", "tree.nwk"]
    assert run(*learn)[0] == 0
    assert sorted(ordhc.read_tree("tree.nwk").names) == sorted(f"n{at}" for at in range(14))
    for content, message in (
        ("name,text\na,x\na,y\n", "the name 'a' occurs twice"),
        ("name,text\na,\n", "'a' has no text"),
        ("other\na\n", "texts.csv"),
    ):
        Path("texts.csv").write_text(content)
        code, _, err = run(*learn)
        assert code == 2
        assert message in err


@pytest.mark.parametrize("gold", ["gold.csv", "gold.nwk"])
def test_audits(run, served, gold):
    server = served(accuracy=0.8)
    tree = ordhc.as_dendrogram(TREE).replace(names=ITEMS)
    if gold == "gold.csv":
        truth = ordhc.oracles.from_tree(tree)
        rows = [(a, b, c) for a in range(14) for b in range(a + 1, 14) for c in range(14) if c not in (a, b)]
        right = [row for row, odd in zip(rows, truth(rows).tolist(), strict=True) if odd == 2][::3]
        ordhc.write_comparisons(ordhc.Triplets(right, 14, ITEMS), gold)
    else:
        ordhc.write_tree(tree, gold)
    code, out, err = run("judge", "audit", gold, *params(server), "--questions", 60)
    assert (code, err) == (0, "")
    assert "accuracy at distance 1" in out
    assert "right if the odd one is at place 3" in out
    assert "give a learner" in out
    code, out, _ = run("judge", "audit", gold, *params(server), "--questions", 60, "--json")
    found = json.loads(out)
    assert 0.6 < found["accuracy"]["share"] < 0.95
    assert found["accuracy"]["total"] == 60
    assert found["report"]["cached"] == 180


def test_estimates(run, served):
    server = served()
    items = items_csv()
    given = [*params(server, prices='{"input": 1, "output": 2}'), "--items", items]
    code, out, err = run("judge", "estimate", 1000, *given)
    assert (code, err) == (0, "")
    assert "calls      3,000" in out
    code, out, _ = run("judge", "estimate", *given, "--json")
    assert json.loads(out)["questions"] == 53
    assert server.requests == 0


def test_labels(run, served):
    server = served(
        "(((0,1,2)small,(3,4)large)forest,((5,6)water,(7,(8,9)wings)air)others,((10,11),(12,13)));"
    )
    ordhc.write_tree(ordhc.as_dendrogram(TREE).replace(names=ITEMS), "tree.nwk")
    outputs = ["-o", "named.nwk", "--plot", "named.svg", "--html", "named.html"]
    code, out, err = run("judge", "label", "tree.nwk", *params(server), *outputs)
    assert (code, out, err) == (0, "", "")
    for file in ("named.nwk", "named.svg", "named.html"):
        assert "wings" in Path(file).read_text(encoding="utf-8")
    code, out, _ = run("judge", "label", "tree.nwk", *params(server), "--levels", 1)
    assert code == 0
    assert "wings" not in out


def test_help_and_mistakes(run, served):
    assert re.search(r"judge +Audits, embeddings and labels with a language model\.", run("--help")[1])
    for command in ((), ("audit",), ("estimate",), ("label",)):
        code, out, _ = run("judge", *command, "--help")
        # The parameters of an example are whole on their line.
        assert all(line.count("'") % 2 == 0 for line in out.splitlines() if "--param" in line)
        assert code == 0
        assert "ordhc judge" in out or "ordhc learn" in out
    Path("gold.csv").write_text("anchor_name,near_name,far_name\na,b,c\n")
    for arguments, message in (
        (["judge", "audit", "gold.csv"], "needs the address of a server: --param url="),
        (["judge", "audit", "gold.csv", "--param", "uri=x"], "no parameter 'uri'"),
        (["judge", "audit", "nowhere.csv"], "nowhere.csv"),
        (["learn", "x.ordhc", "--oracle", "judge", "--items", items_csv()], "needs the address"),
        (["learn", "x.ordhc", "--oracle", "judge", "--param", "url=http://x"], "answers from path or names"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1
