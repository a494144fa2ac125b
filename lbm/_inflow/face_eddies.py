"""Synthetic eddies that pass through a face of the domain: a function of position and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hetero import philox
from lbm._inflow.eddy_grid import REACH, EddyGrid, make_grid
from lbm._inflow.inlet_links import plane_axes, points_across, weigh_points
from lbm._model.extent import Triple
from lbm._model.prescribed import Function, evaluate, find_dependence
from lbm.boundaries import FACES, MAX_SPEED, Condition, Periodic, Solid, VelocityInlet
from lbm.lattices import Lattice
from lbm.turbulent_inflow import SyntheticEddies, root_of_stresses


class FaceEddies:
    """The velocity of a turbulent inlet, as a function of position and time.

    Parameters
    ----------
    eddies : what the user asked for
    face : number of the face
    shape, faces : cells of the domain, and the conditions at its faces
    weights : mass that a velocity of 1 at each point brings in, as `weigh_points` returns it

    Attributes
    ----------
    speed : speed in cells/step with which eddies pass
    flow_rate : mass per step that the mean brings in at density 1, if it does not depend on time

    Raises
    ------
    ValueError
        If an argument of the eddies does not suit the face.
    """

    def __init__(
        self,
        eddies: SyntheticEddies,
        face: int,
        shape: Triple,
        faces: Sequence[Condition],
        weights: np.ndarray,
    ):
        self.eddies, self._face, self._shape = eddies, face, shape
        self._axis, self._axes, self._weights = face // 2, plane_axes(face), weights
        self._sizes = (
            points_across(self._axes[0], shape, faces),
            points_across(self._axes[1], shape, faces),
        )
        self._inwards = -1.0 if face % 2 else 1.0
        self._area = self._inwards * float(weights[self._axis].sum())
        if self._area <= 0.0:
            raise ValueError(f"the inlet {FACES[face]!r} with lbm.SyntheticEddies has no fluid")
        depends = find_dependence("mean", eddies.mean)
        self._mean_in_time = eddies.mean if depends.time else None
        self._mean = self._evaluate_mean(0.0)
        self.flow_rate = float((weights * self._mean).sum())
        self.speed = self._find_speed()
        self._root = self._find_root()
        self._reach = REACH * eddies.lengths[self._axis]
        self._grid = self._make_grid(faces)
        self._latest: tuple[float, np.ndarray] = np.nan, self._mean

    def _points(self) -> np.ndarray:
        """Return the points of the half-cell grid, float64 [k, (x, y, z)] in cells."""
        points = np.empty((*self._sizes, 3))
        points[..., self._axis] = self._shape[self._axis] * (self._face % 2)
        points[..., self._axes[0]] = 0.5 * np.arange(self._sizes[0])[:, None]
        points[..., self._axes[1]] = 0.5 * np.arange(self._sizes[1])[None, :]
        return points.reshape(-1, 3)

    def _evaluate_mean(self, t: float) -> np.ndarray:
        """Return the mean [component, row, column] at a time; its last axes are 1 if constant."""
        mean = self.eddies.mean
        if not callable(mean):
            return np.array(mean).reshape(3, 1, 1)
        values = evaluate("mean", mean, find_dependence("mean", mean), self._points(), t, 3)
        return values.T.reshape(3, *self._sizes)

    def _find_speed(self) -> float:
        """Return the speed with which eddies pass."""
        if self.eddies.speed is not None:
            return self.eddies.speed
        speed = self.flow_rate / self._area
        if not 0.0 < speed <= MAX_SPEED:
            raise ValueError(
                f"mean must bring in fluid through the inlet {FACES[self._face]!r}, with 0 to "
                f"{MAX_SPEED} cells/step on average, got {speed:g}: where it does not, give the "
                "speed with which eddies pass (speed)"
            )
        return speed

    def _find_root(self) -> np.ndarray:
        """Return the square roots of the Reynolds stresses [3, 3, row or 1, column or 1]."""
        stresses, points = self.eddies.stresses, self._points()
        if not callable(stresses):
            if self.eddies.intensity is not None:
                stresses = np.eye(3) * (self.eddies.intensity * self.speed) ** 2
            return root_of_stresses(np.array(stresses)).reshape(3, 3, 1, 1)
        components = _nine_components(stresses)
        depends = find_dependence("stresses", stresses)
        values = evaluate("stresses", components, depends, points, 0.0, 9)
        roots = root_of_stresses(values.reshape(-1, 3, 3))
        return np.ascontiguousarray(roots.transpose(1, 2, 0)).reshape(3, 3, *self._sizes)

    def _make_grid(self, faces: Sequence[Condition]) -> EddyGrid:
        (a, b), lengths = self._axes, self.eddies.lengths
        return make_grid(
            self._face,
            (self._shape[a], self._shape[b]),
            (isinstance(faces[2 * a], Periodic), isinstance(faces[2 * b], Periodic)),
            (lengths[a], lengths[b]),
            self.eddies.count,
            philox.key(self.eddies.seed),
        )

    def fluctuations(self, t: float) -> tuple[np.ndarray, float]:
        """Return the velocities of the eddies at time t in steps, and the mass they would bring in.

        float64 [component, row, column] at the points of the half-cell grid.
        """
        from lbm._inflow.eddy_loops import place_eddies, sum_eddies

        grid = self._grid
        eddies, out = np.empty((grid.eddies, 5)), np.empty((3, *self._sizes))
        inflow = np.empty(self._sizes[0])
        # Eddies pass through a box as deep as they are long, which is two reaches.
        place_eddies(grid, t * self.speed / (2.0 * self._reach), eddies)
        sum_eddies(grid, eddies, self._root, self._weights, out, inflow)
        return out, float(inflow.sum())

    def velocities(self, t: float) -> np.ndarray:
        """Return the velocities at time t in steps, float64 [component, row, column].

        Rows and columns are points half a cell apart, from the edge of the plane on.
        """
        if self._latest[0] != t:
            out, inflow = self.fluctuations(t)
            out[self._axis] -= self._inwards * inflow / self._area
            out += self._mean if self._mean_in_time is None else self._evaluate_mean(t)
            self._latest = t, out
        return self._latest[1]

    def __call__(
        self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the velocity at points of the plane, at the nearest ones of the half-cell grid."""
        places = (x, y, z)
        row, column = (
            np.rint(2.0 * places[axis]).astype(np.int64) % size
            for axis, size in zip(self._axes, self._sizes, strict=True)
        )
        u, v, w = self.velocities(t)[:, row, column]
        return u, v, w


