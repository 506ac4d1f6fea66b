"""From consent to the code, as a browser without a script does it."""

import sqlite3
import time

import pytest
from ordhc_collect.simulate.client import fields_of
from studies import Client, ServerHere, admin, number_of, shown_on, title_of

import ordhc

CHECK = """
[[comprehension.questions]]
question = "What do you choose?"
options = ["the best", "the odd one"]
answer = 2
[outcomes.done]
code = "DONE1"
url = "https://example.org/complete?cc={code}&id={id}"
[outcomes.failed_checks]
code = "FAIL1"
"""


def trials(server):
    with sqlite3.connect(server.data) as db:
        rows = db.execute(
            "SELECT person, trial, choice, status, sides, leaves, attempt FROM collect_trials ORDER BY asked"
        )
        return rows.fetchall()


def test_all_the_way(serve, caplog, capsys):
    server = serve(more=CHECK, per_person=4)
    client = Client(server)
    page = client.join("?PROLIFIC_PID=abc123")
    assert title_of(page) == "How it works"
    page = client.submit("/next", fields_of(page.text))
    assert title_of(page) == "A short check"
    page = client.submit("/next", {**fields_of(page.text), "choice-0": 1})
    for number in range(1, 5):
        assert number_of(page) == number
        assert len(set(shown_on(page))) == 3
        page = client.answer(page, number % 3 + 1, ms=1234)
    assert title_of(page) == "Thank you!"
    page = client.submit("/next", fields_of(page.text))
    assert "DONE1" in page.text
    assert 'href="https://example.org/complete?cc=DONE1&amp;id=abc123"' in page.text
    # Whoever comes back is where they were, with their cookie or without.
    assert "DONE1" in client.get("/").text
    assert "DONE1" in Client(server).join("?PROLIFIC_PID=abc123").text
    server.stop()
    assert caplog.text + "".join(capsys.readouterr()) == ""
    with ordhc.Session(server.data) as session:
        assert session.status.n_answered == 4
        table = session.table()
    assert table["seconds"].tolist() == pytest.approx([1.234] * 4)
    for row, (_, _, choice, status, sides, leaves, _) in zip(range(4), trials(server), strict=True):
        shown = [int(leaves.split()[int(side)]) for side in sides.split()]
        told = [table[f"leaf_{place}"][row] for place in (1, 2, 3)]
        assert shown[choice - 1] == told[table["answer"][row]]
        assert status == "taken"


def test_an_icon_is_found_where_browsers_look_for_it(serve):
    """They ask for it at addresses that no page of ours is at: a picture of its own, a text."""
    found = Client(serve()).get("/favicon.ico")
    assert (found.status, found.headers["content-type"]) == (200, "image/svg+xml")
    assert "<svg" in found.text


def test_the_check_has_two_tries(serve):
    server = serve(more=CHECK)
    client = Client(server)
    page = client.join()
    for _ in range(2):
        assert title_of(page) == "How it works"
        page = client.submit("/next", fields_of(page.text))
        page = client.submit("/next", {**fields_of(page.text), "choice-0": 0})
    assert "FAIL1" in page.text
    assert title_of(page) == "The study ends here for you"


def test_screening(serve):
    more = """
[[screening.questions]]
question = "How old are you?"
options = ["under 18", "18 to 99"]
accept = [2]
[outcomes.screened_out]
code = "OUT1"
"""
    server = serve(more=more)
    client = Client(server)
    page = client.join()
    assert title_of(page) == "Before we begin"
    page = client.submit("/next", {**fields_of(page.text), "choice-0": 0})
    assert "OUT1" in page.text
    client = Client(server)
    page = client.submit("/next", {**fields_of(client.join().text), "choice-0": 1})
    assert title_of(page) == "How it works"


def test_no_consent_keeps_nothing(serve):
    server = serve()
    client = Client(server)
    page = client.join("?PROLIFIC_PID=nobody", consent="no")
    assert title_of(page) == "You have chosen not to take part"
    with sqlite3.connect(server.data) as db:
        assert db.execute("SELECT count(*) FROM collect_people").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM collect_ids").fetchone() == (0,)


def test_reload_and_second_tab_double_nothing(serve):
    server = serve(per_person=5)
    client = Client(server)
    first = client.begin()
    again = client.get("/study")
    assert shown_on(first) == shown_on(again)
    second = client.answer(first, 1)
    assert number_of(second) == 2
    # The other tab still shows the first question, and answers otherwise.
    stale = client.answer(again, 2)
    assert number_of(stale) == 2
    assert shown_on(stale) == shown_on(second)
    # The same answer twice, as after a lost connection.
    third = client.answer(second, 3)
    assert number_of(client.answer(second, 3)) == 3
    client.answer(third, 1)
    server.stop()
    assert [row[2] for row in trials(server)] == [1, 3, 1, None]
    with ordhc.Session(server.data) as session:
        assert session.status.n_answered in (2, 3)


