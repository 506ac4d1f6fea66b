"""What the documents show works as shown; what they name exists."""

import re
from pathlib import Path

import numpy as np
import pytest

import ordhc

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md", "docs/coming-from.md", "docs/report.md"])
def test_python_blocks_run(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
    assert blocks
    scope = {}
    for block in blocks:
        exec(compile(block, name, "exec"), scope)
    assert capsys.readouterr().out


def test_printed_results_of_the_readme(capsys):
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    exec(compile(block, "README.md", "exec"), {})
    said = re.findall(r"^print.*?#\s*(?:[a-z ]+: )?(.*)$", block, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said


def test_the_rust_of_the_readme_is_the_example():
    block = re.search(r"```rust\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    example = (ROOT / "rust/ordhc/examples/triplets.rs").read_text()
    assert block in example


def test_links_lead_somewhere():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")]
    assert len(documents) > 5
    for document in documents:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if not target.startswith(("http://", "https://")):
                assert (document.parent / target).exists(), f"{document}: {target}"


def test_make_targets_named_in_documents_exist():
    makefile = (ROOT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`?make ([a-z]+)", (ROOT / document).read_text()):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_what_contradictions_and_weights_do():
    """The table of the guide, row by row."""
    guide = (ROOT / "docs/guide.md").read_text()
    rows = re.findall(
        r"^\| (`.*?) \| (.*?) \| (another tree|the same tree|as good a tree).*\|$", guide, re.MULTILINE
    )
    said = {name: row[1:] for row in rows for name in re.findall(r"`([a-z0-9]+-?[a-z]*)`", row[0])}
    methods = ["adds3-al", "adds4-al", "3-al", "4-al", "mulk4-al", "mulk3-al", "4k-al", "consistency"]
    assert set(said) == {*methods, "build"}
    n = 9
    rng = np.random.default_rng(3)
    some = np.array([rng.permutation(n)[:3] for _ in range(60)])
    both = np.array([rng.permutation(n)[:3] for _ in range(40)])
    rows = np.concatenate([some, both, both[:, [0, 2, 1]]])
    for method in methods:
        cancels, twice = said[method]
        tree = ordhc.cluster(ordhc.Triplets(some, n), method=method)
        contradicted = ordhc.cluster(ordhc.Triplets(rows, n), method=method)
        assert (tree == contradicted) == (cancels == "cancel"), method
        heavy = ordhc.Triplets(some, n, weights=np.full(len(some), 64.0))
        heavy = ordhc.cluster(heavy, method=method)
        if twice == "as good a tree":
            shares = [
                float(ordhc.score(found, ordhc.Triplets(some, n), "satisfied")) for found in (tree, heavy)
            ]
            assert shares[0] == shares[1]
            continue
        same = tree.to_newick(branch_lengths=False) == heavy.to_newick(branch_lengths=False)
        assert same == (twice == "the same tree"), method
    plain, contradicted = (
        ordhc.similarity(ordhc.Triplets(answers, n), "mulk3", normalize=False) for answers in (some, rows)
    )
    assert np.array_equal(plain, contradicted)
    with pytest.raises(ordhc.InputError, match="no tree satisfies"):
        ordhc.cluster(ordhc.Triplets(rows, n), method="build")
