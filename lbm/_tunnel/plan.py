"""Settings chosen for a wind tunnel, with reasons: domain, units, operator, ends, run time."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hetero.errors import format_bytes
from hetero.validation import check_choice, check_integer, check_positive, describe
from lbm._parallel.memory_forecast import choose_storage
from lbm._tunnel.ground import FEWEST_BELOW, cover_floor, find_low_parts, move_ground
from lbm._tunnel.placing import orient, place
from lbm.boundaries import (
    Condition,
    FreeSlip,
    FreeStream,
    MovingWall,
    NoSlip,
    PressureOutlet,
    Solid,
    VelocityInlet,
)
from lbm.boundaries.solid import ATTACHED
from lbm.boundaries.sponge import Sponge
from lbm.collisions import CollisionChoice, make_collision
from lbm.collisions.automatic import AUTO, RESOLVED, WALL_CONSTANT, choose_automatically
from lbm.collisions.operator import Collision
from lbm.collisions.vreman import VremanCentralMoments
from lbm.geometry.meshes import TriangleMesh
from lbm.units import Units

LOGGER = logging.getLogger("lbm.tunnel")

FLUIDS = {"air": (1.204, 1.516e-5), "water": (998.2, 1.0034e-6)}
"""Density in kg/m^3 and kinematic viscosity in m^2/s at 20 degrees Celsius and 1013 hPa."""

GROUNDS = "none", "fixed", "moving", "slip"
ENDS = "free-stream", "channel"

UPSTREAM, DOWNSTREAM, BESIDE = 3.0, 6.0, 3.0
"""Free space before, behind and beside a body, in square roots of its frontal box. They are those
of `FreeStream`; not tuned."""

LATTICE_SPEED = 0.1
"""Speed of the stream in cells/step: the Mach number is 0.17, whose square is 3 %."""

MOST_TAU = 1.0
"""Largest relaxation time; slower streams keep it where a flow is viscous."""

FLUSH = 1.0
"""Passages of the domain's length before the first sample."""

FEWEST_PASSAGES, MOST_PASSAGES = 10.0, 60.0
"""Passages of the body's length over which forces are averaged."""

SAMPLES = 40
"""Samples of the forces in a passage of the body's length: vortices pass it in about one."""

ROUND = 8
"""The sides of the domain are multiples of so many cells."""


class Choice(NamedTuple):
    """A setting of a tunnel, and why it was chosen."""

    name: str
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.value} ({self.reason})"


