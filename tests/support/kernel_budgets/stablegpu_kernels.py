"""Argument types and budgets of the kernels of stablegpu."""

from numba import typeof, types

from kernel_budgets.budget import array, f4, f8, read_budgets, u4
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
from stablegpu.special.expn_coefficients import table

_PARAMETERS = Parameters.checked(1.5, 0.5, 0.0, 1.0, "S1")
_NAMES = {
    "side": lambda: typeof(half_lines(1.5, 0.5)[0]), "frame": typeof(_PARAMETERS.frame),
    "range": lambda: typeof(nodes_of(1.5, 0.5)[1]).dtype,
    "nodes": lambda: typeof(nodes_of(1.5, 0.5)[2]),
    "half": lambda: typeof(segments_of(1.5, 0.5, 1e-6)[1]).dtype,
    "segments": lambda: typeof(segments_of(1.5, 0.5, 1e-6)[2]),
    "centre": typeof(Centre(*(0.5,) * 9)), "restoration": typeof(Restoration(*(1.0,) * 6)),
    "centring": typeof(Centring(*(1.0,) * 5)), "rule": types.NamedUniTuple(array(f8), 3, HalfRule),
    "how": types.Tuple((types.int64, f8, types.boolean)),
    "search": types.NamedUniTuple(array(f8), 3, Search),
    "values": types.NamedUniTuple(array(f8), 5, Values),
    "points": types.NamedTuple((*(array(f8),) * 5, array(types.boolean)), Points),
    "intervals": types.Tuple((array(f8), array(f8), array(f8, 2), array(f8, 2))),
    "stream": types.NamedUniTuple(u4, 4, RandomStream),
}  # fmt: skip
"""Types that have no short name of Numba."""

_FLOAT64 = """
    _density.quadrature.cuda.evaluate_points   255 f8* frame side side rule how 6xf8* f8*
    _density.nodes.cuda.evaluate_points        80  f8* frame side side range range nodes 6xf8*
    _density.polynomials.cuda.evaluate_near    64  f8* centring half half i8* f8* i8 3xf8*
    _density.polynomials.cuda.evaluate_far     64  f8* centring half half i8* f8* i8 3xf8*
    _density.polynomials.cuda.invert_points    96  f8* bool restoration half half segments f8*
    _density.pointwise.cuda.evaluate_points    200 points 6xf8* i8* i8*
    _density.pointwise.cuda.evaluate_near_one  255 points 6xf8* i8* i8*
    _density.pointwise.cuda.evaluate_hard      255 points rule f8 6xf8* i8* i8*
    _density.derivatives.cuda.place_steps      128 5xf8* bool i8 points
    _density.derivatives.cuda.combine_values   168 5xf8* bool i8 f8* 5xf8*
    _quantiles.cuda.invert_points              128 f8* bool centre restoration frame \
        side side range range nodes f8*
    _quantiles.cuda.begin_points               72  f8* bool centre search f8*
    _quantiles.cuda.advance_points             96  f8* bool centre values search f8* i8*
    _quantiles.cuda.finish_points              48  restoration f8* f8* f8*
    _fit.likelihood.cuda.maximize_sets         168 2xf8* i8** f8* i8 f8* i8 i8* f8**** f8*
    _fit.likelihood.cuda.maximize_interval_sets 255 intervals i8** f8* i8 f8* i8 i8* f8**** f8*
    _inference.linear_models.cuda.subtract_models         56  f8*** f8** i8* f8** f8**
    _inference.linear_models.cuda.score_models            168 f8*** f8** i8* f8** f8* f8**
    _fit.estimators.mcculloch.cuda.sort_sets              64  f8* f8* i8** i8** f8* f8* f8**
    _fit.likelihood.second_starts.cuda.find_peaks_of_sets 96  f8* f8* i8** f8* f8* f8*
    _fit.estimators.mcculloch.cuda.start_sets             80  f8* f8* i8** f8* f8**
    _fit.estimators.koutrouvelis.cuda.add_sets            72  f8* i8* i8* f8** i8 f8**
    _fit.estimators.koutrouvelis.cuda.regress_sets        128 i8* i8* i8 f8** f8** bool
    _fit.observations.large_samples.cuda.clear              32  f8*
    _fit.observations.large_samples.cuda.accumulate_bins    56  f8* f8* f8 f8 f8 f8 f8*
    _fit.observations.large_samples.cuda.count_equals       64  f8* f8* i8*
    _fit.observations.large_samples.cuda.count_digits       40  u8* u8* i8 i8**
"""
# 168 registers let three blocks of 128 threads of maximize_sets run on a multiprocessor.

_OF_TYPES = """
    special.cuda.apply_log_ndtr[{T}]           96!    T* T*
    special.cuda.apply_ndtr[{T}]               144!   T* T*
    special.cuda.apply_expn[{T}]               64!    T* T* T* expansion T*
    special.cuda.fold_lanes[{T}]               48!    T* T* bool i8 i8 T* T*
    special.cuda.write_logarithms[{T}]         64!    T* T* T*
    _sampling.cuda.fill_samples[{T}]           48!/64 stream left right sampler T T T*
    _sampling.cuda.fill_samples_from[{T}]      48!/64 u8 stream left right sampler T T T*
"""


def _of_type(dtype) -> dict:
    """Return the budgets of the kernels of one data type."""
    left, right, sampler = map(typeof, sampler_of(_PARAMETERS, str(dtype)))
    names = {"left": left, "right": right, "sampler": sampler}
    expansion = typeof(table(3, str(dtype))[2])
    return read_budgets(
        "stablegpu", _OF_TYPES, T=dtype, expansion=expansion, stream=_NAMES["stream"], **names
    )


KERNELS = read_budgets(
    "stablegpu", _FLOAT64, slow="maximize|score_models|quadrature|pointwise.*points", **_NAMES
)
KERNELS |= _of_type(f4) | _of_type(f8)
