"""The exchange of halos between the parts of a domain."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeGuard

from hetero.devices import Device
from lbm._kernels.engine import Engine
from lbm._kernels.problem import Box
from lbm._parallel.planes import CopyTables, Face, buffer_planes, copy_tables


class Worker(Protocol):
    """Steps the cells of a block in the order that an exchange needs, and copies planes of its
    arrays [slot, cell]: the populations, or a field.

    Attributes
    ----------
    on_gpu : whether the block is in the memory of a GPU
    engine : the block
    stream : stream of a GPU in which messages arrive and links are computed, or None
    """

    on_gpu: bool
    engine: Engine
    stream: Any

    def begin(self, t: int) -> None:
        """Step the cells beside other parts."""

    def step_interior(self, t: int, piece: int) -> None:
        """Step a piece of the interior."""

    def begin_inside(self, t: int) -> None:
        """Step the interior, where halos are filled before a step, while they are on their way."""

    def end_outside(self, t: int) -> None:
        """Step the cells beside other parts, whose halos have been filled."""

    def begin_links(self) -> None:
        """Let the loops over links that follow wait for all cells and messages of the step."""

    def end_links(self) -> None:
        """Let the next step wait for these loops."""

    def populations_after(self, t: int, for_gpu: bool = ...) -> Any:
        """Return the populations [slot, cell] that step t writes, as the CPU or a GPU sees them."""

    def allocate(self, shape: tuple[int, int], dtype: type) -> tuple[Any, Any]:
        """Return a buffer for messages in host memory, as MPI and as `prepare_copy` see it."""
        ...

    def prepare_copy(self, source: Any, target: Any, tables: CopyTables) -> Callable[[], None]:
        """Return a function that copies planes between two arrays [slot, cell]."""
        ...

    def mark_copied(self) -> None:
        """Note that the copies up to here have been started."""

    def wait_for(self, other: Any) -> None:
        """Wait, before the next operation, until the marked copies of another worker are done."""

    def wait_until_copied(self) -> None:
        """Return once the marked copies are done."""

    def start_timer(self, launches: int) -> None:
        """Begin to time the copies that follow, in which the host starts kernels so many times."""

    def stop_timer(self) -> float:
        """Return the seconds of the copies since `start_timer`, when they are done."""
        ...


class GPUWorker(Worker, Protocol):
    """The worker of a block on a GPU, which can do more than one on a CPU."""

    def allocate_on_device(self, shape: tuple[int, int], dtype: type) -> Any:
        """Return a buffer for messages in the GPU's memory."""

    def keep(self, array: Any) -> None:
        """Keep an array of another process as long as this worker lives."""


def is_on_gpu(worker: Worker) -> TypeGuard[GPUWorker]:
    """Return whether a worker's block is on a GPU."""
    return worker.on_gpu


class End(NamedTuple):
    """An end of the copies between two neighbouring parts.

    Attributes
    ----------
    worker : worker of the part
    face : the face of the part through which planes leave and enter
    array : array(odd, for_gpu) -> the array [slot, cell] of the part whose planes cross the face
        after an even or odd step, as the CPU or a GPU sees it
    """

    worker: Worker
    face: Face
    array: Callable[[int, bool], Any]

    def prepare_pack(self, odd: int, buffer: Any) -> Callable[[], None]:
        """Return a function that copies the planes that leave to a buffer [plane, u v]."""
        planes, size = self.face.outgoing(odd), self.face.size
        tables = copy_tables(planes, buffer_planes(len(planes.slots), size), size)
        return self.worker.prepare_copy(self.array(odd, self.worker.on_gpu), buffer, tables)

    def prepare_unpack(self, odd: int, buffer: Any) -> Callable[[], None]:
        """Return a function that copies the planes that enter from a buffer [plane, u v]."""
        (planes, writable), size = self.face.incoming(odd), self.face.size
        tables = copy_tables(buffer_planes(len(planes.slots), size), planes, size, writable)
        return self.worker.prepare_copy(buffer, self.array(odd, self.worker.on_gpu), tables)


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def create_worker(
        self, engine: Engine, edges: Sequence[Box], interior: Sequence[Box], mapped: Any = None
    ) -> Worker:
        """Create the worker of a block.

        Parameters
        ----------
        engine : the block
        edges : the cells beside other parts, which are stepped first
        interior : the other cells, in one piece for each axis of the exchange
        mapped : the populations as GPUs see them, if a block of the CPU lies in such memory
        """
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._parallel.exchange import cpu

        return cpu
    from lbm._parallel.exchange import cuda

    return cuda
