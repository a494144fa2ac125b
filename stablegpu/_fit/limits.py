"""Limits that several stages of a fit share."""

from __future__ import annotations

ALPHA_RANGE = (0.1, 2.0)
"""Range of fitted alphas: below 0.1 the quantiles of the starting values leave float64."""

BETA_RANGE = (-1.0, 1.0)

LARGEST_START_ALPHA = 1.95
"""Largest alpha from which an ascent starts: at 2 the likelihood does not depend on beta."""

FEWEST_OBSERVATIONS = 5
"""Least number of observations in a data set: as many as McCulloch's quantiles."""
