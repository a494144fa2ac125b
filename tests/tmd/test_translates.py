"""Blocks that differ by constants are searched together, and no case is missed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import flint
import numba
import numpy as np
import pytest

import tmd
from hetero.jit import serial
from tmd._search.formulas.lattice_formulas import find_intervals, may_have_case
from tmd.certificates import COLUMNS
from tmd.functions import load_function


@serial
def _test_lines(a, b, step, count, bound, possible):
    for i in range(a.size):
        place = find_intervals(a[i], b[i], step, possible.shape[1], count, bound)
        for k in range(possible.shape[1]):
            possible[i, k] = may_have_case(place, k)


@numba.njit
def _find_points(a, b, step, count, bound, exists):
    """Look at all points, in units of 2^-64."""
    for i in range(a.size):
        for k in range(exists.shape[1]):
            place = b[i] + np.uint64(k) * step
            for x in range(count):
                exists[i, k] |= place - ((a[i] * np.uint64(x)) << np.uint64(12)) <= bound


@pytest.mark.parametrize(("log2_count", "log2_bound"), [(8, 40), (10, 34), (13, 30), (13, 36)])
def test_no_point_is_missed(log2_count, log2_bound):
    rng = np.random.default_rng(log2_count)
    count, bound, step = 1 << log2_count, 1 << log2_bound, rng.integers(1 << 64, dtype=np.uint64)
    d = rng.integers(1, 60, 200).astype(object)
    near_fractions = (rng.integers(0, 60, 200) % d * 2**52 // d + rng.integers(0, 3, 200)) % 2**52
    any_slope, tiny = rng.integers(0, 2**52, 300), rng.integers(0, 1 << 20, 100)
    a = np.concatenate([any_slope, near_fractions, tiny, 2**52 - 1 - tiny]).astype(np.uint64)
    # Half of the lines have a point next to an end of the interval, or within.
    inside = rng.choice([0, 1, bound // 2, bound - 1, bound], a.size).astype(np.uint64)
    x, k = rng.integers(0, count, a.size), rng.integers(0, 40, a.size)
    b = ((a * x.astype(np.uint64) + inside) << np.uint64(12)) - k.astype(np.uint64) * step
    b[::2] = rng.integers(0, 1 << 64, b[::2].size, dtype=np.uint64)
    possible, exists = np.zeros((2, a.size, 40), bool)
    _test_lines(a.astype(float), b, step, float(count), float(bound), possible)
    _find_points(a, b, step, count, np.uint64(bound << 12), exists)
    assert not (exists & ~possible).any()
    assert exists.any(axis=1)[1::2].all()
    chance = 2.0 ** (log2_count + log2_bound - 52)
    assert possible[:300].mean() < exists[:300].mean() + 2.5 * chance


COARSE = flint.arb(0.6931471805599453, 2.0**-51)  # as a user computes it once, at 53 bits


@pytest.mark.parametrize(
    ("constant", "message"),
    [(lambda: flint.arb(1), r"must be f\(2x\) - f\(x\)"), (lambda: COARSE, "has 49 accurate bits")],
)
def test_a_constant_of_a_user_that_would_lose_cases_is_refused(constant, message):
    function = replace(load_function("log"), name="my_log", doubling=constant)
    with pytest.raises(ValueError, match=rf"my_log: doubling\(\) {message}"):
        tmd.search(function, (128, 4096), bits=16, precision=30, device="cpu")


def test_several_devices_continue_what_one_began_and_one_what_several_began(tmp_path):
    path, results = tmp_path / "blocks", []
    options = {"bits": 20, "precision": 24, "device": "cpu", "checkpoint": path}
    with ThreadPoolExecutor(2) as pool:
        for began, continued in ((None, pool), (pool, None)):
            tmd.search("log", (2**66, 2**71), **options, executor=began)
            path.write_text("".join(path.read_text().splitlines(True)[:3]))
            results.append(tmd.search("log", (2**66, 2**71), **options, executor=continued))
            path.unlink()
    assert [{b[11] for b in r.certificate["blocks"]} for r in results] == [{"lattice"}, {"clipped"}]
    assert [*results[0].cases] == [*results[1].cases] != []


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("log", 66, 72), ("log", -66, -60), ("log10", 35, 45), ("log2", 9, 15)],
)
def test_they_have_the_cases_that_each_has_alone(name, low, high, device):
    domain, options = (Fraction(2) ** low, Fraction(2) ** high), {"bits": 24, "precision": 36}
    together = tmd.search(name, domain, device=device, **options)
    alone = tmd.search(name, domain, device=device, algorithm="clipped", **options)
    blocks, results = together.certificate["blocks"], COLUMNS.index("cases")
    assert sum("lattice" in block for block in blocks) >= high - low - 1
    assert [b[results:] for b in blocks] == [b[results:] for b in alone.certificate["blocks"]]
    assert 0 < blocks[0][COLUMNS.index("survivors")] < 0.1 * blocks[0][COLUMNS.index("subdomains")]
    assert len(together.cases) > 10_000
    tmd.verify(together.certificate, cases=together.cases, samples=1, device=device)
    if device == "cuda":  # the same integers as on a CPU, in all phases
        assert blocks == tmd.search(name, domain, device="cpu", **options).certificate["blocks"]
