"""The judge on a server without faults: answers, orders, places, weights, estimates."""

import asyncio
import gzip
import json

import numpy as np
import ordhc_judge
import pytest
from helpers import all_questions, judged
from ordhc_judge.auditing import read_gold
from ordhc_judge.testing import serve

import ordhc
from conftest import ITEMS, TREE
from ordhc.errors import InputError
from ordhc.testing import check_oracle

#: A third of the questions: each takes three requests.
SOME = all_questions()[::3]


def test_answers_are_those_of_the_tree(served, truth):
    server = served()
    questions = np.random.default_rng(0).permuted(SOME, axis=1)
    with judged(server) as judge:
        assert (judge(questions) == truth(questions)).all()
        # A question in another order is the same question.
        assert (judge(questions[:, ::-1]) == truth(questions[:, ::-1])).all()
        report = judge.report()
    assert server.requests == 3 * len(questions) == report.calls == report.cached
    assert max(server.prompts.values()) == 1
    assert report.questions == 2 * len(questions)
    assert report.consistency.value == 1


def test_each_item_stands_once_at_each_place(served):
    server = served()
    with judged(server) as judge:
        judge(SOME)
    by_three = {}
    for texts in server.prompts:
        by_three.setdefault(frozenset(texts), []).append(texts)
    for shown in by_three.values():
        assert len(shown) == 3
        for place in range(3):
            assert len({texts[place] for texts in shown}) == 3


@pytest.mark.parametrize(("orders", "times"), [("cyclic", 3), ("two", 2), ("one", 1), (2, 2)])
def test_orders(served, truth, orders, times):
    server = served()
    questions = all_questions()[:50]
    with judged(server, orders=orders) as judge:
        assert (judge(questions) == truth(questions)).all()
        assert judge.estimate(50).calls == server.requests == 50 * times


def test_the_prompt_is_the_documented_one(served):
    server = served()
    with judged(server, criterion="kind of\nanimal", orders="one") as judge:
        judge([[0, 5, 10]])
    (body,) = server.bodies
    (message,) = body["messages"]
    lines = message["content"].split("\n")
    at = [next(at for at, line in enumerate(lines) if line.startswith(f"{place}. ")) for place in (1, 2, 3)]
    assert at == [at[0], at[0] + 1, at[0] + 2]
    assert sorted(lines[place][3:] for place in at) == sorted([ITEMS[0], ITEMS[5], ITEMS[10]])
    assert sum(line.lstrip()[:2] in ("1.", "2.", "3.") for line in lines) == 3
    assert "by kind of animal?" in message["content"]
    assert message["content"] == ordhc_judge.DEFAULT_TEMPLATE.format(
        *[None, *(lines[place][3:] for place in at)], criterion="kind of animal"
    )
    assert (body["temperature"], body["model"], body["max_tokens"]) == (0, "model", 16)


def test_a_template_of_ones_own(served):
    server = served()
    template = {"system": "Name the odd one by {criterion}.", "user": '{"items"}:\n1. {1}\n2. {2}\n3. {3}'}
    with judged(server, template=template, criterion="size") as judge:
        assert judge([[0, 1, 9]])[0] == 2
    system, user = server.bodies[0]["messages"]
    assert system == {"role": "system", "content": "Name the odd one by size."}
    assert user["content"].startswith('{"items"}:\n1. ')
    for wrong in ("{1} {2}", {"user": "{1}{2}{3}", "other": "x"}, {"system": "{1}{2}{3}"}, 7):
        with pytest.raises((InputError, TypeError)):
            judged(server, template=wrong)


def test_place_bias_is_cancelled(served, truth):
    server = served(bias=0.4)
    questions = SOME
    with judged(server) as judge:
        answers, report = judge(questions), judge.report()
        audit = judge.audit(TREE)
    decided = answers >= 0
    # What is answered is right, however often the first place is named for nothing.
    assert (answers[decided] == truth(questions)[decided])[truth(questions)[decided] >= 0].all()
    assert 0.2 < decided.mean() < 0.8
    assert report.disagreed > 20
    low, high = report.consistency.interval
    assert low < report.consistency.value < high < 0.8
    assert report.places[0] > 1.5 * max(report.places[1:3])
    assert audit.by_place[1].value == 1 > 0.8 > audit.by_place[3].value
    assert audit.named[1].value > 0.45
    assert audit.when_decided.value == 1 > audit.accuracy.value
    with judged(server, orders="one") as judge:
        alone = judge(questions)
    known = truth(questions) >= 0
    assert (alone[known] != truth(questions)[known]).mean() > 0.15
    with judged(server, agree="majority") as judge:
        most = judge(questions)
    assert (most >= 0).mean() > decided.mean() + 0.1


