"""Fixtures that several files of tests use."""

import contextlib

import pytest
from studies import Server, ServerHere, make_study


@pytest.fixture
def serve(tmp_path):
    """Serve a study made of the arguments of `make_study`; `apart` in a process of its own."""
    running = []

    def start(*, apart=False, **options):
        data = options.pop("data", tmp_path / "study.ordhc")
        path = make_study(tmp_path, **options)
        server = (Server if apart else ServerHere)(path, data=data)
        server.data, server.study = data, path
        running.append(server)
        return server

    yield start
    for server in running:
        server.kill()


@pytest.fixture(scope="module")
def serve_once(tmp_path_factory):
    """Serve a study as `serve` does, for several tests of a module."""
    with contextlib.ExitStack() as running:

        def start(**options):
            folder = tmp_path_factory.mktemp("study")
            data = folder / "study.ordhc"
            server = running.enter_context(ServerHere(make_study(folder, **options), data=data))
            server.data = data
            return server

        yield start


@pytest.fixture(scope="module")
def browser():
    """Start a browser without pages."""
    from playwright.sync_api import sync_playwright

    from support.browsers import launched

    with sync_playwright() as playwright:
        found = launched(playwright)
        yield found
        found.close()


def pytest_terminal_summary(terminalreporter):
    from support.browsers import say_what_was_missed

    say_what_was_missed(terminalreporter, "THE PAGES OF STUDIES WERE NOT TESTED")
