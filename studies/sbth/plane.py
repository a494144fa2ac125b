"""Eigenvalues and eigenvectors on the CPU beside SciPy, over orders and bandwidths.

Both are called in turns, in a process for each number of threads, and the smallest wall-clock time
and processor time of each are kept.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

import sbth
from studies.study import Study

ORDERS = (20, 50, 100, 200, 500, 1000, 2000, 4000)
BANDWIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
FULL = 0
"""Stands for a full matrix among the bandwidths."""

PATIENCE = 5.0
"""Seconds that a call may take by the forecast from the order before; larger ones are left out."""

_BUDGET = 0.1
"""Seconds for the calls of a point, of which there are at least two, or one beyond a second."""

_COLUMNS = (
    *("threads", "eigenvectors", "order", "subdiagonals", "sbth, s", "SciPy, s"),
    *("sbth, processor s", "SciPy, processor s", "SciPy / sbth", "method"),
)


def run(study: Study) -> dict:
    """Measure all points; return how many are slower than SciPy, and the slowest one."""
    orders, widths = (ORDERS, (*BANDWIDTHS, FULL)) if not study.quick else ((20, 40), (1, 4, FULL))
    counts = sorted({1, min(2, os.cpu_count() or 1)}) if not study.quick else [1]
    rows: list[tuple] = []
    for threads in counts:
        with (
            _environment(threads),
            ProcessPoolExecutor(1, get_context("spawn")) as worker,
        ):
            rows += worker.submit(measure_plane, threads, orders, widths, study.quick).result()
    study.table("Eigenvalues and eigenvectors on the CPU, beside SciPy", _COLUMNS, rows)
    picture = study.save(_draw(study, rows, counts), "sbth-plane.png")
    ratios = [row[8] for row in rows]
    slowest = rows[int(np.argmin(ratios))]
    return {
        "points": len(rows),
        "slower than SciPy by a tenth": sum(ratio < 0.9 for ratio in ratios),
        "slowest": dict(zip(_COLUMNS, slowest, strict=True)),
        "picture": picture.name,
    }


@contextlib.contextmanager
def _environment(threads: int) -> Iterator[None]:
    """Let processes that start in the block use a number of threads, in BLAS and in loops."""
    names = "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def measure_plane(
    threads: int, orders: tuple[int, ...], widths: tuple[int, ...], quick: bool
) -> list[tuple]:
    """Return a row of the table for each point whose forecast is not too long."""
    rows: list[tuple] = []
    last: dict[tuple[int, bool], tuple[int, float]] = {}
    for order in orders:
        for width in widths:
            if width >= order:
                continue
            for vectors in (False, True):
                key = width, vectors
                if key in last:
                    before, seconds = last[key]
                    growth = (order / before) ** (3 if vectors or width == FULL else 2)
                    if seconds * growth > PATIENCE:
                        continue
                ours, theirs = _solvers(order, width, vectors)
                pairs = time_in_turns((ours, theirs), 0.0 if quick else _BUDGET)
                last[key] = order, max(pairs[0][0], pairs[1][0])
                bandwidth = None if width == FULL else width
                rows.append(
                    (
                        *(threads, vectors, order, "full" if width == FULL else width),
                        *(pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]),
                        pairs[1][0] / pairs[0][0],
                        sbth.solver_for(order, bandwidth, eigvals_only=not vectors, device="cpu"),
                    )
                )
    return rows


def _solvers(order: int, width: int, vectors: bool) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return the calls of this package and of SciPy for a random matrix."""
    import scipy.linalg

    rng = np.random.default_rng(order + width)
    if width == FULL:
        a = rng.standard_normal((order, order))
        a += a.T.copy()
        return (
            lambda: sbth.eigh(a, eigvals_only=not vectors, device="cpu"),
            lambda: scipy.linalg.eigh(a, eigvals_only=not vectors),
        )
    ab = rng.standard_normal((width + 1, order))
    if width == 1:
        d, e = ab[0].copy(), ab[1, :-1].copy()
        return (
            lambda: sbth.eigh_tridiagonal(d, e, eigvals_only=not vectors, device="cpu"),
            lambda: scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=not vectors),
        )
    return (
        lambda: sbth.eig_banded(ab, lower=True, eigvals_only=not vectors, device="cpu"),
        lambda: scipy.linalg.eig_banded(ab, lower=True, eigvals_only=not vectors),
    )


def time_in_turns(calls: tuple[Callable[[], Any], ...], budget: float) -> list[tuple[float, float]]:
    """Return the smallest wall-clock and processor seconds of calls that are made in turns.

    The first call of each is not counted, unless it takes more than a second; it may compile.
    """
    best = [(np.inf, np.inf)] * len(calls)
    for call in calls:
        _time(call, 1)
    spent, turns = 0.0, 0
    while turns < 2 or (spent < budget and turns < 1000):
        for i, call in enumerate(calls):
            repeats = 1 if best[i][0] > 1e-3 else max(1, int(1e-3 / best[i][0]))
            wall, processor = _time(call, repeats)
            best[i] = min(best[i][0], wall), min(best[i][1], processor)
            spent += wall * repeats
        turns += 1
        if spent > 1.0:
            break
    return best


def _time(call: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Return wall-clock and processor seconds of a call, the mean of some."""
    start, processor = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        call()
    wall = time.perf_counter() - start
    return wall / repeats, (time.process_time() - processor) / repeats


def _draw(study: Study, rows: list[tuple], counts: list[int]) -> Any:
    """Draw how many times SciPy's time is that of this package, a panel for each part."""
    orders = sorted({row[2] for row in rows})
    widths = [w for w in (*BANDWIDTHS, "full") if any(row[3] == w for row in rows)]
    figure = study.figure((9.0, 3.6 * len(counts)))
    image = None
    for i, threads in enumerate(counts):
        for j, vectors in enumerate((False, True)):
            axes = figure.add_subplot(len(counts), 2, 2 * i + j + 1)
            ratios = np.full((len(widths), len(orders)), np.nan)
            for row in rows:
                if row[:2] == (threads, vectors):
                    ratios[widths.index(row[3]), orders.index(row[2])] = row[8]
            image = axes.imshow(
                np.log2(ratios), cmap="RdBu", vmin=-2, vmax=2, origin="lower", aspect="auto"
            )
            for (y, x), ratio in np.ndenumerate(ratios):
                if np.isfinite(ratio):
                    axes.text(x, y, f"{ratio:.2g}", ha="center", va="center", fontsize=7)
            axes.set_xticks(range(len(orders)), [str(n) for n in orders])
            axes.set_yticks(range(len(widths)), [str(w) for w in widths])
            what = "eigenvectors" if vectors else "eigenvalues"
            axes.set_title(f"{what}, {threads} thread" + "s" * (threads > 1))
            axes.set_xlabel("order")
            axes.set_ylabel("subdiagonals")
    figure.colorbar(image, ax=figure.axes, label="log2 of SciPy's time over sbth's")
    return figure
