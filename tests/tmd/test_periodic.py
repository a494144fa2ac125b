"""Searches of sin, cos and tan by residues equal brute force, and find public cases."""

from fractions import Fraction

import numpy as np
import pytest

import tmd
from hetero.devices import resolve
from studies.tmd.periodic import PUBLIC, WHOLE, compare, decide_all, find_by_brute_force
from tmd._periodic import loops
from tmd._periodic.groups import make_groups
from tmd._periodic.lattice import PhaseLattice
from tmd._periodic.question import check_question

FIFTH = Fraction(1, 5)


def require_equal(result, expected, fewest=100):
    *_, cases, extra, missing = compare(result, expected, 0)
    assert cases >= fewest
    assert (extra, missing) == (0, 0)


@pytest.mark.parametrize(
    ("name", "exponent", "rounding"),
    [("sin", 100, "all"), ("cos", 5, "nearest"), ("tan", 1000, "directed")],
)
def test_whole_binades_equal_brute_force(name, exponent, rounding):
    result = tmd.search_periodic(name, exponent, bits=8, precision=16, rounding=rounding)
    require_equal(result, find_by_brute_force(name, exponent, 16, 8, rounding))


@pytest.mark.slow
@pytest.mark.parametrize("question", WHOLE)
def test_whole_binades_of_binary32_equal_brute_force(question):
    name, exponent, bits, rounding = question
    result = tmd.search_periodic(name, exponent, bits=bits, precision=24, rounding=rounding)
    require_equal(result, find_by_brute_force(name, exponent, 24, bits, rounding))


@pytest.mark.parametrize(
    ("name", "exponent", "lo"),
    [
        ("sin", 1023, 0),
        ("sin", 1023, Fraction(1, 1 << 35)),  # slabs so thin that reductions lose all digits
        ("cos", 11, FIFTH),
        ("tan", 500, FIFTH),
    ],
)
def test_all_arguments_of_windows_in_binary64_are_decided(name, exponent, lo):
    phases = lo, lo + Fraction(1, 1 << 42)
    result = tmd.search_periodic(name, exponent, phases=phases, bits=5)
    lattice = PhaseLattice.of_binade(exponent, result.format)
    numbers = lattice.points(*phases)
    assert abs(len(numbers) - 1024) < 8  # the phases of 2^52 arguments are spread evenly
    require_equal(result, decide_all(name, result.format, lattice, numbers, 5), 60)


@pytest.mark.parametrize("case", PUBLIC[:3] + PUBLIC[6:7])
def test_public_cases_are_found(case):
    name, text, kind, bits = case
    x = tmd.Case(name, tmd.Format.create(53), Fraction(float.fromhex(text)), kind).exact_argument
    exponent = x.numerator.bit_length() - 1
    lattice = PhaseLattice.of_binade(exponent, tmd.Format.create(53))
    phase = lattice.phase(x.numerator >> lattice.quantum) % 1
    phases = max(phase - Fraction(1, 1 << 30), 0), min(phase + Fraction(1, 1 << 30), 1)
    result = tmd.search_periodic(name, exponent, phases=phases, bits=44)
    assert (x, kind, bits) in [(c.exact_argument, c.kind, c.identical_bits) for c in result.cases]
    assert result.hardness >= bits + 2
    assert f"{float.fromhex(text).hex()}" in list(result.lines())


@pytest.mark.simulator
def test_both_devices_find_the_same(device):
    phases = FIFTH, FIFTH + Fraction(1, 32)
    result = tmd.search_periodic("tan", 30, phases=phases, bits=8, precision=16, device=device)
    assert result.windows > 50
    require_equal(result, find_by_brute_force("tan", 30, 16, 8, phases=phases), 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"name": "exp"}, "name"), ({"bits": 16}, "too many"), ({"exponent": 1024}, "exponent"),
     ({"phases": (FIFTH, FIFTH)}, "phases"), ({"phases": (0, 2)}, "phases")],
)  # fmt: skip
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        tmd.search_periodic(**{"name": "sin", "exponent": 100, "bits": 45} | arguments)


@pytest.mark.parametrize(("name", "exponent"), [("sin", 3), ("tan", 5)])
def test_consecutive_arguments_have_the_cases_of_the_other_search(name, exponent):
    """Of 2^3, windows contain long rows of arguments and are searched in float64, else in float32.

    Among the windows of sin is one whose first reduction loses most digits.
    """
    lattice = PhaseLattice.of_binade(exponent, tmd.Format.create(53))
    first = 9 * lattice.first >> 3
    lo, hi = (lattice.phase(m) % 1 for m in (first, first + (1 << 28)))
    found = tmd.search_periodic(name, exponent, phases=(lo, hi), bits=25, device="cpu").cases
    ends = [m * Fraction(2) ** lattice.quantum for m in (first, first + (1 << 28))]
    expected = tmd.search(name, ends, bits=25, device="cpu").cases
    inside = {c.exact_argument for c in found if ends[0] <= c.exact_argument < ends[1]}
    assert inside == {c.exact_argument for c in expected}
    assert len(inside) > 20
    assert len(inside) < len(found)  # other periods have arguments with these phases, too


def test_windows_next_to_a_pole_where_the_ulp_changes():
    """Groups there are shorter than the vectors of the lattice."""
    lo = Fraction(1, 2) + Fraction(7237, 10**17)
    result = tmd.search_periodic("tan", 5, phases=(lo, lo + Fraction(1, 10**16)), bits=5)
    lattice = PhaseLattice.of_binade(5, result.format)
    numbers = lattice.points(*result.phases)
    require_equal(result, decide_all("tan", result.format, lattice, numbers, 5), 0)
    assert result.windows > 1e5


@pytest.mark.cuda
def test_bases_with_a_zero_coordinate_are_searched_on_a_gpu(require_cuda):
    """In windows of tan of 2^10 in binary64 the x of a short vector cancels, to 0 or almost."""
    question = check_question("tan", 10, (2 * FIFTH, 3 * FIFTH), 30, 53, "all")
    groups = next(make_groups(question, 2 * FIFTH, question.phases[1], 8))
    lasts = np.full(groups.count, groups.windows)
    arguments = groups.reals[0], groups.words[0], -lasts, lasts, 64
    ours, theirs = (loops(resolve(d)).search_groups(*arguments) for d in ("cpu", "cuda"))
    assert ours[1][:, 0].sum() > 20
    assert ours[1][:, 0].tolist() == theirs[1][:, 0].tolist()
