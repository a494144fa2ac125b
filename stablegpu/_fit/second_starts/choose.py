"""Second starts of maximum likelihood, at other peaks of a rough profile of the likelihood."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files

import numpy as np

from stablegpu._fit.records import PEAKS


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
    from stablegpu._fit.second_starts.formulas import BETAS

    alphas = _alphas()
    starts["first_alpha"] = alphas.searchsorted(starts["lowest_alpha"])
    starts["last_alpha"], starts["beta_index"] = len(alphas) - 1, -1
    if "alpha" in fixed_values:
        nearest = _nearest(np.log(alphas), np.log(fixed_values["alpha"]))
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
    outcomes: np.ndarray, ties: np.ndarray, units: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the sets that need another ascent, and its starts, which are records `PEAK`.

    Returns None if no set does. `ties` are those of `PreparedDataSets`.
    """
    from stablegpu._fit.second_starts.selection_loops import find_other_peaks

    ends = outcomes["parameters"]
    scales, tangents = np.exp(ends[:, 3]), np.tan(0.5 * np.pi * ends[:, 0])
    chosen = np.empty((len(ends), PEAKS), bool)
    if not find_other_peaks(outcomes, ties, units, scales, tangents, _alphas(), chosen):
        return None
    which, number = np.nonzero(chosen)
    return which, outcomes["peaks"][which, number]
