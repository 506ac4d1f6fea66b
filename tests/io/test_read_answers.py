"""Answers from files as people and tools write them: columns by name, what is left out, what is refused."""

import io
from pathlib import Path

import pytest

import ordhc
from ordhc import Quadruplets, Triplets, read_answers
from ordhc.errors import InputError, OrdhcWarning, SkippedRowsWarning
from support.answers import as_file, persons
from support.reply_twins import STUDY, THREE, counting, named


def test_what_is_left_out_is_counted_with_the_first_line():
    with pytest.warns(SkippedRowsWarning) as warned:
        t = read_answers(io.StringIO(STUDY), **THREE, na=["skip"], exclude={"check": "failed"})
    assert named(t) == [
        ("cat", "dog", "car"),
        ("dog", "cat", "car"),
        ("dog", "cat", "#1"),
        ("cat", "dog", "#1"),
    ]
    assert persons(t) == ["ann"] * 4
    message = str(warned[0].message)
    assert (
        "4 of 6 rows are left out: 1 with check = failed (line 3), 1 with `NA` for an item (line 4)"
        in message
    )
    assert "1 without an item (line 5), 1 with `skip` for an answer (line 6)" in message
    assert [line for line, _ in warned[0].message.rows] == [3, 4, 5, 6]
    assert Path(warned[0].filename) == Path(__file__)


def test_na_is_an_item_only_if_said_so():
    text = "left,middle,right,odd\nNA,cow,dog,cow\ncat,dog,cow,dog\nbus,cat,dog,cat\n"
    t, counts = counting(read_answers, io.StringIO(text), **THREE)
    assert (len(t), counts) == (4, {"with `NA` for an item": 1})
    # More words don't make it one; an empty list does, and so does the list of names.
    assert counting(read_answers, io.StringIO(text), **THREE, na=["skip"])[1] == counts
    for said in ({"na": []}, {"names": ["NA", "cow", "dog", "cat", "bus"]}):
        t, counts = counting(read_answers, io.StringIO(text), **THREE, **said)
        assert (len(t), counts, "NA" in t.names) == (6, {}, True)
    frame = {"left": ["NA", "cat"], "middle": ["cow", "dog"], "right": ["dog", "cow"], "odd": ["cow", "dog"]}
    assert counting(Triplets.from_frame, frame, **THREE)[1] == {"with `NA` for an item": 1}


@pytest.mark.parametrize(
    ("kind", "text", "options", "expected"),
    [
        (
            "most-central",
            "a,b,c,pick\ncat,car,dog,b\nbus,cow,car,a\n",
            {"chosen": "pick"},
            ("cat", "car", "dog"),
        ),
        (
            "odd-one-out",
            "a,b,c,pick\ncat,car,dog,3\nbus,cow,car,1\n",
            {"chosen": "pick"},
            ("cat", "car", "dog"),
        ),
        (
            "odd-one-out",
            "a,b,c,pick\ncat,car,dog,0\nbus,cow,car,2\n",
            {"chosen": "pick"},
            ("car", "dog", "cat"),
        ),
        (
            "odd-one-out",
            "odd,n1,n2\ncat,car,dog\n",
            {"items": ["n2", "n1"], "chosen": "odd"},
            ("dog", "car", "cat"),
        ),
        (
            "odd-one-out",
            "odd,a,b\ncat,car,dog\ndog,cat,car\n",
            {"items": ["odd", "a", "b"], "chosen": "odd"},
            ("car", "dog", "cat"),
        ),
        (
            "triplet",
            "anchor,a,b,response\ncat,car,dog,-1\nbus,cow,car,1\n",
            {"chosen": "response"},
            ("cat", "dog", "car"),
        ),
        (
            "triplet",
            "head,left,right,key\ncat,car,dog,j\nbus,cow,car,f\n",
            {"chosen": "key", "chosen_as": {"f": "left", "j": "right"}},
            ("cat", "dog", "car"),
        ),
        (
            "pairs",
            "w,x,y,z,which\ncat,dog,cat,car,2\nbus,car,cow,dog,1\n",
            {"items": ["w", "x", "y", "z"], "chosen": "which"},
            ("cat", "car", "cat", "dog"),
        ),
        (
            "pairs",
            "w,x,y,z,which\ncat,dog,cat,car,car\nbus,car,cow,dog,bus\n",
            {"items": ["w", "x", "y", "z"], "chosen": "which"},
            ("cat", "car", "cat", "dog"),
        ),
        (
            "ranking",
            "ref,x,y,z,best,second\ncat,dog,bus,car,car,dog\n",
            {"items": ["ref", "x", "y", "z"], "chosen": ["best", "second"]},
            ("cat", "car", "dog"),
        ),
        ("triplet", "far,near,anchor,rt\ncat,dog,bus,3\n", {}, ("bus", "dog", "cat")),
        (
            "triplet",
            "anchor,further,closer\ncat,dog,bus\n",
            {"items": ["anchor", "closer", "further"]},
            ("cat", "bus", "dog"),
        ),
        (
            "triplet",
            'target,shown,which\ncat,"[""car"",""dog""]",2\nbus,"[""cat"",""dog""]",1\n',
            {"items": ["target", "shown"], "chosen": "which", "chosen_as": "place"},
            ("cat", "dog", "car"),
        ),
    ],
)
def test_columns_by_name(kind, text, options, expected):
    found = read_answers(io.StringIO(text), kind, **options)
    assert isinstance(found, Quadruplets if kind == "pairs" else Triplets)
    assert named(found)[0] == expected


