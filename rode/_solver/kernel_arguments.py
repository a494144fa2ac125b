"""Functions that a solver's loops are compiled from, and their arguments, for both targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rode._solver.excited import Shape
from rode._solver.reductions.reduction import Fold

STEP_WORK = 16
"""Number of fine steps that take about as long as the scheme and outputs of one coarse step."""


class KernelSpec(NamedTuple):
    """Functions that a solver is compiled from: the key of its compiled code.

    Attributes
    ----------
    kind : {"path", "exact", "separable", "excited", "frame"}
        Sums over the path's fine steps; sums drawn from their distribution; averages of G and g;
        an excitation, whose path keeps its states, too; that of a frame in loops.
    step : a coarse step, from `Scheme.make_additive_step` or `make_separable_step`
    observe : (t, x, O, p) -> outputs
    start : (O, p) -> x at the beginning
    fold : a `Fold` of `reductions.reduction`, what paths keep of their outputs
    fields : (t, O, p) -> (G_1, .., G_n, g), for kind "separable" only
    dtype, normals : data types of the solver and of the normal numbers
    form_count : see `Scheme`
    averages : {"start", "linear", "printed"}
        Weights of G and g over the fine steps, see `Scheme`; "start" for their values at the start.
    dimension, parameters : lengths of x and p
    branches : whether paths change their numbers on the way, as `RunArrays.numbers` says
    excited : sizes of an excitation; None for other kinds
    table_rows : rows of `RunArrays.parameters`, the length of p in `start`, which may be larger
    """

    kind: str
    step: object
    observe: object
    start: object
    fold: Fold
    fields: object
    dtype: str
    normals: str
    form_count: int
    averages: str
    dimension: int
    parameters: int
    table_rows: int
    branches: bool = False
    excited: Shape | None = None


class Counter(NamedTuple):
    """Philox's key, and what is fixed of its counter: the stream, and the number of path 0."""

    k0: np.uint32
    k1: np.uint32
    stream: np.uint32
    first_path: np.uint32


class Saving(NamedTuple):
    """Choice of the outputs that a call records.

    Attributes
    ----------
    every : coarse steps from one saved time to the next; 0 saves none
    row : number of the row of `RunArrays.saved` that was written last, -1 before the first
    until : coarse steps from the start of this call to the next saved time
    folds : whether reductions take the outputs of each coarse step
    """

    every: int
    row: int
    until: int
    folds: bool


class RunParameters(NamedTuple):
    """Numbers of one call. Floats are of the solver's type.

    Attributes
    ----------
    done, coarse_steps : numbers of coarse steps before this call, and in it
    fine_steps : M, the number of fine steps in a coarse one
    stretch_blocks : blocks of normal numbers of each stretch of a coarse step; 0 if it is not cut
    own_stretches, threads_per_path : stretches of each thread, and threads that share a path
    stationary : whether O_0 is `start` times a normal number, or `start`
    """

    counter: Counter
    done: int
    coarse_steps: int
    fine_steps: int
    stretch_blocks: int
    own_stretches: int
    threads_per_path: int
    saving: Saving
    stationary: bool
    t: float
    h: float
    mu_minus_1: float
    sigma: float
    start: float


class RunArrays(NamedTuple):
    """Arrays of one call, on the device; floats are of the solver's type.

    The call reads the first four, and writes the others.

    Attributes
    ----------
    rows : (K, K + 2), the K linear forms of (O_0, O_M, F_0, .., F_(K-1)); see `Scheme.forms`
    drawing : (K + 1, 1 + numbers), makes (O_M, F_0, .., F_(K-1)) of O_0 and normals; kind "exact"
    transfers : (5, K + 1, K + 1), T^(L 2^k) for stretches of L fine steps, on a GPU; for kind
        "frame" (outputs, 2, 1), kind and storey of each output
    parameters : (numbers, sets), one set, or one for each path; see `Problem.table`
    o : (paths,), the process; x : (dimension, paths), the solution; both at the end of the call
    saved : (times, outputs, paths)
    folds : (outputs * numbers, paths), what reductions keep of each path, if `Saving.folds`
    switches, numbers : (branches, paths) int64 and uint32; path i has the random words of path
        number numbers[k, i] from coarse step switches[k, i] on, which ascends with k; that of the
        start is switches[0, i] = -1
    starting, outputs, envelopes, given : see `excited.ExcitationArrays`; not used by other kinds
    failed : (paths,) uint8, 1 for each path that had an infinite or NaN output at a saved time or
        at one that a fold has taken
    """

    rows: np.ndarray
    drawing: np.ndarray
    transfers: np.ndarray
    parameters: np.ndarray
    o: np.ndarray
    x: np.ndarray
    saved: np.ndarray
    folds: np.ndarray
    failed: np.ndarray
    switches: np.ndarray
    numbers: np.ndarray
    starting: np.ndarray
    outputs: np.ndarray
    envelopes: np.ndarray
    given: np.ndarray


def part_of(run: RunParameters, begin: int, count: int) -> RunParameters:
    """Return the parameters for `count` coarse steps of a call, from number `begin` on."""
    saving = run.saving
    if saving.every > 0:
        rows, since = divmod(saving.every - saving.until + begin, saving.every)
        saving = saving._replace(row=saving.row + rows, until=saving.every - since)
    return run._replace(done=run.done + begin, coarse_steps=count, saving=saving)
