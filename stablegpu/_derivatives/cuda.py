"""Derivatives of log pdf on the GPU: the arguments of differences, and their combination."""

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._derivatives.formulas import VALUES, design_from, gradient_from, shifted

_design, _gradient = design_from(kernel(device=True)), gradient_from(kernel(device=True))


@kernel
def place_steps(x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0):
    """Write the arguments of the differences, one thread for each."""
    for j in range(cuda.grid(1), points.size, cuda.gridsize(1)):
        i, k = j // VALUES, j % VALUES
        plan = _design(first + i, x, alpha, beta, loc, scale, s1)
        points[j], alphas[j], betas[j] = shifted(k, plan)
        in_s0[j] = plan.in_s0


@kernel
def combine_values(x, alpha, beta, loc, scale, s1, first, values, outputs):
    """Combine the values of log pdf of a point to its derivatives, one thread for each point."""
    by_x, by_alpha, by_beta, by_loc, by_scale = outputs
    for i in range(cuda.grid(1), values.size // VALUES, cuda.gridsize(1)):
        n = first + i
        plan = _design(n, x, alpha, beta, loc, scale, s1)
        derivatives = _gradient(values, i * VALUES, plan, s1)
        by_x[n], by_alpha[n], by_beta[n], by_loc[n], by_scale[n] = derivatives


def lay_out_arguments(
    x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0, stream=0
):
    """Lay out the arguments at which log pdf is needed; see `_derivatives.cpu`."""
    place_steps[launch.grid_stride_blocks(points.size), launch.THREADS, stream](
        x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0
    )


def combine(x, alpha, beta, loc, scale, s1, first, values, outputs, stream=0):
    """Write all five derivatives from the values of log pdf, which are overwritten."""
    combine_values[launch.grid_stride_blocks(values.size // VALUES), launch.THREADS, stream](
        x, alpha, beta, loc, scale, s1, first, values, outputs
    )
