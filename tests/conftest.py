"""Fixtures that several files of tests use."""

import signal
import sys
import textwrap

import pytest
from hypothesis import HealthCheck, settings

from ordhc import _workers
from ordhc.plugins import registry

# What a shell starts in the background ignores interrupts, and tests send some.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Every run tries the same 60 examples, however slow the machine.
# `--hypothesis-profile anew` tries 100 others.
# A busy machine may draw examples slowly.
_CHECKS = [HealthCheck.too_slow]
settings.register_profile(
    "same", deadline=None, derandomize=True, max_examples=60, suppress_health_check=_CHECKS
)
settings.register_profile("anew", deadline=None, suppress_health_check=_CHECKS)
settings.load_profile("same")

# Executors get work in tests, although it is little.
_workers.MIN_SECONDS = float("-inf")

# Before anything imports it: its assertions show values, too.
pytest.register_assert_rewrite("support")


@pytest.fixture
def memory_path(tmp_path):
    """A folder in memory where the system has such."""
    from support.folders import in_memory

    with in_memory(tmp_path) as folder:
        yield folder


@pytest.fixture(scope="module")
def browser():
    from support.browsers import launched

    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        found = launched(playwright)
        yield found
        found.close()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put distributions on the path; only they are chosen."""
    monkeypatch.delenv("ORDHC_STRICT", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    installed = []

    def add(plugin, source, *, version="1.0", entry_point="main", choose=True):
        module = f"fake_{plugin.replace('-', '_')}_{entry_point}"
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source))
        info = tmp_path / f"{plugin.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {plugin}\nVersion: {version}\n")
        points = info / "entry_points.txt"
        known = points.read_text() if points.exists() else "[ordhc]\n"
        points.write_text(f"{known}{entry_point} = {module}\n")
        if choose:
            installed.append(plugin)
            monkeypatch.setenv("ORDHC_PLUGINS", ",".join(installed))
        registry.reset()
        return module

    registry.reset()
    yield add
    for module in set(sys.modules) - before:
        if module.startswith("fake_"):
            del sys.modules[module]
    registry.reset()


def pytest_terminal_summary(terminalreporter):
    from support.browsers import say_what_was_missed

    say_what_was_missed(terminalreporter, "THE PAGE WAS NOT TESTED")
