"""lbm: steps by ten moments of 16 bits beside those of 16-bit populations."""

from __future__ import annotations

import hetero
from benchmarks import lbm_moments
from benchmarks.measurements import Measurement

CASES = (("cavity", "D3Q19", "float16"), ("periodic box", "D3Q19", "float16"))


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure both domains, as `lbm_moments` does the other types of numbers."""
    return lbm_moments.run(device, quick, CASES)
