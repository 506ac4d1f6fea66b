"""What somebody might give for an argument."""

import fractions
import functools
import pathlib
import warnings

import numpy as np
import scipy.sparse
from hypothesis import strategies as st

import ordhc
from ordhc import Quadruplets, Triplets, oracles

T = Triplets([(0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1)], answers=[0, 0, 1, 1], groups=[0, 0, 1, 1])
Q = Quadruplets([(0, 1, 2, 3), (0, 1, 0, 2)])
NEWICK = "((0:1,1:1):2,(2:2,3:2):1);"
TREE = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0])
ORACLE = oracles.from_tree(NEWICK)
ASK = [(0, 1, 2), (1, 2, 3)]
S = [[0, 3, 1, 1], [3, 0, 1, 1], [1, 1, 0, 2], [1, 1, 2, 0]]
X = [[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 2.5]]


class Raises:
    """Raises whatever is done with it."""

    def _fail(self, *_, **__):
        raise ArithmeticError("no\x1b[2J" * 200)

    __array__ = __len__ = __iter__ = __float__ = __index__ = __eq__ = __hash__ = __repr__ = _fail
    __bool__ = __str__ = __fspath__ = __contains__ = __getitem__ = __lt__ = __int__ = __ne__ = _fail


class Number(float):
    """A number of a type of its own."""


class Text(str):
    """Text of a type of its own."""

    __slots__ = ()


#: Arguments that say how much there is to do: what is large and allowed takes its time.
AMOUNTS = {"n_leaves", "n_resamples", "restarts", "n_comparisons", "levels", "leaves_per_cluster"}
AMOUNTS |= {"k", "folds", "m", "repeat", "n_references", "n_landmarks", "n_clusters", "max_components"}
AMOUNTS |= {"names", "chains", "sweeps", "n_vectors", "n_features", "number"}


def misaligned(table):
    raw = np.zeros(table.nbytes + 1, dtype=np.uint8)
    odd = raw[1:].view(table.dtype).reshape(table.shape)
    odd[...] = table
    return odd


ARRAYS = [
    *map(np.array, (T.rows, ASK, S, X, range(4), 3)),
    *map(np.zeros, (6, (0, 3), (2, 2, 2), (4, 0))),
    np.array([1.5, np.nan, np.inf, -1]),
]
TYPES = ["i1", ">i4", "u8", "<f2", ">f8", "g", "c8", "?", "U3", "S3", "O", "M8[s]", "m8[s]"]
WAYS = [
    lambda x: x,
    lambda x: x.tolist(),
    lambda x: x[::-1] if x.ndim else x,
    lambda x: x.T,
    lambda x: misaligned(x) if not x.dtype.hasobject else x,
    lambda x: np.ma.MaskedArray(x, mask=np.arange(x.size).reshape(x.shape) % 3 == 1),
    np.ma.MaskedArray,
    lambda x: (row for row in x.tolist()) if x.ndim else x,
    lambda x: (
        scipy.sparse.csr_array(x) if x.ndim == 2 and x.dtype.isnative and x.dtype.char in "bBhHiIlLfd?" else x
    ),
    lambda x: (
        scipy.sparse.coo_matrix(x) if x.ndim == 2 and x.dtype.isnative and x.dtype.char in "lfdD" else x
    ),
    lambda x: np.broadcast_to(x[:1], x.shape) if x.ndim else x,
    lambda x: x - 2 if x.dtype.kind == "i" else x,
    lambda x: memoryview(x) if x.dtype.char in "bBlfd" else x,
]


def _arrays():
    def made(table, kind, way):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return way(table.astype(kind))

    return st.builds(
        made, st.sampled_from(ARRAYS), st.sampled_from(["i8", "f8", *TYPES]), st.sampled_from(WAYS)
    )


class Made:
    """Gives its value; shown by its place, for not every value can be printed."""

    def __init__(self, place, value):
        self._place, self._value = place, value

    def __call__(self):
        return self._value

    def __repr__(self):
        return f"THINGS[{self._place}]"


# Made anew each time: generators are used up.
THINGS = [
    Made(place, value)
    for place, value in enumerate([
        None, True, False, np.True_, 0, 1, 2, 3, 4, -1, 2**31, 2**63, 2**64, 2**70, -(2**70), 10**5000,
        1.0, 0.5, 2.5,
        1e300, -0.0, np.nan, np.inf, -np.inf, 1j, np.int8(-3), np.uint64(2**64 - 1), np.float16(2),
        np.longdouble(1),
        np.datetime64("NaT"), np.timedelta64(3, "s"), np.timedelta64("NaT", "s"), np.complex64(1),
        np.str_("a"), np.bytes_(b"a"), fractions.Fraction(3, 2),
        Number(2), "",
        "a", "\x1b[2J\x07", "\0", "\ud800", "a" * 1000, Text("a"), b"abc", bytearray(b"abc"), "average",
        "adds3-al",
        "(a,b);", "((0,1),2,3);", "((a\x1b,b),(c", ";", [], (), {}, set(), {1, 2}, {"a": 1}, {"rows": [1]},
        {0: "a"},
        {"anchor": [0], "near": [1], "far": [2]}, [[0, 1, 2], [0, 1]], [[]], [[[]]], [None], [[0, 1, None]],
        [[0, "a", 2]], [["a", "b", "c"]], ["a", "b", "c", "d"], ["a", "a"], ["\x1b"] * 4, [b"a"], [Raises()],
        [Raises()] * 4, [0, np.ma.masked], [[0, 1, 2**64]], [2**70] * 4, [np.nan] * 4, [1e300] * 4,
        np.ma.masked,
        Raises(), object(), type, int, Ellipsis, NotImplemented, range(4), slice(0, 2),
        pathlib.Path("a\x1b.csv"),
        pathlib.Path(), "nowhere/a.csv", "a.nwk", "a.npz", "a.json", "a.gz", T, Q, TREE, NEWICK, S, X,
        ORACLE, len,
        lambda *_, **__: None, lambda *_: np.zeros(3, dtype=complex), lambda *_: [Raises()], lambda *_: "abc",
        np.zeros(2, dtype=[("a", int), ("b", "U2")]), np.zeros((400, 3), dtype=int), np.array([[0, 1, 2]],
        dtype=object),
        scipy.sparse.csr_array((4, 4)), scipy.sparse.csr_array(np.array(S) * 1.5),
        scipy.sparse.csc_array((3, 9)),
        scipy.sparse.csr_array(np.array([[np.nan, 1], [1, 0]])), np.dtype("f8"), np.float32, ordhc, warnings,
    ])
] + [lambda: (x for x in "abc"), lambda: iter([[0, 1, 2]]), lambda: map(int, "12x"), lambda: zip("ab",
        "cd", strict=True)]  # fmt: skip


@functools.cache
def anything():
    return st.one_of(
        st.sampled_from(THINGS).map(lambda make: make()),
        _arrays(),
        st.text("(),:;'[]ab01_.-e \x1b\0é", max_size=12).filter(lambda text: text != "-"),
        st.lists(st.integers(-1, 4), max_size=5),
        st.lists(st.tuples(*[st.integers(-1, 4)] * 3), max_size=4),
    )
