"""The class Simulation: a flow with its domain, walls and state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

import hetero
from hetero import validation
from hetero.arrays import as_real
from hetero.validation import check_choice, check_finite, check_integer
from lbm import boundaries as conditions
from lbm._domain.deferred_signals import DeferredSignals
from lbm._domain.domains import SingleDomain, SplitDomain, make_domain
from lbm._domain.memory_forecast import SLAB_CELLS, require_memory
from lbm._engines.engine import Collision, Problem
from lbm._fields.forces import forces_on_links
from lbm._fields.stability import (
    SPEED_LIMIT,
    LastGoodState,
    locate_first_bad_step,
    require_stable,
)
from lbm._model import wall_links
from lbm._model.lattice import CS2, C
from lbm._model.precision import PRECISIONS
from lbm._model.streaming_patterns import PATTERNS
from lbm.collisions.trt import TRT
from lbm.errors import UnstableError

SOUND = float(CS2) ** 0.5
"""Speed of sound in cells/step."""


@dataclass
class _Moments:
    """Moments of all cells in host memory: rho - 1 and u [k, z, y, x], and rho once needed."""

    step: int
    data: np.ndarray
    rho: np.ndarray | None = None


class Simulation:
    """D3Q19 lattice Boltzmann flow.

    Parameters
    ----------
    shape : (nx, ny, nz)
        Number of cells. All of them may be fluid: walls at faces stand half a cell outside.
    collision : BGK or TRT
        Default `TRT(0.8)`.
    boundaries : mapping
        Maps faces "x-", "x+", "y-", ... or axes "x", "y", "z" to conditions, and other names to
        `Solid`. A face that is not named is periodic.
    force : three floats
        Body force per unit of volume, density times cells/step^2 (Guo et al. 2002).
    rho, u : array or number, optional
        Initial density [x, y, z] and velocity [c, x, y, z], or one for all cells; by default the
        fluid is at rest with density 1.
    pattern : {"esoteric", "aa", "ab"}
        Streaming pattern; the first two keep one copy of the populations, "ab" keeps two.
    precision : {"float32", "float64", "float16"}
        "float16" computes in float32 and stores half-precision numbers in memory.
    ratio : float or "auto"
        Share of the rows that the CPU computes beside the GPU. "auto" measures both and uses the
        best share, often 0. Only with device="cuda".
    check : int
        Steps between checks for NaN and for speeds near that of sound. With 0 there are none, and
        a flow that blows up silently turns into NaN.
    keep_good_state : bool
        Keep a copy of the last state that passed a check, to find the first bad step and to return
        to it. This takes one more copy of the populations; it is done if there is room for two.
    device : str or Device, optional

    Raises
    ------
    ValueError, TypeError
        If shapes are wrong, settings unstable, walls contradictory, or if inlets fill a domain
        without an outlet.
    MemoryError
        If the domain does not fit, before anything is built; the message suggests remedies.

    Notes
    -----
    Lattice units: cells, steps, density 1; pressure is rho/3. `lbm.Units` converts. Second order in
    space. Velocity errors are of the order of eps(precision): about 1e-7 in float32, 1e-5 in
    float16.
    """

    def __init__(
        self,
        shape: Sequence[int],
        *,
        collision: Collision | None = None,
        boundaries: Mapping[str, conditions.Condition | conditions.Solid] | None = None,
        force: Sequence[float] = (0.0, 0.0, 0.0),
        rho: ArrayLike = 1.0,
        u: ArrayLike = (0.0, 0.0, 0.0),
        pattern: str = "esoteric",
        precision: str = "float32",
        ratio: float | str = 0.0,
        check: int = 500,
        keep_good_state: bool = True,
        device: str | hetero.Device | None = None,
    ):
        self.shape = _check_shape(shape)
        self.collision = TRT(0.8) if collision is None else collision
        for attribute in ("tau", "rates", "relax"):
            if not hasattr(self.collision, attribute):
                raise TypeError(
                    f"collision must be an operator such as lbm.BGK(tau), got {collision!r}"
                )
        check_choice("pattern", pattern, tuple(PATTERNS))
        form = PRECISIONS[check_choice("precision", precision, tuple(PRECISIONS))]
        self.faces, self.solids = conditions.split_boundaries(boundaries)
        self.check, self.steps = check_integer("check", check), 0
        self._keeps_good_state, self._last_good = bool(keep_good_state), LastGoodState()
        self.device = hetero.resolve(device, work=float(np.prod(self.shape)), break_even=32**3)
        self.ratio = _check_ratio(ratio, self.device)
        require_memory(self.shape, pattern=pattern, precision=precision, ratio=self.ratio,
                       device=self.device, solids=bool(self.solids))  # fmt: skip
        rho, u = self._check_moments(rho, u)
        walls = wall_links.classify_cells(self.shape, self.faces, self.solids)
        conditions.require_outlet(self.faces, self.solids, lambda: wall_links.mass_inflow(walls))
        force = conditions.check_vector("force", force)
        self.problem = Problem(self.shape, walls, PATTERNS[pattern], form, self.collision, force)
        self._domain = self._make_domain()
        self._moments: _Moments | None = None
        if np.any(rho != 1.0) or np.any(u) or self.problem.forced:
            self.set(rho=rho, u=u)  # otherwise the zeros in memory are the equilibrium at rest

    def _make_domain(self) -> SingleDomain | SplitDomain:
        """Create the domain on its device, or on two."""
        if self.ratio == "auto":
            from lbm._domain.load_balance import best_ratio

            self.ratio = best_ratio(self.problem, self.device, self.faces)
        cut = round(self.ratio * self.shape[1])
        if cut == 0 and self.ratio > 0.0:
            cut = 1
        return make_domain(self.problem, self.device, self.faces, cut)

    def __repr__(self) -> str:
        p = self.problem
        return (
            f"Simulation({self.shape}, collision={self.collision}, pattern={p.pattern.name!r}, "
            f"precision={p.precision.name!r}, device='{self.device}', steps={self.steps}"
            f"{'' if self.check else ', check=0: unchecked'})"
        )

    # ---- state -------------------------------------------------------------------------------

    def set(self, *, rho: ArrayLike = 1.0, u: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Start again at step 0, from the equilibrium of a density and a velocity."""
        T = self.problem.precision.compute
        nx, ny, _ = self.shape
        rho, u = self._check_moments(rho, u)
        self._require_moderate(rho, u)
        self._state_changed(0)
        self._last_good.discard()
        for z0, z1 in self._slabs():
            data = np.empty((4, z1 - z0, ny, nx), T)
            data[0] = rho - 1.0 if rho.ndim == 0 else rho.T[z0:z1] - 1.0
            for k in range(3):
                data[k + 1] = u[k] if u.ndim == 1 else u[k].T[z0:z1]
            self._domain.write("write_equilibrium", 0, z0, data)

    def _check_moments(self, rho, u) -> tuple[np.ndarray, np.ndarray]:
        """Return rho and u as arrays in host memory, if their shapes and values are valid."""
        rho, u = as_real("rho", rho), as_real("u", u)
        if rho.shape not in ((), self.shape):
            raise ValueError(f"rho must be a number or of shape {self.shape}, got {rho.shape}")
        if u.shape not in ((3,), (3, *self.shape)):
            raise ValueError(
                f"u must be three numbers or of shape {(3, *self.shape)}, got {u.shape}"
            )
        if not (np.isfinite(rho).all() and np.isfinite(u).all() and (rho > 0).all()):
            raise ValueError("rho must be finite and positive, u finite")
        return rho, u

    def _require_moderate(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Raise ValueError if a fluid cell is outside the valid range of densities and speeds."""
        low, high = conditions.DENSITY_RANGE
        square = (u**2).sum(axis=0)
        wrong = ~((rho >= low) & (rho <= high)) | (square > SPEED_LIMIT**2)
        if not wrong.any():
            return
        wrong = np.broadcast_to(wrong, self.shape) & self.fluid
        if not wrong.any():  # values inside solids do not matter
            return
        cell = tuple(map(int, np.unravel_index(int(wrong.argmax()), self.shape)))
        density, speed = (
            float(np.broadcast_to(a, self.shape)[cell]) for a in (rho, np.sqrt(square))
        )
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

    def _state_changed(self, steps: int) -> None:
        """Note that the populations are now those of step number `steps`."""
        self.steps, self._moments = steps, None

    def _slabs(self, cells: int = SLAB_CELLS) -> Iterator[tuple[int, int]]:
        """Yield (z0, z1) of slabs of about this many cells."""
        nx, ny, nz = self.shape
        thickness = max(1, cells // (nx * ny))
        return ((z, min(z + thickness, nz)) for z in range(0, nz, thickness))

    def _moments_on_devices(self) -> Iterator[tuple]:
        """Yield (z0, y0, engine, moments [k, z, y, x] on the engine's device) slab by slab."""
        for z0, z1 in self._slabs():
            for y0, engine, data in self._domain.read("read_moments", self.steps, z0, z1):
                yield z0, y0, engine, data

    def _read_slab(self, operation: str, count: int, z0: int, z1: int) -> np.ndarray:
        """Return the moments or populations [k, z, y, x] of a slab in host memory."""
        nx, ny, _ = self.shape
        out = np.empty((count, z1 - z0, ny, nx), self.problem.precision.compute)
        for y0, engine, data in self._domain.read(operation, self.steps, z0, z1):
            out[:, :, y0 : y0 + data.shape[2]] = engine.to_host(data)
        return out

    def _all_moments(self) -> np.ndarray:
        """Return rho - 1 and u [k, z, y, x] in host memory."""
        if self._moments is None or self._moments.step != self.steps:
            nx, ny, nz = self.shape
            data = np.empty((4, nz, ny, nx), self.problem.precision.compute)
            for z0, z1 in self._slabs():
                data[:, z0:z1] = self._read_slab("read_moments", 4, z0, z1)
            data.flags.writeable = False  # the same array is returned again
            self._moments = _Moments(self.steps, data)
        return self._moments.data

    @property
    def rho(self) -> np.ndarray:
        """Density [x, y, z], a read-only copy in host memory; 1 in solid cells.

        In float32 it is a multiple of 6e-8: use `drho` for sums and differences.
        """
        data = self._all_moments()
        if self._moments.rho is None:
            rho = data[0] + data.dtype.type(1)
            rho.flags.writeable = False
            self._moments.rho = rho
        return self._moments.rho.T

    @property
    def drho(self) -> np.ndarray:
        """Density minus 1 [x, y, z], with all the digits of the populations; read-only like `rho`.

        A third of it is the pressure relative to density 1. `drho.sum(dtype=float)` is the mass
        gained since a start at density 1.
        """
        return self._all_moments()[0].T

    @property
    def u(self) -> np.ndarray:
        """Velocity [c, x, y, z] in cells/step, read-only like `rho`; 0 in solid cells."""
        return self._all_moments()[1:].transpose(0, 3, 2, 1)

    @property
    def fluid(self) -> np.ndarray:
        """Boolean array [x, y, z], True in fluid cells."""
        return (self.problem.links.classes != wall_links.SOLID_CLASS).T

    def populations(self) -> np.ndarray:
        """Return f_q - w_q before the next collision, [q, x, y, z]; meant for small domains."""
        return self._read_slab("read_populations", len(C), 0, self.shape[2]).transpose(0, 3, 2, 1)

    def _wall_returns(self, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return what walls returned last, f - w in float64, on links q of cells [i, (z, y, x)]."""
        return self.problem.precision.decode(self._domain.read_links(self.steps, cells, q))

    def momentum(self) -> np.ndarray:
        """Return the total momentum of the fluid, with half of the force's impulse."""
        total = np.zeros(3)
        for z0, z1 in self._slabs():
            drho, *u = self._read_slab("read_moments", 4, z0, z1).astype(np.float64, copy=False)
            total += [((1.0 + drho) * c).sum() for c in u]
        return total

    # ---- running -----------------------------------------------------------------------------

    def run(self, steps: int, *, callbacks: Iterable = (), progress: bool = False) -> Simulation:
        """Do `steps` steps and return the simulation.

        Parameters
        ----------
        callbacks : iterable
            Each is called with the simulation whenever the number of steps is a multiple of its
            attribute `every` (1 if it has none). A true return value stops the run.
        progress : bool
            Draw a progress bar on the terminal.

        Raises
        ------
        UnstableError
            If a check finds NaN, a density of 0 or a speed near that of sound. The error names the
            first bad step and its worst cell; the simulation returns to the last state that was
            kept.

        Notes
        -----
        Interrupts (SIGINT, SIGTERM) are handled after the step in which they arrive.
        """
        timed = [
            (c, check_integer("every", getattr(c, "every", 1), 1))
            for c in _check_callbacks(callbacks)
        ]
        end = self.steps + check_integer("steps", steps)
        stops = self._stops(end, {self.check or end + 1, *(every for _, every in timed)})
        if self.check and self._last_good.step < 0 and self.steps < end:
            self._keep_state()
        for stop in hetero.progress(list(stops), "steps") if progress else stops:
            self._advance(stop - self.steps)
            if self.check and (self.steps % self.check == 0 or self.steps == end):
                self._check_state()
            due = [c for c, every in timed if self.steps % every == 0]
            results = [callback(self) for callback in due]  # all are called, even if one stops
            if any(map(bool, results)):
                break
        self._domain.synchronize()
        return self

    def _keep_state(self) -> None:
        if self._keeps_good_state:
            self._last_good.save_from(self)

    def _check_state(self) -> None:
        """Require a stable state; keep it if the last good state is older than `check` steps."""
        try:
            require_stable(self)
        except UnstableError as error:
            raise locate_first_bad_step(self, self._last_good, error) from None
        if self.steps - self._last_good.step >= self.check:
            self._keep_state()

    def _stops(self, end: int, periods: set[int]) -> Iterator[int]:
        """Yield the numbers of steps after which a check or a callback is due."""
        stop = self.steps
        while stop < end:
            stop = min(end, *((stop // period + 1) * period for period in periods))
            yield stop

    def _advance(self, steps: int) -> None:
        """Do steps without checks and callbacks."""
        with self.device.active(), DeferredSignals() as signals:
            for _ in range(steps):
                self._domain.step(self.steps)
                self.steps += 1
                signals.deliver()

    def require_stable(self) -> None:
        """Raise UnstableError if a cell is not finite or too fast."""
        require_stable(self)

    # ---- forces ------------------------------------------------------------------------------

    def force_on(self, name: str) -> np.ndarray:
        """Return the force of the fluid on the solid `name` in the last step (momentum exchange).

        Three floats in density times cells^4/step^2, without the pressure of density 1, which
        cancels on a closed body (Ladd 1994, Mei et al. 2002).
        """
        return forces_on_links(self, name)[0].sum(axis=0)

    def torque_on(self, name: str, centre: Sequence[float]) -> np.ndarray:
        """Return the torque of the fluid on the solid `name` about `centre` (cells)."""
        force, point = forces_on_links(self, name)
        arm = point - np.array(conditions.check_vector("centre", centre))
        return np.cross(arm, force).sum(axis=0)

    # ---- files -------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write a checkpoint atomically and return its path."""
        from lbm._io.checkpoint import save

        return save(self, path)

    def restore(self, path: str | Path) -> Simulation:
        """Restore the state from a checkpoint of the same problem, bit for bit."""
        from lbm._io.checkpoint import restore

        return restore(self, path)

    def write_vtk(self, path: str | Path, *, spacing: float = 1.0) -> Path:
        """Write rho, u and the fluid cells to a .vti file for ParaView and return its path.

        `spacing` is the edge of a cell, for example `units.dx`.
        """
        from lbm._io.vtk import write_vtk

        return write_vtk(self, path, spacing=spacing)


def _check_callbacks(callbacks) -> list:
    """Return the callbacks of a run as a list."""
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise TypeError(
            f"callbacks must be a list of callables, got {callbacks!r}: write callbacks=[...]"
        )
    checked = list(callbacks)
    for callback in checked:
        if not callable(callback):
            raise TypeError(f"callbacks must hold callables, got {callback!r}")
    return checked


def _check_shape(shape) -> tuple[int, int, int]:
    sizes = validation.check_shape("shape", shape)
    if len(sizes) != 3 or min(sizes, default=0) < 1:
        raise ValueError(f"shape must be three integers of at least 1, got {shape!r}")
    if sizes[0] * sizes[1] * sizes[2] >= 1 << 32:
        raise ValueError(f"shape must have fewer than 2^32 cells, got {shape!r}")
    return sizes


def _check_ratio(ratio, device):
    if ratio != "auto":
        ratio = check_finite("ratio", ratio)
        if not 0.0 <= ratio <= 1.0:
            raise ValueError(f"ratio must lie in [0, 1] or be 'auto', got {ratio!r}")
    if ratio != 0.0 and device.kind == "cpu":
        raise ValueError(
            f"ratio={ratio!r} splits the domain between the CPU and a GPU: it needs device='cuda'"
        )
    return ratio
