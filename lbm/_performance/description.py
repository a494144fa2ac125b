"""Descriptions of machines in JSON files, measured or written by hand.

`docs/packages/lbm-many-devices.md` describes the keys; all times are in seconds.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

from hetero.data_files.atomic_files import replace_atomically
from lbm._io.tables import Table, read_json
from lbm._performance.machine import Axes, Curve, DeviceTimes, Linear, Machine

FORMAT = "lbm machine 1"
"""Value of the key `format`: kind and version of the files."""

ITEM_SIZES = 2, 4, 8
"""Sizes of a population in bytes."""


def write_machine(machine: Machine, path: Path) -> Path:
    """Write the description of a machine, atomically, and return its path."""
    text = json.dumps(describe_machine(machine), indent=1, allow_nan=False)
    with replace_atomically(path) as part:
        part.write_text(text + "\n", encoding="utf-8")
    return path


def describe_machine(machine: Machine) -> dict[str, Any]:
    """Return the description of a machine as JSON writes it."""
    values = dataclasses.asdict(machine)
    devices = {name: values.pop(name) for name in ("gpu", "cpu")}
    described = {name: _describe_device(times) for name, times in devices.items() if times}
    return {"format": FORMAT, **values, **described}


def _describe_device(times: dict[str, Any]) -> dict[str, Any]:
    """Return the times of a device, with the names of axes."""
    halo = {name: dict(zip("xyz", lines, strict=True)) for name, lines in times["halo"].items()}
    layers = dict(zip("xyz", times["layers"], strict=True))
    return {"cells": times["cells"], "layers": layers, "halo": halo, "overhead": times["overhead"]}


def read_machine(path: Path) -> Machine:
    """Read the description of a machine.

    Raises
    ------
    OSError : the file cannot be read
    ValueError : it is no such description; the message names the key
    """
    file = read_json(path)
    if file.take("format", None) != FORMAT:
        raise file.error("format", f"must be {FORMAT!r}, the description of a machine")
    name, itemsize = file.text("name"), file.integer("itemsize")
    if itemsize not in ITEM_SIZES:
        raise file.error("itemsize", f"must be 2, 4 or 8 bytes, got {itemsize}")
    file.take("notes", None)
    gpu, cpu = file.table("gpu", None), file.table("cpu", None)
    if gpu is None and cpu is None:
        raise ValueError(f"{path}: there must be a table gpu or cpu")
    links = file.table("links", {})
    machine = Machine(
        name,
        itemsize,
        None if gpu is None else _read_device(gpu, "cuda"),
        None if cpu is None else _read_device(cpu, "cpu"),
        {key: _read_line(links, key) for key in links.keys()},  # noqa: SIM118  # no mapping
    )
    file.finish()
    return machine


def _read_device(table: Table, kind: str) -> DeviceTimes:
    """Read the times of a device of a kind."""
    halo = table.table("halo", {})
    times = DeviceTimes(
        kind,
        _read_cells(table),
        _read_axes(table, "layers"),
        {name: _read_axes(halo, name) for name in halo.keys()},  # noqa: SIM118  # no mapping
        table.positive("overhead", 0.0, or_zero=True),
    )
    if isinstance(times.cells, Linear) and times.cells.each == 0.0:
        raise table.error("cells.each", "must be positive: the seconds of a cell's update")
    table.finish()
    return times


def _read_cells(table: Table) -> Linear | Curve:
    """Read the times of boxes: a line, or pairs of cells and seconds."""
    cells = table.table("cells")
    if "points" not in cells:
        return _read_line(table, "cells")
    try:
        points = tuple((float(count), float(seconds)) for count, seconds in cells.take("points"))
    except (TypeError, ValueError):
        points = ()
    cells.finish()
    if (
        not points
        or any(c <= 0.0 or t <= 0.0 for c, t in points)
        or any(b <= a for (a, _), (b, _) in itertools.pairwise(points))
    ):
        raise table.error(
            "cells.points", "must be pairs [cells, seconds] of positive numbers, with rising cells"
        )
    return Curve(points)


def _read_axes(table: Table, key: str) -> Axes:
    """Read the times for faces across x, y and z, or one line for all of them."""
    axes = table.table(key)
    if "start" in axes or "each" in axes:
        line = _read_line(table, key)
        return line, line, line
    x, y, z = (_read_line(axes, axis) for axis in "xyz")
    axes.finish()
    return x, y, z


def _read_line(table: Table, key: str) -> Linear:
    line = table.table(key)
    start = line.positive("start", 0.0, or_zero=True)
    each = line.positive("each", 0.0, or_zero=True)
    line.finish()
    return Linear(start, each)
