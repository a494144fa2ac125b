"""Kernels of sbth. Slow tests compile variants by tile, place in memory and side."""

from numba import types

from kernel_budgets.budget import array, c8, c16, f4, f8, read_budgets
from sbth._reduction.dense_to_band.panel_kernels import Exchange as PanelExchange
from sbth._reduction.dense_to_band.panel_kernels import Factors
from sbth._reduction.one_stage.reduction_kernels import Exchange as OneStageExchange

_REDUCTION = """
    _reduction.bulge_chasing.chase_kernels.chase_{tile}_{T} 255! T* 3xi8 i4* i4* T*
    _reduction.bulge_chasing.chase_kernels.step_{tile}_{T}  255! T* 3xi8 i4 i4 reflection T*
"""

_NARROW = """
    _reduction.band_to_band.cuda.right_products_{T} 184! 2xT* i8 i8 i8 i8 i8
    _reduction.band_to_band.cuda.left_products_{T}  184! 2xT* i8 i8 i8 i8 i8
    _reduction.band_to_band.cuda.correct_{T}        184! 2xT* i8 i8 i8 i8 i8
    _reduction.band_to_band.cuda.update_{T}         184! 2xT* i8 i8 i8 i8 i8
    _reduction.band_to_band.cuda.factor_{T}         128! 2xT* i8 i8 i8 i8 i8 T* T*
    _reduction.band_to_band.cuda.factor_memory_{T}  128! 2xT* i8 i8 i8 i8 i8 T* T*
"""

_FULL = """
    _reduction.dense_to_band.panel_kernels.factor_{T}          {most} T* 8xi8 i8 factors panel i8
    _reduction.dense_to_band.update_kernels.finish_{T}         80 T* T* T* T* 6xi8
    _reduction.dense_to_band.triangle_kernels.mirror_{T}       {some} T* i8 bool f8 T*
    _reduction.dense_to_band.triangle_kernels.store_band_{T}   48 T* i8 i8 T**
    _back.triangular_factors.form_{T}         80 T* R* i8
"""

_REAL = """
    _reduction.one_stage.reduction_kernels.reduce_{T}          128 T* 2xi8 2xbool T* one_stage T* T*
    _reduction.dense_to_band.triangle_kernels.find_largest_{T} 40 T* i8 i8 bool f8*
"""

_BATCHES = """
    householder_kernels.reduce_{T}                  128 T* 5xi8 2xi8 T** f8*** f8* i1* bool
    householder_kernels.reduce_{T}_in_global_memory 128 T* 5xi8 2xi8 T** f8*** f8* i1* bool
    ql_kernels.iterate_{T}                          112 f8*** f8* R** 2xi8 R** R** i1*
    ql_kernels.iterate_{T}_in_global_memory         112 f8*** f8* R** 2xi8 R** R** i1*
    pencil_kernels.reduce_{T}                       128 T* T* places i8 T** T** i1*
    pencil_kernels.restore_{T}                      128 T** i1* T** i8
"""

_REAL_BATCHES = """
    householder_kernels.reduce_{T}_in_registers     128 T* 5xi8 2xi8 T** f8*** f8* i1* bool
    rotation_kernels.find_rotations_{T}             80 f8*** i4** T**** i4*** i4* i8 i4*
    rotation_kernels.apply_rotations_{T}            128 T**** i4*** i4* T**
    rotation_kernels.store_{T}                      64 f8*** f8* i4** T** T** T** i1*
"""

_FLOAT64 = """
    _batch.ql_kernels.store_identities 48 f8** i8
    _batch.bisection_kernels.scale 48 f8** f8** f8*** f8* i1*
    _batch.bisection_kernels.bisect 80 f8*** f8* f8 f8** i1*
    _problem.working_matrix.cuda.load_band_columns 48 f8* i8 bool f8 i8 f8**
    _problem.working_matrix.cuda.truncate_columns 40 f8** i8 f8**
    _problem.working_matrix.cuda.extract_columns 48 f8** f8 f8* f8*
    _problem.working_matrix.cuda.fill_zeros 32 f8*
    _problem.working_matrix.cuda.find_extremes 48 f8** bool i8 f8*
"""

