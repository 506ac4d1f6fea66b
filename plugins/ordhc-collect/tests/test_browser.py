"""The pages in a browser: mouse, keys, a phone, no script; two tabs, undo, the dashboard; accessibility."""

import os
import re
from pathlib import Path

import pytest
from ordhc_collect.demo import DEMO
from studies import Server

from support.browsers import launched

pytest.importorskip("playwright")
from playwright.sync_api import expect, sync_playwright

#: Where pictures of pages are kept, if the test run is asked for them.
IMAGES = os.environ.get("ORDHC_SCREENSHOTS")

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        found = launched(playwright)
        yield found
        found.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The demo with fewer questions, an address to go back to, and a short time to take answers back."""
    folder = tmp_path_factory.mktemp("demo")
    import shutil

    shutil.copytree(DEMO.parent, folder / "demo", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "demo" / "study.toml"
    text = path.read_text().replace("per_person = 20", "per_person = 5")
    text = text.replace('code = "ANIMALS-DONE"', 'code = "ANIMALS-DONE"\nurl = "{back}/health?cc={code}"')
    with Server(path, data=folder / "x.ordhc") as first:
        port = first.port
    path.write_text(text.replace("{back}", f"http://127.0.0.1:{port}"))
    with Server(path, data=folder / "study.ordhc", port=port) as running:
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


def answer(page, number, how):
    expect(counter(page)).to_have_text(f"{number} of 5")
    how(page)


def click_any(page):
    page.locator("[name=choice]").nth(1).click()


def to_the_trials(page, server, query=""):
    page.goto(f"{server.address}/{query}")
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("The one that fits least").check()
    page.get_by_role("button", name="Continue").click()
    expect(counter(page)).to_have_text("1 of 5")


# --- all the way -----------------------------------------------------------------------------


def all_the_way(page, server, name, query, how=click_any, click=None):
    click = click or (lambda locator: locator.click())
    page.goto(f"{server.address}/{query}")
    accessible(page)
    picture(page, f"{name}-consent")
    click(page.get_by_role("button", name="I agree"))
    expect(page.get_by_role("heading", name="How it works")).to_be_visible()
    accessible(page)
    picture(page, f"{name}-instructions")
    click(page.get_by_role("button", name="Continue"))
    expect(page.get_by_role("heading", name="A short check")).to_be_visible()
    accessible(page)
    if click is press:
        press(page.get_by_label("The one I like best"), "ArrowDown")
    else:
        click(page.get_by_label("The one that fits least"))
    picture(page, f"{name}-check")
    click(page.get_by_role("button", name="Continue"))
    for number in range(1, 6):
        expect(counter(page)).to_have_text(f"{number} of 5")
        if number <= 2:
            accessible(page)
            picture(page, f"{name}-question-{number}")
        how(page)
    expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
    accessible(page)
    picture(page, f"{name}-debriefing")
    click(page.get_by_role("button", name="Finish"))
    expect(page.get_by_text("ANIMALS-DONE")).to_be_visible()
    accessible(page)
    picture(page, f"{name}-end")
    click(page.get_by_role("link", name="Back to where you came from"))
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
        answer(page, number, click_any)
    page.get_by_role("button", name="Take my last answer back").click()
    answer(page, 5, click_any)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_text("ANIMALS-DONE")).to_be_visible()
    assert page.wrong == []
    context.close()


# --- what people do --------------------------------------------------------------------------


def names(page):
    return page.locator(".choice .caption").all_inner_texts()


def test_reload_and_back_lose_nothing(page, server):
    to_the_trials(page, server)
    click_any(page)
    expect(counter(page)).to_have_text("2 of 5")
    shown = names(page)
    page.reload()
    expect(counter(page)).to_have_text("2 of 5")
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
    # What the other tab answers was answered; it shows what comes next.
    other.locator("[name=choice]").nth(2).click()
    expect(counter(other)).to_have_text("2 of 5")
    assert names(other) == names(page)


def test_undo(page, server):
    to_the_trials(page, server)
    shown = names(page)
    click_any(page)
    expect(counter(page)).to_have_text("2 of 5")
    second = names(page)
    page.get_by_role("button", name="Take my last answer back").click()
    expect(counter(page)).to_have_text("1 of 5")
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
    expect(page.locator("#notice")).to_contain_text("connection is lost")
    expect(counter(page)).to_have_text("2 of 5", timeout=20_000)
    expect(page.locator("#notice")).to_be_hidden()
    assert len(lost) == 4
    assert len(set(lost)) == 1


def test_double_clicks_answer_once(page, server):
    to_the_trials(page, server)
    page.locator("[name=choice]").nth(0).dblclick()
    expect(counter(page)).to_have_text("2 of 5")
    page.wait_for_timeout(300)
    expect(counter(page)).to_have_text("2 of 5")


def test_response_times_run_from_when_pictures_are_there(page, server):
    to_the_trials(page, server)
    expect(counter(page)).to_have_text("1 of 5")
    page.wait_for_timeout(700)
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
    page.get_by_role("button", name="Finish").click()
    # The numbers change by themselves.
    board.wait_for_function(
        "least => parseInt(document.querySelectorAll('.number b')[2].textContent) >= least",
        arg=before + 5,
        timeout=30_000,
    )
    expect(board.locator("svg.tree")).to_be_visible()
    assert board.locator("svg.tree image").count() == 20
    accessible(board)
    picture(board, "dashboard")
    board.get_by_role("button", name="Pause").click()
    expect(board.get_by_text("Paused")).to_be_visible()
    second = browser.new_context().new_page()
    second.goto(f"{server.address}/")
    second.get_by_role("button", name="I agree").click()
    second.get_by_role("button", name="Continue").click()
    second.get_by_label("The one that fits least").check()
    second.get_by_role("button", name="Continue").click()
    expect(second.get_by_role("heading", name="A short break")).to_be_visible()
    accessible(second)
    picture(second, "paused")
    board.get_by_role("button", name="Resume").click()
    expect(board.get_by_text("Running")).to_be_visible()
    # The page looks by itself.
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
    context.close()
