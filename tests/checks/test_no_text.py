"""Text that is no Unicode (half an emoji, code points of damaged arrays) is refused where it comes in."""

import io
import json

import numpy as np
import pytest

import ordhc
from ordhc.errors import InputError
from support.processes import run

HALF = "ca\ud83dt"


def damaged():
    """A name that NumPy makes of an array with a damaged byte: no Python str may hold it."""
    array = np.array(["cat", "b"])
    array.view(np.uint32)[0] = 0x3A000063
    return array.tolist()[0]


BAD = {"half an emoji": HALF, "beyond Unicode": damaged()}
D = ordhc.Dendrogram([(0, 1), (3, 2)], [1.0, 2.0])
ROWS = [(0, 1, 2), (1, 0, 2)]


def named(name):
    return [name, "b", "c"]


def frame(name):
    return {"anchor": [name, "b"], "near": ["b", name], "far": ["c", "c"]}


DOORS = {
    "names of triplets": lambda name, _: ordhc.Triplets(ROWS, names=named(name)),
    "rows": lambda name, _: ordhc.Triplets([tuple(named(name))]),
    "rows of an array": lambda name, _: ordhc.Triplets(np.array([named(name)], dtype=object)),
    "rows of a frame": lambda name, _: ordhc.Triplets(frame(name)),
    "odd one out": lambda name, _: ordhc.Triplets.from_odd_one_out([tuple(named(name))]),
    "ranking": lambda name, _: ordhc.Triplets.from_ranking([tuple(named(name))], 1),
    "responses": lambda name, _: ordhc.Triplets.from_responses([tuple(named(name))], [1]),
    "quadruplets": lambda name, _: ordhc.Quadruplets([(*named(name), "d")]),
    "frame": lambda name, _: ordhc.Triplets.from_frame(frame(name)),
    "names of a frame": lambda name, _: ordhc.Triplets.from_frame(frame("x"), names=[name, "x", "b", "c"]),
    "people of a frame": lambda name, _: ordhc.Triplets.from_frame(frame("x") | {"person": [name, "y"]}),
    "groups": lambda name, _: ordhc.Triplets(ROWS, groups=[name, "b"]),
    "group names": lambda name, _: ordhc.Triplets(ROWS, groups=[0, 1], group_names=[name, "b"]),
    "estimator": lambda name, _: ordhc.OrdinalClustering().fit([tuple(named(name))]),
    "tree": lambda name, _: ordhc.Dendrogram([(0, 1), (3, 2)], [1.0, 2.0], names=named(name)),
    "replace names": lambda name, _: D.replace(names=named(name)),
    "replace node_names": lambda name, _: D.replace(node_names=[name, None]),
    "node names": lambda name, _: ordhc.Dendrogram([(0, 1), (3, 2)], [1.0, 2.0], node_names=[None, name]),
    "Z": lambda name, _: ordhc.Dendrogram.from_linkage_matrix(D.to_linkage_matrix(), names=named(name)),
    "dict": lambda name, _: ordhc.as_dendrogram(D.to_dict() | {"names": named(name)}),
    "settings": lambda name, _: ordhc.as_dendrogram(D.to_dict() | {"settings": {"method": name}}),
    "as_dendrogram": lambda name, _: ordhc.as_dendrogram(D, names=named(name)),
    "newick": lambda name, _: ordhc.Dendrogram.from_newick(f"(({name},b),c);"),
    "newick names": lambda name, _: ordhc.Dendrogram.from_newick("((a,b),c);", names=["a", "b", name]),
    "session": lambda name, path: ordhc.Session(path / "s.ordhc", named(name)),
    "learner": lambda name, _: ordhc.Learner(named(name)),
    "learn": lambda name, _: ordhc.learn(lambda *_: 0, named(name)),
    "person": lambda name, _: ordhc.oracles.person(named(name)),
    "read names": lambda name, _: ordhc.read_answers(io.StringIO("0,1,2\n"), names=named(name)),
    "scan": lambda name, path: ordhc.scan(saved(path / "a.csv", "0,1,2\n"), names=named(name)),
    "json answers": lambda name, path: ordhc.read_answers(
        saved(path / "a.json", json.dumps([{"anchor": name, "near": "b", "far": "c"}]))
    ),
    "json tree": lambda name, path: ordhc.read_tree(
        saved(path / "t.json", json.dumps(D.to_dict() | {"names": named(name)}))
    ),
    "npz": lambda name, path: ordhc.read_answers(npz(path, rows=ROWS, names=np.array(named(name)))),
    "npz rows": lambda name, path: ordhc.read_answers(npz(path, rows=np.array([named(name)]))),
    "npz people": lambda name, path: ordhc.read_answers(
        npz(path, rows=ROWS, groups=[0, 1], group_names=np.array([name, "b"]))
    ),
}
#: JSON and arrays hold halves of characters; what is beyond Unicode comes in memory and as arrays only.
ONLY_HALF = ("json answers", "json tree")


