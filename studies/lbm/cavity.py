"""The lid-driven cavity at Reynolds number 1000 in time: figure 16.1 of Riesinger (2017).

The figure shows 384^3 cells after 3840, 11,520 and 46,080 steps of 1/3840 s, when the lid has moved
by 1, 3 and 12 edges of the box. The steps grow with the edge: 384^3 cells are 2.6e12 updates, two
minutes on an H200, for a flow that 192^3 cells show as well in seven seconds. A GPU takes these, a
CPU 64^3; `--size 384` takes as many as published. Here the box is not divided: results do not
depend on how it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lbm.flows import cavity
from lbm.flows.results import CAVITY_RE1000
from studies.study import Study

REYNOLDS, SPEED = 1000.0, 0.1
"""Reynolds number, and speed of the lid in cells/step, as published."""

TURNS = (1, 3, 12)
"""Edges by which the lid has moved when the flow is drawn."""

CELLS = {"cuda": 192, "cpu": 64}
"""Cells of the edge; the study's smallest size has too few for the published Reynolds number."""

QUICK_CELLS, QUICK_REYNOLDS = 12, 100.0


def run(study: Study) -> dict:
    """Draw the flow in the middle plane at three times, and tabulate speeds and energies."""
    n, reynolds = study.size or CELLS[study.device.kind], REYNOLDS
    if study.quick:
        n, reynolds = QUICK_CELLS, QUICK_REYNOLDS
    flow = cavity(n, reynolds=reynolds, speed=SPEED, device=study.device)
    figure = study.figure((13.0, 4.2))
    rows = []
    for ax, turns in zip(figure.subplots(1, len(TURNS)), TURNS, strict=True):
        flow.run(round(turns * n / SPEED) - flow.steps)
        u = np.asarray(flow.u) / SPEED
        rows.append((flow.steps, turns, *measure(u)))
        _draw(ax, u[:2, :, :, n // 2], f"step {flow.steps:,}, lid moved by {turns} L")
    study.save(figure, "lbm-cavity.png")
    heads = (
        *("steps", "edges of the lid", "energy, % of the lid's", "mean speed"),
        *("lowest u on the centre line", "lowest v in the middle plane"),
    )
    title = f"Cavity at Re = {reynolds:g}, {n}^3 cells; speeds in units of the lid's"
    study.table(title, heads, rows)
    return {
        "cells": n,
        "reynolds": reynolds,
        "rows": rows,
        "lowest u of the steady flow (Albensoeder and Kuhlmann 2005)": float(
            CAVITY_RE1000[:, 1].min()
        ),
    }


def measure(u: np.ndarray) -> tuple[float, float, float, float]:
    """Return energy in %, mean speed, and the lowest u and v, for velocities over the lid's speed.

    Velocities are an array (3, x, y, z); the lid is at the end of y and moves along x.
    """
    n = u.shape[1]
    squares = (u**2).sum(axis=0)
    middle = slice((n - 1) // 2, n // 2 + 1)
    centre_line = u[0][middle, :, middle].mean(axis=(0, 2))
    plane = u[1][:, :, middle].mean(axis=2)
    mean_speed = float(np.sqrt(squares).mean())
    return 100 * float(squares.mean()), mean_speed, float(centre_line.min()), float(plane.min())


def _draw(ax: Any, u: np.ndarray, title: str) -> None:
    """Draw speeds by colours, and directions by arrows, in a plane; L is the edge of the box."""
    n = u.shape[1]
    picture = ax.imshow(
        np.hypot(*u).T, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=1, cmap="jet"
    )
    ax.figure.colorbar(picture, ax=ax, shrink=0.8)
    places = np.linspace(0, n - 1, 13).round().astype(int)[:-1] + n // 24
    x = (places + 0.5) / n
    arrows = u[:, places][:, :, places]
    directions = arrows / np.maximum(np.hypot(*arrows), 1e-9)
    ax.quiver(x, x, *directions.transpose(0, 2, 1), color="white", scale=22, width=0.004)
    ax.set(xticks=(), yticks=(), title=title)
