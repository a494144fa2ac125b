"""The engine of a call, which its arguments `device`, `executor` and `comm` choose together."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

from hetero.devices import Device
from hetero.distributed.parts import (
    Part,
    PartStore,
    Result,
    Task,
    check_engine,
    count_workers,
    raised_by_all,
    run_parts,
)
from hetero.distributed.worker_devices import Devices, requested_kind, several_devices


@dataclass(frozen=True)
class Engine:
    """Several devices of this process, an executor, or ranks; or one device, as without an engine.

    Attributes
    ----------
    devices : the devices of this process, if the caller named several
    executor, comm : see `run_parts`
    kind : kind of device that workers and ranks shall use, or None
    local : what `hetero.resolve` takes for computations of this process: the device that the caller
        named or the first of several; "cpu" if the work is done elsewhere
    """

    devices: tuple[Device, ...]
    executor: Executor | None
    comm: Any
    kind: str | None
    local: Device | str | None

    @classmethod
    def create(cls, device: Devices, executor: Executor | None, comm: Any) -> Engine:
        """Check the three arguments of a public function.

        Raises
        ------
        TypeError, ValueError, DeviceUnavailableError
        """
        if executor is not None or comm is not None:
            check_engine(executor, comm)
            return cls((), executor, comm, requested_kind(device), "cpu")
        if (
            device is None
            or isinstance(device, Device)
            or (isinstance(device, str) and device == "cpu")
        ):
            return cls((), None, None, None, device)
        several = several_devices(device)
        single = several[0] if several else cast("Device | str | None", device)
        return cls(several, None, None, None, single)

    @property
    def is_elsewhere(self) -> bool:
        """True if workers or ranks compute, which choose their devices themselves."""
        return self.executor is not None or self.comm is not None

    @property
    def is_single(self) -> bool:
        """True if one device of this process computes everything."""
        return not self.is_elsewhere and len(self.devices) < 2

    @property
    def is_root(self) -> bool:
        """True in the first of the ranks, and where there are none."""
        return self.comm is None or self.comm.Get_rank() == 0

    def count_parts(self) -> int:
        """Return how many parts a computation has if its caller does not say.

        One for each device or rank, and four for each worker, so that slower ones get fewer.
        """
        if self.comm is not None:
            return int(self.comm.Get_size())
        if self.executor is not None:
            return 4 * (count_workers(self.executor) or 8)
        return max(1, len(self.devices))

    def raised_by_all(self) -> AbstractContextManager[None]:
        """Return a block whose errors all ranks raise; see `hetero.distributed.parts`."""
        return contextlib.nullcontext() if self.is_single else raised_by_all(self.comm)

    def run(
        self,
        task: Task[Part, Result],
        parts: Sequence[Part],
        *,
        device: Device | None = None,
        checkpoint: PartStore | None = None,
        on_result: Callable[[int, Result], None] | None = None,
        title: str = "",
        show_progress: bool = False,
        agreed: bool = False,
    ) -> list[Result]:
        """Return the results of `run_parts`; `device` computes if the caller named none or one."""
        return run_parts(
            task,
            parts,
            devices=self.devices or (() if device is None else (device,)),
            executor=self.executor,
            comm=self.comm,
            kind=self.kind,
            checkpoint=checkpoint,
            on_result=on_result,
            title=title,
            show_progress=show_progress,
            agreed=agreed,
        )
