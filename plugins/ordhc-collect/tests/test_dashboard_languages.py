"""The dashboard speaks the languages of the pages."""

import re
from collections import Counter
from pathlib import Path

import ordhc_collect
import pytest
from babel.messages.extract import extract
from babel.messages.pofile import read_po
from ordhc_collect.web.downloads import DOWNLOADS
from studies import Client

HERE = Path(ordhc_collect.__file__).parent
PAGES = ("admin", "confirm", "dashboard", "enter", "result")
PLACEHOLDER = re.compile(r"%\([a-z]+\)s|%%")


def said():
    """Return every text that the templates of the dashboard translate."""
    found = set(DOWNLOADS.values())
    pages = [HERE / f"templates/{name}.html" for name in PAGES]
    for path in (*pages, *(HERE / "templates").glob("part_*.html")):
        with path.open("rb") as file:
            for _, message, _, _ in extract("jinja2.ext:babel_extract", file, options={"trimmed": "true"}):
                found.add(message if isinstance(message, str) else message[0])
    code = (HERE / "web/dashboard.py").read_text()
    return found | set(re.findall(r"""say\(["']([^"']+)["']\)""", code))


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_every_text_is_translated_with_its_placeholders(language):
    with (HERE / "locale" / "dashboard" / f"{language}.po").open("rb") as file:
        known = {message.id: message.string for message in read_po(file, locale=language) if message.id}
    assert said() <= known.keys(), said() - known.keys()
    for text, translated in known.items():
        assert translated, text
        assert Counter(PLACEHOLDER.findall(text)) == Counter(PLACEHOLDER.findall(translated)), text


def test_the_browser_or_the_address_chooses_the_language(serve):
    server = serve(study='languages = ["en", "de", "fr"]')
    client = Client(server)
    client.get(f"/dashboard?token={server.token}")
    page = client.get("/dashboard")
    assert '<html lang="en">' in page.text
    assert "<h2>Privacy</h2>" in page.text
    page = client.get("/dashboard", {"Accept-Language": "fr-CH, en;q=0.5"})
    assert "<h2>Confidentialité</h2>" in page.text
    page = client.get("/dashboard?lang=de", {"Accept-Language": "fr"})
    assert '<html lang="de">' in page.text
    assert "<h2>Datenschutz</h2>" in page.text
    # The choice stays, and a language that the study has not is ignored.
    assert "Datenschutz" in client.get("/dashboard", {"Accept-Language": "fr"}).text
    assert "Datenschutz" in client.get("/dashboard?lang=es").text


def test_login_confirmation_and_results_are_translated(serve):
    server = serve(study='languages = ["en", "de", "fr"]')
    client, german = Client(server), {"Accept-Language": "de"}
    page = client.get("/dashboard", german)
    assert "Das Token, das beim Start der Studie ausgegeben wurde" in page.text
    page = client.post("/dashboard/enter", {"secret": "wrong"}, headers=german)
    assert (page.status, "Falsches Token oder Passwort." in page.text) == (403, True)
    client.get(f"/dashboard?token={server.token}")
    form = re.search(r'name="token" value="([^"]+)"', client.get("/dashboard").text)[1]
    page = client.post("/dashboard/ids", {"token": form}, headers=german)
    assert "Alle IDs der Plattform löschen?" in page.text
    page = client.post("/dashboard/ids", {"token": form, "confirmed": "yes"}, headers=german)
    assert "Die IDs der Plattform sind gelöscht: 0." in page.text
    page = client.post("/dashboard/forget", {"token": form, "person": "none"}, headers=german)
    assert (page.status, "Keine Person hat diese ID." in page.text) == (404, True)
