"""Machine words for the arguments of all operations: for our kernels and for the vendor's BLAS."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from studies.sbth.prepared import issue_loops as loops
from studies.sbth.task_formulas import NUMBERS
from studies.sbth.task_program import PROGRAMS, Instruction, Operand, task_program

LIBRARIES = ("our kernels", "vendor's BLAS")
"""What executes the operations."""

CONSTANTS = (1.0, 0.0, -1.0, -0.5)
"""Factors that the vendor's BLAS reads from the device's memory."""

ROUTINES = {
    loops.COPY: "copy",
    loops.AXPY: "axpy",
    loops.DOT: "dot",
    loops.NRM2: "nrm2",
    loops.SCAL: "scal",
    loops.SYMV: "symv",
    loops.SYR2: "syr2",
    loops.GEMV: "gemv",
    loops.GER: "ger",
}
"""Routines of the vendor's BLAS by kinds of instructions."""

ITEM = 8
"""Bytes of a number."""

_LOWER, _PLAIN, _TRANSPOSED = 0, 0, 1  # cublasFillMode_t, cublasOperation_t

_Word: TypeAlias = tuple[int, int, int]
"""Constant, factor and index of the number of a task that the factor multiplies."""

_Call: TypeAlias = tuple[int, list[_Word]]
"""Kind and arguments of an instruction."""


class Encoder:
    """Encoder of instructions for arrays at certain addresses.

    Parameters
    ----------
    arrays : address and number of elements of "work", "vectors", "scalars" and "constants"
    step, pitch : elements between the rows and between the columns of a block
    """

    def __init__(self, arrays: Mapping[str, tuple[int, int]], step: int, pitch: int):
        self._arrays = arrays
        self._strides = {"step": step, "pitch": pitch}

    def encode(
        self, library: str, kernel: Callable[[str], tuple[int, int]]
    ) -> tuple[list[str], loops.CodedProgram]:
        """Return names of the instructions of all programs, and the programs, for a library.

        `kernel` gives handle and threads of an operation's kernel.
        """
        rows: list[tuple[int, int, int, list[_Word]]] = []
        names: list[str] = []
        bounds = [0]
        for first, lower in PROGRAMS:
            for instruction in task_program(first=first, lower=lower):
                calls = self._vendor_calls(instruction) if library == LIBRARIES[1] else None
                if calls is None:
                    handle, threads = kernel(instruction.name)
                    rows.append((loops.KERNEL, handle, threads, self._kernel_words(instruction)))
                    names.append(instruction.name)
                else:
                    rows += [(kind, 0, 0, words) for kind, words in calls]
                    names += [ROUTINES[kind] for kind, _ in calls]
            bounds.append(len(rows))
        words = np.zeros((3, len(rows), max(len(row[3]) for row in rows)), np.int64)
        for i, row in enumerate(rows):
            words[:, i, : len(row[3])] = np.transpose(row[3])
        kinds, functions, threads_of = (np.array([r[i] for r in rows], np.int64) for i in range(3))
        lengths = np.array([len(row[3]) for row in rows], np.int64)
        limits = np.array(bounds, np.int64)
        return names, loops.CodedProgram(limits, kinds, functions, threads_of, lengths, *words)

    def _kernel_words(self, instruction: Instruction) -> list[_Word]:
        """Return the words that a kernel of Numba's gets for its arguments."""
        words: list[_Word] = []
        for operand in instruction.operands:
            if operand in self._arrays:
                address, size = self._arrays[str(operand)]
                # Numba's object of memory and its parent, size, item size, address, shape, strides
                words += [(value, 0, 0) for value in (0, 0, size, ITEM, address, size, ITEM)]
            elif isinstance(operand, float):
                words.append((struct.unpack("q", struct.pack("d", operand))[0], 0, 0))
            else:
                words.append(self._number(operand))
        return words

    def _number(self, operand: Operand) -> _Word:
        """Return the word of a number."""
        if operand in self._strides:
            return self._strides[str(operand)], 0, 0
        return 0, 1, NUMBERS.index(str(operand))

    def _place(self, array: Operand, operand: Operand) -> _Word:
        """Return the word of the address of an element."""
        return self._arrays[str(array)][0], ITEM, NUMBERS.index(str(operand))

    def _constant(self, value: Operand) -> _Word:
        """Return the word of the address of a constant."""
        return self._arrays["constants"][0] + ITEM * CONSTANTS.index(float(value)), 0, 0

    def _vendor_calls(self, instruction: Instruction) -> list[_Call] | None:
        """Return the calls of the vendor's BLAS for an operation; None if it has no routine."""
        o: tuple[Any, ...] = instruction.operands
        at, number, step = self._place, self._number, (1, 0, 0)
        one, zero, minus = (self._constant(value) for value in (1.0, 0.0, -1.0))
        lower, plain, transposed = ((code, 0, 0) for code in (_LOWER, _PLAIN, _TRANSPOSED))
        match instruction.name:
            case "copy":
                words = [number(o[0]), at(o[1], o[2]), step, at(o[3], o[4]), step]
                return [(loops.COPY, words)]
            case "copy_column":
                words = [number(o[0]), at(o[1], o[2]), number(o[3]), at(o[4], o[5]), step]
                return [(loops.COPY, words)]
            case "axpy":  # the routine takes one factor
                factor = at("scalars", "factor")
                return [
                    (loops.COPY, [step, at(o[2], o[3]), step, factor, step]),
                    (loops.SCAL, [step, self._constant(o[1]), factor, step]),
                    (
                        loops.AXPY,
                        [number(o[0]), factor, at(o[4], o[5]), step, at(o[4], o[6]), step],
                    ),
                ]
            case "dot":
                words = [number(o[0]), at(o[1], o[2]), step, at(o[1], o[3]), step, at(o[4], o[5])]
                return [(loops.DOT, words)]
            case "nrm2":
                return [(loops.NRM2, [number(o[0]), at(o[1], o[2]), step, at(o[3], o[4])])]
            case "symv":
                matrix, vectors = [at(o[1], o[2]), number(o[4])], [at(o[5], i) for i in o[6:]]
                words = [lower, number(o[0]), one, *matrix, vectors[0], step]
                return [(loops.SYMV, [*words, zero, vectors[1], step])]
            case "syr2":
                vectors, matrix = [at(o[1], i) for i in o[2:4]], [at(o[4], o[5]), number(o[7])]
                words = [lower, number(o[0]), minus, vectors[0], step, vectors[1], step, *matrix]
                return [(loops.SYR2, words)]
            case "gemv" | "gemv_t":
                form = plain if instruction.name == "gemv" else transposed
                matrix, vectors = [at(o[2], o[3]), number(o[5])], [at(o[6], i) for i in o[7:]]
                words = [form, number(o[0]), number(o[1]), one, *matrix, vectors[0], step]
                return [(loops.GEMV, [*words, zero, vectors[1], step])]
            case "ger":
                vectors, matrix = [at(o[2], i) for i in o[3:5]], [at(o[5], o[6]), number(o[8])]
                words = [number(o[0]), number(o[1]), minus, vectors[0], step, vectors[1], step]
                return [(loops.GER, [*words, *matrix])]
        return None
