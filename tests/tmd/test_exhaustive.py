"""Correct results at every argument of binary32 and binary16, and functions that are wrong."""

import json
import math
import shutil
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import tmd
from hetero import Device
from hetero.arrays import on_host
from hetero.cuda.driver import cuda
from tmd.__main__ import main
from tmd._exhaust import loops, segments
from tmd._exhaust.formulas import results_at
from tmd._exhaust.sources import ALL_HALVES, make_source
from tmd._libraries.callables import BINARY16, BINARY32
from tmd._libraries.environment import MODES
from tmd._libraries.judging import judge
from tmd._libraries.oracles import Oracle
from tmd.functions import load_function

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or not sys.platform.startswith("linux"),
    reason="libraries are compiled by cc, and rounding modes are those of fenv.h",
)

SOURCE = """
#include <math.h>
#include <fenv.h>
float sqrt_of_2_expf(float x) { return x == 1.5f ? 2.0f : (float)exp2((double)x); }
float nearestf(float x) {
    int mode = fegetround(); fesetround(FE_TONEAREST);
    volatile float y = (float)exp2((double)x);
    fesetround(mode); return y; }
float nanf_of(float x) { return x < 0 ? 0.0f : logf(x); }
_Float16 expf16(_Float16 x) { return (_Float16)exp((double)(float)x); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "libown.so"
    path.with_suffix(".c").write_text(SOURCE)
    command = ["cc", "-shared", "-fPIC", "-O1", "-frounding-math", "-o", path]
    subprocess.run([*command, path.with_suffix(".c"), "-lm"], check=True)
    return path


EXPONENTS = {
    "exp2": [0, 90, 100, 127, 133, 134, 200], "expm1": [1, 90, 110, 127, 134],
    "log": [0, 1, 126, 127, 254], "sin": [1, 110, 127, 128, 140, 254], "tan": [113, 127, 160],
    "sinpi": [1, 127, 140, 151], "tanpi": [100, 127, 149], "asin": [126, 127], "cbrt": [127],
    "atanpi": [127, 150, 254], "erfc": [100, 127, 130, 131], "tgamma": [1, 127],
    "lgamma": [126, 254], "log2p1": [90, 126, 127], "tanh": [110, 130],
}  # fmt: skip


IN_SHORT = "exp2", "log", "sin", "tan", "erfc"
"""Functions with tables of each kind: ends, periods, poles, zeros; the others are slow tests."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in IN_SHORT)) for n in EXPONENTS]
)
def test_results_are_those_of_balls_in_all_modes(name):
    """At random arguments, at the ends of segments, and at the few that float64 leaves."""
    rng, f = np.random.default_rng(7), load_function(name)
    exponents = (
        np.array(EXPONENTS[name]) if name in ("exp2", "sin") else np.array(EXPONENTS[name][:3])
    )
    words = [rng.integers(0, 1 << 23, 30), np.array([0, 1, (1 << 22) - 1, 1 << 22, (1 << 23) - 1])]
    fields = np.add.outer(exponents << 23, np.concatenate(words)).ravel()
    bits = np.concatenate([fields, fields | segments.SIGN_BIT]).astype(np.uint32)
    binades = np.unique(bits >> np.uint32(23)).tolist()
    table = segments.make_table(f, [(b << 23, (b + 1) << 23) for b in binades])
    ids, arrays = np.searchsorted(table.segments["start"], bits, side="right") - 1, table.arrays
    oracle, undecided = Oracle.of_function(f), 0
    for word, segment in zip(bits, ids, strict=True):
        is_decided, *results, _ = results_at(arrays, segment, word)
        try:
            judged = judge(oracle, (float(segments.argument_of(word)),), BINARY32, MODES)
        except ValueError:
            assert not is_decided or np.isnan(results).all()
            continue
        if is_decided:
            assert [judged.values[mode] for mode in MODES] == results, hex(word)
        undecided += not is_decided
    assert undecided <= bits.size // 6


def test_wrong_results_are_counted_by_mode_and_shown(library):
    """The value at 1.5 is wrong in all modes; a function that ignores the mode, in half of all."""
    domain = (1.5, 1.5001)
    score = tmd.exhaust("exp2", library, symbol="sqrt_of_2_expf", domain=domain)
    assert score.arguments == math.ceil(0.0001 * 2**23)
    assert [score.wrong[mode] for mode in MODES] == [1] * 4
    assert {mode for mode, *_ in score.examples} == {*MODES}
    assert {x for _, x, _, _ in score.examples} == {1.5}
    assert score.examples[0][2:] == (2.0, float(np.float32(2.0**1.5)))
    blind = tmd.exhaust("exp2", library, symbol="nearestf", domain=domain, examples=5)
    assert blind.wrong["nearest"] == 0
    assert blind.wrong["up"] + blind.wrong["down"] == blind.arguments
    assert blind.wrong["down"] == blind.wrong["zero"]
    assert len(blind.examples) == 5
    assert sum(blind.kinds["up"]) == blind.wrong["up"]


