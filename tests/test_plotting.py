"""Pictures."""

import sys

import numpy as np
import pytest

import ordhc
from ordhc.plotting import plot_dendrogram, save_plot, svg

pytest.importorskip("matplotlib")


def tree(n, kind="similarity", linkage="average"):
    y = np.random.default_rng(n).random(n * (n - 1) // 2)
    return ordhc.linkage(
        y, linkage, dissimilarity=kind == "dissimilarity", names=[f"leaf {i}" for i in range(n)]
    )


@pytest.mark.parametrize("orientation", ["right", "left", "top", "bottom"])
@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_brackets_stand_at_their_heights(orientation, kind, n):
    drawn = tree(n, kind)
    ax = plot_dendrogram(drawn, orientation=orientation, n_clusters=min(n, 3), title="a tree")
    (lines,) = ax.collections
    sideways = orientation in ("right", "left")
    segments = np.array(lines.get_segments()).reshape(-1, 4, 2)
    along = segments[:, 1, 0 if sideways else 1]
    np.testing.assert_allclose(along, drawn.heights)
    axis = ax.yaxis if sideways else ax.xaxis
    texts = [text.get_text() for text in axis.get_ticklabels()]
    assert texts == [drawn.labels[leaf] for leaf in drawn.leaf_order()]
    low, high = ax.get_xlim() if sideways else ax.get_ylim()
    leaves_at_the_large_end = (kind == "similarity") == (low < high)
    assert leaves_at_the_large_end == (orientation in ("right", "top"))


def test_clusters_have_colours_of_their_own():
    drawn = tree(12)
    (lines,) = drawn.plot(n_clusters=3).collections
    colours = [tuple(colour) for colour in lines.get_colors()]
    assert len(set(colours[-2:])) == 1
    assert 2 <= len(set(colours)) <= 4
    (plain,) = drawn.plot().collections
    assert len({tuple(colour) for colour in plain.get_colors()}) == 1


def test_inversions_and_given_axes():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    inverted = ordhc.linkage([1.0, 1.01, 1.01], "centroid", dissimilarity=True)
    assert inverted.plot(ax=ax) is ax
    with pytest.raises(ordhc.InputError, match="orientation is 'up'"):
        inverted.plot(orientation="up")


def test_files_are_the_same_every_time(tmp_path):
    for name in ("a.svg", "a.png", "a.pdf"):
        save_plot(tree(9), tmp_path / name)
        first = (tmp_path / name).read_bytes()
        save_plot(tree(9), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
    with pytest.raises(ordhc.InputError, match="the ending is none of"):
        save_plot(tree(9), tmp_path / "a.bmp")
    assert svg(tree(3)).startswith("<svg")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ordhc.MissingExtraError, match=r'pip install "ordhc\[plot\]"'):
        tree(3).plot()
    assert tree(3)._repr_html_().startswith("<code>")
