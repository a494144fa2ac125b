"""Paths and averages: figures 9.5, 10.2 and 10.3 of (Riesinger 2017), and lengths."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import rode
from rode._paths import averages
from rode._paths import loops as path_loops
from rode._paths.tiles import block, path_of, tile
from studies.study import Study


def run(study: Study) -> dict:
    """Measure paths and averages."""
    most = 14 if study.quick else 28 if study.device.kind == "cuda" else 22
    records = {"paths": _paths(study, most), "averages": _averages(study, most)}
    if study.device.kind == "cuda":
        records |= {"elements": _elements(study, most), "blocks": _blocks(study, most)}
    return records


def _paths(study: Study, most: int) -> list[dict]:
    """Measure steps per second over the length of one path, and of paths of the same memory."""
    records = []
    for dtype in ("float32",) if study.quick else ("float32", "float64"):
        for power in range(12, most + 1, 4 if study.quick else 2):
            out = study.empty(1 << power, dtype)
            noise = study.empty(1 << power, dtype)
            rode.normal(rng=1, out=noise, device=study.device)
            record: dict[str, Any] = {"dtype": dtype, "steps": 1 << power}
            for method, source_of_noise in (
                ("bridge", None),
                ("scan", None),
                ("scan", noise),
                ("sweeps", noise),
            ):
                key = f"{method}, noise {'drawn' if source_of_noise is None else 'read'}"
                record[key] = 1e-9 * study.rate(
                    partial(
                        rode.ornstein_uhlenbeck,
                        None,
                        2.0**-10,
                        method=method,
                        noise=source_of_noise,
                        rng=1,
                        out=out,
                        device=study.device,
                    ),
                    out.size,
                )
            records.append(record)
    rows = [list(r.values()) for r in records]
    study.table("One Ornstein-Uhlenbeck path, G steps/s", list(records[0]), rows)
    figure = study.figure()
    axes = figure.subplots()
    for key in list(records[0])[2:]:
        for dtype, style in (("float32", "o-"), ("float64", "s--")):
            chosen = [r for r in records if r["dtype"] == dtype]
            if chosen:
                steps = [r["steps"] for r in chosen]
                axes.loglog(steps, [r[key] for r in chosen], style, label=f"{key}, {dtype}")
    axes.set(xlabel="steps of the path", ylabel="G steps/s")
    axes.legend(fontsize=7)
    study.save(figure, "paths.png")
    return records


def _averages(study: Study, most: int) -> list[dict]:
    """Measure bandwidth over the elements of an average; the last case is a single average."""
    sums, records = averages.loops(study.device).fill_sums, []
    for dtype in ("float32",) if study.quick else ("float32", "float64"):
        source = study.empty(1 << most, dtype)
        rode.normal(rng=1, out=source, device=study.device)
        for power in range(4, most + 1, 4):
            record: dict[str, Any] = {"dtype": dtype, "elements of an average": 1 << power}
            for count, name in ((1, "single"), (2, "double"), (3, "three sums")):
                out = study.empty(count << (most - power), dtype).reshape((count, -1))
                rate = study.rate(partial(sums, source, 1 << power, out), source.size)
                record[f"{name}, GB/s"] = 1e-9 * rate * source.dtype.itemsize
            records.append(record)
    rows = [list(r.values()) for r in records]
    study.table(f"Averages of {1 << most:,} elements", list(records[0]), rows)
    return records


def _elements(study: Study, most: int) -> list[dict]:
    """Measure steps per second over the elements of a thread, by bridges (figure 9.5)."""
    loops, key, delta = path_loops(study.device), (np.uint32(1),) * 2, 2.0**-10
    records = []
    for rounds in (1, 8) if study.quick else (1, 2, 4, 8, 16):
        record: dict[str, Any] = {}
        for dtype, normals in (("float32", "float32"), ("float32", "fast"), ("float64", "float64")):
            record["elements a thread"] = rounds * block("float32")
            run, table = path_of(rode.Process(), delta, dtype, key, 0, 0, rounds)
            out = study.empty(1 << most, dtype)
            ends = study.empty(-(-out.size // tile(dtype, rounds)), dtype)
            rode.normal(rng=1, out=ends, device=study.device)
            start = np.dtype(dtype).type(0.0)
            record[f"G steps/s, {dtype}{', fast' if normals == 'fast' else ''}"] = (
                1e-9
                * study.rate(
                    partial(loops.bridge, run, table, start, ends, normals, out),
                    out.size,
                )
            )
        records.append(record)
    title = "Ornstein-Uhlenbeck tiles, noise drawn (float64: half as many elements a thread)"
    study.table(title, list(records[0]), [list(r.values()) for r in records])
    return records


def _blocks(study: Study, most: int) -> list[dict]:
    """Measure the bandwidth of averages over the threads of a block (figures 10.2 and 10.3)."""
    sums, records = averages.loops(study.device).fill_sums, []
    for dtype in ("float32", "float64"):
        source = study.empty(1 << most, dtype)
        rode.normal(rng=1, out=source, device=study.device)
        for threads in (256,) if study.quick else (64, 128, 256, 512, 1024):
            record: dict[str, Any] = {"dtype": dtype, "threads a block": threads}
            for count, name in ((1, "single"), (2, "double"), (3, "three sums"), (4, "four sums")):
                out = study.empty(count << (most - 10), dtype).reshape((count, -1))
                rate = study.rate(partial(sums, source, 1 << 10, out, 0, threads), source.size)
                record[f"{name}, GB/s"] = 1e-9 * rate * source.dtype.itemsize
            records.append(record)
    study.table(
        "Averages over 2^10 elements", list(records[0]), [list(r.values()) for r in records]
    )
    return records
