"""Tables of numbers that take long to compute, kept beside the compiled code that uses them."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from hetero.compile_cache.disk_cache import read, write
from hetero.compile_cache.folder import folder_of, is_enabled


def cached_table(package: str, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the array that `compute` returns, from disk if it has been computed before.

    Parameters
    ----------
    package : str
        The package in which `compute` is defined: an edit in it, or in `hetero`, and another
        version of NumPy, Numba or Python, lets the table be computed again.
    name : str
        Name of the table. It says all that the table depends on besides.
    """
    if not is_enabled():
        return compute()
    path = folder_of(package) / f"table-{name}"
    data = read(path)
    if data is not None:
        array: np.ndarray = np.load(io.BytesIO(data), allow_pickle=False)
        return array
    table = compute()
    file = io.BytesIO()
    np.save(file, table)
    write(path, file.getvalue())
    return table
