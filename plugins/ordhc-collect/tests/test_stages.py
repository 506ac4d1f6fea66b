"""What people do besides questions: questionnaires, practice, breaks, quotas, endings, and kiosks."""

import csv
import io
import re
import sqlite3
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordhc_collect.simulate.client import fields_of
from ordhc_collect.study.forms import Field
from ordhc_collect.study.reading import read_study
from studies import Client, Server, ServerHere, admin, number_of, shown_on, title_of

from support.processes import command_here

QUESTIONS = """
[[questionnaire.before]]
name = "gender"
question = "Gender?"
options = ["Woman", "Man"]
[[questionnaire.before]]
name = "age"
question = "Age?"
type = "number"
min = 18
max = 99
[[questionnaire.before]]
name = "job"
question = "Job?"
type = "text"
required = false
[[questionnaire.after]]
name = "hard"
question = "Hard?"
type = "scale"
labels = ["no", "yes"]
[[questionnaire.after]]
name = "remarks"
question = "Anything else?"
type = "comment"
"""


def collect(*arguments):
    return command_here("collect", *arguments)


def people(server):
    """The rows of people.csv."""
    return list(csv.DictReader(io.StringIO(admin(server).get("/dashboard/download/people.csv").text)))


def trials(server):
    return list(csv.DictReader(io.StringIO(admin(server).get("/dashboard/download/trials.csv").text)))


def send(client, page, **fields):
    """Send the form of a page that has no question."""
    named = {key.replace("_", "-"): value for key, value in fields.items()}
    return client.submit("/next", {**fields_of(page.text), **named})


def test_questionnaires_are_kept(serve):
    server = serve(more=QUESTIONS, per_person=2)
    client = Client(server)
    agent = "Mozilla/5.0 (iPhone) Mobile"
    page = client.get("/?PROLIFIC_PID=p1&STUDY_ID=s1&session_id=s2", {"User-Agent": agent})
    fields = {**fields_of(page.text), "consent": "yes", "viewport": "390x844 @3"}
    page = client.submit("/join", fields)
    assert title_of(page) == "About you"
    assert 'min="18"' in page.text
    assert "(optional)" in page.text
    page = send(client, page, choice_0=1, choice_1="33,5", choice_2="=cmd()")
    page = send(client, page)
    for _ in range(2):
        page = client.answer(page)
    assert title_of(page) == "A few last questions"
    page = send(client, page, choice_0=7, choice_1="one\r\ntwo")
    assert title_of(page) == "Thank you!"
    send(client, page)
    (row,) = people(server)
    expected = {"gender": "Man", "age": "33.5", "job": "'=cmd()", "hard": "7", "remarks": "one\ntwo"}
    expected |= {"STUDY_ID": "s1", "SESSION_ID": "s2", "puid": "p1", "device": "phone", "user_agent": agent}
    assert {key: row[key] for key in expected} == expected
    assert row["viewport"] == "390x844 @3"
    assert "workerId" not in row
    # --delete-ids also deletes the parameters of the address; --forget deletes everything of a person.
    server.stop()
    assert collect(server.study, "--data", server.data, "--delete-ids").returncode == 0
    assert b"s2" not in server.data.read_bytes()
    assert collect(server.study, "--data", server.data, "--forget", row["person"]).returncode == 0
    assert b"33.5" not in server.data.read_bytes()


@pytest.fixture(scope="module")
def asking(serve_once):
    """A study with questionnaires."""
    return serve_once(more=QUESTIONS)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"choice_0": 0},
        {"choice_0": 2, "choice_1": 20},
        {"choice_0": 0, "choice_1": 17},
        {"choice_0": 0, "choice_1": "nan"},
        {"choice_0": 0, "choice_1": 20, "choice_2": "x" * 301},
    ],
)
def test_answers_that_are_missing_or_wrong(asking, wrong):
    client = Client(asking)
    page = client.join()
    assert title_of(send(client, page, **wrong)) == "An answer is missing"
    page = client.get("/study")
    assert title_of(page) == "About you"
    assert title_of(send(client, page, choice_0=0, choice_1=20)) == "How it works"


