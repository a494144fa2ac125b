"""The six outputs of an evaluation, written by kernels (see `outputs.py`)."""

from typing import Any

from hetero.jit import kernel
from stablegpu._density.outputs import write_values

_write = kernel(device=True)(write_values)


@kernel(device=True)
def write_to(outputs: Any, i: int, values: Any) -> None:
    """Write a point's six values to a tuple of arrays; see `write_values`."""
    pdf, cdf, sf, logpdf, logcdf, logsf = outputs
    _write(pdf, cdf, sf, logpdf, logcdf, logsf, i, values)
