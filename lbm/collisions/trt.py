"""TRT: two relaxation times, for the even and the odd part of opposite populations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.collisions.operator import LARGEST_TAU, Bounds, Collision
from lbm.collisions.stability_map import LIMITS, FlowKind, choose_magic
from lbm.lattices import LATTICES, Lattice, lattice_of_size


def make_local_rates() -> Any:
    """Make local_rates(tau, magic), the relaxation rates of the even and of the odd part of a cell
    with the relaxation time tau, for operators in which it differs from cell to cell."""
    from lbm.collisions.unroll import inlined

    @inlined
    def local_rates(tau: Any, magic: Any) -> tuple[Any, Any]:
        T = type(tau)
        offset = tau - T(0.5)
        scaled = T(0.5) * offset + magic  # tau_odd times offset
        inverse = T(1) / (tau * scaled)  # one division for both rates
        return scaled * inverse, (offset * tau) * inverse

    return local_rates


def relax_in_parts(
    f: np.ndarray, e: np.ndarray, tau: np.ndarray | float, tau_odd: np.ndarray | float
) -> np.ndarray:
    """Return f less the even and the odd part of f - e, each divided by its relaxation time.

    f and e are arrays [q, x, y, z] as in `Collision.reference_collide`; the times are numbers, or
    arrays [x, y, z].
    """
    n, opposite = f - e, (f - e)[list(lattice_of_size(len(f)).opposite)]
    return f - (n + opposite) / (2 * tau) - (n - opposite) / (2 * tau_odd)


@dataclass(frozen=True)
class TRT(Collision):
    """Collision operator with two relaxation times (Ginzburg, Verhaeghe and d'Humieres 2008).

    Mean flows lower the viscosity of shear: at 0.1 cells/step by 3 % along an axis and by 6 %
    along (1, 1, 0), in proportion to the square of the speed (docs/packages/lbm.md).

    Parameters
    ----------
    tau : float
        Relaxation time of the even part in steps, above 1/2 and at most 100: the viscosity is
        (tau - 1/2)/3 cells^2/step.
    magic : float
        Magic parameter (tau - 1/2)(tau_odd - 1/2). With 3/16 flat walls are exactly half-way
        between cells; with 1/12 the boundary layers of a cavity at Re = 1000 are four times as
        accurate as with 1/4. Near tau = 1/2 the most stable values are 1/4 between walls, 0.01 to
        0.03 with inlets and outlets, and 0.001 without walls: see `lbm.collisions.stability_map`.
    """

    tau: float
    magic: float = 3.0 / 16.0
    is_linear: ClassVar[bool] = True
    lattices: ClassVar[tuple[str, ...]] = tuple(LATTICES)
    bounds: ClassVar[Bounds] = {**Collision.bounds, "magic": (0.0, LARGEST_TAU**2)}

    @property
    def tau_odd(self) -> float:
        """Relaxation time of the odd part."""
        return 0.5 + self.magic / (self.tau - 0.5)

    @property
    def rates(self) -> tuple[float, ...]:
        """Relaxation rates of the even and of the odd part."""
        return 1.0 / self.tau, 1.0 / self.tau_odd

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.unroll import per_pair

        @per_pair(lattice)
        def relax_pair(
            f: Any, g: Any, even: Any, odd: Any, even_rate: Any, odd_rate: Any
        ) -> tuple[Any, Any]:
            half = type(f)(0.5)
            a = (half - half * even_rate) * (f + g) + even_rate * even
            b = (half - half * odd_rate) * (f - g) + odd_rate * odd
            return a + b, a - b

        return lambda f, e, rates: relax_pair(f, e, rates[0], rates[1])

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return f less the even and the odd part of f - e, each divided by its own time."""
        return relax_in_parts(f, e, self.tau, self.tau_odd)

    @classmethod
    def suited_to(cls, tau: float, cell_reynolds: float, kind: FlowKind) -> TRT:
        """Make the operator with the most accurate magic parameter that is stable for a flow."""
        return cls(tau, choose_magic(cell_reynolds, kind))

    @classmethod
    def stability_limit(cls, kind: FlowKind) -> float:
        """Return the limit with the best of the magic parameters that were tried."""
        return max(LIMITS[kind].values())
