"""Figures that pages quote are those of the records that they name, to the last digit quoted.

README's table and docs/papers.md are written from the records. The prose of other pages is not: a
number in braces below stands in its page with these words around it, and in a record. A commit
says which run of the record the words were read with: whoever renews a record reads them again.
"""

import re
from decimal import Decimal

import pytest

from studies.papers.result import ROOT, Cell, Figure, read_record

TESTS, PHASES = "studies/tmd-tests-cuda.json", "studies/tmd-phases-cuda.json"
SEARCH, PHASE_1 = "tmd/tmd-cuda.json", "tmd/tmd-tests-cuda.json"
HYBRID, WEAK, STRONG = (f"studies/lbm-{name}-cuda.json" for name in ("hybrid", "weak", "strong"))
FLOWS, SPHERES, PATHS = "lbm/lbm-cuda.json", "lbm/lbm-spheres-cuda.json", "rode/rode-cuda.json"
FITS, FIT = "studies/stablegpu-fit-cuda.json", "stablegpu/fit-cuda.json"
CALLS = "stablegpu/stable-calls-cuda.json"
AUTO = "studies/lbm-hybrid-auto-cuda.json"
HALVES = "lbm/lbm-moments-float16-cuda.json"
MOMENTS, PARTS = "lbm/lbm-moments-cuda.json", "lbm/lbm-moments-devices-cuda.json"

COMMITS = {
    TESTS: "6bd24045cbd2", PHASES: "d42b9f46da5f", SEARCH: "2c5cb6b", PHASE_1: "c62c370+",
    HYBRID: "d42b9f46da5f", WEAK: "34f8cc48f37f", STRONG: "13945d2", FLOWS: "c6fede84cea4",
    SPHERES: "fe17db4", PATHS: "cf81756", FITS: "6bd24045cbd2", FIT: "1ee0cc0", CALLS: "79878da",
    MOMENTS: "47ecaad38732", PARTS: "579b9a8b0db4", HALVES: "06583130c68d", AUTO: "e4a8d91a66e0",
}  # fmt: skip
"""The commit of each record."""


def binade(lo, test):
    return Cell(TESTS, "Search of a binade", (lo, test, "reciprocal"), "s per binade")


def phases(test):
    row = ("[128, 256)", "15", test)
    return [Cell(PHASES, "Tables 6 and 7: seconds", row, f"phase {k}, s") for k in (1, 2, 3)]


def phase_1(test, division="reciprocal"):
    return Figure(PHASE_1, f"phase 1, {test}, {division}, sub-domains of 2^15 arguments")


def exp(binade, bits):
    return Figure(SEARCH, f"exp, all doubles of {binade}, bits = {bits}, all rounding modes")


def hybrid(shape, dtype, share):
    return Cell(HYBRID, "A GPU and the CPU", (shape, dtype, share), "GLUPS")


def box(record, cells, dtype, pattern, mode="alone", boxes="1x1x1", column="GLUPS"):
    title = "Weak scaling" if record == WEAK else "Strong scaling"
    return Cell(record, title, (cells, dtype, pattern, mode, boxes), column)


def cavity(dtype, pattern, lattice=""):
    return Figure(FLOWS, f"cavity 512^3, {dtype}, {pattern}{lattice}")


def states(case):
    record = HALVES if "float16" in case else MOMENTS
    return [Figure(record, f"{case}, {state}") for state in ("moments", "populations")]


def flow(operator, lattice=""):
    return Figure(FLOWS, f"periodic box 512^3, float32, {operator}{lattice}")


def normals(method, dtype="float32", count="1,073,741,824", peer=""):
    return Figure(PATHS, f"normal numbers, {method}, {dtype}, {count}", peer)


def path(method, noise):
    name = f"one Ornstein-Uhlenbeck path, {method}, {noise}, float32, 1,073,741,824 steps"
    return Figure(PATHS, name)


def paths(count, noise, steps):
    return Figure(PATHS, f"{count} Ornstein-Uhlenbeck paths, {noise}, float32, {steps} steps each")


def fused(count, normals=""):
    name = f"fused fine steps, averaged-euler, {count} paths, h/delta 1,024, float32{normals}"
    return Figure(PATHS, name)


def fit(method, column):
    return Cell(FITS, "Fit of 1000 observations, ms", (method,), column)


def new_fit(alpha, record=CALLS):
    return Figure(record, f"maximum-likelihood fit of 1,000 observations, alpha {alpha}")


WIDE, CUBE, SMALL = "[512, 512, 128]", "[384, 384, 384]", "[256, 256, 256]"
GIGA = 1e-2  # from 10^9 to 10^11

