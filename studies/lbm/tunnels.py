"""Wind tunnels over a grid of bodies, Reynolds numbers and cells: what blows up, and drags.

Fourteen bodies run with the defaults of `lbm.wind_tunnel` for 20 passages of their length, and the
table says which blow up. Then the drags of bodies with published values are averaged over 10 to 20
passages, with interpolated and with modelled walls. `--size` is the number of cells of a body's
length, by default 24; with more only the drags are computed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from lbm import UnstableError, wind_tunnel
from studies.lbm.tunnel_bodies import BODIES
from studies.study import Study

REYNOLDS = 1e3, 1e4, 1e5, 1e6
"""Reynolds numbers of the longest side of a body."""

LARGEST_GRID = 24
"""Cells up to which the grid is computed: with 48 it takes an hour on a GPU."""

GRID = "body", "Re", "cells", "blew up", "drag", "largest speed", "s"
TITLES = (
    "body", "Re", "wall", "cells", "drag", "error", "published", "deviation (%)", "settled", "s",
)  # fmt: skip

PASSAGES = 20.0
"""Passages of the body's length in which nothing may blow up."""


class Drag(NamedTuple):
    """A published drag coefficient: body, Reynolds number of its longest side, value, source."""

    body: str
    reynolds: float
    value: float
    source: str


DRAGS = (
    Drag("sphere", 1e2, 1.09, "Clift, Grace and Weber 1978"),
    Drag("sphere", 1e4, 0.40, "Achenbach 1972"),
    Drag("sphere", 1e5, 0.47, "Achenbach 1972"),
    Drag("cube", 1e4, 1.05, "Hoerner 1965"),
    Drag("disc", 1e5, 1.17, "Hoerner 1965"),
    Drag("Ahmed 35", 2.8e6, 0.26, "Ahmed, Ramm and Faltin 1984"),
    Drag("Ahmed 25", 2.8e6, 0.285, "Ahmed, Ramm and Faltin 1984"),
)


def compute(body: str, reynolds: float, cells: int, study: Study, **settings: Any) -> dict:
    """Return drag, lift and y+ of a body, or the step in which the flow blew up."""
    mesh, given = BODIES[body].make(), dict(BODIES[body].settings)
    run = {key: settings.pop(key) for key in ("most", "fewest") if key in settings}
    low, high = mesh.bounds
    length = float((high - low).max())
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of coarse bodies, which are meant
        tunnel = wind_tunnel(
            mesh, speed=1.0, length=length, cells=cells, device=study.device,
            fluid={"density": 1.0, "viscosity": length / reynolds}, keep_good_state=False,
            **(given | settings),
        )  # fmt: skip
        facts = {"body": body, "reynolds": reynolds, "cells": cells, "shape": tunnel.plan.shape}
        try:
            result = tunnel.run(**run)
        except UnstableError as error:
            return {**facts, "blew up": error.step, "seconds": time.perf_counter() - begin}
    speed = float(abs(result.simulation.u).max()) / tunnel.plan.lattice_speed
    return {
        **facts, "blew up": None, "drag": vars(result.drag), "lift": vars(result.lift),
        "y+": result.y_plus, "fastest": speed, "seconds": time.perf_counter() - begin,
    }  # fmt: skip


def run(study: Study) -> dict:
    """Compute the grid and the drags, and print both."""
    cells = study.size or (8 if study.quick else 24)
    results: dict[str, list] = {"grid": [], "drags": []}
    if cells <= LARGEST_GRID:
        study.table("Wind tunnels with their defaults", GRID, _grid(cells, study, results["grid"]))
    study.table("Drags", TITLES, _drags(cells, study, results["drags"]))
    return results


def _grid(cells: int, study: Study, results: list[dict]) -> Iterator[tuple]:
    """Yield rows of the grid, and collect its results."""
    passages = 0.3 if study.quick else PASSAGES
    for body in ("cube", "wing") if study.quick else BODIES:
        for reynolds in (1e5,) if study.quick else REYNOLDS:
            r = compute(body, reynolds, cells, study, most=passages, fewest=passages)
            results.append(r)
            fate = "no" if r["blew up"] is None else f"step {r['blew up']}"
            drag = r["drag"]["value"] if "drag" in r else float("nan")
            yield body, f"{reynolds:.0e}", cells, fate, drag, r.get("fastest"), r["seconds"]


def _drags(cells: int, study: Study, results: list[dict]) -> Iterator[tuple]:
    """Yield rows with drags beside published ones, and collect their results."""
    fewest, most = (0.2, 0.5) if study.quick else (10.0, 20.0)
    for drag in DRAGS[1:2] if study.quick else DRAGS:
        for wall in ("interpolated", "modelled") if drag.reynolds > 1e3 else ("interpolated",):
            r = compute(
                drag.body, drag.reynolds, cells, study, wall=wall, most=most, fewest=fewest
            )  # fmt: skip
            results.append({**r, "wall": wall, "published": drag.value})
            found = r.get("drag", {"value": float("nan"), "error": float("nan"), "settled": False})
            deviation = 100.0 * (found["value"] / drag.value - 1.0)
            yield (
                drag.body, f"{drag.reynolds:.1e}", wall, cells, found["value"], found["error"],
                drag.value, deviation, found["settled"], r["seconds"],
            )  # fmt: skip
