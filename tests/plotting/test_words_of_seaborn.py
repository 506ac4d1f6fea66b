"""Options of seaborn's clustermap get a hint at the option of ordhc."""

import pytest

import ordhc
from ordhc.errors import InputError


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("row_colors", "`columns` are strips beside the leaves"),
        ("figsize", "pass `ax`"),
        ("metric", "make the tree first"),
        ("colorbars", "nearest: 'colorbar'"),
    ],
)
def test_options_of_others_are_explained(name, hint):
    tree = ordhc.linkage([1.0, 2.0, 3.0], dissimilarity=True)
    with pytest.raises(InputError, match=f"heatmap has no option '{name}'.*{hint}"):
        ordhc.plots.heatmap(tree, [1.0, 2.0, 3.0], **{name: 3})
