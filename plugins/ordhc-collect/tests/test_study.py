"""Study files: what they say, and what is wrong with them."""

import sqlite3
from itertools import permutations

import pytest
from ordhc_collect.demo import DEMO
from ordhc_collect.study.reading import read_study, study_or_problems
from studies import Client, Server, admin, make_study, title_of

from ordhc.errors import InputError
from support.processes import command_here, command_line

PNG = b"\x89PNG\r\n\x1a\n..."


def problems_of(tmp_path, **options):
    _, problems = study_or_problems(make_study(tmp_path, **options))
    return problems.errors


def collect(*arguments):
    return command_here("collect", *arguments)


def test_the_demo_is_a_study():
    study, problems = study_or_problems(DEMO)
    assert problems.errors == problems.warnings == []
    assert len(study.items) == 20
    assert {tuple(item.files) for item in study.items} == {("picture",)}
    for item in study.items:
        text = item.files["picture"].read_text()
        assert text.startswith("<svg")
        assert "script" not in text
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"study": 'question = "od"'}, "[study] question = 'od': should be one of 'odd', 'triplet', 'pairs'"),
        ({"study": "titel = 1"}, "[study] titel: is not a known key; did you mean 'title'?"),
        ({"study": 'languages = ["english"]'}, "'english' is not a code"),
        ({"study": 'languages = ["xx"]'}, "there is no catalogue"),
        ({"per_person": 0}, "[trials] per_person = 0: should be a whole number from 1 to 100,000"),
        ({"n": 2}, "has 2 items; questions need at least 3"),
        ({"top": 'sampler = "lerner"'}, "there is no sampler 'lerner'; did you mean 'learner'?"),
        ({"more": "[sampler]\nrandom = -1"}, "[sampler] random = -1: should be a share"),
        ({"top": 'sampler = "list"'}, 'has "list", but there are no questions'),
        (
            {"top": 'sampler = "gold"'},
            "gold: is not a sampler: [gold] per_person is the number of gold questions",
        ),
        ({"more": "[gold]\nper_person = 3"}, "[gold]: table is missing"),
        ({"more": "[gold]\nper_person = 7"}, "[gold] per_person = 7: should be a whole number from 1 to 6"),
        ({"top": 'sampler = "repeat"'}, "nothing to repeat"),
        ({"more": '[learner]\nmethod = "nope"'}, "'nope'"),
        ({"more": "[learner]\nq = 7"}, "[learner]"),
        ({"more": '[learner]\nmethod = "single"'}, 'asks about pairs, but question = "odd"'),
        ({"top": 'sampler = "random"', "more": "[learner]\np = 0.8"}, "is not used"),
        (
            {"study": 'question = "triplet"', "more": '[learner]\nmethod = "single"'},
            'asks about pairs, but question = "triplet"',
        ),
        (
            {"study": 'question = "triplet"', "more": '[learner]\nmethod = "quick"'},
            'asks for the odd one out, but question = "triplet"',
        ),
        (
            {"study": 'question = "pairs"', "more": '[learner]\nmethod="uncertain"\nquestion="triplet"'},
            'asks about triplets, but question = "pairs"',
        ),
        ({"more": "[people]\ntotal = -3"}, "[people] total = -3: should be a whole number"),
        ({"more": '[people]\ntotal = "all"'}, "[people] total = 'all': should be a whole number"),
        ({"more": '[outcomes.done]\nurl = "javascript:x"'}, "should be an address that begins with https://"),
        (
            {"more": '[outcomes.done]\nurl = "https://x.org/{cod}"'},
            "only {code}, {id} and {person} are filled in",
        ),
        ({"more": '[outcomes.done]\nurl = "https://x.org/{code}"'}, "the code is missing"),
        ({"more": "[pay]\nper_person = 1"}, "currency is missing"),
        ({"more": '[[comprehension.questions]]\nquestion = "a"\noptions = ["x"]'}, "two texts or more"),
        (
            {"more": '[[comprehension.questions]]\nquestion = "a"\noptions = ["x", "y"]\nanswer = 3'},
            "[comprehension.questions, number 1] answer = 3: should be the number of an option, from 1 to 2",
        ),
        (
            {"more": '[[screening.questions]]\nquestion = "a"\noptions = ["x", "y"]\naccept = [1, 2]'},
            "every answer would pass",
        ),
        ({"more": '[pages]\nconsent = "nowhere.md"'}, "there is no file 'nowhere.md'"),
        ({"more": '[pages]\nconsent = "/etc/passwd"'}, "is outside of the study's folder"),
        ({"more": "[exclude]\nfailed_gold = 0.5"}, "needs gold questions"),
        (
            {"more": '[[questionnaire.before]]\nname = "practice"\nquestion = "How often?"\ntype = "text"'},
            "name = 'practice': is the name of another column",
        ),
        (
            {"more": '[people]\nparameters = ["practice"]'},
            "has 'practice', which is the name of another column",
        ),
        ({"more": "[sampeler]"}, "at the top sampeler: is not a known key; did you mean 'sampler'?"),
        ({"top": "items = 3"}, "cannot"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, options, told):
    if options.get("top") == "items = 3":
        path = tmp_path / "study.toml"
        path.write_text("items = 3\n[study]\ntitle = 'x'\n")
        assert study_or_problems(path)[1].errors[0].startswith("items: is 3, and should be a table")
        return
    errors = problems_of(tmp_path, **options)
    assert any(told in line for line in errors), errors
    assert len(errors) <= 2


