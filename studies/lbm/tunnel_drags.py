"""Drags of bodies in wind tunnels with their defaults, beside published ones.

`--size` is the number of cells of the longest side, by default 24, of the square cylinder that of
its side. The cheapest ones run first, for 10 to 20 passages of the body's length, with interpolated
walls and then with modelled ones, as many as fit in a minute and a half of an H200.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from lbm import Box, FreeStream, Simulation, Solid, VremanCentralMoments
from lbm._tunnel.averages import Estimate, average_pairs, estimate_mean
from lbm.callbacks import Every
from lbm.collisions.automatic import WALL_CONSTANT, choose_automatically
from studies.lbm.tunnels import BUDGETS, compute, count_updates, plan_tunnel
from studies.study import Study

TITLES = (
    "body", "Re", "wall", "cells", "1e9 updates", "drag", "error", "published", "deviation (%)",
    "settled", "s",
)  # fmt: skip

SQUARE = "square cylinder"


class Drag(NamedTuple):
    """A published drag coefficient: body, Reynolds number of its longest side, value, source.

    That of the square cylinder is of its side.
    """

    body: str
    reynolds: float
    value: float
    source: str


DRAGS = (
    Drag("sphere", 1e2, 1.09, "Clift, Grace and Weber 1978"),
    Drag("sphere", 1e4, 0.40, "Achenbach 1972"),
    Drag("sphere", 1e5, 0.47, "Achenbach 1972"),
    Drag("cube", 1e4, 1.05, "Hoerner 1965"),
    Drag(SQUARE, 2.2e4, 2.1, "Lyn et al. 1995"),
    Drag("disc", 1e5, 1.17, "Hoerner 1965"),
    Drag("Ahmed 35", 2.8e6, 0.26, "Ahmed, Ramm and Faltin 1984"),
    Drag("Ahmed 25", 2.8e6, 0.285, "Ahmed, Ramm and Faltin 1984"),
)

SQUARE_SHAPE = 17, 2, 13
"""Sides of the domain of the square cylinder in its sides; 5 of them are before it. It is periodic
along the cylinder."""


def run(study: Study) -> dict:
    """Compute the drags and print them beside the published ones."""
    cells = study.size or (8 if study.quick else 24)
    results: list[dict] = []
    study.table(f"Drags, {cells} cells", TITLES, _drags(cells, study, results))
    return {"drags": results}


def _drags(cells: int, study: Study, results: list[dict]) -> Iterator[tuple]:
    """Yield rows with drags beside published ones, and collect their results."""
    fewest, most = (0.2, 0.5) if study.quick else (10.0, 20.0)
    jobs = []
    for drag in DRAGS[3:5] if study.quick else DRAGS:
        for wall in ("interpolated", "modelled")[: 1 if drag.reynolds < 1e3 else 2]:
            plan = None
            if drag.body == SQUARE:
                steps = cells / 0.1 * (SQUARE_SHAPE[0] + 2.0 * most)
                updates = math.prod(SQUARE_SHAPE) * cells**3 * steps
            else:
                # The measured one had a fixed board below it.
                settings = {"ground": "fixed"} if drag.body.startswith("Ahmed") else {}
                plan = plan_tunnel(drag.body, drag.reynolds, cells, wall=wall, **settings)
                updates = count_updates(plan, most)
            jobs.append((wall, updates, drag, plan))
    spent = 0.0
    for wall, updates, drag, plan in sorted(jobs, key=lambda job: job[:2]):
        head = drag.body, f"{drag.reynolds:.1e}", wall, cells, updates / 1e9
        if spent + updates > BUDGETS[study.device.kind]:
            yield *head, None, None, drag.value, None, "not run", None
            continue
        spent += updates
        if plan is None:
            begin = time.perf_counter()
            mean = run_square_cylinder(cells, wall, study.device, most, drag.reynolds)
            found: dict[str, Any] = {"drag": vars(mean), "seconds": time.perf_counter() - begin}
        else:
            found = compute(plan, study, fewest, most)
            found.pop("plane", None)
        results.append({"body": drag.body, "wall": wall, "published": drag.value, **found})
        cd = found.get("drag", {"value": math.nan, "error": math.nan, "settled": "blew up"})
        deviation = 100.0 * (cd["value"] / drag.value - 1.0)
        yield (
            *head,
            cd["value"],
            cd["error"],
            drag.value,
            deviation,
            cd["settled"],
            found["seconds"],
        )


def run_square_cylinder(
    cells: int, wall: str, device: Device, passages: float, reynolds: float
) -> Estimate:
    """Return the drag coefficient of a square cylinder in a stream along x, periodic along y.

    The operator and the ends are those of tunnels; twice `passages` of its side are averaged once
    the stream has passed the domain.
    """
    nx, ny, nz = (cells * n for n in SQUARE_SHAPE)
    front, below = 5.0 * cells, (nz - cells) / 2
    body = Box((front, -1.0, below), (front + cells, ny + 1.0, below + cells))
    stream, tau = FreeStream((0.1, 0.0, 0.0)), 0.5 + 0.3 * cells / reynolds
    collision = choose_automatically(tau, reynolds / cells, "open")[0]
    if wall == "modelled":
        collision = VremanCentralMoments(tau, WALL_CONSTANT)
    s = Simulation(
        (nx, ny, nz), collision=collision,
        boundaries={"x": stream, "z": stream, "body": Solid(body, wall=wall)}, u=(0.1, 0.0, 0.0),
        device=device, keep_good_state=False,
    )  # fmt: skip
    s.run(round(nx / 0.1))
    rows: list[np.ndarray] = []
    every = max(1, cells // 4) | 1  # odd, because forces alternate from step to step
    s.run(
        round(2.0 * passages * cells / 0.1),
        callbacks=[Every(every, lambda s: rows.append(s.force_on("body")))],
    )
    return estimate_mean(average_pairs(np.array(rows))[:, 0] / (0.5 * 0.1**2 * cells * ny))
