"""Kernels over the cells of a scalar on a GPU; `lbm._scalars.Loops` has their arguments."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.cuda.launcher import prepare_launch
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._model.wall_links import SOLID_CLASS
from lbm._scalars.formulas import (
    STREAMS,
    add_half_impulse,
    collide_pair,
    collide_rest,
    interpolated_return,
    total,
    wall_return,
)


def zeros(shape, dtype):
    """Allocate an array of zeros on the current GPU."""
    return cuda.to_device(np.zeros(shape, dtype))


def to_device(array):
    """Return a copy of an array on the current GPU."""
    profiling.count_transfer(to_device=array.nbytes)
    return cuda.to_device(np.ascontiguousarray(array))


def _step(g, target, velocity, classes, kinds, numbers, rates, box):
    """Step one cell of the box with each thread."""
    x0, x1, y0, y1, z0, z1 = box
    width, height = x1 - x0, y1 - y0
    i = cuda.grid(1)
    if i >= width * height * (z1 - z0):
        return
    x, y, z = x0 + i % width, y0 + i // width % height, z0 + i // (width * height)
    c = classes[z, y, x]
    if c == SOLID_CLASS:
        return
    nz, ny, nx = classes.shape
    f = (g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
         g[5, z, y, x], g[6, z, y, x])  # fmt: skip
    ux, uy, uz = velocity[0, z, y, x], velocity[1, z, y, x], velocity[2, z, y, x]
    s, (even, odd) = total(f), rates
    target[0, z, y, x] = collide_rest(f[0], s, ux, uy, uz, even)
    a, b = collide_pair(f[1], f[2], s, ux, even, odd)
    if kinds[c, 1] == STREAMS:
        target[1, z, y, x + 1 if x + 1 < nx else 0] = a
    else:
        target[2, z, y, x] = wall_return(a, kinds[c, 1], numbers[c, 1], s, ux)
    if kinds[c, 2] == STREAMS:
        target[2, z, y, (x if x > 0 else nx) - 1] = b
    else:
        target[1, z, y, x] = wall_return(b, kinds[c, 2], numbers[c, 2], s, ux)
    a, b = collide_pair(f[3], f[4], s, uy, even, odd)
    if kinds[c, 3] == STREAMS:
        target[3, z, y + 1 if y + 1 < ny else 0, x] = a
    else:
        target[4, z, y, x] = wall_return(a, kinds[c, 3], numbers[c, 3], s, uy)
    if kinds[c, 4] == STREAMS:
        target[4, z, (y if y > 0 else ny) - 1, x] = b
    else:
        target[3, z, y, x] = wall_return(b, kinds[c, 4], numbers[c, 4], s, uy)
    a, b = collide_pair(f[5], f[6], s, uz, even, odd)
    if kinds[c, 5] == STREAMS:
        target[5, z + 1 if z + 1 < nz else 0, y, x] = a
    else:
        target[6, z, y, x] = wall_return(a, kinds[c, 5], numbers[c, 5], s, uz)
    if kinds[c, 6] == STREAMS:
        target[6, (z if z > 0 else nz) - 1, y, x] = b
    else:
        target[5, z, y, x] = wall_return(b, kinds[c, 6], numbers[c, 6], s, uz)


def _add_half_force(fields, g, classes, numbers, box):
    """Correct one cell of the fields with each thread."""
    i = cuda.grid(1)
    width, height = fields.shape[3], fields.shape[2]
    if i >= width * height * fields.shape[1]:
        return
    x, j, k = i % width, i // width % height, i // (width * height)
    y, z = box[2] + j, box[4] + k
    if classes[z, y, x] == SOLID_CLASS:
        return
    s = total((g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
               g[5, z, y, x], g[6, z, y, x]))  # fmt: skip
    drho, ux, uy, uz = (
        fields[0, k, j, x],
        fields[1, k, j, x],
        fields[2, k, j, x],
        fields[3, k, j, x],
    )
    ux, uy, uz = add_half_impulse(drho, ux, uy, uz, s, numbers)
    fields[1, k, j, x], fields[2, k, j, x], fields[3, k, j, x] = ux, uy, uz


def _find_not_finite(g, classes, box, flag):
    """Set flag[0] to 1 if the value in the cell of a thread is not finite."""
    x0, x1, y0, y1, z0, z1 = box
    width, height = x1 - x0, y1 - y0
    i = cuda.grid(1)
    if i >= width * height * (z1 - z0):
        return
    x, y, z = x0 + i % width, y0 + i // width % height, z0 + i // (width * height)
    s = total((g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
               g[5, z, y, x], g[6, z, y, x]))  # fmt: skip
    if s - s != 0 and classes[z, y, x] != SOLID_CLASS:
        flag[0] = 1


def _interpolate(g, wall, other, factors, sent, returned):
    """Compute what an interpolated wall returns along one link with each thread."""
    i = cuda.grid(1)
    if i < wall.size:
        halfway = g[wall[i]]
        sent[i] = factors[3, i] - halfway
        returned[i] = interpolated_return(
            halfway, g[other[i]], factors[0, i], factors[1, i], factors[2, i]
        )


def _store(g, wall, returned):
    """Store what a wall returns along one link with each thread."""
    i = cuda.grid(1)
    if i < wall.size:
        g[wall[i]] = returned[i]


interpolate_float32, interpolate_float64 = kernel(_interpolate), kernel(_interpolate)
store_float32, store_float64 = kernel(_store), kernel(_store)
step_float32, step_float64 = kernel(_step), kernel(_step)
add_half_force_float32, add_half_force_float64 = kernel(_add_half_force), kernel(_add_half_force)
find_not_finite_float32 = kernel(_find_not_finite)
find_not_finite_float64 = kernel(_find_not_finite)


def prepare_step(g, target, velocity, block):
    """Return a function that collides and streams from g to `target`, on the current GPU."""
    run = step_float32 if g.dtype == np.float32 else step_float64
    x0, x1, y0, y1, z0, z1 = block.box
    blocks = launch.blocks_for((x1 - x0) * (y1 - y0) * (z1 - z0))
    arguments = g, target, velocity, *block
    return prepare_launch(run, (blocks,), (launch.THREADS,), 0, arguments)


def interpolate(g, cut):
    """Replace what walls half-way between cells have returned."""
    single = g.dtype == np.float32
    flat, blocks = g.reshape(g.size), launch.blocks_for(cut.wall.size)
    (interpolate_float32 if single else interpolate_float64)[blocks, launch.THREADS](flat, *cut)
    store = store_float32 if single else store_float64
    store[blocks, launch.THREADS](flat, cut.wall, cut.returned)


def add_half_force(fields, g, classes, numbers, box):
    """Add half of the buoyancy's impulse to the velocities of a box."""
    run = add_half_force_float32 if g.dtype == np.float32 else add_half_force_float64
    cells = fields.size // 4
    run[launch.blocks_for(cells), launch.THREADS](fields, g, classes, numbers, box)


