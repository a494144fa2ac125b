"""lbm: ten moments as state on 1, 2, 4, ... GPUs, and with an eddy viscosity on one."""

from __future__ import annotations

import hetero
import lbm
from benchmarks.lbm import seconds_per_step
from benchmarks.measurements import Measurement
from lbm._performance.cavity import TAU, make_walls

STEPS, WALLS = 100, make_walls(0.1)


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure a cavity of the same size for each device, across which z is cut."""
    gpus = [d for d in hetero.available() if d.kind == "cuda"]
    devices = gpus if device.kind == "cuda" else [device] * 2
    n = 16 if quick else 512 if device.kind == "cuda" else 64
    rates: dict[str, float] = {}
    figures = []

    def measure(name: str, collision: lbm.Collision, count: int, state: str) -> None:
        shape = n, n, n * count
        s = lbm.Simulation(
            shape, collision=collision, boundaries=WALLS, state=state, pattern="ab", check=0,
            device=devices[:count] if count > 1 else device, keep_good_state=False,
        )  # fmt: skip
        if count == 1:
            seconds, times = seconds_per_step(s, device, 4)
        else:  # events of one device do not wait for the others

            def hundred_steps() -> None:
                s.advance(100)
                s.domain.synchronize()

            timing = hetero.benchmark(hundred_steps, min_time=0.5)
            seconds, times = timing.median / 100, timing.as_dict()
        rate = n**3 * count / seconds / 1e9
        key = name + state
        peers = {} if key not in rates else {"so many times one": count * rates[key]}
        rates.setdefault(key, rate)
        title = f"cavity {n}^3 a device, float32, {name}, {state}, devices: {count}"
        figures.append(Measurement(title, rate, "GLUPS", peers=peers, timing=times))

    count = 1
    while count <= len(devices):
        measure("recursive", lbm.RecursiveRegularized(TAU), count, "moments")
        count *= 2
    for state in () if quick else ("populations", "moments"):
        operator = lbm.SmagorinskyRecursive(TAU)
        measure("recursive with Smagorinsky's viscosity", operator, 1, state)
    return figures
