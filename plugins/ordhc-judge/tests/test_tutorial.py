"""The tutorial of docs/judge.md does what it says."""

import re
from pathlib import Path

import ordhc_judge
import pytest
from ordhc_judge.examples import taxonomy

import ordhc

GUIDE = Path(__file__).parents[3] / "docs" / "judge.md"
TEXT = GUIDE.read_text(encoding="utf-8") if GUIDE.exists() else ""
pytestmark = pytest.mark.skipif(not TEXT, reason="the documents of the repository")


@pytest.mark.slow
def test_the_code_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) >= 8
    known = {}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), known)
    out = capsys.readouterr().out
    assert "calls      3,252" in out
    assert "give a learner" in out
    truth = ordhc.Dendrogram.from_newick(taxonomy())
    assert ordhc.metrics.triplet_distance(known["start"], truth) > 0.4
    assert ordhc.metrics.triplet_distance(known["revised"], truth) < 0.1
    assert ordhc.metrics.triplet_distance(known["tree"], truth) < 0.01
    names = {node.name for node in known["named"].root.children}
    assert names <= {node.name for node in truth.nodes()}
    assert len(names & {"Cards", "Transfers", "Account", "App", "Loans"}) >= 4
    assert max(known["server"].prompts.values()) <= 2
    for file in ("intents.html", "intents.svg", "intents.nwk"):
        assert "Transfers" in Path(file).read_text(encoding="utf-8")


def test_the_prompt_is_shown_as_it_is():
    shown = re.search(r"```text\n(.*?)```", TEXT, re.DOTALL).group(1)
    assert shown.strip() == ordhc_judge.DEFAULT_TEMPLATE


def test_the_numbers_of_faults_are_those_of_the_code():
    from ordhc_judge import asker, client

    assert f"{client._FIRST_WAIT:g}, 1, 2, ... {client._LONGEST_WAIT:g} seconds" in TEXT
    assert f"or {asker._GIVE_UP} prompts in a row fail" in TEXT
