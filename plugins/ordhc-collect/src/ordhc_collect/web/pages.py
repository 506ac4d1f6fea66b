"""Render the pages that participants see."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from babel import Locale
from jinja2 import Environment
from markupsafe import Markup

from ordhc_collect.people.state import (
    BREAK,
    DEBRIEFING,
    END,
    INSTRUCTIONS,
    PRACTICE,
    TRIALS,
    Person,
    Trial,
)
from ordhc_collect.study.copies import WIDTHS, sizes_of, widths_of
from ordhc_collect.study.items import Item
from ordhc_collect.study.languages import catalogue
from ordhc_collect.study.model import Study
from ordhc_collect.web.rendering import speaking
from ordhc_collect.web.tokens import Signer

#: The placeholders in the template of a question's page; their values differ from question to question.
_PARTS = ("token", "number", "done", "head", "choices", "held")
STATIC = Path(__file__).parent.parent / "static"


def static_version() -> str:
    """Return a hash of the static files.

    The hash is a part of the addresses of the files, so that browsers can cache the files until they change.
    """
    total = hashlib.sha256()
    for path in sorted(STATIC.iterdir()):
        total.update(path.read_bytes())
    return total.hexdigest()[:10]


def _language_name(language: str) -> str:
    name = Locale.parse(language).display_name or language
    return name[:1].upper() + name[1:]


class Pages:
    """The pages of a study, in its languages."""

    def __init__(self, study: Study, signer: Signer) -> None:
        self._study, self._signer = study, signer
        self._environments: dict[str, Environment] = {}
        version = static_version()
        for language in study.languages:
            words = catalogue(language, study.root)
            found = speaking(language, words, study=study, languages=study.languages, version=version)
            found.filters["language_name"] = _language_name
            self._environments[language] = found
        # If all items are plain, the choices are buttons. HTML allows no sound, video, link or block element
        # in a button.
        self._is_plain = all(
            not (item.files.keys() & {"sound", "video"})
            and (
                item.html is None
                or not any(f"<{tag}" in item.html for tag in ("p", "a", "ul", "ol", "h", "t", "d"))
            )
            for item in study.items
        )
        has_media = {kind for item in study.items for kind in item.files}
        pictures = [item.files.get("picture") for item in study.items]
        self._sources = [_sources(leaf, path) for leaf, path in enumerate(pictures)]
        common = {
            "is_plain": self._is_plain,
            "has_pictures": "picture" in has_media,
            "has_sound": bool(has_media & {"sound", "video"}),
            "sizes": sizes_of(study.picture_size),
            "preloaded": study.preload and bool(has_media),
            "pictured": {leaf for leaf, source in enumerate(self._sources) if source},
        }
        for found in self._environments.values():
            found.globals.update(common)
        self._figures = {
            language: [self._figure(found, leaf, item) for leaf, item in enumerate(study.items)]
            for language, found in self._environments.items()
        }

        self._frame = lru_cache(64)(self._draw_frame)
        self._choice = lru_cache(4096)(self._draw_choice)

    def _figure(self, templates: Environment, leaf: int, item: Item) -> Markup:
        template = templates.get_template("item.html")
        html = None if item.html is None else Markup(item.html)
        source = self._sources[leaf]
        return Markup(template.render(item=item, leaf=leaf, html=html, source=source).strip())

    def preloaded(self) -> list[list[str]]:
        """Return the media to load first: [srcset, URL] of each picture, [URL] of each sound or video."""
        found = [[source["set"], source["src"]] for source in self._sources if source]
        for leaf, item in enumerate(self._study.items):
            # If there are several formats, the browser chooses one, so the server cannot know which to load.
            found += [
                [f"media/{leaf}/{kind}"]
                for kind in ("sound", "video")
                if kind in item.files and len(item.sources(kind)) == 1
            ]
        return found

    def render(self, name: str, language: str, **values: Any) -> str:
        if language not in self._environments:
            language = self._study.languages[0]
        values.setdefault("layout", "base.html")
        return self._environments[language].get_template(name).render(**values)

    def of(
        self,
        person: Person,
        *,
        is_paused: bool,
        may_continue: bool,
        practice: Trial | None,
        platform: str | None = None,
        layout: str = "base.html",
    ) -> str:
        """Return the HTML of a person's current page.

        `may_continue` is False if another person took part instead of this person. `practice` is the current
        practice question. `platform` is the person's id on the recruiting platform. `layout` is "base.html"
        for a whole page, or "live.html" for the part of a page that the script replaces.
        """
        language = person.language
        values: dict[str, Any] = {"layout": layout, "preload": True}
        if person.stage == END:
            return self.end(person, platform, **values)
        if not may_continue:
            return self.ending("too_late", language, person.id, platform, **values)
        values["token"] = self._signer.form(person.id, person.stage)
        if person.stage == INSTRUCTIONS:
            text = self.page("instructions", language)
            return self.render("instructions.html", language, text=text, tries=person.tries, **values)
        if person.stage == PRACTICE and practice is not None:
            return self._practice(person, practice, **values)
        values["held"] = person.held.trial.number if person.held is not None else 0
        forms = self._study.forms
        if person.stage in forms:
            return self.render(
                "form.html", language, fields=forms[person.stage], stage=person.stage, **values
            )
        if person.stage == BREAK:
            return self.render("break.html", language, done=person.n_done, **values)
        if person.stage == DEBRIEFING:
            return self.render("debriefing.html", language, text=self.page("debriefing", language), **values)
        if is_paused or person.trial is None:
            return self.render("message.html", language, what="paused", **values)
        return self.trial(person, person.trial, held=values["held"], layout=layout)

    def trial(self, person: Person, trial: Trial, *, held: int, layout: str) -> str:
        """Return the page of a question; `held` is the number of the answer that can be taken back, or 0."""
        language = person.language if person.language in self._environments else self._study.languages[0]
        parts = {
            "token": self._signer.form(person.id, TRIALS, trial.number, trial.attempt),
            "number": str(trial.number),
            "done": str(trial.number - 1),
            "head": self._head(language, trial),
            "choices": "".join(
                self._choice(language, place, group) for place, group in enumerate(trial.choices, 1)
            ),
            "held": str(held),
        }
        frame = self._frame(language, layout, held > 0)
        return "".join(parts[part] if at % 2 else part for at, part in enumerate(frame))

    def _head(self, language: str, trial: Trial) -> Markup:
        """Return the HTML of the item to which others are compared, or ""."""
        if trial.head is None:
            return Markup("")
        figure = self._figures[language][trial.head]
        return Markup(self.render("head.html", language, leaf=trial.head, figure=figure))

    def _practice(self, person: Person, trial: Trial, **values: Any) -> str:
        language = person.language
        expected = self._study.practice.answers[trial.number - 1]
        right = next(choice for choice in range(1, 4) if trial.answer(choice) == expected)
        choices = [
            self._choice(language, place, group, person.tried and (place == right, place == person.tried))
            for place, group in enumerate(trial.choices, 1)
        ]
        return self.render(
            "trial.html",
            language,
            prompt=self._study.prompt.get(language),
            head=self._head(language, trial),
            choices=Markup("".join(choices)),
            number=trial.number,
            done=trial.number - 1,
            total=len(self._study.practice.rows),
            practice="question" if person.tried is None else "right" if person.tried == right else "wrong",
            held=0,
            **values,
        )

    def _draw_frame(self, language: str, layout: str, has_undo: bool) -> tuple[str, ...]:
        """Return the HTML of a question page in pieces, with a name in `_PARTS` at each gap (odd indices)."""
        marks = {name: Markup(f"\0{name}\0") for name in _PARTS}
        held = marks["held"] if has_undo else 0
        values: dict[str, Any] = {
            **marks,
            "preload": True,
            "held": held,
            "total": self._study.per_person,
            "practice": "",
        }
        prompt = self._study.prompt.get(language)
        html = self.render("trial.html", language, layout=layout, prompt=prompt, **values)
        return tuple(html.split("\0"))

    def prompt(self, language: str) -> str:
        html = self.render("prompt.html", language, prompt=self._study.prompt.get(language))
        return Markup(html).unescape()

    def _draw_choice(
        self,
        language: str,
        place: int,
        leaves: tuple[int, ...],
        feedback: tuple[bool, bool] | None = None,
    ) -> str:
        """Return the HTML of a choice: one item, or a pair of items.

        After a practice question, `feedback` says if this choice is right, and if the person chose it.
        """
        return self.render(
            "choice.html",
            language,
            place=place,
            figures=[(leaf, self._figures[language][leaf]) for leaf in leaves],
            label=" + ".join(self._study.items[leaf].label for leaf in leaves),
            feedback=feedback,
        )

    def page(self, name: str, language: str) -> Markup | None:
        texts: Mapping[str, str] = self._study.pages.get(name, {})
        return Markup(texts[language]) if language in texts else None

    def end(self, person: Person, platform: str | None, **values: Any) -> str:
        return self.ending(person.outcome or "done", person.language, person.id, platform, **values)

    def ending(self, outcome: str, language: str, who: str, platform: str | None, **values: Any) -> str:
        """Return the page of an outcome in `OUTCOMES`; `who` is empty for people who did not begin."""
        found = self._study.outcomes[outcome]
        url = found.url_for(who, platform)
        site = urlsplit(url or "").hostname or ""
        return self.render(
            "end.html",
            language,
            outcome=outcome,
            code=found.code_for(who),
            url=url,
            site="Prolific" if site.endswith("prolific.com") else site,
            **values,
        )


def _sources(leaf: int, path: Path | None) -> dict[str, str]:
    """Return the address ("src") and the srcset ("set") of an item's picture; empty without a picture."""
    if path is None:
        return {}
    address = f"media/{leaf}/picture"
    widths = widths_of(path)
    copies = [f"{address}?w={width} {width}w" for width in widths[:-1]]
    if widths and widths[-1] <= max(WIDTHS):
        copies.append(f"{address} {widths[-1]}w")
    return {"src": address, "set": ", ".join(copies)}
