"""Libraries under all rounding modes, with flags, and functions of users and of two arguments."""

import ctypes
import importlib
import json
import math
import platform
import sys
import threading
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

import tmd
from tmd.__main__ import main
from tmd._libraries.callables import BINARY64, PRECISIONS
from tmd._libraries.environment import Environment
from tmd._libraries.judging import judge
from tmd._libraries.oracles import find_oracle
from tmd.library_check import read_arguments

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64") or not sys.platform.startswith("linux"),
    reason="fenv.h of Linux",
)
MODES = ("nearest", "up", "down", "zero")


def round_by_mpmath(name, x, mode):
    """Return the value in 60 digits, rounded by comparison with its neighbours."""
    with mpmath.workdps(60):
        exact = Fraction(*map(int, mpmath.mpf(getattr(mpmath, name)(x)).as_integer_ratio()))
    near = float(exact)
    below = near if Fraction(near) <= exact else math.nextafter(near, -math.inf)
    above = near if Fraction(near) >= exact else math.nextafter(near, math.inf)
    return {"nearest": near, "up": above, "down": below, "zero": below if near > 0 else above}[mode]


@pytest.mark.parametrize("name", ["cos", "exp"])
def test_errors_of_the_c_library_by_mode_and_kind_are_those_of_mpmath(name):
    cases = tmd.search(name, (1, "0x1.00001p+0"), bits=26, device="cpu").cases
    kinds = {case.argument: case.kind for case in cases}
    scores = tmd.check_libraries(name, list(kinds), {"c": "libm.so.6"}, modes="all")
    scores = [score for score in scores if score.library == "c"]
    assert [score.mode for score in scores] == [*MODES]
    function, environment = getattr(ctypes.CDLL("libm.so.6"), name), Environment()
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    for score in scores:
        returned = {x: environment.call(function, (x,), score.mode)[0] for x in kinds}
        wrong = [x for x in kinds if returned[x] != round_by_mpmath(name, x, score.mode)]
        assert [x for x, _, _ in score.wrong] == wrong
        for kind in "FM":
            tried = [x for x in kinds if kinds[x] == kind]
            assert score.kinds[kind] == (len([x for x in wrong if kinds[x] == kind]), len(tried))
    directed = [score for score in scores if score.mode != "nearest"]
    assert all(score.kinds["F"][0] > score.kinds["M"][0] for score in directed)


def test_the_mode_holds_for_the_call_alone_and_in_its_thread():
    library = ctypes.CDLL("libm.so.6")
    nearest, seen, elsewhere = library.fegetround(), [], []

    def function(x):
        seen.append(library.fegetround())
        thread = threading.Thread(target=lambda: elsewhere.append(library.fegetround()))
        thread.start()
        thread.join()
        return x

    def reference(x):
        assert library.fegetround() == nearest
        return x

    tmd.check_libraries("same", [0.5, 1.5], [function], modes="all", reference=reference)
    assert len(set(seen)) == 4
    assert library.fegetround() == nearest

    def broken(x):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tmd.check_libraries("same", [0.5], [broken], modes="up", reference=reference)
    assert library.fegetround() == nearest


