"""Ranges of the densities and velocities that may be prescribed, and checks of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.validation import check_finite, describe
from lbm.lattices import SOUND

DENSITY_RANGE = 0.5, 1.5
"""Range of densities of initial flows and outlets: the method holds near density 1."""

MAX_SPEED = 0.3
"""Largest speed of a wall or an inlet in cells/step, about half of the speed of sound (0.577)."""

SPEED_LIMIT = 0.8 * SOUND
"""Speed in cells/step above which a run stops: Mach 0.8, where the equilibrium is inaccurate."""

DENSITY_LIMITS = DENSITY_RANGE[0] / 2, DENSITY_RANGE[1] * 2
"""Densities outside of which a run stops. The pressure of a flow at moderate speeds changes the
density by a few per cent, waves between walls at most double what the start has; beyond, a region
of fluid fills or empties."""


def check_numbers(name: str, value: Any, count: int = 3) -> tuple[float, ...]:
    """Return `value` as a tuple of `count` finite floats."""
    words = f"{name} must hold {('two', 'three')[count - 2]} numbers"
    if isinstance(value, str | set | dict) or not np.iterable(value):
        raise TypeError(f"{words}, got {describe(value)}")
    numbers = tuple(check_finite(name, x) for x in value)
    if len(numbers) != count:
        raise ValueError(f"{words}, got {describe(value)}")
    return numbers


def check_vector(name: str, value: Any) -> tuple[float, float, float]:
    """Return `value` as three finite floats."""
    x, y, z = check_numbers(name, value)
    return x, y, z


def require_slow(speed: float, name: str = "velocity") -> None:
    """Raise ValueError if a speed is larger than MAX_SPEED."""
    if speed > MAX_SPEED:
        raise ValueError(
            f"{name} must be at most {MAX_SPEED} cells/step, got {speed:g}: the method is valid "
            "only well below the speed of sound (0.577). Use a smaller time step "
            "(lbm.Units does it for you)"
        )
