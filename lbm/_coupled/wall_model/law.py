"""Spalding's law of the wall (1961), a formula for both targets.

The speed u at the distance y from a wall with the friction velocity v is u+ = u/v at y+ = y v/nu,

    y+ = u+ + exp(-kappa B) (exp(kappa u+) - 1 - kappa u+ - (kappa u+)^2/2 - (kappa u+)^3/6),

which holds in the viscous layer, above it and between both.
"""

from __future__ import annotations

import math

import numpy as np

from lbm.collisions.unroll import inlined

KAPPA, INTERCEPT = 0.41, 5.2
"""Constants of the logarithmic law u+ = ln(y+)/kappa + B (Pope 2000, equation 7.43)."""

POWER, FACTOR = 1.0 / 7.0, 8.3
"""The power law u+ = 8.3 y+^(1/7) of Werner and Wengle (1991), at which the iteration starts."""

NEWTON_STEPS = 4
"""Steps of Newton's method; the error is then rounding for Reynolds numbers y u/nu up to 6e7."""


@inlined
def friction_velocity(speed, distance, viscosity):
    """Return the friction velocity of a wall at a distance from which the fluid has a speed.

    Newton's method for the logarithm of y u/nu = u+ y+ as a function of u+.
    """
    T = type(speed)
    local = speed * distance / viscosity
    if local < T(1e-6):
        return T(math.sqrt(speed * viscosity / distance))
    power = T(POWER)
    logarithm = T(math.log(local))
    u = min(
        T(math.sqrt(local)),
        T(math.exp((T(math.log(FACTOR)) + power * logarithm) / (T(1) + power))),
    )
    for _ in range(NEWTON_STEPS):
        k = T(KAPPA) * u
        tail = T(math.exp(-KAPPA * INTERCEPT)) * (
            T(math.exp(k)) - T(1) - k * (T(1) + k * (T(0.5) + k * T(1.0 / 6.0)))
        )
        slope = T(math.exp(-KAPPA * INTERCEPT)) * T(KAPPA) * (
            T(math.exp(k)) - T(1) - k * (T(1) + T(0.5) * k)
        )
        y = u + tail
        rise = T(1) / u + (T(1) + slope) / y
        u = max(T(0.5) * u, u - (T(math.log(u * y)) - logarithm) / rise)
    return speed / u


def find_friction_velocities(
    speed: np.ndarray, distance: np.ndarray, viscosity: float
) -> np.ndarray:
    """Return the friction velocities of arrays of speeds and distances."""
    if not len(speed):
        return np.zeros(0)
    compute = np.vectorize(friction_velocity.py_func, otypes=[float])
    result: np.ndarray = compute(speed, np.maximum(distance, 1e-6), viscosity)
    return result
