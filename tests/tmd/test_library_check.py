"""Rounding is correct, and wrong functions are detected."""

import ctypes
import math
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import flint
import mpmath
import numpy as np
import pytest

from tmd import library_check as checking
from tmd._libraries.callables import PRECISIONS
from tmd._libraries.judging import judge
from tmd._libraries.oracles import Oracle
from tmd.checker import VALUES
from tmd.functions import NAMES, load_function


def mpmath_sin(x):
    """An independent sine: 60 digits, rounded once."""
    with mpmath.workdps(60):
        return float(mpmath.sin(mpmath.mpf(x)))


def test_a_wrong_function_is_detected():
    libraries = {"all right": mpmath_sin, "one ulp off": lambda x: math.nextafter(mpmath_sin(x), 9)}
    scores = checking.check_libraries("sin", [0.5, 1.0, 1.5], libraries)[2:]
    assert [(s.library, s.tried, len(s.wrong)) for s in scores] == [
        ("all right", 3, 0),
        ("one ulp off", 3, 3),
    ]
    x, returned, y = scores[1].wrong[0]
    assert Fraction(returned) > Fraction(y)
    assert x == 0.5
    assert repr(scores[1]) == "LibraryScore(one ulp off: 3 of 3 wrong)"
    assert scores[1]._repr_html_().count("<tr>") == 4
    assert repr(load_function("sin")) == "Function('sin')"


def round_correctly(f, x, precision=PRECISIONS[53]):
    return judge(Oracle.of_function(f), (x,), precision).values["nearest"]


# ---- libraries of users ------------------------------------------------------------------------

needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or not sys.platform.startswith("linux"),
    reason="a library is compiled by cc",
)
SOURCE = """
#include <math.h>
double cr_exp(double x) { return exp(x) * (1.0 + 0x1p-40); }
float cr_expf(float x) { return 1.0f; }
float expf(float x) { return 2.0f; }
double uses_log(double x) { return log(x); }
"""


@pytest.fixture
def library(tmp_path):
    (tmp_path / "cr.c").write_text(SOURCE)
    path = tmp_path / "libcr.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", path, tmp_path / "cr.c", "-lm"]
    subprocess.run(command, check=True)
    return path


@needs_compiler
def test_a_function_of_another_library_is_not_judged_in_the_name_of_this_one(library):
    """The loader finds `exp` in libm, with which the library is linked."""
    assert ctypes.CDLL(str(library)).exp is not None
    message = r"libcr.so' exports no function 'exp' \(it exports .*cr_exp.*\); name another one"
    with pytest.raises(ValueError, match=message):
        checking.check_libraries("exp", [1.0], [library])


def build(path, source):
    path.with_suffix(".c").write_text(source)
    path.unlink(missing_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, path.with_suffix(".c")], check=True)


