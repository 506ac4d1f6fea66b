"""Read a study file, and collect all its errors."""

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from ordhc.errors import InputError
from ordhc_collect.study.items import items_of
from ordhc_collect.study.languages import known_languages
from ordhc_collect.study.markup import from_markdown
from ordhc_collect.study.media import Pictures
from ordhc_collect.study.model import OUTCOMES, Exclusion, Outcome, Pay, Poll, Study
from ordhc_collect.study.origins import origins_of
from ordhc_collect.study.questions import asked_by, gold_of, listed_of
from ordhc_collect.study.sections import Problems, Section

__all__ = ["QUESTIONS", "read_study", "study_or_problems"]

QUESTIONS = ("odd", "triplet", "pairs")
PAGES = ("consent", "instructions", "debriefing")
_LONGEST_PAGE = 200_000


def read_study(path: str | Path) -> Study:
    """Return the study that a file describes.

    Raises
    ------
    InputError
        The file has errors; the message lists all of them, one on each line.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> from ordhc_collect.demo import DEMO
    >>> study = read_study(DEMO)
    >>> len(study.items), study.question
    (20, 'odd')
    """
    study, problems = study_or_problems(path)
    if study is None or problems.errors:
        many = len(problems.errors)
        told = "\n".join(f"  - {line}" for line in problems.errors)
        what = "is wrong" if many == 1 else "are wrong"
        raise InputError(
            f"{many} {'thing' if many == 1 else 'things'} {what} with this study:\n{told}", path=str(path)
        )
    return study


def study_or_problems(path: str | Path) -> tuple[Study | None, Problems]:
    """Return the study (None if there are errors) and its errors and warnings."""
    problems = Problems()
    path = Path(path)
    text = _read(path, problems)
    try:
        values = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        problems.error(path.name, f"is no TOML: {error}")
        return None, problems
    if text is None:
        return None, problems
    top = Section(values, "", problems)
    found = _study(top, path.absolute().parent, _SECRET.sub(r'\1"(left out)"', text), problems)
    top.close()
    if not problems.errors:
        _warn_of_few(found, problems)
    return (None if problems.errors else found), problems


def _warn_of_few(study: Study, problems: Problems) -> None:
    """Warn if a person is asked more questions than there are, because nobody is asked a question twice."""
    n, what = study.n_possible, f"{len(study.items)} items make"
    if not study.sampler.keys() - {"list"}:
        n, what = len({frozenset(row) for row in study.listed}), "the list has"
    if n < study.per_person:
        told = f"a person is asked at most {n:,}, because {what} {n:,} different questions: per_person = {n}"
        problems.warn(f"[trials] per_person = {study.per_person}", told)


#: The line with the hash of the dashboard's password, which must not be stored in the session file.
_SECRET = re.compile(r"(?m)^(\s*password\s*=\s*).*$")


def _read(path: Path, problems: Problems) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        problems.error(path.name, "is no UTF-8 text, as TOML must be")
    except IsADirectoryError:
        problems.error(path.name, f"is a folder; name the file in it: {path / 'study.toml'}")
    return None


