"""Argument types and budgets of the kernels of lbm that are not generated.

tests/lbm/test_kernel_budgets.py has the others.
"""

from kernel_budgets.budget import Budget, array, boolean, f4, f8, i8, u8

KERNELS = {
    "lbm._engines.cuda.fill_zeros": Budget((array(u8),), 32, float64=False),
    "lbm._engines.cuda.take_elements": Budget((array(f4), array(i8), array(f4)), 24, float64=False),
    "lbm._domain.exchange.cuda.copy_planes": Budget(
        (*(array(f4, 2),) * 2, array(i8, 2), array(i8), array(boolean, 3)), 40, float64=False
    ),
    **{
        f"lbm._fields.cuda.{name}_{dtype}": Budget(signature, 48, float64=dtype is f8)
        for dtype in (f4, f8)
        for name, signature in {
            "find_worst": (array(dtype, 2), array(dtype), array(i8)),
            "accumulate": (*(array(dtype, 2),) * 3, dtype),
        }.items()
    },
}
