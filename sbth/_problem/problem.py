"""The problem of a call: made and checked once, before a way to solve it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from hetero import validation
from hetero.devices import Device, device_of, parse, resolve
from sbth._problem.arrays import KEPT, copy_to_host, has_cupy, shape_and_dtype
from sbth._problem.inspection import Sizes, sizes_of
from sbth._problem.limits import BREAK_EVEN, DEVICES, METHOD_NAMES, METHODS
from sbth._problem.selection import Selection, select_all
from sbth._problem.validation import (
    validate_band,
    validate_bool,
    validate_matrix,
    validate_tridiagonal,
)


class Problem(NamedTuple):
    """Eigenvalues or eigenpairs of a symmetric or Hermitian matrix, or of a pencil of two.

    Attributes
    ----------
    form : {"tridiagonal", "band", "full"}
        Storage of the matrix: diagonal and subdiagonal, LAPACK's band storage, or (n, n).
    arrays : tuple of arrays
        Validated, in host memory or on a GPU: (d, e, their `Sizes`), (band,) or (matrix,).
    order, width : int
        Order of the matrix and number of its subdiagonals.
    dtype : numpy.dtype
        Type to compute in: float32, float64, complex64 or complex128.
    lower : bool
        Which triangle `arrays`, and `second`, hold.
    selection : Selection
    vectors : bool
        Whether eigenvectors are computed, too.
    device : Device
    method : {"auto", "sbth", "lapack", "cusolver"}
    progress : bool
    second : array, optional
        The matrix B of A x = lambda B x, in the storage of the first one.
    name : str
        Argument of the public function that holds the matrix, for messages.
    routine : str
        The public function.
    like : array
        An array of the library, and in the memory, of the results.
    """

    form: str
    arrays: tuple[Any, ...]
    order: int
    width: int
    dtype: np.dtype
    lower: bool
    selection: Selection
    vectors: bool
    device: Device
    method: str = "auto"
    progress: bool = False
    second: Any = None
    name: str = "a"
    routine: str = ""
    like: Any = None


_DOUBLE = np.dtype(np.float64)


class Reduced(NamedTuple):
    """A real tridiagonal matrix T of A = Q T Q^H, where A was multiplied by a power of two.

    Attributes
    ----------
    d, e : arrays (n,), (n - 1,)
        Diagonal and subdiagonal, in host memory.
    factor : float
        The power of two.
    transform : function, optional
        Takes the array module and real vectors (n, m), and returns Q times them.
    was_reduced : bool
        Whether rounding errors of a reduction, in the type of `d`, are in T.
    known_sizes : Sizes, optional
        Those of the elements, if they were determined already.
    """

    d: np.ndarray
    e: np.ndarray
    factor: float = 1.0
    transform: Callable[[Any, Any], Any] | None = None
    was_reduced: bool = True
    known_sizes: Sizes | None = None

    @property
    def sizes(self) -> Sizes:
        """The sizes of the elements."""
        return sizes_of(self.d, self.e) if self.known_sizes is None else self.known_sizes

    def in_double(self) -> Reduced:
        """Return it with `d` and `e` in float64, in which tridiagonal matrices are solved."""
        if self.d.dtype is self.e.dtype is _DOUBLE:
            return self
        return self._replace(d=self.d.astype(float), e=self.e.astype(float))


class Stage(NamedTuple):
    """A step of the way, which takes what the step before leaves.

    Attributes
    ----------
    describe : function
        Says for a problem what the step is; "" if there is nothing to do.
    run : function
        Takes the array module, the problem, and what the step before has left. A reduction returns
        `Reduced`, the others eigenvalues in host memory and eigenvectors (n, m) or None.
    memory : function, optional
        Bytes that it needs for each element of an (n, n) matrix.
    keeps : function, optional
        Bytes, for each element, of what the later steps need of it.
    works_on_full : bool
        Whether it works on a full matrix, whatever the storage.
    """

    describe: Callable[[Problem], str]
    run: Callable[[Any, Problem, Any], Any]
    memory: Callable[[Problem], int] | None = None
    keeps: Callable[[Problem], int] | None = None
    works_on_full: bool = False


class Call(NamedTuple):
    """The request of a call of a public function, as its caller has written it.

    Attributes
    ----------
    routine : str
        The public function.
    vectors : bool
        Whether eigenvectors are computed, too.
    method, progress, device, select, select_range, tol
        See `sbth.eigvalsh_tridiagonal`.
    range_name : str
        Argument of the public function that is `select_range` here.
    """

    routine: str
    vectors: bool
    method: str = "auto"
    progress: bool = False
    device: str | Device | None = None
    select: str | int = "a"
    select_range: Any = None
    tol: float | None = None
    range_name: str = "select_range"

    def selection(self, order: int) -> Selection:
        """Return the validated selection for a matrix of some order."""
        if self.tol is None and isinstance(self.select, str) and self.select == "a":
            return select_all(order)
        return Selection.create(self.select, self.select_range, self.tol, order, self.range_name)

    def choose_device(
        self, form: str, order: int, arrays: tuple[Any, ...], *, is_complex: bool = False
    ) -> Device:
        """Return the device: what the caller, the method or the arrays say, or the size.

        `form` "" takes a GPU only if it is asked for.

        Raises
        ------
        ValueError, hetero.DeviceUnavailableError
            There is no such method, or not for this device or storage; the device cannot be used.
        """
        method, device = self.method, self.device
        if type(method) is not str or method != "auto":
            if not isinstance(method, str) or method not in METHOD_NAMES:
                validation.check_choice("method", method, METHOD_NAMES)
            is_free = method in DEVICES and parse(device) is None
            if is_free and all(device_of(a) is None for a in arrays):
                device = DEVICES[method]
        least = BREAK_EVEN.get((form, self.vectors))
        if least is not None and (self.vectors or is_complex or form == "full") and not has_cupy():
            least = None  # products of matrices on a GPU are CuPy's
        chosen = resolve(device, *arrays, work=order, break_even=least)
        if method != "auto" and method not in METHODS[chosen.kind, form or "band"]:
            _refuse_method(method, chosen, form or "band", self.routine)
        return chosen


def read_subset(by_index: Any, by_value: Any) -> tuple[str, Any, None, str]:
    """Return the last four values of a `Call` by SciPy's arguments of `eigh`."""
    if by_index is not None and by_value is not None:
        raise ValueError("subset_by_index and subset_by_value must not be given both")
    if by_index is not None:
        return "i", by_index, None, "subset_by_index"
    return ("a" if by_value is None else "v"), by_value, None, "subset_by_value"