def test_what_has_no_value_must_be_nan(library):
    score = tmd.exhaust("log", library, symbol="nanf_of", domain=(-1, -0.999), modes="up")
    assert score.wrong["up"] == score.arguments > 8000
    assert math.isnan(score.examples[0][3])
    assert tmd.exhaust("log", "libm.so.6", domain=(-1, -0.999), modes="up").wrong == {"up": 0}


@pytest.mark.simulator
def test_functions_of_arrays_are_tried_on_each_device(device):
    """One result of sin is made wrong; a function that returns another type is refused."""

    def sine(x, dtype=np.float32):
        host = on_host(x)
        y = np.sin(host.astype(float)).astype(dtype)
        y[host == 1.25] *= dtype(1 + 2.0**-20)
        return y if device == "cpu" else cuda.to_device(y)

    domain = (1.25, 1.25 + 60 * 2.0**-23)
    score = tmd.exhaust("sin", sine, domain=domain, device=device)
    assert (score.arguments, score.wrong, score.not_judged) == (60, {"nearest": 1}, 0)
    assert score.examples[0][:2] == ("nearest", 1.25)
    assert score.examples[0][3] == np.float32(np.sin(1.25)) != score.examples[0][2]
    with pytest.raises(TypeError, match="array of 2048 numbers of float32"):
        tmd.exhaust("sin", partial(sine, dtype=np.float64), domain=domain, device=device)
    if device != "cpu":
        with pytest.raises(ValueError, match="a GPU rounds to nearest"):
            tmd.exhaust("sin", sine, device=device, modes="up")


def test_numpy_is_tried_in_all_modes():
    score = tmd.exhaust("exp", np.exp, domain=(1, 1.001), modes="all")
    assert score.library.startswith("NumPy")
    assert score.wrong["up"] > score.wrong["nearest"] >= 0
    halves = tmd.exhaust("cbrt", np.cbrt, precision="binary16")
    assert halves.wrong == {"nearest": 0}
    assert halves.arguments == 2 * 31 * 1024


def test_functions_may_overwrite_their_argument_and_return_one_array():
    def overwrite(x):
        return np.exp(x, out=x)

    buffer = np.empty(2048, np.float32)

    def return_one(x):
        return np.exp(x, out=buffer[: x.size])

    domain, modes = (1, 1 + 200 * 2.0**-23), ("nearest", "up")
    expected = tmd.exhaust("exp", np.exp, domain=domain, modes=modes).wrong
    assert 0 < expected["up"] < 200
    for function in (overwrite, return_one):
        assert tmd.exhaust("exp", function, domain=domain, modes=modes).wrong == expected
    place = Device("cpu")
    source = make_source(lambda x: np.cbrt(x, out=x), "cbrt", BINARY16, place, loops(place))
    with np.errstate(invalid="ignore"):
        halves = np.cbrt(ALL_HALVES)
    for _ in range(2):
        np.testing.assert_array_equal(source.evaluate_halves("nearest"), halves)


def test_the_command(library, capsys):
    options = ["--library", str(library), "--symbol", "nearestf", "--quiet"]
    assert main(["exhaust", "exp2f", "1.5", "1.5001", *options, "--modes", "up,nearest"]) == 1
    out = capsys.readouterr().out
    assert ("rounding nearest: 0 wrong" in out, out.count(", up: ")) == (True, 20)
    assert main(["exhaust", "exp2", "1.5", "1.50001", *options, "--json", "--exit-zero"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["wrong"]["up"] + found["wrong"]["down"] == found["arguments"] == 84
    for arguments, message in (
        (["exp2f", "1", *options], "pass both ends LO and HI"),
        (["exp2f", "--library", "libm.so.6", "--symbol", "none"], "exports no function 'none'"),
        (["exp2f", "2", "1", *options], "contains no number of binary32"),
        (["exp", "1", "2", "--precision", "binary16", *options], "leave it out"),
    ):
        assert main(["exhaust", *arguments]) == 2
        assert message in capsys.readouterr().err
    assert main(["exhaust", "exp2", "1.5", "1.50001", *options, "--modes", "nearest"]) == 0


def test_bounds_of_polynomials_hold_and_are_not_generous():
    f = load_function("exp2")
    table = segments.make_table(f, [(0x3F800000, 0x3F900000)])
    errors = []
    for segment in table.segments:
        assert segment["rule"] == segments.POLYNOMIAL
        for offset in np.linspace(0, segment["count"] - 1, 40).astype(int):
            x = segments.argument_of(int(segment["start"]) + int(offset))
            t = (float(x) - segment["centre"]) * segment["scale"]
            y = 0.0
            for c in segment["coefficients"][::-1]:
                y = y * t + c
            with segments.working_precision(200):
                error = abs(f.enclosure(segments.ball(x)) - y)
            errors.append(float(error.upper()) / segment["bound"])
    assert 1 / 200 < max(errors) < 0.5
