"""Derivatives of log pdf on the GPU: the arguments of differences, and their combination."""

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._density.derivatives.formulas import VALUES, design_from, gradient_from, shifted

_design, _gradient = design_from(kernel(device=True)), gradient_from(kernel(device=True))


@kernel
def place_steps(points, s1, first, arguments):
    """Write the arguments of the differences, one thread for each."""
    for j in range(cuda.grid(1), arguments.x.size, cuda.gridsize(1)):
        i, k = j // VALUES, j % VALUES
        plan = _design(first + i, points, s1)
        arguments.x[j], arguments.alpha[j], arguments.beta[j] = shifted(k, plan)
        arguments.in_s0[j] = plan.in_s0


@kernel
def combine_values(points, s1, first, values, outputs):
    """Combine the values of log pdf of a point to its derivatives, one thread for each point."""
    by_x, by_alpha, by_beta, by_loc, by_scale = outputs
    for i in range(cuda.grid(1), values.size // VALUES, cuda.gridsize(1)):
        n = first + i
        plan = _design(n, points, s1)
        derivatives = _gradient(values, i * VALUES, plan, s1)
        by_x[n], by_alpha[n], by_beta[n], by_loc[n], by_scale[n] = derivatives


def lay_out_arguments(points, s1, first, arguments, stream=0):
    """Lay out the arguments at which log pdf is needed; see `derivatives.cpu`."""
    launch.launch_over(place_steps, arguments.x.size, (points, s1, first, arguments), stream)


def combine(points, s1, first, values, outputs, stream=0):
    """Write all five derivatives from the values of log pdf, which are overwritten."""
    arguments = (points, s1, first, values, outputs)
    launch.launch_over(combine_values, values.size // VALUES, arguments, stream)
