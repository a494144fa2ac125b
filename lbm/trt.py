"""TRT: two relaxation times, for the even and the odd part of opposite populations."""

from __future__ import annotations

from dataclasses import dataclass

from hetero.errors import within
from lbm.bgk import LARGEST_TAU


@dataclass(frozen=True)
class TRT:
    """Ginzburg, Verhaeghe, d'Humieres (2008).

    Parameters
    ----------
    tau : float
        Relaxation time of the even part in steps, above 1/2: the viscosity is (tau - 1/2)/3. At
        most 100.
    magic : float
        (tau - 1/2)(tau_odd - 1/2). 3/16 puts flat half-way walls exactly half-way. Near tau = 1/2
        the most stable is 1/4 between walls, and 0.01 to 0.03 with inlets and outlets: see
        `lbm.stability_map`.
    """

    tau: float
    magic: float = 3.0 / 16.0

    def __post_init__(self):
        for name, least, most in (("tau", 0.5, LARGEST_TAU), ("magic", 0.0, LARGEST_TAU**2)):
            value = within(name, getattr(self, name), least, most, closed="right")
            object.__setattr__(self, name, value)

    @property
    def rates(self) -> tuple[float, ...]:
        """Of the even and of the odd part."""
        tau_odd = 0.5 + self.magic / (self.tau - 0.5)
        return 1.0 / self.tau, 1.0 / tau_odd

    @staticmethod
    def relax():
        """The operator: relax(f, e, rates) on tuples of 19."""
        from lbm._unroll import inlined, pairs

        @pairs
        def towards(f, g, even, odd, of_even, of_odd):
            half = type(f)(0.5)
            a = (half - half * of_even) * (f + g) + of_even * even
            b = (half - half * of_odd) * (f - g) + of_odd * odd
            return a + b, a - b

        return inlined(lambda f, e, rates: towards(f, e, rates[0], rates[1]))
