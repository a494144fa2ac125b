"""C functions of CUDA's driver and of cuBLAS as first-class functions of Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba.experimental.function_type  # noqa: F401 - makes Numba know CFunction
from numba import types

from studies.sbth.prepared.issue_loops import Functions

_I, _U, _P = types.int32, types.uint32, types.int64

SIGNATURES = {
    "launch": (_P, _U, _U, _U, _U, _U, _U, _U, _P, _P, _P),
    "record": (_P, _P),
    "wait": (_P, _P, _U),
    "copy": (_P, _I, _P, _I, _P, _I),
    "axpy": (_P, _I, _P, _P, _I, _P, _I),
    "dot": (_P, _I, _P, _I, _P, _I, _P),
    "nrm2": (_P, _I, _P, _I, _P),
    "scal": (_P, _I, _P, _P, _I),
    "symv": (_P, _I, _I, _P, _P, _I, _P, _I, _P, _P, _I),
    "syr2": (_P, _I, _I, _P, _P, _I, _P, _I, _P, _I),
    "gemv": (_P, _I, _I, _I, _P, _P, _I, _P, _I, _P, _P, _I),
    "ger": (_P, _I, _I, _P, _P, _I, _P, _I, _P, _I),
}
"""Arguments of the functions, which all return an int32; pointers and handles are int64."""


NO_FUNCTION = -1
"""Address for functions that are not there and not called; Numba refuses 0."""


class CFunction(types.WrapperAddressProtocol):
    """A C function at an address."""

    def __init__(self, address: int, arguments: tuple[Any, ...]) -> None:
        self._address, self._signature = address, types.int32(*arguments)

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """Return Numba's signature of the function."""
        return self._signature


def functions_at(address_of: Callable[[str], int]) -> Functions:
    """Return all functions; `address_of` gives the address of each by its name."""
    return Functions(**{n: CFunction(address_of(n), a) for n, a in SIGNATURES.items()})
