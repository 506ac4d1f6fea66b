"""Read a study file, and collect all its errors."""

import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ordhc.errors import InputError
from ordhc_collect.study.forms import AUTOMATIC, PRACTISED, distinct, in_languages, questions_of
from ordhc_collect.study.items import Item, items_of
from ordhc_collect.study.languages import known_languages
from ordhc_collect.study.markup import from_markdown
from ordhc_collect.study.media import Pictures
from ordhc_collect.study.model import OUTCOMES, Exclusion, Outcome, Pay, Study
from ordhc_collect.study.origins import origins_of
from ordhc_collect.study.questions import asked_by, gold_of, listed_of, practice_of
from ordhc_collect.study.sections import Problems, Section, text_of

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
        n = len(problems.errors)
        message = "\n".join(f"  - {line}" for line in problems.errors)
        raise InputError(f"the study has {n} {'error' if n == 1 else 'errors'}:\n{message}", path=str(path))
    return study


def study_or_problems(path: str | Path) -> tuple[Study | None, Problems]:
    problems = Problems()
    path = Path(path)
    text = _read(path, problems)
    try:
        values = tomllib.loads(text or "")
    except tomllib.TOMLDecodeError as error:
        problems.error(path.name, f"is not TOML: {error}")
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
    """Warn if `per_person` exceeds the number of different questions: each is asked once per person."""
    n, what = study.n_possible, f"about {len(study.items)} items"
    if not study.sampler.keys() - {"list"}:
        n, what = len({frozenset(row) for row in study.listed}), "in the list"
    if n < study.per_person:
        message = f"there are only {n:,} different questions {what}; write per_person = {n}"
        problems.warn(f"[trials] per_person = {study.per_person}", message)


#: The line with the hash of the dashboard's password, which must not be stored in the session file.
_SECRET = re.compile(r"(?m)^(\s*password\s*=\s*).*$")


def _read(path: Path, problems: Problems) -> str | None:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        problems.error(path.name, "is not UTF-8 text; save the file as UTF-8")
    except IsADirectoryError:
        problems.error(path.name, f"is a folder; name the file in it: {path / 'study.toml'}")
    return None


def _study(top: Section, root: Path, text: str, problems: Problems) -> Study:
    general = top.section("study")
    keys: dict[str, Any] = {}
    languages = _languages(general, root)
    keys["question"] = question = general.choice("question", QUESTIONS, "odd")
    keys |= _general(general, languages)
    preload = general.flag("preload", None)
    general.close()
    pictures = Pictures(root, problems)
    items = items_of(top.section("items"), root, pictures, problems)
    pages = _pages(top.section("pages"), root, languages, pictures, problems)
    keys |= _forms(top, languages, problems)
    trials = top.section("trials")
    per_person = trials.whole("per_person", 40, 1, 100_000)
    keys |= _trials(trials, 3 if question == "odd" else 2, items)
    listed = listed_of(top.section("list"), root, question, items, problems)
    gold = gold_of(top.section("gold"), root, question, items, per_person, problems)
    practice, has_feedback = practice_of(top.section("practice"), root, question, items, problems)
    shares, learner = asked_by(top, question, items, bool(listed), problems)
    outcomes = top.section("outcomes")
    ends = {name: _outcome(outcomes.section(name)) for name in OUTCOMES}
    outcomes.close()
    exclude = _exclusion(top.section("exclude"), bool(gold.rows))
    people = _people(top.section("people"), exclude)
    if people["anonymous"] and not people["is_kiosk"] and "prolific.com" in (ends["done"].url or ""):
        message = (
            "is needed with Prolific: otherwise people whose link has no id take part, but cannot be paid"
        )
        problems.warn("[people] anonymous = false", message)
    return Study(
        root=root,
        text=text,
        languages=languages,
        items=items,
        pages=pages,
        pictures=tuple(pictures.files),
        practice=practice,
        has_feedback=has_feedback,
        # A person sees at most three items per question. With more items, loading all first wastes data.
        preload=len(items) <= 3 * per_person if preload is None else preload,
        per_person=per_person,
        sampler=shares,
        learner={**learner, "seed": keys["seed"]},
        listed=listed,
        gold=gold,
        outcomes=ends,
        pay=_pay(top.section("pay")),
        exclude=exclude,
        password=_password(top.section("dashboard")),
        origins=origins_of(top),
        **keys,
        **people,
    )


def _general(section: Section, languages: tuple[str, ...]) -> dict[str, Any]:
    if "title" not in section:
        section.missing("title", 'the heading of the pages, title = "Which animals belong together?"')
    return {
        "title": section.text("title") or "",
        "prompt": in_languages(section, "prompt", languages),
        "allow_none": section.flag("none", False),
        "captions": section.flag("captions", False),
        "picture_size": section.whole("picture_size", None, 40, 2000),
        "seed": section.whole("seed", 0, 0, 2**31 - 1),
    }


def _forms(top: Section, languages: tuple[str, ...], problems: Problems) -> dict[str, Any]:
    comprehension, screening = top.section("comprehension"), top.section("screening")
    questionnaire = top.section("questionnaire")
    found: dict[str, Any] = {
        "checks": questions_of(comprehension, "questions", "check", languages, "answer"),
        "screening": questions_of(screening, "questions", "screening", languages, "accept"),
        "before": questions_of(questionnaire, "before", "before", languages),
        "after": questions_of(questionnaire, "after", "after", languages),
    }
    distinct(tuple(each for fields in found.values() for each in fields), problems)
    found["tries"] = comprehension.whole("tries", 2, 1, 10)
    for section in (comprehension, screening, questionnaire):
        section.close()
    return found


