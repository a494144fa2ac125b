"""Blocks of cells on a GPU: kernels made from their text, and their launches."""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero import regions
from hetero._driver import SIMULATOR, cuda, prepared
from hetero.devices import Device
from hetero.jit import kernel
from hetero.launch import blocks
from lbm import _kernel_text
from lbm._cell_math import cell_functions, reflect, start
from lbm._storage_math import codec, word_codec
from lbm._unroll import define
from lbm.engine import Engine, Problem, folded
from lbm.lattice import Q, W
from lbm.patterns import PATTERNS
from lbm.precision import PRECISIONS

THREADS = {"float64": 256, "float32": 128, "float16": 128}
"""Threads of a block in x: measured on an H200 at 512^3."""


@intrinsic
def _opaque(typing, x):
    """x, but the compiler does not know that: what depends on it is computed anew."""

    def emit(context, builder, signature, values):
        i32 = ir.IntType(32)
        return builder.asm(ir.FunctionType(i32, [i32]), "mov.u32 $0, $1;", "=r,r", values, True)

    return types.uint32(types.uint32), emit


# Memory of a thread for its populations, found by a running number. Numba's own local arrays are
# filled with zeros at the start of every thread: a third of the speed in float64.


@intrinsic
def _room(typing, like):
    def emit(context, builder, signature, values):
        kind = ir.ArrayType(context.get_value_type(like), Q)
        with builder.goto_entry_block():
            memory = builder.alloca(kind)
        return builder.bitcast(memory, kind.element.as_pointer())

    return types.CPointer(like)(like), emit


@intrinsic
def _peek(typing, room, q):
    def emit(context, builder, signature, values):
        return builder.load(builder.gep(values[0], [values[1]]))

    return room.dtype(room, types.int64), emit


@intrinsic
def _poke(typing, room, q, value):
    def emit(context, builder, signature, values):
        builder.store(values[2], builder.gep(values[0], [values[1]]))
        return context.get_dummy_value()

    return types.void(room, types.int64, room.dtype), emit


if SIMULATOR:  # knows no intrinsics
    _opaque = lambda x: x  # noqa: E731
    _room, _peek, _poke = (lambda x: [x] * Q), list.__getitem__, list.__setitem__


@functools.cache
def _cell(operator: type, forced: bool):
    return cell_functions(operator.relax(), forced)


@functools.cache
def made(
    what: str, pattern: str, odd: int, precision: str, walls: str, operator: type, forced: bool
):
    """The kernel `what` of `_kernel_text` for one combination, compiled at its first launch."""
    form = PRECISIONS[precision]
    velocity, collide = _cell(operator, forced)
    decode, encode = codec(form)
    take, put = word_codec(form)
    access = PATTERNS[pattern].steps[odd]
    names = {
        "U": np.uint32,
        "T": form.compute,
        "cuda": cuda,
        "opaque": _opaque,
        "room": _room,
        "peek": _peek,
        "poke": _poke,
        "decode": decode,
        "encode": encode,
        "take": take,
        "put": put,
        "velocity": velocity,
        "collide": collide,
        "start": start,
        "reflect": reflect,
    }
    tables = {k: np.array(v, np.int8) for k, v in _kernel_text.tables(access).items()}
    tables["velocity_of"] = tables["velocity_of"].astype(form.compute)
    tables["weight_of"] = np.array(W, form.compute)
    text = getattr(_kernel_text, what)(access, form.lanes, walls)
    used = [name for name in tables if f"{name}[" in text]
    head, _, body = text.partition("\n")
    constants = "".join(f"    {n} = cuda.const.array_like({n}_)\n" for n in used)
    names |= {f"{n}_": tables[n] for n in used}
    return kernel(define(what, f"{head}\n{constants}{body}", names), cache=False)


def engine(problem: Problem, device: Device) -> GPUEngine:
    """The block `problem` on a GPU."""
    return GPUEngine(problem, device)