@pytest.mark.parametrize(
    ("name", "x", "precision", "values", "flags", "kind"),
    [("exp", 710.0, 53, (math.inf, math.inf, 2.0**1023 * (2 - 2.0**-52)),
      ("overflow", "inexact"), "range"),
     ("exp", -800.0, 53, (0.0, 5e-324, 0.0), ("underflow", "inexact"), "range"),
     ("exp", -740.0, 53, (4.2e-322, 4.2e-322, 4.15e-322), ("underflow", "inexact"), None),
     ("exp2", -1075.0, 53, (0.0, 5e-324, 0.0), ("underflow", "inexact"), None),
     ("exp2", -1074.0, 53, (5e-324,) * 3, (), "exact"),
     ("exp2", 128.0, 24, (math.inf, math.inf, float(np.finfo(np.float32).max)),
      ("overflow", "inexact"), "range"),
     ("sinh", -1000.0, 53, (-math.inf, -(2.0**1023) * (2 - 2.0**-52), -math.inf),
      ("overflow", "inexact"), "range"),
     ("cbrt", -27.0, 53, (-3.0,) * 3, (), "exact"),
     ("erf", -6e8, 53, (-1.0, -1.0 + 2.0**-53, -1.0), ("inexact",), "F"),
     ("tanh", 1e300, 53, (1.0, 1.0, 1.0 - 2.0**-53), ("inexact",), "F"),
     ("erfc", -1e9, 24, (2.0, 2.0, 2.0 - 2.0**-23), ("inexact",), "F")],
)  # fmt: skip
def test_values_and_flags_at_the_ends_of_the_range(name, x, precision, values, flags, kind):
    judged = judge(find_oracle(name, None), (x,), PRECISIONS[precision], MODES)
    for mode, value in zip(("nearest", "up", "down"), values, strict=True):
        assert judged.values[mode] == value, mode
    toward_zero = min(judged.values["up"], judged.values["down"], key=abs)
    assert judged.values["zero"] == toward_zero
    assert judged.flags == flags
    assert kind in (None, judged.kind)


def test_flags_are_compared_on_request():
    lazy = {"lazy": lambda x: {0.0: 1.0, 710.0: math.inf}[x], "c": "libm.so.6"}
    scores = tmd.check_libraries("exp", [0.0, 710.0], lazy, flags=True)[2:]
    assert [len(score.wrong) for score in scores] == [0, 0]
    assert scores[0].flags == [(710.0, (), ("overflow", "inexact"))]
    assert scores[1].flags == []
    # The largest number below 2^-1022, rounded up, may or may not be found tiny.
    judged = judge(find_oracle("x", lambda x: x * (1 - arb(2) ** -60)), (2.0**-1022,), BINARY64)
    assert not judged.has_flags


# ---- functions of users, and of two arguments -------------------------------------------------


@pytest.mark.parametrize(("name", "points", "exact"), [
    ("pow", [(4.0, 0.5), (-3.0, 3.0), (0.1, 0.3), (2.0**-0.5, 2.0**10)], 2),
    ("hypot", [(3.0, 4.0), (1.0, 1.0), (2.0**-500, 2.0**500)], 1),
    ("atan2", [(0.0, 1.0), (-0.0, -1.0), (1.0, -1e300), (-0.1, 0.2)], 1),
])  # fmt: skip
def test_functions_of_two_arguments(name, points, exact):
    scores = tmd.check_libraries(name, points, {"c": "libm.so.6"}, modes="all")
    for score in scores:
        assert score.tried == len(points)
        assert score.kinds["exact"][1] == exact
    assert all(not s.wrong for s in scores if s.mode == "nearest" and s.library == "c")
    wrong = tmd.check_libraries(name, points, {"bad": lambda x, y: 42.0})[-1]
    assert len(wrong.wrong) == len(points)
    assert wrong.wrong[0][0] == points[0]


def test_a_list_of_pairs_and_a_reference_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "pow.wc"
    path.write_text("# comment\n0x1.8p+0, 0x1p+1\n2, nan\n-2, 0.5\n0x1.1p0, 0x1.8p3\n")
    assert main(["check", "pow", "--cases", str(path), "--library", "libm.so.6", "--json"]) == 0
    out = capsys.readouterr()
    assert "1 line skipped, NaN or infinity" in out.err
    assert "1 line skipped, pow has no value there" in out.err
    assert [one["tried"] for one in json.loads(out.out)["libraries"]] == [2, 2, 2]
    path.write_text("0.5\n1.5\n")
    command = ["check", "exp", "--cases", str(path), "--modes", "up,down", "--library", "libm.so.6"]
    assert main([*command, "--reference", "mpmath:exp", "--exit-zero"]) == 0
    ours = capsys.readouterr().out
    assert main([*command, "--exit-zero"]) == 0
    assert capsys.readouterr().out == ours
    assert ours.count("rounding up") == ours.count("rounding down") == 3
    with pytest.raises(tmd.CertificateError, match="must be two arguments"):
        read_arguments(path, "pow")
    path.write_text("1\n-1\n")
    for name, points in (("zeta", [-1]), ("log", [1])):  # a pole, and a complex value
        assert read_arguments(path, "f", reference=f"mpmath:{name}")[0] == points
    for arguments, message in (
        (["pow", "1", "2"], "pow has no search here: pass --cases FILE"),
        (["f", "--cases", str(path), "--reference", "nowhere:f"], "cannot be imported"),
        (["f", "--cases", str(path), "--reference", "mpmath:exp"], "must name one"),
    ):
        assert main(["check", *arguments]) == 2
        assert message in capsys.readouterr().err


