"""Constants of the sums over nodes that all points of a distribution share."""

from typing import NamedTuple


class NodesRule(NamedTuple):
    """Constants of the evaluator "nodes", with which pdf, cdf and sf are good to a few 1e-15.

    docs/packages/stablegpu.md (Nodes) derives step, window and series.
    """

    nearest_to_one: float = 0.07
    """Least |alpha - 1|: closer to 1, log g is a difference of large numbers."""

    smallest_alpha: float = 0.02
    """Stability index below which log V spans more than float64 does."""

    step: float = 0.25
    """Step between nodes in log V, at most: the trapezoidal rule is then good to 2e-16."""

    smallest_g: float = 0.135
    """g under which the power series takes over."""

    terms: int = 11
    """Terms of that series: smallest_g^11 / 11! < 1e-17."""

    largest_g: float = 40.0
    """g over which e^-g is left out: 4e-18 of what is near g = 1."""

    decay: float = 38.0
    """t from the least V on after which a weight is below e^-38 = 3e-17 of the others."""

    vanished_g: float = 1e15
    """g from which on log pdf is -g to the last digit."""

    block: int = 8
    """Nodes in a block: windows consist of whole ones, for vector units."""


NODES = NodesRule()
