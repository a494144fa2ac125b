"""The bin of an observation of a large sample, for both targets.

Bins are equal in u = asinh((x - centre)/width), `BINS` of them from `low` on. Two points at a bin's
mean minus and plus its standard deviation have its mean and its variance: sums over observations
become sums over these.
"""

import math

from hetero.jit import scalar
from stablegpu._numerics.asinh_formulas import asinh

BINS = 65536
"""Number of bins: their tables, 1.5 MiB, stay in the cache of a GPU."""


@scalar
def binning_coordinate(x, centre, width):
    """Return u of an observation."""
    return asinh((x - centre) / width)


@scalar
def bin_of(x, centre, width, low, per_unit):
    """Return the bin of an observation, and its distance from the bin's middle."""
    k = int((binning_coordinate(x, centre, width) - low) * per_unit)
    k = min(max(k, 0), BINS - 1)
    return k, x - (centre + width * math.sinh(low + (k + 0.5) / per_unit))
