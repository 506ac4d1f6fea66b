"""Each check of arguments by itself: what it takes and gives, what it refuses and says."""

import fractions
import math
import pathlib

import numpy as np
import pytest

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.io.paths import checked_path
from ordhc.plugins.registry import settings_for


class Fails:
    """Raises whatever it is asked for."""

    def __float__(self):
        raise ArithmeticError

    def __fspath__(self):
        raise ArithmeticError

    def __iter__(self):
        raise ArithmeticError


class RealFails(Fails, fractions.Fraction):
    """A number that has no value."""

    def __float__(self):
        raise ArithmeticError


class NoMemory:
    """Reading it takes more memory than there is."""

    def __iter__(self):
        raise MemoryError

    def __array__(self, dtype=None, copy=None):
        raise MemoryError


def whole(value, at_least=0, **limits):
    return _checks.whole("k", value, at_least=at_least, **limits)


def between(value, **more):
    return _checks.number("p", value, at_least=0, at_most=1, **more)


MASKED = np.ma.MaskedArray([1, 2], mask=[0, 1])
PARAMETERS = {"a": 1, "b": 2}

TAKEN = {
    "whole number": (whole(3), 3),
    "the least": (whole(0), 0),
    "the most": (whole(9, at_most=9), 9),
    "the largest that 64 bits hold": (whole(2**63 - 1), 2**63 - 1),
    "whole float": (whole(3.0), 3),
    "whole number of NumPy": (whole(np.uint8(3)), 3),
    "whole float of NumPy": (whole(np.float32(3)), 3),
    "whole number in an array": (whole(np.array(3)), 3),
    "unsigned number in an array": (whole(np.array(3, dtype="u1")), 3),
    "whole float in an array": (whole(np.array(3.0)), 3),
    "whole fraction": (whole(fractions.Fraction(6, 2)), 3),
    "seed": (_checks.seed(2**64 - 1), 2**64 - 1),
    "seed 0": (_checks.seed(0), 0),
    "number": (between(0.5), 0.5),
    "low end": (between(0), 0.0),
    "high end": (between(1), 1.0),
    "between open ends": (between(0.5, open_ends=True), 0.5),
    "number in an array": (between(np.array(0.5)), 0.5),
    "number without limits": (_checks.number("x", -1e300), -1e300),
    "fraction": (between(fractions.Fraction(1, 4)), 0.25),
    "flag": (_checks.flag("f", False), False),
    "flag of NumPy": (_checks.flag("f", np.True_), True),
    "flag 0": (_checks.flag("f", 0), False),
    "flag 1": (_checks.flag("f", 1), True),
    "choice": (_checks.choice("c", np.str_("a"), ["a", "b"]), "a"),
    "callback": (_checks.callback("c", len), len),
    "no callback": (_checks.callback("c", None), None),
    "path": (checked_path("a.csv"), "a.csv"),
    "path of pathlib": (checked_path(pathlib.Path("a.csv")), "a.csv"),
    "text": (_checks.text("t", np.str_("é")), "é"),
    "list": (_checks.listed("l", (1, 2)), [1, 2]),
    "generator": (_checks.listed("l", (x for x in "ab")), ["a", "b"]),
    "nothing listed": (_checks.listed("l", []), []),
    "words": (_checks.words("w", ("b", np.str_("a"))), ["b", "a"]),
    "settings": (settings_for("m", {"b": 3}, PARAMETERS), {"a": 1, "b": 3}),
    "labels": (_checks.labels("l", [3.0, 1.0], 2), [3, 1]),
    "no labels": (_checks.labels("l", None, 2), None),
    "whole numbers": (_checks.whole_numbers("k", [[1], [2]]), [[1], [2]]),
    "whole floats": (_checks.whole_numbers("k", np.array([1, -(2.0**62)])), [1, -(2**62)]),
    "half floats": (_checks.whole_numbers("k", np.array([7], dtype="f2")), [7]),
    "large unsigned": (_checks.whole_numbers("k", np.array([2**63 - 1], dtype="u8")), [2**63 - 1]),
    "objects": (_checks.whole_numbers("k", np.array([[1, 2.0]], dtype=object)), [[1, 2]]),
    "the least object": (_checks.whole_numbers("k", np.array([-(2**63)], dtype=object)), [-(2**63)]),
    "the largest object": (_checks.whole_numbers("k", np.array([2**63 - 1], "O")), [2**63 - 1]),
    "none of them": (_checks.whole_numbers("k", np.zeros((0, 3), dtype="U1")), []),
    "at least": (_checks.whole_numbers("k", [2, 3], at_least=2), [2, 3]),
    "one number": (_checks.whole_numbers("k", 7), 7),
    "of a shape": (_checks.whole_numbers("k", [7], (1,)), [7]),
    "numbers": (_checks.numbers_of("x", [[1, 2.5]]), [[1.0, 2.5]]),
    "numbers of a shape": (_checks.numbers_of("x", [1, 2], (2,)), [1.0, 2.0]),
    "number objects": (_checks.numbers_of("x", np.array([1, fractions.Fraction(1, 2)], "O")), [1.0, 0.5]),
    "infinity": (_checks.numbers_of("x", [math.inf]), [math.inf]),
    "long infinity": (_checks.numbers_of("x", np.array([np.inf], dtype="g")), [math.inf]),
    "flags as numbers": (_checks.numbers_of("x", [True, False]), [1.0, 0.0]),
    "not masked": (_checks.array("x", np.ma.MaskedArray([1, 2])), [1, 2]),
    "bytes, if they are wanted": (_checks.array("x", [b"a"], also="S"), [b"a"]),
}

