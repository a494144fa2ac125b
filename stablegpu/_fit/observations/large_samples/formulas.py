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


LARGEST_QUOTIENT = 1e100  # beyond it, roots are divided: the quotient may overflow


@scalar
def binning_coordinate(x, centre, width):
    """Return u of an observation."""
    off = x - centre
    if abs(off) > LARGEST_QUOTIENT * width:
        root = math.sqrt(abs(off)) / math.sqrt(width)
        return math.copysign(2.0 * math.log(root) + math.log(2.0), off)
    return asinh(off / width)


@scalar
def bin_of(x, centre, width, low, per_unit):
    """Return the bin of an observation, and its distance from the bin's middle.

    The distance is in units of dx/du there, so that its square is in the range of floats.
    """
    k = int((binning_coordinate(x, centre, width) - low) * per_unit)
    k = min(max(k, 0), BINS - 1)
    u = low + (k + 0.5) / per_unit
    root = math.exp(0.5 * u)  # of exp(u), which may overflow where its product does not
    inverse = 1.0 / root
    grown, shrunk = (width * root) * (0.5 * root), (width * inverse) * (0.5 * inverse)
    return k, (x - centre - (grown - shrunk)) / (grown + shrunk)
