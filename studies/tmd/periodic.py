"""Cases of sin, cos and tan of large arguments: brute force, public cases, rates and a forecast.

It corresponds to Hanrot, Lefevre, Stehle and Zimmermann (2007), who take 2^35.8 steps for a binade.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

import tmd
from studies.study import Study
from tmd._periodic.lattice import PhaseLattice
from tmd._search.decisions import measure_distance
from tmd.formats import Format, to_fraction
from tmd.functions import load_function

WHOLE = (("sin", 100, 15, "all"), ("cos", 127, 15, "nearest"), ("tan", 63, 15, "directed"))
"""Function, exponent, bits and rounding of whole binades of binary32."""

PUBLIC = (
    ("sin", "0x1.f6d7518808571p+1023", "F", 44),
    ("sin", "0x1.a880417b7b119p+1023", "F", 43),
    ("cos", "0x1.61a3db8c8d129p+1022", "F", 59),
    ("cos", "0x1.2b5fe88a9d8d5p+903", "F", 47),
    ("cos", "0x1.f08b14e1c4d0fp+890", "F", 52),
    ("cos", "0x1.08087e9aad90bp+887", "F", 46),
    ("sin", "0x1.6ac5b262ca1ffp+849", "F", 68),
    ("cos", "0x1.8bb5847d49973p+845", "F", 47),
    ("cos", "0x1.3eec5912ea7cdp+331", "F", 50),
    ("cos", "0x1.6deb37da81129p+205", "F", 47),
)
"""Hard arguments that tests of libraries have, with kind and identical bits.