class GPUEngine(Engine):
    """A block in a GPU's memory."""

    def __init__(self, problem: Problem, device: Device):
        super().__init__(problem, device)
        form, links = problem.precision, problem.links
        self.stream = 0
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
        self._launches: dict = {}

    def _cells(self, memory):
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
        """The launch of a kernel over a box, its arguments converted."""
        p, form = self.problem, self.problem.precision
        maker = made(
            what, p.pattern.name, t % 2 if p.pattern.copies == 1 else 0, form.name, p.walls,
            type(p.collision), p.forced,
        )  # fmt: skip
        source = self.source(t)
        target = self.target(t) if what == "step" else source
        places = source, target, self._cells(source), self._cells(target), *self._walls
        nx, ny, nz = p.shape
        x0, x1 = box.x0 // form.lanes, box.x1 // form.lanes
        numbers = x0, x1, box.y0, box.y1, box.z0, nx // form.lanes, ny, nz
        threads = self._block(x1 - x0)
        grid = blocks(x1 - x0, threads[0]), blocks(box.y1 - box.y0, threads[1]), box.z1 - box.z0
        arguments = (*places, *extra, *map(np.uint32, numbers))
        return prepared(maker, grid, threads, stream, arguments)

    def _block(self, width: int) -> tuple[int, int, int]:
        most = THREADS[self.problem.precision.name]
        along = min(most, -(-width // 32) * 32)
        return along, max(1, most // along), 1

    def step(self, t, box, stream=None):
        stream = self.stream if stream is None else stream
        key = t % 2, box, id(stream)
        if key not in self._launches:
            self._launches[key] = self._launch("step", t, box, (self.rates, self.force), stream)
        self._launches[key]()

    def _transfer(self, what, t, box, data):
        rows = data.reshape(data.shape[0], -1)
        self._launch(what, t, box, (self.force, rows), self.stream)()

    def _read(self, what, t, box, count):
        with self.device.active():
            out = cuda.device_array((count, *box.shape), self.problem.precision.compute)
            self._transfer(what, t, box, out)
        return out

    def _write(self, what, t, box, values):
        with self.device.active():
            if not hasattr(values, "__cuda_array_interface__"):
                values = np.ascontiguousarray(values, self.problem.precision.compute)
                regions.moved(to_device=values.nbytes)
                values = cuda.to_device(values)
            self._transfer(what, t, box, values)
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
            made = [cuda.device_array((4, like.size // 4), like.dtype) for _ in range(count)]
            for array in made:
                zero[4096, 256](array.reshape(array.size))
        return made

    def at(self, t, places):
        with self.device.active():
            form = self.problem.precision
            out = cuda.device_array(len(places), form.storage)
            cells = self._cells(self.source(t)).reshape(Q * self.problem.pitch)
            pick[blocks(len(places), 256), 256, self.stream](cells, cuda.to_device(places), out)
            return out.copy_to_host()

    def synchronize(self):
        self.device.synchronize()

    def port(self, sends, receives):
        with self.device.active():
            return GPUPort(sends, receives, self.problem.precision.storage)

    def begin(self, t, edges, inner, port):
        with self.device.active():
            port.wait()
            for box in edges:
                self.step(t, box, port.edge)
            memory, out = self._cells(self.target(t)), port.sent[t % 2]
            slots, rows = port.send_tables[t % 2]
            pack[port.grid(out), 128, port.edge](memory, slots, rows, *self._numbers(), out)
            out.copy_to_host(port.out[t % 2], stream=port.edge)
            port.copied.record(port.edge)
            if inner is not None:
                self.step(t, inner, port.inside)
            port.inner.record(port.inside)

    def finish(self, t, inner, port, other):
        with self.device.active():
            came, (slots, into, free) = port.came[t % 2], port.receive_tables[t % 2]
            came.copy_to_device(other.arrived(t), stream=port.edge)
            memory = self._cells(self.target(t))
            grid = port.grid(came)
            unpack[grid, 128, port.edge](came, slots, into, free, *self._numbers(), memory)
            port.edges.record(port.edge)

    def _numbers(self):
        nx, ny, _ = self.problem.shape
        return np.int64(nx), np.int64(ny)


class GPUPort:
    """Buffers of messages on a GPU and in pinned host memory, and the streams of a split step.

    The stream `edge` steps the rows beside the cut and moves messages, `inside` the others.
    """

    def __init__(self, sends, receives, storage):
        self.sends, self.receives = sends, receives
        self.edge, self.inside = cuda.stream(), cuda.stream()
        self.copied, self.inner, self.edges = cuda.event(), cuda.event(), cuda.event()
        self.started = False
        self.out = [cuda.pinned_array(m.free.shape, storage) for m in sends]
        self.sent = [cuda.device_array(m.free.shape, storage) for m in sends]
        self.came = [cuda.device_array(m.free.shape, storage) for m in receives]
        self.send_tables = [tuple(map(cuda.to_device, (m.slots, m.rows))) for m in sends]
        self.receive_tables = [
            tuple(map(cuda.to_device, (m.slots, m.into, m.free))) for m in receives
        ]

    @staticmethod
    def grid(planes):
        count, nz, nx = planes.shape
        return blocks(nx, 128), nz, max(count, 1)

    def wait(self) -> None:
        """Each stream waits for what the other did in the step before."""
        if self.started:
            self.inner.wait(self.edge)
            self.edges.wait(self.inside)
        self.started = True

    def arrived(self, t: int) -> np.ndarray:
        """The planes sent after step t."""
        self.copied.synchronize()
        return self.out[t % 2]


@kernel
def pack(memory, slots, rows, nx, ny, out):
    """out[plane, z, x] = memory[slots[plane], (z, rows[plane], x)]."""
    x, z, k = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    if x < out.shape[2] and k < out.shape[0]:
        out[k, z, x] = memory[slots[k], (z * ny + rows[k]) * nx + x]


@kernel
def unpack(planes, slots, into, free, nx, ny, memory):
    """The inverse, where `free` allows it."""
    x, z, k = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    if x < planes.shape[2] and k < planes.shape[0] and free[k, z, x]:
        memory[slots[k], (z * ny + into[k]) * nx + x] = planes[k, z, x]


def _clear(memory) -> None:
    """All bits zero: shifted populations at rest."""
    if SIMULATOR:
        memory.copy_to_device(np.zeros(memory.shape, memory.dtype))
        return
    words = memory.nbytes // 8
    flat = cuda.devicearray.DeviceNDArray((words,), (8,), np.uint64, gpu_data=memory.gpu_data)
    zero[4096, 256](flat)


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
