"""Whether it is a tree, on the dashboard."""

import time

import numpy as np
import pytest
from ordhc_collect.analysis import structures
from ordhc_collect.analysis.structures import Comparing
from ordhc_collect.web.rendering import environment

import ordhc


@pytest.fixture
def comparing():
    found = Comparing()
    yield found
    found.close()


def when_done(comparing, data):
    for _ in range(1200):
        found = comparing.look(data)
        if found.headline or "Being compared" not in found.text:
            return found
        time.sleep(0.1)
    raise AssertionError("nothing was compared")


def page(compared):
    return environment().get_template("part_structure.html").render(compared=compared)


def test_the_card_follows_the_answers(comparing):
    t, _ = ordhc.simulate_planted(600, levels=2, leaves_per_cluster=4, seed=1)
    few = comparing.look(t[:40])
    assert few.text == "Appears after 100 answers; there are 40."
    assert "there are 40" in page(few)
    assert comparing.look(t[:300]).text == "Being compared …"
    first = when_done(comparing, t[:300])
    assert first.n_answers == 300
    assert "hierarchy" in first.headline
    assert not first.text.startswith(first.headline)
    # The last comparison stands until there are a quarter more answers.
    assert comparing.look(t[:370]) is first
    assert comparing.look(t) is first
    for _ in range(1200):
        if (found := comparing.look(t)) is not first:
            break
        time.sleep(0.1)
    assert found.n_answers == 600
    assert "Of 600 answers" in page(found)


def test_large_studies_are_left_to_the_command(comparing, monkeypatch):
    monkeypatch.setattr(structures, "_MOST_SECONDS", 0.0)
    t, _ = ordhc.simulate_planted(300, levels=2, leaves_per_cluster=4, seed=1)
    assert "run ordhc structure study.ordhc" in comparing.look(t).text


def test_answers_of_a_learner_and_failures_are_told(comparing, monkeypatch, caplog):
    t, _ = ordhc.simulate_planted(200, levels=2, leaves_per_cluster=4, seed=1)
    learnt = ordhc.Triplets(t.rows, n_leaves=t.n_leaves, adaptive=True)
    assert "A learner chose the questions" in page(when_done(comparing, learnt))
    one = ordhc.Triplets(np.tile(t.rows[:1], (150, 1)), n_leaves=t.n_leaves)
    other = Comparing()
    assert "1 different questions for 5 folds" in when_done(other, one).text
    other.close()
    monkeypatch.setattr(ordhc, "structure", lambda *_, **__: 1 / 0)
    broken = Comparing()
    assert when_done(broken, t).text == "Structures could not be compared."
    assert "division by zero" in caplog.text
    broken.close()


def test_closing_ends_a_comparison():
    t, _ = ordhc.simulate_planted(3000, levels=2, leaves_per_cluster=8, seed=1)
    found = Comparing()
    found.look(t)
    found.close()
    assert found.look(t).n_answers == 0
