"""Callbacks of a run: statistics, probes, and a stop at the steady state.

A callback is called with the simulation every `every` steps; a true return value stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.validation import check_in_range, check_integer, describe
from lbm._kernels.items.store import Store
from lbm._post.formulas import add_sample
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.simulation import Simulation


class Statistics:
    """Running mean and variance of density and velocity, in the memory of the device.

    Parameters
    ----------
    every : steps between samples
    start : first step that is sampled

    Notes
    -----
    The arrays hold the cells of this rank, like `Simulation.u`; `Simulation.gather` joins them.
    Welford's update avoids cancellation; it runs in the precision of the computation and takes 32
    bytes per cell in float32. A simulation with another shape, precision, device or ratio raises
    ValueError.
    """

    def __init__(self, every: int = 10, start: int = 0):
        self.every, self.start = check_integer("every", every, 1), check_integer("start", start)
        self.samples = 0
        self._settings: tuple[object, ...] | None = None
        self._shape = (0, 0, 0)
        self._accumulators: dict[tuple[Any, ...], tuple[Store, Any, Any]] = {}
        self._resumed: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"<Statistics every={self.every}, start={self.start}: {self.samples} samples>"

    def __call__(self, simulation: Simulation) -> None:
        if simulation.steps < self.start:
            return
        precision = simulation.problem.precision.name
        devices = " + ".join(simulation.devices)
        settings = simulation.shape, precision, devices, simulation.ratio
        if self._settings not in (None, settings):
            raise ValueError(
                f"these statistics belong to a simulation with shape, precision, device and ratio "
                f"{self._settings}, not {settings}: use a new lbm.Statistics"
            )
        if self._resumed is not None and self._resumed.shape[-3:] != simulation.region.shape:
            raise ValueError(
                f"sums must be of this rank's {simulation.region.shape} cells, got an array of "
                f"shape {self._resumed.shape}"
            )
        self._settings, self._shape = settings, simulation.region.shape
        self.samples += 1
        for start, engine, data, x_range in simulation.domain.read_moments(simulation.steps):
            key = start, x_range.start, x_range.stop, data.shape, data.dtype
            if key not in self._accumulators:
                store, size = Store(engine), data.size // 4
                self._accumulators[key] = store, store.zeros(4, size), store.zeros(4, size)
                self._fill(key, x_range)
            store, mean, squares = self._accumulators[key]
            fields, share = data.reshape(4, data.size // 4), store.T(1.0 / self.samples)
            store.prepare(add_sample, fields.shape[1], fields, mean, squares, share)()

    def sums(self) -> np.ndarray:
        """Return the means and the sums of squared deviations of (rho - 1, ux, uy, uz).

        An array [2, 4, x, y, z] of this rank's cells. With `samples` it is all that `resume` needs.
        """
        return np.stack([self._gather(k, 1.0).transpose(0, 3, 2, 1) for k in (0, 1)])

    def resume(self, samples: int, sums: np.ndarray) -> None:
        """Continue from the `samples` and the `sums()` of earlier statistics of the same cells."""
        if self.samples:
            raise ValueError("these statistics have samples already: use a new lbm.Statistics")
        sums = np.asarray(sums)
        if sums.ndim != 5 or sums.shape[:2] != (2, 4):
            raise ValueError(f"sums must have the shape (2, 4, x, y, z), got {sums.shape}")
        self.samples, self._resumed = check_integer("samples", samples, 1), sums

    def _fill(self, key: tuple[Any, ...], x_range: slice) -> None:
        """Set new accumulators to the sums from which the statistics continue."""
        if self._resumed is None:
            return
        (x, y, z), shape = key[0], key[3]
        store, *arrays = self._accumulators[key]
        width = x_range.stop - x_range.start
        for array, sums in zip(arrays, self._resumed, strict=True):
            block = np.zeros(shape, array.dtype)
            cells = sums.transpose(0, 3, 2, 1)
            block[..., x_range] = cells[:, z : z + shape[1], y : y + shape[2], x : x + width]
            store.set(array, block.reshape(4, -1))

    def _gather(self, index: int, scale: float) -> np.ndarray:
        """Return the means (index 0) or the sums of squares (1) in host memory, times `scale`."""
        if not self.samples:
            raise ValueError("there are no samples yet: run further, or lower `start`")
        if not self._accumulators:  # resumed, and without a sample since then
            assert self._resumed is not None
            return self._resumed[index].transpose(0, 3, 2, 1) * scale
        nx, ny, nz = self._shape
        out: np.ndarray = np.empty((4, nz, ny, nx), next(iter(self._accumulators))[-1])
        for ((x, y, z), first, last, shape, _), (store, *arrays) in self._accumulators.items():
            data = store.get(arrays[index]).reshape(shape)[..., first:last]
            cells = slice(z, z + shape[1]), slice(y, y + shape[2]), slice(x, x + last - first)
            out[:, *cells] = data * scale
        return out

    @property
    def mean_rho(self) -> np.ndarray:
        """Mean of the density [x, y, z]."""
        return self._gather(0, 1.0)[0].T + 1

    @property
    def mean_drho(self) -> np.ndarray:
        """Mean of rho - 1 [x, y, z], with all its digits."""
        return self._gather(0, 1.0)[0].T

    @property
    def mean_u(self) -> np.ndarray:
        """Mean of the velocity [c, x, y, z]."""
        return self._gather(0, 1.0)[1:].transpose(0, 3, 2, 1)

    @property
    def variance_u(self) -> np.ndarray:
        """Variance of the velocity [c, x, y, z], with the number of samples as divisor."""
        return self._gather(1, 1.0 / self.samples)[1:].transpose(0, 3, 2, 1)

    @property
    def variance_rho(self) -> np.ndarray:
        """Variance of the density [x, y, z], with the number of samples as divisor."""
        return self._gather(1, 1.0 / self.samples)[0].T


class Probe:
    """Density and velocity of single cells over time.

    Parameters
    ----------
    cells : sequence of (x, y, z)
    every : steps between samples

    Attributes
    ----------
    steps : list of the sampled steps
    values : list of arrays [cell, (rho, ux, uy, uz)], one for each of them, the same on all ranks
    """

    def __init__(self, cells: Sequence[Sequence[int]], every: int = 1):
        if not np.iterable(cells):
            raise TypeError(f"cells must hold triples (x, y, z), got {describe(cells)}")
        self.cells = [_check_cell(c) for c in cells]
        self.every = check_integer("every", every, 1)
        self.steps: list[int] = []
        self.values: list[np.ndarray] = []

    def __repr__(self) -> str:
        return f"<Probe {self.cells}, every={self.every}: {len(self.steps)} samples>"

    def __call__(self, simulation: Simulation) -> None:
        rows: dict[int, np.ndarray] = {}
        for k, cell in enumerate(self.cells):
            if not all(c < n for c, n in zip(cell, simulation.shape, strict=True)):
                raise ValueError(f"the probe {cell} lies outside of {simulation.shape}")
            if simulation.region.contains(cell):
                rows[k] = _read_cell(simulation, cell)
        for other in simulation.domain.ranks.gather_all(rows):
            rows |= other
        for cell, row in zip(self.cells, (rows[k] for k in range(len(self.cells))), strict=True):
            if row[0] == 0.0:
                raise ValueError(f"the probe {cell} lies in a solid")
        self.steps.append(simulation.steps)
        self.values.append(np.array([rows[k] for k in range(len(self.cells))]))


def _read_cell(simulation: Simulation, cell: tuple[int, ...]) -> np.ndarray:
    """Return (rho, ux, uy, uz) of a cell of this rank; zeros if it is solid."""
    x, y, z = (c - first for c, first in zip(cell, simulation.region.start, strict=True))
    if simulation.problem.links.classes[z, y, x] == SOLID_CLASS:
        return np.zeros(4)
    layer = simulation.domain.read_to_host(simulation.steps, z, z + 1)
    row: np.ndarray = layer[:, 0, y, x].astype(np.float64)
    row[0] += 1.0
    return row


def _check_cell(cell: Any) -> tuple[int, ...]:
    if not np.iterable(cell) or len(checked := tuple(check_integer("cells", c) for c in cell)) != 3:
        raise ValueError(f"cells must hold triples (x, y, z), got {cell!r}")
    return checked


class SteadyState:
    """Stop the run once the velocity hardly changes any more.

    Parameters
    ----------
    tolerance : stop if max |u(t) - u(t - every)| / max |u| is below this
    every : steps between comparisons

    Attributes
    ----------
    change : the ratio at the last comparison
    reached : whether the steady state has been reached
    """

    def __init__(self, tolerance: float = 1e-6, every: int = 1000):
        self.tolerance = check_in_range("tolerance", tolerance, 0.0, 1.0, closed="neither")
        self.every = check_integer("every", every, 1)
        self.change, self.reached = float("inf"), False
        self._last: np.ndarray | None = None

    def __repr__(self) -> str:
        state = "reached" if self.reached else "not reached"
        return (
            f"<SteadyState tolerance={self.tolerance:g}, every={self.every}: {state}, "
            f"change {self.change:.3g}>"
        )

    def __call__(self, simulation: Simulation) -> bool:
        u = simulation.u
        if self._last is not None:
            ranks = simulation.domain.ranks
            fastest = ranks.max(float(np.abs(u).max()))
            change = ranks.max(float(np.abs(u - self._last).max()))
            self.change = change / fastest if fastest else 0.0
        self._last = u
        self.reached = self.change < self.tolerance
        return self.reached


class Every:
    """Call `function(simulation)` every `every` steps; a true return value stops the run."""

    def __init__(self, every: int, function: Callable[[Simulation], object]):
        if not callable(function):
            raise TypeError(f"function must be callable, got {describe(function)}")
        self.every, self._function = check_integer("every", every, 1), function

    def __repr__(self) -> str:
        return f"Every({self.every}, {self._function!r})"

    def __call__(self, simulation: Simulation) -> object:
        return self._function(simulation)
