"""Synthetic eddies that pass through a face of the domain: a function of position and time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lbm._coupled.turbulent_inlets.eddy_grid import REACH, make_grid
from lbm._coupled.turbulent_inlets.inlet_plane import InletPlane
from lbm.boundaries import FACES, MAX_SPEED, Condition, Enclosure, require_slow
from lbm.boundaries.prescribed import Function, evaluate, find_dependence
from lbm.boundaries.synthetic_eddies import SyntheticEddies, root_of_stresses
from lbm.lattices import Lattice


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
