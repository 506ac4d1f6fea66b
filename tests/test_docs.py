"""What the documents show works as shown; what they name exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md", "docs/coming-from.md"])
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
