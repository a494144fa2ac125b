"""A thread for each device of a call, kept for later calls.

A new thread would prepare launches, scratch memory and CPU threads anew, which takes milliseconds
for each pass of a call.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from hetero.devices import Device

_idle: dict[Device, list[ThreadPoolExecutor]] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a child has no threads of its parent


@contextlib.contextmanager
def borrow_threads(devices: Sequence[Device]) -> Iterator[list[ThreadPoolExecutor]]:
    """Lend executors of one thread, one for each device, to the block; other calls get others.

    The block waits for all the work that it submits.
    """
    lent: list[tuple[Device, ThreadPoolExecutor]] = []
    try:
        for device in devices:
            lent.append((device, _take(device)))
        yield [thread for _, thread in lent]
    finally:
        for device, thread in lent:
            _idle.setdefault(device, []).append(thread)


def _take(device: Device) -> ThreadPoolExecutor:
    """Return an idle thread of a device, or a new one."""
    try:
        return _idle[device].pop()
    except (KeyError, IndexError):
        return ThreadPoolExecutor(1, f"heterokit-device {device}")
