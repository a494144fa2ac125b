"""McCulloch's fit of one sample of any size: by order statistics that are selected, not sorted."""

from __future__ import annotations

import math
import time

import numpy as np

from stablegpu._fit.estimates import at_boundary
from stablegpu._fit.fitted import Fitted
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.mcculloch import estimate as mcculloch_estimate
from stablegpu._fit.outcomes import REMEDIES, outcome_message
from stablegpu._fit.records import missing_outcomes
from stablegpu._fit.samples import Sample
from stablegpu._parameters import Parameters


def fit_by_quantiles(sample: Sample, parameterization: str) -> Fitted:
    """Return the fit of a sample by McCulloch's quantiles, without the data.

    Raises ValueError if the data cannot be fitted.
    """
    size, start = sample.size, time.perf_counter()
    quantiles, ties = mcculloch_estimate.quantiles(sample)
    alpha, beta, loc, scale = mcculloch_estimate.start(quantiles)
    if math.isnan(alpha) or (2.0 * ties >= size and math.isfinite(alpha)):
        raise ValueError(REMEDIES["constant"])
    if math.isinf(alpha):
        raise ValueError(REMEDIES["not finite" if alpha > 0.0 else "too wide"])
    lowest = np.array([ALPHA_RANGE[0]])
    ends = at_boundary(np.array([[alpha, beta]]), missing_outcomes(1), lowest)[0]
    result = Parameters.checked(alpha, beta, loc, scale, "S0").converted(parameterization)
    return Fitted(
        result.alpha,
        result.beta,
        result.loc,
        result.scale,
        parameterization=parameterization,
        method="mcculloch",
        size=size,
        message=outcome_message(ends),
        ties=ties,
        nobs=float(size),
        timings={"start": time.perf_counter() - start},
    )
