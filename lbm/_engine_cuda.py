"""Blocks of cells on a GPU: kernels made from their text, and their launches."""

from __future__ import annotations

import numpy as np

from hetero import regions
from hetero._driver import SIMULATOR, cuda, prepared
from hetero.devices import Device
from hetero.jit import kernel
from hetero.launch import blocks, strided
from lbm._kernels import made
from lbm.engine import Engine, Problem, folded
from lbm.lattice import Q

THREADS = 128
"""Threads of a block, in x as far as the domain goes: measured on an H200 at 512^3."""


def engine(problem: Problem, device: Device, memory=None) -> GPUEngine:
    """The block `problem` on a GPU, in memory of its own."""
    return GPUEngine(problem, device)


class GPUEngine(Engine):
    """A block in a GPU's memory."""

    def __init__(self, problem: Problem, device: Device):
        super().__init__(problem, device)
        form, links = problem.precision, problem.links
        self.stream, self._threads = 0, THREADS
        words = Q, problem.pitch // form.lanes
        with device.active():
            for _ in range(problem.pattern.copies):
                memory = cuda.device_array(words, form.word)
                _clear(memory)
                self.populations.append(memory)
            classes = folded(links.classes, form.lanes).reshape(-1)
            kinds = links.kinds.astype(form.compute)
            self._walls = [
                cuda.to_device(a) for a in (classes, links.masks, links.materials, kinds)
            ]
        self._launches: dict = {}  # of steps
        self._reads: dict = {}  # launches that fill self._out
        self._out = None  # what was read last: allocating 2 GB takes longer than filling them

    def cells(self, memory):
        """A population an element, whatever a word is."""
        if self.problem.precision.lanes == 1:
            return memory
        return cuda.devicearray.DeviceNDArray(
            (Q, self.problem.pitch),
            (self.problem.pitch * 2, 2),
            np.uint16,
            gpu_data=memory.gpu_data,
        )

    def _launch(self, what, t, box, extra, stream):
        """The launch of a kernel of `_kernels` over a box, its arguments converted."""
        p, form = self.problem, self.problem.precision
        maker = made(
            what, p.pattern.name, t % 2 if p.pattern.copies == 1 else 0, form.name, p.walls,
            type(p.collision), p.forced,
        )  # fmt: skip
        source = self.source(t)
        target = self.target(t) if what == "step" else source
        places = source, target, self.cells(source), self.cells(target), *self._walls
        nx, ny, nz = p.shape
        x0, x1 = box.x0 // form.lanes, box.x1 // form.lanes
        numbers = x0, x1, box.y0, box.y1, box.z0, nx // form.lanes, ny, nz
        threads = self._block(x1 - x0)
        grid = blocks(x1 - x0, threads[0]), blocks(box.y1 - box.y0, threads[1]), box.z1 - box.z0
        arguments = (*places, *extra, *map(np.uint32, numbers))
        return prepared(maker, grid, threads, stream, arguments)

    def _block(self, width: int) -> tuple[int, int, int]:
        along = min(self._threads, -(-width // 32) * 32)
        return along, self._threads // along, 1

    def divide(self, pieces):
        self._threads, self._launches, self._reads = pieces, {}, {}

    def step(self, t, box, stream=None):
        stream = self.stream if stream is None else stream
        key = t % 2, box, id(stream)
        if key not in self._launches:
            self._launches[key] = self._launch("step", t, box, (self.rates, self.force), stream)
        self._launches[key]()

    def _transfer(self, what, t, box, data):
        """The launch that moves a box between the populations and data."""
        rows = data.reshape(data.shape[0], -1)
        return self._launch(what, t, box, (self.force, rows), self.stream)

    def _read(self, what, t, box, count):
        with self.device.active():
            shape = count, *box.shape
            if self._out is None or self._out.shape != shape:
                self._out, self._reads = None, {}  # the old one goes first
                self._out = cuda.device_array(shape, self.problem.precision.compute)
            key = what, t % 2, box
            if key not in self._reads:
                self._reads[key] = self._transfer(what, t, box, self._out)
            self._reads[key]()
        return self._out

    def _write(self, what, t, box, values):
        with self.device.active():
            if not hasattr(values, "__cuda_array_interface__"):
                values = np.ascontiguousarray(values, self.problem.precision.compute)
                regions.moved(to_device=values.nbytes)
                values = cuda.to_device(values)
            self._transfer(what, t, box, values)()
            self.synchronize()

    def fields(self, t, box):
        return self._read("fields", t, box, 4)

    def gather(self, t, box):
        return self._read("gather", t, box, Q)

    def fill(self, t, box, values):
        self._write("fill", t, box, values)

    def scatter(self, t, box, values):
        self._write("scatter", t, box, values)

    def to_host(self, array):
        regions.moved(to_host=array.nbytes)
        with self.device.active():
            return array.copy_to_host()

    def zeros(self, count, like):
        """Arrays of the shape of `like` made flat, [4, cell]."""
        with self.device.active():
            arrays = [cuda.device_array((4, like.size // 4), like.dtype) for _ in range(count)]
            for array in arrays:
                zero[strided(array.size), 256](array.reshape(array.size))
        return arrays

    def at(self, t, places):
        with self.device.active():
            form = self.problem.precision
            out = cuda.device_array(len(places), form.storage)
            cells = self.cells(self.source(t)).reshape(Q * self.problem.pitch)
            pick[blocks(len(places), 256), 256, self.stream](cells, cuda.to_device(places), out)
            return out.copy_to_host()

    def copy_state(self, t, into=None):
        """Return a copy of the populations that step t reads, in the memory of an earlier copy."""
        with self.device.active():
            source = self.source(t)
            into = cuda.device_array(source.shape, source.dtype) if into is None else into
            into.copy_to_device(source)
        return into

    def return_to_state(self, t, state):
        """Take up the populations that `copy_state` has copied at the same t."""
        with self.device.active():
            self.source(t).copy_to_device(state)

    def synchronize(self):
        self.device.synchronize()

    def begin(self, t, edges, inner, halo):
        with self.device.active():
            halo.begin()
            for box in edges:
                self.step(t, box, halo.urgent)
            if inner is not None:
                self.step(t, inner, halo.inside)
            halo.end()

    def finish(self, t, inner):
        pass


def _clear(memory) -> None:
    """All bits zero: shifted populations at rest."""
    if SIMULATOR:
        memory.copy_to_device(np.zeros(memory.shape, memory.dtype))
        return
    words = memory.nbytes // 8
    flat = cuda.devicearray.DeviceNDArray((words,), (8,), np.uint64, gpu_data=memory.gpu_data)
    zero[strided(words), 256](flat)


@kernel
def zero(out):
    """out = 0."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = 0


@kernel
def pick(values, places, out):
    """out[i] = values[places[i]]."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = values[places[i]]
