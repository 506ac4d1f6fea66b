"""What somebody may send who writes requests by hand."""

import os
import socket
import stat
import time

import pytest
from click.testing import CliRunner
from ordhc_collect.command import collect
from ordhc_collect.study.markup import from_markdown
from ordhc_collect.web import server as web_server
from ordhc_collect.web.limits import Limit
from studies import Client, Server, ServerHere, admin, make_study


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def rest_of(connection):
    """All that comes until the connection ends."""
    told = b""
    try:
        while part := connection.recv(1 << 16):
            told += part
    except ConnectionResetError:
        pass
    return told


def told(port, request):
    """The whole answer to a request written by hand, after which the server ends the connection."""
    with connected(port) as connection:
        connection.sendall(request)
        return rest_of(connection)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("body", ["Content-Length: 100000000", "Transfer-Encoding: chunked"])
def test_a_request_without_need_of_a_body_has_none(serve, method, body):
    server = serve()
    found = told(server.port, f"{method} /health HTTP/1.1\r\nHost: a\r\n{body}\r\n\r\n".encode())
    assert found.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in found
    client = Client(server)
    assert client.request("GET", "/health", headers={"Content-Length": "0"}).status == 200


def test_large_heads_are_refused(serve):
    server = serve()
    line = b"a: b\r\n"
    heads = {
        "many headers": line * 20_000,
        "a header": b"a: " + b"x" * 120_000,
        "an address": b"",
    }
    for what, head in heads.items():
        path = b"/" + b"x" * 120_000 if what == "an address" else b"/"
        found = told(server.port, b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n" + head)
        assert found.startswith(b"HTTP/1.1 431 "), what
        assert b"connection: close" in found
    # All at once, to its end.
    found = told(server.port, b"GET / HTTP/1.1\r\nHost: a\r\n" + line * 11_000 + b"\r\n")
    assert found.startswith(b"HTTP/1.1 431 ")
    assert found.count(b"HTTP/1.1") == 1
    fine = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + line * 5_000 + b"\r\n"
    assert told(server.port, fine).startswith(b"HTTP/1.1 200 ")


DRIPS = {
    "nothing": (b"", b""),
    "a head": (b"GET / HTTP/1.1\r\n", b"a: b\r\n"),
    "line ends": (b"", b"\r\n"),
    "line ends after a request": (b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n", b"\r\n"),
    "a form": (b"POST /answer HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n", b"a"),
    "a form in chunks": (
        b"POST /answer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\na\r\n",
    ),
}


def test_whoever_drips_is_hung_up_on(tmp_path, monkeypatch):
    monkeypatch.setattr(web_server, "_HEAD", 0.5)
    monkeypatch.setattr(web_server, "_BODY", 0.5)
    with ServerHere(make_study(tmp_path), data=tmp_path / "study.ordhc") as server:
        connections = {}
        for what, (first, _) in DRIPS.items():
            connections[what] = connected(server.port)
            connections[what].sendall(first)
        # Forty times as long as it may take, at most.
        for _ in range(200):
            for what, connection in list(connections.items()):
                try:
                    connection.sendall(DRIPS[what][1])
                except OSError:
                    connection.close()
                    del connections[what]
            if set(connections) <= {"nothing"}:
                break
            time.sleep(0.1)
        assert set(connections) == {"nothing"}
        with connections["nothing"] as silent:
            assert rest_of(silent) == b""


def test_hosts(serve):
    server = serve()
    for hosts, status in (("", 400), ("Host: a\r\nHost: b\r\n", 400), ("Host: evil.com\r\n", 200)):
        request = f"GET /health HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n"
        assert told(server.port, request.encode()).startswith(f"HTTP/1.1 {status} ".encode())
    assert b" 200 " in told(server.port, b"GET /health HTTP/1.0\r\n\r\n")
    for path in ("/dashboard/", "/static", "/study/", "/join/"):
        request = f"GET {path} HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\n\r\n"
        assert b"evil.com" not in told(server.port, request.encode())


def test_odd_addresses_and_origins_are_no_errors(serve, caplog, capsys):
    server = serve()
    client = Client(server)
    for leaf in ("9" * 5000, "-1", "1.0", "x", "\u0663", "8"):
        assert (
            client.get(f"/media/{leaf.encode().hex() if not leaf.isascii() else leaf}/picture").status == 404
        )
    for origin in ("http://[::1", "http://[", "//", "http://[v1.x]:99999999"):
        found = client.post("/answer", {"choice": 1}, headers={"Origin": origin})
        assert found.status == 403
        assert found.headers["x-content-type-options"] == "nosniff"
    server.stop()
    assert "Traceback" not in caplog.text + capsys.readouterr().err


def wrong(client, n, headers=None):
    return [client.post("/dashboard/enter", {"secret": "x"}, headers=headers).status for _ in range(n)]


def test_the_right_token_enters_whatever_others_try(serve):
    server = serve()
    assert len(server.token) >= 32
    assert wrong(Client(server), 30) == [403] * 10 + [429] * 20
    assert Client(server).get(f"/dashboard?token={server.token}").status == 200
    found = Client(server).post("/dashboard/enter", {"secret": server.token})
    assert (found.status, found.headers["location"]) == (303, "../dashboard")


def test_proxies_of_other_machines(tmp_path):
    path = make_study(tmp_path)
    for given, is_believed in (("127.0.0.0/8,10.1.2.3", True), ("10.1.2.3", False), (None, True)):
        data = tmp_path / "study.ordhc"
        # The option without a value needs the command.
        running = (
            Server(path, "--behind-proxy", data=data)
            if given is None
            else ServerHere(path, data=data, proxies=given)
        )
        with running as server:
            ann, bob = ({"X-Forwarded-For": f"198.51.100.{k}", "X-Forwarded-Proto": "https"} for k in (1, 2))
            assert wrong(Client(server), 11, headers=ann)[10] == 429
            assert wrong(Client(server), 1, headers=bob) == [403 if is_believed else 429]
            page = Client(server).get(f"/dashboard?token={server.token}", headers=None)
            assert page.status == 200
            entered = Client(server).request("GET", f"/dashboard?token={server.token}", headers=bob)
            assert ("secure" in entered.headers["set-cookie"].lower()) == is_believed


@pytest.mark.parametrize("given", ["study.toml", "10.0.0.0/33", "*", "10.0.0.1,", "proxy.example"])
def test_proxies_that_are_no_addresses(tmp_path, given):
    found = CliRunner().invoke(collect, ["--behind-proxy", given, str(make_study(tmp_path))])
    assert found.exit_code == 2
    assert "is not an IP address or a network" in found.output


def test_all_addresses_of_a_network_are_one():
    limit = Limit(10, 10)
    assert [limit.allows(f"2001:db8:1:2::{k:x}") for k in range(30)] == [True] * 10 + [False] * 20
    assert limit.allows("2001:db8:1:3::1")
    assert [limit.allows(f"::ffff:192.0.2.{k}") for k in range(30)] == [True] * 30
    assert all(limit.allows(address) for address in ("", "192.0.2.1", "testclient", "fe80::1%eth0"))


def test_what_people_said_is_for_the_owner_alone(tmp_path):
    path = make_study(tmp_path)
    data, table = tmp_path / "study.ordhc", tmp_path / "answers.csv"
    old = os.umask(0o022)
    try:
        with ServerHere(path, data=data) as server:
            client = Client(server)
            client.answer(client.begin())
            admin(server).get("/dashboard/download/study.ordhc")
            files = [data, *(data.with_name(f"{data.name}{end}") for end in ("-wal", "-shm", ".key"))]
            rights = {file.name: stat.S_IMODE(file.stat().st_mode) for file in files}
        found = CliRunner().invoke(collect, [str(path), "--data", str(data), "--export", str(table)])
        assert found.exit_code == 0, found.output
    finally:
        os.umask(old)
    rights[table.name] = stat.S_IMODE(table.stat().st_mode)
    assert set(rights.values()) == {0o600}, rights


def test_files_that_become_links(serve, tmp_path, caplog, capsys):
    secret = tmp_path.parent / f"{tmp_path.name}-secret.png"
    secret.write_bytes(b"secret")
    folder = tmp_path / "items"
    folder.mkdir()
    for name in ("b", "c"):
        (folder / f"{name}.png").write_bytes(b"GIF89a picture")
    server = serve()
    client = Client(server)
    pages = [client.get(f"/media/{leaf}/picture") for leaf in range(10)]
    assert sorted(page.status for page in pages) == [200] * 2 + [404] * 8
    leaves = [leaf for leaf, page in enumerate(pages) if page.status == 200]
    (folder / "b.png").unlink()
    (folder / "b.png").symlink_to(secret)
    assert [client.get(f"/media/{leaf}/picture").status for leaf in leaves] == [404, 200]
    # Within the folder a link is as good as a file.
    (folder / "b.png").unlink()
    (folder / "b.png").symlink_to(folder / "c.png")
    assert [client.get(f"/media/{leaf}/picture").text for leaf in leaves] == ["GIF89a picture"] * 2
    (folder / "b.png").unlink()
    assert client.get(f"/media/{leaves[0]}/picture").status == 404
    server.stop()
    assert "Traceback" not in caplog.text + capsys.readouterr().err


@pytest.mark.parametrize(
    "address",
    [
        "\\\\evil.example/x.png",
        "/\\evil.example/x.png",
        "\\/evil.example/x.png",
        "//evil.example/x.png",
        " //evil.example/x.png",
        "&#9;//evil.example/x.png",
        "&#1;\\\\evil.example/x.png",
        "ht&#10;tp://evil.example/x.png",
        "&#92;&#92;evil.example/x.png",
        "HTTPS://evil.example/x.png",
    ],
)
def test_pictures_of_elsewhere_are_left_out(address):
    assert "evil" not in from_markdown(f'<img src="{address}" alt="a">')
    assert 'src="own.png"' in from_markdown('<img src="own.png" alt="a">')
