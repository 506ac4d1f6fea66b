"""Whole numbers that Python refuses to print, in frames."""

import pytest

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
