"""What is made of the answers: files, the dashboard's numbers, people who are left out or erased."""

import csv
import io
import sqlite3

import pytest
from ordhc_collect.simulate.client import fields_of
from studies import Client, ServerHere, admin, answers, make_study, number_of, title_of

import ordhc
from ordhc.errors import InputError
from support.processes import command_here


def collect(*arguments):
    return command_here("collect", *arguments)


def take_part(server, name, n, choose=lambda number: 1, ms=1500):
    client = Client(server)
    page = client.begin(f"?PROLIFIC_PID={name}")
    for _ in range(n):
        page = client.answer(page, choose(number_of(page)), ms=ms)
    if "data-trial" not in page.text:
        client.submit("/next", fields_of(page.text))
    return client


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_exports(serve, tmp_path):
    server = serve(per_person=6, top='sampler = "random"')
    for k in range(3):
        take_part(server, f"person{k}", 6, lambda number: number % 3 + 1)
    server.stop()
    out = tmp_path / "answers.csv"
    found = collect(server.study, "--data", server.data, "--export", out)
    assert found.returncode == 0, found.stderr
    following = f"ordhc cluster {out} --format salmon"
    assert found.stdout == f"wrote    {out}: 36 rows of salmon\nnext     {following}\n"
    salmon = rows_of(out.read_text())
    assert list(salmon[0]) == [
        "head",
        "left",
        "right",
        "winner",
        "puid",
        "response_time",
        "time_received",
        "sampler",
        "answer",
        "weight",
        "excluded",
    ]
    assert len(salmon) == 2 * 18
    for row in salmon:
        assert row["winner"] in (row["left"], row["right"])
        assert len({row["head"], row["left"], row["right"]}) == 3
        assert row["puid"] in ("person0", "person1", "person2")
        assert float(row["response_time"]) == 1.5
        assert row["sampler"] == "random"
    collect(server.study, "--data", server.data, "--export", out, "--as", "trials")
    trials = rows_of(out.read_text())
    assert len(trials) == 18
    assert [row["trial"] for row in trials[:2]] == ["1", "2"]
    for row in trials:
        assert row["answer"] == row[f"shown_{row['position']}"]
        assert row["status"] == "taken"
    collect(server.study, "--data", server.data, "--export", out, "--as", "triplets")
    assert len(rows_of(out.read_text())) == 36
    # The same answers, whichever way they are read.
    with ordhc.Session(server.data) as session:
        expected = {tuple(session.names[leaf] for leaf in row) for row in session.comparisons()}
    columns = ("anchor_name", "near_name", "far_name")
    assert {tuple(row[key] for key in columns) for row in rows_of(out.read_text())} == expected
    loser = {(row["head"], row["winner"], *({row["left"], row["right"]} - {row["winner"]})) for row in salmon}
    assert loser == expected
    collect(server.study, "--data", server.data, "--export", out)
    read = ordhc.read_answers(out, format="salmon")
    assert {tuple(read.names[leaf] for leaf in row) for row in read} == expected


def test_a_time_that_no_page_has_measured_is_blank(serve, tmp_path):
    """The server's clock counts what a page takes to arrive, too: the two are not mixed in a column."""
    server = serve(per_person=3, top='sampler = "random"')
    take_part(server, "measured", 3)
    take_part(server, "plain", 3, ms="")
    server.stop()
    out = tmp_path / "answers.csv"
    collect(server.study, "--data", server.data, "--export", out)
    assert {(row["puid"], row["response_time"]) for row in rows_of(out.read_text())} == {
        ("measured", "1.5"),
        ("plain", ""),
    }
    assert collect(server.study, "--data", server.data, "--export", server.data).returncode == 2


def test_pairs_have_no_place_in_salmons_columns(serve, tmp_path):
    server = serve(study='question = "pairs"', top='sampler = "random"')
    take_part(server, "ann", 6)
    server.stop()
    found = collect(server.study, "--data", server.data, "--export", tmp_path / "a.csv", "--as", "salmon")
    assert found.returncode == 2
    assert "format cannot store questions about two pairs" in found.stderr
    assert not (tmp_path / "a.csv").exists()
    assert collect(server.study, "--data", server.data, "--export", tmp_path / "a.csv").returncode == 0
    assert len(rows_of((tmp_path / "a.csv").read_text())) == 6


