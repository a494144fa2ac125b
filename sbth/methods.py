"""Which method solves a problem, without solving it."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from hetero import Device, validation
from sbth._problem.problem import Call, Problem, require_flags, require_real
from sbth._route.route import route

_DTYPES = "float32", "float64", "complex64", "complex128"


def solver_for(
    order: int,
    bandwidth: int | None = None,
    *,
    eigvals_only: bool = False,
    dtype: DTypeLike = np.float64,
    method: str = "auto",
    device: str | Device | None = None,
) -> str:
    """Return how a matrix of this kind is solved: what `method="auto"` chooses, or another one.

    Parameters
    ----------
    order : int
    bandwidth : int, optional
        Number of subdiagonals: 1 for `eigh_tridiagonal`, more for `eig_banded`; by default the
        matrix is a full one (`eigh`).
    eigvals_only : bool
        Whether only eigenvalues are computed, all of them.
    dtype : dtype
        Type of the elements; complex ones are solved by LAPACK on a CPU.
    method : {"auto", "sbth", "lapack", "cusolver"}
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    str
        The steps, for example "sbth: bulge chasing, divide and conquer, back-transformation".

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        An argument is wrong, or the method does not suit the matrix or the device.
    """
    order = validation.check_integer("order", order, 0)
    require_flags(eigvals_only=eigvals_only)
    vectors, most, form = not eigvals_only, max(order - 1, 0), "full"
    if bandwidth is not None:
        bandwidth, form = min(validation.check_integer("bandwidth", bandwidth, 0), most), "band"
    width = most if bandwidth is None else bandwidth
    dtype = validation.check_dtype("dtype", dtype, _DTYPES)
    is_short = form == "band" and width <= 1 and not vectors
    call = Call("sbth.solver_for", vectors, method, device=device)
    device = call.choose_device("tridiagonal" if is_short else form, order, ())
    if dtype.kind == "c":
        require_real("dtype", method, device)
    selection = call.selection(order)
    problem = Problem(form, (), order, width, dtype, True, selection, vectors, device, method)
    return route(problem).describe()
