"""Synthetic eddies that pass through a face of the domain: a function of position and time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hetero import philox
from lbm._coupled.turbulent_inlets.inlet_plane import InletPlane
from lbm.boundaries import FACES, MAX_SPEED, Condition, Enclosure, require_slow
from lbm.boundaries.prescribed import Function, evaluate, find_dependence
from lbm.boundaries.synthetic_eddies import SyntheticEddies, root_of_stresses
from lbm.lattices import Lattice

REACH = 4.0 / 3.0
"""Reach of an eddy, over the integral length: the correlation of tents of reach 1 has the integral
3/4."""

TENT_SQUARE = 2.0 / 3.0
"""Integral of the square of a tent of height 1 and reach 1."""

LEAST_TILES = {False: 1, True: 2}
"""Least number of tiles across the plane, by whether it is periodic: with two, an eddy and its
periodic image do not overlap."""


class EddyGrid(NamedTuple):
    """Tiles of the plane of an inlet, each with as many eddies, and one more tile at each end.

    A tile is at least as wide as an eddy reaches, so that only a point's own tile and the eight
    around it have eddies that act there. Those beyond the edges are the tiles of the other end
    where the domain is periodic, and tiles of their own elsewhere. The two axes of the plane are
    those of the domain in their order.

    Attributes
    ----------
    face : number of the face
    tiles : numbers of tiles along both axes, without those at the ends
    wraps : whether the plane is periodic along each axis
    width, reach : of a tile and of an eddy along each axis, in cells
    per_tile : eddies in each tile
    amplitude : height of an eddy that gives the sum of all of them variance 1
    key : of the random numbers
    """

    face: int
    tiles: tuple[int, ...]
    wraps: tuple[bool, bool]
    width: tuple[float, ...]
    reach: tuple[float, ...]
    per_tile: int
    amplitude: float
    key: tuple[np.uint32, np.uint32]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Whole numbers of the grid, as `formulas.place_eddy` takes them."""
        return (self.face, *self.tiles, *map(int, self.wraps), self.per_tile, *map(int, self.key))

    @property
    def lengths(self) -> tuple[float, ...]:
        """Other numbers of the grid, as `formulas.place_eddy` takes them."""
        return *self.width, *self.reach, self.amplitude

    @property
    def eddies(self) -> int:
        """Number of eddies of all tiles, with those at the ends."""
        return (self.tiles[0] + 2) * (self.tiles[1] + 2) * self.per_tile


def make_grid(eddies: SyntheticEddies, plane: InletPlane) -> EddyGrid:
    """Return the tiles of the plane of an inlet for its eddies.

    The box through which eddies pass is as deep as they are long, so that the share of their time
    in which they act does not depend on it. Raises ValueError if lengths are too large for the
    plane.
    """
    reach, tiles, width = list[float](), list[int](), list[float]()
    for axis, wraps in zip(plane.axes, plane.wraps, strict=True):
        cells, length = plane.shape[axis], eddies.lengths[axis]
        reach.append(REACH * length)
        tiles.append(math.floor(cells / reach[-1]))
        if tiles[-1] < (least := LEAST_TILES[wraps]):
            periodic = "is periodic" if wraps else "is not periodic"
            raise ValueError(
                f"length must be at most {1 / least / REACH:.4g} of the width of the inlet, which "
                f"{periodic} and has {cells} cells along {'xyz'[axis]}, got {length:g}"
            )
        width.append(cells / tiles[-1])
    area = width[0] * width[1]
    per_tile = max(1, round(eddies.count * area / (reach[0] * reach[1])))
    # One eddy brings in the square of its height times 1/2 (the integral over a depth of two
    # reaches, over this depth) times the integrals over the plane, over the area of a tile.
    share = 0.5 * TENT_SQUARE**3 * reach[0] * reach[1] / area
    amplitude, key = 1.0 / math.sqrt(per_tile * share), philox.key(eddies.seed)
    sizes = tuple(tiles), plane.wraps, tuple(width), tuple(reach)
    return EddyGrid(plane.face, *sizes, per_tile, amplitude, key)


