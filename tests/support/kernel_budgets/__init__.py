"""Argument types and budgets of every kernel: what tests/test_kernels.py compiles for sm_90."""

from kernel_budgets import (
    hetero_kernels,
    lbm_kernels,
    rode_kernels,
    sbth_kernels,
    stablegpu_kernels,
    tmd_kernels,
)

KERNELS = (
    hetero_kernels.KERNELS
    | stablegpu_kernels.KERNELS
    | rode_kernels.KERNELS
    | lbm_kernels.KERNELS
    | sbth_kernels.KERNELS
    | tmd_kernels.KERNELS
)
