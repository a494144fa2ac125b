"""Occupancy of kernels: the share of a multiprocessor's warps that can be resident at once.

The rules are NVIDIA's (CUDA C++ Programming Guide, tables of compute capabilities, and the header
cuda_occupancy.h of the toolkit). They need registers, shared memory and the size of a block, no
GPU; `hetero.cuda.resources` gives the former.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hetero.validation import check_integer

WARP = 32
"""Threads of a warp."""

MAX_THREADS = 1024
"""Threads of a block at most, for the compute capabilities of `LIMITS`."""

MAX_REGISTERS = 255
"""Registers of a thread at most."""

REGISTER_UNIT = 256
"""A warp is given registers in multiples of this number."""

CHECKED_PARTITIONS = 4
"""A launch is refused unless the registers suffice for the block's warps, rounded up to a multiple
of this number. It holds for 6.0 too, which has 2 partitions: NVIDIA refuses there what its sister
chips with 4 cannot run."""

_UNLIMITED = 1 << 30
"""Number of blocks for a resource that a kernel does not use."""


@dataclass(frozen=True)
class MultiprocessorLimits:
    """Resources of a multiprocessor. Memory is in bytes.

    Attributes
    ----------
    warps, blocks : resident ones, at most
    registers : 32-bit registers, which are also the most that a block can have
    partitions : parts of equal size that the registers and the warps are divided into
    shared_memory : shared memory of all blocks, at its largest setting
    block_shared_memory : shared memory of one block, at most, by request
    reserved_shared_memory : shared memory that the system takes from each block
    shared_memory_unit : a block is given shared memory in multiples of this number
    """

    warps: int
    blocks: int
    registers: int
    partitions: int
    shared_memory: int
    block_shared_memory: int
    reserved_shared_memory: int
    shared_memory_unit: int


_KIB = 1024

LIMITS: Mapping[tuple[int, int], MultiprocessorLimits] = MappingProxyType(
    {
        (3, 5): MultiprocessorLimits(64, 16, 65536, 4, 48 * _KIB, 48 * _KIB, 0, 256),
        (6, 0): MultiprocessorLimits(64, 32, 65536, 2, 64 * _KIB, 48 * _KIB, 0, 256),
        (9, 0): MultiprocessorLimits(64, 32, 65536, 4, 228 * _KIB, 227 * _KIB, _KIB, 128),
    }
)
"""Limits by compute capability: 3.5 is that of a Tesla K40m, 6.0 of a P100, 9.0 of an H200."""


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps of a kernel that a multiprocessor holds at once.

    Attributes
    ----------
    blocks : resident blocks; 0 for a kernel that cannot be started
    warps : their warps
    share : `warps` over the largest number of resident warps, from 0 to 1
    limited_by : the resources that allow no further block, of "warps", "blocks", "registers" and
        "shared memory"
    """

    blocks: int
    warps: int
    share: float
    limited_by: tuple[str, ...]


def occupancy(
    compute_capability: tuple[int, int], *, threads: int, registers: int, shared_memory: int = 0
) -> Occupancy:
    """Return the theoretical occupancy of a kernel on a GPU, which need not be present.

    It supposes a grid that is large enough to fill the GPU, and shared memory at its largest
    setting where it shares its bytes with the first-level cache.

    Parameters
    ----------
    compute_capability : one of the keys of `LIMITS`
    threads : threads of a block
    registers : registers of a thread
    shared_memory : bytes of shared memory of a block, static and dynamic

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid; the message names it.
    """
    if compute_capability not in LIMITS:
        names = ", ".join(f"{major}.{minor}" for major, minor in LIMITS)
        raise ValueError(
            f"compute_capability={compute_capability!r} is not in the table; choose one of {names}"
        )
    limits = LIMITS[compute_capability]
    threads = check_integer("threads", threads, 1, MAX_THREADS)
    registers = check_integer("registers", registers, 0, MAX_REGISTERS)
    shared_memory = check_integer("shared_memory", shared_memory, 0)
    warps = -(-threads // WARP)
    allowed = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "registers": _blocks_by_registers(limits, warps, registers),
        "shared memory": _blocks_by_shared_memory(limits, shared_memory),
    }
    blocks = min(allowed.values())
    limited_by = tuple(name for name, count in allowed.items() if count == blocks)
    return Occupancy(blocks, blocks * warps, blocks * warps / limits.warps, limited_by)


def _blocks_by_registers(limits: MultiprocessorLimits, warps: int, registers: int) -> int:
    """Return for how many blocks of so many warps the registers suffice.

    Whole warps fill the partitions, if the launch is not refused.
    """
    per_warp = _round_up(registers * WARP, REGISTER_UNIT)
    if per_warp == 0:
        return _UNLIMITED
    if per_warp * _round_up(warps, CHECKED_PARTITIONS) > limits.registers:
        return 0
    per_partition = limits.registers // limits.partitions // per_warp
    return per_partition * limits.partitions // warps


def _blocks_by_shared_memory(limits: MultiprocessorLimits, size: int) -> int:
    """Return for how many blocks with `size` bytes the shared memory suffices."""
    if size > limits.block_shared_memory:
        return 0
    size = _round_up(size + limits.reserved_shared_memory, limits.shared_memory_unit)
    return limits.shared_memory // size if size else _UNLIMITED


def _round_up(number: int, unit: int) -> int:
    """Return the smallest multiple of `unit` that is not below `number`."""
    return -(-number // unit) * unit