def _trials(section: Section, n_choices: int, items: tuple[Item, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "can_undo": section.flag("undo", True),
        "undo_seconds": section.number("undo_seconds", 20.0, 0, 3600),
        "min_seconds": section.number("min_seconds", 0.25, 0, 60),
        "max_seconds": section.number("max_seconds", None, 0.5, 3600),
        "seconds_per_answer": section.number("seconds_per_answer", 4.0, 0.1, 3600),
        "break_every": section.whole("break_every", None, 1, 100_000),
        "must_play": section.flag("must_play", False),
        "keys": _keys(section, n_choices),
    }
    if found["max_seconds"] is not None and found["max_seconds"] <= found["min_seconds"]:
        section.wrong("max_seconds", f"should be above min_seconds, {found['min_seconds']:g}")
    if found["must_play"] and items and not any(item.files.keys() & {"sound", "video"} for item in items):
        section.wrong("must_play", "needs items with sound or video")
    section.close()
    return found


def _keys(section: Section, n_choices: int) -> tuple[str, ...]:
    default = tuple("123"[:n_choices])
    given = section.any("keys", list(default))
    if given is False:
        return ()
    if (
        not isinstance(given, list)
        or len(given) != n_choices
        or not all(isinstance(key, str) and len(key) == 1 and key.strip() for key in given)
        or len({key.lower() for key in given}) < n_choices
        or "0" in given
    ):
        section.wrong("keys", f"should be {n_choices} different characters, but not 0; or false for no keys")
        return default
    return tuple(key.lower() for key in given)


def _people(section: Section, exclude: Exclusion) -> dict[str, Any]:
    found = {
        "id_parameters": section.texts("id_parameters", ("PROLIFIC_PID", "workerId", "puid")),
        "parameters": section.texts("parameters", ("STUDY_ID", "SESSION_ID", "assignmentId", "hitId")),
        "anonymous": section.flag("anonymous", True),
        "is_kiosk": section.flag("kiosk", False),
        "total": section.whole("total", None, 1, 10_000_000),
        "replace_excluded": section.flag("replace_excluded", not exclude.is_empty),
        "leave_after": section.number("leave_after", 600.0, 5, 86_400),
        "joins_per_minute": section.whole("joins_per_minute", 60, 1, 100_000),
    }
    for name in found["parameters"]:
        if name in (*AUTOMATIC, PRACTISED):
            section.wrong("parameters", f"has {name!r}, which is the name of another column of people.csv")
    section.close()
    return found


def _languages(general: Section, root: Path) -> tuple[str, ...]:
    languages = general.texts("languages", ("en",))
    for language in languages:
        if not re.fullmatch(r"[a-z]{2,3}(_[A-Z]{2})?", language):
            general.wrong("languages", f"{language!r} is not a code such as en, de, fr, es or pt_BR")
        elif language not in (known := known_languages(root)):
            message = f"there is no catalogue locale/{language}.po; known are {', '.join(known)}"
            general.wrong("languages", message)
    return languages


def _pages(
    section: Section, root: Path, languages: tuple[str, ...], pictures: Pictures, problems: Problems
) -> dict[str, dict[str, str]]:
    """Return clean HTML by page and language; the German version of consent.md is consent.de.md."""
    found: dict[str, dict[str, str]] = {}
    for page in PAGES:
        path = section.path(page, root)
        if path is None:
            continue
        found[page], place = {}, f"[pages] {page}"
        for language in languages:
            own = path.with_name(f"{path.stem}.{language}{path.suffix}")
            chosen = own if own.is_file() and own.resolve().is_relative_to(root.resolve()) else path
            if chosen is path and language != languages[0]:
                problems.warn(place, f"is not translated to {language}: there is no {own.name}")
            if (text := text_of(chosen, place, problems, _LONGEST_PAGE)) is not None:
                found[page][language] = from_markdown(text, pictures.beside(chosen.parent, place))
    section.close()
    return found


def _outcome(section: Section) -> Outcome:
    code, url = section.text("code"), section.text("url")
    if code is not None and (unknown := set(re.findall(r"\{(.*?)\}", code)) - {"person"}):
        section.wrong("code", f"has {{{unknown.pop()}}}, but only {{person}} is filled in")
    if url is not None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            section.wrong("url", "should be an address that begins with https://")
            url = None
        elif unknown := set(re.findall(r"\{(.*?)\}", url)) - {"code", "id", "person"}:
            message = f"has {{{unknown.pop()}}}, but only {{code}}, {{id}} and {{person}} are filled in"
            section.wrong("url", message)
        elif "{code}" in url and code is None:
            section.wrong("url", "has {code}, but the code is missing: add code = ...")
    section.close()
    return Outcome(code, url)


def _pay(section: Section) -> Pay:
    found = Pay(
        section.number("per_person", 0.0, 0),
        section.text("currency", "") or "",
        section.number("fee", 0.0, 0, 10),
    )
    if found.per_person and not found.currency:
        section.missing("currency", 'the currency of per_person, currency = "EUR"')
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
        section.wrong("failed_gold", "needs gold questions, [gold] table = ...")
    section.close()
    return found


def _password(section: Section) -> str | None:
    found = section.text("password")
    if found is not None and not found.startswith("$argon2"):
        # Do not show the value in the message: it may be a plain-text password.
        section.secret("password", "is not a hash: write what `ordhc collect --hash-password` prints")
    section.close()
    return found
