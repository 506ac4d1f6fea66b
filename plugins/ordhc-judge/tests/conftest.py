"""Fixtures of the judge's tests."""

import pytest
from ordhc_judge.testing import serve

import ordhc

#: Fourteen leaves of three levels.
TREE = "(((0,1,2),(3,4)),((5,6),(7,(8,9))),((10,11),(12,13)));"
ITEMS = [f"{word} thing" for word in "ant bee cat dog elk fox gnu hen ibis jay kiwi lynx mole newt".split()]  # noqa: SIM905


@pytest.fixture
def served():
    """Start servers that are gone after the test."""
    open_servers = []

    def start(truth=TREE, items=ITEMS, **switches):
        context = serve(truth, items, **switches)
        server = context.__enter__()
        open_servers.append(context)
        return server

    yield start
    for context in open_servers:
        context.__exit__(None, None, None)


@pytest.fixture
def truth():
    """What the tree of `served` answers."""
    return ordhc.oracles.from_tree(TREE)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("ORDHC_JUDGE_KEY", raising=False)
