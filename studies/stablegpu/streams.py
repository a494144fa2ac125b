"""Rate of a fit of a data set in a file, beside the bare rate at which the file can be read.

Numbers are drawn on the device and written to a .npy file, unless it is there. Each pass of
`stablegpu.fit_stream` over the file is timed twice: with the pages of the file in the system's
cache, if they fit there, and with these pages dropped before each pass. A program that reads the
file in pieces and does nothing else is timed beside it, in both ways. `--size` sets the number of
observations, and `--out` the folder of the file, which takes 8 bytes for each and is removed.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import stablegpu
from stablegpu._fit.observations.streams.sample import StreamedSample
from stablegpu.streaming import PIECE
from studies.study import Study

ALPHA, BETA = 1.7, 0.3
SIZES = {"cpu": 100_000_000, "cuda": 4_000_000_000}
"""Observations, if the command line names no number, by kind of device."""

QUICK_SIZE, QUICK_PIECE = 50_000, 10_000
DRAWN = 50_000_000
"""Numbers that are drawn and written at once."""

GIGABYTE = 1e9


def run(study: Study) -> dict:
    """Write the file, time passes over it, and return seconds and rates."""
    size = study.size or (QUICK_SIZE if study.quick else SIZES[study.device.kind])
    piece = QUICK_PIECE if study.quick else PIECE
    path = study.out / f"stream-{size}.npy"
    write_numbers(path, size, study)
    try:
        small = np.random.default_rng(1).standard_cauchy(20_000)
        stablegpu.fit_stream(small, piece=5000, device=study.device)  # compiles
        timings, result = {}, None
        for state in ("cached", "dropped"):
            is_dropped = state == "dropped"
            bare = read_bare(path, piece, is_dropped)
            with timed_passes(path, is_dropped) as passes:
                start = time.perf_counter()
                result = stablegpu.fit_stream(path, piece=piece, device=study.device)
                whole = time.perf_counter() - start
            timings[state] = [("bare reading", bare), *passes, ("whole fit", whole)]
        assert result is not None
        return _report(study, size, timings, result)
    finally:
        path.unlink(missing_ok=True)


def _report(
    study: Study, size: int, timings: dict[str, list[tuple[str, float]]], result: Any
) -> dict:
    """Print the table of rates, and return it with the estimates and the memory."""
    heads = ("pages", "pass", "s", "GB/s", "% of bare reading")
    rows = []
    for state, seconds in timings.items():
        bare = seconds[0][1]
        for title, duration in seconds:
            passes = len(seconds) - 2 if title == "whole fit" else 1
            rate = 8.0 * size * passes / duration / GIGABYTE
            rows.append((state, title, duration, rate, 100.0 * bare * passes / duration))
    study.table(f"{size:,} observations, {8.0 * size / GIGABYTE:.3g} GB", heads, rows)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0 / GIGABYTE
    return {
        "observations": size,
        "columns": heads,
        "rows": rows,
        "estimates": dict(result.params),
        "standard errors": dict(result.stderr),
        "distribution": {"alpha": ALPHA, "beta": BETA},
        "largest resident memory of the process, GB": memory,
    }


def write_numbers(path: Path, size: int, study: Study) -> None:
    """Draw numbers on the device, and write them to a .npy file."""
    distribution = stablegpu.stable(ALPHA, BETA, device=study.device)
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (size,)}
        np.lib.format.write_array_header_1_0(file, header)
        for number, begin in enumerate(range(0, size, DRAWN)):
            numbers = distribution.rvs(min(DRAWN, size - begin), rng=number)
            file.write(memoryview(numbers))
        file.flush()
        os.fsync(file.fileno())


def drop_pages(path: Path) -> None:
    """Remove the pages of a file from the system's cache, where the system allows that."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_bare(path: Path, piece: int, is_dropped: bool) -> float:
    """Return the seconds that it takes to read a file piece by piece into one buffer."""
    buffer = np.empty(piece).view(np.uint8).data
    for _ in range(1 if is_dropped else 2):  # the second run finds the pages that fit
        if is_dropped:
            drop_pages(path)
        start = time.perf_counter()
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
        seconds = time.perf_counter() - start
    return seconds


@contextmanager
def timed_passes(path: Path, is_dropped: bool) -> Iterator[list[tuple[str, float]]]:
    """Collect the titles and seconds of the passes over a file."""
    passes: list[tuple[str, float]] = []
    original = StreamedSample._run

    def run_pass(sample: StreamedSample, title: str, *arguments: Any) -> list[Any]:
        if is_dropped:
            drop_pages(path)
        start = time.perf_counter()
        result = original(sample, title, *arguments)
        passes.append((title, time.perf_counter() - start))
        return result

    with mock.patch.object(StreamedSample, "_run", run_pass):
        yield passes
