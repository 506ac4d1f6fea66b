"""Make a report about answers (`report`), and write it as HTML, PDF or JSON (`Report`)."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks
from ordhc._json import finite
from ordhc._progress import Progress, part, shows_progress
from ordhc.clustering.cost import warn_of_cost
from ordhc.clustering.describe import describe
from ordhc.comparison.comparisons import Comparisons, Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.evaluate.held_out import Answers
from ordhc.evaluate.select import SCORES
from ordhc.io.paths import brief, checked_path
from ordhc.io.scan import Scan
from ordhc.plugins import registry
from ordhc.reporting.counts import counts_of, weighed
from ordhc.reporting.findings import Asked, found_in, sections_of
from ordhc.reporting.puzzles import puzzles_of
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from ordhc.asking.session import Session

ENDINGS = (".html", ".pdf", ".json")
#: The default number of resamples is this number divided by the number of leaves, at least 50 and at most
#: 200.
RESAMPLED = 60_000
#: Memory of a report in bytes per comparison; measured with one method and five resamples.
_BYTES_OF_ROW = 690


@dataclass(frozen=True, repr=False)
class Report:
    """The result of `report`.

    Attributes
    ----------
    tree
        The tree, with support, and with names of clusters if `X` was given.
    numbers
        All numbers of the report, as values that JSON can store. Sections are settings, data, method,
        accuracy, people, people_groups, unexplained, structure, clusters, sensitivity, notes (the reasons
        for missing results), versions and tree.
    others
        The trees of the other methods, by name.
    title
        The title of the report.
    """

    tree: Dendrogram
    numbers: Mapping[str, Any]
    others: Mapping[str, Dendrogram]
    title: str
    _data: Comparisons

    def to_html(self) -> str:
        """Return the report as one HTML page without scripts, which needs no network.

        The figures need Matplotlib (the extra `plot`). Texts are escaped.
        """
        from ordhc.reporting.document import document

        return document(self.numbers, self.tree, self.others, self._data, self.title)

    def to_json(self) -> str:
        """Return all numbers of the report as JSON text."""
        return json.dumps(self.numbers, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    def to_pdf(self) -> bytes:
        """Return the page as a PDF in A4, which an installed Chromium or Chrome prints."""
        from ordhc.reporting.paper import printed

        return printed(self.to_html())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report into a file; the ending .html, .pdf or .json decides the format.

        With .html, the numbers are written into a .json file of the same name too.
        """
        from ordhc.io.files import check_writable, write_bytes

        targets = (path, *beside(path))
        for each in targets:
            check_writable(each)
        for each in targets:
            ending = _ending(each)
            if ending == ".pdf":
                write_bytes(each, self.to_pdf())
            else:
                content = self.to_json() if ending == ".json" else self.to_html()
                write_bytes(each, content.encode("utf-8", "surrogatepass"))

    def _repr_html_(self) -> str:
        from html import escape

        return (
            '<iframe title="Report" sandbox="" style="border: 1px solid #d5dade; height: 600px; width: 100%" '
            f'srcdoc="{escape(self.to_html(), quote=True)}"></iframe>'
        )

    def __repr__(self) -> str:
        data = self.numbers["data"]
        method = self.numbers["method"]["name"]
        return f"<Report: {data['n_items']:,} items, {data['n_answers']:,} answers, {method}>"


def beside(path: str | os.PathLike[str]) -> list[Path]:
    return [Path(path).with_suffix(".json")] if _ending(path) == ".html" else []


def _ending(path: str | os.PathLike[str]) -> str:
    ending = Path(checked_path(path)).suffix.lower()
    ending = ".html" if ending == ".htm" else ending
    if ending not in ENDINGS:
        raise InputError(f"the ending is none of {', '.join(ENDINGS)}", path=brief(str(path), 200))
    return ending


def check_report(path: str | os.PathLike[str]) -> None:
    """Raise an error if the report cannot be written to `path`, before a long computation starts.

    The checks are the ending, the permission to write, Matplotlib for pages, and the browser for PDF.
    """
    from ordhc.io.files import check_writable
    from ordhc.plotting.figures import need_matplotlib
    from ordhc.reporting.paper import browser_path

    ending = _ending(path)
    for each in (path, *beside(path)):
        check_writable(each)
    if ending != ".json":
        need_matplotlib()
    if ending == ".pdf":
        browser_path()


