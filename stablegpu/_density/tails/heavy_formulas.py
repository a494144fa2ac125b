"""The sum of the series of a heavy tail (`heavy_series.py`), for both targets."""

import math
from typing import Any

from hetero.jit import scalar


@scalar
def sum_tail(y: float, alpha: float, series: Any) -> tuple[float, ...]:
    """Sum the series of a heavy tail; return pdf, probabilities below and above, and logarithms.

    `series` has the coefficients tail1 to tail4 (`heavy_series.py`).
    """
    log_y = math.log(y)
    z = math.exp(-alpha * log_y)
    high = ((series.tail4 * z + series.tail3) * z + series.tail2) * z + series.tail1
    slope = 3.0 * series.tail3 + 4.0 * series.tail4 * z
    slope = (slope * z + 2.0 * series.tail2) * z + series.tail1
    log_high = math.log(high) - alpha * log_y
    log_pdf = math.log(alpha * slope) - (alpha + 1.0) * log_y
    high *= z
    return math.exp(log_pdf), 1.0 - high, high, log_pdf, math.log1p(-high), log_high
