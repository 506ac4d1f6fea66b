"""Settings files: `--config` gives options by the words of the command line."""

import json
from pathlib import Path

import pytest

import ordhc
from support.processes import run


def with_settings(capsys, text, *arguments):
    """Run `ordhc cluster a.csv` with a settings file of this text."""
    Path("settings.toml").write_text(text, encoding="utf-8")
    return run(capsys, "cluster", "a.csv", "--config", "settings.toml", *arguments)


def test_general_settings_and_those_of_a_command(answers, capsys):
    text = """
    method = "mulk3-al"
    kind = "triplet"
    folds = 3                     # compare has it, cluster does not

    [cluster]
    n-clusters = 2
    json = true
    output = ["one.nwk", "two.json"]
    [cluster.param]
    normalize = false
    [report]
    title = "Not for this command"
    """
    code, out, err = with_settings(capsys, text)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert len(set(found["labels"])) == 2
    assert found["tree"]["settings"]["similarity"] == "mulk3"
    assert found["tree"]["settings"]["similarity_parameters"]["normalize"] is False
    assert (answers / "one.nwk").exists()
    assert (answers / "two.json").exists()


def test_a_table_counts_more_than_the_file_and_the_line_more_than_both(answers, capsys):
    text = 'method = "mulk3-al"\njson = true\n[cluster]\nmethod = "adds3-al"\n'
    _, out, _ = with_settings(capsys, text)
    assert json.loads(out)["tree"]["settings"]["similarity"] == "adds3"
    _, out, _ = with_settings(capsys, text, "--method", "3-al")
    assert json.loads(out)["tree"]["settings"]["linkage"] == "3-al"


def test_flags_with_two_words_can_be_false(answers, capsys):
    (answers / "a.csv").write_text("0,1,2\n1,0,2\n")
    code, _, err = with_settings(capsys, "header = false\n")
    assert (code, err) == (0, "")


def test_the_same_words_give_the_same_result(answers, capsys):
    _, typed, _ = run(capsys, "cluster", "a.csv", "--json", "--method", "adds3-al", "--seed", "3")
    _, read, _ = with_settings(capsys, 'json = true\nmethod = "adds3-al"\nseed = 3\n')
    assert typed == read


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('methodd = "3-al"', "the name 'methodd' is unknown; nearest: 'method'"),
        ("[clutser]\nseed = 1", "no command or option is called 'clutser'; nearest: 'cluster'"),
        ("[cluster]\nfolds = 3", "[cluster]: the name 'folds' is unknown"),
        ("[cluster]\nn-clusters = 'two'", "n-clusters = 'two': 'two' is not a valid integer."),
        ("kind = 'triplett'", "kind = 'triplett': 'triplett' is not one of"),
        ("kind = ['triplet']", "kind is a list, but --kind takes one value"),
        ("json = 1", "json = 1: must be true or false"),
        ("output = [['a']]", "output = [['a']]: must be texts or numbers"),
        ("config = 'other.toml'", "the name 'config' is unknown"),
        ("seed = x\n", "is not TOML: Invalid value (at line 1, column 8)"),
    ],
)
def test_errors_name_the_file_and_the_key(answers, capsys, text, told):
    code, out, err = with_settings(capsys, text)
    assert (code, out) == (2, "")
    assert err.startswith("ordhc: settings.toml: ")
    assert told in err


def test_a_file_that_is_not_there(answers, capsys):
    code, _, err = run(capsys, "cluster", "a.csv", "--config", "nowhere.toml")
    assert code == 2
    assert err == "ordhc: nowhere.toml: there is no such file\n"


@pytest.mark.parametrize("named", ["structure", "consensus"])
def test_a_command_that_is_called_like_an_option_has_its_table(answers, capsys, named):
    # `report --structure` and `cluster --consensus` are options, and there are commands of these names.
    (answers / "settings.toml").write_text(f"[{named}]\nnot-there = 1\n")
    code, _, err = run(capsys, named, "a.csv", "--config", "settings.toml")
    assert (code, err) == (2, f"ordhc: settings.toml: [{named}]: the name 'not-there' is unknown\n")
    (answers / "settings.toml").write_text(f"[{named}]\nquiet = true\n")
    for command in ("cluster", "report"):
        code, _, err = run(capsys, command, "a.csv", "--config", "settings.toml", "--kind", "none")
        assert code == 2
        assert "settings.toml" not in err


def test_commands_in_groups_have_tables_in_tables(answers, capsys):
    with ordhc.Session("s.ordhc", names=["cat", "dog", "car"]):
        pass
    (answers / "settings.toml").write_text("[session]\n[session.info]\njson = true\n")
    code, out, err = run(capsys, "session", "info", "s.ordhc", "--config", "settings.toml")
    assert (code, err) == (0, "")
    assert json.loads(out)
