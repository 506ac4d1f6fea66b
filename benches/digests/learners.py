"""Learners and sessions: every question that is asked, and the tree that comes of it."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import ordhc
from digests.answers import points
from digests.listing import Listing, Rough
from ordhc import oracles

#: Settings, how many answers are right, and who answers: what knows the tree, or the points.
CASES: list[tuple[dict[str, Any], float, str]] = [
    *[({"method": method}, 1.0, "tree") for method in ("insertion", "quick")],
    *[({"method": method}, 1.0, "points") for method in ("single", "complete", "4k-active")],
    *[({"schedule": schedule}, 1.0, "tree") for schedule in ("balanced", "rounds")],
    *[({"method": method, "p": 0.9}, 0.9, "tree") for method in ("robust", "majority", "robust-paper")],
    ({"method": "robust", "p": 0.8, "schedule": "rounds"}, 0.8, "tree"),
    ({"method": "robust", "p": 0.9, "noise": "persistent"}, 0.9, "tree"),
    ({"repeat": 5}, 0.9, "tree"),
    ({"exact": True}, 1.0, "tree"),
    ({"method": "single", "repeat": 3, "budget": 900}, 1.0, "points"),
    ({"method": "complete", "repeat": 3, "budget": 600}, 0.9, "points"),
    ({"parallel": 4, "limit": 6}, 1.0, "tree"),
    ({"method": "robust", "p": 0.9, "parallel": 3, "delta": 0.2}, 0.9, "tree"),
]
#: Learners whose questions follow from logarithms; and from trees that are drawn.
PRIORS: list[dict[str, Any]] = [{"method": "revise"}, {"method": "revise", "prior_strength": 5.0}]
UNCERTAIN = ["odd", "triplet", "pairs"]


def run(listing: Listing) -> None:
    """Add all lines about learners."""
    for n in (1, 2, 3, 4, 24, 60):
        for settings, accuracy, answering in CASES:
            if n == 60 and (answering == "points" or settings.get("method") == "robust-paper"):
                continue
            loop = lambda n=n, s=settings, a=accuracy, o=answering: learned(
                ordhc.Learner(n, **ordhc.learners.arguments({**s, "seed": 2})), oracle(n, a, o)
            )
            listing.add(f"learner {n} {described(settings)}", loop)
    repeated = [np.random.default_rng(1).integers(0, 2, 40) * (np.arange(40) % 9 == 0) for _ in range(5)]
    listing.add("estimate of p", Rough(ordhc.oracles.estimate_p(repeated)))
    listing.add("learn", ordhc.learn(oracle(24, 1.0), 24, seed=3))
    of_priors(listing)
    of_sessions(listing)
    of_crowds(listing)


def described(settings: dict[str, Any]) -> str:
    """Settings as a part of a line's name."""
    return " ".join(f"{key}={value}" for key, value in settings.items()) or "default"


def truth(n: int) -> ordhc.Dendrogram:
    """The tree that is looked for."""
    return ordhc.cluster(points(max(n, 1)), similarity="euclidean", linkage="average")


def oracle(n: int, accuracy: float, answering: str = "tree") -> Any:
    """Who answers."""
    right = oracles.from_tree(truth(n)) if answering == "tree" else oracles.from_vectors(points(n))
    return right if accuracy == 1 else oracles.noisy(right, accuracy, seed=4)


def learned(learner: Any, answers: Any, most: int = 10**9, **asking: Any) -> list[Any]:
    """All questions on the way, and the tree."""
    asked: list[Any] = []
    while len(asked) < most and len(questions := learner.ask(7, **asking)):
        asked.append((np.asarray(questions.ids), np.asarray(questions.rows)))
        learner.tell(questions.ids, answers(questions.rows))
    return [*asked, learner.tree()]


def of_priors(listing: Listing) -> None:
    """Learners that begin with a tree, and those that take any question."""
    prior = ordhc.cluster(points(16, seed=3), similarity="euclidean", linkage="average")
    for settings in PRIORS:
        chosen = ordhc.learners.arguments({**settings, "prior": prior, "p": 0.9, "seed": 1})
        made = learned(ordhc.Learner(16, **chosen), oracle(16, 0.9), 12)
        listing.add(f"learner prior {described(settings)}", Rough(made))
    for question in UNCERTAIN:
        learner = ordhc.Learner(8, ordhc.learners.Uncertain(question=question), seed=1)
        answering = oracles.noisy(oracles.from_vectors(points(8)), 0.9, seed=2)
        made = learned(learner, asks(answering, question), 4)
        # Of questions that tell as much rounding takes the first: which pair comes first is left open.
        rows = [np.sort(rows, axis=1) for _, rows in made[:-1]]
        listing.add(f"learner uncertain {question}", [rows, np.asarray(made[-1].cut(2))])


