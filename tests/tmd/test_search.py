"""The search agrees with the reference for every function, test, device, sign and format."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import tmd
from tmd import _search, reference
from tmd._search import cases as block_cases
from tmd._search import planning, sharing
from tmd._search.blocks import split_into_blocks
from tmd._search.taylor_models import Models, Scale, make_model
from tmd.formats import Format, argument_runs, exponent, to_fraction
from tmd.functions import load_function


def window(lo, width, digits=53):
    """Return a domain (lo, hi) with 2^width arguments."""
    lo = to_fraction("lo", lo)
    return lo, lo + (1 << width) * Fraction(2) ** (exponent(lo) - digits + 1)


def pairs(result):
    """Return argument and kind of all cases."""
    return [(c.exact_argument, c.kind) for c in result.cases]


REFERENCE_DOMAINS = [
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
    ("exp", 1, 12, {"argument_precision": 54}), ("exp", 1, 12, {"precision": 60}),
    ("log", "2**-149", 10, {"precision": 24}),  # subnormal arguments
]  # fmt: skip


@pytest.mark.parametrize(("name", "lo", "width", "options"), REFERENCE_DOMAINS)
def test_cases_are_those_of_the_reference(name, lo, width, options, device):
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
@pytest.mark.parametrize(
    "name", ["exp", "log2", "sin", "cos", "tan", "cbrt", "atanh", "erf", "lgamma"]
)
def test_all_algorithms_agree(name, width, bits, device):
    """An exhaustive search and the Boolean tests give the same cases."""
    domain = window("0x1.2345678p-1" if name in ("cos", "atanh") else "0x1.2345678p+1", width)
    exhaustive, *others = [
        tmd.search(name, domain, bits=bits, algorithm=algorithm, device=device)
        for algorithm in ("exhaustive", "clipped", "regular", "lefevre")
    ]
    assert 500 < len(exhaustive.cases) < 1500  # 1024 on average
    for other in others:
        assert pairs(other) == pairs(exhaustive)


@pytest.mark.cuda
@pytest.mark.parametrize("algorithm", ["clipped", "lefevre", "exhaustive"])
def test_both_devices_count_the_same(algorithm, require_cuda):
    """Not only the cases but the counts of all phases agree, since all is integer arithmetic."""
    for name, lo, width, bits in (("exp", 1, 32, 30), ("sin", 2, 30, 22), ("exp", 200, 28, 22)):
        if algorithm == "exhaustive":
            width, bits = 26, 20
        options = {"bits": bits, "algorithm": algorithm}
        domain = window(lo, width)
        cpu, gpu = (tmd.search(name, domain, device=d, **options) for d in ("cpu", "cuda"))
        assert cpu.certificate["blocks"] == gpu.certificate["blocks"]


def test_arrays_and_cases_agree():
    result = tmd.search("exp", window("-1.5", 14), bits=np.float64(8))
    assert result.certificate["bits"] == 8
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
    messages = [(True, "success", "every argument is decided"),
                (False, "undecided", "1 arguments are undecided")]  # fmt: skip
    results = result, replace(result, undecided=[Fraction(1)])
    assert [(r.success, r.status, r.message) for r in results] == messages


def test_short_subdomains_beside_a_pole_miss_nothing(device):
    """Far from it by the Boolean test, near it by all values of super-blocks of 2^11."""
    lo, hi = 1415.225071632206, 1415.225071632206 + 2.0**-20  # a sixteenth from the pole
    result = tmd.search("tan", (lo, hi), bits=22, device=device)
    others = tmd.search("tan", (lo, hi), bits=22, algorithm="exhaustive", device=device)
    assert {tuple(block[7:9]) for block in result.certificate["blocks"]} == {(7, 5)}
    assert len(result.cases) == 5
    assert list(result.cases) == list(others.cases)
    lo, hi = 1415.2874904273008, 1415.2874904273008 + 2.0**-30
    result = tmd.search("tan", (lo, hi), bits=8, device=device)
    assert {tuple(block[6:9]) for block in result.certificate["blocks"]} == {(11, 6, 5)}
    expected = sorted(reference.cases("tan", lo, hi, 8, 53))
    assert [(c.exact_argument, c.kind) for c in result.cases] == expected


def test_undecided_arguments_are_reported(monkeypatch):
    """Near a pole balls decide every argument; here those of many bits never succeed."""
    lo, hi = window("0x1.921fb54442d00p+0", 4)
    cases = [case.exact_argument for case in tmd.search("tan", (lo, hi), bits=5).cases]
    assert cases
    monkeypatch.setattr(block_cases, "decide_by_balls", lambda *arguments: None)
    result = tmd.search("tan", (lo, hi), bits=5)
    assert len(result.cases) == 0
    assert result.undecided == cases
    assert sum(b[-2] for b in result.certificate["blocks"]) == len(cases)


def test_devices_share_a_block_and_store_it_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("tmd._search.sizes.MAX_SUPER_BLOCK", 13)
    monkeypatch.setattr("tmd._search.SUBDOMAINS_PER_BATCH", {"cpu": 1})
    domain, checkpoint = window("1.25", 18), tmp_path / "blocks.txt"
    alone = tmd.search("exp", domain, bits=10, device="cpu")
    (block,) = alone.certificate["blocks"]
    assert block[alone.certificate["columns"].index("size")] == 13
    shared = tmd.search("exp", domain, bits=10, device=["cpu", "cpu"], checkpoint=checkpoint)
    assert shared.certificate == alone.certificate
    monkeypatch.setattr(sharing, "search_task", lambda *_: pytest.fail("it was searched"))
    again = tmd.search("exp", domain, bits=10, device=["cpu", "cpu"], checkpoint=checkpoint)
    assert again.certificate == alone.certificate


def test_exact_values_have_correct_kinds_and_distances():
    """2^k is a float but no midpoint; log2 of a power of two may have more digits than fit."""
    assert len(tmd.search("exp2", (13, 14), bits=6, precision=8, rounding="nearest").cases) == 0
    domains = ("exp2", 1, 9, 8), ("log2", "2**-40", "2**-1", 3), ("log2", 2, "2**70", 2)
    for name, lo, hi, precision in domains:
        expected = sorted(reference.cases(name, lo, hi, 4, precision))
        for rounding, kinds in (("all", "FM"), ("nearest", "M"), ("directed", "F")):
            result = tmd.search(name, (lo, hi), bits=4, precision=precision, rounding=rounding)
            assert pairs(result) == [pair for pair in expected if pair[1] in kinds]
            for case in result.cases:
                distances = reference.distances(name, case.exact_argument, precision)
                between = arb(case.distance.lower).union(arb(case.distance.upper))
                assert distances["FM".index(case.kind)].overlaps(between)


def test_the_hardest_are_found_among_many_exact_values(device):
    """Exact values have the distance zero, and are disregarded in the hardness."""
    result = tmd.search("exp2", (1, 128), bits=24, precision=24, device=device)
    exact = [case for case in result.cases if case.identical_bits is None]
    assert [case.argument for case in exact] == list(range(1, 128))
    assert {tuple(case.distance) for case in exact} == {(0.0, 0.0)}
    assert [case.identical_bits for case in result.cases.hardest(3)] == [23]
    assert result.hardness == 25


@pytest.mark.parametrize(
    ("name", "lo", "hi", "precision", "digits"),
    [("tan", "67/6400", "67/4000", 20, 8), ("tan", "1.5", "1.5703125", 24, 12),
     ("log", "2**-30", "2**-29", 20, 9)],
)  # fmt: skip
@pytest.mark.parametrize("algorithm", ["clipped", "exhaustive"])
def test_short_domains_whose_super_blocks_reach_far(name, lo, hi, precision, digits, algorithm):
    """A super-block has at least 2^13 arguments, and its polynomial is accurate for fewer."""
    result = tmd.search(
        name, (lo, hi), bits=4, precision=precision, argument_precision=digits, algorithm=algorithm
    )
    assert pairs(result) == sorted(reference.cases(name, lo, hi, 4, precision, digits))


def test_balls_decide_everything_if_a_model_proves_nothing(device, monkeypatch):
    domain = window("1.25", 14)
    expected = pairs(tmd.search("exp", domain, bits=6, device=device))

    def make_blurred_model(*arguments, make_model=make_model):
        model = make_model(*arguments)
        words = model.words.copy()
        words[0, 0] += np.uint64(3)  # every value is off by 3, with another parity
        return replace(model, words=words, error=model.error + (4 << 128))

    monkeypatch.setattr(planning, "shrink_until_proven", lambda *arguments: arguments[-1])
    monkeypatch.setattr(_search, "make_model", make_blurred_model)
    result = tmd.search("exp", domain, bits=6, device=device)
    assert pairs(result) == expected
    (block,) = result.certificate["blocks"]
    assert dict(zip(result.certificate["columns"], block, strict=True))["balls"] == 1 << 14


def floats(lo, hi, dtype):
    """Yield all numbers of a dtype in [lo, hi)."""
    x = dtype(lo)
    while x < hi:
        yield x
        x = np.nextafter(x, dtype(np.inf))


@pytest.mark.parametrize(
    ("precision", "dtype", "lo", "hi"),
    [(24, np.float32, 1e-45, 2e-42),  # the subnormal numbers from the smallest on
     (24, np.float32, 1.17548e-38, 1.1757e-38),  # from subnormal to normal
     (53, np.float64, 5e-324, 3e-321), (53, np.float64, -3e-321, -5e-324),
     (53, np.float64, 1.7976931348623155e308, 2.0**1023 * (2 - 2.0**-52))],
)  # fmt: skip
def test_arguments_are_the_numbers_of_the_format(precision, dtype, lo, hi):
    fmt, lo, hi = Format.create(precision), float(dtype(lo)), float(dtype(hi))
    runs = argument_runs(to_fraction("lo", lo), to_fraction("hi", hi), fmt)
    arguments = [run.argument(i) for run in runs for i in range(run.count)]
    assert sorted(arguments) == [Fraction(float(x)) for x in floats(lo, hi, dtype)]


def test_ends_of_the_domain_are_taken_as_they_are():
    ends = "0x1.0000000000000003p+0", "0x1.0000000000001003p+0"
    result = tmd.search("exp", ends, bits=8, argument_precision=64)
    assert result.domain == (1 + Fraction(3, 1 << 64), 1 + Fraction(0x1003, 1 << 64))
    assert to_fraction("lo", "-0x.8P1") == -1
    assert to_fraction("lo", "0x1p+2000") == 1 << 2000
    assert to_fraction("lo", Decimal("0.1")) == Fraction(1, 10)
    assert to_fraction("lo", np.longdouble(1) + np.finfo(np.longdouble).eps) > 1
    assert type(to_fraction("lo", np.int64(3)).numerator) is int


def test_threads_do_not_disturb_each_other():
    """The precision of balls belongs to the process, not to a thread."""
    f = load_function("exp")
    block = split_into_blocks(f, Fraction(1), Fraction(2), Format.create(53))[0][0]
    degrees = (3, 6, 9, 12)
    models = [Models(f, block, Scale(), 30 + d, d) for d in degrees]
    serial = [make_model(m, 5) for m in models]
    before, interval = (ctx.prec, ctx.cap), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            parallel = list(pool.map(lambda m: [make_model(m, 5) for _ in range(100)], models))
    finally:
        sys.setswitchinterval(interval)
    for one, others in zip(serial, parallel, strict=True):
        assert all(m.error == one.error and np.array_equal(m.words, one.words) for m in others)
    assert (ctx.prec, ctx.cap) == before
