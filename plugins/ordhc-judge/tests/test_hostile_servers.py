"""Servers that repeat keys in other letters, write to terminals, and send more than anybody asked for."""

import gzip
import json
import zlib

import ordhc_judge
import pytest
from helpers import judged
from ordhc_judge import JudgeError, KeyRefusedError
from ordhc_judge.client import LARGEST_REPLY
from ordhc_judge.errors import BudgetError

from conftest import ITEMS
from ordhc.errors import InputError

KEY = "sk-te/st+KEY1234567890abcdef"
#: How writers of JSON put a key into text: PHP, .NET, all as numbers, a text of JSON within JSON, and HTML.
FORMS = {
    "php": KEY.replace("/", "\\/"),
    "net": KEY.replace("+", "\\u002B"),
    "numbers": "".join(f"\\u{ord(char):04x}" for char in KEY),
    "twice": KEY.replace("/", "\\\\\\/").replace("+", "\\\\u002b"),
    "upper": KEY.upper(),
    "html": KEY.replace("/", "&#x2F;").replace("+", "&amp;plus;").replace("-", "&#045;"),
}


def kept(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir()).decode("latin-1").lower()


def no_key_in(text):
    text = text.lower().replace("\\", "")
    return not any(part in text for part in ("st+key", "key1234567890", "stu002bkey", "te/st"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [200, 400, 401])
@pytest.mark.parametrize("is_json", [True, False])
def test_keys_are_found_however_a_server_writes_them(served, tmp_path, monkeypatch, form, status, is_json):
    server = served()
    said = f"2 your key is {FORMS[form]}"
    error = f'{{"error": {{"message": "{said}", "code": "{said}", "{said}": 1}}}}'
    text = f'{{"choices": [{{"message": {{"content": "{said}"}}}}]}}' if status == 200 else error
    if not is_json:
        text = text[:-1]
    monkeypatch.setattr(server, "respond", lambda *_: (status, {}, text.encode(), "whole"))
    shown = ""
    with judged(server, key=KEY, cache=tmp_path / "c.sqlite", retries=0) as judge:
        if status == 401:
            with pytest.raises(KeyRefusedError, match=r"your key is \*\*\*") as caught:
                judge([[0, 1, 2]])
            shown = str(caught.value)
        else:
            judge([[0, 1, 2]])
            assert "your key is ***" in kept(tmp_path)
        shown += str(judge.report())
    assert no_key_in(shown + kept(tmp_path))


def test_messages_hold_no_control_characters(served, monkeypatch):
    server = served()
    monkeypatch.setattr(
        server, "respond", lambda *_: server._error(401, "\x1b[2J\x1b[31mpwn\x07\u202e", "no")
    )
    with judged(server, key=KEY) as judge, pytest.raises(KeyRefusedError) as caught:
        judge([[0, 1, 2]])
    assert str(caught.value).isprintable()
    assert "\\x1b[2J\\x1b[31mpwn\\x07\\u202e" in str(caught.value)
    models = {"data": [{"id": "one\x1b[2J"}, {"id": "two"}]}
    monkeypatch.setattr(server, "respond", lambda *_: server._json(models))
    with ordhc_judge.Judge(server.url, None, ITEMS) as judge, pytest.raises(InputError) as several:
        judge([[0, 1, 2]])
    assert str(several.value).isprintable()


def bomb(n_bytes):
    """A completion that is large, and small on its way."""
    document = {"choices": [{"message": {"content": "2"}}], "pad": "x" * n_bytes}
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(bomb(50_000_000))),
        ("deflate", zlib.compress(bomb(50_000_000))),
        (None, bomb(LARGEST_REPLY)),
    ],
    ids=["gzip", "deflate", "plain"],
)
def test_a_reply_has_a_largest_size(served, tmp_path, monkeypatch, encoding, packed):
    server = served()
    headers = {} if encoding is None else {"Content-Encoding": encoding}
    monkeypatch.setattr(server, "respond", lambda *_: (200, headers, packed, "whole"))
    large = pytest.raises(JudgeError, match="the reply has more than 1,048,576 bytes")
    with judged(server, cache=tmp_path / "c.sqlite") as judge, large:
        judge([[0, 1, 2]])
    assert len(kept(tmp_path)) < 200_000


def test_the_cache_keeps_the_beginning_of_a_long_reply(served, tmp_path, monkeypatch):
    server = served()
    packed = gzip.compress(bomb(LARGEST_REPLY - 1000))
    monkeypatch.setattr(server, "respond", lambda *_: (200, {"Content-Encoding": "gzip"}, packed, "whole"))
    with judged(server, cache=tmp_path / "c.sqlite") as judge:
        judge([[0, 1, 2]])
    assert '"pad": "xxx' in kept(tmp_path)
    assert len(kept(tmp_path)) < 1_000_000


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("br", b"\x0b\x02\x80{}\x03"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}"))),
        ("gzip", b"{}"),
        ("gzip", gzip.compress(bomb(10))[:-9]),
    ],
    ids=["not asked for", "twice", "not packed", "cut off"],
)
def test_packed_replies_that_cannot_be_unpacked(served, monkeypatch, encoding, packed):
    server = served()
    monkeypatch.setattr(server, "respond", lambda *_: (200, {"Content-Encoding": encoding}, packed, "whole"))
    with judged(server, retries=0) as judge:
        assert judge([[0, 1, 2]])[0] == -1
        assert judge.report().faults == {"truncated": 3}


def test_packed_replies_are_read(served, monkeypatch):
    server = served()
    packed = gzip.compress(bomb(10))
    monkeypatch.setattr(server, "respond", lambda *_: (200, {"Content-Encoding": "gzip"}, packed, "whole"))
    with judged(server, orders=1) as judge:
        assert judge([[0, 1, 2]])[0] >= 0


def test_numbers_beyond_floats(served, monkeypatch):
    server = served()
    huge = int("9" * 400)
    logprobs = {"content": [{"token": "2", "logprob": huge, "top_logprobs": []}]}
    reply = {
        "choices": [{"message": {"content": "2"}, "logprobs": logprobs}],
        "usage": {"prompt_tokens": huge},
    }
    monkeypatch.setattr(server, "respond", lambda *_: server._json(reply))
    with judged(server, orders=1) as judge:
        assert judge([[0, 1, 2]])[0] >= 0
    vectors = {"data": [{"index": at, "embedding": [huge, 1]} for at in range(len(ITEMS))]}
    monkeypatch.setattr(server, "respond", lambda *_: server._json(vectors))
    with pytest.raises(JudgeError, match="returns no vector"):
        ordhc_judge.embed(ITEMS, server.url, "model", rpm=None, retries=0)


@pytest.mark.parametrize(
    "when",
    [
        "Wed, 21 Oct 2015 07:28:00 +99999999999999999999",
        "Wed, 21 Oct 9999 07:28:00 -2359",
        "Wed, 21 Oct 2015 07:28:00 +9999",
        "Wed, 99999999999999999999 Oct 2015 07:28:00 GMT",
        "9" * 400,
    ],
)
def test_times_to_wait_that_are_no_times(served, monkeypatch, when):
    server = served()
    status, sent, text, how = server._error(429, "slowly", "rate_limit")
    monkeypatch.setattr(server, "respond", lambda *_: (status, {**sent, "Retry-After": when}, text, how))
    with judged(server, budget={"calls": 1}) as judge, pytest.raises((BudgetError, JudgeError)):
        judge([[0, 1, 2]])