@given(st.floats(), st.floats(-1e6, 1e6), st.floats(0.1, 1e6))
def test_numbers_are_within_their_limits(value, low, width):
    field = Field("x", "number", {"en": "?"}, low=low, high=low + width)
    found = field.value(f"{value!r}")
    assert (found is not None) == (low <= value <= low + width)
    if found is not None:
        assert float(found) == pytest.approx(value, rel=1e-11)


@given(st.text(max_size=8))
def test_a_scale_takes_its_points_only(text):
    field = Field("x", "scale", {"en": "?"}, low=-2, high=3)
    found = field.value(text)
    if re.fullmatch(r"\s*[+-]?\d\s*", text, re.ASCII) and -2 <= int(text) <= 3:
        assert found == str(int(text))
    elif found is not None:
        assert float(text.replace(",", ".")) == int(found)


def test_what_is_screened_and_checked_is_kept(serve):
    more = """
[[screening.questions]]
name = "glasses"
question = "Glasses?"
options = ["Yes", "No"]
accept = 2
[[comprehension.questions]]
question = "What?"
options = ["a", "b"]
answer = 2
"""
    server = serve(more=more)
    client = Client(server)
    send(client, client.join(), choice_0=0)
    other = Client(server)
    send(other, send(other, send(other, other.join(), choice_0=1)), choice_0=0)
    rows = people(server)
    assert [(row["glasses"], row["check_1"], row["outcome"]) for row in rows] == [
        ("Yes", "", "screened_out"),
        ("No", "a", ""),
    ]


PRACTICE = '[practice]\ntable = "practice.csv"\n'


def practice(tmp_path, rows):
    (tmp_path / "practice.csv").write_text("a,b,c,answer\n" + rows)


def choice_of(page, item):
    """The choice that shows an item."""
    return shown_on(page).index(item) + 1


def test_practice_tells_the_right_answer(serve, tmp_path):
    practice(tmp_path, "item00,item01,item02,item02\nitem03,item04,item05,item03\n")
    server = serve(more=PRACTICE)
    client = Client(server)
    page = client.begin()
    assert "Practice" in page.text
    assert sorted(shown_on(page)) == [0, 1, 2]
    page = client.submit("/next", {**fields_of(page.text), "choice": choice_of(page, 2)})
    assert title_of(page) == "That is right."
    page = send(client, page)
    # A reload shows the same question again.
    assert sorted(shown_on(page)) == [3, 4, 5]
    assert shown_on(client.get("/study")) == shown_on(page)
    page = client.submit("/next", {**fields_of(page.text), "choice": choice_of(page, 4)})
    assert title_of(page) == "Not quite right."
    assert re.search(r'choice right">\s*<div class="figures"><div class="figure" data-item="3"', page.text)
    page = send(client, page)
    assert number_of(page) == 1
    assert client.answer(page).status == 200
    assert [row["practice_right"] for row in people(server)] == ["1"]
    # Practice is no data.
    assert all(row["sampler"] != "practice" for row in trials(server))


def test_practice_without_feedback_and_after_a_restart(serve, tmp_path):
    practice(tmp_path, "item00,item01,item02,item02\nitem03,item04,item05,item03\n")
    server = serve(apart=True, more=f"{PRACTICE}feedback = false\n")
    client = Client(server)
    page = client.begin()
    page = client.submit("/next", {**fields_of(page.text), "choice": 1})
    assert sorted(shown_on(page)) == [3, 4, 5]
    server.kill()
    with ServerHere(server.study, data=server.data) as again:
        client.port = again.port
        page = client.get("/study")
        assert sorted(shown_on(page)) == [3, 4, 5]
        assert client.submit("/next", {**fields_of(page.text), "choice": 4}).status == 400
        assert number_of(client.submit("/next", {**fields_of(page.text), "choice": 1})) == 1


