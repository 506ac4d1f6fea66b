"""Ctrl-C ends every long call, the first one in its process, too.

ORDHC_INTERRUPTS says how often each function is interrupted: by default once, at a random time.
`make interrupts` measures how long it takes.
"""

import os
import random

import pytest

import interrupts

TIMES = int(os.environ.get("ORDHC_INTERRUPTS", "1"))


@pytest.mark.parametrize("name", interrupts.CASES)
def test_no_interrupt_is_lost(name, tmp_path):
    for _ in range(TIMES):
        delay = random.uniform(0, 1)
        seconds, errors = interrupts.interrupt(name, "small", tmp_path, delay)
        assert seconds < interrupts.LOST, (seconds, f"after {delay:.3f} s", errors)
        assert errors == "", f"after {delay:.3f} s"
