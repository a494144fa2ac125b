"""Collision operators for vectors of cells on the CPU.

The text of an operator compiles for vectors if it consists of the operations that
`intrinsics/vectors.py` defines. An operator with branches, or with other functions, does not: its
vectors are written to memory, and the operator is applied to one cell after the other.

The eddy viscosity that an operator may read is an array in the order and the dtype of the
populations of a slot. The last of the rates that `cpu_rows.make_update` gets is a pointer to it, or
to a row beside a scratch array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numba
from numba import types
from numba.core.errors import NumbaError

from hetero.codegen import compile_source
from hetero.jit import FUSED, scalar_internal
from lbm._kernels.cpu_rows import inner_loop
from lbm._kernels.formulas.cell_formulas import make_cell_functions, make_relaxation
from lbm._kernels.formulas.storage_formulas import codec
from lbm._kernels.intrinsics.vector_memory import (
    make_load,
    make_stack_array,
    make_store,
    pointer_to,
)
from lbm._kernels.intrinsics.vectors import Vector
from lbm.lattices import Lattice
from lbm.lattices.precision import Precision


@functools.cache
def vector_functions(
    lattice: Lattice, operator: type, compute: type, lanes: int, rates: int, forced: bool
):
    """Make (velocity, collide) of `cell_formulas.make_cell_functions` for vectors of cells.

    `rates` is the number of the operator's rates.
    """
    number, (relax, takes_pairs) = numba.from_dtype(compute), make_relaxation(operator, lattice)
    vector, shared = Vector(number, lanes), (number,) * rates
    of_cell = (vector,) * operator.reads_viscosity
    if not _compiles_for_vectors(relax, vector, types.Tuple(shared + of_cell), lattice.size):
        relax = _make_relax_by_lanes(
            relax, number, lanes, lattice.size, rates, operator.reads_viscosity
        )
    return make_cell_functions(lattice, relax, takes_pairs, forced)


def _compiles_for_vectors(relax, vector: Vector, rates: types.BaseTuple, size: int) -> bool:
    populations = types.UniTuple(vector, size)
    try:
        relax.compile((populations, populations, rates))
    except NumbaError:  # an error that is not due to vectors occurs again with numbers
        return False
    compiled = relax.overloads[(populations, populations, rates)]
    return compiled.signature.return_type == populations


def _make_relax_by_lanes(
    relax, number: types.Float, lanes: int, size: int, rates: int, reads_viscosity: bool
):
    """Make relax(f, e, rates) of vectors out of an operator on tuples of `size` numbers."""

    def row(first: int) -> str:
        return f"({', '.join(f'rows[{(first + q) * lanes} + k]' for q in range(size))})"

    lines = ["def relax_by_lanes(f, e, rates):", "    rows = stack_array()"]
    lines += [f"    store(rows, {q * lanes}, f[{q}])" for q in range(size)]
    lines += [f"    store(rows, {(size + q) * lanes}, e[{q}])" for q in range(size)]
    rates_of_cell = "rates"
    if reads_viscosity:
        lines += [f"    store(rows, {2 * size * lanes}, rates[{rates}])"]
        rates_of_cell = f"rates[:{rates}] + (rows[{2 * size * lanes} + k],)"
    lines += [f"    for k in range({lanes}):"]
    lines += [f"        g = relax({row(0)}, {row(size)}, {rates_of_cell})"]
    lines += [f"        rows[{q * lanes} + k] = g[{q}]" for q in range(size)]
    lines += [f"    return ({', '.join(f'load(rows, {q * lanes})' for q in range(size))})"]
    names = {
        "relax": relax,
        "load": make_load(lanes),
        "store": make_store(lanes),
        "stack_array": make_stack_array(number, (2 * size + reads_viscosity) * lanes),
    }
    function = compile_source("relax_by_lanes", "\n".join(lines) + "\n", names)
    return scalar_internal(function, fastmath=FUSED)


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
