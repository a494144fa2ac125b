"""Constants of the sums over the nodes that each point lays out for itself."""

import math
from typing import NamedTuple


class PointwiseRule(NamedTuple):
    """Constants for parameters that differ from point to point.

    Compared with steps of half the size, 99 % of the values at 20,000 random points are good to
    4e-15, and all to 2e-13. The steps between nodes are those of the map t(q) in
    `_density/pointwise/formulas.py`.
    """

    nearest_to_one: float = 0.0125
    """Least |alpha - 1|: closer to 1, log g is a sharp difference, and differences replace it."""

    nearest_to_one_light: float = 0.1
    """The same for a light tail: g is largest where nothing else is left."""

    lightest: float = 10.0
    """Largest limit of g in a light tail for which sums are taken."""

    step: float = 0.25
    """Step between nodes in log g where e^-g changes: as `NodesRule.step`."""

    stretch: float = 0.2
    """Growth of the steps towards small g, as a fraction of q in the map. At those points half of
    it takes 5 % more nodes and halves the largest error; twice of it saves 5 % and gives 4e-13."""

    lead: float = 0.04
    """Growth of the steps towards large g where e^-g is gone, in q. Errors at those points are the
    same from 0.01 to 0.16, which take 3 % more and 3 % fewer nodes; 0.5 loses digits."""

    largest_g: float = 40.0
    """g over which e^-g is left out: 4e-18 of what is near g = 1."""

    decay: float = 38.0
    """Exponent of what may be left out: e^-38 = 3e-17."""

    exponential: float = 0.1
    """|alpha - 1| below which log g decays exponentially in t, and singularities seem nearer."""

    angle_fraction: float = 0.7
    """Fraction of the angle of the nearest singularity: keeps the rule accurate to 1e-15."""

    most_nodes: int = 2048
    """Nodes of a point; with more, e^-q overflows."""

    vector: int = 4
    """Nodes that a CPU computes at once: both sides have a multiple of it."""

    at_one: float = 1e-6
    """Next to alpha = 1: least |alpha - 1| of the rule that takes differences."""

    skewed: float = 0.99
    """There, |beta| from which g nearly has a limit at one end, and the rule is not used."""

    most_nodes_at_one: int = 1000
    """There, nodes of a point: a quadrature takes as long as so many."""

    height_at_one: float = 0.42 * math.pi
    """There, height of the singularities where log g grows as e^|t|: a bit below pi/2."""


POINTWISE = PointwiseRule()
