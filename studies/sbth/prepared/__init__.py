"""The pipeline of Riesinger (2017, chapter 5) with prepared launches, issued by compiled code.

The operations are those of `studies.sbth.host_driven`, but a compiled loop on the host computes
their arguments and calls the driver, or the vendor's BLAS, through C pointers. Where that loop is
slower than the GPU, wavefronts are captured as CUDA graphs, which run without the host.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from sbth._reduction.bulge_chasing.schedule_formulas import step_count
from studies.sbth.host_driven import ORDERS, from_memory, in_memory
from studies.sbth.prepared import issue_loops
from studies.sbth.prepared.encoding import CONSTANTS, LIBRARIES, Encoder
from studies.sbth.task_formulas import (
    LAYOUTS,
    SCALARS,
    VECTORS,
    slot_count,
    strides_of,
    task_operands,
)


class Machine(Protocol):
    """Device that a pipeline runs on: memory, queues and C functions."""

    functions: issue_loops.Functions

    def upload(self, array: np.ndarray) -> Any:
        """Copy an array to the device."""

    def download(self, memory: Any) -> np.ndarray:
        """Copy an array to the host."""

    def address(self, memory: Any) -> int:
        """Return where an array on the device begins."""

    def kernel(self, name: str) -> tuple[int, int]:
        """Return the handle of an operation's kernel and the threads of its block."""

    def queues(self, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return handles of streams, of their events, and of the vendor's BLAS on them."""

    def wait(self) -> None:
        """Wait until all queues are empty."""


class PreparedPipeline:
    """Reduction of a working matrix (n, 2 d) in float64, operation by operation.

    Parameters
    ----------
    work : (n, 2 d) float64 working matrix
    machine : the device
    length : tasks that run at once, one on each queue
    order : one of `ORDERS`
    library : one of `LIBRARIES`
    layout : one of `LAYOUTS`; the vendor's BLAS takes column-major storage alone

    Attributes
    ----------
    tasks, issued : int
        Numbers of tasks and of operations that were issued.
    names : list of str
        Operations of the instructions of `program`.
    program : CodedProgram
    """

    def __init__(
        self,
        work: np.ndarray,
        machine: Machine,
        length: int,
        order: str,
        library: str,
        layout: str = LAYOUTS[0],
    ) -> None:
        self.by_rows = layout == LAYOUTS[1]
        if self.by_rows and library == LIBRARIES[1]:
            raise ValueError(
                f"layout must be {LAYOUTS[0]!r} for the {library}: no element of a block in "
                f"{layout} storage is beside another one, got {layout!r}"
            )
        self.n, self.d = work.shape[0], work.shape[1] // 2
        self.machine, self.order = machine, order
        self.tasks = self.issued = 0
        slots = slot_count(self.n, self.d)
        arrays = {
            "work": in_memory(work.astype(float), self.by_rows),
            "vectors": np.zeros(slots * VECTORS * self.d),
            "scalars": np.zeros(slots * SCALARS),
            "constants": np.array(CONSTANTS),
        }
        self._memory = {name: machine.upload(array) for name, array in arrays.items()}
        places = {name: (machine.address(self._memory[name]), len(a)) for name, a in arrays.items()}
        encoder = Encoder(places, *strides_of(self.n, self.d, self.by_rows))
        self.names, self.program = encoder.encode(library, machine.kernel)
        words = np.zeros(self.program.constants.shape[1], np.int64)
        pointers = words.ctypes.data + 8 * np.arange(len(words), dtype=np.int64)
        self._queues = issue_loops.Queues(
            *machine.queues(length), words, pointers, pointers.ctypes.data
        )

    @property
    def steps(self) -> int:
        """Number of wavefronts."""
        return int(step_count(self.n, self.d))

    @property
    def stream(self) -> int:
        """Handle of the stream before which and after which the others wait."""
        return int(self._queues.streams[0])

    def issue(self, begin: int = 0, stop: int | None = None, stride: int = 1) -> None:
        """Issue wavefronts begin, begin + stride, ..., before stop, by default all of them.

        Raises
        ------
        RuntimeError : the driver or the library refuses an operation
        """
        with _experimental_functions():
            tasks, issued, error = issue_loops.issue_wavefronts(
                (begin, self.steps if stop is None else stop, stride),
                (self.n, self.d, self.by_rows),
                self.order == ORDERS[0],
                self.program,
                self._queues,
                self.machine.functions,
            )
        self.tasks += tasks
        self.issued += issued
        _check(error, issued)

    def repeat(self, i: int, repeats: int) -> None:
        """Issue instruction i of the first task several times."""
        _, numbers = task_operands(0, 0, self.n, self.d, self.by_rows)
        numbers = np.array(numbers, np.int64)
        with _experimental_functions():
            for count in range(repeats):
                error = issue_loops.issue_instruction(
                    i, numbers, 0, self.program, self._queues, self.machine.functions
                )
                _check(error, count)

    def result(self) -> np.ndarray:
        """Return the present working matrix, (n, 2 d)."""
        self.machine.wait()
        elements = self.machine.download(self._memory["work"])
        return from_memory(elements, self.n, self.by_rows)


@contextlib.contextmanager
def _experimental_functions() -> Iterator[None]:
    """Silence the warning that functions as arguments are experimental in Numba."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="First-class function type")
        yield


def _check(error: int, issued: int) -> None:
    """Raise an error for an error code that is not 0."""
    if error:
        raise RuntimeError(
            f"error {error} of the driver or of the vendor's BLAS after {issued} operations"
        )