def tridiagonal_problem(d: Any, e: Any, call: Call) -> Problem:
    """Validate the arguments for a tridiagonal matrix."""
    like = d
    if not type(d) is type(e) is np.ndarray:
        like = d if device_of(d) is not None else e
        for name, values in (("d", d), ("e", e)):
            if device_of(values) is not None:
                shape_and_dtype(name, values)  # refuses complex ones before anything is copied
    try:
        order = len(d)
    except TypeError:  # which the validation reports
        order = 0
    device = call.choose_device("tridiagonal", order, (d, e))
    d, e, sizes = validate_tridiagonal(d, e)
    n, dtype = len(d), d.dtype if d.dtype == e.dtype else np.result_type(d, e)
    return Problem(
        "tridiagonal", (d, e, sizes), n, 1 if n > 1 else 0, dtype, True, call.selection(n),
        call.vectors, device, call.method, call.progress, None, "d, e", call.routine, like,
    )  # fmt: skip


def band_problem(a_band: Any, b_band: Any, lower: bool, call: Call) -> Problem:
    """Validate the arguments for a band matrix, or for a pencil."""
    if b_band is not None and (device_of(a_band) is None) != (device_of(b_band) is None):
        raise ValueError("a_band and b_band must be in one memory: one is on a GPU, the other not")
    band, vectors = a_band, call.vectors
    if type(band) is np.ndarray and band.ndim == 2 and band.dtype in KEPT and len(band):
        (rows, order), dtype = band.shape, band.dtype
    else:
        band, (rows, order), dtype = validate_band(a_band, "a_band", allow_complex=True)
    width, selection = (rows if rows < order else order or 1) - 1, call.selection(order)
    form = "band" if width > 1 or vectors else "tridiagonal"
    if b_band is not None:  # on a GPU only if it is asked for
        device = call.choose_device("", 0, (a_band, b_band))
        b_band, of_b, dtype_of_b = validate_band(b_band, "b_band", allow_complex=True)
        if of_b[1] != order:
            raise ValueError(f"b_band must be of the order of a_band, {order}, got shape {of_b}")
        dtype = np.result_type(dtype, dtype_of_b)
    else:
        device = call.choose_device(form, order, (band,), is_complex=dtype.kind == "c")
    if dtype.kind == "c":
        require_real("a_band", call.method, device)
    elif rows == 1 and not vectors and not isinstance(band, np.ndarray):
        band = copy_to_host("a_band", band)
    return Problem(
        "band", (band,), order, width, dtype, lower, selection, vectors, device,
        call.method, call.progress, b_band, "a_band", call.routine, a_band,
    )  # fmt: skip


