"""Prescribed motions of solids: rotations about an axis and translations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero.validation import check_finite, describe
from lbm.boundaries.limits import check_vector, require_slow


class Motion:
    """A rigid motion: the base class of `Rotation` and `Translation`.

    Times are in steps, lengths in cells. A body is where its shape says, turned and shifted.
    """

    def angle_at(self, t: float) -> float:
        """Return the angle in radians by which the body has turned at time t."""
        return 0.0

    def displacement_at(self, t: float) -> np.ndarray:
        """Return by how many cells the body is shifted at time t, float64 [3]."""
        return np.zeros(3)


@dataclass(frozen=True)
class Rotation(Motion):
    """A rotation of a solid about an axis.

    Parameters
    ----------
    centre : three floats
        A point of the axis, in cells. A translation carries it along.
    axis : three floats
        Direction of the axis, of any length; the body turns by the right-hand rule.
    rate : float
        Angular velocity in radians/step, from an angle of 0 at step 0.
    angle : function
        Instead of `rate`, where it changes: angle(t) in radians at the time t in steps. It is
        asked for times up to 32 steps ahead.
    """

    centre: Sequence[float]
    axis: Sequence[float]
    rate: float | None = None
    angle: Callable[[float], float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", check_vector("centre", self.centre))
        axis = np.array(check_vector("axis", self.axis))
        if not axis.any():
            raise ValueError(f"axis must not be zero, got {self.axis!r}")
        axis /= np.abs(axis).max()  # its square might overflow
        object.__setattr__(self, "axis", tuple(map(float, axis / np.linalg.norm(axis))))
        if (self.rate is None) == (self.angle is None):
            raise TypeError("a rotation needs either rate, a number, or angle, a function of time")
        if callable(self.rate):
            raise TypeError("rate must be a number; give the angle as a function, angle=")
        if self.rate is not None:
            object.__setattr__(self, "rate", check_finite("rate", self.rate))
        elif not callable(self.angle):
            raise TypeError(f"angle must be a function of the time, got {describe(self.angle)}")

    def angle_at(self, t: float) -> float:
        """Return the angle in radians by which the body has turned at time t."""
        if self.rate is not None:
            return self.rate * t
        assert self.angle is not None
        return check_finite(f"angle({t:g})", self.angle(t))


@dataclass(frozen=True)
class Translation(Motion):
    """A translation of a solid.

    Parameters
    ----------
    path : three floats or function
        A constant velocity in cells/step, or a function path(t) of the time in steps that returns
        by how many cells the body is shifted from the place of its shape along x, y and z. It is
        asked for times up to 32 steps ahead.
    """

    path: Sequence[float] | Callable[[float], Sequence[float]]

    def __post_init__(self) -> None:
        if not callable(self.path):
            velocity = check_vector("path", self.path)
            require_slow(math.hypot(*velocity), "path, a velocity,")
            object.__setattr__(self, "path", velocity)

    def displacement_at(self, t: float) -> np.ndarray:
        """Return by how many cells the body is shifted at time t, float64 [3]."""
        if callable(self.path):
            return np.array(check_vector(f"path({t:g})", self.path(t)))
        return np.array(self.path) * t


def check_motion(motion: Any) -> tuple[Motion, ...]:
    """Return a motion as a tuple of at most one rotation and one translation."""
    motions = (motion,) if isinstance(motion, Motion) else motion
    if (
        not isinstance(motions, tuple | list)
        or not 1 <= len(motions) <= 2
        or not all(isinstance(m, Rotation | Translation) for m in motions)
        or len({type(m) for m in motions}) != len(motions)
    ):
        raise TypeError(
            "motion must be lbm.Rotation, lbm.Translation or one of each in a tuple, got "
            f"{describe(motion)}"
        )
    return tuple(motions)
