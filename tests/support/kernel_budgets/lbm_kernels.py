"""Argument types and budgets of the kernels of lbm that are not generated.

tests/lbm/test_kernel_budgets.py has the others.
"""

from kernel_budgets.budget import f4, f8, read_budgets

_OF_TYPES = """
    _coupled.scalars.cuda.step_{T}                80! T**** T**** T**** u1*** i1** T** 2xT 6xi8
    _coupled.turbulent_inlets.cuda.write_rows_{T} 48  i8** f8*** f8*** i8 f8* i8 T**
"""

_OTHERS = """
    _coupled.turbulent_inlets.cuda.place_eddies   64  i8 f8 8xi8 5xf8 f8**
    _coupled.turbulent_inlets.cuda.sum_eddies     96  f8** 8xi8 5xf8 f8**** f8*** f8*** f8**
    _coupled.turbulent_inlets.cuda.sum_inflow     40  f8** f8 f8*
    _kernels.cuda.fill_zeros                      32! u8*
    _kernels.cuda.take_elements                   24! f4* i8* f4*
    _parallel.exchange.cuda.copy_planes             40! f4** f4** i8** i8* bool***
    _kernels.items.cuda.clear                             16! i8*
"""

KERNELS = read_budgets("lbm", _OTHERS)
for _dtype in (f4, f8):
    KERNELS |= read_budgets("lbm", _OF_TYPES, T=_dtype)
