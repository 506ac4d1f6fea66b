"""Commands that read answers read sessions, too."""

import json

import numpy as np
import pytest

import ordhc
from support.few_rounds import with_few_sweeps
from support.processes import run


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    with_few_sweeps(monkeypatch)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A session that commands read."""
    path = tmp_path_factory.mktemp("read") / "study.ordhc"
    with ordhc.Session(path, names=[f"n{k}" for k in range(10)]) as session:
        for k in range(200):
            who = f"p{k % 5}"
            questions = session.ask(sampler="heldout" if k % 6 == 0 else "random", who=who)
            if len(questions):
                # Numbers that are near each other are alike; p4 says otherwise.
                row = questions.rows[0]
                odd = int(row.argmax()) if who != "p4" else int(row.argmin())
                session.tell(questions.ids, [odd], who=who)
    return path


def test_cluster_reads_a_session(path, capsys):
    def tree_of(*arguments):
        return run(capsys, "cluster", *arguments, "-o", "-", "-q")[1]

    with ordhc.Session(path) as session:
        plain, weighted = session.comparisons(), session.comparisons(weights="reliability")

    def expected(comparisons, method="posterior-al"):
        return ordhc.cluster(comparisons, method=method).to_newick() + "\n"

    assert tree_of(path) == expected(plain)
    assert tree_of(path, "--method", "adds3-al") == expected(plain, "adds3-al")
    assert tree_of(path, "--weights", "reliability") == expected(weighted)
    keep = [plain.group_names[group] != "p4" for group in plain.groups]
    assert tree_of(path, "--exclude", "person=p4") == expected(plain[keep])


def test_a_session_has_one_tree(tmp_path, capsys):
    """The session, `learn`, `cluster`, `report` and `posterior` give the same nodes at the same heights."""
    truth, session = tmp_path / "truth.nwk", tmp_path / "study.ordhc"
    truth.write_text("((((a,b),(c,d)),((e,f),g)),((h,i),(j,(k,l))));")
    source = ("--oracle", "tree", "--source", truth, "--accuracy", "0.7")
    how = ("--method", "uncertain", "--budget", "50", "-q")
    paths = [tmp_path / f"{name}.json" for name in ("learn", "cluster", "report")]
    for arguments in (
        ("learn", session, *source, *how, "-o", paths[0]),
        ("cluster", session, "-o", paths[1], "-q"),
        (
            *("report", session, "--method", "posterior-al", "--compare", "adds3-al", "--no-structure"),
            *("--folds", "2", "-o", paths[2], "-q"),
        ),
    ):
        code, _, error = run(capsys, *arguments)
        assert code == 0, error
    trees = [ordhc.read_tree(path) for path in paths[:2]]
    trees.append(ordhc.as_dendrogram(json.loads(paths[2].read_text())["tree"]))
    with ordhc.Session(session) as kept:
        tree, drawn = kept.tree(), kept.analysed().posterior()
        trees += [ordhc.cluster(kept.analysed().comparisons), drawn.dendrogram]
        assert kept.tree() is tree
        # Rules change the tree, too: the oracle answers within half a second.
        kept.set_rules(seconds=0.5)
        assert kept.tree() != tree
    for other in trees:
        np.testing.assert_array_equal(other.parents, tree.parents)
        np.testing.assert_array_equal(other.heights, tree.heights)
        assert other.labels == tree.labels
    np.testing.assert_array_equal(tree.support, drawn.support)
    assert tree.settings["method"] == "posterior-al"
    # The tree with lengths is the same one.
    np.testing.assert_array_equal(drawn.tree.parents, tree.parents)


def test_a_session_without_answers_has_a_tree(tmp_path):
    with ordhc.Session(tmp_path / "empty.ordhc", n_leaves=5, method="uncertain") as session:
        assert session.tree().n_leaves == 5


def test_compare_reads_a_session(path, capsys):
    found = json.loads(run(capsys, "compare", path, "--method", "adds3-al", "--json", "-q")[1])
    assert found["best"] == "adds3-al"


def test_whole_answers_may_choose_the_method(path, tmp_path, capsys):
    methods = ("adds3-al", "mulk3-al")
    named = [part for method in methods for part in ("--method", method)]
    found = json.loads(run(capsys, "compare", path, *named, "--by", "answers", "--json", "-q")[1])
    assert found["by"] == "answers"
    assert found["candidates"][0]["answers"] == max(each["answers"] for each in found["candidates"])
    out = tmp_path / "r.html"
    compared = [part for method in methods for part in ("--compare", method)]
    how = ("--by", "answers", "--resamples", "5", "--no-structure", "-q")
    code, _, error = run(capsys, "report", path, *compared, *how, "-o", out)
    assert code == 0, error
    assert json.loads(out.with_suffix(".json").read_text())["method"]["selection"]["by"] == "answers"
    assert "the best held-out share of whole answers predicted in" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--kind", "pairs"], "--kind is for tables"),
        (["--person", "who"], "--person is for tables"),
        (["--weights", "count"], "--weights reliability"),
        (["--exclude", "status=bad"], "--exclude person=NAME"),
        (["--exclude", "person=zed"], "no person called 'zed'"),
    ],
)
def test_what_sessions_do_not_need(path, capsys, arguments, told):
    code, _, error = run(capsys, "cluster", path, *arguments)
    assert code == 2
    assert told in error


def test_salmon_without_a_loser(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("head,left,right,winner,puid\na,b,c,b,ann\nb,c,a,a,bob\n")
    found = ordhc.read_answers(file, format="salmon")
    assert [tuple(found.names[leaf] for leaf in row) for row in found] == [("a", "b", "c"), ("b", "a", "c")]
    assert found.group_names == ("ann", "bob")


def test_items_are_added_and_retired(tmp_path, capsys):
    (tmp_path / "truth.nwk").write_text("((cat,(dog,wolf)),((car,bus),bike));")
    (tmp_path / "more.txt").write_text("wolf\nbike\n")
    file, learn = tmp_path / "a.ordhc", ("learn", tmp_path / "a.ordhc", "--oracle", "tree")
    learn = (*learn, "--source", tmp_path / "truth.nwk", "-o", "-", "-q")
    ordhc.Session(file, ["cat", "dog", "car", "bus", "old"]).close()
    code, out, _ = run(capsys, "session", "retire", file, "old")
    assert code == 0
    assert out.startswith("retired  old\n0 answers, 2 of 4 leaves")
    # The oracle does not know the retired item.
    assert ordhc.metrics.robinson_foulds(run(capsys, *learn)[1], "((bus,car),(cat,dog));") == 0
    code, out, _ = run(capsys, "session", "add", file, "--items", tmp_path / "more.txt")
    assert code == 0
    assert out.startswith("added    wolf, bike\n")
    assert "4 of 6 leaves, about" in out
    tree = run(capsys, *learn)[1]
    assert ordhc.metrics.robinson_foulds(tree, "((bike,(bus,car)),(cat,(dog,wolf)));") == 0
    out = run(capsys, "session", "info", file)[1]
    assert "6 of 6 leaves, done" in out
    assert "old: retired 20" in out
    assert "wolf: added 20" in out
    found = json.loads(run(capsys, "session", "info", file, "--json")[1])
    assert found["n_leaves"] == found["n_placed"] == 6
    assert [item["name"] for item in found["items"]] == ["old", "wolf", "bike"]
    assert run(capsys, "session", "about", file, "wolf")[0] == 0
    tree = run(capsys, "cluster", file, "-o", "-", "-q")[1]
    assert "wolf" in tree
    assert "old" not in tree
    for arguments, why in [
        (("add", file), "no items: give names, or --items FILE"),
        (("add", file, "cat"), "has an item 'cat' already"),
        (("add", file, "old"), "was retired"),
        (("retire", file, "wolff"), "wolf"),
        (("add", tmp_path / "b.ordhc", "x"), "there is no such session"),
    ]:
        code, _, err = run(capsys, "session", *arguments)
        assert (code, why in err) == (2, True), err
