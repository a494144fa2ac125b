"""A wind tunnel: the drag, lift and side force of a body from its mesh and the speed of the air."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.display.notebook import html_table
from hetero.validation import check_in_range
from lbm._tunnel.averages import Estimate as Estimate
from lbm._tunnel.averages import average_pairs, estimate_forces, estimate_mean
from lbm._tunnel.plan import FEWEST_PASSAGES, LOGGER, MOST_PASSAGES, Choice, Plan, make_plan
from lbm.callbacks import Every
from lbm.collisions import CollisionChoice
from lbm.errors import UnstableError
from lbm.geometry.meshes import TriangleMesh
from lbm.simulation import Simulation

if TYPE_CHECKING:
    from typing import Unpack

    from lbm.flows.settings import Options

FORECAST_STEPS = 20
"""Steps that are timed for the forecast of the run time."""


@dataclass(frozen=True, eq=False)
class TunnelResult:
    """Forces on a body in a wind tunnel, the same on all ranks.

    Attributes
    ----------
    drag, lift, side : Estimate
        Coefficients of the mean force along the stream (x), upwards (z) and sideways (y) over the
        dynamic pressure and `area`. Each is a `value` with its standard `error`, and says by
        `settled` whether no trend is left. The errors are those of averaging alone.
    force : three Estimates
        The mean force along x, y and z in N.
    frontal_area, plan_area, area : float
        In m^2; the last one is that of the coefficients.
    reynolds : float
        Reynolds number of the body's length.
    y_plus : (float, float)
        Median and largest distance of the cells beside the body from its surface, in wall units, by
        the law of the wall.
    passages : float
        Passages of the stream along the body over which forces were averaged.
    times, coefficients : arrays [sample] and [sample, (x, y, z)]
        Times in s and force coefficients that were averaged, each the mean of two samples.
    choices : list of Choice
        All settings, each with its value and the reason for it.
    simulation : Simulation
        The flow in its last state.
    """

    name: str
    drag: Estimate
    lift: Estimate
    side: Estimate
    force: tuple[Estimate, Estimate, Estimate]
    frontal_area: float
    plan_area: float
    area: float
    reynolds: float
    y_plus: tuple[float, float]
    passages: float
    times: np.ndarray = field(repr=False)
    coefficients: np.ndarray = field(repr=False)
    choices: list[Choice] = field(repr=False)
    simulation: Simulation = field(repr=False)

    @property
    def settled(self) -> bool:
        """True if no trend is left in any of the three forces."""
        return self.drag.settled and self.lift.settled and self.side.settled

    def by_area(self, area: float) -> tuple[Estimate, Estimate, Estimate]:
        """Return drag, lift and side force with another reference area in m^2."""
        return (
            self.drag.scaled(self.area / area),
            self.lift.scaled(self.area / area),
            self.side.scaled(self.area / area),
        )

    def summary(self) -> dict[str, Any]:
        """Return the numbers as a dictionary of plain values, as for JSON."""
        names = "drag", "lift", "side"
        numbers = {name: vars(getattr(self, name)) for name in names}
        numbers |= {
            f"force along {axis} (N)": vars(estimate)
            for axis, estimate in zip("xyz", self.force, strict=True)
        }
        keys = "frontal_area", "plan_area", "area", "reynolds", "y_plus", "passages", "settled"
        choices = {choice.name: choice.value for choice in self.choices}
        return {"name": self.name, **numbers, **{k: getattr(self, k) for k in keys},
                "choices": choices}  # fmt: skip

    def _rows(self) -> list[tuple[str, str]]:
        x, y, z = self.force
        plan = " / ".join(f"{e.value:.4g}" for e in self.by_area(self.plan_area))
        median, largest = self.y_plus
        return [
            ("drag coefficient", f"{self.drag}; {x} N"),
            ("lift coefficient", f"{self.lift}; {z} N"),
            ("side force coefficient", f"{self.side}; {y} N"),
            ("reference area", f"{self.area:.4g} m^2 (frontal {self.frontal_area:.4g})"),
            ("the same with the plan area", f"{plan} ({self.plan_area:.4g} m^2)"),
            ("Reynolds number", f"{self.reynolds:.3g}"),
            ("y+ of the first cells", f"median {median:.3g}, largest {largest:.3g}"),
            ("averaged over", f"{self.passages:.3g} passages of the body's length"),
        ]

    def __str__(self) -> str:
        return "\n".join([self.name, *(f"  {name}: {value}" for name, value in self._rows())])

    def _repr_html_(self) -> str:
        return html_table(f"Wind tunnel of {self.name}", self._rows())


class WindTunnel:
    """A body in a stream, ready to run: what `wind_tunnel` returns.

    Attributes
    ----------
    plan : Plan
        All settings; `print(tunnel)` shows each with its reason.
    simulation : Simulation
        The flow, which may be saved, drawn and restored as any other. The body is its solid "body".
    """

    def __init__(self, plan: Plan, **options: Any):
        self.plan = plan
        self.simulation = Simulation(plan.shape, **plan.arguments, **options)
        if self.simulation.rank == 0:
            for choice in plan.choices:
                LOGGER.info("%s", choice)

    def __repr__(self) -> str:
        return f"<WindTunnel of {self.plan.name}: {self.simulation}>"

    def __str__(self) -> str:
        return str(self.plan)

    def run(
        self,
        *,
        tolerance: float = 0.03,
        fewest: float = FEWEST_PASSAGES,
        most: float = MOST_PASSAGES,
        callbacks: Iterable[Callable[[Simulation], object]] = (),
        progress: bool = False,
    ) -> TunnelResult:
        """Run until the drag is known to a tolerance, and return forces with their errors.

        The first samples are taken when the stream has passed the domain. Then the run ends when
        the standard error of the drag is at most `tolerance` times the drag and no trend is left,
        after at least `fewest` and at most `most` passages of the body's length.
        """
        tolerance = check_in_range("tolerance", tolerance, 0.0, 1.0)
        most = check_in_range("most", most, 0.0, 1e6, closed="right")
        fewest = check_in_range("fewest", fewest, 0.0, most)
        plan, s = self.plan, self.simulation
        rows: list[np.ndarray] = []
        sample = Every(plan.sample_every, lambda s: rows.append(s.force_on("body")))
        choices, callbacks = list(plan.choices), list(callbacks)
        try:
            choices.append(self._forecast(plan.flush + most * plan.passage))
            s.run(max(0, plan.flush - s.steps), callbacks=callbacks, progress=progress)
            first = s.steps
            while True:
                done = (s.steps - first) / plan.passage
                if done >= most or (done >= fewest and self._is_known(rows, tolerance)):
                    break
                left = max(fewest - done, min(2.0, most - done))
                steps = math.ceil(left * plan.passage)
                s.run(steps, callbacks=[sample, *callbacks], progress=progress)
        except UnstableError as error:
            error.add_note(f"The settings were:\n{plan}")
            raise
        return self._result(np.array(rows), first, choices)

    def _forecast(self, steps: float) -> Choice:
        """Return a forecast of the time for so many steps, from some that are done here."""
        s = self.simulation
        s.run(1)  # compiles
        begin = time.perf_counter()
        s.run(FORECAST_STEPS)
        seconds = (time.perf_counter() - begin) / FORECAST_STEPS
        rate = math.prod(self.plan.shape) / seconds / 1e6
        choice = Choice(
            "time", f"at most {steps * seconds:.3g} s for {steps:.0f} steps",
            f"{rate:.3g} million cells per second on {' + '.join(s.devices)}",
        )  # fmt: skip
        if s.rank == 0:
            LOGGER.info("%s", choice)
        return choice

    def _scale(self) -> float:
        """Return the force in lattice units at which a coefficient is 1."""
        plan = self.plan
        return 0.5 * plan.lattice_speed**2 * plan.area / plan.units.dx**2

    def _is_known(self, rows: Sequence[np.ndarray], tolerance: float) -> bool:
        """Return whether the drag is settled and its error small; ranks have the same rows."""
        drag = estimate_mean(average_pairs(np.array(rows))[:, 0])
        return drag.settled and drag.error <= tolerance * abs(drag.value)

    def _result(self, rows: np.ndarray, first: int, choices: list[Choice]) -> TunnelResult:
        """Return means of the sampled forces."""
        plan, s = self.plan, self.simulation
        coefficients = average_pairs(rows.reshape(-1, 3)) / self._scale()
        x, y, z = estimate_forces(coefficients)
        newton = 0.5 * plan.density * plan.speed**2 * plan.area
        count = len(coefficients)
        begin = first // plan.sample_every + 1.5
        steps = (begin + 2.0 * np.arange(count)) * plan.sample_every
        return TunnelResult(
            plan.name, x, z, y, (x.scaled(newton), y.scaled(newton), z.scaled(newton)),
            plan.frontal_area, plan.plan_area, plan.area, plan.reynolds, measure_y_plus(s),
            (s.steps - first) / plan.passage, steps * plan.units.dt, coefficients, choices, s,
        )  # fmt: skip


def measure_y_plus(s: Simulation) -> tuple[float, float]:
    """Return the median and the largest y+ of the cells beside the body, by the law of the wall."""
    from lbm._coupled.wall_model.formulas import find_friction_velocities

    shear = s.wall_shear("body")
    u = s.u[:, *(shear.cells - s.region.start).T].T.astype(float)
    u -= (u * shear.normals).sum(axis=1)[:, None] * shear.normals
    speed = np.linalg.norm(u, axis=1)
    friction = find_friction_velocities(speed, shear.distance, shear.viscosity)
    wall_distance = shear.distance * friction / shear.viscosity
    y_plus = np.concatenate(s.domain.ranks.gather_all(wall_distance))
    return (float(np.median(y_plus)), float(y_plus.max())) if len(y_plus) else (np.nan, np.nan)


def wind_tunnel(
    body: str | os.PathLike | TriangleMesh,
    *,
    speed: float,
    length: float | None = None,
    unit: float | None = None,
    cells: int = 64,
    fluid: Any = "air",
    flow: str = "x",
    up: str = "z",
    incidence: float = 0.0,
    yaw: float = 0.0,
    ground: str = "none",
    clearance: float = 0.0,
    area: str | float = "frontal",
    margins: Sequence[float] | None = None,
    collision: CollisionChoice = "auto",
    ends: str = "auto",
    wall: str = "auto",
    lattice_speed: float | None = None,
    repair: bool = False,
    minimum_thickness: int = 0,
    **options: Unpack[Options],
) -> WindTunnel:
    """Place a body in a stream and choose all settings; `run` of the result computes its forces.

    Parameters
    ----------
    body : path or TriangleMesh
        A file that `lbm.read_mesh` reads, or a mesh in any unit.
    speed : float
        Speed of the stream in m/s.
    length, unit : float
        Longest side of the body's bounding box in metres as it stands in the file, or metres in a
        unit of the file (0.001 for mm): one of both.
    cells : int
        Cells along that side, at least 8. 24 show the flow, 64 and more give forces.
    fluid : {"air", "water"} or mapping
        At 20 degrees Celsius; or {"density": kg/m^3, "viscosity": kinematic, m^2/s}.
    flow, up : {"x", "-x", "y", "-y", "z", "-z"}
        Directions in the file in which the stream runs, and upwards.
    incidence, yaw : float
        Angles in degrees by which the body is turned: its upstream end upwards (about the axis y of
        the tunnel), then about the vertical axis, counter-clockwise seen from above.
    ground : {"none", "fixed", "moving", "slip"}
        Ground below the body: a wall at rest, one that moves with the stream, or one without
        friction. Where fewer than four cells are below the body, moving ground is at rest: walls
        that slide past each other in few cells would drag far too much fluid along. With
        wall="modelled", fixed ground has such a wall, too: the lowest layer of cells.
    clearance : float
        Height in metres of the body's lowest point above the ground.
    area : {"frontal", "plan"} or float
        Reference area of the coefficients: that of the silhouette along the stream or from above,
        or a number of m^2.
    margins : three floats, optional
        Free space before, behind and beside the body in its widths, by default 3, 6 and 3. Its
        width is the square root of height times breadth of its bounding box.
    collision : str, class or Collision
        "auto": TRT where cells resolve the flow, else Smagorinsky's model with one relaxation time,
        or with wall="modelled" central moments with the model of Vreman; with `state="moments"`
        `RecursiveRegularized` and `SmagorinskyRecursive`.
    ends : {"auto", "free-stream", "channel"}
        "free-stream": `FreeStream` at all faces but the ground. "channel": a velocity inlet,
        sides that slip, and a pressure outlet behind a sponge.
    wall : {"auto", "halfway", "interpolated", "modelled"}
        Wall of the body, see `lbm.Solid`.
    lattice_speed : float, optional
        Speed of the stream in cells/step, by default 0.1, or less in viscous flows.
    repair : bool
        Take a surface with holes, open sheets or triangles that face the wrong way as it is; see
        `TriangleMesh`.
    minimum_thickness : {0, 1}
        With 1, sheets and plates are one cell thick at least; see `TriangleMesh.place`.
    options
        Those of `Simulation`: device, dtype, storage, comm, ...

    Returns
    -------
    WindTunnel
        `print` shows all settings with their reasons, which are logged as "lbm.tunnel", too.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range, or the mesh is not closed, without `repair`.
    MemoryError
        If the domain does not fit.
    """
    plan = make_plan(
        body, speed=speed, length=length, unit=unit, cells=cells, fluid=fluid, flow=flow, up=up,
        incidence=incidence, yaw=yaw, ground=ground, clearance=clearance, area=area,
        margins=margins, collision=collision, ends=ends, wall=wall, lattice_speed=lattice_speed,
        repair=repair, minimum_thickness=minimum_thickness, **options,
    )  # fmt: skip
    return WindTunnel(plan, **options)
