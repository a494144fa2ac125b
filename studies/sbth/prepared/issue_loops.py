"""Loops on the host that issue the operations of a reduction through the driver's C functions.

A call costs what the driver's function costs, 1 to 3 microseconds, where Python needs thirty.
"""

from typing import NamedTuple

import numpy as np
from numba import int32 as i4
from numba import uint32

from hetero.jit import serial
from sbth._reduction.bulge_chasing.schedule_formulas import sweeps_in_step
from studies.sbth.task_formulas import NUMBERS, task_operands

KERNEL, COPY, AXPY, DOT, NRM2, SCAL, SYMV, SYR2, GEMV, GER = range(10)
"""Kinds of instructions: launches of kernels, and routines of the vendor's BLAS."""

_COUNT = len(NUMBERS)


class CodedProgram(NamedTuple):
    """Instructions as arrays of int64; argument w of instruction i is a machine word.

    The word is constants[i, w] + factors[i, w] * (number numbers[i, w] of the task).

    Attributes
    ----------
    bounds : (5,) first instruction of each program, and the number of instructions
    kinds : (instructions,)
    functions : (instructions,) handles of kernels
    threads : (instructions,) threads of a kernel's block
    lengths : (instructions,) number of arguments
    constants, factors, numbers : (instructions, arguments)
    """

    bounds: np.ndarray
    kinds: np.ndarray
    functions: np.ndarray
    threads: np.ndarray
    lengths: np.ndarray
    constants: np.ndarray
    factors: np.ndarray
    numbers: np.ndarray


class Queues(NamedTuple):
    """Streams with what belongs to them, as arrays of int64 with a number for each stream.

    Attributes
    ----------
    streams, events : handles of the driver
    libraries : handles of the vendor's BLAS, one for each stream
    words : (arguments,) memory for the arguments of a launch
    pointers : (arguments,) addresses of the words
    address : address of `pointers`
    """

    streams: np.ndarray
    events: np.ndarray
    libraries: np.ndarray
    words: np.ndarray
    pointers: np.ndarray
    address: int


class Functions(NamedTuple):
    """C functions of the driver and of the vendor's BLAS, as Numba's first-class functions."""

    launch: object
    record: object
    wait: object
    copy: object
    axpy: object
    dot: object
    nrm2: object
    scal: object
    symv: object
    syr2: object
    gemv: object
    ger: object


@serial
def issue_instruction(i, numbers, q, program, queues, functions):
    """Issue instruction i of a task with these numbers on queue q; return its error code."""
    w = queues.words
    for j in range(program.lengths[i]):
        w[j] = program.constants[i, j] + program.factors[i, j] * numbers[program.numbers[i, j]]
    kind, stream, blas = program.kinds[i], queues.streams[q], queues.libraries[q]
    if kind == KERNEL:
        kernel, threads = program.functions[i], uint32(program.threads[i])
        one, none, pointers = uint32(1), uint32(0), queues.address
        return functions.launch(kernel, one, one, one, threads, one, one, none, stream, pointers, 0)
    return _call_library(kind, blas, w, functions)


@serial
def _call_library(kind, blas, w, functions):
    """Call a routine of the vendor's BLAS with the arguments w; return its status."""
    f = functions
    if kind == COPY:
        return f.copy(blas, i4(w[0]), w[1], i4(w[2]), w[3], i4(w[4]))
    if kind == AXPY:
        return f.axpy(blas, i4(w[0]), w[1], w[2], i4(w[3]), w[4], i4(w[5]))
    if kind == DOT:
        return f.dot(blas, i4(w[0]), w[1], i4(w[2]), w[3], i4(w[4]), w[5])
    if kind == NRM2:
        return f.nrm2(blas, i4(w[0]), w[1], i4(w[2]), w[3])
    if kind == SCAL:
        return f.scal(blas, i4(w[0]), w[1], w[2], i4(w[3]))
    if kind == SYMV:
        return f.symv(
            blas, i4(w[0]), i4(w[1]), w[2], w[3], i4(w[4]), w[5], i4(w[6]), w[7], w[8], i4(w[9])
        )
    if kind == SYR2:
        return f.syr2(
            blas, i4(w[0]), i4(w[1]), w[2], w[3], i4(w[4]), w[5], i4(w[6]), w[7], i4(w[8])
        )
    if kind == GEMV:
        return f.gemv(
            blas,
            i4(w[0]),
            i4(w[1]),
            i4(w[2]),
            w[3],
            w[4],
            i4(w[5]),
            w[6],
            i4(w[7]),
            w[8],
            w[9],
            i4(w[10]),
        )
    return f.ger(
        blas,
        i4(w[0]),
        i4(w[1]),
        w[2],
        w[3],
        i4(w[4]),
        w[5],
        i4(w[6]),
        w[7],
        i4(w[8]),
    )


