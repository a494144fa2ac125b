"""Prediction of the time of a step from times of its operations.

After Riesinger (2017, equations 15.1 to 15.4): the cells beside other boxes are updated first, and
messages travel while the others are updated. Faces across x, y and z have times of their own. Two
things differ from the thesis, because the program does: on a GPU the edges are updated beside the
interior and share its bandwidth; and the host needs time to start all operations of a step, which
limits small boxes, adds to that of messages, and is lost for the cores beside a GPU.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lbm._parallel.partition import Decomposition, cut_rows
from lbm._parallel.parts import edge_thickness
from lbm._performance.machine import DeviceTimes, Machine
from lbm.lattices.extent import Triple

CROSSING = 5
"""Populations of a cell that cross a face in D3Q19."""

GPU_TRANSPORTS = "peer", "device"
"""Transports of messages between the GPUs of two ranks; those between CPUs take "host" instead."""

CPU_MARGIN = 1.25
"""Factor by which the CPU's time counts more when its share beside a GPU is chosen.

Its caches are shared with other programs, so that its time varies more than that of the GPU; and a
share that is too large costs far more than one that is too small.
"""


@dataclass(frozen=True)
class Prediction:
    """The predicted time of a step, in seconds, and what it consists of.

    Attributes
    ----------
    step : the time of a step
    compute : update of all cells of a box
    boundary : update of the cells beside other boxes
    communication : packing, transport and unpacking of all messages of a box
    bottleneck : what limits the step: "cells", "communication", "host", or "cpu" if the CPU's share
        of a box takes longer than the GPU's
    cells : number of cells of all boxes
    """

    step: float
    compute: float
    boundary: float
    communication: float
    bottleneck: str
    cells: int

    @property
    def glups(self) -> float:
        """Updates of all cells in 10^9 per second."""
        return self.cells / self.step / 1e9


def predict_box(
    machine: Machine,
    kind: str,
    box: Triple,
    neighbours: Triple,
    transport: str,
    rows_beside: bool = False,
) -> Prediction:
    """Predict a step of one box on one device.

    Parameters
    ----------
    machine : Machine
    kind : {"cpu", "cuda"}
    box : number of cells along x, y and z
    neighbours : number of other boxes beside it along each axis, 0 to 2
    transport : that of the messages; see `Simulation.transports`
    rows_beside : whether the other device of a rank has the rows beside this box
    """
    device, cells = machine.device(kind), box[0] * box[1] * box[2]
    areas = [cells // n for n in box]
    packing = links = 0.0
    for axis, count in enumerate(neighbours):
        if count:
            size = CROSSING * machine.itemsize * areas[axis]
            packing += count * device.packing(transport)[axis](size)
            links += machine.link(transport)(size)
    if rows_beside and kind == "cuda":  # the GPU copies both ways; the CPU only waits
        packing += 2 * device.packing("mapped")[1](CROSSING * machine.itemsize * areas[1])
    faces = neighbours[0], neighbours[1] + rows_beside, neighbours[2]
    boundary = sum(
        count * device.layers[axis](areas[axis]) for axis, count in enumerate(faces) if count
    )
    compute, exchange, start = device.cells(cells), boundary + packing + links, 0.0
    if kind == "cuda":
        # The host waits for messages of other ranks before it starts the operations of a step.
        if any(neighbours) and transport != "direct":
            start = device.overhead
        times = {
            "cells": compute + _edge_costs(device, machine.itemsize, cells, areas, faces),
            "communication": start + exchange,
            "host": device.overhead if any(faces) else 0.0,
        }
    else:
        # One thread starts the operations of the GPU, and then lets the cores update their cells.
        if rows_beside:
            start = machine.device("cuda").overhead
        layers = sum(count * area for count, area in zip(faces, areas, strict=True))
        interior = device.cells(max(0, cells - layers))
        # Only the transport is hidden: the cores pack and unpack themselves.
        times = {"cells": start + boundary + interior + packing, "communication": start + exchange}
    bottleneck = max(times, key=lambda name: times[name])
    step = times[bottleneck]
    if bottleneck == "communication" and start > exchange:
        bottleneck = "host"
    return Prediction(step, compute, boundary, packing + links, bottleneck, cells)


def _edge_costs(
    device: DeviceTimes, itemsize: int, cells: int, areas: Sequence[int], faces: Triple
) -> float:
    """Return what the edges of a box on a GPU cost beyond as many cells of its interior.

    Both share the GPU's bandwidth, of which the edges across x use more: they are columns.
    """
    seconds = 0.0
    for axis, (layer, area, count) in enumerate(zip(device.layers, areas, faces, strict=True)):
        width = edge_thickness(axis, device.kind, lanes=2 if itemsize == 2 else 1)
        seconds += count * area * max(0.0, layer.each - width * device.cells.slope(cells))
    return seconds


def predict_step(
    machine: Machine,
    shape: Triple,
    decomposition: Decomposition,
    *,
    kind: str = "cuda",
    ratio: float = 0.0,
    transport: str = "host",
    periodic: tuple[bool, bool, bool] = (False, False, False),
) -> Prediction:
    """Predict a step of a whole domain: that of its slowest box.

    Parameters
    ----------
    machine : Machine
    shape : cells of the domain
    decomposition : its boxes, one for each rank or device
    kind : device of each box
    ratio : share of the rows of each box that the CPU computes beside a GPU
    transport : of the messages between boxes
    periodic : whether the ends of each axis are neighbours
    """
    grid, bounds = decomposition.grid, decomposition.bounds(shape)
    largest = [max(b - a for a, b in itertools.pairwise(x)) for x in bounds]
    around = [
        0 if n == 1 else 2 if n > 2 or wraps else 1 for n, wraps in zip(grid, periodic, strict=True)
    ]
    box, neighbours = (largest[0], largest[1], largest[2]), (around[0], around[1], around[2])
    cells = shape[0] * shape[1] * shape[2]
    rows = cut_rows(box[1], ratio) if kind == "cuda" else 0
    if rows == box[1]:
        slowest = predict_box(machine, "cpu", box, neighbours, _without_gpu(transport))
    elif rows == 0:
        slowest = predict_box(machine, kind, box, neighbours, transport)
    else:
        parts = _predict_both(machine, box, rows, neighbours, transport)
        slowest = max(parts, key=lambda part: part.step)
        if slowest is parts[1]:
            slowest = replace(slowest, bottleneck="cpu")
    return replace(slowest, cells=cells)


def _predict_both(
    machine: Machine, box: Triple, rows: int, neighbours: Triple, transport: str
) -> tuple[Prediction, Prediction]:
    """Predict the steps of a GPU and of a CPU that has some of the rows of their box."""
    x, y, z = neighbours
    beside = x, (y + 1) // 2, z
    gpu_box, cpu_box = (box[0], box[1] - rows, box[2]), (box[0], rows, box[2])
    return (
        predict_box(machine, "cuda", gpu_box, beside, transport, rows_beside=True),
        predict_box(machine, "cpu", cpu_box, beside, _without_gpu(transport), rows_beside=True),
    )


def _without_gpu(transport: str) -> str:
    """Return the transport between CPUs whose GPUs use a transport."""
    return "host" if transport in GPU_TRANSPORTS else transport


def best_ratio(machine: Machine, shape: Triple, min_speedup: float = 1.02) -> float:
    """Return the best share of the rows for the CPU beside one GPU; 0 unless a split pays.

    `min_speedup` is the predicted speed-up that a split must reach, with CPU_MARGIN: about the
    spread of the measured times.
    """
    alone = (0, 0, 0)
    times = [predict_box(machine, "cuda", shape, alone, "host").step]
    for rows in range(1, shape[1]):
        gpu, cpu = _predict_both(machine, shape, rows, alone, "host")
        times.append(max(gpu.step, CPU_MARGIN * cpu.step))
    times.append(predict_box(machine, "cpu", shape, alone, "host").step)
    best = min(range(len(times)), key=times.__getitem__)
    return best / shape[1] if times[0] > min_speedup * times[best] else 0.0