def full_problem(a: Any, b: Any, lower: bool, call: Call) -> Problem:
    """Validate the arguments for a full matrix, or for a pencil."""
    if type(a) is np.ndarray and a.dtype in KEPT and a.ndim == 2 and len(a) == a.shape[1]:
        order, dtype = len(a), a.dtype
    else:
        a, order, dtype = validate_matrix(a, allow_complex=True)
    device = call.choose_device("full", order, (a,) if b is None else (a, b))
    selection = call.selection(order)
    if b is not None:
        b, of_b, dtype_of_b = validate_matrix(b, "b", allow_complex=True)
        if of_b != order:
            shapes = (order, order), (of_b, of_b)
            raise ValueError(f"b must have the shape of a, {shapes[0]}, got {shapes[1]}")
        if (device_of(a) is None) != (device_of(b) is None):
            raise ValueError("a and b must be in one memory: one is on a GPU, the other is not")
        dtype = np.result_type(dtype, dtype_of_b)
    like = a
    if b is None and not call.vectors and not lower:
        a, lower = a.T, True
    return Problem(
        "full", (a,), order, (order or 1) - 1, dtype, lower, selection, call.vectors, device,
        call.method, call.progress, b, "a", call.routine, like,
    )  # fmt: skip


def _refuse_method(method: str, device: Device, form: str, routine: str) -> NoReturn:
    """Raise the error for a method that does not exist on a device for this storage."""
    names = METHODS[device.kind, form]
    if method == "cusolver" and device.kind == "cuda":
        raise ValueError(
            f"method='cusolver' solves full matrices only, by eigh and eigvalsh; {routine} "
            "takes 'auto' or 'sbth' on a GPU"
        )
    allowed = ", ".join(map(repr, names))
    raise ValueError(
        f"method must be one of {allowed} on {device} for {form} matrices, got {method!r}"
    )


def require_real(name: str, method: str, device: Device) -> None:
    """Raise ValueError if this package's loops are asked for a complex matrix on a CPU."""
    if method == "sbth" and device.kind == "cpu":
        raise ValueError(
            f"method='sbth' reduces real matrices only, and {name} is complex: use 'auto'"
        )


def require_flags(**flags: Any) -> None:
    """Raise TypeError for a flag that is neither True nor False."""
    for name, value in flags.items():
        if value is not True and value is not False:
            validate_bool(name, value)
