"""A GPU and the CPU of its machine on one box (Riesinger 2017, figure 16.4 and table 16.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import hetero
from hetero.devices import Device
from hetero.errors import DeviceUnavailableError
from hetero.measurement.machine_limits import limits
from lbm._kernels.problem import Problem
from lbm._parallel.domain.domains import make_domain
from lbm._parallel.partition import Decomposition, cut_rows
from lbm._performance.cavity import FACES, cavity_problem
from lbm._performance.machine import Machine
from lbm._performance.measurement import measure_best_ratio, measure_machine
from lbm._performance.model import best_ratio, predict_step
from lbm.lattices.extent import Extent, Triple
from lbm.lattices.precision import PRECISIONS
from lbm.launcher import can_start_ranks
from studies.lbm.rates import DOMAINS, draw_curves, measure_rate
from studies.lbm.scaling_worker import Case, run_cases
from studies.study import Study

SHARES = (0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2, 1.0)
"""Shares of the rows for the CPU in the domain of table 16.1."""

FEWER_SHARES = (0.0, 0.02, 0.05, 0.1, 1.0)
"""Shares in the other domains. The time goes into the memory of the CPU's parts: its first touch
took 1.6 s for a GiB on a virtual machine with two cores, and a step 0.05 s."""

MOST_CELLS_ALONE = 1 << 23
"""Cells of a domain, whole layers, with which the CPU alone is measured: 608 MiB in float32, far
more than its caches hold, so that its rate is that of the whole domain."""

MORE_DOMAINS = ((96, 96, 96), (192, 192, 192), (320, 320, 320), (448, 448, 448), (512, 256, 256))
"""Domains beside the five of the thesis in which `ratio="auto"` is compared with the GPU alone."""

RANK_SHARES = (0.0, 0.005, 0.01, 0.02, 0.04, "auto")
"""Shares of the rows for the CPU of each of several ranks."""

TABLE_SHAPE = (512, 512, 128)
"""The domain of Riesinger (2017, table 16.1), which is measured first."""

FEWEST_CELLS_LIKE_TABLE = 1 << 23
"""Cells from which a domain is predicted from the times of operations in that of table 16.1."""

SHARE = "share of rows on the CPU"
HEADS = "domain", "precision", SHARE, "GLUPS", "predicted GLUPS", "error of the prediction"
GAIN_HEADS = (
    "domain", "precision", "best share", "gain over the GPU alone", "gain by bandwidth",
    "gain over the CPU alone", "predicted best share", "its rate over the best rate",
    "share by auto", "its rate over that of the GPU alone",
)  # fmt: skip
AUTO_HEADS = ("domain", "precision", "GPU alone, GLUPS", *GAIN_HEADS[-2:])
RANK_HEADS = "domain", "ranks", "precision", SHARE, "chosen", *HEADS[3:]


def run(study: Study) -> dict:
    """Measure the domains with each share of the rows on the CPU, and predict the best one.

    A GPU has an even share of the cores. If there are several, then each becomes a rank with its
    cores in the domain of table 16.1.
    """
    if study.device.kind != "cuda":
        raise DeviceUnavailableError(
            str(study.device), "this study needs a CPU beside a GPU", "pass --device cuda"
        )
    gpus = sum(device.kind == "cuda" for device in hetero.available())
    threads = max(1, hetero.threads() // gpus)
    with_ranks = gpus > 1 and can_start_ranks("no measurements with a rank for each GPU")
    summary: list[list[Any]] = []
    machines: dict[str, Machine] = {}
    title = (
        "A GPU and the CPU (Riesinger 2017, figure 16.4); the CPU alone, share 1, "
        f"on at most {MOST_CELLS_ALONE:,} cells"
    )
    with hetero.use_threads(threads):
        measured = _measure_domains(study, machines, summary, links=with_ranks)
        rows = [tuple(row) for row in study.table(title, HEADS, measured)]
    study.table("Gain of the CPU beside a GPU (Riesinger 2017, table 16.1)", GAIN_HEADS, summary)
    auto = study.table(
        "What ratio='auto' takes in further domains",
        AUTO_HEADS,
        measure_auto(study, machines, ((20, 16, 8),) if study.quick else MORE_DOMAINS),
    )
    if with_ranks:
        shape = (16, 12, 8) if study.quick else TABLE_SHAPE
        on_ranks = (
            row
            for name, machine in machines.items()
            for row in _measure_ranks(machine, shape, name, gpus, threads)
        )
        study.table(f"Ranks with a GPU and {threads} threads each", RANK_HEADS, on_ranks)
    least = min(row[-1] for row in (*summary, *auto))
    picture = str(draw_curves(study, rows, SHARE, "figure-16.4.png"))
    return {
        "threads": threads,
        "least rate by auto over that of the GPU": least,
        "picture": picture,
    }


def _measure_domains(
    study: Study, machines: dict[str, Machine], summary: list[list[Any]], *, links: bool
) -> Iterator[list[Any]]:
    """Yield rows of figure 16.4; add the machine of each precision, and rows of table 16.1."""
    others = (shape for shape in DOMAINS if shape != TABLE_SHAPE)
    for shape in ((16, 12, 8),) if study.quick else (TABLE_SHAPE, *others):
        first = cavity_problem(shape)  # once: finding the walls of a large domain takes seconds
        for name in ("float32",) if study.quick else ("float32", "float64"):
            problem = replace(first, precision=PRECISIONS[name])
            machine = machines.get(name)
            if machine is None or problem.cells < FEWEST_CELLS_LIKE_TABLE:
                machine = measure_machine(problem, [study.device], links=links)
                machines.setdefault(name, machine)
            predicted = best_ratio(machine, shape)
            auto = measure_best_ratio(problem, study.device, machine)
            shares = (*(SHARES if shape == TABLE_SHAPE else FEWER_SHARES), predicted, auto)
            rates = {}
            for ratio, rate in _measure_shares(study.device, problem, shares):
                glups = predict_step(machine, shape, Decomposition((1, 1, 1)), ratio=ratio).glups
                rates[ratio] = rate
                yield [shape, name, ratio, rate, glups, glups / rate - 1]
            summary.append(_summarize(study, shape, name, rates, predicted, auto))


def measure_auto(
    study: Study, machines: dict[str, Machine], shapes: Sequence[Triple]
) -> Iterator[list[Any]]:
    """Yield rows with the rate of the GPU alone, and the share and the rate of "auto"."""
    for shape in shapes:
        first = cavity_problem(shape)
        for name, machine in machines.items():
            problem = replace(first, precision=PRECISIONS[name])
            like_table = machine if problem.cells >= FEWEST_CELLS_LIKE_TABLE else None
            auto = measure_best_ratio(problem, study.device, like_table)
            rates = dict(_measure_shares(study.device, problem, (0.0, auto)))
            yield [shape, name, rates[0.0], auto, rates[auto] / rates[0.0]]


def _measure_shares(
    device: Device, problem: Problem, shares: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """Yield (share, rate in GLUPS) for each share of the rows on the CPU."""
    nx, ny, nz = problem.shape
    for ratio in sorted({round(share * ny) / ny for share in shares}):
        part = problem
        if ratio == 1.0 and problem.cells > MOST_CELLS_ALONE:
            layers = max(1, MOST_CELLS_ALONE // (nx * ny))
            part = problem.select_block(Extent((0, 0, 0), (nx, ny, min(nz, layers))))
        yield ratio, measure_rate(make_domain(part, device, FACES, ratio), device)


def _measure_ranks(
    machine: Machine, box: Triple, precision: str, ranks: int, threads: int
) -> list[list[Any]]:
    """Return rows of a table: ranks with a box each, and shares of it on the CPU.

    The prediction is that of ranks that do not share caches and memory. `ratio="auto"` measures on
    all ranks at once, and so with what they take from each other.
    """
    grid, shape = (1, 1, ranks), (box[0], box[1], box[2] * ranks)
    form = PRECISIONS[precision].arguments
    cases = [
        Case(shape, grid, form["dtype"], form.get("storage"), ratio=share, devices="cuda")
        for share in RANK_SHARES
    ]
    rows, cells = [], shape[0] * shape[1] * shape[2]
    for case, result in zip(cases, run_cases(cases, ranks, threads), strict=True):
        predicted = predict_step(
            machine, shape, Decomposition(grid), ratio=result.ratio, transport=result.transport
        )
        glups, rate = predicted.glups, cells / result.seconds / 1e9
        share = cut_rows(box[1], result.ratio) / box[1]
        chosen = "by auto" if case.ratio == "auto" else ""
        rows.append([shape, ranks, precision, share, chosen, rate, glups, glups / rate - 1])
    return rows


def _summarize(
    study: Study,
    shape: Any,
    precision: str,
    measured: dict[float, float],
    predicted: float,
    auto: float,
) -> list[Any]:
    """Return a row of table 16.1, and how good the predicted share and that of "auto" are."""
    best = max(measured, key=lambda ratio: measured[ratio])
    chosen = round(predicted * shape[1]) / shape[1]
    bandwidth = limits(Device("cpu")).copy / limits(study.device).copy
    return [
        shape, precision, best, measured[best] / measured[0.0] - 1, bandwidth,
        measured[best] / measured[1.0] - 1, chosen, measured[chosen] / measured[best],
        auto, measured[auto] / measured[0.0],
    ]  # fmt: skip
