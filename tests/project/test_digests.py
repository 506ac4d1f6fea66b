"""The tool that compares results with those in the repository notices what it must notice."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc import _ordhc

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "rust" / "ordhc" / "src"


@pytest.fixture
def digests(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benches")
    for name in ("ORDHC_NUM_THREADS", "ORDHC_PLUGINS", "ORDHC_STRICT", "ORDHC_DEBUG"):
        # What the tool sets is as it was afterwards.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    from digests import __main__, listing

    monkeypatch.setattr(listing, "prepare_process", lambda n_threads: None)
    monkeypatch.setattr(__main__, "prepare_process", lambda n_threads: None)
    monkeypatch.setattr(__main__, "PARTS", ["trees"])
    return __main__, listing


def test_a_line_that_differs_is_shown(digests, tmp_path, monkeypatch, capsys):
    main, _ = digests
    monkeypatch.setattr(main, "GOLDEN", tmp_path / "digests.txt")
    monkeypatch.setattr(main._ordhc, "mechanisms", dict, raising=False)
    monkeypatch.setattr(sys, "argv", ["digests", "--write"])
    assert main.main() == 0
    written = main.GOLDEN.read_text()
    monkeypatch.setattr(sys, "argv", ["digests"])
    assert main.main() == 0
    name = next(line for line in written.splitlines() if line.startswith("score 40 kendall_tau_b: "))
    main.GOLDEN.write_text(written.replace(name, name[:-10] + "0123456789"))
    capsys.readouterr()
    assert main.main() == 1
    *shown, advice = capsys.readouterr().out.splitlines()
    assert "make digests WRITE=1" in advice
    assert shown == [
        "--- digests.txt",
        "+++ this code",
        f"-{name[:-10]}0123456789",
        f"+{name}",
    ]
    # A line that is missing, and a mechanism that was not entered.
    main.GOLDEN.write_text(written.replace(name + "\n", ""))
    monkeypatch.setattr(main._ordhc, "mechanisms", lambda: {"seen": True, "unseen": False}, raising=False)
    assert main.main() == 1
    printed = capsys.readouterr().out
    assert f"+{name}" in printed
    assert "no line enters this mechanism of the crate: unseen" in printed
    assert "crate: seen" not in printed


def test_digests_differ_where_results_do(digests):
    _, listing = digests
    tree = ordhc.linkage(np.arange(1.0, 7.0), "average", dissimilarity=True)
    others = [
        tree.replace(names=list("abcd")),
        tree.relabel([3, 1, 2, 0]),
        ordhc.linkage(np.arange(1.0, 7.0), "average", dissimilarity=False),
        ordhc.linkage(np.arange(1.0, 7.0) * (1 + 1e-8), "average", dissimilarity=True),
    ]
    assert len({listing.digest(each) for each in [tree, *others]}) == 5
    # Numbers that differ in the last digits are the same line, but not the same bits.
    close = ordhc.linkage(np.arange(1.0, 7.0) * (1 + 1e-12), "average", dissimilarity=True)
    found = listing.Listing()
    found.add("tree", tree)
    assert listing.digest(close) == found.lines["tree"]
    found.expect_alike("alike", tree, close)
    assert found.unequal == []
    found.expect_equal("equal", tree, close)
    found.expect_alike("other leaves", tree, others[1])
    assert found.unequal == ["equal", "other leaves"]
    with pytest.raises(ValueError, match="two lines"):
        found.add("tree", tree)


def test_outcomes_tell_warnings_and_errors(digests):
    _, listing = digests
    assert (
        listing.outcome(lambda: ordhc.linkage([[0, np.nan], [np.nan, 0]], dissimilarity=False))
        == "InputError"
    )
    near = 12 - np.abs(np.subtract.outer(*[np.arange(12.0)] * 2))
    tree, n_warnings = listing.outcome(lambda: ordhc.linkage(near, dissimilarity=True))
    assert (tree.n_leaves, n_warnings) == (12, 1)
    with pytest.raises(ZeroDivisionError):
        listing.outcome(lambda: 1 / 0)
    with pytest.raises(TypeError, match="has no digest"):
        listing.digest(object())


def test_numbers_are_rounded_to_bits(digests):
    _, listing = digests
    x = np.array([1.0, -3.7, 1e-300, 5e300, 0.0, -0.0, np.inf])
    rounded = listing.rounded(x, 30)
    np.testing.assert_allclose(rounded, x, rtol=2**-30)
    np.testing.assert_array_equal(listing.rounded(rounded, 30), rounded)
    assert listing.rounded(np.array([1 + 2.0**-40]), 30) == 1
    assert listing.rounded(np.array([1 + 2.0**-20]), 30) != 1


def test_every_mechanism_of_the_list_is_in_the_code():
    used = set()
    for file in SOURCES.rglob("*.rs"):
        used |= set(re.findall(r"^ *entered!\((\w+)\);$", file.read_text(), re.MULTILINE))
    assert used == set(_ordhc.mechanisms())
