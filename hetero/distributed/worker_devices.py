"""The devices that take parts: of this process, of an executor's worker, and of an MPI rank."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, TypeAlias

from hetero import validation
from hetero.devices import Device, available, parse, resolve

Devices: TypeAlias = "Device | str | Iterable[Device | str] | None"
"""A device, several of one kind, "cuda:all" for every GPU, or None for a choice by the work."""

LOCAL_RANKS = (
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "SLURM_LOCALID",
)
"""Variables in which launchers of MPI tell a process its number on its host."""

_claims: list[IO[bytes]] = []
"""Files whose locks say that this process uses a GPU; they stay open as long as it lives."""


def several_devices(spec: Devices) -> tuple[Device, ...]:
    """Return the devices that `spec` names if it can name several, and else nothing.

    Parameters
    ----------
    spec : a sequence of devices of one kind, or "cuda:all"
        For a single device or None the result is empty: `hetero.resolve` takes these.

    Raises
    ------
    TypeError, ValueError, DeviceUnavailableError
    """
    if isinstance(spec, str) and spec.strip().lower() == "cuda:all":
        gpus = tuple(device for device in available() if device.kind == "cuda")
        return gpus or (resolve("cuda"),)  # raises the error that says what is missing
    if spec is None or isinstance(spec, str | Device):
        return ()
    validation.require_iterable("device", spec, "devices")
    devices = tuple(spec)
    if any(parse(device) is None for device in devices):
        raise TypeError('device must name each of several devices, such as "cuda:0"')
    resolved = tuple(resolve(device) for device in devices)
    if len({device.kind for device in resolved}) != 1:
        names = ", ".join(map(str, resolved)) or "none"
        raise ValueError(f"device must hold one or more devices of one kind, got {names}")
    return resolved


def requested_kind(spec: Devices) -> str | None:
    """Return the kind of device that workers elsewhere are asked for; None leaves it to them."""
    if isinstance(spec, str) and spec.strip().lower() == "cuda:all":
        return "cuda"
    if spec is None or isinstance(spec, str | Device):
        device = parse(spec)
        return None if device is None else device.kind
    raise TypeError(
        'device must be None, "cpu" or "cuda" with an executor or comm: each worker takes its own'
    )


@functools.cache
def device_of_worker(kind: str | None) -> Device:
    """Return the device of this worker process: a GPU of its own as far as there are enough.

    Launchers of MPI number the processes of a host, and others lock a file for each GPU that they
    take. Workers share GPUs only if there are more of them than GPUs.

    Parameters
    ----------
    kind : {"cpu", "cuda"} or None for a GPU if there is one
    """
    gpus = [] if kind == "cpu" else [device for device in available() if device.kind == "cuda"]
    if not gpus:
        return resolve(kind or "cpu")
    ranks = [os.environ[name] for name in LOCAL_RANKS if name in os.environ]
    if ranks and ranks[0].isdecimal():
        return gpus[int(ranks[0]) % len(gpus)]
    return next((gpu for gpu in gpus if _claim(gpu)), gpus[os.getpid() % len(gpus)])


def device_of_rank(comm: Any, kind: str | None) -> Device:
    """Return the device of a rank: GPU k for the k-th rank of its host, in turns."""
    from mpi4py import MPI

    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    number = host.Get_rank()
    host.Free()
    gpus = [] if kind == "cpu" else [device for device in available() if device.kind == "cuda"]
    return gpus[number % len(gpus)] if gpus else resolve(kind or "cpu")


def _claim(gpu: Device) -> bool:
    """Lock the file of a GPU for the rest of this process; return False if another has it."""
    try:
        import fcntl
    except ImportError:  # Windows: workers take GPUs by their process numbers
        return False
    from hetero.cuda.driver import SIMULATOR, cuda

    name = str(gpu) if SIMULATOR else str(cuda.gpus[gpu.index].uuid)
    path = Path(tempfile.gettempdir()) / f"heterokit-{os.getuid()}-{name}.lock"
    try:
        file = path.open("ab")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    _claims.append(file)
    return True