_TRIDIAGONAL = """
    divide_and_conquer.merge_kernels.solve_leaf 96 f8* f8* i8* f8**
    divide_and_conquer.merge_kernels.rank_values 48 i8** i8** i8 f8* i8**
    divide_and_conquer.merge_kernels.scan_merge 128 i8** i8 f8* f8** f8* f8** i8**
    divide_and_conquer.merge_kernels.rotate_vectors 64 i8** i8** i8 f8** f8** i8**
    divide_and_conquer.merge_kernels.find_roots 128 i8** i8** i8 f8* f8**
    divide_and_conquer.merge_kernels.refine_weights 64 i8** i8** i8 f8**
    divide_and_conquer.merge_kernels.form_factors 64 i8** i8** i8 f8** i8** f8**
    divide_and_conquer.product_kernels.gather_rows 48 i8** i8** i8 i8** f8** f8**
    divide_and_conquer.product_kernels.restore_rows 48 i8** i8** i8 f8** f8**
    divide_and_conquer.product_kernels.multiply_tiles 128 i8** i8 i8 f8** f8** f8**
    divide_and_conquer.merge_kernels.place_rows 48 f8** i8* i8* i8* f8**
    inverse_iteration.cuda.factor_columns 80 f8* f8* f8* f8 factors
    inverse_iteration.cuda.eliminate_columns 96 f8** i1** f8**
    inverse_iteration.cuda.substitute_columns 160 f8** f8** f8** f8** f8** bool
    inverse_iteration.cuda.scale_elements 48 f8** f8**
    bisection.cuda.count_at_parts 80 f8* f8* f8 f8 f8 i8*
    bisection.cuda.bisect_values 96 f8* f8* 4xf8 i8* i8 i8 f8*
    bisection.cuda.count_at_points 48 f8* f8* f8 f8* i8*
"""

_STUDY = """
    blas.cuda.copy_vector        48 i8 f8* i8 f8* i8
    blas.cuda.load_column        48 i8 f8* i8 i8 f8* i8
    blas.cuda.add_vector         48 i8 f8 f8* i8 f8* i8 i8
    blas.cuda.dot_vectors        48 i8 f8* i8 i8 f8* i8
    blas.cuda.norm_vector        48 i8 f8* i8 f8* i8
    blas.cuda.scale_first        48 i8 f8* i8 f8* i8
    blas.cuda.scale_length       48 i8 f8* i8 f8* i8
    blas.cuda.eliminate_column   48 i8 f8* i8 f8* i8 f8* i8 i8
    blas.cuda.symmetric_product  48 i8 f8* i8 i8 i8 f8* i8 i8
    blas.cuda.symmetric_update   48 i8 f8* i8 i8 f8* i8 i8 i8
    blas.cuda.general_product    48 i8 i8 f8* i8 i8 i8 f8* i8 i8
    blas.cuda.transposed_product 48 i8 i8 f8* i8 i8 i8 f8* i8 i8
    blas.cuda.general_update     48 i8 i8 f8* i8 i8 f8* i8 i8 i8
"""


def _of_type(T, R) -> dict:
    """Return the budgets of the kernels of a type of elements, whose real parts have the type R."""
    budgets, one = {}, array(T)
    for tile in (16, 32, 64):
        reflection = types.Tuple((array(T, 2), array(R)))
        budgets |= read_budgets(
            "sbth", _REDUCTION, slow="step|_(16|64)_", T=T, tile=tile, reflection=reflection
        )
    names = {
        "factors": types.NamedTuple((one,) * 4, Factors),
        "panel": types.NamedTuple((one, one, array(types.int32)), PanelExchange),
        "one_stage": types.NamedTuple((one, one, array(f8), array(types.int32)), OneStageExchange),
        "places": types.UniTuple(types.UniTuple(types.int64, 5), 2),
    }
    most, some = (96, 48) if T is R else (128, 64)
    budgets |= read_budgets("sbth", _FULL, T=T, most=most, some=some, **names)
    budgets |= read_budgets("sbth._batch", _BATCHES, slow="_in_", T=T, **names)
    if T is R:
        budgets |= read_budgets("sbth", _REAL, T=T, **names)
        budgets |= read_budgets("sbth._batch", _REAL_BATCHES, slow="_in_", T=T)
        budgets |= read_budgets("sbth", _NARROW, slow="factor_memory|right_products", T=T)
    return budgets


_INVERSE_FACTORS = types.Tuple((*(array(f8, 2),) * 4, array(types.int8, 2)))

KERNELS = (
    read_budgets("sbth", _FLOAT64)
    | read_budgets("sbth._tridiagonal", _TRIDIAGONAL, factors=_INVERSE_FACTORS)
    | read_budgets("studies.sbth", _STUDY, slow=".")
)
for _dtype, _real in ((f4, f4), (f8, f8), (c8, f4), (c16, f8)):
    KERNELS |= _of_type(_dtype, _real)
