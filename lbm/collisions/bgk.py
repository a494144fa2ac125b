"""BGK: one relaxation time for all populations (Riesinger 2017, equation 13.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hetero.validation import check_in_range

LARGEST_TAU = 100.0
"""Largest relaxation time in steps. At 100 the flow in a channel is exact to 3e-6 with TRT in
float32; at 1000 it is still 1 % off after 20000 steps."""


@dataclass(frozen=True)
class BGK:
    """Collision operator of Bhatnagar, Gross and Krook (1954): f + (e - f) / tau.

    Parameters
    ----------
    tau : float
        Relaxation time in steps, above 1/2 and at most 100: the viscosity is (tau - 1/2)/3
        cells^2/step. The position of walls depends on it: the flow in a channel of 12 cells is
        1.4 % too fast at tau = 1 and 48 % at tau = 2, but exact with TRT.
    """

    tau: float

    def __post_init__(self) -> None:
        tau = check_in_range("tau", self.tau, 0.5, LARGEST_TAU, closed="right")
        object.__setattr__(self, "tau", tau)

    @property
    def rates(self) -> tuple[float, ...]:
        """The relaxation rate 1 / tau."""
        return (1.0 / self.tau,)

    @staticmethod
    def relax() -> Callable[..., Any]:
        """Make the operator relax(f, e, rates) on tuples of 19 populations."""
        from lbm._engines.unroll import inlined, per_pair

        @per_pair
        def relax_pair(f: Any, g: Any, even: Any, odd: Any, omega: Any) -> tuple[Any, Any]:
            return f + omega * ((even + odd) - f), g + omega * ((even - odd) - g)

        operator: Callable[..., Any] = inlined(lambda f, e, rates: relax_pair(f, e, rates[0]))
        return operator