def _study(top: Section, root: Path, text: str, problems: Problems) -> Study:
    general = top.section("study")
    title = general.text("title")
    if title is None and "title" not in general:
        general.missing("title", 'the heading of the pages, title = "Which animals belong together?"')
    languages = _languages(general, root)
    question = general.choice("question", QUESTIONS, "odd")
    prompt = _in_languages(general, "prompt", languages)
    allow_none = general.flag("none", False)
    captions = general.flag("captions", True)
    seed = general.whole("seed", 0, 0, 2**31 - 1)
    general.close()
    pictures = Pictures(root, problems)
    items = items_of(top.section("items"), root, pictures, problems)
    pages = _pages(top.section("pages"), root, languages, pictures, problems)
    comprehension = top.section("comprehension")
    tries = comprehension.whole("tries", 2, 1, 10)
    checks = tuple(_poll(each, "answer", languages) for each in comprehension.tables("questions"))
    comprehension.close()
    screening = _screening(top.section("screening"), languages)
    trials = top.section("trials")
    per_person = trials.whole("per_person", 40, 1, 100_000)
    can_undo = trials.flag("undo", True)
    undo_seconds = trials.number("undo_seconds", 20.0, 0, 3600)
    min_seconds = trials.number("min_seconds", 0.25, 0, 60)
    seconds_per_answer = trials.number("seconds_per_answer", 4.0, 0.1, 3600)
    trials.close()
    listed = listed_of(top.section("list"), root, question, items, problems)
    gold = gold_of(top.section("gold"), root, question, items, per_person, problems)
    shares, learner = asked_by(top, question, items, bool(listed), problems)
    people = top.section("people")
    id_parameters = people.texts("id_parameters", ("PROLIFIC_PID", "workerId", "puid"))
    anonymous = people.flag("anonymous", True)
    total = people.whole("total", None, 1, 10_000_000)
    leave_after = people.number("leave_after", 600.0, 5, 86_400)
    joins = people.whole("joins_per_minute", 60, 1, 100_000)
    people.close()
    outcomes = top.section("outcomes")
    ends = {name: _outcome(outcomes.section(name)) for name in OUTCOMES}
    outcomes.close()
    return Study(
        root=root,
        text=text,
        title=title or "",
        question=question,
        prompt=prompt,
        languages=languages,
        allow_none=allow_none,
        captions=captions,
        seed=seed,
        items=items,
        pages=pages,
        pictures=tuple(pictures.files),
        checks=checks,
        tries=tries,
        screening=screening,
        per_person=per_person,
        can_undo=can_undo,
        undo_seconds=undo_seconds,
        min_seconds=min_seconds,
        seconds_per_answer=seconds_per_answer,
        sampler=shares,
        learner={**learner, "seed": seed},
        listed=listed,
        gold=gold,
        id_parameters=id_parameters,
        anonymous=anonymous,
        total=total,
        leave_after=leave_after,
        outcomes=ends,
        pay=_pay(top.section("pay")),
        exclude=_exclusion(top.section("exclude"), bool(gold.rows)),
        password=_password(top.section("dashboard")),
        origins=origins_of(top),
        joins_per_minute=joins,
    )


def _languages(general: Section, root: Path) -> tuple[str, ...]:
    """Return the languages of a study; a language without a catalogue is an error."""
    languages = general.texts("languages", ("en",))
    for language in languages:
        if not re.fullmatch(r"[a-z]{2,3}(_[A-Z]{2})?", language):
            general.wrong("languages", f"{language!r} is no language: en, de, fr, es, pt_BR, ...")
        elif language not in (known := known_languages(root)):
            told = f"there is no catalogue locale/{language}.po; there is {', '.join(known)}"
            general.wrong("languages", told)
    return languages


def _screening(section: Section, languages: tuple[str, ...]) -> tuple[Poll, ...]:
    """Return the questions that decide who may take part."""
    found = tuple(_poll(each, "accept", languages) for each in section.tables("questions"))
    section.close()
    return found


