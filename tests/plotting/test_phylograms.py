"""Pictures of trees with lengths, and of trees of shape alone, by what is where in their files."""

import itertools
import math
import re
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError, OrdhcWarning
from ordhc.plotting.drawing import plot_dendrogram
from support.pictures import SVG, Picture, saved

pytest.importorskip("matplotlib")
LAYOUTS = ("rectangular", "circular", "unrooted")
read = ordhc.Dendrogram.from_newick


def phylogeny(n, seed=0, most=3, least=0.01):
    """A tree with lengths, in which nodes have up to `most` children."""
    random = np.random.default_rng(seed)
    live = [f"leaf{i}" for i in range(n)]
    while len(live) > 1:
        count = min(int(random.integers(2, most + 1)), len(live))
        parts = [live.pop(int(random.integers(len(live)))) for _ in range(count)]
        live.append(f"({','.join(f'{part}:{random.random() + least:.3f}' for part in parts)})")
    return read(f"{live[0]};")


def distances(tree):
    """The distance of each node from the root, added up one edge after the other."""
    found = np.zeros(len(tree.parents))
    for node in tree.nodes():
        if node.parent is not None:
            found[node.label] = found[node.parent.label] + tree.lengths[node.label]
    return found


def points(path):
    """The points of a path of SVG, (k, 2)."""
    return np.array(re.findall(r"-?[\d.]+", path.get("d")), dtype=np.float64).reshape(-1, 2)


def first_points(drawn):
    """Where the branches end that are away from the root, in the order of the file."""
    return np.array([points(path)[0] for path in drawn.paths("ordhc-branches")])


def ticks(drawn, side):
    """By number where the marks of an axis are."""
    at, found = (0, "x") if side == "x" else (1, "y"), {}
    for group in drawn.root.iter(f"{SVG}g"):
        if re.fullmatch(rf"{side}tick_\d+", group.get("id", "")):
            (text,) = ("".join(node.itertext()).strip() for node in group.iter(f"{SVG}text"))
            mark = next(group.iter(f"{SVG}use"))
            found[float(text.replace("\u2212", "-"))] = float(mark.get(at[1]))
    return found


def by_gid(ax, gid):
    return [part for part in ax.collections if part.get_gid() == gid]


@pytest.mark.parametrize(
    ("orientation", "side", "sign", "least"),
    [
        ("right", "x", 1, 0.01),
        ("right", "x", 1, -0.4),
        ("left", "x", -1, 0.01),
        ("top", "y", -1, -0.4),
        ("bottom", "y", 1, 0.01),
    ],
)
def test_leaves_end_at_their_distances_and_the_axis_says_so(orientation, side, sign, least, tmp_path):
    d = phylogeny(30, least=least)
    drawn = saved(d, tmp_path, orientation=orientation)
    marks = ticks(drawn, side)
    assert 0.0 in marks
    assert len(marks) >= 3
    # The ends of the axis's numbers say how long a unit is.
    low, high = min(marks), max(marks)
    unit = (marks[high] - marks[low]) / (high - low)
    assert np.sign(unit) == sign
    for number, place in marks.items():
        assert place == pytest.approx(marks[0.0] + unit * number, abs=0.01)
    seen = (first_points(drawn)[:, 0 if side == "x" else 1] - marks[0.0]) / unit
    np.testing.assert_allclose(np.sort(seen), np.sort(distances(d)[:-1]), atol=1e-4)
    assert (least < 0) == bool((distances(d) < 0).any())
    assert "distance from the root" in drawn.texts()


