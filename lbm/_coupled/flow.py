"""A flow on its domain: what is computed, the cells of this rank, and their state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetero.deferred_signals import DeferredSignals
from hetero.devices import Device
from hetero.validation import check_choice, check_integer, describe
from lbm._coupled.closed_links import ClosedLinks
from lbm._coupled.companion import Companion
from lbm._coupled.cut_walls.walls import InterpolatedWalls
from lbm._coupled.eddy_viscosity.field import EddyViscosity
from lbm._coupled.moving_bodies.bodies import MovingBodies, MovingBody
from lbm._coupled.moving_bodies.heat import HeatOfBodies
from lbm._coupled.open_faces.free_streams import FreeStreams
from lbm._coupled.open_faces.responding import RespondingFaces
from lbm._coupled.open_faces.sheared import ShearedOutlets
from lbm._coupled.prescriptions import Prescriptions
from lbm._coupled.scalars.field import ScalarField
from lbm._coupled.scalars.fields import ScalarFields
from lbm._coupled.scalars.scalar import Scalar
from lbm._coupled.sponge_layers import SpongeLayers
from lbm._parallel.domain.domain import Domain
from lbm._parallel.ranks.exact_sum import exact_sum
from lbm.boundaries import Enclosure, Solid
from lbm.boundaries.sponge import Sponge
from lbm.collisions.eddy_viscosity import EddyViscosityModel
from lbm.geometry.wall_links import SOLID_CLASS

FIELDS = "rho", "drho", "u", "fluid"
"""Names of the fields that `Flow.gather` takes."""

MAX_STEPS = 1 << 40
"""Largest number of steps of a run: 10^5 of them in a second would still take 127 days."""


class HostMoments:
    """A copy of the moments of a domain in host memory.

    The arrays are read-only, because they are returned again as long as the step is the same.
    """

    def __init__(self) -> None:
        self._step = -1
        self._data: np.ndarray | None = None
        self._rho: np.ndarray | None = None

    def discard(self) -> None:
        """Forget the copy."""
        self._step, self._data, self._rho = -1, None, None

    def read(self, domain: Domain, t: int) -> np.ndarray:
        """Return rho - 1 and u [k, z, y, x] after t steps."""
        if self._data is None or self._step != t:
            self.discard()
            self._data = domain.read_moments_to_host(t)
            self._data.flags.writeable = False
            self._step = t
        return self._data

    def read_rho(self, domain: Domain, t: int) -> np.ndarray:
        """Return rho [z, y, x] after t steps."""
        data = self.read(domain, t)
        if self._rho is None:
            self._rho = data[0] + data.dtype.type(1)
            self._rho.flags.writeable = False
        return self._rho


class Flow:
    """The state of a flow after a number of steps, and how to advance it: the base class of
    `Simulation`, on which fields, forces and files are computed.

    Parameters
    ----------
    enclosure : the whole domain and its walls
    domain : the populations of this rank's cells
    device : the first of its devices
    sponges, scalars : those of the flow, checked
    moving : solids that move through cells

    Attributes
    ----------
    companions : further state, in the order in which it acts before and after a step
    """

    def __init__(
        self,
        enclosure: Enclosure,
        domain: Domain,
        device: Device,
        sponges: Mapping[str, Sponge],
        scalars: Mapping[str, Scalar],
        moving: Mapping[str, Solid],
    ):
        self.shape, faces, solids = self.enclosure = enclosure
        self.faces, self.solids = faces, solids
        self.domain, self.problem, self.region = domain, domain.problem, domain.region
        self.collision, self.device, self.steps = domain.problem.collision, device, 0
        self._moments = HostMoments()
        self.companions: list[Companion] = []
        self.interpolated = self._eddies = self._prescriptions = None
        self.scalars: Mapping[str, ScalarField] = {}
        self.has_previous_state = False
        if self.problem.precision.moments:  # first: it completes the step
            closed = ClosedLinks(domain)
            self.companions += [closed] * domain.ranks.any(closed.sums)
        if self.problem.links.cut is not None:  # next: it completes the step
            self.interpolated = InterpolatedWalls(domain, solids, self.shape)
            self.companions.append(self.interpolated)
        if any(face.is_equilibrium for face in faces) and not self.problem.precision.moments:
            self.companions.append(FreeStreams(domain))  # next: it completes the step at faces
        self.moving: MovingBodies | None = None
        if moving:  # next: it completes the step around them
            self.moving = MovingBodies(domain, moving)
            self.companions.append(self.moving)
        if self.problem.is_driven:
            self._prescriptions = Prescriptions(domain, self.interpolated)
        if isinstance(self.collision, EddyViscosityModel):  # it reads the flow that users see
            walls = {} if self.interpolated is None else self.interpolated.slip_tables
            self._eddies = EddyViscosity(self.collision, domain, walls)
            self.companions.append(self._eddies)
        if sponges:
            self.companions.append(SpongeLayers(sponges, domain))
        if scalars:
            fields = ScalarFields(scalars, enclosure, domain)
            self.companions.append(fields)
            self.scalars = fields.fields
            if self.moving is not None:
                for field in self.scalars.values():
                    field.bodies = HeatOfBodies(self.moving, field)
        if any(face.is_outlet for face in faces):
            sheared = ShearedOutlets(enclosure, domain, self.interpolated)
            if sheared.faces:
                self.companions.append(sheared)
        if any(face.responds for face in faces):
            self.companions.append(RespondingFaces(enclosure, domain))

    @property
    def rank(self) -> int:
        """Number of this rank; 0 without MPI."""
        return self.domain.ranks.rank

    @property
    def devices(self) -> list[str]:
        """Names of the devices of this rank, each once."""
        return list(dict.fromkeys(str(part.engine.device) for part in self.domain.parts))

    @property
    def transports(self) -> dict[str, int]:
        """Ways in which populations cross the faces of this rank's parts, and how many use each.

        "direct": stores into the memory of a device of this process; "staged": between its GPUs
        through host memory; "peer": stores into the memory of another process on this host;
        "device": MPI with buffers in the memory of GPUs; "host": MPI with buffers in host memory.
        """
        exchange = self.domain.exchange
        return {} if exchange is None else dict(exchange.transports)

    def mark_changed(self, steps: int) -> None:
        """Note that the populations in `domain` are now those of step number `steps`."""
        self.steps, self.has_previous_state = steps, False
        if self._prescriptions is not None:
            self._prescriptions.set_step(steps)
        self._moments.discard()

    def start_companions(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Start what goes with the flow, whose moments are those of the cells of this rank."""
        for companion in self.companions:
            companion.start(rho, u)

    def without_half_force(self, rho: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the velocity from which populations start so that u is read."""
        driver = self.domain.driver
        return u if driver is None else driver.without_half_force(rho, u)

    @property
    def eddy_viscosity(self) -> np.ndarray:
        """Eddy viscosity [x, y, z] that the next step uses, in cells^2/step; 0 in solid cells.

        Only operators that keep it as a field have it, such as `Vreman`; others raise
        AttributeError. All ranks must read it.
        """
        if self._eddies is None:
            raise AttributeError(
                f"collision={self.collision} keeps no eddy viscosity: operators that do are "
                "lbm.Vreman, lbm.VremanBGK, lbm.VremanRecursive and lbm.VremanCentralMoments"
            )
        self.domain.ranks.require_same_call("eddy_viscosity")
        return self._eddies.values(self.steps)

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
        fluid = self.problem.links.classes != SOLID_CLASS
        if self.moving is not None:
            fluid = fluid & self.moving.fluid(self.steps)
        return fluid.T

    @property
    def bodies(self) -> dict[str, MovingBody]:
        """Solids with a motion by name: where they are, and what they have taken from the fluid.

        Each has `centre`, `rotation` (the matrix), `mass_taken` and `momentum_taken`, which the
        fluid has lost to it since the start or a restart.
        """
        if self.moving is None:
            return {}
        self.moving.at = self.steps
        return self.moving.bodies

    def populations(self) -> np.ndarray:
        """Return f_q - w_q before the next collision, [q, x, y, z]; meant for small domains."""
        nz = self.region.shape[2]
        data = self.domain.read_to_host(self.steps, 0, nz, populations=True)
        return data.transpose(0, 3, 2, 1)

    def momentum(self) -> np.ndarray:
        """Return the total momentum of the fluid, with half of the force's impulse."""
        self.domain.ranks.require_same_call("momentum")
        if self.moving is not None:
            rho, fluid = 1.0 + self.drho.astype(float), self.fluid
            return exact_sum((rho * self.u)[:, fluid].T, self.domain.ranks)
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
        self.domain.ranks.require_same_call("gather")
        pieces = self.domain.ranks.gather((self.region.slices, local))
        if pieces is None:
            return None
        out = np.empty((*local.shape[:-3], *self.shape), local.dtype)
        for slices, piece in pieces:
            out[..., *slices] = piece
        return out

    def advance(self, steps: int) -> None:
        """Do steps without checks and callbacks."""
        steps = check_integer("steps", steps, 0, MAX_STEPS)
        with self.device.active(), DeferredSignals() as signals:
            for _ in range(steps):
                for companion in self.companions:
                    companion.before_step(self.steps)
                self.domain.step(self.steps)
                for companion in self.companions:
                    companion.after_step(self.steps)
                self.steps += 1
                if self._prescriptions is not None:
                    self._prescriptions.set_step(self.steps)
                self.has_previous_state = True
                signals.deliver()
