"""What somebody who means ill may try."""

import csv
import io
import re

import pytest
from ordhc_collect.simulate.client import fields_of
from studies import Client, ServerHere, admin, answers, make_study, number_of

SCRIPT = "<script>window.hacked=1</script>"
#: An SVG that runs a script when it is opened by itself.
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="window.hacked=1">
<script>window.hacked = 1</script><rect width="9" height="9"/></svg>"""


@pytest.fixture(scope="module")
def untouched(serve_once):
    """The server of a study in which no question was answered, nor will be."""
    return serve_once()


# --- forms -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(untouched, headers):
    server = untouched
    client = Client(server)
    page = client.begin()
    found = client.post("/answer", {**fields_of(page.text), "choice": 1}, headers=headers, origin=False)
    assert found.status == 403
    assert answers(server) == []
    assert client.post("/dashboard/state", {"do": "close"}, headers=headers, origin=False).status == 403
    # A form without a token is no better from this site.
    assert client.post("/answer", {"choice": 1}).status == 403
    assert answers(server) == []


def test_cookies_stay_on_this_site(serve):
    server = serve()
    client = Client(server)
    found = client.post("/join", {**fields_of(client.get("/").text), "consent": "yes"})
    assert {"httponly", "samesite=lax", "path=/"} <= set(found.headers["set-cookie"].lower().split("; "))


def test_a_token_that_was_used_does_nothing(serve):
    server = serve()
    client = Client(server)
    first = client.begin()
    second = client.answer(first, 1)
    for choice in (1, 2, 3):
        assert number_of(client.answer(first, choice)) == 2
    assert [(trial, choice) for _, trial, choice in answers(server)] == [(1, 1)]
    changed = {**fields_of(second.text)}
    changed["token"] = changed["token"][:-2] + ("aa" if not changed["token"].endswith("aa") else "bb")
    assert client.post("/answer", {**changed, "choice": 1}).status == 403
    assert len(answers(server)) == 1


def test_a_question_of_somebody_else(serve):
    server = serve()
    ann, bob = Client(server), Client(server)
    mine, theirs = ann.begin(), bob.begin()
    found = ann.post("/answer", {**fields_of(theirs.text), "choice": 1})
    assert found.status == 403
    assert answers(server) == []
    # With another cookie, made by hand.
    (name,) = ann.cookies
    forged = Client(server)
    forged.cookies = {name: bob.cookies[name].partition(".")[0] + "." + ann.cookies[name].partition(".")[2]}
    assert forged.post("/answer", {**fields_of(theirs.text), "choice": 1}).status == 403
    assert number_of(ann.answer(mine, 1)) == 2
    assert number_of(bob.get("/study")) == 1


@pytest.mark.parametrize("choice", ["4", "-1", "0", "", "1.0", "one", "99999999999999999999"])
def test_answers_that_are_none(untouched, choice):
    server = untouched
    client = Client(server)
    page = client.begin()
    assert client.post("/answer", {**fields_of(page.text), "choice": choice}).status == 400
    assert answers(server) == []


def test_a_question_that_was_not_asked(serve):
    """Tokens are signed with the study's key only, so this one is made with it."""
    from ordhc_collect.web.tokens import Signer

    server = serve()
    client = Client(server)
    client.begin()
    signer = Signer(server.data.with_name(f"{server.data.name}.key").read_bytes())
    (cookie,) = client.cookies.values()
    token = signer.form(signer.who(cookie), "trials", 5, 0)
    assert client.post("/answer", {"token": token, "choice": 1}).status == 403
    assert answers(server) == []


# --- scripts ---------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path):
    """A study whose items, names and pages hold scripts."""
    path = make_study(
        tmp_path, more='[pages]\nconsent = "consent.md"', study='prompt = "Which? <script>x</script>"'
    )
    (tmp_path / "consent.md").write_text(
        f'# Hi {SCRIPT}\n<img src=items/evil.svg onerror="hacked()">\n[go](javascript:hacked())\n'
    )
    items = tmp_path / "items"
    (items / "evil.svg").write_text(SVG)
    (items / "<b onclick=x()>.txt").write_text(SCRIPT)
    (items / "mark.md").write_text(
        f'**bold** {SCRIPT} <a href="javascript:x()">a</a> ![p](http://evil.example/p.png)'
    )
    (items / "=cmd|' |calc'!A1.txt").write_text("a formula")
    (items / '@SUM(1),"x.txt').write_text("another one")
    for k in range(8):
        (items / f"item{k:02}.txt").unlink()
    with ServerHere(path, data=tmp_path / "study.ordhc") as server:
        server.data = tmp_path / "study.ordhc"
        yield server


