"""Learners, which ask and are told."""

import math
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html, _ordhc
from ordhc.asking.given import checked_p, numbers_of_people
from ordhc.asking.prior import prior_tree, supported_tree
from ordhc.asking.questions import Questions, checked_among
from ordhc.asking.remaining import Status, remaining, remaining_in_words
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram

__all__ = [
    "DOES_NOT_WEIGH",
    "METHODS",
    "NOISES",
    "NOISY",
    "OF_PAIRS",
    "QUESTIONS",
    "SCHEDULES",
    "Learner",
    "mistake_about",
    "width_of",
]


#: The learners by `method` and `schedule`, as the crate calls them.
SCHEDULES = {"questions": "insertion", "balanced": "balanced", "rounds": "rounds"}
NOISY = ("robust", "robust-paper", "majority")
#: What happens when a question is asked again.
NOISES = ("independent", "persistent")
OF_PAIRS = ("single", "complete", "4k-active")
#: What may be asked: the odd one out of three, "is a closer to b than to c?", which of two pairs is closer.
QUESTIONS = ("odd", "triplet", "pairs")
METHODS = ("insertion", "quick", *NOISY, "revise", "uncertain", *OF_PAIRS)

#: Which methods have a use for a parameter that others lack; insertion with a `p` below 1 is robust.
_USES = {
    "p": ("insertion", *NOISY, "revise"),
    "delta": (*NOISY, "revise"),
    "assume": ("robust",),
    "noise": ("robust", "revise"),
    "schedule": ("insertion", "robust", "revise"),
    "parallel": ("insertion", "robust", "revise"),
    "exact": ("insertion",),
    "n_landmarks": ("4k-active",),
    "q": ("4k-active",),
    "n_references": ("4k-active",),
    "prior": ("revise",),
    "prior_strength": ("revise",),
    "among": ("uncertain",),
    "question": ("uncertain",),
}
#: Why some methods have no p, and what helps instead.
_INSTEAD_OF_P = {
    "uncertain": "; it learns how often answers are wrong",
    "single": "; give repeat=3 or more, to take majorities",
    "complete": "; give repeat=3 or more, to take majorities",
    "4k-active": "; give repeat=3 or more, to take majorities",
}

#: Why answers have no p.
DOES_NOT_WEIGH = "p of answers needs a learner that weighs them: robust, with a p below 1 and without repeat"


def method_of(settings: Mapping[str, Any]) -> str:
    """The method of a learner with these settings."""
    method: str | None = settings.get("method")
    default = "insertion" if settings.get("prior") is None else "revise"
    return default if method is None else method


def width_of(settings: Mapping[str, Any]) -> int:
    """Return how many leaves a question of a learner with these settings has."""
    return 4 if settings.get("method") in OF_PAIRS or settings.get("question") in QUESTIONS[1:] else 3


def mistake_about(noise: str | None, settings: Mapping[str, Any]) -> str | None:
    """Return what a learner with these settings has wrong about an oracle of this noise, and what helps.

    None if the oracle never errs (`noise` is None), if the learner is made for its errors, or if the caller
    has said that all answers are right (`p` = 1).
    """
    method, p, repeat = method_of(settings), settings.get("p"), settings.get("repeat") or 1
    if noise is None or method in ("uncertain", "revise", "4k-active") or p == 1:
        return None
    persistent = "give p below 1 and noise='persistent', by the method insertion"
    if p is None and repeat == 1:
        takes_p = method in _USES["p"] and not settings.get("exact")
        independent = "give p or repeat" if takes_p else "give repeat"
        return f"takes all answers for right: {persistent if noise == 'persistent' else independent}"
    if noise == "persistent" and (method in ("majority", "robust-paper") or repeat > 1):
        return f"asks the same questions again, and the oracle repeats its answers: {persistent}"
    return None


_NEEDS_P = "needs p below 1, how likely answers are right"


