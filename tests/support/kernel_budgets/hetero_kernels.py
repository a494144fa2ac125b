"""Argument types and budgets of the kernels of hetero."""

from kernel_budgets.budget import read_budgets

KERNELS = read_budgets(
    "hetero",
    """
    philox.cuda.fill_words                            48!  u4 u4 u4 u4 i8 u4*
    philox.cuda.fill_float32                          48!  u4 u4 u4 u4 i8 f4*
    philox.cuda.fill_float64                          48   u4 u4 u4 u4 i8 f8*
    measurement.limit_loops.cuda.copy8                64   f8* f8*
    measurement.limit_loops.cuda.multiply_add_float32 40!  f4 i8 f4*
    measurement.limit_loops.cuda.multiply_add_float64 40   f8 i8 f8*
    measurement.limit_loops.cuda.multiply_add_uint64  40!  u8 i8 u8*
    measurement.limit_loops.cuda.keep_busy            32   i8 f8*
    measurement.limit_loops.cuda.empty                16   f8*
    """,
)
