"""The interview of `ordhc learn`: several terminals, what is exported."""

import csv
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import ordhc
from ordhc import oracles
from ordhc.cli import group, interview
from support.random_data import random_tree
from support.sessions import NAMES, ORACLE, answer


def test_ordhc_learn_waits_for_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(interview, "POLL", 0.02)
    Path("items.txt").write_text("cat\ndog\ncar\n")
    with ordhc.Session("a.ordhc", ["cat", "dog", "car"]) as session:
        taken = session.ask(who="bob")
        size = session._contents.log.n

        sleep, polls = time.sleep, []

        def wait(seconds):
            # Bob answers after a while.
            polls.append(seconds)
            if len(polls) == 100:
                session.tell(taken.ids, [0], who="bob")
            sleep(0.001)

        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", wait)
            done = CliRunner().invoke(group, ["learn", "a.ordhc"], input="q\n")
        assert len(polls) >= 100
        assert "waiting for their answers" in done.output
        assert "No questions are left" in done.output
        # Waiting leaves no traces in the file.
        assert session._contents.log.n <= size + 3

    def leave(_):
        raise KeyboardInterrupt

    with ordhc.Session("b.ordhc", ["cat", "dog", "car"]) as session:
        session.ask(who="bob")
        monkeypatch.setattr(time, "sleep", leave)
        done = CliRunner().invoke(group, ["learn", "b.ordhc", "--who", "ann"], input="q\n")
        assert done.exit_code == 0
        assert "All answers are kept" in done.output


@pytest.mark.parametrize("schedule", ["questions", "balanced", "rounds"])
@pytest.mark.parametrize("who", [None, "ann"])
def test_two_terminals_find_the_tree(tmp_path, monkeypatch, schedule, who):
    """One terminal answers all that it is shown, the other one too; nobody leaves before all is known."""
    monkeypatch.setattr(interview, "POLL", 0.02)
    truth = random_tree(12, 1)
    oracle = oracles.from_tree(truth)
    path = tmp_path / "a"
    ordhc.Session(path, n_leaves=12, method=ordhc.learners.Insertion(schedule=schedule)).close()

    troubles, threads = [], []
    asks = {}
    original = interview._asked

    def asked(session, count, name):
        # Terminals are processes of their own: here they are threads, told apart by their sessions.
        if name is None:
            found = session.ask(count, who=f"terminal {id(session)}", fill={}, distinct=False)
        else:
            found = original(session, count, name)
        if len(found):
            asks[threading.get_ident()] = found.rows[0]
        return found

    class Prompt:
        @staticmethod
        def ask(*_, **__):
            return str(int(oracle([asks[threading.get_ident()]])[0]) + 1)

    monkeypatch.setattr(interview, "_asked", asked)
    monkeypatch.setattr("rich.prompt.Prompt", Prompt)

    def sit(name):
        try:
            with ordhc.Session(path) as session:
                interview.interview(session, name)
                assert session.done
        except BaseException as error:
            troubles.append(error)

    for k in range(2):
        threads.append(threading.Thread(target=sit, args=(None if who is None else f"{who} {k}",)))
        threads[-1].start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert troubles == []
    with ordhc.Session(path) as session:
        assert ordhc.metrics.robinson_foulds(session.tree(), truth) == 0
        assert (session.table()["seconds"] >= 0).all()


def test_an_export_says_all_of_an_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["ant", "NA", "cat, big", "dög", "eel", "7", "gnu"]
    with ordhc.Session("a", names, method=ordhc.learners.Insertion(parallel=1), fill="random") as session:
        for who in ("ann", "bob"):
            answer(session, 2, who=who)
        late = session.ask(1, who="ann")
        session.tell(late.ids, [-1], who="ann", seconds=[1.5])
        session.add_answers([[0, 1, 2]], ORACLE([[0, 1, 2]]))
        n, table = session.status.n_answered, session.table()
    done = CliRunner().invoke(group, ["learn", "a", "--export", "a.csv"], input="q\n")
    assert done.exit_code == 0
    with Path("a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {int(row["answer"]) for row in rows} == set(range(n))
    by_number = {int(row["answer"]): row for row in rows}
    for number, row in by_number.items():
        assert row["person_name"] == (table["who"][number] or "")
        assert row["sampler"] == table["sampler"][number]
        assert int(row["position"]) == table["position"][number]
        assert int(row["trial"]) == table["trial"][number]
        assert [row[f"shown_{k}"] for k in (1, 2, 3)] == [
            names[table[f"leaf_{k}"][number]] for k in (1, 2, 3)
        ]
        if row["position"] != "0":
            assert row["far_name"] == row[f"shown_{row['position']}"]
    none = next(row for row in rows if row["position"] == "0" and row["seconds"] == "1.500")
    assert (none["anchor_name"], none["at"][-6:]) == ("", "+00:00")
    with pytest.warns(UserWarning, match="missing leaf"):
        read = ordhc.read_answers("a.csv")
    told = sum(2 for row in by_number.values() if row["position"] != "0")
    # Held out and all, but those that say nothing.
    assert len(read) == told
    assert set(read.names) <= set(names)
    done = CliRunner().invoke(group, ["learn", "a", "--export", "a.parquet"], input="q\n")
    assert len(ordhc.read_answers("a.parquet")) == told
    monkeypatch.chdir(tmp_path)
    with ordhc.Session("p", NAMES, method="single") as session:
        questions = session.ask(1, who="ann")
        session.tell(questions.ids, [-1], who="ann")
    CliRunner().invoke(group, ["learn", "p", "--export", "p.csv"], input="q\n")
    with Path("p.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    shown = [NAMES[leaf] for leaf in questions.rows[0]]
    assert [row[f"{x}_name"] for x in "ijkl"] == [*shown[2:], *shown[:2]]
    assert row["position"] == "2"
