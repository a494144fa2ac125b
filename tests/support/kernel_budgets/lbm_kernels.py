"""Argument types and budgets of the kernels of lbm that are not generated.

tests/lbm/test_kernel_budgets.py has the others.
"""

from numba import types

from kernel_budgets.budget import Budget, array, boolean, f4, f8, i8, u1, u2, u4, u8

PRECISIONS = ("float16", u2, f4), ("float32", f4, f4), ("float64", f8, f8)
"""Names of precisions, with the types of a stored population and of the arithmetic."""

_BOX = types.UniTuple(i8, 6)

_INFLOW = types.UniTuple(i8, 8), types.UniTuple(f8, 5)
"""The grid of the eddies of an inlet: whole numbers and lengths."""


def _scalar_step(dtype):
    """Return the argument types of a step of a scalar."""
    fields = (array(dtype, 4),) * 3
    tables = array(u1, 3), array(types.int8, 2), array(dtype, 2)
    return (*fields, *tables, types.UniTuple(dtype, 2), _BOX)


def _half_force(dtype):
    """Return the argument types of the correction of moments."""
    return (*(array(dtype, 4),) * 2, array(u1, 3), types.UniTuple(dtype, 4), _BOX)


def _not_finite(dtype):
    """Return the argument types of the search for values that are not finite."""
    return array(dtype, 4), array(u1, 3), _BOX, array(types.int32)


_SCALARS = {"step": _scalar_step, "add_half_force": _half_force, "find_not_finite": _not_finite}
"""Functions of the dtype of the arithmetic, by the names of kernels of scalars."""

KERNELS = {
    **{
        f"lbm._scalars.cuda.{name}_{dtype}": Budget(signature(dtype), 80, float64=dtype is f8)
        for dtype in (f4, f8)
        for name, signature in _SCALARS.items()
    },
    "lbm._inflow.cuda.place_eddies": Budget((i8, f8, *_INFLOW, array(f8, 2)), 64),
    "lbm._inflow.cuda.sum_eddies": Budget(
        (array(f8, 2), *_INFLOW, array(f8, 4), array(f8, 3), array(f8, 3), array(f8, 2)), 96
    ),
    "lbm._inflow.cuda.sum_inflow": Budget((array(f8, 2), f8, array(f8)), 40),
    **{
        f"lbm._inflow.cuda.write_rows_{dtype}": Budget(
            (array(i8, 2), array(f8, 3), array(f8, 3), i8, array(f8), i8, array(dtype, 2)), 48
        )
        for dtype in (f4, f8)
    },
    "lbm._engines.cuda.fill_zeros": Budget((array(u8),), 32, float64=False),
    "lbm._engines.cuda.take_elements": Budget((array(f4), array(i8), array(f4)), 24, float64=False),
    "lbm._domain.exchange.cuda.copy_planes": Budget(
        (*(array(f4, 2),) * 2, array(i8, 2), array(i8), array(boolean, 3)), 40, float64=False
    ),
    "lbm._links.cuda.clear": Budget((array(i8),), 16, float64=False),
    **{
        f"lbm._links.cuda.interpolate_{name}": Budget(
            (array(stored), array(i8), array(i8), array(real, 2), *(array(real),) * 3),
            40,
            float64=real is f8,
        )
        for name, stored, real in PRECISIONS
    },
    **{
        f"lbm._links.cuda.store_{name}": Budget(
            (array(stored), array(i8), array(real), array(real), array(i8), real),
            32,
            float64=real is f8,
        )
        for name, stored, real in PRECISIONS
    },
    **{
        f"lbm._scalars.cuda.interpolate_float{bits}": Budget(
            (array(real), array(i8), array(i8), array(real, 2), array(real), array(real)),
            32,
            float64=real is f8,
        )
        for bits, real in ((32, f4), (64, f8))
    },
    **{
        f"lbm._scalars.cuda.store_float{bits}": Budget(
            (array(real), array(i8), array(real)), 24, float64=real is f8
        )
        for bits, real in ((32, f4), (64, f8))
    },
    **{
        f"lbm._open_ends.cuda.correct_{kind}_{name}": Budget(
            (array(stored), array(i8, 2), array(u4), *(array(real, 2),) * 2, array(i8), real),
            48,
            float64=real is f8,
        )
        for kind in ("outlet", "inlet")
        for name, stored, real in PRECISIONS
    },
    **{
        f"lbm._links.cuda.sum_excess_float{bits}": Budget(
            (array(real), array(real), array(i8)), 48, float64=real is f8
        )
        for bits, real in ((32, f4), (64, f8))
    },
    **{
        f"lbm._fields.cuda.{name}_{dtype}": Budget(signature, 48, float64=dtype is f8)
        for dtype in (f4, f8)
        for name, signature in {
            "find_worst": (array(dtype, 2), array(dtype), array(i8)),
            "accumulate": (*(array(dtype, 2),) * 3, dtype),
        }.items()
    },
}
