"""Argument types and budgets of the kernels of stablegpu."""

from numba import typeof, types

from kernel_budgets.budget import Budget, array, boolean, f4, f8, i8, u4, u8
from stablegpu._density.half_line import half_lines
from stablegpu._density.nodes.evaluate import nodes_of
from stablegpu._density.pointwise.points import Points
from stablegpu._density.polynomials.build import segments_of
from stablegpu._density.polynomials.formulas import Centring
from stablegpu._density.quadrature.kronrod import HalfRule
from stablegpu._parameters import Parameters, Restoration
from stablegpu._quantiles.formulas import Centre, Search, Values
from stablegpu._sampling.formulas import RandomStream
from stablegpu._sampling.sample import sampler_of
from stablegpu._special.expn_coefficients import table

SIDE = typeof(half_lines(1.5, 0.5)[0])
FRAME = typeof(Parameters.checked(1.5, 0.5, 0.0, 1.0, "S1").frame)
SAMPLER_FLOAT32, SAMPLER_FLOAT64 = (
    tuple(map(typeof, sampler_of(Parameters.checked(1.5, 0.5, 0.0, 1.0, "S1"), dtype)))
    for dtype in ("float32", "float64")
)
NODE_RANGES, NODES = map(typeof, nodes_of(1.5, 0.5)[1:])
NODE_RANGE = NODE_RANGES.dtype
HALVES, SEGMENTS = map(typeof, segments_of(1.5, 0.5, 1e-6)[1:])
HALF = HALVES.dtype
CENTRE, RESTORATION = typeof(Centre(*(0.5,) * 9)), typeof(Restoration(*(1.0,) * 6))
CENTRING = typeof(Centring(*(1.0,) * 5))
RULE = types.NamedUniTuple(array(f8), 3, HalfRule)
SEARCH = types.NamedUniTuple(array(f8), 3, Search)
VALUES = types.NamedUniTuple(array(f8), 5, Values)
RANDOM_STREAM = types.NamedUniTuple(u4, 4, RandomStream)


def special(dtype) -> dict:
    """Kernels of the special functions for one data type."""
    a, double = array(dtype), dtype is f8
    expansion = typeof(table(3, str(dtype))[2])
    of = {
        "apply_log_ndtr": ((a, a), 96),
        "apply_ndtr": ((a, a), 144),
        "apply_expn": ((a, a, a, expansion, a), 64),
        "fold_lanes": ((a, a, boolean, i8, i8, a, a), 48),
        "write_logarithms": ((a, a, a), 64),
    }
    return {
        f"stablegpu._special.cuda.{name}[{dtype}]": Budget(signature, registers, float64=double)
        for name, (signature, registers) in of.items()
    }


SPECIAL = special(f4) | special(f8)

POLYNOMIALS = Budget(
    (
        *(array(f8), CENTRING, HALF, HALF),
        *(array(i8), array(f8), i8, types.UniTuple(array(f8), 3)),
    ),
    64,
)

ARGUMENTS = types.NamedTuple((*(array(f8),) * 5, array(boolean)), Points)
POINTS = (ARGUMENTS, types.UniTuple(array(f8), 6), array(i8), array(i8))

