"""What can be done during a run: statistics, probes, a stop at the steady state.

A callback is called with the simulation every `every` steps; a true result stops the run.
"""

from __future__ import annotations

import numpy as np

from hetero.errors import within
from hetero.jit import twin


class Statistics:
    """Running mean and variance of density and velocity, kept where the fields are.

    Parameters
    ----------
    every : steps between samples
    start : first step that counts

    Notes
    -----
    Welford's update: no cancellation, in the precision of the computation. 32 bytes a cell in
    float32.
    """

    def __init__(self, every: int = 10, start: int = 0):
        self.every, self.start, self.samples = every, start, 0
        self._kept: list = []

    def __call__(self, simulation) -> None:
        if simulation.steps < self.start:
            return
        self.samples += 1
        slabs = list(simulation._slabs())
        kept = iter(self._kept or [None] * 3 * len(slabs))
        fresh = []
        for z0, z1 in slabs:
            for y0, engine, data in simulation._domain.slab("fields", simulation.steps, z0, z1):
                entry = next(kept, None) if self._kept else None
                if entry is None:
                    entry = (z0, y0, engine, data.shape, *engine.zeros(2, data))
                with engine.device.active():
                    flat = data.reshape(4, -1)
                    twin("lbm._fields", engine.device).accumulate(flat, *entry[4:], self.samples)
                fresh.append(entry)
        self._kept = fresh
        self._shape = simulation.shape

    def _gathered(self, which: int, scale: float) -> np.ndarray:
        if not self.samples:
            raise ValueError("there are no samples yet: run further, or lower `start`")
        nx, ny, nz = self._shape
        first = self._kept[0][4 + which]
        out = np.empty((4, nz, ny, nx), first.dtype)
        for z0, y0, engine, shape, *arrays in self._kept:
            data = engine.to_host(arrays[which]).reshape(shape)
            out[:, z0 : z0 + shape[1], y0 : y0 + shape[2]] = data * scale
        return out

    @property
    def mean_rho(self) -> np.ndarray:
        """[x, y, z]"""
        return self._gathered(0, 1.0)[0].T + 1

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
        self.cells = [tuple(map(int, c)) for c in cells]
        self.every, self.steps, self.values = every, [], []

    def __call__(self, simulation) -> None:
        rows = []
        for cell in self.cells:
            if not all(0 <= c < n for c, n in zip(cell, simulation.shape, strict=True)):
                raise ValueError(f"the probe {cell} lies outside of {simulation.shape}")
            x, y, z = cell
            row = simulation._read("fields", 4, z, z + 1)[:, 0, y, x].astype(np.float64)
            row[0] += 1.0
            rows.append(row)
        self.steps.append(simulation.steps)
        self.values.append(np.array(rows))


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
        self.every, self.change, self.reached, self._last = every, float("inf"), False, None

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
        self.every, self._function = every, function

    def __call__(self, simulation):
        return self._function(simulation)
