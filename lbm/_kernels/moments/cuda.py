"""Blocks of cells on a GPU whose state is ten moments; `cuda_source` writes their kernels."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from numba import from_dtype

from hetero.cuda.driver import cuda
from hetero.cuda.launch import (
    blocks_for,
    max_shared_memory,
    multiprocessors,
)
from hetero.cuda.launcher import Launcher
from hetero.devices import Device
from hetero.jit import FUSED
from lbm._kernels.cuda import GPUEngine
from lbm._kernels.formulas.cell_formulas import make_cell_functions
from lbm._kernels.gpu.kernels import common_names, compile_kernel
from lbm._kernels.moments.cuda_source import step_source
from lbm._kernels.moments.formulas import make_packing, make_reconstruction
from lbm._kernels.moments.tiles import TILES, Tile, choose_tile, count_moving, shared_bytes
from lbm._kernels.moments.wall_tables import has_streams, tabulate_added, tabulate_masks
from lbm._kernels.problem import Problem
from lbm.lattices import D3Q19, Lattice
from lbm.lattices.precision import PRECISIONS

MOST_LAYERS = 64
"""Most layers through which a block marches. It reconstructs two more; fewer blocks than four for
each multiprocessor get less."""


@functools.cache
def make_step(
    precision: str, walls: str, operator: type, forced: bool, lattice: Lattice = D3Q19,
    tile: Tile = TILES[0], streams: bool = False,
):  # fmt: skip
    """Make the kernel of a step for one combination; it is compiled at its first launch."""
    form = PRECISIONS[precision]
    row = tile.x + 2
    page = row * (tile.y + 2)
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    names = common_names(lattice, form) | {
        "TX": tile.x,
        "TY": tile.y,
        "W": form.storage,
        "PAGE": np.uint64(count_moving(lattice) * page),
        "THIRD": form.compute(1 / 3),
        "NUMBER": from_dtype(np.dtype(form.compute)),
        "reconstruct": make_reconstruction(lattice, operator, forced, form.moments),
        "velocity": velocity,
        "pack": make_packing(form.moments)[1],
    }
    moving = [q for q, c in enumerate(lattice.velocities) if any(c[:2])]
    for slot, q in enumerate(moving):
        x, y, _ = lattice.velocities[q]
        names[f"A{q}"] = np.uint64(slot * page)
        names[f"R{q}"] = np.uint64(slot * page + (1 - y) * row + 1 - x)
    source = step_source(lattice, walls, forced, form.moments, operator.reads_viscosity, streams)
    tables = {"weight_of": lattice.weights, "velocity_of": lattice.velocities}
    arrays = {name: np.array(table, form.compute) for name, table in tables.items()}
    bounds = tile.threads, tile.blocks
    return compile_kernel("step", source, names, arrays, launch_bounds=bounds, fastmath=FUSED)


def create_engine(problem: Problem, device: Device, allocate=None) -> GPUMoments:
    """Create the block `problem` on a GPU, in memory of its own."""
    return GPUMoments(problem, device)


class GPUMoments(GPUEngine):
    """A block in a GPU's memory whose state is ten moments."""

    def __init__(self, problem: Problem, device: Device):
        super().__init__(problem, device)
        self._streams = has_streams(problem.links)
        if self._streams:
            classes, _, *others = self._walls.arrays
            with device.active():
                masks = cuda.to_device(tabulate_masks(problem.links))
            self._walls.arrays = classes, masks, *others
            self.update_walls()

    def update_walls(self):
        if not self._streams:
            super().update_walls()
            return
        links = replace(self.problem.links, wall_types=self.to_host(self.wall_types).astype(float))
        table = tabulate_added(links).astype(self.problem.precision.compute)
        with self.device.active():
            self._walls.arrays[-1].copy_to_device(table)
            self.synchronize()  # the copy may still be under way

    def _prepare_step(self, t, box, stream):
        p, itemsize = self.problem, np.dtype(self.problem.precision.compute).itemsize
        tile = choose_tile(p.lattice, p.precision, max_shared_memory())
        step = make_step(
            p.precision.name, p.walls, type(p.collision), p.forced, p.lattice, tile, self._streams,
        )  # fmt: skip
        (nx, ny, _), nz = p.shape, box.z1 - box.z0
        columns = blocks_for(nx, tile.x), blocks_for(ny, tile.y)
        blocks = blocks_for(4 * tile.blocks * multiprocessors(), columns[0] * columns[1])
        layers = max(min(MOST_LAYERS, blocks_for(nz, blocks)), min(8, nz))
        eddies = () if self.viscosity is None else (self.viscosity,)
        arguments = (self.source(t), self.target(t), *self._walls.arrays, self.rates, self.force,
                     *eddies, *p.shape, box.z0, box.z1, layers,
                     *map(int, p.periodic))  # fmt: skip
        size = shared_bytes(p.lattice, itemsize, tile)
        grid = *columns, blocks_for(nz, layers)
        return Launcher(step, grid, tile.threads, stream, arguments, size)
