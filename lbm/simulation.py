"""The class Simulation: a flow with its domain, walls and state."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero.display.progress_bar import open_bar
from hetero.validation import check_choice, check_integer
from hetero.version import VERSION
from lbm import boundaries as conditions
from lbm._coupled.flow import MAX_STEPS
from lbm._coupled.moving_bodies.limits import require_bodies_can_move
from lbm._coupled.scalars.scalar import Scalar, check_scalars
from lbm._coupled.turbulent_inlets.face_eddies import bind_eddies
from lbm._io.outputs import FlowWithOutputs
from lbm._kernels.moments.limits import MOMENTS_PATTERN, choose_state, require_moments_suffice
from lbm._kernels.problem import Problem
from lbm._parallel.domain import arguments
from lbm._parallel.domain.domain import create_domain
from lbm._parallel.domain.mass_balance import require_balanced_mass
from lbm._parallel.domain.narrow_gaps import warn_of_narrow_gaps
from lbm._parallel.domain.slow_targets import warn_of_slow_targets
from lbm._parallel.memory_forecast import Storage
from lbm._parallel.partition import Decomposition, check_decomposition, make_partition
from lbm._parallel.placement import DeviceArgument, choose_devices, require_memory_of_parts
from lbm._parallel.ranks import agreement
from lbm._parallel.ranks.abort import abort_all_ranks_on_errors
from lbm._parallel.ranks.communication import Ranks, share_cores
from lbm._performance.measurement import measure_best_ratio
from lbm._post.stability import LastGoodState
from lbm.boundaries.prescribed import InitialField
from lbm.boundaries.sponge import Sponge, check_sponges
from lbm.collisions import DEFAULT, make_collision
from lbm.collisions.operator import Collision, check_collision
from lbm.geometry import wall_links
from lbm.geometry.periodic_images import place_solids
from lbm.lattices import D3Q19, Lattice, choose_lattice
from lbm.lattices.precision import AUTO_STATE, STATES, choose_precision
from lbm.lattices.streaming_patterns import PATTERNS, make_pattern

LOGGER = logging.getLogger(__name__)

_DEFAULT_COLLISION = make_collision(DEFAULT, 0.8)

PROGRESS_PIECES = 200
"""Pieces of a run after which the progress bar moves."""


class Simulation(FlowWithOutputs):
    """Lattice Boltzmann flow in three dimensions.

    Parameters
    ----------
    shape : (nx, ny, nz)
        Number of cells. All of them may be fluid: walls at faces stand half a cell outside.
    collision : Collision
        Collision operator, such as `BGK(tau)`; by default `TRT(0.8)`.
    boundaries : mapping
        Maps faces "x-", "x+", "y-", ... or axes "x", "y", "z" to conditions, and other names to
        `Solid`. A face that is not named is periodic. Velocities and densities of conditions may be
        functions of position and time, see `MovingWall`.
    force : three floats, or function
        Body force per unit of volume, density times cells/step^2 (Guo et al. 2002), or a function
        force(t) of the time in steps that returns it.
    sponges : mapping, optional
        Maps faces "x-", "x+", ... to `Sponge`, layers that absorb waves and vortices before they
        reach an inlet or an outlet, or to their numbers of cells.
    scalars : mapping, optional
        Maps names, such as "temperature", to `Scalar`: what the flow carries, and may drive it.
    rho, u : array, number or function, optional
        Initial density [x, y, z] and velocity [c, x, y, z], or one for all cells, or functions
        rho(x, y, z) and u(x, y, z) of the coordinates of centres (in cells, the first is 0.5), of
        which the second returns three components. By default the fluid is at rest with density 1.
    lattice : {"D3Q19", "D3Q27"} or Lattice
        Velocities of the populations. `D3Q27` takes 27/19 of the memory and of the time; its errors
        have no preferred axes.
    pattern : {"esoteric", "aa", "ab"}
        Streaming pattern; the first two keep one copy of the populations, "ab" keeps two.
    dtype : {"float32", "float64"}
        Type of the numbers in the arithmetic.
    storage : {"float32", "float64", "float16"}, optional
        Type of the populations in memory, by default `dtype`. "float16" goes with dtype="float32",
        takes half of its memory and time, and needs an even nx.
    state : {"populations", "moments", "auto"}
        What is stored of a cell. A regularized operator keeps ten moments of it, which take half
        of the memory traffic of the populations or less (docs/packages/lbm.md says for what it is
        built): `collision` must be `Regularized`, `RecursiveRegularized`, `SmagorinskyRecursive`,
        `VremanRecursive`, `CentralMoments` or `VremanCentralMoments`. `pattern` does not matter
        then. "auto" takes moments where they are possible and faster: on GPUs, but for
        `storage="float16"`.
    ratio : float or "auto"
        Share of the rows that the CPU computes beside the GPU. "auto" measures both and uses the
        best share, often 0. Only with device="cuda".
    check : int
        Steps between checks for NaN, for speeds near that of sound, and for densities outside of
        0.25 to 3. With 0 there are none, and a flow that blows up silently turns into NaN.
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
        one host share its GPUs. With a list or "cuda:all", one process computes on several devices.

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
    scalars : dict
        The scalars by name: `values` [x, y, z], `total()`, `flux(wall)` and `nusselt(wall, ...)`.
    state, state_reason : str
        What is stored of a cell, "populations" or "moments", and why it was chosen.
    problem : Problem
        What is computed, without its state.

    Raises
    ------
    ValueError, TypeError
        If shapes are wrong, settings unstable, walls contradictory, or if inlets and moving walls
        fill or empty a connected region of fluid that has no outlet.
    MemoryError
        If the domain does not fit, before anything is built; the message suggests remedies.

    Warns
    -----
    UserWarning
        If sponges or outlets follow a flow that starts at rest, or whose inlets change with time,
        so slowly that they brake it, if interpolated walls have another wall within 4 cells, or if
        a mesh is cut off by the domain or hardly longer than a cell.

    Notes
    -----
    Lattice units: cells, steps, density 1; pressure is rho/3. `lbm.Units` converts. Second order in
    space. Rounding errors of the velocity are of the order of eps: about 1e-7 in float32, 1e-5 with
    16-bit storage.
    """

    def __init__(
        self,
        shape: Sequence[int],
        *,
        collision: Collision | None = None,
        boundaries: Mapping[str, conditions.Condition | conditions.Solid] | None = None,
        force: Sequence[float] | Callable[[float], Sequence[float]] = (0.0, 0.0, 0.0),
        sponges: Mapping[str, Sponge | int] | None = None,
        scalars: Mapping[str, Scalar] | None = None,
        rho: InitialField = 1.0,
        u: InitialField = (0.0, 0.0, 0.0),
        lattice: str | Lattice = D3Q19,
        pattern: str = "esoteric",
        dtype: DTypeLike = "float32",
        storage: DTypeLike | None = None,
        state: str = "populations",
        ratio: float | str = 0.0,
        check: int = 500,
        keep_good_state: bool = True,
        comm: Any = None,
        decomposition: str | Sequence[int] | Decomposition = "auto",
        device: DeviceArgument = None,
    ):
        ranks = Ranks(comm)
        if ranks.size > 1:
            abort_all_ranks_on_errors()
        share_cores(ranks)
        cells = arguments.check_shape(shape, ranks.size)
        force_in_time, first_force = arguments.check_force(force)
        self.check = check_integer("check", check)
        check_choice("pattern", pattern, tuple(PATTERNS))
        check_choice("state", state, (*STATES, AUTO_STATE))
        lattice, form = choose_lattice(lattice), choose_precision(dtype, storage, state)
        form.require_width(cells[0])
        collision = _DEFAULT_COLLISION if collision is None else collision
        check_collision(collision, lattice)
        faces, solids = conditions.split_boundaries(boundaries)
        moving = {name: s for name, s in solids.items() if s.motion is not None}
        solids = {name: s for name, s in solids.items() if s.motion is None}
        if solids:
            placed = conditions.Enclosure(cells, faces, solids)
            solids = place_solids(placed, warns=ranks.rank == 0)
        if any(face.is_inlet for face in faces):
            faces = bind_eddies(conditions.Enclosure(cells, faces, solids), lattice)
        enclosure = conditions.Enclosure(cells, faces, solids)
        sponges = {} if sponges is None else check_sponges(sponges, cells, faces)
        bodies = enclosure._replace(solids=solids | moving)
        scalars = {} if scalars is None else check_scalars(scalars, bodies)
        if ranks.size > 1:
            agreement.require_same_arguments(
                ranks, cells, solids=solids | moving, version=VERSION, collision=collision,
                faces=faces, check=check, lattice=lattice, pattern=pattern, precision=form.name,
                state=state, force=force, rho=rho, u=u, ratio=ratio, decomposition=decomposition,
                keep_good_state=keep_good_state, sponges=sponges, scalars=scalars,
            )  # fmt: skip
        devices = choose_devices(device, cells, ranks)
        if ratio != 0.0:
            ratio = arguments.check_ratio(ratio, *devices)
        count = ranks.size * len(devices)
        is_cut_freely = isinstance(decomposition, str) and decomposition == "auto"
        layers = (1, 1, count) if is_cut_freely else decomposition

        def require_moments() -> None:
            boxes = check_decomposition(layers, cells, count)
            boxes.bounds(cells)
            require_moments_suffice(collision, cells, boxes.grid, ratio)
            if moving:
                by_moments = choose_precision(dtype, storage, "moments")
                require_bodies_can_move(moving, by_moments)

        on_gpus = not ranks.any(any(d.kind == "cpu" for d in devices))
        chosen, reason = choose_state(state, form.storage_name, on_gpus, require_moments)
        form = choose_precision(dtype, storage, chosen)
        decomposition = layers if form.moments else decomposition
        boxes = check_decomposition(decomposition, cells, count, form.lanes)
        partition = make_partition(cells, faces, boxes, form.lanes, one_rank=ranks.size == 1)
        region = partition.region(ranks.rank)
        if moving:
            require_bodies_can_move(moving, form)
        pattern = MOMENTS_PATTERN if form.moments else pattern
        stored = Storage(pattern, form, lattice, collision.reads_viscosity)
        require_memory_of_parts(partition, devices, ranks, stored, ratio, bool(solids))
        moments = arguments.select_moments(cells, region, rho, u)
        walls = wall_links.classify_cells(lattice, enclosure, region)
        self.state, self.state_reason = chosen, reason
        if state == AUTO_STATE and ranks.rank == 0:
            LOGGER.info("state=%r: %s", chosen, reason)
        problem = Problem(
            region.shape, walls, make_pattern(pattern, lattice), form, collision, first_force,
            force_in_time,
        )  # fmt: skip
        if solids:
            agreement.require_fluid(ranks, walls)
            warn_of_narrow_gaps(walls, enclosure, ranks, partition)
        if ranks.any(walls.any):
            require_balanced_mass(ranks, partition, walls)
        at_rest = not ranks.any(np.any(moments[1]))
        if ranks.rank == 0 and (sponges or any(face.responds for face in faces)):
            warn_of_slow_targets(enclosure, sponges, problem.forced, at_rest)
        if isinstance(ratio, str):
            ratio = min(ranks.gather_all(measure_best_ratio(problem, devices[0])))
        self.ratio = float(ratio)
        domain = create_domain(problem, partition, devices, self.ratio, ranks)
        super().__init__(enclosure, domain, devices[0], sponges, scalars, moving)
        self._last_good = LastGoodState(bool(keep_good_state))
        moves = not at_rest or ranks.any(np.any(moments[0] != 1.0))
        if moves or problem.forced or domain.driver is not None:
            self._start(*moments)
        else:  # the zeros in memory are the equilibrium at rest
            self.start_companions(*moments)

    def __repr__(self) -> str:
        p, devices, count = self.problem, " + ".join(self.devices), self.domain.ranks.size
        ranks = f", rank={self.rank} of {count}" * (count > 1)
        stored = "state='moments'" if p.precision.moments else f"pattern={p.pattern.name!r}"
        return (
            f"Simulation({self.shape}, collision={self.collision}, lattice={p.lattice.name!r}, "
            f"{stored}, {p.precision}, device='{devices}'{ranks}, steps={self.steps}"
            f"{'' if self.check else ', check=0: unchecked'})"
        )

    def _repr_html_(self) -> str:
        from lbm._io.notebook import describe_simulation

        return describe_simulation(self, self.ratio, self.check)

    # ---- state -------------------------------------------------------------------------------

    def set(self, *, rho: InitialField = 1.0, u: InitialField = (0.0, 0.0, 0.0)) -> None:
        """Start again at step 0, from the equilibrium of a density and a velocity."""
        self._start(*arguments.select_moments(self.shape, self.region, rho, u))

    def _start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Start at step 0 from moments of the cells of this rank."""
        arguments.require_moderate(self.fluid, rho, u, self.region.start)
        self.mark_changed(0)
        self._last_good.discard()
        self.start_companions(rho, u)
        self.domain.write_moments(rho, self.without_half_force(rho, u))

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
            If a check finds NaN, a density below 0.25 or above 3, or a speed near that of sound.
            The error names the first bad step and its worst cell; the simulation returns to the
            last state that was kept.

        Notes
        -----
        Interrupts (SIGINT, SIGTERM) are handled after the step in which they arrive.
        """
        timed = arguments.check_callbacks(callbacks)
        steps = check_integer("steps", steps, 0, MAX_STEPS)
        end = self.steps + steps
        agreement.require_same_run(self.domain.ranks, steps, timed)
        shows_bar = progress and self.rank == 0
        periods = {self.check or end + 1, *(every for _, every in timed)}
        if shows_bar:
            periods.add(max(1, steps // PROGRESS_PIECES))
        if self.check and self._last_good.step < 0 and self.steps < end:
            self._last_good.save_from(self)
        with open_bar("steps", steps, enabled=shows_bar) as move_bar:
            stop = self.steps
            while stop < end:
                stop = min(end, *((stop // period + 1) * period for period in periods))
                count = stop - self.steps
                self.advance(count)
                if self.check and (stop % self.check == 0 or stop == end):
                    self._last_good.check_and_save(self, self.check)
                due = [c for c, every in timed if stop % every == 0]
                results = [callback(self) for callback in due]  # all are called, even if one stops
                if due and self.domain.ranks.any(any(map(bool, results))):
                    break
                if shows_bar:
                    self.domain.synchronize()  # a GPU is behind the host, and the bar shows it
                    move_bar(count)
        self.domain.synchronize()
        return self
