"""rode: normal numbers, Ornstein-Uhlenbeck paths, averages and the solver; cuRAND through CuPy."""

from __future__ import annotations

from functools import partial
from types import ModuleType

import numpy as np

import hetero
import rode
from benchmarks.measurements import Measurement, empty
from rode.normals import METHODS

SAMPLE = 0.03
"""Seconds of a sample of paths, so long that the 0.5 ms in which a call is prepared are hidden."""

PUBLISHED = {"ziggurat": 2.17e9, "rational-blending": 1.70e9, "wallace": 4.18e9}
"""Numbers a second on one K40m in float32 (Riesinger 2017, section 8.4.1)."""

PUBLISHED_AVERAGES = {
    "float32": ("Riesinger 2017, K40m, 37.22 G elements/s", 37.22 * 4),
    "float64": ("Riesinger 2017, K40m, 72.1 % of its peak", 0.721 * 288.384),
}
"""GB/s that averaging reads on a K40m, derived from the rate of elements and from the share of the
peak bandwidth that Riesinger (2017, section 10.3 and table 2.1) prints. (For float32 the printed
share is 64.7 %, which is 187 GB/s.)"""

PUBLISHED_BLOCKS = 1.0 / (1.0 / 2.17 + 1.0 / 3.20 + 1.0 / 37.22)
"""G fine steps/s of normal numbers, process and averages one after another, in float32 on a K40m.

Derived: the harmonic sum of the printed rates (Riesinger 2017, sections 8.4.1, 9.3 and 10.3). The
thesis prints no rate of whole runs.
"""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    limits, gpu = hetero.limits(device), device.kind == "cuda"
    size = 1 << (14 if quick else 30 if gpu else 23)
    figures = []
    for dtype in ("float32", "float64"):
        peers = _peers(device, dtype, size)
        for method in METHODS:
            if (method, dtype) not in (("box-muller-fast", "float64"), ("inverse", "float64")):
                figures.append(normals(device, dtype, method, size, limits, peers))
    for dtype, kind in (("float32", None), ("float32", "fast"), ("float64", None)):
        for method in ("bridge", "scan"):
            figures.append(path(device, dtype, kind, method, size, limits))
    figures += [given_noise(device, method, size, limits) for method in ("scan", "sweeps")]
    for power in (12, 14):
        figures += [many_paths(device, kind, size, power, limits) for kind in (None, "fast")]
    for dtype in ("float32", "float64"):
        for steps in (1 << 10, 1 << (12 if quick else 14)):
            figures.append(averaging(device, dtype, size, steps, limits))
    figures += fused(device, quick)
    figures += exact(device, quick)
    figures.append(correlated(device, quick))
    return figures


def normals(
    device: hetero.Device,
    dtype: str,
    method: str,
    size: int,
    limits: hetero.Limits,
    peers: dict[str, float],
) -> Measurement:
    """Measure normal numbers by a method."""
    width = np.dtype(dtype).itemsize
    count = size // (width // 4)
    out = empty(device, count, dtype)
    timing = hetero.benchmark(
        lambda: rode.normal(method=method, rng=1, out=out, device=device), device=device
    )
    compared = dict(peers)
    if dtype == "float32" and method in PUBLISHED:
        compared["Riesinger 2017, K40m"] = PUBLISHED[method] / 1e9
    return Measurement(
        f"normal numbers, {method}, {dtype}, {count:,}",
        timing.rate(count) / 1e9,
        "G/s",
        limits.copy / width / 1e9,
        "writing at the copy bandwidth",
        compared,
        "Philox with ten rounds, to the device's memory; transfers out",
        timing.as_dict(),
    )


def path(
    device: hetero.Device,
    dtype: str,
    kind: str | None,
    method: str,
    size: int,
    limits: hetero.Limits,
) -> Measurement:
    """Measure one path with its noise drawn."""
    width = np.dtype(dtype).itemsize
    count = size // (width // 4)
    out = empty(device, count, dtype)
    timing = hetero.benchmark(
        lambda: rode.ornstein_uhlenbeck(
            None, 2.0**-10, method=method, normals=kind, rng=1, out=out, device=device
        ),
        min_time=SAMPLE,
        device=device,
    )
    return Measurement(
        f"one Ornstein-Uhlenbeck path, {method}, {kind or ''} noise drawn, {dtype}, "
        f"{count:,} steps",
        timing.rate(count) / 1e9,
        "G steps/s",
        limits.copy / width / 1e9,
        "writing at the copy bandwidth",
        {"Riesinger 2017, K40m, noise not counted": 3.2 if width == 4 else 1.11},
        "to the device's memory; transfers out",
        timing.as_dict(),
    )


