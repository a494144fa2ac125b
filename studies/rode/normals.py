"""Normal numbers: strips, launch shapes, operations and setup, after Riesinger (2017, section 8.4).

These are figures 8.4 (one launch shape), 8.6 and 8.7, part of 8.8, and tables 8.2, 8.3 (methods
without branches) and 8.4. Occupancies (figure 8.5) are in the study rode-occupancy. Not made are in
figure 8.8 the launch shapes of the Ziggurat and of other libraries.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

import rode
from hetero.cpu.threads import threads, use_threads
from hetero.measurement.machine_limits import limits as measure_limits
from rode._normals import loops, wallace
from rode._normals.launches import Words
from rode._normals.wallace.pool_shape import TURNS, PoolShape
from rode._normals.ziggurat.tables import STRIPS, ziggurat
from rode.normals import fits_in_shared_memory
from studies.study import Study

THREADS_OF_POOLS = (64, 128, 256, 512, 1024)
"""Threads of the blocks whose pools are measured."""

PASSES = (8, 32, 128)
"""Passes of the pools that are measured, where a pool can have so many."""


def run(study: Study) -> dict:
    """Measure normal numbers by all methods."""
    size = 1 << (14 if study.quick else 28 if study.device.kind == "cuda" else 22)
    out = study.empty(size, "float32")
    records = {
        "numbers": size,
        "ziggurat": _strips(study, size),
        "grids": _grids(study, out),
        "pools": _pools(study, out),
        "rational": _rational(study, size),
        "setup": _setup(study),
    }
    if study.device.kind == "cuda":
        records["work"] = _work(study, size)
    return records


def _strips(study: Study, size: int) -> list[dict]:
    """Measure rate and divergence over the number of strips (figure 8.4 and table 8.2)."""
    records: list[dict[str, Any]] = []
    out = {d: study.empty(size, d) for d in ("float32", "float64")}
    for strips in STRIPS[7:9] if study.quick else STRIPS:
        table = ziggurat(strips)
        record: dict[str, Any] = {"strips": strips, "fast": table.fast}
        record["diverging warps"] = table.diverging()
        for dtype in out:
            for memory in ("shared", "local"):
                settings = {"strips": strips, "table": memory, "out": out[dtype]}
                record[f"G/s, {dtype}, {memory}"] = _ziggurat(study, settings)
        records.append(record)
    rows = [list(r.values()) for r in records]
    study.table("Ziggurat over the number of strips", list(records[0]), rows)
    figure = study.figure()
    left, right = figure.subplots(1, 2)
    counts = [r["strips"] for r in records]
    for key in list(records[0])[3:]:
        rates = [np.nan if r[key] is None else r[key] for r in records]
        left.semilogx(counts, rates, "o-", label=key.removeprefix("G/s, "), base=2)
    left.set(xlabel="strips", ylabel="G numbers/s", title="rate")
    left.legend()
    diverging = [r["diverging warps"] for r in records]
    right.semilogx(counts, diverging, "o-", base=2)
    right.set(xlabel="strips", ylabel="share", title="warps that leave the fast path")
    study.save(figure, "ziggurat.png")
    return records


def _ziggurat(study: Study, settings: dict) -> float | None:
    """Return G numbers/s, or None for a table that shared memory does not hold."""
    out = settings["out"]
    if settings["table"] == "shared" and not fits_in_shared_memory(settings["strips"], out.dtype):
        return None
    rate = study.rate(
        lambda: rode.normal(method="ziggurat", rng=1, device=study.device, **settings), out.size
    )
    return 1e-9 * rate


def _grids(study: Study, out: Any) -> list[dict]:
    """Measure rates over launch shapes, or on a CPU over threads (figure 8.6, part of 8.8).

    Wallace's generator has a block a pool, whose threads and passes `_pools` varies.
    """
    records, cpu = [], study.device.kind == "cpu"
    methods = ("box-muller", "box-muller-fast", "inverse", "rational", "rational-blending")
    if cpu:
        shapes = [{"threads": n} for n in range(1, threads() + 1)]
    else:
        sizes = (256,) if study.quick else (64, 256, 1024)
        grids = (16,) if study.quick else (4, 16, 64)
        shapes = [{"threads": t, "blocks a multiprocessor": b} for t in sizes for b in grids]
    for shape in shapes:
        launched: tuple = () if cpu else (0, *shape.values())
        count = shape["threads"] if cpu else threads()
        with use_threads(count):
            rates = {f"G/s, {m}": 1e-9 * _rate(study, m, out, launched) for m in methods}
        records.append(shape | rates)
    rows = [list(r.values()) for r in records]
    study.table("float32 over launch shapes", list(records[0]), rows)
    return records


def _pools(study: Study, out: Any) -> list[dict]:
    """Measure Wallace's method over threads of a block and blocks of the launch (figure 8.7).

    A block fills a pool of four numbers a thread, and turns it for a number of passes: that gives
    the number of blocks. "Uncorrected" is the method with a constant sum of squares.
    """
    records: list[dict[str, Any]] = []
    passes = PASSES[:1] if study.quick else PASSES
    for threads_of_block in THREADS_OF_POOLS[::3] if study.quick else THREADS_OF_POOLS:
        for count in (n for n in passes if TURNS * n <= threads_of_block):
            shape = PoolShape(threads_of_block, count)
            records.append(
                {
                    "threads": threads_of_block,
                    "passes": count,
                    "blocks": -(-out.size // shape.numbers),
                    "G/s, wallace": _wallace(study, out, shape, corrected=True),
                    "G/s, wallace-uncorrected": _wallace(study, out, shape, corrected=False),
                }
            )
    rows = [list(r.values()) for r in records]
    study.table("Wallace, float32, over threads and blocks", list(records[0]), rows)
    figure = study.figure((6.0, 4.0))
    axis = figure.subplots()
    for count in passes:
        lines = [r for r in records if r["passes"] == count]
        rates = [r["G/s, wallace"] for r in lines]
        axis.semilogx([r["threads"] for r in lines], rates, "o-", label=f"{count}", base=2)
    axis.set(xlabel="threads of a block", ylabel="G numbers/s")
    axis.legend(title="passes of a pool")
    study.save(figure, "wallace.png")
    return records


_WORDS = Words((np.uint32(1), np.uint32(1)), path=0, stream=0)
"""Words of the counter for all fills that are measured."""


def _wallace(study: Study, out: Any, shape: PoolShape, *, corrected: bool) -> float:
    """Return G numbers per second of Wallace's method with pools of a shape."""
    fill = wallace.loops(study.device).fill
    return 1e-9 * study.rate(lambda: fill(_WORDS, corrected, out, shape=shape), out.size)


