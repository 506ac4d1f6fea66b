"""Pictures."""

import io as bytes_io
import itertools
import subprocess
import sys

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError, MissingExtraError
from ordhc.plotting.drawing import plot_dendrogram, svg
from ordhc.plotting.saving import save_plot

pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def no_figures_before_and_after(monkeypatch):
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    pyplot.close("all")
    yield
    pyplot.close("all")


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
    branches = np.array(lines.get_segments()).reshape(-1, 3, 2)
    if not sideways:
        branches = branches[:, :, ::-1]
    # Each merge has two branches, which meet in the middle of its bracket.
    np.testing.assert_allclose(np.sort(branches[:, 1, 0]), np.sort(np.repeat(drawn.heights, 2)))
    assert (branches[:, 0, 1] == branches[:, 1, 1]).all()
    assert (branches[:, 1, 0] == branches[:, 2, 0]).all()
    meet = {tuple(end) for end in branches[:, 2]}
    assert len(meet) == n - 1
    assert {tuple(start) for start in branches[:, 0]} >= {end for end in meet if end[0] != drawn.heights[-1]}
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
    with pytest.raises(InputError, match="orientation is 'up'"):
        inverted.plot(orientation="up")


def test_files_are_the_same_every_time(tmp_path):
    for name in ("a.svg", "a.png", "a.pdf"):
        save_plot(tree(9), tmp_path / name)
        first = (tmp_path / name).read_bytes()
        save_plot(tree(9), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
    with pytest.raises(InputError, match="the ending is none of"):
        save_plot(tree(9), tmp_path / "a.bmp")
    assert svg(tree(3)).startswith("<svg")


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "ordhc\[plot\]"'):
        tree(3).plot()


def shown_labels(ax, orientation):
    ax.figure.savefig(bytes_io.BytesIO())
    axis = ax.yaxis if orientation in ("right", "left") else ax.xaxis
    second = orientation in ("right", "top")
    return [tick.label2 if second else tick.label1 for tick in axis.get_major_ticks()]


@pytest.mark.parametrize("orientation", ["right", "left", "top", "bottom"])
@pytest.mark.parametrize("n", [5, 20, 60])
def test_labels_do_not_overlap(orientation, n):
    ax = plot_dendrogram(tree(n), orientation=orientation, title="a tree")
    texts = shown_labels(ax, orientation)
    assert all(text.get_visible() for text in texts)
    boxes = [text.get_window_extent() for text in texts]
    assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
    whole = ax.figure.bbox
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 for box in boxes)
    title = ax._left_title.get_window_extent()
    assert title.y1 <= whole.y1
    assert not any(box.overlaps(title) for box in boxes)


def test_pyplot_shows_what_is_drawn(tmp_path):
    from matplotlib import pyplot as plt

    ax = tree(9).plot(orientation="top")
    assert plt.gca() is ax
    assert ax.figure.get_size_inches()[1] > 6
    plt.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000
    # Not into the same axes.
    assert tree(9).plot() is plt.gca() is not ax
    assert len(plt.get_fignums()) == 2
    # Into axes that are current and empty.
    figure, axes = plt.subplots(1, 2)
    plt.sca(axes[0])
    assert tree(3).plot() is axes[0]
    assert plt.gcf() is figure
    other = plt.figure()
    plt.sca(axes[1])
    before = plt.get_fignums()
    assert tree(3).plot(axes[0]) is axes[0]
    assert (plt.get_fignums(), plt.gca()) == (before, axes[1])
    assert not other.axes


@pytest.mark.parametrize("side", ["right", "left", "top", "bottom"])
def test_names_fit_into_a_figure_that_was_there(side):
    from matplotlib import pyplot as plt

    names = ["a name that is rather long", *(f"item {at}" for at in range(11))]
    figure = plt.figure()
    ax = ordhc.linkage(np.add.outer(np.arange(12.0), np.arange(12.0)), dissimilarity=False, names=names).plot(
        orientation=side
    )
    figure.canvas.draw()
    axis = ax.yaxis if side in ("right", "left") else ax.xaxis
    for text in axis.get_ticklabels():
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y1 <= figure.bbox.y1, text


def test_given_axes_need_no_pyplot():
    code = """
import sys, ordhc
from matplotlib.figure import Figure
d = ordhc.linkage([3.0, 1.0, 2.0], dissimilarity=True)
d.plot(ax=Figure().add_subplot())
d._repr_html_()
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_a_screen(monkeypatch):
    from matplotlib import pyplot

    def refuse(*given, **options):
        raise ImportError("Cannot load backend 'TkAgg'")

    monkeypatch.setattr(pyplot, "figure", refuse)
    ax = tree(3).plot()
    assert len(ax.collections) == 1
    assert not pyplot.get_fignums()


def test_a_node_of_many_children_stands_between_its_outermost():
    d = ordhc.Dendrogram.from_newick("((a:1,b:1,c:1,d:1):1,e:2);")
    (lines,) = plot_dendrogram(d, orientation="right").collections
    # The four stand first, as in the text, then `e`.
    starts = {tuple(line[0].tolist()): line[-1].tolist() for line in lines.get_segments()}
    assert starts[1.0, 1.5] == [0.0, 2.75]
    assert [starts[2.0, float(place)] for place in range(4)] == [[1.0, 1.5]] * 4
    assert len(starts) == 6


@pytest.mark.parametrize("layout", ["rectangular", "circular", "unrooted"])
@pytest.mark.filterwarnings("ignore:Glyph")
def test_svg_of_any_name_is_xml(tmp_path, layout):
    from xml.dom import minidom

    odd = "a\0b\x01c\x1b[31md\ufffee\uffff\x0cf\x7f\x85<&\U0001f600"
    d = ordhc.Dendrogram([(0, 1), (3, 2)], [1.0, 2.0], names=[odd, "r", "s"], node_names=[odd, odd])
    columns = {odd: [odd, "q", "q"]}
    d.savefig(tmp_path / "d.svg", layout=layout, columns=columns, title=odd, n_clusters=2)
    page = minidom.parse(str(tmp_path / "d.svg"))
    texts = ["".join(part.data for part in text.childNodes) for text in page.getElementsByTagName("text")]
    assert "a\ufffdb\ufffdc\ufffd[31m" in "".join(texts)
    assert minidom.parseString(ordhc.plotting.svg(d, layout=layout).encode())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_cluster": 2}, "has no option 'n_cluster'; nearest: 'n_clusters'"),
        ({"figsize": (3, 3)}, "`width` and `height` are in millimetres"),
        ({"color_threshold": 1.0}, "`n_clusters` is the number of coloured clusters"),
        ({"labels": ["a", "b"]}, r"replace\(names=\[\.\.\.\]\)\.plot\(\)"),
    ],
)
def test_options_by_other_names_are_told(tmp_path, options, says):
    d = ordhc.as_dendrogram("((a,b),c);")
    with pytest.raises(InputError, match=says):
        d.plot(**options)
    with pytest.raises(InputError, match=says):
        d.savefig(tmp_path / "d.svg", **options)


def test_options_of_pictures_are_listed():
    import inspect

    known = list(inspect.signature(plot_dendrogram).parameters)[2:]
    assert set(known) <= set(inspect.signature(ordhc.Dendrogram.plot).parameters)
    code = "import ordhc; print(ordhc.plotting.plot_dendrogram.__name__, 'plotting' in dir(ordhc))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["plot_dendrogram", "True"]
