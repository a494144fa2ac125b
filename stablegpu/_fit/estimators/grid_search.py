"""Maximum likelihood by a contracting grid, for comparison with the ascent.

Julian-Moreno et al. (2016), section 3.5: the likelihood at all points of a grid around McCulloch's
estimate; the best is the centre of the next, narrower one. In four dimensions, or in alpha and beta
with location and scale from the quantiles at each point (Royuela-del-Val et al., section 3.3).
"""

from __future__ import annotations

import itertools

import numpy as np

from hetero.arrays import Workspace
from stablegpu._fit import datasets
from stablegpu._fit.datasets import SortedDataSets, make_starts
from stablegpu._fit.limits import ALPHA_RANGE, BETA_RANGE
from stablegpu._fit.records import missing_outcomes

POINTS = {4: 3, 2: 7}
"""Points of the grid along an axis, by the number of its dimensions."""

_WIDTHS = np.array([0.3, 0.5, 0.5, 0.3])  # of the first grid, to each side
_SHRINK = {4: 0.6, 2: 0.5}
_NARROWEST = 1e-5  # the first axis's width at the end
_MOST = 100


def search(
    sets: SortedDataSets,
    estimates: np.ndarray,
    units: np.ndarray,
    dimensions: int,
    workspace: Workspace,
    host_workspace: Workspace,
) -> np.ndarray:
    """Return the outcomes at the most likely points, with the number of their evaluations.

    `estimates` holds McCulloch's (alpha, beta, S0 location and scale), `units` the locations and
    scales of the outcomes. All sets take a step at once.
    """

    steps = np.linspace(-1.0, 1.0, POINTS[dimensions])
    offsets = np.array(list(itertools.product(*[steps] * dimensions)))
    count, every = len(estimates), np.arange(len(estimates))
    centres = np.column_stack([estimates[:, :2], np.zeros((count, 2))])
    widths = np.tile(_WIDTHS[:dimensions], (count, 1))
    best, evaluations = missing_outcomes(count), 0
    best["loglik"] = -np.inf
    for _ in range(_MOST):
        grids = np.repeat(centres[:, None, :], len(offsets), axis=1)
        grids[..., :dimensions] += widths[:, None, :] * offsets
        grids[..., 0] = np.clip(grids[..., 0], *ALPHA_RANGE)
        grids[..., 1] = np.clip(grids[..., 1], *BETA_RANGE)
        if dimensions == 2:
            grids[..., 2:] = _from_quantiles(grids, estimates, units)
        outcomes = evaluate_likelihoods(sets, grids, units, workspace, host_workspace)
        evaluations += len(offsets)
        top = outcomes["loglik"].argmax(axis=1)
        result, outcomes = grids[every, top], outcomes[every, top]
        moved = (best["loglik"] > -np.inf) & (result != centres).any(axis=1)
        better = outcomes["loglik"] > best["loglik"]
        best[better], centres[better] = outcomes[better], result[better]
        # A best point at the rim: the maximum may lie outside, and the grid keeps its size.
        at_rim = (np.abs(offsets[top]).max(axis=1) == 1.0) & moved
        widths *= np.where(at_rim, 0.85, _SHRINK[dimensions])[:, None]
        if widths[:, 0].max() < _NARROWEST:
            break
    best["evaluations"] = evaluations
    return best


def evaluate_likelihoods(
    sets: SortedDataSets,
    grids: np.ndarray,
    units: np.ndarray,
    workspace: Workspace,
    host_workspace: Workspace,
) -> np.ndarray:
    """Return the outcomes with the log-likelihood of grids[s, k] for set s: all at once."""
    count, size = grids.shape[:2]
    ends = host_workspace.result(sets.ends, (count, 2)).repeat(size, axis=0)
    repeated = sets._replace(ends=datasets.upload_ends(host_workspace, *ends.T))
    starts = make_starts(grids.reshape(-1, 4), np.repeat(units, size, axis=0), ALPHA_RANGE[0])
    return datasets.maximize(repeated, starts, 0, workspace, host_workspace).reshape(count, size)


def _from_quantiles(grids: np.ndarray, estimates: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return location and log of the scale, in units, that fit the median and the quartiles."""
    median, width = _quartiles(estimates[:, 0], estimates[:, 1])
    middle, width = estimates[:, 2] + estimates[:, 3] * median, estimates[:, 3] * width
    median, size = _quartiles(grids[..., 0], grids[..., 1])
    scale = width[:, None] / size
    loc = (middle[:, None] - scale * median - units[:, :1]) / units[:, 1:]
    return np.stack([loc, np.log(scale / units[:, 1:])], axis=-1)


def _quartiles(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return the medians and quartile ranges of standard distributions."""
    from stablegpu._fit.estimators.mcculloch.estimate import surfaces
    from stablegpu._fit.estimators.mcculloch.formulas import quartiles_of

    table = surfaces()
    result = [quartiles_of(a, b, table) for a, b in zip(alpha.flat, beta.flat, strict=True)]
    return np.array(result).T.reshape(2, *alpha.shape)
