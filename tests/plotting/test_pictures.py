"""What is drawn of trees: layouts, collapsed clusters, colours, columns, support, sizes."""

import itertools
import math
import re

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.plotting.drawing import plot_dendrogram
from ordhc.plotting.palette import palette, readable
from support.pictures import saved

pytest.importorskip("matplotlib")
LAYOUTS = ("rectangular", "circular", "unrooted")


def tree(n, seed=0, support=False):
    random = np.random.default_rng(seed)
    y = random.random(n * (n - 1) // 2)
    d = ordhc.linkage(y, dissimilarity=True, names=[f"leaf {i}" for i in range(n)])
    return d.replace(support=random.random(n - 1)) if support else d


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_every_branch_and_name_is_drawn(layout, n, tmp_path):
    drawn = saved(tree(n), tmp_path, layout=layout)
    assert len(drawn.paths("ordhc-branches")) == 2 * n - 2
    assert set(tree(n).names) <= set(drawn.texts())
    assert not drawn.group("ordhc-collapsed")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_large_trees_are_collapsed(layout, tmp_path):
    assert not saved(tree(299), tmp_path, layout=layout, labels=False).group("ordhc-collapsed")
    large = tree(300)
    drawn = saved(large, tmp_path, layout=layout)
    names = [text for text in drawn.texts() if text.startswith("leaf")]
    assert len(names) == 60
    held = [1 + int(more[1]) if (more := re.search(r" \+(\d+)$", name)) else 1 for name in names]
    assert sum(held) == 300
    assert len(drawn.paths("ordhc-collapsed")) == sum(size > 1 for size in held)


def test_large_trees_are_drawn_whole_if_asked(tmp_path):
    drawn = saved(tree(300), tmp_path, truncate=False, labels=False)
    assert len(drawn.paths("ordhc-branches")) == 598


@pytest.mark.parametrize("most", [2, 3, 7, 19, 20, 50])
def test_truncating_opens_the_last_merges_first(most):
    d = tree(20)
    ax = plot_dendrogram(d, truncate=most)
    names = [text.get_text() for text in ax.get_yticklabels()]
    clusters = min(most, 20)
    assert sorted(names) == sorted(d.collapse(clusters).labels)


def test_nodes_of_many_children_show_the_first_and_how_many_more():
    star = ordhc.Dendrogram.from_newick(f"(({','.join(f'a{i}:1' for i in range(50))}):1,b:2);")
    names = [text.get_text() for text in plot_dendrogram(star, truncate=5).get_yticklabels()]
    assert names == ["a0", "a1", "a2", "a3 +46", "b"]


def test_names_of_nodes_name_what_is_collapsed():
    d = ordhc.Dendrogram.from_newick("(((a:1,b:1)pets:1,c:2):1,(d:1,e:1):2);")
    names = [text.get_text() for text in plot_dendrogram(d, truncate=3).get_yticklabels()]
    assert names == ["pets (2)", "c", "d +1"]
    with pytest.raises(InputError, match="truncate = 1 is below 2"):
        d.plot(truncate=1)
    with pytest.raises(InputError, match="truncate = 2 tips are too few for 4 clusters"):
        d.plot(truncate=2, n_clusters=4)


@pytest.mark.parametrize("k", [2, 13, 40])
def test_clusters_have_different_colours(k, tmp_path):
    drawn = saved(tree(100), tmp_path, n_clusters=k)
    assert len({*drawn.colours("ordhc-branches")}) >= k
    assert len(set(palette(k))) == k


def test_a_palette_is_told_apart_and_seen_on_both_backgrounds():
    from ordhc.plotting.palette import _lab

    def parts(colour):
        return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]

    lab = _lab(np.array([parts(colour) for colour in palette(30)]))
    nearest = min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(lab, 2))
    assert nearest > 18
    assert 30 < lab[:, 0].min() < lab[:, 0].max() < 80
    assert palette(20)[:12] == palette(12)


#: Colour vision without one kind of cone, of linear RGB (Machado, Oliveira & Fernandes 2009, severity 1).
DEFICIENCIES = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