def test_an_answer_that_comes_too_soon_does_not_count(serve):
    """The second click of two: the next question is not yet seen. It is shown again, kindly."""
    server = serve(per_person=3, minimum=5)
    client = Client(server)
    first = client.begin()
    early = client.answer(first, 1)
    assert (early.status, number_of(early), shown_on(early)) == (200, 1, shown_on(first))
    server.later(6)
    second = client.answer(early, 2)
    assert number_of(second) == 2
    assert number_of(client.answer(second, 1)) == 2
    # What is taken back was seen long ago.
    back = client.submit("/answer", {"token": fields_of(second.text)["token"], "undo": 1})
    assert number_of(client.answer(back, 3)) == 2
    server.stop()
    assert [row[2] for row in trials(server)] == [3, None]


@pytest.mark.parametrize("name", ["{{%PROLIFIC_PID%}}", "{{PID}}", "%PROLIFIC_PID%", "${workerId}"])
def test_a_link_that_nobody_has_filled_in_merges_nobody(serve, caplog, name):
    server = serve()
    link = f"?PROLIFIC_PID={name}"
    for _ in range(2):
        page = Client(server).get(f"/{link}")
        assert page.status == 400
        assert title_of(page) == "Your link is not complete"
    with sqlite3.connect(server.data) as db:
        assert db.execute("SELECT count(*) FROM collect_people").fetchone() == (0,)
    board = admin(server).get("/dashboard").text
    assert "2 people came by a link" in board
    assert "PROLIFIC_PID" in board
    assert "PROLIFIC_PID is not filled in" in caplog.text


def test_parameters_of_links_in_any_case(serve):
    server = serve(per_person=2)
    Client(server).begin("?prolific_pid=ann")
    assert number_of(Client(server).join("?Prolific_PID=ann")) == 1
    with sqlite3.connect(server.data) as db:
        rows = db.execute("SELECT parameter, platform FROM collect_ids").fetchall()
    assert rows == [("PROLIFIC_PID", "ann")]


def test_undo(serve):
    server = serve(per_person=3)
    client = Client(server)
    first = client.begin()
    second = client.answer(first, 1)
    assert 'name="undo" value="1"' in second.text
    token = fields_of(second.text)["token"]
    back = client.submit("/answer", {"token": token, "undo": 1})
    assert number_of(back) == 1
    assert shown_on(back) == shown_on(first)
    # What was taken back comes not again, though its form is sent once more.
    assert number_of(client.answer(first, 2)) == 1
    after = client.answer(back, 3)
    assert number_of(after) == 2
    assert shown_on(after) == shown_on(second)
    # Undo reaches back one answer, and only once.
    third = client.answer(after, 1)
    back = client.submit("/answer", {"token": fields_of(third.text)["token"], "undo": 2})
    assert number_of(back) == 2
    assert 'name="undo"' not in back.text
    page = client.answer(client.answer(back, 1), 1)
    client.submit("/next", fields_of(page.text))
    server.stop()
    assert [(row[2], row[6]) for row in trials(server)] == [(3, 1), (1, 1), (1, 0)]
    with ordhc.Session(server.data) as session:
        assert session.status.n_answered == 3
        assert [person.n_answers for person in session.people().values()] == [3]


