"""Case files: a flow with its boundaries, start, devices and outputs, checked completely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lbm._commands.cases.output_settings import ForceTable, Outputs, read_outputs
from lbm._commands.cases.reader import Reader, read_array
from lbm._commands.cases.scales import CaseFlow, Scales, read_scales
from lbm._commands.cases.tunnels import force_scales_of, read_tunnel, scales_of, steps_of
from lbm._commands.cases.walls import read_boundaries
from lbm._coupled.scalars.scalar import FixedFlux, FixedValue, Scalar, ScalarCondition
from lbm._io.tables import Table, read_toml
from lbm._tunnel.plan import Plan
from lbm.boundaries import FACES, Condition, Enclosure, Solid, kind_of_flow, split_boundaries
from lbm.boundaries.sponge import Sponge
from lbm.callbacks import SteadyState
from lbm.collisions import DEFAULT, OPERATORS, make_collision
from lbm.collisions.automatic import AUTO, choose_automatically
from lbm.collisions.operator import Collision
from lbm.collisions.stability_map import FlowKind
from lbm.lattices import DEFAULT as DEFAULT_LATTICE
from lbm.lattices import LATTICES
from lbm.lattices.extent import Triple
from lbm.lattices.precision import AUTO_STATE, DTYPES, STATES
from lbm.lattices.streaming_patterns import PATTERNS


@dataclass(frozen=True)
class Case:
    """A case file in lattice units.

    Attributes
    ----------
    file : path of the file
    title : of the case
    steps : number of steps
    scales : conversion from and to SI
    arguments : those of `Simulation`
    outputs : Outputs
    steady : stops the run at the steady state, or None
    tunnel : settings of a wind tunnel, or None
    """

    file: Path
    title: str
    steps: int
    scales: Scales
    outputs: Outputs
    steady: SteadyState | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tunnel: Plan | None = None


def read_case(path: Path, steps: int | None = None) -> Case:
    """Read a case file; `docs/packages/lbm-cases.md` describes its keys.

    `steps` replaces the file's number of steps. A run that is shorter than the file's may leave
    tables without a row, which the file's own may not.

    Raises
    ------
    OSError : the file cannot be read
    ValueError : it has an unknown key, or a bad or missing value; the message names the key
    """
    case = read_toml(path)
    title = case.text("title", path.stem)
    numerics = _read_numerics(case)
    tunnel = read_tunnel(case, numerics)
    if tunnel is None:
        shape = _read_shape(case)
        scales = read_scales(case)
        own_steps = _read_steps(case, scales)
        arguments = _read_flow(case, Reader(shape, scales))
    else:
        shape, scales = tunnel.shape, scales_of(tunnel)
        has_end = "time" in case or "steps" in case
        own_steps = _read_steps(case, scales) if has_end else steps_of(tunnel)
        arguments = tunnel.arguments
    arguments = {"shape": shape, **arguments, **numerics, **_read_devices(case)}
    boundaries, scalars = arguments["boundaries"], arguments.get("scalars", {})
    try:
        enclosure = Enclosure(shape, *split_boundaries(boundaries))
    except ValueError as error:
        raise ValueError(f"{case.file}: {error}") from None
    outputs = read_outputs(case, CaseFlow(enclosure, scales, scalars, own_steps))
    if tunnel is not None and outputs.forces is None:
        every = min(own_steps, tunnel.sample_every)
        forces = ForceTable(("body",), scales, every, force_scales_of(tunnel))
        outputs = replace(outputs, forces=forces)
    longest = max(own_steps, steps or 0)
    for key, value in outputs.find_unsampled(longest).items():
        noun = "sample" if "statistics" in key else "row"
        raise case.error(key, f"leaves no {noun} in {longest} steps, got {value}: lower it")
    steady = _read_stop(case)
    case.finish()
    return Case(path, title, steps or own_steps, scales, outputs, steady, arguments, tunnel)


def _read_flow(case: Table, reader: Reader) -> dict[str, Any]:
    """Read what a flow consists of, as arguments of `Simulation`."""
    boundaries = read_boundaries(case, reader)
    kind = kind_of_flow(_conditions(boundaries))
    fluid = _read_fluid(case, reader.scales, kind)
    if fluid["collision"].stability_limit(kind) is not None:  # an operator with a known limit
        reader.scales.require_stable(case.file, kind)
    return {
        "boundaries": boundaries,
        "sponges": read_sponges(case, reader),
        "scalars": read_scalars(case, reader),
        **fluid,
        **_read_start(case, reader),
    }


def _read_shape(case: Table) -> Triple:
    x, y, z = case.vector("shape")
    if min(x, y, z) < 1 or any(n != int(n) for n in (x, y, z)):
        raise case.error("shape", f"must hold three positive integers, got {case.take('shape')!r}")
    return int(x), int(y), int(z)


def _read_steps(case: Table, scales: Scales) -> int:
    if "time" not in case:
        return case.integer("steps", least=1)
    if "steps" in case:
        raise case.error("time", "and steps are the same: remove one of them")
    if scales.units is None:
        raise case.error("time", "is in seconds and needs [units]: use steps instead")
    return scales.steps(case.positive("time"))


def _conditions(boundaries: Mapping[str, Condition | Solid]) -> list[Condition]:
    """Return the conditions of faces and solids; a face without one is periodic."""
    return [value.condition if isinstance(value, Solid) else value for value in boundaries.values()]


def _read_fluid(case: Table, scales: Scales, kind: FlowKind) -> dict[str, Any]:
    """Read [fluid]: the collision operator and the body force.

    With [units] the speed is known, and with it the parameters of the operator that suit the flow.
    """
    fluid = case.table("fluid", {} if scales.units is not None else None)
    if fluid is None:
        raise case.error(
            "fluid",
            f"is missing{case.hint_at('fluid')}: write [fluid] with tau or viscosity, or [units]",
        )
    present = [key for key in ("tau", "viscosity") if key in fluid]
    if scales.units is not None:
        if present:
            raise fluid.error(present[0], "follows from [units]: remove it")
        tau = scales.units.tau
    elif len(present) != 1:
        hint = fluid.hint_at("tau", "viscosity") or ": write one of them"
        state = "are both there: remove one" if present else f"are both missing{hint}"
        raise ValueError(f"{fluid.file}: fluid.tau and fluid.viscosity {state}")
    elif present == ["tau"]:
        tau = fluid.number("tau")
    else:
        tau = 0.5 + 3.0 * fluid.positive("viscosity")
    name = fluid.choice("collision", (*OPERATORS, AUTO), DEFAULT)
    force = scales.force(fluid.vector("force", (0.0, 0.0, 0.0)))
    if name == AUTO:
        if scales.units is None:
            raise fluid.error("collision", "= 'auto' needs [units], which give a Reynolds number")
        fluid.finish()
        return {"collision": choose_automatically(tau, scales.cell_reynolds, kind)[0],
                "force": force}  # fmt: skip
    suited = OPERATORS[name].suited_to(tau, scales.cell_reynolds, kind) if scales.units else None
    parameters = _read_parameters(fluid, name, suited)
    fluid.finish()
    try:
        return {"collision": make_collision(name, tau, **parameters), "force": force}
    except ValueError as error:
        raise ValueError(f"{fluid.file}: fluid.{error}") from None


def _read_parameters(fluid: Table, name: str, suited: Collision | None) -> dict[str, Any]:
    """Read the parameters of the operator `name`; refuse those that only others have.

    Their defaults are those of `suited`, if the operator that suits the flow is known.
    """
    parameters = OPERATORS[name].parameters()
    if suited is not None:
        parameters = {key: getattr(suited, key) for key in parameters}
    for other, operator in OPERATORS.items():
        for key in operator.parameters().keys() - parameters.keys():
            if key in fluid:
                raise fluid.error(
                    key, f"is a parameter of {other!r}: remove it, or use collision = {other!r}"
                )
    return {
        key: (fluid.integer if isinstance(default, int) else fluid.number)(key, default)
        for key, default in parameters.items()
    }


def _read_start(case: Table, reader: Reader) -> dict[str, Any]:
    """Read [initial]: density and velocity, as numbers or in files."""
    start, scales = case.table("initial", {}), reader.scales
    is_file = isinstance(start.take("rho", None), str)
    rho: Any = read_array(start, "rho", reader.shape) if is_file else reader.read_density(start)
    u: Any = (0.0, 0.0, 0.0)
    if isinstance(start.take("u", None), str):
        u = read_array(start, "u", (3, *reader.shape)) * scales.speed(1.0)
    elif "u" in start:
        u = scales.velocity(start.vector("u"))
    start.finish()
    return {"rho": rho, "u": u}


@dataclass(frozen=True)
class Numerics:
    """Precision, lattice, streaming pattern and checks; arguments of `Simulation`."""

    dtype: str = field(default="float32", metadata={"choices": ("float32", "float64")})
    storage: str | None = field(default=None, metadata={"choices": DTYPES})
    state: str = field(default="populations", metadata={"choices": (*STATES, AUTO_STATE)})
    lattice: str = field(default=DEFAULT_LATTICE, metadata={"choices": LATTICES})
    pattern: str = field(default="esoteric", metadata={"choices": PATTERNS})
    check: int = 500
    keep_good_state: bool = True


def _read_numerics(case: Table) -> dict[str, Any]:
    """Read [numerics], in which nothing depends on the shape or on units."""
    numerics = Reader((1, 1, 1), Scales(None)).read(case.table("numerics", {}), Numerics)
    return {name: value for name, value in vars(numerics).items() if value is not None}


def _read_devices(case: Table) -> dict[str, Any]:
    """Read [devices]: devices, the CPU's share beside a GPU, and the decomposition."""
    table = case.table("devices", {})
    device = table.take("device", None)
    names = device if isinstance(device, list) else [device]
    if not names or not all(isinstance(n, str) for n in names if device is not None):
        raise table.error(
            "device", f"must be a text such as 'cuda' or a list of them, got {device!r}"
        )
    is_automatic = table.take("ratio", 0.0) == "auto"
    ratio = "auto" if is_automatic else table.in_range("ratio", 0.0, 1.0, 0.0)
    grid = table.take("decomposition", "auto")
    if grid != "auto":
        numbers = table.vector("decomposition")
        if min(numbers) < 1 or any(n != int(n) for n in numbers):
            raise table.error("decomposition", f"must hold positive integers, got {grid!r}")
        grid = tuple(map(int, numbers))
    table.finish()
    return {"device": device, "ratio": ratio, "decomposition": grid}


