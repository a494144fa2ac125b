"""Measures steps of flows on the ranks or devices that it runs on, for the scaling studies.

`python -m studies.lbm.scaling_worker PATH CASES`, where CASES is a list of `Case`s in JSON, writes
the `Result` of each case to the file PATH.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import hetero
from lbm._coupled.scalars.scalar import FixedValue, Scalar
from lbm._parallel.exchange.transports import TRANSPORT_VARIABLE
from lbm._performance.cavity import TAU, measure_steps
from lbm._performance.model import GPU_TRANSPORTS
from lbm._performance.rank_programs import run_program, write_result
from lbm.boundaries import (
    Condition,
    FreeSlip,
    NonReflectingInlet,
    NonReflectingOutlet,
    NoSlip,
    PressureOutlet,
    Solid,
    VelocityInlet,
)
from lbm.boundaries.sponge import Sponge
from lbm.boundaries.synthetic_eddies import SyntheticEddies
from lbm.collisions import make_collision
from lbm.flows import lid_driven_box
from lbm.geometry.shapes import Sphere
from lbm.launcher import world
from lbm.simulation import Simulation

EDDY_LENGTH = 4.0
"""Integral length in cells of the eddies of a turbulent inlet. The time of a step hardly depends on
it, because each cell of the inlet looks at as many eddies, whatever their size."""


def turbulent_channel(
    shape: tuple[int, int, int], collision: str = "trt", **options: Any
) -> Simulation:
    """Build a square channel along x whose inlet lets synthetic eddies in, 10 % of the speed."""
    eddies = SyntheticEddies((0.05, 0.0, 0.0), intensity=0.1, length=EDDY_LENGTH)
    walls: dict[str, Condition | Solid] = {
        "x-": VelocityInlet(eddies), "x+": PressureOutlet(), "y": NoSlip(), "z": NoSlip(),
    }  # fmt: skip
    operator = make_collision(collision, TAU)
    return Simulation(shape, collision=operator, boundaries=walls, **options)


def heated_box(shape: tuple[int, int, int], collision: str = "trt", **options: Any) -> Simulation:
    """Build a closed box between two walls with temperatures, in which buoyancy drives the flow."""
    temperature = Scalar(
        0.05,
        {"x-": FixedValue(0.5), "x+": FixedValue(-0.5)},
        buoyancy=(0.0, 1e-6, 0.0),
    )
    walls = {"x": NoSlip(), "y": NoSlip(), "z": NoSlip()}
    return Simulation(
        shape, collision=make_collision(collision, TAU), boundaries=walls,
        scalars={"temperature": temperature}, **options,
    )  # fmt: skip


def stream_past_sphere(
    shape: tuple[int, int, int], collision: str = "trt", **options: Any
) -> Simulation:
    """Build a stream past an interpolated sphere, with ends that do not reflect and a sponge.

    The diameter is an eighth of the width, and the sphere is in the middle of the domain, where
    parts meet.
    """
    nx, ny, nz = shape
    sphere = Solid(Sphere((nx / 4, ny / 2, nz / 2), max(1.5, ny / 16)), wall="interpolated")
    speed = 0.05, 0.0, 0.0
    walls: dict[str, Condition | Solid] = {
        "x-": NonReflectingInlet(speed), "x+": NonReflectingOutlet(), "y": FreeSlip(),
        "z": FreeSlip(), "sphere": sphere,
    }  # fmt: skip
    return Simulation(
        shape, collision=make_collision(collision, TAU), boundaries=walls,
        sponges={"x+": Sponge(max(8, nx // 16), u=speed)}, u=speed, **options,
    )  # fmt: skip


FLOWS: dict[str, Callable[..., Simulation]] = {
    "cavity": lid_driven_box,
    "cavity by moments": partial(lid_driven_box, state="moments"),
    "turbulent inlet": turbulent_channel,
    "heated box": heated_box,
    "stream past a sphere": stream_past_sphere,
}
"""Flows by name: functions of the shape and of the arguments of `Simulation`."""


@dataclass(frozen=True)
class Case:
    """A flow to measure.

    Attributes
    ----------
    shape : cells of the whole domain
    grid : boxes along x, y and z
    dtype, storage, pattern, ratio, lattice : arguments of `Simulation`; a ratio may be "auto"
    devices : devices of one process, or one name for all ranks
    flow : one of FLOWS
    collision : name of the collision operator
    """

    shape: tuple[int, int, int]
    grid: tuple[int, int, int]
    dtype: str = "float32"
    storage: str | None = None
    pattern: str = "esoteric"
    ratio: float | str = 0.0
    devices: str | tuple[str, ...] = "cpu"
    flow: str = "cavity"
    collision: str = "trt"
    lattice: str = "D3Q19"

    @property
    def count(self) -> int:
        """Number of boxes."""
        return int(np.prod(self.grid))


class Result(NamedTuple):
    """The measured values of a case.

    Attributes
    ----------
    seconds : time of a step
    ratio : share of the rows on the CPU
    transport : that between two ranks, or "direct" in a process alone
    """

    seconds: float
    ratio: float
    transport: str


def measure_cases(cases: Sequence[Case], comm: Any) -> list[Result]:
    """Measure a step of each case."""
    results = []
    for case in cases:
        device = case.devices if isinstance(case.devices, str) else list(case.devices)
        simulation = FLOWS[case.flow](
            case.shape, decomposition=case.grid, dtype=case.dtype, storage=case.storage,
            pattern=case.pattern, ratio=case.ratio, comm=comm, device=device, check=0,
            collision=case.collision, lattice=case.lattice,
        )  # fmt: skip
        seconds = measure_steps(simulation)
        results.append(Result(seconds, float(simulation.ratio), _transport_of(simulation)))
        del simulation  # before the next one needs the memory
    return results


def _transport_of(simulation: Simulation) -> str:
    """Return the transport between ranks: that of their GPUs, if their cores use another one."""
    used = simulation.transports
    return next((name for name in (*GPU_TRANSPORTS, "host") if name in used), "direct")


def run_cases(
    cases: Sequence[Case], ranks: int, threads: int | None = None, transport: str | None = None
) -> list[Result]:
    """Measure cases in processes of their own: on several ranks, or in one process for 1.

    `transport` is the only one for the messages between ranks; by default they choose it.
    """
    text = json.dumps([asdict(case) for case in cases])
    environment = {} if transport is None else {TRANSPORT_VARIABLE: transport}
    results = run_program(
        "studies.lbm.scaling_worker", ranks, text, threads=threads, environment=environment
    )
    return [Result(*result) for result in results]


def _parse_case(fields: dict[str, Any]) -> Case:
    """Return a case whose tuples JSON has turned into lists."""
    arguments: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return Case(**arguments)


def main(path: str, text: str) -> None:
    """Measure the cases in JSON and write their results on the first rank."""
    cases = [_parse_case(fields) for fields in json.loads(text)]
    comm = world()
    results = measure_cases(cases, comm)
    if comm is None or comm.rank == 0:
        write_result(path, results)


if __name__ == "__main__":
    os.environ.setdefault("HETERO_NOTICE", "0")
    hetero.available()
    main(*sys.argv[1:])
