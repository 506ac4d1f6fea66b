"""What is written comes back: any names, weights, answers and people, in every format."""
# ruff: noqa: E501

import csv
import io
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Quadruplets, Triplets
from ordhc.errors import InputError
from support.reply_twins import named

FORMATS = ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.npz"]
ODD = ["#first", " cat ", "a\nb", "a\r\nb", "\r", "1", "2.0", "NA", "", "nan", "-3", '"', '""', ",", "\t", ";", "a\0", "\0",
       "\ufeffx", "\x85", "\u2028", "1e5", "null", "anchor", "'", "été", "e\u0301", "😀", "\x1b[2J", "x" * 2000]  # fmt: skip
TEXT = st.one_of(st.sampled_from(ODD), st.text(max_size=6))


@st.composite
def comparisons(draw):
    width = draw(st.sampled_from([3, 4]))
    n = draw(st.integers(width, 7))
    names = draw(st.none() | st.lists(TEXT, min_size=n, max_size=n, unique=True))
    rows = draw(st.lists(st.permutations(range(n)).map(lambda p: tuple(p[:width])), min_size=1, max_size=6))
    m = len(rows)
    numbers = st.lists(st.integers(0, 2**31 - 1), min_size=m, max_size=m)
    kind = Triplets if width == 3 else Quadruplets
    return kind(
        rows,
        n,
        names,
        draw(st.none() | st.lists(st.floats(0, 1e300), min_size=m, max_size=m)),
        answers=draw(st.none() | numbers),
        groups=draw(st.none() | numbers | st.lists(TEXT, min_size=m, max_size=m)),
    )


def read_back(data, path):
    read = partial(ordhc.read_answers, kind="triplet" if isinstance(data, Triplets) else "pairs")
    options = {"n_leaves": data.n_leaves} if data.names is None else {"names": data.names}
    return read(path, **({} if str(path).endswith("npz") else options))


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=60)
@given(data=comparisons())
@example(data=Triplets([("#first", "b", "c"), ("b", "c", "#first")]))
@example(data=Triplets([("2", "1", "0"), ("1", "0", "2")], names=["2", "1", "0"]))
@example(data=Triplets([(0, 1, 2)], groups=["1"]))
@example(data=Triplets([(0, 1, 2)], groups=["01"], answers=[5]))
def test_what_is_written_is_read(tmp_path_factory, name, data):
    path = tmp_path_factory.mktemp("files") / name
    ordhc.write_comparisons(data, path)
    assert read_back(data, path) == data


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
@settings(deadline=None, max_examples=40)
@given(names=st.lists(TEXT, min_size=3, max_size=3, unique=True))
@pytest.mark.filterwarnings("ignore:.*differ only in:ordhc.errors.OrdhcWarning")
def test_names_are_found_without_a_list(tmp_path_factory, name, names):
    path = tmp_path_factory.mktemp("files") / name
    ordhc.write_comparisons(Triplets([(2, 0, 1), (1, 2, 0)], names=names), path)
    found = ordhc.read_answers(path)
    assert found.names == (names[2], names[0], names[1])
    assert found.rows.tolist() == [[0, 1, 2], [2, 0, 1]]


def test_formats_into_one_another(tmp_path):
    data = Triplets.from_odd_one_out(
        [(2, 0, 1), (0, 1, 3), (3, 1, 2)], names=["7", "b,c", " x", "NA"], groups=["ann", "", "ann"]
    )
    path = tmp_path / "start.npz"
    ordhc.write_comparisons(data, path)
    for name in ["a.csv", "b.parquet", "c.tsv.gz", "d.npz", "e.csv"]:
        found = ordhc.read_answers(path, names=data.names)
        path = tmp_path / name
        ordhc.write_comparisons(found, path)
    assert ordhc.read_answers(path, names=data.names) == data


def test_what_cannot_be_written_is_refused(tmp_path):
    for more in ({"answers": [0]}, {"groups": ["ann"]}, {"weights": [1]}):
        with pytest.raises(InputError, match="npy cannot store"):
            ordhc.write_comparisons(Triplets([(0, 1, 2)], **more), tmp_path / "t.npy")
    for name in ["t.npz.gz", "t.txt", "t"]:
        with pytest.raises(InputError, match="the ending is none of"):
            ordhc.write_comparisons(Triplets([(0, 1, 2)]), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    ordhc.write_comparisons(Triplets([(0, 1, 2)]), tmp_path / "t.npy")
    assert list(ordhc.read_answers(tmp_path / "t.npy")) == [(0, 1, 2)]


@pytest.mark.parametrize(
    "column", ["person", "Participant", "participant_id", "SUBJECT", "worker", "WorkerId", "user", "rater"]
)
def test_people_by_any_of_their_names(tmp_path, column):
    import pyarrow.parquet

    text = f"near,far,anchor,{column},rt,Answer\na,b,c,ann,1,4\nb,a,c,bob,2,4\n"
    table = pyarrow.table({"anchor": ["c", "c"], "near": ["a", "b"], "far": ["b", "a"], column: ["ann", "bob"], "Answer": [4, 4]})  # fmt: skip
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    for source in (io.StringIO(text), tmp_path / "t.parquet"):
        found = ordhc.read_answers(source)
        assert found.group_names == ("ann", "bob")
        assert (found.groups.tolist(), found.answers.tolist()) == ([0, 1], [4, 4])
    found = ordhc.read_answers(io.StringIO(text), person="rt")
    assert (found.groups.tolist(), found.group_names) == ([1, 2], None)
    with pytest.raises(InputError, match="no column 'x'; there are"):
        ordhc.read_answers(io.StringIO(text), person="x")


def test_weights_whatever_their_case(tmp_path):
    import pyarrow.parquet

    for column in ("Weight", "COUNT", "Votes"):
        table = {"Anchor": [0], "NEAR": [1], "far": [2], column: [3]}
        pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "t.parquet")
        text = io.StringIO(f"Anchor,NEAR,far,{column}\n0,1,2,3\n")
        for source in (tmp_path / "t.parquet", text):
            assert ordhc.read_answers(source).weights.tolist() == [3]


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.text("ab \"',;é#", min_size=1, max_size=4).map(lambda s: f"x{s}".strip()),
                 min_size=3, max_size=3, unique=True),
        min_size=1, max_size=8,
    ),
    st.permutations(["anchor", "near", "far"]),
)  # fmt: skip
def test_text_is_read_as_by_a_naive_reader(rows, order):
    text = io.StringIO()
    writer = csv.DictWriter(text, order)
    writer.writeheader()
    writer.writerows(dict(zip(("anchor", "near", "far"), row, strict=True)) for row in rows)
    naive = list(csv.DictReader(io.StringIO(text.getvalue())))
    expected = [tuple(row[key].strip() for key in ("anchor", "near", "far")) for row in naive]
    assert named(ordhc.read_answers(io.StringIO(text.getvalue()))) == expected