def test_only_one_place_is_named(served):
    server = served(bias=1.0)
    with judged(server) as judge:
        assert (judge(all_questions()[:40]) == -1).all()
        assert judge.report().disagreed == 40
        assert judge.report().consistency.value == 0


def test_questions_that_lack_a_reply_do_not_count_as_inconsistent(served):
    server = served(faults={"500": 0.2})
    with judged(server, agree="majority", retries=0) as judge:
        answers = judge(SOME)
        report = judge.report()
    assert report.failed > 0
    assert report.answered == (answers >= 0).sum()
    assert report.consistency.value == 1
    assert report.consistency.total < report.questions - report.failed


def test_weights_are_probabilities(served):
    server = served(accuracy=0.7)
    with judged(server) as judge:
        triplets = judge.answer(SOME)
    assert set(np.round(triplets.weights, 6)) == {0.97, 0.55}
    assert len(triplets) == 2 * judge.report().answered
    assert triplets.names == tuple(ITEMS)
    silent = served(logprobs=False)
    with judged(silent) as judge:
        assert judge.answer([[0, 1, 5]]).weights is None
    with judged(server, logprobs=False) as judge:
        assert judge.answer([[0, 1, 5]]).weights is None
    assert "logprobs" not in server.bodies[-1]


def test_answers_make_a_tree(served, truth):
    server = served()
    with judged(server, orders="one") as judge:
        triplets = judge.answer(all_questions())
    tree = ordhc.cluster(triplets)
    known = truth(all_questions()) >= 0
    assert (ordhc.oracles.from_tree(tree)(all_questions()) == truth(all_questions()))[known].all()


def test_learning(served):
    truth = ordhc.as_dendrogram(TREE)
    server = served(accuracy=0.9)
    with judged(server) as judge:
        tree = ordhc.learn(judge, method=ordhc.learners.Robust(p=0.8, noise="persistent", schedule="rounds"))
        assert tree.names == tuple(ITEMS)
        assert max(server.prompts.values()) == 1
    assert ordhc.metrics.triplet_distance(tree, truth) < 0.35
    clean = served()
    with judged(clean) as judge:
        found = ordhc.learn(judge, [f"name {at}" for at in range(14)], method=ordhc.learners.Robust(p=1))
    assert found.names[3] == "name 3"
    assert ordhc.metrics.robinson_foulds(found.replace(names=None), truth) == 0


def test_names(served):
    server = served()
    named = {f"n{at}": text for at, text in enumerate(ITEMS)}
    with judged(server, named) as judge:
        assert judge.names[0] == "n0"
        backwards = ordhc.learn(judge, list(named)[::-1], method=ordhc.learners.Robust(p=1))
        with pytest.raises(InputError, match="no item 'other'"):
            ordhc.learn(judge, [*list(named)[1:], "other"], method=ordhc.learners.Robust(p=1))
    with judged(server) as judge:
        assert (ordhc.learn(judge, ITEMS[::-1], method=ordhc.learners.Robust(p=1)).names) == tuple(
            ITEMS[::-1]
        )
        # Some names are items and some are not: nobody can know what is meant.
        with pytest.raises(InputError, match="no item 'other'"):
            ordhc.learn(judge, [*ITEMS[1:], "other"], method=ordhc.learners.Robust(p=1))
        with pytest.raises(InputError, match="no item 'a'"):
            ordhc.learn(judge, ["a", "b", "c"], method=ordhc.learners.Robust(p=1))
    truth = ordhc.as_dendrogram(TREE).replace(names=list(named))
    assert ordhc.metrics.robinson_foulds(backwards, truth) == 0


def test_items_that_are_the_same(served):
    items = ["one", "one", "two"]
    server = served("((0,2),1);", items)
    with judged(server, items) as judge:
        assert judge.names is None
        assert judge([[0, 1, 2], [2, 0, 1]]).tolist() == [2, 0]


def test_conformance(served):
    server = served()
    spec = next(iter(ordhc_judge.ordhc_oracles()))
    check_oracle(spec, ITEMS[:9], url=server.url, model="model", rpm=None, cache=None)


def test_by_name_in_python(served, tmp_path):
    server = served()
    settings = {"url": server.url, "model": "model", "rpm": None, "cache": str(tmp_path / "c.sqlite")}
    tree = ordhc.learn(ordhc.oracles.named("judge", ITEMS, **settings), method=ordhc.learners.Robust(p=1))
    assert ordhc.metrics.robinson_foulds(tree.replace(names=None), ordhc.as_dendrogram(TREE)) == 0
    with pytest.raises(InputError, match="needs the address"):
        ordhc.learn(ordhc.oracles.named("judge", ITEMS), method=ordhc.learners.Robust(p=1))


