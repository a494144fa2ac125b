"""GPU kernels: the source of each, generated and compiled once for every combination.

The arguments of a kernel are `_kernels.gpu.source.ARRAYS`, its own ones, and
`_kernels.gpu.source.REGION`:

- step: rates (collision rates) and force (three numbers), in the dtype of the arithmetic;
- step_with_viscosity: the same, and viscosity [word], the eddy viscosity in the form of a slot of
  the populations;
- survey: force, and flag [1], int32;
- survey_with_scalar, damp and accelerate: see `survey_source`, `damp_source` and so on;
- others: force, and data [k, cell], the moments (rho - 1, ux, uy, uz) or the populations of the
  region's cells in the order [z, y, x].
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hetero.codegen import compile_source
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from lbm._kernels.formulas.cell_formulas import (
    cell_formulas,
    make_cell_functions,
    make_drive,
    make_relaxation,
)
from lbm._kernels.formulas.scalar_formulas import add_half_impulse, total
from lbm._kernels.formulas.stability_formulas import is_good
from lbm._kernels.formulas.storage_formulas import codec, word_codec
from lbm._kernels.formulas.wall_formulas import make_outlet_returns, make_slip_returns, wall_return
from lbm._kernels.gpu.source import KernelSource
from lbm._kernels.intrinsics.local_arrays import make_local_array, opaque, peek, poke
from lbm._kernels.moments.cuda_source import MomentsSource
from lbm._kernels.moments.formulas import make_conversions, make_packing
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices import D3Q19, Lattice
from lbm.lattices.precision import PRECISIONS, Precision
from lbm.lattices.streaming_patterns import Access, make_pattern

MOMENTS = "drho", "ux", "uy", "uz"
"""Names of the rows of data that hold moments."""


def step_source(source: KernelSource, reads_viscosity: bool = False) -> str:
    """Write a step: load, collide, store. The collision may read the eddy viscosity."""
    if reads_viscosity:
        source.load_viscosity("viscosity")
    source.read_classes()
    source.load_populations()
    for i in source.lanes:
        f, g = source.populations("f", i), source.populations("g", i)
        rates = f"(*rates, viscosity_{i})" if reads_viscosity else "rates"
        source.add(f"g, ux_{i}, uy_{i}, uz_{i} = collide({f}, {rates}, force)", f"{g} = g")
    source.apply_special_walls()
    if any(any(address.shift) for address in source.access.store):
        source.recompute_addresses()
    source.store_populations()
    if reads_viscosity:
        return source.function("step_with_viscosity", "rates, force, viscosity")
    return source.function("step", "rates, force")


def read_moments_source(source: KernelSource) -> str:
    """Write a kernel that copies rho - 1 and the velocity to data; zeros for solid cells."""
    source.read_classes(leave=False)
    source.load_populations()
    names = ", ".join(MOMENTS)
    for i in source.lanes:
        source.add(f"{names} = velocity({source.populations('f', i)}, force)")
        source.compute_data_index(i)
        if source.solids:
            source.add(f"if class_{i} == {SOLID_CLASS}:", f"    {names} = T(0), T(0), T(0), T(0)")
        for k, name in enumerate(MOMENTS):
            source.add(f"data[{k}, n_] = {name}")
    return source.function("read_moments", "force, data")


def survey_source(source: KernelSource, with_scalar: bool = False) -> str:
    """Write a kernel that sets flag[0] to 1 if a fluid cell is not good; see `Engine.survey`.

    With a scalar that drives the flow, half of its impulse counts, and there are two arguments
    more: scalar [7, cell], its populations in the block; numbers, four.
    """
    source.read_classes()
    source.load_populations()
    for i in source.lanes:
        fluid = f"class_{i} != {SOLID_CLASS} and " if source.solids else ""
        source.add(f"drho, ux, uy, uz = velocity({source.populations('f', i)}, force)")
        if with_scalar:
            source.add(
                *_load_scalar(i, len(source.lanes)),
                "ux, uy, uz = add_half_impulse(drho, ux, uy, uz, s, numbers)",
            )
        source.add(f"if {fluid}not is_good(drho, ux, uy, uz):", "    flag[0] = 1")
    if with_scalar:
        return source.function("survey_with_scalar", "force, flag, scalar, numbers")
    return source.function("survey", "force, flag")


def _load_scalar(lane: int, lanes: int) -> tuple[str, str]:
    """Return statements that set n_ to the cell of a lane in its block, and s to its scalar."""
    rows = ", ".join(f"scalar[{q}, n_]" for q in range(7))
    cell = f"n_ = (z * ny + y) * (U({lanes}) * nx) + x + U({lane}) * nx"
    return cell, f"s = total(({rows}))"


def write_equilibrium_source(source: KernelSource) -> str:
    """Write a kernel that stores the equilibrium of the moments in data where `access` loads."""
    source.read_classes()
    for i in source.lanes:
        source.compute_data_index(i)
        rows = ", ".join(f"data[{k}, n_]" for k in range(4))
        source.add(f"{source.populations('g', i)} = equilibrium_populations({rows}, force)")
        source.store_where_loaded(i)
    return source.function("write_equilibrium", "force, data")


def read_populations_source(source: KernelSource) -> str:
    """Write a kernel that copies the populations that `access` loads to data; zeros for solids."""
    source.read_classes(leave=False)
    source.load_populations()
    for i in source.lanes:
        source.compute_data_index(i)
        fluid = f"class_{i} != {SOLID_CLASS}" if source.solids else "True"
        source.add(*(f"data[{q}, n_] = f{q}_{i} if {fluid} else T(0)" for q in range(source.size)))
    return source.function("read_populations", "force, data")


def write_populations_source(source: KernelSource) -> str:
    """Write a kernel that stores the populations in data where `access` loads."""
    source.read_classes()
    for i in source.lanes:
        source.compute_data_index(i)
        source.add(*(f"g{q}_{i} = data[{q}, n_]" for q in range(source.size)))
        source.store_where_loaded(i)
    return source.function("write_populations", "force, data")


def damp_source(source: KernelSource) -> str:
    """Write a kernel that relaxes the cells of a layer towards their targets (see `Engine.damp`).

    Its arguments: force; strength [coordinate]; follow [3, cell], the target velocity of the
    layer's rows; layout, five uint32: x of the first cell in a row of `follow`, the cells of such a
    row, and the factors of x, y and z in the coordinate across the layer; numbers, the target's
    rho - 1 and the share by which it follows the flow.
    """
    source.read_classes()
    source.load_populations()
    for i in source.lanes:
        fluid = f" and class_{i} != {SOLID_CLASS}" if source.solids else ""
        source.add(
            f"x_ = x + U({i}) * nx",
            "s = strength[x_ * layout[2] + y * layout[3] + z * layout[4]]",
            f"inside = s > T(0){fluid}",
            "n_ = U(0)",
            "if inside:",
            "    n_ = ((z - z0) * (y1 - y0) + (y - y0)) * layout[1] + (x_ - layout[0])",
            "ux, uy, uz = follow[0, n_], follow[1, n_], follow[2, n_]",
            f"f = {source.populations('f', i)}",
            "g = relax_towards(f, s, numbers[0], ux, uy, uz, force)",
            f"{source.populations('g', i)} = g",
            "_, vx, vy, vz = velocity(f, force)",
            "if inside:",
            *(
                f"    follow[{k}, n_] = u{c} + numbers[1] * (v{c} - u{c})"
                for k, c in enumerate("xyz")
            ),
        )
        source.store_where_loaded(i)
    return source.function("damp", "force, strength, follow, layout, numbers")


def accelerate_source(source: KernelSource) -> str:
    """Write a kernel that drives the flow by a scalar (see `Engine.accelerate`).

    Its arguments: force; g [7, cell] and velocity [3, cell] of the block; numbers, four.
    """
    source.read_classes()
    source.load_populations()
    for i in source.lanes:
        source.add(
            *_load_scalar(i, len(source.lanes)),
            f"g, vx, vy, vz = drive({source.populations('f', i)}, s, force, numbers)",
            f"{source.populations('g', i)} = g",
            *(f"velocity_[{k}, n_] = v{c}" for k, c in enumerate("xyz")),
        )
        source.store_where_loaded(i)
    return source.function("accelerate", "force, scalar, velocity_, numbers")


SOURCES = {
    "step": step_source,
    "step_with_viscosity": functools.partial(step_source, reads_viscosity=True),
    "survey": survey_source,
    "survey_with_scalar": functools.partial(survey_source, with_scalar=True),
    "read_moments": read_moments_source,
    "read_populations": read_populations_source,
    "write_equilibrium": write_equilibrium_source,
    "write_populations": write_populations_source,
    "damp": damp_source,
    "accelerate": accelerate_source,
}


SOURCE_HEADER = """# GPU kernel of lbm: {operation}, pattern {pattern} ({parity} steps),
# precision {precision}, walls {walls}, lattice {lattice}. Generated by lbm._kernels.gpu.kernels.
#
# lbm._kernels.gpu.source explains the names of the variables. U is uint32, and T is the dtype of
# the arithmetic. decode and encode convert populations from and to memory; unpack and pack do so
# for words of two. opaque(x) is x in a form that the compiler cannot see through. local_array, peek
# and poke allocate, read and write an array of the thread. velocity, collide and
# equilibrium_populations are formulas of lbm._kernels.formulas.cell_formulas, and wall_return,
# outlet_returns and slip_returns of lbm._kernels.formulas.wall_formulas. wall_address,
# free_address, velocity_of and weight_of are constant tables.
"""
"""Comment that `python -m lbm kernel` prints above a kernel."""


def describe_kernel(
    operation: str, pattern: str = "esoteric", odd: int = 0, precision: str = "float32",
    walls: str = "faces", lattice: Lattice = D3Q19,
) -> str:  # fmt: skip
    """Return the generated source of a kernel with a comment that explains it."""
    header = SOURCE_HEADER.format(
        operation=operation, pattern=pattern, parity=("even", "odd")[odd], precision=precision,
        walls=walls, lattice=lattice.name,
    )  # fmt: skip
    return f"{header}\n{kernel_source(operation, pattern, odd, precision, walls, lattice)}"


def kernel_source(
    operation: str, pattern: str = "esoteric", odd: int = 0, precision: str = "float32",
    walls: str = "faces", lattice: Lattice = D3Q19,
) -> str:  # fmt: skip
    """Return the generated source of a kernel; `odd` is 1 for odd steps (see
    `lbm.lattices.streaming_patterns`)."""
    access, form = make_pattern(pattern, lattice).steps[odd], PRECISIONS[precision]
    if form.moments:
        return SOURCES[operation](MomentsSource(form.moments, lattice, walls))
    return SOURCES[operation](KernelSource(access, form.lanes, walls))


def lookup_tables(access: Access, lattice: Lattice) -> dict[str, list]:
    """Return the constant tables that loops at walls look up, by their names in the source."""

    def rows(addresses):
        return [(a.slot, *a.shift) for a in addresses]

    return {
        "free_address": rows(access.load),
        "wall_address": rows(access.wall),
        "velocity_of": list(lattice.velocities),
    }


# ---- compiled --------------------------------------------------------------------------------


@functools.cache
def _cell_functions(operator: type, forced: bool, lattice: Lattice):
    return make_cell_functions(lattice, *make_relaxation(operator, lattice), forced)


@functools.cache
def make_kernel(
    operation: str, pattern: str, odd: int, precision: str, walls: str, operator: type,
    forced: bool, lattice: Lattice = D3Q19,
):  # fmt: skip
    """Make the kernel for one combination; it is compiled at its first launch.

    A step of an operator that reads the eddy viscosity is another kernel.
    """
    if operation == "step" and operator.reads_viscosity:
        operation = "step_with_viscosity"
    form = PRECISIONS[precision]
    velocity, collide = _cell_functions(operator, forced, lattice)
    formulas = cell_formulas(lattice)
    decode, encode = codec(form)
    unpack, pack = make_packing(form.moments) if form.moments else word_codec(form)
    to_moments, of_moments = make_conversions(lattice)
    names = common_names(lattice, form) | {
        "decode": decode, "encode": encode, "unpack": unpack, "pack": pack, "velocity": velocity,
        "collide": collide, "equilibrium_populations": formulas.equilibrium_populations,
        "relax_towards": formulas.relax_towards, "drive": make_drive(lattice), "total": total,
        "add_half_impulse": add_half_impulse, "is_good": is_good, "to_moments": to_moments,
        "of_moments": of_moments,
    }  # fmt: skip
    access = make_pattern(pattern, lattice).steps[odd]
    tables = {k: np.array(v, np.int8) for k, v in lookup_tables(access, lattice).items()}
    tables["velocity_of"] = tables["velocity_of"].astype(form.compute)
    tables["weight_of"] = np.array(lattice.weights, form.compute)
    source = kernel_source(operation, pattern, odd, precision, walls, lattice)
    return compile_kernel(operation, source, names, tables)


def common_names(lattice: Lattice, form: Precision) -> dict[str, Any]:
    """Return what the names in the source of every kernel stand for."""
    return {
        "I": np.uint64, "U": np.uint32, "T": form.compute, "cuda": cuda, "opaque": opaque,
        "local_array": make_local_array(lattice.size), "peek": peek, "poke": poke,
        "wall_return": wall_return, "outlet_returns": make_outlet_returns(lattice),
        "slip_returns": make_slip_returns(lattice),
    }  # fmt: skip


def compile_kernel(
    name: str, source: str, names: dict[str, Any], tables: dict[str, np.ndarray], **options: Any
):
    """Make the kernel of a source; before its first statement it gets the tables that it reads."""
    head, end_of_head, body = source.partition("):\n")
    used = [table for table in tables if f"{table}[" in body]
    constants = "".join(f"    {table} = cuda.const.array_like({table}_)\n" for table in used)
    names = names | {f"{table}_": tables[table] for table in used}
    return kernel(compile_source(name, f"{head}{end_of_head}{constants}{body}", names), **options)