@shows_progress("reporting")
def report(
    data: Triplets | Quadruplets | Session,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str | None = None,
    methods: Sequence[str] | None = None,
    by: str = "revenue",
    folds: int = 5,
    n_resamples: int | None = None,
    seed: int = 0,
    unit: str | None = None,
    n_clusters: int | None = None,
    X: ArrayLike | None = None,
    vocabulary: Sequence[str] | Mapping[str, int] | None = None,
    title: str | None = None,
    structure: bool | None = None,
    people_groups: bool = False,
    weights: str | None = None,
    exclude: Collection[str] | None = None,
    left_out: Mapping[str, int] | None = None,
    command: str | None = None,
    progress: Progress | bool | None = None,
) -> Report:
    """Return a report about answers: the best method, the tree, its accuracy, and the certainty of clusters.

    Parameters
    ----------
    data
        `Triplets`, `Quadruplets` or a `Session`. For a session, its rules exclude people, methods are scored
        on its held-out answers, and people are reported with their reliability.
    path
        The file to write: .html (with the numbers in a .json file of the same name), .pdf or .json. By
        default no file is written.
    method
        The method, as in `cluster`. The default is the best of the compared methods.
    methods, by, folds, unit
        As in `select`. By default methods that take too long with many leaves are left out; a note in the
        report says if "posterior-al" is left out. If fewer than five people are known, the default of `unit`
        is "answer".
    n_resamples
        The number of resamples, as in `bootstrap`; 0 makes a report without support. The default is 200.
        Above 300 leaves the default is smaller, but at least 50, because resamples take longer. By default
        there are no resamples for "posterior-al": support is then the share of the drawn trees that contain a
        cluster.
    seed
        The seed of folds and resamples, by default 0. The same seed gives the same report.
    n_clusters
        The number of clusters to colour in the tree. By default the tree is cut at the largest step in
        height among its last twelve merges.
    X, vocabulary
        Features of the leaves and their names, from which clusters are named; see `describe`.
    title
        The title of the report.
    structure
        True compares the tree with other structures (see `ordhc.structure`), False does not. By default
        structures are compared if this takes at most two minutes of processor time.
    people_groups
        True searches for groups of people with different trees (see `ordhc.people_groups`). The search takes
        25 seconds of processor time for 2,400 answers about 30 items, and longer for more answers.
    weights, exclude
        For a session only, as in `Session.comparisons`: the weights of answers, and the people to exclude. By
        default the rules of the session decide.
    left_out
        A mapping from each reason to the number of rows that were left out for this reason when the data were
        read.
    command
        The command that made the report, which is written into the report.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

    Returns
    -------
    Report
        The tree, all numbers, and the page.

    Raises
    ------
    InputError
        If there are no answers of positive weight, a method is unknown, or the ending of `path` is unknown.
    MissingExtraError
        If Matplotlib is missing (for pages), or a browser is missing (for PDF).

    Examples
    --------
    >>> import ordhc
    >>> t, _ = ordhc.datasets.planted(300, levels=1, leaves_per_cluster=5, sigma=0.02)
    >>> r = ordhc.report(t, methods=["adds3-al", "mulk3-al"], n_resamples=20)
    >>> r
    <Report: 10 items, 300 answers, mulk3-al>
    >>> r.numbers["accuracy"]["held_out"]["chance"] < r.numbers["accuracy"]["held_out"]["estimate"]
    True
    """
    progress = _checks.callback("progress", progress)
    # This import loads SQLite, so it is not at the top of the file.
    from ordhc.asking.session import Session

    session = data if isinstance(data, Session) else None
    if session is None and (weights is not None or exclude is not None):
        raise InputError("weights and exclude are only used with a session: leave them out")
    analysed = None if session is None else session.analysed(weights=weights, exclude=exclude)
    given = data if analysed is None else analysed.comparisons
    if not isinstance(given, Triplets | Quadruplets):
        way = "; scan.read() reads a scan" if isinstance(given, Scan) else ""
        raise InputError(f"report takes Triplets, Quadruplets or a Session, not {type(data).__name__}{way}")
    # Warn about memory only: each computation of the report warns about its own time.
    fewer = "report on a part of the answers, as data.split(0.1)[0]"
    warn_of_cost("report", given, 0, fewer, memory=_BYTES_OF_ROW * len(given))
    asked = Asked(
        method=None if method is None else _checks.text("method", method),
        methods=None if methods is None else tuple(_checks.words("methods", methods)),
        by=_checks.choice("by", by, SCORES),
        folds=_checks.whole("folds", folds, at_least=2),
        n_resamples=min(200, max(50, RESAMPLED // given.n_leaves))
        if n_resamples is None
        else _checks.whole("n_resamples", n_resamples, at_least=0),
        draws_support=n_resamples is None,
        seed=_checks.seed(seed),
        unit=None if unit is None else _checks.choice("unit", unit, ("answer", "group")),
        n_clusters=None
        if n_clusters is None
        else _checks.whole("n_clusters", n_clusters, at_least=1, at_most=given.n_leaves),
        structure=None if structure is None else _checks.flag("structure", structure),
        people_groups=_checks.flag("people_groups", people_groups),
    )
    heading = "What the answers say" if title is None else _checks.text("title", title)
    command = None if command is None else _checks.text("command", command)
    counted = _counted(left_out)
    for name in (*(asked.methods or ()), *([asked.method] if asked.method else ())):
        registry.get("method", name)
    if vocabulary is not None and X is None:
        raise InputError("a vocabulary needs X, the counts of its words for each leaf")
    if path is not None:
        check_report(path)
    comparisons = weighed(given)
    if not len(comparisons):
        raise InputError("there are no answers (of positive weight) to report on")
    answers = Answers.of(comparisons)
    apart = None if analysed is None or not len(analysed.heldout) else analysed.heldout
    if analysed is not None:
        counted |= _apart_from_tree(analysed.about, of_odd=isinstance(given, Triplets))
    found = found_in(comparisons, answers, asked, apart, part(progress, 0.0, 0.97))
    tree = found.tree if X is None else describe(found.tree, X, vocabulary)
    sections = sections_of(comparisons, found, tree, part(progress, 0.97, 0.99))
    numbers: dict[str, Any] = {
        "title": heading,
        "command": command,
        "settings": asdict(asked),
        "data": counts_of(comparisons, given, answers, counted),
        **sections,
        "topics": vocabulary is not None,
        "unexplained": puzzles_of(tree, comparisons, answers),
        "session": None
        if session is None or analysed is None
        else _of_session(session, analysed.about, sections),
        "tree": tree.to_dict(),
    }
    made = Report(tree, finite(numbers), found.others, heading, comparisons)
    if path is not None:
        made.save(path)
    if progress is not None:
        progress(1.0)
    return made


def _counted(left_out: Mapping[str, int] | None) -> dict[str, int]:
    if left_out is not None and not isinstance(left_out, Mapping):
        raise InputError(f"left_out must map each reason to a number of rows, not {_checks.quoted(left_out)}")
    return {
        _checks.text("left_out", reason): _checks.whole("left_out", count, at_least=0)
        for reason, count in (left_out or {}).items()
    }


def _apart_from_tree(about: Mapping[str, Any], *, of_odd: bool) -> dict[str, int]:
    none = "that no item is the odd one out" if of_odd else "that neither pair is closer"
    counts = {
        f"answers {none}": about["n_none"],
        "answers of people who are left out": about["n_excluded_answers"],
        "held-out answers, on which the tree is scored": about["n_scored"],
        "held-out answers that are not scored, because their questions were also asked otherwise or "
        "the answer was none": about["n_held_out"] - about["n_scored"],
    }
    return {reason: count for reason, count in counts.items() if count}


def _of_session(session: Session, about: Mapping[str, Any], sections: dict[str, Any]) -> dict[str, Any]:
    answers = session.table()["answer"]
    nothing = -1 if session.width == 3 else 0
    people = session.people()
    for person in sections["people"] or ():
        known = people.get(person["who"])
        if known is not None:
            person["reliability"] = known.reliability
            person["reliability_low"], person["reliability_high"] = known.low, known.high
            person["gold"], person["n_gold"] = known.gold, known.n_gold
    return {
        "n_answers": len(answers),
        "n_none": int(np.sum(answers == nothing)),
        "done": session.done,
        "settings": session.settings,
        "analysis": dict(about),
    }
