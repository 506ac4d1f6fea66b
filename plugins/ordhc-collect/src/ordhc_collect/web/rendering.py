"""The environment of the HTML templates."""

import gettext
from collections.abc import Sequence
from typing import Any

from babel import Locale
from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["environment", "speaking"]


def environment(extensions: Sequence[str] = ()) -> Environment:
    """Return the environment of the package's templates; values are escaped, missing names are errors."""
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
    """Return the templates in a language, with its translations; all templates know the `values`."""
    found = environment(["jinja2.ext.i18n"])
    found.install_gettext_translations(words, newstyle=True)  # type: ignore[attr-defined]
    is_rtl = Locale.parse(language).text_direction == "rtl"
    found.globals.update(language=language, is_rtl=is_rtl, **values)
    return found
