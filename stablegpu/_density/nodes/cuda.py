"""Sums over nodes on the GPU: a thread for every point, the nodes in shared memory."""

from numba import float64

from hetero.cuda import launch
from hetero.cuda.device_cache import resident_table
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._density.nodes import formulas
from stablegpu._density.nodes.rule import NODES
from stablegpu._density.outputs_on_gpu import write_to
from stablegpu._density.value_formulas import restore_side, standardize

_THREADS = 256


@kernel(device=True)
def load_nodes(nodes, shared):
    """Fill the block's shared memory with values and weights in turn."""
    for j in range(cuda.threadIdx.x, nodes.values.size, cuda.blockDim.x):
        shared[2 * j] = nodes.values[j]
        shared[2 * j + 1] = nodes.weights[j]
    cuda.syncthreads()


@kernel(device=True)
def evaluate_point(x, frame, right, left, right_range, left_range, nodes, shared, logs):
    """Return pdf, cdf, sf and, if `logs`, their logarithms at a point.

    `shared` is filled by `load_nodes`.
    """
    y, _, mirrored = standardize(x, frame, right.alpha)
    side, node_range = right, right_range
    if mirrored:
        side, node_range = left, left_range
    if formulas.is_outside(y, side, node_range):
        result = formulas.evaluate_outside(y, side, node_range)
    else:
        level = y**side.kappa
        row = node_range.octave + formulas.octave_of(level)
        first, last = nodes.first[row], nodes.last[row]
        density = below = above = 0.0
        for j in range(2 * NODES.block * first, 2 * NODES.block * last, 2):
            d, b, a = formulas.evaluate_node(level, shared[j], shared[j + 1])
            density += d
            below += b
            above += a
        z = level * nodes.largest[first]
        high = slope = 0.0
        for k in range(NODES.terms - 1, 0, -1):
            term = nodes.moments[first, k]
            high = high * z + term
            slope = slope * z + k * term
        before, beyond = nodes.moments[first, 0], nodes.beyond[last]
        g_min = level * node_range.limit
        density, below, above = formulas.complete_sums(
            (density, below, above), z, high, slope, before, beyond, g_min, side
        )
        result = formulas.assemble_requested(y, g_min, density, below, above, side, logs)
    return restore_side(result, mirrored, frame.scale)


@kernel(launch_bounds=(_THREADS, 1))
def evaluate_points(x, frame, right, left, right_range, left_range, nodes, outputs):
    """Evaluate points by sums over the nodes of their half-line, a thread for each point."""
    shared = cuda.shared.array(0, float64)
    load_nodes(nodes, shared)
    logs = outputs[3].size + outputs[4].size + outputs[5].size > 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        write_to(
            outputs,
            i,
            evaluate_point(x[i], frame, right, left, right_range, left_range, nodes, shared, logs),
        )


def evaluate(x, frame, half_lines, node_ranges, nodes, outputs, stream=0):
    """Write pdf, cdf, sf and their logarithms at points; pairs hold the right side first."""
    arguments = (x, frame, *half_lines, *node_ranges, resident_table(nodes), outputs)
    size = 16 * nodes.values.size
    launch.launch_over(evaluate_points, x.size, arguments, stream, _THREADS, size)
