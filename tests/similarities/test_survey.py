"""The first pass over files, in parts by an executor or with `resume`, beside the pass in order."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError
from ordhc.io import survey

NAMES = ["cat", "dog", "emu", "fox", "owl", "7", ""]


@st.composite
def files(draw):
    """Draw the texts of one to six files with the same columns, and with some rows that can't be used."""
    columns = ["anchor", "near", "far"]
    has_weights, has_people, has_ids = (draw(st.booleans()) for _ in range(3))
    columns += ["weight"] * has_weights + ["person"] * has_people
    leaf = st.integers(-1, 40).map(str) if has_ids else st.sampled_from(NAMES)
    cells = [leaf] * 3
    cells += [st.sampled_from(["1", "2", "0.5", "0", "-1", ""])] * has_weights
    cells += [st.sampled_from(["ann", "bob", "12"])] * has_people
    rows = st.lists(st.tuples(*cells), max_size=8)
    return [
        "\n".join(",".join(row) for row in [columns, *draw(rows)]) + "\n"
        for _ in range(draw(st.integers(1, 6)))
    ]


def facts_of(make):
    """Return the facts of a scan and its warnings, or the text of the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = asdict(make().survey)
        except InputError as error:
            return str(error)
    codes = found.pop("codes")
    texts = [str(each.message) for each in caught]
    return found, None if codes is None else (codes[0].tolist(), codes[1]), texts


@settings(max_examples=40, deadline=None)
@given(files(), st.booleans(), st.sampled_from([None, 41, NAMES[:5], ["3", "1", "2"]]))
def test_parts_have_the_facts_of_all_files(tmp_path_factory, texts, skip_bad, leaves):
    tmp_path = tmp_path_factory.mktemp("survey")
    for at, text in enumerate(texts):
        (tmp_path / f"{at}.csv").write_text(text)
    paths = sorted(tmp_path.glob("*.csv"))
    given_leaves = {"n_leaves": leaves} if isinstance(leaves, int) else {"names": leaves}
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as executor:
        patch.setattr(survey, "MIN_SECONDS", 0)

        def facts(**how):
            return facts_of(lambda: ordhc.scan(paths, skip_bad=skip_bad, **given_leaves, **how))

        expected = facts()
        assert facts(executor=executor) == expected
        assert facts(resume=tmp_path / "resume") == expected
        assert facts(resume=tmp_path / "resume", executor=executor) == expected


@pytest.mark.parametrize("second", ["anchor,near,far\ncat,dog,emu\n", "anchor,near,far\n0,y,1\n"])
def test_the_first_mistake_is_reported(tmp_path, monkeypatch, second):
    monkeypatch.setattr(survey, "MIN_SECONDS", 0)
    for at, text in enumerate(["anchor,near,far\n0,1,2\n", second, "anchor,near,far\n0,1,x\n"]):
        (tmp_path / f"{at}.csv").write_text(text)
    with pytest.raises(InputError, match=r"1\.csv") as expected:
        ordhc.similarity(ordhc.scan(tmp_path / "*.csv"))
    for how in ({}, {"resume": tmp_path / "resume"}):
        with ThreadPoolExecutor(2) as executor, pytest.raises(InputError) as caught:
            ordhc.similarity(ordhc.scan(tmp_path / "*.csv", executor=executor, **how))
        assert str(caught.value) == str(expected.value)


def test_many_weights_are_not_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(survey, "MIN_SECONDS", 0)
    monkeypatch.setattr(survey, "MOST_WEIGHTS", 3)
    random = np.random.default_rng(0)
    for at in range(4):
        weights = random.permutation(4)[: 1 + at % 2] + 1.5
        rows = "".join(f"0,1,2,{weight}\n" for weight in weights)
        (tmp_path / f"{at}.csv").write_text("anchor,near,far,weight\n" + rows)
    with ThreadPoolExecutor(2) as executor:
        found = ordhc.scan(tmp_path / "*.csv", executor=executor).survey
    assert found == ordhc.scan(tmp_path / "*.csv").survey
