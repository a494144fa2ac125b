"""Comparison of the memory that a domain needs with what its devices have, before it is built."""

from __future__ import annotations

import math

from numpy.typing import DTypeLike

import hetero
from hetero import memory
from hetero.devices import Device
from hetero.errors import format_bytes
from hetero.memory import free_bytes
from lbm._kernels.problem import population_bytes, viscosity_bytes
from lbm._parallel.partition import cut_rows
from lbm.collisions import CollisionChoice, choose_operator
from lbm.collisions.automatic import AUTO
from lbm.collisions.operator import Collision
from lbm.lattices import D3Q19, Lattice, choose_lattice
from lbm.lattices.precision import PRECISIONS, Precision, choose_precision
from lbm.lattices.streaming_patterns import make_pattern

CPU = Device("cpu")

SLAB_CELLS = 1 << 24
"""Cells whose moments are read at a time: 256 MiB in float32."""


def required_bytes(
    shape: tuple[int, int, int],
    pattern: str,
    precision: Precision,
    lattice: Lattice = D3Q19,
    reads_viscosity: bool = False,
) -> int:
    """Return the bytes that a domain needs on its device at least.

    They hold the populations, the classes and the moments of a slab, and what belongs to the eddy
    viscosity if the operator reads it.
    """
    cells = math.prod(shape)
    fields = 4 * precision.compute().itemsize * min(cells, SLAB_CELLS)
    eddies = reads_viscosity and viscosity_bytes(cells, precision)
    populations = population_bytes(cells, make_pattern(pattern, lattice), precision)
    return populations + cells + fields + eddies


def require_memory(
    shape: tuple[int, int, int],
    *,
    pattern: str = "esoteric",
    dtype: DTypeLike = "float32",
    storage: DTypeLike | None = None,
    state: str = "populations",
    ratio: float | str = 0.0,
    solids: bool = False,
    lattice: str | Lattice = D3Q19,
    collision: CollisionChoice | None = None,
    device: str | Device | None = None,
    **_: object,
) -> None:
    """Raise MemoryError if a domain cannot fit, judged by its shape and the size of its numbers.

    `Simulation` calls this before it looks at the geometry, which takes a while for large domains.
    Call it before building large arrays for a domain. The parameters are those of `Simulation`, and
    an operator may also be a name or a class; `solids` says whether there are any, because finding
    their walls takes more memory.
    """
    cpu, precision = CPU, choose_precision(dtype, storage, state)
    lattice, eddies = choose_lattice(lattice), _reads_viscosity(collision)
    device = hetero.resolve(device, work=float(math.prod(shape)), break_even=32**3)
    geometry = (5 if solids else 2) * math.prod(shape)
    if isinstance(ratio, str):  # the shares are chosen later: both devices together must suffice
        needed = required_bytes(shape, pattern, precision, lattice, eddies) + geometry
        free = free_bytes(device) + free_bytes(cpu)
        if needed > free:
            raise shortage_error(shape, pattern, precision, lattice, needed, free, device, eddies)
        return
    rows = cut_rows(shape[1], ratio) if ratio else 0
    bytes_on = {cpu: geometry, device: 0} | ({device: geometry} if device == cpu else {})
    for each_device, count in ((cpu, rows), (device, shape[1] - rows)):
        if count:
            part = shape[0], count, shape[2]
            bytes_on[each_device] += required_bytes(part, pattern, precision, lattice, eddies)
    for each_device, needed in bytes_on.items():
        free = free_bytes(each_device)
        if needed > free:
            raise shortage_error(
                shape, pattern, precision, lattice, needed, free, each_device, eddies
            )


def _reads_viscosity(collision: CollisionChoice | None) -> bool:
    """Return whether an operator keeps the eddy viscosity of each cell."""
    if collision is None or isinstance(collision, Collision):
        return collision is not None and collision.reads_viscosity
    return collision != AUTO and choose_operator(collision).reads_viscosity


def shortage_error(
    shape: tuple[int, int, int],
    pattern: str,
    precision: Precision,
    lattice: Lattice,
    needed: int,
    free: int,
    device: Device,
    reads_viscosity: bool = False,
) -> MemoryError:
    """Return the error for a domain that does not fit, with possible remedies."""
    remedies = [f"take at most {free / needed * math.prod(shape):.2g} cells"]
    if precision.moments == 10 and precision.itemsize == 4:
        remedies.append("storage='float16' needs half of it")
    elif precision.moments == 0 and pattern == "ab":
        less = required_bytes(shape, "esoteric", precision, lattice, reads_viscosity)
        remedies.append(f"pattern='esoteric' (in place) needs {format_bytes(less)}")
    for lower in PRECISIONS.values():
        if lower.moments == 0 and lower.itemsize < precision.itemsize and not precision.moments:
            less = required_bytes(shape, pattern, lower, lattice, reads_viscosity)
            remedies.append(f"{lower} needs {format_bytes(less)}")
    if lattice != D3Q19:
        less = required_bytes(shape, pattern, precision, reads_viscosity=reads_viscosity)
        remedies.append(f"lattice={D3Q19.name!r} needs {format_bytes(less)}")
    if reads_viscosity:
        less = required_bytes(shape, pattern, precision, lattice)
        remedies.append(f"an operator without a field of eddy viscosity needs {format_bytes(less)}")
    if device.kind == "cuda":
        remedies.append(f"device='cpu' has {format_bytes(free_bytes(Device('cpu')))}")
    size = " x ".join(map(str, shape))
    domain = f"a domain of {size} cells with pattern={pattern!r}, {precision}"
    return memory.shortage(domain, device, needed, free, remedies)
