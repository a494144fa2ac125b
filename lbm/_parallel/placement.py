"""Devices of the ranks, and the parts of the domain that each of them computes."""

from __future__ import annotations

import math
import socket
import warnings
from collections.abc import Iterable, Sequence

import numpy as np

import hetero
from hetero.devices import Device
from hetero.distributed.worker_devices import several_devices
from lbm._parallel.memory_forecast import Storage, require_room
from lbm._parallel.partition import Partition
from lbm._parallel.ranks.communication import Ranks
from lbm.lattices.extent import Triple

CPU = Device("cpu")

BREAK_EVEN = 32**3
"""Cells of a rank from which a GPU is faster than a CPU."""

DeviceArgument = str | Device | None | Sequence[str | Device]
"""The argument `device` of a simulation."""


def choose_devices(device: DeviceArgument, shape: Triple, ranks: Ranks) -> list[Device]:
    """Return the devices of this rank: one, or those of a list, if there is one rank.

    Ranks of a host that do not name a GPU share its GPUs evenly. A warning says so if there are
    more ranks than GPUs.
    """
    if isinstance(device, str) and (gpus := several_devices(device)):  # "cuda:all"
        device = gpus if ranks.size == 1 else "cuda"
    if isinstance(device, Sequence) and not isinstance(device, str):
        if not device or any(d is None for d in device):
            raise ValueError(f"device must name at least one device, got {device!r}")
        if ranks.size > 1:
            raise ValueError(
                f"device={list(map(str, device))!r} is a list, but there are {ranks.size} ranks: "
                "start one rank for each GPU and leave device out"
            )
        return [hetero.resolve(d) for d in device]
    work = math.prod(shape) / ranks.size
    chosen = hetero.resolve(device, work=work, break_even=BREAK_EVEN)
    is_numbered = isinstance(device, Device) or (isinstance(device, str) and ":" in device)
    if ranks.size == 1 or chosen.kind == "cpu" or is_numbered:
        if ranks.size > 1:
            _warn_of_sharing(ranks, chosen)
        return [chosen]
    index, count = _position_on_host(ranks), sum(d.kind == "cuda" for d in hetero.available())
    chosen = Device("cuda", index % count)
    _warn_of_sharing(ranks, chosen)
    return [chosen]


def _position_on_host(ranks: Ranks) -> int:
    """Return the number of this rank among those of its host."""
    from mpi4py import MPI

    local = ranks.communicator.Split_type(MPI.COMM_TYPE_SHARED)
    position = int(local.rank)
    local.Free()
    return position


def _warn_of_sharing(ranks: Ranks, device: Device) -> None:
    """Warn, on the first of them, if several ranks of a host compute on one GPU."""
    identities = ranks.gather_all((socket.gethostname(), _identity(device)))
    if device.kind == "cpu":
        return
    this_gpu = identities[ranks.rank]
    sharing = [rank for rank, identity in enumerate(identities) if identity == this_gpu]
    if len(sharing) > 1 and sharing[0] == ranks.rank:
        warnings.warn(
            f"ranks {', '.join(map(str, sharing))} share {device} of {this_gpu[0]}: "
            "start one rank for each GPU, or they slow each other down",
            stacklevel=4,
        )


def _identity(device: Device) -> str:
    """Return a name of a device that is unique on its host.

    Ranks that see one GPU each, as a batch system may arrange, all call theirs cuda:0.
    """
    if device.kind == "cpu":
        return "cpu"
    from hetero.cuda.driver import SIMULATOR, cuda

    return str(device) if SIMULATOR else str(cuda.gpus[device.index].uuid)


def place_parts(
    partition: Partition, devices: Sequence[Device], ratio: float, ranks: Ranks
) -> tuple[Partition, dict[Triple, Device]]:
    """Return the partition and the device of each part of this rank.

    With several devices box number k belongs to device number k. A `ratio` between 0 and 1 cuts
    each box across y, and the CPU computes its share of the rows.
    """
    numbers = np.arange(partition.owners.size).reshape(partition.owners.shape, order="F")
    if ratio == 1.0:
        return partition, dict.fromkeys(partition.parts_of(ranks.rank), CPU)
    is_split = ratio > 0.0
    fine = partition.split_rows(ratio) if is_split else partition
    placed: dict[Triple, Device] = {}
    for x, y, z in fine.parts_of(ranks.rank):
        number = int(numbers[x, y // 2 if is_split else y, z])
        device = devices[number % len(devices)]
        placed[x, y, z] = CPU if is_split and y % 2 == 0 else device
    return fine, placed


def require_memory_of_parts(
    partition: Partition,
    devices: Sequence[Device],
    ranks: Ranks,
    storage: Storage,
    ratio: float | str,
    solids: bool,
) -> None:
    """Raise MemoryError if the boxes of this rank, and of others beside it, do not fit."""
    _, placed = place_parts(partition, devices, 0.0, ranks)
    boxes = [(partition.extent(box).shape, device) for box, device in placed.items()]
    require_room(boxes, storage, ratio, solids, count_sharers(ranks, devices))


def count_sharers(ranks: Ranks, devices: Iterable[Device]) -> dict[Device, int]:
    """Return how many ranks of this host compute on each of some devices of this rank.

    On the CPU these are all of them, because what belongs to GPUs needs host memory, too.
    """
    host, names = socket.gethostname(), {device: _identity(device) for device in devices}
    everyone = ranks.gather_all((host, set(names.values())))
    here = [theirs for name, theirs in everyone if name == host]
    return {d: sum(name in theirs for theirs in here) for d, name in names.items()} | {
        CPU: len(here)
    }
