"""Items are added to a study and retired while its server runs."""

import sqlite3

import pytest
from ordhc_collect.study.reading import read_study
from studies import Client, ServerHere, make_study, number_of, shown_on, title_of

import ordhc
from ordhc.errors import InputError


def leaves_in(data):
    with sqlite3.connect(data) as db:
        return [
            tuple(map(int, leaves.split())) for (leaves,) in db.execute("SELECT leaves FROM collect_trials")
        ]


@pytest.mark.parametrize("question", ["odd", "triplet", "pairs"])
def test_a_question_about_a_retired_item_is_not_shown(serve, question):
    more = '[learner]\nmethod = "uncertain"\nquestion = "pairs"' if question == "pairs" else ""
    server = serve(n=9, per_person=30, study=f'question = "{question}"', more=more)
    client, other = Client(server), Client(server)
    page, late = client.begin(), other.begin()
    with ordhc.Session(server.data) as session:
        gone = shown_on(page)[0]
        session.retire(session.names[gone])
        new = client.get("/study")
        assert number_of(new) == number_of(page) == 1
        assert gone not in shown_on(new)
        # The form of the withdrawn question answers neither this question nor the new one.
        same = client.answer(page)
        assert (number_of(same), sorted(shown_on(same))) == (1, sorted(shown_on(new)))
        page = new
        for number in range(2, 25):
            page = client.answer(page)
            assert number_of(page) == number
            assert gone not in shown_on(page)
            if number == 10:
                second = shown_on(page)[1]
                session.retire(session.names[second])
                page = client.get("/study")
                assert second not in shown_on(page)
        # A person who answers before the page is shown again is heard.
        late = other.answer(late)
        assert number_of(late) == 2
        assert not {gone, second} & set(shown_on(late))


def test_questions_of_lists_and_checks_skip_retired_items(serve, tmp_path):
    rows = [
        (f"item0{a}", f"item0{b}", f"item0{c}") for a, b, c in [(0, 1, 2), (3, 4, 5), (0, 4, 6), (5, 6, 7)]
    ]
    (tmp_path / "list.csv").write_text("a,b,c\n" + "\n".join(",".join(row) for row in rows))
    (tmp_path / "gold.csv").write_text(
        "a,b,c,answer\nitem00,item03,item05,item00\nitem01,item02,item07,item01"
    )
    more = '[list]\ntable = "list.csv"\n[gold]\ntable = "gold.csv"\nper_person = 2'
    server = serve(n=8, per_person=8, top='sampler = "list"', more=more)
    with ordhc.Session(server.data) as session:
        session.retire("item00")
    client = Client(server)
    page = client.begin()
    for _ in range(8):
        assert 0 not in shown_on(page)
        page = client.answer(page)
    assert title_of(page) == "Thank you!"


def test_a_new_item_is_shown_after_the_server_has_started_again(serve, tmp_path, caplog):
    server = serve(n=6, per_person=60)
    client = Client(server)
    page = client.begin()
    with ordhc.Session(server.data) as session:
        session.add_items("wolf")
    for _ in range(12):
        assert 6 not in shown_on(page)
        page = client.answer(page)
    assert "shows these new items only after a restart of its server: wolf" in caplog.text
    server.stop()
    with pytest.raises(
        InputError,
        match=r"item 'wolf', which the study does not have: add it to \[items\].*ordhc session retire",
    ):
        ServerHere(server.study, data=server.data)
    (tmp_path / "items" / "wolf.txt").write_text("The wolf")
    with ServerHere(server.study, data=server.data) as again:
        again.data = server.data
        client.port = again.port
        page, seen = client.get("/study"), 0
        while number_of(page):
            seen += 6 in shown_on(page)
            assert ("The wolf" in page.text) == (6 in shown_on(page))
            page = client.answer(page)
        assert seen
    # The study has an item that the session does not have.
    (tmp_path / "items" / "aardvark.txt").write_text("The aardvark")
    with pytest.raises(InputError, match=r"does not have the item 'aardvark'.*ordhc session add"):
        ServerHere(server.study, data=server.data)
    with ordhc.Session(server.data) as session:
        session.add_items("aardvark")
        session.retire("item03")
    (tmp_path / "items" / "item03.txt").unlink()
    with ServerHere(server.study, data=server.data) as again:
        client = Client(again)
        page = client.begin("?lang=en")
        for _ in range(20):
            shown = shown_on(page)
            assert 3 not in shown
            assert ("The aardvark" in page.text) == (7 in shown)
            page = client.answer(page)


def test_another_study_is_refused(serve, tmp_path):
    server = serve(n=6)
    server.stop()
    other = make_study(tmp_path / "other", items={"x": "X", "y": "Y", "z": "Z"})
    with pytest.raises(InputError, match="has none of this study.s items"):
        ServerHere(other, data=server.data)


def test_practice_shows_its_own_items_in_a_session_of_another_order(tmp_path):
    (tmp_path / "practice.csv").write_text("a,b,c,answer\nitem00,item01,item02,item00")
    path = make_study(tmp_path, n=6, more='[practice]\ntable = "practice.csv"')
    study = read_study(path)
    with ordhc.Session(tmp_path / "other.ordhc", list(reversed(study.names))) as session:
        other = study.of_session(session, path)
    shown = [{study_.names[leaf] for leaf in study_.practice.rows[0]} for study_ in (study, other)]
    assert shown == [{"item00", "item01", "item02"}] * 2