def has_not_finite(g, block):
    """Return whether a value in a fluid cell is not finite."""
    run = find_not_finite_float32 if g.dtype == np.float32 else find_not_finite_float64
    x0, x1, y0, y1, z0, z1 = block.box
    cells = (x1 - x0) * (y1 - y0) * (z1 - z0)
    flag = cuda.to_device(np.zeros(1, np.int32))
    run[launch.blocks_for(cells), launch.THREADS](g, block.classes, block.box, flag)
    profiling.count_transfer(to_host=flag.nbytes)
    return bool(flag.copy_to_host()[0])


def read_array(array):
    """Return an array in host memory."""
    profiling.count_transfer(to_host=array.nbytes)
    return array.copy_to_host()


def read_slab(array, z0, z1):
    """Return layers in host memory."""
    out = np.empty((array.shape[0], z1 - z0, *array.shape[2:]), array.dtype)
    profiling.count_transfer(to_host=out.nbytes)
    for k in range(len(out)):
        out[k] = array[k, z0:z1].copy_to_host()
    return out


def write_slab(array, z0, values):
    """Set layers from z0 on."""
    profiling.count_transfer(to_device=values.nbytes)
    for k in range(len(values)):
        layers = np.ascontiguousarray(values[k], array.dtype)
        array[k, z0 : z0 + values.shape[1]].copy_to_device(layers)


def copy(source, target):
    """Copy an array of the GPU over another one."""
    target.copy_to_device(source)
