"""hetero: limits against a plain copy by CuPy, random words against cuRAND and NumPy."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

import numpy as np

import hetero
from benchmarks.measurements import Measurement, empty
from hetero import philox
from hetero.arrays import Array


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    limits = hetero.limits(device, refresh=not quick)
    figures = [
        Measurement("copy bandwidth", limits.copy / 1e9, "GB/s", peers=_peer_copy(device, quick)),
        Measurement(
            "copy by a Numba kernel", limits.copy_kernel / 1e9, "GB/s", limits.copy / 1e9, "copy"
        ),
        Measurement("float32 multiply-add", 2 * limits.fma_float32 / 1e12, "TFLOP/s"),
        Measurement("float64 multiply-add", 2 * limits.fma_float64 / 1e12, "TFLOP/s"),
        Measurement("int64 multiply-add", limits.mad_int64 / 1e12, "T/s"),
        Measurement("launch of an empty kernel or loop", limits.launch * 1e6, "us"),
    ]
    if device.kind == "cuda":
        figures += _launches(device)
    for dtype in ("uint32", "float32", "float64"):
        figures.append(_fill(device, dtype, 2**20 if quick else 2**28, limits))
    return figures


LAUNCHES = 500
"""Launches in a row, which the driver queues without waiting for the GPU."""


def _launches(device: hetero.Device) -> list[Measurement]:
    """Measure the host's time of launches of a kernel with eight arrays and four numbers."""
    from hetero.cuda.driver import cuda
    from hetero.cuda.launch import launch
    from hetero.cuda.launcher import Launcher
    from hetero.jit import kernel

    @kernel
    def touch(
        a: Array, b: Array, c: Array, d: Array, e: Array, f: Array, g: Array, h: Array,
        i: int, j: float, k: float, l: int,
    ) -> None:  # fmt: skip
        if i < 0:
            a[0] = b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0] + j + k + l

    ways = {}
    with device.active():
        stream = cuda.stream()
        arguments = (*(cuda.device_array(64, np.float64) for _ in range(8)), 1, 2.0, 3.0, 4)
        prepared = Launcher(touch, 1, 32, stream, arguments)
        calls: dict[str, Callable[[], object]] = {
            "arguments converted once": prepared,
            "arguments converted together": lambda: launch(touch, 1, 32, stream, arguments),
            "by Numba's brackets": lambda: touch[1, 32, stream](*arguments),
        }
        for way, call in calls.items():
            seconds = []
            for _ in range(5):
                call()
                stream.synchronize()
                begin = time.perf_counter()
                for _ in range(LAUNCHES):
                    call()
                seconds.append((time.perf_counter() - begin) / LAUNCHES)
                stream.synchronize()
            ways[way] = min(seconds)
    return [Measurement(f"host time of a launch, {way}", s * 1e6, "us") for way, s in ways.items()]


def _fill(device: hetero.Device, dtype: str, size: int, limits: hetero.Limits) -> Measurement:
    out = empty(device, size, dtype)
    if dtype == "uint32":
        timing = hetero.benchmark(
            lambda: philox.words(size, rng=1, out=out, device=device), device=device
        )
    else:
        timing = hetero.benchmark(
            lambda: philox.uniform(size, dtype=dtype, rng=1, out=out, device=device), device=device
        )
    width = np.dtype(dtype).itemsize
    return Measurement(
        f"philox4x32-10 {dtype}, {size:,} numbers",
        timing.rate(size) / 1e9,
        "G/s",
        limits.copy / width / 1e9,
        "copy (read and write counted)",
        _peer_uniform(device, dtype, size),
        "to the device's memory; transfers out",
        timing.as_dict(),
    )


def _peer_copy(device: hetero.Device, quick: bool) -> dict[str, float]:
    if device.kind == "cpu":
        source = np.ones(2**22 if quick else 2**26)
        target = np.empty_like(source)
        timing = hetero.benchmark(lambda: np.copyto(target, source))
        return {"NumPy (one thread)": 2 * source.nbytes / timing.median / 1e9}
    if importlib.util.find_spec("cupy") is None:
        return {}
    import cupy

    source = cupy.ones(2**29)
    target = cupy.empty_like(source)
    timing = hetero.benchmark(lambda: cupy.copyto(target, source), clock="device", device=device)
    return {"CuPy": 2 * source.nbytes / timing.median / 1e9}


def _peer_uniform(device: hetero.Device, dtype: str, size: int) -> dict[str, float]:
    if dtype == "uint32":
        return {}
    if device.kind == "cpu":
        generator = np.random.Generator(np.random.SFC64(1))
        timing = hetero.benchmark(lambda: generator.random(size, dtype=np.dtype(dtype)))
        return {"NumPy SFC64 (one thread)": timing.rate(size) / 1e9}
    if importlib.util.find_spec("cupy") is None:
        return {}
    import cupy

    out = cupy.empty(size, dtype)
    generator = cupy.random.Generator(cupy.random.XORWOW(1))
    timing = hetero.benchmark(lambda: generator.random(dtype=dtype, out=out), device=device)
    return {"CuPy XORWOW": timing.rate(size) / 1e9}
