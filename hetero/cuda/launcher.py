"""Launches of kernels with arguments that are converted once."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from hetero.cuda.driver import SIMULATOR, launch_error
from hetero.cuda.launch import allow_shared_memory, three_sizes


class Launcher:
    """Launches a kernel with arguments that are converted once; numbers among them may change.

    Numba converts at every launch: 50 us for eight arguments, 100 us for twenty.

    A launch goes to the GPU that was current when the launcher was made, whichever is current when
    it is called. (In the default stream the driver would take the current one, and the kernel would
    be given addresses in the memory of another GPU.) This takes 0.2 us of the host a launch.

    Parameters
    ----------
    grid, block : sizes of the grid, which a launch may change, and of a block
    shared : bytes of dynamic shared memory a block
    """

    def __init__(
        self,
        kernel: Any,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        stream: Any,
        arguments: Sequence,
        shared: int = 0,
    ) -> None:
        self._kernel, self._arguments = kernel, list(arguments)
        self._grid, self._configuration = grid, (block, stream, shared)
        if SIMULATOR:
            return
        from cuda.bindings import driver

        from hetero.cuda.numba_internals import loaded_function, numbers_of_arguments

        compiled = kernel.compile(tuple(kernel.typeof_pyval(a) for a in arguments))
        # `first` holds the index of the first number of each argument.
        values, self._first = numbers_of_arguments(compiled, arguments, stream)
        plain = ctypes.sizeof(ctypes.c_void_p)
        values = [v if hasattr(v, "_type_") else ctypes.c_int64(int(v)) for v in values]
        assert all(ctypes.sizeof(v) <= plain for v in values)
        self._values = values
        self._pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        self._function = driver.CUfunction(int(loaded_function(compiled).handle))
        allow_shared_memory(kernel, arguments, shared)
        handle = driver.CUstream(int(stream) if stream else 0)
        self._sizes, self._after = three_sizes(grid), (*three_sizes(block), shared, handle)
        self._address = ctypes.addressof(self._pointers)
        self._launch, self._success = driver.cuLaunchKernel, driver.CUresult.CUDA_SUCCESS
        self._get_context, self._push = driver.cuCtxGetCurrent, driver.cuCtxPushCurrent
        self._pop = driver.cuCtxPopCurrent
        _, self._context = self._get_context()

    def __call__(
        self, grid: int | tuple[int, ...] | None = None, changes: Iterable[tuple[int, int]] = ()
    ) -> None:
        """Launch the kernel; `changes` are pairs (position of an argument, its new number)."""
        if SIMULATOR:
            for position, number in changes:
                self._arguments[position] = number
            self._kernel[(grid or self._grid, *self._configuration)](*self._arguments)
            return
        for position, number in changes:
            self._values[self._first[position]].value = number
        size = self._sizes if grid is None else three_sizes(grid)
        _, current = self._get_context()
        if current == self._context:
            self._start(size)
            return
        self._push(self._context)
        try:
            self._start(size)
        finally:
            self._pop()

    def _start(self, size: tuple[int, ...]) -> None:
        """Launch the kernel on the current GPU."""
        (error,) = self._launch(self._function, *size, *self._after, self._address, 0)
        if error != self._success:
            raise launch_error(error)