def asks(answering: Any, question: str) -> Any:
    """Answers of an oracle to a kind of question."""
    if question != "triplet":
        return answering
    X = points(8)

    def nearer(rows: Any) -> Any:
        far = [((X[rows[:, 0]] - X[rows[:, at]]) ** 2).sum(axis=1) for at in (1, 2)]
        return (far[0] < far[1]).astype(np.int8)

    return nearer


def of_sessions(listing: Listing) -> None:
    """Sessions that are left, reopened, taken back and exported; not the times of answers."""
    with tempfile.TemporaryDirectory() as folder:
        for settings in (
            {},
            {"repeat": 3},
            {"method": "robust", "p": 0.9},
            {"schedule": "rounds"},
            {"parallel": 3},
        ):
            file = Path(folder) / "study.ordhc"
            file.unlink(missing_ok=True)
            answering = oracle(20, 0.9 if "p" in settings or "repeat" in settings else 1.0)
            name = described(settings)
            names, chosen = (
                [f"item {i}" for i in range(20)],
                ordhc.learners.arguments({**settings, "seed": 3}),
            )
            with ordhc.Session(file, names, **chosen) as session:
                before = learned(session, answering, most=12)
                listing.add(f"session {name} undo", [session.undo()])
                tree = session.tree()
            with ordhc.Session(file) as session:
                listing.expect_equal(f"session {name} reopened", tree, session.tree())
                listing.add(f"session {name}", [*before, *learned(session, answering)])
                listing.add(f"session {name} exported", exported(session))
                ordhc.write_comparisons(session.comparisons(), Path(folder) / "answers.csv")
            listing.add(f"session {name} file of answers", (Path(folder) / "answers.csv").read_bytes())


def of_crowds(listing: Listing) -> None:
    """Several people, who get questions of different kinds; gold, imported answers, rules, reliability."""
    answering = oracle(20, 1.0)
    wrong = oracles.noisy(answering, 0.4, seed=8)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.ordhc"
        fill = {"heldout": 0.2, "repeat": 0.2, "random": 0.1, "gold": 0.1}
        with ordhc.Session(file, n_leaves=20, seed=5, fill=fill) as session:
            known = np.array([[0, 1, 2], [3, 9, 5], [7, 8, 11]])
            session.add_answers(known, answering(known), gold=True)
            session.add_answers(known[:, ::-1], answering(known[:, ::-1]), who="before")
            asked = []
            for turn in range(120):
                who = ["ann", "bob", "cid"][turn % 3]
                questions = session.ask(2, who=who)
                if not len(questions):
                    break
                asked.append(
                    (np.asarray(questions.ids), np.asarray(questions.rows), list(questions.samplers))
                )
                session.tell(questions.ids, (wrong if who == "cid" else answering)(questions.rows), who=who)
            listing.add("crowd questions", asked)
            listing.add("crowd exported", exported(session))
            listing.add("crowd trust", Rough([trusted(person) for person in session.people().values()]))
            session.set_rules(below_chance=True, failed_gold=0.5)
            listing.add("crowd excluded", dict(session.analysed().excluded))
            for weights in ("reliability", "equal"):
                data = session.comparisons(weights=weights)
                listing.add(f"crowd comparisons {weights}", Rough(data))
            listing.add("crowd held out", session.comparisons(heldout=True))
            listing.add("crowd accuracy", Rough(session.analysed().accuracy(session.tree())))
            listing.add("crowd tree", session.tree())
        with ordhc.Session(file) as session:
            listing.add("crowd reopened", exported(session))


def trusted(person: Any) -> list[Any]:
    """What is known of a person, but for times."""
    facts = {key: value for key, value in vars(person).items() if key not in ("seconds",)}
    return list(facts.items())


def exported(session: Any) -> list[Any]:
    """Everything in a session's file, but for times."""
    table = {key: value for key, value in session.table().items() if key not in ("at", "seconds")}
    return [session.names, dict(session.settings), list(table), *map(plain, table.values())]


def plain(column: Any) -> Any:
    """A column as a list or numbers."""
    return column.tolist() if column.dtype.kind in "OU" else column