def test_ids_names_and_weights():
    text = "count,odd,a,b,worker\n3,2,0,1,7\n1,0,4,2,8\n"
    t = read_answers(io.StringIO(text), "odd-one-out", ["odd", "a", "b"], "odd", n_leaves=6)
    assert (list(t)[:2], t.n_leaves, t.weights.tolist()) == ([(0, 1, 2), (1, 0, 2)], 6, [3, 3, 1, 1])
    assert (t.groups.tolist(), t.group_names) == ([7, 7, 8, 8], None)
    with pytest.warns(SkippedRowsWarning, match="1 with a = 4"):
        by_place = read_answers(io.StringIO(text), "odd-one-out", [2, 3], 1, n_leaves=6, exclude={"a": 4})
    assert list(by_place) == list(t)[:2]
    names = [f"leaf {at}" for at in range(5)]
    assert named(read_answers(io.StringIO(text), "odd-one-out", names=names))[0] == (
        "leaf 0",
        "leaf 1",
        "leaf 2",
    )


REFUSED = [
    (
        "a,b,c,pick\ncat,car,dog,1\nbus,cow,car,2\n",
        {"chosen": "pick"},
        ":2: '1' in column 'pick' can be read as",
    ),
    ("a,b,c,pick\n0,1,2,1\n2,1,3,2\n", {"chosen": "pick"}, "pass chosen_as='name' or chosen_as='place'"),
    (
        "a,b,c,pick\ncat,car,dog,car\nbus,cow,car,pig\n",
        {"chosen": "pick"},
        ":3: column 'pick' has 'pig', which",
    ),
    ("a,b,c,pick\ncat,car,cat,car\n", {"chosen": "pick"}, ":2: leaf 'cat' occurs twice"),
    (
        "a,b,c,pick\ncat,car,dog,car\n",
        {"chosen": "pik"},
        "no column 'pik' (chosen); there are a, b, c, pick; near",
    ),
    ("a,b,c,pick\ncat,car,dog,car\n", {"items": ["a", "b", "c"]}, "pass the column that holds the choice"),
    ("a,b,c,pick\ncat,car,dog,car\n", {"items": ["a", "b"]}, "pass the column that holds the choice"),
    (
        "a,b,a,pick\ncat,car,dog,car\n",
        {"items": ["a", "b", "c"], "chosen": "pick"},
        "there are 2 columns 'a'",
    ),
    (
        "w,x,y,pick\ncat,car,dog,car\n",
        {"chosen": "pick"},
        "name the columns of odd-one-out answers: items=[",
    ),
    ("a,b,c,pick\n1,2,0,1\n1,2,x,1\n", {"chosen": "pick", "chosen_as": "name"}, ":3: 'x' is not an id"),
    (
        "a,b,c,pick\nNA,car,dog,car\n,cow,pig,cow\nx,y,z,x\n",
        {"chosen": "pick"},
        "are these the right columns?",
    ),
    (
        "a,b,c,pick,who,user\ncat,car,dog,car,1,2\nx,y,z,x,1,3\n",
        {"chosen": "pick"},
        "may both name the person",
    ),
    ("a,b,c,pick,n,count\ncat,car,dog,car,1,2\n", {"chosen": "pick"}, "may both be the weights"),
    (
        "a,b,c,pick,n\ncat,car,dog,car,many\n",
        {"chosen": "pick"},
        "column 'n' has 'many'; weights must be finite",
    ),
    (
        "a,b,c,pick\ncat,car,dog,car\n",
        {"chosen": "pick", "chosen_as": "key"},
        "chosen_as is 'key', not one of",
    ),
    (
        "a,b,c,pick\ncat,car,dog,f\n",
        {"chosen": "pick", "chosen_as": {"f": "left"}},
        "none of the columns a, b, c",
    ),
    ("a,b,c,pick\ncat,car,dog\n", {"chosen": "pick"}, ":2: 3 columns instead of 4"),
    ("a,b,c,pick\n", {"chosen": "pick"}, "there is a header but no rows"),
]


