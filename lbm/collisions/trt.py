"""TRT: two relaxation times, for the even and the odd part of opposite populations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hetero.validation import check_in_range
from lbm.collisions.bgk import LARGEST_TAU


@dataclass(frozen=True)
class TRT:
    """Collision operator with two relaxation times (Ginzburg, Verhaeghe and d'Humieres 2008).

    Parameters
    ----------
    tau : float
        Relaxation time of the even part in steps, above 1/2 and at most 100: the viscosity is
        (tau - 1/2)/3 cells^2/step.
    magic : float
        Magic number (tau - 1/2)(tau_odd - 1/2). With 3/16 flat walls are exactly half-way between
        cells. Near tau = 1/2 the most stable values are 1/4 between walls, and 0.01 to 0.03 with
        inlets and outlets: see `lbm._model.stability_map`.
    """

    tau: float
    magic: float = 3.0 / 16.0

    def __post_init__(self) -> None:
        for name, least, most in (("tau", 0.5, LARGEST_TAU), ("magic", 0.0, LARGEST_TAU**2)):
            value = check_in_range(name, getattr(self, name), least, most, closed="right")
            object.__setattr__(self, name, value)

    @property
    def rates(self) -> tuple[float, ...]:
        """Relaxation rates of the even and of the odd part."""
        tau_odd = 0.5 + self.magic / (self.tau - 0.5)
        return 1.0 / self.tau, 1.0 / tau_odd

    @staticmethod
    def relax() -> Callable[..., Any]:
        """Make the operator relax(f, e, rates) on tuples of 19 populations."""
        from lbm._engines.unroll import inlined, per_pair

        @per_pair
        def relax_pair(
            f: Any, g: Any, even: Any, odd: Any, even_rate: Any, odd_rate: Any
        ) -> tuple[Any, Any]:
            half = type(f)(0.5)
            a = (half - half * even_rate) * (f + g) + even_rate * even
            b = (half - half * odd_rate) * (f - g) + odd_rate * odd
            return a + b, a - b

        return inlined(lambda f, e, rates: relax_pair(f, e, rates[0], rates[1]))
