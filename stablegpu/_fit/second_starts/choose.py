"""Second starts of maximum likelihood, at other peaks of a rough profile of the likelihood."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from importlib.resources import files

import numpy as np

MARGIN, MARGIN_OF_FEW = 0.03, 6.0
"""Largest distance of another peak, at which an ascent starts, below the likelihood that was
reached and below the highest peak: for each observation, and in all. The profile is rough, by 0.02
to 0.05 for an observation."""

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


def set_choices(starts: np.ndarray, fixed_values: Mapping[str, np.ndarray]) -> None:
    """Set which second starts are possible in records `START`.

    Fixed parameters leave the nearest ones of the table.
    """
    from stablegpu._fit.second_starts.formulas import ALPHAS, BETAS

    starts["first_alpha"] = np.searchsorted(ALPHAS, starts["lowest_alpha"])
    starts["last_alpha"], starts["beta_index"] = len(ALPHAS) - 1, -1
    if "alpha" in fixed_values:
        nearest = _nearest(np.log(ALPHAS), np.log(fixed_values["alpha"]))
        starts["first_alpha"] = starts["last_alpha"] = nearest
    if "beta" in fixed_values:
        starts["beta_index"] = _nearest(np.array(BETAS), fixed_values["beta"])


def _nearest(positions: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.abs(positions - values[:, None]).argmin(axis=1)


@functools.cache
def _alphas() -> np.ndarray:
    """Return the rows of the table of profiles."""
    from stablegpu._fit.second_starts.formulas import ALPHAS

    return np.array(ALPHAS)


def select_starts(
    outcomes: np.ndarray, sizes: np.ndarray, units: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sets that need another ascent, and its starts, which are records `PEAK`.

    A peak of the profile that belongs to the distribution at the end of the first ascent is not
    climbed again, nor one that is much lower. `sizes` are the weights of all data.
    """
    peaks = outcomes["peaks"]
    logliks = peaks["loglik"]
    with np.errstate(invalid="ignore"):
        highest = np.fmax(logliks[:, 0], outcomes["loglik"] / sizes)
        least = np.maximum(highest - MARGIN - MARGIN_OF_FEW / sizes, -sys.float_info.max)
        which, number = np.nonzero(logliks > least[:, None])
        starts = peaks[which, number]
        alpha, beta, loc, log_scale = outcomes["parameters"][which].T
        alphas = _alphas()
        row = alphas.searchsorted(starts["alpha"])
        same = (alpha >= alphas[np.maximum(row - 1, 0)]) | (row <= 1)
        same &= (alpha <= alphas[np.minimum(row + 1, alphas.size - 1)]) | (row >= alphas.size - 2)
        scale = units[which, 1] * np.exp(log_scale)
        loc = units[which, 0] + units[which, 1] * loc
        shift = beta * scale * np.tan(0.5 * np.pi * alpha)
        loc += np.where(outcomes["in_s1"][which], shift, 0.0)
        same &= np.abs(starts["loc"] - loc) < NEARBY * np.maximum(starts["scale"], scale)
        same &= sizes[which] >= MANY
    return which[~same], starts[~same]
