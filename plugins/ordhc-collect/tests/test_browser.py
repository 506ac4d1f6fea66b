"""The pages in a browser: mouse, keys, a phone, no script; two tabs, undo, the dashboard; accessibility."""

import os
import re
import shutil
import socket
import sqlite3
from pathlib import Path

import pytest
from ordhc_collect.demo import DEMO
from ordhc_collect.simulate.client import fields_of
from ordhc_collect.web import live
from studies import Client, ServerHere

pytest.importorskip("playwright")
from playwright.sync_api import expect

#: Where pictures of pages are kept, if the test run is asked for them.
IMAGES = os.environ.get("ORDHC_SCREENSHOTS")

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The demo with fewer questions, an address to go back to, and a short time to take answers back."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(DEMO.parent, folder / "demo", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "demo" / "study.toml"
    with (folder / "demo" / "instructions.md").open("a") as file:
        file.write("\n![an example](animals/fox.svg)\n")
    text = path.read_text().replace("per_person = 20", "per_person = 5")
    text = text.replace('code = "ANIMALS-DONE"', 'code = "ANIMALS-DONE"\nurl = "{back}/health?cc={code}"')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path.write_text(text.replace("{back}", f"http://127.0.0.1:{port}"))
    with pytest.MonkeyPatch.context() as patch:
        # The dashboard is updated every second.
        patch.setattr(live, "_PAUSE", 0.1)
        patch.setattr(live, "_SHARE", 0.5)
        with ServerHere(path, data=folder / "study.ordhc", port=port) as running:
            running.data = folder / "study.ordhc"
            yield running


@pytest.fixture
def page(browser, server):
    context = browser.new_context(viewport={"width": 1100, "height": 760})
    yield watched(context)
    context.close()


def watched(context):
    """A page on which nothing goes wrong and nothing is loaded from elsewhere."""
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda told: told.type == "error" and page.wrong.append(told.text))

    def see(request):
        if not request.url.startswith(("http://127.0.0.1", "data:")):
            page.wrong.append(request.url)

    page.on("request", see)
    return page


def picture(page, name):
    if IMAGES and not name.startswith("keys"):
        page.wait_for_timeout(250)
        page.screenshot(path=str(Path(IMAGES) / f"collect-{name}.png"), full_page=name == "dashboard")


