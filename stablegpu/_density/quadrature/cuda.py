"""Fixed-panel Gauss-Kronrod evaluation of Nolan's integrals on the GPU: a block for each point."""

from hetero.cuda import launch
from hetero.cuda.device_cache import resident_table
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._density import value_formulas
from stablegpu._density.outputs_on_gpu import write_to
from stablegpu._density.quadrature.block_quadrature import point_of_block, shared_memory_bytes


# At most 256 threads: rules up to 31 points on 16 panels.
@kernel(launch_bounds=(256, 1))
def evaluate_points(x, frame, right, left, rule, settings, outputs, error):
    """Evaluate the integrals, a block of threads for each point."""
    _, tolerance, forced = settings
    j = cuda.threadIdx.x
    first = j == 0 and cuda.threadIdx.y == 0
    node = rule.nodes[j]
    weight = rule.kronrod[j]
    excess = weight - rule.gauss[j]
    for i in range(cuda.blockIdx.x, x.size, cuda.gridDim.x):
        y, z, mirrored = value_formulas.standardize(x[i], frame, right.alpha)
        side = left if mirrored else right
        relative = 0.0
        if value_formulas.is_trivial(z, y, side):
            result = value_formulas.evaluate_trivial(z, y, side)
        else:
            result, relative = point_of_block(y, z, side, node, weight, excess, tolerance, forced)
        if first:
            write_to(outputs, i, value_formulas.restore_side(result, mirrored, frame.scale))
            error[i] = relative


def evaluate(x, frame, half_lines, rule, settings, outputs, error, stream=0):
    """Write pdf, cdf, sf and their logarithms at points, with the estimated relative error."""
    panels, columns = settings[0], rule.nodes.size
    grid = launch.grid_stride_blocks(x.size, 1, per_sm=64)
    shared = shared_memory_bytes(columns, panels)
    arguments = (x, frame, *half_lines, resident_table(rule), settings, outputs, error)
    launch.launch(evaluate_points, grid, (columns, panels), stream, arguments, shared)
