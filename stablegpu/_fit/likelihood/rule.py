"""Constants of the sums over nodes that a fit lays out for each trial point."""

from typing import NamedTuple


class FitRule(NamedTuple):
    """Constants with which log pdf in fits is good to 1e-11.

    Nodes serve a single evaluation of the likelihood, so they must be few.
    """

    nearest_to_one: float = 0.1
    """Least |alpha - 1|: closer to 1 there would be too many nodes, and a table replaces them."""

    step: float = 0.33
    """Step between nodes in log V, at most: the trapezoidal rule is then good to 1e-11."""

    smallest_g: float = 0.03
    """g under which a power series takes over."""

    terms: int = 5
    """Terms of that series; the next is 2e-10 of the first. `block_moments` names each."""

    largest_g: float = 30.0
    """g over which e^-g is left out: 1e-13 of what is near g = 1."""

    decay: float = 28.0
    """Exponent of what may be left out of an integrand: e^-28 = 7e-13."""

    block: int = 8
    """Nodes between possible starts of the series."""

    capacity: int = 1536
    """Nodes of both sides: 72 KB of a GPU's shared memory with the series, so that a multiprocessor
    runs three blocks of threads. If they are too few, steps grow."""

    slack: float = 4.0
    """Steps by which the nodes may reach too far at an end."""

    usual_end: float = 16.0
    """|t| at which the search for an end begins."""

    light_limit: float = 1e8
    """Limit of g in a light tail beyond which its digits are not looked at."""

    far: float = 12.0
    """log of y^alpha from which on three terms of the tail's series are exact to e^-36."""

    tail_terms: int = 3
    """Terms of that series."""

    next_to_zeta: float = 1e-7
    """Part of the distribution's width at zeta: nearer, the density is that at this distance."""


FIT = FitRule()