def test_names_are_beside_the_ends_of_their_leaves(tmp_path):
    d = phylogeny(30)
    ax = plot_dendrogram(d)
    place = {text.get_text(): at for text, at in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    ends = {tuple(np.round(line[0], 9)) for line in ax.collections[0].get_segments()}
    for leaf, name in enumerate(d.names):
        assert (round(distances(d)[leaf], 9), place[name]) in ends
    (leaders,) = by_gid(ax, "ordhc-leaders")
    right = distances(d).max()
    led = {(round(line[0][0], 9), line[0][1]) for line in leaders.get_segments()}
    assert all(line[1][0] == pytest.approx(right) for line in leaders.get_segments())
    # All but the farthest leaf, and those that are next to it.
    assert {(round(distances(d)[leaf], 9), place[name]) for leaf, name in enumerate(d.names)} - led == {
        (round(distances(d)[leaf], 9), place[d.names[leaf]])
        for leaf in np.flatnonzero(distances(d)[:30] > 0.997 * right)
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_leaders_are_left_out_where_they_would_fill_the_picture(layout):
    for n, there in ((60, True), (800, False)):
        ax = plot_dendrogram(phylogeny(n), layout=layout, truncate=False, width=100, height=100)
        assert bool(by_gid(ax, "ordhc-leaders")) == there


def test_circular_phylograms_have_rings(tmp_path):
    d = phylogeny(30)
    drawn = saved(d, tmp_path, layout="circular")
    rings = [points(path) for path in drawn.paths("ordhc-rings")]
    largest = max(rings, key=lambda ring: np.ptp(ring[:, 0]))
    radius = np.ptp(largest[:, 0]) / 2
    # The gap is at the top.
    centre = np.array([largest[:, 0].min() + radius, largest[:, 1].max() - radius])
    radii = [float(np.hypot(*(ring - centre).T).mean()) for ring in rings]
    numbers = [float(text) for text in drawn.texts() if re.fullmatch(r"[\d.]+", text)]
    assert len(numbers) == len(radii) >= 3
    assert numbers[0] == 0
    unit = (radii[-1] - radii[0]) / numbers[-1]
    np.testing.assert_allclose(radii, radii[0] + unit * np.array(numbers), atol=0.15)
    seen = (np.hypot(*(first_points(drawn) - centre).T) - radii[0]) / unit
    np.testing.assert_allclose(np.sort(seen), np.sort(distances(d)[:-1]), atol=5e-3)
    assert [text for text in drawn.texts() if not re.match(r"leaf|\d", text)] == [
        "rings:",
        "distance",
        "from the root",
    ]
    # A tree of heights has a bar, or rings where they are asked for.
    heights = ordhc.linkage(np.random.default_rng(0).random(45), dissimilarity=True)
    assert not saved(heights, tmp_path, layout="circular").group("ordhc-rings")
    assert "dissimilarity" in saved(heights, tmp_path, layout="circular", scale="axis").texts()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_bar_is_a_length(layout):
    d = phylogeny(20)
    ax = plot_dendrogram(d, layout=layout, scale="bar")
    (bar,) = [line for line in ax.lines if line.get_gid() == "ordhc-scale"]
    (said,) = (float(text.get_text()) for text in ax.texts if re.fullmatch(r"[\d.]+", text.get_text()))
    unit = np.ptp(np.array(bar.get_data()), axis=1).max() / said
    # A branch is drawn from the child's end; the last part of it is across.
    drawn = sorted(math.dist(line[0], line[1]) for line in ax.collections[0].get_segments())
    if layout == "circular":
        drawn = sorted(
            abs(math.hypot(*line[0]) - math.hypot(*line[-1])) for line in ax.collections[0].get_segments()
        )
    np.testing.assert_allclose(drawn, unit * np.sort(d.lengths[:-1]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_collapsed_clusters_reach_from_the_farthest_leaf_to_the_nearest(layout):
    d = read("((a:1,b:3,c:2):1,(d:1,e:0.5):2);")
    ax = plot_dendrogram(d, layout=layout, truncate=2, scale="bar")
    (closed,) = by_gid(ax, "ordhc-collapsed")
    outlines = [path.vertices[:-1] for path in closed.get_paths()]
    if layout == "rectangular":
        assert [outline[:, 0].tolist() for outline in outlines] == [[1.0, 4.0, 2.0], [2.0, 3.0, 2.5]]
    elif layout == "circular":
        # The radii grow evenly with the distances from the root.
        radii = [math.hypot(*outline[at]) for outline in outlines for at in (0, 1, -1)]
        slope, start = np.polyfit([1.0, 4.0, 2.0, 2.0, 3.0, 2.5], radii, 1)
        np.testing.assert_allclose(radii, start + slope * np.array([1.0, 4.0, 2.0, 2.0, 3.0, 2.5]), rtol=1e-9)
    else:
        for outline, ends in zip(outlines, ((3.0, 1.0), (1.0, 0.5)), strict=True):
            far, near = (math.dist(outline[at], outline[0]) for at in (1, -1))
            assert far / near == pytest.approx(ends[0] / ends[1])


def test_clusters_of_phylograms_are_cut_by_the_longest_path(tmp_path):
    d = phylogeny(30, seed=3, most=2)
    ax = plot_dendrogram(d, n_clusters=6)
    colours = [text.get_color() for text in ax.get_yticklabels()]
    shown = {text.get_text(): colour for text, colour in zip(ax.get_yticklabels(), colours, strict=True)}
    flat = d.cut(6)
    for a, b in itertools.combinations(range(30), 2):
        assert (flat[a] == flat[b]) == (shown[d.names[a]] == shown[d.names[b]])


def test_ultrametric_lengths_have_an_axis_and_no_leaders(tmp_path):
    d = read("((a:0.1,b:0.1):0.2,(c:0.15,d:0.15000001):0.15);")
    ax = plot_dendrogram(d)
    assert not by_gid(ax, "ordhc-leaders")
    assert ax.get_xlabel() == "distance from the root"
    assert ax.get_xticks()[0] == 0
    assert ax.get_xticks()[-1] == pytest.approx(0.3)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("text", ["((a,b,c),(d,(e,f)));", "((a:1,b:1,c:1),(d:1,(e:1,f:1):1));"])
def test_trees_without_lengths_are_cladograms(layout, text, tmp_path):
    if ":" in text:
        with pytest.warns(OrdhcWarning, match="branches have no length"):
            d = read(text)
        with pytest.warns(OrdhcWarning, match="2 of 9 edges have no length, so the tree is drawn by levels"):
            drawn = saved(d, tmp_path, layout=layout)
    else:
        d = read(text)
        drawn = saved(d, tmp_path, layout=layout)
    assert len(drawn.paths("ordhc-branches")) == len(d.parents) - 1
    assert sorted(drawn.texts()) == list("abcdef")
    if layout == "rectangular":
        # Leaves on one line; each node a level above its highest child.
        at = first_points(drawn)[:, 0]
        levels = np.sort((at.max() - at) / (at.max() - np.unique(at)[-2]))
        np.testing.assert_allclose(levels, [0, 0, 0, 0, 0, 0, 1, 1, 2], atol=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        with pytest.raises(InputError, match="scale 'bar' needs heights, or a length of every edge"):
            d.plot(layout=layout, scale="bar")


def test_edges_of_unrooted_cladograms_are_equally_long():
    ax = plot_dendrogram(read("((a,b,c),(d,(e,f)));"), layout="unrooted")
    lengths = [math.dist(*line) for line in ax.collections[0].get_segments()]
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "text",
    ["a:1;", "(a:1,b:2);", "(a:0,b:0,c:0);", "(a:1,b:2,c:3,d:4,e:5);", "(a:-1,b:-2);", "((a:1):1,b:1);"],
)
def test_odd_trees_are_drawn_in_every_layout(layout, text, tmp_path):
    d = read(text)
    drawn = saved(d, tmp_path, layout=layout)
    assert len(drawn.paths("ordhc-branches")) == len(d.parents) - 1
    assert set(d.names) <= set(drawn.texts())
    assert "nan" not in (tmp_path / "tree.svg").read_text().lower().split()
    if layout == "rectangular":
        assert 0.0 in ticks(drawn, "x")


@pytest.fixture(scope="module")
def large():
    n = 100_000
    random = np.random.default_rng(0)
    # A random tree: two of the parts there are become one.
    live, parents = list(range(n)), np.full(2 * n - 1, -1)
    for node in range(n, 2 * n - 1):
        for _ in range(2):
            at = int(random.integers(len(live)))
            live[at], live[-1] = live[-1], live[at]
            parents[live.pop()] = node
        live.append(node)
    return ordhc.Dendrogram.from_parents(parents, lengths=random.random(2 * n - 1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_hundred_thousand_leaves(large, layout, tmp_path):
    drawn = saved(large, tmp_path, layout=layout)
    assert len(drawn.paths("ordhc-branches")) == 118
    assert len(drawn.paths("ordhc-collapsed")) > 50


def test_figures_of_plots_take_all_trees():
    d, other = phylogeny(12, most=4), phylogeny(12, seed=5, most=4)
    shape = read(other.to_newick(branch_lengths=False))
    paths = d.patristic(square=True)
    for tree in (other, shape):
        ax = ordhc.plots.tanglegram(d, tree, n_clusters=3 if d.cut(3).max() == 2 else None)
        first, second = ax.child_axes
        assert len(first.collections[0].get_segments()) == len(d.parents) - 1
        assert len(second.collections[0].get_segments()) == len(tree.parents) - 1
        ax = ordhc.plots.heatmap(tree, paths, dissimilarity=True)
        names = [text.get_text() for text in ax.get_yticklabels()]
        assert names == [tree.names[leaf] for leaf in tree.leaf_order()]


def test_support_calibration_goes_by_nodes():
    truth = read("((a,b,c),(d,e),(f,g,h));")
    found = [read("(((a,b)90,c)80,(d,e)60,(f,g,h)20);"), read("((a,b,c)70,(d,f,g)30,e,h);")]
    ax = ordhc.plots.support_calibration(found, truth, n_bins=2)
    # 20 is true and 30 is not; 60, 70 and 80 are true, 90 is not.
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[0.25, 0.5], [0.75, 0.75]])


# --- the page --------------------------------------------------------------------------------


def exported(browser, tree, folder):
    """What the page exports, and what it calls the first nodes."""
    tree.savefig(folder / "tree.html")
    page = browser.new_page(viewport={"width": 1100, "height": 700})
    page.goto((folder / "tree.html").as_uri())
    text, words = page.evaluate("[ordhc.svgText(), ordhc.tree.shown.map((i) => ordhc.tree.words(i))]")
    page.close()
    return Picture(text), words


def test_the_page_draws_phylograms(browser, tmp_path):
    d = phylogeny(30)
    drawn, words = exported(browser, d, tmp_path)
    texts = [node for node in drawn.root.iter(f"{SVG}text") if node.get("font-size") == "10"]
    marks = {float(node.text): float(node.get("x")) for node in texts if re.fullmatch(r"[\d.]+", node.text)}
    assert 0.0 in marks
    assert "distance from the root" in drawn.texts()
    unit = (marks[max(marks)] - marks[0.0]) / max(marks)
    branches = [
        node.get("d") for node in drawn.root.iter(f"{SVG}path") if "V" in node.get("d") and node.get("stroke")
    ]
    seen = [(float(path.rsplit("H", 1)[1]) - marks[0.0]) / unit for path in branches]
    np.testing.assert_allclose(np.sort(seen), np.sort(distances(d)[:-1]), atol=1e-3)
    said = {
        text.split(",")[0]: float(text.rsplit(" ", 1)[1])
        for text in words
        if text.startswith("leaf") and "+" not in text
    }
    assert said == pytest.approx(dict(zip(d.names, distances(d)[:30].tolist(), strict=True)), rel=1e-4)
    # Leaders of all but the farthest leaf.
    leads = [
        node
        for node in drawn.root.iter(f"{SVG}path")
        if re.fullmatch(r"M[\d.]+ [\d.]+H[\d.]+", node.get("d"))
    ]
    assert len(leads) >= 25


def test_the_page_draws_cladograms_without_numbers(browser, tmp_path):
    drawn, words = exported(browser, read("((a,b,c),(d,(e,f)));"), tmp_path)
    assert sorted(drawn.texts()) == [*"abcdef"]
    assert words[0] == "a +5: 6 leaves"
    with pytest.raises(InputError, match="cut it by depth"):
        read("((a,b,c),(d,(e,f)));").savefig(tmp_path / "tree.html", n_clusters=2)


def test_the_page_cuts_as_python_does(browser, tmp_path):
    d = phylogeny(40, seed=4, most=4)
    d.savefig(tmp_path / "tree.html")
    page = browser.new_page()
    page.goto((tmp_path / "tree.html").as_uri())
    for k in range(1, 41):
        script = f"(() => {{ ordhc.cut(ordhc.tree.openedFor({k}), false); return ordhc.table(); }})()"
        rows = [line.split(",") for line in page.evaluate(script).splitlines()[1:]]
        flat = np.empty(40, dtype=int)
        for leaf, _, cluster in rows:
            flat[int(leaf)] = int(cluster)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrdhcWarning)
            expected = d.cut(k)
        assert (
            len({*zip(flat.tolist(), expected.tolist(), strict=True)}) == flat.max() + 1 == expected.max() + 1
        )
    page.close()


def test_pages_are_xml_of_numbers(browser, tmp_path):
    for text in ("a:1;", "(a:0,b:0);", "(a:-1,b:2);"):
        drawn, _ = exported(browser, read(text), tmp_path)
        assert "NaN" not in ElementTree.tostring(drawn.root, encoding="unicode")
