"""Commands that read and write many trees, and NEXUS."""

import sys

import pytest

import ordhc
from ordhc.cli import main

pytest.importorskip("dendropy")

NEXUS = """#NEXUS
begin trees;
tree a = [&R] ((a:1,b:1)[&posterior=0.9]:1,'c d':2);
tree b = [&R] ((a:1,b:1)[&posterior=0.8]:2,'c d':3);
tree c = [&R] ((a:1,'c d':1):2,b:3);
end;
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.nex").write_text(NEXUS)
    (tmp_path / "p.trees").write_text(NEXUS)

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return call


def test_nexus_to_newick_and_back(run):
    assert run("convert", "p.nex", "p.nwk")[0] == 0
    assert ordhc.read_trees("p.nwk") == ordhc.read_trees("p.nex") == ordhc.read_trees("p.trees")
    assert run("convert", "p.nwk", "q.nex")[0] == run("convert", "p.trees", "q.json.gz")[0] == 0
    assert ordhc.read_trees("q.nex") == ordhc.read_trees("q.json.gz") == ordhc.read_trees("p.nex")
    code, _, err = run("convert", "p.nex", "p.csv")
    assert (code, err) == (2, "ordhc: SciPy's Z stores one tree, not 3: write .nwk, .nex or .json\n")
    code, _, err = run("convert", "p.nex", "p.nexml")
    assert (code, err) == (2, "ordhc: p.nexml: nexml is read, but not written: write .nex or .nwk\n")


def test_underscores_are_kept_on_request(run, tmp_path):
    (tmp_path / "u.nwk").write_text("(a_b,c);")
    assert run("convert", "u.nwk", "blank.json")[0] == 0
    assert run("convert", "--preserve-underscores", "u.nwk", "kept.json")[0] == 0
    assert list(ordhc.read_tree("blank.json").labels) == ["a b", "c"]
    assert list(ordhc.read_tree("kept.json").labels) == ["a_b", "c"]


def test_nodes_of_little_support_are_left_out(run, tmp_path):
    (tmp_path / "s.nwk").write_text("(((a:1,b:1)30:1,c:2)80:1,d:3);")
    assert run("convert", "s.nwk", "t.nwk", "--min-support", "0.5")[0] == 0
    assert (tmp_path / "t.nwk").read_text().strip() == "((a:2,b:2,c:2)80:1,d:3);"
    code, _, err = run("convert", "p.nex", "t.nwk", "--min-support", "2")
    assert (code, "--min-support" in err) == (2, True)
    (tmp_path / "answers.csv").write_text("anchor,near,far\na,b,c\n")
    code, _, err = run("convert", "answers.csv", "t.npz", "--min-support", "0.5")
    assert (code, "--min-support is for trees" in err) == (2, True)


def test_consensus(run):
    assert run("consensus", "p.nex", "-o", "c.nwk", "-q")[0] == 0
    assert ordhc.read_tree("c.nwk").to_newick(branch_lengths=False).startswith("('c d',(a,b)66.6")
    code, out, _ = run("consensus", "p.trees", "--threshold", "1")
    assert (code, out.count("(")) == (0, 1)
    for arguments, part in [
        (("p.nex", "--threshold", "0.3"), "0.5"),
        (("p.nex", "-o", "p.nex"), "is an input"),
        (("p.nex", "-o", "p.xyz"), "the ending is none of"),
        (("q.nex",), "there is no such file"),
    ]:
        code, _, err = run("consensus", *arguments)
        assert code == 2
        assert part in err


def test_scores_beside_nexus(run):
    run("consensus", "p.nex", "-o", "c.nex")
    ordhc.write_tree(ordhc.Dendrogram.from_newick("((a,'c d'),b);"), "t.nwk")
    code, out, _ = run("score", "t.nwk", "c.nex", "--metric", "triplet_distance", "-q")
    assert (code, out) == (0, "triplet_distance  1.0\n")
    code, _, err = run("score", "t.nwk", "p.nex", "--metric", "triplet_distance", "-q")
    assert code == 2
    assert (
        "p.nex: has 3 trees: read them with ordhc.read_trees, or make one tree with `ordhc consensus`" in err
    )


def test_without_dendropy(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "dendropy", None)
    code, _, err = run("convert", "p.nex", "p.nwk")
    assert (code, err) == (2, 'ordhc: a NEXUS file needs DendroPy: pip install "ordhc[trees]"\n')
