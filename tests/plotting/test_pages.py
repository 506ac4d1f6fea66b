"""The page to explore a tree with, driven in Chromium; and what it is made of."""

import base64
import json
import re
import sys
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError, MissingExtraError, OrdhcWarning
from ordhc.plotting import pages
from support.browsers import ODD
from support.processes import run

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def tree(n, support=False, names=None):
    random = np.random.default_rng(n)
    d = ordhc.linkage(
        random.random(n * (n - 1) // 2),
        dissimilarity=True,
        names=names or [f"leaf {i}" for i in range(n)],
    )
    return d.replace(support=random.random(n - 1)) if support else d


def data_of(page):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    )


# --- the file --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_the_page_holds_the_tree(n):
    d = tree(n, support=n > 2) if n > 1 else ordhc.Dendrogram([], [], names=["leaf 0"])
    data = data_of(pages.page(d))
    nodes = list(d.nodes())
    assert data["leaves"] == n
    assert data["number"] == [node.label if node.is_leaf else None for node in nodes]
    parents = [None if node.parent is None else node.parent.label for node in nodes]
    labels = [node.label for node in nodes]
    assert [None if at < 0 else labels[at] for at in data["parent"]] == parents
    heights = [node.height for node in nodes if not node.is_leaf]
    inner = [height for height, number in zip(data["height"], data["number"], strict=True) if number is None]
    assert inner == pytest.approx(heights)
    assert (data["support"] is None) == (d.support is None)


def test_the_page_needs_no_network_and_escapes_everything():
    d = ordhc.linkage(np.arange(1.0, 7.0), dissimilarity=False, names=ODD)
    page = pages.page(d, title=ODD[0], texts={name: name for name in ODD})
    assert page.count("<script") == page.count("</script>") == 2
    assert "default-src 'none'" in page
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""", page)
    assert [name for name in data_of(page)["name"] if name] == [
        d.names[node.label] for node in d.nodes() if node.is_leaf
    ]
    assert sorted(data_of(page)["text"].values()) == sorted(ODD)
    assert "&lt;/script&gt;" in page
    # The same page every time, and whole within another one.
    assert page == pages.page(d, title=ODD[0], texts={name: name for name in ODD})
    inline = d._repr_html_()
    assert inline.count("<iframe") == 1
    assert inline.count("<script") == 0


def test_large_trees_are_text_in_notebooks():
    chain = ordhc.Dendrogram(
        [(0, 1), *((at, 5001 + at - 2) for at in range(2, 5001))], np.arange(5000.0), kind="dissimilarity"
    )
    assert chain._repr_html_() == "<code>&lt;Dendrogram: 5,001 leaves, dissimilarity 0 .. 4999&gt;</code>"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"texts": {"nobody": "x"}}, "texts: the name 'nobody' is unknown"),
        ({"texts": ["x"]}, "texts is \\['x'\\]; give a mapping"),
        ({"texts": {"leaf 0": 3}}, "texts is 3, not a string"),
        ({"pictures": {"leaf 0": b"GIF"}}, "is none of png, jpeg, gif, webp and svg"),
        ({"pictures": {"leaf 0": "/nowhere.png"}}, "/nowhere.png: the picture cannot be read"),
        ({"n_clusters": 6}, "n_clusters = 6 is above 5"),
        ({"support_threshold": 70}, "support_threshold = 70 is outside 0..1"),
    ],
)
def test_what_the_page_cannot_show_says_why(given, said):
    with pytest.raises(InputError, match=said):
        pages.page(tree(5), **given)


def test_the_ending_decides_whether_a_page_or_a_picture_is_written(tmp_path, monkeypatch):
    d, texts = tree(5), {"leaf 0": "purrs"}
    for name in ("tree.html", "tree.HTM"):
        d.savefig(tmp_path / name, n_clusters=2, support_threshold=0.5, texts=texts, title="Cats")
        data = data_of((tmp_path / name).read_text(encoding="utf-8"))
        assert (data["clusters"], data["threshold"], [*data["text"].values()]) == (2, 50, ["purrs"])
    d.savefig(tmp_path / "tree.svg", n_clusters=2, title="Cats")
    assert "<svg" in (tmp_path / "tree.svg").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"none of \.svg, \.png, \.pdf, \.html, \.htm"):
        d.savefig(tmp_path / "tree.bmp", texts=texts)
    # A page needs no Matplotlib.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    d.savefig(tmp_path / "again.html")
    with pytest.raises(MissingExtraError):
        d.savefig(tmp_path / "again.svg")


@pytest.mark.parametrize(
    ("name", "option", "said"),
    [
        (
            "t.html",
            "n_cluster",
            "a page has no option 'n_cluster'; nearest: 'n_clusters'; an html page has n_c",
        ),
        (
            "t.html",
            "figsize",
            "a page has no option 'figsize'; an html page has n_clusters, support_threshold",
        ),
        (
            "t.html",
            "width",
            "width is an option of svg, png and pdf files; an html page has n_clusters, supp",
        ),
        ("t.html", "dpi", "dpi is an option of svg, png and pdf files; .* texts, pictures and title$"),
        ("t.pdf", "texts", "texts is an option of html pages; .pdf files have no such option"),
        ("t.svg", "pictures", "pictures is 1; give a mapping by the names of leaves"),
        ("t.png", "layuot", "a picture has no option 'layuot'; nearest: 'layout'"),
    ],
)
def test_options_of_another_format_are_refused(tmp_path, name, option, said):
    with pytest.raises(InputError, match=said):
        tree(5).savefig(tmp_path / name, **{option: 1})
    assert not (tmp_path / name).exists()


def test_the_command_writes_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("anchor,near,far\ncat,dog,car\ndog,cat,bus\ncar,bus,cat\n")
    code, _, err = run(capsys, "cluster", "a.csv", "--html", "tree.html", "--n-clusters", "2")
    assert (code, err) == (0, "")
    assert data_of((tmp_path / "tree.html").read_text())["clusters"] == 2
    code, _, err = run(capsys, "cluster", "a.csv", "--html", "tree.pdf")
    assert code == 2
    assert "tree.pdf: a page is .html" in err
    code, _, err = run(capsys, "cluster", "a.csv", "--html", "tree.html", "-o", "tree.html")
    assert code == 2


# --- in the browser --------------------------------------------------------------------------


def until(page, condition):
    """Wait for a condition; evaluated from outside, for the page's own rules forbid `eval`."""
    end = time.monotonic() + 30
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


