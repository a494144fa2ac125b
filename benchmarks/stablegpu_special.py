"""stablegpu: special functions, against the copy bandwidth, SciPy and CuPy."""

from __future__ import annotations

from functools import partial

import numpy as np

import hetero
import stablegpu
from benchmarks.measurements import Measurement
from hetero.arrays import Array

ORDER = 3  # the order n of the exponential integral expn
SUSTAINED = 0.1  # seconds after which a GPU is so warm that it lowers its clock


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    limits = hetero.limits(device)
    size = 10_000 if quick else (1 << 24 if device.kind == "cpu" else 1 << 28)
    figures = []
    for dtype in (np.float32, np.float64):
        block = 5.0 * np.random.default_rng(1).standard_normal(min(size, 1 << 22))
        x = np.tile(block.astype(dtype), -(-size // block.size))[:size]
        for name in ("log_ndtr", "ndtr", "expn"):
            figures.append(elementwise(name, np.abs(x) if name == "expn" else x, device, limits))
        figures.append(sum_of_exponentials(x, device, limits))
    return figures


def elementwise(
    name: str, host: np.ndarray, device: hetero.Device, limits: hetero.Limits
) -> Measurement:
    """Measure a function of unsorted N(0, 5^2) numbers on the device; expn gets absolute values."""
    orders = (ORDER,) if name == "expn" else ()
    x, out = on_device(host, device), on_device(np.empty_like(host), device)
    function = getattr(stablegpu, name)
    call = partial(function, *orders, x, out=out, device=device)
    timing = hetero.benchmark(call, device=device)
    warm = hetero.benchmark(call, device=device, min_time=SUSTAINED).rate(host.size) / 1e9
    return Measurement(
        f"{name}{orders or ''} of {host.size:,} unsorted N(0, 5^2), {host.dtype}",
        timing.rate(host.size) / 1e9,
        "G/s",
        limits.copy / (2 * host.itemsize) / 1e9,
        "copy (read and write counted)",
        peers(name, orders, host, device),
        f"data on the device, output given; for {SUSTAINED} s: {warm:.4g} G/s",
        timing.as_dict(),
    )


def sum_of_exponentials(
    host: np.ndarray, device: hetero.Device, limits: hetero.Limits
) -> Measurement:
    """Measure `logsumexp` of an array on the device."""
    x = on_device(host, device)
    timing = hetero.benchmark(lambda: stablegpu.logsumexp(x, device=device), device=device)
    return Measurement(
        f"logsumexp of {host.size:,} numbers, {host.dtype}",
        timing.rate(host.size) / 1e9,
        "G/s",
        limits.copy / host.itemsize / 1e9,
        "reading at the copy bandwidth",
        peers("logsumexp", (), host, device),
        "data on the device",
        timing.as_dict(),
    )


def on_device(host: np.ndarray, device: hetero.Device) -> Array:
    """Return a NumPy array as an array on the device."""
    if device.kind == "cpu":
        return host
    from hetero.cuda.driver import cuda

    return cuda.to_device(host)


def peers(
    name: str, orders: tuple[int, ...], host: np.ndarray, device: hetero.Device
) -> dict[str, float]:
    """Measure SciPy (one core, a part of the data) and CuPy (on a GPU) in the same unit."""
    from scipy import special

    few = host[: 1 << 20]
    function = getattr(special, name)
    rates = {"SciPy": hetero.benchmark(lambda: function(*orders, few)).rate(few.size) / 1e9}
    if device.kind == "cuda":
        try:
            import cupy
            from cupyx.scipy import special as cupy_special
        except ImportError:
            return rates
        theirs, x = getattr(cupy_special, name), cupy.asarray(host)
        timing = hetero.benchmark(lambda: theirs(*orders, x), device=device)
        rates["CuPy"] = timing.rate(host.size) / 1e9
    return rates