def test_rules_leave_people_out_and_delete_nothing(serve):
    server = serve(
        per_person=10, top='sampler = "random"', more="[exclude]\nseconds = 0.3\nsame_side = 0.9", n=9
    )
    take_part(server, "slow", 10, lambda number: number % 3 + 1)
    take_part(server, "fast", 10, lambda number: number % 3 + 1, ms=100)
    take_part(server, "same", 10, lambda number: 2)
    boss = admin(server)
    people = {row["puid"]: row for row in rows_of(boss.get("/dashboard/download/people.csv").text)}
    assert people["slow"]["excluded"] == ""
    assert people["fast"]["excluded"] == "too fast: 0.10 s"
    assert people["same"]["excluded"] == "same place: 100%"
    assert len(rows_of(boss.get("/dashboard/download/trials.csv").text)) == 30
    assert len(rows_of(boss.get("/dashboard/download/triplets.csv").text)) == 20
    with ordhc.Session(server.data) as session:
        assert session.status.n_answered == 30


def test_gold_tells_who_is_reliable(serve, tmp_path):
    lines = ["a,b,c,answer", *(f"item{k:02},item{k + 1:02},item{k + 2:02},item{k + 2:02}" for k in range(6))]
    (tmp_path / "gold.csv").write_text("\n".join(lines) + "\n")
    more = '[gold]\ntable = "gold.csv"\nper_person = 6\n[exclude]\nfailed_gold = 0.5'
    server = serve(per_person=6, more=more)

    def all_the_way(name, is_right):
        from studies import shown_on

        client = Client(server)
        page = client.begin(f"?puid={name}")
        for _ in range(6):
            shown = shown_on(page)
            page = client.answer(page, 1 + shown.index(max(shown) if is_right else min(shown)))
        client.submit("/next", fields_of(page.text))

    all_the_way("good", True)
    all_the_way("bad", False)
    people = {row["puid"]: row for row in rows_of(admin(server).get("/dashboard/download/people.csv").text)}
    assert float(people["good"]["gold"]) == 1
    assert float(people["bad"]["gold"]) == 0
    assert float(people["good"]["reliability"]) > 0.8 > 0.4 > float(people["bad"]["reliability"])
    assert people["bad"]["excluded"] == "gold: 0% right"


@pytest.mark.parametrize("way", ["dashboard", "command"])
def test_erasing_somebody_erases_them(serve, way):
    # Its file is read while it runs, which would end the locks of a server in this process.
    server = serve(apart=way == "dashboard", per_person=6)
    take_part(server, "ann-the-first-of-all", 6)
    take_part(server, "bob-who-wants-to-leave", 6)
    with sqlite3.connect(server.data) as db:
        ids = dict(db.execute("SELECT platform, person FROM collect_ids"))
    secret = ids["bob-who-wants-to-leave"]
    if way == "dashboard":
        boss = admin(server)
        page = boss.get("/dashboard")
        token = fields_of(page.text)["token"]
        fields = {"token": token, "person": "bob-who-wants-to-leave"}
        asked = boss.post("/dashboard/forget", fields)
        assert title_of(asked) == "Erase this person?"
        assert (
            f"<code>{secret}</code> (<code>bob-who-wants-to-leave</code>). Number of answers: 6."
            in asked.text
        )
        assert fields_of(asked.text)["person"] == "bob-who-wants-to-leave"
        # One click erases nobody.
        assert len(answers(server)) == 12
        found = boss.post("/dashboard/forget", fields_of(asked.text))
        assert found.status == 200, found.text
        assert "Number of erased answers: 6" in found.text
        assert boss.post("/dashboard/forget", {"token": token, "person": "bob"}).status == 404
        # While the server runs.
        read = [path.read_bytes() for path in server.data.parent.glob("study.ordhc*")]
    else:
        server.stop()
        found = collect(server.study, "--data", server.data, "--forget", "bob-who-wants-to-leave")
        assert found.returncode == 0, found.stderr
        assert "6 answers are erased" in found.stdout
        read = [path.read_bytes() for path in server.data.parent.glob("study.ordhc*")]
    assert len(read) >= 3
    for found in read:
        assert b"bob-who-wants" not in found
        assert secret.encode() not in found
    assert any(b"ann-the-first" in found for found in read)
    server.stop()
    with ordhc.Session(server.data) as session:
        assert list(session.people()) == [ids["ann-the-first-of-all"]]
        assert session.status.n_answered == 6