def _nine_components(stresses: Function) -> Function:
    """Return a function like `stresses` that returns the nine elements in one list."""

    def components(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[object]:
        rows = stresses(x, y, z)
        try:
            elements = [element for row in rows for element in row]
        except TypeError:
            elements = []
        if len(elements) != 9:
            raise ValueError("stresses must return three rows of three numbers or arrays")
        return elements

    return components


def bind_eddies(
    faces: Sequence[Condition], solids: Mapping[str, Solid], shape: Triple, lattice: Lattice
) -> tuple[Condition, ...]:
    """Return the conditions with `SyntheticEddies` of inlets replaced by those of their faces."""
    turbulent = [
        face
        for face, condition in enumerate(faces)
        if isinstance(condition, VelocityInlet) and isinstance(condition.velocity, SyntheticEddies)
    ]
    bound, quiet = list(faces), list(faces)
    for face in turbulent:
        quiet[face] = replace(_inlet(faces[face]), velocity=_make_quiet())
    for face in turbulent:
        inlet, weights = _inlet(faces[face]), weigh_points(lattice, shape, quiet, solids, face)
        assert isinstance(inlet.velocity, SyntheticEddies)
        bound[face] = replace(
            inlet, velocity=FaceEddies(inlet.velocity, face, shape, faces, weights)
        )
    return tuple(bound)


def _inlet(condition: Condition) -> VelocityInlet:
    """Return a condition that is an inlet."""
    assert isinstance(condition, VelocityInlet)
    return condition


def _make_quiet() -> Function:
    """Return a new function of position, equal to no other, that stands for an inlet's velocity."""
    return lambda x, y, z: (0.0 * x, 0.0 * x, 0.0 * x)
