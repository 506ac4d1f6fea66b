"""`help` and editors list the options that functions take as `**options`."""

from inspect import Parameter, signature

import pytest

import ordhc
from ordhc.comparison.asked import AnswerOptions, FileOptions
from ordhc.plotting.drawing import options_of_pictures, plot_dendrogram
from ordhc.tree.pictures import PictureOptions, SavedOptions


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (ordhc.Dendrogram.plot, PictureOptions),
        (ordhc.Dendrogram.savefig, SavedOptions),
        (ordhc.read_answers, FileOptions),
        (ordhc.scan, FileOptions),
        (ordhc.Triplets.from_frame, AnswerOptions),
    ],
)
def test_options_are_in_the_signature(function, options):
    known = signature(function).parameters
    assert set(options.__annotations__) <= set(known)
    assert all(each.kind is not Parameter.VAR_KEYWORD for each in known.values())


def test_the_options_of_pictures_are_those_of_the_function():
    assert list(PictureOptions.__annotations__) == options_of_pictures()
    assert {"dpi", "texts", "pictures"} | set(options_of_pictures()) == set(SavedOptions.__annotations__)
    assert set(signature(plot_dendrogram).parameters) - {"tree", "ax"} == set(PictureOptions.__annotations__)
