"""The compose file: Caddy, with a certificate, in front of the demo."""

import ipaddress
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from ordhc_collect.command import collect
from studies import Client, Server

yaml = pytest.importorskip("yaml")
COMPOSE = Path(__file__).parents[1] / "deploy" / "compose.yaml"


@pytest.fixture
def compose():
    return yaml.safe_load(COMPOSE.read_text())


def test_the_command_is_one_that_there_is(compose):
    name, *arguments = compose["services"]["study"]["command"]
    assert name == "collect"
    given = collect.make_context("collect", arguments).params
    assert (given["demo"], given["host"], given["port"]) == (True, "0.0.0.0", 8000)
    (network,) = compose["networks"]["default"]["ipam"]["config"]
    assert given["behind_proxy"] == network["subnet"] == str(ipaddress.ip_network(network["subnet"]))
    # Nothing but Caddy is open to others, and answers outlive the container.
    study = compose["services"]["study"]
    assert "ports" not in study
    assert "answers:/data" in study["volumes"]
    assert given["data"].startswith("/data/")
    repository = (COMPOSE.parent / study["build"]).resolve()
    assert (repository / "Dockerfile").is_file()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.skipif(shutil.which("caddy") is None, reason="no Caddy (apt-get install caddy)")
def test_caddy_serves_the_demo_behind_tls(compose, tmp_path):
    port = free_port()
    with Server("--demo", "--behind-proxy") as server, (tmp_path / "log").open("w") as log:
        text = compose["configs"]["caddyfile"]["content"].replace("$$", "$")
        # The ports 80 and 443 need rights that tests do not have.
        options = f"admin off\nhttp_port {free_port()}\nauto_https disable_redirects\nskip_install_trust\n"
        options = f"{{\n{options}}}\n"
        text = options + text.replace("study:8000", f"127.0.0.1:{server.port}")
        (tmp_path / "Caddyfile").write_text(text)
        env = {
            **os.environ,
            "DOMAIN": f"localhost:{port}",
            "XDG_DATA_HOME": str(tmp_path),
            "HOME": str(tmp_path),
        }
        caddy = subprocess.Popen(
            ["caddy", "run", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"],
            env=env, stdout=subprocess.DEVNULL, stderr=log,
        )  # fmt: skip
        try:
            authority = tmp_path / "caddy" / "pki" / "authorities" / "local" / "root.crt"
            end = time.monotonic() + 30
            while not authority.exists() and time.monotonic() < end:
                time.sleep(0.1)
            trusting = ssl.create_default_context(cafile=str(authority))
            while True:
                try:
                    page = urlopen(f"https://localhost:{port}/", timeout=10, context=trusting)
                    break
                except OSError:
                    assert time.monotonic() < end, (tmp_path / "log").read_text()
                    time.sleep(0.2)
            with page:
                assert b"Which animals" in page.read()
            # Behind TLS cookies are secure: the server believes what this proxy says of the client.
            token = re.search(r"token=(\S+)", server.dashboard)[1]
            inner = Client(server)
            reply = inner.request("GET", f"/dashboard?token={token}", None, {"X-Forwarded-Proto": "https"})
            assert "Secure" in reply.headers["set-cookie"]
        finally:
            caddy.terminate()
            caddy.wait(20)
