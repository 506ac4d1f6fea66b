"""Forms, practice, breaks, pictures, sounds and keys in a browser."""

import re
import wave

import numpy as np
import pytest
from PIL import Image
from studies import ServerHere, make_study
from test_browser import accessible, ready, watched

from support.processes import command_here

pytest.importorskip("playwright")
from playwright.sync_api import expect

expect.set_options(timeout=30_000)
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE = {"viewport": {"width": 1440, "height": 900}}


def photos(folder, n=4):
    (folder / "items").mkdir()
    for k in range(n):
        pixels = np.random.default_rng(k).integers(0, 25 * k + 20, (450, 600, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "items" / f"p{k}.jpg")


def begun(page, server):
    """The first question of a study without forms."""
    page.goto(f"{server.address}/")
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("heading", name="How it works")).to_be_visible()
    ready(page)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("[data-trial]")).to_be_visible()


def test_the_study_to_begin_with_from_first_to_last_page(tmp_path, browser):
    """Also, each page fits a phone and a wide screen."""
    command_here("collect", "--init", tmp_path / "s")
    path = tmp_path / "s" / "study.toml"
    text = (
        path.read_text()
        .replace("per_person = 40", "per_person = 4")
        .replace("break_every = 20", "break_every = 2")
    )
    path.write_text(text)
    with ServerHere(path, data=tmp_path / "x.ordhc") as server:
        context = browser.new_context(**PHONE)
        page = watched(context)
        page.goto(f"{server.address}/?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=t")
        page.get_by_role("button", name="I agree").click()
        titles = []
        for _ in range(30):
            if page.locator(".page.end").count():
                break
            ready(page)
            titles.append(page.locator("h1").inner_text())
            if titles.count(titles[-1]) == 1:
                accessible(page)
            for size in (WIDE, PHONE):
                page.set_viewport_size(size["viewport"])
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            before = page.locator("#main").inner_html()
            if page.locator("[data-trial]").count():
                page.locator("[name=choice]").first.click()
            else:
                for group in page.locator("fieldset").all():
                    group.locator("input").nth(1).check()
                if page.locator("[type=number]").count():
                    page.locator("[type=number]").fill("30")
                page.locator("button.main").click()
            page.wait_for_function(
                "before => document.getElementById('main').innerHTML !== before", arg=before
            )
        asked = "Which one is the odd one out?"
        told = [title for title in titles if title in ("That is right.", "Not quite right.")]
        assert len(told) == 2
        assert [title for title in titles if title not in told] == [
            *("Before we begin", "About you", "How it works", "A short check", asked, asked),
            *(asked, asked, "Take a short break", asked, asked, "A few last questions", "Thank you!"),
        ]
        accessible(page)
        expect(page.get_by_role("link", name="Return to Prolific")).to_be_visible()
        assert page.wrong == []
        context.close()


def test_forms_are_not_sent_before_they_are_complete(tmp_path, browser):
    more = '[[questionnaire.before]]\nquestion = "Age?"\ntype = "number"\nmin = 18'
    with ServerHere(make_study(tmp_path, more=more), data=tmp_path / "x.ordhc") as server:
        page = watched(browser.new_context(**PHONE))
        page.goto(f"{server.address}/")
        page.get_by_role("button", name="I agree").click()
        ready(page)
        page.get_by_label("Age?").fill("17")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_timeout(300)
        expect(page.get_by_role("heading", name="About you")).to_be_visible()
        page.get_by_label("Age?").fill("18")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", name="How it works")).to_be_visible()
        page.context.close()