QUOTED = [
    ("packages/tmd-accuracy.md", [
        ("(4.2 million cases) | {3.22} s (22 November", [exp("[1, 2)", 32)], 1),
        ("bits = 45 (540 cases) | {2.66} s", [exp("[1, 2)", 45)], 1),
        ("exp, [128, 256), bits = 32 | {51.1} s", [exp("[128, 256)", 32)], 1),
        ("exhaustive search | {5.1}e11 arguments/s",
         [Figure(SEARCH, "every argument by differences, 2^36 of exp from 1 on")], GIGA),
        ("`lefevre`, Algorithm 1, reciprocal | {3.13} |", [phase_1("lefevre")], 1),
        ("of the published times | {13.95} |", [phase_1("swap")], 1),
        ("`alternating` | {27.2} |", [phase_1("alternating")], 1),
        ("`regular` | {29.2} |", [phase_1("regular")], 1),
        ("`clipped` | {35.3} |", [phase_1("clipped")], 1),
        ("`clipped`, float64 quotient | {23.7} |", [phase_1("clipped", "float64")], 1),
        ("`clipped`, integer division | {8.0} |", [phase_1("clipped", "integer")], 1),
        ("`lefevre`, integer division | {0.97} |", [phase_1("lefevre", "integer")], 1),
        ("[1, 2) takes {3.2} s with the clipped test, {6.3} s with Lefevre's in the form of "
         "Algorithm 3, {8.4} s with the regular one and {37} s with Algorithm 1, and [128, 256) "
         "takes {64}, {112}, {176} and {374} s.",
         [binade(lo, test) for lo in ("[1, 2)", "[128, 256)")
          for test in ("clipped", "swap", "regular", "lefevre")], 1),
        ("Algorithm 3): {112} s against {176} s. Algorithm 1 takes {374} s",
         [binade("[128, 256)", test) for test in ("swap", "regular", "lefevre")], 1),
        ("take {27}, {162} and {232} s with Algorithm 1, {8}, {127} and {232} s with Algorithm 3, "
         "together 420 and 367 s, and {8}, {77} and {959} s",
         [*phases("lefevre"), *phases("swap"), *phases("regular")], 1),
    ]),
    ("packages/lbm-many-devices.md", [
        ("float32 | {23.6} | {24.1} with 4.7 % | {24.4} with 3.9 % |",
         [hybrid(WIDE, "float32", s) for s in ("0.0", "0.046875", "0.0390625")], 1),
        ("float64 | {12.6} | {13.0} with 4.5 % | {13.2} with 5.1 % |",
         [hybrid(WIDE, "float64", s) for s in ("0.0", "0.044921875", "0.05078125")], 1),
        ("float32 | {23.3} | **{20.6}** with 5.2 % | {23.8} with 2.9 % |",
         [hybrid(CUBE, "float32", s)
          for s in ("0.0", "0.052083333333333336", "0.028645833333333332")], 1),
        ("float64 | {12.7} | **{11.4}** with 4.2 % | {13.0} with 2.1 % |",
         [hybrid(CUBE, "float64", s)
          for s in ("0.0", "0.041666666666666664", "0.020833333333333332")], 1),
        ("float32 | {23.2} | {23.2} with none | {23.5} with 2.0 % |",
         [hybrid(SMALL, "float32", s) for s in ("0.0", "0.0", "0.01953125")], 1),
        ("float64 | {12.5} | {12.8} with 3.9 % | {13.0} with 5.1 % |",
         [hybrid(SMALL, "float64", s) for s in ("0.0", "0.0390625", "0.05078125")], 1),
        *((f"| {name} | {numbers} | {{{one}}} | {{{ranks}}}, {eff} % | {{{host}}}, ",
           [box(record, cells, dtype, pattern),
            *(box(record, cells, dtype, pattern, mode, "1x1x2") for mode in ("ranks", "host"))], 1)
          for record, name, numbers, cells, dtype, pattern, one, ranks, eff, host in (
            (WEAK, "512^3", "float32 | A-B", "512x512x512", "float32", "ab",
             "25.1", "49.8", "99.3", "50.1"),
            (WEAK, "512^3", "float32 | esoteric", "512x512x512", "float32", "esoteric",
             "24.0", "48.0", "100", "48.1"),
            (WEAK, "512^3", "16-bit storage | A-B", "512x512x512", "float16", "ab",
             "41.6", "83.6", "100", "84.4"),
            (WEAK, "512^3", "float64 | A-B", "512x512x512", "float64", "ab",
             "13.2", "26.4", "99.6", "26.3"),
            (WEAK, "512 x 512 x 128", "float64 | esoteric", "512x512x128", "float64", "esoteric",
             "12.8", "25.3", "98.8", "23.4"),
            (STRONG, "512^3", "float32 | A-B", "512x512x512", "float32", "ab",
             "25.0", "49.4", "98.7", "49.7"),
            (STRONG, "512^3", "float32 | esoteric", "512x512x512", "float32", "esoteric",
             "23.9", "47.3", "98.9", "47.6"),
            (STRONG, "256^3", "float32 | A-B", "256x256x256", "float32", "ab",
             "24.4", "46.9", "96.2", "32.3"),
            (STRONG, "256^3", "float32 | esoteric", "256x256x256", "float32", "esoteric",
             "23.0", "44.5", "96.6", "29.8"),
            (STRONG, "512 x 512 x 128", "float64 | esoteric", "512x512x128", "float64", "esoteric",
             "12.8", "24.9", "97.5", "11.9"))),
        ("one GPU had {46.4} GLUPS on another host", [cavity("float16", "ab")], 1),
    ]),
    ("packages/lbm.md", [
        ("reach {88.72} GLUPS in float32, where one has {44.7} (99.2 %), four {174.5} (97.6 %), "
         "and `SmagorinskyRecursive` has {44.48} on one, with populations {25.08}",
         [Figure(PARTS, f"cavity 512^3 a device, float32, {case}") for case in (
             "recursive, moments, devices: 2", "recursive, moments, devices: 1",
             "recursive, moments, devices: 4",
             "recursive with Smagorinsky's viscosity, moments, devices: 1",
             "recursive with Smagorinsky's viscosity, populations, devices: 1")], 1),
        *((f"| {name}, {domain} | {{{numbers[0]}}} | {{{numbers[1]}}} |",
           states(f"{domain} 512^3, {name.replace('16 bits', 'float16')}"), 1)
          for name, domain, *numbers in (
            ("D3Q19, float32", "cavity", "44.6", "25.0"),
            ("D3Q19, float32", "periodic box", "45.9", "25.6"),
            ("D3Q27, float32", "cavity", "38.0", "17.1"),
            ("D3Q27, float32", "periodic box", "40.6", "17.7"),
            ("D3Q19, float64", "cavity", "21.7", "13.2"),
            ("D3Q19, 16 bits", "cavity", "62.9", "39.8"),
            ("D3Q19, 16 bits", "periodic box", "68.2", "49.5"))),
    ]),
    ("packages/lbm-accuracy.md", [
        ("float32, A-B | {25.0} |", [cavity("float32", "ab")], 1),
        ("float32, esoteric pull | {23.9} (256^3: {23.0}, ",
         [cavity("float32", "esoteric"), box(STRONG, "256x256x256", "float32", "esoteric")], 1),
        ("float64, A-B | {13.2} |", [cavity("float64", "ab")], 1),
        ("16-bit storage, A-B | {41.6} on 26 November (`lbm-weak-cuda.json`), {46.4} on the 25th",
         [box(WEAK, "512x512x512", "float16", "ab"), cavity("float16", "ab")], 1),
        ("float32, A-B, D3Q27 | {17.2} |", [cavity("float32", "ab", ", D3Q27")], 1),
        ("float32, esoteric pull, D3Q27 | {16.3} |", [cavity("float32", "esoteric", ", D3Q27")], 1),
        ("float64, A-B, D3Q27 | {9.2} |", [cavity("float64", "ab", ", D3Q27")], 1),
        ("TRT and BGK reach {24.1} to {24.2} GLUPS, Smagorinsky's model {24.3}, the recursive "
         "regularized one {24.1} and central moments {23.8}; on D3Q27, TRT reaches {16.7} and "
         "central moments {16.9}. Vreman's model, which moves 183 bytes a cell instead of 152, "
         "reaches {23.5}, or {23.9} with",
         [flow("trt"), flow("bgk"), flow("smagorinsky"), flow("recursive"), flow("central-moments"),
          flow("trt", ", D3Q27"), flow("central-moments", ", D3Q27"), flow("vreman"),
          flow("vreman-bgk")], 1),
        ("{23.1} and {22.2} GLUPS of fluid cells",
         [Figure(SPHERES, f"200 spheres in 256^3, float32, {p}: updates of fluid cells")
          for p in ("ab", "esoteric")], 1),
    ]),
    ("migration/lattice-boltzmann.md", [
        ("{23.0} billion updates a second in place on one H200 in float32, for a cavity of 256^3 "
         "cells with walls, and {23.9} for 512^3",
         [box(STRONG, "256x256x256", "float32", "esoteric"), cavity("float32", "esoteric")], 1),
        ("it is {41.6} to {46.4}, by the host",
         [box(WEAK, "512x512x512", "float16", "ab"), cavity("float16", "ab")], 1),
    ]),
    ("packages/rode-accuracy.md", [
        ("`box-muller-fast` | {9.5}e11/s, 90 % of the write limit | cuRAND XORWOW {5.9}e11, Philox "
         "{3.8}e11", [normals("box-muller-fast"),
                      *(normals("box-muller", peer=f"cuRAND {p}") for p in ("XORWOW", "Philox"))],
         GIGA),
        ("`inverse` | {7.2}e11 / {7.2}e11 / {6.4}e11 |",
         [normals(m) for m in ("wallace", "box-muller", "inverse")], GIGA),
        ("`rational` / `ziggurat` | {2.5}e11 / {3.5}e11 |",
         [normals("rational"), normals("ziggurat")], GIGA),
        ("`box-muller` / `wallace` | {3.2}e11 / {2.9}e11 |",
         [normals(m, "float64", "536,870,912") for m in ("box-muller", "wallace")], GIGA),
        ("of 4096 strips) | {3.4}e11 |", [normals("ziggurat", "float64", "536,870,912")], GIGA),
        ("fast normals / exact ones | {7.6}e11 / {6.0}e11 steps/s",
         [path("bridge", "fast noise drawn"), path("bridge", " noise drawn")], GIGA),
        ("the same, `scan`: fast / exact | {6.1}e11 / {5.4}e11 |",
         [path("scan", "fast noise drawn"), path("scan", " noise drawn")], GIGA),
        ("2^14 paths: fast / exact; 2^12 paths | {8.3}e11 / {6.6}e11; {8.2}e11 / {6.3}e11 |",
         [paths(n, noise, steps) for n, steps in (("16,384", "65,536"), ("4,096", "262,144"))
          for noise in ("fast noise drawn", " noise drawn")], GIGA),
        ("one path of given noise, `scan` | {3.3}e11 |", [path("scan", "of given noise")], GIGA),
        ("2^20 paths: exact / fast normals | {6.8}e11 / {8.9}e11 |",
         [fused("1,048,576"), fused("1,048,576", ", fast normals")], GIGA),
        ("the same, 4096 paths | {5.1}e11 / {6.4}e11 |",
         [fused("4,096"), fused("4,096", ", fast normals")], GIGA),
        ("h = 2^-5 | {11.5} ms |",
         [Figure(PATHS, "exact sampling, 3-rode-taylor, 2^9 s, h 2^-5, 4096 paths, peaks")], 1),
    ]),
    ("packages/stablegpu-fits.md", [
        ("data from the host | {1.6} to {1.8} ms for alpha = 0.7 to 1.8 "
         "(`stable-calls-cuda.json`); {5.1} ms for alpha = 0.3",
         [new_fit(0.7), new_fit(1.8), new_fit(0.3, FIT)], 1),
        ("A fit takes {1.5} ms in the mean and {2.0} ms at the 95th percentile there; the "
         "contracting grid in four dimensions takes {30} and {48} ms, in two {12} and {17} ms.",
         [fit(method, column) for method in ("ml", "grid", "grid2")
          for column in ("mean", "95th percentile")], 1),
    ]),
]  # fmt: skip
"""Pages, and for each the words around quoted numbers, where these stand, and a factor."""

