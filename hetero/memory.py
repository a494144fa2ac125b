"""Free memory of a device, and the error for work that needs more than is free."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from hetero.devices import Device
from hetero.errors import format_bytes

_UNKNOWN = 1 << 62


def shortage(
    subject: str, device: Device, need: int, free: int, remedies: Sequence[str]
) -> MemoryError:
    """Return the MemoryError for work that does not fit: its need, what is free, what to do.

    Parameters
    ----------
    subject : the work as the subject of a sentence, "a domain of 8 x 8 x 8 cells"
    need, free : bytes
    remedies : imperative clauses, most useful first
    """
    return MemoryError(
        f"{subject} needs {format_bytes(need)} on {device}, which has {format_bytes(free)} free. "
        f"Remedy: {'; '.join(remedies)}"
    )


SMALL = 1 << 26
"""Bytes below which nothing is compared with what is free: asking the system takes 0.1 ms."""


def require_array(
    subject: str, shape: Sequence[int], dtype: DTypeLike, devices: Sequence[Device]
) -> None:
    """Raise MemoryError if an array does not fit into the memory of each of `devices`.

    Parameters
    ----------
    subject : plural noun for the elements, "normal numbers"
    """
    dtype, count = np.dtype(dtype), math.prod(shape)
    need = count * dtype.itemsize
    for device in devices:
        if need < SMALL or need <= (free := free_bytes(device, need)):
            continue
        remedies = [f"take at most {int(free / need * count)} at a time"]
        if dtype == np.float64:
            remedies.append(f"dtype='float32' needs {format_bytes(need // 2)}")
        text = " x ".join(map(str, shape))
        raise shortage(f"an array of {text} {subject}", device, need, free, remedies)


def free_bytes(device: Device, needed: float = math.inf, sharers: int = 1) -> int:
    """Return the memory that this process can still get on a device, in bytes.

    If `sharers` processes are about to take as much of it, this is the share of each. On a GPU,
    arrays that are no longer used are freed first, and the memory that CuPy keeps for new arrays,
    unless `needed` bytes are free without that: giving back waits for the GPU, and the next
    allocation takes milliseconds.
    """
    if device.kind == "cpu":
        common = min(_available_bytes(), _bytes_to_group_limit()) // sharers
        return max(0, min(common, _bytes_to_process_limit()))
    from hetero.cuda.driver import SIMULATOR, cuda

    if SIMULATOR:
        return 1 << 30
    with device.active():
        context = cuda.current_context()
        free = int(context.get_memory_info().free) // sharers
        if free >= needed:
            return free
        context.deallocations.clear()
        if "cupy" in sys.modules:
            sys.modules["cupy"].get_default_memory_pool().free_all_blocks()
        return int(context.get_memory_info().free) // sharers


def _available_bytes() -> int:
    """Return the bytes that the system reports as available."""
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return _UNKNOWN


def _bytes_to_group_limit() -> int:
    """Return the bytes that a container's limit leaves, with files that can leave memory."""
    for folder, limit, used in (
        ("/sys/fs/cgroup", "memory.max", "memory.current"),
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            allowed = int((Path(folder) / limit).read_text())  # "max", an error, without a limit
            current = int((Path(folder) / used).read_text())
            statistics = (Path(folder) / "memory.stat").read_text().split()
            files = dict(zip(statistics[::2], map(int, statistics[1::2]), strict=True))
            return allowed - current + files.get("inactive_file", 0)
        except (OSError, ValueError):
            continue
    return _UNKNOWN


def _bytes_to_process_limit() -> int:
    """Return the bytes that `ulimit -v` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return (
            _UNKNOWN if limit == resource.RLIM_INFINITY else limit - pages * resource.getpagesize()
        )
    except (ImportError, OSError, ValueError):
        return _UNKNOWN
