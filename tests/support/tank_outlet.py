"""A boundary condition outside of the package: an outlet into a tank that fills."""

from dataclasses import dataclass
from typing import ClassVar

import lbm


@dataclass(frozen=True)
class TankOutlet(lbm.PressureOutlet):
    """An outlet whose density rises by the mass that has left over `capacity`, and with the flow.

    It is rho + stored / capacity + resistance j, where j is the momentum out of the domain.
    """

    capacity: float = 10.0
    resistance: float = 0.5
    may_be_solid: ClassVar[bool] = False

    @property
    def response_numbers(self):
        return 1 / self.capacity, self.resistance

    @staticmethod
    def respond():
        from lbm.collisions.unroll import inlined

        @inlined
        def fill_tank(drho, momentum, share, stored, numbers):
            rise = stored * numbers[0] + numbers[1] * momentum
            change = rise / (type(drho)(1) + numbers[1] * share)
            return change, stored + momentum - share * change

        return fill_tank

    def reference_respond(self, rho, momentum, share, memory):
        rise = memory / self.capacity + self.resistance * momentum
        change = rise / (1 + self.resistance * share)
        return change, memory + momentum - share * change
