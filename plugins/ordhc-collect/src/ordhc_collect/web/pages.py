"""The pages that participants see."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from babel import Locale
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ordhc_collect.people.state import CHECK, DEBRIEFING, END, INSTRUCTIONS, SCREENING, TRIALS, Person, Trial
from ordhc_collect.study.items import Item
from ordhc_collect.study.model import Study
from ordhc_collect.web.languages import catalogue
from ordhc_collect.web.tokens import Signer

__all__ = ["STATIC", "Pages", "static_version"]

STATIC = Path(__file__).parent.parent / "static"


def static_version() -> str:
    """Another text whenever a file of the pages is another one, for addresses that browsers may keep."""
    total = hashlib.sha256()
    for path in sorted(STATIC.iterdir()):
        total.update(path.read_bytes())
    return total.hexdigest()[:10]


def _language_name(language: str) -> str:
    """What a language calls itself."""
    name = Locale.parse(language).display_name or language
    return name[:1].upper() + name[1:]


class Pages:
    """Renders the pages of a study, in its languages."""

    def __init__(self, study: Study, signer: Signer) -> None:
        self._study, self._signer = study, signer
        self._environments: dict[str, Environment] = {}
        version = static_version()
        for language in study.languages:
            environment = Environment(
                loader=PackageLoader("ordhc_collect"),
                autoescape=True,
                undefined=StrictUndefined,
                trim_blocks=True,
                lstrip_blocks=True,
                extensions=["jinja2.ext.i18n"],
            )
            environment.install_gettext_translations(  # type: ignore[attr-defined]
                catalogue(language, study.root), newstyle=True
            )
            environment.globals.update(
                study=study, language=language, languages=study.languages, version=version, sign=signer.form
            )
            environment.filters["language_name"] = _language_name
            self._environments[language] = environment
        # Items that play or that hold blocks of HTML can't stand within buttons.
        self._is_plain = all(
            not (item.files.keys() & {"sound", "video"})
            and (
                item.html is None
                or not any(f"<{tag}" in item.html for tag in ("p", "a", "ul", "ol", "h", "t", "d"))
            )
            for item in study.items
        )
        self._figures = {
            language: [self._figure(environment, leaf, item) for leaf, item in enumerate(study.items)]
            for language, environment in self._environments.items()
        }

    def _figure(self, environment: Environment, leaf: int, item: Item) -> Markup:
        template = environment.get_template("item.html")
        html = None if item.html is None else Markup(item.html)
        return Markup(template.render(item=item, leaf=leaf, html=html, is_plain=self._is_plain).strip())

    def render(self, name: str, language: str, **values: Any) -> str:
        """A page by its template."""
        if language not in self._environments:
            language = self._study.languages[0]
        values.setdefault("layout", "base.html")
        return self._environments[language].get_template(name).render(**values)

    def of(
        self, person: Person, *, is_paused: bool, has_place: bool, platform: str | None = None, **values: Any
    ) -> str:
        """The page that a person is at."""
        language = person.language
        if person.stage == END:
            return self.end(person, platform, **values)
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
        return self.trial(person, person.trial, **values)

    def trial(self, person: Person, trial: Trial, **values: Any) -> str:
        """The page of a question."""
        figures = self._figures.get(person.language) or self._figures[self._study.languages[0]]
        names = self._study.items
        shown = trial.shown
        if len(trial.leaves) == 3:
            head, groups = None, [(leaf,) for leaf in shown]
        elif len(trial.sides) == 3:
            head, groups = shown[0], [(leaf,) for leaf in shown[1:]]
        else:
            head, groups = None, [shown[:2], shown[2:]]
        values["token"] = self._signer.form(person.id, TRIALS, trial.number, trial.attempt)
        return self.render(
            "trial.html",
            person.language,
            prompt=self._study.prompt.get(person.language),
            number=trial.number,
            head=None if head is None else (head, figures[head]),
            groups=[
                ([(leaf, figures[leaf]) for leaf in group], " + ".join(names[leaf].label for leaf in group))
                for group in groups
            ],
            is_plain=self._is_plain,
            **values,
        )

    def page(self, name: str, language: str) -> Markup | None:
        """The study's own text of a page, if it has one."""
        texts: Mapping[str, str] = self._study.pages.get(name, {})
        return Markup(texts[language]) if language in texts else None

    def end(self, person: Person, platform: str | None, **values: Any) -> str:
        """The last page, with a code and an address to go back to."""
        outcome = self._study.outcomes[person.outcome or "done"]
        url = None
        if outcome.url is not None:
            url = outcome.url.replace("{code}", quote(outcome.code or "", safe=""))
            url = url.replace("{id}", quote(platform or "", safe=""))
        return self.render(
            "end.html", person.language, outcome=person.outcome, code=outcome.code, url=url, **values
        )
