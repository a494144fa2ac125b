"""Sponges: layers of cells before a face that absorb waves and vortices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hetero.validation import check_in_range, check_integer
from lbm.boundaries import DENSITY_RANGE, FACES, Condition, check_vector, require_slow
from lbm.boundaries.prescribed import Dependence, Function, find_dependence
from lbm.lattices import SOUND
from lbm.lattices.extent import Triple

MAX_STRENGTH = 0.5
"""Largest share of the distance to its target by which a cell may be moved in a step: stronger
layers are so thin that waves see a jump."""

MOST_CELLS = 1 << 20
"""Largest thickness of a sponge in cells, for which there is no use."""


@dataclass(frozen=True)
class Sponge:
    """A layer of cells before a face that absorbs pressure waves and vortices.

    Before each step the populations of a cell move towards the equilibrium of a target density and
    a target velocity, by a share that grows from 0 to its largest value at the face as the square
    of the depth (Israeli and Orszag 1981; Kam, So and Leung 2007 for lattice Boltzmann). Since all
    populations relax alike, a wave that meets the layer head-on is not reflected by its rise, and
    is damped at all wavelengths alike.

    Parameters
    ----------
    cells : int
        Thickness of the layer, at least 4. Of a plane wave `reflection` returns whatever the
        thickness; vortices fade the more gently, the thicker it is: take the size of the largest.
    u : three floats or function of position, optional
        Target velocity in cells/step, or a function u(x, y, z) of coordinates in cells that returns
        three components. By default it is the velocity of a `VelocityInlet` that is constant;
        elsewhere it follows the flow: the running mean of each cell's velocity, which begins with
        the start of the flow.
    rho : float, optional
        Target density, by default that of a `PressureOutlet` that is constant, and otherwise 1.
    reflection : float
        Share of the height of a plane wave that comes back from the face, between 1e-6 and 0.5, if
        the face reflects all of it. Measured: 0.011 for 0.01.
    averaging : float
        Steps over which a target velocity follows the flow. Waves of longer periods are
        reflected in part; a flow that changes as a whole needs about as many steps to settle.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or so few cells must absorb so much that the layer would
        reflect waves itself.
    """

    cells: int
    u: tuple[float, float, float] | Function | None = field(
        default=None, metadata={"key": "velocity", "quantity": "constant velocity"}
    )
    rho: float | None = None
    reflection: float = 0.01
    averaging: float = field(default=5000.0, metadata={"quantity": "duration"})

    def __post_init__(self) -> None:
        check_integer("cells", self.cells, 4, MOST_CELLS)
        if self.u is not None and not callable(self.u):
            object.__setattr__(self, "u", check_vector("u", self.u))
            require_slow(math.hypot(*self.u), "u")
        elif callable(self.u) and find_dependence("u", self.u) != Dependence(position=True):
            raise TypeError("u must be three numbers or a function of position, u(x, y, z)")
        if self.rho is not None:
            object.__setattr__(self, "rho", check_in_range("rho", self.rho, *DENSITY_RANGE))
        reflection = check_in_range("reflection", self.reflection, 1e-6, 0.5)
        object.__setattr__(self, "reflection", reflection)
        averaging = check_in_range("averaging", self.averaging, 1.0, 1e12)
        object.__setattr__(self, "averaging", averaging)
        if (strength := float(self.profile().max())) > MAX_STRENGTH:
            least = math.ceil(self.cells * strength / MAX_STRENGTH)
            raise ValueError(
                f"cells={self.cells} are too few for reflection={self.reflection:g}: the layer "
                f"would reflect waves itself. Use at least {least} cells, or a larger reflection"
            )

    def profile(self) -> np.ndarray:
        """Return the strength in each cell, the share by which it relaxes in a step, from the
        outermost cell of the layer to that at the face.

        A wave crosses the layer twice, so that exp(-2 sum / c) of it comes back, where c is the
        speed of sound. Flow through the face makes it less.
        """
        depth = (np.arange(self.cells) + 0.5) ** 2
        return depth * (0.5 * SOUND * math.log(1.0 / self.reflection) / depth.sum())

    def describe(self) -> str:
        """Return a text that is the same for equal settings; a function counts as one only."""
        u = "function" if callable(self.u) else self.u
        return f"{self.cells} cells, u={u}, rho={self.rho}, {self.reflection}, {self.averaging}"


def complete_sponge(sponge: Sponge, condition: Condition) -> Sponge:
    """Return a sponge with the target that a face's condition gives where it has none."""
    u, rho = sponge.u, sponge.rho
    if u is None and condition.is_inlet and not condition.depends_on:
        u = condition.prescribed
    if rho is None:
        is_target = condition.is_outlet and not condition.depends_on
        rho = condition.prescribed if is_target else 1.0
    return Sponge(sponge.cells, u, rho, sponge.reflection, sponge.averaging)


def check_sponges(
    sponges: Mapping[str, Sponge | int] | None, shape: Triple, faces: Sequence[Condition]
) -> dict[str, Sponge]:
    """Return the sponges of a simulation by the names of their faces, with all targets.

    An integer stands for a sponge of so many cells. Raises TypeError or ValueError for what is no
    sponge, at a periodic face, or thicker than the domain.
    """
    if not isinstance(sponges, Mapping | None):
        raise TypeError(
            f"sponges must map faces to lbm.Sponge or numbers of cells, got {sponges!r}"
        )
    checked: dict[str, Sponge] = {}
    for name, value in (sponges or {}).items():
        if name not in FACES:
            raise ValueError(f"sponges has the key {name!r}: use {', '.join(FACES)}")
        sponge = value
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            sponge = Sponge(int(value))
        if not isinstance(sponge, Sponge):
            raise TypeError(
                f"sponges[{name!r}] must be lbm.Sponge or a number of cells, got {value!r}"
            )
        condition = faces[FACES.index(name)]
        if condition.is_periodic:
            raise ValueError(
                f"sponges[{name!r}] stands before a periodic face, which reflects nothing: give "
                "the face another condition, such as PressureOutlet(), or leave out the sponge"
            )
        checked[name] = complete_sponge(sponge, condition)
    for axis in range(3):
        thickness = sum(s.cells for name, s in checked.items() if name[0] == "xyz"[axis])
        if thickness > shape[axis]:
            raise ValueError(
                f"the sponges across {'xyz'[axis]} have {thickness} cells, the domain only "
                f"{shape[axis]}: use thinner ones, or a longer domain"
            )
    return {name: checked[name] for name in FACES if name in checked}
