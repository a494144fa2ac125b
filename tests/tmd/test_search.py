"""The search finds what the oracle finds, for every function, test, device, sign and format."""

from fractions import Fraction

import numpy as np
import pytest

import tmd
from tmd import reference
from tmd.blocks import blocks
from tmd.formats import Format, exact, exponent
from tmd.functions import NAMES, function
from tmd.plan import plan, possible
from tmd.taylor import Scale


def window(lo, width, digits=53):
    """[lo, hi) with 2^width arguments."""
    lo = exact("lo", lo)
    return lo, lo + (1 << width) * Fraction(2) ** (exponent(lo) - digits + 1)


def pairs(result):
    return [(c.exact_argument, c.kind) for c in result.cases]


ORACLE = [
    ("exp", 1, 13, {}),
    ("exp", "-0x1.7fffp+0", 13, {}),
    ("exp", "-0x1.62e42fefa3a00p-1", 12, {}),  # the exponent of the value changes
    ("exp", "-708.5", 12, {}),  # subnormal values
    ("exp2", "0x1.ffffffffff000p+1", 13, {}),  # the exact value at 4
    ("log", "0x1.62e42fefa3a00p+0", 13, {}),
    ("log2", "0x1.ffffffffff000p+2", 13, {}),  # the exact value at 8
    ("sin", "0x1.921fb54442000p+0", 12, {}),  # the maximum
    ("sin", "1000", 12, {"precision": 24}),
    ("cos", "0.7", 13, {}),
    ("tan", "0x1.921fb54440000p+0", 13, {}),  # next to a pole
    ("exp", 1, 12, {"argument_precision": 54}),
    ("exp", 1, 12, {"precision": 60}),
]


@pytest.mark.parametrize(("name", "lo", "width", "options"), ORACLE)
def test_every_case_of_the_oracle_is_found_and_no_other(name, lo, width, options, device):
    digits = options.get("argument_precision", options.get("precision", 53))
    domain = window(lo, width, digits)
    expected = sorted(reference.cases(name, *domain, 5, options.get("precision", 53),
                                      options.get("argument_precision")))  # fmt: skip
    result = tmd.search(name, domain, bits=5, device=device, **options)
    assert pairs(result) == expected
    assert not result.undecided


@pytest.mark.parametrize("rounding", ["nearest", "directed"])
def test_one_kind_of_breakpoints(rounding, device):
    domain = window("1.5", 20)
    both = tmd.search("exp", domain, bits=14, device=device)
    one = tmd.search("exp", domain, bits=14, rounding=rounding, device=device)
    kind = "M" if rounding == "nearest" else "F"
    assert pairs(one) == [p for p in pairs(both) if p[1] == kind]
    assert 100 < len(one.cases) < 160


