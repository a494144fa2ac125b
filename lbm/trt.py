"""TRT: two relaxation times, for the even and the odd part of opposite populations."""

from __future__ import annotations

from dataclasses import dataclass

from hetero.errors import within


@dataclass(frozen=True)
class TRT:
    """Ginzburg, Verhaeghe, d'Humieres (2008).

    Parameters
    ----------
    tau : float
        Relaxation time of the even part in steps, above 1/2: the viscosity is (tau - 1/2)/3.
    magic : float
        (tau - 1/2)(tau_odd - 1/2). 3/16 puts flat half-way walls exactly half-way; 1/4 is the most
        stable.
    """

    tau: float
    magic: float = 3.0 / 16.0

    def __post_init__(self):
        within("tau", self.tau, 0.5, float("inf"), closed="neither")
        within("magic", self.magic, 0.0, float("inf"), closed="neither")

    @property
    def rates(self) -> tuple[float, ...]:
        """Halves of the rates: the operator works with sums and differences of pairs."""
        tau_odd = 0.5 + self.magic / (self.tau - 0.5)
        return 0.5 / self.tau, 0.5 / tau_odd

    @staticmethod
    def relax():
        """The operator: relax(f, e, rates) on tuples of 19."""
        from lbm._unroll import inlined, pairs

        @pairs
        def towards(f, g, e, h, half_even, half_odd):
            even = half_even * ((e + h) - (f + g))
            odd = half_odd * ((e - h) - (f - g))
            return f + even + odd, g + even - odd

        return inlined(lambda f, e, rates: towards(f, e, rates[0], rates[1]))