REFUSED = {
    "k = 2.5 is not a whole number": lambda: whole(2.5),
    "k = True is not a whole number": lambda: whole(True),
    "k = array(True) is not a whole number": lambda: _checks.whole("k", np.array(True), at_least=0),
    "k = masked_array(data=3": lambda: whole(np.ma.MaskedArray(3)),
    "k = array(3, dtype=object) is not a whole number": lambda: whole(np.array(3, dtype=object)),
    "k = Fraction(100000000000000000001, 100000000000000000000) is not": lambda: whole(
        fractions.Fraction(10**20 + 1, 10**20)
    ),
    "k = a number of 401 digits is above": lambda: whole(10**400),
    "k = '3' is not a whole number": lambda: whole("3"),
    "k = array([3]) is not a whole number": lambda: whole(np.array([3])),
    "k = nan is not a whole number": lambda: whole(math.nan),
    "k = inf is not a whole number": lambda: whole(math.inf),
    "k = -1 is below 0": lambda: whole(-1),
    "k = 10 is above 9": lambda: whole(10, at_most=9),
    f"k = {2**63} is above {2**63 - 1}": lambda: whole(2**63),
    f"seed = {2**64} is above {2**64 - 1}": lambda: _checks.seed(2**64),
    "seed = -1 is below 0": lambda: _checks.seed(-1),
    "p = 1.5 is outside 0..1": lambda: between(1.5),
    "p = -0.5 is outside 0..1": lambda: between(-0.5),
    "p = 0 is outside 0..1 (both excluded)": lambda: between(0, open_ends=True),
    "p = 1 is outside 0..1 (both excluded)": lambda: between(1, open_ends=True),
    "p = nan is not a finite number": lambda: between(math.nan),
    "p = -inf is not a finite number": lambda: between(-math.inf),
    "p = True is not a finite number": lambda: between(True),
    "p = False is not a finite number": lambda: _checks.number("p", np.array(False)),
    "p = masked_array(data=0.5": lambda: between(np.ma.MaskedArray(0.5)),
    "p = '1' is not a finite number": lambda: between("1"),
    "p = array([1.]) is not a finite number": lambda: between(np.array([1.0])),
    "f = 2 is neither True nor False": lambda: _checks.flag("f", 2),
    "f = 1.0 is neither True nor False": lambda: _checks.flag("f", 1.0),
    "f = None is neither True nor False": lambda: _checks.flag("f", None),
    "c is 'x', not one of a, b": lambda: _checks.choice("c", "x", ["a", "b"]),
    "c is 3, not one of a, b": lambda: _checks.choice("c", 3, ["a", "b"]),
    "c is array(['a'], dtype='<U1'), not one of a, b": lambda: _checks.choice(
        "c", np.array(["a"]), ["a", "b"]
    ),
    "c = 3 must be True, False or a callable": lambda: _checks.callback("c", 3),
    "path = b'a' is not a path of a file": lambda: checked_path(b"a"),
    "path = '' is not a path of a file": lambda: checked_path(""),
    "path = 'a\\x00b' is not a path of a file": lambda: checked_path("a\0b"),
    "path = '\\ud800' is not a path of a file": lambda: checked_path("\ud800"),
    "path = 3 is not a path of a file": lambda: checked_path(3),
    "t is 3, not a string": lambda: _checks.text("t", 3),
    "t is '\\ud800', which is not valid Unicode": lambda: _checks.text("t", "\ud800"),
    "l is 'ab'; give a list": lambda: _checks.listed("l", "ab"),
    "l is b'ab'; give a list": lambda: _checks.listed("l", b"ab"),
    "l is bytearray(b'ab'); give a list": lambda: _checks.listed("l", bytearray(b"ab")),
    "l is 3; give a list": lambda: _checks.listed("l", 3),
    "w is 'ab'; give a list of names": lambda: _checks.words("w", "ab"),
    "w is b'ab'; give a list of names": lambda: _checks.words("w", b"ab"),
    "w is []; give a list of names": lambda: _checks.words("w", []),
    "w is 3; give a list of names": lambda: _checks.words("w", 3),
    "w[1] is 3, not a name": lambda: _checks.words("w", ["a", 3]),
    "w[2], 'a', is given twice": lambda: _checks.words("w", ["a", "b", "a"]),
    "the parameters of m are [], not a dict": lambda: settings_for("m", [], PARAMETERS),
    "m has no parameter 'c'; its parameters: a, b": lambda: settings_for("m", {"c": 1}, PARAMETERS),
    "m has no parameter 'c'; its parameters: none": lambda: settings_for("m", {"c": 1}, {}),
    "l has shape (1,); a label for each of 2 leaves is needed": lambda: _checks.labels("l", [1], 2),
    "x[1] is masked; leave out missing values": lambda: _checks.array("x", MASKED),
    "x is masked; leave out missing values": lambda: _checks.array("x", np.ma.masked),
    "x holds complex numbers (complex128): Complex data": lambda: _checks.array("x", [1j]),
    "x holds dates or times (datetime64[s]), not numbers": lambda: _checks.array("x", np.zeros(1, "M8[s]")),
    "x holds dates or times (timedelta64[s]), not numbers": lambda: _checks.array("x", np.zeros(1, "m8[s]")),
    "x holds bytes (|S1), neither numbers nor text": lambda: _checks.array("x", [b"a"]),
    "x holds records (dtype([('a', '<i8')])), not": lambda: _checks.array("x", np.zeros(1, [("a", "<i8")])),
    "x holds records (dtype([('b', '<i8')])), not": lambda: _checks.array(
        "x", np.ma.MaskedArray(np.zeros(1, [("b", "<i8")]), mask=True)
    ),
    "x cannot be read as an array: ": lambda: _checks.array("x", [[1], [1, 2]]),
    "x has shape (1,); (2,) is needed": lambda: _checks.numbers_of("x", [1], (2,)),
    "x must be numbers, not text such as 'a'": lambda: _checks.numbers_of("x", ["a", "b"]),
    "x must be numbers, not text such as ''": lambda: _checks.numbers_of("x", np.zeros(0, "U1")),
    "x[1] is None; x must be numbers": lambda: _checks.numbers_of("x", [1, None]),
    "x[1, 0] is '2'; x must be numbers": lambda: _checks.numbers_of("x", np.array([[1], ["2"]], "O")),
    "x must be numbers: ": lambda: _checks.numbers_of("x", np.array([RealFails(1)], "O")),
    "k has shape (2,); (3,) is needed": lambda: _checks.whole_numbers("k", [1, 2], (3,)),
    "k of type <U1 are not whole numbers": lambda: _checks.whole_numbers("k", ["a"]),
    "k of type bool are not whole numbers": lambda: _checks.whole_numbers("k", [True]),
    "k[1] = 2.5 is not a whole number": lambda: _checks.whole_numbers("k", [1, 2.5]),
    "k[0, 1] = nan is not a whole number": lambda: _checks.whole_numbers("k", [[1, math.nan]]),
    "k[0] = inf is not a whole number": lambda: _checks.whole_numbers("k", [math.inf]),
    "k[0] = 9.223372036854776e+18 is beyond 64 bits": lambda: _checks.whole_numbers("k", [2.0**63]),
    f"k[1] = {2**63} is beyond 64 bits": lambda: _checks.whole_numbers("k", np.array([1, 2**63], "u8")),
    f"k[0] = {2**63} is beyond 64 bits ": lambda: _checks.whole_numbers("k", np.array([2**63], "O")),
    f"k[1] = {-(2**63) - 1} is beyond 64 bits": lambda: _checks.whole_numbers(
        "k", np.array([1, -(2**63) - 1], "O")
    ),
    "k[1] = None is not a whole number": lambda: _checks.whole_numbers("k", [1, None]),
    "k[0, 1] = 1 is below 2": lambda: _checks.whole_numbers("k", [[2, 1]], at_least=2),
}