@dataclass(frozen=True, eq=False)
class Plan:
    """All settings of a wind tunnel, before anything is built.

    Attributes
    ----------
    name : of the body
    mesh : TriangleMesh in cells of the domain
    shape : cells of the domain
    units : Units
    speed, density, viscosity : of the stream, in SI
    lattice_speed : of the stream, in cells/step
    length : length scale in metres: the longest side of the body's bounding box
    collision : Collision
    boundaries, sponges : arguments of `Simulation`
    frontal_area, plan_area, area : in m^2; the last one is that of the coefficients
    flush : steps before the first sample
    passage : steps in which the stream passes the body's length
    choices : list of Choice
    """

    name: str
    mesh: TriangleMesh
    shape: tuple[int, int, int]
    units: Units
    speed: float
    density: float
    viscosity: float
    lattice_speed: float
    length: float
    collision: Collision
    boundaries: Mapping[str, Condition | Solid]
    sponges: Mapping[str, Sponge]
    frontal_area: float
    plan_area: float
    area: float
    flush: int
    passage: int
    choices: list[Choice] = field(default_factory=list)

    @property
    def reynolds(self) -> float:
        """Reynolds number of the body's length."""
        return self.speed * self.length / self.viscosity

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `Simulation` but for the shape and options of devices and precision."""
        return {
            "collision": self.collision,
            "boundaries": self.boundaries,
            "sponges": self.sponges,
            "u": (self.lattice_speed, 0.0, 0.0),
        }

    @property
    def sample_every(self) -> int:
        """Steps between samples of the forces, an odd number; see `average_pairs`."""
        return max(1, self.passage // SAMPLES) | 1

    def __str__(self) -> str:
        return "\n".join([f"wind tunnel of {self.name}", *(f"  {c}" for c in self.choices)])


def make_plan(
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
    collision: CollisionChoice = AUTO,
    ends: str = AUTO,
    wall: str = AUTO,
    lattice_speed: float | None = None,
    repair: bool = False,
    minimum_thickness: int = 0,
    **options: Any,
) -> Plan:
    """Place a body and choose all settings of its tunnel; see `lbm.wind_tunnel`."""
    placed, choices = orient(body, length, unit, flow, up, incidence, yaw, repair), list[Choice]()
    speed, cells = check_positive("speed", speed), check_integer("cells", cells, 8, 1 << 14)
    density, viscosity = _read_fluid(fluid)
    check_choice("ground", ground, GROUNDS)
    clearance = check_positive("clearance", clearance) if clearance else 0.0
    if clearance and ground == "none":
        raise ValueError("clearance is the height above a ground: choose ground, or leave it out")
    dx = placed.length / cells
    floor = float(ground == "fixed" and wall == "modelled")
    low, high = placed.mesh.bounds / dx
    size = high - low
    width = math.sqrt(size[1] * size[2])
    upstream, downstream, beside = _read_margins(margins)
    length_x = upstream * width + size[0] + downstream * width
    below = clearance / dx + floor if ground != "none" else beside * width
    height = size[2] + below + beside * width
    shape = _round((length_x, size[1] + 2.0 * beside * width, height))
    corner = (
        upstream * width,
        (shape[1] - size[1]) / 2.0,
        below if ground != "none" else (shape[2] - size[2]) / 2.0,
    )
    mesh = place(placed, dx, corner, minimum_thickness)
    note = Choice("domain", f"{' x '.join(map(str, shape))} cells of {dx:.3g} m", (
        f"{upstream:g}, {downstream:g} and {beside:g} widths of the body, {width:.3g} cells, "
        "before, behind and beside it"
    ))  # fmt: skip
    choices.append(note)
    if mesh.repairs:
        choices.append(Choice("mesh", "repaired", "; ".join(mesh.repairs)))
    if mesh.minimum_thickness:
        choices.append(Choice("thickness", "one cell at least", "sheets and plates would vanish"))
    reynolds = speed * placed.length / viscosity
    u, why = _choose_speed(lattice_speed, reynolds / cells)
    units = Units(dx, u * dx / speed, density, 0.5 + 3.0 * u * cells / reynolds)
    choices.append(Choice("lattice speed", f"{u:.3g} cells/step, steps of {units.dt:.3g} s", why))
    state = options.get("state", "populations")
    operator, why = _choose_operator(collision, units.tau, reynolds / cells, wall, state)
    choices.append(Choice("collision", str(operator), f"Reynolds number {reynolds:.3g}; {why}"))
    wall, why = _choose_wall(wall)
    choices.append(Choice("wall", wall, why))
    stream = u, 0.0, 0.0
    faces, sponges, why = _choose_ends(ends, stream, ground, int(width))
    names = ", ".join(f"{k} {c.name}" for k, c in faces.items())
    choices.append(Choice("ends", names, why))
    if ground == "moving" and (still := find_low_parts(mesh, shape)).any():
        faces["z-"] = move_ground(still, u)
        choices.append(Choice("ground", "moving, but still below low parts of the body", (
            f"gaps of fewer than {FEWEST_BELOW} cells resolve no flow between walls that slide"
        )))  # fmt: skip
    solids = {"body": Solid(mesh, wall=wall)}
    if floor:
        solids["ground"] = cover_floor(shape)
        choices.append(Choice("ground", "modelled, a layer of cells", (
            "without slip, it would take its speed from a gap of few cells"
        )))  # fmt: skip
    frontal, plan = (
        mesh.frontal_area(along) * dx**2 for along in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    )
    used, why = _choose_area(area, frontal, plan)
    choices.append(Choice("area", f"{used:.4g} m^2", why))
    passage = max(1, round(max(size[0], width) / u))
    flush = round(FLUSH * shape[0] / u)
    choices.append(Choice("start", f"free stream, and {flush} steps before the first sample", (
        f"the stream passes the domain {FLUSH:g} times"
    )))  # fmt: skip
    choices.append(_forecast_memory(shape, operator, options))
    return Plan(
        placed.name, mesh, shape, units, speed, density, viscosity, u, placed.length, operator,
        {**faces, **solids}, sponges, frontal, plan, used, flush, passage,
        choices,
    )  # fmt: skip


def _read_fluid(fluid: Any) -> tuple[float, float]:
    """Return density and kinematic viscosity."""
    if isinstance(fluid, str):
        return FLUIDS[check_choice("fluid", fluid, tuple(FLUIDS))]
    if not (isinstance(fluid, Mapping) and set(fluid) == {"density", "viscosity"}):
        raise TypeError(
            f"fluid must be one of {', '.join(map(repr, FLUIDS))} or a mapping with density "
            f"(kg/m^3) and viscosity (kinematic, m^2/s), got {describe(fluid)}"
        )
    return check_positive("density", fluid["density"]), check_positive(
        "viscosity", fluid["viscosity"]
    )


def _read_margins(margins: Sequence[float] | None) -> tuple[float, float, float]:
    """Return the free space before, behind and beside the body, in its widths."""
    if margins is None:
        return UPSTREAM, DOWNSTREAM, BESIDE
    if isinstance(margins, str) or not np.iterable(margins) or len(margins) != 3:
        raise TypeError(
            "margins must hold three numbers, the free space before, behind and beside the body "
            f"in its widths, got {describe(margins)}"
        )
    before, behind, beside = (check_positive("margins", m) for m in margins)
    return before, behind, beside


def _round(lengths: Sequence[float]) -> tuple[int, int, int]:
    """Return lengths as numbers of cells that suit GPUs."""
    x, y, z = (ROUND * math.ceil(n / ROUND) for n in lengths)
    return x, y, z


def _choose_speed(requested: float | None, cell_reynolds: float) -> tuple[float, str]:
    """Return the speed of the stream in cells/step."""
    if requested is not None:
        return check_positive("lattice_speed", requested), "as asked"
    slow = (MOST_TAU - 0.5) / 3.0 * cell_reynolds
    if slow < LATTICE_SPEED:
        return slow, f"the flow is viscous: the relaxation time is at most {MOST_TAU:g}"
    return LATTICE_SPEED, "the Mach number is 0.17, whose square is the error of compressibility"


def _choose_operator(
    collision: CollisionChoice, tau: float, cell_reynolds: float, wall: str, state: str
) -> tuple[Collision, str]:
    """Return the collision operator, and why."""
    if isinstance(collision, str) and collision == AUTO:
        if wall == "modelled" and cell_reynolds > RESOLVED["open"]:
            return (
                VremanCentralMoments(tau, WALL_CONSTANT),
                "its eddy viscosity at walls is that of their model",
            )
        return choose_automatically(tau, cell_reynolds, "open", state)
    return make_collision(collision, tau), "as asked"


def _choose_wall(wall: str) -> tuple[str, str]:
    """Return the wall of the body, and why."""
    if wall != AUTO:
        return wall, f"as asked; {ATTACHED}" if wall == "modelled" else "as asked"
    return "interpolated", "the surface stands where links meet it"


def _choose_ends(
    ends: str, stream: tuple[float, float, float], ground: str, cells: int
) -> tuple[dict[str, Condition], dict[str, Sponge], str]:
    """Return the conditions of the faces, the sponges, and why."""
    reason = "as asked"
    if ends == AUTO:
        ends, reason = "free-stream", "what leaves is forgotten, so that nothing is amplified"
    if check_choice("ends", ends, ENDS) == "free-stream":
        faces: dict[str, Condition] = {f: FreeStream(stream) for f in ("x-", "x+", "y-", "y+")}
        top: Condition = FreeStream(stream)
        sponges = {}
    else:
        faces = {"x-": VelocityInlet(stream), "x+": PressureOutlet(), "y": FreeSlip()}
        top, sponges = FreeSlip(), {"x+": Sponge(max(12, cells), u=stream)}
    floors: dict[str, Condition] = {
        "none": top, "fixed": NoSlip(), "moving": MovingWall(stream), "slip": FreeSlip(),
    }  # fmt: skip
    return {**faces, "z-": floors[ground], "z+": top}, sponges, reason


def _choose_area(area: str | float, frontal: float, plan: float) -> tuple[float, str]:
    """Return the reference area in m^2, and why."""
    if isinstance(area, str):
        value = {"frontal": frontal, "plan": plan}[check_choice("area", area, ("frontal", "plan"))]
        if not value > 0.0:
            raise ValueError(f"the {area} area of the body is 0: give area in m^2")
        return value, f"the {area} area; frontal {frontal:.4g}, plan {plan:.4g} m^2"
    return check_positive("area", area), "as given"


def _forecast_memory(
    shape: tuple[int, int, int], operator: Collision, options: Mapping[str, Any]
) -> Choice:
    """Return how much memory the populations of a domain take."""
    count = choose_storage(collision=operator, **options).required_bytes(shape)
    return Choice("memory", format_bytes(count), f"{math.prod(shape) / 1e6:.3g} million cells")
