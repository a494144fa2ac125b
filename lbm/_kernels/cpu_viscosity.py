"""The eddy viscosity in a step on the CPU: how a vector of cells finds it.

It is an array in the order and the dtype of the populations of a slot. The last of the rates that
`cpu_rows.make_update` gets is a pointer to it, or to a row beside a scratch array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lbm._kernels.cpu_rows import inner_loop
from lbm._kernels.formulas.storage_formulas import codec
from lbm._kernels.intrinsics.vector_memory import pointer_to
from lbm.lattices.precision import Precision


class ViscosityLoops(NamedTuple):
    """Functions that do nothing for an operator that does not read the eddy viscosity.

    Attributes
    ----------
    attach : attach(rates, viscosity) -> the rates, with a pointer to an array behind them
    replace : replace(rates, row) -> the rates, with the pointer `row` in the place of that one
    copy : copy(rates, start, row, lane, n) copies what belongs to the n cells from `start` on to a
        row, from its cell `lane` on
    copy_decoded : the same, to a row in the dtype of the arithmetic
    """

    attach: Callable
    replace: Callable
    copy: Callable
    copy_decoded: Callable


def make_viscosity_loops(form: Precision, reads_viscosity: bool) -> ViscosityLoops:
    """Make the functions for a precision."""
    if not reads_viscosity:
        keep = inner_loop(lambda rates, _: rates, forceinline=True)
        skip = inner_loop(lambda rates, start, row, lane, n: None, forceinline=True)
        return ViscosityLoops(keep, keep, skip, skip)
    decode, _ = codec(form)

    @inner_loop(forceinline=True)
    def attach(rates, viscosity):
        return (*rates, pointer_to(viscosity))

    @inner_loop(forceinline=True)
    def replace(rates, row):
        return (*rates[:-1], row)

    @inner_loop(forceinline=True)
    def copy(rates, start, row, lane, n):
        viscosity = rates[-1]
        for i in range(n):
            row[lane + i] = viscosity[start + i]

    @inner_loop(forceinline=True)
    def copy_decoded(rates, start, row, lane, n):
        viscosity = rates[-1]
        for i in range(n):
            row[lane + i] = decode(viscosity[start + i])

    return ViscosityLoops(attach, replace, copy, copy_decoded)
