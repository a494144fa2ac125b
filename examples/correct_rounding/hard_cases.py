"""Find the hard-to-round cases of exp on [1, 1 + 2^-13), by two definitions.

    python examples/correct_rounding/hard_cases.py [--device cpu|cuda|auto] [--out DIR] [--quick]

Fortin, Gouicem and Graillat (2016) found 243 cases among 2^40 arguments of 54 bits. The script
finds them again, as well as the 241 + 254 cases among the 2^39 doubles there; it verifies the
certificate and draws the distances, which are distributed as if the digits were random.
`--quick` searches 2^33 doubles.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import hetero
import tmd
from hetero.display.figures import PALETTE, new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import Figure, Row, parse_arguments

PUBLISHED, FLOATS, MIDPOINTS = 243, 241, 254
"""Published number of cases, and numbers of cases near floats and midpoints among doubles."""

COLOURS = {"F": PALETTE[0], "M": PALETTE[1]}


@dataclass(frozen=True)
class Setting:
    """A domain from 1 on with 2^width doubles, and the bits of both searches."""

    width: int
    bits: int

    @property
    def domain(self) -> tuple[int, Fraction]:
        """The domain (lo, hi)."""
        return 1, 1 + Fraction(1 << self.width, 1 << 52)


FULL, QUICK = Setting(39, 32), Setting(33, 26)


def search_doubles(setting: Setting, device: hetero.Device | str | None) -> tmd.Result:
    """Find the doubles whose values are closer than 2^-bits ulp to a float or a midpoint."""
    return tmd.search("exp", setting.domain, bits=setting.bits, device=device)


def search_as_published(setting: Setting, device: hetero.Device | str | None) -> tmd.Result:
    """Find the 54-bit arguments whose values are closer than 2^-(bits + 1) ulp to a float."""
    return tmd.search(
        "exp",
        setting.domain,
        bits=setting.bits + 1,
        argument_precision=54,
        rounding="directed",
        device=device,
    )


def count_kinds(result: tmd.Result) -> tuple[int, int]:
    """Return the numbers of cases near floats and near midpoints."""
    middle = int(result.cases.middle.sum())
    return len(result.cases) - middle, middle


def make_table(result: tmd.Result, published: tmd.Result) -> Table:
    """Return a table of the hardest cases."""
    floats, midpoints = count_kinds(result)
    table = Table(
        "argument", "near a", "identical bits", "distance, ulp", title_justify="left",
        title=f"exp: {floats} cases near floats and {midpoints} near midpoints, "
        f"{len(published.cases)} by the published definition. The hardest are:",
    )  # fmt: skip
    for case in result.cases.hardest(8):
        kind = {"F": "float", "M": "midpoint"}[case.kind]
        table.add_row(case.hex, kind, str(case.identical_bits), f"{case.distance.upper:.6g}")
    return table


def draw(result: tmd.Result, path: Path) -> Path:
    """Draw the distances over the arguments, and their distribution; return the path."""
    figure = new_figure((12, 4.6), dpi=150)
    scatter, steps = figure.subplots(1, 2, width_ratios=(3, 2))
    x = result.cases.arguments - 1.0
    distance = result.cases.distances.mean(axis=1)
    scale = 2.0**result.bits
    for kind, middle in (("F", False), ("M", True)):
        of_kind = result.cases.middle == middle
        label = "near a midpoint" if middle else "near a float"
        style = {"color": COLOURS[kind], "label": label}
        scatter.semilogy(x[of_kind], distance[of_kind], ".", markersize=4, base=2, **style)
        ordered = np.sort(distance[of_kind]) * scale
        steps.step(ordered, np.arange(1, ordered.size + 1), where="post", **style)
    certificate = result.certificate
    count = certificate["blocks"][0][certificate["columns"].index("count")]
    expected = count * 2.0 ** (1 - result.bits)  # of each kind, if the digits were random
    steps.plot([0, 1], [0, expected], color="black", linewidth=1, label="random digits")
    scatter.set(xlabel="x - 1", ylabel="distance from the breakpoint (ulp)")
    steps.set(xlabel=f"distance, in 2^-{result.bits} ulp", ylabel="number of closer cases")
    for axes in (scatter, steps):
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(path)
    return path


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """Draw the figure of this domain, with values from `device`."""
    setting = QUICK if quick else FULL
    caption = (
        f"All arguments of exp, among the 2^{setting.width} doubles from 1 on, whose values are "
        f"closer than 2^-{setting.bits} ulp to a floating-point number or to a midpoint. A "
        "certificate proves that none is missing. The distances are distributed as if the digits "
        "of the values were random."
    )
    path = draw(search_doubles(setting, device), out / "tmd_exp.png")
    command = "tmd search exp 1 1.0001 --bits 32 --plot exp.html"
    return [Figure("Where is exp hard to round?", caption, path, command, ("Fortin2016",))]


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """Run both searches on `device` and check them, by the published counts or exhaustively."""
    setting = QUICK if quick else FULL
    search_doubles(Setting(setting.width - 6, setting.bits), device)  # compiles
    begin = time.perf_counter()
    result = search_doubles(setting, device)
    seconds = time.perf_counter() - begin
    if quick:
        check, passed = _check_exhaustively(device)
    else:
        check, passed = _check_counts(result, search_as_published(setting, device))
    return [
        Row(
            job=f"hard cases of exp among 2^{setting.width} doubles",
            device=str(device),
            rate=2.0**setting.width / seconds / 1e9,
            unit="G arguments/s",
            fraction_of_limit=None,
            limit="",
            check=check,
            passed=passed,
            tolerance="none: the numbers of cases must be equal",
        )
    ]


def _check_counts(result: tmd.Result, published: tmd.Result) -> tuple[str, bool]:
    """Compare the numbers of cases with the known ones; return a text and whether they agree."""
    floats, midpoints = count_kinds(result)
    text = (
        f"{floats} + {midpoints} cases, {len(published.cases)} by the published definition "
        f"(published: {PUBLISHED})"
    )
    return text, (floats, midpoints, len(published.cases)) == (FLOATS, MIDPOINTS, PUBLISHED)


def _check_exhaustively(device: hetero.Device) -> tuple[str, bool]:
    """Compare with an exhaustive search of a small domain; return a text and whether they agree."""
    domain = Setting(24, 16).domain
    clipped, exhaustive = (
        tmd.search("exp", domain, bits=16, algorithm=algorithm, device=device)
        for algorithm in ("clipped", "exhaustive")
    )
    agree = np.array_equal(clipped.cases.arguments, exhaustive.cases.arguments)
    return f"{len(clipped.cases)} cases in 2^24 doubles, as by an exhaustive search", agree


def main() -> int:
    """Run the example and return the exit code."""
    options = parse_arguments(__doc__.splitlines()[0], "out/tmd_exp")
    device = None if options.device == "auto" else options.device
    setting = QUICK if options.quick else FULL
    result, published = search_doubles(setting, device), search_as_published(setting, device)
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    console.print(make_table(result, published))
    verified = tmd.verify(result.certificate, device=device)
    console.print(f"Certificate {result.certificate['hash']} verified: {verified}")
    console.print(f"Figure: {draw(result, options.out / 'tmd_exp.png')}")
    if not options.quick and not _check_counts(result, published)[1]:
        console.print("The numbers of cases differ from the published ones.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