@pytest.mark.parametrize(("text", "options", "part"), REFUSED, ids=[part for *_, part in REFUSED])
def test_what_cannot_be_told_is_refused(text, options, part):
    with pytest.raises(InputError) as error:
        read_answers(as_file(text), "odd-one-out", **options)
    assert part in str(error.value)


def test_bad_rows_are_left_out_if_asked():
    text = "a,b,c,pick\ncat,car,dog,car\nbus,cow,car,pig\ncat,cat,dog,dog\ncat,dog\na,b,c,pick\n"
    t, counts = counting(read_answers, io.StringIO(text), "odd-one-out", chosen="pick", skip_bad=True)
    assert len(t) == 2
    assert counts == {
        "of another number of columns than 4": 1,
        "that repeat the header": 1,
        "that cannot be used": 2,
    }


def test_a_condition_is_no_person():
    text = "group,Participant ID,a,b,c,odd\ncontrol,p1,cat,dog,cow,cow\ncontrol,p2,cat,dog,pig,pig\n"
    t = read_answers(io.StringIO(text), "odd-one-out", ["a", "b", "c"], "odd")
    assert persons(t) == ["p1", "p1", "p2", "p2"]
    with pytest.raises(InputError, match="exclude is the column 'group': add the values to exclude"):
        read_answers(io.StringIO(text), "odd-one-out", ["a", "b", "c"], "odd", exclude="group")


def test_excluding_what_is_not_there_is_told():
    rows = STUDY.splitlines()
    fine = io.StringIO("\n".join([*rows[:3], rows[-1]]))
    with pytest.warns(OrdhcWarning, match="no row has 'Failed' in column 'check', only 'failed', 'ok'"):
        read_answers(fine, **THREE, exclude={"check": "Failed"})
    t, counts = counting(read_answers, io.StringIO(STUDY), **THREE, na=["skip"], exclude=["bob"])
    assert counts["with subject = bob"] == 2
    assert set(persons(t)) == {"ann"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_both_parsers_find_the_same_delimiter(delimiter):
    rows = ["anchor,near,far,rt", "cat,dog,car,812.5", 'dog,"cat",car,90', "car,dog,cat,1"]
    text = "\n".join(row.replace(",", delimiter) for row in rows)
    whole = ordhc.read_answers(io.StringIO(text))
    with pytest.warns(OrdhcWarning, match="no row has"):
        assert read_answers(io.StringIO(text), exclude={"rt": "0"}) == whole


def test_a_first_row_that_may_be_leaves_is_no_header():
    text = "cat dog cow {}\npig cow cat {}\n"
    for read, args in [(read_answers, ("odd-one-out", [0, 1, 2], 3)), (read_answers, ("triplet", [0, 1, 2]))]:
        rows = text.format("dog", "pig")
        with pytest.raises(InputError, match=r"the stream:1: the first row \(.*\) may be a header or leaves"):
            read(io.StringIO(rows), *args)
        assert "dog" in read(io.StringIO(rows), *args, header=False).names
        assert read(io.StringIO("i1 i2 i3 said\n" + rows), *args) == read(
            io.StringIO(rows), *args, header=False
        )


def test_options_that_there_are_not_are_errors_of_the_call():
    for call in (read_answers, ordhc.scan, Triplets.from_frame):
        with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'persn'.*person"):
            call("a.csv", persn="who")
    with pytest.raises(TypeError, match=r"from_frame\(\) got an unexpected keyword argument 'delimiter'"):
        Triplets.from_frame({"a": [1]}, delimiter=",")


@pytest.mark.parametrize("ending", [".tsv", ".TSV", ".tsv.gz"])
def test_a_name_that_ends_in_tsv_means_tabs(tmp_path, ending):
    import gzip

    text = "anchor\tnear\tfar\nred, blue\tgreen, grey\tpink, rose\n"
    path = tmp_path / f"a{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    expected = ("red, blue", "green, grey", "pink, rose")
    assert read_answers(path).names == expected
    assert ordhc.scan(path).names == expected
    assert ordhc.io.read_column(path, "near").tolist() == ["green, grey"]
    assert ordhc.io.read_names(path, "near") == ("green, grey",)
    comma = tmp_path / "b.tsv"
    comma.write_text("anchor,near,far\na,b,c\n")
    assert read_answers(comma, delimiter=",").names == ("a", "b", "c")