if np.finfo("g").nmant > 52:
    # Not on every machine is there more than double precision.
    REFUSED["x[1] is "] = lambda: _checks.numbers_of("x", np.array(["1", "1e400"]).astype("g"))
    REFUSED["k[0] = np.longdouble('4503599627370496.25') is no"] = lambda: _checks.whole_numbers(
        "k", np.array([2**52], "g") + np.longdouble(0.25)
    )
if hasattr(np.dtypes, "StringDType"):
    STRINGS = np.array(["b"], dtype=np.dtypes.StringDType())
    REFUSED["x must be numbers, not text such as 'b'"] = lambda: _checks.numbers_of("x", STRINGS)


@pytest.mark.parametrize("what", TAKEN)
def test_what_is_taken(what):
    found, expected = TAKEN[what]
    if isinstance(found, np.ndarray):
        assert found.flags.c_contiguous
        assert found.flags.aligned
        assert found.dtype.isnative
        assert type(found) is np.ndarray
        found = found.tolist()
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    with pytest.raises(InputError) as error:
        REFUSED[text]()
    assert str(error.value).startswith(text.rstrip())


def test_types_of_arrays():
    for values in ([[1, 2]], np.array([[1, 2]], dtype=">i2"), np.array([[1], [2]], dtype="f4").T):
        assert _checks.whole_numbers("k", values).dtype == np.int64
        assert _checks.numbers_of("x", values).dtype == np.float64
    assert _checks.whole_numbers("k", np.zeros((0, 3))).shape == (0, 3)
    assert _checks.whole_numbers("k", np.zeros((0, 3))).dtype == np.int64
    swapped = np.arange(3, dtype=">i4")
    assert _checks.array("x", swapped).dtype == np.dtype("=i4")
    misaligned = np.frombuffer(b"\0" + np.arange(3).tobytes(), dtype=np.int64, offset=1)
    assert not misaligned.flags.aligned
    assert _checks.array("x", misaligned).flags.aligned
    plain = np.arange(3)
    assert _checks.array("x", plain) is plain
    assert type(_checks.array("x", np.arange(4).reshape(2, 2).view(np.matrix))) is np.ndarray


def test_what_fails_is_refused_and_memory_that_is_missing_is_told():
    for check in (
        lambda x: whole(x),
        lambda x: between(x),
        lambda x: checked_path(x),
        lambda x: _checks.listed("l", x),
        lambda x: _checks.words("w", x),
    ):
        with pytest.raises(InputError):
            check(Fails())
    for number in (RealFails(1, 2), 10**400):
        with pytest.raises(InputError, match="not a finite number"):
            between(number)
    with pytest.raises(InputError, match="not a whole number"):
        whole(RealFails(3))
    with pytest.raises(MemoryError):
        _checks.listed("l", NoMemory())
    with pytest.raises(MemoryError):
        _checks.array("x", NoMemory())
