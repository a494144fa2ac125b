"""The base class of boundary conditions: all that the package knows of them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.boundaries.prescribed import Dependence, find_dependence

NOWHERE = np.zeros((1, 3))
"""A point for conditions that do not depend on position."""


@dataclass(frozen=True)
class Condition:
    """Effect of a face of the domain, or of the cells of a solid, on the fluid beside them.

    A condition is a frozen dataclass that derives from this class or from another condition. All
    other code asks for the attributes below, and for no class. Its fields are compared, saved and
    printed by their `repr`, and read from case files.

    Attributes
    ----------
    name : str
        Type in case files. They reach conditions outside of the package as "module:Class".
    rank : int
        Where several conditions meet at an edge, the lowest wins.
    prescribes : str
        The field that may be a function of position and time: "velocity", "rho", or "" for none.
    is_periodic : bool
        Whether the face has no wall: fluid goes on at the opposite one.
    is_open : bool
        Whether fluid passes. An open condition is an inlet or an outlet by what it prescribes.
    is_equilibrium : bool
        Whether the face returns the equilibrium of a stream, by which fluid may leave, too.
    mirrors : bool
        Whether the tangential velocity stays: such a face has no friction.
    has_friction : bool
        Whether fluid sticks, so that there is a wall shear stress.
    may_be_solid : bool
        Whether the cells of a solid may have the condition.
    may_be_interpolated : bool
        Whether the wall of a solid with the condition may stand anywhere on a link.
    is_inlet, is_outlet, is_impermeable, moves, responds : bool
        What follows from these: whether fluid enters with a velocity, passes at a density, or does
        not pass; whether it is a wall with a velocity; and whether there is `respond`.

    Notes
    -----
    **During a step** a wall returns populations by its rows (is an outlet, rho - 1, ux, uy, uz),
    one for each point at which a link meets it: `parameters`.

    **After a step** a face may change what it has returned, if the condition defines the static
    method `respond`. That makes a function for both targets,

        respond(drho, momentum, share, memory, numbers) -> change, memory

    of a cell: its density less 1 and momentum out of the domain with what has been returned, the
    sum `share` of 2 w_q over its links through the face, a number `memory` that belongs to the
    state of the flow, and `response_numbers`. It returns what is added to the populations that the
    face has returned, over 2 w_q, and the new memory. The cell gains share * change as mass, and
    loses it as momentum. All numbers have the type of the arithmetic: write type(drho)(0.5).
    """

    name: ClassVar[str] = ""
    rank: ClassVar[int] = 1
    prescribes: ClassVar[str] = ""
    is_periodic: ClassVar[bool] = False
    is_open: ClassVar[bool] = False
    is_equilibrium: ClassVar[bool] = False
    mirrors: ClassVar[bool] = False
    has_friction: ClassVar[bool] = False
    may_be_solid: ClassVar[bool] = False
    may_be_interpolated: ClassVar[bool] = False

    # What follows from these, for each class:
    is_inlet: ClassVar[bool] = False
    is_outlet: ClassVar[bool] = False
    is_impermeable: ClassVar[bool] = True
    moves: ClassVar[bool] = False
    responds: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        cls.is_inlet = cls.is_open and cls.prescribes == "velocity"
        cls.is_outlet = cls.is_open and cls.prescribes == "rho"
        cls.is_impermeable = not (cls.is_open or cls.is_periodic)
        cls.moves = cls.prescribes == "velocity" and not cls.is_open
        cls.responds = cls.respond is not Condition.respond

    @property
    def prescribed(self) -> Any:
        """The velocity or the density, or a function of it; None if nothing is prescribed."""
        return getattr(self, self.prescribes) if self.prescribes else None

    @property
    def depends_on(self) -> Dependence:
        """Dependence of what is prescribed on position and time."""
        return find_dependence(self.prescribes, self.prescribed)

    # ---- what members define -----------------------------------------------------------------

    def __post_init__(self) -> None:
        """Check the fields; by default there is nothing to check."""

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return the rows (is an outlet, rho - 1, ux, uy, uz) [point, 5] at time t in steps.

        `points` [k, (x, y, z)] are in cells. By default it is a wall at rest.
        """
        return np.zeros((len(points), 5))

    @staticmethod
    def respond() -> Any:
        """Make the formula by which a face responds to the flow; by default there is none."""

    @property
    def response_numbers(self) -> tuple[float, ...]:
        """Numbers of `respond`; changing them compiles nothing anew."""
        return (0.0,)

    @property
    def follows_over(self) -> float | None:
        """Steps over which the condition follows the velocity of the flow, or None."""
        return None

    def start_memory(self, drho: Any, outwards: Any) -> Any:
        """Return the memory at the start, from densities less 1 and velocities out of the domain,
        which are arrays or numbers."""
        return 0.0 * outwards

    # ---- in plain NumPy, for `lbm.reference` -------------------------------------------------

    def at(self, points: Sequence[np.ndarray], t: float) -> Any:
        """Return what is prescribed at points (x, y, z) and time t, by the number of arguments."""
        value = self.prescribed
        if not callable(value):
            return value
        arguments = {1: (t,), 3: points, 4: (*points, t)}
        return value(*arguments[len(inspect.signature(value).parameters)])

    def reference_return(
        self, f: np.ndarray, w: float, c: np.ndarray, u: np.ndarray, velocity_or_rho: Any
    ) -> np.ndarray:
        """Return what a wall half-way sends back for the populations f with the velocity c.

        u [c, x, y, z] is the velocity of the cells, and the last argument what is prescribed.
        """
        return f

    def reference_respond(
        self, rho: np.ndarray, momentum: np.ndarray, share: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what `respond` returns."""
        raise NotImplementedError(
            f"{type(self).__name__} has no reference_respond: define it to compare flows with "
            "lbm.reference.Reference"
        )
