"""BGK: one relaxation time for everything (equation 13.5)."""

from __future__ import annotations

from dataclasses import dataclass

from hetero.errors import within


@dataclass(frozen=True)
class BGK:
    """Bhatnagar, Gross, Krook (1954), f + (e - f) / tau.

    Parameters
    ----------
    tau : float
        Relaxation time in steps, above 1/2: the viscosity is (tau - 1/2)/3 cells^2/step.
    """

    tau: float

    def __post_init__(self):
        tau = within("tau", self.tau, 0.5, float("inf"), closed="neither")
        object.__setattr__(self, "tau", tau)

    @property
    def rates(self) -> tuple[float, ...]:
        return (1.0 / self.tau,)

    @staticmethod
    def relax():
        """The operator: relax(f, e, rates) on tuples of 19."""
        from lbm._unroll import inlined, pairs

        @pairs
        def towards(f, g, even, odd, omega):
            return f + omega * ((even + odd) - f), g + omega * ((even - odd) - g)

        return inlined(lambda f, e, rates: towards(f, e, rates[0]))
