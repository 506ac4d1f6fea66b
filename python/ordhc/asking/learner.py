"""Learners, which choose questions and build a tree from the answers."""

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
#: The answers to a repeated question: independent, or always the same.
NOISES = ("independent", "persistent")
OF_PAIRS = ("single", "complete", "4k-active")
#: Kinds of questions: the odd one out of three, "is a closer to b than to c?", which of two pairs is closer.
QUESTIONS = ("odd", "triplet", "pairs")
METHODS = ("insertion", "quick", *NOISY, "revise", "uncertain", *OF_PAIRS)

#: The methods that use a parameter, for parameters that some lack; insertion with `p` below 1 is robust.
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
#: For methods without p: what to do instead.
_INSTEAD_OF_P = {
    "uncertain": "; it learns how often answers are wrong",
    "single": "; give repeat=3 or more, to take majorities",
    "complete": "; give repeat=3 or more, to take majorities",
    "4k-active": "; give repeat=3 or more, to take majorities",
}

#: The error for a p of answers that no learner weighs.
DOES_NOT_WEIGH = "p of answers needs a learner that weighs them: robust, with a p below 1 and without repeat"


def method_of(settings: Mapping[str, Any]) -> str:
    """Return the method of a learner with these settings."""
    method: str | None = settings.get("method")
    default = "insertion" if settings.get("prior") is None else "revise"
    return default if method is None else method


def width_of(settings: Mapping[str, Any]) -> int:
    """Return the number of leaves in a question of a learner with these settings."""
    return 4 if settings.get("method") in OF_PAIRS or settings.get("question") in QUESTIONS[1:] else 3


