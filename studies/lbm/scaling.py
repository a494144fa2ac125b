"""Weak and strong scaling over ranks and devices, beside the predictions of the model.

Riesinger (2017), figures 16.5 to 16.12 and 16.14, and table 16.2, on this machine: ranks of its CPU
cores or GPUs, which this program starts itself, and one process with several GPUs.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import hetero
from hetero.display.figures import PALETTE
from lbm._parallel.partition import Decomposition, choose_decomposition
from lbm._performance.cavity import cavity_problem
from lbm._performance.machine import Machine
from lbm._performance.measurement import measure_machine
from lbm._performance.model import CROSSING, Prediction, predict_step
from lbm.lattices.extent import Triple
from lbm.lattices.precision import PRECISIONS
from lbm.launcher import can_start_ranks
from studies.lbm.scaling_worker import Case, Result, run_cases
from studies.study import Study

DIRECTIONS = "x", "y", "z", "all"
"""Axes along which boxes are added; "all" takes the cheapest faces."""

MODES = "ranks", "host", "process", "alone"
"""Ways to compute the boxes.

"ranks" have a box each, "host" are ranks whose messages go through host memory, as those to another
host do, one "process" has all boxes, and "alone" is a single box.
"""


class Setting(NamedTuple):
    """A series of measurements: domains of one size on 1, 2, 4, ... boxes.

    Attributes
    ----------
    shape : cells of a box (weak scaling) or of the domain (strong scaling)
    precision : name of a precision
    pattern : streaming pattern
    directions : some of DIRECTIONS
    flow, collision, lattice : those of the cases (`scaling_worker.Case`)
    """

    shape: Triple
    precision: str
    pattern: str
    directions: tuple[str, ...]
    flow: str = "cavity"
    collision: str = "trt"
    lattice: str = "D3Q19"

    @property
    def is_modelled(self) -> bool:
        """Whether the performance model describes it: the cavity of TRT on the lattice D3Q19."""
        return (self.flow, self.collision, self.lattice) == ("cavity", "trt", "D3Q19")

    @property
    def label(self) -> str:
        """Words for the table."""
        return f"{self.flow}, {self.collision}, {self.lattice}"


FEATURES = (
    {"collision": "smagorinsky"},
    {"collision": "vreman"},
    {"collision": "central-moments"},
    {"flow": "cavity by moments", "collision": "recursive"},
    {"lattice": "D3Q27"},
    {"flow": "turbulent inlet"},
    {"flow": "heated box"},
    {"flow": "stream past a sphere"},
)
"""What series of weak scaling differ in from the cavity of TRT on D3Q19: more arithmetic beside the
same messages, moments of the layers at the faces instead of populations, messages of their own
(velocities for Vreman's model, a population of each scalar), longer messages (9 populations of a
cell instead of 5), an inlet that each device computes as a whole, and kernels between two steps
(scalars, sponges, ends that do not reflect, interpolated walls)."""

FEATURE_BOX = 512, 512, 128
"""Cells of a box on a GPU in the series of FEATURES: a quarter of a cube, because the host takes
seconds to prepare a cube, longer than the steps that are measured, and because messages that a
thin box hides are hidden by a thick one, too."""


def feature_settings(shape: Triple) -> list[Setting]:
    """Return a series for each of FEATURES."""
    return [Setting(shape, "float32", "esoteric", ("z",), **feature) for feature in FEATURES]


def settings(study: Study, weak: bool) -> list[Setting]:
    """Return the series of a study on its device."""
    if study.quick:
        tiny = (16, 12, 8)
        return [Setting(tiny, "float32", "esoteric", ("z",))]
    if study.device.kind == "cpu":
        shape = (64, 64, 64) if weak else (96, 96, 96)
        return [Setting(shape, p, "esoteric", DIRECTIONS) for p in ("float32", "float64")]
    thesis = [Setting((512, 512, 128), "float64", "esoteric", DIRECTIONS)]
    cube, faces = (512, 512, 512), ("z",)
    large = [Setting(cube, "float32", pattern, faces) for pattern in ("ab", "esoteric")]
    if not weak:
        small = [Setting((256, 256, 256), "float32", p, faces) for p in ("ab", "esoteric")]
        return [*thesis, *large, *small]
    others = [Setting(cube, form, "ab", faces) for form in ("float16", "float64")]
    return [*thesis, *large, *others]


def box_counts(study: Study) -> list[int]:
    """Return 1, 2, 4, ... up to the number of GPUs, or of cores (at least 2)."""
    if study.device.kind == "cuda":
        most = sum(device.kind == "cuda" for device in hetero.available())
    else:
        most = max(2, min(8, hetero.threads()))
    return [1 << k for k in range(most.bit_length()) if 1 << k <= most]


def modes(study: Study) -> list[str]:
    """Return those of MODES in which several boxes can be computed here."""
    if study.device.kind == "cpu":
        return ["ranks"] if _has_launcher() else []
    return ["ranks", "host", "process"] if _has_launcher() else ["process"]


@functools.cache
def _has_launcher() -> bool:
    """Return whether several ranks can be started; say so once if they cannot."""
    return can_start_ranks("no measurements with several ranks")


def grid_of(direction: str, count: int, shape: Triple) -> Triple:
    """Return the grid of `count` boxes along an axis, or with the cheapest faces."""
    if direction == "all":
        return choose_decomposition(shape, count).grid
    x, y, z = (count if axis == direction else 1 for axis in "xyz")
    return x, y, z


def make_case(setting: Setting, grid: Triple, weak: bool, devices: str | tuple[str, ...]) -> Case:
    """Return the case of a series for a grid of boxes."""
    x, y, z = (n * (count if weak else 1) for n, count in zip(setting.shape, grid, strict=True))
    form = PRECISIONS[setting.precision].arguments
    return Case((x, y, z), grid, form["dtype"], form.get("storage"), setting.pattern,
                devices=devices, flow=setting.flow, collision=setting.collision,
                lattice=setting.lattice)  # fmt: skip


class Run(NamedTuple):
    """A case of a series, and in which of MODES it is measured."""

    setting: Setting
    mode: str
    case: Case


def plan_runs(study: Study, weak: bool, series: Sequence[Setting]) -> list[Run]:
    """Return all runs of some series."""
    runs = []
    for setting in series:
        runs.append(Run(setting, "alone", make_case(setting, (1, 1, 1), weak, str(study.device))))
        for mode in modes(study):
            if mode == "host" and not setting.is_modelled:
                continue  # the cavities show what this transport costs
            for count in box_counts(study)[1:]:
                devices = study.device.kind if mode != "process" else tuple(
                    f"cuda:{k}" for k in range(count)
                )  # fmt: skip
                # The other modes differ from ranks in the transport: one direction shows it.
                directions = setting.directions if mode == "ranks" else ("z",)
                grids = {grid_of(d, count, setting.shape) for d in directions}
                runs += [
                    Run(setting, mode, make_case(setting, grid, weak, devices))
                    for grid in sorted(grids)
                ]
    return runs


def threads_of_rank(study: Study) -> int | None:
    """Return the CPU threads of a rank, however many ranks there are; None beside GPUs."""
    if study.device.kind == "cuda":
        return None
    return max(1, hetero.threads() // box_counts(study)[-1])


def measure_runs(study: Study, runs: Sequence[Run]) -> Iterator[tuple[Run, Result]]:
    """Measure all runs; those with as many ranks and the same transport share processes.

    Those in one process come first, among them those on one box.
    """
    threads = threads_of_rank(study)
    groups: dict[tuple[int, str | None], list[Run]] = {}
    for run in runs:
        ranks = run.case.count if run.mode in ("ranks", "host") else 1
        groups.setdefault((ranks, "host" if run.mode == "host" else None), []).append(run)
    for ranks, transport in sorted(groups, key=lambda key: key[0]):
        group = groups[ranks, transport]
        measured = run_cases([run.case for run in group], ranks, threads, transport)
        yield from zip(group, measured, strict=True)


@functools.cache  # weak and strong scaling share domains
def measure_setting(
    shape: Triple, pattern: str, precision: str, kind: str, threads: int | None
) -> Machine:
    """Return the times of the model for a box, with as many CPU threads as a rank has."""
    problem = cavity_problem(shape, pattern, PRECISIONS[precision])
    devices = [device for device in hetero.available() if device.kind == kind]
    with hetero.use_threads(threads or hetero.threads()):
        return measure_machine(problem, devices, links=_has_launcher(), cpu_beside=False)


class Measurement(NamedTuple):
    """A run, what was measured, and what the model predicts.

    Attributes
    ----------
    run : the run
    seconds : of a step
    efficiency : rate of a box over that of the domain on one box
    predicted : the prediction of the model; None for a flow that it does not describe
    """

    run: Run
    seconds: float
    efficiency: float
    predicted: Prediction | None

    @property
    def series(self) -> tuple[str, ...]:
        """Labels that all runs of a curve share: cells, numbers, pattern, mode and cut axes."""
        setting, grid = self.run.setting, self.run.case.grid
        axes = "".join(axis for axis, n in zip("xyz", grid, strict=True) if n > 1)
        return _join(setting.shape), setting.precision, setting.pattern, self.run.mode, axes

    @property
    def glups(self) -> float:
        """Updates of all cells in 10^9 per second."""
        return int(np.prod(self.run.case.shape)) / self.seconds / 1e9

    def row(self) -> list[Any]:
        """Return the row of the table, without the prediction of a flow that has none."""
        *labels, _ = self.series
        row = [*labels, _join(self.run.case.grid), self.seconds * 1e3, self.glups, self.efficiency]
        if self.predicted is None:
            return [self.run.setting.label, *row]
        step = self.predicted.step
        return [*row, step * 1e3, step / self.seconds - 1.0, self.predicted.bottleneck]


def _join(numbers: Triple) -> str:
    return "x".join(map(str, numbers))


def _predict(run: Run, transport: str, machine: Machine, kind: str) -> Prediction:
    """Return what the model says about a run on devices of a kind."""
    grid = Decomposition(run.case.grid)
    return predict_step(machine, run.case.shape, grid, kind=kind, transport=transport)


def _face_rows(setting: Setting, machine: Machine, kind: str) -> list[list[Any]]:
    """Return the times of the faces of a box by each transport, as the model uses them."""
    device, rows = machine.device(kind), []
    for axis, name in enumerate("xyz"):
        cells = setting.shape[0] * setting.shape[1] * setting.shape[2] // setting.shape[axis]
        size = CROSSING * machine.itemsize * cells
        times = [
            (device.halo[way][axis](size) + machine.link(way)(size)) * 1e6
            if way in device.halo and (way == "direct" or way in machine.links) else None
            for way in FACE_TRANSPORTS
        ]  # fmt: skip
        rows.append([_join(setting.shape), setting.precision, name, size / 1e6, *times])
    return rows


FACE_TRANSPORTS = "direct", "peer", "host"
"""Transports whose times a study shows; see `Simulation.transports`."""

MEASURED = (
    "cells", "precision", "pattern", "mode", "boxes", "step in ms", "GLUPS", "efficiency",
)  # fmt: skip
HEADS = (*MEASURED, "predicted step in ms", "error of the prediction", "bottleneck")


def run_scaling(study: Study, weak: bool) -> dict:
    """Measure all series of weak or of strong scaling."""
    title, measurements, faces = "Weak" if weak else "Strong", [], []
    runs = plan_runs(study, weak, settings(study, weak))
    results = dict(measure_runs(study, runs))
    kind, threads = study.device.kind, threads_of_rank(study)
    for run in runs:
        s = run.setting
        if run.mode == "alone":  # the first of its series
            alone = results[run].seconds
            machine = measure_setting(s.shape, s.pattern, s.precision, kind, threads)
            faces += _face_rows(s, machine, kind)
        seconds, _, transport = results[run]
        efficiency = alone / seconds / (1 if weak else run.case.count)
        predicted = _predict(run, transport, machine, kind)
        measurements.append(Measurement(run, seconds, efficiency, predicted))
    figures = "16.5 to 16.8 and table 16.2" if weak else "16.9 to 16.12"
    rows = [measurement.row() for measurement in measurements]
    study.table(f"{title} scaling (Riesinger 2017, figures {figures})", HEADS, rows)
    if weak:
        columns = [f"{transport} in us" for transport in FACE_TRANSPORTS]
        heads = ["cells", "precision", "across", "MB each way", *columns]
        study.table(
            "Faces of boxes: direct copies, else packing, message and unpacking", heads, faces
        )
    return {"picture": str(_draw(study, measurements, f"{title.lower()}-scaling.png"))}


def run_features(study: Study) -> dict:
    """Measure weak scaling of other operators, lattices and inlets than those of the cavity."""
    shape = FEATURE_BOX
    if study.quick or study.device.kind == "cpu":
        shape = (16, 12, 8) if study.quick else (64, 64, 64)
    series = feature_settings(shape)[-3:] if study.quick else feature_settings(shape)
    runs = plan_runs(study, True, series)
    heads = ["flow", *MEASURED]
    study.table("Weak scaling of other operators, lattices and inlets", heads, _rows(study, runs))
    return {}


def _rows(study: Study, runs: Sequence[Run]) -> Iterator[list[Any]]:
    """Yield the rows of runs that have no prediction, as they are measured."""
    alone: dict[Setting, float] = {}
    for run, result in measure_runs(study, runs):
        if run.mode == "alone":
            alone[run.setting] = result.seconds
        yield Measurement(run, result.seconds, alone[run.setting] / result.seconds, None).row()


LINES = {"x": ":", "y": "-.", "z": "-"}
"""Line styles of the curves with cuts across one axis; other cuts are dashed."""

MARKERS = {"ranks": "o", "host": "^", "process": "s", "alone": "D"}
"""Markers of the measured values by mode."""


def _draw(study: Study, measurements: Sequence[Measurement], name: str) -> Path:
    """Draw measured and predicted rates and efficiencies over the boxes (figure 16.14).

    All measurements have a prediction.
    """
    figure = study.figure((11.0, 4.5))
    rates, efficiencies = figure.subplots(1, 2)
    alone = {m.run.setting: m for m in measurements if m.run.mode == "alone"}
    colours = dict(zip(alone, itertools.cycle(PALETTE), strict=False))
    curves: dict[tuple[str, ...], list[Measurement]] = {}
    for m in measurements:
        if m.run.mode != "alone" or len(alone) == len(measurements):
            curves.setdefault(m.series, [alone[m.run.setting]]).append(m)
    for series, points in curves.items():
        points = sorted(points, key=lambda m: m.run.case.count)
        *_, mode, axes = series
        first, counts = points[0], np.array([m.run.case.count for m in points])
        style = {"color": colours[first.run.setting], "linestyle": LINES.get(axes, "--")}
        measured = np.array([m.glups for m in points])
        predicted = np.array([m.predicted.glups for m in points if m.predicted is not None])
        for axis, unit, reference in (
            (rates, 1.0, 1.0),
            (efficiencies, counts * first.glups, counts * predicted[0]),
        ):
            label = " ".join(series) if axis is rates else None
            axis.plot(counts, measured / unit, marker=MARKERS[mode], label=label, **style)
            axis.plot(counts, predicted / reference, "x", color=style["color"])
    ticks = sorted({m.run.case.count for m in measurements})
    rates.set(xlabel="boxes", xticks=ticks, ylabel="GLUPS (crosses: predicted)", ylim=(0, None))
    efficiencies.set(xlabel="boxes", xticks=ticks, ylabel="efficiency (crosses: predicted)")
    figure.legend(fontsize=6, loc="outside right center")
    return study.save(figure, name)
