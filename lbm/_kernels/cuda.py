"""Blocks of cells on a GPU: launches of the generated kernels of `_kernels.gpu.kernels`."""

from __future__ import annotations

import numpy as np

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.launch import MOST_BLOCKS, blocks_for, grid_stride_blocks, launch
from hetero.cuda.launcher import Launcher
from hetero.devices import Device
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._kernels.engine import Engine
from lbm._kernels.gpu.kernels import make_kernel
from lbm._kernels.gpu.walls import WallTables
from lbm._kernels.problem import Problem

THREADS = 128
"""Threads of a block, along x as far as the domain goes: fastest on an H200 at 512^3."""


def create_engine(problem: Problem, device: Device, allocate=None) -> GPUEngine:
    """Create the block `problem` on a GPU, in memory of its own."""
    return GPUEngine(problem, device)


class GPUEngine(Engine):
    """A block in a GPU's memory.

    Raises ValueError if it has too many cells along y or z for a grid of CUDA.
    """

    def __init__(self, problem: Problem, device: Device):
        super().__init__(problem, device)
        form = problem.precision
        self.stream, self._threads = 0, THREADS
        self._require_grid()
        words = problem.slots, problem.pitch // form.lanes
        with device.active():
            for _ in range(problem.pattern.copies):
                shape = problem.populations if form.moments else words
                memory = cuda.device_array(shape, form.word)
                _clear(memory)
                self.populations.append(memory)
            if type(problem.collision).reads_viscosity:
                number = form.word if form.lanes > 1 else form.number
                self.viscosity = cuda.device_array(words[1], number)
                _clear(self.viscosity)
            self._walls = WallTables(problem, self.stream)
            self._flag = cuda.device_array(1, np.int32)
            self._lower_flag = Launcher(fill_zeros, (1,), (1,), self.stream, (self._flag,))
        # Results are read into the same array: allocating 2 GB takes longer than filling them.
        self._out = None

    def cells(self, memory):
        """Return populations as 16-bit numbers, of which words hold two; others as they are."""
        if self.problem.precision.lanes == 1:
            return memory
        return cuda.devicearray.DeviceNDArray(
            (*memory.shape[:-1], self.problem.pitch),
            (*memory.strides[:-1], 2),
            np.uint16,
            gpu_data=memory.gpu_data,
        )

    def _prepare(self, operation, t, box, arguments, stream):
        """Prepare a launch of a kernel of `_kernels.gpu.kernels` over a box on the current GPU,
        with its arguments converted."""
        p, form = self.problem, self.problem.precision
        function = make_kernel(
            operation, p.pattern.name, t % 2 if p.pattern.copies == 1 else 0, form.name, p.walls,
            type(p.collision), p.forced, p.lattice,
        )  # fmt: skip
        source = self.source(t)
        target = self.target(t) if operation == "step" else source
        arrays = source, target, self.cells(source), self.cells(target), *self._walls.arrays
        nx, ny, nz = p.shape
        x0, x1 = box.x0 // form.lanes, box.x1 // form.lanes
        region = x0, x1, box.y0, box.y1, box.z0, nx // form.lanes, ny, nz
        threads = self._block_size(x1 - x0)
        grid = (
            blocks_for(x1 - x0, threads[0]),
            blocks_for(box.y1 - box.y0, threads[1]),
            box.z1 - box.z0,
        )
        arguments = (*arrays, *arguments, *map(np.uint32, region))
        return Launcher(function, grid, threads, stream, arguments)

    def _block_size(self, width: int) -> tuple[int, int, int]:
        in_x = min(self._threads, -(-width // 32) * 32)
        return in_x, self._threads // in_x, 1

    def _require_grid(self) -> None:
        """Raise ValueError if CUDA cannot start as many blocks as the kernels need."""
        (nx, ny, nz), lanes = self.problem.shape, self.problem.precision.lanes
        rows = self._block_size(nx // lanes)[1]
        if blocks_for(ny, rows) > MOST_BLOCKS or nz > MOST_BLOCKS:
            raise ValueError(
                f"a part of {nx} x {ny} x {nz} cells is too long for a GPU, which has room for "
                f"{rows * MOST_BLOCKS} cells along y and {MOST_BLOCKS} along z: let x be the "
                "longest axis, or cut the domain (decomposition)"
            )

    def set_division(self, count):
        """Set the number of threads of a block, for which launches are prepared anew."""
        self._threads = count
        self._launches, self._reads = {}, {}

    def set_force(self, force):
        """Set the force, which prepared launches hold."""
        super().set_force(force)
        # Prepared launches hold the old force: those of steps and changes, and those of self._out.
        self._launches: dict = {}
        self._reads: dict = {}

    @property
    def wall_types(self):
        return self._walls.types

    def set_wall_types(self, rows):
        """Copy the table of walls to the GPU, and wait for it."""
        table = np.ascontiguousarray(rows, self.problem.precision.compute)
        profiling.count_transfer(to_device=table.nbytes)
        with self.device.active():
            self.wall_types.copy_to_device(table)
            # The copy may still be under way, and streams do not wait for it.
            self.synchronize()

    def update_walls(self):
        with self.device.active():
            self._walls.update()

    def step(self, t, box, stream=None):
        """Launch step t over a box, by a launch that is prepared once for each parity."""
        stream = self.stream if stream is None else stream
        key = t % 2, box, id(stream)
        if key not in self._launches:
            with self.device.active():
                self._launches[key] = self._prepare_step(t, box, stream)
        self._launches[key]()

    def _prepare_step(self, t, box, stream):
        """Prepare step t over a box on the current GPU."""
        eddies = () if self.viscosity is None else (self.viscosity,)
        return self._prepare("step", t, box, (self.rates, self.force, *eddies), stream)

    def _launch(self, operation, t, box, arrays, make_arguments):
        """Launch a kernel by a launch that is prepared once for each parity, box and arrays."""
        key = operation, t % 2, box, *map(id, arrays)
        if key not in self._launches:
            with self.device.active():
                arguments = self.force, *make_arguments(*arrays)
                self._launches[key] = self._prepare(operation, t, box, arguments, self.stream)
        self._launches[key]()

    def damp(self, t, box, layer, drho, rate):
        """Launch the damping of a layer of a sponge."""

        def arguments(target):
            T = self.problem.precision.compute
            along = (int(layer.axis == a) for a in range(3))
            layout = tuple(map(np.uint32, (layer.first, target.shape[2], *along)))
            return layer.strength, target.reshape(3, target.size // 3), layout, (T(drho), T(rate))

        self._launch("damp", t, box, (layer.target,), arguments)

    def accelerate(self, t, box, scalar, velocity):
        """Launch the impulse of buoyancy."""
        self._launch("accelerate", t, box, (scalar.g, velocity), lambda g, u: (
            g.reshape(7, -1), u.reshape(3, -1), scalar.numbers))  # fmt: skip

    def copy_moments(self, t, box, out):
        """Launch a copy of the moments of a box to `out` on the GPU."""
        self._launch("read_moments", t, box, (out,), lambda out: (out.reshape(4, -1),))

    def survey(self, t, box, scalar=None):
        """Launch a search for cells that are not good; return the flag, still on the GPU."""
        with self.device.active():
            self._lower_flag()
            if scalar is None:
                self._launch("survey", t, box, (), lambda: (self._flag,))
            else:
                self._launch("survey_with_scalar", t, box, (scalar.g,), lambda g: (
                    self._flag, g.reshape(7, -1), scalar.numbers))  # fmt: skip
        return self._flag

    def _prepare_transfer(self, operation, t, box, data):
        """Prepare a copy of a box between the populations and data."""
        rows = data.reshape(data.shape[0], -1)
        return self._prepare(operation, t, box, (self.force, rows), self.stream)

    def read(self, t, box, populations=False):
        operation, count = "read_moments", 4
        if populations:
            operation, count = "read_populations", self.problem.lattice.size
        with self.device.active():
            shape = count, *box.shape
            if self._out is None or self._out.shape != shape:
                self._out, self._reads = None, {}  # free the old array before the new one
                self._out = cuda.device_array(shape, self.problem.precision.compute)
            key = operation, t % 2, box
            if key not in self._reads:
                self._reads[key] = self._prepare_transfer(operation, t, box, self._out)
            self._reads[key]()
        return self._out

    def write(self, t, box, values, populations=False):
        operation = "write_populations" if populations else "write_equilibrium"
        with self.device.active():
            if not hasattr(values, "__cuda_array_interface__"):
                values = np.ascontiguousarray(values, self.problem.precision.compute)
                profiling.count_transfer(to_device=values.nbytes)
                values = cuda.to_device(values)
            self._prepare_transfer(operation, t, box, values)()
            self.synchronize()

    def to_host(self, array):
        """Copy an array to host memory."""
        profiling.count_transfer(to_host=array.nbytes)
        with self.device.active():
            return array.copy_to_host()

    def read_elements(self, t, indices):
        """Return some populations by their indices in flat memory."""
        with self.device.active():
            return self._take(self.cells(self.source(t)).reshape(self.problem.populations), indices)

    def read_viscosity(self, cells):
        """Return the stored eddy viscosity of cells by their numbers."""
        with self.device.active():
            return self._take(self.cells(self.viscosity), cells)

    def _take(self, flat, indices):
        """Return elements of a flat array on the current GPU in host memory."""
        out = cuda.device_array(len(indices), flat.dtype)
        grid = blocks_for(len(indices), 256)
        launch(take_elements, grid, 256, self.stream, (flat, cuda.to_device(indices), out))
        return out.copy_to_host()

    def copy_state(self, t, into=None):
        """Return a copy on the GPU of what step t loads."""
        with self.device.active():
            source = self.source(t)
            into = cuda.device_array(source.shape, source.dtype) if into is None else into
            into.copy_to_device(source)
        return into

    def return_to_state(self, t, state):
        """Copy a state back to where step t loads it."""
        with self.device.active():
            self.source(t).copy_to_device(state)

    def synchronize(self):
        """Wait for all launches of the device."""
        self.device.synchronize()


def _clear(memory) -> None:
    """Set all bits to zero: the shifted populations of a fluid at rest."""
    if SIMULATOR:
        memory.copy_to_device(np.zeros(memory.shape, memory.dtype))
        return
    words = memory.nbytes // 8
    flat = cuda.devicearray.DeviceNDArray((words,), (8,), np.uint64, gpu_data=memory.gpu_data)
    launch(fill_zeros, grid_stride_blocks(words), 256, 0, (flat,))


@kernel
def fill_zeros(out):
    """Set the flat array out to 0."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = 0


@kernel
def take_elements(values, indices, out):
    """Set out[i] to values[indices[i]]; the arrays are flat and the indices int64."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = values[indices[i]]