MODULE = """
from fractions import Fraction
from tmd import Function

FUNCTION = Function(
    "square_exp",
    series=lambda x: (x * x).exp(),
    exact=lambda x: 1 if x == 0 else None,
    symmetry="even",
    monotone=True,
    fixed_near_zero=(1, 2),
)
"""


def test_a_function_of_ones_own_is_searched_verified_and_checked(tmp_path, monkeypatch, capsys):
    (tmp_path / "own_functions.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    name, domain = "own_functions:FUNCTION", ("0.5", "0x1.00001p-1")
    certificate = tmp_path / "own.json"
    command = ["search", name, *domain, "--bits", "24", "--certificate", str(certificate)]
    assert main([*command, "--out", str(tmp_path / "own.wc"), "--quiet", "--device", "cpu"]) == 0
    assert "cases, hardness" in capsys.readouterr().err
    report = tmd.verify(certificate, cases=tmp_path / "own.wc")
    arguments, _ = read_arguments(tmp_path / "own.wc", name)
    assert len(arguments) == report["listed"] > 30
    own = {"own": lambda x: float(mpmath.exp(mpmath.mpf(x) ** 2))}
    with mpmath.workdps(60):
        (score,) = tmd.check_libraries(name, arguments, own)
    assert score.wrong == []
    function = tmd.Function("cubed", series=lambda x: x * x * x, exact=lambda x: None)
    assert tmd.search(function, (1, 1 + 2.0**-30), bits=20, device="cpu").function == "cubed"
    pole = tmd.Function("pole", lambda x: 1 / (x - 1), lambda x: None, points=lambda *ends: [1])
    assert tmd.search(pole, (1, 2), bits=8, precision="binary16", device="cpu").success
    for bad, message in (
        (tmd.Function("exp", series=len, exact=len), "is a name of tmd"),
        (tmd.Function("mine", series=None, exact=len), "series must be callable"),
        ("own_functions:OTHER", "has no 'OTHER'"),
        ("math:exp", "must be a tmd.Function"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            tmd.search(bad, (1, 2))


def test_another_function_of_ones_own_with_a_name_is_noticed(tmp_path, monkeypatch, capsys):
    first, same, other = (
        tmd.Function("mine", series=lambda x, m=m: x * x * x + m, exact=lambda x: None)
        for m in (8, 8, 9)
    )
    domain, options = (1, 1 + 2.0**-30), {"bits": 20, "device": "cpu"}
    (tmp_path / "campaigns_function.py").write_text("FUNCTION = None")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("campaigns_function")
    campaign = ["campaign", "campaigns_function:FUNCTION", "--resume", str(tmp_path / "campaign")]
    campaign += ["--exponents", "0", "0", "--precision", "binary16", "--bits", "8"]
    campaign += ["--quiet", "--device", "cpu"]
    for function in (first, same, other):
        monkeypatch.setattr(module, "FUNCTION", function)
        if function is other:
            with pytest.raises(ValueError, match="another one named 'mine' is in use"):
                tmd.search(function, domain, **options)
            # Another process knows nothing of the first one.
            monkeypatch.setattr(tmd.functions.function, "_registered", {})
            with pytest.raises(tmd.CheckpointError, match="with values="):
                tmd.search(function, domain, **options, checkpoint=tmp_path / "mine.txt")
            assert main(campaign) == 2
            assert "belongs to another campaign" in capsys.readouterr().err
        else:
            tmd.search(function, domain, **options, checkpoint=tmp_path / "mine.txt")
            assert main(campaign) == 0