# --- pictures --------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["odd", "triplet", "pairs"])
def test_pictures_on_a_phone(tmp_path, browser, question):
    """Cards are as wide as the screen, all of them are in sight, and pictures can fill the screen."""
    photos(tmp_path)
    path = make_study(
        tmp_path, n=0, items={"t": "x"}, study=f'question = "{question}"', top='sampler = "random"'
    )
    (tmp_path / "items" / "t.txt").unlink()
    with ServerHere(path, data=tmp_path / "x.ordhc") as server:
        page = watched(browser.new_context(**PHONE))
        begun(page, server)
        ready(page)
        for card in page.locator("[name=choice]").all():
            box = card.bounding_box()
            assert box["width"] >= (160 if question == "triplet" else 350)
            assert box["y"] + box["height"] <= 844
        widths = {"odd": 330, "triplet": 140, "pairs": 150}
        for image in page.locator(".choices .picture").all():
            assert image.bounding_box()["width"] >= widths[question]
        accessible(page)
        page.locator(".choices .enlarge").first.tap()
        large = page.locator("dialog .picture")
        expect(large).to_have_count(2 if question == "pairs" else 1)
        assert large.first.bounding_box()["width"] >= 350
        accessible(page)
        page.get_by_role("button", name="Close").tap()
        expect(page.locator("dialog")).to_be_hidden()
        page.keyboard.press("+")
        expect(large).to_have_count({"odd": 3, "triplet": 3, "pairs": 4}[question])
        # Keys of choices do nothing while pictures are enlarged.
        page.keyboard.press("1")
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_be_hidden()
        with page.expect_request("**/answer") as sent:
            page.keyboard.press("1")
        assert "enlarged=2" in sent.value.post_data
        assert page.wrong == []
        page.context.close()


@pytest.mark.parametrize("size", [200, 600])
def test_pictures_have_the_size_of_the_study(tmp_path, browser, size):
    photos(tmp_path)
    with ServerHere(
        make_study(tmp_path, n=1, study=f"picture_size = {size}"), data=tmp_path / "x.ordhc"
    ) as server:
        page = watched(browser.new_context(viewport={"width": 2400, "height": 900}))
        begun(page, server)
        ready(page)
        most = page.locator(".choice").first.bounding_box()["width"]
        for image in page.locator(".choices .picture").all():
            box = image.bounding_box()
            assert box["width"] == pytest.approx(box["height"], abs=1)
            assert box["width"] == pytest.approx(min(size, most), abs=60 if size > most else 1)
        page.context.close()


def test_all_pictures_are_loaded_before_the_first_question(tmp_path, browser):
    photos(tmp_path, 8)
    with ServerHere(make_study(tmp_path, n=1, per_person=6), data=tmp_path / "x.ordhc") as server:
        page = watched(browser.new_context(**PHONE))
        line = page.context.new_cdp_session(page)
        line.send("Network.enable")
        slow = {"offline": False, "latency": 50, "downloadThroughput": 20_000, "uploadThroughput": -1}
        line.send("Network.emulateNetworkConditions", slow)
        page.goto(f"{server.address}/")
        page.get_by_role("button", name="I agree").click()
        ready(page)
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("heading", name="Getting everything ready")).to_be_visible()
        expect(page.locator("[data-trial]")).to_be_hidden()
        accessible(page)
        line.send("Network.emulateNetworkConditions", {**slow, "downloadThroughput": -1, "latency": 0})
        expect(page.locator("[data-trial]")).to_be_visible(timeout=60_000)
        loaded = []
        page.on("request", lambda request: loaded.append(request.url))
        for number in range(1, 5):
            expect(page.locator(".progress span")).to_have_text(f"{number} of 6")
            ready(page)
            page.locator("[name=choice]").first.tap()
        expect(page.locator(".progress span")).to_have_text("5 of 6")
        fetched = page.evaluate(
            "performance.getEntriesByType('resource').filter(e => e.name.includes('media')).map(e => e.name)"
        )
        assert len({name.split("?")[0] for name in fetched}) == 8
        # What is shown later comes from the browser's memory.
        assert [url for url in loaded if "/media/" in url and url not in fetched] == []
        page.context.close()


# --- sounds, times, keys ---------------------------------------------------------------------