@pytest.mark.parametrize("vision", DEFICIENCIES)
def test_twelve_colours_are_told_apart_with_any_colour_vision(vision):
    from matplotlib.colors import to_rgb

    rgb = np.array([to_rgb(colour) for colour in palette(12)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(DEFICIENCIES[vision]).T, 0, 1)
    xyz = (
        seen
        @ np.array(
            [
                [0.4124564, 0.3575761, 0.1804375],
                [0.2126729, 0.7151522, 0.072175],
                [0.0193339, 0.119192, 0.9503041],
            ]
        ).T
    )
    root = np.cbrt(xyz / (0.95047, 1.0, 1.08883))
    lab = np.stack(
        [116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1
    )
    gaps = np.sqrt(((lab[:, None] - lab[None]) ** 2).sum(axis=2))[np.triu_indices(12, 1)]
    assert gaps.min() > 15


def test_long_palettes():
    assert len(set(palette(1000))) == 1000
    assert palette(0) == ()


def test_branches_by_category_and_by_mapping(tmp_path):
    d = ordhc.Dendrogram.from_newick("(((a:1,b:1):1,c:2):1,(d:1,e:1):2);")
    drawn = saved(d, tmp_path, color_by={"a": "x", "b": "x", "c": "y", "d": "y"})
    first, second = palette(2)
    tones = [colour.upper() for colour in drawn.colours("ordhc-branches")]
    # Above a and b; c and d. Leaf e has no category, so what is above it stays grey.
    assert (tones.count(first), tones.count(second)) == (3, 2)
    assert {"x", "y"} <= set(drawn.texts())
    drawn = saved(d, tmp_path, colors={"a": "red", "b": "#FF0000", "d": (0, 0, 1)})
    tones = drawn.colours("ordhc-branches")
    assert (tones.count("#ff0000"), tones.count("#0000ff")) == (3, 1)
    with pytest.raises(InputError, match="'reddish' is no colour"):
        d.plot(colors={"a": "reddish"})
    with pytest.raises(InputError, match="the name 'z' is unknown"):
        d.plot(color_by={"z": 1})
    with pytest.raises(InputError, match="2 values for 5 leaves"):
        d.plot(color_by=["x", "y"])
    with pytest.raises(InputError, match="one of n_clusters=, color_by= and colors="):
        d.plot(color_by=["x"] * 5, n_clusters=2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_stand_beside_the_leaves(layout, tmp_path):
    pandas = pytest.importorskip("pandas")
    d = tree(12)
    table = pandas.DataFrame({"kind": list("abc") * 4, "size": [1.0, 2.0, np.nan] * 4}, index=d.names)
    drawn = saved(d, tmp_path, layout=layout, columns=table, n_clusters=3)
    assert len(drawn.paths("ordhc-column-0")) == len(drawn.paths("ordhc-column-1")) == 12
    assert {"kind:", "a", "b", "c", "size:", "1.0", "2.0"} <= set(drawn.texts())
    cells = {*drawn.colours("ordhc-column-0", "fill"), *drawn.colours("ordhc-column-1", "fill")}
    # Five categories and the pale one of what is missing, none of them a cluster's colour.
    assert len(cells) == 6
    assert not cells & set(drawn.colours("ordhc-branches"))
    assert saved(d, tmp_path, layout=layout, columns=table["kind"]).texts().count("kind") == 1


def test_collapsed_clusters_show_shares_of_categories():
    d = ordhc.Dendrogram.from_newick("((a:1,b:1,c:1,d:1):1,e:2);")
    ax = plot_dendrogram(d, truncate=2, columns=["x", "x", "x", "y", "y"])
    cells = next(part for part in ax.collections if part.get_gid() == "ordhc-column-0")
    heights = [np.ptp(path.vertices[:, 1]) for path in cells.get_paths()]
    assert heights[0] == pytest.approx(3 * heights[1])
    assert len(heights) == 3


@pytest.mark.parametrize("layout", LAYOUTS)
def test_support_as_dots_widths_and_numbers(layout, tmp_path):
    support = [0.2, 0.9, 0.6, 1.0]
    d = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5), (6, 7)], [1, 2, 3, 4.0], support=support)
    assert len(saved(d, tmp_path, layout=layout, support="dots").paths("ordhc-support")) == 3
    for least, left in ((0.6, 2), (0.95, 0)):
        drawn = saved(d, tmp_path, layout=layout, support="dots", support_threshold=least)
        assert len(drawn.paths("ordhc-support")) == left
    ax = plot_dendrogram(d, layout=layout, support="numbers", support_threshold=0.5, scale="none")
    texts = [text.get_text() for text in ax.texts if text.get_gid() == "ordhc-support"]
    assert sorted(texts) == ["60", "90"]
    ax = plot_dendrogram(d, layout=layout, support="width", line_width=1.0, support_threshold=0.5)
    widths = sorted(np.round(ax.collections[0].get_linewidths(), 6))
    assert widths == pytest.approx([0.4, *[1.0] * 5, 0.4 + 0.6 * 2.6, 0.4 + 0.9 * 2.6])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_scale_bar_is_as_long_as_it_says(layout):
    d = tree(30)
    ax = plot_dendrogram(d, layout=layout, scale="bar")
    (bar,) = [line for line in ax.lines if line.get_gid() == "ordhc-scale"]
    length = np.ptp(np.array(bar.get_data()), axis=1).max()
    said = [float(text.get_text()) for text in ax.texts if re.fullmatch(r"[\d.]+", text.get_text())]
    lines = ax.collections[0].get_segments()
    # The longest branch of a leaf as it is drawn, and as heights tell it, or without a root lengths.
    drawn = max(math.dist(line[0], line[1]) for line in lines)
    true = max(node.branch_length for node in d.nodes() if node.branch_length is not None)
    true *= 1 if layout == "unrooted" else 2
    assert length / drawn == pytest.approx(said[0] / true, rel=0.07)
    with pytest.raises(InputError, match="scale 'axis' needs a root"):
        d.plot(layout="unrooted", scale="axis")


