"""Commands that read answers read sessions, too."""

import json

import pytest

import ordhc
from support.processes import run


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "study.ordhc"
    with ordhc.Session(path, names=[f"n{k}" for k in range(10)]) as session:
        for k in range(200):
            who = f"p{k % 5}"
            questions = session.pose("heldout" if k % 6 == 0 else "random", who=who)
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


def test_compare_reads_a_session(path, capsys):
    found = json.loads(run(capsys, "compare", path, "--method", "adds3-al", "--json", "-q")[1])
    assert found["best"] == "adds3-al"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--kind", "pairs"], "--kind is for tables"),
        (["--person", "who"], "--person is for tables"),
        (["--weights", "count"], "--weights reliability"),
        (["--exclude", "status=bad"], "--exclude person=NAME"),
        (["--exclude", "person=zed"], "nobody called 'zed'"),
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
