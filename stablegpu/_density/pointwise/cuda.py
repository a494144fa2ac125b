"""Points with individual parameters on the GPU: a thread for each, a block for a hard one.

Three kernels: a warp waits for its slowest thread, so points that take longer are only listed by
the first, and computed side by side by the next.
"""

import math

import numpy as np

from hetero.cuda import launch
from hetero.cuda.device_cache import resident_table, small_scratch, zeros_in_scratch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._density.outputs_on_gpu import write_to
from stablegpu._density.pointwise.formulas import lay_out_nodes, make_standardize_at, sum_nodes
from stablegpu._density.pointwise.near_one_formulas import try_near_one
from stablegpu._density.quadrature.block_quadrature import point_of_block, shared_memory_bytes
from stablegpu._density.quadrature.kronrod import FORCED_BELOW
from stablegpu._density.value_formulas import evaluate_trivial, is_trivial, restore_side

_THREADS = 256
_THREADS_NEAR_ONE = 128
_DONE = -1
_standardize_at = make_standardize_at(kernel(device=True))


@kernel(launch_bounds=(_THREADS, 1))
def evaluate_points(points, outputs, listed, count):
    """Evaluate all points, and list the hard ones for the other kernels."""
    for i in range(cuda.grid(1), listed.size, cuda.gridsize(1)):
        (y, z, side, mirrored), own_scale = _standardize_at(i, points)
        done = is_trivial(z, y, side)
        if done:
            result = evaluate_trivial(z, y, side)
        else:
            nodes = lay_out_nodes(y, z, side)
            done = nodes.steps.light > 0
            if done:
                result = sum_nodes(y, nodes, side)
            else:
                listed[cuda.atomic.add(count, 0, 1)] = i
        if done:
            write_to(outputs, i, restore_side(result, mirrored, own_scale))


@kernel(launch_bounds=(_THREADS_NEAR_ONE, 1))
def evaluate_near_one(points, outputs, listed, count):
    """Evaluate the listed points with alpha next to 1, and remove them from the list."""
    for k in range(cuda.grid(1), count[0], cuda.gridsize(1)):
        i = listed[k]
        (y, z, side, mirrored), own_scale = _standardize_at(i, points)
        result, done = try_near_one(y, z, side)
        if done:
            write_to(outputs, i, restore_side(result, mirrored, own_scale))
            listed[k] = _DONE


@kernel(launch_bounds=(256, 1))
def evaluate_hard(points, rule, tolerance, outputs, listed, count):
    """Evaluate the points that are still on the list by quadrature."""
    j = cuda.threadIdx.x
    first = j == 0 and cuda.threadIdx.y == 0
    node = rule.nodes[j]
    weight = rule.kronrod[j]
    excess = weight - rule.gauss[j]
    for k in range(cuda.blockIdx.x, count[0], cuda.gridDim.x):
        i = listed[k]
        if i == _DONE:
            continue
        (y, z, side, mirrored), own_scale = _standardize_at(i, points)
        forced = side.alpha < FORCED_BELOW
        result, _ = point_of_block(y, z, side, node, weight, excess, tolerance, forced)
        if first:
            write_to(outputs, i, restore_side(result, mirrored, own_scale))


def evaluate(points, rule, panels, tolerance, outputs, stream=0):
    """Write pdf, cdf, sf and their logarithms at points; see `_density/pointwise/cpu.py`."""
    size = max(math.prod(array.shape) for array in outputs)
    listed = small_scratch("listed points", size, np.int64, stream)
    count = zeros_in_scratch("listed points' count", 1, np.int64, stream)
    for run, threads in ((evaluate_points, _THREADS), (evaluate_near_one, _THREADS_NEAR_ONE)):
        grid = launch.grid_stride_blocks(size, threads)
        launch.launch(run, grid, threads, stream, (points, outputs, listed, count))
    columns = rule.nodes.size
    grid = launch.grid_stride_blocks(size, 1, per_sm=64)
    shared = shared_memory_bytes(columns, panels)
    arguments = (points, resident_table(rule), tolerance, outputs, listed, count)
    launch.launch(evaluate_hard, grid, (columns, panels), stream, arguments, shared)
