"""A flow: domain, walls, state, and what is measured on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import hetero
from hetero import errors
from hetero.arrays import as_real
from hetero.errors import one_of, real, whole
from lbm import boundaries as conditions
from lbm import links
from lbm._signals import HeldSignals
from lbm.engine import Problem
from lbm.errors import UnstableError
from lbm.forces import on_links
from lbm.lattice import CS2, C
from lbm.memory import SLAB, require_memory
from lbm.parts import place
from lbm.patterns import PATTERNS
from lbm.precision import PRECISIONS
from lbm.stability import (
    SPEED_LIMIT,
    LastGoodState,
    locate_first_bad_step,
    require_stable,
)
from lbm.trt import TRT

SOUND = float(CS2) ** 0.5
"""Speed of sound in cells/step."""


class Simulation:
    """D3Q19 lattice Boltzmann flow.

    Parameters
    ----------
    shape : (nx, ny, nz)
        Cells. All of them may be fluid: walls of faces stand half a cell outside.
    collision : BGK or TRT
        Default `TRT(0.8)`.
    boundaries : mapping
        Faces "x-", "x+", "y-", ... or axes "x", "y", "z" to conditions; other names to `Solid`.
        A face that is not named is periodic.
    force : three floats
        Body force on a unit of volume, density times cells/step^2 (Guo et al. 2002).
    rho, u : array or number, optional
        Initial density [x, y, z] and velocity [c, x, y, z], or one for all; at rest by default.
    pattern : {"esoteric", "aa", "ab"}
        Memory pattern; the first two keep one copy of the populations, "ab" two.
    precision : {"float32", "float64", "float16"}
        float16 computes in float32 and keeps half-precision numbers in memory.
    ratio : float or "auto"
        Share of the rows that the CPU computes beside the GPU. "auto" measures both and takes the
        best, often 0. Only with device="cuda".
    check : int
        Steps between tests for NaN and too high a speed. With 0 nothing is watched: a flow that
        blows up goes on as NaN, without a word.
    keep_good_state : bool
        Keep the last state that passed a check, to find the first bad step and to go back: one copy
        of the populations more, where at least two would fit.
    device : str or Device, optional

    Raises
    ------
    ValueError, TypeError
        Bad shapes, unstable settings, walls that contradict each other, inlets that fill a domain
        without an outlet.
    MemoryError
        The domain does not fit: said before anything is built, with what to change.

    Notes
    -----
    Lattice units: cells, steps, density 1; pressure is rho/3. `lbm.Units` converts. Second order in
    space. Velocity errors are of the order of eps(precision): about 1e-7 in float32, 1e-5 in
    float16.
    """

    def __init__(
        self,
        shape,
        *,
        collision=None,
        boundaries=None,
        force=(0.0, 0.0, 0.0),
        rho=1.0,
        u=(0.0, 0.0, 0.0),
        pattern="esoteric",
        precision="float32",
        ratio=0.0,
        check=500,
        keep_good_state=True,
        device=None,
    ):
        self.shape = _shape(shape)
        self.collision = TRT(0.8) if collision is None else collision
        for needed in ("tau", "rates", "relax"):
            if not hasattr(self.collision, needed):
                raise TypeError(
                    f"collision must be an operator such as lbm.BGK(tau), got {collision!r}"
                )
        one_of("pattern", pattern, tuple(PATTERNS))
        form = PRECISIONS[one_of("precision", precision, tuple(PRECISIONS))]
        self.faces, self.solids = conditions.split(boundaries)
        self.check, self.steps = whole("check", check), 0
        self._keeps_good_state, self._last_good = bool(keep_good_state), LastGoodState()
        self.device = hetero.resolve(device, work=float(np.prod(self.shape)), break_even=32**3)
        self.ratio = _ratio(ratio, self.device)
        require_memory(self.shape, pattern=pattern, precision=precision, ratio=self.ratio,
                       device=self.device, solids=bool(self.solids))  # fmt: skip
        rho, u = self._moments(rho, u)
        found = links.find(self.shape, self.faces, self.solids)
        conditions.require_outlet(self.faces, self.solids, lambda: links.inflow(found))
        force = conditions.three("force", force)
        self.problem = Problem(self.shape, found, PATTERNS[pattern], form, self.collision, force)
        self._domain = self._place()
        self._fields = None
        if np.any(rho != 1.0) or np.any(u) or self.problem.forced:
            self.set(rho=rho, u=u)  # memory is zero at first: that is the equilibrium at rest

    def _place(self):
        """The domain on its device, or on two."""
        if self.ratio == "auto":
            from lbm.balance import best_ratio

            self.ratio = best_ratio(self.problem, self.device, self.faces)
        cut = round(self.ratio * self.shape[1])
        if cut == 0 and self.ratio > 0.0:
            cut = 1
        return place(self.problem, self.device, self.faces, cut)

    def __repr__(self):
        p = self.problem
        return (
            f"Simulation({self.shape}, collision={self.collision}, pattern={p.pattern.name!r}, "
            f"precision={p.precision.name!r}, device='{self.device}', steps={self.steps}"
            f"{'' if self.check else ', check=0: nothing is watched'})"
        )

    # ---- state -------------------------------------------------------------------------------

    def set(self, *, rho=1.0, u=(0.0, 0.0, 0.0)) -> None:
        """Start from the equilibrium of a density and a velocity, at step 0."""
        T = self.problem.precision.compute
        nx, ny, _ = self.shape
        rho, u = self._moments(rho, u)
        self._require_moderate(rho, u)
        self._state_changed(0)
        self._last_good.forget()
        for z0, z1 in self._slabs():
            data = np.empty((4, z1 - z0, ny, nx), T)
            data[0] = rho - 1.0 if rho.ndim == 0 else rho.T[z0:z1] - 1.0
            for k in range(3):
                data[k + 1] = u[k] if u.ndim == 1 else u[k].T[z0:z1]
            self._domain.put("fill", 0, z0, data)

    def _moments(self, rho, u) -> tuple[np.ndarray, np.ndarray]:
        """A density and a velocity in host memory, if they can be set."""
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
        """Refuse densities and speeds of fluid cells for which the method does not hold."""
        low, high = conditions.DENSITIES
        square = (u**2).sum(axis=0)
        wrong = ~((rho >= low) & (rho <= high)) | (square > SPEED_LIMIT**2)
        if not wrong.any():
            return
        wrong = np.broadcast_to(wrong, self.shape) & self.fluid
        if not wrong.any():  # within solids anything goes
            return
        cell = tuple(map(int, np.unravel_index(int(wrong.argmax()), self.shape)))
        density, speed = (
            float(np.broadcast_to(a, self.shape)[cell]) for a in (rho, np.sqrt(square))
        )
        if speed > SPEED_LIMIT:
            raise ValueError(
                f"u is {speed:.3g} cells/step in cell {cell}, Mach {speed / SOUND:.2g}: the method "
                f"holds well below the speed of sound ({SOUND:.3g}), and runs stop at "
                f"{SPEED_LIMIT:.3g}. Take a smaller time step (lbm.Units does it for you)"
            )
        raise ValueError(
            f"rho is {density:.3g} in cell {cell}, and must lie in [{low}, {high}]: lattice units "
            "have density 1, from which flows deviate by about their Mach number squared"
        )

    def _state_changed(self, steps: int) -> None:
        """Note that the populations are those of another step."""
        self.steps, self._fields = steps, None

    def _slabs(self, cells: int = SLAB) -> Iterator[tuple[int, int]]:
        nx, ny, nz = self.shape
        thick = max(1, cells // (nx * ny))
        return ((z, min(z + thick, nz)) for z in range(0, nz, thick))

    def _on_devices(self, what: str) -> Iterator[tuple]:
        """(z0, y0, engine, data [k, z, y, x] on the engine's device) of all cells, part by part."""
        for z0, z1 in self._slabs():
            for y0, engine, data in self._domain.slab(what, self.steps, z0, z1):
                yield z0, y0, engine, data

    def _read(self, what: str, count: int, z0: int, z1: int) -> np.ndarray:
        """[k, z, y, x] of a slab in host memory."""
        nx, ny, _ = self.shape
        out = np.empty((count, z1 - z0, ny, nx), self.problem.precision.compute)
        for y0, engine, data in self._domain.slab(what, self.steps, z0, z1):
            out[:, :, y0 : y0 + data.shape[2]] = engine.to_host(data)
        return out

    def _all(self) -> np.ndarray:
        """[drho and u, z, y, x] in host memory."""
        if self._fields is None or self._fields[0] != self.steps:
            nx, ny, nz = self.shape
            data = np.empty((4, nz, ny, nx), self.problem.precision.compute)
            for z0, z1 in self._slabs():
                data[:, z0:z1] = self._read("fields", 4, z0, z1)
            data.flags.writeable = False  # they are asked for again
            self._fields = self.steps, data, None
        return self._fields[1]

    @property
    def rho(self) -> np.ndarray:
        """Density [x, y, z], a read-only copy in host memory; 1 where no fluid is.

        In float32 it is a multiple of 6e-8: sums and differences want `drho`.
        """
        data = self._all()
        if self._fields[2] is None:
            rho = data[0] + data.dtype.type(1)
            rho.flags.writeable = False
            self._fields = self.steps, data, rho
        return self._fields[2].T

    @property
    def drho(self) -> np.ndarray:
        """Density less 1 [x, y, z], with all the digits of the populations; read-only as `rho`.

        A third of it is the pressure above that of density 1. `drho.sum(dtype=float)` is the mass
        gained since a start at density 1.
        """
        return self._all()[0].T

    @property
    def u(self) -> np.ndarray:
        """Velocity [c, x, y, z] in cells/step, read-only as `rho`; 0 where no fluid is."""
        return self._all()[1:].transpose(0, 3, 2, 1)

    @property
    def fluid(self) -> np.ndarray:
        """Whether a cell is fluid, [x, y, z]."""
        return (self.problem.links.classes != links.SOLID_CLASS).T

    def populations(self) -> np.ndarray:
        """f_q - w_q before the next collision, [q, x, y, z], for small domains."""
        return self._read("gather", len(C), 0, self.shape[2]).transpose(0, 3, 2, 1)

    def _returned(self, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
        """What walls returned last, f - w in float64, on links q of `cells` [i, (z, y, x)]."""
        return self.problem.precision.decoded(self._domain.at(self.steps, cells, q))

    def momentum(self) -> np.ndarray:
        """Total momentum of the fluid, summed in float64, with half of the force's impulse."""
        total = np.zeros(3)
        for z0, z1 in self._slabs():
            drho, *u = self._read("fields", 4, z0, z1).astype(np.float64, copy=False)
            total += [((1.0 + drho) * c).sum() for c in u]
        return total

    # ---- running -----------------------------------------------------------------------------

    def run(self, steps: int, *, callbacks: Iterable = (), progress: bool = False) -> Simulation:
        """Do `steps` steps; returns the simulation.

        Parameters
        ----------
        callbacks : iterable
            Each is called with the simulation whenever the number of steps is a multiple of its
            attribute `every` (1 without one). A true result stops the run.
        progress : bool
            Draw a bar on the terminal.

        An interrupt (SIGINT, SIGTERM) is handled after the step in which it comes.

        Raises
        ------
        UnstableError
            A check finds NaN, a density of 0 or a speed near that of sound. It names the first bad
            step and its worst cell; the simulation is in the last state that was kept again.
        """
        timed = [(c, whole("every", getattr(c, "every", 1), 1)) for c in _callables(callbacks)]
        end = self.steps + whole("steps", steps)
        marks = self._marks(end, {self.check or end + 1, *(every for _, every in timed)})
        if self.check and self._last_good.step < 0 and self.steps < end:
            self._keep_state()
        for mark in hetero.progress(list(marks), "steps") if progress else marks:
            self._advance(mark - self.steps)
            if self.check and (self.steps % self.check == 0 or self.steps == end):
                self._check_state()
            due = [c for c, every in timed if self.steps % every == 0]
            stops = [bool(c(self)) for c in due]  # every one is called
            if any(stops):
                break
        self._domain.synchronize()
        return self

    def _keep_state(self) -> None:
        if self._keeps_good_state:
            self._last_good.keep(self)

    def _check_state(self) -> None:
        """Require a stable state, and keep it if the last one that was kept is old."""
        try:
            require_stable(self)
        except UnstableError as error:
            raise locate_first_bad_step(self, self._last_good, error) from None
        if self.steps - self._last_good.step >= self.check:
            self._keep_state()

    def _marks(self, end: int, periods) -> Iterator[int]:
        """Numbers of steps at which something is due."""
        mark = self.steps
        while mark < end:
            mark = min(end, *((mark // period + 1) * period for period in periods))
            yield mark

    def _advance(self, steps: int) -> None:
        with self.device.active(), HeldSignals() as signals:
            for _ in range(steps):
                self._domain.step(self.steps)
                self.steps += 1
                signals.deliver()

    def require_stable(self) -> None:
        """Raise UnstableError if a cell is not finite or too fast; see `lbm.stability`."""
        require_stable(self)

    # ---- forces ------------------------------------------------------------------------------

    def force_on(self, name: str) -> np.ndarray:
        """Force of the fluid on the solid `name` in the last step, by momentum exchange.

        Three floats in density times cells^4/step^2, the pressure of density 1 left out (it adds
        nothing on a closed body); see `lbm.forces`.
        """
        return on_links(self, name)[0].sum(axis=0)

    def torque_on(self, name: str, centre) -> np.ndarray:
        """Torque about `centre` (cells), as `force_on`."""
        force, at = on_links(self, name)
        return np.cross(at - np.array(conditions.three("centre", centre)), force).sum(axis=0)

    # ---- files -------------------------------------------------------------------------------

    def save(self, path) -> Path:
        """Write a checkpoint, atomically; see `lbm.checkpoint`."""
        from lbm.checkpoint import save

        return save(self, path)

    def restore(self, path) -> Simulation:
        """Take the state of a checkpoint of the same problem: bit for bit what was saved."""
        from lbm.checkpoint import restore

        return restore(self, path)

    def write_vtk(self, path, *, spacing: float = 1.0) -> Path:
        """Write rho, u and the fluid's cells for ParaView; see `lbm.output`."""
        from lbm.output import write_vtk

        return write_vtk(self, path, spacing=spacing)


def _callables(callbacks) -> list:
    """The callbacks of a run as a list."""
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise TypeError(
            f"callbacks must be a list of callables, got {callbacks!r}: write callbacks=[...]"
        )
    found = list(callbacks)
    for callback in found:
        if not callable(callback):
            raise TypeError(f"callbacks must hold callables, got {callback!r}")
    return found


def _shape(shape) -> tuple[int, int, int]:
    sizes = errors.shape("shape", shape)
    if len(sizes) != 3 or min(sizes, default=0) < 1:
        raise ValueError(f"shape must be three integers of at least 1, got {shape!r}")
    if sizes[0] * sizes[1] * sizes[2] >= 1 << 32:
        raise ValueError(f"a block holds fewer than 2^32 cells, got {shape!r}")
    return sizes


def _ratio(ratio, device):
    if ratio != "auto":
        ratio = real("ratio", ratio)
        if not 0.0 <= ratio <= 1.0:
            raise ValueError(f"ratio must lie in [0, 1] or be 'auto', got {ratio!r}")
    if ratio != 0.0 and device.kind == "cpu":
        raise ValueError(f"ratio={ratio!r} splits the domain with a GPU: it needs device='cuda'")
    return ratio
