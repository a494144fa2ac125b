"""The thesis's figures 16.2, 16.3 and 16.4 on this machine: `python -m lbm study`."""

from __future__ import annotations

import json
from pathlib import Path

import hetero
from lbm.study.measure import flow, glups, rate

DOMAINS = ((64, 64, 64), (128, 128, 128), (256, 256, 256), (384, 384, 384), (512, 512, 128))
"""The thesis's five (section 16.1)."""

BLOCKS = (32, 64, 128, 256, 512)
SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, 1.0)


def run(device: hetero.Device, out: Path, quick: bool) -> list[Path]:
    """Measure, write one JSON file and its pictures; their paths."""
    domains = ((16, 12, 8),) if quick else DOMAINS if device.kind == "cuda" else DOMAINS[:2]
    precisions = ("float32",) if quick else ("float32", "float64")
    found = {
        "facts": hetero.facts(),
        "device": str(device),
        "blocks": blocks(device, domains, precisions),
    }
    files = [_draw(found["blocks"], "threads or tasks of a block", out / "figure-16.2-16.3.png")]
    if device.kind == "cuda":
        found["shares"] = shares(device, domains, precisions)
        files.append(_draw(found["shares"], "share of rows on the CPU", out / "figure-16.4.png"))
    path = out / "study.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    return [path, *files]


def blocks(device, domains, precisions) -> list[dict]:
    """GLUPS and the share of the copy bandwidth over the shape of a block and the domain.

    On the GPU a block has up to so many threads along x; on the CPU it is the tasks of a thread.
    """
    limit, rows = hetero.limits(device).copy, []
    for shape in domains:
        for precision in precisions:
            s = flow(shape, device, precision)
            for block in BLOCKS if device.kind == "cuda" else (1, 2, 4, 8, 16):
                with _block(device, precision, block, s):
                    found = rate(s, device)
                used = found * 1e9 * s.problem.bytes_per_update() / limit
                rows.append({"domain": shape, "precision": precision, "x": block, "glups": found,
                             "bandwidth": used})  # fmt: skip
            del s
    return rows


class _block:
    """Other block sizes while the `with` lasts."""

    def __init__(self, device, precision, block, simulation):
        self.gpu, self.precision, self.block = device.kind == "cuda", precision, block
        self.engine = simulation._domain.engine

    def __enter__(self):
        if self.gpu:
            from lbm import _engine_cuda as module

            self.engine._launches.clear()
            self.before = dict(module.THREADS)
            module.THREADS[self.precision] = self.block
        else:
            from lbm import _engine_cpu as module

            self.before = module.TASKS_PER_THREAD
            module.TASKS_PER_THREAD = self.block
        self.module = module

    def __exit__(self, *_):
        if self.gpu:
            self.module.THREADS.update(self.before)
            self.engine._launches.clear()
        else:
            self.module.TASKS_PER_THREAD = self.before


def shares(device, domains, precisions) -> list[dict]:
    """GLUPS over the CPU's share of the rows."""
    return [
        {"domain": shape, "precision": precision, "x": share,
         "glups": glups(shape, device, precision, ratio=share)}
        for shape in domains
        for precision in precisions
        for share in SHARES
    ]  # fmt: skip


def _draw(rows, label: str, path: Path) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.5), layout="constrained")
    axis = figure.subplots()
    for precision, style in (("float32", "-o"), ("float64", "--s")):
        for shape in dict.fromkeys(tuple(r["domain"]) for r in rows):
            line = [r for r in rows if tuple(r["domain"]) == shape and r["precision"] == precision]
            name = f"{' x '.join(map(str, shape))}, {precision}"
            axis.plot([r["x"] for r in line], [r["glups"] for r in line], style, label=name)
    axis.set(xlabel=label, ylabel="GLUPS", ylim=(0, None))
    axis.legend(fontsize=7)
    figure.savefig(path, dpi=110)
    return path
