"""stablegpu: times of first calls, then the throughput of densities, quantiles and samples."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np

import hetero
import stablegpu
from benchmarks.measurements import Measurement, empty, milliseconds

SHAPES = ((0.75, 0.5), (1.5, 0.5), (1.9, 0.0))
"""Pairs (alpha, beta) of the measured distributions."""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    limits = hetero.limits(device)
    figures = first_calls(device, quick)
    if device.kind == "cuda":
        figures.append(no_host_copy())
    for alpha, beta in SHAPES[:1] if quick else SHAPES:
        figures.append(thousand_points(device, alpha, beta))
        figures += [plans(device, alpha, beta, name) for name in ("nodes", "polynomials")]
        figures += [
            throughput(device, alpha, beta, limits, quick, name)
            for name in ("quadrature", "nodes", "polynomials")
        ]
        figures.append(quantiles(device, alpha, beta, quick))
        figures += [
            samples(device, alpha, beta, limits, quick, dtype) for dtype in ("float64", "float32")
        ]
    figures.append(parameters_by_point(device, quick))
    return figures


FIRST_CALL = """
import time
start = time.perf_counter()
import stablegpu
imported = time.perf_counter()
distribution = stablegpu.stable(1.5, 0.5, device={device!r})
distribution.pdf(0.0)
first = time.perf_counter()
distribution.pdf(0.0)
second = time.perf_counter()
distribution.rvs(10)
drawn = time.perf_counter()
print(imported - start, first - imported, second - first, drawn - second)
"""


def first_calls(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Time first calls in a fresh process: with nothing compiled yet, and with code on disk."""
    figures = []
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache, "HETERO_CACHE": "1"}
        for state in (
            ("nothing compiled",) if quick else ("nothing compiled", "compiled code on disk")
        ):
            run = subprocess.run(
                [sys.executable, "-c", FIRST_CALL.format(device=str(device))],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            imported, first, second, drawn = map(float, run.stdout.split())
            figures += [
                Measurement(f"import stablegpu ({state})", imported, "s"),
                Measurement(
                    f"first pdf(0.0) after it ({state})", first, "s", note="CUDA context in"
                ),
                Measurement(f"first rvs(10) ({state})", drawn, "s"),
            ]
        figures.append(
            Measurement("second pdf(0.0)", second * 1e6, "us", note="from and to a Python float")
        )
    return figures


def thousand_points(device: hetero.Device, alpha: float, beta: float) -> Measurement:
    """Time 1000 points of a distribution that is not in any cache: its preparation counts."""
    from stablegpu._density.nodes import evaluate as nodes_evaluate

    x = np.linspace(-10, 10, 1000)
    distribution = stablegpu.stable(alpha, beta, device=device)

    def evaluate() -> None:
        nodes_evaluate.nodes_of.cache_clear()
        distribution.pdf_cdf(x)

    name = f"pdf and cdf of 1000 points of a new distribution, alpha {alpha}, beta {beta}"
    return milliseconds(name, evaluate, device, "NumPy in, NumPy out: transfers in")


def throughput(
    device: hetero.Device,
    alpha: float,
    beta: float,
    limits: hetero.Limits,
    quick: bool,
    evaluator: str,
) -> Measurement:
    """Measure joint pdf and cdf with the data on the device, and on the CPU also SciPy's."""
    size = {
        "quadrature": 200_000 if device.kind == "cpu" else 2_000_000,
        "nodes": 2_000_000 if device.kind == "cpu" else 50_000_000,
        "polynomials": 10_000_000 if device.kind == "cpu" else 1_000_000_000,
    }[evaluator] // (100 if quick else 1)
    distribution = stablegpu.stable(alpha, beta, device=device, evaluator=evaluator)
    host = np.random.default_rng(1).uniform(-20, 20, size)
    x, out = host, (np.empty(size), np.empty(size))
    if device.kind == "cuda":
        from hetero.cuda.driver import cuda

        x, out = cuda.to_device(host), (cuda.device_array(size), cuda.device_array(size))
    timing = hetero.benchmark(lambda: distribution.pdf_cdf(x, out=out), device=device)
    peers = {}
    if device.kind == "cpu" and not quick and evaluator == "quadrature":
        from scipy import stats

        few = host[:200]
        peer = stats.levy_stable(alpha, beta)
        both = hetero.benchmark(lambda: (peer.pdf(few), peer.cdf(few)), repeats=5)
        peers["SciPy"] = both.rate(few.size) / 1e6
    return Measurement(
        f"pdf and cdf of {size:,} unsorted points by {evaluator}, alpha {alpha}, beta {beta}",
        timing.rate(size) / 1e6,
        "Mpoints/s",
        limits.copy / 24 / 1e6,
        "copy",
        peers=peers,
        note="float64, x from U(-20, 20) and the results in the device's memory; plan made before",
        timing=timing.as_dict(),
    )


def plans(device: hetero.Device, alpha: float, beta: float, evaluator: str) -> Measurement:
    """Time the preparation of an evaluator for (alpha, beta)."""
    from stablegpu._density.nodes import evaluate as nodes_evaluate
    from stablegpu._density.polynomials.build import segments_of

    def prepare() -> None:
        nodes_evaluate.nodes_of.cache_clear()
        segments_of.cache_clear()
        stablegpu.stable(alpha, beta, device=device).plan(evaluator)

    timing = hetero.benchmark(prepare)
    return Measurement(
        f"plan of {evaluator}, alpha {alpha}, beta {beta}",
        timing.median * 1e3,
        "ms",
        note="on the CPU",
        timing=timing.as_dict(),
    )


def parameters_by_point(device: hetero.Device, quick: bool) -> Measurement:
    """Measure pdf of points with an alpha and beta each, and on the CPU also SciPy's for a few."""
    size = 2000 if quick else (200_000 if device.kind == "cpu" else 50_000_000)
    rng = np.random.default_rng(1)
    points = [rng.uniform(low, high, size) for low, high in ((-20, 20), (0.3, 2), (-1, 1))]
    arguments = points
    if device.kind == "cuda":
        from hetero.cuda.driver import cuda

        arguments = [cuda.to_device(v) for v in points]
    timing = hetero.benchmark(lambda: stablegpu.pdf(*arguments), device=device)
    peers = {}
    if device.kind == "cpu" and not quick:
        from scipy import stats

        few = [v[:200] for v in points]
        peer = hetero.benchmark(lambda: stats.levy_stable.pdf(*few), repeats=5)
        peers["SciPy"] = peer.rate(200) / 1e6
    return Measurement(
        f"pdf of {size:,} points, each with its own alpha in (0.3, 2) and beta",
        timing.rate(size) / 1e6,
        "Mpoints/s",
        peers=peers,
        note="no preparation: trapezoidal sums for each point; transfers out",
        timing=timing.as_dict(),
    )


def quantiles(device: hetero.Device, alpha: float, beta: float, quick: bool) -> Measurement:
    """Measure quantiles by polynomials, and on the CPU also SciPy's."""
    size = (2_000_000 if device.kind == "cpu" else 200_000_000) // (100 if quick else 1)
    distribution = stablegpu.stable(alpha, beta, device=device).plan()
    host = np.random.default_rng(2).uniform(0.0, 1.0, size)
    p, out = host, np.empty(size)
    if device.kind == "cuda":
        from hetero.cuda.driver import cuda

        p, out = cuda.to_device(host), cuda.device_array(size)
    timing = hetero.benchmark(lambda: distribution.ppf(p, out=out), device=device)
    peers = {}
    if device.kind == "cpu" and not quick:
        from scipy import stats

        peer = hetero.benchmark(lambda: stats.levy_stable(alpha, beta).ppf(host[:20]), repeats=5)
        peers["SciPy"] = peer.rate(20) / 1e6
    return Measurement(
        f"{size:,} quantiles, alpha {alpha}, beta {beta}",
        timing.rate(size) / 1e6,
        "M/s",
        peers=peers,
        note="p from U(0, 1) in the device's memory; plan made before",
        timing=timing.as_dict(),
    )


def samples(
    device: hetero.Device,
    alpha: float,
    beta: float,
    limits: hetero.Limits,
    quick: bool,
    dtype: str,
) -> Measurement:
    """Measure samples that are drawn to the device's memory, and on the CPU also SciPy's."""
    size = 10_000 if quick else (4_000_000 if device.kind == "cpu" else 200_000_000)
    distribution = stablegpu.stable(alpha, beta, device=device)
    out = empty(device, size, dtype)
    timing = hetero.benchmark(lambda: distribution.rvs(out=out, rng=1), device=device)
    peers = {}
    if device.kind == "cpu" and not quick:
        from scipy import stats

        peer = stats.levy_stable(alpha, beta)
        timed = hetero.benchmark(lambda: peer.rvs(100_000, random_state=1), repeats=5)
        peers["SciPy"] = timed.rate(100_000) / 1e6
    return Measurement(
        f"{size:,} {out.dtype} samples, alpha {alpha}, beta {beta}",
        timing.rate(size) / 1e6,
        "Msamples/s",
        limits.copy / out.dtype.itemsize / 1e6,
        "copy (read and write counted)",
        peers,
        "to the device's memory; transfers out",
        timing.as_dict(),
    )


def no_host_copy() -> Measurement:
    """Count copies between host and GPU while pdf of a CuPy array is computed: none are expected.

    They are counted by PyTorch's profiler, which traces every CUDA call of the process.
    """
    try:
        import cupy
        from torch.profiler import ProfilerActivity, profile
    except ImportError:
        return Measurement(
            "host copies for a CuPy array", float("nan"), "copies", note="no CuPy or PyTorch"
        )
    distribution = stablegpu.stable(1.5, 0.5)
    x = cupy.linspace(-5, 5, 100_000)
    distribution.pdf(x)
    with profile(activities=[ProfilerActivity.CUDA]) as trace, hetero.profile() as ours:
        result = distribution.pdf(x)
        cupy.cuda.Device().synchronize()
    assert isinstance(result, cupy.ndarray)
    events = {e.key: e.count for e in trace.key_averages()}
    copies = sum(n for key, n in events.items() if "HtoD" in key or "DtoH" in key)
    kernels = sum(n for key, n in events.items() if "evaluate_" in key)
    moved = ours.bytes_to_device + ours.bytes_to_host
    return Measurement(
        "host copies for a CuPy array of 100,000 points",
        copies,
        "copies",
        note=f"CUDA activity seen: {events}; kernels of ours: {kernels}; bytes we count: {moved}",
    )
