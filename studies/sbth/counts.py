"""Block pairs, operations and bytes of the reduction in one step (Riesinger 2017, tables 6.2, 6.3).

The tables are compared with counts of algorithm 1: the host-driven pipeline reduces a small matrix
with every operation counted, which confirms the sums that are then evaluated for the published
sizes. Algorithm 2 is also run as it is printed, because it misses block pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.devices import Device
from sbth import reference
from studies.papers.printed import BANDWIDTHS, BLAS_CALLS, REDUCTION_SECONDS
from studies.sbth.blas import Loops
from studies.sbth.host_driven import HostDriven
from studies.study import Study

ORDER, BANDWIDTH = 79_872, 576
"""The matrix of table 6.3."""

GPUS = {
    "cuBLAS, K20x": (1.312, 249.6),
    "cuBLAS, GTX 750 Ti": (0.0512, 96.128),
    "cuBLAS, P100": (4.760, 719.872),
    "MAGMA, K20x": (1.312, 249.6),
    "MAGMA, GTX 750 Ti": (0.0512, 96.128),
    "MAGMA, P100": (4.760, 719.872),
    "clBLAS, Radeon HD 8670": (0.048, 72.0),
    "clBLAS, FirePro W8000": (0.8064, 176.0),
}
"""Peak TFLOP/s in float64 and GB/s (Riesinger 2017, tables 2.1, 2.2) for rows of table 6.3."""


def run(study: Study) -> dict:
    """Count a small reduction, and compare the published tables with the counts."""
    return {
        "counted": _counted(study, 60 if study.quick else 200, 5 if study.quick else 16),
        "table 6.2": _calls(study),
        "table 6.3": _times(study),
        "algorithm 2": _algorithm_2(study, 24, 5),
    }


def count_pairs(n: int, d: int) -> int:
    """Return the number of block pairs of algorithm 1: ceil((n - v)/d) in iteration v."""
    return sum(-(-(n - v) // d) for v in range(1, n - 1))


def count_work(n: int, d: int) -> tuple[int, int]:
    """Return the float operations of matrices and vectors, and the elements of all block pairs.

    A diagonal block of m columns takes 4 m^2 operations (SYMV and SYR2) and has m (m + 1)/2
    elements, the r x m block below it 8 r m operations (GEMV and GER, twice each).
    """
    operations = elements = 0
    for v in range(1, n - 1):
        full, rest = divmod(n - v, d)
        below = d * d * max(full - 1, 0) + (rest * d if full else 0)
        operations += 4 * (full * d * d + rest * rest) + 8 * below
        elements += (full * d * (d + 1) + rest * (rest + 1)) // 2 + below
    return operations, elements


class _Counting:
    """Stand-in for the BLAS module that counts the float operations of matrices and vectors."""

    def __init__(self, blas: Loops):
        self._blas = blas
        self.operations = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._blas, name)

    def call(self, name: str, operands: Sequence[Any], stream: Any) -> None:
        """Execute an operation and count what it does."""
        if name in ("symv", "syr2"):
            self.operations += 2 * operands[0] ** 2
        elif name in ("gemv", "gemv_t", "ger"):
            self.operations += 2 * operands[0] * operands[1]
        self._blas.call(name, operands, stream)


def count_run(n: int, d: int) -> tuple[int, int]:
    """Reduce a random matrix; return its calls of SYR2, and its operations of level 2."""
    work = np.random.default_rng(0).standard_normal((n, 2 * d))
    driver = HostDriven(work, Device("cpu"), 1, "depth first")
    driver.blas = counting = _Counting(driver.blas)
    driver.run()
    return driver.calls["syr2"], counting.operations


def _counted(study: Study, n: int, d: int) -> dict:
    """Compare what a run counts with the sums."""
    calls, operations = count_run(n, d)
    rows = [
        ("calls of SYR2, block pairs", calls, count_pairs(n, d)),
        ("float operations of level 2", operations, count_work(n, d)[0]),
    ]
    study.table(f"n = {n}, d = {d}: counted in a run, and by sums", ("", "run", "sum"), rows)
    return {"n": n, "d": d} | {name: {"run": ran, "sum": total} for name, ran, total in rows}


def _calls(study: Study) -> list[dict]:
    """Compare the calls of SYR2 in table 6.2 with the number of block pairs."""
    records = []
    for n, published in BLAS_CALLS.items():
        for d, calls in zip(BANDWIDTHS, published["syr2"], strict=True):
            pairs = count_pairs(n, d)
            record = {"n": n, "d": d, "pairs": pairs, "printed": calls}
            records.append(record | {"printed / pairs": calls / pairs})
    title = "Block pairs of algorithm 1, one SYR2 each, and calls of SYR2 in table 6.2"
    study.table(title, list(records[0]), [list(r.values()) for r in records])
    return records


def _times(study: Study) -> dict:
    """Compare the times of table 6.3 with peak rates of the GPUs."""
    operations, elements = count_work(ORDER, BANDWIDTH)
    bytes_moved = 16 * elements  # each element of a pair is read and written once, in float64
    records = []
    for name, (peak, bandwidth) in GPUS.items():
        seconds = REDUCTION_SECONDS[f"Riesinger 2017, one step, {name}"]
        record: dict[str, Any] = {"software and GPU": name, "printed s": seconds}
        record["s at the float64 peak"] = operations / (peak * 1e12)
        record["s to touch every pair once"] = bytes_moved / (bandwidth * 1e9)
        records.append(record)
    totals = {
        "block pairs": count_pairs(ORDER, BANDWIDTH),
        "Tflop": operations / 1e12,
        "12 d^2 for each pair, Tflop": 12 * BANDWIDTH**2 * count_pairs(ORDER, BANDWIDTH) / 1e12,
        "TB read and written": bytes_moved / 1e12,
    }
    study.table(f"One step, n = {ORDER}, d = {BANDWIDTH}", ("", "total"), list(totals.items()))
    title = "Table 6.3 and what one step takes at the peak rates of tables 2.1 and 2.2"
    study.table(title, list(records[0]), [list(r.values()) for r in records])
    return totals | {"GPUs": records}


def _algorithm_2(study: Study, n: int, d: int) -> list[dict]:
    """Run algorithm 2 with b of the newest iteration, as printed, and with each iteration's own."""
    ab = np.random.default_rng(0).standard_normal((d + 1, n))
    a = reference.dense_from_band(ab, lower=True)
    true, records = np.linalg.eigvalsh(a), []
    for rule, own in (("b of the newest iteration, as printed", False), ("each its own b", True)):
        result, processed = reduce_by_steps(a, d, own)
        found = np.diag(np.diag(result)) + np.diag(np.diag(result, -1), -1)
        error = np.abs(np.linalg.eigvalsh(found) - true).max()
        missed = count_pairs(n, d) - sum(processed.values())
        records.append({"block count": rule, "pairs missed": missed, "error": float(error)})
    title = f"Algorithm 2, n = {n}, d = {d}: {count_pairs(n, d)} block pairs, error of eigenvalues"
    study.table(title, list(records[0]), [list(r.values()) for r in records])
    return records


