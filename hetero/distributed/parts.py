"""Compute the parts of a result wherever they are sent, and return their results in order."""

from __future__ import annotations

import contextlib
import pickle
import queue
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hetero import validation
from hetero.deferred_signals import DeferredSignals, run_whole
from hetero.devices import Device
from hetero.display.progress_bar import open_bar
from hetero.distributed.agreement import require_same
from hetero.distributed.cancellation import (
    StoppedError,
    as_completed,
    new_flag,
    raise_if_stopped,
    use_flag,
)
from hetero.distributed.dask_tasks import stopped_when_cancelled
from hetero.distributed.device_threads import borrow_threads
from hetero.distributed.interruption import interrupted_without, waiting_file
from hetero.distributed.worker_devices import device_of_rank, device_of_worker
from hetero.numba_internals.pickling import pickle_by_value

Part = TypeVar("Part")
Result = TypeVar("Result")

Task = Callable[[Part, Device], Result]
"""Computes a part on a device."""


class PartStore(Protocol):
    """A store of finished parts, such as a folder of files."""

    def load(self, parts: int) -> dict[int, Any]:
        """Return the results of the finished ones of `parts` parts by number."""

    def add(self, number: int, result: Any) -> None:
        """Keep the result of a part."""


class WorkerLostWarning(RuntimeWarning):
    """A worker has died, and its parts were computed by the calling process."""


def check_engine(executor: Executor | None, comm: Any) -> None:
    """Raise an error unless at most one of an executor and a communicator of MPI is given."""
    validation.check_executor("executor", executor)
    if comm is not None and not callable(getattr(comm, "allgather", None)):
        described = validation.describe(comm)
        raise TypeError(f"comm must be a communicator of mpi4py or None, got {described}")
    if executor is not None and comm is not None:
        raise ValueError("executor and comm exclude each other: ranks that call alike need no pool")


