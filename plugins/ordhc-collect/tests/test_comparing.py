"""Whether it is a tree, and whether people agree on one, on the dashboard."""

import time

import numpy as np
import pytest
from ordhc_collect.analysis import comparing as module
from ordhc_collect.analysis.comparing import GROUPS, STRUCTURE, Compared, Comparing, Members
from ordhc_collect.web.rendering import environment

import ordhc
from support.few_rounds import with_few_rounds


def spoken():
    """Return the templates in English."""
    found = environment(["jinja2.ext.i18n"])
    found.install_null_translations(newstyle=True)
    return found


@pytest.fixture
def comparing():
    found = Comparing(STRUCTURE)
    yield found
    found.close()


def when_done(comparing, data):
    for _ in range(1200):
        (found,) = comparing.results(data)
        if found.headline or "Being compared" not in found.text:
            return found
        time.sleep(0.1)
    raise AssertionError("nothing was compared")


def page(compared):
    return spoken().get_template("part_compared.html").render(compared=compared)


def test_the_card_follows_the_answers(comparing):
    t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=4, seed=1)
    (few,) = comparing.results(t[:40])
    assert few.text == "Appears after 100 answers; there are 40."
    assert "there are 40" in page(few)
    assert comparing.results(t[:300])[0].text == "Being compared …"
    first = when_done(comparing, t[:300])
    assert first.n_answers == 300
    assert "hierarchy" in first.headline
    assert not first.text.startswith(first.headline)
    # The last comparison stands until there are a quarter more answers.
    assert comparing.results(t[:370])[0] is first
    assert comparing.results(t)[0] is first
    for _ in range(1200):
        if (found := comparing.results(t)[0]) is not first:
            break
        time.sleep(0.1)
    assert found.n_answers == 600
    assert "Of 600 answers" in page(found)


def test_large_studies_are_left_to_the_command(comparing, monkeypatch):
    monkeypatch.setattr(module, "_MOST_SECONDS", 0.0)
    t, _ = ordhc.datasets.planted(300, levels=2, leaves_per_cluster=4, seed=1)
    assert "run ordhc structure study.ordhc" in comparing.results(t)[0].text
    other = Comparing(GROUPS)
    assert "run ordhc people-groups study.ordhc" in other.results(t)[0].text
    other.close()


def test_answers_of_a_learner_and_failures_are_told(comparing, monkeypatch, caplog):
    t, _ = ordhc.datasets.planted(200, levels=2, leaves_per_cluster=4, seed=1)
    learnt = ordhc.Triplets(t.rows, n_leaves=t.n_leaves, adaptive=True)
    assert "A learner chose the questions" in page(when_done(comparing, learnt))
    one = ordhc.Triplets(np.tile(t.rows[:1], (150, 1)), n_leaves=t.n_leaves)
    other = Comparing(STRUCTURE)
    assert "1 different questions for 5 folds" in when_done(other, one).text
    other.close()
    monkeypatch.setattr(ordhc, "structure", lambda *_, **__: 1 / 0)
    broken = Comparing(STRUCTURE)
    assert when_done(broken, t).text == "Structures could not be compared."
    assert "division by zero" in caplog.text
    broken.close()


def test_groups_of_people_are_named(monkeypatch):
    with_few_rounds(monkeypatch)
    monkeypatch.setattr(module, "_FOLDS", 3)
    t, _ = ordhc.datasets.planted(600, levels=2, leaves_per_cluster=3, seed=1)
    other = np.random.default_rng(1).permutation(12)
    rows = np.concatenate([t.rows[:300], other[t.rows[300:]]])
    people = [f"<p{number}>" for number in np.repeat(np.arange(12), 50)]
    both = Comparing(STRUCTURE, GROUPS)
    data = ordhc.Triplets(rows, n_leaves=12, groups=people)
    for _ in range(1200):
        structure, groups = both.results(data)
        if structure.headline and groups.headline:
            break
        time.sleep(0.1)
    assert structure.n_answers == groups.n_answers == 600
    assert groups.headline.startswith("People do not agree on one tree")
    assert sorted((group.named, group.count) for group in groups.groups) == [
        (tuple(f"<p{number}>" for number in range(start, start + 6)), 6) for start in (0, 6)
    ]
    assert "<code>&lt;p0&gt;</code>, <code>&lt;p1&gt;</code>" in page(groups)
    alone = Comparing(GROUPS)
    assert "needs to know who gave each answer" in when_done(alone, t[:200]).text
    for each in (both, alone):
        each.close()
    many = Compared(200, "Two.", "", groups=(Members(("a", "b"), 14),))
    assert "<code>b</code> and 12 more" in page(many)


def test_closing_ends_a_comparison():
    t, _ = ordhc.datasets.planted(3000, levels=2, leaves_per_cluster=8, seed=1)
    found = Comparing(STRUCTURE)
    found.results(t)
    found.close()
    assert found.results(t)[0].n_answers == 0
