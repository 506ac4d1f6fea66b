"""The JSON API by which other experiments get questions and give answers."""

import functools
import itertools
import json
import re
import sqlite3
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from ordhc_collect.study.reading import study_or_problems
from studies import Client, ServerHere, answers, make_study

import ordhc
from support.browsers import launched

EXAMPLES = Path(__file__).parents[1] / "examples"
SITE = "https://lab.example.org"
OPEN = f'[api]\norigins = ["{SITE}"]\n'


class Program:
    """A client of the API; `origin` is that of the page it belongs to, None for a program without a page."""

    def __init__(self, server, origin=None, **person):
        self.client, self.headers = Client(server), {} if origin is None else {"Origin": origin}
        self.token = None
        self.status, self.state = self.call("/api/people", person)
        self.token = self.state.get("token")

    def call(self, path, body=None, kind="application/json", **headers):
        sent = {**self.headers, **headers}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is None:
            found = self.client.request("GET", path, None, sent)
        else:
            found = self.client.request("POST", path, json.dumps(body), {"Content-Type": kind, **sent})
        self.reply = found
        return found.status, json.loads(found.text) if found.text[:1] == "{" else {"error": found.text}

    def answer(self, choice=1, **more):
        number = self.state["question"]["number"]
        self.status, self.state = self.call("/api/answers", {"number": number, "choice": choice, **more})
        assert self.status == 200, self.state


def rows(server):
    with ordhc.Session(server.data) as session:
        return session.table()


@pytest.mark.parametrize(("kind", "n_choices"), [("odd", 3), ("triplet", 2), ("pairs", 2)])
def test_a_program_takes_part_to_the_end(serve, kind, n_choices):
    more = OPEN + '[outcomes.done]\ncode = "C1"\n'
    server = serve(study=f'question = "{kind}"', per_person=4, more=more)
    program = Program(server, id="p1")
    chosen = []
    for number in range(1, 5):
        question = program.state["question"]
        assert (program.state["stage"], question["number"], program.state["of"]) == ("question", number, 4)
        assert question["kind"] == kind
        assert len(question["choices"]) == n_choices
        assert (question["head"] is None) == (kind != "triplet")
        assert [name for names in question["choices"] for name in names] == [
            i["name"] for i in question["items"]
        ]
        assert question["prompt"].startswith("Which")
        assert question["prompt"].endswith("?")
        # By name and by number, again: it is the same answer.
        by_name = kind != "pairs" and number % 2
        choice = question["choices"][1][0] if by_name else 2
        chosen.append(question["choices"][1])
        program.answer(choice, ms=1500)
        again = program.call("/api/answers", {"number": number, "choice": 1})
        assert again == (200, program.state)
    assert {**program.state, "question": None} == {
        "done": 4, "of": 4, "question": None, "stage": "end", "outcome": "done", "code": "C1"
    }  # fmt: skip
    assert [choice for _, _, choice in answers(server)] == [2] * 4
    server.stop()
    table = rows(server)
    names = {f"item{k:02}": k for k in range(8)}
    columns = [table[f"leaf_{k}"] for k in range(1, 4 if kind == "odd" else 5)]
    for *leaves, answer, expected in zip(*columns, table["answer"], chosen, strict=True):
        wanted = {names[name] for name in expected}
        if kind == "odd":
            assert leaves[answer] in wanted
        else:
            # Two pairs (of a triplet, with the head in both): 1 is the first, -1 the second.
            assert wanted <= set(leaves[:2] if answer == 1 else leaves[2:])
    assert set(table["seconds"].tolist()) == {1.5}


def test_the_same_person_goes_on_and_checks_are_asked(serve, tmp_path):
    (tmp_path / "gold.csv").write_text(
        "a,b,c,answer\nitem00,item03,item06,item06\nitem01,item04,item07,item07\n"
    )
    server = serve(more=OPEN + '[gold]\ntable = "gold.csv"\nper_person = 1\n', per_person=5)
    one = Program(server, id="p1")
    one.answer()
    two = Program(server, id="p1")
    assert two.state["person"] == one.state.get("person", two.state["person"])
    assert two.state["question"] == one.state["question"]
    while two.state["stage"] == "question":
        two.answer()
    server.stop()
    assert len(answers(server)) == 5
    with sqlite3.connect(server.data) as db:
        asked = [sampler for (sampler,) in db.execute("SELECT sampler FROM collect_trials")]
    assert asked.count("gold") == 1, asked


