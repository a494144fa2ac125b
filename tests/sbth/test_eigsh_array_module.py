"""Lanczos runs on arrays that NumPy's functions refuse, as they refuse CuPy's."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

from hermitian_matrices import random_numbers
from sbth._lanczos.operators import Operator, require_hermitian
from sbth._lanczos.thick_restart import Iteration, Settings
from sbth._lanczos.wanted import wanted_ends


class DeviceArray(NDArrayOperatorsMixin):
    """An array that has the operators and methods of CuPy's, and no way to NumPy but `get`."""

    def __init__(self, values):
        self._values = values

    def get(self):
        return self._values.copy()

    def __array__(self, *arguments, **options):
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def __getattr__(self, name):
        result = getattr(self._values, name)
        if callable(result):
            return lambda *a, **o: wrap(result(*map(unwrap, a), **o))
        return wrap(result)

    def __getitem__(self, key):
        return wrap(self._values[self._key(key)])

    def __setitem__(self, key, value):
        assert isinstance(value, DeviceArray), "a copy from host memory"
        self._values[self._key(key)] = value._values

    @staticmethod
    def _key(key):
        assert not isinstance(key, np.ndarray), "an index in host memory"
        return unwrap(key)

    def __float__(self):
        return float(self._values)

    def __complex__(self):
        return complex(self._values)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        host = [x for x in inputs if isinstance(x, np.ndarray) and x.ndim]
        assert not host, "arithmetic with an array in host memory"
        if out is not None:  # as in a -= b
            options["out"] = tuple(map(unwrap, out))
        return wrap(getattr(ufunc, method)(*map(unwrap, inputs), **options))


def wrap(result):
    """Return arrays as device arrays, even single numbers, as CuPy does."""
    return DeviceArray(result) if isinstance(result, np.ndarray | np.generic) else result


def unwrap(value):
    """Return the array behind a device array."""
    return value._values if isinstance(value, DeviceArray) else value


def on_device(function):
    """Return a function of CuPy's that takes only arrays on the device."""

    def call(*arrays):
        assert all(isinstance(array, DeviceArray) for array in arrays)
        return wrap(function(*map(unwrap, arrays)))

    return call


MODULE = SimpleNamespace(
    empty=lambda shape, dtype: DeviceArray(np.empty(shape, dtype)),
    asarray=lambda values, dtype=None: DeviceArray(np.array(unwrap(values), dtype)),
    vdot=on_device(np.vdot),
    linalg=SimpleNamespace(norm=on_device(np.linalg.norm)),
)
"""What Lanczos needs of CuPy."""


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("which", ["SA", "BE"])
def test_nothing_passes_through_host_memory(which, dtype):
    n, k = 90, 5
    rng = np.random.default_rng(6)
    spectrum = np.repeat(rng.standard_normal(n // 2), 2)
    q = np.linalg.qr(random_numbers(rng, (n, n), np.promote_types(dtype, float)))[0]
    a = DeviceArray(((q * spectrum) @ q.conj().T).astype(dtype))
    matrix = Operator("a", n, np.dtype(dtype), MODULE, lambda v: a @ v)
    require_hermitian(matrix, "operator", np.random.default_rng(0))
    settings = Settings(wanted_ends(which, k), 14, 500, 0.0, True)
    outcome = Iteration(matrix, settings, np.random.default_rng(0), lambda done: None).run(None)
    assert outcome.is_converged
    assert isinstance(outcome.rows, DeviceArray)
    ordered = np.sort(spectrum)
    low = k // 2 if which == "BE" else k
    expected = np.concatenate([ordered[:low], ordered[n - (k - low) :]])
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(np.sort(outcome.values), expected, atol=100 * eps)
    gram = outcome.rows.get().conj() @ outcome.rows.get().T
    np.testing.assert_allclose(gram, np.eye(k), atol=50 * eps)