def test_within_a_running_loop(served, truth):
    server = served()

    async def notebook():
        with judged(server) as judge:
            at_once = judge([[0, 1, 5]])
            tree = await ordhc.learn_async(judge, method=ordhc.learners.Robust(p=1))
            return at_once, tree

    at_once, tree = asyncio.run(notebook())
    assert at_once[0] == 2
    assert ordhc.metrics.robinson_foulds(tree.replace(names=None), ordhc.as_dendrogram(TREE)) == 0


def test_workers_side_by_side(served, truth):
    server = served()
    questions = SOME
    with judged(server) as judge:
        oracle = ordhc.oracles.workers([judge, judge, judge])
        assert (oracle(questions) == truth(questions)).all()
    assert max(server.prompts.values()) == 1


def test_estimates(served, tmp_path):
    server = served(delay=0.01)
    settings = {"prices": {"input": 2.0, "output": 8.0}, "cache": tmp_path / "c.sqlite"}
    with judged(server, rpm=600, budget={"calls": 100, "tokens": 10_000}, **settings) as judge:
        before = judge.estimate(100)
        assert server.requests == 0
        assert (before.questions, before.calls) == (100, 300)
        assert before.minutes == pytest.approx(300 / 8 / 60)
        assert before.cost == pytest.approx((before.prompt_tokens * 2 + before.completion_tokens * 8) / 1e6)
        assert before.over == ("100 calls", "10,000 tokens")
        assert "exceeds the budget of 100 calls and 10,000 tokens" in str(before)
        assert "the length of the prompts" in str(before)
    with judged(server, **settings) as judge:
        judge(all_questions()[:20])
        after, report = judge.estimate(20), judge.report()
        assert after.tokens == pytest.approx(report.prompt_tokens + report.completion_tokens, rel=0.01)
        assert "60 earlier calls" in after.basis
        assert after.prompt_tokens == pytest.approx(20 * 3 * before.prompt_tokens / 300, rel=0.5)
        assert judge.estimate().questions == round(14 * np.log2(14))
        assert report.cost == pytest.approx(after.cost, rel=0.01)
    with judged(server) as judge:
        assert judge.estimate(1).cost is None
        assert "give prices" in str(judge.estimate(1))


def test_audits(served):
    server = served(accuracy=0.85)
    with judged(server) as judge:
        audit = judge.audit(TREE, 200)
        low, high = audit.accuracy.interval
        assert low < 0.85 < high
        assert audit.accuracy.total == 200
        assert audit.p == round(low, 3)
        assert audit.consistency.value == 1
        assert {share.total for share in audit.by_place.values()} == {200}
        assert sum(share.total for share in audit.by_distance.values()) == 200
        assert list(audit.by_distance) == ["1", "2 to 3"]
        assert min(share.total for share in audit.by_distance.values()) > 50
        document = json.loads(json.dumps(audit.to_dict()))
        assert document["accuracy"]["share"] == audit.accuracy.value
        assert "give a learner" in str(audit)
        # Answers instead of a tree: what most of them say.
        gold = ordhc.Triplets([(0, 1, 5), (1, 0, 5), (0, 1, 5), (0, 5, 1), (3, 4, 9), (3, 9, 4)], names=ITEMS)
        assert judge.audit(gold).accuracy.total == 1
        assert judge.audit([(0, 1, 5), (2, 3, 9)]).accuracy.total == 2
        with pytest.raises(InputError, match="no item"):
            judge.audit(ordhc.Triplets([("a", "b", "c")]))
        with pytest.raises(InputError, match="no answers"):
            judge.audit(ordhc.Triplets(np.zeros((0, 3), int), 3))


def test_progress(served):
    server = served(delay=0.02)
    seen = []
    with judged(server, concurrency=2) as judge:
        judge.answer(all_questions()[:40], progress=seen.append)
    assert seen
    assert seen == sorted(seen)
    assert 0 <= seen[0] < 0.5 < seen[-1] <= 1


