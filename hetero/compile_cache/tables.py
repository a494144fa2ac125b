"""Tables of numbers that take long to compute, kept beside the compiled code that uses them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import re
from collections.abc import Callable
from types import FunctionType
from typing import cast

import numpy as np

from hetero.compile_cache import store
from hetero.compile_cache.code_objects import describe
from hetero.compile_cache.disk_cache import folder_of
from hetero.compile_cache.source_digests import digest_of
from hetero.compile_cache.sources import SourcesChangedError, is_ours

_LIBRARIES = ("scipy", "python-flint")
"""Packages that compute tables; the folder knows the versions of Python, NumPy and Numba."""


def cached_table(package: str, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the array that `compute` returns, from disk if it has been computed before.

    Parameters
    ----------
    package : str
        The package in which `compute` is defined: an edit of its file, or of one that it imports,
        and another version of a library lets the table be computed again.
    name : str
        Name of the table. It says all that the table depends on besides.
    """
    if not store.is_enabled():
        return compute()
    code = cast(FunctionType, compute).__code__
    file = code.co_filename
    try:
        folder = folder_of(package)
        digest = digest_of(file) if is_ours(file) else describe(code).fingerprint.hex()
    except SourcesChangedError:
        return compute()
    versions = [importlib.metadata.version(library) for library in _LIBRARIES]
    key = repr((name, digest, versions))
    named = (
        f"table.{re.sub(r'[^a-z0-9]', '', name)}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"
    )
    data = store.read(folder, named)
    if data is not None:
        array: np.ndarray = np.load(io.BytesIO(data), allow_pickle=False)
        return array
    table = compute()
    content = io.BytesIO()
    np.save(content, table)
    store.write(folder, named, content.getvalue())
    return table
