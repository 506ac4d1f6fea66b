"""Commands for taxonomists: trees of matrices and vectors, pictures of trees, many files, underscores."""

import json

import numpy as np
import pandas as pd
import pytest

import ordhc
from support.processes import run

NAMES = ["Homo_sapiens", "Pan_paniscus", "Mus", "Rattus"]
D = np.array([[0, 1, 5, 4.5], [1, 0, 6, 4], [5, 6, 0, 0.25], [4.5, 4, 0.25, 0]])
TREE = "((Homo_sapiens:1,Pan_paniscus:1):2,(Mus:1,Rattus:1):2);"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(D, index=NAMES, columns=NAMES)
    frame.to_csv("d.csv")
    (9 - frame).to_parquet("s.parquet")
    np.save("d.npy", D)
    frame.iloc[:, :2].to_csv("x.csv")
    (tmp_path / "t.nwk").write_text(TREE)
    (tmp_path / "a.csv").write_text(
        "anchor,near,far\nHomo_sapiens,Pan_paniscus,Mus\nMus,Rattus,Homo_sapiens\n"
    )
    return tmp_path


@pytest.mark.parametrize("linkage", ["single", "average", "ward"])
def test_trees_of_numbers_are_those_of_python(files, capsys, linkage):
    frame = pd.read_csv("d.csv", index_col=0)
    for arguments, expected in [
        (["--distances", "d.csv"], ordhc.linkage(frame, linkage, dissimilarity=True)),
        (["d.npy", "--distances"], ordhc.linkage(D, linkage, dissimilarity=True)),
        (["--similarities", "s.parquet"], ordhc.linkage(9 - frame, linkage, dissimilarity=False)),
        (
            ["--vectors", "x.csv", "--similarity", "euclidean"],
            ordhc.cluster(pd.read_csv("x.csv", index_col=0), similarity="euclidean", linkage=linkage),
        ),
    ]:
        code, out, err = run(
            capsys, "cluster", *arguments, "--linkage", linkage, "-o", "o.json", "--n-clusters", "2"
        )
        assert (code, err) == (0, "")
        assert "4 leaves, from " in out
        assert f"{linkage} linkage" in out
        assert ordhc.read_tree("o.json") == expected


def test_numbers_as_json_with_names_and_initial_clusters(files, capsys):
    (files / "names.txt").write_text("a\nb\nc\nd\n")
    (files / "start.csv").write_text("leaf,cluster\n0,x\n3,x\n")
    code, out, _ = run(
        capsys, "cluster", "--distances", "d.npy", "--names", "names.txt", "--initial", "start.csv",
        "--linkage", "single", "--labels", "l.csv", "--n-clusters", "2", "--json",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert (found["kind"], found["n_leaves"], found["linkage"]) == ("distances", 4, "single")
    assert found["tree"]["names"] == ["a", "b", "c", "d"]
    expected = ordhc.linkage(D, "single", dissimilarity=True, initial_clusters=[0, 1, 2, 0])
    assert ordhc.as_dendrogram(found["tree"]).merges.tolist() == expected.merges.tolist()


def test_the_command_line_scores_by_a_matrix_with_names(files, capsys):
    moved = pd.read_csv("d.csv", index_col=0).iloc[[3, 1, 0, 2], [3, 1, 0, 2]]
    moved.to_csv("moved.csv")
    assert run(capsys, "cluster", "--distances", "d.csv", "-o", "o.nwk", "-q")[0] == 0
    expected = ordhc.metrics.cophenetic_correlation(ordhc.linkage(D, dissimilarity=True), D)
    for reference in ("d.csv", "moved.csv"):
        code, out, _ = run(
            capsys, "score", "o.nwk", reference, "--metric", "cophenetic_correlation", "--json"
        )
        assert code == 0
        assert json.loads(out)["score"] == pytest.approx(expected)


def test_pictures_of_files(files, capsys):
    code, out, _ = run(
        capsys, "plot", "t.nwk", "-o", "t.svg", "-o", "t.html", "-o", "t.png", "--title", "Mammals"
    )
    assert (code, out.count("wrote")) == (0, 3)
    assert b"Homo sapiens" in (files / "t.svg").read_bytes()
    run(capsys, "plot", "t.nwk", "-o", "k.svg", "--preserve-underscores", "--layout", "circular", "-q")
    assert b"Homo_sapiens" in (files / "k.svg").read_bytes()
    code, _, err = run(capsys, "plot", "t.nwk", "-o", "t.svg", "--param", "orientaton=top")
    assert (code, "nearest: 'orientation'" in err) == (2, True)
    code, _, err = run(capsys, "plot", "t.nwk", "-o", "t.html", "--layout", "circular")
    assert (code, "is an option of svg, png and pdf" in err) == (2, True)
    code, _, err = run(capsys, "plot", "t.nwk", "-o", "t.nwk.svg", "-o", "none/t.svg")
    assert (code, "none" in err) == (2, True)


def test_consensus_of_many_files(files, capsys):
    (files / "one.nwk").write_text("((a,c),b);((a,b),c);((a,b),c);")
    (files / "two.nwk").write_text("((a,c),b);((a,c),b);")
    code, out, _ = run(capsys, "consensus", "one.nwk", "two.nwk")
    assert (code, out) == (0, "(b,(a,c)60)100;\n")
    code, out, _ = run(capsys, "consensus", "one.nwk", "two.nwk", "--burn-in", "1")
    assert (code, out) == (0, "(c,(a,b)66.66666666666666)100;\n")


def test_underscores_are_blanks_in_every_command(files, capsys):
    (files / "labels.csv").write_text("name,order\nHomo_sapiens,p\nPan paniscus,p\nMus,r\nRattus,r\n")
    (files / "u.nwk").write_text("((Homo_sapiens,'Pan_paniscus'),(Mus,Rattus));")
    for switch in ([], ["--preserve-underscores"]):
        for arguments in (
            ["a.csv"],
            ["d.csv", "--metric", "cophenetic_correlation"],
            ["labels.csv", "--metric", "aari", "--labels", "order"],
            ["u.nwk", "--metric", "robinson_foulds"],
        ):
            code, _, err = run(capsys, "score", "t.nwk", *arguments, *switch)
            assert (code, "unknown" in err) == (0, False), (arguments, err)
    code, out, _ = run(capsys, "consensus", "t.nwk", "u.nwk")
    assert (code, out.count("100")) == (0, 3)


def test_vectors_are_merged_along_their_neighbours(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(2_100, 2))
    np.save("x.npy", X)
    settings = ("cluster", "--vectors", "x.npy", "--similarity", "euclidean", "--linkage", "ward")
    assert run(capsys, *settings, "--neighbors", "3", "-o", "few.json", "-q")[0] == 0
    expected = ordhc.cluster(ordhc.Vectors(X, neighbors=3), similarity="euclidean", linkage="ward")
    assert ordhc.read_tree("few.json") == expected
    assert run(capsys, *settings, "-o", "all.json", "-q")[0] == 0
    assert ordhc.read_tree("all.json") != expected


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--vectors", "x.csv", "--similarity", "euclidean", "--neighbors", "0"], "--neighbors 0 is below 1"),
        (["--distances", "d.csv", "--neighbors", "3"], "--neighbors is for --vectors"),
        (["a.csv", "--neighbors", "3"], "--neighbors is for --vectors"),
    ],
)
def test_neighbours_are_only_for_vectors(files, capsys, arguments, text):
    code, _, err = run(capsys, "cluster", *arguments)
    assert code == 2
    assert text in err
