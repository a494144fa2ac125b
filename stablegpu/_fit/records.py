"""Records that host code and loops of a fit exchange, one for each data set.

In memory both are flat arrays of float64. Host code and loops view them as arrays of records
(`values.view(OUTCOME)`), whose fields compiled code reads as attributes. Kernels do not get arrays
of records: Numba derives the type of such an argument anew at each launch, which takes 0.1 ms.
Record types are aligned (`align=True`), because compiled code reads others byte by byte.
"""

from __future__ import annotations

import numpy as np

PEAK = np.dtype(
    [(name, np.float64) for name in ("loglik", "alpha", "beta", "loc", "scale")], align=True
)
"""Peak of a rough profile of the likelihood (`_fit/likelihood/second_starts/formulas.py`): a
distribution in S0, and its log-likelihood for each observation."""

PEAKS = 6
"""Peaks that are kept of a profile."""

LOC_IN_S1 = 16
"""Bit beside those of the four free parameters: the location at the start is that of S1."""

START = np.dtype(
    [
        ("parameters", np.float64, 4),  # alpha, beta, (location - unit_loc)/unit_scale,
        ("unit_loc", np.float64),  # and the logarithm of the scale over unit_scale
        ("unit_scale", np.float64),
        ("lowest_alpha", np.float64),  # of the data set, if alpha is free
        ("first_alpha", np.int64),  # indices of the alphas of second starts,
        ("last_alpha", np.int64),
        ("beta_index", np.int64),  # and of their beta; -1 for all
    ],
    align=True,
)
"""Start of the ascent of a data set, and the second starts that are possible."""

OUTCOME = np.dtype(
    [
        ("evaluations", np.int64),  # of the likelihood
        ("status", np.int64),  # its number in STATUSES; see `_fit/likelihood/optimizer/codes.py`
        ("in_s1", np.bool_),  # whether the location is that of S1
        ("loglik", np.float64),
        ("parameters", np.float64, 4),  # in the units of `START`
        ("widths", np.float64, 4),  # steps of the differences that gave the information; 0: none
        ("information", np.float64, (4, 4)),  # observed
        ("gradient", np.float64, 4),  # of the log-likelihood by the parameters
        ("peaks", PEAK, PEAKS),  # of the profile; filled only if second starts are requested
    ],
    align=True,
)
"""End of an ascent."""


STATUSES = ("converged", "stuck", "exhausted", "impossible", "constant", "not finite", "too wide")
"""Ways in which a fit can end.

- "converged": at a maximum
- "stuck": where rounding allowed no further gain
- "exhausted": after too many evaluations
- "impossible": the fixed parameters do not allow the data
- "constant", "not finite", "too wide": the data cannot be fitted, because half of them are equal
  (or all may be: all censored on one side, or all in one cell), because NaN or infinity is among
  them, or because their range is beyond that of float64
"""

CONVERGED = STATUSES[:2]
"""Statuses of fits that ended at a maximum, as far as rounding allows."""

REMEDIES = {
    "constant": "data must vary: at least half of the values are equal, or all intervals of lower "
    "and upper share a point (all censored on one side, or all in one cell), so the data tell no "
    "scale. Remedy: observations or narrower intervals that tell values apart",
    "not finite": "data must be finite: remove infinite values, and NaN by nan_policy='omit'",
    "too wide": "data must span less than the range of float64: rescale them first",
}
"""Remedy for data that cannot be fitted, by status."""


def missing_outcomes(count: int) -> np.ndarray:
    """Return `count` outcomes of data sets that were not fitted: their numbers are NaN."""
    outcomes = np.zeros(count, OUTCOME)
    for name in ("loglik", "parameters", "widths", "information"):
        outcomes[name] = np.nan
    return outcomes
