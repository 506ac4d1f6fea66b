"""Describe a study in a few lines (`ordhc collect --check`)."""

import math
import re
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import ordhc
from ordhc.asking.rules import Rules
from ordhc_collect.study.copies import flaw_of, has_location, phone_bytes
from ordhc_collect.study.model import Study
from ordhc_collect.study.sections import Problems

_QUESTIONS = {
    "odd": "which of three is the odd one out",
    "triplet": "is A more like B or C",
    "pairs": "which of two pairs is more alike",
}
#: The estimated seconds that a person spends on pages without questions.
_PAGES = 60
#: A slow connection, in bytes per second: 1.6 Mbit/s, as "slow 4G" in browsers' developer tools.
_SLOW = 1.6e6 / 8
#: Item names that look like file names: angry_03, IMG_2041.
_FILE_NAME = re.compile(r".*[A-Za-z].*(_|\d{2,}).*")


@dataclass
class MediaSize:
    """The number of a study's media files, their size, and the size of the copies for phones, in bytes."""

    n: int = 0
    bytes: int = 0
    phone_bytes: int = 0


def check_media(study: Study, problems: Problems) -> MediaSize:
    """Decode all pictures, add their problems to `problems`, and return the size of all media."""
    media = MediaSize()
    with_location: list[str] = []
    for item in study.items:
        for kind, path in item.files.items():
            media.n += 1
            size = path.stat().st_size
            media.bytes += size
            if kind == "picture":
                size = _checked_picture(path, study, problems, with_location)
            media.phone_bytes += size
    for path in study.pictures:
        _checked_picture(path, study, problems, with_location)
    if with_location:
        files = (
            f"{with_location[0]} and {len(with_location) - 1} more"
            if len(with_location) > 1
            else with_location[0]
        )
        text = (
            f"{files}: EXIF data contain the location of the photo, and people can download it; remove them"
        )
        problems.warn("[items]", text)
    shown = [item.name for item in study.items if _FILE_NAME.fullmatch(item.name)] if study.captions else []
    if shown:
        text = f"shows names that look like file names, such as {shown[0]!r}; people may compare the names"
        problems.warn("[study] captions = true", text)
    return media


def _checked_picture(path: Path, study: Study, problems: Problems, with_location: list[str]) -> int:
    if (flaw := flaw_of(path)) is not None:
        problems.error("[items]", f"{path.name} {flaw}")
        return 0
    if has_location(path):
        with_location.append(path.name)
    return phone_bytes(path, study.picture_size)


def _media(study: Study, media: MediaSize) -> list[str]:
    if not media.n:
        return []
    text = f"{media.n} files, {media.bytes / 1e6:,.1f} MB; a phone loads {media.phone_bytes / 1e6:,.1f} MB"
    if study.preload:
        seconds = math.ceil(media.phone_bytes / _SLOW)
        text += f" before the first question, {seconds} s on a slow connection (1.6 Mbit/s)"
    else:
        each = media.phone_bytes / media.n * (3 if study.question == "odd" else 4)
        text += f", {each / _SLOW:.1f} s for each question on a slow connection (1.6 Mbit/s)"
    return [f"  media      {text}"]


def _minutes(seconds: float) -> str:
    count = round(seconds / 60)
    return f"{count} minute{'' if count == 1 else 's'}"


def _end(study: Study) -> list[str]:
    learner = ordhc.Learner(len(study.items), **study.learner_of_session)
    most, planned = learner.status.remaining, study.n_planned
    if math.isinf(most) or (planned is not None and planned <= most):
        return []
    of = "" if planned is None else f" of {planned:,.0f} planned"
    return [f"             ends after about {most:,.0f} questions{of}; later questions are drawn at random"]


def report(study: Study, media: MediaSize) -> str:
    n = len(study.items)
    kinds = Counter(kind for item in study.items for kind in (*item.files, *(["text"] if item.html else [])))
    seconds = study.per_person * study.seconds_per_answer + _PAGES
    lines = [
        f"{study.title}",
        f"  items      {n}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
        f"  question   {_QUESTIONS[study.question]}; {study.n_possible:,} are possible",
        *_media(study, media),
        "  sampler    " + ", ".join(f"{name} {share:.0%}" for name, share in study.planned.items()),
    ]
    if "learner" in study.sampler:
        lines.append("  learner    " + ", ".join(f"{key} = {value}" for key, value in study.learner.items()))
        lines += _end(study)
    lines.append(f"  a person   {study.per_person} questions, about {_minutes(seconds)}")
    total = f"{study.total:,}" if study.total is not None else "any number"
    lines.append(f"  people     {total}")
    if study.total is not None:
        lines.append(f"  in all     {study.total * study.per_person:,} answers")
        if study.pay.per_person:
            cost = study.total * study.pay.per_person * (1 + study.pay.fee)
            lines.append(f"  cost       {cost:,.2f} {study.pay.currency}")
    if study.captions and any(item.files for item in study.items):
        lines.append("  captions   people see names of items, and may compare words (captions = false)")
    for each in study.screening:
        if each.quota:
            options = next(iter(each.options.values()))
            quotas = [
                f"{option} {'any' if most is None else most}"
                for option, most in zip(options, each.quota, strict=True)
            ]
            lines.append(f"  quota      {each.name}: {', '.join(quotas)}")
    for rule in Rules(**asdict(study.exclude)).in_words():
        lines.append(f"  exclude    {rule}")
    lines.append("No errors. `--simulate 50` shows how good the tree will be.")
    return "\n".join(lines)
