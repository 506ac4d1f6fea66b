"""What the documents show works as shown; what they name exists."""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import click
import numpy as np
import pytest

import ordhc
from ordhc.cli import group
from ordhc.errors import InputError
from support.few_rounds import with_few_priors, with_few_rounds, with_few_sweeps

ROOT = Path(__file__).parents[2]
SITE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Documentation"]


#: Pages whose code is tried elsewhere, or needs what isn't there.
ELSEWHERE = {"docs/judge.md", "docs/plugins.md", "docs/scale.md"}
#: Pages whose code takes up to half a minute with all answers about cars.
LONG = {
    "docs/explanation/is-it-a-tree.md",
    "docs/howto/do-people-agree.md",
    "docs/howto/figures.md",
    "docs/howto/is-it-a-tree.md",
    "docs/howto/typical-items.md",
    "docs/report.md",
}


def documents():
    """The documents that are kept, without what is made of the code."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in listed.stdout.split() if (ROOT / name).exists())


def with_code():
    """Documents that show Python."""
    pages = (name for name in documents() if name == "README.md" or name.startswith("docs/"))
    return [name for name in pages if "```python\n" in (ROOT / name).read_text() and name not in ELSEWHERE]


def test_pages_show_code():
    assert {"README.md", "docs/guide.md", "docs/start.md", "docs/howto/compare-groups.md"} <= set(with_code())


def fewer_people():
    """The data about cars, with the answers of 15 of 146 people: examples take a fifth of the time."""
    cars = ordhc.datasets.load_car()
    return ordhc.datasets.Dataset({**cars, "triplets": cars.triplets[cars.triplets.groups < 15]})


@pytest.mark.filterwarnings("ignore:data.json. 1 of 4 rows are left out")
@pytest.mark.parametrize("name", with_code())
def test_python_blocks_run(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in {*LONG, "docs/guide.md"}:
        # These pages show the sizes of results only.
        with_few_rounds(monkeypatch)
        with_few_sweeps(monkeypatch)
        with_few_priors(monkeypatch)
    if name in LONG:
        cars = fewer_people()
        monkeypatch.setattr(ordhc.datasets, "load_car", lambda: cars)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
    assert blocks
    scope = {}
    for block in blocks:
        exec(compile(block, name, "exec"), scope)
    out = capsys.readouterr().out
    assert out
    # What a comment behind a print shows as it stands is what was printed.
    for shown in re.findall(r"^print\(.*\) +# (<.*>|\(.*\);)$", "\n".join(blocks), re.MULTILINE):
        assert shown in out, shown


def test_printed_results_of_the_readme(capsys):
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    exec(compile(block, "README.md", "exec"), {})
    said = re.findall(r"^print.*?#\s*(?:[a-z ]+: )?(.*)$", block, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said


def test_the_rust_of_the_readme_is_the_example():
    block = re.search(r"```rust\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    example = (ROOT / "rust/ordhc/examples/triplets.rs").read_text()
    assert block in example


def test_the_rust_of_the_tutorial_is_that_of_the_crate():
    block = re.search(r"```rust\n(.*?)```", (ROOT / "docs/tutorials/rust.md").read_text(), re.DOTALL)[1]
    tested = (ROOT / "rust/ordhc/README.md").read_text().splitlines()
    assert [line for line in tested if line and line in block.splitlines()] == list(
        filter(None, block.splitlines())
    )


def test_decisions_have_a_status():
    index = (ROOT / "docs/explanation/decisions.md").read_text()
    listed = re.findall(
        r"^\| \[(.*)\]\(\.\./decisions/(.*)\) \| ((?:partly )?\w+).* \|$", index, re.MULTILINE
    )
    found = []
    for page in sorted((ROOT / "docs/decisions").glob("*.md")):
        title, _, line = page.read_text().splitlines()[:3]
        status = re.match(r"Status: (holds|partly overruled|overruled)\b", line)
        assert status, f"{page.name} has no status under its title"
        found.append((title.removeprefix("# "), page.name, status[1]))
    assert found == listed


def commands_shown():
    """(document, words) of the commands that documents show."""
    for name in documents():
        for block in re.findall(r"```console\n(.*?)```", (ROOT / name).read_text(), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("$ ordhc "):
                    yield name, shlex.split(line[2:], comments=True)


def test_commands_and_options_that_are_shown_exist():
    seen = set()
    for name, words in commands_shown():
        command, rest = group, words[1:]
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            found = command.get_command(click.Context(command), rest[0])
            if found is None:
                break
            command, rest = found, rest[1:]
        if command is group:
            assert rest[:1] in (["depth"], ["COMMAND"], ["NAME"], []) or rest[0].startswith("-"), (
                name,
                words,
            )
            continue
        known = {opt for parameter in command.params for opt in (*parameter.opts, *parameter.secondary_opts)}
        known |= {"--help", "-h"}
        for word in rest:
            if re.match(r"--?[a-z]", word):
                assert word.partition("=")[0] in known, (name, words)
        seen.add(command.name)
    assert {"cluster", "report", "learn", "plan", "collect", "audit"} <= seen


def test_links_lead_somewhere():
    assert len(documents()) > 5
    for name in documents():
        document = ROOT / name
        if "demo/template" in str(name):
            # Pages of a study, which --init writes beside the pictures.
            continue
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            # Nobody has put up the site: links are paths, which work in a clone.
            assert not target.startswith(SITE), f"{document}: {target}"
            if not target.startswith(("http://", "https://")):
                # Pages that are made of code have no file here; building the site looks at links to them.
                made = "docs/gallery", "docs/tutorials/pages"
                if not str((document.parent / target).resolve().relative_to(ROOT)).startswith(made):
                    assert (document.parent / target).exists(), f"{document}: {target}"


def test_the_readme_is_short_and_leads_to_files():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 100
    links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)]+)\)", text)
    assert len(links) > 10
    # What is made of code is not in a clone.
    assert all((ROOT / link.partition("#")[0]).exists() for link in links), links


def test_make_targets_named_in_documents_exist():
    makefile = (ROOT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`?make ([a-z-]+)", (ROOT / document).read_text()):
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
    with pytest.raises(InputError, match="no tree satisfies"):
        ordhc.cluster(ordhc.Triplets(rows, n), method="build")
