"""Pickles that hold functions by value, by the cloudpickle that Numba carries along."""

from __future__ import annotations

from typing import Any

from numba import cloudpickle


def pickle_by_value(value: Any) -> bytes:
    """Return a pickle in which functions of `__main__` and notebooks, and lambdas, are whole.

    Plain pickles name a function, which another process can find in a module only. `pickle.loads`
    reads the result in any process that has the same version of Numba.
    """
    data: bytes = cloudpickle.dumps(value)
    return data