@pytest.fixture
def visit(browser, tmp_path):
    """Open the page of a tree; nothing may fail on it, and nothing may be loaded."""
    opened, troubles, asked = [], [], []

    def go(d, **options):
        d.savefig(tmp_path / "tree.html", **options)
        context = browser.new_context(viewport={"width": 1100, "height": 700}, accept_downloads=True)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "tree.html").as_uri())
        until(page, "ordhc.view.frames > 0")
        opened.append(context)
        return page

    yield go
    for context in opened:
        context.close()
    assert not troubles
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)


def clusters(page):
    return page.evaluate("ordhc.table()")


def test_cuts_are_those_of_python(visit):
    d = tree(30)
    page = visit(d, n_clusters=4)
    for k in (4, 1, 7, 30):
        page.fill("#clusters", str(k))
        page.press("#clusters", "Enter")
        rows = [line.split(",") for line in clusters(page).splitlines()[1:]]
        flat = np.empty(30, dtype=int)
        for leaf, name, cluster in rows:
            assert name == d.names[int(leaf)]
            flat[int(leaf)] = int(cluster)
        expected = d.cut(k)
        assert len(set(zip(flat.tolist(), expected.tolist(), strict=True))) == k == flat.max() + 1
        assert page.inner_text("#count").split()[0] == str(k)
    # By the slider's keys.
    page.focus("#cut")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.locator("#list li").count() == 2
    assert page.get_attribute("#cut", "aria-valuetext") == "2 clusters"


def test_clusters_are_copied(visit):
    d = tree(9)
    page = visit(d, n_clusters=3)
    page.locator("#list li button", has_text="Copy").first.click()
    until(page, "document.querySelector('#said').textContent === 'Copied'")
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    flat = d.cut(3)
    assert len({int(flat[d.names.index(name)]) for name in copied}) == 1
    page.click("#copy")
    until(page, "navigator.clipboard.readText().then((text) => text.startsWith('leaf,name,cluster'))")


