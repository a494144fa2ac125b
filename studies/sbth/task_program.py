"""The BLAS operations of a task of the reduction, in order, with the names of their operands.

A reflection is 1 - v v^T with |v|^2 = 2 (Riesinger 2017, algorithms 3 and 4). v = 0 if there is
nothing to eliminate, a case that Riesinger (2017, algorithm 3) omits.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Operand: TypeAlias = str | float
"""Name of a number in `task_formulas.NUMBERS`, of an array, or a stride (`step` and `pitch`); or a
constant."""


class Instruction(NamedTuple):
    """One operation of `studies.sbth.blas`, and its operands in their order."""

    name: str
    operands: tuple[Operand, ...]


PROGRAMS = ((False, False), (False, True), (True, False), (True, True))
"""Arguments `first` and `lower` of `task_program`, by the number that `task_operands` returns."""


def task_program(*, first: bool, lower: bool) -> list[Instruction]:
    """Return the operations of a task.

    Parameters
    ----------
    first : the task is the first of its sweep, which eliminates a column of the band
    lower : the diagonal block has a block below it
    """
    program: list[Instruction] = []

    def add(name: str, *operands: Operand) -> None:
        """Append an operation."""
        program.append(Instruction(name, operands))

    def add_reflection(count: str, target: str) -> None:
        """Append algorithm 3, which stores the reflection of column h in `target`."""
        add("copy", count, "vectors", "h", "vectors", target)
        add("nrm2", count, "vectors", target, "scalars", "norm")
        add("scal_first", count, "scalars", "norm", "vectors", target)
        add("nrm2", count, "vectors", target, "scalars", "length")
        add("scal_length", count, "scalars", "length", "vectors", target)

    if first:
        add("copy_column", "m", "work", "column", "step", "vectors", "h")
        add_reflection("m", "v")
        add("eliminate", "m", "scalars", "norm", "vectors", "h", "work", "column", "step")
    add("symv", "m", "work", "a", "step", "pitch", "vectors", "v", "x")
    add("dot", "m", "vectors", "v", "x", "scalars", "vx")
    add("copy", "m", "vectors", "x", "vectors", "w")
    add("axpy", "m", -0.5, "scalars", "vx", "vectors", "v", "w")
    add("syr2", "m", "vectors", "v", "w", "work", "a", "step", "pitch")
    if lower:
        add("gemv", "rows", "m", "work", "b", "step", "pitch", "vectors", "v", "y")
        add("copy_column", "rows", "work", "b", "step", "vectors", "h")
        add("axpy", "rows", -1.0, "vectors", "v", "vectors", "y", "h")
        add_reflection("rows", "following")
        add("gemv_t", "rows", "m", "work", "b", "step", "pitch", "vectors", "following", "w")
        add("dot", "rows", "vectors", "following", "y", "scalars", "vy")
        add("axpy", "m", -1.0, "scalars", "vy", "vectors", "v", "w")
        add("ger", "rows", "m", "vectors", "y", "v", "work", "b", "step", "pitch")
        add("ger", "rows", "m", "vectors", "following", "w", "work", "b", "step", "pitch")
        add("eliminate", "rows", "scalars", "norm", "vectors", "h", "work", "b", "step")
    return program