def test_another_site_needs_the_list(serve):
    server = serve(more=OPEN)
    allowed = Program(server, SITE, id="a")
    assert allowed.status == 200
    assert allowed.reply.headers["access-control-allow-origin"] == SITE
    ask = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    for origin, status in ((SITE, 200), ("https://evil.example", 400), ("null", 400)):
        reply = Client(server).request("OPTIONS", "/api/answers", None, {"Origin": origin, **ask})
        assert reply.status == status
        assert (reply.headers.get("access-control-allow-origin") == SITE) == (status == 200)
    for origin in ("https://evil.example", "null", f"{SITE}.evil.example", SITE.replace("https", "http")):
        other = Program(server, origin, id="b")
        assert other.status == 403
        assert "access-control-allow-origin" not in other.reply.headers
    # The pages themselves stay closed, whatever the list.
    page = Client(server).request("POST", "/join", "token=x", {"Origin": SITE})
    assert page.status == 403
    assert "another site" in page.text
    assert Client(server).request("OPTIONS", "/join", None, {"Origin": SITE, **ask}).status == 405
    # A form of another site has a type that needs no question beforehand.
    assert allowed.call("/api/people", {"id": "c"}, kind="text/plain")[0] == 400
    picture = Client(server).get("/media/0/picture")
    assert picture.headers["cross-origin-resource-policy"] == "cross-origin"


def test_without_the_section_there_is_no_api(serve):
    server = serve()
    for path in ("/api/study", "/api/next"):
        assert Client(server).get(path).status == 404
    assert Client(server).get("/media/0/picture").headers["cross-origin-resource-policy"] == "same-origin"


#: The numbers of people who share a server.
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def open_server(serve_once):
    return serve_once(more=OPEN)


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        ("/api/answers", {"number": 1, "choice": 4}, 400, "choice"),
        ("/api/answers", {"number": 1, "choice": 0}, 400, "choice"),
        ("/api/answers", {"number": 1, "choice": "nobody"}, 400, "choice"),
        ("/api/answers", {"number": 1, "choice": True}, 400, "choice"),
        ("/api/answers", {"number": 1}, 400, "choice"),
        ("/api/answers", {"number": "1", "choice": 1}, 400, "number"),
        ("/api/answers", {"number": 1, "choice": 1, "ms": -1}, 400, "number"),
        ("/api/answers", {"number": 1, "choice": 1, "ms": float("nan")}, 400, "number"),
        ("/api/answers", {"number": 9, "choice": 1}, 403, "not asked"),
        ("/api/answers", [1], 400, "body"),
        ("/api/people", {"id": "{{%PROLIFIC_PID%}}"}, 400, "no id"),
        ("/api/people", {"id": 7}, 400, "no id"),
        ("/api/people", {"id": "x" * 201}, 400, "no id"),
        ("/api/people", {"id": "x", "parameter": "PID"}, 400, "parameter"),
        ("/api/people", {"id": "x", "language": "xx"}, 400, "language"),
    ],
)
def test_what_is_refused_has_a_remedy(open_server, path, body, status, error):
    program = Program(open_server, id=f"p{next(NUMBERS)}")
    before = program.state["question"]
    found, told = program.call(path, body)
    assert (found, told["error"]) == (status, error)
    assert told["remedy"]
    assert program.call("/api/next")[1]["question"] == before
    program.token = "forged"
    assert program.call("/api/next")[0] == 401
    assert program.call("/api/answers", {"number": 1, "choice": 1})[0] == 401


def test_closed_full_and_without_an_id(serve):
    server = serve(more=OPEN + "[people]\ntotal = 1\nanonymous = false\n")
    assert Program(server).status == 403
    first = Program(server, id="a")
    assert first.call("/api/study")[1]["status"] == "full"
    second = Program(server, id="b")
    assert (second.status, second.state["error"]) == (403, "full")


