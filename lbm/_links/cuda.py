"""Interpolated walls of a block on a GPU; `lbm._links.LinkStore` has the methods."""

from __future__ import annotations

import numpy as np
from numba import int64

from hetero.cuda.driver import cuda
from hetero.cuda.launch import blocks_for, grid_stride_blocks
from hetero.cuda.launcher import prepare_launch
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._engines.storage_formulas import codec
from lbm._links.formulas import interpolate_population, mass_in_units, remove_share
from lbm._model.precision import PRECISIONS

THREADS = 128
"""Threads of a block; not tuned."""


def create_store(engine, table, stream=None) -> LinkStore:
    """Create the store of the links of a block in a GPU's memory."""
    return LinkStore(engine, table, engine.stream if stream is None else stream)


def _make_kernels(precision: str) -> tuple:
    """Make the kernels (interpolate, store) of a precision."""
    decode, encode = codec(PRECISIONS[precision])

    def interpolate(populations, wall, other, shares, terms, sent, returned):
        """Compute what walls return; arrays are those of `LinkTable`, with shares [2, link]."""
        i = cuda.grid(1)
        if i < wall.size:
            f, g = decode(populations[wall[i]]), decode(populations[other[i]])
            back = interpolate_population(f, g, shares[0, i], shares[1, i], terms[i])
            sent[i], returned[i] = f, back

    def store(populations, wall, returned, weight, total, share):
        """Write what walls return, less their share of the excess total[0]."""
        i = cuda.grid(1)
        if i < wall.size:
            back = remove_share(returned[i], weight[i], total[0], share)
            returned[i] = back
            populations[wall[i]] = encode(back)

    return kernel(interpolate), kernel(store)


def _sum_excess(sent, returned, total):
    """Add the mass that walls bring in, in units of `tables.MASS_UNIT`, to total[0]."""
    block = cuda.shared.array(1, int64)
    if cuda.threadIdx.x == 0:
        block[0] = 0
    cuda.syncthreads()
    own = int64(0)
    for i in range(cuda.grid(1), sent.size, cuda.gridsize(1)):
        own += mass_in_units(returned[i] - sent[i])
    cuda.atomic.add(block, 0, own)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(total, 0, block[0])


sum_excess_float32 = kernel(_sum_excess)
sum_excess_float64 = kernel(_sum_excess)

_BY_PRECISION = {name: _make_kernels(name) for name in PRECISIONS}
KERNELS = {
    f"{operation}_{name}": made[k]
    for name, made in _BY_PRECISION.items()
    for k, operation in enumerate(("interpolate", "store"))
}
"""Kernels by operation and precision."""


class LinkStore:
    """The links of a block in a GPU's memory."""

    def __init__(self, engine, table, stream):
        form = engine.problem.precision
        T = form.compute
        self._device, self._stream, self._engine = engine.device, stream, engine
        self._count, self._dtype = len(table.wall), T
        shares = np.stack([table.sent_share, table.other_share]).astype(T)
        interpolate, store = _BY_PRECISION[form.name]
        sum_excess = sum_excess_float32 if T is np.float32 else sum_excess_float64
        with engine.device.active():
            wall, shares, weight = map(cuda.to_device, (table.wall, shares, table.weight.astype(T)))
            other = [cuda.to_device(indices) for indices in table.other]
            self._terms = cuda.to_device(table.wall_terms.astype(T))
            self._sent, self._returned = (cuda.to_device(np.zeros(self._count, T)) for _ in "ab")
            self._total = cuda.to_device(np.zeros(1, np.int64))
            grid, block = (blocks_for(self._count, THREADS),), (THREADS,)
            self._interpolate, self._store = [], []
            for t in (0, 1):
                memory = engine.cells(engine.target(t)).reshape(engine.problem.populations)
                links = memory, wall, other[t], shares, self._terms, self._sent, self._returned
                back = memory, wall, self._returned, weight, self._total, T(table.mass_share)
                self._interpolate.append(prepare_launch(interpolate, grid, block, stream, links))
                self._store.append(prepare_launch(store, grid, block, stream, back))
            sums = self._sent, self._returned, self._total
            few = (grid_stride_blocks(self._count, THREADS, per_sm=1),)
            self._sum = prepare_launch(sum_excess, few, block, stream, sums)
            self._clear = prepare_launch(clear, (1,), (1,), stream, (self._total,))
        self._keeps_mass = table.mass_share != 0.0

    def set_wall_terms(self, terms):
        table = np.ascontiguousarray(terms, self._dtype)
        profiling.count_transfer(to_device=table.nbytes)
        with self._device.active():
            self._terms.copy_to_device(table)
            self._engine.synchronize()  # streams do not wait for the copy

    def interpolate(self, t):
        self._interpolate[t % 2]()
        if self._keeps_mass:
            self._clear()
            self._sum()

    def read_excess(self):
        with self._device.active():
            if self._stream:
                self._stream.synchronize()
            return int(self._total.copy_to_host()[0])

    def write_excess(self, total):
        with self._device.active():
            self._total.copy_to_device(np.array([total], np.int64))

    def store(self, t):
        self._store[t % 2]()

    def read(self):
        with self._device.active():
            self._engine.synchronize()
            arrays = (self._sent.copy_to_host(), self._returned.copy_to_host())
        return arrays[0].astype(np.float64), arrays[1].astype(np.float64)


@kernel
def clear(total):
    """Set total[0] to 0."""
    total[0] = 0
