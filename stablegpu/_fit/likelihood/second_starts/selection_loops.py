"""Second starts of maximum likelihood, at other peaks of a rough profile of the likelihood.

The choice of peaks is compiled for the host.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from hetero.jit import serial
from stablegpu._fit.likelihood.second_starts import formulas as of
from stablegpu._fit.records import PEAKS

MARGIN, MARGIN_OF_FEW = 0.03, 6.0
"""Largest distance of another peak, at which an ascent starts, below the likelihood that was
reached and below the highest peak: for each observation, and in all. The profile is rough, by 0.02
to 0.05 for an observation."""

MANY = 15
"""Observations from which on a peak near a distribution that was reached is its own: of fewer any
may have a maximum beside it."""

NEARBY = 2.0
"""Scales between two locations that belong to one peak."""

_ALPHAS = np.array(of.ALPHAS)

_LOWEST_FLOAT = -np.finfo(np.float64).max


@serial
def find_other_peaks(outcomes, ties, units, scales, tangents, alphas, chosen):
    """Write to `chosen` (sets, PEAKS) which peaks of the profiles need an ascent; return if any.

    A peak that belongs to the distribution at the end of the first ascent is not climbed again, nor
    one that is much lower. `scales`, in units, and `tangents` of pi alpha/2 are those at the end of
    the ascents, `alphas` the rows of the table of profiles; ties[s, 1] is the weight of all data.
    """
    any_chosen = False
    for s in range(outcomes.size):
        outcome, size = outcomes[s], ties[s, 1]
        highest, reached = outcome.peaks[0].loglik, outcome.loglik / size
        if np.isnan(highest) or reached > highest:
            highest = reached
        least = max(highest - MARGIN - MARGIN_OF_FEW / size, _LOWEST_FLOAT)
        alpha, scale = outcome.parameters[0], units[s, 1] * scales[s]
        loc = units[s, 0] + units[s, 1] * outcome.parameters[2]
        if outcome.in_s1:
            loc += outcome.parameters[1] * scale * tangents[s]
        for k in range(PEAKS):
            peak = outcome.peaks[k]
            row = 0
            while row < alphas.size and alphas[row] < peak.alpha:
                row += 1
            near = alpha >= alphas[max(row - 1, 0)] or row <= 1
            near = near and (
                alpha <= alphas[min(row + 1, alphas.size - 1)] or row >= alphas.size - 2
            )
            near = near and abs(peak.loc - loc) < NEARBY * max(peak.scale, scale)
            chosen[s, k] = peak.loglik > least and not (near and size >= MANY)
            any_chosen = any_chosen or chosen[s, k]
    return any_chosen


def load_profiles() -> np.ndarray:
    """Load the flat table of log pdf and locations (see `formulas.py` beside)."""
    with (
        files("stablegpu").joinpath("data/likelihood_profile.npz").open("rb") as file,
        np.load(file) as parts,
    ):
        values, positions = parts["values"].astype(np.float64), parts["places"]
    powers = 2.0 ** np.arange(of.LOWEST, of.HIGHEST)
    knots = np.stack([powers, 1.5 * powers], axis=1).ravel()
    slopes = np.zeros_like(values)
    slopes[..., :-1] = np.diff(values) / np.diff(knots)
    alphas, betas = np.repeat(of.ALPHAS, len(of.BETAS)), np.tile(of.BETAS, len(of.ALPHAS))
    betas[alphas == 2.0] = 0.0
    pairs = np.stack([values, slopes], axis=-1).reshape(of.DISTRIBUTIONS, -1)
    return np.concatenate([alphas[:, None], betas[:, None], positions, pairs], axis=1).ravel()


def select_starts(
    outcomes: np.ndarray, ties: np.ndarray, units: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the sets that need another ascent, and its starts, which are records `PEAK`.

    Returns None if no set does. `ties` are those of `PreparedDataSets`.
    """
    ends = outcomes["parameters"]
    scales, tangents = np.exp(ends[:, 3]), np.tan(0.5 * np.pi * ends[:, 0])
    chosen = np.empty((len(ends), PEAKS), bool)
    if not find_other_peaks(outcomes, ties, units, scales, tangents, _ALPHAS, chosen):
        return None
    which, number = np.nonzero(chosen)
    return which, outcomes["peaks"][which, number]
