"""Tables on a GPU that kernels get as one argument, in memory that later tables use again."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hetero.cuda.driver import HAS_STREAMS_OF_THREADS, copy_to_gpu, cuda, device_id
from hetero.cuda.ready_arrays import contiguous_strides, numbers_of_array
from hetero.cuda.shared_allocation import pack_as_one

_MOST_SPARE = 8
"""Pieces of memory of one size that wait for other tables; more are freed."""

_spare: dict[tuple[int, int], list[Any]] = {}
"""Memory of tables that have been deleted, by GPU and size in bytes."""


class DeviceTable:
    """A NamedTuple of arrays that lie in one allocation on the GPU, ready for `launch`.

    A table that is made for each call, for example of a new distribution, would take longer to
    allocate than to compute. So the memory of a deleted table goes to the next one of about its
    size. Kernels may still read it then, but on the default stream, where the copy of the next
    table waits for them. The memory is freed if kernels on other streams have read the table, or if
    `arrays` has been asked for.

    Parameters
    ----------
    table : NamedTuple of arrays in host memory, which are copied

    Attributes
    ----------
    kinds, numbers : what `launch` appends for the arrays
    may_be_recycled : whether all kernels that read the table are on the default stream
    """

    def __init__(self, table: Any) -> None:
        self.may_be_recycled = not HAS_STREAMS_OF_THREADS
        self._type = type(table)
        self._forms = [(a.shape, contiguous_strides(a.shape, a.itemsize), a.dtype) for a in table]
        packed, self._starts = pack_as_one(table)
        self._gpu_and_size = device_id(), 1 << (max(packed.nbytes, 1) - 1).bit_length()
        self._memory = _take_memory(self._gpu_and_size)
        copy_to_gpu(self._memory, packed, 0)
        address = self._memory.device_ctypes_pointer.value
        self.kinds: list[Any] = [self._type, len(table)]
        self.numbers: list[Any] = []
        for form, start in zip(self._forms, self._starts, strict=True):
            self.kinds.append((form[2], len(form[0])))
            self.numbers += numbers_of_array(address + start, *form)

    @functools.cached_property
    def arrays(self) -> Any:
        """The table with arrays of Numba."""
        from hetero.cuda.numba_internals import view_bytes_as

        self.may_be_recycled = False
        return self._type(
            *(
                view_bytes_as(self._memory, start, *form)
                for start, form in zip(self._starts, self._forms, strict=True)
            )
        )

    def __del__(self) -> None:
        """Leave the memory to another table."""
        memory = getattr(self, "_memory", None)
        if memory is not None and self.may_be_recycled:
            spare = _spare.setdefault(self._gpu_and_size, [])
            if len(spare) < _MOST_SPARE:
                spare.append(memory)


def _take_memory(gpu_and_size: tuple[int, int]) -> Any:
    """Return memory of this size on the current GPU: that of an earlier table, or new memory."""
    try:
        return _spare.get(gpu_and_size, []).pop()
    except IndexError:
        return cuda.device_array(gpu_and_size[1], np.uint8)
