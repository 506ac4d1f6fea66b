"""Analyse a session's answers: comparisons, the reliability of people, and exclusions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc.asking.answers import comparisons_of
from ordhc.asking.contents import Contents
from ordhc.asking.events import ASKED, GONE, HELDOUT, IMPORT, KNOWN, PASSED, SAMPLERS
from ordhc.asking.people import (
    PRIOR,
    Person,
    agreements,
    as_questions,
    dawid_skene,
    interval,
    numbered,
    weights_of,
)
from ordhc.asking.rules import Figures, Rules, from_json, medians, reasons_of, same_sides, to_json
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import count_answers
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram, from_engine, lca_size

if TYPE_CHECKING:
    from ordhc.clustering.expected import Predicted
    from ordhc.clustering.posterior import Posterior

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]
_UNDECIDED = 9
_NAMES = {kind: name for name, kind in SAMPLERS.items()}
#: The arrays of `Figures` whose entries are attributes of `Person`.
_SHOWN = ("seconds", "same_side", "alpha", "beta", "reliability", "low", "high")


@dataclass(frozen=True)
class Analysed:
    """The answers of a session as all commands analyse them, after weighting and exclusions.

    Attributes
    ----------
    comparisons
        The answers that trees are made from.
    heldout
        The unweighted answers to held-out questions, for scores.
    about
        The settings and counts of this analysis, as a dict for JSON:

        * "n_answers", "n_people", "n_held_out": numbers without the excluded people;
        * "n_scored": the number of held-out answers in `heldout`;
        * "n_none": the number of "none" answers, which give no comparison;
        * "weights": "reliability" or "equal";
        * "rules": the latest rules that exclude people, in words, and "n_times_rules_were_set";
        * "excluded": the reasons for each excluded person, and "n_excluded_answers";
        * "n_retired_answers": the number of answers about retired items, without those of excluded people;
        * "question": the words of the question, see `Session.set_question`;
        * "seconds": the median and the quartiles of response times, "low", "median" and "high", or None;
        * "samplers": the number of answers for each source of questions ("learner", "heldout", ...).
    rules
        All rules that were ever set, each with its time, the latest last. See `Session.set_rules`.
    excluded
        The people whom the latest rules exclude, each with the reasons in words. The argument `exclude` of
        `Session.analysed` does not change this attribute.
    """

    comparisons: Triplets | Quadruplets
    heldout: Triplets | Quadruplets
    about: dict[str, Any]
    rules: tuple[Rules, ...]
    excluded: dict[str, tuple[str, ...]]

    def posterior(self, **options: Any) -> Posterior:
        """Return the posterior of trees given the answers; see `ordhc.posterior`.

        `Posterior.expected` estimates how accurate the tree is. `Posterior.heldout` is its accuracy on the
        held-out answers. ``forecast(analysed.comparisons, 40)`` estimates the accuracy after 40 more answers
        for each leaf.

        Parameters
        ----------
        **options
            The parameters of `ordhc.posterior`.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=6, method="uncertain", budget=40) as session:
        ...     tree = ordhc.learn(ordhc.oracles.from_tree("(((0,1),2),((3,4),5));"), session=session)
        ...     session.analysed().posterior().expected.accuracy > 0.9
        True
        """
        from ordhc.clustering.posterior import posterior
        from ordhc.evaluate.held_out import scored

        found = posterior(self.comparisons, **options)
        found.heldout = scored(found, self.heldout)
        return found

    def accuracy(self, model: Dendrogram | Posterior) -> Predicted | None:
        """Return the share of held-out answers that a model predicts correctly, with its 95% interval.

        Held-out answers are answers to random questions; they are never used to make a tree. See
        `ordhc.metrics.answer_accuracy`.

        Parameters
        ----------
        model
            A tree or a posterior. A tree predicts its closest pair; a posterior predicts the most probable
            answer.

        Returns
        -------
        Predicted or None
            The share and its interval; None if there are no held-out answers.

        Raises
        ------
        InputError
            `model` is neither a tree nor a posterior, or has another number of leaves than the session.
        """
        from ordhc.clustering.posterior import Posterior
        from ordhc.evaluate.held_out import scored

        if not isinstance(model, Dendrogram | Posterior):
            raise InputError(f"model is {_checks.quoted(model)}, neither a Dendrogram nor a Posterior")
        tree = model.dendrogram if isinstance(model, Posterior) else model
        if tree.n_leaves != self.heldout.n_leaves:
            raise InputError(f"the tree has {tree.n_leaves} leaves, the session has {self.heldout.n_leaves}")
        return scored(model, self.heldout)


class Analysis:
    """The analysis of the answers of a session.

    Callers must call the methods within `Contents.reading` or `Contents.writing`, which first read new
    events from the session's file.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents, self._log = contents, contents.log
        self._width = contents.log.width
        # Each person's reliability at the last estimate, and the numbers of answers and deleted events then.
        self._reliabilities: Sequence[float] = ()
        self._n_answered_then, self._n_gone_then = 0, -1

    def comparisons(
        self, weights: str | None, heldout: bool | None, left_out: Collection[str] | None
    ) -> Triplets | Quadruplets:
        log, at = self._log, self._log.answer_rows()
        of_people = None
        if (weights or ("reliability" if self.rules() else "equal")) == "reliability":
            alpha, beta = self._posterior(at)
            of_people = weights_of(alpha / (alpha + beta), self._n_options(at))
        names = self._excluded(at) if left_out is None else left_out
        at = at[~np.isin(log.who[at], [log.ids[name] for name in names if name in log.ids])]
        if heldout is not None:
            is_heldout = self._kinds(at) == HELDOUT
            if heldout:
                # Leave out a question that was also asked for another reason, because its answers may have
                # been used for the tree.
                questions, _ = as_questions(log.leaves[at], log.answers[at])
                numbers, count = numbered(questions)
                elsewhere = np.bincount(numbers, ~is_heldout, minlength=count) > 0
                is_heldout &= ~elsewhere[numbers]
            at = at[is_heldout if heldout else ~is_heldout]
        at = at[~log.are_retired(log.leaves[at])]
        who = [log.people[person] for person in log.who[at].tolist()]
        found = None if of_people is None else of_people[log.who[at]]
        if found is not None and found.sum() > 0:
            found = found / found.mean()
        rows, answers, is_adaptive = log.leaves[at], log.answers[at], bool((self._kinds(at) == ASKED).any())
        n, own = log.n_leaves, self._contents.names
        if log.is_retired.any():
            # The comparisons, like the tree, have only the leaves that are not retired.
            active = log.active
            rows = np.searchsorted(active, rows).astype(np.int32)
            n, own = len(active), None if own is None else tuple(own[leaf] for leaf in active.tolist())
        return comparisons_of(rows, answers, n, own, who, weights=found, adaptive=is_adaptive)

    def analysed(self, weights: str | None, exclude: Collection[str] | None) -> Analysed:
        rules, table = self.rules(), self.table()
        at = self._log.answer_rows()
        by_rules, who = self._excluded(at), table["who"].tolist()
        people = set(who)
        for name in exclude or ():
            if name not in people:
                raise InputError(f"no person called {_checks.quoted(name)} has answered")
        names = sorted(by_rules if exclude is None else exclude)
        gone = set(names)
        out = np.array([name in gone for name in who], dtype=bool)
        lost = self._log.are_retired(self._log.leaves[at])
        n_out, n_lost, out = int(out.sum()), int((lost & ~out).sum()), out | lost
        is_heldout = table["sampler"] == "heldout"
        samplers, counts = np.unique(table["sampler"][~out].astype(str), return_counts=True)
        heldout = self.comparisons("equal", True, names)
        return Analysed(
            self.comparisons(weights, False, names),
            heldout,
            {
                "n_answers": int((~out & ~is_heldout).sum()),
                "n_none": int((~out & ~is_heldout & (table["position"] == 0)).sum()),
                "n_held_out": int((~out & is_heldout).sum()),
                "n_scored": count_answers(heldout),
                "n_people": len(people - gone - {None}),
                "weights": weights or ("reliability" if rules else "equal"),
                "rules": rules[-1].in_words() if rules else [],
                "n_times_rules_were_set": len(rules),
                "excluded": {name: list(by_rules.get(name, ("named",))) for name in names},
                "n_excluded_answers": n_out,
                "n_retired_answers": n_lost,
                "question": self._contents.store.state("question"),
                "seconds": _quartiles(table["seconds"][~out]),
                "samplers": dict(zip(samplers.tolist(), counts.tolist(), strict=True)),
            },
            rules,
            by_rules,
        )

    def rules(self) -> tuple[Rules, ...]:
        return from_json(self._contents.store.state("rules"))

    def set_rules(self, rules: Rules) -> None:
        history = self.rules()
        if not history or replace(history[-1], at=0.0) != rules:
            kept = to_json([*history, replace(rules, at=self._contents.now())])
            self._contents.store.set_state("rules", kept)

    def set_question(self, text: str) -> None:
        if self._contents.store.state("question") != text:
            self._contents.store.set_state("question", text)

    def _excluded(self, at: Rows, figures: Figures | None = None) -> dict[str, tuple[str, ...]]:
        history = self.rules()
        if not history or not history[-1].in_words():
            return {}
        figures = figures or self._figures(at)
        chance = 1 / 3 if self._width == 3 else 1 / 2
        found = {
            name: reasons_of(history[-1], figures, number, chance)
            for number, name in enumerate(self._log.people)
            if name is not None and figures.n_answers[number]
        }
        return {name: reasons for name, reasons in found.items() if reasons}

    def _figures(self, at: Rows) -> Figures:
        log = self._log
        alpha, beta = self._posterior(at)
        who, size = log.who[at].astype(np.int64), len(log.people)
        seconds, n_timed = medians(who, self._seconds(at), size)
        kept = self._contents.store.places()
        places = np.array([kept.get(seq, 0) for seq in (at + 1).tolist()] if kept else np.zeros(len(at)))
        same_side, n_placed = same_sides(who, places, size)
        gold, (_, answers) = self._known(at), as_questions(log.leaves[at], log.answers[at])
        is_known = gold >= 0
        n_right = np.bincount(who[is_known], (gold == answers)[is_known], minlength=size)
        with np.errstate(invalid="ignore"):
            right = n_right / np.bincount(who[is_known], minlength=size)
        counts, reliability = np.bincount(who, minlength=size), alpha / (alpha + beta)
        known = (alpha, beta, reliability, *interval(alpha, beta))
        return Figures(counts, seconds, n_timed, same_side, n_placed, right, *known)

    def _kinds(self, at: Rows) -> NDArray[np.int8]:
        """Return for each answer the source of its question: a value of `SAMPLERS`, or `IMPORT`."""
        log = self._log
        refs = log.refs[at]
        kinds = np.where(refs == -1, ASKED, log.kinds[np.maximum(refs, 1) - 1])
        return np.where(log.kinds[at] == IMPORT, IMPORT, kinds).astype(np.int8)

    def table(self) -> dict[str, NDArray[Any]]:
        log, at = self._log, self._log.answer_rows()
        kinds, answers = self._kinds(at), log.answers[at]
        order = np.argsort(log.who[at], kind="stable")
        people = log.who[at][order]
        first = np.searchsorted(people, people)
        trials = np.empty(len(at), dtype=np.int64)
        trials[order] = np.arange(len(at)) - first
        samplers = {**_NAMES, IMPORT: "import"}
        # For pairs the answers are 1 (first pair), -1 (second pair) and 0 (neither); index -1 is the last
        # entry.
        position = answers + 1 if self._width == 3 else np.array([0, 1, 2])[answers]
        names = np.array(log.people, dtype=object)
        return {
            "question": np.maximum(log.refs[at], 0),
            "who": names[log.who[at]],
            "trial": trials,
            "sampler": np.array([samplers[kind] for kind in kinds.tolist()], dtype=object),
            "p": log.p[at],
            "at": log.at[at],
            "seconds": self._seconds(at),
            **{f"leaf_{k + 1}": log.leaves[at, k] for k in range(self._width)},
            "answer": answers,
            "position": position.astype(np.int8),
        }

    def _seconds(self, at: Rows) -> NDArray[np.float64]:
        """Return the (m,) durations of answers in seconds, NaN if unknown.

        A duration is the reported one, or the time since the person was given the question.
        """
        log = self._log
        refs, who = log.refs[at], log.who[at]
        number = np.maximum(refs, 1) - 1
        given = np.where((refs != -1) & (log.who[number] == who), log.at[number], np.nan)
        passed: dict[tuple[int, int], float] = {}
        for row in log.rows_of(PASSED).tolist():
            passed.setdefault((int(log.refs[row]), int(log.who[row])), float(log.at[row]))
        for k in np.flatnonzero(np.isnan(given) & (refs != -1)).tolist() if passed else []:
            given[k] = passed.get((int(refs[k]), int(who[k])), np.nan)
        reported = log.seconds[at].astype(np.float64)
        return np.where(np.isnan(reported), np.maximum(log.at[at] - given, 0), reported)

    def people(self) -> dict[str | None, Person]:
        log, at = self._log, self._log.answer_rows()
        who = log.who[at]
        size = len(log.people)
        questions, answers = as_questions(log.leaves[at], log.answers[at])
        numbers, count = numbered(questions)
        others, same = agreements(numbers, answers, count)
        gold = self._known(at)
        tree = self._of_tree(log.leaves[at])
        parts = {}
        for name, is_known, agreed in (
            ("gold", gold >= 0, gold == answers),
            ("repeats", others > 0, np.nan_to_num(same)),
            ("tree", tree != _UNDECIDED, tree == log.answers[at]),
        ):
            many = np.bincount(who[is_known], minlength=size)
            total = np.bincount(who[is_known], agreed[is_known].astype(np.float64), minlength=size)
            parts[name] = (many, total)
        _, firsts = np.unique(who, return_index=True)
        figures = self._figures(at)
        excluded = self._excluded(at, figures)
        weights = weights_of(figures.reliability, self._n_options(at))
        counts = ~(self._kinds(at) == HELDOUT) & ~np.isin(who, [log.ids[name] for name in excluded])
        mean = weights[who[counts]].mean() if counts.any() else 0.0
        weights = weights / mean if mean else weights
        found = {}
        for k in who[np.sort(firsts)].tolist():
            own: dict[str, Any] = {name: float(getattr(figures, name)[k]) for name in _SHOWN}
            for part, (many, total) in parts.items():
                own[f"n_{part}"] = int(many[k])
                own[part] = float(total[k] / many[k]) if many[k] else None
            person = log.people[k]
            own |= {"weight": float(weights[k]), "excluded": excluded.get(person, ())}
            found[person] = Person(person, int(figures.n_answers[k]), **own)
        return found

    def reliability(self, who: str | None) -> float:
        """Return the probability, at least 1/2, that a person's next answer is right.

        The reliabilities are estimated again when the number of answers has grown by more than 5% plus 10, or
        has become smaller, or when a person was forgotten.
        """
        log = self._log
        person, n = log.ids.get(who, -1), log.n_answered
        if (
            not self._n_answered_then <= n <= self._n_answered_then * 1.05 + 10
            or self._n_gone_then != log.counts[GONE]
        ):
            alpha, beta = self._posterior(log.answer_rows())
            self._reliabilities = (alpha / (alpha + beta)).tolist()
            self._n_answered_then, self._n_gone_then = n, log.counts[GONE]
        known = 0 <= person < len(self._reliabilities)
        return max(0.5, self._reliabilities[person] if known else PRIOR[0] / sum(PRIOR))

    def _known(self, at: Rows) -> NDArray[np.int8]:
        """Return for each answer in the rows `at` the right answer to its question; -1 if unknown."""
        log = self._log
        rows = log.rows_of(KNOWN)
        if not len(rows):
            return np.full(len(at), -1, dtype=np.int8)
        both = np.concatenate([rows, at])
        questions, answers = as_questions(log.leaves[both], log.answers[both])
        numbers, count = numbered(questions)
        known = np.full(count, -1, dtype=np.int8)
        known[numbers[: len(rows)]] = answers[: len(rows)]
        return known[numbers[len(rows) :]]

    def _n_options(self, at: Rows) -> int:
        answers = self._log.answers[np.concatenate([at, self._log.rows_of(KNOWN)])]
        nothing = -1 if self._width == 3 else 0
        return (3 if self._width == 3 else 2) + bool((answers == nothing).any())

    def _posterior(self, at: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        log = self._log
        questions, answers = as_questions(log.leaves[at], log.answers[at])
        numbers, count = numbered(questions)
        known = np.full(count, -1, dtype=np.int8)
        known[numbers] = self._known(at)
        who = log.who[at].astype(np.int64)
        return dawid_skene(numbers, answers, who, len(log.people), known, self._n_options(at))

    def _of_tree(self, rows: NDArray[np.int32]) -> NDArray[np.int8]:
        """Return the (m,) answers that the current tree predicts; `_UNDECIDED` for ties or retired leaves."""
        tree = self._contents.learner.tree()
        if not len(rows):
            return np.zeros(0, dtype=np.int8)
        is_unknown = self._log.are_retired(rows)
        if self._width == 3:
            found = _ordhc.TreeOracle(tree).answer(np.ascontiguousarray(rows))
            return np.where((found == -1) | is_unknown, _UNDECIDED, found).astype(np.int8)
        whole = from_engine(tree)
        first, second = (lca_size(whole, rows[:, i], rows[:, i + 1]) for i in (0, 2))
        answers = np.where(first < second, 1, -1)
        return np.where((first == second) | is_unknown, _UNDECIDED, answers).astype(np.int8)


def best_tree(data: Triplets | Quadruplets, progress: Progress | None = None) -> Dendrogram | None:
    """Return the tree of `ordhc.posterior`, or None if sampling the posterior would take too long."""
    from ordhc.clustering.default import default_posterior

    found = default_posterior(data, progress=progress)
    return None if found is None else found.dendrogram


def rows_and_answers(table: dict[str, NDArray[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    leaves = [values for name, values in table.items() if name.startswith("leaf_")]
    return np.column_stack(leaves).astype(np.int32, copy=False), table["answer"]


def _quartiles(seconds: Floats) -> dict[str, float] | None:
    known = seconds[np.isfinite(seconds)]
    if not len(known):
        return None
    return dict(zip(("low", "median", "high"), np.quantile(known, (0.25, 0.5, 0.75)).tolist(), strict=True))
