"""Kernels that reach the limits of a GPU, for `hetero.limits`, and one that keeps it busy."""

import math

import numpy as np
from numba import float32, float64, uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from hetero.measurement.benchmarking import benchmark

_ROUNDS = 1 << 16  # takes some milliseconds, in which the clock rises


@kernel
def copy8(source, target):
    """Copy with eight independent 8-byte loads in flight per thread, then eight stores."""
    n = source.size
    step = cuda.blockDim.x
    i = cuda.blockIdx.x * step * 8 + cuda.threadIdx.x
    if i + 7 * step < n:
        a = source[i]
        b = source[i + step]
        c = source[i + 2 * step]
        d = source[i + 3 * step]
        e = source[i + 4 * step]
        f = source[i + 5 * step]
        g = source[i + 6 * step]
        h = source[i + 7 * step]
        target[i] = a
        target[i + step] = b
        target[i + 2 * step] = c
        target[i + 3 * step] = d
        target[i + 4 * step] = e
        target[i + 5 * step] = f
        target[i + 6 * step] = g
        target[i + 7 * step] = h
    else:
        while i < n:
            target[i] = source[i]
            i += step


def _make_multiply_adds(scalar):
    """Make a kernel of multiply-adds alone, in chains of which each number depends on the last.

    Eight chains per thread hide the latency, and four steps per iteration hide the loop's own
    instructions.
    """

    @kernel
    def multiply_add(factor, rounds, out):
        a = scalar(cuda.threadIdx.x)
        b, c, d = a + scalar(1), a + scalar(2), a + scalar(3)
        e, f, g, h = a + scalar(4), a + scalar(5), a + scalar(6), a + scalar(7)
        for _ in range(rounds // 4):
            for _ in range(4):
                a = a * factor + factor
                b = b * factor + factor
                c = c * factor + factor
                d = d * factor + factor
                e = e * factor + factor
                f = f * factor + factor
                g = g * factor + factor
                h = h * factor + factor
        out[cuda.grid(1)] = a + b + c + d + e + f + g + h

    return multiply_add


multiply_add_float32 = _make_multiply_adds(float32)
multiply_add_float64 = _make_multiply_adds(float64)
multiply_add_uint64 = _make_multiply_adds(uint64)


@kernel
def empty(out):
    """Do nothing, in a way that the compiler cannot see."""
    if cuda.grid(1) < 0:
        out[0] = 0.0


def measure() -> dict[str, float]:
    """Measure copy bandwidth in bytes/s (read and write), multiply-adds/s, seconds per launch."""
    free = cuda.current_context().get_memory_info().free
    n = min(1 << 29, int(free // 40))  # 4 GiB for each array if there is room
    source, target = cuda.device_array(n, np.float64), cuda.device_array(n, np.float64)
    grid = launch.blocks_for(n, 8 * launch.THREADS)
    by_kernel = benchmark(
        lambda: copy8[grid, launch.THREADS](source, target), clock="device", device="cuda"
    )
    by_driver = benchmark(lambda: target.copy_to_device(source), clock="device", device="cuda")
    rates = {
        "copy": 2 * source.nbytes / min(by_kernel.median, by_driver.median),
        "copy_kernel": 2 * source.nbytes / by_kernel.median,
    }
    blocks = 8 * launch.multiprocessors()
    for name, kernel_, dtype, factor in (
        ("fma_float32", multiply_add_float32, np.float32, 0.5),
        ("fma_float64", multiply_add_float64, np.float64, 0.5),
        ("mad_int64", multiply_add_uint64, np.uint64, 3),
    ):
        out = cuda.device_array(blocks * launch.THREADS, dtype)
        timing = benchmark(
            lambda k=kernel_, f=dtype(factor), o=out: k[blocks, launch.THREADS](f, _ROUNDS, o),
            clock="device",
            device="cuda",
        )
        rates[name] = 8 * out.size * _ROUNDS / timing.best
    tiny = cuda.device_array(1, np.float64)
    rates["launch"] = benchmark(lambda: empty[1, 32](tiny), device="cuda").median
    return rates


@kernel
def keep_busy(rounds, numbers):
    """Take square roots one after the other."""
    value = numbers[0]
    for _ in range(rounds):
        value = math.sqrt(value + 1.0)
    numbers[0] = value