def test_breaks_and_taking_back_across_them(serve):
    server = serve(per_person=5, more="break_every = 2")
    client = Client(server)
    page = client.answer(client.answer(client.begin()))
    assert title_of(page) == "Take a short break"
    page = client.submit("/answer", {**fields_of(page.text), "undo": 2})
    assert number_of(page) == 2
    page = client.answer(page)
    assert title_of(page) == "Take a short break"
    page = send(client, page)
    assert number_of(page) == 3
    page = client.submit("/answer", {**fields_of(page.text), "undo": 2})
    page = client.answer(page)
    # The break is over: the question that was open is asked.
    assert number_of(page) == 3
    page = client.answer(client.answer(page))
    assert title_of(page) == "Take a short break"
    page = client.answer(send(client, page))
    # There is no break at the end.
    assert title_of(page) == "Thank you!"
    assert [row["trial"] for row in trials(server)] == ["1", "2", "3", "4", "5"]


QUOTA = """
[[screening.questions]]
name = "hand"
question = "Hand?"
options = ["Left", "Right", "Both"]
quota = [1, -1, 0]
"""


def test_quotas(serve):
    server = serve(per_person=2, more=QUOTA)

    def screened(choice):
        client = Client(server)
        return client, send(client, client.join(), choice_0=choice)

    first, page = screened(0)
    assert title_of(page) == "How it works"
    assert title_of(screened(0)[1]) == "All places are taken"
    assert title_of(screened(1)[1]) == "How it works"
    assert title_of(screened(1)[1]) == "How it works"
    assert title_of(screened(2)[1]) == "Thank you for your interest"
    page = send(first, page)
    send(first, first.answer(first.answer(page)))
    assert title_of(screened(0)[1]) == "All places are taken"
    outcomes = [(row["hand"], row["outcome"]) for row in people(server)]
    assert sorted(outcomes) == [
        ("Both", "screened_out"),
        ("Left", "done"),
        ("Left", "full"),
        ("Left", "full"),
        ("Right", ""),
        ("Right", ""),
    ]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_places_of_excluded_people_are_filled_again(serve, is_replaced):
    more = "[people]\ntotal = 1\n" + ("" if is_replaced else "replace_excluded = false\n")
    server = serve(per_person=8, n=12, more=f"{more}[exclude]\nseconds = 1.0")
    client = Client(server)
    page = client.begin()
    for _ in range(8):
        page = client.answer(page, ms=100)
    send(client, page)

    def begun():
        return title_of(Client(server).join())

    if not is_replaced:
        assert begun() == "All places are taken"
        return
    deadline = time.monotonic() + 15
    while (title := begun()) == "All places are taken":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert title == "How it works"


ENDS = "\n".join(
    f'[outcomes.{name}]\ncode = "{name.upper()}-{{person}}"\nurl = "https://app.prolific.com/x?cc={{code}}&i={{id}}"'
    for name in ("done", "declined", "full", "over", "too_late")
)


def test_every_ending_leads_back(serve):
    server = serve(per_person=1, more=f"{ENDS}\n[people]\ntotal = 1")
    client = Client(server)
    page = client.join("?puid=ann%26x", consent="no")
    assert "DECLINED-" in page.text
    assert "&amp;i=ann%26x" in page.text
    assert "Return to Prolific" in page.text
    client = Client(server)
    page = client.begin("?puid=bob")
    page = send(client, client.answer(page))
    code = re.search(r"DONE-([0-9A-F]{8})<", page.text)[1]
    full = Client(server).join("?puid=cec")
    assert "FULL-" in full.text
    assert "i=cec" in full.text
    boss = admin(server)
    token = fields_of(boss.get("/dashboard").text)["token"]
    boss.submit("/dashboard/state", {"token": token, "do": "close"})
    over = Client(server).get("/?puid=dan")
    assert title_of(over) == "This study has ended"
    assert "i=dan" in over.text
    (row,) = [row for row in people(server) if row["puid"] == "bob"]
    assert row["code"] == f"DONE-{code}"