def test_pages_and_api_are_one_study(serve):
    server = serve(more=OPEN, per_person=2)
    page = Client(server)
    first = page.begin("?PROLIFIC_PID=both")
    page.answer(first)
    program = Program(server, id="both")
    assert (program.state["done"], program.state["question"]["number"]) == (1, 2)
    program.answer()
    assert program.state["stage"] == "end"
    assert len(answers(server)) == 2


def test_the_example_in_python(serve):
    server = serve(more=OPEN + '[outcomes.done]\ncode = "OK1"\n', per_person=3)
    found = subprocess.run(
        [sys.executable, EXAMPLES / "participant.py", server.address, "me"],
        input="1\n2\n3\n", capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "Done: 3 answers. Code: OK1" in found.stdout
    assert [choice for _, _, choice in answers(server)] == [1, 2, 3]


#: As much of jsPsych as the example uses: a timeline of buttons and functions, one after the other.
JSPSYCH = """
var jsPsychHtmlButtonResponse = "button", jsPsychCallFunction = "call", jsPsychPreload = "preload";
function initJsPsych() {
  const values = [], of = value => typeof value === "function" ? value() : value;
  const button = trial => new Promise(resolve => {
    document.body.innerHTML = of(trial.stimulus);
    const start = performance.now();
    of(trial.choices).forEach((choice, at) => {
      const box = document.body.appendChild(document.createElement("div"));
      box.innerHTML = trial.button_html ? trial.button_html(choice, at) : `<button>${choice}</button>`;
      box.onclick = () => { values.push({ rt: performance.now() - start, response: at }); resolve(); };
    });
  });
  const run = async timeline => { for (const trial of timeline) {
    if (trial.timeline) do await run(trial.timeline); while (trial.loop_function && trial.loop_function());
    else if (trial.type === "button") await button(trial);
    else if (trial.type === "call") await new Promise(trial.func);
  } };
  return { run, data: { getURLVariable: name => new URLSearchParams(location.search).get(name) || undefined,
    get: () => ({ last: n => ({ values: () => values.slice(-n) }) }) } };
}
"""


def test_the_example_of_jspsych_in_a_browser_from_another_site(serve, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    other = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(SimpleHTTPRequestHandler, directory=str(EXAMPLES))
    )
    threading.Thread(target=other.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{other.server_address[1]}"
    picture = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
    )
    path = make_study(tmp_path, per_person=3)
    for item in (tmp_path / "items").iterdir():
        item.with_suffix(".svg").write_text(picture)
        item.unlink()
    server = serve(
        more=f'[api]\norigins = ["{site}"]\n[outcomes.done]\ncode = "OK1"\n', items={}, per_person=3
    )
    assert path == server.study
    with sync_api.sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page()
        told = []
        page.on("console", lambda message: told.append(message.text))

        def script(route):
            is_jspsych = route.request.url == "https://unpkg.com/jspsych@8.2.1"
            route.fulfill(body=JSPSYCH if is_jspsych else "", content_type="text/javascript")

        page.route("https://unpkg.com/**", script)
        page.goto(f"{site}/jspsych.html?server={server.address}&PROLIFIC_PID=p7")
        for done in range(3):
            page.wait_for_function(
                "document.querySelectorAll('button.choice img').length === 3", timeout=20_000
            )
            page.wait_for_function(f"state.done === {done}")
            page.wait_for_function(
                "[...document.images].every(each => each.naturalWidth > 0)", timeout=20_000
            )
            page.locator("button.choice").nth(done).click()
        sync_api.expect(page.locator("body")).to_contain_text("Your code is OK1", timeout=20_000)
        assert not [text for text in told if "favicon" not in text], told
        browser.close()
    other.shutdown()
    other.server_close()
    assert [choice for _, _, choice in answers(server)] == [1, 2, 3]


@pytest.mark.parametrize("has_prefix", [True, False])
def test_addresses_have_the_prefix_of_the_study(tmp_path, has_prefix):
    """A proxy that keeps the prefix, and a proxy that takes it off."""
    items = tmp_path / "items"
    path = make_study(tmp_path, per_person=2, more=OPEN)
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
    (items / "drawn.svg").write_text(picture)
    (tmp_path / "other.svg").write_text(picture)
    (items / "told.md").write_text("Say `src=media/` ![a > b](../other.svg)")
    with ServerHere(path, data=tmp_path / "x.ordhc", prefix="/lab/alike") as server:
        at = "/lab/alike" if has_prefix else ""

        class Inside(Program):
            def call(self, path, *given, **more):
                return super().call(f"{at}{path}", *given, **more)

        program = Inside(server, SITE, id="p1")
        named = {item["name"]: item for item in program.call("/api/study")[1]["items"]}
        assert named["drawn"]["picture"].startswith("/lab/alike/media/")
        assert 'src="/lab/alike/media/page/0"' in named["told"]["html"]
        assert "src=media/<" in named["told"]["html"]
        for address in (named["drawn"]["picture"], "/lab/alike/media/page/0"):
            found = program.client.get(address)
            assert (found.status, found.text) == (200, picture)
            assert found.headers["cross-origin-resource-policy"] == "cross-origin"
        for _ in range(2):
            program.answer()
        assert program.state["stage"] == "end"


def test_breaks_forms_and_practice_belong_to_the_pages(serve, tmp_path):
    (tmp_path / "practice.csv").write_text("a,b,c,answer\nitem00,item01,item02,item02\n")
    more = (
        f'break_every = 1\n{OPEN}[practice]\ntable = "practice.csv"\n'
        '[[questionnaire.before]]\nquestion = "Age?"\ntype = "number"\n'
        '[[questionnaire.after]]\nquestion = "Why?"\ntype = "comment"\nrequired = true\n'
        '[outcomes.done]\ncode = "C-{person}"\n'
    )
    server = serve(more=more, per_person=3)
    program = Program(server, id="p1")
    for number in range(1, 4):
        assert (program.state["stage"], program.state["question"]["number"]) == ("question", number)
        program.answer()
    assert (program.state["stage"], program.state["outcome"]) == ("end", "done")
    other = Program(server, id="p2")
    for _ in range(3):
        other.answer()
    codes = {program.state["code"], other.state["code"]}
    assert len(codes) == 2
    assert all(re.fullmatch("C-[0-9A-F]{8}", code) for code in codes)


def test_sounds_must_be_played(serve, tmp_path):
    (tmp_path / "items").mkdir()
    for k in range(4):
        (tmp_path / "items" / f"s{k}.mp3").write_bytes(b"sound")
    server = serve(n=0, items={"note": "a text"}, per_person=3, more=f"must_play = true\n{OPEN}")
    program = Program(server, id="p1")
    n = sum("sound" in item for item in program.state["question"]["items"])
    assert n
    for plays in (None, [1] * (n - 1), [0] * n):
        status, told = program.call("/api/answers", {"number": 1, "choice": 1, "plays": plays})
        assert (status, told["error"]) == (400, "not played")
        assert told["remedy"]
    for plays in (1, [-1], ["1"], [True], [1.5]):
        status, told = program.call("/api/answers", {"number": 1, "choice": 1, "plays": plays})
        assert (status, told["error"]) == (400, "plays")
    program.answer(plays=[1] * n)
    assert program.state["done"] == 1


def test_a_question_about_a_retired_item_is_not_asked(serve):
    server = serve(more=OPEN, per_person=20)
    program, late = Program(server, id="p1"), Program(server, id="p2")
    with ordhc.Session(server.data) as session:
        gone = program.state["question"]["items"][0]["name"]
        session.retire(gone)
        program.status, program.state = program.call("/api/next")
        for number in range(1, 15):
            question = program.state["question"]
            assert question["number"] == number
            assert gone not in [item["name"] for item in question["items"]]
            program.answer()
        # A person who answers before asking again is heard.
        late.answer()
        assert late.state["done"] == 1
        assert gone not in [item["name"] for item in late.state["question"]["items"]]


@pytest.mark.parametrize(
    "origins", ['["lab.example.org"]', '["https://a.org/x"]', '"https://a.org"', '["*"]', "[1]"]
)
def test_origins_that_are_none(tmp_path, origins):
    _, problems = study_or_problems(make_study(tmp_path, more=f"[api]\norigins = {origins}\n"))
    assert any("[api] origins" in line for line in problems.errors), problems.errors