def test_all_problems_are_named_at_once(tmp_path):
    path = make_study(tmp_path, study='question = "od"', per_person=-1, more="[people]\ntotal = 0")
    with pytest.raises(InputError) as error:
        read_study(path)
    assert "the study has 3 errors" in str(error.value)


def test_questions_in_tables(tmp_path):
    (tmp_path / "gold.csv").write_text(
        "a,b,c,answer\nitem00,item01,item02,item01\nitem00,item01,itm02,item00\n"
    )
    (tmp_path / "list.csv").write_text("a,b\nitem00,item01\n")
    errors = problems_of(tmp_path, more='[gold]\ntable = "gold.csv"\n[list]\ntable = "list.csv"')
    assert errors == [
        "[list] table = 'list.csv': has no column 'c'; it has a, b",
        "[gold] table = 'gold.csv', line 3: there is no item 'itm02'; did you mean 'item02'?",
    ]
    (tmp_path / "gold.csv").write_text("a,b,c,answer\nitem00,item01,item02,item01\n")
    study = read_study(make_study(tmp_path, more='[gold]\ntable = "gold.csv"'))
    assert study.gold.rows == [(0, 1, 2)]
    assert study.gold.answers == [1]
    assert study.gold.per_person == 1
    assert study.planned["gold"] == pytest.approx(1 / 6)
    assert sum(study.planned.values()) == pytest.approx(1)
    _, problems = study_or_problems(make_study(tmp_path, more='[gold]\ntable = "gold.csv"\nper_person = 2'))
    assert problems.warnings == ["[gold] per_person = 2: gold.csv has only 1"]


def test_items_of_all_kinds(tmp_path):
    folder = tmp_path / "items"
    folder.mkdir()
    for name in ("cat.png", "cat.txt", "dog.mp3", "fox.mp4", "owl.md"):
        (folder / name).write_bytes(PNG if name.endswith("png") else b"*x*")
    (folder / "bee.svg").write_text("<svg/>")
    (folder / "thing.exe").write_bytes(b"x")
    path = tmp_path / "study.toml"
    path.write_text('[study]\ntitle = "x"\n[items]\nfolder = "items"\n')
    study, problems = study_or_problems(path)
    kinds = {item.name: (sorted(item.files), item.html) for item in study.items}
    assert kinds == {
        "bee": (["picture"], None),
        "cat": (["picture"], "*x*"),
        "dog": (["sound"], None),
        "fox": (["video"], None),
        "owl": ([], "<p><em>x</em></p>\n"),
    }
    assert "thing.exe" in problems.warnings[0]


def test_pictures_that_no_browser_shows_are_named(tmp_path):
    path = make_study(tmp_path, study="captions = false")
    for name, content in (
        ("a.png", b"not a picture"),
        ("b.svg", b"<html>"),
        ("c.jpg", PNG),
        ("d.gif", b"GIF89a"),
    ):
        (tmp_path / "items" / name).write_bytes(content)
    _, problems = study_or_problems(path)
    assert problems.errors == [
        "[items] folder = 'items': a.png is not a picture that browsers can show",
        "[items] folder = 'items': b.svg is not a picture that browsers can show",
    ]


