"""Tables of numbers that take long to compute, kept beside the compiled code that uses them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import re
from collections.abc import Callable

import numpy as np

from hetero.compile_cache import store
from hetero.compile_cache.disk_cache import folder_of
from hetero.compile_cache.sources import SourcesChangedError

_LIBRARIES = ("scipy", "python-flint")
"""Packages that compute tables; the folder knows the versions of Python, NumPy and Numba."""


def cached_table(package: str, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the array that `compute` returns, from disk if it has been computed before.

    Parameters
    ----------
    package : str
        The package in which `compute` is defined: an edit in it, or in `hetero`, and another
        version of a library lets the table be computed again.
    name : str
        Name of the table. It says all that the table depends on besides.
    """
    try:
        folder = folder_of(package) if store.is_enabled() else None
    except SourcesChangedError:
        folder = None
    if folder is None:
        return compute()
    key = repr((name, [importlib.metadata.version(library) for library in _LIBRARIES]))
    digest = hashlib.sha256(key.encode()).hexdigest()[:24]
    file = f"table.{re.sub(r'[^a-z0-9]', '', name)}-{digest}"
    data = store.read(folder, file)
    if data is not None:
        array: np.ndarray = np.load(io.BytesIO(data), allow_pickle=False)
        return array
    table = compute()
    content = io.BytesIO()
    np.save(content, table)
    store.write(folder, file, content.getvalue())
    return table
