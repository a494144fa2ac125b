"""Checks of a simulation's arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero import validation
from hetero.arrays import as_real
from hetero.devices import Device
from hetero.validation import check_finite, check_integer
from lbm.boundaries import DENSITY_RANGE, check_vector
from lbm.boundaries.limits import SPEED_LIMIT
from lbm.boundaries.prescribed import InitialField, find_dependence
from lbm.lattices import SOUND
from lbm.lattices.extent import Extent, Triple

MAX_CELLS = 1 << 32
"""Number of cells that a domain must stay below: GPU kernels index them by 32 bits."""


def check_shape(shape: Sequence[int], ranks: int = 1) -> tuple[int, int, int]:
    """Return the shape of a domain on so many ranks as (nx, ny, nz), if it is valid."""
    sizes = validation.check_shape("shape", shape)
    if len(sizes) != 3 or min(sizes, default=0) < 1:
        raise ValueError(f"shape must be three integers of at least 1, got {shape!r}")
    nx, ny, nz = sizes
    if nx * ny * nz >= MAX_CELLS * ranks:
        raise ValueError(f"shape must have fewer than 2^32 cells on each rank, got {shape!r}")
    return nx, ny, nz


def check_force(
    force: Any,
) -> tuple[Callable[[float], tuple[float, float, float]] | None, tuple[float, float, float]]:
    """Return a body force as a function of time, or None if it is constant, and its first value."""
    if not callable(force):
        return None, check_vector("force", force)
    if find_dependence("force", force).position:
        raise TypeError("force must be three numbers or a function of time, force(t): it is the "
                        "same in all cells")  # fmt: skip

    def force_in_time(t: float) -> tuple[float, float, float]:
        return check_vector("force(t)", force(t))

    return force_in_time, force_in_time(0.0)


def check_ratio(ratio: float | str, *devices: Device) -> float | str:
    """Return the CPU's share of the rows, or "auto", if it suits the devices."""
    if not isinstance(ratio, str) or ratio != "auto":
        ratio = check_finite("ratio", ratio)
        if not 0.0 <= ratio <= 1.0:
            raise ValueError(f"ratio must lie in [0, 1] or be 'auto', got {ratio!r}")
    if ratio != 0.0 and any(device.kind == "cpu" for device in devices):
        raise ValueError(
            f"ratio={ratio!r} splits the domain between the CPU and a GPU: it needs device='cuda'"
        )
    return ratio


def check_callbacks(callbacks: Iterable[Callable]) -> list[tuple[Callable[[Any], object], int]]:
    """Return the callbacks of a run and the number of steps from one call to the next."""
    if callable(callbacks) or not np.iterable(callbacks):
        raise TypeError(
            f"callbacks must be a list of callables, got {callbacks!r}: write callbacks=[...]"
        )
    checked = list(callbacks)
    for callback in checked:
        if not callable(callback):
            raise TypeError(f"callbacks must hold callables, got {callback!r}")
    return [(c, check_integer("every", getattr(c, "every", 1), 1)) for c in checked]


def select_moments(
    shape: Triple, region: Extent, rho: InitialField, u: InitialField
) -> tuple[np.ndarray, np.ndarray]:
    """Return rho and u in a region of the domain as arrays in host memory, if they are valid.

    Both may be numbers, arrays of the domain, or functions of the coordinates x, y, z of centres.
    """
    rho = select_values("rho", shape, region, rho)
    if callable(u):
        components: tuple[Any, ...] = tuple(u(*region.centres))  # type: ignore[arg-type]  # checked below
        if len(components) != 3:
            raise ValueError(f"the function u must return 3 components, got {len(components)}")
        u = np.stack([_broadcast("u", component, region) for component in components])
    else:
        u = as_real("u", u)
        if u.shape not in ((3,), (3, *shape)):
            raise ValueError(f"u must be three numbers or of shape {(3, *shape)}, got {u.shape}")
        u = u[:, *region.slices] if u.ndim > 1 else u
    if not (np.isfinite(rho).all() and np.isfinite(u).all() and (rho > 0).all()):
        raise ValueError("rho must be finite and positive, u finite")
    return rho, u


def select_values(name: str, shape: Triple, region: Extent, values: InitialField) -> np.ndarray:
    """Return a field in a region as an array [x, y, z] or a number; see `select_moments`."""
    if callable(values):
        return _broadcast(name, values(*region.centres), region)
    array = as_real(name, values)
    if array.shape not in ((), shape):
        raise ValueError(f"{name} must be a number or of shape {shape}, got {array.shape}")
    return array[region.slices] if array.ndim else array


def _broadcast(name: str, values: ArrayLike, region: Extent) -> np.ndarray:
    """Return what the function `name` returned as an array [x, y, z] of a region."""
    array = as_real(name, values)
    try:
        return np.broadcast_to(array, region.shape)
    except ValueError:
        raise ValueError(
            f"the function {name} must return numbers that broadcast to the shape {region.shape} "
            f"of its arguments x, y, z, which on several ranks is that of a part of the domain; "
            f"got the shape {array.shape}"
        ) from None


def require_moderate(
    fluid: np.ndarray, rho: np.ndarray, u: np.ndarray, start: Triple = (0, 0, 0)
) -> None:
    """Raise ValueError if a fluid cell is outside the valid range of densities and speeds.

    `fluid` [x, y, z] is True in fluid cells; rho and u are arrays as `select_moments` returns them.
    The first cell has the coordinates `start` in the domain.
    """
    low, high = DENSITY_RANGE
    square = (u**2).sum(axis=0)
    wrong = ~((rho >= low) & (rho <= high)) | (square > SPEED_LIMIT**2)
    if not wrong.any():
        return
    wrong = np.broadcast_to(wrong, fluid.shape) & fluid
    if not wrong.any():  # values inside solids do not matter
        return
    local = tuple(map(int, np.unravel_index(int(wrong.argmax()), fluid.shape)))
    density, speed = (float(np.broadcast_to(a, fluid.shape)[local]) for a in (rho, np.sqrt(square)))
    cell = tuple(a + b for a, b in zip(local, start, strict=True))
    if speed > SPEED_LIMIT:
        raise ValueError(
            f"u is {speed:.3g} cells/step in cell {cell}, Mach {speed / SOUND:.2g}: the method "
            f"is valid only well below the speed of sound ({SOUND:.3g}), and runs stop at "
            f"{SPEED_LIMIT:.3g}. Use a smaller time step (lbm.Units does it for you)"
        )
    raise ValueError(
        f"rho is {density:.3g} in cell {cell}, but must lie in [{low}, {high}]: the density of "
        "a flow in lattice units is 1 to within about its Mach number squared"
    )