def test_the_ids_of_the_platform_can_be_deleted(serve, tmp_path):
    server = serve(per_person=6)
    take_part(server, "somebody-known", 6)
    server.stop()
    assert collect(server.study, "--data", server.data, "--delete-ids").stdout.startswith("1 ids")
    collect(server.study, "--data", server.data, "--export", tmp_path / "a.csv")
    rows = rows_of((tmp_path / "a.csv").read_text())
    assert rows
    assert {len(row["puid"]) for row in rows} == {20}


def test_the_dashboard_asks_before_it_deletes_ids(serve):
    server = serve(per_person=6)
    for name in ("ann", "bob"):
        take_part(server, name, 6)
    boss = admin(server)
    token = fields_of(boss.get("/dashboard").text)["token"]

    def ids():
        with sqlite3.connect(server.data) as db:
            return db.execute("SELECT count(*) FROM collect_ids").fetchone()[0]

    asked = boss.post("/dashboard/ids", {"token": token})
    assert title_of(asked) == "Delete all platform ids?"
    assert "Number of ids: 2." in asked.text
    assert "you cannot find people by their ids" in asked.text
    assert ids() == 2
    assert (
        "The ids of the platform are deleted: 2." in boss.post("/dashboard/ids", fields_of(asked.text)).text
    )
    assert ids() == 0
    assert boss.post("/dashboard/ids", {"confirmed": "yes"}).status == 403


def test_the_dashboard_shows_planned_and_actual_shares(serve):
    server = serve(per_person=10, top="[sampler]\nheldout = 1\nrandom = 4")
    take_part(server, "ann", 10)
    page = admin(server).get("/dashboard").text
    for name, share, count in (("heldout", "20%", 2), ("random", "80%", 8)):
        assert f'<th scope="row">{name}</th><td>{share}</td><td>{share}</td><td>{count}</td>' in page


def test_closing_lets_nobody_new_in(serve):
    server = serve(per_person=6)
    client = Client(server)
    page = client.begin()
    boss = admin(server)
    token = fields_of(boss.get("/dashboard").text)["token"]
    assert "Closed" in boss.submit("/dashboard/state", {"token": token, "do": "close"}).text
    assert "This study has ended" in Client(server).get("/").text
    # Who has begun may finish.
    for _ in range(6):
        page = client.answer(page, 1)
    assert "Finish" in page.text
    boss.submit("/dashboard/state", {"token": token, "do": "resume"})
    assert "I agree" in Client(server).get("/").text


def test_the_dashboard_counts(serve):
    server = serve(
        per_person=6, more='[pay]\nper_person = 1.5\ncurrency = "EUR"\nfee = 0.2', top='sampler = "heldout"'
    )
    for k in range(3):
        take_part(server, f"p{k}", 6, lambda number: number % 3 + 1)
    page = admin(server).get("/dashboard").text
    assert "<b>18</b><span>answers</span>" in page
    assert "<b>3</b><span>done</span>" in page
    assert "<b>5.40</b><span>cost so far</span>" in page
    assert "<b>1.5 s</b>" in page


def test_another_study_does_not_use_the_file(serve, tmp_path):
    server = serve(per_person=6)
    server.stop()
    other = make_study(tmp_path / "other", 5)
    with pytest.raises(InputError, match="which the study does not have"):
        ServerHere(other, data=server.data)
