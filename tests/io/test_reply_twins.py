"""Answers from files and frames beside the csv module and plain loops."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.errors import InputError
from support.answers import as_file
from support.reply_twins import COLUMNS, counting, frames, naively, tables, told_by, written

KINDS = list(COLUMNS)


def options(kind, told):
    chosen = ["chosen"] if kind == "ranking" else "chosen"
    return {
        "items": COLUMNS[kind],
        "chosen": chosen,
        "chosen_as": told,
        "person": "subject",
        "exclude": {"check": "failed"},
        "na": ["skip"],
    }


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=30)
@given(data=st.data(), delimiter=st.sampled_from(",;\t|"))
def test_files_are_read_as_the_naive_twin_reads_them(kind, data, delimiter):
    rows, told = data.draw(tables(kind))
    text = written(rows, delimiter)
    expected, gone = naively(text, kind, told, delimiter)
    items_missing = sum(count for reason, count in gone.items() if "item" in reason)
    assume(2 * items_missing <= len(rows) - gone["with check = failed"])
    if not expected:
        with pytest.raises(InputError, match="rows is left"):
            counting(ordhc.read_answers, as_file(text, "a.csv"), kind, **options(kind, told))
        return
    found, counts = counting(
        ordhc.read_answers, as_file(text, "a.csv"), kind, delimiter=delimiter, **options(kind, told)
    )
    assert told_by(found) == expected
    assert counts == dict(gone)
    lines, _ = counting(
        ordhc.read_answers, as_file("\n".join(map(json.dumps, rows)), "a.jsonl"), kind, **options(kind, told)
    )
    assert lines == found
    # Without being told how, the same is read or it is refused.
    guess = {**options(kind, told), "chosen_as": None}
    try:
        guessed, _ = counting(ordhc.read_answers, as_file(text, "a.csv"), kind, delimiter=delimiter, **guess)
    except InputError as error:
        message = str(error)
    else:
        assert guessed == found
        message = "can be read as"
    assert "can be read as" in message


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=8)
@given(data=st.data())
def test_frames_are_read_as_files(kind, data, tmp_path_factory):
    rows, told = data.draw(tables(kind))
    expected, gone = naively(written(rows), kind, told)
    items_missing = sum(count for reason, count in gone.items() if "item" in reason)
    assume(expected and 2 * items_missing <= len(rows) - gone["with check = failed"])
    make = Quadruplets if kind == "pairs" else Triplets
    for name, frame in frames(rows):
        found, counts = counting(make.from_frame, frame, kind=kind, **options(kind, told))
        assert told_by(found) == expected, name
        assert counts == dict(gone), name
        if name == "arrow":
            import pyarrow.parquet

            path = tmp_path_factory.mktemp("parquet") / "a.parquet"
            pyarrow.parquet.write_table(frame, path)
            assert counting(ordhc.read_answers, path, kind, **options(kind, told))[0] == found


@pytest.mark.parametrize("kind", ["odd-one-out", "most-central"])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_both_ways_through_the_readers_agree(kind, data):
    """Columns in the order of their roles are parsed by the crate, all others go through cells."""
    rows, _ = data.draw(tables(kind))
    first = {"odd-one-out": "odd", "most-central": "central"}[kind]
    names = dict(zip(COLUMNS[kind], (first, "a", "b"), strict=True))
    rows = [
        {**{names.get(name, name): cell for name, cell in row.items()}, "check": "passed"} for row in rows
    ]
    text = written(rows)
    try:
        found, counts = counting(ordhc.read_answers, as_file(text, "a.csv"), kind, na=["skip"])
    except InputError as error:
        # An item that wasn't chosen counts as a leaf that is missing; rows without an answer may be many.
        assume("are these the right columns?" not in str(error))
        raise
    other, others = counting(
        ordhc.read_answers, as_file(text, "a.csv"), kind, na=["skip"], exclude={"check": "none"}
    )
    # Of these the crate says only that a leaf is missing.
    assert (other, sum(others.values())) == (found, sum(counts.values()))
    chosen, _ = counting(ordhc.read_answers, as_file(text, "a.csv"), kind, ["a", "b"], first, na=["skip"])
    assert chosen == found


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.sampled_from([1, 2, 3, None]), min_size=4, max_size=4), min_size=1, max_size=8))
def test_ranks_say_who_is_nearer(ranks):
    rows = [
        {
            "ref": "r",
            **dict(zip("wxyz", "abcd", strict=True)),
            **dict(zip(["1", "2", "3", "4"], row, strict=True)),
        }
        for row in ranks
    ]
    expected = []
    for answer, row in enumerate(ranks):
        levels = [9 if rank is None else rank for rank in row]
        said = [
            ("r", "abcd"[near], "abcd"[far], answer)
            for near in range(4)
            for far in range(4)
            if levels[near] < levels[far]
        ]
        expected.append(said)
    asked = {"kind": "ranking", "items": ["ref", *"wxyz"], "ranks": ["1", "2", "3", "4"]}
    if not all(expected):
        with pytest.raises(InputError, match="same rank"):
            Triplets.from_frame(rows, **asked)
        return
    found = Triplets.from_frame(rows, **asked)
    answers = range(len(found)) if found.answers is None else found.answers.tolist()
    told = [
        (*(found.names[leaf] for leaf in row), answer) for row, answer in zip(found, answers, strict=True)
    ]
    assert sorted(told) == sorted(row for said in expected for row in said)
