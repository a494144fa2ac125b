"""lbm: steps whose state is ten moments beside those of populations, with the same operator."""

from __future__ import annotations

import hetero
import lbm
from benchmarks.lbm import bandwidth, seconds_per_step
from benchmarks.measurements import Measurement
from lbm._performance.cavity import TAU, make_walls
from lbm.lattices.precision import PRECISIONS

WALLS = make_walls(0.1)
CASES = (
    ("cavity", "D3Q19", "float32"),
    ("periodic box", "D3Q19", "float32"),
    ("periodic box", "D3Q27", "float32"),
    ("cavity", "D3Q27", "float32"),
    ("cavity", "D3Q19", "float64"),
    ("periodic box", "D3Q19", "float64"),
)
"""Domain, lattice and storage of each pair of rates."""


def run(
    device: hetero.Device, quick: bool, cases: tuple[tuple[str, str, str], ...] = CASES
) -> list[Measurement]:
    """Measure all pairs; populations are in two copies, as moments are."""
    gpu, limit = device.kind == "cuda", bandwidth(device, quick)
    n = 24 if quick else 512 if gpu else 128
    figures = []
    for domain, lattice, storage in cases[:1] if quick else cases:
        rates = {}
        for state in "populations", "moments":
            s = lbm.Simulation(
                (n, n, n), collision=lbm.RecursiveRegularized(TAU), lattice=lattice, state=state,
                boundaries=WALLS if domain == "cavity" else {}, pattern="ab", device=device,
                check=0, keep_good_state=False, **PRECISIONS[storage].arguments,
            )  # fmt: skip
            seconds, timing = seconds_per_step(s, device, 4)
            moved, rates[state] = s.problem.bytes_per_update(), n**3 / seconds / 1e9
            figures.append(
                Measurement(
                    f"{domain} {n}^3, {lattice}, {storage}, {state}", rates[state], "GLUPS",
                    limit[0] / moved / 1e9, f"{limit[1]} / {moved} B",
                    {"populations": rates["populations"]} if state == "moments" else {},
                    "recursive regularized, in two copies; steps only", timing,
                )
            )  # fmt: skip
            del s
    return figures
