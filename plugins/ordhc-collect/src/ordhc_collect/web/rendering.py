"""The environment of the HTML templates."""

import gettext
from collections.abc import Sequence
from typing import Any

from babel import Locale
from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(extensions: Sequence[str] = ()) -> Environment:
    """Return a Jinja environment with the package's templates.

    Values are escaped for HTML. A template that uses an undefined variable raises an error.
    """
    return Environment(
        loader=PackageLoader("ordhc_collect"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=extensions,
    )


def speaking(language: str, words: gettext.NullTranslations, **values: Any) -> Environment:
    """Return a Jinja environment for a language.

    `words` are the translations to this language, and `values` are global variables of all templates.
    """
    found = environment(["jinja2.ext.i18n"])
    found.install_gettext_translations(words, newstyle=True)  # type: ignore[attr-defined]
    is_rtl = Locale.parse(language).text_direction == "rtl"
    found.globals.update(language=language, is_rtl=is_rtl, **values)
    return found
