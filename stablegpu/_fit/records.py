"""Records that host code and loops of a fit exchange, one for each data set.

In memory both are flat arrays of float64. Host code and loops view them as arrays of records
(`values.view(OUTCOME)`), whose fields compiled code reads as attributes. Kernels do not get arrays
of records: Numba derives the type of such an argument anew at each launch, which takes 0.1 ms.
Record types are aligned (`align=True`), because compiled code reads others byte by byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PEAK = np.dtype(
    [(name, np.float64) for name in ("loglik", "alpha", "beta", "loc", "scale")], align=True
)
"""Peak of a rough profile of the likelihood (`_fit/second_starts/formulas.py`): a distribution in
S0, and its log-likelihood for each observation."""

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
        ("status", np.int64),  # see `_fit/optimizer/codes.py`
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


def make_starts(parameters: np.ndarray, units: np.ndarray, lowest: ArrayLike) -> np.ndarray:
    """Return the records `START` of (sets, 4) parameters, (sets, 2) units and the least alphas."""
    starts = np.zeros(len(units), START)
    starts["parameters"], starts["lowest_alpha"] = parameters, lowest
    starts["unit_loc"], starts["unit_scale"] = units.T
    return starts


def missing_outcomes(count: int) -> np.ndarray:
    """Return `count` outcomes of data sets that were not fitted: their numbers are NaN."""
    outcomes = np.zeros(count, OUTCOME)
    for name in ("loglik", "parameters", "widths", "information"):
        outcomes[name] = np.nan
    return outcomes
