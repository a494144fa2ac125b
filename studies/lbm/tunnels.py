"""Wind tunnels with their defaults: which of 14 bodies blow up, and pictures of their wakes.

Without `--size` each body runs at Re 1e5 with as many cells as a few minutes allow, and the record
has the speed in its plane of symmetry, from which the site draws a gallery. With `--size`, the
number of cells of the longest side, bodies and Reynolds numbers from 1e3 to 1e6 run for 20 passages
of the body's length, the highest Reynolds numbers and the cheapest bodies first, as many as fit in
a minute and a half of an H200 (or some minutes on two cores); the table has the cost of all.
"""

from __future__ import annotations

import base64
import math
import time
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from lbm import UnstableError
from lbm._tunnel.plan import Plan, make_plan
from lbm.tunnel import TunnelResult, WindTunnel
from studies.lbm.tunnel_bodies import BODIES
from studies.study import Study

REYNOLDS = 1e6, 1e5, 1e4, 1e3
"""Reynolds numbers of the longest side of a body; the first ones blow up first."""

PASSAGES = 20.0
"""Passages of the body's length in which nothing may blow up."""

BUDGETS = {"cuda": 1.9e12, "cpu": 1.5e10}
"""Cell updates of a call: 95 s at 20e9 a second on an H200, minutes on two cores."""

GALLERY_REYNOLDS, GALLERY_PASSAGES = 1e5, 4.0
GALLERY_CELLS = 64, 48, 32, 28, 24, 20, 16, 12, 10, 8
GALLERY_BUDGETS = {"cuda": 1e11, "cpu": 3e8}
"""Cell updates of each body of the gallery; it has the first of the numbers of cells that fits."""

GRID = (
    "body", "Re", "cells", "1e9 updates", "blew up", "drag", "error", "largest speed", "s",
)  # fmt: skip

SOLID, SPEED_UNIT = 255, 0.01
"""Value of solid cells in the plane of a record, and its unit in speeds of the stream."""


def plan_tunnel(body: str, reynolds: float, cells: int, **settings: Any) -> Plan:
    """Return the settings of a body's tunnel at a Reynolds number of its longest side."""
    mesh, settings = BODIES[body].make(), {**BODIES[body].settings, **settings}
    length = float(np.ptp(mesh.bounds, axis=0).max())
    fluid = {"density": 1.0, "viscosity": length / reynolds}
    return make_plan(mesh, speed=1.0, length=length, cells=cells, fluid=fluid, **settings)


def count_updates(plan: Plan, passages: float) -> float:
    """Return the cell updates until the stream has passed the body so often."""
    return math.prod(plan.shape) * (plan.flush + passages * plan.passage)


def compute(plan: Plan, study: Study, fewest: float, most: float) -> dict[str, Any]:
    """Return forces, y+ and the plane of symmetry, or the step in which the flow blew up."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of coarse bodies, which are meant
        tunnel = WindTunnel(plan, device=study.device, keep_good_state=False)
        try:
            result = tunnel.run(fewest=fewest, most=most)
        except UnstableError as error:
            return {"blew up": error.step, "seconds": time.perf_counter() - begin}
    return {
        "blew up": None, "drag": vars(result.drag), "lift": vars(result.lift),
        "side": vars(result.side), "y+": result.y_plus, "plane": cut_plane(plan, result),
        "fastest": float(abs(result.simulation.u).max()) / plan.lattice_speed,
        "seconds": time.perf_counter() - begin,
    }  # fmt: skip


def cut_plane(plan: Plan, result: TunnelResult) -> dict[str, Any]:
    """Return the speed in the plane y = middle from one width before the body to four behind it.

    It is that of the mean velocity of two steps.

    `data` is base64 of zlib of bytes [x, z]: speeds in SPEED_UNIT, or SOLID.
    """
    s, (low, high) = result.simulation, plan.mesh.bounds
    width = math.sqrt(np.prod((high - low)[1:]))
    first, last = max(0, int(low[0] - width)), min(s.shape[0], int(high[0] + 4.0 * width))
    cells = slice(first, last), s.shape[1] // 2
    before = s.u[:, *cells]
    u = (before + s.run(1).u[:, *cells]) / 2.0  # flows above moving ground alternate
    speed = np.linalg.norm(u, axis=0) / plan.lattice_speed
    values = np.where(s.fluid[cells], np.minimum(speed / SPEED_UNIT, SOLID - 1), SOLID)
    data = base64.b64encode(zlib.compress(values.astype(np.uint8).tobytes(), 9)).decode()
    return {"shape": values.shape, "data": data}


def run(study: Study) -> dict:
    """Compute the gallery, or with a size the grid, and print it."""
    if study.size is None:
        rows: dict[str, Any] = {}
        study.table("Gallery of wind tunnels", GRID, _gallery(study, rows))
        return {"gallery": rows}
    results: list[dict] = []
    title = f"Wind tunnels with their defaults, {study.size} cells"
    study.table(title, GRID, _grid(study, study.size, results))
    count = sum(r["blew up"] is not None for r in results)
    print(f"{count} of {len(results)} flows blew up.")
    return {"grid": results, "blew up": count}


def _row(body: str, reynolds: float, cells: int, updates: float, found: dict) -> tuple:
    """Return a row of the table for what `compute` has returned."""
    drag = found.get("drag", {"value": math.nan, "error": math.nan})
    fate = "no" if found["blew up"] is None else f"step {found['blew up']}"
    return (body, f"{reynolds:.0e}", cells, updates / 1e9, fate, drag["value"], drag["error"],
            found.get("fastest"), found["seconds"])  # fmt: skip


def _gallery(study: Study, results: dict[str, Any]) -> Iterator[tuple]:
    """Yield a row for each body, and collect what is known of it."""
    passages, sizes = (0.3, (8,)) if study.quick else (GALLERY_PASSAGES, GALLERY_CELLS)
    for body in ("cube", "wing") if study.quick else BODIES:
        for cells in sizes:
            plan = plan_tunnel(body, GALLERY_REYNOLDS, cells)
            updates = count_updates(plan, passages)
            if updates <= GALLERY_BUDGETS[study.device.kind] or cells == sizes[-1]:
                break
        found = compute(plan, study, passages, passages)
        results[body] = {"cells": cells, "shape": plan.shape, "area": plan.area, **found}
        yield _row(body, GALLERY_REYNOLDS, cells, updates, found)


def _grid(study: Study, cells: int, results: list[dict]) -> Iterator[tuple]:
    """Yield rows of the grid, those that do not fit in the budget as well."""
    passages, spent = 0.3 if study.quick else PASSAGES, 0.0
    for reynolds in REYNOLDS:
        plans = {body: plan_tunnel(body, reynolds, cells) for body in BODIES}
        for body in sorted(plans, key=lambda body: count_updates(plans[body], passages)):
            updates = count_updates(plans[body], passages)
            if spent + updates > BUDGETS[study.device.kind]:
                yield body, f"{reynolds:.0e}", cells, updates / 1e9, "not run", *[None] * 4
                continue
            spent += updates
            found = compute(plans[body], study, passages, passages)
            found.pop("plane", None)
            results.append({"body": body, "reynolds": reynolds, "cells": cells, **found})
            yield _row(body, reynolds, cells, updates, found)