@needs_compiler
@pytest.mark.parametrize(
    ("source", "wrong"),
    [("./libm.so.6", 2), ("../here/libm.so.6", 2), (Path("libm.so.6"), 2), ("libc.so.6", None)],
)
def test_a_path_is_the_file_and_not_a_library_of_the_system(tmp_path, monkeypatch, source, wrong):
    """The loader searches the system for a name without a slash, whatever is in this folder."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    build(here / "libm.so.6", "double exp(double x) { return 42; }")
    if wrong is None:
        build(here / source, "double exp(double x) { return 42; }")
        with pytest.raises(ValueError, match=r"name of a file in this folder.*write './libc.so.6'"):
            checking.check_libraries("exp", [0.0, 1.0], [source])
    else:
        (score,) = checking.check_libraries("exp", [0.0, 1.0], [source])[2:]
        assert len(score.wrong) == wrong


@needs_compiler
def test_a_library_that_was_built_again_is_not_judged_by_its_old_code(tmp_path):
    path = tmp_path / "libf.so"
    path.write_text("not yet a library")
    with pytest.raises(ValueError, match="cannot be loaded"):
        checking.check_libraries("exp", [1.0], [path])
    build(path, "double exp(double x) { return 42; }")
    assert checking.check_libraries("exp", [1.0], [path])[2].wrong
    build(path, "double exp(double x) { return 2.7182818284590451; }")
    with pytest.raises(ValueError, match="has changed since this process loaded it"):
        checking.check_libraries("exp", [1.0], [path])


@needs_compiler
def test_a_symbol_is_chosen(library):
    (score,) = checking.check_libraries("exp", [1.5], [library], symbol="cr_exp")[2:]
    assert (score.library, len(score.wrong)) == (str(library), 1)
    ((_, returned, correct),) = score.wrong
    assert correct == 4.4816890703380645
    assert returned == pytest.approx(correct * (1 + 2.0**-40), rel=1e-15)


@needs_compiler
def test_functions_of_binary32_have_names_with_f(library):
    scores = checking.check_libraries("exp", [0.0, 1.5], [library, "libm.so.6"], precision=24)
    assert [s.library.split()[0] for s in scores] == ["NumPy", str(library), "libm.so.6"]
    assert [len(s.wrong) for s in scores] == [0, 2, 0]
    assert scores[1].wrong[1] == (1.5, 2.0, float(np.float32(4.4816890703380645)))


@pytest.mark.parametrize("name", NAMES)
def test_rounding_to_binary32_is_that_of_60_digits(name):
    """The function is written anew in `function_values`."""
    rng = np.random.default_rng(3)
    f = load_function(name)
    for x in rng.uniform(0.01, 3.0, 50).astype(np.float32).tolist():
        if not f.is_defined_between(Fraction(x), Fraction(x)):
            continue
        with flint.ctx.workprec(200):
            exact = Fraction(VALUES[name](flint.arb(x)).mid().str(50, radius=False))
        neighbours = [np.float32(float(exact))]
        neighbours += [np.nextafter(neighbours[0], np.float32(s)) for s in (-9e9, 9e9)]
        nearest = min(neighbours, key=lambda v: abs(Fraction(float(v)) - exact))
        assert round_correctly(f, x, PRECISIONS[24]) == nearest


def test_callables_ufuncs_and_ctypes_functions_are_libraries():
    """Those with equal names have a score each."""
    typed = ctypes.CDLL(None).labs
    typed.restype, typed.argtypes = ctypes.c_double, [ctypes.c_double]
    bad, good, ours = (lambda x: 42.0), (lambda x: 1.0), "Python's math"
    for sources, expected in (
        ({"mine": np.float64, "ufunc": np.exp}, [("mine", 1), ("ufunc", 0)]),
        ([np.exp2], [("exp2", 0)]),
        ([bad, good, bad], [("<lambda>", 1), ("<lambda> (2)", 0), ("<lambda> (3)", 1)]),
        ({ours: bad, 1: bad, "1": good}, [(f"{ours} (2)", 1), ("1", 1), ("1 (2)", 0)]),
    ):
        scores = checking.check_libraries("exp", [0.0], sources)
        assert [(s.library, len(s.wrong)) for s in scores[2:]] == expected
    assert checking.check_libraries("exp", [0.0], {"c": typed})[2].library == "c"


@pytest.mark.parametrize(
    ("x", "precision"),
    [(Fraction(1, 3), 53), (np.int64(2**53 + 1), 53), (2**24 + 1, 24), (1e39, 24)],
)
def test_arguments_that_the_precision_does_not_have_are_refused(x, precision):
    number = f"binary{precision // 24 * 32}"
    with pytest.raises(ValueError, match=f"arguments must be numbers of {number}"):
        checking.check_libraries("log2", [x], precision=precision)


def test_exact_arguments_of_any_type_are_taken():
    xs = [Fraction(3, 8), 3, np.float32(0.5), np.int64(2**53 + 2), np.longdouble(0.25)]
    assert [s.tried for s in checking.check_libraries("log2", xs)] == [5, 5]


def test_overflow_underflow_and_ties():
    exp, exp2, binary32 = load_function("exp"), load_function("exp2"), PRECISIONS[24]
    for value, expected in (
        (round_correctly(exp, 710.0), math.inf),
        (round_correctly(exp, -800.0), 0.0),
        (round_correctly(exp2, -1075.0), 0.0),  # halfway to the smallest number: to even
        (round_correctly(exp2, -1074.0), 5e-324),
        (round_correctly(exp2, 128.0, binary32), math.inf),
        (round_correctly(exp2, -149.0, binary32), 2.0**-149),
        (round_correctly(exp2, -150.0, binary32), 0.0),
    ):
        assert value == expected
    for score in checking.check_libraries("exp", [710.0, -800.0, 0.0]):
        assert not score.wrong
