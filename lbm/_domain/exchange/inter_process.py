"""Memory of a GPU that processes share, by CUDA's inter-process communication.

Several small arrays may lie in one block of memory, which a process can open only once. So the
blocks that are open are remembered, and stay open until the process ends.
"""

from __future__ import annotations

from typing import Any

from cuda.bindings import driver

from hetero.cuda.driver import cuda

Handle = tuple[bytes, int]
"""The handle of a block of memory, and the position of an array in it."""

_open_blocks: dict[bytes, int] = {}
"""Address in this process of each block that is open."""


def share(array: Any) -> Handle:
    """Return the handle of an array of the current GPU."""
    address = array.__cuda_array_interface__["data"][0]
    base, _ = _checked(driver.cuMemGetAddressRange(address))
    (handle,) = _checked(driver.cuIpcGetMemHandle(base))
    return bytes(handle.reserved), address - int(base)


def open_shared(handle: Handle, like: Any) -> Any:
    """Return the array of another process, with the shape and the dtype of `like`."""
    block, offset = handle
    if block not in _open_blocks:
        opened = driver.CUipcMemHandle()
        opened.reserved = block
        flags = driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
        (address,) = _checked(driver.cuIpcOpenMemHandle(opened, flags))
        _open_blocks[block] = int(address)
    interface = dict(like.__cuda_array_interface__)
    interface["data"] = _open_blocks[block] + offset, False
    return cuda.from_cuda_array_interface(interface)


def _checked(result: tuple[Any, ...]) -> tuple[Any, ...]:
    error, *values = result
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"CUDA cannot share memory between processes ({error.name})")
    return tuple(values)
