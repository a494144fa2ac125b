"""Comparison of the memory that a domain needs with what its devices have, before it is built."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import DTypeLike

import hetero
from hetero import memory
from hetero.devices import Device
from hetero.errors import format_bytes
from hetero.memory import free_bytes
from lbm._kernels.moments.limits import MOMENTS_PATTERN
from lbm._kernels.problem import population_bytes, viscosity_bytes
from lbm._parallel.partition import cut_rows
from lbm.collisions import CollisionChoice, choose_operator
from lbm.collisions.automatic import AUTO
from lbm.collisions.operator import Collision
from lbm.lattices import D3Q19, Lattice, choose_lattice
from lbm.lattices.extent import Triple
from lbm.lattices.precision import PRECISIONS, Precision, choose_precision
from lbm.lattices.streaming_patterns import make_pattern

CPU = Device("cpu")

SLAB_CELLS = 1 << 24
"""Cells whose moments are read at a time: 256 MiB in float32."""


@dataclass(frozen=True)
class Storage:
    """Form in which the cells of a domain are stored: it decides the memory that they need.

    Attributes
    ----------
    pattern : name of the streaming pattern
    precision : dtypes of the arithmetic and of the memory
    lattice : the lattice
    reads_viscosity : whether the operator keeps the eddy viscosity of each cell
    """

    pattern: str
    precision: Precision
    lattice: Lattice = D3Q19
    reads_viscosity: bool = False

    def required_bytes(self, shape: Triple) -> int:
        """Return the bytes that a domain needs on its device at least.

        They hold the populations, the classes and the moments of a slab, and what belongs to the
        eddy viscosity if the operator reads it.
        """
        cells, pattern = math.prod(shape), make_pattern(self.pattern, self.lattice)
        fields = 4 * self.precision.compute().itemsize * min(cells, SLAB_CELLS)
        eddies = self.reads_viscosity and viscosity_bytes(cells, self.precision)
        return population_bytes(cells, pattern, self.precision) + cells + fields + eddies


def choose_storage(
    *, pattern: str = "esoteric", dtype: DTypeLike = "float32", storage: DTypeLike | None = None,
    state: str = "populations", lattice: str | Lattice = D3Q19,
    collision: CollisionChoice | None = None, **_: object,
) -> Storage:  # fmt: skip
    """Return the storage that arguments of a `Simulation` choose; others are ignored."""
    precision = choose_precision(dtype, storage, state)
    pattern, reads_viscosity = MOMENTS_PATTERN if precision.moments else pattern, False
    if collision not in (None, AUTO):
        operator = collision if isinstance(collision, Collision) else choose_operator(collision)
        reads_viscosity = operator.reads_viscosity
    return Storage(pattern, precision, choose_lattice(lattice), reads_viscosity)


def require_memory(
    shape: Triple,
    *,
    ratio: float | str = 0.0,
    solids: bool = False,
    device: str | Device | None = None,
    **settings: Any,
) -> None:
    """Raise MemoryError if a domain cannot fit, judged by its shape and the size of its numbers.

    Call this before building large arrays for a domain. The parameters are those of `Simulation`,
    and an operator may also be a name or a class; `solids` says whether there are any.
    """
    device = hetero.resolve(device, work=float(math.prod(shape)), break_even=32**3)
    require_room([(shape, device)], choose_storage(**settings), ratio, solids, {})


def require_room(
    boxes: Sequence[tuple[Triple, Device]], storage: Storage, ratio: float | str, solids: bool,
    sharers: Mapping[Device, int],
) -> None:  # fmt: skip
    """Raise MemoryError if boxes do not fit on their devices, and the CPU's share on the CPU.

    `Simulation` calls this before it looks at the geometry, which takes a while for large domains;
    finding the walls of solids takes more memory. `sharers` says how many ranks take as much of a
    device, if it is more than one.
    """
    bytes_on: Counter[Device] = Counter()
    for shape, device in boxes:
        bytes_on[CPU] += (5 if solids else 2) * math.prod(shape)
        rows = cut_rows(shape[1], ratio) if ratio and not isinstance(ratio, str) else 0
        for each_device, count in ((CPU, rows), (device, shape[1] - rows)):
            if count:
                bytes_on[each_device] += storage.required_bytes((shape[0], count, shape[2]))
    free = {each: free_bytes(each, sharers=sharers.get(each, 1)) for each in bytes_on}
    shape, device = boxes[0]
    if isinstance(ratio, str):  # the shares are chosen later: all devices together must suffice
        bytes_on, free = Counter({device: bytes_on.total()}), {device: sum(free.values())}
    for each_device, needed in bytes_on.items():
        if needed > free[each_device]:
            ranks = sharers.get(each_device, 1)
            count = ranks * max(1, sum(d == each_device for _, d in boxes))
            raise shortage_error(
                shape, storage, ranks * needed, ranks * free[each_device], each_device, count
            )


def shortage_error(
    shape: Triple, storage: Storage, needed: int, free: int, device: Device, boxes: int = 1
) -> MemoryError:
    """Return the error for boxes of a shape that do not fit, with possible remedies."""
    precision = storage.precision

    def bytes_with(**changes: Any) -> str:
        return format_bytes(boxes * replace(storage, **changes).required_bytes(shape))

    remedies = [f"take at most {free / needed * boxes * math.prod(shape):.2g} cells"]
    if precision.moments == 10 and precision.itemsize == 4:
        remedies.append("storage='float16' needs half of it")
    elif precision.moments == 0 and storage.pattern == "ab":
        less = bytes_with(pattern="esoteric")
        remedies.append(f"pattern='esoteric' (in place) needs {less}")
    for lower in PRECISIONS.values():
        if lower.moments == 0 and lower.itemsize < precision.itemsize and not precision.moments:
            remedies.append(f"{lower} needs {bytes_with(precision=lower)}")
    if storage.lattice != D3Q19:
        remedies.append(f"lattice={D3Q19.name!r} needs {bytes_with(lattice=D3Q19)}")
    if storage.reads_viscosity:
        less = bytes_with(reads_viscosity=False)
        remedies.append(f"an operator without a field of eddy viscosity needs {less}")
    if device.kind == "cuda":
        remedies.append(f"device='cpu' has {format_bytes(free_bytes(CPU))}")
    size = " x ".join(map(str, shape))
    parts = f"{boxes} boxes of " if boxes > 1 else ""
    domain = f"a domain of {parts}{size} cells with pattern={storage.pattern!r}, {precision}"
    return memory.shortage(domain, device, needed, free, remedies)