def test_search_finds_and_shows_what_is_collapsed(visit):
    d = tree(200)
    page = visit(d, n_clusters=5)
    page.click("#fold")
    assert page.evaluate("ordhc.tree.tips.length") == 5
    page.fill("#search", "LEAF 17")
    assert page.inner_text("#found") == "11 found"
    page.press("#search", "Enter")
    assert page.inner_text("#found") == "1 of 11"
    focus = page.evaluate("ordhc.tree.name[ordhc.view.focus]")
    assert focus.startswith("leaf 17")
    place = page.evaluate("ordhc.view.y(ordhc.tree.place[ordhc.view.focus])")
    assert 0 < place < page.evaluate("ordhc.view.h")
    assert page.evaluate("ordhc.tree.tips.includes(ordhc.view.focus)")
    page.fill("#search", "nothing like it")
    assert page.inner_text("#found") == "0 found"
    assert page.is_disabled("#next")


def test_nodes_are_collapsed_by_clicks_and_hovered(visit):
    d = tree(12)
    page = visit(d, texts={name: f"about {name} <b>" for name in d.names}, pictures={d.names[0]: PNG})
    box = page.locator("#canvas").bounding_box()
    i, x, y = page.evaluate("ordhc.view.hits.find(([i]) => i > 0)")
    page.mouse.move(box["x"] + x, box["y"] + y)
    assert "leaves, height" in page.inner_text("#tip")
    page.mouse.click(box["x"] + x, box["y"] + y)
    assert page.evaluate(f"ordhc.tree.collapsed[{i}]") == 1
    assert page.evaluate("ordhc.tree.tips.length") < 12
    page.click("#unfold")
    assert page.evaluate("ordhc.tree.tips.length") == 12
    leaf = page.evaluate("ordhc.tree.number.indexOf(0)")
    x, y = page.evaluate(f"[ordhc.view.x(ordhc.view.leafEnd) + 10, ordhc.view.y(ordhc.tree.place[{leaf}])]")
    page.mouse.move(box["x"] + x, box["y"] + y)
    assert page.locator("#tip p").all_inner_texts() == ["leaf 0", "about leaf 0 <b>"]
    until(page, "document.querySelector('#tip img').naturalWidth === 1")


def test_zoom_and_pan(visit):
    page = visit(tree(100))
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    under = page.evaluate("ordhc.view.placeAt(200)")
    page.mouse.wheel(0, -600)
    until(page, "ordhc.view.zoomY > 2")
    assert page.evaluate("ordhc.view.placeAt(200)") == pytest.approx(under, abs=0.2)
    before = page.evaluate("ordhc.view.panY")
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 260, steps=4)
    page.mouse.up()
    assert page.evaluate("ordhc.view.panY") == pytest.approx(before + 60)
    # Whatever is done, something of the tree stays in sight.
    page.evaluate("ordhc.view.pan(1e9, -1e9)")
    assert page.evaluate("ordhc.view.y(ordhc.tree.width)") > 0
    page.click("#fit")
    assert page.evaluate("[ordhc.view.zoomY, ordhc.view.panY]") == [1, 0]


def test_keys_and_what_a_screen_reader_hears(visit):
    d = ordhc.Dendrogram.from_newick("((cat:1,dog:1)pets:1,car:2);")
    page = visit(d)
    page.focus("#tree")

    def heard():
        item = page.locator(f"#{page.get_attribute('#tree', 'aria-activedescendant')}")
        names = ("aria-level", "aria-posinset", "aria-setsize", "aria-expanded")
        return (item.text_content(), *(item.get_attribute(name) for name in names))

    assert heard() == ("cat +2: 3 leaves, distance from the root 0", "1", "1", "1", "true")
    page.keyboard.press("ArrowRight")
    assert heard() == ("pets: 2 leaves, distance from the root 1", "2", "1", "2", "true")
    page.keyboard.press("ArrowDown")
    assert heard() == ("cat, distance from the root 2", "3", "1", "2", None)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert heard() == ("pets: 2 leaves, distance from the root 1, collapsed", "2", "1", "2", "false")
    page.keyboard.press("ArrowDown")
    assert heard()[0] == "car, distance from the root 2"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert heard()[-1] == "true"
    page.keyboard.press("-")
    assert page.evaluate("ordhc.view.zoomY") < 1
    page.keyboard.press("0")
    assert page.evaluate("ordhc.view.zoomY") == 1
    script = """[...document.querySelectorAll("button, input")].map(
        (e) => e.labels?.[0]?.textContent || e.getAttribute("aria-label") || e.textContent)"""
    names = page.evaluate(script)
    assert all(name.strip() for name in names)


