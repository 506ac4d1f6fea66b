"""Read the questions of forms (screening, comprehension, questionnaires), and check the answers of people."""

import math
from collections import Counter
from dataclasses import dataclass, field

from ordhc_collect.study.sections import Problems, Section, is_whole

KINDS = ("radio", "number", "text", "scale", "comment")
#: Maximum number of characters of an answer, by kind of question.
_LONGEST = {"text": 300, "comment": 5_000}
#: The last columns of people.csv in every study, with their meanings; questions cannot have these names.
AUTOMATIC = {
    "user_agent": "the browser's header User-Agent",
    "device": "phone, tablet or computer, derived from user_agent",
    "viewport": "width x height of the browser's window in CSS pixels, and screen pixels per CSS pixel",
    "browser_language": "the language that the browser prefers",
    "practice_right": "the number of practice questions whose first answer was right",
    "code": "the code that the person saw at the end",
}
STANDARD = (
    *("person", "puid", "stage", "outcome", "language", "answers", "joined", "seen", "failed_checks"),
    *("median_seconds", "same_place", "reliability", "low", "high", "gold", "n_gold", "agreement"),
    *("n_agreement", "weight", "excluded"),
)
#: The key under which the number of answered practice questions is stored among the details of a person.
PRACTISED = "practice"


@dataclass(frozen=True)
class Field:
    """A question on a form.

    Attributes
    ----------
    name
        The column of the answers in people.csv.
    kind
        "radio" (one of several options), "number", "text" (one line), "scale" (a whole number from `low` to
        `high`) or "comment" (several lines).
    text
        The question by language.
    options
        The options of "radio", or the words at the two ends of "scale", by language.
    low, high
        The limits of a number; infinite for none.
    right
        The positions, from 0, of the options that let a person pass; empty if every answer does.
    quota
        The maximum number of people for each option; None for any number.
    """

    name: str
    kind: str
    text: dict[str, str]
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_required: bool = True
    low: float = -math.inf
    high: float = math.inf
    right: frozenset[int] = frozenset()
    quota: tuple[int | None, ...] = ()

    @property
    def longest(self) -> int:
        """The maximum number of characters of an answer."""
        return _LONGEST.get(self.kind, 30)

    def value(self, given: str) -> str | None:
        """Return an answer as it is stored, "" for none; None if the answer is not allowed.

        The answer to "radio" is the position of an option, from 0; the stored value is the option in the
        study's first language.
        """
        given = given.replace("\r\n", "\n").strip()
        if not given:
            return None if self.is_required else ""
        if len(given) > self.longest:
            return None
        if self.kind in ("text", "comment"):
            return given
        if self.kind == "radio":
            position = self.position(given)
            return None if position is None else next(iter(self.options.values()))[position]
        try:
            number = float(given.replace(",", "."))
        except ValueError:
            return None
        if not self.low <= number <= self.high or (self.kind == "scale" and number != int(number)):
            return None
        return f"{number:.12g}"

    def position(self, given: str) -> int | None:
        n = len(next(iter(self.options.values()), ()))
        return int(given) if given.isascii() and given.isdigit() and int(given[:4]) < n else None


def in_languages(section: Section, key: str, languages: tuple[str, ...]) -> dict[str, str]:
    """Return the text of a key in each language.

    In the file, the value is one text for all languages, or a table such as `{ en = "...", de = "..." }`.
    """
    value = section.any(key)
    if value is None:
        return {}
    if isinstance(value, str) and value.strip():
        return dict.fromkeys(languages, value)
    if isinstance(value, dict) and all(isinstance(text, str) and text.strip() for text in value.values()):
        lost = [language for language in languages if language not in value]
        if not lost:
            return {language: value[language] for language in languages}
        section.wrong(key, f"has no text in the language {', '.join(lost)}")
        return {}
    section.wrong(key, 'should be text in quotes, or texts by language: { en = "...", de = "..." }')
    return {}


def questions_of(
    section: Section, key: str, prefix: str, languages: tuple[str, ...], passing: str = ""
) -> tuple[Field, ...]:
    """Return the questions in the list of tables `key`.

    Questions without a name are called PREFIX_1, PREFIX_2 and so on. `passing` is "answer" or "accept": the
    key that lists the options that let people pass. Questions with this key have the kind "radio". If
    `passing` is empty, every answer passes.
    """
    return tuple(
        _question(each, f"{prefix}_{number}", languages, passing)
        for number, each in enumerate(section.tables(key), 1)
    )


