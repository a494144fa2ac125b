"""The conversion of what Numba has compiled to bytes, and back."""

from __future__ import annotations

import pickle
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from hetero.numba_internals.libraries import self_contained


def has_addresses(code: Any) -> bool:
    """Return whether compiled code refers to addresses of this process, or to lifted loops."""
    return bool(code.library.has_dynamic_globals or code.lifted)


def to_bytes(code: Any) -> bytes:
    """Return compiled code of the CPU as bytes."""
    return dumps(code._reduce())


def from_bytes(target_context: Any, data: bytes) -> Any:
    """Return compiled code from what `to_bytes` returned."""
    with self_contained(target_context.codegen()):
        return CompileResult._rebuild(target_context, *pickle.loads(data))