@pytest.mark.parametrize(
    ("width", "bits"), [(24, 16), pytest.param(30, 22, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", NAMES)
def test_all_ways_agree(name, width, bits, device):
    """Look at every argument, and every Boolean test: the same set."""
    domain = window("0x1.2345678p+1" if name != "cos" else "0x1.2345678p-1", width)
    ways = ["exhaustive", "clipped", "regular", "lefevre"]
    found = [tmd.search(name, domain, bits=bits, algorithm=way, device=device) for way in ways]
    assert 500 < len(found[0].cases) < 1500  # 1024 on the average
    for other in found[1:]:
        assert pairs(other) == pairs(found[0])


@pytest.mark.parametrize(
    ("algorithm", "division"),
    [("clipped", "integer"), ("swap", "float64"), ("alternating", "hybrid"),
     ("regular", "subtractive")],
)  # fmt: skip
def test_other_tests_and_divisions_agree(algorithm, division, device):
    domain = window("1.5", 26)
    plain = tmd.search("exp", domain, bits=18, device=device)
    other = tmd.search(
        "exp", domain, bits=18, algorithm=algorithm, division=division, device=device
    )
    assert pairs(other) == pairs(plain)


@pytest.mark.cuda
@pytest.mark.parametrize("algorithm", ["clipped", "lefevre", "exhaustive"])
def test_both_devices_count_the_same(algorithm, require_cuda):
    """Not only the cases: what fails each phase is the same, for it is integer arithmetic."""
    for name, lo, width, bits in (("exp", 1, 32, 30), ("sin", 2, 30, 22), ("exp", 200, 28, 22)):
        if algorithm == "exhaustive":
            width, bits = 26, 20
        ask = {"bits": bits, "algorithm": algorithm}
        cpu, gpu = (tmd.search(name, window(lo, width), device=d, **ask) for d in ("cpu", "cuda"))
        assert cpu.certificate["blocks"] == gpu.certificate["blocks"]


@pytest.mark.parametrize(
    "domain",
    [
        ("0x1.5p+6", "0x1.51p+6"),
        pytest.param(("2**-12", "0x1.62e43p+6"), marks=pytest.mark.slow),  # to overflow
        pytest.param(("-104", "-0x1p-12"), marks=pytest.mark.slow),  # from underflow
    ],
)
def test_binary32_by_looking_at_every_argument(domain, device):
    ask = {"bits": 12 if domain[0] == "0x1.5p+6" else 20, "precision": 24, "device": device}
    every = tmd.search("exp", domain, algorithm="exhaustive", **ask)
    assert pairs(tmd.search("exp", domain, algorithm="clipped", **ask)) == pairs(every)
    assert len(every.cases) > 10


def test_plans_have_sizes_that_kernels_can_take():
    """Also where arguments lie far apart or the domain is short."""
    for name, lo, width, precision in (
        *(("exp", 1, 45, 53), ("exp", 600, 40, 53), ("exp", "2**-30", 50, 53)),
        *(("exp", 64, 16, 24), ("exp", 80, 19, 24), ("tan", "1.5", 12, 24), ("log", 2, 3, 53)),
    ):
        f = function(name)
        parts, _ = blocks(f, *window(lo, width, precision), Format.checked(precision))
        for part in parts:
            for bits in (8, 32, 50):
                p = plan(f, part, bits, Scale(), "clipped", "reciprocal")
                assert possible(p.shape, p.degree), p


def test_arrays_and_cases_say_the_same():
    result = tmd.search("exp", window("-1.5", 14), bits=8)
    cases = list(result.cases)
    assert [c.argument for c in cases] == sorted(c.argument for c in cases)
    assert np.array_equal(result.cases.arguments, [c.argument for c in cases])
    assert [c.kind == "M" for c in cases] == result.cases.middle.tolist()
    for case, (low, high) in zip(cases, result.cases.distances, strict=True):
        assert low <= case.distance.upper
        assert case.distance.lower <= high
        assert case.distance.upper < 2.0**-8
        assert case.identical_bits >= 7
    hardest = result.cases.hardest(3)
    assert hardest[0].distance.upper == min(c.distance.upper for c in cases)
    assert result.hardness == hardest[0].identical_bits + 2


def test_exact_values_are_cases_at_distance_zero():
    result = tmd.search("exp2", window("0x1.fffffffffff00p+1", 9), bits=20)
    four = [c for c in result.cases if c.argument == 4.0]
    assert len(four) == 1
    assert tuple(four[0].distance) == (0.0, 0.0)
    assert four[0].identical_bits is None
    assert result.hardness < 60  # it does not count


def test_what_balls_cannot_decide_is_reported(monkeypatch):
    """Next to a pole balls look at every argument; here they never know."""
    from tmd import decide

    monkeypatch.setattr(decide, "is_case", lambda function, plan, index: None)
    lo, hi = window("0x1.921fb54442d00p+0", 4)
    result = tmd.search("tan", (lo, hi), bits=5)
    assert len(result.cases) == 0
    assert result.undecided == list(reference.arguments(lo, hi))
    assert sum(b[-2] for b in result.certificate["blocks"]) == 16


def test_overflow_is_trivial_and_counted():
    top = 709.782712893384  # the last argument without overflow
    result = tmd.search("exp", (np.nextafter(top, 0), np.nextafter(top, 1e9) + 1e-12), bits=10)
    assert result.certificate["trivial"] > 0
    assert all(c.argument <= top for c in result.cases)


def test_processes_share_the_blocks():
    from concurrent.futures import ThreadPoolExecutor

    domain = "0x1.62e4p+0", "0x1.62e5p+0"  # e^x crosses 4 there: two blocks
    alone = tmd.search("exp", domain, bits=30)
    with ThreadPoolExecutor(1) as pool:
        shared = tmd.search("exp", domain, bits=30, executor=pool)
    assert len(alone.certificate["blocks"]) == 2
    assert shared.certificate == alone.certificate
    assert pairs(shared) == pairs(alone)