def _question(section: Section, name: str, languages: tuple[str, ...], passing: str) -> Field:
    name = section.text("name", name) or name
    if name in (*STANDARD, *AUTOMATIC, PRACTISED) or len(name) > 60:
        section.wrong("name", "is the name of another column of people.csv, or longer than 60 characters")
    text = in_languages(section, "question", languages)
    if "question" not in section:
        section.missing("question", 'what is asked, question = "..."')
    kind = "radio" if passing else section.choice("type", KINDS, "radio")
    options: dict[str, tuple[str, ...]] = {}
    low, high = -math.inf, math.inf
    if kind == "radio":
        options = _options(section, "options", languages)
    elif kind == "number":
        low, high = section.number("min", low, -1e12, 1e12), section.number("max", high, -1e12, 1e12)
    elif kind == "scale":
        low, high = section.whole("min", 1, -100, 100), section.whole("max", 7, -100, 100)
        if "labels" in section:
            options = _options(section, "labels", languages, n=2)
        if high - low > 20:
            section.wrong("max", f"gives a scale of {high - low + 1} points; 21 at most")
    if low >= high:
        section.wrong("max", f"should be above min, {low:g}")
    n = min((len(each) for each in options.values()), default=0)
    quota = _quota(section, n) if passing == "accept" else ()
    right = _right(section, passing, n, quota) if passing else frozenset()
    is_required = True if passing else section.flag("required", kind != "comment")
    section.close()
    return Field(name, kind, text, options, is_required, low, high, right, quota)


def _options(
    section: Section, key: str, languages: tuple[str, ...], n: int | None = None
) -> dict[str, tuple[str, ...]]:
    given = section.any(key)
    by_language = given if isinstance(given, dict) else dict.fromkeys(languages, given)
    found: dict[str, tuple[str, ...]] = {}
    for language in languages:
        each = by_language.get(language)
        texts = each if isinstance(each, list) and all(isinstance(x, str) and x for x in each) else []
        if len(texts) < 2 or len(texts) != (n or len(texts)):
            many = "two texts" if n else "two texts or more"
            section.wrong(key, f'should be {many}: ["...", "..."] ({language})')
            return {}
        found[language] = tuple(texts)
    if len({len(each) for each in found.values()}) > 1:
        section.wrong(key, "should have the same number of options in each language")
    return found


def _quota(section: Section, n: int) -> tuple[int | None, ...]:
    """Return the maximum number of people for each of `n` options; -1 in the file is any number."""
    given = section.any("quota")
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) != n or not all(is_whole(x) and x >= -1 for x in given):
        section.wrong("quota", f"should be {n} whole numbers, one for each option; -1 is any number")
        return ()
    return tuple(None if count < 0 else count for count in given)


def _right(section: Section, key: str, n: int, quota: tuple[int | None, ...]) -> frozenset[int]:
    given = section.any(key)
    if given is None and quota:
        return frozenset(position for position, most in enumerate(quota) if most != 0)
    numbers = given if isinstance(given, list) else [given]
    if not numbers or not all(is_whole(x) and 1 <= x <= n for x in numbers):
        if given is None:
            section.missing(key, "the number of the option that passes, from 1")
        else:
            section.wrong(key, f"should be the number of an option, from 1 to {n}")
        return frozenset([0])
    if n and len(set(numbers)) >= n and not quota:
        section.wrong(key, "has every option, so every answer would pass; leave one out")
    return frozenset(number - 1 for number in numbers)


def distinct(fields: tuple[Field, ...], problems: Problems) -> None:
    for name, count in Counter(each.name for each in fields).items():
        if count > 1:
            problems.error("[questionnaire]", f"{count} questions have the name {name!r}; names must differ")


def columns_of(fields: tuple[Field, ...], parameters: tuple[str, ...]) -> dict[str, str]:
    """Return the columns that a study adds to people.csv, each with its meaning."""
    found = dict.fromkeys(parameters, "parameter of the address")
    found.update({each.name: f"{each.kind}: {next(iter(each.text.values()), '')}" for each in fields})
    return {**found, **AUTOMATIC}