def saved(path, text):
    path.write_text(text)
    return path


def npz(path, **arrays):
    np.savez(path / "a.npz", **arrays)
    return path / "a.npz"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_text_is_refused(tmp_path, door, bad):
    if door in ONLY_HALF and bad != "half an emoji":
        bad = "half an emoji"
    with pytest.raises(InputError, match="not valid Unicode|the last of Unicode|surrogate") as found:
        DOORS[door](BAD[bad], tmp_path)
    str(found.value).encode().decode()


def test_a_damaged_byte_in_an_npz(tmp_path, capsys):
    """NumPy makes no str of it that anything can write."""
    path = npz(tmp_path, rows=ROWS, names=np.array(["cat", "b", "c"]))
    np.savez(path, rows=ROWS, names=np.array(named(damaged())))
    code, out, err = run(capsys, "cluster", str(path), "-o", str(tmp_path / "o.nwk"))
    assert (code, out) == (2, "")
    assert "names has a character beyond U+10FFFF, the last of Unicode" in err
    np.savez(path, rows=ROWS, names_utf8=np.array([200, 65, 66], dtype=np.uint8), names_ends=[1, 2, 3])
    with pytest.raises(InputError, match="names_utf8 is not UTF-8 text"):
        ordhc.read_answers(path)


@pytest.mark.parametrize("text", ["😀", "e\u0301", "\U0010ffff", "\ue000", "苹果", "\ufffd"])
def test_text_is_taken(tmp_path, text):
    for door in (
        "names of triplets",
        "rows",
        "frame",
        "groups",
        "tree",
        "replace node_names",
        "json tree",
        "npz",
    ):
        DOORS[door](text, tmp_path)


def test_arrays_with_damaged_characters_are_refused(tmp_path):
    array = np.array(["a", "b", "c"], dtype="<U3")
    array.view(np.uint32)[0] = 0x3A000063
    np.savez(tmp_path / "names.npz", rows=ROWS, names=array)
    np.savez(tmp_path / "groups.npz", rows=ROWS, groups=[0, 0], group_names=array[:1])
    np.save(tmp_path / "rows.npy", array.reshape(1, 3))
    calls = [
        *(lambda path=path: ordhc.read_answers(path) for path in sorted(tmp_path.iterdir())),
        lambda: ordhc.Triplets(array.reshape(1, 3)),
        lambda: ordhc.Triplets(array.reshape(1, 3).astype(">U3")),
        lambda: ordhc.Triplets(ROWS, names=array),
        lambda: ordhc.Triplets(ROWS, groups=array[:2]),
        lambda: ordhc.Learner(array),
        lambda: D.replace(names=array),
        lambda: ordhc.as_dendrogram(array),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"has a character beyond U\+10FFFF, the last of Unicode"):
            call()


@pytest.mark.parametrize("codes", [[0, 1, 2], [0, -1, 0], [7, 0, None]])
def test_codes_of_parquet_without_text_are_refused(codes):
    pyarrow = pytest.importorskip("pyarrow")
    from ordhc.io.coded import of_arrow

    indices = pyarrow.array(codes, type=pyarrow.int32())
    coded = pyarrow.DictionaryArray.from_arrays(indices, ["cat", "dog"], safe=False)
    with pytest.raises(
        InputError,
        match=r"x\.parquet: the file is damaged: a row has the code \S+, but the dictionary has 2 texts",
    ):
        of_arrow(pyarrow.chunked_array([coded]), "x.parquet")
    fine = pyarrow.DictionaryArray.from_arrays([0, None, 1], ["cat", "dog"])
    assert of_arrow(pyarrow.chunked_array([fine]), "x.parquet").tolist() == ["cat", None, "dog"]