def _in_languages(section: Section, key: str, languages: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of a key by language: prompt = "..." or prompt = { en = "...", de = "..." }."""
    value = section.any(key)
    if value is None:
        return {}
    if isinstance(value, str) and value.strip():
        return dict.fromkeys(languages, value)
    if isinstance(value, dict) and all(isinstance(text, str) and text.strip() for text in value.values()):
        lost = [language for language in languages if language not in value]
        if not lost:
            return {language: value[language] for language in languages}
        section.wrong(key, f"lacks the language {', '.join(lost)}")
        return {}
    section.wrong(key, 'should be text in quotes, or texts by language: { en = "...", de = "..." }')
    return {}


def _pages(
    section: Section, root: Path, languages: tuple[str, ...], pictures: Pictures, problems: Problems
) -> dict[str, dict[str, str]]:
    """Return clean HTML by page and language; the German version of consent.md is consent.de.md."""
    found: dict[str, dict[str, str]] = {}
    for page in PAGES:
        path = section.path(page, root)
        if path is None:
            continue
        found[page] = {}
        for language in languages:
            own = path.with_name(f"{path.stem}.{language}{path.suffix}")
            chosen = own if own.is_file() and own.resolve().is_relative_to(root.resolve()) else path
            if chosen is path and language != languages[0]:
                problems.warn(f"[pages] {page}", f"is not translated to {language}: there is no {own.name}")
            try:
                text = chosen.read_text(encoding="utf-8-sig")
            except UnicodeDecodeError:
                problems.error(f"[pages] {page}", f"{chosen.name} is no UTF-8 text")
                continue
            if not text.strip():
                problems.error(f"[pages] {page}", f"{chosen.name} is empty")
            if len(text) > _LONGEST_PAGE:
                problems.error(f"[pages] {page}", f"{chosen.name} has {len(text):,} characters")
                continue
            found[page][language] = from_markdown(text, pictures.beside(chosen.parent, f"[pages] {page}"))
    section.close()
    return found


def _poll(section: Section, key: str, languages: tuple[str, ...]) -> Poll:
    text = _in_languages(section, "question", languages)
    if "question" not in section:
        section.missing("question", 'what is asked, question = "..."')
    given = section.any("options")
    by_language = given if isinstance(given, dict) else dict.fromkeys(languages, given)
    options: dict[str, tuple[str, ...]] = {}
    for language in languages:
        each = by_language.get(language)
        if not isinstance(each, list) or len(each) < 2 or not all(isinstance(x, str) and x for x in each):
            section.wrong("options", f'should be two texts or more: ["...", "..."] ({language})')
            break
        options[language] = tuple(each)
    sizes = {len(each) for each in options.values()}
    if len(sizes) > 1:
        section.wrong("options", "has not as many options in each language")
    most = min(sizes, default=0)
    right = section.any(key)
    places = right if isinstance(right, list) else [right]
    if not places or not all(
        isinstance(x, int) and not isinstance(x, bool) and 1 <= x <= most for x in places
    ):
        if right is None:
            section.missing(key, "the number of the option that passes, from 1 on")
        else:
            section.wrong(key, f"should be the number of an option, from 1 to {most}")
        places = [1]
    elif most and len(set(places)) >= most:
        section.wrong(key, "lets every option pass")
    section.close()
    return Poll(text, options, frozenset(place - 1 for place in places))


def _outcome(section: Section) -> Outcome:
    code, url = section.text("code"), section.text("url")
    if url is not None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            section.wrong("url", "should be an address that begins with https://")
            url = None
        elif unknown := set(re.findall(r"\{(.*?)\}", url)) - {"code", "id"}:
            section.wrong("url", f"has {{{unknown.pop()}}}, but only {{code}} and {{id}} are filled in")
        elif "{code}" in url and code is None:
            section.wrong("url", "has {code}, but there is no code")
    section.close()
    return Outcome(code, url)


def _pay(section: Section) -> Pay:
    found = Pay(
        section.number("per_person", 0.0, 0),
        section.text("currency", "") or "",
        section.number("fee", 0.0, 0, 10),
    )
    if found.per_person and not found.currency:
        section.missing("currency", 'the money that per_person is in, currency = "EUR"')
    section.close()
    return found


def _exclusion(section: Section, has_gold: bool) -> Exclusion:
    found = Exclusion(
        section.number("seconds", None, 0, 3600),
        section.number("same_side", None, 0, 1),
        section.flag("below_chance", False),
        section.number("failed_gold", None, 0, 1),
    )
    if found.failed_gold is not None and not has_gold:
        section.wrong("failed_gold", "needs questions of gold, [gold] table = ...")
    section.close()
    return found


def _password(section: Section) -> str | None:
    found = section.text("password")
    if found is not None and not found.startswith("$argon2"):
        # Do not show the value in the message: it may be a plain-text password.
        section.secret("password", "is no hash: write what `ordhc collect --hash-password` prints")
    section.close()
    return found