def test_sounds_are_played_to_their_ends_one_at_a_time(tmp_path, browser):
    (tmp_path / "items").mkdir()
    for k in range(3):
        with wave.open(str(tmp_path / "items" / f"s{k}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            tone = 8000 * np.sin(2 * np.pi * (300 + 100 * k) * np.arange(6400) / 8000)
            file.writeframes(tone.astype("<i2").tobytes())
    path = make_study(tmp_path, n=0, items={"t": "x"}, more="must_play = true")
    (tmp_path / "items" / "t.txt").unlink()
    with ServerHere(path, data=tmp_path / "x.ordhc") as server:
        page = watched(browser.new_context(**PHONE))
        begun(page, server)
        expect(page.get_by_text("Play everything to the end, then choose.")).to_be_visible()
        accessible(page)

        def play(place, at=0.0):
            page.evaluate(
                "([place, at]) => { const sound = document.querySelectorAll('audio')[place];"
                " sound.currentTime = at; return sound.play(); }",
                [place, at],
            )

        def playing():
            return page.evaluate("[...document.querySelectorAll('audio')].map(sound => !sound.paused)")

        play(0)
        play(1)
        assert playing() == [False, True, False]
        # A jump to the end is no play.
        play(2, 0.75)
        page.wait_for_timeout(500)
        page.locator("[name=choice]").first.tap(force=True)
        for place in (0, 1, 1, 2):
            expect(page.locator("main.unheard")).to_be_attached()
            play(place)
            page.wait_for_function("place => document.querySelectorAll('audio')[place].ended", arg=place)
        ready(page)
        with page.expect_request("**/answer") as sent:
            page.locator("[name=choice]").first.tap()
        assert "plays=1+2+1" in sent.value.post_data
        # Time runs from the end of the last sound.
        assert int(re.search(r"ms=(\d+)", sent.value.post_data)[1]) < 3000
        page.context.close()


def test_time_is_over_and_time_in_a_hidden_tab(tmp_path, browser):
    path = make_study(tmp_path, per_person=2, more="max_seconds = 2")
    with ServerHere(path, data=tmp_path / "x.ordhc") as server:
        page = watched(browser.new_context(**WIDE))
        with page.expect_request("**/answer") as sent:
            begun(page, server)
        assert "late=1" in sent.value.post_data
        assert "choice=0" in sent.value.post_data
        expect(page.locator(".progress span")).to_have_text("2 of 2")
        ready(page)
        page.evaluate(
            "() => { let away = true; Object.defineProperty(document, 'hidden', { get: () => away });"
            " document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));"
            " setTimeout(() => { away = false;"
            " document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); }, 400); }"
        )
        page.wait_for_timeout(600)
        with page.expect_request("**/answer") as sent:
            page.locator("[name=choice]").first.click()
        away = int(re.search(r"away=(\d+)", sent.value.post_data)[1])
        assert 380 <= away <= int(re.search(r"ms=(\d+)", sent.value.post_data)[1])
        page.context.close()


@pytest.mark.parametrize("given", ['["f", "g", "j"]', "false", '["1", "2", "3"]'])
def test_keys_are_changed_or_switched_off(tmp_path, browser, given):
    with ServerHere(make_study(tmp_path, more=f"keys = {given}"), data=tmp_path / "x.ordhc") as server:
        page = watched(browser.new_context(**WIDE))
        page.goto(f"{server.address}/")
        page.get_by_role("button", name="I agree").click()
        ready(page)
        own = page.get_by_label("Use these keys")
        assert own.count() == (given != "false")
        if "1" in given:
            own.uncheck()
        page.get_by_role("button", name="Continue").click()
        ready(page)
        page.keyboard.press("2")
        page.wait_for_timeout(300)
        expect(page.locator(".progress span")).to_have_text("1 of 6")
        if "g" in given:
            page.keyboard.press("G")
            expect(page.locator(".progress span")).to_have_text("2 of 6")
        page.context.close()