def test_files_are_as_journals_want_them(tmp_path):
    d = tree(40)
    drawn = saved(d, tmp_path, width=85, height=120, font="DejaVu Serif", title="A & <b>")
    assert drawn.size() == pytest.approx((85 / 25.4 * 72, 120 / 25.4 * 72), rel=1e-3)
    text = (tmp_path / "tree.svg").read_text()
    assert "DejaVu Serif" in text
    assert "A & <b>" in drawn.texts()
    d.savefig(tmp_path / "tree.pdf", width=85)
    pdf = (tmp_path / "tree.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert b"/CIDFontType2" in pdf or b"/TrueType" in pdf


@pytest.mark.parametrize("options", [{}, {"columns": True}, {"orientation": "left"}, {"title": "A title"}])
def test_forty_leaves_are_read_in_a_column_of_a_journal(options):
    d = tree(40, support=True)
    if "columns" in options:
        options = {"columns": {name: f"category {i % 4}" for i, name in enumerate(d.names)}}
    ax = plot_dendrogram(d, width=85, **options)
    ax.figure.savefig("/dev/null", format="png")
    left = options.get("orientation") == "left"
    names = [tick.label1 if left else tick.label2 for tick in ax.yaxis.get_major_ticks()]
    assert all(text.get_fontsize() >= 5 for text in names)
    boxes = [text.get_window_extent() for text in names]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    whole = ax.figure.bbox
    assert all(box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 for box in boxes)
    legend = ax.get_legend()
    if legend is not None:
        assert not any(legend.get_window_extent().overlaps(box) for box in boxes)
    numbers = [text.get_window_extent() for text in ax.texts if text.get_gid() == "ordhc-support"]
    assert len(numbers) > 30
    assert sum(a.overlaps(b) for a, b in itertools.combinations(numbers, 2)) == 0


def test_themes():
    from matplotlib.colors import to_hex

    dark = plot_dendrogram(tree(5), theme="dark")
    light = plot_dendrogram(tree(5), theme="light")
    assert to_hex(dark.figure.get_facecolor()) != to_hex(light.figure.get_facecolor())
    assert dark.get_yticklabels()[0].get_color() != light.get_yticklabels()[0].get_color()
    with pytest.raises(InputError, match="theme is 'blue'"):
        tree(5).plot(theme="blue")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layout": "round"}, "layout is 'round', not one of rectangular, circular, unrooted"),
        ({"support": "stars"}, "support is 'stars', not one of numbers, dots, width"),
        ({"support_threshold": 70}, "support_threshold = 70 is outside 0..1"),
        ({"width": 3}, "width = 3 is outside 10..10000"),
        ({"font_size": 0}, "font_size = 0 is outside 0..1000"),
        ({"columns": "abc"}, "columns is 'abc'; give a value of each leaf"),
    ],
)
def test_what_cannot_be_drawn_says_why(given, said):
    with pytest.raises(InputError, match=re.escape(said)):
        tree(5).plot(**given)


def test_unrooted_trees_have_branches_of_their_lengths():
    d = ordhc.Dendrogram.from_newick("((a:1,b:4):2,(c:3,d:1):2);")
    lines = plot_dendrogram(d, layout="unrooted").collections[0].get_segments()
    lengths = sorted(math.dist(*line) for line in lines)
    np.testing.assert_allclose(np.array(lengths) / lengths[0], [1, 1, 2, 2, 3, 4], rtol=1e-6)


def test_mathematics_and_odd_names_stay_text(tmp_path):
    d = ordhc.linkage([1.0, 2.0, 3.0], dissimilarity=False, names=["$x_1", "<i>ü & ß", "a\nb $"])
    assert {"$x_1", "<i>ü & ß", "a b $"} <= set(saved(d, tmp_path).texts())


