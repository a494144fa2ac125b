"""Argument types and budgets of the kernels of lbm that are not generated.

tests/lbm/test_kernel_budgets.py has the others.
"""

from numba import types

from kernel_budgets.budget import f4, f8, read_budgets

PRECISIONS = (
    {"name": "float16", "S": types.uint16, "T": f4},
    {"name": "float32", "S": f4, "T": f4},
    {"name": "float64", "S": f8, "T": f8},
)
"""Names of precisions, with the types of a stored population and of the arithmetic."""

_OF_PRECISIONS = """
    _links.cuda.interpolate_{name}        40! S* i8* i8* T** T* T* T*
    _links.cuda.store_{name}              32! S* i8* T* T* i8* T
    _open_ends.cuda.correct_outlet_{name} 48! S* i8** u4* T** T** i8* T
    _open_ends.cuda.correct_inlet_{name}  48! S* i8** u4* T** T** i8* T
"""

_OF_TYPES = """
    _scalars.cuda.step_{T}            80! T**** T**** T**** u1*** i1** T** 2xT 6xi8
    _scalars.cuda.add_half_force_{T}  80! T**** T**** u1*** 4xT 6xi8
    _scalars.cuda.find_not_finite_{T} 80! T**** u1*** 6xi8 i4*
    _scalars.cuda.interpolate_{T}     32! T* i8* i8* T** T* T*
    _scalars.cuda.store_{T}           24! T* i8* T*
    _inflow.cuda.write_rows_{T}       48  i8** f8*** f8*** i8 f8* i8 T**
    _links.cuda.sum_excess_{T}        48! T* T* i8*
    _fields.cuda.find_worst_{T}       48! T** T* i8*
    _fields.cuda.accumulate_{T}       48! T** T** T** T
"""

_OTHERS = """
    _inflow.cuda.place_eddies         64  i8 f8 8xi8 5xf8 f8**
    _inflow.cuda.sum_eddies           96  f8** 8xi8 5xf8 f8**** f8*** f8*** f8**
    _inflow.cuda.sum_inflow           40  f8** f8 f8*
    _engines.cuda.fill_zeros          32! u8*
    _engines.cuda.take_elements       24! f4* i8* f4*
    _domain.exchange.cuda.copy_planes 40! f4** f4** i8** i8* bool***
    _links.cuda.clear                 16! i8*
"""

KERNELS = read_budgets("lbm", _OTHERS)
for _precision in PRECISIONS:
    KERNELS |= read_budgets("lbm", _OF_PRECISIONS, **_precision)
for _dtype in (f4, f8):
    KERNELS |= read_budgets("lbm", _OF_TYPES, T=_dtype)
