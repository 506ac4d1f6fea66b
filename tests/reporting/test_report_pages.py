"""The page of a report, driven in Chromium: whole, escaped, readable on screens and on paper."""

import re

import numpy as np
import pytest

import ordhc
from ordhc.errors import MissingExtraError
from ordhc.reporting.paper import browser_path
from support.browsers import HOW, ODD
from support.browsers import browser_path as found_browser
from support.few_rounds import with_few_sweeps

pytest.importorskip("matplotlib")


def answers(n_people=6, m=30, names=None, seed=0):
    """Odd ones out of eight items by some people."""
    rng = np.random.default_rng(seed)
    truth = ordhc.oracles.from_tree("(((0,1),(2,3)),((4,5),(6,7)));")
    questions = rng.integers(0, 8, (4 * n_people * m, 3))
    distinct = [row for row in questions.tolist() if len(set(row)) == 3][: n_people * m]
    rows = np.array(distinct, dtype=np.int32)
    odd = truth(rows)
    told = [(row[at], *np.delete(row, at)) for row, at in zip(rows, odd, strict=True)]
    who = [f"{ODD[0]} {k % n_people}" for k in range(len(told))]
    return ordhc.Triplets.from_odd_one_out(told, names=names, groups=who, n_leaves=8)


@pytest.fixture(scope="module")
def report():
    names = [*ODD, "rgb #1f2428", "a" * 200, "日本語", 'style="color: #5f6a72" id="x"']
    with pytest.MonkeyPatch.context() as patch:
        with_few_sweeps(patch)
        return ordhc.report(
            answers(names=names),
            methods=["adds3-al", "mulk3-al"],
            n_resamples=10,
            title=ODD[1],
            command=ODD[2],
        )


@pytest.fixture(scope="module")
def html(report):
    return report.to_html()


@pytest.fixture
def visit(browser, html, tmp_path):
    """The page in a window of some size; nothing may fail on it, and nothing may be loaded."""
    opened, troubles, asked = [], [], []
    (tmp_path / "report.html").write_text(html, encoding="utf-8")

    def go(width, scheme="light", medium="screen"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.emulate_media(media=medium, color_scheme=scheme)
        page.goto((tmp_path / "report.html").as_uri())
        opened.append(context)
        return page

    yield go
    for context in opened:
        context.close()
    assert not troubles
    assert all(url.startswith("file:") for url in asked)


def test_the_page_is_one_file_without_scripts(html):
    page = html
    assert "<script" not in page.lower().replace("&lt;script", "")
    assert not re.findall(r"<(?:img|link|iframe|object|embed)\b", page)
    assert not re.findall(r"""(?:src|xlink:href|href)\s*=\s*["'](?!#)""", page)
    assert "default-src 'none'" in page
    ids = re.findall(r'<[^>]*\bid="([^"]*)"', re.sub(r"<text.*?</text>", "", page, flags=re.DOTALL))
    assert len(ids) == len(set(ids))
    for target in re.findall(r'(?:href="#|url\(#)([\w-]+)', page):
        assert target in ids


def test_the_table_of_methods_has_whole_answers(report, html):
    assert re.search(r"<th[^>]*>answers predicted</th>", html)
    for candidate in report.numbers["method"]["selection"]["candidates"]:
        row = html[html.index(f'<th scope="row">{candidate["method"]}</th>') :]
        row = re.sub(r"<svg.*?</svg>", "", row[: row.index("</tr>")], flags=re.DOTALL)
        shown = re.findall(r"<td[^>]*>([\d.]+)%", row)
        assert shown[:2] == [f"{100 * candidate[score]:.1f}" for score in ("answers", "satisfied")]


def test_the_numbers_are_beside_the_page(report, html, tmp_path):
    report.save(tmp_path / "cars.html")
    assert (tmp_path / "cars.html").read_text(encoding="utf-8") == html
    assert (tmp_path / "cars.json").read_text() == report.to_json()
    report.save(tmp_path / "alone.json")
    assert not (tmp_path / "alone.html").exists()
    assert (tmp_path / "alone.json").read_text() == report.to_json()


def test_names_stay_text(visit):
    page = visit(1280)
    assert page.evaluate("window.hacked") is None
    assert page.inner_text("h1") == ODD[1]
    assert page.title() == ODD[1]
    shown = page.locator("#tree svg").first.text_content()
    for name in (ODD[0], ODD[2], "rgb #1f2428", "日本語", 'style="color: #5f6a72" id="x"'):
        assert name[:12] in shown
    assert page.evaluate("document.querySelectorAll('img, script, iframe').length") == 0
    assert ODD[0] in page.inner_text("#people table")
    assert ODD[2] in page.inner_text("#methods")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (820, "dark"), (390, "light")])
def test_the_page_fits_the_window(visit, width, scheme):
    page = visit(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # What is wider scrolls within itself.
    script = """[...document.querySelectorAll("p, h1, h2, li, .table, figure > div, pre")].filter(
        (e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"""
    assert page.evaluate(script) == []
    headings = page.locator("h2").all_inner_texts()
    assert headings[0] == "The data"
    assert headings[3] == "Is it a tree?"
    assert len(headings) == 9
    for link in page.locator("nav a").all():
        assert page.locator(link.get_attribute("href")).count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_pictures_are_seen_in_both_themes(visit, scheme):
    page = visit(1280, scheme)
    script = """() => {
        const parse = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
        const light = (colour) => {
            const [r, g, b] = parse(colour).map((c) => c / 255).map(
                (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const back = light(getComputedStyle(document.body).backgroundColor);
        const found = [];
        for (const e of document.querySelectorAll("p, th, td, h1, h2, svg text")) {
            const style = getComputedStyle(e);
            const own = light(e.tagName === "text" ? style.fill : style.color);
            found.push([(Math.max(own, back) + 0.05) / (Math.min(own, back) + 0.05), e.innerHTML]);
        }
        return found;
    }"""
    found = page.evaluate(script)
    assert len(found) > 100
    weak = [(contrast, html) for contrast, html in found if contrast < 4.4]
    assert weak == []


def test_pictures_are_made_of_the_tree(visit):
    page = visit(1280)
    branches = page.locator("#tree svg").first.locator("#tree-ordhc-branches path")
    assert branches.count() == 14
    assert page.locator("#sensitivity svg #tanglegram-ordhc-ties path").count() == 8
    labels = page.locator("figure svg").evaluate_all("all => all.map(e => e.getAttribute('aria-label'))")
    assert labels[0] == "Dendrogram of 8 items"
    assert all(labels)


@pytest.mark.skipif(found_browser() is None, reason=HOW)
def test_paper(report, tmp_path, monkeypatch):
    monkeypatch.setenv("ORDHC_BROWSER", found_browser())
    assert browser_path() == found_browser()
    report.save(tmp_path / "report.pdf")
    content = (tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    pages = re.findall(rb"/MediaBox \[([^\]]*)\]", content)
    assert len(pages) >= 3
    # A4 in points.
    sizes = {tuple(round(float(x)) for x in page.split()) for page in pages}
    assert all(abs(w - 595) <= 1 and abs(h - 842) <= 1 for _, _, w, h in sizes)


def test_a_browser_that_prints_nothing_is_told(report, tmp_path, monkeypatch):
    fake = tmp_path / "chrome"
    fake.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("ORDHC_BROWSER", str(fake))
    with pytest.raises(MissingExtraError, match=r"has printed no PDF \(no display\); write report.html"):
        report.save(tmp_path / "report.pdf")
    assert not (tmp_path / "report.pdf").exists()