def mistake_about(noise: str | None, settings: Mapping[str, Any]) -> str | None:
    """Return a warning if these settings of a learner do not fit the noise of an oracle, with a remedy.

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
    """Return the probability that an answer is right, which some methods require."""
    if p is None and method in NOISY:
        raise InputError(f"{method} needs p, how likely answers are right; p=1 if all of them are")
    right = 1.0 if p is None else _checks.number("p", p)
    if not 0.5 < right <= 1:
        raise InputError(f"p = {right:g} must be more than 1/2 and at most 1")
    return right


def _checked_risk(delta: float | None) -> float:
    """Return the largest probability of a wrong tree."""
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
    """A learner: it chooses questions about three leaves or two pairs, and builds a tree from the answers.

    A learner does no input and output: `ask` returns questions, `tell` takes answers, `tree` is the best tree
    so far. The questions depend only on the settings, the seed and the answers.

    Parameters
    ----------
    n_leaves
        The number of leaves, or their names.
    method
        For answers that are right:

        * "insertion" (the default) places one leaf after another by binary search, and "quick" divides the
          leaves by pivots and merges the parts (Emamjomeh-Zadeh & Kempe 2018, Algorithms 3-4 and 1-2). Both
          find exactly the tree from which the answers come, of any shape and degree. They ask O(n log n)
          questions if nodes have few children, and O((d / log d) n log n) if nodes have d children: n^2 / 4
          for a star.

        For answers that are right with probability `p`:

        * "robust" searches by a posterior and verifies with fresh answers. "insertion" with `p` below 1 is
          "robust".
        * "robust-paper" is the algorithm of section 5 of the same paper. It asks a hundred times as many
          questions, and is for binary trees only.
        * "majority" repeats every question.

        The tree of these is wrong with probability at most `delta`, for any shape, any degree and any wrong
        answers, if each answer is right with probability `p` or more given all earlier answers, and a
        repeated question gets an independent answer.

        For answers of people, which are wrong more often the closer the leaves are:

        * "uncertain" draws trees from the posterior given all answers so far (see `ordhc.posterior`) and asks
          the questions about which these trees disagree most, to several people at a time. It
          estimates the share of wrong answers, for each person if `tell` names people. It gives no guarantee,
          uses every answer, and stops after `budget` questions, by default 20 for each leaf.
        * "revise" begins with the tree `prior` and asks about subtrees that may belong elsewhere. A few
          questions for each leaf correct most errors of a tree that has most triplets right. It never asks
          about the same three leaves twice, gives no guarantee, and stops when no question is worth asking.
          If the first answers agree with the prior only by chance, it becomes "robust". Each batch takes
          O(n^2) time.

        For questions about two pairs:

        * "single" and "complete" find the single and complete linkage of unknown similarities.
        * "4k-active" compares pairs of leaves and landmarks with reference pairs, in one round
          (Ghoshdastidar, Perrot & von Luxburg 2019, equations 1-2).
    p
        The probability that an answer is right, more than 1/2 and at most 1. The default is 1; "robust",
        "robust-paper" and "majority" need a value. `ordhc.oracles.estimate_p` estimates it from repeated
        questions.
    delta
        The largest probability of a wrong tree, with `p` below 1; by default 0.05.
    assume
        For "robust" with independent noise: "adversarial" (the default) allows any wrong answers. "uniform"
        asks two thirds as many questions without a guarantee: the tree is wrong about as rarely as `delta`
        says if no wrong answer is likelier than (1 - `p`) / 2, and much more often if one wrong answer is
        preferred.
    noise
        For "robust" and "revise" with `p` below 1: "independent" (the default), or "persistent" if the same
        question always gets the same answer, as from a language model. Then no question is asked twice, and
        there is no guarantee.
    schedule
        For "insertion" and "robust": "questions" (the default) asks the fewest questions, for one leaf after
        another. "balanced" and "rounds" place many leaves at the same time: they need few rounds, or the
        fewest, and somewhat more questions. For "revise" they ask more questions at the same time: for
        "questions" a twentieth, for the others a tenth and a quarter of the number of leaves.
    parallel
        The number of leaves that are searched at the same time. "insertion" and "revise" take it only with
        the schedule "questions".
    exact
        For the schedule "questions": choose pivots as the paper does. In binary trees leaf i then needs at
        most log2(2i - 3) questions, and each question O(n) time. By default the pivots have the largest
        entropy, which needs fewer questions on average.
    n_landmarks, q, n_references
        For "4k-active": the number of landmarks, or the probability of each leaf to be one (by default ln n /
        n), and the number of reference pairs (by default as many as `budget` or n^2 questions allow).
    prior
        The tree for "revise", in any form that `ordhc.as_dendrogram` takes, or the path of a file. It has the
        same leaves, matched by name if both sides have names. A node of many children says nothing about
        which of them are closer. Heights and lengths are not used. "revise" learns from the answers how
        typical each leaf is: an untypical leaf is called the odd one out more often than its place explains.
    prior_strength
        The prior odds of the place that a subtree has in `prior`, against all other places in a cluster twice
        as large; by default 20.
    repeat
        Ask every question this number of times, an odd number, and take the majority; a tie is "none". For
        "uncertain" any number: in a `Session` different people answer, and all answers count.
    question
        For "uncertain": "odd" (the default), which of three leaves is the odd one out; "triplet", whether a
        leaf is closer to a second one than to a third; "pairs", which of two pairs of leaves is closer.
        Questions of triplets have four leaves (a, b, a, c) and are answered like those of pairs. Other
        methods have one kind of question.
    among
        For "uncertain": (m, 3) or (m, 4) leaves, the only questions to ask, each as often as it occurs here
        (times `repeat`), and all of them if there is no `budget`. Four leaves ask which of two pairs is
        closer; (a, b, a, c) asks whether a is closer to b than to c. `ordhc.learn` takes it from an oracle of
        recorded answers.
    budget
        The largest number of questions; 2**53 means no limit.
    limit
        The largest number of questions that are open at the same time.
    seed
        The seed of the order of leaves.

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
        # Values that change nothing count as not given, such as p = 1.
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
        """Return at most `limit` new questions.

        If there are none, open questions have to be answered first, or the learner is `done`.
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
            (m,) for each question the place of the odd one out (0, 1 or 2), or -1 for none. For two pairs: 1
            if the first is closer, -1 if the second is, 0 for neither.
        who
            The person who gave these answers, one name for all or (m,) names; None if unknown. For
            "uncertain" only, which learns the reliability of each person.
        p
            The probability that these answers are right, from 1/2 to 1, one for all or (m,), NaN for the
            learner's own `p`; for "robust" only. It must not depend on the answers: the guarantee of `delta`
            holds if each answer is right with its `p` or more given all earlier answers
            (docs/decisions/0004). An answer with 1/2 is ignored.

        Raises
        ------
        InputError
            A question that is not open, or an impossible answer; the answers before it are kept.
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
        """Return the best tree so far over all leaves; leaves without a place yet are joined last.

        Heights are levels. With "revise" `Dendrogram.support` is the share of answers that agree with a node,
        among those about two of its leaves and one other; NaN if there are none and the node comes from the
        prior alone.
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