KERNELS = {
    "stablegpu._density.quadrature.cuda.evaluate_points": Budget(
        (
            *(array(f8), FRAME, SIDE, SIDE),
            *(RULE, types.Tuple((i8, f8, boolean))),
            *(types.UniTuple(array(f8), 6), array(f8)),
        ),
        255,
    ),
    "stablegpu._density.nodes.cuda.evaluate_points": Budget(
        (
            *(array(f8), FRAME, SIDE, SIDE, NODE_RANGE, NODE_RANGE, NODES),
            types.UniTuple(array(f8), 6),
        ),
        80,
    ),
    "stablegpu._density.polynomials.cuda.evaluate_near": POLYNOMIALS,
    "stablegpu._density.polynomials.cuda.evaluate_far": POLYNOMIALS,
    "stablegpu._density.polynomials.cuda.invert_points": Budget(
        (array(f8), boolean, RESTORATION, HALF, HALF, SEGMENTS, array(f8)), 96
    ),
    "stablegpu._density.pointwise.cuda.evaluate_points": Budget(POINTS, 200),
    "stablegpu._density.pointwise.cuda.evaluate_near_one": Budget(POINTS, 255),
    "stablegpu._density.pointwise.cuda.evaluate_hard": Budget(
        (ARGUMENTS, RULE, f8, *POINTS[1:]), 255
    ),
    "stablegpu._derivatives.cuda.place_steps": Budget(
        (types.UniTuple(array(f8), 5), boolean, i8, ARGUMENTS), 128
    ),
    "stablegpu._derivatives.cuda.combine_values": Budget(
        (types.UniTuple(array(f8), 5), boolean, i8, array(f8), types.UniTuple(array(f8), 5)), 168
    ),
    "stablegpu._sampling.cuda.fill_samples[float32]": Budget(
        (RANDOM_STREAM, *SAMPLER_FLOAT32, f4, f4, array(f4)), 48, float64=False
    ),
    "stablegpu._sampling.cuda.fill_samples[float64]": Budget(
        (RANDOM_STREAM, *SAMPLER_FLOAT64, f8, f8, array(f8)), 64
    ),
    "stablegpu._sampling.cuda.fill_samples_from[float32]": Budget(
        (u8, RANDOM_STREAM, *SAMPLER_FLOAT32, f4, f4, array(f4)), 48, float64=False
    ),
    "stablegpu._sampling.cuda.fill_samples_from[float64]": Budget(
        (u8, RANDOM_STREAM, *SAMPLER_FLOAT64, f8, f8, array(f8)), 64
    ),
    "stablegpu._quantiles.cuda.begin_points": Budget(
        (array(f8), boolean, CENTRE, SEARCH, array(f8)), 72
    ),
    "stablegpu._quantiles.cuda.advance_points": Budget(
        (array(f8), boolean, CENTRE, VALUES, SEARCH, array(f8), array(i8)), 96
    ),
    "stablegpu._quantiles.cuda.finish_points": Budget((RESTORATION, *(array(f8),) * 3), 48),
    **SPECIAL,
    "stablegpu._fit.likelihood.cuda.maximize_sets": Budget(
        (
            *(types.UniTuple(array(f8), 2), array(i8, 2), array(f8), i8, array(f8), i8),
            *(array(i8), array(f8, 4), array(f8)),
        ),
        168,  # three blocks of 128 threads a multiprocessor
    ),
    "stablegpu._fit.mcculloch.cuda.sort_sets": Budget(
        (*(array(f8),) * 2, *(array(i8, 2),) * 2, *(array(f8),) * 2, array(f8, 2)), 64
    ),
    "stablegpu._fit.second_starts.cuda.find_peaks_of_sets": Budget(
        (*(array(f8),) * 2, array(i8, 2), *(array(f8),) * 3), 96
    ),
    "stablegpu._fit.mcculloch.cuda.start_sets": Budget(
        (*(array(f8),) * 2, array(i8, 2), array(f8), array(f8, 2)), 80
    ),
    "stablegpu._fit.koutrouvelis.cuda.add_sets": Budget(
        (array(f8), *(array(i8),) * 2, array(f8, 2), i8, array(f8, 2)), 72
    ),
    "stablegpu._fit.koutrouvelis.cuda.regress_sets": Budget(
        (*(array(i8),) * 2, i8, array(f8, 2), array(f8, 2), boolean), 128
    ),
    "stablegpu._fit.binning.cuda.clear": Budget((array(f8),), 32),
    "stablegpu._fit.binning.cuda.accumulate_bins": Budget(
        (array(f8), array(f8), *(f8,) * 4, array(f8)), 56
    ),
    "stablegpu._fit.order_statistics.cuda.count_equals": Budget((*(array(f8),) * 2, array(i8)), 64),
    "stablegpu._fit.order_statistics.cuda.count_digits": Budget(
        (array(u8), array(u8), i8, array(i8, 2)), 40
    ),
}
