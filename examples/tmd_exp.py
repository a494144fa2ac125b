"""The hard-to-round cases of exp on [1, 1 + 2^-13), in the paper's definition and literally.

    python examples/tmd_exp.py [--device cpu|cuda|auto] [--out DIR] [--quick]

Fortin, Gouicem and Graillat found 243 arguments among 2^40. The script finds them again, and the
241 + 254 among the 2^39 doubles there, checks the certificate, and draws the distances: as evenly
spread as the values' digits are random. `--quick` takes 2^33 doubles.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import matplotlib.figure
import numpy as np
from rich.console import Console
from rich.table import Table

import hetero
import tmd
from _shared import Figure, Row, parse_arguments

PAPER, FLOATS, MIDPOINTS = 243, 241, 254
COLOURS = {"F": "#1668b0", "M": "#d1602b"}


@dataclass(frozen=True)
class Setting:
    """A domain from 1 on with 2^width doubles, and the bits of both searches."""

    width: int
    bits: int

    @property
    def domain(self) -> tuple[int, Fraction]:
        return 1, 1 + Fraction(1 << self.width, 1 << 52)


FULL, QUICK = Setting(39, 32), Setting(33, 26)


def literal(setting: Setting, device) -> tmd.Result:
    """Doubles whose values are closer than 2^-bits ulp to a float or a midpoint."""
    return tmd.search("exp", setting.domain, bits=setting.bits, device=device)


def papers(setting: Setting, device) -> tmd.Result:
    """54-bit arguments whose values are closer than 2^-(bits + 1) ulp to a float."""
    return tmd.search(
        "exp",
        setting.domain,
        bits=setting.bits + 1,
        argument_precision=54,
        rounding="directed",
        device=device,
    )


def counts(result: tmd.Result) -> tuple[int, int]:
    """Cases near floats and near midpoints."""
    middle = int(result.cases.middle.sum())
    return len(result.cases) - middle, middle


def report(found: tmd.Result, paper: tmd.Result) -> Table:
    table = Table(
        "argument", "near a", "identical bits", "distance, ulp", title_justify="left",
        title=f"exp: {counts(found)} cases near floats and midpoints, {len(paper.cases)} in the "
        "paper's definition; the hardest:",
    )  # fmt: skip
    for case in found.cases.hardest(8):
        kind = {"F": "float", "M": "midpoint"}[case.kind]
        table.add_row(case.hex, kind, str(case.identical_bits), f"{case.distance.upper:.6g}")
    return table


def draw(found: tmd.Result, path: Path) -> Path:
    """Distances over the arguments, and how many are below a bound."""
    figure = matplotlib.figure.Figure(figsize=(12, 4.6), dpi=150, layout="constrained")
    places, share = figure.subplots(1, 2, width_ratios=(3, 2))
    x = found.cases.arguments - 1.0
    distance = found.cases.distances.mean(axis=1)
    scale = 2.0**found.bits
    for kind, middle in (("F", False), ("M", True)):
        chosen = found.cases.middle == middle
        label = "near a midpoint" if middle else "near a float"
        style = {"color": COLOURS[kind], "label": label}
        places.semilogy(x[chosen], distance[chosen], ".", markersize=4, base=2, **style)
        ordered = np.sort(distance[chosen]) * scale
        share.step(ordered, np.arange(1, ordered.size + 1), where="post", **style)
    expected = found.certificate["blocks"][0][3] * 2.0 ** (1 - found.bits)
    share.plot([0, 1], [0, expected], color="black", linewidth=1, label="random digits")
    places.set(xlabel="x - 1", ylabel="distance from the breakpoint (ulp)")
    share.set(xlabel=f"distance, in 2^-{found.bits} ulp", ylabel="cases up to there")
    for axes in (places, share):
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
    return path


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """The figure of this domain, drawn once, with values from `device`."""
    setting = QUICK if quick else FULL
    caption = (
        f"Arguments of exp among the 2^{setting.width} doubles from 1 on whose values are closer "
        f"than 2^-{setting.bits} ulp to a floating-point number or to a midpoint: all of them, as "
        "the certificate proves. Their distances are spread like those of random digits."
    )
    path = draw(literal(setting, device), out / "tmd_exp.png")
    return [Figure("Where exp is hard to round", caption, path)]


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """Both searches on `device`, checked by the published counts, or by looking at everything."""
    setting = QUICK if quick else FULL
    literal(Setting(setting.width - 6, setting.bits), device)  # compiles
    begin = time.perf_counter()
    found = literal(setting, device)
    seconds = time.perf_counter() - begin
    verdict = _by_everything(device) if quick else _by_counts(found, papers(setting, device))
    return [
        Row(
            job=f"hard cases of exp among 2^{setting.width} doubles",
            device=str(device),
            rate=2.0**setting.width / seconds / 1e9,
            unit="Garguments/s",
            fraction_of_limit=None,
            limit="",
            check=verdict[0],
            passed=verdict[1],
        )
    ]


def _by_counts(found, paper) -> tuple[str, bool]:
    seen = (*counts(found), len(paper.cases))
    text = f"{seen[0]} + {seen[1]} cases, {seen[2]} in the paper's definition"
    return f"{text}; published: {PAPER}", seen == (FLOATS, MIDPOINTS, PAPER)


def _by_everything(device) -> tuple[str, bool]:
    """A small domain, every argument looked at."""
    domain = Setting(24, 16).domain
    fast, slow = (
        tmd.search("exp", domain, bits=16, algorithm=a, device=device)
        for a in ("clipped", "exhaustive")
    )
    same = np.array_equal(fast.cases.arguments, slow.cases.arguments)
    return f"{len(fast.cases)} cases of 2^24 doubles, as by looking at each", same


def main() -> int:
    options = parse_arguments(__doc__.splitlines()[0], "out/tmd_exp")
    device = None if options.device == "auto" else options.device
    setting = QUICK if options.quick else FULL
    found, paper = literal(setting, device), papers(setting, device)
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log has no width of its own
    console.print(report(found, paper))
    checked = tmd.verify(found.certificate, device=device)
    console.print(f"Certificate {found.certificate['hash']}: {checked}")
    console.print(f"Figure: {draw(found, options.out / 'tmd_exp.png')}")
    if not options.quick and not _by_counts(found, paper)[1]:
        console.print("The counts are not the published ones.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