def given_noise(
    device: hetero.Device, method: str, size: int, limits: hetero.Limits
) -> Measurement:
    """Measure one path of given noise."""
    noise, out = empty(device, size, "float32"), empty(device, size, "float32")
    rode.normal(out=noise, rng=1, device=device)
    timing = hetero.benchmark(
        lambda: rode.ornstein_uhlenbeck(
            None, 2.0**-10, method=method, noise=noise, out=out, device=device
        ),
        min_time=SAMPLE,
        device=device,
    )
    peers = {"Riesinger 2017, K40m": 3.2}
    if device.kind == "cuda" and (cupy := _cupy()) is not None:
        source, target = cupy.asarray(noise), cupy.asarray(out)
        peer = hetero.benchmark(lambda: cupy.cumsum(source, out=target), device=device)
        peers["CuPy cumsum"] = peer.rate(size) / 1e9
    return Measurement(
        f"one Ornstein-Uhlenbeck path, {method}, of given noise, float32, {size:,} steps",
        timing.rate(size) / 1e9,
        "G steps/s",
        limits.copy / 8 / 1e9,
        "copy (read and write)",
        peers,
        "data on the device",
        timing.as_dict(),
    )


def many_paths(
    device: hetero.Device, kind: str | None, size: int, power: int, limits: hetero.Limits
) -> Measurement:
    """Measure many paths."""
    paths = 1 << (6 if size < 1 << 20 else power)
    out = empty(device, size, "float32").reshape((paths, size // paths))
    timing = hetero.benchmark(
        lambda: rode.ornstein_uhlenbeck(
            None, 2.0**-10, method="scan", normals=kind, rng=1, out=out, device=device
        ),
        min_time=SAMPLE,
        device=device,
    )
    return Measurement(
        f"{paths:,} Ornstein-Uhlenbeck paths, {kind or ''} noise drawn, float32, "
        f"{size // paths:,} steps each",
        timing.rate(size) / 1e9,
        "G steps/s",
        limits.copy / 4 / 1e9,
        "writing at the copy bandwidth",
        {},
        "to the device's memory; transfers out",
        timing.as_dict(),
    )


def averaging(
    device: hetero.Device, dtype: str, size: int, steps: int, limits: hetero.Limits
) -> Measurement:
    """Measure the kernel of single and double averages; the bytes that it reads count."""
    from rode._paths import averages

    width = np.dtype(dtype).itemsize
    count = size // (width // 4) // steps * steps
    source, out = empty(device, count, dtype), empty(device, 2 * (count // steps), dtype)
    rode.normal(out=source, rng=1, device=device)
    out = out.reshape((2, count // steps))
    sums = averages.loops(device).fill_sums
    timing = hetero.benchmark(lambda: sums(source, steps, out), device=device)
    return Measurement(
        f"single and double averages over {steps:,} of {count:,} {dtype}",
        timing.rate(count) * width / 1e9,
        "GB/s read",
        limits.copy / 1e9,
        "copy (read and write)",
        dict([PUBLISHED_AVERAGES[dtype]]),
        "data on the device",
        timing.as_dict(),
    )


def fused(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure fine steps of whole runs: words, normals, process, sums, coarse steps, peaks."""
    gpu, figures = device.kind == "cuda", []
    problem = rode.kanai_tajimi(outputs=("acceleration",))
    many = 1 << (8 if quick else 20 if gpu else 12)
    cases = [
        ("averaged-euler", 2.0**-10, 1 << 10, many, "float32", None, 64 if gpu else 16),
        ("averaged-euler", 2.0**-10, 1 << 10, many, "float32", "fast", 64 if gpu else 16),
        ("averaged-heun", 2.0**-10, 1 << 10, many, "float32", None, 64 if gpu else 16),
        ("3-rode-taylor", 2.0**-5, 1 << 12, many, "float32", None, 16 if gpu else 4),
        ("averaged-euler", 2.0**-10, 1 << 10, many // 4, "float64", None, 64 if gpu else 16),
        ("averaged-euler", 2.0**-10, 1 << 10, many // 4, "float64", "float32", 64 if gpu else 16),
    ]
    if gpu and not quick:
        cases += [
            ("averaged-euler", 2.0**-10, 1 << 10, 4096, "float32", None, 1 << 14),
            ("averaged-euler", 2.0**-10, 1 << 10, 4096, "float32", "fast", 1 << 14),
            ("3-rode-taylor", 2.0**-5, 1 << 15, 4096, "float32", None, 1 << 9),
        ]
    for method, h, fine, paths, dtype, normal, steps in cases[:1] if quick else cases:
        call = partial(
            rode.solve, problem, method, t_span=(0.0, steps * h), h=h, delta=h / fine, paths=paths,
            reduction="peaks", dtype=dtype, normals=normal, rng=1, device=device,
        )  # fmt: skip
        timing = hetero.benchmark(call, repeats=5, device=device)
        work = paths * steps * fine
        figures.append(
            Measurement(
                f"fused fine steps, {method}, {paths:,} paths, h/delta {fine:,}, {dtype}"
                + (f", {normal} normals" if normal else ""),
                timing.rate(work) / 1e9,
                "G steps/s",
                peers={"Riesinger 2017, K40m, from the rates of its blocks": PUBLISHED_BLOCKS},
                note=f"Kanai-Tajimi, largest acceleration of each path; {hetero.threads()} threads"
                if not gpu
                else "Kanai-Tajimi, largest acceleration of each path; call from Python in",
                timing=timing.as_dict(),
            )
        )
    return figures


def exact(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure 3-RODE-Taylor over 2^9 s with h = 2^-5 and 4096 paths.

    Riesinger (2017, tables 12.3 and 12.4) has 2^9 s on up to 1248 GPUs of TSUBAME2.5 with a path
    each; 4096 paths are those of figure 12.6, with 2^7 s.
    """
    problem, figures = rode.kanai_tajimi(outputs=("acceleration",)), []
    for reduction in ("peaks", "moments"):
        call = partial(
            rode.solve, problem, "3-rode-taylor", t_span=(0, 4 if quick else 512), h=2.0**-5,
            paths=4096, rng=1, sampling="exact", reduction=reduction, dtype="float32",
            device=device,
        )  # fmt: skip
        timing = hetero.benchmark(call, repeats=5, device=device)
        figures.append(
            Measurement(
                f"exact sampling, 3-rode-taylor, 2^9 s, h 2^-5, 4096 paths, {reduction}",
                timing.median * 1e3,
                "ms",
                note="call from Python in"
                if device.kind == "cuda"
                else f"{hetero.threads()} threads",
                timing=timing.as_dict(),
            )
        )
    return figures


def correlated(device: hetero.Device, quick: bool) -> Measurement:
    """Measure three correlated processes, whose exact sums stand for h^-1 fine steps each."""
    from studies.rode.excitations import three_processes

    problem, paths = three_processes(), 1 << (8 if quick else 20 if device.kind == "cuda" else 12)
    steps, fine = 64 if quick else 4096, 1 << 10
    call = partial(
        rode.solve, problem, "averaged-heun", t_span=(0.0, steps / fine), h=1.0 / fine, paths=paths,
        rng=1, sampling="exact", reduction="peaks", dtype="float32", normals="fast", device=device,
    )  # fmt: skip
    timing = hetero.benchmark(call, repeats=5, device=device)
    return Measurement(
        f"fine steps by exact sums, averaged-heun, three correlated processes, {paths:,} paths, "
        f"h/delta {fine:,}, float32, fast normals",
        timing.rate(paths * steps * fine) / 1e9,
        "G steps/s",
        note="two states; divide by h/delta for coarse steps",
        timing=timing.as_dict(),
    )


def _cupy() -> ModuleType | None:
    try:
        import cupy
    except ImportError:
        return None
    return cupy


def _peers(device: hetero.Device, dtype: str, size: int) -> dict[str, float]:
    """Return the normal numbers per second of NumPy (one core), or of cuRAND through CuPy."""
    if device.kind == "cpu":
        generator, few = np.random.Generator(np.random.SFC64(1)), min(size, 1 << 20)
        timing = hetero.benchmark(lambda: generator.standard_normal(few, dtype=np.dtype(dtype)))
        return {"NumPy SFC64 (one thread)": timing.rate(few) / 1e9}
    cupy = _cupy()
    if cupy is None:
        return {}
    count, rates = size // (np.dtype(dtype).itemsize // 4), {}
    out = cupy.empty(count, dtype)
    for name, bits in (("XORWOW", cupy.random.XORWOW), ("Philox", cupy.random.Philox4x3210)):
        generator = cupy.random.Generator(bits(1))
        call = partial(generator.standard_normal, dtype=dtype, out=out)
        timing = hetero.benchmark(call, device=device)
        rates[f"cuRAND {name}"] = timing.rate(count) / 1e9
    return rates