class FaceEddies:
    """The velocity of a turbulent inlet, as a function of position and time.

    Parameters
    ----------
    eddies : what the user asked for
    plane : the inlet

    Attributes
    ----------
    grid : tiles to which the eddies belong
    changes : whether the mean changes with time
    mean : float64 [component, row or 1, column or 1], the mean, or that at time 0
    root : float64 [3, 3, row or 1, column or 1], square roots of the Reynolds stresses
    speed : speed in cells/step with which eddies pass
    rate : how often an eddy passes in a step
    flow_rate : mass per step that `mean` brings in at density 1

    Raises
    ------
    ValueError
        If an argument of the eddies does not suit the face.
    """

    def __init__(self, eddies: SyntheticEddies, plane: InletPlane):
        self.eddies, self.plane = eddies, plane
        self.changes = find_dependence("mean", eddies.mean).time
        self.mean = self.mean_at(0.0)
        self.flow_rate = float((plane.weights * self.mean).sum())
        self.speed = self._find_speed()
        self.root = self._find_root()
        # Eddies pass through a box as deep as they are long, which is two reaches.
        self.rate = self.speed / (2.0 * REACH * eddies.lengths[plane.axis])
        self.grid = make_grid(eddies, plane)
        self._latest: tuple[float, np.ndarray] = np.nan, self.mean

    def mean_at(self, t: float) -> np.ndarray:
        """Return the mean at a time in steps, with the shape of `mean`."""
        mean = self.eddies.mean
        if not callable(mean):
            return np.array(mean).reshape(3, 1, 1)
        depends = find_dependence("mean", mean)
        points = self.plane.points() if depends.position else np.zeros((1, 3))
        values = evaluate("mean", mean, depends, points, t, 3)
        return values.T.reshape(3, *(self.plane.size if depends.position else (1, 1)))

    def _find_speed(self) -> float:
        """Return the speed with which eddies pass."""
        if self.eddies.speed is not None:
            return self.eddies.speed
        speed = self.flow_rate / self.plane.area
        if not 0.0 < speed <= MAX_SPEED:
            raise ValueError(
                f"mean must bring in fluid through the inlet {FACES[self.plane.face]!r}, with 0 to "
                f"{MAX_SPEED} cells/step on average, got {speed:g}: where it does not, give the "
                "speed with which eddies pass (speed)"
            )
        return speed

    def _find_root(self) -> np.ndarray:
        """Return `root`."""
        stresses = self.eddies.stresses
        if not callable(stresses):
            if self.eddies.intensity is not None:
                stresses = np.eye(3) * (self.eddies.intensity * self.speed) ** 2
            return root_of_stresses(np.array(stresses)).reshape(3, 3, 1, 1)
        depends, elements = find_dependence("stresses", stresses), _elements_of(stresses)
        values = evaluate("stresses", elements, depends, self.plane.points(), 0.0, 9)
        roots = root_of_stresses(values.reshape(-1, 3, 3))
        return np.ascontiguousarray(roots.transpose(1, 2, 0)).reshape(3, 3, *self.plane.size)

    def fluctuations(self, t: float) -> tuple[np.ndarray, float]:
        """Return the velocities of the eddies at time t in steps, and the mass they would bring in.

        float64 [component, row, column] at the points of the plane.
        """
        from lbm._coupled.turbulent_inlets.cpu import place_eddies, sum_eddies

        layout = self.grid.sizes, self.grid.lengths
        eddies, out = np.empty((self.grid.eddies, 5)), np.empty((3, *self.plane.size))
        inflow = np.empty(self.plane.size[0])
        place_eddies(t * self.rate, *layout, eddies)
        sum_eddies(eddies, *layout, self.root, self.plane.weights, out, inflow)
        return out, float(inflow.sum())

    def velocities(self, t: float) -> np.ndarray:
        """Return the velocities at time t in steps, float64 [component, row, column].

        Raises ValueError if one is larger than MAX_SPEED.
        """
        if self._latest[0] != t:
            out, inflow = self.fluctuations(t)
            out[self.plane.axis] -= self.plane.inwards * inflow / self.plane.area
            out += self.mean_at(t) if self.changes else self.mean
            require_slow(float(np.sqrt((out**2).sum(axis=0).max())))
            self._latest = t, out
        return self._latest[1]

    def __call__(
        self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the velocity at the points of the plane that are nearest to these."""
        row, column = self.plane.find_places(x, y, z)
        u, v, w = self.velocities(t)[:, row, column]
        return u, v, w


def _elements_of(stresses: Function) -> Function:
    """Return a function like `stresses` that returns the nine elements in one list."""

    def elements(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[object]:
        rows = stresses(x, y, z)
        try:
            nine = [element for row in rows for element in row]
        except TypeError:
            nine = []
        if len(nine) != 9:
            raise ValueError("stresses must return three rows of three numbers or arrays")
        return nine

    return elements


def bind_eddies(enclosure: Enclosure, lattice: Lattice) -> tuple[Condition, ...]:
    """Return the conditions with `SyntheticEddies` of inlets replaced by those of their faces."""
    turbulent = {
        face: (condition, condition.prescribed)
        for face, condition in enumerate(enclosure.faces)
        if condition.is_inlet and isinstance(condition.prescribed, SyntheticEddies)
    }
    # The planes are found by links with velocities, of which only those of these inlets matter.
    quiet, bound = list(enclosure.faces), list(enclosure.faces)
    for face, (condition, _) in turbulent.items():
        quiet[face] = replace(condition, **{condition.prescribes: _make_quiet()})
    for face, (condition, eddies) in turbulent.items():
        plane = InletPlane(face, lattice, enclosure._replace(faces=quiet))
        bound[face] = replace(condition, **{condition.prescribes: FaceEddies(eddies, plane)})
    return tuple(bound)


def _make_quiet() -> Function:
    """Return a new function of position, equal to no other, that stands for an inlet's velocity."""
    return lambda x, y, z: (0.0 * x, 0.0 * x, 0.0 * x)
