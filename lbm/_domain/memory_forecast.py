"""Memory that a domain needs and a device has, compared before anything is built."""

from __future__ import annotations

import math

import hetero
from hetero import memory
from hetero.devices import Device
from hetero.errors import format_bytes
from hetero.memory import free_bytes
from lbm._engines.engine import population_bytes
from lbm._model.precision import PRECISIONS
from lbm._model.streaming_patterns import PATTERNS

SLAB_CELLS = 1 << 24
"""Cells whose moments are read at a time: 256 MiB in float32."""


def required_bytes(
    shape: tuple[int, int, int], pattern: str = "esoteric", precision: str = "float32"
) -> int:
    """Return the bytes that a domain needs on its device at least.

    They hold the populations, the classes and the moments of a slab.
    """
    cells, form = math.prod(shape), PRECISIONS[precision]
    fields = 4 * form.compute().itemsize * min(cells, SLAB_CELLS)
    return population_bytes(cells, PATTERNS[pattern], form) + cells + fields


def require_memory(
    shape, *, pattern="esoteric", precision="float32", ratio=0.0, device=None, solids=False, **_
) -> None:
    """Raise MemoryError if a domain cannot fit, judged by its shape and the size of its numbers.

    `Simulation` calls this before it looks at the geometry, which takes a while for large domains.
    Call it before building large arrays for a domain. The parameters are those of `Simulation`;
    `solids` says whether there are any, because finding their walls takes more memory.
    """
    cpu = Device("cpu")
    device = hetero.resolve(device, work=float(math.prod(shape)), break_even=32**3)
    geometry = (5 if solids else 2) * math.prod(shape)
    if ratio == "auto":  # the shares are chosen later: both devices together must have the memory
        need = required_bytes(shape, pattern, precision) + geometry
        _require(shape, pattern, precision, device, need, free_bytes(device) + free_bytes(cpu))
        return
    rows = round(ratio * shape[1]) or (1 if ratio else 0)
    need = {cpu: geometry, device: 0} | ({device: geometry} if device == cpu else {})
    for each_device, count in ((cpu, rows), (device, shape[1] - rows)):
        if count:
            need[each_device] += required_bytes((shape[0], count, shape[2]), pattern, precision)
    for each_device, count in need.items():
        _require(shape, pattern, precision, each_device, count, free_bytes(each_device))


def _require(shape, pattern, precision, device, need: int, free: int) -> None:
    if need > free:
        raise shortage_error(shape, pattern, precision, device, need, free)


def shortage_error(
    shape: tuple[int, int, int], pattern: str, precision: str, device: Device, need: int, free: int
) -> MemoryError:
    """Return the error for a domain that does not fit, with possible remedies."""
    remedies = [f"take at most {free / need * math.prod(shape):.2g} cells"]
    if pattern == "ab":
        less = required_bytes(shape, "esoteric", precision)
        remedies.append(f"pattern='esoteric' (in place) needs {format_bytes(less)}")
    for lower in {"float64": ("float32", "float16"), "float32": ("float16",)}.get(precision, ()):
        less = required_bytes(shape, pattern, lower)
        remedies.append(f"precision={lower!r} needs {format_bytes(less)}")
    if device.kind == "cuda":
        remedies.append(f"device='cpu' has {format_bytes(free_bytes(Device('cpu')))}")
    size = " x ".join(map(str, shape))
    domain = f"a domain of {size} cells with pattern={pattern!r} and precision={precision!r}"
    return memory.shortage(domain, device, need, free, remedies)