def test_one_computer_for_many_people(serve):
    server = serve(per_person=1, more="[people]\nkiosk = true")
    client = Client(server)
    page = client.answer(client.begin())
    # The address of the study is the beginning for the next person, in the middle of a study, too.
    page = send(client, page)
    assert "Next participant" in page.text
    page = client.submit("/leave", {})
    assert title_of(page) == "Things"
    page = client.submit("/join", {**fields_of(page.text), "consent": "yes"})
    assert title_of(page) == "How it works"
    assert title_of(client.get("/")) == "Things"
    assert len(people(server)) == 2


def test_nobody_leaves_a_study_that_is_no_kiosk(serve):
    client = Client(serve())
    page = client.begin()
    client.submit("/leave", {})
    assert shown_on(client.get("/study")) == shown_on(page)


@pytest.mark.parametrize("name", ["prolific_id", "PROLIFICPID", "worker_id", "puids"])
def test_misspelt_parameters(serve, name):
    server = serve()
    found = Client(server).get(f"/?{name}=abc")
    assert (found.status, title_of(found)) == (400, "Your link is not complete")
    assert f"by a link with {name} instead of" in admin(server).get("/dashboard").text
    # Other parameters are none of ours.
    assert Client(server).get("/?utm_source=mail&group=a&STUDY_ID=1").status == 200


def test_times_plays_and_hidden_tabs_are_kept(serve):
    server = serve(per_person=3, more="max_seconds = 5\nundo = false", study="none = false")
    client = Client(server)
    page = client.begin()
    more = {"ms": 1200, "away": 340, "enlarged": 2, "plays": "1 0 2"}
    page = client.answer(page, 1, **more)
    assert client.answer(page, 0).status == 400
    page = client.answer(page, 0, late=1, ms=5000)
    client.answer(page, 2, away="x", plays="1 x", enlarged=-1)
    rows = trials(server)
    assert [(row["hidden_seconds"], row["plays"], row["enlarged"]) for row in rows] == [
        ("0.34", "1 0 2", "2"),
        ("", "", ""),
        ("", "", ""),
    ]
    assert [row["answer_meaning"] for row in rows] == ["odd one out", "no answer in time", "odd one out"]


def test_sounds_must_be_played(serve, tmp_path):
    (tmp_path / "items").mkdir()
    for k in range(4):
        (tmp_path / "items" / f"s{k}.mp3").write_bytes(b"sound")
        (tmp_path / "items" / f"s{k}.ogg").write_bytes(b"the same sound")
    server = serve(n=0, items={"note": "a text"}, per_person=3, more="must_play = true")
    client = Client(server)
    page = client.begin()
    n = len(re.findall("<audio", page.text))
    assert page.text.count('type="audio/mpeg"') == page.text.count('type="audio/ogg"') == n
    leaf = re.search(r'src="(media/\d+/sound.ogg)"', page.text)[1]
    assert client.get(f"/{leaf}").text == "the same sound"
    for plays in ("", "1", "1 1 0"[: 2 * n - 1].replace("1", "0")):
        assert title_of(client.answer(page, 1, plays=plays)) == "Not everything was played"
    assert number_of(client.answer(page, 1, plays=" ".join("1" * n))) == 2


@pytest.mark.parametrize("has_prefix", [True, False])
def test_a_study_in_a_folder_of_a_site(tmp_path, has_prefix):
    """A proxy that keeps the prefix, and a proxy that takes it off."""
    from studies import make_study

    path, data = make_study(tmp_path, per_person=1), tmp_path / "x.ordhc"
    # The command, whose option may have other slashes, and a server that is started faster.
    running = (
        Server(path, "--path-prefix", "lab/alike/", data=data)
        if has_prefix
        else ServerHere(path, data=data, prefix="/lab/alike")
    )
    with running as server:
        assert server.address.endswith("/lab/alike")
        at = "/lab/alike" if has_prefix else ""
        client = Client(server)
        page = client.get(f"{at}/")
        if has_prefix:
            assert client.request("GET", "/lab/alike").headers["location"] == "/lab/alike/"
        links = re.findall(r'(?:href|src|action)="([^"]+)"', page.text)
        assert links
        assert not [link for link in links if link.startswith("/")]
        assert all(client.get(f"{at}/{link}").status == 200 for link in links if "static" in link)
        page = client.submit(f"{at}/join", {**fields_of(page.text), "consent": "yes"})
        page = client.submit(f"{at}/next", fields_of(page.text))
        assert "data-trial" in page.text
        boss = Client(server)
        board = boss.get(f"{at}/dashboard?token={server.token}")
        assert "The tree" in board.text
        token = fields_of(board.text)["token"]
        page = boss.submit(f"{at}/dashboard/state", {"token": token, "do": "pause"})
        assert "Paused" in page.text
        page = boss.submit(f"{at}/dashboard/ids", {"token": token})
        assert '"../static/' in page.text
        first = server.token
    with ServerHere(path, data=data) as server:
        # The key of the dashboard lasts.
        assert server.token == first