def _check_used(method: str, given: Mapping[str, Any], right: float) -> None:
    """Raise if a parameter is given that has no effect, by the method or because `right` is 1."""
    for name, value in given.items():
        if value is None or method in _USES[name]:
            continue
        users = " and ".join(_USES[name]) if len(_USES[name]) < 3 else ", ".join(_USES[name])
        told = f"{method} takes no {name}; {users} {'does' if len(_USES[name]) == 1 else 'do'}"
        if method == "insertion" and set(_USES[name]) & set(NOISY):
            told = f"{name} = {_checks.quoted(value)} {_NEEDS_P}"
        raise InputError(told + (_INSTEAD_OF_P.get(method, "") if name == "p" else ""))
    for name in ("delta", "assume", "noise"):
        if given[name] is not None and right == 1:
            raise InputError(f"{name} = {_checks.quoted(given[name])} {_NEEDS_P}")


def _checked_leaves(n_leaves: int | Sequence[str]) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of leaves, and their names if these are given."""
    is_number = isinstance(n_leaves, Number | np.number | np.ndarray) and np.ndim(n_leaves) == 0
    names = None if is_number else _checks.names(n_leaves)
    if names is not None:
        return len(names), names
    return _checks.whole("n_leaves", n_leaves, at_least=1, at_most=2**31 - 1), None


def _checked_question(question: str | None, among: ArrayLike | None) -> str | None:
    if question is None:
        return None
    question = _checks.choice("question", question, QUESTIONS)
    if among is not None:
        raise InputError("give question or among, whose rows say what is asked, not both")
    return question


def _checked_right(method: str, p: float | None) -> float:
    """Return the probability that an answer is right; some methods need to be told."""
    if p is None and method in NOISY:
        raise InputError(f"{method} needs p, how likely answers are right; p=1 if all of them are")
    right = 1.0 if p is None else _checks.number("p", p)
    if not 0.5 < right <= 1:
        raise InputError(f"p = {right:g} must be more than 1/2 and at most 1")
    return right


def _checked_risk(delta: float | None) -> float:
    """Return the probability that the tree may be wrong."""
    risk = 0.05 if delta is None else _checks.number("delta", delta)
    if not 0 < risk < 1:
        raise InputError(f"delta = {risk:g} must be between 0 and 1, both excluded")
    return risk


def _checked_strength(prior_strength: float | None) -> float:
    strength = 20.0 if prior_strength is None else _checks.number("prior_strength", prior_strength)
    if not 0 < strength < math.inf:
        raise InputError(f"prior_strength = {strength:g} must be more than 0")
    return strength


def _check_together(method: str, right: float, given: Mapping[str, Any]) -> None:
    """Raise if two parameters that the method knows exclude each other; None is a default."""
    schedule, parallel = given["schedule"], given["parallel"]
    if given["exact"] and (schedule is not None or parallel is not None):
        raise InputError("exact is for insertion without wrong answers, one leaf after the other")
    if given["assume"] is not None and given["noise"] == "persistent":
        raise InputError(
            f"assume = {_checks.quoted(given['assume'])} needs noise='independent': with noise='persistent' "
            "nothing is assumed about wrong answers"
        )
    has_buckets = method in ("insertion", "revise") or right == 1
    if has_buckets and schedule is not None and parallel is not None:
        raise InputError(f"parallel = {parallel} is for the schedule 'questions'; {schedule!r} needs none")


def _uncertain(
    n: int, seed: int, question: str | None, among: ArrayLike | None, budget: int | None, times: int
) -> _ordhc.Learner:
    """Return the engine of "uncertain" for given questions, or for questions about pairs."""
    if among is not None:
        may = checked_among(among, n)
        return _ordhc.Learner.uncertain_among(n, seed, may, questions=budget, repeat=times)
    of_triplets = question == "triplet"
    return _ordhc.Learner.uncertain_of_pairs(n, seed, of_triplets, questions=budget, repeat=times)


def _of_quadruplets(
    method: str, n: int, seed: int, q: float | None, budget: int | None, counts: Mapping[str, int | None]
) -> _ordhc.Learner:
    """Return the engine of a method that asks about two pairs; `counts` are those of 4K-active."""
    checked = {
        name: None if count is None else _checks.whole(name, count, at_least=1)
        for name, count in counts.items()
    }
    most = None if budget is None else max(budget, 1)
    return _ordhc.Learner.of_quadruplets(method, n, seed, q=q, budget=most, **checked)


class Learner:
    """Learns a tree by asking which of three leaves is the odd one out, or which of two pairs is closer.

    It does no input and output and calls nobody: `ask` gives questions, `tell` takes answers, `tree` is
    the best tree so far. It depends on its settings, the seed and the answers only.

    Parameters
    ----------
    n_leaves
        The number of leaves, or their names.
    method
        "insertion" places one leaf after the other, by binary search; "quick" divides leaves by pivots
        and merges the parts (Emamjomeh-Zadeh & Kempe 2018, Algorithms 3-4 and 1-2). Both find exactly the
        tree that the answers come from, of any shape and degree. They ask O(n log n) questions where nodes
        have few children, O((d / log d) n log n) where they have d: a star takes n^2 / 4.

        For answers that are right with probability `p` only: "robust", a posterior search with fresh
        verification; "robust-paper", the algorithm of the paper's section 5, a reference that asks a
        hundred times as much and knows binary trees only (others are an error); "majority", which repeats
        every question. The tree is wrong with probability at most `delta`, whatever its shape and degree
        and whatever the wrong answers are, if each answer is right with probability `p` or more given all
        answers before it, and the same question asked again is answered anew. With `p` < 1 "insertion" is
        "robust".

        "uncertain" is for answers that are the more often wrong the closer leaves are, as people's are: it
        draws trees from the posterior given all answers so far (see `ordhc.posterior`), and asks what these
        disagree about most, from several people at a time. How often answers are wrong it learns, of each
        person where people are known (`tell`). Nothing is promised. It takes any answer into account,
        whoever has chosen the question, and stops after `budget` questions, 20 for each leaf by default.

        Of two pairs ask "single" and "complete", which find the single and complete linkage of
        similarities that nobody needs to know, and "4k-active" (Ghoshdastidar, Perrot & von Luxburg 2019,
        equations 1-2), which compares pairs of leaves and landmarks with reference pairs, all in one round.
        "revise" begins with a tree, `prior`, and asks where its subtrees may be elsewhere and that matters
        most; those that answers want elsewhere move. A few questions a leaf mend most of what is wrong with
        a tree that has most triplets right. It never asks the same three leaves twice, promises nothing, and
        stops when nothing is worth asking, or the budget is spent. If the first answers agree with the
        prior by chance only, it is left aside for "robust". Each batch takes O(n^2) time.
    p
        How likely an answer is right, more than 1/2 and at most 1; by default 1, but for "robust",
        "robust-paper" and "majority", which need it. `estimate_p` estimates it from repeated questions.
    delta
        How likely the tree may be wrong, if answers are as `method` says; by default 0.05. Needs a `p`
        below 1.
    assume
        Of "robust" with a `p` below 1 and independent noise: "adversarial" (the default), wrong answers may
        be anything; "uniform" asks two thirds as much, but promises nothing: trees are wrong about as rarely
        as `delta` says if no wrong answer is likelier than (1 - `p`) / 2, and much more often if there are
        preferred lies.
    noise
        Of "robust" and "revise", with a `p` below 1: "independent" (the default), or "persistent" if the same
        question always gets the same answer, as from a language model: no question is asked twice, and no
        probability is promised.
    schedule
        Of "insertion" and "robust": "questions" asks the fewest questions, one leaf after the other;
        "balanced" and "rounds" place many leaves side by side: few and fewest rounds, somewhat more
        questions. "revise" has as many questions side by side as a twentieth, a tenth, a quarter of the
        leaves.
    parallel
        How many leaves are searched side by side. "insertion" and "revise" take it with the schedule
        "questions" only.
    exact
        Of the schedule "questions": choose pivots as the paper does, in binary trees never more than
        log2(2i - 3) questions for leaf i; needs O(n) time a question. Otherwise pivots are those of the
        largest entropy, which need fewer questions on average.
    n_landmarks, q, n_references
        Of "4k-active": the number of landmarks, or the probability of each leaf to be one (by default
        ln n / n), and the number of reference pairs (by default as many as `budget` or n^2 questions allow).
    prior
        A tree to begin with, from embeddings or an earlier study, in any form that `as_dendrogram` takes, or
        the path of a file; the method then is "revise". It has the same leaves, which are found by name if
        both sides have names. Where it has nodes of many children it says nothing of what is closer. Its
        heights and lengths are not used. "revise" learns from the answers how typical each leaf is: an
        untypical leaf is called the odd one out more often than its place explains.
    prior_strength
        How much likelier the place that a subtree has in the prior is than all others together in a cluster
        twice as large; by default 20.
    repeat
        Ask every question so many times, an odd number, and take the majority; a tie is "none". Of
        "uncertain" any number, of different people in a `Session`, all of whose answers count.
    question
        What "uncertain" asks: "odd" (the default), which of three leaves is the odd one out; "triplet",
        whether a leaf is closer to a second one than to a third; "pairs", which of two pairs of leaves is
        closer. Questions of triplets have four leaves, (a, b, a, c), and are answered as those of pairs are.
        The other methods ask for the odd one out, or about pairs, and take no other value.
    among
        Of "uncertain": (m, 3) or (m, 4) leaves. It asks nothing else, each as often as it stands there
        (times `repeat`), and all of them if there is no `budget`. Those of four leaves ask which of two pairs
        is closer; "is a closer to b than to c?" is (a, b, a, c). `ordhc.learn` takes what an oracle of
        recorded answers knows.
    budget
        Ask so many questions at most, then be done; 2**53 is no limit.
    limit
        At most so many questions are open at a time.
    seed
        Of the order of leaves.

    Raises
    ------
    InputError
        A value outside of its range; a parameter that the method does not use.

    Examples
    --------
    >>> import ordhc
    >>> learner = ordhc.Learner(["cat", "dog", "car"])
    >>> questions = learner.ask()
    >>> sorted(learner.names[leaf] for leaf in questions.rows[0])
    ['car', 'cat', 'dog']
    >>> odd = [learner.names[leaf] for leaf in questions.rows[0]].index("car")
    >>> learner.tell(questions.ids, [odd])
    >>> learner.done, learner.tree().to_newick(branch_lengths=False)
    (True, '(car,(cat,dog));')
    """

    def __init__(
        self,
        n_leaves: int | Sequence[str],
        method: str | None = None,
        *,
        p: float | None = None,
        delta: float | None = None,
        assume: str | None = None,
        noise: str | None = None,
        schedule: str = "questions",
        parallel: int = 1,
        exact: bool = False,
        n_landmarks: int | None = None,
        q: float | None = None,
        n_references: int | None = None,
        prior: Any = None,
        prior_strength: float | None = None,
        repeat: int = 1,
        question: str | None = None,
        among: ArrayLike | None = None,
        budget: int | None = None,
        limit: int | None = None,
        seed: int = 0,
    ) -> None:
        n, names = _checked_leaves(n_leaves)
        method = method_of({"method": method, "prior": prior, "budget": budget})
        method = _checks.choice("method", method, METHODS)
        question = _checked_question(question, among)
        schedule = _checks.choice("schedule", schedule, SCHEDULES)
        parallel = _checks.whole("parallel", parallel, at_least=1)
        exact = _checks.flag("exact", exact)
        right = _checked_right(method, p)
        if prior is None and method == "revise":
            raise InputError("revise needs a prior, the tree that it revises")
        if prior is None and prior_strength is not None:
            raise InputError("prior_strength needs a prior")
        if method == "insertion" and right < 1:
            method = "robust"
        risk = _checked_risk(delta)
        if assume is not None:
            assume = _checks.choice("assume", assume, ("adversarial", "uniform"))
        if noise is not None:
            noise = _checks.choice("noise", noise, NOISES)
        # Right answers are no reason to refuse p = 1; values that change nothing are as good as not given.
        given = {
            "p": p if right < 1 else None,
            "delta": delta,
            "assume": assume,
            "noise": noise,
            "schedule": schedule if schedule != "questions" else None,
            "parallel": parallel if parallel > 1 else None,
            "exact": exact or None,
            "n_landmarks": n_landmarks,
            "q": q,
            "n_references": n_references,
            "prior": prior,
            "prior_strength": prior_strength,
            "among": among,
            "question": None if question == ("pairs" if method in OF_PAIRS else "odd") else question,
        }
        _check_used(method, given, right)
        q = None if q is None else _checks.number("q", q, at_least=0, at_most=1)
        strength = _checked_strength(prior_strength)
        _check_together(method, right, given)
        seed = _checks.seed(seed)
        times = _checks.whole("repeat", repeat, at_least=1, at_most=2**31 - 1)
        if budget is not None:
            budget = _checks.whole("budget", budget, at_least=0)
        if among is not None or (method == "uncertain" and question in QUESTIONS[1:]):
            self._learner = _uncertain(n, seed, question, among, budget, times)
        elif method in OF_PAIRS:
            counts = {"n_landmarks": n_landmarks, "n_references": n_references}
            self._learner = _of_quadruplets(method, n, seed, q, budget, counts)
        else:
            kind = "exact" if exact else SCHEDULES[schedule] if method == "insertion" else method
            start = None if prior is None else prior_tree(prior, names, n)
            self._learner = _ordhc.Learner(
                kind,
                n,
                parallel,
                seed,
                p=right,
                delta=risk,
                assume=assume or "adversarial",
                noise=noise or "independent",
                schedule=schedule,
                questions=budget,
                repeat=times,
                prior=start,
                prior_strength=strength,
            )
        self._names = names
        if method != "uncertain":
            self._learner = self._learner.repeated(times)
        self._knows_people = method == "uncertain"
        self._people: dict[str | None, int] = {None: 0}
        self._settings = {"method": method, "p": p, "repeat": times, "exact": exact}
        self._weighs = method == "robust" and right < 1 and times == 1
        self._budget = math.inf if budget is None else budget
        self._limit = math.inf if limit is None else _checks.whole("limit", limit, at_least=1)

    # What was asked and answered.

    def ask(self, limit: int | None = None) -> Questions:
        """At most `limit` new questions that may be answered now.

        None: answers to open questions are needed first, or the learner is `done`.
        """
        room = min(
            math.inf if limit is None else _checks.whole("limit", limit, at_least=0),
            self._limit - self.n_open,
            self._budget - self.n_asked,
        )
        if room <= 0:
            return Questions(np.empty(0, dtype=np.int64), np.empty((0, self.width), dtype=np.int32))
        return Questions(*self._learner.ask(int(min(room, 2**62))))

    @property
    def open(self) -> Questions:
        """The questions that were asked and are not answered."""
        return Questions(*self._learner.open())

    def tell(
        self,
        ids: ArrayLike,
        answers: ArrayLike,
        *,
        who: str | Sequence[str | None] | None = None,
        p: ArrayLike | None = None,
    ) -> None:
        """Answer some of the questions, in any order.

        Parameters
        ----------
        ids
            (m,) numbers of open questions.
        answers
            (m,) for each the place of the odd one out (0, 1 or 2), or -1 for none; of pairs 1, -1 or 0.
        who
            Who gave these answers, a name for all or (m,) names; None for nobody in particular. Of
            "uncertain" only, which learns how often each person is right.
        p
            How likely these answers are right, from 1/2 to 1, one for all or (m,), NaN for the learner's own
            `p`; of "robust" only. It is known before the answers are: what `delta` says holds if each answer
            is right with its `p` or more given all answers before it (docs/decisions/0004). Those of 1/2 say
            nothing.

        Raises
        ------
        InputError
            A question that is not open, or an answer that is none; the answers before it are kept.
        """
        numbers = np.atleast_1d(_checks.whole_numbers("ids", ids))
        given = np.atleast_1d(_checks.whole_numbers("answers", answers))
        if numbers.shape != given.shape or numbers.ndim != 1:
            raise InputError(f"answers have shape {given.shape} for ids of shape {numbers.shape}")
        trusts = self._checked_p(p, len(numbers))
        if who is not None and not self._knows_people:
            raise InputError("who is for a learner that tells people apart, uncertain, or a Session")
        people = numbers_of_people(who, len(numbers), self._people)
        if not numbers.size:
            return
        wrong = np.flatnonzero((given < -1) | (given > self._largest))
        fine = int(wrong[0]) if wrong.size else len(given)
        numbers = numbers[:fine]
        small = np.ascontiguousarray(given[:fine], dtype=np.int8)
        trouble = self._learner.tell(numbers, small, trusts[:fine], people[:fine])
        if trouble is not None:
            done, text = trouble
            raise InputError(f"answer {done}: {text}; the {done} answers before it are kept")
        if wrong.size:
            raise InputError(
                f"answer {fine} is {given[fine]}, outside -1..{self._largest}; "
                f"the {fine} answers before it are kept"
            )

    def _checked_p(self, p: ArrayLike | None, m: int) -> NDArray[np.float64]:
        if p is not None and not self._weighs:
            raise InputError(DOES_NOT_WEIGH)
        return np.full(m, np.nan) if p is None else checked_p(p, m)

    # What is known.

    def tree(self) -> Dendrogram:
        """The best tree so far over all leaves; those that have no place yet are joined last.

        Heights are levels. With "revise" `Dendrogram.support` is, of the answers that bear on a node, the
        share that agree with it; NaN where none does and it rests on the prior alone. An answer about three
        leaves bears on the nodes that hold two of them and not the third.
        """
        return supported_tree(self._learner, self._names)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask, or the budget is spent and all is answered."""
        return self._learner.done or (self.n_asked >= self._budget and self.n_open == 0)

    @property
    def width(self) -> int:
        """The number of leaves in a question: 3, or 4 for two pairs."""
        return self._learner.width

    @property
    def _largest(self) -> int:
        return 2 if self.width == 3 else 1

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._learner.n_leaves

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def status(self) -> Status:
        """How far the learner has come."""
        n_answered = self._learner.n_answered
        left = min(self._learner.remaining_estimate, self._budget - n_answered)
        return Status(self._learner.n_placed, n_answered, 0.0 if self.done else remaining(left))

    @property
    def n_asked(self) -> int:
        """The number of questions that were asked."""
        return self._learner.n_asked

    @property
    def n_open(self) -> int:
        """The number of questions that were asked and are not answered yet."""
        return self.n_asked - self._learner.n_answered

    @property
    def n_rounds(self) -> int:
        """The number of times that questions were asked while none was open."""
        return self._learner.n_rounds

    def __repr__(self) -> str:
        status = self.status
        state = "done" if self.done else remaining_in_words(status.remaining)
        placed = f"{status.n_placed:,} of {self.n_leaves:,} leaves"
        return f"<Learner: {placed}, {status.n_answered:,} answers, {state}>"

    _repr_html_ = _html.asked