def _read_stop(case: Table) -> SteadyState | None:
    """Read [stop]: the steady state at which the run ends."""
    table = case.table("stop", None)
    if table is None:
        return None
    tolerance, every = table.in_range("tolerance", 1e-15, 0.999), table.integer("every", 1000, 1)
    table.finish()
    return SteadyState(tolerance, every)


def read_sponges(case: Table, reader: Reader) -> dict[str, Sponge]:
    """Read [sponges] as the argument `sponges` of a simulation: numbers of cells, or tables."""
    table, sponges = case.table("sponges", {}), {}
    note = "" if reader.scales.units is None else " (in cells and steps)"
    for face in (face for face in FACES if face in table):
        inner = table.take(face)
        if not isinstance(inner, dict):
            table.integer(face)
            inner = {"cells": inner}
        sponges[face] = reader.read(Table(inner, case.file, table.full_name(face)), Sponge, note)
    table.finish()
    return sponges


def read_scalars(case: Table, reader: Reader) -> dict[str, Scalar]:
    """Read [scalars] as the argument `scalars` of a simulation."""
    return {
        name: reader.read(table, Scalar, boundaries=_read_boundaries(table, reader))
        for name, table in case.tables("scalars")
    }


def _read_boundaries(table: Table, reader: Reader) -> dict[str, ScalarCondition]:
    """Read a table of conditions: a number is a fixed value."""
    conditions: dict[str, ScalarCondition] = {}
    inner = table.table("boundaries", {})
    for key in inner.keys():  # noqa: SIM118 - a method of Table
        if not isinstance(inner.take(key), dict):
            conditions[key] = FixedValue(inner.number(key))
            continue
        condition = inner.table(key)
        if ("value" in condition) == ("flux" in condition):
            raise condition.error("value", "or flux is needed, and only one of them")
        kind = FixedValue if "value" in condition else FixedFlux
        conditions[key] = reader.read(condition, kind)
    return conditions
