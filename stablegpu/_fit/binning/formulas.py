"""Bins of a large sample: where an observation belongs. For both targets.

Bins are equal in u = asinh((x - centre)/width), `BINS` of them from `low` on. Two points at a bin's
mean minus and plus its standard deviation have its mean and its variance: sums over observations
become sums over these.
"""

import math

from hetero.jit import scalar

BINS = 65536


@scalar
def binning_coordinate(x, centre, width):
    """u of an observation."""
    z = (x - centre) / width
    size = abs(z)
    if size > 1e8:
        u = math.log(size) + 0.6931471805599453
    else:
        u = math.log1p(size + size * size / (1.0 + math.sqrt(1.0 + size * size)))
    return u if z > 0.0 else -u


@scalar
def bin_of(x, centre, width, low, per_unit):
    """The bin of an observation, and the distance from the bin's middle."""
    k = int((binning_coordinate(x, centre, width) - low) * per_unit)
    k = min(max(k, 0), BINS - 1)
    return k, x - (centre + width * math.sinh(low + (k + 0.5) / per_unit))