LLVM-libc has them in its tests of sin and cos, and CORE-MATH in its lists.
"""

CORES, BINADES = 1000, 1012
"""Cores of the forecast, and the binades [2^12, 2^1024) of binary64 beyond the public lists."""

Case = tuple[Fraction, str]


def find_by_brute_force(
    name: str,
    exponent: int,
    precision: int,
    bits: int,
    rounding: str = "all",
    phases: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1)),
) -> set[Case]:
    """Return the cases of a binade with phases in [lo, hi), from the value of every argument.

    The C library's functions of 64 digits select the arguments that balls decide, with twice the
    distance of a case as a margin for their errors, for up to 32 digits.
    """
    fmt = Format.create(precision)
    lattice = PhaseLattice.of_binade(exponent, fmt)
    upper, lower = lattice.step >> 256, (lattice.step >> 224) & 0xFFFFFFFF
    near: list[int] = []
    pi = np.longdouble(np.pi) + np.longdouble(1.2246467991473532e-16)
    function = getattr(np, name)
    chunk = min(lattice.first, 1 << 20)
    lo, hi = (float(end) * 2.0**64 for end in phases)
    for first in range(lattice.first, 2 * lattice.first, chunk):
        m = np.arange(first, first + chunk, dtype=np.uint64)
        # The phase in units of 2^-64, modulo 1 and but for less than m units.
        word = m * np.uint64(upper)
        if hi - lo < 2.0**64:
            inside = (word >= lo - 2.0**33) & (word < hi)
            m, word = m[inside], word[inside]
        low = (m * np.uint64(lower)).astype(np.longdouble) / 2.0**32
        phase = (word.view(np.int64).astype(np.longdouble) + low) / 2.0**64
        y: Any = abs(function(phase * pi))
        y = np.ldexp(y, fmt.precision - np.frexp(y)[1] + 1)
        near += map(int, m[abs(y - np.rint(y)) < 2.0 ** (2 - bits)])
    asked = (m for m in near if phases[0] <= lattice.phase(m) % 1 < phases[1])
    return decide_all(name, fmt, lattice, asked, bits, rounding)


def decide_all(
    name: str, fmt: Format, lattice: PhaseLattice, numbers: Iterable[int], bits: int,
    rounding: str = "all",
) -> set[Case]:  # fmt: skip
    """Return the cases among some arguments m 2^quantum, as balls decide them."""
    kinds = {"all": (0, 1), "nearest": (1,), "directed": (0,)}[rounding]
    cases = set()
    for m in numbers:
        x = Fraction(m) * Fraction(2) ** lattice.quantum
        for middle in kinds:
            _, identical = measure_distance(load_function(name), fmt, x, bool(middle))
            if identical is None or identical + 1 >= bits:
                cases.add((x, "FM"[middle]))
    return cases


def compare(result: tmd.PeriodicResult, expected: set[Case], arguments: int) -> tuple:
    """Return a row that compares a search with brute force."""
    found = {(case.exact_argument, case.kind) for case in result.cases}
    lo, hi = result.phases
    part = "whole" if hi - lo == 1 else f"[{float(lo):.6g}, + 2^{np.log2(float(hi - lo)):.3g})"
    question = result.function, result.exponent, part, result.rounding, result.bits
    extra, missing = len(found - expected), len(expected - found)
    return (result.format.precision, *question, arguments, len(expected), extra, missing)


def run(study: Study) -> dict:
    """Compare with brute force, find public cases, and measure rates."""
    rows: list[tuple] = []
    for name, exponent, bits, rounding in WHOLE[:1] if study.quick else WHOLE:
        precision = 16 if study.quick else 24
        bits -= 24 - precision
        result = tmd.search_periodic(
            name, exponent, bits=bits, precision=precision, rounding=rounding, device=study.device
        )
        expected = find_by_brute_force(name, exponent, precision, bits, rounding)
        rows.append(compare(result, expected, 1 << (precision - 1)))
    third = Fraction(1, 5)
    if not study.quick:
        phases = third, third + Fraction(1, 64)
        result = tmd.search_periodic(
            "sin", 200, phases=phases, bits=19, precision=32, device=study.device
        )
        expected = find_by_brute_force("sin", 200, 32, 19, phases=phases)
        rows.append(compare(result, expected, 1 << 25))
    fmt = Format.create(53)
    size = Fraction(1, 1 << (43 if study.quick else 36))
    for name, exponent in (("sin", 1023), ("cos", 11), ("tan", 1023)):
        phases = third, third + size
        result = tmd.search_periodic(name, exponent, phases=phases, bits=12, device=study.device)
        lattice = PhaseLattice.of_binade(exponent, fmt)
        numbers = lattice.points(*phases)
        expected = decide_all(name, fmt, lattice, numbers, 12)
        rows.append(compare(result, expected, len(numbers)))
    question = ("precision", "function", "exponent", "phases", "rounding", "bits")
    heads = (*question, "arguments", "cases", "extra", "missing")
    study.table("Searches and brute force", heads, rows)
    assert all(row[-1] == row[-2] == 0 for row in rows)
    public = find_public(study)
    rates = measure_rates(study)
    return {"brute force": rows, "public": public, "rates": rates}


def find_public(study: Study) -> list[tuple]:
    """Search windows around the public cases."""
    rows = []
    half = Fraction(1, 1 << (32 if study.quick else 14))
    for name, text, kind, bits in PUBLIC:
        x = to_fraction("x", text)
        exponent = x.numerator.bit_length() - 1
        lattice = PhaseLattice.of_binade(exponent, Format.create(53))
        phase = lattice.phase(x.numerator >> lattice.quantum) % 1
        phases = max(phase - half, Fraction(0)), min(phase + half, Fraction(1))
        result = tmd.search_periodic(name, exponent, phases=phases, bits=42, device=study.device)
        found = [case for case in result.cases if case.exact_argument == x]
        assert [(c.kind, c.identical_bits) for c in found] == [(kind, bits)]
        rows.append((name, text, kind, bits, "found", len(result.cases) - 1, result.hardness))
    heads = ("function", "argument", "kind", "identical bits", "", "others", "hardness")
    title = f"Public cases, and all of 42 bits whose phases differ by less than {float(half):.2g}"
    study.table(title, heads, rows)
    return rows


def measure_rates(study: Study) -> list[tuple]:
    """Time windows far from zeros and near them, in two binades."""
    rows = []
    part = Fraction(1, 1 << (30 if study.quick else 13))
    for name, exponent, lo in (("sin", 1023, Fraction(1, 5)), ("sin", 1023, Fraction(1, 2)),
                               ("sin", 1023, Fraction(1, 1 << 10)), ("sin", 11, Fraction(1, 5)),
                               ("cos", 1023, Fraction(1, 5)), ("tan", 1023, Fraction(1, 5)),
                               ("tan", 1023, Fraction(15, 32))):  # fmt: skip
        phases = lo, lo + part
        tmd.search_periodic(name, exponent, phases=(lo, lo + part / 64), device=study.device)
        wall, busy = time.perf_counter(), time.process_time()
        result = tmd.search_periodic(name, exponent, phases=phases, device=study.device)
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
        arguments = float(part) * 2.0**52
        hours = busy / float(part) / 3600
        rows.append((name, exponent, float(lo), result.windows, len(result.cases), result.hardness,
                     wall, busy, result.windows / busy, arguments / busy, hours,
                     hours * BINADES / CORES))  # fmt: skip
    question = ("function", "exponent", "from phase", "windows", "cases", "hardness")
    rate = ("windows / busy s", "arguments / busy s", "core hours a binade", "hours")
    title = f"""Rates with 45 bits; busy seconds are those of all cores together.
The last column is for {BINADES} binades on {CORES} cores."""
    study.table(title, (*question, "wall s", "busy s", *rate), rows)
    return rows
