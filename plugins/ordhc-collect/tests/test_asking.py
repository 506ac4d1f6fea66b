"""Which questions people get: shares of samplers, and checks for everybody."""

import random
from collections import Counter

import pytest
from ordhc_collect.people.asking import Asker
from ordhc_collect.simulate.crowd import SimulatedPerson, drawn_tree
from ordhc_collect.study.reading import read_study
from studies import make_study

import ordhc

N_ITEMS, N_PEOPLE, PER_PERSON = 15, 20, 40


def asked_of(study, path, n_people=N_PEOPLE, *, reopened=()):
    """Simulate people side by side: (person, sampler, leaves) of each question in the order of asking."""
    truth, log, known = drawn_tree(len(study.items), 0), [], {}
    counts = Counter()
    session = ordhc.Session(path, names=study.names, durable=False, fill={}, **study.learner_of_session)
    asker = Asker(study, session, counts)
    order = random.Random(1)
    people = {f"p{k}": 0 for k in range(n_people)}
    answering = {who: SimulatedPerson(truth, study.question, 0.85, who) for who in people}
    while people:
        who = order.choice(list(people)[:20])
        people[who] += 1
        with session.transaction():
            found = asker.next(who, people[who], None, lambda who=who: known.get(who, []))
            if found is not None:
                number, leaves, sampler = found
                choice = answering[who](list(leaves))
                session.tell([number], [choice - 1 if len(leaves) == 3 else 3 - 2 * choice], who=who)
                known.setdefault(who, []).append(leaves)
                log.append((who, sampler, leaves))
        if found is None or people[who] == study.per_person:
            del people[who]
        if len(log) in reopened:
            asker = Asker(study, session, Counter(sampler for _, sampler, _ in log))
    session.close()
    return log


def shares_of(log):
    return {name: count / len(log) for name, count in Counter(sampler for _, sampler, _ in log).items()}


@pytest.mark.parametrize(("question", "top"), [("odd", ""), ("odd", 'sampler = "uncertain"'), ("pairs", "")])
def test_shares_hold_to_the_end(tmp_path, question, top):
    """A learner with a limit of its own would leave the second half of a study to others."""
    study = read_study(
        make_study(
            tmp_path,
            N_ITEMS,
            per_person=PER_PERSON,
            top=top,
            study=f'question = "{question}"',
            more=f"[people]\ntotal = {N_PEOPLE}",
        )
    )
    log = asked_of(study, tmp_path / "s", reopened=(500,))
    assert len(log) == N_PEOPLE * PER_PERSON
    for part in (log, log[-len(log) // 4 :]):
        found = shares_of(part)
        assert {name: found[name] for name in study.planned} == pytest.approx(study.planned, abs=0.02)


@pytest.mark.parametrize("n_gold", [3, 12])
def test_everybody_gets_their_checks(tmp_path, n_gold):
    """Checks are for each person, spread over their questions."""
    lines = ["a,b,c,answer", *(f"item{k:02},item{k + 1:02},item{k + 2:02},item{k:02}" for k in range(n_gold))]
    (tmp_path / "gold.csv").write_text("\n".join(lines))
    more = '[gold]\ntable = "gold.csv"\nper_person = 3'
    study = read_study(make_study(tmp_path, 15, per_person=30, top='sampler = "random"', more=more))
    log = asked_of(study, tmp_path / "s", 50)
    gold = {frozenset(row) for row in study.gold.rows}
    for person in {who for who, _, _ in log}:
        rows = [frozenset(leaves) for who, _, leaves in log if who == person]
        assert len(set(rows)) == len(rows) == 30
        places = [place for place, row in enumerate(rows) if row in gold]
        # A random question may be one of gold, too: then there is one check less of the sampler.
        assert len(places) >= 3
        assert [sum(row in gold for row in rows[: 10 * k]) >= k for k in (1, 2, 3)] == [True] * 3
    assert shares_of(log)["gold"] == pytest.approx(0.1, abs=0.02)


def test_a_learner_that_has_ended_leaves_its_share_to_random_questions(tmp_path):
    more = '[learner]\nmethod = "uncertain"\nbudget = 100'
    study = read_study(make_study(tmp_path, 20, per_person=20, more=more))
    log = asked_of(study, tmp_path / "s", 20)
    found = shares_of(log[-200:])
    assert found == pytest.approx({"random": 0.8, "heldout": 0.1, "repeat": 0.1}, abs=0.02)
    # The budget of a session's learner counts all questions.
    assert Counter(sampler for _, sampler, _ in log)["learner"] == 70
