"""Render the pages that participants see."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from babel import Locale
from jinja2 import Environment
from markupsafe import Markup

from ordhc_collect.people.state import CHECK, DEBRIEFING, END, INSTRUCTIONS, SCREENING, TRIALS, Person, Trial
from ordhc_collect.study.items import Item
from ordhc_collect.study.languages import catalogue
from ordhc_collect.study.model import Study
from ordhc_collect.web.rendering import environment
from ordhc_collect.web.tokens import Signer

__all__ = ["STATIC", "Pages", "static_version"]

#: The parts of a question's page that differ from question to question.
_PARTS = ("token", "number", "done", "head", "choices", "held")
STATIC = Path(__file__).parent.parent / "static"


def static_version() -> str:
    """Return a hash of the static files.

    The hash is part of their addresses, so that browsers can cache the files until they change.
    """
    total = hashlib.sha256()
    for path in sorted(STATIC.iterdir()):
        total.update(path.read_bytes())
    return total.hexdigest()[:10]


def _language_name(language: str) -> str:
    """Return the name of a language in that language."""
    name = Locale.parse(language).display_name or language
    return name[:1].upper() + name[1:]


class Pages:
    """The pages of a study, in its languages."""

    def __init__(self, study: Study, signer: Signer) -> None:
        self._study, self._signer = study, signer
        self._environments: dict[str, Environment] = {}
        version = static_version()
        for language in study.languages:
            found = environment(["jinja2.ext.i18n"])
            found.install_gettext_translations(  # type: ignore[attr-defined]
                catalogue(language, study.root), newstyle=True
            )
            found.globals.update(
                study=study,
                language=language,
                is_rtl=Locale.parse(language).text_direction == "rtl",
                languages=study.languages,
                version=version,
                sign=signer.form,
            )
            found.filters["language_name"] = _language_name
            self._environments[language] = found
        # Buttons must not contain items with sound, video or block elements of HTML.
        self._is_plain = all(
            not (item.files.keys() & {"sound", "video"})
            and (
                item.html is None
                or not any(f"<{tag}" in item.html for tag in ("p", "a", "ul", "ol", "h", "t", "d"))
            )
            for item in study.items
        )
        # If people see most of the items, the script loads all pictures while people read the instructions.
        self._preloaded = [
            leaf
            for leaf, item in enumerate(study.items)
            if "picture" in item.files and 2 * len(study.items) <= 3 * study.per_person
        ]
        self._figures = {
            language: [self._figure(found, leaf, item) for leaf, item in enumerate(study.items)]
            for language, found in self._environments.items()
        }

        self._frame = lru_cache(64)(self._draw_frame)
        self._choice = lru_cache(4096)(self._draw_choice)

    def _figure(self, templates: Environment, leaf: int, item: Item) -> Markup:
        template = templates.get_template("item.html")
        html = None if item.html is None else Markup(item.html)
        return Markup(template.render(item=item, leaf=leaf, html=html, is_plain=self._is_plain).strip())

    def render(self, name: str, language: str, **values: Any) -> str:
        """Return the page of a template in a language."""
        if language not in self._environments:
            language = self._study.languages[0]
        values.setdefault("layout", "base.html")
        return self._environments[language].get_template(name).render(**values)

    def of(
        self,
        person: Person,
        *,
        is_paused: bool,
        has_place: bool,
        platform: str | None = None,
        layout: str = "base.html",
    ) -> str:
        """Return the current page of a person."""
        language = person.language
        values: dict[str, Any] = {"layout": layout}
        if person.stage == END:
            return self.end(person, platform, **values)
        values["preloaded"] = self._preloaded
        if not has_place:
            return self.render("message.html", language, what="full", **values)
        values["token"] = self._signer.form(person.id, person.stage)
        if person.stage == SCREENING:
            return self.render("polls.html", language, polls=self._study.screening, stage=SCREENING, **values)
        if person.stage == INSTRUCTIONS:
            return self.render(
                "instructions.html",
                language,
                text=self.page("instructions", language),
                tries=person.tries,
                **values,
            )
        if person.stage == CHECK:
            return self.render("polls.html", language, polls=self._study.checks, stage=CHECK, **values)
        values["held"] = person.held.trial.number if person.held is not None else 0
        if person.stage == DEBRIEFING:
            return self.render("debriefing.html", language, text=self.page("debriefing", language), **values)
        if is_paused or person.trial is None:
            return self.render("message.html", language, what="paused", **values)
        return self.trial(person, person.trial, held=values["held"], layout=layout)

    def trial(self, person: Person, trial: Trial, *, held: int, layout: str) -> str:
        """Return the page of a question."""
        language = person.language if person.language in self._environments else self._study.languages[0]
        shown = trial.shown
        head = ""
        if len(trial.leaves) == 3:
            groups: list[tuple[int, ...]] = [(leaf,) for leaf in shown]
        elif len(trial.sides) == 3:
            groups = [(leaf,) for leaf in shown[1:]]
            head = f'<figure class="head" data-item="{shown[0]}">{self._figures[language][shown[0]]}</figure>'
        else:
            groups = [shown[:2], shown[2:]]
        parts = {
            "token": self._signer.form(person.id, TRIALS, trial.number, trial.attempt),
            "number": str(trial.number),
            "done": str(trial.number - 1),
            "head": head,
            "choices": "".join(self._choice(language, place, group) for place, group in enumerate(groups, 1)),
            "held": str(held),
        }
        frame = self._frame(language, layout, held > 0)
        return "".join(parts[part] if place % 2 else part for place, part in enumerate(frame))

    def _draw_frame(self, language: str, layout: str, has_undo: bool) -> tuple[str, ...]:
        """Return the parts of a question's page; every second part is a name in `_PARTS` to be replaced."""
        marks = {name: Markup(f"\0{name}\0") for name in _PARTS}
        held = marks["held"] if has_undo else 0
        values: dict[str, Any] = {**marks, "held": held, "preloaded": self._preloaded}
        prompt = self._study.prompt.get(language)
        html = self.render(
            "trial.html", language, layout=layout, prompt=prompt, is_plain=self._is_plain, **values
        )
        return tuple(html.split("\0"))

    def prompt(self, language: str) -> str:
        """Return the question's words in a language."""
        html = self.render("prompt.html", language, prompt=self._study.prompt.get(language))
        return Markup(html).unescape()

    def _draw_choice(self, language: str, place: int, leaves: tuple[int, ...]) -> str:
        """Return the HTML of a choice: one item, or a pair of items."""
        return self.render(
            "choice.html",
            language,
            place=place,
            figures=[(leaf, self._figures[language][leaf]) for leaf in leaves],
            label=" + ".join(self._study.items[leaf].label for leaf in leaves),
            is_plain=self._is_plain,
        )

    def page(self, name: str, language: str) -> Markup | None:
        """Return the study's own text of a page, or None."""
        texts: Mapping[str, str] = self._study.pages.get(name, {})
        return Markup(texts[language]) if language in texts else None

    def end(self, person: Person, platform: str | None, **values: Any) -> str:
        """Return the last page, with the code and the return address."""
        outcome = self._study.outcomes[person.outcome or "done"]
        url = None
        if outcome.url is not None:
            url = outcome.url.replace("{code}", quote(outcome.code or "", safe=""))
            url = url.replace("{id}", quote(platform or "", safe=""))
        return self.render(
            "end.html",
            person.language,
            outcome=person.outcome,
            code=outcome.code,
            url=url,
            site=urlsplit(url or "").hostname,
            **values,
        )
