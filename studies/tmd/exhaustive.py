"""How often functions of binary32 and binary16 are not correctly rounded, by every argument.

On a GPU those of CUDA's library at all 2^32 arguments; on a CPU those of NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

import tmd
from hetero.arrays import Array
from hetero.devices import resolve
from studies.study import Study
from tmd._exhaust import loops
from tmd._exhaust.segments import make_table
from tmd._exhaust.sources import make_source
from tmd._libraries.callables import BINARY32, find_ufunc
from tmd.exhaustive import ALL_ARGUMENTS, compare_all
from tmd.functions import NAMES, load_function

IN_CUDA = (
    *("exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinpi", "cospi", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("cbrt", "rsqrt", "erf", "erfc"),
)
"""Functions of which CUDA's library has one of float32.

tgamma and lgamma are left out: tables of their results at all arguments take minutes.
"""

FAST = ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan")
"""Functions of which it has a fast version, such as __expf, which `fastmath` takes."""

DOMAINS = ((Fraction(-4), Fraction(-1, 2)), (Fraction(1, 2), Fraction(4)))
"""Arguments of binary32 on a CPU: 50 million, as a core takes minutes for all of one function."""

PART = "all arguments with 1/2 <= |x| < 4"

HALVES = ("exp", "log", "sin", "tanh")
"""Functions of binary16, of which balls decide every argument."""

HEADS = ("function", "arguments", "wrong", "per million", "near midpoints", "decided by balls",
         "not judged", "seconds")  # fmt: skip


def device_function(symbol: str) -> Callable[[Array], Array]:
    """Return a function of float32 of CUDA's library as one from arrays to arrays on a GPU."""
    from hetero.cuda.driver import cuda
    from hetero.cuda.launch import THREADS, blocks_for

    kernel = make_kernel(symbol)

    def evaluate(x: Array) -> Array:
        y = cuda.device_array(x.size, np.float32)
        kernel[blocks_for(x.size), THREADS](x, y)
        return y

    return evaluate


def make_kernel(symbol: str) -> Any:
    """Return a kernel (x, y: float32 arrays) that stores a function of CUDA's libdevice."""
    from hetero.cuda.driver import cuda
    from hetero.jit import kernel

    function = getattr(cuda.libdevice, symbol)

    @kernel
    def evaluate(x: Array, y: Array) -> None:
        i = cuda.grid(1)
        if i < x.size:
            y[i] = function(x[i])

    return evaluate


def try_cuda(study: Study) -> Iterator[tuple]:
    """Try CUDA's functions at all arguments, several side by side in worker processes."""
    names = ("exp", "sin") if study.quick else IN_CUDA
    attempt = partial(try_cuda_function, device=str(study.device), quick=study.quick)
    with ProcessPoolExecutor(min(study.processes, len(names)), get_context("spawn")) as pool:
        for rows in pool.map(attempt, names):
            yield from rows


def try_cuda_function(name: str, device: str, quick: bool) -> list[tuple]:
    """Try a function of CUDA's library and its fast version; return their rows of the table."""
    rows, where = [], resolve(device)
    table = make_table(load_function(name), [(1 << 29, (1 << 29) + 64)] if quick else ALL_ARGUMENTS)
    for symbol in (f"{name}f", *[f"fast_{name}f"] * (name in FAST)):
        begin = time.perf_counter()
        with where.active():
            function, twin = device_function(symbol), loops(where)
            source = make_source(function, symbol, BINARY32, where, twin)
            score = compare_all(name, source, table, device=where, examples=20)
        rows.append(_row(symbol, [score], time.perf_counter() - begin))
    return rows


def _row(label: str, scores: list[tmd.ExhaustiveScore], seconds: float) -> tuple:
    """Return a row of a table, from the scores of parts of the arguments."""
    counts = [
        (s.arguments, s.wrong["nearest"], s.kinds["nearest"][1], s.balls, s.not_judged)
        for s in scores
    ]
    arguments, wrong, *others = map(sum, zip(*counts, strict=True))
    return (label, arguments, wrong, 1e6 * wrong / arguments, *others, seconds)


def try_on_cpu(study: Study, label: str, name: str, library: Any) -> tuple:
    """Try one function of binary32 on the domains of a CPU."""
    begin = time.process_time()
    domains = [(Fraction(1), Fraction(1025, 1024))] if study.quick else DOMAINS
    scores = [
        tmd.exhaust(name, library, domain=domain, modes="nearest", examples=20)
        for domain in domains
    ]
    return _row(label, scores, time.process_time() - begin)


def try_numpy(study: Study) -> Iterator[tuple]:
    """Try NumPy's functions of float32."""
    for name in names_of(study):
        if (ufunc := find_ufunc(name)) is not None:
            yield try_on_cpu(study, ufunc.__name__, name, ufunc)


def try_halves(study: Study) -> Iterator[tuple]:
    """Try NumPy's functions of float16 at all arguments."""
    for name in HALVES[: 0 if study.quick else None]:
        begin, ufunc = time.process_time(), find_ufunc(name)
        assert ufunc is not None
        score = tmd.exhaust(name, ufunc, precision="binary16")
        yield _row(name, [score], time.process_time() - begin)


def names_of(study: Study) -> tuple[str, ...]:
    """Return the functions to try."""
    return ("exp", "log") if study.quick else NAMES


def run(study: Study) -> dict:
    """Count wrong results to nearest."""
    if study.device.kind != "cpu":
        title = "CUDA's functions of float32, all 2^32 arguments"
        return {"cuda": study.table(title, HEADS, try_cuda(study))}
    numpy = study.table(
        f"Functions of float32 of NumPy {np.__version__}, {PART}", HEADS, try_numpy(study)
    )
    halves = study.table("NumPy's functions of float16, all arguments", HEADS, try_halves(study))
    return {"numpy": numpy, "halves": halves}
