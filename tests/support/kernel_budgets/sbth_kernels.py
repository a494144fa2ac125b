"""Kernels of sbth. By default one kernel of each tile is compiled, the others by slow tests."""

from numba import types

from kernel_budgets.budget import Budget, array, boolean, f4, f8, i1, i4, i8
from sbth._dense_to_band.panel_kernels import Exchange as PanelExchange
from sbth._dense_to_band.panel_kernels import Factors
from sbth._one_stage.reduction_kernels import Exchange as OneStageExchange

_NUMBERS = {f4: f4, f8: f8, types.complex64: f4, types.complex128: f8}
"""The types of elements, and those of their real parts."""

_REDUCTION = {
    f"sbth._bulge_chasing.chase_kernels.{name}_{tile}_{dtype}": Budget(
        (array(dtype), types.UniTuple(i8, 3), *last_types(dtype)),
        255,
        float64=_NUMBERS[dtype] is f8,
        slow=name == "step" or tile == 64,
    )
    for name, last_types in (
        ("chase", lambda t: (array(i4), array(i4), array(t))),
        ("step", lambda t: (i4, i4, types.Tuple((array(t, 2), array(_NUMBERS[t]))), array(t))),
    )
    for tile in (16, 32, 64)
    for dtype in _NUMBERS
}
_NARROW = {
    f"sbth._band_to_band.cuda.{name}_{dtype}": Budget(
        (types.UniTuple(array(dtype), 2), *(i8,) * 5, *last_types),
        registers,
        float64=dtype is f8,
        slow=name == "factor_memory",
    )
    for dtype in (f4, f8)
    for names, registers, last_types in (
        (("right_products", "left_products", "correct", "update"), 184, ()),
        (("factor", "factor_memory"), 128, (array(dtype), array(dtype))),
    )
    for name in names
}
_COLUMNS = {
    "sbth._working_matrix.cuda.load_band_columns": Budget(
        (array(f8), i8, boolean, f8, i8, array(f8, 2)), 48
    ),
    "sbth._working_matrix.cuda.truncate_columns": Budget((array(f8, 2), i8, array(f8, 2)), 40),
    "sbth._working_matrix.cuda.extract_columns": Budget(
        (array(f8, 2), f8, array(f8), array(f8)), 48
    ),
    "sbth._working_matrix.cuda.fill_zeros": Budget((array(f8),), 32),
    "sbth._working_matrix.cuda.find_extremes": Budget((array(f8, 2), boolean, i8, array(f8)), 48),
}
_A = array(f8)
_STUDY = {
    f"studies.sbth.blas.cuda.{name}": Budget(signature, 48)
    for name, signature in {
        "copy_vector": (i8, _A, i8, _A, i8),
        "load_column": (i8, _A, i8, i8, _A, i8),
        "add_vector": (i8, f8, _A, i8, _A, i8, i8),
        "dot_vectors": (i8, _A, i8, i8, _A, i8),
        "norm_vector": (i8, _A, i8, _A, i8),
        "scale_first": (i8, _A, i8, _A, i8),
        "scale_length": (i8, _A, i8, _A, i8),
        "eliminate_column": (i8, _A, i8, _A, i8, _A, i8, i8),
        "symmetric_product": (i8, _A, i8, i8, i8, _A, i8, i8),
        "symmetric_update": (i8, _A, i8, i8, _A, i8, i8, i8),
        "general_product": (i8, i8, _A, i8, i8, i8, _A, i8, i8),
        "transposed_product": (i8, i8, _A, i8, i8, i8, _A, i8, i8),
        "general_update": (i8, i8, _A, i8, i8, _A, i8, i8, i8),
    }.items()
}
_I2, _F2, _I1 = array(i8, 2), array(f8, 2), array(i8)
_DIVIDE_AND_CONQUER = {
    f"sbth._divide_and_conquer.{name}": Budget(signature, registers)
    for name, signature, registers in (
        ("cuda.solve_leaf", (_A, _A, _I1, _F2), 96),
        ("cuda.rank_values", (_I2, _I2, i8, _A, _I2), 48),
        ("cuda.scan_merge", (_I2, i8, _A, _F2, _A, _F2, _I2), 128),
        ("cuda.rotate_vectors", (_I2, _I2, i8, _F2, _F2, _I2), 64),
        ("cuda.find_roots", (_I2, _I2, i8, _A, _F2), 128),
        ("cuda.refine_weights", (_I2, _I2, i8, _F2), 64),
        ("cuda.form_factors", (_I2, _I2, i8, _F2, _I2, _F2), 64),
        ("product_kernels.gather_rows", (_I2, _I2, i8, _I2, _F2, _F2), 48),
        ("product_kernels.restore_rows", (_I2, _I2, i8, _F2, _F2), 48),
        ("product_kernels.multiply_tiles", (_I2, i8, i8, _F2, _F2, _F2), 128),
        ("cuda.place_rows", (_F2, _I1, _I1, _I1, _F2), 48),
    )
}
_INVERSE_ITERATION = {
    f"sbth._inverse_iteration.cuda.{name}": Budget(signature, registers)
    for name, signature, registers in (
        ("factor_columns", (*(_A,) * 3, f8, *(_F2,) * 4, array(i1, 2)), 80),
        ("eliminate_columns", (_F2, array(i1, 2), _F2), 96),
        ("substitute_columns", (*(_F2,) * 5, boolean), 160),
        ("scale_elements", (_F2, _F2), 48),
    )
}
_F3, _BYTES, _PLACES = array(f8, 3), array(i1), types.UniTuple(i8, 5)
_BATCHES = (
    {
        f"sbth._gpu_batches.{name}": Budget(signature, registers)
        for dtype, real in _NUMBERS.items()
        for name, signature, registers in (
            *(
                (
                    f"householder_kernels.reduce_{dtype}{place}",
                    (
                        *(array(dtype), _PLACES, types.UniTuple(i8, 2), array(dtype, 2)),
                        *(_F3, _A, _BYTES, boolean),
                    ),
                    128,
                )
                for place in ("", "_in_global_memory")
            ),
            *(
                (
                    f"ql_kernels.iterate_{dtype}{place}",
                    (
                        _F3,
                        _A,
                        array(real, 2),
                        types.UniTuple(i8, 2),
                        *(array(real, 2),) * 2,
                        _BYTES,
                    ),
                    112,
                )
                for place in ("", "_in_global_memory")
            ),
            (
                f"pencil_kernels.reduce_{dtype}",
                (
                    *(*(array(dtype),) * 2, types.UniTuple(_PLACES, 2), i8),
                    *(*(array(dtype, 2),) * 2, _BYTES),
                ),
                128,
            ),
            (
                f"pencil_kernels.restore_{dtype}",
                (array(dtype, 2), _BYTES, array(dtype, 2), i8),
                128,
            ),
        )
    }
    | {
        f"sbth._gpu_batches.{name}": Budget(signature, registers)
        for dtype in (f4, f8)
        for name, signature, registers in (
            (
                f"householder_kernels.reduce_{dtype}_in_registers",
                (
                    *(array(dtype), _PLACES, types.UniTuple(i8, 2), array(dtype, 2)),
                    *(_F3, _A, _BYTES, boolean),
                ),
                128,
            ),
            (
                f"rotation_kernels.find_rotations_{dtype}",
                (_F3, array(i4, 2), array(dtype, 4), array(i4, 3), array(i4), i8, array(i4)),
                80,
            ),
            (
                f"rotation_kernels.apply_rotations_{dtype}",
                (array(dtype, 4), array(i4, 3), array(i4), array(dtype, 2)),
                128,
            ),
            (
                f"rotation_kernels.store_{dtype}",
                (_F3, _A, array(i4, 2), *(array(dtype, 2),) * 3, _BYTES),
                64,
            ),
        )
    }
    | {
        "sbth._gpu_batches.ql_kernels.store_identities": Budget((_F2, i8), 48),
        "sbth._gpu_batches.bisection_kernels.scale": Budget((_F2, _F2, _F3, _A, _BYTES), 48),
        "sbth._gpu_batches.bisection_kernels.bisect": Budget((_F3, _A, f8, _F2, _BYTES), 80),
    }
)
_FULL = {
    f"sbth.{name}_{dtype}": Budget(signature, registers)
    for dtype, real in _NUMBERS.items()
    for name, signature, registers, is_for_complex in (
        (
            "_one_stage.reduction_kernels.reduce",
            (
                *(array(dtype), types.UniTuple(i8, 2), types.UniTuple(boolean, 2), array(dtype)),
                types.NamedTuple((array(dtype), array(dtype), _A, array(i4)), OneStageExchange),
                *(array(dtype), array(dtype)),
            ),
            128,
            False,
        ),
        (
            "_dense_to_band.panel_kernels.factor",
            (
                *(array(dtype), types.UniTuple(i8, 8), i8),
                types.NamedTuple((array(dtype),) * 4, Factors),
                types.NamedTuple((array(dtype), array(dtype), array(i4)), PanelExchange),
                i8,
            ),
            96 if dtype is real else 128,
            True,
        ),
        (
            "_dense_to_band.update_kernels.finish",
            (*(array(dtype),) * 4, types.UniTuple(i8, 6)),
            80,
            True,
        ),
        (
            "_dense_to_band.triangle_kernels.find_largest",
            (array(dtype), i8, i8, boolean, _A),
            40,
            False,
        ),
        (
            "_dense_to_band.triangle_kernels.mirror",
            (array(dtype), i8, boolean, f8, array(dtype)),
            48 if dtype is real else 64,
            True,
        ),
        (
            "_dense_to_band.triangle_kernels.store_band",
            (array(dtype), i8, i8, array(dtype, 2)),
            48,
            True,
        ),
        ("_reflections.triangular_factors.form", (array(dtype), array(real), i8), 80, True),
    )
    if is_for_complex or dtype is real
}
KERNELS = (
    _REDUCTION
    | _FULL
    | _BATCHES
    | _DIVIDE_AND_CONQUER
    | _INVERSE_ITERATION
    | _NARROW
    | _COLUMNS
    | _STUDY
    | {
        "sbth._bisection.cuda.count_at_parts": Budget(
            (*(array(f8),) * 2, *(f8,) * 3, array(i8)), 80
        ),
        "sbth._bisection.cuda.bisect_values": Budget(
            (*(array(f8),) * 2, types.UniTuple(f8, 4), array(i8), i8, i8, array(f8)), 96
        ),
        "sbth._bisection.cuda.count_at_points": Budget(
            (*(array(f8),) * 2, f8, array(f8), array(i8)), 48
        ),
    }
)
