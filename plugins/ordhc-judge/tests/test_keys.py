"""Keys show nowhere, and a wrong one stops everything; so does what else is wrong for good."""

import json
import logging
import pickle
import traceback

import ordhc_judge
import pytest
from helpers import all_questions, judged
from ordhc_judge import JudgeError, KeyRefusedError

from conftest import ITEMS
from ordhc.errors import InputError

SOME = all_questions()[::7][:40]

KEY = "sk-a/very+secret\"key='1'"


@pytest.mark.parametrize("where", ["key", "header"])
def test_a_wrong_key_stops_at_once_and_never_shows(served, tmp_path, caplog, capfd, where):
    server = served(key="another")
    given = {"key": KEY} if where == "key" else {"headers": {"Authorization": f"Bearer {KEY}"}}
    caplog.set_level(logging.DEBUG)
    with judged(server, cache=tmp_path / "c.sqlite", **given) as judge:
        with pytest.raises(KeyRefusedError, match="status 401: Incorrect API key") as caught:
            judge(all_questions())
        assert server.requests <= 8
        shown = [repr(judge), str(judge.report()), str(vars(judge)), str(judge.estimate(3)), caplog.text]
        shown += ["".join(traceback.format_exception(caught.value)), repr(caught.value)]
        frame = caught.value.__traceback__
        while frame is not None:
            shown += [repr(value) for value in frame.tb_frame.f_locals.values() if value is not given]
            frame = frame.tb_next
        with pytest.raises(TypeError):
            pickle.dumps(judge._setup.endpoint)
    shown += [*capfd.readouterr()]
    shown += [path.read_bytes().decode("latin-1") for path in tmp_path.iterdir()]
    for text in shown:
        for form in (KEY, json.dumps(KEY)[1:-1], "very+secret", "very%2Bsecret"):
            assert form not in text


def test_a_key_that_the_server_repeats_is_not_kept(served, tmp_path, monkeypatch):
    server = served(key=KEY)
    reply = {"choices": [{"message": {"content": f"2 and your key is {KEY}"}}]}
    monkeypatch.setattr(server, "_completion", lambda *_: server._json(reply))
    with judged(server, key=KEY, cache=tmp_path / "c.sqlite") as judge:
        judge([[0, 1, 2]])
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"your key is ***" in kept
    assert b"very+secret" not in kept


def test_keys_come_from_the_environment(served, monkeypatch):
    server = served(key="sk-right")
    with judged(server) as judge, pytest.raises(KeyRefusedError, match="without a key"):
        judge([[0, 1, 5]])
    monkeypatch.setenv("ORDHC_JUDGE_KEY", "sk-right")
    with judged(server) as judge:
        assert judge([[0, 1, 5]])[0] == 2


@pytest.mark.parametrize(
    ("status", "message"),
    [(402, "demands payment"), (403, "rejects the key"), (404, "not have this model"), (302, "redirects")],
)
def test_what_ends_everything(served, monkeypatch, status, message):
    server = served()
    monkeypatch.setattr(server, "respond", lambda *_: server._error(status, "no", "no"))
    with judged(server, key="k") as judge, pytest.raises(JudgeError, match=message):
        judge(SOME)


def test_an_empty_purse_is_no_rate_limit(served, monkeypatch):
    server = served()
    monkeypatch.setattr(server, "respond", lambda *_: server._error(429, "no money", "insufficient_quota"))
    with judged(server) as judge, pytest.raises(JudgeError, match="demands payment"):
        judge([[0, 1, 2]])


def test_models_and_addresses(served):
    server = served(models=["one"])
    bare = server.url.removesuffix("/v1")
    for url in (server.url, f"{server.url}/", f"{server.url}/chat/completions", bare, f"{bare}/"):
        with ordhc_judge.Judge(url, None, ITEMS, rpm=None) as judge:
            assert judge([[0, 1, 5]])[0] == 2
    assert server.bodies[-1]["model"] == "one"
    server.models = ["one", "two"]
    several = pytest.raises(InputError, match="give one of them as model=: one, two")
    with ordhc_judge.Judge(server.url, None, ITEMS) as judge, several:
        judge([[0, 1, 5]])
    with judged(server) as judge, pytest.raises(JudgeError, match="there is no model model"):
        judge([[0, 1, 5]])
