"""Argument types and budgets of the kernels of hetero."""

from kernel_budgets.budget import Budget, array, f4, f8, i8, u4, u8

PHILOX = (u4, u4, u4, u4, i8)

KERNELS = {
    "hetero.philox.cuda.fill_words": Budget((*PHILOX, array(u4)), 48, float64=False),
    "hetero.philox.cuda.fill_float32": Budget((*PHILOX, array(f4)), 48, float64=False),
    "hetero.philox.cuda.fill_float64": Budget((*PHILOX, array(f8)), 48),
    "hetero.measurement.limit_loops.cuda.copy8": Budget((array(f8), array(f8)), 64),
    "hetero.measurement.limit_loops.cuda.multiply_add_float32": Budget(
        (f4, i8, array(f4)), 40, float64=False
    ),
    "hetero.measurement.limit_loops.cuda.multiply_add_float64": Budget((f8, i8, array(f8)), 40),
    "hetero.measurement.limit_loops.cuda.multiply_add_uint64": Budget(
        (u8, i8, array(u8)), 40, float64=False
    ),
    "hetero.measurement.limit_loops.cuda.keep_busy": Budget((i8, array(f8)), 32),
    "hetero.measurement.limit_loops.cuda.empty": Budget((array(f8),), 16),
}
