"""Bots that take part in a study as people do, from the first page to the last page."""

import asyncio
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ordhc_collect.simulate.client import Browser, Response, fields_of
from ordhc_collect.study.model import Study

#: A function that takes the numbers of the shown items and returns the number of the choice, from 1.
Answerer = Callable[[list[int]], int]
_SHOWN = re.compile(r"data-item=\"(\d+)\"")


@dataclass
class Run:
    """The results of a run of bots: times, errors, counts and completion codes.

    `seconds` has the time that the server took for each page. `n_done` is the number of bots that finished.
    """

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    n_answers: int = 0
    n_done: int = 0
    codes: list[str] = field(default_factory=list)


async def take_part(
    study: Study, address: str, name: str, answer: Answerer, run: Run, *, pause: float = 0.0, seed: int = 0
) -> None:
    """Let one bot take part in a study, from the consent form to the completion code at the end.

    `answer` takes the numbers of the shown items, and returns the number of the choice. Times, errors and
    counts of this bot are added to `run`. `pause` is the mean pause before an answer in seconds.
    """
    chance = random.Random(f"{seed} {name}")
    browser = Browser(address)

    def note(found: Response) -> Response:
        run.seconds.append(found.seconds)
        if found.status not in (200, 303):
            run.errors.append(f"{found.status}: {found.text[:200]}")
        return found

    try:
        page = note(await browser.get(f"/?{study.id_parameters[0]}={name}"))
        note(await browser.post("/join", {**fields_of(page.text), "consent": "yes"}))
        page = note(await browser.get("/study"))
        # Every page before the last page has one form, which is sent to /answer (question) or /next (other).
        while found := re.search(r'action="(next|answer)"', page.text):
            fields = fields_of(page.text)
            if found[1] == "answer":
                if pause:
                    await asyncio.sleep(pause * chance.uniform(0.5, 1.5))
                shown = [int(number) for number in _SHOWN.findall(page.text)]
                fields |= {"choice": answer(shown), "ms": chance.randint(800, 4000), "plays": "1 1 1 1"}
                page = note(await browser.post("/answer", fields, x_live="1"))
                run.n_answers += page.status == 200
            else:
                fields |= _filled(study, page.text, chance)
                page = note(await browser.post("/next", fields, x_live="1"))
        if found := re.search(r"<output[^>]*>([^<]*)</output>", page.text):
            run.codes.append(found[1])
        run.n_done += 'class="page end"' in page.text
    except (OSError, asyncio.IncompleteReadError) as error:
        run.errors.append(f"{type(error).__name__}: {error}")
    finally:
        await browser.close()


def _filled(study: Study, page: str, chance: random.Random) -> dict[str, object]:
    fields = next((each for stage, each in study.forms.items() if f'data-stage="{stage}"' in page), ())
    found: dict[str, object] = {}
    for place, each in enumerate(fields):
        if each.kind == "radio":
            n = len(next(iter(each.options.values())))
            found[f"choice-{place}"] = chance.choice(sorted(each.right) or range(n))
        elif each.kind in ("text", "comment"):
            found[f"choice-{place}"] = "bot"
        else:
            low, high = max(each.low, min(0.0, each.high)), min(each.high, max(100.0, each.low))
            found[f"choice-{place}"] = chance.randint(math.ceil(low), math.floor(high))
    if "data-stage=practice" in page:
        found["choice"] = 1
    return found