CASES = [
    pytest.param(page, words, sources, factor, id=f"{page}: {words[:40]}")
    for page, quotes in QUOTED
    for words, sources, factor in quotes
]


@pytest.mark.parametrize(("page", "words", "sources", "factor"), CASES)
def test_a_quoted_figure_is_that_of_its_record(page, words, sources, factor):
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    assert re.sub(r"[{}]", "", words) in text
    numbers = re.findall(r"\{([\d.]+)\}", words)
    for number, source in zip(numbers, sources, strict=True):
        half = Decimal(1).scaleb(Decimal(number).as_tuple().exponent) / 2
        off = abs(Decimal(number) - Decimal(source.read() * factor))
        assert off <= half * Decimal("1.0001"), (number, source)


@pytest.mark.parametrize("record", COMMITS)
def test_a_renewed_record_has_its_pages_read_again(record):
    assert read_record(record)["facts"]["commit"] == COMMITS[record]


def test_auto_left_all_rows_to_the_gpu_as_its_page_says():
    text = (ROOT / "docs/packages/lbm-many-devices.md").read_text(encoding="utf-8")
    assert "in each of ten domains and both precisions" in " ".join(text.split())
    rows = read_record(AUTO)["tables"][0]["rows"]
    assert len({tuple(row[0]) for row in rows}) == 10
    assert sorted({row[1] for row in rows}) == ["float32", "float64"]
    assert all(row[3] == 0 for row in rows)
