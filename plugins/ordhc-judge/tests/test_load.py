"""Many questions side by side: memory stays where it is. `load.py` measures more of them."""

import sys

import pytest
from load import measure


@pytest.mark.skipif(sys.platform == "win32", reason="measures memory as POSIX tells it")
def test_memory_is_bounded():
    found = measure(2_000, 64)
    assert found["questions"] > 1_800
    assert found["calls"] == found["questions"]
    # A prompt, its reply and its request are a kilobyte each: all of them would be more than 6 MB.
    assert found["memory grew by MB"] < 6