def test_pages_show_pictures_of_the_study(tmp_path, serve):
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "an example.png").write_bytes(PNG)
    (tmp_path / "outside.txt").write_text("no picture")
    (tmp_path / "how.md").write_text("![this](pics/an%20example.png) ![that](https://evil.example/x.png)")
    server = serve(more='[pages]\ninstructions = "how.md"')
    client = Client(server)
    page = client.join()
    assert '<img src="media/page/0" alt="this">' in page.text
    assert "evil" not in page.text
    found = client.get("/media/page/0")
    assert (found.status, found.headers["content-type"]) == (200, "image/png")
    for number in ("1", "-1", "x", "9" * 5000):
        assert client.get(f"/media/page/{number}").status == 404
    _, problems = study_or_problems(server.study)
    told = "the picture 'https://evil.example/x.png' is omitted: it must be a file in the study's folder"
    assert problems.warnings == [f"[pages] instructions: {told}"]
    for name, wrong in (
        ("pics/lost.png", "there is no file 'pics/lost.png'"),
        ("../x.png", "is outside of the study's folder"),
        ("outside.txt", "outside.txt is not a picture of a known kind"),
    ):
        (tmp_path / "how.md").write_text(f"![p]({name})")
        _, problems = study_or_problems(server.study)
        assert len(problems.errors) == 1
        assert wrong in problems.errors[0]


def test_items_of_a_table(tmp_path):
    (tmp_path / "p.png").write_bytes(PNG)
    (tmp_path / "items.csv").write_text("id;text;picture;alt\n1;one <b>;;\n2;;p.png;a picture\n3;;;\n")
    path = tmp_path / "study.toml"
    path.write_text('[study]\ntitle = "x"\n[items]\ntable = "items.csv"\n')
    study = read_study(path)
    assert [(item.name, item.html, item.label) for item in study.items] == [
        ("1", "one &lt;b&gt;", "one <b>"),
        ("2", None, "a picture"),
        ("3", "3", "3"),
    ]


def test_check_on_the_command_line(tmp_path):
    found = collect("--demo", "--check")
    assert found.returncode == 0
    assert "20 picture" in found.stdout
    assert "captions   people see names of items" in found.stdout
    (tmp_path / "gold.csv").write_text("a,b,c,answer\nitem00,item01,item02,item01\n")
    more = '[gold]\ntable = "gold.csv"\n[exclude]\nseconds = 0.5'
    found = collect(make_study(tmp_path, per_person=10, more=more), "--check")
    # Shares among all questions, checks included; a budget that is no limit is none.
    assert "sampler    learner 63%, heldout 9%, repeat 9%, random 9%, gold 10%" in found.stdout
    assert "budget" not in found.stdout
    assert "10 questions, about 2 minutes" in found.stdout
    assert "exclude    a median response time below 0.5 s" in found.stdout
    assert "captions" not in found.stdout
    more = '[learner]\nmethod = "robust"\np = 0.8\n[people]\ntotal = 1000'
    found = collect(make_study(tmp_path, per_person=40, more=more), "--check")
    assert "questions of 28,000 planned; later questions are drawn at random" in found.stdout
    path = make_study(tmp_path, per_person=0)
    found = collect(path, "--check")
    assert found.returncode == 2
    assert "error    [trials] per_person = 0" in found.stdout
    found = command_line("collect", path)
    assert found.returncode == 2
    assert "per_person" in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Usage"),
        (["nowhere.toml"], "there is no such file"),
        (["--demo", "x.toml"], "not both"),
        (["--demo", "--export", "a.csv"], "needs --data"),
        (["--demo", "--as", "trials"], "--as needs --export FILE"),
        (["--demo", "--check", "--export", "a.csv"], "cannot be combined"),
        (["--demo", "--data", "nowhere.ordhc", "--export", "a.csv"], "there is no such session"),
        (["--demo", "--simulate", "2", "--crowd", "half"], "is not SHARE:ACCURACY"),
    ],
)
def test_what_cannot_be_done(arguments, told):
    found = collect(*arguments)
    assert found.returncode == 2
    assert told in found.stdout + found.stderr
    assert "Traceback" not in found.stderr


def test_bots_tell_what_a_study_will_be_like(tmp_path):
    path = make_study(tmp_path, 9, per_person=8, more='[pay]\nper_person = 2\ncurrency = "EUR"\nfee = 0.5')
    found = collect(path, "--simulate", 6, "--accuracy", 1)
    assert found.returncode == 0, found.stderr
    assert "6 bots finished, with 48 answers about 9 items" in found.stdout
    assert "12.00 EUR, 18.00 with the platform's fee" in found.stdout
    assert "0 errors" in found.stdout
    assert "left out   nobody: there are no rules in [exclude]" in found.stdout
    assert "learner    70% planned" in found.stdout
    # The study's own file is left alone.
    assert not path.with_suffix(".ordhc").exists()


