"""Define the methods of learners: how questions are chosen, with the settings of each method."""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks, _ordhc
from ordhc.asking.events import check_questions
from ordhc.asking.prior import prior_tree
from ordhc.errors import InputError

#: The name in the Rust crate of each `schedule` of `Insertion`.
SCHEDULES = {"questions": "insertion", "balanced": "balanced", "rounds": "rounds"}
#: The answers to a repeated question: independent, or always the same.
NOISES = ("independent", "persistent")
ASSUMPTIONS = ("adversarial", "uniform")
#: The questions of `Uncertain`: the odd one out of three; is a closer to b than to c; which of two pairs is
#: closer.
QUESTIONS = ("odd", "triplet", "pairs")
#: The value of `p` with which answers are weighed by the reliability of the person who gives them.
BY_PERSON = "by person"


@dataclass(frozen=True)
class Common:
    """The settings of a Rust learner (`_ordhc.Learner`) that all methods have in common."""

    n_leaves: int
    names: tuple[str, ...] | None
    seed: int
    budget: int | None
    repeat: int
    #: A tree of some of the leaves, and the learner's number of each leaf of this tree; or None.
    start: tuple[_ordhc.Tree, list[int]] | None = None


class Method(ABC):
    """A method by which a learner chooses questions, with its settings."""

    #: The name of the method.
    name: ClassVar[str]
    #: The number of leaves in a question: 3, or 4 for two pairs.
    width: int = 3
    #: True if the method expects wrong answers even if the probability `p` of right answers is not given.
    expects_errors: ClassVar[bool] = False
    #: True if the learner can begin with a tree of some of the leaves.
    takes_start: ClassVar[bool] = False
    #: The reason why items of a session cannot be added or retired, with a remedy; None if they can.
    needs_all: ClassVar[str | None] = None

    @property
    def _kind(self) -> str:
        """The name of the learner in the Rust crate."""
        return self.name

    def _engine(self, common: Common) -> _ordhc.Learner:
        """Return a new Rust learner that asks each question once."""
        # Rust requires all settings, so settings that the method lacks have arbitrary values.
        settings: dict[str, Any] = {"delta": 0.05, "assume": "adversarial", "noise": "independent"}
        settings |= {"parallel": 1, "schedule": "questions", "prior_strength": 20.0, "prior": None}
        given = {name: getattr(self, name, None) for name in settings}
        settings |= {name: value for name, value in given.items() if value is not None}
        if settings["prior"] is not None:
            settings["prior"] = prior_tree(settings["prior"], common.names, common.n_leaves)
        return _ordhc.Learner(
            self._kind,
            common.n_leaves,
            seed=common.seed,
            p=self.right,
            questions=common.budget,
            repeat=common.repeat,
            start=common.start,
            **settings,
        )

    def engine(self, common: Common) -> _ordhc.Learner:
        """Return a new Rust learner that asks each question `common.repeat` times."""
        return self._engine(common).repeated(common.repeat)

    @property
    def right(self) -> float:
        """The setting `p`, the probability that an answer is right; 1 if the method has no `p`."""
        p = getattr(self, "p", 1.0)
        if isinstance(p, str):
            raise InputError(f"p = {p!r} needs a Session, which records who answers")
        if p is None and not self.expects_errors:
            raise InputError(
                f"{self.name} needs p, the probability that an answer is right, such as p=0.8 or --p 0.8"
            )
        return 1.0 if p is None else float(p)

    @property
    def weighs(self) -> bool:
        """True if each answer can have its own probability of being right."""
        return isinstance(self, Robust) and (isinstance(self.p, str) or self.right < 1)

    @property
    def is_by_person(self) -> bool:
        """True if a session weights each answer by the reliability of its person."""
        return isinstance(self, Robust) and self.p == BY_PERSON

    @property
    def uses_any_answer(self) -> bool:
        """True if the learner can use answers to questions that it has not asked.

        Guarantees for wrong answers hold only if the learner itself asked the questions.
        """
        return not isinstance(self, Robust | _WithGuarantee) and self.right == 1

    @property
    def follows_people(self) -> bool:
        """True if a session adapts `parallel` to the number of people who answer at the same time."""
        if not isinstance(self, Insertion | Robust | Revise):
            return False
        is_exact = isinstance(self, Insertion) and self.exact
        return self.schedule == "questions" and self.parallel is None and not is_exact

    def to_settings(self) -> dict[str, Any]:
        """Return the name and all settings that are not None, for JSON."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"method": self.name, **{key: value for key, value in own.items() if value is not None}}

    def _check(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def _check_search(method: Insertion | Robust | Revise) -> None:
    method._check("schedule", _checks.choice("schedule", method.schedule, SCHEDULES))
    if method.parallel is None:
        return
    method._check("parallel", _checks.whole("parallel", method.parallel, at_least=1))
    if method.schedule != "questions" and method.parallel > 1:
        raise InputError(
            f"parallel = {method.parallel} needs the schedule 'questions', not {method.schedule!r}: "
            "leave out parallel or schedule"
        )


def _check_delta(method: Robust | _WithGuarantee | Revise) -> None:
    delta = _checks.number("delta", method.delta)
    if not 0 < delta < 1:
        raise InputError(f"delta = {delta:g} must be between 0 and 1, both excluded")
    method._check("delta", delta)


def _check_p(method: Robust | _WithGuarantee | Revise) -> None:
    if method.p is None or (isinstance(method, Robust) and isinstance(method.p, str)):
        return
    right = _checks.number("p", method.p)
    if not 0.5 < right <= 1:
        raise InputError(f"p = {right:g} must be more than 1/2 and at most 1")
    method._check("p", right)


@dataclass(frozen=True)
class Insertion(Method):
    """Place one leaf after another by binary search; all answers are right.

    This is the default method. The learner finds exactly the tree from which the answers come, of any shape
    and degree. It asks O(n log n) questions if nodes have few children, and O((d / log d) n log n) if nodes
    have d children. A star takes n^2 / 4 questions (Emamjomeh-Zadeh & Kempe 2018, Algorithms 3-4).

    Parameters
    ----------
    schedule
        "questions" (the default) asks the fewest questions, for one leaf after another. "balanced" and
        "rounds" place many leaves at the same time: they need few rounds, or the fewest, and somewhat more
        questions.
    parallel
        The number of leaves whose places are searched at the same time, with the schedule "questions"; by
        default 1, and in a `Session` the number of people who answered recently.
    exact
        Choose pivots as the paper does, with the schedule "questions". In binary trees leaf i then needs at
        most log2(2i - 3) questions, and each question O(n) time. By default the pivots have the largest
        entropy, which needs fewer questions on average.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.Learner(5, ordhc.learners.Insertion(schedule="rounds")).ask().rows.shape
    (3, 3)
    """

    name: ClassVar[str] = "insertion"
    takes_start: ClassVar[bool] = True
    schedule: str = "questions"
    parallel: int | None = None
    exact: bool = False

    def __post_init__(self) -> None:
        _check_search(self)
        self._check("exact", _checks.flag("exact", self.exact))
        if self.exact and (self.schedule != "questions" or (self.parallel or 1) > 1):
            raise InputError("exact=True places one leaf after the other: leave out schedule= and parallel=")

    @property
    def _kind(self) -> str:
        return "exact" if self.exact else SCHEDULES[self.schedule]


@dataclass(frozen=True)
class Quick(Method):
    """Divide the leaves by pivots and merge the parts; all answers are right.

    The method finds the same tree as `Insertion`, with the same number of questions up to a constant factor
    (Emamjomeh-Zadeh & Kempe 2018, Algorithms 1-2).

    Examples
    --------
    >>> import ordhc
    >>> ordhc.learn(ordhc.oracles.from_tree("((0,1),2);"), method=ordhc.learners.Quick()).n_leaves
    3
    """

    name: ClassVar[str] = "quick"
    needs_all: ClassVar[str | None] = (
        "quick divides all items at the start; make a session with method='insertion', and "
        "start=session.tree() for new items, or session.tree().prune(item) without an old one"
    )


@dataclass(frozen=True)
class Robust(Method):
    """Place leaves by a posterior and verify places with new answers; answers are right with probability `p`.

    The tree is wrong with probability at most `delta`, for any shape, any degree and any wrong answers. This
    requires that each answer is right with probability `p` or more given all earlier answers, and that a
    repeated question gets an independent answer.

    Parameters
    ----------
    p
        The probability that an answer is right, more than 1/2 and at most 1; with 1 the learner asks as
        `Insertion` does. `ordhc.learn` uses the `p` of an oracle that knows it. `ordhc.oracles.estimate_p`
        estimates `p` from repeated questions. In a `Session`, "by person" weighs answers by the reliability
        of the person who gives them.
    delta
        The largest probability of a wrong tree.
    assume
        "adversarial" (the default) allows any wrong answers. "uniform" asks a third fewer questions and gives
        no guarantee. The tree is then wrong with probability about `delta` if no wrong answer has a
        probability above (1 - `p`) / 2, and much more often if one wrong answer is preferred.
    noise
        "independent" (the default), or "persistent" if the same question always gets the same answer, as
        from a language model. With "persistent" no question is asked twice, and there is no guarantee.
        `ordhc.learn` uses the noise of an oracle that knows its noise.
    schedule, parallel
        As in `Insertion`.

    Examples
    --------
    >>> import ordhc
    >>> answers = ordhc.oracles.noisy(ordhc.oracles.from_tree("((0,1),(2,3));"), 0.9)
    >>> ordhc.learn(answers, method=ordhc.learners.Robust(p=0.9)).to_newick(branch_lengths=False)
    '((0,1),(2,3));'
    """

    name: ClassVar[str] = "robust"
    takes_start: ClassVar[bool] = True
    p: float | str | None = None
    delta: float = 0.05
    assume: str = "adversarial"
    noise: str | None = None
    schedule: str = "questions"
    parallel: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.p, str) and self.p != BY_PERSON:
            raise InputError(f"p = {_checks.quoted(self.p)} is neither a number nor {BY_PERSON!r}")
        _check_p(self)
        _check_delta(self)
        self._check("assume", _checks.choice("assume", self.assume, ASSUMPTIONS))
        if self.noise is not None:
            self._check("noise", _checks.choice("noise", self.noise, NOISES))
        if self.assume != "adversarial" and self.noise == "persistent":
            raise InputError(
                f"assume = {self.assume!r} needs noise='independent': with noise='persistent' nothing is "
                "assumed about wrong answers"
            )
        _check_search(self)


@dataclass(frozen=True)
class _WithGuarantee(Method):
    """A method with the probability `p` of a right answer and the risk `delta` of a wrong tree."""

    takes_start: ClassVar[bool] = True
    p: float | None = None
    delta: float = 0.05

    def __post_init__(self) -> None:
        _check_p(self)
        _check_delta(self)


@dataclass(frozen=True)
class RobustPaper(_WithGuarantee):
    """Emamjomeh-Zadeh & Kempe's own algorithm for answers that are right with probability `p` (section 5).

    The method has the guarantee of `Robust`, but asks a hundred times as many questions as `Robust` and
    finds binary trees only.

    Parameters
    ----------
    p, delta
        As in `Robust`.
    """

    name: ClassVar[str] = "robust-paper"


@dataclass(frozen=True)
class Majority(_WithGuarantee):
    """Repeat every question and take the majority; answers are right with probability `p`.

    The method has the guarantee of `Robust`, but asks several times as many questions as `Robust`.

    Parameters
    ----------
    p, delta
        As in `Robust`.
    """

    name: ClassVar[str] = "majority"


@dataclass(frozen=True, eq=False)
class Revise(Method):
    """Begin with the tree `prior` and ask about subtrees that may belong elsewhere; for answers of people.

    A few questions for each leaf correct most errors of a tree that has most triplets right. The learner
    never asks about the same three leaves twice, gives no guarantee, and stops when no question is worth
    asking. If the first answers agree with the prior no more often than by chance, the learner becomes
    `Robust`. Each batch takes O(n^2) time.

    Parameters
    ----------
    prior
        The tree, in any form that `ordhc.as_dendrogram` takes, or the path of a file. The tree must have the
        leaves of the learner, matched by name if both have names. A node with more than two children leaves
        open which of them are closer. Heights and lengths are not used: the learner estimates from the
        answers how typical each leaf is. An untypical leaf is called the odd one out more often than its
        position in the tree explains.
    prior_strength
        The prior odds that a subtree is where `prior` has it, against all other positions in a cluster twice
        as large; by default 20.
    p
        The probability that an answer is right; by default the learner expects some wrong answers.
    delta
        As in `Robust`, for a learner that becomes robust.
    noise
        "independent" (the default) or "persistent", with a `p` below 1: see `Robust`.
    schedule
        The number of questions that are asked at the same time, as a share of the number of leaves: 1/20 for
        "questions" (the default), 1/10 for "balanced", and 1/4 for "rounds".
    parallel
        The number of questions that are asked at the same time, with the schedule "questions".

    Examples
    --------
    >>> import ordhc
    >>> learner = ordhc.Learner(6, ordhc.learners.Revise("(((0,1),2),(3,(4,5)));"))
    >>> learner.tree().cut(2)
    array([0, 0, 0, 1, 1, 1])
    """

    name: ClassVar[str] = "revise"
    needs_all: ClassVar[str | None] = (
        "revise needs a prior with all items; place new items with ordhc.insert, and make a session with "
        "Revise(prior) of that tree, or of session.tree().prune(item) without an old one"
    )
    expects_errors: ClassVar[bool] = True
    prior: Any = None
    prior_strength: float = 20.0
    p: float | None = None
    delta: float = 0.05
    noise: str | None = None
    schedule: str = "questions"
    parallel: int | None = None

    def __post_init__(self) -> None:
        if self.prior is None:
            raise InputError("revise needs a prior, the tree that it revises")
        strength = _checks.number("prior_strength", self.prior_strength)
        if not 0 < strength < math.inf:
            raise InputError(f"prior_strength = {strength:g} must be more than 0")
        self._check("prior_strength", strength)
        _check_p(self)
        _check_delta(self)
        if self.noise is not None:
            self._check("noise", _checks.choice("noise", self.noise, NOISES))
            if self.right == 1:
                raise InputError(
                    f"noise = {self.noise!r} needs p below 1; p is the probability of a right answer"
                )
        _check_search(self)


@dataclass(frozen=True, eq=False)
class Uncertain(Method):
    """Ask the questions about which trees drawn from the posterior disagree most; for answers of people.

    The trees are those of `ordhc.posterior`. The model expects more wrong answers the closer the leaves are.
    The learner estimates the share of wrong answers, for each person if `tell` names people. Several people
    can answer at the same time. The learner gives no guarantee, uses every answer, and stops after `budget`
    questions, by default 20 for each leaf.

    Above 250 leaves or 8,000 answers, drawing trees would make people wait. The learner then keeps one tree:
    each answer moves the leaves that it is about, and questions are about leaves whose places in this tree
    are uncertain. The time for a question hardly depends on the numbers of leaves and of answers.

    Parameters
    ----------
    question
        "odd" (the default), which of three leaves is the odd one out; "triplet", whether a leaf is closer to
        a second one than to a third; "pairs", which of two pairs of leaves is closer. Questions of triplets
        have four leaves (a, b, a, c) and are answered like questions about pairs.
    among
        (m, 3) or (m, 4) leaves: the only questions to ask. Each question is asked the number of times that it
        occurs here, times `repeat`; all of them are asked if there is no `budget`. Leave out `question`,
        because the number of columns of `among` determines it. `ordhc.learn` uses the questions of an oracle
        of recorded answers. A session does not support `among`.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.Learner(4, ordhc.learners.Uncertain(question="pairs")).ask().rows.shape
    (4, 4)
    """

    name: ClassVar[str] = "uncertain"
    expects_errors: ClassVar[bool] = True
    question: str = "odd"
    among: ArrayLike | None = None

    def __post_init__(self) -> None:
        question = _checks.choice("question", self.question, QUESTIONS)
        if self.among is not None and question != "odd":
            raise InputError(
                "give question= or among=, not both: the number of columns of among determines the question"
            )
        self._check("question", question)
        if self.among is not None:
            among = _checks.array("among", self.among)
            if among.ndim != 2 or among.shape[1] not in (3, 4):
                raise InputError(f"among= has shape {among.shape}, not (m, 3) or (m, 4)")
            self._check("among", among)
            self._check("width", among.shape[1])
        elif question != "odd":
            self._check("width", 4)

    def engine(self, common: Common) -> _ordhc.Learner:
        """Return a new Rust learner that asks each question `common.repeat` times."""
        # The model uses each answer to a repeated question, so no majority is taken.
        return self._engine(common)

    def _engine(self, common: Common) -> _ordhc.Learner:
        n, seed = common.n_leaves, common.seed
        asked: dict[str, Any] = {"questions": common.budget, "repeat": common.repeat}
        if self.among is not None:
            table = _checks.whole_numbers("among", self.among)
            check_questions(table, n, "among: ")
            among = np.ascontiguousarray(table, dtype=np.int32)
            return _ordhc.Learner.uncertain_among(n, seed, among, **asked)
        if self.question == "odd":
            return super()._engine(common)
        return _ordhc.Learner.uncertain_of_pairs(n, seed, self.question == "triplet", **asked)


class OfPairs(Method):
    """A method that asks which of two pairs of leaves is closer."""

    width = 4
    needs_all: ClassVar[str | None] = (
        "single, complete and 4k-active plan their questions for all items at the start; make a session with "
        "Uncertain(question='pairs'), and give it the answers so far with add_answers"
    )

    def _engine(self, common: Common) -> _ordhc.Learner:
        # Single and complete linkage have none of these settings.
        own = {name: getattr(self, name, None) for name in ("n_landmarks", "q", "n_references")}
        budget = None if common.budget is None else max(common.budget, 1)
        return _ordhc.Learner.of_quadruplets(self.name, common.n_leaves, common.seed, budget=budget, **own)


@dataclass(frozen=True)
class Single(OfPairs):
    """Find the single linkage of unknown similarities by questions about two pairs; all answers are right.

    The source is the algorithm 4-SL of Ghoshdastidar, Perrot & von Luxburg 2019.
    """

    name: ClassVar[str] = "single"


@dataclass(frozen=True)
class Complete(OfPairs):
    """Find the complete linkage of unknown similarities by questions about two pairs; all answers are right.

    The source is the algorithm 4-CL of Ghoshdastidar, Perrot & von Luxburg 2019.
    """

    name: ClassVar[str] = "complete"


@dataclass(frozen=True)
class FourKActive(OfPairs):
    """Ask whether pairs of a leaf and a landmark are closer than reference pairs, in one round of questions.

    Landmarks are random leaves, and reference pairs are random pairs. Two leaves are similar if the answers
    about them are equal for the same landmark and reference pair. The tree is the average linkage of this
    similarity (Ghoshdastidar, Perrot & von Luxburg 2019, equations 1-2).

    Parameters
    ----------
    n_landmarks
        The number of landmarks. Give `n_landmarks` or `q`, not both.
    q
        The probability that a leaf is a landmark, from 0 to 1; by default ln n / n.
    n_references
        The number of reference pairs; by default the number that `budget` (or n^2 questions) allows.
    """

    name: ClassVar[str] = "4k-active"
    expects_errors: ClassVar[bool] = True
    n_landmarks: int | None = None
    q: float | None = None
    n_references: int | None = None

    def __post_init__(self) -> None:
        if self.n_landmarks is not None and self.q is not None:
            raise InputError("give n_landmarks or q, the probability of a landmark, not both")
        if self.q is not None:
            self._check("q", _checks.number("q", self.q, at_least=0, at_most=1))
        for name in ("n_landmarks", "n_references"):
            if (count := getattr(self, name)) is not None:
                self._check(name, _checks.whole(name, count, at_least=1))


_ALL = (Insertion, Quick, Robust, RobustPaper, Majority, Revise, Uncertain, Single, Complete, FourKActive)
#: The class of each method, by the method's name.
CLASSES: dict[str, type[Method]] = {kind.name: kind for kind in _ALL}
