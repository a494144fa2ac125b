"""Pictures that the site draws from records: the gallery of wind tunnels."""

from __future__ import annotations

import base64
import io
import json
import zlib
from pathlib import Path

import numpy as np

TUNNELS = "benchmarks/records/studies/lbm-tunnels-cpu.json"
"""Record of the study `lbm-tunnels`, relative to the repository."""

SOLID, SPEED_UNIT = 255, 0.01
"""Value of solid cells in a plane, and its unit in speeds of the stream; see the study."""

COLUMNS, FASTEST = 3, 1.4
"""Pictures in a row, and the speed of the brightest colour in speeds of the stream."""


def read_plane(plane: dict) -> np.ndarray:
    """Return the speed [x, z] of a plane of the record over that of the stream; NaN in solids."""
    data = zlib.decompress(base64.b64decode(plane["data"]))
    values = np.frombuffer(data, np.uint8).reshape(plane["shape"])
    return np.where(values == SOLID, np.nan, values * SPEED_UNIT)


def read_gallery(root: Path) -> dict[str, dict]:
    """Return what the record has of each body."""
    gallery: dict[str, dict] = json.loads((root / TUNNELS).read_text())["result"]["gallery"]
    return gallery


def make_tunnels_table(root: Path) -> str:
    """Return the table of the gallery in Markdown."""
    rows = ["| body | cells | domain | drag | lift | blew up |", "|---|---|---|---|---|---|"]
    for name, entry in read_gallery(root).items():
        values = [round(entry[k]["value"], 2) + 0.0 for k in ("drag", "lift") if k in entry]
        forces = f"{values[0]:.2f} | {values[1]:.2f}" if values else " | "
        shape = " x ".join(map(str, entry["shape"]))
        fate = "no" if entry["blew up"] is None else f"step {entry['blew up']}"
        rows.append(f"| {name} | {entry['cells']} | {shape} | {forces} | {fate} |")
    return "\n".join(rows)


def draw_tunnels(root: Path) -> bytes:
    """Return a PNG with the speed around each body of the gallery that did not blow up."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    bodies = {name: entry for name, entry in read_gallery(root).items() if "plane" in entry}
    colours = colormaps["viridis"].with_extremes(bad="#454c56")
    rows = -(-len(bodies) // COLUMNS)
    figure = Figure((12.0, 2.2 * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for panel in panels:
        panel.set_axis_off()
    for panel, (name, entry) in zip(panels, bodies.items(), strict=False):
        speed = read_plane(entry["plane"]).T
        picture = panel.imshow(speed, colours, origin="lower", vmin=0.0, vmax=FASTEST)
        panel.set_title(f"{name}, {entry['cells']} cells", fontsize=9, loc="left")
    figure.colorbar(picture, ax=panels.tolist(), shrink=0.4, label="speed over that of the stream")
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=90)
    return out.getvalue()
