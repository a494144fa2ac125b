"""Matrices and operators of users: their checks, devices and products."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from hetero.devices import Device, device_of, parse, resolve
from sbth._lanczos.operators import Operator
from sbth._problem.arrays import is_sparse, shape_and_dtype
from sbth._problem.sparse_matrices import check_symmetric
from sbth._problem.validation import validate_matrix
from sbth._vendor.array_modules import as_module_array


@dataclass(frozen=True)
class SparseProblem:
    """A matrix or an operator whose eigenvalues are wanted.

    Attributes
    ----------
    matrix : the validated matrix in the memory where it is, or the operator
    kind : {"sparse", "dense", "operator"}
    order : int
    dtype : numpy.dtype
        float32, float64, complex64 or complex128.
    like : array
        An array in the memory, and of the library, of the results.
    device : hetero.Device
    """

    matrix: Any
    kind: str
    order: int
    dtype: np.dtype
    like: Any
    device: Device

    @property
    def is_on_host(self) -> bool:
        """True if the matrix is in host memory and the CPU computes."""
        return self.kind != "operator" and self.device.kind == "cpu"

    @property
    def products(self) -> int:
        """Number of multiply-adds of a product with a vector; 0 for operators."""
        if self.kind == "operator":
            return 0
        return int(self.matrix.nnz) if self.kind == "sparse" else self.order**2

    def product(self, xp: ModuleType) -> Callable[[Any], Any]:
        """Return the function that multiplies a vector by the matrix, copied to the device."""
        matrix = self.matrix
        if self.kind == "operator":
            return lambda x: copy(matrix.matvec(x))  # which may write into the same array again
        if self.kind == "dense":
            matrix = as_module_array(xp, matrix).astype(self.dtype, copy=False)
        elif self.device.kind == "cuda":
            from cupyx.scipy.sparse import csr_matrix

            matrix = csr_matrix(matrix, dtype=self.dtype)
        return lambda x: matrix @ x

    def operator(self, xp: ModuleType, product: Any = None, name: str = "a") -> Operator:
        """Return the matrix, or another function of vectors (n,), as an operator on `xp`."""
        return Operator(name, self.order, self.dtype, xp, product or self.product(xp))


def read_problem(a: Any, v0: Any, device: str | Device | None) -> SparseProblem:
    """Validate a matrix or an operator, and choose the device of its computation.

    Without a `device` it is that of the matrix, of a CuPy operator that of `v0` or the current one;
    for matrices in host memory it is the CPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
    """
    if is_sparse(a):
        gpu = device_of(getattr(a, "data", None))
        return _host_matrix(a, "sparse", device) if gpu is None else _gpu_sparse(a, device)
    if device_of(a) is not None:
        a, n, dtype = validate_matrix(a, allow_complex=True)
        return SparseProblem(a, "dense", n, dtype, a, resolve(device, a))
    if hasattr(a, "matvec"):
        return _operator("a", a, v0, device)
    return _host_matrix(a, "dense", device)


def _host_matrix(a: Any, kind: str, device: str | Device | None) -> SparseProblem:
    """Return a matrix in host memory, which must be symmetric or Hermitian."""
    matrix = check_symmetric(a)
    chosen = resolve(device, work=0, break_even=None)
    like = np.empty(0)
    return SparseProblem(matrix, kind, matrix.shape[0], matrix.dtype, like, chosen)


def _gpu_sparse(a: Any, device: str | Device | None) -> SparseProblem:
    """Return a sparse matrix of CuPy, whose symmetry is checked by products later."""
    _require_square("a", a.shape)
    _, dtype = shape_and_dtype("a", a.data, allow_complex=True)
    matrix = a.tocsr().astype(dtype)
    return SparseProblem(matrix, "sparse", a.shape[0], dtype, a.data, resolve(device, a.data))


def _operator(name: str, a: Any, v0: Any, device: str | Device | None) -> SparseProblem:
    """Return a linear operator, of SciPy on the CPU or of CuPy on a GPU."""
    shape = tuple(getattr(a, "shape", ()))
    _require_square(name, shape)
    dtype = getattr(a, "dtype", None)
    try:
        dtype = np.dtype(dtype) if dtype is not None else None
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind not in "fiubc":
        raise TypeError(f"{name} must be a linear operator with a numeric dtype, got {dtype}")
    is_single = dtype in (np.float32, np.complex64)
    wide = np.complex128 if dtype.kind == "c" else np.float64
    dtype = dtype if is_single else np.dtype(wide)
    if not any(kind.__module__.startswith("cupyx.") for kind in type(a).__mro__):
        chosen = resolve(device, v0, work=0, break_even=None)
        if chosen.kind != "cpu":
            raise TypeError(
                f"{name} is an operator in host memory, but the device is {chosen}: use "
                "device='cpu', or an operator of cupyx.scipy.sparse.linalg"
            )
        return SparseProblem(a, "operator", shape[0], dtype, np.empty(0), chosen)
    import cupy

    if parse(device) is None:
        is_free = device_of(v0) is None
        device = Device("cuda", cupy.cuda.runtime.getDevice()) if is_free else None
    chosen = resolve(device, v0)
    if chosen.kind == "cpu":
        raise TypeError(
            f"{name} is an operator of CuPy, but the device is the CPU: use device='cuda', or an "
            "operator of scipy.sparse.linalg"
        )
    with chosen.active():
        return SparseProblem(a, "operator", shape[0], dtype, cupy.empty(0), chosen)


def read_inverse(inverse: Any, problem: SparseProblem) -> SparseProblem:
    """Validate the operator that a user gives for the inverse of A - sigma."""
    if not hasattr(inverse, "matvec"):
        raise TypeError(
            "OPinv must be a linear operator with matvec (scipy.sparse.linalg.LinearOperator), got "
            f"{type(inverse).__name__}"
        )
    operator = _operator("OPinv", inverse, None, problem.device)
    if operator.order != problem.order:
        raise ValueError(
            f"OPinv must have the shape of a, ({problem.order}, {problem.order}), got "
            f"({operator.order}, {operator.order})"
        )
    return operator


def _require_square(name: str, shape: tuple[int, ...]) -> None:
    """Raise ValueError for what is not square."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} must be square, got the shape {shape}")
