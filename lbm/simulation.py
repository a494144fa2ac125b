"""The class Simulation: a flow with its domain, walls and state."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

import hetero
from hetero.validation import check_choice, check_integer
from lbm import boundaries as conditions
from lbm._domain.deferred_signals import DeferredSignals
from lbm._domain.domain import Domain
from lbm._domain.domains import make_domain
from lbm._domain.host_moments import HostMoments
from lbm._domain.memory_forecast import require_memory
from lbm._fields.forces import forces_on_links
from lbm._fields.stability import LastGoodState, require_stable
from lbm._model import arguments, wall_links
from lbm._model.precision import accepts_precision, choose_precision
from lbm._model.problem import Collision, Problem
from lbm._model.streaming_patterns import PATTERNS
from lbm.collisions.trt import TRT


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
    dtype : {"float32", "float64"}
        Type of the numbers in the arithmetic.
    storage : {"float32", "float64", "float16"}, optional
        Type of the populations in memory, by default `dtype`. "float16" goes with dtype="float32",
        takes half of its memory and time, and needs an even nx.
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
        Default: a GPU if there is one and the domain is large enough, otherwise the CPU.

    Attributes
    ----------
    steps : int
        Number of steps done.
    domain : Domain
        The populations on their devices. Callbacks may use its `read_moments(steps)` to work in the
        memory of the devices.
    problem : Problem
        What is computed, without its state.

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
    space. Rounding errors of the velocity are of the order of eps: about 1e-7 in float32, 1e-5 with
    16-bit storage. The argument `precision` of earlier releases stood for dtype and storage.
    """

    @accepts_precision
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
        dtype: DTypeLike = "float32",
        storage: DTypeLike | None = None,
        ratio: float | str = 0.0,
        check: int = 500,
        keep_good_state: bool = True,
        device: str | hetero.Device | None = None,
    ):
        self.shape = arguments.check_shape(shape)
        self.collision = TRT(0.8) if collision is None else arguments.check_collision(collision)
        check_choice("pattern", pattern, tuple(PATTERNS))
        form = choose_precision(dtype, storage)
        self.faces, self.solids = conditions.split_boundaries(boundaries)
        self.check, self.steps = check_integer("check", check), 0
        self._last_good, self._moments = LastGoodState(bool(keep_good_state)), HostMoments()
        self.device = hetero.resolve(device, work=float(np.prod(self.shape)), break_even=32**3)
        self.ratio = arguments.check_ratio(ratio, self.device)
        require_memory(
            self.shape, pattern=pattern, dtype=dtype, storage=storage, ratio=self.ratio,
            solids=bool(self.solids), device=self.device,
        )  # fmt: skip
        rho, u = arguments.check_moments(self.shape, rho, u)
        walls = wall_links.classify_cells(self.shape, self.faces, self.solids)
        conditions.require_outlet(self.faces, self.solids, lambda: wall_links.mass_inflow(walls))
        force = conditions.check_vector("force", force)
        self.problem = Problem(self.shape, walls, PATTERNS[pattern], form, self.collision, force)
        self.domain = self._make_domain()
        if np.any(rho != 1.0) or np.any(u) or self.problem.forced:
            self.set(rho=rho, u=u)  # otherwise the zeros in memory are the equilibrium at rest

    def _make_domain(self) -> Domain:
        """Create the domain on its device, or on two."""
        if isinstance(self.ratio, str):
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
            f"{p.precision}, device='{self.device}', steps={self.steps}"
            f"{'' if self.check else ', check=0: unchecked'})"
        )

    def _repr_html_(self) -> str:
        from lbm._io.notebook import describe_simulation

        return describe_simulation(self)

    # ---- state -------------------------------------------------------------------------------

    def set(self, *, rho: ArrayLike = 1.0, u: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Start again at step 0, from the equilibrium of a density and a velocity."""
        rho, u = arguments.check_moments(self.shape, rho, u)
        arguments.require_moderate(self.fluid, rho, u)
        self.mark_changed(0)
        self._last_good.discard()
        self.domain.write_moments(rho, u)

    def mark_changed(self, steps: int) -> None:
        """Note that the populations in `domain` are now those of step number `steps`."""
        self.steps = steps
        self._moments.discard()

    @property
    def rho(self) -> np.ndarray:
        """Density [x, y, z], a read-only copy in host memory; 1 in solid cells.

        In float32 it is a multiple of 6e-8: use `drho` for sums and differences.
        """
        return self._moments.read_rho(self.domain, self.steps).T

    @property
    def drho(self) -> np.ndarray:
        """Density minus 1 [x, y, z], with all the digits of the populations; read-only like `rho`.

        A third of it is the pressure relative to density 1. `drho.sum(dtype=float)` is the mass
        gained since a start at density 1.
        """
        return self._moments.read(self.domain, self.steps)[0].T

    @property
    def u(self) -> np.ndarray:
        """Velocity [c, x, y, z] in cells/step, read-only like `rho`; 0 in solid cells."""
        return self._moments.read(self.domain, self.steps)[1:].transpose(0, 3, 2, 1)

    @property
    def fluid(self) -> np.ndarray:
        """Boolean array [x, y, z], True in fluid cells."""
        return (self.problem.links.classes != wall_links.SOLID_CLASS).T

    def populations(self) -> np.ndarray:
        """Return f_q - w_q before the next collision, [q, x, y, z]; meant for small domains."""
        data = self.domain.read_to_host("read_populations", self.steps, 0, self.shape[2])
        return data.transpose(0, 3, 2, 1)

    def momentum(self) -> np.ndarray:
        """Return the total momentum of the fluid, with half of the force's impulse."""
        return self.domain.momentum(self.steps)

    # ---- running -----------------------------------------------------------------------------

    def run(
        self,
        steps: int,
        *,
        callbacks: Iterable[Callable[[Simulation], object]] = (),
        progress: bool = False,
    ) -> Simulation:
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
        timed = arguments.check_callbacks(callbacks)
        end = self.steps + check_integer("steps", steps)
        stops = self._stops(end, {self.check or end + 1, *(every for _, every in timed)})
        if self.check and self._last_good.step < 0 and self.steps < end:
            self._last_good.save_from(self)
        for stop in hetero.progress(list(stops), "steps") if progress else stops:
            self.advance(stop - self.steps)
            if self.check and (self.steps % self.check == 0 or self.steps == end):
                self._last_good.check_and_save(self)
            due = [c for c, every in timed if self.steps % every == 0]
            results = [callback(self) for callback in due]  # all are called, even if one stops
            if any(map(bool, results)):
                break
        self.domain.synchronize()
        return self

    def _stops(self, end: int, periods: builtins.set[int]) -> Iterator[int]:
        """Yield the numbers of steps after which a check or a callback is due."""
        stop = self.steps
        while stop < end:
            stop = min(end, *((stop // period + 1) * period for period in periods))
            yield stop

    def advance(self, steps: int) -> None:
        """Do steps without checks and callbacks."""
        with self.device.active(), DeferredSignals() as signals:
            for _ in range(steps):
                self.domain.step(self.steps)
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

        restore(self, path)
        self._last_good.discard()
        return self

    def write_vtk(self, path: str | Path, *, spacing: float = 1.0) -> Path:
        """Write rho, u and the fluid cells to a .vti file for ParaView and return its path.

        `spacing` is the edge of a cell, for example `units.dx`.
        """
        from lbm._io.vtk import write_vtk

        return write_vtk(self, path, spacing=spacing)