def _rate(study: Study, method: str, out: Any, launched: tuple) -> float:
    """Return numbers per second; `launched` are the last arguments of `fill`."""
    fill = loops(study.device).fill
    return study.rate(lambda: fill(method, _WORDS, out, *launched), out.size)


def _work(study: Study, size: int) -> list[dict]:
    """Measure float operations per second and their share of the GPU's peak (table 8.3).

    Methods with branches are left out: only without them the kernel's code contains as many
    operations as a pair of blocks takes.
    """
    from rode._normals import cuda as normals_cuda

    limits, records = measure_limits(study.device), []
    for method, dtype in (
        *(("box-muller", "float32"), ("box-muller-fast", "float32")),
        *(("rational-blending", "float32"), ("box-muller", "float64")),
    ):
        out = study.empty(size // 2, dtype)
        rate, width = _rate(study, method, out, ()), np.dtype(dtype).itemsize
        text = next(iter(normals_cuda.KERNELS[f"pairs_{method}_{dtype}"].inspect_asm().values()))
        kind = f"f{8 * width}"
        count = 2 * len(re.findall(rf"fma\.rn(?:\.ftz)?\.{kind}", text))
        count += len(re.findall(rf"(?:add|sub|mul)(?:\.rn)?(?:\.ftz)?\.{kind}", text))
        peak = limits.fma_float32 if width == 4 else limits.fma_float64
        done = rate * count / (32 // width)
        records.append(
            {"method": method, "dtype": dtype, "operations a number": count * width / 32}
        )
        records[-1] |= {"TFLOP/s": 1e-12 * done, "% of peak": 50.0 * done / peak}
        records[-1]["% of the write limit"] = 100.0 * rate * width / limits.copy
    rows = [list(r.values()) for r in records]
    study.table("Float operations (Philox works on integers)", list(records[0]), rows)
    return records


def _rational(study: Study, size: int) -> list[dict]:
    """Compare rational functions with a branch and with a blend of both results."""
    records = []
    for dtype in ("float32", "float64"):
        out = study.empty(size // 2, dtype)
        record: dict[str, Any] = {"dtype": dtype}
        for method in ("rational", "rational-blending"):
            record[method] = 1e-9 * study.rate(
                partial(rode.normal, method=method, rng=1, out=out, device=study.device),
                out.size,
            )
        records.append(record)
    rows = [list(r.values()) for r in records]
    study.table("Rational functions, G/s: branches and blending", list(records[0]), rows)
    return records


def _setup(study: Study) -> dict:
    """Measure the preparation before the first number, without compilation (table 8.4)."""

    def table(strips: int) -> None:
        ziggurat.cache_clear()
        ziggurat(strips)

    pool = study.empty(1024, "float32")
    records = {
        "Ziggurat, 256 strips, ms": 1e3 / study.rate(lambda: table(256), 1),
        "Ziggurat, 4096 strips, ms": 1e3 / study.rate(lambda: table(4096), 1),
        "Wallace, first pool with its numbers, ms": 1e3
        / study.rate(
            lambda: rode.normal(method="wallace", rng=1, out=pool, device=study.device), 1
        ),
        "Box-Muller, first 1024 numbers, ms": 1e3
        / study.rate(lambda: rode.normal(rng=1, out=pool, device=study.device), 1),
    }
    study.table("Setup", ("what", "ms"), list(records.items()))
    return records
