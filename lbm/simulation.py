"""The class Simulation: a flow with its domain, walls and state."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

import hetero
from hetero.cpu.deferred_signals import DeferredSignals
from hetero.display.progress_bar import open_bar
from hetero.validation import check_choice, check_integer, check_path, describe
from hetero.version import VERSION
from lbm import boundaries as conditions
from lbm._domain.domain import Domain
from lbm._domain.host_moments import HostMoments
from lbm._domain.memory_forecast import require_memory
from lbm._domain.partition import Partition, make_partition
from lbm._domain.placement import DeviceArgument, choose_devices, place_parts
from lbm._domain.ranks.abort import abort_all_ranks_on_errors
from lbm._domain.ranks.agreement import (
    require_fluid_and_outlet,
    require_same_arguments,
    require_same_run,
)
from lbm._domain.ranks.communication import Ranks
from lbm._domain.ranks.cores import share_cores
from lbm._fields.exact_sum import exact_sum
from lbm._fields.forces import forces_on_links
from lbm._fields.stability import LastGoodState, require_stable
from lbm._model import arguments, wall_links
from lbm._model.arguments import InitialField
from lbm._model.precision import accepts_precision, choose_precision
from lbm._model.problem import Problem
from lbm._model.streaming_patterns import PATTERNS
from lbm.collisions import DEFAULT, make_collision
from lbm.collisions.operator import Collision, check_collision
from lbm.decomposition import Decomposition, check_decomposition

if TYPE_CHECKING:
    from lbm.units import Units

LOGGER = logging.getLogger(__name__)

FIELDS = "rho", "drho", "u", "fluid"
"""Names of the fields that `Simulation.gather` takes."""

MAX_STEPS = 1 << 40
"""Largest number of steps of a run: 10^5 of them in a second would still take 127 days."""

PROGRESS_PIECES = 200
"""Pieces of a run after which the progress bar moves."""


class Simulation:
    """D3Q19 lattice Boltzmann flow.

    Parameters
    ----------
    shape : (nx, ny, nz)
        Number of cells. All of them may be fluid: walls at faces stand half a cell outside.
    collision : Collision
        Collision operator, such as `BGK(tau)`; by default `TRT(0.8)`.
    boundaries : mapping
        Maps faces "x-", "x+", "y-", ... or axes "x", "y", "z" to conditions, and other names to
        `Solid`. A face that is not named is periodic.
    force : three floats
        Body force per unit of volume, density times cells/step^2 (Guo et al. 2002).
    rho, u : array, number or function, optional
        Initial density [x, y, z] and velocity [c, x, y, z], or one for all cells, or functions
        rho(x, y, z) and u(x, y, z) of the coordinates of centres (in cells, the first is 0.5), of
        which the second returns three components. By default the fluid is at rest with density 1.
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
    comm : communicator of mpi4py, optional
        The ranks that share the domain, for example MPI.COMM_WORLD. All must create the simulation
        with the same arguments and call the same methods in the same order.
    decomposition : "auto", three integers or Decomposition
        How the domain is cut into boxes, one for each rank or device.
    device : str, Device or list of them, optional
        Default: a GPU if there is one and the domain is large enough, otherwise the CPU. Ranks of
        one host share its GPUs. With a list, one process computes on several devices.

    Attributes
    ----------
    steps : int
        Number of steps done.
    region : Extent
        The cells of this rank: `region.start` and `region.stop`, each (x, y, z). Arrays such as
        `u` hold these cells.
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
        rho: InitialField = 1.0,
        u: InitialField = (0.0, 0.0, 0.0),
        pattern: str = "esoteric",
        dtype: DTypeLike = "float32",
        storage: DTypeLike | None = None,
        ratio: float | str = 0.0,
        check: int = 500,
        keep_good_state: bool = True,
        comm: Any = None,
        decomposition: str | Sequence[int] | Decomposition = "auto",
        device: DeviceArgument = None,
    ):
        self._ranks = Ranks(comm)
        if self._ranks.size > 1:
            abort_all_ranks_on_errors()
        self.shape = arguments.check_shape(shape, self._ranks.size)
        collision = make_collision(DEFAULT, 0.8) if collision is None else collision
        self.collision = check_collision(collision)
        check_choice("pattern", pattern, tuple(PATTERNS))
        form = choose_precision(dtype, storage)
        form.require_width(self.shape[0])
        self.faces, self.solids = conditions.split_boundaries(boundaries)
        self.check, self.steps = check_integer("check", check), 0
        self._last_good, self._moments = LastGoodState(bool(keep_good_state)), HostMoments()
        force = conditions.check_vector("force", force)
        require_same_arguments(
            self._ranks, self.shape, solids=self.solids, version=VERSION, collision=self.collision,
            faces=self.faces, check=check, pattern=pattern, precision=form.name, force=force,
            rho=rho, u=u, ratio=ratio, decomposition=decomposition, keep_good_state=keep_good_state,
        )  # fmt: skip
        share_cores(self._ranks)
        devices = choose_devices(device, self.shape, self._ranks)
        self.device = devices[0]
        self.ratio = arguments.check_ratio(ratio, *devices)
        boxes = check_decomposition(
            decomposition, self.shape, self._ranks.size * len(devices), form.lanes
        )
        partition = make_partition(
            self.shape, self.faces, boxes, form.lanes, one_rank=self._ranks.size == 1
        )
        self.region = partition.region(self._ranks.rank)
        _, placed = place_parts(partition, devices, 0.0, self._ranks)
        for box, each_device in placed.items():
            require_memory(
                partition.extent(box).shape, pattern=pattern, dtype=dtype, storage=storage,
                ratio=self.ratio, solids=bool(self.solids), device=each_device,
            )  # fmt: skip
        moments = arguments.select_moments(self.shape, self.region, rho, u)
        walls = wall_links.classify_cells(self.shape, self.faces, self.solids, self.region)
        require_fluid_and_outlet(self._ranks, walls, self.faces, self.solids)
        self.problem = Problem(
            self.region.shape, walls, PATTERNS[pattern], form, self.collision, force
        )
        self.domain = self._make_domain(partition, devices)
        if self._ranks.any(np.any(moments[0] != 1.0) or np.any(moments[1]) or self.problem.forced):
            self._start(*moments)  # otherwise the zeros in memory are the equilibrium at rest

    def _make_domain(self, partition: Partition, devices: Sequence[hetero.Device]) -> Domain:
        """Create the parts of this rank on their devices."""
        ratio = self.ratio
        if isinstance(ratio, str):
            from lbm._performance.measurement import measure_best_ratio

            best = measure_best_ratio(self.problem, self.device)
            self.ratio = ratio = min(self._ranks.gather_all(best))
        partition, placed = place_parts(partition, devices, ratio, self._ranks)
        domain = Domain(self.problem, partition, placed, self._ranks)
        exchange = domain.exchange
        LOGGER.info(
            "rank %d of %d: parts %s, halos %s",
            self.rank, self._ranks.size,
            ", ".join(f"{part.extent.shape} on {part.engine.device}" for part in domain.parts),
            dict(exchange.transports) if exchange is not None else "none",
        )  # fmt: skip
        return domain

    def __repr__(self) -> str:
        p, devices = self.problem, " + ".join(self.devices)
        ranks = f", rank={self.rank} of {self._ranks.size}" if self._ranks.size > 1 else ""
        return (
            f"Simulation({self.shape}, collision={self.collision}, pattern={p.pattern.name!r}, "
            f"{p.precision}, device='{devices}'{ranks}, steps={self.steps}"
            f"{'' if self.check else ', check=0: unchecked'})"
        )

    @property
    def rank(self) -> int:
        """Number of this rank; 0 without MPI."""
        return self._ranks.rank

    @property
    def devices(self) -> list[str]:
        """Names of the devices of this rank, each once."""
        return list(dict.fromkeys(str(part.engine.device) for part in self.domain.parts))

    @property
    def transports(self) -> dict[str, int]:
        """Ways in which halos travel, and how many faces of this rank's parts use each.

        "direct": stores into the memory of a device of this process; "staged": between its GPUs
        through host memory; "peer": stores into the memory of another process on this host;
        "device": MPI with buffers in the memory of GPUs; "host": MPI with buffers in host memory.
        """
        exchange = self.domain.exchange
        return {} if exchange is None else dict(exchange.transports)

    def _repr_html_(self) -> str:
        from lbm._io.notebook import describe_simulation

        return describe_simulation(self)

    # ---- state -------------------------------------------------------------------------------

    def set(self, *, rho: InitialField = 1.0, u: InitialField = (0.0, 0.0, 0.0)) -> None:
        """Start again at step 0, from the equilibrium of a density and a velocity."""
        self._start(*arguments.select_moments(self.shape, self.region, rho, u))

    def _start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Start at step 0 from moments of the cells of this rank."""
        arguments.require_moderate(self.fluid, rho, u, self.region.start)
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
        nz = self.region.shape[2]
        data = self.domain.read_to_host(self.steps, 0, nz, populations=True)
        return data.transpose(0, 3, 2, 1)

    def momentum(self) -> np.ndarray:
        """Return the total momentum of the fluid, with half of the force's impulse."""
        self._ranks.require_same_call("momentum")
        return self.domain.momentum(self.steps)

    def gather(self, field: str | np.ndarray) -> np.ndarray | None:
        """Return a field of the whole domain on rank 0, and None on the other ranks.

        Parameters
        ----------
        field : {"rho", "drho", "u", "fluid"} or array
            The name of a field, or an array whose last three axes are x, y, z of this rank's cells,
            such as `statistics.mean_u`.
        """
        if isinstance(field, str):
            check_choice("field", field, FIELDS)
            local = getattr(self, field)
        else:
            try:
                local = np.asarray(field)
            except ValueError:
                raise TypeError(
                    f"field must be a name or an array, got {describe(field)}"
                ) from None
        if local.shape[-3:] != self.region.shape:
            raise ValueError(
                f"field must end with the axes x, y, z of this rank's {self.region.shape} cells, "
                f"got an array of shape {local.shape}"
            )
        self._ranks.require_same_call("gather")
        pieces = self._ranks.gather((self.region.slices, local))
        if pieces is None:
            return None
        out = np.empty((*local.shape[:-3], *self.shape), local.dtype)
        for slices, piece in pieces:
            out[..., *slices] = piece
        return out

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
        steps = check_integer("steps", steps, 0, MAX_STEPS)
        end = self.steps + steps
        require_same_run(self._ranks, steps, [every for _, every in timed])
        shows_bar = progress and self.rank == 0
        periods = {self.check or end + 1, *(every for _, every in timed)}
        if shows_bar:
            periods.add(max(1, steps // PROGRESS_PIECES))
        if self.check and self._last_good.step < 0 and self.steps < end:
            self._last_good.save_from(self)
        with open_bar("steps", steps, enabled=shows_bar) as move_bar:
            for stop in self._stops(end, periods):
                count = stop - self.steps
                self.advance(count)
                if self.check and (stop % self.check == 0 or stop == end):
                    self._last_good.check_and_save(self)
                due = [c for c, every in timed if stop % every == 0]
                results = [callback(self) for callback in due]  # all are called, even if one stops
                if due and self._ranks.any(any(map(bool, results))):
                    break
                if shows_bar:
                    self.domain.synchronize()  # a GPU is behind the host, and the bar shows it
                    move_bar(count)
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
        steps = check_integer("steps", steps, 0, MAX_STEPS)
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
        cancels on a closed body (Ladd 1994, Mei et al. 2002). Raises ValueError at step 0.
        """
        self._ranks.require_same_call("force_on")
        return exact_sum(forces_on_links(self, name)[0], self._ranks)

    def torque_on(self, name: str, centre: Sequence[float]) -> np.ndarray:
        """Return the torque on the solid `name` about `centre` (cells); see `force_on`."""
        self._ranks.require_same_call("torque_on")
        force, point = forces_on_links(self, name)
        arm = point - np.array(conditions.check_vector("centre", centre))
        return exact_sum(np.cross(arm, force), self._ranks)

    # ---- files -------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write a checkpoint atomically and return its path."""
        from lbm._io.checkpoint import save

        return save(self, check_path("path", path))

    def restore(self, path: str | Path) -> Simulation:
        """Restore the state from a checkpoint of the same problem, bit for bit."""
        from lbm._io.checkpoint import restore

        restore(self, check_path("path", path))
        self._last_good.discard()
        return self

    def write_vtk(
        self, path: str | Path, *, units: Units | None = None, derived: Sequence[str] = ()
    ) -> Path:
        """Write the fields of all cells for ParaView and return the path of the file to open.

        The file is written atomically: `path`.vti, or with several ranks a .vti for each of them
        and `path`.pvti, which joins them. It holds cell data and the time of the state.

        Parameters
        ----------
        path : str or Path
            With or without a suffix.
        units : Units, optional
            Write SI units: `pressure` (Pa, relative to density 1), `u` (m/s), lengths in m, time
            in s. By default lattice units: `rho`, `drho` (rho - 1 with all digits), `u`, lengths
            in cells, time in steps. `fluid` is 0 in solid cells.
        derived : sequence of {"vorticity", "q"}
            Also write the vorticity (1/s or 1/step) or the Q criterion (1/s^2 or 1/step^2), by
            central differences, which are one-sided beside walls.

        Raises
        ------
        UnstableError
            If a cell is not finite. A file that exists already stays as it is.
        """
        from lbm._io.vtk import write_vtk

        return write_vtk(self, check_path("path", path), units=units, derived=derived)

    def to_xarray(self, *, units: Units | None = None, derived: Sequence[str] = ()) -> Any:
        """Return the fields of this rank's cells as an `xarray.Dataset`.

        Its dimensions are x, y, z (the centres of the cells) and, of vectors, `component`; `time`
        is a coordinate, and every variable has the attributes `units` and `long_name`. The
        variables, `units` and `derived` are those of `write_vtk`. Needs the package xarray.
        """
        from lbm._io.labelled import make_dataset

        return make_dataset(self, units, derived)

    def plot(
        self, axis: str = "z", index: int | None = None, field: str = "speed", ax: Any = None
    ) -> Any:
        """Draw a layer of cells and return the matplotlib figure; None on ranks other than 0.

        Parameters
        ----------
        axis : {"x", "y", "z"}
            Axis across the layer.
        index : int, optional
            Number of the layer along the axis, by default that in the middle.
        field : {"speed", "ux", "uy", "uz", "rho", "drho"}
            What the colours show. Solids are grey.
        ax : matplotlib axes, optional
            Where to draw, by default in a new figure.
        """
        from lbm._io.plot import plot_slice

        return plot_slice(self, axis, index, field, ax)