BAD = [
    ({"items": []}, "items is empty"),
    ({"items": "cat"}, "cat"),
    ({"items": ["a", " "]}, r"items\[1\] is empty"),
    ({"items": ["a", 7]}, r"items\[1\] is a int"),
    ({"items": ["a", "b" * 30_000]}, "30,000 characters"),
    ({"url": "ftp://x"}, "must be an address"),
    ({"url": 7}, "must be an address"),
    ({"url": "http://me:secret@host/v1"}, "key="),
    ({"url": "http://host/v1?api_key=secret"}, "looks like a key"),
    ({"url": "http://host:99999999/v1"}, "must be an address"),
    ({"model": ""}, "must be the name of a model"),
    ({"key": 7}, "the key is a int"),
    ({"key": "two\nlines"}, "not allowed in HTTP headers"),
    ({"criterion": " "}, "criterion"),
    ({"orders": 4}, "orders = 4"),
    ({"orders": True}, "orders = True"),
    ({"agree": "some"}, "agree"),
    ({"temperature": "hot"}, "temperature"),
    ({"concurrency": 0}, "concurrency = 0"),
    ({"concurrency": 1.5}, "concurrency = 1.5"),
    ({"rpm": -1}, "rpm = -1"),
    ({"rpm": float("nan")}, "rpm = nan"),
    ({"budget": {"calls": -1}}, "budget"),
    ({"budget": {"euros": 1}}, "calls, tokens and cost"),
    ({"budget": 7}, "calls, tokens and cost"),
    ({"cache": 7}, "cache = 7"),
    ({"prices": {"input": 1}}, "prices"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"timeout": -1}, "timeout"),
    ({"retries": -1}, "retries"),
    ({"extra": {"messages": []}}, "extra"),
    ({"headers": 7}, "headers"),
]


@pytest.mark.parametrize(
    ("wrong", "message"), BAD, ids=[f"{next(iter(w))}-{at}" for at, (w, _) in enumerate(BAD)]
)
def test_bad_settings(wrong, message):
    given = {"url": "http://127.0.0.1:9/v1", "model": "m", "items": ["a", "b", "c"], **wrong}
    with pytest.raises((InputError, OSError), match=message) as caught:
        ordhc_judge.Judge(given.pop("url"), given.pop("model"), given.pop("items"), **given)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        ([[0, 1]], r"\(m, 3\)"),
        ([[0, 1, 99]], "outside"),
        ([[0, 1, -1]], "outside"),
        ([[0, 1, 1]], "twice"),
        ([[0.5, 1, 2]], "float"),
        ([["ant thing", "bee thing", "zebra"]], "no item 'zebra'"),
    ],
)
def test_bad_questions(questions, message):
    with ordhc_judge.Judge("http://127.0.0.1:9/v1", "m", ITEMS) as judge:
        with pytest.raises(InputError, match=message):
            judge(questions)
        assert judge(np.zeros((0, 3), int)).shape == (0,)


@pytest.mark.parametrize(
    ("url", "rpm", "limit"),
    [
        ("http://localhost:11434/v1", "auto", None),
        ("http://127.0.0.1:8000/v1", "auto", None),
        ("http://[::1]:8000/v1", "auto", None),
        ("https://api.example.com/v1", "auto", 500),
        ("https://localhost.example.com/v1", "auto", 500),
        ("http://localhost:11434/v1", 60, 60),
        *(("https://api.example.com/v1", none, None) for none in (None, "None", "none", 0)),
    ],
)
def test_requests_a_minute(url, rpm, limit):
    with ordhc_judge.Judge(url, "model", ITEMS, rpm=rpm) as judge:
        assert judge._setup.rpm == limit


def test_an_audit_tells_learners(served):
    server = served()
    with judged(server) as judge:
        assert (judge.p, judge.noise) == (None, "persistent")
        found = judge.audit(ordhc.as_dendrogram(TREE).replace(names=ITEMS), 40)
        assert judge.p == found.p
        tree = ordhc.learn(judge)
    assert ordhc.metrics.robinson_foulds(tree.replace(names=None), ordhc.as_dendrogram(TREE)) == 0


@pytest.mark.parametrize(
    ("gold", "total"),
    [
        ("((cat,dog),(bus,car));", 4),
        ("((cat:1,dog:1):1,(bus:1,car:1):1);", 4),
        # The dog is unlike all others: of cat, dog and bus the clusters leave out the bus, and paths the dog.
        ("((cat:1,dog:9):1,(bus:1,car:1):1);", 2),
    ],
)
def test_audits_ask_what_lengths_do_not_answer_otherwise(gold, total):
    items = ["cat", "dog", "bus", "car"]
    with (
        serve("((0,1),(2,3));", items) as server,
        ordhc_judge.Judge(server.url, "model", items, rpm=None) as judge,
    ):
        audit = judge.audit(gold)
    assert (audit.accuracy.total, audit.accuracy.value) == (total, 1)


@pytest.mark.parametrize("ending", [".nwk", ".tre", ".nexus", ".tre.gz"])
def test_gold_files_with_the_endings_of_trees_are_trees(tmp_path, ending):
    tree = ordhc.Dendrogram([(0, 1), (2, 3)], [1.0, 2.0], names=["cat", "dog", "car"])
    plain = tmp_path / f"gold{ending.removesuffix('.gz')}"
    ordhc.write_tree(tree, plain)
    path = tmp_path / f"gold{ending}"
    if ending.endswith(".gz"):
        path.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_gold(path) == ordhc.read_tree(plain)
