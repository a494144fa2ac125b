"""What a solver's loops are compiled from, and what they are given; the same for both targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

START = np.uint32(0xFFFFFFFF)
"""In the place of a coarse step's number: the words for the start of a path's process.

A block's counter is (number in the coarse step, coarse step, path, stream).
"""


STEP_WORK = 16
"""Fine steps that take about as long as what is done once a coarse step: scheme and outputs."""


class Program(NamedTuple):
    """The functions that a solver is compiled from; the key of its compiled code.

    Attributes
    ----------
    kind : {"sums", "law", "fields"}
        Sums of the path's fine steps; the same sums drawn from their law; averages of G and g.
    step : a scheme of `_schemes_math`
    observe : (t, x, O, p) -> outputs
    start : (O, p) -> x at the beginning
    fields : (t, O, p) -> (G_1, .., G_n, g), for kind "fields" only
    dtype, normals : of the solver and of the normal numbers
    degree : D; sums F_0 .. F_D
    dimension, parameters : of x and p
    table_rows : rows of `Tables.parameters`: what `start` gets as p, which may be more
    """

    kind: str
    step: object
    observe: object
    start: object
    fields: object
    dtype: str
    normals: str
    degree: int
    dimension: int
    parameters: int
    table_rows: int


class Run(NamedTuple):
    """Numbers of one call. Floats are of the solver's type.

    Attributes
    ----------
    k0, k1, stream : Philox key and stream
    path : number of the first path
    done, count : coarse steps before this call, and in it
    steps : M, fine steps in a coarse one
    width : threads a path (GPU)
    every : coarse steps from one saved time to the next; 0 saves none
    row : number of the row of `Arrays.saved` that was written last, -1 before the first
    until : coarse steps from the begin of this call to the next saved time
    peaks : whether the largest |output| is wanted
    stationary : whether O_0 is `start` times a normal number, or `start`
    """

    k0: np.uint32
    k1: np.uint32
    stream: np.uint32
    path: np.uint32
    done: int
    count: int
    steps: int
    width: int
    every: int
    row: int
    until: int
    peaks: bool
    stationary: bool
    t: float
    h: float
    em1: float
    sigma: float
    start: float


class Tables(NamedTuple):
    """Matrices of one call, as arrays on the device in the solver's type.

    Attributes
    ----------
    rows : (forms, D + 3), what the scheme wants of (O_0, O_M, F_0, .., F_D)
    law : (D + 2, 1 + numbers), (O_M, F_0, .., F_D) of O_0 and standard normal numbers; kind "law"
    transfers : (5, D + 2, D + 2), T^(L 2^k) for stretches of L fine steps; several threads a path
    parameters : (numbers, sets), one set or one a path; see `Problem.table`
    """

    rows: np.ndarray
    law: np.ndarray
    transfers: np.ndarray
    parameters: np.ndarray


class Arrays(NamedTuple):
    """Arrays that a call reads and writes, on the device; floats are of the solver's type.

    Attributes
    ----------
    o : (paths,), the process; x : (dimension, paths), the solution; both at the end of the call
    saved : (times, outputs, paths)
    peaks : (outputs, paths), largest |output| so far; not used without `Run.peaks`
    failed : (paths,) uint8, 1 for each path of which an output was infinite or NaN at a time that
        was saved or looked at for its peak
    """

    o: np.ndarray
    x: np.ndarray
    saved: np.ndarray
    peaks: np.ndarray
    failed: np.ndarray


def part_of(run: Run, begin: int, count: int) -> Run:
    """Return the call for `count` of a call's coarse steps, from number `begin` on."""
    if run.every == 0:
        return run._replace(done=run.done + begin, count=count)
    rows, since = divmod(run.every - run.until + begin, run.every)
    until = run.every - since
    return run._replace(done=run.done + begin, count=count, row=run.row + rows, until=until)
