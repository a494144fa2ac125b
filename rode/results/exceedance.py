"""Probabilities that paths exceed levels, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from hetero.equality import equal_by_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@equal_by_value
@dataclass(frozen=True, eq=False)
class Exceedance:
    """Probabilities of exceedance, estimated from independent paths.

    Attributes
    ----------
    levels : (levels,) array
    counts : (levels,) array, how many paths exceed each level
    paths : number of paths
    probability : (levels,) array, counts/paths
    low, high : (levels,) arrays, ends of the intervals of Wilson (1927)
        They hold for levels that no path, or every one, exceeds, too.
    confidence : probability with which an interval contains the true value, nearly
    """

    levels: np.ndarray
    counts: np.ndarray
    paths: int
    probability: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float

    @classmethod
    def of(cls, peaks: np.ndarray, levels: ArrayLike, confidence: float) -> Exceedance:
        """Count the peaks of one output that exceed levels.

        Raises ValueError if a peak is NaN: whether that path exceeds a level is not known.
        """
        from scipy.stats import binomtest

        array = np.atleast_1d(as_real("levels", levels))
        if array.ndim != 1 or array.size == 0 or np.isnan(array).any():
            raise ValueError(f"levels must be numbers, got {validation.describe(levels)}")
        confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0, closed="neither")
        if unknown := int(np.isnan(peaks).sum()):
            raise ValueError(
                f"peaks of {unknown} of {peaks.size} paths are NaN, so that nobody knows whether "
                "they exceed a level: use a smaller h"
            )
        counts = peaks.size - np.searchsorted(np.sort(peaks), array, side="right")
        ends = [
            binomtest(int(k), peaks.size).proportion_ci(confidence, method="wilson") for k in counts
        ]
        low, high = np.array([[one.low, one.high] for one in ends]).T
        return cls(array, counts, peaks.size, counts / peaks.size, low, high, confidence)
