"""Occupancies, float operations and traffic of kernels, measured by NVIDIA's profiler (ncu).

These are table 10 of Julian-Moreno et al. (2016), the measured columns of tables 8.3 and 12.2 of
Riesinger (2017), and what limits a search of tmd and steps of lbm by ten moments. A call may launch
several kernels; the longest one stands for it. The profiler runs a kernel several times, with the
memory as it was before, and needs the right to read the GPU's counters: on many machines only an
administrator has it.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from hetero.measurement.machine_limits import limits as measure_limits
from studies.study import Study

ROOT = Path(__file__).resolve().parents[2]

TIME, OCCUPANCY, MOST_WARPS = (
    "gpu__time_duration.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__maximum_warps_per_active_cycle_pct",
)
GLOBAL_BYTES, GLOBAL_SHARE = (
    "dram__bytes.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
)
SHARED_LOADS, SHARED_STORES, SHARED_SHARE = (
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
)
BYTES_OF_A_WAVEFRONT = 128
"""Bytes that a multiprocessor's shared memory, which OpenCL calls local, moves in a cycle: with
bank conflicts a request takes several."""

_OPERATION = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
FLOAT32 = {_OPERATION.format(f"f{name}"): count for name, count in (("add", 1), ("mul", 1))}
FLOAT32 |= {_OPERATION.format("ffma"): 2}
FLOAT64 = {_OPERATION.format(f"d{name}"): count for name, count in (("add", 1), ("mul", 1))}
FLOAT64 |= {_OPERATION.format("dfma"): 2}
PIPELINES = {
    "issue slots, %": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "integer pipeline, %": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "multiply pipeline, %": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
}
"""Shares of the slots for instructions, and of what two pipelines can take, while a kernel runs."""

METRICS = (
    *(TIME, OCCUPANCY, MOST_WARPS, GLOBAL_BYTES, GLOBAL_SHARE),
    *(SHARED_LOADS, SHARED_STORES, SHARED_SHARE),
    *(*FLOAT32, *FLOAT64, *PIPELINES.values()),
)

HEADS = (
    *("call", "kernels", "us", "occupancy", "computed occupancy"),
    *("GFLOP/s, float32", "% of peak, float32", "GFLOP/s, float64", "% of peak, float64"),
    *("global memory, GB/s", "global memory, %", "shared memory, GB/s", "shared memory, %"),
    *PIPELINES,
)


def run(study: Study) -> dict:
    """Measure all calls of `studies.hetero.profiled_calls`."""
    if study.device.kind != "cuda":
        raise ValueError("hetero-profiles needs a GPU: use --device cuda")
    from studies.hetero.profiled_calls import CALLS

    names = list(CALLS)[:1] if study.quick else list(CALLS)
    limits = measure_limits(study.device)
    peaks = 2.0 * limits.fma_float32, 2.0 * limits.fma_float64
    rows = [_row(name, kernels, peaks) for name, kernels in zip(names, profile(names), strict=True)]
    study.table("Kernels by the profiler", HEADS, rows)
    return {"calls": [dict(zip(HEADS, row, strict=True)) for row in rows]}


def _row(name: str, kernels: list[dict[str, str]], peaks: tuple[float, float]) -> list:
    """Return a line of the table: that of the longest of a call's kernels."""
    longest = max(kernels, key=lambda metrics: float(metrics[TIME]))
    value = {key: float(longest[key]) for key in METRICS}
    seconds = 1e-9 * value[TIME]
    cells: list = [name, len(kernels), 1e6 * seconds]
    cells += [0.01 * value[OCCUPANCY], 0.01 * value[MOST_WARPS]]
    for operations, peak in zip((FLOAT32, FLOAT64), peaks, strict=True):
        rate = sum(count * value[key] for key, count in operations.items()) / seconds
        cells += [1e-9 * rate, 100.0 * rate / peak]
    shared_bytes = BYTES_OF_A_WAVEFRONT * (value[SHARED_LOADS] + value[SHARED_STORES])
    cells += [1e-9 * value[GLOBAL_BYTES] / seconds, value[GLOBAL_SHARE]]
    cells += [1e-9 * shared_bytes / seconds, value[SHARED_SHARE]]
    return [*cells, *(value[metric] for metric in PIPELINES.values())]


def profile(names: Sequence[str]) -> list[list[dict[str, str]]]:
    """Run calls under the profiler; return the metrics of the kernels of each.

    Raises
    ------
    FileNotFoundError : ncu, which is part of NVIDIA's CUDA toolkit, is not on the path
    RuntimeError : the profiler failed, for example because it may not read the GPU's counters
    """
    program = shutil.which("ncu")
    if program is None:
        raise FileNotFoundError(
            "hetero-profiles needs ncu (Nsight Compute, part of NVIDIA's CUDA toolkit) on the PATH"
        )
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "metrics.csv"
        done = subprocess.run(
            [
                *(program, "--csv", "--page", "raw", "--print-units", "base", "--print-fp"),
                *("--profile-from-start", "off", "--clock-control", "none"),
                *("--target-processes", "all", "--log-file", str(log)),
                *("--metrics", ",".join(METRICS)),
                *(sys.executable, "-m", "studies.hetero.profiled_calls", *names),
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        text = log.read_text(encoding="utf-8") if log.exists() else ""
    if done.returncode:
        last = "\n".join((text + done.stdout + done.stderr).splitlines()[-20:])
        raise RuntimeError(f"ncu ended with status {done.returncode}:\n{last}")
    return list(split_calls(read_metrics(text)))


def read_metrics(text: str) -> list[dict[str, str]]:
    """Return the metrics of each kernel by name, from what ncu writes with `--csv --page raw`.

    Messages of the profiler stand before the heads of the columns, and a line of units after them.
    Commas that separate thousands are removed from numbers.
    """
    lines = text.splitlines()
    begin = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        raise RuntimeError("ncu has measured nothing; it wrote:\n" + "\n".join(lines[-20:]))
    heads, _, *rows = csv.reader(lines[begin:])
    return [
        {
            head: cell if head == "Kernel Name" else cell.replace(",", "")
            for head, cell in zip(heads, row, strict=True)
        }
        for row in rows
    ]


def split_calls(kernels: Sequence[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    """Yield the kernels of each call, which stand behind an empty kernel that begins it."""
    from studies.hetero.profiled_calls import MARK

    call: list[dict[str, str]] | None = None
    for metrics in kernels:
        if MARK in metrics["Kernel Name"]:
            if call is not None:
                yield call
            call = []
        elif call is not None:
            call.append(metrics)
    if call is not None:
        yield call
