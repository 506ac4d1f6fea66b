"""What docs/plugins.md says is so."""

import dataclasses
from pathlib import Path

from click.testing import CliRunner

import ordhc
from ordhc import hooks, specs, testing
from ordhc.cli import group
from support.plugins import rows_of
from support.sessions import answers_of

GUIDE = Path(__file__).parents[2] / "docs" / "plugins.md"


def test_the_guide_names_hooks_fields_and_variables():
    text = GUIDE.read_text(encoding="utf-8")
    names = [name for name in vars(hooks) if name.startswith("ordhc_")]
    assert len(names) == 6
    for name in specs.__all__:
        cls = getattr(specs, name)
        if name != "Spec":
            names.append(name)
        names.extend(field.name for field in dataclasses.fields(cls))
    names += ["ORDHC_PLUGINS", "ORDHC_STRICT"]
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing


def test_the_guide_has_a_plugin_that_works(install):
    text = GUIDE.read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    plugins = [block for block in blocks if "@hookimpl" in block]
    assert plugins
    for at, block in enumerate(plugins):
        install(f"guide-{at}", block)
        assert {row.status for row in rows_of(f"guide-{at}")} == {"ok"}
        for row in rows_of(f"guide-{at}"):
            if row.kind == "linkage":
                testing.check_linkage(row.name)
            elif row.kind == "similarity":
                testing.check_similarity(row.name)
            elif row.kind == "metric":
                testing.check_metric(row.name)
            elif row.kind == "oracle":
                testing.check_oracle(row.name, ["tea", "eat", "ten", "onion", "noon"])


def test_the_oracle_of_the_guide_answers_everywhere(install, tmp_path, monkeypatch):
    blocks = GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]
    install("letters", next(block.split("```")[0] for block in blocks if "OracleSpec(" in block))
    words = ["tea", "eat", "ten", "onion", "noon"]
    tree = ordhc.learn(ordhc.oracles.named("letters", words, ignore_case=False))
    assert tree.names == tuple(words)
    assert ("tea", "eat") in {tuple(sorted(pair, reverse=True)) for pair in cherries(tree)}
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("\n".join(words), encoding="utf-8")
    asked = ["learn", "--oracle", "letters", "--source", "words.txt", "--param", "ignore_case=false"]
    for session in ([], ["words.ordhc"], ["words.ordhc"]):
        done = CliRunner().invoke(group, [*asked, *session, "-o", "tree.nwk"])
        assert done.exit_code == 0, done.output
        assert ordhc.metrics.robinson_foulds(ordhc.read_tree("tree.nwk"), tree) == 0
    assert "letters" in CliRunner().invoke(group, ["plugins"]).output
    with ordhc.Session("words.ordhc") as kept:
        assert set(answers_of(kept)[2]) == {"letters"}


def cherries(tree):
    """The pairs of leaves that merge with each other, by name."""
    return [tuple(tree.names[leaf] for leaf in pair) for pair in tree.merges if max(pair) < tree.n_leaves]