def reduce_by_steps(a: np.ndarray, d: int, own_count: bool) -> tuple[np.ndarray, Counter]:
    """Run algorithm 2 on the lower triangle; return it and the pairs processed by iteration.

    A step takes the number of blocks b from its newest iteration, as printed, or with `own_count`
    for each iteration from its own. Iterations and blocks are counted from 1.
    """
    a, n = np.tril(a), len(a)
    reflections: dict[int, np.ndarray] = {}
    processed: Counter[int] = Counter()
    for step in range(2 * (n - 2)):
        v = step // 2 + 1
        newest = -(-(n - v) // d)
        if step % 2 == 0:
            reflections[v] = _eliminate(a[v : v + d, v - 1])
            v -= 1
        for block in range(2 - step % 2, step + 1, 2):
            count = -(-(n - v) // d) if own_count else newest
            if v >= 1 and block <= count:
                reflections[v] = _process(a, v + (block - 1) * d, d, reflections[v], block < count)
                processed[v] += 1
            v -= 1
    return a, processed


def _eliminate(column: np.ndarray) -> np.ndarray:
    """Eliminate a column below its first element; return its reflection, of length sqrt(2)."""
    u = column.copy()
    u[0] += np.copysign(np.linalg.norm(column), column[0])
    u *= np.sqrt(2.0) / np.linalg.norm(u)
    column -= u * (u @ column)
    return u


def _process(a: np.ndarray, first: int, d: int, u: np.ndarray, below: bool) -> np.ndarray:
    """Apply a reflection to a block pair; return the next one (algorithm 4)."""
    stop = first + len(u)
    diagonal = a[first:stop, first:stop]
    q = np.eye(len(u)) - np.outer(u, u)
    diagonal[:] = np.tril(q @ (diagonal + np.tril(diagonal, -1).T) @ q)
    block = a[stop : stop + d, first:stop]
    if not below or not len(block):
        return u
    block[:] = block @ q
    u = _eliminate(block[:, 0])
    block[:, 1:] -= np.outer(u, u @ block[:, 1:])
    return u
