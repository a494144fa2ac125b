"""The pipeline of Riesinger (2017, chapter 5), in which the host launches every BLAS operation.

Control stays on the host: every task of a wavefront has a stream of its own for its operations, and
at most `length` tasks run at once. The host issues them depth first (all operations of a task, then
those of the next task) or breadth first (the first operation of every task, then the second, ...).
Scalars stay on the device.

Here Python issues them, for tests and counts; `studies.sbth.prepared_launches` issues the same
operations from compiled code, with hardly any time on the host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from hetero.devices import Device
from sbth._reduction.bulge_chasing.schedule_formulas import step_count, sweeps_in_step
from studies.sbth import blas
from studies.sbth.task_formulas import (
    LAYOUTS,
    NUMBERS,
    SCALARS,
    VECTORS,
    slot_count,
    strides_of,
    task_operands,
)
from studies.sbth.task_program import PROGRAMS, task_program

ORDERS = ("breadth first", "depth first")


def in_memory(work: np.ndarray, by_rows: bool) -> np.ndarray:
    """Return the elements of a working matrix (n, 2 d) in the order of their storage."""
    return np.ascontiguousarray(work.T if by_rows else work).reshape(-1)


def from_memory(elements: np.ndarray, n: int, by_rows: bool) -> np.ndarray:
    """Return the working matrix (n, 2 d) whose elements lie in memory in this order."""
    return elements.reshape(-1, n).T if by_rows else elements.reshape(n, -1)


class HostDriven:
    """Reduction of a working matrix (n, 2 d) on a device, operation by operation.

    `layout` is one of `LAYOUTS`.

    Attributes
    ----------
    calls : Counter
        Number of issued operations, by name.
    tasks : int
        Number of issued tasks.
    """

    def __init__(
        self, work: np.ndarray, device: Device, length: int, order: str, layout: str = LAYOUTS[0]
    ):
        self.n, self.ld = work.shape
        self.d, self.length, self.order = self.ld // 2, length, order
        self.device, self.tasks, self.by_rows = device, 0, layout == LAYOUTS[1]
        self.calls: Counter[str] = Counter()
        self.blas: Any = blas.loops(device)
        self.streams = self.blas.streams(length)
        self.work = self.blas.upload(in_memory(work, self.by_rows))
        self.slots = slot_count(self.n, self.d)
        self.vectors = self.blas.upload(np.zeros(self.slots * VECTORS * self.d, work.dtype))
        self.scalars = self.blas.upload(np.zeros(self.slots * SCALARS, work.dtype))

    def run(self, begin: int = 0, stop: int | None = None) -> None:
        """Run the wavefronts begin, ..., stop - 1, by default all of them."""
        for step in range(begin, step_count(self.n, self.d) if stop is None else stop):
            first, last = sweeps_in_step(step, self.n, self.d)
            for group in range(first, last, self.length):
                self._issue(step, range(group, min(group + self.length, last)))

    def result(self) -> np.ndarray:
        """Return the present working matrix."""
        return from_memory(self.blas.download(self.work), self.n, self.by_rows)

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
        program, numbers = task_operands(s, k, self.n, self.d, self.by_rows)
        values: dict[Any, Any] = dict(zip(NUMBERS, numbers, strict=True))
        values |= {"work": self.work, "vectors": self.vectors, "scalars": self.scalars}
        values["step"], values["pitch"] = strides_of(self.n, self.d, self.by_rows)
        first, lower = PROGRAMS[program]
        for name, operands in task_program(first=first, lower=lower):
            self.blas.call(name, [values.get(operand, operand) for operand in operands], stream)
            yield name