def harmless(text):
    """Nothing runs, nothing is loaded from elsewhere."""
    assert not re.search(r"<script(?! src=\"static/)", text)
    # Within a tag, not within quotes: an attribute.
    bare = re.sub(r'"[^"]*"', '""', text)
    assert not re.search(r"<[^>]*\son\w+\s*=", bare)
    assert not re.search(r"=[\s\"']*javascript:", text)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
    return True


def test_scripts_in_items_names_and_pages(hostile):
    client = Client(hostile)
    welcome = client.get("/")
    assert harmless(welcome.text)
    page = client.begin()
    seen = page.text
    for _ in range(6):
        assert harmless(page.text)
        page = client.answer(page, 1)
        seen += page.text
    assert "<strong>bold</strong>" in seen
    assert "&lt;script&gt;window.hacked=1&lt;/script&gt;" in seen
    policy = welcome.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    board = admin(hostile).get("/dashboard")
    assert harmless(board.text)
    assert "&lt;b onclick=x()&gt;" in board.text


def test_pictures_run_nothing(hostile):
    client = Client(hostile)
    found = [client.get(f"/media/{leaf}/picture") for leaf in range(5)]
    (picture,) = [answer for answer in found if answer.status == 200]
    assert "onload" in picture.text
    assert "default-src 'none'" in picture.headers["content-security-policy"]
    assert "sandbox" in picture.headers["content-security-policy"]
    assert picture.headers["x-content-type-options"] == "nosniff"
    assert picture.headers["content-type"] == "image/svg+xml"


def test_formulas_in_exports(hostile):
    client = Client(hostile)
    page = client.begin("?PROLIFIC_PID=%3DHYPERLINK(%22http://evil%22)")
    for _ in range(6):
        page = client.answer(page, 1)
    boss = admin(hostile)
    for name in ("trials.csv", "salmon.csv", "triplets.csv", "people.csv"):
        found = boss.get(f"/dashboard/download/{name}")
        assert found.status == 200
        rows = list(csv.reader(io.StringIO(found.text)))
        assert len(rows) > 1
        assert not [cell for row in rows for cell in row if cell.startswith(("=", "@", "+"))]
    assert "'=HYPERLINK" in boss.get("/dashboard/download/salmon.csv").text


# --- paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/media/../study.toml",
        "/media/0/../../study.toml",
        "/media/%2e%2e/%2e%2e/etc/passwd",
        "/media/0/picture/../../../study.toml",
        "/media/-1/picture",
        "/media/999999999999999999999/picture",
        "/media/0/secret",
        "/static/../people/study_state.py",
        "/static/%2e%2e/people/study_state.py",
        "/static/..%2fpeople%2fdesk.py",
        "/static//etc/passwd",
        "/study.ordhc",
        "/study.ordhc.key",
        "/dashboard/download/..%2f..%2fstudy.toml",
    ],
)
def test_files_of_the_study_only(untouched, path):
    server = untouched
    for client in (Client(server), admin(server)):
        found = client.get(path)
        assert found.status in (403, 404)
        assert "root:" not in found.text
        assert "import" not in found.text


def test_a_study_shows_nothing_from_outside_of_its_folder(tmp_path):
    from ordhc_collect.study.reading import study_or_problems

    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "study"
    path = make_study(folder)
    (folder / "items" / "linked.txt").symlink_to(tmp_path / "secret.txt")
    _, problems = study_or_problems(path)
    assert [line for line in problems.errors if "linked" in line and "outside" in line]
    (folder / "items" / "linked.txt").unlink()
    (folder / "table.csv").write_text("id,picture\na,../../secret.png\nb,/etc/passwd\nc,\n")
    path.write_text(
        '[study]\ntitle = "x"\n[items]\ntable = "table.csv"\n[pages]\nconsent = "../secret.txt"\n'
    )
    _, problems = study_or_problems(path)
    assert len([line for line in problems.errors if "outside" in line]) == 3