def count_workers(executor: Executor) -> int | None:
    """Return the number of an executor's workers, or None if it does not say.

    Pools of the standard library have `_max_workers`, mpi4py's `num_workers`, and Dask's a client.
    """
    client = getattr(executor, "_client", None)
    if client is not None:
        return len(client.nthreads()) or None
    for name in ("num_workers", "_max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return None


def run_parts(
    task: Task[Part, Result],
    parts: Sequence[Part],
    *,
    devices: Sequence[Device] = (),
    executor: Executor | None = None,
    comm: Any = None,
    kind: str | None = None,
    checkpoint: PartStore | None = None,
    on_result: Callable[[int, Result], None] | None = None,
    title: str = "",
    show_progress: bool = False,
    agreed: bool = False,
) -> list[Result]:
    """Return task(part, device) of every part, in the order of the parts.

    Parameters
    ----------
    task : function of a part and a device
        Workers get it by value, so that it may stand in a notebook.
    parts : what each call computes
    devices : of this process; a thread for each takes one part after the other
    executor : takes the parts instead; each worker chooses its device
        If workers die, their parts are computed here, with a `WorkerLostWarning`.
    comm : communicator of mpi4py; all ranks call alike, and all get all results
    kind : kind of device that workers and ranks shall use; None: a GPU if there is one
    checkpoint : open checkpoint of this computation
        Its parts are not computed again, and others are added as soon as they are known, on ranks
        by the one that has computed them.
    on_result : called in this thread with number and result of each part as soon as it is known,
        for example to store it; with `comm` when all ranks are done
    title, show_progress : name of the progress bar, and whether to show it
    agreed : the ranks are known to have the same work, which is not compared again

    Raises
    ------
    ValueError
        The ranks have different tasks or parts.
    Exception
        The first error of a task; parts that have not begun are not computed. With `comm` every
        rank raises: those without an error of their own a RuntimeError that quotes another's.
    """
    if comm is not None and not agreed:
        require_same(comm, task=task, parts=parts, checkpoint=checkpoint is not None)
    results: dict[int, Result] = _load(checkpoint, len(parts), comm)
    numbers = [number for number in range(len(parts)) if number not in results]
    missing = [parts[number] for number in numbers]
    with open_bar(title, len(parts), enabled=show_progress) as advance:
        advance(len(results))

        @run_whole
        def keep(k: int, result: Result) -> None:
            if checkpoint is not None:
                checkpoint.add(numbers[k], result)

        def take(k: int, result: Result) -> None:
            results[numbers[k]] = result
            if on_result is not None:
                on_result(numbers[k], result)
            advance(1)

        def keep_and_take(k: int, result: Result) -> None:
            keep(k, result)
            take(k, result)

        if not missing:
            pass
        elif comm is not None:
            _run_on_ranks(task, missing, comm, kind, keep, take)
        elif executor is not None:
            _run_by_workers(task, missing, executor, kind, keep_and_take)
        elif len(missing) == 1:
            keep_and_take(0, task(missing[0], devices[0]))
        else:
            _run_on_devices(task, missing, devices, keep_and_take)
    return [results[number] for number in range(len(parts))]


def _load(checkpoint: PartStore | None, parts: int, comm: Any) -> dict[int, Any]:
    """Return the finished parts of a checkpoint; ranks get what the first of them has read."""
    if checkpoint is None:
        return {}
    results: dict[int, Any] = {}
    with raised_by_all(comm):
        if comm is None or comm.Get_rank() == 0:
            results = checkpoint.load(parts)
    return results if comm is None else dict(comm.bcast(results))


def _run_on_devices(
    task: Task[Part, Result],
    parts: Sequence[Part],
    devices: Sequence[Device],
    take: Callable[[int, Result], None],
) -> None:
    """Compute parts by a thread for each device; the threads share the caller's CPU threads."""
    import numba

    share = max(1, numba.get_num_threads() // len(devices))
    flag, waiting = new_flag(), queue.SimpleQueue[tuple[Future[Result], Part]]()
    numbers: dict[Future[Result], int] = {}
    for number, part in enumerate(parts):
        future: Future[Result] = Future()
        numbers[future] = number
        waiting.put((future, part))

    def compute_next(device: Device) -> None:
        future, part = waiting.get_nowait()
        if not future.set_running_or_notify_cancel():
            return
        try:
            raise_if_stopped()
            future.set_result(task(part, device))
        except BaseException as error:
            flag[0] = 1  # before this thread takes another part
            future.set_exception(error)

    def compute_all(device: Device) -> None:
        numba.set_num_threads(share)
        with use_flag(flag), contextlib.suppress(queue.Empty):
            while True:
                compute_next(device)

    with borrow_threads(devices) as threads:
        pairs = zip(threads, devices, strict=True)
        working = [thread.submit(compute_all, device) for thread, device in pairs]
        try:
            _take_all(numbers, take, StoppedError)  # of which another part says why
        except BaseException:
            flag[0] = 1
            raise
        finally:
            wait(working)


def _run_by_workers(
    task: Task[Part, Result],
    parts: Sequence[Part],
    executor: Executor,
    kind: str | None,
    take: Callable[[int, Result], None],
) -> None:
    """Compute parts by the workers of an executor, and those that are lost with a worker here."""
    numbers: dict[Future[Result], int] = {}
    with waiting_file(executor) as path:
        with contextlib.suppress(BrokenExecutor):  # then the futures of the other parts say so, too
            for number, part in enumerate(parts):
                payload = pickle_by_value((task, part))
                numbers[_submit(executor, payload, kind, path)] = number
        lost = set(range(len(parts))) - _take_all(numbers, take, BrokenExecutor)
    if lost:
        warnings.warn(
            f"a worker of the executor has died: {len(lost)} of {len(parts)} parts are "
            "computed by this process",
            WorkerLostWarning,
            stacklevel=2,
        )
    for number in sorted(lost):
        take(number, task(parts[number], device_of_worker(kind)))


def _take_all(
    numbers: dict[Future[Result], int],
    take: Callable[[int, Result], None],
    ignored: type[Exception],
) -> set[int]:
    """Take the results of all parts but those that ended with an `ignored` error.

    Returns the numbers of those taken. If a part fails, or Ctrl-C comes, those that have been
    finished are taken before the error is raised: they may be stored.
    """
    taken_numbers: set[int] = set()

    def take_result(future: Future[Result]) -> None:
        result = future.result()
        with DeferredSignals():  # Ctrl-C while a result is stored does not lose it
            taken_numbers.add(numbers[future])
            take(numbers[future], result)

    try:
        for future in as_completed(numbers):
            with contextlib.suppress(ignored):
                take_result(future)
    except BaseException:
        for future, number in numbers.items():
            finished = future.done() and not future.cancelled() and future.exception() is None
            if finished and number not in taken_numbers:
                with contextlib.suppress(Exception):  # the first error is the one to be seen
                    take_result(future)
        raise
    return taken_numbers


def _submit(executor: Executor, *arguments: Any) -> Future[Any]:
    """Submit a part; raise ValueError if the executor takes no work."""
    try:
        return executor.submit(_compute, *arguments)
    except BrokenExecutor:
        raise
    except RuntimeError as error:
        raise ValueError(f"executor must take work, but it says: {error}") from None


def _compute(payload: bytes, kind: str | None, path: Path | None) -> Any:
    """Compute a part in a worker, as long as its caller waits for it."""
    with interrupted_without(path), stopped_when_cancelled():
        task, part = pickle.loads(payload)
        return task(part, device_of_worker(kind))


def _run_on_ranks(
    task: Task[Part, Result],
    parts: Sequence[Part],
    comm: Any,
    kind: str | None,
    keep: Callable[[int, Result], None],
    take: Callable[[int, Result], None],
) -> None:
    """Compute every size-th part on each rank, `keep` them there, and exchange the results."""
    rank, size = comm.Get_rank(), comm.Get_size()
    results: dict[int, Result] = {}
    with raised_by_all(comm):
        device = device_of_rank(comm, kind)
        for number in range(rank, len(parts), size):
            results[number] = task(parts[number], device)
            keep(number, results[number])
    gathered = comm.allgather(results)
    with raised_by_all(comm):  # storing them may fail on one rank, too
        for results_of_rank in gathered:
            for number, result in results_of_rank.items():
                take(number, result)


@contextlib.contextmanager
def raised_by_all(comm: Any) -> Iterator[None]:
    """Raise an error of the block on all ranks, so that none waits for another that is gone.

    All ranks run the block, in which they do not exchange anything. Those without an error of their
    own raise a RuntimeError that quotes another's. Without a communicator nothing is added.
    `SystemExit` and Ctrl-C count as errors.
    """
    if comm is None:
        yield
        return
    error: BaseException | None = None
    try:
        yield
    except BaseException as caught:
        error = caught
    message = None if error is None else "".join(traceback.format_exception_only(error)).strip()
    messages = comm.allgather(message)
    if error is not None:
        raise error
    for rank, said in enumerate(messages):
        if said is not None:
            raise RuntimeError(f"rank {rank} failed: {said}")