def accessible(page):
    """axe-core finds nothing."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page)
    told = [f"{each['id']}: {each['nodes'][0]['html']}" for each in found.response["violations"]]
    assert told == []


def counter(page):
    return page.locator(".progress span")


def ready(page):
    """What is chosen on this page counts now."""
    expect(page.locator("main.ready")).to_be_attached()


def at_question(page, number):
    expect(counter(page)).to_have_text(f"{number} of 5")
    ready(page)


def answer(page, number, how):
    at_question(page, number)
    how(page)


def click_any(page):
    page.locator("[name=choice]").nth(1).click()


def to_the_trials(page, server):
    """Show the first question to somebody new, who has sent the pages before it without a browser."""
    client = Client(server)
    check = client.begin()
    client.submit("/next", {**fields_of(check.text), "choice-0": 1})
    for name, value in client.cookies.items():
        page.context.add_cookies([{"name": name, "value": value, "url": server.address}])
    page.goto(f"{server.address}/study")
    at_question(page, 1)


def to_the_first_question(page, server):
    page.goto(f"{server.address}/")
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("heading", name="How it works")).to_be_visible()
    ready(page)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("The one that fits least").check()
    ready(page)
    page.get_by_role("button", name="Continue").click()


# --- all the way -----------------------------------------------------------------------------


def all_the_way(page, server, name, query, how=click_any, click=None):
    click = click or (lambda locator: locator.click())
    # The mouse and the keys see the same pages.
    check = (lambda _: None) if click is press else accessible
    page.goto(f"{server.address}/{query}")
    check(page)
    picture(page, f"{name}-consent")
    click(page.get_by_role("button", name="I agree"))
    expect(page.get_by_role("heading", name="How it works")).to_be_visible()
    ready(page)
    check(page)
    picture(page, f"{name}-instructions")
    click(page.get_by_role("button", name="Continue"))
    expect(page.get_by_role("heading", name="A short check")).to_be_visible()
    ready(page)
    check(page)
    if click is press:
        press(page.get_by_label("The one I like best"), "ArrowDown")
    else:
        click(page.get_by_label("The one that fits least"))
    picture(page, f"{name}-check")
    click(page.get_by_role("button", name="Continue"))
    for number in range(1, 6):
        at_question(page, number)
        if number <= 2:
            check(page)
            picture(page, f"{name}-question-{number}")
        how(page)
    expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
    ready(page)
    check(page)
    picture(page, f"{name}-debriefing")
    click(page.get_by_role("button", name="Finish"))
    expect(page.get_by_text("ANIMALS-DONE")).to_be_visible()
    check(page)
    picture(page, f"{name}-end")
    click(page.get_by_role("link", name="Return to 127.0.0.1"))
    page.wait_for_url("**/health?cc=ANIMALS-DONE")
    assert page.wrong == []


def press(locator, key="Enter"):
    """Reach something with the tab key, see that it shows where one is, and press a key."""
    page = locator.page
    for _ in range(40):
        if locator.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    else:
        raise AssertionError(f"the tab key does not reach {locator}")
    seen = locator.evaluate(
        "e => [e, e.closest('label')].some(x => x && getComputedStyle(x).outlineStyle !== 'none')"
    )
    assert seen, "nothing shows where the keyboard is"
    page.keyboard.press(key)


def test_with_the_mouse(page, server):
    all_the_way(page, server, "wide", "?PROLIFIC_PID=mouse")


def test_with_keys_only(page, server):
    keys = iter("1232")

    def how(page):
        key = next(keys, None)
        if key is None:
            press(page.locator("[name=choice]").nth(2), "Space")
        else:
            page.keyboard.press(key)

    all_the_way(page, server, "keys", "?PROLIFIC_PID=keys", how, press)


def test_on_a_phone(browser, server):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, device_scale_factor=2
    )
    page = watched(context)

    def how(page):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for button in page.locator("[name=choice]").all():
            box = button.bounding_box()
            assert min(box["width"], box["height"]) >= 44
            # All three are seen at once.
            assert box["y"] + box["height"] <= 844
        page.locator("[name=choice]").nth(0).tap()

    all_the_way(page, server, "phone", "?PROLIFIC_PID=phone", how, lambda locator: locator.tap())
    context.close()


def test_without_a_script(browser, server):
    context = browser.new_context(java_script_enabled=False)
    page = watched(context)
    page.goto(f"{server.address}/?PROLIFIC_PID=plain")
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("The one that fits least").check()
    page.get_by_role("button", name="Continue").click()
    for number in range(1, 6):
        expect(counter(page)).to_have_text(f"{number} of 5")
        page.wait_for_timeout(300)
        click_any(page)
    page.get_by_role("button", name="Take my last answer back").click()
    expect(counter(page)).to_have_text("5 of 5")
    click_any(page)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_text("ANIMALS-DONE")).to_be_visible()
    assert page.wrong == []
    context.close()


# --- what people do --------------------------------------------------------------------------


def names(page):
    return page.locator(".choice .caption").all_inner_texts()


def test_reload_and_back_lose_nothing(page, server):
    to_the_first_question(page, server)
    answer(page, 1, click_any)
    expect(counter(page)).to_have_text("2 of 5")
    shown = names(page)
    page.reload()
    at_question(page, 2)
    assert names(page) == shown
    click_any(page)
    expect(counter(page)).to_have_text("3 of 5")
    page.go_back()
    page.goto(f"{server.address}/study")
    expect(counter(page)).to_have_text("3 of 5")
    page.goto(f"{server.address}/")
    expect(counter(page)).to_have_text("3 of 5")
    assert page.wrong == []


def test_two_tabs(page, server):
    to_the_trials(page, server)
    other = page.context.new_page()
    other.goto(f"{server.address}/study")
    click_any(page)
    expect(counter(page)).to_have_text("2 of 5")
    expect(counter(other)).to_have_text("1 of 5")
    ready(other)
    # What the other tab answers was answered; it shows what comes next.
    other.locator("[name=choice]").nth(2).click()
    expect(counter(other)).to_have_text("2 of 5")
    assert names(other) == names(page)


def test_undo(page, server):
    to_the_trials(page, server)
    shown = names(page)
    click_any(page)
    at_question(page, 2)
    second = names(page)
    page.get_by_role("button", name="Take my last answer back").click()
    at_question(page, 1)
    assert names(page) == shown
    page.keyboard.press("1")
    expect(counter(page)).to_have_text("2 of 5")
    assert names(page) == second


def test_a_lost_connection_loses_nothing(page, server):
    to_the_trials(page, server)
    lost = []

    def hang_up(route):
        lost.append(route.request.post_data)
        if len(lost) == 1:
            # The server has the answer, but its word doesn't arrive.
            route.fetch()
        if len(lost) < 4:
            route.abort("internetdisconnected")
        else:
            route.continue_()

    page.route("**/answer", hang_up)
    click_any(page)
    expect(page.locator("#notice")).to_contain_text("You are offline")
    expect(counter(page)).to_have_text("2 of 5", timeout=20_000)
    expect(page.locator("#notice")).to_be_hidden()
    assert len(lost) == 4
    assert len(set(lost)) == 1


def times(server):
    """Seconds that pages have measured, by person and question."""
    with sqlite3.connect(server.data) as db:
        return db.execute(
            "SELECT trial, page_seconds FROM collect_trials WHERE choice NOT NULL AND person ="
            " (SELECT person FROM collect_trials ORDER BY asked DESC LIMIT 1) ORDER BY trial"
        ).fetchall()


@pytest.mark.parametrize("latency", [0, 80])
def test_double_clicks_answer_once(page, server, latency):
    """The second click comes when the next question is shown, or before its pictures are there."""
    to_the_trials(page, server)
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    line.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1},
    )
    box = page.locator("[name=choice]").nth(1).bounding_box()
    place = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for number in (1, 2, 3):
        at_question(page, number)
        page.mouse.click(*place)
        page.wait_for_timeout(120 + latency)
        page.mouse.click(*place)
        at_question(page, number + 1)
    page.wait_for_timeout(300)
    expect(counter(page)).to_have_text("4 of 5")
    found = times(server)
    assert [number for number, _ in found] == [1, 2, 3]
    assert all(seconds >= 0.25 for _, seconds in found)


def test_keys_and_double_taps_answer_once(browser, server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = watched(context)
    to_the_trials(page, server)
    box = page.locator("[name=choice]").nth(1).bounding_box()
    place = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(2):
        page.touchscreen.tap(*place)
        page.wait_for_timeout(100)
    at_question(page, 2)
    for _ in range(3):
        page.keyboard.press("2")
        page.wait_for_timeout(60)
    at_question(page, 3)
    page.wait_for_timeout(300)
    expect(counter(page)).to_have_text("3 of 5")
    context.close()


def test_nothing_counts_before_pictures_are_there(browser, server):
    context = browser.new_context()
    page = watched(context)
    page.route("**/media/**", lambda _: None)
    to_the_first_question(page, server)
    expect(counter(page)).to_have_text("1 of 5")
    for key in "123":
        page.keyboard.press(key)
    page.wait_for_timeout(600)
    page.keyboard.press("1")
    page.locator("[name=choice]").nth(0).dispatch_event("click")
    page.wait_for_timeout(300)
    expect(counter(page)).to_have_text("1 of 5")
    # What waits arrives.
    page.unroute("**/media/**")
    at_question(page, 1)
    page.keyboard.press("1")
    expect(counter(page)).to_have_text("2 of 5")
    assert page.wrong == []
    context.close()


def test_a_page_of_text_waits_for_no_picture(page, server):
    """Only questions wait, for what is compared: a lost picture of the instructions stops nobody."""
    page.route("**/media/page/**", lambda _: None)
    page.goto(f"{server.address}/")
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("img", name="an example")).to_be_attached()
    ready(page)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="A short check")).to_be_visible()
    page.unroute("**/media/page/**")
    page.goto(f"{server.address}/media/page/0")
    assert page.locator("svg").count() == 1


def test_pictures_use_the_room_of_the_screen(page, server):
    """Details decide what is alike: pictures are large, and all that can be chosen is in sight."""
    to_the_trials(page, server)
    for width, height in [(1280, 800), (1366, 768), (1920, 1080)]:
        page.set_viewport_size({"width": width, "height": height})
        widths = [box.bounding_box()["width"] for box in page.locator(".picture").all()]
        assert widths == pytest.approx([widths[0]] * 3, abs=1)
        assert widths[0] >= 320
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


@pytest.mark.parametrize("size", [(390, 844), (1366, 768)])
def test_choices_stay_where_they_are(browser, server, size):
    """Also when an answer can be taken back, and when it can't any more."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = watched(context)
    to_the_trials(page, server)

    def places():
        return [button.bounding_box() for button in page.locator("[name=choice]").all()]

    first = places()
    click_any(page)
    at_question(page, 2)
    expect(page.get_by_role("button", name="Take my last answer back")).to_be_visible()
    assert places() == first
    page.evaluate("document.querySelector('[data-undo]').classList.add('gone')")
    expect(page.get_by_role("button", name="Take my last answer back")).to_be_hidden()
    assert places() == first
    context.close()


