"""The languages of the pages: catalogues of translations in the package and in the study's folder."""

import gettext
import re
from io import BytesIO
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po

from ordhc.errors import InputError

_OWN = Path(__file__).parent.parent / "locale"


def known_languages(root: Path | None = None) -> list[str]:
    """Return the languages with a catalogue; `locale/it.po` in the study's folder adds Italian."""
    folders = [_OWN] if root is None else [_OWN, root / "locale"]
    return sorted({"en"} | {path.stem for folder in folders for path in folder.glob("*.po")})


def catalogue(language: str, root: Path, part: str = "") -> gettext.NullTranslations:
    """Return the translations to a language; translations in the study's folder take precedence.

    `part` is the subfolder of the catalogues: "" for the participants' pages, "dashboard" for the dashboard.
    """
    found: gettext.NullTranslations | None = None
    for folder in (root / "locale", _OWN):
        path = folder / part / f"{language}.po"
        if not path.is_file():
            continue
        compiled = BytesIO()
        try:
            with path.open("rb") as file:
                write_mo(compiled, read_po(file, locale=language, abort_invalid=True))
        except (PoFileError, UnicodeDecodeError, ValueError) as error:
            raise InputError(f"is not a catalogue of translations: {error}", path=str(path)) from None
        compiled.seek(0)
        read = gettext.GNUTranslations(compiled)
        if found is None:
            found = read
        else:
            found.add_fallback(read)
    return found or gettext.NullTranslations()


def preferred(header: str, languages: tuple[str, ...]) -> str:
    """Return the language in `languages` that a browser prefers most; by default the first language.

    `header` is the browser's header Accept-Language.

    Examples
    --------
    >>> preferred("fr-CH, de;q=0.9, en;q=0.8", ("en", "de"))
    'de'
    """
    wishes = []
    for position, part in enumerate(header[:500].split(",")):
        name, _, quality = part.strip().partition(";q=")
        weight = float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 1.0
        wishes.append((-weight, position, name.replace("-", "_")))
    for _, _, wish in sorted(wishes):
        for language in languages:
            if language.lower() == wish.lower() or language.split("_")[0] == wish.split("_")[0].lower():
                return language
    return languages[0]