@pytest.mark.parametrize("prefix", ["a b", "../x", "//"])
def test_prefixes_that_are_none(tmp_path, prefix):
    from studies import make_study

    found = collect(make_study(tmp_path), "--path-prefix", prefix, "--check")
    assert found.returncode == (0 if prefix == "//" else 2)


def test_keys_are_chosen_or_off(serve):
    server = serve(more='keys = ["F", "g", "j"]')
    page = Client(server).begin()
    assert 'data-keys="fgj"' in page.text
    assert '<span class="key" aria-hidden="true">F</span>' in page.text


def test_a_study_to_begin_with(tmp_path):
    folder = tmp_path / "new study"
    found = collect("--init", folder)
    assert found.returncode == 0, found.stderr
    assert f"next     ordhc collect '{folder / 'study.toml'}' --check" in found.stdout
    assert collect("--init", folder).returncode == 2
    study = read_study(folder / "study.toml")
    assert study.practice.rows
    assert study.gold.rows
    assert not study.captions
    assert not study.exclude.is_empty
    assert all(end.url and "prolific" in end.url for end in study.outcomes.values())
    found = collect(folder / "study.toml", "--check")
    assert found.returncode == 0
    assert "warning" not in found.stdout
    assert "quota      adult: Under 18 0, 18 to 40 30, Over 40 30" in found.stdout


def test_bots_take_part_in_it(tmp_path):
    collect("--init", tmp_path / "s")
    path = tmp_path / "s" / "study.toml"
    path.write_text(path.read_text().replace("per_person = 40", "per_person = 8"))
    found = collect(path, "--simulate", 6, "--seed", 1)
    assert found.returncode == 0, found.stderr
    assert "6 of 6" in found.stdout or "6 bots" in found.stdout, found.stdout


def test_a_preview_keeps_nothing(tmp_path):
    collect("--init", tmp_path / "s")
    path = tmp_path / "s" / "study.toml"
    assert collect(path, "--preview", "--data", tmp_path / "x.ordhc").returncode == 2
    with Server(path, "--preview") as server:
        client = Client(server)
        # Without an id, too.
        page = client.join()
        assert title_of(page) == "Before we begin"
        assert "not stored: lost when the server stops" in server.told
    assert not list(tmp_path.rglob("*.ordhc"))


def test_files_from_before_questionnaires(serve):
    """A session without the newer table and column is exported, and the study goes on."""
    server = serve(per_person=3)
    client = Client(server)
    page = client.answer(client.begin())
    server.stop()
    with sqlite3.connect(server.data) as db:
        db.execute("DROP TABLE collect_details")
        db.execute("ALTER TABLE collect_trials DROP COLUMN measured")
    for how in ("people", "trials"):
        found = collect(server.study, "--data", server.data, "--export", f"{server.data}.csv", "--as", how)
        assert found.returncode == 0, found.stderr
    with ServerHere(server.study, data=server.data) as again:
        client.port = again.port
        page = client.answer(client.get("/study"), enlarged=1)
        assert number_of(page) == 3
        assert [row["enlarged"] for row in trials(again)] == ["", "1", ""]
