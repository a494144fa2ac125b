"""Turbulent inlets: a mean velocity and the fluctuations of synthetic eddies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.validation import check_in_range, check_integer, describe
from lbm.boundaries import MAX_SPEED, check_vector
from lbm.boundaries.prescribed import Dependence, Function, find_dependence

Rows = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
"""A tensor by its rows."""

SHORTEST = 1.0
"""Smallest integral length in cells: eddies that are shorter fall between the cells."""

LONGEST = 1e6
"""Largest integral length in cells along the flow, for which there is no use."""

MOST_EDDIES = 100
"""Largest `count`: the fluctuations are Gaussian long before, and each step takes more time."""

ROUNDING = 1e-9
"""Share of the largest stress by which an eigenvalue may be negative, and two elements differ that
should be equal: what remains when six digits or more of a table are rotated."""


@dataclass(frozen=True)
class SyntheticEddies:
    """A turbulent velocity for an inlet: a mean and the fluctuations of random eddies that pass.

    `lbm.VelocityInlet(lbm.SyntheticEddies(...))` or an `lbm.NonReflectingInlet` of it is the
    condition of a face of the domain. Eddies of random places and signs pass through the plane with
    the speed of the flow (synthetic eddy method, Jarrin et al. 2006, equations 6 to 12, with the
    tent as the shape of an eddy along each axis).

    Parameters
    ----------
    mean : three floats, or function
        Mean velocity in cells/step, or a function of position, time or both as the velocity of a
        `MovingWall`.
    intensity : float, optional
        Standard deviation of each component over `speed`, in (0, 1], for turbulence that is the
        same in all directions.
    stresses : three rows of three floats, or function, optional
        Reynolds stresses, the covariances of the components in (cells/step)^2, or a function
        stresses(x, y, z) that returns three rows of three numbers or arrays. The tensor is
        symmetric and has no negative eigenvalue; it may vanish at walls. Either this or
        `intensity` is needed.
    length : float, or three floats
        Integral length of the fluctuations in cells, at least 1, one for all axes or one for each
        of x, y and z. An eddy reaches 4/3 of it to either side. In the plane of the inlet it may be
        at most 3/4 of the width, and 3/8 where the domain is periodic.
    count : int
        Number of eddies in a part of the plane with the area of the reaches' product: 4 `count`
        eddies act on a point on average. The flatness of the fluctuations differs from 3, that of
        Gaussian ones, by about 1 / `count` or less.
    seed : int
        Number that stands for the random numbers, >= 0. Faces differ with one seed, too.
    speed : float, optional
        Speed in cells/step with which eddies pass; by default flow rate over area of the mean,
        which must not depend on time then.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range. What depends on the plane is checked by `lbm.Simulation`.

    Notes
    -----
    Over all seeds the mean and, before the flow rate is corrected, the Reynolds stresses are exact
    at every point, up to the edges. With r the distance over the reach, the two-point correlation
    is the product over the axes of 1 - 3 r^2 / 2 + 3 r^3 / 4 up to 1 and (2 - r)^3 / 4 up to 2;
    along the flow r is the time times `speed` over the reach. Its integral is `length`.

    The flow rate of the inlet is that of the mean in each step, to rounding: what the fluctuations
    would bring in is spread over the plane and subtracted from the normal velocity. This takes
    the share 4 b c / A from the variance of the normal component, with the integral lengths b and c
    in the plane and its area A (1.6 % for a plane 16 lengths wide), a little less between walls.

    Velocities are functions of position, time and `seed` alone: any number of parts, ranks and
    threads computes the same, and a restart needs no more than the seed. The fluctuations have the
    asked stresses but are no solution of the equations of motion, not even free of divergence: the
    flow needs several lengths to turn them into turbulence, and sound comes with them.
    """

    mean: tuple[float, float, float] | Function
    intensity: float | None = None
    stresses: Any = None
    length: float | tuple[float, float, float] = field(
        default=8.0, metadata={"quantity": "lengths", "required": True}
    )
    count: int = 4
    seed: int = 0
    speed: float | None = None

    def __post_init__(self) -> None:
        depends = find_dependence("mean", self.mean)
        if not depends:
            self._set("mean", check_vector("mean", self.mean))
        if (self.intensity is None) == (self.stresses is None):
            raise ValueError(
                "intensity (standard deviation over speed) or stresses (three rows of three "
                f"numbers) is needed, and only one of them, got intensity={self.intensity!r} and "
                f"stresses={describe(self.stresses)}"
            )
        if self.intensity is not None:
            of_range = check_in_range("intensity", self.intensity, 0.0, 1.0, closed="right")
            self._set("intensity", of_range)
        elif not callable(self.stresses):
            self._set("stresses", _check_stresses(self.stresses))
        elif find_dependence("stresses", self.stresses) != Dependence(position=True):
            raise TypeError(
                "stresses must be three rows of three numbers, or a function of position, "
                "stresses(x, y, z)"
            )
        self._set("length", _check_length(self.length))
        self._set("count", check_integer("count", self.count, 1, MOST_EDDIES))
        self._set("seed", check_integer("seed", self.seed))
        if self.speed is not None:
            self._set("speed", check_in_range("speed", self.speed, 0.0, MAX_SPEED, closed="right"))
        elif depends.time:
            raise ValueError("speed, with which eddies pass, must be given where the mean depends "
                             "on time")  # fmt: skip

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def lengths(self) -> tuple[float, float, float]:
        """Integral lengths along x, y and z."""
        return self.length if isinstance(self.length, tuple) else (self.length,) * 3

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float) -> Any:
        """Raise TypeError: a simulation replaces the eddies of its inlets by those of the face."""
        raise TypeError(
            "lbm.SyntheticEddies belong to an lbm.VelocityInlet or an lbm.NonReflectingInlet that "
            "is a face of an lbm.Simulation ('x-', 'x+', ...): walls, solids, and functions that "
            "only take velocities cannot have them"
        )


def _check_length(value: object) -> float | tuple[float, float, float]:
    """Return one or three integral lengths."""
    if isinstance(value, str | set | dict) or not np.iterable(value):
        return check_in_range("length", value, SHORTEST, LONGEST)
    x, y, z = check_vector("length", value)
    for number in (x, y, z):
        check_in_range("length", number, SHORTEST, LONGEST)
    return x, y, z


def _check_stresses(value: object) -> Rows:
    """Return constant Reynolds stresses as rows of floats."""
    if isinstance(value, str | set | dict) or not np.iterable(value):
        raise TypeError(f"stresses must hold three rows of three numbers, got {describe(value)}")
    rows = [check_vector("stresses", row) for row in value]
    if len(rows) != 3:
        raise ValueError(f"stresses must hold three rows, got {describe(value)}")
    root_of_stresses(np.array(rows))
    return rows[0], rows[1], rows[2]


def root_of_stresses(stresses: np.ndarray) -> np.ndarray:
    """Return the symmetric square roots of tensors [..., 3, 3].

    The root exists, other than Cholesky's factor, for stresses that vanish in a direction, too.
    Raises ValueError if a tensor is not symmetric or has a negative eigenvalue.
    """
    largest = np.abs(stresses).max(axis=(-2, -1))
    skew = np.abs(stresses - np.swapaxes(stresses, -2, -1)).max(axis=(-2, -1))
    if (bad := skew > ROUNDING * largest).any():
        raise ValueError(f"stresses must be symmetric, got {stresses[bad][0].tolist()}")
    values, vectors = np.linalg.eigh(stresses)
    if (bad := values[..., 0] < -ROUNDING * largest).any():
        raise ValueError(
            f"stresses must have no negative eigenvalue, got {stresses[bad][0].tolist()} with "
            f"{values[bad][0, 0]:.3g}: an |uv| is at most the root of uu times vv"
        )
    roots = np.sqrt(np.maximum(values, 0.0))
    return (vectors * roots[..., None, :]) @ np.swapaxes(vectors, -2, -1)
