"""The pipeline of Riesinger (2017, chapter 5), in which the host launches every BLAS operation.

Control stays on the host: every task of a wavefront has a stream of its own for its operations, and
at most `length` tasks run at once. The host issues them depth first (all operations of a task, then
those of the next task) or breadth first (the first operation of every task, then the second, ...).
Scalars stay on the device.

A reflection is 1 - v v^T with |v|^2 = 2 (algorithms 3 and 4). v = 0 if there is nothing to
eliminate, a case that Riesinger (2017, algorithm 3) omits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from hetero.devices import Device
from sbth._bulge_chasing.schedule_formulas import block_extents, step_count, sweeps_in_step
from studies.sbth import blas

ORDERS = ("breadth first", "depth first")

SCALARS = 4
"""Scalars of a task: v.x, |h|, the length of a vector, and v'.y with the next reflection v'."""


class HostDriven:
    """Reduction of a working matrix (n, 2 d) on a device, operation by operation.

    Attributes
    ----------
    calls : Counter
        Number of issued operations, by name.
    tasks : int
        Number of issued tasks.
    """

    def __init__(self, work: np.ndarray, device: Device, length: int, order: str):
        self.n, self.ld = work.shape
        self.d, self.length, self.order = self.ld // 2, length, order
        self.device, self.tasks = device, 0
        self.calls: Counter[str] = Counter()
        self.blas: Any = blas.loops(device)
        self.streams = self.blas.streams(length)
        self.work = self.blas.upload(work.reshape(-1))
        # An active sweep has two reflections, the current and the next one, which alternate.
        self.slots = self.n // (2 * self.d) + 2
        self.vectors = self.blas.upload(np.zeros(self.slots * 6 * self.d, work.dtype))
        self.scalars = self.blas.upload(np.zeros(self.slots * SCALARS, work.dtype))

    def run(self, begin: int = 0, stop: int | None = None) -> None:
        """Run the wavefronts begin, ..., stop - 1, by default all of them."""
        for step in range(begin, step_count(self.n, self.d) if stop is None else stop):
            first, last = sweeps_in_step(step, self.n, self.d)
            for group in range(first, last, self.length):
                self._issue(step, range(group, min(group + self.length, last)))

    def result(self) -> np.ndarray:
        """Return the present working matrix."""
        return self.blas.download(self.work).reshape(self.n, self.ld)

    def _issue(self, step: int, sweeps: range) -> None:
        """Issue the tasks of some sweeps in a step, and wait for them."""
        pairs = zip(sweeps, self.streams, strict=False)
        running = [self.task(s, step - 2 * s, stream) for s, stream in pairs]
        self.tasks += len(running)
        if self.order == "depth first":
            for task in running:
                self.calls.update(task)
        while running and self.order == "breadth first":
            issued = [next(task, None) for task in running]
            self.calls.update(name for name in issued if name)
            running = [task for task, name in zip(running, issued, strict=True) if name]
        self.blas.wait(self.streams)

    def task(self, s: int, k: int, stream: Any) -> Iterator[str]:
        """Issue the operations of a task one by one, and yield the name of each."""
        c0, m, rows = block_extents(s, k, self.n, self.d)
        slot, work, vectors, scalars = s % self.slots, self.work, self.vectors, self.scalars
        v, following = ((6 * slot + i) * self.d for i in ((k & 1), 1 - (k & 1)))
        x, w, y, h = ((6 * slot + i) * self.d for i in (2, 3, 4, 5))
        vx, norm, length, vy = range(slot * SCALARS, (slot + 1) * SCALARS)
        pitch = self.ld - 1  # between the columns of a block
        a, b = c0 * self.ld, c0 * self.ld + self.d

        def call(name: str, *arguments: Any) -> str:
            """Issue an operation and return its name."""
            getattr(self.blas, name)(*arguments, stream)
            return name

        def reflection(count: int, target: int) -> Iterator[str]:
            """Issue algorithm 3, which stores the reflection of column h in `target`."""
            yield call("copy", count, vectors, h, vectors, target)
            yield call("nrm2", count, vectors, target, scalars, norm)
            yield call("scal_first", count, scalars, norm, vectors, target)
            yield call("nrm2", count, vectors, target, scalars, length)
            yield call("scal_length", count, scalars, length, vectors, target)

        if k == 0:
            column = s * self.ld + 1
            yield call("copy", m, work, column, vectors, h)
            yield from reflection(m, v)
            yield call("eliminate", m, scalars, norm, vectors, h, work, column)
        yield call("symv", m, work, a, pitch, vectors, v, x)
        yield call("dot", m, vectors, v, x, scalars, vx)
        yield call("copy", m, vectors, x, vectors, w)
        yield call("axpy", m, -0.5, scalars, vx, vectors, v, w)
        yield call("syr2", m, vectors, v, w, work, a, pitch)
        if rows:
            yield call("gemv", (rows, m), work, b, pitch, vectors, v, y)
            yield call("copy", rows, work, b, vectors, h)
            yield call("axpy", rows, -1.0, vectors, v, vectors, y, h)
            yield from reflection(rows, following)
            yield call("gemv_t", (rows, m), work, b, pitch, vectors, following, w)
            yield call("dot", rows, vectors, following, y, scalars, vy)
            yield call("axpy", m, -1.0, scalars, vy, vectors, v, w)
            yield call("ger", (rows, m), vectors, y, v, work, b, pitch)
            yield call("ger", (rows, m), vectors, following, w, work, b, pitch)
            yield call("eliminate", rows, scalars, norm, vectors, h, work, b)
