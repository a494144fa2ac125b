"""Second starts of an ascent on the GPU: a block searches a data set, a thread takes candidates."""

from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._fit.likelihood.formulas import CHOICES
from stablegpu._fit.optimizer import slots
from stablegpu._fit.second_starts.formulas import (
    CANDIDATES,
    POINTS,
    SPOT,
    SPOTS,
    find_peaks,
    find_spot,
    gather,
    score,
)

_THREADS = 128
_SPOTS = SPOTS * SPOT


@kernel
def find_peaks_of_sets(x, weights, ends, begins, table, states):
    """Find the peaks of the profile of each data set, a block of threads for each."""
    sample = cuda.shared.array(POINTS, float64)
    spots = cuda.shared.array(_SPOTS, float64)
    scores = cuda.shared.array(CANDIDATES, float64)
    lane, lanes = cuda.threadIdx.x, cuda.blockDim.x
    for s in range(cuda.blockIdx.x, ends.shape[0], cuda.gridDim.x):
        size = gather(x, weights, ends[s, 0], ends[s, 1], sample, lane, lanes)
        cuda.syncthreads()
        for spot in range(lane, SPOTS, lanes):
            find_spot(spot, sample, size, spots)
        cuda.syncthreads()
        for candidate in range(lane, CANDIDATES, lanes):
            scores[candidate] = score(
                candidate,
                sample,
                size,
                spots,
                table,
                int(begins[s, CHOICES]),
                int(begins[s, CHOICES + 1]),
                int(begins[s, CHOICES + 2]),
            )
        cuda.syncthreads()
        if lane == 0:
            find_peaks(scores, spots, table, states[s, slots.RESULT :])
        cuda.syncthreads()


def find_starts(x, weights, ends, begins, table, states, stream=0):
    """Find the peaks of every set's profile, to states[s, RESULT:]; see `find_peaks`."""
    grid = launch.blocks_for(_THREADS * ends.shape[0], _THREADS)
    find_peaks_of_sets[grid, _THREADS, stream](x, weights, ends, begins, table, states)