GOLD = "a,b,c,answer\nitem00,item01,item02,item01\nitem03,item04,item05,item05\nitem06,item07,item08,item06\n"
RULES = '[gold]\ntable = "gold.csv"\n[exclude]\nfailed_gold = 0.5'


@pytest.mark.parametrize(
    ("crowd", "told"),
    [("1:1", "left out   0 of 8 people\n"), ("1:0", "left out   8 of 8 people: gold (8)\n")],
)
def test_bots_know_gold_and_the_rules_say_whom_they_leave_out(tmp_path, crowd, told):
    """If bots answered checks by a tree of their own, rules would leave nearly all of them out."""
    (tmp_path / "gold.csv").write_text(GOLD)
    path = make_study(tmp_path, 9, per_person=9, top='sampler = "random"', more=RULES)
    found = collect(path, "--simulate", 8, "--crowd", crowd)
    assert told in found.stdout, found.stdout + found.stderr


@pytest.mark.parametrize(("question", "row"), [("odd", 3), ("triplet", 3), ("pairs", 4)])
def test_answers_to_gold_are_those_of_its_table(question, row):
    from ordhc_collect.simulate.crowd import SimulatedPerson, drawn_tree
    from ordhc_collect.study.model import Gold

    tree = drawn_tree(8, 0)
    for shown in permutations(range(5), row):
        for choice in (1, 2, 3)[: 3 if question == "odd" else 2]:
            if question == "odd":
                gold = Gold([(shown[2], shown[0], shown[1])], [(1, 2, 0)[choice - 1]])
            elif question == "triplet":
                gold = Gold([(shown[0], shown[2], shown[0], shown[1])], [(-1, 1)[choice - 1]])
            else:
                gold = Gold([(shown[3], shown[2], shown[0], shown[1])], [(-1, 1)[choice - 1]])
            assert SimulatedPerson(tree, question, 1.0, "x", gold)(list(shown)) == choice


def test_answers_of_bots_are_kept_apart(tmp_path):
    path = make_study(tmp_path, 9, per_person=8)
    data, out = tmp_path / "pilot.ordhc", tmp_path / "a.csv"
    found = collect(path, "--simulate", 6, "--data", data)
    assert f"The answers are in {data}" in found.stdout, found.stderr
    assert collect(path, "--data", data, "--export", out, "--as", "trials").returncode == 0
    assert len(out.read_text().splitlines()) == 49
    assert command_here("cluster", data, "-o", tmp_path / "tree.nwk").returncode == 0
    # Neither more bots nor people go on in it, but the dashboard shows it.
    again = collect(path, "--simulate", 6, "--data", data)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    with Server(path, data=data) as server:
        assert "are simulated" in server.told
        page = Client(server).get("/?PROLIFIC_PID=ann")
        assert title_of(page) == "This study has not begun yet"
        assert Client(server).get("/?PROLIFIC_PID=bot-1").status == 403
        board = admin(server).get("/dashboard").text
        assert "The people of this file are simulated" in board
        assert "<b>48</b><span>answers</span>" in board
    with sqlite3.connect(data) as db:
        assert db.execute("SELECT count(*) FROM collect_people").fetchone() == (6,)


@pytest.mark.parametrize(
    ("n", "kind", "per_person", "possible"),
    [
        (4, "odd", 5, 4),
        (4, "odd", 4, None),
        (3, "triplet", 4, 3),
        (4, "pairs", 16, 15),
        (4, "pairs", 15, None),
    ],
)
def test_more_questions_for_a_person_than_there_are(tmp_path, n, kind, per_person, possible):
    path = make_study(tmp_path, n, per_person=per_person, study=f'question = "{kind}"')
    _, problems = study_or_problems(path)
    told = [line for line in problems.warnings if "per_person" in line]
    expected = [
        f"[trials] per_person = {per_person}: there are only {possible} different questions about "
        f"{n} items; write per_person = {possible}"
    ]
    assert told == (expected if possible else [])


def test_a_list_that_is_shorter_than_a_session(tmp_path):
    (tmp_path / "list.csv").write_text("a,b,c\nitem00,item01,item02\nitem02,item03,item04\n")
    more = '[list]\ntable = "list.csv"\n'
    path = make_study(tmp_path, per_person=3, top='sampler = "list"', more=more)
    _, problems = study_or_problems(path)
    assert not problems.errors
    assert any("only 2 different questions in the list" in line for line in problems.warnings)
