"""Damaged files of every format: a result or a short error, whatever is in them."""

import os
from pathlib import Path

import pytest

import fuzz_readers

COUNT = int(os.environ.get("ORDHC_FUZZ", "20000"))


@pytest.mark.parametrize("seed", range(4))
def test_readers_give_a_result_or_an_error(tmp_path, seed):
    troubles, tally = fuzz_readers.run(COUNT // 4, seed, tmp_path)
    assert [(name, found) for _, name, found, _ in troubles] == []
    assert sum(tally.values()) == COUNT // 4
    for kind in {kind for kind, _ in tally}:
        # Mutations are neither all fatal nor all harmless.
        assert tally[kind, "error"] > 10
        assert tally[kind, "result"] > 0


def test_the_fuzzer_notices_what_it_looks_for():
    def leaks(_):
        raise KeyError("x")

    def chatters(_):
        raise fuzz_readers.InputError("x" * 501)

    def beeps(_):
        raise fuzz_readers.InputError("\x07")

    for reader in (leaks, chatters, beeps):
        assert fuzz_readers.trouble(reader, b"", "t.csv")[0]
    assert fuzz_readers.trouble(lambda _: None, b"", "t.csv") == (None, "result")
    assert Path(fuzz_readers.__file__).name == "fuzz_readers.py"