def test_response_times_run_from_when_pictures_are_there(page, server):
    to_the_trials(page, server)
    page.wait_for_timeout(500)
    with page.expect_request("**/answer") as sent:
        click_any(page)
    took = int(re.search(r"ms=(\d+)", sent.value.post_data)[1])
    assert 600 < took < 20_000


# --- the dashboard ---------------------------------------------------------------------------


def test_the_dashboard_shows_what_happens(browser, page, server):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    board = watched(context)
    board.goto(f"{server.address}/dashboard")
    accessible(board)
    picture(board, "enter")
    board.wrong.clear()
    board.get_by_label("token").fill(server.token)
    board.get_by_role("button", name="Enter").click()
    expect(board.get_by_role("heading", name="The tree")).to_be_visible()
    before = int(board.locator(".number b").nth(2).inner_text().replace(",", ""))
    to_the_trials(page, server)
    for number in range(1, 6):
        answer(page, number, click_any)
    expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
    ready(page)
    page.get_by_role("button", name="Finish").click()
    # The numbers change by themselves.
    board.wait_for_function(
        "least => parseInt(document.querySelectorAll('.number b')[2].textContent) >= least",
        arg=before + 5,
        timeout=30_000,
    )
    expect(board.locator(".known svg.tree")).to_be_visible()
    assert board.locator(".known svg.tree image").count() == 20
    # The switch shows unsure clusters as well, also after the next update.
    expect(board.locator(".whole svg.tree")).to_be_hidden()
    board.get_by_label("Show unsure clusters too").check()
    expect(board.locator(".whole svg.tree")).to_be_visible()
    expect(board.locator(".known svg.tree")).to_be_hidden()
    assert board.locator(".whole svg.tree image").count() == 20
    # The most and the least typical of twenty items, in the words of the report.
    lengths = board.locator("#lengths")
    expect(lengths).to_contain_text("An item with a long edge is unlike all others (untypical)")
    assert lengths.locator("tbody th[scope=row]").count() == 10
    shown = [float(cell.replace("−", "-")) for cell in lengths.locator("td:nth-child(2)").all_inner_texts()]
    assert shown == sorted(shown)
    assert shown[0] <= 0 <= shown[-1]
    accessible(board)
    picture(board, "dashboard")
    board.get_by_role("button", name="Pause").click()
    expect(board.get_by_text("Paused")).to_be_visible()
    second = browser.new_context().new_page()
    second.clock.install()
    to_the_first_question(second, server)
    expect(second.get_by_role("heading", name="A short break")).to_be_visible()
    accessible(second)
    picture(second, "paused")
    board.get_by_role("button", name="Resume").click()
    expect(board.get_by_text("Running")).to_be_visible()
    # The page looks by itself, after some seconds.
    second.clock.fast_forward(10_000)
    expect(counter(second)).to_have_text("1 of 5", timeout=30_000)
    second.context.close()
    assert board.wrong == []
    context.close()


def test_downloads(browser, server):
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.dashboard)
    assert "token" not in page.url
    for name in (
        "trials.csv",
        "salmon.csv",
        "triplets.csv",
        "people.csv",
        "tree.nwk",
        "tree.svg",
        "study.ordhc",
    ):
        with page.expect_download() as got:
            page.get_by_role("link", name=name).click()
        assert Path(got.value.path()).stat().st_size > 50
        assert got.value.suggested_filename == name
        if name == "tree.svg":
            # Whoever opens it elsewhere sees the pictures, too.
            assert Path(got.value.path()).read_text().count('href="data:image/svg+xml;base64,') == 20
    context.close()
