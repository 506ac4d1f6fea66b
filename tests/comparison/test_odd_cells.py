"""Cells and names of columns that are neither plain numbers nor text."""

import numpy as np
import pytest

import ordhc
from ordhc import InputError, Triplets

LONG = 10**5000
DATA = {"a": ["x", "y"], "b": ["y", "z"], "c": ["z", "w"], "odd": ["z", "y"], "who": ["ann", "bob"]}
ASKED = {"kind": "odd-one-out", "items": ["a", "b", "c"], "chosen": "odd", "chosen_as": "name"}
FRAMES = {
    "columns": ({LONG: [1], "b": [2], "c": [3]}, {}),
    "cells": ({"anchor": [LONG], "near": [2], "far": [3]}, {}),
    "items": (DATA, {**ASKED, "items": [LONG, "b", "c"]}),
    "chosen": (DATA, {**ASKED, "chosen": LONG}),
    "answers": ({**DATA, "odd": [LONG, "y"]}, ASKED),
    "exclude": (DATA, {**ASKED, "exclude": {"who": LONG}}),
}


@pytest.mark.parametrize("where", FRAMES)
def test_they_are_explained(where):
    data, asked = FRAMES[where]
    with pytest.raises(InputError, match="a number of 5001 digits"):
        Triplets.from_frame(data, **asked)


def test_times_are_text_and_no_time_is_none():
    times = [np.timedelta64(3, "s"), np.timedelta64(3, "s"), np.timedelta64(4, "s")]
    t = Triplets.from_frame({"anchor": ["a", "a", "b"], "near": ["b", "c", "c"], "far": times})
    assert t.names == ("a", "b", "0:00:03", "c", "0:00:04")
    with pytest.warns(ordhc.OrdhcWarning, match="1 of 2 rows are left out: 1 without an item"):
        Triplets.from_frame(
            {"anchor": ["a", "a"], "near": ["b", "c"], "far": ["c", np.timedelta64("NaT", "s")]}
        )