@serial
def issue_wavefronts(steps, size, breadth_first, program, queues, functions):
    """Issue every `stride`-th wavefront of `steps`, (begin, stop, stride), of a matrix.

    A wavefront is issued in groups of as many tasks as there are queues; queue 0 waits for the
    others after each group, and they for queue 0 before the next one.

    Returns
    -------
    tasks, issued, error : numbers of tasks and of operations, and the first error code that is not
        0, after which nothing is issued
    """
    (begin, stop, stride), (n, d, by_rows) = steps, size
    length, tasks, issued = len(queues.streams), 0, 0
    numbers = np.empty((length, _COUNT), np.int64)
    bounds = np.empty((length, 2), np.int64)
    for step in range(begin, stop, stride):
        first, last = sweeps_in_step(step, n, d)
        for group in range(first, last, length):
            count = min(length, last - group)
            for task in range(count):
                s = group + task
                index, values = task_operands(s, step - 2 * s, n, d, by_rows)
                bounds[task] = program.bounds[index : index + 2]
                for j in range(_COUNT):
                    numbers[task, j] = values[j]
            error = _fork(count, queues, functions)
            if error == 0:
                if breadth_first:
                    error = _issue_breadth_first(count, numbers, bounds, program, queues, functions)
                else:
                    error = _issue_depth_first(count, numbers, bounds, program, queues, functions)
            if error == 0:
                error = _join(count, queues, functions)
            if error != 0:
                return tasks, issued, error
            tasks += count
            issued += (bounds[:count, 1] - bounds[:count, 0]).sum()
    return tasks, issued, 0


@serial
def _issue_breadth_first(count, numbers, bounds, program, queues, functions):
    """Issue the first instruction of every task, then the second, and so on."""
    for position in range((bounds[:count, 1] - bounds[:count, 0]).max()):
        for q in range(count):
            i = bounds[q, 0] + position
            if i < bounds[q, 1]:
                error = issue_instruction(i, numbers[q], q, program, queues, functions)
                if error != 0:
                    return error
    return 0


@serial
def _issue_depth_first(count, numbers, bounds, program, queues, functions):
    """Issue all instructions of a task, then those of the next one."""
    for q in range(count):
        for i in range(bounds[q, 0], bounds[q, 1]):
            error = issue_instruction(i, numbers[q], q, program, queues, functions)
            if error != 0:
                return error
    return 0


@serial
def _fork(count, queues, functions):
    """Let the queues 1, ..., count - 1 wait for what queue 0 has been given."""
    if count == 1:
        return 0
    error = functions.record(queues.events[0], queues.streams[0])
    for q in range(1, count):
        if error == 0:
            error = functions.wait(queues.streams[q], queues.events[0], uint32(0))
    return error


@serial
def _join(count, queues, functions):
    """Let queue 0 wait for what the queues 1, ..., count - 1 have been given."""
    error = 0
    for q in range(1, count):
        if error == 0:
            error = functions.record(queues.events[q], queues.streams[q])
        if error == 0:
            error = functions.wait(queues.streams[0], queues.events[q], uint32(0))
    return error
