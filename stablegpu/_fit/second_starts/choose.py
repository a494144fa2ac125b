"""Second starts of maximum likelihood, at other peaks of a rough profile of the likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np

from stablegpu._fit.optimizer import slots

MARGIN, MARGIN_OF_FEW = 0.03, 6.0
"""How far below the likelihood that was reached, and below the highest peak, another peak may be
for an ascent to start there: so much for each observation, and so much in all. The profile is
rough, by 0.02 to 0.05 for an observation."""

MANY = 15
"""Observations from which on a peak near a distribution that was reached is its own: of fewer any
may have a maximum beside it."""

NEARBY = 2.0
"""Scales between two locations that belong to one peak."""


def table() -> np.ndarray:
    """Load the flat table of log pdf and locations (see `_fit/second_starts/formulas.py`)."""
    from stablegpu._fit.second_starts import formulas as of

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


def choices(lowest: np.ndarray, fixed_values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the possible starts of each set.

    These are the first and last alpha of the table, and the index of beta, or -1 for all betas.
    Fixed parameters leave the nearest ones of the table.
    """
    from stablegpu._fit.second_starts.formulas import ALPHAS, BETAS

    result = np.zeros((len(lowest), 3), np.int64)
    result[:, 0], result[:, 1] = np.searchsorted(ALPHAS, lowest), len(ALPHAS) - 1
    if "alpha" in fixed_values:
        result[:, :2] = _nearest(np.log(ALPHAS), np.log(fixed_values["alpha"]))[:, None]
    result[:, 2] = _nearest(np.array(BETAS), fixed_values["beta"]) if "beta" in fixed_values else -1
    return result


def _nearest(positions: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.abs(positions - values[:, None]).argmin(axis=1)


def worth_while(
    peaks: np.ndarray, sizes: np.ndarray, states: np.ndarray, units: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sets that need another ascent, and its starts (rows of `START` numbers).

    `peaks` are those of the profiles, `states` the final ones of the ascents so far: a peak that
    belongs to a distribution that was reached is not climbed again, nor one that is much lower.
    """
    from stablegpu._fit.second_starts.formulas import ALPHA, ALPHAS, LOC, LOGLIK, SCALE, START

    peaks = peaks.reshape(len(peaks), -1, START)
    with np.errstate(invalid="ignore"):
        highest = np.fmax(peaks[:, 0, LOGLIK], states[:, slots.VALUE] / sizes)
        least = np.maximum(highest - MARGIN - MARGIN_OF_FEW / sizes, -np.finfo(float).max)
        which, number = np.nonzero(peaks[..., LOGLIK] > least[:, None])
        starts, reached = peaks[which, number], states[which, slots.X : slots.X + 4]
        alphas = np.array(ALPHAS)
        row = np.searchsorted(alphas, starts[:, ALPHA])
        same = (reached[:, 0] >= alphas[np.maximum(row - 1, 0)]) | (row <= 1)
        same &= (reached[:, 0] <= alphas[np.minimum(row + 1, alphas.size - 1)]) | (
            row >= alphas.size - 2
        )
        scale = units[which, 1] * np.exp(reached[:, 3])
        loc = units[which, 0] + units[which, 1] * reached[:, 2]
        shift = reached[:, 1] * scale * np.tan(0.5 * np.pi * reached[:, 0])
        loc += np.where(states[which, slots.IN_S1] > 0.0, shift, 0.0)
        same &= np.abs(starts[:, LOC] - loc) < NEARBY * np.maximum(starts[:, SCALE], scale)
        same &= sizes[which] >= MANY
    return which[~same], starts[~same]
