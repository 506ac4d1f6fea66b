"""Too much at once, and those who would lead the study without leave."""

import contextlib
import socket
import sqlite3
import threading
import time

import pytest
from ordhc_collect.simulate.client import fields_of
from studies import Client, ServerHere, admin, answers, make_study, number_of, title_of

# --- too much --------------------------------------------------------------------------------


def test_bodies_of_ten_megabytes(serve):
    server = serve()
    client = Client(server)
    page = client.begin()
    token = fields_of(page.text)["token"]
    for path in ("/answer", "/next", "/join", "/dashboard/enter"):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            found = client.post(path, {"token": token, "choice": "1" * 10_000_000})
            assert found.status == 413

    def chunks():
        for _ in range(200):
            yield b"x" * 50_000

    # Without telling how long it is.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        found = client.request("POST", "/answer", chunks(), {"Transfer-Encoding": "chunked"})
        assert found.status == 413
    assert number_of(client.answer(page, 1)) == 2


@pytest.mark.slow
def test_slow_clients_hold_nobody_up(serve):
    server = serve()
    slow = []
    for k in range(300):
        each = socket.create_connection(("127.0.0.1", server.port))
        start = b"GET / HTT" if k % 2 else b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nto"
        each.sendall(start)
        slow.append(each)
    client = Client(server)
    start = time.monotonic()
    page = client.begin()
    for _ in range(6):
        page = client.answer(page, 1)
    assert title_of(page) == "Thank you!"
    assert time.monotonic() - start < 30
    # They are hung up on, though they say a little now and then.
    end = time.monotonic() + 40
    left = set(slow)
    while left and time.monotonic() < end:
        for each in list(left):
            try:
                each.sendall(b"X")
                each.settimeout(0.001)
                if not each.recv(4096):
                    left.discard(each)
            except TimeoutError:
                pass
            except OSError:
                left.discard(each)
        time.sleep(0.5)
    for each in slow:
        each.close()
    assert not left


def test_thousands_of_ids_from_one_address(serve):
    server = serve()
    client = Client(server)
    fields = [fields_of(client.get(f"/?puid=id{k}").text) for k in range(3)]
    statuses = []
    import asyncio

    from ordhc_collect.simulate.client import Browser

    async def knock(first):
        browser = Browser(server.address)
        for k in range(first, 3_000, 8):
            page = await browser.get(f"/?puid=new{k}") if k < 700 else None
            token = fields_of(page.text) if page is not None else fields[k % 3]
            statuses.append((await browser.post("/join", {**token, "consent": "yes"})).status)
            browser.cookies.clear()
        await browser.close()

    async def all_of_them():
        await asyncio.gather(*(knock(first) for first in range(8)))

    asyncio.run(all_of_them())
    assert len(statuses) == 3_000
    assert statuses.count(429) > 2_000
    with sqlite3.connect(server.data) as db:
        (count,) = db.execute("SELECT count(*) FROM collect_people").fetchone()
    assert count < 1_000
    # Others are served.
    assert Client(server).get("/").status == 200


# --- the dashboard ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/dashboard"),
        ("GET", "/dashboard?token=wrong"),
        ("GET", "/dashboard/events"),
        ("GET", "/dashboard/download/trials.csv"),
        ("GET", "/dashboard/download/study.ordhc"),
        ("POST", "/dashboard/state"),
        ("POST", "/dashboard/forget"),
        ("POST", "/dashboard/ids"),
    ],
)
def test_the_dashboard_needs_its_token(serve, method, path):
    server = serve()
    client = Client(server)
    page = client.begin("?puid=ann")
    before = client.answer(page, 1)
    token = fields_of(before.text)["token"]
    found = client.request(
        method,
        path,
        f"token={token}&do=close&person=ann" if method == "POST" else None,
        {"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert found.status == 403
    assert "<table" not in found.text
    assert number_of(client.get("/study")) == 2
    assert len(answers(server)) == 1
    # Who may look may not write without a form of the dashboard.
    if method == "POST":
        assert admin(server).post(path, {"do": "close", "person": "ann", "token": token}).status == 403
        assert len(answers(server)) == 1


def test_passwords_are_kept_as_argon2(tmp_path):
    from argon2 import PasswordHasher
    from ordhc_collect.study.reading import study_or_problems

    path = make_study(tmp_path, more='[dashboard]\npassword = "open sesame"')
    _, problems = study_or_problems(path)
    assert "[dashboard] password" in problems.errors[0]
    assert "sesame" not in "".join(problems.errors)
    hashed = PasswordHasher(time_cost=1, memory_cost=1024).hash("open sesame")
    path = make_study(tmp_path, more=f'[dashboard]\npassword = "{hashed}"')
    with ServerHere(path, data=tmp_path / "study.ordhc") as server:
        client = Client(server)
        assert client.post("/dashboard/enter", {"secret": "open"}).status == 403
        assert client.submit("/dashboard/enter", {"secret": "open sesame"}).status == 200
        assert "The tree" in client.get("/dashboard").text


def test_nothing_secret_is_logged(serve):
    server = serve(apart=True)
    client = Client(server)
    client.get("/dashboard?token=guess-that-is-wrong")
    client.post("/dashboard/enter", {"secret": "secret-that-is-wrong"})
    page = client.begin("?PROLIFIC_PID=someone-private")
    client.answer(page, 1)
    admin(server)
    client.post("/answer", {"token": "token-that-is-wrong", "choice": 1})
    told = server.stop()
    key = server.data.with_name(f"{server.data.name}.key")
    assert key.stat().st_mode & 0o077 == 0
    for secret in (
        "guess-that",
        "secret-that",
        "token-that",
        "someone-private",
        server.token,
        *client.cookies.values(),
    ):
        assert secret not in told
    # What can be read of tokens and cookies is not the dashboard's token.
    assert server.token.encode() not in server.data.read_bytes()


def test_many_at_once(serve):
    """The same form from many tabs at once is one answer."""
    server = serve()
    client = Client(server)
    page = client.begin()
    threads = [threading.Thread(target=client.answer, args=(page, k % 3 + 1)) for k in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers(server)) == 1
    assert number_of(client.get("/study")) == 2
