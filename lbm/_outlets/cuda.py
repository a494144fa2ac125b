"""Outlets that do not reflect on a GPU; `lbm._outlets.OutletStore` has the methods."""

from __future__ import annotations

import numpy as np

from hetero.cuda.driver import cuda
from hetero.cuda.launch import blocks_for
from hetero.cuda.launcher import prepare_launch
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._engines.storage_formulas import codec
from lbm._model.precision import PRECISIONS
from lbm._outlets.formulas import excess_density, follow

THREADS = 128
"""Threads of a block; not tuned."""


def create_store(engine, table, rate) -> OutletStore:
    """Create the store of an outlet in a GPU's memory."""
    return OutletStore(engine, table, rate)


def _make_kernel(precision: str):
    """Make the kernel of a precision."""
    decode, encode = codec(PRECISIONS[precision])

    def correct(populations, loads, links, share, outwards, weight, opposite, means, rate):
        """Correct what a cell's outlet has returned; arrays are those of `OutletTable`."""
        i = cuda.grid(1)
        if i < links.size:
            drho = momentum = means.dtype.type(0)
            for q in range(loads.shape[0]):
                f = decode(populations[loads[q, i]])
                drho += f
                momentum += outwards[q] * f
            rho = means.dtype.type(1) + drho
            excess = excess_density(rho, momentum, means[i], share[i])
            for q in range(loads.shape[0]):
                if (links[i] >> np.uint32(q)) & np.uint32(1):
                    k = loads[opposite[q], i]
                    f = decode(populations[k]) + weight[q] * excess
                    populations[k] = encode(f)
            means[i] = follow(means[i], rho, momentum - share[i] * excess, rate)

    return kernel(correct)


KERNELS = {f"correct_{name}": _make_kernel(name) for name in PRECISIONS}
"""Kernels by operation and precision."""


class OutletStore:
    """The cells before an outlet in a GPU's memory."""

    def __init__(self, engine, table, rate):
        form, lattice = engine.problem.precision, engine.problem.lattice
        T = form.compute
        self._device, self._engine, self._dtype = engine.device, engine, T
        numbers = (
            table.share.astype(T),
            table.outwards.astype(T),
            (2 * np.array(lattice.weights)).astype(T),
        )
        count, correct = len(table.cells), KERNELS[f"correct_{form.name}"]
        with engine.device.active():
            loads = [cuda.to_device(np.ascontiguousarray(rows)) for rows in table.loads]
            constants = [
                cuda.to_device(a) for a in (table.links, *numbers, np.array(lattice.opposite))
            ]
            self._means = cuda.to_device(np.zeros(count, T))
            self._launches = []
            for t in (0, 1):
                memory = engine.cells(engine.target(t)).reshape(lattice.size * engine.problem.pitch)
                arguments = memory, loads[(t + 1) % 2], *constants, self._means, T(rate)
                grid = (blocks_for(count, THREADS),)
                self._launches.append(
                    prepare_launch(correct, grid, (THREADS,), engine.stream, arguments)
                )

    def correct(self, t):
        self._launches[t % 2]()

    def read_means(self):
        with self._device.active():
            self._engine.synchronize()
            profiling.count_transfer(to_host=self._means.nbytes)
            return self._means.copy_to_host()

    def write_means(self, means):
        values = np.ascontiguousarray(means, self._dtype)
        profiling.count_transfer(to_device=values.nbytes)
        with self._device.active():
            self._means.copy_to_device(values)
            self._engine.synchronize()
