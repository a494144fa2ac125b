"""The six outputs of an evaluation: pdf, cdf, sf and their logarithms, in the order of NAMES.

Loops get an array for each of them, which is empty if that function was not requested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetero.arrays import Workspace
from hetero.jit import scalar


def output_arrays(
    outputs: Mapping[str, Any], names: tuple[str, ...], workspace: Workspace
) -> tuple[Any, ...]:
    """Return the array of each name, an empty one for those that `outputs` lacks."""
    empty = None if all(name in outputs for name in names) else workspace.output((0,), reuse="none")
    return tuple(outputs.get(name, empty) for name in names)


def write_values(outputs: Any, i: int, values: Any) -> None:
    """Write the requested ones of a point's six values; the arrays of the others are empty.

    Parallel loops call this function: Numba 0.68 drops what a loop itself writes to arrays that
    it has unpacked from a tuple.
    """
    pdf, cdf, sf, logpdf, logcdf, logsf = outputs
    f, low, high, log_f, log_low, log_high = values
    if pdf.size:
        pdf[i] = f
    if cdf.size:
        cdf[i] = low
    if sf.size:
        sf[i] = high
    if logpdf.size:
        logpdf[i] = log_f
    if logcdf.size:
        logcdf[i] = log_low
    if logsf.size:
        logsf[i] = log_high


write = scalar(write_values)
"""`write_values` in loops on the CPU; `outputs_on_gpu.py` compiles it for kernels."""