def test_leaves_with_heights_of_their_own_end_there():
    d = ordhc.Dendrogram([(0, 1), (2, 3)], [5.0, 2.0], kind="similarity", leaf_heights=[7.0, 6.0, 3.0])
    ax = plot_dendrogram(d)
    starts = sorted(line[0, 0] for line in ax.collections[0].get_segments())
    assert starts == [3.0, 5.0, 6.0, 7.0]
    (leaders,) = [part for part in ax.collections if part.get_gid() == "ordhc-leaders"]
    assert sorted(line[0, 0] for line in leaders.get_segments()) == [3.0, 6.0]
    assert not [part for part in plot_dendrogram(tree(9)).collections if part.get_gid() == "ordhc-leaders"]


def test_series_are_matched_by_name_or_refused():
    pandas = pytest.importorskip("pandas")
    d = tree(4)
    kinds = pandas.Series(list("xyxx"), index=d.names)
    for given in (kinds, kinds[::-1], kinds.reset_index(drop=True), kinds.to_dict(), kinds.tolist()):
        ax = plot_dendrogram(d, columns=given)
        cells = next(part for part in ax.collections if part.get_gid() == "ordhc-column-0")
        shown = [tuple(colour) for colour in cells.get_facecolors()]
        odd = d.leaf_order().tolist().index(1)
        assert shown.count(shown[odd]) == 1
    with pytest.raises(InputError, match="the name 'a' is unknown"):
        plot_dendrogram(d, columns=pandas.Series([1, 2, 3, 4], index=list("abcd")))


def grown(n):
    """A tree of any size, quickly: two of the parts there are become one, by chance."""
    random = np.random.default_rng(n)
    live, merges = list(range(n)), []
    for at in range(n - 1):
        a, b = (live.pop(int(random.integers(len(live)))) for _ in range(2))
        merges.append((a, b))
        live.append(n + at)
    return ordhc.Dendrogram(merges, np.arange(1.0, n), names=[f"leaf {i}" for i in range(n)])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("n", "theme"), [(20, "dark"), (100, "light"), (10_000, "light")])
def test_pictures_of_all_sizes(n, theme, layout, tmp_path):
    d = grown(n)
    drawn = saved(d, tmp_path, layout=layout, theme=theme, n_clusters=5, width=85)
    tips = n if n < 300 else 60
    assert len(drawn.paths("ordhc-branches")) == 2 * tips - 2
    assert len(drawn.paths("ordhc-collapsed")) == (np.bincount(d.cut(tips)) > 1).sum()
    clusters = set(drawn.colours("ordhc-branches"))
    assert len(clusters) == 6
    assert drawn.size()[0] == pytest.approx(85 / 25.4 * 72, rel=1e-3)
    names = [text for text in drawn.texts() if text.startswith("leaf")]
    assert len(names) in (0, tips)
    assert len(names) == tips or layout != "rectangular"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_many_names_stand_where_matplotlib_puts_texts(layout, kind, tmp_path, monkeypatch):
    from matplotlib.image import imread
    from matplotlib.text import Text

    from ordhc.plotting import names

    d = grown(60)
    # Ticks are elsewhere; texts are the same but for how they are drawn.
    monkeypatch.setattr(names, "MOST_TICKS", 59)
    d.savefig(tmp_path / f"fast.{kind}", layout=layout, truncate=False)
    monkeypatch.setattr(names, "_plain_text", lambda: Text)
    d.savefig(tmp_path / f"slow.{kind}", layout=layout, truncate=False)
    if kind == "png":
        fast, slow = (imread(tmp_path / f"{name}.png") for name in ("fast", "slow"))
        assert fast.shape == slow.shape
        assert (np.abs(fast - slow).max(axis=2) > 0.5).mean() < 0.002
        return
    found = []
    for name in ("fast", "slow"):
        texts = re.findall(r"<text ([^>]*)>(leaf \d+)", (tmp_path / f"{name}.svg").read_text())
        found.append(
            {text: [float(number) for number in re.findall(r"-?\d+\.?\d*", given)] for given, text in texts}
        )
    assert found[0].keys() == found[1].keys() == set(d.names)
    for text, numbers in found[0].items():
        assert numbers == pytest.approx(found[1][text], abs=0.75)


@pytest.mark.parametrize("background", ["#ffffff", "#16191c"])
def test_coloured_names_can_be_read(background):
    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in palette(40):
        found = readable(colour, background)
        bright, dim = sorted((light(found), light(background)), reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= 4.45
    assert readable("#000000", "#ffffff") == "#000000"