def test_an_answer_is_told_when_it_is_too_late_to_take_it_back(tmp_path, serve):
    server = serve(more="undo_seconds = 0.5")
    client = Client(server)
    second = client.answer(client.begin(), 1)
    deadline = time.monotonic() + 15
    while [row[3] for row in trials(server)][:1] != ["taken"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    page = client.submit("/answer", {"token": fields_of(second.text)["token"], "undo": 1})
    assert number_of(page) == 2


def test_places(serve):
    server = serve(per_person=2, more="[people]\ntotal = 2\nleave_after = 5")
    clients = [Client(server) for _ in range(3)]
    pages = [client.begin() for client in clients[:2]]
    assert title_of(clients[2].join()) == "All places are taken"
    page = clients[0].answer(clients[0].answer(pages[0], 1), 1)
    assert "Finish" in page.text
    clients[0].submit("/next", fields_of(page.text))
    # The second one leaves, so the third one gets the place.
    server.later(6)
    deadline = time.monotonic() + 15
    while title_of(page := clients[2].join()) == "All places are taken":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert title_of(page) == "How it works"
    assert title_of(clients[1].get("/study")) == "Your place was given to someone else"


@pytest.mark.parametrize(
    ("question", "top"),
    [("triplet", ""), ("pairs", 'sampler = "random"'), ("odd", 'sampler = "random"'), ("pairs", "")],
)
def test_questions_of_each_kind(serve, question, top):
    server = serve(study=f'question = "{question}"\nnone = true', top=top, per_person=6)
    client = Client(server)
    page = client.begin()
    width = {"odd": 3, "triplet": 3, "pairs": 4}[question]
    for k in range(6):
        assert len(shown_on(page)) == width
        page = client.answer(page, k % 3)
    assert title_of(page) == "Thank you!"
    client.submit("/next", fields_of(page.text))
    server.stop()
    with ordhc.Session(server.data) as session:
        assert session.status.n_answered == 6
        table = session.table()
        rows = zip(*(values for name, values in table.items() if name.startswith("leaf_")), strict=True)
    for (_, _, choice, _, sides, leaves, _), row, answer in zip(
        trials(server), rows, table["answer"], strict=True
    ):
        leaves, sides = [int(x) for x in leaves.split()], [int(x) for x in sides.split()]
        assert leaves == list(row)
        shown = [leaves[side] for side in sides]
        if choice == 0:
            assert answer == (-1 if question == "odd" else 0)
        elif question == "odd":
            assert shown[choice - 1] == leaves[answer]
        elif question == "triplet":
            near = leaves[:2] if answer == 1 else leaves[2:]
            assert set(near) == {shown[0], shown[choice]}
        else:
            near = leaves[:2] if answer == 1 else leaves[2:]
            assert set(near) == set(shown[2 * choice - 2 : 2 * choice])


def test_list_of_questions(tmp_path, serve):
    (tmp_path / "list.csv").write_text(
        "a,b,c\nitem00,item01,item02\nitem03,item04,item05\nitem00,item06,item07\n"
    )
    server = serve(top='sampler = "list"', more='[list]\ntable = "list.csv"', per_person=3)
    for _ in range(2):
        client = Client(server)
        page = client.begin()
        seen = []
        for _ in range(3):
            seen.append(tuple(sorted(shown_on(page))))
            page = client.answer(page, 1)
        assert sorted(seen) == [(0, 1, 2), (0, 6, 7), (3, 4, 5)]


def test_languages(serve):
    server = serve(study='languages = ["en", "de", "fr", "es"]')
    client = Client(server)
    assert "einverstanden" in client.get("/", {"Accept-Language": "de-AT,en;q=0.5"}).text
    page = client.get("/?lang=fr&PROLIFIC_PID=x")
    assert '<html lang="fr">' in page.text
    assert "PROLIFIC_PID=x&amp;lang=es" in page.text
    page = client.submit("/join", {**fields_of(page.text), "consent": "yes"})
    assert title_of(page) == "Comment ça marche"


def test_another_language_is_a_file(tmp_path, serve):
    (tmp_path / "locale").mkdir()
    (tmp_path / "locale" / "it.po").write_text(
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        'msgid "How it works"\nmsgstr "Come funziona"\n'
    )
    server = serve(study='languages = ["it"]')
    page = Client(server).join()
    assert title_of(page) == "Come funziona"
    assert '<html lang="it">' in page.text


def test_a_language_that_runs_from_right_to_left(tmp_path, serve):
    (tmp_path / "locale").mkdir()
    head = '"Content-Type: text/plain; charset=utf-8\\n"'
    (tmp_path / "locale" / "ar.po").write_text(f'msgid ""\nmsgstr ""\n{head}\n')
    server = serve(study='languages = ["en", "ar"]')
    assert '<html lang="ar" dir="rtl">' in Client(server).get("/?lang=ar").text
    assert '<html lang="en">' in Client(server).get("/?lang=en").text


def test_restart_goes_on(serve, tmp_path):
    server = serve(apart=True, per_person=4)
    client = Client(server)
    page = client.answer(client.begin(), 2)
    server.kill()
    with ServerHere(server.study, data=server.data) as again:
        client.port = again.port
        after = client.get("/study")
        assert number_of(after) == 2
        assert shown_on(after) == shown_on(page)
        assert 'name="undo" value="1"' in after.text
        for _ in range(3):
            after = client.answer(after, 1)
        assert title_of(after) == "Thank you!"
