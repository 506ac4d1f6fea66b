"""Studies in folders, and servers of them, for tests."""

import asyncio
import contextlib
import http.client
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import urlencode, urljoin, urlsplit

import uvicorn.server
from ordhc_collect.simulate.client import fields_of
from ordhc_collect.study.reading import read_study
from ordhc_collect.web import server as web_server

MINIMAL = """
[study]
title = "Things"
[items]
folder = "items"
[trials]
per_person = {per_person}
min_seconds = {minimum}
{more}
"""


def make_study(folder, n=8, *, per_person=6, top="", more="", items=None, study="", minimum=0):
    """A study of texts in a folder; the path of its file."""
    folder = Path(folder)
    (folder / "items").mkdir(parents=True, exist_ok=True)
    for name, text in (items or {f"item{k:02}": f"Item {k}" for k in range(n)}).items():
        (folder / "items" / f"{name}.txt").write_text(text)
    text = MINIMAL.format(per_person=per_person, minimum=minimum, more=more)
    if study:
        text = text.replace('title = "Things"', f'title = "Things"\n{study}')
    path = folder / "study.toml"
    path.write_text(f"{top}\n{text}")
    return path


class Server:
    """`ordhc collect` in a process of its own."""

    def __init__(self, *arguments, data=None, port=0, env=None, wait=True):
        command = [sys.executable, "-m", "ordhc", "collect", *map(str, arguments), "--port", str(port)]
        if data is not None:
            command += ["--data", str(data)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.address = self.dashboard = None
        self.told = ""
        if wait:
            self.wait()

    def wait(self):
        """Until it has told its addresses."""
        for line in self.process.stdout:
            self.told += line
            if found := re.search(r"(http\S+)", line):
                if "token=" in found[1]:
                    self.dashboard = found[1]
                else:
                    self.address = found[1].rstrip("/")
            if line.startswith("Ctrl-C"):
                break
        else:
            raise AssertionError(self.process.stderr.read())
        self.port = urlsplit(self.address).port
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if Client(self).get("/health").status == 200:
                    return
            time.sleep(0.02)
        raise AssertionError("the server doesn't answer")

    @property
    def token(self):
        return self.dashboard.rpartition("token=")[2]

    def stop(self):
        """End it as Ctrl-C does; what it wrote to standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            _, told = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, told = self.process.communicate()
            raise AssertionError(f"it does not end: {told}") from None
        return told

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class _Hasty:
    """`asyncio` for uvicorn, which checks every 0.1 s whether to end, and waits 0.1 s before it ends."""

    def __getattr__(self, name):
        return getattr(asyncio, name)

    @staticmethod
    def sleep(seconds):
        return asyncio.sleep(seconds / 20)


uvicorn.server.asyncio = _Hasty()


class ServerHere:
    """A server in a thread of this process. It starts at once, but has no process to kill or to read."""

    def __init__(self, path, *, data, port=0, **options):
        started = SimpleQueue()

        def serve():
            try:
                web_server.serve(read_study(path), data, port=port, on_start=started.put, **options)
            except Exception as error:
                started.put(error)

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        self._served = started.get(timeout=30)
        if isinstance(self._served, Exception):
            raise self._served
        self.address, self.token = self._served.address, self._served.token
        self.dashboard = f"{self.address}/dashboard?token={self.token}"
        self.port = urlsplit(self.address).port

    def later(self, seconds):
        """Let time pass for the study."""
        self._served.state.clock._start += seconds

    def stop(self):
        """End it as Ctrl-C does."""
        self._served.stop()
        self._thread.join(30)
        assert not self._thread.is_alive(), "the server does not end"

    kill = stop

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text


class Client:
    """A plain client that keeps cookies and sends what it is told, by the book or not."""

    def __init__(self, server):
        self.host, self.port = "127.0.0.1", urlsplit(server.address).port
        self.cookies = {}

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            sent = dict(headers or {})
            if self.cookies:
                sent.setdefault("Cookie", "; ".join(f"{key}={value}" for key, value in self.cookies.items()))
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            for key, value in answer.getheaders():
                if key.lower() == "set-cookie":
                    name, _, kept = value.partition(";")[0].partition("=")
                    self.cookies[name] = kept
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode("utf-8", "replace"))
        finally:
            connection.close()

    def get(self, path, headers=None):
        found = self.request("GET", path, None, headers)
        while found.status == 303:
            path = urljoin(path, found.headers["location"])
            found = self.request("GET", path, None, headers)
        return found

    def post(self, path, fields, headers=None, origin=True):
        sent = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        if origin:
            sent.setdefault("Origin", f"http://{self.host}:{self.port}")
        return self.request("POST", path, urlencode(fields), sent)

    def submit(self, path, fields, **kwargs):
        """Send a form, and go where it leads."""
        found = self.post(path, fields, **kwargs)
        return self.get(urljoin(path, found.headers["location"])) if found.status == 303 else found

    # What participants do.

    def join(self, query="", consent="yes"):
        page = self.get(f"/{query}")
        return self.submit("/join", {**fields_of(page.text), "consent": consent})

    def begin(self, query=""):
        """Up to the first question of a study without checks."""
        page = self.join(query)
        return self.submit("/next", fields_of(page.text))

    def answer(self, page, choice=1, **more):
        return self.submit("/answer", {**fields_of(page.text), "choice": choice, **more})


def number_of(page):
    """The number of the question on a page; None if there is none."""
    found = re.search(r"(\d+) of \d+", page.text)
    return int(found[1]) if found and "data-trial" in page.text else None


def shown_on(page):
    """The numbers of the items on a page."""
    return [int(number) for number in re.findall(r'data-item="(\d+)"', page.text)]


def title_of(page):
    found = re.search(r"<h1[^>]*>(.*?)</h1>", page.text, re.S)
    return found[1].strip() if found else None


def admin(server):
    """Somebody who may see the dashboard."""
    client = Client(server)
    assert client.get(f"/dashboard?token={server.token}").status == 200
    return client


def answers(server):
    """Who answered which question how, in the file."""
    with sqlite3.connect(server.data) as db:
        return db.execute("SELECT person, trial, choice FROM collect_trials WHERE choice NOT NULL").fetchall()
