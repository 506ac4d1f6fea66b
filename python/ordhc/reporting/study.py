"""Describe, for a report, how the answers of a session were collected."""

from collections.abc import Mapping
from typing import Any

from ordhc.reporting.counts import in_numbers

Numbers = Mapping[str, Any]

#: For each sampler (the part of a session that chose a question), how it chooses questions.
_SAMPLERS = {
    "learner": "by a learner",
    "heldout": "at random and held out",
    "repeat": "repeated",
    "random": "at random",
    "gold": "with a known answer",
    "import": "imported",
}


def _shares(analysis: Numbers) -> str:
    total = sum(analysis["samplers"].values())
    if not total or set(analysis["samplers"]) == {"import"}:
        return ""
    by = sorted(analysis["samplers"].items(), key=lambda pair: -pair[1])
    return ", ".join(f"{_SAMPLERS.get(name, name)} {count / total:.0%}" for name, count in by)


def _learner(session: Numbers) -> str:
    settings = session["settings"]
    if "learner" not in session["analysis"]["samplers"]:
        return ""
    shown = [f"{key} {settings[key]}" for key in ("p", "noise", "delta") if settings.get(key) is not None]
    return f"“{settings['method']}”" + (f" ({', '.join(shown)})" if shown else "")


def _seconds(analysis: Numbers) -> str:
    found = analysis["seconds"]
    if found is None:
        return ""
    return f"{found['median']:.3g} s (quartiles {found['low']:.3g} to {found['high']:.3g} s)"


def _left_out(analysis: Numbers) -> str:
    if not analysis["excluded"]:
        return "nobody"
    people = in_numbers(len(analysis["excluded"]), "person", "people")
    return f"{people} with {in_numbers(analysis['n_excluded_answers'], 'answer', 'answers')}"


def study_rows(session: Numbers | None) -> list[tuple[str, str]]:
    if session is None:
        return []
    analysis = session["analysis"]
    rules = "; ".join(analysis["rules"])
    rows = (
        ("Question", analysis["question"] or ""),
        ("Learner that chose questions", _learner(session)),
        ("Answers by how their questions were chosen", _shares(analysis)),
        ("Response time, median", _seconds(analysis)),
        ("Rules that leave people out", rules),
        ("People left out", _left_out(analysis) if rules or analysis["excluded"] else ""),
    )
    return [(name, value) for name, value in rows if value]


def collected(session: Numbers) -> list[str]:
    analysis, said = session["analysis"], []
    if analysis["question"]:
        said.append(f"People were asked: “{analysis['question']}”")
    if shares := _shares(analysis):
        said.append(f"Answers by how their questions were chosen: {shares}.")
    if learner := _learner(session):
        said.append(f"The learner was {learner}, which chooses questions by the earlier answers.")
    if seconds := _seconds(analysis):
        said.append(f"The median response time was {seconds}.")
    if analysis["rules"]:
        times = analysis["n_times_rules_were_set"] - 1
        changed = f"; they were changed {in_numbers(times, 'time', 'times')} after the start"
        rules = "; ".join(analysis["rules"])
        said.append(f"Rules of the study leave people out ({rules}){changed * (times > 0)}.")
    if analysis["excluded"]:
        said.append(f"We left out {_left_out(analysis)}.")
    elif analysis["rules"]:
        said.append("Nobody was left out.")
    if analysis["weights"] == "reliability":
        said.append(
            "Answers were weighted by the reliability of their person, the logarithm of the odds against "
            "chance."
        )
    return said
