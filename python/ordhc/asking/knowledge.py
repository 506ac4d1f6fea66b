"""What is known in a session: its tree, its answers, and who gave them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc.asking.answers import comparisons_of
from ordhc.asking.crowd import Crowd
from ordhc.asking.events import ASKED, GONE, HELDOUT, IMPORT, KNOWN, PASSED, SAMPLERS
from ordhc.asking.given import checked_people
from ordhc.asking.learner import method_of
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
from ordhc.asking.prior import supported_tree
from ordhc.asking.remaining import remaining
from ordhc.asking.rules import Figures, Rules, from_json, medians, reasons_of, same_sides
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.units import answers_of
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import from_engine, lca_size

if TYPE_CHECKING:
    from ordhc.clustering.outlook import Predicted
    from ordhc.clustering.posterior import Posterior

__all__ = ["Analysed", "Knowledge"]

Rows = NDArray[np.intp]
Floats = NDArray[np.float64]
_NAMES = {kind: name for name, kind in SAMPLERS.items()}


@dataclass(frozen=True)
class Analysed:
    """The answers of a session as every command analyses them.

    Attributes
    ----------
    comparisons
        The answers that trees are made of.
    heldout
        The answers to held-out questions, for scores; unweighted.
    about
        What was applied, as JSON holds it: "n_answers", "n_people" and "n_held_out" of those that count;
        "n_scored", how many of the held-out answers are in `heldout`;
        "n_none", how many of these answers name none (of three as the odd one out, or of two pairs as
        nearer) and so give no comparison; "weights"; "rules" in words, and how often they were set;
        "excluded", the reasons by person, and "n_excluded_answers"; "samplers", how many of the answers each
        sampler asked for.
    """

    comparisons: Triplets | Quadruplets
    heldout: Triplets | Quadruplets
    about: dict[str, Any]


class Knowledge(Crowd):
    """A session, as far as it is asked what it knows."""

    _names: tuple[str, ...] | None
    _n_leaves: int
    _width: int
    _settings: dict[str, Any]
    # By the number of a person, and how much was known then.
    _trusts: Sequence[float] = ()
    _trusts_at, _trusts_of = 0, -1
    # The answers that the last tree was drawn from, and that tree.
    _best: tuple[Triplets | Quadruplets, Dendrogram | None] | None = None

    def refresh(self) -> None:
        """Take in what other processes have added."""
        self._reading(lambda: None)

    def tree(self) -> Dendrogram:
        """Return the best tree so far.

        With the method "uncertain" it is the tree of `ordhc cluster`, `ordhc report` and dashboards: that of
        `ordhc.posterior` and the answers that count (`analysed`), with the support of its clusters. With
        other methods, or if that would take too long, it is the tree of the learner, see `Learner.tree`. That
        of "revise" rests on the prior, too, of which `ordhc cluster` knows nothing.
        """
        if method_of(self._settings) == "uncertain":
            from ordhc.clustering.default import default_posterior

            data = self.analysed().comparisons
            if self._best is None or self._best[0] != data:
                found = default_posterior(data)
                self._best = data, None if found is None else found.dendrogram
            if self._best[1] is not None:
                return self._best[1]
        return self._reading(lambda: supported_tree(self._desk, self._names))

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self._reading(lambda: self._desk.done)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def width(self) -> int:
        """How many leaves a question has: 3, or 4 for two pairs."""
        return self._width

    @property
    def _largest(self) -> int:
        return 2 if self._width == 3 else 1

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._n_leaves

    @property
    def n_answered(self) -> int:
        """How many answers stand, imported ones included."""
        return self._reading(lambda: self._log.n_answered)

    @property
    def n_placed(self) -> int:
        """How many leaves have their place in the tree."""
        return self._reading(lambda: self._desk.n_placed)

    @property
    def remaining_estimate(self) -> float:
        """About how many answers are still needed; infinity if the learner's budget is no limit."""
        return self._reading(lambda: remaining(self._desk.remaining_estimate))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the learner, and `fill` and `distinct` as far as they were given."""
        return dict(self._settings)

    def answers(self) -> tuple[NDArray[np.int32], NDArray[np.int8], list[str | None]]:
        """All answers that stand: (m, 3) or (m, 4) leaves, (m,) answers, and who answered."""

        def work() -> tuple[NDArray[np.int32], NDArray[np.int8], list[str | None]]:
            log = self._log
            at = log.standing()
            return log.leaves[at], log.answers[at], [log.people[who][0] for who in log.who[at].tolist()]

        return self._reading(work)

    def comparisons(
        self,
        *,
        weights: str | None = None,
        heldout: bool | None = False,
        exclude: Collection[str] | None = None,
    ) -> Triplets | Quadruplets:
        """Answers as triplets, two for each odd one out, or as quadruplets; groups are who answered.

        Parameters
        ----------
        weights
            "reliability": answers weigh what they say if they are right as often as `people` has it, the
            logarithm of the odds against chance; 1 on average, and nothing where somebody answers by chance.
            "equal": all answers weigh the same. By default "reliability" if the session has `rules`, else
            "equal".
        heldout
            False for all answers but those to questions that were held out; True for those alone, without
            leaves that were asked about otherwise too; None for both. A tree that was made of the first
            is scored on the second: ``ordhc.metrics.satisfied(tree, session.comparisons(heldout=True))``.
        exclude
            The people whose answers are left out, by name; `()` for nobody. By default those whom the rules
            leave out (`excluded`).
        """
        if weights is not None:
            _checks.choice("weights", weights, ("reliability", "equal"))
        left_out = None if exclude is None else set(checked_people(exclude))
        if heldout is not None:
            heldout = _checks.flag("heldout", heldout)

        def work() -> Triplets | Quadruplets:
            log = self._log
            at = log.standing()
            found = None
            how = weights or ("reliability" if self._rules() else "equal")
            if how == "reliability":
                alpha, beta = self._posterior(at)
                found = weights_of(alpha / (alpha + beta), self._n_options(at))[log.who[at]]
            names = self._excluded(at) if left_out is None else left_out
            gone = [log.ids[name] for name in names if name in log.ids]
            if gone:
                keep = ~np.isin(log.who[at], gone)
                at, found = at[keep], None if found is None else found[keep]
            if heldout is not None:
                apart = self._is_heldout(at)
                if heldout:
                    # What was asked otherwise too is not held out.
                    questions, _ = as_questions(log.leaves[at], log.answers[at])
                    numbers, count = numbered(questions)
                    elsewhere = np.bincount(numbers, ~apart, minlength=count) > 0
                    apart &= ~elsewhere[numbers]
                keep = apart if heldout else ~apart
                at, found = at[keep], None if found is None else found[keep]
            who = [log.people[person][0] for person in log.who[at].tolist()]
            if found is not None and found.sum() > 0:
                found = found / found.mean()
            is_adaptive = bool((self._kinds(at) == ASKED).any())
            return comparisons_of(
                log.leaves[at],
                log.answers[at],
                self._n_leaves,
                self._names,
                who,
                weights=found,
                adaptive=is_adaptive,
            )

        return self._reading(work)

    def analysed(self, *, weights: str | None = None, exclude: Collection[str] | None = None) -> Analysed:
        """Return the answers as `ordhc cluster`, `compare`, `report` and the dashboard of a study take them.

        Parameters
        ----------
        weights, exclude
            As in `comparisons`.

        Raises
        ------
        InputError
            Nobody of a name in `exclude` has answered.
        """
        given = None if exclude is None else checked_people(exclude)

        def work() -> Analysed:
            rules = self._rules()
            table = self.table()
            by_rules = self._excluded(self._log.standing())
            people = set(table["who"].tolist())
            for name in given or ():
                if name not in people:
                    raise InputError(f"nobody called {_checks.quoted(name)} has answered")
            names = sorted(by_rules if given is None else given)
            gone = set(names)
            out = np.array([who in gone for who in table["who"].tolist()], dtype=bool)
            apart = table["sampler"] == "heldout"
            samplers, counts = np.unique(table["sampler"][~out].astype(str), return_counts=True)
            heldout = self.comparisons(weights="equal", exclude=names, heldout=True)
            return Analysed(
                self.comparisons(weights=weights, exclude=names),
                heldout,
                {
                    "n_answers": int((~out & ~apart).sum()),
                    "n_none": int((~out & ~apart & (table["position"] == 0)).sum()),
                    "n_held_out": int((~out & apart).sum()),
                    "n_scored": len(np.unique(answers_of(heldout))),
                    "n_people": len(people - set(names) - {None}),
                    "weights": weights or ("reliability" if rules else "equal"),
                    "rules": rules[-1].in_words() if rules else [],
                    "n_times_rules_were_set": len(rules),
                    "excluded": {name: list(by_rules.get(name, ("named",))) for name in names},
                    "n_excluded_answers": int(out.sum()),
                    "samplers": dict(zip(samplers.tolist(), counts.tolist(), strict=True)),
                },
            )

        return self._reading(work)

    @property
    def rules(self) -> Rules | None:
        """The rules that leave people out of the analysis, see `set_rules`; None if none were ever set."""
        history = self.rules_history
        return history[-1] if history else None

    @property
    def rules_history(self) -> tuple[Rules, ...]:
        """All rules that were ever set, each with its time, the latest last."""
        return self._reading(self._rules)

    @property
    def excluded(self) -> dict[str, tuple[str, ...]]:
        """The people whom the rules leave out of the analysis, each with the reasons in words."""

        def work() -> dict[str, tuple[str, ...]]:
            return self._excluded(self._log.standing())

        return self._reading(work)

    def _rules(self) -> tuple[Rules, ...]:
        return from_json(self._store.state("rules"))

    def _excluded(self, at: Rows, figures: Figures | None = None) -> dict[str, tuple[str, ...]]:
        history = self._rules()
        if not history or not history[-1].in_words():
            return {}
        figures = figures or self._figures(at, *self._posterior(at))
        log = self._log
        chance = 1 / 3 if self._width == 3 else 1 / 2
        found = {
            name: reasons_of(history[-1], figures, number, chance)
            for number, (name, _) in enumerate(log.people)
            if name is not None and figures.n_answers[number]
        }
        return {name: reasons for name, reasons in found.items() if reasons}

    def _figures(self, at: Rows, alpha: Floats, beta: Floats) -> Figures:
        """What the rules look at, of everybody."""
        log = self._log
        who, size = log.who[at].astype(np.int64), len(log.people)
        seconds, n_timed = medians(who, self._seconds(at), size)
        kept = self._store.places()
        places = np.array([kept.get(seq, 0) for seq in (at + 1).tolist()] if kept else np.zeros(len(at)))
        same_side, n_placed = same_sides(who, places, size)
        gold, (_, answers) = self._known(at), as_questions(log.leaves[at], log.answers[at])
        is_known = gold >= 0
        with np.errstate(invalid="ignore"):
            right = np.bincount(who[is_known], (gold == answers)[is_known], minlength=size) / np.bincount(
                who[is_known], minlength=size
            )
        return Figures(
            np.bincount(who, minlength=size),
            seconds,
            n_timed,
            same_side,
            n_placed,
            alpha / (alpha + beta),
            interval(alpha, beta)[0],
            right,
        )

    def posterior(self, *, weights: str | None = None, **how: Any) -> "Posterior":
        """Trees by how likely they are, given all answers but those held out; see `ordhc.posterior`.

        Its `expected` says how right the tree is by now, `heldout` how well it predicts the answers held out,
        `forecast(session.comparisons(), 40)` how right it would be with 40 answers more for each leaf.

        Parameters
        ----------
        weights
            As in `comparisons`.
        **how
            As in `ordhc.posterior`.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=6, method="uncertain", budget=40) as session:
        ...     tree = ordhc.learn(ordhc.oracles.from_tree("(((0,1),2),((3,4),5));"), session=session)
        ...     session.posterior().expected.accuracy > 0.9
        True
        """
        from ordhc.clustering.posterior import posterior
        from ordhc.evaluate.held_out import scored

        found = posterior(self.comparisons(weights=weights), **how)
        found.heldout = scored(found, self.comparisons(weights="equal", heldout=True))
        return found

    def accuracy(self, model: "Dendrogram | Posterior") -> "Predicted | None":
        """Return the share of held-out answers that a tree or a posterior foretells, with its 95% interval.

        Held-out answers are those to random questions that no tree is made of, of the people who count. None
        if there are none. See `ordhc.metrics.answer_accuracy`.

        Parameters
        ----------
        model
            A tree foretells by which pairs are closest in it, a posterior by its probabilities, which know
            the lengths of leaves.
        """
        from ordhc.clustering.posterior import Posterior
        from ordhc.evaluate.held_out import scored

        if not isinstance(model, Dendrogram | Posterior):
            raise InputError(f"model is {_checks.quoted(model)}, neither a Dendrogram nor a Posterior")
        tree = model.dendrogram if isinstance(model, Posterior) else model
        if tree.n_leaves != self._n_leaves:
            raise InputError(f"the tree has {tree.n_leaves} leaves, the session has {self._n_leaves}")
        return scored(model, self.comparisons(weights="equal", heldout=True))

    def _is_heldout(self, at: Rows) -> NDArray[np.bool_]:
        return np.asarray(self._kinds(at) == HELDOUT)

    def _kinds(self, at: Rows) -> NDArray[np.int8]:
        """The kinds of the questions of answers; `IMPORT` for those that were imported."""
        log = self._log
        refs = log.refs[at]
        kinds = np.where(refs == -1, ASKED, log.kinds[np.maximum(refs, 1) - 1])
        return np.where(log.kinds[at] == IMPORT, IMPORT, kinds).astype(np.int8)

    def table(self) -> dict[str, NDArray[Any]]:
        """All answers that stand, with all that is known of each, as columns of equal length.

        ``pandas.DataFrame(session.table())`` is a data frame of it.

        Returns
        -------
        dict
            "question", its number (0 for imported answers); "who"; "trial", how many answers of this person
            came before it; "sampler", who chose the question ("learner", "heldout", "repeat", "random",
            "gold", or "import"); "p", how likely the answer counts as right (NaN: as the settings say);
            "at", when it was answered, seconds since 1970; "seconds", how long it took (NaN where nobody
            knows); "leaf_1" and so on, the leaves in the order in which they were shown;
            "answer", as it was told; "position", the place that was chosen, from 1 on, and 0 for none of
            them.
        """

        def work() -> dict[str, NDArray[Any]]:
            log = self._log
            at = log.standing()
            kinds, answers = self._kinds(at), log.answers[at]
            order = np.argsort(log.who[at], kind="stable")
            people = log.who[at][order]
            first = np.searchsorted(people, people)
            trials = np.empty(len(at), dtype=np.int64)
            trials[order] = np.arange(len(at)) - first
            samplers = {**_NAMES, IMPORT: "import"}
            if self._width == 3:
                position = answers + 1
            else:
                position = np.where(answers > 0, 1, np.where(answers < 0, 2, 0))
            names = np.array([name for name, _ in log.people], dtype=object)
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

        return self._reading(work)

    def _seconds(self, at: Rows) -> NDArray[np.float64]:
        """How long answers took: as it was told, or since the question was given to whoever answered."""
        log = self._log
        refs, who = log.refs[at], log.who[at]
        number = np.maximum(refs, 1) - 1
        given = np.where((refs != -1) & (log.who[number] == who), log.at[number], np.nan)
        passed: dict[tuple[int, int], float] = {}
        for row in log.rows_of(PASSED).tolist():
            passed.setdefault((int(log.refs[row]), int(log.who[row])), float(log.at[row]))
        for k in np.flatnonzero(np.isnan(given) & (refs != -1)).tolist() if passed else []:
            given[k] = passed.get((int(refs[k]), int(who[k])), np.nan)
        told = log.seconds[at].astype(np.float64)
        return np.where(np.isnan(told), np.maximum(log.at[at] - given, 0), told)

    # --- people ------------------------------------------------------------------------------

    def people(self) -> dict[str | None, Person]:
        """What is known of everybody who answered, by name, in the order in which they came.

        Reliability is how likely an answer of theirs is right. It is estimated from questions of `add_gold`
        and from those that several people answered, by the model of Dawid & Skene with one coin
        (docs/decisions/0010); of somebody of whom neither is known it is a guess, as `low` and `high` say.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     session.add_gold([[0, 1, 2]], [2])
        ...     states = session.tell(session.ask(who="ann").ids, [-1], who="ann")
        ...     ann = session.people()["ann"]
        >>> ann.n_answers, ann.gold, ann.reliability
        (1, 0.0, 0.5)
        """

        def work() -> dict[str | None, Person]:
            log = self._log
            at = log.standing()
            alpha, beta = self._posterior(at)
            low, high = interval(alpha, beta)
            who = log.who[at]
            size = len(log.people)
            questions, answers = as_questions(log.leaves[at], log.answers[at])
            numbers, count = numbered(questions)
            others, same = agreements(numbers, answers, count)
            gold = self._known(at)
            tree = self._of_tree(log.leaves[at])
            n_all = np.bincount(who, minlength=size)
            parts = {}
            for name, is_known, agreed in (
                ("gold", gold >= 0, gold == answers),
                ("repeats", others > 0, np.nan_to_num(same)),
                ("tree", tree != _SILENT, tree == log.answers[at]),
            ):
                many = np.bincount(who[is_known], minlength=size)
                total = np.bincount(who[is_known], agreed[is_known].astype(np.float64), minlength=size)
                parts[name] = (many, total)
            _, firsts = np.unique(who, return_index=True)
            figures = self._figures(at, alpha, beta)
            excluded = self._excluded(at, figures)
            weights = weights_of(alpha / (alpha + beta), self._n_options(at))
            names = [name for name, _ in log.people]
            counts = ~self._is_heldout(at) & ~np.isin(who, [log.ids[name] for name in excluded])
            mean = weights[who[counts]].mean() if counts.any() else 0.0
            weights = weights / mean if mean else weights
            found = {}
            for k in who[np.sort(firsts)].tolist():
                shares: dict[str, Any] = {}
                for name, (many, total) in parts.items():
                    shares[f"n_{name}"] = int(many[k])
                    shares[name] = float(total[k] / many[k]) if many[k] else None
                a, b = float(alpha[k]), float(beta[k])
                found[log.people[k][0]] = Person(
                    log.people[k][0],
                    int(n_all[k]),
                    reliability=a / (a + b),
                    low=float(low[k]),
                    high=float(high[k]),
                    alpha=a,
                    beta=b,
                    seconds=float(figures.seconds[k]),
                    same_side=float(figures.same_side[k]),
                    weight=float(weights[k]),
                    excluded=excluded.get(names[k], ()),
                    **shares,
                )
            return found

        return self._reading(work)

    def _trust(self, who: str | None) -> float:
        """How likely the next answer of somebody is right, from what they have answered so far; from 1/2 on.

        It is estimated anew whenever a twentieth more is known.
        """
        log = self._log
        person, n = log.ids.get(who, -1), log.n_answered
        if not self._trusts_at <= n <= self._trusts_at * 1.05 + 10 or self._trusts_of != log.counts[GONE]:
            alpha, beta = self._posterior(log.standing())
            self._trusts = (alpha / (alpha + beta)).tolist()
            self._trusts_at, self._trusts_of = n, log.counts[GONE]
        known = 0 <= person < len(self._trusts)
        return max(0.5, self._trusts[person] if known else PRIOR[0] / sum(PRIOR))

    def _known(self, at: Rows) -> NDArray[np.int8]:
        """(m,) right answers to the questions of answers as `as_questions` has them, -1 if not known."""
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
        """How many answers a question has; "none" is one if anybody said so."""
        log = self._log
        answers = log.answers[np.concatenate([at, log.rows_of(KNOWN)])]
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
        """(m,) answers as the tree so far has them, `_SILENT` where it says nothing."""
        tree = self._desk.tree()
        if not len(rows):
            return np.zeros(0, dtype=np.int8)
        if self._width == 3:
            found = _ordhc.TreeOracle(tree).answer(np.ascontiguousarray(rows))
            return np.where(found == -1, _SILENT, found).astype(np.int8)
        whole = from_engine(tree)
        first, second = (lca_size(whole, rows[:, i], rows[:, i + 1]) for i in (0, 2))
        return np.where(first == second, _SILENT, np.where(first < second, 1, -1)).astype(np.int8)


_SILENT = 9
