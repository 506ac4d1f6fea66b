"""Budgets, pace, concurrency and interrupts."""

import time
import warnings

import numpy as np
import pytest
from helpers import all_questions, judged
from ordhc_judge import BudgetError

import ordhc
from conftest import TREE

SOME = all_questions()[::7][:40]


@pytest.mark.parametrize("limit", [{"calls": 50}, {"tokens": 5000}, {"cost": 5000e-6}])
def test_budgets(served, truth, tmp_path, limit):
    server = served()
    questions = all_questions()[:40]
    cache = tmp_path / "c.sqlite"
    with judged(server, budget=limit, cache=cache, prices={"input": 1, "output": 1}) as judge:
        with pytest.raises(BudgetError, match=r"is spent.*cost nothing again.*to continue") as caught:
            judge(questions)
        spent = judge.report()
        assert caught.value.calls <= spent.calls == server.requests == sum(server.prompts.values())
        if "calls" in limit:
            assert spent.calls == 50
        else:
            tokens = spent.prompt_tokens + spent.completion_tokens
            assert 5000 - 1.5 * tokens / spent.calls * 8 < tokens <= 5000
        with pytest.raises(BudgetError):
            judge(questions)
        # What was held back for requests under way, and wasn't needed, may be enough for another one.
        assert server.requests - spent.calls <= (0 if "calls" in limit else 3)
        judge.budget = {"calls": 1000}
        assert judge.budget == {"calls": 1000, "tokens": None, "cost": None}
        assert (judge(questions) == truth(questions)).all()
    assert server.requests == 120
    assert max(server.prompts.values()) == 1


def test_a_budget_within_learning(served, tmp_path):
    server = served()
    with judged(server, budget={"calls": 30}, cache=tmp_path / "c.sqlite") as judge:
        with pytest.raises(BudgetError) as caught:
            ordhc.learn(judge, method=ordhc.learners.Robust(p=1))
        judge.budget = None
        tree = ordhc.learn(judge, learner=caught.value.learner)
    assert ordhc.metrics.robinson_foulds(tree.replace(names=None), ordhc.as_dendrogram(TREE)) == 0
    assert max(server.prompts.values()) == 1


def test_a_limit_of_requests_that_holds_is_said_once(served, monkeypatch):
    monkeypatch.setattr("ordhc_judge.judge._LONG_WAIT", 0.01)
    with judged(served(), rpm=6000) as judge:
        with pytest.warns(ordhc.errors.OrdhcWarning, match=r"requests have waited .* rpm = 6000; .*rpm=None"):
            judge(SOME[:10])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            judge(SOME[10:20])
    with judged(served(), rpm=None) as judge, warnings.catch_warnings():
        warnings.simplefilter("error")
        judge(SOME[:10])


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({"cost": -1}, "budget\\['cost'\\] = -1 must be a number of at least 0"),
        ({"cost": "1"}, "must be a number of at least 0"),
        ({"cost": float("nan")}, "must be a number of at least 0"),
        ({"usd": 1}, "must be a dict with the keys calls, tokens and cost"),
    ],
)
def test_bad_budgets(served, budget, said):
    with pytest.raises(ValueError, match=said):
        judged(served(), budget=budget, prices={"input": 1, "output": 1})


def test_a_budget_of_money_needs_prices(served):
    with pytest.raises(ValueError, match="needs prices"):
        judged(served(), budget={"cost": 1})


def test_pace(served):
    server = served()
    begin = time.perf_counter()
    with judged(server, rpm=1200) as judge:
        judge(SOME[:5])
    assert 14 * 60 / 1200 <= time.perf_counter() - begin < 15
    assert server.requests == 15


def test_concurrency(served):
    server = served(delay=0.02)
    for concurrency in (1, 5):
        server.largest = 0
        with judged(server, concurrency=concurrency) as judge:
            judge(SOME[:5])
        assert server.largest == concurrency


def test_interrupts_leave_nothing_open(served, truth):
    server = served(delay=0.05)

    def stop(_share):
        raise KeyboardInterrupt

    with judged(server) as judge:
        with pytest.raises(KeyboardInterrupt):
            judge.answer(SOME, progress=stop)
        server.delay = 0
        assert (judge(SOME) == truth(SOME)).all()
        assert np.sum(list(server.prompts.values())) <= 3 * len(SOME) + 8
