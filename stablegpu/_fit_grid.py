"""Maximum likelihood by a contracting grid, as the papers search: for comparison with the ascent.

Julian-Moreno et al. (2016), section 3.5: the likelihood at all points of a grid around McCulloch's
estimate; the best is the centre of the next, narrower one. In four dimensions, or in alpha and beta
with location and scale from the quantiles at each point (Royuela-del-Val et al., section 3.3).
"""

from __future__ import annotations

import itertools

import numpy as np

from stablegpu import _fit_sets
from stablegpu._fit_states import ALPHA_RANGE

POINTS = {4: 3, 2: 7}
"""Of the grid along an axis, by dimensions."""

_WIDTHS = np.array([0.3, 0.5, 0.5, 0.3])  # of the first grid, to each side
_SHRINK = {4: 0.6, 2: 0.5}
_NARROWEST = 1e-5  # the first axis's width at the end
_MOST = 100


def search(sets, law, unit, dimensions: int, work, host):
    """The final state of the best law, and the evaluations of the likelihood.

    `sets` holds one set; `law` is McCulloch's estimate of it (alpha, beta, S0 location and scale),
    `unit` the location and scale of the states.
    """
    from stablegpu._fit_optimum_math import VALUE

    steps = np.linspace(-1.0, 1.0, POINTS[dimensions])
    offsets = np.array(list(itertools.product(*[steps] * dimensions)))
    centre, widths = np.array([law[0], law[1], 0.0, 0.0]), _WIDTHS[:dimensions].copy()
    best, evaluations = None, 0
    for _ in range(_MOST):
        laws = np.tile(centre, (len(offsets), 1))
        laws[:, :dimensions] += widths * offsets
        laws[:, 0] = np.clip(laws[:, 0], *ALPHA_RANGE)
        laws[:, 1] = np.clip(laws[:, 1], -1.0, 1.0)
        if dimensions == 2:
            laws[:, 2:] = _from_quantiles(laws, law, unit)
        states = likelihoods(sets, laws, unit, work, host)
        evaluations += len(laws)
        top = int(np.argmax(states[:, VALUE]))
        moved = best is not None and not np.array_equal(laws[top], centre)
        if best is None or states[top, VALUE] > best[VALUE]:
            best, centre = states[top], laws[top]
        # A best point at the rim: the maximum may lie outside, and the grid keeps its size.
        at_rim = np.abs(offsets[top]).max() == 1.0 and moved
        widths *= 0.85 if at_rim else _SHRINK[dimensions]
        if widths[0] < _NARROWEST:
            break
    return best, evaluations


def likelihoods(sets, laws, unit, work, host):
    """States with the log-likelihood of each law for the one data set: all at once."""
    count = len(laws)
    repeated = sets._replace(
        firsts=host.input("sets", np.zeros(count, np.int64), np.int64),
        lasts=host.input("sets", np.full(count, sets.x.size), np.int64),
    )
    return _fit_sets.maximized(repeated, laws, np.tile(unit, (count, 1)), 0, work, host)


def _from_quantiles(laws, law, unit):
    """Location and logarithm of scale in units that fit the median and the quartiles."""
    from stablegpu._fit_start_math import quartiles_of
    from stablegpu._mcculloch import surfaces

    table = surfaces()
    median0, range0 = quartiles_of(law[0], law[1], table)
    middle, width = law[2] + law[3] * median0, law[3] * range0
    found = np.empty((len(laws), 2))
    for k, (alpha, beta) in enumerate(laws[:, :2]):
        median, size = quartiles_of(alpha, beta, table)
        scale = width / size
        found[k] = (middle - scale * median - unit[0]) / unit[1], np.log(scale / unit[1])
    return found
