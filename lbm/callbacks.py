"""What can be done during a run: statistics, probes, a stop at the steady state.

A callback is called with the simulation every `every` steps; a true result stops the run.
"""

from __future__ import annotations

import numpy as np

from hetero.errors import whole, within
from hetero.jit import twin
from lbm.links import SOLID_CLASS


class Statistics:
    """Running mean and variance of density and velocity, kept where the fields are.

    Parameters
    ----------
    every : steps between samples
    start : first step that counts

    Notes
    -----
    Welford's update: no cancellation, in the precision of the computation. 32 bytes a cell in
    float32. A simulation of another shape, precision, device or ratio raises ValueError.
    """

    def __init__(self, every: int = 10, start: int = 0):
        self.every, self.start = whole("every", every, 1), whole("start", start)
        self.samples = 0
        self._of = None
        self._kept: dict = {}

    def __call__(self, simulation) -> None:
        if simulation.steps < self.start:
            return
        precision = simulation.problem.precision.name
        form = simulation.shape, precision, str(simulation.device), simulation.ratio
        if self._of not in (None, form):
            raise ValueError(
                f"these statistics are of a simulation of shape, precision, device and ratio "
                f"{self._of}, not {form}: take new ones"
            )
        self._of = form
        self.samples += 1
        for z0, y0, engine, data in simulation._on_devices("fields"):
            place = z0, y0, data.shape, data.dtype
            if place not in self._kept:
                self._kept[place] = engine, *engine.zeros(2, data)
            with engine.device.active():
                loops = twin("lbm._fields", engine.device)
                loops.accumulate(data.reshape(4, -1), *self._kept[place][1:], self.samples)

    def _gathered(self, which: int, scale: float) -> np.ndarray:
        if not self.samples:
            raise ValueError("there are no samples yet: run further, or lower `start`")
        nx, ny, nz = self._of[0]
        out = np.empty((4, nz, ny, nx), next(iter(self._kept))[-1])
        for (z0, y0, shape, _), (engine, *arrays) in self._kept.items():
            data = engine.to_host(arrays[which]).reshape(shape)
            out[:, z0 : z0 + shape[1], y0 : y0 + shape[2]] = data * scale
        return out

    @property
    def mean_rho(self) -> np.ndarray:
        """[x, y, z]"""
        return self._gathered(0, 1.0)[0].T + 1

    @property
    def mean_drho(self) -> np.ndarray:
        """Mean of rho - 1 [x, y, z], with all its digits."""
        return self._gathered(0, 1.0)[0].T

    @property
    def mean_u(self) -> np.ndarray:
        """[c, x, y, z]"""
        return self._gathered(0, 1.0)[1:].transpose(0, 3, 2, 1)

    @property
    def variance_u(self) -> np.ndarray:
        """[c, x, y, z], divided by the number of samples."""
        return self._gathered(1, 1.0 / self.samples)[1:].transpose(0, 3, 2, 1)

    @property
    def variance_rho(self) -> np.ndarray:
        """[x, y, z], divided by the number of samples."""
        return self._gathered(1, 1.0 / self.samples)[0].T


class Probe:
    """Density and velocity of single cells over time.

    Parameters
    ----------
    cells : sequence of (x, y, z)

    Attributes
    ----------
    steps : list of the steps
    values : list of arrays [cell, (rho, ux, uy, uz)]
    """

    def __init__(self, cells, every: int = 1):
        self.cells = [_cell(c) for c in cells]
        self.every, self.steps, self.values = whole("every", every, 1), [], []

    def __call__(self, simulation) -> None:
        rows = []
        for x, y, z in self.cells:
            if not all(c < n for c, n in zip((x, y, z), simulation.shape, strict=True)):
                raise ValueError(f"the probe {(x, y, z)} lies outside of {simulation.shape}")
            if simulation.problem.links.classes[z, y, x] == SOLID_CLASS:
                raise ValueError(f"the probe {(x, y, z)} lies in a solid: nothing flows there")
            row = simulation._read("fields", 4, z, z + 1)[:, 0, y, x].astype(np.float64)
            row[0] += 1.0
            rows.append(row)
        self.steps.append(simulation.steps)
        self.values.append(np.array(rows))


def _cell(cell) -> tuple[int, ...]:
    if not np.iterable(cell) or len(found := tuple(whole("cells", c) for c in cell)) != 3:
        raise ValueError(f"cells must hold places (x, y, z), got {cell!r}")
    return found


class SteadyState:
    """Stop when the velocity hardly changes any more.

    Parameters
    ----------
    tolerance : largest |u(t) - u(t - every)| over the fastest |u|
    every : steps between comparisons

    Attributes
    ----------
    change : the last ratio
    reached : whether the run was stopped
    """

    def __init__(self, tolerance: float = 1e-6, every: int = 1000):
        self.tolerance = within("tolerance", tolerance, 0.0, 1.0, closed="neither")
        self.every = whole("every", every, 1)
        self.change, self.reached, self._last = float("inf"), False, None

    def __call__(self, simulation) -> bool:
        u = simulation.u
        if self._last is not None:
            fastest = float(np.abs(u).max())
            self.change = float(np.abs(u - self._last).max()) / fastest if fastest else 0.0
        self._last = u
        self.reached = self.change < self.tolerance
        return self.reached


class Every:
    """Call `function(simulation)` every so many steps."""

    def __init__(self, every: int, function):
        self.every, self._function = whole("every", every, 1), function

    def __call__(self, simulation):
        return self._function(simulation)
