"""Loops that reach the limits of a CPU, for `hetero.limits`."""

import numpy as np
from numba import prange

from hetero.cpu.threads import threads
from hetero.jit import parallel
from hetero.measurement.benchmarking import benchmark

_LANES = 64  # independent chains, more than latency x vector width of present cores
_ROUNDS = 20000


@parallel
def _copy(source, target):
    for i in prange(source.size):
        target[i] = source[i]


# This loop measures FMA instructions, so LLVM may contract.
@parallel(fastmath={"contract", "reassoc", "nsz"})
def _multiply_add(start, factor, rounds, out):
    for t in prange(out.shape[0]):
        a = start[t].copy()
        for _ in range(rounds):
            for j in range(_LANES):
                a[j] = a[j] * factor + factor
        out[t] = a


@parallel
def _empty(out):
    for t in prange(out.size):
        out[t] = t


def measure() -> dict[str, float]:
    """Measure copy bandwidth in bytes/s (read and write), multiply-adds/s, seconds per launch."""
    source = np.ones(1 << 26)
    target = np.empty_like(source)
    rates = {"copy": 2 * source.nbytes / benchmark(lambda: _copy(source, target)).best}
    chunks = 8 * threads()
    for name, dtype, factor in (
        ("fma_float32", np.float32, 0.5),
        ("fma_float64", np.float64, 0.5),
        ("mad_int64", np.uint64, 3),
    ):
        start = np.ones((chunks, _LANES), dtype)
        out = np.empty_like(start)
        timing = benchmark(lambda: _multiply_add(start, start.dtype.type(factor), _ROUNDS, out))
        rates[name] = start.size * _ROUNDS / timing.best
    tiny = np.empty(threads())
    rates["launch"] = benchmark(lambda: _empty(tiny)).median
    return rates