def test_support_below_the_threshold_is_faint(visit):
    page = visit(tree(20, support=True), support_threshold=0.5)
    weak = page.evaluate("ordhc.tree.shown.filter((i) => ordhc.view.isWeak(i)).length")
    assert weak == sum(share < 0.5 for share in tree(20, support=True).support[:-1]) + (
        tree(20, support=True).support[-1] < 0.5
    )
    page.fill("#threshold", "100")
    assert page.inner_text("#percent") == "100%"
    assert visit(tree(5)).locator("#sure").is_hidden()


def test_exported_svg_is_the_tree(visit):
    page = visit(ordhc.linkage(np.arange(1.0, 7.0), dissimilarity=False, names=ODD), n_clusters=2)
    with page.expect_download() as waiting:
        page.click("#export")
    assert waiting.value.suggested_filename == "tree.svg"
    root = ElementTree.parse(waiting.value.path()).getroot()
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert set(ODD) <= set(texts)
    paths = root.iter("{http://www.w3.org/2000/svg}path")
    assert sum(node.get("stroke") is not None for node in paths) == 6
    assert page.evaluate("window.hacked") is None


def test_nodes_of_many_children_and_one_leaf(visit):
    with pytest.warns(OrdhcWarning, match="no cut into 3 clusters"):
        page = visit(ordhc.Dendrogram.from_newick("((a:1,b:1,c:1,d:1):1,e:2);"), n_clusters=3)
    assert page.inner_text("#count") == "2 clusters"
    assert page.evaluate("ordhc.tree.children(1).length") == 4
    alone = visit(ordhc.Dendrogram([], [], names=["only"]))
    assert alone.inner_text("#count") == "1 cluster"


def test_twenty_thousand_leaves_are_drawn_smoothly(visit):
    random = np.random.default_rng(0)
    n = 20_000
    merges, heights, live = [], [], list(range(n))
    for at in range(n - 1):
        a, b = (live.pop(int(random.integers(len(live)))) for _ in range(2))
        merges.append((a, b))
        heights.append(float(at))
        live.append(n + at)
    page = visit(ordhc.Dendrogram(merges, heights, names=[f"item {i}" for i in range(n)]), n_clusters=8)
    script = """(steps) => {
        const took = [];
        for (let k = 0; k < steps; k++) {
            if (k % 3 === 0) ordhc.view.zoom(k % 2 ? 0.8 : 1.4, 300, 300, false);
            else ordhc.view.pan(2, k % 2 ? 40 : -30);
            const start = performance.now();
            ordhc.view.draw();
            took.push(performance.now() - start);
        }
        return took;
    }"""
    took = page.evaluate(script, 60)
    # Far below what is noticed on an idle machine, where it is some milliseconds.
    assert np.median(took) < 50, took
    start = page.evaluate("performance.now()")
    page.evaluate("for (let k = 1; k <= 20; k++) ordhc.cut(k * 50, false)")
    assert page.evaluate("performance.now()") - start < 4000


def test_the_page_works_within_a_notebook(browser, tmp_path):
    d = tree(12)
    (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8>{d._repr_html_()}", "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "notebook.html").as_uri())
    page.wait_for_selector("iframe")
    inner = page.frames[1]
    inner.locator("#count", has_text="cluster").wait_for()
    inner.fill("#clusters", "3")
    inner.press("#clusters", "Enter")
    assert inner.inner_text("#count") == "3 clusters"
    inner.click("#copy")
    inner.locator("#said", has_text="Copied").wait_for(state="attached")
    # What is around it is out of its reach.
    assert (
        inner.evaluate("(() => { try { return parent.document.title; } catch { return 'apart'; } })()")
        == "apart"
    )
    page.close()


def test_clusters_are_named_where_leaves_are_too_small(visit):
    page = visit(tree(400), n_clusters=3)
    assert page.evaluate("ordhc.view.fontSize()") < 6
    written = page.evaluate(
        """(() => {
            const texts = [];
            ordhc.view.context.fillText = (text) => texts.push(text);
            ordhc.view.draw();
            return texts;
        })()"""
    )
    expected = page.evaluate(
        "ordhc.tree.roots.filter((i) => ordhc.tree.size[i] > 10).map((i) => ordhc.tree.title(i))"
    )
    assert expected
    assert set(expected) <= set(written)
